/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_lb.c - flowlets, spraying and the least loaded port: which member of a set a packet
 * takes, and that runs with them are the same on any partition.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "sim/mem.h"
#include "tests/support/rig.h"

enum {
    N_PORTS = 6,
    N_MEMBERS = 4,
    NIC_SEVERAL = 0,
    NIC_ONE = 1,
    NIC_NONE = 2,
    SEED = 77
};

/* A switch's ports and a table: four ports to one NIC, one to another, none to a third. */
struct lab {
    struct port *ports;
    struct route_table *table;
    struct lb_params params;
    struct lb *lb;
};

static const uint16_t members[N_MEMBERS] = {1, 2, 4, 5};

static void
lab_init(struct lab *lab, enum lb_kind kind)
{
    *lab = (struct lab){.ports = mem_zero_lines(N_PORTS, sizeof *lab->ports),
                        .table = route_table_new(3),
                        .params = {.kind = (int32_t)kind,
                                   .flowlet_gap_ps = 10 * PS_PER_US,
                                   .flowlet_entries = 64,
                                   .load_quantum_bytes = 1000}};
    assert_true(route_table_set(lab->table, NIC_SEVERAL, members, N_MEMBERS));
    assert_true(route_table_set(lab->table, NIC_ONE, members, 1));
}

static void
lab_open(struct lab *lab, const char *name)
{
    lab->lb = lb_new(&lab->params, 1, name);
    assert_non_null(lab->lb);
    lb_prepare(lab->lb, lab->table);
}

static void
lab_clear(struct lab *lab)
{
    lb_free(lab->lb);
    route_table_free(lab->table);
    free(lab->ports);
}

static void
set_queue(struct lab *lab, uint16_t port, unsigned cls, int64_t bytes)
{
    lab->ports[port].out[cls].queue.bytes = bytes;
    lab->ports[port].ready = bytes ? lab->ports[port].ready | (uint8_t)(1u << cls)
                                   : lab->ports[port].ready & (uint8_t) ~(1u << cls);
}

static uint16_t
pick(struct lab *lab, uint32_t nic, uint32_t flow, uint16_t payload, int64_t now_ps)
{
    const struct packet pkt = {.tp = {.flow_hash = route_mix(flow + 1)},
                               .dst_nic = nic,
                               .payload_bytes = payload};

    return lb_pick(lab->lb, lab->table, lab->ports, &pkt, SEED, now_ps);
}

static uint16_t
ecmp(const struct lab *lab, uint32_t flow)
{
    return route_pick(lab->table, NIC_SEVERAL, route_mix(flow + 1), SEED);
}

static void
test_ecmp_needs_none(void **state)
{
    const struct lb_params params = {.kind = LB_ECMP};

    (void)state;
    assert_null(lb_new(&params, 1, "leaf0"));
    lb_free(NULL);
}

/* Without a choice, and for packets without payload, all do what ECMP does. */
static void
test_only_payload_is_spread(void **state)
{
    (void)state;
    for (int kind = LB_FLOWLET; kind <= LB_ADAPTIVE; kind++) {
        struct lab lab;

        lab_init(&lab, (enum lb_kind)kind);
        lab_open(&lab, "leaf0");
        for (uint32_t flow = 0; flow < 200; flow++) {
            set_queue(&lab, members[flow % N_MEMBERS], 3, 5000 * (flow % 7));
            assert_int_equal(pick(&lab, NIC_SEVERAL, flow, 0, 0), ecmp(&lab, flow));
            assert_int_equal(pick(&lab, NIC_ONE, flow, 4096, 0), members[0]);
            assert_int_equal(pick(&lab, NIC_NONE, flow, 4096, 0), ROUTE_NONE);
        }
        lab_clear(&lab);
    }
}

static void
test_round_robin(void **state)
{
    bool first_seen[N_PORTS] = {false};
    int n_firsts = 0;

    (void)state;
    for (int s = 0; s < 40; s++) {
        char name[2] = {(char)('a' + s % 26), (char)0};
        uint16_t last = ROUTE_NONE;
        struct lab lab;

        lab_init(&lab, LB_SPRAY);
        lab_open(&lab, name);
        for (uint32_t i = 0; i < 3 * N_MEMBERS; i++) {
            uint16_t port = pick(&lab, NIC_SEVERAL, i * 13, 4096, 0);

            first_seen[port] |= i == 0;
            for (int k = 0; i && k < N_MEMBERS; k++) {
                if (members[k] == last) {
                    assert_int_equal(port, members[(k + 1) % N_MEMBERS]);
                }
            }
            last = port;
        }
        lab_clear(&lab);
    }
    for (int p = 0; p < N_PORTS; p++) {
        n_firsts += first_seen[p];
    }
    assert_int_equal(n_firsts, N_MEMBERS);
}

/* Each member a quarter of 40000 draws, within 4 sigma; a stream of its own a switch. */
static void
test_random(void **state)
{
    enum { N = 40000 };
    int n[N_PORTS] = {0}, n_same = 0;
    struct lab lab, other, again;

    (void)state;
    lab_init(&lab, LB_SPRAY);
    lab.params.spray = LB_RANDOM;
    lab_init(&other, LB_SPRAY);
    other.params.spray = LB_RANDOM;
    lab_init(&again, LB_SPRAY);
    again.params.spray = LB_RANDOM;
    lab_open(&lab, "leaf0");
    lab_open(&other, "leaf1");
    lab_open(&again, "leaf0");
    for (uint32_t i = 0; i < N; i++) {
        uint16_t port = pick(&lab, NIC_SEVERAL, 7, 4096, 0);

        n[port]++;
        n_same += port == pick(&other, NIC_SEVERAL, 7, 4096, 0);
        assert_int_equal(port, pick(&again, NIC_SEVERAL, 7, 4096, 0));
    }
    for (int k = 0; k < N_MEMBERS; k++) {
        assert_in_range(n[members[k]], N / 4 - 350, N / 4 + 350);
    }
    assert_in_range(n_same, N / 4 - 350, N / 4 + 350);
    lab_clear(&lab);
    lab_clear(&other);
    lab_clear(&again);
}

static void
test_flowlets_move_after_a_gap(void **state)
{
    bool seen[N_PORTS] = {false};
    int64_t now_ps = 0;
    uint16_t port;
    struct lab lab;

    (void)state;
    lab_init(&lab, LB_FLOWLET);
    lab_open(&lab, "leaf0");
    port = pick(&lab, NIC_SEVERAL, 5, 4096, now_ps);
    assert_int_equal(port, ecmp(&lab, 5));
    for (int flowlet = 0; flowlet < 60; flowlet++) {
        /* Never so long a pause as the gap, but longer than it in all. */
        for (int i = 0; i < 10; i++) {
            now_ps += 10 * PS_PER_US - 1;
            assert_int_equal(pick(&lab, NIC_SEVERAL, 5, 4096, now_ps), port);
        }
        now_ps += 10 * PS_PER_US;
        port = pick(&lab, NIC_SEVERAL, 5, 4096, now_ps);
        seen[port] = true;
    }
    for (int k = 0; k < N_MEMBERS; k++) {
        assert_true(seen[members[k]]);
    }
    lab_clear(&lab);
}

static void
test_flowlets_to_the_least_loaded(void **state)
{
    struct lab lab;

    (void)state;
    lab_init(&lab, LB_FLOWLET);
    lab.params.flowlet_path = LB_LEAST_LOADED;
    lab_open(&lab, "leaf0");
    for (uint32_t flow = 0; flow < 40; flow++) {
        int64_t at_ps = flow * PS_PER_MS;
        uint16_t least = members[flow % N_MEMBERS];

        for (int k = 0; k < N_MEMBERS; k++) {
            set_queue(&lab, members[k], 3, members[k] == least ? 3000 : 9000);
        }
        assert_int_equal(pick(&lab, NIC_SEVERAL, flow, 4096, at_ps), least);
        /* It stays, whatever has become of the queues. */
        set_queue(&lab, least, 3, 90000);
        assert_int_equal(pick(&lab, NIC_SEVERAL, flow, 4096, at_ps + PS_PER_US), least);
    }
    lab_clear(&lab);
}

static void
test_adaptive(void **state)
{
    struct lab lab;

    (void)state;
    lab_init(&lab, LB_ADAPTIVE);
    lab_open(&lab, "leaf0");
    for (uint32_t flow = 0; flow < 100; flow++) {
        uint16_t least = members[flow % N_MEMBERS];

        /* Equal as far as a quantum goes: the hash decides. */
        for (int k = 0; k < N_MEMBERS; k++) {
            set_queue(&lab, members[k], 3, 4000 + 300 * k);
            set_queue(&lab, members[k], 1, 0);
        }
        assert_int_equal(pick(&lab, NIC_SEVERAL, flow, 4096, 0), ecmp(&lab, flow));
        /* All classes count. */
        for (int k = 0; k < N_MEMBERS; k++) {
            set_queue(&lab, members[k], 1, members[k] == least ? 0 : 1000);
        }
        assert_int_equal(pick(&lab, NIC_SEVERAL, flow, 4096, 0), least);
        /* A dead link is no choice, however short its queue. */
        lab.ports[least].special = PORT_DOWN;
        assert_int_not_equal(pick(&lab, NIC_SEVERAL, flow, 4096, 0), least);
        lab.ports[least].special = 0;
    }
    lab_clear(&lab);
}

/* A fault gives the switch another table: more sets, and the same set with fewer ports. */
static void
test_another_table(void **state)
{
    const uint16_t fewer[] = {2, 4};

    (void)state;
    for (int kind = LB_FLOWLET; kind <= LB_ADAPTIVE; kind++) {
        struct route_table *first, *table = route_table_new(3);
        struct lab lab;

        lab_init(&lab, (enum lb_kind)kind);
        assert_true(route_table_set(table, NIC_SEVERAL, fewer, 2));
        assert_true(route_table_set(table, NIC_ONE, members, N_MEMBERS));
        assert_true(route_table_set(table, NIC_NONE, members, 3));
        lab_open(&lab, "leaf0");
        lb_prepare(lab.lb, table);
        first = lab.table;
        for (uint32_t i = 0; i < 100; i++) {
            uint16_t port;

            lab.table = i % 3 ? table : first;
            port = pick(&lab, NIC_SEVERAL, i, 4096, i * PS_PER_US);
            if (i % 3) {
                assert_true(port == fewer[0] || port == fewer[1]);
                assert_int_not_equal(pick(&lab, NIC_NONE, i, 4096, i * PS_PER_US), 5);
            }
        }
        lab.table = first;
        route_table_free(table);
        lab_clear(&lab);
    }
}

/* ---- runs -------------------------------------------------------------------------- */

static uint64_t
play(const struct lb_params *params, enum partition_mode partition, uint32_t n_threads)
{
    const struct link_params host = {.rate_bps = 100 * GBPS, .delay_ps = 25 * PS_PER_NS};
    const struct link_params fabric = {.rate_bps = 100 * GBPS,
                                       .delay_ps = 200 * PS_PER_NS};
    const struct fault down = {.kind = FAULT_DOWN, .at_ps = 30 * PS_PER_US};
    const struct fault up = {.kind = FAULT_UP, .at_ps = 60 * PS_PER_US};
    uint64_t digest;
    struct rig rig;

    rig_init(&rig, 3);
    rig.nic.ack_timeout = 4;
    rig.sw.lb = *params;
    rig_leaf_spine(&rig, 12, 3, 3, &host, &fabric);
    rig_build(&rig);
    for (uint32_t i = 0; i < 12; i++) {
        rig_flow(&rig, i, (i * 5 + 4) % 12, 300000, i * 91 * PS_PER_NS);
    }
    net_add_fault(rig.net, net_find_link(rig.net, "leaf0-spine1"), &down);
    net_add_fault(rig.net, net_find_link(rig.net, "leaf0-spine1"), &up);
    rig_start(&rig, partition, n_threads);
    rig_run(&rig, TIME_NEVER_PS);
    assert_int_equal(rig.net->end, NET_END_DONE);
    digest = rig_digest(&rig);
    rig_clear(&rig);
    return digest;
}

static void
test_runs_are_the_same(void **state)
{
    const struct lb_params ways[] = {
        {.kind = LB_ECMP},
        {.kind = LB_FLOWLET, .flowlet_gap_ps = 300 * PS_PER_NS, .flowlet_entries = 8},
        {.kind = LB_FLOWLET,
         .flowlet_path = LB_LEAST_LOADED,
         .flowlet_gap_ps = 300 * PS_PER_NS,
         .flowlet_entries = 8,
         .load_quantum_bytes = 4096},
        {.kind = LB_SPRAY},
        {.kind = LB_SPRAY, .spray = LB_RANDOM},
        {.kind = LB_ADAPTIVE, .load_quantum_bytes = 8192}};
    uint64_t before = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        uint64_t digest = play(&ways[i], PARTITION_ONE, 1);

        assert_true(digest != before);
        before = digest;
        assert_true(play(&ways[i], PARTITION_RACK, 2) == digest);
        assert_true(play(&ways[i], PARTITION_NODE, 1) == digest);
        assert_true(play(&ways[i], PARTITION_NODE, 3) == digest);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ecmp_needs_none),
        cmocka_unit_test(test_only_payload_is_spread),
        cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_flowlets_move_after_a_gap),
        cmocka_unit_test(test_flowlets_to_the_least_loaded),
        cmocka_unit_test(test_adaptive),
        cmocka_unit_test(test_another_table),
        cmocka_unit_test(test_runs_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
