/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_trace.c - replays what a trace says a job did.
 * trace/trace.h reads it, nccl/player.h plays it; here the job is put on the hosts.
 *
 * The trace's hosts take the workload's hosts in order of their lowest rank; the ranks of a
 * host take its GPUs in order of rank.  An operation with time stamps begins on each rank
 * not before its own; without, operations follow each other by common.gap_ps.
 */
#include <config.h>

#include "workloads/nccl/player.h"
#include "workloads/replay.h"

struct replay {
    struct trace *trace;   /* owned */
    struct player *player; /* owned */
    uint32_t index;        /* of the workload */
};

static void
trace_free_state(void *state)
{
    struct replay *replay = state;

    if (replay) {
        player_free(replay->player);
        trace_free(replay->trace);
        g_free(replay);
    }
}

/* ---- checks ------------------------------------------------------------------------ */

static gboolean
check_op(const struct trace *trace, const struct trace_op *op, uint32_t index,
         GError **error)
{
    const char *file = trace->files[op->file];

    if (op->kind != TRACE_ALL_REDUCE) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_UNSUPPORTED,
                    "workload[%u]: %s:%llu: %s is not supported yet; only all_reduce is",
                    index, file, (unsigned long long)op->line, trace_kind_name(op->kind));
        return FALSE;
    }
    if ((op->algo != TRACE_ALGO_UNKNOWN && op->algo != TRACE_ALGO_RING) ||
        (op->proto != TRACE_PROTO_UNKNOWN && op->proto != TRACE_PROTO_SIMPLE)) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_UNSUPPORTED,
                    "workload[%u]: %s:%llu: all_reduce by %s with protocol %s is not "
                    "supported yet; only ring with simple is (NCCL_ALGO, NCCL_PROTO)",
                    index, file, (unsigned long long)op->line, trace_algo_name(op->algo),
                    trace_proto_name(op->proto));
        return FALSE;
    }
    return TRUE;
}

/* ---- from trace to player ---------------------------------------------------------- */

static struct player *
place_ranks(struct net *net, const struct work_params *params, const struct trace *trace,
            GError **error)
{
    g_autofree uint32_t *host = g_new(uint32_t, trace->n_ranks);
    g_autofree uint32_t *gpu = g_new(uint32_t, trace->n_ranks);

    if (!replay_place(trace, params, host, gpu, error)) {
        return NULL;
    }
    return player_new(net, params, host, gpu, trace->n_ranks, error);
}

static void
add_comms(struct player *player, const struct trace *trace)
{
    for (uint32_t c = 0; c < trace->n_comms; c++) {
        const struct trace_comm *comm = &trace->comms[c];

        player_add_comm(player, &(struct player_comm_spec){.name = comm->name,
                                                           .n_ranks = comm->n_ranks,
                                                           .ranks = comm->ranks,
                                                           .n_channels = comm->n_channels,
                                                           .rings = comm->rings});
    }
}

static void
add_op(struct player *player, const struct trace_op *op)
{
    player_add_op(player, &(struct player_op_spec){
                              .comm = op->comm,
                              .bytes = op->bytes,
                              .elem_bytes = (uint32_t)trace_type_bytes(op->type),
                              .has_channels = op->has_channels,
                              .channel_lo = op->channel_lo,
                              .channel_hi = op->channel_hi,
                              .has_time = op->has_time,
                              .time_ps = op->time_ps,
                              .rank_times_ps = op->rank_times_ps});
}

static gboolean
replay_build(struct replay *replay, struct net *net, const struct work_params *params,
             GError **error)
{
    const struct trace *trace = replay->trace;

    replay->player = place_ranks(net, params, trace, error);
    if (!replay->player) {
        return FALSE;
    }
    add_comms(replay->player, trace);
    for (size_t i = 0; i < trace->n_ops; i++) {
        if (!check_op(trace, &trace->ops[i], params->index, error)) {
            return FALSE;
        }
        add_op(replay->player, &trace->ops[i]);
    }
    return player_build(replay->player, error);
}

static void *
trace_new(struct net *net, const struct work_params *params, GError **error)
{
    struct trace *trace = replay_open(params, error);
    struct replay *replay;

    if (!trace) {
        return NULL;
    }
    replay = g_new0(struct replay, 1);
    replay->trace = trace;
    replay->index = params->index;
    if (!replay_build(replay, net, params, error)) {
        trace_free_state(replay);
        return NULL;
    }
    return replay;
}

static void
trace_warnings(const void *state, GPtrArray *lines)
{
    const struct replay *replay = state;

    for (char **line = replay->trace->warnings; line && *line; line++) {
        g_ptr_array_add(lines, g_strdup_printf("workload[%u]: %s", replay->index, *line));
    }
}

static void
trace_start(void *state)
{
    player_start(((struct replay *)state)->player);
}

static void
trace_unfinished(const void *state, GPtrArray *lines, uint32_t most)
{
    player_unfinished(((const struct replay *)state)->player, lines, most);
}

static const struct stream_result *
trace_streams(void *state, uint32_t *n)
{
    return player_streams(((struct replay *)state)->player, n);
}

static const struct call_result *
trace_calls(void *state, uint32_t *n)
{
    return player_calls(((struct replay *)state)->player, n);
}

static void
trace_plan(const void *state, struct work_plan by_qp[])
{
    player_plan(((const struct replay *)state)->player, by_qp);
}

static int64_t
trace_pipe_bytes(const void *state)
{
    return player_pipe_bytes(((const struct replay *)state)->player);
}

const struct work_ops work_trace_ops = {
    .name = "trace",
    .source =
        "formats: workloads/trace/trace_list.def; player: NCCL 2.30.7 (docs/nccl.md)",
    .doc = "what a log says a job did, call by call",
    .new = trace_new,
    .warnings = trace_warnings,
    .start = trace_start,
    .unfinished = trace_unfinished,
    .streams = trace_streams,
    .calls = trace_calls,
    .plan = trace_plan,
    .pipe_bytes = trace_pipe_bytes,
    .free = trace_free_state,
};
