/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lp.h - logical process: a part of the model with its own clock and event queue.
 *
 * Inside a window (sim.h) a process runs alone.  What it has to say to another process
 * goes into the mailbox of a channel and is taken out in the next window; channels exist
 * between neighbours only.  Inside one thread an object crosses by pointer; between two
 * threads its 64 bytes cross by value and each side uses its own pool.
 *
 * Invariant: a message's time lies at least the lookahead of its channel after the
 * sender's clock.
 */
#ifndef ROCESIM_SIM_LP_H
#define ROCESIM_SIM_LP_H

#include "sim/event.h"
#include "sim/pool.h"

struct sim;

/* A message between threads: the event and the object it carries. */
struct lp_parcel {
    struct event event;
    unsigned char body[POOL_ITEM_BYTES];
};

/* Holds what was sent in window number 'window' and nothing else: the sender empties it
 * when it first writes in a later one, so the reader never writes to it. */
struct lp_mailbox {
    _Alignas(64) union {
        struct event *events;      /* inside a thread */
        struct lp_parcel *parcels; /* between threads */
    };                             /* owned */
    uint32_t n, cap;
    uint32_t window;
    bool by_value; /* the ends run in different threads */
};

/* The way from one process to another, for the length of the simulation. */
struct lp_channel {
    struct lp_mailbox box[2];
    struct lp *from, *to; /* borrowed */
};

/* A logical process: what its thread alone touches while a window lasts. */
struct lp {
    _Alignas(64) struct pool *pool; /* borrowed: the thread's */
    int64_t now_ps;                 /* time of the event at work */
    int64_t sent_min_ps;            /* least time sent in this window */
    int64_t n_done;                 /* events done */
    /* Of the background; made here, perhaps done elsewhere: only the sums over all
     * processes mean something. */
    int64_t n_background_made, n_background_done;
    uint32_t window; /* number of the last begun, from 1; its parity is the mailbox */
    uint32_t id;
    void *user;             /* borrowed: the model's block of this process */
    struct sim *sim;        /* borrowed */
    struct lp_channel **in; /* channels that end here; owned array, borrowed channels */
    uint32_t n_in;
    uint32_t worker;
    int64_t weight; /* predicted share of the work, any unit */
    struct event_queue queue;
};

/* Private: the slow halves. */
void lp_mailbox_grow__(struct lp_mailbox *box);
void lp_past__(const struct lp *lp, int64_t time_ps);

/* Schedules an event of this process.  Its key must be greater than that of the event at
 * work. */
static inline void
lp_at(struct lp *lp, int64_t time_ps, uint64_t key, void *obj)
{
#ifndef NDEBUG
    if (unlikely(time_ps < lp->now_ps)) {
        lp_past__(lp, time_ps);
    }
#endif
    lp->n_background_made += event_is_background(key);
    event_queue_push(&lp->queue, (struct event){time_ps, key, obj});
}

/* Sends 'item' (steals it; from lp->pool) as an event of the process at the other end of
 * 'channel'; a channel of NULL means this process. */
static inline void
lp_send(struct lp *lp, struct lp_channel *channel, int64_t time_ps, uint64_t key,
        void *item)
{
    if (channel == NULL) {
        lp_at(lp, time_ps, key, item);
        return;
    }
    struct lp_mailbox *box = &channel->box[lp->window & 1];

    if (box->window != lp->window) {
        box->window = lp->window;
        box->n = 0;
    }

    if (unlikely(box->n == box->cap)) {
        lp_mailbox_grow__(box);
    }
    if (box->by_value) {
        struct lp_parcel *parcel = &box->parcels[box->n++];

        parcel->event = (struct event){time_ps, key, NULL};
        __builtin_memcpy(parcel->body, item, POOL_ITEM_BYTES);
        pool_put(lp->pool, item);
    } else {
        box->events[box->n++] = (struct event){time_ps, key, item};
    }
    lp->n_background_made += event_is_background(key);
    if (time_ps < lp->sent_min_ps) {
        lp->sent_min_ps = time_ps;
    }
}

/* Messages sent in the last window begun and not yet taken; only between windows. */
static inline uint32_t
lp_channel_held(const struct lp_channel *channel)
{
    const struct lp_mailbox *box = &channel->box[channel->from->window & 1];

    return box->window == channel->from->window ? box->n : 0;
}

/* Begins window number 'window': moves the mail of the one before into the queue. */
void lp_begin_window(struct lp *lp, uint32_t window);

#endif
