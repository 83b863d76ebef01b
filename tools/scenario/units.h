/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * units.h - quantities as people write them, to whole numbers of base units.
 *
 *     time    "1us" "2.5ms"            ps     ps ns us ms s min
 *     rate    "100G" "100Gbps" "5Mbps" bit/s  k/K M G T, with or without bps or bit/s
 *     size    "64KiB" "400KB" "9000B"  bytes  B kB/KB MB GB TB KiB MiB GiB TiB
 *     length  "3m" "1.5km"             mm     mm cm m km
 *     share, fraction  0.2 "0.2" "20%"
 *     ratio   "3:2"
 *
 * A decimal fraction must be a whole number of base units ("2.5us" is, "0.3ps" is not), for
 * shares and fractions it is rounded to nearest.  Nothing here looks at the locale or
 * computes in floating point.
 */
#ifndef ROCESIM_TOOLS_SCENARIO_UNITS_H
#define ROCESIM_TOOLS_SCENARIO_UNITS_H

#include <glib.h>

#include "sim/param.h"

#define UNITS_ERROR units_error_quark()
GQuark units_error_quark(void);

enum units_error {
    UNITS_ERROR_FORM,  /* not of the form, an unknown unit, no unit */
    UNITS_ERROR_RANGE, /* does not fit 63 bits, or no whole number of base units */
};

/* Reads 'text' as a quantity of 'kind' (not a bool or enum) into '*value', which is >= 0.
 * An integer may have a sign and no unit.  Blanks are allowed nowhere but between number
 * and unit.  Messages: "is '5'; a unit is missing, write for example 5us". */
gboolean units_parse(const char *text, enum param_kind kind, int64_t *value,
                     GError **error);

/* The unit that messages put behind a bare number ("us"), "" where there is none. */
const char *units_example(enum param_kind kind);

/* "a time such as \"1us\"", "a rate such as \"100G\""...: what a parameter of
 * 'kind' takes. */
const char *units_wanted(enum param_kind kind);

/* Picoseconds light takes over 'length_mm' (0 to 10^9) of cable, rounded to nearest.
 * 5.05 ns/m: 0.66 of the speed of light (198 m/us), fibre and copper alike. */
int64_t units_cable_ps(int64_t length_mm);

/* The cable that takes 'delay_ps' (>= 0), in mm: the inverse of units_cable_ps(). */
int64_t units_cable_mm(int64_t delay_ps);

#endif
