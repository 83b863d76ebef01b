/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scenario.c - a scenario as a whole: loads its parts in order, writes them again.
 */
#include <config.h>

#include "tools/scenario/scenario.h"

#include <string.h>

#include "models/net_params.h"
#include "tools/scenario/compat.h"
#include "tools/scenario/doc.h"
#include "tools/scenario/parts.h"

/* Digits that a JSON number carries through a double unchanged. */
enum { DOUBLE_DIGITS = 15 };

#define ROOT(field) .offset = offsetof(struct scenario, field)

static const char *const wire_words[] = {"roce", "hpcc", NULL};

const struct param scenario_root_table[] = {
    {.name = "seed",
     .kind = PARAM_INTEGER,
     ROOT(seed),
     .unit = "",
     .def = 1,
     .min = 0,
     .max = INT64_MAX,
     .source = "any number does",
     .doc = "seed of all random draws; also --seed"},
    {.name = "stop",
     .kind = PARAM_TIME,
     ROOT(stop_ps),
     .unit = "ms",
     .def = PARAM_SPECIAL,
     .min = 1,
     .max = 86400 * PS_PER_S,
     .special = "none",
     .source = "a run ends with its work",
     .doc = "when the run ends at the latest"},
    {.name = "wire",
     .kind = PARAM_ENUM,
     ROOT(wire),
     .unit = "",
     .def = WIRE_ROCE,
     .min = 0,
     .max = 1,
     .names = wire_words,
     .source = "RoCEv2 annex A17, IEEE 802.3; HPCC ns-3 simulator, docs/hpcc.md, points "
               "1 and 2",
     .doc = "frames as RoCEv2 over Ethernet has them, or as that simulator has"},
    {.name = NULL},
};

/* `name`: given, or that of the file without its folder and ".json". */
static gboolean
read_name(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "name");
    const char *text;

    if (at.json == NULL) {
        g_autofree char *valid = g_utf8_make_valid(s->file, -1);

        s->name = g_path_get_basename(valid);
        if (g_str_has_suffix(s->name, ".json") && strlen(s->name) > strlen(".json")) {
            s->name[strlen(s->name) - strlen(".json")] = '\0';
        }
        return TRUE;
    }
    if (!doc_text(&at, &text, error)) {
        return FALSE;
    }
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '/' || (unsigned char)*c < 0x20 || *c == 0x7f) {
            return doc_fail(
                &at, SCENARIO_ERROR_VALUE, error,
                "has a '/' or a control character; it names the folder of results");
        }
    }
    if (text[0] == '.' || strlen(text) > SCENARIO_NAME_MAX) {
        return doc_fail(
            &at, SCENARIO_ERROR_VALUE, error,
            "begins with '.' or is longer than %d bytes; it names the folder of "
            "results",
            SCENARIO_NAME_MAX);
    }
    s->name = g_strdup(text);
    return TRUE;
}

/* `source`: where the scenario comes from; kept for the reader of the results. */
static gboolean
read_source(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "source");
    const char *text;

    if (at.json == NULL) {
        return TRUE;
    }
    if (!doc_text(&at, &text, error)) {
        return FALSE;
    }
    s->source = g_strdup(text);
    return TRUE;
}

static gboolean
read_all(struct scenario *s, const struct doc_at *root, GError **error)
{
    static const struct doc_key keys[] = {
        {"name", false},     {"topology", false}, {"node", false},   {"nic", false},
        {"switch", false},   {"qos", false},      {"cc", false},     {"workload", false},
        {"faults", false},   {"output", false},   {"expect", false}, {"nics", false},
        {"switches", false}, {"hosts", false},    {"nccl", false},   {"compat", false},
        {"source", false},   {NULL, false}};

    param_set_defaults(scenario_root_table, s);
    return doc_check_object(root, keys, scenario_root_table, error) &&
           compat_apply(root, &s->is_hpcc, error) && read_name(s, root, error) &&
           read_source(s, root, error) &&
           doc_params(root, scenario_root_table, s, NULL, error) &&
           part_topology_read(s, root, error) && part_traffic_read(s, root, error) &&
           part_nccl_read(s, root, error) && part_devices_read(s, root, error) &&
           part_work_read(s, root, error) && part_faults_read(s, root, error) &&
           part_run_read(s, root, error);
}

/* Steals 'root'. */
static struct scenario *
scenario_from_json(const char *file, json_t *root, const char *const *sets,
                   GError **error)
{
    struct scenario *s;
    struct doc_at at;

    for (; sets != NULL && *sets != NULL; sets++) {
        if (!doc_set(file, root, *sets, error)) {
            json_decref(root);
            return NULL;
        }
    }
    s = g_new0(struct scenario, 1);
    s->file = g_strdup(file);
    s->warnings = g_ptr_array_new_with_free_func(g_free);
    at = doc_root(s->file, root);
    if (!read_all(s, &at, error)) {
        g_clear_pointer(&s, scenario_free);
    }
    json_decref(root);
    return s;
}

GQuark
scenario_error_quark(void)
{
    return g_quark_from_static_string("scenario-error");
}

struct scenario *
scenario_load(const char *path, const char *const *sets, GError **error)
{
    json_t *root = doc_load(path, error);

    return root == NULL ? NULL : scenario_from_json(path, root, sets, error);
}

struct scenario *
scenario_load_data(const char *file, const char *data, size_t n_bytes,
                   const char *const *sets, GError **error)
{
    json_t *root = doc_parse(file, data, n_bytes, error);

    root = root == NULL ? NULL : doc_resolve_base(file, root, error);
    return root == NULL ? NULL : scenario_from_json(file, root, sets, error);
}

void
scenario_free(struct scenario *s)
{
    if (s == NULL) {
        return;
    }
    part_run_clear(s);
    part_faults_clear(s);
    part_work_clear(s);
    part_devices_clear(s);
    part_traffic_clear(s);
    part_topology_clear(s);
    g_ptr_array_unref(s->warnings);
    g_free(s->name);
    g_free(s->source);
    g_free(s->file);
    g_free(s);
}

json_t *
scenario_to_json(const struct scenario *s)
{
    json_t *root = json_object();

    json_object_set_new(root, "name", json_string(s->name));
    if (s->source != NULL) {
        json_object_set_new(root, "source", json_string(s->source));
    }
    doc_put_params(root, scenario_root_table, s, part_all_keys(scenario_root_table));
    part_topology_write(s, root);
    part_devices_write(s, root);
    part_traffic_write(s, root);
    part_nccl_write(s, root);
    part_work_write(s, root);
    part_faults_write(s, root);
    part_run_write(s, root);
    return root;
}

char *
scenario_to_text(const struct scenario *s)
{
    json_t *root = scenario_to_json(s);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(DOUBLE_DIGITS));
    char *line = g_strconcat(text, "\n", NULL);

    free(text);
    json_decref(root);
    return line;
}

const struct param *
scenario_param_table(size_t index, const char **object)
{
    static const struct {
        const char *object;
        const struct param *table;
    } tables[] = {
        {"", scenario_root_table},
        {"topology.host_link", scenario_link_table},
        {"node", scenario_node_table},
        {"nic", nic_param_table},
        {"switch", switch_param_table},
        {"switch.ecn", ecn_param_table},
        {"switch.watchdog", watchdog_param_table},
        {"workload", work_common_params},
        {"workload (permutation)", work_permutation_params},
        {"workload (incast)", work_incast_params},
        {"workload (poisson)", work_poisson_params},
        {"workload (all-to-all)", work_all_to_all_params},
        {"workload (collective)", work_collective_params},
        {"nccl", work_nccl_params},
        {"faults", scenario_fault_table},
        {"output", scenario_output_table},
        {"output.pcap", scenario_tap_table},
    };

    if (index >= G_N_ELEMENTS(tables)) {
        return NULL;
    }
    *object = tables[index].object;
    return tables[index].table;
}
