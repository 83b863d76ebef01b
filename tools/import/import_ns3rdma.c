/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * import_ns3rdma.c - config.txt of ns3-rdma, the simulator of DCQCN's authors.  Its model is
 * not that of HPCC: NICs send CNPs, and rates recover by a timer and a byte counter.  It
 * becomes a scenario of this program's own model with those numbers.
 *
 * Source: bobzhuyb/ns3-rdma, scratch/third.cc, mix/config.txt; broadcom-node.cc
 * (SetMarkingThreshold: thresholds in units of 1030 bytes).
 */
#include <config.h>

#include "models/cc/cc.h"
#include "sim/units.h"
#include "tools/import/formats.h"
#include "tools/import/import.h"

/* KMIN and KMAX count packets of this size. */
enum { MARK_UNIT_BYTES = 1030 };

#define ALL CONFIG_NS3RDMA
#define OUTPUT "outputs, and results go to --out"
#define UNITS "the original's units of sending are not modelled"

static const struct config_key keys[] = {
    {"ENABLE_QCN", CONFIG_INTEGER, ALL, "1", NULL},
    {"USE_DYNAMIC_PFC_THRESHOLD", CONFIG_INTEGER, ALL, "1",
     "switch.alpha says how buffer is shared"},
    {"CLAMP_TARGET_RATE", CONFIG_INTEGER, ALL, "0", NULL},
    {"CLAMP_TARGET_RATE_AFTER_TIMER", CONFIG_INTEGER, ALL, "0",
     "clamp_target is that of CLAMP_TARGET_RATE"},
    {"PACKET_LEVEL_ECMP", CONFIG_INTEGER, ALL, "0", NULL},
    {"FLOW_LEVEL_ECMP", CONFIG_INTEGER, ALL, "0",
     "flows take one of equal paths by hash"},
    {"PAUSE_TIME", CONFIG_NUMBER, ALL, "5", "pauses follow IEEE 802.1Qbb"},
    {"DATA_RATE", CONFIG_WORD, ALL, NULL, "the original reads it and does not use it"},
    {"LINK_DELAY", CONFIG_WORD, ALL, NULL, "the original reads it and does not use it"},
    {"PACKET_PAYLOAD_SIZE", CONFIG_INTEGER, ALL, "1000", NULL},
    {"L2_CHUNK_SIZE", CONFIG_INTEGER, ALL, "0", UNITS},
    {"L2_ACK_INTERVAL", CONFIG_INTEGER, ALL, "0", UNITS},
    {"L2_WAIT_FOR_ACK", CONFIG_INTEGER, ALL, "0", UNITS},
    {"L2_BACK_TO_ZERO", CONFIG_INTEGER, ALL, "0", UNITS},
    {"L2_TEST_READ", CONFIG_INTEGER, ALL, "0", UNITS},
    {"SEND_IN_CHUNKS", CONFIG_INTEGER, ALL, "1", UNITS},
    {"TOPOLOGY_FILE", CONFIG_WORD, ALL, NULL, NULL},
    {"FLOW_FILE", CONFIG_WORD, ALL, NULL, NULL},
    {"TCP_FLOW_FILE", CONFIG_WORD, ALL, NULL, "there is no TCP"},
    {"TRACE_FILE", CONFIG_WORD, ALL, NULL, "it is about what is recorded"},
    {"TRACE_OUTPUT_FILE", CONFIG_WORD, ALL, NULL, OUTPUT},
    {"APP_START_TIME", CONFIG_NUMBER, ALL, "1.0", "receivers are always there"},
    {"APP_STOP_TIME", CONFIG_NUMBER, ALL, "9.0", "receivers are always there"},
    {"SIMULATOR_STOP_TIME", CONFIG_NUMBER, ALL, "3.01", NULL},
    {"CNP_INTERVAL", CONFIG_NUMBER, ALL, "50", NULL},
    {"ALPHA_RESUME_INTERVAL", CONFIG_NUMBER, ALL, "55", NULL},
    {"NP_SAMPLING_INTERVAL", CONFIG_NUMBER, ALL, "0",
     "marks are counted packet by packet"},
    {"RP_TIMER", CONFIG_NUMBER, ALL, NULL, NULL},
    {"BYTE_COUNTER", CONFIG_INTEGER, ALL, NULL, NULL},
    {"DCTCP_GAIN", CONFIG_NUMBER, ALL, NULL, NULL},
    {"KMAX", CONFIG_INTEGER, ALL, "60", NULL},
    {"KMIN", CONFIG_INTEGER, ALL, "60", NULL},
    {"PMAX", CONFIG_NUMBER, ALL, "1", NULL},
    {"FAST_RECOVERY_TIMES", CONFIG_INTEGER, ALL, "5", NULL},
    {"RATE_AI", CONFIG_RATE, ALL, NULL, NULL},
    {"RATE_HAI", CONFIG_RATE, ALL, NULL, NULL},
    {"ERROR_RATE_PER_LINK", CONFIG_NUMBER, ALL, "0", NULL},
    {NULL, CONFIG_WORD, 0, NULL, NULL},
};

static int64_t
us_ps(const struct config *config, const char *name)
{
    return config_number(config, name) * (PS_PER_US / 1000) / (CONFIG_ONE / 1000);
}

/* The largest payload of InfiniBand up to what is wanted. */
static int64_t
mtu_of(int64_t payload)
{
    int64_t mtu = 256;

    while (mtu < 4096 && 2 * mtu <= payload + 24) {
        mtu *= 2;
    }
    return mtu;
}

static gboolean
check(struct config *config, GError **error)
{
    static const char *const needed[] = {"RP_TIMER", "BYTE_COUNTER", "DCTCP_GAIN",
                                         "RATE_AI",  "RATE_HAI",     NULL};
    const struct config_value *payload = config_find(config, "PACKET_PAYLOAD_SIZE"),
                              *spray = config_find(config, "PACKET_LEVEL_ECMP"),
                              *kmin = config_find(config, "KMIN");

    if (spray->number != 0) {
        return config_fail(config, spray, IMPORT_ERROR_UNSUPPORTED, error,
                           "PACKET_LEVEL_ECMP is %s; supported is 0", spray->text);
    }
    if (payload->number < 64 || payload->number > 9216) {
        return config_fail(config, payload, IMPORT_ERROR_FORM, error,
                           "PACKET_PAYLOAD_SIZE is %s; allowed is 64 to 9216",
                           payload->text);
    }
    if (kmin->number > config_number(config, "KMAX") || kmin->number > 1000000) {
        return config_fail(config, kmin, IMPORT_ERROR_FORM, error,
                           "KMIN is %s; allowed is up to KMAX and 1000000", kmin->text);
    }
    if (config_number(config, "PMAX") > CONFIG_ONE) {
        return config_fail(config, config_find(config, "PMAX"), IMPORT_ERROR_FORM, error,
                           "PMAX is above 1");
    }
    for (size_t i = 0; needed[i] != NULL && config_number(config, "ENABLE_QCN") != 0;
         i++) {
        if (config_find(config, needed[i]) == NULL) {
            return config_fail(config, NULL, IMPORT_ERROR_FORM, error,
                               "%s is missing, which ENABLE_QCN 1 needs", needed[i]);
        }
    }
    if (mtu_of(payload->number) != payload->number) {
        config_warn(
            config, payload,
            "PACKET_PAYLOAD_SIZE is %s; packets of InfiniBand have %" G_GINT64_FORMAT
            " bytes instead",
            payload->text, mtu_of(payload->number));
    }
    return TRUE;
}

static void
put_devices(struct import_out *out, const struct config *config)
{
    json_out_open(&out->json, "nic", '{', false);
    import_config_value(out, config, "mtu", PARAM_INTEGER,
                        mtu_of(config_number(config, "PACKET_PAYLOAD_SIZE")),
                        "PACKET_PAYLOAD_SIZE");
    import_config_value(out, config, "cnp_interval", PARAM_TIME,
                        us_ps(config, "CNP_INTERVAL"), "CNP_INTERVAL");
    json_out_close(&out->json, '}');
    json_out_open(&out->json, "switch", '{', false);
    json_out_open(&out->json, "ecn", '{', false);
    json_out_text(&out->json, "_", "KMIN and KMAX count packets of 1030 bytes");
    import_config_value(out, config, "kmin", PARAM_SIZE,
                        config_number(config, "KMIN") * MARK_UNIT_BYTES, "KMIN");
    import_config_value(out, config, "kmax", PARAM_SIZE,
                        config_number(config, "KMAX") * MARK_UNIT_BYTES, "KMAX");
    import_config_value(out, config, "pmax", PARAM_SHARE,
                        config_number(config, "PMAX") * (PARAM_SHARE_ONE / CONFIG_ONE),
                        "PMAX");
    json_out_close(&out->json, '}');
    json_out_close(&out->json, '}');
}

static void
put_cc(struct import_out *out, const struct config *config)
{
    bool is_on = config_number(config, "ENABLE_QCN") != 0;
    g_autofree char *origin = config_origin(config, config_find(config, "ENABLE_QCN"));

    json_out_open(&out->json, "cc", '{', false);
    import_text(out, "algorithm", is_on ? "dcqcn" : "none", origin);
    if (is_on) {
        import_text(out, "preset", "paper", "by the same authors");
        json_out_open(&out->json, "params", '{', false);
        import_config_value(out, config, "alpha_interval", PARAM_TIME,
                            us_ps(config, "ALPHA_RESUME_INTERVAL"),
                            "ALPHA_RESUME_INTERVAL");
        import_config_value(out, config, "rate_timer", PARAM_TIME,
                            us_ps(config, "RP_TIMER"), "RP_TIMER");
        import_config_value(out, config, "byte_counter", PARAM_SIZE,
                            config_number(config, "BYTE_COUNTER"), "BYTE_COUNTER");
        import_config_value(
            out, config, "g", PARAM_FRACTION,
            (int64_t)(((__int128)config_number(config, "DCTCP_GAIN") * PARAM_ONE +
                       CONFIG_ONE / 2) /
                      CONFIG_ONE),
            "DCTCP_GAIN");
        import_config_value(out, config, "fast_recovery", PARAM_INTEGER,
                            config_number(config, "FAST_RECOVERY_TIMES"),
                            "FAST_RECOVERY_TIMES");
        import_config_value(out, config, "ai", PARAM_RATE,
                            config_number(config, "RATE_AI"), "RATE_AI");
        import_config_value(out, config, "hai", PARAM_RATE,
                            config_number(config, "RATE_HAI"), "RATE_HAI");
        import_config_value(out, config, "clamp_target", PARAM_BOOL,
                            config_number(config, "CLAMP_TARGET_RATE"),
                            "CLAMP_TARGET_RATE");
        json_out_close(&out->json, '}');
    }
    json_out_close(&out->json, '}');
}

static gboolean
put_flows(struct import_out *out, const struct config *config,
          const struct topo_file *topo, const struct flow_file *flows, const char *path,
          GError **error)
{
    g_autofree char *origin = config_origin(config, config_find(config, "FLOW_FILE"));
    int64_t payload = config_number(config, "PACKET_PAYLOAD_SIZE");

    json_out_open(&out->json, "workload", '[', false);
    json_out_open(&out->json, NULL, '{', false);
    json_out_text(&out->json, "_", origin);
    json_out_text(&out->json, "type", "flows");
    json_out_text(&out->json, "connect", "flow");
    json_out_open(&out->json, "list", '[', false);
    for (guint i = 0; i < flows->flows->len; i++) {
        const struct flow_file_flow *flow =
            &g_array_index(flows->flows, struct flow_file_flow, i);

        if (!import_is_host(topo, flow->src) || !import_is_host(topo, flow->dst) ||
            flow->bytes > INT64_MAX / payload) {
            g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FORM,
                        "%s:%u: a flow of %" G_GINT64_FORMAT
                        " packets from %u to %u; needed are hosts of the topology",
                        path, flow->line, flow->bytes, flow->src, flow->dst);
            return FALSE;
        }
        json_out_open(&out->json, NULL, '{', true);
        json_out_text(&out->json, "src", import_node_name(topo, flow->src));
        json_out_text(&out->json, "dst", import_node_name(topo, flow->dst));
        import_value(out, "bytes", PARAM_SIZE, flow->bytes * payload, NULL);
        import_value(out, "start", PARAM_TIME, flow->start_ps, NULL);
        json_out_close(&out->json, '}');
    }
    json_out_close(&out->json, ']');
    json_out_close(&out->json, '}');
    json_out_close(&out->json, ']');
    return TRUE;
}

static char *
with_files(struct config *config, GPtrArray *warnings, GError **error)
{
    const struct config_value *topo_name = config_need(config, "TOPOLOGY_FILE", error);
    const struct config_value *flow_name =
        topo_name != NULL ? config_need(config, "FLOW_FILE", error) : NULL;
    g_autofree char *topo_path =
        flow_name != NULL ? import_find(config, topo_name, error) : NULL;
    g_autofree char *flow_path =
        topo_path != NULL ? import_find(config, flow_name, error) : NULL;
    struct topo_file *topo =
        flow_path != NULL ? import_topology("ns3rdma", topo_path, warnings, error) : NULL;
    struct flow_file *flows =
        topo != NULL ? import_flows("ns3rdma", flow_path, warnings, error) : NULL;
    struct import_out out;
    char *text = NULL;

    if (flows != NULL) {
        g_autofree char *origin = config_origin(config, topo_name);

        import_begin(&out, "ns3rdma", config->file, "ns3-rdma");
        import_config_value(&out, config, "stop", PARAM_TIME,
                            config_number(config, "SIMULATOR_STOP_TIME") *
                                (PS_PER_S / CONFIG_ONE),
                            "SIMULATOR_STOP_TIME");
        import_put_topology(&out, topo, origin,
                            config_number(config, "ERROR_RATE_PER_LINK") *
                                (PARAM_SHARE_ONE / CONFIG_ONE),
                            NULL);
        put_devices(&out, config);
        put_cc(&out, config);
        if (put_flows(&out, config, topo, flows, flow_path, error)) {
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

char *
import_ns3rdma(const char *const *files, GPtrArray *warnings, GError **error)
{
    g_autofree char *data = NULL;
    struct config *config;
    char *text = NULL;
    size_t n_bytes;

    if (files[0] == NULL || files[1] != NULL) {
        g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FILE,
                    "import ns3rdma: takes one file, config.txt, which names the others");
        return NULL;
    }
    data = import_read(files[0], &n_bytes, error);
    if (data == NULL) {
        return NULL;
    }
    config = config_read(files[0], keys, CONFIG_NS3RDMA, data, n_bytes, error);
    if (config != NULL && check(config, error)) {
        text = with_files(config, warnings, error);
    }
    config_free(config);
    return text;
}
