/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ns3.h - what the family of the HPCC simulator writes alike: rates and times of ns-3, and
 * lists of links.
 *
 * A list of links is words, not lines: counts, ids of switches, and then `a b rate delay
 * error_rate` a link.  Ids are 0 to n - 1; those that are no switch are hosts, called host0,
 * host1 ... by their id, and switches switch16, switch17 ...; nodes keep the order of ids.
 */
#ifndef ROCESIM_TOPOLOGIES_FILE_NS3_H
#define ROCESIM_TOPOLOGIES_FILE_NS3_H

#include "topologies/file/file.h"

/* Reads the last word as a rate: "100Gbps", "50Mb/s", "1GB/s", "25000000000.0" (bit/s).
 * 1 Mb/s to 100 Tb/s. */
bool ns3_rate(struct text *t, const char *what, int64_t *rate_bps);

/* Reads the last word as a time, 0 to 1 s: "1000ns", "0.001ms", "0.000001" (seconds). */
bool ns3_time(struct text *t, const char *what, int64_t *time_ps);

/* What differs between the formats. */
struct ns3_dialect {
    bool has_tors; /* a third count, of ToRs, before that of links; it means nothing */
    bool error_optional; /* a line may end before the error rate */
};

/* Reads a whole topology. */
bool ns3_read_topology(struct text *t, const struct ns3_dialect *dialect,
                       struct topo_file *file);

/* Parts, for formats with other counts.  'n' ids of switches, each below 'n_nodes' and not
 * yet in 'kinds' (0: host), become 'kind' there. */
bool ns3_read_switches(struct text *t, const char *what, int64_t n, int64_t n_nodes,
                       uint8_t kind, uint8_t kinds[]);

/* 'n' links between ids below 'n_nodes', as they stand: a and b are ids.  More links behind
 * them are an error. */
bool ns3_read_links(struct text *t, const struct ns3_dialect *dialect, int64_t n,
                    int64_t n_nodes, GArray *links);

/* Warns when two nodes have several links. */
void ns3_warn_parallel(const struct text *t, struct topo_file *file, const char *who);

#endif
