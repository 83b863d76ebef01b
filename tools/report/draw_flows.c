/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * draw_flows.c - completion times: their distribution, and slowdown by size.
 *
 * Source of the second: analysis/fct_analysis.py of the HPCC simulator, whose 20 bins of
 * equal count are what papers show.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "tools/report/csv_read.h"
#include "tools/report/draw.h"
#include "tools/report/stats.h"

#define MOST_GROUPS 7   /* workloads drawn apart */
#define MOST_STEPS 1000 /* points of a distribution */
#define N_BINS 20
#define LEAST_IN_BIN 5 /* percentiles of fewer say nothing */
#define LOG_FROM 20    /* an axis over more than this factor is logarithmic */

/* Flows of one workload that are done. */
struct group {
    GArray *fct_us, *ideal_us; /* owned: double */
};

struct flows {
    GPtrArray *groups; /* owned: struct group, by workload; NULL: it has no flows */
    GArray *sized;     /* owned: struct stats_sized, slowdown by bytes */
    guint n_done;
};

static void
free_group(gpointer data)
{
    struct group *group = data;

    if (group) {
        g_array_unref(group->fct_us);
        g_array_unref(group->ideal_us);
        g_free(group);
    }
}

static void
flows_clear(struct flows *flows)
{
    g_ptr_array_unref(flows->groups);
    g_array_unref(flows->sized);
}

static void
add_flow(struct flows *flows, guint work, double bytes, double fct_us, double ideal_us)
{
    if (work >= flows->groups->len) {
        g_ptr_array_set_size(flows->groups, (int)work + 1);
    }
    struct group **group = (struct group **)&flows->groups->pdata[work];

    if (!*group) {
        *group = g_new0(struct group, 1);
        (*group)->fct_us = g_array_new(FALSE, FALSE, sizeof(double));
        (*group)->ideal_us = g_array_new(FALSE, FALSE, sizeof(double));
    }
    g_array_append_val((*group)->fct_us, fct_us);
    flows->n_done++;
    if (ideal_us > 0) {
        struct stats_sized item = {bytes, fct_us / ideal_us};

        g_array_append_val((*group)->ideal_us, ideal_us);
        g_array_append_val(flows->sized, item);
    }
}

static gboolean
read_flows(const struct draw *draw, struct flows *flows, GError **error)
{
    enum { KIND, WORK, BYTES, FCT, IDEAL, N };
    static const char *const names[N] = {"kind", "workload", "bytes", "fct_us",
                                         "ideal_us"};
    g_autofree char *path = folder_file(&draw->folder, "flows.csv");
    struct csv *csv = csv_open(path, error);
    g_autoptr(GError) bad = NULL;
    int at[N];

    *flows =
        (struct flows){.groups = g_ptr_array_new_with_free_func(free_group),
                       .sized = g_array_new(FALSE, FALSE, sizeof(struct stats_sized))};
    if (!csv || !csv_columns(csv, names, at, N, error)) {
        csv_close(csv);
        flows_clear(flows);
        return FALSE;
    }
    while (csv_next(csv, &bad)) {
        double work = csv_number(csv, at[WORK]), fct_us = csv_number(csv, at[FCT]);

        if (strcmp(csv->fields[at[KIND]], "flow") == 0 && !isnan(fct_us) && work >= 0 &&
            work < 1e6) {
            add_flow(flows, (guint)work, csv_number(csv, at[BYTES]), fct_us,
                     csv_number(csv, at[IDEAL]));
        }
    }
    csv_close(csv);
    if (bad) {
        g_propagate_error(error, g_steal_pointer(&bad));
        flows_clear(flows);
        return FALSE;
    }
    return TRUE;
}

/* Logarithmic where values lie far apart, else from 0. */
static void
set_span(GString *script, char axis, double least, double most)
{
    if (least > 0 && most / least > LOG_FROM) {
        g_string_append_printf(script, "set logscale %c\n", axis);
        draw_range(script, axis, least / 1.2, most * 1.2);
    } else {
        draw_range(script, axis, 0, 1.06 * most);
    }
}

/* ---- the distribution of completion times ----------------------------------------------- */

static void
put_cdf(GString *script, const char *name, guint index, GArray *values, double per)
{
    double *sorted = (double *)(void *)values->data;
    g_autofree struct stats_step *steps = g_new(struct stats_step, MOST_STEPS);

    stats_sort(sorted, values->len);
    guint n = stats_cdf(sorted, values->len, MOST_STEPS, steps);

    g_string_append_printf(script, "$%s%u << end\n", name, index);
    draw_point(script, sorted[0] / per, 0);
    for (guint i = 0; i < n; i++) {
        draw_point(script, steps[i].value / per, 100 * steps[i].share);
    }
    g_string_append(script, "end\n");
}

/* "incast, 8 flows" */
static char *
name_group(const struct draw *draw, guint work, guint n)
{
    g_autofree char *path = g_strdup_printf("workload[%u].type", work);
    const char *type = folder_text(draw->folder.config, path);

    return g_strdup_printf("workload %u: %s, %u flow%s", work, type ? type : "?", n,
                           n == 1 ? "" : "s");
}

static gboolean
plot_cdfs(const struct draw *draw, const struct flows *flows, double least_us,
          double most_us, GError **error)
{
    bool is_log = least_us > 0 && most_us / least_us > LOG_FROM;
    struct draw_scale time = draw_time_scale(is_log ? least_us : most_us);
    g_autofree char *what =
        g_strdup_printf("completion times of %u flows", flows->n_done);
    struct picture picture;
    GString *script = draw_begin(draw, &picture, "fct", GNUPLOT_HEIGHT, what);
    g_autoptr(GString) plot = g_string_new(NULL);
    guint n = 0;

    draw_label(script, 'x', "completion time", time.unit);
    draw_label(script, 'y', "flows done within it", "%");
    draw_range(script, 'y', 0, 103);
    set_span(script, 'x', least_us / time.per, most_us / time.per);
    for (guint w = 0; w < flows->groups->len && n < MOST_GROUPS; w++) {
        struct group *group = g_ptr_array_index(flows->groups, w);

        if (!group) {
            continue;
        }
        g_autofree char *name = name_group(draw, w, group->fct_us->len);

        put_cdf(script, "fct", n, group->fct_us, time.per);
        g_string_append_printf(plot, "%s $fct%u using 1:2 with steps lt %u title ",
                               n ? ", \\\n " : "plot", n, n + 1);
        draw_key(plot, name);
        if (group->ideal_us->len) {
            put_cdf(script, "ideal", n, group->ideal_us, time.per);
            g_string_append_printf(
                plot, ", \\\n  $ideal%u using 1:2 with steps lt %u lw 1 dt (6,4) %s", n,
                n + 1, n ? "notitle" : "title 'the same, each flow alone'");
        }
        n++;
    }
    g_string_append_printf(script, "%s\n", plot->str);
    return gnuplot_end(&picture, error);
}

static void
widen(const GArray *values, double *least, double *most)
{
    for (guint i = 0; i < values->len; i++) {
        *least = MIN(*least, g_array_index(values, double, i));
        *most = MAX(*most, g_array_index(values, double, i));
    }
}

gboolean
draw_fct(const struct draw *draw, GError **error)
{
    struct flows flows;
    double least_us = INFINITY, most_us = 0;
    gboolean drawn;

    if (!read_flows(draw, &flows, error)) {
        return FALSE;
    }
    for (guint w = 0; w < flows.groups->len; w++) {
        const struct group *group = g_ptr_array_index(flows.groups, w);

        if (group) {
            widen(group->fct_us, &least_us, &most_us);
            widen(group->ideal_us, &least_us, &most_us);
        }
    }
    drawn = flows.n_done < 2 ? draw_skip(draw, "fct", "fewer than two flows are done")
                             : plot_cdfs(draw, &flows, least_us, most_us, error);
    flows_clear(&flows);
    return drawn;
}

/* ---- slowdown by size ------------------------------------------------------------------- */

static gboolean
plot_bins(const struct draw *draw, const struct stats_bin bins[], guint n, guint n_flows,
          GError **error)
{
    g_autofree char *what = g_strdup_printf(
        "slowdown by size, %u flows in %u bins of equal count", n_flows, n);
    struct picture picture;
    GString *script = draw_begin(draw, &picture, "slowdown", GNUPLOT_HEIGHT, what);
    double most = 1;

    g_string_append(script, "$bins << end\n");
    for (guint i = 0; i < n; i++) {
        gnuplot_number(script, bins[i].most_size);
        g_string_append_c(script, ' ');
        gnuplot_number(script, bins[i].p50);
        g_string_append_c(script, ' ');
        draw_point(script, bins[i].p95, bins[i].p99);
        most = MAX(most, bins[i].p99);
    }
    g_string_append(script, "end\n");
    draw_label(script, 'x', "size of a flow, the largest of its bin", "bytes");
    draw_label(script, 'y', "slowdown: completion time over that alone", NULL);
    set_span(script, 'x', bins[0].most_size, bins[n - 1].most_size);
    g_string_append(script, "set format x '%.0s %c'\n");
    if (most > LOG_FROM) {
        g_string_append(script, "set logscale y\n");
        draw_range(script, 'y', 0.9, 1.3 * most);
    } else {
        draw_range(script, 'y', 0, 1.08 * most);
    }
    g_string_append(
        script, "plot $bins using 1:4 with linespoints lt 2 pt 7 ps 0.5 title 'p99', "
                "\\\n  $bins using 1:3 with linespoints lt 5 pt 5 ps 0.5 title 'p95', "
                "\\\n  $bins using 1:2 with linespoints lt 1 pt 9 ps 0.6 title 'p50', "
                "\\\n  1 with lines lc rgb '#555555' lw 1 dt (6,4) "
                "title 'alone on its path'\n");
    return gnuplot_end(&picture, error);
}

gboolean
draw_slowdown(const struct draw *draw, GError **error)
{
    struct stats_bin bins[N_BINS];
    struct flows flows;
    guint n, n_bins;
    gboolean drawn;

    if (!read_flows(draw, &flows, error)) {
        return FALSE;
    }
    n_bins = MIN(flows.sized->len / LEAST_IN_BIN, N_BINS);
    n = stats_bins((struct stats_sized *)(void *)flows.sized->data, flows.sized->len,
                   n_bins, bins);
    if (n_bins < 2) {
        drawn = draw_skip(draw, "slowdown", "fewer than ten flows are done");
    } else if (n < 2) {
        drawn = draw_skip(draw, "slowdown", "all flows are of one size");
    } else {
        drawn = plot_bins(draw, bins, n, flows.sized->len, error);
    }
    flows_clear(&flows);
    return drawn;
}
