/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * player.h - plays collectives on a network: binds the rings of ring.h to queue pairs,
 * pipes and timers.  collective and trace are made of it.
 *
 * A job has ranks, each on a GPU of a host; communicators over them; and a list of
 * all_reduces, each of one communicator.  A rank does those of its communicators one after
 * the other in the order of the list, as on one stream: it begins the next one when it has
 * itself ended the one before, and not before its time.  There is no barrier.  With nodes
 * (player_add_node()) it goes by what each waits for instead.
 *
 * Which NIC: GPU g of a host with n NICs and G GPUs has NIC g mod n; if n > G, the
 * k = ceil(n / G) NICs from g k on (mod n).  A communicator uses the NICs of its GPUs on a
 * host, in order of index; channel c takes the (c mod their number)-th of them, at both
 * ends of a connection, so that with equal hosts all traffic stays on its rail.  That a
 * GPU which leaves the host on another GPU's NIC hands its data over first (PXN) is left
 * out.  Source: NCCL 2.30.7 src/graph/search.cc, src/graph/topo.cc (ncclTopoGetLocalNet).
 *
 * Each (rank, channel) whose next rank is on another host is one connection of
 * common.qps queue pairs.  Inside a host a slice takes the way out of its sender's GPU and,
 * at the same time or once those before it are in, the way into its receiver's, each at
 * the pipe's rate and first come first served, and arrives the pipe's latency after that; a
 * credit takes the latency.
 *
 * Threads: a rank, its end of each connection and its pipes are touched by events of its
 * host only.
 */
#ifndef ROCESIM_WORKLOADS_NCCL_PLAYER_H
#define ROCESIM_WORKLOADS_NCCL_PLAYER_H

#include <glib.h>

#include "workloads/work.h"

struct player;

/* NICs of a GPU of a host with 'n_gpus' (>= 1) and 'n_nics' (>= 1): how many, and the k-th of
 * GPU 'gpu', as said above. */
static inline uint32_t
player_nics_a_gpu(uint32_t n_gpus, uint32_t n_nics)
{
    return n_nics > n_gpus ? (n_nics + n_gpus - 1) / n_gpus : 1;
}

static inline uint32_t
player_nic_of_gpu(uint32_t gpu, uint32_t k, uint32_t n_gpus, uint32_t n_nics)
{
    return (gpu * player_nics_a_gpu(n_gpus, n_nics) + k) % n_nics;
}

/* A communicator. */
struct player_comm_spec {
    const char *name;      /* for messages; copied; NULL: the only one */
    uint32_t n_ranks;      /* >= 1 */
    const uint32_t *ranks; /* [n_ranks] rank of the job of each; none twice */
    uint32_t n_channels;   /* 0: by nccl.* and the NICs */
    const uint32_t *rings; /* [n_channels][n_ranks]; NULL: each in order of rank */
};

/* An all_reduce. */
struct player_op_spec {
    uint32_t comm;
    int64_t bytes;                   /* >= 0, whole elements */
    uint32_t elem_bytes;             /* 1, 2, 4 or 8 */
    bool has_channels;               /* which channels do it is known: */
    uint32_t channel_lo, channel_hi; /* both included; read only then */
    bool has_time;                   /* no rank begins before its time: */
    int64_t time_ps;                 /* since the round began */
    const int64_t *rank_times_ps;    /* [n_ranks of comm], borrowed until the player is
                                        freed, or NULL: time_ps for all */
};

#define PLAYER_NO_OP UINT32_MAX

/* What ranks do, and what it waits for, where that is not simply one operation after the
 * other (player_graph.h). */
struct player_node_spec {
    uint32_t op;      /* number of the operation; PLAYER_NO_OP: computing, or left out */
    uint32_t comm;    /* whose ranks take part */
    int32_t rank;     /* of these the only one, or -1: all */
    bool is_left_out; /* takes no time, and waits for no other of its kind */
    int64_t duration_ps;   /* of computing */
    const uint32_t *after; /* borrowed until player_build(): earlier nodes, by number */
    uint32_t n_after;
    int64_t delay_ps; /* from the end of the last of them */
    bool has_time;    /* as in player_op_spec, with */
    int64_t time_ps;
    const int64_t *rank_times_ps; /* one with 'rank' */
};

/* A job of 'n_ranks' (>= 1): rank r is GPU rank_gpu[r] of host rank_host[r] (host ids;
 * copied).  'params' is borrowed until player_free().  NULL on error. */
struct player *player_new(struct net *net, const struct work_params *params,
                          const uint32_t rank_host[], const uint32_t rank_gpu[],
                          uint32_t n_ranks, GError **error);
void player_free(struct player *player); /* accepts NULL */

/* Adds a communicator, whose number is the count of those before. */
void player_add_comm(struct player *player, const struct player_comm_spec *spec);

/* Adds an operation; the communicator is there. */
void player_add_op(struct player *player, const struct player_op_spec *spec);

/* Adds a node, whose number is the count of those before.  With any, each operation is in one
 * node, in the same order; times are the nodes'. */
void player_add_node(struct player *player, const struct player_node_spec *spec);

/* When all is added: rings, connections, pipes, timers.  Communicators without operations
 * get none. */
gboolean player_build(struct player *player, GError **error);

/* For tables of workloads (work.h). */
void player_start(struct player *player);
void player_unfinished(const struct player *player, GPtrArray *lines, uint32_t most);
const struct stream_result *player_streams(struct player *player, uint32_t *n);
const struct call_result *player_calls(struct player *player, uint32_t *n);

/* Adds to 'by_qp' (by dense id) what each queue pair is going to send in all rounds, data
 * and clear-to-send; over several queue pairs of a connection in equal parts.  After the
 * start. */
void player_plan(const struct player *player, struct work_plan by_qp[]);

/* Bytes that all pipes between GPUs have carried.  After the run. */
int64_t player_pipe_bytes(const struct player *player);

/* Aborts when counters contradict each other.  After the run. */
void player_check(const struct player *player);

#endif
