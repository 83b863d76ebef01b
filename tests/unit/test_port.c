/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_port.c - one end of a cable: pauses stop exactly what they should for exactly as
 * long, frames committed ahead go when they would have gone, classes share as they are
 * told, links lose what they should.
 *
 * A row of one-packet messages is a trace of a port: when each was received tells when it
 * started.  Expected times are computed here from IEEE 802.3 and 802.1Q; K15 and K16 name
 * rows of the known answers in docs/validation.md.
 */
#include <config.h>

#include "models/port.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sim/rng.h"
#include "tests/support/rig.h"

#define DELAY (25 * PS_PER_NS)
/* A message of one full packet: with headers, RETH, FCS; then with preamble and gap. */
#define FRAME (4096 + 62 + 16)
#define WIRE (FRAME + 20)
#define PFC_HEARD_BYTES 72

/* Pauses that a test has a port send, or a switch's port hear, at given times. */
struct pauser {
    struct work_timer timer;
    struct port *port;
    unsigned cls;
    bool stop, is_heard;
    int64_t at_ps;
};

static void
fire_pause(struct lp *lp, struct work_timer *timer)
{
    struct pauser *pauser = timer->ctx;

    if (pauser->is_heard) {
        struct packet pkt = {.type = PACKET_PFC, .flags = (uint8_t)(1 << pauser->cls)};

        pkt.pause.quanta[pauser->cls] = pauser->stop ? PFC_QUANTA_MAX : 0;
        net_lp(lp)->n_pauses_out++;
        port_hear_pause(lp, pauser->port, &pkt);
        switch_serve(lp, pauser->port);
        return;
    }
    port_send_pause(lp, pauser->port, pauser->cls, pauser->stop);
}

/* Between rig_start() in one process and rig_run(). */
static void
plan_pauses(struct rig *rig, struct pauser pausers[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pausers[i].timer = (struct work_timer){
            .source = net_new_timer(rig->net), .fire = fire_pause, .ctx = &pausers[i]};
        work_timer_set(&rig->net->sim->lps[0], &pausers[i].timer, pausers[i].at_ps);
    }
}

/* host0 sends 'n' one-packet messages to host1, as fast as it can. */
static void
add_row(struct rig *rig, uint32_t n)
{
    struct rig_flow *first = rig_flow(rig, 0, 1, 4096, 0);

    for (uint32_t i = 1; i < n; i++) {
        rig_flow_on(rig, first->connection, 0, 4096, 0);
    }
}

/* When message 'i' of the row started at host0: what it took since is known. */
static int64_t
started_ps(const struct rig *rig, uint32_t i, int64_t byte_ps)
{
    int64_t hop_ps = (WIRE - WIRE_GAP_BYTES) * byte_ps + DELAY;

    assert_true(rig->flows[i]->received_ps != TIME_NEVER_PS);
    return rig->flows[i]->received_ps - 2 * hop_ps - rig->sw.latency_ps;
}

/* Row of 'n' messages with pauses towards host0; then checks that message i started at
 * once when the one before was over, but for those that would have started in
 * [from, until), which begins anew at 'until'. */
static void
row_with_silence(int64_t rate_bps, int64_t reaction_ps, struct pauser pausers[],
                 size_t n_pausers, uint32_t n, int64_t from_ps, int64_t until_ps)
{
    int64_t byte_ps = 8 * PS_PER_S / rate_bps;
    int64_t due_ps = 0;
    bool was_silent = false;
    struct rig rig;

    rig_init(&rig, 1);
    rig.nic.pfc_reaction_ps = reaction_ps;
    rig_star(&rig, 2, rate_bps, DELAY);
    rig_build(&rig);
    add_row(&rig, n);
    for (size_t i = 0; i < n_pausers; i++) {
        pausers[i].port = rig_port(&rig, "leaf0", "host0");
    }
    rig_start(&rig, PARTITION_ONE, 1);
    plan_pauses(&rig, pausers, n_pausers);
    rig_run(&rig, TIME_NEVER_PS);
    for (uint32_t i = 0; i < n; i++) {
        if (due_ps >= from_ps && due_ps < until_ps) {
            due_ps = until_ps;
            was_silent = true;
        }
        assert_int_equal(started_ps(&rig, i, byte_ps), due_ps);
        due_ps += WIRE * byte_ps;
    }
    assert_true(was_silent || from_ps >= until_ps);
    assert_int_equal(rig_sum(&rig).drops, 0);
    rig_clear(&rig);
}

/* K15: one XOFF of 0xFFFF silences the class for 65535 x 512 bit times from its last bit
 * on; a frame that has started goes on. */
static void
k15_one_pause(void **state)
{
    const int64_t gbps[] = {100, 200, 400};
    const int64_t silent_ps[] = {335539200, 167769600, 83884800};

    (void)state;
    for (int i = 0; i < 3; i++) {
        int64_t byte_ps = 8000 / gbps[i];
        struct pauser pauser = {.cls = 3, .stop = true, .at_ps = 12345678};
        int64_t heard_ps = pauser.at_ps + PFC_HEARD_BYTES * byte_ps + DELAY;

        row_with_silence(gbps[i] * GBPS, 0, &pauser, 1, 400, heard_ps,
                         heard_ps + silent_ps[i]);
    }
}

/* K16: the reaction time of IEEE 802.3, and what it does: frames still start in it. */
static void
k16_reaction(void **state)
{
    const int64_t rate_bps[] = {100 * GBPS, 200 * GBPS, 400 * GBPS};
    const int64_t reaction_ps[] = {2017280, 1159680, 1158400};
    const int64_t bytes[] = {25216, 28992, 57920};

    (void)state;
    for (int i = 0; i < 3; i++) {
        int64_t byte_ps = 8 * PS_PER_S / rate_bps[i];
        struct pauser pauser = {.cls = 3, .stop = true, .at_ps = 7000001};
        int64_t heard_ps = pauser.at_ps + PFC_HEARD_BYTES * byte_ps + DELAY;

        assert_int_equal(net_pause_reaction_ps(REACTION_IEEE, rate_bps[i]),
                         reaction_ps[i]);
        assert_int_equal(reaction_ps[i], bytes[i] * byte_ps);
        row_with_silence(rate_bps[i], REACTION_IEEE, &pauser, 1, 300,
                         heard_ps + reaction_ps[i], heard_ps + 65535 * 64 * byte_ps);
    }
    assert_int_equal(net_pause_reaction_ps(777, 100 * GBPS), 777);
}

/* A repeated stop counts from the last one; going on ends it at once; of another class,
 * or one that is not obeyed, is nothing. */
static void
repeat_and_resume(void **state)
{
    struct pauser pausers[] = {{.cls = 3, .stop = true, .at_ps = 10000000},
                               {.cls = 3, .stop = true, .at_ps = 210000000},
                               {.cls = 3, .stop = false, .at_ps = 400000000}};
    struct pauser early[] = {{.cls = 3, .stop = true, .at_ps = 10000000},
                             {.cls = 3, .stop = false, .at_ps = 11000000}};
    struct pauser other = {.cls = 4, .stop = true, .at_ps = 10000000};
    int64_t lag_ps = PFC_HEARD_BYTES * 80 + DELAY;
    int64_t reaction_ps = net_pause_reaction_ps(REACTION_IEEE, 100 * GBPS);

    (void)state;
    row_with_silence(100 * GBPS, 0, pausers, 1, 50, 10000000 + lag_ps,
                     10000000 + lag_ps + 335539200);
    row_with_silence(100 * GBPS, 0, pausers, 2, 50, 10000000 + lag_ps,
                     210000000 + lag_ps + 335539200);
    row_with_silence(100 * GBPS, 0, pausers, 3, 50, 10000000 + lag_ps,
                     400000000 + lag_ps);
    /* The second one finds the class silent: there is nothing to react to. */
    row_with_silence(100 * GBPS, REACTION_IEEE, pausers, 2, 50,
                     10000000 + lag_ps + reaction_ps, 210000000 + lag_ps + 335539200);
    /* Taken back within the reaction time: the NIC never stops. */
    row_with_silence(100 * GBPS, REACTION_IEEE, early, 2, 50, 0, 0);
    row_with_silence(100 * GBPS, 0, &other, 1, 50, 0, 0);
}

/* A pause stops its class, and no other, at a switch as at a NIC. */
static void
one_class_only(void **state)
{
    const struct net_qos kinds[] = {
        {.name = (char *)"a", .dscp = 26, .cls = 3, .lossless = true, .weight = 1},
        {.name = (char *)"b", .dscp = 10, .cls = 1, .lossless = true, .weight = 1}};
    struct pauser pauser = {.cls = 3, .stop = true, .at_ps = 0};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.pfc = rig.sw.pfc = 1 << 3 | 1 << 1;
    rig.nic.pfc_reaction_ps = rig.sw.pfc_reaction_ps = 0;
    for (int i = 0; i < 2; i++) {
        net_add_qos(rig.net, &kinds[i]);
    }
    rig_leaf_spine(&rig, 2, 2, 1,
                   &(struct link_params){.rate_bps = 100 * GBPS, .delay_ps = DELAY},
                   &(struct link_params){.rate_bps = 100 * GBPS, .delay_ps = DELAY});
    rig_build(&rig);
    struct rig_flow *stopped =
        rig_flow_on(&rig, net_connect(rig.net, 0, 0, 1, 0, 0), 0, 40960, PS_PER_US);
    struct rig_flow *free_one =
        rig_flow_on(&rig, net_connect(rig.net, 0, 0, 1, 0, 1), 0, 40960, PS_PER_US);

    pauser.port = rig_port(&rig, "spine0", "leaf0");
    rig_start(&rig, PARTITION_ONE, 1);
    plan_pauses(&rig, &pauser, 1);
    rig_run(&rig, TIME_NEVER_PS);
    assert_true(free_one->sent_ps < 20 * PS_PER_US);
    assert_true(stopped->sent_ps > 335 * PS_PER_US);
    const struct port *paused = rig_port(&rig, "leaf0", "spine0");

    assert_int_equal(port_paused_ps(paused, 3, rig.net->end_ps), 335539200);
    assert_int_equal(port_paused_ps(paused, 1, rig.net->end_ps), 0);
    assert_int_equal(paused->stats[3].pfc_xoff_rx, 1);
    rig_clear(&rig);
}

/* ---- commit ahead ------------------------------------------------------------------ */

#define N_FRAMES 60
#define N_PAUSES 40

/* When each frame was received: frames at random through a switch whose egress sends
 * pauses (of classes that nobody uses) at random, and is stopped and let go at
 * random.  With 'ahead' the switch takes 300 ns to forward, and frames are committed
 * when they arrive; without, the same time lies before the arrival, and nothing is
 * ever committed ahead. */
static void
frames_among_pauses(uint64_t seed, bool ahead, int64_t received_ps[])
{
    const int64_t latency_ps = 300000;
    uint64_t key = rng_key(seed, "test_port", "commit"), n = 0;
    struct pauser pausers[N_PAUSES];
    int64_t at_ps = latency_ps;
    struct rig rig;

    rig_init(&rig, 1);
    rig.sw.latency_ps = ahead ? latency_ps : 0;
    rig.sw.ingress_latency_ps = ahead ? 0 : latency_ps;
    rig.sw.pfc_reaction_ps = (int64_t)(seed % 4) * 100000;
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    uint32_t connection = net_connect(rig.net, 0, 0, 1, 0, 0);

    for (uint32_t i = 0; i < N_FRAMES; i++) {
        at_ps += (int64_t)rng_below(key, n++, 200000);
        rig_flow_on(&rig, connection, 0, (int64_t)rng_below(key, n++, 800), at_ps);
    }
    for (uint32_t i = 0; i < N_PAUSES; i++) {
        int64_t when_ps = latency_ps + (int64_t)rng_below(key, n++, (uint64_t)at_ps);

        if (seed % 2 && i % 4 == 3) { /* the last word is "go on" */
            pausers[i] = (struct pauser){
                .port = rig_port(&rig, "leaf0", "host1"),
                .is_heard = true,
                .cls = 3,
                .stop = rng_below(key, n++, 2) && i + 1 < N_PAUSES,
                .at_ps = i + 1 < N_PAUSES ? when_ps : at_ps + 2 * latency_ps};
        } else { /* some in bursts: at one time for several classes */
            pausers[i] =
                (struct pauser){.port = rig_port(&rig, "leaf0", "host1"),
                                .cls = 4 + i % 4,
                                .stop = true,
                                .at_ps = i % 4 == 1 ? pausers[i - 1].at_ps : when_ps};
        }
    }
    rig_start(&rig, PARTITION_ONE, 1);
    plan_pauses(&rig, pausers, N_PAUSES);
    rig_run(&rig, TIME_NEVER_PS);
    for (uint32_t i = 0; i < N_FRAMES; i++) {
        received_ps[i] = rig.flows[i]->received_ps;
    }
    rig_clear(&rig);
}

static void
committed_frames_give_way(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        int64_t with_ps[N_FRAMES], without_ps[N_FRAMES];

        frames_among_pauses(seed, true, with_ps);
        frames_among_pauses(seed, false, without_ps);
        assert_memory_equal(with_ps, without_ps, sizeof with_ps);
    }
}

/* The same to the picosecond, by hand: a frame starts 300 ns after its last bit, or its
 * header's end; pauses sent 1 ns before that push it back by 84 bytes each less 1 ns. */
static void
one_displacement(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool cuts = i & 1;
        int64_t n_pauses = 1 + i / 2;
        int64_t whole_ps = (WIRE - WIRE_GAP_BYTES) * 80 + DELAY;
        int64_t heard_ps = cuts ? (66 + 8) * 80 + DELAY : whole_ps;
        struct pauser pausers[] = {{.cls = 5, .stop = true, .at_ps = heard_ps + 299000},
                                   {.cls = 6, .stop = true, .at_ps = heard_ps + 299000}};
        struct rig rig;

        rig_init(&rig, 1);
        rig.sw.cut_through = cuts;
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        rig_build(&rig);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 4096, 0);

        pausers[0].port = pausers[1].port = rig_port(&rig, "leaf0", "host1");
        rig_start(&rig, PARTITION_ONE, 1);
        plan_pauses(&rig, pausers, (size_t)n_pauses);
        rig_run(&rig, TIME_NEVER_PS);
        assert_int_equal(flow->received_ps,
                         heard_ps + 300000 + n_pauses * 84 * 80 - 1000 + whole_ps);
        rig_clear(&rig);
    }
}

/* ---- classes ----------------------------------------------------------------------- */

/* host0 and host1 send to host2 in classes 3 and 1 for 400 us; bytes that left the
 * switch's port in that time, by class.  From one host: 'one_sender'. */
static void
shares(bool strict, int32_t weight_a, int32_t weight_b, int64_t mtu_a, int64_t mtu_b,
       bool one_sender, int64_t sent[2])
{
    const struct net_qos kinds[] = {{.name = (char *)"a",
                                     .dscp = 26,
                                     .cls = 3,
                                     .lossless = true,
                                     .strict = strict,
                                     .weight = weight_a},
                                    {.name = (char *)"b",
                                     .dscp = 10,
                                     .cls = 1,
                                     .lossless = true,
                                     .weight = weight_b}};
    struct rig rig;

    rig_init(&rig, 1);
    rig.sw.buffer_bytes = 1 << 30;
    for (int i = 0; i < 2; i++) {
        net_add_qos(rig.net, &kinds[i]);
    }
    rig_star(&rig, 3, 100 * GBPS, DELAY);
    rig_params(&rig);
    rig.net->nic_params[0].mtu_bytes = mtu_a;
    rig.net->nic_params[1].mtu_bytes = mtu_b;
    rig_build(&rig);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t connection = net_connect(rig.net, one_sender ? 0 : i, 0, 2, 0, i);

        rig_flow_on(&rig, connection, 0, 10000000, 0);
    }
    rig_start(&rig, PARTITION_ONE, 1);
    rig_run(&rig, 400 * PS_PER_US);
    const struct port *port =
        one_sender ? rig_port(&rig, "host0", "leaf0") : rig_port(&rig, "leaf0", "host2");

    sent[0] = port->out[3].tx_bytes;
    sent[1] = port->out[1].tx_bytes;
    rig_clear(&rig);
}

static void
weighted_shares(void **state)
{
    /* Over any time a class is within a round of its share: a quantum each. */
    const int64_t slack = 2 * 4 * FRAME_MAX_BYTES;
    int64_t sent[2];

    (void)state;
    for (int one_sender = 0; one_sender < 2; one_sender++) {
        shares(false, 1, 3, 4096, 4096, one_sender, sent);
        assert_true(sent[0] + sent[1] > 4900000); /* 400 us at line rate */
        assert_true(llabs(3 * sent[0] - sent[1]) < 3 * slack);
        shares(false, 1, 1, 4096, 4096, one_sender, sent);
        assert_true(llabs(sent[0] - sent[1]) < slack);
        shares(true, 1, 1, 4096, 4096, one_sender, sent);
        assert_true(sent[1] <= 2 * 4178);
    }
    /* Bytes are shared, not frames. */
    shares(false, 1, 1, 512, 4096, false, sent);
    assert_true(llabs(sent[0] - sent[1]) < slack);
    shares(false, 3, 1, 1024, 4096, false, sent);
    assert_true(llabs(sent[0] - 3 * sent[1]) < 3 * slack);
}

/* ---- loss -------------------------------------------------------------------------- */

/* Of 'n' one-packet messages the share that a link loses, retransmissions counted. */
static double
share_lost(const struct link_params *link, uint64_t seed, int64_t *n_sent)
{
    struct link_params clean = {.rate_bps = 100 * GBPS, .delay_ps = DELAY};
    const struct link_params links[] = {*link, clean};
    struct rig rig;

    rig_init(&rig, seed);
    rig.nic.ack_timeout = 8;
    rig_chain(&rig, 1, links);
    rig_build(&rig);
    rig_flow(&rig, 0, 1, 20000 * INT64_C(4096), 0);
    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_DONE);
    const struct port *hears = rig_port(&rig, "leaf0", "host0");
    int64_t lost = hears->stats[3].lost_error;

    *n_sent = rig_port(&rig, "host0", "leaf0")->out[3].tx_pkts;
    assert_int_equal(hears->in[3].rx_pkts + lost, *n_sent);
    rig_clear(&rig);
    return (double)lost / (double)*n_sent;
}

/* |share - p| within 4 standard deviations of 'n' draws: by chance once in 16000. */
static void
expect_share(double share, double p, int64_t n)
{
    assert_true(fabs(share - p) < 4 * sqrt(p * (1 - p) / (double)n));
}

static void
random_loss(void **state)
{
    struct link_params link = {.rate_bps = 100 * GBPS, .delay_ps = DELAY};
    int64_t n;
    double share;

    (void)state;
    link.error_rate = 0.01;
    share = share_lost(&link, 1, &n);
    expect_share(share, 0.01, n);
    assert_true(share_lost(&link, 2, &n) != share);
    link.error_rate = 0;
    link.bit_error_rate = 5e-7; /* all frames but one are 4158 bytes */
    share = share_lost(&link, 1, &n);
    expect_share(share, 1 - pow(1 - 5e-7, 8 * 4158), n);
    link.error_rate = 0.01;
    share = share_lost(&link, 1, &n);
    expect_share(share, 1 - 0.99 * pow(1 - 5e-7, 8 * 4158), n);
}

/* Exactly the data packets on the list are lost, once. */
static void
listed_loss(void **state)
{
    uint64_t drop[] = {1, 7, 8, 30};
    struct fault fault = {.kind = FAULT_DROP, .drop = drop, .n_drop = 4};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    net_add_fault(rig.net, 0, &fault);
    struct rig_flow *flow = rig_flow(&rig, 0, 1, 100 * 4096, 0);

    rig_play(&rig);
    assert_true(flow->sent_ps != TIME_NEVER_PS);
    assert_int_equal(rig_port(&rig, "leaf0", "host0")->stats[3].lost_error, 4);
    assert_int_equal(rig_sum(&rig).lost_error, 4); /* ACKs and NAKs are no data */
    rig_clear(&rig);
}

/* ---- down and up, other rates ------------------------------------------------------ */

/* Frames on a link that goes down are lost, those for it too; from 'up' on it carries
 * again.  Times by hand: frame k starts at k slots and is heard after its
 * bits and 25 ns. */
static void
down_and_up(void **state)
{
    struct fault fault = {.kind = FAULT_DOWN, .at_ps = 10 * PS_PER_US};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_timeout = 5; /* 131 us */
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    net_add_fault(rig.net, 1, &fault);
    fault.kind = FAULT_UP;
    fault.at_ps = 200 * PS_PER_US;
    net_add_fault(rig.net, 1, &fault);
    struct rig_flow *flow = rig_flow(&rig, 0, 1, 100 * 4096, 0);

    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_DONE);
    const struct qp *qp = rig_qp(flow);
    const struct rig_sums sums = rig_sum(&rig);

    /* Frame k reaches host1 1018 ns and k x 334.24 ns after the start: at 10 us 0 to 26
     * have, and 27 is on the link.  No NAK can come; the first timeout, 131 us after the
     * start, meets a dead link with all 100 frames, the second one does not. */
    assert_int_equal(sums.lost_on_link, 1);
    assert_int_equal(sums.lost_down, 72 + 100);
    assert_int_equal(rig_port(&rig, "host1", "leaf0")->in[3].rx_pkts, 27 + 100);
    assert_int_equal(qp->timeouts, 2);
    assert_true(flow->sent_ps > 2 * 131072 * PS_PER_NS);
    assert_true(flow->sent_ps < 300 * PS_PER_US);
    rig_clear(&rig);
}

static void
slower_and_back(void **state)
{
    struct fault fault = {
        .kind = FAULT_RATE, .at_ps = 10 * PS_PER_US, .rate_bps = 25 * GBPS};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    net_add_fault(rig.net, 0, &fault);
    fault.at_ps = 40 * PS_PER_US;
    fault.rate_bps = 100 * GBPS;
    net_add_fault(rig.net, 0, &fault);
    add_row(&rig, 100);
    rig_play(&rig);
    /* Message 29 starts at 29 x 335.52 ns = 9.73 us and keeps its rate; then a slot is
     * 1342.08 ns; the one that starts last before 40 us keeps that. */
    int64_t due_ps = 0;

    for (uint32_t i = 0; i < 100; i++) {
        int64_t byte_ps = due_ps >= 10 * PS_PER_US && due_ps < 40 * PS_PER_US ? 320 : 80;
        int64_t heard_ps =
            due_ps + (WIRE - 12) * byte_ps + DELAY + 300000 + (WIRE - 12) * 80 + DELAY;

        assert_int_equal(rig.flows[i]->received_ps, heard_ps);
        due_ps += WIRE * byte_ps;
    }
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k15_one_pause),
        cmocka_unit_test(k16_reaction),
        cmocka_unit_test(repeat_and_resume),
        cmocka_unit_test(one_class_only),
        cmocka_unit_test(committed_frames_give_way),
        cmocka_unit_test(one_displacement),
        cmocka_unit_test(weighted_shares),
        cmocka_unit_test(random_loss),
        cmocka_unit_test(listed_loss),
        cmocka_unit_test(down_and_up),
        cmocka_unit_test(slower_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
