/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * compare_out.c - a comparison as a table and as JSON, see compare.h.
 *
 * A table has the first folder and two others beside it; further ones come in tables below.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/compare.h"

#define OTHERS 2 /* folders beside the first */
#define TITLE_WIDTH 32
#define VALUE_WIDTH 15
#define CHANGE_WIDTH 10
#define MOST_KEYS 40
#define MOST_CALLS 12

/* ---- the table -------------------------------------------------------------------------- */

static char
letter(guint i)
{
    return (char)('A' + i);
}

static void
end_row(GString *out)
{
    while (out->len && out->str[out->len - 1] == ' ') {
        g_string_truncate(out, out->len - 1);
    }
    g_string_append_c(out, '\n');
}

/* 'text' cut to 'width' columns; characters, not bytes. */
static void
put_left(GString *out, const char *text, int width)
{
    glong n = g_utf8_strlen(text, -1);

    if (n > width) {
        g_autofree char *cut = g_utf8_substring(text, 0, width - 3);

        g_string_append_printf(out, "%s...", cut);
        return;
    }
    g_string_append_printf(out, "%s%*s", text, (int)(width - n), "");
}

static void
put_number(GString *out, double value, unsigned places, int width)
{
    char format[16], text[G_ASCII_DTOSTR_BUF_SIZE + 320];

    if (isnan(value)) {
        g_string_append_printf(out, "%*s", width, "-");
        return;
    }
    g_snprintf(format, sizeof format, "%%.%uf", places);
    g_ascii_formatd(text, sizeof text, format, value);
    g_string_append_printf(out, "%*s", width, text);
}

static void
put_change(GString *out, double first, double other)
{
    double percent = compare_percent(first, other);
    char text[64];

    if (isnan(first) || isnan(other)) {
        g_string_append_printf(out, "%*s", CHANGE_WIDTH, "");
    } else if (first == other) {
        g_string_append_printf(out, "%*s", CHANGE_WIDTH, "=");
    } else if (isnan(percent)) {
        g_string_append_printf(out, "%*s", CHANGE_WIDTH, "from 0");
    } else if (fabs(percent) >= 1e5) {
        g_string_append_printf(out, "%*s", CHANGE_WIDTH, percent > 0 ? "> 1000 x" : "");
    } else {
        g_ascii_formatd(text, sizeof text, "%+.1f", percent);
        g_string_append_printf(out, "%*s %%", CHANGE_WIDTH - 2, text);
    }
}

static void
put_folders(GString *out, const struct compare *c)
{
    for (guint i = 0; i < c->n; i++) {
        const json_t *summary = c->folders[i].summary;
        const char *name = folder_text(summary, "scenario");
        const char *verdict = folder_text(summary, "verdict");
        const char *version = folder_text(summary, "version");

        g_string_append_printf(out, "%c  %s\n   %s, seed %.0f, %s, rocesim %s\n",
                               letter(i), c->folders[i].dir, name ? name : "?",
                               folder_number(summary, "seed"), verdict ? verdict : "?",
                               version ? version : "?");
    }
    for (guint i = 0; i < c->notes->len; i++) {
        g_string_append_printf(out, "note: %s\n",
                               (const char *)g_ptr_array_index(c->notes, i));
    }
}

/* Folders 'from' to 'to' - 1 beside the first. */
static void
put_figures(GString *out, const struct compare *c, guint from, guint to)
{
    guint n_calls = 0, n_left = 0;

    g_string_append_c(out, '\n');
    put_left(out, "figure", TITLE_WIDTH);
    g_string_append_printf(out, "%*c", VALUE_WIDTH, 'A');
    for (guint i = from; i < to; i++) {
        g_string_append_printf(out, "%*c%*s", VALUE_WIDTH, letter(i), CHANGE_WIDTH,
                               "to A");
    }
    end_row(out);
    for (guint f = 0; f < c->figures->len; f++) {
        const struct compare_figure *figure = g_ptr_array_index(c->figures, f);

        if (g_str_has_prefix(figure->key, "collectives[") && ++n_calls > MOST_CALLS) {
            n_left++;
            continue;
        }
        put_left(out, figure->title, TITLE_WIDTH);
        put_number(out, figure->values[0], figure->places, VALUE_WIDTH);
        for (guint i = from; i < to; i++) {
            put_number(out, figure->values[i], figure->places, VALUE_WIDTH);
            put_change(out, figure->values[0], figure->values[i]);
        }
        end_row(out);
    }
    if (n_left) {
        g_string_append_printf(out, "... and %u more calls, by --json\n", n_left);
    }
}

/* A value as it stands in the scenario: text without its quotes. */
static char *
show_value(const char *json)
{
    size_t n = json ? strlen(json) : 0;

    if (!json) {
        return g_strdup("-");
    }
    return n >= 2 && *json == '"' ? g_strndup(json + 1, n - 2) : g_strdup(json);
}

/* Folders 'from' to 'to' - 1 beside the first; what is as there is a sign. */
static void
put_key(GString *out, const struct compare_key *key, guint from, guint to)
{
    int width = (100 - TITLE_WIDTH) / (1 + OTHERS);
    g_autofree char *first = show_value(key->values[0]);

    put_left(out, key->path, TITLE_WIDTH - 1);
    g_string_append_c(out, ' ');
    put_left(out, first, width - 1);
    for (guint i = from; i < to; i++) {
        g_autofree char *value = show_value(key->values[i]);

        g_string_append_c(out, ' ');
        put_left(out, g_strcmp0(key->values[0], key->values[i]) ? value : "=", width - 1);
    }
    end_row(out);
}

static void
put_keys(GString *out, const struct compare *c, guint from, guint to)
{
    int width = (100 - TITLE_WIDTH) / (1 + OTHERS);
    guint n = 0;

    for (guint k = 0; k < c->keys->len; k++) {
        const struct compare_key *key = g_ptr_array_index(c->keys, k);
        bool differs = false;

        for (guint i = from; i < to; i++) {
            differs |= g_strcmp0(key->values[0], key->values[i]) != 0;
        }
        if (!differs || n++ >= MOST_KEYS) {
            continue;
        }
        if (n == 1) {
            g_string_append_c(out, '\n');
            put_left(out, "key that differs", TITLE_WIDTH);
            g_string_append_printf(out, "%-*c", width, 'A');
            for (guint i = from; i < to; i++) {
                g_string_append_printf(out, "%-*c", width, letter(i));
            }
            end_row(out);
        }
        put_key(out, key, from, to);
    }
    if (n > MOST_KEYS) {
        g_string_append_printf(out, "... and %u more, by --json\n", n - MOST_KEYS);
    }
}

static void
put_flow(GString *out, const char *what, const struct compare_flow *flow)
{
    if (flow->name) {
        g_autofree char *change = NULL;
        GString *text = g_string_new("   ");

        put_left(text, what, 14);
        put_number(text, flow->first, 3, 9);
        g_string_append(text, " to");
        put_number(text, flow->other, 3, 9);
        put_change(text, flow->first, flow->other);
        change = g_string_free(text, FALSE);
        g_string_append_printf(out, "%s   %s\n", change, flow->name);
    }
}

static void
put_flows(GString *out, const struct compare *c, guint i)
{
    const struct compare_flows *flows = &c->flows[i];

    if (flows->n_both + flows->n_only_first + flows->n_only_other == 0) {
        return;
    }
    g_string_append_printf(out, "\nflows of %c  %u matched", letter(i), flows->n_both);
    if (flows->n_only_first || flows->n_only_other) {
        g_string_append_printf(out, ", %u only in A, %u only in %c", flows->n_only_first,
                               flows->n_only_other, letter(i));
    }
    if (flows->n_unlike) {
        g_string_append_printf(out, ", %u with other ends or bytes", flows->n_unlike);
    }
    g_string_append_printf(out, "; %u done in both", flows->n_compared);
    if (flows->n_compared && flows->mean_percent == 0) {
        g_string_append(out, ", slowdown the same on the mean");
    } else if (flows->n_compared) {
        g_autoptr(GString) mean = g_string_new(NULL);

        put_change(mean, 1, 1 + flows->mean_percent / 100);
        g_string_append_printf(out, ", slowdown %s on the mean", g_strchug(mean->str));
    }
    g_string_append_c(out, '\n');
    put_flow(out, "largest rise", &flows->rise);
    put_flow(out, "largest fall", &flows->fall);
}

char *
compare_text(const struct compare *c)
{
    GString *out = g_string_new(NULL);

    put_folders(out, c);
    for (guint from = 1; from < c->n; from += OTHERS) {
        guint to = MIN(from + OTHERS, c->n);

        put_figures(out, c, from, to);
        put_keys(out, c, from, to);
    }
    for (guint i = 1; i < c->n; i++) {
        put_flows(out, c, i);
    }
    return g_string_free(out, FALSE);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static json_t *
number(double value)
{
    return isnan(value) || isinf(value) ? json_null() : json_real(value);
}

static json_t *
runs_json(const struct compare *c)
{
    json_t *runs = json_array();

    for (guint i = 0; i < c->n; i++) {
        json_t *run = json_object();

        json_object_set_new(run, "dir", json_string(c->folders[i].dir));
        for (guint k = 0; k < 4; k++) {
            static const char *const keys[] = {"version", "scenario", "seed", "verdict"};

            json_object_set(run, keys[k],
                            json_object_get(c->folders[i].summary, keys[k]));
        }
        json_array_append_new(runs, run);
    }
    return runs;
}

static json_t *
figures_json(const struct compare *c)
{
    json_t *figures = json_array();

    for (guint f = 0; f < c->figures->len; f++) {
        const struct compare_figure *figure = g_ptr_array_index(c->figures, f);
        json_t *values = json_array(), *changes = json_array();

        for (guint i = 0; i < c->n; i++) {
            json_array_append_new(values, number(figure->values[i]));
            json_array_append_new(
                changes, number(compare_percent(figure->values[0], figure->values[i])));
        }
        json_array_append_new(figures,
                              json_pack("{s:s, s:s, s:o, s:o}", "key", figure->key,
                                        "title", figure->title, "values", values,
                                        "change_percent", changes));
    }
    return figures;
}

static json_t *
keys_json(const struct compare *c)
{
    json_t *keys = json_array();

    for (guint k = 0; k < c->keys->len; k++) {
        const struct compare_key *key = g_ptr_array_index(c->keys, k);
        json_t *values = json_array();

        for (guint i = 0; i < c->n; i++) {
            json_t *value = key->values[i]
                                ? json_loads(key->values[i], JSON_DECODE_ANY, NULL)
                                : json_null();

            json_array_append_new(values, value);
        }
        json_array_append_new(
            keys, json_pack("{s:s, s:o}", "key", key->path, "values", values));
    }
    return keys;
}

static json_t *
flow_json(const struct compare_flow *flow)
{
    if (!flow->name) {
        return json_null();
    }
    return json_pack("{s:s, s:f, s:f, s:f}", "flow", flow->name, "first", flow->first,
                     "other", flow->other, "change_percent",
                     compare_percent(flow->first, flow->other));
}

static json_t *
flows_json(const struct compare *c)
{
    json_t *all = json_array();

    for (guint i = 1; i < c->n; i++) {
        const struct compare_flows *flows = &c->flows[i];

        json_array_append_new(
            all,
            json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "dir",
                      c->folders[i].dir, "matched", (int)flows->n_both, "only_in_first",
                      (int)flows->n_only_first, "only_here", (int)flows->n_only_other,
                      "unlike", (int)flows->n_unlike, "compared", (int)flows->n_compared,
                      "mean_change_percent", number(flows->mean_percent), "largest_rise",
                      flow_json(&flows->rise), "largest_fall", flow_json(&flows->fall)));
    }
    return all;
}

static json_t *
notes_json(const struct compare *c)
{
    json_t *notes = json_array();

    for (guint i = 0; i < c->notes->len; i++) {
        json_array_append_new(notes, json_string(g_ptr_array_index(c->notes, i)));
    }
    return notes;
}

char *
compare_json(const struct compare *c)
{
    json_t *root = json_pack("{s:o, s:o, s:o, s:o, s:o}", "runs", runs_json(c), "notes",
                             notes_json(c), "figures", figures_json(c), "keys",
                             keys_json(c), "flows", flows_json(c));
    char *dumped = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    char *text = g_strdup_printf("%s\n", dumped);

    free(dumped);
    json_decref(root);
    return text;
}
