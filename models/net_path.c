/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_path.c - the way of a connection through a started network, and what a flow alone on
 * it would take.  Reads only; nothing here runs per packet.
 *
 * The ideal time follows the model's own arithmetic: port.h for the wire, switch.c for
 * latency and cutting through, nic.c for the ways to memory and the ACK.
 */
#include <config.h>

#include "models/net.h"

/* Ports of a path and when each is free again. */
struct way {
    const struct port *port[NET_PATH_MAX];
    int64_t latency_ps[NET_PATH_MAX]; /* of the switch in front of the port */
    bool cuts[NET_PATH_MAX];          /* likewise: it cuts through, at an equal rate */
    int64_t free_ps[NET_PATH_MAX];
    uint32_t n;
};

uint32_t
net_path(const struct net *net, uint32_t index, unsigned side,
         uint32_t ports[NET_PATH_MAX])
{
    const struct qp *qp = net_qp(net, index, side);
    const struct port *port = qp->nic->port;
    uint32_t n = 0;

    while (n < NET_PATH_MAX) {
        const struct port *peer = &net->ports[port->peer];

        ports[n++] = port->id;
        if (peer->is_nic) {
            return n;
        }
        const struct fabric_switch *sw = peer->owner;
        uint16_t next = route_pick(sw->routes, qp->dst_nic, qp->flow_hash, sw->hash_seed);

        if (next == ROUTE_NONE) {
            return 0;
        }
        port = &sw->ports[next];
    }
    return 0;
}

static bool
find_way(const struct net *net, uint32_t index, unsigned side, struct way *way)
{
    uint32_t ports[NET_PATH_MAX];

    *way = (struct way){.n = net_path(net, index, side, ports)};
    for (uint32_t h = 0; h < way->n; h++) {
        way->port[h] = &net->ports[ports[h]];
        if (h > 0) {
            const struct fabric_switch *sw = way->port[h]->owner;

            way->latency_ps[h] = sw->latency_ps;
            way->cuts[h] =
                sw->cuts_through && way->port[h]->rate_bps == way->port[h - 1]->rate_bps;
        }
    }
    return way->n > 0;
}

/* From the start of a frame of 'bytes' at hop 'h' to the earliest start at the next one;
 * from the last hop, to its arrival. */
static int64_t
forward_ps(const struct way *way, uint32_t h, int64_t bytes)
{
    const struct port *port = way->port[h];
    bool is_last = h + 1 == way->n;
    int64_t heard = !is_last && way->cuts[h + 1] && bytes > CUT_THROUGH_BYTES
                        ? CUT_THROUGH_BYTES
                        : bytes;

    return port_bytes_ps(port, heard + WIRE_PREAMBLE_BYTES) + port->delay_ps +
           (is_last ? 0 : way->latency_ps[h + 1]);
}

/* Sends one frame of 'bytes' that is ready at 'ready_ps'; its starts go to 'start_ps'.
 * Returns its arrival. */
static int64_t
send_one(struct way *way, int64_t ready_ps, int64_t bytes, int64_t start_ps[NET_PATH_MAX])
{
    for (uint32_t h = 0; h < way->n; h++) {
        start_ps[h] = ready_ps > way->free_ps[h] ? ready_ps : way->free_ps[h];
        way->free_ps[h] =
            start_ps[h] + port_bytes_ps(way->port[h], bytes + WIRE_EXTRA_BYTES);
        ready_ps = start_ps[h] + forward_ps(way, h, bytes);
    }
    return ready_ps;
}

/* Sends 'n' more frames like the one whose starts are in 'start_ps', back to back: hop h
 * starts the last of them at the longest way through hops and frames that ends there. */
static void
send_many(struct way *way, int64_t n, int64_t bytes, const int64_t start_ps[NET_PATH_MAX])
{
    for (uint32_t h = 0; h < way->n && n > 0; h++) {
        int64_t between_ps = 0, slowest_ps = 0, last_ps = 0;

        for (uint32_t g = h + 1; g-- > 0;) {
            int64_t each_ps = port_bytes_ps(way->port[g], bytes + WIRE_EXTRA_BYTES);

            slowest_ps = each_ps > slowest_ps ? each_ps : slowest_ps;
            if (g < h) {
                between_ps += forward_ps(way, g, bytes);
            }
            if (start_ps[g] + between_ps + n * slowest_ps > last_ps) {
                last_ps = start_ps[g] + between_ps + n * slowest_ps;
            }
        }
        way->free_ps[h] = last_ps + port_bytes_ps(way->port[h], bytes + WIRE_EXTRA_BYTES);
    }
}

int64_t
net_ideal_fct_ps(const struct net *net, uint32_t index, int64_t bytes)
{
    const struct qp *qp = net_qp(net, index, 0), *peer = net_qp(net, index, 1);
    const struct nic_config *config = qp->nic->config;
    int64_t mtu = config->mtu_bytes;
    int64_t n_pkts = bytes ? (bytes + mtu - 1) / mtu : 1;
    int64_t start_ps[NET_PATH_MAX], at_ps = 0;
    struct way there, back;

    if (!find_way(net, index, 0, &there) || !find_way(net, index, 1, &back)) {
        return TIME_NEVER_PS;
    }
    for (int64_t k = 0; k < n_pkts; k++) {
        bool is_last = k + 1 == n_pkts;
        uint32_t payload = (uint32_t)(is_last ? bytes - k * mtu : mtu);
        int64_t frame = packet_frame_bytes(payload, k == 0 ? RETH_BYTES : 0,
                                           config->ip_bytes, config->vlan_bytes);

        at_ps = send_one(&there, config->latency_ps, frame, start_ps);
        if (k == 1 && n_pkts > 3) {
            send_many(&there, n_pkts - 3, frame, start_ps);
            k = n_pkts - 2; /* all but the last one */
        }
    }
    at_ps = send_one(&back, at_ps + peer->nic->config->ack_latency_ps,
                     peer->nic->config->ack_bytes, start_ps);
    return at_ps + config->latency_ps;
}
