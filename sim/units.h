/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * units.h - the base units of the simulator and the arithmetic between them.
 *
 * Time is int64_t picoseconds: a byte is a whole number of them at every Ethernet rate
 * from 10 Gb/s (800) to 1.6 Tb/s (5), and 2^63 ps are 106 days.  Rates are bits per
 * second, sizes bytes.
 */
#ifndef ROCESIM_SIM_UNITS_H
#define ROCESIM_SIM_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS_PER_NS INT64_C(1000)
#define PS_PER_US INT64_C(1000000)
#define PS_PER_MS INT64_C(1000000000)
#define PS_PER_S INT64_C(1000000000000)

/* Later than any event: the time of an empty queue. */
#define TIME_NEVER_PS INT64_MAX

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* A function that is seldom called from a hot one: kept out of it, so that it stays small
 * enough to be inlined itself. */
#define outlined __attribute__((noinline))

/* Time of 'bytes' (0 to 2^60) at 'rate_bps' (>= 1), rounded up.  The product needs up to
 * 107 bits, so this is for set-up and odd rates; else see sim_ps_per_byte(). */
static inline int64_t
sim_tx_time_ps(int64_t bytes, int64_t rate_bps)
{
    __int128 bits_ps = (__int128)bytes * (8 * PS_PER_S);

    return (int64_t)((bits_ps + rate_bps - 1) / rate_bps);
}

/* Picoseconds a byte takes at 'rate_bps', or 0 where that is no whole number. */
static inline uint32_t
sim_ps_per_byte(int64_t rate_bps)
{
    return (8 * PS_PER_S) % rate_bps == 0 ? (uint32_t)(8 * PS_PER_S / rate_bps) : 0;
}

#endif
