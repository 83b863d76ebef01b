/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fuzz_trace_jsonl.c - any bytes as JSON lines, behind a header where they have none, give a
 * trace that keeps its invariants and is the same when written and read again, or an error of
 * one line.
 */
#include <config.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <glib.h>

#include "workloads/trace/trace.h"

/* For what has no header of its own: most inputs are lost in it otherwise. */
static const char header[] = "{\"rocesim_trace\": 1, \"ranks\": 4, \"hosts\": "
                             "[{\"name\": \"a\", \"ranks\": [0, 1]}, "
                             "{\"name\": \"b\", \"ranks\": [2, 3]}], \"groups\": "
                             "[{\"name\": \"g\", \"ranks\": [2, 0]}, "
                             "{\"name\": \"o\", \"ranks\": [1, 3], \"channels\": 2}]}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
put(void *ctx, const char *line)
{
    g_string_append(ctx, line);
    return true;
}

/* Reads 'text' and writes what it gives; NULL: refused. */
static GString *
pass(const char *text, size_t n)
{
    static const char *const name = "fuzz";
    g_autoptr(GError) error = NULL;
    struct trace *trace = trace_open_data(&name, &text, &n, 1, &error);

    if (trace == NULL) {
        g_assert_nonnull(error);
        g_assert_null(strchr(error->message, '\n'));
        return NULL;
    }
    g_assert_no_error(error);
    trace_check(trace);
    GString *out = g_string_new(NULL);

    trace_write_jsonl(trace, put, out);
    trace_free(trace);
    return out;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GString) input = g_string_new(NULL);

    if (g_strstr_len((const char *)data, (gssize)size, "rocesim_trace") == NULL) {
        g_string_append(input, header);
    }
    g_string_append_len(input, (const char *)data, (gssize)size);

    GString *once = pass(input->str, input->len);

    if (once != NULL) {
        GString *twice = pass(once->str, once->len);

        g_assert_nonnull(twice);
        g_assert_cmpstr(once->str, ==, twice->str);
        g_string_free(once, TRUE);
        g_string_free(twice, TRUE);
    }
    return 0;
}
