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
hist_quantile(const struct hist *hist, int64_t rank)
{
    int64_t before = 0;

    for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
        int64_t weight = hist->weight[i];

        if (weight && before + weight >= rank) {
            int64_t low = bucket_floor(i);
            int64_t wide = i + 1 < HIST_BUCKETS ? bucket_floor(i + 1) - 1 - low : 0;
            int64_t into = rank > before ? rank - before : 0;

            return low + (int64_t)((__int128)wide * into / weight);
        }
        before += weight;
    }
    return 0;
}
