/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scan.h - a NIC that looks through its queue pairs one after the other: `nic.arbiter`.
 *
 * In place of rings of those that may send (nic.h) it keeps a list of those with work, in
 * the order in which they got it, whatever their class.  The next packet is that of the
 * first one that may send, from behind the last served on, around the end of the list.
 * Where none may, one timer is set for the earliest time in the pace of any that has
 * something to send, held back by a window or a pause or not; none when that time has
 * passed: then an answer, a resume or new work has to come.
 *
 * Source: alibaba-edu/High-Precision-Congestion-Control, qbb-net-device.cc, as told in
 * docs/hpcc.md; an implementation of its own.  A look costs O(QPs with work).
 */
#ifndef ROCESIM_MODELS_NIC_SCAN_H
#define ROCESIM_MODELS_NIC_SCAN_H

#include <stdbool.h>
#include <stdint.h>

struct lp;
struct nic;
struct qp;

/* The queue pairs of a NIC that scans. */
struct nic_scan {
    struct qp **list; /* owned: room for all QPs of the NIC; NULL: it does not scan */
    uint32_t n;
    uint32_t last; /* served last; may lie behind the end after others have left */
    bool timer_queued;
};

/* 'qp' may have something to send: takes its place in the list and serves the port. */
void nic_scan_activate(struct lp *lp, struct qp *qp);

/* Sends what may be sent, as nic_serve(). */
void nic_scan_serve(struct lp *lp, struct nic *nic);

/* KIND_SCAN. */
void nic_scan_again(struct lp *lp, struct nic *nic);

#endif
