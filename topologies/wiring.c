/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wiring.c - the links of a network by node.
 * Invariant: ports of a node ascend by the order of its links, as net_build() deals them.
 */
#include <config.h>

#include "topologies/wiring.h"

#include <string.h>

void
wiring_init(struct wiring *wiring, const struct net *net, const bool link_down[])
{
    g_autofree uint32_t *n_ports = g_new0(uint32_t, net->n_nodes + 1);
    g_autofree uint32_t *n_ends = g_new0(uint32_t, net->n_nodes + 1);

    wiring->first = g_new0(uint32_t, net->n_nodes + 1);
    wiring->ends = g_new(struct wiring_end, 2 * (gsize)net->n_links);
    wiring->nic_of_node = g_new0(uint32_t, net->n_nodes + 1);
    wiring->n_nics = 0;
    for (uint32_t i = 0; i < net->n_links; i++) {
        const uint32_t *node = net->links[i].node;

        for (unsigned e = 0; e < 2; e++) {
            n_ports[node[e]]++;
            n_ends[node[e]] += !(link_down && link_down[i]);
        }
    }
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        wiring->first[n + 1] = wiring->first[n] + n_ends[n];
    }
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        wiring->nic_of_node[net->node_of_host[h]] = wiring->n_nics;
        wiring->n_nics += n_ports[net->node_of_host[h]];
    }
    memset(n_ports, 0, net->n_nodes * sizeof *n_ports);
    memset(n_ends, 0, net->n_nodes * sizeof *n_ends);
    for (uint32_t i = 0; i < net->n_links; i++) {
        const uint32_t *node = net->links[i].node;
        uint16_t port[2];

        for (unsigned e = 0; e < 2; e++) {
            port[e] = (uint16_t)n_ports[node[e]]++;
        }
        for (unsigned e = 0; e < 2 && !(link_down && link_down[i]); e++) {
            wiring->ends[wiring->first[node[e]] + n_ends[node[e]]++] =
                (struct wiring_end){
                    .peer = node[!e], .port = port[e], .peer_port = port[!e]};
        }
    }
}

void
wiring_clear(struct wiring *wiring)
{
    g_free(wiring->first);
    g_free(wiring->ends);
    g_free(wiring->nic_of_node);
}
