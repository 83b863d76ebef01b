/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * draw_busbw.c - bus bandwidth of collectives by call, with what it cannot exceed.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "tools/report/draw.h"

#define MOST_BARS 60     /* more calls are points */
#define MOST_POINTS 2000 /* of more calls every second, third... is drawn */
#define MOST_SIZES 16    /* more calls have no room for their sizes */

/* Calls of one operation, algorithm and number of ranks. */
struct kind {
    char *name;    /* owned */
    GString *data; /* owned: points */
};

static void
free_kind(gpointer data)
{
    struct kind *kind = data;

    g_free(kind->name);
    g_string_free(kind->data, TRUE);
    g_free(kind);
}

static struct kind *
kind_of(GPtrArray *kinds, const json_t *call)
{
    g_autofree char *name = g_strdup_printf(
        "%s, %s, %s, %.0f ranks", folder_text(call, "op"), folder_text(call, "algorithm"),
        folder_text(call, "protocol"), folder_number(call, "ranks"));
    struct kind *kind;

    for (guint i = 0; i < kinds->len; i++) {
        kind = g_ptr_array_index(kinds, i);
        if (strcmp(kind->name, name) == 0) {
            return kind;
        }
    }
    kind = g_new0(struct kind, 1);
    kind->name = g_steal_pointer(&name);
    kind->data = g_string_new(NULL);
    g_ptr_array_add(kinds, kind);
    return kind;
}

/* "64 MiB" where it is whole, else "1.5 MB". */
static char *
size_text(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    unsigned unit = 0;

    while (unit < 3 && bytes >= 1024 && fmod(bytes, 1024) == 0) {
        bytes /= 1024;
        unit++;
    }
    if (unit == 0 && bytes >= 10000) {
        struct draw_scale size = draw_size_scale(bytes);

        return g_strdup_printf("%.3g %s", bytes / size.per, size.unit);
    }
    return g_strdup_printf("%.0f %s", bytes, units[unit]);
}

/* Each call's number, and below it its size while there is room. */
static void
put_ticks(GString *script, const json_t *calls)
{
    size_t n = json_array_size(calls);

    if (n > MOST_SIZES) {
        return;
    }
    g_string_append(script, "set xtics (");
    for (size_t i = 0; i < n; i++) {
        g_autofree char *size =
            size_text(folder_number(json_array_get(calls, i), "bytes"));

        g_string_append_printf(script, "%s\"%zu\\n%s\" %zu", i ? ", " : "", i, size, i);
    }
    g_string_append(script, ")\nset bmargin 5\nset xlabel offset 0,-1\n");
}

/* Bus bandwidth at the bound: algbw grows as the time falls. */
static double
bound_of(const json_t *call)
{
    double busbw = folder_number(call, "busbw_GBps");
    double time_us = folder_number(call, "time_us");
    double bound_us = folder_number(call, "bound_us");

    return bound_us > 0 ? busbw * time_us / bound_us : NAN;
}

/* Points of each kind of call into 'kinds' and of the bound; the largest value. */
static double
collect(const json_t *calls, size_t step, GPtrArray *kinds, GString *bounds, bool as_bars)
{
    double most = 0;

    for (size_t i = 0; i < json_array_size(calls); i += step) {
        const json_t *call = json_array_get(calls, i);
        double busbw = folder_number(call, "busbw_GBps"), bound = bound_of(call);

        if (isnan(busbw)) {
            continue;
        }
        draw_point(kind_of(kinds, call)->data, (double)i, busbw);
        most = MAX(most, busbw);
        if (!isnan(bound)) {
            double half = as_bars ? 0.4 : 0.5 * (double)step;

            draw_point(bounds, (double)i - half, bound);
            draw_point(bounds, (double)i + half, bound);
            g_string_append_c(bounds, '\n');
            most = MAX(most, bound);
        }
    }
    return most;
}

static void
plot_kinds(GString *script, const GPtrArray *kinds, const GString *bounds, bool as_bars)
{
    for (guint k = 0; k < kinds->len; k++) {
        const struct kind *kind = g_ptr_array_index(kinds, k);

        g_string_append_printf(script, "$k%u << end\n%send\n", k, kind->data->str);
    }
    g_string_append_printf(script, "$bound << end\n%send\nset boxwidth 0.7\n",
                           bounds->str);
    for (guint k = 0; k < kinds->len; k++) {
        const struct kind *kind = g_ptr_array_index(kinds, k);

        g_string_append_printf(
            script, "%s $k%u using 1:2 with %s lt %u title ", k ? ", \\\n " : "plot", k,
            as_bars ? "boxes fs solid 0.6 noborder" : "points pt 7 ps 0.35",
            k % (GNUPLOT_COLOURS - 1) + 1);
        draw_key(script, kind->name);
    }
    if (bounds->len) {
        g_string_append(script, ", \\\n  $bound using 1:2 with lines lc rgb '#222222' "
                                "lw 1.6 title 'bound: the slowest link alone'");
    }
    g_string_append_c(script, '\n');
}

gboolean
draw_busbw(const struct draw *draw, GError **error)
{
    const json_t *calls = folder_at(draw->folder.summary, "collectives");
    size_t n = json_array_size(calls), step = (n + MOST_POINTS - 1) / MOST_POINTS;
    bool as_bars = n <= MOST_BARS;
    g_autoptr(GPtrArray) kinds = g_ptr_array_new_with_free_func(free_kind);
    g_autoptr(GString) bounds = g_string_new(NULL);
    double most = collect(calls, MAX(step, 1), kinds, bounds, as_bars);

    if (kinds->len == 0) {
        return draw_skip(draw, "busbw",
                         n ? "no collective has ended" : "the run has no collectives");
    }
    struct picture picture;
    GString *script = draw_begin(draw, &picture, "busbw", GNUPLOT_HEIGHT,
                                 "bus bandwidth of collectives");
    g_autofree char *label = step > 1 ? g_strdup_printf("call, one in %zu drawn", step)
                                      : g_strdup("call, in order");

    draw_label(script, 'x', n <= MOST_SIZES ? "call, and its size" : label, NULL);
    draw_label(script, 'y', "busbw", "GB/s");
    draw_range(script, 'x', -0.6, (double)n - 0.4);
    draw_range(script, 'y', 0, 1.08 * most);
    put_ticks(script, calls);
    plot_kinds(script, kinds, bounds, as_bars);
    return gnuplot_end(&picture, error);
}
