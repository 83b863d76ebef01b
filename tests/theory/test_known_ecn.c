/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_ecn.c - K27: marks on a queue of a known length; K28: CNPs of a receiver
 * that gets nothing but marked packets; K33: a flow that meets nobody is never marked.
 *
 * K27 pins the queue: a sender twice as fast as the egress keeps a constant number of
 * packets under way and sends one for each ACK.  So every packet finds the same queue,
 * which the test sees for itself.  The length is chosen by the number of packets.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/known.h"
#include "tests/support/rig.h"

#define DELAY (25 * PS_PER_NS)

enum {
    CLS = 3, /* of RoCE in a rig */
    /* A message of one packet whose frame divides 100, 175, 250, 400 and 401.25 KB: with
     * headers of 62 B and RETH. */
    FRAME_BYTES = 1250,
    MESSAGE_BYTES = FRAME_BYTES - 62 - RETH_BYTES,
    N_PKTS = 100000, /* K27 */
};

/* ---- K27 --------------------------------------------------------------------------- */

struct pinned {
    struct port *egress; /* borrowed */
    bool at_dequeue;
    int64_t n_posted, n_to_post;
    int64_t n_skip; /* packets judged before the queue stands */
    int64_t n_judged, n_counted, n_marked;
    int64_t least_bytes, most_bytes; /* of the queue, over those counted */
};

static void
post(struct pinned *pin, struct lp *lp, struct qp *qp)
{
    pin->n_posted++;
    net_op_begin(lp);
    qp_post_write(lp, qp, MESSAGE_BYTES, 0, false, 0);
}

static void
on_sent(void *ctx, struct lp *lp, struct qp *qp, uint32_t id)
{
    struct pinned *pin = ((struct rig *)ctx)->tap_ctx;

    (void)id;
    net_op_end(lp);
    if (pin->n_posted < pin->n_to_post) {
        post(pin, lp, qp);
    }
}

static void
on_received(void *ctx, struct lp *lp, struct qp *qp, uint32_t id, int64_t bytes,
            bool has_imm, uint32_t imm)
{
    (void)ctx, (void)lp, (void)qp, (void)id, (void)has_imm, (void)imm;
    assert_int_equal(bytes, MESSAGE_BYTES);
}

static const struct qp_user_ops user_ops = {.sent = on_sent, .received = on_received};

/* Does the switch judge a packet with 'event'? */
static bool
judges(const struct rig *rig, const struct event *event)
{
    const struct pinned *pin = rig->tap_ctx;
    struct port *in;

    if (pin->at_dequeue) {
        return event_kind(event->key) == KIND_WAKE_SWITCH &&
               event_source(event->key) == pin->egress->id;
    }
    struct packet *pkt = rig_arrival(rig, event, &in);

    return pkt && pkt->type == PACKET_DATA && !in->is_nic;
}

static void
watch_marks(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct pinned *pin = rig->tap_ctx;
    int64_t queue_bytes = pin->egress->out[CLS].queue.bytes;
    int64_t marked = pin->egress->stats[CLS].marked;
    bool judged = judges(rig, event);

    rig_handle(lp, event);
    if (!judged) {
        return;
    }
    pin->n_judged++;
    if (pin->n_judged <= pin->n_skip || pin->n_counted == N_PKTS ||
        pin->n_posted == pin->n_to_post) {
        return; /* it fills up, or it runs dry */
    }
    pin->n_counted++;
    pin->n_marked += pin->egress->stats[CLS].marked - marked;
    pin->least_bytes = queue_bytes < pin->least_bytes ? queue_bytes : pin->least_bytes;
    pin->most_bytes = queue_bytes > pin->most_bytes ? queue_bytes : pin->most_bytes;
}

/* 'n_window' packets under way, over 'n_pkts' in all. */
static struct pinned
run_window(const struct ecn_params *ecn, bool at_dequeue, int64_t n_window,
           int64_t n_pkts)
{
    const struct link_params links[] = {
        {.rate_bps = 200 * GBPS, .delay_ps = DELAY},
        {.rate_bps = 100 * GBPS, .delay_ps = DELAY},
    };
    struct pinned pin = {.at_dequeue = at_dequeue,
                         .n_to_post = n_pkts,
                         .n_skip = 2 * n_window,
                         .least_bytes = INT64_MAX};
    struct rig rig;

    rig_init(&rig, 27);
    rig_chain(&rig, 1, links);
    rig.ecn = *ecn;
    rig.sw.ecn_at_dequeue = at_dequeue;
    rig_dcqcn(&rig, "paper"); /* so that data is ECT */
    for (uint32_t h = 0; h < 2; h++) {
        rig.net->nic_params[h].cnp_interval_ps = 0; /* and nobody hears of marks */
    }
    rig_build(&rig);
    net_connect(rig.net, 0, 0, 1, 0, 0);
    pin.egress = rig_port(&rig, "leaf0", "host1");
    rig.tap = watch_marks;
    rig.tap_ctx = &pin;
    rig_start(&rig, PARTITION_ONE, 1);
    for (unsigned side = 0; side < 2; side++) {
        net_qp(rig.net, 0, side)->user = &user_ops;
        net_qp(rig.net, 0, side)->user_ctx = &rig;
    }
    for (int64_t i = 0; i < n_window; i++) {
        post(&pin, net_lp_of_host(rig.net, 0), net_qp(rig.net, 0, 0));
    }
    rig_run(&rig, TIME_NEVER_PS);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_int_equal(rig_sum(&rig).drops, 0);
    rig_clear(&rig);
    pin.egress = NULL;
    return pin;
}

/* Share of packets marked that find 'queue_bytes' in the queue, compared with 'name'. */
static void
compare_marks(const struct ecn_params *ecn, bool at_dequeue, int64_t queue_bytes,
              const char *name)
{
    const int64_t n_try = 200;
    struct pinned pin = run_window(ecn, at_dequeue, n_try, 3000);

    assert_int_equal(pin.least_bytes, pin.most_bytes);
    int64_t n_window = n_try + (queue_bytes - pin.least_bytes) / FRAME_BYTES;
    double p = known("K27", name);

    pin = run_window(ecn, at_dequeue, n_window, N_PKTS + 4 * n_window);
    assert_int_equal(pin.least_bytes, queue_bytes);
    assert_int_equal(pin.most_bytes, queue_bytes);
    assert_int_equal(pin.n_counted, N_PKTS);
    known_near("K27", name, (double)pin.n_marked / N_PKTS,
               known("K27", "sigmas") * sqrt(p * (1 - p) / N_PKTS));
}

static void
test_k27_marking_probability(void **state)
{
    const struct ecn_params ecn = {
        .kmin_bytes = 100000, .kmax_bytes = 400000, .pmax_q32 = PARAM_Q32(1, 5)};
    const struct ecn_params sonic = {
        .kmin_bytes = 1 << 20, .kmax_bytes = 2 << 20, .pmax_q32 = PARAM_Q32(1, 20)};

    (void)state;
    for (int at_dequeue = 0; at_dequeue < 2; at_dequeue++) {
        compare_marks(&ecn, at_dequeue, 100000, "p_at_100_kb");
        compare_marks(&ecn, at_dequeue, 175000, "p_at_175_kb");
        compare_marks(&ecn, at_dequeue, 250000, "p_at_250_kb");
        compare_marks(&ecn, at_dequeue, 400000, "p_at_400_kb");
        compare_marks(&ecn, at_dequeue, 401250, "p_over_400_kb");
        /* 364 B short of 1.5 MiB: 2e-5 of probability */
        compare_marks(&sonic, at_dequeue, 1572500, "sonic_p_at_1_5_mib");
    }
}

/* ---- K28 --------------------------------------------------------------------------- */

struct notified {
    int64_t first_mark_ps, first_cnp_ps, last_cnp_ps; /* at host1; at the switch */
    int64_t n_cnps, n_since; /* data packets at host1 since the last CNP left it */
    int64_t least_pkts, most_pkts, least_ps, most_ps;
};

static void
watch_cnps(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct notified *seen = rig->tap_ctx;
    struct port *in;
    struct packet *pkt = rig_arrival(rig, event, &in);

    if (pkt && pkt->type == PACKET_DATA && in->is_nic) {
        seen->n_since++;
        if (packet_is_marked(pkt) && seen->first_mark_ps == TIME_NEVER_PS) {
            seen->first_mark_ps = lp->now_ps;
        }
    }
    if (pkt && pkt->type == PACKET_CNP && !in->is_nic) {
        int64_t gap_ps = lp->now_ps - seen->last_cnp_ps;

        if (seen->n_cnps++ == 0) {
            seen->first_cnp_ps = lp->now_ps;
        } else {
            seen->least_pkts =
                seen->n_since < seen->least_pkts ? seen->n_since : seen->least_pkts;
            seen->most_pkts =
                seen->n_since > seen->most_pkts ? seen->n_since : seen->most_pkts;
            seen->least_ps = gap_ps < seen->least_ps ? gap_ps : seen->least_ps;
            seen->most_ps = gap_ps > seen->most_ps ? gap_ps : seen->most_ps;
        }
        seen->n_since = 0;
        seen->last_cnp_ps = lp->now_ps;
    }
    rig_handle(lp, event);
}

static struct notified
run_all_marked(int64_t interval_ps)
{
    const struct link_params links[] = {
        {.rate_bps = 200 * GBPS, .delay_ps = DELAY}, /* so that there is a queue */
        {.rate_bps = 100 * GBPS, .delay_ps = DELAY},
    };
    struct notified seen = {
        .first_mark_ps = TIME_NEVER_PS, .least_pkts = INT64_MAX, .least_ps = INT64_MAX};
    struct rig rig;

    rig_init(&rig, 28);
    rig_chain(&rig, 1, links);
    rig.ecn = (struct ecn_params){0};
    rig.sw.ecn_at_dequeue = true;
    rig.nic.max_inflight = 64;
    /* A CNP that cuts nothing: the flow goes on at its rate. */
    rig_dcqcn(&rig, "paper")->min_dec_factor_q32 = PARAM_ONE;
    for (uint32_t h = 0; h < 2; h++) {
        rig.net->nic_params[h].cnp_interval_ps = interval_ps;
    }
    rig_build(&rig);
    rig_flow(&rig, 0, 1, 1000000000, 0);
    rig.tap = watch_cnps;
    rig.tap_ctx = &seen;
    rig_start(&rig, PARTITION_ONE, 1);
    rig_run(&rig, 20 * 1000 * PS_PER_US);
    assert_int_equal(rig.net->end, NET_END_STOPPED);
    /* All but the first few, which found no queue. */
    assert_in_range(net_qp(rig.net, 0, 1)->rcv_nxt -
                        rig_port(&rig, "leaf0", "host1")->stats[CLS].marked,
                    0, 2);
    rig_clear(&rig);
    return seen;
}

static void
compare_cnps(int64_t interval_ps, const char *prefix)
{
    struct notified seen = run_all_marked(interval_ps);
    const int64_t cnp_ps = sim_tx_time_ps(78 + WIRE_PREAMBLE_BYTES, 100 * GBPS);
    double mean_us = (double)(seen.last_cnp_ps - seen.first_cnp_ps) /
                     (double)(seen.n_cnps - 1) / PS_PER_US;
    char name[64];

    assert_true(seen.n_cnps > 300);
    assert_int_equal(seen.first_cnp_ps - seen.first_mark_ps, cnp_ps + DELAY);
    snprintf(name, sizeof name, "%s_least_pkts", prefix);
    known_equals("K28", name, (double)seen.least_pkts);
    snprintf(name, sizeof name, "%s_most_pkts", prefix);
    known_equals("K28", name, (double)seen.most_pkts);
    snprintf(name, sizeof name, "%s_spacing_us", prefix);
    known_equals("K28", name, (double)seen.least_ps / PS_PER_US);
    known_equals("K28", name, (double)seen.most_ps / PS_PER_US);
    snprintf(name, sizeof name, "%s_cnps_per_s", prefix);
    known_equals("K28", name, 1e6 / mean_us);
}

static void
test_k28_cnp_interval(void **state)
{
    (void)state;
    compare_cnps(50 * PS_PER_US, "n50us");
    compare_cnps(4 * PS_PER_US, "n4us");
}

/* ---- K33 --------------------------------------------------------------------------- */

static void
test_k33_alone_never_marked(void **state)
{
    const char *const presets[] = {"paper", "mlx5"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const int64_t bytes = INT64_C(4096) * 97656;
        struct rig rig;

        rig_init(&rig, 33);
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        /* The first packet is longer by its RETH, so the others wait for 1.28 ns, one at
         * a time.  A second one that waits would be marked. */
        rig.ecn = (struct ecn_params){.kmin_bytes = 4158, .kmax_bytes = 4158};
        rig.sw.ecn_at_dequeue = true;
        rig_dcqcn(&rig, presets[i]);
        rig_build(&rig);
        const struct rig_flow *flow = rig_flow(&rig, 0, 1, bytes, 0);

        rig_play(&rig);
        const struct rig_sums sums = rig_sum(&rig);

        known_equals("K33", "marked_pkts", (double)sums.marked);
        known_equals("K33", "cnps", (double)sums.cnps);
        known_at_most("K33", "queue_pkts",
                      (double)rig_port(&rig, "leaf0", "host1")->out[CLS].max_bytes /
                          4158);
        known_equals("K33", "goodput_share",
                     (double)bytes * 8 / (100 * GBPS) /
                         ((double)flow->received_ps / PS_PER_S));
        known_equals("K33", "rate_gbps",
                     (double)qp_rate_bps(rig_qp(flow), rig.net->end_ps) / GBPS);
        rig_clear(&rig);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k27_marking_probability),
        cmocka_unit_test(test_k28_cnp_interval),
        cmocka_unit_test(test_k33_alone_never_marked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
