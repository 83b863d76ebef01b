/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_build_private.h - what the builder holds, for its own files only: trace_build.c
 * collects, trace_merge.c pairs and orders, trace_place.c numbers ranks and lays out rings.
 *
 * Invariant: a list of calls (of a member, of a rank) is in the order of that rank.
 */
#ifndef ROCESIM_WORKLOADS_TRACE_TRACE_BUILD_PRIVATE_H
#define ROCESIM_WORKLOADS_TRACE_TRACE_BUILD_PRIVATE_H

#include "workloads/trace/trace_build.h"

#define BUILD_NONE UINT32_MAX /* no call, no operation */

struct build_call {
    struct trace_call said;
    uint32_t next_of_member, next_of_rank;
    uint32_t op; /* index into the merged operations, BUILD_NONE: left out */
    uint8_t algo, proto, channel_lo, channel_hi;
    bool has_channels;
};

struct build_member {
    uint32_t comm, comm_rank, rank;
    uint32_t first, last; /* calls; BUILD_NONE: none */
    uint32_t file;        /* that says so, with its line */
    uint64_t line;
};

struct build_rank {
    char *host; /* owned */
    uint32_t device;
    int64_t number; /* -1: not known */
    uint32_t first, last;
};

struct build_list {
    uint32_t channel;
    uint32_t *order; /* owned */
    size_t n;
};

struct build_edge {
    uint32_t channel, rank, next;
};

struct build_comm {
    char *name; /* owned */
    uint32_t n_ranks;
    GHashTable *member_of; /* comm_rank -> member + 1 */
    uint32_t n_channels;
    GArray *lists;       /* struct build_list */
    GArray *edges;       /* struct build_edge */
    uint32_t first_call; /* BUILD_NONE: unused */
    bool has_p2p;
};

struct build_damage {
    uint32_t rank, file;
    uint64_t line, seq;
    enum trace_kind kind;
    bool used;
};

struct trace_build {
    GPtrArray *files;    /* char *, owned */
    GPtrArray *warnings; /* char *, owned */
    uint32_t n_warnings;
    GArray *ranks, *comms, *members, *calls, *damages;
    GHashTable *damages_of; /* rank + 1 -> index of its first damage + 1 */
    int64_t time_step_ps;
};

/* An operation being merged. */
struct build_op {
    uint32_t first_call; /* of its lowest communicator rank */
    uint32_t n_calls;    /* how many ranks have it in their lists */
    uint32_t arrived;
    uint32_t pair;
    uint32_t lead; /* lowest call index: where it was first read */
    enum trace_kind kind;
    bool placed;
};

static inline struct build_call *
build_call_at(const struct trace_build *build, uint32_t index)
{
    return &g_array_index(build->calls, struct build_call, index);
}

static inline struct build_member *
build_member_at(const struct trace_build *build, uint32_t index)
{
    return &g_array_index(build->members, struct build_member, index);
}

static inline struct build_comm *
build_comm_at(const struct trace_build *build, uint32_t index)
{
    return &g_array_index(build->comms, struct build_comm, index);
}

static inline struct build_rank *
build_rank_at(const struct trace_build *build, uint32_t index)
{
    return &g_array_index(build->ranks, struct build_rank, index);
}

static inline const char *
build_call_path(const struct trace_build *build, const struct build_call *call)
{
    return trace_build_path(build, call->said.file);
}

/* Pairs the calls of all ranks into 'ops' (struct build_op), setting 'op' of each call.
 * FALSE and 'error' if they contradict each other or one is missing. */
gboolean trace_merge_calls(struct trace_build *build, GArray *ops, GError **error);

/* Fills 'order' (uint32_t) with those of 'ops' that are whole, in an order that agrees with
 * each rank's. */
void trace_merge_order(struct trace_build *build, GArray *ops, GArray *order);

/* Fills 'number[n_ranks]', the rank of the job of each rank as built, and the ranks and
 * hosts of 'trace'. */
void trace_place_ranks(struct trace_build *build, uint32_t number[], struct trace *trace);

/* Fills 'n_channels' and 'rings' of 'out' from whole lists, else from the links of single
 * ranks. */
void trace_place_rings(struct trace_build *build, const struct build_comm *comm,
                       struct trace_comm *out);

#endif
