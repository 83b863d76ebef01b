/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsonl.h - what reading a trace in JSON lines holds, for its own files only: read_jsonl.c
 * takes lines apart and the header, jsonl_op.c the operations, jsonl_json.c single values.
 * The format: docs/trace/jsonl.md.
 *
 * Ranks are those of the job wherever the file names one.
 */
#ifndef ROCESIM_WORKLOADS_TRACE_JSONL_H
#define ROCESIM_WORKLOADS_TRACE_JSONL_H

#include <glib.h>
#include <jansson.h>

#include "workloads/trace/trace_build.h"

/* Largest values: 2^50 bytes; ten days; guesses that keep sums far from 2^63. */
#define JSONL_MAX_BYTES (INT64_C(1) << 50)
#define JSONL_MAX_NS INT64_C(864000000000000)

#define JSONL_WORLD "world"

struct jsonl_group {
    char *name; /* owned */
    uint32_t n_ranks;
    uint32_t *ranks;      /* owned */
    GHashTable *place_of; /* owned: rank + 1 -> place in the group + 1 */
    uint32_t n_channels;
    uint32_t *rings; /* owned; may be NULL */
    uint32_t n_ops;
};

/* An operation as read; 'after' and times are numbers of entries in the arrays of the
 * reader, as these move. */
struct jsonl_op {
    struct trace_op op;
    size_t first_after, first_time;
};

struct jsonl {
    struct trace_build *build; /* borrowed: files and warnings */
    uint32_t file;
    const char *path;
    uint64_t line;
    bool has_header;

    uint32_t n_ranks;
    struct trace_rank *ranks; /* owned */
    GPtrArray *hosts;         /* owned: char * */
    GPtrArray *groups;        /* owned: struct jsonl_group * */
    GHashTable *group_of;     /* name -> group + 1 */
    GHashTable *meets;        /* pair of groups -> 1 they share a rank, 2 not */

    GArray *ops;         /* struct jsonl_op */
    GArray *afters;      /* uint32_t */
    GArray *times;       /* int64_t */
    GHashTable *op_of;   /* owned int64_t id -> index + 1 */
    GHashTable *waiting; /* "group from to" -> GQueue of index + 1: halves of messages */
    bool some_times, all_times;
};

/* Sets "FILE:LINE: message".  Returns FALSE. */
gboolean jsonl_fail(const struct jsonl *jsonl, enum trace_error code, GError **error,
                    const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Are all keys of 'object' in 'keys' (NULL at the end), or comments ("_...")?  Else an error
 * that names the nearest. */
gboolean jsonl_check_keys(const struct jsonl *jsonl, const json_t *object,
                          const char *const keys[], GError **error);

/* The value of 'key' as a whole number from 'low' to 'high'.  'where' is put before the key
 * in messages ("groups[1]."). */
gboolean jsonl_integer(const struct jsonl *jsonl, const json_t *object, const char *where,
                       const char *key, int64_t low, int64_t high, int64_t *value,
                       GError **error);

/* The same of 'value' itself, called 'name'. */
gboolean jsonl_number(const struct jsonl *jsonl, const json_t *json, const char *name,
                      int64_t low, int64_t high, int64_t *value, GError **error);

/* A text, borrowed; not empty, and of one line. */
gboolean jsonl_text(const struct jsonl *jsonl, const json_t *object, const char *where,
                    const char *key, const char **value, GError **error);

/* Reads one operation: jsonl_op.c. */
gboolean jsonl_read_op(struct jsonl *jsonl, const json_t *object, GError **error);

/* Has every send its receive?  At the end. */
gboolean jsonl_check_pairs(struct jsonl *jsonl, GError **error);

/* The group called 'name' (NULL: all ranks), or UINT32_MAX.  That of all ranks is made when
 * it is first asked for. */
uint32_t jsonl_find_group(struct jsonl *jsonl, const char *name);
struct jsonl_group *jsonl_group_at(const struct jsonl *jsonl, uint32_t group);

/* Place of 'rank' in 'group', or -1. */
int32_t jsonl_place(const struct jsonl_group *group, int64_t rank);

#endif
