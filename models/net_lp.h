/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_lp.h - what the network keeps for each logical process: lp.user points here.
 */
#ifndef ROCESIM_MODELS_NET_LP_H
#define ROCESIM_MODELS_NET_LP_H

#include "models/probe/probe.h"
#include "models/probe/tap.h"
#include "sim/hist.h"
#include "sim/lp.h"

struct net;
struct qp;

/* What the last sample saw of a port's class. */
struct net_seen {
    int64_t tx_bytes, queue_bytes;
    bool paused, moving;
};

/* A queue pair whose rate is sampled. */
struct net_sampled_qp {
    struct qp *qp;        /* borrowed */
    int64_t payload_sent; /* at the last sample */
};

/* Touched by the thread of its process only, and by the first one at epochs. */
struct net_lp {
    struct probe probe;
    struct tap tap;
    int64_t n_ops;        /* operations of workloads begun here less ended here; only the
                             sum over all processes means something */
    int64_t n_pauses_out; /* pause frames made here less heard here; likewise */
    int64_t last_end_ps;  /* latest end of an operation here */
    struct net *net;      /* borrowed */
    uint32_t *ports;      /* owned: dense ids of the ports here, ascending */
    uint32_t n_ports;
    int64_t n_samples;     /* so far */
    struct net_seen *seen; /* owned: n_ports x N_CLASSES; NULL without samples */
    struct net_sampled_qp *sampled_qps; /* owned: by id */
    uint32_t n_sampled_qps;
    struct hist latency; /* ps: data packets, first bit sent to last bit received here */
};

static inline struct net_lp *
net_lp(const struct lp *lp)
{
    return lp->user;
}

/* A workload has begun an operation that must end before the run may, or
 * has ended one. */
static inline void
net_op_begin(struct lp *lp)
{
    net_lp(lp)->n_ops++;
}

static inline void
net_op_end(struct lp *lp)
{
    net_lp(lp)->n_ops--;
    net_lp(lp)->last_end_ps = lp->now_ps;
}

#endif
