/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_gen_trace.c - traces replayed: order, time stamps, hosts, what is not supported,
 * and the example log.
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
    expect_trace_error(&job,
                       "all-kinds/input.log:5: all_gather is not supported yet; only "
                       "all_reduce is");
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(trace_in_order), cmocka_unit_test(trace_times),
    cmocka_unit_test(trace_places),   cmocka_unit_test(trace_errors),
    cmocka_unit_test(trace_warnings), cmocka_unit_test(trace_example),
};

int
main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
