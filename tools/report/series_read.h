/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * series_read.h - series.csv as curves to draw.
 */
#ifndef ROCESIM_TOOLS_REPORT_SERIES_READ_H
#define ROCESIM_TOOLS_REPORT_SERIES_READ_H

#include <glib.h>

/* More points than this tell a picture nothing. */
#define CURVE_POINTS 1000

struct curve_sample {
    double time_us, queue_bytes, rate_gbps;
};

/* One port and class. */
struct curve {
    char *port; /* owned */
    unsigned cls;
    double most_bytes; /* largest queue */
    double sum_gbps;   /* of all its samples */
    double paused;     /* samples that found it paused */
    GArray *samples; /* owned: struct curve_sample, by time; at rest they are left out */
};

struct curves {
    GPtrArray *all; /* owned: struct curve, in order of first appearance */
    double interval_us;
    double last_us;
};

/* Reads 'path', whose samples are 'interval_us' apart; the caller frees.  NULL: it cannot be
 * read, or has a line that is none of it. */
struct curves *curves_read(const char *path, double interval_us, GError **error);
void curves_free(struct curves *curves); /* accepts NULL */

/* The run cut into equal parts of whole samples, at most CURVE_POINTS: their number, and the
 * samples in each. */
guint curves_parts(const struct curves *curves, guint *samples_each);

/* Adds the curve's largest queue and mean rate of each part; either may be NULL. */
void curve_fill(const struct curves *curves, const struct curve *curve, double queue[],
                double rate[]);

#endif
