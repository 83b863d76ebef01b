/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_hpcc_switch.c - wire, buffer, pauses, marks, turns and paths as the HPCC simulator has
 * them, each by an example; numbers in brackets are the points of docs/hpcc.md.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/ideal.h"
#include "models/switch/mmu_hpcc.h"
#include "tests/support/data.h"
#include "tests/support/rig.h"

#define DELAY PS_PER_US

/* [1] A time is the exact one rounded up, less a picosecond. */
static void
times_fall_short(void **state)
{
    static const struct {
        int64_t gbps, bytes, slot_ps;
    } cases[] = {{100, 1048, 83839}, {100, 60, 4799}, {100, 43, 3439},
                 {40, 1048, 209599}, {40, 60, 11999}, {40, 43, 8599},
                 {30, 1048, 279466}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct port port = {0};

        port_init(&port);
        port_set_wire(&port, WIRE_HPCC, cases[i].gbps * GBPS, DELAY);
        assert_int_equal(port_slot_ps(&port, cases[i].bytes), cases[i].slot_ps);
        assert_int_equal(port_hear_ps(&port, cases[i].bytes), cases[i].slot_ps + DELAY);
        assert_int_equal(port.pfc_bytes, 43);
        port_clear(&port);
    }
}

/* [2] 48 bytes around a payload of any size, 60 of an ACK; none between frames. */
static void
frames(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_hpcc(&rig);
    rig_star(&rig, 2, 100 * GBPS, DELAY);
    rig_build(&rig);
    struct rig_flow *flow = rig_flow(&rig, 0, 1, 2501, 0);

    rig_play(&rig);
    const struct out_class *out = &rig_port(&rig, "host0", "leaf0")->out[3];
    const struct out_class *back = &rig_port(&rig, "host1", "leaf0")->out[3];

    assert_int_equal(out->tx_pkts, 3);
    assert_int_equal(out->tx_bytes, 2501 + 3 * 48);
    assert_int_equal(back->tx_pkts, 3);
    assert_int_equal(back->tx_bytes, 3 * 60);
    /* Two full frames, the short one twice, its ACK twice, four cables. */
    assert_int_equal(rig_fct_ps(flow),
                     2 * 83839 + 83839 + 549 * 80 - 1 + 2 * 4799 + 4 * DELAY);
    rig_clear(&rig);
}

/* [26] W1 at 32 MiB and at 2 MiB; [22] headroom, and less of a shift on faster ports. */
static void
thresholds(void **state)
{
    static const struct {
        int64_t buffer_bytes, threshold;
    } cases[] = {{32 << 20, 4105912}, {2 << 20, 173752}};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig_hpcc(&rig);
        rig.sw.buffer_bytes = cases[i].buffer_bytes;
        rig_star(&rig, 17, 100 * GBPS, DELAY);
        rig_build(&rig);
        const struct fabric_switch *sw = &rig.net->switches[0];

        assert_int_equal(sw->ports[0].mmu_shift, 3);
        assert_int_equal(mmu_hpcc_threshold(&sw->buffer, 3), cases[i].threshold);
        assert_int_equal(sw->ports[5].in[3].headroom_limit_bytes, 37500);
        rig_clear(&rig);
    }
    assert_int_equal(mmu_hpcc_headroom_bytes(40 * GBPS, DELAY), 15000);
    assert_int_equal(mmu_hpcc_shift(3, 100 * GBPS, 100 * GBPS), 3);
    assert_int_equal(mmu_hpcc_shift(3, 200 * GBPS, 100 * GBPS), 2);
    assert_int_equal(mmu_hpcc_shift(3, 400 * GBPS, 100 * GBPS), 1);
    assert_int_equal(mmu_hpcc_shift(3, 400 * GBPS, 25 * GBPS), 0);
    assert_int_equal(mmu_hpcc_shift(3, 25 * GBPS, 100 * GBPS), 3);
}

/* [23] Reserve, shared up to T, headroom; lost where neither has room.  [24] Stop and go. */
static void
accounts(void **state)
{
    struct buffer buffer = {
        .shared_bytes = 80000, .reserved_bytes = 4096, .xon_offset_bytes = 3072};
    struct in_class in = {.headroom_limit_bytes = 3000};
    bool stop;

    (void)state;
    /* Into the reserve: nobody is stopped. */
    for (int i = 0; i < 4; i++) {
        assert_true(mmu_hpcc_admit(&buffer, &in, 3, 1000, &stop));
        assert_false(stop);
    }
    assert_int_equal(buffer.shared_used, 0);
    /* The part over it is shared. */
    assert_true(mmu_hpcc_admit(&buffer, &in, 3, 1000, &stop));
    assert_false(stop);
    assert_int_equal(in.used_bytes, 5000);
    assert_int_equal(buffer.shared_used, 904);
    /* T = (80000 - use) / 8, compared with what would lie over the reserve: 8904 fits into
     * T = 9012, and stops as T is then 8887. */
    for (int i = 0; i < 8; i++) {
        assert_true(mmu_hpcc_admit(&buffer, &in, 3, 1000, &stop));
    }
    assert_int_equal(buffer.shared_used, 8904);
    assert_true(stop);
    assert_int_equal(in.headroom_bytes, 0);
    /* Headroom, until neither T nor it has room. */
    for (int i = 1; i <= 3; i++) {
        assert_true(mmu_hpcc_admit(&buffer, &in, 3, 1000, &stop));
        assert_int_equal(in.headroom_bytes, 1000 * i);
        assert_true(stop);
    }
    assert_false(mmu_hpcc_admit(&buffer, &in, 3, 1000, &stop));
    assert_false(stop);
    assert_int_equal(in.headroom_bytes, 3000);
    assert_int_equal(buffer.shared_used, 8904);
    /* Given back: headroom first; go on 3072 below T, or when nothing is over the reserve. */
    for (int i = 0; i < 3; i++) {
        buffer_release(&buffer, &in, 1000, true);
        assert_false(mmu_hpcc_may_resume(&buffer, &in, 3));
    }
    assert_int_equal(in.headroom_bytes, 0);
    buffer_release(&buffer, &in, 2700, true);
    assert_int_equal(buffer.shared_used, 6204); /* T is 9224: 3020 below */
    assert_false(mmu_hpcc_may_resume(&buffer, &in, 3));
    buffer_release(&buffer, &in, 46, true);
    assert_int_equal(buffer.shared_used, 6158); /* T is 9230: 3072 below */
    assert_true(mmu_hpcc_may_resume(&buffer, &in, 3));
    buffer.shared_bytes = 6158; /* others have taken all: T is 0 */
    assert_false(mmu_hpcc_may_resume(&buffer, &in, 3));
    buffer_release(&buffer, &in, 6158, true);
    buffer.shared_bytes = 0;
    assert_true(mmu_hpcc_may_resume(&buffer, &in, 3));
}

/* [23] Room in T admits to T though the headroom is full, and room in the headroom admits a
 * packet that goes there. */
static void
either_has_room(void **state)
{
    struct buffer buffer = {.shared_bytes = 800000, .reserved_bytes = 4096};
    struct in_class in = {.headroom_limit_bytes = 500};
    bool stop;

    (void)state;
    assert_true(mmu_hpcc_admit(&buffer, &in, 3, 1000, &stop));
    assert_false(stop);
    buffer.shared_used = 800000; /* others have taken all: T is 0 */
    assert_true(mmu_hpcc_admit(&buffer, &in, 3, 400, &stop)); /* reserve and headroom */
    assert_true(stop); /* 0 over the reserve is not below T = 0 */
    assert_false(
        mmu_hpcc_admit(&buffer, &in, 3, 1000, &stop)); /* though the reserve has */
}

/* [25] A link of 100 Mb/s stops 100 Gb/s for longer than the longest pause of a frame: it
 * is either said again or lasts. */
static void
pauses_last(void **state)
{
    (void)state;
    for (int lasts = 0; lasts <= 1; lasts++) {
        struct rig rig;
        struct rig_sums sums;

        rig_init(&rig, 1);
        rig_hpcc(&rig);
        rig.hears_pauses = true;
        rig.sw.pfc_quanta = lasts ? PFC_QUANTA_UNTIL_RESUME : PFC_QUANTA_EXPIRE;
        rig.sw.buffer_bytes = 1000000;
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        rig.net->links[1].params.rate_bps = GBPS / 10;
        rig_build(&rig);
        rig_flow(&rig, 0, 1, 1000000, 0);
        rig_play(&rig);
        sums = rig_sum(&rig);
        assert_true(sums.xon_tx >= 1);
        assert_int_equal(sums.drops, 0);
        if (lasts) {
            assert_int_equal(sums.xoff_tx, sums.xon_tx);
        } else {
            assert_true(sums.xoff_tx > 10 * sums.xon_tx);
        }
        assert_true(sums.paused_ps > 5 * PS_PER_MS);
        rig_clear(&rig);
    }
}

/* [21] Only what is left behind counts, and what is not ECN-capable is marked, too: ACKs. */
static void
marks(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool without = i & 1, all = i & 2;
        struct rig rig;

        rig_init(&rig, 1);
        rig_hpcc(&rig);
        rig.sw.ecn_counts = without;
        rig.sw.ecn_marks = all;
        rig.ecn = (struct ecn_params){.kmin_bytes = 0, .kmax_bytes = 0};
        rig_star(&rig, 2, 100 * GBPS, DELAY);
        rig_params(&rig);
        rig.net->qos[0].ecn = true;
        rig_build(&rig);
        rig_flow(&rig, 0, 1, 10000, 0);
        rig_play(&rig);
        /* Without congestion control data is Not-ECT. */
        assert_int_equal(rig_sum(&rig).marked, without || !all ? 0 : 20);
        rig_clear(&rig);
    }
}

/* [20] Packet by packet, from behind the last one served, though it was alone. */
static void
turns(void **state)
{
    static const struct port_sched sched = {.strict = 1, .by_packet = true};
    struct port port = {.sched = &sched};

    (void)state;
    assert_int_equal(port_pick(&port, 1 << 2 | 1 << 4 | 1 << 5), 2);
    assert_int_equal(port_pick(&port, 1 << 2 | 1 << 4 | 1 << 5), 4);
    assert_int_equal(port_pick(&port, 1 << 2 | 1 << 4 | 1 << 5), 5);
    assert_int_equal(port_pick(&port, 1 << 2 | 1 << 4 | 1 << 5), 2);
    assert_int_equal(port_pick(&port, 1 << 4), 4);
    assert_int_equal(port_pick(&port, 1 << 2 | 1 << 5 | 1 << 7), 5);
    assert_int_equal(port_pick(&port, 1 << 0 | 1 << 5 | 1 << 7), 0);
    assert_int_equal(port_pick(&port, 1 << 2 | 1 << 5 | 1 << 7), 7);
    assert_int_equal(port_pick(&port, 1 << 1 | 1 << 7), 1);
}

/* ---- paths ------------------------------------------------------------------------- */

/* 64 hosts, 4 leaves, 16 spines: nodes 0 to 83. */
static void
build_w3(struct rig *rig)
{
    const struct link_params link = {.rate_bps = 100 * GBPS, .delay_ps = DELAY};

    rig_init(rig, 1);
    rig_hpcc(rig);
    rig_leaf_spine(rig, 64, 4, 16, &link, &link);
    rig_build(rig);
}

static uint32_t
node_of(const struct net *net, uint32_t port)
{
    uint32_t n = 0;

    while (port - net->nodes[n].first_port >= net->nodes[n].n_ports) {
        n++;
    }
    return n;
}

/* Compares the path of 'side' with the nodes at '*at', which it moves on. */
static void
same_path(const struct net *net, uint32_t connection, unsigned side, char **at)
{
    uint32_t ports[NET_MAX_HOPS], n = net_find_path(net, connection, side, ports);

    assert_true(n > 0);
    for (uint32_t k = 0; k <= n; k++) {
        uint32_t port = k < n ? ports[k] : net->ports[ports[n - 1]].peer;

        assert_int_equal(strtoul(*at, at, 10), node_of(net, port));
    }
}

/* [27] Every path of a paths.txt: "src dst data ... ack ...". */
static void
check_paths(struct rig *rig, const char *name)
{
    g_autofree char *path = data_path(name), *text = NULL;
    g_auto(GStrv) lines = NULL;

    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    lines = g_strsplit(g_strchomp(text), "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        unsigned src, dst;

        assert_int_equal(sscanf(lines[i], "%u %u data", &src, &dst), 2);
        rig_flow(rig, src, dst, 1000, 0);
    }
    rig_start(rig, PARTITION_ONE, 1);
    for (guint i = 0; lines[i] != NULL; i++) {
        char *data = strstr(lines[i], "data ") + 5, *ack = strstr(lines[i], "ack ") + 4;

        same_path(rig->net, i, 0, &data);
        same_path(rig->net, i, 1, &ack);
    }
    assert_true(g_strv_length(lines) == rig->n_flows);
}

static void
paths_of_w3(void **state)
{
    struct rig rig;

    (void)state;
    build_w3(&rig);
    check_paths(&rig, "tests/data/ns3/W3/paths.txt");
    rig_clear(&rig);
}

static void
paths_of_stars(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_hpcc(&rig);
    rig_star(&rig, 17, 100 * GBPS, DELAY);
    rig_build(&rig);
    check_paths(&rig, "tests/data/ns3/W1/paths.txt");
    rig_clear(&rig);
    rig_init(&rig, 1);
    rig_hpcc(&rig);
    rig_star(&rig, 3, 40 * GBPS, DELAY);
    rig_build(&rig);
    check_paths(&rig, "tests/data/ns3/W4/paths.txt");
    rig_clear(&rig);
}

/* [27] Next hops in the order of routes.txt: "switch host : next hops". */
static void
next_hops(void **state)
{
    g_autofree char *path = data_path("tests/data/ns3/W3/A_ps/routes.txt"), *text = NULL;
    g_auto(GStrv) lines = NULL;
    struct rig rig;
    guint n_lines = 0;

    (void)state;
    build_w3(&rig);
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    lines = g_strsplit(g_strchomp(text), "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        const struct net *net = rig.net;
        char *at = lines[i];
        uint32_t node = (uint32_t)strtoul(at, &at, 10);
        uint32_t host = (uint32_t)strtoul(at, &at, 10);
        const struct fabric_switch *sw = &net->switches[net->nodes[node].index];
        uint16_t n;
        const uint16_t *ports = route_table_get(sw->routes, host, &n);

        assert_int_equal(net->nodes[node].kind, NODE_SWITCH);
        at = strchr(at, ':') + 1;
        for (uint16_t k = 0; k < n; k++) {
            assert_int_equal(strtoul(at, &at, 10),
                             node_of(net, sw->ports[ports[k]].peer));
        }
        assert_int_equal(*at, '\0');
        n_lines++;
    }
    assert_int_equal(n_lines, 20 * 64);
    rig_clear(&rig);
}

/* [27] In three tiers the order is that of the search, which finds the cores of the last
 * aggregation switch first, though their ids are lower. */
static void
next_hops_of_a_search(void **state)
{
    const struct link_params link = {.rate_bps = 100 * GBPS, .delay_ps = DELAY};
    static const char *const names[] = {"d", "a1", "a2", "c1", "c2", "s"};
    static const uint32_t links[][2] = {{0, 2}, {2, 3}, {2, 4}, {4, 5},
                                        {3, 6}, {5, 7}, {6, 7}, {7, 1}};
    struct rig rig;
    uint16_t n;

    (void)state;
    rig_init(&rig, 1);
    rig_hpcc(&rig);
    net_add_host(rig.net, "host0", 0);
    net_add_host(rig.net, "host1", 1);
    for (uint32_t i = 0; i < 6; i++) {
        net_add_switch(rig.net, names[i], i, 1);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
        net_add_link(rig.net, links[i][0], links[i][1], &link);
    }
    rig_build(&rig);
    const struct fabric_switch *s = &rig.net->switches[5];
    const uint16_t *ports = route_table_get(s->routes, 0, &n);

    /* Node 4 (a2) is queued before 3 (a1): its core 5 (c1) before core 6 (c2). */
    assert_int_equal(n, 2);
    assert_int_equal(node_of(rig.net, s->ports[ports[0]].peer), 5);
    assert_int_equal(node_of(rig.net, s->ports[ports[1]].peer), 6);
    rig_clear(&rig);
}

/* Ascending by port is what routes are without the option. */
static void
next_hops_ascending(void **state)
{
    const struct link_params link = {.rate_bps = 100 * GBPS, .delay_ps = DELAY};
    struct rig rig;
    uint16_t n;

    (void)state;
    rig_init(&rig, 1);
    rig_leaf_spine(&rig, 8, 2, 4, &link, &link);
    rig_build(&rig);
    const uint16_t *ports = route_table_get(rig.net->switches[0].routes, 7, &n);

    assert_int_equal(n, 4);
    for (uint16_t k = 0; k < n; k++) {
        assert_int_equal(ports[k], 4 + k);
    }
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_fall_short),
        cmocka_unit_test(frames),
        cmocka_unit_test(thresholds),
        cmocka_unit_test(accounts),
        cmocka_unit_test(either_has_room),
        cmocka_unit_test(pauses_last),
        cmocka_unit_test(marks),
        cmocka_unit_test(turns),
        cmocka_unit_test(paths_of_w3),
        cmocka_unit_test(paths_of_stars),
        cmocka_unit_test(next_hops),
        cmocka_unit_test(next_hops_of_a_search),
        cmocka_unit_test(next_hops_ascending),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
