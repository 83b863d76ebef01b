/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * partition.c - candidates for a partition and their predicted cost.
 *
 * Where the constants come from: "fitted" to a prototype of the engine that
 * docs/architecture.md describes, on two cores: leaf-spine permutations of 128 and 1,024
 * hosts at windows of 1 us and 157 ns, 1 and 2 threads, 1.5 events a packet-hop.  It
 * took 30 and 40 ns an event at 1 us; 35 and 49 ns at 157 ns: 4.3 and 64 us more a
 * window, which with 128 and 2,048 channels is 33 and 31 ns a channel.  Two threads: 1.33
 * to 1.85 times as fast.
 *
 * Invariant: floating point is only added, multiplied, divided and compared in a fixed
 * order, so the choice is the same on every machine.
 */
#include <config.h>

#include "sim/partition.h"

#include <stdlib.h>
#include <string.h>

#include "sim/forest.h"
#include "sim/mem.h"

#define EVENT_BASE_NS 25.0  /* fitted: 30 ns with 80 KiB a process, 1 us windows */
#define EVENT_GROWTH_NS 5.0 /* guess, between the 30 and the 40 ns */
#define END_BYTES 2048.0 /* guess: a port, what is queued there, its share of the rest */
#define NEAR_BYTES 65536.0 /* guess: what the nearest caches hold beside the code */
#define PROCESS_NS 50.0    /* guess */
#define CHANNEL_NS 31.0    /* fitted */
#define BARRIER_NS 2500.0  /* fitted for two threads; guess: grows as log2 of threads */
#define EFFICIENCY 0.85    /* fitted: 0.77 to 0.94 with two threads */

struct graph {
    const struct partition_node *nodes;
    const struct partition_edge *edges;
    uint32_t n_nodes, n_edges, n_threads;
    uint32_t *rack_next; /* owned: the next node of a node's rack, itself for the last */
};

/* One way to deal the nodes. */
struct candidate {
    uint32_t *parent; /* owned: forest of sets; a root is the least node of its set */
    uint32_t *lp;     /* owned: by node */
    struct partition_result result;
};

static void
candidate_init(struct candidate *candidate, const struct graph *graph)
{
    *candidate = (struct candidate){0};
    candidate->parent = mem_zero(graph->n_nodes, sizeof *candidate->parent);
    candidate->lp = mem_zero(graph->n_nodes, sizeof *candidate->lp);
}

static void
candidate_clear(struct candidate *candidate)
{
    free(candidate->parent);
    free(candidate->lp);
}

/* Joins nodes that 'mode' wants together, and those of edges below
 * 'threshold_ps' (>= 1). */
static void
join_all(struct candidate *candidate, const struct graph *graph, enum partition_mode mode,
         int64_t threshold_ps)
{
    uint32_t *parent = candidate->parent;

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        parent[i] = mode == PARTITION_ONE ? 0 : i;
    }
    for (uint32_t i = 0; mode == PARTITION_RACK && i < graph->n_nodes; i++) {
        forest_join(parent, i, graph->rack_next[i]);
    }
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        if (graph->edges[i].lookahead_ps < threshold_ps) {
            forest_join(parent, graph->edges[i].a, graph->edges[i].b);
        }
    }
}

/* Numbers the sets and finds the least lookahead between them. */
static void
number(struct candidate *candidate, const struct graph *graph)
{
    struct partition_result *result = &candidate->result;
    uint32_t *lp = candidate->lp;

    *result =
        (struct partition_result){.lookahead_ps = TIME_NEVER_PS, .edge = UINT32_MAX};
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        uint32_t root = forest_root(candidate->parent, i);

        lp[i] = root == i ? result->n_lps++ : lp[root];
    }
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        const struct partition_edge *edge = &graph->edges[i];

        if (lp[edge->a] != lp[edge->b] && edge->lookahead_ps < result->lookahead_ps) {
            result->lookahead_ps = edge->lookahead_ps;
            result->edge = i;
        }
    }
}

/* log2(1 + x) by straight lines between powers of two: at most 0.09 off, the same
 * everywhere. */
static double
log2_1p(double x)
{
    double n = 0, rest = 1 + x;

    while (rest >= 2) {
        rest /= 2;
        n++;
    }
    return n + (rest - 1);
}

struct load {
    double wall_ns; /* of a second of simulated time */
    uint32_t lp;
};

static int
compare_loads(const void *a, const void *b)
{
    const struct load *x = a, *y = b;

    if (x->wall_ns != y->wall_ns) {
        return x->wall_ns < y->wall_ns ? 1 : -1;
    }
    return (x->lp > y->lp) - (x->lp < y->lp);
}

/* Adds each pair of neighbouring processes once to the channels of both. */
static void
count_channels(const struct candidate *candidate, const struct graph *graph,
               uint32_t *n_channels)
{
    size_t cap = 16;

    while (cap < 2 * (size_t)graph->n_edges) {
        cap *= 2;
    }
    uint64_t *seen = mem_zero(cap, sizeof *seen); /* pair plus 1; 0: empty */

    for (uint32_t i = 0; i < graph->n_edges; i++) {
        uint32_t a = candidate->lp[graph->edges[i].a],
                 b = candidate->lp[graph->edges[i].b];
        uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
        size_t at = (size_t)((pair * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (cap - 1);

        while (seen[at] != 0 && seen[at] != pair + 1) {
            at = (at + 1) & (cap - 1);
        }
        if (a != b && seen[at] == 0) {
            seen[at] = pair + 1;
            n_channels[a]++;
            n_channels[b]++;
        }
    }
    free(seen);
}

/* Fills what each process costs; 'loads' is zeroed. */
static void
fill_loads(const struct candidate *candidate, const struct graph *graph, double windows,
           struct load *loads)
{
    uint32_t n_lps = candidate->result.n_lps;
    uint32_t *n_channels = mem_zero(n_lps, sizeof *n_channels);
    uint32_t *n_ends = mem_zero(n_lps, sizeof *n_ends);

    for (uint32_t i = 0; i < graph->n_edges; i++) {
        n_ends[candidate->lp[graph->edges[i].a]]++;
        n_ends[candidate->lp[graph->edges[i].b]]++;
    }
    if (n_lps > 1) {
        count_channels(candidate, graph, n_channels);
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        loads[candidate->lp[i]].wall_ns += (double)graph->nodes[i].weight;
    }
    for (uint32_t i = 0; i < n_lps; i++) {
        double event_ns =
            EVENT_BASE_NS + EVENT_GROWTH_NS * log2_1p(n_ends[i] * END_BYTES / NEAR_BYTES);

        loads[i].lp = i;
        loads[i].wall_ns = loads[i].wall_ns * event_ns +
                           windows * (PROCESS_NS + n_channels[i] * CHANNEL_NS);
    }
    free(n_channels);
    free(n_ends);
}

/* The load of the busiest of 'n_threads' when the heaviest process goes first, each to
 * the thread with least. */
static double
busiest_ns(const struct load *loads, uint32_t n_lps, uint32_t n_threads)
{
    double *threads = mem_zero(n_threads, sizeof *threads);
    double most = 0;

    for (uint32_t i = 0; i < n_lps; i++) {
        uint32_t least = 0;

        for (uint32_t t = 1; t < n_threads; t++) {
            least = threads[t] < threads[least] ? t : least;
        }
        threads[least] += loads[i].wall_ns;
    }
    for (uint32_t t = 0; t < n_threads; t++) {
        most = threads[t] > most ? threads[t] : most;
    }
    free(threads);
    return most;
}

static void
predict(struct candidate *candidate, const struct graph *graph)
{
    struct partition_result *result = &candidate->result;
    uint32_t n_threads =
        graph->n_threads < result->n_lps ? graph->n_threads : result->n_lps;
    struct load *loads = mem_zero(result->n_lps, sizeof *loads);
    double events = 0, windows = 0;

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        events += (double)graph->nodes[i].weight;
    }
    if (result->edge != UINT32_MAX) {
        windows = (double)PS_PER_S / (double)result->lookahead_ps;
        windows = windows < events ? windows : events;
    }
    fill_loads(candidate, graph, windows, loads);
    qsort(loads, result->n_lps, sizeof *loads, compare_loads);

    double wall_ns = busiest_ns(loads, result->n_lps, n_threads);

    if (n_threads > 1) {
        wall_ns = wall_ns / EFFICIENCY + windows * BARRIER_NS * log2_1p(n_threads - 1);
    }
    result->wall_per_s = wall_ns / 1e9;
    free(loads);
}

static void
make(struct candidate *candidate, const struct graph *graph, enum partition_mode mode,
     int64_t threshold_ps)
{
    join_all(candidate, graph, mode, threshold_ps);
    number(candidate, graph);
    predict(candidate, graph);
}

static int
compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Distinct lookaheads >= 1, ascending, at most PARTITION_MAX_THRESHOLDS of them: the
 * least, the greatest, and others in even steps.  The least is given as 1, which joins as
 * little and is there without any.  Returns how many, at least 1. */
static uint32_t
find_thresholds(const struct graph *graph, int64_t thresholds[PARTITION_MAX_THRESHOLDS])
{
    int64_t *all = mem_zero(graph->n_edges, sizeof *all);
    uint32_t n = 0, n_taken = 0;

    for (uint32_t i = 0; i < graph->n_edges; i++) {
        all[i] = graph->edges[i].lookahead_ps;
    }
    qsort(all, graph->n_edges, sizeof *all, compare_times);
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        if (all[i] >= 1 && (n == 0 || all[n - 1] != all[i])) {
            all[n++] = all[i];
        }
    }
    n_taken = n < PARTITION_MAX_THRESHOLDS ? n : PARTITION_MAX_THRESHOLDS;
    for (uint32_t i = 0; i < n_taken; i++) {
        uint64_t at = n_taken > 1 ? (uint64_t)i * (n - 1) / (n_taken - 1) : 0;

        thresholds[i] = all[at];
    }
    free(all);
    thresholds[0] = 1;
    return n_taken ? n_taken : 1;
}

/* Makes the candidate and keeps it in 'best' when it is cheaper. */
static void
consider(struct candidate *best, struct candidate *candidate, const struct graph *graph,
         enum partition_mode mode, int64_t threshold_ps)
{
    make(candidate, graph, mode, threshold_ps);
    if (candidate->result.wall_per_s < best->result.wall_per_s) {
        struct candidate swap = *best;

        *best = *candidate;
        *candidate = swap;
    }
}

static void
make_best(struct candidate *best, const struct graph *graph)
{
    int64_t thresholds[PARTITION_MAX_THRESHOLDS];
    uint32_t n = find_thresholds(graph, thresholds);
    struct candidate candidate;

    candidate_init(&candidate, graph);
    make(best, graph, PARTITION_ONE, 1);
    for (uint32_t i = 0; i < n; i++) {
        consider(best, &candidate, graph, PARTITION_RACK, thresholds[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        consider(best, &candidate, graph, PARTITION_NODE, thresholds[i]);
    }
    candidate_clear(&candidate);
}

struct racked {
    uint32_t rack, node;
};

static int
compare_racks(const void *a, const void *b)
{
    const struct racked *x = a, *y = b;

    if (x->rack != y->rack) {
        return x->rack < y->rack ? -1 : 1;
    }
    return (x->node > y->node) - (x->node < y->node);
}

static uint32_t *
chain_racks(const struct partition_node nodes[], uint32_t n_nodes)
{
    struct racked *racked = mem_zero(n_nodes, sizeof *racked);
    uint32_t *next = mem_zero(n_nodes, sizeof *next);

    for (uint32_t i = 0; i < n_nodes; i++) {
        racked[i] = (struct racked){.rack = nodes[i].rack, .node = i};
    }
    qsort(racked, n_nodes, sizeof *racked, compare_racks);
    for (uint32_t i = 0; i < n_nodes; i++) {
        bool goes_on = i + 1 < n_nodes && racked[i + 1].rack == racked[i].rack;

        next[racked[i].node] = racked[goes_on ? i + 1 : i].node;
    }
    free(racked);
    return next;
}

void
partition_find(const struct partition_node nodes[], uint32_t n_nodes,
               const struct partition_edge edges[], uint32_t n_edges,
               enum partition_mode mode, uint32_t n_threads, uint32_t lp_of_node[],
               struct partition_result *result)
{
    struct graph graph = {.nodes = nodes,
                          .edges = edges,
                          .n_nodes = n_nodes,
                          .n_edges = n_edges,
                          .n_threads = n_threads,
                          .rack_next = chain_racks(nodes, n_nodes)};
    struct candidate best;

    candidate_init(&best, &graph);
    if (mode == PARTITION_AUTO) {
        make_best(&best, &graph);
    } else {
        make(&best, &graph, mode, 1);
    }
    if (n_nodes > 0) {
        memcpy(lp_of_node, best.lp, n_nodes * sizeof *lp_of_node);
    }
    *result = best.result;
    candidate_clear(&best);
    free(graph.rack_next);
}
