/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topo.h - what is connected to what: the interface of a topology, equal-cost routes and
 * counts.
 *
 * Life of a topology, beside that of its network (models/net.h):
 *   1. topo_find(); the caller fills a blob of ops->params_bytes from ops->params
 *      (param_set_defaults(), then what the user wrote) and a struct topo_input.
 *   2. ops->resolve() fills in what was not given and refuses what does not fit together.
 *      The blob is then the effective configuration: resolving it again changes nothing.
 *   3. ops->build() adds nodes and links to an empty network; topo_describe()
 *      counts them.
 *   4. After net_build(): topo_routes().
 *
 * Names: hosts host0.., a star's switch and leaves leaf0.., spines spine0...  Nodes are
 * added hosts first, then tier by tier; a leaf's links go to its hosts in their order
 * (all NICs of a host, then the next host), then to the spines in theirs.
 *
 * Messages of errors are one line and begin with the JSON path within the scenario
 * ("topology.hosts: ..."); the loader puts the file before it.
 */
#ifndef ROCESIM_TOPOLOGIES_TOPO_H
#define ROCESIM_TOPOLOGIES_TOPO_H

#include <glib.h>

#include "models/net.h"
#include "sim/param.h"

#define TOPO_ERROR topo_error_quark()
GQuark topo_error_quark(void);

enum topo_error {
    TOPO_ERROR_MISSING,     /* not enough is given */
    TOPO_ERROR_ARITHMETIC,  /* what is given does not fit together */
    TOPO_ERROR_LIMIT,       /* more than can be built */
    TOPO_ERROR_GRAPH,       /* a node or link of a graph is wrong */
    TOPO_ERROR_UNCONNECTED, /* two hosts, or a host without a link */
};

/* Largest network: ends of links in all, ports of one node (a route is a 16-bit index,
 * one value of which says "none"), entries of all route tables together
 * (2 bytes each), tiers. */
#define TOPO_MAX_PORTS 1000000
#define TOPO_MAX_NODE_PORTS 65534
#define TOPO_MAX_ROUTES INT64_C(500000000)
#define TOPO_MAX_TIERS 8

/* Fastest link, 47 bits: the links of a node add up to less than 2^63. */
#define TOPO_MAX_RATE_BPS INT64_C(100000000000000)

/* A value of a parameter that was not given. */
#define TOPO_UNSET PARAM_SPECIAL

/* A node of a graph. */
struct topo_graph_node {
    const char *name; /* 1 to 63 letters, digits, '_', '.'; unique */
    enum node_kind kind;
    uint8_t tier; /* of a switch: 1 to TOPO_MAX_TIERS - 1; 0: least number of links to a
                     host.  Of a host: 0 */
};

/* A link of a graph; the first one of a node is its port 0. */
struct topo_graph_link {
    const char *a, *b; /* names of nodes */
    struct link_params params;
};

struct topo_graph {
    const struct topo_graph_node *nodes;
    const struct topo_graph_link *links;
    uint32_t n_nodes, n_links;
};

/* What a topology is told besides its own parameters. */
struct topo_input {
    int64_t nics_per_host; /* node.nics, >= 1; unused in a graph */
    struct link_params host_link,
        fabric_link;                /* unused in a graph; a star has no fabric */
    const struct topo_graph *graph; /* borrowed; NULL unless ops->is_graph */
};

/* A topology.  'params' is a blob of params_bytes described by the table 'params'. */
struct topo_ops {
    const char *name;   /* as in topology.type */
    const char *source; /* where the shape is described */
    const char *doc;    /* one line */
    bool is_graph;      /* reads input->graph */
    bool has_fabric;    /* reads input->fabric_link */
    size_t params_bytes;
    const struct param *params;

    /* Fills in what is TOPO_UNSET.  FALSE: 'params' is as it was. */
    gboolean (*resolve)(void *params, const struct topo_input *input, GError **error);

    /* Adds all nodes and links to the empty 'net'.  'params' and 'input' have been
     * resolved; nothing can go wrong. */
    void (*build)(struct net *net, const void *params, const struct topo_input *input);
};

/* All topologies in the order of topo_list.def, ending with NULL. */
extern const struct topo_ops *const topo_list[];

/* The topology called 'name', or NULL. */
const struct topo_ops *topo_find(const char *name);

/* Parameters of the topologies; each count TOPO_UNSET until resolved. */
struct topo_star {
    int64_t hosts;
};

/* Parameters of leaf-spine; TOPO_UNSET until resolved. */
struct topo_leafspine {
    int64_t hosts, leaves, hosts_per_leaf;
    int64_t spines, uplinks_per_leaf;
    int64_t oversubscription; /* PARAM_RATIO: rates of a full leaf, hosts : spines */
};

/* Computes, for every switch of 'net', the equal-cost next hops to every NIC: all first
 * links of shortest paths (fewest links), parallel links each for itself, ports
 * ascending.  Hosts do not forward.  'link_down' (by link; may be NULL): links
 * that are not there.
 *
 * A NIC is its dense id, by host and then by port, and a port its number within its node,
 * both as net_build() deals them; what is needed of 'net' are nodes, links and the routes
 * given by hand (net_add_route()), which replace those to their NICs.
 * Fills 'tables' (one for each switch, all owned by the caller).  A NIC that cannot be
 * reached has ROUTE_NONE.  O(switches with hosts x links between switches + switches x
 * NICs).  An error leaves nothing in 'tables'. */
gboolean topo_route_tables(const struct net *net, const bool link_down[],
                           struct route_table *tables[], GError **error);

/* The same, given to the switches by net_set_routes(), after net_build().  Without
 * 'link_down' topo_check_connected() goes first. */
gboolean topo_routes(struct net *net, const bool link_down[], GError **error);

/* Is there a path between any NIC of each two hosts?  Else an error that names both. */
gboolean topo_check_connected(const struct net *net, GError **error);

/* What is on one tier, counted on the built network. */
struct topo_tier {
    uint32_t n_nodes;
    uint64_t n_ports;              /* ends of links */
    uint64_t n_down, n_peer, n_up; /* of these, to lower, the same, higher tiers */
    /* The node with the highest ratio of rates down : up, and the ratio in lowest terms;
     * up = 0: nothing goes up. */
    uint32_t worst_node;
    int64_t ratio_down, ratio_up;
};

struct topo_counts {
    uint32_t n_hosts, n_nics, n_switches, n_tiers;
    uint64_t n_links;
    uint64_t n_links_between[TOPO_MAX_TIERS][TOPO_MAX_TIERS]; /* [lower][higher] */
    struct topo_tier tier[TOPO_MAX_TIERS];                    /* [0]: hosts */
};

/* Counts what 'net' holds. */
void topo_describe(const struct net *net, struct topo_counts *counts);

/* For topologies: is 'rate_bps' of the link 'path' ("topology.host_link") a rate, and
 * nics_per_host a number of NICs? */
gboolean topo_check_rate__(const char *path, int64_t rate_bps, GError **error);
gboolean topo_check_nics__(const struct topo_input *input, GError **error);

/* For topologies that are graphs: input->graph, checked and built. */
extern const struct param topo_graph_params__[];
gboolean topo_graph_resolve__(void *params, const struct topo_input *input,
                              GError **error);
void topo_graph_build__(struct net *net, const void *params,
                        const struct topo_input *input);

/* Greatest common divisor of two numbers >= 0, not both 0. */
__int128 topo_gcd__(__int128 a, __int128 b);

/* Text of a whole number of 127 bits, of a rate ("100Gbps"). */
enum { TOPO_TEXT_BYTES = 48 };
const char *topo_wide_text__(char text[TOPO_TEXT_BYTES], __int128 value);
const char *topo_rate_text__(char text[TOPO_TEXT_BYTES], int64_t rate_bps);

/* For topologies: adds host0 to host('hosts' - 1), 'hosts_per_rack' of them to each rack
 * from rack 0 on; adds 'n' switches of 'tier', called 'prefix' and a number, each a rack
 * of its own from 'first_rack' on; adds 'n' parallel links. */
void topo_add_hosts__(struct net *net, int64_t hosts, int64_t hosts_per_rack);
void topo_add_switches__(struct net *net, const char *prefix, int64_t n,
                         uint32_t first_rack, uint8_t tier);
void topo_add_links__(struct net *net, uint32_t a, uint32_t b, int64_t n,
                      const struct link_params *params);

#endif
