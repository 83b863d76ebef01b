/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cc_dcqcn.c - DCQCN, the reaction point: cut at a CNP, recover by timer and byte
 * counter.  The notification point (when a CNP is sent) is the NIC's; the marking
 * is the switch's.
 *
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA
 * Deployments", SIGCOMM 2015,
 *     section 3.1, equations 1-4 (preset `paper`); Mellanox community DOC-2790 and NVIDIA
 *     DOCA "DCQCN CC Parameters" with the defaults of mlxconfig (preset `mlx5`);
 *     alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc, as told in docs/hpcc.md
 *     (preset `hpcc-sim`).
 *     docs/cc/dcqcn.md has the equations, the integer forms and what deviates.
 *
 * No timer is an event.  Three clocks run between looks: alpha, rate, and at most one cut
 * that waits for the decrease interval.  Alpha matters to a cut only, so it is caught
 * up at CNPs, cuts and samples; the rate clock is caught up at each packet.  What is
 * due at the same time happens in the order alpha, rate, cut, and before the CNP or
 * packet of that time.  (Cuts at ticks: cut, then rate, when the rate clock is no slower
 * than the ticks.)
 *
 * Invariants: min <= current <= target <= line rate (current below the minimum rate only
 *     if the line is); 0 <= alpha <= 1; current = line rate means that nothing runs but
 *     alpha.
 */
#include <config.h>

#include "models/cc/cc_dcqcn.h"

#include <assert.h>
#include <string.h>

#include "models/cc/cc.h"
#include "sim/units.h"

static_assert(sizeof(struct dcqcn) <= CC_STATE_BYTES, "the state lives in the QP");

/* Stages stop counting here, far above any 'fast_recovery': HAI x stage stays below
 * 2^37 x 2^20 = 2^57. */
enum { STAGE_MAX = 1 << 20 };

/* Ticks of cuts come this much after those of an alpha clock of the same period, so that
 * the order is plain: rdma-hw.cc, cnp_received_mlx(). */
#define CUT_TICK_OFFSET_PS (1 * PS_PER_NS)

static const uint64_t one_q32 = UINT64_C(1) << 32;

static int64_t
min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* (1 - g) alpha, rounded down so that it ends at 0 and not beside it.  33 x 32 bits: at
 * most 2^32 x (2^32 - 1), as g > 0. */
static uint64_t
alpha_decayed(uint64_t alpha_q32, const struct dcqcn_params *p)
{
    return (alpha_q32 * (one_q32 - (uint64_t)p->g_q32)) >> 32;
}

/* Catches the alpha clock up to 'now_ps'.  One step a tick, at most about 32 ln 2 / g
 * steps: 0 stays 0. */
static void
alpha_to(struct dcqcn *s, const struct dcqcn_params *p, int64_t now_ps)
{
    if (s->alpha_due_ps > now_ps) {
        return;
    }
    int64_t n_ticks = (now_ps - s->alpha_due_ps) / p->alpha_interval_ps + 1;

    s->alpha_due_ps += n_ticks * p->alpha_interval_ps;
    if (s->cnp_since_tick) {
        s->cnp_since_tick = false;
        s->alpha_q32 = alpha_decayed(s->alpha_q32, p) + (uint64_t)p->g_q32;
        n_ticks--;
    }
    for (; n_ticks > 0 && s->alpha_q32 > 0; n_ticks--) {
        s->alpha_q32 = alpha_decayed(s->alpha_q32, p);
    }
}

static int64_t
mean_bps(int64_t a_bps, int64_t b_bps, const struct dcqcn_params *p)
{
    return p->rounding == DCQCN_ROUND_DOWN ? a_bps / 2 + b_bps / 2
                                           : (a_bps + b_bps + 1) / 2;
}

/* The n-th increase event since the cut, from 1: fast recovery up to F, one additive
 * increase, then hyper increase, R_HAI or (n - F - 1) R_HAI. */
static void
increase_by_event(struct dcqcn *s, const struct dcqcn_params *p)
{
    int64_t before = (int64_t)s->time_stage + s->byte_stage - 1;
    int64_t past = before - p->fast_recovery;

    if (past > 0) {
        s->target_bps += p->hai_by_stage ? past * p->hai_bps : p->hai_bps;
    } else if (past == 0) {
        s->target_bps += p->ai_bps;
    }
}

/* One increase event, its stage already counted (SIGCOMM'15, equations 3 and 4):
 *     max(T, BC) < F:  fast recovery
 *     min(T, BC) > F:  hyper increase,    R_T += R_HAI, or i R_HAI
 *     else:            additive increase, R_T += R_AI
 *     R_C = (R_C + R_T) / 2, rounded up so that it reaches R_T. */
static void
increase(struct dcqcn *s, const struct dcqcn_params *p)
{
    int64_t t = s->time_stage, b = s->byte_stage;
    int64_t most = max64(t, b), least = min64(t, b);

    if (p->stages == DCQCN_STAGES_EVENT) {
        increase_by_event(s, p);
    } else if (least > p->fast_recovery) {
        s->target_bps +=
            p->hai_by_stage ? (least - p->fast_recovery) * p->hai_bps : p->hai_bps;
    } else if (most >= p->fast_recovery) {
        s->target_bps += p->ai_bps;
    }
    s->target_bps = min64(s->target_bps, s->line_rate_bps);
    s->rate_bps = mean_bps(s->rate_bps, s->target_bps, p);
}

/* Catches the rate clock up to 'now_ps'.  Ends early at line rate, where a tick changes
 * nothing that a cut would not reset: at most line rate / AI + 42 steps. */
static void
rate_to(struct dcqcn *s, const struct dcqcn_params *p, int64_t now_ps)
{
    while (s->rate_due_ps <= now_ps && s->rate_bps < s->line_rate_bps) {
        int64_t before_bps = s->rate_bps;

        s->rate_due_ps += p->rate_timer_ps;
        s->time_stage += s->time_stage < STAGE_MAX;
        increase(s, p);
        /* Rounded down it stays a bit below the line: then only the clock goes on. */
        if (s->rate_bps == before_bps && s->target_bps == s->line_rate_bps &&
            s->rate_due_ps <= now_ps) {
            s->rate_due_ps +=
                ((now_ps - s->rate_due_ps) / p->rate_timer_ps + 1) * p->rate_timer_ps;
        }
    }
}

/* Cuts the rate with the alpha of now and restarts the rate clock and the counters. */
static void
cut(struct dcqcn *s, const struct dcqcn_params *p, int64_t now_ps)
{
    /* 802.1Q QCN moves the target only after a byte event; the clamps add to that. */
    if (p->clamp_target || s->byte_stage > 0 ||
        (p->clamp_target_after_time_inc && s->time_stage > 0)) {
        s->target_bps = s->rate_bps;
    }
    /* R_C (1 - alpha / 2): 42 x 33 bits need the wide product; the loss is
     * rounded against the rate. */
    int64_t before_bps = s->rate_bps;
    unsigned shift = (unsigned)(32 + p->gd - 10);
    unsigned __int128 loss = (unsigned __int128)before_bps * s->alpha_q32;

    if (p->rounding == DCQCN_ROUND_DOWN) {
        loss += ((unsigned __int128)1 << shift) - 1;
    }
    int64_t loss_bps = (int64_t)(loss >> shift);
    int64_t least_bps =
        (int64_t)(((unsigned __int128)before_bps * (uint64_t)p->min_dec_factor_q32) >>
                  32);

    s->rate_bps = max64(max64(before_bps - loss_bps, least_bps),
                        min64(before_bps, p->min_rate_bps));
    s->last_cut_ps = now_ps;
    s->rate_due_ps = now_ps + p->rate_timer_ps;
    s->time_stage = s->byte_stage = 0;
    s->sent_bytes = 0;
    s->cut_waits = false;
}

/* Does a waiting cut that is due, then catches the rate clock up.  Of two clocks that tick
 * at once the slower one goes first: its event was set earlier. */
static void
advance(struct dcqcn *s, const struct dcqcn_params *p, int64_t now_ps)
{
    if (s->cut_waits && s->cut_due_ps <= now_ps) {
        int64_t due_ps = s->cut_due_ps;
        bool cut_first =
            p->cut_at == DCQCN_CUT_AT_TICK && p->rate_timer_ps <= p->decrease_interval_ps;

        alpha_to(s, p, due_ps);
        rate_to(s, p, due_ps - cut_first);
        cut(s, p, due_ps);
    }
    rate_to(s, p, now_ps);
}

/* The first tick for cuts after 'now_ps'. */
static int64_t
next_cut_tick_ps(const struct dcqcn *s, const struct dcqcn_params *p, int64_t now_ps)
{
    int64_t period_ps = max64(p->decrease_interval_ps, 1);
    int64_t first_ps = s->first_cnp_ps + period_ps + CUT_TICK_OFFSET_PS;

    return now_ps < first_ps
               ? first_ps
               : first_ps + ((now_ps - first_ps) / period_ps + 1) * period_ps;
}

/* A CNP that is not the first, or cuts though it is. */
static void
cut_for_cnp(struct dcqcn *s, const struct dcqcn_params *p, int64_t now_ps, bool first)
{
    if (p->cut_at == DCQCN_CUT_AT_TICK) {
        if (!s->cut_waits) {
            s->cut_due_ps = next_cut_tick_ps(s, p, now_ps);
            s->cut_waits = true;
        }
    } else if (!first && now_ps - s->last_cut_ps < p->decrease_interval_ps) {
        s->cut_due_ps = s->last_cut_ps + p->decrease_interval_ps;
        s->cut_waits = true;
    } else {
        cut(s, p, now_ps);
    }
}

static void
answer(const struct dcqcn *s, struct cc_out *out)
{
    out->rate_bps = s->rate_bps;
    out->window_bytes = 0;
    out->limited = s->rate_bps < s->line_rate_bps || s->cut_waits;
}

static void
dcqcn_init(void *state, const void *params, const struct cc_env *env, struct cc_out *out)
{
    struct dcqcn *s = state;

    (void)params;
    memset(s, 0, sizeof *s);
    s->line_rate_bps = s->rate_bps = s->target_bps = env->line_rate_bps;
    answer(s, out);
}

static void
dcqcn_on_cnp(void *state, const void *params, int64_t now_ps, struct cc_out *out)
{
    struct dcqcn *s = state;
    const struct dcqcn_params *p = params;
    bool first = !s->had_cnp;

    if (first) {
        s->had_cnp = true;
        s->first_cnp_ps = now_ps;
        s->alpha_q32 = (uint64_t)p->initial_alpha_q32;
        s->alpha_due_ps = now_ps + p->alpha_interval_ps;
    } else {
        advance(s, p, now_ps);
        alpha_to(s, p, now_ps);
    }

    cut_for_cnp(s, p, now_ps, first);
    if (first && p->first_cnp_rate_bps != PARAM_SPECIAL) {
        int64_t rate_bps = max64(p->first_cnp_rate_bps, p->min_rate_bps);

        s->rate_bps = s->target_bps = min64(rate_bps, s->line_rate_bps);
        /* The rate clock starts with a cut. */
        if (s->cut_waits) {
            s->rate_due_ps = TIME_NEVER_PS;
        }
    }

    switch ((enum dcqcn_alpha_update)p->alpha_update) {
    case DCQCN_ALPHA_AT_CNP: /* alpha = (1 - g) alpha + g, after the cut (equation 1) */
        s->alpha_q32 = alpha_decayed(s->alpha_q32, p) + (uint64_t)p->g_q32;
        s->alpha_due_ps = now_ps + p->alpha_interval_ps;
        break;
    case DCQCN_ALPHA_AT_TICK:
        /* With cuts at ticks the first CNP has set alpha, and counts no more. */
        s->cnp_since_tick = !first || p->cut_at != DCQCN_CUT_AT_TICK;
        break;
    }
    answer(s, out);
}

static void
dcqcn_on_send(void *state, const void *params, int64_t now_ps, int32_t wire_bytes,
              struct cc_out *out)
{
    struct dcqcn *s = state;
    const struct dcqcn_params *p = params;

    advance(s, p, now_ps);
    s->sent_bytes += wire_bytes;
    if (s->sent_bytes >= p->byte_counter_bytes &&
        p->byte_counter_bytes != PARAM_SPECIAL && s->rate_bps < s->line_rate_bps) {
        s->sent_bytes = 0;
        s->byte_stage += s->byte_stage < STAGE_MAX;
        increase(s, p);
    }
    answer(s, out);
}

static void
dcqcn_sync(void *state, const void *params, int64_t now_ps, struct cc_out *out)
{
    struct dcqcn *s = state;

    if (s->had_cnp) {
        advance(s, params, now_ps);
        alpha_to(s, params, now_ps);
    }
    answer(s, out);
}

static int64_t
dcqcn_next_ps(const void *state, const void *params)
{
    const struct dcqcn *s = state;
    int64_t next_ps = s->rate_bps < s->line_rate_bps ? s->rate_due_ps : TIME_NEVER_PS;

    if (s->cut_waits) {
        next_ps = min64(next_ps, s->cut_due_ps);
    }
    (void)params;
    return next_ps;
}

static void
dcqcn_check(const void *state, const void *params)
{
    const struct dcqcn *s = state;
    const struct dcqcn_params *p = params;

    assert(s->rate_bps > 0 && s->rate_bps <= s->target_bps);
    assert(s->target_bps <= s->line_rate_bps && s->line_rate_bps <= CC_MAX_RATE_BPS);
    assert(s->rate_bps >=
           min64(p->min_rate_bps, s->line_rate_bps) - (p->rounding == DCQCN_ROUND_DOWN));
    assert(s->alpha_q32 <= one_q32);
    assert(s->had_cnp || s->rate_bps == s->line_rate_bps);
    assert(!s->cut_waits || p->decrease_interval_ps > 0 ||
           p->cut_at == DCQCN_CUT_AT_TICK);
    (void)s, (void)p;
}

const struct cc_ops cc_dcqcn_ops = {
    .name = "dcqcn",
    .source = "Zhu et al., SIGCOMM 2015, section 3.1",
    .doc = "rate control by CNP: ECN marks at switches, cuts and recovery at senders",
    .needs = CC_NEEDS_ECN,
    .state_bytes = sizeof(struct dcqcn),
    .params_bytes = sizeof(struct dcqcn_params),
    .params = dcqcn_param_table,
    .presets = dcqcn_preset_table,
    .init = dcqcn_init,
    .on_cnp = dcqcn_on_cnp,
    .on_send = dcqcn_on_send,
    .sync = dcqcn_sync,
    .next_ps = dcqcn_next_ps,
    .check = dcqcn_check,
};
