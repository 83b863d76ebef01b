/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * decimal.h - numbers as people write them, exactly: "0.001" is one thousandth, not the
 * nearest binary fraction.  Nothing here looks at the locale or computes in floating point.
 */
#ifndef ROCESIM_SIM_DECIMAL_H
#define ROCESIM_SIM_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* Most significant digits (67 bits), and the largest power of ten that 128 bits hold. */
enum { DECIMAL_DIGITS_MAX = 20, DECIMAL_POWER_MAX = 38 };

/* A decimal number, digits / 10^decimals, and what stands behind it. */
struct decimal {
    unsigned __int128 digits; /* below 10^DECIMAL_DIGITS_MAX */
    int decimals;             /* may be negative */
    bool negative;
    const char *rest; /* into the text that was read */
};

/* Why a number cannot be scaled. */
enum decimal_fit { DECIMAL_FITS, DECIMAL_NOT_WHOLE, DECIMAL_TOO_LARGE };

/* 10^n, 0 <= n <= DECIMAL_POWER_MAX. */
unsigned __int128 decimal_power(int n);

/* Reads sign, digits, fraction and exponent from the start of 'text'.  FALSE: no number stands
 * there, or it has more than DECIMAL_DIGITS_MAX significant digits. */
bool decimal_read(const char *text, struct decimal *d);

/* 'd' without its sign x 'size' (1 to 10^18) into '*value'; rounded to nearest if 'rounds',
 * else it must be whole. */
enum decimal_fit decimal_scale(const struct decimal *d, int64_t size, bool rounds,
                               int64_t *value);

#endif
