/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plot.h - pictures of a finished run, drawn by gnuplot into DIR/plots.
 *
 * Everything is read from the folder: series.csv, collectives.csv, config.json.
 */
#ifndef ROCESIM_TOOLS_REPORT_PLOT_H
#define ROCESIM_TOOLS_REPORT_PLOT_H

#include <glib.h>
#include <stdbool.h>

#define PLOT_ERROR plot_error_quark()
GQuark plot_error_quark(void);

enum plot_error {
    PLOT_ERROR_INPUT, /* no folder of results, or one that cannot be read */
    PLOT_ERROR_TOOL,  /* gnuplot is missing or has failed */
    PLOT_ERROR_WRITE, /* DIR/plots cannot be written */
};

/* Draws what there is data for; SVG, or 'png'.  A picture without data is left out, with a
 * sentence on stderr unless 'quiet'. */
gboolean plot_results(const char *dir, bool png, bool quiet, GError **error);

#endif
