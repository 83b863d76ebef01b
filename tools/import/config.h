/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * config.h - configuration files of the HPCC simulator's family: `KEY value` pairs in any
 * order, values of a kind that the key has.
 *
 * A table says which keys there are: those that are mapped, with the value that the original
 * has when the file says nothing, and those that have no effect here, and why.  What is in no
 * table is an error that names the nearest key; the original skips it in silence.
 */
#ifndef ROCESIM_TOOLS_IMPORT_CONFIG_H
#define ROCESIM_TOOLS_IMPORT_CONFIG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define IMPORT_ERROR import_error_quark()
GQuark import_error_quark(void);

enum import_error {
    IMPORT_ERROR_FORM,        /* a word that cannot be there */
    IMPORT_ERROR_FILE,        /* a file that is not there */
    IMPORT_ERROR_UNSUPPORTED, /* known, and not supported */
};

enum config_kind {
    CONFIG_WORD,
    CONFIG_INTEGER,
    CONFIG_NUMBER,    /* times 10^9 */
    CONFIG_RATE,      /* bit/s */
    CONFIG_MAP_KB,    /* a count, and so many pairs: bit/s, units of 1000 bytes */
    CONFIG_MAP_SHARE, /* likewise: bit/s, share times 10^9 */
    CONFIG_LINK,      /* us, node, node */
};

#define CONFIG_ONE INT64_C(1000000000)

/* Formats, as bits. */
enum config_dialect {
    CONFIG_HPCC = 1,
    CONFIG_CONWEAVE = 2,
    CONFIG_NS3DC = 4,
    CONFIG_SIMAI = 8,
    CONFIG_NS3RDMA = 16,
    CONFIG_FAMILY = CONFIG_HPCC | CONFIG_CONWEAVE | CONFIG_NS3DC | CONFIG_SIMAI,
};

struct config_key {
    const char *name; /* NULL ends a table */
    enum config_kind kind;
    unsigned dialects;   /* that have it */
    const char *def;     /* as the original has it; NULL: it must be there, if it is asked
                            for */
    const char *ignored; /* why it has no effect here; NULL: it is mapped */
};

/* Two numbers of a map. */
struct config_pair {
    int64_t rate_bps, value;
};

struct config_value {
    const struct config_key *key;
    unsigned line;   /* 0: the original's default */
    char *text;      /* owned; as written */
    int64_t number;  /* but for a word */
    int64_t node[2]; /* CONFIG_LINK */
    GArray *map;     /* owned: struct config_pair, by rate; NULL: no map */
};

struct config {
    char *file;          /* owned */
    GPtrArray *values;   /* owned: struct config_value *, as the table has keys */
    GPtrArray *warnings; /* owned: char * */
};

/* Reads 'n_bytes' of 'data' by 'table' as far as it is that of 'dialect'.  Owned by the
 * caller; NULL on error. */
struct config *config_read(const char *file, const struct config_key *table,
                           enum config_dialect dialect, const char *data, size_t n_bytes,
                           GError **error);
void config_free(struct config *config); /* accepts NULL */

/* The value of 'name', which the table has: as written, or the original's default.  NULL: it
 * has neither. */
const struct config_value *config_find(const struct config *config, const char *name);

/* The same, with an error when there is none. */
const struct config_value *config_need(const struct config *config, const char *name,
                                       GError **error);

/* The number of one that has a default. */
int64_t config_number(const struct config *config, const char *name);

/* "config.txt:12: RP_TIMER 300", "RP_TIMER 900, which ...'s code has where the file says
 * nothing".  Owned by the caller. */
char *config_origin(const struct config *config, const struct config_value *value);

/* Sets "FILE:LINE: message".  Returns FALSE. */
gboolean config_fail(const struct config *config, const struct config_value *value,
                     enum import_error code, GError **error, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

void config_warn(struct config *config, const struct config_value *value,
                 const char *format, ...) G_GNUC_PRINTF(3, 4);

#endif
