/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats.h - the arithmetic behind pictures.
 */
#ifndef ROCESIM_TOOLS_REPORT_STATS_H
#define ROCESIM_TOOLS_REPORT_STATS_H

#include <glib.h>

/* Fairness of 'n' rates: (sum x)^2 / (n sum x^2), 1 when all are alike, 1 / n when one has
 * everything; 1 when all are 0.  Jain, Chiu and Hawe, DEC TR-301, 1984. */
double stats_jain(const double x[], guint n);

/* The 'percent' percentile of 'n' (>= 1) sorted values, by nearest rank as in summary.json. */
double stats_percentile(const double sorted[], guint n, guint percent);

void stats_sort(double values[], guint n);

/* A value of something of a size. */
struct stats_sized {
    double size, value;
};

/* What is between two sizes. */
struct stats_bin {
    double least_size, most_size;
    guint n;
    double p50, p95, p99; /* of the values */
};

/* Sorts 'items' by size and cuts them into at most 'n_bins' of equal count.  What has one
 * size stays in one bin, so a cut moves up to where the size changes, and there may be
 * fewer.  Returns their number. */
guint stats_bins(struct stats_sized items[], guint n, guint n_bins,
                 struct stats_bin bins[]);

/* A point of a cumulative distribution: 'share' of the values is not above 'value'. */
struct stats_step {
    double value, share;
};

/* The distribution of 'n' (>= 1) sorted values in at most 'most' (>= 2) points, the least and
 * the largest value among them.  Returns their number. */
guint stats_cdf(const double sorted[], guint n, guint most, struct stats_step steps[]);

/* How many of 'n' values fall into each of 'n_bins' equal parts from 0 to 'top'; larger ones
 * into the last. */
void stats_histogram(const double values[], guint n, double top, guint n_bins,
                     guint counts[]);

struct stats_span {
    double from, to;
};

/* Joins spans, sorted by 'from', that overlap or are less than 'gap' apart, and makes each
 * at least 'gap' long.  In place; returns how many are left. */
guint stats_join(struct stats_span spans[], guint n, double gap);

#endif
