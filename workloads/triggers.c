/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * triggers.c - counts activations, and starts flows at the end of the same instant.
 *
 * Source: csg-htsim sim/trigger.cpp.  There a second activation of a oneshot or one too many
 * of a barrier is a failed assertion; here the reader of the file has refused it.
 */
#include <config.h>

#include "workloads/triggers.h"

#include "models/host/pipe.h"

struct trigger {
    struct work_timer timer;
    struct triggers *all; /* borrowed: whose it is */
    enum work_trigger_kind kind;
    int64_t n_left;     /* activations until a barrier opens */
    uint32_t first, n;  /* its flows: part of 'targets' */
    uint32_t n_started; /* of these */
    uint32_t n_due;     /* of these, to be started when the timer fires; >= n_started */
};

/* What a flow has to do with triggers, plus 1; 0: nothing. */
struct tie {
    uint32_t after, sent, received;
};

struct triggers {
    struct trigger *each; /* owned */
    uint32_t n;
    uint32_t *targets; /* owned: flows, by trigger */
    struct tie *ties;  /* owned, by flow */
    triggers_start_flow *start;
    void *ctx; /* borrowed: of start */
};

static void
fire(struct lp *lp, struct work_timer *timer)
{
    struct trigger *trigger = timer->ctx;
    struct triggers *all = trigger->all;

    while (trigger->n_started < trigger->n_due) {
        all->start(all->ctx, lp, all->targets[trigger->first + trigger->n_started++]);
    }
}

static void
activate(struct triggers *triggers, struct lp *lp, uint32_t index)
{
    struct trigger *trigger = &triggers->each[index];

    switch (trigger->kind) {
    case WORK_TRIGGER_ONESHOT:
        trigger->n_due = trigger->n;
        break;
    case WORK_TRIGGER_MULTISHOT:
        trigger->n_due += trigger->n_due < trigger->n;
        break;
    case WORK_TRIGGER_BARRIER:
        trigger->n_due = --trigger->n_left == 0 ? trigger->n : 0;
        break;
    }
    if (trigger->n_due > trigger->n_started && !trigger->timer.queued) {
        work_timer_set(lp, &trigger->timer, lp->now_ps);
    }
}

/* Hosts of a trigger, joined one to the next. */
static void
join(struct net *net, uint32_t last[], uint32_t place, uint32_t host)
{
    if (place == 0) {
        return;
    }
    if (last[place - 1] != UINT32_MAX) {
        net_share_process(net, last[place - 1], host);
    }
    last[place - 1] = host;
}

static void
join_hosts(struct net *net, const struct work_flow list[], uint32_t n,
           uint32_t n_triggers)
{
    g_autofree uint32_t *last = g_new(uint32_t, n_triggers);

    for (uint32_t i = 0; i < n_triggers; i++) {
        last[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < n; i++) {
        join(net, last, list[i].after, list[i].src);
        join(net, last, list[i].sent, list[i].src);
        join(net, last, list[i].received, list[i].dst);
    }
}

/* Flows by trigger, each trigger's in their order. */
static void
deal_targets(struct triggers *triggers, const struct work_flow list[], uint32_t n)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (list[i].after != 0) {
            triggers->each[list[i].after - 1].n++;
        }
    }
    for (uint32_t k = 0; k < triggers->n; k++) {
        triggers->each[k].first = at;
        at += triggers->each[k].n;
        triggers->each[k].n = 0;
    }
    triggers->targets = g_new(uint32_t, (gsize)at + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].after != 0) {
            struct trigger *trigger = &triggers->each[list[i].after - 1];

            triggers->targets[trigger->first + trigger->n++] = i;
        }
    }
}

struct triggers *
triggers_new(struct net *net, const struct work_params *params,
             const struct work_flow list[], uint32_t n, triggers_start_flow *start,
             void *ctx)
{
    struct triggers *triggers;

    if (params->n_triggers == 0) {
        return NULL;
    }
    triggers = g_new0(struct triggers, 1);
    triggers->n = params->n_triggers;
    triggers->each = g_new0(struct trigger, triggers->n);
    triggers->ties = g_new(struct tie, n);
    triggers->start = start;
    triggers->ctx = ctx;
    for (uint32_t k = 0; k < triggers->n; k++) {
        struct trigger *trigger = &triggers->each[k];

        trigger->all = triggers;
        trigger->kind = params->triggers[k].kind;
        trigger->n_left = params->triggers[k].count;
        trigger->timer = (struct work_timer){
            .source = net_new_timer(net), .fire = fire, .ctx = trigger};
    }
    for (uint32_t i = 0; i < n; i++) {
        triggers->ties[i] = (struct tie){list[i].after, list[i].sent, list[i].received};
    }
    deal_targets(triggers, list, n);
    join_hosts(net, list, n, triggers->n);
    return triggers;
}

void
triggers_free(struct triggers *triggers)
{
    if (triggers != NULL) {
        g_free(triggers->each);
        g_free(triggers->targets);
        g_free(triggers->ties);
        g_free(triggers);
    }
}

void
triggers_on_sent(struct triggers *triggers, struct lp *lp, uint32_t flow)
{
    if (triggers->ties[flow].sent != 0) {
        activate(triggers, lp, triggers->ties[flow].sent - 1);
    }
}

void
triggers_on_received(struct triggers *triggers, struct lp *lp, uint32_t flow)
{
    if (triggers->ties[flow].received != 0) {
        activate(triggers, lp, triggers->ties[flow].received - 1);
    }
}

bool
triggers_has(const struct triggers *triggers, uint32_t flow)
{
    return triggers != NULL && triggers->ties[flow].after != 0;
}
