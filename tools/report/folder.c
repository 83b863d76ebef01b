/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * folder.c - a folder of results, see folder.h.
 */
#include <config.h>

#include "tools/report/folder.h"

#include <math.h>
#include <string.h>

GQuark
report_error_quark(void)
{
    return g_quark_from_static_string("report-error");
}

static json_t *
read_object(const struct folder *folder, const char *name, GError **error)
{
    g_autofree char *path = folder_file(folder, name);
    json_error_t bad;
    json_t *root = json_load_file(path, 0, &bad);

    if (json_is_object(root)) {
        return root;
    }
    if (root) {
        g_snprintf(bad.text, sizeof bad.text, "%s is no object", name);
    }
    g_set_error(error, REPORT_ERROR, REPORT_ERROR_INPUT,
                "%s: no folder of results: %s; give a folder that `rocesim run` has "
                "written",
                folder->dir, bad.text);
    json_decref(root);
    return NULL;
}

gboolean
folder_read(struct folder *folder, const char *dir, GError **error)
{
    *folder = (struct folder){.dir = g_strdup(dir)};
    folder->summary = read_object(folder, "summary.json", error);
    folder->config = folder->summary ? read_object(folder, "config.json", error) : NULL;
    if (!folder->config) {
        folder_clear(folder);
        return FALSE;
    }
    return TRUE;
}

void
folder_clear(struct folder *folder)
{
    g_clear_pointer(&folder->dir, g_free);
    g_clear_pointer(&folder->summary, json_decref);
    g_clear_pointer(&folder->config, json_decref);
}

char *
folder_file(const struct folder *folder, const char *name)
{
    return g_build_filename(folder->dir, name, NULL);
}

const json_t *
folder_at(const json_t *root, const char *path)
{
    const json_t *at = root;

    while (at && *path) {
        if (*path == '[') {
            char *end;

            at = json_array_get(at, (size_t)g_ascii_strtoull(path + 1, &end, 10));
            path = *end == ']' ? end + 1 : "";
        } else {
            size_t n = strcspn(path, ".[");
            g_autofree char *key = g_strndup(path, n);

            at = json_object_get(at, key);
            path += n;
        }
        path += *path == '.';
    }
    return at;
}

double
folder_number(const json_t *root, const char *path)
{
    const json_t *value = folder_at(root, path);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *
folder_text(const json_t *root, const char *path)
{
    return json_string_value(folder_at(root, path));
}
