/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * curves.h - series.csv as curves to draw.
 */
#ifndef ROCESIM_TOOLS_REPORT_CURVES_H
#define ROCESIM_TOOLS_REPORT_CURVES_H

#include <glib.h>

/* More points than this tell a picture nothing. */
#define CURVE_POINTS 1000

struct curve_sample {
    double time_us;
    double queue_bytes; /* of ports */
    double rate_gbps;   /* of ports: sent; of queue pairs: allowed */
    double sent_gbps;   /* of queue pairs */
};

/* One port and class, or one queue pair. */
struct curve {
    char *port; /* owned */
    unsigned cls;
    char *qp;          /* owned: its number; NULL: of a port */
    double most_bytes; /* largest queue */
    double sum_bytes;  /* queues of all its samples: the mean's numerator */
    double sum_gbps;   /* of all its samples: rate_gbps, of queue pairs sent_gbps */
    GArray *samples; /* owned: struct curve_sample, by time; at rest they are left out */
};

struct curves {
    GPtrArray *ports, *qps; /* owned: struct curve, in order of first appearance */
    double interval_us;
    double last_us;
};

/* Reads 'path', whose samples are 'interval_us' apart; the caller frees.  NULL: it cannot be
 * read, or has a line that is none of it. */
struct curves *curves_read(const char *path, double interval_us, GError **error);
void curves_free(struct curves *curves); /* accepts NULL */

/* The run cut into equal parts of whole samples, at most 'most': their number, and the
 * samples in each. */
guint curves_parts(const struct curves *curves, guint most, guint *samples_each);

/* The part of 'each' samples that a sample at 'time_us' ends in. */
guint curves_part_of(const struct curves *curves, double time_us, guint each);

/* Adds the curve's largest queue and mean rate (rate_gbps) of each of curves_parts(); either
 * may be NULL. */
void curve_fill(const struct curves *curves, const struct curve *curve, double queue[],
                double rate[]);

#endif
