/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * import_hpcc.c - config.txt of the HPCC simulator, of conweave-ns3 and of ns3-datacenter: a
 * configuration that names a topology and flows.
 */
#include <config.h>

#include "tools/import/family.h"
#include "tools/import/formats.h"

/* First source port of a pair of hosts: third.cc, portNumder. */
enum { FIRST_SPORT = 10000, N_PORTS = 65536 };

/* Source ports of the original: the first flow of two hosts gets 10000, the next one 10001. */
static uint32_t
next_sport(GHashTable *seen, const struct flow_file_flow *flow)
{
    int64_t *key = g_new(int64_t, 1);
    guint n;

    *key = (int64_t)flow->src << 32 | flow->dst;
    n = GPOINTER_TO_UINT(g_hash_table_lookup(seen, key));
    g_hash_table_insert(seen, key, GUINT_TO_POINTER(n + 1));
    return (FIRST_SPORT + n) % N_PORTS;
}

static gboolean
check_ends(const struct topo_file *topo, const char *path,
           const struct flow_file_flow *flow, GError **error)
{
    const uint32_t number[] = {flow->src, flow->dst};

    for (int e = 0; e < 2; e++) {
        if (!import_is_host(topo, number[e])) {
            g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FORM,
                        "%s:%u: the %s is %u, which is no host of the topology", path,
                        flow->line, e == 0 ? "source" : "destination", number[e]);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
put_flows(struct import_out *out, const struct topo_file *topo,
          const struct flow_file *flows, const char *path, const char *origin,
          GError **error)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

    json_out_open(&out->json, "workload", '[', false);
    json_out_open(&out->json, NULL, '{', false);
    json_out_text(&out->json, "_", origin);
    json_out_text(&out->json, "type", "flows");
    json_out_open(&out->json, "list", '[', false);
    for (guint i = 0; i < flows->flows->len; i++) {
        const struct flow_file_flow *flow =
            &g_array_index(flows->flows, struct flow_file_flow, i);
        uint32_t sport = next_sport(seen, flow);

        if (!check_ends(topo, path, flow, error)) {
            return FALSE;
        }
        json_out_open(&out->json, NULL, '{', true);
        json_out_text(&out->json, "src", import_node_name(topo, flow->src));
        json_out_text(&out->json, "dst", import_node_name(topo, flow->dst));
        import_value(out, "bytes", PARAM_SIZE, flow->bytes, NULL);
        import_value(out, "start", PARAM_TIME, flow->start_ps, NULL);
        json_out_int(&out->json, "class", flow->cls);
        json_out_int(&out->json, "sport", sport > 0 ? sport : 1);
        if (flow->dport > 0) {
            json_out_int(&out->json, "dport", flow->dport);
        }
        json_out_close(&out->json, '}');
    }
    json_out_close(&out->json, ']');
    json_out_close(&out->json, '}');
    json_out_close(&out->json, ']');
    return TRUE;
}

static gboolean
put_all(struct import_out *out, struct config *config, enum config_dialect dialect,
        const struct topo_file *topo, const struct flow_file *flows,
        const char *flow_path, GError **error)
{
    g_autofree char *topo_origin =
        config_origin(config, config_find(config, "TOPOLOGY_FILE"));
    g_autofree char *flow_origin =
        config_origin(config, config_find(config, "FLOW_FILE"));
    int64_t error_e18 =
        config_number(config, "ERROR_RATE_PER_LINK") * (PARAM_SHARE_ONE / CONFIG_ONE);

    family_put_head(out, config, dialect);
    import_put_topology(out, topo, topo_origin, error_e18, NULL);
    if (!family_put_devices(out, config, dialect, topo, error) ||
        !put_flows(out, topo, flows, flow_path, flow_origin, error) ||
        !family_put_faults(out, config, topo, error)) {
        return FALSE;
    }
    json_out_open(&out->json, "output", '{', false);
    import_text(out, "sample", "off", "\"10us\" shows queues over time");
    json_out_close(&out->json, '}');
    return TRUE;
}

/* What 'config' names. */
static char *
with_files(struct config *config, const char *format, enum config_dialect dialect,
           const char *source, GPtrArray *warnings, GError **error)
{
    const struct config_value *topo_name = config_need(config, "TOPOLOGY_FILE", error);
    const struct config_value *flow_name =
        topo_name != NULL ? config_need(config, "FLOW_FILE", error) : NULL;
    g_autofree char *topo_path =
        flow_name != NULL ? import_find(config, topo_name, error) : NULL;
    g_autofree char *flow_path =
        topo_path != NULL ? import_find(config, flow_name, error) : NULL;
    struct topo_file *topo =
        flow_path != NULL ? import_topology(format, topo_path, warnings, error) : NULL;
    struct flow_file *flows =
        topo != NULL ? import_flows(format, flow_path, warnings, error) : NULL;
    struct import_out out;
    char *text = NULL;

    if (flows != NULL) {
        import_begin(&out, format, config->file, source);
        if (put_all(&out, config, dialect, topo, flows, flow_path, error)) {
            import_take_warnings(warnings, config->warnings);
            text = import_end(&out, config->file, warnings);
        } else {
            import_drop(&out);
        }
    }
    flow_file_free(flows);
    topo_file_free(topo);
    return text;
}

static char *
import(const char *const *files, const char *format, enum config_dialect dialect,
       const char *source, GPtrArray *warnings, GError **error)
{
    struct config *config;
    char *text;

    if (files[0] == NULL || files[1] != NULL) {
        g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FILE,
                    "import %s: takes one file, config.txt, which names the others",
                    format);
        return NULL;
    }
    config = family_read(files[0], dialect, error);
    if (config == NULL) {
        return NULL;
    }
    text = with_files(config, format, dialect, source, warnings, error);
    config_free(config);
    return text;
}

char *
import_hpcc(const char *const *files, GPtrArray *warnings, GError **error)
{
    return import(files, "hpcc", CONFIG_HPCC, "HPCC ns-3 simulator", warnings, error);
}

char *
import_conweave(const char *const *files, GPtrArray *warnings, GError **error)
{
    return import(files, "conweave", CONFIG_CONWEAVE, "conweave-ns3", warnings, error);
}

char *
import_ns3dc(const char *const *files, GPtrArray *warnings, GError **error)
{
    return import(files, "ns3dc", CONFIG_NS3DC, "ns3-datacenter", warnings, error);
}
