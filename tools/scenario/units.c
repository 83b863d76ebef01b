/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * units.c - a number (sim/decimal.h) and what unit stands behind it.
 */
#include <config.h>

#include "tools/scenario/units.h"

#include <string.h>

#include "sim/decimal.h"

/* A unit and its size in base units. */
struct unit {
    const char *name; /* NULL ends a list */
    int64_t size;
};

static const struct unit time_units[] = {
    {"ps", 1},
    {"ns", 1000},
    {"us", 1000000},
    {"\xc2\xb5s", 1000000}, /* micro sign */
    {"\xce\xbcs", 1000000}, /* Greek mu */
    {"ms", 1000000000},
    {"s", INT64_C(1000000000000)},
    {"min", INT64_C(60000000000000)},
    {NULL, 0},
};
/* Without "bit/s": a prefix, or nothing. */
static const struct unit rate_units[] = {
    {"k", 1000},
    {"K", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"T", INT64_C(1000000000000)},
    {NULL, 0},
};
static const struct unit size_units[] = {
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", INT64_C(1000000000000)},
    {"KiB", INT64_C(1) << 10},
    {"MiB", INT64_C(1) << 20},
    {"GiB", INT64_C(1) << 30},
    {"TiB", INT64_C(1) << 40},
    {NULL, 0},
};
static const struct unit length_units[] = {
    {"mm", 1}, {"cm", 10}, {"m", 1000}, {"km", 1000000}, {NULL, 0},
};

static int64_t
unit_find(const struct unit *units, const char *name)
{
    for (; units->name != NULL; units++) {
        if (strcmp(units->name, name) == 0) {
            return units->size;
        }
    }
    return 0;
}

static gboolean
fail_range(GError **error, const char *text, const char *why)
{
    g_set_error(error, UNITS_ERROR, UNITS_ERROR_RANGE, "is '%.60s', %s", text, why);
    return FALSE;
}

/* 'd' x 'size' into '*value'; rounded to nearest if 'rounds', else it must be whole. */
static gboolean
scale(const struct decimal *d, int64_t size, bool rounds, const char *text,
      int64_t *value, GError **error)
{
    switch (decimal_scale(d, size, rounds, value)) {
    case DECIMAL_FITS:
        return TRUE;
    case DECIMAL_NOT_WHOLE:
        return fail_range(error, text, "which is no whole number of the smallest unit");
    case DECIMAL_TOO_LARGE:
        break;
    }
    return fail_range(error, text, "which is too large");
}

/* Size of the unit that 'name' is of 'kind'; 0: none. */
static int64_t
unit_size(enum param_kind kind, const char *name)
{
    char prefix[8];
    size_t n;

    switch (kind) {
    case PARAM_TIME:
        return unit_find(time_units, name);
    case PARAM_SIZE:
        return unit_find(size_units, name);
    case PARAM_LENGTH:
        return unit_find(length_units, name);
    case PARAM_RATE:
        if (strcmp(name, "bps") == 0 || strcmp(name, "bit/s") == 0) {
            return 1;
        }
        n = g_str_has_suffix(name, "bps")     ? strlen(name) - 3
            : g_str_has_suffix(name, "bit/s") ? strlen(name) - 5
                                              : strlen(name);
        if (n >= sizeof prefix) {
            return 0;
        }
        memcpy(prefix, name, n);
        prefix[n] = '\0';
        return unit_find(rate_units, prefix);
    case PARAM_FRACTION:
        return name[0] == '\0' ? PARAM_ONE : 0;
    case PARAM_SHARE:
        return name[0] == '\0' ? PARAM_SHARE_ONE : 0;
    case PARAM_INTEGER:
        return name[0] == '\0' ? 1 : 0;
    case PARAM_RATIO:
    case PARAM_BOOL:
    case PARAM_ENUM:
        break;
    }
    return 0;
}

/* "N:M", each 1 to PARAM_RATIO_MAX. */
static gboolean
ratio_parse(const char *text, int64_t *value, GError **error)
{
    int64_t term[2] = {0, 0};
    const char *at = text;

    for (int i = 0; i < 2; i++) {
        const char *first = at;

        for (; g_ascii_isdigit(*at) && term[i] <= PARAM_RATIO_MAX; at++) {
            term[i] = term[i] * 10 + (*at - '0');
        }
        if (at == first || *at != (i == 0 ? ':' : '\0')) {
            g_set_error(error, UNITS_ERROR, UNITS_ERROR_FORM, "is '%.60s'; allowed is %s",
                        text, units_wanted(PARAM_RATIO));
            return FALSE;
        }
        at += i == 0;
    }
    if (term[0] < 1 || term[0] > PARAM_RATIO_MAX || term[1] < 1 ||
        term[1] > PARAM_RATIO_MAX) {
        return fail_range(error, text, "whose terms must be 1 to 2147483647");
    }
    *value = PARAM_RATIO_OF(term[0], term[1]);
    return TRUE;
}

static gboolean
fail_form(GError **error, const char *text, enum param_kind kind)
{
    g_set_error(error, UNITS_ERROR, UNITS_ERROR_FORM, "is '%.60s'; allowed is %s", text,
                units_wanted(kind));
    return FALSE;
}

GQuark
units_error_quark(void)
{
    return g_quark_from_static_string("units-error");
}

gboolean
units_parse(const char *text, enum param_kind kind, int64_t *value, GError **error)
{
    bool rounds = kind == PARAM_FRACTION || kind == PARAM_SHARE;
    bool percent;
    struct decimal d;
    int64_t size;

    if (kind == PARAM_RATIO) {
        return ratio_parse(text, value, error);
    }
    if (!decimal_read(text, &d)) {
        return fail_form(error, text, kind);
    }
    while (*d.rest == ' ') {
        d.rest++;
    }
    percent = rounds && strcmp(d.rest, "%") == 0;
    size = unit_size(kind, percent ? "" : d.rest);
    if (size == 0 && *d.rest == '\0') {
        g_set_error(error, UNITS_ERROR, UNITS_ERROR_FORM,
                    "is '%.60s'; a unit is missing, write for example \"%.60s%s\"", text,
                    text, units_example(kind));
        return FALSE;
    }
    if (size == 0) {
        return fail_form(error, text, kind);
    }
    if (d.negative && d.digits != 0 && kind != PARAM_INTEGER) {
        return fail_range(error, text, "but must not be negative");
    }
    d.decimals += percent ? 2 : 0;
    if (!scale(&d, size, rounds, text, value, error)) {
        return FALSE;
    }
    if (d.negative) {
        *value = -*value;
    }
    return TRUE;
}

const char *
units_example(enum param_kind kind)
{
    switch (kind) {
    case PARAM_TIME:
        return "us";
    case PARAM_RATE:
        return "Gbps";
    case PARAM_SIZE:
        return "B";
    case PARAM_LENGTH:
        return "m";
    case PARAM_RATIO:
        return ":1";
    case PARAM_INTEGER:
    case PARAM_FRACTION:
    case PARAM_SHARE:
    case PARAM_BOOL:
    case PARAM_ENUM:
        break;
    }
    return "";
}

const char *
units_wanted(enum param_kind kind)
{
    switch (kind) {
    case PARAM_TIME:
        return "a time such as \"2.5us\" (ps, ns, us, ms, s, min)";
    case PARAM_RATE:
        return "a rate such as \"100Gbps\" (bps, Kbps, Mbps, Gbps, Tbps; or K, M, G, T)";
    case PARAM_SIZE:
        return "a size such as \"64KiB\" (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB)";
    case PARAM_LENGTH:
        return "a length such as \"30m\" (mm, cm, m, km)";
    case PARAM_INTEGER:
        return "a whole number";
    case PARAM_FRACTION:
        return "a number such as 0.2 or \"20%\"";
    case PARAM_SHARE:
        return "a share such as 0.001 or \"0.1%\"";
    case PARAM_RATIO:
        return "a ratio such as \"3:2\"";
    case PARAM_BOOL:
        return "true or false";
    case PARAM_ENUM:
        return "a word";
    }
    return "";
}

/* 5.05 ns a metre. */
enum { PS_PER_M = 5050 };

int64_t
units_cable_ps(int64_t length_mm)
{
    return (length_mm * PS_PER_M + 500) / 1000;
}

int64_t
units_cable_mm(int64_t delay_ps)
{
    return (int64_t)(((__int128)delay_ps * 1000 + PS_PER_M / 2) / PS_PER_M);
}
