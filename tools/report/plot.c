/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plot.c - pictures of a finished run, see plot.h.
 *
 * Thresholds and link rates are those of the network that config.json makes, so overrides
 * and sets by rate are as the run had them.
 */
#include <config.h>

#include "tools/report/plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>
#include <jansson.h>

#include "tools/report/gnuplot.h"
#include "tools/report/series_read.h"
#include "tools/results/text.h"
#include "tools/scenario/scenario.h"

#define MOST_LINKS 6
#define MOST_CALLS 10000

/* What the pictures of one folder share. */
struct plot {
    const char *dir; /* borrowed */
    bool png, quiet;
    json_t *summary;           /* owned */
    struct curves *curves;     /* owned */
    struct net *net;           /* owned; NULL: config.json makes none */
    struct scenario *scenario; /* owned; likewise */
    unsigned n_drawn;
};

/* How an axis shows its values: they are divided by 'per'. */
struct scale {
    double per;
    const char *unit;
};

GQuark
plot_error_quark(void)
{
    return g_quark_from_static_string("plot-error");
}

/* ---- what is read --------------------------------------------------------------------- */

static gboolean
read_summary(struct plot *plot, GError **error)
{
    g_autofree char *path = g_build_filename(plot->dir, "summary.json", NULL);
    json_error_t bad;

    plot->summary = json_load_file(path, 0, &bad);
    if (!json_is_object(plot->summary)) {
        g_set_error(error, PLOT_ERROR, PLOT_ERROR_INPUT,
                    "%s: no folder of results: %s; give a folder that `rocesim run` has "
                    "written",
                    plot->dir, plot->summary ? "summary.json is no object" : bad.text);
        return FALSE;
    }
    return TRUE;
}

static gboolean
read_series(struct plot *plot, GError **error)
{
    g_autofree char *path = g_build_filename(plot->dir, "series.csv", NULL);
    const json_t *interval = json_object_get(plot->summary, "series_interval_us");

    if (!json_is_number(interval) || json_number_value(interval) <= 0) {
        return TRUE;
    }
    plot->curves = curves_read(path, json_number_value(interval), error);
    return plot->curves != NULL;
}

/* The network as the run had it, for rates and thresholds; pictures can do without. */
static void
build_network(struct plot *plot)
{
    g_autofree char *path = g_build_filename(plot->dir, "config.json", NULL);

    plot->scenario = scenario_load(path, NULL, NULL);
    plot->net = plot->scenario ? scenario_build_net(plot->scenario, NULL) : NULL;
    if (plot->net && !net_build(plot->net, NULL, NULL)) {
        net_free(plot->net);
        plot->net = NULL;
    }
    if (!plot->net && !plot->quiet) {
        fprintf(stderr,
                "rocesim: %s makes no network any more: link rates and thresholds are "
                "left out\n",
                path);
    }
}

/* The port called 'name' ("leaf0:1"), or NULL. */
static const struct port *
find_port(const struct plot *plot, const char *name)
{
    const char *colon = strrchr(name, ':');

    if (!plot->net || !colon) {
        return NULL;
    }
    g_autofree char *node = g_strndup(name, (gsize)(colon - name));
    guint64 index = g_ascii_strtoull(colon + 1, NULL, 10);
    uint32_t n = net_find_node(plot->net, node);

    if (n == UINT32_MAX || index >= plot->net->nodes[n].n_ports) {
        return NULL;
    }
    return &plot->net->ports[plot->net->nodes[n].first_port + index];
}

/* ---- scales and titles ---------------------------------------------------------------- */

static struct scale
time_scale(double last_us)
{
    return last_us >= 2e6   ? (struct scale){1e6, "s"}
           : last_us >= 2e3 ? (struct scale){1e3, "ms"}
                            : (struct scale){1, "us"};
}

static struct scale
size_scale(double most_bytes)
{
    return most_bytes >= 2e6   ? (struct scale){1e6, "MB"}
           : most_bytes >= 2e3 ? (struct scale){1e3, "kB"}
                               : (struct scale){1, "B"};
}

static const char *
name_of_run(const struct plot *plot)
{
    const char *name = json_string_value(json_object_get(plot->summary, "scenario"));

    return name ? name : "run";
}

static void
set_title(const struct plot *plot, GString *script, const char *what)
{
    g_autofree char *title = g_strdup_printf("%s: %s", name_of_run(plot), what);

    g_string_append(script, "set title ");
    gnuplot_text(script, title);
    g_string_append_c(script, '\n');
}

static void
set_label(GString *script, char axis, const char *what, const char *unit)
{
    g_autofree char *label = g_strdup_printf("%s (%s)", what, unit);

    g_string_append_printf(script, "set %clabel ", axis);
    gnuplot_text(script, label);
    g_string_append(script, " noenhanced textcolor rgb '#333333'\n");
}

static void
set_range(GString *script, char axis, double low, double high)
{
    g_string_append_printf(script, "set %crange [", axis);
    gnuplot_number(script, low);
    g_string_append_c(script, ':');
    if (high > low) {
        gnuplot_number(script, high);
    }
    g_string_append(script, "]\n");
}

/* "NAME << end": values of 'y' over the middle (or end) of each part. */
static void
put_data(GString *script, const char *name, const double y[], guint n, double part,
         double per)
{
    g_string_append_printf(script, "$%s << end\n", name);
    for (guint i = 0; i < n; i++) {
        gnuplot_number(script, (i + 1) * part);
        g_string_append_c(script, ' ');
        gnuplot_number(script, y[i] / per);
        g_string_append_c(script, '\n');
    }
    g_string_append(script, "end\n");
}

static GString *
begin_picture(const struct plot *plot, const char *name, struct picture *picture)
{
    g_autofree char *file =
        g_strdup_printf("%s/plots/%s.%s", plot->dir, name, plot->png ? "png" : "svg");

    gnuplot_begin(picture, file, plot->png);
    return picture->script;
}

static gboolean
skip(const struct plot *plot, const char *picture, const char *why)
{
    if (!plot->quiet) {
        fprintf(stderr, "rocesim: no picture of %s: %s\n", picture, why);
    }
    return TRUE;
}

/* ---- the bottleneck's queue ----------------------------------------------------------- */

static const struct curve *
longest_queue(const struct curves *curves)
{
    const struct curve *longest = NULL;

    for (guint i = 0; i < curves->all->len; i++) {
        const struct curve *curve = g_ptr_array_index(curves->all, i);

        if (curve->most_bytes > (longest ? longest->most_bytes : 0)) {
            longest = curve;
        }
    }
    return longest;
}

/* Top of the axis: a threshold far above the queue would leave nothing of it to see. */
static double
queue_axis(double most_bytes, const struct ecn *ecn)
{
    double top = most_bytes;

    if (ecn && (double)ecn->kmin_bytes < 4 * most_bytes) {
        top = MAX(top, (double)ecn->kmin_bytes);
    }
    if (ecn && (double)ecn->kmax_bytes < 4 * most_bytes) {
        top = MAX(top, (double)ecn->kmax_bytes);
    }
    return 1.08 * top;
}

/* A level across the picture with its name in the key; above the axis in the key alone. */
static void
put_level(GString *script, const char *name, double value, const struct scale *size,
          unsigned type, const char *dash)
{
    g_autofree char *title =
        g_strdup_printf("%s, %g %s", name, value / size->per, size->unit);

    g_string_append(script, ", ");
    gnuplot_number(script, value / size->per);
    g_string_append_printf(script, " with lines lt %u lw 1.2 dt %s title ", type, dash);
    gnuplot_text(script, title);
}

static gboolean
draw_queue(struct plot *plot, GError **error)
{
    const struct curve *curve = plot->curves ? longest_queue(plot->curves) : NULL;
    guint each;

    if (!plot->curves) {
        return skip(plot, "queues", "the run has no samples (output.sample)");
    }
    if (!curve) {
        return skip(plot, "queues", "no sample found anything queued");
    }
    const struct port *port = find_port(plot, curve->port);
    bool marks = port && !port->is_nic && port->ecn.classes >> curve->cls & 1 &&
                 plot->net->cc->needs & CC_NEEDS_ECN;
    guint n = curves_parts(plot->curves, &each);
    g_autofree double *queue = g_new0(double, n + 1);
    struct scale time = time_scale(plot->curves->last_us);
    double top_bytes = queue_axis(curve->most_bytes, marks ? &port->ecn : NULL);
    struct scale size = size_scale(top_bytes);
    struct picture picture;
    GString *script = begin_picture(plot, "queue", &picture);
    g_autofree char *label = each > 1
                                 ? g_strdup_printf("queue, largest of %u samples", each)
                                 : g_strdup("queue");
    g_autofree char *what =
        g_strdup_printf("longest queue, at %s, class %u", curve->port, curve->cls);

    curve_fill(plot->curves, curve, queue, NULL);
    set_title(plot, script, what);
    set_label(script, 'x', "simulated time", time.unit);
    set_label(script, 'y', label, size.unit);
    set_range(script, 'x', 0, plot->curves->last_us / time.per);
    set_range(script, 'y', 0, top_bytes / size.per);
    put_data(script, "queue", queue, n, each * plot->curves->interval_us / time.per,
             size.per);
    g_string_append(script, "plot $queue using 1:2 with filledcurves y1=0 lt 1 "
                            "fs transparent solid 0.15 notitle, "
                            "$queue using 1:2 with lines lt 1 title 'queue'");
    if (marks) {
        put_level(script, "kmax", (double)port->ecn.kmax_bytes, &size, 2, "2");
        put_level(script, "kmin", (double)port->ecn.kmin_bytes, &size, 3, "2");
    }
    g_string_append_c(script, '\n');
    plot->n_drawn++;
    return gnuplot_end(&picture, error);
}

/* ---- utilisation ---------------------------------------------------------------------- */

/* A port with the sum over its classes. */
struct busy {
    const char *port;
    double sum_gbps;
};

static int
compare_busy(const void *pa, const void *pb)
{
    const struct busy *a = pa, *b = pb;

    if (a->sum_gbps != b->sum_gbps) {
        return a->sum_gbps > b->sum_gbps ? -1 : 1;
    }
    return strcmp(a->port, b->port);
}

/* Ports by what they have sent, most first. */
static GArray *
busiest_ports(const struct curves *curves)
{
    GArray *ports = g_array_new(FALSE, TRUE, sizeof(struct busy));
    g_autoptr(GHashTable) index = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < curves->all->len; i++) {
        const struct curve *curve = g_ptr_array_index(curves->all, i);
        gpointer found;

        if (!g_hash_table_lookup_extended(index, curve->port, NULL, &found)) {
            struct busy busy = {curve->port, 0};

            found = GUINT_TO_POINTER(ports->len);
            g_hash_table_insert(index, curve->port, found);
            g_array_append_val(ports, busy);
        }
        g_array_index(ports, struct busy, GPOINTER_TO_UINT(found)).sum_gbps +=
            curve->sum_gbps;
    }
    if (ports->len) {
        qsort(ports->data, ports->len, sizeof(struct busy), compare_busy);
    }
    return ports;
}

static void
put_port_rate(const struct plot *plot, GString *script, const char *port, guint index,
              guint n, double part, bool in_percent)
{
    g_autofree double *rate = g_new0(double, n + 1);
    g_autofree char *name = g_strdup_printf("p%u", index);
    const struct port *of = find_port(plot, port);
    double full_gbps = of ? (double)of->rate_bps / 1e9 : 1;

    for (guint i = 0; i < plot->curves->all->len; i++) {
        const struct curve *curve = g_ptr_array_index(plot->curves->all, i);

        if (strcmp(curve->port, port) == 0) {
            curve_fill(plot->curves, curve, NULL, rate);
        }
    }
    put_data(script, name, rate, n, part, in_percent ? full_gbps / 100 : 1);
}

static gboolean
draw_utilisation(struct plot *plot, GError **error)
{
    if (!plot->curves) {
        return skip(plot, "links", "the run has no samples (output.sample)");
    }
    g_autoptr(GArray) ports = busiest_ports(plot->curves);
    guint each, n = curves_parts(plot->curves, &each);
    struct scale time = time_scale(plot->curves->last_us);
    guint n_ports = 0;

    while (n_ports < ports->len && n_ports < MOST_LINKS &&
           g_array_index(ports, struct busy, n_ports).sum_gbps > 0) {
        n_ports++;
    }
    if (n_ports == 0) {
        return skip(plot, "links", "no sample found anything sent");
    }
    struct picture picture;
    GString *script = begin_picture(plot, "utilisation", &picture);
    bool in_percent = plot->net != NULL;
    double part = each * plot->curves->interval_us / time.per;

    set_title(plot, script, "the links that have carried most");
    set_label(script, 'x', "simulated time", time.unit);
    set_label(script, 'y', in_percent ? "frames sent, of link rate" : "frames sent",
              in_percent ? "%" : "Gb/s");
    set_range(script, 'x', 0, plot->curves->last_us / time.per);
    set_range(script, 'y', 0, in_percent ? 105 : 0);
    for (guint i = 0; i < n_ports; i++) {
        put_port_rate(plot, script, g_array_index(ports, struct busy, i).port, i, n, part,
                      in_percent);
    }
    for (guint i = 0; i < n_ports; i++) {
        g_string_append_printf(script, "%s $p%u using 1:2 with lines lt %u title ",
                               i ? "," : "plot", i, i + 1);
        gnuplot_text(script, g_array_index(ports, struct busy, i).port);
    }
    g_string_append_c(script, '\n');
    plot->n_drawn++;
    return gnuplot_end(&picture, error);
}

/* ---- bandwidth of collectives --------------------------------------------------------- */

static double
number_of(const json_t *call, const char *key)
{
    return json_number_value(json_object_get(call, key));
}

static gboolean
draw_busbw(struct plot *plot, GError **error)
{
    const json_t *calls = json_object_get(plot->summary, "collectives");
    size_t n = json_array_size(calls), n_ended = 0;
    GString *data = g_string_new("$calls << end\n");

    for (size_t i = 0; i < n && n_ended < MOST_CALLS; i++) {
        const json_t *call = json_array_get(calls, i);

        if (json_is_number(json_object_get(call, "busbw_GBps"))) {
            g_string_append_printf(data, "%zu ", i);
            gnuplot_number(data, number_of(call, "busbw_GBps"));
            g_string_append_c(data, ' ');
            gnuplot_number(data, number_of(call, "bytes"));
            g_string_append_c(data, '\n');
            n_ended++;
        }
    }
    g_string_append(data, "end\n");
    if (n_ended == 0) {
        g_string_free(data, TRUE);
        return skip(plot, "collectives", n ? "none has ended" : "the run has none");
    }
    struct picture picture;
    GString *script = begin_picture(plot, "busbw", &picture);

    set_title(plot, script, "bus bandwidth of collectives, in order of their call");
    g_string_append(script, "set xlabel 'call' textcolor rgb '#333333'\n");
    set_label(script, 'y', "busbw", "GB/s");
    g_string_append(script, "set key off\n");
    set_range(script, 'x', -0.6, (double)n - 0.4);
    set_range(script, 'y', 0, 0);
    if (n <= 30) {
        g_string_append(script, "set xtics 1\n");
    }
    g_string_append(script, data->str);
    g_string_append(script, n <= 60
                                ? "set boxwidth 0.7\nplot $calls using 1:2 with boxes "
                                  "lt 1 fs solid 0.6 noborder\n"
                                : "plot $calls using 1:2 with points lt 1 pt 7 "
                                  "ps 0.4\n");
    g_string_free(data, TRUE);
    plot->n_drawn++;
    return gnuplot_end(&picture, error);
}

/* ---- all of them ---------------------------------------------------------------------- */

static gboolean
make_folder(const struct plot *plot, GError **error)
{
    g_autofree char *path = g_build_filename(plot->dir, "plots", NULL);

    if (g_mkdir(path, 0777) != 0 && errno != EEXIST) {
        g_set_error(error, PLOT_ERROR, PLOT_ERROR_WRITE, "%s: cannot make the folder: %s",
                    path, g_strerror(errno));
        return FALSE;
    }
    return TRUE;
}

gboolean
plot_results(const char *dir, bool png, bool quiet, GError **error)
{
    struct plot plot = {.dir = dir, .png = png, .quiet = quiet};
    gboolean drawn = read_summary(&plot, error) && read_series(&plot, error) &&
                     make_folder(&plot, error);

    if (drawn) {
        build_network(&plot);
        drawn = draw_queue(&plot, error) && draw_utilisation(&plot, error) &&
                draw_busbw(&plot, error);
    }
    curves_free(plot.curves);
    net_free(plot.net);
    scenario_free(plot.scenario);
    json_decref(plot.summary);
    return drawn;
}
