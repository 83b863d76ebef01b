/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_jsonl.c - our own trace: a header line that says who there is, then an operation a
 * line, with times and dependencies.  docs/trace/jsonl.md describes it; write_jsonl.c writes
 * it.
 *
 * A line is a whole operation, so nothing is merged: the trace is made here (trace_ops.take).
 */
#include <config.h>

#include "workloads/trace/jsonl.h"

#include <string.h>

#define JSONL_VERSION 1
#define MARK "rocesim_trace"

/* ---- groups --------------------------------------------------------------------------- */

static void
free_group(gpointer data)
{
    struct jsonl_group *group = data;

    g_free(group->name);
    g_free(group->ranks);
    g_free(group->rings);
    g_hash_table_unref(group->place_of);
    g_free(group);
}

static struct jsonl_group *
add_group(struct jsonl *jsonl, const char *name, uint32_t n_ranks)
{
    struct jsonl_group *group = g_new0(struct jsonl_group, 1);

    group->name = g_strdup(name);
    group->ranks = g_new(uint32_t, n_ranks);
    group->place_of = g_hash_table_new(NULL, NULL);
    g_ptr_array_add(jsonl->groups, group);
    g_hash_table_insert(jsonl->group_of, group->name,
                        GUINT_TO_POINTER(jsonl->groups->len));
    return group;
}

/* False when it is there already. */
static bool
add_rank(struct jsonl_group *group, uint32_t rank)
{
    group->ranks[group->n_ranks++] = rank;
    return g_hash_table_insert(group->place_of, GUINT_TO_POINTER(rank + 1),
                               GUINT_TO_POINTER(group->n_ranks));
}

struct jsonl_group *
jsonl_group_at(const struct jsonl *jsonl, uint32_t group)
{
    return g_ptr_array_index(jsonl->groups, group);
}

int32_t
jsonl_place(const struct jsonl_group *group, int64_t rank)
{
    return (int32_t)GPOINTER_TO_UINT(
               g_hash_table_lookup(group->place_of, GUINT_TO_POINTER((guint)rank + 1))) -
           1;
}

uint32_t
jsonl_find_group(struct jsonl *jsonl, const char *name)
{
    const char *wanted = name != NULL ? name : JSONL_WORLD;
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(jsonl->group_of, wanted));

    if (found == 0 && strcmp(wanted, JSONL_WORLD) == 0) {
        struct jsonl_group *world = add_group(jsonl, JSONL_WORLD, jsonl->n_ranks);

        for (uint32_t r = 0; r < jsonl->n_ranks; r++) {
            add_rank(world, r);
        }
        found = jsonl->groups->len;
    }
    return found == 0 ? UINT32_MAX : found - 1;
}

/* ---- header --------------------------------------------------------------------------- */

/* Element 'i' of the list of ranks 'list', called 'name'. */
static gboolean
rank_at(const struct jsonl *jsonl, const json_t *list, size_t i, const char *name,
        uint32_t *rank, GError **error)
{
    g_autofree char *element = g_strdup_printf("%s[%zu]", name, i);
    int64_t value = 0;

    if (!jsonl_number(jsonl, json_array_get(list, i), element, 0, jsonl->n_ranks - 1,
                      &value, error)) {
        return FALSE;
    }
    *rank = (uint32_t)value;
    return TRUE;
}

static gboolean
check_list(const struct jsonl *jsonl, const json_t *list, const char *name,
           GError **error)
{
    return json_array_size(list) > 0 ||
           jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                      "%s is missing, no list, or empty; allowed is a list", name);
}

static gboolean
read_host(struct jsonl *jsonl, const json_t *object, size_t index, bool seen[],
          GError **error)
{
    static const char *const keys[] = {"name", "ranks", NULL};
    g_autofree char *where = g_strdup_printf("hosts[%zu].", index);
    g_autofree char *list_name = g_strconcat(where, "ranks", NULL);
    const json_t *list = json_object_get(object, "ranks");
    const char *name;

    if (!json_is_object(object)) {
        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "hosts[%zu] is no object; allowed is {\"name\", \"ranks\"}",
                          index);
    }
    if (!jsonl_check_keys(jsonl, object, keys, error) ||
        !jsonl_text(jsonl, object, where, "name", &name, error) ||
        !check_list(jsonl, list, list_name, error)) {
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        uint32_t rank;

        if (!rank_at(jsonl, list, i, list_name, &rank, error)) {
            return FALSE;
        }
        if (seen[rank]) {
            return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                              "%s names rank %u, which has a host already", list_name,
                              rank);
        }
        seen[rank] = true;
        jsonl->ranks[rank].host = (uint32_t)index;
    }
    g_ptr_array_add(jsonl->hosts, g_strdup(name));
    return TRUE;
}

/* Numbers the hosts by their lowest rank, the ranks within each. */
static void
order_hosts(struct jsonl *jsonl)
{
    g_autofree uint32_t *number = g_new(uint32_t, jsonl->hosts->len);
    g_autofree uint32_t *n_ranks = g_new0(uint32_t, jsonl->hosts->len);
    GPtrArray *ordered = g_ptr_array_new_with_free_func(g_free);

    memset(number, 0xff, jsonl->hosts->len * sizeof *number);
    for (uint32_t r = 0; r < jsonl->n_ranks; r++) {
        struct trace_rank *rank = &jsonl->ranks[r];

        if (number[rank->host] == UINT32_MAX) {
            number[rank->host] = ordered->len;
            g_ptr_array_add(ordered, g_strdup(jsonl->hosts->pdata[rank->host]));
        }
        rank->host = number[rank->host];
        rank->local = n_ranks[rank->host]++;
        rank->device = rank->local;
    }
    g_ptr_array_unref(jsonl->hosts);
    jsonl->hosts = ordered;
}

static gboolean
read_hosts(struct jsonl *jsonl, const json_t *header, GError **error)
{
    const json_t *list = json_object_get(header, "hosts");
    g_autofree bool *seen = g_new0(bool, jsonl->n_ranks);

    if (!check_list(jsonl, list, "hosts", error)) {
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!read_host(jsonl, json_array_get(list, i), i, seen, error)) {
            return FALSE;
        }
    }
    for (uint32_t r = 0; r < jsonl->n_ranks; r++) {
        if (!seen[r]) {
            return jsonl_fail(jsonl, TRACE_ERROR_INCOMPLETE, error,
                              "hosts: rank %u of %u has no host", r, jsonl->n_ranks);
        }
    }
    order_hosts(jsonl);
    return TRUE;
}

/* The rings of a group, turned so that each begins at the group's first rank. */
static gboolean
read_rings(const struct jsonl *jsonl, const json_t *list, const char *where,
           struct jsonl_group *group, GError **error)
{
    size_t n = json_array_size(list);

    if (n != group->n_channels) {
        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "%srings lists %zu rings for %u channels", where, n,
                          group->n_channels);
    }
    group->rings = g_new(uint32_t, n * group->n_ranks);
    for (size_t c = 0; c < n; c++) {
        const json_t *ring = json_array_get(list, c);
        g_autofree char *name = g_strdup_printf("%srings[%zu]", where, c);
        g_autofree bool *seen = g_new0(bool, group->n_ranks);
        g_autofree uint32_t *places = g_new(uint32_t, group->n_ranks);
        uint32_t turn = 0;

        if (json_array_size(ring) != group->n_ranks) {
            return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                              "%s has %zu ranks; the group has %u", name,
                              json_array_size(ring), group->n_ranks);
        }
        for (uint32_t i = 0; i < group->n_ranks; i++) {
            uint32_t rank;

            if (!rank_at(jsonl, ring, i, name, &rank, error)) {
                return FALSE;
            }
            int32_t place = jsonl_place(group, rank);

            if (place < 0 || seen[place]) {
                return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                                  "%s: rank %u is %s; allowed is each of the group once",
                                  name, rank,
                                  place < 0 ? "not in the group" : "there twice");
            }
            seen[place] = true;
            places[i] = (uint32_t)place;
            turn = place == 0 ? i : turn;
        }
        for (uint32_t i = 0; i < group->n_ranks; i++) {
            group->rings[c * group->n_ranks + i] = places[(turn + i) % group->n_ranks];
        }
    }
    return TRUE;
}

static gboolean
read_group(struct jsonl *jsonl, const json_t *object, size_t index, GError **error)
{
    static const char *const keys[] = {"name", "ranks", "channels", "rings", NULL};
    g_autofree char *where = g_strdup_printf("groups[%zu].", index);
    g_autofree char *list_name = g_strconcat(where, "ranks", NULL);
    const json_t *list = json_object_get(object, "ranks");
    const json_t *rings = json_object_get(object, "rings");
    struct jsonl_group *group;
    const char *name;
    int64_t n_channels = 0;

    if (!json_is_object(object)) {
        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "groups[%zu] is no object; allowed is {\"name\", \"ranks\"}",
                          index);
    }
    if (!jsonl_check_keys(jsonl, object, keys, error) ||
        !jsonl_text(jsonl, object, where, "name", &name, error) ||
        !check_list(jsonl, list, list_name, error) ||
        (json_object_get(object, "channels") != NULL &&
         !jsonl_integer(jsonl, object, where, "channels", 1, TRACE_MAX_CHANNELS,
                        &n_channels, error))) {
        return FALSE;
    }
    if (g_hash_table_contains(jsonl->group_of, name)) {
        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "%sname is '%.60s', as of another group", where, name);
    }
    if (json_array_size(list) > jsonl->n_ranks) {
        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "%s has %zu ranks; there are %u", list_name,
                          json_array_size(list), jsonl->n_ranks);
    }
    group = add_group(jsonl, name, (uint32_t)json_array_size(list));
    group->n_channels = (uint32_t)n_channels;
    for (size_t i = 0; i < json_array_size(list); i++) {
        uint32_t rank;

        if (!rank_at(jsonl, list, i, list_name, &rank, error)) {
            return FALSE;
        }
        if (!add_rank(group, rank)) {
            return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error, "%s names rank %u twice",
                              list_name, rank);
        }
    }
    return rings == NULL || read_rings(jsonl, rings, where, group, error);
}

static gboolean
read_header(struct jsonl *jsonl, const json_t *object, GError **error)
{
    static const char *const keys[] = {MARK, "ranks", "hosts", "groups", NULL};
    const json_t *groups = json_object_get(object, "groups");
    int64_t version, n_ranks;

    if (!jsonl_integer(jsonl, object, "", MARK, JSONL_VERSION, JSONL_VERSION, &version,
                       error) ||
        !jsonl_check_keys(jsonl, object, keys, error) ||
        !jsonl_integer(jsonl, object, "", "ranks", 1, TRACE_MAX_RANKS, &n_ranks, error)) {
        return FALSE;
    }
    if (groups != NULL &&
        (!json_is_array(groups) || json_array_size(groups) >= TRACE_MAX_COMMS)) {
        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "groups is no list of less than %d", TRACE_MAX_COMMS);
    }
    jsonl->n_ranks = (uint32_t)n_ranks;
    jsonl->ranks = g_new0(struct trace_rank, jsonl->n_ranks);
    jsonl->has_header = true;
    if (!read_hosts(jsonl, object, error)) {
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(groups); i++) {
        if (!read_group(jsonl, json_array_get(groups, i), i, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* ---- the file ------------------------------------------------------------------------- */

/* The first line that is not blank: its begin and '*n' bytes. */
static const char *
first_line(const char *data, size_t n_bytes, size_t *n)
{
    const char *end = data + n_bytes, *newline;

    while (data < end && g_ascii_isspace(*data)) {
        data++;
    }
    newline = memchr(data, '\n', (size_t)(end - data));
    *n = (size_t)((newline != NULL ? newline : end) - data);
    return data;
}

static gboolean
jsonl_probe(const char *data, size_t n_bytes)
{
    size_t n;
    const char *line = first_line(data, n_bytes, &n);

    return n > 0 && line[0] == '{' &&
           g_strstr_len(line, (gssize)n, "\"" MARK "\"") != NULL;
}

static void *
jsonl_open(struct trace_build *build)
{
    struct jsonl *jsonl = g_new0(struct jsonl, 1);

    jsonl->build = build;
    jsonl->hosts = g_ptr_array_new_with_free_func(g_free);
    jsonl->groups = g_ptr_array_new_with_free_func(free_group);
    jsonl->group_of = g_hash_table_new(g_str_hash, g_str_equal);
    jsonl->meets = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    jsonl->ops = g_array_new(FALSE, FALSE, sizeof(struct jsonl_op));
    jsonl->afters = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    jsonl->times = g_array_new(FALSE, FALSE, sizeof(int64_t));
    jsonl->op_of = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    jsonl->all_times = true;
    return jsonl;
}

static bool
is_blank(const char *at, const char *end)
{
    while (at < end && g_ascii_isspace(*at)) {
        at++;
    }
    return at == end;
}

static gboolean
read_line(struct jsonl *jsonl, const char *line, size_t n, GError **error)
{
    json_error_t why;
    json_t *object = json_loadb(line, n, JSON_REJECT_DUPLICATES, &why);
    gboolean good;

    if (object == NULL) {
        return jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error, "column %d: %s", why.column,
                          why.text);
    }
    if (!json_is_object(object)) {
        good = jsonl_fail(jsonl, TRACE_ERROR_SYNTAX, error,
                          "is no object; allowed is one in braces a line");
    } else if (!jsonl->has_header) {
        good = read_header(jsonl, object, error);
    } else {
        good = jsonl_read_op(jsonl, object, error);
    }
    json_decref(object);
    return good;
}

static gboolean
jsonl_read(void *state, const struct trace_file *file, GError **error)
{
    struct jsonl *jsonl = state;
    const char *at = file->data, *end = file->data + file->n_bytes;

    if (jsonl->path != NULL) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE,
                    "%s: a second file; a trace of this format is one file", file->path);
        return FALSE;
    }
    jsonl->path = trace_build_path(jsonl->build, file->index);
    jsonl->file = file->index;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline != NULL ? newline : end;

        jsonl->line++;
        if (!is_blank(at, stop) && !read_line(jsonl, at, (size_t)(stop - at), error)) {
            return FALSE;
        }
        at = newline != NULL ? newline + 1 : end;
    }
    return TRUE;
}

static gboolean
jsonl_finish(void *state, GError **error)
{
    struct jsonl *jsonl = state;

    if (jsonl->ops->len == 0) {
        return jsonl_fail(jsonl, TRACE_ERROR_INCOMPLETE, error,
                          "no operation follows the header");
    }
    return jsonl_check_pairs(jsonl, error);
}

static void
take_groups(struct jsonl *jsonl, struct trace *trace)
{
    trace->n_comms = jsonl->groups->len;
    trace->comms = g_new0(struct trace_comm, trace->n_comms);
    for (uint32_t i = 0; i < trace->n_comms; i++) {
        struct jsonl_group *group = jsonl_group_at(jsonl, i);

        trace->comms[i] = (struct trace_comm){.name = g_strdup(group->name),
                                              .n_ranks = group->n_ranks,
                                              .ranks = g_steal_pointer(&group->ranks),
                                              .n_ops = group->n_ops,
                                              .n_channels = group->n_channels,
                                              .rings = g_steal_pointer(&group->rings)};
    }
}

static struct trace *
jsonl_take(void *state)
{
    struct jsonl *jsonl = state;
    struct trace *trace = g_new0(struct trace, 1);

    trace->is_graph = true;
    trace->n_ranks = jsonl->n_ranks;
    trace->ranks = g_steal_pointer(&jsonl->ranks);
    take_groups(jsonl, trace);
    trace->n_hosts = jsonl->hosts->len;
    g_ptr_array_add(jsonl->hosts, NULL);
    g_ptr_array_set_free_func(jsonl->hosts, NULL);
    trace->hosts = (char **)g_ptr_array_free(g_steal_pointer(&jsonl->hosts), FALSE);
    trace->n_ops = jsonl->ops->len;
    trace->ops = g_new(struct trace_op, trace->n_ops);
    trace->times_ps = g_memdup2(jsonl->times->data, jsonl->times->len * sizeof(int64_t));
    trace->afters = g_memdup2(jsonl->afters->data, jsonl->afters->len * sizeof(uint32_t));
    for (size_t i = 0; i < trace->n_ops; i++) {
        const struct jsonl_op *read = &g_array_index(jsonl->ops, struct jsonl_op, i);

        trace->ops[i] = read->op;
        trace->ops[i].after =
            read->op.n_after > 0 ? trace->afters + read->first_after : NULL;
        trace->ops[i].rank_times_ps =
            read->op.has_time ? trace->times_ps + read->first_time : NULL;
    }
    trace->has_times = jsonl->all_times;
    trace->time_step_ps = jsonl->some_times ? 1000 : 0;
    trace_build_take_texts(jsonl->build, trace);
    return trace;
}

static void
jsonl_close(void *state)
{
    struct jsonl *jsonl = state;

    g_clear_pointer(&jsonl->hosts, g_ptr_array_unref);
    g_clear_pointer(&jsonl->waiting, g_hash_table_unref);
    g_hash_table_unref(jsonl->group_of);
    g_ptr_array_unref(jsonl->groups);
    g_hash_table_unref(jsonl->meets);
    g_hash_table_unref(jsonl->op_of);
    g_array_unref(jsonl->ops);
    g_array_unref(jsonl->afters);
    g_array_unref(jsonl->times);
    g_free(jsonl->ranks);
    g_free(jsonl);
}

const struct trace_ops trace_jsonl = {
    .name = "jsonl",
    .source = "our own: docs/trace/jsonl.md",
    .probe = jsonl_probe,
    .open = jsonl_open,
    .read = jsonl_read,
    .finish = jsonl_finish,
    .take = jsonl_take,
    .close = jsonl_close,
};
