/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsonl_op.c - one line of a trace in JSON lines: one operation.
 */
#include <config.h>

#include "workloads/trace/jsonl.h"

#include <string.h>

#include "sim/param.h"

/* The keys of each sort of operation. */
#define COMMON "id", "kind", "group", "at_ns", "after", "delay_ns"
#define DATA "bytes", "type", "algorithm", "protocol", "channels"
static const char *const plain_keys[] = {COMMON, DATA, NULL};
static const char *const redop_keys[] = {COMMON, DATA, "reduction", NULL};
static const char *const root_keys[] = {COMMON, DATA, "root", NULL};
static const char *const both_keys[] = {COMMON, DATA, "reduction", "root", NULL};
static const char *const p2p_keys[] = {COMMON, DATA, "rank", "peer", NULL};
static const char *const compute_keys[] = {COMMON, "rank", "duration_ns", NULL};

static const char *const *
keys_of(enum trace_kind kind)
{
    if (kind == TRACE_COMPUTE) {
        return compute_keys;
    }
    if (trace_kind_is_p2p(kind)) {
        return p2p_keys;
    }
    if (trace_kind_has_root(kind)) {
        return trace_kind_has_redop(kind) ? both_keys : root_keys;
    }
    return trace_kind_has_redop(kind) ? redop_keys : plain_keys;
}

/* The index of the text of 'key' by 'name_of' (n names); 'fallback' without the key. */
static gboolean
read_word(const struct jsonl *jsonl, const json_t *object, const char *key, unsigned n,
          const char *(*name_of)(unsigned), unsigned fallback, unsigned *value,
          GError **error)
{
    const char *names[TRACE_N_TYPES + TRACE_N_KINDS + 1];
    const char *text;

    *value = fallback;
    if (json_object_get(object, key) == NULL && fallback < UINT_MAX) {
        return TRUE;
    }
    if (!jsonl_text(jsonl, object, "", key, &text, error)) {
        return FALSE;
    }
    for (unsigned i = 0; i < n; i++) {
        names[i] = name_of(i);
        if (strcmp(names[i], text) == 0) {
            *value = i;
            return TRUE;
        }
    }
    names[n] = NULL;
    g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)names);

    return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                      "%s is '%.60s'; nearest is '%s', there are %s", key, text,
                      param_nearest_word(names, text), all);
}

static const char *
kind_at(unsigned i)
{
    return trace_kind_name((enum trace_kind)i);
}

static const char *
type_at(unsigned i)
{
    return trace_type_name((enum trace_type)i);
}

static const char *
redop_at(unsigned i)
{
    return trace_redop_name((enum trace_redop)i);
}

static const char *
algo_at(unsigned i)
{
    return trace_algo_name((enum trace_algo)i);
}

static const char *
proto_at(unsigned i)
{
    return trace_proto_name((enum trace_proto)i);
}

/* ---- who ------------------------------------------------------------------------------ */

static gboolean
read_group(struct jsonl *jsonl, const json_t *object, struct trace_op *op, GError **error)
{
    const char *name = NULL;

    if (json_object_get(object, "group") != NULL &&
        !jsonl_text(jsonl, object, "", "group", &name, error)) {
        return FALSE;
    }
    op->comm = jsonl_find_group(jsonl, name);
    return op->comm != UINT32_MAX ||
           jsonl_fail(
               jsonl, TRACE_ERROR_SYNTAX, error,
               "no group '%.60s'; groups are those of the header, and '" JSONL_WORLD
               "', all ranks",
               name);
}

/* The place in the operation's group of the rank that 'key' names. */
static gboolean
read_rank(const struct jsonl *jsonl, const json_t *object, const char *key,
          const struct trace_op *op, int32_t *place, GError **error)
{
    const struct jsonl_group *group = jsonl_group_at(jsonl, op->comm);
    int64_t rank;

    if (!jsonl_integer(jsonl, object, "", key, 0, jsonl->n_ranks - 1, &rank, error)) {
        return FALSE;
    }
    *place = jsonl_place(group, rank);
    return *place >= 0 ||
           jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                      "%s is %" G_GINT64_FORMAT ", which is not in group %s", key, rank,
                      group->name);
}

static gboolean
read_ranks(struct jsonl *jsonl, const json_t *object, struct trace_op *op, GError **error)
{
    op->rank = TRACE_NO_RANK;
    op->peer = TRACE_NO_RANK;
    if (!read_group(jsonl, object, op, error)) {
        return FALSE;
    }
    if (trace_kind_has_root(op->kind)) {
        return read_rank(jsonl, object, "root", op, &op->peer, error);
    }
    if (op->kind == TRACE_COMPUTE) {
        return json_object_get(object, "rank") == NULL ||
               read_rank(jsonl, object, "rank", op, &op->rank, error);
    }
    if (!trace_kind_is_p2p(op->kind)) {
        return TRUE;
    }
    if (!read_rank(jsonl, object, "rank", op, &op->rank, error) ||
        !read_rank(jsonl, object, "peer", op, &op->peer, error)) {
        return FALSE;
    }
    return op->rank != op->peer ||
           jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                      "rank and peer are the same; a message goes "
                      "from one rank to another");
}

/* ---- what ----------------------------------------------------------------------------- */

static gboolean
read_channels(const struct jsonl *jsonl, const json_t *object, struct trace_op *op,
              GError **error)
{
    const struct jsonl_group *group = jsonl_group_at(jsonl, op->comm);
    int64_t most = (group->n_channels ? group->n_channels : TRACE_MAX_CHANNELS) - 1;
    json_t *list = json_object_get(object, "channels");
    int64_t lo, hi;

    if (list == NULL) {
        return TRUE;
    }
    if (json_array_size(list) != 2) {
        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "channels is no list of two; allowed is [first, last]");
    }
    if (!jsonl_number(jsonl, json_array_get(list, 0), "channels[0]", 0, most, &lo,
                      error) ||
        !jsonl_number(jsonl, json_array_get(list, 1), "channels[1]", lo, most, &hi,
                      error)) {
        return FALSE;
    }
    op->has_channels = true;
    op->channel_lo = (uint32_t)lo;
    op->channel_hi = (uint32_t)hi;
    return TRUE;
}

static gboolean
read_data(const struct jsonl *jsonl, const json_t *object, struct trace_op *op,
          GError **error)
{
    unsigned type, redop = TRACE_RED_SUM, algo, proto;

    if (!jsonl_integer(jsonl, object, "", "bytes", 0, JSONL_MAX_BYTES, &op->bytes,
                       error) ||
        !read_word(jsonl, object, "type", TRACE_N_TYPES, type_at, TRACE_UINT8, &type,
                   error) ||
        (trace_kind_has_redop(op->kind) &&
         !read_word(jsonl, object, "reduction", TRACE_N_REDOPS, redop_at, TRACE_RED_SUM,
                    &redop, error)) ||
        !read_word(jsonl, object, "algorithm", TRACE_N_ALGOS, algo_at, TRACE_ALGO_UNKNOWN,
                   &algo, error) ||
        !read_word(jsonl, object, "protocol", TRACE_N_PROTOS, proto_at,
                   TRACE_PROTO_UNKNOWN, &proto, error) ||
        !read_channels(jsonl, object, op, error)) {
        return FALSE;
    }
    op->type = (enum trace_type)type;
    op->redop = (enum trace_redop)redop;
    op->algo = (enum trace_algo)algo;
    op->proto = (enum trace_proto)proto;
    op->count = op->bytes / trace_type_bytes(op->type);
    return op->bytes % trace_type_bytes(op->type) == 0 ||
           jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                      "bytes is %" G_GINT64_FORMAT ", no whole number of %s of %d bytes",
                      op->bytes, type_at(type), (int)trace_type_bytes(op->type));
}

static gboolean
read_compute(const struct jsonl *jsonl, const json_t *object, struct trace_op *op,
             GError **error)
{
    int64_t duration_ns;

    if (!jsonl_integer(jsonl, object, "", "duration_ns", 0, JSONL_MAX_NS, &duration_ns,
                       error)) {
        return FALSE;
    }
    op->type = TRACE_UINT8;
    op->duration_ps = duration_ns * 1000;
    return TRUE;
}

/* ---- when ----------------------------------------------------------------------------- */

static gboolean
read_times(struct jsonl *jsonl, const json_t *object, struct jsonl_op *read,
           GError **error)
{
    json_t *json = json_object_get(object, "at_ns");
    struct trace_op *op = &read->op;
    size_t n = op->rank != TRACE_NO_RANK ? 1 : jsonl_group_at(jsonl, op->comm)->n_ranks;
    bool is_list = json_is_array(json);

    read->first_time = jsonl->times->len;
    op->has_time = json != NULL;
    if (json == NULL) {
        jsonl->all_times = false;
        return TRUE;
    }
    if (is_list && json_array_size(json) != n) {
        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "at_ns lists %zu times; allowed is one, or one for each of %zu "
                          "ranks",
                          json_array_size(json), n);
    }
    op->time_ps = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t ns;

        if (!jsonl_number(jsonl, is_list ? json_array_get(json, i) : json, "at_ns", 0,
                          JSONL_MAX_NS, &ns, error)) {
            return FALSE;
        }
        ns *= 1000;
        g_array_append_val(jsonl->times, ns);
        op->time_ps = MIN(op->time_ps, ns);
    }
    jsonl->some_times = true;
    return TRUE;
}

/* Do two groups share a rank?  Asked often for few pairs, so remembered. */
static bool
groups_meet(struct jsonl *jsonl, uint32_t a, uint32_t b)
{
    const struct jsonl_group *x = jsonl_group_at(jsonl, MIN(a, b));
    const struct jsonl_group *y = jsonl_group_at(jsonl, MAX(a, b));
    int64_t key = (int64_t)((uint64_t)MIN(a, b) << 32 | MAX(a, b));
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(jsonl->meets, &key));

    if (known == 0) {
        known = 2;
        for (uint32_t i = 0; i < x->n_ranks && known == 2; i++) {
            known = jsonl_place(y, x->ranks[i]) >= 0 ? 1 : 2;
        }
        g_hash_table_insert(jsonl->meets, g_memdup2(&key, sizeof key),
                            GUINT_TO_POINTER(known));
    }
    return known == 1;
}

static bool
ops_meet(struct jsonl *jsonl, const struct trace_op *a, const struct trace_op *b)
{
    const struct trace_op *one = a->rank != TRACE_NO_RANK ? a : b;
    const struct trace_op *other = one == a ? b : a;

    if (one->rank == TRACE_NO_RANK) {
        return a->comm == b->comm || groups_meet(jsonl, a->comm, b->comm);
    }
    const struct jsonl_group *group = jsonl_group_at(jsonl, one->comm);
    int32_t place =
        jsonl_place(jsonl_group_at(jsonl, other->comm), group->ranks[one->rank]);

    return place >= 0 && (other->rank == TRACE_NO_RANK || other->rank == place);
}

static gboolean
add_after(struct jsonl *jsonl, const json_t *json, struct jsonl_op *read, GError **error)
{
    int64_t id;

    if (!jsonl_number(jsonl, json, "after", 0, INT64_MAX, &id, error)) {
        return FALSE;
    }
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(jsonl->op_of, &id));

    if (found == 0) {
        return jsonl_fail(
            jsonl, TRACE_ERROR_INCONSISTENT, error,
            "after %" G_GINT64_FORMAT ": no line before this one has that id", id);
    }
    const uint32_t index = found - 1;

    if (!ops_meet(jsonl, &read->op,
                  &g_array_index(jsonl->ops, struct jsonl_op, index).op)) {
        return jsonl_fail(jsonl, TRACE_ERROR_INCONSISTENT, error,
                          "after %" G_GINT64_FORMAT
                          ": no rank takes part in both; a rank knows only when its own "
                          "operations end",
                          id);
    }
    g_array_append_val(jsonl->afters, index);
    read->op.n_after++;
    return TRUE;
}

static gboolean
read_afters(struct jsonl *jsonl, const json_t *object, struct jsonl_op *read,
            GError **error)
{
    json_t *json = json_object_get(object, "after");
    int64_t delay_ns = 0;

    read->first_after = jsonl->afters->len;
    if (json_object_get(object, "delay_ns") != NULL &&
        !jsonl_integer(jsonl, object, "", "delay_ns", 0, JSONL_MAX_NS, &delay_ns,
                       error)) {
        return FALSE;
    }
    read->op.delay_ps = delay_ns * 1000;
    if (json == NULL) {
        return TRUE;
    }
    if (!json_is_array(json)) {
        return add_after(jsonl, json, read, error);
    }
    for (size_t i = 0; i < json_array_size(json); i++) {
        if (!add_after(jsonl, json_array_get(json, i), read, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* ---- messages ------------------------------------------------------------------------- */

static void
free_queue(gpointer queue)
{
    g_queue_free(queue);
}

/* Joins a send with its receive, or has it wait for it. */
static gboolean
pair_up(struct jsonl *jsonl, struct trace_op *op, GError **error)
{
    bool is_send = op->kind == TRACE_SEND;
    char *key = g_strdup_printf("%u %d %d", op->comm, is_send ? op->rank : op->peer,
                                is_send ? op->peer : op->rank);
    GQueue *queue;

    op->pair = TRACE_NO_PAIR;
    if (jsonl->waiting == NULL) {
        jsonl->waiting =
            g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_queue);
    }
    queue = g_hash_table_lookup(jsonl->waiting, key);
    if (queue == NULL) {
        queue = g_queue_new();
        g_hash_table_insert(jsonl->waiting, g_steal_pointer(&key), queue);
    }
    g_free(key);
    const guint head = GPOINTER_TO_UINT(g_queue_peek_head(queue));
    struct trace_op *other =
        head == 0 ? NULL : &g_array_index(jsonl->ops, struct jsonl_op, head - 1).op;

    if (other == NULL || other->kind == op->kind) {
        g_queue_push_tail(queue, GUINT_TO_POINTER(jsonl->ops->len + 1));
        return TRUE;
    }
    g_queue_pop_head(queue);
    op->pair = head - 1;
    other->pair = jsonl->ops->len;
    return op->bytes == other->bytes ||
           jsonl_fail(jsonl, TRACE_ERROR_INCONSISTENT, error,
                      "%s of %" G_GINT64_FORMAT " bytes, but the %s of line "
                      "%" G_GUINT64_FORMAT " is of %" G_GINT64_FORMAT,
                      trace_kind_name(op->kind), op->bytes, trace_kind_name(other->kind),
                      other->line, other->bytes);
}

static gboolean
read_id(struct jsonl *jsonl, const json_t *object, GError **error)
{
    int64_t id;

    if (json_object_get(object, "id") == NULL) {
        return TRUE;
    }
    if (!jsonl_integer(jsonl, object, "", "id", 0, INT64_MAX, &id, error)) {
        return FALSE;
    }
    const guint old = GPOINTER_TO_UINT(g_hash_table_lookup(jsonl->op_of, &id));

    if (old != 0) {
        return jsonl_fail(jsonl, TRACE_ERROR_INCONSISTENT, error,
                          "id %" G_GINT64_FORMAT " is that of line %" G_GUINT64_FORMAT
                          " too; each is allowed once",
                          id,
                          g_array_index(jsonl->ops, struct jsonl_op, old - 1).op.line);
    }
    g_hash_table_insert(jsonl->op_of, g_memdup2(&id, sizeof id),
                        GUINT_TO_POINTER(jsonl->ops->len + 1));
    return TRUE;
}

gboolean
jsonl_read_op(struct jsonl *jsonl, const json_t *object, GError **error)
{
    struct jsonl_op read = {.op = {.algo = TRACE_ALGO_UNKNOWN,
                                   .proto = TRACE_PROTO_UNKNOWN,
                                   .pair = TRACE_NO_PAIR,
                                   .file = jsonl->file,
                                   .line = jsonl->line}};
    struct trace_op *op = &read.op;
    unsigned kind;

    if (jsonl->ops->len >= UINT32_MAX / 2) {
        return jsonl_fail(jsonl, TRACE_ERROR_FILE, error, "more than %u operations",
                          UINT32_MAX / 2);
    }
    if (!read_word(jsonl, object, "kind", TRACE_N_KINDS, kind_at, UINT_MAX, &kind,
                   error)) {
        return FALSE;
    }
    op->kind = (enum trace_kind)kind;
    if (!jsonl_check_keys(jsonl, object, keys_of(op->kind), error) ||
        !read_ranks(jsonl, object, op, error) ||
        !(op->kind == TRACE_COMPUTE ? read_compute(jsonl, object, op, error)
                                    : read_data(jsonl, object, op, error)) ||
        !read_times(jsonl, object, &read, error) ||
        !read_afters(jsonl, object, &read, error) ||
        (trace_kind_is_p2p(op->kind) && !pair_up(jsonl, op, error)) ||
        !read_id(jsonl, object, error)) {
        return FALSE;
    }
    op->seq = jsonl_group_at(jsonl, op->comm)->n_ops++;
    g_array_append_val(jsonl->ops, read);
    return TRUE;
}

gboolean
jsonl_check_pairs(struct jsonl *jsonl, GError **error)
{
    for (guint i = 0; i < jsonl->ops->len; i++) {
        const struct trace_op *op = &g_array_index(jsonl->ops, struct jsonl_op, i).op;

        if (trace_kind_is_p2p(op->kind) && op->pair == TRACE_NO_PAIR) {
            jsonl->line = op->line;
            return jsonl_fail(
                jsonl, TRACE_ERROR_INCOMPLETE, error, "this %s has no %s of its peer",
                trace_kind_name(op->kind),
                trace_kind_name(op->kind == TRACE_SEND ? TRACE_RECV : TRACE_SEND));
        }
    }
    return TRUE;
}
