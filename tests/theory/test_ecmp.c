/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_ecmp.c - K46 and K47: how flows fall on equal-cost links, with the 5-tuples a
 * network's queue pairs have and the routes of real topologies.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "models/nic/qp.h"
#include "models/switch/route.h"
#include "sim/rng.h"
#include "tests/support/known.h"
#include "topologies/topo.h"

#define ROCE_PORT 4791
#define UDP 17

enum { MAX_PORTS = 256 };

/* Hash of flow 'n' from NIC 'src' to NIC 'dst'.  Queue pairs are numbered from 0x11 as
 * the hosts open them. */
static uint32_t
flow_hash(uint32_t src, uint32_t dst, uint32_t n)
{
    uint32_t qpn = 0x11 + n, peer_qpn = 0x11 + n / 3;

    return route_flow_hash(0x0b000001 + src, 0x0b000001 + dst,
                           qp_udp_source_port(qpn, peer_qpn), ROCE_PORT, UDP);
}

static uint32_t
seed_of(uint64_t trial, const char *name)
{
    return (uint32_t)rng_key(trial, name, "ecmp");
}

/* Flows of one trial: busy links and the load of the fullest. */
struct outcome {
    struct known_mean busy_share, max_load, no_collision;
};

static void
outcome_add(struct outcome *outcome, const uint32_t load[], uint32_t n_links)
{
    uint32_t busy = 0, most = 0;

    for (uint32_t i = 0; i < n_links; i++) {
        busy += load[i] > 0;
        most = load[i] > most ? load[i] : most;
    }
    known_mean_add(&outcome->busy_share, (double)busy / n_links);
    known_mean_add(&outcome->max_load, most);
    known_mean_add(&outcome->no_collision, most == 1);
}

/* 'n_flows' from the hosts of leaf0 to those of leaf1 over 'n_spines',
 * 'n_trials' times. */
static struct outcome
spread(uint32_t n_flows, uint32_t n_spines, uint32_t n_trials)
{
    struct topo_input input = {
        .nics_per_host = 1, .host_link = {.rate_bps = 1}, .fabric_link = {.rate_bps = 1}};
    struct topo_leafspine params = {.hosts = TOPO_UNSET,
                                    .leaves = 2,
                                    .hosts_per_leaf = n_flows,
                                    .spines = n_spines,
                                    .uplinks_per_leaf = TOPO_UNSET,
                                    .oversubscription = TOPO_UNSET};
    struct net *net = net_new(1);
    g_autofree struct route_table **tables = NULL;
    struct outcome outcome = {0};

    assert_true(topo_find("leaf-spine")->resolve(&params, &input, NULL));
    topo_find("leaf-spine")->build(net, &params, &input);
    tables = g_new0(struct route_table *, net->n_switches);
    assert_true(topo_route_tables(net, NULL, tables, NULL));
    for (uint32_t trial = 0; trial < n_trials; trial++) {
        uint32_t load[MAX_PORTS] = {0}, seed = seed_of(trial, "leaf0");

        for (uint32_t i = 0; i < n_flows; i++) {
            uint32_t dst = n_flows + i;
            uint16_t port =
                route_pick(tables[0], dst, flow_hash(i, dst, trial * n_flows + i), seed);

            assert_in_range(port, n_flows, n_flows + n_spines - 1);
            load[port - n_flows]++;
        }
        outcome_add(&outcome, load, n_spines);
    }
    for (uint32_t s = 0; s < net->n_switches; s++) {
        route_table_free(tables[s]);
    }
    net_free(net);
    return outcome;
}

static void
test_k46_busy_links_and_collisions(void **state)
{
    const struct {
        uint32_t n_flows, n_links, n_trials;
    } cases[] = {
        {8, 8, 40000}, {16, 16, 10000}, {32, 32, 5000}, {64, 64, 5000}, {64, 8, 5000}};
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        uint32_t k = cases[i].n_flows, m = cases[i].n_links;
        struct outcome outcome = spread(k, m, cases[i].n_trials);

        if (k == m) {
            snprintf(name, sizeof name, "busy_share_%u_on_%u", k, m);
            known_mean_equals("K46", name, &outcome.busy_share);
        }
        snprintf(name, sizeof name, "max_load_%u_on_%u", k, m);
        known_mean_equals("K46", name, &outcome.max_load);
        if (k == 8) {
            known_mean_equals("K46", "no_collision_8_on_8", &outcome.no_collision);
        }
    }
}

/* Two tiers of m = 8 links: hosts on leaf a, which has 8 switches b above it, which have
 * the same 8 switches c above them; beyond those, a switch d with the destination. */
enum { M = 8 };

struct tiers {
    struct net *net;
    struct route_table *tables[1 + M + M + 1];
};

static struct tiers
tiers_new(void)
{
    const struct link_params params = {.rate_bps = 1};
    struct tiers tiers = {.net = net_new(1)};
    struct net *net = tiers.net;
    uint32_t src = net_add_host(net, "src", 0), dst = net_add_host(net, "dst", 1);
    uint32_t a = net_add_switch(net, "a", 0, 1), b[M], c[M], d;
    char name[16];

    for (int i = 0; i < M; i++) {
        snprintf(name, sizeof name, "b%d", i);
        b[i] = net_add_switch(net, name, 2, 2);
    }
    for (int i = 0; i < M; i++) {
        snprintf(name, sizeof name, "c%d", i);
        c[i] = net_add_switch(net, name, 3, 3);
    }
    d = net_add_switch(net, "d", 1, 1);
    net_add_link(net, src, a, &params);
    net_add_link(net, d, dst, &params);
    for (int i = 0; i < M; i++) {
        net_add_link(net, a, b[i], &params);
    }
    for (int i = 0; i < M; i++) {
        for (int k = 0; k < M; k++) {
            net_add_link(net, b[i], c[k], &params);
        }
    }
    for (int k = 0; k < M; k++) {
        net_add_link(net, c[k], d, &params);
    }
    assert_true(topo_route_tables(net, NULL, tiers.tables, NULL));
    return tiers;
}

static void
tiers_free(struct tiers *tiers)
{
    for (uint32_t s = 0; s < tiers->net->n_switches; s++) {
        route_table_free(tiers->tables[s]);
    }
    net_free(tiers->net);
}

/* Switch b that flow 'n' comes to, and which of its uplinks it takes. */
static uint16_t
second_choice(const struct tiers *tiers, uint32_t n, uint32_t seed_a,
              const uint32_t seed_b[M], uint16_t *b)
{
    uint32_t hash = flow_hash(0, 1, n);

    *b = (uint16_t)(route_pick(tiers->tables[0], 1, hash, seed_a) - 1);
    assert_true(*b < M);

    uint16_t port = route_pick(tiers->tables[1 + *b], 1, hash, seed_b[*b]);

    assert_in_range(port, 1, M); /* port 0 leads back to a */
    return (uint16_t)(port - 1);
}

static void
test_k47_one_seed_polarises(void **state)
{
    struct tiers tiers = tiers_new();
    uint32_t most_used = 0;

    (void)state;
    for (uint32_t trial = 0; trial < 20; trial++) {
        uint32_t seed = seed_of(trial, "all"), seeds[M], n_flows[M][M] = {{0}};

        for (int i = 0; i < M; i++) {
            seeds[i] = seed;
        }
        for (uint32_t n = 0; n < 1000; n++) {
            uint16_t b, c = second_choice(&tiers, n, seed, seeds, &b);

            n_flows[b][c]++;
        }
        for (int i = 0; i < M; i++) {
            uint32_t used = 0;

            for (int k = 0; k < M; k++) {
                used += n_flows[i][k] > 0;
            }
            assert_true(used > 0);
            most_used = used > most_used ? used : most_used;
        }
    }
    known_equals("K47", "uplinks_used_with_one_seed", most_used);
    tiers_free(&tiers);
}

/* Of the flows that come to b0, eight at a time fall on its uplinks as K46 says. */
static void
test_k47_own_seeds_restore_k46(void **state)
{
    struct tiers tiers = tiers_new();
    struct outcome outcome = {0};
    uint32_t n = 0;

    (void)state;
    for (uint32_t trial = 0; trial < 10000; trial++) {
        uint32_t load[M] = {0}, seeds[M], seed_a = seed_of(trial, "a");

        for (int i = 0; i < M; i++) {
            char name[16];

            snprintf(name, sizeof name, "b%d", i);
            seeds[i] = seed_of(trial, name);
        }
        for (uint32_t n_here = 0; n_here < 8; n++) {
            uint16_t b, c = second_choice(&tiers, n, seed_a, seeds, &b);

            if (b == 0) {
                load[c]++;
                n_here++;
            }
        }
        outcome_add(&outcome, load, M);
    }
    known_mean_equals("K47", "own_seeds_busy_share_8_on_8", &outcome.busy_share);
    known_mean_equals("K47", "own_seeds_max_load_8_on_8", &outcome.max_load);
    tiers_free(&tiers);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k46_busy_links_and_collisions),
        cmocka_unit_test(test_k47_one_seed_polarises),
        cmocka_unit_test(test_k47_own_seeds_restore_k46),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
