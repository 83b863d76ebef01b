/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * family.c - configurations of the HPCC simulator and its forks.
 *
 * Source: scratch/third.cc of alibaba-edu/High-Precision-Congestion-Control (defaults in its
 * first lines), scratch/network-load-balance.cc of conweave-project/conweave-ns3,
 * examples/PowerTCP/ of inet-tub/ns3-datacenter, network_frontend/ns3/common.h of
 * aliyun/SimAI; run.py of the first two.  docs/import.md has the mapping.
 */
#include <config.h>

#include "tools/import/family.h"

#include <string.h>

#include "models/cc/cc.h"
#include "sim/units.h"

#define ALL CONFIG_FAMILY
#define NOT_CONWEAVE (CONFIG_HPCC | CONFIG_NS3DC | CONFIG_SIMAI)

#define OUTPUT "outputs, and results go to --out"
#define INT_ONLY "for CC_MODE 3, 7, 8 and 10, which are not supported"
#define MONITOR "about what is recorded; output in docs/scenario.md is for that"
#define UNUSED "the original does not use it either"

const struct config_key family_keys[] = {
    {"ENABLE_QCN", CONFIG_INTEGER, ALL, "1", NULL},
    {"USE_DYNAMIC_PFC_THRESHOLD", CONFIG_INTEGER, ALL, "1",
     "the original does not consult it; thresholds are dynamic"},
    {"CLAMP_TARGET_RATE", CONFIG_INTEGER, ALL, "0", NULL},
    {"PAUSE_TIME", CONFIG_NUMBER, ALL, "5",
     "a pause lasts until the resume, in the original, too"},
    {"DATA_RATE", CONFIG_WORD, ALL, NULL, UNUSED},
    {"LINK_DELAY", CONFIG_WORD, ALL, NULL, UNUSED},
    {"PACKET_PAYLOAD_SIZE", CONFIG_INTEGER, ALL, "1000", NULL},
    {"L2_CHUNK_SIZE", CONFIG_INTEGER, ALL, "0", NULL},
    {"L2_ACK_INTERVAL", CONFIG_INTEGER, ALL, "0", NULL},
    {"L2_BACK_TO_ZERO", CONFIG_INTEGER, ALL, "0", NULL},
    {"TOPOLOGY_FILE", CONFIG_WORD, CONFIG_HPCC | CONFIG_CONWEAVE | CONFIG_NS3DC, NULL,
     NULL},
    {"FLOW_FILE", CONFIG_WORD, CONFIG_HPCC | CONFIG_CONWEAVE | CONFIG_NS3DC, NULL, NULL},
    {"FLOW_FILE", CONFIG_WORD, CONFIG_SIMAI, NULL, "SimAI takes its workload elsewhere"},
    {"TRACE_FILE", CONFIG_WORD, ALL, NULL, MONITOR},
    {"TRACE_OUTPUT_FILE", CONFIG_WORD, ALL, NULL, OUTPUT},
    {"SIMULATOR_STOP_TIME", CONFIG_NUMBER, NOT_CONWEAVE, "3.01", NULL},
    {"ALPHA_RESUME_INTERVAL", CONFIG_NUMBER, ALL, "55", NULL},
    {"RP_TIMER", CONFIG_NUMBER, ALL, NULL, NULL},
    {"EWMA_GAIN", CONFIG_NUMBER, ALL, NULL, NULL},
    {"FAST_RECOVERY_TIMES", CONFIG_INTEGER, ALL, "5", NULL},
    {"RATE_AI", CONFIG_RATE, ALL, NULL, NULL},
    {"RATE_HAI", CONFIG_RATE, ALL, NULL, NULL},
    {"ERROR_RATE_PER_LINK", CONFIG_NUMBER, ALL, "0", NULL},
    {"CC_MODE", CONFIG_INTEGER, ALL, "1", NULL},
    {"RATE_DECREASE_INTERVAL", CONFIG_NUMBER, ALL, "4", NULL},
    {"MIN_RATE", CONFIG_RATE, ALL, "100Mb/s", NULL},
    {"FCT_OUTPUT_FILE", CONFIG_WORD, ALL, NULL, OUTPUT},
    {"HAS_WIN", CONFIG_INTEGER, ALL, "1", NULL},
    {"GLOBAL_T", CONFIG_INTEGER, ALL, "1", NULL},
    {"MI_THRESH", CONFIG_INTEGER, ALL, "5", INT_ONLY},
    {"VAR_WIN", CONFIG_INTEGER, ALL, "0", NULL},
    {"FAST_REACT", CONFIG_INTEGER, ALL, "1", INT_ONLY},
    {"U_TARGET", CONFIG_NUMBER, ALL, "0.95", INT_ONLY},
    {"INT_MULTI", CONFIG_INTEGER, ALL, "1", INT_ONLY},
    {"RATE_BOUND", CONFIG_INTEGER, ALL, "1", NULL},
    {"ACK_HIGH_PRIO", CONFIG_INTEGER, NOT_CONWEAVE, "0", NULL},
    {"DCTCP_RATE_AI", CONFIG_WORD, ALL, "1000Mb/s", INT_ONLY},
    {"PFC_OUTPUT_FILE", CONFIG_WORD, ALL, NULL, OUTPUT},
    {"LINK_DOWN", CONFIG_LINK, ALL, "0 0 0", NULL},
    {"ENABLE_TRACE", CONFIG_INTEGER, ALL, "1", MONITOR},
    {"KMAX_MAP", CONFIG_MAP_KB, ALL, NULL, NULL},
    {"KMIN_MAP", CONFIG_MAP_KB, ALL, NULL, NULL},
    {"PMAX_MAP", CONFIG_MAP_SHARE, ALL, NULL, NULL},
    {"BUFFER_SIZE", CONFIG_INTEGER, NOT_CONWEAVE, "16", NULL},
    {"BUFFER_SIZE", CONFIG_INTEGER, CONFIG_CONWEAVE, "0", NULL},
    {"QLEN_MON_FILE", CONFIG_WORD, ALL, NULL, OUTPUT},
    {"QLEN_MON_START", CONFIG_NUMBER, ALL, "2000000000", MONITOR},
    {"QLEN_MON_END", CONFIG_NUMBER, ALL, "2100000000", MONITOR},
    {"MULTI_RATE", CONFIG_INTEGER, ALL, "1", INT_ONLY},
    {"SAMPLE_FEEDBACK", CONFIG_INTEGER, ALL, "0", INT_ONLY},
    {"PINT_LOG_BASE", CONFIG_NUMBER, ALL, "1.05", INT_ONLY},
    {"PINT_PROB", CONFIG_NUMBER, ALL, "1", INT_ONLY},

    {"FLOW_INPUT_FILE", CONFIG_WORD, CONFIG_CONWEAVE, NULL, OUTPUT},
    {"CNP_OUTPUT_FILE", CONFIG_WORD, CONFIG_CONWEAVE, NULL, OUTPUT},
    {"EST_ERROR_MON_FILE", CONFIG_WORD, CONFIG_CONWEAVE, NULL, OUTPUT},
    {"VOQ_MON_FILE", CONFIG_WORD, CONFIG_CONWEAVE, NULL, OUTPUT},
    {"VOQ_MON_DETAIL_FILE", CONFIG_WORD, CONFIG_CONWEAVE, NULL, OUTPUT},
    {"UPLINK_MON_FILE", CONFIG_WORD, CONFIG_CONWEAVE, NULL, OUTPUT},
    {"CONN_MON_FILE", CONFIG_WORD, CONFIG_CONWEAVE, NULL, OUTPUT},
    {"SW_MONITORING_INTERVAL", CONFIG_NUMBER, CONFIG_CONWEAVE, "10000", MONITOR},
    {"FLOWGEN_START_TIME", CONFIG_NUMBER, CONFIG_CONWEAVE, "2.0",
     "starts of flows are in the flow file"},
    {"FLOWGEN_STOP_TIME", CONFIG_NUMBER, CONFIG_CONWEAVE, "2.5", NULL},
    {"LB_MODE", CONFIG_INTEGER, CONFIG_CONWEAVE, "0", NULL},
    {"ENABLE_PFC", CONFIG_INTEGER, CONFIG_CONWEAVE, "1", NULL},
    {"ENABLE_IRN", CONFIG_INTEGER, CONFIG_CONWEAVE, "0", NULL},
    {"RANDOM_SEED", CONFIG_INTEGER, CONFIG_CONWEAVE, "1", NULL},
    {"LOAD", CONFIG_NUMBER, CONFIG_CONWEAVE, "10", "flows are in the flow file"},
    {"CONWEAVE_TX_EXPIRY_TIME", CONFIG_NUMBER, CONFIG_CONWEAVE, NULL, "LB_MODE is 0"},
    {"CONWEAVE_REPLY_TIMEOUT_EXTRA", CONFIG_NUMBER, CONFIG_CONWEAVE, NULL,
     "LB_MODE is 0"},
    {"CONWEAVE_EXTRA_VOQ_FLUSH_TIME", CONFIG_NUMBER, CONFIG_CONWEAVE, NULL,
     "LB_MODE is 0"},
    {"CONWEAVE_PATH_PAUSE_TIME", CONFIG_NUMBER, CONFIG_CONWEAVE, NULL, "LB_MODE is 0"},
    {"CONWEAVE_DEFAULT_VOQ_WAITING_TIME", CONFIG_NUMBER, CONFIG_CONWEAVE, NULL,
     "LB_MODE is 0"},

    {"TRACE_NODE", CONFIG_INTEGER, CONFIG_SIMAI, NULL, MONITOR},
    {"BW_MON_FILE", CONFIG_WORD, CONFIG_SIMAI, NULL, OUTPUT},
    {"RATE_MON_FILE", CONFIG_WORD, CONFIG_SIMAI, NULL, OUTPUT},
    {"CNP_MON_FILE", CONFIG_WORD, CONFIG_SIMAI, NULL, OUTPUT},
    {"MON_START", CONFIG_NUMBER, CONFIG_SIMAI, NULL, MONITOR},
    {"MON_END", CONFIG_NUMBER, CONFIG_SIMAI, NULL, UNUSED},
    {"QP_MON_INTERVAL", CONFIG_NUMBER, CONFIG_SIMAI, "100", MONITOR},
    {"BW_MON_INTERVAL", CONFIG_NUMBER, CONFIG_SIMAI, "10000", MONITOR},
    {"QLEN_MON_INTERVAL", CONFIG_NUMBER, CONFIG_SIMAI, "10000", MONITOR},
    {"NIC_TOTAL_PAUSE_TIME", CONFIG_INTEGER, CONFIG_SIMAI, NULL, MONITOR},
    {NULL, CONFIG_WORD, 0, NULL, NULL},
};

/* ---- what cannot be had --------------------------------------------------------------- */

/* Modes without an algorithm: 0, which has no branch in the original, and 12, which
 * astra-sim's example has, likewise. */
static bool
has_dcqcn(const struct config *config)
{
    return config_number(config, "CC_MODE") == 1 &&
           config_number(config, "ENABLE_QCN") != 0;
}

static gboolean
check_mode(struct config *config, GError **error)
{
    static const struct {
        int64_t mode;
        const char *name;
    } others[] = {{3, "HPCC"}, {7, "TIMELY"}, {8, "DCTCP"}, {10, "HPCC with PINT"}};
    const struct config_value *mode = config_find(config, "CC_MODE");

    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        if (others[i].mode == mode->number) {
            return config_fail(config, mode, IMPORT_ERROR_UNSUPPORTED, error,
                               "CC_MODE is %s, %s, which is not supported; supported are "
                               "1 (DCQCN) and 0 (none)",
                               mode->text, others[i].name);
        }
    }
    if (mode->number == 12) {
        config_warn(config, mode,
                    "CC_MODE 12 has no algorithm in the original, so there "
                    "is none here");
    } else if (mode->number != 0 && mode->number != 1) {
        return config_fail(config, mode, IMPORT_ERROR_UNSUPPORTED, error,
                           "CC_MODE is %s; supported are 1 (DCQCN) and 0 (none)",
                           mode->text);
    }
    if (config_number(config, "ENABLE_QCN") == 0 && mode->number == 1) {
        config_warn(config, config_find(config, "ENABLE_QCN"),
                    "ENABLE_QCN 0: switches mark nothing, so DCQCN never acts; there is "
                    "none here");
    }
    return TRUE;
}

static gboolean
check_dcqcn(const struct config *config, GError **error)
{
    static const char *const needed[] = {"RP_TIMER", "RATE_AI", "RATE_HAI", "EWMA_GAIN"};

    for (size_t i = 0; has_dcqcn(config) && i < G_N_ELEMENTS(needed); i++) {
        if (config_find(config, needed[i]) == NULL) {
            return config_fail(config, NULL, IMPORT_ERROR_FORM, error,
                               "%s is missing, which CC_MODE 1 needs%s", needed[i],
                               strcmp(needed[i], "EWMA_GAIN") == 0
                                   ? "; the original then has 0 (1/16 in integers), with "
                                     "which DCQCN does not work"
                                   : "");
        }
    }
    return TRUE;
}

static gboolean
check_transport(struct config *config, GError **error)
{
    const struct config_value *payload = config_find(config, "PACKET_PAYLOAD_SIZE"),
                              *ack = config_find(config, "L2_ACK_INTERVAL"),
                              *chunk = config_find(config, "L2_CHUNK_SIZE"),
                              *back = config_find(config, "L2_BACK_TO_ZERO");

    if (payload->number < 64 || payload->number > 9216) {
        return config_fail(config, payload, IMPORT_ERROR_FORM, error,
                           "PACKET_PAYLOAD_SIZE is %s; allowed is 64 to 9216",
                           payload->text);
    }
    if (ack->number == 0) {
        return config_fail(config, ack, IMPORT_ERROR_FORM, error,
                           "L2_ACK_INTERVAL is 0, with which no flow ends in the "
                           "original; give 1");
    }
    if (ack->number > payload->number) {
        config_warn(config, ack,
                    "L2_ACK_INTERVAL %s are bytes, not packets: the original leaves out "
                    "the ACKs of the first %s bytes of a flow; here each packet has one",
                    ack->text, ack->text);
    }
    if (back->number != 0 && chunk->number != 0 && chunk->number % payload->number != 0) {
        return config_fail(config, chunk, IMPORT_ERROR_UNSUPPORTED, error,
                           "L2_CHUNK_SIZE is %s; supported, with L2_BACK_TO_ZERO 1, is a "
                           "multiple of PACKET_PAYLOAD_SIZE %s",
                           chunk->text, payload->text);
    }
    return TRUE;
}

static gboolean
check_conweave(struct config *config, GError **error)
{
    const struct config_value *lb = config_find(config, "LB_MODE"),
                              *pfc = config_find(config, "ENABLE_PFC"),
                              *irn = config_find(config, "ENABLE_IRN");

    if (lb->number != 0) {
        return config_fail(config, lb, IMPORT_ERROR_UNSUPPORTED, error,
                           "LB_MODE is %s; supported is 0 (ECMP)", lb->text);
    }
    if (irn->number != 0) {
        return config_fail(config, irn, IMPORT_ERROR_UNSUPPORTED, error,
                           "ENABLE_IRN is %s; supported is 0, with ENABLE_PFC 1",
                           irn->text);
    }
    if (pfc->number == 0) {
        return config_fail(config, pfc, IMPORT_ERROR_UNSUPPORTED, error,
                           "ENABLE_PFC is 0; supported is 1, with ENABLE_IRN 0");
    }
    config_warn(
        config, NULL,
        "as in HPCC here, other than in the original: headroom is 3 (not 2) x rate "
        "x delay without 2 MTU, alpha grows with the rate of a port, and ACKs "
        "travel in the class of their flow");
    return TRUE;
}

struct config *
family_read(const char *file, enum config_dialect dialect, GError **error)
{
    g_autofree char *data = NULL;
    struct config *config;
    size_t n_bytes;

    data = import_read(file, &n_bytes, error);
    if (data == NULL) {
        return NULL;
    }
    config = config_read(file, family_keys, dialect, data, n_bytes, error);
    if (config != NULL &&
        (!check_mode(config, error) || !check_dcqcn(config, error) ||
         !check_transport(config, error) ||
         (dialect == CONFIG_CONWEAVE && !check_conweave(config, error)))) {
        g_clear_pointer(&config, config_free);
    }
    return config;
}

/* ---- head ----------------------------------------------------------------------------- */

static void
put_word(struct import_out *out, const struct config *config, const char *key,
         const char *value, const char *name)
{
    g_autofree char *origin = config_origin(config, config_find(config, name));

    import_text(out, key, value, origin);
}

/* Seconds times 10^9; what is longer than a run can be is no stop. */
static void
put_stop(struct import_out *out, const struct config *config, const char *name,
         int64_t more_ps)
{
    const int64_t longest = INT64_C(1000000) * CONFIG_ONE; /* 11 days */
    int64_t value = config_number(config, name);

    if (value > longest) {
        put_word(out, config, "stop", "none", name);
    } else {
        import_config_value(out, config, "stop", PARAM_TIME,
                            value * (PS_PER_S / CONFIG_ONE) + more_ps, name);
    }
}

void
family_put_head(struct import_out *out, const struct config *config,
                enum config_dialect dialect)
{
    import_text(out, "compat", "hpcc", NULL);
    import_text(out, "wire", "hpcc", NULL);
    if (dialect == CONFIG_CONWEAVE) {
        import_config_value(out, config, "seed", PARAM_INTEGER,
                            config_number(config, "RANDOM_SEED"), "RANDOM_SEED");
        put_stop(out, config, "FLOWGEN_STOP_TIME", 10 * PS_PER_S);
    } else {
        put_stop(out, config, "SIMULATOR_STOP_TIME", 0);
    }
}

/* ---- devices -------------------------------------------------------------------------- */

static void
put_nic(struct import_out *out, const struct config *config, enum config_dialect dialect)
{
    bool has_win = config_number(config, "HAS_WIN") != 0;
    bool is_global = config_number(config, "GLOBAL_T") == 1 || dialect == CONFIG_SIMAI;
    bool by_chunk = config_number(config, "L2_BACK_TO_ZERO") != 0 &&
                    config_number(config, "L2_CHUNK_SIZE") != 0;

    json_out_open(&out->json, "nic", '{', false);
    import_config_value(out, config, "mtu", PARAM_INTEGER,
                        config_number(config, "PACKET_PAYLOAD_SIZE"),
                        "PACKET_PAYLOAD_SIZE");
    put_word(out, config, "window", has_win ? "bdp" : "none", "HAS_WIN");
    if (has_win) {
        if (dialect == CONFIG_SIMAI) {
            import_text(out, "window_scope", "global",
                        "SimAI reads GLOBAL_T and then takes 1");
        } else {
            put_word(out, config, "window_scope", is_global ? "global" : "pair",
                     "GLOBAL_T");
        }
        import_config_value(out, config, "window_varies", PARAM_BOOL,
                            config_number(config, "VAR_WIN"), "VAR_WIN");
    }
    import_value(out, "ack_first", PARAM_BOOL, 1, NULL);
    if (dialect == CONFIG_CONWEAVE) {
        import_value(out, "ack_pausable", PARAM_BOOL, 0,
                     "conweave-ns3 sends ACKs in a class of their own");
    } else {
        import_config_value(out, config, "ack_pausable", PARAM_BOOL,
                            config_number(config, "ACK_HIGH_PRIO") == 0, "ACK_HIGH_PRIO");
    }
    import_text(out, "cnp", "ack", NULL);
    import_text(out, "nack_interval", "500us", "NACK interval in the original's code");
    put_word(out, config, "go_back", by_chunk ? "chunk" : "packet", "L2_BACK_TO_ZERO");
    if (by_chunk) {
        import_config_value(out, config, "chunk", PARAM_SIZE,
                            config_number(config, "L2_CHUNK_SIZE"), "L2_CHUNK_SIZE");
    }
    import_value(out, "ack_timeout", PARAM_INTEGER, 0, "the original has no timeout");
    import_config_value(out, config, "rate_bound", PARAM_BOOL,
                        config_number(config, "RATE_BOUND"), "RATE_BOUND");
    json_out_close(&out->json, '}');
}

/* The entry of a map for ports of 'rate_bps': that of the rate, else scaled from the next
 * slower one, else from the slowest. */
static int64_t
map_value(const GArray *map, int64_t rate_bps, bool scales, bool *is_exact)
{
    const struct config_pair *pair = &g_array_index(map, struct config_pair, 0);

    for (guint i = 1; i < map->len && pair[1].rate_bps <= rate_bps; i++) {
        pair++;
    }
    *is_exact &= pair->rate_bps == rate_bps;
    return !scales || pair->rate_bps == rate_bps
               ? pair->value
               : (int64_t)((__int128)pair->value * rate_bps / pair->rate_bps);
}

/* Rates of the ports of switches, ascending, each once. */
static GArray *
port_rates(const struct topo_file *topo)
{
    GArray *rates = g_array_new(FALSE, FALSE, sizeof(struct config_pair));

    for (guint i = 0; i < topo->links->len; i++) {
        const struct topo_file_link *link =
            &g_array_index(topo->links, struct topo_file_link, i);
        struct config_pair rate = {.rate_bps = link->rate_bps};
        guint at = 0;

        if (g_array_index(topo->nodes, struct topo_graph_node, link->a).kind ==
                NODE_HOST &&
            g_array_index(topo->nodes, struct topo_graph_node, link->b).kind ==
                NODE_HOST) {
            continue;
        }
        while (at < rates->len &&
               g_array_index(rates, struct config_pair, at).rate_bps < rate.rate_bps) {
            at++;
        }
        if (at == rates->len ||
            g_array_index(rates, struct config_pair, at).rate_bps != rate.rate_bps) {
            g_array_insert_val(rates, at, rate);
        }
    }
    return rates;
}

/* Thresholds of ports of 'rate_bps'. */
static gboolean
put_thresholds(struct import_out *out, struct config *config, int64_t rate_bps,
               GError **error)
{
    const struct config_value *kmin = config_find(config, "KMIN_MAP"),
                              *kmax = config_find(config, "KMAX_MAP"),
                              *pmax = config_find(config, "PMAX_MAP");
    bool is_exact = true;
    int64_t low = map_value(kmin->map, rate_bps, true, &is_exact);
    int64_t high = map_value(kmax->map, rate_bps, true, &is_exact);
    int64_t share = map_value(pmax->map, rate_bps, false, &is_exact);
    const struct param p = {.name = "pmax", .kind = PARAM_SHARE};
    char number[PARAM_TEXT_BYTES];

    if (!is_exact) {
        config_warn(
            config, kmin,
            "the maps have no entry for ports of %" G_GINT64_FORMAT
            " bit/s, which the original refuses; it is scaled from the nearest one",
            rate_bps);
    }
    if (low > high) {
        return config_fail(config, kmin, IMPORT_ERROR_FORM, error,
                           "KMIN_MAP says %" G_GINT64_FORMAT " KB for %" G_GINT64_FORMAT
                           " bit/s, above the %" G_GINT64_FORMAT
                           " of KMAX_MAP; allowed is up to that",
                           low, rate_bps, high);
    }
    import_value(out, "kmin", PARAM_SIZE, low * 1000, NULL);
    import_value(out, "kmax", PARAM_SIZE, high * 1000, NULL);
    param_format(&p, share * (PARAM_SHARE_ONE / CONFIG_ONE), number);
    json_out_text(&out->json, "pmax", number);
    return TRUE;
}

/* `ecn`, by one entry or one for each rate that ports have. */
static gboolean
put_ecn(struct import_out *out, struct config *config, const struct topo_file *topo,
        GError **error)
{
    static const char *const names[] = {"KMIN_MAP", "KMAX_MAP", "PMAX_MAP"};
    g_autoptr(GArray) rates = port_rates(topo);

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const struct config_value *map = config_find(config, names[i]);

        if (map == NULL || map->map->len == 0) {
            config_warn(config, map,
                        "%s has no entry, which the original refuses; thresholds are "
                        "those of the set \"hpcc\"",
                        names[i]);
            import_text(out, "ecn", "hpcc", NULL);
            return TRUE;
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        static const char *const keys[] = {"_kmin", "_kmax", "_pmax"};
        g_autofree char *origin = config_origin(config, config_find(config, names[i]));

        json_out_text(&out->json, keys[i], origin);
    }
    json_out_open(&out->json, "ecn", '{', false);
    if (rates->len == 1) {
        if (!put_thresholds(out, config,
                            g_array_index(rates, struct config_pair, 0).rate_bps,
                            error)) {
            return FALSE;
        }
    } else {
        json_out_text(&out->json, "scale", "none");
        json_out_open(&out->json, "entries", '[', false);
        for (guint i = 0; i < rates->len; i++) {
            int64_t rate_bps = g_array_index(rates, struct config_pair, i).rate_bps;

            json_out_open(&out->json, NULL, '{', true);
            import_value(out, "rate", PARAM_RATE, rate_bps, NULL);
            if (!put_thresholds(out, config, rate_bps, error)) {
                return FALSE;
            }
            json_out_close(&out->json, '}');
        }
        json_out_close(&out->json, ']');
    }
    json_out_close(&out->json, '}');
    return TRUE;
}

static gboolean
put_switch(struct import_out *out, struct config *config, enum config_dialect dialect,
           const struct topo_file *topo, GError **error)
{
    enum { CONWEAVE_MIB = 9 };
    const struct config_value *buffer = config_find(config, "BUFFER_SIZE");
    int64_t mib = buffer->number;

    if (mib == 0 && dialect == CONFIG_CONWEAVE) {
        mib = CONWEAVE_MIB;
        config_warn(config, buffer,
                    "BUFFER_SIZE 0 means automatic; 9 MiB are taken, as "
                    "the original's run.py has it");
    }
    if (mib < 1 || mib > 1024) {
        return config_fail(config, buffer, IMPORT_ERROR_FORM, error,
                           "BUFFER_SIZE is %s MiB; allowed is 1 to 1024", buffer->text);
    }
    json_out_open(&out->json, "switch", '{', false);
    import_text(out, "mmu", "hpcc", NULL);
    import_config_value(out, config, "buffer", PARAM_SIZE, mib << 20, "BUFFER_SIZE");
    import_text(out, "hash", "murmur3", NULL);
    import_text(out, "next_hops", "descending", NULL);
    import_text(out, "pfc_quanta", "until-resume", NULL);
    import_text(out, "scheduler", "rr", NULL);
    if (!put_ecn(out, config, topo, error)) {
        return FALSE;
    }
    json_out_close(&out->json, '}');
    return TRUE;
}

/* A time in us times 10^9, of which the original takes the whole us. */
static void
put_us(struct import_out *out, struct config *config, const char *key, const char *name)
{
    const struct config_value *value = config_find(config, name);

    if (value->number % CONFIG_ONE != 0) {
        config_warn(config, value,
                    "%s is %s us; the original takes whole us, rounded down", name,
                    value->text);
    }
    import_config_value(out, config, key, PARAM_TIME,
                        value->number / CONFIG_ONE * PS_PER_US, name);
}

static void
put_cc(struct import_out *out, struct config *config)
{
    g_autofree char *origin = config_origin(config, config_find(config, "CC_MODE"));

    json_out_open(&out->json, "cc", '{', false);
    import_text(out, "algorithm", has_dcqcn(config) ? "dcqcn" : "none", origin);
    if (has_dcqcn(config)) {
        /* Times 10^9; q32 is finer. */
        int64_t g_q32 =
            (int64_t)(((__int128)config_number(config, "EWMA_GAIN") * PARAM_ONE +
                       CONFIG_ONE / 2) /
                      CONFIG_ONE);

        import_text(out, "preset", "hpcc-sim", NULL);
        json_out_open(&out->json, "params", '{', false);
        put_us(out, config, "alpha_interval", "ALPHA_RESUME_INTERVAL");
        put_us(out, config, "decrease_interval", "RATE_DECREASE_INTERVAL");
        import_config_value(out, config, "clamp_target", PARAM_BOOL,
                            config_number(config, "CLAMP_TARGET_RATE"),
                            "CLAMP_TARGET_RATE");
        put_us(out, config, "rate_timer", "RP_TIMER");
        import_config_value(out, config, "g", PARAM_FRACTION, g_q32, "EWMA_GAIN");
        import_config_value(out, config, "fast_recovery", PARAM_INTEGER,
                            config_number(config, "FAST_RECOVERY_TIMES"),
                            "FAST_RECOVERY_TIMES");
        import_config_value(out, config, "ai", PARAM_RATE,
                            config_number(config, "RATE_AI"), "RATE_AI");
        import_config_value(out, config, "hai", PARAM_RATE,
                            config_number(config, "RATE_HAI"), "RATE_HAI");
        import_config_value(out, config, "min_rate", PARAM_RATE,
                            config_number(config, "MIN_RATE"), "MIN_RATE");
        json_out_close(&out->json, '}');
    }
    json_out_close(&out->json, '}');
}

gboolean
family_put_devices(struct import_out *out, struct config *config,
                   enum config_dialect dialect, const struct topo_file *topo,
                   GError **error)
{
    put_nic(out, config, dialect);
    if (!put_switch(out, config, dialect, topo, error)) {
        return FALSE;
    }
    put_cc(out, config);
    return TRUE;
}

/* ---- faults --------------------------------------------------------------------------- */

/* All links between two nodes: in the original they are one. */
static gboolean
put_link_down(struct import_out *out, const struct config *config,
              const struct config_value *down, const struct topo_file *topo,
              GError **error)
{
    int64_t at_ps = 2 * PS_PER_S + down->number * PS_PER_US;
    uint32_t end[2], n = 0, number = 0;

    for (int e = 0; e < 2; e++) {
        if (down->node[e] >= topo->n_numbers ||
            topo->node_of[down->node[e]] == UINT32_MAX) {
            return config_fail(config, down, IMPORT_ERROR_FORM, error,
                               "LINK_DOWN: there is no node %" G_GINT64_FORMAT,
                               down->node[e]);
        }
        end[e] = topo->node_of[down->node[e]];
    }
    for (guint i = 0; i < topo->links->len; i++) {
        const struct topo_file_link *link =
            &g_array_index(topo->links, struct topo_file_link, i);

        n += (link->a == end[0] && link->b == end[1]) ||
             (link->a == end[1] && link->b == end[0]);
    }
    if (n == 0) {
        return config_fail(config, down, IMPORT_ERROR_FORM, error,
                           "LINK_DOWN: there is no link between %" G_GINT64_FORMAT
                           " and %" G_GINT64_FORMAT,
                           down->node[0], down->node[1]);
    }
    for (number = 1; number <= n; number++) {
        g_autofree char *tail = n > 1 ? g_strdup_printf("#%u", number) : g_strdup("");
        g_autofree char *name = g_strdup_printf("%s-%s%s", import_node_name(topo, end[0]),
                                                import_node_name(topo, end[1]), tail);

        json_out_open(&out->json, NULL, '{', true);
        import_value(out, "at", PARAM_TIME, at_ps, NULL);
        import_text(out, "link", name, NULL);
        import_text(out, "do", "down", NULL);
        json_out_close(&out->json, '}');
    }
    return TRUE;
}

gboolean
family_put_faults(struct import_out *out, const struct config *config,
                  const struct topo_file *topo, GError **error)
{
    const struct config_value *down = config_find(config, "LINK_DOWN");
    g_autofree char *origin = NULL, *comment = NULL;

    if (down->number == 0) {
        return TRUE;
    }
    origin = config_origin(config, down);
    comment = g_strconcat(origin, ", in us after 2 s", NULL);
    json_out_text(&out->json, "_faults", comment);
    json_out_open(&out->json, "faults", '[', false);
    if (!put_link_down(out, config, down, topo, error)) {
        return FALSE;
    }
    json_out_close(&out->json, ']');
    return TRUE;
}
