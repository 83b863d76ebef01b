/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_add.c - a network before it is built: nodes, links, parameters; and its end.
 * Set-up only.  net_build.c makes of them what a run needs, net_start.c deals it out.
 */
#include <config.h>

#include "models/net.h"

#include "models/switch/watchdog.h"

#include <stdlib.h>
#include <string.h>

#include "sim/mem.h"

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
    net->shared = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return net;
}

static uint32_t
add_node(struct net *net, const char *name, enum node_kind kind, uint32_t rack,
         uint8_t tier)
{
    uint32_t *n = kind == NODE_HOST ? &net->n_hosts : &net->n_switches;
    uint32_t **of = kind == NODE_HOST ? &net->node_of_host : &net->node_of_switch;

    if (net->n_nodes == net->cap_nodes) {
        net->nodes = mem_double(net->nodes, &net->cap_nodes, 64, sizeof *net->nodes);
    }
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

/* The newest link between 'a' and 'b', or UINT32_MAX.  Looks at the links of the node
 * with fewer, the newest first, for parallel links mostly follow one another. */
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
    if (net->n_links == net->cap_links) {
        net->links = mem_double(net->links, &net->cap_links, 64, sizeof *net->links);
    }
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
net_add_route(struct net *net, uint32_t sw, uint32_t host, uint32_t via)
{
    net->given_routes =
        g_renew(struct net_route, net->given_routes, net->n_given_routes + 1);
    net->given_routes[net->n_given_routes++] =
        (struct net_route){.sw = sw, .host = host, .via = via};
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

void
net_free(struct net *net)
{
    if (!net) {
        return;
    }
    sim_free(net->sim);
    g_array_unref(net->shared);
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
    for (uint32_t i = 0; net->switches && i < net->n_switches; i++) {
        lb_free(net->switches[i].lb);
        watchdog_free(net->switches[i].watchdog);
    }
    for (uint32_t i = 0; i < net->n_nics; i++) {
        free(net->nics[i].drain);
    }
    deadlock_clear(&net->deadlock);
    g_free(net->given_routes);
    for (uint32_t i = 0; i < net->n_tables; i++) {
        route_table_free(net->tables[i]);
    }
    for (uint32_t i = 0; net->lps && i < net->n_lps; i++) {
        probe_clear(&net->lps[i].probe);
        tap_clear(&net->lps[i].tap);
        g_free(net->lps[i].ports);
        g_free(net->lps[i].seen);
        g_free(net->lps[i].sampled_qps);
    }
    for (uint32_t i = 0; i < net->n_faults; i++) {
        g_free(net->faults[i]->drop);
        g_free(net->faults[i]);
    }
    g_free(net->faults);
    free(net->nodes);
    free(net->links);
    g_free(net->node_of_host);
    g_free(net->node_of_switch);
    g_free(net->qos);
    g_free(net->nic_params);
    g_free(net->switch_params);
    g_free(net->ecn_params);
    g_free(net->cc_params);
    free(net->ports);
    free(net->nics);
    free(net->switches);
    for (uint32_t i = 0; net->qps && i < net->n_qps; i++) {
        free(net->qps[i].sr);
    }
    free(net->qps);
    g_free(net->nic_of_host);
    g_free(net->nic_configs);
    g_free(net->tables);
    g_free(net->routes);
    free(net->connections);
    g_free(net->qps_of_host);
    g_clear_pointer(&net->ports_of_pair, g_hash_table_unref);
    free(net->scanned);
    free(net->keys);
    g_free(net->lp_of_node);
    g_free(net->sampled);
    g_free(net->tapped);
    tap_clear(&net->frames_held);
    g_free(net->lps);
    g_free(net);
}
