/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ideal.h - the way of a flow and the time it would take alone.
 *
 * Both follow the links' rates and the routes that the network was built with; faults do
 * not change them.
 */
#ifndef ROCESIM_MODELS_IDEAL_H
#define ROCESIM_MODELS_IDEAL_H

#include "models/net.h"

/* Egress ports from NIC to NIC: a packet outlives no more (its TTL). */
#define NET_MAX_HOPS 64

/* The ports by which packets leave that QP 'side' of connection 'index' sends: dense ids,
 * the NIC's first, 'ports[NET_MAX_HOPS]'.  Returns how many; 0: they do not get there.
 * From net_start() on. */
uint32_t net_find_path(const struct net *net, uint32_t index, unsigned side,
                       uint32_t ports[]);

/* A port, and how much of something leaves by it. */
struct net_way {
    uint32_t port; /* dense id */
    int64_t amount;
};

/* The same for 'amount' (>= 0) where switches spread packets: such a switch sends equal
 * parts by all its next hops.  Replaces 'ways' (of struct net_way), in order of hops. */
void net_find_ways(const struct net *net, uint32_t index, unsigned side, int64_t amount,
                   GArray *ways);

/* Least fct of a WRITE of 'bytes' (>= 0; cut at 1 GiB) that QP 'side' of connection
 * 'index' sends: from posting to the ACK of its last byte processed, alone in the
 * network, at line rate, without a window, nothing lost.  To the picosecond what the
 * model would take.
 * TIME_NEVER_PS: no way there or back.  O(hops squared x GiB); O(hops x packets) where
 * the way back is so slow that ACKs queue on it. */
int64_t net_ideal_fct_ps(const struct net *net, uint32_t index, unsigned side,
                         int64_t bytes);

/* The same for any verb, an immediate data counted.  Of a READ 'side' is the QP whose host
 * the bytes come from; the time is from posting at the other one to the last response in
 * memory there. */
int64_t net_ideal_verb_fct_ps(const struct net *net, uint32_t index, unsigned side,
                              enum qp_verb verb, int64_t bytes);

#endif
