/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_qp.c - a reliable connection: what is lost is sent again, once noticed or timed
 * out; what cannot be is given up; sequence numbers wrap.  K12 to K14b name rows of the
 * known answers in docs/validation.md.
 */
#include <config.h>

#include "models/nic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/ideal.h"
#include "tests/support/rig.h"

#define ROCE 3      /* class */
#define DELAY 25253 /* K10: 5 m */
#define SLOT (4178 * 80)

/* A star of two hosts, one flow of 'n' packets, of which the link from host0 loses the
 * data packets on the list. */
static struct rig_flow *
lossy_flow(struct rig *rig, int64_t n, const uint64_t drop[], uint32_t n_drop)
{
    struct fault fault = {.kind = FAULT_DROP, .drop = (uint64_t *)drop, .n_drop = n_drop};

    rig_star(rig, 2, 100 * GBPS, DELAY);
    rig_build(rig);
    if (n_drop) {
        net_add_fault(rig->net, 0, &fault);
    }
    return rig_flow(rig, 0, 1, n * 4096, 0);
}

/* K12: UDP source ports as the drivers derive them. */
static void
k12_source_port(void **state)
{
    (void)state;
    assert_int_equal(qp_udp_source_port(0x11, 0x12), 0xC132);
    assert_int_equal(qp_udp_source_port(0x118, 0x119), 0xF35C);
    assert_int_equal(qp_udp_source_port(1000, 2000), 0xC4BB);
    assert_int_equal(qp_udp_source_port(0xABCDEF, 0x123456), 0xC3C8);
    assert_int_equal(qp_udp_source_port(0x123456, 0xABCDEF), 0xC3C8);
}

/* K13: one packet lost: 5 packets wasted, 6 slots = 2005.4 ns lost, one NAK. */
static void
k13_one_loss(void **state)
{
    (void)state;
    for (uint64_t k = 10; k < 500; k += 97) {
        struct rig rig;

        rig_init(&rig, 1);
        struct rig_flow *flow = lossy_flow(&rig, 1000, &k, 1);

        rig_play(&rig);
        int64_t ideal_ps = net_ideal_fct_ps(rig.net, flow->connection, 0, flow->bytes);

        assert_int_equal(rig.net->nics[1].naks_sent, 1);
        assert_int_equal(rig.net->nics[1].lost_protocol, 5);
        assert_int_equal(rig_qp(flow)->naks_received, 1);
        assert_int_equal(rig_qp(flow)->retransmitted, 6);
        assert_int_equal(rig_qp(flow)->timeouts, 0);
        assert_true(llabs(rig_fct_ps(flow) - ideal_ps - 6 * SLOT) <= SLOT);
        assert_int_equal(flow->n_received, 1);
        rig_clear(&rig);
    }
}

/* K14: the last packet lost: no NAK, but the timeout. */
static void
k14_last_lost(void **state)
{
    const int64_t exponent[] = {14, 18, 20};
    const int64_t timeout_ps[] = {67108864000, 1073741824000, 4294967296000};

    (void)state;
    for (int i = 0; i < 3; i++) {
        const uint64_t last = 100;
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.ack_timeout = exponent[i];
        struct rig_flow *flow = lossy_flow(&rig, 100, &last, 1);

        rig_play(&rig);
        assert_int_equal(rig.net->nics[1].naks_sent, 0);
        assert_int_equal(rig_qp(flow)->timeouts, 1);
        /* Nothing was acknowledged before, so the timer has run since the first packet;
         * all 100 are sent again, and the receiver wants one of them. */
        int64_t ideal_ps = net_ideal_fct_ps(rig.net, flow->connection, 0, flow->bytes);

        assert_true(llabs(rig_fct_ps(flow) - timeout_ps[i] - ideal_ps) < 1000000);
        assert_int_equal(rig.net->nics[1].lost_protocol, 99);
        assert_int_equal(flow->n_received, 1);
        rig_clear(&rig);
    }
}

/* The timer counts from the last ACK, and from a send into silence. */
static void
timer_restarts(void **state)
{
    const uint64_t last = 100;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_every = 10;
    struct rig_flow *flow = lossy_flow(&rig, 100, &last, 1);

    rig_play(&rig);
    /* Packet 90 has been acknowledged 1379 ns after it started; ten are sent again. */
    int64_t acked_ps = 89 * SLOT + 16 * 80 + 1379414;

    assert_int_equal(rig_qp(flow)->retransmitted, 10);
    assert_true(llabs(rig_fct_ps(flow) - acked_ps - 67108864000 - 9 * SLOT - 1379414) <
                2000);
    rig_clear(&rig);
}

/* The packet that a NAK brought again is lost as well: no second NAK for it, so only the
 * timeout helps. */
static void
one_nak_a_gap(void **state)
{
    /* 20 is lost; 21 to 25 are wasted; it comes again as number 26. */
    const uint64_t drop[] = {20, 26};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    struct rig_flow *flow = lossy_flow(&rig, 100, drop, 2);

    rig_play(&rig);
    assert_int_equal(rig.net->nics[1].naks_sent, 1);
    assert_int_equal(rig_qp(flow)->timeouts, 1);
    assert_true(rig_fct_ps(flow) > 67108864000);
    rig_clear(&rig);
}

/* Another gap is another NAK. */
static void
a_nak_each_gap(void **state)
{
    const uint64_t drop[] = {20, 50, 80};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    struct rig_flow *flow = lossy_flow(&rig, 200, drop, 3);

    rig_play(&rig);
    assert_int_equal(rig.net->nics[1].naks_sent, 3);
    assert_int_equal(rig_qp(flow)->timeouts, 0);
    assert_int_equal(rig_qp(flow)->retransmitted, 18);
    rig_clear(&rig);
}

/* A timeout shorter than the way: each packet that comes again is answered again, and
 * nothing is received twice. */
static void
duplicates(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_timeout = 1; /* 8.192 us */
    rig_star(&rig, 2, 100 * GBPS, 10 * PS_PER_US);
    rig_build(&rig);
    struct rig_flow *flow = rig_flow(&rig, 0, 1, 4096, 0);
    struct rig_flow *next = rig_flow_on(&rig, flow->connection, 0, 4096, 100 * PS_PER_US);

    rig_play(&rig);
    /* ACK after 41.3 us; sent again at 8.2, 16.4, 24.6, 32.8, 41.0. */
    assert_int_equal(rig_qp(flow)->timeouts, 2 * 5);
    assert_int_equal(rig_qp(flow)->retransmitted, 2 * 5);
    assert_int_equal(rig.net->nics[1].acks_sent, 2 * 6);
    assert_int_equal(rig.net->nics[1].naks_sent, 0);
    assert_int_equal(flow->n_received, 1);
    assert_int_equal(next->n_received, 1);
    int64_t ideal_ps = net_ideal_fct_ps(rig.net, flow->connection, 0, 4096);

    assert_int_equal(rig_fct_ps(flow), ideal_ps);
    assert_int_equal(rig_fct_ps(next), ideal_ps);
    rig_clear(&rig);
}

static void
stop_host(struct lp *lp, struct work_timer *timer)
{
    port_send_pause(lp, timer->ctx, ROCE, true);
}

/* Gone back, but held up by a pause of five timeouts: nothing is on the way whose answer could
 * be missed, so no retry is spent. */
static void
waiting_spends_no_retry(void **state)
{
    const uint64_t first = 1;
    struct fault drop = {.kind = FAULT_DROP, .drop = (uint64_t *)&first, .n_drop = 1};
    struct work_timer timer = {.fire = stop_host};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.retry_count = 1;
    rig.nic.ack_timeout = 4; /* 65.536 us; the pause takes 335 us */
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    net_add_fault(rig.net, 0, &drop);
    timer.source = net_new_timer(rig.net);
    struct rig_flow *flow = rig_flow(&rig, 0, 1, 64, 2 * PS_PER_US);

    rig_start(&rig, PARTITION_ONE, 1);
    timer.ctx = rig_port(&rig, "leaf0", "host0");
    work_timer_set(net_lp_of_host(rig.net, 0), &timer, 10 * PS_PER_US);
    rig_run(&rig, TIME_NEVER_PS);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_int_equal(rig_qp(flow)->timeouts, 1);
    assert_int_equal(rig_qp(flow)->retransmitted, 1);
    assert_true(flow->sent_ps > 340 * PS_PER_US);
    rig_clear(&rig);
}

/* No timer runs and nothing is on the way, but the link will come up: worth waiting for. */
static void
waits_for_a_link(void **state)
{
    struct fault down = {.kind = FAULT_DOWN, .at_ps = PS_PER_US};
    struct fault up = {.kind = FAULT_UP, .at_ps = 50 * PS_PER_MS};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_timeout = 0;
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    rig.net->sample_ps = 10 * PS_PER_US; /* so that there are epochs to judge at */
    net_add_fault(rig.net, 0, &down);
    net_add_fault(rig.net, 0, &up);
    struct rig_flow *flow = rig_flow(&rig, 0, 1, 64, 2 * PS_PER_US);

    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_true(flow->sent_ps > 50 * PS_PER_MS);
    rig_clear(&rig);
}

/* Retries run out: the queue pair fails, the run ends and says so. */
static void
gives_up(void **state)
{
    (void)state;
    for (int64_t retries = 0; retries <= 7; retries += 7) {
        struct fault down = {.kind = FAULT_DOWN, .at_ps = PS_PER_US};
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.retry_count = retries;
        rig.nic.ack_timeout = 4; /* 65.536 us */
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        rig_build(&rig);
        net_add_fault(rig.net, 1, &down);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 64, 2 * PS_PER_US);

        rig_play(&rig);
        assert_int_equal(rig.net->end, NET_END_QP_ERROR);
        assert_true(rig_qp(flow)->failed);
        assert_int_equal(rig_qp(flow)->timeouts, retries + 1);
        assert_int_equal(rig.net->nics[0].n_qp_errors, 1);
        assert_int_equal(flow->sent_ps, TIME_NEVER_PS);
        /* The epoch after it. */
        int64_t fails_ps = 2 * PS_PER_US + (retries + 1) * 65536000;

        assert_int_equal(rig.net->end_ps, (fails_ps / SIM_EPOCH_PS + 1) * SIM_EPOCH_PS);
        rig_clear(&rig);
    }
}

/* Progress gives all retries back: a packet that is lost each second time never fails. */
static void
progress_resets_retries(void **state)
{
    uint64_t drop[20];
    struct rig rig;

    (void)state;
    for (uint64_t i = 0; i < 20; i++) { /* packet i: lost, then through */
        drop[i] = 1 + 2 * i;
    }
    rig_init(&rig, 1);
    rig.nic.retry_count = 1;
    rig.nic.ack_timeout = 1;
    rig.nic.max_inflight = 1;
    rig.nic.ack_every = 1;
    struct rig_flow *flow = lossy_flow(&rig, 20, drop, 20);

    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_int_equal(rig_qp(flow)->timeouts, 20);
    assert_int_equal(flow->n_received, 1);
    rig_clear(&rig);
}

/* K14b: PSNs wrap from 0xFFFFFF to 0 and nobody notices; losses around it neither. */
static void
k14b_wrap(void **state)
{
    const uint64_t drop[] = {10, 16, 17, 30};
    int64_t fct_ps[2][2];

    (void)state;
    for (int wraps = 0; wraps < 2; wraps++) {
        for (uint32_t n_drop = 0; n_drop <= 4; n_drop += 4) {
            struct rig rig;

            rig_init(&rig, 1);
            rig.nic.ack_every = 2;
            struct rig_flow *flow = lossy_flow(&rig, 100, drop, n_drop);

            rig_start(&rig, PARTITION_ONE, 1);
            struct qp *sender = rig_qp(flow);
            struct qp *receiver = net_qp(rig.net, flow->connection, 1);

            sender->psn_base = receiver->psn_base_peer = wraps ? 0xFFFFF0 : 0x10;
            rig_run(&rig, TIME_NEVER_PS);
            fct_ps[wraps][n_drop / 4] = rig_fct_ps(flow);
            assert_int_equal(rig.net->nics[1].naks_sent > 0, n_drop > 0);
            assert_int_equal(receiver->rcv_nxt, 100);
            rig_clear(&rig);
        }
    }
    assert_memory_equal(fct_ps[0], fct_ps[1], sizeof fct_ps[0]);
}

/* PSNs are compared over half the circle. */
static void
psn_order(void **state)
{
    (void)state;
    assert_int_equal(psn_diff(0, 0xFFFFFF), 1);
    assert_int_equal(psn_diff(0xFFFFFF, 0), -1);
    assert_int_equal(psn_diff(0x7FFFFF, 0), 0x7FFFFF);
    assert_int_equal(psn_diff(0x800000, 0), -0x800000);
    assert_int_equal(psn_diff(5, 5), 0);
    assert_int_equal(psn_diff(0x10, 0xFFFFF0), 0x20);
}

/* Initial PSNs are random by seed and queue pair, and agreed on. */
static void
initial_psns(void **state)
{
    uint32_t psn[2];

    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct rig rig;

        rig_init(&rig, seed);
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        rig_build(&rig);
        struct rig_flow *a = rig_flow(&rig, 0, 1, 1, 0), *b = rig_flow(&rig, 0, 1, 1, 0);

        rig_play(&rig);
        for (unsigned side = 0; side < 2; side++) {
            const struct qp *here = net_qp(rig.net, a->connection, side);
            const struct qp *there = net_qp(rig.net, a->connection, 1 - side);

            assert_int_equal(here->psn_base, there->psn_base_peer);
            assert_true(here->psn_base <= PSN_MASK);
        }
        assert_true(rig_qp(a)->psn_base != rig_qp(b)->psn_base);
        assert_int_equal(rig_qp(a)->qpn, 0x11);
        assert_int_equal(rig_qp(b)->qpn, 0x12);
        psn[seed - 1] = rig_qp(a)->psn_base;
        rig_clear(&rig);
    }
    assert_true(psn[0] != psn[1]);
}

/* Whatever is lost on the way, every message arrives once, whole and in order. */
static void
lossy_both_ways(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        const struct link_params bad = {
            .rate_bps = 100 * GBPS, .delay_ps = DELAY, .error_rate = 0.03};
        const struct link_params links[] = {bad, bad};
        struct rig rig;

        rig_init(&rig, seed);
        rig.nic.ack_every = 1 + (int64_t)seed % 20;
        rig.nic.ack_timeout = 3;
        rig.nic.max_inflight = seed % 3 ? 0 : 10;
        rig_chain(&rig, 1, links);
        rig_build(&rig);
        uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);

        for (uint32_t i = 0; i < 40; i++) {
            rig_flow_on(&rig, connection, i % 2, 1 + i * 1500, 0);
        }
        rig_play(&rig);
        assert_int_equal(rig.net->end, NET_END_DONE);
        assert_true(rig_sum(&rig).retransmitted > 0);
        for (uint32_t i = 0; i < 40; i++) {
            assert_int_equal(rig.flows[i]->n_received, 1);
            assert_int_equal(rig.flows[i]->received_bytes, 1 + i * 1500);
            assert_true(rig.flows[i]->received_ps < rig.flows[i]->sent_ps);
            if (i > 1) {
                assert_true(rig.flows[i]->received_ps > rig.flows[i - 2]->received_ps);
            }
        }
        rig_clear(&rig);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k12_source_port),
        cmocka_unit_test(k13_one_loss),
        cmocka_unit_test(k14_last_lost),
        cmocka_unit_test(timer_restarts),
        cmocka_unit_test(one_nak_a_gap),
        cmocka_unit_test(a_nak_each_gap),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(waiting_spends_no_retry),
        cmocka_unit_test(waits_for_a_link),
        cmocka_unit_test(gives_up),
        cmocka_unit_test(progress_resets_retries),
        cmocka_unit_test(k14b_wrap),
        cmocka_unit_test(psn_order),
        cmocka_unit_test(initial_psns),
        cmocka_unit_test(lossy_both_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
