/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool.h - items of 64 bytes for what is in flight: packets, messages, pipe entries.
 *
 * A pool belongs to one thread.  Slabs of 2 MiB come from the system, on huge pages where
 * it offers them; an item freed last is handed out first, so it is still in cache.
 * Items are not cleared: whoever takes one sets every field.
 */
#ifndef ROCESIM_SIM_POOL_H
#define ROCESIM_SIM_POOL_H

#include "sim/units.h"

#define POOL_ITEM_BYTES 64

/* An item nobody has. */
struct pool_item {
    struct pool_item *next;
};

/* Private but for n_out. */
struct pool {
    struct pool_item *free; /* items handed back, last first */
    char *fresh;            /* items of the newest slab not handed out yet */
    char *fresh_end;
    void **slabs; /* owned */
    uint32_t n_slabs, cap_slabs;
    int64_t n_out; /* items in use */
};

/* An empty pool; storage of the caller, to be cleared. */
void pool_init(struct pool *pool);

/* Gives all slabs back; items still in use become invalid. */
void pool_clear(struct pool *pool);

/* Bytes of all slabs. */
int64_t pool_bytes(const struct pool *pool);

/* Private: makes a new slab and takes its first item.  Aborts when memory is out. */
void *pool_grow__(struct pool *pool);

/* Takes an item, 64-byte aligned, content undefined. */
static inline void *
pool_get(struct pool *pool)
{
    struct pool_item *item = pool->free;

    pool->n_out++;
    if (likely(item != NULL)) {
        pool->free = item->next;
        return item;
    }
    if (likely(pool->fresh != pool->fresh_end)) {
        void *fresh = pool->fresh;

        pool->fresh += POOL_ITEM_BYTES;
        return fresh;
    }
    return pool_grow__(pool);
}

/* Hands 'item' (owned, from this pool) back. */
static inline void
pool_put(struct pool *pool, void *item)
{
    struct pool_item *head = item;

    head->next = pool->free;
    pool->free = head;
    pool->n_out--;
}

#endif
