/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * text.h - numbers as text, the same on every machine.
 *
 * Results are integers and quotients of integers; they are printed by integer arithmetic,
 * so no locale, compiler or libm has a part in a byte of a result file.
 */
#ifndef ROCESIM_TOOLS_RESULTS_TEXT_H
#define ROCESIM_TOOLS_RESULTS_TEXT_H

#include <glib.h>
#include <stdint.h>

/* Appends 'num' / 'den' (den > 0) with at most 'decimals' (0 to 9) places, rounded to
 * nearest (half away from zero), without trailing zeros.  |num| below 2^96. */
void text_quotient(GString *out, __int128 num, __int128 den, unsigned decimals);

/* The same with exactly 'decimals' places, for tables. */
void text_quotient_fixed(GString *out, __int128 num, __int128 den, unsigned decimals);

/* Appends 'value'. */
void text_int(GString *out, int64_t value);

/* Appends 'time_ps' in microseconds, exact: up to six places. */
void text_us(GString *out, int64_t time_ps);

/* Appends 'value', a measured one, with 'decimals' places. */
void text_double(GString *out, double value, unsigned decimals);

/* Appends a duration as a person reads it: "812 ns", "12.4 us", "3.21 ms", "1.7 s". */
void text_time(GString *out, int64_t time_ps);

/* Appends a number with k, M, G: "12.3 M".  A size with kB, MB, GB (powers of 1000) or, when
 * it is a whole number of them, KiB, MiB, GiB. */
void text_count(GString *out, double value);
void text_size(GString *out, int64_t bytes);

/* Appends a CSV field: quoted when it holds a comma, a quote or a line end. */
void text_csv(GString *out, const char *field);

#endif
