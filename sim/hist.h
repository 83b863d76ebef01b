/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hist.h - log-bucket histogram: 8 buckets an octave over [0, 2^47).
 *
 * A value is known to within 1/8 of itself (below 8 exactly).  Weights are counts or
 * durations.  Adding is O(1); merging is adding bucket by bucket, so the result does not
 * depend on the order.
 */
#ifndef ROCESIM_SIM_HIST_H
#define ROCESIM_SIM_HIST_H

#include "sim/units.h"

#define HIST_SUB_BITS 3
#define HIST_BUCKETS 360

/* All zero is an empty histogram. */
struct hist {
    int64_t weight[HIST_BUCKETS];
    int64_t total;
};

/* Bucket of 'value' (>= 0); values past the range fall into the last one. */
static inline uint32_t
hist_bucket(int64_t value)
{
    uint64_t v = (uint64_t)value;

    if (v < (1u << HIST_SUB_BITS)) {
        return (uint32_t)v;
    }
    uint32_t top = 63u - (uint32_t)__builtin_clzll(v);
    uint32_t sub = (uint32_t)(v >> (top - HIST_SUB_BITS)) & ((1u << HIST_SUB_BITS) - 1);
    uint32_t b = ((top - HIST_SUB_BITS + 1) << HIST_SUB_BITS) + sub;

    return b < HIST_BUCKETS ? b : HIST_BUCKETS - 1;
}

static inline void
hist_add(struct hist *hist, int64_t value, int64_t weight)
{
    hist->weight[hist_bucket(value)] += weight;
    hist->total += weight;
}

/* Adds all of 'from' to 'into'. */
void hist_merge(struct hist *into, const struct hist *from);

/* The value that 'rank' (1 to total) of the weight does not exceed, drawn as a straight
 * line within its bucket; 0 for an empty histogram. */
int64_t hist_quantile(const struct hist *hist, int64_t rank);

#endif
