/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fuzz_scenario.c - any bytes as a scenario, with --set arguments behind each byte 1, or
 * (not beginning with '{') as a table of flows: an error of one line, or a scenario whose
 * echo is accepted and echoed alike.
 */
#include <config.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <glib.h>

#include "tools/scenario/flows_csv.h"
#include "tools/scenario/scenario.h"

enum { MAX_SETS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_error(const GError *error)
{
    g_assert_nonnull(error);
    g_assert_null(strchr(error->message, '\n'));
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
}

static void
try_table(const char *data, size_t n)
{
    g_autoptr(GArray) flows = g_array_new(FALSE, TRUE, sizeof(struct scenario_flow));
    g_autoptr(GError) error = NULL;

    if (!flows_csv_parse("table", data, n, flows, &error)) {
        check_error(error);
    }
    for (guint i = 0; i < flows->len; i++) {
        g_free(g_array_index(flows, struct scenario_flow, i).src.name);
        g_free(g_array_index(flows, struct scenario_flow, i).dst.name);
    }
}

static void
try_scenario(const char *data, size_t n, const char *const *sets)
{
    g_autoptr(GError) error = NULL;
    struct scenario *s = scenario_load_data("fuzz", data, n, sets, &error), *again;
    g_autofree char *once = NULL, *twice = NULL;

    if (s == NULL) {
        check_error(error);
        return;
    }
    once = scenario_to_text(s);
    again = scenario_load_data("echo", once, strlen(once), NULL, &error);
    g_assert_no_error(error);
    twice = scenario_to_text(again);
    g_assert_cmpstr(once, ==, twice);
    scenario_free(again);
    scenario_free(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_malloc(size + 1);
    const char *sets[MAX_SETS + 1] = {NULL};
    size_t n = size, n_sets = 0;

    memcpy(text, data, size);
    text[size] = '\0';
    if (size == 0 || text[0] != '{') {
        try_table(text, size);
        return 0;
    }
    for (size_t i = 0; i < size && n_sets < MAX_SETS; i++) {
        if (text[i] == '\1') {
            text[i] = '\0';
            n = MIN(n, i);
            sets[n_sets++] = text + i + 1;
        }
    }
    try_scenario(text, n, sets);
    return 0;
}
