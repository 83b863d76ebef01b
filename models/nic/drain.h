/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * drain.h - a NIC that stops its switch: because the host takes data more slowly than the
 * link brings it (slow receiver), or for no reason at all (pause storm).
 *
 * With a slow host data packets wait in the NIC's receive buffer and are received one by
 * one at the host's rate; ACKs and CNPs do not wait.  Over 'xoff_bytes' a class whose
 * pauses the NIC knows is stopped; other classes lose what comes then.
 *
 * Source: Guo et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM '16, sections 4.3
 * (storms) and 4.4 (slow receivers).
 */
#ifndef ROCESIM_MODELS_NIC_DRAIN_H
#define ROCESIM_MODELS_NIC_DRAIN_H

#include "models/nic/nic.h"

/* Receive buffer of a NIC that a fault makes slow. */
struct drain {
    int64_t rate_bps;                    /* of the host; 0: it takes everything at once */
    int64_t xoff_bytes, xon_bytes;       /* stop above, go on at or below */
    int64_t limit_bytes;                 /* with headroom */
    int64_t headroom_bytes, frame_bytes; /* of the link; the largest frame */
    struct queue queue;                  /* owned packets: what the host has not taken */
    int64_t due_ps;                      /* the first one will be taken */
    bool timer;                          /* KIND_DRAIN is queued */
};

/* The host of 'nic', which has a drain, takes 'rate_bps' from now on; 0: everything.  The
 * NIC holds 'buffer_bytes' before it stops its switch. */
void drain_set_rate(struct lp *lp, struct nic *nic, int64_t rate_bps,
                    int64_t buffer_bytes);

/* Takes the data packet 'pkt' (then steals it) when it has to wait or is lost; false: it
 * is received now. */
bool drain_takes(struct lp *lp, struct nic *nic, struct packet *pkt);

/* KIND_DRAIN: the host may have taken the first packet. */
void drain_next(struct lp *lp, struct nic *nic);

/* Begins to stop the peer of 'nic' in 'classes' (a mask) for ever, or ends that. */
void drain_storm(struct lp *lp, struct nic *nic, uint8_t classes, bool on);

/* The link is up again: a storm goes on. */
void drain_link_up(struct lp *lp, struct nic *nic);

/* KIND_PAUSE_REFRESH of class 'cls' of the NIC port 'port'. */
void drain_refresh(struct lp *lp, struct port *port, unsigned cls);

#endif
