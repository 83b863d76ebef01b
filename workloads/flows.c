/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flows.c - starts flows, posts their messages, notes when they are sent and received.
 * Called by gen_*.c to set up, by the queue pairs' upcalls and its hosts' timers to run.
 *
 * Invariant: 'start_ps', 'sent_ps' and what is under "sender" belong to the process of the
 * sender's host, 'received_ps' and what is under "receiver" to that of the receiver's; no
 * field has two writers.
 */
#include <config.h>

#include "workloads/flows.h"

#include "models/host/pipe.h"

/* Two hosts and the direction of data: their queue pairs. */
struct pair {
    uint32_t first_connection; /* and the next 'qps' - 1 */
    uint32_t turn;             /* messages posted so far, modulo 'qps' */
};

/* A host that sends. */
struct sender {
    struct work_timer timer;
    struct flows *flows; /* borrowed: whose it is */
    struct lp *lp;       /* borrowed; from flows_start() on */
    int64_t round_ps;    /* start of this round */
    uint32_t host;
    uint32_t first, n; /* its flows: part of 'order' */
    uint32_t next;     /* of these, the next to start in this round */
    uint32_t left;     /* not ended in this round */
    uint32_t round;
};

struct flows {
    struct net *net; /* borrowed */
    int64_t gap_ps, start_ps, message_bytes;
    uint32_t index; /* of the workload */
    uint32_t n, repeat, qps;
    uint32_t n_senders, n_pairs;
    bool has_imm;

    int64_t *at_ps;         /* owned, by flow: start after the round's */
    uint32_t *pair_of;      /* owned, by flow */
    uint32_t *order;        /* owned: flows by sender, each sender's by start */
    uint32_t *sender_of;    /* owned, by host: index, or UINT32_MAX */
    struct sender *senders; /* owned */
    struct pair *pairs;     /* owned */

    struct flow_result *results; /* owned: round x flow, a message's id is its index */
    uint32_t *to_post, *to_send; /* owned, by flow, sender: messages of this round not
                                    posted, not acknowledged */
    uint32_t *to_receive;        /* owned, by flow, receiver */
};

/* ---- at work -------------------------------------------------------------------------- */

static uint32_t
n_messages(const struct flows *flows, int64_t bytes)
{
    return bytes ? (uint32_t)((bytes + flows->message_bytes - 1) / flows->message_bytes)
                 : 1;
}

static void
post_message(struct lp *lp, struct flows *flows, uint32_t id)
{
    uint32_t flow = id % flows->n;
    struct pair *pair = &flows->pairs[flows->pair_of[flow]];
    struct qp *qp = net_qp(flows->net, pair->first_connection + pair->turn, 0);
    bool is_last = --flows->to_post[flow] == 0;
    int64_t bytes = flows->message_bytes;

    if (is_last) {
        int64_t all = flows->results[id].bytes;

        bytes = all - (int64_t)(n_messages(flows, all) - 1) * flows->message_bytes;
    }
    pair->turn = pair->turn + 1 == flows->qps ? 0 : pair->turn + 1;
    qp_post_write(lp, qp, bytes, id, flows->has_imm, id);
}

static void
start_flow(struct lp *lp, struct sender *sender, uint32_t flow)
{
    struct flows *flows = sender->flows;
    uint32_t id = sender->round * flows->n + flow;
    uint32_t n = n_messages(flows, flows->results[id].bytes);

    flows->results[id].start_ps = lp->now_ps;
    flows->to_post[flow] = n;
    flows->to_send[flow] = n;
    for (uint32_t k = 0; k < n && k < FLOWS_DEPTH; k++) {
        post_message(lp, flows, id);
    }
}

static int64_t
next_start_ps(const struct sender *sender)
{
    const struct flows *flows = sender->flows;

    return sender->round_ps + flows->at_ps[flows->order[sender->first + sender->next]];
}

static void
fire(struct lp *lp, struct work_timer *timer)
{
    struct sender *sender = timer->ctx;

    while (sender->next < sender->n && next_start_ps(sender) <= lp->now_ps) {
        start_flow(lp, sender, sender->flows->order[sender->first + sender->next++]);
    }
    if (sender->next < sender->n) {
        work_timer_set(lp, timer, next_start_ps(sender));
    }
}

/* Its flows of a round count as begun when the one before it ends, so that
 * the run goes on. */
static void
begin_round(struct sender *sender, int64_t at_ps)
{
    sender->round_ps = at_ps;
    sender->next = 0;
    sender->left = sender->n;
    for (uint32_t i = 0; i < sender->n; i++) {
        net_op_begin(sender->lp);
    }
    work_timer_set(sender->lp, &sender->timer, next_start_ps(sender));
}

static void
on_sent(void *ctx, struct lp *lp, struct qp *qp, uint32_t id)
{
    struct flows *flows = ctx;
    uint32_t flow = id % flows->n;
    struct sender *sender = &flows->senders[flows->sender_of[qp->nic->host]];

    if (flows->to_post[flow]) {
        post_message(lp, flows, id);
    }
    if (--flows->to_send[flow]) {
        return;
    }
    flows->results[id].sent_ps = lp->now_ps;
    if (--sender->left == 0 && sender->round + 1 < flows->repeat) {
        sender->round++;
        begin_round(sender, lp->now_ps + flows->gap_ps);
    }
    net_op_end(lp);
}

/* A flow's messages of the next round are posted only when all of this one are
 * acknowledged, so one count a flow will do. */
static void
on_received(void *ctx, struct lp *lp, struct qp *qp, uint32_t id, int64_t bytes,
            bool has_imm, uint32_t imm)
{
    struct flows *flows = ctx;
    uint32_t flow = id % flows->n;

    (void)qp;
    (void)bytes;
    (void)has_imm;
    (void)imm;
    if (--flows->to_receive[flow] == 0) {
        flows->results[id].received_ps = lp->now_ps;
        flows->to_receive[flow] = n_messages(flows, flows->results[id].bytes);
    }
}

static const struct qp_user_ops user_ops = {.sent = on_sent, .received = on_received};

void
flows_start(void *state)
{
    struct flows *flows = state;

    for (uint32_t i = 0; i < flows->n_pairs; i++) {
        for (uint32_t k = 0; k < 2 * flows->qps; k++) {
            struct qp *qp =
                net_qp(flows->net, flows->pairs[i].first_connection + k / 2, k % 2);

            qp->user = &user_ops;
            qp->user_ctx = flows;
        }
    }
    for (uint32_t i = 0; i < flows->n_senders; i++) {
        struct sender *sender = &flows->senders[i];

        sender->lp = net_lp_of_host(flows->net, sender->host);
        begin_round(sender, flows->start_ps + net_jitter_ps(flows->net, sender->host));
    }
}

/* ---- setting up ----------------------------------------------------------------------- */

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
static guint
pair_hash(gconstpointer key)
{
    const struct work_flow *flow = key;

    return ((flow->src * 31u + flow->dst) * 31u + flow->qos) * 31u +
           (flow->sport ^ (guint)flow->dport << 16);
}

static gboolean
pair_equal(gconstpointer pa, gconstpointer pb)
{
    const struct work_flow *a = pa, *b = pb;

    return a->src == b->src && a->dst == b->dst && a->qos == b->qos &&
           a->sport == b->sport && a->dport == b->dport;
}

/* Finds or makes the pair of each flow, in the order of the list. */
static gboolean
make_pairs(struct flows *flows, const struct work_flow list[],
           const struct work_params *params, GError **error)
{
    struct net *net = flows->net;
    g_autofree uint32_t *out = g_new0(uint32_t, net->n_hosts);
    g_autofree uint32_t *in = g_new0(uint32_t, net->n_hosts);
    struct turns turns = {.out = out, .in = in};
    g_autoptr(GHashTable) seen = g_hash_table_new(pair_hash, pair_equal);
    bool shared = params->common.connections == WORK_BY_PAIR;

    for (uint32_t i = 0; i < flows->n; i++) {
        gpointer key = (gpointer)(uintptr_t)&list[i], found;
        uint32_t qos = list[i].qos ? list[i].qos - 1 : params->qos;

        if (shared && g_hash_table_lookup_extended(seen, key, NULL, &found)) {
            flows->pair_of[i] = GPOINTER_TO_UINT(found);
            continue;
        }
        flows->pair_of[i] = flows->n_pairs;
        g_hash_table_insert(seen, key, GUINT_TO_POINTER(flows->n_pairs));
        flows->pairs[flows->n_pairs++] =
            (struct pair){.first_connection = net->n_connections};
        for (uint32_t k = 0; k < flows->qps; k++) {
            if (!connect_hosts(flows, &turns, &list[i], qos, error)) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

static int
by_sender_and_start(const void *a, const void *b, void *ctx)
{
    const struct flows *flows = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint32_t src_i = flows->results[i].src_host, src_k = flows->results[k].src_host;

    if (src_i != src_k) {
        return src_i < src_k ? -1 : 1;
    }
    if (flows->at_ps[i] != flows->at_ps[k]) {
        return flows->at_ps[i] < flows->at_ps[k] ? -1 : 1;
    }
    return i < k ? -1 : i > k;
}

static void
make_senders(struct flows *flows)
{
    for (uint32_t i = 0; i < flows->n; i++) {
        flows->order[i] = i;
    }
    g_qsort_with_data(flows->order, (gint)flows->n, sizeof *flows->order,
                      by_sender_and_start, flows);
    for (uint32_t h = 0; h < flows->net->n_hosts; h++) {
        flows->sender_of[h] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < flows->n; i++) {
        uint32_t host = flows->results[flows->order[i]].src_host;

        if (flows->sender_of[host] == UINT32_MAX) {
            flows->sender_of[host] = flows->n_senders++;
        }
    }
    flows->senders = g_new0(struct sender, flows->n_senders);
    for (uint32_t i = 0; i < flows->n; i++) {
        uint32_t host = flows->results[flows->order[i]].src_host;
        struct sender *sender = &flows->senders[flows->sender_of[host]];

        if (sender->n++ == 0) {
            sender->first = i;
            sender->host = host;
            sender->flows = flows;
            sender->timer = (struct work_timer){
                .source = net_new_timer(flows->net), .fire = fire, .ctx = sender};
        }
    }
}

static void
fill_results(struct flows *flows, const struct work_flow list[])
{
    for (uint32_t i = 0; i < flows->n; i++) {
        struct flow_result result = {.src_host = list[i].src,
                                     .dst_host = list[i].dst,
                                     .bytes = list[i].bytes,
                                     .connection =
                                         flows->pairs[flows->pair_of[i]].first_connection,
                                     .start_ps = TIME_NEVER_PS,
                                     .sent_ps = TIME_NEVER_PS,
                                     .received_ps = TIME_NEVER_PS};

        flows->at_ps[i] = list[i].start_ps;
        flows->to_receive[i] = n_messages(flows, list[i].bytes);
        for (uint32_t round = 0; round < flows->repeat; round++) {
            flows->results[round * flows->n + i] = result;
        }
    }
}

void *
flows_new(struct net *net, const struct work_params *params,
          const struct work_flow list[], size_t n, GError **error)
{
    const struct work_common *common = &params->common;
    struct flows *flows = g_new0(struct flows, 1);

    flows->net = net;
    flows->index = params->index;
    flows->gap_ps = common->gap_ps;
    flows->start_ps = common->start_ps;
    flows->qps = (uint32_t)common->qps;
    flows->has_imm = common->verb == WORK_WRITE_IMM;
    flows->message_bytes =
        common->message_bytes && common->message_bytes < FLOWS_MESSAGE_MAX_BYTES
            ? common->message_bytes
            : FLOWS_MESSAGE_MAX_BYTES;
    if (!check_list(flows, list, n, common->repeat, error)) {
        flows_free(flows);
        return NULL;
    }
    flows->n = (uint32_t)n;
    flows->repeat = (uint32_t)common->repeat;
    flows->at_ps = g_new(int64_t, n);
    flows->pair_of = g_new(uint32_t, n);
    flows->order = g_new(uint32_t, n);
    flows->sender_of = g_new(uint32_t, net->n_hosts);
    flows->pairs = g_new(struct pair, n);
    flows->to_post = g_new0(uint32_t, n);
    flows->to_send = g_new0(uint32_t, n);
    flows->to_receive = g_new(uint32_t, n);
    if (!make_pairs(flows, list, params, error)) {
        flows_free(flows);
        return NULL;
    }
    flows->results = g_new(struct flow_result, n * flows->repeat);
    fill_results(flows, list);
    make_senders(flows);
    return flows;
}

void
flows_free(void *state)
{
    struct flows *flows = state;

    if (!flows) {
        return;
    }
    g_free(flows->at_ps);
    g_free(flows->pair_of);
    g_free(flows->order);
    g_free(flows->sender_of);
    g_free(flows->senders);
    g_free(flows->pairs);
    g_free(flows->results);
    g_free(flows->to_post);
    g_free(flows->to_send);
    g_free(flows->to_receive);
    g_free(flows);
}

/* ---- results -------------------------------------------------------------------------- */

const struct flow_result *
flows_results(const void *state, uint32_t *n)
{
    const struct flows *flows = state;

    *n = flows->n * flows->repeat;
    return flows->results;
}

/* Bytes of messages 'id' on 'qp' that are posted and not acknowledged. */
static int64_t
bytes_open(const struct qp *qp, uint32_t id)
{
    int64_t mtu_bytes = qp->nic->config->mtu_bytes;
    int64_t open = 0;

    for (const struct message *m = qp->oldest; m; m = m->next) {
        int64_t acked = qp->snd_una > m->first_seq ? qp->snd_una - m->first_seq : 0;

        if (m->id == id) {
            open += m->bytes - acked * mtu_bytes;
        }
    }
    return open;
}

/* What 'qp' waits for, in words; NULL when it has nothing of message 'id'. */
static char *
reason_of(const struct net *net, const struct qp *qp, uint32_t id)
{
    const struct port *port = qp->nic->port;

    if (bytes_open(qp, id) == 0) {
        return NULL;
    }
    if (qp->failed) {
        return g_strdup_printf("gave up after %u retries", qp->nic->config->retry_count);
    }
    if (port->special & PORT_DOWN) {
        return g_strdup("its link is down");
    }
    if (!work_has_route(net, (uint32_t)(qp->nic - net->nics), qp->dst_nic)) {
        return g_strdup("no route");
    }
    if (port_is_paused(port, qp->cls, net->end_ps)) {
        return g_strdup_printf("class %u is paused", qp->cls);
    }
    if (qp->snd_una < qp->snd_max) {
        return g_strdup_printf("waits for an ACK of %lld packets%s",
                               (long long)(qp->snd_max - qp->snd_una),
                               qp->retries ? ", sent again" : "");
    }
    return g_strdup("waits for its turn to send");
}

static char *
line_of(const struct flows *flows, uint32_t id)
{
    const struct net *net = flows->net;
    const struct flow_result *result = &flows->results[id];
    const struct pair *pair = &flows->pairs[flows->pair_of[id % flows->n]];
    GString *line = g_string_new(NULL);
    int64_t open = (int64_t)flows->to_post[id % flows->n] * flows->message_bytes;
    int64_t whole = (int64_t)n_messages(flows, result->bytes) * flows->message_bytes;

    g_string_printf(line, "workload[%u]: flow %u %s -> %s: %lld B, ", flows->index, id,
                    net->nodes[net->node_of_host[result->src_host]].name,
                    net->nodes[net->node_of_host[result->dst_host]].name,
                    (long long)result->bytes);
    if (result->start_ps == TIME_NEVER_PS) {
        g_string_append(line, "not started");
        return g_string_free(line, FALSE);
    }
    /* The last message, which is shorter, is posted last. */
    open -= flows->to_post[id % flows->n] ? whole - result->bytes : 0;
    for (uint32_t k = 0; k < flows->qps; k++) {
        open += bytes_open(net_qp(net, pair->first_connection + k, 0), id);
    }
    g_string_append_printf(line, "%lld B acknowledged",
                           (long long)(result->bytes - open));
    for (uint32_t k = 0; k < flows->qps; k++) {
        const struct qp *qp = net_qp(net, pair->first_connection + k, 0);
        g_autofree char *reason = reason_of(net, qp, id);

        if (reason) {
            g_string_append_printf(line, ", QP 0x%06x %s", qp->qpn, reason);
        }
    }
    return g_string_free(line, FALSE);
}

void
flows_unfinished(const void *state, GPtrArray *lines, uint32_t most)
{
    const struct flows *flows = state;
    uint32_t n_open = 0;

    for (uint32_t id = 0; id < flows->n * flows->repeat; id++) {
        if (flows->results[id].sent_ps != TIME_NEVER_PS) {
            continue;
        }
        if (n_open++ < most) {
            g_ptr_array_add(lines, line_of(flows, id));
        }
    }
    if (n_open > most) {
        g_ptr_array_add(lines, g_strdup_printf("... and %u more flows", n_open - most));
    }
}
