/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * param.h - parameter tables: name, kind, unit, default, range, source.
 * A model describes its parameters once, in a table; the loader, `rocesim list params`,
 * the effective configuration, the range checks and the table test all read that table.
 * This file knows no text format: turning "50us" into a number is the loader's work.
 *
 * A table is an array of struct param that ends with an entry whose name is NULL:
 *     for (const struct param *p = table; p->name != NULL; p++)
 * The values live in a blob, the model's own struct, at p->offset.
 *
 * Invariant: every value is an integer, so nothing a result depends on is rounded twice.
 */
#ifndef ROCESIM_SIM_PARAM_H
#define ROCESIM_SIM_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the value is stored in the blob, and in which base unit. */
enum param_kind {
    PARAM_TIME,     /* int64_t, picoseconds */
    PARAM_RATE,     /* int64_t, bits per second */
    PARAM_SIZE,     /* int64_t, bytes */
    PARAM_LENGTH,   /* int64_t, millimetres */
    PARAM_INTEGER,  /* int64_t; with 'names' only the numbers written there */
    PARAM_FRACTION, /* int64_t, Q32: the value times 2^32, rounded to nearest.  Exact for
                     * the powers of two that hardware uses (1/256, 1019/1024); may
                     * pass 1.  From a decimal: llround(x * 4294967296.0) */
    PARAM_SHARE, /* int64_t, the value times 10^18, 0 to 1: shares far below 2^-32, such
                     * as bit error rates */
    PARAM_RATIO, /* int64_t, "3:2" as PARAM_RATIO_OF(3, 2); not reduced */
    PARAM_BOOL,  /* bool, 0 or 1; with 'names' two words instead of false and true */
    PARAM_ENUM   /* int32_t, index into 'names' */
};

/* 1.0 as a PARAM_FRACTION, and 'num' / 'den' as one, for tables (constants only:
 * 0 <= num < 2^30, den > 0). */
#define PARAM_ONE (INT64_C(1) << 32)
#define PARAM_Q32(num, den) (((num)*PARAM_ONE + (den) / 2) / (den))

/* 1.0 as a PARAM_SHARE. */
#define PARAM_SHARE_ONE INT64_C(1000000000000000000)

/* The ratio 'n' : 'm' as a PARAM_RATIO, and its terms; 1 <= n, m <= PARAM_RATIO_MAX.
 * Ranges compare n / m, so 'min' and 'max' are ratios too. */
#define PARAM_RATIO_MAX INT64_C(0x7fffffff)
#define PARAM_RATIO_OF(n, m) ((INT64_C(1) << 32) * (n) + (m))
#define PARAM_RATIO_N(ratio) ((ratio) >> 32)
#define PARAM_RATIO_M(ratio) ((ratio)&INT64_C(0xffffffff))

/* The value that the word in 'special' stands for. */
#define PARAM_SPECIAL INT64_C(-1)

/* The word of what has no default: it is shown, but cannot be written. */
#define PARAM_REQUIRED "required"

struct param {
    const char *name;         /* as in scenario files; NULL ends a table */
    enum param_kind kind;     /* storage and base unit */
    size_t offset;            /* of the value in the blob */
    const char *unit;         /* how people write it: "us", "Mbps", "packets", "" */
    int64_t def;              /* default, base unit; may be PARAM_SPECIAL if 'special' */
    int64_t min, max;         /* allowed, both included, base unit */
    const char *const *names; /* PARAM_ENUM; see also PARAM_BOOL, PARAM_INTEGER:
                               * NULL-terminated list of words */
    const char *special;      /* word for PARAM_SPECIAL ("off", "computed"), or NULL.
                                 * With a special word 'min' is >= 0 */
    const char *zero;         /* word for 0 ("none"), or NULL; the number is read, too */
    const char *source;       /* paper and section, standard and clause, file */
    const char *doc;          /* one line: what it does */
    bool guess;               /* the default is a guess; `rocesim list --guesses` */
};

/* Where a value stands against the range of its parameter. */
enum param_range {
    PARAM_IN_RANGE, /* allowed */
    PARAM_BELOW,    /* less than 'min' */
    PARAM_ABOVE     /* greater than 'max' */
};

/* Which bound 'value' (base unit) breaks.  PARAM_SPECIAL is in range when there is a
 * special word.  What is no ratio (a term 0 or too large) is below. */
enum param_range param_range(const struct param *p, int64_t value);

/* Is 'value' in range and, where an integer has words, one of them? */
bool param_allows(const struct param *p, int64_t value);

/* Reads or writes the value of 'p' in 'blob' in its base unit.  The value written must
 * be in range. */
int64_t param_get(const struct param *p, const void *blob);
void param_set(const struct param *p, void *blob, int64_t value);

/* Sets each parameter of 'table' in 'blob' to its default.  Touches nothing else. */
void param_set_defaults(const struct param *table, void *blob);

/* The parameter called 'name', or NULL.  O(n). */
const struct param *param_find(const struct param *table, const char *name);

/* The parameter whose name is nearest to 'name' by param_distance(), the first of
 * several; NULL only when the table is empty. */
const struct param *param_nearest(const struct param *table, const char *name);

/* The same over plain words, 'words' ending with NULL; for keys that are
 * no parameters. */
const char *param_nearest_word(const char *const *words, const char *name);

/* Index of 'word' in the names of 'p', or -1. */
int32_t param_enum_find(const struct param *p, const char *word);

/* Damerau-Levenshtein distance (insert, delete, replace, swap of neighbours; optimal
 * string alignment), over bytes, upper and lower case and '-', '_' alike.  Only the
 * first 63 bytes count. */
unsigned param_distance(const char *a, const char *b);

/* Bytes that param_format() needs at most, the ending 0 included. */
enum { PARAM_TEXT_BYTES = 48 };

/* Writes 'value' of 'p' as a scenario would: "50us", "40Mbps", "10MB", "0.2", "3:2",
 * "true", an enum's word, the special word.  The largest unit that leaves a whole number;
 * a fraction gets the fewest decimals that read back as the same value.
 * Locale-independent. */
void param_format(const struct param *p, int64_t value, char text[PARAM_TEXT_BYTES]);

/* Name of a kind: "time", "rate", "size", "length", "integer", "fraction", "share",
 * "ratio", "bool", "enum". */
const char *param_kind_name(enum param_kind kind);

/* What is wrong with 'table' for a blob of 'blob_bytes', NULL when nothing is: a default
 * outside its range, a repeated name, a value outside the blob, two values that
 * overlap, a missing source or doc, min > max.  For the table test; '*bad' is set to
 * the entry concerned. */
const char *param_table_fault(const struct param *table, size_t blob_bytes,
                              const struct param **bad);

#endif
