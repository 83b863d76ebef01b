/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table.h - what the runs of a sweep have given: runs.csv, sweep.csv, and a table for people.
 */
#ifndef ROCESIM_TOOLS_SWEEP_TABLE_H
#define ROCESIM_TOOLS_SWEEP_TABLE_H

#include "tools/sweep/record.h"

/* Of the values of one metric at one point. */
struct sweep_stat {
    uint32_t n;
    double mean; /* NAN: n is 0 */
    double sd;   /* of the sample, n - 1 degrees of freedom; NAN: n < 2 */
    double
        ci95; /* half the width of the 95 % confidence interval of the mean, by Student's
                    t; likewise */
};

struct sweep_stat sweep_stat_of(const double values[], uint32_t n);

/* 'records' by run; 'mine' by run: is it one of this call's (--shard)? */
char *sweep_runs_csv(const struct sweep *sweep, const struct sweep_record records[],
                     const bool mine[]);
char *sweep_points_csv(const struct sweep *sweep, const struct sweep_record records[],
                       const bool mine[]);
char *sweep_text_table(const struct sweep *sweep, const struct sweep_record records[],
                       const bool mine[]);

#endif
