/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * draw.h - what the pictures of a folder share, and the pictures themselves.
 *
 * Each draw_NAME() makes plots/NAME.svg, or says why not and returns TRUE.
 */
#ifndef ROCESIM_TOOLS_REPORT_DRAW_H
#define ROCESIM_TOOLS_REPORT_DRAW_H

#include <stdbool.h>

#include "models/net.h"
#include "tools/report/curves.h"
#include "tools/report/folder.h"
#include "tools/report/gnuplot.h"
#include "tools/scenario/scenario.h"

struct draw {
    bool png, quiet;
    struct folder folder;      /* owned */
    struct curves *curves;     /* owned; NULL: the run has no samples */
    struct scenario *scenario; /* owned; NULL: config.json makes no network any more */
    struct net *net;           /* owned; likewise */
    char *presets;             /* owned: title of every key, lines */
};

/* How an axis shows its values: they are divided by 'per'. */
struct draw_scale {
    double per;
    const char *unit;
};

struct draw_scale draw_time_scale(double most_us);
struct draw_scale draw_size_scale(double most_bytes);

/* Begins the picture 'name' with title "SCENARIO: what" and the presets over its key. */
GString *draw_begin(const struct draw *draw, struct picture *picture, const char *name,
                    unsigned height, const char *what);

/* "what (unit)" along axis 'x' or 'y'; 'unit' may be NULL. */
void draw_label(GString *script, char axis, const char *what, const char *unit);

/* Range of an axis; 'high' not above 'low': as far as the data goes. */
void draw_range(GString *script, char axis, double low, double high);

/* Appends "a b\n". */
void draw_point(GString *script, double a, double b);

/* Appends 'text' as gnuplot_text() does, shortened to what a key has room for. */
void draw_key(GString *script, const char *text);

/* 'text' in at most 'most' (>= 16) characters, names on both sides of " to " shortened each.
 * Owned by the caller (g_free). */
char *draw_short(const char *text, glong most);

/* Says that there is no picture 'name'. */
gboolean draw_skip(const struct draw *draw, const char *name, const char *why);

/* The port called 'name' ("leaf0:1"), or NULL; "leaf0:1 to host1" of it as far as known,
 * owned by the caller. */
const struct port *draw_find_port(const struct draw *draw, const char *name);
char *draw_port_name(const struct draw *draw, const char *name);

/* Time of the run, us. */
double draw_run_us(const struct draw *draw);

gboolean draw_queue(const struct draw *draw, GError **error);
gboolean draw_utilisation(const struct draw *draw, GError **error);
gboolean draw_rates(const struct draw *draw, GError **error);
gboolean draw_pauses(const struct draw *draw, GError **error);
gboolean draw_fct(const struct draw *draw, GError **error);
gboolean draw_slowdown(const struct draw *draw, GError **error);
gboolean draw_busbw(const struct draw *draw, GError **error);
gboolean draw_links(const struct draw *draw, GError **error);

#endif
