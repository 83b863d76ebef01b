/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * draw_links.c - how evenly links of a tier are used: a histogram for each direction.
 *
 * Load is the time a link was sending frames, gaps included, over the time of the run; links
 * that carried nothing count, so they are taken from the network, not from ports.csv.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "models/packet.h"
#include "tools/report/csv_read.h"
#include "tools/report/draw.h"
#include "tools/report/stats.h"

#define N_BINS 25
#define MOST_GROUPS 8
#define PANEL_HEIGHT 150

static const char *const tiers[] = {"hosts", "leaves", "spines", "cores"};

/* Links of one direction between two tiers. */
struct group {
    uint8_t from, to;
    GArray *load; /* owned: double, percent */
};

static void
clear_group(gpointer data)
{
    g_array_unref(((struct group *)data)->load);
}

/* Seconds that each port was sending; by dense id.  NULL with 'error'. */
static double *
read_busy(const struct draw *draw, GError **error)
{
    enum { PORT, BYTES, PACKETS, N };
    static const char *const names[N] = {"port", "tx_bytes", "tx_packets"};
    g_autofree char *path = folder_file(&draw->folder, "ports.csv");
    g_autofree double *busy_us = g_new0(double, draw->net->n_ports + 1);
    struct csv *csv = csv_open(path, error);
    g_autoptr(GError) bad = NULL;
    int at[N];

    if (!csv || !csv_columns(csv, names, at, N, error)) {
        csv_close(csv);
        return NULL;
    }
    while (csv_next(csv, &bad)) {
        const struct port *port = draw_find_port(draw, csv->fields[at[PORT]]);
        double bytes =
            csv_number(csv, at[BYTES]) + WIRE_EXTRA_BYTES * csv_number(csv, at[PACKETS]);

        if (port) {
            busy_us[port->id] += bytes * 8e6 / (double)port->rate_bps;
        }
    }
    csv_close(csv);
    if (bad) {
        g_propagate_error(error, g_steal_pointer(&bad));
        return NULL;
    }
    return g_steal_pointer(&busy_us);
}

static GArray *
group_links(const struct draw *draw, const double busy_us[], double run_us)
{
    const struct net *net = draw->net;
    GArray *groups = g_array_new(FALSE, FALSE, sizeof(struct group));

    g_array_set_clear_func(groups, clear_group);
    for (uint32_t i = 0; i < 2 * net->n_links; i++) {
        const struct net_link *link = &net->links[i / 2];
        uint8_t from = net->nodes[link->node[i % 2]].tier;
        uint8_t to = net->nodes[link->node[1 - i % 2]].tier;
        double load = 100 * busy_us[link->port[i % 2]] / run_us;
        guint g = 0;

        while (g < groups->len && (g_array_index(groups, struct group, g).from != from ||
                                   g_array_index(groups, struct group, g).to != to)) {
            g++;
        }
        if (g == groups->len) {
            struct group group = {from, to, g_array_new(FALSE, FALSE, sizeof(double))};

            g_array_append_val(groups, group);
        }
        g_array_append_val(g_array_index(groups, struct group, g).load, load);
    }
    return groups;
}

/* Upwards from the hosts, then downwards. */
static gint
compare_groups(gconstpointer pa, gconstpointer pb)
{
    const struct group *a = pa, *b = pb;
    bool a_down = a->from > a->to, b_down = b->from > b->to;

    if (a_down != b_down) {
        return a_down - b_down;
    }
    return a_down ? b->from - a->from : a->from - b->from;
}

/* "$NAMEi": a line across the bars. */
static void
put_level(GString *script, const char *name, unsigned index, double at, double top)
{
    g_string_append_printf(script, "$%s%u << end\n", name, index);
    draw_point(script, at, 0);
    draw_point(script, at, top);
    g_string_append(script, "end\n");
}

static void
put_panel(GString *script, const struct group *group, guint index)
{
    const double *load = (const double *)(const void *)group->load->data;
    guint counts[N_BINS], n = group->load->len;
    double sum = 0, most = 0;

    stats_histogram(load, n, 100, N_BINS, counts);
    for (guint i = 0; i < n; i++) {
        sum += load[i];
        most = MAX(most, load[i]);
    }
    g_autofree char *title = g_strdup_printf(
        "%s to %s: %u links", tiers[MIN(group->from, 3)], tiers[MIN(group->to, 3)], n);
    guint tallest = 0;

    g_string_append_printf(script, "$g%u << end\n", index);
    for (guint b = 0; b < N_BINS; b++) {
        draw_point(script, (b + 0.5) * 100 / N_BINS, counts[b]);
        tallest = MAX(tallest, counts[b]);
    }
    g_string_append(script, "end\n");
    double top = 1.12 * tallest;

    put_level(script, "mean", index, sum / n, top);
    put_level(script, "most", index, most, top);
    draw_range(script, 'y', 0, top);
    g_string_append_printf(script, "set ytics %s\n", tallest < 5 ? "1" : "autofreq");
    g_string_append_printf(script,
                           "plot $g%u using 1:2 with boxes lt %u fs solid 0.6 noborder "
                           "title ",
                           index, index % GNUPLOT_COLOURS + 1);
    draw_key(script, title);
    g_string_append_printf(script,
                           ", $mean%u using 1:2 with lines lc rgb '#222222' lw 1.4 "
                           "dt (6,4) title 'mean %.1f %%', $most%u using 1:2 with lines "
                           "lc rgb '#222222' lw 1.2 title 'largest %.1f %%'\n",
                           index, sum / n, index, most);
}

static gboolean
draw_groups(const struct draw *draw, const GArray *groups, GError **error)
{
    guint n = MIN(groups->len, MOST_GROUPS);
    unsigned height = 130 + PANEL_HEIGHT * n;
    struct picture picture;
    GString *script = draw_begin(draw, &picture, "links", height,
                                 "load of links over the whole run, by tier");
    double top = 50.0 / height, bottom = 60.0 / height;

    draw_range(script, 'x', 0, 100);
    g_string_append_printf(script,
                           "set boxwidth %g\nset xtics 0,10\n"
                           "set multiplot\n",
                           0.9 * 100 / N_BINS);
    for (guint i = 0; i < n; i++) {
        double high = 1 - top - (1 - top - bottom) * i / n;
        double low = 1 - top - (1 - top - bottom) * (i + 0.86) / n;

        g_string_append_printf(script,
                               "set tmargin at screen %g\n"
                               "set bmargin at screen %g\n",
                               high, low);
        draw_label(script, 'y', "links", NULL);
        if (i + 1 == n) {
            g_string_append(script, "set format x\n");
            draw_label(script, 'x', "load: time sending over time of the run", "%");
        } else {
            g_string_append(script, "set format x ''\n");
        }
        put_panel(script, &g_array_index(groups, struct group, i), i);
        g_string_append(script, "unset title\nset key title ''\n");
    }
    g_string_append(script, "unset multiplot\n");
    return gnuplot_end(&picture, error);
}

gboolean
draw_links(const struct draw *draw, GError **error)
{
    double run_us = draw_run_us(draw);

    if (!draw->net) {
        return draw_skip(draw, "links", "config.json makes no network any more");
    }
    if (!(run_us > 0)) {
        return draw_skip(draw, "links", "the run has taken no time");
    }
    g_autofree double *busy_us = read_busy(draw, error);

    if (!busy_us) {
        return FALSE;
    }
    g_autoptr(GArray) groups = group_links(draw, busy_us, run_us);

    g_array_sort(groups, compare_groups);
    return groups->len ? draw_groups(draw, groups, error)
                       : draw_skip(draw, "links", "the network has no links");
}
