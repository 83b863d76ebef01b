/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_fabric.c - distances, equal-cost paths and bisection of networks, by hand and against
 * a slow twin that tries all halves and all cuts; parts by length and rate.
 */
#include <config.h>

#include "tools/fabric/fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "sim/rng.h"

#define G INT64_C(1000000000)

/* ---- networks ------------------------------------------------------------------------- */

static struct net *
leaf_spine(int64_t leaves, int64_t hosts_per_leaf, int64_t spines, int64_t parallel,
           int64_t nics, int64_t host_bps, int64_t fabric_bps)
{
    struct topo_leafspine p = {.hosts = TOPO_UNSET,
                               .leaves = leaves,
                               .hosts_per_leaf = hosts_per_leaf,
                               .spines = spines,
                               .uplinks_per_leaf = spines * parallel,
                               .oversubscription = TOPO_UNSET};
    const struct topo_input input = {.nics_per_host = nics,
                                     .host_link = {.rate_bps = host_bps},
                                     .fabric_link = {.rate_bps = fabric_bps}};
    const struct topo_ops *ops = topo_find("leaf-spine");
    struct net *net = net_new(1);

    assert_true(ops->resolve(&p, &input, NULL));
    ops->build(net, &p, &input);
    return net;
}

/* A random network of few switches, each host on one or two of them. */
static struct net *
random_net(uint64_t seed)
{
    struct net *net = net_new(1);
    uint64_t n = 0;
    uint32_t n_hosts = 2 + (uint32_t)(rng_below(seed, n++, 5));
    uint32_t n_switches = 1 + (uint32_t)(rng_below(seed, n++, 4));

    for (uint32_t h = 0; h < n_hosts; h++) {
        g_autofree char *name = g_strdup_printf("h%u", h);

        net_add_host(net, name, 0);
    }
    for (uint32_t s = 0; s < n_switches; s++) {
        g_autofree char *name = g_strdup_printf("s%u", s);

        net_add_switch(net, name, s, 1);
    }
    for (uint32_t h = 0; h < n_hosts; h++) {
        for (uint64_t k = 0; k < 1 + rng_below(seed, n++, 2); k++) {
            const struct link_params link = {
                .rate_bps = G * (int64_t)(1 + rng_below(seed, n++, 4))};

            net_add_link(net, h, n_hosts + (uint32_t)(rng_below(seed, n++, n_switches)),
                         &link);
        }
    }
    for (uint32_t s = 1; s < n_switches; s++) {
        for (uint64_t k = 0; k < 1 + rng_below(seed, n++, 3); k++) {
            const struct link_params link = {
                .rate_bps = G * (int64_t)(1 + rng_below(seed, n++, 4))};

            net_add_link(net, n_hosts + s, n_hosts + (uint32_t)(rng_below(seed, n++, s)),
                         &link);
        }
    }
    return net;
}

/* ---- the slow twin -------------------------------------------------------------------- */

/* Least cut between the hosts in 'first' (by bit of host id) and the others, of all ways to
 * deal the switches. */
static int64_t
least_cut(const struct net *net, uint32_t first)
{
    int64_t least = INT64_MAX;

    for (uint32_t sides = 0; sides < 1u << net->n_switches; sides++) {
        int64_t sum = 0;

        for (uint32_t l = 0; l < net->n_links; l++) {
            unsigned side[2];

            for (unsigned e = 0; e < 2; e++) {
                const struct net_node *node = &net->nodes[net->links[l].node[e]];

                side[e] = (node->kind == NODE_HOST ? first : sides) >> node->index & 1;
            }
            sum += side[0] != side[1] ? net->links[l].params.rate_bps : 0;
        }
        least = MIN(least, sum);
    }
    return least;
}

/* The least of all halves. */
static int64_t
true_bisection(const struct net *net)
{
    int64_t least = INT64_MAX;

    for (uint32_t first = 0; first < 1u << net->n_hosts; first++) {
        uint32_t n = (uint32_t)__builtin_popcount(first);

        if (n == net->n_hosts / 2) {
            least = MIN(least, least_cut(net, first));
        }
    }
    return least;
}

/* ---- bisection ------------------------------------------------------------------------ */

static void
bisection_by_hand(void **state)
{
    struct bisection b;
    struct net *net;

    (void)state;
    /* the 4:3 example: 2 leaves have 12 uplinks each */
    net = leaf_spine(4, 16, 12, 1, 1, 100 * G, 100 * G);
    bisection_find(net, &b);
    assert_int_equal(b.rate_bps, 2400 * G);
    assert_int_equal(b.full_bps, 3200 * G);
    assert_int_equal(b.n_first, 32);
    net_free(net);
    /* more uplinks than hosts: the NICs bound it */
    net = leaf_spine(2, 2, 4, 1, 2, 100 * G, 100 * G);
    bisection_find(net, &b);
    assert_int_equal(b.rate_bps, 400 * G);
    assert_int_equal(b.full_bps, 400 * G);
    net_free(net);
    /* a split leaf: 1 leaf on either side, 2 + 2 of the third; least is 1 : 2 leaves with
     * the uplinks of one and 2 hosts of the other */
    net = leaf_spine(3, 4, 1, 1, 1, 10 * G, 10 * G);
    bisection_find(net, &b);
    assert_int_equal(b.rate_bps, 10 * G + 20 * G);
    net_free(net);
    /* one host: nothing to halve */
    net = leaf_spine(1, 1, 1, 1, 1, G, G);
    bisection_find(net, &b);
    assert_int_equal(b.rate_bps, 0);
    assert_int_equal(b.full_bps, 0);
    net_free(net);
}

/* What is claimed to be exact for leaf-spine is. */
static void
bisection_is_exact(void **state)
{
    unsigned n = 0;

    (void)state;
    for (int64_t leaves = 1; leaves <= 4; leaves++) {
        for (int64_t hosts = 1; hosts <= 3 && leaves * hosts <= 9; hosts++) {
            for (int64_t spines = 1; spines <= 3; spines++) {
                for (int64_t fabric = 1; fabric <= 4; fabric++) {
                    struct net *net = leaf_spine(leaves, hosts, spines, 1 + (fabric == 2),
                                                 1 + (hosts == 2), 2 * G, fabric * G);
                    struct bisection b;

                    if (net->n_hosts > 1) {
                        bisection_find(net, &b);
                        assert_int_equal(b.rate_bps, true_bisection(net));
                        n++;
                    }
                    net_free(net);
                }
            }
        }
    }
    assert_true(n > 100);
}

/* Elsewhere it is the least cut between the halves, and a bound. */
static void
bisection_is_a_bound(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct net *net = random_net(seed);
        struct bisection b;
        int64_t cut;

        bisection_find(net, &b);
        cut = least_cut(net, (1u << net->n_hosts / 2) - 1);
        if (net->n_hosts % 2) {
            cut = MIN(cut, least_cut(net, (1u << (net->n_hosts / 2 + 1)) - 1));
        }
        assert_int_equal(b.rate_bps, cut);
        assert_true(b.rate_bps >= true_bisection(net));
        assert_true(b.rate_bps <= b.full_bps);
        net_free(net);
    }
}

/* ---- paths ---------------------------------------------------------------------------- */

static const struct path_class *
class_at(const GArray *classes, guint i)
{
    return &g_array_index(classes, struct path_class, i);
}

static void
paths_by_hand(void **state)
{
    struct net *net = leaf_spine(4, 16, 6, 2, 1, 100 * G, 100 * G);
    g_autoptr(GArray) classes = paths_classify(net);
    uint8_t top[64];

    (void)state;
    assert_int_equal(classes->len, 2);
    assert_int_equal(class_at(classes, 0)->n_links, 2);
    assert_int_equal(class_at(classes, 0)->top_tier, 1);
    assert_int_equal(class_at(classes, 0)->n_pairs, 4 * 16 * 15 / 2);
    assert_int_equal(class_at(classes, 0)->n_paths, 1);
    assert_int_equal(class_at(classes, 1)->n_links, 4);
    assert_int_equal(class_at(classes, 1)->top_tier, 2);
    assert_int_equal(class_at(classes, 1)->n_pairs, 6 * 16 * 16);
    /* 6 spines, 2 links up and 2 down */
    assert_int_equal(class_at(classes, 1)->n_paths, 6 * 2 * 2);
    assert_int_equal(class_at(classes, 1)->host[0], 0);
    assert_int_equal(class_at(classes, 1)->host[1], 16);
    paths_find_tops(net, 17, top);
    for (uint32_t h = 0; h < 64; h++) {
        assert_int_equal(top[h], h == 17 ? 0 : h / 16 == 1 ? 1 : 2);
    }
    net_free(net);
}

/* A cable between two hosts, a chain of switches with a bundle, an island. */
static void
paths_of_a_graph(void **state)
{
    const struct link_params link = {.rate_bps = G};
    struct net *net = net_new(1);
    static const char *const hosts[] = {"a", "b", "c", "d", "e"};
    uint8_t top[5];

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        net_add_host(net, hosts[i], 0);
    }
    uint32_t s = net_add_switch(net, "s", 0, 1), t = net_add_switch(net, "t", 1, 1);

    net_add_link(net, 0, 1, &link); /* a-b */
    net_add_link(net, 2, s, &link);
    net_add_link(net, 3, t, &link);
    net_add_link(net, s, t, &link);
    net_add_link(net, t, s, &link);
    net_add_link(net, s, t, &link);
    net_add_link(net, 4, t, &link);

    g_autoptr(GArray) classes = paths_classify(net);

    assert_int_equal(classes->len, 4);
    assert_int_equal(class_at(classes, 0)->n_links, 1); /* a-b */
    assert_int_equal(class_at(classes, 0)->n_pairs, 1);
    assert_int_equal(class_at(classes, 1)->n_links, 2); /* d-e */
    assert_int_equal(class_at(classes, 1)->n_pairs, 1);
    assert_int_equal(class_at(classes, 2)->n_links, 3); /* c-d, c-e */
    assert_int_equal(class_at(classes, 2)->n_pairs, 2);
    assert_int_equal(class_at(classes, 2)->n_paths, 3);
    assert_int_equal(class_at(classes, 3)->n_links, 0); /* a, b to c, d, e */
    assert_int_equal(class_at(classes, 3)->n_pairs, 6);
    paths_find_tops(net, 0, top);
    assert_int_equal(top[1], 0);
    assert_int_equal(top[2], PATHS_NONE);
    paths_find_tops(net, 3, top);
    assert_int_equal(top[0], PATHS_NONE);
    assert_int_equal(top[2], 1);
    net_free(net);
}

/* All classes together are all pairs. */
static void
paths_are_all_pairs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct net *net = random_net(seed);
        g_autoptr(GArray) classes = paths_classify(net);
        uint64_t n = 0;

        for (guint i = 0; i < classes->len; i++) {
            const struct path_class *c = class_at(classes, i);

            n += c->n_pairs;
            assert_true(c->least_paths <= c->n_paths && c->n_paths <= c->most_paths);
            assert_true(i == 0 || c->n_links == 0 ||
                        c->n_links >= class_at(classes, i - 1)->n_links);
        }
        assert_int_equal(n, net->n_hosts * (net->n_hosts - 1) / 2);
        net_free(net);
    }
}

/* ---- a whole fabric ------------------------------------------------------------------- */

static struct fabric *
load(struct scenario **scenario, const char *topology)
{
    g_autofree char *text = g_strdup_printf(
        "{\"name\": \"f\", \"topology\": %s, \"workload\": [{\"type\": \"permutation\", "
        "\"bytes\": \"1KB\"}]}",
        topology);
    g_autoptr(GError) error = NULL;
    struct fabric *fabric;

    *scenario = scenario_load_data("f.json", text, strlen(text), NULL, &error);
    if (*scenario == NULL) {
        fail_msg("%s", error->message);
    }
    fabric = fabric_new(*scenario, NULL, &error);
    if (fabric == NULL) {
        fail_msg("%s", error->message);
    }
    return fabric;
}

static const struct fabric_part *
part_at(const struct fabric *fabric, guint i)
{
    return &g_array_index(fabric->parts, struct fabric_part, i);
}

/* Cables by length and rate; fibre has a transceiver at each end. */
static void
fabric_cables(void **state)
{
    static const struct {
        const char *rate, *length, *what;
        bool fibre;
    } cases[] = {{"100G", "3m", "copper, passive (DAC)", false},
                 {"100G", "3001mm", "copper, active (ACC, AEC)", false},
                 {"400G", "5m", "copper, active (ACC, AEC)", false},
                 {"400G", "30m", "active optical (AOC)", false},
                 {"400G", "50m", "multimode fibre (SR)", true},
                 {"400G", "51m", "single-mode fibre (DR)", true},
                 {"200G", "100m", "multimode fibre (SR)", true},
                 {"200G", "101m", "single-mode fibre (DR)", true},
                 {"200G", "2km", "single-mode fibre (FR)", true},
                 {"200G", "10km", "single-mode fibre (LR)", true},
                 {"200G", "11km", "single-mode fibre (ER, ZR)", true}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *topology = g_strdup_printf(
            "{\"type\": \"star\", \"hosts\": 3, \"host_link\": {\"rate\": "
            "\"%s\", \"length\": \"%s\"}}",
            cases[i].rate, cases[i].length);
        struct scenario *scenario;
        struct fabric *fabric = load(&scenario, topology);

        assert_int_equal(fabric->parts->len, cases[i].fibre ? 4 : 3);
        assert_string_equal(part_at(fabric, 0)->kind, "switch");
        assert_int_equal(part_at(fabric, 0)->n_ports, 3);
        assert_string_equal(part_at(fabric, 1)->kind, "nic");
        assert_int_equal(part_at(fabric, 1)->n, 3);
        assert_string_equal(part_at(fabric, 2)->what, cases[i].what);
        assert_int_equal(part_at(fabric, 2)->n, 3);
        if (cases[i].fibre) {
            assert_string_equal(part_at(fabric, 3)->kind, "transceiver");
            assert_int_equal(part_at(fabric, 3)->n, 6);
        }
        fabric_free(fabric);
        scenario_free(scenario);
    }
}

/* Overrides are in the ratio and make the bisection a bound; the RTT is the model's. */
static void
fabric_overrides(void **state)
{
    struct scenario *scenario;
    struct fabric *fabric = load(
        &scenario,
        "{\"type\": \"leaf-spine\", \"leaves\": 2, \"hosts_per_leaf\": 4, \"spines\": 2, "
        "\"host_link\": {\"rate\": \"100G\", \"length\": \"0m\"}, "
        "\"fabric_link\": {\"rate\": \"100G\", \"length\": \"20m\"}, "
        "\"overrides\": {\"leaf1-spine0\": {\"rate\": \"50G\", \"length\": \"40m\"}}}");

    (void)state;
    assert_false(fabric->bisection_is_exact);
    assert_int_equal(fabric->bisection.rate_bps, 150 * G);
    assert_int_equal(fabric->layouts->len, 5); /* hosts; 2 kinds of leaves, 2 of spines */
    assert_int_equal(fabric->counts.tier[1].ratio_down, 8);
    assert_int_equal(fabric->counts.tier[1].ratio_up, 3);
    assert_int_equal(fabric->links->len, 3);
    assert_int_equal(g_array_index(fabric->links, struct fabric_links, 2).length_mm,
                     40000);
    fabric_free(fabric);
    scenario_free(scenario);

    /* one switch of 300 ns: 83 B there, the ACK of 62 B (64 with padding) back, twice each */
    fabric =
        load(&scenario, "{\"type\": \"star\", \"hosts\": 2, \"host_link\": {\"rate\": "
                        "\"100G\", \"length\": \"0m\"}}");
    assert_true(fabric->bisection_is_exact);
    const struct fabric_path *path = &g_array_index(fabric->paths, struct fabric_path, 0);

    assert_in_range(path->byte_ps, 600000 + 2 * 80 * (64 + 62),
                    600000 + 2 * 80 * (124 + 84));
    assert_int_equal(path->packet_ps - path->byte_ps, 2 * 80 * (4096 - 4));
    fabric_free(fabric);
    scenario_free(scenario);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bisection_by_hand),    cmocka_unit_test(bisection_is_exact),
    cmocka_unit_test(bisection_is_a_bound), cmocka_unit_test(paths_by_hand),
    cmocka_unit_test(paths_of_a_graph),     cmocka_unit_test(paths_are_all_pairs),
    cmocka_unit_test(fabric_cables),        cmocka_unit_test(fabric_overrides),
};

int
main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
