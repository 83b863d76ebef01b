/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flows.h - plays flows, of a list or drawn one after the other: what all workloads of
 * messages between hosts are made of.
 *
 * A flow is one RDMA WRITE to the receiver's memory, cut into messages of
 * common.message_bytes (at most 1 GiB each); or SENDs, or READs, which the receiver of the
 * data posts: data always goes from 'src' to 'dst'.  Two hosts that have flows get common.qps
 * queue pairs (with common.connect "flow" each flow has its own, and so have flows whose
 * ports or qos differ); messages take them in turn.  The queue pairs of a host are dealt to
 * its NICs
 * in turn, sending and receiving ones apart, so that NIC k talks to NIC k in a permutation.
 *
 * A flow has at most FLOWS_DEPTH messages posted at a time; each completion posts the next
 * one.  So a flow of many small messages costs bounded memory, and runs as perftest runs it.
 *
 * Rounds (common.repeat): a host starts its next round when the last of the flows it sends
 * in this one has ended, common.gap_ps later.  Hosts do not wait for each other: a barrier
 * would have to be carried by packets.
 *
 * All flows of a host hang on one timer, over a list in order of start.
 *
 * Drawn flows exist twice for a moment only: at set-up they are gone through once, to know
 * how many there are and which connections they need (4 bytes each); in the run a host draws
 * the next one when it has started the one before.  Their results lie in pages that are not
 * touched earlier.
 */
#ifndef ROCESIM_WORKLOADS_FLOWS_H
#define ROCESIM_WORKLOADS_FLOWS_H

#include "workloads/work.h"

/* perftest's default --tx-depth. */
#define FLOWS_DEPTH 128u

/* RETH.DMALen has 32 bits, but a message ends at 2^30 (what mlx5 reports as max_msg_sz). */
#define FLOWS_MESSAGE_MAX_BYTES (INT64_C(1) << 30)

/* Plays 'list[n]' (n >= 1; copied) as 'params' say.  Owned by the caller; NULL on error. */
void *flows_new(struct net *net, const struct work_params *params,
                const struct work_flow list[], size_t n, GError **error);

/* Flows drawn host by host, each host's in order of start.  Hosts may be asked by different
 * threads at the same time, one host by one thread. */
struct flow_source {
    void *ctx; /* steals */
    /* The next flow of the host at 'position' of params->hosts into '*flow'; false: there
     * is no other. */
    bool (*next)(void *ctx, uint32_t position, struct work_flow *flow);
    /* From the first one again. */
    void (*rewind)(void *ctx, uint32_t position);
    void (*free)(void *ctx);
};

/* Plays what 'source' (copied; ctx is freed on an error, too) draws, at most FLOWS_DRAWN_MAX
 * flows, as 'params' say, with 1 round.  'n_expected': about how many, so that too many
 * are refused before they are drawn. */
void *flows_new_drawn(struct net *net, const struct work_params *params,
                      const struct flow_source *source, double n_expected,
                      GError **error);

/* 100 bytes each in the end: 10 GB. */
#define FLOWS_DRAWN_MAX 100000000u

/* For tables of workloads (work.h); 'state' is what flows_new() has returned. */
void flows_start(void *state);
void flows_unfinished(const void *state, GPtrArray *lines, uint32_t most);
const struct flow_result *flows_results(const void *state, uint32_t *n);
int64_t flows_optional(const void *state);
void flows_free(void *state);

#endif
