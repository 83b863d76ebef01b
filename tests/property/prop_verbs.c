/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * prop_verbs.c - WRITE, SEND and READ over a bad way: whatever is lost, delayed or refused,
 * with go-back-N and selective repeat, every message is delivered once, in order and whole,
 * and nothing is left behind.
 */
#include <config.h>

#include "models/nic/retx_sr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sim/rng.h"
#include "tests/support/rig.h"

#define N_CASES 1500
#define MESSAGES_MAX 60
#define LATE (UINT64_C(1) << 40) /* sources of events of late packets */

struct dice {
    uint64_t key, n;
};

/* What one side of the connection has been told. */
struct told {
    uint32_t sent[2 * MESSAGES_MAX], received[2 * MESSAGES_MAX];
    uint32_t n_sent, n_received;
};

struct one {
    struct rig rig;
    struct dice dice;
    uint64_t number;
    struct told told[2];
    uint64_t late_key, n_late;
    uint32_t late_share; /* of 256 */
    uint32_t connection;
};

static uint64_t
below(struct dice *dice, uint64_t bound)
{
    return rng_below(dice->key, dice->n++, bound);
}

static struct told *
told_of(struct one *one, const struct qp *qp)
{
    return &one->told[qp == net_qp(one->rig.net, one->connection, 1)];
}

static void
on_sent(void *ctx, struct lp *lp, struct qp *qp, uint32_t id)
{
    struct told *told = told_of(ctx, qp);

    assert_true(told->n_sent < G_N_ELEMENTS(told->sent));
    told->sent[told->n_sent++] = id;
    net_op_end(lp);
}

static void
on_received(void *ctx, struct lp *lp, struct qp *qp, uint32_t id, int64_t bytes,
            bool has_imm, uint32_t imm)
{
    struct one *one = ctx;
    struct told *told = told_of(one, qp);
    const struct rig_flow *flow = one->rig.flows[id];

    (void)lp;
    assert_true(told->n_received < G_N_ELEMENTS(told->received));
    told->received[told->n_received++] = id;
    assert_int_equal(bytes, flow->bytes);
    assert_int_equal(has_imm, flow->verb == QP_WRITE_IMM || flow->verb == QP_SEND_IMM);
    if (has_imm) {
        assert_int_equal(imm, id + 1000);
    }
}

static const struct qp_user_ops user_ops = {.sent = on_sent, .received = on_received};

/* Has packets arrive late at the hosts, so that others overtake them.  A late one is an
 * event of its own, since a port has one arrival at a time. */
static void
delay(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct one *one = rig->tap_ctx;
    struct event arrival = *event;
    struct port *in;
    struct packet *pkt = rig_arrival(rig, event, &in);

    if (event_kind(event->key) == KIND_WORK && event_source(event->key) >= LATE) {
        const struct packet *late = event->obj;

        in = rig->net->nics[late->dst_nic].port;
        arrival.key = event_key(PHASE_ARRIVAL, in->id, KIND_ARRIVE_NIC, false);
    } else if (pkt && in->is_nic && pkt->type != PACKET_PFC) {
        uint64_t draw = rng_u64(one->late_key, one->n_late++);

        if ((draw & 0xff) < one->late_share) {
            lp_at(lp, lp->now_ps + (int64_t)(draw >> 8) % 5000000,
                  event_key(PHASE_POST, LATE + one->n_late, KIND_WORK, false), pkt);
            return;
        }
    }
    rig_handle(lp, &arrival);
}

static int64_t
draw_bytes(struct dice *dice)
{
    switch (below(dice, 5)) {
    case 0:
        return 0;
    case 1:
        return (int64_t)below(dice, 100);
    case 2:
        return (int64_t)below(dice, 20) * 1024;
    default:
        return (int64_t)below(dice, 60000);
    }
}

static void
draw_messages(struct one *one)
{
    struct dice *dice = &one->dice;
    unsigned verbs = 1 + (unsigned)below(dice, 31); /* which may occur */
    bool both_ways = below(dice, 2);
    uint32_t n = 1 + (uint32_t)below(dice, MESSAGES_MAX);

    for (uint32_t i = 0; i < n; i++) {
        unsigned side = both_ways && below(dice, 2);
        struct rig_flow *flow =
            rig_flow_on(&one->rig, one->connection, side, draw_bytes(dice), 0);

        do {
            flow->verb = (enum qp_verb)below(dice, 5);
        } while (!(verbs >> flow->verb & 1));
    }
}

/* Returns whether both ends may lose messages in transit: then packets may be dropped. */
static void
draw_nic(struct one *one)
{
    static const int64_t ack_every[] = {1, 2, 7, 256};
    struct nic_params *nic = &one->rig.nic;
    struct dice *dice = &one->dice;

    nic->mtu_bytes = 256 << below(dice, 5);
    nic->ack_every = ack_every[below(dice, 4)];
    nic->latency_ps = below(dice, 2) ? (int64_t)below(dice, 1000000) : 0;
    nic->ack_latency_ps = below(dice, 2) ? (int64_t)below(dice, 1000000) : 0;
    nic->ack_timeout = 4;
    nic->max_inflight = below(dice, 3) ? 0 : 1 + (int64_t)below(dice, 30);
    nic->max_reads = 1 + (int64_t)below(dice, 16);
    nic->retransmit = below(dice, 2) ? NIC_SR : NIC_GBN;
    nic->sr_window = 64 << below(dice, 3);
    nic->sr_reorder_ps = (int64_t)(1 + below(dice, 20)) * PS_PER_US;
    nic->sr_repeat_ps = (int64_t)(5 + below(dice, 40)) * PS_PER_US;
    if (below(dice, 3) == 0) {
        nic->receive_queue = 1 + (int64_t)below(dice, 4);
        nic->receive_delay_ps = (int64_t)below(dice, 2) * 30 * PS_PER_US;
        nic->rnr_timer = 1 + (int64_t)below(dice, 2);
    }
}

static void
draw_losses(struct one *one)
{
    uint64_t drop[30], n_drop = 1 + below(&one->dice, 30), at = 0;

    for (uint64_t i = 0; i < n_drop; i++) {
        at += 1 + below(&one->dice, 12);
        drop[i] = at;
    }
    const struct fault fault = {
        .kind = FAULT_DROP, .drop = drop, .n_drop = (uint32_t)n_drop};

    net_add_fault(one->rig.net, (uint32_t)below(&one->dice, 2), &fault);
}

static void
check_side(struct one *one, unsigned side)
{
    struct rig *rig = &one->rig;
    const struct qp *qp = net_qp(rig->net, one->connection, side);
    const struct told *here = &one->told[side], *there = &one->told[1 - side];
    int64_t in = 0, out = 0;
    uint32_t n_sent = 0, n_received = 0;

    for (uint32_t i = 0; i < rig->n_flows; i++) {
        const struct rig_flow *flow = rig->flows[i];

        if ((flow->side == side) == (flow->verb == QP_READ)) {
            in += flow->bytes;
        } else {
            out += flow->bytes;
        }
        if (flow->side != side) {
            continue;
        }
        assert_true(n_sent < here->n_sent);
        assert_int_equal(here->sent[n_sent++], i);
        if (flow->verb != QP_READ) {
            assert_true(n_received < there->n_received);
            assert_int_equal(there->received[n_received++], i);
        }
    }
    assert_int_equal(here->n_sent, n_sent);
    assert_int_equal(there->n_received, n_received);
    /* A responder that goes back drops what it had not sent; if a request for that is lost
     * again, responses go out of order, and it cannot tell which are new. */
    bool may_miscount =
        !qp->sr && net_qp(rig->net, one->connection, 1 - side)->special & QP_READS;

    if (qp->payload_received != in ||
        (qp->payload_sent != out && !(may_miscount && qp->payload_sent < out))) {
        fail_msg("case %llu, side %u: received %lld of %lld B, sent %lld of %lld B",
                 (unsigned long long)one->number, side, (long long)qp->payload_received,
                 (long long)in, (long long)qp->payload_sent, (long long)out);
    }
    assert_null(qp->answers.head);
    assert_int_equal(qp->reads_out, 0);
    assert_int_equal(qp->wqes_used, 0);
    if (qp->sr) {
        assert_null(qp->sr->held);
        assert_int_equal(qp->sr->n_lost + qp->sr->n_resend, 0);
    }
}

/* What all cases have seen. */
struct seen {
    int64_t retransmitted, timeouts, naks, rnrs, lost, late;
};

static void
one_case(uint64_t number, struct seen *seen)
{
    struct one one = {.number = number,
                      .dice = {.key = rng_key(number, "prop_verbs", "case")},
                      .late_key = rng_key(number, "prop_verbs", "late")};
    struct link_params link = {.rate_bps = 100 * GBPS};
    struct rig *rig = &one.rig;

    rig_init(rig, number);
    draw_nic(&one);
    link.delay_ps = (int64_t)below(&one.dice, 2000000);
    link.error_rate = below(&one.dice, 2) ? 0.03 * (double)below(&one.dice, 3) : 0;
    rig_chain(rig, 1, (const struct link_params[]){link, link});
    rig_build(rig);
    one.connection = net_connect(rig->net, 0, 0, 1, 0, 0);
    draw_messages(&one);
    if (below(&one.dice, 3) == 0) {
        draw_losses(&one);
    }
    /* With go-back-N a late packet is as good as lost. */
    if (below(&one.dice, 3) == 0) {
        one.late_share =
            (uint32_t)below(&one.dice, rig->nic.retransmit == NIC_SR ? 128 : 8);
        rig->tap = delay;
        rig->tap_ctx = &one;
    }
    rig_start(rig, PARTITION_ONE, 1);
    for (unsigned side = 0; side < 2; side++) {
        struct qp *qp = net_qp(rig->net, one.connection, side);

        qp->user = &user_ops;
        qp->user_ctx = &one;
        if (number % 2) { /* PSNs wrap */
            qp->psn_base = 0xFFFFF0;
            qp->psn_base_peer = 0xFFFFF0;
        }
    }
    rig_run(rig, 10 * PS_PER_S);
    if (rig->net->end != NET_END_DONE) {
        fail_msg("case %llu ends with %d at %lld ps, %s", (unsigned long long)number,
                 (int)rig->net->end, (long long)rig->net->end_ps,
                 rig->nic.retransmit == NIC_SR ? "sr" : "gbn");
    }
    for (unsigned side = 0; side < 2; side++) {
        check_side(&one, side);
    }
    struct rig_sums sum = rig_sum(rig);

    seen->retransmitted += sum.retransmitted;
    seen->timeouts += sum.timeouts;
    seen->naks += sum.naks;
    seen->rnrs += sum.rnrs;
    seen->lost += sum.lost_error;
    seen->late += (int64_t)one.n_late;
    if (rig->nic.receive_queue == 0) {
        assert_int_equal(sum.rnrs, 0);
    }
    rig_clear(rig);
}

static void
all_is_delivered_once(void **state)
{
    struct seen seen = {0};

    (void)state;
    for (uint64_t i = 0; i < N_CASES; i++) {
        one_case(i, &seen);
    }
    /* The cases were what they are meant to be. */
    assert_true(seen.retransmitted > N_CASES && seen.timeouts > N_CASES / 4);
    assert_true(seen.naks > N_CASES && seen.rnrs > N_CASES / 4);
    assert_true(seen.lost > N_CASES && seen.late > N_CASES);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_delivered_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
