/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rng.h - random numbers as a pure function of (seed, object, purpose, n).
 *
 * A stream is a 64-bit key made from the scenario's seed, the path of the object and the
 * purpose; the n-th draw is a hash of key and n.  So a draw depends on nothing another
 * object does, and adding a switch changes no other switch's draws.
 *
 * Source: the mixing steps are those of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
 * A logarithm is taken bit by bit by squaring (Knuth, The Art of Computer Programming 1,
 * section 1.2.2): integers only, so that no libm or compiler has a part in a draw.
 */
#ifndef ROCESIM_SIM_RNG_H
#define ROCESIM_SIM_RNG_H

#include "sim/units.h"

static inline uint64_t
rng_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Key of the stream that the object called 'path' uses for 'purpose'. */
uint64_t rng_key(uint64_t seed, const char *path, const char *purpose);

/* Draw number 'n' of the stream 'key': 64 random bits. */
static inline uint64_t
rng_u64(uint64_t key, uint64_t n)
{
    return rng_mix(rng_mix(key + (n + 1) * UINT64_C(0x9e3779b97f4a7c15)) ^ key);
}

/* Draw number 'n' as a whole number in [0, 'bound'), 'bound' >= 1. */
static inline uint64_t
rng_below(uint64_t key, uint64_t n, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)rng_u64(key, n) * bound) >> 64);
}

/* -ln((u + 1) / 2^64) in Q32, 0 to 64 ln 2; less than 1.0001 below and 0.0001 above the
 * exact value times 2^32.  About 40 multiplications. */
uint64_t rng_minus_ln_q32(uint64_t u);

/* Draw number 'n' of the exponential distribution of mean 'mean' (0 to 2^57), to the
 * nearest whole number.  At most 44.4 times the mean. */
int64_t rng_exponential(uint64_t key, uint64_t n, int64_t mean);

#endif
