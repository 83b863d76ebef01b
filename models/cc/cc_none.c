/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cc_none.c - no congestion control: every QP sends at line rate, always.
 * The NIC sends data as Not-ECT, so nothing is marked and no CNP comes.
 *
 * Source: none needed; the reference against which the others are judged.
 * Invariant: never limited.
 */
#include <config.h>

#include "models/cc/cc.h"

#include <assert.h>

struct none {
    int64_t line_rate_bps;
};

static_assert(sizeof(struct none) <= CC_STATE_BYTES, "the state lives in the QP");

static void
none_answer(const struct none *s, struct cc_out *out)
{
    *out = (struct cc_out){
        .rate_bps = s->line_rate_bps, .window_bytes = 0, .limited = false};
}

static void
none_init(void *state, const void *params, const struct cc_env *env, struct cc_out *out)
{
    struct none *s = state;

    (void)params;
    s->line_rate_bps = env->line_rate_bps;
    none_answer(s, out);
}

static void
none_on_cnp(void *state, const void *params, int64_t now_ps, struct cc_out *out)
{
    (void)params, (void)now_ps;
    none_answer(state, out);
}

static void
none_sync(void *state, const void *params, int64_t now_ps, struct cc_out *out)
{
    (void)params, (void)now_ps;
    none_answer(state, out);
}

static void
none_check(const void *state, const void *params)
{
    const struct none *s = state;

    (void)params;
    assert(s->line_rate_bps > 0 && s->line_rate_bps <= CC_MAX_RATE_BPS);
    (void)s;
}

static const struct param none_params[] = {{.name = NULL}};

static const struct cc_override no_overrides[] = {{.name = NULL}};

static const struct cc_preset none_presets[] = {
    {.name = "default", .doc = "line rate, always", .overrides = no_overrides},
    {.name = NULL},
};

const struct cc_ops cc_none_ops = {
    .name = "none",
    .source = "no source needed",
    .doc = "no congestion control: line rate, data is Not-ECT",
    .needs = CC_NEEDS_NOTHING,
    .state_bytes = sizeof(struct none),
    .params_bytes = 0,
    .params = none_params,
    .presets = none_presets,
    .init = none_init,
    .on_cnp = none_on_cnp,
    .sync = none_sync,
    .check = none_check,
};
