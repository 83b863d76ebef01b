/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_dcqcn.c - K29 to K32: the reaction point of a queue pair that sends.
 *
 * A flow runs through a switch that the test makes mark the packets it wants; the
 * receiver's NIC answers each with a CNP, and what that does to the sender's queue pair
 * is read at the CNP and at times counted from the last one.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/known.h"
#include "tests/support/rig.h"

#define DELAY (25 * PS_PER_NS)

enum { LOOKS_MAX = 1024 };

/* State of the reaction point at one time. */
struct look {
    double rate_gbps, target_gbps, alpha;
};

struct reaction {
    struct rig rig;
    struct rig_flow *flow; /* borrowed */
    struct dcqcn_params *params;
    struct work_timer timer;
    int64_t every_ps;       /* between looks, the first one so much after the last CNP */
    uint32_t n_marks;       /* packets still to be marked, from the first on */
    uint32_t mark_again_at; /* look after which one more is marked; 0: none */
    uint32_t n_cnps;
    struct look at_cnp[8]; /* right after each CNP */
    int64_t cnp_ps;        /* of the last one */
    uint32_t n_looks, n_to_look;
    struct look before[LOOKS_MAX]; /* 1 ps before each look */
    struct look looks[LOOKS_MAX];  /* look k at cnp_ps + k x every_ps, from 1 on */
};

/* ---- running ----------------------------------------------------------------------- */

static struct look
look_now(struct reaction *r, int64_t now_ps)
{
    struct qp *qp = rig_qp(r->flow);
    const struct dcqcn *state = (const void *)qp->cc_state;
    double rate_gbps = (double)qp_rate_bps(qp, now_ps) / GBPS;

    return (struct look){.rate_gbps = rate_gbps,
                         .target_gbps = (double)state->target_bps / GBPS,
                         .alpha = (double)state->alpha_q32 / (double)PARAM_ONE};
}

static void
on_timer(struct lp *lp, struct work_timer *timer)
{
    struct reaction *r = timer->ctx;
    int64_t due_ps = r->cnp_ps + (r->n_looks + 1) * r->every_ps;

    if (lp->now_ps < due_ps) {
        r->before[r->n_looks + 1] = look_now(r, lp->now_ps);
        work_timer_set(lp, timer, due_ps);
        return;
    }
    r->looks[++r->n_looks] = look_now(r, lp->now_ps);
    if (r->n_looks == r->mark_again_at) {
        r->n_marks++;
    }
    if (r->n_looks < r->n_to_look) {
        work_timer_set(lp, timer, due_ps + r->every_ps - 1);
    }
}

static void
mark_and_watch(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct reaction *r = rig->tap_ctx;
    struct port *in;
    struct packet *pkt = rig_arrival(rig, event, &in);
    bool is_cnp = pkt && pkt->type == PACKET_CNP && in->is_nic;

    if (pkt && pkt->type == PACKET_DATA && !in->is_nic && r->n_marks) {
        assert_int_equal(pkt->tos & 3, ECN_ECT0);
        pkt->tos |= ECN_CE;
        r->n_marks--;
    }
    rig_handle(lp, event);
    if (!is_cnp) {
        return;
    }
    /* Nothing is caught up here: it is the state that the CNP leaves. */
    r->at_cnp[r->n_cnps] = look_now(r, lp->now_ps);
    r->n_cnps++;
    if (r->n_looks == 0) {
        r->cnp_ps = lp->now_ps;
    }
    if (r->n_looks == 0 && r->n_marks == 0 && r->n_to_look && !r->timer.queued) {
        work_timer_set(lp, &r->timer, lp->now_ps + r->every_ps - 1);
    }
}

/* A flow at 'rate_bps', of which the first 'n_marks' packets are marked.  The caller
 * changes r->params and what else it likes, then calls reaction_run(). */
static void
reaction_init(struct reaction *r, int64_t rate_bps, const char *preset, uint32_t n_marks)
{
    *r = (struct reaction){.n_marks = n_marks};
    rig_init(&r->rig, 29);
    rig_star(&r->rig, 2, rate_bps, DELAY);
    r->params = rig_dcqcn(&r->rig, preset);
    for (uint32_t h = 0; h < 2; h++) {
        r->rig.net->nic_params[h].cnp_interval_ps = 1; /* a CNP for every mark */
    }
}

static void
reaction_run(struct reaction *r, int64_t stop_ps)
{
    rig_build(&r->rig);
    r->flow = rig_flow(&r->rig, 0, 1, INT64_C(1000000000), 0);
    r->timer = (struct work_timer){
        .source = net_new_timer(r->rig.net), .fire = on_timer, .ctx = r};
    r->rig.tap = mark_and_watch;
    r->rig.tap_ctx = r;
    rig_start(&r->rig, PARTITION_ONE, 1);
    rig_run(&r->rig, stop_ps);
    assert_int_equal(r->rig.net->end, NET_END_STOPPED);
    assert_int_equal(r->n_marks, 0);
    assert_int_equal(r->n_looks, r->n_to_look);
    assert_int_equal(rig_qp(r->flow)->cnps_received, r->n_cnps);
    rig_clear(&r->rig);
}

static void
compare(const char *id, const char *pattern, unsigned k, double obtained)
{
    char name[64];

    snprintf(name, sizeof name, "%s_%u%s", pattern, k,
             strcmp(pattern, "alpha") ? "_gbps" : "");
    known_equals(id, name, obtained);
}

/* ---- the answers ------------------------------------------------------------------- */

static void
test_k29_cnps_in_a_row(void **state)
{
    struct reaction r;

    (void)state;
    reaction_init(&r, 40 * GBPS, "paper", 4);
    reaction_run(&r, 50 * PS_PER_US);
    assert_int_equal(r.n_cnps, 4);
    for (unsigned k = 1; k <= 4; k++) {
        compare("K29", "rate", k, r.at_cnp[k - 1].rate_gbps);
        compare("K29", "target", k, r.at_cnp[k - 1].target_gbps);
        assert_true(r.at_cnp[k - 1].alpha == 1);
    }
}

static void
recover(const char *preset, int64_t timer_us)
{
    struct reaction r;
    double within_us = 0;
    char name[64];

    reaction_init(&r, 100 * GBPS, preset, 1);
    r.params->initial_alpha_q32 = PARAM_ONE;
    if (!strcmp(preset, "mlx5")) {
        r.params->byte_counter_bytes = PARAM_SPECIAL;
    }
    assert_int_equal(r.params->rate_timer_ps, timer_us * PS_PER_US);
    r.every_ps = timer_us * PS_PER_US;
    r.n_to_look = 6;
    reaction_run(&r, (7 * timer_us + 10) * PS_PER_US);
    assert_int_equal(r.n_cnps, 1);
    compare("K30", "rate", 0, r.at_cnp[0].rate_gbps);
    for (unsigned k = 1; k <= 6; k++) {
        /* At the event, not before it. */
        assert_true(r.before[k].rate_gbps ==
                    (k == 1 ? r.at_cnp[0] : r.looks[k - 1]).rate_gbps);
        compare("K30", "rate", k, r.looks[k].rate_gbps);
        if (within_us == 0 && r.looks[k].rate_gbps >= 99) {
            within_us = (double)(k * timer_us);
        }
    }
    snprintf(name, sizeof name, "%s_within_1_percent_us", preset);
    known_equals("K30", name, within_us);
}

static void
test_k30_recovery(void **state)
{
    (void)state;
    recover("paper", 55);
    recover("mlx5", 300);
}

static void
test_k31_alpha(void **state)
{
    struct reaction r;
    double half = 0;

    (void)state;
    reaction_init(&r, 40 * GBPS, "paper", 1);
    assert_true(r.params->alpha_interval_ps == 55 * PS_PER_US &&
                r.params->g_q32 == PARAM_Q32(1, 256));
    r.every_ps = r.params->alpha_interval_ps;
    r.n_to_look = 256;
    reaction_run(&r, 257 * r.every_ps);
    assert_int_equal(r.n_cnps, 1);
    compare("K31", "alpha", 10, r.looks[10].alpha);
    compare("K31", "alpha", 100, r.looks[100].alpha);
    compare("K31", "alpha", 177, r.looks[177].alpha);
    compare("K31", "alpha", 256, r.looks[256].alpha);
    for (unsigned k = 1; k <= 256 && half == 0; k++) {
        double was = k == 1 ? 1 : r.looks[k - 1].alpha, is = r.looks[k].alpha;

        assert_true(r.before[k].alpha == was); /* at the tick, not between */
        if (is <= 0.5) {
            half = k - 1 + log(was / 0.5) / log(was / is);
        }
    }
    known_equals("K31", "half_updates", half);
    known_equals("K31", "half_ms", half * (double)r.every_ps / PS_PER_US / 1e3);
}

/* The NIC's alpha clock runs freely, 1 us from the first CNP on: a CNP counts at the next
 * tick.  A packet marked behind look 9 has its CNP back before tick 11. */
static void
test_k31_alpha_of_mlx5(void **state)
{
    struct reaction r;
    unsigned k = 2;

    (void)state;
    reaction_init(&r, 100 * GBPS, "mlx5", 1);
    r.every_ps = PS_PER_US;
    r.n_to_look = 20;
    r.mark_again_at = 9;
    reaction_run(&r, 40 * PS_PER_US);
    assert_int_equal(r.n_cnps, 2);
    known_equals("K31", "mlx5_after_cnp", r.looks[1].alpha);
    known_equals("K31", "mlx5_after_cnp_and_tick", r.looks[2].alpha);
    while (k < 20 && r.looks[k].alpha < r.looks[k - 1].alpha) {
        k++;
    }
    assert_int_equal(k, 11);
    known_equals("K31", "mlx5_after_second_cnp", r.looks[11].alpha);
}

static void
test_k32_additive_increase(void **state)
{
    struct reaction r;
    unsigned k = 4;

    (void)state;
    reaction_init(&r, 100 * GBPS, "paper", 4);
    r.params->byte_counter_bytes = PARAM_SPECIAL;
    assert_int_equal(r.params->ai_bps, GBPS / 25);
    r.every_ps = r.params->rate_timer_ps;
    r.n_to_look = 300;
    reaction_run(&r, 302 * r.every_ps);
    assert_int_equal(r.n_cnps, 4);
    assert_true(r.at_cnp[3].target_gbps == 12.5);
    /* Events 1 to F - 1 are fast recovery. */
    assert_true(r.looks[4].target_gbps == 12.5);
    assert_true(r.looks[5].target_gbps > 12.5);
    while (k < 300 && r.looks[k].target_gbps < 22.5) {
        k++;
    }
    known_equals("K32", "events_to_10_gbps", k - 4);
    known_equals("K32", "time_to_10_gbps_ms",
                 (double)((k - 4) * r.every_ps) / PS_PER_US / 1e3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k29_cnps_in_a_row),
        cmocka_unit_test(test_k30_recovery),
        cmocka_unit_test(test_k31_alpha),
        cmocka_unit_test(test_k31_alpha_of_mlx5),
        cmocka_unit_test(test_k32_additive_increase),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
