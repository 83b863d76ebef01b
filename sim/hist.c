/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hist.c - reading the histogram of hist.h.
 */
#include <config.h>

#include "sim/hist.h"

static int64_t
bucket_floor(uint32_t bucket)
{
    const uint32_t n_sub = 1u << HIST_SUB_BITS;

    if (bucket < n_sub) {
        return bucket;
    }
    uint32_t top = (bucket >> HIST_SUB_BITS) + HIST_SUB_BITS - 1;

    return (int64_t)(n_sub + (bucket & (n_sub - 1))) << (top - HIST_SUB_BITS);
}

void
hist_merge(struct hist *into, const struct hist *from)
{
    for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
        into->weight[i] += from->weight[i];
    }
    into->total += from->total;
}

int64_t
hist_percentile(const struct hist *hist, int64_t permille)
{
    /* Weights are durations below 2^53 ps or counts: the product stays below 2^63. */
    int64_t rank = (hist->total * permille + 999) / 1000;
    int64_t seen = 0;

    if (hist->total == 0) {
        return 0;
    }
    if (rank < 1) {
        rank = 1;
    }
    for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
        seen += hist->weight[i];
        if (seen >= rank) {
            return bucket_floor(i);
        }
    }
    return bucket_floor(HIST_BUCKETS - 1);
}
