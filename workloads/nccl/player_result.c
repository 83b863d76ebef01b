/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * player_result.c - what a player did: calls, connections, and what has not ended.
 * Reads what player.c has noted; after the run.
 */
#include <config.h>

#include "workloads/nccl/player.h"

#include <stdio.h>
#include <stdlib.h>

#include "workloads/nccl/player_graph.h"
#include "workloads/nccl/player_state.h"

/* ---- calls ------------------------------------------------------------------------- */

/* Calls of the communicator that 'member' of 'rank' has ended, of all rounds. */
static int64_t
n_ended(const struct player *player, const struct player_rank *rank,
        const struct player_member *member)
{
    const struct player_comm *comm = player->comms[member->comm];
    int64_t before = rank->round * comm->n_ops;

    if (rank->round == player->n_rounds) {
        return before;
    }
    return before + (member->next_op == PLAYER_NONE ? comm->n_ops
                                                    : player->ops[member->next_op].index);
}

/* Calls of 'comm' that every rank has ended. */
static int64_t
n_ended_by_all(const struct player *player, uint32_t comm)
{
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < player->comms[comm]->n_ranks; i++) {
        const struct player_rank *rank = &player->ranks[player->comms[comm]->ranks[i]];

        for (uint32_t m = 0; m < rank->n_members; m++) {
            if (rank->members[m].comm == comm) {
                least = MIN(least, n_ended(player, rank, &rank->members[m]));
            }
        }
    }
    return least;
}

static void
fill_call(const struct player_comm *comm, int64_t index, bool has_ended,
          struct call_result *call)
{
    int64_t end_ps = 0;

    call->start_ps = TIME_NEVER_PS;
    for (uint32_t p = 0; p < comm->n_parts; p++) {
        const struct player_span *span = &comm->parts[p].spans[index];

        call->start_ps = MIN(call->start_ps, span->start_ps);
        end_ps = MAX(end_ps, span->end_ps);
    }
    call->end_ps = has_ended ? end_ps : TIME_NEVER_PS;
}

const struct call_result *
player_calls(struct player *player, uint32_t *n)
{
    for (uint32_t c = 0; c < player->n_comms; c++) {
        const struct player_comm *comm = player->comms[c];
        int64_t ended = n_ended_by_all(player, c);

        for (uint32_t i = comm->first_op; i != PLAYER_NONE; i = player->ops[i].next) {
            for (int64_t round = 0; round < player->n_rounds; round++) {
                int64_t index = round * comm->n_ops + player->ops[i].index;

                fill_call(comm, index, index < ended,
                          &player->calls[round * player->n_ops + i]);
            }
        }
    }
    *n = player->n_calls;
    return player->calls;
}

/* ---- connections ------------------------------------------------------------------- */

static bool
is_listed(const struct player_stream *stream)
{
    return stream->side == 0 || stream->index == 0; /* clear-to-send on the first only */
}

const struct stream_result *
player_streams(struct player *player, uint32_t *n)
{
    uint32_t n_streams = 0;

    g_free(player->stream_results);
    for (uint32_t c = 0; c < player->n_comms; c++) {
        n_streams += player->comms[c]->n_pairs * 2;
    }
    player->stream_results = g_new(struct stream_result, MAX(n_streams, 1));
    *n = 0;
    for (uint32_t c = 0; c < player->n_comms; c++) {
        for (uint32_t i = 0; i < player->comms[c]->n_pairs * 2; i++) {
            const struct player_stream *s = &player->comms[c]->streams[i];
            const struct net_connection *connection =
                &player->net->connections[s->connection];

            if (is_listed(s)) {
                player->stream_results[(*n)++] =
                    (struct stream_result){.src_host = connection->host[s->side],
                                           .dst_host = connection->host[1 - s->side],
                                           .connection = s->connection,
                                           .side = s->side,
                                           .n_messages = s->n_messages,
                                           .n_complete = s->n_complete,
                                           .bytes = s->bytes,
                                           .min_ps = s->min_ps,
                                           .max_ps = s->max_ps,
                                           .sum_ps = s->sum_ps};
            }
        }
    }
    return player->stream_results;
}

int64_t
player_pipe_bytes(const struct player *player)
{
    int64_t sum = 0;

    for (uint32_t r = 0; r < player->n_ranks; r++) {
        sum += player->ranks[r].out.n_bytes;
    }
    return sum;
}

/* ---- what has not ended ------------------------------------------------------------ */

static void
add_line(GPtrArray *lines, uint32_t most, uint32_t *n, const struct player_rank *rank,
         uint32_t r, uint32_t op, const char *what)
{
    const struct player *player = rank->player;
    const struct player_op_spec *spec = &player->ops[op].spec;
    const char *name = player->comms[spec->comm]->name;
    const char *host = player->net->nodes[player->net->node_of_host[rank->host]].name;

    if ((*n)++ < most) {
        g_ptr_array_add(
            lines, g_strdup_printf("workload[%u]: call %lld, all_reduce of %lld B%s%s: "
                                   "%s, rank %u of the job: %s",
                                   player->params->index,
                                   (long long)(rank->round * player->n_ops + op),
                                   (long long)spec->bytes, name ? ", communicator " : "",
                                   name ? name : "", host, r, what));
    }
}

static void
add_waits(GPtrArray *lines, uint32_t most, uint32_t *n, const struct player_rank *rank,
          uint32_t r, uint32_t op, uint32_t member)
{
    const struct player_comm *comm = rank->player->comms[rank->player->ops[op].spec.comm];
    uint32_t comm_rank = rank->members[member].rank;
    uint32_t n_before = *n;
    char text[256];

    for (uint32_t c = 0; c < comm->n_channels; c++) {
        if (ring_describe_wait(comm->ring, comm_rank, c, text, sizeof text)) {
            add_line(lines, most, n, rank, r, op, text);
        }
    }
    if (*n == n_before) {
        add_line(lines, most, n, rank, r, op, "at work");
    }
}

/* What the streams of 'rank' are in, or else the first thing it has not begun. */
static void
add_graph_lines(GPtrArray *lines, uint32_t most, uint32_t *n,
                const struct player_rank *rank, uint32_t r)
{
    const struct graph_rank *graph = rank->graph;
    const struct player_node_spec *nodes = rank->player->nodes;
    uint32_t n_before = *n;

    for (uint32_t s = 0; s < graph->n_streams; s++) {
        const struct graph_stream *stream = &graph->streams[s];

        if (stream->busy && nodes[graph->items[stream->item].node].op != PLAYER_NO_OP) {
            add_waits(lines, most, n, rank, r, nodes[graph->items[stream->item].node].op,
                      s);
        }
    }
    for (uint32_t i = 0; i < graph->n_items && *n == n_before; i++) {
        const struct graph_item *item = &graph->items[i];
        uint32_t op = nodes[item->node].op;

        if (!item->ended && op != PLAYER_NO_OP) {
            add_line(lines, most, n, rank, r, op, "not begun");
        }
    }
    if (*n == n_before && (*n)++ < most) {
        const struct net *net = rank->player->net;

        g_ptr_array_add(
            lines, g_strdup_printf("workload[%u]: computing: %s, rank %u of the job",
                                   rank->player->params->index,
                                   net->nodes[net->node_of_host[rank->host]].name, r));
    }
}

void
player_unfinished(const struct player *player, GPtrArray *lines, uint32_t most)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < player->n_ranks; r++) {
        const struct player_rank *rank = &player->ranks[r];

        if (rank->done) {
            continue;
        }
        if (rank->graph) {
            add_graph_lines(lines, most, &n, rank, r);
        } else if (rank->busy) {
            add_waits(lines, most, &n, rank, r, rank->op, rank->member);
        } else {
            add_line(lines, most, &n, rank, r, rank->op, "not begun");
        }
    }
    if (n > most) {
        g_ptr_array_add(lines, g_strdup_printf("... and %u more", n - most));
    }
}

/* ---- laws -------------------------------------------------------------------------- */

static void
check_stream(const struct player_stream *stream)
{
    int64_t n_open = 0;

    for (const struct player_post *p = stream->oldest; p; p = p->next) {
        n_open++;
    }
    if (stream->n_complete + n_open != stream->n_messages) {
        fprintf(stderr,
                "rocesim: bug: connection %u side %u: %lld messages posted, %lld "
                "complete, %lld open\n",
                stream->connection, stream->side, (long long)stream->n_messages,
                (long long)stream->n_complete, (long long)n_open);
        abort();
    }
}

void
player_check(const struct player *player)
{
    for (uint32_t c = 0; c < player->n_comms; c++) {
        const struct player_comm *comm = player->comms[c];

        for (uint32_t i = 0; i < comm->n_ranks && comm->ring; i++) {
            ring_check(comm->ring, i);
        }
        for (uint32_t i = 0; i < comm->n_pairs * 2; i++) {
            check_stream(&comm->streams[i]);
        }
    }
}
