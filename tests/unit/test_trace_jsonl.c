/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_trace_jsonl.c - traces in JSON lines: a corpus of valid and invalid ones
 * (tests/data/trace-jsonl/README.md); what is written is read as the same; logs of NCCL
 * become graphs in which each rank's calls follow each other.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/data.h"
#include "workloads/trace/trace.h"

enum { MIN_VALID = 10, MIN_INVALID = 50 };

static bool
put(void *ctx, const char *line)
{
    g_string_append(ctx, line);
    return true;
}

static char *
written(const struct trace *trace)
{
    GString *text = g_string_new(NULL);

    trace_write_jsonl(trace, put, text);
    return g_string_free(text, FALSE);
}

static struct trace *
read_text(const char *name, const char *text, size_t n, GError **error)
{
    return trace_open_data(&name, &text, &n, 1, error);
}

/* What the case 'name' gives: the trace written again, or the message. */
static char *
outcome(const char *name, const char *text, size_t n, bool *good)
{
    g_autoptr(GError) error = NULL;
    struct trace *trace = read_text(name, text, n, &error);

    *good = trace != NULL;
    if (trace == NULL) {
        assert_non_null(error);
        assert_null(strchr(error->message, '\n'));
        return g_strdup_printf("%s\n", error->message);
    }
    trace_check(trace);
    char *out = written(trace);

    trace_free(trace);
    return out;
}

/* Runs all cases of 'folder', which are 'valid' or not; their number. */
static unsigned
run_cases(const char *folder, bool valid)
{
    g_autofree char *path = data_path(folder);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    unsigned n = 0;

    assert_non_null(dir);
    while ((name = g_dir_read_name(dir)) != NULL) {
        if (!g_str_has_suffix(name, ".jsonl")) {
            continue;
        }
        g_autofree char *file = g_build_filename(path, name, NULL);
        g_autofree char *bare = g_strndup(file, strlen(file) - strlen(".jsonl"));
        g_autofree char *expected_file = g_strconcat(bare, ".expected", NULL);
        g_autofree char *text = NULL, *expected = NULL;
        size_t n_bytes;
        bool good;

        assert_true(g_file_get_contents(file, &text, &n_bytes, NULL));
        g_autofree char *got = outcome(name, text, n_bytes, &good);

        if (g_getenv("ROCESIM_ACCEPT")) {
            assert_true(g_file_set_contents(expected_file, got, -1, NULL));
        }
        assert_true(g_file_get_contents(expected_file, &expected, NULL, NULL));
        if (good != valid || strcmp(got, expected) != 0) {
            fail_msg("%s: %s", name, got);
        }
        n++;
    }
    return n;
}

static void
jsonl_valid(void **state)
{
    (void)state;
    assert_true(run_cases("tests/data/trace-jsonl/valid", true) >= MIN_VALID);
}

static void
jsonl_invalid(void **state)
{
    (void)state;
    assert_true(run_cases("tests/data/trace-jsonl/invalid", false) >= MIN_INVALID);
}

/* Cut anywhere, a trace is refused or, at a line's end, a shorter one. */
static void
jsonl_cut(void **state)
{
    g_autofree char *path = data_path("tests/data/trace-jsonl/valid/groups.jsonl");
    g_autofree char *text = NULL;
    size_t n;

    (void)state;
    assert_true(g_file_get_contents(path, &text, &n, NULL));
    for (size_t cut = 0; cut < n; cut++) {
        bool good;
        g_autofree char *got = outcome("cut", text, cut, &good);
        bool at_end = cut > 0 && (text[cut] == '\n' || text[cut - 1] == '\n');

        /* a header alone is refused, too */
        assert_true(good ==
                    (at_end && memchr(text, '\n', cut > 0 ? cut - 1 : 0) != NULL));
    }
}

/* A second file. */
static void
jsonl_one_file(void **state)
{
    const char *text =
        "{\"rocesim_trace\": 1, \"ranks\": 1, \"hosts\": [{\"name\": \"a\", "
        "\"ranks\": [0]}]}\n{\"kind\": \"all_reduce\", \"bytes\": 1}\n";
    const char *names[] = {"one", "two"}, *texts[] = {text, text};
    const size_t n[] = {strlen(text), strlen(text)};
    g_autoptr(GError) error = NULL;

    (void)state;
    assert_null(trace_open_data(names, texts, n, 2, &error));
    assert_string_equal(error->message,
                        "two: a second file; a trace of this format is one file");
}

static struct trace *
read_log(const char *below)
{
    g_autofree char *path = data_path(below);
    const char *paths[] = {path};
    struct trace *trace = trace_open_paths(paths, 1, NULL);

    assert_non_null(trace);
    return trace;
}

/* Everything but the order is what the log said; written twice it is the same. */
static void
jsonl_from_log(void **state)
{
    static const char *const logs[] = {"tests/data/nccl-log/valid/all-kinds/input.log",
                                       "tests/data/nccl-log/valid/send-recv/input.log",
                                       "tests/data/nccl-log/valid/timestamps/input.log",
                                       "tests/data/nccl-log/valid/ring-lines/input.log",
                                       "workloads/examples/gpt2-64ranks-nccl.log"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(logs); i++) {
        struct trace *log = read_log(logs[i]);
        g_autofree char *text = written(log);
        struct trace *trace = read_text("text", text, strlen(text), NULL);

        assert_non_null(trace);
        trace_check(trace);
        g_autofree char *again = written(trace);

        assert_string_equal(text, again);
        assert_true(trace->is_graph && !log->is_graph);
        assert_int_equal(trace->n_ops, log->n_ops);
        assert_int_equal(trace->n_hosts, log->n_hosts);
        for (size_t k = 0; k < log->n_ops; k++) {
            const struct trace_op *a = &log->ops[k], *b = &trace->ops[k];

            assert_true(a->kind == b->kind && a->type == b->type && a->comm == b->comm);
            assert_true(a->bytes == b->bytes && a->rank == b->rank && a->peer == b->peer);
            assert_true(a->pair == b->pair && a->algo == b->algo && a->proto == b->proto);
            assert_true(a->has_time == b->has_time && a->time_ps == b->time_ps);
            assert_true(!trace_kind_has_redop(a->kind) || a->redop == b->redop);
            /* one communicator: all but the first come after the one before */
            assert_true(trace_kind_is_p2p(a->kind) || k == 0 || b->n_after > 0);
        }
        trace_free(trace);
        trace_free(log);
    }
}

/* Sends and receives of one group call come after what was before it. */
static void
jsonl_group_calls(void **state)
{
    struct trace *log = read_log("tests/data/nccl-log/valid/send-recv/input.log");
    g_autofree char *text = written(log);
    struct trace *trace = read_text("text", text, strlen(text), NULL);

    (void)state;
    for (size_t i = 0; i < trace->n_ops; i++) {
        const struct trace_op *op = &trace->ops[i];

        for (uint32_t k = 0; k < op->n_after; k++) {
            const struct trace_op *before = &log->ops[op->after[k]];

            assert_true(!trace_kind_is_p2p(op->kind) ||
                        !trace_kind_is_p2p(before->kind) ||
                        before->seq != log->ops[i].seq);
        }
    }
    trace_free(trace);
    trace_free(log);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(jsonl_valid),    cmocka_unit_test(jsonl_invalid),
    cmocka_unit_test(jsonl_cut),      cmocka_unit_test(jsonl_one_file),
    cmocka_unit_test(jsonl_from_log), cmocka_unit_test(jsonl_group_calls),
};

int
main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
