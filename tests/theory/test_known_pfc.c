/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_pfc.c - K15 to K19: pauses, the headroom they need, and when to go on.
 *
 * Lengths are at 198 m/us; frames of 4158 bytes are middle ones of MTU 4096, or whole
 * WRITEs of 4080 bytes, whose RETH takes the other 16.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "models/net_params.h"
#include "models/switch/buffer.h"
#include "tests/support/known.h"
#include "tests/support/rig.h"

#define MIB INT64_C(1048576)
#define FRAME_BYTES 4158
#define WIRE_BYTES (FRAME_BYTES + WIRE_EXTRA_BYTES)
#define ROCE 3 /* class */

static int64_t
cable_ps(int64_t metres)
{
    return (metres * PS_PER_US + 99) / 198;
}

/* A pause frame that nobody repeats: by a timer at a time, from 'ctx', a port. */
static void
send_stop(struct lp *lp, struct work_timer *timer)
{
    port_send_pause(lp, timer->ctx, ROCE, true);
}

/* ---- K15, K16: how long, how soon -------------------------------------------------- */

/* What one pause does to a stream of frames; 'heard_ps' is the end of its reception. */
struct silence {
    int64_t heard_ps, last_start_ps, next_start_ps;
};

static struct silence
pause_once(int64_t rate_bps, int64_t reaction_ps)
{
    enum { N_FRAMES = 2000 };
    struct work_timer timer = {.fire = send_stop};
    struct silence silence = {0};
    int64_t base_ps, widest_ps = 0;
    struct rig rig;

    rig_init(&rig, 1);
    rig.nic.pfc_reaction_ps = reaction_ps;
    rig_star(&rig, 2, rate_bps, cable_ps(5));
    rig_build(&rig);
    uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);

    for (int i = 0; i < N_FRAMES; i++) {
        rig_flow_on(&rig, connection, 0, 4080, 0);
    }
    timer.source = net_new_timer(rig.net);
    rig_start(&rig, PARTITION_ONE, 1);
    timer.ctx = rig_port(&rig, "leaf0", "host0");
    work_timer_set(net_lp_of_host(rig.net, 0), &timer, 20 * PS_PER_US);
    rig_run(&rig, TIME_NEVER_PS);

    /* Nothing waits at the switch, so a frame's start is its arrival less the way. */
    base_ps = rig.flows[0]->received_ps;
    for (int i = 1; i < N_FRAMES; i++) {
        int64_t before_ps = rig.flows[i - 1]->received_ps;
        int64_t gap_ps = rig.flows[i]->received_ps - before_ps;

        if (gap_ps > widest_ps) {
            widest_ps = gap_ps;
            silence.last_start_ps = before_ps - base_ps;
            silence.next_start_ps = before_ps + gap_ps - base_ps;
        }
    }
    silence.heard_ps = 20 * PS_PER_US + cable_ps(5) +
                       sim_tx_time_ps(PFC_FRAME_BYTES + WIRE_PREAMBLE_BYTES, rate_bps);
    assert_int_equal(rig_port(&rig, "host0", "leaf0")->stats[ROCE].pfc_xoff_rx, 1);
    rig_clear(&rig);
    return silence;
}

static void
test_k15_one_stop(void **state)
{
    const int64_t rates_gbps[] = {100, 200, 400};
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct silence silence = pause_once(rates_gbps[i] * GBPS, 0);

        snprintf(name, sizeof name, "silent_%dg_us", (int)rates_gbps[i]);
        known_equals("K15", name,
                     (double)(silence.next_start_ps - silence.heard_ps) / 1e6);
        assert_true(silence.last_start_ps < silence.heard_ps);
    }
}

static void
test_k16_reaction_time(void **state)
{
    const int64_t rates_gbps[] = {100, 200, 400};
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        int64_t rate_bps = rates_gbps[i] * GBPS;
        int64_t reaction_ps = net_pause_reaction_ps(REACTION_IEEE, rate_bps);
        struct silence silence = pause_once(rate_bps, REACTION_IEEE);

        snprintf(name, sizeof name, "reaction_%dg_ns", (int)rates_gbps[i]);
        known_equals("K16", name, (double)reaction_ps / 1e3);
        snprintf(name, sizeof name, "reaction_%dg_bytes", (int)rates_gbps[i]);
        known_equals("K16", name,
                     (double)reaction_ps / (double)sim_tx_time_ps(1, rate_bps));
        snprintf(name, sizeof name, "sends_on_%dg_ns", (int)rates_gbps[i]);
        known_equals("K16", name,
                     (double)(silence.last_start_ps - silence.heard_ps) / 1e3);
        /* Later than that no frame starts. */
        assert_true(silence.last_start_ps - silence.heard_ps < reaction_ps);
    }
}

/* ---- K17, K18: headroom ------------------------------------------------------------ */

/* Host 0 sends to host 1, whose port has stopped the switch, until the switch stops
 * host 0.  Host 2 sends to host 0, unless the reverse link is to be idle. */
struct headroom_case {
    int64_t rate_bps, metres, reaction_ps, headroom_bytes;
    bool reverse_busy;
    int64_t phase_ps; /* start of the reverse flow */
};

struct headroom_end {
    int64_t stored_bytes, drops;
};

static struct headroom_end
fill_headroom(const struct headroom_case *c)
{
    struct work_timer timer = {.fire = send_stop};
    struct headroom_end end;
    struct rig rig;

    rig_init(&rig, 1);
    rig.nic.pfc_reaction_ps = c->reaction_ps;
    rig.nic.ack_every = 65536; /* no ACK that would shift a frame */
    rig.sw.pfc_reaction_ps = 0;
    rig.sw.headroom_bytes = c->headroom_bytes;
    /* Stops the sender at half of what is shared, 50 kB as a threshold goes. */
    rig.sw.buffer_bytes = 3 * c->headroom_bytes + 100000;
    rig_star(&rig, 3, c->rate_bps, cable_ps(c->metres));
    rig.net->links[1].params.delay_ps = 0; /* to host 1: stopped at once */
    rig_build(&rig);
    rig_flow(&rig, 0, 1, 4 * MIB, 0);
    if (c->reverse_busy) {
        rig_flow(&rig, 2, 0, 4 * MIB, c->phase_ps);
    }
    timer.source = net_new_timer(rig.net);
    rig_start(&rig, PARTITION_ONE, 1);
    timer.ctx = rig_port(&rig, "host1", "leaf0");
    work_timer_set(net_lp_of_host(rig.net, 1), &timer, 0);
    /* Inside the pause of host 1 (84 us at 400G); by then host 0 stands. */
    rig_run(&rig, 40 * PS_PER_US);

    const struct port *in = rig_port(&rig, "leaf0", "host0");

    assert_true(in->in[ROCE].xoff);
    assert_int_equal(in->stats[ROCE].pfc_xoff_tx, 1);
    assert_true(port_is_paused(rig_port(&rig, "host0", "leaf0"), ROCE, rig.net->end_ps));
    end = (struct headroom_end){.stored_bytes = in->in[ROCE].headroom_bytes,
                                .drops = rig_sum(&rig).drops};
    rig_clear(&rig);
    return end;
}

static void
test_k17_headroom_suffices(void **state)
{
    enum { N_PHASES = 8 };
    const int64_t rates_gbps[] = {100, 200, 400}, lengths[] = {5, 40, 100, 300};
    int64_t drops = 0;
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 2 * 3 * 4; i++) {
        bool ieee = i / 12;
        int gbps = (int)rates_gbps[i / 4 % 3], metres = (int)lengths[i % 4];
        int64_t rate_bps = gbps * GBPS;
        int64_t reaction_ps = net_pause_reaction_ps(ieee ? REACTION_IEEE : 0, rate_bps);

        snprintf(name, sizeof name, "%s_%dg_%dm_bytes", ieee ? "ieee" : "at_once", gbps,
                 metres);
        known_equals("K17", name,
                     (double)buffer_headroom_bytes(rate_bps, cable_ps(metres),
                                                   reaction_ps, FRAME_BYTES));
        for (int phase = 0; phase < N_PHASES; phase++) {
            const struct headroom_case c = {
                .rate_bps = rate_bps,
                .metres = metres,
                .reaction_ps = reaction_ps,
                .headroom_bytes = (int64_t)known("K17", name),
                .reverse_busy = true,
                .phase_ps = phase * sim_tx_time_ps(WIRE_BYTES, rate_bps) / N_PHASES};

            drops += fill_headroom(&c).drops;
        }
    }
    known_equals("K17", "drops", (double)drops);
}

/* Frames stored in phase 'phase_ps', headroom without limit. */
static int64_t
stored_frames(struct headroom_case *c, int64_t phase_ps)
{
    struct headroom_end end;

    c->headroom_bytes = 100 * FRAME_BYTES;
    c->phase_ps = phase_ps;
    end = fill_headroom(c);
    assert_int_equal(end.drops, 0);
    assert_int_equal(end.stored_bytes % FRAME_BYTES, 0);
    return end.stored_bytes / FRAME_BYTES;
}

/* Holds 'n_frames' and no drop, one frame less and a drop: 'c' as it stands. */
static void
assert_tight(struct headroom_case *c, int64_t n_frames)
{
    c->headroom_bytes = n_frames * FRAME_BYTES;
    assert_int_equal(fill_headroom(c).drops, 0);
    c->headroom_bytes = (n_frames - 1) * FRAME_BYTES;
    assert_int_equal(fill_headroom(c).drops, 1);
}

static void
test_k18_frames_after_the_stop(void **state)
{
    enum { N_PHASES = 50 };
    const int64_t rates_gbps[] = {100, 400}, lengths[] = {5, 40, 100, 300};
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 2 * 4; i++) {
        int gbps = (int)rates_gbps[i / 4], metres = (int)lengths[i % 4];
        struct headroom_case c = {.rate_bps = gbps * GBPS, .metres = metres};
        int64_t idle = stored_frames(&c, 0), least = INT64_MAX, worst = 0, worst_ps = 0;

        snprintf(name, sizeof name, "idle_%dg_%dm_pkts", gbps, metres);
        known_equals("K18", name, (double)idle);
        assert_tight(&c, idle);
        c.reverse_busy = true;
        for (int phase = 0; phase < N_PHASES; phase++) {
            int64_t phase_ps = phase * sim_tx_time_ps(WIRE_BYTES, c.rate_bps) / N_PHASES;
            int64_t n = stored_frames(&c, phase_ps);

            least = n < least ? n : least;
            if (n > worst) {
                worst = n;
                worst_ps = phase_ps;
            }
        }
        snprintf(name, sizeof name, "worst_%dg_%dm_pkts", gbps, metres);
        known_equals("K18", name, (double)worst);
        assert_true(least >= idle);
        c.phase_ps = worst_ps;
        assert_tight(&c, worst);
    }
}

/* ---- K19: XON ---------------------------------------------------------------------- */

/* Goodput of two senders' common port, pauses on and off all the time. */
static double
goodput_gbps(int64_t xon_bytes)
{
    const int64_t from_ps = 100 * PS_PER_US, to_ps = 1000 * PS_PER_US;
    int64_t pkts[2];

    for (unsigned i = 0; i < 2; i++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.pfc_reaction_ps = 0;
        rig.sw.pfc_reaction_ps = 0;
        rig.sw.latency_ps = 0; /* the bound knows none */
        rig.sw.xon_bytes = xon_bytes;
        rig.sw.headroom_bytes = (int64_t)known("K17", "at_once_100g_40m_bytes");
        rig.sw.buffer_bytes = 3 * rig.sw.headroom_bytes + 150000;
        rig_star(&rig, 3, 100 * GBPS, cable_ps(40));
        rig_build(&rig);
        rig_flow(&rig, 0, 2, 16 * MIB, 0);
        rig_flow(&rig, 1, 2, 16 * MIB, 0);
        rig_start(&rig, PARTITION_ONE, 1);
        rig_run(&rig, i ? to_ps : from_ps);
        assert_int_equal(rig_sum(&rig).drops, 0);
        assert_true(rig_sum(&rig).xon_tx >= (i ? 20 : 2));
        pkts[i] = rig_port(&rig, "host2", "leaf0")->in[ROCE].rx_pkts;
        rig_clear(&rig);
    }
    return (double)(pkts[1] - pkts[0]) * 4096 * 8e3 / (double)(to_ps - from_ps);
}

static void
send_go(struct lp *lp, struct work_timer *timer)
{
    port_send_pause(lp, timer->ctx, ROCE, false);
}

/* One sender, whose way on is stopped until its account is full, then free: the widest
 * gap between arrivals at the other end after that. */
static int64_t
gap_after_resume_ps(int64_t xon_bytes)
{
    enum { N_FRAMES = 300 };
    const int64_t stop_ps = 5 * PS_PER_US, go_ps = 25 * PS_PER_US;
    struct work_timer stop = {.fire = send_stop}, go = {.fire = send_go};
    int64_t widest_ps = 0;
    struct rig rig;

    rig_init(&rig, 1);
    rig.nic.pfc_reaction_ps = 0;
    rig.sw.pfc_reaction_ps = 0;
    rig.sw.latency_ps = 0;
    rig.sw.xon_bytes = xon_bytes;
    rig.sw.buffer_bytes = 150000;
    rig_star(&rig, 2, 100 * GBPS, cable_ps(40));
    rig_build(&rig);
    uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);

    for (int i = 0; i < N_FRAMES; i++) {
        rig_flow_on(&rig, connection, 0, 4080, 0);
    }
    stop.source = net_new_timer(rig.net);
    go.source = net_new_timer(rig.net);
    rig_start(&rig, PARTITION_ONE, 1);
    stop.ctx = go.ctx = rig_port(&rig, "host1", "leaf0");
    work_timer_set(net_lp_of_host(rig.net, 1), &stop, stop_ps);
    work_timer_set(net_lp_of_host(rig.net, 1), &go, go_ps);
    rig_run(&rig, TIME_NEVER_PS);
    assert_int_equal(rig_sum(&rig).drops, 0);
    assert_int_equal(rig_port(&rig, "leaf0", "host0")->stats[ROCE].pfc_xon_tx, 1);
    for (int i = 1; i < N_FRAMES; i++) {
        int64_t before_ps = rig.flows[i - 1]->received_ps;
        int64_t gap_ps = rig.flows[i]->received_ps - before_ps;

        if (before_ps > go_ps && gap_ps > widest_ps) {
            widest_ps = gap_ps;
        }
    }
    rig_clear(&rig);
    return widest_ps;
}

static void
test_k19_xon(void **state)
{
    int64_t xon_bytes = (int64_t)known("K19", "xon_bytes");

    (void)state;
    known_equals("K19", "gap_after_resume_ns",
                 (double)gap_after_resume_ps(xon_bytes) / 1e3);
    known_at_least("K19", "gap_at_xon_0_above_ns", (double)gap_after_resume_ps(0) / 1e3);
    known_equals("K19", "goodput_gbps", goodput_gbps((int64_t)known("K19", "xon_bytes")));
    known_at_most("K19", "goodput_at_xon_0_below_gbps", goodput_gbps(0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k15_one_stop),
        cmocka_unit_test(test_k16_reaction_time),
        cmocka_unit_test(test_k17_headroom_suffices),
        cmocka_unit_test(test_k18_frames_after_the_stop),
        cmocka_unit_test(test_k19_xon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
