/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * player.c - plays: ranks go from call to call, rings reach queue pairs, pipes and timers.
 * All here runs in events of the host of the rank it is about; made by player_build.c.
 */
#include <config.h>

#include "workloads/nccl/player.h"

#include <assert.h>

#include "models/net_lp.h"
#include "workloads/nccl/player_graph.h"
#include "workloads/nccl/player_state.h"

static int64_t
max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct player_rank *
rank_of(const struct player_comm *comm, uint32_t comm_rank)
{
    return &comm->player->ranks[comm->ranks[comm_rank]];
}

/* ---- from call to call ------------------------------------------------------------- */

/* The next operation is the first of those that come next in each communicator. */
static void
choose(struct player_rank *rank)
{
    rank->op = PLAYER_NONE;
    for (uint32_t m = 0; m < rank->n_members; m++) {
        if (rank->members[m].next_op < rank->op) {
            rank->op = rank->members[m].next_op;
            rank->member = m;
        }
    }
}

void
player_rewind(struct player_rank *rank)
{
    for (uint32_t m = 0; m < rank->n_members; m++) {
        struct player_member *member = &rank->members[m];

        member->next_op = rank->player->comms[member->comm]->first_op;
    }
}

/* When the rank's next operation may begin. */
static int64_t
due_ps(const struct player_rank *rank)
{
    const struct player_op_spec *spec = &rank->player->ops[rank->op].spec;
    int64_t time_ps = spec->time_ps;

    if (!spec->has_time) {
        return rank->ready_ps;
    }
    if (spec->rank_times_ps) {
        time_ps = spec->rank_times_ps[rank->members[rank->member].rank];
    }
    return max_i64(rank->ready_ps, rank->round_ps + time_ps);
}

static struct player_span *
span_of(const struct player_rank *rank, uint32_t op, uint32_t member)
{
    const struct player_op *of = &rank->player->ops[op];
    const struct player_comm *comm = rank->player->comms[of->spec.comm];
    uint32_t part = comm->part_of[rank->members[member].rank];

    return &comm->parts[part].spans[rank->round * comm->n_ops + of->index];
}

bool
player_begin(struct player_rank *rank, uint32_t op, uint32_t member, int64_t now_ps)
{
    const struct player_op *of = &rank->player->ops[op];
    struct player_span *span = span_of(rank, op, member);

    if (span->start_ps > now_ps) {
        span->start_ps = now_ps;
    }
    return ring_start(rank->player->comms[of->spec.comm]->ring,
                      rank->members[member].rank, &of->call, now_ps);
}

void
player_end(struct player_rank *rank, uint32_t op, uint32_t member, int64_t now_ps)
{
    struct player_span *span = span_of(rank, op, member);

    span->end_ps = max_i64(span->end_ps, now_ps);
    rank->members[member].next_op = rank->player->ops[op].next;
}

/* The rank has ended its operation: takes the next one, of the next round if need be. */
static void
end(struct player_rank *rank, int64_t now_ps)
{
    const struct player *player = rank->player;
    int64_t gap_ps = player->params->common.gap_ps;

    player_end(rank, rank->op, rank->member, now_ps);
    rank->busy = false;
    choose(rank);
    if (rank->op == PLAYER_NONE) {
        rank->round++;
        rank->round_ps = now_ps + gap_ps;
        rank->ready_ps = rank->round_ps;
        player_rewind(rank);
        choose(rank);
    } else {
        rank->ready_ps = player->ops[rank->op].spec.has_time ? now_ps : now_ps + gap_ps;
    }
}

/* Begins the rank's next operation, or waits for its time. */
static void
play_on(struct player_rank *rank, int64_t now_ps)
{
    while (rank->round < rank->player->n_rounds) {
        int64_t at_ps = due_ps(rank);

        if (at_ps > now_ps) {
            work_timer_set(rank->lp, &rank->timer, at_ps);
            return;
        }
        rank->busy = true;
        if (!player_begin(rank, rank->op, rank->member, now_ps)) {
            return;
        }
        end(rank, now_ps);
    }
    rank->done = true;
    net_op_end(rank->lp);
}

void
player_rank_fire(struct lp *lp, struct work_timer *timer)
{
    play_on(timer->ctx, lp->now_ps);
}

static void
finished(void *net, uint32_t comm_rank, int64_t start_ps, int64_t now_ps)
{
    struct player_rank *rank = rank_of(net, comm_rank);

    (void)start_ps; /* noted when it began */
    if (rank->graph) {
        uint32_t member = 0;

        while (rank->player->comms[rank->members[member].comm] != net) {
            member++;
        }
        graph_finished(rank, member, now_ps);
        return;
    }
    end(rank, now_ps);
    play_on(rank, now_ps);
}

/* ---- between hosts ----------------------------------------------------------------- */

static void
post(struct lp *lp, struct player_stream *stream, int64_t bytes, bool has_imm,
     uint32_t imm)
{
    struct player_post *note = pool_get(lp->pool);

    *note = (struct player_post){.post_ps = lp->now_ps};
    if (stream->oldest) {
        stream->newest->next = note;
    } else {
        stream->oldest = note;
    }
    stream->newest = note;
    stream->bytes += bytes;
    qp_post_write(lp, stream->qp, bytes, (uint32_t)stream->n_messages++, has_imm, imm);
}

static struct player_stream *
stream_of(const struct player_comm *comm, uint32_t conn, uint32_t qp, unsigned side)
{
    return &comm->streams[(comm->streams_of[conn] + qp) * 2 + side];
}

static void
send_data(void *net, uint32_t conn, uint32_t qp, int64_t size_bytes, uint32_t immediate,
          int64_t now_ps)
{
    struct player_comm *comm = net;
    struct lp *lp = rank_of(comm, ring_conn_sender(comm->ring, conn))->lp;

    assert(lp->now_ps == now_ps);
    (void)now_ps;
    post(lp, stream_of(comm, conn, qp, 0), size_bytes, true, immediate);
}

static void
send_cts(void *net, uint32_t conn, int64_t size_bytes, int64_t now_ps)
{
    struct player_comm *comm = net;
    struct lp *lp = rank_of(comm, ring_conn_receiver(comm->ring, conn))->lp;

    assert(lp->now_ps == now_ps);
    (void)now_ps;
    post(lp, stream_of(comm, conn, 0, 1), size_bytes, false, 0);
}

static void
sent(void *ctx, struct lp *lp, struct qp *qp, uint32_t message)
{
    struct player_stream *stream = ctx;
    struct player_post *note = stream->oldest;
    int64_t took_ps = lp->now_ps - note->post_ps;

    (void)qp;
    (void)message; /* a queue pair completes in order */
    stream->oldest = note->next;
    pool_put(lp->pool, note);
    if (stream->n_complete++ == 0 || took_ps < stream->min_ps) {
        stream->min_ps = took_ps;
    }
    stream->max_ps = max_i64(stream->max_ps, took_ps);
    stream->sum_ps += took_ps;
    if (stream->side == 0) {
        ring_on_sent(stream->comm->ring, stream->conn, stream->index, lp->now_ps);
    }
}

static void
received(void *ctx, struct lp *lp, struct qp *qp, uint32_t message, int64_t bytes,
         bool has_imm, uint32_t imm)
{
    struct player_stream *stream = ctx;

    (void)qp;
    (void)message;
    (void)imm;
    assert(has_imm == (stream->side == 1));
    if (has_imm) {
        ring_on_data(stream->comm->ring, stream->conn, stream->index, bytes, lp->now_ps);
    } else {
        ring_on_cts(stream->comm->ring, stream->conn, lp->now_ps);
    }
}

const struct qp_user_ops player_user = {.sent = sent, .received = received};

/* ---- inside a host ----------------------------------------------------------------- */

static void
deliver_data(struct lp *lp, struct pipe_item *item)
{
    struct player_comm *comm = item->to;
    uint32_t conn = (uint32_t)item->word[0];
    int64_t bytes = (int64_t)item->word[1];

    pool_put(lp->pool, item);
    ring_on_data(comm->ring, conn, 0, bytes, lp->now_ps);
}

static void
deliver_credit(struct lp *lp, struct pipe_item *item)
{
    struct player_comm *comm = item->to;
    uint32_t conn = (uint32_t)item->word[0];

    pool_put(lp->pool, item);
    ring_on_credit(comm->ring, conn, lp->now_ps);
}

/* A slice has left its sender's GPU.  It enters the receiver's GPU while it leaves the
 * other, so here it has ended too unless others were before it. */
static void
enter(struct lp *lp, struct pipe_item *item)
{
    struct player_comm *comm = item->to;
    uint32_t to = ring_conn_receiver(comm->ring, (uint32_t)item->word[0]);
    struct pipe *in = &rank_of(comm, to)->in;
    int64_t rate_bps = comm->player->params->pipe_rate_bps;
    int64_t takes_ps = rate_bps ? sim_tx_time_ps((int64_t)item->word[1], rate_bps) : 0;

    item->deliver = deliver_data;
    in->busy_until_ps = max_i64(lp->now_ps, in->busy_until_ps + takes_ps);
    pipe_send(lp, in, 0, item);
}

static void
send_local(void *net, uint32_t conn, int64_t size_bytes, int64_t now_ps)
{
    struct player_comm *comm = net;
    struct player_rank *from = rank_of(comm, ring_conn_sender(comm->ring, conn));
    struct pipe_item *item = pool_get(from->lp->pool);

    assert(from->lp->now_ps == now_ps);
    (void)now_ps;
    *item = (struct pipe_item){
        .deliver = enter, .to = comm, .word = {conn, (uint64_t)size_bytes}};
    pipe_send(from->lp, &from->out, size_bytes, item);
}

static void
send_credit(void *net, uint32_t conn, int64_t now_ps)
{
    struct player_comm *comm = net;
    struct player_rank *from = rank_of(comm, ring_conn_receiver(comm->ring, conn));
    struct pipe_item *item = pool_get(from->lp->pool);

    assert(from->lp->now_ps == now_ps);
    (void)now_ps;
    *item = (struct pipe_item){.deliver = deliver_credit, .to = comm, .word = {conn}};
    pipe_send(from->lp, &from->credit, 0, item);
}

/* ---- costs ------------------------------------------------------------------------- */

static void
at(void *net, uint32_t comm_rank, uint32_t channel, enum ring_timer timer,
   int64_t when_ps)
{
    struct player_comm *comm = net;
    struct player_lane *lane = &comm->lanes[comm_rank * comm->n_channels + channel];

    work_timer_set(rank_of(comm, comm_rank)->lp, &lane->timers[timer], when_ps);
}

void
player_lane_fire(struct lp *lp, struct work_timer *timer)
{
    struct player_comm *comm = timer->ctx;
    size_t offset = (size_t)((char *)timer - (char *)comm->lanes);
    uint32_t lane = (uint32_t)(offset / sizeof *comm->lanes);

    ring_on_timer(comm->ring, lane / comm->n_channels, lane % comm->n_channels,
                  (enum ring_timer)(timer - comm->lanes[lane].timers), lp->now_ps);
}

const struct ring_transport player_transport = {
    .send_data = send_data,
    .send_cts = send_cts,
    .send_local = send_local,
    .send_credit = send_credit,
    .at = at,
    .finished = finished,
};

/* ---- start ------------------------------------------------------------------------- */

static void
start_rank(struct player_rank *rank)
{
    const struct player *player = rank->player;

    rank->lp = net_lp_of_host(player->net, rank->host);
    rank->round_ps =
        player->params->common.start_ps + net_jitter_ps(player->net, rank->host);
    if (rank->graph) {
        graph_start(rank);
        return;
    }
    rank->ready_ps = rank->round_ps;
    player_rewind(rank);
    choose(rank);
    rank->done = rank->op == PLAYER_NONE;
    if (!rank->done) {
        net_op_begin(rank->lp);
        work_timer_set(rank->lp, &rank->timer, due_ps(rank));
    }
}

void
player_start(struct player *player)
{
    for (uint32_t c = 0; c < player->n_comms; c++) {
        struct player_comm *comm = player->comms[c];

        for (uint32_t i = 0; i < comm->n_pairs * 2; i++) {
            struct player_stream *stream = &comm->streams[i];

            stream->qp = net_qp(player->net, stream->connection, stream->side);
            stream->qp->user = &player_user;
            stream->qp->user_ctx = stream;
        }
    }
    for (uint32_t r = 0; r < player->n_ranks; r++) {
        start_rank(&player->ranks[r]);
    }
    player_bound(player);
}
