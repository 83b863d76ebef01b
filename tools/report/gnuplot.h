/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gnuplot.h - one script to gnuplot, one picture from it.
 */
#ifndef ROCESIM_TOOLS_REPORT_GNUPLOT_H
#define ROCESIM_TOOLS_REPORT_GNUPLOT_H

#include <glib.h>
#include <stdbool.h>

/* Begins a script that draws into 'file': terminal, size, colours, grid. */
GString *gnuplot_begin(const char *file, bool png);

/* Appends 'text' between double quotes, what gnuplot would read in it taken as it is. */
void gnuplot_text(GString *script, const char *text);

/* Appends 'value' as gnuplot reads it, whatever the locale. */
void gnuplot_number(GString *script, double value);

/* Runs 'script' (steals it).  FALSE: gnuplot is missing, or what it has said. */
gboolean gnuplot_end(GString *script, GError **error);

#endif
