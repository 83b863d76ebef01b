/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fabric.c - builds a scenario's network and counts what there is; see fabric.h.
 */
#include <config.h>

#include "tools/fabric/fabric.h"

#include <string.h>

#include "models/ideal.h"
#include "tools/results/text.h"
#include "tools/scenario/units.h"

static int
compare_rates(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x < y) - (x > y); /* fastest first */
}

char *
fabric_rates_text(GArray *rates)
{
    g_autoptr(GString) text = g_string_new(NULL);
    char rate[TOPO_TEXT_BYTES];

    g_array_sort(rates, compare_rates);
    for (guint i = 0, k; i < rates->len; i = k) {
        int64_t bps = g_array_index(rates, int64_t, i);

        for (k = i + 1; k < rates->len && g_array_index(rates, int64_t, k) == bps; k++) {
        }
        g_string_append_printf(text, "%s%u x %s", text->len ? " + " : "", k - i,
                               topo_rate_text__(rate, bps));
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* ---- tiers ---------------------------------------------------------------------------- */

static void
layout_clear(void *data)
{
    struct fabric_layout *layout = data;

    g_array_unref(layout->nodes);
    g_free(layout->down);
    g_free(layout->peer);
    g_free(layout->up);
}

/* Rates of the links of 'node' to lower, the same and higher tiers. */
static void
collect_rates(const struct net *net, uint32_t node, GArray *rates[3])
{
    uint8_t tier = net->nodes[node].tier;

    for (unsigned d = 0; d < 3; d++) {
        g_array_set_size(rates[d], 0);
    }
    for (uint32_t p = 0, link = net->nodes[node].last_link; p < net->nodes[node].n_ports;
         p++) {
        const struct net_link *l = &net->links[link];
        unsigned e = l->node[0] == node ? 0 : 1;
        uint8_t peer = net->nodes[l->node[!e]].tier;

        g_array_append_val(rates[peer < tier    ? 0
                                 : peer == tier ? 1
                                                : 2],
                           l->params.rate_bps);
        link = l->before[e];
    }
}

static __int128
sum_rates(const GArray *rates)
{
    __int128 sum = 0;

    for (guint i = 0; i < rates->len; i++) {
        sum += g_array_index(rates, int64_t, i);
    }
    return sum;
}

static void
add_node(struct fabric *fabric, GHashTable *known, uint32_t node, GArray *rates[3])
{
    const struct net *net = fabric->net;
    g_autofree char *down = NULL, *peer = NULL, *up = NULL;
    gpointer found;

    collect_rates(net, node, rates);
    down = fabric_rates_text(rates[0]);
    peer = fabric_rates_text(rates[1]);
    up = fabric_rates_text(rates[2]);

    char *key = g_strdup_printf("%u|%s|%s|%s", net->nodes[node].tier, down, peer, up);

    if (!g_hash_table_lookup_extended(known, key, NULL, &found)) {
        struct fabric_layout layout = {.tier = net->nodes[node].tier,
                                       .nodes =
                                           g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                                       .n_ports = net->nodes[node].n_ports,
                                       .down = g_steal_pointer(&down),
                                       .peer = g_steal_pointer(&peer),
                                       .up = g_steal_pointer(&up)};

        if (rates[0]->len && rates[2]->len) {
            __int128 a = sum_rates(rates[0]), b = sum_rates(rates[2]),
                     common = topo_gcd__(a, b);

            layout.down_bps = (int64_t)a; /* of one node: below 2^63 */
            layout.up_bps = (int64_t)b;
            layout.ratio_down = (int64_t)(a / common);
            layout.ratio_up = (int64_t)(b / common);
        }
        found = GUINT_TO_POINTER(fabric->layouts->len);
        g_array_append_val(fabric->layouts, layout);
        g_hash_table_insert(known, g_steal_pointer(&key), found);
    }
    g_free(key);
    g_array_append_val(
        g_array_index(fabric->layouts, struct fabric_layout, GPOINTER_TO_UINT(found))
            .nodes,
        node);
}

static int
compare_layouts(const void *a, const void *b)
{
    const struct fabric_layout *x = a, *y = b;

    if (x->tier != y->tier) {
        return x->tier < y->tier ? -1 : 1;
    }
    if (x->nodes->len != y->nodes->len) {
        return x->nodes->len > y->nodes->len ? -1 : 1;
    }
    return g_array_index(x->nodes, uint32_t, 0) < g_array_index(y->nodes, uint32_t, 0)
               ? -1
               : 1;
}

static void
find_layouts(struct fabric *fabric)
{
    g_autoptr(GHashTable) known =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GArray *rates[3];

    for (unsigned d = 0; d < 3; d++) {
        rates[d] = g_array_new(FALSE, FALSE, sizeof(int64_t));
    }
    fabric->layouts = g_array_new(FALSE, FALSE, sizeof(struct fabric_layout));
    g_array_set_clear_func(fabric->layouts, layout_clear);
    for (uint32_t n = 0; n < fabric->net->n_nodes; n++) {
        add_node(fabric, known, n, rates);
    }
    g_array_sort(fabric->layouts, compare_layouts);
    for (unsigned d = 0; d < 3; d++) {
        g_array_unref(rates[d]);
    }
}

/* ---- links ---------------------------------------------------------------------------- */

static int
compare_links(const void *a, const void *b)
{
    const struct fabric_links *x = a, *y = b;

    for (unsigned e = 0; e < 2; e++) {
        if (x->tier[e] != y->tier[e]) {
            return x->tier[e] < y->tier[e] ? -1 : 1;
        }
    }
    if (x->rate_bps != y->rate_bps) {
        return x->rate_bps > y->rate_bps ? -1 : 1;
    }
    return (x->delay_ps > y->delay_ps) - (x->delay_ps < y->delay_ps);
}

static void
find_links(struct fabric *fabric)
{
    const struct net *net = fabric->net;
    g_autoptr(GArray) all =
        g_array_sized_new(FALSE, FALSE, sizeof(struct fabric_links), net->n_links);

    for (uint32_t l = 0; l < net->n_links; l++) {
        const struct net_link *link = &net->links[l];
        uint8_t a = net->nodes[link->node[0]].tier, b = net->nodes[link->node[1]].tier;
        struct fabric_links one = {.tier = {MIN(a, b), MAX(a, b)},
                                   .rate_bps = link->params.rate_bps,
                                   .delay_ps = link->params.delay_ps,
                                   .length_mm = units_cable_mm(link->params.delay_ps),
                                   .n = 1};

        g_array_append_val(all, one);
    }
    g_array_sort(all, compare_links);
    fabric->links = g_array_new(FALSE, FALSE, sizeof(struct fabric_links));
    for (guint i = 0; i < all->len; i++) {
        const struct fabric_links *one = &g_array_index(all, struct fabric_links, i);
        struct fabric_links *last =
            fabric->links->len > 0 ? &g_array_index(fabric->links, struct fabric_links,
                                                    fabric->links->len - 1)
                                   : NULL;

        if (last != NULL && compare_links(last, one) == 0) {
            last->n++;
        } else {
            g_array_append_val(fabric->links, *one);
        }
    }
}

/* ---- paths ---------------------------------------------------------------------------- */

/* The classes, with a connection for each example, from net_start() on timed. */
static void
find_paths(struct fabric *fabric, uint32_t qos)
{
    g_autoptr(GArray) classes = paths_classify(fabric->net);

    fabric->paths = g_array_new(FALSE, FALSE, sizeof(struct fabric_path));
    for (guint i = 0; i < classes->len; i++) {
        struct fabric_path path = {.pairs = g_array_index(classes, struct path_class, i),
                                   .byte_ps = TIME_NEVER_PS,
                                   .packet_ps = TIME_NEVER_PS};

        if (path.pairs.n_links > 0) {
            net_connect(fabric->net, path.pairs.host[0], 0, path.pairs.host[1], 0, qos);
        }
        g_array_append_val(fabric->paths, path);
    }
}

static void
time_paths(struct fabric *fabric)
{
    uint32_t connection = 0;

    for (guint i = 0; i < fabric->paths->len; i++) {
        struct fabric_path *path = &g_array_index(fabric->paths, struct fabric_path, i);

        if (path->pairs.n_links > 0) {
            int64_t mtu_bytes = fabric->net->nic_params[path->pairs.host[0]].mtu_bytes;

            path->byte_ps = net_ideal_fct_ps(fabric->net, connection, 0, 1);
            path->packet_ps = net_ideal_fct_ps(fabric->net, connection, 0, mtu_bytes);
            connection++;
        }
    }
}

/* Are all links between two tiers of one rate? */
static bool
are_rates_even(const GArray *links)
{
    for (guint i = 1; i < links->len; i++) {
        const struct fabric_links *a = &g_array_index(links, struct fabric_links, i - 1);
        const struct fabric_links *b = a + 1;

        if (a->tier[0] == b->tier[0] && a->tier[1] == b->tier[1] &&
            a->rate_bps != b->rate_bps) {
            return false;
        }
    }
    return true;
}

/* Does the argument of bisection.h hold: a star, or leaf-spine with full leaves? */
static bool
is_bisection_exact(const struct fabric *fabric)
{
    uint32_t n_leaf_layouts = 0;

    if (fabric->scenario->topo->is_graph || !are_rates_even(fabric->links)) {
        return false;
    }
    for (guint i = 0; i < fabric->layouts->len; i++) {
        n_leaf_layouts +=
            g_array_index(fabric->layouts, struct fabric_layout, i).tier == 1;
    }
    return n_leaf_layouts == 1 && fabric->counts.n_tiers <= 3;
}

/* ---- the whole ------------------------------------------------------------------------ */

static void
ranks_clear(void *data)
{
    struct fabric_ranks *ranks = data;

    g_free(ranks->title);
    g_free(ranks->host);
    g_free(ranks->gpu);
}

static gboolean
build(struct fabric *fabric, GPtrArray *warnings, GError **error)
{
    const struct scenario *scenario = fabric->scenario;

    fabric->net = scenario_build_net(scenario, error);
    if (fabric->net == NULL) {
        return FALSE;
    }
    fabric->net->sample_ps = 0;
    if (!net_build(fabric->net, warnings, error)) {
        scenario_explain(scenario, error);
        return FALSE;
    }
    if (!topo_routes(fabric->net, NULL, error)) {
        g_prefix_error(error, "%s: ", scenario->file);
        return FALSE;
    }
    return TRUE;
}

struct fabric *
fabric_new(const struct scenario *scenario, GPtrArray *warnings, GError **error)
{
    struct fabric *fabric = g_new0(struct fabric, 1);

    fabric->scenario = scenario;
    fabric->ranks = g_array_new(FALSE, FALSE, sizeof(struct fabric_ranks));
    g_array_set_clear_func(fabric->ranks, ranks_clear);
    if (!build(fabric, warnings, error) || !fabric_place_ranks(fabric, error)) {
        fabric_free(fabric);
        return NULL;
    }
    topo_describe(fabric->net, &fabric->counts);
    find_layouts(fabric);
    find_links(fabric);
    find_paths(fabric, g_array_index(scenario->works, struct scenario_work, 0).qos);
    bisection_find(fabric->net, &fabric->bisection);
    fabric->bisection_is_exact = is_bisection_exact(fabric);
    fabric->parts = fabric_list_parts(fabric);
    net_start(fabric->net, PARTITION_ONE, 1);
    time_paths(fabric);
    return fabric;
}

void
fabric_free(struct fabric *fabric)
{
    if (fabric == NULL) {
        return;
    }
    g_clear_pointer(&fabric->layouts, g_array_unref);
    g_clear_pointer(&fabric->links, g_array_unref);
    g_clear_pointer(&fabric->paths, g_array_unref);
    g_clear_pointer(&fabric->ranks, g_array_unref);
    g_clear_pointer(&fabric->parts, g_array_unref);
    net_free(fabric->net);
    g_free(fabric);
}

/* ---- names ---------------------------------------------------------------------------- */

const char *
fabric_tier_name(unsigned tier)
{
    static const char *const names[TOPO_MAX_TIERS] = {"host",  "leaf",  "spine", "core",
                                                      "tier4", "tier5", "tier6", "tier7"};

    return names[tier];
}

/* The number that 'name' ends with, and the length of what stands before; -1: none. */
static int64_t
split_name(const char *name, size_t *n_before)
{
    size_t n = strlen(name), at = n;

    while (at > 0 && g_ascii_isdigit(name[at - 1])) {
        at--;
    }
    *n_before = at;
    /* "leaf007" is no leaf7, and what has more digits no number. */
    if (at == n || n - at > 9 || (name[at] == '0' && n - at > 1)) {
        return -1;
    }
    return g_ascii_strtoll(name + at, NULL, 10);
}

static bool
is_next_name(const char *a, const char *b)
{
    size_t n_a, n_b;
    int64_t x = split_name(a, &n_a), y = split_name(b, &n_b);

    return x >= 0 && y == x + 1 && n_a == n_b && strncmp(a, b, n_a) == 0;
}

void
fabric_put_names(GString *out, const struct net *net, const GArray *nodes, gsize most)
{
    gsize begin = out->len;

    for (guint i = 0, k; i < nodes->len; i = k) {
        const char *first = net->nodes[g_array_index(nodes, uint32_t, i)].name;
        const char *last = first;

        for (k = i + 1; k < nodes->len; k++) {
            const char *next = net->nodes[g_array_index(nodes, uint32_t, k)].name;

            if (!is_next_name(last, next)) {
                break;
            }
            last = next;
        }
        g_autofree char *run = k == i + 1   ? g_strdup(first)
                               : k == i + 2 ? g_strdup_printf("%s, %s", first, last)
                                            : g_strdup_printf("%s .. %s", first, last);

        /* At least one, however long. */
        if (i > 0 && out->len - begin + strlen(run) + 7 > most) {
            g_string_append(out, ", ...");
            return;
        }
        g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", run);
    }
}

void
fabric_put_length(GString *out, int64_t length_mm)
{
    text_quotient(out, length_mm, 1000, 2);
    g_string_append(out, " m");
}

void
fabric_put_rate(GString *out, int64_t rate_bps)
{
    static const char *const units[] = {"bps", "kbps", "Mbps", "Gbps", "Tbps", "Pbps"};
    int64_t per = 1;
    unsigned u = 0;

    while (u + 1 < G_N_ELEMENTS(units) && rate_bps >= per * 1000) {
        per *= 1000;
        u++;
    }
    text_quotient(out, rate_bps, per, 3);
    g_string_append(out, units[u]);
}
