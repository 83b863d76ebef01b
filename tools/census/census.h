/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * census.h - what a trace holds: who, which operations, how many bytes, and, of its traffic,
 * how much stays where.  For `rocesim trace`; nothing is simulated.
 *
 * Traffic is what ranks would hand to other ranks if each operation went the plainest way:
 * all_reduce, all_gather, reduce_scatter by rings (the trace's, else in order of rank),
 * broadcast and reduce along such a ring from or to the root, the others straight from rank
 * to rank.  Copies within a GPU do not count.
 */
#ifndef ROCESIM_TOOLS_CENSUS_CENSUS_H
#define ROCESIM_TOOLS_CENSUS_CENSUS_H

#include <glib.h>

#include "tools/scenario/scenario.h"
#include "workloads/trace/trace.h"

/* Where traffic goes: within a host; else by the highest tier of switches on the way.
 * Without a network all that leaves a host is CENSUS_BETWEEN. */
enum {
    CENSUS_WITHIN = 0,
    CENSUS_BETWEEN = TOPO_MAX_TIERS, /* 1 to this - 1: tiers */
    CENSUS_CABLE,                    /* from host to host */
    CENSUS_NO_PATH,
    CENSUS_N_WAYS
};

enum { CENSUS_N_SIZES = 52 }; /* bin 0: 0 B; bin k: from 2^(k-1) B to below 2^k */

struct census_kind {
    uint64_t n;
    int64_t least_bytes, most_bytes;
    __int128 bytes;   /* of all, as the calls name them */
    __int128 time_ps; /* of computing: all ranks' */
    uint64_t sizes[CENSUS_N_SIZES];
    __int128 traffic[CENSUS_N_WAYS]; /* bytes between ranks */
};

struct census {
    const struct trace *trace; /* borrowed */
    const struct net *net;     /* borrowed; NULL: no network is known */
    struct census_kind kinds[TRACE_N_KINDS];
    int64_t first_ps, last_ps; /* of the time stamps; read only with has_times */
    bool has_times;            /* some operation has one */
    uint64_t n_dependencies;
};

/* Counts 'trace'.  'net' and 'host_of' (ids, by rank): where the ranks are in a network with
 * nodes and links; or both NULL. */
void census_take(struct census *census, const struct trace *trace, const struct net *net,
                 const uint32_t host_of[]);

/* What is printed. */
void census_put_text(GString *out, const struct census *census);
void census_put_json(GString *out, const struct census *census);

#endif
