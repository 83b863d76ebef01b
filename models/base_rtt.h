/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * base_rtt.h - round-trip time and bandwidth-delay product of two hosts, as the HPCC ns-3
 * simulator counts them for windows and for the last column of fct.txt.
 *
 * Along the first of all next hops: twice the propagation, plus the time of a full
 * payload, bare of headers, on each link one way; times the slowest rate.  Between the
 * first NICs of the hosts.
 *
 * Source: alibaba-edu/High-Precision-Congestion-Control, third.cc, as told in
 * docs/hpcc.md.
 */
#ifndef ROCESIM_MODELS_BASE_RTT_H
#define ROCESIM_MODELS_BASE_RTT_H

#include "models/net.h"

struct base_rtt {
    int64_t rtt_ps;
    int64_t rate_bps; /* of the slowest link; 0: there is no way */
};

/* From NIC 'src' to NIC 'dst', by the routes the network starts with; full payloads are
 * those of 'src'.  O(hops). */
struct base_rtt base_rtt_of(const struct net *net, uint32_t src, uint32_t dst);

/* Bytes; rounded down.  0 where there is no way. */
int64_t base_rtt_bdp_bytes(const struct base_rtt *base);

/* The largest product of all pairs of hosts.  O(hosts x hosts x hops). */
int64_t base_rtt_max_bdp_bytes(const struct net *net);

#endif
