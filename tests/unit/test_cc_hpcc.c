/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_cc_hpcc.c - DCQCN's preset `hpcc-sim`: ticks, cuts, stages and rounding by examples,
 * and against a twin that runs every timer as an event and alpha as a floating number, as
 * that simulator does.
 *
 * Source: docs/hpcc.md, points 14 to 18, in brackets here.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/cc/cc.h"
#include "models/cc/cc_dcqcn.h"
#include "sim/rng.h"
#include "sim/units.h"

#define MBPS INT64_C(1000000)
#define GBPS INT64_C(1000000000)
#define US PS_PER_US

struct qp {
    const struct cc_ops *ops;
    struct dcqcn_params params;
    union {
        int64_t room[CC_STATE_BYTES / 8];
        struct dcqcn dcqcn;
    } cc;
    struct cc_out out;
};

static void
qp_init(struct qp *qp)
{
    const struct cc_env env = {.line_rate_bps = 100 * GBPS, .mtu_bytes = 1000};

    qp->ops = cc_find("dcqcn");
    cc_params_init(qp->ops, cc_preset_find(qp->ops, "hpcc-sim"), &qp->params);
    qp->ops->init(&qp->cc, &qp->params, &env, &qp->out);
}

static void
cnp(struct qp *qp, int64_t now_ps)
{
    qp->ops->on_cnp(&qp->cc, &qp->params, now_ps, &qp->out);
    qp->ops->check(&qp->cc, &qp->params);
}

static int64_t
rate_at(struct qp *qp, int64_t now_ps)
{
    qp->ops->sync(&qp->cc, &qp->params, now_ps, &qp->out);
    qp->ops->check(&qp->cc, &qp->params);
    return qp->out.rate_bps;
}

/* [19] The values of that simulator's run.py at 100 Gb/s. */
static void
preset_values(void **state)
{
    struct qp qp;

    (void)state;
    qp_init(&qp);
    assert_int_equal(qp.params.g_q32, INT64_C(1) << 24);
    assert_int_equal(qp.params.alpha_interval_ps, US);
    assert_int_equal(qp.params.decrease_interval_ps, 4 * US);
    assert_int_equal(qp.params.rate_timer_ps, 300 * US);
    assert_int_equal(qp.params.fast_recovery, 1);
    assert_int_equal(qp.params.ai_bps, 20 * MBPS);
    assert_int_equal(qp.params.hai_bps, 200 * MBPS);
    assert_int_equal(qp.params.min_rate_bps, 1000 * MBPS);
    assert_false(qp.params.clamp_target);
}

/* [15] The first CNP changes no rate: the first cut is 4 us and 1 ns after it, by an alpha
 * that has had four ticks without a CNP. */
static void
first_cnp(void **state)
{
    const int64_t t = 10 * US;
    double alpha = pow(255.0 / 256, 4);
    struct qp qp;

    (void)state;
    qp_init(&qp);
    assert_false(qp.out.limited);
    cnp(&qp, t);
    assert_int_equal(qp.out.rate_bps, 100 * GBPS);
    assert_true(qp.out.limited);
    assert_int_equal(rate_at(&qp, t + 4 * US), 100 * GBPS);
    assert_int_equal(rate_at(&qp, t + 4 * US + 999), 100 * GBPS);
    assert_true(
        llabs(rate_at(&qp, t + 4 * US + 1000) - (int64_t)(1e11 * (1 - alpha / 2))) <= 1);
    /* [17] No flag, no cut at the next tick. */
    assert_true(rate_at(&qp, t + 100 * US) == qp.out.rate_bps);
}

/* [16] Four CNPs, one in each tick of alpha: it stays 1 but for the first tick, whose flag
 * the first CNP does not set. */
static void
alpha_ticks(void **state)
{
    struct qp qp;

    (void)state;
    qp_init(&qp);
    cnp(&qp, 0);
    cnp(&qp, US / 2);
    cnp(&qp, US + US / 2);
    cnp(&qp, 2 * US + US / 2);
    cnp(&qp, 3 * US + US / 2);
    rate_at(&qp, 4 * US);
    assert_int_equal(qp.cc.dcqcn.alpha_q32, UINT64_C(1) << 32);
    assert_int_equal(rate_at(&qp, 4 * US + 1000), 50 * GBPS);
    qp_init(&qp);
    cnp(&qp, 0);
    rate_at(&qp, US);
    assert_int_equal(qp.cc.dcqcn.alpha_q32, (UINT64_C(1) << 32) - (UINT64_C(1) << 24));
    cnp(&qp, US); /* at the tick's time: after it */
    rate_at(&qp, 2 * US - 1);
    assert_int_equal(qp.cc.dcqcn.alpha_q32, (UINT64_C(1) << 32) - (UINT64_C(1) << 24));
}

/* [17] The target of a row of cuts stays, and is set anew once the rate has been raised. */
static void
targets(void **state)
{
    struct qp qp;

    (void)state;
    qp_init(&qp);
    cnp(&qp, 0);
    cnp(&qp, 5 * US);
    rate_at(&qp, 8 * US + 1000);
    assert_int_equal(qp.cc.dcqcn.target_bps, 100 * GBPS);
    int64_t low_bps = qp.out.rate_bps;

    assert_true(low_bps < 30 * GBPS);
    /* [18] 300 us after the last cut: fast recovery, rates halved apart. */
    assert_int_equal(rate_at(&qp, 308 * US + 999), low_bps);
    assert_int_equal(rate_at(&qp, 308 * US + 1000), low_bps / 2 + 50 * GBPS);
    int64_t before_bps = qp.out.rate_bps;

    cnp(&qp, 309 * US);
    rate_at(&qp, 312 * US + 1000);
    assert_int_equal(qp.cc.dcqcn.target_bps, before_bps);
    assert_true(qp.out.rate_bps < before_bps);
    /* CLAMP_TARGET_RATE: every cut. */
    qp_init(&qp);
    qp.params.clamp_target = true;
    cnp(&qp, 0);
    cnp(&qp, 5 * US);
    before_bps = rate_at(&qp, 8 * US + 999);
    rate_at(&qp, 8 * US + 1000);
    assert_int_equal(qp.cc.dcqcn.target_bps, before_bps);
}

/* [18] With one event of fast recovery: fast, AI, HAI, HAI, and target not above line. */
static void
phases(void **state)
{
    static const int64_t raised[] = {0, 20, 220, 420, 620};
    struct qp qp;

    (void)state;
    qp_init(&qp);
    qp.params.clamp_target = true;
    cnp(&qp, 0);
    cnp(&qp, 5 * US);
    rate_at(&qp, 8 * US + 1000);
    int64_t target_bps = qp.cc.dcqcn.target_bps;

    for (int i = 0; i < 5; i++) {
        int64_t before_bps = qp.out.rate_bps;
        int64_t now_ps = (308 + 300 * i) * US + 1000;

        rate_at(&qp, now_ps);
        assert_int_equal(qp.cc.dcqcn.target_bps, target_bps + raised[i] * MBPS);
        assert_int_equal(qp.out.rate_bps, before_bps / 2 + qp.cc.dcqcn.target_bps / 2);
    }
    /* A long rest costs no step a tick, and ends a bit below the line. */
    rate_at(&qp, 1000 * PS_PER_S);
    assert_int_equal(qp.cc.dcqcn.target_bps, 100 * GBPS);
    assert_in_range(qp.out.rate_bps, 100 * GBPS - 2, 100 * GBPS);
    assert_true(qp.cc.dcqcn.rate_due_ps > 1000 * PS_PER_S);
}

/* [17] Not below the least rate. */
static void
least_rate(void **state)
{
    struct qp qp;

    (void)state;
    qp_init(&qp);
    for (int64_t t = 0; t < 200 * US; t += US / 4) {
        cnp(&qp, t);
    }
    assert_int_equal(rate_at(&qp, 200 * US), 1000 * MBPS);
}

/* ---- the twin ---------------------------------------------------------------------- */

struct twin {
    const struct dcqcn_params *p;
    int64_t rate_bps, target_bps, line_bps;
    double alpha, g;
    bool alpha_flag, cut_flag, begun;
    int64_t alpha_at_ps, cut_at_ps, rate_at_ps;    /* next events */
    int64_t alpha_set_ps, cut_set_ps, rate_set_ps; /* when they were scheduled */
    int64_t stage, n_cuts;
};

static void
twin_cnp(struct twin *t, int64_t now_ps)
{
    t->alpha_flag = t->cut_flag = true;
    if (!t->begun) {
        t->begun = true;
        t->alpha = 1;
        t->alpha_flag = false;
        t->alpha_at_ps = now_ps + t->p->alpha_interval_ps;
        t->cut_at_ps = now_ps + t->p->decrease_interval_ps + 1000;
        t->alpha_set_ps = t->cut_set_ps = now_ps;
    }
}

static void
twin_cut(struct twin *t, int64_t now_ps)
{
    t->cut_at_ps = now_ps + t->p->decrease_interval_ps;
    t->cut_set_ps = now_ps;
    if (!t->cut_flag) {
        return;
    }
    if (t->p->clamp_target || t->stage != 0) {
        t->target_bps = t->rate_bps;
    }
    t->rate_bps = (int64_t)((double)t->rate_bps * (1 - t->alpha / 2));
    t->rate_bps = t->rate_bps < t->p->min_rate_bps ? t->p->min_rate_bps : t->rate_bps;
    t->stage = 0;
    t->n_cuts++;
    t->cut_flag = false;
    t->rate_at_ps = now_ps + t->p->rate_timer_ps;
    t->rate_set_ps = now_ps;
}

static void
twin_raise(struct twin *t, int64_t now_ps)
{
    t->rate_at_ps = now_ps + t->p->rate_timer_ps;
    t->rate_set_ps = now_ps;
    if (t->stage > t->p->fast_recovery) {
        t->target_bps += t->p->hai_bps;
    } else if (t->stage == t->p->fast_recovery) {
        t->target_bps += t->p->ai_bps;
    }
    t->target_bps = t->target_bps > t->line_bps ? t->line_bps : t->target_bps;
    t->rate_bps = t->rate_bps / 2 + t->target_bps / 2;
    t->stage++;
}

static void
twin_alpha(struct twin *t, int64_t now_ps)
{
    t->alpha = (1 - t->g) * t->alpha + (t->alpha_flag ? t->g : 0);
    t->alpha_flag = false;
    t->alpha_at_ps = now_ps + t->p->alpha_interval_ps;
    t->alpha_set_ps = now_ps;
}

/* Runs what is due up to 'now_ps', at one time in the order of scheduling. */
static void
twin_to(struct twin *t, int64_t now_ps)
{
    while (t->begun) {
        int64_t first_ps = t->alpha_at_ps;

        first_ps = t->cut_at_ps < first_ps ? t->cut_at_ps : first_ps;
        first_ps = t->rate_at_ps < first_ps ? t->rate_at_ps : first_ps;
        if (first_ps > now_ps) {
            return;
        }
        bool alpha = t->alpha_at_ps == first_ps, cut = t->cut_at_ps == first_ps,
             raise = t->rate_at_ps == first_ps;

        /* Alpha's ticks never meet those of cuts; they meet no rate tick that matters. */
        if (alpha) {
            twin_alpha(t, first_ps);
        } else if (raise && (!cut || t->rate_set_ps < t->cut_set_ps)) {
            twin_raise(t, first_ps);
        } else {
            twin_cut(t, first_ps);
        }
    }
}

static void
compare_with_twin(uint64_t seed, int64_t rate_timer_ps, int64_t mean_gap_ps)
{
    struct qp qp;

    qp_init(&qp);
    qp.params.rate_timer_ps = rate_timer_ps;
    struct twin twin = {.p = &qp.params,
                        .rate_bps = 100 * GBPS,
                        .target_bps = 100 * GBPS,
                        .line_bps = 100 * GBPS,
                        .g = 1.0 / 256,
                        .rate_at_ps = TIME_NEVER_PS};
    uint64_t key = rng_key(seed, "twin", "gaps");
    int64_t now_ps = 0;

    for (uint64_t n = 0; n < 4000; n++) {
        now_ps += 1 + (int64_t)rng_below(key, 2 * n, (uint64_t)(2 * mean_gap_ps));
        twin_to(&twin, now_ps);
        /* Alpha has 32 binary places here, rounded down at each tick: with g = 2^-8 it is
         * 2^-24 too small at most, and each cut leaves half as much too much. */
        int64_t most = 3 + (twin.n_cuts * twin.target_bps >> 25);

        assert_true(llabs(rate_at(&qp, now_ps) - twin.rate_bps) <= most);
        assert_true(llabs(qp.cc.dcqcn.target_bps - twin.target_bps) <= most);
        if (rng_below(key, 2 * n + 1, 3) == 0) {
            twin_cnp(&twin, now_ps);
            cnp(&qp, now_ps);
        }
    }
    assert_true(twin.begun);
}

static void
equals_its_twin(void **state)
{
    static const int64_t timers_us[] = {300, 900, 8, 4, 3},
                         gaps_ns[] = {300, 3000, 90000};

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        for (size_t i = 0; i < 5; i++) {
            for (size_t k = 0; k < 3; k++) {
                compare_with_twin(seed, timers_us[i] * US, gaps_ns[k] * PS_PER_NS);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preset_values),   cmocka_unit_test(first_cnp),
        cmocka_unit_test(alpha_ticks),     cmocka_unit_test(targets),
        cmocka_unit_test(phases),          cmocka_unit_test(least_rate),
        cmocka_unit_test(equals_its_twin),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
