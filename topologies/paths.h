/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * paths.h - how far hosts are from each other, and by how many equal-cost paths.
 */
#ifndef ROCESIM_TOPOLOGIES_PATHS_H
#define ROCESIM_TOPOLOGIES_PATHS_H

#include <glib.h>

#include "models/net.h"

/* Pairs of hosts whose first NICs are equally far apart. */
struct path_class {
    uint32_t n_links; /* crossed, NIC to NIC; 0: no path */
    uint8_t top_tier; /* highest on the way; 0: a cable from host to host */
    uint64_t n_pairs; /* of hosts, each pair once */
    uint32_t host[2]; /* the first such pair */
    uint64_t n_paths; /* equal-cost paths between these two */
    uint64_t least_paths, most_paths; /* of all pairs; counts end at UINT64_MAX */
};

/* The classes of 'net', nearest first; struct path_class.  Needs nodes and links only.  Owned
 * by the caller (g_array_unref).  O(switches with hosts x links between switches). */
GArray *paths_classify(const struct net *net);

/* Fills 'top[n_hosts]': the highest tier on the way from the first NIC of 'host' to that of
 * each other host; 0 by a cable (and for itself), PATHS_NONE without a way.  O(links). */
#define PATHS_NONE UINT8_MAX
void paths_find_tops(const struct net *net, uint32_t host, uint8_t top[]);

#endif
