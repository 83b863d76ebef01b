/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * progress.c - how far a run is, on stderr, see progress.h.
 *
 * The share of work is that of payload, or that of the time until `stop` when that is more.
 */
#include <config.h>

#include "tools/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tools/forecast.h"
#include "tools/results/text.h"

#define BAR_SECONDS 0.25
#define LINE_SECONDS 10.0
#define BAR_CELLS 24

double
progress_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void
progress_init(struct progress *progress, const struct run *run, bool quiet)
{
    double now_s = progress_clock();
    g_autofree struct work_plan *planned = forecast_plan(run);

    *progress = (struct progress){
        .run = run, .quiet = quiet, .terminal = isatty(STDERR_FILENO), .begin_s = now_s};
    progress->next_s = now_s + (progress->terminal ? BAR_SECONDS : LINE_SECONDS);
    for (uint32_t i = 0; i < run->net->n_qps; i++) {
        progress->planned_bytes += planned[i].bytes;
    }
}

/* Share of the work that is done, 0 to 1; negative: not known. */
static double
share_done(const struct progress *progress, int64_t now_ps)
{
    int64_t stop_ps = progress->run->scenario->stop_ps;
    double by_time = stop_ps > 0 ? (double)now_ps / (double)stop_ps : -1;
    double by_bytes = progress->planned_bytes ? (double)run_payload_bytes(progress->run) /
                                                    (double)progress->planned_bytes
                                              : -1;
    double share = by_bytes > by_time ? by_bytes : by_time;

    return share > 1 ? 1 : share;
}

static void
append_left(GString *line, double share, double spent_s)
{
    if (share > 0.001 && share < 1) {
        double left_s = spent_s * (1 - share) / share;

        g_string_append(line, ", ");
        if (left_s >= 3600) {
            g_string_append_printf(line, "%d h %02d min left", (int)(left_s / 3600),
                                   (int)(left_s / 60) % 60);
        } else if (left_s >= 100) {
            g_string_append_printf(line, "%d min left", (int)(left_s / 60 + 0.5));
        } else {
            g_string_append_printf(line, "%d s left", (int)(left_s + 0.5));
        }
    }
}

/* "3.21 ms simulated, 42 %, 12.3 M packet-hops/s, 12 s left" */
static void
append_state(GString *line, const struct progress *progress, int64_t now_ps, double share)
{
    double spent_s = progress_clock() - progress->begin_s;

    text_time(line, now_ps);
    g_string_append(line, " simulated");
    if (share >= 0) {
        g_string_append_printf(line, ", %d %%", (int)(share * 100));
    }
    g_string_append(line, ", ");
    text_count(line, spent_s > 0 ? (double)run_packet_hops(progress->run) / spent_s : 0);
    g_string_append(line, " packet-hops/s");
    append_left(line, share, spent_s);
}

static void
append_bar(GString *line, double share)
{
    int full = share > 0 ? (int)(share * BAR_CELLS) : 0;

    g_string_append_c(line, '[');
    for (int i = 0; i < BAR_CELLS; i++) {
        g_string_append_c(line, i < full ? '#' : '.');
    }
    g_string_append(line, "] ");
}

void
progress_show(struct progress *progress, int64_t now_ps)
{
    if (progress->quiet) {
        return;
    }
    double now_s = progress_clock();

    if (now_s < progress->next_s) {
        return;
    }
    g_autoptr(GString) line = g_string_new(progress->terminal ? "\r" : "rocesim: ");
    double share = share_done(progress, now_ps);

    if (progress->terminal) {
        append_bar(line, share);
    }
    append_state(line, progress, now_ps, share);
    /* Behind the line: clear what an older, longer one has left. */
    g_string_append(line, progress->terminal ? "\033[K" : "\n");
    fputs(line->str, stderr);
    fflush(stderr);
    progress->bar_shown = progress->terminal;
    progress->next_s = now_s + (progress->terminal ? BAR_SECONDS : LINE_SECONDS);
}

void
progress_end(struct progress *progress)
{
    if (progress->bar_shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        progress->bar_shown = false;
    }
}

void
progress_state(struct progress *progress, int64_t now_ps)
{
    g_autoptr(GString) line = g_string_new("rocesim: ");

    progress_end(progress);
    append_state(line, progress, now_ps, share_done(progress, now_ps));
    g_string_append_printf(line, ", %" G_GINT64_FORMAT " operations outstanding\n",
                           net_n_ops(progress->run->net));
    fputs(line->str, stderr);
    fflush(stderr);
}
