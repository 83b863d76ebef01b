/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rig.c - small networks for tests; see rig.h.
 */
#include <config.h>

#include "tests/support/rig.h"

#include "models/host/pipe.h"
#include "models/net_params.h"
#include "models/switch/watchdog.h"
#include "topologies/topo.h"

void
rig_init(struct rig *rig, uint64_t seed)
{
    *rig =
        (struct rig){.net = net_new(seed),
                     .ecn = {.kmin_bytes = 100000,
                             .kmax_bytes = 400000,
                             .pmax_q32 = PARAM_Q32(1, 5),
                             .at_rate_bps = 100 * GBPS},
                     .cc_name = "none",
                     .records = g_array_new(FALSE, FALSE, sizeof(struct probe_record))};
    param_set_defaults(nic_param_table, &rig->nic);
    param_set_defaults(switch_param_table, &rig->sw);
    param_set_defaults(watchdog_param_table, &rig->sw);
    rig->nic.jitter_ps = 0;
    rig->nic.pfc = 1 << 3;
    rig->sw.pfc = 1 << 3;
}

void
rig_clear(struct rig *rig)
{
    net_free(rig->net);
    for (uint32_t i = 0; i < rig->n_flows; i++) {
        g_free(rig->flows[i]);
    }
    g_free(rig->flows);
    g_array_free(rig->records, TRUE);
}

/* ---- shapes ------------------------------------------------------------------------ */

static uint32_t
add_host(struct rig *rig, uint32_t rack)
{
    g_autofree char *name = g_strdup_printf("host%u", rig->net->n_hosts);

    return net_add_host(rig->net, name, rack);
}

static uint32_t
add_switch(struct rig *rig, const char *kind, uint32_t number, uint32_t rack,
           uint8_t tier)
{
    g_autofree char *name = g_strdup_printf("%s%u", kind, number);

    return net_add_switch(rig->net, name, rack, tier);
}

void
rig_star(struct rig *rig, uint32_t n, int64_t rate_bps, int64_t delay_ps)
{
    const struct link_params link = {.rate_bps = rate_bps, .delay_ps = delay_ps};

    for (uint32_t i = 0; i < n; i++) {
        add_host(rig, 0);
    }
    uint32_t leaf = add_switch(rig, "leaf", 0, 0, 1);

    for (uint32_t i = 0; i < n; i++) {
        net_add_link(rig->net, i, leaf, &link);
    }
}

void
rig_chain(struct rig *rig, uint32_t n, const struct link_params links[])
{
    uint32_t here = add_host(rig, 0);
    uint32_t last = add_host(rig, 0);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = add_switch(rig, "leaf", i, i, 1);

        net_add_link(rig->net, here, next, &links[i]);
        here = next;
    }
    net_add_link(rig->net, here, last, &links[n]);
}

void
rig_leaf_spine(struct rig *rig, uint32_t hosts, uint32_t leaves, uint32_t spines,
               const struct link_params *host, const struct link_params *fabric)
{
    uint32_t per_leaf = hosts / leaves;

    for (uint32_t i = 0; i < hosts; i++) {
        add_host(rig, i / per_leaf);
    }
    for (uint32_t i = 0; i < leaves; i++) {
        add_switch(rig, "leaf", i, i, 1);
    }
    for (uint32_t i = 0; i < spines; i++) {
        add_switch(rig, "spine", i, leaves + i, 2);
    }
    for (uint32_t l = 0; l < leaves; l++) {
        for (uint32_t i = 0; i < per_leaf; i++) {
            net_add_link(rig->net, l * per_leaf + i, hosts + l, host);
        }
        for (uint32_t s = 0; s < spines; s++) {
            net_add_link(rig->net, hosts + l, hosts + leaves + s, fabric);
        }
    }
}

/* ---- building ---------------------------------------------------------------------- */

static void
set_routes(struct net *net)
{
    struct route_table **tables = g_new(struct route_table *, net->n_switches);
    GError *error = NULL;

    if (!topo_route_tables(net, NULL, tables, &error)) {
        g_error("%s", error->message);
    }
    for (uint32_t s = 0; s < net->n_switches; s++) {
        net_set_routes(net, s, tables[s]);
    }
    g_free(tables);
}

void
rig_params(struct rig *rig)
{
    struct net *net = rig->net;

    if (!net->n_qos) {
        const struct net_qos roce = {.name = (char *)"roce",
                                     .dscp = 26,
                                     .cls = 3,
                                     .lossless = true,
                                     .ecn = true,
                                     .weight = 1};
        const struct net_qos cnp = {
            .name = (char *)"cnp", .dscp = 48, .cls = 6, .strict = true, .weight = 1};

        net_add_qos(net, &roce);
        net_add_qos(net, &cnp);
        net->cnp_qos = 1;
    }
    if (!net->nic_params) {
        net_set_params(net, &rig->nic, &rig->sw, &rig->ecn);
    }
    if (!net->cc) {
        const struct cc_ops *cc = cc_find(rig->cc_name);
        g_autofree void *params = g_malloc0(cc->params_bytes + 1);

        cc_params_init(cc, cc_preset_find(cc, rig->cc_preset), params);
        net_set_cc(net, cc, params);
    }
}

struct dcqcn_params *
rig_dcqcn(struct rig *rig, const char *preset)
{
    rig->cc_name = "dcqcn";
    rig->cc_preset = preset;
    rig->nic.cnp_interval_ps = cc_preset_find(cc_find("dcqcn"), preset)->cnp_interval_ps;
    rig_params(rig);
    return rig->net->cc_params;
}

void
rig_hpcc(struct rig *rig)
{
    struct nic_params *nic = &rig->nic;
    struct switch_params *sw = &rig->sw;

    rig->net->wire = WIRE_HPCC;
    nic->mtu_bytes = 1000;
    nic->pfc_reaction_ps = 0;
    nic->ack_every = 1;
    nic->ack_timeout = 0;
    nic->ack_first = true;
    nic->ack_coalesce = nic->ack_duplicates = false;
    nic->cnp = CNP_ON_ACK;
    nic->nack_interval_ps = 500 * PS_PER_US;
    nic->slow_gap_ps = SLOW_GAP_NEVER;
    nic->arbiter = ARBITER_SCAN;
    nic->sport = 10000;
    nic->dport = 100;
    sw->mmu = MMU_HPCC;
    sw->alpha_q32 = PARAM_ONE / 8;
    sw->reserved_bytes = 4096;
    sw->buffer_bytes = 32 << 20;
    sw->xon_offset_bytes = 3072;
    sw->latency_ps = 0;
    sw->pfc_reaction_ps = 0;
    sw->pfc_quanta = PFC_QUANTA_UNTIL_RESUME;
    sw->scheduler = SCHEDULER_RR;
    sw->hash = HASH_MURMUR3;
    sw->next_hops = NEXT_HOPS_DESCENDING;
    sw->ecn_counts = ECN_COUNTS_WITHOUT;
    sw->ecn_marks = ECN_MARKS_ALL;
}

void
rig_build(struct rig *rig)
{
    GError *error = NULL;

    rig_params(rig);
    if (!net_build(rig->net, NULL, &error)) {
        g_error("%s", error->message);
    }
    set_routes(rig->net);
}

/* ---- flows ------------------------------------------------------------------------- */

struct rig_flow *
rig_flow_on(struct rig *rig, uint32_t connection, unsigned side, int64_t bytes,
            int64_t at_ps)
{
    struct rig_flow *flow = g_new0(struct rig_flow, 1);

    *flow = (struct rig_flow){.rig = rig,
                              .connection = connection,
                              .side = side,
                              .bytes = bytes,
                              .at_ps = at_ps,
                              .start_ps = TIME_NEVER_PS,
                              .sent_ps = TIME_NEVER_PS,
                              .received_ps = TIME_NEVER_PS};
    rig->flows = g_renew(struct rig_flow *, rig->flows, rig->n_flows + 1);
    rig->flows[rig->n_flows++] = flow;
    return flow;
}

struct rig_flow *
rig_flow(struct rig *rig, uint32_t src, uint32_t dst, int64_t bytes, int64_t at_ps)
{
    return rig_flow_on(rig, net_connect(rig->net, src, 0, dst, 0, 0), 0, bytes, at_ps);
}

static void
on_sent(void *ctx, struct lp *lp, struct qp *qp, uint32_t id)
{
    struct rig *rig = ctx;

    (void)qp;
    rig->flows[id]->sent_ps = lp->now_ps;
    net_op_end(lp);
}

static void
on_received(void *ctx, struct lp *lp, struct qp *qp, uint32_t id, int64_t bytes,
            bool has_imm, uint32_t imm)
{
    struct rig_flow *flow = ((struct rig *)ctx)->flows[id];

    (void)qp;
    flow->received_ps = lp->now_ps;
    flow->received_bytes = bytes;
    flow->n_received++;
    flow->got_imm = has_imm;
    flow->imm = imm;
}

static const struct qp_user_ops user_ops = {.sent = on_sent, .received = on_received};

static void
post(struct lp *lp, struct work_timer *timer)
{
    struct rig_flow *flow = timer->ctx;
    uint32_t id = 0;

    while (flow->rig->flows[id] != flow) {
        id++;
    }
    flow->start_ps = lp->now_ps;
    if (flow->verb == QP_WRITE && flow->has_imm) {
        flow->verb = QP_WRITE_IMM;
    }
    qp_post(lp, rig_qp(flow), flow->verb, flow->bytes, id, id + 1000);
}

void
rig_handle(struct lp *lp, const struct event *event)
{
    net_sim_ops.handle(lp, event);
}

struct packet *
rig_arrival(const struct rig *rig, const struct event *event, struct port **in)
{
    unsigned kind = event_kind(event->key);

    if (kind != KIND_ARRIVE_SWITCH && kind != KIND_ARRIVE_NIC) {
        return NULL;
    }
    struct packet *pkt = event->obj;

    *in = &rig->net->ports[ARRIVAL_PORT(event_source(event->key))];
    return ((*in)->special & PORT_DISPLACED) && pkt->type != PACKET_PFC ? NULL : pkt;
}

static void
handle_tapped(struct lp *lp, const struct event *event)
{
    struct rig *rig = net_lp(lp)->net->watch.ctx;

    rig->tap(rig, lp, event);
}

static bool
epoch_tapped(void *user, int64_t now_ps)
{
    return net_sim_ops.epoch(user, now_ps);
}

static const struct sim_ops tapped_ops = {.handle = handle_tapped, .epoch = epoch_tapped};

void
rig_tap(struct rig *rig, const struct port *port, unsigned dirs)
{
    if (!rig->net->tapped) {
        rig->net->tapped = g_new0(uint8_t, rig->net->n_ports);
    }
    rig->net->tapped[port->id] |= (uint8_t)dirs;
}

void
rig_start(struct rig *rig, enum partition_mode partition, uint32_t n_threads)
{
    struct net *net = rig->net;

    for (uint32_t i = 0; i < rig->n_flows; i++) {
        rig->flows[i]->timer = (struct work_timer){
            .source = net_new_timer(net), .fire = post, .ctx = rig->flows[i]};
    }
    net_start(net, partition, n_threads);
    if (rig->tap) {
        net->sim->ops = &tapped_ops;
    }
    for (uint32_t i = 0; i < net->n_lps; i++) {
        net->lps[i].probe.wanted = UINT32_MAX;
    }
    for (uint32_t i = 0; i < net->n_qps; i++) {
        net->qps[i].user = &user_ops;
        net->qps[i].user_ctx = rig;
    }
    for (uint32_t i = 0; i < rig->n_flows; i++) {
        struct rig_flow *flow = rig->flows[i];
        struct lp *lp =
            net_lp_of_host(net, net->connections[flow->connection].host[flow->side]);

        net_op_begin(lp);
        work_timer_set(lp, &flow->timer, flow->at_ps);
    }
}

static void
keep_record(void *ctx, const struct probe_record *record)
{
    g_array_append_vals(ctx, record, 1);
}

void
rig_run(struct rig *rig, int64_t stop_ps)
{
    const struct net_watch watch = {
        .ctx = rig,
        .sink = {.on_record = keep_record,
                 .ctx = rig->records,
                 .skip = rig->hears_pauses ? 0 : 1u << PROBE_PAUSE_HEARD},
        .frames = rig->frames};

    net_run(rig->net, stop_ps, &watch);
    net_check(rig->net);
}

void
rig_play(struct rig *rig)
{
    rig_start(rig, PARTITION_ONE, 1);
    rig_run(rig, TIME_NEVER_PS);
}

int64_t
rig_fct_ps(const struct rig_flow *flow)
{
    g_assert(flow->sent_ps != TIME_NEVER_PS);
    return flow->sent_ps - flow->start_ps;
}

struct qp *
rig_qp(const struct rig_flow *flow)
{
    return net_qp(flow->rig->net, flow->connection, flow->side);
}

struct port *
rig_port(const struct rig *rig, const char *node, const char *peer)
{
    const struct net *net = rig->net;
    uint32_t a = net_find_node(net, node), b = net_find_node(net, peer);

    for (uint32_t i = 0; i < 2 * net->n_links; i++) {
        const struct net_link *link = &net->links[i / 2];

        if (link->node[i % 2] == a && link->node[1 - i % 2] == b) {
            return &net->ports[link->port[i % 2]];
        }
    }
    g_error("no link from %s to %s", node, peer);
}

/* ---- what a run leaves ------------------------------------------------------------- */

struct rig_sums
rig_sum(const struct rig *rig)
{
    const struct net *net = rig->net;
    struct rig_sums sum = {0};

    for (uint32_t i = 0; i < net->n_ports * N_CLASSES; i++) {
        const struct port *port = &net->ports[i / N_CLASSES];
        const struct port_stats *stats = &port->stats[i % N_CLASSES];

        sum.tx_pkts += port->out[i % N_CLASSES].tx_pkts;
        sum.drops += stats->drops;
        sum.lost_error += stats->lost_error;
        sum.lost_on_link += stats->lost_on_link;
        sum.lost_down += stats->lost_down;
        sum.marked += stats->marked;
        sum.xoff_tx += stats->pfc_xoff_tx;
        sum.xon_tx += stats->pfc_xon_tx;
        sum.xoff_rx += stats->pfc_xoff_rx;
        sum.xon_rx += stats->pfc_xon_rx;
        sum.paused_ps += port_paused_ps(port, i % N_CLASSES, net->end_ps);
    }
    for (uint32_t i = 0; i < net->n_nics; i++) {
        sum.naks += net->nics[i].naks_sent;
        sum.rnrs += net->nics[i].rnrs_sent;
        sum.acks += net->nics[i].acks_sent;
        sum.cnps += net->nics[i].cnps_sent;
        sum.lost_protocol += net->nics[i].lost_protocol;
    }
    for (uint32_t i = 0; i < net->n_qps; i++) {
        sum.retransmitted += net->qps[i].retransmitted;
        sum.timeouts += net->qps[i].timeouts;
    }
    return sum;
}

/* FNV-1a over 64-bit words. */
static void
mix(uint64_t *hash, int64_t word)
{
    for (unsigned i = 0; i < 8; i++) {
        *hash = (*hash ^ ((uint64_t)word >> (8 * i) & 0xff)) * UINT64_C(0x100000001b3);
    }
}

static void
mix_port(uint64_t *hash, const struct port *port, int64_t end_ps)
{
    for (unsigned c = 0; c < N_CLASSES; c++) {
        const struct port_stats *stats = &port->stats[c];
        const int64_t words[] = {port->out[c].tx_bytes,
                                 port->out[c].tx_pkts,
                                 port->out[c].queue.bytes,
                                 port->in[c].used_bytes,
                                 port->in[c].headroom_bytes,
                                 port->in[c].rx_bytes,
                                 port->in[c].rx_pkts,
                                 port->out[c].integral,
                                 port->out[c].max_bytes,
                                 stats->drops,
                                 stats->lost_error,
                                 stats->lost_on_link,
                                 stats->lost_down,
                                 stats->lost_watchdog,
                                 stats->marked,
                                 stats->pfc_xoff_tx,
                                 stats->pfc_xon_tx,
                                 stats->pfc_xoff_rx,
                                 stats->pfc_xon_rx,
                                 stats->pfc_ignored,
                                 port_paused_ps(port, c, end_ps)};

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
            mix(hash, words[i]);
        }
    }
}

static void
mix_qp(uint64_t *hash, const struct qp *qp)
{
    const int64_t words[] = {
        qp->snd_nxt,       qp->snd_una,       qp->snd_end,      qp->snd_max,
        qp->rcv_nxt,       qp->retransmitted, qp->payload_sent, qp->payload_received,
        qp->timeouts,      qp->naks_received, qp->cnps_sent,    qp->cnps_received,
        qp->rate.rate_bps, qp->failed,        qp->next_send_ps, qp->last_cnp_ps};

    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        mix(hash, words[i]);
    }
}

uint64_t
rig_digest(const struct rig *rig)
{
    const struct net *net = rig->net;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    mix(&hash, net->end);
    mix(&hash, net->end_ps);
    mix(&hash, (int64_t)sim_n_events(net->sim));
    for (uint32_t i = 0; i < rig->n_flows; i++) {
        const struct rig_flow *flow = rig->flows[i];

        mix(&hash, flow->start_ps);
        mix(&hash, flow->sent_ps);
        mix(&hash, flow->received_ps);
        mix(&hash, flow->n_received);
    }
    for (uint32_t i = 0; i < net->n_ports; i++) {
        mix_port(&hash, &net->ports[i], net->end_ps);
    }
    for (uint32_t i = 0; i < net->n_nics; i++) {
        mix(&hash, net->nics[i].acks_sent);
        mix(&hash, net->nics[i].naks_sent);
        mix(&hash, net->nics[i].rnrs_sent);
        mix(&hash, net->nics[i].cnps_sent);
        mix(&hash, net->nics[i].lost_protocol);
    }
    for (uint32_t i = 0; i < net->n_switches; i++) {
        mix(&hash, net->switches[i].buffer.max_used);
        mix(&hash, net->switches[i].lost_route);
        mix(&hash, net->switches[i].lost_ttl);
    }
    for (uint32_t i = 0; i < net->n_qps; i++) {
        mix_qp(&hash, &net->qps[i]);
    }
    for (uint32_t i = 0; i < net->deadlock.n_hops; i++) {
        mix(&hash, net->deadlock.hops[i].port);
        mix(&hash, net->deadlock.hops[i].queue_bytes);
        mix(&hash, net->deadlock.found_ps);
    }
    for (guint i = 0; i < rig->records->len; i++) {
        const struct probe_record *record =
            &g_array_index(rig->records, struct probe_record, i);

        mix(&hash, record->time_ps);
        mix(&hash, record->object);
        mix(&hash, record->cls);
        mix(&hash, record->kind);
        mix(&hash, record->a);
        mix(&hash, record->b);
        mix(&hash, record->c);
    }
    return hash;
}
