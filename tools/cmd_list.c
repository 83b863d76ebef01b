/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_list.c - `rocesim list`: what there is, out of the tables and the profiles.
 */
#include <config.h>

#include <string.h>

#include <jansson.h>

#include "tools/command.h"
#include "tools/data.h"
#include "tools/import/import.h"
#include "tools/scenario/profile.h"
#include "tools/scenario/scenario.h"
#include "workloads/cdf.h"
#include "workloads/trace/trace.h"
#include "workloads/work.h"

#define PROFILES "models/profiles"
#define ECN_SETS PROFILES "/ecn-sets.json"
#define SCENARIOS "scenarios"

struct list_options {
    bool guesses;
};

static const struct option list_options[] = {
    {"guesses", 0, OPTION_FLAG, offsetof(struct list_options, guesses), NULL,
     "only values that are guesses, of parameters and profiles"},
    {0},
};

/* ---- tables --------------------------------------------------------------------------- */

/* Does something with each table of parameters. */
typedef void each_table(void *ctx, const char *object, const struct param *table);

static void
each_param_table(each_table *visit, void *ctx)
{
    const char *object;
    const struct param *table;

    for (size_t i = 0; (table = scenario_param_table(i, &object)) != NULL; i++) {
        visit(ctx, *object ? object : "scenario", table);
    }
    for (size_t i = 0; topo_list[i]; i++) {
        g_autofree char *name = g_strdup_printf("topology (%s)", topo_list[i]->name);

        visit(ctx, name, topo_list[i]->params);
    }
    for (size_t i = 0; cc_list[i]; i++) {
        g_autofree char *name = g_strdup_printf("cc.params (%s)", cc_list[i]->name);

        visit(ctx, name, cc_list[i]->params);
    }
}

/* Is 'object' what is meant by 'wanted': its name, or the part before a dot or a bracket? */
static bool
is_meant(const char *object, const char *wanted)
{
    size_t n = strlen(wanted);

    return strncmp(object, wanted, n) == 0 &&
           (object[n] == '\0' || object[n] == '.' || object[n] == ' ');
}

static void
print_words(const struct param *p)
{
    if (p->names) {
        for (size_t i = 0; p->names[i]; i++) {
            printf("%s%s", i ? "|" : "", p->names[i]);
        }
        if (p->special) {
            printf("|%s", p->special);
        }
    }
}

static void
print_range(const struct param *p)
{
    char low[PARAM_TEXT_BYTES], high[PARAM_TEXT_BYTES];

    if (p->kind == PARAM_BOOL && !p->names) {
        printf("true|false");
    } else if (p->names) {
        print_words(p);
    } else {
        param_format(p, p->min, low);
        param_format(p, p->max, high);
        printf("%s to %s%s%s", low, high, p->special ? ", " : "",
               p->special ? p->special : "");
    }
}

static void
print_param(const struct param *p)
{
    char def[PARAM_TEXT_BYTES];

    param_format(p, p->def, def);
    printf("  %-18s %-12s %s\n", p->name, def, p->doc);
    printf("  %-18s %-12s allowed: ", "", "");
    print_range(p);
    printf("\n  %-18s %-12s %s%s\n", "", "",
           g_str_has_prefix(p->source, "guess") ? ""
           : p->guess                           ? "guess: "
                                                : "source: ",
           p->source);
}

struct print_ctx {
    const char *wanted; /* NULL: all */
    bool guesses;
    unsigned n;
};

static void
print_table(void *data, const char *object, const struct param *table)
{
    struct print_ctx *ctx = data;
    bool titled = false;

    if (ctx->wanted && !is_meant(object, ctx->wanted)) {
        return;
    }
    for (const struct param *p = table; p && p->name; p++) {
        if (ctx->guesses && !p->guess) {
            continue;
        }
        if (!titled) {
            printf("%s%s\n", ctx->n++ ? "\n" : "", object);
            titled = true;
        }
        print_param(p);
    }
}

static void
collect_object(void *data, const char *object, const struct param *table)
{
    (void)table;
    g_ptr_array_add(data, g_strdup(object));
}

static int
fail_object(const char *wanted)
{
    g_autoptr(GPtrArray) objects = g_ptr_array_new_with_free_func(g_free);

    each_param_table(collect_object, objects);
    g_ptr_array_add(objects, NULL);
    fprintf(stderr,
            "rocesim: list params: no object '%s'; the nearest is '%s', and `rocesim "
            "list params` prints all\n",
            wanted, param_nearest_word((const char *const *)objects->pdata, wanted));
    return STATUS_INPUT;
}

static int
list_params(const char *wanted, bool guesses)
{
    struct print_ctx ctx = {.wanted = wanted, .guesses = guesses};

    each_param_table(print_table, &ctx);
    return ctx.n == 0 && wanted && !guesses ? fail_object(wanted) : STATUS_OK;
}

/* ---- profiles ------------------------------------------------------------------------- */

static json_t *
load_data(const char *relative)
{
    g_autofree char *path = data_find(relative);

    return path ? json_load_file(path, 0, NULL) : NULL;
}

static const char *
text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* "nic-NAME.json" of each NIC, "switch-NAME.json" of each switch. */
static int
list_devices(const char *device)
{
    g_autofree char *prefix = g_strdup_printf("%s-", device);
    g_auto(GStrv) names = data_list(PROFILES, prefix, ".json");

    for (char **name = names; *name; name++) {
        g_autofree char *file = g_strdup_printf(PROFILES "/%s%s.json", prefix, *name);
        json_t *profile = load_data(file);

        printf("%-16s %s\n", *name, text_of(profile, "doc"));
        json_decref(profile);
    }
    return STATUS_OK;
}

static void
print_guesses_of(const char *file, const char *title)
{
    json_t *profile = load_data(file);
    const char *key;
    json_t *value;
    bool titled = false;

    json_object_foreach(json_object_get(profile, "values"), key, value)
    {
        if (strcmp(text_of(value, "kind"), "guess") != 0) {
            continue;
        }
        g_autofree char *text =
            json_dumps(json_object_get(value, "value"), JSON_ENCODE_ANY | JSON_COMPACT);

        if (!titled) {
            printf("\n%s\n", title);
            titled = true;
        }
        printf("  %-18s %-12s guess: %s\n", key, text, text_of(value, "source"));
    }
    json_decref(profile);
}

static int
list_guesses(void)
{
    static const char *const devices[] = {"nic", "switch"};

    list_params(NULL, true);
    for (unsigned d = 0; d < G_N_ELEMENTS(devices); d++) {
        g_autofree char *prefix = g_strdup_printf("%s-", devices[d]);
        g_auto(GStrv) names = data_list(PROFILES, prefix, ".json");

        for (char **name = names; *name; name++) {
            g_autofree char *file = g_strdup_printf(PROFILES "/%s%s.json", prefix, *name);
            g_autofree char *title = g_strdup_printf("%s.profile %s", devices[d], *name);

            print_guesses_of(file, title);
        }
    }
    return STATUS_OK;
}

/* ---- the other lists ------------------------------------------------------------------ */

/* Formats of files that types "file" and `rocesim import` read. */
static int
list_formats(void)
{
    printf("topology, type file:\n");
    for (size_t i = 0; topo_reader_list[i]; i++) {
        printf("  %-14s %s\n", topo_reader_list[i]->name, topo_reader_list[i]->doc);
    }
    printf("workload, type file:\n");
    for (size_t i = 0; flow_reader_list[i]; i++) {
        printf("  %-14s %s\n", flow_reader_list[i]->name, flow_reader_list[i]->doc);
    }
    printf("rocesim import:\n");
    for (const struct import_format *f = import_formats; f->name; f++) {
        printf("  %-14s %s\n", f->name, f->doc);
    }
    return STATUS_OK;
}

static int
list_topologies(void)
{
    for (size_t i = 0; topo_list[i]; i++) {
        printf("%-16s %s\n", topo_list[i]->name, topo_list[i]->doc);
    }
    return STATUS_OK;
}

static int
list_workloads(void)
{
    for (size_t i = 0; work_list[i]; i++) {
        printf("%-16s %s\n", work_list[i]->name, work_list[i]->doc);
    }
    return STATUS_OK;
}

static int
list_cc(void)
{
    for (size_t i = 0; cc_list[i]; i++) {
        const struct cc_ops *cc = cc_list[i];

        printf("%-16s %s (%s)\n", cc->name, cc->doc, cc->source);
        for (const struct cc_preset *p = cc->presets; p->name; p++) {
            printf("%-16s preset %-10s %s\n", "", p->name, p->doc);
        }
    }
    return STATUS_OK;
}

static int
list_traces(void)
{
    const char *name, *source;

    for (size_t i = 0; (name = trace_reader_name(i, &source)) != NULL; i++) {
        printf("%-16s %s\n", name, source);
    }
    return STATUS_OK;
}

static int
list_scenarios(void)
{
    static const char *const folders[] = {"", "papers/", "practice/"};

    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *folder = g_strdup_printf(SCENARIOS "/%s", folders[i]);
        g_auto(GStrv) names = data_list(folder, "", ".json");

        for (char **name = names; *name; name++) {
            g_autofree char *file = g_strdup_printf("%s%s.json", folder, *name);
            g_autofree char *path = data_find(file);
            json_t *scenario = path ? json_load_file(path, 0, NULL) : NULL;
            g_autofree char *called = g_strdup_printf("%s%s", folders[i], *name);

            printf("%-36s %s\n", called, text_of(scenario, "_"));
            json_decref(scenario);
        }
    }
    return STATUS_OK;
}

/* ---- schema --------------------------------------------------------------------------- */

static json_t *
schema_of_param(const struct param *p)
{
    char text[PARAM_TEXT_BYTES];
    json_t *entry = json_object();

    json_object_set_new(entry, "kind", json_string(param_kind_name(p->kind)));
    json_object_set_new(entry, "unit", json_string(p->unit));
    param_format(p, p->def, text);
    json_object_set_new(entry, "default", json_string(text));
    if (p->names) {
        json_t *words = json_array();

        for (size_t i = 0; p->names[i]; i++) {
            json_array_append_new(words, json_string(p->names[i]));
        }
        json_object_set_new(entry, "words", words);
    } else if (p->kind != PARAM_BOOL) {
        param_format(p, p->min, text);
        json_object_set_new(entry, "min", json_string(text));
        param_format(p, p->max, text);
        json_object_set_new(entry, "max", json_string(text));
    }
    if (p->special) {
        json_object_set_new(entry, "special", json_string(p->special));
    }
    json_object_set_new(entry, "doc", json_string(p->doc));
    json_object_set_new(entry, "source", json_string(p->source));
    json_object_set_new(entry, "guess", json_boolean(p->guess));
    return entry;
}

static void
add_schema(void *data, const char *object, const struct param *table)
{
    json_t *keys = json_object();

    for (const struct param *p = table; p && p->name; p++) {
        json_object_set_new(keys, p->name, schema_of_param(p));
    }
    json_object_set_new(data, object, keys);
}

static int
list_schema(void)
{
    json_t *schema = json_object();

    each_param_table(add_schema, schema);

    g_autofree char *text = json_dumps(schema, JSON_INDENT(2));

    puts(text);
    json_decref(schema);
    return STATUS_OK;
}

/* ---- the command ---------------------------------------------------------------------- */

static int
list_nics(void)
{
    return list_devices("nic");
}

static int
list_switches(void)
{
    return list_devices("switch");
}

static int
list_nodes(void)
{
    printf("a node is what `node` says: `rocesim list params node`\n");
    return STATUS_OK;
}

/* Distributions of flow sizes. */
static int
list_cdfs(void)
{
    g_auto(GStrv) names = profile_cdf_names();

    for (char **name = names; *name; name++) {
        g_autofree char *file = g_strdup_printf("workloads/cdf/%s.json", *name);
        g_autofree char *path = data_find(file);
        struct cdf *cdf = path ? cdf_load(path, NULL) : NULL;
        json_t *root = load_data(file);

        printf("%-22s mean %8.0f B, %s\n", *name, cdf ? cdf_mean_bytes(cdf) : 0,
               text_of(root, "source"));
        json_decref(root);
        cdf_free(cdf);
    }
    return STATUS_OK;
}

static int
list_all_params(void)
{
    return list_params(NULL, false);
}

static const struct {
    const char *name, *doc;
    int (*list)(void);
} lists[] = {
    {"topologies", "what may be connected to what", list_topologies},
    {"workloads", "who sends what when", list_workloads},
    {"cc", "congestion controls and their presets", list_cc},
    {"switches", "profiles of switches", list_switches},
    {"nics", "profiles of NICs", list_nics},
    {"nodes", "profiles of nodes", list_nodes},
    {"traces", "formats of traces", list_traces},
    {"formats", "files of other simulators", list_formats},
    {"cdfs", "distributions of flow sizes, for poisson", list_cdfs},
    {"params", "every parameter: default, range, source", list_all_params},
    {"scenarios", "scenarios that come along", list_scenarios},
    {"schema", "the parameters as JSON", list_schema},
};

static int
list_lists(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(lists); i++) {
        printf("%-16s %s\n", lists[i].name, lists[i].doc);
    }
    return STATUS_OK;
}

static int
list_named(const char *name)
{
    const char *names[G_N_ELEMENTS(lists) + 1] = {NULL};

    for (unsigned i = 0; i < G_N_ELEMENTS(lists); i++) {
        if (strcmp(lists[i].name, name) == 0) {
            return lists[i].list();
        }
        names[i] = lists[i].name;
    }
    fprintf(stderr,
            "rocesim: list: no list '%s'; the nearest is '%s', and `rocesim list` prints "
            "all\n",
            name, param_nearest_word(names, name));
    return STATUS_INPUT;
}

static int
cmd_list(int argc, char **argv)
{
    struct list_options options = {0};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    int status;

    if (!command_begin(&command_list, argc, argv, &options, words, &status)) {
        return status;
    }
    const char *first = words->len ? g_ptr_array_index(words, 0) : NULL;
    const char *object = words->len > 1 ? g_ptr_array_index(words, 1) : NULL;

    if (object && strcmp(first, "params") != 0) {
        fprintf(stderr,
                "rocesim: list: '%s' is one word too many; an object is allowed behind "
                "params\n",
                object);
        return STATUS_INPUT;
    }
    if (object) {
        status = list_params(object, options.guesses);
    } else if (options.guesses) {
        status = list_guesses();
    } else {
        status = first ? list_named(first) : list_lists();
    }
    return command_end(status);
}

const struct command command_list = {
    .name = "list",
    .words = "[WHAT [OBJECT]]",
    .doc = "Lists what there is.",
    .more =
        "WHAT is topologies, workloads, cc, switches, nics, nodes, traces, formats,\n"
        "cdfs, params, scenarios or schema; OBJECT, behind params, a part of a scenario\n"
        "such as nic or cc.\n",
    .options = list_options,
    .least_words = 0,
    .most_words = 2,
    .run = cmd_list,
};
