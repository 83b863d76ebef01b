/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result.h - what a run has given, as plain data: what the writers read.
 *
 * Times are picoseconds; TIME_NEVER_PS: it did not happen.  Names are borrowed from the
 * network and the scenario, which live as long.
 */
#ifndef ROCESIM_TOOLS_RESULTS_RESULT_H
#define ROCESIM_TOOLS_RESULTS_RESULT_H

#include <glib.h>

#include "sim/hist.h"
#include "tools/scenario/scenario.h"
#include "workloads/work.h"

/* One message of a workload that counts them apart. */
struct result_flow {
    uint32_t work, index; /* in `workload`; flow within it */
    uint32_t src_host, dst_host;
    const char *src, *dst;
    const char *path; /* "host0>leaf0>host1" */
    uint16_t src_port, dst_port;
    uint32_t qpn, n_qps; /* number of its first queue pair at 'src'; others follow */
    bool is_incast;
    uint32_t src_node, dst_node;
    int64_t base_fct_ps; /* as the HPCC simulator counts it; TIME_NEVER_PS: no way */
    bool is_cut; /* starts in the warm-up or the cool-down: left out of percentiles */
    int64_t bytes;
    int64_t start_ps, fct_ps, rx_done_ps, ideal_ps;
    int64_t retransmitted; /* packets its QP sent again in the whole run */
};

/* What one connection of a collective has carried in one direction. */
struct result_stream {
    uint32_t work, index;
    const char *src, *dst, *path;
    uint16_t src_port;
    uint32_t qpn;              /* at 'src' */
    int64_t n_messages, bytes; /* posted */
    int64_t n_complete;
    int64_t min_ps, max_ps, sum_ps; /* of those complete */
    int64_t retransmitted;
};

struct result_call {
    uint32_t work, index;
    struct call_result call;
};

/* One port and class that carried, lost or paused anything. */
struct result_port {
    const char *node;
    uint32_t port; /* within the node */
    uint32_t cls;
    bool is_switch;
    bool lossless; /* the class is meant to be lossless */
    int64_t tx_bytes, tx_pkts, rx_bytes, rx_pkts;
    int64_t drops, drop_bytes, lost, marked;
    int64_t queue_max_bytes;
    __int128 queue_integral;  /* byte x ps */
    const struct hist *queue; /* borrowed: bytes at samples that found some; NULL: none */
    int64_t xoff_tx, xon_tx, xoff_rx, xon_rx;
    int64_t paused_ps;
};

/* Payload over a time, which is above 0. */
struct result_goodput {
    int64_t bytes, ps;
};

/* One entry of `workload` that is made of flows; run_works.c says what a pair is. */
struct result_work {
    const char *type;
    uint32_t n_flows, n_done, n_pairs;
    int64_t bytes, delivered_bytes;
    struct result_goodput least, most; /* of the pairs; valid when there are any */
    double sum, sum_of_squares;        /* of their goodputs, bytes a picosecond */
};

/* One band of `expect` and what came out. */
struct result_band {
    char *path, *expected, *obtained; /* owned */
    bool met;
};

/* Sums over the network. */
struct result_fabric {
    int64_t data_packets, packet_hops;
    int64_t drops, lossless_drops;
    int64_t lost_error, lost_down, lost_watchdog, lost_ttl, lost_route;
    int64_t watchdog_strikes;
    int64_t discarded; /* out of order or duplicate, thrown away by the receiving NIC */
    int64_t ecn_marked, acks_sent, cnp_sent, nak_sent, rnr_nak_sent;
    int64_t retransmitted, timeouts;
    int64_t read_gaps; /* responses to READs missed (go-back-N) */
    int64_t pfc_frames;
    int64_t pause_ps_max, pause_ps_sum; /* over ports and classes that may be paused */
    int64_t n_pausable;                 /* these, as far as they carried anything */
    int64_t max_queue_bytes;
    int64_t max_buffer_bytes;
    int64_t bytes_by_tier[4]; /* host, leaf, spine, core */
    int64_t nvlink_bytes;
    /* The busiest link: share of its payload capacity, as a quotient of times. */
    int64_t busy_payload_ps, busy_work_ps;
    const char *busy_node; /* NULL: no link carried payload */
    uint32_t busy_port;
    struct hist latency; /* ps, of data packets: first bit sent to last bit received */
};

/* An egress port whose congestion made others stand still, see pause_tree.h. */
struct result_root {
    const char *node, *to; /* its node and what it leads to */
    uint32_t port;         /* within the node */
    uint32_t cls;
    bool is_loop, is_held;
    int64_t n, paused_ps;
    uint32_t n_ports, n_hosts, depth;
};

/* All pauses. */
struct result_pauses {
    int64_t n, paused_ps;
    uint32_t n_ports, n_hosts,
        depth; /* different ones that stood still; hops from a root */
    uint32_t n_roots;
    GArray
        *roots; /* owned: struct result_root, the first five by time; NULL: not filled */
};

struct run_result {
    const struct scenario *scenario; /* borrowed */
    enum scenario_verdict verdict;
    GPtrArray *why;        /* owned: char *, what made the verdict */
    GPtrArray *unfinished; /* owned: char * */
    GPtrArray *notes;      /* owned: char *, what a reader should know */
    GPtrArray *deadlock;   /* owned: char *, ports of the cycle in order; empty: none */
    int64_t deadlock_since_ps; /* TIME_NEVER_PS: none */
    unsigned deadlock_class;
    bool expected; /* `expect` names a verdict, it is this one, and every band holds */

    int64_t sim_time_ps; /* last completion; without one the end */
    int64_t end_ps;      /* the epoch at which the run ended */
    int64_t run_ps; /* what shares are of: sim_time_ps of a run that ended by itself */
    uint64_t events;
    uint32_t n_threads, n_lps;
    uint32_t n_hosts, n_switches;
    int64_t count_from_ps, count_to_ps; /* flows that start then are in the percentiles;
                                           TIME_NEVER_PS: to the end */
    double loop_s, wall_s;              /* measured */
    int64_t peak_rss_bytes;
    int64_t series_interval_ps; /* as written; 0: no series */
    int64_t n_samples;          /* of the queues; 0: none were taken */

    GArray *bands;    /* owned: struct result_band */
    GArray *works;    /* owned: struct result_work, by index in `workload` */
    GArray *flows;    /* owned: struct result_flow */
    GArray *streams;  /* owned: struct result_stream */
    GArray *calls;    /* owned: struct result_call */
    GArray *ports;    /* owned: struct result_port */
    GPtrArray *paths; /* owned: char *, what flows and streams point to */
    struct result_fabric fabric;
    struct result_pauses pauses;
};

/* Percentiles of the flows that are done and not cut: nearest rank. */
struct result_percentiles {
    uint32_t n, n_done;          /* of all flows */
    uint32_t n_counted, n_ideal; /* of those done and not cut; with an ideal time */
    int64_t p50_ps, p95_ps, p99_ps, max_ps;
    int64_t mean_ps; /* rounded down */
    /* Of fct / ideal: the flow's index whose slowdown is the percentile. */
    uint32_t slow50, slow95, slow99, slow_max;
};

struct run_result *run_result_new(const struct scenario *scenario);
void run_result_free(struct run_result *result); /* accepts NULL */

/* Fills '*p' from the flows of workload 'work', RESULT_ALL_WORKS: of all; without a flow
 * that is done all its times are TIME_NEVER_PS.  O(n log n). */
#define RESULT_ALL_WORKS UINT32_MAX
void result_percentiles(const struct run_result *result, uint32_t work,
                        struct result_percentiles *p);

bool result_goodput_less(const struct result_goodput *a, const struct result_goodput *b);

/* Jain's index of the pairs of 'work': 1 when all got the same, 1/n when one got all; 0
 * when nothing was delivered.  (Jain, Chiu, Hawe, DEC-TR-301, 1984.) */
double result_jain(const struct result_work *work);

/* The port and class of a switch with the largest mean queue; NULL: nothing ever queued. */
const struct result_port *result_bottleneck(const struct run_result *result);

/* Index (0 to n - 1) of the nearest-rank percentile of 'n' (>= 1) sorted values. */
uint32_t result_rank(uint32_t n, uint32_t percent);

/* Queue of 'port' that was not exceeded in 'percent' of 'n_samples' (>= 1). */
int64_t result_queue_percentile(const struct result_port *port, uint32_t percent,
                                int64_t n_samples);

/* algbw in bytes a second times 'num' / 'den', as a quotient of GB/s; den 0: not ended. */
void result_bandwidth(const struct call_result *call, int64_t num, int64_t den,
                      __int128 *out_num, __int128 *out_den);

/* Exit status of a run with this result: 0, 1 or 130. */
int run_result_status(const struct run_result *result);

/* One of the four operating targets. */
struct result_target {
    const char *key, *title;
    bool known; /* something was measured */
    bool met;
    __int128 num, den; /* the value */
    int64_t limit_num, limit_den;
    char sense; /* '<', '>' or '=' */
    bool is_share;
};

enum { RESULT_N_TARGETS = 4 };

void result_targets(const struct run_result *result,
                    struct result_target targets[RESULT_N_TARGETS]);

#endif
