/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool.c - the slabs behind pool.h.
 */
#include <config.h>

#include "sim/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SLAB_BYTES ((size_t)2 << 20)

void
pool_init(struct pool *pool)
{
    *pool = (struct pool){0};
}

void
pool_clear(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->n_slabs; i++) {
        free(pool->slabs[i]);
    }
    free(pool->slabs);
    pool_init(pool);
}

int64_t
pool_bytes(const struct pool *pool)
{
    return (int64_t)(pool->n_slabs * SLAB_BYTES);
}

void *
pool_grow__(struct pool *pool)
{
    if (pool->n_slabs == pool->cap_slabs) {
        pool->cap_slabs = pool->cap_slabs ? pool->cap_slabs * 2 : 8;
        pool->slabs = realloc(pool->slabs, pool->cap_slabs * sizeof *pool->slabs);
    }
    void *slab = pool->slabs ? aligned_alloc(SLAB_BYTES, SLAB_BYTES) : NULL;
    if (!slab) {
        fputs("rocesim: out of memory\n", stderr);
        abort();
    }
    /* Advice only: without huge pages the pool is slower, not wrong. */
    (void)madvise(slab, SLAB_BYTES, MADV_HUGEPAGE);
    pool->slabs[pool->n_slabs++] = slab;
    pool->fresh = (char *)slab + POOL_ITEM_BYTES;
    pool->fresh_end = (char *)slab + SLAB_BYTES;
    return slab;
}
