/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bisection.h - how much can go from one half of the hosts to the other.
 *
 * The halves are those of the hosts rack by rack: the first floor(n / 2), and the rest (of
 * an odd number also the first ceil(n / 2), whichever is less).  What
 * the links carry between them, one way, is a maximum flow, so bottlenecks on the way count,
 * and so do the hosts' own links.
 *
 * The bisection bandwidth of a network is the least of this over all ways to halve the hosts.
 * For a star and for leaves alike that are linked to every spine alike, the halves by rack are
 * the least one: a cut goes through uplinks where whole leaves are on one side, through host
 * links where a leaf is split, and only the number of whole leaves counts.  For any other
 * network what is found here is an upper bound (finding the least is NP-hard).
 *
 * Source: Dinic, Soviet Math. Dokl. 11 (1970), maximum flow.
 */
#ifndef ROCESIM_TOPOLOGIES_BISECTION_H
#define ROCESIM_TOPOLOGIES_BISECTION_H

#include "models/net.h"

struct bisection {
    uint32_t n_first, n_second; /* hosts of the halves */
    int64_t rate_bps;           /* from one half to the other, one way */
    int64_t full_bps;           /* what the NICs of the lesser half can send */
};

/* Needs nodes and links of 'net' only.  All zero with less than two hosts.  Rates above
 * INT64_MAX are INT64_MAX.  O(links) memory; a few times O(links) time where all paths are
 * short. */
void bisection_find(const struct net *net, struct bisection *bisection);

#endif
