/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_compat.c - `compat: "hpcc"` fills in defaults, what is written wins, each key works
 * alone, and nonsense is refused.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/cc/cc_dcqcn.h"
#include "tools/run.h"

#define STAR                                                                             \
    "\"topology\": {\"type\": \"star\", \"hosts\": 3,"                                   \
    " \"host_link\": {\"rate\": \"100G\", \"delay\": \"1us\"}}"
#define FLOW                                                                             \
    "\"workload\": [{\"type\": \"flows\", \"list\": [{\"src\": \"host1\", \"dst\": "     \
    "\"host0\", \"bytes\": \"10KB\"}, {\"src\": \"host1\", \"dst\": \"host0\", "         \
    "\"bytes\": \"10KB\"}]}]"

static struct scenario *
load(const char *keys)
{
    g_autofree char *text =
        g_strdup_printf("{%s%s" STAR ", " FLOW "}", keys, keys[0] ? ", " : "");
    GError *error = NULL;
    struct scenario *s = scenario_load_data("t.json", text, strlen(text), NULL, &error);

    if (!s) {
        fail_msg("%s", error->message);
    }
    return s;
}

/* Is 'keys' refused with a message that holds 'why'? */
static void
refused(const char *keys, const char *why)
{
    g_autofree char *text = g_strdup_printf("{%s, " STAR ", " FLOW "}", keys);
    g_autoptr(GError) error = NULL;
    struct scenario *s = scenario_load_data("t.json", text, strlen(text), NULL, &error);
    struct run *run = s ? run_new(s, NULL, &error) : NULL;

    if (run) {
        fail_msg("%s is accepted", keys);
    }
    if (!strstr(error->message, why)) {
        fail_msg("\n  says     %s\n  expected %s", error->message, why);
    }
    scenario_free(s);
}

static void
fills_in(void **state)
{
    struct scenario *s = load("\"compat\": \"hpcc\"");
    const struct nic_params *nic = &s->nic.params;
    const struct switch_params *sw = &s->sw.params;
    const struct dcqcn_params *cc = s->cc_params;

    (void)state;
    assert_true(s->is_hpcc);
    assert_int_equal(s->wire, WIRE_HPCC);
    assert_int_equal(nic->mtu_bytes, 1000);
    assert_int_equal(nic->jitter_ps, 0);
    assert_int_equal(nic->pfc_reaction_ps, 0);
    assert_int_equal(nic->ack_every, 1);
    assert_int_equal(nic->ack_timeout, 0);
    assert_int_equal(nic->window_bytes, 0);
    assert_true(nic->ack_first && nic->ack_pausable && nic->rate_bound);
    assert_false(nic->ack_coalesce || nic->ack_duplicates || nic->window_varies);
    assert_int_equal(nic->cnp, CNP_ON_ACK);
    assert_int_equal(nic->nack_interval_ps, 500 * PS_PER_US);
    assert_int_equal(nic->slow_gap_ps, SLOW_GAP_NEVER);
    assert_int_equal(nic->arbiter, ARBITER_SCAN);
    assert_int_equal(nic->sport, 10000);
    assert_int_equal(nic->dport, 100);
    assert_int_equal(nic->pfc, 0xFE);
    assert_int_equal(sw->mmu, MMU_HPCC);
    assert_int_equal(sw->alpha_q32, PARAM_ONE / 8);
    assert_int_equal(sw->reserved_bytes, 4096);
    assert_int_equal(sw->xon_offset_bytes, 3072);
    assert_int_equal(sw->latency_ps, 0);
    assert_int_equal(sw->pfc_quanta, PFC_QUANTA_UNTIL_RESUME);
    assert_int_equal(sw->scheduler, SCHEDULER_RR);
    assert_int_equal(sw->hash, HASH_MURMUR3);
    assert_int_equal(sw->next_hops, NEXT_HOPS_DESCENDING);
    assert_true(sw->ecn_at_dequeue);
    assert_int_equal(sw->ecn_counts, ECN_COUNTS_WITHOUT);
    assert_int_equal(sw->ecn_marks, ECN_MARKS_ALL);
    assert_string_equal(s->sw.ecn.set, "hpcc");
    assert_string_equal(s->preset->name, "hpcc-sim");
    assert_int_equal(cc->cut_at, DCQCN_CUT_AT_TICK);
    assert_int_equal(g_array_index(s->works, struct scenario_work, 0).common.connect,
                     WORK_CONNECT_FLOW);
    scenario_free(s);
    s = load("");
    assert_false(s->is_hpcc);
    assert_int_equal(s->wire, WIRE_ROCE);
    assert_int_equal(s->nic.params.mtu_bytes, 4096);
    assert_int_equal(s->sw.params.mmu, MMU_DYNAMIC);
    scenario_free(s);
}

static void
what_is_written_wins(void **state)
{
    struct scenario *s = load(
        "\"compat\": \"hpcc\", \"wire\": \"roce\","
        " \"nic\": {\"mtu\": 1024, \"window\": \"52KB\", \"ack_pausable\": false},"
        " \"switch\": {\"hash\": \"mix\", \"ecn\": {\"kmin\": \"1KB\", \"kmax\": \"2KB\","
        "   \"pmax\": 0.5, \"counts\": \"with\"}},"
        " \"cc\": {\"params\": {\"ai\": \"7Mbps\"}}");

    (void)state;
    assert_int_equal(s->wire, WIRE_ROCE);
    assert_int_equal(s->nic.params.mtu_bytes, 1024);
    assert_int_equal(s->nic.params.window_bytes, 52000);
    assert_false(s->nic.params.ack_pausable);
    assert_int_equal(s->nic.params.arbiter, ARBITER_SCAN);
    assert_int_equal(s->sw.params.hash, HASH_MIX);
    assert_null(s->sw.ecn.set);
    assert_int_equal(s->sw.ecn.entry[0].kmax_bytes, 2000);
    assert_int_equal(s->sw.params.ecn_counts, ECN_COUNTS_WITH);
    assert_int_equal(s->sw.params.ecn_marks, ECN_MARKS_ALL);
    assert_string_equal(s->preset->name, "hpcc-sim");
    assert_int_equal(((struct dcqcn_params *)s->cc_params)->ai_bps, 7000000);
    scenario_free(s);

    s = load("\"compat\": \"hpcc\", \"cc\": {\"algorithm\": \"none\"},"
             " \"switch\": {\"ecn\": \"lab\", \"ecn_counts\": \"with\"}");
    assert_string_equal(s->cc->name, "none");
    assert_string_equal(s->sw.ecn.set, "lab");
    assert_int_equal(s->sw.params.ecn_marks, ECN_MARKS_ALL);
    assert_int_equal(s->sw.params.ecn_counts, ECN_COUNTS_WITH);
    scenario_free(s);

    /* A name of qos for one of the groups. */
    s = load("\"compat\": \"hpcc\","
             " \"qos\": {\"mine\": {\"dscp\": 2, \"class\": 5, \"lossless\": false}}");
    assert_int_equal(s->nic.params.pfc, 0xFE & ~(1 << 5 | 1 << 2));
    scenario_free(s);
}

/* What is written as effective is read again as the same. */
static void
comes_back(void **state)
{
    static const char *const keys[] = {
        "\"compat\": \"hpcc\"", "\"compat\": \"hpcc\", \"nic\": {\"window\": \"bdp\"}",
        "\"wire\": \"hpcc\", \"nic\": {\"mtu\": 1500, \"go_back\": \"chunk\","
        " \"chunk\": \"3KB\", \"slow_gap\": \"never\", \"sport\": 20000},"
        " \"switch\": {\"ecn\": {\"set\": \"lab\", \"counts\": \"without\"}}"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        struct scenario *s = load(keys[i]);
        g_autofree char *first = scenario_to_text(s);
        GError *error = NULL;
        struct scenario *again =
            scenario_load_data("t.json", first, strlen(first), NULL, &error);

        assert_non_null(again);
        g_autofree char *second = scenario_to_text(again);

        assert_string_equal(first, second);
        scenario_free(s);
        scenario_free(again);
    }
}

/* Each option in an otherwise plain scenario: the run ends well. */
static void
each_alone(void **state)
{
    static const char *const keys[] = {
        "\"wire\": \"hpcc\", \"nic\": {\"mtu\": 1000}",
        "\"nic\": {\"window\": \"bdp\"}",
        "\"nic\": {\"window\": \"20KB\", \"window_varies\": true}",
        "\"nic\": {\"window\": \"bdp\", \"window_scope\": \"pair\"}",
        "\"nic\": {\"rate_bound\": false}",
        "\"nic\": {\"slow_gap\": \"never\"}",
        "\"nic\": {\"arbiter\": \"scan\"}",
        "\"nic\": {\"ack_first\": true}",
        "\"nic\": {\"ack_first\": true, \"ack_pausable\": false}",
        "\"nic\": {\"ack_coalesce\": false}",
        "\"nic\": {\"ack_duplicates\": false}",
        "\"nic\": {\"cnp\": \"ack\", \"ack_every\": 1}",
        "\"nic\": {\"nack_interval\": \"100us\"}",
        "\"nic\": {\"go_back\": \"chunk\", \"chunk\": \"8192B\"}",
        "\"nic\": {\"sport\": 10000, \"dport\": 100}",
        "\"switch\": {\"mmu\": \"hpcc\", \"alpha\": 0.125}",
        "\"switch\": {\"mmu\": \"hpcc\", \"latency\": \"1us\"}",
        "\"switch\": {\"hash\": \"murmur3\"}",
        "\"switch\": {\"next_hops\": \"descending\"}",
        "\"switch\": {\"pfc_quanta\": \"until-resume\"}",
        "\"switch\": {\"scheduler\": \"rr\"}",
        "\"switch\": {\"xon_offset\": \"3072B\"}",
        "\"switch\": {\"ecn\": {\"counts\": \"without\", \"marks\": \"all\"}}",
        "\"cc\": {\"preset\": \"hpcc-sim\"}",
        "\"compat\": \"hpcc\", \"nic\": {\"arbiter\": \"ready\"}",
        "\"compat\": \"hpcc\", \"switch\": {\"mmu\": \"dynamic\"}",
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        struct scenario *s = load(keys[i]);
        const struct net_watch watch = {0};
        GError *error = NULL;
        struct run *run = run_new(s, NULL, &error);

        if (!run) {
            fail_msg("%s: %s", keys[i], error->message);
        }
        run_start(run, PARTITION_AUTO, 1);
        run_go(run, &watch);
        struct run_result *result = run_read(run);

        if (result->verdict != VERDICT_COMPLETE) {
            fail_msg("%s: %s", keys[i], scenario_verdict_name(result->verdict));
        }
        run_result_free(result);
        run_free(run);
        scenario_free(s);
    }
}

/* Ports and classes of single flows. */
static void
flows_have_ports(void **state)
{
    static const char text[] =
        "{\"compat\": \"hpcc\", " STAR
        ", \"workload\": [{\"type\": \"flows\", \"list\": ["
        "{\"src\": 1, \"dst\": 0, \"bytes\": \"1KB\", \"class\": 3},"
        "{\"src\": 1, \"dst\": 0, \"bytes\": \"1KB\", \"class\": 5, \"dport\": 200},"
        "{\"src\": 1, \"dst\": 0, \"bytes\": \"1KB\", \"sport\": 77}]}]}";
    static const unsigned wanted[][3] = {{10000, 100, 3}, {10001, 200, 5}, {77, 100, 3}};
    GError *error = NULL;
    struct scenario *s = scenario_load_data("t.json", text, strlen(text), NULL, &error);
    struct run *run;

    (void)state;
    assert_non_null(s);
    run = run_new(s, NULL, &error);
    assert_non_null(run);
    run_start(run, PARTITION_AUTO, 1);
    for (uint32_t i = 0; i < 3; i++) {
        const struct qp *qp = net_qp(run->net, i, 0);

        assert_int_equal(qp->src_port, wanted[i][0]);
        assert_int_equal(qp->dst_port, wanted[i][1]);
        assert_int_equal(qp->cls, wanted[i][2]);
    }
    run_free(run);
    scenario_free(s);
}

static void
refusals(void **state)
{
    (void)state;
    refused("\"compat\": \"ns3\"", "compat");
    refused("\"wire\": \"ethernet\"", "wire");
    refused("\"compat\": \"hpcc\", \"output\": {\"pcap\": [{\"at\": \"leaf0\"}]}",
            "output.pcap: is given, but wire is \"hpcc\"");
    refused("\"nic\": {\"mtu\": 1000}",
            "nic.mtu: is 1000; allowed is 256, 512, 1024, 2048, 4096");
    refused("\"nics\": {\"host1\": {\"mtu\": 1000}}", "nics.host1.mtu: is 1000");
    refused("\"wire\": \"hpcc\", \"nic\": {\"mtu\": 9217}", "nic.mtu");
    refused("\"nic\": {\"go_back\": \"chunk\", \"chunk\": \"5KB\"}",
            "nic.chunk: is 5000B; allowed is a multiple of mtu, which is 4096");
    refused("\"nic\": {\"window\": 5}", "nic.window");
    refused("\"nic\": {\"window\": \"all\"}", "nic.window");
    refused("\"switch\": {\"mmu\": \"hpcc\", \"alpha\": 0.3}",
            "switch.alpha: is no power of two up to 1");
    refused("\"switches\": {\"leaf0\": {\"mmu\": \"hpcc\", \"alpha\": 0.3}}",
            "switches.leaf0.alpha");
    refused("\"switch\": {\"ecn\": {\"counts\": \"with\"}, \"ecn_counts\": \"with\"}",
            "switch.ecn_counts: is given, and ecn.counts too");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in),         cmocka_unit_test(what_is_written_wins),
        cmocka_unit_test(comes_back),       cmocka_unit_test(each_alone),
        cmocka_unit_test(flows_have_ports), cmocka_unit_test(refusals),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
