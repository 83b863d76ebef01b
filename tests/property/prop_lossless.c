/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * prop_lossless.c - with the headroom that is computed nothing is lost: random networks,
 * rates, cables, reaction times, buffers and alphas, and traffic that fills them.
 */
#include <config.h>

#include "models/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sim/rng.h"
#include "tests/support/rig.h"

#define N_CASES 200

struct dice {
    uint64_t key, n;
};

static uint64_t
below(struct dice *dice, uint64_t bound)
{
    return rng_below(dice->key, dice->n++, bound);
}

static struct link_params
draw_link(struct dice *dice)
{
    static const int64_t gbps[] = {100, 25, 400, 7};

    return (struct link_params){.rate_bps = gbps[below(dice, 4)] * GBPS,
                                .delay_ps = (int64_t)below(dice, 1500) * PS_PER_NS};
}

static void
draw_params(struct rig *rig, struct dice *dice)
{
    rig->nic.mtu_bytes = 256 << below(dice, 5);
    rig->nic.ack_every = 1 + (int64_t)below(dice, 20);
    rig->nic.pfc_reaction_ps =
        below(dice, 2) ? (int64_t)below(dice, 500000) : REACTION_IEEE;
    rig->sw.pfc_reaction_ps =
        below(dice, 2) ? (int64_t)below(dice, 500000) : REACTION_IEEE;
    rig->sw.latency_ps = below(dice, 2) ? 300000 : 0;
    rig->sw.ingress_latency_ps = below(dice, 3) ? 0 : 200000;
    rig->sw.cut_through = below(dice, 2);
    rig->sw.reserved_bytes = below(dice, 2) ? 0 : 5000;
    rig->sw.alpha_q32 = (8 * PARAM_ONE) >> below(dice, 10);
}

/* From a frame to some hundred: what is shared runs full, and the frame that stops a peer often
 * finds it so. */
static void
shrink_buffers(struct net *net, struct dice *dice)
{
    for (uint32_t i = 0; i < net->n_switches; i++) {
        net->switches[i].buffer.shared_bytes =
            FRAME_MAX_BYTES +
            (int64_t)below(dice, 600000) / (1 + (int64_t)below(dice, 20));
    }
}

static void
one_case(uint64_t number, int64_t *n_stops)
{
    struct dice dice = {.key = rng_key(number, "prop_lossless", "case")};
    struct rig rig;

    rig_init(&rig, number);
    draw_params(&rig, &dice);
    uint32_t leaves = 1 + (uint32_t)below(&dice, 3);
    uint32_t per_leaf =
        leaves == 1 ? 3 + (uint32_t)below(&dice, 8) : 2 + (uint32_t)below(&dice, 3);
    struct link_params host = draw_link(&dice), fabric = draw_link(&dice);

    rig.sw.buffer_bytes = INT64_C(1) << 30;
    rig_leaf_spine(&rig, leaves * per_leaf, leaves, 1 + (uint32_t)below(&dice, 2), &host,
                   &fabric);
    rig_build(&rig);
    shrink_buffers(rig.net, &dice);
    uint32_t n_hosts = rig.net->n_hosts;
    uint32_t n_receivers = 1 + (uint32_t)below(&dice, 3);

    for (uint32_t i = 0; i < 3 * n_hosts; i++) {
        uint32_t dst = (uint32_t)below(&dice, n_receivers) % n_hosts;
        uint32_t src = (dst + 1 + (uint32_t)below(&dice, n_hosts - 1)) % n_hosts;

        rig_flow(&rig, src, dst, (int64_t)below(&dice, 300000),
                 (int64_t)below(&dice, 20) * PS_PER_US);
    }
    rig_start(&rig, PARTITION_ONE, 1);
    rig_run(&rig, 20 * PS_PER_MS);
    const struct rig_sums sums = rig_sum(&rig);

    if (sums.drops) {
        fail_msg("case %u: %lld drops", (unsigned)number, (long long)sums.drops);
    }
    assert_int_equal(sums.retransmitted, 0);
    assert_int_equal(rig.net->end, NET_END_DONE);
    *n_stops += sums.xoff_tx;
    rig_clear(&rig);
}

static void
nothing_is_lost(void **state)
{
    int64_t n_stops = 0;

    (void)state;
    for (uint64_t i = 0; i < N_CASES; i++) {
        one_case(i, &n_stops);
    }
    assert_true(n_stops > 10000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
