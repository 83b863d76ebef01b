/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * draw_queue.c - the longest queues over time, with what acts on them.
 *
 * XOFF is no level of an egress queue: ingress accounts are held against the dynamic
 * threshold.  Where n of them fill alike, each is stopped at alpha S / (1 + n alpha) of the
 * shared buffer S (Choudhury and Hahne 1998, equation 3), plus what is reserved for it; that
 * sum is drawn, for as many as were stopped because of the port, else for one.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tools/report/csv_read.h"
#include "tools/report/draw.h"
#include "tools/report/stats.h"

#define MOST_PORTS 4
#define MOST_MARKS 400

/* Pauses that the port has caused. */
struct caused {
    GArray *at_us; /* owned: double, when they began */
    guint n, n_stopped;
};

static gint
compare_longest(gconstpointer pa, gconstpointer pb)
{
    const struct curve *a = *(const struct curve *const *)pa;
    const struct curve *b = *(const struct curve *const *)pb;

    if (a->sum_bytes != b->sum_bytes) {
        return a->sum_bytes > b->sum_bytes ? -1 : 1;
    }
    return strcmp(a->port, b->port);
}

/* The longest queues by their mean, longest first: those of at least a quarter of the first.
 * That one is the `bottleneck' of summary.json, as far as samples tell. */
static GPtrArray *
longest_queues(const struct curves *curves)
{
    GPtrArray *longest = g_ptr_array_copy(curves->ports, NULL, NULL);
    guint n = 0;

    g_ptr_array_set_free_func(longest, NULL);
    g_ptr_array_sort(longest, compare_longest);
    while (n < longest->len && n < MOST_PORTS) {
        const struct curve *curve = g_ptr_array_index(longest, n);
        const struct curve *first = g_ptr_array_index(longest, 0);

        if (curve->sum_bytes == 0 || curve->sum_bytes < first->sum_bytes / 4) {
            break;
        }
        n++;
    }
    g_ptr_array_set_size(longest, (int)n);
    return longest;
}

static gboolean
read_caused(const struct draw *draw, const struct curve *curve, struct caused *caused,
            GError **error)
{
    enum { TIME, PORT, CLASS, CAUSE, N };
    static const char *const names[N] = {"time_us", "port", "class", "cause_port"};
    g_autofree char *path = folder_file(&draw->folder, "pfc.csv");
    g_autoptr(GHashTable) stopped =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct csv *csv = csv_open(path, error);
    g_autoptr(GError) bad = NULL;
    int at[N];

    if (!csv || !csv_columns(csv, names, at, N, error)) {
        csv_close(csv);
        return FALSE;
    }
    while (csv_next(csv, &bad)) {
        if (strcmp(csv->fields[at[CAUSE]], curve->port) == 0 &&
            csv_number(csv, at[CLASS]) == curve->cls) {
            double at_us = csv_number(csv, at[TIME]);

            g_array_append_val(caused->at_us, at_us);
            g_hash_table_add(stopped, g_strdup(csv->fields[at[PORT]]));
        }
    }
    csv_close(csv);
    caused->n = caused->at_us->len;
    caused->n_stopped = g_hash_table_size(stopped);
    if (bad) {
        g_propagate_error(error, g_steal_pointer(&bad));
        return FALSE;
    }
    return TRUE;
}

/* A level that acts on the queue. */
struct level {
    char *name; /* owned */
    double bytes;
};

static void
add_level(GArray *levels, char *name, double bytes)
{
    struct level level = {name, bytes};

    g_array_append_val(levels, level);
}

static void
clear_level(gpointer level)
{
    g_free(((struct level *)level)->name);
}

static GArray *
find_levels(const struct draw *draw, const struct curve *curve,
            const struct caused *caused)
{
    GArray *levels = g_array_new(FALSE, FALSE, sizeof(struct level));
    const struct port *port = draw_find_port(draw, curve->port);
    const struct fabric_switch *sw = port && !port->is_nic ? port->owner : NULL;

    g_array_set_clear_func(levels, clear_level);
    if (sw && port->ecn.classes >> curve->cls & 1) {
        add_level(levels, g_strdup("ECN kmin"), (double)port->ecn.kmin_bytes);
        add_level(levels, g_strdup("ECN kmax"), (double)port->ecn.kmax_bytes);
    }
    if (sw && sw->lossless >> curve->cls & 1) {
        double alpha = (double)sw->buffer.alpha_q16 / 65536;
        double n = MAX(caused->n_stopped, 1);
        double shared = alpha * (double)sw->buffer.shared_bytes / (1 + n * alpha);

        add_level(levels,
                  g_strdup_printf("PFC XOFF, %g ingress%s", n, n == 1 ? "" : "es alike"),
                  n * (shared + (double)sw->buffer.reserved_bytes));
    }
    return levels;
}

/* Top of the axis: a level far above the queue would leave nothing of it to see. */
static double
axis_top(const GPtrArray *longest, const GArray *levels)
{
    double most_bytes = 0, top;

    for (guint i = 0; i < longest->len; i++) {
        const struct curve *curve = g_ptr_array_index(longest, i);

        most_bytes = MAX(most_bytes, curve->most_bytes);
    }
    top = most_bytes;
    for (guint i = 0; i < levels->len; i++) {
        double bytes = g_array_index(levels, struct level, i).bytes;

        if (bytes < 4 * most_bytes) {
            top = MAX(top, bytes);
        }
    }
    return 1.1 * top;
}

static void
put_curve(const struct draw *draw, GString *script, const struct curve *curve,
          guint index, double part, double per)
{
    guint each, n = curves_parts(draw->curves, CURVE_POINTS, &each);
    g_autofree double *queue = g_new0(double, n + 1);

    curve_fill(draw->curves, curve, queue, NULL);
    g_string_append_printf(script, "$q%u << end\n0 0\n", index);
    for (guint i = 0; i < n; i++) {
        draw_point(script, (i + 1) * part, queue[i] / per);
    }
    g_string_append(script, "end\n");
}

/* A level across the picture with its name in the key; above the axis in the key alone. */
static void
put_level(GString *script, const struct level *level, double top_bytes,
          const struct draw_scale *size, unsigned index)
{
    static const char *const dashes[] = {"(6,4)", "(12,4)", "(2,3)"};
    struct draw_scale own = draw_size_scale(level->bytes);
    g_autofree char *title =
        g_strdup_printf("%s, %.4g %s%s", level->name, level->bytes / own.per, own.unit,
                        level->bytes > top_bytes ? " (above)" : "");

    g_string_append(script, ", \\\n  ");
    gnuplot_number(script, level->bytes / size->per);
    g_string_append_printf(script, " with lines lc rgb '#222222' lw 1.2 dt %s title ",
                           dashes[index]);
    draw_key(script, title);
}

/* When pauses begin, at most MOST_MARKS of them, near the top. */
static void
put_marks(GString *script, const struct caused *caused, double last_us,
          const struct draw_scale *time, double y)
{
    double last = -1;

    stats_sort((double *)(void *)caused->at_us->data, caused->at_us->len);
    g_string_append(script, "$marks << end\n");
    for (guint i = 0; i < caused->at_us->len; i++) {
        double at_us = g_array_index(caused->at_us, double, i);
        double slot = (double)(guint)(at_us / last_us * MOST_MARKS);

        if (slot != last) {
            draw_point(script, at_us / time->per, y);
            last = slot;
        }
    }
    g_string_append(script, "end\n");
}

static void
put_plot(const struct draw *draw, GString *script, const GPtrArray *longest,
         const GArray *levels, const struct caused *caused, double top_bytes,
         const struct draw_scale *size)
{
    g_string_append(script, "plot $q0 using 1:2 with filledcurves y1=0 lt 1 "
                            "fs transparent solid 0.15 notitle");
    for (guint i = longest->len; i-- > 0;) {
        g_string_append_printf(script,
                               ", \\\n  $q%u using 1:2 with lines lt %u%s notitle", i,
                               i + 1, i ? " lw 1" : "");
    }
    for (guint i = 0; i < longest->len; i++) {
        const struct curve *curve = g_ptr_array_index(longest, i);
        g_autofree char *name = draw_port_name(draw, curve->port);
        g_autofree char *title = g_strdup_printf("%s, class %u", name, curve->cls);

        g_string_append_printf(script, ", \\\n  NaN with lines lt %u title ", i + 1);
        draw_key(script, title);
    }
    for (guint i = 0; i < levels->len; i++) {
        put_level(script, &g_array_index(levels, struct level, i), top_bytes, size, i);
    }
    if (caused->n) {
        g_autofree char *title = g_strdup_printf("pauses it causes, %u", caused->n);

        g_string_append(
            script, ", \\\n  $marks using 1:2 with points lc rgb '#222222' pt 11 ps 0.45 "
                    "title ");
        draw_key(script, title);
    }
    g_string_append_c(script, '\n');
}

static gboolean
draw_longest(const struct draw *draw, const GPtrArray *longest, const GArray *levels,
             struct caused *caused, GError **error)
{
    guint each;

    curves_parts(draw->curves, CURVE_POINTS, &each);

    double top_bytes = axis_top(longest, levels);
    struct draw_scale time = draw_time_scale(draw->curves->last_us);
    struct draw_scale size = draw_size_scale(top_bytes);
    double part = each * draw->curves->interval_us / time.per;
    struct picture picture;
    g_autofree char *label = each > 1
                                 ? g_strdup_printf("queue, largest of %u samples", each)
                                 : g_strdup("queue");
    GString *script = draw_begin(draw, &picture, "queue", GNUPLOT_HEIGHT,
                                 longest->len == 1 ? "the longest egress queue"
                                                   : "the longest egress queues");

    draw_label(script, 'x', "simulated time", time.unit);
    draw_label(script, 'y', label, size.unit);
    draw_range(script, 'x', 0, draw->curves->last_us / time.per);
    draw_range(script, 'y', 0, top_bytes / size.per);
    for (guint i = 0; i < longest->len; i++) {
        put_curve(draw, script, g_ptr_array_index(longest, i), i, part, size.per);
    }
    put_marks(script, caused, draw->curves->last_us, &time, 0.985 * top_bytes / size.per);
    put_plot(draw, script, longest, levels, caused, top_bytes, &size);
    return gnuplot_end(&picture, error);
}

gboolean
draw_queue(const struct draw *draw, GError **error)
{
    if (!draw->curves) {
        return draw_skip(draw, "queue", "the run has no samples (output.sample)");
    }
    g_autoptr(GPtrArray) longest = longest_queues(draw->curves);

    if (longest->len == 0) {
        return draw_skip(draw, "queue", "no sample found anything queued");
    }
    struct caused caused = {.at_us = g_array_new(FALSE, FALSE, sizeof(double))};
    gboolean drawn = read_caused(draw, g_ptr_array_index(longest, 0), &caused, error);

    if (drawn) {
        GArray *levels = find_levels(draw, g_ptr_array_index(longest, 0), &caused);

        drawn = draw_longest(draw, longest, levels, &caused, error);
        g_array_unref(levels);
    }
    g_array_unref(caused.at_us);
    return drawn;
}
