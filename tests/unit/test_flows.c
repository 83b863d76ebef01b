/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_flows.c - flows, permutation, incast: who sends what to whom and when, messages
 * and queue pairs in turn, rounds, what is said of flows that have not ended.
 */
#include <config.h>

#include "workloads/flows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/rig.h"

#define RATE (100 * GBPS)
#define DELAY (25 * PS_PER_NS)
#define EXTRA_BYTES 82 /* of a packet without RETH, preamble and gap included: K4 */

static struct work_params
params_of(enum work_kind kind)
{
    return (struct work_params){.kind = kind, .common = {.repeat = 1, .qps = 1}};
}

static struct work *
new_work(struct rig *rig, const struct work_params *params)
{
    GError *error = NULL;
    struct work *work = work_new(rig->net, params, &error);

    assert_null(error);
    assert_non_null(work);
    return work;
}

static void
play(struct rig *rig, struct work *work, enum partition_mode partition)
{
    rig_start(rig, partition, 1);
    work_start(work);
    rig_run(rig, TIME_NEVER_PS);
}

static const struct flow_result *
results_of(const struct work *work, uint32_t n_expected)
{
    uint32_t n;
    const struct flow_result *results = work->ops->flows(work->state, &n);

    assert_int_equal(n, n_expected);
    return results;
}

static void
star(struct rig *rig, uint32_t n_hosts)
{
    rig_init(rig, 1);
    rig_star(rig, n_hosts, RATE, DELAY);
    rig_build(rig);
}

static void
expect_error(struct rig *rig, const struct work_params *params, const char *message)
{
    GError *error = NULL;

    assert_null(work_new(rig->net, params, &error));
    assert_non_null(error);
    assert_string_equal(error->message, message);
    g_error_free(error);
}

static void
registry(void **state)
{
    (void)state;
    for (size_t i = 0; work_list[i]; i++) {
        assert_ptr_equal(work_find(work_list[i]->name), work_list[i]);
        assert_non_null(work_list[i]->source);
        assert_non_null(work_list[i]->doc);
    }
    assert_string_equal(work_list[WORK_FLOWS]->name, "flows");
    assert_string_equal(work_list[WORK_PERMUTATION]->name, "permutation");
    assert_string_equal(work_list[WORK_INCAST]->name, "incast");
    assert_null(work_find("flow"));
}

/* Flows start when the list says, in whatever order it stands, and are
 * noted one by one. */
static void
list_of_flows(void **state)
{
    struct work_flow list[] = {
        {.src = 0, .dst = 2, .bytes = 5000, .start_ps = 40 * PS_PER_US},
        {.src = 1, .dst = 0, .bytes = 1, .start_ps = 10 * PS_PER_US},
        {.src = 0, .dst = 2, .bytes = 4096, .start_ps = 20 * PS_PER_US},
        {.src = 0, .dst = 1, .bytes = 7, .start_ps = 20 * PS_PER_US},
    };
    struct work_params params = params_of(WORK_FLOWS);
    struct rig rig;

    (void)state;
    star(&rig, 3);
    params.flows = list;
    params.n_flows = 4;
    params.common.start_ps = PS_PER_US;
    struct work *work = new_work(&rig, &params);

    play(&rig, work, PARTITION_NODE);
    const struct flow_result *results = results_of(work, 4);

    for (int i = 0; i < 4; i++) {
        assert_int_equal(results[i].src_host, list[i].src);
        assert_int_equal(results[i].dst_host, list[i].dst);
        assert_int_equal(results[i].bytes, list[i].bytes);
        assert_int_equal(results[i].start_ps, list[i].start_ps + PS_PER_US);
        assert_true(results[i].received_ps > results[i].start_ps);
        assert_true(results[i].sent_ps > results[i].received_ps);
        assert_true(results[i].sent_ps < results[i].start_ps + 4 * PS_PER_US);
    }
    /* One connection a pair of hosts: 0-2, 1-0, 0-1. */
    assert_int_equal(rig.net->n_connections, 3);
    assert_int_equal(results[0].connection, results[2].connection);
    assert_int_equal(net_qp(rig.net, results[0].connection, 1)->payload_received, 9096);
    work_free(work);
    rig_clear(&rig);
}

/* The start jitter shifts all flows of a host alike. */
static void
jitter(void **state)
{
    struct work_flow list[] = {{.src = 0, .dst = 1, .bytes = 1},
                               {.src = 0, .dst = 1, .bytes = 1, .start_ps = 5000000},
                               {.src = 1, .dst = 0, .bytes = 1}};
    struct work_params params = params_of(WORK_FLOWS);
    struct rig rig;

    (void)state;
    rig_init(&rig, 7);
    rig.nic.jitter_ps = -1;
    rig_star(&rig, 2, RATE, DELAY);
    rig_build(&rig);
    params.flows = list;
    params.n_flows = 3;
    struct work *work = new_work(&rig, &params);

    play(&rig, work, PARTITION_ONE);
    const struct flow_result *results = results_of(work, 3);

    assert_true(results[0].start_ps > 0);
    assert_true(results[0].start_ps <= (4096 + EXTRA_BYTES) * 80);
    assert_int_equal(results[0].start_ps, net_jitter_ps(rig.net, 0));
    assert_int_equal(results[1].start_ps, results[0].start_ps + 5000000);
    assert_int_equal(results[2].start_ps, net_jitter_ps(rig.net, 1));
    assert_true(results[2].start_ps != results[0].start_ps);
    work_free(work);
    rig_clear(&rig);
}

static void
permutation(void **state)
{
    uint32_t hosts[] = {3, 0, 2, 1, 4};
    struct work_params params = params_of(WORK_PERMUTATION);
    struct rig rig;

    (void)state;
    star(&rig, 5);
    params.hosts = hosts;
    params.n_hosts = 5;
    params.permutation = (struct work_permutation){.bytes = 1000, .shift = 2};
    struct work *work = new_work(&rig, &params);

    play(&rig, work, PARTITION_ONE);
    const struct flow_result *results = results_of(work, 5);
    const uint32_t to[] = {2, 1, 4, 3, 0};

    for (int i = 0; i < 5; i++) {
        assert_int_equal(results[i].src_host, hosts[i]);
        assert_int_equal(results[i].dst_host, to[i]);
        assert_int_equal(results[i].sent_ps, results[0].sent_ps);
    }
    work_free(work);

    params.permutation.shift = 5;
    expect_error(&rig, &params, "workload[0].shift: 5; allowed 1 to 4 with 5 hosts");
    params.permutation.shift = 0;
    expect_error(&rig, &params, "workload[0].shift: 0; allowed 1 to 4 with 5 hosts");
    params.n_hosts = 1;
    expect_error(&rig, &params, "workload[0].hosts: 1; a permutation needs at least 2");
    rig_clear(&rig);
}

/* K43's shape: all bytes through one port, one frame behind the other. */
static void
incast(void **state)
{
    uint32_t senders[] = {1, 2, 4};
    struct work_params params = params_of(WORK_INCAST);
    struct rig rig;

    (void)state;
    star(&rig, 5);
    params.senders = senders;
    params.n_senders = 3;
    params.receiver = 3;
    params.incast.bytes = 100 * 4096;
    struct work *work = new_work(&rig, &params);

    play(&rig, work, PARTITION_ONE);
    const struct flow_result *results = results_of(work, 3);
    int64_t last_ps = 0;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(results[i].src_host, senders[i]);
        assert_int_equal(results[i].dst_host, 3);
        last_ps = results[i].received_ps > last_ps ? results[i].received_ps : last_ps;
    }
    /* First frame through the first link and the switch, then 300 frames, three of them
     * with RETH, less the last gap. */
    assert_int_equal(last_ps, (4096 + 82 + 16 - 12) * 80 + DELAY + 300000 +
                                  (300 * 4178 + 3 * 16 - 12) * 80 + DELAY);
    work_free(work);

    params.n_senders = 0;
    expect_error(&rig, &params, "workload[0].senders: none; at least 1 is needed");
    rig_clear(&rig);
}

/* A flow cut into messages over three queue pairs: each gets its share, in turn. */
static void
messages_in_turn(void **state)
{
    struct work_flow list[] = {{.src = 0, .dst = 1, .bytes = 10 * 8192 + 100},
                               {.src = 0, .dst = 1, .bytes = 1}};
    struct work_params params = params_of(WORK_FLOWS);
    struct rig rig;

    (void)state;
    star(&rig, 2);
    params.flows = list;
    params.n_flows = 2;
    params.common.qps = 3;
    params.common.message_bytes = 8192;
    params.common.verb = WORK_WRITE_IMM;
    struct work *work = new_work(&rig, &params);

    play(&rig, work, PARTITION_ONE);
    const struct flow_result *results = results_of(work, 2);

    assert_int_equal(rig.net->n_connections, 3);
    /* 11 messages, the last one of 100 B: queue pairs 0 1 2 0 1 2 0 1 2 0 1; then 2. */
    assert_int_equal(net_qp(rig.net, 0, 1)->payload_received, 4 * 8192);
    assert_int_equal(net_qp(rig.net, 1, 1)->payload_received, 3 * 8192 + 100);
    assert_int_equal(net_qp(rig.net, 2, 1)->payload_received, 3 * 8192 + 1);
    /* 22 packets: RETH on each message's first, ImmDt on its last, padding; all of it
     * leaves one port without a gap. */
    assert_int_equal(rig_port(&rig, "host0", "leaf0")->out[3].tx_bytes,
                     10 * (8192 + 2 * 62 + 16 + 4) + 100 + 62 + 20 + 4 + 62 + 20);
    assert_true(results[0].sent_ps != TIME_NEVER_PS);
    work_free(work);
    rig_clear(&rig);
}

/* More messages than may be posted at a time: the flow still has its full rate, and never
 * more than FLOWS_DEPTH messages wait. */
static void
many_messages(void **state)
{
    struct work_flow list[] = {{.src = 0, .dst = 1, .bytes = 1000 * 4096}};
    const int64_t stops_ps[] = {100 * PS_PER_US, TIME_NEVER_PS};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct work_params params = params_of(WORK_FLOWS);
        struct rig rig;

        star(&rig, 2);
        params.flows = list;
        params.n_flows = 1;
        params.common.message_bytes = 4096;
        struct work *work = new_work(&rig, &params);

        rig_start(&rig, PARTITION_ONE, 1);
        work_start(work);
        rig_run(&rig, stops_ps[i]);
        const struct flow_result *results = results_of(work, 1);
        const struct qp *qp = net_qp(rig.net, 0, 0);

        if (i == 0) { /* every message is a packet */
            assert_int_equal(rig.net->end, NET_END_STOPPED);
            assert_int_equal(qp->snd_end - qp->snd_una, FLOWS_DEPTH);
        } else {
            assert_int_equal(results[0].received_ps,
                             (1000 * (4096 + 82 + 16) - 12) * 80 + DELAY + 300000 +
                                 (4096 + 82 + 16 - 12) * 80 + DELAY);
        }
        work_free(work);
        rig_clear(&rig);
    }
}

/* A host begins its next round when its own flows have ended, 'gap' later. */
static void
rounds(void **state)
{
    struct work_flow list[] = {
        {.src = 0, .dst = 2, .bytes = 4096},
        {.src = 1, .dst = 2, .bytes = 40960, .start_ps = 100 * PS_PER_US},
        {.src = 0, .dst = 1, .bytes = 4096, .start_ps = 20 * PS_PER_US},
    };
    struct work_params params = params_of(WORK_FLOWS);
    struct rig rig;

    (void)state;
    star(&rig, 3);
    params.flows = list;
    params.n_flows = 3;
    params.common.repeat = 4;
    params.common.gap_ps = 50 * PS_PER_US;
    struct work *work = new_work(&rig, &params);

    play(&rig, work, PARTITION_ONE);
    const struct flow_result *r = results_of(work, 12);

    for (int i = 1; i < 4; i++) {
        int64_t host0_ps = r[3 * (i - 1) + 2].sent_ps + params.common.gap_ps;
        int64_t host1_ps = r[3 * (i - 1) + 1].sent_ps + params.common.gap_ps;

        assert_int_equal(r[3 * i].start_ps, host0_ps);
        assert_int_equal(r[3 * i + 2].start_ps, host0_ps + 20 * PS_PER_US);
        assert_int_equal(r[3 * i + 1].start_ps, host1_ps + 100 * PS_PER_US);
        assert_true(r[3 * i].received_ps > host0_ps);
        assert_int_equal(r[3 * i].sent_ps - r[3 * i].start_ps,
                         r[0].sent_ps - r[0].start_ps);
    }
    assert_int_equal(rig.net->end, NET_END_DONE);
    work_free(work);
    rig_clear(&rig);
}

/* Hosts with two NICs: connections go round them, sending and receiving ones apart. */
static void
several_nics(void **state)
{
    struct work_params params = params_of(WORK_PERMUTATION);
    uint32_t hosts[] = {0, 1, 2};
    struct link_params link = {.rate_bps = RATE, .delay_ps = DELAY};
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, 3, RATE, DELAY);
    for (uint32_t i = 0; i < 3; i++) {
        net_add_link(rig.net, i, 3, &link);
    }
    rig_build(&rig);
    params.hosts = hosts;
    params.n_hosts = 3;
    params.permutation = (struct work_permutation){.bytes = 8000, .shift = 1};
    params.common.qps = 2;
    params.common.message_bytes = 4000;
    struct work *work = new_work(&rig, &params);

    play(&rig, work, PARTITION_ONE);
    results_of(work, 3);
    assert_int_equal(rig.net->n_nics, 6);
    for (uint32_t i = 0; i < 6; i++) {
        const struct port *port = rig.net->nics[i].port;

        assert_int_equal(port->out[3].tx_bytes, 4000 + 62 + 16 + 66); /* data, ACK */
        assert_int_equal(port->in[3].rx_bytes, 4000 + 62 + 16 + 66);
    }
    work_free(work);
    rig_clear(&rig);
}

static void
bad_lists(void **state)
{
    struct work_flow list[] = {{.src = 0, .dst = 1, .bytes = INT64_C(1) << 40},
                               {.src = 1, .dst = 1, .bytes = 5}};
    struct work_params params = params_of(WORK_FLOWS);
    struct rig rig;

    (void)state;
    star(&rig, 2);
    params.index = 4;
    params.flows = list;
    expect_error(&rig, &params, "workload[4]: no flows; at least one is needed");
    params.n_flows = 2;
    expect_error(&rig, &params,
                 "workload[4]: flow 1: host1 sends to itself; source and destination "
                 "must differ");
    list[1].src = 9;
    expect_error(&rig, &params, "workload[4]: flow 1: host 9; the last host is 1");
    list[1].src = 0;
    params.common.message_bytes = 1;
    expect_error(&rig, &params,
                 "workload[4].message: 1 B cuts flow 0 of 1099511627776 B into more than "
                 "2^32 messages");
    params.common.message_bytes = 0;
    params.common.repeat = INT64_C(1) << 31;
    expect_error(&rig, &params,
                 "workload[4].repeat: 2147483648 rounds of 2 flows; allowed are 2^32 "
                 "flows in all");
    rig_clear(&rig);
}

/* The link to the receiver dies: each flow says what it waits for. */
static void
unfinished(void **state)
{
    struct work_flow list[] = {
        {.src = 0, .dst = 2, .bytes = 100 * 4096},
        {.src = 1, .dst = 2, .bytes = 5000},
        {.src = 0, .dst = 1, .bytes = 1},
        {.src = 1, .dst = 2, .bytes = 1, .start_ps = PS_PER_S},
    };
    struct work_params params = params_of(WORK_FLOWS);
    struct fault down = {.at_ps = 20 * PS_PER_US, .kind = FAULT_DOWN};
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.ack_every = 1;
    rig.nic.retry_count = 0;
    rig.nic.ack_timeout = 1; /* 8 us */
    rig_star(&rig, 3, RATE, DELAY);
    rig_build(&rig);
    net_add_fault(rig.net, 2, &down);
    params.flows = list;
    params.n_flows = 4;
    params.common.repeat = 2;
    struct work *work = new_work(&rig, &params);

    play(&rig, work, PARTITION_NODE);
    assert_int_equal(rig.net->end, NET_END_QP_ERROR);
    const struct flow_result *results = results_of(work, 8);
    const struct qp *qp = net_qp(rig.net, 0, 0);

    assert_int_equal(results[0].sent_ps, TIME_NEVER_PS);
    assert_true(results[1].sent_ps < 20 * PS_PER_US);
    assert_true(results[2].sent_ps < 20 * PS_PER_US);
    work->ops->unfinished(work->state, lines, 2);
    assert_int_equal(lines->len, 3);
    g_autofree char *first =
        g_strdup_printf("workload[0]: flow 0 host0 -> host2: 409600 B, %lld B "
                        "acknowledged, QP 0x000011 gave up after 0 "
                        "retries",
                        (long long)qp->snd_una * 4096);
    assert_true(qp->snd_una > 40 && qp->snd_una < 60);
    assert_string_equal(lines->pdata[0], first);
    assert_string_equal(lines->pdata[1],
                        "workload[0]: flow 3 host1 -> host2: 1 B, not started");
    assert_string_equal(lines->pdata[2], "... and 4 more flows");
    work_free(work);
    rig_clear(&rig);
}

/* Many flows from few hosts, each partition: all end, and one result for all. */
static void
partitions(void **state)
{
    enum { N = 300 };
    struct work_flow list[N];
    uint64_t digest[3];
    int64_t sum_ps[3] = {0};

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t src = i * 7 % 5;

        list[i] = (struct work_flow){.src = src,
                                     .dst = (src + 1 + i * 3 % 4) % 5,
                                     .bytes = 1 + i * 997 % 50000,
                                     .start_ps = (int64_t)(i * 7919 % 300) * 100000};
    }
    for (int mode = 0; mode < 3; mode++) {
        struct work_params params = params_of(WORK_FLOWS);
        struct rig rig;

        rig_init(&rig, 3);
        rig.nic.jitter_ps = -1;
        rig_star(&rig, 5, RATE, DELAY);
        rig_build(&rig);
        params.flows = list;
        params.n_flows = N;
        params.common.qps = 2;
        params.common.message_bytes = 10000;
        params.common.repeat = 2;
        params.common.gap_ps = 3 * PS_PER_US;
        struct work *work = new_work(&rig, &params);

        play(&rig, work, (enum partition_mode)(PARTITION_ONE + mode));
        const struct flow_result *results = results_of(work, 2 * N);

        for (int i = 0; i < 2 * N; i++) {
            assert_true(results[i].received_ps < results[i].sent_ps);
            sum_ps[mode] += results[i].sent_ps + 3 * results[i].received_ps;
        }
        digest[mode] = rig_digest(&rig);
        work_free(work);
        rig_clear(&rig);
        assert_int_equal(sum_ps[mode], sum_ps[0]);
        assert_int_equal(digest[mode], digest[0]);
    }
}

/* A queue pair that was slow when it fell idle may post again much later, while its NIC still
 * fetches the message: there is no gap left that could be looked at. */
static void
slow_then_idle(void **state)
{
    uint32_t senders[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    struct work_params params = params_of(WORK_INCAST);
    uint32_t n_cnps = 0;
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig.nic.latency_ps = 600 * PS_PER_NS;
    rig_star(&rig, 17, RATE, DELAY);
    rig_dcqcn(&rig, "paper");
    rig_build(&rig);
    params.senders = senders;
    params.n_senders = 16;
    params.receiver = 0;
    params.incast.bytes = 1 << 20;
    params.common.repeat = 2;
    params.common.gap_ps = 5000 * PS_PER_US;
    struct work *work = new_work(&rig, &params);

    play(&rig, work, PARTITION_ONE);
    assert_int_equal(rig.net->end, NET_END_DONE);
    for (uint32_t i = 0; i < rig.net->n_qps; i++) {
        n_cnps += rig.net->qps[i].cnps_received;
    }
    assert_true(n_cnps > 16);
    work_free(work);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry),       cmocka_unit_test(list_of_flows),
        cmocka_unit_test(jitter),         cmocka_unit_test(permutation),
        cmocka_unit_test(incast),         cmocka_unit_test(messages_in_turn),
        cmocka_unit_test(many_messages),  cmocka_unit_test(rounds),
        cmocka_unit_test(several_nics),   cmocka_unit_test(bad_lists),
        cmocka_unit_test(unfinished),     cmocka_unit_test(partitions),
        cmocka_unit_test(slow_then_idle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
