/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_trace.c - replays what a trace says a job did.
 * trace/trace.h reads it, nccl/player.h plays it; here the job is put on the hosts.
 *
 * The trace's hosts take the workload's hosts in order of their lowest rank; the ranks of a
 * host take its GPUs in order of rank.  An operation with time stamps begins on each rank
 * not before its own; without, operations follow each other by common.gap_ps.  A trace that
 * says what waits for what (trace.h, 'is_graph') is played by that.  Kinds that 'skip' names
 * are left out: they take no time, and what waits for them waits for what they waited for.
 */
#include <config.h>

#include "workloads/nccl/player.h"
#include "workloads/replay.h"

struct replay {
    struct trace *trace;   /* owned */
    struct player *player; /* owned */
    uint32_t index;        /* of the workload */
    uint32_t n_skipped[TRACE_N_KINDS];
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

/* Is 'kind' left out on purpose? */
static bool
is_skipped(const struct work_params *params, enum trace_kind kind)
{
    return (params->skip >> kind & 1) != 0;
}

static gboolean
check_op(const struct trace *trace, const struct trace_op *op, uint32_t index,
         GError **error)
{
    const char *file = trace->files[op->file];

    if (op->kind == TRACE_COMPUTE) {
        return TRUE;
    }
    if (op->kind != TRACE_ALL_REDUCE) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_UNSUPPORTED,
                    "workload[%u]: %s:%llu: %s is not supported yet; only all_reduce and "
                    "compute are, and \"skip\": [\"%s\"] leaves it out",
                    index, file, (unsigned long long)op->line, trace_kind_name(op->kind),
                    trace_kind_name(op->kind));
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

/* Longest that times, delays and computing of all rounds may be in all: half of what int64_t
 * has room for, so that no moment passes its end. */
#define MAX_SPAN_PS (INT64_MAX / 2)

static gboolean
check_span(const struct trace *trace, const struct work_params *params, GError **error)
{
    __int128 sum = 0;
    int64_t latest_ps = 0;

    for (size_t i = 0; i < trace->n_ops; i++) {
        const struct trace_op *op = &trace->ops[i];

        sum += (__int128)op->duration_ps + op->delay_ps;
        for (uint32_t r = 0; op->has_time && r < trace_op_n_ranks(trace, op); r++) {
            latest_ps = MAX(latest_ps, op->rank_times_ps[r]);
        }
    }
    if ((sum + latest_ps) * params->common.repeat <= MAX_SPAN_PS) {
        return TRUE;
    }
    g_set_error(
        error, WORK_ERROR, WORK_ERROR_RANGE,
        "workload[%u]: %s: times, delays and computing of %lld rounds may be more "
        "than 53 days; allowed are less",
        params->index, trace->files[0], (long long)params->common.repeat);
    return FALSE;
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
add_op(struct player *player, const struct trace *trace, const struct trace_op *op)
{
    player_add_op(player, &(struct player_op_spec){
                              .comm = op->comm,
                              .bytes = op->bytes,
                              .elem_bytes = (uint32_t)trace_type_bytes(op->type),
                              .has_channels = op->has_channels,
                              .channel_lo = op->channel_lo,
                              .channel_hi = op->channel_hi,
                              .has_time = op->has_time && !trace->is_graph,
                              .time_ps = op->time_ps,
                              .rank_times_ps = op->rank_times_ps});
}

/* What waits for what; of what is left out, too, since others wait for it. */
static void
add_node(struct player *player, const struct trace_op *op, bool skipped, uint32_t n_ops)
{
    player_add_node(player,
                    &(struct player_node_spec){
                        .op = skipped || op->kind == TRACE_COMPUTE ? PLAYER_NO_OP : n_ops,
                        .comm = op->comm,
                        .rank = op->rank,
                        .is_left_out = skipped,
                        .duration_ps = op->duration_ps,
                        .after = op->after,
                        .n_after = op->n_after,
                        .delay_ps = skipped ? 0 : op->delay_ps,
                        .has_time = op->has_time && !skipped,
                        .time_ps = op->time_ps,
                        .rank_times_ps = op->rank_times_ps});
}

/* Adds what is to be played; counts what is not. */
static gboolean
add_ops(struct replay *replay, const struct work_params *params, GError **error)
{
    const struct trace *trace = replay->trace;
    uint32_t n_ops = 0, n_kept = 0;

    for (size_t i = 0; i < trace->n_ops; i++) {
        const struct trace_op *op = &trace->ops[i];
        bool skipped = is_skipped(params, op->kind);

        if (!skipped && !check_op(trace, op, params->index, error)) {
            return FALSE;
        }
        if (trace->is_graph) {
            add_node(replay->player, op, skipped, n_ops);
        }
        if (!skipped && op->kind == TRACE_ALL_REDUCE) {
            add_op(replay->player, trace, op);
            n_ops++;
        }
        n_kept += !skipped;
        replay->n_skipped[op->kind] += skipped;
    }
    if (n_kept == 0) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_TRACE,
                    "workload[%u]: %s: 'skip' leaves none of %zu operations; allowed is "
                    "what leaves one",
                    params->index, trace->files[0], trace->n_ops);
        return FALSE;
    }
    return TRUE;
}

static gboolean
replay_build(struct replay *replay, struct net *net, const struct work_params *params,
             GError **error)
{
    const struct trace *trace = replay->trace;

    replay->player = place_ranks(net, params, trace, error);
    if (!replay->player || !check_span(trace, params, error)) {
        return FALSE;
    }
    add_comms(replay->player, trace);
    return add_ops(replay, params, error) && player_build(replay->player, error);
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

/* How many operations are left out. */
static void
trace_notes(const void *state, GPtrArray *lines)
{
    const struct replay *replay = state;

    g_autoptr(GString) left_out = g_string_new(NULL);
    uint64_t n_left_out = 0;

    for (unsigned k = 0; k < TRACE_N_KINDS; k++) {
        if (replay->n_skipped[k] > 0) {
            g_string_append_printf(left_out, "%s%u %s", n_left_out ? ", " : "",
                                   replay->n_skipped[k],
                                   trace_kind_name((enum trace_kind)k));
            n_left_out += replay->n_skipped[k];
        }
    }
    if (n_left_out > 0) {
        g_ptr_array_add(lines, g_strdup_printf("workload[%u]: %" G_GUINT64_FORMAT
                                               " of %zu operations "
                                               "of the trace are left out by 'skip': %s",
                                               replay->index, n_left_out,
                                               replay->trace->n_ops, left_out->str));
    }
}

static void
trace_warnings(const void *state, GPtrArray *lines)
{
    const struct replay *replay = state;

    trace_notes(state, lines);
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
    .notes = trace_notes,
    .start = trace_start,
    .unfinished = trace_unfinished,
    .streams = trace_streams,
    .calls = trace_calls,
    .plan = trace_plan,
    .pipe_bytes = trace_pipe_bytes,
    .free = trace_free_state,
};
