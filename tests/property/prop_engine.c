/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * prop_engine.c - the engine against itself: random small networks with everything that
 * can happen in them, under every partition and number of threads, leave the same behind
 * to the last counter.
 */
#include <config.h>

#include "sim/rng.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/rig.h"

#define N_CASES 100

/* Threads that have no core of their own take a millisecond to meet. */
#define MAX_MEETINGS 500

/* Draws of one case. */
struct dice {
    uint64_t key, n;
};

static uint64_t
below(struct dice *dice, uint64_t bound)
{
    return rng_below(dice->key, dice->n++, bound);
}

/* True once in 'n'. */
static bool
one_in(struct dice *dice, uint64_t n)
{
    return below(dice, n) == 0;
}

static struct link_params
draw_link(struct dice *dice, bool lossy)
{
    static const int64_t gbps[] = {100, 100, 100, 25, 400, 7};
    static const int64_t delay_ns[] = {0, 25, 25, 150, 1000};

    return (struct link_params){
        .rate_bps = gbps[below(dice, G_N_ELEMENTS(gbps))] * GBPS,
        .delay_ps = delay_ns[below(dice, G_N_ELEMENTS(delay_ns))] * PS_PER_NS,
        .error_rate = lossy && one_in(dice, 2) ? 0.01 : 0,
        .bit_error_rate = lossy && one_in(dice, 2) ? 1e-6 : 0};
}

static void
draw_params(struct rig *rig, struct dice *dice)
{
    static const int64_t every[] = {1, 2, 16, 256};

    rig->nic.mtu_bytes = 256 << below(dice, 5);
    rig->nic.ack_every = every[below(dice, G_N_ELEMENTS(every))];
    rig->nic.max_inflight = one_in(dice, 3) ? 1 + (int64_t)below(dice, 64) : 0;
    rig->nic.latency_ps = one_in(dice, 2) ? (int64_t)below(dice, 700000) : 0;
    rig->nic.ack_latency_ps = one_in(dice, 2) ? (int64_t)below(dice, 700000) : 0;
    rig->nic.jitter_ps = one_in(dice, 2) ? -1 : 0;
    rig->nic.pfc_reaction_ps = one_in(dice, 2) ? 0 : REACTION_IEEE;
    rig->nic.ack_timeout = 4 + (int64_t)below(dice, 3); /* 65 to 262 us */
    rig->sw.pfc_reaction_ps = one_in(dice, 2) ? 0 : REACTION_IEEE;
    rig->sw.latency_ps = one_in(dice, 4) ? 0 : 300000;
    rig->sw.cut_through = one_in(dice, 3);
    rig->sw.ecn_at_dequeue = one_in(dice, 2);
    rig->sw.buffer_bytes = one_in(dice, 2) ? 32000000 : 3000000;
    rig->sw.alpha_q32 = PARAM_ONE >> below(dice, 7);
    rig->cc_name = one_in(dice, 2) ? "dcqcn" : "none";
    if (one_in(dice, 5)) {
        rig->nic.pfc = rig->sw.pfc = 0;
    }
    rig->nic.retransmit = one_in(dice, 3) ? NIC_SR : NIC_GBN;
    rig->nic.sr_window = 64 << below(dice, 5);
    rig->nic.max_reads = 1 + (int64_t)below(dice, 16);
    if (one_in(dice, 4)) {
        rig->nic.receive_queue = 1 + (int64_t)below(dice, 3);
        rig->nic.receive_delay_ps = (int64_t)below(dice, 30) * PS_PER_US;
        rig->nic.rnr_timer = 1;
    }
}

/* A second kind of data, that shares links in turns. */
static void
draw_qos(struct rig *rig, struct dice *dice)
{
    const struct net_qos kinds[] = {
        {.name = (char *)"roce",
         .dscp = 26,
         .cls = 3,
         .lossless = true,
         .ecn = true,
         .weight = 1},
        {.name = (char *)"cnp", .dscp = 48, .cls = 6, .strict = true, .weight = 1},
        {.name = (char *)"bulk",
         .dscp = 10,
         .cls = 1,
         .lossless = one_in(dice, 2),
         .ecn = true,
         .strict = one_in(dice, 4),
         .weight = 1 + (int32_t)below(dice, 4)}};

    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        net_add_qos(rig->net, &kinds[i]);
    }
    rig->net->cnp_qos = 1;
    rig->nic.pfc |= (uint8_t)(rig->nic.pfc ? 1 << 1 : 0);
    rig->sw.pfc |= (uint8_t)(rig->sw.pfc ? 1 << 1 : 0);
}

static void
draw_shape(struct rig *rig, struct dice *dice, bool lossy)
{
    struct link_params host = draw_link(dice, lossy);
    struct link_params fabric = draw_link(dice, lossy);
    uint32_t leaves = 2 + (uint32_t)below(dice, 3);

    rig_leaf_spine(rig, leaves * (1 + (uint32_t)below(dice, 3)), leaves,
                   1 + (uint32_t)below(dice, 3), &host, &fabric);
}

static void
draw_faults(struct rig *rig, struct dice *dice)
{
    static const enum fault_kind pairs[][2] = {{FAULT_DOWN, FAULT_UP},
                                               {FAULT_RATE, FAULT_RATE},
                                               {FAULT_ERROR_RATE, FAULT_ERROR_RATE},
                                               {FAULT_DROP, FAULT_DROP}};
    uint64_t drop[] = {1, 2, 17, 40};
    uint32_t n = 1 + (uint32_t)below(dice, 3);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t link = (uint32_t)below(dice, rig->net->n_links);
        const enum fault_kind *kinds = pairs[below(dice, G_N_ELEMENTS(pairs))];
        int64_t rate_bps = rig->net->links[link].params.rate_bps;
        struct fault fault = {.at_ps = (int64_t)below(dice, 100) * PS_PER_US,
                              .kind = kinds[0],
                              .rate_bps = rate_bps / 2,
                              .error_rate = 0.05,
                              .drop = drop,
                              .n_drop = G_N_ELEMENTS(drop)};

        net_add_fault(rig->net, link, &fault);
        fault.kind = kinds[1];
        fault.at_ps += 1 + (int64_t)below(dice, 50) * PS_PER_US;
        fault.rate_bps = rate_bps;
        fault.error_rate = 0;
        net_add_fault(rig->net, link, &fault);
    }
}

static void
draw_flows(struct rig *rig, struct dice *dice)
{
    uint32_t n_hosts = rig->net->n_hosts;
    uint32_t n = 2 + (uint32_t)below(dice, 3 * n_hosts);
    bool incast = one_in(dice, 2);
    bool verbs = one_in(dice, 2);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t dst = incast ? 0 : (uint32_t)below(dice, n_hosts);
        uint32_t src = (dst + 1 + (uint32_t)below(dice, n_hosts - 1)) % n_hosts;
        uint32_t connection =
            net_connect(rig->net, src, 0, dst, 0, one_in(dice, 3) ? 2 : 0);

        rig_flow_on(rig, connection, 0, (int64_t)below(dice, 400000),
                    one_in(dice, 2) ? 0 : (int64_t)below(dice, 50) * PS_PER_US);
        if (one_in(dice, 3)) { /* data both ways, and a second message */
            rig_flow_on(rig, connection, 1, (int64_t)below(dice, 200000), 0);
            rig_flow_on(rig, connection, 0, (int64_t)below(dice, 200000), PS_PER_US);
        }
    }
    for (uint32_t i = 0; i < rig->n_flows && verbs; i++) {
        rig->flows[i]->verb = (enum qp_verb)below(dice, QP_READ + 1);
    }
}

static void
build(struct rig *rig, uint64_t number)
{
    struct dice dice = {.key = rng_key(number, "prop_engine", "case")};
    bool lossy = one_in(&dice, 3);

    rig_init(rig, number);
    draw_params(rig, &dice);
    draw_qos(rig, &dice);
    draw_shape(rig, &dice, lossy);
    rig_build(rig);
    draw_flows(rig, &dice);
    if (one_in(&dice, 2)) {
        draw_faults(rig, &dice);
    }
    rig->net->sample_ps = one_in(&dice, 2) ? 10 * PS_PER_US : 0;
}

struct outcome {
    uint64_t digest;
    uint64_t n_windows;
    struct rig_sums sums;
};

static struct outcome
play(uint64_t number, enum partition_mode partition, uint32_t n_threads)
{
    struct outcome outcome;
    struct rig rig;

    build(&rig, number);
    rig_start(&rig, partition, n_threads);
    rig_run(&rig, 20 * PS_PER_MS);
    outcome.digest = rig_digest(&rig);
    outcome.sums = rig_sum(&rig);
    outcome.n_windows = rig.net->sim->n_windows;
    rig_clear(&rig);
    return outcome;
}

static uint64_t
same(uint64_t number, uint64_t digest, enum partition_mode partition, uint32_t n_threads)
{
    const struct outcome outcome = play(number, partition, n_threads);

    if (outcome.digest != digest) {
        fail_msg("case %u: partition %d with %u threads differs", (unsigned)number,
                 partition, n_threads);
    }
    return outcome.n_windows;
}

static void
same_under_every_partition(void **state)
{
    struct rig_sums all = {0};

    (void)state;
    for (uint64_t i = 0; i < N_CASES; i++) {
        const struct outcome one = play(i, PARTITION_ONE, 1);

        same(i, one.digest, PARTITION_AUTO, 1);
        if (same(i, one.digest, PARTITION_RACK, 1) < MAX_MEETINGS) {
            same(i, one.digest, PARTITION_RACK, i % 2 ? 2 : 4);
        }
        if (same(i, one.digest, PARTITION_NODE, 1) < MAX_MEETINGS) {
            same(i, one.digest, PARTITION_NODE, i % 2 ? 4 : 2);
        }
        all.drops += one.sums.drops;
        all.lost_error += one.sums.lost_error;
        all.lost_on_link += one.sums.lost_on_link;
        all.lost_down += one.sums.lost_down;
        all.marked += one.sums.marked;
        all.xoff_tx += one.sums.xoff_tx;
        all.retransmitted += one.sums.retransmitted;
        all.timeouts += one.sums.timeouts;
        all.naks += one.sums.naks;
        all.cnps += one.sums.cnps;
    }
    /* The cases are worth something only when all this happens in them. */
    assert_true(all.drops > 100);
    assert_true(all.lost_error > 100);
    assert_true(all.lost_on_link > 10);
    assert_true(all.lost_down > 10);
    assert_true(all.marked > 1000);
    assert_true(all.xoff_tx > 100);
    assert_true(all.retransmitted > 1000);
    assert_true(all.timeouts > 10);
    assert_true(all.naks > 100);
    assert_true(all.cnps > 100);
}

static void *
run_thread(void *arg)
{
    rig_run(arg, 20 * PS_PER_MS);
    return NULL;
}

/* Two simulations in one process give what each gives alone: built one inside the other,
 * run at the same time. */
static void
two_at_once(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 6; i++) {
        const uint64_t alone[] = {play(i, PARTITION_RACK, 1).digest,
                                  play(i + 10, PARTITION_RACK, 1).digest};
        struct rig rigs[2];
        pthread_t threads[2];

        build(&rigs[0], i);
        build(&rigs[1], i + 10);
        rig_start(&rigs[1], PARTITION_RACK, 1);
        rig_start(&rigs[0], PARTITION_RACK, 1);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(pthread_create(&threads[k], NULL, run_thread, &rigs[k]), 0);
        }
        for (int k = 0; k < 2; k++) {
            pthread_join(threads[k], NULL);
        }
        for (int k = 0; k < 2; k++) {
            assert_int_equal(rig_digest(&rigs[k]), alone[k]);
            rig_clear(&rigs[k]);
        }
    }
}

/* Another seed is another run: the digest sees what it should. */
static void
seeds_differ(void **state)
{
    uint64_t digest[2];

    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct rig rig;

        rig_init(&rig, seed);
        rig.nic.jitter_ps = -1;
        rig_star(&rig, 3, 100 * GBPS, 25 * PS_PER_NS);
        rig_build(&rig);
        rig_flow(&rig, 0, 2, 100000, 0);
        rig_flow(&rig, 1, 2, 100000, net_jitter_ps(rig.net, 1));
        rig_play(&rig);
        digest[seed - 1] = rig_digest(&rig);
        rig_clear(&rig);
    }
    assert_true(digest[0] != digest[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_under_every_partition),
        cmocka_unit_test(two_at_once),
        cmocka_unit_test(seeds_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
