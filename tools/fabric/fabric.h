/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fabric.h - a scenario's network as its architect looks at it: tiers, links, ratios, paths,
 * bisection, parts, where ranks are.  For `rocesim topo`; nothing is simulated.
 *
 * What is counted is the built network, so overrides and parallel links are in it.
 */
#ifndef ROCESIM_TOOLS_FABRIC_FABRIC_H
#define ROCESIM_TOOLS_FABRIC_FABRIC_H

#include <glib.h>

#include "tools/scenario/scenario.h"
#include "topologies/bisection.h"
#include "topologies/paths.h"

/* Nodes of a tier whose ports are alike. */
struct fabric_layout {
    uint8_t tier;
    GArray *nodes;                /* owned: uint32_t, ascending */
    uint32_t n_ports;             /* of each */
    char *down, *peer, *up;       /* owned: "16 x 100Gbps + 2 x 50Gbps"; "" without any */
    int64_t down_bps, up_bps;     /* sums */
    int64_t ratio_down, ratio_up; /* in lowest terms; 0: it has not both */
};

/* Cables alike, between two tiers. */
struct fabric_links {
    uint8_t tier[2]; /* lower, higher */
    int64_t rate_bps, delay_ps, length_mm;
    uint64_t n;
};

/* A class of pairs of hosts, and what its example takes. */
struct fabric_path {
    struct path_class pairs;
    int64_t byte_ps;   /* a WRITE of 1 B alone, posting to ACK: the base RTT */
    int64_t packet_ps; /* the same of one full packet; TIME_NEVER_PS: no path */
};

/* Where the ranks of a workload are. */
struct fabric_ranks {
    char *title;          /* owned */
    uint32_t *host, *gpu; /* owned: [n_ranks] host id, GPU in it */
    uint32_t n_ranks;
};

/* A line of the parts list. */
struct fabric_part {
    const char *kind; /* "switch", "nic", "cable", "transceiver" */
    char *what;       /* owned: profile or type of cable */
    int64_t rate_bps; /* 0: of several; then 'ports' tells */
    uint32_t n_ports; /* of a switch, in use */
    char *ports;      /* owned: of a switch, by rate; else NULL */
    uint64_t n;
    int64_t longest_mm; /* of cables, the ends of which transceivers are; else 0 */
};

struct fabric {
    const struct scenario *scenario; /* borrowed */
    struct net *net;                 /* owned; started, not run */
    struct topo_counts counts;
    GArray *layouts; /* struct fabric_layout, by tier, most nodes first */
    GArray *links;   /* struct fabric_links, by tiers, fastest first */
    GArray *paths;   /* struct fabric_path, nearest first */
    struct bisection bisection;
    bool bisection_is_exact; /* else an upper bound */
    GArray *ranks;           /* struct fabric_ranks */
    GArray *parts;           /* struct fabric_part */
};

/* The fabric of 'scenario', which is borrowed as long.  'warnings' (owned lines) get those of
 * net_build().  NULL on error.  fabric_free(). */
struct fabric *fabric_new(const struct scenario *scenario, GPtrArray *warnings,
                          GError **error);
void fabric_free(struct fabric *fabric); /* accepts NULL */

/* "host", "leaf", "spine", "core", "tier4"... */
const char *fabric_tier_name(unsigned tier);

/* Names of 'nodes' (uint32_t), runs as "leaf0 .. leaf3", at most 'most' characters. */
void fabric_put_names(GString *out, const struct net *net, const GArray *nodes,
                      gsize most);

/* Metres of 'length_mm', "30 m", "2.5 m". */
void fabric_put_length(GString *out, int64_t length_mm);

/* "850Gbps", "2.4Tbps". */
void fabric_put_rate(GString *out, int64_t rate_bps);

/* Parts of 'fabric': bom.c. */
GArray *fabric_list_parts(const struct fabric *fabric);

/* "16 x 100Gbps + 2 x 50Gbps" of the rates (int64_t) in 'rates', which gets sorted. */
char *fabric_rates_text(GArray *rates);

/* The ranks of each NCCL workload, or, without one, of all GPUs: ranks.c. */
gboolean fabric_place_ranks(struct fabric *fabric, GError **error);

/* What is printed: text.c, node.c, json.c, dot.c. */
void fabric_put_text(GString *out, const struct fabric *fabric);
void fabric_put_bom(GString *out, const struct fabric *fabric);
void fabric_put_node(GString *out, const struct fabric *fabric);
void fabric_put_json(GString *out, const struct fabric *fabric);
void fabric_put_dot(GString *out, const struct fabric *fabric);

/* "GPU 0: NIC 0", and so on, of a host with 'n_nics': one piece a set of NICs. */
void fabric_put_gpu_nics(GString *out, uint32_t n_gpus, uint32_t n_nics);

#endif
