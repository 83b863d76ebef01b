/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plot.h - pictures of a finished run, drawn by gnuplot into DIR/plots.
 *
 * Everything is read from the folder, nothing depends on when or where: the same folder gives
 * the same bytes.
 */
#ifndef ROCESIM_TOOLS_REPORT_PLOT_H
#define ROCESIM_TOOLS_REPORT_PLOT_H

#include <glib.h>
#include <stdbool.h>

/* Draws what there is data for; SVG, or 'png'.  A picture without data is left out, with a
 * sentence on stderr unless 'quiet'.  Errors are REPORT_ERROR. */
gboolean plot_results(const char *dir, bool png, bool quiet, GError **error);

#endif
