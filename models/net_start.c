/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_start.c - connections, queue pairs, processes, threads: a built network made ready
 * to run.  Set-up only; what happens in the run is net.c's.
 */
#include <config.h>

#include "models/net.h"

#include "sim/mem.h"
#include "sim/rng.h"

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
    net->connections[net->n_connections] = connection;
    net->n_qps += 2;
    return net->n_connections++;
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
    qp->src_port = qp_udp_source_port(connection->qpn[side], connection->qpn[1 - side]);
    qp->flow_hash = route_flow_hash(net_ip_of_nic(here), net_ip_of_nic(there),
                                    qp->src_port, 4791, 17);
    config->cc->init(qp->cc_state, config->cc_params, &env, &qp->rate);
    qp_set_pace(qp);
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
}

/* Time from a decision at 'port' to the first event it can cause at the peer. */
static int64_t
port_lookahead_ps(const struct port *port)
{
    return port->delay_ps + port_bytes_ps(port, FRAME_MIN_BYTES + WIRE_PREAMBLE_BYTES);
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
    struct partition_edge *edges = g_new(struct partition_edge, net->n_links + 1);
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
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        nodes[n] = (struct partition_node){
            .weight = predicted_events(net, &net->nodes[n]), .rack = net->nodes[n].rack};
    }
    net->lp_of_node = g_new0(uint32_t, net->n_nodes + 1);
    partition_find(nodes, net->n_nodes, edges, net->n_links, partition, n_threads,
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
        uint16_t frame = packet_frame_bytes(
            nic->config->mtu_bytes, 0, nic->config->ip_bytes, nic->config->vlan_bytes);

        most_ps = port_bytes_ps(nic->port, frame + WIRE_EXTRA_BYTES);
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
