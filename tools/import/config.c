/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * config.c - reads `KEY value` files by a table.
 */
#include <config.h>

#include "tools/import/config.h"

#include <string.h>

#include "sim/decimal.h"
#include "sim/param.h"
#include "sim/text.h"
#include "tools/scenario/doc.h"
#include "topologies/file/ns3.h"

enum { MAP_MAX = 1000, NODE_MAX = 999999 };

static void
value_free(void *data)
{
    struct config_value *value = data;

    g_free(value->text);
    g_clear_pointer(&value->map, g_array_unref);
    g_free(value);
}

static gint
by_rate(gconstpointer a, gconstpointer b)
{
    const struct config_pair *x = a, *y = b;

    return x->rate_bps < y->rate_bps ? -1 : x->rate_bps > y->rate_bps;
}

static bool
read_map(struct text *t, const char *name, struct config_value *value)
{
    int64_t n;

    if (!text_integer(t, name, 0, MAP_MAX, &n)) {
        return false;
    }
    value->map = g_array_new(FALSE, FALSE, sizeof(struct config_pair));
    for (int64_t i = 0; i < n; i++) {
        struct config_pair pair;

        if (!text_integer(t, "a rate of the map (bit/s)", 1, TOPO_MAX_RATE_BPS,
                          &pair.rate_bps)) {
            return false;
        }
        if (value->key->kind == CONFIG_MAP_KB
                ? !text_integer(t, "a threshold of the map (KB)", 0, INT32_MAX,
                                &pair.value)
                : !text_decimal(t, "a share of the map", CONFIG_ONE, &pair.value)) {
            return false;
        }
        if (value->key->kind == CONFIG_MAP_SHARE && pair.value > CONFIG_ONE) {
            return text_fail(t, "a share of the map is %.60s; allowed is 0 to 1",
                             t->word);
        }
        g_array_append_val(value->map, pair);
    }
    g_array_sort(value->map, by_rate);
    for (guint i = 1; i < value->map->len; i++) {
        const struct config_pair *pair =
            &g_array_index(value->map, struct config_pair, i);

        if (pair->rate_bps == pair[-1].rate_bps) {
            return text_fail(t, "%s has %lld bit/s twice", name,
                             (long long)pair->rate_bps);
        }
    }
    return true;
}

/* A number times CONFIG_ONE; what is too large for that is as large as can be. */
static bool
read_number(struct text *t, const char *name, int64_t *number)
{
    struct decimal d;

    if (!text_need(t, name)) {
        return false;
    }
    if (decimal_read(t->word, &d) && *d.rest == '\0' && !d.negative &&
        decimal_scale(&d, CONFIG_ONE, true, number) == DECIMAL_TOO_LARGE) {
        *number = INT64_MAX;
        return true;
    }
    return text_as_decimal(t, name, CONFIG_ONE, number);
}

/* The words of a value, of the kind that its key has. */
static bool
read_words(struct text *t, struct config_value *value)
{
    const char *name = value->key->name;

    switch (value->key->kind) {
    case CONFIG_WORD:
        return text_need(t, name);
    case CONFIG_INTEGER:
        return text_integer(t, name, 0, INT64_MAX / 2, &value->number);
    case CONFIG_NUMBER:
        return read_number(t, name, &value->number);
    case CONFIG_RATE:
        return text_need(t, name) && ns3_rate(t, name, &value->number);
    case CONFIG_MAP_KB:
    case CONFIG_MAP_SHARE:
        return read_map(t, name, value);
    case CONFIG_LINK:
        return text_integer(t, "the time of LINK_DOWN (us)", 0, INT32_MAX,
                            &value->number) &&
               text_integer(t, "a node of LINK_DOWN", 0, NODE_MAX, &value->node[0]) &&
               text_integer(t, "a node of LINK_DOWN", 0, NODE_MAX, &value->node[1]);
    }
    return false;
}

/* The value that 't' stands before; NULL: t->message. */
static struct config_value *
read_value(struct text *t, const struct config_key *key)
{
    struct config_value *value = g_new0(struct config_value, 1);
    const char *start;

    while (t->at < t->end && g_ascii_isspace(*t->at)) {
        t->next_line += *t->at++ == '\n';
    }
    start = t->at;
    value->key = key;
    if (!read_words(t, value)) {
        value_free(value);
        return NULL;
    }
    value->text = g_strndup(start, (gsize)(t->at - start));
    for (char *c = value->text; *c != '\0'; c++) {
        *c = *c == '\n' || *c == '\t' || *c == '\r' ? ' ' : *c;
    }
    return value;
}

/* "{ ... }", which begins in the word. */
static bool
skip_braces(struct text *t)
{
    while (strchr(t->word, '}') == NULL) {
        if (!text_next(t)) {
            return text_fail(t, "a comment '{' has no '}'");
        }
    }
    return true;
}

static bool
unknown(struct text *t, const struct config_key *table, enum config_dialect dialect)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (const struct config_key *key = table; key->name != NULL; key++) {
        if (key->dialects & dialect) {
            g_ptr_array_add(names, (gpointer)(uintptr_t)key->name);
        }
    }
    g_ptr_array_add(names, NULL);
    return text_fail(t,
                     "no such key '%.60s'; nearest is '%s' (the original skips what it "
                     "does not know)",
                     t->word,
                     param_nearest_word((const char *const *)names->pdata, t->word));
}

static const struct config_key *
find_key(const struct config_key *table, enum config_dialect dialect, const char *name)
{
    for (const struct config_key *key = table; key->name != NULL; key++) {
        if ((key->dialects & dialect) && strcmp(key->name, name) == 0) {
            return key;
        }
    }
    return NULL;
}

/* One key and its value, or a comment. */
static bool
read_pair(struct text *t, struct config *config, const struct config_key *table,
          enum config_dialect dialect)
{
    const struct config_key *key;
    struct config_value *value, *old;
    unsigned line = t->line;

    if (t->word[0] == '#') {
        text_skip_line(t);
        return true;
    }
    if (t->word[0] == '{') {
        return skip_braces(t);
    }
    key = find_key(table, dialect, t->word);
    if (key == NULL) {
        return unknown(t, table, dialect);
    }
    value = read_value(t, key);
    if (value == NULL) {
        return false;
    }
    value->line = line;
    old = config->values->pdata[key - table];
    if (old != NULL && old->line != 0) {
        config_warn(config, value, "%s is there already, in line %u; the last one holds",
                    key->name, old->line);
    }
    if (old != NULL) {
        value_free(old);
    }
    config->values->pdata[key - table] = value;
    return true;
}

/* One warning for each reason, with all the keys that it is about. */
static void
warn_ignored(struct config *config)
{
    g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < config->values->len; i++) {
        const struct config_value *first = config->values->pdata[i];
        g_autoptr(GString) names = NULL;
        guint n = 0;

        if (first == NULL || first->line == 0 || first->key->ignored == NULL ||
            !g_hash_table_add(told, (gpointer)(uintptr_t)first->key->ignored)) {
            continue;
        }
        names = g_string_new(NULL);
        for (guint k = i; k < config->values->len; k++) {
            const struct config_value *value = config->values->pdata[k];

            if (value != NULL && value->line != 0 && value->key->ignored != NULL &&
                strcmp(value->key->ignored, first->key->ignored) == 0) {
                g_string_append_printf(names, "%s%s", n++ > 0 ? ", " : "",
                                       value->key->name);
            }
        }
        config_warn(config, first, "%s %s no effect here: %s", names->str,
                    n > 1 ? "have" : "has", first->key->ignored);
    }
}

/* What the original has where the file says nothing. */
static void
set_defaults(struct config *config, const struct config_key *table,
             enum config_dialect dialect)
{
    for (const struct config_key *key = table; key->name != NULL; key++) {
        struct config_value *value = NULL;
        struct text t;

        if ((key->dialects & dialect) && key->def != NULL) {
            text_init(&t, "default", key->def, strlen(key->def));
            value = read_value(&t, key);
            g_assert(value != NULL);
        }
        g_ptr_array_add(config->values, value);
    }
}

GQuark
import_error_quark(void)
{
    return g_quark_from_static_string("import-error");
}

struct config *
config_read(const char *file, const struct config_key *table, enum config_dialect dialect,
            const char *data, size_t n_bytes, GError **error)
{
    struct config *config = g_new0(struct config, 1);
    struct text t;

    config->file = g_strdup(file);
    config->values = g_ptr_array_new();
    config->warnings = g_ptr_array_new_with_free_func(g_free);
    set_defaults(config, table, dialect);
    text_init(&t, file, data, n_bytes);
    while (!t.failed && text_next(&t) && read_pair(&t, config, table, dialect)) {
    }
    if (t.failed) {
        g_autofree char *message = doc_one_line(t.message);

        g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FORM, "%s", message);
        config_free(config);
        return NULL;
    }
    warn_ignored(config);
    return config;
}

void
config_free(struct config *config)
{
    if (config == NULL) {
        return;
    }
    for (guint i = 0; i < config->values->len; i++) {
        if (config->values->pdata[i] != NULL) {
            value_free(config->values->pdata[i]);
        }
    }
    g_ptr_array_unref(config->values);
    g_ptr_array_unref(config->warnings);
    g_free(config->file);
    g_free(config);
}

const struct config_value *
config_find(const struct config *config, const char *name)
{
    for (guint i = 0; i < config->values->len; i++) {
        const struct config_value *value = config->values->pdata[i];

        if (value != NULL && strcmp(value->key->name, name) == 0) {
            return value;
        }
    }
    return NULL;
}

const struct config_value *
config_need(const struct config *config, const char *name, GError **error)
{
    const struct config_value *value = config_find(config, name);

    if (value == NULL) {
        g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FORM, "%s: %s is missing",
                    config->file, name);
    }
    return value;
}

int64_t
config_number(const struct config *config, const char *name)
{
    const struct config_value *value = config_find(config, name);

    g_assert(value != NULL);
    return value->number;
}

char *
config_origin(const struct config *config, const struct config_value *value)
{
    g_autofree char *base = g_path_get_basename(config->file);
    g_autofree char *line =
        value->line != 0
            ? g_strdup_printf("%s:%u: %s %s", base, value->line, value->key->name,
                              value->text)
            : g_strdup_printf("%s %s, what the original has where %s says nothing",
                              value->key->name, value->text, base);

    return doc_one_line(line);
}

/* "FILE:LINE: ...", or without a line for a default. */
static char *
located(const struct config *config, const struct config_value *value, const char *format,
        va_list args)
{
    g_autofree char *message = g_strdup_vprintf(format, args);
    g_autofree char *line =
        value != NULL && value->line != 0
            ? g_strdup_printf("%s:%u: %s", config->file, value->line, message)
            : g_strdup_printf("%s: %s", config->file, message);

    return doc_one_line(line);
}

gboolean
config_fail(const struct config *config, const struct config_value *value,
            enum import_error code, GError **error, const char *format, ...)
{
    g_autofree char *line = NULL;
    va_list args;

    va_start(args, format);
    line = located(config, value, format, args);
    va_end(args);
    g_set_error(error, IMPORT_ERROR, (gint)code, "%s", line);
    return FALSE;
}

void
config_warn(struct config *config, const struct config_value *value, const char *format,
            ...)
{
    va_list args;

    va_start(args, format);
    g_ptr_array_add(config->warnings, located(config, value, format, args));
    va_end(args);
}
