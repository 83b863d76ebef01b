/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fuzz_nccl_log.c - any bytes, as one log or (cut at each byte 1) several, give a trace
 * that keeps its invariants or an error of one line.
 */
#include <config.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <glib.h>

#include "workloads/trace/trace.h"

enum { MAX_FILES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[MAX_FILES] = {"log.0", "log.1", "log.2", "log.3",
                                                 "log.4", "log.5", "log.6", "log.7"};
    const char *parts[MAX_FILES];
    size_t n_bytes[MAX_FILES], n = 0;
    const char *at = size == 0 ? "" : (const char *)data, *end = at + size;
    g_autoptr(GError) error = NULL;

    while (n < MAX_FILES) {
        const char *cut = n + 1 < MAX_FILES ? memchr(at, 1, (size_t)(end - at)) : NULL;
        parts[n] = at;
        n_bytes[n++] = (size_t)((cut == NULL ? end : cut) - at);
        if (cut == NULL) {
            break;
        }
        at = cut + 1;
    }
    struct trace *trace = trace_open_data(names, parts, n_bytes, n, &error);
    if (trace != NULL) {
        trace_check(trace);
        g_assert_no_error(error);
        trace_free(trace);
    } else {
        g_assert_nonnull(error);
        g_assert_null(strchr(error->message, '\n'));
    }
    return 0;
}
