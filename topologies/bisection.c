/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bisection.c - maximum flow between the halves of the hosts, by Dinic's algorithm.
 *
 * A cable is an edge of its rate each way; a source feeds all hosts of one half, those of the
 * other drain into a sink.  That a host is a node like others does no harm, though hosts do
 * not forward: what enters a host of the first half could as well come from the source, and
 * what reaches one of the second has arrived.
 */
#include <config.h>

#include "topologies/bisection.h"

#include <glib.h>
#include <string.h>

#define UNSEEN UINT32_MAX

/* An edge and, at 'index ^ 1', the same one backwards. */
struct edge {
    uint32_t to;
    int64_t left_bps; /* what more can go this way */
};

struct flow {
    uint32_t n_nodes, source, sink;
    uint32_t *first; /* [n_nodes + 1], into 'of' */
    uint32_t *of;    /* edges by the node they leave */
    uint32_t *at;    /* by node: next entry of 'of' to be tried */
    uint32_t *level; /* by node: distance from the source */
    uint32_t *queue, *path;
    struct edge *edges;
    uint32_t n_edges;
};

static void
add_edge(struct flow *flow, uint32_t from, uint32_t to, int64_t rate_bps,
         int64_t back_bps)
{
    flow->edges[flow->n_edges++] = (struct edge){to, rate_bps};
    flow->edges[flow->n_edges++] = (struct edge){from, back_bps};
}

static void
sort_edges(struct flow *flow)
{
    g_autofree uint32_t *n = g_new0(uint32_t, flow->n_nodes + 1);

    for (uint32_t e = 0; e < flow->n_edges; e++) {
        n[flow->edges[e ^ 1].to]++;
    }
    for (uint32_t v = 0; v < flow->n_nodes; v++) {
        flow->first[v + 1] = flow->first[v] + n[v];
        n[v] = 0;
    }
    for (uint32_t e = 0; e < flow->n_edges; e++) {
        uint32_t from = flow->edges[e ^ 1].to;

        flow->of[flow->first[from] + n[from]++] = e;
    }
}

/* Levels from the source; false when the sink cannot be reached any more. */
static bool
find_levels(struct flow *flow)
{
    uint32_t n = 1;

    memset(flow->level, 0xff, flow->n_nodes * sizeof *flow->level);
    memcpy(flow->at, flow->first, flow->n_nodes * sizeof *flow->at);
    flow->level[flow->source] = 0;
    flow->queue[0] = flow->source;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = flow->queue[i];

        for (uint32_t k = flow->first[node]; k < flow->first[node + 1]; k++) {
            const struct edge *edge = &flow->edges[flow->of[k]];

            if (edge->left_bps > 0 && flow->level[edge->to] == UNSEEN) {
                flow->level[edge->to] = flow->level[node] + 1;
                flow->queue[n++] = edge->to;
            }
        }
    }
    return flow->level[flow->sink] != UNSEEN;
}

/* Sends along the 'n' edges of the path what its narrowest takes.  Returns the number of
 * edges before the first that is full now. */
static uint32_t
push(struct flow *flow, uint32_t n, __int128 *sum_bps)
{
    int64_t least_bps = INT64_MAX;
    uint32_t full = n;

    for (uint32_t i = 0; i < n; i++) {
        least_bps = MIN(least_bps, flow->edges[flow->path[i]].left_bps);
    }
    for (uint32_t i = n; i-- > 0;) {
        struct edge *there = &flow->edges[flow->path[i]];
        struct edge *back = &flow->edges[flow->path[i] ^ 1];

        there->left_bps -= least_bps;
        back->left_bps = back->left_bps > INT64_MAX - least_bps
                             ? INT64_MAX
                             : back->left_bps + least_bps;
        full = there->left_bps == 0 ? i : full;
    }
    *sum_bps += least_bps;
    return full;
}

/* All paths by ascending levels, until none is left. */
static void
block(struct flow *flow, __int128 *sum_bps)
{
    uint32_t node = flow->source, n = 0;

    for (;;) {
        if (node == flow->sink) {
            n = push(flow, n, sum_bps);
            node = flow->edges[flow->path[n] ^ 1].to;
            continue;
        }
        if (flow->at[node] < flow->first[node + 1]) {
            uint32_t e = flow->of[flow->at[node]];
            const struct edge *edge = &flow->edges[e];

            if (edge->left_bps > 0 && flow->level[edge->to] == flow->level[node] + 1) {
                flow->path[n++] = e;
                node = edge->to;
            } else {
                flow->at[node]++;
            }
            continue;
        }
        if (n == 0) {
            return;
        }
        /* A dead end: one step back, and on to the next edge there. */
        node = flow->edges[flow->path[--n] ^ 1].to;
        flow->at[node]++;
    }
}

struct by_rack {
    uint32_t rack, host;
};

static int
compare_racks(const void *a, const void *b)
{
    const struct by_rack *x = a, *y = b;

    if (x->rack != y->rack) {
        return x->rack < y->rack ? -1 : 1;
    }
    return (x->host > y->host) - (x->host < y->host);
}

/* Marks the hosts (by node) of the second half. */
static void
halve(const struct net *net, uint32_t n_first, bool second[])
{
    g_autofree struct by_rack *hosts = g_new(struct by_rack, net->n_hosts);

    for (uint32_t h = 0; h < net->n_hosts; h++) {
        hosts[h] = (struct by_rack){net->nodes[net->node_of_host[h]].rack, h};
    }
    qsort(hosts, net->n_hosts, sizeof *hosts, compare_racks);
    for (uint32_t i = n_first; i < net->n_hosts; i++) {
        second[net->node_of_host[hosts[i].host]] = true;
    }
}

static int64_t
as_rate(__int128 bps)
{
    return bps > INT64_MAX ? INT64_MAX : (int64_t)bps;
}

/* What the NICs of each half can send; the lesser. */
static int64_t
full_rate(const struct net *net, const bool second[])
{
    __int128 sum[2] = {0, 0};

    for (uint32_t l = 0; l < net->n_links; l++) {
        for (unsigned e = 0; e < 2; e++) {
            uint32_t node = net->links[l].node[e];

            if (net->nodes[node].kind == NODE_HOST) {
                sum[second[node]] += net->links[l].params.rate_bps;
            }
        }
    }
    return as_rate(MIN(sum[0], sum[1]));
}

/* What goes from the first 'n_first' hosts to the others. */
static void
cut(const struct net *net, uint32_t n_first, struct bisection *bisection)
{
    uint32_t n_nodes = net->n_nodes + 2;
    gsize n_edges = 2 * ((gsize)net->n_links + net->n_hosts);
    g_autofree bool *second = g_new0(bool, n_nodes);
    g_autofree uint32_t *first = g_new0(uint32_t, n_nodes + 1);
    g_autofree uint32_t *of = g_new(uint32_t, n_edges + 1);
    g_autofree uint32_t *at = g_new(uint32_t, n_nodes);
    g_autofree uint32_t *level = g_new(uint32_t, n_nodes);
    g_autofree uint32_t *queue = g_new(uint32_t, n_nodes);
    g_autofree uint32_t *path = g_new(uint32_t, n_nodes);
    g_autofree struct edge *edges = g_new(struct edge, n_edges + 1);
    struct flow flow = {.n_nodes = n_nodes,
                        .source = net->n_nodes,
                        .sink = net->n_nodes + 1,
                        .first = first,
                        .of = of,
                        .at = at,
                        .level = level,
                        .queue = queue,
                        .path = path,
                        .edges = edges};
    __int128 sum_bps = 0;

    halve(net, n_first, second);
    for (uint32_t l = 0; l < net->n_links; l++) {
        int64_t rate_bps = net->links[l].params.rate_bps;

        add_edge(&flow, net->links[l].node[0], net->links[l].node[1], rate_bps, rate_bps);
    }
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        uint32_t node = net->node_of_host[h];

        add_edge(&flow, second[node] ? node : flow.source,
                 second[node] ? flow.sink : node, INT64_MAX, 0);
    }
    sort_edges(&flow);
    while (find_levels(&flow)) {
        block(&flow, &sum_bps);
    }
    *bisection = (struct bisection){.n_first = n_first,
                                    .n_second = net->n_hosts - n_first,
                                    .rate_bps = as_rate(sum_bps),
                                    .full_bps = full_rate(net, second)};
}

void
bisection_find(const struct net *net, struct bisection *bisection)
{
    struct bisection other;

    *bisection = (struct bisection){0};
    if (net->n_hosts < 2) {
        return;
    }
    cut(net, net->n_hosts / 2, bisection);
    if (net->n_hosts % 2 != 0) {
        cut(net, net->n_hosts / 2 + 1, &other);
        if (other.rate_bps < bisection->rate_bps) {
            *bisection = other;
        }
    }
}
