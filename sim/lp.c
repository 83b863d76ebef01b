/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lp.c - messages of logical processes between threads.
 */
#include <config.h>

#include "sim/lp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/mem.h"
#include "sim/sim.h"

void
lp_past__(const struct lp *lp, int64_t time_ps)
{
    fprintf(stderr, "rocesim: bug: process %u at %lld ps schedules an event at %lld ps\n",
            lp->id, (long long)lp->now_ps, (long long)time_ps);
    abort();
}

void
lp_post__(struct lp *lp, struct lp *to, struct event event)
{
    struct lp_mailbox *box = &to->mail[lp->worker].box[lp->window & 1];
    struct lp_parcel *parcel;

    if (box->window != lp->window) {
        box->window = lp->window;
        box->n = 0;
    }
    if (unlikely(box->n == box->cap)) {
        box->parcels = mem_double(box->parcels, &box->cap, 32, sizeof *box->parcels);
    }
    parcel = &box->parcels[box->n++];
    parcel->event = (struct event){event.time_ps, event.key, NULL};
    memcpy(parcel->body, event.obj, POOL_ITEM_BYTES);
    pool_put(lp->pool, event.obj);
}

const struct lp_mailbox *
lp_mail_held(const struct lp *lp, uint32_t worker)
{
    const struct lp_mailbox *box = &lp->mail[worker].box[lp->window & 1];

    return box->window == lp->window && box->n ? box : NULL;
}

void
lp_begin_window(struct lp *lp, uint32_t window)
{
    for (uint32_t w = 0; w < lp->sim->n_threads; w++) {
        const struct lp_mailbox *box = lp_mail_held(lp, w);

        for (uint32_t i = 0; box && i < box->n; i++) {
            struct event event = box->parcels[i].event;

            event.obj = pool_get(lp->pool);
            memcpy(event.obj, box->parcels[i].body, POOL_ITEM_BYTES);
            event_queue_push(&lp->queue, event);
        }
    }
    lp->window = window;
    lp->sent_min_ps = TIME_NEVER_PS;
}
