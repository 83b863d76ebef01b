/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile.c - finds and reads models/profiles and workloads/cdf.
 */
#include <config.h>

#include "tools/scenario/profile.h"

#include <string.h>

#include "tools/data.h"

#define PROFILE_FOLDER "models/profiles"
#define CDF_FOLDER "workloads/cdf"

/* Parses the data file 'relative', which has to be there. */
static json_t *
load_data(const struct doc_at *at, const char *relative, char **file, GError **error)
{
    g_autofree char *path = data_find(relative);
    g_autofree char *data = NULL;
    size_t n_bytes;
    json_t *root;

    if (path == NULL) {
        doc_fail(
            at, SCENARIO_ERROR_FILE, error,
            "'%s' is in none of $ROCESIM_DATADIR, the program's folder and " PKGDATADIR,
            relative);
        return NULL;
    }
    data = doc_read_file(path, &n_bytes, error);
    root = data == NULL ? NULL : doc_parse(path, data, n_bytes, error);
    if (root != NULL) {
        *file = g_steal_pointer(&path);
    }
    return root;
}

/* Sets "no NOUN 'name'; nearest is 'x', there are a, b, c". */
static void
fail_name(const struct doc_at *at, const char *noun, const char *name, char **names,
          GError **error)
{
    g_autofree char *all = g_strjoinv(", ", names);
    const char *nearest = param_nearest_word((const char *const *)names, name);

    doc_fail(at, SCENARIO_ERROR_NAME, error,
             "no %s '%.60s'; nearest is '%s', there are %s", noun, name,
             nearest != NULL ? nearest : "", all);
}

json_t *
profile_values(const struct doc_at *at, const char *device, const char *name, char **file,
               GError **error)
{
    g_autofree char *prefix = g_strconcat(device, "-", NULL);
    g_auto(GStrv) names = data_list(PROFILE_FOLDER, prefix, ".json");
    g_autofree char *relative = NULL;
    json_t *root, *values, *value, *result;
    const char *key;

    if (names[0] != NULL && !g_strv_contains((const char *const *)names, name)) {
        fail_name(at, "such profile", name, names, error);
        return NULL;
    }
    relative = g_strdup_printf(PROFILE_FOLDER "/%s%s.json", prefix, name);
    root = load_data(at, relative, file, error);
    if (root == NULL) {
        return NULL;
    }
    values = json_object_get(root, "values");
    result = json_object();
    json_object_foreach(values, key, value)
    {
        json_object_set(result, key, json_object_get(value, "value"));
    }
    json_decref(root);
    return result;
}

json_t *
profile_ecn_set(const struct doc_at *at, const char *name, char **file, GError **error)
{
    json_t *root = load_data(at, PROFILE_FOLDER "/ecn-sets.json", file, error);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    json_t *set, *result;
    const char *key;

    if (root == NULL) {
        return NULL;
    }
    result = name[0] == '_' ? NULL : json_incref(json_object_get(root, name));
    json_object_foreach(root, key, set)
    {
        if (key[0] != '_') {
            g_ptr_array_add(names, (gpointer)(uintptr_t)key);
        }
    }
    g_ptr_array_add(names, NULL);
    if (result == NULL) {
        fail_name(at, "ECN set", name, (char **)names->pdata, error);
        g_clear_pointer(file, g_free);
    }
    json_decref(root);
    return result;
}

bool
profile_is_cdf_path(const char *text)
{
    return strpbrk(text, "./") != NULL;
}

char **
profile_cdf_names(void)
{
    return data_list(CDF_FOLDER, "", ".json");
}

char *
profile_cdf(const struct doc_at *at, const char *name, GError **error)
{
    g_autofree char *relative = g_strdup_printf(CDF_FOLDER "/%s.json", name);
    char *path = data_find(relative);

    if (path == NULL) {
        g_auto(GStrv) names = profile_cdf_names();

        fail_name(at, "distribution", name, names, error);
    }
    return path;
}
