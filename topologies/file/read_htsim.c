/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_htsim.c - .topo files of htsim: a fat tree of two or three tiers by numbers.
 *
 * Hosts are host0.., ToRs leaf0.., the tier above spine0.., the top of three tiers core0..;
 * pod by pod.  A ToR is linked to every spine of its pod, spine number p of a pod to the cores
 * p, p + n, p + 2n .. (n spines a pod), Bundle times each.
 *
 * Source: Broadcom/csg-htsim and ultraethernet/uet-htsim, sim/datacenter/
 * fat_tree_topology.cpp (load, set_custom_params, init_network).
 */
#include <config.h>

#include "topologies/file/file.h"

#include <stdio.h>

enum { TIERS_MAX = 3, NUMBER_MAX = 1000000 };

/* Keys of a tier. */
enum key {
    SPEED,
    RADIX_DOWN,
    RADIX_UP,
    LINK_LATENCY,
    SWITCH_LATENCY,
    OVERSUBSCRIBED,
    BUNDLE,
    QUEUE_UP,
    QUEUE_DOWN,
    N_KEYS,
};

static const struct {
    const char *name;
    int64_t min, max, def; /* def -1: must be there */
} keys[N_KEYS] = {
    [SPEED] = {"Downlink_speed_Gbps", 1, 100000, -1},
    [RADIX_DOWN] = {"Radix_Down", 1, TOPO_MAX_NODE_PORTS, -1},
    [RADIX_UP] = {"Radix_Up", 1, TOPO_MAX_NODE_PORTS,
                  0}, /* must be there below the top */
    [LINK_LATENCY] = {"Downlink_Latency_ns", 0, 1000000000, -1},
    [SWITCH_LATENCY] = {"Switch_Latency_ns", 0, 1000000000, 0},
    [OVERSUBSCRIBED] = {"Oversubscribed", 1, NUMBER_MAX, 1},
    [BUNDLE] = {"Bundle", 1, TOPO_MAX_NODE_PORTS, 1},
    [QUEUE_UP] = {"Queue_Up", 0, INT64_MAX, 0},
    [QUEUE_DOWN] = {"Queue_Down", 0, INT64_MAX, 0},
};

struct tree {
    struct text *t;
    struct topo_file *file;
    int64_t nodes, tiers, podsize; /* 0: not said */
    int64_t value[TIERS_MAX][N_KEYS];
    unsigned line[TIERS_MAX][N_KEYS]; /* 0: not said */
    unsigned tier_line[TIERS_MAX];    /* likewise */
    /* Computed. */
    int64_t pods, tors, spines, cores; /* tors and spines of a pod */
};

static bool
set_tier_key(struct tree *tree, int tier, enum key key)
{
    struct text *t = tree->t;

    if (tree->line[tier][key] != 0) {
        return text_fail(t, "%s of tier %d is there already, in line %u", keys[key].name,
                         tier, tree->line[tier][key]);
    }
    tree->line[tier][key] = t->line;
    return text_next_in_line(t) ? text_as_integer(t, keys[key].name, keys[key].min,
                                                  keys[key].max, &tree->value[tier][key])
                                : text_fail(t, "%s has no number", keys[key].name);
}

static bool
set_head(struct tree *tree, const char *name, int64_t min, int64_t max, int64_t *value)
{
    struct text *t = tree->t;

    if (*value != 0) {
        return text_fail(t, "%s is there already", name);
    }
    return text_next_in_line(t) ? text_as_integer(t, name, min, max, value)
                                : text_fail(t, "%s has no number", name);
}

/* The key in t->word; '*tier' is the one whose keys are read, -1 before the first. */
static bool
read_key(struct tree *tree, int *tier)
{
    struct text *t = tree->t;
    int64_t number = 0;

    if (g_ascii_strcasecmp(t->word, "Nodes") == 0) {
        return set_head(tree, "Nodes", 1, TOPO_MAX_PORTS, &tree->nodes);
    }
    if (g_ascii_strcasecmp(t->word, "Tiers") == 0) {
        return set_head(tree, "Tiers", 2, TIERS_MAX, &tree->tiers);
    }
    if (g_ascii_strcasecmp(t->word, "Podsize") == 0) {
        return set_head(tree, "Podsize", 1, TOPO_MAX_PORTS, &tree->podsize);
    }
    if (g_ascii_strcasecmp(t->word, "Tier") == 0) {
        if (!text_next_in_line(t)) {
            return text_fail(t, "Tier has no number");
        }
        if (!text_as_integer(t, "Tier", 0, TIERS_MAX - 1, &number)) {
            return false;
        }
        *tier = (int)number;
        if (tree->tier_line[*tier] != 0) {
            return text_fail(t, "tier %d is there already, in line %u", *tier,
                             tree->tier_line[*tier]);
        }
        tree->tier_line[*tier] = t->line;
        return true;
    }
    for (int key = 0; key < N_KEYS; key++) {
        if (g_ascii_strcasecmp(t->word, keys[key].name) == 0) {
            return *tier >= 0
                       ? set_tier_key(tree, *tier, (enum key)key)
                       : text_fail(t, "%s stands before the first Tier", keys[key].name);
        }
    }
    return text_fail(t,
                     "no such key '%.60s'; allowed are Nodes, Tiers, Podsize, Tier, "
                     "Downlink_speed_Gbps, Radix_Down, Radix_Up, Downlink_Latency_ns, "
                     "Switch_Latency_ns, Oversubscribed, Bundle, Queue_Up, Queue_Down",
                     t->word);
}

static bool
read_lines(struct tree *tree)
{
    struct text *t = tree->t;
    int tier = -1;

    do {
        if (!text_next_in_line(t) || t->word[0] == '#') {
            continue;
        }
        if (!read_key(tree, &tier)) {
            return false;
        }
        if (text_next_in_line(t) && t->word[0] != '#') {
            return text_fail(t, "'%.60s' follows; allowed is a key and a number",
                             t->word);
        }
    } while (!t->failed && text_skip_line(t));
    return !t->failed;
}

/* Everything is there, and nothing of tiers that are not. */
static bool
check_keys(struct tree *tree)
{
    struct text *t = tree->t;
    int top = (int)tree->tiers - 1;

    if (tree->nodes == 0 || tree->tiers == 0 || tree->podsize == 0) {
        return text_fail(t, "%s is missing; needed are Nodes, Tiers and Podsize",
                         tree->nodes == 0   ? "Nodes"
                         : tree->tiers == 0 ? "Tiers"
                                            : "Podsize");
    }
    for (int tier = 0; tier < TIERS_MAX; tier++) {
        if (tier > top && tree->tier_line[tier] != 0) {
            t->line = tree->tier_line[tier];
            return text_fail(t, "tier %d of %d tiers; allowed is 0 to %d", tier, top + 1,
                             top);
        }
        if (tier <= top && tree->tier_line[tier] == 0) {
            return text_fail(t, "tier %d is missing; needed are tiers 0 to %d", tier,
                             top);
        }
        for (int key = 0; tier <= top && key < N_KEYS; key++) {
            bool needed = keys[key].def < 0 || (key == RADIX_UP && tier < top);

            if (needed && tree->line[tier][key] == 0) {
                t->line = tree->tier_line[tier];
                return text_fail(t, "tier %d has no %s", tier, keys[key].name);
            }
            if (tree->line[tier][key] == 0) {
                tree->value[tier][key] = keys[key].def;
            }
        }
    }
    if (tree->line[top][RADIX_UP] != 0) {
        t->line = tree->line[top][RADIX_UP];
        if (top == 2) {
            return text_fail(t, "Radix_Up of the top tier; nothing is above it");
        }
        topo_file_warn__(
            tree->file, t, t->line,
            "Radix_Up of the top tier means nothing, since nothing is above");
    }
    return true;
}

/* a / b, which must be whole; 'what' is a. */
static bool
divide(struct text *t, const char *what, int64_t a, const char *by, int64_t b,
       int64_t *result)
{
    if (b == 0 || a % b != 0) {
        return text_fail(t, "%s, %lld, is no multiple of %s, %lld", what, (long long)a,
                         by, (long long)b);
    }
    *result = a / b;
    return true;
}

/* Uplinks of all switches of 'tier', from the rates below and above. */
static bool
find_uplinks(struct tree *tree, int tier, int64_t n_down, int64_t *n_up)
{
    int64_t below = n_down * tree->value[tier][SPEED];
    int64_t above = tree->value[tier + 1][SPEED] * tree->value[tier][OVERSUBSCRIBED];
    char what[64];

    snprintf(what, sizeof what, "the rate below tier %d", tier);
    return divide(tree->t, what, below, "that of an uplink times Oversubscribed", above,
                  n_up);
}

/* Does Radix_Up of 'tier' agree with what follows from the rest? */
static bool
check_radix_up(struct tree *tree, int tier, int64_t n_switches, int64_t n_up)
{
    int64_t up = tree->value[tier][RADIX_UP];

    tree->t->line = tree->line[tier][RADIX_UP];
    return up * n_switches == n_up ||
           text_fail(tree->t,
                     "Radix_Up %lld x %lld switches = %lld uplinks of tier %d; from "
                     "rates and Oversubscribed follow %lld",
                     (long long)up, (long long)n_switches, (long long)(up * n_switches),
                     tier, (long long)n_up);
}

static bool
check_bundles(struct tree *tree)
{
    struct text *t = tree->t;

    if (tree->value[0][BUNDLE] != 1) {
        t->line = tree->line[0][BUNDLE];
        return text_fail(t, "Bundle of tier 0 is %lld; allowed is 1",
                         (long long)tree->value[0][BUNDLE]);
    }
    for (int tier = 1; tier < tree->tiers; tier++) {
        int64_t unused;

        t->line = tree->tier_line[tier];
        if (!divide(t, "Radix_Down", tree->value[tier][RADIX_DOWN], "Bundle",
                    tree->value[tier][BUNDLE], &unused) ||
            !divide(t, "Radix_Up of the tier below", tree->value[tier - 1][RADIX_UP],
                    "Bundle", tree->value[tier][BUNDLE], &unused)) {
            return false;
        }
    }
    return true;
}

/* The numbers of switches. */
static bool
compute(struct tree *tree)
{
    struct text *t = tree->t;
    int64_t all_tors, tor_up = 0, spine_up = 0;

    if (tree->tiers == 2 && tree->podsize != tree->nodes) {
        return text_fail(t, "Podsize is %lld; with two tiers it must be Nodes, %lld",
                         (long long)tree->podsize, (long long)tree->nodes);
    }
    if (!check_bundles(tree) ||
        !divide(t, "Nodes", tree->nodes, "Podsize", tree->podsize, &tree->pods) ||
        !divide(t, "Podsize", tree->podsize, "Radix_Down of tier 0",
                tree->value[0][RADIX_DOWN], &tree->tors)) {
        return false;
    }
    all_tors = tree->tors * tree->pods;
    if (!find_uplinks(tree, 0, tree->nodes, &tor_up) ||
        !check_radix_up(tree, 0, all_tors, tor_up) ||
        !divide(t, "uplinks of tier 0", tor_up, "pods times Radix_Down of tier 1",
                tree->pods * tree->value[1][RADIX_DOWN], &tree->spines)) {
        return false;
    }
    if (tree->spines * tree->value[1][BUNDLE] != tree->value[0][RADIX_UP]) {
        t->line = tree->line[0][RADIX_UP];
        return text_fail(
            t,
            "a switch of tier 0 has %lld uplinks, but %lld switches of tier 1 "
            "x Bundle %lld are above it",
            (long long)tree->value[0][RADIX_UP], (long long)tree->spines,
            (long long)tree->value[1][BUNDLE]);
    }
    if (tree->tiers == 2) {
        return true;
    }
    if (!find_uplinks(tree, 1, tor_up, &spine_up) ||
        !check_radix_up(tree, 1, tree->spines * tree->pods, spine_up) ||
        !divide(t, "uplinks of tier 1", spine_up, "Radix_Down of tier 2",
                tree->value[2][RADIX_DOWN], &tree->cores)) {
        return false;
    }
    if (tree->spines * (tree->value[1][RADIX_UP] / tree->value[2][BUNDLE]) !=
        tree->cores) {
        t->line = tree->tier_line[2];
        return text_fail(
            t,
            "%lld switches of tier 1 a pod x %lld uplinks / Bundle %lld reach no whole "
            "set of the %lld switches of tier 2",
            (long long)tree->spines, (long long)tree->value[1][RADIX_UP],
            (long long)tree->value[2][BUNDLE], (long long)tree->cores);
    }
    return true;
}

/* 'n' parallel links below a switch of 'tier'. */
static void
add_links(struct tree *tree, int64_t lower, int64_t upper, int tier)
{
    for (int64_t i = 0; i < tree->value[tier][BUNDLE]; i++) {
        topo_file_add_link__(tree->file, (uint32_t)lower, (uint32_t)upper,
                             tree->value[tier][SPEED] * INT64_C(1000000000),
                             tree->value[tier][LINK_LATENCY] * 1000, 0,
                             tree->line[tier][SPEED]);
    }
}

static bool
check_size(struct tree *tree)
{
    int64_t tors = tree->tors * tree->pods, spines = tree->spines * tree->pods;
    int64_t n = tree->nodes + tors * tree->value[0][RADIX_UP] +
                (tree->tiers == 3 ? spines * tree->value[1][RADIX_UP] : 0);

    return n <= TOPO_MAX_PORTS / 2 ||
           text_fail(tree->t, "has %lld links; allowed up to %d", (long long)n,
                     TOPO_MAX_PORTS / 2);
}

static void
build(struct tree *tree)
{
    struct topo_file *file = tree->file;
    int64_t n_tors = tree->tors * tree->pods, n_spines = tree->spines * tree->pods;
    int64_t first_tor = tree->nodes, first_spine = first_tor + n_tors;
    int64_t first_core = first_spine + n_spines;

    file->n_numbers = (uint32_t)tree->nodes;
    file->node_of = g_new(uint32_t, tree->nodes);
    for (uint32_t i = 0; i < tree->nodes; i++) {
        file->node_of[i] = i;
        topo_file_add_node__(file, NODE_HOST, 0, "host%u", i);
    }
    for (int64_t i = 0; i < n_tors; i++) {
        topo_file_add_node__(file, NODE_SWITCH, 1, "leaf%u", (unsigned)i);
    }
    for (int64_t i = 0; i < n_spines; i++) {
        topo_file_add_node__(file, NODE_SWITCH, 2, "spine%u", (unsigned)i);
    }
    for (int64_t i = 0; i < tree->cores; i++) {
        topo_file_add_node__(file, NODE_SWITCH, 3, "core%u", (unsigned)i);
    }
    for (int64_t i = 0; i < tree->nodes; i++) {
        add_links(tree, i, first_tor + i / tree->value[0][RADIX_DOWN], 0);
    }
    for (int64_t tor = 0; tor < n_tors; tor++) {
        for (int64_t k = 0; k < tree->spines; k++) {
            add_links(tree, first_tor + tor,
                      first_spine + tor / tree->tors * tree->spines + k, 1);
        }
    }
    for (int64_t spine = 0; tree->cores > 0 && spine < n_spines; spine++) {
        for (int64_t core = spine % tree->spines; core < tree->cores;
             core += tree->spines) {
            add_links(tree, first_spine + spine, first_core + core, 2);
        }
    }
    for (int tier = 0; tier < tree->tiers; tier++) {
        file->switch_latency_ps[tier + 1] = tree->value[tier][SWITCH_LATENCY] * 1000;
    }
    file->pods = (uint32_t)tree->pods;
    file->per_pod[1] = (uint32_t)tree->tors;
    file->per_pod[2] = (uint32_t)tree->spines;
    file->per_pod[3] = (uint32_t)tree->cores;
    file->bundle_up = (uint32_t)(tree->tiers == 3 ? tree->value[2][BUNDLE] : 1);
    file->cores_per_middle =
        tree->tiers == 3 ? (uint32_t)(tree->value[1][RADIX_UP] / file->bundle_up) : 0;
}

static bool
htsim_read(struct text *t, struct topo_file *file)
{
    struct tree tree = {.t = t, .file = file};

    if (!read_lines(&tree) || !check_keys(&tree) || !compute(&tree) ||
        !check_size(&tree)) {
        return false;
    }
    build(&tree);
    for (int tier = 0; tier < tree.tiers; tier++) {
        unsigned line = MAX(tree.line[tier][QUEUE_UP], tree.line[tier][QUEUE_DOWN]);

        if (line != 0) {
            topo_file_warn__(file, t, line,
                             "Queue_Up and Queue_Down have no effect here: a switch has "
                             "one buffer, switch.buffer");
            break;
        }
    }
    return true;
}

const struct topo_reader topo_reader_htsim = {
    .name = "htsim",
    .doc = ".topo files of htsim: a fat tree of two or three tiers",
    .source = "Broadcom/csg-htsim, ultraethernet/uet-htsim, fat_tree_topology.cpp",
    .read = htsim_read,
};
