/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_build.c - collects what readers report of single ranks (trace_build.h) and, at the
 * end, writes the struct trace: trace_merge.c pairs the calls, trace_place.c numbers the
 * ranks.  Run once, at set-up.
 */
#include <config.h>

#include "workloads/trace/trace_build_private.h"

#include <stdarg.h>
#include <string.h>

enum {
    MAX_WARNINGS = 20,
    MAX_DAMAGES = 4096, /* guess: a log with more is no log to trust */
};

static void
free_list(gpointer data)
{
    g_free(((struct build_list *)data)->order);
}

/* ---- times ------------------------------------------------------------------------- */

/* FALSE if stamps of a rank go back (a clock was set) or span too long: then
 * none is used. */
static bool
check_times(struct trace_build *build, int64_t *first_ns)
{
    int64_t min_ns = INT64_MAX, max_ns = INT64_MIN;

    for (uint32_t r = 0; r < build->ranks->len; r++) {
        int64_t last_ns = INT64_MIN;
        for (uint32_t c = build_rank_at(build, r)->first; c != BUILD_NONE;
             c = build_call_at(build, c)->next_of_rank) {
            const struct build_call *call = build_call_at(build, c);
            if (!call->said.has_time) {
                continue;
            }
            if (call->said.time_ns < last_ns) {
                trace_build_warn(build,
                                 "%s:%" G_GUINT64_FORMAT
                                 ": the time stamp goes back (clock set, or "
                                 "summer time ended): no time stamp is used",
                                 build_call_path(build, call), call->said.line);
                return false;
            }
            last_ns = call->said.time_ns;
            min_ns = MIN(min_ns, last_ns);
            max_ns = MAX(max_ns, last_ns);
        }
    }
    if (min_ns > max_ns) {
        return false;
    }
    if (max_ns - min_ns > INT64_MAX / 1000) {
        trace_build_warn(build, "the time stamps span more than 106 days: none is used");
        return false;
    }
    *first_ns = min_ns;
    return true;
}

/* Fills the times of 'trace->ops', which 'order' built. */
static void
build_times(struct trace_build *build, const uint32_t order[],
            const struct build_op merged[], struct trace *trace)
{
    int64_t first_ns = 0;
    size_t n_times = 0, at = 0;

    trace->has_times = false;
    if (!check_times(build, &first_ns)) {
        return;
    }
    g_autofree bool *lacks = g_new0(bool, MAX(build->calls->len, 1));
    g_autofree size_t *offset = g_new(size_t, trace->n_ops);
    g_autofree uint32_t *final = g_new(uint32_t, MAX(build->calls->len, 1));
    memset(final, 0xff, MAX(build->calls->len, 1) * sizeof(final[0]));
    for (size_t i = 0; i < trace->n_ops; i++) {
        offset[i] = n_times;
        final[order[i]] = (uint32_t)i;
        n_times +=
            trace_kind_is_p2p(trace->ops[i].kind)
                ? 1
                : build_comm_at(
                      build,
                      build_member_at(
                          build,
                          build_call_at(build, merged[order[i]].first_call)->said.member)
                          ->comm)
                      ->n_ranks;
    }
    trace->times_ps = g_new(int64_t, n_times);
    for (at = 0; at < n_times; at++) {
        trace->times_ps[at] = INT64_MIN;
    }
    for (uint32_t c = 0; c < build->calls->len; c++) {
        const struct build_call *call = build_call_at(build, c);
        if (call->op == BUILD_NONE || merged[call->op].n_calls == 0) {
            continue;
        }
        const uint32_t i = final[call->op];
        const uint32_t comm_rank = build_member_at(build, call->said.member)->comm_rank;
        const size_t slot = trace_kind_is_p2p(call->said.kind) ? 0 : comm_rank;
        if (!call->said.has_time) {
            lacks[i] = true;
        } else {
            trace->times_ps[offset[i] + slot] = (call->said.time_ns - first_ns) * 1000;
        }
    }
    trace->has_times = true;
    for (size_t i = 0; i < trace->n_ops; i++) {
        struct trace_op *op = &trace->ops[i];
        const size_t end = i + 1 < trace->n_ops ? offset[i + 1] : n_times;
        int64_t *times_ps = trace->times_ps + offset[i];
        int64_t min_ps = INT64_MAX;

        if (lacks[i]) {
            trace->has_times = false;
            continue;
        }
        for (size_t k = 0; k < end - offset[i]; k++) {
            if (times_ps[k] != INT64_MIN) {
                min_ps = MIN(min_ps, times_ps[k]);
            }
        }
        for (size_t k = 0; k < end - offset[i]; k++) {
            if (times_ps[k] == INT64_MIN) {
                times_ps[k] = min_ps; /* this rank's line was cut */
            }
        }
        op->has_time = true;
        op->time_ps = min_ps;
        op->rank_times_ps = times_ps;
    }
    trace->time_step_ps = build->time_step_ps;
}

/* ---- the trace --------------------------------------------------------------------- */

/* Fills 'trace->comms' with those that all of the log's ranks know, in the order of the
 * log; 'index_of[]' gives their places. */
static void
build_comms(struct trace_build *build, const uint32_t number[], uint32_t index_of[],
            struct trace *trace)
{
    trace->comms = g_new0(struct trace_comm, build->comms->len);
    for (uint32_t c = 0; c < build->comms->len; c++) {
        const struct build_comm *comm = build_comm_at(build, c);

        if (g_hash_table_size(comm->member_of) != comm->n_ranks) {
            continue;
        }
        index_of[c] = trace->n_comms;
        struct trace_comm *out = &trace->comms[trace->n_comms++];
        out->name = g_strdup(comm->name);
        out->n_ranks = comm->n_ranks;
        out->ranks = g_new(uint32_t, comm->n_ranks);
        trace_place_rings(build, comm, out);
    }
    for (uint32_t m = 0; m < build->members->len; m++) {
        const struct build_member *member = build_member_at(build, m);
        const struct build_comm *comm = build_comm_at(build, member->comm);
        if (g_hash_table_size(comm->member_of) == comm->n_ranks) {
            trace->comms[index_of[member->comm]].ranks[member->comm_rank] =
                number[member->rank];
        }
    }
}

/* What the library chose: the first rank that says it. */
static void
tune_ops(const struct trace_build *build, const uint32_t final[],
         const struct build_op merged[], struct trace *trace)
{
    for (uint32_t c = 0; c < build->calls->len; c++) {
        const struct build_call *call = build_call_at(build, c);
        if (call->op == BUILD_NONE || merged[call->op].n_calls == 0 ||
            call->algo == TRACE_ALGO_UNKNOWN) {
            continue;
        }
        struct trace_op *op = &trace->ops[final[call->op]];
        if (op->algo == TRACE_ALGO_UNKNOWN) {
            op->algo = call->algo;
            op->proto = call->proto;
            op->has_channels = call->has_channels;
            op->channel_lo = call->channel_lo;
            op->channel_hi = call->channel_hi;
        }
    }
}

static void
build_ops(struct trace_build *build, const uint32_t order[],
          const struct build_op merged[], uint32_t n_merged, const uint32_t index_of[],
          struct trace *trace)
{
    g_autofree uint32_t *final = g_new0(uint32_t, MAX(n_merged, 1));

    trace->ops = g_new0(struct trace_op, trace->n_ops);
    for (size_t i = 0; i < trace->n_ops; i++) {
        final[order[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < trace->n_ops; i++) {
        const struct build_op *from = &merged[order[i]];
        const struct trace_call *said = &build_call_at(build, from->first_call)->said;
        const struct build_member *member = build_member_at(build, said->member);
        const bool is_p2p = trace_kind_is_p2p(said->kind);

        trace->ops[i] = (struct trace_op){
            .kind = said->kind,
            .type = said->type,
            .redop = said->redop,
            .comm = index_of[member->comm],
            .rank = is_p2p ? (int32_t)member->comm_rank : TRACE_NO_RANK,
            .peer =
                is_p2p || trace_kind_has_root(said->kind) ? said->peer : TRACE_NO_RANK,
            .pair =
                from->pair == BUILD_NONE ? TRACE_NO_PAIR : (int64_t) final[from->pair],
            .seq = said->seq,
            .count = said->count,
            .bytes = said->count * trace_type_bytes(said->type),
            .algo = TRACE_ALGO_UNKNOWN,
            .proto = TRACE_PROTO_UNKNOWN,
            .file = said->file,
            .line = said->line,
        };
        trace->comms[trace->ops[i].comm].n_ops++;
    }
    tune_ops(build, final, merged, trace);
}

static gboolean
check_has_calls(const struct trace_build *build, GError **error)
{
    const char *path = build->files->len > 0 ? g_ptr_array_index(build->files, 0) : "";

    if (build->calls->len > 0) {
        return TRUE;
    }
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCOMPLETE,
                "%s%s: no line tells of a collective operation; log with "
                "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL",
                path, build->files->len > 1 ? " and others" : "");
    return FALSE;
}

static void
steal_strings(GPtrArray **from, char ***to)
{
    g_ptr_array_add(*from, NULL);
    g_ptr_array_set_free_func(*from, NULL);
    *to = (char **)g_ptr_array_free(g_steal_pointer(from), FALSE);
    *from = g_ptr_array_new_with_free_func(g_free);
}

struct trace_build *
trace_build_new(void)
{
    struct trace_build *build = g_new0(struct trace_build, 1);

    build->files = g_ptr_array_new_with_free_func(g_free);
    build->warnings = g_ptr_array_new_with_free_func(g_free);
    build->ranks = g_array_new(FALSE, FALSE, sizeof(struct build_rank));
    build->comms = g_array_new(FALSE, FALSE, sizeof(struct build_comm));
    build->members = g_array_new(FALSE, FALSE, sizeof(struct build_member));
    build->calls = g_array_new(FALSE, FALSE, sizeof(struct build_call));
    build->damages = g_array_new(FALSE, FALSE, sizeof(struct build_damage));
    build->damages_of = g_hash_table_new(NULL, NULL);
    return build;
}

void
trace_build_free(struct trace_build *build)
{
    if (build == NULL) {
        return;
    }
    for (guint i = 0; i < build->ranks->len; i++) {
        g_free(build_rank_at(build, i)->host);
    }
    for (guint i = 0; i < build->comms->len; i++) {
        struct build_comm *comm = build_comm_at(build, i);
        g_free(comm->name);
        g_hash_table_unref(comm->member_of);
        g_array_unref(comm->lists);
        g_array_unref(comm->edges);
    }
    g_ptr_array_unref(build->files);
    g_ptr_array_unref(build->warnings);
    g_array_unref(build->ranks);
    g_array_unref(build->comms);
    g_array_unref(build->members);
    g_array_unref(build->calls);
    g_array_unref(build->damages);
    g_hash_table_unref(build->damages_of);
    g_free(build);
}

uint32_t
trace_build_file(struct trace_build *build, const char *path)
{
    g_ptr_array_add(build->files, g_strdup(path));
    return build->files->len - 1;
}

const char *
trace_build_path(const struct trace_build *build, uint32_t file)
{
    return g_ptr_array_index(build->files, file);
}

gboolean
trace_build_rank(struct trace_build *build, const char *host, uint32_t device,
                 int64_t number, uint32_t *rank, GError **error)
{
    if (build->ranks->len >= TRACE_MAX_RANKS) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE, "more than %d ranks in the log",
                    TRACE_MAX_RANKS);
        return FALSE;
    }
    const struct build_rank new = {g_strdup(host), device, number, BUILD_NONE,
                                   BUILD_NONE};
    g_array_append_val(build->ranks, new);
    *rank = build->ranks->len - 1;
    return TRUE;
}

gboolean
trace_build_comm(struct trace_build *build, const char *name, int64_t n_ranks,
                 uint32_t *comm, GError **error)
{
    if (n_ranks < 1 || n_ranks > TRACE_MAX_RANKS ||
        build->comms->len >= TRACE_MAX_COMMS) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                    "communicator %s of %" G_GINT64_FORMAT
                    " ranks; allowed are 1 to %d ranks and at most %d communicators",
                    name, n_ranks, TRACE_MAX_RANKS, TRACE_MAX_COMMS);
        return FALSE;
    }
    struct build_comm new = {
        .name = g_strdup(name),
        .n_ranks = (uint32_t)n_ranks,
        .member_of = g_hash_table_new(NULL, NULL),
        .first_call = BUILD_NONE,
        .lists = g_array_new(FALSE, FALSE, sizeof(struct build_list)),
        .edges = g_array_new(FALSE, FALSE, sizeof(struct build_edge))};
    g_array_set_clear_func(new.lists, free_list);
    g_array_append_val(build->comms, new);
    *comm = build->comms->len - 1;
    return TRUE;
}

uint32_t
trace_build_comm_n_ranks(const struct trace_build *build, uint32_t comm)
{
    return build_comm_at(build, comm)->n_ranks;
}

gboolean
trace_build_member(struct trace_build *build, uint32_t comm, int64_t comm_rank,
                   uint32_t rank, uint32_t file, uint64_t line, const char *hint,
                   uint32_t *member, GError **error)
{
    struct build_comm *in = build_comm_at(build, comm);

    if (comm_rank < 0 || comm_rank >= in->n_ranks) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                    "%s:%" G_GUINT64_FORMAT ": rank %" G_GINT64_FORMAT
                    " of communicator %s; allowed 0 to %u",
                    trace_build_path(build, file), line, comm_rank, in->name,
                    in->n_ranks - 1);
        return FALSE;
    }
    const guint old = GPOINTER_TO_UINT(
        g_hash_table_lookup(in->member_of, GUINT_TO_POINTER((guint)comm_rank)));
    if (old != 0 && build_member_at(build, old - 1)->rank != rank) {
        const struct build_member *other = build_member_at(build, old - 1);
        g_set_error(
            error, TRACE_ERROR, TRACE_ERROR_INCONSISTENT,
            "%s:%" G_GUINT64_FORMAT ": rank %" G_GINT64_FORMAT
            " of communicator %s is another process or GPU than at %s:%" G_GUINT64_FORMAT
            "; %s",
            trace_build_path(build, file), line, comm_rank, in->name,
            trace_build_path(build, other->file), other->line, hint);
        return FALSE;
    }
    if (old != 0) {
        *member = old - 1;
        return TRUE;
    }
    const struct build_member new = {
        comm, (uint32_t)comm_rank, rank, BUILD_NONE, BUILD_NONE, file, line};
    g_array_append_val(build->members, new);
    *member = build->members->len - 1;
    g_hash_table_insert(in->member_of, GUINT_TO_POINTER((guint)comm_rank),
                        GUINT_TO_POINTER(*member + 1));
    return TRUE;
}

uint32_t
trace_build_member_comm(const struct trace_build *build, uint32_t member)
{
    return build_member_at(build, member)->comm;
}

void
trace_build_channels(struct trace_build *build, uint32_t comm, uint32_t n_channels)
{
    if (n_channels >= 1 && n_channels <= TRACE_MAX_CHANNELS) {
        build_comm_at(build, comm)->n_channels = n_channels;
    }
}

void
trace_build_ring(struct trace_build *build, uint32_t comm, uint32_t channel,
                 const uint32_t *order, size_t n)
{
    struct build_comm *in = build_comm_at(build, comm);

    if (channel >= TRACE_MAX_CHANNELS || n > in->n_ranks) {
        return;
    }
    for (guint i = 0; i < in->lists->len; i++) {
        struct build_list *old = &g_array_index(in->lists, struct build_list, i);
        if (old->channel == channel) {
            g_free(old->order);
            old->order = g_memdup2(order, n * sizeof(order[0]));
            old->n = n;
            return;
        }
    }
    const struct build_list list = {channel, g_memdup2(order, n * sizeof(order[0])), n};
    g_array_append_val(in->lists, list);
}

void
trace_build_ring_next(struct trace_build *build, uint32_t comm, uint32_t channel,
                      uint32_t rank, uint32_t next)
{
    struct build_comm *in = build_comm_at(build, comm);

    if (channel < TRACE_MAX_CHANNELS && rank < in->n_ranks && next < in->n_ranks) {
        const struct build_edge edge = {channel, rank, next};
        g_array_append_val(in->edges, edge);
    }
}

gboolean
trace_build_call(struct trace_build *build, const struct trace_call *call,
                 uint32_t *index, GError **error)
{
    struct build_member *member = build_member_at(build, call->member);
    struct build_rank *rank = build_rank_at(build, member->rank);
    struct build_comm *comm = build_comm_at(build, member->comm);
    const bool is_p2p = trace_kind_is_p2p(call->kind);

    if (build->calls->len >= UINT32_MAX / 2) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE,
                    "%s:%" G_GUINT64_FORMAT ": more than %u calls",
                    trace_build_path(build, call->file), call->line, UINT32_MAX / 2);
        return FALSE;
    }
    if ((is_p2p || trace_kind_has_root(call->kind)) &&
        (call->peer < 0 || (uint32_t)call->peer >= comm->n_ranks)) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                    "%s:%" G_GUINT64_FORMAT
                    ": root or peer %d of communicator %s; allowed 0 to %u",
                    trace_build_path(build, call->file), call->line, call->peer,
                    comm->name, comm->n_ranks - 1);
        return FALSE;
    }
    const struct build_call new = {.said = *call,
                                   .next_of_member = BUILD_NONE,
                                   .next_of_rank = BUILD_NONE,
                                   .op = BUILD_NONE,
                                   .algo = TRACE_ALGO_UNKNOWN,
                                   .proto = TRACE_PROTO_UNKNOWN};
    *index = build->calls->len;
    g_array_append_val(build->calls, new);
    if (member->first == BUILD_NONE) {
        member->first = *index;
    } else {
        build_call_at(build, member->last)->next_of_member = *index;
    }
    member->last = *index;
    if (rank->first == BUILD_NONE) {
        rank->first = *index;
    } else {
        build_call_at(build, rank->last)->next_of_rank = *index;
    }
    rank->last = *index;
    if (comm->first_call == BUILD_NONE) {
        comm->first_call = *index;
    }
    comm->has_p2p = comm->has_p2p || is_p2p;
    return TRUE;
}

void
trace_build_tune(struct trace_build *build, uint32_t index, enum trace_algo algo,
                 enum trace_proto proto, int64_t channel_lo, int64_t channel_hi)
{
    struct build_call *call = build_call_at(build, index);

    call->algo = (uint8_t)algo;
    call->proto = (uint8_t)proto;
    call->has_channels =
        channel_lo >= 0 && channel_lo <= channel_hi && channel_hi < TRACE_MAX_CHANNELS;
    if (call->has_channels) {
        call->channel_lo = (uint8_t)channel_lo;
        call->channel_hi = (uint8_t)channel_hi;
    }
}

void
trace_build_damaged(struct trace_build *build, uint32_t rank, enum trace_kind kind,
                    uint64_t seq, uint32_t file, uint64_t line)
{
    const struct build_damage damage = {rank, file, line, seq, kind, false};

    if (build->damages->len >= MAX_DAMAGES) {
        return;
    }
    g_array_append_val(build->damages, damage);
    if (!g_hash_table_contains(build->damages_of, GUINT_TO_POINTER(rank + 1))) {
        g_hash_table_insert(build->damages_of, GUINT_TO_POINTER(rank + 1),
                            GUINT_TO_POINTER(build->damages->len));
    }
}

void
trace_build_time_step(struct trace_build *build, int64_t step_ps)
{
    build->time_step_ps = MAX(build->time_step_ps, step_ps);
}

void
trace_build_warn(struct trace_build *build, const char *format, ...)
{
    va_list args;

    if (build->n_warnings++ < MAX_WARNINGS) {
        va_start(args, format);
        g_ptr_array_add(build->warnings, g_strdup_vprintf(format, args));
        va_end(args);
    }
}

void
trace_build_take_texts(struct trace_build *build, struct trace *trace)
{
    if (build->n_warnings > MAX_WARNINGS) {
        g_ptr_array_add(
            build->warnings,
            g_strdup_printf("and %u more warnings", build->n_warnings - MAX_WARNINGS));
    }
    steal_strings(&build->files, &trace->files);
    steal_strings(&build->warnings, &trace->warnings);
}

struct trace *
trace_build_finish(struct trace_build *build, GError **error)
{
    g_autoptr(GArray) merged = g_array_new(FALSE, FALSE, sizeof(struct build_op));
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    const uint32_t n_ranks = build->ranks->len;

    if (!check_has_calls(build, error) || !trace_merge_calls(build, merged, error)) {
        return NULL;
    }
    trace_merge_order(build, merged, order);
    if (order->len == 0) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCOMPLETE,
                    "no operation is in the log of all its ranks: %s",
                    (char *)g_ptr_array_index(build->warnings, 0));
        return NULL;
    }

    struct trace *trace = g_new0(struct trace, 1);
    g_autofree uint32_t *number = g_new(uint32_t, n_ranks);
    g_autofree uint32_t *index_of = g_new0(uint32_t, build->comms->len);
    const struct build_op *ops = (const struct build_op *)(const void *)merged->data;
    const uint32_t *placed = (const uint32_t *)(const void *)order->data;
    trace->n_ops = order->len;
    trace_place_ranks(build, number, trace);
    build_comms(build, number, index_of, trace);
    build_ops(build, placed, ops, merged->len, index_of, trace);
    build_times(build, placed, ops, trace);
    trace_build_take_texts(build, trace);
    return trace;
}
