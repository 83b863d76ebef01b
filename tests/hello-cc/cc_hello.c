/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cc_hello.c - the smallest congestion control that does something: half the rate at each
 * CNP or timeout, back to line rate after 'calm' without one.  An example and a
 * test, not a protocol.
 *
 * Source: made up.
 * Invariant: 1 Mb/s <= rate <= line rate.
 */
#include <config.h>

#include "models/cc/cc.h"

#include <assert.h>

struct hello_params {
    int64_t calm_ps;
};

struct hello {
    int64_t rate_bps, line_rate_bps;
    int64_t last_ps; /* last bad news; valid while rate < line */
};

static_assert(sizeof(struct hello) <= CC_STATE_BYTES, "the state lives in the QP");

static void
hello_sync(void *state, const void *params, int64_t now_ps, struct cc_out *out)
{
    struct hello *s = state;
    const struct hello_params *p = params;

    if (s->rate_bps < s->line_rate_bps && now_ps - s->last_ps >= p->calm_ps) {
        s->rate_bps = s->line_rate_bps;
    }
    *out = (struct cc_out){.rate_bps = s->rate_bps,
                           .limited = s->rate_bps < s->line_rate_bps};
}

static void
hello_init(void *state, const void *params, const struct cc_env *env, struct cc_out *out)
{
    struct hello *s = state;

    *s = (struct hello){.rate_bps = env->line_rate_bps,
                        .line_rate_bps = env->line_rate_bps};
    hello_sync(s, params, 0, out);
}

static void
hello_bad_news(void *state, const void *params, int64_t now_ps, struct cc_out *out)
{
    struct hello *s = state;

    hello_sync(s, params, now_ps, out);
    s->rate_bps = s->rate_bps / 2 > 1000000 ? s->rate_bps / 2 : 1000000;
    s->last_ps = now_ps;
    hello_sync(s, params, now_ps, out);
}

static void
hello_on_send(void *state, const void *params, int64_t now_ps, int32_t wire_bytes,
              struct cc_out *out)
{
    (void)wire_bytes;
    hello_sync(state, params, now_ps, out);
}

static void
hello_check(const void *state, const void *params)
{
    const struct hello *s = state;

    (void)params;
    assert(s->rate_bps > 0 && s->rate_bps <= s->line_rate_bps);
    (void)s;
}

static const struct param hello_params[] = {
    {.name = "calm",
     .kind = PARAM_TIME,
     .offset = offsetof(struct hello_params, calm_ps),
     .unit = "us",
     .def = INT64_C(100000000),
     .min = INT64_C(1000000),
     .max = INT64_C(1000000000000),
     .source = "made up",
     .doc = "time without bad news until the rate is the line's again",
     .guess = true},
    {.name = NULL},
};

static const struct cc_override no_overrides[] = {{.name = NULL}};

static const struct cc_preset hello_presets[] = {
    {.name = "default",
     .doc = "hello, world",
     .cnp_interval_ps = INT64_C(50000000),
     .cnp_interval_source = "made up",
     .overrides = no_overrides},
    {.name = NULL},
};

const struct cc_ops cc_hello_ops = {
    .name = "hello",
    .source = "made up",
    .doc = "half the rate at each CNP, full rate after a calm",
    .needs = CC_NEEDS_ECN,
    .state_bytes = sizeof(struct hello),
    .params_bytes = sizeof(struct hello_params),
    .params = hello_params,
    .presets = hello_presets,
    .init = hello_init,
    .on_cnp = hello_bad_news,
    .on_send = hello_on_send,
    .on_timeout = hello_bad_news,
    .sync = hello_sync,
    .check = hello_check,
};
