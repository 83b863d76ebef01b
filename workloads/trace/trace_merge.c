/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_merge.c - pairs what single ranks called into operations, and finds one order of
 * them.  Part of the builder (trace_build_private.h).
 *
 * Collectives of a communicator are paired over its ranks by their counter, and among
 * equal counters (calls of one group, or a communicator of one rank) by their order.  A
 * communicator that also sends and receives counts differently on each rank; there the
 * order alone pairs, and kind, count and type have to agree.  Sends and receives of a
 * pair of ranks meet in order, as NCCL matches them.
 *
 * Source: NCCL src/enqueue.cc (what is counted and printed).
 * Invariant: every call of a rank belongs to at most one operation.
 */
#include <config.h>

#include "workloads/trace/trace_build_private.h"

/* One rank of a communicator while its collectives are merged. */
struct cursor {
    uint32_t member, call; /* BUILD_NONE: at the end */
    uint32_t occurrence;   /* among equal counters; or the position */
    uint32_t last_call;
};

/* ---- pairing calls ----------------------------------------------------------------- */

static void
set_missing(GError **error, const struct trace_build *build,
            const struct build_comm *comm, uint32_t comm_rank,
            const struct build_call *other)
{
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCOMPLETE,
                "%s:%" G_GUINT64_FORMAT
                ": rank %u of communicator %s did not log the %s of "
                "opCount %" G_GINT64_MODIFIER
                "x that rank %u logged here, though it logged later "
                "ones; the log has lost lines",
                build_call_path(build, other), other->said.line, comm_rank, comm->name,
                trace_kind_name(other->said.kind), other->said.seq,
                build_member_at(build, other->said.member)->comm_rank);
}

static bool
calls_agree(const struct build_call *a, const struct build_call *b)
{
    return a->said.kind == b->said.kind && a->said.count == b->said.count &&
           a->said.type == b->said.type &&
           (!trace_kind_has_redop(a->said.kind) || a->said.redop == b->said.redop) &&
           (!trace_kind_has_root(a->said.kind) || a->said.peer == b->said.peer);
}

static void
set_disagreement(GError **error, const struct trace_build *build,
                 const struct build_comm *comm, const struct build_call *a,
                 const struct build_call *b)
{
    g_set_error(
        error, TRACE_ERROR, TRACE_ERROR_INCONSISTENT,
        "%s:%" G_GUINT64_FORMAT ": communicator %s, opCount %" G_GINT64_MODIFIER
        "x: rank %u calls %s count %" G_GINT64_FORMAT " %s %s root %d, but rank %u "
        "(%s:%" G_GUINT64_FORMAT ") calls %s count %" G_GINT64_FORMAT
        " %s %s root %d; all ranks must call the same",
        build_call_path(build, b), b->said.line, comm->name, b->said.seq,
        build_member_at(build, b->said.member)->comm_rank, trace_kind_name(b->said.kind),
        b->said.count, trace_type_name(b->said.type), trace_redop_name(b->said.redop),
        b->said.peer, build_member_at(build, a->said.member)->comm_rank,
        build_call_path(build, a), a->said.line, trace_kind_name(a->said.kind),
        a->said.count, trace_type_name(a->said.type), trace_redop_name(a->said.redop),
        a->said.peer);
}

static bool
call_is_p2p(const struct trace_build *build, uint32_t index)
{
    return trace_kind_is_p2p(build_call_at(build, index)->said.kind);
}

/* Moves to the next collective at or after 'call'. */
static void
cursor_seek(const struct trace_build *build, struct cursor *cursor, uint32_t call)
{
    while (call != BUILD_NONE && call_is_p2p(build, call)) {
        call = build_call_at(build, call)->next_of_member;
    }
    cursor->call = call;
}

/* FALSE if the counter goes back. */
static gboolean
cursor_next(const struct trace_build *build, const struct build_comm *comm,
            struct cursor *cursor, GError **error)
{
    const struct build_call *old = build_call_at(build, cursor->call);

    cursor->last_call = cursor->call;
    cursor_seek(build, cursor, old->next_of_member);
    if (comm->has_p2p) {
        cursor->occurrence++;
        return TRUE;
    }
    if (cursor->call == BUILD_NONE) {
        return TRUE;
    }
    const struct build_call *call = build_call_at(build, cursor->call);
    cursor->occurrence = call->said.seq == old->said.seq ? cursor->occurrence + 1 : 0;
    if (call->said.seq < old->said.seq) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCONSISTENT,
                    "%s:%" G_GUINT64_FORMAT ": opCount of communicator %s goes back from "
                    "%" G_GINT64_MODIFIER "x (%s:%" G_GUINT64_FORMAT
                    ") to %" G_GINT64_MODIFIER
                    "x on rank %u; are these the logs of two runs?",
                    build_call_path(build, call), call->said.line, comm->name,
                    old->said.seq, build_call_path(build, old), old->said.line,
                    call->said.seq, build_member_at(build, cursor->member)->comm_rank);
        return FALSE;
    }
    return TRUE;
}

/* Order of what two cursors stand at: -1, 0, 1. */
static int
cursor_compare(const struct trace_build *build, const struct build_comm *comm,
               const struct cursor *a, const struct cursor *b)
{
    const uint64_t x = comm->has_p2p ? 0 : build_call_at(build, a->call)->said.seq;
    const uint64_t y = comm->has_p2p ? 0 : build_call_at(build, b->call)->said.seq;

    if (x != y) {
        return x < y ? -1 : 1;
    }
    return (a->occurrence > b->occurrence) - (a->occurrence < b->occurrence);
}

/* Takes a cut line of 'rank' that may be the call that 'other' shows, if there is one. */
static struct build_damage *
take_damage(const struct trace_build *build, uint32_t rank,
            const struct build_call *other)
{
    const guint first = GPOINTER_TO_UINT(
        g_hash_table_lookup(build->damages_of, GUINT_TO_POINTER(rank + 1)));

    if (first == 0) {
        return NULL;
    }
    for (guint i = first - 1; i < build->damages->len; i++) {
        struct build_damage *damage =
            &g_array_index(build->damages, struct build_damage, i);
        if (damage->rank == rank && !damage->used &&
            (damage->kind == other->said.kind || damage->kind == TRACE_N_KINDS) &&
            (damage->seq == other->said.seq || damage->seq == TRACE_ANY_SEQ)) {
            damage->used = true;
            return damage;
        }
    }
    return NULL;
}

/* Where the first rank's log ends: nothing from there on is whole. */
struct tail {
    const struct cursor *first; /* a rank whose log ends before the others' */
    uint64_t seq;
};

/* Checks that 'cursors[n]' at the lowest counter agree with 'lead'; 'merged' becomes the
 * operation or, if a rank's log ended before, is left out, as 'tail' says. */
static gboolean
merge_one(struct trace_build *build, const struct build_comm *comm,
          struct cursor cursors[], uint32_t n, uint32_t lead, GArray *ops,
          struct tail *tail, GError **error)
{
    const struct cursor at = cursors[lead];
    const struct build_call *first = build_call_at(build, at.call);
    struct build_op op = {.first_call = at.call,
                          .pair = BUILD_NONE,
                          .lead = at.call,
                          .kind = first->said.kind};
    const struct cursor *ended = NULL;

    for (uint32_t i = 0; i < n; i++) {
        struct cursor *cursor = &cursors[i];
        const struct build_member *member = build_member_at(build, cursor->member);

        if (cursor->call != BUILD_NONE && cursor_compare(build, comm, cursor, &at) == 0) {
            struct build_call *call = build_call_at(build, cursor->call);
            if (!calls_agree(first, call)) {
                set_disagreement(error, build, comm, first, call);
                return FALSE;
            }
            op.lead = MIN(op.lead, cursor->call);
            op.n_calls++;
            call->op = ops->len;
            if (!cursor_next(build, comm, cursor, error)) {
                return FALSE;
            }
            continue;
        }
        const struct build_damage *damage = take_damage(build, member->rank, first);
        if (damage != NULL) {
            trace_build_warn(
                build,
                "%s:%" G_GUINT64_FORMAT ": cut line taken as rank %u's %s of "
                "opCount %" G_GINT64_MODIFIER "x of communicator %s, which the other "
                "ranks show",
                trace_build_path(build, damage->file), damage->line, i,
                trace_kind_name(op.kind), first->said.seq, comm->name);
        } else if (cursor->call == BUILD_NONE) {
            ended = cursor;
        } else {
            set_missing(error, build, comm, i, first);
            return FALSE;
        }
    }
    if (ended != NULL) {
        tail->first = ended;
        tail->seq = first->said.seq;
        op.n_calls = 0; /* so that it is never placed */
    }
    g_array_append_val(ops, op);
    return TRUE;
}

/* The members of 'comm' in order of rank, or NULL if the log lacks one; 'some' is one of
 * its calls. */
static uint32_t *
check_members(const struct trace_build *build, const struct build_comm *comm,
              const struct build_call *some, GError **error)
{
    /* No larger than the log makes it: a line may claim a million ranks. */
    const uint32_t n_known = g_hash_table_size(comm->member_of);
    g_autofree uint32_t *members = g_new(uint32_t, n_known);

    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        const guint found =
            GPOINTER_TO_UINT(g_hash_table_lookup(comm->member_of, GUINT_TO_POINTER(i)));
        if (found == 0) {
            g_set_error(
                error, TRACE_ERROR, TRACE_ERROR_INCOMPLETE,
                "%s:%" G_GUINT64_FORMAT ": communicator %s has %u ranks, but the log has "
                "lines of %u of them: rank %u is missing; give the logs of all ranks",
                build_call_path(build, some), some->said.line, comm->name, comm->n_ranks,
                n_known, i);
            return NULL;
        }
        if (i < n_known) {
            members[i] = found - 1;
        }
    }
    return g_steal_pointer(&members);
}

/* The collectives that 'cursor' has not come to. */
static uint32_t
count_rest(const struct trace_build *build, const struct cursor *cursor)
{
    uint32_t n = 0;

    for (uint32_t c = cursor->call; c != BUILD_NONE;
         c = build_call_at(build, c)->next_of_member) {
        n += !call_is_p2p(build, c);
    }
    return n;
}

static void
warn_tail(struct trace_build *build, const struct build_comm *comm,
          const struct tail *tail, uint32_t n_left_out, uint32_t n_ops)
{
    const struct build_member *member = build_member_at(build, tail->first->member);
    g_autofree char *where = NULL;

    if (tail->first->last_call == BUILD_NONE) {
        where = g_strdup_printf("%s:%" G_GUINT64_FORMAT ": rank %u logs no collective of "
                                "communicator %s",
                                trace_build_path(build, member->file), member->line,
                                member->comm_rank, comm->name);
    } else {
        const struct build_call *last = build_call_at(build, tail->first->last_call);
        where = g_strdup_printf(
            "%s:%" G_GUINT64_FORMAT ": rank %u's log of communicator %s ends "
            "here, at opCount %" G_GINT64_MODIFIER "x, before that of other ranks",
            build_call_path(build, last), last->said.line, member->comm_rank, comm->name,
            last->said.seq);
    }
    trace_build_warn(
        build,
        "%s: the last %u of its %u collectives, from opCount %" G_GINT64_MODIFIER
        "x on, are left out",
        where, n_left_out, n_ops, tail->seq);
}

/* Merges the collectives of one communicator into 'ops'. */
static gboolean
merge_comm(struct trace_build *build, const struct build_comm *comm,
           const uint32_t members[], GArray *ops, GError **error)
{
    const uint32_t n = comm->n_ranks;
    g_autofree struct cursor *cursors = g_new0(struct cursor, n);
    struct tail tail = {0};
    uint32_t n_ops = 0;

    for (uint32_t i = 0; i < n; i++) {
        cursors[i] = (struct cursor){.member = members[i], .last_call = BUILD_NONE};
        cursor_seek(build, &cursors[i], build_member_at(build, members[i])->first);
    }
    while (tail.first == NULL) {
        uint32_t lead = BUILD_NONE;
        for (uint32_t i = 0; i < n; i++) {
            if (cursors[i].call != BUILD_NONE &&
                (lead == BUILD_NONE ||
                 cursor_compare(build, comm, &cursors[i], &cursors[lead]) < 0)) {
                lead = i;
            }
        }
        if (lead == BUILD_NONE) {
            break;
        }
        if (!merge_one(build, comm, cursors, n, lead, ops, &tail, error)) {
            return FALSE;
        }
        n_ops++;
    }
    if (tail.first != NULL) {
        uint32_t n_rest = 0;
        for (uint32_t i = 0; i < n; i++) {
            n_rest = MAX(n_rest, count_rest(build, &cursors[i]));
        }
        warn_tail(build, comm, &tail, n_rest + 1, n_ops + n_rest);
    }
    return TRUE;
}

/* Sends and receives waiting for their other half, of one pair of ranks. */
struct meeting {
    GQueue calls; /* call index + 1; all sends or all receives */
};

static void
free_meeting(gpointer data)
{
    struct meeting *meeting = data;

    g_queue_clear(&meeting->calls);
    g_free(meeting);
}

static gboolean
check_p2p_bytes(const struct trace_build *build, const struct build_comm *comm,
                const struct build_call *a, const struct build_call *b, GError **error)
{
    if (a->said.count * trace_type_bytes(a->said.type) ==
        b->said.count * trace_type_bytes(b->said.type)) {
        return TRUE;
    }
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCONSISTENT,
                "%s:%" G_GUINT64_FORMAT ": communicator %s, opCount %" G_GINT64_MODIFIER
                "x: rank %u's %s with rank %d is of %" G_GINT64_FORMAT
                " bytes, but the other side (%s:%" G_GUINT64_FORMAT
                ") says %" G_GINT64_FORMAT,
                build_call_path(build, b), b->said.line, comm->name, b->said.seq,
                build_member_at(build, b->said.member)->comm_rank,
                trace_kind_name(b->said.kind), b->said.peer,
                b->said.count * trace_type_bytes(b->said.type), build_call_path(build, a),
                a->said.line, a->said.count * trace_type_bytes(a->said.type));
    return FALSE;
}

/* Pairs the sends and receives of one communicator into 'ops'. */
static gboolean
merge_p2p(struct trace_build *build, const struct build_comm *comm,
          const uint32_t members[], GArray *ops, GError **error)
{
    g_autoptr(GHashTable) meetings =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_meeting);
    uint32_t n_left_out = 0;

    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        uint32_t c = build_member_at(build, members[i])->first;
        for (; c != BUILD_NONE; c = build_call_at(build, c)->next_of_member) {
            struct build_call *call = build_call_at(build, c);
            if (!call_is_p2p(build, c)) {
                continue;
            }
            const bool is_send = call->said.kind == TRACE_SEND;
            const uint64_t from = is_send ? i : (uint64_t)call->said.peer;
            const uint64_t to = is_send ? (uint64_t)call->said.peer : i;
            const int64_t key = (int64_t)(from << 32 | to);
            struct meeting *meeting = g_hash_table_lookup(meetings, &key);
            if (meeting == NULL) {
                meeting = g_new0(struct meeting, 1);
                g_hash_table_insert(meetings, g_memdup2(&key, sizeof(key)), meeting);
            }
            const guint head = GPOINTER_TO_UINT(g_queue_peek_head(&meeting->calls));
            if (head == 0 ||
                build_call_at(build, head - 1)->said.kind == call->said.kind) {
                g_queue_push_tail(&meeting->calls, GUINT_TO_POINTER(c + 1));
                n_left_out++;
                continue;
            }
            g_queue_pop_head(&meeting->calls);
            n_left_out--;
            struct build_call *other = build_call_at(build, head - 1);
            if (!check_p2p_bytes(build, comm, other, call, error)) {
                return FALSE;
            }
            struct build_op op = {.first_call = head - 1,
                                  .n_calls = 1,
                                  .pair = ops->len + 1,
                                  .lead = head - 1,
                                  .kind = other->said.kind};
            other->op = ops->len;
            g_array_append_val(ops, op);
            op = (struct build_op){.first_call = c,
                                   .n_calls = 1,
                                   .pair = ops->len - 1,
                                   .lead = c,
                                   .kind = call->said.kind};
            call->op = ops->len;
            g_array_append_val(ops, op);
        }
    }
    if (n_left_out > 0) {
        trace_build_warn(
            build,
            "communicator %s: %u sends and receives have no other half in the log "
            "and are left out",
            comm->name, n_left_out);
    }
    return TRUE;
}

/* ---- one order of all -------------------------------------------------------------- */

/* The order of operations being found. */
struct ordering {
    struct trace_build *build;
    struct build_op *ops;
    uint32_t n_ops;
    uint32_t *head; /* [ranks] call that a rank waits at, BUILD_NONE at its end */
    GArray *order;  /* uint32_t, operations placed */
};

/* Skips what is left out or placed already, and arrives at the next operation. */
static void
advance_rank(struct ordering *ordering, uint32_t rank)
{
    uint32_t call = ordering->head[rank];

    while (call != BUILD_NONE) {
        const uint32_t op = build_call_at(ordering->build, call)->op;
        if (op != BUILD_NONE && ordering->ops[op].n_calls > 0 &&
            !ordering->ops[op].placed) {
            break;
        }
        call = build_call_at(ordering->build, call)->next_of_rank;
    }
    ordering->head[rank] = call;
    if (call != BUILD_NONE) {
        const uint32_t op = build_call_at(ordering->build, call)->op;
        if (++ordering->ops[op].arrived == ordering->ops[op].n_calls) {
            ordering->ops[op].placed = true;
            g_array_append_val(ordering->order, op);
        }
    }
}

/* Advances every rank that waits at 'op', which has been placed. */
static void
release_op(struct ordering *ordering, uint32_t op)
{
    struct trace_build *build = ordering->build;
    const struct build_op *merged = &ordering->ops[op];
    const struct build_member *first =
        build_member_at(build, build_call_at(build, merged->first_call)->said.member);
    const struct build_comm *comm = build_comm_at(build, first->comm);

    if (trace_kind_is_p2p(merged->kind)) {
        advance_rank(ordering, first->rank);
        return;
    }
    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        const guint member =
            GPOINTER_TO_UINT(g_hash_table_lookup(comm->member_of, GUINT_TO_POINTER(i)));
        const uint32_t rank = build_member_at(build, member - 1)->rank;
        const uint32_t head = ordering->head[rank];
        if (head != BUILD_NONE && build_call_at(build, head)->op == op) {
            advance_rank(ordering, rank);
        }
    }
}

struct by_lead {
    uint32_t lead, op;
};

static int
compare_lead(const void *a, const void *b)
{
    const struct by_lead *x = a, *y = b;

    return (x->lead > y->lead) - (x->lead < y->lead);
}

/* Fills 'ordering->order' with every operation to keep. */
static void
order_ops(struct ordering *ordering)
{
    const uint32_t n_ranks = ordering->build->ranks->len;
    g_autofree struct by_lead *leads = NULL;
    uint32_t n_keep = 0, done = 0, next_lead = 0, n_forced = 0;

    for (uint32_t i = 0; i < ordering->n_ops; i++) {
        n_keep += ordering->ops[i].n_calls > 0;
    }
    for (uint32_t r = 0; r < n_ranks; r++) {
        ordering->head[r] = build_rank_at(ordering->build, r)->first;
        advance_rank(ordering, r);
    }
    while (done < n_keep) {
        if (done < ordering->order->len) {
            release_op(ordering, g_array_index(ordering->order, uint32_t, done++));
            continue;
        }
        /* The ranks wait for each other: take what was read first. */
        if (leads == NULL) {
            leads = g_new(struct by_lead, ordering->n_ops);
            for (uint32_t i = 0; i < ordering->n_ops; i++) {
                leads[i] = (struct by_lead){ordering->ops[i].lead, i};
            }
            qsort(leads, ordering->n_ops, sizeof(leads[0]), compare_lead);
        }
        while (ordering->ops[leads[next_lead].op].placed ||
               ordering->ops[leads[next_lead].op].n_calls == 0) {
            next_lead++;
        }
        ordering->ops[leads[next_lead].op].placed = true;
        g_array_append_val(ordering->order, leads[next_lead].op);
        n_forced++;
    }
    if (n_forced > 0) {
        trace_build_warn(
            ordering->build,
            "ranks call the operations of several communicators in different orders "
            "(%u times); the order of the log is taken",
            n_forced);
    }
}

/* Cut lines that stand in for nothing: what they said is lost on every rank, or was not
 * needed. */
static void
warn_damages(struct trace_build *build)
{
    const struct build_damage *first = NULL;
    uint32_t n = 0;

    for (guint i = 0; i < build->damages->len; i++) {
        const struct build_damage *damage =
            &g_array_index(build->damages, struct build_damage, i);
        if (!damage->used) {
            first = first == NULL ? damage : first;
            n++;
        }
    }
    if (n > 0) {
        trace_build_warn(build,
                         "%s:%" G_GUINT64_FORMAT
                         ": cut line of an operation that no rank "
                         "shows whole (%u such lines): left out",
                         trace_build_path(build, first->file), first->line, n);
    }
}

gboolean
trace_merge_calls(struct trace_build *build, GArray *ops, GError **error)
{
    for (uint32_t c = 0; c < build->comms->len; c++) {
        const struct build_comm *comm = build_comm_at(build, c);
        if (comm->first_call == BUILD_NONE) {
            continue;
        }
        g_autofree uint32_t *members =
            check_members(build, comm, build_call_at(build, comm->first_call), error);
        if (members == NULL || !merge_comm(build, comm, members, ops, error) ||
            (comm->has_p2p && !merge_p2p(build, comm, members, ops, error))) {
            return FALSE;
        }
    }
    warn_damages(build);
    return TRUE;
}

void
trace_merge_order(struct trace_build *build, GArray *ops, GArray *order)
{
    g_autofree uint32_t *head = g_new(uint32_t, build->ranks->len);
    struct ordering ordering = {.build = build,
                                .ops = (struct build_op *)(void *)ops->data,
                                .n_ops = ops->len,
                                .head = head,
                                .order = order};

    order_ops(&ordering);
}
