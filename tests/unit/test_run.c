/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_run.c - scenarios run in this process: what is read, judged and counted; two runs
 * at once do not meet; routes that follow a link; what was forecast comes true.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tools/forecast.h"
#include "tools/results/summary.h"
#include "tools/run.h"

#define LEAF_SPINE                                                                       \
    "\"topology\": {\"type\": \"leaf-spine\", \"hosts\": 8, \"hosts_per_leaf\": 4,"      \
    " \"spines\": 2, \"host_link\": {\"rate\": \"100G\", \"length\": \"3m\"},"           \
    " \"fabric_link\": {\"rate\": \"100G\", \"length\": \"30m\"}}"

#define STAR                                                                             \
    "\"topology\": {\"type\": \"star\", \"hosts\": 3,"                                   \
    " \"host_link\": {\"rate\": \"100G\", \"length\": \"3m\"}}"

struct one {
    struct scenario *scenario;
    struct run *run;
    struct run_result *result;
};

/* Up to the start. */
static struct one
begin(const char *text)
{
    GError *error = NULL;
    struct one one = {
        .scenario = scenario_load_data("test.json", text, strlen(text), NULL, &error)};

    if (!one.scenario) {
        fail_msg("%s", error->message);
    }
    one.run = run_new(one.scenario, NULL, &error);
    if (!one.run) {
        fail_msg("%s", error->message);
    }
    run_start(one.run, PARTITION_AUTO, 1);
    return one;
}

static struct one
whole(const char *text)
{
    struct one one = begin(text);
    const struct net_watch watch = {0};

    run_go(one.run, &watch);
    one.result = run_read(one.run);
    return one;
}

static void
end(struct one *one)
{
    run_result_free(one->result);
    run_free(one->run);
    scenario_free(one->scenario);
}

/* summary.json without what the clock says. */
static char *
summary_of(struct run_result *result)
{
    result->loop_s = 0;
    result->wall_s = 0;
    result->peak_rss_bytes = 0;
    return summary_to_json(result);
}

static const char incast[] =
    "{\"name\": \"incast\", " STAR ", \"output\": {\"sample\": \"10us\"},"
    " \"workload\": [{\"type\": \"incast\", \"senders\": 2, \"receiver\": 0,"
    "                 \"bytes\": \"1MB\"}]}";

static const char shifted[] =
    "{\"name\": \"shifted\", \"seed\": 3, " LEAF_SPINE ","
    " \"workload\": [{\"type\": \"permutation\", \"shift\": 4, \"bytes\": \"1MB\"}]}";

static void
test_an_incast_is_read(void **state)
{
    struct one one = whole(incast);
    const struct run_result *result = one.result;
    const struct result_fabric *fabric = &result->fabric;
    const struct result_flow *flow = &g_array_index(result->flows, struct result_flow, 0);

    (void)state;
    assert_int_equal(result->verdict, VERDICT_COMPLETE);
    assert_int_equal(result->flows->len, 2);
    /* 10^6 / 4096 packets, rounded up, each over two links. */
    assert_int_equal(fabric->data_packets, 2 * 245);
    assert_true(fabric->packet_hops >= 4 * 245);
    assert_int_equal(fabric->packet_hops, run_packet_hops(one.run));
    assert_int_equal(run_payload_bytes(one.run), 2000000);
    assert_int_equal(fabric->drops + fabric->lost_error + fabric->lost_down, 0);
    assert_int_equal(fabric->latency.total, 2 * 245);
    assert_string_equal(flow->path, "host1:0>leaf0:0>host0");
    assert_true(flow->fct_ps > flow->rx_done_ps && flow->rx_done_ps > 0);
    assert_true(flow->fct_ps >= flow->ideal_ps);
    assert_true(result->sim_time_ps <= result->end_ps);
    assert_int_equal(result->end_ps % SIM_EPOCH_PS, 0);
    end(&one);
}

/* 2 MB in full packets over the receiver's link: the busiest one, and
 * nearly always busy. */
static void
test_the_busiest_link(void **state)
{
    struct one one =
        whole("{\"name\": \"busy\", " STAR ", \"cc\": {\"algorithm\": \"none\"},"
              " \"workload\": [{\"type\": \"incast\", \"senders\": 2, \"receiver\": 0,"
              "                 \"bytes\": \"8MiB\"}]}");
    const struct result_fabric *fabric = &one.result->fabric;

    (void)state;
    assert_string_equal(fabric->busy_node, "leaf0");
    assert_int_equal(fabric->busy_port, 0);
    /* IPv4, no extension header: 4096 of 4178 bytes on the wire are payload. */
    assert_int_equal(fabric->busy_payload_ps,
                     INT64_C(2) * 8 * 1024 * 1024 / 4096 * (4096 + 62 + 20) * 80);
    assert_true(fabric->busy_work_ps > fabric->busy_payload_ps);
    assert_true(fabric->busy_work_ps < fabric->busy_payload_ps / 1000 * 1005);
    end(&one);
}

static void
test_two_runs_do_not_meet(void **state)
{
    const struct net_watch watch = {0};
    struct one alone = whole(incast), other = whole(shifted);
    struct one a = begin(incast), b = begin(shifted);

    (void)state;
    run_go(b.run, &watch);
    run_go(a.run, &watch);
    a.result = run_read(a.run);
    b.result = run_read(b.run);

    g_autofree char *text_alone = summary_of(alone.result);
    g_autofree char *text_other = summary_of(other.result);
    g_autofree char *text_a = summary_of(a.result);
    g_autofree char *text_b = summary_of(b.result);

    assert_string_equal(text_a, text_alone);
    assert_string_equal(text_b, text_other);
    end(&alone);
    end(&other);
    end(&a);
    end(&b);
}

static void
test_stop_with_work_left_is_incomplete(void **state)
{
    struct one one = whole("{\"name\": \"stop\", \"stop\": \"20us\", " STAR ","
                           " \"workload\": [{\"type\": \"permutation\", \"shift\": 1, "
                           "\"bytes\": \"1MB\"}]}");

    (void)state;
    assert_int_equal(one.result->verdict, VERDICT_INCOMPLETE);
    assert_int_equal(one.result->unfinished->len, 3);
    assert_int_equal(one.result->end_ps, 20 * PS_PER_US);
    assert_int_equal(one.result->run_ps, 20 * PS_PER_US);
    assert_string_equal(g_ptr_array_index(one.result->why, 0),
                        "stopped at 20 us with 3 operations outstanding");
    end(&one);
}

static void
test_a_stop_behind_the_end_is_complete(void **state)
{
    struct one one = whole("{\"name\": \"late\", \"stop\": \"50ms\", " STAR ","
                           " \"workload\": [{\"type\": \"permutation\", \"shift\": 1, "
                           "\"bytes\": \"1MB\"}]}");

    (void)state;
    assert_int_equal(one.result->verdict, VERDICT_COMPLETE);
    assert_true(one.result->end_ps < PS_PER_MS);
    end(&one);
}

static void
test_a_fabric_without_traffic_is_said_so(void **state)
{
    /* Both ranks are GPUs of one host. */
    struct one one =
        whole("{\"name\": \"inside\", " STAR ", \"node\": {\"gpus\": 2},"
              " \"workload\": [{\"type\": \"collective\", \"op\": \"all_reduce\","
              "                 \"bytes\": \"1MiB\", \"ranks\": 2}]}");

    (void)state;
    assert_int_equal(one.result->verdict, VERDICT_COMPLETE);
    assert_int_equal(one.result->notes->len, 1);
    assert_string_equal(g_ptr_array_index(one.result->notes, 0),
                        "the fabric has carried no bytes");
    assert_true(one.result->fabric.nvlink_bytes > 0);
    assert_int_equal(one.result->fabric.busy_work_ps, 0);
    end(&one);
}

/* With one of two spines gone traffic is lost until the routes follow, and
 * then goes on. */
static void
test_routes_follow_a_link(void **state)
{
    /* All of one host: a single spine has room for it. */
    struct one one =
        whole("{\"name\": \"down\", " LEAF_SPINE ", \"nic\": {\"ack_timeout\": 8},"
              " \"workload\": [{\"type\": \"flows\", \"list\": ["
              "   {\"src\": \"host0\", \"dst\": \"host4\", \"bytes\": \"8MB\"},"
              "   {\"src\": \"host0\", \"dst\": \"host5\", \"bytes\": \"8MB\"},"
              "   {\"src\": \"host0\", \"dst\": \"host6\", \"bytes\": \"8MB\"},"
              "   {\"src\": \"host0\", \"dst\": \"host7\", \"bytes\": \"8MB\"}]}],"
              " \"faults\": [{\"at\": \"200us\", \"link\": \"leaf0-spine1\","
              "               \"do\": \"down\"}]}");
    const struct net *net = one.run->net;
    uint32_t spine1 = net_find_node(net, "spine1");

    (void)state;
    assert_int_equal(one.result->verdict, VERDICT_COMPLETE);
    assert_true(one.result->fabric.lost_down > 0);
    assert_true(one.result->fabric.retransmitted > 0);
    assert_true(one.result->sim_time_ps > 1200 * PS_PER_US);
    /* Nothing that leaf0 would have sent over spine1 does so in the end. */
    const struct fabric_switch *leaf0 =
        &net->switches[net->nodes[net_find_node(net, "leaf0")].index];

    for (uint32_t nic = 0; nic < net->n_nics; nic++) {
        const struct route_set *set =
            &leaf0->routes->sets[leaf0->routes->set_of_nic[nic]];

        for (uint16_t k = 0; k < set->n; k++) {
            const struct port *port = &leaf0->ports[leaf0->routes->ports[set->first + k]];

            assert_false(port->peer - net->nodes[spine1].first_port <
                         net->nodes[spine1].n_ports);
        }
    }
    end(&one);
}

/* Changes of links that are planned, as "us down|up link", in order of the list. */
static void
assert_link_faults(const struct run *run, const char *const *expected)
{
    for (uint32_t i = 0; i < run->net->n_faults; i += 2) {
        const struct fault *fault = run->net->faults[i];

        if (fault->kind != FAULT_DOWN && fault->kind != FAULT_UP) {
            i--; /* a change of routes has no other end */
            continue;
        }
        g_autofree char *text =
            g_strdup_printf("%d %s %s", (int)(fault->at_ps / PS_PER_US),
                            fault->kind == FAULT_DOWN ? "down" : "up",
                            run->net->links[fault->port->link].name);

        assert_non_null(*expected);
        assert_string_equal(text, *expected++);
    }
    assert_null(*expected);
}

/* A switch takes its links along; one that is down for a reason of its own stays so. */
static void
test_a_switch_fails_and_comes_back(void **state)
{
    const char *const expected[] = {
        "100 down leaf0-spine1", "200 down leaf1-spine1", "400 up leaf0-spine1",
        "300 up leaf1-spine1",   "500 down leaf0-spine1", "500 down leaf1-spine1",
        "600 up leaf0-spine1",   "600 up leaf1-spine1",   NULL};
    struct one one =
        whole("{\"name\": \"gone\", " LEAF_SPINE ", \"nic\": {\"ack_timeout\": 8},"
              " \"workload\": [{\"type\": \"permutation\", \"shift\": 4,"
              "                 \"bytes\": \"4MB\"}],"
              " \"faults\": ["
              "  {\"at\": \"100us\", \"link\": \"leaf0-spine1\", \"do\": \"down\"},"
              "  {\"at\": \"200us\", \"switch\": \"spine1\", \"do\": \"switch-down\"},"
              "  {\"at\": \"400us\", \"link\": \"leaf0-spine1\", \"do\": \"up\"},"
              "  {\"at\": \"300us\", \"switch\": \"spine1\", \"do\": \"switch-up\"},"
              "  {\"at\": \"500us\", \"switch\": \"spine1\", \"do\": \"switch-down\"},"
              "  {\"at\": \"600us\", \"switch\": \"spine1\", \"do\": \"switch-up\"}]}");

    (void)state;
    assert_int_equal(one.result->verdict, VERDICT_COMPLETE);
    assert_true(one.result->fabric.lost_down > 0);
    assert_link_faults(one.run, expected);
    end(&one);
}

/* A route given by hand holds whatever the shortest paths are, before and after faults:
 * what is for host5 goes the way of the dead link for good. */
static void
test_a_given_route_stays(void **state)
{
    struct one one =
        whole("{\"name\": \"given\", \"stop\": \"8ms\", \"topology\": {"
              "   \"type\": \"leaf-spine\", \"hosts\": 8, \"hosts_per_leaf\": 4,"
              "   \"spines\": 2, \"host_link\": {\"rate\": \"100G\"},"
              "   \"fabric_link\": {\"rate\": \"100G\"},"
              "   \"routes\": [{\"at\": \"leaf0\", \"to\": \"host5\","
              "                 \"via\": \"spine1\"}]},"
              " \"nic\": {\"ack_timeout\": 9},"
              " \"workload\": [{\"type\": \"flows\", \"list\": ["
              "   {\"src\": \"host0\", \"dst\": \"host5\", \"bytes\": \"8MB\"},"
              "   {\"src\": \"host1\", \"dst\": \"host5\", \"bytes\": \"8MB\"},"
              "   {\"src\": \"host2\", \"dst\": \"host6\", \"bytes\": \"8MB\"}]}],"
              " \"faults\": [{\"at\": \"300us\", \"link\": \"leaf0-spine1\","
              "               \"do\": \"down\"}]}");

    (void)state;
    assert_int_equal(one.result->verdict, VERDICT_INCOMPLETE);
    for (guint i = 0; i < 3; i++) {
        const struct result_flow *flow =
            &g_array_index(one.result->flows, struct result_flow, i);

        if (i < 2) {
            g_autofree char *path =
                g_strdup_printf("host%u:0>leaf0:5>spine1:1>leaf1:1>host5", i);

            assert_string_equal(flow->path, path);
        }
        assert_int_equal(flow->fct_ps == TIME_NEVER_PS, i < 2);
    }
    end(&one);
}

/* Where packets are spread, a path says so, and no link is taken for busier than it was. */
static void
test_spread_packets_are_read(void **state)
{
    struct one one =
        whole("{\"name\": \"spread\", " LEAF_SPINE ", \"switch\": {\"lb\": \"spray\"},"
              " \"cc\": {\"algorithm\": \"none\"},"
              " \"workload\": [{\"type\": \"flows\", \"list\": ["
              "   {\"src\": \"host0\", \"dst\": \"host4\", \"bytes\": \"8MB\"},"
              "   {\"src\": \"host0\", \"dst\": \"host1\", \"bytes\": \"100KB\"}]}]}");
    const struct result_flow *flow =
        &g_array_index(one.result->flows, struct result_flow, 0);
    const struct result_fabric *fabric = &one.result->fabric;
    int64_t halves[2] = {0};

    (void)state;
    assert_string_equal(flow->path, "host0:0>leaf0:*>host4");
    assert_string_equal(g_array_index(one.result->flows, struct result_flow, 1).path,
                        "host0:0>leaf0:1>host1");
    for (guint i = 0; i < one.result->ports->len; i++) {
        const struct result_port *port =
            &g_array_index(one.result->ports, struct result_port, i);

        if (strcmp(port->node, "leaf0") == 0 && port->port >= 4 && port->cls == 3) {
            halves[port->port - 4] = port->tx_pkts;
        }
    }
    /* 1954 packets in turn, whatever is sent again. */
    assert_in_range(halves[0] - halves[1] + 1, 0, 2);
    assert_string_equal(fabric->busy_node, "host0");
    end(&one);
}

static void
assert_forecast(const char *text)
{
    struct one one = begin(text);
    const struct net_watch watch = {0};
    struct forecast forecast;

    forecast_make(one.run, &forecast);
    run_go(one.run, &watch);
    one.result = run_read(one.run);
    /* CNPs and pauses are not forecast; several ACKs may become one. */
    assert_int_equal(run_payload_bytes(one.run), forecast.payload_bytes);
    assert_in_range(one.result->fabric.data_packets, forecast.data_packets * 95 / 100,
                    forecast.data_packets * 105 / 100);
    assert_in_range(one.result->fabric.packet_hops, forecast.packet_hops * 9 / 10,
                    forecast.packet_hops * 11 / 10);
    end(&one);
}

static void
test_what_is_forecast_comes_true(void **state)
{
    (void)state;
    assert_forecast(incast);
    assert_forecast(shifted);
    assert_forecast("{\"name\": \"ring\", " LEAF_SPINE ", \"node\": {\"gpus\": 2},"
                    " \"workload\": [{\"type\": \"collective\", \"op\": \"all_reduce\","
                    "                 \"bytes\": \"4MiB\", \"repeat\": 2}]}");
}

static bool
stop_at_third(void *ctx, const struct net *net, int64_t now_ps)
{
    int *n = ctx;

    (void)net;
    (void)now_ps;
    return ++*n < 3;
}

static void
test_an_interrupted_run_is_marked(void **state)
{
    struct one one = begin(incast);
    int n = 0;
    const struct net_watch watch = {.on_epoch = stop_at_third, .ctx = &n};

    (void)state;
    run_go(one.run, &watch);
    one.result = run_read(one.run);
    assert_int_equal(one.result->verdict, VERDICT_INTERRUPTED);
    assert_int_equal(run_result_status(one.result), 130);
    assert_int_equal(one.result->unfinished->len, 2);
    end(&one);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_incast_is_read),
        cmocka_unit_test(test_the_busiest_link),
        cmocka_unit_test(test_two_runs_do_not_meet),
        cmocka_unit_test(test_stop_with_work_left_is_incomplete),
        cmocka_unit_test(test_a_stop_behind_the_end_is_complete),
        cmocka_unit_test(test_a_fabric_without_traffic_is_said_so),
        cmocka_unit_test(test_routes_follow_a_link),
        cmocka_unit_test(test_a_switch_fails_and_comes_back),
        cmocka_unit_test(test_a_given_route_stays),
        cmocka_unit_test(test_spread_packets_are_read),
        cmocka_unit_test(test_what_is_forecast_comes_true),
        cmocka_unit_test(test_an_interrupted_run_is_marked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
