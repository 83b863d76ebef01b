/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * partition.h - which nodes share a logical process.
 *
 * Knows nodes with a weight and edges with a lookahead, no networks.  How nodes are dealt
 * changes no result, only how long a run takes; the choice is a pure function of the
 * arguments.
 *
 * PARTITION_AUTO predicts the wall time of a second of simulated time for each candidate
 * and takes the least.  Candidates: one process; for each of the distinct lookaheads L
 * (at most PARTITION_MAX_THRESHOLDS, evenly chosen), nodes, and likewise racks, joined
 * where an edge has less than L.  The prediction:
 *
 *     wall_s      = slowest thread / efficiency + windows x barrier
 *     a thread    = sum of its processes' weight x event + windows x (process + its
 *                   channels x channel); processes dealt out heaviest first
 *     event       = base + growth x log2(1 + edge ends of the process x 2 KiB / 64 KiB)
 *     windows     = min(1 s / lookahead, weight in all); none with one process
 *
 * The constants and where they come from stand in partition.c.
 */
#ifndef ROCESIM_SIM_PARTITION_H
#define ROCESIM_SIM_PARTITION_H

#include "sim/units.h"

#define PARTITION_MAX_THRESHOLDS 16

/* How nodes are dealt. */
enum partition_mode {
    PARTITION_AUTO, /* the cheapest by prediction */
    PARTITION_ONE,  /* one process */
    PARTITION_RACK, /* one for each rack */
    PARTITION_NODE, /* one for each node */
};

/* What a node costs and where it belongs. */
struct partition_node {
    int64_t weight; /* predicted events in a second of simulated time, >= 0 */
    uint32_t rack;  /* nodes of one rack belong together */
};

struct partition_edge {
    uint32_t a, b;
    int64_t lookahead_ps; /* 0: the ends must share a process, in every mode */
};

struct partition_result {
    uint32_t n_lps;
    int64_t lookahead_ps; /* least of the edges between processes; TIME_NEVER_PS: none */
    uint32_t edge;        /* the first that has it; UINT32_MAX: none */
    double wall_per_s;    /* predicted wall time of a second of simulated time, seconds */
};

/* Fills 'lp_of_node[n_nodes]', dense, in order of each process's first node.  'n_threads'
 * >= 1.  Without nodes there are no processes.  O((nodes + edges) log) a candidate. */
void partition_find(const struct partition_node nodes[], uint32_t n_nodes,
                    const struct partition_edge edges[], uint32_t n_edges,
                    enum partition_mode mode, uint32_t n_threads, uint32_t lp_of_node[],
                    struct partition_result *result);

#endif
