/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wiring.h - the links of a network by node, for searches over it: routes (topo.c), paths
 * (paths.c), cuts (bisection.c).
 */
#ifndef ROCESIM_TOPOLOGIES_WIRING_H
#define ROCESIM_TOPOLOGIES_WIRING_H

#include "models/net.h"

/* A link as one of its nodes sees it. */
struct wiring_end {
    uint32_t peer;            /* node */
    uint16_t port, peer_port; /* within the node, within the peer */
};

/* The links that are up: those of node n are ends[first[n]] up to ends[first[n + 1]],
 * ports ascending. */
struct wiring {
    uint32_t *first;
    struct wiring_end *ends;
    uint32_t *nic_of_node; /* id of a host's first NIC */
    uint32_t n_nics;
};

/* Fills 'wiring' from the nodes and links of 'net' (no more is needed of it); 'link_down' (by
 * link; may be NULL): links that are not there.  wiring_clear(). */
void wiring_init(struct wiring *wiring, const struct net *net, const bool link_down[]);
void wiring_clear(struct wiring *wiring);

#endif
