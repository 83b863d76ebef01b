/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_build.c - from nodes, links and parameters to ports, NICs and switches; routes and
 * faults.  Set-up only, after net_add.c and before net_start.c.
 */
#include <config.h>

#include "models/net.h"

#include "models/net_params.h"
#include "models/nic/drain.h"
#include "models/switch/ecn.h"
#include "models/switch/headroom.h"
#include "models/switch/watchdog.h"
#include "models/switch/mmu_hpcc.h"
#include "sim/mem.h"
#include "sim/rng.h"

/* IEEE 802.3 31B.3.7 and its successors: the longest reaction to a pause, in quanta, by
 * rate in Gb/s, as SONiC's headroom calculation lists them; between two rates the slower
 * one's. */
static int64_t
ieee_reaction_ps(int64_t rate_bps)
{
    static const struct {
        int64_t gbps, quanta;
    } limits[] = {{0, 67},    {25, 80},   {40, 118},  {50, 147},
                  {100, 394}, {200, 453}, {400, 905}, {800, 905}};
    int64_t quanta = 0;

    for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
        if (rate_bps >= limits[i].gbps * INT64_C(1000000000)) {
            quanta = limits[i].quanta;
        }
    }
    return sim_tx_time_ps(quanta * (PFC_QUANTUM_BITS / 8), rate_bps);
}

int64_t
net_pause_reaction_ps(int64_t reaction_ps, int64_t rate_bps)
{
    return reaction_ps == REACTION_IEEE ? ieee_reaction_ps(rate_bps) : reaction_ps;
}

static uint8_t
lossless_classes(const struct net *net)
{
    uint8_t classes = 0;

    for (uint32_t i = 0; i < net->n_qos; i++) {
        if (net->qos[i].lossless) {
            classes |= (uint8_t)(1u << net->qos[i].cls);
        }
    }
    return classes;
}

static int64_t
largest_frame(const struct net *net)
{
    uint16_t most = 0;

    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct nic_params *nic = &net->nic_params[h];
        uint16_t frame =
            net->wire == WIRE_HPCC
                ? (uint16_t)(nic->mtu_bytes + HPCC_DATA_BYTES)
                : packet_frame_bytes((uint32_t)nic->mtu_bytes, RETH_BYTES + IMMDT_BYTES,
                                     nic->ip == 6 ? IPV6_BYTES : IPV4_BYTES,
                                     nic->vlan ? VLAN_BYTES : 0);

        most = frame > most ? frame : most;
    }
    return most;
}

static void
fill_sched(const struct net *net, struct port_sched *sched)
{
    /* A class without a name of its own takes part with weight 1. */
    for (unsigned c = 0; c < N_CLASSES; c++) {
        sched->quantum_bytes[c] = FRAME_MAX_BYTES;
    }
    for (uint32_t i = 0; i < net->n_qos; i++) {
        const struct net_qos *qos = &net->qos[i];

        if (qos->strict) {
            sched->strict |= (uint8_t)(1u << qos->cls);
        } else {
            sched->quantum_bytes[qos->cls] = qos->weight * FRAME_MAX_BYTES;
        }
    }
}

/* Gives each node its ports, and each link its two. */
static void
make_ports(struct net *net)
{
    g_autofree uint32_t *used = g_new0(uint32_t, net->n_nodes ? net->n_nodes : 1);

    net->n_ports = 2 * net->n_links;
    net->ports = mem_zero_lines(net->n_ports, sizeof *net->ports);
    for (uint32_t n = 0, first = 0; n < net->n_nodes; n++) {
        net->nodes[n].first_port = first;
        first += net->nodes[n].n_ports;
    }
    for (uint32_t i = 0; i < net->n_links; i++) {
        for (unsigned e = 0; e < 2; e++) {
            uint32_t n = net->links[i].node[e];

            net->links[i].port[e] = net->nodes[n].first_port + used[n]++;
        }
    }
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        for (uint32_t k = 0; k < net->nodes[n].n_ports; k++) {
            struct port *port = &net->ports[net->nodes[n].first_port + k];

            port_init(port);
            port->id = net->nodes[n].first_port + k;
            port->index = (uint16_t)k;
            port->is_nic = net->nodes[n].kind == NODE_HOST;
        }
    }
}

static const struct switch_params *
switch_params_of(const struct net *net, uint32_t node)
{
    return &net->switch_params[net->nodes[node].index];
}

static int64_t
reaction_of(const struct net *net, uint32_t node, int64_t rate_bps)
{
    uint32_t index = net->nodes[node].index;
    int64_t wanted = net->nodes[node].kind == NODE_HOST
                         ? net->nic_params[index].pfc_reaction_ps
                         : net->switch_params[index].pfc_reaction_ps;

    return net_pause_reaction_ps(wanted, rate_bps);
}

static uint8_t
pfc_of(const struct net *net, uint32_t node)
{
    uint32_t index = net->nodes[node].index;

    return net->nodes[node].kind == NODE_HOST ? net->nic_params[index].pfc
                                              : net->switch_params[index].pfc;
}

/* Propagation and what lies before admission at the far end. */
static int64_t
delay_towards(const struct net *net, const struct net_link *link, uint32_t node)
{
    int64_t ingress_ps = net->nodes[node].kind == NODE_SWITCH
                             ? switch_params_of(net, node)->ingress_latency_ps
                             : 0;

    return link->params.delay_ps + ingress_ps;
}

static bool
has_lasting_pauses(const struct net *net, uint32_t node)
{
    return net->nodes[node].kind == NODE_SWITCH &&
           switch_params_of(net, node)->pfc_quanta == PFC_QUANTA_UNTIL_RESUME;
}

static void
wire_link(struct net *net, struct net_link *link)
{
    for (unsigned e = 0; e < 2; e++) {
        uint32_t node = link->node[e], far = link->node[1 - e];
        struct port *port = &net->ports[link->port[e]];
        bool to_switch = net->nodes[far].kind == NODE_SWITCH;

        port_set_wire(port, net->wire, link->params.rate_bps,
                      delay_towards(net, link, far));
        port->peer = link->port[1 - e];
        port->link = (uint32_t)(link - net->links);
        port->sends_lasting = has_lasting_pauses(net, node);
        port->hears_lasting = has_lasting_pauses(net, far);
        port->arrival_key =
            event_key(PHASE_ARRIVAL, port->peer,
                      to_switch ? KIND_ARRIVE_SWITCH : KIND_ARRIVE_NIC, false);
        if (net->wire == WIRE_HPCC) {
            port_note_start__(port, 0);
        }
        port->arrive_bytes = to_switch && switch_params_of(net, far)->cut_through
                                 ? CUT_THROUGH_BYTES
                                 : UINT16_MAX;
        net->ports[port->peer].in_heard_bytes = port->arrive_bytes;
        net->ports[port->peer].in_delay_ps = port->delay_ps;
        net->ports[port->peer].in_lag_ps = port->delay_ps - link->params.delay_ps;
        port->pause_reaction_ps = (uint32_t)reaction_of(net, node, link->params.rate_bps);
        port->short_bytes =
            port_slot_ps(port, PORT_SHORT_BYTES) <= port->pause_reaction_ps
                ? PORT_SHORT_BYTES
                : 0;
        port->pfc_rx = pfc_of(net, node);
        if (link->params.error_rate > 0 || link->params.bit_error_rate > 0) {
            g_autofree char *path =
                g_strdup_printf("%s>%s", link->name, net->nodes[node].name);

            port_set_loss(port, rng_key(net->seed, path, "loss"), link->params.error_rate,
                          link->params.bit_error_rate);
        }
    }
}

static gboolean
check_link(const struct net *net, const struct net_link *link, GError **error)
{
    for (unsigned e = 0; e < 2; e++) {
        const struct net_node *node = &net->nodes[link->node[e]];
        int64_t most_bps = node->kind == NODE_HOST
                               ? net->nic_params[node->index].port_rate_bps
                               : net->switch_params[node->index].port_rate_bps;

        if (most_bps && link->params.rate_bps > most_bps) {
            g_set_error(
                error, NET_ERROR, NET_ERROR_RATE,
                "link %s runs at %.6gG; a port of %s takes at most %.6gG by its profile",
                link->name, (double)link->params.rate_bps / 1e9, node->name,
                (double)most_bps / 1e9);
            return FALSE;
        }
    }
    return TRUE;
}

/* What a frame of 'config' is made of. */
static void
set_frames(const struct net *net, struct nic_config *config)
{
    if (net->wire == WIRE_HPCC) {
        config->frame_bytes = HPCC_DATA_BYTES;
        config->ack_bytes = config->cnp_bytes = HPCC_ACK_BYTES;
        return;
    }
    config->frame_bytes =
        (uint16_t)(FRAME_FIXED_BYTES + config->ip_bytes + config->vlan_bytes);
    config->min_bytes = FRAME_MIN_BYTES;
    config->headers_mask = UINT16_MAX;
    config->pad_mask = 3; /* BTH.PadCnt */
    config->extra_bytes = WIRE_EXTRA_BYTES;
    config->ack_bytes = nic_frame_bytes(config, 0, AETH_BYTES);
    config->cnp_bytes = nic_frame_bytes(config, 0, CNP_PAD_BYTES);
}

/* How answers wait, and what they tell. */
static void
set_answers(const struct net *net, const struct nic_params *params,
            struct nic_config *config)
{
    /* A queue of their own that no pause of their class holds, or that of `roce`. */
    uint8_t first = params->ack_pausable ? net->qos[0].cls : 0;

    config->answers_first = params->ack_first;
    config->answers_pausable = params->ack_pausable;
    config->answers_duplicates = params->ack_duplicates;
    config->merges_acks = params->ack_coalesce;
    config->nack_interval_ps = MAX(params->nack_interval_ps, 0);
    for (unsigned c = 0; c < N_CLASSES; c++) {
        config->queue_of[c] = params->ack_first ? first : (uint8_t)c;
    }
}

/* Packets that a window of 'params' holds at most, as far as it is known yet; 0: any
 * number. */
static int64_t
window_pkts(const struct nic_params *params)
{
    int64_t window = params->max_inflight;
    int64_t pkts =
        (MAX(params->window_bytes, 0) + params->mtu_bytes - 1) / params->mtu_bytes;

    return window && pkts ? MIN(window, pkts) : window + pkts;
}

/* Packets a QP may have unacknowledged where 'wanted' are asked for (0: any number): half of
 * the PSNs, what a selective repeat keeps book of, or less. */
static uint32_t
largest_window(const struct nic_params *params, int64_t wanted)
{
    int64_t most = (1 << 23) - 1;

    if (params->retransmit == NIC_SR && params->sr_window < most) {
        most = params->sr_window;
    }
    return (uint32_t)(wanted ? MIN(wanted, most) : most);
}

static void
make_nics(struct net *net)
{
    net->nic_of_host = g_new0(uint32_t, net->n_hosts + 1);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        net->nic_of_host[h] = net->n_nics;
        net->n_nics += net->nodes[net->node_of_host[h]].n_ports;
    }
    net->nic_of_host[net->n_hosts] = net->n_nics;
    net->nics = mem_zero_lines(net->n_nics, sizeof *net->nics);
    net->nic_configs = g_new0(struct nic_config, net->n_hosts);
    net->qps_of_host = g_new0(uint32_t, net->n_hosts);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct nic_params *params = &net->nic_params[h];
        const struct net_qos *cnp = &net->qos[net->cnp_qos];
        uint16_t ip_bytes = params->ip == 6 ? IPV6_BYTES : IPV4_BYTES;
        uint16_t vlan_bytes = params->vlan ? VLAN_BYTES : 0;
        uint32_t sr_window =
            params->retransmit == NIC_SR ? (uint32_t)params->sr_window : 0;
        uint32_t window = largest_window(params, window_pkts(params));
        uint32_t ack_every = (uint32_t)params->ack_every;
        bool has_cc = net->cc->needs & CC_NEEDS_ECN;

        net->nic_configs[h] = (struct nic_config){
            .mtu_bytes = (uint32_t)params->mtu_bytes,
            .ip_bytes = ip_bytes,
            .vlan_bytes = vlan_bytes,
            /* A window smaller than two ACK intervals would stop and go. */
            .ack_every = ack_every > (window + 1) / 2 ? (window + 1) / 2 : ack_every,
            .max_inflight = largest_window(params, params->max_inflight),
            .max_reads = (uint32_t)params->max_reads,
            .receive_queue = (uint32_t)params->receive_queue,
            .rnr_timer = (uint8_t)params->rnr_timer,
            .rnr_retry = (uint8_t)params->rnr_retry,
            .sr_window = sr_window,
            .sr_reorder_ps = params->sr_reorder_ps,
            .sr_repeat_ps = params->sr_repeat_ps,
            .ack_timeout_ps =
                params->ack_timeout ? (4096 * PS_PER_NS) << params->ack_timeout : 0,
            .retry_count = (uint32_t)params->retry_count,
            .chunk_pkts = params->go_back == GO_BACK_CHUNK
                              ? (uint32_t)(params->chunk_bytes / params->mtu_bytes)
                              : 0,
            .slow_gap_ps = params->slow_gap_ps == SLOW_GAP_NEVER ? TIME_NEVER_PS
                                                                 : params->slow_gap_ps,
            .cnp_interval_ps =
                has_cc && params->cnp == CNP_PACKET ? params->cnp_interval_ps : 0,
            .cnp_on_answer = has_cc && params->cnp == CNP_ON_ACK,
            .keeps_line_rate = !params->rate_bound,
            .exact_gap = net->wire == WIRE_HPCC,
            .window_varies = params->window_varies,
            .latency_ps = params->latency_ps,
            .ack_latency_ps = params->ack_latency_ps,
            .cnp_tos = (uint8_t)(cnp->dscp << 2 | ECN_ECT0),
            .cnp_cls = cnp->cls,
            .ttl = (uint8_t)params->ttl,
            .ecn = has_cc,
            .cc = net->cc,
            .cc_params = net->cc_params};
        set_frames(net, &net->nic_configs[h]);
        set_answers(net, params, &net->nic_configs[h]);
        for (uint32_t k = net->nic_of_host[h]; k < net->nic_of_host[h + 1]; k++) {
            uint32_t first = net->nodes[net->node_of_host[h]].first_port;
            struct nic *nic = &net->nics[k];

            nic->host = h;
            nic->index = k - net->nic_of_host[h];
            nic->port = &net->ports[first + nic->index];
            nic->port->owner = nic;
            nic->port->sched = &nic->sched;
            nic->config = &net->nic_configs[h];
            nic->up =
                (struct pipe){.latency_ps = params->latency_ps, .id = net->n_pipes++};
            nic->reposts = (struct pipe){.latency_ps = params->receive_delay_ps,
                                         .id = net->n_pipes++};
            fill_sched(net, &nic->sched);
        }
    }
}

/* What each lossless class of 'port' gets when it 'needs' so much to be safe. */
static int64_t
headroom_of(const struct net *net, const struct switch_params *params,
            const struct port *port, int64_t needed, int64_t frame)
{
    const struct headroom_sonic in = {.rate_bps = port->rate_bps,
                                      .delay_ps = net->links[port->link].params.delay_ps,
                                      .reaction_ps = ieee_reaction_ps(port->rate_bps),
                                      .cell_bytes = params->cell_bytes,
                                      .small_q32 = params->headroom_small_q32,
                                      .is_static =
                                          params->headroom_rule == HEADROOM_SONIC_STATIC};

    if (params->headroom_bytes != HEADROOM_COMPUTED) {
        return params->headroom_bytes;
    }
    if (params->mmu == MMU_HPCC) {
        return mmu_hpcc_headroom_bytes(port->rate_bps, in.delay_ps);
    }
    /* The frame that stops the peer may itself find the shared part full. */
    return params->headroom_rule == HEADROOM_EXACT ? needed + frame
                                                   : headroom_sonic_bytes(&in);
}

/* Headroom of the classes that 'port' pauses; their sum. */
static int64_t
set_headroom(const struct net *net, const struct fabric_switch *sw, struct port *port,
             GPtrArray *warnings)
{
    const struct switch_params *params = switch_params_of(net, sw->node);
    const struct port *peer = &net->ports[port->peer];
    int64_t frame = largest_frame(net);
    int64_t needed = buffer_headroom_bytes(port->rate_bps, peer->delay_ps,
                                           peer->pause_reaction_ps, frame);
    bool is_hpcc = params->mmu == MMU_HPCC;
    int64_t each = headroom_of(net, params, port, needed, frame);
    int64_t sum = 0;

    for (unsigned c = 0; c < N_CLASSES; c++) {
        if (is_hpcc || (sw->lossless >> c & 1)) {
            port->in[c].headroom_limit_bytes = each;
            sum += each;
        }
    }
    sum = is_hpcc ? each : sum; /* once a port, not a class */
    if (warnings && sw->lossless && each < needed) {
        g_ptr_array_add(warnings,
                        g_strdup_printf("%s:%u: headroom %lld B is less than the %lld B "
                                        "it needs: %.6gG/8 x (2 x %.6g ns "
                                        "+ %.6g ns reaction) + 2 x %lld B + 84 B",
                                        sw->name, port->index, (long long)each,
                                        (long long)needed, (double)port->rate_bps / 1e9,
                                        (double)peer->delay_ps / 1e3,
                                        (double)peer->pause_reaction_ps / 1e3,
                                        (long long)(frame + WIRE_EXTRA_BYTES)));
    }
    return sum;
}

static void
set_marking(const struct net *net, const struct fabric_switch *sw, struct port *port)
{
    const struct ecn_params ecn =
        net_ecn_at_rate(&net->ecn_params[sw->id], port->rate_bps);
    uint8_t classes = 0;
    g_autofree char *path = g_strdup_printf("%s:%u", sw->name, port->index);

    for (uint32_t i = 0; i < net->n_qos; i++) {
        if (net->qos[i].ecn) {
            classes |= (uint8_t)(1u << net->qos[i].cls);
        }
    }
    ecn_init(&port->ecn, ecn.kmin_bytes, ecn.kmax_bytes, ecn.pmax_q32, classes,
             switch_params_of(net, sw->node)->ecn_at_dequeue);
    port->ecn.without_own = switch_params_of(net, sw->node)->ecn_counts;
    port->ecn.any_packet = switch_params_of(net, sw->node)->ecn_marks;
    port->ecn_key = rng_key(net->seed, path, "ecn");
}

/* `alpha` as a shift, at the rate of the first host's NIC. */
static void
set_shift(const struct net *net, struct port *port, const struct switch_params *params)
{
    unsigned shift = 0;

    for (int64_t alpha = params->alpha_q32; alpha < INT64_C(1) << 32; alpha *= 2) {
        shift++;
    }
    port->mmu_shift = (uint8_t)mmu_hpcc_shift(shift, port->rate_bps,
                                              net->n_nics ? net->nics[0].port->rate_bps
                                                          : port->rate_bps);
}

static gboolean
make_switch(struct net *net, uint32_t id, GPtrArray *warnings, GError **error)
{
    struct fabric_switch *sw = &net->switches[id];
    const struct net_node *node = &net->nodes[net->node_of_switch[id]];
    const struct switch_params *params = &net->switch_params[id];
    bool is_hpcc = params->mmu == MMU_HPCC;
    int64_t headroom = 0, reserved = 0;

    *sw = (struct fabric_switch){
        .ports = &net->ports[node->first_port],
        .latency_ps = params->latency_ps,
        .hash_seed = params->hash_seed >= 0 ? (uint32_t)params->hash_seed
                     : params->hash == HASH_MURMUR3
                         ? net->node_of_switch[id]
                         : (uint32_t)rng_key(net->seed, node->name, "ecmp"),
        .n_ports = (uint16_t)node->n_ports,
        .lossless = lossless_classes(net) & params->pfc,
        .cuts_through = params->cut_through,
        .mmu_hpcc = is_hpcc,
        .has_lb = params->lb.kind != LB_ECMP,
        .lb = lb_new(&params->lb, net->seed, node->name),
        .watchdog = watchdog_new(&params->watchdog, node->n_ports, net->seed, node->name),
        .id = id,
        .node = net->node_of_switch[id],
        .name = node->name};
    fill_sched(net, &sw->sched);
    sw->sched.by_packet = params->scheduler == SCHEDULER_RR;
    for (uint32_t i = 0; i < net->n_qos; i++) {
        sw->class_of_dscp[net->qos[i].dscp] = net->qos[i].cls;
    }
    for (uint16_t p = 0; p < sw->n_ports; p++) {
        sw->ports[p].owner = sw;
        sw->ports[p].sched = &sw->sched;
        headroom += set_headroom(net, sw, &sw->ports[p], warnings);
        reserved +=
            params->reserved_bytes * (is_hpcc ? 1 : __builtin_popcount(sw->lossless));
        set_shift(net, &sw->ports[p], params);
        set_marking(net, sw, &sw->ports[p]);
    }
    sw->buffer =
        (struct buffer){.shared_bytes = params->buffer_bytes - headroom - reserved,
                        .alpha_q16 = params->alpha_q32 >> 16,
                        .reserved_bytes = params->reserved_bytes,
                        .xon_bytes = params->xon_bytes,
                        .xon_offset_bytes = params->xon_offset_bytes == XON_OFFSET_FRAMES
                                                ? 2 * largest_frame(net)
                                                : params->xon_offset_bytes};
    if (sw->buffer.shared_bytes <= 0) {
        g_set_error(
            error, NET_ERROR, NET_ERROR_RANGE,
            "%s: a buffer of %lld B leaves nothing to share: %u ports need %lld B of "
            "headroom and %lld B of reserve",
            sw->name, (long long)params->buffer_bytes, sw->n_ports, (long long)headroom,
            (long long)reserved);
        return FALSE;
    }
    return TRUE;
}

gboolean
net_build(struct net *net, GPtrArray *warnings, GError **error)
{
    make_ports(net);
    for (uint32_t i = 0; i < net->n_links; i++) {
        if (!check_link(net, &net->links[i], error)) {
            return FALSE;
        }
    }
    for (uint32_t i = 0; i < net->n_links; i++) {
        wire_link(net, &net->links[i]);
    }
    make_nics(net);
    net->switches = mem_zero_lines(net->n_switches, sizeof *net->switches);
    net->routes = g_new0(const struct route_table *, net->n_switches + 1);
    for (uint32_t i = 0; i < net->n_switches; i++) {
        if (!make_switch(net, i, warnings, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Keeps 'table' (steals it) for switch 'sw'. */
static void
keep_table(struct net *net, uint32_t sw, struct route_table *table)
{
    net->tables = g_renew(struct route_table *, net->tables, net->n_tables + 1);
    net->tables[net->n_tables++] = table;
    if (net->switches[sw].lb) {
        lb_prepare(net->switches[sw].lb, table);
    }
}

void
net_set_routes(struct net *net, uint32_t sw, struct route_table *table)
{
    keep_table(net, sw, table);
    net->switches[sw].routes = table;
    net->routes[sw] = table;
}

static struct fault *
plan(struct net *net, const struct fault *fault)
{
    struct fault *own = g_memdup2(fault, sizeof *fault);

    own->id = net->n_faults;
    own->drop = g_memdup2(fault->drop, fault->n_drop * sizeof *fault->drop);
    net->faults = g_renew(struct fault *, net->faults, net->n_faults + 1);
    net->faults[net->n_faults++] = own;
    return own;
}

void
net_add_fault(struct net *net, uint32_t link, const struct fault *fault)
{
    for (unsigned e = 0; e < 2; e++) {
        struct fault *own = plan(net, fault);
        g_autofree char *path =
            g_strdup_printf("%s>%s/%u", net->links[link].name,
                            net->nodes[net->links[link].node[e]].name, own->id);

        own->port = &net->ports[net->links[link].port[e]];
        own->key = rng_key(net->seed, path, "loss");
    }
}

/* The receive buffer of a NIC that will be slow; headroom as a switch has it. */
static void
add_drain(const struct net *net, struct nic *nic)
{
    const struct port *peer = &net->ports[nic->port->peer];
    int64_t frame = largest_frame(net);

    if (nic->drain) {
        return;
    }
    nic->drain = mem_zero(1, sizeof *nic->drain);
    nic->has_drain = true;
    nic->drain->frame_bytes = frame;
    nic->drain->headroom_bytes =
        frame + buffer_headroom_bytes(peer->rate_bps, peer->delay_ps,
                                      peer->pause_reaction_ps, frame);
}

void
net_add_port_fault(struct net *net, uint32_t port, const struct fault *fault)
{
    struct fault *own = plan(net, fault);

    own->port = &net->ports[port];
    if (fault->kind == FAULT_SLOW) {
        add_drain(net, own->port->owner);
    }
}

void
net_set_routes_at(struct net *net, uint32_t sw, struct route_table *table, int64_t at_ps)
{
    const struct fault change = {.kind = FAULT_ROUTES,
                                 .at_ps = at_ps,
                                 .routes = &net->switches[sw].routes,
                                 .table = table};

    keep_table(net, sw, table);
    plan(net, &change);
}
