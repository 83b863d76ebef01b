/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rng.c - keys of random streams, and the exponential distribution.
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

/* ln 2 times 2^64. */
#define LN2_Q64 UINT64_C(0xb17217f7d1cf79ab)

/* Bits of the logarithm behind the point.  Squaring a number of 64 bits, cut off each time,
 * errs by less than 2^-62 in each of them. */
enum { LOG_BITS = 48 };

uint64_t
rng_minus_ln_q32(uint64_t u)
{
    if (u == UINT64_MAX) {
        return 0;
    }
    unsigned zeros = (unsigned)__builtin_clzll(u + 1);
    uint64_t m = (u + 1) << zeros; /* 1 to 2, in Q63 */
    uint64_t log2 = 0;             /* of m, in Q48 */

    for (unsigned i = 0; i < LOG_BITS; i++) {
        unsigned __int128 square = (unsigned __int128)m * m; /* 1 to 4, in Q126 */
        unsigned bit = (unsigned)(square >> 127);

        log2 = log2 << 1 | bit;
        m = (uint64_t)(square >> (63 + bit));
    }
    /* (u + 1) / 2^64 is m / 2^(zeros + 1). */
    uint64_t minus_log2 = ((uint64_t)zeros + 1) << LOG_BITS;

    return (uint64_t)(((unsigned __int128)(minus_log2 - log2) * LN2_Q64) >>
                      (64 + LOG_BITS - 32));
}

int64_t
rng_exponential(uint64_t key, uint64_t n, int64_t mean)
{
    /* 57 + 38 bits; the result has 57 + 6. */
    unsigned __int128 product =
        (unsigned __int128)(uint64_t)mean * rng_minus_ln_q32(rng_u64(key, n));

    return (int64_t)((product + (UINT64_C(1) << 31)) >> 32);
}
