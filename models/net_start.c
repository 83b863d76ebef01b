/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_start.c - connections, queue pairs, processes, threads: a built network made ready
 * to run.  Set-up only; what happens in the run is net.c's.
 */
#include <config.h>

#include "models/base_rtt.h"
#include "models/net.h"

#include "models/nic/retx_sr.h"
#include "models/switch/watchdog.h"
#include "sim/mem.h"
#include "sim/rng.h"

/* Where ports are counted: the first one plus the connections that the pair of hosts has in
 * this direction. */
static void
count_port(struct net *net, struct net_connection *connection)
{
    const struct nic_params *params = &net->nic_params[connection->host[0]];
    gpointer pair =
        (gpointer)(uintptr_t)((uint64_t)connection->host[0] << 32 | connection->host[1]);
    gsize n;

    if (params->sport == SPORT_BY_QPN) {
        return;
    }
    if (!net->ports_of_pair) {
        net->ports_of_pair = g_hash_table_new(NULL, NULL);
    }
    n = GPOINTER_TO_SIZE(g_hash_table_lookup(net->ports_of_pair, pair));
    g_hash_table_insert(net->ports_of_pair, pair, GSIZE_TO_POINTER(n + 1));
    connection->port[0] = (uint16_t)(params->sport + (int64_t)n);
    connection->port[1] = (uint16_t)params->dport;
}

uint32_t
net_connect(struct net *net, uint32_t host_a, uint32_t nic_a, uint32_t host_b,
            uint32_t nic_b, uint32_t qos)
{
    const struct net_qos *q = &net->qos[qos];
    bool ect = q->ecn && (net->cc->needs & CC_NEEDS_ECN);
    struct net_connection connection = {
        .host = {host_a, host_b},
        .nic = {nic_a, nic_b},
        .cls = q->cls,
        .tos = (uint8_t)(q->dscp << 2 | (ect ? ECN_ECT0 : 0)),
        .qp = {net->n_qps, net->n_qps + 1}};

    /* The first number that Linux gives a user's QP is 0x11. */
    connection.qpn[0] = 0x11 + net->qps_of_host[host_a]++;
    connection.qpn[1] = 0x11 + net->qps_of_host[host_b]++;
    if (net->n_connections == net->cap_connections) {
        net->connections = mem_double(net->connections, &net->cap_connections, 64,
                                      sizeof *net->connections);
    }
    count_port(net, &connection);
    net->connections[net->n_connections] = connection;
    net->n_qps += 2;
    return net->n_connections++;
}

void
net_set_udp_ports(struct net *net, uint32_t index, uint16_t sport, uint16_t dport)
{
    struct net_connection *connection = &net->connections[index];

    if (sport == 0 && dport == 0) {
        return;
    }
    if (sport == 0 && connection->port[0] == 0) {
        sport = qp_udp_source_port(connection->qpn[0], connection->qpn[1]);
    }
    if (dport == 0 && connection->port[0] == 0) {
        dport = (uint16_t)net->nic_params[connection->host[0]].dport;
    }
    connection->port[0] = sport ? sport : connection->port[0];
    connection->port[1] = dport ? dport : connection->port[1];
}

uint32_t
net_new_pipe(struct net *net)
{
    return net->n_pipes++;
}

uint64_t
net_new_timer(struct net *net)
{
    return net->n_timers++;
}

void
net_share_process(struct net *net, uint32_t host_a, uint32_t host_b)
{
    if (host_a != host_b) {
        g_array_append_val(net->shared, host_a);
        g_array_append_val(net->shared, host_b);
    }
}

uint32_t
net_ip_of_nic(uint32_t nic)
{
    return 0x0A000001u + nic; /* 10.0.0.1 and on */
}

static void
make_qp(struct net *net, const struct net_connection *connection, unsigned side)
{
    struct qp *qp = &net->qps[connection->qp[side]];
    uint32_t here = net->nic_of_host[connection->host[side]] + connection->nic[side];
    uint32_t there =
        net->nic_of_host[connection->host[1 - side]] + connection->nic[1 - side];
    const struct nic_config *config = net->nics[here].config;
    const struct cc_env env = {.line_rate_bps = net->nics[here].port->rate_bps,
                               .mtu_bytes = (int32_t)config->mtu_bytes};

    qp->id = connection->qp[side];
    qp->peer = connection->qp[1 - side];
    qp->nic = &net->nics[here];
    qp->dst_nic = there;
    qp->cls = connection->cls;
    qp->tos = connection->tos;
    qp->qpn = connection->qpn[side];
    qp->src_port = connection->port[0] ? connection->port[side]
                                       : qp_udp_source_port(connection->qpn[side],
                                                            connection->qpn[1 - side]);
    qp->dst_port = connection->port[0]
                       ? connection->port[1 - side]
                       : (uint16_t)net->nic_params[connection->host[side]].dport;
    qp->flow_hash = route_flow_hash(net_ip_of_nic(here), net_ip_of_nic(there),
                                    qp->src_port, qp->dst_port, 17);
    config->cc->init(qp->cc_state, config->cc_params, &env, &qp->rate);
    qp->window_pkts = config->max_inflight;
    qp->careful = config->receive_queue != 0;
    if (config->sr_window && net->nics[there].config->sr_window) {
        uint32_t window = MIN(config->sr_window, net->nics[there].config->sr_window);

        qp->sr = mem_zero(1, sr_bytes(window));
        sr_init(qp->sr, window);
    }
    if (net->keys) {
        net->keys[qp->id] =
            murmur_key(murmur_ip(net->node_of_host[connection->host[side]]),
                       murmur_ip(net->node_of_host[connection->host[1 - side]]),
                       qp->src_port, qp->dst_port);
    }
}

/* `window`, after all QPs know their NIC. */
static void
set_windows(struct net *net)
{
    int64_t global = -1;

    for (uint32_t i = 0; i < net->n_qps; i++) {
        struct qp *qp = &net->qps[i];
        const struct nic_params *params = &net->nic_params[qp->nic->host];
        int64_t bytes = params->window_bytes;

        if (bytes == WINDOW_BDP && params->window_scope == WINDOW_SCOPE_PAIR) {
            struct base_rtt base =
                base_rtt_of(net, (uint32_t)(qp->nic - net->nics), qp->dst_nic);

            bytes = base_rtt_bdp_bytes(&base);
        } else if (bytes == WINDOW_BDP) {
            global = global < 0 ? base_rtt_max_bdp_bytes(net) : global;
            bytes = global;
        }
        if (bytes > 0) {
            int64_t pkts = (bytes + params->mtu_bytes - 1) / params->mtu_bytes;

            qp->window_bytes = bytes;
            qp->window_pkts = (uint32_t)MIN(pkts, qp->window_pkts);
        }
        qp_set_pace(qp);
    }
}

/* Lists for the NICs that scan. */
static void
make_scans(struct net *net)
{
    g_autofree uint32_t *n_qps = g_new0(uint32_t, net->n_nics + 1);
    struct qp **next;

    net->scanned = mem_zero(net->n_qps + net->n_nics, sizeof *net->scanned);
    next = net->scanned;
    for (uint32_t i = 0; i < net->n_qps; i++) {
        n_qps[net->qps[i].nic - net->nics]++;
    }
    for (uint32_t k = 0; k < net->n_nics; k++) {
        if (net->nic_params[net->nics[k].host].arbiter == ARBITER_SCAN) {
            net->nics[k].scan.list = next;
            next += n_qps[k] + 1;
        }
    }
}

/* Keys for the switches that hash by them. */
static void
make_keys(struct net *net)
{
    for (uint32_t s = 0; s < net->n_switches; s++) {
        if (net->switch_params[s].hash == HASH_MURMUR3) {
            if (!net->keys) {
                net->keys = mem_zero(net->n_qps + 1, sizeof *net->keys);
            }
            net->switches[s].keys = net->keys;
        }
    }
}

/* Initial PSNs are random, as drivers choose them. */
static uint32_t
initial_psn(const struct net *net, const struct net_connection *connection, unsigned side)
{
    g_autofree char *path = g_strdup_printf(
        "%s/%u", net->nodes[net->node_of_host[connection->host[side]]].name,
        connection->qpn[side]);

    return (uint32_t)rng_key(net->seed, path, "psn") & PSN_MASK;
}

static void
make_qps(struct net *net)
{
    net->qps = mem_zero_lines(net->n_qps, sizeof *net->qps);
    make_keys(net);
    for (uint32_t k = 0; k < net->n_nics; k++) {
        net->nics[k].qps = net->qps;
    }
    for (uint32_t i = 0; i < net->n_connections; i++) {
        const struct net_connection *connection = &net->connections[i];

        for (unsigned side = 0; side < 2; side++) {
            uint32_t psn = initial_psn(net, connection, side);

            make_qp(net, connection, side);
            net->qps[connection->qp[side]].psn_base = psn;
            net->qps[connection->qp[1 - side]].psn_base_peer = psn;
        }
    }
    set_windows(net);
    make_scans(net);
}

/* Time from a decision at 'port' to the first event it can cause at the peer. */
static int64_t
port_lookahead_ps(const struct port *port)
{
    return port_hear_ps(port, port->pfc_bytes); /* no frame is shorter */
}

/* Events in a second when every link carries full frames both ways: an arrival a
 * frame, and a wake for every second one (measured: 1.5 events a packet-hop on a
 * busy leaf-spine). */
static int64_t
predicted_events(const struct net *net, const struct net_node *node)
{
    int64_t frames = 0;

    for (uint32_t k = 0; k < node->n_ports; k++) {
        frames += net->ports[node->first_port + k].rate_bps /
                  (8 * (MTU_MAX_BYTES + WIRE_EXTRA_BYTES));
    }
    return frames * 3 / 2;
}

static void
deal_nodes(struct net *net, enum partition_mode partition, uint32_t n_threads)
{
    uint32_t n_shared = net->shared->len / 2, n_edges = net->n_links + n_shared;
    struct partition_edge *edges = g_new(struct partition_edge, (gsize)n_edges + 1);
    struct partition_node *nodes = g_new(struct partition_node, net->n_nodes + 1);
    struct partition_result result;

    for (uint32_t i = 0; i < net->n_links; i++) {
        const struct net_link *link = &net->links[i];
        int64_t there = port_lookahead_ps(&net->ports[link->port[0]]);
        int64_t back = port_lookahead_ps(&net->ports[link->port[1]]);

        edges[i] = (struct partition_edge){.a = link->node[0],
                                           .b = link->node[1],
                                           .lookahead_ps = there < back ? there : back};
    }
    for (uint32_t i = 0; i < n_shared; i++) {
        edges[net->n_links + i] = (struct partition_edge){
            .a = net->node_of_host[g_array_index(net->shared, uint32_t, 2 * i)],
            .b = net->node_of_host[g_array_index(net->shared, uint32_t, 2 * i + 1)]};
    }
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        nodes[n] = (struct partition_node){
            .weight = predicted_events(net, &net->nodes[n]), .rack = net->nodes[n].rack};
    }
    net->lp_of_node = g_new0(uint32_t, net->n_nodes + 1);
    partition_find(nodes, net->n_nodes, edges, n_edges, partition, n_threads,
                   net->lp_of_node, &result);
    net->lookahead_ps = result.lookahead_ps;
    net->lookahead_link = result.edge;
    net->n_lps = result.n_lps;
    g_free(nodes);
    g_free(edges);
}

static void
make_processes(struct net *net, uint32_t n_threads)
{
    net->sim = sim_new(net->seed, net->n_lps, &net_sim_ops, net);
    net->lps = g_new0(struct net_lp, net->n_lps);
    for (uint32_t i = 0; i < net->n_lps; i++) {
        net->lps[i].net = net;
        net->sim->lps[i].user = &net->lps[i];
        net->sim->lps[i].weight = 0;
    }
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        struct net_lp *lp = &net->lps[net->lp_of_node[n]];

        net->sim->lps[net->lp_of_node[n]].weight += predicted_events(net, &net->nodes[n]);
        lp->ports = g_renew(uint32_t, lp->ports, lp->n_ports + net->nodes[n].n_ports);
        for (uint32_t k = 0; k < net->nodes[n].n_ports; k++) {
            lp->ports[lp->n_ports++] = net->nodes[n].first_port + k;
        }
    }
    for (uint32_t i = 0; i < net->n_links; i++) {
        for (unsigned e = 0; e < 2; e++) {
            const struct net_link *link = &net->links[i];

            sim_connect(net->sim, net->lp_of_node[link->node[e]],
                        net->lp_of_node[link->node[1 - e]],
                        port_lookahead_ps(&net->ports[link->port[e]]));
        }
    }
    sim_start(net->sim, n_threads);
    for (uint32_t i = 0; i < net->n_links; i++) {
        for (unsigned e = 0; e < 2; e++) {
            const struct net_link *link = &net->links[i];

            net->ports[link->port[e]].peer_lp =
                &net->sim->lps[net->lp_of_node[link->node[1 - e]]];
        }
    }
}

static uint32_t
threads_for(const struct net *net, uint32_t wanted)
{
    uint32_t n = wanted ? wanted : g_get_num_processors();

    if (n > net->n_lps) {
        n = net->n_lps;
    }
    return n < SIM_MAX_THREADS ? n : SIM_MAX_THREADS;
}

/* The process a fault strikes in: that of its port, or of its switch. */
static struct lp *
lp_of_fault(const struct net *net, const struct fault *fault)
{
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        const struct net_node *node = &net->nodes[n];
        bool is_at = fault->port
                         ? fault->port->id - node->first_port < node->n_ports
                         : node->kind == NODE_SWITCH &&
                               &net->switches[node->index].routes == fault->routes;

        if (is_at) {
            return &net->sim->lps[net->lp_of_node[n]];
        }
    }
    g_assert_not_reached();
}

static void
start_watchdogs(struct net *net)
{
    for (uint32_t s = 0; s < net->n_switches; s++) {
        struct fabric_switch *sw = &net->switches[s];

        if (sw->watchdog) {
            lp_at(&net->sim->lps[net->lp_of_node[sw->node]], sw->watchdog->first_ps,
                  event_key(PHASE_TIMER, sw->id, KIND_WATCHDOG, true), sw);
        }
    }
}

void
net_start(struct net *net, enum partition_mode partition, uint32_t n_threads)
{
    deal_nodes(net, partition, n_threads ? n_threads : g_get_num_processors());
    make_processes(net, threads_for(net, n_threads));
    make_qps(net);
    for (uint32_t i = 0; i < net->n_faults; i++) {
        struct fault *fault = net->faults[i];

        lp_at(lp_of_fault(net, fault), fault->at_ps,
              event_key(PHASE_FAULT, fault->id, KIND_FAULT, false), fault);
    }
    start_watchdogs(net);
}

struct lp *
net_lp_of_host(const struct net *net, uint32_t host)
{
    return &net->sim->lps[net->lp_of_node[net->node_of_host[host]]];
}

int64_t
net_jitter_ps(const struct net *net, uint32_t host)
{
    const struct nic *nic = &net->nics[net->nic_of_host[host]];
    int64_t most_ps = net->nic_params[host].jitter_ps;

    if (most_ps < 0) {
        uint16_t frame = nic_frame_bytes(nic->config, nic->config->mtu_bytes, 0);

        most_ps = port_slot_ps(nic->port, frame);
    }
    if (most_ps == 0) {
        return 0;
    }
    uint64_t key =
        rng_key(net->seed, net->nodes[net->node_of_host[host]].name, "start jitter");

    return (int64_t)rng_below(key, 0, (uint64_t)most_ps + 1);
}

struct qp *
net_qp(const struct net *net, uint32_t index, unsigned side)
{
    return &net->qps[net->connections[index].qp[side]];
}
