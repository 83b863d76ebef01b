/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_incast.c - K43: N messages to one port; K44: two long flows to one port;
 * K26b: what a pause does to a flow that has nothing to do with it.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/known.h"
#include "tests/support/rig.h"

#define RATE (100 * GBPS)
#define DELAY (25 * PS_PER_NS)
#define LATENCY_PS (300 * PS_PER_NS) /* of a rig's switch */
#define MS (1000 * PS_PER_US)

enum { CLS = 3 };

/* ---- K43 --------------------------------------------------------------------------- */

/* What arrives at the receiver, as the wire has it. */
struct wire {
    int64_t first_ps, last_ps; /* start of the first preamble, end of the last frame */
    int64_t busy_ps;
};

static void
watch_wire(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct wire *wire = rig->tap_ctx;
    struct port *in;
    struct packet *pkt = rig_arrival(rig, event, &in);

    if (pkt && in->is_nic && pkt->type == PACKET_DATA) {
        if (wire->busy_ps == 0) {
            wire->first_ps =
                lp->now_ps - port_bytes_ps(in, pkt->size_bytes + WIRE_PREAMBLE_BYTES);
        }
        wire->busy_ps += port_bytes_ps(in, pkt->size_bytes + WIRE_EXTRA_BYTES);
        wire->last_ps = lp->now_ps;
    }
    rig_handle(lp, event);
}

static void
incast(uint32_t n_senders, const char *name)
{
    struct wire wire = {0};
    struct rig rig;
    int64_t last_ps = 0;

    rig_init(&rig, 43);
    rig_star(&rig, n_senders + 1, RATE, DELAY);
    rig.sw.buffer_bytes = 4000000; /* less than what is sent */
    rig_build(&rig);
    for (uint32_t i = 1; i <= n_senders; i++) {
        rig_flow(&rig, i, 0, 1 << 20, 0);
    }
    rig.tap = watch_wire;
    rig.tap_ctx = &wire;
    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_int_equal(rig_sum(&rig).drops, 0);
    assert_true(rig_sum(&rig).xoff_tx > 0); /* it is the pauses that make it lossless */
    for (uint32_t i = 0; i < n_senders; i++) {
        last_ps =
            rig.flows[i]->received_ps > last_ps ? rig.flows[i]->received_ps : last_ps;
    }
    /* Until the first packet (WRITE first: 4174 B) leaves the switch, and
     * on the cable. */
    int64_t latency_ps =
        sim_tx_time_ps(4174 + WIRE_PREAMBLE_BYTES, RATE) + 2 * DELAY + LATENCY_PS;
    double idle_ps = (double)(wire.last_ps - wire.first_ps - wire.busy_ps) +
                     (double)sim_tx_time_ps(WIRE_GAP_BYTES, RATE);

    known_equals("K43", name, (double)(last_ps - latency_ps) / PS_PER_US);
    known_equals("K43", "idle_share", idle_ps / (double)(wire.last_ps - wire.first_ps));
    rig_clear(&rig);
}

static void
test_k43_incast(void **state)
{
    (void)state;
    incast(16, "last_16_us");
    incast(8, "last_8_us");
}

/* ---- K44 --------------------------------------------------------------------------- */

/* What the first flows have got through when the measurement begins. */
struct stock {
    struct work_timer timer;
    struct rig *rig;
    int64_t payload_bytes[2];
};

static int64_t
received_bytes(const struct rig *rig, uint32_t connection)
{
    return net_qp(rig->net, connection, 1)->payload_received;
}

static void
take_stock(struct lp *lp, struct work_timer *timer)
{
    struct stock *stock = timer->ctx;

    (void)lp;
    for (uint32_t i = 0; i < 2; i++) {
        stock->payload_bytes[i] = received_bytes(stock->rig, i);
    }
}

/* Runs until 'until_ps'; payload of the first two connections per second from
 * 'from_ps' on. */
static void
run_shares(struct rig *rig, int64_t from_ps, int64_t until_ps, double gbps[2])
{
    struct stock stock = {.rig = rig};

    stock.timer = (struct work_timer){
        .source = net_new_timer(rig->net), .fire = take_stock, .ctx = &stock};
    rig_start(rig, PARTITION_ONE, 1);
    work_timer_set(net_lp_of_host(rig->net, 0), &stock.timer, from_ps);
    rig_run(rig, until_ps);
    assert_int_equal(rig->net->end, NET_END_STOPPED);
    for (uint32_t i = 0; i < 2; i++) {
        gbps[i] = (double)(received_bytes(rig, i) - stock.payload_bytes[i]) * 8 /
                  ((double)(until_ps - from_ps) / PS_PER_NS);
    }
}

static void
two_flows(bool dcqcn, int64_t from_ps, int64_t until_ps)
{
    struct rig rig;
    double gbps[2];

    rig_init(&rig, 44);
    rig_star(&rig, 3, RATE, DELAY);
    if (dcqcn) {
        /* The marking the paper's authors use. */
        rig.ecn = (struct ecn_params){
            .kmin_bytes = 5000, .kmax_bytes = 200000, .pmax_q32 = PARAM_Q32(1, 100)};
        rig_dcqcn(&rig, "paper");
    }
    rig_build(&rig);
    for (uint32_t i = 0; i < 2; i++) {
        rig_flow(&rig, i + 1, 0, 1 << 30, 0);
    }
    /* More lies ready: 1 GiB is 0.17 s. */
    for (uint32_t i = 0; i < 64; i++) {
        rig_flow_on(&rig, i % 2, 0, 1 << 30, 0);
    }
    run_shares(&rig, from_ps, until_ps, gbps);
    const struct rig_sums sums = rig_sum(&rig);

    print_message("# K44 %s: %lld stops, %lld CNPs, queue at most %lld B\n",
                  dcqcn ? "DCQCN" : "PFC", (long long)sums.xoff_tx, (long long)sums.cnps,
                  (long long)rig_port(&rig, "leaf0", "host0")->out[CLS].max_bytes);
    known_equals("K44", "each_gbps", gbps[0]);
    known_equals("K44", "each_gbps", gbps[1]);
    known_at_least("K44", "jain",
                   (gbps[0] + gbps[1]) * (gbps[0] + gbps[1]) /
                       (2 * (gbps[0] * gbps[0] + gbps[1] * gbps[1])));
    known_equals("K44", "drops", (double)sums.drops);
    assert_true(dcqcn ? sums.cnps > 0 : sums.xoff_tx > 0);
    rig_clear(&rig);
}

static void
test_k44_two_flows_pfc(void **state)
{
    (void)state;
    two_flows(false, 10 * MS, 30 * MS);
}

/* The shares wander: over 200 ms they are 1 % apart, in other models too. */
static void
test_k44_two_flows_dcqcn(void **state)
{
    (void)state;
    two_flows(true, 100 * MS, 4100 * MS);
}

/* ---- K26b -------------------------------------------------------------------------- */

/* V (host0 to host2, alone there) and B (host1 to host3) share the link between leaf0 and
 * leaf1; hosts 4 to 6 at leaf1 send to host3 too, so B's share there is a quarter. */
static double
victim_gbps(bool own_class)
{
    const struct link_params link = {.rate_bps = RATE, .delay_ps = DELAY};
    struct rig rig;
    double gbps[2];

    rig_init(&rig, 26);
    for (uint32_t h = 0; h < 7; h++) {
        char name[16];

        snprintf(name, sizeof name, "host%u", h);
        net_add_host(rig.net, name, h > 1);
    }
    for (uint32_t s = 0; s < 2; s++) {
        net_add_switch(rig.net, s ? "leaf1" : "leaf0", s, 1);
    }
    for (uint32_t h = 0; h < 7; h++) {
        net_add_link(rig.net, h, 7 + (h > 1), &link);
    }
    net_add_link(rig.net, 7, 8, &link);
    rig.nic.pfc = rig.sw.pfc = 1 << 3 | 1 << 4;
    rig_params(&rig);
    const struct net_qos second = {
        .name = (char *)"second", .dscp = 34, .cls = 4, .lossless = true, .weight = 1};

    net_add_qos(rig.net, &second);
    rig_build(&rig);
    const struct {
        uint32_t src, dst;
    } flows[] = {{0, 2}, {1, 3}, {4, 3}, {5, 3}, {6, 3}};

    for (unsigned i = 0; i < 5; i++) {
        uint32_t connection = net_connect(rig.net, flows[i].src, 0, flows[i].dst, 0,
                                          i == 0 && own_class ? 2 : 0);

        rig_flow_on(&rig, connection, 0, 1 << 30, 0);
    }
    /* Until the buffers are full nobody is stopped. */
    run_shares(&rig, 10 * MS, 20 * MS, gbps);
    assert_int_equal(rig_sum(&rig).drops, 0);
    rig_clear(&rig);
    print_message("# K26b: V %.2f, B %.2f Gb/s\n", gbps[0], gbps[1]);
    return gbps[0];
}

static void
test_k26b_victim_printed(void **state)
{
    (void)state;
    known_print("K26b", "victim_gbps", victim_gbps(false));
    known_print("K26b", "victim_own_class_gbps", victim_gbps(true));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k43_incast),
        cmocka_unit_test(test_k44_two_flows_pfc),
        cmocka_unit_test(test_k44_two_flows_dcqcn),
        cmocka_unit_test(test_k26b_victim_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
