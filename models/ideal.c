/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ideal.c - a lone flow through a row of links, by arithmetic instead of events.
 *
 * A frame starts at a link when it is there and the frame before it, with
 * its gap, is over:
 *     start(k, i) = max(ready(k, i), free(k, i - 1)),  free(k, i) = start(k, i) + slot(k)
 * and is ready for the next link some fixed time after its start.  So a row of equal
 * frames is a longest path through a grid of links and frames: the way to (link h, frame
 * n) from what link j was left with goes up from j to h once and right n times, each time
 * for the slot of the link it is at; all but the first of these are best made at the
 * slowest link between.  That makes any number of equal frames a matter of
 * O(links squared).
 *
 * Source: the model itself (port.h, switch.c, nic.c); longest paths as in Baccelli et
 * al., "Synchronization and Linearity" (1992), section 1.2.
 */
#include <config.h>

#include "models/ideal.h"

#define WRITE_MAX_BYTES (INT64_C(1) << 30)

/* One way through the network for frames of one connection. */
struct way {
    uint32_t n;
    struct {
        int64_t rate_bps;
        int64_t byte_ps;     /* 0: the rate is no whole number of ps a byte */
        int64_t after_ps;    /* from hearing a frame at the far end to its being
                                     ready there: propagation, forwarding latency */
        int64_t heard_bytes; /* an arrival counts after at most so many bytes */
        bool stores;         /* the far end, though it may cut through, does not */
        int64_t free_ps;     /* end of the gap behind the last frame */
        int64_t extra_bytes, preamble_bytes, loss_ps; /* as of the port */
    } hop[NET_MAX_HOPS];
};

uint32_t
net_find_path(const struct net *net, uint32_t index, unsigned side, uint32_t ports[])
{
    const struct qp *qp = net_qp(net, index, side);
    const struct port *to = net->nics[qp->dst_nic].port;
    const struct port *out = qp->nic->port;
    uint32_t n = 0;

    while (n < NET_MAX_HOPS) {
        ports[n++] = out->id;
        const struct port *far = &net->ports[out->peer];

        if (far->is_nic) {
            return far == to ? n : 0;
        }
        const struct fabric_switch *sw = far->owner;
        uint16_t next =
            switch_pick(sw, net->routes[sw->id], qp->dst_nic, qp->flow_hash, qp->id);

        if (next == ROUTE_NONE) {
            return 0;
        }
        out = &sw->ports[next];
    }
    return 0;
}

/* Adds 'amount' to 'port' among those from 'first' on. */
static void
add_way(GArray *ways, guint first, uint32_t port, int64_t amount)
{
    const struct net_way way = {.port = port, .amount = amount};

    for (guint i = first; i < ways->len; i++) {
        struct net_way *other = &g_array_index(ways, struct net_way, i);

        if (other->port == port) {
            other->amount += amount;
            return;
        }
    }
    g_array_append_val(ways, way);
}

/* Adds where 'way' goes on to from 'sw', among the ways from 'first' on. */
static void
go_on(const struct net *net, const struct fabric_switch *sw, const struct qp *qp,
      int64_t amount, GArray *ways, guint first)
{
    const struct route_table *table = net->routes[sw->id];
    uint16_t n, next;
    const uint16_t *ports = route_table_get(table, qp->dst_nic, &n);

    for (uint16_t i = 0; sw->lb && i < n; i++) {
        add_way(ways, first, sw->ports[ports[i]].id, amount / n + (i < amount % n));
    }
    if (!sw->lb && n) {
        next = route_pick(table, qp->dst_nic, qp->flow_hash, sw->hash_seed);
        add_way(ways, first, sw->ports[next].id, amount);
    }
}

void
net_find_ways(const struct net *net, uint32_t index, unsigned side, int64_t amount,
              GArray *ways)
{
    const struct qp *qp = net_qp(net, index, side);
    guint from = 0, to;

    g_array_set_size(ways, 0);
    add_way(ways, 0, qp->nic->port->id, amount);
    for (uint32_t hop = 1; hop < NET_MAX_HOPS && from < ways->len; hop++) {
        for (to = ways->len; from < to; from++) {
            const struct net_way way = g_array_index(ways, struct net_way, from);
            const struct port *far = &net->ports[net->ports[way.port].peer];

            if (!far->is_nic) {
                go_on(net, far->owner, qp, way.amount, ways, to);
            }
        }
    }
}

static int64_t
rate_of(const struct net *net, uint32_t port)
{
    return net->links[net->ports[port].link].params.rate_bps;
}

static bool
find_way(const struct net *net, uint32_t index, unsigned side, struct way *way)
{
    uint32_t ports[NET_MAX_HOPS];

    way->n = net_find_path(net, index, side, ports);
    for (uint32_t k = 0; k < way->n; k++) {
        const struct port *port = &net->ports[ports[k]];
        int64_t rate_bps = rate_of(net, ports[k]);

        way->hop[k].rate_bps = rate_bps;
        way->hop[k].byte_ps = sim_ps_per_byte(rate_bps);
        way->hop[k].after_ps = port->delay_ps;
        way->hop[k].heard_bytes = port->arrive_bytes;
        way->hop[k].extra_bytes = port->extra_bytes;
        way->hop[k].preamble_bytes = port->preamble_bytes;
        way->hop[k].loss_ps = port->loss_ps;
        way->hop[k].stores = false;
        way->hop[k].free_ps = 0;
        if (k + 1 < way->n) {
            const struct fabric_switch *sw = net->ports[ports[k + 1]].owner;

            way->hop[k].after_ps += sw->latency_ps;
            way->hop[k].stores =
                sw->cuts_through && rate_of(net, ports[k + 1]) != rate_bps;
        }
    }
    return way->n > 0;
}

/* Time of 'bytes' on link 'k'. */
static int64_t
bytes_ps(const struct way *way, uint32_t k, int64_t bytes)
{
    return way->hop[k].byte_ps ? bytes * way->hop[k].byte_ps
                               : sim_tx_time_ps(bytes, way->hop[k].rate_bps);
}

static int64_t
slot_ps(const struct way *way, uint32_t k, int64_t frame_bytes)
{
    return bytes_ps(way, k, frame_bytes + way->hop[k].extra_bytes) - way->hop[k].loss_ps;
}

/* From the start of a frame at link 'k' to its being ready at the next, or in the NIC. */
static int64_t
pass_ps(const struct way *way, uint32_t k, int64_t frame_bytes)
{
    int64_t most = way->hop[k].heard_bytes;
    int64_t heard = frame_bytes < most ? frame_bytes : most;
    int64_t rest = way->hop[k].stores ? frame_bytes - heard : 0;

    return bytes_ps(way, k, heard + way->hop[k].preamble_bytes) - way->hop[k].loss_ps +
           way->hop[k].after_ps + bytes_ps(way, k, rest);
}

/* Sends a frame that is ready at 'ready_ps'; returns when the far NIC has it. */
static int64_t
send_frame(struct way *way, int64_t frame_bytes, int64_t ready_ps)
{
    for (uint32_t k = 0; k < way->n; k++) {
        int64_t start_ps =
            ready_ps > way->hop[k].free_ps ? ready_ps : way->hop[k].free_ps;

        way->hop[k].free_ps = start_ps + slot_ps(way, k, frame_bytes);
        ready_ps = start_ps + pass_ps(way, k, frame_bytes);
    }
    return ready_ps;
}

/* Sends 'n' (>= 0) frames of one size that were ready before the first link was free. */
static void
send_row(struct way *way, int64_t frame_bytes, int64_t n)
{
    if (n == 0) {
        return;
    }
    for (uint32_t h = way->n; h-- > 0;) {
        int64_t most_ps = 0, slowest_ps = 0, up_ps = 0;

        for (uint32_t j = h + 1; j-- > 0;) {
            int64_t slot = slot_ps(way, j, frame_bytes);

            slowest_ps = slot > slowest_ps ? slot : slowest_ps;
            int64_t free_ps = way->hop[j].free_ps + slot + (n - 1) * slowest_ps + up_ps;

            most_ps = free_ps > most_ps ? free_ps : most_ps;
            if (j > 0) {
                up_ps += pass_ps(way, j - 1, frame_bytes) -
                         slot_ps(way, j - 1, frame_bytes) + slot;
            }
        }
        way->hop[h].free_ps = most_ps;
    }
}

/* A lone sender at work. */
struct lone {
    struct way there, back;
    int64_t post_ps; /* the first frame is ready */
    int64_t ack_latency_ps;
    int64_t ack_bytes, mtu_bytes, full_bytes, ack_every;
    const struct nic_config *config;  /* borrowed: the sender's */
    uint32_t first_bytes, last_bytes; /* extension headers there */
    bool acks_queue;                  /* on the way back */
    int64_t done_ps;                  /* the last ACK has come in */
};

/* Sends a frame that asks for an ACK or not. */
static void
send_data(struct lone *lone, int64_t frame_bytes, bool asks)
{
    int64_t there_ps = send_frame(&lone->there, frame_bytes, lone->post_ps);

    if (asks) {
        lone->done_ps =
            send_frame(&lone->back, lone->ack_bytes, there_ps + lone->ack_latency_ps);
    }
}

/* Frames 'from' to 'to' - 1 of a message, all in its middle, 'to' not asking. */
static void
send_middle(struct lone *lone, int64_t from, int64_t to)
{
    int64_t every = lone->ack_every;
    int64_t asks = (to - 1) / every * every; /* the last one that asks */

    if (lone->acks_queue) {
        for (int64_t i = from; i < to; i++) {
            send_data(lone, lone->full_bytes, i % every == 0);
        }
    } else if (asks >= from) {
        /* Those before it meet no other ACK, nor does it. */
        send_row(&lone->there, lone->full_bytes, asks - from);
        send_data(lone, lone->full_bytes, true);
        send_row(&lone->there, lone->full_bytes, to - 1 - asks);
    } else {
        send_row(&lone->there, lone->full_bytes, to - from);
    }
}

static void
send_message(struct lone *lone, int64_t bytes)
{
    int64_t n = bytes ? (bytes + lone->mtu_bytes - 1) / lone->mtu_bytes : 1;
    int64_t last_bytes =
        nic_frame_bytes(lone->config, (uint32_t)(bytes - (n - 1) * lone->mtu_bytes),
                        lone->last_bytes + (n == 1 ? lone->first_bytes : 0));

    if (n > 1) {
        send_data(
            lone,
            nic_frame_bytes(lone->config, (uint32_t)lone->mtu_bytes, lone->first_bytes),
            lone->ack_every == 1);
        send_middle(lone, 2, n);
    }
    send_data(lone, last_bytes, true);
}

/* May an ACK still be on a link of the way back when the next one gets there?  Frames
 * reach the receiver a slot of the last link apart at least. */
static bool
acks_may_queue(const struct lone *lone)
{
    int64_t apart_ps = slot_ps(&lone->there, lone->there.n - 1, lone->full_bytes);

    for (uint32_t k = 0; k < lone->back.n; k++) {
        if (slot_ps(&lone->back, k, lone->ack_bytes) > apart_ps * lone->ack_every) {
            return true;
        }
    }
    return false;
}

/* The responses of a READ, ready from 'ready_ps' on: the last one comes in when? */
static int64_t
send_responses(struct way *way, const struct nic_config *config, uint32_t mtu_bytes,
               int64_t bytes, int64_t ready_ps)
{
    int64_t n = bytes ? (bytes + mtu_bytes - 1) / mtu_bytes : 1;
    uint32_t rest_bytes = (uint32_t)(bytes - (n - 1) * mtu_bytes);

    if (n > 1) {
        send_frame(way, nic_frame_bytes(config, mtu_bytes, AETH_BYTES), ready_ps);
        send_row(way, nic_frame_bytes(config, mtu_bytes, 0), n - 2);
    }
    return send_frame(way, nic_frame_bytes(config, rest_bytes, AETH_BYTES), ready_ps);
}

/* All requests of a READ are there before the first one is answered, or
 * follow as responses come in. */
static int64_t
ideal_read_ps(const struct net *net, uint32_t index, unsigned side, int64_t bytes)
{
    const struct qp *from = net_qp(net, index, side);
    const struct nic_config *there = from->nic->config;
    const struct nic_config *here = net->nics[from->dst_nic].config;
    struct way request, response;
    int64_t ready_ps, done_ps = 0;

    if (!find_way(net, index, 1 - side, &request) ||
        !find_way(net, index, side, &response)) {
        return TIME_NEVER_PS;
    }
    ready_ps =
        send_frame(&request, nic_frame_bytes(here, 0, RETH_BYTES), here->latency_ps);
    do {
        int64_t part = bytes < WRITE_MAX_BYTES ? bytes : WRITE_MAX_BYTES;

        done_ps = send_responses(&response, there, here->mtu_bytes, part,
                                 ready_ps + there->latency_ps);
        bytes -= part;
    } while (bytes > 0);
    return done_ps + here->latency_ps;
}

int64_t
net_ideal_fct_ps(const struct net *net, uint32_t index, unsigned side, int64_t bytes)
{
    return net_ideal_verb_fct_ps(net, index, side, QP_WRITE, bytes);
}

int64_t
net_ideal_verb_fct_ps(const struct net *net, uint32_t index, unsigned side,
                      enum qp_verb verb, int64_t bytes)
{
    bool is_send = verb == QP_SEND || verb == QP_SEND_IMM;
    bool has_imm = verb == QP_WRITE_IMM || verb == QP_SEND_IMM;
    const struct qp *qp = net_qp(net, index, side);
    const struct nic_config *here = qp->nic->config;
    const struct nic_config *far = net->nics[qp->dst_nic].config;
    struct lone lone = {.post_ps = here->latency_ps,
                        .ack_latency_ps = far->ack_latency_ps,
                        .ack_bytes = far->ack_bytes,
                        .mtu_bytes = here->mtu_bytes,
                        .full_bytes = nic_frame_bytes(here, here->mtu_bytes, 0),
                        .ack_every = here->ack_every,
                        .config = here,
                        .first_bytes = is_send ? 0 : RETH_BYTES,
                        .last_bytes = has_imm ? IMMDT_BYTES : 0};

    if (verb == QP_READ) {
        return ideal_read_ps(net, index, side, bytes);
    }

    if (!find_way(net, index, side, &lone.there) ||
        !find_way(net, index, 1 - side, &lone.back)) {
        return TIME_NEVER_PS;
    }
    lone.acks_queue = acks_may_queue(&lone);
    do {
        int64_t part = bytes < WRITE_MAX_BYTES ? bytes : WRITE_MAX_BYTES;

        send_message(&lone, part);
        bytes -= part;
    } while (bytes > 0);
    return lone.done_ps + here->latency_ps;
}
