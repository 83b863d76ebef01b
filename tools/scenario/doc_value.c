/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * doc_value.c - values of JSON documents: where they stand, what they may be, how they are
 * written.
 */
#include <config.h>

#include "tools/scenario/doc.h"

#include <assert.h>
#include <string.h>

#include "tools/scenario/units.h"

/* Characters of a value that a message shows; digits that a JSON number carries through a
 * double unchanged. */
enum { SHOWN_MAX = 60, DOUBLE_DIGITS = 15 };

struct doc_at
doc_root(const char *file, json_t *root)
{
    return (struct doc_at){.json = root, .file = file};
}

struct doc_at
doc_key(const struct doc_at *at, const char *key)
{
    return (struct doc_at){.up = at, .key = key, .json = json_object_get(at->json, key)};
}

struct doc_at
doc_index(const struct doc_at *at, size_t index)
{
    return (struct doc_at){
        .up = at, .index = index, .json = json_array_get(at->json, index)};
}

static void
append_path(const struct doc_at *at, GString *path)
{
    if (at->up == NULL) {
        return;
    }
    append_path(at->up, path);
    if (at->key == NULL) {
        g_string_append_printf(path, "[%zu]", at->index);
        return;
    }
    if (path->len > 0) {
        g_string_append_c(path, '.');
    }
    if (at->key[strcspn(at->key, ".[]=\" ")] != '\0' || at->key[0] == '\0') {
        g_string_append_printf(path, "\"%s\"", at->key);
    } else {
        g_string_append(path, at->key);
    }
}

char *
doc_path(const struct doc_at *at)
{
    GString *path = g_string_new(NULL);

    append_path(at, path);
    return g_string_free(path, FALSE);
}

char *
doc_one_line(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *line = g_string_new(NULL);

    for (const char *c = valid; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            g_string_append_printf(line, "\\x%02x", (unsigned)*c);
        } else {
            g_string_append_c(line, *c);
        }
    }
    return g_string_free(line, FALSE);
}

static gboolean
fail_valist(const struct doc_at *at, enum scenario_error code, GError **error,
            const char *format, va_list args)
{
    g_autofree char *message = g_strdup_vprintf(format, args);
    g_autofree char *path = doc_path(at);
    g_autofree char *all = NULL, *line = NULL;
    const struct doc_at *root = at;

    while (root->up != NULL) {
        root = root->up;
    }
    all = path[0] == '\0' ? g_strdup_printf("%s: %s", root->file, message)
                          : g_strdup_printf("%s: %s: %s", root->file, path, message);
    line = doc_one_line(all);
    g_set_error_literal(error, SCENARIO_ERROR, (gint)code, line);
    return FALSE;
}

gboolean
doc_fail(const struct doc_at *at, enum scenario_error code, GError **error,
         const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail_valist(at, code, error, format, args);
    va_end(args);
    return FALSE;
}

gboolean
doc_fail_key(const struct doc_at *at, const char *key, enum scenario_error code,
             GError **error, const char *format, ...)
{
    struct doc_at sub = doc_key(at, key);
    va_list args;

    va_start(args, format);
    fail_valist(&sub, code, error, format, args);
    va_end(args);
    return FALSE;
}

char *
doc_show(const json_t *json)
{
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT |
                                      JSON_REAL_PRECISION(DOUBLE_DIGITS));
    char *shown;

    if (text == NULL) {
        return g_strdup("something");
    }
    shown = g_utf8_strlen(text, -1) <= SHOWN_MAX ? g_strdup(text) : NULL;
    if (shown == NULL) {
        g_autofree char *start = g_utf8_substring(text, 0, SHOWN_MAX - 3);
        shown = g_strconcat(start, "...", NULL);
    }
    free(text);
    return shown;
}

/* Sets "is VALUE; allowed is WANTED". */
static gboolean
fail_type(const struct doc_at *at, const char *wanted, GError **error)
{
    g_autofree char *shown = at->json != NULL ? doc_show(at->json) : NULL;

    if (shown == NULL) {
        return doc_fail(at, SCENARIO_ERROR_KEY, error, "is missing; needed is %s",
                        wanted);
    }
    return doc_fail(at, SCENARIO_ERROR_TYPE, error, "is %s; allowed is %s", shown,
                    wanted);
}

/* The names of 'keys' and 'table' that may be used. */
static GPtrArray *
usable_names(const struct doc_key *keys, const struct param *table)
{
    GPtrArray *names = g_ptr_array_new();

    for (; keys != NULL && keys->name != NULL; keys++) {
        if (!keys->later) {
            g_ptr_array_add(names, (gpointer)(uintptr_t)keys->name);
        }
    }
    for (; table != NULL && table->name != NULL; table++) {
        g_ptr_array_add(names, (gpointer)(uintptr_t)table->name);
    }
    g_ptr_array_add(names, NULL);
    return names;
}

static gboolean
check_key(const struct doc_at *at, const char *key, const struct doc_key *keys,
          const struct param *table, GError **error)
{
    g_autoptr(GPtrArray) names = NULL;
    const char *nearest;

    if (table != NULL && param_find(table, key) != NULL) {
        return TRUE;
    }
    for (const struct doc_key *k = keys; k != NULL && k->name != NULL; k++) {
        if (strcmp(k->name, key) == 0) {
            return k->later ? doc_fail_key(at, key, SCENARIO_ERROR_LATER, error,
                                           "is not supported yet")
                            : TRUE;
        }
    }
    names = usable_names(keys, table);
    nearest = param_nearest_word((const char *const *)names->pdata, key);
    return doc_fail_key(at, key, SCENARIO_ERROR_KEY, error,
                        nearest != NULL ? "no such key; nearest is '%s'"
                                        : "no such key; none is allowed here",
                        nearest);
}

gboolean
doc_check_object(const struct doc_at *at, const struct doc_key *keys,
                 const struct param *table, GError **error)
{
    const char *key;
    json_t *value;

    if (!json_is_object(at->json)) {
        return fail_type(at, "an object {...}", error);
    }
    json_object_foreach(at->json, key, value)
    {
        if (key[0] != '_' && !check_key(at, key, keys, table, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
doc_check_array(const struct doc_at *at, GError **error)
{
    return json_is_array(at->json) || fail_type(at, "a list [...]", error);
}

gboolean
doc_text(const struct doc_at *at, const char **text, GError **error)
{
    if (!json_is_string(at->json) || json_string_length(at->json) == 0) {
        return fail_type(at, "a text \"...\"", error);
    }
    *text = json_string_value(at->json);
    return TRUE;
}

/* "a", "b" or "c". */
static char *
list_words(const char *const *words)
{
    GString *list = g_string_new(NULL);

    for (size_t i = 0; words[i] != NULL; i++) {
        g_string_append_printf(list, "%s\"%s\"",
                               i == 0                 ? ""
                               : words[i + 1] == NULL ? " or "
                                                      : ", ",
                               words[i]);
    }
    return g_string_free(list, FALSE);
}

gboolean
doc_word(const struct doc_at *at, const char *const *words, const char *const *later,
         int *index, GError **error)
{
    g_autofree char *list = list_words(words);
    const char *text = json_string_value(at->json);

    if (text == NULL) {
        return fail_type(at, list, error);
    }
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return TRUE;
        }
    }
    for (; later != NULL && *later != NULL; later++) {
        if (strcmp(*later, text) == 0) {
            return doc_fail(at, SCENARIO_ERROR_LATER, error,
                            "\"%s\" is not supported yet; allowed is %s", text, list);
        }
    }
    return doc_fail(at, SCENARIO_ERROR_VALUE, error,
                    "is \"%.60s\"; nearest is \"%s\", allowed is %s", text,
                    param_nearest_word(words, text), list);
}

gboolean
doc_bool(const struct doc_at *at, bool *value, GError **error)
{
    if (!json_is_boolean(at->json)) {
        return fail_type(at, "true or false", error);
    }
    *value = json_is_true(at->json);
    return TRUE;
}

gboolean
doc_integer(const struct doc_at *at, int64_t min, int64_t max, int64_t *value,
            GError **error)
{
    g_autofree char *wanted = g_strdup_printf(
        "a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, min, max);

    if (!json_is_integer(at->json)) {
        return fail_type(at, wanted, error);
    }
    if (json_integer_value(at->json) < min || json_integer_value(at->json) > max) {
        g_autofree char *shown = doc_show(at->json);

        return doc_fail(at, SCENARIO_ERROR_VALUE, error, "is %s; allowed is %s", shown,
                        wanted);
    }
    *value = json_integer_value(at->json);
    return TRUE;
}

/* ---- parameters ----------------------------------------------------------------------- */

/* The word that may be written for PARAM_SPECIAL, or NULL. */
static const char *
special_word(const struct param *p)
{
    return p->special != NULL && strcmp(p->special, PARAM_REQUIRED) != 0 ? p->special
                                                                         : NULL;
}

/* ", or "off"", ", "none" or "bdp"": the words that 'p' takes instead of a quantity. */
static char *
words_of(const struct param *p)
{
    const char *word = special_word(p);

    if (word == NULL) {
        return g_strdup("");
    }
    return p->zero != NULL ? g_strdup_printf(", \"%s\" or \"%s\"", p->zero, word)
                           : g_strdup_printf(", or \"%s\"", word);
}

/* What 'p' takes, in words: "a time such as "2.5us" (...), or "off"". */
static char *
wanted_of(const struct param *p)
{
    g_autofree char *words = p->names != NULL ? list_words(p->names) : NULL;
    const char *kind = units_wanted(p->kind);

    if (p->kind == PARAM_INTEGER && words != NULL) {
        return g_strjoinv(", ", (char **)(uintptr_t)p->names);
    }
    if (words != NULL) {
        return g_steal_pointer(&words);
    }
    g_autofree char *others = words_of(p);

    return g_strconcat(kind, others, NULL);
}

/* "1us to 1s", or "..., or "off"". */
static char *
range_of(const struct param *p)
{
    char low[PARAM_TEXT_BYTES], high[PARAM_TEXT_BYTES];
    const char *word = special_word(p);

    if (p->kind == PARAM_INTEGER && p->names != NULL) {
        return g_strjoinv(", ", (char **)(uintptr_t)p->names);
    }
    param_format(p, p->min, low);
    param_format(p, p->max, high);
    return word != NULL ? g_strdup_printf("%s to %s, or \"%s\"", low, high, word)
                        : g_strdup_printf("%s to %s", low, high);
}

/* The number of 'at' in the text form that units_parse() reads exactly. */
static void
number_text(const json_t *json, char text[G_ASCII_DTOSTR_BUF_SIZE])
{
    if (json_is_integer(json)) {
        g_snprintf(text, G_ASCII_DTOSTR_BUF_SIZE, "%" JSON_INTEGER_FORMAT,
                   json_integer_value(json));
    } else {
        /* What a person wrote with up to 15 digits comes back as it was. */
        g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, "%.15g", json_real_value(json));
    }
}

/* A quantity, number or ratio as text or number. */
static gboolean
read_quantity(const struct doc_at *at, const struct param *p, int64_t *value,
              GError **error)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    const char *text = json_string_value(at->json);
    g_autoptr(GError) cause = NULL;
    bool counts = p->kind == PARAM_INTEGER;

    if (text != NULL && g_strcmp0(text, special_word(p)) == 0) {
        *value = PARAM_SPECIAL;
        return TRUE;
    }
    if (text != NULL && g_strcmp0(text, p->zero) == 0) {
        *value = 0;
        return TRUE;
    }
    if (counts ? !json_is_integer(at->json) : text == NULL && !json_is_number(at->json)) {
        g_autofree char *wanted = wanted_of(p);

        return fail_type(at, wanted, error);
    }
    if (counts) {
        *value = json_integer_value(at->json);
        return TRUE;
    }
    if (text == NULL) {
        number_text(at->json, number);
        text = number;
    }
    if (!units_parse(text, p->kind, value, &cause)) {
        g_autofree char *others = words_of(p);

        return doc_fail(at, SCENARIO_ERROR_VALUE, error, "%s%s", cause->message, others);
    }
    return TRUE;
}

gboolean
doc_param_value(const struct doc_at *at, const struct param *p, int64_t *value,
                GError **error)
{
    static const char *const no_names[] = {NULL};
    bool flag = false;
    int index;

    if (p->kind == PARAM_ENUM || (p->kind == PARAM_BOOL && p->names != NULL)) {
        if (!doc_word(at, p->names != NULL ? p->names : no_names, NULL, &index, error)) {
            return FALSE;
        }
        *value = index;
        return TRUE;
    }
    if (p->kind == PARAM_BOOL) {
        if (!doc_bool(at, &flag, error)) {
            return FALSE;
        }
        *value = flag;
        return TRUE;
    }
    if (!read_quantity(at, p, value, error)) {
        return FALSE;
    }
    /* A negative integer must not pass as the special word's number. */
    if (!param_allows(p, *value) ||
        (*value == PARAM_SPECIAL && json_is_number(at->json) && p->special != NULL)) {
        g_autofree char *shown = doc_show(at->json), *range = range_of(p);

        return doc_fail(at, SCENARIO_ERROR_VALUE, error, "is %s; allowed is %s", shown,
                        range);
    }
    return TRUE;
}

gboolean
doc_params(const struct doc_at *at, const struct param *table, void *blob, uint64_t *set,
           GError **error)
{
    for (const struct param *p = table; p->name != NULL; p++) {
        struct doc_at sub = doc_key(at, p->name);
        int64_t value = 0;

        assert(p - table < 64);
        if (sub.json == NULL) {
            continue;
        }
        if (!doc_param_value(&sub, p, &value, error)) {
            return FALSE;
        }
        param_set(p, blob, value);
        if (set != NULL) {
            *set |= UINT64_C(1) << (p - table);
        }
    }
    return TRUE;
}

json_t *
doc_param_json(const struct param *p, int64_t value)
{
    char text[PARAM_TEXT_BYTES];
    size_t digits = 0;

    param_format(p, value, text);
    if (p->special != NULL && value == PARAM_SPECIAL) {
        return json_string(text);
    }
    switch (p->kind) {
    case PARAM_INTEGER:
        return json_integer(value);
    case PARAM_FRACTION:
    case PARAM_SHARE:
        for (const char *c = text; *c != '\0'; c++) {
            digits += g_ascii_isdigit(*c) && (digits > 0 || *c != '0');
        }
        return digits <= DOUBLE_DIGITS ? json_real(g_ascii_strtod(text, NULL))
                                       : json_string(text);
    case PARAM_BOOL:
        return p->names != NULL ? json_string(text) : json_boolean(value != 0);
    case PARAM_TIME:
    case PARAM_RATE:
    case PARAM_SIZE:
    case PARAM_LENGTH:
    case PARAM_RATIO:
    case PARAM_ENUM:
        break;
    }
    return json_string(text);
}

void
doc_put_params(json_t *object, const struct param *table, const void *blob, uint64_t set)
{
    for (const struct param *p = table; p->name != NULL; p++) {
        if (set & UINT64_C(1) << (p - table)) {
            json_object_set_new(object, p->name, doc_param_json(p, param_get(p, blob)));
        }
    }
}
