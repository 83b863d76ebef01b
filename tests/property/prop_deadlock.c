/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * prop_deadlock.c - on random rings of switches with random traffic, storms and slow hosts:
 * what the detector calls a deadlock never ends, and what never ends it calls one.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "sim/rng.h"
#include "tests/support/rig.h"

enum { ROCE = 3, N_RINGS = 60 };

#define STOP_PS (12 * PS_PER_MS)
#define LOOK_PS (100 * PS_PER_US)

struct dice {
    uint64_t key, n;
};

static uint32_t
below(struct dice *dice, uint32_t bound)
{
    return (uint32_t)rng_below(dice->key, dice->n++, bound);
}

/* Looks at the network again and again. */
struct watcher {
    struct work_timer timer;
    struct rig *rig;
    struct deadlock found;
    int64_t first_ps; /* TIME_NEVER_PS: nothing found yet */
    uint32_t n_ports; /* that were deadlocked at the last look */
};

static void
look(struct lp *lp, struct work_timer *timer)
{
    struct watcher *w = timer->ctx;
    bool found = deadlock_find(w->rig->net, lp->now_ps, 0, &w->found);

    if (w->first_ps != TIME_NEVER_PS) {
        /* For ever, and it only grows. */
        assert_true(found);
        assert_true(w->found.n_ports >= w->n_ports);
    } else if (found) {
        w->first_ps = lp->now_ps;
    }
    if (found) {
        assert_true(w->found.n_hops >= 2 && w->found.n_hops <= w->found.n_ports);
        assert_true(w->found.since_ps <= lp->now_ps);
    }
    w->n_ports = w->found.n_ports;
    if (lp->now_ps + LOOK_PS < STOP_PS) {
        work_timer_set(lp, timer, lp->now_ps + LOOK_PS);
    }
}

/* Hosts 2i and 2i + 1 on switch i of 'n' in a ring, all routes clockwise. */
static void
build_ring(struct rig *rig, struct dice *dice, uint32_t n)
{
    const struct link_params link = {.rate_bps = 100 * GBPS, .delay_ps = 25 * PS_PER_NS};
    char name[16];

    for (uint32_t i = 0; i < 2 * n; i++) {
        snprintf(name, sizeof name, "host%u", i);
        net_add_host(rig->net, name, i / 2);
    }
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "s%u", i);
        net_add_switch(rig->net, name, i, 1);
    }
    for (uint32_t i = 0; i < 2 * n; i++) {
        net_add_link(rig->net, i, 2 * n + i / 2, &link);
    }
    for (uint32_t i = 0; i < n; i++) {
        net_add_link(rig->net, 2 * n + i, 2 * n + (i + 1) % n, &link);
    }
    for (uint32_t s = 0; s < n; s++) {
        for (uint32_t h = 0; h < 2 * n; h++) {
            if (h / 2 != s) {
                net_add_route(rig->net, s, h, 2 * n + (s + 1) % n);
            }
        }
    }
    rig->sw.buffer_bytes = 500000 + below(dice, 4) * 500000;
    rig->sw.alpha_q32 = PARAM_ONE >> below(dice, 4);
    rig->sw.reserved_bytes = below(dice, 2) * 10000;
    rig->nic.ack_timeout = 0;
    rig_build(rig);
}

static void
add_traffic(struct rig *rig, struct dice *dice, uint32_t n)
{
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t to = (i + 2 + below(dice, 2 * n - 3)) % (2 * n);

        if (below(dice, 4)) {
            rig_flow(rig, i, to, 100000 + below(dice, 3000000),
                     below(dice, 300) * PS_PER_US);
        }
    }
}

static void
add_troubles(struct rig *rig, struct dice *dice, uint32_t n)
{
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t port = rig->net->nodes[i].first_port;
        struct fault fault = {.kind = below(dice, 2) ? FAULT_STORM : FAULT_SLOW,
                              .at_ps = below(dice, 200) * PS_PER_US,
                              .classes = 1 << ROCE,
                              .rate_bps = 10 * GBPS,
                              .buffer_bytes = 50000};

        if (below(dice, 3)) {
            continue;
        }
        net_add_port_fault(rig->net, port, &fault);
        fault.at_ps += below(dice, 2000) * PS_PER_US;
        fault.kind = fault.kind == FAULT_STORM ? FAULT_STORM_END : FAULT_SLOW;
        fault.rate_bps = 0;
        net_add_port_fault(rig->net, port, &fault);
    }
    /* Something that may yet free every port: no verdict ends the run. */
    for (uint32_t l = 2 * n; l < 3 * n; l++) {
        const struct fault down = {.kind = FAULT_DOWN, .at_ps = 2 * STOP_PS};

        net_add_fault(rig->net, l, &down);
    }
}

static void
test_found_is_for_ever(void **state)
{
    unsigned n_deadlocks = 0, n_done = 0, n_paused = 0;

    (void)state;
    for (uint64_t seed = 0; seed < N_RINGS; seed++) {
        struct dice dice = {.key = rng_key(seed, "ring", "dice")};
        struct watcher w = {.first_ps = TIME_NEVER_PS};
        uint32_t n = 3 + below(&dice, 3);
        struct rig rig;
        bool is_done;

        rig_init(&rig, seed);
        build_ring(&rig, &dice, n);
        add_traffic(&rig, &dice, n);
        add_troubles(&rig, &dice, n);
        w.rig = &rig;
        w.timer = (struct work_timer){
            .source = net_new_timer(rig.net), .fire = look, .ctx = &w};
        rig_start(&rig, PARTITION_ONE, 1);
        work_timer_set(net_lp_of_host(rig.net, 0), &w.timer, LOOK_PS);
        rig_run(&rig, STOP_PS);
        is_done = net_n_ops(rig.net) == 0;
        /* Storms are over for 9 ms: what has not ended by now never will. */
        assert_int_equal(is_done, w.first_ps == TIME_NEVER_PS);
        assert_int_equal(rig.net->is_deadlocked, !is_done);
        assert_int_equal(rig_sum(&rig).drops, 0);
        n_deadlocks += !is_done;
        n_done += is_done;
        n_paused += is_done && rig_sum(&rig).xoff_tx > 20;
        deadlock_clear(&w.found);
        rig_clear(&rig);
    }
    print_message("# %u rings deadlocked, %u did not, of which %u were paused a lot\n",
                  n_deadlocks, n_done, n_paused);
    assert_true(n_deadlocks >= 10);
    assert_true(n_paused >= 10);
}

/* The same end, at the same time, with the same names, however the ring is dealt out. */
static void
test_found_on_any_partition(void **state)
{
    static const struct {
        enum partition_mode partition;
        uint32_t n_threads;
    } ways[] = {{PARTITION_ONE, 1}, {PARTITION_RACK, 2}, {PARTITION_NODE, 3}};
    unsigned n_deadlocks = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        uint64_t digest = 0;

        for (unsigned i = 0; i < 3; i++) {
            struct dice dice = {.key = rng_key(seed, "ring", "dice")};
            uint32_t n = 3 + below(&dice, 3);
            struct rig rig;

            rig_init(&rig, seed);
            build_ring(&rig, &dice, n);
            add_traffic(&rig, &dice, n);
            rig_start(&rig, ways[i].partition, ways[i].n_threads);
            rig_run(&rig, TIME_NEVER_PS);
            assert_int_equal(rig.net->is_deadlocked, rig.net->end != NET_END_DONE);
            n_deadlocks += rig.net->is_deadlocked;
            assert_true(i == 0 || digest == rig_digest(&rig));
            digest = rig_digest(&rig);
            rig_clear(&rig);
        }
    }
    assert_true(n_deadlocks >= 6);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_is_for_ever),
        cmocka_unit_test(test_found_on_any_partition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
