/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * summary_path.c - paths into summary.json, see summary_path.h.
 */
#include <config.h>

#include "tools/summary_path.h"

#include <stdlib.h>
#include <string.h>

#include "sim/param.h"
#include "tools/results/summary.h"

/* One step of a path: "[3]" or "name"; moves '*path' behind it.  NULL: not there. */
static json_t *
step(json_t *value, const char **path)
{
    const char *p = *path;

    if (*p == '[') {
        char *end;
        unsigned long index = strtoul(p + 1, &end, 10);

        *path = *end == ']' ? end + 1 : end;
        return json_is_array(value) ? json_array_get(value, index) : NULL;
    }
    p += *p == '.';
    size_t n = strcspn(p, ".[");
    g_autofree char *name = g_strndup(p, n);

    *path = p + n;
    return json_is_object(value) ? json_object_get(value, name) : NULL;
}

json_t *
summary_path_find(json_t *summary, const char *path)
{
    json_t *value = summary;

    while (value && *path) {
        value = step(value, &path);
    }
    return value;
}

char *
summary_path_fault(const char *path, json_t *shape)
{
    const char *rest = path;
    json_t *value = shape;

    while (*rest) {
        const char *from = rest;
        json_t *next = step(value, &rest);

        if (*from == '[' && json_is_array(value)) {
            /* How many there are shows only after the run. */
            next = json_array_get(value, 0);
            if (!next) {
                return *rest ? g_strdup("goes into a text") : NULL;
            }
        }
        if (!next) {
            g_autofree char *where = g_strndup(path, (gsize)(from - path));
            g_autoptr(GPtrArray) names = g_ptr_array_new();
            const char *key;
            json_t *other;

            json_object_foreach(value, key, other)
            {
                g_ptr_array_add(names, (gpointer)key);
            }
            g_ptr_array_add(names, NULL);
            from += *from == '.';
            g_autofree char *name = g_strndup(from, (gsize)(rest - from));
            const char *nearest =
                param_nearest_word((const char *const *)names->pdata, name);

            return nearest
                       ? g_strdup_printf("no such value in summary.json; nearest is "
                                         "'%s%s%s'",
                                         where, *where ? "." : "", nearest)
                       : g_strdup_printf(
                             "no such value in summary.json; '%s' is %s", where,
                             json_is_array(value) ? "a list [...]" : "a single value");
        }
        value = next;
    }
    if (json_is_object(value) || json_is_array(value)) {
        return g_strdup_printf("is %s of summary.json; allowed is a single value in it",
                               json_is_object(value) ? "an object" : "a list");
    }
    return NULL;
}

json_t *
summary_path_shape(const struct scenario *scenario)
{
    struct run_result *blank = run_result_new(scenario);
    struct result_call call = {.call = {.op = "", .algorithm = "", .protocol = ""}};
    struct result_work work = {.type = ""};
    struct result_root cause = {.node = "", .to = ""};

    g_array_append_val(blank->calls, call);
    g_array_append_val(blank->works, work);
    blank->pauses.roots = g_array_new(FALSE, TRUE, sizeof(struct result_root));
    g_array_append_val(blank->pauses.roots, cause);
    g_autofree char *text = summary_to_json(blank);

    run_result_free(blank);
    return json_loads(text, 0, NULL);
}
