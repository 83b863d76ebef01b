/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * progress.h - how far a run is, on stderr: a bar on a terminal, else a line every 10 s.
 *
 * Asked at every epoch; looks at the clock, and at the network only when something is to be
 * printed.
 */
#ifndef ROCESIM_TOOLS_PROGRESS_H
#define ROCESIM_TOOLS_PROGRESS_H

#include "tools/run.h"

struct progress {
    const struct run *run; /* borrowed */
    bool quiet, terminal;
    double begin_s, next_s; /* monotonic */
    bool bar_shown;
    int64_t planned_bytes; /* payload in all */
};

/* From run_start() on. */
void progress_init(struct progress *progress, const struct run *run, bool quiet);

/* Prints when it is time. */
void progress_show(struct progress *progress, int64_t now_ps);

/* Prints one line with the state now, whatever the time: for SIGUSR1. */
void progress_state(struct progress *progress, int64_t now_ps);

/* Takes the bar off the terminal. */
void progress_end(struct progress *progress);

/* Seconds of a clock that only goes forward. */
double progress_clock(void);

#endif
