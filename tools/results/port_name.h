/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * port_name.h - "leaf0:1" of a dense port id.
 */
#ifndef ROCESIM_TOOLS_RESULTS_PORT_NAME_H
#define ROCESIM_TOOLS_RESULTS_PORT_NAME_H

#include "models/net.h"

/* The node that port 'id' of 'net' belongs to.  O(log nodes). */
const struct net_node *port_name_node(const struct net *net, uint32_t id);

/* Appends "NODE:PORT" as it stands in a CSV. */
void port_name_csv(GString *out, const struct net *net, uint32_t id);

/* "NODE:PORT to PEER", for people.  Owned by the caller (g_free). */
char *port_name_to(const struct net *net, uint32_t id);

#endif
