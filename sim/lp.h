/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lp.h - logical process: a part of the model with its own clock and event queue.
 *
 * The processes of a thread run one after the other, so what one has to say to another of
 * the same thread goes straight into its queue: the order of events does not depend on
 * when they were put there.  What goes to a process of another thread goes into its
 * mailbox for the sending thread and is taken out in the next window (sim.h); the 64
 * bytes of an object then cross by value and each side uses its own pool.
 *
 * Invariant: a message's time lies at least the lookahead after the sender's clock, hence
 * not before the end of the window.
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
    _Alignas(64) struct lp_parcel *parcels; /* owned */
    uint32_t n, cap;
    uint32_t window;
};

/* What one thread sends to a process, by parity of the window. */
struct lp_mail {
    struct lp_mailbox box[2];
};

/* A logical process. */
struct lp {
    /* Never changes while the simulation runs; other threads read it. */
    _Alignas(64) struct pool *pool; /* borrowed: the thread's */
    void *user;                     /* borrowed: the model's block of this process */
    struct sim *sim;                /* borrowed */
    struct lp_mail *mail;           /* owned: by number of the sending worker */
    uint32_t id;
    uint32_t worker; /* number of the thread */
    int64_t weight;  /* predicted share of the work, any unit */

    /* Touched by its thread alone while a window lasts. */
    _Alignas(64) int64_t now_ps; /* time of the event at work */
    int64_t sent_min_ps;         /* least time sent to others in this window */
    /* Of the background; made here, perhaps done elsewhere: only the sums over all
     * processes mean something. */
    int64_t n_background_made, n_background_done;
    uint32_t window; /* number of the last begun, from 1; its parity is the mailbox */
    struct event_queue queue;
};

/* Private: the slow halves. */
void lp_past__(const struct lp *lp, int64_t time_ps);
void lp_post__(struct lp *lp, struct lp *to, struct event event);

/* Schedules an event of this process.  Its key must be greater than that of the event at
 * work. */
static inline void
lp_at(struct lp *lp, int64_t time_ps, uint64_t key, void *obj)
{
    if (unlikely(time_ps < lp->now_ps)) {
        lp_past__(lp, time_ps);
    }
    if (event_is_background(key)) {
        lp->n_background_made++;
    }
    event_queue_push(&lp->queue, (struct event){time_ps, key, obj});
}

/* Sends 'item' (steals it; from lp->pool) as an event of the process 'to', which may be
 * 'lp' itself. */
static inline void
lp_send(struct lp *lp, struct lp *to, int64_t time_ps, uint64_t key, void *item)
{
    if (unlikely(event_is_background(key))) {
        lp->n_background_made++;
    }
    if (time_ps < lp->sent_min_ps && to != lp) {
        lp->sent_min_ps = time_ps;
    }
    if (likely(to->worker == lp->worker)) {
        event_queue_push(&to->queue, (struct event){time_ps, key, item});
    } else {
        lp_post__(lp, to, (struct event){time_ps, key, item});
    }
}

/* The mailbox for what thread 'worker' has sent 'lp' in the last window begun and 'lp'
 * has not taken out; NULL when there is nothing.  Only between windows. */
const struct lp_mailbox *lp_mail_held(const struct lp *lp, uint32_t worker);

/* Begins window number 'window': moves the mail of the one before into the queue. */
void lp_begin_window(struct lp *lp, uint32_t window);

#endif
