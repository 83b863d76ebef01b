/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_watchdog.c - the PFC watchdog: its timers, what it strikes and what not, what
 * becomes of those behind.  K24 holds its timers to SONiC's.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "models/switch/watchdog.h"
#include "tests/support/rig.h"

enum { ROCE = 3 };

static void
test_timers(void **state)
{
    struct watchdog_params p = {.action = WATCHDOG_DROP,
                                .detect_ps = WATCHDOG_SONIC,
                                .restore_ps = WATCHDOG_SONIC,
                                .poll_ps = WATCHDOG_SONIC};
    struct watchdog_params r;

    (void)state;
    assert_int_equal(watchdog_sonic_ps(1, false), 200 * PS_PER_MS);
    assert_int_equal(watchdog_sonic_ps(32, false), 200 * PS_PER_MS);
    assert_int_equal(watchdog_sonic_ps(33, false), 400 * PS_PER_MS);
    assert_int_equal(watchdog_sonic_ps(64, true), 400 * PS_PER_MS);
    assert_int_equal(watchdog_sonic_ps(256, false), 1600 * PS_PER_MS);
    assert_int_equal(watchdog_sonic_ps(256, true), 1000 * PS_PER_MS);
    r = watchdog_resolve(&p, 64);
    assert_int_equal(r.detect_ps, 400 * PS_PER_MS);
    assert_int_equal(r.poll_ps, 400 * PS_PER_MS);
    /* A poll is no longer than what it measures. */
    p.detect_ps = 7 * PS_PER_MS;
    r = watchdog_resolve(&p, 64);
    assert_int_equal(r.restore_ps, 400 * PS_PER_MS);
    assert_int_equal(r.poll_ps, 7 * PS_PER_MS);
    p.restore_ps = 3 * PS_PER_MS;
    assert_int_equal(watchdog_resolve(&p, 64).poll_ps, 3 * PS_PER_MS);
    p.action = WATCHDOG_OFF;
    assert_null(watchdog_new(&p, 64, 1, "leaf0"));
    watchdog_free(NULL);
}

static const struct watchdog_queue *
queue_of(const struct rig *rig, const struct port *port)
{
    return &rig->net->switches[0].watchdog->queues[port->index * N_CLASSES + ROCE];
}

/* Host 0 storms for ever from 100 us on; host 2 sends to it and to host 1, host 3 to
 * host 1.  Polls of 1 ms, struck after 2. */
struct storm {
    struct rig rig;
    struct rig_flow *to_storm, *behind, *apart;
    const struct port *out; /* towards the host that storms */
};

static void
storm_play(struct storm *s, enum watchdog_action action, enum partition_mode partition,
           uint32_t n_threads)
{
    const struct fault storm = {
        .kind = FAULT_STORM, .at_ps = 100 * PS_PER_US, .classes = 1 << ROCE};

    rig_init(&s->rig, 1);
    s->rig.nic.ack_timeout = 0;
    s->rig.sw.buffer_bytes = 2000000;
    s->rig.sw.watchdog = (struct watchdog_params){.action = (int32_t)action,
                                                  .detect_ps = 2 * PS_PER_MS,
                                                  .restore_ps = 2 * PS_PER_MS,
                                                  .poll_ps = PS_PER_MS};
    rig_star(&s->rig, 4, 100 * GBPS, 25 * PS_PER_NS);
    rig_build(&s->rig);
    s->to_storm = rig_flow(&s->rig, 2, 0, 8 << 20, 0);
    s->behind = rig_flow(&s->rig, 2, 1, 8 << 20, 0);
    s->apart = rig_flow(&s->rig, 3, 1, 8 << 20, 0);
    net_add_port_fault(s->rig.net, rig_port(&s->rig, "host0", "leaf0")->id, &storm);
    rig_start(&s->rig, partition, n_threads);
    rig_run(&s->rig, 20 * PS_PER_MS);
    s->out = rig_port(&s->rig, "leaf0", "host0");
}

/* The poll that ends the second interval that lies in the storm. */
static int64_t
strike_ps(const struct storm *s)
{
    int64_t first_ps = s->rig.net->switches[0].watchdog->first_ps;

    /* The flow has sent until 100 us. */
    return first_ps + (first_ps > 101 * PS_PER_US ? 2 : 3) * PS_PER_MS;
}

static void
test_off(void **state)
{
    struct storm s;

    (void)state;
    storm_play(&s, WATCHDOG_OFF, PARTITION_ONE, 1);
    /* Who stands behind what waits for the stormer waits, too; nothing is lost. */
    assert_int_equal(s.rig.net->end, NET_END_STALLED);
    assert_int_equal(s.behind->sent_ps, TIME_NEVER_PS);
    assert_true(s.apart->sent_ps < 2 * PS_PER_MS);
    assert_int_equal(rig_sum(&s.rig).drops, 0);
    assert_int_equal(s.out->stats[ROCE].lost_watchdog, 0);
    /* That is no deadlock: the storm might end. */
    assert_int_equal(s.rig.net->deadlock.n_hops, 0);
    rig_clear(&s.rig);
}

static void
test_drop(void **state)
{
    const struct watchdog_queue *queue;
    struct storm s;

    (void)state;
    storm_play(&s, WATCHDOG_DROP, PARTITION_ONE, 1);
    queue = queue_of(&s.rig, s.out);
    assert_true(queue->struck);
    assert_int_equal(queue->n_strikes, 1);
    assert_int_equal(queue->since_ps, strike_ps(&s));
    /* The victim recovers; the stormer's flow is lost: all its packets but those that
     * came before. */
    assert_true(s.behind->sent_ps > queue->since_ps);
    assert_true(s.behind->sent_ps < queue->since_ps + 2 * PS_PER_MS);
    assert_int_equal(s.to_storm->sent_ps, TIME_NEVER_PS);
    assert_int_equal(s.out->stats[ROCE].lost_watchdog +
                         rig_port(&s.rig, "host0", "leaf0")->in[ROCE].rx_pkts,
                     2048);
    assert_int_equal(rig_sum(&s.rig).drops, 0);
    assert_int_equal(s.out->out[ROCE].queue.bytes, 0);
    assert_true(s.out->stats[ROCE].pfc_ignored > 10);
    rig_clear(&s.rig);
}

static void
test_forward(void **state)
{
    const struct watchdog_queue *queue;
    struct storm s;

    (void)state;
    storm_play(&s, WATCHDOG_FORWARD, PARTITION_ONE, 1);
    queue = queue_of(&s.rig, s.out);
    assert_int_equal(queue->since_ps, strike_ps(&s));
    assert_int_equal(s.rig.net->end, NET_END_DONE);
    assert_true(s.to_storm->sent_ps < 5 * PS_PER_MS);
    assert_true(s.behind->sent_ps < 5 * PS_PER_MS);
    assert_int_equal(s.out->stats[ROCE].lost_watchdog, 0);
    rig_clear(&s.rig);
}

static void
test_runs_are_the_same(void **state)
{
    (void)state;
    for (int action = WATCHDOG_DROP; action <= WATCHDOG_FORWARD; action++) {
        struct storm s;

        storm_play(&s, (enum watchdog_action)action, PARTITION_ONE, 1);
        uint64_t digest = rig_digest(&s.rig);

        rig_clear(&s.rig);
        for (uint32_t n = 1; n <= 3; n++) {
            storm_play(&s, (enum watchdog_action)action, PARTITION_NODE, n);
            assert_true(rig_digest(&s.rig) == digest);
            rig_clear(&s.rig);
        }
    }
}

/* A receiver that takes a hundredth of what comes keeps its port paused nearly all the
 * time, but the queue moves. */
static void
test_slow_is_not_stuck(void **state)
{
    const struct fault slow = {
        .kind = FAULT_SLOW, .rate_bps = GBPS, .buffer_bytes = 20000};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_timeout = 0;
    rig.sw.watchdog = (struct watchdog_params){.action = WATCHDOG_DROP,
                                               .detect_ps = PS_PER_MS,
                                               .restore_ps = PS_PER_MS,
                                               .poll_ps = 200 * PS_PER_US};
    rig_star(&rig, 2, 100 * GBPS, 25 * PS_PER_NS);
    rig_build(&rig);
    struct rig_flow *flow = rig_flow(&rig, 1, 0, 2 << 20, 0);

    net_add_port_fault(rig.net, rig_port(&rig, "host0", "leaf0")->id, &slow);
    rig_play(&rig);
    assert_int_equal(rig.net->end, NET_END_DONE);
    /* 2 MiB and headers at 1 Gb/s. */
    assert_true(flow->sent_ps > 16 * PS_PER_MS && flow->sent_ps < 18 * PS_PER_MS);
    assert_int_equal(queue_of(&rig, rig_port(&rig, "leaf0", "host0"))->n_strikes, 0);
    assert_true(port_paused_ps(rig_port(&rig, "leaf0", "host0"), ROCE, flow->sent_ps) >
                flow->sent_ps * 9 / 10);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timers),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_drop),
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_runs_are_the_same),
        cmocka_unit_test(test_slow_is_not_stuck),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
