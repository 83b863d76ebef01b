/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pause_tree.c - pauses by the congestion they go back to, see pause_tree.h.
 *
 * The earlier pause that a later one goes back to is the latest of its cause port that began
 * before: a port is told to stop by one peer only, so its pauses do not overlap.
 */
#include <config.h>

#include "tools/results/pause_tree.h"

#include <stdlib.h>

/* Place of a node: below which one, for which port. */
struct place {
    const struct pause_node *above;
    uint32_t port;
    uint8_t cls;
    bool is_held;
};

struct builder {
    struct pause_tree *tree;
    GHashTable *by_place; /* owned: struct place (owned) to its node */
    GHashTable *latest;   /* owned: port and class to the node of its latest pause */
};

static guint
hash_place(gconstpointer data)
{
    const struct place *place = data;

    return g_direct_hash(place->above) * 31u + place->port * 2654435761u +
           place->cls * 2u + place->is_held;
}

static gboolean
equal_place(gconstpointer pa, gconstpointer pb)
{
    const struct place *a = pa, *b = pb;

    return a->above == b->above && a->port == b->port && a->cls == b->cls &&
           a->is_held == b->is_held;
}

static void
free_node(gpointer data)
{
    struct pause_node *node = data;

    g_ptr_array_unref(node->below);
    g_free(node);
}

/* The node at 'place', made when there is none. */
static struct pause_node *
node_at(struct builder *b, const struct place *place, struct pause_node *above)
{
    struct pause_node *node = g_hash_table_lookup(b->by_place, place);

    if (!node) {
        node = g_new0(struct pause_node, 1);
        node->port = place->port;
        node->cls = place->cls;
        node->is_held = place->is_held;
        node->below = g_ptr_array_new_with_free_func(free_node);
        node->above = above;
        g_ptr_array_add(above ? above->below : b->tree->roots, node);
        g_hash_table_insert(b->by_place, g_memdup2(place, sizeof *place), node);
    }
    return node;
}

/* 'port' on the way from 'node' to its root, or NULL. */
static struct pause_node *
find_above(struct pause_node *node, uint32_t port, uint8_t cls)
{
    while (node && (node->port != port || node->cls != cls)) {
        node = node->above;
    }
    return node;
}

static gpointer
key_of(uint32_t port, uint8_t cls)
{
    return GSIZE_TO_POINTER((gsize)port << 8 | cls);
}

static void
add_pause(struct builder *b, const struct pause *pause)
{
    struct pause_node *above =
        pause->held ? g_hash_table_lookup(b->latest, key_of(pause->cause, pause->cls))
                    : NULL;
    struct pause_node *node;

    if (!above) {
        const struct place root = {
            .port = pause->cause, .cls = pause->cls, .is_held = pause->held};

        above = node_at(b, &root, NULL);
    }
    node = find_above(above, pause->paused, pause->cls);
    if (node) {
        node->is_loop = true;
    } else {
        const struct place place = {
            .above = above, .port = pause->paused, .cls = pause->cls};

        node = node_at(b, &place, above);
    }
    node->n_pauses++;
    node->paused_ps += pause->length_ps;
    b->tree->n_pauses++;
    b->tree->paused_ps += pause->length_ps;
    g_hash_table_insert(b->latest, key_of(pause->paused, pause->cls), node);
}

static int
compare_pauses(const void *pa, const void *pb)
{
    const struct pause *a = pa, *b = pb;

    if (a->start_ps != b->start_ps) {
        return a->start_ps < b->start_ps ? -1 : 1;
    }
    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    return (a->cls > b->cls) - (a->cls < b->cls);
}

static gint
compare_nodes(gconstpointer pa, gconstpointer pb)
{
    const struct pause_node *a = *(const struct pause_node *const *)pa;
    const struct pause_node *b = *(const struct pause_node *const *)pb;

    if (a->all_ps != b->all_ps) {
        return a->all_ps > b->all_ps ? -1 : 1;
    }
    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    if (a->cls != b->cls) {
        return a->cls < b->cls ? -1 : 1;
    }
    return a->is_held - b->is_held;
}

/* Sums up and sorts 'nodes' and all below. */
static void
sum_up(GPtrArray *nodes)
{
    for (guint i = 0; i < nodes->len; i++) {
        struct pause_node *node = g_ptr_array_index(nodes, i);

        node->n_all = node->n_pauses;
        node->all_ps = node->paused_ps;
        sum_up(node->below);
        for (guint k = 0; k < node->below->len; k++) {
            const struct pause_node *below = g_ptr_array_index(node->below, k);

            node->n_all += below->n_all;
            node->all_ps += below->all_ps;
        }
    }
    g_ptr_array_sort(nodes, compare_nodes);
}

struct pause_tree *
pause_tree_new(struct pause pauses[], guint n)
{
    struct builder b = {.tree = g_new0(struct pause_tree, 1),
                        .by_place =
                            g_hash_table_new_full(hash_place, equal_place, g_free, NULL),
                        .latest = g_hash_table_new(g_direct_hash, g_direct_equal)};

    b.tree->roots = g_ptr_array_new_with_free_func(free_node);
    if (n) {
        qsort(pauses, n, sizeof *pauses, compare_pauses);
    }
    for (guint i = 0; i < n; i++) {
        add_pause(&b, &pauses[i]);
    }
    sum_up(b.tree->roots);
    g_hash_table_unref(b.by_place);
    g_hash_table_unref(b.latest);
    return b.tree;
}

void
pause_tree_free(struct pause_tree *tree)
{
    if (tree) {
        g_ptr_array_unref(tree->roots);
        g_free(tree);
    }
}

/* ---- reach ---------------------------------------------------------------------------- */

struct reach {
    uint32_t (*host_of)(const void *ctx, uint32_t port);
    const void *ctx;
    GHashTable *ports, *hosts; /* owned: sets of ids */
    uint32_t depth;
};

static void
reach_node(struct reach *reach, const struct pause_node *node, uint32_t level)
{
    if (node->n_pauses) {
        uint32_t host = reach->host_of(reach->ctx, node->port);

        g_hash_table_add(reach->ports, GUINT_TO_POINTER(node->port));
        if (host != UINT32_MAX) {
            g_hash_table_add(reach->hosts, GUINT_TO_POINTER(host));
        }
        reach->depth = MAX(reach->depth, level);
    }
    for (guint i = 0; i < node->below->len; i++) {
        reach_node(reach, g_ptr_array_index(node->below, i), level + 1);
    }
}

static struct pause_reach
reach_all(const struct pause_node *const nodes[], guint n,
          uint32_t (*host_of)(const void *ctx, uint32_t port), const void *ctx)
{
    struct reach reach = {.host_of = host_of,
                          .ctx = ctx,
                          .ports = g_hash_table_new(g_direct_hash, g_direct_equal),
                          .hosts = g_hash_table_new(g_direct_hash, g_direct_equal)};
    struct pause_reach sum;

    for (guint i = 0; i < n; i++) {
        reach_node(&reach, nodes[i], 0);
    }
    sum = (struct pause_reach){.n_ports = g_hash_table_size(reach.ports),
                               .n_hosts = g_hash_table_size(reach.hosts),
                               .depth = reach.depth};
    g_hash_table_unref(reach.ports);
    g_hash_table_unref(reach.hosts);
    return sum;
}

struct pause_reach
pause_tree_reach(const struct pause_node *node,
                 uint32_t (*host_of)(const void *ctx, uint32_t port), const void *ctx)
{
    return reach_all(&node, 1, host_of, ctx);
}

struct pause_reach
pause_tree_reach_all(const struct pause_tree *tree,
                     uint32_t (*host_of)(const void *ctx, uint32_t port), const void *ctx)
{
    return reach_all((const struct pause_node *const *)tree->roots->pdata,
                     tree->roots->len, host_of, ctx);
}
