/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * doc.h - JSON documents: read, based on others, changed by --set, and read value by value
 * with errors that say where.
 *
 * While a document is read, a struct doc_at on the stack says which value is looked at; they
 * are linked from the value to the root, and so make "topology.links[3].rate".
 */
#ifndef ROCESIM_TOOLS_SCENARIO_DOC_H
#define ROCESIM_TOOLS_SCENARIO_DOC_H

#include <stdbool.h>

#include <glib.h>
#include <jansson.h>

#include "sim/param.h"
#include "tools/scenario/scenario.h"

/* Largest file: a scenario with a million flows takes a tenth. */
#define DOC_MAX_BYTES (64 << 20)

/* A value of a document.  All borrowed. */
struct doc_at {
    const struct doc_at *up; /* NULL: the root */
    const char *key;         /* in 'up'; NULL: an element of an array, or the root */
    size_t index;            /* of the element */
    json_t *json;
    const char *file; /* read at the root only */
};

/* A key that an object may have. */
struct doc_key {
    const char *name; /* NULL ends a list */
    bool later;       /* known, not supported yet */
};

/* ---- whole documents ------------------------------------------------------------------ */

/* Reads all of 'path', a regular file or a pipe.  Owned by the caller (g_free); a 0 byte
 * follows the last one.  For an unreadable, empty or too large file and a folder NULL. */
char *doc_read_file(const char *path, size_t *n_bytes, GError **error);

/* Parses 'data'; 'file' is for messages.  The root must be an object.  Owned
 * by the caller. */
json_t *doc_parse(const char *file, const char *data, size_t n_bytes, GError **error);

/* Loads 'path' and, if it has a key "base", merges it over that file, and so on. */
json_t *doc_load(const char *path, GError **error);

/* The same for a document that is there already (steals 'root'); its paths are relative to
 * 'file'. */
json_t *doc_resolve_base(const char *file, json_t *root, GError **error);

/* Changes 'root' by "PATH=VALUE": VALUE as JSON, or as text when it is none.  Objects on the
 * way are made, of arrays the index must exist or be the next.  A key with dots or brackets
 * is put between double quotes. */
gboolean doc_set(const char *file, json_t *root, const char *assignment, GError **error);

/* ---- where ---------------------------------------------------------------------------- */

struct doc_at doc_root(const char *file, json_t *root);

/* The value of 'key' in the object 'at'; its json is NULL when there is none. */
struct doc_at doc_key(const struct doc_at *at, const char *key);
struct doc_at doc_index(const struct doc_at *at, size_t index);

/* "switch.ecn.kmin", "workload[0].list[2].src"; "" for the root.  Owned by the caller. */
char *doc_path(const struct doc_at *at);

/* Sets "FILE: PATH: message", control characters made visible.  Returns FALSE. */
gboolean doc_fail(const struct doc_at *at, enum scenario_error code, GError **error,
                  const char *format, ...) G_GNUC_PRINTF(4, 5);

/* The same at 'key' of 'at', which may be absent. */
gboolean doc_fail_key(const struct doc_at *at, const char *key, enum scenario_error code,
                      GError **error, const char *format, ...) G_GNUC_PRINTF(5, 6);

/* 'text' as one line of valid UTF-8, control characters made visible.  Owned
 * by the caller. */
char *doc_one_line(const char *text);

/* The value as it stands in the file, shortened.  Owned by the caller. */
char *doc_show(const json_t *json);

/* ---- values --------------------------------------------------------------------------- */

/* Is 'at' an object whose keys are in 'keys' or 'table' (either may be NULL), or begin with
 * '_'? */
gboolean doc_check_object(const struct doc_at *at, const struct doc_key *keys,
                          const struct param *table, GError **error);

/* Is it an array? */
gboolean doc_check_array(const struct doc_at *at, GError **error);

/* The text of 'at' into '*text' (borrowed), not empty. */
gboolean doc_text(const struct doc_at *at, const char **text, GError **error);

/* Index of the text of 'at' in 'words', NULL at the end; 'later' (may be NULL): words
 * that are known, but not supported yet. */
gboolean doc_word(const struct doc_at *at, const char *const *words,
                  const char *const *later, int *index, GError **error);

gboolean doc_bool(const struct doc_at *at, bool *value, GError **error);
gboolean doc_integer(const struct doc_at *at, int64_t min, int64_t max, int64_t *value,
                     GError **error);

/* The value of 'at' as that of 'p', checked against its range. */
gboolean doc_param_value(const struct doc_at *at, const struct param *p, int64_t *value,
                         GError **error);

/* Reads all keys of the object 'at' that are in 'table' into 'blob'; bit i of '*set' (may be
 * NULL) is set when entry i was there, others are left alone.  Keys not in the table are
 * skipped. */
gboolean doc_params(const struct doc_at *at, const struct param *table, void *blob,
                    uint64_t *set, GError **error);

/* ---- writing -------------------------------------------------------------------------- */

/* A value of 'p' as JSON that doc_param_value() reads back. */
json_t *doc_param_json(const struct param *p, int64_t value);

/* Adds the entries of 'table' whose bit is in 'set' to 'object'. */
void doc_put_params(json_t *object, const struct param *table, const void *blob,
                    uint64_t set);

#endif
