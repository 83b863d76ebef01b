/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_results.c - numbers as text, percentiles, and the files of a result made by hand.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tools/expect.h"
#include "tools/results/csv.h"
#include "tools/results/json_out.h"
#include "tools/results/summary.h"
#include "tools/results/table.h"
#include "tools/results/text.h"

/* ---- text -------------------------------------------------------------------------- */

#define assert_printed(want, call)                                                       \
    do {                                                                                 \
        GString *out = g_string_new(NULL);                                               \
        call;                                                                            \
        assert_string_equal(out->str, want);                                             \
        g_string_free(out, TRUE);                                                        \
    } while (0)

static void
test_quotients_are_rounded_to_nearest(void **state)
{
    (void)state;
    assert_printed("0", text_quotient(out, 0, 7, 6));
    assert_printed("0.333333", text_quotient(out, 1, 3, 6));
    assert_printed("0.666667", text_quotient(out, 2, 3, 6));
    assert_printed("1", text_quotient(out, 9999999, 10000000, 6));
    assert_printed("0.5", text_quotient(out, 1, 2, 1));
    assert_printed("1", text_quotient(out, 1, 2, 0));
    assert_printed("-0.5", text_quotient(out, -1, 2, 3));
    assert_printed("0", text_quotient(out, -1, 10000000, 6));
    assert_printed("100", text_quotient(out, 300, 3, 6));
    assert_printed("2.50", text_quotient_fixed(out, 5, 2, 2));
    assert_printed("10.00", text_quotient_fixed(out, 9999, 1000, 2));
    assert_printed("9223372036854775807", text_int(out, INT64_MAX));
    assert_printed("-9223372036854775808", text_int(out, INT64_MIN));
}

static void
test_times_are_exact(void **state)
{
    (void)state;
    assert_printed("0", text_us(out, 0));
    assert_printed("0.000001", text_us(out, 1));
    assert_printed("1.5", text_us(out, 1500000));
    assert_printed("9223372036854.775807", text_us(out, INT64_MAX));
    assert_printed("0.001 ns", text_time(out, 1));
    assert_printed("812.0 ns", text_time(out, 812000));
    assert_printed("12.40 us", text_time(out, 12400000));
    assert_printed("1.700 s", text_time(out, 1700 * PS_PER_MS));
}

static void
test_sizes_and_counts(void **state)
{
    (void)state;
    assert_printed("0 B", text_size(out, 0));
    assert_printed("64 KiB", text_size(out, 65536));
    assert_printed("1 GiB", text_size(out, 1 << 30));
    assert_printed("1.5 kB", text_size(out, 1500));
    assert_printed("2 MB", text_size(out, 2004156));
    assert_printed("999", text_count(out, 999));
    assert_printed("1 k", text_count(out, 1000));
    assert_printed("12.3 M", text_count(out, 12.34e6));
    assert_printed("3.142", text_double(out, 3.14159, 3));
    assert_printed("0", text_double(out, (double)NAN, 3));
    assert_printed("a", text_csv(out, "a"));
    assert_printed("\"a,\"\"b\"\"\"", text_csv(out, "a,\"b\""));
}

static void
test_json_is_json(void **state)
{
    GString *text = g_string_new(NULL);
    struct json_out json;

    (void)state;
    json_out_init(&json, text);
    json_out_open(&json, NULL, '{', false);
    json_out_text(&json, "odd", "a\"b\\c\n\xff");
    json_out_open(&json, "empty", '[', false);
    json_out_close(&json, ']');
    json_out_open(&json, "flat", '{', true);
    json_out_int(&json, "i", -3);
    json_out_us(&json, "never", TIME_NEVER_PS);
    json_out_quotient(&json, "none", 1, 0);
    json_out_close(&json, '}');
    json_out_bool(&json, "yes", true);
    json_out_close(&json, '}');

    json_t *read = json_loads(text->str, 0, NULL);

    assert_non_null(read);
    assert_string_equal(json_string_value(json_object_get(read, "odd")),
                        "a\"b\\c\n\xef\xbf\xbd");
    assert_int_equal(json_array_size(json_object_get(read, "empty")), 0);
    assert_true(json_is_null(json_object_get(json_object_get(read, "flat"), "never")));
    assert_true(json_is_true(json_object_get(read, "yes")));
    json_decref(read);
    g_string_free(text, TRUE);
}

/* ---- a result by hand -------------------------------------------------------------- */

static const char scenario_text[] =
    "{\"name\": \"hand\","
    " \"topology\": {\"type\": \"star\", \"hosts\": 3,"
    "                \"host_link\": {\"rate\": \"100G\", \"length\": \"3m\"}},"
    " \"workload\": [{\"type\": \"permutation\", \"shift\": 1, \"bytes\": \"4KiB\"}],"
    " \"expect\": {\"flows.done\": [2, 2], \"collectives[0].op\": \"all_reduce\","
    "              \"fabric.bytes_by_tier.host\": [0, 10]}}";

struct hand {
    struct scenario *scenario;
    struct run_result *result;
    struct hist queue;
};

static int
set_up(void **state)
{
    struct hand *hand = g_new0(struct hand, 1);
    GError *error = NULL;

    hand->scenario = scenario_load_data("hand.json", scenario_text, strlen(scenario_text),
                                        NULL, &error);
    if (!hand->scenario) {
        fprintf(stderr, "%s\n", error->message);
        return -1;
    }
    hand->result = run_result_new(hand->scenario);

    struct run_result *result = hand->result;
    const struct result_flow flows[] = {{.index = 0,
                                         .src_host = 0,
                                         .dst_host = 1,
                                         .src = "host0",
                                         .dst = "host1",
                                         .path = "host0:0>leaf0:1>host1",
                                         .src_port = 49153,
                                         .qpn = 0x11,
                                         .n_qps = 1,
                                         .bytes = 4096,
                                         .start_ps = 1000,
                                         .fct_ps = 3000500,
                                         .rx_done_ps = 2500000,
                                         .ideal_ps = 1000000},
                                        {.index = 1,
                                         .src_host = 1,
                                         .dst_host = 300,
                                         .src = "host1",
                                         .dst = "host300",
                                         .src_port = 49154,
                                         .qpn = 0xfff,
                                         .n_qps = 2,
                                         .bytes = 4096,
                                         .start_ps = 500000,
                                         .fct_ps = 1000000,
                                         .rx_done_ps = 900000,
                                         .ideal_ps = 1000000,
                                         .retransmitted = 2,
                                         .is_incast = true},
                                        {.index = 2,
                                         .src = "host2",
                                         .dst = "host0",
                                         .bytes = 1,
                                         .start_ps = 0,
                                         .fct_ps = TIME_NEVER_PS,
                                         .rx_done_ps = TIME_NEVER_PS,
                                         .ideal_ps = 7}};
    const struct result_stream stream = {.index = 4,
                                         .src = "host0",
                                         .dst = "host1",
                                         .path = "p",
                                         .src_port = 5,
                                         .qpn = 0x12,
                                         .n_messages = 3,
                                         .n_complete = 3,
                                         .bytes = 300,
                                         .min_ps = 1000000,
                                         .max_ps = 4000000,
                                         .sum_ps = 7000000};
    const struct result_call call = {.call = {.op = "all_reduce",
                                              .algorithm = "ring",
                                              .protocol = "simple",
                                              .n_ranks = 4,
                                              .bytes = 1000000,
                                              .start_ps = 1000000,
                                              .end_ps = 101000000,
                                              .bound_ps = 90000000,
                                              .bus_num = 6,
                                              .bus_den = 4}};
    struct result_port port = {.node = "leaf0",
                               .port = 1,
                               .cls = 3,
                               .is_switch = true,
                               .lossless = true,
                               .tx_bytes = 10,
                               .tx_pkts = 1,
                               .queue_max_bytes = 7,
                               .queue_integral = 4000,
                               .queue = &hand->queue,
                               .paused_ps = 50};

    g_array_append_vals(result->flows, flows, 3);
    g_array_append_val(result->streams, stream);
    g_array_append_val(result->calls, call);
    g_array_append_val(result->ports, port);
    hist_add(&hand->queue, 5, 30);
    hist_add(&hand->queue, 7, 20);
    result->n_samples = 100;
    result->run_ps = 1000;
    result->sim_time_ps = 101000000;
    result->end_ps = 110000000;
    result->fabric.data_packets = 3;
    result->fabric.bytes_by_tier[0] = 11;
    result->verdict = VERDICT_COMPLETE;
    *state = hand;
    return 0;
}

static int
tear_down(void **state)
{
    struct hand *hand = *state;

    run_result_free(hand->result);
    scenario_free(hand->scenario);
    g_free(hand);
    return 0;
}

static char *
written(void (*writer)(const struct run_result *, FILE *),
        const struct run_result *result)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    writer(result, out);
    fclose(out);
    return text;
}

static void
test_flows_csv(void **state)
{
    const struct hand *hand = *state;
    char *text = written(csv_flows, hand->result);

    assert_string_equal(
        text,
        "kind,workload,id,src,dst,udp_src_port,bytes,start_us,fct_us,rx_done_us,ideal_us,"
        "slowdown,retransmitted_packets,messages,message_min_us,message_mean_us,"
        "message_max_us,path,qp,counted\n"
        "flow,0,0,host0,host1,49153,4096,0.001,3.0005,2.5,1,3.0005,0,,,,,"
        "host0:0>leaf0:1>host1,0x000011,1\n"
        "flow,0,1,host1,host300,49154,4096,0.5,1,0.9,1,1,2,,,,,,0x000fff 0x001000,1\n"
        "flow,0,2,host2,host0,0,1,0,,,0.000007,,0,,,,,,,1\n"
        "connection,0,4,host0,host1,5,300,,,,,,0,3,1,2.333333,4,p,0x000012,\n");
    free(text);
}

static void
test_collectives_csv(void **state)
{
    const struct hand *hand = *state;
    char *text = written(csv_collectives, hand->result);

    /* 10^6 B in 100 us are 10 GB/s. */
    assert_string_equal(strchr(text, '\n'),
                        "\n0,0,all_reduce,ring,simple,4,1000000,1,100,"
                        "10,15,90\n");
    free(text);
}

static void
test_ports_csv(void **state)
{
    const struct hand *hand = *state;
    char *text = written(csv_ports, hand->result);

    /* Of 100 samples 50 are 0, 30 are 5, 20 are 7; 4000 byte-ps over 1000 ps are 4 B. */
    assert_string_equal(strchr(text, '\n'),
                        "\nleaf0:1,3,10,1,0,0,0,0,0,0,7,4,0,7,7,0,0,0,0,0.00005\n");
    free(text);
}

static void
test_fct_txt(void **state)
{
    const struct hand *hand = *state;
    char *text = written(csv_fct, hand->result);

    /* By completion: at 1.5 us and at 3.0015 us; host 300 is 11.1.44.1. */
    assert_string_equal(text, "0b000101 0b012c01 49154 200 4096 500 1000 1000\n"
                              "0b000001 0b000101 49153 100 4096 1 3001 1000\n");
    free(text);
}

static void
test_percentiles_are_nearest_ranks(void **state)
{
    const struct hand *hand = *state;
    struct result_percentiles p;

    assert_int_equal(result_rank(1, 99), 0);
    assert_int_equal(result_rank(100, 50), 49);
    assert_int_equal(result_rank(100, 99), 98);
    assert_int_equal(result_rank(101, 99), 99);
    assert_int_equal(result_rank(3, 50), 1);
    result_percentiles(hand->result, RESULT_ALL_WORKS, &p);
    assert_int_equal(p.n, 3);
    assert_int_equal(p.n_done, 2);
    assert_int_equal(p.p50_ps, 1000000);
    assert_int_equal(p.p95_ps, 3000500);
    assert_int_equal(p.max_ps, 3000500);
    assert_int_equal(p.mean_ps, 2000250);
    assert_int_equal(p.slow50, 1);
    assert_int_equal(p.slow_max, 0);
    assert_int_equal(p.n_counted, 2);
}

/* A flow that is cut is done, and in no percentile; it shows in flows.csv. */
static void
test_cut_flows(void **state)
{
    struct hand *hand = *state;
    struct result_percentiles p;
    char *text;

    g_array_index(hand->result->flows, struct result_flow, 0).is_cut = true;
    result_percentiles(hand->result, RESULT_ALL_WORKS, &p);
    assert_int_equal(p.n, 3);
    assert_int_equal(p.n_done, 2);
    assert_int_equal(p.n_counted, 1);
    assert_int_equal(p.max_ps, 1000000);
    assert_int_equal(p.mean_ps, 1000000);
    assert_int_equal(p.slow_max, 1);
    text = written(csv_flows, hand->result);
    assert_non_null(strstr(text, "host0:0>leaf0:1>host1,0x000011,0\n"));
    free(text);

    g_array_index(hand->result->flows, struct result_flow, 1).is_cut = true;
    result_percentiles(hand->result, RESULT_ALL_WORKS, &p);
    assert_int_equal(p.n_done, 2);
    assert_int_equal(p.n_counted, 0);
    assert_int_equal(p.p50_ps, TIME_NEVER_PS);
}

static void
test_percentiles_against_counting(void **state)
{
    struct hand *hand = *state;
    struct result_percentiles p;
    const uint32_t n = 997;

    g_array_set_size(hand->result->flows, 0);
    for (uint32_t i = 0; i < n; i++) {
        /* 997 is a prime: every value from 1 to 997 comes once, out of order. */
        struct result_flow flow = {.fct_ps = (int64_t)(i * 31 % n) + 1, .ideal_ps = 1};

        g_array_append_val(hand->result->flows, flow);
    }
    result_percentiles(hand->result, RESULT_ALL_WORKS, &p);
    assert_int_equal(p.p50_ps, 499);
    assert_int_equal(p.p95_ps, 948);
    assert_int_equal(p.p99_ps, 988);
    assert_int_equal(p.max_ps, 997);
    assert_int_equal(p.mean_ps, 499);
    assert_int_equal(
        g_array_index(hand->result->flows, struct result_flow, p.slow99).fct_ps, 988);
}

static void
test_jain(void **state)
{
    struct result_work equal = {.n_pairs = 4, .sum = 4, .sum_of_squares = 4};
    struct result_work one = {.n_pairs = 4, .sum = 3, .sum_of_squares = 9};
    struct result_work none = {.n_pairs = 4};

    (void)state;
    assert_float_equal(result_jain(&equal), 1, 1e-12);
    assert_float_equal(result_jain(&one), 0.25, 1e-12);
    assert_float_equal(result_jain(&none), 0, 0);
}

static void
test_goodputs_compare_exactly(void **state)
{
    struct result_goodput third = {INT64_MAX / 3, INT64_MAX}, less = {1, 4};

    (void)state;
    assert_true(result_goodput_less(&less, &third));
    assert_false(result_goodput_less(&third, &less));
    assert_false(result_goodput_less(&third, &third));
}

static void
test_nothing_done_is_null(void **state)
{
    struct hand *hand = *state;

    g_array_remove_range(hand->result->flows, 0, 2);

    g_autofree char *text = summary_to_json(hand->result);
    g_autofree char *table = table_of_result(hand->result, "dir");

    assert_non_null(strstr(text, "\"fct_us\": {\"p50\": null, \"p95\": null"));
    assert_non_null(strstr(text, "\"slowdown\": {\"p50\": null"));
    assert_non_null(strstr(table, "0 of 1 done"));
}

/* The roots that cost most; none where nothing was paused. */
static void
test_pauses(void **state)
{
    struct hand *hand = *state;
    struct result_pauses *pauses = &hand->result->pauses;
    const struct result_root root = {.node = "leaf0",
                                     .port = 1,
                                     .to = "host1",
                                     .cls = 3,
                                     .is_loop = true,
                                     .n = 4,
                                     .paused_ps = 1500000,
                                     .n_ports = 1,
                                     .n_hosts = 2,
                                     .depth = 3};
    g_autofree char *none = table_of_result(hand->result, "dir");
    g_autofree char *none_json = summary_to_json(hand->result);

    assert_null(strstr(none, "pauses"));
    assert_non_null(strstr(none_json, "\"roots\": []"));
    *pauses = (struct result_pauses){
        .n = 9,
        .paused_ps = 2500000,
        .n_ports = 5,
        .n_hosts = 4,
        .depth = 3,
        .n_roots = 7,
        .roots = g_array_new(FALSE, TRUE, sizeof(struct result_root))};
    g_array_append_vals(pauses->roots, &root, 1);

    g_autofree char *table = table_of_result(hand->result, "dir");
    g_autofree char *json = summary_to_json(hand->result);

    assert_non_null(strstr(table,
                           "pauses        9 of 5 ports, 2.500 us in all, up to 3 hops "
                           "from what caused them:\n"
                           "              leaf0:1 to host1, class 3        1.500 us in 4 "
                           "pauses of 1 port, 2 hosts; a loop\n"
                           "              ... and 6 more causes; who made whom"));
    assert_non_null(strstr(json,
                           "{\"port\": \"leaf0:1\", \"to\": \"host1\", \"class\": 3, "
                           "\"n\": 4, \"paused_us\": 1.5, \"ports\": 1, "
                           "\"hosts\": 2, \"hops\": 3, \"loop\": true}"));
}

static void
test_summary_has_the_contract_s_keys(void **state)
{
    static const char *const keys[] = {
        "version",     "scenario",          "seed",           "verdict",
        "unfinished",  "sim_time_us",       "wall_s",         "events",
        "packet_hops", "packet_hops_per_s", "peak_rss_bytes", "threads",
        "flows",       "collectives",       "fabric",         "targets"};
    static const char *const fabric_keys[] = {
        "data_packets",         "drops",           "lost",
        "ecn_marked",           "cnp_sent",        "nak_sent",
        "retransmitted",        "pfc_frames",      "pfc_pause_share_max",
        "pfc_pause_share_mean", "max_queue_bytes", "bytes_by_tier",
        "link_utilisation_max"};
    const struct hand *hand = *state;
    g_autofree char *text = summary_to_json(hand->result);
    json_t *summary = json_loads(text, 0, NULL);
    const json_t *call = json_array_get(json_object_get(summary, "collectives"), 0);

    assert_non_null(summary);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        assert_non_null(json_object_get(summary, keys[i]));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(fabric_keys); i++) {
        assert_non_null(
            json_object_get(json_object_get(summary, "fabric"), fabric_keys[i]));
    }
    assert_float_equal(json_number_value(json_object_get(call, "busbw_GBps")), 15, 1e-9);
    assert_float_equal(json_number_value(json_object_get(summary, "sim_time_us")), 101,
                       1e-9);
    json_decref(summary);
}

static void
test_targets(void **state)
{
    struct hand *hand = *state;
    struct result_fabric *fabric = &hand->result->fabric;
    struct result_target targets[RESULT_N_TARGETS];

    hist_add(&fabric->latency, 9 * PS_PER_US, 99);
    hist_add(&fabric->latency, 20 * PS_PER_US, 1);
    fabric->busy_payload_ps = 90;
    fabric->busy_work_ps = 100;
    fabric->pause_ps_max = 1;
    result_targets(hand->result, targets);
    assert_true(targets[0].met);  /* 99 of 100 packets are below 10 us */
    assert_false(targets[1].met); /* more than 90 % is asked for */
    assert_true(targets[2].met);
    assert_false(targets[3].met); /* less than 1 in 1000 is asked for */
    hist_add(&fabric->latency, 20 * PS_PER_US, 1);
    fabric->busy_payload_ps = 91;
    fabric->lossless_drops = 1;
    hand->result->run_ps = 1001;
    result_targets(hand->result, targets);
    assert_false(targets[0].met);
    assert_true(targets[1].met);
    assert_false(targets[2].met);
    assert_true(targets[3].met);
    fabric->data_packets = 0;
    result_targets(hand->result, targets);
    assert_false(targets[2].known);
}

static void
test_expectations(void **state)
{
    struct hand *hand = *state;
    struct run_result *result = hand->result;

    expect_judge(result);
    assert_int_equal(result->verdict, VERDICT_EXPECTATION_MISSED);
    assert_int_equal(result->why->len, 1);
    assert_string_equal(g_ptr_array_index(result->why, 0),
                        "fabric.bytes_by_tier.host is 11; expected 0 to 10");
    assert_int_equal(run_result_status(result), 1);
}

static void
test_expectations_that_hold(void **state)
{
    struct hand *hand = *state;
    struct run_result *result = hand->result;

    result->fabric.bytes_by_tier[0] = 10;
    expect_judge(result);
    assert_int_equal(result->verdict, VERDICT_COMPLETE);
    assert_int_equal(result->why->len, 0);
    assert_int_equal(run_result_status(result), 0);
}

static void
test_a_worse_verdict_stays(void **state)
{
    struct hand *hand = *state;
    struct run_result *result = hand->result;

    result->verdict = VERDICT_LOSSLESS_VIOLATED;
    expect_judge(result);
    assert_int_equal(result->verdict, VERDICT_LOSSLESS_VIOLATED);
    assert_int_equal(run_result_status(result), 1);
    result->verdict = VERDICT_INTERRUPTED;
    assert_int_equal(run_result_status(result), 130);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotients_are_rounded_to_nearest),
        cmocka_unit_test(test_times_are_exact),
        cmocka_unit_test(test_sizes_and_counts),
        cmocka_unit_test(test_json_is_json),
        cmocka_unit_test_setup_teardown(test_flows_csv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_collectives_csv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ports_csv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fct_txt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_percentiles_are_nearest_ranks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_cut_flows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_percentiles_against_counting, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_done_is_null, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pauses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_summary_has_the_contract_s_keys, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_targets, set_up, tear_down),
        cmocka_unit_test(test_jain),
        cmocka_unit_test(test_goodputs_compare_exactly),
        cmocka_unit_test_setup_teardown(test_expectations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_expectations_that_hold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_worse_verdict_stays, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
