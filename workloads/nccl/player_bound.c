/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * player_bound.c - how long a call takes at least: bound_ps.
 *
 * The bytes of a call are laid on the ways they take: each connection's data on every link
 * of its queue pairs' paths, slices inside a host on the two pipes they take.  The bound
 * is the longest time any of these needs for its share: for a link the bytes over its
 * payload rate, that is its rate times payload over wire bytes of a full packet; for a
 * pipe over its rate.  No latency, no clear-to-send, no ACK: no run can be faster.
 *
 * Paths are those of the routes at the start.  For a ring over n hosts with one channel a
 * NIC this is 2 (n - 1) / n times the size over the payload rate.
 */
#include <config.h>

#include "workloads/nccl/player.h"

#include <string.h>

#include "models/packet.h"
#include "workloads/nccl/player_state.h"
#include "workloads/nccl/ring_plan.h"

/* Longest path that is followed; the network's packets live for as many hops. */
enum { MAX_HOPS = 64 };

/* Loads are in wire bytes times this, so that they are whole: every MTU divides it. */
#define LOAD_UNIT MTU_MAX_BYTES

struct path {
    uint32_t first, n;  /* in 'hops' */
    int64_t load_bytes; /* on the wire for LOAD_UNIT bytes of data, in full packets */
};

struct bound {
    const struct player *player;
    const struct player_comm *comm;
    struct path *paths; /* owned: of each pair of the communicator's queue pairs */
    GArray *hops;       /* owned: ports that send, one path after the other */
    /* Data to be carried, all 0 between calls; below 2^50 bytes times 2^14 ranks and 2^13
     * wire bytes. */
    unsigned __int128 *port_load;  /* owned: by port of the network */
    int64_t *out_bytes, *in_bytes; /* owned: by rank of the job */
};

static void
follow(struct bound *bound, const struct player_stream *stream, struct path *path)
{
    const struct net *net = bound->player->net;
    const struct qp *qp = stream->qp;
    const struct nic_config *config = qp->nic->config;
    const struct port *port = qp->nic->port;
    int64_t mtu = config->mtu_bytes;
    int64_t frame = nic_frame_bytes(config, config->mtu_bytes, 0) + config->extra_bytes;

    *path =
        (struct path){.first = bound->hops->len, .load_bytes = frame * (LOAD_UNIT / mtu)};
    for (uint32_t i = 0; i < MAX_HOPS; i++) {
        const struct port *peer = &net->ports[port->peer];
        const struct fabric_switch *sw = peer->owner;
        uint16_t out;

        g_array_append_val(bound->hops, port->id);
        path->n++;
        if (peer->is_nic) {
            return;
        }
        out = route_pick(sw->routes, qp->dst_nic, qp->flow_hash, sw->hash_seed);
        if (out == ROUTE_NONE) {
            return;
        }
        port = &sw->ports[out];
    }
}

/* Data that each queue pair of a connection carries when its rank's messages are dealt out
 * from message 'first' of the connection on: ring.c's rule. */
static void
deal(const struct bound *bound, const struct ring_plan *plan, uint32_t pos,
     uint64_t first, int64_t bytes[RING_MAX_QPS])
{
    uint32_t n_qps = (uint32_t)bound->player->params->common.qps;
    uint32_t n_pieces = bound->player->splits_data ? n_qps : 1;

    memset(bytes, 0, n_qps * sizeof *bytes);
    if (n_qps == 1) {
        bytes[0] = ring_plan_sent_bytes(plan, pos);
        return;
    }
    /* Loops that are alike give the queue pairs the same once their turns are round. */
    int64_t period = n_pieces > 1 ? 1 : n_qps;
    int64_t n_alike = ring_plan_n_full_loops(plan) / period;

    for (int64_t l = 0; l < plan->n_loops; l++) {
        if (l == period && n_alike > 1) {
            for (uint32_t q = 0; q < n_qps; q++) {
                bytes[q] *= n_alike;
            }
            l = n_alike * period;
        }
        struct ring_loop loop = ring_plan_loop(plan, l);

        for (uint32_t op = 0; ring_plan_sends(plan->n_ranks, op); op++) {
            uint32_t chunk = ring_plan_chunk(plan->n_ranks, pos, op);
            int64_t slices[NCCL_SLICES_PER_CHUNK];

            ring_plan_slices(plan, ring_loop_chunk(&loop, chunk).size_bytes, slices);
            for (unsigned s = 0; s < NCCL_SLICES_PER_CHUNK; s++, first++) {
                int64_t left = slices[s];
                int64_t piece = nccl_piece_bytes(left, n_pieces);

                for (uint32_t q = 0; q < n_pieces; q++) {
                    bytes[n_pieces > 1 ? q : first % n_qps] += MIN(piece, left);
                    left -= MIN(piece, left);
                }
            }
        }
    }
}

static void
load_conn(struct bound *bound, const struct ring_plan *plan, uint32_t channel,
          uint32_t pos, uint64_t first)
{
    const struct player_comm *comm = bound->comm;
    const uint32_t *order = comm->rings + (size_t)channel * comm->n_ranks;
    uint32_t conn = ring_conn(comm->ring, order[pos], channel);
    uint32_t pair = comm->streams_of[conn];
    int64_t bytes[RING_MAX_QPS];

    if (pair == PLAYER_NONE) {
        int64_t sum = ring_plan_sent_bytes(plan, pos);

        bound->out_bytes[comm->ranks[order[pos]]] += sum;
        bound->in_bytes[comm->ranks[order[(pos + 1) % comm->n_ranks]]] += sum;
        return;
    }
    deal(bound, plan, pos, first, bytes);
    for (uint32_t q = 0; q < (uint32_t)bound->player->params->common.qps; q++) {
        const struct path *path = &bound->paths[pair + q];

        for (uint32_t i = 0; i < path->n; i++) {
            uint32_t port = g_array_index(bound->hops, uint32_t, path->first + i);

            bound->port_load[port] +=
                (unsigned __int128)bytes[q] * (uint64_t)path->load_bytes;
        }
    }
}

/* The longest time of all, and every load back to 0. */
static int64_t
take_longest(struct bound *bound)
{
    const struct player *player = bound->player;
    int64_t longest_ps = 0;

    for (uint32_t p = 0; p < player->net->n_ports; p++) {
        unsigned __int128 rate = (unsigned __int128)player->net->ports[p].rate_bps;
        unsigned __int128 wire_bytes = bound->port_load[p] / LOAD_UNIT; /* rounded down */
        int64_t time_ps = (int64_t)(wire_bytes * (8 * (uint64_t)PS_PER_S) / rate);

        longest_ps = MAX(longest_ps, time_ps);
        bound->port_load[p] = 0;
    }
    for (uint32_t r = 0; r < player->n_ranks; r++) {
        int64_t bytes = MAX(bound->out_bytes[r], bound->in_bytes[r]);
        int64_t rate_bps = player->params->pipe_rate_bps;

        if (rate_bps > 0) {
            longest_ps =
                MAX(longest_ps, (int64_t)((__int128)bytes * 8 * PS_PER_S / rate_bps));
        }
        bound->out_bytes[r] = 0;
        bound->in_bytes[r] = 0;
    }
    return longest_ps;
}

/* Bound of one call; 'n_sent[n_channels]' counts the messages that each connection of a
 * channel has carried and goes on. */
static int64_t
bound_call(struct bound *bound, const struct ring_call *call, uint64_t n_sent[])
{
    const struct player_comm *comm = bound->comm;
    int64_t buffer_bytes = bound->player->params->nccl->buffer_bytes;

    if (comm->n_ranks == 1) {
        return 0;
    }
    for (uint32_t k = 0; k < call->split.n_channels; k++) {
        uint32_t channel = call->split.channel_lo + k;
        struct ring_plan plan;

        ring_plan_init(&plan, &call->split, channel, comm->n_ranks, call->elem_bytes,
                       buffer_bytes);
        for (uint32_t pos = 0; pos < comm->n_ranks; pos++) {
            load_conn(bound, &plan, channel, pos, n_sent[channel]);
        }
        n_sent[channel] += (uint64_t)ring_plan_n_messages(&plan);
    }
    return take_longest(bound);
}

/* Goes on as bound_call() does. */
static void
skip_call(const struct bound *bound, const struct ring_call *call, uint64_t n_sent[])
{
    for (uint32_t k = 0; k < call->split.n_channels && bound->comm->n_ranks > 1; k++) {
        uint32_t channel = call->split.channel_lo + k;
        struct ring_plan plan;

        ring_plan_init(&plan, &call->split, channel, bound->comm->n_ranks,
                       call->elem_bytes, bound->player->params->nccl->buffer_bytes);
        n_sent[channel] += (uint64_t)ring_plan_n_messages(&plan);
    }
}

/* Two calls of a communicator with one key have one bound. */
static char *
key_of(const struct bound *bound, const struct ring_call *call, const uint64_t n_sent[])
{
    uint64_t n_qps = (uint64_t)bound->player->params->common.qps;
    GString *key = g_string_new(NULL);

    g_string_printf(key, "%lld %u %u %u", (long long)call->size_bytes, call->elem_bytes,
                    call->split.channel_lo, call->split.n_channels);
    for (uint32_t k = 0; k < call->split.n_channels && n_qps > 1; k++) {
        g_string_append_printf(
            key, " %llu",
            (unsigned long long)(n_sent[call->split.channel_lo + k] % n_qps));
    }
    return g_string_free(key, FALSE);
}

static void
bound_comm(struct bound *bound)
{
    const struct player *player = bound->player;
    const struct player_comm *comm = bound->comm;
    g_autoptr(GHashTable) known =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree uint64_t *n_sent = g_new0(uint64_t, comm->n_channels);

    for (int64_t round = 0; round < player->n_rounds; round++) {
        for (uint32_t i = comm->first_op; i != PLAYER_NONE; i = player->ops[i].next) {
            const struct ring_call *call = &player->ops[i].call;
            char *key = key_of(bound, call, n_sent);
            int64_t *least_ps = g_hash_table_lookup(known, key);

            if (least_ps) {
                skip_call(bound, call, n_sent);
                g_free(key);
            } else {
                least_ps = g_new(int64_t, 1);
                *least_ps = bound_call(bound, call, n_sent);
                g_hash_table_insert(known, key, least_ps);
            }
            player->calls[round * player->n_ops + i].bound_ps = *least_ps;
        }
    }
}

static void
make_calls(struct player *player)
{
    player->n_calls = (uint32_t)(player->n_rounds * player->n_ops);
    player->calls = g_new(struct call_result, MAX(player->n_calls, 1));
    for (uint32_t i = 0; i < player->n_calls; i++) {
        const struct player_op *op = &player->ops[i % player->n_ops];
        uint32_t n_ranks = player->comms[op->spec.comm]->n_ranks;

        player->calls[i] = (struct call_result){.op = "all_reduce",
                                                .algorithm = "ring",
                                                .protocol = "simple",
                                                .n_ranks = n_ranks,
                                                .bytes = op->spec.bytes,
                                                .start_ps = TIME_NEVER_PS,
                                                .end_ps = TIME_NEVER_PS,
                                                .bus_num = 2 * ((int64_t)n_ranks - 1),
                                                .bus_den = n_ranks};
    }
}

void
player_bound(struct player *player)
{
    struct bound bound = {.player = player,
                          .port_load =
                              g_new0(unsigned __int128, player->net->n_ports + 1),
                          .out_bytes = g_new0(int64_t, player->n_ranks + 1),
                          .in_bytes = g_new0(int64_t, player->n_ranks + 1)};

    make_calls(player);
    for (uint32_t c = 0; c < player->n_comms; c++) {
        const struct player_comm *comm = player->comms[c];

        if (comm->n_ops == 0) {
            continue;
        }
        bound.comm = comm;
        bound.paths = g_new(struct path, comm->n_pairs + 1);
        bound.hops = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        for (uint32_t i = 0; i < comm->n_pairs; i++) {
            follow(&bound, &comm->streams[i * 2], &bound.paths[i]);
        }
        bound_comm(&bound);
        g_array_free(bound.hops, TRUE);
        g_free(bound.paths);
    }
    g_free(bound.port_load);
    g_free(bound.out_bytes);
    g_free(bound.in_bytes);
}
