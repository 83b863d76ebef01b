/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_gen_trace.c - traces replayed: order, time stamps, dependencies, what runs side by
 * side, hosts, what is left out or not supported, and the example log.
 *
 * The logs are those of the reader's tests; what they hold is in their files `expected'.
 */
#include <config.h>

#include "workloads/nccl/player.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/data.h"
#include "tests/support/job.h"
#include "workloads/trace/trace.h"

/* ---- traces ------------------------------------------------------------------------ */

/* A file of the source tree as the paths of a workload. */
static void
set_path(struct job *job, const char *below)
{
    job->params.paths = g_new0(char *, 2);
    job->params.paths[0] = data_path(below);
}

static void
trace_clear(struct job *job)
{
    g_strfreev(job->params.paths);
    job_clear(job);
}

static void
trace_star(struct job *job, uint32_t n_hosts, const char *below)
{
    rig_init(&job->rig, 1);
    rig_star(&job->rig, n_hosts, JOB_RATE_BPS, JOB_DELAY_PS);
    rig_build(&job->rig);
    job_params(job, WORK_TRACE, 1);
    job->work = NULL;
    set_path(job, below);
}

/* Operations in the order of the log, one result each, 'gap' between them. */
static void
trace_in_order(void **state)
{
    const int64_t bytes[] = {4, 8, 12, 16};
    struct job job;

    (void)state;
    trace_star(&job, 2, "tests/data/nccl-log/valid/grouped/input.log");
    job.params.common.gap_ps = 50 * PS_PER_US;
    job.params.common.repeat = 2;
    job_play(&job);
    const struct call_result *calls = job_calls(&job, 8);

    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(calls[i].bytes, bytes[i % 4]);
        assert_int_equal(calls[i].n_ranks, 2);
        assert_true(job_took_ps(&calls[i]) < 5 * PS_PER_US);
        if (i > 0) {
            assert_in_range(calls[i].start_ps, calls[i - 1].end_ps + 49 * PS_PER_US,
                            calls[i - 1].end_ps + 50 * PS_PER_US);
        }
    }
    trace_clear(&job);
}

/* A rank begins an operation not before its time stamp; the last one ends it. */
static void
trace_times(void **state)
{
    struct job job;

    (void)state;
    trace_star(&job, 2, "tests/data/nccl-log/valid/timestamps/input.log");
    job.params.common.start_ps = PS_PER_US;
    job.params.common.gap_ps = PS_PER_S; /* not asked: there are time stamps */
    job_play(&job);
    const struct call_result *calls = job_calls(&job, 2);

    assert_int_equal(calls[0].start_ps, PS_PER_US);
    assert_in_range(calls[0].end_ps, 126 * PS_PER_US, 130 * PS_PER_US);
    assert_int_equal(calls[1].start_ps, INT64_C(2750002000000));
    assert_in_range(calls[1].end_ps, INT64_C(3250001000000), INT64_C(3250005000000));
    trace_clear(&job);
}

/* Hosts of the log take those of the workload in order, whichever these are. */
static void
trace_places(void **state)
{
    struct job job;

    (void)state;
    trace_star(&job, 4, "tests/data/nccl-log/valid/grouped/input.log");
    job.params.hosts[0] = 3;
    job.params.hosts[1] = 1;
    job_play(&job);
    for (uint32_t h = 0; h < 4; h++) {
        assert_int_equal(job_payload_bytes(&job, h) > 0, h == 1 || h == 3);
    }
    trace_clear(&job);
}

static void
expect_trace_error(struct job *job, const char *end)
{
    GError *error = NULL;

    assert_null(work_new(job->rig.net, &job->params, &error));
    assert_non_null(error);
    if (!g_str_has_prefix(error->message, "workload[0]: ") ||
        !g_str_has_suffix(error->message, end)) {
        fail_msg("%s", error->message);
    }
    g_error_free(error);
    trace_clear(job);
}

static void
trace_errors(void **state)
{
    struct job job;

    (void)state;
    trace_star(&job, 2, "tests/data/nccl-log/valid/all-kinds/input.log");
    expect_trace_error(
        &job, "all-kinds/input.log:5: all_gather is not supported yet; only "
              "all_reduce and compute are, and \"skip\": [\"all_gather\"] leaves "
              "it out");
    trace_star(&job, 1, "tests/data/nccl-log/valid/grouped/input.log");
    expect_trace_error(&job, "grouped/input.log: ranks run on 2 hosts (node-a, ...); the "
                             "workload has 1");
    trace_star(&job, 8, "workloads/examples/gpt2-64ranks-nccl.log");
    expect_trace_error(&job, "gpt2-64ranks-nccl.log: host gpu-a01 has more than 1 ranks; "
                             "node.gpus is 1");
    trace_star(&job, 2, "tests/data/nccl-log/valid/grouped/input.log");
    job.params.format = (char *)"chakra";
    expect_trace_error(&job,
                       "grouped/input.log is of format nccl_log; 'format' says chakra");
    trace_star(&job, 2, "tests/data/nccl-log/none");
    job.params.index = 0;
    GError *error = NULL;

    assert_null(work_new(job.rig.net, &job.params, &error));
    assert_true(g_str_has_prefix(error->message, "workload[0]: "));
    g_error_free(error);
    trace_clear(&job);
}

/* What the reader had to guess is passed on. */
static void
trace_warnings(void **state)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    struct job job;

    (void)state;
    trace_star(&job, 2, "tests/data/nccl-log/valid/bracket-no-init/input.log");
    job_new(&job);
    job.work->ops->warnings(job.work->state, lines);
    assert_int_equal(lines->len, 1);
    assert_true(g_str_has_prefix(g_ptr_array_index(lines, 0),
                                 "workload[0]: no INIT lines: ranks are those of"));
    trace_clear(&job);
}

/* The example: 64 ranks on 8 hosts, 16 channels with the log's own rings.  Each channel's
 * ring leaves a host once, so each host sends 2 (n - 1) / n of all operations. */
static void
trace_example(void **state)
{
    int64_t data_bytes = 0;
    uint32_t n;
    struct job job;

    (void)state;
    job_star_nics(&job, 8, 8, 8);
    set_path(&job, "workloads/examples/gpt2-64ranks-nccl.log");
    job.params.kind = WORK_TRACE;
    job_play(&job);
    const struct call_result *calls = job.work->ops->calls(job.work->state, &n);

    assert_int_equal(n, 17);
    assert_int_equal(job.rig.net->n_connections, 8 * 16);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(calls[i].n_ranks, 64);
        assert_true(job_took_ps(&calls[i]) >= calls[i].bound_ps);
        assert_true(calls[i].bytes < 20 * MIB ||
                    job_took_ps(&calls[i]) <= calls[i].bound_ps * 13 / 10);
        assert_true(i == 0 || calls[i].start_ps > calls[i - 1].start_ps);
        data_bytes += calls[i].bytes;
    }
    for (uint32_t h = 0; h < 8; h++) {
        /* chunks are whole multiples of 16 B, so the shares are not quite equal */
        assert_in_range(job_streams(&job, h, 0).bytes * 1000 / (2 * 63 * data_bytes / 64),
                        999, 1001);
    }
    trace_clear(&job);
}

/* ---- graphs ------------------------------------------------------------------------ */

#define HEADER                                                                           \
    "{\"rocesim_trace\": 1, \"ranks\": 2, \"hosts\": [{\"name\": \"x\", \"ranks\": "     \
    "[0]}, "                                                                             \
    "{\"name\": \"y\", \"ranks\": [1]}], \"groups\": [{\"name\": \"a\", \"ranks\": [0, " \
    "1]}, "                                                                              \
    "{\"name\": \"b\", \"ranks\": [0, 1]}]}\n"

/* Two hosts on a switch, and a trace of 'lines'. */
static void
graph_star(struct job *job, const char *lines)
{
    const char *folder = g_getenv("TMPDIR");
    g_autofree char *text = g_strconcat(HEADER, lines, NULL);

    rig_init(&job->rig, 1);
    rig_star(&job->rig, 2, JOB_RATE_BPS, JOB_DELAY_PS);
    rig_build(&job->rig);
    job_params(job, WORK_TRACE, 1);
    job->work = NULL;
    job->params.paths = g_new0(char *, 2);
    job->params.paths[0] =
        g_build_filename(folder ? folder : g_get_tmp_dir(), "graph.jsonl", NULL);
    assert_true(g_file_set_contents(job->params.paths[0], text, -1, NULL));
}

/* A rank waits for what it takes part in, and then for the delay. */
static void
graph_delay(void **state)
{
    struct job job;

    (void)state;
    graph_star(
        &job,
        "{\"id\": 0, \"kind\": \"compute\", \"rank\": 0, \"duration_ns\": 10000}\n"
        "{\"kind\": \"all_reduce\", \"bytes\": 64, \"after\": 0, \"delay_ns\": 2000}\n");
    job_play(&job);
    const struct call_result *calls = job_calls(&job, 1);

    assert_int_equal(calls[0].start_ps, 2 * PS_PER_US); /* rank 1 has not computed */
    assert_in_range(calls[0].end_ps, 12 * PS_PER_US + 1, 17 * PS_PER_US);
    trace_clear(&job);
}

/* Groups run side by side, and computing beside them; 'after' holds them apart. */
static void
graph_side_by_side(void **state)
{
    struct job job;
    int64_t alone_ps;

    (void)state;
    graph_star(&job,
               "{\"kind\": \"all_reduce\", \"group\": \"a\", \"bytes\": 4194304}\n");
    job_play(&job);
    alone_ps = job_calls(&job, 1)[0].end_ps;
    trace_clear(&job);

    graph_star(&job, "{\"kind\": \"all_reduce\", \"group\": \"a\", \"bytes\": 4194304}\n"
                     "{\"kind\": \"compute\", \"duration_ns\": 3000}\n"
                     "{\"kind\": \"compute\", \"duration_ns\": 4000}\n"
                     "{\"id\": 3, \"kind\": \"compute\", \"duration_ns\": 0}\n"
                     "{\"kind\": \"all_reduce\", \"group\": \"b\", \"bytes\": 4194304, "
                     "\"after\": 3}\n");
    job_play(&job);
    const struct call_result *calls = job_calls(&job, 2);

    assert_int_equal(calls[0].start_ps, 0);
    assert_int_equal(calls[1].start_ps, 7 * PS_PER_US);
    assert_true(calls[1].start_ps < calls[0].end_ps);
    /* they share the links: together as long as one after the other */
    assert_in_range(MAX(calls[0].end_ps, calls[1].end_ps), 19 * alone_ps / 10,
                    21 * alone_ps / 10);
    trace_clear(&job);

    graph_star(
        &job,
        "{\"id\": 0, \"kind\": \"all_reduce\", \"group\": \"a\", \"bytes\": 4194304}\n"
        "{\"kind\": \"all_reduce\", \"group\": \"b\", \"bytes\": 4194304, \"after\": "
        "0}\n");
    job_play(&job);
    calls = job_calls(&job, 2);
    assert_int_equal(calls[0].end_ps, alone_ps);
    assert_in_range(calls[1].start_ps, calls[0].end_ps - PS_PER_US, calls[0].end_ps);
    trace_clear(&job);

    /* of one group they follow each other anyhow */
    graph_star(&job, "{\"kind\": \"all_reduce\", \"bytes\": 4194304}\n"
                     "{\"kind\": \"all_reduce\", \"bytes\": 4194304}\n");
    job_play(&job);
    calls = job_calls(&job, 2);
    assert_in_range(calls[1].start_ps, calls[0].end_ps - PS_PER_US, calls[0].end_ps);
    trace_clear(&job);
}

/* Times of single ranks, from the start of each round. */
static void
graph_times(void **state)
{
    struct job job;

    (void)state;
    graph_star(&job, "{\"id\": 0, \"kind\": \"all_reduce\", \"bytes\": 64, \"at_ns\": "
                     "[30000, 20000]}\n"
                     "{\"kind\": \"compute\", \"rank\": 1, \"duration_ns\": 5000, "
                     "\"after\": 0, \"at_ns\": 90000}\n");
    job.params.common.start_ps = PS_PER_US;
    job.params.common.repeat = 2;
    job.params.common.gap_ps = 100 * PS_PER_US;
    job_play(&job);
    const struct call_result *calls = job_calls(&job, 2);

    assert_int_equal(calls[0].start_ps, 21 * PS_PER_US);
    assert_in_range(calls[0].end_ps, 31 * PS_PER_US, 35 * PS_PER_US);
    /* rank 0's round ends with the call, rank 1's at 96 us */
    assert_in_range(calls[1].start_ps, calls[0].end_ps + 129 * PS_PER_US,
                    calls[0].end_ps + 130 * PS_PER_US);
    assert_in_range(calls[1].end_ps, 216 * PS_PER_US, 220 * PS_PER_US);
    trace_clear(&job);
}

/* What is left out takes no time; what waits for it waits for what it waited for. */
static void
graph_skip(void **state)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    struct job job;

    (void)state;
    graph_star(
        &job,
        "{\"id\": 0, \"kind\": \"compute\", \"duration_ns\": 10000}\n"
        "{\"id\": 1, \"kind\": \"all_gather\", \"bytes\": 64, \"after\": 0, "
        "\"delay_ns\": 5000}\n"
        "{\"id\": 2, \"kind\": \"all_to_all\", \"bytes\": 64, \"after\": 1, \"at_ns\": "
        "99000}\n"
        "{\"kind\": \"all_reduce\", \"bytes\": 64, \"after\": 2, \"delay_ns\": 1000}\n");
    job.params.skip = 1u << TRACE_ALL_GATHER | 1u << TRACE_ALL_TO_ALL;
    job_play(&job);
    assert_int_equal(job_calls(&job, 1)[0].start_ps, 11 * PS_PER_US);
    job.work->ops->notes(job.work->state, lines);
    assert_int_equal(lines->len, 1);
    assert_string_equal(g_ptr_array_index(lines, 0),
                        "workload[0]: 2 of 4 operations of the trace are left out by "
                        "'skip': 1 all_gather, 1 all_to_all");
    trace_clear(&job);
}

/* Kinds of a log are left out, too; not all of them. */
static void
log_skip(void **state)
{
    struct job job;

    (void)state;
    trace_star(&job, 2, "tests/data/nccl-log/valid/all-kinds/input.log");
    job.params.skip = ~(1u << TRACE_ALL_REDUCE);
    job_play(&job);
    job_calls(&job, 2);
    trace_clear(&job);
    trace_star(&job, 2, "tests/data/nccl-log/valid/grouped/input.log");
    job.params.skip = 1u << TRACE_ALL_REDUCE;
    expect_trace_error(&job, "grouped/input.log: 'skip' leaves none of 4 operations; "
                             "allowed is what leaves one");
    graph_star(&job, "{\"kind\": \"send\", \"rank\": 0, \"peer\": 1, \"bytes\": 64}\n"
                     "{\"kind\": \"recv\", \"rank\": 1, \"peer\": 0, \"bytes\": 64}\n");
    expect_trace_error(&job,
                       "graph.jsonl:2: send is not supported yet; only all_reduce and "
                       "compute are, and \"skip\": [\"send\"] leaves it out");
    graph_star(&job, "{\"kind\": \"compute\", \"duration_ns\": 864000000000000}\n");
    job.params.common.repeat = 6;
    expect_trace_error(&job,
                       "graph.jsonl: times, delays and computing of 6 rounds may be "
                       "more than 53 days; allowed are less");
}

static bool
put_text(void *ctx, const char *line)
{
    g_string_append(ctx, line);
    return true;
}

/* A log and what it is converted into are played alike. */
static void
graph_of_log(void **state)
{
    static const char *const logs[] = {"tests/data/nccl-log/valid/grouped/input.log",
                                       "tests/data/nccl-log/valid/timestamps/input.log"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(logs); i++) {
        g_autofree char *path = data_path(logs[i]);
        const char *paths[] = {path};
        struct trace *log = trace_open_paths(paths, 1, NULL);
        g_autoptr(GString) text = g_string_new(NULL);
        struct job a, b;
        uint32_t n;

        trace_write_jsonl(log, put_text, text);
        trace_free(log);
        trace_star(&a, 2, logs[i]);
        graph_star(&b, "");
        assert_true(g_file_set_contents(b.params.paths[0], text->str, -1, NULL));
        a.params.common.gap_ps = b.params.common.gap_ps = 7 * PS_PER_US;
        a.params.common.repeat = b.params.common.repeat = 3;
        job_play(&a);
        job_play(&b);
        const struct call_result *x = a.work->ops->calls(a.work->state, &n);
        const struct call_result *y = job_calls(&b, n);

        for (uint32_t k = 0; k < n; k++) {
            assert_int_equal(x[k].start_ps, y[k].start_ps);
            assert_int_equal(x[k].end_ps, y[k].end_ps);
            assert_int_equal(x[k].bytes, y[k].bytes);
        }
        trace_clear(&a);
        trace_clear(&b);
    }
}

/* The same on two threads, a process for each node. */
static void
graph_threads(void **state)
{
    struct call_result seen[4];

    (void)state;
    for (uint32_t n = 1; n <= 2; n++) {
        struct job job;

        rig_init(&job.rig, 1);
        rig_star(&job.rig, 2, JOB_RATE_BPS, JOB_DELAY_PS);
        rig_build(&job.rig);
        job_params(&job, WORK_TRACE, 2);
        job.work = NULL;
        set_path(&job, "workloads/examples/overlap-4ranks.jsonl");
        job_new(&job);
        job_run(&job, n == 1 ? PARTITION_ONE : PARTITION_NODE, n);
        assert_int_equal(job.rig.net->end, NET_END_DONE);
        const struct call_result *calls = job_calls(&job, 4);

        /* 400 + 300 us of computing, and the delay; computing goes on meanwhile */
        assert_int_equal(calls[0].start_ps, 705 * PS_PER_US);
        assert_true(calls[1].start_ps >= 1005 * PS_PER_US);
        assert_true(calls[1].start_ps < calls[0].end_ps + PS_PER_US ||
                    calls[1].start_ps == 1005 * PS_PER_US);
        /* the optimizer waits for both, the next iteration for it */
        assert_true(calls[2].start_ps >= calls[1].start_ps + 755 * PS_PER_US);
        for (unsigned i = 0; i < 4; i++) {
            assert_true(n == 1 || (seen[i].start_ps == calls[i].start_ps &&
                                   seen[i].end_ps == calls[i].end_ps));
            seen[i] = calls[i];
        }
        trace_clear(&job);
    }
}

/* A run that is stopped says what it was at. */
static void
graph_unfinished(void **state)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    struct job job;

    (void)state;
    graph_star(
        &job,
        "{\"id\": 0, \"kind\": \"compute\", \"rank\": 0, \"duration_ns\": 10000}\n"
        "{\"kind\": \"all_reduce\", \"group\": \"b\", \"bytes\": 64, \"after\": 0}\n");
    job_new(&job);
    rig_start(&job.rig, PARTITION_ONE, 1);
    work_start(job.work);
    rig_run(&job.rig, 5 * PS_PER_US);
    job.work->ops->unfinished(job.work->state, lines, 8);
    assert_true(lines->len >= 2);
    assert_string_equal(g_ptr_array_index(lines, 0),
                        "workload[0]: call 0, all_reduce of 64 B, communicator b: host0, "
                        "rank 0 of the job: not begun");
    assert_non_null(strstr(g_ptr_array_index(lines, 1), "rank 1 of the job"));
    assert_null(strstr(g_ptr_array_index(lines, 1), "not begun"));
    trace_clear(&job);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(trace_in_order), cmocka_unit_test(trace_times),
    cmocka_unit_test(trace_places),   cmocka_unit_test(trace_errors),
    cmocka_unit_test(trace_warnings), cmocka_unit_test(trace_example),
    cmocka_unit_test(graph_delay),    cmocka_unit_test(graph_side_by_side),
    cmocka_unit_test(graph_times),    cmocka_unit_test(graph_skip),
    cmocka_unit_test(log_skip),       cmocka_unit_test(graph_of_log),
    cmocka_unit_test(graph_threads),  cmocka_unit_test(graph_unfinished),
};

int
main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
