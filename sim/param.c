/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * param.c - parameter tables: defaults, ranges, names and how a value is written.
 * Set-up code: nothing here runs per packet.
 *
 * Invariant: param_format() and param_get() depend on neither locale nor floating point.
 */
#include <config.h>

#include "sim/param.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A unit and its size in base units; lists go from large to small and end with size 1. */
struct unit {
    const char *name;
    int64_t size;
};

static const struct unit time_units[] = {
    {"s", INT64_C(1000000000000)},
    {"ms", 1000000000},
    {"us", 1000000},
    {"ns", 1000},
    {"ps", 1},
};
static const struct unit rate_units[] = {
    {"Gbps", 1000000000},
    {"Mbps", 1000000},
    {"Kbps", 1000},
    {"bps", 1},
};
/* Decimal first: a table writes 10 MB oftener than 9.5367 MiB. */
static const struct unit size_units[] = {
    {"GB", 1000000000}, {"MB", 1000000},  {"KB", 1000}, {"GiB", INT64_C(1) << 30},
    {"MiB", 1 << 20},   {"KiB", 1 << 10}, {"B", 1},
};
static const struct unit length_units[] = {
    {"km", 1000000},
    {"m", 1000},
    {"cm", 10},
    {"mm", 1},
};

static size_t
kind_bytes(enum param_kind kind)
{
    switch (kind) {
    case PARAM_TIME:
    case PARAM_RATE:
    case PARAM_SIZE:
    case PARAM_LENGTH:
    case PARAM_INTEGER:
    case PARAM_FRACTION:
    case PARAM_SHARE:
    case PARAM_RATIO:
        return sizeof(int64_t);
    case PARAM_BOOL:
        return sizeof(bool);
    case PARAM_ENUM:
        return sizeof(int32_t);
    }
    return 0;
}

static void
format_units(int64_t value, const struct unit *units, char text[PARAM_TEXT_BYTES])
{
    while (units->size > 1 && (value == 0 || value % units->size != 0)) {
        units++;
    }
    snprintf(text, PARAM_TEXT_BYTES, "%lld%s", (long long)(value / units->size),
             units->name);
}

/* Fewest decimals that round back to the same Q32.  Ten always do: half of 1e-10 is less
 * than half of 2^-32. */
static void
format_fraction(int64_t value, char text[PARAM_TEXT_BYTES])
{
    unsigned __int128 scale = 1;

    for (int decimals = 0;; decimals++, scale *= 10) {
        unsigned __int128 q = (unsigned __int128)value;
        unsigned __int128 digits = (q * scale + PARAM_ONE / 2) >> 32;
        unsigned __int128 back = ((digits << 32) + scale / 2) / scale;

        if (back != q && decimals < 10) {
            continue;
        }
        if (decimals == 0) {
            snprintf(text, PARAM_TEXT_BYTES, "%llu", (unsigned long long)digits);
        } else {
            snprintf(text, PARAM_TEXT_BYTES, "%llu.%0*llu",
                     (unsigned long long)(digits / scale), decimals,
                     (unsigned long long)(digits % scale));
        }
        return;
    }
}

static void
format_share(int64_t value, char text[PARAM_TEXT_BYTES])
{
    int decimals = 18;
    int64_t rest = value % PARAM_SHARE_ONE;

    if (rest == 0) {
        snprintf(text, PARAM_TEXT_BYTES, "%lld", (long long)(value / PARAM_SHARE_ONE));
        return;
    }
    for (; rest % 10 == 0; rest /= 10) {
        decimals--;
    }
    snprintf(text, PARAM_TEXT_BYTES, "%lld.%0*lld", (long long)(value / PARAM_SHARE_ONE),
             decimals, (long long)rest);
}

/* Lower case, '-' as '_': how names are compared for nearness. */
static unsigned char
fold(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (unsigned char)(c - 'A' + 'a');
    }
    return c == '-' ? (unsigned char)'_' : (unsigned char)c;
}

static unsigned
min2(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool
is_ratio(int64_t value)
{
    return PARAM_RATIO_N(value) >= 1 && PARAM_RATIO_N(value) <= PARAM_RATIO_MAX &&
           PARAM_RATIO_M(value) >= 1 && PARAM_RATIO_M(value) <= PARAM_RATIO_MAX;
}

/* Below, at or above 0 as a / b is below, at or above 1.  Terms have 31 bits. */
static int
ratio_compare(int64_t a, int64_t b)
{
    int64_t left = PARAM_RATIO_N(a) * PARAM_RATIO_M(b);
    int64_t right = PARAM_RATIO_N(b) * PARAM_RATIO_M(a);

    return (left > right) - (left < right);
}

enum param_range
param_range(const struct param *p, int64_t value)
{
    if (p->special != NULL && value == PARAM_SPECIAL) {
        return PARAM_IN_RANGE;
    }
    if (p->kind == PARAM_RATIO) {
        if (!is_ratio(value) || ratio_compare(value, p->min) < 0) {
            return PARAM_BELOW;
        }
        return ratio_compare(value, p->max) > 0 ? PARAM_ABOVE : PARAM_IN_RANGE;
    }
    if (value < p->min) {
        return PARAM_BELOW;
    }
    return value > p->max ? PARAM_ABOVE : PARAM_IN_RANGE;
}

bool
param_allows(const struct param *p, int64_t value)
{
    char text[PARAM_TEXT_BYTES];

    if (param_range(p, value) != PARAM_IN_RANGE) {
        return false;
    }
    if (p->kind != PARAM_INTEGER || p->names == NULL) {
        return true;
    }
    param_format(p, value, text);
    return param_enum_find(p, text) >= 0;
}

int64_t
param_get(const struct param *p, const void *blob)
{
    const unsigned char *at = (const unsigned char *)blob + p->offset;
    int64_t wide = 0;
    int32_t narrow = 0;
    bool flag = false;

    switch (p->kind) {
    case PARAM_TIME:
    case PARAM_RATE:
    case PARAM_SIZE:
    case PARAM_LENGTH:
    case PARAM_INTEGER:
    case PARAM_FRACTION:
    case PARAM_SHARE:
    case PARAM_RATIO:
        memcpy(&wide, at, sizeof wide);
        return wide;
    case PARAM_BOOL:
        memcpy(&flag, at, sizeof flag);
        return flag;
    case PARAM_ENUM:
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    return 0;
}

void
param_set(const struct param *p, void *blob, int64_t value)
{
    unsigned char *at = (unsigned char *)blob + p->offset;
    int32_t narrow = (int32_t)value;
    bool flag = value != 0;

    assert(param_range(p, value) == PARAM_IN_RANGE);
    switch (p->kind) {
    case PARAM_TIME:
    case PARAM_RATE:
    case PARAM_SIZE:
    case PARAM_LENGTH:
    case PARAM_INTEGER:
    case PARAM_FRACTION:
    case PARAM_SHARE:
    case PARAM_RATIO:
        memcpy(at, &value, sizeof value);
        break;
    case PARAM_BOOL:
        memcpy(at, &flag, sizeof flag);
        break;
    case PARAM_ENUM:
        memcpy(at, &narrow, sizeof narrow);
        break;
    }
}

void
param_set_defaults(const struct param *table, void *blob)
{
    for (const struct param *p = table; p->name != NULL; p++) {
        param_set(p, blob, p->def);
    }
}

const struct param *
param_find(const struct param *table, const char *name)
{
    for (const struct param *p = table; p->name != NULL; p++) {
        if (strcmp(p->name, name) == 0) {
            return p;
        }
    }
    return NULL;
}

const struct param *
param_nearest(const struct param *table, const char *name)
{
    const struct param *best = NULL;
    unsigned best_distance = 0;

    for (const struct param *p = table; p->name != NULL; p++) {
        unsigned distance = param_distance(p->name, name);

        if (best == NULL || distance < best_distance) {
            best = p, best_distance = distance;
        }
    }
    return best;
}

const char *
param_nearest_word(const char *const *words, const char *name)
{
    const char *best = NULL;
    unsigned best_distance = 0;

    for (; *words != NULL; words++) {
        unsigned distance = param_distance(*words, name);

        if (best == NULL || distance < best_distance) {
            best = *words, best_distance = distance;
        }
    }
    return best;
}

int32_t
param_enum_find(const struct param *p, const char *word)
{
    for (int32_t i = 0; p->names[i] != NULL; i++) {
        if (strcmp(p->names[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

unsigned
param_distance(const char *a, const char *b)
{
    enum { LETTERS = 63 };
    unsigned row[3][LETTERS + 1]; /* rows i - 2, i - 1, i of the table, in turn */
    size_t n_a = strnlen(a, LETTERS), n_b = strnlen(b, LETTERS);

    for (size_t j = 0; j <= n_b; j++) {
        row[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= n_a; i++) {
        unsigned *cur = row[i % 3], *prev = row[(i + 2) % 3], *before = row[(i + 1) % 3];

        cur[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            bool same = fold(a[i - 1]) == fold(b[j - 1]);

            cur[j] = min2(prev[j - 1] + !same, min2(prev[j], cur[j - 1]) + 1);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1])) {
                cur[j] = min2(cur[j], before[j - 2] + 1);
            }
        }
    }
    return row[n_a % 3][n_b];
}

void
param_format(const struct param *p, int64_t value, char text[PARAM_TEXT_BYTES])
{
    if (p->zero != NULL && value == 0) {
        snprintf(text, PARAM_TEXT_BYTES, "%s", p->zero);
        return;
    }
    if (p->special != NULL && value == PARAM_SPECIAL) {
        snprintf(text, PARAM_TEXT_BYTES, "%s", p->special);
        return;
    }
    switch (p->kind) {
    case PARAM_TIME:
        format_units(value, time_units, text);
        break;
    case PARAM_RATE:
        format_units(value, rate_units, text);
        break;
    case PARAM_SIZE:
        format_units(value, size_units, text);
        break;
    case PARAM_LENGTH:
        format_units(value, length_units, text);
        break;
    case PARAM_INTEGER:
        snprintf(text, PARAM_TEXT_BYTES, "%lld", (long long)value);
        break;
    case PARAM_FRACTION:
        format_fraction(value, text);
        break;
    case PARAM_SHARE:
        format_share(value, text);
        break;
    case PARAM_RATIO:
        snprintf(text, PARAM_TEXT_BYTES, "%lld:%lld", (long long)PARAM_RATIO_N(value),
                 (long long)PARAM_RATIO_M(value));
        break;
    case PARAM_BOOL:
        if (p->names != NULL) {
            snprintf(text, PARAM_TEXT_BYTES, "%s", p->names[value != 0]);
        } else {
            snprintf(text, PARAM_TEXT_BYTES, "%s", value != 0 ? "true" : "false");
        }
        break;
    case PARAM_ENUM:
        snprintf(text, PARAM_TEXT_BYTES, "%s", p->names[value]);
        break;
    }
}

const char *
param_kind_name(enum param_kind kind)
{
    switch (kind) {
    case PARAM_TIME:
        return "time";
    case PARAM_RATE:
        return "rate";
    case PARAM_SIZE:
        return "size";
    case PARAM_LENGTH:
        return "length";
    case PARAM_INTEGER:
        return "integer";
    case PARAM_FRACTION:
        return "fraction";
    case PARAM_SHARE:
        return "share";
    case PARAM_RATIO:
        return "ratio";
    case PARAM_BOOL:
        return "bool";
    case PARAM_ENUM:
        return "enum";
    }
    return "unknown";
}

static int64_t
count_names(const struct param *p)
{
    int64_t n = 0;

    while (p->names != NULL && p->names[n] != NULL) {
        n++;
    }
    return n;
}

/* What is wrong with 'p' by itself, or NULL. */
static const char *
entry_fault(const struct param *p, size_t blob_bytes)
{
    if (p->source == NULL || p->source[0] == '\0') {
        return "has no source";
    }
    if (p->doc == NULL || p->doc[0] == '\0') {
        return "has no doc";
    }
    if (p->unit == NULL) {
        return "has no unit";
    }
    if (p->kind == PARAM_RATIO && (!is_ratio(p->min) || !is_ratio(p->max))) {
        return "is a ratio whose range has no ratios";
    }
    if (p->kind == PARAM_RATIO ? ratio_compare(p->min, p->max) > 0 : p->min > p->max) {
        return "has min above max";
    }
    if (p->special != NULL &&
        (p->min < 0 || p->kind == PARAM_BOOL || p->kind == PARAM_ENUM)) {
        return "has a special word but min below 0, or is a bool or an enum";
    }
    if (p->kind == PARAM_FRACTION && p->min < 0) {
        return "is a fraction below 0";
    }
    if (p->kind == PARAM_SHARE && (p->min < 0 || p->max > PARAM_SHARE_ONE)) {
        return "is a share whose range is not within 0 to 1";
    }
    if (p->kind == PARAM_BOOL && (p->min != 0 || p->max != 1)) {
        return "is a bool whose range is not 0 to 1";
    }
    if (p->kind == PARAM_BOOL && p->names != NULL && count_names(p) != 2) {
        return "is a bool with words, but not two";
    }
    if (p->kind == PARAM_ENUM) {
        int64_t n_names = count_names(p);

        if (p->min != 0 || p->max != n_names - 1) {
            return "is an enum whose range is not that of its names";
        }
    }
    if (!param_allows(p, p->def)) {
        return "has a default outside its range";
    }
    if (p->offset + kind_bytes(p->kind) > blob_bytes) {
        return "lies outside the blob";
    }
    return NULL;
}

const char *
param_table_fault(const struct param *table, size_t blob_bytes, const struct param **bad)
{
    for (const struct param *p = table; p->name != NULL; p++) {
        const char *fault = entry_fault(p, blob_bytes);

        *bad = p;
        if (fault != NULL) {
            return fault;
        }
        for (const struct param *q = table; q != p; q++) {
            if (strcmp(p->name, q->name) == 0) {
                return "has the name of another";
            }
            if (p->offset < q->offset + kind_bytes(q->kind) &&
                q->offset < p->offset + kind_bytes(p->kind)) {
                return "overlaps another";
            }
        }
    }
    *bad = NULL;
    return NULL;
}
