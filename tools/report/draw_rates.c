/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * draw_rates.c - what each flow sends over time, and how fairly they share.
 *
 * series.csv has queue pairs, flows.csv says whose they are: those between two hosts that
 * belong to one line of it are one rate here.  Few rates are drawn one by one, many as their
 * spread.  A window counts for fairness with the rates that had something to send in all of
 * it; Jain's index at windows of 100 us is what papers show.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "tools/report/csv_read.h"
#include "tools/report/draw.h"
#include "tools/report/stats.h"

#define WINDOW_US 100.0
#define LEAST_WINDOWS 40 /* a short run has shorter windows, to have so many */
#define MOST_WINDOWS 600
#define MOST_LINES 8

/* Queue pairs that are one rate.  It is drawn where it is whole: a window that it ends in
 * shows no rate; where it never is, as far as there is anything. */
struct share {
    char *label;    /* owned */
    double *gbps;   /* owned: by window */
    bool *is_whole; /* owned: by window: it had something to send in all of it */
    bool ever_whole;
};

struct shares {
    GPtrArray *all; /* owned: struct share, in order of first appearance */
    guint n_flows;  /* of these; the others are connections of collectives */
    guint n;        /* windows */
    guint each;     /* samples in a window */
    double window_us;
};

static void
free_share(gpointer data)
{
    struct share *share = data;

    g_free(share->label);
    g_free(share->gbps);
    g_free(share->is_whole);
    g_free(share);
}

/* A line of flows.csv, as the owner of queue pairs. */
struct owner {
    char *
        label; /* owned: "host1 to host0" and, where there are more of these, its number */
    char *work; /* owned */
    double bytes;
    bool is_flow;
};

static void
free_owner(gpointer data)
{
    struct owner *owner = data;

    g_free(owner->label);
    g_free(owner->work);
    g_free(owner);
}

/* Queue pairs by "host1 0x000011": who owns them. */
struct owners {
    GPtrArray *all;    /* owned: struct owner */
    GHashTable *by_qp; /* owned */
};

static void
owners_clear(struct owners *owners)
{
    g_ptr_array_unref(owners->all);
    g_hash_table_unref(owners->by_qp);
}

enum { KIND, WORK, ID, SRC, DST, BYTES, QP, N_COLUMNS };

static void
add_owner(struct owners *owners, GHashTable *taken, const struct csv *csv, const int at[])
{
    g_auto(GStrv) qps = g_strsplit(csv->fields[at[QP]], " ", -1);
    const char *src = csv->fields[at[SRC]];
    g_autofree char *first = g_strdup_printf("%s %s", src, qps[0] ? qps[0] : "");

    /* Flows that follow each other on a queue pair are one rate. */
    if (!qps[0] || g_hash_table_contains(owners->by_qp, first)) {
        return;
    }
    struct owner *owner = g_new0(struct owner, 1);

    owner->label = g_strdup_printf("%s to %s", src, csv->fields[at[DST]]);
    owner->work = g_strdup(csv->fields[at[WORK]]);
    owner->bytes = csv_number(csv, at[BYTES]);
    owner->is_flow = strcmp(csv->fields[at[KIND]], "flow") == 0;
    if (g_hash_table_contains(taken, owner->label)) {
        char *longer =
            g_strdup_printf("%s, %s %s.%s", owner->label, csv->fields[at[KIND]],
                            csv->fields[at[WORK]], csv->fields[at[ID]]);

        g_free(owner->label);
        owner->label = longer;
    }
    g_hash_table_add(taken, owner->label);
    g_ptr_array_add(owners->all, owner);
    for (char **qp = qps; *qp; qp++) {
        g_hash_table_replace(owners->by_qp, g_strdup_printf("%s %s", src, *qp), owner);
    }
}

static gboolean
read_owners(const struct draw *draw, struct owners *owners, GError **error)
{
    static const char *const names[N_COLUMNS] = {"kind", "workload", "id", "src",
                                                 "dst",  "bytes",    "qp"};
    g_autofree char *path = folder_file(&draw->folder, "flows.csv");
    g_autoptr(GHashTable) taken = g_hash_table_new(g_str_hash, g_str_equal);
    struct csv *csv = csv_open(path, error);
    g_autoptr(GError) bad = NULL;
    int at[N_COLUMNS];

    if (!csv || !csv_columns(csv, names, at, N_COLUMNS, error)) {
        csv_close(csv);
        return FALSE;
    }
    *owners = (struct owners){
        .all = g_ptr_array_new_with_free_func(free_owner),
        .by_qp = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    while (csv_next(csv, &bad)) {
        add_owner(owners, taken, csv, at);
    }
    csv_close(csv);
    if (bad) {
        g_propagate_error(error, g_steal_pointer(&bad));
        owners_clear(owners);
        return FALSE;
    }
    return TRUE;
}

/* Does it carry no more than the clear-to-send of a collective?  Those connections bring a
 * hundredth of what others of their workload do, and have no share in anything. */
static bool
is_control(const struct owners *owners, const struct owner *owner)
{
    double most = 0;

    for (guint i = 0; i < owners->all->len && !owner->is_flow; i++) {
        const struct owner *other = g_ptr_array_index(owners->all, i);

        if (!other->is_flow && strcmp(other->work, owner->work) == 0) {
            most = MAX(most, other->bytes);
        }
    }
    return owner->bytes < most / 100;
}

/* The rate that the queue pair of 'curve' belongs to; NULL: none. */
static struct share *
share_of(struct shares *shares, GHashTable *by_label, const struct owners *owners,
         const struct curve *curve)
{
    g_autofree char *node =
        g_strndup(curve->port, (gsize)(strrchr(curve->port, ':') - curve->port));
    g_autofree char *key = g_strdup_printf("%s %s", node, curve->qp);
    const struct owner *owner = g_hash_table_lookup(owners->by_qp, key);
    struct share *share = owner ? g_hash_table_lookup(by_label, owner->label) : NULL;

    if (owner && !share && !is_control(owners, owner)) {
        share = g_new0(struct share, 1);
        share->label = g_strdup(owner->label);
        share->gbps = g_new0(double, shares->n);
        share->is_whole = g_new0(bool, shares->n);
        shares->n_flows += owner->is_flow;
        g_ptr_array_add(shares->all, share);
        g_hash_table_insert(by_label, share->label, share);
    }
    return share;
}

static void
add_curve(const struct draw *draw, struct shares *shares, struct share *share,
          const struct curve *curve)
{
    g_autofree guint *n_samples = g_new0(guint, shares->n);

    for (guint i = 0; i < curve->samples->len; i++) {
        const struct curve_sample *s =
            &g_array_index(curve->samples, struct curve_sample, i);
        guint window = curves_part_of(draw->curves, s->time_us, shares->each);

        if (window < shares->n) {
            share->gbps[window] += s->sent_gbps / shares->each;
            n_samples[window]++;
        }
    }
    for (guint w = 0; w < shares->n; w++) {
        share->is_whole[w] |= n_samples[w] == shares->each;
        share->ever_whole |= share->is_whole[w];
    }
}

static gboolean
read_shares(const struct draw *draw, struct shares *shares, GError **error)
{
    const struct curves *curves = draw->curves;
    struct owners owners;
    g_autoptr(GHashTable) by_label = g_hash_table_new(g_str_hash, g_str_equal);
    double window_us = MIN(WINDOW_US, curves->last_us / LEAST_WINDOWS);

    if (!read_owners(draw, &owners, error)) {
        return FALSE;
    }
    window_us = MAX(window_us, curves->last_us / MOST_WINDOWS);
    shares->each = MAX((guint)ceil(window_us / curves->interval_us - 1e-9), 1);
    shares->window_us = shares->each * curves->interval_us;
    shares->n = (guint)(curves->last_us / shares->window_us + 1);
    shares->all = g_ptr_array_new_with_free_func(free_share);
    for (guint i = 0; i < curves->qps->len; i++) {
        const struct curve *curve = g_ptr_array_index(curves->qps, i);
        struct share *share = share_of(shares, by_label, &owners, curve);

        if (share) {
            add_curve(draw, shares, share, curve);
        }
    }
    owners_clear(&owners);
    return TRUE;
}

/* The rates that were whole in window 'w', into 'x'; their number. */
static guint
whole_rates(const struct shares *shares, guint w, double x[])
{
    guint n = 0;

    for (guint i = 0; i < shares->all->len; i++) {
        const struct share *share = g_ptr_array_index(shares->all, i);

        if (share->is_whole[w]) {
            x[n++] = share->gbps[w];
        }
    }
    return n;
}

/* Jain's index by window: "$jain"; returns how many windows have one. */
static guint
put_jain(GString *script, const struct shares *shares, double per)
{
    g_autofree double *x = g_new(double, shares->all->len + 1);
    guint made = 0;

    g_string_append(script, "$jain << end\n");
    for (guint w = 0; w < shares->n; w++) {
        guint n = whole_rates(shares, w, x);
        double sum = 0;

        for (guint i = 0; i < n; i++) {
            sum += x[i];
        }
        /* Where nobody gets anything nobody is treated better. */
        if (n >= 2 && sum > 0) {
            draw_point(script, (w + 0.5) * shares->window_us / per, stats_jain(x, n));
            made++;
        } else {
            g_string_append_c(script, '\n');
        }
    }
    g_string_append(script, "end\n");
    return made;
}

static void
put_lines(GString *script, const struct shares *shares, double per)
{
    for (guint i = 0; i < shares->all->len; i++) {
        const struct share *share = g_ptr_array_index(shares->all, i);

        g_string_append_printf(script, "$r%u << end\n", i);
        for (guint w = 0; w < shares->n; w++) {
            if (share->is_whole[w] || (!share->ever_whole && share->gbps[w] > 0)) {
                draw_point(script, (w + 0.5) * shares->window_us / per, share->gbps[w]);
            } else {
                g_string_append_c(script, '\n');
            }
        }
        g_string_append(script, "end\n");
    }
}

/* Least, 10 %, median, 90 % and largest rate by window: "$spread". */
static void
put_spread(GString *script, const struct shares *shares, double per)
{
    static const guint percents[] = {0, 10, 50, 90, 100};
    g_autofree double *x = g_new(double, shares->all->len + 1);

    g_string_append(script, "$spread << end\n");
    for (guint w = 0; w < shares->n; w++) {
        guint n = whole_rates(shares, w, x);

        if (n == 0) {
            g_string_append_c(script, '\n');
            continue;
        }
        stats_sort(x, n);
        gnuplot_number(script, (w + 0.5) * shares->window_us / per);
        for (guint p = 0; p < G_N_ELEMENTS(percents); p++) {
            g_string_append_c(script, ' ');
            gnuplot_number(script, stats_percentile(x, n, percents[p]));
        }
        g_string_append_c(script, '\n');
    }
    g_string_append(script, "end\n");
}

static void
plot_rates(GString *script, const struct shares *shares)
{
    if (shares->all->len > MOST_LINES) {
        g_string_append(
            script,
            "plot $spread using 1:3:5 with filledcurves lt 1 fs transparent solid 0.25 "
            "title '10 % to 90 % of them', \\\n"
            "  $spread using 1:4 with lines lt 1 title 'median', \\\n"
            "  $spread using 1:6 with lines lt 3 lw 1 title 'largest', \\\n"
            "  $spread using 1:2 with lines lt 2 lw 1 title 'least'\n");
        return;
    }
    for (guint i = 0; i < shares->all->len; i++) {
        const struct share *share = g_ptr_array_index(shares->all, i);

        g_string_append_printf(
            script, "%s $r%u using 1:2 with linespoints lt %u pt 7 ps 0.35 title ",
            i ? ", \\\n " : "plot", i, i + 1);
        draw_key(script, share->label);
    }
    g_string_append_c(script, '\n');
}

static gboolean
draw_shares(const struct draw *draw, const struct shares *shares, GError **error)
{
    struct draw_scale time = draw_time_scale(draw->curves->last_us);
    guint n = shares->all->len;
    g_autofree char *what = g_strdup_printf(
        "payload sent by %u %s%s, over windows of %.4g us", n,
        shares->n_flows ? "flow" : "connection", n == 1 ? "" : "s", shares->window_us);
    struct picture picture;
    GString *script = draw_begin(draw, &picture, "rates", 600, what);
    guint n_jain = put_jain(script, shares, time.per);

    if (shares->all->len > MOST_LINES) {
        put_spread(script, shares, time.per);
    } else {
        put_lines(script, shares, time.per);
    }
    draw_range(script, 'x', 0, draw->curves->last_us / time.per);
    draw_range(script, 'y', 0, 0);
    draw_label(script, 'y', "sent", "Gb/s");
    if (n_jain) {
        g_string_append(script, "set multiplot\n"
                                "set size 1,0.62\nset origin 0,0.38\nset bmargin 1\n"
                                "set format x ''\n");
        plot_rates(script, shares);
        g_string_append(script, "set size 1,0.38\nset origin 0,0\nset bmargin 4\n"
                                "set tmargin 1\nset format x\nunset title\n"
                                "set key title ''\n");
        draw_range(script, 'y', 0, 1.05);
        draw_label(script, 'y', "Jain index", NULL);
        draw_label(script, 'x', "simulated time", time.unit);
        g_string_append(script, "plot $jain using 1:2 with lines lt 8 title "
                                "'fairness, 1: all alike'\nunset multiplot\n");
    } else {
        draw_label(script, 'x', "simulated time", time.unit);
        plot_rates(script, shares);
    }
    return gnuplot_end(&picture, error);
}

gboolean
draw_rates(const struct draw *draw, GError **error)
{
    struct shares shares = {0};
    gboolean drawn;

    if (!draw->curves) {
        return draw_skip(draw, "rates", "the run has no samples (output.sample)");
    }
    if (draw->curves->qps->len == 0) {
        return draw_skip(draw, "rates",
                         "no queue pair was sampled; output.series names the NICs to "
                         "sample where there are many");
    }
    if (!read_shares(draw, &shares, error)) {
        return FALSE;
    }
    drawn = shares.all->len ? draw_shares(draw, &shares, error)
                            : draw_skip(draw, "rates", "no sample found anything sent");
    g_ptr_array_unref(shares.all);
    return drawn;
}
