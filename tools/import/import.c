/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * import.c - the list of formats, files that a configuration names, parts of a scenario that
 * all formats write.
 */
#include <config.h>

#include "tools/import/import.h"

#include <string.h>

#include "sim/param.h"
#include "tools/import/formats.h"
#include "tools/scenario/doc.h"

const struct import_format import_formats[] = {
    {"hpcc", "CONFIG", "HPCC simulator (ns-3): config.txt", import_hpcc},
    {"conweave", "CONFIG", "conweave-ns3: config.txt", import_conweave},
    {"ns3dc", "CONFIG", "ns3-datacenter (PowerTCP): config.txt", import_ns3dc},
    {"ns3rdma", "CONFIG", "ns3-rdma: config.txt", import_ns3rdma},
    {"simai", "CONF TOPOLOGY", "SimAI: SimAI.conf and a topology", import_simai},
    {"htsim", "MATRIX.cm TREE.topo", "htsim: connection matrix and topology",
     import_htsim},
    {"astra", "", "astra-sim; not in this version", NULL},
    {"goal", "", "GOAL of LogGOPSim and ATLAHS; not in this version", NULL},
    {NULL, NULL, NULL, NULL},
};

/* 'text' (steals it; may be NULL), unless no run could read it. */
static char *
check_size(char *text, GError **error)
{
    if (text != NULL && strlen(text) > DOC_MAX_BYTES) {
        g_set_error(
            error, IMPORT_ERROR, IMPORT_ERROR_UNSUPPORTED,
            "import: the scenario would have %zu MiB; allowed are %d. A workload of "
            "type \"file\" reads longer lists of flows",
            strlen(text) >> 20, DOC_MAX_BYTES >> 20);
        g_clear_pointer(&text, g_free);
    }
    return text;
}

char *
import_run(const char *name, const char *const *files, GPtrArray *warnings,
           GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (const struct import_format *f = import_formats; f->name != NULL; f++) {
        g_ptr_array_add(names, (gpointer)(uintptr_t)f->name);
        if (strcmp(f->name, name) != 0) {
            continue;
        }
        if (f->run == NULL) {
            g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_UNSUPPORTED,
                        "import: format '%s' is not supported yet; allowed are hpcc, "
                        "conweave, ns3dc, ns3rdma, simai and htsim",
                        name);
            return NULL;
        }
        return check_size(f->run(files, warnings, error), error);
    }
    g_ptr_array_add(names, NULL);
    g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_UNSUPPORTED,
                "import: no format '%.60s'; nearest is '%s', allowed are hpcc, conweave, "
                "ns3dc, ns3rdma, simai and htsim",
                name, param_nearest_word((const char *const *)names->pdata, name));
    return NULL;
}

/* ---- writing -------------------------------------------------------------------------- */

/* A name for the results: of the folder, when the file is called as all are. */
static char *
name_of(const char *file)
{
    g_autofree char *full = g_canonicalize_filename(file, NULL);
    g_autofree char *base = g_path_get_basename(full);
    g_autofree char *folder = g_path_get_dirname(full);
    g_autofree char *parent = g_path_get_basename(folder);
    char *dot = strrchr(base, '.'), *name;

    if (dot != NULL && dot != base) {
        *dot = '\0';
    }
    name = g_strdup(strcmp(base, "config") == 0 && parent[0] != '/' && parent[0] != '.'
                        ? parent
                        : base);
    name[strcspn(name, "/")] = '\0';
    while (name[0] == '.') {
        memmove(name, name + 1, strlen(name));
    }
    if (name[0] == '\0') {
        g_free(name);
        name = g_strdup("imported");
    }
    if (strlen(name) > SCENARIO_NAME_MAX) {
        name[SCENARIO_NAME_MAX] = '\0';
    }
    for (char *c = name; *c != '\0'; c++) {
        *c = *c < ' ' || *c > '~' ? '_' : *c;
    }
    return name;
}

void
import_begin(struct import_out *out, const char *format, const char *file,
             const char *source)
{
    g_autofree char *name = name_of(file), *base = g_path_get_basename(file);
    g_autofree char *line = doc_one_line(base);
    g_autofree char *comment = g_strdup_printf(
        "made by rocesim import %s of %s; keys that begin with _ say where values come "
        "from",
        format, line);
    g_autofree char *from = g_strdup_printf("%s, %s", source, line);

    out->text = g_string_new(NULL);
    json_out_init(&out->json, out->text);
    json_out_open(&out->json, NULL, '{', false);
    json_out_text(&out->json, "_", comment);
    json_out_text(&out->json, "name", name);
    json_out_text(&out->json, "source", from);
}

char *
import_end(struct import_out *out, const char *file, const GPtrArray *warnings)
{
    /* Without the folder, so that the scenario does not depend on it. */
    g_autofree char *folder = g_path_get_dirname(file);
    g_autofree char *prefix = g_strconcat(folder, "/", NULL);

    if (warnings->len > 0) {
        json_out_open(&out->json, "_warnings", '[', false);
    }
    for (guint i = 0; i < warnings->len; i++) {
        const char *text = warnings->pdata[i];

        json_out_text(&out->json, NULL,
                      g_str_has_prefix(text, prefix) ? text + strlen(prefix) : text);
    }
    if (warnings->len > 0) {
        json_out_close(&out->json, ']');
    }
    json_out_close(&out->json, '}');
    return g_string_free(out->text, FALSE);
}

void
import_drop(struct import_out *out)
{
    g_string_free(out->text, TRUE);
}

static void
put_origin(struct import_out *out, const char *key, const char *origin)
{
    g_autofree char *comment = g_strconcat("_", key, NULL);

    if (origin != NULL) {
        json_out_text(&out->json, comment, origin);
    }
}

void
import_value(struct import_out *out, const char *key, enum param_kind kind, int64_t value,
             const char *origin)
{
    const struct param p = {.name = key, .kind = kind};
    char text[PARAM_TEXT_BYTES];

    if (kind == PARAM_INTEGER) {
        json_out_int(&out->json, key, value);
    } else if (kind == PARAM_BOOL) {
        json_out_bool(&out->json, key, value != 0);
    } else {
        param_format(&p, value, text);
        json_out_text(&out->json, key, text);
    }
    put_origin(out, key, origin);
}

void
import_text(struct import_out *out, const char *key, const char *value,
            const char *origin)
{
    json_out_text(&out->json, key, value);
    put_origin(out, key, origin);
}

void
import_config_value(struct import_out *out, const struct config *config, const char *key,
                    enum param_kind kind, int64_t value, const char *name)
{
    g_autofree char *origin = config_origin(config, config_find(config, name));

    import_value(out, key, kind, value, origin);
}

/* ---- files ---------------------------------------------------------------------------- */

char *
import_read(const char *path, size_t *n_bytes, GError **error)
{
    return doc_read_file(path, n_bytes, error);
}

char *
import_find(const struct config *config, const struct config_value *name, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(config->file);
    g_autofree char *plain = g_strdup(name->text), *base = NULL;
    char *tries[3];
    char *found = NULL;

    for (char *c = plain; *c != '\0'; c++) {
        *c = *c == '\\' ? '/' : *c;
    }
    base = g_path_get_basename(plain);
    tries[0] = g_path_is_absolute(plain) ? g_strdup(plain)
                                         : g_build_filename(folder, plain, NULL);
    tries[1] = g_strdup(plain);
    tries[2] = g_build_filename(folder, base, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(tries) && found == NULL; i++) {
        if (g_file_test(tries[i], G_FILE_TEST_EXISTS)) {
            found = g_strdup(tries[i]);
        }
    }
    if (found == NULL) {
        config_fail(config, name, IMPORT_ERROR_FILE, error,
                    "%s: there is no file %s, nor %s, nor %s", name->key->name, tries[0],
                    tries[1], tries[2]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(tries); i++) {
        g_free(tries[i]);
    }
    return found;
}

void
import_take_warnings(GPtrArray *to, const GPtrArray *from)
{
    for (guint i = 0; i < from->len; i++) {
        g_ptr_array_add(to, doc_one_line(from->pdata[i]));
    }
}

/* Makes one line of the message of '*error', which may quote the file. */
static void
clean(GError **error, GError *cause)
{
    g_autofree char *message = doc_one_line(cause->message);

    g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FORM, "%s", message);
    g_error_free(cause);
}

struct topo_file *
import_topology(const char *format, const char *path, GPtrArray *warnings, GError **error)
{
    g_autofree char *data = NULL;
    struct topo_file *topo;
    GError *cause = NULL;
    size_t n_bytes;

    data = import_read(path, &n_bytes, error);
    if (data == NULL) {
        return NULL;
    }
    topo = topo_file_read(topo_reader_find(format), path, data, n_bytes, &cause);
    if (topo == NULL) {
        clean(error, cause);
        return NULL;
    }
    import_take_warnings(warnings, topo->warnings);
    return topo;
}

struct flow_file *
import_flows(const char *format, const char *path, GPtrArray *warnings, GError **error)
{
    g_autofree char *data = NULL;
    struct flow_file *flows;
    GError *cause = NULL;
    size_t n_bytes;

    data = import_read(path, &n_bytes, error);
    if (data == NULL) {
        return NULL;
    }
    flows = flow_file_read(flow_reader_find(format), path, data, n_bytes, &cause);
    if (flows == NULL) {
        clean(error, cause);
        return NULL;
    }
    import_take_warnings(warnings, flows->warnings);
    return flows;
}

/* ---- topology ------------------------------------------------------------------------- */

const char *
import_node_name(const struct topo_file *topo, uint32_t place)
{
    return g_array_index(topo->nodes, struct topo_graph_node, place).name;
}

bool
import_is_host(const struct topo_file *topo, int64_t number)
{
    return number >= 0 && number < topo->n_numbers &&
           topo->node_of[number] != UINT32_MAX &&
           g_array_index(topo->nodes, struct topo_graph_node, topo->node_of[number])
                   .kind == NODE_HOST;
}

static void
put_link(struct import_out *out, const struct topo_file *topo,
         const struct topo_file_link *link, int64_t error_e18)
{
    int64_t error = link->error_e18 != 0 ? link->error_e18 : error_e18;

    json_out_open(&out->json, NULL, '{', true);
    json_out_text(&out->json, "a", import_node_name(topo, link->a));
    json_out_text(&out->json, "b", import_node_name(topo, link->b));
    import_value(out, "rate", PARAM_RATE, link->rate_bps, NULL);
    import_value(out, "delay", PARAM_TIME, link->delay_ps, NULL);
    if (error != 0) {
        import_value(out, "error_rate", PARAM_SHARE, error, NULL);
    }
    json_out_close(&out->json, '}');
}

void
import_put_topology(struct import_out *out, const struct topo_file *topo,
                    const char *origin, int64_t error_e18, const bool gone[])
{
    json_out_open(&out->json, "topology", '{', false);
    json_out_text(&out->json, "_", origin);
    json_out_text(&out->json, "type", "graph");
    json_out_open(&out->json, "nodes", '[', false);
    for (guint i = 0; i < topo->nodes->len; i++) {
        const struct topo_graph_node *node =
            &g_array_index(topo->nodes, struct topo_graph_node, i);

        json_out_open(&out->json, NULL, '{', true);
        json_out_text(&out->json, "name", node->name);
        json_out_text(&out->json, "kind", node->kind == NODE_HOST ? "host" : "switch");
        if (node->tier != 0) {
            json_out_int(&out->json, "tier", node->tier);
        }
        json_out_close(&out->json, '}');
    }
    json_out_close(&out->json, ']');
    json_out_open(&out->json, "links", '[', false);
    for (guint i = 0; i < topo->links->len; i++) {
        if (gone == NULL || !gone[i]) {
            put_link(out, topo, &g_array_index(topo->links, struct topo_file_link, i),
                     error_e18);
        }
    }
    json_out_close(&out->json, ']');
    json_out_close(&out->json, '}');
}

void
import_put_node(struct import_out *out, const struct topo_file *topo)
{
    if (topo->gpus == 1 && topo->pipe_rate_bps == TOPO_FILE_UNSAID) {
        return;
    }
    json_out_open(&out->json, "node", '{', false);
    import_value(out, "gpus", PARAM_INTEGER, topo->gpus, NULL);
    if (topo->pipe_rate_bps != TOPO_FILE_UNSAID) {
        import_value(out, "pipe_rate", PARAM_RATE, topo->pipe_rate_bps,
                     "links of a GPU to its NVSwitches together");
        import_value(out, "pipe_latency", PARAM_TIME, topo->pipe_latency_ps,
                     "two links, by way of an NVSwitch");
    }
    json_out_close(&out->json, '}');
}
