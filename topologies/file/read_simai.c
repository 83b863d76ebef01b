/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_simai.c - topologies of SimAI: GPUs, NVSwitches and switches as nodes of one list.
 *
 * Here a server is one host with its GPUs; what goes through an NVSwitch is the host's pipe,
 * with the rate of a GPU's links to NVSwitches together and the delay of two of them.  So a
 * path through an NVSwitch is always taken within a server, as SimAI has it.  The NICs of a
 * host keep the order of its GPUs, and of a GPU's links.
 *
 * Source: aliyun/SimAI, astra-sim-alibabacloud: gen_Topo_Template.py, network_frontend/ns3/
 * common.h (SetupNetwork).
 */
#include <config.h>

#include "topologies/file/ns3.h"

#include <string.h>

enum { GPU, NVSWITCH, SWITCH };

/* Most GPUs of a server, as `node.gpus` has it. */
enum { SERVER_MAX = 256 };

struct simai {
    struct text *t;
    struct topo_file *file;
    int64_t n_nodes, n_nvswitches;
    uint32_t per_host; /* GPUs of a host here: 1 without NVSwitches */
    uint32_t n_gpus;
    uint8_t *kinds;      /* by id */
    int64_t *pipe_bps;   /* by GPU: of its links to NVSwitches */
    uint32_t *server_of; /* by id of an NVSwitch; UINT32_MAX: not known yet */
    GArray *links;       /* as they stand */
};

/* Are GPUs the ids from 0 on, and whole servers? */
static bool
check_gpus(struct simai *s, int64_t per_server)
{
    uint32_t n = 0;

    while (n < s->n_nodes && s->kinds[n] == GPU) {
        n++;
    }
    for (int64_t id = n; id < s->n_nodes; id++) {
        if (s->kinds[id] == GPU) {
            return text_fail(s->t,
                             "node %lld is a GPU, but node %u is not; GPUs must be "
                             "numbered from 0 on",
                             (long long)id, n);
        }
    }
    if (n == 0 || n % per_server != 0) {
        return text_fail(s->t,
                         "there are %u GPUs, no multiple of %lld, those of a server", n,
                         (long long)per_server);
    }
    s->n_gpus = n;
    return true;
}

/* A link of a GPU to an NVSwitch: part of the pipe of its server. */
static bool
add_nvlink(struct simai *s, uint32_t gpu, uint32_t nvswitch,
           const struct topo_file_link *link)
{
    uint32_t server = gpu / s->per_host;
    int64_t latency_ps = 2 * link->delay_ps;

    if (s->server_of[nvswitch] == UINT32_MAX) {
        s->server_of[nvswitch] = server;
    }
    if (s->server_of[nvswitch] != server) {
        return text_fail(s->t,
                         "NVSwitch %u joins GPUs of servers %u and %u; supported are "
                         "NVSwitches within a server",
                         nvswitch, s->server_of[nvswitch], server);
    }
    if (s->file->pipe_latency_ps != TOPO_FILE_UNSAID &&
        s->file->pipe_latency_ps != latency_ps) {
        return text_fail(s->t, "a link to an NVSwitch has another delay than the ones "
                               "before; supported is the same for all");
    }
    s->file->pipe_latency_ps = latency_ps;
    s->pipe_bps[gpu] += link->rate_bps;
    return true;
}

static bool
add_link(struct simai *s, const struct topo_file_link *link)
{
    uint32_t a = link->a, b = link->b;
    uint8_t kind_a = s->kinds[a], kind_b = s->kinds[b];

    s->t->line = link->line;
    if (kind_a == NVSWITCH && kind_b == GPU) {
        return add_nvlink(s, b, a, link);
    }
    if (kind_a == GPU && kind_b == NVSWITCH) {
        return add_nvlink(s, a, b, link);
    }
    if (kind_a == NVSWITCH || kind_b == NVSWITCH) {
        return text_fail(s->t,
                         "an NVSwitch is linked to a %s; supported are links to GPUs",
                         kind_a == kind_b ? "NVSwitch" : "switch");
    }
    if (kind_a == GPU && kind_b == GPU) {
        return text_fail(s->t,
                         "GPU %u is linked to GPU %u; supported are links through "
                         "NVSwitches and switches",
                         a, b);
    }
    topo_file_add_link__(s->file, kind_a == GPU ? a / s->per_host : s->file->node_of[a],
                         kind_b == GPU ? b / s->per_host : s->file->node_of[b],
                         link->rate_bps, link->delay_ps, link->error_e18, link->line);
    return true;
}

/* Hosts, and then switches, in the order of ids. */
static void
add_nodes(struct simai *s)
{
    struct topo_file *file = s->file;

    file->n_numbers = (uint32_t)s->n_nodes;
    file->node_of = g_new(uint32_t, s->n_nodes);
    for (uint32_t i = 0; i < s->n_gpus / s->per_host; i++) {
        topo_file_add_node__(file, NODE_HOST, 0, "host%u", i);
    }
    for (uint32_t id = 0; id < s->n_nodes; id++) {
        file->node_of[id] = id < s->n_gpus ? id / s->per_host : UINT32_MAX;
        if (s->kinds[id] == SWITCH) {
            file->node_of[id] = file->nodes->len;
            topo_file_add_node__(file, NODE_SWITCH, 0, "switch%u", id);
        }
    }
}

static bool
read_links(struct simai *s, int64_t n_links)
{
    static const struct ns3_dialect dialect = {.has_tors = false};

    if (!ns3_read_links(s->t, &dialect, n_links, s->n_nodes, s->links)) {
        return false;
    }
    add_nodes(s);
    for (guint i = 0; i < s->links->len; i++) {
        if (!add_link(s, &g_array_index(s->links, struct topo_file_link, i))) {
            return false;
        }
    }
    for (uint32_t gpu = 1; gpu < s->n_gpus; gpu++) {
        if (s->pipe_bps[gpu] != s->pipe_bps[0]) {
            return text_fail(s->t,
                             "GPUs 0 and %u have links to NVSwitches of %lld and %lld "
                             "bit/s in all; supported is the same for all",
                             gpu, (long long)s->pipe_bps[0], (long long)s->pipe_bps[gpu]);
        }
    }
    if (s->n_nvswitches > 0 && s->pipe_bps[0] == 0) {
        return text_fail(s->t, "no GPU is linked to any of the %lld NVSwitches",
                         (long long)s->n_nvswitches);
    }
    return true;
}

static bool
read_all(struct simai *s, int64_t per_server, int64_t n_switches, int64_t n_links)
{
    if (!ns3_read_switches(s->t, "NVSwitch", s->n_nvswitches, s->n_nodes, NVSWITCH,
                           s->kinds) ||
        !ns3_read_switches(s->t, "switch", n_switches, s->n_nodes, SWITCH, s->kinds) ||
        !check_gpus(s, per_server)) {
        return false;
    }
    s->per_host = s->n_nvswitches > 0 ? (uint32_t)per_server : 1;
    s->pipe_bps = g_new0(int64_t, s->n_gpus);
    if (!read_links(s, n_links)) {
        return false;
    }
    s->file->gpus = s->per_host;
    if (s->n_nvswitches > 0) {
        s->file->pipe_rate_bps = s->pipe_bps[0];
    } else if (per_server > 1) {
        topo_file_warn__(s->file, s->t, 1,
                         "servers of %lld GPUs have no NVSwitch, so each GPU is a host",
                         (long long)per_server);
    }
    return true;
}

static bool
simai_read(struct text *t, struct topo_file *file)
{
    static const char *const gpus[] = {"A100", "A800", "H100", "H800", "H20",
                                       "A2",   "A3",   "A5",   "A6"};
    struct simai s = {.t = t, .file = file};
    int64_t per_server, n_switches, n_links;
    bool is_known = false, ok;

    if (!text_integer(t, "the number of nodes", 1, TOPO_MAX_PORTS, &s.n_nodes) ||
        !text_integer(t, "the number of GPUs a server", 1, SERVER_MAX, &per_server) ||
        !text_integer(t, "the number of NVSwitches", 0, s.n_nodes, &s.n_nvswitches) ||
        !text_integer(t, "the number of switches", 0, s.n_nodes, &n_switches) ||
        !text_integer(t, "the number of links", 0, TOPO_MAX_PORTS / 2, &n_links) ||
        !text_need(t, "the kind of GPU")) {
        return false;
    }
    if (g_ascii_isdigit(t->word[0])) {
        return text_fail(t,
                         "the kind of GPU is '%.60s'; needed is a word such as H100 in "
                         "place 6 of the first line",
                         t->word);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(gpus); i++) {
        is_known |= strcmp(t->word, gpus[i]) == 0;
    }
    if (!is_known) {
        topo_file_warn__(file, t, t->line,
                         "kind of GPU '%.60s' is not known; it changes nothing here",
                         t->word);
    }
    s.kinds = g_new0(uint8_t, s.n_nodes);
    s.server_of = g_new(uint32_t, s.n_nodes);
    memset(s.server_of, 0xff, (size_t)s.n_nodes * sizeof *s.server_of);
    s.links = g_array_new(FALSE, FALSE, sizeof(struct topo_file_link));
    ok = read_all(&s, per_server, n_switches, n_links);
    g_free(s.kinds);
    g_free(s.server_of);
    g_free(s.pipe_bps);
    g_array_unref(s.links);
    return ok;
}

const struct topo_reader topo_reader_simai = {
    .name = "simai",
    .doc = "topologies of SimAI (gen_Topo_Template.py)",
    .source = "aliyun/SimAI, astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py",
    .read = simai_read,
};
