/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_incast.c - many hosts send to one at the same time; once, in rounds, or again and
 * again at fixed or random times while other work goes on.
 *
 * Source: Vasudevan et al., "Safe and Effective Fine-grained TCP Retransmissions for
 * Datacenter Communication", SIGCOMM '09, section 2: the incast problem.  Li et al., "HPCC",
 * SIGCOMM '19, section 5.1: 60 random senders of 500 KB to a random receiver, together 2 % of
 * the network's capacity, on top of other traffic.
 */
#include <config.h>

#include "sim/rng.h"
#include "workloads/flows.h"

/* Events at times of their own. */
struct events {
    const struct net *net;
    const struct work_params *params;
    GArray *list;    /* owned: struct work_flow */
    uint32_t *order; /* owned: hosts, shuffled anew for each event */
    uint64_t gap_key, choice_key;
    uint64_t n_choices;       /* draws so far */
    int64_t gap_ps, limit_ps; /* between beginnings; none then or later */
    uint64_t n_most;          /* events */
};

static __int128
rate_of_hosts(const struct net *net, const struct work_params *params)
{
    __int128 rate_bps = 0;

    for (uint32_t i = 0; i < params->n_hosts; i++) {
        uint32_t host = params->hosts[i];

        for (uint32_t k = net->nic_of_host[host]; k < net->nic_of_host[host + 1]; k++) {
            rate_bps += net->nics[k].port->rate_bps;
        }
    }
    return rate_bps;
}

/* The gap between events that makes 'load_e18' of the rate of all hosts; bytes of 2^50 of
 * 2^32 senders and the factors have 2^115. */
static int64_t
gap_of_load_ps(const struct net *net, const struct work_params *params)
{
    __int128 bits = (__int128)params->incast.bytes * params->n_senders * 8;
    __int128 rate = rate_of_hosts(net, params) * (params->incast.load_e18 / 1000000000);
    /* Whole seconds and the rest apart, so that nothing passes 2^127. */
    __int128 whole = bits * 1000000000 / rate, rest = bits * 1000000000 % rate;
    __int128 gap_ps = whole * PS_PER_S + rest * PS_PER_S / rate;

    return gap_ps < 1                  ? 1
           : gap_ps > INT64_C(1) << 57 ? INT64_C(1) << 57
                                       : (int64_t)gap_ps;
}

/* Puts 'n' hosts drawn from all into the first places of 'order'. */
static void
choose(struct events *events, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *order = events->order;
        uint32_t k = i + (uint32_t)rng_below(events->choice_key, events->n_choices++,
                                             events->params->n_hosts - i);
        uint32_t kept = order[i];

        order[i] = order[k];
        order[k] = kept;
    }
}

static void
add_flow(struct events *events, uint32_t src, uint32_t dst, int64_t at_ps)
{
    struct work_flow flow = {
        .src = src, .dst = dst, .bytes = events->params->incast.bytes, .start_ps = at_ps};

    g_array_append_val(events->list, flow);
}

static void
add_event(struct events *events, int64_t at_ps)
{
    const struct work_params *params = events->params;
    uint32_t receiver = params->receiver, n_added = 0;

    if (params->senders) {
        for (uint32_t i = 0; i < params->n_senders; i++) {
            add_flow(events, params->senders[i], receiver, at_ps);
        }
        return;
    }
    /* One more than is needed: the receiver, or in its place if it is drawn, too. */
    choose(events, MIN(params->n_senders + 1, params->n_hosts));
    if (receiver == UINT32_MAX) {
        receiver = events->order[0];
    }
    for (uint32_t i = 0; n_added < params->n_senders; i++) {
        if (events->order[i] != receiver) {
            add_flow(events, events->order[i], receiver, at_ps);
            n_added++;
        }
    }
}

/* Of which event 'n' begins 'gap_ps' after the one before. */
static int64_t
next_gap_ps(const struct events *events, uint64_t n)
{
    switch ((enum work_arrivals)events->params->incast.arrivals) {
    case WORK_ARRIVALS_ROUNDS:
        return 0;
    case WORK_ARRIVALS_FIXED:
        return n ? events->gap_ps : 0;
    case WORK_ARRIVALS_POISSON:
        return rng_exponential(events->gap_key, n, events->gap_ps);
    }
    g_assert_not_reached();
}

static gboolean
add_events(struct events *events, GError **error)
{
    int64_t at_ps = 0;

    for (uint64_t n = 0; n < events->n_most; n++) {
        int64_t gap_ps = next_gap_ps(events, n);

        if (gap_ps >= events->limit_ps - at_ps) {
            break;
        }
        at_ps += gap_ps;
        if (events->list->len + events->params->n_senders > FLOWS_DRAWN_MAX) {
            g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                        "workload[%u]: more than %u flows; fewer events are needed",
                        events->params->index, FLOWS_DRAWN_MAX);
            return FALSE;
        }
        add_event(events, at_ps);
    }
    return TRUE;
}

static void
events_init(struct events *events, const struct net *net,
            const struct work_params *params)
{
    const struct work_incast *incast = &params->incast;
    g_autofree char *path = g_strdup_printf("workload[%u]", params->index);
    bool rounds = incast->arrivals == WORK_ARRIVALS_ROUNDS;

    *events = (struct events){
        .net = net,
        .params = params,
        .list = g_array_new(FALSE, FALSE, sizeof(struct work_flow)),
        .order = g_memdup2(params->hosts, params->n_hosts * sizeof *params->hosts),
        .gap_key = rng_key(net->seed, path, "gap"),
        .choice_key = rng_key(net->seed, path, "choice"),
        .gap_ps = params->common.gap_ps,
        .limit_ps = INT64_MAX,
        .n_most = rounds ? 1 : (uint64_t)params->common.repeat};
    if (!rounds && incast->until_ps != PARAM_SPECIAL) {
        events->limit_ps = incast->until_ps - params->common.start_ps;
        events->n_most = UINT64_MAX;
    }
    if (!rounds && incast->load_e18 != PARAM_SPECIAL) {
        events->gap_ps = gap_of_load_ps(net, params);
    }
}

static void
events_clear(struct events *events)
{
    g_array_unref(events->list);
    g_free(events->order);
}

static void *
new_incast(struct net *net, const struct work_params *params, GError **error)
{
    struct work_params once = *params;
    struct events events;
    void *state = NULL;

    if (params->n_senders == 0) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u].senders: none; at least 1 is needed", params->index);
        return NULL;
    }
    if (params->incast.arrivals != WORK_ARRIVALS_ROUNDS) {
        once.common.repeat = 1;
    }
    events_init(&events, net, params);
    if (add_events(&events, error)) {
        state = flows_new(net, &once, (const struct work_flow *)(void *)events.list->data,
                          events.list->len, error);
    }
    events_clear(&events);
    return state;
}

const struct work_ops work_incast_ops = {
    .name = "incast",
    .source = "Vasudevan et al., SIGCOMM '09, section 2",
    .doc = "several hosts send to one receiver at the same time, once or repeatedly",
    .new = new_incast,
    .start = flows_start,
    .unfinished = flows_unfinished,
    .optional = flows_optional,
    .flows = flows_results,
    .free = flows_free,
};
