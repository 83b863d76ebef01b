/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_topo.c - topologies: what is computed from what is given, counts and names of what
 * is built, and the line a user reads when numbers do not fit together.
 */
#include <config.h>

#include "topologies/topo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/rng.h"

#define G INT64_C(1000000000)

static const struct topo_input one_nic = {.nics_per_host = 1,
                                          .host_link = {.rate_bps = 100 * G},
                                          .fabric_link = {.rate_bps = 100 * G}};

/* A leaf-spine; what is not named is unset. */
#define LEAFSPINE(...) leafspine((const struct topo_leafspine){__VA_ARGS__})

/* 0 stands for unset, so that initialisers are short. */
static struct topo_leafspine
leafspine(struct topo_leafspine p)
{
    int64_t *fields[] = {&p.hosts,  &p.leaves,           &p.hosts_per_leaf,
                         &p.spines, &p.uplinks_per_leaf, &p.oversubscription};

    for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
        *fields[i] = *fields[i] == 0 ? TOPO_UNSET : *fields[i];
    }
    return p;
}

static void
assert_refused(const char *type, const void *params, const struct topo_input *input,
               enum topo_error code, const char *message)
{
    const struct topo_ops *ops = topo_find(type);
    g_autofree void *blob = g_memdup2(params, ops->params_bytes);
    GError *error = NULL;

    assert_false(ops->resolve(blob, input, &error));
    assert_string_equal(error->message, message);
    assert_true(g_error_matches(error, TOPO_ERROR, (gint)code));
    assert_null(strchr(error->message, '\n'));
    if (ops->params_bytes > 0) {
        assert_memory_equal(blob, params, ops->params_bytes);
    }
    g_error_free(error);
}

static struct topo_leafspine
resolved(struct topo_leafspine p, const struct topo_input *input)
{
    GError *error = NULL;

    if (!topo_find("leaf-spine")->resolve(&p, input, &error)) {
        fail_msg("%s", error->message);
    }
    return p;
}

static void
assert_leafspine(const struct topo_leafspine *p, int64_t hosts, int64_t leaves,
                 int64_t hosts_per_leaf, int64_t spines, int64_t uplinks, int64_t n,
                 int64_t m)
{
    assert_int_equal(p->hosts, hosts);
    assert_int_equal(p->leaves, leaves);
    assert_int_equal(p->hosts_per_leaf, hosts_per_leaf);
    assert_int_equal(p->spines, spines);
    assert_int_equal(p->uplinks_per_leaf, uplinks);
    assert_int_equal(p->oversubscription, PARAM_RATIO_OF(n, m));
}

static struct net *
built(const char *type, const void *params, const struct topo_input *input)
{
    struct net *net = net_new(1);

    topo_find(type)->build(net, params, input);
    return net;
}

static void
test_every_topology_is_complete(void **state)
{
    (void)state;
    for (const struct topo_ops *const *ops = topo_list; *ops != NULL; ops++) {
        const struct param *bad = NULL;
        const char *fault = param_table_fault((*ops)->params, (*ops)->params_bytes, &bad);

        if (fault != NULL) {
            fail_msg("%s: '%s' %s", (*ops)->name, bad->name, fault);
        }
        assert_ptr_equal(topo_find((*ops)->name), *ops);
        assert_true((*ops)->doc[0] != '\0' && (*ops)->source[0] != '\0');
        assert_non_null((*ops)->resolve);
        assert_non_null((*ops)->build);
    }
    assert_string_equal(topo_find("star")->name, "star");
    assert_string_equal(topo_find("leaf-spine")->name, "leaf-spine");
    assert_string_equal(topo_find("graph")->name, "graph");
    assert_null(topo_find("leafspine"));
}

static void
test_star(void **state)
{
    struct topo_star p = {.hosts = 3};
    struct topo_input two = one_nic;
    struct topo_counts counts;

    (void)state;
    two.nics_per_host = 2;
    assert_true(topo_find("star")->resolve(&p, &two, NULL));

    struct net *net = built("star", &p, &two);

    assert_int_equal(net->n_nodes, 4);
    assert_string_equal(net->nodes[3].name, "leaf0");
    assert_int_equal(net->nodes[3].tier, 1);
    assert_int_equal(net->n_links, 6);
    assert_string_equal(net->links[0].name, "host0-leaf0#1");
    assert_string_equal(net->links[1].name, "host0-leaf0#2");
    assert_string_equal(net->links[5].name, "host2-leaf0#2");
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        assert_int_equal(net->nodes[i].rack, 0);
    }
    topo_describe(net, &counts);
    assert_int_equal(counts.n_hosts, 3);
    assert_int_equal(counts.n_nics, 6);
    assert_int_equal(counts.n_switches, 1);
    assert_int_equal(counts.n_tiers, 2);
    assert_int_equal(counts.tier[1].n_ports, 6);
    assert_int_equal(counts.tier[1].n_up, 0);
    assert_int_equal(counts.tier[1].ratio_up, 0);
    assert_int_equal(counts.n_links_between[0][1], 6);
    net_free(net);
}

static void
test_star_refuses(void **state)
{
    struct topo_star p = {.hosts = TOPO_UNSET};
    struct topo_input input = one_nic;

    (void)state;
    assert_refused("star", &p, &input, TOPO_ERROR_MISSING,
                   "topology.hosts: is not given; allowed 1 to 65534");
    p.hosts = 40000, input.nics_per_host = 2;
    assert_refused(
        "star", &p, &input, TOPO_ERROR_LIMIT,
        "topology: leaf0 has hosts 40000 x nics 2 = 80000 ports; allowed up to "
        "65534");
    input.nics_per_host = 0;
    assert_refused("star", &p, &input, TOPO_ERROR_LIMIT,
                   "node.nics: is 0; allowed 1 to 65534");
    input.nics_per_host = INT64_MAX;
    assert_refused("star", &p, &input, TOPO_ERROR_LIMIT,
                   "node.nics: is 9223372036854775807; allowed 1 to 65534");
    input.nics_per_host = 1, input.host_link.rate_bps = 0;
    assert_refused("star", &p, &input, TOPO_ERROR_LIMIT,
                   "topology.host_link.rate: is 0bps; allowed 1bps to 100000Gbps");
}

/* The example of docs/topo/leaf-spine.md. */
static void
test_leafspine_counts(void **state)
{
    struct topo_leafspine p =
        resolved(LEAFSPINE(.hosts = 64, .hosts_per_leaf = 16,
                           .oversubscription = PARAM_RATIO_OF(4, 3)),
                 &one_nic);
    struct topo_counts counts;

    (void)state;
    assert_leafspine(&p, 64, 4, 16, 12, 12, 4, 3);

    struct net *net = built("leaf-spine", &p, &one_nic);

    assert_int_equal(net->n_nodes, 64 + 4 + 12);
    assert_int_equal(net->n_links, 64 + 4 * 12);
    assert_string_equal(net->nodes[0].name, "host0");
    assert_string_equal(net->nodes[64].name, "leaf0");
    assert_string_equal(net->nodes[79].name, "spine11");
    assert_string_equal(net->links[17].name, "host17-leaf1");
    assert_string_equal(net->links[64].name, "leaf0-spine0");
    assert_string_equal(net->links[64 + 12 + 1].name, "leaf1-spine1");
    assert_int_equal(net->nodes[17].rack, net->nodes[65].rack);
    assert_int_not_equal(net->nodes[68].rack, net->nodes[69].rack);
    for (uint32_t i = 0; i < 68; i++) {
        assert_int_not_equal(net->nodes[i].rack, net->nodes[68].rack);
    }
    topo_describe(net, &counts);
    assert_int_equal(counts.n_hosts, 64);
    assert_int_equal(counts.n_nics, 64);
    assert_int_equal(counts.n_switches, 16);
    assert_int_equal(counts.n_tiers, 3);
    assert_int_equal(counts.n_links, 112);
    assert_int_equal(counts.tier[0].n_nodes, 64);
    assert_int_equal(counts.tier[0].ratio_down, 0);
    assert_int_equal(counts.tier[1].n_nodes, 4);
    assert_int_equal(counts.tier[1].n_ports, 4 * 28);
    assert_int_equal(counts.tier[1].n_down, 64);
    assert_int_equal(counts.tier[1].n_up, 48);
    assert_int_equal(counts.tier[1].n_peer, 0);
    assert_int_equal(counts.tier[1].ratio_down, 4);
    assert_int_equal(counts.tier[1].ratio_up, 3);
    assert_int_equal(counts.tier[2].n_nodes, 12);
    assert_int_equal(counts.tier[2].n_ports, 48);
    assert_int_equal(counts.tier[2].ratio_up, 0);
    assert_int_equal(counts.n_links_between[0][1], 64);
    assert_int_equal(counts.n_links_between[1][2], 48);
    assert_int_equal(counts.n_links_between[0][2], 0);
    net_free(net);
}

static void
test_leafspine_parallel_links_and_rates(void **state)
{
    struct topo_input input = {.nics_per_host = 2,
                               .host_link = {.rate_bps = 100 * G},
                               .fabric_link = {.rate_bps = 400 * G}};
    /* 6 hosts x 2 NICs x 100G : 2 x 400G = 3:2, two links to the only spine. */
    struct topo_leafspine p =
        resolved(LEAFSPINE(.leaves = 2, .hosts_per_leaf = 6, .spines = 1,
                           .oversubscription = PARAM_RATIO_OF(3, 2)),
                 &input);
    struct topo_counts counts;

    (void)state;
    assert_leafspine(&p, 12, 2, 6, 1, 2, 3, 2);

    struct net *net = built("leaf-spine", &p, &input);

    assert_int_equal(net->n_links, 24 + 4);
    assert_string_equal(net->links[13].name, "host6-leaf1#2");
    assert_string_equal(net->links[24].name, "leaf0-spine0#1");
    assert_string_equal(net->links[27].name, "leaf1-spine0#2");
    assert_int_equal(net->links[27].params.rate_bps, 400 * G);
    topo_describe(net, &counts);
    assert_int_equal(counts.tier[1].ratio_down, 3);
    assert_int_equal(counts.tier[1].ratio_up, 2);
    assert_int_equal(counts.n_nics, 24);
    net_free(net);
}

static void
test_leafspine_last_leaf_not_full(void **state)
{
    struct topo_leafspine p = resolved(
        LEAFSPINE(.hosts = 10, .leaves = 3, .hosts_per_leaf = 4, .spines = 2), &one_nic);
    struct topo_counts counts;

    (void)state;
    assert_leafspine(&p, 10, 3, 4, 2, 2, 2, 1);

    struct net *net = built("leaf-spine", &p, &one_nic);

    assert_string_equal(net->links[7].name, "host7-leaf1");
    assert_string_equal(net->links[8].name, "host8-leaf2");
    topo_describe(net, &counts);
    assert_int_equal(counts.tier[1].n_down, 10);
    assert_int_equal(counts.tier[1].worst_node, 10); /* leaf0, not leaf2 with 1:1 */
    assert_int_equal(counts.tier[1].ratio_down, 2);
    assert_int_equal(counts.tier[1].ratio_up, 1);
    net_free(net);
}

static int64_t *
field(struct topo_leafspine *p, unsigned i)
{
    int64_t *fields[] = {&p->hosts,  &p->leaves,           &p->hosts_per_leaf,
                         &p->spines, &p->uplinks_per_leaf, &p->oversubscription};

    return fields[i];
}

/* Which of hosts, leaves, hosts_per_leaf, spines, uplinks_per_leaf, oversubscription
 * (bits 0 to 5) determine the rest when spines = uplinks_per_leaf. */
static bool
is_sufficient(unsigned given)
{
    bool uplinks = given & 030, ratio = given & 040;
    bool per_leaf = (given & 4) || (given & 3) == 3 || (uplinks && ratio);

    return per_leaf && (uplinks || ratio) && (given & 3);
}

static void
test_leafspine_from_any_sufficient_set(void **state)
{
    const int64_t rates[] = {25 * G, 100 * G, 200 * G, 400 * G};
    uint64_t key = rng_key(1, "test_topo", "leafspine"), n = 0;

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct topo_input input = one_nic;
        struct topo_leafspine whole = LEAFSPINE(0);
        int64_t parallel = 1 + (int64_t)rng_below(key, n++, 3);

        input.nics_per_host = 1 + (int64_t)rng_below(key, n++, 4);
        input.host_link.rate_bps = rates[rng_below(key, n++, 4)];
        input.fabric_link.rate_bps = rates[rng_below(key, n++, 4)];
        whole.leaves = 1 + (int64_t)rng_below(key, n++, 20);
        whole.hosts_per_leaf = 1 + (int64_t)rng_below(key, n++, 40);
        whole.spines = 1 + (int64_t)rng_below(key, n++, 20);
        whole.hosts = whole.leaves * whole.hosts_per_leaf;
        whole.uplinks_per_leaf = whole.spines * parallel;
        whole = resolved(whole, &input);
        for (unsigned given = 0; given < 64; given++) {
            struct topo_leafspine p = LEAFSPINE(0), before;
            GError *error = NULL;

            for (unsigned i = 0; i < 6; i++) {
                *field(&p, i) = given & 1u << i ? *field(&whole, i) : TOPO_UNSET;
            }
            before = p;
            if (parallel > 1 && (given & 030) != 030) {
                continue; /* the number of parallel links is not given */
            }
            if (is_sufficient(given)) {
                p = resolved(p, &input);
                assert_memory_equal(&p, &whole, sizeof p);
                p = resolved(p, &input);
                assert_memory_equal(&p, &whole, sizeof p);
            } else {
                assert_false(topo_find("leaf-spine")->resolve(&p, &input, &error));
                assert_int_equal(error->code, TOPO_ERROR_MISSING);
                assert_memory_equal(&p, &before, sizeof p);
                g_error_free(error);
            }
        }
    }
}

static void
test_leafspine_refuses_what_is_missing(void **state)
{
    struct topo_leafspine p = LEAFSPINE(.hosts = 64);

    (void)state;
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_MISSING,
        "topology: hosts_per_leaf is not given and does not follow; allowed are "
        "hosts_per_leaf, or hosts and leaves, or oversubscription and "
        "uplinks_per_leaf or spines");
    p = LEAFSPINE(.hosts = 64, .hosts_per_leaf = 16);
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_MISSING,
        "topology: uplinks_per_leaf is not given and does not follow; allowed are "
        "uplinks_per_leaf, or spines, or oversubscription");
    p = LEAFSPINE(.hosts_per_leaf = 16, .spines = 4);
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_MISSING,
        "topology: hosts and leaves are not given and do not follow; allowed are "
        "hosts or leaves");
}

static void
test_leafspine_refuses_what_does_not_fit(void **state)
{
    struct topo_leafspine p;
    struct topo_input input = one_nic;

    (void)state;
    p = LEAFSPINE(.hosts = 64, .hosts_per_leaf = 16,
                  .oversubscription = PARAM_RATIO_OF(3, 2));
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_ARITHMETIC,
        "topology: uplinks_per_leaf = 16 hosts_per_leaf x 1 NIC x 100Gbps x 2 / (3 "
        "x 100Gbps) = 32/3 is no whole number; at oversubscription 3:2 "
        "hosts_per_leaf must be a multiple of 3");
    p = LEAFSPINE(.hosts = 64, .hosts_per_leaf = 16, .spines = 8,
                  .oversubscription = PARAM_RATIO_OF(4, 3));
    assert_refused("leaf-spine", &p, &one_nic, TOPO_ERROR_ARITHMETIC,
                   "topology: uplinks_per_leaf 12 over spines 8 leave 4 (8 x 1 = 8); "
                   "uplinks_per_leaf must be a multiple of spines");
    p = LEAFSPINE(.hosts = 64, .hosts_per_leaf = 16, .uplinks_per_leaf = 8,
                  .oversubscription = PARAM_RATIO_OF(3, 2));
    assert_refused("leaf-spine", &p, &one_nic, TOPO_ERROR_ARITHMETIC,
                   "topology: 16 hosts_per_leaf x 1 NIC x 100Gbps : 8 uplinks_per_leaf x "
                   "100Gbps = 2:1, not the oversubscription 3:2");
    p = LEAFSPINE(.hosts = 64, .uplinks_per_leaf = 3,
                  .oversubscription = PARAM_RATIO_OF(3, 2));
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_ARITHMETIC,
        "topology: hosts_per_leaf = 3 uplinks_per_leaf x 100Gbps x 3 / (2 x 1 NIC "
        "x 100Gbps) = 9/2 is no whole number; at oversubscription 3:2 "
        "uplinks_per_leaf must be a multiple of 2");
    p = LEAFSPINE(.hosts = 100, .hosts_per_leaf = 16, .spines = 4);
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_ARITHMETIC,
        "topology: hosts 100 over leaves of 16 hosts_per_leaf leave 4 (6 x 16 = "
        "96); hosts must be a multiple of hosts_per_leaf, or leaves given too (7: "
        "the last one holds 4)");
    p = LEAFSPINE(.hosts = 10, .leaves = 4, .spines = 4);
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_ARITHMETIC,
        "topology: hosts 10 over leaves 4 leave 2 (4 x 2 = 8); hosts must be a "
        "multiple of leaves, or hosts_per_leaf given too");
    p = LEAFSPINE(.hosts = 64, .leaves = 5, .hosts_per_leaf = 16, .spines = 4);
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_ARITHMETIC,
        "topology: hosts 64 at 16 hosts_per_leaf need 4 leaves (4 x 16 = 64), not "
        "5");
    p = LEAFSPINE(.hosts = 65, .leaves = 4, .hosts_per_leaf = 16, .spines = 4);
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_ARITHMETIC,
        "topology: hosts 65 at 16 hosts_per_leaf need 5 leaves (5 x 16 = 80), not "
        "4");
    p = LEAFSPINE(.hosts = 64, .hosts_per_leaf = 16, .spines = 8, .uplinks_per_leaf = 4);
    assert_refused("leaf-spine", &p, &one_nic, TOPO_ERROR_ARITHMETIC,
                   "topology: uplinks_per_leaf 4 over spines 8 leave 4 (8 x 0 = 0); "
                   "uplinks_per_leaf must be a multiple of spines");
    /* Rates and NICs count: 16 x 2 x 200G at 1:1 are 16 uplinks of 400G, not of 300G. */
    input.nics_per_host = 2, input.host_link.rate_bps = 200 * G;
    input.fabric_link.rate_bps = 400 * G;
    p = LEAFSPINE(.hosts = 16, .hosts_per_leaf = 16,
                  .oversubscription = PARAM_RATIO_OF(1, 1));
    p = resolved(p, &input);
    assert_int_equal(p.uplinks_per_leaf, 16);
    input.fabric_link.rate_bps = 300 * G;
    p = LEAFSPINE(.hosts = 16, .hosts_per_leaf = 16,
                  .oversubscription = PARAM_RATIO_OF(1, 1));
    assert_refused(
        "leaf-spine", &p, &input, TOPO_ERROR_ARITHMETIC,
        "topology: uplinks_per_leaf = 16 hosts_per_leaf x 2 NICs x 200Gbps x 1 / "
        "(1 x 300Gbps) = 64/3 is no whole number; at oversubscription 1:1 "
        "hosts_per_leaf must be a multiple of 3");
}

static void
test_leafspine_refuses_what_is_too_large(void **state)
{
    struct topo_leafspine p;
    struct topo_input input = one_nic;

    (void)state;
    p = LEAFSPINE(.leaves = 65534, .hosts_per_leaf = 65534, .spines = 1);
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_LIMIT,
        "topology: a leaf has hosts_per_leaf 65534 x nics 1 + uplinks_per_leaf 1 = "
        "65535 ports; allowed up to 65534");
    p = LEAFSPINE(.leaves = 40000, .hosts_per_leaf = 1, .spines = 1,
                  .uplinks_per_leaf = 2);
    assert_refused("leaf-spine", &p, &one_nic, TOPO_ERROR_LIMIT,
                   "topology: a spine has leaves 40000 x parallel links 2 = 80000 ports; "
                   "allowed up to 65534");
    p = LEAFSPINE(.hosts = 400000, .hosts_per_leaf = 100, .spines = 100);
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_LIMIT,
        "topology: 2 x (hosts 400000 x nics 1 + leaves 4000 x uplinks_per_leaf 100) "
        "= 1600000 ports; allowed up to 1000000");
    p = LEAFSPINE(.hosts = 200000, .hosts_per_leaf = 50, .spines = 10);
    assert_refused(
        "leaf-spine", &p, &one_nic, TOPO_ERROR_LIMIT,
        "topology: (leaves 4000 + spines 10) x hosts 200000 x nics 1 = 802000000 "
        "routes; allowed up to 500000000");
    p = LEAFSPINE(.hosts = 64, .hosts_per_leaf = 65534,
                  .oversubscription = PARAM_RATIO_OF(1, PARAM_RATIO_MAX));
    input.nics_per_host = 65534, input.host_link.rate_bps = TOPO_MAX_RATE_BPS;
    input.fabric_link.rate_bps = 1;
    assert_refused("leaf-spine", &p, &input, TOPO_ERROR_LIMIT,
                   "topology: uplinks_per_leaf = 65534 hosts_per_leaf x 65534 NICs x "
                   "100000Gbps x 2147483647 / (1 x 1bps) = "
                   "922280909119658393200000000000000; allowed up to 65534");
    /* A ratio whose terms do not fit stays open, and so resolves again. */
    input = one_nic;
    input.host_link.rate_bps = TOPO_MAX_RATE_BPS,
    input.fabric_link.rate_bps = 99999999999973;
    p = resolved(LEAFSPINE(.hosts = 4, .leaves = 2, .spines = 2), &input);
    assert_int_equal(p.oversubscription, TOPO_UNSET);
    resolved(p, &input);
    input.fabric_link.rate_bps = TOPO_MAX_RATE_BPS + 1;
    assert_refused("leaf-spine", &p, &input, TOPO_ERROR_LIMIT,
                   "topology.fabric_link.rate: is 100000000000001bps; allowed 1bps to "
                   "100000Gbps");
}

/* ---- graphs ---- */

#define HOST(n)                                                                          \
    {                                                                                    \
        .name = n, .kind = NODE_HOST                                                     \
    }
#define SWITCH(n, t)                                                                     \
    {                                                                                    \
        .name = n, .kind = NODE_SWITCH, .tier = t                                        \
    }
#define LINK(x, y)                                                                       \
    {                                                                                    \
        .a = x, .b = y, .params = {.rate_bps = 100 * G }                                 \
    }
#define GRAPH(n, l)                                                                      \
    {                                                                                    \
        .nodes = n, .n_nodes = G_N_ELEMENTS(n), .links = l, .n_links = G_N_ELEMENTS(l)   \
    }

static struct net *
built_graph(const struct topo_graph *graph)
{
    struct topo_input input = {.graph = graph};
    GError *error = NULL;

    if (!topo_find("graph")->resolve(NULL, &input, &error)) {
        fail_msg("%s", error->message);
    }
    return built("graph", NULL, &input);
}

static void
assert_graph_refused(const struct topo_graph *graph, enum topo_error code,
                     const char *message)
{
    struct topo_input input = {.graph = graph};

    assert_refused("graph", NULL, &input, code, message);
}

static void
test_graph(void **state)
{
    /* Switches between hosts in the list; a chain up to a switch two
     * links from a host. */
    const struct topo_graph_node nodes[] = {HOST("a"), SWITCH("s", 0), HOST("b"),
                                            SWITCH("top.1", 0), SWITCH("t", 4)};
    const struct topo_graph_link links[] = {LINK("top.1", "s"), LINK("s", "a"),
                                            LINK("b", "t"), LINK("t", "top.1"),
                                            LINK("s", "a")};
    const struct topo_graph graph = GRAPH(nodes, links);
    struct net *net = built_graph(&graph);
    struct topo_counts counts;
    GError *error = NULL;

    (void)state;
    assert_int_equal(net->n_hosts, 2);
    assert_int_equal(net->node_of_host[1], 2);
    assert_string_equal(net->links[0].name, "top.1-s");
    assert_string_equal(net->links[1].name, "s-a#1");
    assert_string_equal(net->links[4].name, "s-a#2");
    assert_int_equal(net->nodes[0].tier, 0);
    assert_int_equal(net->nodes[1].tier, 1);
    assert_int_equal(net->nodes[3].tier, 2);
    assert_int_equal(net->nodes[4].tier, 4);
    assert_int_equal(net->nodes[0].rack, net->nodes[1].rack);
    assert_int_equal(net->nodes[2].rack, net->nodes[4].rack);
    assert_int_not_equal(net->nodes[1].rack, net->nodes[3].rack);
    assert_int_not_equal(net->nodes[1].rack, net->nodes[4].rack);
    topo_describe(net, &counts);
    assert_int_equal(counts.n_tiers, 5);
    assert_int_equal(counts.tier[1].ratio_down, 2);
    assert_int_equal(counts.tier[1].ratio_up, 1);
    assert_int_equal(counts.n_links_between[0][1], 2);
    assert_int_equal(counts.n_links_between[2][4], 1);
    assert_int_equal(counts.n_nics, 3);
    assert_true(topo_check_connected(net, &error));
    net_free(net);
}

static void
test_graph_tiers_are_capped(void **state)
{
    struct topo_graph_node nodes[21] = {HOST("h")};
    struct topo_graph_link links[20];
    struct topo_graph graph = GRAPH(nodes, links);
    char names[21][8];

    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        snprintf(names[i], sizeof names[i], "s%u", i);
        nodes[i + 1] = (struct topo_graph_node)SWITCH(names[i], 0);
    }
    for (unsigned i = 0; i < 20; i++) {
        /* Listed from the far end, so that one pass over the links does not do. */
        links[19 - i] =
            (struct topo_graph_link)LINK(i == 0 ? "h" : names[i - 1], names[i]);
    }
    struct net *net = built_graph(&graph);

    for (uint32_t i = 1; i <= 20; i++) {
        assert_int_equal(net->nodes[i].tier,
                         i < TOPO_MAX_TIERS - 1 ? i : TOPO_MAX_TIERS - 1);
    }
    net_free(net);
}

static void
test_graph_refuses(void **state)
{
    struct topo_graph_node nodes[] = {HOST("a"), HOST("b"), SWITCH("s", 0)};
    struct topo_graph_link links[] = {LINK("a", "s"), LINK("b", "s")};
    struct topo_graph graph = GRAPH(nodes, links), part = graph;

    (void)state;
    nodes[1].name = "a";
    assert_graph_refused(
        &graph, TOPO_ERROR_GRAPH,
        "topology.nodes[1].name: 'a' is the name of nodes[0] too; names must "
        "differ");
    nodes[1].name = "b-c";
    assert_graph_refused(&graph, TOPO_ERROR_GRAPH,
                         "topology.nodes[1].name: is 'b-c'; allowed are 1 to 63 letters, "
                         "digits, '_' and '.'");
    nodes[1].name = "";
    assert_graph_refused(
        &graph, TOPO_ERROR_GRAPH,
        "topology.nodes[1].name: is ''; allowed are 1 to 63 letters, digits, "
        "'_' and '.'");
    nodes[1].name = "b", nodes[1].tier = 1;
    assert_graph_refused(
        &graph, TOPO_ERROR_GRAPH,
        "topology.nodes[1].tier: is 1; allowed are 0 for a host, 1 to 7 for a "
        "switch");
    nodes[1].tier = 0, nodes[2].tier = 8;
    assert_graph_refused(
        &graph, TOPO_ERROR_GRAPH,
        "topology.nodes[2].tier: is 8; allowed are 0 for a host, 1 to 7 for a "
        "switch");
    nodes[2].tier = 0, links[1].b = "t";
    assert_graph_refused(&graph, TOPO_ERROR_GRAPH,
                         "topology.links[1].b: there is no node 't' in topology.nodes");
    links[1].b = "s", links[0].a = "x";
    assert_graph_refused(&graph, TOPO_ERROR_GRAPH,
                         "topology.links[0].a: there is no node 'x' in topology.nodes");
    links[0].a = "s";
    assert_graph_refused(&graph, TOPO_ERROR_GRAPH,
                         "topology.links[0]: links 's' to itself; a and b must differ");
    links[0].a = "a", links[0].params.rate_bps = -5;
    assert_graph_refused(&graph, TOPO_ERROR_LIMIT,
                         "topology.links[0].rate: is -5bps; allowed 1bps to 100000Gbps");
    links[0].params.rate_bps = 1, part.n_links = 1;
    assert_graph_refused(&part, TOPO_ERROR_UNCONNECTED,
                         "topology.nodes[1]: 'b' has no link in topology.links");
    part.n_nodes = 0;
    assert_graph_refused(
        &part, TOPO_ERROR_MISSING,
        "topology.nodes: is empty; allowed are 1 to 1000000 nodes, one of "
        "them a host");
    part.n_nodes = UINT32_MAX;
    assert_graph_refused(&part, TOPO_ERROR_LIMIT,
                         "topology.nodes: has 4294967295 nodes; allowed up to 1000000");
    part.n_nodes = 3, part.n_links = UINT32_MAX;
    assert_graph_refused(&part, TOPO_ERROR_LIMIT,
                         "topology.links: 4294967295 links x 2 ends = 8589934590 ports; "
                         "allowed up to 1000000");
    nodes[0].kind = nodes[1].kind = NODE_SWITCH;
    assert_graph_refused(&graph, TOPO_ERROR_MISSING,
                         "topology.nodes: none of 3 is a host; at least one is needed");
    nodes[0].kind = nodes[1].kind = NODE_HOST;
    net_free(built_graph(&graph));
}

static void
test_unconnected_hosts_are_named(void **state)
{
    const struct topo_graph_node nodes[] = {HOST("a"), HOST("b"), HOST("c"),
                                            SWITCH("s", 0), SWITCH("t", 0)};
    /* c meets a over s; b has only t, and c forwards nothing. */
    const struct topo_graph_link links[] = {LINK("a", "s"), LINK("c", "s"),
                                            LINK("c", "t"), LINK("b", "t")};
    const struct topo_graph graph = GRAPH(nodes, links);
    struct net *net = built_graph(&graph);
    GError *error = NULL;

    (void)state;
    assert_false(topo_check_connected(net, &error));
    assert_true(g_error_matches(error, TOPO_ERROR, TOPO_ERROR_UNCONNECTED));
    assert_string_equal(error->message, "topology: there is no path between 'a' and 'b'");
    g_clear_error(&error);
    assert_false(topo_routes(net, NULL, &error));
    assert_string_equal(error->message, "topology: there is no path between 'a' and 'b'");
    g_clear_error(&error);
    net_free(net);
}

static void
test_separate_networks_for_each_nic_are_fine(void **state)
{
    const struct topo_graph_node nodes[] = {HOST("a"), HOST("b"), HOST("c"),
                                            SWITCH("s", 0), SWITCH("t", 0)};
    const struct topo_graph_link links[] = {
        LINK("a", "s"), LINK("b", "s"), LINK("b", "t"), LINK("c", "t"), LINK("a", "c")};
    const struct topo_graph graph = GRAPH(nodes, links);
    struct net *net = built_graph(&graph);
    GError *error = NULL;

    (void)state;
    assert_true(topo_check_connected(net, &error)); /* a and c by their own cable */
    net_free(net);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_topology_is_complete),
        cmocka_unit_test(test_star),
        cmocka_unit_test(test_star_refuses),
        cmocka_unit_test(test_leafspine_counts),
        cmocka_unit_test(test_leafspine_parallel_links_and_rates),
        cmocka_unit_test(test_leafspine_last_leaf_not_full),
        cmocka_unit_test(test_leafspine_from_any_sufficient_set),
        cmocka_unit_test(test_leafspine_refuses_what_is_missing),
        cmocka_unit_test(test_leafspine_refuses_what_does_not_fit),
        cmocka_unit_test(test_leafspine_refuses_what_is_too_large),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_graph_tiers_are_capped),
        cmocka_unit_test(test_graph_refuses),
        cmocka_unit_test(test_unconnected_hosts_are_named),
        cmocka_unit_test(test_separate_networks_for_each_nic_are_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
