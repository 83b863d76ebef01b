/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats.c - the arithmetic behind pictures, see stats.h.
 */
#include <config.h>

#include "tools/report/stats.h"

#include <stdlib.h>

double
stats_jain(const double x[], guint n)
{
    double sum = 0, squares = 0;

    for (guint i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    return squares > 0 ? sum * sum / (n * squares) : 1;
}

static int
compare_doubles(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;

    return (a > b) - (a < b);
}

void
stats_sort(double values[], guint n)
{
    if (n) {
        qsort(values, n, sizeof *values, compare_doubles);
    }
}

double
stats_percentile(const double sorted[], guint n, guint percent)
{
    guint64 rank = ((guint64)n * percent + 99) / 100;

    return sorted[rank ? rank - 1 : 0];
}

static int
compare_sized(const void *pa, const void *pb)
{
    const struct stats_sized *a = pa, *b = pb;

    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    return (a->value > b->value) - (a->value < b->value);
}

static struct stats_bin
make_bin(const struct stats_sized items[], guint n)
{
    g_autofree double *values = g_new(double, n);
    struct stats_bin bin = {
        .least_size = items[0].size, .most_size = items[n - 1].size, .n = n};

    for (guint i = 0; i < n; i++) {
        values[i] = items[i].value;
    }
    stats_sort(values, n);
    bin.p50 = stats_percentile(values, n, 50);
    bin.p95 = stats_percentile(values, n, 95);
    bin.p99 = stats_percentile(values, n, 99);
    return bin;
}

guint
stats_bins(struct stats_sized items[], guint n, guint n_bins, struct stats_bin bins[])
{
    guint made = 0, from = 0;

    if (n) {
        qsort(items, n, sizeof *items, compare_sized);
    }
    for (guint b = 0; b < n_bins; b++) {
        guint to = (guint)((guint64)n * (b + 1) / n_bins);

        while (to > from && to < n && items[to].size == items[to - 1].size) {
            to++;
        }
        if (to > from) {
            bins[made++] = make_bin(&items[from], to - from);
            from = to;
        }
    }
    return made;
}

guint
stats_cdf(const double sorted[], guint n, guint most, struct stats_step steps[])
{
    guint made = 0;

    for (guint i = 0; i < most; i++) {
        /* Ranks 1 to n, evenly; all of them when there are few. */
        guint rank = n <= most ? i + 1 : 1 + (guint)((guint64)(n - 1) * i / (most - 1));

        if (rank > n) {
            break;
        }
        /* Where values are equal the last one tells. */
        if (made && steps[made - 1].value == sorted[rank - 1]) {
            made--;
        }
        steps[made++] = (struct stats_step){sorted[rank - 1], (double)rank / n};
    }
    return made;
}

void
stats_histogram(const double values[], guint n, double top, guint n_bins, guint counts[])
{
    for (guint b = 0; b < n_bins; b++) {
        counts[b] = 0;
    }
    for (guint i = 0; i < n; i++) {
        double at = values[i] / top * n_bins;
        guint b = at > 0 ? (guint)MIN(at, (double)(n_bins - 1)) : 0;

        counts[b]++;
    }
}

guint
stats_join(struct stats_span spans[], guint n, double gap)
{
    guint made = 0;

    for (guint i = 0; i < n; i++) {
        struct stats_span span = {spans[i].from, MAX(spans[i].to, spans[i].from + gap)};

        if (made && span.from < spans[made - 1].to + gap) {
            spans[made - 1].to = MAX(spans[made - 1].to, span.to);
        } else {
            spans[made++] = span;
        }
    }
    return made;
}
