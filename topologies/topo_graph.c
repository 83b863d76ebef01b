/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topo_graph.c - nodes and links one by one, as the user lists them.
 *
 * Hosts and switches keep the order of the list, and so do the ports of a node.  A host
 * lives in the rack of the first switch it is linked to; every switch is a rack.
 */
#include <config.h>

#include "topologies/topo.h"

#include <assert.h>
#include <string.h>

const struct param topo_graph_params__[] = {
    {.name = NULL},
};

enum { NAME_LENGTH = 63 };

static gboolean
name_is_good(const char *name)
{
    size_t n =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");

    return n >= 1 && n <= NAME_LENGTH && name[n] == '\0';
}

/* Index of each name in 'nodes', plus 1. */
static gboolean
index_names(const struct topo_graph *graph, GHashTable *ids, GError **error)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct topo_graph_node *node = &graph->nodes[i];
        gpointer other = g_hash_table_lookup(ids, node->name);

        if (!name_is_good(node->name)) {
            g_set_error(error, TOPO_ERROR, TOPO_ERROR_GRAPH,
                        "topology.nodes[%u].name: is '%s'; allowed are 1 to %d letters, "
                        "digits, '_' and '.'",
                        i, node->name, NAME_LENGTH);
            return FALSE;
        }
        if (other != NULL) {
            g_set_error(
                error, TOPO_ERROR, TOPO_ERROR_GRAPH,
                "topology.nodes[%u].name: '%s' is the name of nodes[%u] too; names "
                "must differ",
                i, node->name, GPOINTER_TO_UINT(other) - 1);
            return FALSE;
        }
        if (node->kind == NODE_HOST ? node->tier != 0 : node->tier >= TOPO_MAX_TIERS) {
            g_set_error(
                error, TOPO_ERROR, TOPO_ERROR_GRAPH,
                "topology.nodes[%u].tier: is %u; allowed are 0 for a host, 1 to %d "
                "for a switch",
                i, node->tier, TOPO_MAX_TIERS - 1);
            return FALSE;
        }
        g_hash_table_insert(ids, (gpointer)node->name, GUINT_TO_POINTER(i + 1));
    }
    return TRUE;
}

/* The node called 'name', which end 'end' of link 'i' says, plus 1; 0: error is set. */
static uint32_t
find_end(GHashTable *ids, const char *name, uint32_t i, char end, GError **error)
{
    uint32_t id = GPOINTER_TO_UINT(g_hash_table_lookup(ids, name));

    if (id == 0) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_GRAPH,
                    "topology.links[%u].%c: there is no node '%s' in topology.nodes", i,
                    end, name);
    }
    return id;
}

/* Checks links and fills 'ends' (pairs of nodes) and the number of ports of each node. */
static gboolean
check_links(const struct topo_graph *graph, GHashTable *ids, uint32_t *ends,
            uint32_t *n_ports, GError **error)
{
    for (uint32_t i = 0; i < graph->n_links; i++) {
        const struct topo_graph_link *link = &graph->links[i];
        g_autofree char *path = g_strdup_printf("topology.links[%u]", i);
        uint32_t a = find_end(ids, link->a, i, 'a', error);
        uint32_t b = a ? find_end(ids, link->b, i, 'b', error) : 0;

        if (b == 0 || !topo_check_rate__(path, link->params.rate_bps, error)) {
            return FALSE;
        }
        if (a == b) {
            g_set_error(error, TOPO_ERROR, TOPO_ERROR_GRAPH,
                        "%s: links '%s' to itself; a and b must differ", path, link->a);
            return FALSE;
        }
        ends[2 * i] = a - 1, ends[2 * i + 1] = b - 1;
        n_ports[a - 1]++, n_ports[b - 1]++;
    }
    return TRUE;
}

static gboolean
check_counts(const struct topo_graph *graph, GError **error)
{
    if (graph->n_nodes == 0) {
        g_set_error(
            error, TOPO_ERROR, TOPO_ERROR_MISSING,
            "topology.nodes: is empty; allowed are 1 to %d nodes, one of them a host",
            TOPO_MAX_PORTS);
        return FALSE;
    }
    if (graph->n_nodes > TOPO_MAX_PORTS) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                    "topology.nodes: has %u nodes; allowed up to %d", graph->n_nodes,
                    TOPO_MAX_PORTS);
        return FALSE;
    }
    if (graph->n_links > TOPO_MAX_PORTS / 2) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                    "topology.links: %u links x 2 ends = %" G_GUINT64_FORMAT
                    " ports; allowed up to %d",
                    graph->n_links, 2 * (guint64)graph->n_links, TOPO_MAX_PORTS);
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_nodes(const struct topo_graph *graph, const uint32_t *n_ports, GError **error)
{
    uint32_t n_hosts = 0;

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct topo_graph_node *node = &graph->nodes[i];

        n_hosts += node->kind == NODE_HOST;
        if (n_ports[i] == 0) {
            g_set_error(error, TOPO_ERROR, TOPO_ERROR_UNCONNECTED,
                        "topology.nodes[%u]: '%s' has no link in topology.links", i,
                        node->name);
            return FALSE;
        }
        if (n_ports[i] > TOPO_MAX_NODE_PORTS) {
            g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                        "topology.nodes[%u]: '%s' has %u links; allowed up to %d", i,
                        node->name, n_ports[i], TOPO_MAX_NODE_PORTS);
            return FALSE;
        }
    }
    if (n_hosts == 0) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_MISSING,
                    "topology.nodes: none of %u is a host; at least one is needed",
                    graph->n_nodes);
        return FALSE;
    }
    return TRUE;
}

/* Tiers not given: links to the nearest host, by rounds over all links.  The last tier
 * takes what is farther, so there are few rounds. */
static void
fill_tiers(const struct topo_graph *graph, const uint32_t *ends, uint8_t *tiers)
{
    g_autofree uint8_t *distance = g_malloc(graph->n_nodes);

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        distance[i] = graph->nodes[i].kind == NODE_HOST ? 0 : TOPO_MAX_TIERS - 1;
    }
    for (int round = 1; round < TOPO_MAX_TIERS - 1; round++) {
        for (uint32_t e = 0; e < 2 * graph->n_links; e++) {
            uint8_t *here = &distance[ends[e]];

            *here = MIN(*here, (uint8_t)(distance[ends[e ^ 1]] + 1));
        }
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        tiers[i] = graph->nodes[i].kind == NODE_HOST || graph->nodes[i].tier == 0
                       ? distance[i]
                       : graph->nodes[i].tier;
    }
}

/* A rack for each switch, in the order of nodes, and for each host without one. */
static void
fill_racks(const struct topo_graph *graph, const uint32_t *ends, uint32_t *racks)
{
    uint32_t n_racks = 0;

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        racks[i] = graph->nodes[i].kind == NODE_SWITCH ? n_racks++ : UINT32_MAX;
    }
    for (uint32_t e = 0; e < 2 * graph->n_links; e++) {
        if (graph->nodes[ends[e ^ 1]].kind == NODE_SWITCH &&
            racks[ends[e]] == UINT32_MAX) {
            racks[ends[e]] = racks[ends[e ^ 1]];
        }
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        racks[i] = racks[i] == UINT32_MAX ? n_racks++ : racks[i];
    }
}

gboolean
topo_graph_resolve__(void *params, const struct topo_input *input, GError **error)
{
    const struct topo_graph *graph = input->graph;
    g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);

    (void)params;
    if (!check_counts(graph, error) || !index_names(graph, ids, error)) {
        return FALSE;
    }
    g_autofree uint32_t *ends = g_new(uint32_t, 2 * (gsize)graph->n_links);
    g_autofree uint32_t *n_ports = g_new0(uint32_t, graph->n_nodes);

    return check_links(graph, ids, ends, n_ports, error) &&
           check_nodes(graph, n_ports, error);
}

void
topo_graph_build__(struct net *net, const void *params, const struct topo_input *input)
{
    const struct topo_graph *graph = input->graph;
    g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
    g_autofree uint32_t *ends = g_new(uint32_t, 2 * (gsize)graph->n_links);
    g_autofree uint32_t *n_ports = g_new0(uint32_t, graph->n_nodes);
    g_autofree uint8_t *tiers = g_malloc(graph->n_nodes);
    g_autofree uint32_t *racks = g_new(uint32_t, graph->n_nodes);

    (void)params;
    gboolean is_resolved =
        index_names(graph, ids, NULL) && check_links(graph, ids, ends, n_ports, NULL);

    assert(is_resolved);
    (void)is_resolved;
    fill_tiers(graph, ends, tiers);
    fill_racks(graph, ends, racks);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].kind == NODE_HOST) {
            net_add_host(net, graph->nodes[i].name, racks[i]);
        } else {
            net_add_switch(net, graph->nodes[i].name, racks[i], tiers[i]);
        }
    }
    for (uint32_t i = 0; i < graph->n_links; i++) {
        net_add_link(net, ends[2 * i], ends[2 * i + 1], &graph->links[i].params);
    }
}

const struct topo_ops topo_graph_ops = {
    .name = "graph",
    .source = "the user's list of nodes and links",
    .doc = "nodes and links listed one by one",
    .is_graph = true,
    .params = topo_graph_params__,
    .resolve = topo_graph_resolve__,
    .build = topo_graph_build__,
};
