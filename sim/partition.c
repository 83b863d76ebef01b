/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * partition.c - groups of nodes by mode.
 */
#include <config.h>

#include "sim/partition.h"

static uint32_t
group_of(const struct partition_node nodes[], uint32_t node, enum partition_mode mode)
{
    switch (mode) {
    case PARTITION_ONE:
        return 0;
    case PARTITION_NODE:
        return node;
    case PARTITION_AUTO:
    case PARTITION_RACK:
        break;
    }
    return nodes[node].rack;
}

void
partition_find(const struct partition_node nodes[], uint32_t n_nodes,
               const struct partition_edge edges[], uint32_t n_edges,
               enum partition_mode mode, uint32_t n_threads, uint32_t lp_of_node[],
               struct partition_result *result)
{
    (void)n_threads;
    *result =
        (struct partition_result){.lookahead_ps = TIME_NEVER_PS, .edge = UINT32_MAX};
    for (uint32_t n = 0; n < n_nodes; n++) {
        uint32_t first = 0;

        while (group_of(nodes, first, mode) != group_of(nodes, n, mode)) {
            first++;
        }
        lp_of_node[n] = first == n ? result->n_lps++ : lp_of_node[first];
    }
    for (uint32_t e = 0; e < n_edges; e++) {
        if (lp_of_node[edges[e].a] != lp_of_node[edges[e].b] &&
            edges[e].lookahead_ps < result->lookahead_ps) {
            result->lookahead_ps = edges[e].lookahead_ps;
            result->edge = e;
        }
    }
}
