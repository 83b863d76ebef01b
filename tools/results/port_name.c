/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * port_name.c - names of ports, see port_name.h.
 */
#include <config.h>

#include "tools/results/port_name.h"

#include "tools/results/text.h"

const struct net_node *
port_name_node(const struct net *net, uint32_t id)
{
    uint32_t low = 0, high = net->n_nodes;

    while (high - low > 1) {
        uint32_t mid = (low + high) / 2;

        *(net->nodes[mid].first_port <= id ? &low : &high) = mid;
    }
    /* Nodes without ports share their first port with the next one. */
    while (net->nodes[low].n_ports == 0 && low > 0) {
        low--;
    }
    return &net->nodes[low];
}

void
port_name_csv(GString *out, const struct net *net, uint32_t id)
{
    const struct net_node *node = port_name_node(net, id);

    text_csv(out, node->name);
    g_string_append_c(out, ':');
    text_int(out, id - node->first_port);
}

char *
port_name_to(const struct net *net, uint32_t id)
{
    const struct net_node *node = port_name_node(net, id);

    return g_strdup_printf("%s:%u to %s", node->name, id - node->first_port,
                           port_name_node(net, net->ports[id].peer)->name);
}
