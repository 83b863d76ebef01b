/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_run.c - `output`, `expect` and `compat` of a scenario.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <math.h>
#include <string.h>

#define OUTPUT(field) .offset = offsetof(struct scenario_output, field)

const struct param scenario_output_table[] = {
    {.name = "sample",
     .kind = PARAM_TIME,
     OUTPUT(sample_ps),
     .unit = "us",
     .def = 10 * PS_PER_US,
     .min = 10 * PS_PER_NS,
     .max = PS_PER_S,
     .special = "off",
     .source = "ten a drain of a 100 KB queue at 100 Gb/s",
     .doc = "interval of the samples in series.csv"},
    {.name = "messages",
     .kind = PARAM_BOOL,
     OUTPUT(messages),
     .unit = "",
     .def = 0,
     .min = 0,
     .max = 1,
     .source = "collectives have millions",
     .doc = "flows.csv has a line a message; not supported yet"},
    {.name = "warmup",
     .kind = PARAM_TIME,
     OUTPUT(warmup_ps),
     .unit = "ms",
     .def = 0,
     .min = 0,
     .max = 86400 * PS_PER_S,
     .source = "every flow counts",
     .doc = "flows that start earlier are simulated, and left out of the percentiles"},
    {.name = "cooldown",
     .kind = PARAM_TIME,
     OUTPUT(cooldown_ps),
     .unit = "ms",
     .def = 0,
     .min = 0,
     .max = 86400 * PS_PER_S,
     .source = "every flow counts",
     .doc = "likewise those that start in this time before the last flow does"},
    {.name = NULL},
};

static const char *const verdict_words[] = {
    "complete", "expectation-missed", "incomplete", "lossless-violated",
    "deadlock", "interrupted",        NULL};

const char *
scenario_verdict_name(enum scenario_verdict verdict)
{
    return verdict_words[verdict];
}

/* ---- output --------------------------------------------------------------------------- */

static gboolean
read_series(struct scenario *s, const struct doc_at *at, GError **error)
{
    const char *text = json_string_value(at->json);

    if (at->json == NULL || (text != NULL && strcmp(text, "all") == 0)) {
        return TRUE;
    }
    if (!doc_check_array(at, error)) {
        return FALSE;
    }
    s->series = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < json_array_size(at->json); i++) {
        struct doc_at sub = doc_index(at, i);

        if (!doc_text(&sub, &text, error)) {
            return FALSE;
        }
        g_ptr_array_add(s->series, g_strdup(text));
    }
    return TRUE;
}

/* Nothing writes lines of messages yet. */
static gboolean
check_messages(const struct scenario *s, const struct doc_at *at, GError **error)
{
    return !s->output.messages ||
           doc_fail_key(at, "messages", SCENARIO_ERROR_LATER, error,
                        "true is not supported yet; allowed is false");
}

static gboolean
read_output(struct scenario *s, const struct doc_at *root, GError **error)
{
    static const struct doc_key keys[] = {
        {"series", false}, {"pcap", false}, {NULL, false}};
    struct doc_at at = doc_key(root, "output"), series = doc_key(&at, "series");

    param_set_defaults(scenario_output_table, &s->output);
    if (!part_pcap_read(s, &at, error)) {
        return FALSE;
    }
    return at.json == NULL ||
           (doc_check_object(&at, keys, scenario_output_table, error) &&
            doc_params(&at, scenario_output_table, &s->output, NULL, error) &&
            check_messages(s, &at, error) && read_series(s, &series, error));
}

static json_t *
output_json(const struct scenario *s)
{
    json_t *object = json_object(), *list;

    doc_put_params(object, scenario_output_table, &s->output,
                   part_all_keys(scenario_output_table));
    if (s->series == NULL) {
        json_object_set_new(object, "series", json_string("all"));
    } else {
        list = json_array();
        for (guint i = 0; i < s->series->len; i++) {
            json_array_append_new(list, json_string(s->series->pdata[i]));
        }
        json_object_set_new(object, "series", list);
    }
    json_object_set_new(object, "pcap", part_pcap_json(s));
    return object;
}

/* ---- expect --------------------------------------------------------------------------- */

/* "a.b[0].c": names and indices. */
static bool
is_path(const char *text)
{
    for (;;) {
        size_t n = strspn(
            text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

        if (n == 0) {
            return false;
        }
        text += n;
        while (*text == '[') {
            n = strspn(text + 1, "0123456789");
            if (n == 0 || text[1 + n] != ']') {
                return false;
            }
            text += n + 2;
        }
        if (*text == '\0') {
            return true;
        }
        if (*text++ != '.') {
            return false;
        }
    }
}

static gboolean
read_band(const struct doc_at *at, const char *path, struct scenario_band *band,
          GError **error)
{
    const json_t *low = at->json, *high = at->json;

    if (!is_path(path)) {
        return doc_fail(at, SCENARIO_ERROR_KEY, error,
                        "allowed is \"verdict\", or a path into summary.json such as "
                        "\"collectives[0].busbw_GBps\"");
    }
    band->path = g_strdup(path);
    if (json_is_string(at->json)) {
        band->is_text = true;
        band->text = g_strdup(json_string_value(at->json));
        return TRUE;
    }
    if (json_is_array(at->json) && json_array_size(at->json) == 2) {
        low = json_array_get(at->json, 0);
        high = json_array_get(at->json, 1);
    }
    if (!json_is_number(low) || !json_is_number(high) ||
        json_number_value(low) > json_number_value(high)) {
        g_autofree char *shown = doc_show(at->json);

        return doc_fail(at, SCENARIO_ERROR_VALUE, error,
                        "is %s; allowed is a band [low, high], a number or a text",
                        shown);
    }
    band->low = json_number_value(low);
    band->high = json_number_value(high);
    return TRUE;
}

static void
band_clear(void *data)
{
    struct scenario_band *band = data;

    g_free(band->path);
    g_free(band->text);
}

static gboolean
read_expect(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "expect");
    const char *key;
    json_t *value;
    int index;

    s->bands = g_array_new(FALSE, TRUE, sizeof(struct scenario_band));
    g_array_set_clear_func(s->bands, band_clear);
    if (at.json == NULL) {
        return TRUE;
    }
    if (!json_is_object(at.json)) {
        return doc_check_object(&at, NULL, NULL, error);
    }
    json_object_foreach(at.json, key, value)
    {
        struct doc_at sub = doc_key(&at, key);
        struct scenario_band band = {.path = NULL};

        if (key[0] == '_') {
            continue;
        }
        if (strcmp(key, "verdict") == 0) {
            if (!doc_word(&sub, verdict_words, NULL, &index, error)) {
                return FALSE;
            }
            s->has_verdict = true;
            s->verdict = (enum scenario_verdict)index;
            continue;
        }
        if (!read_band(&sub, key, &band, error)) {
            band_clear(&band);
            return FALSE;
        }
        g_array_append_val(s->bands, band);
    }
    return TRUE;
}

/* The shortest number that reads back as 'x', whole ones as such. */
static json_t *
number_json(double x)
{
    return x == floor(x) && fabs(x) < 1e15 ? json_integer((json_int_t)x) : json_real(x);
}

static json_t *
expect_json(const struct scenario *s)
{
    json_t *object = json_object();

    if (s->has_verdict) {
        json_object_set_new(object, "verdict",
                            json_string(scenario_verdict_name(s->verdict)));
    }
    for (guint i = 0; i < s->bands->len; i++) {
        const struct scenario_band *band =
            &g_array_index(s->bands, struct scenario_band, i);

        json_object_set_new(object, band->path,
                            band->is_text ? json_string(band->text)
                                          : json_pack("[o, o]", number_json(band->low),
                                                      number_json(band->high)));
    }
    return object;
}

/* ---- the part ------------------------------------------------------------------------- */

gboolean
part_run_read(struct scenario *s, const struct doc_at *root, GError **error)
{
    return read_output(s, root, error) && read_expect(s, root, error);
}

void
part_run_write(const struct scenario *s, json_t *root)
{
    json_object_set_new(root, "output", output_json(s));
    json_object_set_new(root, "expect", expect_json(s));
    json_object_set_new(root, "compat", json_string(s->is_hpcc ? "hpcc" : "off"));
}

void
part_run_clear(struct scenario *s)
{
    g_clear_pointer(&s->series, g_ptr_array_unref);
    part_pcap_clear(s);
    g_clear_pointer(&s->bands, g_array_unref);
}
