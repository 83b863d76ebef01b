/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_series.c - series.csv: what goes in comes out, thinned when it becomes too much.
 * Thinning is checked against a plain account of bytes by port and interval.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib/gstdio.h>

#include "sim/rng.h"
#include "tests/support/rig.h"
#include "tools/results/series.h"

#define INTERVAL_PS (10 * PS_PER_US)
#define N_PORTS 4

struct bench {
    struct rig rig;
    char *parent;
    struct outdir *dir;
    struct series *series;
};

static void
begin(struct bench *bench, uint32_t max_records)
{
    g_autofree char *path = NULL;

    rig_init(&bench->rig, 1);
    rig_star(&bench->rig, 2, 100 * GBPS, 1000);
    rig_build(&bench->rig);
    bench->rig.net->sample_ps = INTERVAL_PS;
    bench->parent = g_dir_make_tmp("series-XXXXXX", NULL);
    path = g_build_filename(bench->parent, "r", NULL);
    bench->dir = outdir_new(path, FALSE, NULL);
    assert_non_null(bench->dir);
    bench->series = series_new(bench->dir, bench->rig.net, max_records, false, NULL);
    assert_non_null(bench->series);
}

/* Ends the files; returns the text of 'name', owned by the caller. */
static char *
end(struct bench *bench, const char *name, int64_t *interval_ps)
{
    g_autofree char *path = g_build_filename(bench->dir->temp, name, NULL);
    char *text = NULL;

    assert_true(series_finish(bench->series, 1000 * PS_PER_MS, interval_ps, NULL, NULL));
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    series_free(bench->series);
    outdir_discard(bench->dir);
    assert_int_equal(g_rmdir(bench->parent), 0); /* nothing is left in it */
    g_free(bench->parent);
    rig_clear(&bench->rig);
    return text;
}

static void
give(struct bench *bench, int64_t step, uint32_t port, int64_t queue, int64_t sent,
     int64_t paused)
{
    const struct probe_record record = {.time_ps = step * INTERVAL_PS,
                                        .object = port,
                                        .cls = 3,
                                        .kind = PROBE_QUEUE,
                                        .a = queue,
                                        .b = sent,
                                        .c = paused};
    struct probe_sink sink = series_sink(bench->series);

    sink.on_record(sink.ctx, &record);
}

static void
test_samples_are_lines(void **state)
{
    struct bench bench;
    int64_t interval_ps;

    (void)state;
    begin(&bench, 100);
    give(&bench, 1, 0, 0, 125000, 0);
    give(&bench, 1, 2, 4096, 1, 1);
    give(&bench, 2, 0, 0, 0, 0);

    g_autofree char *text = end(&bench, "series.csv", &interval_ps);

    /* 125 kB in 10 us are 100 Gb/s. */
    assert_string_equal(text,
                        "time_us,port,class,queue_bytes,rate_gbps,paused,qp,sent_gbps\n"
                        "10,host0:0,3,0,100,0,,\n"
                        "10,leaf0:0,3,4096,0.0008,1,,\n"
                        "20,host0:0,3,0,0,0,,\n");
    assert_int_equal(interval_ps, INTERVAL_PS);
}

static void
test_pauses_are_lines(void **state)
{
    struct bench bench;
    int64_t interval_ps;

    (void)state;
    begin(&bench, 100);

    const struct probe_record record = {.time_ps = 3 * PS_PER_US,
                                        .object = 2,
                                        .cls = 3,
                                        .kind = PROBE_PAUSE,
                                        .a = 1 * PS_PER_US,
                                        .b = 3,
                                        .c = 1};
    struct probe_sink sink = series_sink(bench.series);

    sink.on_record(sink.ctx, &record);
    /* One that still holds. */
    bench.rig.net->ports[3].in[4] =
        (struct in_class){.xoff = true, .xoff_at_ps = 999 * PS_PER_MS, .xoff_cause = 2};

    g_autofree char *text = end(&bench, "pfc.csv", &interval_ps);

    assert_string_equal(text, "time_us,port,class,duration_us,cause_port,"
                              "paused_port,cause_held\n"
                              "1,leaf0:0,3,2,leaf0:1,host0:0,1\n"
                              "999000,leaf0:1,4,1000,leaf0:0,host1:0,0\n");
}

static void
test_a_dropped_sample_s_bytes_go_to_the_next(void **state)
{
    struct bench bench;
    int64_t interval_ps;

    (void)state;
    begin(&bench, 2);
    give(&bench, 1, 0, 9, 10000, 1);
    give(&bench, 2, 0, 8, 20000, 0);
    give(&bench, 3, 0, 7, 40000, 0); /* here two are too many */
    give(&bench, 5, 1, 6, 80000, 0);

    g_autofree char *text = end(&bench, "series.csv", &interval_ps);

    /* Sample 3 goes to 4, which nobody took: port 0 was at rest.  One more
     * shows the rest. */
    assert_int_equal(interval_ps, 2 * INTERVAL_PS);
    assert_string_equal(text,
                        "time_us,port,class,queue_bytes,rate_gbps,paused,qp,sent_gbps\n"
                        "20,host0:0,3,8,12,0,,\n"
                        "40,host0:0,3,0,16,0,,\n"
                        "60,host0:0,3,0,0,0,,\n"
                        "60,host1:0,3,0,32,0,,\n"
                        "80,host1:0,3,0,0,0,,\n");
}

/* What a queue pair has sent is thinned as bytes of ports are; the rate is that of then. */
static void
test_rates_of_queue_pairs(void **state)
{
    struct bench bench;
    int64_t interval_ps;

    (void)state;
    begin(&bench, 2);
    rig_flow(&bench.rig, 0, 1, 4096, 0);
    rig_start(&bench.rig, PARTITION_ONE, 1);

    struct probe_sink sink = series_sink(bench.series);

    for (int64_t step = 1; step <= 4; step++) {
        const struct probe_record record = {.time_ps = step * INTERVAL_PS,
                                            .object = 0,
                                            .cls = 3,
                                            .kind = PROBE_RATE,
                                            .a = step * 10 * GBPS,
                                            .b = step * 12500};

        sink.on_record(sink.ctx, &record);
    }

    g_autofree char *text = end(&bench, "series.csv", &interval_ps);

    /* 12500 B in 10 us are 10 Gb/s; over 20 us 10 and 20 are 15, 30 and 40 are 35. */
    assert_int_equal(interval_ps, 2 * INTERVAL_PS);
    assert_string_equal(text,
                        "time_us,port,class,queue_bytes,rate_gbps,paused,qp,sent_gbps\n"
                        "20,host0:0,3,,20,,0x000011,15\n"
                        "40,host0:0,3,,40,,0x000011,35\n");
}

/* Bytes of each port up to each time, as a list of lines says. */
static void
sum_lines(const char *text, double interval_us, int64_t sum[N_PORTS], int64_t *n_lines,
          double *last_us)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    *n_lines = 0;
    *last_us = 0;
    for (char **line = lines + 1; *line && **line; line++) {
        g_auto(GStrv) fields = g_strsplit(*line, ",", -1);
        uint32_t port =
            (uint32_t)(g_str_has_prefix(fields[1], "host") ? fields[1][4] - '0'
                                                           : 2 + fields[1][6] - '0');
        double time_us = g_ascii_strtod(fields[0], NULL);

        assert_true(time_us >= *last_us);
        *last_us = time_us;
        /* Gb/s x us are 125 B. */
        sum[port] += (int64_t)(g_ascii_strtod(fields[4], NULL) * interval_us * 125 + 0.5);
        (*n_lines)++;
    }
}

static void
test_thinning_keeps_all_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        uint64_t key = rng_key(seed, "series", "test"), n = 0;
        int64_t given[N_PORTS] = {0}, found[N_PORTS] = {0};
        uint32_t most = 20 + (uint32_t)rng_below(key, n++, 60);
        int64_t interval_ps, n_lines;
        double last_us;
        struct bench bench;

        begin(&bench, most);
        for (int64_t step = 1; step <= 300; step++) {
            for (uint32_t port = 0; port < N_PORTS; port++) {
                if (rng_below(key, n++, 3) == 0) {
                    int64_t sent = (int64_t)rng_below(key, n++, 1000) * 1000;

                    give(&bench, step, port, (int64_t)rng_below(key, n++, 5), sent, 0);
                    given[port] += sent;
                }
            }
        }

        g_autofree char *text = end(&bench, "series.csv", &interval_ps);

        sum_lines(text, (double)interval_ps / 1e6, found, &n_lines, &last_us);
        for (uint32_t port = 0; port < N_PORTS; port++) {
            assert_int_equal(found[port], given[port]);
        }
        /* A step's samples may come on top, and the rest that is shown at the end. */
        assert_true(n_lines <= most + 3 * N_PORTS);
        assert_true(interval_ps > INTERVAL_PS && interval_ps % INTERVAL_PS == 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_lines),
        cmocka_unit_test(test_pauses_are_lines),
        cmocka_unit_test(test_a_dropped_sample_s_bytes_go_to_the_next),
        cmocka_unit_test(test_rates_of_queue_pairs),
        cmocka_unit_test(test_thinning_keeps_all_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
