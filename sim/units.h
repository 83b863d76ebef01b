/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * units.h - picoseconds, bits per second, bytes.
 *
 * Invariant: nothing here rounds down a time.
 */
#ifndef SIM_UNITS_H
#define SIM_UNITS_H

#include <stdint.h>

#define SIM_PS_PER_S INT64_C(1000000000000)

/* The time 'size_bytes' (>= 0) take at 'rate_bps' (> 0), in ps, rounded up.
 * The product has 128 bits; the result must fit 63. */
static inline int64_t
sim_tx_time_ps(int64_t size_bytes, int64_t rate_bps)
{
    __extension__ typedef __int128 wide;
    const wide bits_ps = (wide)size_bytes * 8 * SIM_PS_PER_S;

    return (int64_t)((bits_ps + rate_bps - 1) / rate_bps);
}

#endif
