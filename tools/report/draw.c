/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * draw.c - titles, scales and axes of pictures, see draw.h.
 */
#include <config.h>

#include "tools/report/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/results/port_name.h"

/* Characters that the key's column and a title have room for. */
#define KEY_ROOM 38
#define NAME_ROOM 50

/* The end of a name tells more than its beginning. */
static char *
shorten(const char *text, glong most)
{
    glong n = g_utf8_strlen(text, -1), head = most / 3;

    if (n <= most) {
        return g_strdup(text);
    }
    g_autofree char *front = g_utf8_substring(text, 0, head);

    return g_strdup_printf("%s...%s", front,
                           g_utf8_offset_to_pointer(text, n - (most - 3 - head)));
}

char *
draw_short(const char *text, glong most)
{
    const char *to = strstr(text, " to ");

    if (g_utf8_strlen(text, -1) <= most || !to) {
        return shorten(text, most);
    }
    g_autofree char *whole = g_strndup(text, (gsize)(to - text));
    g_autofree char *from = shorten(whole, (most - 4) / 2);
    g_autofree char *end = shorten(to + 4, most - 4 - g_utf8_strlen(from, -1));

    return g_strdup_printf("%s to %s", from, end);
}

void
draw_key(GString *script, const char *text)
{
    g_autofree char *shortened = draw_short(text, KEY_ROOM);

    gnuplot_text(script, shortened);
}

struct draw_scale
draw_time_scale(double most_us)
{
    return most_us >= 2e6   ? (struct draw_scale){1e6, "s"}
           : most_us >= 2e3 ? (struct draw_scale){1e3, "ms"}
                            : (struct draw_scale){1, "us"};
}

struct draw_scale
draw_size_scale(double most_bytes)
{
    return most_bytes >= 2e6   ? (struct draw_scale){1e6, "MB"}
           : most_bytes >= 2e3 ? (struct draw_scale){1e3, "kB"}
                               : (struct draw_scale){1, "B"};
}

GString *
draw_begin(const struct draw *draw, struct picture *picture, const char *name,
           unsigned height, const char *what)
{
    g_autofree char *file = g_strdup_printf("%s/plots/%s.%s", draw->folder.dir, name,
                                            draw->png ? "png" : "svg");
    const char *scenario = folder_text(draw->folder.summary, "scenario");
    g_autofree char *run = draw_short(scenario ? scenario : "run", NAME_ROOM);
    const char *verdict = folder_text(draw->folder.summary, "verdict");
    bool whole = g_strcmp0(verdict, "complete") == 0;
    g_autofree char *title =
        g_strdup_printf("%s: %s%s%s%s", run, what, whole ? "" : " (",
                        whole || !verdict ? "" : verdict, whole ? "" : ")");

    gnuplot_begin(picture, file, draw->png, height);
    g_string_append(picture->script, "set title ");
    gnuplot_text(picture->script, title);
    g_string_append(picture->script, "\nset key title ");
    gnuplot_text(picture->script, draw->presets);
    g_string_append(picture->script, " left noenhanced\n");
    return picture->script;
}

void
draw_label(GString *script, char axis, const char *what, const char *unit)
{
    g_autofree char *label =
        unit ? g_strdup_printf("%s (%s)", what, unit) : g_strdup(what);

    g_string_append_printf(script, "set %clabel ", axis);
    gnuplot_text(script, label);
    g_string_append(script, " noenhanced textcolor rgb '#333333'\n");
}

void
draw_range(GString *script, char axis, double low, double high)
{
    g_string_append_printf(script, "set %crange [", axis);
    gnuplot_number(script, low);
    g_string_append_c(script, ':');
    if (high > low) {
        gnuplot_number(script, high);
    }
    g_string_append(script, "]\n");
}

void
draw_point(GString *script, double a, double b)
{
    gnuplot_number(script, a);
    g_string_append_c(script, ' ');
    gnuplot_number(script, b);
    g_string_append_c(script, '\n');
}

gboolean
draw_skip(const struct draw *draw, const char *name, const char *why)
{
    if (!draw->quiet) {
        fprintf(stderr, "rocesim: no picture '%s': %s\n", name, why);
    }
    return TRUE;
}

const struct port *
draw_find_port(const struct draw *draw, const char *name)
{
    const char *colon = strrchr(name, ':');

    if (!draw->net || !colon) {
        return NULL;
    }
    g_autofree char *node = g_strndup(name, (gsize)(colon - name));
    guint64 index = g_ascii_strtoull(colon + 1, NULL, 10);
    uint32_t n = net_find_node(draw->net, node);

    if (n == UINT32_MAX || index >= draw->net->nodes[n].n_ports) {
        return NULL;
    }
    return &draw->net->ports[draw->net->nodes[n].first_port + index];
}

char *
draw_port_name(const struct draw *draw, const char *name)
{
    const struct port *port = draw_find_port(draw, name);

    return port ? port_name_to(draw->net, port->id) : g_strdup(name);
}

double
draw_run_us(const struct draw *draw)
{
    return folder_number(draw->folder.summary, "run_us");
}
