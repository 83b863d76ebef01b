/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_rnr.c - receive WQEs and what happens when there is none.  The interval: K14c.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/rig.h"

#define DELAY 25253 /* K10: 5 m */

/* 'n' messages of 'bytes' from host 0 to host 1. */
static void
play(struct rig *rig, enum qp_verb verb, int n, int64_t bytes)
{
    rig_star(rig, 2, 100 * GBPS, DELAY);
    rig_build(rig);
    uint32_t connection = net_connect(rig->net, 0, 0, 1, 0, 0);

    for (int i = 0; i < n; i++) {
        rig_flow_on(rig, connection, 0, bytes, 0)->verb = verb;
    }
    rig_play(rig);
}

/* Which verbs take a receive WQE. */
static void
who_takes_one(void **state)
{
    const bool takes[] = {[QP_WRITE] = false,
                          [QP_WRITE_IMM] = true,
                          [QP_SEND] = true,
                          [QP_SEND_IMM] = true,
                          [QP_READ] = false};

    (void)state;
    for (enum qp_verb verb = QP_WRITE; verb <= QP_READ; verb++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.receive_queue = 2;
        rig.nic.receive_delay_ps = 100 * PS_PER_US;
        rig.nic.rnr_timer = 1;
        play(&rig, verb, 10, 10000);
        assert_int_equal(rig.net->end, NET_END_DONE);
        assert_int_equal(rig_sum(&rig).rnrs > 0, takes[verb]);
        assert_int_equal(rig_sum(&rig).timeouts, 0);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(rig.flows[i]->n_received, verb != QP_READ);
        }
        rig_clear(&rig);
    }
}

/* A SEND is refused at its first packet, a WRITE with immediate data at its last one: what
 * lies before that is not sent again. */
static void
where_it_is_refused(void **state)
{
    (void)state;
    for (int imm = 0; imm < 2; imm++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.receive_queue = 1;
        rig.nic.receive_delay_ps = 15 * PS_PER_US;
        rig.nic.rnr_timer = 2; /* 20 us */
        play(&rig, imm ? QP_WRITE_IMM : QP_SEND, 2, 20 * 4096);
        assert_int_equal(rig_sum(&rig).rnrs, 1);
        if (imm) {
            assert_int_equal(rig_sum(&rig).retransmitted, 1);
        } else {
            assert_in_range(rig_sum(&rig).retransmitted, 2, 10);
        }
        rig_clear(&rig);
    }
}

/* Without a limit, or posted again at once, there is always one. */
static void
never_refused(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 2; n++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.receive_queue = n;
        rig.nic.receive_delay_ps = n ? 0 : PS_PER_MS;
        play(&rig, QP_SEND, 50, 1000);
        assert_int_equal(rig_sum(&rig).rnrs, 0);
        assert_int_equal(rig_sum(&rig).retransmitted, 0);
        rig_clear(&rig);
    }
}

/* Retries run out; seven is for ever. */
static void
gives_up(void **state)
{
    (void)state;
    for (int64_t retries = 0; retries <= 7; retries += 1 + retries * 2) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.receive_queue = 1;
        rig.nic.receive_delay_ps = 100 * PS_PER_US;
        rig.nic.rnr_timer = 1; /* 10 us */
        rig.nic.rnr_retry = retries;
        play(&rig, QP_SEND, 2, 100);
        const struct qp *qp = rig_qp(rig.flows[0]);

        if (retries == RNR_FOR_EVER) {
            assert_int_equal(rig.net->end, NET_END_DONE);
        } else {
            assert_int_equal(rig.net->end, NET_END_QP_ERROR);
            assert_true(qp->failed);
            assert_int_equal(qp->rnrs_received, retries + 1);
            assert_int_equal(rig.flows[1]->sent_ps, TIME_NEVER_PS);
        }
        rig_clear(&rig);
    }
}

/* Something received gives all retries back. */
static void
progress_resets(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.receive_queue = 1;
    rig.nic.receive_delay_ps = 15 * PS_PER_US;
    rig.nic.rnr_timer = 1;
    rig.nic.rnr_retry = 2;
    play(&rig, QP_SEND, 30, 100);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_int_equal(rig_sum(&rig).rnrs, 29 * 2);
    rig_clear(&rig);
}

/* While it waits a QP still answers its peer's READs. */
static void
waits_as_requester_only(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.receive_queue = 1;
    rig.nic.receive_delay_ps = PS_PER_MS;
    rig.nic.rnr_timer = 12;
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);

    rig_flow_on(&rig, connection, 0, 100, 0)->verb = QP_SEND;
    rig_flow_on(&rig, connection, 0, 100, 0)->verb = QP_SEND;
    rig_flow_on(&rig, connection, 1, 40960, 50 * PS_PER_US)->verb = QP_READ;
    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_true(rig.flows[1]->sent_ps > PS_PER_MS);
    assert_true(rig.flows[2]->sent_ps < 60 * PS_PER_US);
    rig_clear(&rig);
}

static void
timer_codes(void **state)
{
    const struct {
        uint8_t code;
        int64_t us;
    } some[] = {{0, 655360}, {1, 10},     {5, 60},     {12, 640},
                {14, 1280},  {25, 61440}, {31, 491520}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(some); i++) {
        assert_int_equal(nic_rnr_wait_ps(some[i].code), some[i].us * PS_PER_US);
    }
    for (uint8_t code = 2; code < 32; code++) {
        assert_true(nic_rnr_wait_ps(code) > nic_rnr_wait_ps((uint8_t)(code - 1)));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_takes_one),   cmocka_unit_test(where_it_is_refused),
        cmocka_unit_test(never_refused),   cmocka_unit_test(gives_up),
        cmocka_unit_test(progress_resets), cmocka_unit_test(waits_as_requester_only),
        cmocka_unit_test(timer_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
