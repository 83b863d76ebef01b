/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_build.c - merges what single ranks called into the operations of a struct trace.
 * Readers fill it (trace_build.h), trace.c drives them; run once, at set-up.
 *
 * Collectives of a communicator are paired over its ranks by their counter, and among
 * equal counters (calls of one group, or a communicator of one rank) by their order.  A
 * communicator that also sends and receives counts differently on each rank; there the
 * order alone pairs, and kind, count and type have to agree.  Sends and receives of a
 * pair of ranks meet in order, as NCCL matches them.
 *
 * Source: NCCL src/enqueue.cc (what is counted and printed), as read for each format.
 * Invariant: a list of calls (of a member, of a rank) is in the order of that rank.
 */
#include <config.h>

#include "workloads/trace/trace_build.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

enum { MAX_WARNINGS = 20 };

static const uint32_t NONE = UINT32_MAX; /* no call, no operation */

struct call {
    struct trace_call said;
    uint32_t next_of_member, next_of_rank;
    uint32_t op; /* index into the merged operations, NONE: left out */
    uint8_t algo, proto, channel_lo, channel_hi;
    bool has_channels;
};

struct member {
    uint32_t comm, comm_rank, rank;
    uint32_t first, last; /* calls; NONE: none */
    uint32_t file;        /* that says so, with its line */
    uint64_t line;
};

struct rank {
    char *host; /* owned */
    uint32_t device;
    int64_t number; /* -1: not known */
    uint32_t first, last;
};

struct ring_list {
    uint32_t channel;
    uint32_t *order; /* owned */
    size_t n;
};

struct ring_edge {
    uint32_t channel, rank, next;
};

struct comm {
    char *name; /* owned */
    uint32_t n_ranks;
    GHashTable *member_of; /* comm_rank -> member + 1 */
    uint32_t n_channels;
    GArray *lists;       /* struct ring_list */
    GArray *edges;       /* struct ring_edge */
    uint32_t first_call; /* NONE: unused */
    bool has_p2p;
};

struct damage {
    uint32_t rank, file;
    uint64_t line, seq;
    enum trace_kind kind;
    bool used;
};

struct trace_build {
    GPtrArray *files;    /* char *, owned */
    GPtrArray *warnings; /* char *, owned */
    uint32_t n_warnings;
    GArray *ranks, *comms, *members, *calls, *damages;
    GHashTable *damages_of; /* rank + 1 -> index of its first damage + 1 */
    int64_t time_step_ps;
};

/* An operation being merged. */
struct merged {
    uint32_t first_call; /* of its lowest communicator rank */
    uint32_t n_calls;    /* how many ranks have it in their lists */
    uint32_t arrived;
    uint32_t pair;
    uint32_t lead; /* lowest call index: where it was first read */
    enum trace_kind kind;
    bool placed;
};

/* One rank of a communicator while its collectives are merged. */
struct cursor {
    uint32_t member, call; /* NONE: at the end */
    uint32_t occurrence;   /* among equal counters; or the position */
    uint32_t last_call;
};

struct place {
    uint32_t comm_rank, rank;
};

static void
free_list(gpointer data)
{
    g_free(((struct ring_list *)data)->order);
}

static struct call *
call_at(const struct trace_build *build, uint32_t index)
{
    return &g_array_index(build->calls, struct call, index);
}

static struct member *
member_at(const struct trace_build *build, uint32_t index)
{
    return &g_array_index(build->members, struct member, index);
}

static struct comm *
comm_at(const struct trace_build *build, uint32_t index)
{
    return &g_array_index(build->comms, struct comm, index);
}

static struct rank *
rank_at(const struct trace_build *build, uint32_t index)
{
    return &g_array_index(build->ranks, struct rank, index);
}

static const char *
call_path(const struct trace_build *build, const struct call *call)
{
    return trace_build_path(build, call->said.file);
}

/* ---- numbers of ranks ------------------------------------------------------------------ */

static int
compare_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return (x->comm_rank > y->comm_rank) - (x->comm_rank < y->comm_rank);
}

/* Numbers by the rank in the largest communicator, if every rank is in it. */
static bool
number_by_comm(const struct trace_build *build, uint32_t number[])
{
    const uint32_t n_ranks = build->ranks->len;

    for (uint32_t c = 0; c < build->comms->len; c++) {
        const struct comm *comm = comm_at(build, c);

        if (g_hash_table_size(comm->member_of) != n_ranks) {
            continue;
        }
        g_autofree struct place *places = g_new(struct place, n_ranks);
        uint32_t n = 0;
        for (uint32_t m = 0; m < build->members->len; m++) {
            const struct member *member = member_at(build, m);
            if (member->comm == c) {
                places[n++] = (struct place){member->comm_rank, member->rank};
            }
        }
        qsort(places, n, sizeof(places[0]), compare_place);
        memset(number, 0xff, n_ranks * sizeof(number[0]));
        bool good = true;
        for (uint32_t i = 0; i < n; i++) {
            good = good && number[places[i].rank] == NONE;
            number[places[i].rank] = i;
        }
        if (good) {
            return true;
        }
    }
    return false;
}

/* Numbers by what a launcher's prefix or the file names say, if they number all. */
static bool
number_by_hint(const struct trace_build *build, uint32_t number[])
{
    const uint32_t n_ranks = build->ranks->len;
    g_autofree bool *taken = g_new0(bool, n_ranks);

    for (uint32_t r = 0; r < n_ranks; r++) {
        const int64_t said = rank_at(build, r)->number;

        if (said < 0 || said >= n_ranks || taken[said]) {
            return false;
        }
        taken[said] = true;
        number[r] = (uint32_t)said;
    }
    return true;
}

struct seat {
    uint32_t host, device, rank;
};

static int
compare_seat(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;

    if (x->host != y->host) {
        return x->host < y->host ? -1 : 1;
    }
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Hosts as they come, GPUs as the host numbers them. */
static void
number_by_host(const struct trace_build *build, uint32_t number[])
{
    const uint32_t n_ranks = build->ranks->len;
    g_autofree struct seat *seats = g_new(struct seat, n_ranks);
    g_autoptr(GHashTable) hosts = g_hash_table_new(g_str_hash, g_str_equal);

    for (uint32_t r = 0; r < n_ranks; r++) {
        const struct rank *rank = rank_at(build, r);
        gpointer host = g_hash_table_lookup(hosts, rank->host);
        if (host == NULL) {
            host = GUINT_TO_POINTER(g_hash_table_size(hosts) + 1);
            g_hash_table_insert(hosts, rank->host, host);
        }
        seats[r] = (struct seat){GPOINTER_TO_UINT(host), rank->device, r};
    }
    qsort(seats, n_ranks, sizeof(seats[0]), compare_seat);
    for (uint32_t i = 0; i < n_ranks; i++) {
        number[seats[i].rank] = i;
    }
}

/* Fills 'number[]', the rank of the job of each rank as built. */
static void
number_ranks(struct trace_build *build, uint32_t number[])
{
    if (number_by_comm(build, number) || number_by_hint(build, number)) {
        return;
    }
    number_by_host(build, number);
    trace_build_warn(build,
                     "no communicator holds all %u ranks and no prefix numbers them: "
                     "numbered by host and GPU in the order of the log",
                     build->ranks->len);
}

/* Hosts in order of their lowest rank. */
static void
place_ranks(const struct trace_build *build, const uint32_t number[], struct trace *trace)
{
    const uint32_t n_ranks = build->ranks->len;
    g_autofree uint32_t *built = g_new(uint32_t, n_ranks);
    g_autoptr(GHashTable) index_of = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();
    g_autoptr(GArray) n_local = g_array_new(FALSE, TRUE, sizeof(uint32_t));

    for (uint32_t r = 0; r < n_ranks; r++) {
        built[number[r]] = r;
    }
    trace->n_ranks = n_ranks;
    trace->ranks = g_new0(struct trace_rank, n_ranks);
    for (uint32_t r = 0; r < n_ranks; r++) {
        const struct rank *rank = rank_at(build, built[r]);
        gpointer host = g_hash_table_lookup(index_of, rank->host);

        if (host == NULL) {
            g_ptr_array_add(hosts, g_strdup(rank->host));
            g_array_set_size(n_local, hosts->len);
            host = GUINT_TO_POINTER(hosts->len);
            g_hash_table_insert(index_of, rank->host, host);
        }
        trace->ranks[r].host = GPOINTER_TO_UINT(host) - 1;
        trace->ranks[r].local = g_array_index(n_local, uint32_t, trace->ranks[r].host)++;
        trace->ranks[r].device = rank->device;
    }
    trace->n_hosts = hosts->len;
    g_ptr_array_add(hosts, NULL);
    trace->hosts = (char **)g_ptr_array_free(g_steal_pointer(&hosts), FALSE);
}

/* ---- rings ----------------------------------------------------------------------------- */

/* The longest list said of 'channel', or NULL. */
static const struct ring_list *
find_list(const struct comm *comm, uint32_t channel)
{
    const struct ring_list *found = NULL;

    for (guint i = 0; i < comm->lists->len; i++) {
        const struct ring_list *list = &g_array_index(comm->lists, struct ring_list, i);
        if (list->channel == channel) {
            found = list;
        }
    }
    return found;
}

/* True if 'order[n_ranks]' names each rank once. */
static bool
is_permutation(const uint32_t order[], uint32_t n_ranks)
{
    g_autofree bool *seen = g_new0(bool, n_ranks);

    for (uint32_t i = 0; i < n_ranks; i++) {
        if (order[i] >= n_ranks || seen[order[i]]) {
            return false;
        }
        seen[order[i]] = true;
    }
    return true;
}

/* Writes the ring of a channel that 'next[n_ranks]' links, beginning at 0. */
static bool
follow_links(const uint32_t next[], uint32_t n_ranks, uint32_t order[])
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < n_ranks; i++) {
        order[i] = at;
        at = next[at];
        if (at >= n_ranks) {
            return false;
        }
    }
    return at == 0 && is_permutation(order, n_ranks);
}

static void
rotate_to_zero(const uint32_t from[], uint32_t n_ranks, uint32_t order[])
{
    uint32_t zero = 0;

    while (from[zero] != 0) {
        zero++;
    }
    for (uint32_t i = 0; i < n_ranks; i++) {
        order[i] = from[(zero + i) % n_ranks];
    }
}

static uint32_t
count_channels(const struct comm *comm)
{
    uint32_t n_channels = comm->n_channels;

    for (guint i = 0; i < comm->lists->len; i++) {
        n_channels =
            MAX(n_channels, g_array_index(comm->lists, struct ring_list, i).channel + 1);
    }
    for (guint i = 0; i < comm->edges->len; i++) {
        n_channels =
            MAX(n_channels, g_array_index(comm->edges, struct ring_edge, i).channel + 1);
    }
    return n_channels;
}

/* Fills 'rings' of 'out' from whole lists, else from the links of single ranks. */
static void
build_rings(struct trace_build *build, const struct comm *comm, struct trace_comm *out)
{
    const uint32_t n_ranks = comm->n_ranks;

    out->n_channels = count_channels(comm);
    if (comm->lists->len == 0 && comm->edges->len == 0) {
        return;
    }
    g_autofree uint32_t *rings = g_new0(uint32_t, (size_t)out->n_channels * n_ranks);
    g_autofree uint32_t *next = g_new(uint32_t, (size_t)out->n_channels * n_ranks);
    memset(next, 0xff, (size_t)out->n_channels * n_ranks * sizeof(next[0]));
    for (guint i = 0; i < comm->edges->len; i++) {
        const struct ring_edge *edge = &g_array_index(comm->edges, struct ring_edge, i);
        next[(size_t)edge->channel * n_ranks + edge->rank] = edge->next;
    }
    for (uint32_t c = 0; c < out->n_channels; c++) {
        const struct ring_list *list = find_list(comm, c);
        uint32_t *order = rings + (size_t)c * n_ranks;

        if (list != NULL && list->n == n_ranks && is_permutation(list->order, n_ranks)) {
            rotate_to_zero(list->order, n_ranks, order);
        } else if (!follow_links(next + (size_t)c * n_ranks, n_ranks, order)) {
            trace_build_warn(
                build,
                "communicator %s: the ring of channel %u is %s (%u of %u ranks), so "
                "no ring order is taken from the log; NCCL_DEBUG_SUBSYS with GRAPH "
                "has every rank print its part",
                comm->name, c, list == NULL ? "missing" : "cut",
                list == NULL ? 0 : (uint32_t)list->n, n_ranks);
            return;
        }
    }
    out->rings = g_steal_pointer(&rings);
}

/* ---- pairing calls --------------------------------------------------------------------- */

static void
set_missing(GError **error, const struct trace_build *build, const struct comm *comm,
            uint32_t comm_rank, const struct call *other)
{
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCOMPLETE,
                "%s:%" G_GUINT64_FORMAT
                ": rank %u of communicator %s did not log the %s of "
                "opCount %" G_GINT64_MODIFIER
                "x that rank %u logged here, though it logged later "
                "ones; the log has lost lines",
                call_path(build, other), other->said.line, comm_rank, comm->name,
                trace_kind_name(other->said.kind), other->said.seq,
                member_at(build, other->said.member)->comm_rank);
}

static bool
calls_agree(const struct call *a, const struct call *b)
{
    return a->said.kind == b->said.kind && a->said.count == b->said.count &&
           a->said.type == b->said.type &&
           (!trace_kind_has_redop(a->said.kind) || a->said.redop == b->said.redop) &&
           (!trace_kind_has_root(a->said.kind) || a->said.peer == b->said.peer);
}

static void
set_disagreement(GError **error, const struct trace_build *build, const struct comm *comm,
                 const struct call *a, const struct call *b)
{
    g_set_error(
        error, TRACE_ERROR, TRACE_ERROR_INCONSISTENT,
        "%s:%" G_GUINT64_FORMAT ": communicator %s, opCount %" G_GINT64_MODIFIER
        "x: rank %u calls %s count %" G_GINT64_FORMAT " %s %s root %d, but rank %u "
        "(%s:%" G_GUINT64_FORMAT ") calls %s count %" G_GINT64_FORMAT
        " %s %s root %d; all ranks must call the same",
        call_path(build, b), b->said.line, comm->name, b->said.seq,
        member_at(build, b->said.member)->comm_rank, trace_kind_name(b->said.kind),
        b->said.count, trace_type_name(b->said.type), trace_redop_name(b->said.redop),
        b->said.peer, member_at(build, a->said.member)->comm_rank, call_path(build, a),
        a->said.line, trace_kind_name(a->said.kind), a->said.count,
        trace_type_name(a->said.type), trace_redop_name(a->said.redop), a->said.peer);
}

static bool
call_is_p2p(const struct trace_build *build, uint32_t index)
{
    return trace_kind_is_p2p(call_at(build, index)->said.kind);
}

/* Moves to the next collective at or after 'call'. */
static void
cursor_seek(const struct trace_build *build, struct cursor *cursor, uint32_t call)
{
    while (call != NONE && call_is_p2p(build, call)) {
        call = call_at(build, call)->next_of_member;
    }
    cursor->call = call;
}

/* FALSE if the counter goes back. */
static gboolean
cursor_next(const struct trace_build *build, const struct comm *comm,
            struct cursor *cursor, GError **error)
{
    const struct call *old = call_at(build, cursor->call);

    cursor->last_call = cursor->call;
    cursor_seek(build, cursor, old->next_of_member);
    if (comm->has_p2p) {
        cursor->occurrence++;
        return TRUE;
    }
    if (cursor->call == NONE) {
        return TRUE;
    }
    const struct call *call = call_at(build, cursor->call);
    cursor->occurrence = call->said.seq == old->said.seq ? cursor->occurrence + 1 : 0;
    if (call->said.seq < old->said.seq) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCONSISTENT,
                    "%s:%" G_GUINT64_FORMAT ": opCount of communicator %s goes back from "
                    "%" G_GINT64_MODIFIER "x (%s:%" G_GUINT64_FORMAT
                    ") to %" G_GINT64_MODIFIER
                    "x on rank %u; are these the logs of two runs?",
                    call_path(build, call), call->said.line, comm->name, old->said.seq,
                    call_path(build, old), old->said.line, call->said.seq,
                    member_at(build, cursor->member)->comm_rank);
        return FALSE;
    }
    return TRUE;
}

/* Order of what two cursors stand at: -1, 0, 1. */
static int
cursor_compare(const struct trace_build *build, const struct comm *comm,
               const struct cursor *a, const struct cursor *b)
{
    const uint64_t x = comm->has_p2p ? 0 : call_at(build, a->call)->said.seq;
    const uint64_t y = comm->has_p2p ? 0 : call_at(build, b->call)->said.seq;

    if (x != y) {
        return x < y ? -1 : 1;
    }
    return (a->occurrence > b->occurrence) - (a->occurrence < b->occurrence);
}

/* Takes a cut line of 'rank' that may be the call that 'other' shows, if there is one. */
static struct damage *
take_damage(const struct trace_build *build, uint32_t rank, const struct call *other)
{
    const guint first = GPOINTER_TO_UINT(
        g_hash_table_lookup(build->damages_of, GUINT_TO_POINTER(rank + 1)));

    if (first == 0) {
        return NULL;
    }
    for (guint i = first - 1; i < build->damages->len; i++) {
        struct damage *damage = &g_array_index(build->damages, struct damage, i);
        if (damage->rank == rank && !damage->used &&
            (damage->kind == other->said.kind || damage->kind == TRACE_N_KINDS) &&
            (damage->seq == other->said.seq || damage->seq == TRACE_ANY_SEQ)) {
            damage->used = true;
            return damage;
        }
    }
    return NULL;
}

/* Operations at the end that some rank's log does not reach. */
struct tail {
    uint32_t n_left_out;
    const struct cursor *first; /* a rank whose log ends before the others' */
    uint64_t seq;
};

/* Checks that 'cursors[n]' at the lowest counter agree with 'lead'; 'merged' becomes the
 * operation or, if a rank's log ended before, is counted in 'tail'. */
static gboolean
merge_one(struct trace_build *build, const struct comm *comm, struct cursor cursors[],
          uint32_t n, uint32_t lead, GArray *ops, struct tail *tail, GError **error)
{
    const struct cursor at = cursors[lead];
    const struct call *first = call_at(build, at.call);
    struct merged op = {
        .first_call = at.call, .pair = NONE, .lead = at.call, .kind = first->said.kind};
    const struct cursor *ended = NULL;

    for (uint32_t i = 0; i < n; i++) {
        struct cursor *cursor = &cursors[i];
        const struct member *member = member_at(build, cursor->member);

        if (cursor->call != NONE && cursor_compare(build, comm, cursor, &at) == 0) {
            struct call *call = call_at(build, cursor->call);
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
        const struct damage *damage = take_damage(build, member->rank, first);
        if (damage != NULL) {
            trace_build_warn(
                build,
                "%s:%" G_GUINT64_FORMAT ": cut line taken as rank %u's %s of "
                "opCount %" G_GINT64_MODIFIER "x of communicator %s, which the other "
                "ranks show",
                trace_build_path(build, damage->file), damage->line, i,
                trace_kind_name(op.kind), first->said.seq, comm->name);
        } else if (cursor->call == NONE) {
            ended = cursor;
        } else {
            set_missing(error, build, comm, i, first);
            return FALSE;
        }
    }
    if (ended != NULL || tail->first != NULL) {
        if (tail->first == NULL) {
            tail->first = ended;
            tail->seq = first->said.seq;
        }
        tail->n_left_out++;
        op.n_calls = 0; /* so that it is never placed */
    }
    g_array_append_val(ops, op);
    return TRUE;
}

/* The members of 'comm' in order of rank, or NULL if the log lacks one; 'some' is one of
 * its calls. */
static uint32_t *
check_members(const struct trace_build *build, const struct comm *comm,
              const struct call *some, GError **error)
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
                call_path(build, some), some->said.line, comm->name, comm->n_ranks,
                n_known, i);
            return NULL;
        }
        if (i < n_known) {
            members[i] = found - 1;
        }
    }
    return g_steal_pointer(&members);
}

static void
warn_tail(struct trace_build *build, const struct comm *comm, const struct tail *tail,
          uint32_t n_ops)
{
    const struct member *member = member_at(build, tail->first->member);
    g_autofree char *where = NULL;

    if (tail->first->last_call == NONE) {
        where = g_strdup_printf("%s:%" G_GUINT64_FORMAT ": rank %u logs no collective of "
                                "communicator %s",
                                trace_build_path(build, member->file), member->line,
                                member->comm_rank, comm->name);
    } else {
        const struct call *last = call_at(build, tail->first->last_call);
        where = g_strdup_printf(
            "%s:%" G_GUINT64_FORMAT ": rank %u's log of communicator %s ends "
            "here, at opCount %" G_GINT64_MODIFIER "x, before that of other ranks",
            call_path(build, last), last->said.line, member->comm_rank, comm->name,
            last->said.seq);
    }
    trace_build_warn(
        build,
        "%s: the last %u of its %u collectives, from opCount %" G_GINT64_MODIFIER
        "x on, are left out",
        where, tail->n_left_out, n_ops, tail->seq);
}

/* Merges the collectives of one communicator into 'ops'. */
static gboolean
merge_comm(struct trace_build *build, const struct comm *comm, const uint32_t members[],
           GArray *ops, GError **error)
{
    const uint32_t n = comm->n_ranks;
    g_autofree struct cursor *cursors = g_new0(struct cursor, n);
    struct tail tail = {0};
    uint32_t n_ops = 0;

    for (uint32_t i = 0; i < n; i++) {
        cursors[i] = (struct cursor){.member = members[i], .last_call = NONE};
        cursor_seek(build, &cursors[i], member_at(build, members[i])->first);
    }
    for (;;) {
        uint32_t lead = NONE;
        for (uint32_t i = 0; i < n; i++) {
            if (cursors[i].call != NONE &&
                (lead == NONE ||
                 cursor_compare(build, comm, &cursors[i], &cursors[lead]) < 0)) {
                lead = i;
            }
        }
        if (lead == NONE) {
            break;
        }
        if (!merge_one(build, comm, cursors, n, lead, ops, &tail, error)) {
            return FALSE;
        }
        n_ops++;
    }
    if (tail.first != NULL) {
        warn_tail(build, comm, &tail, n_ops);
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
check_p2p_bytes(const struct trace_build *build, const struct comm *comm,
                const struct call *a, const struct call *b, GError **error)
{
    if (a->said.count * trace_type_bytes(a->said.type) ==
        b->said.count * trace_type_bytes(b->said.type)) {
        return TRUE;
    }
    g_set_error(
        error, TRACE_ERROR, TRACE_ERROR_INCONSISTENT,
        "%s:%" G_GUINT64_FORMAT ": communicator %s, opCount %" G_GINT64_MODIFIER
        "x: rank %u's %s with rank %d is of %" G_GINT64_FORMAT
        " bytes, but the other side (%s:%" G_GUINT64_FORMAT ") says %" G_GINT64_FORMAT,
        call_path(build, b), b->said.line, comm->name, b->said.seq,
        member_at(build, b->said.member)->comm_rank, trace_kind_name(b->said.kind),
        b->said.peer, b->said.count * trace_type_bytes(b->said.type), call_path(build, a),
        a->said.line, a->said.count * trace_type_bytes(a->said.type));
    return FALSE;
}

/* Pairs the sends and receives of one communicator into 'ops'. */
static gboolean
merge_p2p(struct trace_build *build, const struct comm *comm, const uint32_t members[],
          GArray *ops, GError **error)
{
    g_autoptr(GHashTable) meetings =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_meeting);
    uint32_t n_left_out = 0;

    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        uint32_t c = member_at(build, members[i])->first;
        for (; c != NONE; c = call_at(build, c)->next_of_member) {
            struct call *call = call_at(build, c);
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
            if (head == 0 || call_at(build, head - 1)->said.kind == call->said.kind) {
                g_queue_push_tail(&meeting->calls, GUINT_TO_POINTER(c + 1));
                n_left_out++;
                continue;
            }
            g_queue_pop_head(&meeting->calls);
            n_left_out--;
            struct call *other = call_at(build, head - 1);
            if (!check_p2p_bytes(build, comm, other, call, error)) {
                return FALSE;
            }
            struct merged op = {.first_call = head - 1,
                                .n_calls = 1,
                                .pair = ops->len + 1,
                                .lead = head - 1,
                                .kind = other->said.kind};
            other->op = ops->len;
            g_array_append_val(ops, op);
            op = (struct merged){.first_call = c,
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

/* ---- one order of all ------------------------------------------------------------------ */

/* The order of operations being found. */
struct ordering {
    struct trace_build *build;
    struct merged *ops;
    uint32_t n_ops;
    uint32_t *head; /* [ranks] call that a rank waits at, NONE at its end */
    GArray *order;  /* uint32_t, operations placed */
};

/* Skips what is left out or placed already, and arrives at the next operation. */
static void
advance_rank(struct ordering *ordering, uint32_t rank)
{
    uint32_t call = ordering->head[rank];

    while (call != NONE) {
        const uint32_t op = call_at(ordering->build, call)->op;
        if (op != NONE && ordering->ops[op].n_calls > 0 && !ordering->ops[op].placed) {
            break;
        }
        call = call_at(ordering->build, call)->next_of_rank;
    }
    ordering->head[rank] = call;
    if (call != NONE) {
        const uint32_t op = call_at(ordering->build, call)->op;
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
    const struct merged *merged = &ordering->ops[op];
    const struct member *first =
        member_at(build, call_at(build, merged->first_call)->said.member);
    const struct comm *comm = comm_at(build, first->comm);

    if (trace_kind_is_p2p(merged->kind)) {
        advance_rank(ordering, first->rank);
        return;
    }
    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        const guint member =
            GPOINTER_TO_UINT(g_hash_table_lookup(comm->member_of, GUINT_TO_POINTER(i)));
        const uint32_t rank = member_at(build, member - 1)->rank;
        const uint32_t head = ordering->head[rank];
        if (head != NONE && call_at(build, head)->op == op) {
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
        ordering->head[r] = rank_at(ordering->build, r)->first;
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

/* ---- times ----------------------------------------------------------------------------- */

/* FALSE if stamps of a rank go back (a clock was set) or span too long: then none is used. */
static bool
check_times(struct trace_build *build, int64_t *first_ns)
{
    int64_t min_ns = INT64_MAX, max_ns = INT64_MIN;

    for (uint32_t r = 0; r < build->ranks->len; r++) {
        int64_t last_ns = INT64_MIN;
        for (uint32_t c = rank_at(build, r)->first; c != NONE;
             c = call_at(build, c)->next_of_rank) {
            const struct call *call = call_at(build, c);
            if (!call->said.has_time) {
                continue;
            }
            if (call->said.time_ns < last_ns) {
                trace_build_warn(build,
                                 "%s:%" G_GUINT64_FORMAT
                                 ": the time stamp goes back (clock set, or "
                                 "summer time ended): no time stamp is used",
                                 call_path(build, call), call->said.line);
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
            const struct merged merged[], struct trace *trace)
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
                : comm_at(
                      build,
                      member_at(build,
                                call_at(build, merged[order[i]].first_call)->said.member)
                          ->comm)
                      ->n_ranks;
    }
    trace->times_ps = g_new(int64_t, n_times);
    for (at = 0; at < n_times; at++) {
        trace->times_ps[at] = INT64_MIN;
    }
    for (uint32_t c = 0; c < build->calls->len; c++) {
        const struct call *call = call_at(build, c);
        if (call->op == NONE || merged[call->op].n_calls == 0) {
            continue;
        }
        const uint32_t i = final[call->op];
        const uint32_t comm_rank = member_at(build, call->said.member)->comm_rank;
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

/* ---- the trace ------------------------------------------------------------------------- */

/* Fills 'trace->comms' with those that all of the log's ranks know, in the order of the
 * log; 'index_of[]' gives their places. */
static void
build_comms(struct trace_build *build, const uint32_t number[], uint32_t index_of[],
            struct trace *trace)
{
    trace->comms = g_new0(struct trace_comm, build->comms->len);
    for (uint32_t c = 0; c < build->comms->len; c++) {
        const struct comm *comm = comm_at(build, c);

        if (g_hash_table_size(comm->member_of) != comm->n_ranks) {
            continue;
        }
        index_of[c] = trace->n_comms;
        struct trace_comm *out = &trace->comms[trace->n_comms++];
        out->name = g_strdup(comm->name);
        out->n_ranks = comm->n_ranks;
        out->ranks = g_new(uint32_t, comm->n_ranks);
        build_rings(build, comm, out);
    }
    for (uint32_t m = 0; m < build->members->len; m++) {
        const struct member *member = member_at(build, m);
        const struct comm *comm = comm_at(build, member->comm);
        if (g_hash_table_size(comm->member_of) == comm->n_ranks) {
            trace->comms[index_of[member->comm]].ranks[member->comm_rank] =
                number[member->rank];
        }
    }
}

/* What the library chose: the first rank that says it. */
static void
tune_ops(const struct trace_build *build, const uint32_t final[],
         const struct merged merged[], struct trace *trace)
{
    for (uint32_t c = 0; c < build->calls->len; c++) {
        const struct call *call = call_at(build, c);
        if (call->op == NONE || merged[call->op].n_calls == 0 ||
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
build_ops(struct trace_build *build, const uint32_t order[], const struct merged merged[],
          uint32_t n_merged, const uint32_t index_of[], struct trace *trace)
{
    g_autofree uint32_t *final = g_new0(uint32_t, MAX(n_merged, 1));

    trace->ops = g_new0(struct trace_op, trace->n_ops);
    for (size_t i = 0; i < trace->n_ops; i++) {
        final[order[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < trace->n_ops; i++) {
        const struct merged *from = &merged[order[i]];
        const struct trace_call *said = &call_at(build, from->first_call)->said;
        const struct member *member = member_at(build, said->member);
        const bool is_p2p = trace_kind_is_p2p(said->kind);

        trace->ops[i] = (struct trace_op){
            .kind = said->kind,
            .type = said->type,
            .redop = said->redop,
            .comm = index_of[member->comm],
            .rank = is_p2p ? (int32_t)member->comm_rank : TRACE_NO_RANK,
            .peer =
                is_p2p || trace_kind_has_root(said->kind) ? said->peer : TRACE_NO_RANK,
            .pair = from->pair == NONE ? TRACE_NO_PAIR : (int64_t) final[from->pair],
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

/* Merges every communicator that is used into 'ops'. */
static gboolean
merge_all(struct trace_build *build, GArray *ops, GError **error)
{
    for (uint32_t c = 0; c < build->comms->len; c++) {
        const struct comm *comm = comm_at(build, c);
        if (comm->first_call == NONE) {
            continue;
        }
        g_autofree uint32_t *members =
            check_members(build, comm, call_at(build, comm->first_call), error);
        if (members == NULL || !merge_comm(build, comm, members, ops, error) ||
            !merge_p2p(build, comm, members, ops, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Cut lines that stand in for nothing: what they said is lost on every rank, or was not
 * needed. */
static void
warn_damages(struct trace_build *build)
{
    const struct damage *first = NULL;
    uint32_t n = 0;

    for (guint i = 0; i < build->damages->len; i++) {
        const struct damage *damage = &g_array_index(build->damages, struct damage, i);
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
    build->ranks = g_array_new(FALSE, FALSE, sizeof(struct rank));
    build->comms = g_array_new(FALSE, FALSE, sizeof(struct comm));
    build->members = g_array_new(FALSE, FALSE, sizeof(struct member));
    build->calls = g_array_new(FALSE, FALSE, sizeof(struct call));
    build->damages = g_array_new(FALSE, FALSE, sizeof(struct damage));
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
        g_free(rank_at(build, i)->host);
    }
    for (guint i = 0; i < build->comms->len; i++) {
        struct comm *comm = comm_at(build, i);
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
    const struct rank new = {g_strdup(host), device, number, NONE, NONE};
    g_array_append_val(build->ranks, new);
    *rank = build->ranks->len - 1;
    return TRUE;
}

uint32_t
trace_build_n_ranks(const struct trace_build *build)
{
    return build->ranks->len;
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
    struct comm new = {.name = g_strdup(name),
                       .n_ranks = (uint32_t)n_ranks,
                       .member_of = g_hash_table_new(NULL, NULL),
                       .first_call = NONE,
                       .lists = g_array_new(FALSE, FALSE, sizeof(struct ring_list)),
                       .edges = g_array_new(FALSE, FALSE, sizeof(struct ring_edge))};
    g_array_set_clear_func(new.lists, free_list);
    g_array_append_val(build->comms, new);
    *comm = build->comms->len - 1;
    return TRUE;
}

uint32_t
trace_build_comm_n_ranks(const struct trace_build *build, uint32_t comm)
{
    return comm_at(build, comm)->n_ranks;
}

gboolean
trace_build_member(struct trace_build *build, uint32_t comm, int64_t comm_rank,
                   uint32_t rank, uint32_t file, uint64_t line, const char *hint,
                   uint32_t *member, GError **error)
{
    struct comm *in = comm_at(build, comm);

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
    if (old != 0 && member_at(build, old - 1)->rank != rank) {
        const struct member *other = member_at(build, old - 1);
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
    const struct member new = {comm, (uint32_t)comm_rank, rank, NONE, NONE, file, line};
    g_array_append_val(build->members, new);
    *member = build->members->len - 1;
    g_hash_table_insert(in->member_of, GUINT_TO_POINTER((guint)comm_rank),
                        GUINT_TO_POINTER(*member + 1));
    return TRUE;
}

uint32_t
trace_build_member_comm(const struct trace_build *build, uint32_t member)
{
    return member_at(build, member)->comm;
}

uint32_t
trace_build_member_rank(const struct trace_build *build, uint32_t member)
{
    return member_at(build, member)->rank;
}

void
trace_build_channels(struct trace_build *build, uint32_t comm, uint32_t n_channels)
{
    if (n_channels >= 1 && n_channels <= TRACE_MAX_CHANNELS) {
        comm_at(build, comm)->n_channels = n_channels;
    }
}

void
trace_build_ring(struct trace_build *build, uint32_t comm, uint32_t channel,
                 const uint32_t *order, size_t n)
{
    struct comm *in = comm_at(build, comm);

    if (channel >= TRACE_MAX_CHANNELS || n > in->n_ranks) {
        return;
    }
    for (guint i = 0; i < in->lists->len; i++) {
        struct ring_list *old = &g_array_index(in->lists, struct ring_list, i);
        if (old->channel == channel) {
            g_free(old->order);
            old->order = g_memdup2(order, n * sizeof(order[0]));
            old->n = n;
            return;
        }
    }
    const struct ring_list list = {channel, g_memdup2(order, n * sizeof(order[0])), n};
    g_array_append_val(in->lists, list);
}

void
trace_build_ring_next(struct trace_build *build, uint32_t comm, uint32_t channel,
                      uint32_t rank, uint32_t next)
{
    struct comm *in = comm_at(build, comm);

    if (channel < TRACE_MAX_CHANNELS && rank < in->n_ranks && next < in->n_ranks) {
        const struct ring_edge edge = {channel, rank, next};
        g_array_append_val(in->edges, edge);
    }
}

gboolean
trace_build_call(struct trace_build *build, const struct trace_call *call,
                 uint32_t *index, GError **error)
{
    struct member *member = member_at(build, call->member);
    struct rank *rank = rank_at(build, member->rank);
    struct comm *comm = comm_at(build, member->comm);
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
    const struct call new = {.said = *call,
                             .next_of_member = NONE,
                             .next_of_rank = NONE,
                             .op = NONE,
                             .algo = TRACE_ALGO_UNKNOWN,
                             .proto = TRACE_PROTO_UNKNOWN};
    *index = build->calls->len;
    g_array_append_val(build->calls, new);
    if (member->first == NONE) {
        member->first = *index;
    } else {
        call_at(build, member->last)->next_of_member = *index;
    }
    member->last = *index;
    if (rank->first == NONE) {
        rank->first = *index;
    } else {
        call_at(build, rank->last)->next_of_rank = *index;
    }
    rank->last = *index;
    if (comm->first_call == NONE) {
        comm->first_call = *index;
    }
    comm->has_p2p = comm->has_p2p || is_p2p;
    return TRUE;
}

void
trace_build_tune(struct trace_build *build, uint32_t index, enum trace_algo algo,
                 enum trace_proto proto, int64_t channel_lo, int64_t channel_hi)
{
    struct call *call = call_at(build, index);

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
    const struct damage damage = {rank, file, line, seq, kind, false};

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

struct trace *
trace_build_finish(struct trace_build *build, GError **error)
{
    g_autoptr(GArray) merged = g_array_new(FALSE, FALSE, sizeof(struct merged));
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    const uint32_t n_ranks = build->ranks->len;

    if (!check_has_calls(build, error) || !merge_all(build, merged, error)) {
        return NULL;
    }
    g_autofree uint32_t *head = g_new(uint32_t, n_ranks);
    struct ordering ordering = {.build = build,
                                .ops = (struct merged *)(void *)merged->data,
                                .n_ops = merged->len,
                                .head = head,
                                .order = order};
    order_ops(&ordering);
    warn_damages(build);
    if (order->len == 0) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCOMPLETE,
                    "no operation is in the log of all its ranks: %s",
                    (char *)g_ptr_array_index(build->warnings, 0));
        return NULL;
    }

    struct trace *trace = g_new0(struct trace, 1);
    g_autofree uint32_t *number = g_new(uint32_t, n_ranks);
    g_autofree uint32_t *index_of = g_new0(uint32_t, build->comms->len);
    const uint32_t *placed = (const uint32_t *)(const void *)order->data;
    trace->n_ops = order->len;
    number_ranks(build, number);
    place_ranks(build, number, trace);
    build_comms(build, number, index_of, trace);
    build_ops(build, placed, ordering.ops, merged->len, index_of, trace);
    build_times(build, placed, ordering.ops, trace);
    if (build->n_warnings > MAX_WARNINGS) {
        g_ptr_array_add(
            build->warnings,
            g_strdup_printf("and %u more warnings", build->n_warnings - MAX_WARNINGS));
    }
    steal_strings(&build->files, &trace->files);
    steal_strings(&build->warnings, &trace->warnings);
    return trace;
}
