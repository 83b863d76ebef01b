/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * prop_ideal.c - the computed fct of a lone flow is the simulated one, to the picosecond,
 * over random rows of switches: sizes, rates, lengths, latencies, MTUs, ACK intervals,
 * store-and-forward and cut-through mixed, one way there and another one back.
 */
#include <config.h>

#include "models/ideal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sim/rng.h"
#include "tests/support/rig.h"

#define N_CASES 600

/* Draws of one case. */
struct dice {
    uint64_t key, n;
};

static uint64_t
below(struct dice *dice, uint64_t bound)
{
    return rng_below(dice->key, dice->n++, bound);
}

static int64_t
draw_rate(struct dice *dice)
{
    /* 3 and 7 Gb/s take no whole number of picoseconds a byte. */
    static const int64_t gbps[] = {100, 100, 100, 400, 200, 40, 25, 10, 3, 7, 800, 1};

    return gbps[below(dice, G_N_ELEMENTS(gbps))] * GBPS;
}

static struct link_params
draw_link(struct dice *dice)
{
    return (struct link_params){.rate_bps = draw_rate(dice),
                                .delay_ps =
                                    below(dice, 4) ? (int64_t)below(dice, 2000000) : 0};
}

static int64_t
draw_bytes(struct dice *dice, int64_t mtu_bytes)
{
    switch (below(dice, 6)) {
    case 0:
        return (int64_t)below(dice, 100);
    case 1:
        return mtu_bytes * (int64_t)below(dice, 5);
    case 2:
        return mtu_bytes * (int64_t)below(dice, 600) + 1;
    default:
        return (int64_t)below(dice, (uint64_t)mtu_bytes * 600);
    }
}

static void
draw_params(struct rig *rig, struct dice *dice)
{
    static const int64_t every[] = {1, 1, 2, 3, 16, 256};

    rig->nic.mtu_bytes = 256 << below(dice, 5);
    rig->nic.ack_every = every[below(dice, G_N_ELEMENTS(every))];
    rig->nic.latency_ps = below(dice, 2) ? (int64_t)below(dice, 1000000) : 0;
    rig->nic.ack_latency_ps = below(dice, 2) ? (int64_t)below(dice, 1000000) : 0;
    rig->nic.ip = below(dice, 2) ? 4 : 6;
    rig->nic.vlan = below(dice, 2);
    rig->nic.ack_timeout = 0;
    /* Nothing may be paused or dropped: an empty network has no need. */
    rig->nic.pfc = rig->sw.pfc = 0;
    rig->sw.buffer_bytes = INT64_C(1) << 36;
    rig->sw.latency_ps = below(dice, 3) ? (int64_t)below(dice, 1000000) : 0;
    rig->sw.ingress_latency_ps = below(dice, 3) ? 0 : (int64_t)below(dice, 100000);
}

/* Two rows of switches between the hosts, of one length, and cross-overs: the hash
 * decides about the way there and the way back.  At times the second row is so slow that
 * ACKs queue in it. */
static void
draw_ladder(struct rig *rig, struct dice *dice)
{
    struct net *net = rig->net;
    uint32_t n = (uint32_t)below(dice, 4);
    uint32_t before[2] = {net_add_host(net, "host0", 0), UINT32_MAX};
    uint32_t last = net_add_host(net, "host1", 0);
    uint32_t leaf0 = net_add_switch(net, "leaf0", 0, 1);
    uint32_t leaf1 = net_add_switch(net, "leaf1", 1, 1);
    bool second_is_slow = below(dice, 3) == 0;
    struct link_params link = draw_link(dice);

    net_add_link(net, before[0], leaf0, &link);
    before[0] = leaf0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t here[2];

        for (uint32_t k = 0; k < 2; k++) {
            g_autofree char *name = g_strdup_printf("spine%u", 2 * i + k);

            here[k] = net_add_switch(net, name, 2 + 2 * i + k, 2);
        }
        for (uint32_t k = 0; k < 4; k++) {
            link = draw_link(dice);
            if (second_is_slow) {
                link.rate_bps = k % 2 ? GBPS : 400 * GBPS;
            }
            if (before[k / 2] != UINT32_MAX) {
                net_add_link(net, before[k / 2], here[k % 2], &link);
            }
        }
        before[0] = here[0];
        before[1] = here[1];
    }
    for (uint32_t k = 0; k < 2; k++) {
        link = draw_link(dice);
        if (before[k] != UINT32_MAX) {
            net_add_link(net, before[k], leaf1, &link);
        }
    }
    link = draw_link(dice);
    net_add_link(net, leaf1, last, &link);
}

static void
one_case(uint64_t number)
{
    struct dice dice = {.key = rng_key(number, "prop_ideal", "case")};
    struct rig rig;

    rig_init(&rig, number);
    draw_params(&rig, &dice);
    draw_ladder(&rig, &dice);
    rig_params(&rig);
    for (uint32_t s = 0; s < rig.net->n_switches; s++) {
        rig.net->switch_params[s].cut_through = below(&dice, 2);
        rig.net->switch_params[s].latency_ps += (int64_t)below(&dice, 2) * 70001;
    }
    rig_build(&rig);
    struct rig_flow *flow =
        rig_flow(&rig, 0, 1, draw_bytes(&dice, rig.nic.mtu_bytes), 12345);

    flow->verb = (enum qp_verb)below(&dice, QP_READ + 1);
    rig_play(&rig);
    int64_t ideal_ps = net_ideal_verb_fct_ps(
        rig.net, flow->connection, flow->verb == QP_READ, flow->verb, flow->bytes);

    if (rig_fct_ps(flow) != ideal_ps) {
        fail_msg(
            "case %llu: verb %d, %lld B, MTU %lld, ACK every %lld: simulated %lld ps, "
            "computed %lld ps",
            (unsigned long long)number, (int)flow->verb, (long long)flow->bytes,
            (long long)rig.nic.mtu_bytes, (long long)rig.nic.ack_every,
            (long long)rig_fct_ps(flow), (long long)ideal_ps);
    }
    rig_clear(&rig);
}

static void
lone_flows(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < N_CASES; i++) {
        one_case(i);
    }
}

/* A WRITE of more than 1 GiB is two messages, posted together. */
static void
long_flows(void **state)
{
    const int64_t gib = INT64_C(1) << 30;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, 2, 100 * GBPS, 25 * PS_PER_NS);
    rig_build(&rig);
    struct rig_flow *first = rig_flow(&rig, 0, 1, gib, 0);
    struct rig_flow *second = rig_flow_on(&rig, first->connection, 0, 50000, 0);

    rig_play(&rig);
    int64_t fct_ps[3];

    for (int i = 0; i < 3; i++) {
        const int64_t bytes[] = {gib + 50000, 2 * gib, 10 * gib};

        fct_ps[i] = net_ideal_fct_ps(rig.net, first->connection, 0, bytes[i]);
    }
    assert_int_equal(rig_fct_ps(second), fct_ps[0]);
    /* 262144 packets a message, RETH in the first one of each. */
    assert_int_equal(fct_ps[2] - fct_ps[1], 8 * (262144 * INT64_C(4178) + 16) * 80);
    rig_clear(&rig);
}

/* What cannot get there has no ideal. */
static void
no_way(void **state)
{
    uint32_t ports[NET_MAX_HOPS];
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, 3, 100 * GBPS, 25 * PS_PER_NS);
    net_add_host(rig.net, "host3", 0);
    net_add_link(rig.net, net_add_switch(rig.net, "leaf1", 1, 1), 4,
                 &rig.net->links[0].params);
    rig_build(&rig);
    uint32_t there = net_connect(rig.net, 0, 0, 2, 0, 0);
    uint32_t nowhere = net_connect(rig.net, 0, 0, 3, 0, 0);

    rig_play(&rig);
    assert_int_equal(net_find_path(rig.net, there, 0, ports), 2);
    assert_int_equal(ports[0], rig_port(&rig, "host0", "leaf0")->id);
    assert_int_equal(ports[1], rig_port(&rig, "leaf0", "host2")->id);
    assert_int_equal(net_find_path(rig.net, there, 1, ports), 2);
    assert_int_equal(ports[0], rig_port(&rig, "host2", "leaf0")->id);
    assert_int_equal(ports[1], rig_port(&rig, "leaf0", "host0")->id);
    assert_int_equal(net_find_path(rig.net, nowhere, 0, ports), 0);
    assert_int_equal(net_ideal_fct_ps(rig.net, nowhere, 0, 1), TIME_NEVER_PS);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lone_flows),
        cmocka_unit_test(long_flows),
        cmocka_unit_test(no_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
