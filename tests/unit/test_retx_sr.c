/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_retx_sr.c - selective repeat: only what is lost goes again, what is merely late does
 * not.  tests/property/prop_verbs.c mixes all of it.
 */
#include <config.h>

#include "models/nic/retx_sr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/ideal.h"
#include "tests/support/rig.h"

#define DELAY 25253            /* K10: 5 m */
#define TIMEOUT_PS 67108864000 /* exponent 14 */

/* A star of two hosts and one flow from 0 to 1, a READ by 1 or else posted by 0; the
 * link of host 0 loses the packets on the list. */
static struct rig_flow *
lossy_flow(struct rig *rig, enum qp_verb verb, int64_t bytes, const uint64_t drop[],
           uint32_t n_drop)
{
    struct fault fault = {.kind = FAULT_DROP, .drop = (uint64_t *)drop, .n_drop = n_drop};

    rig_star(rig, 2, 100 * GBPS, DELAY);
    rig_build(rig);
    if (n_drop) {
        net_add_fault(rig->net, 0, &fault);
    }
    struct rig_flow *flow =
        rig_flow_on(rig, net_connect(rig->net, 0, 0, 1, 0, 0), verb == QP_READ, bytes, 0);

    flow->verb = verb;
    return flow;
}

static void
init(struct rig *rig)
{
    rig_init(rig, 1);
    rig->nic.retransmit = NIC_SR;
    rig->nic.sr_reorder_ps = 5 * PS_PER_US;
    rig->nic.sr_repeat_ps = 20 * PS_PER_US;
}

static int64_t
ideal_ps(const struct rig_flow *flow)
{
    return net_ideal_verb_fct_ps(flow->rig->net, flow->connection, 0, flow->verb,
                                 flow->bytes);
}

/* What is lost is sent again and nothing else, in the time that the others take. */
static void
only_the_lost(void **state)
{
    const uint64_t drop[] = {20, 21, 22, 50, 100, 170, 300, 399};

    (void)state;
    for (enum qp_verb verb = QP_WRITE; verb <= QP_READ; verb++) {
        struct rig rig;

        init(&rig);
        struct rig_flow *flow = lossy_flow(&rig, verb, 500 * 4096, drop, 8);

        rig_play(&rig);
        assert_int_equal(rig.net->end, NET_END_DONE);
        assert_int_equal(rig_sum(&rig).retransmitted, 8);
        assert_int_equal(rig_sum(&rig).lost_protocol, 0);
        assert_int_equal(rig_sum(&rig).timeouts, 0);
        assert_true(rig_fct_ps(flow) < ideal_ps(flow) + 10 * 4178 * 80);
        assert_int_equal(flow->n_received, verb != QP_READ);
        rig_clear(&rig);
    }
}

/* Late packets: how many, and by how much. */
struct late {
    uint32_t every, n;
    int64_t by_ps;
};

#define LATE (UINT64_C(1) << 40) /* sources of events of late packets */

static void
delay(struct rig *rig, struct lp *lp, const struct event *event)
{
    struct late *late = rig->tap_ctx;
    struct event arrival = *event;
    struct port *in;
    struct packet *pkt = rig_arrival(rig, event, &in);

    if (event_kind(event->key) == KIND_WORK && event_source(event->key) >= LATE) {
        in = rig->net->nics[((const struct packet *)event->obj)->dst_nic].port;
        arrival.key = event_key(PHASE_ARRIVAL, in->id, KIND_ARRIVE_NIC, false);
    } else if (pkt && in->is_nic && packet_has_psn(pkt) && ++late->n % late->every == 0) {
        lp_at(lp, lp->now_ps + late->by_ps,
              event_key(PHASE_POST, LATE + late->n, KIND_WORK, false), pkt);
        return;
    }
    rig_handle(lp, &arrival);
}

/* Packets overtake each other: nothing is sent again, nobody complains.  Where one is later
 * than the time allowed, it is. */
static void
late_is_not_lost(void **state)
{
    (void)state;
    for (enum qp_verb verb = QP_WRITE; verb <= QP_READ; verb++) {
        for (int too_late = 0; too_late < 2; too_late++) {
            struct late late = {.every = 3, .by_ps = (too_late ? 11 : 4) * PS_PER_US};
            struct rig rig;

            init(&rig);
            rig.tap = delay;
            rig.tap_ctx = &late;
            struct rig_flow *flow = lossy_flow(&rig, verb, 500 * 4096, NULL, 0);

            rig_play(&rig);
            assert_int_equal(rig.net->end, NET_END_DONE);
            assert_int_equal(rig_sum(&rig).retransmitted > 0, too_late);
            assert_int_equal(rig_sum(&rig).lost_protocol > 0, too_late);
            assert_int_equal(rig_sum(&rig).naks > 0, too_late && verb != QP_READ);
            assert_int_equal(rig_sum(&rig).timeouts, 0);
            if (!too_late) {
                assert_true(rig_fct_ps(flow) <= ideal_ps(flow) + 5 * PS_PER_US);
            }
            rig_clear(&rig);
        }
    }
}

/* With go-back-N the same order of arrival is a disaster. */
static void
go_back_n_minds(void **state)
{
    struct late late = {.every = 50, .by_ps = PS_PER_US};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.tap = delay;
    rig.tap_ctx = &late;
    lossy_flow(&rig, QP_WRITE, 500 * 4096, NULL, 0);
    rig_play(&rig);
    assert_true(rig_sum(&rig).retransmitted >= 10);
    assert_true(rig_sum(&rig).naks >= 5);
    rig_clear(&rig);
}

/* The end is lost: the timeout sends the first and the last packet of what is missing, and
 * that shows the rest. */
static void
lost_tail(void **state)
{
    const uint64_t drop[] = {91, 92, 93, 94, 95, 96, 97, 98, 99, 100};
    struct rig rig;

    (void)state;
    init(&rig);
    rig.nic.ack_every = 10;
    struct rig_flow *flow = lossy_flow(&rig, QP_WRITE, 100 * 4096, drop, 10);

    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_int_equal(rig_sum(&rig).timeouts, 1);
    assert_int_equal(rig_sum(&rig).retransmitted, 10);
    assert_int_equal(rig_sum(&rig).lost_protocol, 0);
    assert_true(rig_fct_ps(flow) < TIMEOUT_PS + 100 * PS_PER_US);
    rig_clear(&rig);
}

/* The packet that comes again is lost as well: told again, without a timeout. */
static void
lost_again(void **state)
{
    /* 20 is lost; when it comes again, it is number 37 to 45. */
    const uint64_t drop[] = {20, 37, 38, 39, 40, 41, 42, 43, 44, 45};
    struct rig rig;

    (void)state;
    init(&rig);
    struct rig_flow *flow = lossy_flow(&rig, QP_WRITE, 500 * 4096, drop, 10);

    rig_play(&rig);
    assert_int_equal(rig_sum(&rig).timeouts, 0);
    assert_int_equal(rig_sum(&rig).retransmitted, 10);
    assert_true(rig_fct_ps(flow) < ideal_ps(flow) + 12 * 4178 * 80);
    rig_clear(&rig);
}

/* Both ends must have it; the smaller window holds. */
static void
both_ends(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        const uint64_t drop[] = {20};
        struct rig rig;

        init(&rig);
        rig.nic.sr_window = 256;
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        rig_params(&rig);
        rig.net->nic_params[1].retransmit = both ? NIC_SR : NIC_GBN;
        rig.net->nic_params[1].sr_window = 64;
        rig_build(&rig);
        const struct fault fault = {
            .kind = FAULT_DROP, .drop = (uint64_t *)drop, .n_drop = 1};

        net_add_fault(rig.net, 0, &fault);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, 500 * 4096, 0);

        rig_play(&rig);
        assert_int_equal(rig.net->end, NET_END_DONE);
        assert_int_equal(rig_qp(flow)->sr != NULL, both);
        assert_int_equal(rig_sum(&rig).retransmitted, both ? 1 : 6);
        if (both) {
            assert_int_equal(rig_qp(flow)->sr->window, 64);
        }
        rig_clear(&rig);
    }
}

/* A window that is full waits for the gap. */
static void
window(void **state)
{
    const uint64_t drop[] = {100};
    struct rig rig;

    (void)state;
    init(&rig);
    rig.nic.sr_window = 64;
    rig.nic.sr_reorder_ps = 100 * PS_PER_US; /* 300 packets */
    struct rig_flow *flow = lossy_flow(&rig, QP_WRITE, 500 * 4096, drop, 1);

    rig_play(&rig);
    assert_int_equal(rig_sum(&rig).retransmitted, 1);
    assert_int_equal(rig_sum(&rig).lost_protocol, 0);
    int64_t later_ps = rig_fct_ps(flow) - ideal_ps(flow);

    /* 63 of the 300 went meanwhile. */
    assert_true(llabs(later_ps - (100 * PS_PER_US - 63 * 4178 * 80)) < 5 * PS_PER_US);
    rig_clear(&rig);
}

/* A way that is cut for good and no ACK timeout: the run still ends. */
static void
stands_still(void **state)
{
    const uint64_t drop[] = {20};
    struct fault down = {.kind = FAULT_DOWN, .at_ps = 30 * PS_PER_US};
    struct rig rig;

    (void)state;
    init(&rig);
    rig.nic.ack_timeout = 0;
    rig.nic.sr_reorder_ps = 40 * PS_PER_US;
    lossy_flow(&rig, QP_WRITE, 500 * 4096, drop, 1);
    net_add_fault(rig.net, 1, &down);
    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_STALLED);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_lost),   cmocka_unit_test(late_is_not_lost),
        cmocka_unit_test(go_back_n_minds), cmocka_unit_test(lost_tail),
        cmocka_unit_test(lost_again),      cmocka_unit_test(both_ends),
        cmocka_unit_test(window),          cmocka_unit_test(stands_still),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
