/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_build.c - from nodes, links and parameters to ports, NICs and switches.
 * Set-up only.  What happens in a built network is net.c's.
 */
#include <config.h>

#include "models/net.h"

#include <string.h>
#include <sys/mman.h>

#include "models/net_params.h"
#include "models/switch/ecn.h"
#include "sim/rng.h"

GQuark
net_error_quark(void)
{
    return g_quark_from_static_string("net-error");
}

struct net *
net_new(uint64_t seed)
{
    struct net *net = g_new0(struct net, 1);

    net->seed = seed;
    net->lookahead_link = UINT32_MAX;
    return net;
}

static void *
grow(void *p, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap) {
        return p;
    }
    *cap = *cap ? *cap * 2 : 64;
    return g_realloc_n(p, *cap, size);
}

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Zeroed, on cache lines; large arrays on huge pages where the system has them. */
static void *
alloc_lines(size_t n, size_t size)
{
    size_t bytes = (n * size + 63) / 64 * 64;
    size_t align = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : 64;
    void *p = g_aligned_alloc(bytes ? bytes : 64, 1, align);

    if (align == HUGE_PAGE_BYTES) {
        (void)madvise(p, bytes, MADV_HUGEPAGE);
    }
    memset(p, 0, bytes);
    return p;
}

static uint32_t
add_node(struct net *net, const char *name, enum node_kind kind, uint32_t rack,
         uint8_t tier)
{
    uint32_t *n = kind == NODE_HOST ? &net->n_hosts : &net->n_switches;
    uint32_t **of = kind == NODE_HOST ? &net->node_of_host : &net->node_of_switch;

    net->nodes = grow(net->nodes, net->n_nodes, &net->cap_nodes, sizeof *net->nodes);
    net->nodes[net->n_nodes] = (struct net_node){
        .name = g_strdup(name), .kind = kind, .index = *n, .rack = rack, .tier = tier};
    *of = g_renew(uint32_t, *of, *n + 1);
    (*of)[(*n)++] = net->n_nodes;
    return net->n_nodes++;
}

uint32_t
net_add_host(struct net *net, const char *name, uint32_t rack)
{
    return add_node(net, name, NODE_HOST, rack, 0);
}

uint32_t
net_add_switch(struct net *net, const char *name, uint32_t rack, uint8_t tier)
{
    return add_node(net, name, NODE_SWITCH, rack, tier);
}

/* The newest link between 'a' and 'b', or UINT32_MAX.  Looks at the links of the node with
 * fewer, the newest first, for parallel links mostly follow one another. */
static uint32_t
find_parallel(const struct net *net, uint32_t a, uint32_t b)
{
    uint32_t here = net->nodes[a].n_ports < net->nodes[b].n_ports ? a : b;
    uint32_t i = net->nodes[here].last_link;

    for (uint32_t k = 0; k < net->nodes[here].n_ports; k++) {
        const struct net_link *link = &net->links[i];
        unsigned e = link->node[0] == here ? 0 : 1;

        if (link->node[1 - e] == (here == a ? b : a)) {
            return i;
        }
        i = link->before[e];
    }
    return UINT32_MAX;
}

uint32_t
net_add_link(struct net *net, uint32_t a, uint32_t b, const struct link_params *params)
{
    const char *name_a = net->nodes[a].name, *name_b = net->nodes[b].name;
    uint32_t parallel = find_parallel(net, a, b);
    uint32_t n = parallel == UINT32_MAX ? 0 : net->links[parallel].number;
    char *name;

    if (n == 1) {
        char *numbered = g_strdup_printf("%s#1", net->links[parallel].name);

        g_free(net->links[parallel].name);
        net->links[parallel].name = numbered;
    }
    name = n ? g_strdup_printf("%s-%s#%u", name_a, name_b, n + 1)
             : g_strdup_printf("%s-%s", name_a, name_b);
    net->links = grow(net->links, net->n_links, &net->cap_links, sizeof *net->links);
    net->links[net->n_links] =
        (struct net_link){.name = name,
                          .node = {a, b},
                          .number = n + 1,
                          .before = {net->nodes[a].last_link, net->nodes[b].last_link},
                          .params = *params};
    net->nodes[a].last_link = net->nodes[b].last_link = net->n_links;
    net->nodes[a].n_ports++;
    net->nodes[b].n_ports++;
    return net->n_links++;
}

uint32_t
net_find_node(const struct net *net, const char *name)
{
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        if (strcmp(net->nodes[i].name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static bool
is_name_swapped(const struct net *net, const struct net_link *link, const char *name)
{
    const char *number = strchr(link->name, '#');
    g_autofree char *swapped =
        g_strdup_printf("%s-%s%s", net->nodes[link->node[1]].name,
                        net->nodes[link->node[0]].name, number ? number : "");

    return strcmp(swapped, name) == 0;
}

uint32_t
net_find_link(const struct net *net, const char *name)
{
    for (uint32_t i = 0; i < net->n_links; i++) {
        if (strcmp(net->links[i].name, name) == 0 ||
            is_name_swapped(net, &net->links[i], name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

void
net_add_qos(struct net *net, const struct net_qos *qos)
{
    net->qos = g_renew(struct net_qos, net->qos, net->n_qos + 1);
    net->qos[net->n_qos] = *qos;
    net->qos[net->n_qos++].name = g_strdup(qos->name);
}

void
net_set_params(struct net *net, const struct nic_params *nic,
               const struct switch_params *sw, const struct ecn_params *ecn)
{
    net->nic_params = g_renew(struct nic_params, net->nic_params, net->n_hosts);
    net->switch_params =
        g_renew(struct switch_params, net->switch_params, net->n_switches);
    net->ecn_params = g_renew(struct ecn_params, net->ecn_params, net->n_switches);
    for (uint32_t i = 0; i < net->n_hosts; i++) {
        net->nic_params[i] = *nic;
    }
    for (uint32_t i = 0; i < net->n_switches; i++) {
        net->switch_params[i] = *sw;
        net->ecn_params[i] = *ecn;
    }
}

void
net_set_cc(struct net *net, const struct cc_ops *cc, const void *params)
{
    net->cc = cc;
    g_free(net->cc_params);
    net->cc_params = g_memdup2(params, cc->params_bytes);
}

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
        uint16_t frame = packet_frame_bytes(
            (uint32_t)nic->mtu_bytes, RETH_BYTES + IMMDT_BYTES,
            nic->ip == 6 ? IPV6_BYTES : IPV4_BYTES, nic->vlan ? VLAN_BYTES : 0);

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
    net->ports = alloc_lines(net->n_ports, sizeof *net->ports);
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

static void
wire_link(struct net *net, struct net_link *link)
{
    for (unsigned e = 0; e < 2; e++) {
        uint32_t node = link->node[e], far = link->node[1 - e];
        struct port *port = &net->ports[link->port[e]];
        bool to_switch = net->nodes[far].kind == NODE_SWITCH;

        port_set_rate(port, link->params.rate_bps);
        port->peer = link->port[1 - e];
        port->link = (uint32_t)(link - net->links);
        port->delay_ps = delay_towards(net, link, far);
        port->arrival_key =
            event_key(PHASE_ARRIVAL, port->peer,
                      to_switch ? KIND_ARRIVE_SWITCH : KIND_ARRIVE_NIC, false);
        port->arrive_bytes = to_switch && switch_params_of(net, far)->cut_through
                                 ? CUT_THROUGH_BYTES
                                 : UINT16_MAX;
        port->pause_reaction_ps = (uint32_t)reaction_of(net, node, link->params.rate_bps);
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

static void
make_nics(struct net *net)
{
    net->nic_of_host = g_new0(uint32_t, net->n_hosts + 1);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        net->nic_of_host[h] = net->n_nics;
        net->n_nics += net->nodes[net->node_of_host[h]].n_ports;
    }
    net->nic_of_host[net->n_hosts] = net->n_nics;
    net->nics = alloc_lines(net->n_nics, sizeof *net->nics);
    net->nic_configs = g_new0(struct nic_config, net->n_hosts);
    net->qps_of_host = g_new0(uint32_t, net->n_hosts);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct nic_params *params = &net->nic_params[h];
        const struct net_qos *cnp = &net->qos[net->cnp_qos];
        uint16_t ip_bytes = params->ip == 6 ? IPV6_BYTES : IPV4_BYTES;
        uint16_t vlan_bytes = params->vlan ? VLAN_BYTES : 0;
        uint32_t window = (uint32_t)params->max_inflight;
        uint32_t ack_every = (uint32_t)params->ack_every;
        bool has_cc = net->cc->needs & CC_NEEDS_ECN;

        net->nic_configs[h] = (struct nic_config){
            .mtu_bytes = (uint32_t)params->mtu_bytes,
            .ip_bytes = ip_bytes,
            .vlan_bytes = vlan_bytes,
            .ack_bytes = packet_frame_bytes(0, AETH_BYTES, ip_bytes, vlan_bytes),
            .cnp_bytes = packet_frame_bytes(0, CNP_PAD_BYTES, ip_bytes, vlan_bytes),
            /* A window smaller than two ACK intervals would stop and go. */
            .ack_every =
                window && ack_every > (window + 1) / 2 ? (window + 1) / 2 : ack_every,
            .max_inflight = window,
            .ack_timeout_ps =
                params->ack_timeout ? (4096 * PS_PER_NS) << params->ack_timeout : 0,
            .retry_count = (uint32_t)params->retry_count,
            .cnp_interval_ps = has_cc ? params->cnp_interval_ps : 0,
            .latency_ps = params->latency_ps,
            .ack_latency_ps = params->ack_latency_ps,
            .cnp_tos = (uint8_t)(cnp->dscp << 2 | ECN_ECT0),
            .cnp_cls = cnp->cls,
            .ecn = has_cc,
            .cc = net->cc,
            .cc_params = net->cc_params};
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
            fill_sched(net, &nic->sched);
        }
    }
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
    int64_t each =
        params->headroom_bytes == HEADROOM_COMPUTED ? needed : params->headroom_bytes;
    int64_t sum = 0;

    for (unsigned c = 0; c < N_CLASSES; c++) {
        if (sw->lossless >> c & 1) {
            port->in[c].headroom_limit_bytes = each;
            sum += each;
        }
    }
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
    port->ecn_key = rng_key(net->seed, path, "ecn");
}

static gboolean
make_switch(struct net *net, uint32_t id, GPtrArray *warnings, GError **error)
{
    struct fabric_switch *sw = &net->switches[id];
    const struct net_node *node = &net->nodes[net->node_of_switch[id]];
    const struct switch_params *params = &net->switch_params[id];
    int64_t headroom = 0, reserved = 0;

    *sw = (struct fabric_switch){
        .ports = &net->ports[node->first_port],
        .latency_ps = params->latency_ps,
        .hash_seed = params->hash_seed >= 0
                         ? (uint32_t)params->hash_seed
                         : (uint32_t)rng_key(net->seed, node->name, "ecmp"),
        .n_ports = (uint16_t)node->n_ports,
        .lossless = lossless_classes(net) & params->pfc,
        .cuts_through = params->cut_through,
        .id = id,
        .node = net->node_of_switch[id],
        .name = node->name};
    fill_sched(net, &sw->sched);
    for (uint32_t i = 0; i < net->n_qos; i++) {
        sw->class_of_dscp[net->qos[i].dscp] = net->qos[i].cls;
    }
    for (uint16_t p = 0; p < sw->n_ports; p++) {
        sw->ports[p].owner = sw;
        sw->ports[p].sched = &sw->sched;
        headroom += set_headroom(net, sw, &sw->ports[p], warnings);
        reserved += params->reserved_bytes * __builtin_popcount(sw->lossless);
        set_marking(net, sw, &sw->ports[p]);
    }
    sw->buffer =
        (struct buffer){.shared_bytes = params->buffer_bytes - headroom - reserved,
                        .alpha_q16 = params->alpha_q32 >> 16,
                        .reserved_bytes = params->reserved_bytes,
                        .xon_bytes = params->xon_bytes,
                        .xon_offset_bytes = 2 * largest_frame(net)};
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
    net->switches = alloc_lines(net->n_switches, sizeof *net->switches);
    net->routes = g_new0(const struct route_table *, net->n_switches + 1);
    for (uint32_t i = 0; i < net->n_switches; i++) {
        if (!make_switch(net, i, warnings, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

void
net_set_routes(struct net *net, uint32_t sw, struct route_table *table)
{
    net->tables = g_renew(struct route_table *, net->tables, net->n_tables + 1);
    net->tables[net->n_tables++] = table;
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

void
net_set_routes_at(struct net *net, uint32_t sw, struct route_table *table, int64_t at_ps)
{
    const struct fault change = {.kind = FAULT_ROUTES,
                                 .at_ps = at_ps,
                                 .routes = &net->switches[sw].routes,
                                 .table = table};

    net->tables = g_renew(struct route_table *, net->tables, net->n_tables + 1);
    net->tables[net->n_tables++] = table;
    plan(net, &change);
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
    net->connections = grow(net->connections, net->n_connections, &net->cap_connections,
                            sizeof *net->connections);
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

static uint32_t
ip_of_nic(uint32_t nic)
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
    qp->flow_hash =
        route_flow_hash(ip_of_nic(here), ip_of_nic(there), qp->src_port, 4791, 17);
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
    net->qps = alloc_lines(net->n_qps, sizeof *net->qps);
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

/* Events in a second when every link carries full frames both ways: an arrival a frame, and
 * a wake for every second one (measured: 1.5 events a packet-hop on a busy leaf-spine). */
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

            net->ports[link->port[e]].channel =
                sim_channel_find(net->sim, net->lp_of_node[link->node[e]],
                                 net->lp_of_node[link->node[1 - e]]);
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
              event_key(PHASE_FAULT, fault->id, KIND_FAULT, true), fault);
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

void
net_free(struct net *net)
{
    if (!net) {
        return;
    }
    sim_free(net->sim);
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        g_free(net->nodes[i].name);
    }
    for (uint32_t i = 0; i < net->n_links; i++) {
        g_free(net->links[i].name);
    }
    for (uint32_t i = 0; i < net->n_qos; i++) {
        g_free(net->qos[i].name);
    }
    for (uint32_t i = 0; net->ports && i < net->n_ports; i++) {
        port_clear(&net->ports[i]);
    }
    for (uint32_t i = 0; i < net->n_tables; i++) {
        route_table_free(net->tables[i]);
    }
    for (uint32_t i = 0; net->lps && i < net->n_lps; i++) {
        probe_clear(&net->lps[i].probe);
        g_free(net->lps[i].ports);
        g_free(net->lps[i].seen);
        g_free(net->lps[i].sampled_qps);
    }
    for (uint32_t i = 0; i < net->n_faults; i++) {
        g_free(net->faults[i]->drop);
        g_free(net->faults[i]);
    }
    g_free(net->faults);
    g_free(net->nodes);
    g_free(net->links);
    g_free(net->node_of_host);
    g_free(net->node_of_switch);
    g_free(net->qos);
    g_free(net->nic_params);
    g_free(net->switch_params);
    g_free(net->ecn_params);
    g_free(net->cc_params);
    g_aligned_free(net->ports);
    g_aligned_free(net->nics);
    g_aligned_free(net->switches);
    g_aligned_free(net->qps);
    g_free(net->nic_of_host);
    g_free(net->nic_configs);
    g_free(net->tables);
    g_free(net->routes);
    g_free(net->connections);
    g_free(net->qps_of_host);
    g_free(net->lp_of_node);
    g_free(net->sampled);
    g_free(net->lps);
    g_free(net);
}
