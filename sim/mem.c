/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mem.c - the C library's allocator behind mem.h.
 */
#include <config.h>

#include "sim/mem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

void *
mem_zero(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    if (!p) {
        mem_out();
    }
    return p;
}

void *
mem_zero_lines(size_t n, size_t size)
{
    size_t bytes;
    void *p = NULL;

    if (__builtin_mul_overflow(n ? n : 1, size, &bytes)) {
        mem_out();
    }
    bytes = (bytes + 63) / 64 * 64;
    bool is_large = bytes >= HUGE_PAGE_BYTES;

    if (posix_memalign(&p, is_large ? HUGE_PAGE_BYTES : 64, bytes) != 0) {
        mem_out();
    }
    if (is_large) {
        /* Advice only: without huge pages it is slower, not wrong. */
        (void)madvise(p, bytes, MADV_HUGEPAGE);
    }
    return memset(p, 0, bytes);
}

void *
mem_resize(void *p, size_t n, size_t size)
{
    p = reallocarray(p, n, size);
    if (!p) {
        mem_out();
    }
    return p;
}

void *
mem_double(void *p, uint32_t *cap, uint32_t first, size_t size)
{
    *cap = *cap ? *cap * 2 : first;
    return mem_resize(p, *cap, size);
}

void
mem_out(void)
{
    fputs("rocesim: out of memory\n", stderr);
    abort();
}
