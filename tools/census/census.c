/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * census.c - counts a trace, see census.h.
 */
#include <config.h>

#include "tools/census/census.h"

#include "topologies/paths.h"

/* How often the members of a communicator meet on each way. */
struct ways {
    bool known;
    uint64_t ring[CENSUS_N_WAYS]; /* links of all rings of all channels */
    bool has_pairs;
    uint64_t pairs[CENSUS_N_WAYS]; /* ordered pairs of ranks */
};

struct counting {
    struct census *census;
    const uint32_t *host_of; /* by rank, in the network or else of the trace */
    GHashTable *tops;        /* host + 1 -> uint8_t [hosts], owned */
    struct ways *ways;       /* by communicator */
};

/* ---- where two ranks meet ------------------------------------------------------------- */

static unsigned
way_of_hosts(struct counting *counting, uint32_t a, uint32_t b)
{
    const struct net *net = counting->census->net;
    uint8_t *top;

    if (a == b) {
        return CENSUS_WITHIN;
    }
    if (net == NULL) {
        return CENSUS_BETWEEN;
    }
    top = g_hash_table_lookup(counting->tops, GUINT_TO_POINTER(a + 1));
    if (top == NULL) {
        top = g_new(uint8_t, net->n_hosts);
        paths_find_tops(net, a, top);
        g_hash_table_insert(counting->tops, GUINT_TO_POINTER(a + 1), top);
    }
    return top[b] == PATHS_NONE ? CENSUS_NO_PATH : top[b] == 0 ? CENSUS_CABLE : top[b];
}

/* Of two ranks of 'comm', by their places in it. */
static unsigned
way_of(struct counting *counting, const struct trace_comm *comm, uint32_t a, uint32_t b)
{
    return way_of_hosts(counting, counting->host_of[comm->ranks[a]],
                        counting->host_of[comm->ranks[b]]);
}

/* ---- a communicator ------------------------------------------------------------------- */

static uint32_t
n_rings(const struct trace_comm *comm)
{
    return comm->rings != NULL ? comm->n_channels : 1;
}

/* The rank at place 'i' of ring 'channel'. */
static uint32_t
at_ring(const struct trace_comm *comm, uint32_t channel, uint32_t i)
{
    return comm->rings != NULL ? comm->rings[(size_t)channel * comm->n_ranks + i] : i;
}

static struct ways *
ways_of(struct counting *counting, uint32_t index)
{
    const struct trace_comm *comm = &counting->census->trace->comms[index];
    struct ways *ways = &counting->ways[index];

    if (!ways->known && comm->n_ranks > 1) {
        for (uint32_t c = 0; c < n_rings(comm); c++) {
            for (uint32_t i = 0; i < comm->n_ranks; i++) {
                ways->ring[way_of(counting, comm, at_ring(comm, c, i),
                                  at_ring(comm, c, (i + 1) % comm->n_ranks))]++;
            }
        }
    }
    ways->known = true;
    return ways;
}

/* Pairs of ranks by hosts: there may be a million ranks. */
static void
find_pairs(struct counting *counting, const struct trace_comm *comm, struct ways *ways)
{
    g_autoptr(GHashTable) place = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) n = g_array_new(FALSE, TRUE, sizeof(uint32_t));

    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        uint32_t host = counting->host_of[comm->ranks[i]];
        guint at =
            GPOINTER_TO_UINT(g_hash_table_lookup(place, GUINT_TO_POINTER(host + 1)));

        if (at == 0) {
            g_array_append_val(hosts, host);
            g_array_set_size(n, hosts->len);
            at = hosts->len;
            g_hash_table_insert(place, GUINT_TO_POINTER(host + 1), GUINT_TO_POINTER(at));
        }
        g_array_index(n, uint32_t, at - 1)++;
    }
    for (guint a = 0; a < hosts->len; a++) {
        uint64_t here = g_array_index(n, uint32_t, a);

        ways->pairs[CENSUS_WITHIN] += here * (here - 1);
        for (guint b = 0; b < hosts->len; b++) {
            if (a != b) {
                ways->pairs[way_of_hosts(counting, g_array_index(hosts, uint32_t, a),
                                         g_array_index(hosts, uint32_t, b))] +=
                    here * g_array_index(n, uint32_t, b);
            }
        }
    }
    ways->has_pairs = true;
}

/* ---- operations ----------------------------------------------------------------------- */

/* Adds what 'times' rounds of 'bytes' over the rings move, each ring its share. */
static void
add_rings(struct counting *counting, const struct trace_op *op, __int128 bytes)
{
    const struct trace_comm *comm = &counting->census->trace->comms[op->comm];
    const struct ways *ways = ways_of(counting, op->comm);

    for (unsigned w = 0; w < CENSUS_N_WAYS; w++) {
        counting->census->kinds[op->kind].traffic[w] +=
            bytes * ways->ring[w] / n_rings(comm) / comm->n_ranks;
    }
}

/* A broadcast leaves out the link of each ring that leads into the root, a reduce the one
 * that leads out of it. */
static void
add_chain(struct counting *counting, const struct trace_op *op)
{
    const struct trace_comm *comm = &counting->census->trace->comms[op->comm];
    struct census_kind *kind = &counting->census->kinds[op->kind];
    uint64_t links[CENSUS_N_WAYS];
    uint32_t n = comm->n_ranks;

    memcpy(links, ways_of(counting, op->comm)->ring, sizeof links);
    for (uint32_t c = 0; c < n_rings(comm); c++) {
        uint32_t i = 0;

        while (at_ring(comm, c, i) != (uint32_t)op->peer) {
            i++;
        }
        uint32_t other =
            at_ring(comm, c, (op->kind == TRACE_REDUCE ? i + 1 : i + n - 1) % n);

        links[op->kind == TRACE_REDUCE
                  ? way_of(counting, comm, (uint32_t)op->peer, other)
                  : way_of(counting, comm, other, (uint32_t)op->peer)]--;
    }
    for (unsigned w = 0; w < CENSUS_N_WAYS; w++) {
        kind->traffic[w] += (__int128)op->bytes * links[w] / n_rings(comm);
    }
}

static void
add_pairs(struct counting *counting, const struct trace_op *op)
{
    const struct trace_comm *comm = &counting->census->trace->comms[op->comm];
    struct ways *ways = ways_of(counting, op->comm);

    if (!ways->has_pairs) {
        find_pairs(counting, comm, ways);
    }
    for (unsigned w = 0; w < CENSUS_N_WAYS; w++) {
        counting->census->kinds[op->kind].traffic[w] +=
            (__int128)op->bytes * ways->pairs[w];
    }
}

static void
add_star(struct counting *counting, const struct trace_op *op)
{
    const struct trace_comm *comm = &counting->census->trace->comms[op->comm];
    uint32_t root = (uint32_t)op->peer;

    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        if (i != root) {
            unsigned way = op->kind == TRACE_GATHER ? way_of(counting, comm, i, root)
                                                    : way_of(counting, comm, root, i);

            counting->census->kinds[op->kind].traffic[way] += op->bytes;
        }
    }
}

static void
add_traffic(struct counting *counting, const struct trace_op *op)
{
    const struct trace_comm *comm = &counting->census->trace->comms[op->comm];
    __int128 n = comm->n_ranks;

    if (n < 2) {
        return;
    }
    switch (op->kind) {
    case TRACE_ALL_REDUCE: /* each of n links carries 2 (n - 1) / n of it */
        add_rings(counting, op, 2 * (n - 1) * op->bytes);
        break;
    case TRACE_ALL_GATHER: /* each link carries the shares of all ranks but one */
    case TRACE_REDUCE_SCATTER:
        add_rings(counting, op, n * (n - 1) * op->bytes);
        break;
    case TRACE_BROADCAST:
    case TRACE_REDUCE:
        add_chain(counting, op);
        break;
    case TRACE_ALL_TO_ALL:
        add_pairs(counting, op);
        break;
    case TRACE_GATHER:
    case TRACE_SCATTER:
        add_star(counting, op);
        break;
    case TRACE_SEND:
        counting->census->kinds[TRACE_SEND]
            .traffic[way_of(counting, comm, (uint32_t)op->rank, (uint32_t)op->peer)] +=
            op->bytes;
        break;
    case TRACE_RECV: /* the send's */
    case TRACE_COMPUTE:
    case TRACE_N_KINDS:
        break;
    }
}

static unsigned
size_bin(int64_t bytes)
{
    unsigned bin = 0;

    while (bin + 1 < CENSUS_N_SIZES && bytes >> bin > 0) {
        bin++;
    }
    return bin;
}

static void
add_op(struct counting *counting, const struct trace_op *op)
{
    struct census *census = counting->census;
    struct census_kind *kind = &census->kinds[op->kind];
    uint32_t n_ranks = trace_op_n_ranks(census->trace, op);

    kind->least_bytes = kind->n == 0 ? op->bytes : MIN(kind->least_bytes, op->bytes);
    kind->most_bytes = MAX(kind->most_bytes, op->bytes);
    kind->n++;
    kind->bytes += op->bytes;
    kind->time_ps += (__int128)op->duration_ps * n_ranks;
    kind->sizes[size_bin(op->bytes)]++;
    census->n_dependencies += op->n_after;
    for (uint32_t i = 0; op->has_time && i < n_ranks; i++) {
        int64_t at_ps = op->rank_times_ps[i];

        census->first_ps = census->has_times ? MIN(census->first_ps, at_ps) : at_ps;
        census->last_ps = census->has_times ? MAX(census->last_ps, at_ps) : at_ps;
        census->has_times = true;
    }
    add_traffic(counting, op);
}

void
census_take(struct census *census, const struct trace *trace, const struct net *net,
            const uint32_t host_of[])
{
    g_autoptr(GHashTable) tops = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_autofree struct ways *ways = g_new0(struct ways, trace->n_comms);
    g_autofree uint32_t *own = g_new(uint32_t, trace->n_ranks);
    struct counting counting = {.census = census,
                                .host_of = net != NULL ? host_of : own,
                                .tops = tops,
                                .ways = ways};

    *census = (struct census){.trace = trace, .net = net};
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        own[r] = trace->ranks[r].host;
    }
    for (size_t i = 0; i < trace->n_ops; i++) {
        add_op(&counting, &trace->ops[i]);
    }
}
