/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_plot.c - `rocesim plot`: pictures of a finished run.
 */
#include <config.h>

#include "tools/command.h"
#include "tools/report/folder.h"
#include "tools/report/plot.h"

struct plot_options {
    bool png, quiet;
};

static const struct option plot_options[] = {
    {"png", 0, OPTION_FLAG, offsetof(struct plot_options, png), NULL,
     "PNG instead of SVG"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct plot_options, quiet), NULL,
     "say nothing of pictures there is no data for"},
    {0},
};

static int
cmd_plot(int argc, char **argv)
{
    struct plot_options options = {0};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    GError *error = NULL;
    int status;

    if (!command_begin(&command_plot, argc, argv, &options, words, &status)) {
        return status;
    }
    const char *dir = g_ptr_array_index(words, 0);

    if (!plot_results(dir, options.png, options.quiet, &error)) {
        bool input = g_error_matches(error, REPORT_ERROR, REPORT_ERROR_INPUT);

        return command_fail(&error, input ? STATUS_INPUT : STATUS_OUTPUT);
    }
    printf("%s/plots\n", dir);
    return command_end(STATUS_OK);
}

const struct command command_plot = {
    .name = "plot",
    .words = "DIR",
    .doc = "Draws pictures of the results in DIR into DIR/plots.",
    .more = "queue        the longest queues over time, with kmin, kmax and XOFF\n"
            "utilisation  the links that have carried most, over time\n"
            "rates        what each flow sends over time, and Jain's index\n"
            "pauses       when which port stood still for PFC, and because of whom\n"
            "fct          distribution of completion times\n"
            "slowdown     slowdown by size: p50, p95, p99 in 20 bins of equal count\n"
            "busbw        bus bandwidth by call, with its bound\n"
            "links        histogram of the load of links, by tier\n"
            "\n"
            "What there is no data for is not drawn.\n",
    .options = plot_options,
    .least_words = 1,
    .most_words = 1,
    .run = cmd_plot,
};
