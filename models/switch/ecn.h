/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ecn.h - RED marking on the instantaneous length of an egress queue.
 *
 * p(q) = 0 for q <= kmin, pmax (q - kmin) / (kmax - kmin) up to kmax, 1 beyond: the jump
 * from pmax to 1 is the switch's, not a mistake.
 *
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM '15,
 * section 3.1 and figure 5.
 */
#ifndef ROCESIM_MODELS_SWITCH_ECN_H
#define ROCESIM_MODELS_SWITCH_ECN_H

#include "models/port.h"
#include "sim/rng.h"

/* Thresholds in bytes, 'pmax_q32' the probability at kmax times 2^32 (0 to 2^32). */
void ecn_init(struct ecn *ecn, int64_t kmin_bytes, int64_t kmax_bytes, int64_t pmax_q32,
              uint8_t classes, bool at_dequeue);

/* Is a packet to be marked when 'queue_bytes' lie in the queue of its class?  Draws from
 * the port's stream only between kmin and kmax. */
static inline bool
ecn_decides(struct port *port, int64_t queue_bytes)
{
    const struct ecn *ecn = &port->ecn;

    if (likely(queue_bytes <= ecn->kmin_bytes)) {
        return false;
    }
    if (queue_bytes > ecn->kmax_bytes) {
        return true;
    }
    uint64_t bound = (uint64_t)(queue_bytes - ecn->kmin_bytes) * ecn->slope;

    return rng_u64(port->ecn_key, port->n_ecn_drawn++) >> 16 < bound;
}

#endif
