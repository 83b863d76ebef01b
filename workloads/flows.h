/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flows.h - plays a list of flows: what flows, permutation and incast are made of.
 *
 * A flow is one RDMA WRITE to the receiver's memory, cut into messages of
 * common.message_bytes (at most 1 GiB each).  Two hosts that have flows get common.qps
 * queue pairs, or each flow does (common.connections, or ports and qos that differ);
 * messages take them in turn.  The queue pairs of a host are dealt to its NICs
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

/* For tables of workloads (work.h); 'state' is what flows_new() has returned. */
void flows_start(void *state);
void flows_unfinished(const void *state, GPtrArray *lines, uint32_t most);
const struct flow_result *flows_results(const void *state, uint32_t *n);
void flows_free(void *state);

#endif
