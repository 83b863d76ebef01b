/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mem.h - memory from the C library, or the end of the program: nobody has to test for
 * NULL.  All is freed with free().  Set-up and growth only: what a run sends around comes
 * from pool.h.
 */
#ifndef ROCESIM_SIM_MEM_H
#define ROCESIM_SIM_MEM_H

#include <stddef.h>
#include <stdint.h>

/* 'n' items of 'size' bytes (n may be 0), zeroed.  Owned by the caller. */
void *mem_zero(size_t n, size_t size);

/* The same on cache lines; 2 MiB and more on huge pages where the system offers them. */
void *mem_zero_lines(size_t n, size_t size);

/* Makes 'p' (owned, or NULL; steals it) 'n' items of 'size' bytes long, the product
 * not 0; what is new is not cleared.  Owned by the caller. */
void *mem_resize(void *p, size_t n, size_t size);

/* Makes 'p' (likewise) '*cap' items of 'size' bytes long, '*cap' doubled, or 'first'
 * (>= 1) where it was 0. */
void *mem_double(void *p, uint32_t *cap, uint32_t first, size_t size);

/* Says that memory is out and aborts; for allocators of other kinds. */
_Noreturn void mem_out(void);

#endif
