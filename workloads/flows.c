/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flows.c - starts flows, posts their messages, notes when they are sent and received.
 * Set up by flows_build.c; called by the queue pairs' upcalls and its hosts' timers to run.
 */
#include <config.h>

#include "workloads/flows_state.h"

/* ---- at work -------------------------------------------------------------------------- */

uint32_t
flows_n_messages(const struct flows *flows, int64_t bytes)
{
    return bytes ? (uint32_t)((bytes + flows->message_bytes - 1) / flows->message_bytes)
                 : 1;
}

static void
post_message(struct lp *lp, struct flows *flows, uint32_t id)
{
    uint32_t flow = id % flows->n;
    struct pair *pair = &flows->pairs[flows->pair_of[flow]];
    struct qp *qp = net_qp(flows->net, pair->first_connection + pair->turn, flows->side);
    bool is_last = --flows->to_post[flow] == 0;
    int64_t bytes = flows->message_bytes;

    if (is_last) {
        int64_t all = flows->results[id].bytes;

        bytes = all - (int64_t)(flows_n_messages(flows, all) - 1) * flows->message_bytes;
    }
    pair->turn = pair->turn + 1 == flows->qps ? 0 : pair->turn + 1;
    qp_post(lp, qp, flows->verb, bytes, id, id);
}

static void
start_flow(struct lp *lp, struct sender *sender, uint32_t flow)
{
    struct flows *flows = sender->flows;
    uint32_t id = sender->round * flows->n + flow;
    uint32_t n = flows_n_messages(flows, flows->results[id].bytes);

    flows->results[id].start_ps = lp->now_ps;
    flows->to_post[flow] = n;
    flows->to_send[flow] = n;
    for (uint32_t k = 0; k < n && k < FLOWS_DEPTH; k++) {
        post_message(lp, flows, id);
    }
}

/* Flow number 'i' of 'sender'. */
static uint32_t
flow_of(const struct sender *sender, uint32_t i)
{
    const uint32_t *order = sender->flows->order;

    return order ? order[sender->first + i] : sender->first + i;
}

void
flows_set(struct flows *flows, uint32_t id, const struct work_flow *flow)
{
    flows->at_ps[id] = flow->start_ps;
    flows->results[id] = (struct flow_result){
        .src_host = flow->src,
        .dst_host = flow->dst,
        .bytes = flow->bytes,
        .connection = flows->pairs[flows->pair_of[id]].first_connection,
        .start_ps = TIME_NEVER_PS,
        .sent_ps = TIME_NEVER_PS,
        .received_ps = TIME_NEVER_PS};
}

bool
flows_draw(struct flows *flows, uint32_t position, struct work_flow *flow)
{
    bool more = flows->source.next(flows->source.ctx, position, flow);

    if (more && flows->side) {
        uint32_t src = flow->src;

        flow->src = flow->dst;
        flow->dst = src;
    }
    return more;
}

/* Draws the flows of 'sender' before number 'n'. */
static void
draw(struct sender *sender, uint32_t n)
{
    struct flows *flows = sender->flows;

    while (sender->n_drawn < n) {
        struct work_flow flow;
        bool more = flows_draw(flows, sender->position, &flow);

        g_assert(more);
        flows_set(flows, sender->first + sender->n_drawn++, &flow);
    }
}

static int64_t
next_start_ps(struct sender *sender)
{
    if (sender->flows->source.next) {
        draw(sender, sender->next + 1);
    }
    return sender->round_ps + sender->flows->at_ps[flow_of(sender, sender->next)];
}

void
flows_fire(struct lp *lp, struct work_timer *timer)
{
    struct sender *sender = timer->ctx;

    while (sender->next < sender->n_timed && next_start_ps(sender) <= lp->now_ps) {
        start_flow(lp, sender, flow_of(sender, sender->next++));
    }
    if (sender->next < sender->n_timed) {
        work_timer_set(lp, timer, next_start_ps(sender));
    }
}

void
flows_start_triggered(void *ctx, struct lp *lp, uint32_t flow)
{
    struct flows *flows = ctx;

    start_flow(lp, &flows->senders[flows->sender_of[flows->results[flow].src_host]],
               flow);
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
    if (sender->n_timed > 0) {
        work_timer_set(sender->lp, &sender->timer, next_start_ps(sender));
    }
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
    if (flows->verb == QP_READ) {
        flows->results[id].received_ps = lp->now_ps;
    }
    if (--sender->left == 0 && sender->round + 1 < flows->repeat) {
        sender->round++;
        begin_round(sender, lp->now_ps + flows->gap_ps);
    }
    if (flows->triggers) {
        triggers_on_sent(flows->triggers, lp, flow);
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
    if (++flows->received[flow] == flows_n_messages(flows, flows->results[id].bytes)) {
        flows->results[id].received_ps = lp->now_ps;
        flows->received[flow] = 0;
        if (flows->triggers) {
            triggers_on_received(flows->triggers, lp, flow);
        }
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
    g_free(flows->received);
    triggers_free(flows->triggers);
    if (flows->source.free) {
        flows->source.free(flows->source.ctx);
    }
    g_free(flows);
}

/* ---- results -------------------------------------------------------------------------- */

const struct flow_result *
flows_results(const void *state, uint32_t *n)
{
    const struct flows *flows = state;

    /* Those that the run has not come to are shown as not started. */
    for (uint32_t i = 0; flows->source.next && i < flows->n_senders; i++) {
        draw(&flows->senders[i], flows->senders[i].n);
    }
    *n = flows->n * flows->repeat;
    return flows->results;
}

int64_t
flows_optional(const void *state)
{
    const struct flows *flows = state;
    uint32_t n_all;
    int64_t n_open = 0;

    flows_results(state, &n_all);
    for (uint32_t id = 0; flows->is_open_ended && id < n_all; id++) {
        n_open += flows->results[id].sent_ps == TIME_NEVER_PS;
    }
    return n_open;
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
        return qp->rnr_tries ? g_strdup_printf("gave up after %u refusals",
                                               qp->nic->config->rnr_retry + 1)
                             : g_strdup_printf("gave up after %u retries",
                                               qp->nic->config->retry_count);
    }
    if (qp->halted) {
        return g_strdup("waits for a receiver that is not ready");
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
        return g_strdup_printf("waits for %s of %lld packets%s",
                               qp->oldest->verb == QP_READ ? "responses" : "an ACK",
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
    int64_t whole =
        (int64_t)flows_n_messages(flows, result->bytes) * flows->message_bytes;

    g_string_printf(line, "workload[%u]: flow %u %s -> %s: %lld B, ", flows->index, id,
                    net->nodes[net->node_of_host[result->src_host]].name,
                    net->nodes[net->node_of_host[result->dst_host]].name,
                    (long long)result->bytes);
    if (result->start_ps == TIME_NEVER_PS) {
        g_string_append(line, triggers_has(flows->triggers, id)
                                  ? "not started, waits for its trigger"
                                  : "not started");
        return g_string_free(line, FALSE);
    }
    /* The last message, which is shorter, is posted last. */
    open -= flows->to_post[id % flows->n] ? whole - result->bytes : 0;
    for (uint32_t k = 0; k < flows->qps; k++) {
        open += bytes_open(net_qp(net, pair->first_connection + k, flows->side), id);
    }
    g_string_append_printf(line, "%lld B %s", (long long)(result->bytes - open),
                           flows->side ? "received" : "acknowledged");
    for (uint32_t k = 0; k < flows->qps; k++) {
        const struct qp *qp = net_qp(net, pair->first_connection + k, flows->side);
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
    uint32_t n_all, n_open = 0;

    flows_results(state, &n_all);
    for (uint32_t id = 0; id < n_all; id++) {
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
