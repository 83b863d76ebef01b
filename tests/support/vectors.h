/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * vectors.h - frames with their ICRC, of tests/data/icrc/NAME.txt.
 */
#ifndef ROCESIM_TESTS_SUPPORT_VECTORS_H
#define ROCESIM_TESTS_SUPPORT_VECTORS_H

#include <stddef.h>
#include <stdint.h>

enum { VECTOR_MAX_BYTES = 256 };

struct vector {
    char name[64];
    size_t n_bytes;
    uint8_t bytes[VECTOR_MAX_BYTES];
    uint32_t icrc; /* as sent, first byte most significant; 0: none */
};

/* All vectors of both files; fails the test on a line that is none.  Owned by the caller
 * (g_free). */
struct vector *vectors_read(size_t *n);

/* The one whose name begins with 'name'; fails the test without. */
const struct vector *vectors_find(const struct vector *vectors, size_t n,
                                  const char *name);

#endif
