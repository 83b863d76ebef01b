/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * partition.h - which nodes share a logical process.
 */
#ifndef ROCESIM_SIM_PARTITION_H
#define ROCESIM_SIM_PARTITION_H

#include "sim/units.h"

enum partition_mode { PARTITION_AUTO, PARTITION_ONE, PARTITION_RACK, PARTITION_NODE };

struct partition_node {
    int64_t weight; /* predicted work, any unit */
    uint32_t rack;  /* nodes of one rack belong together */
};

struct partition_edge {
    uint32_t a, b;
    int64_t lookahead_ps; /* 0: the ends must share a process */
};

struct partition_result {
    uint32_t n_lps;
    int64_t lookahead_ps; /* least of the edges between processes; TIME_NEVER_PS: none */
    uint32_t edge;        /* that sets it; UINT32_MAX: none */
};

/* Fills 'lp_of_node[n_nodes]', dense, in order of each process's first node. */
void partition_find(const struct partition_node nodes[], uint32_t n_nodes,
                    const struct partition_edge edges[], uint32_t n_edges,
                    enum partition_mode mode, uint32_t n_threads, uint32_t lp_of_node[],
                    struct partition_result *result);

#endif
