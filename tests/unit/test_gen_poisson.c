/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_gen_poisson.c - flows at random times: the load that is offered, gaps, sizes and
 * destinations, the same whatever the partition; what is open-ended; all-to-all; incasts at
 * times of their own.
 */
#include <config.h>

#include "workloads/work.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <glib/gstdio.h>

#include "tests/support/data.h"
#include "tests/support/rig.h"

#define RATE (100 * GBPS)
#define DELAY (25 * PS_PER_NS)
#define MS (1000 * PS_PER_US)
#define PERCENT (PARAM_SHARE_ONE / 100)

/* Positions are host ids, but the last two are swapped. */
static uint32_t positions[] = {0, 1, 2, 3, 4, 5, 7, 6};

static struct work_params
params_of(enum work_kind kind)
{
    return (struct work_params){
        .kind = kind,
        .common = {.repeat = 1, .qps = 1},
        .incast = {.load_e18 = PARAM_SPECIAL, .until_ps = PARAM_SPECIAL},
        .hosts = positions,
        .n_hosts = 8};
}

static struct work_params
poisson_of(char *cdf, int64_t load_e18, int64_t until_ps)
{
    struct work_params params = params_of(WORK_POISSON);

    params.cdf = cdf;
    params.poisson = (struct work_poisson){.load_e18 = load_e18, .until_ps = until_ps};
    return params;
}

static void
star(struct rig *rig, uint64_t seed)
{
    rig_init(rig, seed);
    rig_star(rig, 8, RATE, DELAY);
    rig_build(rig);
}

static struct work *
new_work(struct rig *rig, const struct work_params *params)
{
    GError *error = NULL;
    struct work *work = work_new(rig->net, params, &error);

    if (work == NULL) {
        fail_msg("%s", error->message);
    }
    return work;
}

static const struct flow_result *
results_of(const struct work *work, uint32_t *n)
{
    return work->ops->flows(work->state, n);
}

static void
expect_near(double value, double wanted, double share)
{
    if (fabs(value - wanted) > share * wanted) {
        fail_msg("%.9g is not %.9g within %g of it", value, wanted, share);
    }
}

/* ---- what is offered ------------------------------------------------------------------ */

/* Payload of all flows over the rate of the links, within 2 %, over 300 thousand flows and
 * more; and the same number of flows a host, within 5 sigma. */
static void
offered_load(void **state)
{
    static const struct {
        const char *file;
        int64_t load_percent, until_ps;
    } cases[] = {
        {"workloads/cdf/AliStorage2019.json", 50, 300 * MS},
        {"workloads/cdf/FbHadoop.json", 80, 800 * MS},
        {"workloads/cdf/Solar2022.json", 100, 200 * MS},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *cdf = data_path(cases[i].file);
        struct work_params params =
            poisson_of(cdf, cases[i].load_percent * PERCENT, cases[i].until_ps);
        struct rig rig;
        double bytes = 0;
        uint32_t n, n_of_host[8] = {0};

        star(&rig, 3);
        struct work *work = new_work(&rig, &params);
        const struct flow_result *results = results_of(work, &n);

        for (uint32_t k = 0; k < n; k++) {
            bytes += (double)results[k].bytes;
            n_of_host[results[k].src_host]++;
        }
        assert_true(n > 300000);
        expect_near(bytes * 8 / (8.0 * RATE * (double)cases[i].until_ps / PS_PER_S),
                    (double)cases[i].load_percent / 100, 0.02);
        for (int h = 0; h < 8; h++) {
            expect_near(n_of_host[h], n / 8.0, 5 / sqrt(n / 8.0));
        }
        work_free(work);
        rig_clear(&rig);
    }
}

/* Every other host is as likely, and no host sends to itself; 5 sigma. */
static void
destinations(void **state)
{
    g_autofree char *cdf = data_path("workloads/cdf/AliStorage2019.json");
    struct work_params params = poisson_of(cdf, 50 * PERCENT, 50 * MS);
    uint32_t counts[8][8] = {{0}}, n;
    struct rig rig;

    (void)state;
    star(&rig, 4);
    struct work *work = new_work(&rig, &params);
    const struct flow_result *results = results_of(work, &n);

    for (uint32_t k = 0; k < n; k++) {
        counts[results[k].src_host][results[k].dst_host]++;
    }
    for (int a = 0; a < 8; a++) {
        assert_int_equal(counts[a][a], 0);
        for (int b = 0; b < 8; b++) {
            if (a != b) {
                expect_near(counts[a][b], n / 56.0, 5 / sqrt(n / 56.0));
            }
        }
    }
    /* One connection a pair. */
    assert_int_equal(rig.net->n_connections, 56);
    work_free(work);
    rig_clear(&rig);
}

/* ---- in a run ------------------------------------------------------------------------- */

/* Flows of one size, 1 byte: a file of the user's. */
static char *
tiny_cdf(void)
{
    char *path = g_build_filename(g_get_tmp_dir(), "poisson-test.cdf", NULL);

    assert_true(g_file_set_contents(path, "1 0\n1 100\n", -1, NULL));
    return path;
}

/* Mean and variance of the gaps of a host that are exponential: the mean is that of the
 * load, 8 bits over 0.01 % of 100 Gb/s = 800 ns; nothing starts at the end or later. */
static void
gaps(void **state)
{
    g_autofree char *cdf = tiny_cdf();
    struct work_params params = poisson_of(cdf, PERCENT / 100, 10 * MS);
    struct rig rig;
    double sum = 0, squares = 0;
    uint32_t n;

    (void)state;
    params.common.start_ps = 2 * MS;
    star(&rig, 5);
    struct work *work = new_work(&rig, &params);

    rig_start(&rig, PARTITION_ONE, 1);
    work_start(work);
    rig_run(&rig, TIME_NEVER_PS);
    assert_int_equal(rig.net->end, NET_END_DONE);
    const struct flow_result *results = results_of(work, &n);

    expect_near(n, 8 * 10000, 0.02);
    for (uint32_t i = 0; i < n; i++) {
        bool is_first = i == 0 || results[i].src_host != results[i - 1].src_host;
        int64_t before_ps = is_first ? 2 * MS : results[i - 1].start_ps;
        double gap_us = (double)(results[i].start_ps - before_ps) / PS_PER_US;

        assert_true(gap_us >= 0 && results[i].start_ps < 10 * MS);
        assert_true(results[i].sent_ps > results[i].start_ps &&
                    results[i].sent_ps != TIME_NEVER_PS);
        sum += gap_us;
        squares += gap_us * gap_us;
    }
    expect_near(sum / n, 0.8, 0.02);
    expect_near(squares / n - sum / n * sum / n, 0.64, 0.05);
    assert_int_equal(work->ops->optional(work->state), 0);
    work_free(work);
    rig_clear(&rig);
    g_unlink(cdf);
}

/* The first flows of seed 1, which may never change, and the same with other partitions; with
 * one connection a flow likewise, in which they take other times. */
static void
partitions(void **state)
{
    static const enum partition_mode modes[] = {PARTITION_ONE, PARTITION_NODE,
                                                PARTITION_NODE};
    g_autofree char *cdf = data_path("workloads/cdf/FbHadoop.json");
    uint64_t digest[2][3];

    (void)state;
    for (int connect = 0; connect < 2; connect++) {
        for (uint32_t way = 0; way < 3; way++) {
            struct work_params params = poisson_of(cdf, 60 * PERCENT, 2 * MS);
            struct rig rig;
            uint32_t n;

            params.common.connect = connect;
            star(&rig, 1);
            struct work *work = new_work(&rig, &params);

            rig_start(&rig, modes[way], way + 1);
            work_start(work);
            rig_run(&rig, TIME_NEVER_PS);
            const struct flow_result *results = results_of(work, &n);

            assert_int_equal(n, 961);
            assert_int_equal(results[0].bytes, 32340);
            assert_int_equal(results[0].dst_host, 7);
            assert_int_equal(results[0].start_ps, 26302296);
            assert_int_equal(rig.net->n_connections, connect ? n : 56);
            digest[connect][way] = rig_digest(&rig);
            for (uint32_t i = 0; i < n; i++) {
                digest[connect][way] =
                    digest[connect][way] * 31 + (uint64_t)results[i].sent_ps;
            }
            work_free(work);
            rig_clear(&rig);
        }
        assert_int_equal(digest[connect][0], digest[connect][1]);
        assert_int_equal(digest[connect][0], digest[connect][2]);
    }
    assert_int_not_equal(digest[0][0], digest[1][0]);
}

/* Stopped in the middle: what has not ended need not; what has not begun is shown so. */
static void
open_ended(void **state)
{
    g_autofree char *cdf = data_path("workloads/cdf/FbHadoop.json");
    struct work_params params = poisson_of(cdf, 60 * PERCENT, 2 * MS);
    int64_t n_open = 0;
    struct rig rig;
    uint32_t n, n_not_begun = 0;

    (void)state;
    star(&rig, 1);
    params.is_open_ended = true;
    struct work *work = new_work(&rig, &params);

    rig_start(&rig, PARTITION_NODE, 1);
    work_start(work);
    rig_run(&rig, MS);
    assert_int_equal(rig.net->end, NET_END_STOPPED);
    const struct flow_result *results = results_of(work, &n);

    for (uint32_t i = 0; i < n; i++) {
        assert_true(results[i].bytes > 0);
        n_open += results[i].sent_ps == TIME_NEVER_PS;
        n_not_begun += results[i].start_ps == TIME_NEVER_PS;
        assert_true(results[i].start_ps == TIME_NEVER_PS || results[i].start_ps <= MS);
    }
    assert_int_equal(n, 961);
    assert_true(n_not_begun > 350 && n_not_begun < 600);
    assert_int_equal(work->ops->optional(work->state), n_open);
    assert_int_equal(net_n_ops(rig.net), n_open);
    work_free(work);
    rig_clear(&rig);
}

static void
refused(void **state)
{
    g_autofree char *cdf = data_path("workloads/cdf/WebSearch.json");
    struct work_params params = poisson_of(cdf, 50 * PERCENT, 86400 * PS_PER_S);
    struct rig rig;
    GError *error = NULL;

    (void)state;
    star(&rig, 1);
    params.n_hosts = 1;
    assert_null(work_new(rig.net, &params, &error));
    assert_string_equal(error->message, "workload[0].hosts: 1; at least 2 are needed");
    g_clear_error(&error);

    params.n_hosts = 8;
    params.cdf = (char *)(uintptr_t) "nowhere.cdf";
    assert_null(work_new(rig.net, &params, &error));
    assert_true(g_str_has_prefix(error->message, "workload[0].cdf: nowhere.cdf: "));
    g_clear_error(&error);

    params.cdf = tiny_cdf();
    params.poisson.load_e18 = PARAM_SHARE_ONE;
    assert_null(work_new(rig.net, &params, &error));
    assert_true(g_str_has_suffix(error->message, " flows; allowed are 100000000"));
    g_clear_error(&error);
    params.common.connect = WORK_CONNECT_FLOW;
    assert_null(work_new(rig.net, &params, &error));
    assert_true(g_str_has_suffix(error->message,
                                 " flows; allowed are 10000000 with connect \"flow\""));
    g_clear_error(&error);
    g_unlink(params.cdf);
    g_free(params.cdf);
    rig_clear(&rig);
}

/* ---- incasts at times of their own, all-to-all ---------------------------------------- */

static void
incast_fixed(void **state)
{
    uint32_t senders[] = {1, 2, 4};
    struct work_params params = params_of(WORK_INCAST);
    struct rig rig;
    uint32_t n;

    (void)state;
    params.senders = senders;
    params.n_senders = 3;
    params.receiver = 6;
    params.incast.bytes = 5000;
    params.incast.arrivals = WORK_ARRIVALS_FIXED;
    params.common.start_ps = 3 * PS_PER_US;
    params.common.gap_ps = 10 * PS_PER_US;
    params.common.repeat = 4;
    star(&rig, 1);
    struct work *work = new_work(&rig, &params);

    rig_start(&rig, PARTITION_ONE, 1);
    work_start(work);
    rig_run(&rig, TIME_NEVER_PS);
    const struct flow_result *results = results_of(work, &n);

    assert_int_equal(n, 12);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(results[i].src_host, senders[i % 3]);
        assert_int_equal(results[i].dst_host, 6);
        assert_int_equal(results[i].start_ps, (3 + 10 * (i / 3)) * PS_PER_US);
    }
    work_free(work);
    rig_clear(&rig);

    /* Until instead of a number: at 3, 13, 23 us. */
    star(&rig, 1);
    params.incast.until_ps = 33 * PS_PER_US;
    params.common.repeat = 1;
    work = new_work(&rig, &params);
    results_of(work, &n);
    assert_int_equal(n, 9);
    work_free(work);
    rig_clear(&rig);
}

/* Random senders and receivers: all different in an event, each host as likely, the load
 * within 2 %, as many events as that makes. */
static void
incast_random(void **state)
{
    struct work_params params = params_of(WORK_INCAST);
    uint32_t n, n_sent[8] = {0}, n_received[8] = {0};
    struct rig rig;

    (void)state;
    params.n_senders = 5;
    params.receiver = UINT32_MAX;
    params.incast = (struct work_incast){.bytes = 20000,
                                         .load_e18 = 2 * PERCENT,
                                         .until_ps = 1000 * MS,
                                         .arrivals = WORK_ARRIVALS_POISSON,
                                         .choice = WORK_CHOICE_RANDOM};
    star(&rig, 2);
    struct work *work = new_work(&rig, &params);
    const struct flow_result *results = results_of(work, &n);

    /* 2 % of 800 Gb/s are 20000 events of 5 x 20 kB a second. */
    expect_near(n, 5 * 20000, 0.02);
    for (uint32_t i = 0; i < n; i += 5) {
        unsigned seen = 1u << results[i].dst_host;

        n_received[results[i].dst_host]++;
        for (uint32_t k = i; k < i + 5; k++) {
            assert_int_equal(results[k].dst_host, results[i].dst_host);
            assert_int_equal(seen >> results[k].src_host & 1, 0);
            seen |= 1u << results[k].src_host;
            n_sent[results[k].src_host]++;
        }
    }
    for (int h = 0; h < 8; h++) {
        expect_near(n_received[h], n / 40.0, 5 / sqrt(n / 40.0));
        expect_near(n_sent[h], n / 8.0, 5 / sqrt(n / 8.0));
    }
    work_free(work);

    /* With a receiver given that is always it, and the others send, all of them if need be. */
    params.receiver = 3;
    params.n_senders = 7;
    params.incast.until_ps = MS;
    work = new_work(&rig, &params);
    results = results_of(work, &n);
    assert_true(n > 0 && n % 7 == 0);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(results[i].dst_host, 3);
        assert_int_not_equal(results[i].src_host, 3);
    }
    work_free(work);
    rig_clear(&rig);
}

static void
all_to_all(void **state)
{
    struct work_params params = params_of(WORK_ALL_TO_ALL);
    uint32_t n, counts[8][8] = {{0}};
    struct rig rig;

    (void)state;
    params.all_to_all.bytes = 9000;
    star(&rig, 1);
    struct work *work = new_work(&rig, &params);

    rig_start(&rig, PARTITION_ONE, 1);
    work_start(work);
    rig_run(&rig, TIME_NEVER_PS);
    const struct flow_result *results = results_of(work, &n);

    assert_int_equal(n, 56);
    for (uint32_t i = 0; i < n; i++) {
        counts[results[i].src_host][results[i].dst_host]++;
        assert_int_equal(results[i].bytes, 9000);
        assert_true(results[i].received_ps != TIME_NEVER_PS);
    }
    for (int a = 0; a < 8; a++) {
        for (int b = 0; b < 8; b++) {
            assert_int_equal(counts[a][b], a != b);
        }
    }
    work_free(work);
    params.n_hosts = 1;
    GError *error = NULL;

    assert_null(work_new(rig.net, &params, &error));
    assert_string_equal(error->message,
                        "workload[0].hosts: 1; allowed are 2 to 10000, a flow "
                        "from each to each other");
    g_clear_error(&error);
    rig_clear(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offered_load), cmocka_unit_test(destinations),
        cmocka_unit_test(gaps),         cmocka_unit_test(partitions),
        cmocka_unit_test(open_ended),   cmocka_unit_test(refused),
        cmocka_unit_test(incast_fixed), cmocka_unit_test(incast_random),
        cmocka_unit_test(all_to_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
