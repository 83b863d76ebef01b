/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_paths.c - K46 and K47 on running networks: queue pairs of real hosts send a
 * packet each, and the counters of the switches' ports tell which way they went.  The
 * seed of a run is what changes.  tests/theory/test_ecmp.c holds the hash alone to the
 * same numbers, over more trials.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/known.h"
#include "tests/support/rig.h"

enum { CLS = 3, LINKS_MAX = 64, M = 8 };

/* Of many runs. */
struct outcome {
    struct known_mean busy_share, max_load;
};

static void
outcome_add(struct outcome *outcome, const int64_t load[], uint32_t n_links)
{
    double busy = 0, most = 0;

    for (uint32_t i = 0; i < n_links; i++) {
        busy += load[i] > 0;
        most = (double)load[i] > most ? (double)load[i] : most;
    }
    known_mean_add(&outcome->busy_share, busy / n_links);
    known_mean_add(&outcome->max_load, most);
}

static void
play(struct rig *rig)
{
    rig_play(rig);
    assert_int_equal(rig->net->end, NET_END_DONE);
    for (uint32_t i = 0; i < rig->n_flows; i++) {
        assert_int_equal(rig->flows[i]->n_received, 1);
    }
}

/* ---- K46 --------------------------------------------------------------------------- */

/* 'n_flows' from the hosts of leaf0, one each, to those of leaf1 over
 * 'n_links' spines. */
static void
spread(struct outcome *outcome, uint32_t n_flows, uint32_t n_links, uint64_t seed)
{
    const struct link_params link = {.rate_bps = 100 * GBPS, .delay_ps = 25 * PS_PER_NS};
    int64_t load[LINKS_MAX], sum = 0;
    struct rig rig;

    rig_init(&rig, seed);
    rig_leaf_spine(&rig, 2 * n_flows, 2, n_links, &link, &link);
    rig_build(&rig);
    for (uint32_t i = 0; i < n_flows; i++) {
        rig_flow(&rig, i, n_flows + (i + (uint32_t)seed) % n_flows, 1000, 0);
    }
    play(&rig);
    for (uint32_t s = 0; s < n_links; s++) {
        char spine[16];

        snprintf(spine, sizeof spine, "spine%u", s);
        load[s] = rig_port(&rig, "leaf0", spine)->out[CLS].tx_pkts;
        sum += load[s];
    }
    assert_int_equal(sum, n_flows);
    outcome_add(outcome, load, n_links);
    rig_clear(&rig);
}

static void
test_k46_flows_on_links(void **state)
{
    const struct {
        uint32_t n_flows, n_links, n_runs;
    } cases[] = {
        {8, 8, 4000}, {16, 16, 1000}, {32, 32, 300}, {64, 64, 300}, {64, 8, 300}};
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        uint32_t k = cases[i].n_flows, m = cases[i].n_links;
        struct outcome outcome = {0};

        for (uint64_t seed = 1; seed <= cases[i].n_runs; seed++) {
            spread(&outcome, k, m, seed);
        }
        if (k == m) {
            snprintf(name, sizeof name, "busy_share_%u_on_%u", k, m);
            known_mean_equals("K46", name, &outcome.busy_share);
        }
        snprintf(name, sizeof name, "max_load_%u_on_%u", k, m);
        known_mean_equals("K46", name, &outcome.max_load);
    }
}

/* ---- K47 --------------------------------------------------------------------------- */

/* host0 - a - 8 switches b - 8 switches c - d - host1, every b on every c. */
static void
two_tiers(struct rig *rig)
{
    const struct link_params link = {.rate_bps = 100 * GBPS, .delay_ps = 25 * PS_PER_NS};
    struct net *net = rig->net;
    uint32_t src = net_add_host(net, "host0", 0), dst = net_add_host(net, "host1", 1);
    uint32_t a = net_add_switch(net, "a", 0, 1), d = net_add_switch(net, "d", 1, 1);
    uint32_t b[M], c[M];
    char name[16];

    for (uint32_t i = 0; i < M; i++) {
        snprintf(name, sizeof name, "b%u", i);
        b[i] = net_add_switch(net, name, 2, 2);
        snprintf(name, sizeof name, "c%u", i);
        c[i] = net_add_switch(net, name, 3, 3);
    }
    net_add_link(net, src, a, &link);
    net_add_link(net, d, dst, &link);
    for (uint32_t i = 0; i < M; i++) {
        net_add_link(net, a, b[i], &link);
        net_add_link(net, c[i], d, &link);
        for (uint32_t k = 0; k < M; k++) {
            net_add_link(net, b[i], c[k], &link);
        }
    }
}

/* 'n_flows' of one packet; packets that each b sends to each c.  'hash_seed' -1: each
 * switch its own. */
static void
run_tiers(uint32_t n_flows, int64_t hash_seed, uint64_t seed, int64_t load[M][M])
{
    struct rig rig;

    rig_init(&rig, seed);
    rig.sw.hash_seed = hash_seed;
    two_tiers(&rig);
    rig_build(&rig);
    for (uint32_t i = 0; i < n_flows; i++) {
        rig_flow(&rig, 0, 1, 1000, 0);
    }
    play(&rig);
    for (uint32_t i = 0; i < M; i++) {
        for (uint32_t k = 0; k < M; k++) {
            char b[16], c[16];

            snprintf(b, sizeof b, "b%u", i);
            snprintf(c, sizeof c, "c%u", k);
            load[i][k] = rig_port(&rig, b, c)->out[CLS].tx_pkts;
        }
    }
    rig_clear(&rig);
}

static void
test_k47_one_seed_polarises(void **state)
{
    int64_t load[M][M];

    (void)state;
    for (int64_t hash_seed = 1; hash_seed <= 3; hash_seed++) {
        double least = M, most = 0;

        run_tiers(500, hash_seed, 1, load);
        for (uint32_t i = 0; i < M; i++) {
            double used = 0;

            for (uint32_t k = 0; k < M; k++) {
                used += load[i][k] > 0;
            }
            least = used < least ? used : least;
            most = used > most ? used : most;
        }
        assert_true(least == most);
        known_equals("K47", "uplinks_used_with_one_seed", most);
    }
}

/* Switches b that eight flows have come to spread them as K46 says. */
static void
test_k47_own_seeds_restore_k46(void **state)
{
    struct outcome outcome = {0};
    int64_t load[M][M];

    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        run_tiers(8 * M, -1, seed, load);
        for (uint32_t i = 0; i < M; i++) {
            int64_t sum = 0;

            for (uint32_t k = 0; k < M; k++) {
                sum += load[i][k];
            }
            if (sum == 8) {
                outcome_add(&outcome, load[i], M);
            }
        }
    }
    assert_true(outcome.busy_share.n > 300);
    known_mean_equals("K46", "busy_share_8_on_8", &outcome.busy_share);
    known_mean_equals("K46", "max_load_8_on_8", &outcome.max_load);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k46_flows_on_links),
        cmocka_unit_test(test_k47_one_seed_polarises),
        cmocka_unit_test(test_k47_own_seeds_restore_k46),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
