/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_trace_nccl_log.c - the trace interface and the NCCL log reader, against a corpus:
 * tests/data/nccl-log/{valid,invalid}/CASE/input* and what each gives ('expected'): the
 * whole trace written out, or the message of the error.  Then the example log, counted by
 * hand in workloads/examples/README.md; the example cut at many places; and cut up into
 * pieces as several writers to one pipe do it.
 *
 * With ROCESIM_ACCEPT=1 the files 'expected' are written anew, to be read
 * over by a person.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>

#include "tests/support/data.h"
#include "workloads/trace/trace.h"

enum { MIN_CASES = 30 };

static void
write_comm(GString *out, const struct trace *trace, uint32_t index)
{
    const struct trace_comm *comm = &trace->comms[index];

    g_string_append_printf(out, "comm %u %s: ranks", index, comm->name);
    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        g_string_append_printf(out, " %u", comm->ranks[i]);
    }
    g_string_append_printf(out, ", %u channels, %zu operations\n", comm->n_channels,
                           comm->n_ops);
    for (uint32_t c = 0; comm->rings != NULL && c < comm->n_channels; c++) {
        g_string_append_printf(out, "  ring %u:", c);
        for (uint32_t i = 0; i < comm->n_ranks; i++) {
            g_string_append_printf(out, " %u", comm->rings[c * comm->n_ranks + i]);
        }
        g_string_append_c(out, '\n');
    }
}

static void
write_op(GString *out, const struct trace *trace, size_t index)
{
    const struct trace_op *op = &trace->ops[index];

    g_string_append_printf(out,
                           "op %zu %s: comm %u seq 0x%" G_GINT64_MODIFIER
                           "x count %" G_GINT64_FORMAT " %s bytes %" G_GINT64_FORMAT,
                           index, trace_kind_name(op->kind), op->comm, op->seq, op->count,
                           trace_type_name(op->type), op->bytes);
    if (trace_kind_has_redop(op->kind)) {
        g_string_append_printf(out, " %s", trace_redop_name(op->redop));
    }
    if (trace_kind_has_root(op->kind)) {
        g_string_append_printf(out, " root %d", op->peer);
    }
    if (trace_kind_is_p2p(op->kind)) {
        g_string_append_printf(out, " rank %d peer %d pair %" G_GINT64_FORMAT, op->rank,
                               op->peer, op->pair);
    }
    if (op->has_time) {
        const uint32_t n =
            trace_kind_is_p2p(op->kind) ? 1 : trace->comms[op->comm].n_ranks;
        g_string_append_printf(out, " at %" G_GINT64_FORMAT " ps (", op->time_ps);
        for (uint32_t i = 0; i < n; i++) {
            g_string_append_printf(out, "%s%" G_GINT64_FORMAT, i > 0 ? " " : "",
                                   op->rank_times_ps[i]);
        }
        g_string_append_c(out, ')');
    }
    if (op->algo != TRACE_ALGO_UNKNOWN) {
        g_string_append_printf(out, " %s %s", trace_algo_name(op->algo),
                               trace_proto_name(op->proto));
    }
    if (op->has_channels) {
        g_string_append_printf(out, " channels %u to %u", op->channel_lo, op->channel_hi);
    }
    g_string_append_printf(out, ", %s:%" G_GUINT64_FORMAT "\n", trace->files[op->file],
                           op->line);
}

/* The whole trace as text. */
static char *
write_trace(const struct trace *trace)
{
    GString *out = g_string_new(NULL);

    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        const struct trace_rank *rank = &trace->ranks[r];
        g_string_append_printf(out, "rank %u: host%u %s, local %u, device %u\n", r,
                               rank->host, trace->hosts[rank->host], rank->local,
                               rank->device);
    }
    for (uint32_t c = 0; c < trace->n_comms; c++) {
        write_comm(out, trace, c);
    }
    for (size_t i = 0; i < trace->n_ops; i++) {
        write_op(out, trace, i);
    }
    g_string_append_printf(out, "times: %s, step %" G_GINT64_FORMAT " ps\n",
                           trace->has_times ? "all" : "not all", trace->time_step_ps);
    for (char **warning = trace->warnings; *warning != NULL; warning++) {
        g_string_append_printf(out, "warning: %s\n", *warning);
    }
    return g_string_free(out, FALSE);
}

/* What the case in the working folder gives. */
static char *
run_case(bool *is_error)
{
    g_autoptr(GError) error = NULL;
    const char *path =
        g_file_test("input.log", G_FILE_TEST_EXISTS) ? "input.log" : "input*";
    struct trace *trace = trace_open_paths(&path, 1, &error);

    *is_error = trace == NULL;
    if (trace == NULL) {
        assert_non_null(error);
        assert_true(error->domain == TRACE_ERROR);
        return g_strdup_printf("%s\n", error->message);
    }
    assert_null(error);
    assert_string_equal(trace->format, "nccl_log");
    trace_check(trace);
    char *text = write_trace(trace);
    trace_free(trace);
    return text;
}

/* Runs every case of 'kind'; all of them, before it fails. */
static void
run_corpus(const char *kind, bool wants_error)
{
    g_autofree char *below = g_build_filename("tests/data/nccl-log", kind, NULL);
    g_autofree char *path = data_path(below);
    g_autofree char *root = g_canonicalize_filename(path, NULL);
    g_autofree char *back = g_get_current_dir();
    g_autoptr(GDir) dir = g_dir_open(root, 0, NULL);
    const bool accept = g_getenv("ROCESIM_ACCEPT") != NULL;
    unsigned n_cases = 0, n_bad = 0;
    const char *name;

    assert_non_null(dir);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *folder = g_build_filename(root, name, NULL);
        g_autofree char *expected = NULL;
        bool is_error;

        assert_int_equal(g_chdir(folder), 0);
        g_autofree char *obtained = run_case(&is_error);
        n_cases++;
        if (accept) {
            assert_true(g_file_set_contents("expected", obtained, -1, NULL));
        }
        if (!g_file_get_contents("expected", &expected, NULL, NULL) ||
            strcmp(expected, obtained) != 0 || is_error != wants_error) {
            print_error("%s/%s: expected\n%s\nobtained\n%s\n", kind, name,
                        expected == NULL ? "(no file)" : expected, obtained);
            n_bad++;
        }
        /* An error is one line, begins with no capital and ends in no stop. */
        if (is_error &&
            (strchr(obtained, '\n') != obtained + strlen(obtained) - 1 ||
             strlen(obtained) > 900 || obtained[strlen(obtained) - 2] == '.')) {
            print_error("%s/%s: not one clear line: %s", kind, name, obtained);
            n_bad++;
        }
    }
    assert_int_equal(g_chdir(back), 0);
    assert_int_equal(n_bad, 0);
    assert_true(n_cases >= MIN_CASES);
}

static void
test_valid(void **state)
{
    (void)state;
    run_corpus("valid", false);
}

static void
test_invalid(void **state)
{
    (void)state;
    run_corpus("invalid", true);
}

/* Gives the example log in '*text' (to be freed) of '*n_bytes'. */
static void
read_example(char **text, size_t *n_bytes)
{
    g_autofree char *path = data_path("workloads/examples/gpt2-64ranks-nccl.log");

    assert_true(g_file_get_contents(path, text, n_bytes, NULL));
}

static struct trace *
open_text(const char *text, size_t n_bytes, GError **error)
{
    const char *name = "log";

    return trace_open_data(&name, &text, &n_bytes, 1, error);
}

/* Against the table of workloads/examples/README.md. */
static void
test_example(void **state)
{
    static const int64_t iteration[8] = {2361600,  14175744, 14175744, 14175744,
                                         14175744, 14175744, 51199488, 1};
    size_t n_bytes;
    g_autofree char *text = NULL;

    (void)state;
    read_example(&text, &n_bytes);
    struct trace *trace = open_text(text, n_bytes, NULL);
    assert_non_null(trace);
    trace_check(trace);
    assert_int_equal(trace->n_ranks, 64);
    assert_int_equal(trace->n_hosts, 8);
    assert_string_equal(trace->hosts[0], "gpu-a01");
    assert_string_equal(trace->hosts[7], "gpu-a08");
    assert_int_equal(trace->ranks[63].local, 7);
    assert_int_equal(trace->n_comms, 1);
    assert_int_equal(trace->comms[0].n_channels, 16);
    assert_non_null(trace->comms[0].rings);
    assert_null(trace->warnings[0]);
    assert_false(trace->has_times);
    assert_int_equal(trace->n_ops, 17);
    assert_int_equal(trace->ops[0].count, 1);
    int64_t parameters = 0;
    for (size_t i = 1; i < trace->n_ops; i++) {
        const struct trace_op *op = &trace->ops[i];
        assert_int_equal(op->kind, TRACE_ALL_REDUCE);
        assert_int_equal(op->seq, i);
        assert_int_equal(op->count, iteration[(i - 1) % 8]);
        assert_int_equal(op->type, op->count == 1 ? TRACE_FP32 : TRACE_BF16);
        parameters += op->count == 1 ? 0 : op->count;
    }
    assert_int_equal(parameters, 2 * 124439808);
    /* Channel 1 enters host 0 at GPU 1 and leaves it at GPU 0 for GPU 1 of host 1. */
    const uint32_t *ring = trace->comms[0].rings + 64;
    assert_int_equal(ring[0], 0);
    assert_int_equal(ring[1], 9);
    assert_int_equal(ring[63], 7);
    trace_free(trace);
}

/* However short, it is an error in one line or a trace of what is whole. */
static void
test_truncated(void **state)
{
    size_t n_bytes;
    g_autofree char *text = NULL;
    unsigned n_traces = 0, n_errors = 0;

    (void)state;
    read_example(&text, &n_bytes);
    const char *first = strstr(text, "AllReduce: ");
    assert_non_null(first);
    for (size_t n = (size_t)(first - text) - 500; n < n_bytes; n += 1 + n_bytes / 211) {
        g_autoptr(GError) error = NULL;
        struct trace *trace = open_text(text, n, &error);

        if (trace == NULL) {
            assert_non_null(error);
            assert_null(strchr(error->message, '\n'));
            n_errors++;
            continue;
        }
        trace_check(trace);
        assert_true(trace->n_ops <= 17 && trace->n_ranks == 64);
        /* What is left out is said. */
        assert_true(trace->n_ops == 17 || trace->warnings[0] != NULL);
        for (size_t i = 0; i < trace->n_ops; i++) {
            assert_int_equal(trace->ops[i].seq, i);
        }
        n_traces++;
        trace_free(trace);
    }
    assert_true(n_traces > 10 && n_errors > 1);
}

/* Cuts a line of rank 3 at each place, puts the next line of rank 4 between, and expects
 * the same trace. */
static void
test_cut_anywhere(void **state)
{
    size_t n_bytes;
    g_autofree char *text = NULL;

    (void)state;
    read_example(&text, &n_bytes);
    struct trace *whole = open_text(text, n_bytes, NULL);
    const char *victim = strstr(text, "[1,3]<stdout>:gpu-a01:41209:41209 [3] NCCL INFO "
                                      "AllReduce: opCount 5 ");

    assert_non_null(whole);
    assert_non_null(victim);
    const char *intruder =
        strstr(victim, "[1,4]<stdout>:gpu-a01:41212:41212 [4] NCCL INFO AllR");
    assert_non_null(intruder);
    const char *victim_end = strchr(victim, '\n');
    const size_t n_intruder = (size_t)(strchr(intruder, '\n') + 1 - intruder);
    for (const char *cut = victim + 1; cut < victim_end; cut++) {
        g_autoptr(GString) mixed = g_string_new_len(text, cut - text);
        g_string_append_len(mixed, intruder, (gssize)n_intruder);
        g_string_append_len(mixed, cut, intruder - cut);
        g_string_append(mixed, intruder + n_intruder);
        assert_int_equal(mixed->len, n_bytes);
        g_autoptr(GError) error = NULL;
        struct trace *trace = open_text(mixed->str, mixed->len, &error);
        if (trace == NULL) {
            fail_msg("cut before \"%.20s\": %s", cut, error->message);
        }
        trace_check(trace);
        assert_int_equal(trace->n_ops, whole->n_ops);
        for (size_t i = 0; i < trace->n_ops; i++) {
            assert_int_equal(trace->ops[i].count, whole->ops[i].count);
            assert_int_equal(trace->ops[i].seq, whole->ops[i].seq);
        }
        /* Said, unless the cut took nothing that is needed. */
        assert_true(trace->warnings[0] != NULL || cut <= strstr(victim, "gpu-a01") ||
                    cut > strstr(victim, " [nranks"));
        trace_free(trace);
    }
    trace_free(whole);
}

static void
expect_error(const char *path, enum trace_error code, const char *part)
{
    g_autoptr(GError) error = NULL;
    struct trace *trace = trace_open_paths(&path, 1, &error);

    assert_null(trace);
    assert_true(g_error_matches(error, TRACE_ERROR, (gint)code));
    if (strstr(error->message, part) == NULL) {
        fail_msg("\"%s\" does not hold \"%s\"", error->message, part);
    }
}

static void
test_paths(void **state)
{
    g_autofree char *folder = g_dir_make_tmp("trace-XXXXXX", NULL);
    g_autofree char *missing = g_build_filename(folder, "missing", NULL);
    g_autofree char *pattern = g_build_filename(folder, "*.nothing", NULL);
    g_autofree char *fifo = g_build_filename(folder, "fifo", NULL);
    g_autofree char *data = data_path("tests/data/nccl-log/valid");
    g_autofree char *case_folder = g_build_filename(data, "file-per-rank", NULL);
    g_autofree char *file0 = g_build_filename(case_folder, "input.node0.500.log", NULL);
    const char *one = case_folder;

    (void)state;
    assert_non_null(folder);
    expect_error(missing, TRACE_ERROR_FILE, "No such file");
    expect_error(pattern, TRACE_ERROR_FILE, "no file matches");
    expect_error(folder, TRACE_ERROR_FILE, "holds no files");
    expect_error("/dev/null", TRACE_ERROR_FILE, "neither a file nor a folder");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    expect_error(fifo, TRACE_ERROR_FILE, "neither a file nor a folder");
    expect_error(file0, TRACE_ERROR_INCOMPLETE, "rank 1 is missing");

    /* A folder: its logs are read, 'expected' is skipped with a warning. */
    g_autoptr(GError) error = NULL;
    struct trace *trace = trace_open_paths(&one, 1, &error);
    assert_non_null(trace);
    trace_check(trace);
    assert_int_equal(trace->n_ranks, 4);
    assert_int_equal(g_strv_length(trace->files), 4);
    assert_non_null(strstr(trace->warnings[0], "expected: not a trace, skipped"));
    trace_free(trace);

    assert_int_equal(g_remove(fifo), 0);
    assert_int_equal(g_rmdir(folder), 0);
}

static void
test_names(void **state)
{
    static const int64_t sizes[TRACE_N_TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    const char *source = NULL;

    (void)state;
    for (int i = 0; i < TRACE_N_TYPES; i++) {
        assert_int_equal(trace_type_bytes((enum trace_type)i), sizes[i]);
    }
    assert_string_equal(trace_kind_name(TRACE_ALL_REDUCE), "all_reduce");
    assert_string_equal(trace_kind_name(TRACE_RECV), "recv");
    assert_string_equal(trace_type_name(TRACE_FP8_E5M2), "fp8_e5m2");
    assert_string_equal(trace_redop_name(TRACE_RED_AVG), "avg");
    assert_string_equal(trace_algo_name(TRACE_ALGO_PAT), "pat");
    assert_string_equal(trace_proto_name(TRACE_PROTO_SIMPLE), "simple");
    assert_string_equal(trace_reader_name(0, &source), "jsonl");
    assert_string_equal(trace_reader_name(1, &source), "nccl_log");
    assert_non_null(source);
    size_t n = 0;
    while (trace_reader_name(n, NULL) != NULL) {
        n++;
    }
    assert_true(n >= 1 && n < 100);
}

/* 64 MiB of text without a line end, and of lines that look like NCCL's:
 * an error, soon. */
static void
test_garbage(void **state)
{
    const size_t n_bytes = (size_t)64 << 20;
    g_autofree char *text = g_malloc(n_bytes);
    static const char line[] =
        "h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n";
    g_autoptr(GError) error = NULL, other = NULL;

    (void)state;
    memset(text, 'x', n_bytes);
    assert_null(open_text(text, n_bytes, &error));
    assert_true(g_error_matches(error, TRACE_ERROR, TRACE_ERROR_FORMAT));
    for (size_t i = 0; i < n_bytes; i++) {
        text[i] = line[i % (sizeof(line) - 1)];
    }
    assert_null(open_text(text, n_bytes, &other));
    assert_true(g_error_matches(other, TRACE_ERROR, TRACE_ERROR_INCOMPLETE));
    assert_non_null(strstr(other->message, "NCCL_DEBUG_SUBSYS=INIT,COLL"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_example),      cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_paths),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_garbage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
