/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net.h - a network: hosts, switches, links, queue pairs; owns them all.
 *
 * Life of a network:
 *   1. net_new(); a topology adds nodes and links (net_add_*), in an order that fixes all
 *      dense ids.
 *   2. Parameters of links, NICs and switches are set (the arrays are public until 3).
 *   3. net_build(): ports, NICs, switches with their buffers.
 *   4. The topology sets the route tables (net_set_routes()); faults and later
 *      routes are planned (net_add_fault(), net_set_routes_at()); workloads ask for
 *      connections, pipes and timer sources.
 *   5. net_start(): processes, threads, queue pairs, events of what is planned.
 *      Workloads set themselves as users of their QPs and schedule their first events
 *      with net_lp_of_host().
 *   6. net_run(), once; then net_check(), and counters may be read.  net_free().
 *
 * Ids: node = order of adding; host and switch = order among their kind; port = by node,
 * then by the order of links at the node; so 'leaf0:1' is the second link of leaf0.
 */
#ifndef ROCESIM_MODELS_NET_H
#define ROCESIM_MODELS_NET_H

#include <glib.h>

#include "models/cc/cc.h"
#include "models/deadlock.h"
#include "models/fault.h"
#include "models/net_lp.h"
#include "models/nic/nic.h"
#include "models/port.h"
#include "models/switch/switch.h"
#include "sim/partition.h"
#include "sim/sim.h"

#define NET_ERROR net_error_quark()
GQuark net_error_quark(void);

enum net_error {
    NET_ERROR_RATE,  /* a link faster than what it is plugged into */
    NET_ERROR_RANGE, /* a number that cannot be */
};

enum node_kind { NODE_HOST, NODE_SWITCH };

/* A kind of traffic: `qos` of a scenario.  Class and marking are the same everywhere. */
struct net_qos {
    char *name; /* owned */
    uint8_t dscp, cls;
    bool lossless, strict, ecn;
    int32_t weight; /* of the round robin, >= 1; without strict */
};

/* Where nothing says which, the rates of QPs are sampled if there are no more than these:
 * 128 connections.  A guess of what still leaves room in series.csv for the ports. */
#define NET_SAMPLED_QPS 256

/* How lost packets come again. */
enum nic_retransmit { NIC_GBN, NIC_SR };

#define REACTION_IEEE INT64_C(-1) /* the limit of IEEE 802.3 at the link's rate */
#define HEADROOM_COMPUTED INT64_C(-1)
#define XON_COMPUTED INT64_C(-1)
#define WINDOW_BDP INT64_C(-1) /* the bandwidth-delay product: base_rtt.h */
#define SLOW_GAP_NEVER INT64_C(-1)
#define NACK_ONCE INT64_C(-1)         /* until the gap is closed */
#define SPORT_BY_QPN INT64_C(-1)      /* from the QP numbers */
#define XON_OFFSET_FRAMES INT64_C(-1) /* two of the largest frames */

enum net_window_scope { WINDOW_SCOPE_GLOBAL, WINDOW_SCOPE_PAIR };
enum net_arbiter { ARBITER_READY, ARBITER_SCAN };
enum net_cnp { CNP_PACKET, CNP_ON_ACK };
enum net_go_back { GO_BACK_PACKET, GO_BACK_CHUNK };
enum net_mmu { MMU_DYNAMIC, MMU_HPCC };
enum net_hash { HASH_MIX, HASH_MURMUR3 };
enum net_next_hops { NEXT_HOPS_ASCENDING, NEXT_HOPS_DESCENDING };
enum net_pfc_quanta { PFC_QUANTA_EXPIRE, PFC_QUANTA_UNTIL_RESUME };
enum net_scheduler { SCHEDULER_DWRR, SCHEDULER_RR };
enum net_ecn_counts { ECN_COUNTS_WITH, ECN_COUNTS_WITHOUT };
enum net_ecn_marks { ECN_MARKS_ECT, ECN_MARKS_ALL };

/* As a user gives it, defaults filled in, base units. */
struct nic_params {
    int64_t port_rate_bps; /* 0: any */
    int64_t latency_ps, ack_latency_ps;
    int64_t pfc_reaction_ps; /* REACTION_IEEE or >= 0 */
    int64_t jitter_ps;       /* seeded start offset up to it; -1: one full frame */
    int64_t cnp_interval_ps;
    int64_t mtu_bytes, ack_every, max_inflight, ack_timeout, retry_count;
    int64_t max_reads;     /* READs a QP may have outstanding */
    int64_t receive_queue; /* receive WQEs of a QP; 0: always enough */
    int64_t receive_delay_ps;
    int64_t rnr_timer, rnr_retry;
    int32_t retransmit; /* enum nic_retransmit */
    int64_t sr_window;  /* packets; a power of two */
    int64_t sr_reorder_ps, sr_repeat_ps;
    int64_t qps; /* queue pairs of a pair of hosts, where a workload says nothing */
    int64_t ip;  /* 4 or 6 */
    int64_t window_bytes;     /* WINDOW_BDP; 0: none */
    int64_t slow_gap_ps;      /* SLOW_GAP_NEVER */
    int64_t nack_interval_ps; /* NACK_ONCE */
    int64_t chunk_bytes;      /* of GO_BACK_CHUNK; a multiple of the MTU */
    int64_t sport, dport; /* sport: SPORT_BY_QPN, or the first one of a pair of hosts */
    int32_t window_scope, arbiter, cnp, go_back; /* the enums above */
    bool window_varies, rate_bound;
    bool ack_first, ack_pausable, ack_coalesce, ack_duplicates;
    int64_t ttl; /* of all packets: links between switches they may cross, and 1 */
    bool vlan;
    uint8_t pfc; /* bit c: the NIC obeys pauses of class c */
};

/* Likewise. */
struct switch_params {
    int64_t port_rate_bps; /* 0: any */
    int64_t buffer_bytes, reserved_bytes, headroom_bytes, xon_bytes;
    int64_t alpha_q32;
    int64_t latency_ps, ingress_latency_ps;
    int64_t pfc_reaction_ps; /* REACTION_IEEE or >= 0 */
    int64_t hash_seed;       /* -1: from the scenario's seed and the switch's name, or for
                          HASH_MURMUR3 the node's id */
    struct lb_params lb;
    struct watchdog_params watchdog;
    int32_t headroom_rule;      /* enum headroom_rule, of HEADROOM_COMPUTED */
    int64_t cell_bytes;         /* of the buffer; for SONiC's rules only */
    int64_t headroom_small_q32; /* share of small packets; likewise */
    int64_t xon_offset_bytes;   /* XON_OFFSET_FRAMES */
    int32_t mmu, hash, next_hops, pfc_quanta, scheduler; /* the enums above */
    int32_t ecn_counts, ecn_marks;
    bool cut_through, ecn_at_dequeue;
    uint8_t pfc; /* bit c: the switch pauses its peers for class c and obeys them */
};

/* Marking thresholds of a switch's ports, from a named set or given.  A port takes them
 * from net_ecn_at_rate() (net_params.h). */
struct ecn_params {
    int64_t kmin_bytes, kmax_bytes, pmax_q32;
    int64_t at_rate_bps;   /* 0: these hold as they are; else kmin and kmax grow with the
                              port's rate / this */
    int64_t from_rate_bps; /* of a set by rate: the slowest port this entry is for */
    const struct ecn_params *faster; /* borrowed: entry for faster ports; NULL: none */
};

/* A next hop given by hand: 'sw' sends what is for NICs of 'host' over all its links to
 * node 'via', whatever the shortest paths are, and whether these links are up or not. */
struct net_route {
    uint32_t sw, host; /* ids among their kind */
    uint32_t via;      /* node */
};

/* As a user gives it, base units. */
struct link_params {
    int64_t rate_bps;                  /* > 0 */
    int64_t delay_ps;                  /* one way, >= 0 */
    double error_rate, bit_error_rate; /* shares of frames, of bits */
};

/* A host or a switch. */
struct net_node {
    char *name; /* owned */
    enum node_kind kind;
    uint32_t index;               /* host id or switch id */
    uint32_t first_port, n_ports; /* first_port: from net_build() on */
    uint32_t last_link;           /* its newest; valid when n_ports > 0 */
    uint32_t rack; /* hint of the topology: nodes of one rack belong together */
    uint8_t tier;  /* 0 host, 1 leaf, 2 spine, 3 core */
};

/* A cable: two ports. */
struct net_link {
    char *name; /* owned: "leaf0-spine1", parallel ones "...#1", "...#2" */
    uint32_t node[2];
    uint32_t port[2];   /* dense ids, from net_build() on */
    uint32_t number;    /* among its parallel links, from 1 */
    uint32_t before[2]; /* the link added before it at that node, if there was one */
    struct link_params params;
};

/* A connection asked for: two QPs. */
struct net_connection {
    uint32_t host[2], nic[2]; /* nic: index within its host */
    uint8_t cls, tos;
    uint32_t qp[2]; /* dense ids */
    uint32_t qpn[2];
    /* UDP ports of the two ends, what one sends the other answers; 0 in the first: each
     * QP has a source port of its own, made from its number, and sends to 'dport'. */
    uint16_t port[2];
};

/* How the run goes on; asked at every epoch, in the first thread. */
struct net_watch {
    /* Returns false to interrupt the run.  May be NULL. */
    bool (*on_epoch)(void *ctx, const struct net *net, int64_t now_ps);
    void *ctx;              /* borrowed */
    struct probe_sink sink; /* on_record may be NULL: records are thrown away */
    struct tap_sink frames; /* of ports in net.tapped; on_frame may be NULL: no taps */
};

/* How a run has ended. */
enum net_end {
    NET_END_DONE,        /* nothing outstanding */
    NET_END_STOPPED,     /* at the stop time */
    NET_END_STALLED,     /* operations outstanding, and nothing that could go on */
    NET_END_QP_ERROR,    /* a QP has used up its retries */
    NET_END_INTERRUPTED, /* on_epoch said no */
    NET_END_DEADLOCK,    /* ports wait for each other, and nothing will free them */
};

/* Public to be read; written by net_*.c, and where the life above says so. */
struct net {
    uint64_t seed;
    enum wire_format wire; /* set before step 3 */

    struct net_node *nodes; /* owned arrays */
    struct net_link *links;
    uint32_t n_nodes, n_links, cap_nodes, cap_links;
    uint32_t n_hosts, n_switches;
    uint32_t *node_of_host, *node_of_switch; /* owned */

    struct net_route *given_routes; /* owned: in the order given */
    uint32_t n_given_routes;

    struct net_qos *qos; /* owned */
    uint32_t n_qos;
    uint32_t cnp_qos;                    /* index; what CNPs travel as */
    struct nic_params *nic_params;       /* owned: by host */
    struct switch_params *switch_params; /* owned: by switch */
    struct ecn_params *ecn_params;       /* owned: by switch */
    const struct cc_ops *cc;             /* borrowed */
    void *cc_params;                     /* owned; cc->params_bytes */

    struct port *ports; /* owned */
    uint32_t n_ports;
    struct nic *nics; /* owned: one for each port of a host, by port order */
    uint32_t n_nics;
    uint32_t *nic_of_host;             /* owned: first NIC of each host */
    struct nic_config *nic_configs;    /* owned: by host */
    struct fabric_switch *switches;    /* owned */
    struct route_table **tables;       /* owned: all versions ever set */
    const struct route_table **routes; /* owned: by switch, what it starts with */
    uint32_t n_tables;

    struct net_connection *connections; /* owned */
    uint32_t n_connections, cap_connections;
    struct qp *qps; /* owned, with their selective repeat: from net_start() on */
    uint32_t n_qps;
    uint32_t *qps_of_host; /* owned: QPs counted so far, for QPNs */
    GHashTable
        *ports_of_pair;      /* owned: connections of a pair of hosts that count ports */
    struct qp **scanned;     /* owned: lists of the NICs that scan */
    struct murmur_key *keys; /* owned: by QP; NULL: no switch hashes by them */
    GArray *shared; /* owned: uint32_t, pairs of hosts that must share a process */
    uint32_t n_pipes;
    uint64_t n_timers;

    struct fault **faults; /* owned: one for each end */
    uint32_t n_faults;

    struct sim *sim;      /* owned */
    uint32_t *lp_of_node; /* owned */
    struct net_lp *lps;   /* owned: n_lps */
    uint32_t n_lps;
    int64_t lookahead_ps;
    uint32_t lookahead_link; /* that sets it */
    int64_t sample_ps;       /* 0: none */
    uint8_t *sampled;        /* owned: by port; NULL: all */
    uint8_t *tapped;         /* owned: by port, bits of enum tap_dir; NULL: none */
    struct tap frames_held;  /* private: see tap.h */
    int64_t tap_delay_ps;    /* longest way of a frame that is recorded; private */

    struct net_watch watch;
    enum net_end end;
    struct deadlock deadlock; /* owned: the last one found; it may have been broken */
    bool is_deadlocked;       /* it holds at the end */
    int64_t next_look_ps;     /* for deadlocks; private */
    int64_t end_ps;           /* the epoch it ended at */
    int64_t stop_ps;
    int64_t grace_ps;    /* how long a standstill may last before it is one; private */
    int64_t progress_ps; /* last epoch that saw foreground events; private */
    uint64_t progress_events;
};

/* A network without nodes.  Owned by the caller. */
struct net *net_new(uint64_t seed);
void net_free(struct net *net); /* accepts NULL */

/* Adding; 'name' is copied and must be new.  Returns the node, link.  A link's name is
 * made from its ends' names, the first one given first; parallel links get '#1', '#2'...
 * in order of adding (the first one's name gains '#1' when the second is added). */
uint32_t net_add_host(struct net *net, const char *name, uint32_t rack);
uint32_t net_add_switch(struct net *net, const char *name, uint32_t rack, uint8_t tier);
uint32_t net_add_link(struct net *net, uint32_t a, uint32_t b,
                      const struct link_params *params);

/* The node called 'name', or UINT32_MAX.  A link by name, either end first; likewise. */
uint32_t net_find_node(const struct net *net, const char *name);
uint32_t net_find_link(const struct net *net, const char *name);

/* Has switch 'sw' reach NICs of 'host' by node 'via', a neighbour (ids as in
 * struct net_route); several for the same pair are all next hops.  Before the routes are
 * computed. */
void net_add_route(struct net *net, uint32_t sw, uint32_t host, uint32_t via);

/* Adds a kind of traffic (copied). */
void net_add_qos(struct net *net, const struct net_qos *qos);

/* Makes parameters of all hosts and switches equal to these, once all nodes are added. */
void net_set_params(struct net *net, const struct nic_params *nic,
                    const struct switch_params *sw, const struct ecn_params *ecn);

/* Sets the congestion control: 'params' (cc->params_bytes) is copied. */
void net_set_cc(struct net *net, const struct cc_ops *cc, const void *params);

/* Step 3.  '*warnings' (may be NULL) receives lines, each owned by the caller. */
gboolean net_build(struct net *net, GPtrArray *warnings, GError **error);

/* Sets the route table of 'sw' (steals it). */
void net_set_routes(struct net *net, uint32_t sw, struct route_table *table);

/* Plans 'fault' (copied; drop too) at both ends of 'link', between steps 3 and 5; its id,
 * port and key are filled in. */
void net_add_fault(struct net *net, uint32_t link, const struct fault *fault);

/* Plans 'fault' (copied) at one port of a host: FAULT_STORM, FAULT_STORM_END,
 * FAULT_SLOW; likewise. */
void net_add_port_fault(struct net *net, uint32_t port, const struct fault *fault);

/* Has 'sw' forward by 'table' (steals it) from 'at_ps' on; likewise. */
void net_set_routes_at(struct net *net, uint32_t sw, struct route_table *table,
                       int64_t at_ps);

/* Asks for a connection between two NICs for traffic of 'qos'; returns its index.
 * Data may flow both ways.  Owners: user and user_ctx of both QPs are to be set
 * after net_start(). */
uint32_t net_connect(struct net *net, uint32_t host_a, uint32_t nic_a, uint32_t host_b,
                     uint32_t nic_b, uint32_t qos);

/* Gives connection 'index' the UDP ports 'sport' and 'dport' in place of its own; 0: that
 * one stays. */
void net_set_udp_ports(struct net *net, uint32_t index, uint16_t sport, uint16_t dport);

/* Has two hosts live in one process, so that one may act on the other at once.  Before
 * step 5. */
void net_share_process(struct net *net, uint32_t host_a, uint32_t host_b);

/* IPv4 address of NIC 'nic' (dense id), which ECMP hashes and captures show. */
uint32_t net_ip_of_nic(uint32_t nic);

/* Dense ids for pipes and timers of workloads. */
uint32_t net_new_pipe(struct net *net);
uint64_t net_new_timer(struct net *net);

/* Step 5: deals nodes to processes and processes to 'n_threads' (>= 1; 0: as many as
 * cores when there are processes enough). */
void net_start(struct net *net, enum partition_mode partition, uint32_t n_threads);

/* The process that 'host' lives in; the seeded start offset of its NICs. */
struct lp *net_lp_of_host(const struct net *net, uint32_t host);
int64_t net_jitter_ps(const struct net *net, uint32_t host);

/* QP 'side' (0, 1) of connection 'index'. */
struct qp *net_qp(const struct net *net, uint32_t index, unsigned side);

/* Step 6.  'stop_ps' TIME_NEVER_PS: none. */
void net_run(struct net *net, int64_t stop_ps, const struct net_watch *watch);

/* Operations of workloads outstanding; only between windows. */
int64_t net_n_ops(const struct net *net);

/* Aborts when a law is broken: packets sent = delivered + lost + in flight on every link,
 * accounts of every buffer, counts of every QP, stops and resumes.  After net_run(). */
void net_check(const struct net *net);

/* A pause reaction time as given, REACTION_IEEE resolved for 'rate_bps'. */
int64_t net_pause_reaction_ps(int64_t reaction_ps, int64_t rate_bps);

/* Taps, for net_run(): sets the ports' special bits; hands on the frames that no older one
 * can come before any more, at an epoch at 'now_ps'; and the rest, those on their way
 * included, when the run has ended. */
void net_taps_start(struct net *net);
void net_taps_merge(struct net *net, int64_t now_ps);
void net_taps_end(struct net *net);

/* What the simulation calls; for net_start(). */
extern const struct sim_ops net_sim_ops;

#endif
