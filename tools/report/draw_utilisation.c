/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * draw_utilisation.c - the links that have carried most, over time.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tools/report/draw.h"

#define MOST_LINKS 6

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

    for (guint i = 0; i < curves->ports->len; i++) {
        const struct curve *curve = g_ptr_array_index(curves->ports, i);
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
put_rate(const struct draw *draw, GString *script, const char *name, guint index,
         double time_per, bool in_percent)
{
    guint each, n = curves_parts(draw->curves, CURVE_POINTS, &each);
    g_autofree double *rate = g_new0(double, n + 1);
    const struct port *port = draw_find_port(draw, name);
    double full = in_percent && port ? (double)port->rate_bps / 1e11 : 1;

    for (guint i = 0; i < draw->curves->ports->len; i++) {
        const struct curve *curve = g_ptr_array_index(draw->curves->ports, i);

        if (strcmp(curve->port, name) == 0) {
            curve_fill(draw->curves, curve, NULL, rate);
        }
    }
    g_string_append_printf(script, "$p%u << end\n", index);
    for (guint i = 0; i < n; i++) {
        draw_point(script, (i + 1) * each * draw->curves->interval_us / time_per,
                   rate[i] / full);
    }
    g_string_append(script, "end\n");
}

gboolean
draw_utilisation(const struct draw *draw, GError **error)
{
    if (!draw->curves) {
        return draw_skip(draw, "utilisation", "the run has no samples (output.sample)");
    }
    g_autoptr(GArray) ports = busiest_ports(draw->curves);
    struct draw_scale time = draw_time_scale(draw->curves->last_us);
    bool in_percent = draw->net != NULL;
    guint n = 0;

    while (n < ports->len && n < MOST_LINKS &&
           g_array_index(ports, struct busy, n).sum_gbps > 0) {
        n++;
    }
    if (n == 0) {
        return draw_skip(draw, "utilisation", "no sample found anything sent");
    }
    struct picture picture;
    GString *script = draw_begin(draw, &picture, "utilisation", GNUPLOT_HEIGHT,
                                 "the links that have carried most");

    draw_label(script, 'x', "simulated time", time.unit);
    draw_label(script, 'y', in_percent ? "frames sent, of link rate" : "frames sent",
               in_percent ? "%" : "Gb/s");
    draw_range(script, 'x', 0, draw->curves->last_us / time.per);
    draw_range(script, 'y', 0, in_percent ? 105 : 0);
    for (guint i = 0; i < n; i++) {
        put_rate(draw, script, g_array_index(ports, struct busy, i).port, i, time.per,
                 in_percent);
    }
    for (guint i = 0; i < n; i++) {
        g_autofree char *name =
            draw_port_name(draw, g_array_index(ports, struct busy, i).port);

        g_string_append_printf(script, "%s $p%u using 1:2 with lines lt %u title ",
                               i ? ", \\\n " : "plot", i, i + 1);
        draw_key(script, name);
    }
    g_string_append_c(script, '\n');
    return gnuplot_end(&picture, error);
}
