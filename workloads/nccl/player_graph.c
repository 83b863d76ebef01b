/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * player_graph.c - plays by dependencies, see player_graph.h.  Each function is called in
 * events of the rank's host.
 */
#include <config.h>

#include "workloads/nccl/player_graph.h"

#include <stdlib.h>

#include "sim/mem.h"

/* Most items of all ranks: 3 GiB of them.  Guess. */
#define MAX_ITEMS (INT64_C(1) << 26)

static const struct player_node_spec *
node_of(const struct player_rank *rank, const struct graph_item *item)
{
    return &rank->player->nodes[item->node];
}

/* ---- making --------------------------------------------------------------------------- */

/* Index among the rank's members of 'comm', which it is in. */
static uint32_t
member_of(const struct player_rank *rank, uint32_t comm)
{
    uint32_t m = 0;

    while (rank->members[m].comm != comm) {
        m++;
    }
    return m;
}

static uint32_t
n_ranks_of(const struct player *player, const struct player_node_spec *node)
{
    return node->rank >= 0 ? 1 : player->comms[node->comm]->n_ranks;
}

static struct player_rank *
rank_at(const struct player *player, const struct player_node_spec *node, uint32_t i)
{
    uint32_t place = node->rank >= 0 ? (uint32_t)node->rank : i;

    return &player->ranks[player->comms[node->comm]->ranks[place]];
}

/* The rank's item of 'node', or PLAYER_NONE; items are in order of nodes. */
static uint32_t
find_item(const struct graph_rank *graph, uint32_t node)
{
    uint32_t low = 0, high = graph->n_items;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (graph->items[middle].node < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < graph->n_items && graph->items[low].node == node ? low : PLAYER_NONE;
}

static gboolean
count_items(struct player *player, GError **error)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < player->n_nodes; i++) {
        n += n_ranks_of(player, &player->nodes[i]);
    }
    if (n > MAX_ITEMS) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u]: operations times ranks are %lld; allowed up to %lld",
                    player->params->index, (long long)n, (long long)MAX_ITEMS);
        return FALSE;
    }
    for (uint32_t r = 0; r < player->n_ranks; r++) {
        player->ranks[r].graph = mem_zero_lines(1, sizeof(struct graph_rank));
    }
    for (uint32_t i = 0; i < player->n_nodes; i++) {
        for (uint32_t k = 0; k < n_ranks_of(player, &player->nodes[i]); k++) {
            rank_at(player, &player->nodes[i], k)->graph->n_items++;
        }
    }
    return TRUE;
}

static uint32_t
stream_of(const struct player_rank *rank, const struct player_node_spec *node)
{
    if (node->op != PLAYER_NO_OP) {
        return member_of(rank, node->comm);
    }
    return node->is_left_out ? PLAYER_NONE : rank->n_members;
}

static void
make_streams(struct player_rank *rank)
{
    struct graph_rank *graph = rank->graph;

    graph->n_streams = rank->n_members + 1;
    graph->streams = mem_zero_lines(graph->n_streams, sizeof *graph->streams);
    for (uint32_t s = 0; s < graph->n_streams; s++) {
        graph->streams[s] =
            (struct graph_stream){.timer = {.source = net_new_timer(rank->player->net)},
                                  .rank = rank,
                                  .item = PLAYER_NONE};
    }
}

/* Does something with each item that the one numbered 'item' waits for. */
typedef void each_before(struct graph_rank *graph, uint32_t before, uint32_t item);

static void
visit_before(const struct player_rank *rank, uint32_t item, uint32_t last_of_stream,
             each_before *visit)
{
    struct graph_rank *graph = rank->graph;
    const struct player_node_spec *node = node_of(rank, &graph->items[item]);

    for (uint32_t i = 0; i < node->n_after; i++) {
        uint32_t before = find_item(graph, node->after[i]);

        if (before != PLAYER_NONE) {
            visit(graph, before, item);
        }
    }
    if (last_of_stream != PLAYER_NONE) {
        visit(graph, last_of_stream, item);
    }
}

static void
count_out(struct graph_rank *graph, uint32_t before, uint32_t item)
{
    graph->items[item].n_need++;
    graph->items[before].n_wait++; /* for now: those that wait for it */
}

static void
add_out(struct graph_rank *graph, uint32_t before, uint32_t item)
{
    struct graph_item *from = &graph->items[before];

    graph->outs[from->first_out + from->n_wait++] = item;
}

static void
visit_all(const struct player_rank *rank, each_before *visit)
{
    struct graph_rank *graph = rank->graph;
    g_autofree uint32_t *last = g_new(uint32_t, graph->n_streams);

    for (uint32_t s = 0; s < graph->n_streams; s++) {
        last[s] = PLAYER_NONE;
    }
    for (uint32_t i = 0; i < graph->n_items; i++) {
        uint32_t stream = graph->items[i].stream;

        visit_before(rank, i, stream == PLAYER_NONE ? PLAYER_NONE : last[stream], visit);
        if (stream != PLAYER_NONE) {
            last[stream] = i;
        }
    }
}

static void
make_edges(struct player_rank *rank)
{
    struct graph_rank *graph = rank->graph;
    uint32_t n = 0;

    visit_all(rank, count_out);
    for (uint32_t i = 0; i < graph->n_items; i++) {
        graph->items[i].first_out = n;
        n += graph->items[i].n_wait;
        graph->items[i].n_wait = 0;
    }
    graph->items[graph->n_items].first_out = n;
    graph->outs = g_new(uint32_t, MAX(n, 1));
    visit_all(rank, add_out);
}

gboolean
graph_build(struct player *player, GError **error)
{
    if (player->n_nodes == 0) {
        return TRUE;
    }
    if (!count_items(player, error)) {
        return FALSE;
    }
    for (uint32_t r = 0; r < player->n_ranks; r++) {
        struct graph_rank *graph = player->ranks[r].graph;

        graph->items = mem_zero_lines(graph->n_items + 1, sizeof *graph->items);
        graph->queue = g_new(uint32_t, MAX(graph->n_items, 1));
        graph->n_items = 0;
        make_streams(&player->ranks[r]);
    }
    for (uint32_t i = 0; i < player->n_nodes; i++) {
        for (uint32_t k = 0; k < n_ranks_of(player, &player->nodes[i]); k++) {
            struct player_rank *rank = rank_at(player, &player->nodes[i], k);

            rank->graph->items[rank->graph->n_items++] = (struct graph_item){
                .node = i, .stream = stream_of(rank, &player->nodes[i])};
        }
    }
    for (uint32_t r = 0; r < player->n_ranks; r++) {
        make_edges(&player->ranks[r]);
    }
    return TRUE;
}

void
graph_free(struct graph_rank *graph)
{
    if (graph == NULL) {
        return;
    }
    free(graph->items);
    free(graph->streams);
    g_free(graph->outs);
    g_free(graph->queue);
    free(graph);
}

/* ---- playing -------------------------------------------------------------------------- */

static int64_t
max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When an item that waits for nothing more begins. */
static int64_t
due_ps(const struct player_rank *rank, const struct graph_item *item)
{
    const struct player_node_spec *node = node_of(rank, item);
    bool has_gap = !node->has_time && item->n_need > 0;
    int64_t due = item->ready_ps + node->delay_ps +
                  (has_gap ? rank->player->params->common.gap_ps : 0);

    if (node->has_time) {
        int64_t time_ps = node->time_ps;

        if (node->rank_times_ps) {
            time_ps = node->rank >= 0
                          ? node->rank_times_ps[0]
                          : node->rank_times_ps[rank->members[member_of(rank, node->comm)]
                                                    .rank];
        }
        due = max_i64(due, rank->round_ps + time_ps);
    }
    return due;
}

/* 'item' has ended at 'end_ps': what has waited for it alone comes into the queue. */
static void
end_item(struct player_rank *rank, struct graph_item *item, int64_t end_ps)
{
    struct graph_rank *graph = rank->graph;

    item->ended = true;
    graph->n_left--;
    if (item->stream != PLAYER_NONE) {
        graph->streams[item->stream].item = PLAYER_NONE;
        graph->streams[item->stream].busy = false;
    }
    for (uint32_t i = item->first_out; i < item[1].first_out; i++) {
        struct graph_item *out = &graph->items[graph->outs[i]];

        out->ready_ps = max_i64(out->ready_ps, end_ps);
        if (--out->n_wait == 0) {
            graph->queue[graph->n_queue++] = graph->outs[i];
        }
    }
}

/* Begins 'item', whose time has come; ends it when there is nothing to do. */
static void
begin_item(struct player_rank *rank, struct graph_item *item, int64_t now_ps)
{
    struct graph_stream *stream = &rank->graph->streams[item->stream];
    const struct player_node_spec *node = node_of(rank, item);

    stream->item = (uint32_t)(item - rank->graph->items);
    stream->busy = true;
    if (node->op == PLAYER_NO_OP) {
        if (node->duration_ps > 0) {
            work_timer_set(rank->lp, &stream->timer, now_ps + node->duration_ps);
            return;
        }
    } else if (!player_begin(rank, node->op, item->stream, now_ps)) {
        return;
    } else {
        player_end(rank, node->op, item->stream, now_ps);
    }
    end_item(rank, item, now_ps);
}

/* All that waits for nothing more: begins, or gets a timer. */
static void
drain(struct player_rank *rank, int64_t now_ps)
{
    struct graph_rank *graph = rank->graph;

    for (uint32_t at = 0; at < graph->n_queue; at++) {
        struct graph_item *item = &graph->items[graph->queue[at]];
        int64_t due = due_ps(rank, item);

        if (item->stream == PLAYER_NONE) {
            end_item(rank, item, due);
        } else if (due <= now_ps) {
            begin_item(rank, item, now_ps);
        } else {
            graph->streams[item->stream].item = graph->queue[at];
            work_timer_set(rank->lp, &graph->streams[item->stream].timer, due);
        }
    }
    graph->n_queue = 0;
}

/* All items anew, from 'rank->round_ps' on. */
static void
begin_round(struct player_rank *rank)
{
    struct graph_rank *graph = rank->graph;

    player_rewind(rank);
    graph->n_left = graph->n_items;
    for (uint32_t i = 0; i < graph->n_items; i++) {
        struct graph_item *item = &graph->items[i];

        item->ended = false;
        item->n_wait = item->n_need;
        item->ready_ps = rank->round_ps;
        if (item->n_need == 0) {
            graph->queue[graph->n_queue++] = i;
        }
    }
}

/* Goes on after something has ended, into the next rounds if need be. */
static void
go_on(struct player_rank *rank, int64_t now_ps)
{
    drain(rank, now_ps);
    while (rank->graph->n_left == 0) {
        if (++rank->round == rank->player->n_rounds) {
            rank->done = true;
            net_op_end(rank->lp);
            return;
        }
        rank->round_ps = now_ps + rank->player->params->common.gap_ps;
        begin_round(rank);
        drain(rank, now_ps);
    }
}

static void
stream_fire(struct lp *lp, struct work_timer *timer)
{
    struct graph_stream *stream = timer->ctx;
    struct player_rank *rank = stream->rank;
    struct graph_item *item = &rank->graph->items[stream->item];

    if (stream->busy) {
        end_item(rank, item, lp->now_ps);
    } else {
        begin_item(rank, item, lp->now_ps);
    }
    go_on(rank, lp->now_ps);
}

void
graph_finished(struct player_rank *rank, uint32_t member, int64_t now_ps)
{
    struct graph_item *item = &rank->graph->items[rank->graph->streams[member].item];

    player_end(rank, node_of(rank, item)->op, member, now_ps);
    end_item(rank, item, now_ps);
    go_on(rank, now_ps);
}

void
graph_start(struct player_rank *rank)
{
    struct graph_rank *graph = rank->graph;
    bool has_work = false;

    for (uint32_t s = 0; s < graph->n_streams; s++) {
        graph->streams[s].timer.fire = stream_fire;
        graph->streams[s].timer.ctx = &graph->streams[s];
    }
    for (uint32_t i = 0; i < graph->n_items && !has_work; i++) {
        has_work = graph->items[i].stream != PLAYER_NONE;
    }
    rank->done = !has_work;
    if (has_work) {
        net_op_begin(rank->lp);
        begin_round(rank);
        drain(rank, -1); /* nothing begins before the run */
    }
}
