/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rng.c - keys of random streams.
 * The path is hashed with FNV-1a (64 bit) before the mixing of rng.h.
 */
#include <config.h>

#include "sim/rng.h"

static uint64_t
hash_text(uint64_t h, const char *text)
{
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    }
    /* The end counts, so that ("ab", "c") and ("a", "bc") differ. */
    return (h ^ 0x100) * UINT64_C(0x100000001b3);
}

uint64_t
rng_key(uint64_t seed, const char *path, const char *purpose)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    h = hash_text(h, path);
    h = hash_text(h, purpose);
    return rng_mix(rng_mix(seed + UINT64_C(0x9e3779b97f4a7c15)) ^ h);
}
