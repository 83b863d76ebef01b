/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_partition.c - processes made of nodes: the modes against sets found by spreading
 * labels, and what the cost model must prefer.
 */
#include <config.h>

#include "sim/partition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/rng.h"

enum { MAX_NODES = 200, MAX_EDGES = 600 };

struct lab {
    struct partition_node nodes[MAX_NODES];
    struct partition_edge edges[MAX_EDGES];
    uint32_t n_nodes, n_edges;
    uint32_t lp[MAX_NODES];
    struct partition_result result;
};

static void
find(struct lab *lab, enum partition_mode mode, uint32_t n_threads)
{
    memset(lab->lp, 0xff, sizeof lab->lp);
    partition_find(lab->nodes, lab->n_nodes, lab->edges, lab->n_edges, mode, n_threads,
                   lab->lp, &lab->result);
}

static struct lab *
random_lab(uint64_t key)
{
    struct lab *lab = calloc(1, sizeof *lab);
    uint64_t n = 0;
    uint64_t n_times = 1 + rng_below(key, n++, 40);

    lab->n_nodes = 1 + (uint32_t)rng_below(key, n++, 60);
    lab->n_edges = (uint32_t)rng_below(key, n++, 2 * lab->n_nodes);
    for (uint32_t i = 0; i < lab->n_nodes; i++) {
        lab->nodes[i].weight = (int64_t)rng_below(key, n++, 100000000);
        lab->nodes[i].rack = (uint32_t)rng_below(key, n++, 10) * 400000000;
    }
    for (uint32_t i = 0; i < lab->n_edges; i++) {
        lab->edges[i].a = (uint32_t)rng_below(key, n++, lab->n_nodes);
        lab->edges[i].b = (uint32_t)rng_below(key, n++, lab->n_nodes);
        lab->edges[i].lookahead_ps = (int64_t)rng_below(key, n++, n_times) * 77777;
    }
    return lab;
}

/* Numbers the sets that nodes of one rack (if 'racks') and ends of edges below
 * 'threshold_ps' make, by spreading the least label until nothing changes. */
static uint32_t
expected_sets(const struct lab *lab, bool racks, int64_t threshold_ps, uint32_t *lp)
{
    uint32_t label[MAX_NODES], n = 0;
    bool again = true;

    for (uint32_t i = 0; i < lab->n_nodes; i++) {
        label[i] = i;
    }
    while (again) {
        again = false;
        for (uint32_t i = 0; i < lab->n_edges; i++) {
            uint32_t *a = &label[lab->edges[i].a], *b = &label[lab->edges[i].b];

            if (lab->edges[i].lookahead_ps < threshold_ps && *a != *b) {
                *a = *b = *a < *b ? *a : *b;
                again = true;
            }
        }
        for (uint32_t i = 0; racks && i < lab->n_nodes; i++) {
            for (uint32_t k = 0; k < i; k++) {
                if (lab->nodes[i].rack == lab->nodes[k].rack && label[i] != label[k]) {
                    label[i] = label[k] = label[i] < label[k] ? label[i] : label[k];
                    again = true;
                }
            }
        }
    }
    for (uint32_t i = 0; i < lab->n_nodes; i++) {
        lp[i] = label[i] == i ? n++ : lp[label[i]];
    }
    return n;
}

/* Lookahead, edge and numbering are those of the dealing itself. */
static void
assert_sound(const struct lab *lab)
{
    int64_t least = TIME_NEVER_PS;
    uint32_t edge = UINT32_MAX, n = 0;

    for (uint32_t i = 0; i < lab->n_nodes; i++) {
        assert_true(lab->lp[i] <= n);
        n += lab->lp[i] == n;
    }
    assert_int_equal(lab->result.n_lps, n);
    for (uint32_t i = 0; i < lab->n_edges; i++) {
        const struct partition_edge *e = &lab->edges[i];

        if (lab->lp[e->a] != lab->lp[e->b]) {
            assert_true(e->lookahead_ps > 0);
            assert_true(e->lookahead_ps >= lab->result.lookahead_ps);
            if (e->lookahead_ps < least) {
                least = e->lookahead_ps;
                edge = i;
            }
        }
    }
    assert_int_equal(lab->result.lookahead_ps, least);
    assert_int_equal(lab->result.edge, edge);
    assert_true(lab->result.wall_per_s >= 0);
}

static void
test_modes(void **state)
{
    uint32_t expected[MAX_NODES];

    (void)state;
    for (uint64_t round = 0; round < 300; round++) {
        struct lab *lab = random_lab(rng_key(round, "test_partition", "modes"));

        find(lab, PARTITION_ONE, 2);
        assert_sound(lab);
        assert_int_equal(lab->result.n_lps, 1);

        find(lab, PARTITION_NODE, 2);
        assert_sound(lab);
        assert_int_equal(lab->result.n_lps, expected_sets(lab, false, 1, expected));
        assert_memory_equal(lab->lp, expected, lab->n_nodes * sizeof *expected);

        find(lab, PARTITION_RACK, 2);
        assert_sound(lab);
        assert_int_equal(lab->result.n_lps, expected_sets(lab, true, 1, expected));
        assert_memory_equal(lab->lp, expected, lab->n_nodes * sizeof *expected);
        free(lab);
    }
}

/* Automatic is sound, repeatable, and predicted no slower than any mode. */
static void
test_auto_is_the_least_predicted(void **state)
{
    uint32_t n_one = 0, n_several = 0;

    (void)state;
    for (uint64_t round = 0; round < 300; round++) {
        struct lab *lab = random_lab(rng_key(round, "test_partition", "auto"));
        uint32_t first[MAX_NODES], n_threads = 1 + (uint32_t)(round % 4);
        double cost;

        find(lab, PARTITION_AUTO, n_threads);
        assert_sound(lab);
        cost = lab->result.wall_per_s;
        memcpy(first, lab->lp, sizeof first);
        n_one += lab->result.n_lps == 1, n_several += lab->result.n_lps > 1;
        find(lab, PARTITION_AUTO, n_threads);
        assert_memory_equal(first, lab->lp, sizeof first);
        for (enum partition_mode mode = PARTITION_ONE; mode <= PARTITION_NODE; mode++) {
            find(lab, mode, n_threads);
            assert_true(cost <= lab->result.wall_per_s);
        }
        free(lab);
    }
    assert_true(n_one > 10 && n_several > 10);
}

/* Two switches with 16 hosts each; 'host_ps' and 'fabric_ps' are the lookaheads. */
static struct lab *
two_racks(int64_t weight, int64_t host_ps, int64_t fabric_ps)
{
    struct lab *lab = calloc(1, sizeof *lab);

    lab->n_nodes = 34;
    for (uint32_t i = 0; i < 34; i++) {
        lab->nodes[i] = (struct partition_node){.weight = i < 32 ? weight : 16 * weight,
                                                .rack = i < 32 ? i / 16 : i - 32};
    }
    for (uint32_t i = 0; i < 32; i++) {
        lab->edges[lab->n_edges++] =
            (struct partition_edge){.a = i, .b = 32 + i / 16, .lookahead_ps = host_ps};
    }
    lab->edges[lab->n_edges++] =
        (struct partition_edge){.a = 33, .b = 32, .lookahead_ps = fabric_ps};
    return lab;
}

static void
test_what_auto_prefers(void **state)
{
    struct lab *lab = two_racks(5000000, 21000, 1000000);

    (void)state;
    /* Busy racks with long cables between them, two threads: one process each. */
    find(lab, PARTITION_AUTO, 2);
    assert_int_equal(lab->result.n_lps, 2);
    assert_int_equal(lab->result.lookahead_ps, 1000000);
    assert_int_equal(lab->result.edge, 32);
    assert_int_equal(lab->lp[0], 0);
    assert_int_equal(lab->lp[16], 1);
    assert_int_equal(lab->lp[32], 0);
    assert_int_equal(lab->lp[33], 1);
    free(lab);

    /* Windows of 1 ns would cost more than all events. */
    lab = two_racks(5000000, 1000, 1000);
    find(lab, PARTITION_AUTO, 2);
    assert_int_equal(lab->result.n_lps, 1);
    assert_int_equal(lab->result.lookahead_ps, TIME_NEVER_PS);
    assert_int_equal(lab->result.edge, UINT32_MAX);
    free(lab);

    /* Racks that say nothing, thresholds that find them. */
    lab = two_racks(5000000, 21000, 1000000);
    for (uint32_t i = 0; i < 34; i++) {
        lab->nodes[i].rack = i;
    }
    find(lab, PARTITION_AUTO, 2);
    assert_int_equal(lab->result.n_lps, 2);
    assert_int_equal(lab->lp[33], 1);
    free(lab);
}

static void
test_more_windows_threads_and_events_cost(void **state)
{
    struct lab *lab = two_racks(5000000, 21000, 1000000);
    double one_us, one_thread, one_process;

    (void)state;
    find(lab, PARTITION_RACK, 2);
    one_us = lab->result.wall_per_s;
    find(lab, PARTITION_RACK, 1);
    one_thread = lab->result.wall_per_s;
    assert_true(one_thread > one_us);
    assert_true(one_thread < 2 * one_us);
    find(lab, PARTITION_ONE, 1);
    one_process = lab->result.wall_per_s;
    find(lab, PARTITION_ONE, 8);
    assert_true(lab->result.wall_per_s ==
                one_process); /* threads don't help one process */
    lab->edges[32].lookahead_ps = 100000;
    find(lab, PARTITION_RACK, 2);
    assert_true(lab->result.wall_per_s > one_us);
    free(lab);
    lab = two_racks(10000000, 21000, 1000000);
    find(lab, PARTITION_ONE, 1);
    assert_true(lab->result.wall_per_s > 1.99 * one_process);
    assert_true(lab->result.wall_per_s < 2.01 * one_process);
    free(lab);
}

/* 128 hosts on 8 leaves and 8 spines, 1 us fabric: the prototype's 30 ns an event. */
static void
test_event_time_is_the_prototypes(void **state)
{
    struct lab *lab = calloc(1, sizeof *lab);
    double events = 0;

    (void)state;
    lab->n_nodes = 144;
    for (uint32_t i = 0; i < 144; i++) {
        lab->nodes[i].rack = i < 128 ? i / 16 : i - 128;
        lab->nodes[i].weight = i < 128 ? 9000000 : i < 136 ? 216000000 : 72000000;
        events += (double)lab->nodes[i].weight;
    }
    for (uint32_t i = 0; i < 128; i++) {
        lab->edges[lab->n_edges++] =
            (struct partition_edge){.a = i, .b = 128 + i / 16, .lookahead_ps = 21000};
    }
    for (uint32_t i = 0; i < 64; i++) {
        lab->edges[lab->n_edges++] = (struct partition_edge){
            .a = 128 + i / 8, .b = 136 + i % 8, .lookahead_ps = 1005760};
    }
    find(lab, PARTITION_AUTO, 1);
    assert_int_equal(lab->result.n_lps, 16);
    assert_int_equal(lab->result.lookahead_ps, 1005760);
    assert_true(lab->result.wall_per_s * 1e9 / events > 27);
    assert_true(lab->result.wall_per_s * 1e9 / events < 33);
    free(lab);
}

static void
test_nothing_and_absurdity(void **state)
{
    struct lab *lab = calloc(1, sizeof *lab);

    (void)state;
    for (enum partition_mode mode = PARTITION_AUTO; mode <= PARTITION_NODE; mode++) {
        find(lab, mode, 4);
        assert_int_equal(lab->result.n_lps, 0);
        assert_int_equal(lab->result.lookahead_ps, TIME_NEVER_PS);
    }
    lab->n_nodes = 3, lab->n_edges = 2;
    lab->nodes[0].weight = INT64_MAX;
    lab->nodes[1].weight = INT64_MAX;
    lab->edges[0] = (struct partition_edge){.a = 0, .b = 1, .lookahead_ps = INT64_MAX};
    lab->edges[1] = (struct partition_edge){.a = 1, .b = 1, .lookahead_ps = 1};
    for (enum partition_mode mode = PARTITION_AUTO; mode <= PARTITION_NODE; mode++) {
        find(lab, mode, UINT32_MAX);
        assert_true(lab->result.n_lps >= 1 && lab->result.n_lps <= 3);
        assert_int_equal(lab->result.lookahead_ps, TIME_NEVER_PS);
    }
    free(lab);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_auto_is_the_least_predicted),
        cmocka_unit_test(test_what_auto_prefers),
        cmocka_unit_test(test_more_windows_threads_and_events_cost),
        cmocka_unit_test(test_event_time_is_the_prototypes),
        cmocka_unit_test(test_nothing_and_absurdity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
