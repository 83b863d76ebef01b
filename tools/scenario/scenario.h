/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scenario.h - a scenario: loaded, checked, every default filled in, in base units.
 *
 * From a file to a network that is ready for net_build():
 *     struct scenario *s = scenario_load(path, sets, &error);
 *     struct net *net = scenario_build_net(s, &error);     nodes, links, parameters
 *     net_build(net, ...); topo_routes(net, NULL, ...);
 *     scenario_bind_faults(s, net, &error); scenario_bind_series(s, net, &error);
 *     struct work_params *w = scenario_bind_work(s, net, i, &error);   for each workload
 *
 * What stands here is what scenario_to_json() writes: loading that again gives the same.
 * Threads, partition and where output goes are no part of it.
 *
 * Messages are one line, "FILE: JSON.PATH: what is wrong; what is allowed" ("FILE:LINE: ..."
 * for syntax), without "rocesim: ".
 */
#ifndef ROCESIM_TOOLS_SCENARIO_SCENARIO_H
#define ROCESIM_TOOLS_SCENARIO_SCENARIO_H

#include <glib.h>
#include <jansson.h>

#include "models/net.h"
#include "topologies/file/file.h"
#include "topologies/topo.h"
#include "workloads/file/file.h"
#include "workloads/work_params.h"

#define SCENARIO_ERROR scenario_error_quark()
GQuark scenario_error_quark(void);

enum scenario_error {
    SCENARIO_ERROR_FILE,   /* cannot be read, empty, too large */
    SCENARIO_ERROR_SYNTAX, /* no JSON, a repeated key, a line of a CSV */
    SCENARIO_ERROR_KEY, /* a key that does not exist, or a required one that is missing */
    SCENARIO_ERROR_TYPE,  /* a number where a text is needed... */
    SCENARIO_ERROR_VALUE, /* out of range, no such word, contradicts another value */
    SCENARIO_ERROR_NAME,  /* no such node, link, profile, file */
    SCENARIO_ERROR_LATER, /* known, not supported yet */
};

/* Longest `name`; it names the default folder of results. */
#define SCENARIO_NAME_MAX 100

/* A link as written. */
struct scenario_link {
    int64_t rate_bps;
    int64_t length_mm;                /* PARAM_SPECIAL: delay is given instead */
    int64_t delay_ps;                 /* one way; from length when that is given */
    int64_t error_e18, bit_error_e18; /* shares times 10^18 */
};

/* `node`. */
struct scenario_node {
    int64_t gpus, nics;
    int64_t pipe_rate_bps, pipe_latency_ps;
};

/* `output`. */
struct scenario_output {
    int64_t sample_ps; /* PARAM_SPECIAL: no samples */
    bool messages;
    int64_t warmup_ps,
        cooldown_ps; /* of the run's begin and end; flows that start in them
                                       are not counted */
};

/* `output.pcap[]`. */
struct scenario_tap {
    char *at;                      /* owned: node, NODE:PORT or glob */
    char *filter;                  /* owned, well-formed; NULL: everything */
    int32_t dir;                   /* both, in, out */
    int64_t snap_bytes, max_bytes; /* PARAM_SPECIAL: no limit */
};

/* Thresholds of a named set, or given ones: one entry. */
struct scenario_ecn {
    char *set;                /* owned; NULL: given by numbers */
    struct ecn_params *entry; /* owned, chained by 'faster', slowest ports first */
    uint32_t n_entries;       /* >= 1 */
    bool scaled;              /* entries hold per rate */
};

/* Keys of a NIC or a switch: those of the table whose bit is set in 'set' (by index). */
struct scenario_nic {
    char *pattern; /* owned: name or glob of hosts; NULL: all */
    char *profile; /* owned; NULL: none named */
    uint64_t set;
    struct nic_params params;
    bool has_pfc;
};

struct scenario_switch {
    char *pattern;              /* owned; NULL: all */
    char *profile;              /* owned; NULL: none named */
    uint64_t set, watchdog_set; /* of watchdog_param_table, over the same 'params' */
    struct switch_params params;
    struct scenario_ecn ecn;
    bool has_pfc, has_ecn;
};

struct scenario_link_override {
    char *pattern; /* owned: name or glob of links, either end first */
    uint64_t set;
    struct scenario_link link;
};

/* A row of `topology.routes`, as written. */
struct scenario_route {
    char *at, *to;  /* owned: names or globs of switches, of hosts */
    GPtrArray *via; /* owned: char *, names of neighbours */
};

/* `faults[].do`. */
enum scenario_fault_kind {
    SCENARIO_DOWN,
    SCENARIO_UP,
    SCENARIO_RATE,
    SCENARIO_ERROR_RATE,
    SCENARIO_DROP,
    SCENARIO_PAUSE_STORM,
    SCENARIO_SLOW_RECEIVER,
    SCENARIO_SWITCH_DOWN,
    SCENARIO_SWITCH_UP,
};

/* `faults`, as written. */
struct scenario_fault {
    int64_t at_ps;
    enum scenario_fault_kind kind;
    char *name;        /* owned: of a link; of a port or host; of a switch */
    int64_t rate_bps;  /* SCENARIO_RATE, SCENARIO_SLOW_RECEIVER */
    int64_t error_e18; /* SCENARIO_ERROR_RATE */
    int64_t until_ps;  /* SCENARIO_PAUSE_STORM, _SLOW_RECEIVER; PARAM_SPECIAL: for ever */
    int64_t cls;       /* SCENARIO_PAUSE_STORM; PARAM_SPECIAL: all lossless ones */
    int64_t buffer_bytes; /* SCENARIO_SLOW_RECEIVER */
    GArray *packets;      /* owned: uint64_t, ascending, 1-based; SCENARIO_DROP */
    bool from_file;       /* a workload's file says it */
};

/* Reference to a host of a workload as written: by name, or by position when
 * name is NULL. */
struct scenario_host {
    char *name; /* owned */
    int64_t position;
};

struct scenario_flow {
    struct scenario_host src, dst;
    int64_t bytes, start_ps;
    int64_t sport, dport; /* 0: not written */
    int64_t cls;          /* -1: that of the workload's qos */
    unsigned line;        /* of the CSV, from 1; 0: of a list */
};

/* `workload[]`, as written. */
struct scenario_work {
    enum work_kind kind;
    struct work_common common;
    uint64_t set;     /* keys of work_common_params that were written */
    uint32_t qos;     /* index into 'qos' */
    GPtrArray *hosts; /* owned: char * names and globs; NULL: all */

    GArray *flows; /* owned: struct scenario_flow */
    char *path;    /* owned: the CSV that 'flows' came from, or the file of WORK_FILE,
                      absolute; NULL: a list */
    struct flow_file *file; /* owned; WORK_FILE */
    struct work_permutation permutation;
    struct work_incast incast;
    GArray *senders; /* owned: struct scenario_host; NULL: n_senders of them */
    int64_t n_senders;
    struct scenario_host receiver; /* position -1: drawn for each event */
    struct work_poisson poisson;
    char *cdf; /* owned: name of one that comes along, or an absolute path */
    struct work_all_to_all all_to_all;
    struct work_collective collective;
    GArray *ranks;     /* owned: uint32_t; NULL: the first n_ranks */
    int64_t n_ranks;   /* PARAM_SPECIAL: all */
    GPtrArray *traces; /* owned: char *, absolute */
    char *format;      /* owned; of a trace or file; NULL: by content */
    uint32_t skip;     /* bit k: enum trace_kind k is left out */
};

enum scenario_verdict {
    VERDICT_COMPLETE,
    VERDICT_EXPECTATION_MISSED,
    VERDICT_INCOMPLETE,
    VERDICT_LOSSLESS_VIOLATED,
    VERDICT_DEADLOCK,
    VERDICT_INTERRUPTED,
};

/* One value of `expect`: a path into summary.json and what must stand there. */
struct scenario_band {
    char *path; /* owned: "collectives[0].busbw_GBps" */
    bool is_text;
    char *text;       /* owned; is_text: must be equal */
    double low, high; /* else both included */
};

struct scenario {
    char *file;      /* owned; for messages */
    char *name;      /* owned */
    char *source;    /* owned; where it comes from; NULL: not said */
    int64_t seed;    /* >= 0 */
    int64_t stop_ps; /* PARAM_SPECIAL: none */
    int32_t wire;    /* enum wire_format */
    bool is_hpcc;    /* `compat` is "hpcc" */

    const struct topo_ops *topo;  /* borrowed */
    void *topo_params;            /* owned, resolved */
    struct topo_input topo_input; /* links of the graph in 'graph_links' */
    struct scenario_link host_link, fabric_link;
    GArray *graph_nodes;      /* owned: struct topo_graph_node, names owned */
    GArray *graph_links;      /* owned: struct topo_graph_link, names owned */
    GArray *graph_link_specs; /* owned: struct scenario_link, by link */
    struct topo_graph graph;
    /* Of a topology of type file; else NULL. */
    char *topo_format, *topo_path; /* owned; the path absolute */
    struct topo_file *topo_file;   /* owned */
    GArray *link_overrides;        /* owned: struct scenario_link_override, in order */
    GArray *routes;                /* owned: struct scenario_route, in order */

    struct scenario_node node;
    struct scenario_nic nic;   /* every key set */
    struct scenario_switch sw; /* every key set */
    GArray *nic_overrides;     /* owned: struct scenario_nic, in order */
    GArray *switch_overrides;  /* owned: struct scenario_switch, in order */

    GArray *qos;      /* owned: struct net_qos, names owned */
    uint32_t cnp_qos; /* index of "cnp" */

    const struct cc_ops *cc;        /* borrowed */
    const struct cc_preset *preset; /* borrowed */
    void *cc_params; /* owned; cc->params_bytes, may be NULL when that is 0 */

    GArray *works;  /* owned: struct scenario_work */
    GArray *faults; /* owned: struct scenario_fault, as written */
    struct work_nccl nccl;
    uint64_t nccl_set; /* keys of work_nccl_params that were written */

    struct scenario_output output;
    GPtrArray *series; /* owned: char *, ports or globs; NULL: all */
    GArray *taps;      /* owned: struct scenario_tap */

    bool has_verdict;
    enum scenario_verdict verdict; /* only if has_verdict */
    GArray *bands;                 /* owned: struct scenario_band */

    GPtrArray *warnings; /* owned: char *, lines in the form of messages */
};

/* Loads 'path' and what it is based on, then applies 'sets' ("PATH=VALUE", NULL at the end;
 * may be NULL).  Owned by the caller; NULL with 'error' (SCENARIO_ERROR). */
struct scenario *scenario_load(const char *path, const char *const *sets, GError **error);

/* The same from memory: 'n_bytes' of JSON, called 'file' in messages. */
struct scenario *scenario_load_data(const char *file, const char *data, size_t n_bytes,
                                    const char *const *sets, GError **error);

void scenario_free(struct scenario *scenario); /* accepts NULL */

/* The effective scenario: every default filled in.  Owned by the caller (json_decref).
 * As text, with a line end, by scenario_to_text() (g_free). */
json_t *scenario_to_json(const struct scenario *scenario);
char *scenario_to_text(const struct scenario *scenario);

/* A network with nodes, links, all parameters, qos and congestion control: net_build() is
 * next.  Owned by the caller (net_free), who keeps 'scenario' as long. */
struct net *scenario_build_net(const struct scenario *scenario, GError **error);

/* Puts file and JSON path before an error of net_build(): a link faster than its profile's
 * port becomes "...: link 'host0-leaf0' ...".  Steals '*error' and replaces it. */
void scenario_explain(const struct scenario *scenario, GError **error);

/* Workload 'index' on 'net': names to ids, ranks placed.  work_params_free(). */
struct work_params *scenario_bind_work(const struct scenario *scenario,
                                       const struct net *net, uint32_t index,
                                       GError **error);

/* A link that goes down or comes up, by a fault of its own or of a switch at its end. */
struct scenario_link_change {
    int64_t at_ps;
    guint index; /* of the fault */
    uint32_t link;
    bool down;
};

/* Plans all faults on 'net' (net_add_fault()), in order of the scenario, between net_build()
 * and net_start().  Returns the changes of links that follow, in order of time (struct
 * scenario_link_change; owned by the caller), NULL with 'error'. */
GArray *scenario_bind_faults(const struct scenario *scenario, struct net *net,
                             GError **error);

/* The profile of the host or switch called 'name': that of the last override that fits and
 * names one, else that of `nic` or `switch`.  Borrowed. */
const char *scenario_nic_profile(const struct scenario *scenario, const char *name);
const char *scenario_switch_profile(const struct scenario *scenario, const char *name);

/* Which ports are sampled: bytes by dense port id (after net_build()), 1 where a pattern of
 * output.series matches.  Owned by the caller (g_free); NULL without 'error': all. */
uint8_t *scenario_bind_series(const struct scenario *scenario, const struct net *net,
                              GError **error);

/* Files that output.pcap asks for: struct capture_file of tools/results/capture.h, which
 * borrow from 'scenario'; sets net->tapped.  After net_build().  Owned by the caller
 * (g_array_unref); NULL with 'error'. */
GArray *scenario_bind_taps(const struct scenario *scenario, struct net *net,
                           GError **error);

/* "complete", "expectation-missed"...  */
const char *scenario_verdict_name(enum scenario_verdict verdict);

/* Tables of the keys above, for `rocesim list params`: name of the object ("node", "nic",
 * "switch", "workload", "topology.link", "output", "nccl"...), its table; NULL
 * past the last. */
const struct param *scenario_param_table(size_t index, const char **object);

#endif
