/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_buffer.c - K20 and K21: how full a shared buffer gets under the dynamic
 * threshold, with pauses and without.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/support/known.h"
#include "tests/support/rig.h"

#define MIB INT64_C(1048576)
#define ROCE 3 /* class */

/* ---- K20 --------------------------------------------------------------------------- */

#define AGAIN_PS (40 * PS_PER_US) /* within the longest pause at 400G, 84 us */

/* Keeps the switch from sending to port 'ctx'. */
static void
keep_stopped(struct lp *lp, struct work_timer *timer)
{
    port_send_pause(lp, timer->ctx, ROCE, true);
    work_timer_set(lp, timer, lp->now_ps + AGAIN_PS);
}

struct fill {
    const char *name;
    int64_t shared_bytes, alpha_q32;
    uint32_t n_senders;
};

/* 'n_senders' into one port that does not send, until all of them stand. */
static void
fill(const struct fill *fill)
{
    const int64_t headroom_bytes = 100000;
    struct work_timer timer = {.fire = keep_stopped};
    uint32_t n = fill->n_senders;
    struct rig rig;
    char name[16];

    rig_init(&rig, 1);
    rig.sw.alpha_q32 = fill->alpha_q32;
    rig.sw.headroom_bytes = headroom_bytes;
    rig.sw.buffer_bytes = fill->shared_bytes + (n + 1) * headroom_bytes;
    rig_star(&rig, n + 1, 400 * GBPS, 25253);
    rig_build(&rig);
    for (uint32_t i = 0; i < n; i++) {
        rig_flow(&rig, i, n, 128 * MIB, 0);
    }
    timer.source = net_new_timer(rig.net);
    rig_start(&rig, PARTITION_ONE, 1);
    snprintf(name, sizeof name, "host%u", n);
    timer.ctx = rig_port(&rig, name, "leaf0");
    work_timer_set(net_lp_of_host(rig.net, n), &timer, 0);
    /* Twice as long as one sender takes to fill all of it. */
    rig_run(&rig, 2 * sim_tx_time_ps(fill->shared_bytes, 400 * GBPS));
    assert_int_equal(rig_sum(&rig).drops, 0);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "host%u", i);
        const struct in_class *in = &rig_port(&rig, "leaf0", name)->in[ROCE];

        assert_true(in->xoff);
        assert_true(in->headroom_bytes > 0);
        known_equals("K20", fill->name, (double)in->used_bytes);
    }
    rig_clear(&rig);
}

static void
test_k20_dynamic_threshold(void **state)
{
    const struct fill fills[] = {
        {"b_16mb_a_1_n_1_bytes", 16000000, PARAM_ONE, 1},
        {"b_16mb_a_1_n_2_bytes", 16000000, PARAM_ONE, 2},
        {"b_16mb_a_1_8_n_1_bytes", 16000000, PARAM_Q32(1, 8), 1},
        {"b_12mb_a_1_16_n_4_bytes", 12000000, PARAM_Q32(1, 16), 4},
        {"b_64mb_a_8_n_1_bytes", 64000000, 8 * PARAM_ONE, 1}};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        fill(&fills[i]);
    }
}

/* ---- K21 --------------------------------------------------------------------------- */

/* What the bottleneck has seen at an epoch. */
struct seen {
    int64_t at_ps, queue_bytes, drops, tx_pkts, rx_pkts;
};

enum { N_SEEN = 200 };

struct watch {
    const struct port *out, *in[2], *receiver; /* borrowed */
    struct seen seen[N_SEEN];
    uint32_t n_seen;
};

static bool
look(void *ctx, const struct net *net, int64_t now_ps)
{
    struct watch *watch = ctx;

    (void)net;
    assert_true(watch->n_seen < N_SEEN);
    watch->seen[watch->n_seen++] = (struct seen){
        .at_ps = now_ps,
        .queue_bytes = watch->out->out[ROCE].queue.bytes,
        .drops = watch->in[0]->stats[ROCE].drops + watch->in[1]->stats[ROCE].drops,
        .tx_pkts = watch->out->out[ROCE].tx_pkts,
        .rx_pkts = watch->receiver->in[ROCE].rx_pkts};
    return true;
}

/* The last look not after 'at_ps'. */
static const struct seen *
seen_at(const struct watch *watch, int64_t at_ps)
{
    const struct seen *seen = NULL;

    for (uint32_t i = 0; i < watch->n_seen && watch->seen[i].at_ps <= at_ps; i++) {
        seen = &watch->seen[i];
    }
    assert_non_null(seen);
    return seen;
}

static void
test_k21_lossy_two_to_one(void **state)
{
    const struct net_qos roce = {
        .name = (char *)"roce", .dscp = 26, .cls = ROCE, .ecn = true, .weight = 1};
    const struct seen *a, *b, *full, *end;
    struct net_watch net_watch = {.on_epoch = look};
    int64_t at_first_drop_ps;
    struct watch watch = {0};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.pfc = rig.sw.pfc = 0;
    rig.sw.buffer_bytes = 16000000;
    rig_star(&rig, 3, 100 * GBPS, 25253);
    net_add_qos(rig.net, &roce);
    rig_build(&rig);
    rig_flow(&rig, 0, 2, 256 * MIB, 0);
    rig_flow(&rig, 1, 2, 256 * MIB, 0);
    rig_start(&rig, PARTITION_ONE, 1);
    watch.out = rig_port(&rig, "leaf0", "host2");
    watch.in[0] = rig_port(&rig, "leaf0", "host0");
    watch.in[1] = rig_port(&rig, "leaf0", "host1");
    watch.receiver = rig_port(&rig, "host2", "leaf0");
    net_watch.ctx = &watch;
    net_run(rig.net, 1500 * PS_PER_US, &net_watch);
    net_check(rig.net);

    a = seen_at(&watch, 100 * PS_PER_US);
    b = seen_at(&watch, 500 * PS_PER_US);
    known_equals("K21", "growth_in_100us_bytes",
                 (double)(b->queue_bytes - a->queue_bytes) * 100e6 /
                     (double)(b->at_ps - a->at_ps));
    /* Epochs are 10 us apart, so the line is drawn on from 'b' to where it stops. */
    full = seen_at(&watch, 700 * PS_PER_US);
    assert_true(full->queue_bytes > 8000000 - 4158 && full->queue_bytes < 8000000 + 4158);
    at_first_drop_ps = b->at_ps + (full->queue_bytes - b->queue_bytes) *
                                      (b->at_ps - a->at_ps) /
                                      (b->queue_bytes - a->queue_bytes);
    known_equals("K21", "full_at_us", (double)at_first_drop_ps / 1e6);
    assert_int_equal(seen_at(&watch, at_first_drop_ps - 10 * PS_PER_US)->drops, 0);
    assert_true(seen_at(&watch, at_first_drop_ps + 20 * PS_PER_US)->drops > 0);
    end = &watch.seen[watch.n_seen - 1];
    known_equals("K21", "loss_share",
                 (double)(end->drops - full->drops) /
                     (double)(end->drops - full->drops + end->tx_pkts - full->tx_pkts));
    known_equals("K21", "goodput_gbps",
                 (double)(end->rx_pkts - full->rx_pkts) * 4096 * 8e3 /
                     (double)(end->at_ps - full->at_ps));
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k20_dynamic_threshold),
        cmocka_unit_test(test_k21_lossy_two_to_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
