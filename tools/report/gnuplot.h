/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gnuplot.h - one script to gnuplot, one picture from it.
 */
#ifndef ROCESIM_TOOLS_REPORT_GNUPLOT_H
#define ROCESIM_TOOLS_REPORT_GNUPLOT_H

#include <glib.h>
#include <stdbool.h>

/* Line types 1 to this are of colours that can be told apart. */
#define GNUPLOT_COLOURS 8
#define GNUPLOT_HEIGHT 440

/* A picture in the making. */
struct picture {
    char *file, *temp; /* owned: where it will be, where it is drawn */
    GString *script;   /* owned */
};

/* Begins one that will be 'file', 'height' (GNUPLOT_HEIGHT) pixels high: terminal, colours,
 * grid, key. */
void gnuplot_begin(struct picture *picture, const char *file, bool png, unsigned height);

/* Appends 'text' between double quotes, what gnuplot would read in it taken as it is. */
void gnuplot_text(GString *script, const char *text);

/* The same for the label of a tick, which gnuplot reads as a format. */
void gnuplot_tick(GString *script, const char *text);

/* Appends 'value' as gnuplot reads it, whatever the locale. */
void gnuplot_number(GString *script, double value);

/* Draws 'picture' and frees what it owns.  The file appears whole or not at all.  FALSE:
 * gnuplot is missing, or what it has said. */
gboolean gnuplot_end(struct picture *picture, GError **error);

#endif
