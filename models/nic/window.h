/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * window.h - how much a queue pair may have unacknowledged.
 *
 * Two limits: `nic.max_inflight` or `nic.window`, counted in packets (qp.window_pkts), and
 * the congestion control's own.  A window in bytes holds a packet back when what is out
 * reaches it, so it may be passed by less than one packet.
 *
 * Source: `window` and `window_varies` as the HPCC ns-3 simulator has them
 * (rdma-queue-pair.cc), as told in docs/hpcc.md.
 */
#ifndef ROCESIM_MODELS_NIC_WINDOW_H
#define ROCESIM_MODELS_NIC_WINDOW_H

#include "models/nic/nic.h"

/* May 'qp' have one more packet unacknowledged? */
static inline bool
nic_window_is_open(const struct qp *qp)
{
    uint32_t limit = qp->window_pkts;
    int64_t inflight = qp->snd_nxt - qp->snd_una;

    if (limit && inflight >= limit) {
        return false;
    }
    return !qp->rate.window_bytes ||
           inflight * qp->nic->config->mtu_bytes < qp->rate.window_bytes;
}

/* Brings a window that goes with the rate up to 'now_ps'. */
static inline void
nic_refresh_window(struct qp *qp, int64_t now_ps)
{
    if (unlikely(qp->nic->config->window_varies) && qp->window_bytes &&
        qp->rate.limited) {
        qp_catch_up(qp, now_ps);
    }
}

#endif
