/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * progress.c - how far a run is, on stderr, see progress.h.
 *
 * The share of work is that of bytes: of flows exactly, of collectives by calls, each
 * weighing its bytes; without either, that of the time until `stop`.
 */
#include <config.h>

#include "tools/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

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

    *progress = (struct progress){
        .run = run, .quiet = quiet, .terminal = isatty(STDERR_FILENO), .begin_s = now_s};
    progress->next_s = now_s + (progress->terminal ? BAR_SECONDS : LINE_SECONDS);
}

static void
add_flows(const struct work *work, double *done, double *all)
{
    uint32_t n = 0;
    const struct flow_result *flows =
        work->ops->flows ? work->ops->flows(work->state, &n) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        *all += (double)flows[i].bytes;
        *done += flows[i].sent_ps != TIME_NEVER_PS ? (double)flows[i].bytes : 0;
    }
}

static void
add_calls(const struct work *work, double *done, double *all)
{
    uint32_t n = 0;
    const struct call_result *calls =
        work->ops->calls ? work->ops->calls(work->state, &n) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        *all += (double)calls[i].bytes + 1;
        *done += calls[i].end_ps != TIME_NEVER_PS ? (double)calls[i].bytes + 1 : 0;
    }
}

/* Are there flows and nothing else?  Then payload tells more than flows that are done. */
static bool
has_only_flows(const struct run *run)
{
    for (guint w = 0; w < run->works->len; w++) {
        const struct work *work = g_ptr_array_index(run->works, w);

        if (!work->ops->flows || work->ops->calls) {
            return false;
        }
    }
    return true;
}

double
progress_share(const struct run *run, int64_t now_ps)
{
    int64_t stop_ps = run->scenario->stop_ps;
    double by_time = stop_ps > 0 ? (double)now_ps / (double)stop_ps : -1;
    double done = 0, all = 0;

    for (guint w = 0; w < run->works->len; w++) {
        const struct work *work = g_ptr_array_index(run->works, w);

        add_flows(work, &done, &all);
        add_calls(work, &done, &all);
    }
    if (has_only_flows(run)) {
        done = (double)run_payload_bytes(run);
    }
    double share = all > 0 ? done / all : -1;

    share = share > by_time ? share : by_time;
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
    double share = progress_share(progress->run, now_ps);

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
    append_state(line, progress, now_ps, progress_share(progress->run, now_ps));
    g_string_append_printf(line, ", %" G_GINT64_FORMAT " operations outstanding\n",
                           net_n_ops(progress->run->net));
    fputs(line->str, stderr);
    fflush(stderr);
}
