/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_cc_dcqcn.c - DCQCN's reaction point: known answers K29 to K32, each parameter by
 * what it changes, and a twin that runs every timer as an event.
 *
 * Source of the known answers: an independent model of SIGCOMM 2015, equations 1 to 4.
 */
#include <config.h>

#include "models/cc/cc_dcqcn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/cc/cc.h"

#define US INT64_C(1000000)
#define MBPS INT64_C(1000000)
#define GBPS INT64_C(1000000000)

/* A QP under DCQCN. */
struct rig {
    const struct cc_ops *ops;
    struct dcqcn_params params;
    union {
        int64_t room[CC_STATE_BYTES / 8];
        struct dcqcn dcqcn;
    } qp;
    struct cc_out out;
};

static void
rig_init(struct rig *rig, const char *preset, int64_t line_rate_bps)
{
    const struct cc_env env = {.line_rate_bps = line_rate_bps, .mtu_bytes = 4096};

    rig->ops = cc_find("dcqcn");
    cc_params_init(rig->ops, cc_preset_find(rig->ops, preset), &rig->params);
    rig->ops->init(&rig->qp, &rig->params, &env, &rig->out);
}

static void
rig_cnp(struct rig *rig, int64_t now_ps)
{
    rig->ops->on_cnp(&rig->qp, &rig->params, now_ps, &rig->out);
    rig->ops->check(&rig->qp, &rig->params);
}

static void
rig_send(struct rig *rig, int64_t now_ps, int32_t wire_bytes)
{
    assert_true(rig->out.limited);
    rig->ops->on_send(&rig->qp, &rig->params, now_ps, wire_bytes, &rig->out);
    rig->ops->check(&rig->qp, &rig->params);
}

static void
rig_sync(struct rig *rig, int64_t now_ps)
{
    rig->ops->sync(&rig->qp, &rig->params, now_ps, &rig->out);
    rig->ops->check(&rig->qp, &rig->params);
}

/* K29: k CNPs back to back, alpha 1, 40 Gb/s.  The target is the rate before the cut. */
static void
test_k29_back_to_back_cnps(void **state)
{
    static const int64_t rates_bps[] = {40 * GBPS, 20 * GBPS, 10 * GBPS, 5 * GBPS,
                                        2500 * MBPS};
    struct rig rig;

    (void)state;
    rig_init(&rig, "paper", 40 * GBPS);
    for (int k = 1; k <= 4; k++) {
        rig_cnp(&rig, 1000 * US + k);
        assert_int_equal(rig.out.rate_bps, rates_bps[k]);
        assert_int_equal(rig.qp.dcqcn.target_bps, rates_bps[k - 1]);
        assert_true(rig.out.limited);
    }
}

/* K30: one CNP at 100 Gb/s, alpha 1, then none: half of what is missing at each tick;
 * within 1 % of the line after the sixth. */
static void
check_k30(const char *preset, int64_t tick_ps)
{
    static const int64_t rates_bps[] = {50 * GBPS,    75 * GBPS,    87500 * MBPS,
                                        93750 * MBPS, 96875 * MBPS, 98437500000,
                                        99218750000};
    const int64_t cnp_ps = 123456789;
    struct rig rig;

    rig_init(&rig, preset, 100 * GBPS);
    rig.params.initial_alpha_q32 = PARAM_ONE;
    rig_cnp(&rig, cnp_ps);
    for (int k = 0; k <= 6; k++) {
        rig_sync(&rig, cnp_ps + k * tick_ps);
        assert_int_equal(rig.out.rate_bps, rates_bps[k]);
        assert_int_equal(rig.qp.dcqcn.target_bps, 100 * GBPS);
        rig_sync(&rig, cnp_ps + (k + 1) * tick_ps - 1);
        assert_int_equal(rig.out.rate_bps, rates_bps[k]);
    }
    assert_true(rig.out.limited);
    rig_sync(&rig, cnp_ps + 40 * tick_ps);
    assert_int_equal(rig.out.rate_bps, 100 * GBPS);
    assert_false(rig.out.limited);
}

static void
test_k30_recovery_paper(void **state)
{
    (void)state;
    check_k30("paper", 55 * US);
}

static void
test_k30_recovery_mlx5(void **state)
{
    (void)state;
    check_k30("mlx5", 300 * US);
}

/* The same recovery seen by the packets of the QP only. */
static void
test_k30_recovery_seen_by_packets(void **state)
{
    struct rig rig;
    int n_rises = 0;

    (void)state;
    rig_init(&rig, "paper", 100 * GBPS);
    rig.params.byte_counter_bytes = PARAM_SPECIAL;
    rig_cnp(&rig, 0);
    for (int64_t now_ps = 0; rig.out.limited; now_ps += US / 3) {
        int64_t before_bps = rig.out.rate_bps;

        rig_send(&rig, now_ps, 4178);
        if (rig.out.rate_bps != before_bps) {
            n_rises++;
            assert_in_range(now_ps, n_rises * 55 * US, n_rises * 55 * US + US / 3);
            assert_int_equal(rig.out.rate_bps, (before_bps + 100 * GBPS + 1) / 2);
        }
    }
    assert_int_equal(n_rises, 36); /* 50 Gb/s is below 2^36, above 2^35 */
}

/* K31: alpha_k = (1 - g)^k within 0.1 %; g = 1/256: half after 177.1
 * updates = 9.74 ms. */
static void
check_decay(struct rig *rig, double g, int64_t tick_ps, int64_t n_ticks)
{
    for (int64_t k = 0; k <= n_ticks; k++) {
        double expected = pow(1 - g, (double)k);

        rig_sync(rig, k * tick_ps);
        assert_true(fabs((double)rig->qp.dcqcn.alpha_q32 / 4294967296.0 - expected) <=
                    expected * 0.001);
    }
}

static void
test_k31_alpha_decay_paper(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "paper", 100 * GBPS);
    rig_cnp(&rig, 0);
    assert_int_equal(rig.qp.dcqcn.alpha_q32, PARAM_ONE);
    check_decay(&rig, 1.0 / 256, 55 * US, 1000);

    rig_init(&rig, "paper", 100 * GBPS);
    rig_cnp(&rig, 0);
    rig_sync(&rig, 177 * 55 * US);
    assert_true(rig.qp.dcqcn.alpha_q32 > PARAM_ONE / 2);
    rig_sync(&rig, 178 * 55 * US);
    assert_true(rig.qp.dcqcn.alpha_q32 < PARAM_ONE / 2);
}

/* K31, mlx5: 1019/1024 alpha at each tick, + 5/1024 at the tick after a CNP. */
static void
test_k31_alpha_mlx5(void **state)
{
    struct rig rig;
    double alpha = 1023.0 / 1024;

    (void)state;
    rig_init(&rig, "mlx5", 100 * GBPS);
    for (int k = 0; k < 2000; k++) {
        bool cnp = k % 7 < 2;

        if (cnp) {
            rig_cnp(&rig, k * US + US / 2);
        }
        rig_sync(&rig, (k + 1) * US + US / 2);
        alpha = (1019 * alpha + (cnp ? 5 : 0)) / 1024;
        assert_true(fabs((double)rig.qp.dcqcn.alpha_q32 / 4294967296.0 - alpha) <=
                    alpha * 0.001);
    }
    assert_int_equal(rig.params.g_q32 * 1024, 5 * PARAM_ONE);
}

/* Alpha reaches 0 and the time to find out is bounded, even after a day. */
static void
test_alpha_ends_at_zero(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "mlx5", 100 * GBPS);
    rig_cnp(&rig, 0);
    rig_cnp(&rig, 86400 * INT64_C(1000000) * US);
    assert_int_equal(rig.qp.dcqcn.alpha_q32, 0);
    assert_false(rig.out.limited); /* a cut by nothing */
    assert_int_equal(rig.out.rate_bps, 100 * GBPS);
}

/* K32: additive increase alone, target far below line: + 10 Gb/s after 250 events. */
static void
test_k32_additive_increase(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "paper", 400 * GBPS);
    rig.params.byte_counter_bytes = PARAM_SPECIAL;
    for (int k = 0; k < 6; k++) {
        rig_cnp(&rig, 0);
    }
    assert_int_equal(rig.qp.dcqcn.target_bps, 12500 * MBPS);
    rig_sync(&rig, 4 * 55 * US); /* F - 1 events of fast recovery */
    assert_int_equal(rig.qp.dcqcn.target_bps, 12500 * MBPS);
    rig_sync(&rig, (4 + 249) * 55 * US);
    assert_int_equal(rig.qp.dcqcn.target_bps, 12500 * MBPS + 249 * 40 * MBPS);
    rig_sync(&rig, (4 + 250) * 55 * US);
    assert_int_equal(rig.qp.dcqcn.target_bps, 22500 * MBPS);
    assert_true(rig.out.rate_bps >= 22500 * MBPS - 80 * MBPS);
}

/* A byte event needs 'byte_counter' bytes, counts from 0 again and moves the target by AI
 * once the stage is F. */
static void
test_byte_counter(void **state)
{
    struct rig rig;
    int64_t rate_bps;

    (void)state;
    rig_init(&rig, "paper", 100 * GBPS);
    rig.params.byte_counter_bytes = 10000;
    rig.params.fast_recovery = 2;
    rig_cnp(&rig, 0);
    rig_cnp(&rig, 1);
    rig_send(&rig, 2, 4999);
    rig_send(&rig, 3, 5000);
    assert_int_equal(rig.out.rate_bps, 25 * GBPS);
    rig_send(&rig, 4, 1);
    assert_int_equal(rig.out.rate_bps, 37500 * MBPS);
    rig_send(&rig, 5, 9999);
    assert_int_equal(rig.out.rate_bps, 37500 * MBPS);
    rig_send(&rig, 6, 1);
    assert_int_equal(rig.qp.dcqcn.target_bps, 50 * GBPS + 40 * MBPS);
    rate_bps = (37500 * MBPS + 50 * GBPS + 40 * MBPS) / 2;
    assert_int_equal(rig.out.rate_bps, rate_bps);

    rig_cnp(&rig, 7); /* resets the count */
    assert_int_equal(rig.qp.dcqcn.target_bps, rate_bps);
    rig_send(&rig, 8, 9999);
    assert_int_equal(rig.out.rate_bps, rate_bps / 2);

    rig.params.byte_counter_bytes = PARAM_SPECIAL;
    rig_send(&rig, 9, 2000000000);
    assert_int_equal(rig.out.rate_bps, rate_bps / 2);
}

/* Hyper increase: both stages past F; i x HAI or HAI. */
static void
check_hyper(bool by_stage)
{
    struct rig rig;
    int64_t target_bps;

    rig_init(&rig, "paper", 400 * GBPS);
    rig.params.byte_counter_bytes = 1000;
    rig.params.fast_recovery = 1;
    rig.params.hai_by_stage = by_stage;
    for (int k = 0; k < 6; k++) {
        rig_cnp(&rig, 0);
    }
    target_bps = rig.qp.dcqcn.target_bps;
    rig_sync(&rig, 3 * 55 * US); /* time stage 3: AI each, min is 0 */
    target_bps += 3 * 40 * MBPS;
    assert_int_equal(rig.qp.dcqcn.target_bps, target_bps);
    rig_send(&rig, 3 * 55 * US, 1000); /* byte stage 1 = F: AI */
    target_bps += 40 * MBPS;
    assert_int_equal(rig.qp.dcqcn.target_bps, target_bps);
    rig_send(&rig, 3 * 55 * US, 1000); /* byte stage 2: first hyper increase */
    target_bps += 200 * MBPS;
    assert_int_equal(rig.qp.dcqcn.target_bps, target_bps);
    rig_send(&rig, 3 * 55 * US, 1000); /* byte stage 3: second */
    target_bps += by_stage ? 400 * MBPS : 200 * MBPS;
    assert_int_equal(rig.qp.dcqcn.target_bps, target_bps);
}

static void
test_hyper_increase(void **state)
{
    (void)state;
    check_hyper(true);
    check_hyper(false);
}

/* mlx5: a CNP within 4 us of a cut cuts at the end of the 4 us, once. */
static void
test_decrease_interval(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "mlx5", 100 * GBPS);
    rig.params.initial_alpha_q32 = PARAM_ONE;
    rig.params.g_q32 = PARAM_Q32(1, 65536); /* alpha stays near 1 */
    rig_cnp(&rig, 0);
    assert_int_equal(rig.out.rate_bps, 50 * GBPS);
    rig_cnp(&rig, 1 * US);
    rig_cnp(&rig, 3 * US);
    rig_send(&rig, 4 * US - 1, 4178);
    assert_int_equal(rig.out.rate_bps, 50 * GBPS);
    rig_send(&rig, 4 * US, 4178);
    assert_in_range(rig.out.rate_bps, 25 * GBPS, 25 * GBPS + 2 * MBPS);
    rig_send(&rig, 100 * US, 4178);
    assert_in_range(rig.out.rate_bps, 25 * GBPS, 25 * GBPS + 2 * MBPS);
    rig_cnp(&rig, 104 * US);
    assert_in_range(rig.out.rate_bps, 12500 * MBPS, 12500 * MBPS + 20 * MBPS);
}

/* A waiting cut keeps the QP limited even at line rate. */
static void
test_waiting_cut_keeps_limited(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "mlx5", 100 * GBPS);
    rig.params.min_dec_factor_q32 = PARAM_ONE; /* no cut changes anything */
    rig_cnp(&rig, 0);
    assert_false(rig.out.limited);
    rig_cnp(&rig, 1 * US);
    assert_true(rig.out.limited);
    assert_int_equal(rig.out.rate_bps, 100 * GBPS);
    rig_send(&rig, 5 * US, 4178);
    assert_false(rig.out.limited);
}

static void
test_floors(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "paper", 100 * GBPS);
    rig.params.min_dec_factor_q32 = PARAM_Q32(3, 4);
    rig_cnp(&rig, 0);
    assert_int_equal(rig.out.rate_bps, 75 * GBPS);

    rig_init(&rig, "paper", 100 * GBPS);
    for (int k = 0; k < 40; k++) {
        rig_cnp(&rig, k);
    }
    assert_int_equal(rig.out.rate_bps, 10 * MBPS);

    rig_init(&rig, "paper", 1 * GBPS); /* the least rate never raises a rate */
    rig.params.min_rate_bps = 5 * GBPS;
    rig_cnp(&rig, 0);
    assert_int_equal(rig.out.rate_bps, 1 * GBPS);

    rig_init(&rig, "paper",
             100 * GBPS); /* gd 10: alpha, not alpha / 2; gd 12: alpha / 4 */
    rig.params.initial_alpha_q32 = PARAM_ONE / 4;
    rig.params.gd = 10;
    rig_cnp(&rig, 0);
    assert_int_equal(rig.out.rate_bps, 75 * GBPS);
    rig_init(&rig, "paper", 100 * GBPS);
    rig.params.gd = 12;
    rig_cnp(&rig, 0);
    assert_int_equal(rig.out.rate_bps, 75 * GBPS);
}

static void
test_first_cnp_rate(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "mlx5", 100 * GBPS);
    rig.params.first_cnp_rate_bps = 20 * GBPS;
    rig_cnp(&rig, 0);
    assert_int_equal(rig.out.rate_bps, 20 * GBPS);
    assert_int_equal(rig.qp.dcqcn.target_bps, 20 * GBPS);
    rig_cnp(&rig, 10 * US);
    assert_true(rig.out.rate_bps < 11 * GBPS);

    rig_init(&rig, "mlx5", 10 * GBPS);
    rig.params.first_cnp_rate_bps = 20 * GBPS;
    rig_cnp(&rig, 0);
    assert_int_equal(rig.out.rate_bps, 10 * GBPS);
}

/* Target after a second cut: by the clamps and by what raised the rate in between. */
static void
check_clamp(bool clamp, bool after_time, bool timed, bool byted, bool moves)
{
    struct rig rig;
    int64_t before_bps;

    rig_init(&rig, "paper", 100 * GBPS);
    rig.params.clamp_target = clamp;
    rig.params.clamp_target_after_time_inc = after_time;
    rig.params.byte_counter_bytes = 5000;
    rig_cnp(&rig, 0);
    if (timed) {
        rig_sync(&rig, 55 * US);
    }
    rig_send(&rig, 56 * US - 2 * US, byted ? 5000 : 4999);
    before_bps = rig.out.rate_bps;
    rig_cnp(&rig, 54 * US + (timed ? 2 * US : 0));
    assert_int_equal(rig.qp.dcqcn.target_bps, moves ? before_bps : 100 * GBPS);
}

static void
test_clamps(void **state)
{
    (void)state;
    check_clamp(true, false, false, false, true);
    check_clamp(false, false, false, false, false);
    check_clamp(false, true, false, false, false);
    check_clamp(false, false, true, false, false);
    check_clamp(false, true, true, false, true);
    check_clamp(false, false, false, true, true);
}

/* The twin: every tick is an event, run one at a time; written from docs/cc/dcqcn.md. */
struct twin {
    const struct dcqcn_params *p;
    int64_t line, rc, rt, sent;
    int64_t alpha_at, rate_at, cut_at; /* INT64_MAX: never */
    int64_t last_cut;
    uint64_t alpha;
    int64_t ti, bc;
    bool started, heard;
};

static void
twin_init(struct twin *w, const struct dcqcn_params *p, int64_t line)
{
    *w = (struct twin){.p = p,
                       .line = line,
                       .rc = line,
                       .rt = line,
                       .alpha_at = INT64_MAX,
                       .rate_at = INT64_MAX,
                       .cut_at = INT64_MAX};
}

static void
twin_alpha(struct twin *w, bool cnp)
{
    unsigned __int128 x =
        (unsigned __int128)w->alpha * (uint64_t)(PARAM_ONE - w->p->g_q32);

    w->alpha = (uint64_t)(x / (uint64_t)PARAM_ONE) + (cnp ? (uint64_t)w->p->g_q32 : 0);
}

static void
twin_raise(struct twin *w)
{
    int64_t f = w->p->fast_recovery;

    if (w->ti < f && w->bc < f) {
        /* fast recovery */
    } else if (w->ti > f && w->bc > f) {
        int64_t i = w->ti < w->bc ? w->ti - f : w->bc - f;

        w->rt += w->p->hai_bps * (w->p->hai_by_stage ? i : 1);
    } else {
        w->rt += w->p->ai_bps;
    }
    if (w->rt > w->line) {
        w->rt = w->line;
    }
    w->rc = w->rt - (w->rt - w->rc) / 2;
}

static void
twin_cut(struct twin *w, int64_t now)
{
    unsigned __int128 rc = (unsigned __int128)w->rc;
    uint64_t divisor = (uint64_t)PARAM_ONE << (w->p->gd - 10);
    int64_t rate = w->rc - (int64_t)(rc * w->alpha / divisor);
    int64_t share =
        (int64_t)(rc * (uint64_t)w->p->min_dec_factor_q32 / (uint64_t)PARAM_ONE);

    if (w->p->clamp_target || w->bc > 0 ||
        (w->p->clamp_target_after_time_inc && w->ti > 0)) {
        w->rt = w->rc;
    }
    rate = rate < share ? share : rate;
    if (rate < w->p->min_rate_bps) {
        rate = w->rc < w->p->min_rate_bps ? w->rc : w->p->min_rate_bps;
    }
    w->rc = rate;
    w->ti = w->bc = w->sent = 0;
    w->last_cut = now;
    w->rate_at = now + w->p->rate_timer_ps;
    w->cut_at = INT64_MAX;
}

static void
twin_run(struct twin *w, int64_t now)
{
    for (;;) {
        if (w->alpha_at <= now && w->alpha_at <= w->rate_at && w->alpha_at <= w->cut_at) {
            twin_alpha(w, w->heard);
            w->heard = false;
            w->alpha_at += w->p->alpha_interval_ps;
        } else if (w->rate_at <= now && w->rate_at <= w->cut_at) {
            w->ti++;
            twin_raise(w);
            w->rate_at += w->p->rate_timer_ps;
        } else if (w->cut_at <= now) {
            twin_cut(w, w->cut_at);
        } else {
            return;
        }
    }
}

static void
twin_cnp(struct twin *w, int64_t now)
{
    bool first = !w->started;

    twin_run(w, now);
    if (first) {
        w->started = true;
        w->alpha = (uint64_t)w->p->initial_alpha_q32;
        w->alpha_at = now + w->p->alpha_interval_ps;
        twin_cut(w, now);
        if (w->p->first_cnp_rate_bps >= 0) {
            w->rc = w->p->first_cnp_rate_bps;
            w->rc = w->rc < w->p->min_rate_bps ? w->p->min_rate_bps : w->rc;
            w->rc = w->rc > w->line ? w->line : w->rc;
            w->rt = w->rc;
        }
    } else if (now < w->last_cut + w->p->decrease_interval_ps) {
        w->cut_at = w->last_cut + w->p->decrease_interval_ps;
    } else {
        twin_cut(w, now);
    }
    if (w->p->alpha_update == DCQCN_ALPHA_AT_CNP) {
        twin_alpha(w, true);
        w->alpha_at = now + w->p->alpha_interval_ps;
    } else {
        w->heard = true;
    }
}

static void
twin_send(struct twin *w, int64_t now, int32_t bytes)
{
    twin_run(w, now);
    w->sent += bytes;
    if (w->p->byte_counter_bytes >= 0 && w->sent >= w->p->byte_counter_bytes) {
        w->sent = 0;
        w->bc++;
        twin_raise(w);
    }
}

static uint64_t
draw(uint64_t *x)
{
    *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17;
    return *x >> 11;
}

static int64_t
draw_of(uint64_t *x, const int64_t *values, size_t n)
{
    return values[draw(x) % n];
}

#define DRAW(x, ...)                                                                     \
    draw_of(x, (const int64_t[]){__VA_ARGS__},                                           \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Times from one grid, so that ticks, cuts, CNPs and packets often meet. */
static struct dcqcn_params
draw_params(uint64_t *x)
{
    return (struct dcqcn_params){
        .g_q32 =
            DRAW(x, PARAM_Q32(1, 256), PARAM_Q32(5, 1024), PARAM_Q32(1, 3), PARAM_ONE),
        .initial_alpha_q32 = DRAW(x, PARAM_ONE, PARAM_Q32(1023, 1024), PARAM_Q32(1, 7)),
        .alpha_interval_ps = DRAW(x, 1, 4, 5, 55) * US,
        .rate_timer_ps = DRAW(x, 1, 5, 55, 300) * US,
        .byte_counter_bytes = DRAW(x, PARAM_SPECIAL, 1000, 20000, 2097088),
        .fast_recovery = DRAW(x, 1, 2, 5),
        .ai_bps = DRAW(x, 1, 5, 40, 4000) * MBPS,
        .hai_bps = DRAW(x, 1, 50, 200, 100000) * MBPS,
        .min_rate_bps = DRAW(x, 1, 10, 30000) * MBPS,
        .gd = DRAW(x, 10, 11, 12),
        .min_dec_factor_q32 = DRAW(x, 0, PARAM_Q32(1, 2), PARAM_Q32(9, 10), PARAM_ONE),
        .decrease_interval_ps = DRAW(x, 0, 4, 5, 70) * US,
        .first_cnp_rate_bps = DRAW(x, PARAM_SPECIAL, PARAM_SPECIAL, MBPS, 7 * GBPS),
        .alpha_update = (int32_t)DRAW(x, DCQCN_ALPHA_AT_CNP, DCQCN_ALPHA_AT_TICK),
        .clamp_target = DRAW(x, 0, 1) != 0,
        .clamp_target_after_time_inc = DRAW(x, 0, 1) != 0,
        .hai_by_stage = DRAW(x, 0, 1) != 0,
    };
}

static void
assert_like_twin(const struct rig *rig, const struct twin *w)
{
    assert_int_equal(rig->out.rate_bps, w->rc);
    assert_int_equal(rig->qp.dcqcn.target_bps, w->rt);
    assert_int_equal(rig->out.limited, w->rc < w->line || w->cut_at != INT64_MAX);
    assert_int_equal(rig->out.window_bytes, 0);
}

/* One random history: the lazy state, the same with samples everywhere, and the twin. */
static void
check_history(uint64_t *x)
{
    const int64_t line_bps = DRAW(x, 10, 25, 100, 400) * GBPS;
    const int64_t step_us = DRAW(x, 1, 3, 60, 5000);
    struct rig lazy, sampled;
    struct twin twin;
    int64_t now_ps = (int64_t)(draw(x) % 1000000);

    rig_init(&lazy, "paper", line_bps);
    rig_init(&sampled, "paper", line_bps);
    lazy.params = sampled.params = draw_params(x);
    twin_init(&twin, &lazy.params, line_bps);
    for (int n = 0; n < 300; n++) {
        uint64_t what = draw(x) % 10;

        now_ps += (int64_t)(draw(x) % (uint64_t)(step_us + 1)) * US;
        now_ps += draw(x) % 4 == 0 ? (int64_t)(draw(x) % (uint64_t)US) : 0;
        rig_sync(&sampled, now_ps);
        twin_run(&twin, now_ps);
        assert_like_twin(&sampled, &twin);
        if (twin.started) {
            assert_int_equal(sampled.qp.dcqcn.alpha_q32, twin.alpha);
        }
        if (what < 3) {
            rig_cnp(&lazy, now_ps);
            rig_cnp(&sampled, now_ps);
            twin_cnp(&twin, now_ps);
            assert_like_twin(&lazy, &twin);
            assert_like_twin(&sampled, &twin);
            assert_int_equal(lazy.qp.dcqcn.alpha_q32, twin.alpha);
        } else if (what < 9 && lazy.out.limited) {
            int32_t wire_bytes = (int32_t)DRAW(x, 86, 1106, 4178);

            rig_send(&lazy, now_ps, wire_bytes);
            if (sampled.out.limited) {
                rig_send(&sampled, now_ps, wire_bytes);
            }
            twin_send(&twin, now_ps, wire_bytes);
            assert_like_twin(&lazy, &twin);
            assert_like_twin(&sampled, &twin);
        }
    }
}

static void
test_lazy_equals_eager_twin(void **state)
{
    uint64_t x = 88172645463325252u;

    (void)state;
    for (int n = 0; n < 400; n++) {
        check_history(&x);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k29_back_to_back_cnps),
        cmocka_unit_test(test_k30_recovery_paper),
        cmocka_unit_test(test_k30_recovery_mlx5),
        cmocka_unit_test(test_k30_recovery_seen_by_packets),
        cmocka_unit_test(test_k31_alpha_decay_paper),
        cmocka_unit_test(test_k31_alpha_mlx5),
        cmocka_unit_test(test_alpha_ends_at_zero),
        cmocka_unit_test(test_k32_additive_increase),
        cmocka_unit_test(test_byte_counter),
        cmocka_unit_test(test_hyper_increase),
        cmocka_unit_test(test_decrease_interval),
        cmocka_unit_test(test_waiting_cut_keeps_limited),
        cmocka_unit_test(test_floors),
        cmocka_unit_test(test_first_cnp_rate),
        cmocka_unit_test(test_clamps),
        cmocka_unit_test(test_lazy_equals_eager_twin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
