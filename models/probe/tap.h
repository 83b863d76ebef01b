/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tap.h - frames seen on the wire: kept by process, merged, streamed in order of time.
 *
 * A frame is recorded when it arrives, for its receiver and for its sender, with the time
 * its last bit passed the one or the other.  So a record may be older than the event that
 * makes it, by a propagation delay at most; tap_merge() keeps back what an older one could
 * still come before.  The output does not depend on the partition: no two frames pass the
 * same end of a link in the same direction at one time, and if a change of rate makes two
 * appear so, they stay in the order of their events.
 */
#ifndef ROCESIM_MODELS_PROBE_TAP_H
#define ROCESIM_MODELS_PROBE_TAP_H

#include "models/packet.h"
#include "sim/units.h"

/* Which way, seen from the port; also as bit of a mask. */
enum tap_dir { TAP_IN = 1, TAP_OUT = 2 };

/* A frame whose last bit passed 'port' at 'time_ps'. */
struct tap_record {
    int64_t time_ps;
    uint32_t port;     /* dense id */
    uint32_t dir;      /* enum tap_dir */
    uint64_t order;    /* private */
    struct packet pkt; /* as on the wire there; no owner, 'next' means nothing */
};

/* Records of one process, or those kept back by a merge. */
struct tap {
    struct tap_record *records; /* owned */
    uint32_t n, cap;
};

/* Where records go.  Called in order, in the first thread. */
struct tap_sink {
    void (*on_frame)(void *ctx, const struct tap_record *record);
    void *ctx; /* borrowed */
};

/* Frees the memory of 'tap', not the tap. */
void tap_clear(struct tap *tap);

/* Appends a copy of 'pkt'. */
void tap_add(struct tap *tap, int64_t time_ps, uint32_t port, enum tap_dir dir,
             const struct packet *pkt);

/* Moves the records of all 'n' taps to 'held', then hands those before 'until_ps' to 'sink'
 * in order of (time, port, direction).  O(r log r). */
void tap_merge(struct tap *held, struct tap *const taps[], uint32_t n, int64_t until_ps,
               const struct tap_sink *sink);

#endif
