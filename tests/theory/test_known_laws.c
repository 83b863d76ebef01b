/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_laws.c - K51: laws that every run obeys, on random networks.
 *
 * Each seed makes another network (leaf-spine; rates, cables, buffers, thresholds, PFC or
 * not, congestion control or not, losses or not) with other flows, some of them incasts.
 * A tap sees every frame at the end of its link and keeps a pause state of its own, made
 * of the pause frames alone, as IEEE 802.1Q clause 36 has it: from a frame's end plus the
 * reaction time until its quanta run out or a resume comes.  Half of the runs are stopped
 * on the way, so that packets are queued and on links when the accounts are added up.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/rng.h"
#include "tests/support/known.h"
#include "tests/support/rig.h"

enum { SEEDS = 120, HISTORY = 64 };

/* ---- random networks --------------------------------------------------------------- */

struct dice {
    uint64_t key, n;
};

static int64_t
roll(struct dice *dice, int64_t least, int64_t most)
{
    return least + (int64_t)rng_below(dice->key, dice->n++, (uint64_t)(most - least + 1));
}

static bool
one_in(struct dice *dice, int64_t n)
{
    return roll(dice, 1, n) == 1;
}

static int64_t
one_of(struct dice *dice, const int64_t values[], int64_t n)
{
    return values[roll(dice, 0, n - 1)];
}

static void
random_devices(struct rig *rig, struct dice *dice)
{
    static const int64_t mtus[] = {256, 1024, 4096}, acks[] = {1, 4, 256};
    static const int64_t alphas[] = {PARAM_ONE / 16, PARAM_ONE / 4, PARAM_ONE,
                                     8 * PARAM_ONE};
    bool pfc = !one_in(dice, 4);

    rig->nic.mtu_bytes = one_of(dice, mtus, 3);
    rig->nic.ack_every = one_of(dice, acks, 3);
    rig->nic.max_inflight = one_in(dice, 2) ? 0 : roll(dice, 2, 64);
    rig->nic.latency_ps = one_in(dice, 2) ? 0 : roll(dice, 0, 1000) * PS_PER_NS;
    rig->nic.ack_latency_ps = one_in(dice, 2) ? 0 : roll(dice, 0, 500) * PS_PER_NS;
    rig->nic.ack_timeout = 6; /* 262 us */
    rig->nic.pfc = rig->sw.pfc = pfc ? 1 << 3 : 0;
    rig->nic.pfc_reaction_ps =
        one_in(dice, 2) ? REACTION_IEEE : roll(dice, 0, 2000) * PS_PER_NS;
    rig->sw.pfc_reaction_ps = rig->nic.pfc_reaction_ps;
    rig->sw.latency_ps = roll(dice, 0, 1000) * PS_PER_NS;
    rig->sw.buffer_bytes = roll(dice, 6, 16) * 100000;
    rig->sw.reserved_bytes = one_in(dice, 2) ? 0 : roll(dice, 0, 10000);
    rig->sw.alpha_q32 = one_of(dice, alphas, 4);
    rig->sw.xon_bytes = one_in(dice, 2) ? XON_COMPUTED : roll(dice, 0, 20000);
    rig->sw.cut_through = one_in(dice, 2);
    rig->sw.ecn_at_dequeue = one_in(dice, 2);
    rig->ecn.kmin_bytes = roll(dice, 5, 100) * 1000;
    rig->ecn.kmax_bytes = rig->ecn.kmin_bytes + roll(dice, 0, 200) * 1000;
}

static struct link_params
random_link(struct dice *dice, bool lossy)
{
    static const int64_t rates[] = {25 * GBPS, 40 * GBPS, 100 * GBPS, 200 * GBPS};

    return (struct link_params){.rate_bps = one_of(dice, rates, 4),
                                .delay_ps = roll(dice, 0, 500) * PS_PER_NS,
                                .error_rate = lossy ? 0.002 : 0};
}

/* Network and flows of 'seed', ready for rig_start(); returns when to stop. */
static int64_t
random_rig(struct rig *rig, uint64_t seed)
{
    struct dice dice = {.key = rng_key(seed, "K51", "network")};
    bool lossy = one_in(&dice, 4), incast = one_in(&dice, 2), stopped = one_in(&dice, 2);
    uint32_t leaves = (uint32_t)roll(&dice, 1, 3), spines = (uint32_t)roll(&dice, 1, 3);
    uint32_t hosts = leaves * (uint32_t)roll(&dice, 2, 5);
    struct link_params host = random_link(&dice, lossy);
    struct link_params fabric = random_link(&dice, lossy);

    rig_init(rig, seed);
    rig_leaf_spine(rig, hosts, leaves, spines, &host, &fabric);
    random_devices(rig, &dice);
    if (one_in(&dice, 2)) {
        rig_dcqcn(rig, one_in(&dice, 2) ? "paper" : "mlx5");
    }
    rig_build(rig);
    for (uint32_t i = 0; i < 2 * hosts; i++) {
        uint32_t src = (uint32_t)roll(&dice, 0, hosts - 1);
        uint32_t dst = incast ? i % 2 : (uint32_t)roll(&dice, 0, hosts - 1);

        if (src != dst) {
            rig_flow(rig, src, dst, roll(&dice, 1, one_in(&dice, 3) ? 10000 : 600000),
                     roll(&dice, 0, 50) * PS_PER_US);
        }
    }
    return stopped ? roll(&dice, 20, 150) * PS_PER_US : 1000 * 1000 * PS_PER_US;
}

/* ---- what the tap knows ------------------------------------------------------------ */

/* Pauses heard at an egress for one class. */
struct pauses {
    struct {
        int64_t from_ps, until_ps; /* half-open */
    } past[HISTORY];               /* a ring; the newest is 'n' - 1 */
    uint32_t n;
    int64_t xoff_ps; /* end of the last XOFF on the link */
    bool is_xoff;    /* the last frame was one */
};

struct laws {
    struct pauses *pauses; /* owned: by port and class */
    int64_t
        *wire_until_ps; /* owned: by sending port, end of the gap behind its last frame */
    int64_t n_frames, n_pauses, n_while_paused, n_not_alternating, n_overlapping;
};

static void
hear_pause(struct laws *laws, const struct port *at, const struct packet *pkt,
           int64_t now_ps)
{
    for (unsigned c = 0; c < N_CLASSES; c++) {
        struct pauses *p = &laws->pauses[at->id * N_CLASSES + c];
        uint16_t quanta = pkt->pause.quanta[c];
        uint32_t newest = (p->n + HISTORY - 1) % HISTORY;

        if (!(pkt->flags >> c & 1)) {
            continue;
        }
        if (quanta == 0) {
            if (p->n && p->past[newest].until_ps > now_ps) {
                p->past[newest].until_ps = now_ps;
            }
            continue;
        }
        int64_t until_ps = now_ps + sim_tx_time_ps((int64_t)quanta * 64, at->rate_bps);

        if (p->n && p->past[newest].until_ps > now_ps) {
            p->past[newest].until_ps = until_ps; /* it goes on */
        } else {
            p->past[p->n % HISTORY].from_ps = now_ps + at->pause_reaction_ps;
            p->past[p->n++ % HISTORY].until_ps = until_ps;
        }
    }
}

static bool
was_paused(const struct pauses *p, int64_t at_ps)
{
    for (uint32_t i = 0; i < HISTORY && i < p->n; i++) {
        if (at_ps >= p->past[i].from_ps && at_ps < p->past[i].until_ps) {
            return true;
        }
    }
    return false;
}

/* Stops and resumes take turns; a stop said again comes after half of what one can ask
 * for, less what the frame waited for on its way. */
static void
check_turns(struct laws *laws, const struct port *at, const struct packet *pkt,
            int64_t now_ps)
{
    int64_t again_ps = sim_tx_time_ps(
        INT64_C(64) * (PFC_QUANTA_MAX / 2) - 2 * FRAME_MAX_BYTES, at->rate_bps);

    for (unsigned c = 0; c < N_CLASSES; c++) {
        struct pauses *p = &laws->pauses[at->id * N_CLASSES + c];

        if (!(pkt->flags >> c & 1)) {
            continue;
        }
        laws->n_pauses++;
        if (pkt->pause.quanta[c] == 0) {
            laws->n_not_alternating += !p->is_xoff;
            p->is_xoff = false;
        } else {
            laws->n_not_alternating += p->is_xoff && now_ps - p->xoff_ps < again_ps;
            p->is_xoff = true;
            p->xoff_ps = now_ps;
        }
    }
}

/* A frame that 'from' sent is heard at the other end. */
static void
check_frame(struct laws *laws, const struct port *from, const struct packet *pkt,
            int64_t now_ps)
{
    int64_t heard =
        pkt->size_bytes < from->arrive_bytes ? pkt->size_bytes : from->arrive_bytes;
    int64_t start_ps =
        now_ps - from->delay_ps - port_bytes_ps(from, heard + WIRE_PREAMBLE_BYTES);

    laws->n_frames++;
    laws->n_overlapping += start_ps < laws->wire_until_ps[from->id];
    laws->wire_until_ps[from->id] =
        start_ps + port_bytes_ps(from, pkt->size_bytes + WIRE_EXTRA_BYTES);
    if (pkt->type != PACKET_PFC) {
        laws->n_while_paused +=
            was_paused(&laws->pauses[from->id * N_CLASSES + pkt->cls], start_ps);
    }
}

static void
watch(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct laws *laws = rig->tap_ctx;
    struct port *in;
    struct packet *pkt = rig_arrival(rig, event, &in);
    struct packet was;
    int64_t lost = 0;

    if (!pkt) {
        rig_handle(lp, event);
        return;
    }
    was = *pkt;
    check_frame(laws, &rig->net->ports[in->peer], &was, lp->now_ps);
    if (was.type == PACKET_PFC) {
        check_turns(laws, in, &was, lp->now_ps);
        lost = in->stats[was.cls].pfc_lost;
    }
    rig_handle(lp, event);
    if (was.type == PACKET_PFC && in->stats[was.cls].pfc_lost == lost) {
        hear_pause(laws, in, &was, lp->now_ps);
    }
}

/* ---- the law ----------------------------------------------------------------------- */

/* Bytes that the switches hold, by egress; the same by ingress and in the pool, which
 * net_check() has compared too. */
static int64_t
held_bytes(const struct rig *rig)
{
    const struct net *net = rig->net;
    int64_t in_bytes = 0, out_bytes = 0, over_reserve = 0, pool_bytes = 0;

    for (uint32_t s = 0; s < net->n_switches; s++) {
        const struct fabric_switch *sw = &net->switches[s];

        pool_bytes += sw->buffer.shared_used;
        for (uint32_t i = 0; i < sw->n_ports * N_CLASSES; i++) {
            const struct port *port = &sw->ports[i / N_CLASSES];
            unsigned c = i % N_CLASSES;
            int64_t reserve =
                sw->lossless >> c & 1 ? net->switch_params[s].reserved_bytes : 0;
            int64_t used = port->in[c].used_bytes;

            in_bytes += used + port->in[c].headroom_bytes;
            over_reserve += used > reserve ? used - reserve : 0;
            for (struct packet *pkt = port->out[c].queue.head; pkt; pkt = pkt->next) {
                out_bytes += pkt->size_bytes;
                if (pkt == port->out[c].queue.tail) {
                    break;
                }
            }
        }
    }
    assert_int_equal(in_bytes, out_bytes);
    assert_int_equal(over_reserve, pool_bytes);
    return out_bytes;
}

/* What a flow's receiver has got is what its sender has sent and nothing lost of it. */
static void
check_flows(const struct rig *rig)
{
    for (uint32_t i = 0; i < rig->n_flows; i++) {
        const struct rig_flow *flow = rig->flows[i];
        const struct qp *from = rig_qp(flow);
        const struct qp *to = net_qp(rig->net, flow->connection, 1);

        assert_true(to->payload_received <= from->payload_sent);
        assert_true(from->snd_una <= to->rcv_nxt && to->rcv_nxt <= from->snd_max);
        if (rig->net->end == NET_END_DONE) {
            assert_int_equal(to->payload_received, flow->bytes);
            assert_int_equal(flow->received_bytes, flow->bytes);
            assert_int_equal(flow->n_received, 1);
        }
    }
}

static uint64_t
digest_of(uint64_t seed, enum partition_mode partition, uint32_t n_threads)
{
    struct rig rig;
    int64_t stop_ps = random_rig(&rig, seed);

    rig_start(&rig, partition, n_threads);
    rig_run(&rig, stop_ps);
    uint64_t digest = rig_digest(&rig);

    rig_clear(&rig);
    return digest;
}

static void
test_k51_laws_of_random_networks(void **state)
{
    struct laws all = {0};
    int64_t n_other = 0, n_retransmitted = 0;
    unsigned n_held = 0, n_done = 0, n_with_pauses = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct laws laws = {0};
        struct rig rig;
        int64_t stop_ps = random_rig(&rig, seed);

        laws.pauses = g_new0(struct pauses, rig.net->n_ports * N_CLASSES);
        laws.wire_until_ps = g_new0(int64_t, rig.net->n_ports);
        rig.tap = watch;
        rig.tap_ctx = &laws;
        rig_start(&rig, PARTITION_ONE, 1);
        rig_run(&rig, stop_ps);
        /* Without pauses, or with losses, a queue pair may have used up its retries. */
        assert_true(rig.net->end == NET_END_DONE || rig.net->end == NET_END_STOPPED ||
                    (rig.net->end == NET_END_QP_ERROR && rig_sum(&rig).retransmitted));
        n_held += held_bytes(&rig) > 0;
        check_flows(&rig);
        uint64_t digest = rig_digest(&rig);

        n_other += digest_of(seed, PARTITION_ONE, 1) != digest;
        n_other += digest_of(seed, PARTITION_NODE, 1) != digest;
        if (seed % 8 == 0) {
            n_other +=
                digest_of(seed, seed % 16 ? PARTITION_RACK : PARTITION_NODE, 2) != digest;
        }
        n_done += rig.net->end == NET_END_DONE;
        n_with_pauses += laws.n_pauses > 0;
        n_retransmitted += rig_sum(&rig).retransmitted;
        all.n_frames += laws.n_frames;
        all.n_pauses += laws.n_pauses;
        all.n_while_paused += laws.n_while_paused;
        all.n_not_alternating += laws.n_not_alternating;
        all.n_overlapping += laws.n_overlapping;
        g_free(laws.pauses);
        g_free(laws.wire_until_ps);
        rig_clear(&rig);
    }
    print_message(
        "# K51: %d networks, %lld frames, %lld pause frames in %u of them, %lld "
        "packets sent again; %u done, %u stopped with packets queued\n",
        SEEDS, (long long)all.n_frames, (long long)all.n_pauses, n_with_pauses,
        (long long)n_retransmitted, n_done, n_held);
    /* There was something to look at. */
    assert_true(all.n_pauses > 1000 && n_with_pauses > SEEDS / 10 && n_done > SEEDS / 4 &&
                n_held > SEEDS / 10 && n_retransmitted > 100);
    known_equals("K51", "sent_while_paused", (double)all.n_while_paused);
    known_equals("K51", "not_alternating", (double)all.n_not_alternating);
    known_equals("K51", "overlapping", (double)all.n_overlapping);
    known_equals("K51", "other_digests", (double)n_other);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k51_laws_of_random_networks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
