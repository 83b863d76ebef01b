/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_drain.c - NICs that stop their switch: slow hosts and pause storms.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "models/nic/drain.h"
#include "tests/support/rig.h"

enum { ROCE = 3 };

#define BYTES (INT64_C(4) << 20)

/* Host 1 sends to host 0, at which 'faults' strike. */
static struct rig_flow *
play(struct rig *rig, const struct fault faults[], unsigned n_faults)
{
    struct rig_flow *flow;

    rig_star(rig, 2, 100 * GBPS, 25 * PS_PER_NS);
    rig_build(rig);
    flow = rig_flow(rig, 1, 0, BYTES, 0);
    for (unsigned i = 0; i < n_faults; i++) {
        if (faults[i].kind == FAULT_DOWN || faults[i].kind == FAULT_UP) {
            net_add_fault(rig->net, 0, &faults[i]);
        } else {
            net_add_port_fault(rig->net, rig_port(rig, "host0", "leaf0")->id, &faults[i]);
        }
    }
    rig_play(rig);
    return flow;
}

/* Bytes on the wire less preamble and gap, as a host takes them. */
static int64_t
taken_ps(int64_t bytes, int64_t rate_bps)
{
    return bytes / 4096 * sim_tx_time_ps(4096 + 62, rate_bps);
}

static void
test_slow_until_the_end(void **state)
{
    const struct fault slow = {
        .kind = FAULT_SLOW, .rate_bps = 40 * GBPS, .buffer_bytes = 50000};
    struct rig_flow *flow;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    flow = play(&rig, &slow, 1);
    assert_int_equal(rig.net->end, NET_END_DONE);
    /* The host takes without a pause from the first packet on. */
    int64_t ideal_ps = taken_ps(BYTES, 40 * GBPS);

    assert_in_range(flow->received_ps, ideal_ps, ideal_ps + 2 * PS_PER_US);
    const struct port *port = rig_port(&rig, "host0", "leaf0");

    assert_true(port->stats[ROCE].pfc_xoff_tx > 0);
    assert_int_equal(port->stats[ROCE].pfc_xoff_tx, port->stats[ROCE].pfc_xon_tx);
    assert_false(port->in[ROCE].xoff);
    assert_int_equal(rig_sum(&rig).drops, 0);
    rig_clear(&rig);
}

static void
test_slow_for_a_while(void **state)
{
    const struct fault faults[] = {
        {.kind = FAULT_SLOW,
         .at_ps = 50 * PS_PER_US,
         .rate_bps = GBPS,
         .buffer_bytes = 50000},
        {.kind = FAULT_SLOW, .at_ps = 250 * PS_PER_US, .buffer_bytes = 50000}};
    struct rig_flow *quick, *flow;
    struct rig rig, other;

    (void)state;
    rig_init(&other, 1);
    quick = play(&other, NULL, 0);
    rig_init(&rig, 1);
    flow = play(&rig, faults, 2);
    assert_int_equal(rig.net->end, NET_END_DONE);
    /* What the NIC and the link held when it was over is there at once; else nothing has
     * moved for 200 us but 1 Gb/s. */
    assert_in_range(flow->received_ps - quick->received_ps, 190 * PS_PER_US,
                    200 * PS_PER_US);
    assert_false(rig_port(&rig, "host0", "leaf0")->in[ROCE].xoff);
    assert_int_equal(rig_sum(&rig).drops, 0);
    rig_clear(&rig);
    rig_clear(&other);
}

/* Without PFC the NIC has nothing to say and loses what it cannot hold. */
static void
test_slow_and_lossy(void **state)
{
    const struct fault slow = {
        .kind = FAULT_SLOW, .rate_bps = 40 * GBPS, .buffer_bytes = 50000};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.pfc = 0;
    rig.nic.max_inflight = 64;
    rig.nic.ack_timeout = 4;
    play(&rig, &slow, 1);
    assert_int_equal(rig.net->end, NET_END_DONE);
    const struct port_stats *stats = &rig_port(&rig, "host0", "leaf0")->stats[ROCE];

    assert_true(stats->drops > 0);
    assert_true(stats->drop_bytes > stats->drops * 60);
    assert_int_equal(rig_sum(&rig).xoff_tx, 0);
    rig_clear(&rig);
}

static void
test_storm(void **state)
{
    const struct fault faults[] = {
        {.kind = FAULT_STORM, .at_ps = 50 * PS_PER_US, .classes = 1 << ROCE},
        {.kind = FAULT_STORM_END, .at_ps = 1050 * PS_PER_US, .classes = 1 << ROCE}};
    const struct probe_record *pause = NULL;
    struct rig_flow *quick, *flow;
    struct rig rig, other;

    (void)state;
    rig_init(&other, 1);
    quick = play(&other, NULL, 0);
    rig_init(&rig, 1);
    rig.nic.ack_timeout = 0;
    flow = play(&rig, faults, 2);
    assert_int_equal(rig.net->end, NET_END_DONE);
    const struct port *port = rig_port(&rig, "host0", "leaf0");

    /* Repeated each 168 us, ended once; the switch has obeyed it without a break. */
    assert_int_equal(port->stats[ROCE].pfc_xoff_tx, 6);
    assert_int_equal(port->stats[ROCE].pfc_xon_tx, 1);
    assert_in_range(flow->received_ps - quick->received_ps, 995 * PS_PER_US,
                    1000 * PS_PER_US);
    for (guint i = 0; i < rig.records->len; i++) {
        const struct probe_record *r =
            &g_array_index(rig.records, struct probe_record, i);

        pause = r->kind == PROBE_PAUSE && r->object == port->id ? r : pause;
    }
    assert_non_null(pause);
    assert_int_equal(pause->a, 50 * PS_PER_US);
    assert_int_equal(pause->time_ps, 1050 * PS_PER_US);
    assert_int_equal(pause->b, port->id);
    rig_clear(&rig);
    rig_clear(&other);
}

/* A storm goes on when the link is back; a slow host's pause is not ended with it. */
static void
test_storm_over_a_link_that_fails(void **state)
{
    const struct fault faults[] = {
        {.kind = FAULT_STORM, .at_ps = 50 * PS_PER_US, .classes = 1 << ROCE},
        {.kind = FAULT_DOWN, .at_ps = 100 * PS_PER_US},
        {.kind = FAULT_UP, .at_ps = 150 * PS_PER_US},
        {.kind = FAULT_STORM_END, .at_ps = 400 * PS_PER_US, .classes = 1 << ROCE}};
    struct rig_flow *flow;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_timeout = 5;
    flow = play(&rig, faults, 4);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_true(flow->received_ps > 400 * PS_PER_US);
    const struct port *port = rig_port(&rig, "host0", "leaf0");

    /* At 50, 150 and 318 us. */
    assert_int_equal(port->stats[ROCE].pfc_xoff_tx, 3);
    assert_false(port->in[ROCE].xoff);
    rig_clear(&rig);
}

static void
test_storm_of_a_slow_host(void **state)
{
    const struct fault faults[] = {
        {.kind = FAULT_SLOW, .rate_bps = GBPS, .buffer_bytes = 100000},
        {.kind = FAULT_STORM, .at_ps = 20 * PS_PER_US, .classes = 1 << ROCE},
        {.kind = FAULT_STORM_END, .at_ps = 40 * PS_PER_US, .classes = 1 << ROCE},
        {.kind = FAULT_SLOW, .at_ps = 3 * PS_PER_MS, .buffer_bytes = 0}};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    play(&rig, faults, 4);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_int_equal(rig_sum(&rig).drops, 0);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_until_the_end),
        cmocka_unit_test(test_slow_for_a_while),
        cmocka_unit_test(test_slow_and_lossy),
        cmocka_unit_test(test_storm),
        cmocka_unit_test(test_storm_over_a_link_that_fails),
        cmocka_unit_test(test_storm_of_a_slow_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
