/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * import_htsim.c - a connection matrix (.cm) and a topology (.topo) of htsim.
 *
 * A matrix without triggers becomes a list of flows, and a failed link is left out of the
 * graph; with triggers both files stay where they are and the scenario names them.
 */
#include <config.h>

#include "sim/units.h"
#include "tools/import/formats.h"
#include "tools/import/import.h"
#include "tools/scenario/work_file.h"

/* The one of 'files' that ends in 'suffix'. */
static const char *
find_file(const char *const *files, const char *suffix)
{
    for (size_t i = 0; files[i] != NULL; i++) {
        if (g_str_has_suffix(files[i], suffix)) {
            return files[i];
        }
    }
    return NULL;
}

static void
put_by_path(struct import_out *out, const char *path)
{
    g_autofree char *full = g_canonicalize_filename(path, NULL);

    import_text(out, "type", "file", NULL);
    import_text(out, "format", "htsim", NULL);
    import_text(out, "path", full, NULL);
}

static void
put_devices(struct import_out *out, const struct topo_file *topo)
{
    static const char *const globs[] = {NULL, "leaf*", "spine*", "core*"};

    json_out_open(&out->json, "nic", '{', false);
    import_value(out, "mtu", PARAM_INTEGER, 4096,
                 "about the 4000 bytes that htsim sends without -mtu");
    import_value(out, "jitter", PARAM_TIME, 0, "starts are exact in htsim");
    json_out_close(&out->json, '}');
    json_out_open(&out->json, "switches", '{', false);
    for (size_t tier = 1; tier < G_N_ELEMENTS(globs); tier++) {
        if (topo->switch_latency_ps[tier] != TOPO_FILE_UNSAID) {
            json_out_open(&out->json, globs[tier], '{', true);
            import_value(out, "latency", PARAM_TIME, topo->switch_latency_ps[tier], NULL);
            json_out_close(&out->json, '}');
        }
    }
    json_out_close(&out->json, '}');
    json_out_open(&out->json, "cc", '{', false);
    import_text(out, "algorithm", "none", "htsim_roce has PFC only");
    json_out_close(&out->json, '}');
}

static void
put_flows(struct import_out *out, const struct topo_file *topo,
          const struct flow_file *flows, const char *path)
{
    g_autofree char *base = g_path_get_basename(path);

    json_out_open(&out->json, "workload", '[', false);
    json_out_open(&out->json, NULL, '{', false);
    if (flows->triggers->len > 0) {
        put_by_path(out, path);
        import_text(out, "connect", "flow", NULL);
    } else {
        json_out_text(&out->json, "_", base);
        json_out_text(&out->json, "type", "flows");
        import_text(out, "connect", "flow", NULL);
        json_out_open(&out->json, "list", '[', false);
        for (guint i = 0; i < flows->flows->len; i++) {
            const struct flow_file_flow *flow =
                &g_array_index(flows->flows, struct flow_file_flow, i);

            json_out_open(&out->json, NULL, '{', true);
            json_out_text(&out->json, "src", import_node_name(topo, flow->src));
            json_out_text(&out->json, "dst", import_node_name(topo, flow->dst));
            import_value(out, "bytes", PARAM_SIZE, flow->bytes, NULL);
            import_value(out, "start", PARAM_TIME, flow->start_ps, NULL);
            json_out_close(&out->json, '}');
        }
        json_out_close(&out->json, ']');
    }
    json_out_close(&out->json, '}');
    json_out_close(&out->json, ']');
}

/* Marks in 'gone' the links that 'flows' says have failed. */
static gboolean
find_failed(const struct topo_file *topo, const struct flow_file *flows, const char *path,
            bool gone[], GError **error)
{
    for (guint i = 0; i < flows->failures->len; i++) {
        const struct flow_file_failure *failure =
            &g_array_index(flows->failures, struct flow_file_failure, i);
        uint32_t link = work_file_failed_link(topo, failure);

        if (link == UINT32_MAX) {
            g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FORM,
                        "%s:%u: the topology has no such link: switch_id %u, link_id %u",
                        path, failure->line, failure->sw, failure->link);
            return FALSE;
        }
        gone[link] = true;
    }
    return TRUE;
}

static char *
put_all(const struct topo_file *topo, const char *topo_path,
        const struct flow_file *flows, const char *flow_path, GPtrArray *warnings,
        GError **error)
{
    g_autofree bool *gone = g_new0(bool, (gsize)topo->links->len + 1);
    g_autofree char *base = g_path_get_basename(topo_path);
    struct import_out out;

    if (flows->n_nodes != topo->n_numbers) {
        g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FORM,
                    "%s: is for %" G_GINT64_FORMAT " nodes, but %s has %u", flow_path,
                    flows->n_nodes, topo_path, topo->n_numbers);
        return NULL;
    }
    if (!find_failed(topo, flows, flow_path, gone, error)) {
        return NULL;
    }
    import_begin(&out, "htsim", flow_path, "htsim");
    if (flows->triggers->len > 0) {
        json_out_open(&out.json, "topology", '{', false);
        put_by_path(&out, topo_path);
        json_out_close(&out.json, '}');
    } else {
        import_put_topology(&out, topo, base, 0, gone);
    }
    put_devices(&out, topo);
    put_flows(&out, topo, flows, flow_path);
    return import_end(&out, flow_path, warnings);
}

char *
import_htsim(const char *const *files, GPtrArray *warnings, GError **error)
{
    const char *matrix = find_file(files, ".cm"), *tree = find_file(files, ".topo");
    struct topo_file *topo;
    struct flow_file *flows;
    char *text = NULL;

    if (matrix == NULL || tree == NULL || files[2] != NULL) {
        g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FILE,
                    "import htsim: takes two files, NAME.cm and NAME.topo");
        return NULL;
    }
    topo = import_topology("htsim", tree, warnings, error);
    flows = topo != NULL ? import_flows("htsim", matrix, warnings, error) : NULL;
    if (flows != NULL) {
        text = put_all(topo, tree, flows, matrix, warnings, error);
    }
    flow_file_free(flows);
    topo_file_free(topo);
    return text;
}
