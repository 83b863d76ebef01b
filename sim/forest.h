/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * forest.h - which of n things belong together: disjoint sets as a forest.
 *
 * 'parent[i]' is i for a root; the caller sets all to themselves first.  The root of a
 * set is its least member, in whatever order sets are joined.  Set-up only.
 */
#ifndef ROCESIM_SIM_FOREST_H
#define ROCESIM_SIM_FOREST_H

#include <stdint.h>

/* Root of the set of 'i'.  Flattens the way there: O(log n) over many calls. */
static inline uint32_t
forest_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Makes the sets of 'a' and 'b' one. */
static inline void
forest_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    uint32_t x = forest_root(parent, a), y = forest_root(parent, b);

    if (x < y) {
        parent[y] = x;
    } else {
        parent[x] = y;
    }
}

#endif
