/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * paths.c - how far hosts are from each other: a breadth-first search over switches from
 * each that has hosts, as routes are found (topo.c); what it meets first is the way.
 *
 * Invariant: of two switches the one nearer to the root is counted before the other, so all
 * shortest paths of a switch are known when those through it are.
 */
#include <config.h>

#include "topologies/paths.h"

#include <string.h>

#include "topologies/wiring.h"

#define UNKNOWN UINT32_MAX

struct search {
    const struct net *net;
    const struct wiring *wiring;
    uint32_t *distance; /* by node: links to the root; UNKNOWN: not found */
    uint64_t *paths;    /* by node: shortest ones to the root */
    uint8_t *top;       /* by node: highest tier on the first of them */
    uint32_t *queue;    /* nodes found */
    uint32_t *n_hosts;  /* by node: whose first NIC is there */
    uint32_t *first;    /* by node: the first of these */
    uint32_t *second;   /* by node: the next one; UNKNOWN: none */
    GArray *classes;
};

static uint64_t
add_up(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Adds 'n_pairs' pairs, of which 'a' and 'b' (host ids) are the first. */
static void
add_pairs(GArray *classes, uint32_t n_links, uint8_t top_tier, uint64_t n_paths,
          uint64_t n_pairs, uint32_t a, uint32_t b)
{
    struct path_class *found = NULL;

    for (guint i = 0; i < classes->len && found == NULL; i++) {
        struct path_class *c = &g_array_index(classes, struct path_class, i);

        found = c->n_links == n_links && c->top_tier == top_tier ? c : NULL;
    }
    if (found == NULL) {
        const struct path_class new = {.n_links = n_links,
                                       .top_tier = top_tier,
                                       .host = {a, b},
                                       .n_paths = n_paths,
                                       .least_paths = n_paths,
                                       .most_paths = n_paths};

        g_array_append_val(classes, new);
        found = &g_array_index(classes, struct path_class, classes->len - 1);
    }
    found->n_pairs += n_pairs;
    found->least_paths = MIN(found->least_paths, n_paths);
    found->most_paths = MAX(found->most_paths, n_paths);
    if (MIN(a, b) < MIN(found->host[0], found->host[1]) ||
        (MIN(a, b) == MIN(found->host[0], found->host[1]) &&
         MAX(a, b) < MAX(found->host[0], found->host[1]))) {
        found->host[0] = MIN(a, b);
        found->host[1] = MAX(a, b);
        found->n_paths = n_paths;
    }
}

/* Which hosts have their first NIC at which switch; pairs joined by a cable. */
static void
find_hosts(struct search *search)
{
    const struct net *net = search->net;
    const struct wiring *wiring = search->wiring;

    memset(search->first, 0xff, net->n_nodes * sizeof *search->first);
    memset(search->second, 0xff, net->n_nodes * sizeof *search->second);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        uint32_t node = net->node_of_host[h];

        if (wiring->first[node] == wiring->first[node + 1]) {
            continue;
        }
        const struct wiring_end *end = &wiring->ends[wiring->first[node]];
        const struct net_node *peer = &net->nodes[end->peer];

        if (peer->kind == NODE_SWITCH) {
            if (search->n_hosts[end->peer]++ == 0) {
                search->first[end->peer] = h;
            } else if (search->second[end->peer] == UNKNOWN) {
                search->second[end->peer] = h;
            }
        } else if (end->peer_port == 0 && h < peer->index) {
            add_pairs(search->classes, 1, 0, 1, 1, h, peer->index);
        }
    }
}

/* Distances, paths and tiers of all switches from 'root'.  Returns how many are in the
 * queue, in order of distance. */
static uint32_t
look_out(struct search *search, uint32_t root)
{
    const struct net *net = search->net;
    const struct wiring *wiring = search->wiring;
    uint32_t n = 1;

    memset(search->distance, 0xff, net->n_nodes * sizeof *search->distance);
    search->queue[0] = root;
    search->distance[root] = 0;
    search->paths[root] = 1;
    search->top[root] = net->nodes[root].tier;
    for (uint32_t at = 0; at < n; at++) {
        uint32_t node = search->queue[at];

        for (uint32_t i = wiring->first[node]; i < wiring->first[node + 1]; i++) {
            uint32_t peer = wiring->ends[i].peer;

            if (net->nodes[peer].kind == NODE_HOST) {
                continue;
            }
            if (search->distance[peer] == UNKNOWN) {
                search->distance[peer] = search->distance[node] + 1;
                search->paths[peer] = 0;
                search->top[peer] = MAX(search->top[node], net->nodes[peer].tier);
                search->queue[n++] = peer;
            }
            if (search->distance[peer] == search->distance[node] + 1) {
                search->paths[peer] = add_up(search->paths[peer], search->paths[node]);
            }
        }
    }
    return n;
}

/* Pairs of which one host is at 'root' and the other at it or at a later switch. */
static void
count_from(struct search *search, uint32_t root)
{
    uint64_t here = search->n_hosts[root];
    uint32_t n = look_out(search, root);

    if (here > 1) {
        add_pairs(search->classes, 2, search->top[root], 1, here * (here - 1) / 2,
                  search->first[root], search->second[root]);
    }
    for (uint32_t at = 1; at < n; at++) {
        uint32_t node = search->queue[at];

        if (node > root && search->n_hosts[node] > 0) {
            add_pairs(search->classes, search->distance[node] + 2, search->top[node],
                      search->paths[node], here * search->n_hosts[node],
                      search->first[root], search->first[node]);
        }
    }
}

static int
compare_classes(const void *a, const void *b)
{
    const struct path_class *x = a, *y = b;

    if (x->n_links != y->n_links) {
        return x->n_links < y->n_links ? -1 : 1;
    }
    return (x->top_tier > y->top_tier) - (x->top_tier < y->top_tier);
}

static void
search_init(struct search *search, const struct net *net, struct wiring *wiring)
{
    gsize n = net->n_nodes + 1;

    wiring_init(wiring, net, NULL);
    *search =
        (struct search){.net = net,
                        .wiring = wiring,
                        .distance = g_new(uint32_t, n),
                        .paths = g_new(uint64_t, n),
                        .top = g_new(uint8_t, n),
                        .queue = g_new(uint32_t, n),
                        .n_hosts = g_new0(uint32_t, n),
                        .first = g_new(uint32_t, n),
                        .second = g_new(uint32_t, n),
                        .classes = g_array_new(FALSE, TRUE, sizeof(struct path_class))};
}

/* All but the classes. */
static void
search_clear(struct search *search, struct wiring *wiring)
{
    g_free(search->distance);
    g_free(search->paths);
    g_free(search->top);
    g_free(search->queue);
    g_free(search->n_hosts);
    g_free(search->first);
    g_free(search->second);
    wiring_clear(wiring);
}

GArray *
paths_classify(const struct net *net)
{
    uint64_t n_pairs = (uint64_t)net->n_hosts * (MAX(net->n_hosts, 1) - 1) / 2;
    struct wiring wiring;
    struct search search;

    search_init(&search, net, &wiring);
    find_hosts(&search);
    for (uint32_t s = 0; s < net->n_switches; s++) {
        if (search.n_hosts[net->node_of_switch[s]] > 0) {
            count_from(&search, net->node_of_switch[s]);
        }
    }
    search_clear(&search, &wiring);
    for (guint i = 0; i < search.classes->len; i++) {
        n_pairs -= g_array_index(search.classes, struct path_class, i).n_pairs;
    }
    g_array_sort(search.classes, compare_classes);
    if (n_pairs > 0) {
        const struct path_class none = {.n_pairs = n_pairs};

        g_array_append_val(search.classes, none);
    }
    return search.classes;
}

/* What the first NIC of 'host' is plugged into; NULL: it has none. */
static const struct wiring_end *
first_end(const struct net *net, const struct wiring *wiring, uint32_t host)
{
    uint32_t node = net->node_of_host[host];

    return wiring->first[node] < wiring->first[node + 1]
               ? &wiring->ends[wiring->first[node]]
               : NULL;
}

void
paths_find_tops(const struct net *net, uint32_t host, uint8_t top[])
{
    struct wiring wiring;
    struct search search;

    search_init(&search, net, &wiring);

    const struct wiring_end *from = first_end(net, &wiring, host);
    bool is_switch = from != NULL && net->nodes[from->peer].kind == NODE_SWITCH;

    if (is_switch) {
        look_out(&search, from->peer);
    }
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct wiring_end *end = first_end(net, &wiring, h);

        top[h] = PATHS_NONE;
        if (is_switch && end != NULL && net->nodes[end->peer].kind == NODE_SWITCH &&
            search.distance[end->peer] != UNKNOWN) {
            top[h] = search.top[end->peer];
        }
    }
    if (from != NULL && !is_switch && from->peer_port == 0) {
        top[net->nodes[from->peer].index] = 0;
    }
    top[host] = 0;
    g_array_unref(search.classes);
    search_clear(&search, &wiring);
}
