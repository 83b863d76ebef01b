/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flows_build.c - flows before the run: checked, connected, dealt to their senders; called by
 * gen_*.c.
 */
#include <config.h>

#include "workloads/flows_state.h"

static gboolean
check_flow(const struct flows *flows, const struct work_flow *flow, size_t i,
           GError **error)
{
    const struct net *net = flows->net;

    if (flow->src >= net->n_hosts || flow->dst >= net->n_hosts) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u]: flow %zu: host %u; the last host is %u", flows->index,
                    i, flow->src >= net->n_hosts ? flow->src : flow->dst,
                    net->n_hosts - 1);
        return FALSE;
    }
    if (flow->src == flow->dst) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u]: flow %zu: %s sends to itself; source and destination "
                    "must differ",
                    flows->index, i, net->nodes[net->node_of_host[flow->src]].name);
        return FALSE;
    }
    if (flow->bytes / flows->message_bytes >= UINT32_MAX) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u].message: %lld B cuts flow %zu of %lld B into more "
                    "than 2^32 messages",
                    flows->index, (long long)flows->message_bytes, i,
                    (long long)flow->bytes);
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_list(const struct flows *flows, const struct work_flow list[], size_t n,
           int64_t repeat, GError **error)
{
    if (n > UINT32_MAX / (uint64_t)repeat) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u].repeat: %lld rounds of %zu flows; allowed are 2^32 "
                    "flows in all",
                    flows->index, (long long)repeat, n);
        return FALSE;
    }
    for (size_t i = 0; i < n; i++) {
        if (!check_flow(flows, &list[i], i, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* NICs of the hosts in turn; of each host how many queue pairs have been dealt out to send
 * and to receive by. */
struct turns {
    uint32_t *out, *in; /* owned */
};

static uint32_t
n_nics_of(const struct net *net, uint32_t host)
{
    return net->nic_of_host[host + 1] - net->nic_of_host[host];
}

/* Connects the hosts of 'flow' by the NICs whose turn it is, or by the next ones that reach
 * each other. */
static gboolean
connect_hosts(struct flows *flows, struct turns *turns, const struct work_flow *flow,
              uint32_t qos, GError **error)
{
    struct net *net = flows->net;
    uint32_t src = flow->src, dst = flow->dst;
    uint32_t n_src = n_nics_of(net, src), n_dst = n_nics_of(net, dst);

    for (uint32_t i = 0; i < n_src; i++) {
        for (uint32_t k = 0; k < n_dst; k++) {
            uint32_t a = (turns->out[src] + i) % n_src;
            uint32_t b = (turns->in[dst] + k) % n_dst;
            uint32_t nic_a = net->nic_of_host[src] + a, nic_b = net->nic_of_host[dst] + b;

            if (work_has_route(net, nic_a, nic_b) && work_has_route(net, nic_b, nic_a)) {
                turns->out[src]++;
                turns->in[dst]++;
                net_set_udp_ports(net, net_connect(net, src, a, dst, b, qos), flow->sport,
                                  flow->dport);
                return TRUE;
            }
        }
    }
    g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                "workload[%u]: no NIC of %s reaches a NIC of %s", flows->index,
                net->nodes[net->node_of_host[src]].name,
                net->nodes[net->node_of_host[dst]].name);
    return FALSE;
}

/* What flows have in common that share queue pairs. */
struct pair_key {
    uint32_t src, dst, qos;
    uint16_t sport, dport;
};

static guint
pair_key_hash(gconstpointer p)
{
    const struct pair_key *key = p;

    return ((key->src * 31u + key->dst) * 31u + key->qos) * 31u +
           (key->sport ^ (guint)key->dport << 16);
}

static gboolean
pair_key_equal(gconstpointer pa, gconstpointer pb)
{
    const struct pair_key *a = pa, *b = pb;

    return a->src == b->src && a->dst == b->dst && a->qos == b->qos &&
           a->sport == b->sport && a->dport == b->dport;
}

/* Pairs of hosts while they are made. */
struct pairing {
    struct flows *flows;
    struct turns turns;
    GHashTable *seen; /* owned: of struct pair_key, owned; to the pair */
    GArray *pairs;    /* owned: struct pair */
    GArray *pair_of;  /* owned: uint32_t, by flow */
    uint32_t qos;
};

static void
pairing_init(struct pairing *p, struct flows *flows, uint32_t qos)
{
    uint32_t n_hosts = flows->net->n_hosts;

    *p = (struct pairing){
        .flows = flows,
        .turns = {.out = g_new0(uint32_t, n_hosts), .in = g_new0(uint32_t, n_hosts)},
        .seen = g_hash_table_new_full(pair_key_hash, pair_key_equal, g_free, NULL),
        .pairs = g_array_new(FALSE, FALSE, sizeof(struct pair)),
        .pair_of = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        .qos = qos};
}

/* The pair of 'flow', the next one: found, or made. */
static gboolean
pairing_add(struct pairing *p, const struct work_flow *flow, GError **error)
{
    struct flows *flows = p->flows;
    const struct pair_key key = {.src = flow->src,
                                 .dst = flow->dst,
                                 .qos = flow->qos ? flow->qos - 1 : p->qos,
                                 .sport = flow->sport,
                                 .dport = flow->dport};
    struct pair pair = {.first_connection = flows->net->n_connections};
    uint32_t index = p->pairs->len;
    gpointer found;

    if (!flows->own_pairs && g_hash_table_lookup_extended(p->seen, &key, NULL, &found)) {
        index = GPOINTER_TO_UINT(found);
        g_array_append_val(p->pair_of, index);
        return TRUE;
    }
    for (uint32_t k = 0; k < flows->qps; k++) {
        if (!connect_hosts(flows, &p->turns, flow, key.qos, error)) {
            return FALSE;
        }
    }
    if (!flows->own_pairs) {
        g_hash_table_insert(p->seen, g_memdup2(&key, sizeof key),
                            GUINT_TO_POINTER(index));
    }
    g_array_append_val(p->pairs, pair);
    g_array_append_val(p->pair_of, index);
    return TRUE;
}

/* Hands over what has been made. */
static void
pairing_end(struct pairing *p)
{
    struct flows *flows = p->flows;

    flows->n = p->pair_of->len;
    flows->n_pairs = p->pairs->len;
    flows->pair_of = (uint32_t *)(void *)g_array_free(p->pair_of, FALSE);
    flows->pairs = (struct pair *)(void *)g_array_free(p->pairs, FALSE);
    g_hash_table_unref(p->seen);
    g_free(p->turns.out);
    g_free(p->turns.in);
}

static uint32_t
poster_of(const struct flows *flows, uint32_t flow)
{
    const struct flow_result *result = &flows->results[flow];

    return flows->side ? result->dst_host : result->src_host;
}

static int
by_sender_and_start(const void *a, const void *b, void *ctx)
{
    const struct flows *flows = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint32_t host_i = poster_of(flows, i), host_k = poster_of(flows, k);

    if (host_i != host_k) {
        return host_i < host_k ? -1 : 1;
    }
    if (triggers_has(flows->triggers, i) != triggers_has(flows->triggers, k)) {
        return triggers_has(flows->triggers, i) ? 1 : -1;
    }
    if (flows->at_ps[i] != flows->at_ps[k]) {
        return flows->at_ps[i] < flows->at_ps[k] ? -1 : 1;
    }
    return i < k ? -1 : i > k;
}

static struct sender
new_sender(struct flows *flows, uint32_t host, uint32_t first)
{
    return (struct sender){
        .first = first,
        .host = host,
        .flows = flows,
        .timer = {.source = net_new_timer(flows->net), .fire = flows_fire}};
}

/* Once the array of them stays where it is. */
static void
set_senders(struct flows *flows)
{
    for (uint32_t i = 0; i < flows->n_senders; i++) {
        flows->senders[i].timer.ctx = &flows->senders[i];
        flows->sender_of[flows->senders[i].host] = i;
    }
}

static void
make_senders(struct flows *flows)
{
    g_autoptr(GArray) senders = g_array_new(FALSE, FALSE, sizeof(struct sender));

    flows->order = g_new(uint32_t, flows->n);
    for (uint32_t i = 0; i < flows->n; i++) {
        flows->order[i] = i;
    }
    g_qsort_with_data(flows->order, (gint)flows->n, sizeof *flows->order,
                      by_sender_and_start, flows);
    for (uint32_t i = 0; i < flows->n; i++) {
        uint32_t host = poster_of(flows, flows->order[i]);

        if (i == 0 || host != poster_of(flows, flows->order[i - 1])) {
            struct sender sender = new_sender(flows, host, i);

            g_array_append_val(senders, sender);
        }
        g_array_index(senders, struct sender, senders->len - 1).n++;
        g_array_index(senders, struct sender, senders->len - 1).n_timed +=
            !triggers_has(flows->triggers, flows->order[i]);
    }
    flows->n_senders = senders->len;
    flows->senders =
        (struct sender *)(void *)g_array_free(g_steal_pointer(&senders), FALSE);
    set_senders(flows);
}

static void
fill_results(struct flows *flows, const struct work_flow list[])
{
    for (uint32_t i = 0; i < flows->n; i++) {
        flows_set(flows, i, &list[i]);
        for (uint32_t round = 1; round < flows->repeat; round++) {
            flows->results[round * flows->n + i] = flows->results[i];
        }
    }
}

static struct flows *
new_flows(struct net *net, const struct work_params *params)
{
    const struct work_common *common = &params->common;
    struct flows *flows = g_new0(struct flows, 1);

    flows->net = net;
    flows->index = params->index;
    flows->gap_ps = common->gap_ps;
    flows->start_ps = common->start_ps;
    flows->qps = (uint32_t)common->qps;
    flows->repeat = 1;
    flows->verb = work_qp_verb((enum work_verb)common->verb);
    flows->side = flows->verb == QP_READ;
    flows->own_pairs = common->connect == WORK_CONNECT_FLOW;
    flows->is_open_ended = params->is_open_ended;
    flows->message_bytes =
        common->message_bytes && common->message_bytes < FLOWS_MESSAGE_MAX_BYTES
            ? common->message_bytes
            : FLOWS_MESSAGE_MAX_BYTES;
    return flows;
}

/* What all flows need, 'n' of them with 'flows->repeat' rounds; pages that are zero until
 * they are used. */
static void
make_arrays(struct flows *flows)
{
    flows->at_ps = g_new0(int64_t, flows->n);
    flows->sender_of = g_new(uint32_t, flows->net->n_hosts);
    flows->to_post = g_new0(uint32_t, flows->n);
    flows->to_send = g_new0(uint32_t, flows->n);
    flows->received = g_new0(uint32_t, flows->n);
    flows->results = g_new0(struct flow_result, (gsize)flows->n * flows->repeat);
    for (uint32_t h = 0; h < flows->net->n_hosts; h++) {
        flows->sender_of[h] = UINT32_MAX;
    }
}

void *
flows_new(struct net *net, const struct work_params *params,
          const struct work_flow list[], size_t n, GError **error)
{
    struct flows *flows = new_flows(net, params);
    struct pairing pairing;
    gboolean ok;

    pairing_init(&pairing, flows, params->qos);
    ok = check_list(flows, list, n, params->common.repeat, error);
    for (size_t i = 0; ok && i < n; i++) {
        ok = pairing_add(&pairing, &list[i], error);
    }
    pairing_end(&pairing);
    if (!ok) {
        flows_free(flows);
        return NULL;
    }
    flows->repeat = (uint32_t)params->common.repeat;
    make_arrays(flows);
    fill_results(flows, list);
    flows->triggers =
        triggers_new(net, params, list, flows->n, flows_start_triggered, flows);
    make_senders(flows);
    return flows;
}

/* Most drawn flows: with queue pairs of their own each takes ten times the memory. */
static uint32_t
most_flows(const struct flows *flows)
{
    return flows->own_pairs ? FLOWS_DRAWN_MAX / 10 : FLOWS_DRAWN_MAX;
}

static gboolean
fail_number(const struct flows *flows, double n, GError **error)
{
    g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                "workload[%u]: about %.0f flows; allowed are %u%s", flows->index, n,
                most_flows(flows), flows->own_pairs ? " with connect \"flow\"" : "");
    return FALSE;
}

/* Goes through the flows of the host at 'position'; '*n' of them so far. */
static gboolean
scan_host(struct pairing *pairing, uint32_t position, size_t *n, GError **error)
{
    struct flows *flows = pairing->flows;
    struct work_flow flow;

    while (flows_draw(flows, position, &flow)) {
        if (*n == most_flows(flows)) {
            return fail_number(flows, (double)*n, error);
        }
        if (!check_flow(flows, &flow, (*n)++, error) ||
            !pairing_add(pairing, &flow, error)) {
            return FALSE;
        }
    }
    flows->source.rewind(flows->source.ctx, position);
    return TRUE;
}

/* One sender for each host that has flows. */
static gboolean
scan(struct flows *flows, const struct work_params *params, GError **error)
{
    g_autoptr(GArray) senders = g_array_new(FALSE, FALSE, sizeof(struct sender));
    struct pairing pairing;
    gboolean ok = TRUE;
    size_t n = 0;

    pairing_init(&pairing, flows, params->qos);
    for (uint32_t k = 0; ok && k < params->n_hosts; k++) {
        uint32_t first = (uint32_t)n;

        ok = scan_host(&pairing, k, &n, error);
        if (n > first) {
            struct sender sender = new_sender(flows, params->hosts[k], first);

            sender.position = k;
            sender.n = sender.n_timed = (uint32_t)n - first;
            g_array_append_val(senders, sender);
        }
    }
    pairing_end(&pairing);
    flows->n_senders = senders->len;
    flows->senders =
        (struct sender *)(void *)g_array_free(g_steal_pointer(&senders), FALSE);
    return ok;
}

void *
flows_new_drawn(struct net *net, const struct work_params *params,
                const struct flow_source *source, double n_expected, GError **error)
{
    struct flows *flows = new_flows(net, params);

    flows->source = *source;
    if ((n_expected > most_flows(flows) && !fail_number(flows, n_expected, error)) ||
        !scan(flows, params, error)) {
        flows_free(flows);
        return NULL;
    }
    make_arrays(flows);
    set_senders(flows);
    return flows;
}
