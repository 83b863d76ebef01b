/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_transport.c - K10 to K14c: latency, ports, loss and recovery
 * of a queue pair.
 *
 * A frame of 4158 bytes, which is a middle one of MTU 4096, is a WRITE of 4080 bytes
 * here: its RETH takes the other 16.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/support/known.h"
#include "tests/support/rig.h"

#define MIB INT64_C(1048576)
#define CABLE_5M_PS 25253   /* 5 m at 198 m/us */
#define CABLE_40M_PS 202020 /* 40 m */
#define FRAME_4158 4080     /* payload */

static double
ns(int64_t ps)
{
    return (double)ps / 1e3;
}

/* ---- K10, K11 ---------------------------------------------------------------------- */

struct latency {
    double data_ns, ack_ns, rtt_ns;
};

/* Of one frame over the network of 'rig', which has its nodes. */
static struct latency
one_frame(struct rig *rig)
{
    struct rig_flow *flow;

    rig_build(rig);
    flow = rig_flow(rig, 0, 1, FRAME_4158, PS_PER_US);
    rig_play(rig);
    assert_int_equal(rig->net->ports[rig->net->links[0].port[0]].out[3].tx_bytes, 4158);
    return (struct latency){.data_ns = ns(flow->received_ps - flow->start_ps),
                            .ack_ns = ns(flow->sent_ps - flow->received_ps),
                            .rtt_ns = ns(flow->sent_ps - flow->start_ps)};
}

static void
test_k10_one_switch(void **state)
{
    const int64_t rates_gbps[] = {100, 400};
    struct latency latency;
    struct rig rig;
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        rig_init(&rig, 1);
        rig_star(&rig, 2, rates_gbps[i] * GBPS, CABLE_5M_PS);
        latency = one_frame(&rig);
        snprintf(name, sizeof name, "data_%dg_ns", (int)rates_gbps[i]);
        known_equals("K10", name, latency.data_ns);
        snprintf(name, sizeof name, "ack_%dg_ns", (int)rates_gbps[i]);
        known_equals("K10", name, latency.ack_ns);
        snprintf(name, sizeof name, "rtt_%dg_ns", (int)rates_gbps[i]);
        known_equals("K10", name, latency.rtt_ns);
        rig_clear(&rig);
    }
    rig_init(&rig, 1);
    rig.sw.cut_through = true;
    rig_star(&rig, 2, 100 * GBPS, CABLE_5M_PS);
    latency = one_frame(&rig);
    known_equals("K10", "cut_through_data_100g_ns",
                 latency.data_ns - known("K10", "cut_through_header_100g_ns"));
    known_equals("K10", "ack_100g_ns", latency.ack_ns);
    rig_clear(&rig);
}

static void
test_k11_leaf_spine_leaf(void **state)
{
    const struct link_params links[] = {
        {.rate_bps = 100 * GBPS, .delay_ps = CABLE_5M_PS},
        {.rate_bps = 100 * GBPS, .delay_ps = CABLE_40M_PS},
        {.rate_bps = 100 * GBPS, .delay_ps = CABLE_40M_PS},
        {.rate_bps = 100 * GBPS, .delay_ps = CABLE_5M_PS}};
    struct latency latency;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_chain(&rig, 3, links);
    latency = one_frame(&rig);
    known_equals("K11", "data_ns", latency.data_ns);
    known_equals("K11", "ack_ns", latency.ack_ns);
    known_equals("K11", "rtt_ns", latency.rtt_ns);
    rig_clear(&rig);
}

/* ---- K12 --------------------------------------------------------------------------- */

static void
test_k12_udp_source_port(void **state)
{
    struct rig rig;

    (void)state;
    known_equals("K12", "port_of_0x118_0x119", qp_udp_source_port(0x118, 0x119));
    known_equals("K12", "port_of_1000_2000", qp_udp_source_port(1000, 2000));
    known_equals("K12", "port_of_0xabcdef_0x123456",
                 qp_udp_source_port(0xABCDEF, 0x123456));
    /* In a network: the first QP of host 0 and the second one of host 1. */
    rig_init(&rig, 1);
    rig_star(&rig, 3, 100 * GBPS, CABLE_5M_PS);
    rig_build(&rig);
    net_connect(rig.net, 2, 0, 1, 0, 0);
    uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);

    rig_start(&rig, PARTITION_ONE, 1);
    for (unsigned side = 0; side < 2; side++) {
        known_equals("K12", "port_of_0x11_0x12",
                     net_qp(rig.net, connection, side)->src_port);
    }
    rig_run(&rig, TIME_NEVER_PS);
    rig_clear(&rig);
}

/* ---- K13 --------------------------------------------------------------------------- */

/* Host 0 sends 'bytes' to host 1; data packet 'lost' (from 1; 0: none) is lost between
 * host and switch.  The run ends at 'stop_ps'.  ACKs only at the end, so that what the
 * sender knows before is what a NAK says. */
static struct rig_flow *
lossy_flow(struct rig *rig, int64_t bytes, uint64_t lost, int64_t stop_ps)
{
    const struct fault fault = {.kind = FAULT_DROP, .drop = &lost, .n_drop = 1};
    struct rig_flow *flow;

    rig->nic.ack_every = 65536;
    rig_star(rig, 2, 100 * GBPS, CABLE_5M_PS);
    rig_build(rig);
    if (lost) {
        net_add_fault(rig->net, 0, &fault);
    }
    flow = rig_flow(rig, 0, 1, bytes, 0);
    rig_start(rig, PARTITION_ONE, 1);
    rig_run(rig, stop_ps);
    return flow;
}

static void
test_k13_one_packet_lost(void **state)
{
    enum { LOST = 1000 }; /* goes after 334 us */
    struct rig plain, rig;
    const struct rig_flow *flow, *undisturbed;

    (void)state;
    rig_init(&plain, 1);
    undisturbed = lossy_flow(&plain, 8 * MIB, 0, TIME_NEVER_PS);
    rig_init(&rig, 1);
    flow = lossy_flow(&rig, 8 * MIB, LOST, TIME_NEVER_PS);
    known_equals("K13", "naks", (double)rig_sum(&rig).naks);
    known_equals("K13", "wasted_pkts", (double)rig_sum(&rig).lost_protocol);
    known_equals("K13", "later_ns",
                 ns(flow->received_ps - flow->start_ps) -
                     ns(undisturbed->received_ps - undisturbed->start_ps));
    assert_int_equal(rig_sum(&rig).retransmitted, 1 + rig_sum(&rig).lost_protocol);
    assert_int_equal(rig_sum(&rig).timeouts, 0);
    assert_int_equal(flow->n_received, 1);
    rig_clear(&rig);
    rig_clear(&plain);

    /* Soon after the NAK: it is all the sender has heard, and acknowledges
     * what lies before. */
    rig_init(&rig, 1);
    flow = lossy_flow(&rig, 8 * MIB, LOST, 340 * PS_PER_US);
    assert_int_equal(rig_sum(&rig).acks, 0);
    assert_int_equal(rig_qp(flow)->naks_received, 1);
    known_equals("K13", "nak_less_lost_pkts", (double)(rig_qp(flow)->snd_una + 1 - LOST));
    rig_clear(&rig);
}

/* ---- K14, K14b --------------------------------------------------------------------- */

static void
test_k14_last_packet_lost(void **state)
{
    const int64_t timeouts[] = {14, 18, 20};
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct rig plain, rig;
        int64_t plain_ps, lossy_ps;

        rig_init(&plain, 1);
        plain_ps = rig_fct_ps(lossy_flow(&plain, 3 * 4096, 0, TIME_NEVER_PS));
        rig_clear(&plain);
        rig_init(&rig, 1);
        rig.nic.ack_timeout = timeouts[i];
        lossy_ps = rig_fct_ps(lossy_flow(&rig, 3 * 4096, 3, TIME_NEVER_PS));
        snprintf(name, sizeof name, "recovery_timeout_%d_ms", (int)timeouts[i]);
        known_equals("K14", name, (double)(lossy_ps - plain_ps) / 1e9);
        known_equals("K14", "naks", (double)rig_sum(&rig).naks);
        assert_int_equal(rig_sum(&rig).timeouts, 1);
        rig_clear(&rig);
    }
}

/* Messages both ways while PSNs pass 0, which is the 17th packet of each; 'lost' as
 * above, on the way from host 0. */
static struct rig_sums
wrap(uint64_t lost)
{
    const struct fault fault = {.kind = FAULT_DROP, .drop = &lost, .n_drop = 1};
    struct rig_sums sum;
    struct rig rig;

    rig_init(&rig, 1);
    rig.nic.ack_every = 1;
    rig_star(&rig, 2, 100 * GBPS, CABLE_5M_PS);
    rig_build(&rig);
    uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);
    struct rig_flow *there = rig_flow_on(&rig, connection, 0, 64 * 4096, 0);
    struct rig_flow *back = rig_flow_on(&rig, connection, 1, 64 * 4096, 0);

    if (lost) {
        net_add_fault(rig.net, 0, &fault);
    }
    rig_start(&rig, PARTITION_ONE, 1);
    for (unsigned side = 0; side < 2; side++) {
        net_qp(rig.net, connection, side)->psn_base = 0xFFFFF0;
        net_qp(rig.net, connection, side)->psn_base_peer = 0xFFFFF0;
    }
    rig_run(&rig, TIME_NEVER_PS);
    assert_int_equal(there->n_received, 1);
    assert_int_equal(back->n_received, 1);
    assert_true(rig_fct_ps(there) > 0 && rig_fct_ps(back) > 0);
    sum = rig_sum(&rig);
    assert_int_equal(sum.timeouts, 0);
    rig_clear(&rig);
    return sum;
}

static void
test_k14b_psn_wraps(void **state)
{
    struct rig_sums sum = wrap(0);

    (void)state;
    known_equals("K14b", "naks", (double)sum.naks);
    known_equals("K14b", "retransmitted_pkts", (double)sum.retransmitted);
    /* PSN 0 itself is lost: at the switch from host 0, and at host 0 from the switch. */
    sum = wrap(17);
    assert_int_equal(sum.lost_error, 2);
    known_equals("K14b", "naks_with_psn_0_lost", (double)sum.naks / 2);
}

/* PSNs of the READ requests and of the responses that arrive, in order. */
struct read_psns {
    uint32_t requests[4], responses[4];
    uint32_t n_requests, n_responses;
};

static void
note_psns(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct read_psns *psns = rig->tap_ctx;
    struct port *in;
    const struct packet *pkt = rig_arrival(rig, event, &in);

    if (pkt && in->is_nic && pkt->type == PACKET_READ_REQ) {
        psns->requests[psns->n_requests++] = pkt->tp.psn;
    } else if (pkt && in->is_nic && pkt->type == PACKET_READ_RESP) {
        psns->responses[psns->n_responses++] = pkt->tp.psn;
    }
    rig_handle(lp, event);
}

/* A READ of 8192 bytes, one of none, and one more, to see where that one starts. */
static void
test_k14b_psns_of_reads(void **state)
{
    const int64_t bytes[] = {8192, 0, 100};
    struct read_psns psns = {.n_requests = 0};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.tap = note_psns;
    rig.tap_ctx = &psns;
    rig_star(&rig, 2, 100 * GBPS, CABLE_5M_PS);
    rig_build(&rig);
    uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);

    for (int i = 0; i < 3; i++) {
        rig_flow_on(&rig, connection, 0, bytes[i], 0)->verb = QP_READ;
    }
    rig_play(&rig);
    assert_int_equal(psns.n_requests, 3);
    assert_int_equal(psns.n_responses, 4);
    assert_int_equal(psns.responses[0], psns.requests[0]);
    known_equals("K14b", "read_8192_psns", psn_diff(psns.requests[1], psns.requests[0]));
    known_equals("K14b", "read_8192_second_response_less_request_psn",
                 psn_diff(psns.responses[1], psns.requests[0]));
    known_equals("K14b", "read_0_psns", psn_diff(psns.requests[2], psns.requests[1]));
    known_equals("K14b", "read_0_response_less_request_psn",
                 psn_diff(psns.responses[2], psns.requests[1]));
    rig_clear(&rig);
}

/* Times at which SENDs arrive at the receiver. */
struct arrivals {
    int64_t at_ps[64];
    uint32_t n;
};

static void
note_sends(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct arrivals *arrivals = rig->tap_ctx;
    struct port *in;
    const struct packet *pkt = rig_arrival(rig, event, &in);

    if (pkt && in->is_nic && pkt->type == PACKET_DATA && arrivals->n < 64) {
        arrivals->at_ps[arrivals->n++] = lp->now_ps;
    }
    rig_handle(lp, event);
}

/* The only receive WQE is taken by the first SEND and comes back after 20 ms. */
static void
test_k14c_receiver_not_ready(void **state)
{
    struct arrivals arrivals = {.n = 0};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.receive_queue = 1;
    rig.nic.receive_delay_ps = 20 * PS_PER_MS;
    rig.nic.rnr_timer = 14;
    rig.nic.rnr_retry = 7;
    rig.tap = note_sends;
    rig.tap_ctx = &arrivals;
    rig_star(&rig, 2, 100 * GBPS, CABLE_5M_PS);
    rig_build(&rig);
    uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);

    for (int i = 0; i < 2; i++) {
        rig_flow_on(&rig, connection, 0, 1000, 0)->verb = QP_SEND;
    }
    rig_play(&rig);
    /* The second one comes at once, and again until the WQE is there: 16 times. */
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_int_equal(rig_sum(&rig).rnrs, 16);
    assert_int_equal(rig_sum(&rig).timeouts, 0);
    assert_int_equal(arrivals.n, 2 + 16);
    known_equals("K14c", "retry_interval_ms",
                 (double)(arrivals.at_ps[2] - arrivals.at_ps[1]) / 1e9);
    known_equals("K14c", "retry_interval_ms",
                 (double)(arrivals.at_ps[17] - arrivals.at_ps[1]) / 16 / 1e9);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k10_one_switch),
        cmocka_unit_test(test_k11_leaf_spine_leaf),
        cmocka_unit_test(test_k12_udp_source_port),
        cmocka_unit_test(test_k13_one_packet_lost),
        cmocka_unit_test(test_k14_last_packet_lost),
        cmocka_unit_test(test_k14b_psn_wraps),
        cmocka_unit_test(test_k14b_psns_of_reads),
        cmocka_unit_test(test_k14c_receiver_not_ready),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
