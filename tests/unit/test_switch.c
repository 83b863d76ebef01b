/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_switch.c - what a switch does with a frame: latency, admission, pauses, marks,
 * loss.  K10, K11, K17, K18, K21, K27 name rows of the known answers in
 * docs/validation.md.
 */
#include <config.h>

#include "models/switch/switch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/switch/ecn.h"
#include "sim/rng.h"
#include "tests/support/rig.h"

/* One way over 'metres' at 198 m a microsecond. */
static int64_t
delay_ps(double metres)
{
    return (int64_t)(metres / 198 * 1e6 + 0.5);
}

/* Times from the start of one frame of 4158 bytes until it is received and until its ACK
 * is, ns: 4080 bytes and RETH make such a frame. */
static void
time_frame(struct rig *rig, double *data_ns, double *rtt_ns)
{
    rig_build(rig);
    struct rig_flow *flow = rig_flow(rig, 0, 1, 4080, 0);

    rig_play(rig);
    *data_ns = (double)flow->received_ps / 1000;
    *rtt_ns = (double)flow->sent_ps / 1000;
}

/* K10: 100G and 400G, one switch of 300 ns, two cables of 5 m. */
static void
k10_one_switch(void **state)
{
    const int64_t gbps[] = {100, 400};
    const double data[] = {1017.07, 517.15}, rtt[] = {1379.41, 870.61};

    (void)state;
    for (int i = 0; i < 2; i++) {
        double data_ns, rtt_ns;
        struct rig rig;

        rig_init(&rig, 1);
        rig_star(&rig, 2, gbps[i] * GBPS, delay_ps(5));
        time_frame(&rig, &data_ns, &rtt_ns);
        assert_true(fabs(data_ns - data[i]) < 0.01);
        assert_true(fabs(rtt_ns - rtt[i]) < 0.01);
        rig_clear(&rig);
    }
}

/* K10, cut through: 683.79 ns, and the time of the header the switch decides by. */
static void
k10_cut_through(void **state)
{
    double data_ns, rtt_ns;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.sw.cut_through = true;
    rig_star(&rig, 2, 100 * GBPS, delay_ps(5));
    time_frame(&rig, &data_ns, &rtt_ns);
    assert_true(fabs(data_ns - (683.79 + 74 * 0.08)) < 0.01);
    assert_true(fabs(rtt_ns - data_ns - 362.35) <
                0.01); /* an ACK is no longer than that */
    rig_clear(&rig);
}

/* K11: leaf, spine, leaf; 5 m to the hosts, 40 m between. */
static void
k11_leaf_spine(void **state)
{
    const struct link_params host = {.rate_bps = 100 * GBPS, .delay_ps = delay_ps(5)};
    const struct link_params fabric = {.rate_bps = 100 * GBPS, .delay_ps = delay_ps(40)};
    double data_ns, rtt_ns;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_leaf_spine(&rig, 2, 2, 1, &host, &fabric);
    time_frame(&rig, &data_ns, &rtt_ns);
    assert_true(fabs(data_ns - 2687.67) < 0.02);
    assert_true(fabs(rtt_ns - 4065.89) < 0.02);
    rig_clear(&rig);
}

/* Cut through only where it may: at equal rates, into an empty queue. */
static void
cut_through_or_not(void **state)
{
    const struct link_params slow = {.rate_bps = 25 * GBPS};
    const struct link_params fast = {.rate_bps = 100 * GBPS};
    const int64_t frame = 1000 + 62 + 16;

    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct link_params links[] = {i & 1 ? fast : slow, i & 2 ? fast : slow};
        int64_t in_ps = i & 1 ? 80 : 320, out_ps = i & 2 ? 80 : 320;
        bool cuts = in_ps == out_ps;
        struct rig rig;

        rig_init(&rig, 1);
        rig.sw.cut_through = true;
        rig_chain(&rig, 1, links);
        rig_build(&rig);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 1000, 0);

        rig_play(&rig);
        assert_int_equal(flow->received_ps,
                         (cuts ? 74 : frame + 8) * in_ps + 300000 + (frame + 8) * out_ps);
        rig_clear(&rig);
    }
}

/* Two hosts send at once: the second frame stands in the queue, and is stored. */
static void
no_cut_into_a_queue(void **state)
{
    const int64_t frame = 1000 + 62 + 16;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.sw.cut_through = true;
    rig_star(&rig, 3, 100 * GBPS, 0);
    rig_build(&rig);
    struct rig_flow *first = rig_flow(&rig, 0, 2, 1000, 0);
    struct rig_flow *second = rig_flow(&rig, 1, 2, 1000, 50000);

    rig_play(&rig);
    int64_t start_ps = 74 * 80 + 300000;

    assert_int_equal(first->received_ps, start_ps + (frame + 8) * 80);
    /* Its last bit is there at 50 ns + 1086 bytes; 300 ns later the port has been
     * free for a while. */
    assert_int_equal(second->received_ps,
                     50000 + (frame + 8) * 80 + 300000 + (frame + 8) * 80);
    rig_clear(&rig);
}

/* The same when what it stands behind has not even been forwarded: a frame of 1078 bytes,
 * one of 90, and one of 4174 whose header is forwarded 6.64 ns before the
 * port is free. */
static void
no_cut_behind_what_is_forwarded(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.sw.cut_through = true;
    rig_star(&rig, 4, 100 * GBPS, 0);
    rig_build(&rig);
    rig_flow(&rig, 0, 3, 1000, 0);
    rig_flow(&rig, 1, 3, 12, 50000);
    struct rig_flow *third = rig_flow(&rig, 2, 3, 4096, 90000);

    rig_play(&rig);
    assert_int_equal(third->received_ps,
                     90000 + (4174 + 8) * 80 + 300000 + (4174 + 8) * 80);
    rig_clear(&rig);
}

/* ---- pauses ------------------------------------------------------------------------ */

/* K17 and K18: host0 sends to host1 over a switch whose way to host1 stands still.
 * Frames that arrive after the one that stopped host0, and drops, with
 * 'headroom_bytes'; the pause frame has just missed a full frame of the other direction
 * when 'busy_back'. */
static int64_t
after_the_stop(int64_t rate_bps, double metres, bool busy_back, int64_t phase_ps,
               int64_t reaction_ps, int64_t headroom_bytes, int64_t *drops)
{
    struct rig rig;

    rig_init(&rig, 1);
    rig.nic.pfc_reaction_ps = reaction_ps;
    rig.sw.headroom_bytes = headroom_bytes;
    rig.sw.alpha_q32 = PARAM_ONE / 64;
    rig_star(&rig, 3, rate_bps, delay_ps(metres));
    rig_build(&rig);
    struct port *blocked = rig_port(&rig, "leaf0", "host1");

    rig_flow(&rig, 0, 1, 2000 * 4096, 0);
    if (busy_back) {
        rig_flow(&rig, 2, 0, 2000 * 4096, phase_ps);
    }
    rig_start(&rig, PARTITION_ONE, 1);
    /* Paused from the start for longer than the test lasts. */
    blocked->turn[3].pause_until_ps = PS_PER_S;
    blocked->paused |= 1 << 3;
    rig_run(&rig, 50 * PS_PER_US); /* before the stop is repeated */
    const struct port *in = rig_port(&rig, "leaf0", "host0");

    assert_int_equal(in->stats[3].pfc_xoff_tx, 1);
    assert_true(in->in[3].xoff);
    *drops = in->stats[3].drops;
    int64_t n = in->in[3].headroom_bytes / 4158 + *drops;

    assert_int_equal(in->in[3].headroom_bytes % 4158, 0);
    rig_clear(&rig);
    return n;
}

/* K18: frames after the stop, the way back idle, t_react 0. */
static void
k18_idle(void **state)
{
    const struct {
        int64_t gbps;
        double metres;
        int64_t n;
    } rows[] = {{100, 5, 1}, {100, 40, 2}, {100, 100, 4},  {100, 300, 10},
                {400, 5, 1}, {400, 40, 5}, {400, 100, 13}, {400, 300, 37}};

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        int64_t drops;

        assert_int_equal(after_the_stop(rows[r].gbps * GBPS, rows[r].metres, false, 0, 0,
                                        1000000, &drops),
                         rows[r].n);
        assert_int_equal(drops, 0);
        /* Just enough, and one byte less. */
        after_the_stop(rows[r].gbps * GBPS, rows[r].metres, false, 0, 0, 4158 * rows[r].n,
                       &drops);
        assert_int_equal(drops, 0);
        after_the_stop(rows[r].gbps * GBPS, rows[r].metres, false, 0, 0,
                       4158 * rows[r].n - 1, &drops);
        assert_int_equal(drops, 1);
    }
}

/* K18: the worst that any phase of the way back does; K17: the formula covers it. */
static void
k18_worst_phase(void **state)
{
    const struct {
        int64_t gbps;
        double metres;
        int64_t n;
    } rows[] = {{100, 5, 2}, {100, 40, 3}, {100, 100, 5},  {100, 300, 11},
                {400, 5, 2}, {400, 40, 6}, {400, 100, 14}, {400, 300, 38}};

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        int64_t slot_ps = 4178 * 8000 / rows[r].gbps;
        int64_t most = 0, drops;

        for (int phase = 0; phase < 40; phase++) {
            int64_t n =
                after_the_stop(rows[r].gbps * GBPS, rows[r].metres, true,
                               phase * slot_ps / 40, 0, HEADROOM_COMPUTED, &drops);

            assert_int_equal(drops, 0);
            most = n > most ? n : most;
        }
        assert_int_equal(most, rows[r].n);
    }
    for (int i = 0; i < 3; i++) { /* with IEEE's reaction time, too */
        int64_t drops;

        after_the_stop((100 << i) * GBPS, 100, true, 12345, REACTION_IEEE,
                       HEADROOM_COMPUTED, &drops);
        assert_int_equal(drops, 0);
    }
}

/* A stop is repeated while it holds, after half of the longest time each, and taken back
 * once; nothing is lost, no class but the lossless one is stopped. */
static void
stop_repeat_resume(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.sw.alpha_q32 = PARAM_ONE / 64;
    rig_star(&rig, 2, 100 * GBPS, delay_ps(5));
    rig_build(&rig);
    struct port *blocked = rig_port(&rig, "leaf0", "host1");
    struct rig_flow *flow = rig_flow(&rig, 0, 1, 1000 * 4096, 0);

    rig_start(&rig, PARTITION_ONE, 1);
    blocked->turn[3].pause_until_ps = 1000 * PS_PER_US;
    blocked->paused |= 1 << 3;
    blocked->turn[3].pause_timer = true;
    lp_at(&rig.net->sim->lps[0], 1000 * PS_PER_US,
          event_key(PHASE_TIMER, (uint64_t)blocked->id * N_CLASSES + 3, KIND_PAUSE_END,
                    true),
          blocked);
    rig_run(&rig, TIME_NEVER_PS);
    const struct port_stats *stats = &rig_port(&rig, "leaf0", "host0")->stats[3];
    const struct port_stats *heard = &rig_port(&rig, "host0", "leaf0")->stats[3];

    assert_true(flow->sent_ps > 1300 * PS_PER_US);
    assert_int_equal(rig_sum(&rig).drops, 0);
    assert_int_equal(rig_sum(&rig).retransmitted, 0);
    /* Stopped at about 41 us, then every 167.77 us until 1 ms: 5 repeats. */
    assert_int_equal(stats->pfc_xon_tx, heard->pfc_xon_rx);
    assert_int_equal(stats->pfc_xoff_tx, heard->pfc_xoff_rx);
    assert_int_equal(stats->pfc_xoff_tx - stats->pfc_xon_tx, 5);
    /* What the records say, and what the host was stopped for. */
    int64_t recorded_ps = 0;

    for (guint i = 0; i < rig.records->len; i++) {
        const struct probe_record *record =
            &g_array_index(rig.records, struct probe_record, i);

        assert_int_equal(record->kind, PROBE_PAUSE);
        assert_int_equal(record->object, rig_port(&rig, "leaf0", "host0")->id);
        assert_int_equal(record->b, blocked->id);
        assert_int_equal(record->c, 1); /* that port was paused, too */
        recorded_ps += record->time_ps - record->a;
    }
    assert_int_equal(rig.records->len, stats->pfc_xon_tx);
    assert_true(recorded_ps > 950 * PS_PER_US && recorded_ps < 1000 * PS_PER_US);
    int64_t reaction_ps = net_pause_reaction_ps(REACTION_IEEE, 100 * GBPS);

    assert_int_equal(heard->paused_ps,
                     recorded_ps - (int64_t)rig.records->len * reaction_ps);
    rig_clear(&rig);
}

/* ---- loss, marks ------------------------------------------------------------------- */

/* K21: two senders at line rate to one port, nothing lossless: the queue grows 1.2440 MB
 * in 100 us and ends at 8 MB of 16, where half of what comes is lost. */
static void
k21_lossy(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.pfc = rig.sw.pfc = 0;
        rig.nic.ack_timeout = 0;
        rig.sw.buffer_bytes = 16000000;
        rig_star(&rig, 3, 100 * GBPS, delay_ps(5));
        rig_build(&rig);
        rig_flow(&rig, 0, 2, 20000000, 0);
        rig_flow(&rig, 1, 2, 20000000, 0);
        rig_start(&rig, PARTITION_ONE, 1);
        rig_run(&rig, (i ? 600 : 100) * PS_PER_US);
        int64_t queued = rig_port(&rig, "leaf0", "host2")->out[3].queue.bytes;
        double expected = 1.2440e6 * (i ? 6 : 1);

        assert_true(fabs((double)queued - expected) < 0.005 * expected + 2 * 4158);
        assert_int_equal(rig_sum(&rig).drops, 0);
        rig_clear(&rig);
    }
    struct rig rig;

    rig_init(&rig, 1);
    rig.nic.pfc = rig.sw.pfc = 0;
    rig.nic.ack_timeout = 0;
    rig.sw.buffer_bytes = 16000000;
    rig_star(&rig, 3, 100 * GBPS, delay_ps(5));
    rig_build(&rig);
    rig_flow(&rig, 0, 2, 20000000, 0);
    rig_flow(&rig, 1, 2, 20000000, 0);
    rig_start(&rig, PARTITION_ONE, 1);
    rig_run(&rig, 900 * PS_PER_US);
    const struct port *out = rig_port(&rig, "leaf0", "host2");

    assert_true(labs(out->out[3].max_bytes - 8000000) <= 4158);
    assert_true(rig_sum(&rig).drops > 300);
    rig_clear(&rig);
}

/* K27: p(q) with Kmin 100 KB, Kmax 400 KB, Pmax 0.2, over 1e5 packets each. */
static void
k27_marking(void **state)
{
    const struct {
        int64_t queue_bytes;
        double p;
    } rows[] = {{0, 0},        {100000, 0}, {175000, 0.05}, {250000, 0.1},
                {400000, 0.2}, {400001, 1}, {9000000, 1}};
    struct port port = {.ecn_key = rng_key(1, "test_switch", "ecn")};

    (void)state;
    ecn_init(&port.ecn, 100000, 400000, PARAM_Q32(1, 5), 1 << 3, false);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const int n = 100000;
        int marked = 0;

        for (int i = 0; i < n; i++) {
            marked += ecn_decides(&port, rows[r].queue_bytes);
        }
        double p = rows[r].p;

        assert_true(fabs((double)marked / n - p) <= 3 * sqrt(p * (1 - p) / n));
    }
    /* SONiC's set: 1 to 2 MiB, 5 %. */
    int marked = 0;

    ecn_init(&port.ecn, 1 << 20, 2 << 20, PARAM_Q32(5, 100), 1 << 3, false);
    for (int i = 0; i < 100000; i++) {
        marked += ecn_decides(&port, 3 << 19);
    }
    assert_true(fabs(marked / 1e5 - 0.025) < 0.0015);
    /* A step: nothing at K, all beyond. */
    ecn_init(&port.ecn, 50000, 50000, PARAM_ONE, 1 << 3, false);
    assert_false(ecn_decides(&port, 50000));
    assert_true(ecn_decides(&port, 50001));
}

/* Marks go to ECT packets of ECN's classes only; at dequeue by the queue then. */
static void
who_is_marked(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool dequeue = i & 1, ect = i & 2;
        struct rig rig;

        rig_init(&rig, 1);
        rig.sw.ecn_at_dequeue = dequeue;
        rig.ecn = (struct ecn_params){
            .kmin_bytes = 20000, .kmax_bytes = 20000, .pmax_q32 = PARAM_ONE};
        rig.cc_name = ect ? "dcqcn" : "none";
        rig_star(&rig, 3, 100 * GBPS, 0);
        rig_build(&rig);
        rig_flow(&rig, 0, 2, 10 * 4096, 0);
        rig_flow(&rig, 1, 2, 10 * 4096, 0);
        rig_play(&rig);
        const struct port_stats *stats = &rig_port(&rig, "leaf0", "host2")->stats[3];

        /* Frames queue up two by two while one leaves: 0, then 1 to 10 of them; one in
         * service.  More than 20000 bytes: five or more. */
        assert_true(ect ? stats->marked > 3 && stats->marked < 15 : stats->marked == 0);
        assert_int_equal(rig_sum(&rig).marked, stats->marked);
        assert_true(ect == (rig_sum(&rig).cnps > 0));
        rig_clear(&rig);
    }
}

/* A packet for a NIC that no route leads to is lost and counted. */
static void
no_route(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_timeout = 1;
    rig.nic.retry_count = 2;
    rig_star(&rig, 2, 100 * GBPS, 0);
    rig_build(&rig);
    net_set_routes_at(rig.net, 0, route_table_new(2), PS_PER_US);
    struct rig_flow *before = rig_flow(&rig, 0, 1, 64, 0);
    struct rig_flow *after = rig_flow(&rig, 0, 1, 64, 2 * PS_PER_US);

    rig_play(&rig);
    assert_true(before->sent_ps < PS_PER_US);
    assert_int_equal(after->sent_ps, TIME_NEVER_PS);
    assert_int_equal(rig.net->switches[0].lost_route, 3);
    assert_int_equal(rig.net->end, NET_END_QP_ERROR);
    rig_clear(&rig);
}

/* Two switches that send a packet to each other: TTL 64 ends it. */
static void
loop(void **state)
{
    const struct link_params link = {.rate_bps = 100 * GBPS};
    const struct link_params links[] = {link, link, link};
    uint16_t to_other[] = {1}, back[] = {0};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_timeout = 5;
    rig.nic.retry_count = 0;
    rig_chain(&rig, 2, links);
    rig_build(&rig);
    for (uint32_t s = 0; s < 2; s++) {
        struct route_table *table = route_table_new(2);

        route_table_set(table, 0, s ? to_other : back, 1);
        route_table_set(table, 1, s ? back : to_other, 1);
        net_set_routes_at(rig.net, s, table, 0);
    }
    /* leaf1's port 0 leads to leaf0. */
    rig_flow(&rig, 0, 1, 64, PS_PER_US);
    rig_play(&rig);
    assert_int_equal(rig.net->switches[0].lost_ttl + rig.net->switches[1].lost_ttl, 1);
    /* Host to leaf0, then 63 times between them, one switch with each. */
    assert_int_equal(rig_sum(&rig).tx_pkts, 1 + 63);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k10_one_switch),
        cmocka_unit_test(k10_cut_through),
        cmocka_unit_test(k11_leaf_spine),
        cmocka_unit_test(cut_through_or_not),
        cmocka_unit_test(no_cut_into_a_queue),
        cmocka_unit_test(no_cut_behind_what_is_forwarded),
        cmocka_unit_test(k18_idle),
        cmocka_unit_test(k18_worst_phase),
        cmocka_unit_test(stop_repeat_resume),
        cmocka_unit_test(k21_lossy),
        cmocka_unit_test(k27_marking),
        cmocka_unit_test(who_is_marked),
        cmocka_unit_test(no_route),
        cmocka_unit_test(loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
