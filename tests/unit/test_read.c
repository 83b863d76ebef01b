/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_read.c - READs: order, limit of those outstanding, what is done when a request or a
 * response is lost, who is slowed down.  Sizes and PSNs: K4, K6, K14b.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/ideal.h"
#include "tests/support/rig.h"

#define DELAY 25253 /* K10: 5 m */
#define SLOT (4178 * 80)
#define TIMEOUT_PS 67108864000 /* exponent 14 */

/* A star of two hosts; the link of 'host' loses the packets on the list, each way. */
static uint32_t
build(struct rig *rig, uint32_t host, const uint64_t drop[], uint32_t n_drop)
{
    struct fault fault = {.kind = FAULT_DROP, .drop = (uint64_t *)drop, .n_drop = n_drop};

    rig_star(rig, 2, 100 * GBPS, DELAY);
    rig_build(rig);
    if (n_drop) {
        net_add_fault(rig->net, host, &fault);
    }
    return net_connect(rig->net, 0, 0, 1, 0, 0);
}

static struct rig_flow *
post(struct rig *rig, uint32_t connection, enum qp_verb verb, int64_t bytes,
     int64_t at_ps)
{
    struct rig_flow *flow = rig_flow_on(rig, connection, 0, bytes, at_ps);

    flow->verb = verb;
    return flow;
}

static int64_t
ideal_ps(const struct rig_flow *flow)
{
    return net_ideal_verb_fct_ps(flow->rig->net, flow->connection, 1, QP_READ,
                                 flow->bytes);
}

/* A response is lost: the next one shows it, the rest is asked for from there on, and what
 * the responder had still to send is not sent twice. */
static void
lost_response(void **state)
{
    (void)state;
    for (uint64_t k = 12; k < 390; k += 99) {
        const uint64_t drop[] = {k};
        struct rig rig;

        rig_init(&rig, 1);
        uint32_t connection = build(&rig, 1, drop, 1);
        struct rig_flow *flow = post(&rig, connection, QP_READ, 400 * 4096, 0);

        rig_play(&rig);
        const struct qp *asks = rig_qp(flow), *answers = net_qp(rig.net, connection, 1);

        assert_int_equal(asks->gaps_in_reads, 1);
        assert_int_equal(asks->timeouts, 0);
        assert_int_equal(asks->payload_received, 400 * 4096);
        assert_int_equal(answers->payload_sent, 400 * 4096);
        /* As K13: five are wasted, six slots lost. */
        assert_int_equal(answers->retransmitted, 6);
        assert_int_equal(rig_sum(&rig).lost_protocol, 5);
        assert_true(llabs(rig_fct_ps(flow) - ideal_ps(flow) - 6 * SLOT) <= SLOT);
        rig_clear(&rig);
    }
}

/* Nothing comes after the last response: only the timeout helps, for that one alone. */
static void
lost_last_response(void **state)
{
    const uint64_t drop[] = {100};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    uint32_t connection = build(&rig, 1, drop, 1);
    struct rig_flow *flow = post(&rig, connection, QP_READ, 100 * 4096, 0);

    rig_play(&rig);
    assert_int_equal(rig_qp(flow)->timeouts, 1);
    assert_int_equal(net_qp(rig.net, connection, 1)->retransmitted, 1);
    assert_true(rig_fct_ps(flow) > TIMEOUT_PS);
    rig_clear(&rig);
}

/* A lost request: the next one brings a NAK, else there is the timeout.  No data is sent
 * twice. */
static void
lost_request(void **state)
{
    const uint64_t drop[] = {1};

    (void)state;
    for (int n = 1; n <= 2; n++) {
        struct rig rig;

        rig_init(&rig, 1);
        uint32_t connection = build(&rig, 0, drop, 1);

        for (int i = 0; i < n; i++) {
            post(&rig, connection, QP_READ, 10 * 4096, 0);
        }
        rig_play(&rig);
        assert_int_equal(rig.net->end, NET_END_DONE);
        /* Either direction of the link loses its first: with the request a
         * response. */
        assert_int_equal(rig_sum(&rig).lost_error, 2);
        assert_int_equal(rig_sum(&rig).timeouts, n == 1);
        assert_int_equal(rig_sum(&rig).naks, n == 2);
        assert_true(rig.flows[n - 1]->sent_ps >= rig.flows[0]->sent_ps);
        rig_clear(&rig);
    }
}

/* The last response to the first READ is lost, and a WRITE is all that follows: its ACK tells. */
static void
ack_tells_of_lost_response(void **state)
{
    const uint64_t drop[] = {5}; /* the other way fewer are sent */
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    uint32_t connection = build(&rig, 1, drop, 1);
    struct rig_flow *read = post(&rig, connection, QP_READ, 5 * 4096, 0);
    struct rig_flow *write = post(&rig, connection, QP_WRITE, 100, 0);

    rig_play(&rig);
    assert_int_equal(rig_qp(read)->gaps_in_reads, 1);
    assert_int_equal(rig_qp(read)->timeouts, 0);
    assert_int_equal(write->n_received, 1);
    assert_true(read->sent_ps < 10 * PS_PER_US && write->sent_ps >= read->sent_ps);
    rig_clear(&rig);
}

/* Operations of both kinds in a row complete in order; an ACK never overtakes responses. */
static void
reads_between_writes(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.latency_ps = 500 * PS_PER_NS;
    uint32_t connection = build(&rig, 0, NULL, 0);

    for (int i = 0; i < 20; i++) {
        post(&rig, connection, i % 2 ? QP_WRITE : QP_READ, i % 5 * 10000, 0);
    }
    rig_play(&rig);
    assert_int_equal(rig_sum(&rig).retransmitted, 0);
    assert_int_equal(rig_qp(rig.flows[0])->gaps_in_reads, 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(rig.flows[i]->n_received, i % 2);
        assert_true(i == 0 || rig.flows[i]->sent_ps >= rig.flows[i - 1]->sent_ps);
    }
    rig_clear(&rig);
}

/* READs on their way at a time. */
struct outstanding {
    int now, most;
};

static void
count_outstanding(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct outstanding *count = rig->tap_ctx;
    struct port *in;
    const struct packet *pkt = rig_arrival(rig, event, &in);

    if (pkt && in->is_nic && pkt->type == PACKET_READ_REQ) {
        count->most = ++count->now > count->most ? count->now : count->most;
    } else if (pkt && in->is_nic && pkt->type == PACKET_READ_RESP &&
               (pkt->flags & PACKET_LAST)) {
        count->now--;
    }
    rig_handle(lp, event);
}

static void
limit_of_outstanding_reads(void **state)
{
    const int64_t limits[] = {1, 3, 16};
    int64_t fct_ps[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct outstanding count = {0, 0};
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.max_reads = limits[i];
        rig.tap = count_outstanding;
        rig.tap_ctx = &count;
        uint32_t connection = build(&rig, 0, NULL, 0);

        for (int k = 0; k < 40; k++) {
            post(&rig, connection, QP_READ, 4096, 0);
        }
        rig_play(&rig);
        assert_int_equal(count.most, limits[i]);
        fct_ps[i] = rig.flows[39]->sent_ps;
        rig_clear(&rig);
    }
    assert_true(fct_ps[0] > fct_ps[1] && fct_ps[1] > fct_ps[2]);
}

/* Two hosts are read from at once: they, who send, are slowed down. */
static void
responder_is_paced(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, 3, 100 * GBPS, DELAY);
    rig_dcqcn(&rig, "mlx5");
    rig_build(&rig);
    for (uint32_t h = 1; h < 3; h++) {
        rig_flow(&rig, 0, h, 8 << 20, 0)->verb = QP_READ;
    }
    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_DONE);
    for (uint32_t i = 0; i < 2; i++) {
        const struct qp *asks = net_qp(rig.net, i, 0), *answers = net_qp(rig.net, i, 1);

        assert_true(asks->cnps_sent > 10);
        assert_int_equal(asks->cnps_received, 0);
        assert_true(answers->cnps_received > 10);
        assert_true(answers->rate.rate_bps < 100 * GBPS);
    }
    rig_clear(&rig);
}

/* PSNs of one READ pass 0, with a loss behind it. */
static void
wrap(void **state)
{
    const uint64_t drop[] = {30};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    uint32_t connection = build(&rig, 1, drop, 1);
    struct rig_flow *flow = post(&rig, connection, QP_READ, 100 * 4096, 0);

    rig_start(&rig, PARTITION_ONE, 1);
    net_qp(rig.net, connection, 0)->psn_base = 0xFFFFF0;
    net_qp(rig.net, connection, 1)->psn_base_peer = 0xFFFFF0;
    rig_run(&rig, TIME_NEVER_PS);
    assert_int_equal(rig_qp(flow)->gaps_in_reads, 1);
    assert_int_equal(rig_qp(flow)->timeouts, 0);
    assert_int_equal(rig_qp(flow)->payload_received, 100 * 4096);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_response),
        cmocka_unit_test(lost_last_response),
        cmocka_unit_test(lost_request),
        cmocka_unit_test(ack_tells_of_lost_response),
        cmocka_unit_test(reads_between_writes),
        cmocka_unit_test(limit_of_outstanding_reads),
        cmocka_unit_test(responder_is_paced),
        cmocka_unit_test(wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
