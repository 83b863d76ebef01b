/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pipe.c - FIFOs and timers inside a host.
 * Invariant: due times in a pipe never go back, so only the head needs an event.
 */
#include <config.h>

#include "models/host/pipe.h"

static void
arm(struct lp *lp, struct pipe *pipe)
{
    pipe->queued = true;
    lp_at(lp, pipe->head->due_ps, event_key(PHASE_TIMER, pipe->id, KIND_PIPE, false),
          pipe);
}

void
pipe_send(struct lp *lp, struct pipe *pipe, int64_t bytes, struct pipe_item *item)
{
    int64_t start_ps =
        pipe->busy_until_ps > lp->now_ps ? pipe->busy_until_ps : lp->now_ps;

    pipe->busy_until_ps =
        start_ps + (pipe->rate_bps ? sim_tx_time_ps(bytes, pipe->rate_bps) : 0);
    pipe->n_bytes += bytes;
    item->due_ps = pipe->busy_until_ps + pipe->latency_ps;
    item->next = NULL;
    if (pipe->head) {
        pipe->tail->next = item;
    } else {
        pipe->head = item;
    }
    pipe->tail = item;
    if (!pipe->queued) {
        arm(lp, pipe);
    }
}

void
pipe_arrive(struct lp *lp, struct pipe *pipe)
{
    /* 'queued' stays set: what a delivery sends here again waits for the loop
     * or for arm(). */
    while (pipe->head && pipe->head->due_ps <= lp->now_ps) {
        struct pipe_item *item = pipe->head;

        pipe->head = item->next;
        item->deliver(lp, item);
    }
    pipe->queued = false;
    if (pipe->head) {
        arm(lp, pipe);
    }
}

void
work_timer_set(struct lp *lp, struct work_timer *timer, int64_t at_ps)
{
    assert(!timer->queued);
    timer->queued = true;
    lp_at(lp, at_ps, event_key(PHASE_POST, timer->source, KIND_WORK, false), timer);
}

void
work_timer_fire(struct lp *lp, struct work_timer *timer)
{
    timer->queued = false;
    timer->fire(lp, timer);
}
