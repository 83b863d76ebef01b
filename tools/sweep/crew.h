/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * crew.h - runs of a sweep in processes of their own, several at a time: what one of them does,
 * be it a crash, touches no other.
 */
#ifndef ROCESIM_TOOLS_SWEEP_CREW_H
#define ROCESIM_TOOLS_SWEEP_CREW_H

#include <stdbool.h>

#include "tools/sweep/sweep.h"

/* Most processes at a time. */
enum { CREW_MAX = 1024 };

/* How a process has ended. */
struct crew_end {
    bool is_there; /* it was started and has ended */
    bool crashed;  /* by a signal */
    int status;    /* else, what it exited with */
};

enum crew_outcome {
    CREW_DONE,
    CREW_INTERRUPTED, /* SIGINT or SIGTERM has come */
    CREW_FAILED,      /* results cannot be written, or there is no process for a run */
};

/* Makes the 'n' runs of 'sweep' in 'runs', 'n_at_once' at a time, each into its folder below
 * 'folder'; '*ends' are filled in in the same order.  Progress goes to stderr unless 'quiet'.
 * Unless it is done, what was under way has been stopped. */
enum crew_outcome crew_run(const struct sweep *sweep, const uint32_t runs[], uint32_t n,
                           uint32_t n_at_once, const char *folder, bool quiet,
                           struct crew_end ends[]);

#endif
