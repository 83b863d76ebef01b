/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pipe.h - a FIFO inside a host: bandwidth, latency, one event at a time.
 *
 * NVLink, PCIe and the way from a NIC to memory are pipes.  Both ends lie in one process.
 * Also here: the timer of whatever lives on a host.
 */
#ifndef ROCESIM_MODELS_HOST_PIPE_H
#define ROCESIM_MODELS_HOST_PIPE_H

#include <assert.h>

#include "models/event_kinds.h"
#include "sim/lp.h"

struct pipe_item;

/* Takes 'item' (owned) out at the far end and gives it back with pool_put(). */
typedef void pipe_deliver(struct lp *lp, struct pipe_item *item);

/* What travels: from the pool of the process. */
struct pipe_item {
    struct pipe_item *next;
    int64_t due_ps;
    pipe_deliver *deliver;
    void *to;         /* borrowed */
    uint64_t word[4]; /* the sender's */
};

static_assert(sizeof(struct pipe_item) == POOL_ITEM_BYTES, "an item of the pool");

/* All zero but rates and id is an empty pipe. */
struct pipe {
    int64_t rate_bps;   /* 0: no serialisation */
    int64_t latency_ps; /* >= 0 */
    int64_t busy_until_ps;
    struct pipe_item *head, *tail; /* owned items */
    uint32_t id;                   /* dense id among the pipes of the network */
    bool queued;
    int64_t n_bytes; /* carried so far */
};

/* Sends 'item' (steals it; deliver, to and word filled) as 'bytes' (>= 0). */
void pipe_send(struct lp *lp, struct pipe *pipe, int64_t bytes, struct pipe_item *item);

/* KIND_PIPE: hands out all that is due. */
void pipe_arrive(struct lp *lp, struct pipe *pipe);

/* A timer with at most one event queued: KIND_WORK. */
struct work_timer {
    uint64_t source; /* dense id among the timers of the network */
    void (*fire)(struct lp *lp, struct work_timer *timer);
    void *ctx; /* borrowed */
    bool queued;
};

/* Sets 'timer', which must not be queued, to 'at_ps' (>= now). */
void work_timer_set(struct lp *lp, struct work_timer *timer, int64_t at_ps);

/* KIND_WORK. */
void work_timer_fire(struct lp *lp, struct work_timer *timer);

#endif
