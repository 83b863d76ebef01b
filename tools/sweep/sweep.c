/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sweep.c - reads a sweep, and makes the scenario of each of its runs; see sweep.h.
 */
#include <config.h>

#include "tools/sweep/sweep.h"

#include <string.h>

#include "tools/run.h"
#include "tools/scenario/doc.h"
#include "tools/summary_path.h"

/* Digits that a JSON number carries through a double unchanged. */
enum { DOUBLE_DIGITS = 15 };

/* What most people look at first; of these a run has those of its workloads. */
static const char *const default_metrics[] = {
    "sim_time_us",
    "flows.fct_us.p50",
    "flows.fct_us.p99",
    "flows.slowdown.p50",
    "flows.slowdown.p99",
    "collectives[0].busbw_GBps",
    "fabric.link_utilisation_max",
    "fabric.ecn_marked",
    "fabric.pfc_pause_share_max",
    "fabric.max_queue_bytes",
    NULL,
};

static char *
json_text(const json_t *value)
{
    char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                         JSON_REAL_PRECISION(DOUBLE_DIGITS));
    char *text = g_strdup(dumped);

    free(dumped);
    return text;
}

/* ---- axes ----------------------------------------------------------------------------- */

static void
axis_clear(void *data)
{
    struct sweep_axis *axis = data;

    g_free(axis->path);
    json_decref(axis->values);
}

static const struct sweep_axis *
axis_at(const struct sweep *sweep, uint32_t index)
{
    return &g_array_index(sweep->axes, struct sweep_axis, index);
}

static gboolean
read_axis(struct sweep *sweep, const struct doc_at *at, bool is_zipped, GError **error)
{
    struct sweep_axis axis = {.is_zipped = is_zipped};

    if (!doc_check_array(at, error)) {
        return FALSE;
    }
    if (json_array_size(at->json) == 0) {
        return doc_fail(at, SCENARIO_ERROR_VALUE, error,
                        "is empty; allowed is 1 or more values");
    }
    if (strcmp(at->key, "seed") == 0) {
        return doc_fail(at, SCENARIO_ERROR_VALUE, error,
                        "is no axis; allowed for seeds is the key seeds");
    }
    for (uint32_t i = 0; i < sweep->axes->len; i++) {
        if (strcmp(axis_at(sweep, i)->path, at->key) == 0) {
            return doc_fail(at, SCENARIO_ERROR_VALUE, error,
                            "is in axes, too; allowed is once");
        }
    }
    axis.path = g_strdup(at->key);
    axis.values = json_incref(at->json);
    g_array_append_val(sweep->axes, axis);
    return TRUE;
}

/* `axes` or `zip`: an object of lists. */
static gboolean
read_axes(struct sweep *sweep, const struct doc_at *root, const char *name,
          bool is_zipped, GError **error)
{
    struct doc_at at = doc_key(root, name);
    const char *key;
    json_t *value;

    if (at.json == NULL) {
        return TRUE;
    }
    if (!json_is_object(at.json)) {
        return doc_fail(&at, SCENARIO_ERROR_TYPE, error,
                        "allowed is an object of lists: {\"nic.mtu\": [1024, 4096]}");
    }
    json_object_foreach(at.json, key, value)
    {
        struct doc_at sub = doc_key(&at, key);

        if (key[0] != '_' && !read_axis(sweep, &sub, is_zipped, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* The number of points, and are zipped axes of one length? */
static gboolean
count_points(struct sweep *sweep, const struct doc_at *root, GError **error)
{
    struct doc_at zip = doc_key(root, "zip");
    uint64_t n = 1, zipped = 0;

    for (uint32_t i = 0; i < sweep->axes->len; i++) {
        const struct sweep_axis *axis = axis_at(sweep, i);
        size_t n_values = json_array_size(axis->values);

        if (axis->is_zipped && zipped != 0) {
            if (n_values != zipped) {
                return doc_fail_key(&zip, axis->path, SCENARIO_ERROR_VALUE, error,
                                    "has %zu values; allowed is %" G_GUINT64_FORMAT
                                    ", as the first",
                                    n_values, zipped);
            }
            continue;
        }
        zipped = axis->is_zipped ? n_values : 0;
        n *= n_values;
        if (n * sweep->seeds->len > SWEEP_MAX_RUNS) {
            return doc_fail_key(root, "axes", SCENARIO_ERROR_VALUE, error,
                                "make more than %d runs; allowed are %d", SWEEP_MAX_RUNS,
                                SWEEP_MAX_RUNS);
        }
    }
    sweep->n_points = (uint32_t)n;
    sweep->n_runs = sweep->n_points * sweep->seeds->len;
    return TRUE;
}

json_t *
sweep_value(const struct sweep *sweep, uint32_t axis, uint32_t point)
{
    uint32_t rest = point;

    for (uint32_t i = sweep->axes->len; i-- > 0;) {
        const struct sweep_axis *at = axis_at(sweep, i);
        uint32_t n_values = (uint32_t)json_array_size(at->values);

        if (i == axis) {
            return json_array_get(at->values, rest % n_values);
        }
        /* Of zipped ones the first moves on. */
        if (!at->is_zipped || i == 0 || !axis_at(sweep, i - 1)->is_zipped) {
            rest /= n_values;
        }
    }
    g_assert_not_reached();
}

/* ---- the file ------------------------------------------------------------------------- */

/* The name of 'file' without its folder and ".json".  Owned by the caller. */
static char *
name_of_file(const char *file)
{
    g_autofree char *valid = g_utf8_make_valid(file, -1);
    char *name = g_path_get_basename(valid);

    if (g_str_has_suffix(name, ".json") && strlen(name) > strlen(".json")) {
        name[strlen(name) - strlen(".json")] = '\0';
    }
    return name;
}

static gboolean
read_name(struct sweep *sweep, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "name");
    const char *text;

    if (at.json == NULL) {
        sweep->name = name_of_file(sweep->file);
        return TRUE;
    }
    if (!doc_text(&at, &text, error)) {
        return FALSE;
    }
    if (strchr(text, '/') != NULL || text[0] == '.' || strlen(text) > SCENARIO_NAME_MAX) {
        return doc_fail(&at, SCENARIO_ERROR_VALUE, error,
                        "has a '/', begins with '.' or is longer than %d bytes; it names "
                        "the folder of results",
                        SCENARIO_NAME_MAX);
    }
    sweep->name = g_strdup(text);
    return TRUE;
}

/* `base`: a scenario, or the file of one. */
static gboolean
read_base(struct sweep *sweep, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "base");
    const char *text;

    if (json_is_object(at.json)) {
        sweep->base_file = g_strdup(sweep->file);
        sweep->base = doc_resolve_base(sweep->file, json_deep_copy(at.json), error);
    } else {
        g_autofree char *folder = g_path_get_dirname(sweep->file);

        if (!doc_text(&at, &text, error)) {
            return FALSE;
        }
        sweep->base_file = g_path_is_absolute(text) || strcmp(folder, ".") == 0
                               ? g_strdup(text)
                               : g_build_filename(folder, text, NULL);
        sweep->base = doc_load(sweep->base_file, error);
    }
    if (sweep->base == NULL) {
        return FALSE;
    }
    if (json_object_get(sweep->base, "name") == NULL) {
        g_autofree char *name = name_of_file(sweep->base_file);

        json_object_set_new(sweep->base, "name", json_string(name));
    }
    sweep->base_text = json_text(sweep->base);
    return TRUE;
}

static gboolean
read_seed_list(struct sweep *sweep, const struct doc_at *at, GError **error)
{
    for (size_t i = 0; i < json_array_size(at->json); i++) {
        struct doc_at sub = doc_index(at, i);
        int64_t seed;

        if (!doc_integer(&sub, 0, INT64_MAX, &seed, error)) {
            return FALSE;
        }
        for (guint k = 0; k < sweep->seeds->len; k++) {
            if (g_array_index(sweep->seeds, int64_t, k) == seed) {
                return doc_fail(&sub, SCENARIO_ERROR_VALUE, error,
                                "is %" G_GINT64_FORMAT " again; allowed is each once",
                                seed);
            }
        }
        g_array_append_val(sweep->seeds, seed);
    }
    return sweep->seeds->len > 0 ||
           doc_fail(at, SCENARIO_ERROR_VALUE, error, "is empty; allowed is 1 or more");
}

/* `seeds`: how many, from the scenario's own on, or a list; without it the scenario's. */
static gboolean
read_seeds(struct sweep *sweep, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "seeds");
    const json_t *own = json_object_get(sweep->base, "seed");
    int64_t n = 1, first = json_is_integer(own) ? json_integer_value(own) : 1;

    if (json_is_array(at.json)) {
        return read_seed_list(sweep, &at, error);
    }
    if (at.json != NULL && !json_is_integer(at.json)) {
        return doc_fail(&at, SCENARIO_ERROR_TYPE, error,
                        "allowed is how many, or a list of numbers");
    }
    if (at.json != NULL && !doc_integer(&at, 1, SWEEP_MAX_RUNS, &n, error)) {
        return FALSE;
    }
    if (first < 0 || first > INT64_MAX - n) {
        first = 1; /* the loader will say what is wrong with it */
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t seed = first + i;

        g_array_append_val(sweep->seeds, seed);
    }
    return TRUE;
}

static gboolean
read_metrics(struct sweep *sweep, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "metrics");
    const char *text;

    for (size_t i = 0; at.json == NULL && default_metrics[i] != NULL; i++) {
        g_ptr_array_add(sweep->metrics, g_strdup(default_metrics[i]));
    }
    if (at.json == NULL) {
        return TRUE;
    }
    if (!doc_check_array(&at, error)) {
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(at.json); i++) {
        struct doc_at sub = doc_index(&at, i);

        if (!doc_text(&sub, &text, error)) {
            return FALSE;
        }
        g_ptr_array_add(sweep->metrics, g_strdup(text));
    }
    return sweep->metrics->len > 0 ||
           doc_fail(&at, SCENARIO_ERROR_VALUE, error, "is empty; allowed is 1 or more");
}

/* Does each lead to a number of a summary? */
static gboolean
check_metrics(const struct sweep *sweep, const struct doc_at *root,
              const struct scenario *scenario, GError **error)
{
    struct doc_at at = doc_key(root, "metrics");
    json_t *shape = summary_path_shape(scenario);
    gboolean ok = TRUE;

    for (guint i = 0; ok && i < sweep->metrics->len; i++) {
        const char *path = g_ptr_array_index(sweep->metrics, i);
        g_autofree char *fault = summary_path_fault(path, shape);
        struct doc_at sub = doc_index(&at, i);
        const json_t *value = fault == NULL ? summary_path_find(shape, path) : NULL;

        if (fault != NULL) {
            ok = doc_fail(&sub, SCENARIO_ERROR_NAME, error, "is \"%.60s\": %s", path,
                          fault);
        } else if (json_is_string(value) || json_is_boolean(value)) {
            ok = doc_fail(&sub, SCENARIO_ERROR_VALUE, error,
                          "is \"%.60s\", which is no number; allowed is one", path);
        }
    }
    json_decref(shape);
    return ok;
}

static gboolean
read_keep(struct sweep *sweep, const struct doc_at *root, GError **error)
{
    static const char *const words[] = {"summary", "all", NULL};
    struct doc_at at = doc_key(root, "keep");
    int index = 0;

    if (at.json != NULL && !doc_word(&at, words, NULL, &index, error)) {
        return FALSE;
    }
    sweep->keep_all = index == 1;
    return TRUE;
}

/* Can it be built? */
static gboolean
check_build(const struct sweep *sweep, const struct scenario *scenario, GError **error)
{
    struct run *run = run_new(scenario, NULL, error);

    if (run == NULL) {
        g_autofree char *where = sweep_point_text(sweep, 0);

        g_prefix_error(error, "%s: %s: ", sweep->file, where);
        return FALSE;
    }
    run_free(run);
    return TRUE;
}

/* Is every point a scenario?  With the first one, are the metrics in its summary, and can it
 * be built?  Where a later one cannot, its runs will say so. */
static gboolean
check_points(const struct sweep *sweep, const struct doc_at *root, GError **error)
{
    for (uint32_t p = 0; p < sweep->n_points; p++) {
        struct scenario *s = sweep_scenario(sweep, p * sweep->seeds->len, error);
        gboolean ok = s != NULL && (p > 0 || (check_metrics(sweep, root, s, error) &&
                                              check_build(sweep, s, error)));

        scenario_free(s);
        if (!ok) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
read_sweep(struct sweep *sweep, const struct doc_at *root, GError **error)
{
    static const struct doc_key keys[] = {
        {"name", false},    {"source", false}, {"base", false},
        {"axes", false},    {"zip", false},    {"seeds", false},
        {"metrics", false}, {"keep", false},   {NULL, false}};

    return doc_check_object(root, keys, NULL, error) && read_name(sweep, root, error) &&
           read_base(sweep, root, error) && read_seeds(sweep, root, error) &&
           read_axes(sweep, root, "axes", false, error) &&
           read_axes(sweep, root, "zip", true, error) &&
           count_points(sweep, root, error) && read_metrics(sweep, root, error) &&
           read_keep(sweep, root, error) && check_points(sweep, root, error);
}

struct sweep *
sweep_load(const char *path, GError **error)
{
    size_t n_bytes;
    g_autofree char *data = doc_read_file(path, &n_bytes, error);
    json_t *json = data == NULL ? NULL : doc_parse(path, data, n_bytes, error);
    struct doc_at root = doc_root(path, json);
    struct sweep *sweep;

    if (json == NULL) {
        return NULL;
    }
    sweep = g_new0(struct sweep, 1);
    sweep->file = g_strdup(path);
    sweep->axes = g_array_new(FALSE, TRUE, sizeof(struct sweep_axis));
    g_array_set_clear_func(sweep->axes, axis_clear);
    sweep->seeds = g_array_new(FALSE, FALSE, sizeof(int64_t));
    sweep->metrics = g_ptr_array_new_with_free_func(g_free);
    if (!read_sweep(sweep, &root, error)) {
        g_clear_pointer(&sweep, sweep_free);
    }
    json_decref(json);
    return sweep;
}

void
sweep_free(struct sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    g_free(sweep->file);
    g_free(sweep->name);
    g_free(sweep->base_file);
    json_decref(sweep->base);
    g_free(sweep->base_text);
    g_array_unref(sweep->axes);
    g_array_unref(sweep->seeds);
    g_ptr_array_unref(sweep->metrics);
    g_free(sweep);
}

/* ---- runs ----------------------------------------------------------------------------- */

char *
sweep_value_text(const struct sweep *sweep, uint32_t axis, uint32_t point)
{
    const json_t *value = sweep_value(sweep, axis, point);

    return json_is_string(value) ? g_strdup(json_string_value(value)) : json_text(value);
}

char *
sweep_point_text(const struct sweep *sweep, uint32_t point)
{
    GString *text = g_string_new(NULL);

    g_string_printf(text, "point %u", point);
    for (uint32_t i = 0; i < sweep->axes->len; i++) {
        g_autofree char *value = sweep_value_text(sweep, i, point);

        g_string_append_printf(text, "%s%s=%.60s", i == 0 ? " (" : ", ",
                               axis_at(sweep, i)->path, value);
    }
    return g_string_free(g_string_append(text, sweep->axes->len > 0 ? ")" : ""), FALSE);
}

int64_t
sweep_seed(const struct sweep *sweep, uint32_t run)
{
    return g_array_index(sweep->seeds, int64_t, run % sweep->seeds->len);
}

struct scenario *
sweep_scenario(const struct sweep *sweep, uint32_t run, GError **error)
{
    uint32_t point = run / sweep->seeds->len;
    g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
    struct scenario *s;

    if (!sweep->keep_all) {
        /* Nobody would see them. */
        g_ptr_array_add(sets, g_strdup("output.sample=off"));
        g_ptr_array_add(sets, g_strdup("output.pcap=[]"));
    }
    for (uint32_t i = 0; i < sweep->axes->len; i++) {
        g_autofree char *value = json_text(sweep_value(sweep, i, point));

        g_ptr_array_add(sets, g_strdup_printf("%s=%s", axis_at(sweep, i)->path, value));
    }
    g_ptr_array_add(sets,
                    g_strdup_printf("seed=%" G_GINT64_FORMAT, sweep_seed(sweep, run)));
    g_ptr_array_add(sets, NULL);
    s = scenario_load_data(sweep->base_file, sweep->base_text, strlen(sweep->base_text),
                           (const char *const *)sets->pdata, error);
    if (s == NULL) {
        g_autofree char *where = sweep_point_text(sweep, point);

        g_prefix_error(error, "%s: %s: ", sweep->file, where);
    }
    return s;
}

char *
sweep_run_name(const struct sweep *sweep, uint32_t run)
{
    return g_strdup_printf("%04u-seed%" G_GINT64_FORMAT, run / sweep->seeds->len,
                           sweep_seed(sweep, run));
}

char *
sweep_to_text(const struct sweep *sweep)
{
    json_t *root = json_object(), *axes = json_object(), *zip = json_object(),
           *seeds = json_array(), *metrics = json_array();
    char *dumped, *text;

    for (uint32_t i = 0; i < sweep->axes->len; i++) {
        const struct sweep_axis *axis = axis_at(sweep, i);

        json_object_set(axis->is_zipped ? zip : axes, axis->path, axis->values);
    }
    for (guint i = 0; i < sweep->seeds->len; i++) {
        json_array_append_new(seeds,
                              json_integer(g_array_index(sweep->seeds, int64_t, i)));
    }
    for (guint i = 0; i < sweep->metrics->len; i++) {
        json_array_append_new(metrics, json_string(g_ptr_array_index(sweep->metrics, i)));
    }
    json_object_set_new(root, "name", json_string(sweep->name));
    json_object_set(root, "base", sweep->base);
    json_object_set_new(root, "axes", axes);
    json_object_set_new(root, "zip", zip);
    json_object_set_new(root, "seeds", seeds);
    json_object_set_new(root, "metrics", metrics);
    json_object_set_new(root, "keep", json_string(sweep->keep_all ? "all" : "summary"));
    dumped = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(DOUBLE_DIGITS));
    text = g_strconcat(dumped, "\n", NULL);
    free(dumped);
    json_decref(root);
    return text;
}
