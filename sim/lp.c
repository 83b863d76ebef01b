/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lp.c - mailboxes of logical processes.
 */
#include <config.h>

#include "sim/lp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/mem.h"

void
lp_mailbox_grow__(struct lp_mailbox *box)
{
    size_t size = box->by_value ? sizeof(struct lp_parcel) : sizeof(struct event);

    box->events = mem_double(box->events, &box->cap, 32, size);
}

void
lp_past__(const struct lp *lp, int64_t time_ps)
{
    fprintf(stderr, "rocesim: bug: process %u at %lld ps schedules an event at %lld ps\n",
            lp->id, (long long)lp->now_ps, (long long)time_ps);
    abort();
}

static void
take_box(struct lp *lp, const struct lp_mailbox *box)
{
    if (!box->by_value) {
        for (uint32_t i = 0; i < box->n; i++) {
            event_queue_push(&lp->queue, box->events[i]);
        }
        return;
    }
    for (uint32_t i = 0; i < box->n; i++) {
        struct event event = box->parcels[i].event;

        event.obj = pool_get(lp->pool);
        memcpy(event.obj, box->parcels[i].body, POOL_ITEM_BYTES);
        event_queue_push(&lp->queue, event);
    }
}

void
lp_begin_window(struct lp *lp, uint32_t window)
{
    uint32_t last = lp->window;

    lp->window = window;
    lp->sent_min_ps = TIME_NEVER_PS;
    for (uint32_t i = 0; i < lp->n_in; i++) {
        const struct lp_mailbox *box = &lp->in[i]->box[last & 1];

        if (box->window == last && box->n) {
            take_box(lp, box);
        }
    }
}
