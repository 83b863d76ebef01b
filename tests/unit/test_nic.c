/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_nic.c - what a NIC sends when: goodput, turns of queue pairs, windows, pace,
 * notifications of marks, answers before data.
 * K1 to K6, K28 name rows of the known answers in docs/validation.md.
 */
#include <config.h>

#include "models/nic/nic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/rig.h"

#define DELAY (25 * PS_PER_NS)
#define MBPS (GBPS / 1000)

/* Payload rate of a flow over its last part, by two flows of different length, Gb/s. */
static double
goodput_gbps(int64_t rate_bps, int64_t mtu_bytes, int ip, bool vlan)
{
    int64_t received_ps[2];

    for (int i = 0; i < 2; i++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.mtu_bytes = mtu_bytes;
        rig.nic.ip = ip;
        rig.nic.vlan = vlan;
        rig_star(&rig, 2, rate_bps, DELAY);
        rig_build(&rig);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, (1 + i) * 512 * mtu_bytes, 0);

        rig_play(&rig);
        received_ps[i] = flow->received_ps;
        rig_clear(&rig);
    }
    return 512.0 * (double)mtu_bytes * 8000 / (double)(received_ps[1] - received_ps[0]);
}

static void
expect_near(double value, double expected, double share)
{
    if (fabs(value - expected) > share * expected) {
        fail_msg("%g; expected %g within %g %%", value, expected, 100 * share);
    }
}

static void
k1_k2_k3_goodput(void **state)
{
    (void)state;
    expect_near(goodput_gbps(100 * GBPS, 4096, 4, false), 98.037, 0.0005);
    expect_near(goodput_gbps(200 * GBPS, 4096, 4, false), 196.075, 0.0005);
    expect_near(goodput_gbps(400 * GBPS, 4096, 4, false), 392.149, 0.0005);
    expect_near(goodput_gbps(800 * GBPS, 4096, 4, false), 784.299, 0.0005);
    expect_near(goodput_gbps(100 * GBPS, 256, 4, false), 75.740, 0.0005);
    expect_near(goodput_gbps(100 * GBPS, 512, 4, false), 86.195, 0.0005);
    expect_near(goodput_gbps(100 * GBPS, 1024, 4, false), 92.586, 0.0005);
    expect_near(goodput_gbps(100 * GBPS, 2048, 4, false), 96.150, 0.0005);
    expect_near(goodput_gbps(100 * GBPS, 4096, 6, false), 97.570, 0.0005);
    expect_near(goodput_gbps(100 * GBPS, 1024, 6, false), 90.941, 0.0005);
    expect_near(goodput_gbps(100 * GBPS, 4096, 4, true), 97.944, 0.0005);
}

/* K4: bytes on the wire and time of 1 MiB. */
static void
k4_one_mib(void **state)
{
    const int64_t mtu[] = {4096, 1024};
    const int64_t n_pkts[] = {256, 1024}, wire[] = {1069584, 1132560};
    const int64_t wire_ps[] = {85566720, 90604800};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct link_params link = {.rate_bps = 100 * GBPS};
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.mtu_bytes = mtu[i];
        net_add_host(rig.net, "host0", 0); /* back to back */
        net_add_host(rig.net, "host1", 0);
        net_add_link(rig.net, 0, 1, &link);
        rig_build(&rig);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 1 << 20, 0);

        rig_play(&rig);
        const struct out_class *out = &rig.net->ports[0].out[3];

        assert_int_equal(out->tx_pkts, n_pkts[i]);
        assert_int_equal(out->tx_bytes + 20 * out->tx_pkts, wire[i]);
        assert_int_equal(flow->received_ps + 12 * 80, wire_ps[i]);
        rig_clear(&rig);
    }
}

/* K5: what ACKs take of the way back, and of data on it: 96.06 Gb/s each. */
static void
k5_acks(void **state)
{
    struct rig rig;

    (void)state;
    for (int every = 1; every <= 256; every += 255) {
        rig_init(&rig, 1);
        rig.nic.ack_every = every;
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        rig_build(&rig);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 2560 * 4096, 0);

        rig_play(&rig);
        const struct out_class *back = &rig_port(&rig, "host1", "leaf0")->out[3];

        assert_int_equal(back->tx_bytes, back->tx_pkts * 66);
        expect_near((double)back->tx_pkts * 86 * 8000 / (double)flow->received_ps,
                    every == 1 ? 2.058 : 0.00804, 0.002);
        rig_clear(&rig);
    }
    rig_init(&rig, 1);
    rig.nic.ack_every = 1;
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    struct rig_flow *there = rig_flow(&rig, 0, 1, 10000 * 4096, 0);
    struct rig_flow *back = rig_flow(&rig, 1, 0, 10000 * 4096, 0);

    rig_play(&rig);
    expect_near(1e4 * 4096 * 8000 / (double)there->received_ps, 96.06, 0.002);
    expect_near(1e4 * 4096 * 8000 / (double)back->received_ps, 96.06, 0.002);
    rig_clear(&rig);
}

/* K6: sizes with FCS. */
static void
k6_sizes(void **state)
{
    (void)state;
    assert_int_equal(packet_frame_bytes(0, AETH_BYTES, IPV4_BYTES, 0), 66);
    assert_int_equal(packet_frame_bytes(0, CNP_PAD_BYTES, IPV4_BYTES, 0), 78);
    assert_int_equal(packet_frame_bytes(4096, 0, IPV4_BYTES, 0), 4158);
    assert_int_equal(packet_frame_bytes(4096, RETH_BYTES, IPV4_BYTES, 0), 4174);
    assert_int_equal(packet_frame_bytes(1, 0, IPV4_BYTES, 0), 66); /* padded to 4 */
    assert_int_equal(packet_frame_bytes(4096, 0, IPV6_BYTES, VLAN_BYTES), 4182);
    assert_int_equal(PFC_FRAME_BYTES, 64);
    assert_int_equal(PFC_FRAME_BYTES + WIRE_EXTRA_BYTES, 84);
}

/* Queue pairs take turns packet by packet: flows of one size end one slot apart, one that
 * comes later gets its share at once. */
static void
turns(void **state)
{
    enum { N = 5 };
    struct rig_flow *flows[N], *late;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, N + 1, 100 * GBPS, DELAY);
    rig_build(&rig);
    for (uint32_t i = 0; i < N; i++) {
        flows[i] = rig_flow(&rig, 0, 1 + i, 100 * 4096, 0);
    }
    late = rig_flow(&rig, 0, 1, 20 * 4096, 50 * PS_PER_US);
    rig_play(&rig);
    /* The first one posted has sent a packet, and stands in the ring again, before the
     * second one is posted. */
    assert_int_equal(flows[1]->received_ps - flows[0]->received_ps, N * 4178 * 80);
    for (int i = 2; i < N; i++) {
        assert_int_equal(flows[i]->received_ps - flows[i - 1]->received_ps, 4178 * 80);
    }
    /* 20 packets, 6 sharing: 120 slots, one more or less. */
    assert_true(llabs(late->received_ps - late->start_ps - 120 * 4178 * 80) <
                6 * 4178 * 80);
    rig_clear(&rig);
}

/* A window of one packet sends one a round trip; larger ones as many, up to line rate. */
static void
windows(void **state)
{
    const int64_t slot_ps = 4178 * 80;

    (void)state;
    for (int64_t window = 1; window <= 8; window++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.max_inflight = window;
        rig.nic.ack_every = 1;
        rig_star(&rig, 2, 100 * GBPS, 150 * PS_PER_NS);
        rig_build(&rig);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 101 * 4096, 0);
        struct rig_flow *two = rig_flow_on(&rig, flow->connection, 0, 200 * 4096, 0);

        rig_play(&rig);
        /* There and back: two links of 4166 + 12 left out and of 74 bytes, four times
         * 150 ns, twice 300. */
        int64_t rtt_ps = 2 * 4166 * 80 + 2 * 74 * 80 + 4 * 150000 + 2 * 300000;
        int64_t n_rtt = rtt_ps > window * slot_ps ? rtt_ps : window * slot_ps;

        /* 200 packets of the second message, RETH once. */
        int64_t took_ps = two->sent_ps - flow->sent_ps;

        assert_true(llabs(took_ps - 200 * n_rtt / window) < 2 * n_rtt);
        if (window == 1) {
            assert_int_equal(took_ps, 200 * rtt_ps + 2 * 16 * 80);
        }
        rig_clear(&rig);
    }
}

/* An ACK is asked for by every n-th packet and the last one of a message. */
static void
ack_every(void **state)
{
    const int64_t every[] = {1, 2, 7, 256};
    const int64_t n_acks[] = {100, 50, 15, 1};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.ack_every = every[i];
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        rig_build(&rig);
        rig_flow(&rig, 0, 1, 100 * 4096, 0);
        rig_play(&rig);
        assert_int_equal(rig.net->nics[1].acks_sent, n_acks[i]);
        assert_int_equal(rig_port(&rig, "host1", "leaf0")->out[3].tx_pkts, n_acks[i]);
        rig_clear(&rig);
    }
}

/* ACKs that the wire holds up become one for the newest request; each still in time. */
static void
acks_are_joined(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_every = 1;
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    struct rig_flow *flow = rig_flow(&rig, 0, 1, 300 * 4096, 0);
    struct port *port = rig_port(&rig, "host1", "leaf0");

    rig_start(&rig, PARTITION_ONE, 1);
    port->turn[3].pause_until_ps = 80 * PS_PER_US;
    port->turn[3].pause_timer = true;
    port->paused |= 1 << 3;
    lp_at(
        &rig.net->sim->lps[0], 80 * PS_PER_US,
        event_key(PHASE_TIMER, (uint64_t)port->id * N_CLASSES + 3, KIND_PAUSE_END, true),
        port);
    rig_run(&rig, TIME_NEVER_PS);
    /* Frame k is there 1 us and k x 334.24 ns after the start: 237 by 80 us, one ACK. */
    int64_t before = (80 * PS_PER_US - flow->received_ps + 299 * 4178 * 80) / (4178 * 80);

    assert_int_equal(before, 236);
    assert_int_equal(rig.net->nics[1].acks_sent, 300 - before);
    assert_int_equal(rig_qp(flow)->snd_una, 300);
    rig_clear(&rig);
}

/* ---- congestion control as a test wants it ----------------------------------------- */

struct test_cc {
    int64_t rate_bps; /* 0: not limited */
};

static void
test_cc_init(void *state, const void *params, const struct cc_env *env,
             struct cc_out *out)
{
    const struct test_cc *cc = params;

    (void)state;
    *out = (struct cc_out){.rate_bps = cc->rate_bps ? cc->rate_bps : env->line_rate_bps,
                           .limited = cc->rate_bps != 0};
}

static void
test_cc_on_cnp(void *state, const void *params, int64_t now_ps, struct cc_out *out)
{
    (void)state;
    (void)params;
    (void)now_ps;
    (void)out;
}

static void
test_cc_check(const void *state, const void *params)
{
    (void)state;
    (void)params;
}

static const struct cc_ops test_cc_ops = {.name = "test",
                                          .needs = CC_NEEDS_ECN,
                                          .params_bytes = sizeof(struct test_cc),
                                          .init = test_cc_init,
                                          .on_cnp = test_cc_on_cnp,
                                          .sync = test_cc_on_cnp,
                                          .check = test_cc_check};

/* K28: a line-rate flow with every packet marked: a CNP for the first, then each 150
 * packets at an interval of 50 us, each 12 at 4 us. */
static void
k28_cnps(void **state)
{
    const int64_t interval_ps[] = {50 * PS_PER_US, 4 * PS_PER_US};
    const int64_t packets[] = {150, 12};
    const struct test_cc cc = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct link_params links[] = {{.rate_bps = 400 * GBPS},
                                            {.rate_bps = 100 * GBPS}};
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.cnp_interval_ps = interval_ps[i];
        /* Whatever queues is marked: all but the first packet. */
        rig.ecn = (struct ecn_params){.kmin_bytes = -1, .kmax_bytes = -1};
        rig_chain(&rig, 1, links);
        net_set_cc(rig.net, &test_cc_ops, &cc);
        rig_build(&rig);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 4000 * 4096, 0);

        rig_play(&rig);
        assert_int_equal(rig_port(&rig, "leaf0", "host1")->stats[3].marked, 3999);
        assert_int_equal(net_qp(rig.net, flow->connection, 1)->cnps_sent,
                         (3999 + packets[i] - 1) / packets[i]);
        assert_int_equal(rig_qp(flow)->cnps_received,
                         (3999 + packets[i] - 1) / packets[i]);
        /* As their own class, of their own size. */
        const struct out_class *out = &rig_port(&rig, "host1", "leaf0")->out[6];

        assert_int_equal(out->tx_pkts, rig_qp(flow)->cnps_received);
        assert_int_equal(out->tx_bytes, 78 * out->tx_pkts);
        rig_clear(&rig);
    }
}

/* A paced queue pair keeps its rate in wire bits to the picosecond, whatever the others
 * do; and leaves them the rest. */
static void
pace(void **state)
{
    const struct test_cc cc = {.rate_bps = 20 * GBPS};

    (void)state;
    for (uint32_t n = 1; n <= 8; n++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig_star(&rig, 9, 100 * GBPS, DELAY);
        net_set_cc(rig.net, &test_cc_ops, &cc);
        rig_build(&rig);
        for (uint32_t i = 0; i < n; i++) {
            rig_flow(&rig, 0, 1 + i, 500 * 4096, 0);
        }
        rig_play(&rig);
        double slot_ns = n <= 5 ? 4178 * 0.4 : n * 4178 * 0.08;

        for (uint32_t i = 0; i < n; i++) {
            expect_near((double)rig.flows[i]->received_ps / 1000,
                        499 * slot_ns + 16 * 0.4 + 1017, n == 1 ? 0.000001 : 0.01);
        }
        rig_clear(&rig);
    }
}

/* ---- a rate that changes by itself ------------------------------------------------- */

/* 'rate_bps' until 'at_ps', from there on 'then_bps'. */
struct step_cc {
    int64_t rate_bps, then_bps, at_ps;
};

struct step_state {
    int64_t now_ps;
};

static void
step_cc_sync(void *state, const void *params, int64_t now_ps, struct cc_out *out)
{
    const struct step_cc *cc = params;
    struct step_state *s = state;

    s->now_ps = now_ps;
    *out = (struct cc_out){.rate_bps = now_ps < cc->at_ps ? cc->rate_bps : cc->then_bps,
                           .limited = true};
}

static void
step_cc_init(void *state, const void *params, const struct cc_env *env,
             struct cc_out *out)
{
    (void)env;
    step_cc_sync(state, params, 0, out);
}

static void
step_cc_on_send(void *state, const void *params, int64_t now_ps, int32_t wire_bytes,
                struct cc_out *out)
{
    (void)wire_bytes;
    step_cc_sync(state, params, now_ps, out);
}

static int64_t
step_cc_next_ps(const void *state, const void *params)
{
    const struct step_cc *cc = params;
    const struct step_state *s = state;

    return s->now_ps < cc->at_ps ? cc->at_ps : TIME_NEVER_PS;
}

static const struct cc_ops step_cc_ops = {.name = "step",
                                          .needs = CC_NEEDS_ECN,
                                          .state_bytes = sizeof(struct step_state),
                                          .params_bytes = sizeof(struct step_cc),
                                          .init = step_cc_init,
                                          .on_cnp = test_cc_on_cnp,
                                          .on_send = step_cc_on_send,
                                          .sync = step_cc_sync,
                                          .next_ps = step_cc_next_ps,
                                          .check = test_cc_check};

/* When the second packet of a queue pair starts, us; it is posted at 'second_us'. */
static double
second_start_us(const struct step_cc *cc, int64_t second_us, int64_t sample_ps)
{
    struct rig rig;

    rig_init(&rig, 1);
    rig.nic.cnp_interval_ps = 50 * PS_PER_US;
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    net_set_cc(rig.net, &step_cc_ops, cc);
    rig.net->sample_ps = sample_ps;
    rig_build(&rig);
    struct rig_flow *first = rig_flow(&rig, 0, 1, 4096, 0);
    struct rig_flow *second =
        rig_flow_on(&rig, first->connection, 0, 4096, second_us * PS_PER_US);

    if (sample_ps) {
        rig.net->sampled = malloc(rig.net->n_ports);
        memset(rig.net->sampled, 1, rig.net->n_ports);
    }
    rig_play(&rig);
    double start_us = (double)(second->received_ps - first->received_ps) / PS_PER_US;

    rig_clear(&rig);
    return start_us;
}

/* A gap of 335.52 us (4,194 B on the wire at 100 Mb/s) follows the rate while it lasts,
 * whether or not anything waits at its end, and whoever looks at it. */
static void
slow_gap_follows_the_rate(void **state)
{
    const double gap_us = 4194 * 8 / 100.0;
    const struct {
        struct step_cc cc;
        int64_t second_us;
        double start_us;
    } cases[] = {
        {{100 * MBPS, 10 * GBPS, 100 * PS_PER_US}, 0, 100 + (gap_us - 100) / 100},
        {{100 * MBPS, 50 * MBPS, 100 * PS_PER_US}, 0, 100 + (gap_us - 100) * 2},
        {{100 * MBPS, 10 * GBPS, 500 * PS_PER_US}, 0, gap_us},
        {{100 * MBPS, 10 * GBPS, 100 * PS_PER_US}, 200, 200},
        {{100 * MBPS, 150 * MBPS, 100 * PS_PER_US}, 200, 100 + (gap_us - 100) / 1.5},
        /* A gap of 8 us is kept as it began. */
        {{4194 * MBPS, 100 * GBPS, 1 * PS_PER_US}, 0, 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int64_t sample_us = 0; sample_us < 200; sample_us += 33) {
            expect_near(
                second_start_us(&cases[i].cc, cases[i].second_us, sample_us * PS_PER_US),
                cases[i].start_us, 0.001);
        }
    }
}

/* Immediate data, no data, and completion in the order of posting. */
static void
messages(void **state)
{
    const int64_t bytes[] = {0, 1, 4096, 4097, 100000};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);

    for (uint32_t i = 0; i < 5; i++) {
        rig_flow_on(&rig, connection, 0, bytes[i], 0)->has_imm = i % 2;
    }
    rig_play(&rig);
    int64_t frames = 0;

    for (uint32_t i = 0; i < 5; i++) {
        const struct rig_flow *flow = rig.flows[i];
        int64_t n = bytes[i] ? (bytes[i] + 4095) / 4096 : 1;

        assert_int_equal(flow->n_received, 1);
        assert_int_equal(flow->received_bytes, bytes[i]);
        assert_int_equal(flow->got_imm, i % 2);
        if (flow->got_imm) {
            assert_int_equal(flow->imm, i + 1000);
        }
        if (i) {
            assert_true(flow->received_ps > rig.flows[i - 1]->received_ps);
            assert_true(flow->sent_ps > rig.flows[i - 1]->sent_ps);
        }
        frames += (bytes[i] + 3) / 4 * 4 + 62 * n + 16 + (i % 2 ? 4 : 0);
    }
    assert_int_equal(rig_port(&rig, "host0", "leaf0")->out[3].tx_bytes, frames);
    assert_int_equal(net_qp(rig.net, connection, 1)->payload_received,
                     0 + 1 + 4096 + 4097 + 100000);
    rig_clear(&rig);
}

/* The way between memory and wire takes latency_ps each way, an answer ack_latency_ps. */
static void
latencies(void **state)
{
    int64_t received_ps[2], sent_ps[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.latency_ps = i * 700000;
        rig.nic.ack_latency_ps = i * 90000;
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        rig_build(&rig);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 10000, 0);

        rig_play(&rig);
        received_ps[i] = flow->received_ps;
        sent_ps[i] = flow->sent_ps;
        rig_clear(&rig);
    }
    assert_int_equal(received_ps[1] - received_ps[0], 2 * 700000);
    assert_int_equal(sent_ps[1] - sent_ps[0], 2 * 700000 + 90000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k1_k2_k3_goodput),
        cmocka_unit_test(k4_one_mib),
        cmocka_unit_test(k5_acks),
        cmocka_unit_test(k6_sizes),
        cmocka_unit_test(turns),
        cmocka_unit_test(windows),
        cmocka_unit_test(ack_every),
        cmocka_unit_test(acks_are_joined),
        cmocka_unit_test(k28_cnps),
        cmocka_unit_test(pace),
        cmocka_unit_test(slow_gap_follows_the_rate),
        cmocka_unit_test(messages),
        cmocka_unit_test(latencies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
