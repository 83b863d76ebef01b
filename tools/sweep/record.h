/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * record.h - one run of a sweep: simulated into its folder, and read back from there.
 *
 * A folder holds config.json, summary.json and run.json {"version", "status"}; with `keep`
 * "all" all other files of a run.  A scenario that cannot be built leaves a summary.json with
 * the verdict bad-input.
 */
#ifndef ROCESIM_TOOLS_SWEEP_RECORD_H
#define ROCESIM_TOOLS_SWEEP_RECORD_H

#include <stdbool.h>

#include "tools/sweep/sweep.h"

/* What is known of a run. */
struct sweep_record {
    char *verdict;  /* owned; NULL: it has not been done */
    int status;     /* as of `rocesim run` */
    double *values; /* owned, by metric; NAN: the summary has none */
};

void sweep_record_clear(struct sweep_record *record);

/* Simulates 'run' in one thread and writes 'path', whatever is there of an earlier run.
 * Returns an exit status: that of the run, or 2 and 3 as usual, with a line on stderr; 130
 * after SIGINT or SIGTERM, which must be blocked, and then nothing is written. */
int sweep_record_make(const struct sweep *sweep, uint32_t run, const char *path);

/* Reads the record of 'run' in 'path'.  FALSE: there is none, or it is of another scenario or
 * version. */
bool sweep_record_read(const struct sweep *sweep, uint32_t run, const char *path,
                       struct sweep_record *record);

/* Copies the files of the folder 'from' to the new folder 'to'. */
gboolean sweep_record_copy(const char *from, const char *to, GError **error);

/* Did the run come to an end that lets its numbers be compared? */
bool sweep_record_is_usable(const struct sweep_record *record);

#endif
