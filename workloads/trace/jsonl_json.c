/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsonl_json.c - single values of a line, with errors that say where.
 */
#include <config.h>

#include "workloads/trace/jsonl.h"

#include <string.h>

#include "sim/param.h"

gboolean
jsonl_fail(const struct jsonl *jsonl, enum trace_error code, GError **error,
           const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    for (char *c = text; *c; c++) {
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    }
    g_set_error(error, TRACE_ERROR, code, "%s:%" G_GUINT64_FORMAT ": %s", jsonl->path,
                jsonl->line, text);
    return FALSE;
}

gboolean
jsonl_check_keys(const struct jsonl *jsonl, const json_t *object,
                 const char *const keys[], GError **error)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (key[0] == '_' || g_strv_contains(keys, key)) {
            continue;
        }
        g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)keys);

        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "no key '%.60s'; nearest is '%s', there are %s", key,
                          param_nearest_word(keys, key), all);
    }
    return TRUE;
}

/* 'json' as it stands in the file, shortened. */
static char *
show(const json_t *json)
{
    g_autofree char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);

    return g_strdup_printf("%.60s", text != NULL ? text : "");
}

gboolean
jsonl_number(const struct jsonl *jsonl, const json_t *json, const char *name, int64_t low,
             int64_t high, int64_t *value, GError **error)
{
    if (json_is_integer(json)) {
        *value = json_integer_value(json);
        if (*value >= low && *value <= high) {
            return TRUE;
        }
    }
    g_autofree char *shown = json == NULL ? NULL : show(json);

    return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                      "%s %s%s; allowed are whole numbers from %" G_GINT64_FORMAT
                      " to %" G_GINT64_FORMAT,
                      name, shown ? "is " : "is missing", shown ? shown : "", low, high);
}

gboolean
jsonl_integer(const struct jsonl *jsonl, const json_t *object, const char *where,
              const char *key, int64_t low, int64_t high, int64_t *value, GError **error)
{
    g_autofree char *name = g_strconcat(where, key, NULL);

    return jsonl_number(jsonl, json_object_get(object, key), name, low, high, value,
                        error);
}

gboolean
jsonl_text(const struct jsonl *jsonl, const json_t *object, const char *where,
           const char *key, const char **value, GError **error)
{
    json_t *json = json_object_get(object, key);

    *value = json_string_value(json);
    if (*value != NULL && **value != '\0' && strpbrk(*value, "\r\n") == NULL) {
        return TRUE;
    }
    g_autofree char *shown = json == NULL ? NULL : show(json);

    return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                      "%s%s %s%s; allowed is a text of one line", where, key,
                      shown ? "is " : "is missing", shown ? shown : "");
}
