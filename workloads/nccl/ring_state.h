/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring_state.h - what a communicator consists of; private to ring.c, which changes it, and
 * ring_state.c, which makes and shows it.
 *
 * Invariants, in steps of a connection:
 *   sender    done <= posted <= filled <= done + 8, posted <= announced
 *   receiver  taken <= arrived <= announced <= taken + 8
 *   A lane is touched only by events of its rank.
 */
#ifndef ROCESIM_WORKLOADS_NCCL_RING_STATE_H
#define ROCESIM_WORKLOADS_NCCL_RING_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/nccl/nccl.h"
#include "workloads/nccl/ring.h"
#include "workloads/nccl/ring_plan.h"

/* Messages that the slots of a connection hold. */
#define RING_SLOTS (NCCL_STEPS / NCCL_SLICE_STEPS)

/* The end of a connection at its sender.  Arrays are indexed by ring_slot(steps). */
struct ring_send {
    uint64_t filled_steps;    /* by the GPU */
    uint64_t posted_steps;    /* by the proxy */
    uint64_t announced_steps; /* by the receiver's clear-to-send */
    uint64_t done_steps;      /* completed: the slot may be filled again */
    int64_t size_bytes[RING_SLOTS];
    int64_t filled_ps[RING_SLOTS];    /* when the proxy sees it */
    int64_t announced_ps[RING_SLOTS]; /* likewise */
    int64_t done_ps[RING_SLOTS];      /* when the GPU sees it */
    uint64_t qps_left[RING_SLOTS];    /* bit set: queue pairs that owe a completion */
};

/* The end of a connection at its receiver. */
struct ring_recv {
    uint64_t announced_steps; /* clear-to-send posted */
    uint64_t wanted_steps;    /* the rank's calls so far want these */
    uint64_t arrived_steps;   /* in order */
    uint64_t taken_steps;     /* by the GPU */
    int64_t size_bytes[RING_SLOTS];
    int64_t arrived_ps[RING_SLOTS]; /* when the GPU sees it */
    int64_t taken_ps[RING_SLOTS];   /* when the proxy sees it */
    uint64_t qps_left[RING_SLOTS];  /* bit set: queue pairs that owe data */
};

/* A rank's channel.  The GPU's position is (loop, op, slice). */
struct ring_lane {
    _Alignas(64) int64_t loop;
    uint32_t op;
    uint32_t slice;
    bool active;  /* in a call */
    bool copying; /* slice in work until the GPU timer */
    bool armed[RING_N_TIMERS];
    struct ring_loop current; /* read only while active, as are */
    int64_t slice_bytes[NCCL_SLICES_PER_CHUNK];
    struct ring_plan plan;
    struct ring_send send; /* to the next rank */
    struct ring_recv recv; /* from the previous rank */
};

/* Where a lane stands in its ring; const. */
struct ring_place {
    uint32_t pos;
    uint32_t next;
    uint32_t prev;
    bool next_local;
    bool prev_local;
};

struct ring_rank {
    _Alignas(64) bool busy; /* in a call */
    uint32_t n_lanes_left;
    int64_t start_ps;
    int64_t proxy_free_ps; /* the proxy thread's last promised post ends */
};

struct ring {
    struct ring_config config; /* 'order' and 'host' are not kept */
    const struct ring_transport *transport;
    void *net;
    int64_t cts_bytes;
    struct ring_place *places; /* [n_ranks][n_channels], as lanes */
    struct ring_lane *lanes;
    struct ring_rank *ranks;
};

static inline uint32_t
ring_slot(uint64_t steps)
{
    return (uint32_t)(steps / NCCL_SLICE_STEPS % RING_SLOTS);
}

static inline uint32_t
ring_lane_index(const struct ring *ring, uint32_t rank, uint32_t channel)
{
    return rank * ring->config.n_channels + channel;
}

/* The next operation of a lane that is in a call. */
static inline bool
ring_lane_receives(const struct ring_lane *l)
{
    return ring_plan_receives(l->op);
}

static inline bool
ring_lane_sends(const struct ring_lane *l)
{
    return ring_plan_sends(l->plan.n_ranks, l->op);
}

#endif
