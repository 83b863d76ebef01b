/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool.c - the slabs behind pool.h.
 */
#include <config.h>

#include "sim/pool.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "sim/mem.h"

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
        pool->slabs = mem_double(pool->slabs, &pool->cap_slabs, 8, sizeof *pool->slabs);
    }
    void *slab = aligned_alloc(SLAB_BYTES, SLAB_BYTES);

    if (!slab) {
        mem_out();
    }
    /* Advice only: without huge pages the pool is slower, not wrong. */
    (void)madvise(slab, SLAB_BYTES, MADV_HUGEPAGE);
    pool->slabs[pool->n_slabs++] = slab;
    pool->fresh = (char *)slab + POOL_ITEM_BYTES;
    pool->fresh_end = (char *)slab + SLAB_BYTES;
    return slab;
}
