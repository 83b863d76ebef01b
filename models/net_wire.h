/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_wire.h - a packet of a network as the frame that it is on the wire.
 *
 * A packet carries what the model looks at; all else that a frame has is derived here and
 * nowhere else, from the network and from what the packet carries, so that it is the same
 * whenever and wherever the packet is looked at.
 */
#ifndef ROCESIM_MODELS_NET_WIRE_H
#define ROCESIM_MODELS_NET_WIRE_H

#include "models/net.h"
#include "models/wire.h"

/* Fills '*frame' with 'pkt' as it is on the link out of port 'from' (dense id); the
 * network has been started. */
void net_wire_frame(const struct net *net, uint32_t from, const struct packet *pkt,
                    struct wire_frame *frame);

#endif
