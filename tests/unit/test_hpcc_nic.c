/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_hpcc_nic.c - windows, turns, answers and going back as the HPCC simulator's NICs have
 * them, each option by an example; numbers in brackets are the points of docs/hpcc.md.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/base_rtt.h"
#include "tests/support/rig.h"

#define DELAY PS_PER_US
#define SLOT 83839 /* of a full frame at 100 Gb/s */

static const struct link_params gbps100 = {.rate_bps = 100 * GBPS, .delay_ps = DELAY};

static void
hpcc_star(struct rig *rig, uint32_t n, int64_t rate_bps)
{
    rig_init(rig, 1);
    rig_hpcc(rig);
    rig_star(rig, n, rate_bps, DELAY);
}

/* ---- windows ----------------------------------------------------------------------- */

/* [8] 52000 B in W1, 104000 B in W2 and W3, 22000 B in W4; [9] the base round trips. */
static void
windows(void **state)
{
    static const struct {
        int64_t window_bytes, rtt_ps;
    } wanted[] = {{52000, 4160000}, {104000, 8320000}, {22000, 4400000}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct rig rig;

        if (i == 1) {
            rig_init(&rig, 1);
            rig_hpcc(&rig);
            rig_leaf_spine(&rig, 64, 4, 16, &gbps100, &gbps100);
        } else {
            hpcc_star(&rig, i == 0 ? 17 : 3, (i == 0 ? 100 : 40) * GBPS);
        }
        rig.nic.window_bytes = WINDOW_BDP;
        rig_build(&rig);
        uint32_t last = rig.net->n_hosts - 1;
        struct rig_flow *near = rig_flow(&rig, 1, 0, 1000, 0);
        struct base_rtt base = base_rtt_of(rig.net, 0, last);

        rig_start(&rig, PARTITION_ONE, 1);
        assert_int_equal(base.rtt_ps, wanted[i].rtt_ps);
        assert_int_equal(rig_qp(near)->window_bytes, wanted[i].window_bytes);
        assert_int_equal(rig_qp(near)->window_pkts, wanted[i].window_bytes / 1000);
        rig_clear(&rig);
    }
}

/* [8] GLOBAL_T 0: that of the pair. */
static void
window_of_the_pair(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_hpcc(&rig);
    rig_leaf_spine(&rig, 8, 2, 2, &gbps100, &gbps100);
    rig.nic.window_bytes = WINDOW_BDP;
    rig.nic.window_scope = WINDOW_SCOPE_PAIR;
    rig_build(&rig);
    struct rig_flow *near = rig_flow(&rig, 1, 0, 1000, 0);
    struct rig_flow *far = rig_flow(&rig, 1, 7, 1000, 0);

    rig_start(&rig, PARTITION_ONE, 1);
    assert_int_equal(rig_qp(near)->window_bytes, 52000);
    assert_int_equal(rig_qp(far)->window_bytes, 104000);
    rig_clear(&rig);
}

/* [8] VAR_WIN: floor(window x rate / line rate), not below 1, blocked when reached. */
static void
window_goes_with_the_rate(void **state)
{
    static const struct {
        int64_t rate_bps;
        uint32_t pkts;
    } cases[] = {
        {100 * GBPS, 52}, {50 * GBPS, 26}, {49 * GBPS, 26}, {GBPS, 1}, {1000, 1}};
    struct rig rig;

    (void)state;
    hpcc_star(&rig, 2, 100 * GBPS);
    rig.nic.window_bytes = 52000;
    rig.nic.window_varies = true;
    rig_build(&rig);
    struct qp *qp;
    struct rig_flow *flow = rig_flow(&rig, 0, 1, 1000, 0);

    rig_start(&rig, PARTITION_ONE, 1);
    qp = rig_qp(flow);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        qp->rate.rate_bps = cases[i].rate_bps;
        qp_set_pace(qp);
        assert_int_equal(qp->window_pkts, cases[i].pkts);
    }
    rig_clear(&rig);
}

/* Packets that host0 has sent by 'stop_ps'. */
static int64_t
sent_by(struct rig *rig, int64_t stop_ps)
{
    rig_run(rig, stop_ps);
    return rig_port(rig, "host0", "leaf0")->out[3].tx_pkts;
}

/* [8] A window of 2001 B lets three packets of 1000 B out. */
static void
window_may_be_passed(void **state)
{
    static const int64_t windows[] = {2000, 2001, 3000, 3001};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(windows); i++) {
        struct rig rig;

        hpcc_star(&rig, 2, 100 * GBPS);
        rig.nic.window_bytes = windows[i];
        rig_build(&rig);
        rig_flow(&rig, 0, 1, 100000, 0);
        rig_start(&rig, PARTITION_ONE, 1);
        assert_int_equal(sent_by(&rig, 3 * PS_PER_US), (windows[i] + 999) / 1000);
        rig_clear(&rig);
    }
}

/* ---- pace and turns ---------------------------------------------------------------- */

/* [7] The gap is ceil(exact) - 1 ps; RATE_BOUND 0: that of the line. */
static void
gaps(void **state)
{
    (void)state;
    for (int bound = 0; bound <= 1; bound++) {
        struct rig rig;

        hpcc_star(&rig, 2, 100 * GBPS);
        rig.nic.rate_bound = bound;
        rig_build(&rig);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 1000, 0);

        rig_start(&rig, PARTITION_ONE, 1);
        struct qp *qp = rig_qp(flow);

        qp->rate.rate_bps = INT64_C(33333333333);
        qp_set_pace(qp);
        qp_begin_gap(qp, 0, 1048);
        assert_int_equal(qp->next_send_ps, bound ? 251520 : SLOT);
        qp->rate.rate_bps = GBPS / 100; /* 838 us: no slow gap that follows the rate */
        qp_set_pace(qp);
        qp_begin_gap(qp, 0, 1048);
        assert_int_equal(qp->next_send_ps, bound ? 838399999 : SLOT);
        assert_false(qp->is_slow);
        rig_clear(&rig);
    }
}

/* [6] Of two QPs one waits for its window, and its time in the pace has passed; the other is
 * slow.  No timer is set: the slow one goes on with the first ACK.  A NIC that keeps those
 * ready apart goes on at the slow one's time. */
static void
no_timer_past_a_window(void **state)
{
    (void)state;
    for (int arbiter = ARBITER_READY; arbiter <= ARBITER_SCAN; arbiter++) {
        struct rig rig;

        hpcc_star(&rig, 3, 100 * GBPS);
        rig.nic.arbiter = arbiter;
        rig.nic.window_bytes = 1000;
        rig_build(&rig);
        struct rig_flow *bound = rig_flow(&rig, 0, 1, 10000, 0);
        struct rig_flow *slow = rig_flow(&rig, 0, 2, 100000, 0);

        rig_start(&rig, PARTITION_ONE, 1);
        struct qp *qp = rig_qp(slow);

        assert_int_equal(rig_qp(bound)->window_pkts, 1);
        qp->window_pkts = 0;
        qp->rate.rate_bps = 10 * GBPS; /* a packet every 838 ns */
        qp->rate.limited = true;
        qp_set_pace(qp);
        rig_run(&rig, 4100 * PS_PER_NS); /* the first ACK comes after 4.18 us */
        assert_int_equal(qp->snd_nxt, arbiter == ARBITER_SCAN ? 1 : 5);
        rig_clear(&rig);
    }
}

/* [6] A slow QP alone, or with one that has nothing left, goes at its time. */
static void
timer_for_the_next(void **state)
{
    struct rig rig;

    (void)state;
    hpcc_star(&rig, 3, 100 * GBPS);
    rig_build(&rig);
    rig_flow(&rig, 0, 1, 1000, 0);
    struct rig_flow *slow = rig_flow(&rig, 0, 2, 100000, 0);

    rig_start(&rig, PARTITION_ONE, 1);
    struct qp *qp = rig_qp(slow);

    qp->rate.rate_bps = 10 * GBPS;
    qp->rate.limited = true;
    qp_set_pace(qp);
    rig_run(&rig, 4100 * PS_PER_NS);
    assert_int_equal(qp->snd_nxt, 5); /* at 84, 922, 1761, 2599, 3437 ns */
    rig_clear(&rig);
}

/* [6] Turns go around the list from behind the last one served. */
static void
turns_go_around(void **state)
{
    struct rig rig;

    (void)state;
    hpcc_star(&rig, 4, 100 * GBPS);
    rig_build(&rig);
    struct rig_flow *flow[3];

    for (uint32_t i = 0; i < 3; i++) {
        flow[i] = rig_flow(&rig, 0, i + 1, i == 1 ? 2000 : 100000, 0);
    }
    rig_start(&rig, PARTITION_ONE, 1);
    /* Flow 0 sends before the others are there: 0 1 2 0 1 2 0 2 0 2. */
    rig_run(&rig, 9 * SLOT + SLOT / 2);
    assert_int_equal(rig_qp(flow[0])->snd_nxt, 4);
    assert_int_equal(rig_qp(flow[1])->snd_nxt, 2);
    assert_int_equal(rig_qp(flow[2])->snd_nxt, 4);
    rig_clear(&rig);
}

/* ---- answers ----------------------------------------------------------------------- */

/* [5] An ACK waits for the frame in service, though three QPs have data to send. */
static void
answers_before_data(void **state)
{
    const int64_t alone_ps = 2 * SLOT + 2 * 4799 + 4 * DELAY;

    (void)state;
    for (int arbiter = ARBITER_READY; arbiter <= ARBITER_SCAN; arbiter++) {
        struct rig rig;

        hpcc_star(&rig, 5, 100 * GBPS);
        rig.nic.arbiter = arbiter;
        rig_build(&rig);
        for (uint32_t dst = 2; dst < 5; dst++) {
            rig_flow(&rig, 1, dst, 100000, 0);
        }
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 1000, PS_PER_US);

        rig_play(&rig);
        assert_in_range(rig_fct_ps(flow), alone_ps + 1, alone_ps + SLOT);
        rig_clear(&rig);
    }
}

/* [5] A pause of class 3 holds ACKs back or not. */
static void
paused_answers(void **state)
{
    (void)state;
    for (int pausable = 0; pausable <= 1; pausable++) {
        for (int arbiter = ARBITER_READY; arbiter <= ARBITER_SCAN; arbiter++) {
            struct rig rig;

            hpcc_star(&rig, 2, 100 * GBPS);
            rig.nic.ack_pausable = pausable;
            rig.nic.arbiter = arbiter;
            rig_build(&rig);
            struct rig_flow *flow = rig_flow(&rig, 0, 1, 3000, 0);
            struct port *port = rig_port(&rig, "host1", "leaf0");

            rig_start(&rig, PARTITION_ONE, 1);
            port->turn[3].pause_until_ps = TIME_NEVER_PS;
            port->paused = 1 << 3;
            rig_run(&rig, PS_PER_MS);
            assert_int_equal(flow->sent_ps == TIME_NEVER_PS, pausable);
            assert_int_equal(port->out[3].tx_pkts, pausable ? 0 : 3);
            rig_clear(&rig);
        }
    }
}

/* [10] An ACK a packet, though a pause keeps them waiting; else those that wait are joined. */
static void
an_ack_each(void **state)
{
    (void)state;
    for (int joins = 0; joins <= 1; joins++) {
        struct rig rig;

        hpcc_star(&rig, 2, 100 * GBPS);
        rig.nic.ack_coalesce = joins;
        rig_build(&rig);
        rig_flow(&rig, 0, 1, 1000000, 0);
        struct port *port = rig_port(&rig, "host1", "leaf0");

        rig_start(&rig, PARTITION_ONE, 1);
        port->turn[3].pause_until_ps =
            50 * PS_PER_US; /* then the next arrival has it look */
        port->paused = 1 << 3;
        rig_run(&rig, TIME_NEVER_PS);
        if (joins) {
            assert_in_range(rig_sum(&rig).acks, 1, 500);
        } else {
            assert_int_equal(rig_sum(&rig).acks, 1000);
        }
        rig_clear(&rig);
    }
}

/* [11] Every marked packet has a flag on its ACK, and no CNP is sent. */
static void
flags_for_marks(void **state)
{
    struct rig rig;

    (void)state;
    hpcc_star(&rig, 3, 100 * GBPS);
    rig_dcqcn(&rig, "hpcc-sim");
    rig.ecn = (struct ecn_params){.kmin_bytes = 20000, .kmax_bytes = 20000};
    for (uint32_t i = 0; i < rig.net->n_switches; i++) {
        rig.net->ecn_params[i] = rig.ecn;
    }
    rig_build(&rig);
    struct rig_flow *flow[] = {rig_flow(&rig, 1, 0, 200000, 0),
                               rig_flow(&rig, 2, 0, 200000, 0)};

    rig_play(&rig);
    const struct out_class *cnps = &rig_port(&rig, "host0", "leaf0")->out[6];
    uint32_t heard = rig_qp(flow[0])->cnps_received + rig_qp(flow[1])->cnps_received;

    assert_int_equal(cnps->tx_pkts, 0);
    assert_true(heard > 50);
    assert_int_equal(heard, rig_port(&rig, "leaf0", "host0")->stats[3].marked);
    assert_int_equal(heard, rig_sum(&rig).cnps);
    rig_clear(&rig);
}

/* ---- losses ------------------------------------------------------------------------ */

/* A flow of 10 MB whose data packets number drop[n] are lost on the way to the switch. */
static struct rig_flow *
play_with_drops(struct rig *rig, const uint64_t drop[], uint32_t n)
{
    struct rig_flow *flow;

    rig_build(rig);
    flow = rig_flow(rig, 0, 1, 10000000, 0);
    rig_start(rig, PARTITION_ONE, 1);
    port_set_drops(rig_port(rig, "leaf0", "host0"), drop, n);
    rig_run(rig, TIME_NEVER_PS);
    return flow;
}

/* [12] One NACK for a gap; another one for the same packet only after 500 us.  [13] The
 * sender goes back, at its pace: what is lost is the round trip. */
static void
nacks(void **state)
{
    uint64_t drop[2] = {6, 0};
    struct rig rig;
    struct rig_flow *flow;
    int64_t once_ps, n_discarded;

    (void)state;
    hpcc_star(&rig, 2, 100 * GBPS);
    flow = play_with_drops(&rig, drop, 1);
    n_discarded = rig_sum(&rig).lost_protocol;
    once_ps = rig_fct_ps(flow);
    assert_int_equal(rig_sum(&rig).naks, 1);
    assert_int_equal(rig_sum(&rig).acks, 10000);
    assert_int_equal(rig_qp(flow)->retransmitted, n_discarded + 1);
    assert_in_range(n_discarded, 48, 52);
    rig_clear(&rig);

    /* Lost again when sent again. */
    drop[1] = 6 + (uint64_t)n_discarded + 1;
    hpcc_star(&rig, 2, 100 * GBPS);
    flow = play_with_drops(&rig, drop, 2);
    assert_int_equal(rig_sum(&rig).naks, 2);
    assert_in_range(rig_fct_ps(flow), once_ps + 499 * PS_PER_US,
                    once_ps + 510 * PS_PER_US);
    rig_clear(&rig);

    /* A NAK once a gap: nothing saves it but a timer. */
    hpcc_star(&rig, 2, 100 * GBPS);
    rig.nic.nack_interval_ps = NACK_ONCE;
    flow = play_with_drops(&rig, drop, 2);
    assert_int_equal(rig_sum(&rig).naks, 1);
    assert_int_equal(flow->sent_ps, TIME_NEVER_PS);
    rig_clear(&rig);
}

/* [13] L2_BACK_TO_ZERO: to the start of the chunk.  Packet 6 is the third of its four. */
static void
back_to_the_chunk(void **state)
{
    static const int64_t sizes[] = {10000000, 9999001, 8002, 7500};
    const uint64_t drop[] = {6};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        struct rig rig;
        struct rig_flow *flow;

        hpcc_star(&rig, 2, 100 * GBPS);
        rig.nic.go_back = GO_BACK_CHUNK;
        rig.nic.chunk_bytes = 4000;
        rig_build(&rig);
        flow = rig_flow(&rig, 0, 1, sizes[i], 0);
        rig_start(&rig, PARTITION_ONE, 1);
        port_set_drops(rig_port(&rig, "leaf0", "host0"), drop, 1);
        rig_run(&rig, TIME_NEVER_PS);
        int64_t n_discarded = rig_sum(&rig).lost_protocol;

        assert_int_not_equal(flow->sent_ps, TIME_NEVER_PS);
        assert_int_equal(flow->n_received, 1);
        assert_int_equal(rig.net->qps[rig_qp(flow)->peer].payload_received, sizes[i]);
        /* The one lost, the one before it in the chunk, and what was under way: of which
         * the second one has a NACK again, for its chunk is wanted from the start. */
        assert_int_equal(rig_sum(&rig).naks, 2);
        assert_true(rig_qp(flow)->retransmitted >= n_discarded + 2);
        rig_clear(&rig);
    }
}

/* ---- ports ------------------------------------------------------------------------- */

/* [27] 10000 and on for each pair of hosts, answers with the ports exchanged. */
static void
ports_are_counted(void **state)
{
    struct rig rig;

    (void)state;
    hpcc_star(&rig, 3, 100 * GBPS);
    rig_build(&rig);
    const struct rig_flow *flow[] = {
        rig_flow(&rig, 0, 1, 1000, 0), rig_flow(&rig, 0, 1, 1000, 0),
        rig_flow(&rig, 1, 0, 1000, 0), rig_flow(&rig, 0, 2, 1000, 0),
        rig_flow(&rig, 0, 1, 1000, 0), rig_flow(&rig, 2, 0, 1000, 0)};
    static const uint16_t wanted[] = {10000, 10001, 10000, 10000, 10002, 777};

    net_set_udp_ports(rig.net, flow[5]->connection, 777, 0);
    rig_start(&rig, PARTITION_ONE, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(flow); i++) {
        const struct qp *qp = rig_qp(flow[i]), *back = &rig.net->qps[qp->peer];

        assert_int_equal(qp->src_port, wanted[i]);
        assert_int_equal(qp->dst_port, 100);
        assert_int_equal(back->src_port, 100);
        assert_int_equal(back->dst_port, wanted[i]);
    }
    rig_clear(&rig);
}

/* Without the option ports come from QP numbers, and one may still be given. */
static void
ports_by_qpn(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    const struct rig_flow *plain = rig_flow(&rig, 0, 1, 1000, 0);
    const struct rig_flow *given = rig_flow(&rig, 0, 1, 1000, 0);

    net_set_udp_ports(rig.net, given->connection, 0, 5000);
    rig_start(&rig, PARTITION_ONE, 1);
    assert_int_equal(rig_qp(plain)->dst_port, 4791);
    assert_true(rig_qp(plain)->src_port >= 0xC000);
    assert_int_equal(rig_qp(given)->dst_port, 5000);
    assert_true(rig_qp(given)->src_port >= 0xC000);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(window_of_the_pair),
        cmocka_unit_test(window_goes_with_the_rate),
        cmocka_unit_test(window_may_be_passed),
        cmocka_unit_test(gaps),
        cmocka_unit_test(no_timer_past_a_window),
        cmocka_unit_test(timer_for_the_next),
        cmocka_unit_test(turns_go_around),
        cmocka_unit_test(answers_before_data),
        cmocka_unit_test(paused_answers),
        cmocka_unit_test(an_ack_each),
        cmocka_unit_test(flags_for_marks),
        cmocka_unit_test(nacks),
        cmocka_unit_test(back_to_the_chunk),
        cmocka_unit_test(ports_are_counted),
        cmocka_unit_test(ports_by_qpn),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
