/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace.c - finds the files of a trace, the reader that knows them, and runs it.
 * The pairing of calls is trace_build.c's; formats are read_NAME.c's.
 */
#include <config.h>

#include "workloads/trace/trace.h"

#include <assert.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "workloads/trace/trace_build.h"

enum { MAX_DEPTH = 4 };

static const struct trace_ops *const readers[] = {
#define TRACE_READER(name) &trace_##name,
#include "workloads/trace/trace_list.def"
#undef TRACE_READER
};

static const char *const kind_names[TRACE_N_KINDS] = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all",
    "gather",     "scatter",    "send",           "recv",      "compute"};

static const char *const type_names[TRACE_N_TYPES] = {
    "int8", "uint8", "int32", "uint32", "int64",    "uint64",
    "fp16", "fp32",  "fp64",  "bf16",   "fp8_e4m3", "fp8_e5m2"};

static const uint8_t type_bytes[TRACE_N_TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

static const char *const redop_names[TRACE_N_REDOPS] = {"sum", "prod", "max",
                                                        "min", "avg",  "custom"};

static const char *const algo_names[TRACE_N_ALGOS + 1] = {
    "tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
    "nvls_tree", "pat",  "unknown"};

static const char *const proto_names[TRACE_N_PROTOS + 1] = {"ll", "ll128", "simple",
                                                            "unknown"};

/* A file to read: a path to map, or bytes. */
struct source {
    char *path;       /* owned */
    const char *data; /* NULL: map 'path' */
    size_t n_bytes;
    bool named; /* by the user, not found in a folder or by a pattern */
    int64_t name_rank;
};

static void
free_source(gpointer data)
{
    struct source *source = data;

    g_free(source->path);
    g_free(source);
}

static gboolean
add_source(GPtrArray *sources, const char *path, bool named, GError **error)
{
    if (sources->len >= TRACE_MAX_FILES) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE, "%s: more than %d files", path,
                    TRACE_MAX_FILES);
        return FALSE;
    }
    struct source *source = g_new0(struct source, 1);
    source->path = g_strdup(path);
    source->named = named;
    source->name_rank = -1;
    g_ptr_array_add(sources, source);
    return TRUE;
}

static int
compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the files under folder 'path' in order of name; names with a leading dot are not
 * looked at. */
static gboolean
add_folder(GPtrArray *sources, const char *path, int depth, GError **error)
{
    g_autoptr(GError) why = NULL;
    g_autoptr(GDir) dir = g_dir_open(path, 0, &why);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;

    if (dir == NULL) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE, "%s: %s", path, why->message);
        return FALSE;
    }
    while ((name = g_dir_read_name(dir)) != NULL) {
        if (name[0] != '.') {
            g_ptr_array_add(names, g_build_filename(path, name, NULL));
        }
    }
    if (names->len > 0) {
        qsort(names->pdata, names->len, sizeof(names->pdata[0]), compare_strings);
    }
    for (guint i = 0; i < names->len; i++) {
        const char *entry = g_ptr_array_index(names, i);
        struct stat st;
        if (stat(entry, &st) != 0) {
            continue;
        }
        if (S_ISDIR(st.st_mode)) {
            if (depth < MAX_DEPTH && !add_folder(sources, entry, depth + 1, error)) {
                return FALSE;
            }
        } else if (S_ISREG(st.st_mode) && !add_source(sources, entry, false, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
add_pattern(GPtrArray *sources, const char *pattern, GError **error)
{
    glob_t found = {0};
    gboolean good = TRUE;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) {
        globfree(&found);
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE, "%s: no file matches", pattern);
        return FALSE;
    }
    qsort(found.gl_pathv, found.gl_pathc, sizeof(found.gl_pathv[0]), compare_strings);
    for (size_t i = 0; i < found.gl_pathc && good; i++) {
        struct stat st;
        if (stat(found.gl_pathv[i], &st) == 0 && S_ISREG(st.st_mode)) {
            good = add_source(sources, found.gl_pathv[i], false, error);
        }
    }
    globfree(&found);
    return good;
}

static gboolean
add_path(GPtrArray *sources, const char *path, GError **error)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        if (strpbrk(path, "*?[") != NULL) {
            return add_pattern(sources, path, error);
        }
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE, "%s: %s", path,
                    g_strerror(errno));
        return FALSE;
    }
    if (S_ISDIR(st.st_mode)) {
        return add_folder(sources, path, 1, error);
    }
    if (!S_ISREG(st.st_mode)) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE,
                    "%s: neither a file nor a folder of files", path);
        return FALSE;
    }
    return add_source(sources, path, true, error);
}

/* ---- ranks in file names ----------------------------------------------------------- */

/* Reads up to 9 digits at 'at'; -1 if there are none or more. */
static int64_t
read_digits(const char *at)
{
    int64_t value = 0;
    size_t n = 0;

    for (; g_ascii_isdigit(at[n]); n++) {
        if (n >= 9) {
            return -1;
        }
        value = value * 10 + (at[n] - '0');
    }
    return n == 0 ? -1 : value;
}

/* The number after the last "rank" in 'path': ".../1/rank.07/stdout" gives 7. */
static int64_t
rank_after_word(const char *path)
{
    int64_t rank = -1;

    for (const char *at = strstr(path, "rank"); at != NULL; at = strstr(at, "rank")) {
        at += 4;
        const int64_t value =
            read_digits(at + (*at != '\0' && strchr("._-=", *at) != NULL));
        rank = value >= 0 ? value : rank;
    }
    return rank;
}

/* The last number in the last part of 'path', -1 if none. */
static int64_t
last_number(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const char *end = name + strlen(name);

    while (end > name && !g_ascii_isdigit(end[-1])) {
        end--;
    }
    while (end > name && g_ascii_isdigit(end[-1])) {
        end--;
    }
    return read_digits(end);
}

/* A file name tells a rank by the word, or if the numbers in several names are exactly 0 to
 * n-1 (a process id is not). */
static void
find_name_ranks(GPtrArray *sources)
{
    const guint n = sources->len;
    g_autofree bool *taken = g_new0(bool, n);
    bool numbered = n > 1;

    for (guint i = 0; i < n; i++) {
        struct source *source = g_ptr_array_index(sources, i);
        const int64_t number = last_number(source->path);
        if (number < 0 || number >= n || taken[number]) {
            numbered = false;
        } else {
            taken[number] = true;
        }
    }
    for (guint i = 0; i < n; i++) {
        struct source *source = g_ptr_array_index(sources, i);
        source->name_rank = rank_after_word(source->path);
        if (source->name_rank < 0 && numbered) {
            source->name_rank = last_number(source->path);
        }
    }
}

/* ---- reading ----------------------------------------------------------------------- */

static const struct trace_ops *
detect(const char *data, size_t n_bytes)
{
    for (size_t i = 0; i < G_N_ELEMENTS(readers); i++) {
        if (readers[i]->probe(data, n_bytes)) {
            return readers[i];
        }
    }
    return NULL;
}

static void
set_unknown(GError **error, const char *path, const char *data, size_t n_bytes)
{
    const size_t head = MIN(n_bytes, 4096);
    g_autoptr(GString) names = g_string_new(NULL);
    const char *what = "text";

    for (size_t i = 0; i < G_N_ELEMENTS(readers); i++) {
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", readers[i]->name);
    }
    if (n_bytes == 0) {
        what = "empty";
    } else if (n_bytes >= 2 && memcmp(data, "\x1f\x8b", 2) == 0) {
        what = "gzip data, unpack it first";
    } else if (memchr(data, 0, head) != NULL) {
        what = "binary data";
    }
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                "%s: not an NCCL debug log nor any other trace known here (%s); known "
                "formats: %s",
                path, what, names->str);
}

struct run {
    struct trace_build *build;
    const struct trace_ops *ops;
    void *reader;
};

/* Reads the bytes of one source; skips what no reader knows unless it was named. */
static gboolean
read_bytes(struct run *run, const struct source *source, const char *data, size_t n_bytes,
           GError **error)
{
    const struct trace_ops *ops = detect(data, n_bytes);

    if (ops == NULL) {
        if (source->named) {
            set_unknown(error, source->path, data, n_bytes);
            return FALSE;
        }
        trace_build_warn(run->build, "%s: not a trace, skipped", source->path);
        return TRUE;
    }
    if (run->ops == NULL) {
        run->ops = ops;
        run->reader = ops->open(run->build);
    } else if (run->ops != ops) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                    "%s: is of format %s, but the files before it are of %s",
                    source->path, ops->name, run->ops->name);
        return FALSE;
    }
    const struct trace_file file = {.path = source->path,
                                    .data = data,
                                    .n_bytes = n_bytes,
                                    .index = trace_build_file(run->build, source->path),
                                    .name_rank = source->name_rank};
    return run->ops->read(run->reader, &file, error);
}

static gboolean
read_source(struct run *run, const struct source *source, GError **error)
{
    if (source->data != NULL) {
        return read_bytes(run, source, source->data, source->n_bytes, error);
    }
    g_autoptr(GError) why = NULL;
    g_autoptr(GMappedFile) map = g_mapped_file_new(source->path, FALSE, &why);
    if (map == NULL) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE, "%s", why->message);
        return FALSE;
    }
    const char *data = g_mapped_file_get_contents(map);
    return read_bytes(run, source, data == NULL ? "" : data,
                      g_mapped_file_get_length(map), error);
}

static struct trace *
read_sources(GPtrArray *sources, GError **error)
{
    struct run run = {.build = trace_build_new()};
    struct trace *trace = NULL;
    bool good = true;

    for (guint i = 0; i < sources->len && good; i++) {
        good = read_source(&run, g_ptr_array_index(sources, i), error);
    }
    if (good && run.ops == NULL) {
        const struct source *first =
            sources->len > 0 ? g_ptr_array_index(sources, 0) : NULL;
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                    "%s: no file of a known trace format",
                    first == NULL ? "an empty folder" : first->path);
        good = false;
    }
    if (good && run.ops->finish(run.reader, error)) {
        trace = run.ops->take != NULL ? run.ops->take(run.reader)
                                      : trace_build_finish(run.build, error);
        if (trace != NULL) {
            trace->format = run.ops->name;
        }
    }
    if (run.ops != NULL) {
        run.ops->close(run.reader);
    }
    trace_build_free(run.build);
    return trace;
}

GQuark
trace_error_quark(void)
{
    return g_quark_from_static_string("trace-error-quark");
}

struct trace *
trace_open_paths(const char *const *paths, size_t n_paths, GError **error)
{
    g_autoptr(GPtrArray) sources = g_ptr_array_new_with_free_func(free_source);

    assert(n_paths >= 1);
    for (size_t i = 0; i < n_paths; i++) {
        const guint before = sources->len;
        if (!add_path(sources, paths[i], error)) {
            return NULL;
        }
        if (sources->len == before) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE, "%s: holds no files",
                        paths[i]);
            return NULL;
        }
    }
    find_name_ranks(sources);
    return read_sources(sources, error);
}

struct trace *
trace_open_data(const char *const *names, const char *const *data, const size_t *n_bytes,
                size_t n_files, GError **error)
{
    g_autoptr(GPtrArray) sources = g_ptr_array_new_with_free_func(free_source);

    assert(n_files >= 1);
    for (size_t i = 0; i < n_files; i++) {
        if (!add_source(sources, names[i], true, error)) {
            return NULL;
        }
        struct source *source = g_ptr_array_index(sources, i);
        source->data = data[i];
        source->n_bytes = n_bytes[i];
    }
    find_name_ranks(sources);
    return read_sources(sources, error);
}

void
trace_free(struct trace *trace)
{
    if (trace == NULL) {
        return;
    }
    for (uint32_t i = 0; i < trace->n_comms; i++) {
        g_free(trace->comms[i].name);
        g_free(trace->comms[i].ranks);
        g_free(trace->comms[i].rings);
    }
    g_free(trace->ranks);
    g_strfreev(trace->hosts);
    g_free(trace->comms);
    g_free(trace->ops);
    g_strfreev(trace->files);
    g_strfreev(trace->warnings);
    g_free(trace->times_ps);
    g_free(trace->afters);
    g_free(trace);
}

static void
comm_check(const struct trace *trace, const struct trace_comm *comm)
{
    g_assert(comm->n_ranks >= 1 && comm->n_channels <= TRACE_MAX_CHANNELS);
    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        g_assert(comm->ranks[i] < trace->n_ranks);
    }
    for (uint32_t c = 0; comm->rings != NULL && c < comm->n_channels; c++) {
        const uint32_t *order = comm->rings + (size_t)c * comm->n_ranks;
        g_autofree bool *seen = g_new0(bool, comm->n_ranks);
        g_assert(order[0] == 0);
        for (uint32_t i = 0; i < comm->n_ranks; i++) {
            g_assert(order[i] < comm->n_ranks && !seen[order[i]]);
            seen[order[i]] = true;
        }
    }
}

static void
op_check(const struct trace *trace, size_t index)
{
    const struct trace_op *op = &trace->ops[index];

    g_assert((unsigned)op->kind < TRACE_N_KINDS && (unsigned)op->type < TRACE_N_TYPES);
    g_assert((unsigned)op->redop < TRACE_N_REDOPS && op->comm < trace->n_comms);
    const struct trace_comm *comm = &trace->comms[op->comm];
    const bool is_p2p = trace_kind_is_p2p(op->kind);
    g_assert(op->count >= 0 && op->bytes == op->count * trace_type_bytes(op->type));
    const bool is_compute = op->kind == TRACE_COMPUTE;
    const bool has_rank = op->rank >= 0 && (uint32_t)op->rank < comm->n_ranks;
    g_assert(is_p2p ? has_rank : op->rank == TRACE_NO_RANK || (is_compute && has_rank));
    g_assert(op->duration_ps >= 0 && (is_compute || op->duration_ps == 0));
    g_assert(op->delay_ps >= 0 && (trace->is_graph || (!is_compute && op->n_after == 0)));
    for (uint32_t i = 0; i < op->n_after; i++) {
        g_assert(op->after[i] < index);
    }
    g_assert(is_p2p || trace_kind_has_root(op->kind)
                 ? op->peer >= 0 && (uint32_t)op->peer < comm->n_ranks
                 : op->peer == TRACE_NO_RANK);
    if (is_p2p) {
        g_assert(op->pair >= 0 && (size_t)op->pair < trace->n_ops);
        const struct trace_op *other = &trace->ops[op->pair];
        g_assert(other->pair == (int64_t)index && other->bytes == op->bytes);
        g_assert(other->comm == op->comm && other->rank == op->peer &&
                 other->peer == op->rank);
        g_assert(other->kind == (op->kind == TRACE_SEND ? TRACE_RECV : TRACE_SEND));
    } else {
        g_assert(op->pair == TRACE_NO_PAIR);
    }
    g_assert(op->has_time == (op->rank_times_ps != NULL) &&
             (op->has_time || !trace->has_times));
    const uint32_t n_times = op->has_time ? trace_op_n_ranks(trace, op) : 0;
    int64_t min_ps = INT64_MAX;
    for (uint32_t i = 0; i < n_times; i++) {
        min_ps = MIN(min_ps, op->rank_times_ps[i]);
    }
    g_assert(n_times == 0 || (min_ps == op->time_ps && min_ps >= 0));
}

void
trace_check(const struct trace *trace)
{
    g_assert(trace->n_ranks >= 1 && trace->n_hosts >= 1 && trace->n_ops >= 1);
    g_assert(g_strv_length(trace->hosts) == trace->n_hosts);
    uint32_t n_hosts = 0;
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        g_assert(trace->ranks[r].host <= n_hosts); /* in order of their lowest rank */
        n_hosts = MAX(n_hosts, trace->ranks[r].host + 1);
    }
    g_assert(n_hosts == trace->n_hosts);
    size_t n_ops = 0;
    for (uint32_t c = 0; c < trace->n_comms; c++) {
        comm_check(trace, &trace->comms[c]);
        n_ops += trace->comms[c].n_ops;
    }
    g_assert(n_ops == trace->n_ops);
    for (size_t i = 0; i < trace->n_ops; i++) {
        op_check(trace, i);
    }
}

const char *
trace_kind_name(enum trace_kind kind)
{
    return kind_names[kind];
}

const char *
trace_type_name(enum trace_type type)
{
    return type_names[type];
}

const char *
trace_redop_name(enum trace_redop redop)
{
    return redop_names[redop];
}

const char *
trace_algo_name(enum trace_algo algo)
{
    return algo_names[algo];
}

const char *
trace_proto_name(enum trace_proto proto)
{
    return proto_names[proto];
}

int64_t
trace_type_bytes(enum trace_type type)
{
    return type_bytes[type];
}

bool
trace_kind_is_p2p(enum trace_kind kind)
{
    return kind == TRACE_SEND || kind == TRACE_RECV;
}

bool
trace_kind_has_root(enum trace_kind kind)
{
    return kind == TRACE_BROADCAST || kind == TRACE_REDUCE || kind == TRACE_GATHER ||
           kind == TRACE_SCATTER;
}

bool
trace_kind_has_redop(enum trace_kind kind)
{
    return kind == TRACE_ALL_REDUCE || kind == TRACE_REDUCE_SCATTER ||
           kind == TRACE_REDUCE;
}

/* Index of 'name' in 'names[n]', or 'n'. */
static unsigned
find_name(const char *const names[], unsigned n, const char *name)
{
    unsigned i = 0;

    while (i < n && strcmp(names[i], name) != 0) {
        i++;
    }
    return i;
}

enum trace_kind
trace_find_kind(const char *name)
{
    return (enum trace_kind)find_name(kind_names, TRACE_N_KINDS, name);
}

enum trace_type
trace_find_type(const char *name)
{
    return (enum trace_type)find_name(type_names, TRACE_N_TYPES, name);
}

enum trace_redop
trace_find_redop(const char *name)
{
    return (enum trace_redop)find_name(redop_names, TRACE_N_REDOPS, name);
}

enum trace_algo
trace_find_algo(const char *name)
{
    return (enum trace_algo)find_name(algo_names, TRACE_N_ALGOS, name);
}

enum trace_proto
trace_find_proto(const char *name)
{
    return (enum trace_proto)find_name(proto_names, TRACE_N_PROTOS, name);
}

uint32_t
trace_op_n_ranks(const struct trace *trace, const struct trace_op *op)
{
    return op->rank != TRACE_NO_RANK ? 1 : trace->comms[op->comm].n_ranks;
}

const char *
trace_reader_name(size_t index, const char **source)
{
    if (index >= G_N_ELEMENTS(readers)) {
        return NULL;
    }
    if (source != NULL) {
        *source = readers[index]->source;
    }
    return readers[index]->name;
}
