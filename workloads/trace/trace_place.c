/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_place.c - where ranks stand: their numbers in the job, their hosts, and their order
 * in the rings of a communicator.  Part of the builder (trace_build_private.h).
 *
 * Source: NCCL src/graph/rings.cc and connect.cc for what the rings' lines mean.
 * Invariant: hosts are numbered in order of their lowest rank.
 */
#include <config.h>

#include "workloads/trace/trace_build_private.h"

#include <string.h>

enum { MAX_TRIED = 16 }; /* communicators as numbering of all, until one is good; guess */

struct place {
    uint32_t comm_rank, rank;
};

/* ---- numbers of ranks -------------------------------------------------------------- */

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

    uint32_t n_tried = 0;

    for (uint32_t c = 0; c < build->comms->len && n_tried < MAX_TRIED; c++) {
        const struct build_comm *comm = build_comm_at(build, c);

        if (g_hash_table_size(comm->member_of) != n_ranks) {
            continue;
        }
        n_tried++;
        g_autofree struct place *places = g_new(struct place, n_ranks);
        uint32_t n = 0;
        for (uint32_t m = 0; m < build->members->len; m++) {
            const struct build_member *member = build_member_at(build, m);
            if (member->comm == c) {
                places[n++] = (struct place){member->comm_rank, member->rank};
            }
        }
        qsort(places, n, sizeof(places[0]), compare_place);
        memset(number, 0xff, n_ranks * sizeof(number[0]));
        bool good = true;
        for (uint32_t i = 0; i < n; i++) {
            good = good && number[places[i].rank] == BUILD_NONE;
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
        const int64_t said = build_rank_at(build, r)->number;

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
        const struct build_rank *rank = build_rank_at(build, r);
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
seat_ranks(const struct trace_build *build, const uint32_t number[], struct trace *trace)
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
        const struct build_rank *rank = build_rank_at(build, built[r]);
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

/* ---- rings ------------------------------------------------------------------------- */

/* The longest list said of 'channel', or NULL. */
static const struct build_list *
find_list(const struct build_comm *comm, uint32_t channel)
{
    const struct build_list *found = NULL;

    for (guint i = 0; i < comm->lists->len; i++) {
        const struct build_list *list = &g_array_index(comm->lists, struct build_list, i);
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
count_channels(const struct build_comm *comm)
{
    uint32_t n_channels = comm->n_channels;

    for (guint i = 0; i < comm->lists->len; i++) {
        n_channels =
            MAX(n_channels, g_array_index(comm->lists, struct build_list, i).channel + 1);
    }
    for (guint i = 0; i < comm->edges->len; i++) {
        n_channels =
            MAX(n_channels, g_array_index(comm->edges, struct build_edge, i).channel + 1);
    }
    return n_channels;
}

void
trace_place_ranks(struct trace_build *build, uint32_t number[], struct trace *trace)
{
    number_ranks(build, number);
    seat_ranks(build, number, trace);
}

void
trace_place_rings(struct trace_build *build, const struct build_comm *comm,
                  struct trace_comm *out)
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
        const struct build_edge *edge = &g_array_index(comm->edges, struct build_edge, i);
        next[(size_t)edge->channel * n_ranks + edge->rank] = edge->next;
    }
    for (uint32_t c = 0; c < out->n_channels; c++) {
        const struct build_list *list = find_list(comm, c);
        uint32_t *order = rings + (size_t)c * n_ranks;

        if (list != NULL && list->n == n_ranks && is_permutation(list->order, n_ranks)) {
            rotate_to_zero(list->order, n_ranks, order);
        } else if (!follow_links(next + (size_t)c * n_ranks, n_ranks, order)) {
            trace_build_warn(
                build,
                "communicator %s: the ring of channel %u is %s (%u of %u ranks), so "
                "no ring order is taken from the log; NCCL_DEBUG_SUBSYS with GRAPH "
                "has every rank print its part",
                comm->name, c,
                list == NULL        ? "missing"
                : list->n < n_ranks ? "cut"
                                    : "no ring",
                list == NULL ? 0 : (uint32_t)list->n, n_ranks);
            return;
        }
    }
    out->rings = g_steal_pointer(&rings);
}
