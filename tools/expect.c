/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * expect.c - `expect` of a scenario held against summary.json, see expect.h.
 */
#include <config.h>

#include "tools/expect.h"

#include <string.h>

#include <jansson.h>

#include "tools/results/summary.h"
#include "tools/results/text.h"
#include "tools/scenario/doc.h"
#include "tools/summary_path.h"

static char *
number_text(double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    return g_strdup(g_ascii_formatd(text, sizeof text, "%.9g", value));
}

/* 'value' as it stands in summary.json.  Owned by the caller. */
static char *
value_text(json_t *value)
{
    if (json_is_string(value)) {
        return g_strdup(json_string_value(value));
    }
    if (json_is_number(value)) {
        return number_text(json_number_value(value));
    }
    return g_strdup(json_is_true(value)    ? "true"
                    : json_is_false(value) ? "false"
                    : json_is_null(value)  ? "null"
                                           : "no such value");
}

static bool
is_met(const struct scenario_band *band, json_t *value)
{
    if (band->is_text) {
        return json_is_string(value) && strcmp(json_string_value(value), band->text) == 0;
    }
    return json_is_number(value) && json_number_value(value) >= band->low &&
           json_number_value(value) <= band->high;
}

static char *
expected_text(const struct scenario_band *band)
{
    if (band->is_text) {
        return g_strdup(band->text);
    }
    g_autofree char *low = number_text(band->low);
    g_autofree char *high = number_text(band->high);

    return strcmp(low, high) == 0 ? g_strdup(low)
                                  : g_strdup_printf("%s to %s", low, high);
}

/* Holds every band?  Records all, and says which do not. */
static bool
check_bands(const GArray *bands, json_t *summary, struct run_result *result)
{
    bool all = true;

    for (guint i = 0; i < bands->len; i++) {
        const struct scenario_band *band = &g_array_index(bands, struct scenario_band, i);
        json_t *value = summary_path_find(summary, band->path);
        struct result_band record = {.path = g_strdup(band->path),
                                     .expected = expected_text(band),
                                     .obtained = value_text(value),
                                     .met = is_met(band, value)};

        if (!record.met) {
            g_ptr_array_add(result->why,
                            g_strdup_printf("%s is %s; expected %s", record.path,
                                            record.obtained, record.expected));
            all = false;
        }
        g_array_append_val(result->bands, record);
    }
    return all;
}

void
expect_judge(struct run_result *result)
{
    const struct scenario *scenario = result->scenario;
    g_autofree char *text = summary_to_json(result);
    json_t *summary = json_loads(text, 0, NULL);
    bool bands = check_bands(scenario->bands, summary, result);
    bool verdict = !scenario->has_verdict || scenario->verdict == result->verdict;

    json_decref(summary);
    if (!verdict) {
        g_ptr_array_add(result->why,
                        g_strdup_printf("the verdict is %s; expected %s",
                                        scenario_verdict_name(result->verdict),
                                        scenario_verdict_name(scenario->verdict)));
    }
    result->expected = scenario->has_verdict && verdict && bands;
    if (result->verdict == VERDICT_COMPLETE && !(verdict && bands)) {
        result->verdict = VERDICT_EXPECTATION_MISSED;
    }
}

gboolean
expect_check_paths(const struct scenario *scenario, GError **error)
{
    json_t *shape = summary_path_shape(scenario);
    gboolean ok = TRUE;

    for (guint i = 0; ok && i < scenario->bands->len; i++) {
        const struct scenario_band *band =
            &g_array_index(scenario->bands, struct scenario_band, i);
        g_autofree char *fault = summary_path_fault(band->path, shape);

        if (fault) {
            struct doc_at root = doc_root(scenario->file, NULL),
                          expect = doc_key(&root, "expect");

            ok = doc_fail_key(&expect, band->path, SCENARIO_ERROR_NAME, error, "%s",
                              fault);
        }
    }
    json_decref(shape);
    return ok;
}
