/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * compare.c - what differs between folders of results, see compare.h.
 */
#include <config.h>

#include "tools/report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/csv_read.h"

/* Figures of summary.json, in the order of the table. */
static const struct {
    const char *key, *title;
    unsigned places;
} figures[] = {
    {"sim_time_us", "last completion, us", 2},
    {"flows.n", "flows", 0},
    {"flows.done", "flows done", 0},
    {"flows.fct_us.mean", "completion time mean, us", 2},
    {"flows.fct_us.p50", "completion time p50, us", 2},
    {"flows.fct_us.p95", "completion time p95, us", 2},
    {"flows.fct_us.p99", "completion time p99, us", 2},
    {"flows.fct_us.max", "completion time max, us", 2},
    {"flows.slowdown.p50", "slowdown p50", 3},
    {"flows.slowdown.p95", "slowdown p95", 3},
    {"flows.slowdown.p99", "slowdown p99", 3},
    {"flows.slowdown.max", "slowdown max", 3},
    {"fabric.link_utilisation_max", "utilisation, busiest link", 4},
    {"targets.packet_latency_p99_us.value", "packet latency p99, us", 2},
    {"fabric.max_queue_bytes", "largest queue, bytes", 0},
    {"bottleneck.mean_queue_bytes", "queue of the bottleneck, bytes", 0},
    {"bottleneck.marked_share", "marked at the bottleneck", 4},
    {"fabric.max_buffer_bytes", "largest shared buffer, bytes", 0},
    {"fabric.ecn_marked", "packets marked", 0},
    {"fabric.cnp_sent", "CNPs", 0},
    {"fabric.pfc_frames", "PFC frames", 0},
    {"fabric.pfc_pause_share_max", "pause share, largest", 6},
    {"fabric.pfc_pause_share_mean", "pause share, mean", 6},
    {"pauses.n", "pauses", 0},
    {"pauses.paused_us", "pauses, in all, us", 2},
    {"pauses.ports", "ports paused", 0},
    {"pauses.hosts", "hosts paused", 0},
    {"fabric.data_packets", "data packets", 0},
    {"fabric.retransmitted", "packets sent again", 0},
    {"fabric.timeouts", "timeouts", 0},
    {"fabric.nak_sent", "NAKs", 0},
    {"fabric.drops", "drops for lack of buffer", 0},
    {"fabric.lossless_drops", "drops in lossless classes", 0},
    {"fabric.lost", "lost otherwise", 0},
    {"packet_hops", "packet-hops", 0},
    {"events", "events", 0},
    {"wall_s", "wall time, s (measured)", 2},
    {"packet_hops_per_s", "packet-hops/s (measured)", 0},
};

double
compare_percent(double first, double other)
{
    if (first == other) {
        return 0;
    }
    return first != 0 ? 100 * (other - first) / fabs(first) : NAN;
}

/* ---- figures ---------------------------------------------------------------------------- */

static void
free_figure(gpointer data)
{
    struct compare_figure *figure = data;

    g_free(figure->key);
    g_free(figure->title);
    g_free(figure->values);
    g_free(figure);
}

/* Adds one with values of its own, unless no folder has any. */
static void
add_figure(struct compare *c, char *key, char *title, unsigned places, double values[])
{
    struct compare_figure *figure = g_new0(struct compare_figure, 1);
    guint n_known = 0;

    *figure = (struct compare_figure){key, title, places, values};
    for (guint i = 0; i < c->n; i++) {
        n_known += isnan(values[i]) ? 0 : 1;
    }
    if (n_known) {
        g_ptr_array_add(c->figures, figure);
    } else {
        free_figure(figure);
    }
}

static void
add_summary_figures(struct compare *c)
{
    for (guint f = 0; f < G_N_ELEMENTS(figures); f++) {
        double *values = g_new(double, c->n);

        for (guint i = 0; i < c->n; i++) {
            values[i] = folder_number(c->folders[i].summary, figures[f].key);
        }
        add_figure(c, g_strdup(figures[f].key), g_strdup(figures[f].title),
                   figures[f].places, values);
    }
}

/* Are the calls at 'index' of all folders alike? */
static bool
is_same_call(const struct compare *c, size_t index)
{
    g_autofree char *op = g_strdup_printf("collectives[%zu].op", index);
    g_autofree char *bytes = g_strdup_printf("collectives[%zu].bytes", index);
    g_autofree char *ranks = g_strdup_printf("collectives[%zu].ranks", index);

    for (guint i = 0; i < c->n; i++) {
        const json_t *first = c->folders[0].summary, *other = c->folders[i].summary;

        if (g_strcmp0(folder_text(first, op), folder_text(other, op)) != 0 ||
            folder_number(first, bytes) != folder_number(other, bytes) ||
            folder_number(first, ranks) != folder_number(other, ranks)) {
            return false;
        }
    }
    return true;
}

/* Collectives, call by call as long as they are alike. */
static void
add_calls(struct compare *c)
{
    const json_t *calls = folder_at(c->folders[0].summary, "collectives");

    for (size_t k = 0; k < json_array_size(calls) && is_same_call(c, k); k++) {
        const json_t *call = json_array_get(calls, k);
        char *key = g_strdup_printf("collectives[%zu].busbw_GBps", k);
        double *values = g_new(double, c->n);

        for (guint i = 0; i < c->n; i++) {
            values[i] = folder_number(c->folders[i].summary, key);
        }
        add_figure(
            c, key,
            g_strdup_printf("busbw %zu, %.0f B, GB/s", k, folder_number(call, "bytes")),
            3, values);
    }
}

/* ---- keys of config.json ---------------------------------------------------------------- */

static void
free_key(gpointer data)
{
    struct compare_key *key = data;

    for (guint i = 0; i < key->n; i++) {
        g_free(key->values[i]);
    }
    g_free(key->values);
    g_free(key->path);
    g_free(key);
}

/* The leaves of 'value' by path into 'leaves'. */
static void
flatten(GHashTable *leaves, const char *path, const json_t *value)
{
    const char *name;
    json_t *child;
    size_t index;

    if (json_is_object(value)) {
        json_object_foreach((json_t *)value, name, child)
        {
            g_autofree char *below =
                g_strdup_printf("%s%s%s", path, *path ? "." : "", name);

            flatten(leaves, below, child);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, index, child)
        {
            g_autofree char *below = g_strdup_printf("%s[%zu]", path, index);

            flatten(leaves, below, child);
        }
    } else {
        char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

        g_hash_table_insert(leaves, g_strdup(path), g_strdup(dumped));
        free(dumped);
    }
}

/* "a[2]" before "a[10]", as a person counts. */
static gint
compare_paths(gconstpointer pa, gconstpointer pb)
{
    const char *a = *(const char *const *)pa, *b = *(const char *const *)pb;

    while (*a && *b) {
        if (g_ascii_isdigit(*a) && g_ascii_isdigit(*b)) {
            char *end_a, *end_b;
            guint64 x = g_ascii_strtoull(a, &end_a, 10);
            guint64 y = g_ascii_strtoull(b, &end_b, 10);

            if (x != y) {
                return x < y ? -1 : 1;
            }
            a = end_a;
            b = end_b;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (*a != 0) - (*b != 0);
}

/* Every path that any folder has, sorted; borrowed from 'leaves'. */
static GPtrArray *
all_paths(GHashTable *const leaves[], guint n)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *paths = g_ptr_array_new();

    for (guint i = 0; i < n; i++) {
        GHashTableIter at;
        gpointer path;

        g_hash_table_iter_init(&at, leaves[i]);
        while (g_hash_table_iter_next(&at, &path, NULL)) {
            if (g_hash_table_add(seen, path)) {
                g_ptr_array_add(paths, path);
            }
        }
    }
    g_ptr_array_sort(paths, compare_paths);
    return paths;
}

static void
add_keys(struct compare *c)
{
    g_autofree GHashTable **leaves = g_new(GHashTable *, c->n);

    for (guint i = 0; i < c->n; i++) {
        leaves[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        flatten(leaves[i], "", c->folders[i].config);
    }
    g_autoptr(GPtrArray) paths = all_paths(leaves, c->n);

    for (guint p = 0; p < paths->len; p++) {
        const char *path = g_ptr_array_index(paths, p);
        const char *first = g_hash_table_lookup(leaves[0], path);
        struct compare_key *key;
        bool same = true;

        for (guint i = 1; i < c->n; i++) {
            same &= g_strcmp0(first, g_hash_table_lookup(leaves[i], path)) == 0;
        }
        if (same) {
            continue;
        }
        key = g_new0(struct compare_key, 1);
        key->path = g_strdup(path);
        key->values = g_new0(char *, c->n);
        key->n = c->n;
        for (guint i = 0; i < c->n; i++) {
            key->values[i] = g_strdup(g_hash_table_lookup(leaves[i], path));
        }
        g_ptr_array_add(c->keys, key);
    }
    for (guint i = 0; i < c->n; i++) {
        g_hash_table_unref(leaves[i]);
    }
}

/* ---- flows ------------------------------------------------------------------------------ */

enum { KIND, WORK, ID, SRC, DST, BYTES, FCT, SLOWDOWN, N_COLUMNS };

struct flow {
    char *what; /* owned: ends and bytes */
    double fct, slowdown;
    bool seen;
};

static void
free_flow(gpointer data)
{
    g_free(((struct flow *)data)->what);
    g_free(data);
}

/* Calls 'take' for each flow of folder 'index'. */
static gboolean
each_flow(const struct compare *c, guint index,
          void (*take)(void *ctx, const char *id, const struct flow *flow), void *ctx,
          GError **error)
{
    static const char *const names[N_COLUMNS] = {
        "kind", "workload", "id", "src", "dst", "bytes", "fct_us", "slowdown"};
    g_autofree char *path = folder_file(&c->folders[index], "flows.csv");
    struct csv *csv = csv_open(path, error);
    g_autoptr(GError) bad = NULL;
    int at[N_COLUMNS];

    if (!csv || !csv_columns(csv, names, at, N_COLUMNS, error)) {
        csv_close(csv);
        return FALSE;
    }
    while (csv_next(csv, &bad)) {
        if (strcmp(csv->fields[at[KIND]], "flow") == 0) {
            g_autofree char *id = g_strdup_printf(
                "workload %s, flow %s", csv->fields[at[WORK]], csv->fields[at[ID]]);
            g_autofree char *what =
                g_strdup_printf("%s to %s, %s B", csv->fields[at[SRC]],
                                csv->fields[at[DST]], csv->fields[at[BYTES]]);
            const struct flow flow = {.what = what,
                                      .fct = csv_number(csv, at[FCT]),
                                      .slowdown = csv_number(csv, at[SLOWDOWN])};

            take(ctx, id, &flow);
        }
    }
    csv_close(csv);
    if (bad) {
        g_propagate_error(error, g_steal_pointer(&bad));
        return FALSE;
    }
    return TRUE;
}

static void
keep_flow(void *ctx, const char *id, const struct flow *flow)
{
    struct flow *kept = g_memdup2(flow, sizeof *flow);

    kept->what = g_strdup(flow->what);
    g_hash_table_insert(ctx, g_strdup(id), kept);
}

/* Flows of one folder being held against those of the first. */
struct matching {
    GHashTable *first;
    struct compare_flows *flows;
    double sum_percent;
};

static void
note_change(struct compare_flow *change, const char *id, const struct flow *flow,
            double first, double other)
{
    g_free(change->name);
    *change = (struct compare_flow){.name = g_strdup_printf("%s, %s", id, flow->what),
                                    .first = first,
                                    .other = other};
}

static void
match_flow(void *ctx, const char *id, const struct flow *flow)
{
    struct matching *m = ctx;
    struct compare_flows *flows = m->flows;
    struct flow *first = g_hash_table_lookup(m->first, id);

    if (!first || first->seen) {
        flows->n_only_other++;
        return;
    }
    first->seen = true;
    flows->n_both++;
    if (strcmp(first->what, flow->what) != 0) {
        flows->n_unlike++;
        return;
    }
    /* Where a flow has no ideal its time stands for the slowdown: ends are the same. */
    bool by_slowdown = !isnan(first->slowdown) && !isnan(flow->slowdown);
    double a = by_slowdown ? first->slowdown : first->fct;
    double b = by_slowdown ? flow->slowdown : flow->fct;

    if (isnan(a) || isnan(b) || a <= 0 || b <= 0) {
        return;
    }
    flows->n_compared++;
    m->sum_percent += compare_percent(a, b);
    if (b > a && (!flows->rise.name || b / a > flows->rise.other / flows->rise.first)) {
        note_change(&flows->rise, id, flow, a, b);
    }
    if (b < a && (!flows->fall.name || b / a < flows->fall.other / flows->fall.first)) {
        note_change(&flows->fall, id, flow, a, b);
    }
}

static void
forget_seen(gpointer id, gpointer flow, gpointer ctx)
{
    (void)id;
    (void)ctx;
    ((struct flow *)flow)->seen = false;
}

static gboolean
add_flows(struct compare *c, GError **error)
{
    g_autoptr(GHashTable) first =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_flow);

    if (!each_flow(c, 0, keep_flow, first, error)) {
        return FALSE;
    }
    for (guint i = 1; i < c->n; i++) {
        struct matching m = {.first = first, .flows = &c->flows[i]};

        g_hash_table_foreach(first, forget_seen, NULL);
        if (!each_flow(c, i, match_flow, &m, error)) {
            return FALSE;
        }
        m.flows->n_only_first = g_hash_table_size(first) - m.flows->n_both;
        m.flows->mean_percent =
            m.flows->n_compared ? m.sum_percent / m.flows->n_compared : NAN;
    }
    return TRUE;
}

/* ---- notes ------------------------------------------------------------------------------ */

static void
note(struct compare *c, char *line)
{
    g_ptr_array_add(c->notes, line);
}

static void
add_notes(struct compare *c)
{
    const char *version = folder_text(c->folders[0].summary, "version");

    for (guint i = 0; i < c->n; i++) {
        const json_t *summary = c->folders[i].summary;
        const char *verdict = folder_text(summary, "verdict");
        const char *own = folder_text(summary, "version");
        char letter = (char)('A' + i);

        if (i && g_strcmp0(version, own) != 0) {
            note(c, g_strdup_printf("%c is of version %s, A of %s: the same scenario may "
                                    "give other numbers",
                                    letter, own ? own : "?", version ? version : "?"));
        }
        if (g_strcmp0(verdict, "interrupted") == 0) {
            note(c, g_strdup_printf("%c was interrupted: its figures are those of a part "
                                    "of the run",
                                    letter));
        } else if (json_array_size(folder_at(summary, "unfinished"))) {
            note(c, g_strdup_printf("%c (%s) has work that has not ended: its figures "
                                    "are without it",
                                    letter, verdict ? verdict : "?"));
        }
        if (i && json_equal(c->folders[i].config, c->folders[0].config)) {
            note(c, g_strdup_printf("%c is of the same scenario and seed as A", letter));
        }
    }
}

/* ---- the whole -------------------------------------------------------------------------- */

struct compare *
compare_new(char *const dirs[], guint n, GError **error)
{
    struct compare *c = g_new0(struct compare, 1);
    gboolean good = TRUE;

    c->n = n;
    c->folders = g_new0(struct folder, n);
    c->flows = g_new0(struct compare_flows, n);
    c->notes = g_ptr_array_new_with_free_func(g_free);
    c->figures = g_ptr_array_new_with_free_func(free_figure);
    c->keys = g_ptr_array_new_with_free_func(free_key);
    for (guint i = 0; i < n && good; i++) {
        good = folder_read(&c->folders[i], dirs[i], error);
    }
    if (!good || !add_flows(c, error)) {
        compare_free(c);
        return NULL;
    }
    add_summary_figures(c);
    add_calls(c);
    add_keys(c);
    add_notes(c);
    return c;
}

void
compare_free(struct compare *c)
{
    if (!c) {
        return;
    }
    for (guint i = 0; i < c->n; i++) {
        folder_clear(&c->folders[i]);
        g_free(c->flows[i].rise.name);
        g_free(c->flows[i].fall.name);
    }
    g_free(c->folders);
    g_free(c->flows);
    g_ptr_array_unref(c->notes);
    g_ptr_array_unref(c->figures);
    g_ptr_array_unref(c->keys);
    g_free(c);
}
