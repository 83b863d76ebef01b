/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_nccl_log.c - NCCL debug logs (NCCL_DEBUG=INFO, subsystems INIT and COLL): one file
 * of all ranks or one a rank, as a launcher merged them.  nccl_line.c reads single lines;
 * here they are put together: which process a line is of, which communicator its pointers
 * mean, and which pieces of cut lines belong together.
 *
 * Source: NCCL src/debug.cc and enqueue.cc, versions 2.4 to 2.30; what is read, repaired
 * and refused stands in docs/trace/nccl-log.md.
 * Invariants: a pointer means something only within its process, from an INIT line on
 * until the next one that names it; a process has at most one unfinished line.
 */
#include <config.h>

#include <string.h>

#include "workloads/trace/nccl_line.h"
#include "workloads/trace/trace_build.h"

enum {
    N_RECENT = 32, /* operations of a thread that may still get a TUNING line; guess */
    MAX_FRAGMENTS = 64, /* unfinished lines at a time; guess */
    MAX_SCRAPS = 8,     /* lines cut before their message, at a time; guess */
    MAX_LINE = 1024,    /* NCCL cuts its lines there */
    MAX_PREFIX = 128,   /* launcher's prefix, time stamp, HOST:PID:TID [dev]; guess */
    MAX_NOTES = 2 * TRACE_MAX_CHANNELS,
};

static const uint32_t NONE = UINT32_MAX;

/* First member of everything that is looked up by two numbers. */
struct key {
    uint64_t a, b;
};

struct host {
    char *name; /* owned */
    size_t n;
    uint32_t index;
};

struct process {
    struct key key; /* host index, pid */
    struct host *host;
    uint32_t index;
    bool has_init;
};

/* A GPU of a process, or a process whose rank the launcher tells. */
struct device {
    struct key key; /* process index; CUDA device, or UINT64_MAX */
    uint32_t rank;  /* as built */
};

/* What a communicator pointer means to a process. */
struct binding {
    struct key key; /* process index, pointer */
    uint32_t member;
    int64_t comm_rank;
    bool has_id, has_start, is_complete;
    uint64_t id;
};

/* A communicator by commId and size, or by size and turn. */
struct named_comm {
    struct key key;
    uint32_t comm;
};

/* How many communicators of a size a rank has begun without commId. */
struct turn {
    struct key key; /* rank, size */
    uint64_t n;
};

/* A ring line read before its communicator is known (before NCCL 2.15 INIT lines come at
 * the end only). */
struct note {
    uint32_t channel, n_channels;
    uint32_t *order; /* owned; NULL: a link */
    uint32_t n;
    uint32_t rank, next;
};

struct recent {
    uint32_t call; /* NONE: none */
    enum trace_kind kind;
    uint64_t bytes;
    uint32_t n_ranks;
};

struct thread {
    struct key key; /* process index, tid */
    uint32_t comm;  /* being initialised, NONE: not known */
    GArray *notes;  /* struct note; NULL: none */
    struct recent recent[N_RECENT];
    uint32_t n_recent; /* ever */
};

/* The beginning of a line that was cut. */
struct fragment {
    struct nccl_head head;
    struct process *process;
    char *text; /* owned */
    size_t n;
    uint64_t line;
};

/* Text before another line's prefix that may begin one itself, cut before its message. */
struct scrap {
    char text[MAX_PREFIX];
    size_t n;
    uint64_t line;
};

struct reader {
    struct trace_build *build;     /* borrowed */
    const struct trace_file *file; /* during 'read' */
    uint64_t line;                 /* being read, from 1 */
    GHashTable *hosts;             /* struct host by name */
    GHashTable *processes, *devices, *bindings, *comms, *turns,
        *threads;      /* by struct key */
    GArray *fragments; /* struct fragment */
    struct scrap scraps[MAX_SCRAPS];
    size_t n_scraps;
    GArray *order;      /* uint32_t, scratch */
    GArray *wrap;       /* uint32_t: a Channel list that may go on in the next line */
    uint32_t wrap_comm; /* NONE: there is none */
    uint32_t wrap_channel;
    bool has_init, is_numbered_by_prefix;
    uint64_t n_joined, joined_line; /* cut lines put together, and the first */
    uint32_t joined_file;
    uint64_t n_warn, warn_line; /* NCCL WARN lines, and the first */
    uint32_t warn_file;
    char *warn_text; /* owned */
};

/* ---- tables ---------------------------------------------------------------------------- */

static guint
hash_key(gconstpointer data)
{
    const struct key *key = data;
    const uint64_t mixed =
        (key->a * 0x9e3779b97f4a7c15u) ^ (key->b * 0xc2b2ae3d27d4eb4fu);

    return (guint)(mixed ^ mixed >> 32);
}

static gboolean
equal_key(gconstpointer a, gconstpointer b)
{
    const struct key *x = a, *y = b;

    return x->a == y->a && x->b == y->b;
}

static guint
hash_host(gconstpointer data)
{
    const struct host *host = data;
    guint hash = 5381;

    for (size_t i = 0; i < host->n; i++) {
        hash = hash * 33 + (guchar)host->name[i];
    }
    return hash;
}

static gboolean
equal_host(gconstpointer a, gconstpointer b)
{
    const struct host *x = a, *y = b;

    return x->n == y->n && memcmp(x->name, y->name, x->n) == 0;
}

static void
free_host(gpointer data)
{
    struct host *host = data;

    g_free(host->name);
    g_free(host);
}

static void
free_notes(struct thread *thread)
{
    if (thread->notes == NULL) {
        return;
    }
    for (guint i = 0; i < thread->notes->len; i++) {
        g_free(g_array_index(thread->notes, struct note, i).order);
    }
    g_array_unref(thread->notes);
    thread->notes = NULL;
}

static void
free_thread(gpointer data)
{
    free_notes(data);
    g_free(data);
}

static GHashTable *
new_table(GDestroyNotify destroy)
{
    return g_hash_table_new_full(hash_key, equal_key, NULL, destroy);
}

static gpointer
find_entry(GHashTable *table, uint64_t a, uint64_t b)
{
    const struct key key = {a, b};

    return g_hash_table_lookup(table, &key);
}

/* Adds 'entry', which begins with its key, replacing an older one. */
static void
add_entry(GHashTable *table, gpointer entry)
{
    g_hash_table_replace(table, entry, entry);
}

static struct host *
find_host(const struct reader *reader, const char *name, size_t n)
{
    const struct host key = {.name = (char *)(uintptr_t)name, .n = n};

    return g_hash_table_lookup(reader->hosts, &key);
}

/* The process that 'head' names if it is known.  Text that was cut right before the host
 * name looks like a part of it: a known process whose host name is the end of it is meant. */
static struct process *
find_process(const struct reader *reader, struct nccl_head *head)
{
    for (size_t skip = 0; skip < head->n_host; skip++) {
        const struct host *host =
            find_host(reader, head->host + skip, head->n_host - skip);
        struct process *process =
            host == NULL ? NULL : find_entry(reader->processes, host->index, head->pid);

        if (process != NULL) {
            if (skip > 0) {
                head->start = head->host += skip;
                head->n_host -= skip;
            }
            return process;
        }
    }
    return NULL;
}

static struct process *
get_process(struct reader *reader, struct nccl_head *head, GError **error)
{
    struct process *process = find_process(reader, head);

    if (process != NULL) {
        return process;
    }
    if (g_hash_table_size(reader->processes) >= TRACE_MAX_RANKS) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE,
                    "%s:%" G_GUINT64_FORMAT ": more than %d processes",
                    reader->file->path, reader->line, TRACE_MAX_RANKS);
        return NULL;
    }
    struct host *host = find_host(reader, head->host, head->n_host);
    if (host == NULL) {
        host = g_new0(struct host, 1);
        host->name = g_strndup(head->host, head->n_host);
        host->n = head->n_host;
        host->index = g_hash_table_size(reader->hosts);
        g_hash_table_add(reader->hosts, host);
    }
    process = g_new0(struct process, 1);
    process->key = (struct key){host->index, head->pid};
    process->host = host;
    process->index = g_hash_table_size(reader->processes);
    add_entry(reader->processes, process);
    return process;
}

static struct thread *
get_thread(struct reader *reader, const struct process *process, uint64_t tid)
{
    struct thread *thread = find_entry(reader->threads, process->index, tid);

    if (thread == NULL) {
        thread = g_new0(struct thread, 1);
        thread->key = (struct key){process->index, tid};
        thread->comm = NONE;
        for (uint32_t i = 0; i < N_RECENT; i++) {
            thread->recent[i].call = NONE;
        }
        add_entry(reader->threads, thread);
    }
    return thread;
}

/* The rank built for CUDA device 'cuda_device' of a process. */
static struct device *
get_device(struct reader *reader, const struct process *process, uint64_t cuda_device,
           uint32_t shown_device, int64_t number, GError **error)
{
    struct device *device = find_entry(reader->devices, process->index, cuda_device);
    uint32_t rank;

    if (device != NULL) {
        return device;
    }
    if (!trace_build_rank(reader->build, process->host->name, shown_device, number, &rank,
                          error)) {
        return NULL;
    }
    device = g_new0(struct device, 1);
    device->key = (struct key){process->index, cuda_device};
    device->rank = rank;
    add_entry(reader->devices, device);
    return device;
}

/* The communicator called (a, b), made with 'name' and 'n_ranks' if new. */
static gboolean
get_comm(struct reader *reader, uint64_t a, uint64_t b, const char *name, int64_t n_ranks,
         uint32_t *comm, GError **error)
{
    struct named_comm *named = find_entry(reader->comms, a, b);
    g_autoptr(GError) why = NULL;

    if (named == NULL) {
        if (!trace_build_comm(reader->build, name, n_ranks, comm, &why)) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                        "%s:%" G_GUINT64_FORMAT ": %s", reader->file->path, reader->line,
                        why->message);
            return FALSE;
        }
        named = g_new0(struct named_comm, 1);
        named->key = (struct key){a, b};
        named->comm = *comm;
        add_entry(reader->comms, named);
    }
    *comm = named->comm;
    return TRUE;
}

/* How many communicators of 'n_ranks' 'rank' has begun before; counts this one. */
static uint64_t
take_turn(struct reader *reader, uint32_t rank, int64_t n_ranks)
{
    struct turn *turn = find_entry(reader->turns, rank, (uint64_t)n_ranks);

    if (turn == NULL) {
        turn = g_new0(struct turn, 1);
        turn->key = (struct key){rank, (uint64_t)n_ranks};
        add_entry(reader->turns, turn);
    }
    return turn->n++;
}

/* The communicator that is the next of its size to 'rank', for want of a name. */
static gboolean
get_comm_by_turn(struct reader *reader, uint32_t rank, int64_t n_ranks, uint32_t *comm,
                 GError **error)
{
    const uint64_t turn = take_turn(reader, rank, n_ranks);
    g_autofree char *name = g_strdup_printf(
        "#%" G_GUINT64_FORMAT " of %" G_GINT64_FORMAT " ranks", turn, n_ranks);

    /* The sizes of named ones are positive: no two keys meet. */
    return get_comm(reader, turn, (uint64_t)-n_ranks, name, n_ranks, comm, error);
}

/* ---- rings ----------------------------------------------------------------------------- */

static void
apply_note(struct reader *reader, uint32_t comm, const struct note *note)
{
    if (note->n_channels > 0) {
        trace_build_channels(reader->build, comm, note->n_channels);
    }
    if (note->order != NULL) {
        trace_build_ring(reader->build, comm, note->channel, note->order, note->n);
    } else if (note->rank != NONE) {
        trace_build_ring_next(reader->build, comm, note->channel, note->rank, note->next);
    }
}

/* Says 'note' of the communicator that 'thread' initialises, or keeps it until known. */
static void
take_note(struct reader *reader, struct thread *thread, const struct note *note)
{
    if (thread->comm != NONE) {
        apply_note(reader, thread->comm, note);
        return;
    }
    if (thread->notes == NULL) {
        thread->notes = g_array_new(FALSE, FALSE, sizeof(struct note));
    }
    if (thread->notes->len < MAX_NOTES) {
        struct note copy = *note;
        if (note->order != NULL) {
            copy.order = g_memdup2(note->order, note->n * sizeof(note->order[0]));
        }
        g_array_append_val(thread->notes, copy);
    }
}

static void
on_channel(struct reader *reader, struct thread *thread, uint32_t channel,
           uint32_t n_channels)
{
    const uint32_t n_ranks = thread->comm == NONE
                                 ? UINT32_MAX
                                 : trace_build_comm_n_ranks(reader->build, thread->comm);
    const struct note note = {.channel = channel,
                              .n_channels = n_channels,
                              .order = (uint32_t *)(void *)reader->order->data,
                              .n = reader->order->len,
                              .rank = NONE};

    if (note.n > TRACE_MAX_RANKS) {
        return;
    }
    take_note(reader, thread, &note);
    if (thread->comm != NONE && note.n < n_ranks) {
        reader->wrap_comm = thread->comm;
        reader->wrap_channel = channel;
        g_array_set_size(reader->wrap, 0);
        g_array_append_vals(reader->wrap, reader->order->data, reader->order->len);
    }
}

/* A line of numbers alone after a Channel line goes on with its list. */
static bool
on_wrapped(struct reader *reader, const char *text, const char *end)
{
    text = nccl_skip_launcher(text, end);
    if (reader->wrap->len >= TRACE_MAX_RANKS ||
        !nccl_numbers_parse(text, end, reader->wrap)) {
        return false;
    }
    trace_build_ring(reader->build, reader->wrap_comm, reader->wrap_channel,
                     (const uint32_t *)(const void *)reader->wrap->data,
                     reader->wrap->len);
    return true;
}

/* ---- INIT ------------------------------------------------------------------------------ */

/* Ties the pointer of an INIT line to a member of a communicator. */
static struct binding *
bind_pointer(struct reader *reader, struct process *process, const struct nccl_head *head,
             const struct nccl_init *init, GError **error)
{
    const int64_t shown = init->nvml_device >= 0 ? init->nvml_device : init->cuda_device;
    const struct device *device =
        get_device(reader, process, (uint64_t)init->cuda_device,
                   (uint32_t)MIN(shown, INT32_MAX), head->launch_rank, error);
    uint32_t comm, member;
    gboolean good;

    if (device == NULL) {
        return NULL;
    }
    if (init->has_id) {
        g_autofree char *name = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", init->id);
        good = get_comm(reader, init->id, (uint64_t)init->n_ranks, name, init->n_ranks,
                        &comm, error);
    } else {
        good = get_comm_by_turn(reader, device->rank, init->n_ranks, &comm, error);
    }
    if (!good ||
        !trace_build_member(reader->build, comm, init->rank, device->rank,
                            reader->file->index, reader->line,
                            init->has_id
                                ? "are these the logs of two runs?"
                                : "this NCCL prints no commId, and communicators of one "
                                  "size over different ranks cannot be told apart",
                            &member, error)) {
        return NULL;
    }
    struct binding *binding = g_new0(struct binding, 1);
    binding->key = (struct key){process->index, init->comm};
    binding->member = member;
    binding->comm_rank = init->rank;
    binding->has_id = init->has_id;
    binding->id = init->id;
    add_entry(reader->bindings, binding);
    return binding;
}

/* True if 'init' is the second line of the initialisation that made 'binding'. */
static bool
init_repeats(const struct reader *reader, const struct binding *binding,
             const struct nccl_init *init)
{
    const uint32_t comm = trace_build_member_comm(reader->build, binding->member);

    if (binding->comm_rank != init->rank ||
        trace_build_comm_n_ranks(reader->build, comm) != init->n_ranks) {
        return false;
    }
    if (binding->has_id || init->has_id) {
        return binding->has_id && init->has_id && binding->id == init->id;
    }
    return binding->has_start && !binding->is_complete && init->is_complete;
}

static gboolean
on_init(struct reader *reader, struct process *process, const struct nccl_head *head,
        const struct nccl_init *init, GError **error)
{
    struct thread *thread = get_thread(reader, process, head->tid);
    struct binding *binding = find_entry(reader->bindings, process->index, init->comm);

    reader->has_init = process->has_init = true;
    if (binding == NULL || !init_repeats(reader, binding, init)) {
        binding = bind_pointer(reader, process, head, init, error);
        if (binding == NULL) {
            return FALSE;
        }
    }
    const uint32_t comm = trace_build_member_comm(reader->build, binding->member);
    if (!init->is_complete) {
        binding->has_start = true;
        free_notes(thread);
        thread->comm = comm;
        return TRUE;
    }
    binding->is_complete = true;
    for (guint i = 0; thread->notes != NULL && i < thread->notes->len; i++) {
        apply_note(reader, comm, &g_array_index(thread->notes, struct note, i));
    }
    free_notes(thread);
    thread->comm = binding->has_start ? comm : NONE;
    return TRUE;
}

/* ---- COLL ------------------------------------------------------------------------------ */

/* Ties a pointer that no INIT line explained to the communicator of all ranks, by the rank
 * that the launcher or the file name gives. */
static struct binding *
bind_by_launcher(struct reader *reader, struct process *process,
                 const struct nccl_head *head, const struct nccl_coll *coll,
                 GError **error)
{
    const int64_t number =
        head->launch_rank >= 0 ? head->launch_rank : reader->file->name_rank;
    uint32_t comm, member;

    if (reader->has_init || number < 0 || coll->n_ranks < 1 || number >= coll->n_ranks) {
        g_set_error(
            error, TRACE_ERROR, TRACE_ERROR_INCOMPLETE,
            "%s:%" G_GUINT64_FORMAT
            ": no INIT line before tells what comm 0x%" G_GINT64_MODIFIER
            "x of %s:%" G_GUINT64_FORMAT " is%s; log from the start with "
            "NCCL_DEBUG_SUBSYS=INIT,COLL",
            reader->file->path, reader->line, coll->comm, process->host->name, head->pid,
            number >= 0 && number >= coll->n_ranks
                ? ", and it has not all ranks"
                : ", nor a launcher's prefix or the file name which rank this is");
        return NULL;
    }
    const uint32_t shown = head->device < 0 ? 0 : (uint32_t)head->device;
    const struct device *device =
        get_device(reader, process, UINT64_MAX, shown, number, error);
    if (device == NULL ||
        !get_comm_by_turn(reader, device->rank, coll->n_ranks, &comm, error) ||
        !trace_build_member(reader->build, comm, number, device->rank,
                            reader->file->index, reader->line,
                            "log with NCCL_DEBUG_SUBSYS=INIT,COLL", &member, error)) {
        return NULL;
    }
    reader->is_numbered_by_prefix = true;
    struct binding *binding = g_new0(struct binding, 1);
    binding->key = (struct key){process->index, coll->comm};
    binding->member = member;
    binding->comm_rank = number;
    add_entry(reader->bindings, binding);
    return binding;
}

static gboolean
check_coll(const struct reader *reader, const struct nccl_coll *coll, GError **error)
{
    if (coll->kind == TRACE_N_KINDS) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                    "%s:%" G_GUINT64_FORMAT
                    ": unknown operation \"%.*s\"; known are AllReduce, "
                    "AllGather, ReduceScatter, Broadcast, Reduce, AlltoAll, Gather, "
                    "Scatter, Send, "
                    "Recv",
                    reader->file->path, reader->line, (int)coll->n_name, coll->name);
        return FALSE;
    }
    if (coll->type >= TRACE_N_TYPES) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                    "%s:%" G_GUINT64_FORMAT ": datatype %" G_GUINT64_FORMAT
                    "; allowed 0 to %d",
                    reader->file->path, reader->line, coll->type, TRACE_N_TYPES - 1);
        return FALSE;
    }
    /* 2^48: far above any GPU's memory, and a million ranks' bytes stay within int64_t. */
    if (coll->count > (uint64_t)1 << 48) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                    "%s:%" G_GUINT64_FORMAT ": count %" G_GUINT64_FORMAT
                    "; allowed 0 to 281474976710656",
                    reader->file->path, reader->line, coll->count);
        return FALSE;
    }
    return TRUE;
}

static gboolean
on_coll(struct reader *reader, struct process *process, const struct nccl_head *head,
        const struct nccl_coll *coll, GError **error)
{
    struct binding *binding = find_entry(reader->bindings, process->index, coll->comm);
    uint32_t index;

    if (!check_coll(reader, coll, error)) {
        return FALSE;
    }
    if (binding == NULL) {
        binding = bind_by_launcher(reader, process, head, coll, error);
        if (binding == NULL) {
            return FALSE;
        }
    }
    const uint32_t comm = trace_build_member_comm(reader->build, binding->member);
    const uint32_t n_ranks = trace_build_comm_n_ranks(reader->build, comm);
    if (coll->n_ranks >= 0 && coll->n_ranks != n_ranks) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCONSISTENT,
                    "%s:%" G_GUINT64_FORMAT ": comm 0x%" G_GINT64_MODIFIER
                    "x has nranks %" G_GINT64_FORMAT " here, but %u by its INIT line",
                    reader->file->path, reader->line, coll->comm, coll->n_ranks, n_ranks);
        return FALSE;
    }
    const struct trace_call call = {
        .member = binding->member,
        .file = reader->file->index,
        .line = reader->line,
        .kind = coll->kind,
        .type = (enum trace_type)coll->type,
        .redop = coll->redop < TRACE_RED_CUSTOM ? (enum trace_redop)coll->redop
                                                : TRACE_RED_CUSTOM,
        .peer = coll->root <= INT32_MAX ? (int32_t)coll->root : INT32_MAX,
        .seq = coll->seq,
        .count = (int64_t)coll->count,
        .has_time = head->has_time,
        .time_ns = head->time_ns,
    };
    if (head->has_time) {
        trace_build_time_step(reader->build, head->time_step_ps);
    }
    if (!trace_build_call(reader->build, &call, &index, error)) {
        return FALSE;
    }
    struct thread *thread = get_thread(reader, process, head->tid);
    thread->recent[thread->n_recent++ % N_RECENT] = (struct recent){
        .call = index,
        .kind = coll->kind,
        .bytes = (uint64_t)call.count * (uint64_t)trace_type_bytes(call.type),
        .n_ranks = n_ranks,
    };
    return TRUE;
}

/* Gives the choice to the oldest operation of the thread that fits and has none.  NCCL
 * counts the bytes of all ranks for all_gather and the like. */
static void
on_tuning(struct reader *reader, struct thread *thread, const struct nccl_tuning *tuning)
{
    for (uint32_t i = 0; i < N_RECENT; i++) {
        struct recent *recent = &thread->recent[(thread->n_recent + i) % N_RECENT];

        if (recent->call != NONE && recent->kind == tuning->kind &&
            (recent->bytes == tuning->bytes ||
             recent->bytes * recent->n_ranks == tuning->bytes)) {
            trace_build_tune(reader->build, recent->call, tuning->algo, tuning->proto,
                             tuning->channel_lo, tuning->channel_hi);
            recent->call = NONE;
            return;
        }
    }
}

/* ---- lines ----------------------------------------------------------------------------- */

/* Reads one message.  CUT if it broke off and the rest may come; OTHER if it says nothing
 * here; *failed with 'error' set. */
static enum nccl_parse
read_message(struct reader *reader, struct nccl_head *head, struct process **process,
             const char *text, const char *end, bool *failed, GError **error)
{
    struct nccl_coll coll;
    struct nccl_init init;
    struct nccl_tuning tuning;
    struct note link = {.order = NULL};
    uint32_t channel, n_channels;

    enum nccl_parse parse = nccl_coll_parse(text, end, &coll);
    if (parse != NCCL_OTHER) {
        *process = get_process(reader, head, error);
        *failed = *process == NULL ||
                  (parse == NCCL_WHOLE && !on_coll(reader, *process, head, &coll, error));
        return parse;
    }
    parse = nccl_init_parse(text, end, &init);
    if (parse != NCCL_OTHER) {
        *process = get_process(reader, head, error);
        *failed = *process == NULL ||
                  (parse == NCCL_WHOLE && !on_init(reader, *process, head, &init, error));
        return parse;
    }
    if (nccl_tuning_parse(text, end, &tuning)) {
        *process = find_process(reader, head);
        if (*process != NULL) {
            on_tuning(reader, get_thread(reader, *process, head->tid), &tuning);
        }
        return NCCL_WHOLE;
    }
    if (nccl_channel_parse(text, end, &channel, &n_channels, reader->order) ==
        NCCL_WHOLE) {
        *process = get_process(reader, head, error);
        *failed = *process == NULL;
        if (!*failed) {
            on_channel(reader, get_thread(reader, *process, head->tid), channel,
                       n_channels);
        }
        return NCCL_WHOLE;
    }
    link.n_channels = nccl_n_channels_parse(text, end);
    link.rank = NONE;
    if (link.n_channels > 0 ||
        nccl_ring_parse(text, end, &link.channel, &link.rank, &link.next)) {
        *process = get_process(reader, head, error);
        *failed = *process == NULL;
        if (!*failed) {
            take_note(reader, get_thread(reader, *process, head->tid), &link);
        }
        return NCCL_WHOLE;
    }
    return NCCL_OTHER;
}

/* The rest of a cut line will not come: what it called is lost. */
static void
drop_fragment(struct reader *reader, guint index)
{
    struct fragment *fragment = &g_array_index(reader->fragments, struct fragment, index);
    struct nccl_coll coll;

    if (nccl_coll_parse(fragment->text, fragment->text + fragment->n, &coll) ==
        NCCL_CUT) {
        const struct device *device = find_entry(
            reader->devices, fragment->process->index, (uint64_t)fragment->head.device);
        if (device == NULL) {
            device = find_entry(reader->devices, fragment->process->index, UINT64_MAX);
        }
        if (device != NULL) {
            trace_build_damaged(reader->build, device->rank, coll.kind,
                                coll.has_seq ? coll.seq : TRACE_ANY_SEQ,
                                reader->file->index, fragment->line);
        }
    }
    g_free(fragment->text);
    g_array_remove_index(reader->fragments, index);
}

/* A process begins a new line: it will not go on with an older one. */
static void
drop_fragments_of(struct reader *reader, const struct process *process)
{
    for (guint i = reader->fragments->len; i-- > 0;) {
        if (g_array_index(reader->fragments, struct fragment, i).process == process) {
            drop_fragment(reader, i);
        }
    }
}

static void
keep_fragment(struct reader *reader, const struct nccl_head *head,
              struct process *process, const char *text, const char *end)
{
    struct fragment fragment = {.head = *head,
                                .process = process,
                                .text = g_strndup(text, (size_t)(end - text)),
                                .n = (size_t)(end - text),
                                .line = reader->line};

    fragment.head.host = process->host->name;
    fragment.head.n_host = process->host->n;
    fragment.head.start = fragment.head.host;
    if (reader->fragments->len >= MAX_FRAGMENTS) {
        drop_fragment(reader, 0);
    }
    g_array_append_val(reader->fragments, fragment);
}

/* Where "NCCL INFO" or "NCCL WARN" stands in [at, end), NULL if nowhere. */
static const char *
find_mark(const char *at, const char *end)
{
    while ((at = memmem(at, (size_t)(end - at), "NCCL ", 5)) != NULL) {
        if (end - at >= 9 &&
            (memcmp(at + 5, "INFO", 4) == 0 || memcmp(at + 5, "WARN", 4) == 0)) {
            return at;
        }
        at += 5;
    }
    return NULL;
}

static void
count_joined(struct reader *reader, uint64_t line)
{
    if (reader->n_joined++ == 0) {
        reader->joined_file = reader->file->index;
        reader->joined_line = line;
    }
}

/* Tries to end fragment 'index' with 'text'. */
static bool
try_join(struct reader *reader, guint index, const char *text, const char *end,
         bool *failed, GError **error)
{
    struct fragment *fragment = &g_array_index(reader->fragments, struct fragment, index);
    const size_t n_tail = (size_t)(end - text);
    g_autofree char *whole = g_malloc(fragment->n + n_tail + 1);
    struct nccl_head head = fragment->head;
    struct process *process = NULL;
    struct nccl_coll coll;
    struct nccl_init init;

    memcpy(whole, fragment->text, fragment->n);
    memcpy(whole + fragment->n, text, n_tail);
    const char *whole_end = whole + fragment->n + n_tail;
    if (nccl_coll_parse(whole, whole_end, &coll) != NCCL_WHOLE &&
        nccl_init_parse(whole, whole_end, &init) != NCCL_WHOLE) {
        return false;
    }
    const uint64_t line = reader->line;
    reader->line = fragment->line;
    read_message(reader, &head, &process, whole, whole_end, failed, error);
    reader->line = line;
    count_joined(reader, fragment->line);
    g_free(fragment->text);
    g_array_remove_index(reader->fragments, index);
    return true;
}

static void
keep_scrap(struct reader *reader, const char *text, const char *end)
{
    const size_t n = (size_t)(end - text);

    if (n == 0 || n > MAX_PREFIX) {
        return;
    }
    if (reader->n_scraps == MAX_SCRAPS) {
        memmove(reader->scraps, reader->scraps + 1,
                sizeof(reader->scraps) - sizeof(reader->scraps[0]));
        reader->n_scraps--;
    }
    struct scrap *scrap = &reader->scraps[reader->n_scraps++];
    memcpy(scrap->text, text, n);
    scrap->n = n;
    scrap->line = reader->line;
}

/* Tries to begin 'text' with scrap 'index': a line of a known process, with a message that
 * counts. */
static bool
try_scrap(struct reader *reader, size_t index, const char *text, const char *end,
          bool *failed, GError **error)
{
    const struct scrap scrap = reader->scraps[index];
    char whole[MAX_PREFIX + MAX_LINE];
    struct nccl_head head;
    struct nccl_coll coll;
    struct nccl_init init;

    memcpy(whole, scrap.text, scrap.n);
    memcpy(whole + scrap.n, text, (size_t)(end - text));
    const char *whole_end = whole + scrap.n + (end - text);
    const char *mark = find_mark(whole, whole_end);
    if (mark == NULL || mark[5] != 'I' || !nccl_head_parse(whole, mark, &head)) {
        return false;
    }
    struct process *process = find_process(reader, &head);
    const char *message = mark + 9;
    while (message < whole_end && *message == ' ') {
        message++;
    }
    if (process == NULL || (nccl_coll_parse(message, whole_end, &coll) != NCCL_WHOLE &&
                            nccl_init_parse(message, whole_end, &init) != NCCL_WHOLE)) {
        return false;
    }
    const uint64_t line = reader->line;
    reader->line = scrap.line;
    drop_fragments_of(reader, process);
    read_message(reader, &head, &process, message, whole_end, failed, error);
    reader->line = line;
    count_joined(reader, scrap.line);
    reader->n_scraps--;
    memmove(reader->scraps + index, reader->scraps + index + 1,
            (reader->n_scraps - index) * sizeof(scrap));
    return true;
}

/* Text that is no line of a known process: may be the rest of one cut before its message.
 * TRUE in '*joined' if it was. */
static gboolean
read_scrapped(struct reader *reader, const char *text, const char *end, bool *joined,
              GError **error)
{
    const char *inner = nccl_skip_launcher(text, end);
    bool failed = false;

    *joined = false;
    for (size_t i = reader->n_scraps; end - text <= MAX_LINE && i-- > 0 && !*joined;) {
        *joined = try_scrap(reader, i, text, end, &failed, error) ||
                  (inner != text && try_scrap(reader, i, inner, end, &failed, error));
    }
    return !failed;
}

/* Text without HOST:PID:TID: may be the rest of a cut line. */
static gboolean
read_tail(struct reader *reader, const char *text, const char *end, GError **error)
{
    const char *inner = nccl_skip_launcher(text, end);
    bool failed = false;

    if (end - text > MAX_LINE) {
        return TRUE;
    }
    for (guint i = reader->fragments->len; i-- > 0;) {
        if (try_join(reader, i, text, end, &failed, error) ||
            (inner != text && try_join(reader, i, inner, end, &failed, error))) {
            return !failed;
        }
    }
    return TRUE;
}

static void
count_warn(struct reader *reader, const char *mark, const char *end)
{
    if (reader->n_warn++ == 0) {
        reader->warn_file = reader->file->index;
        reader->warn_line = reader->line;
        g_autofree char *text = g_strndup(mark, (size_t)MIN(end - mark, 200));
        reader->warn_text = g_utf8_make_valid(text, -1);
    }
}

/* Reads the messages of one line, which another process may have cut. */
static gboolean
read_line(struct reader *reader, const char *line, const char *end, bool is_last_cut,
          GError **error)
{
    const char *begin = line; /* of what has not been read */
    const char *mark = find_mark(line, end);

    if (reader->wrap_comm != NONE && mark == NULL && on_wrapped(reader, line, end)) {
        return TRUE;
    }
    reader->wrap_comm = NONE;
    bool joined = false;
    if (mark == NULL) {
        return (reader->n_scraps == 0 ||
                read_scrapped(reader, line, end, &joined, error)) &&
               (joined || reader->fragments->len == 0 ||
                read_tail(reader, line, end, error));
    }
    while (mark != NULL) {
        const char *next = find_mark(mark + 9, end);
        const char *text = mark + 9, *stop = end;
        struct nccl_head head, next_head;
        struct process *process = NULL;
        bool failed = false;

        if (mark[5] == 'W') {
            count_warn(reader, mark, end);
            return TRUE;
        }
        const bool has_head = nccl_head_parse(begin, mark, &head);
        process = has_head ? find_process(reader, &head) : NULL;
        if (process == NULL && reader->n_scraps > 0 && next == NULL) {
            const gboolean good = read_scrapped(reader, begin, end, &joined, error);
            if (!good || joined) {
                return good;
            }
        }
        if (!has_head) {
            begin = text;
            mark = next;
            continue;
        }
        if (head.start > begin) {
            keep_scrap(reader, begin, head.start);
            if (reader->fragments->len > 0 &&
                !read_tail(reader, begin, head.start, error)) {
                return FALSE;
            }
        }
        const bool is_cut =
            next != NULL && next[5] == 'I' && nccl_head_parse(text, next, &next_head);
        if (is_cut) {
            find_process(reader, &next_head);
            stop = next_head.start;
        }
        while (text < stop && *text == ' ') {
            text++;
        }
        if (reader->fragments->len > 0 && process != NULL) {
            drop_fragments_of(reader, process);
        }
        const bool may_go_on = is_cut || is_last_cut;
        if (text < stop || may_go_on) {
            if (read_message(reader, &head, &process, text, stop, &failed, error) ==
                    NCCL_CUT &&
                !failed &&
                (may_go_on || memchr(text, ':', (size_t)(stop - text)) != NULL)) {
                keep_fragment(reader, &head, process, text, stop);
            }
            if (failed) {
                return FALSE;
            }
        }
        begin = stop;
        mark = is_cut ? next : NULL;
    }
    return TRUE;
}

static gboolean
nccl_log_probe(const char *data, size_t n_bytes)
{
    const char *end = data + n_bytes;
    struct nccl_head head;

    if (memchr(data, 0, MIN(n_bytes, 4096)) != NULL) {
        return FALSE;
    }
    for (const char *mark = find_mark(data, end); mark != NULL;
         mark = find_mark(mark + 9, end)) {
        const char *line = memrchr(data, '\n', (size_t)(mark - data));
        if (nccl_head_parse(line == NULL ? data : line + 1, mark, &head)) {
            return TRUE;
        }
    }
    return FALSE;
}

static void *
nccl_log_open(struct trace_build *build)
{
    struct reader *reader = g_new0(struct reader, 1);

    reader->build = build;
    reader->hosts = g_hash_table_new_full(hash_host, equal_host, free_host, NULL);
    reader->processes = new_table(g_free);
    reader->devices = new_table(g_free);
    reader->bindings = new_table(g_free);
    reader->comms = new_table(g_free);
    reader->turns = new_table(g_free);
    reader->threads = new_table(free_thread);
    reader->fragments = g_array_new(FALSE, FALSE, sizeof(struct fragment));
    reader->order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    reader->wrap = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    reader->wrap_comm = NONE;
    return reader;
}

static gboolean
nccl_log_read(void *state, const struct trace_file *file, GError **error)
{
    struct reader *reader = state;
    const char *at = file->data, *end = file->data + file->n_bytes;

    reader->file = file;
    reader->line = 0;
    reader->wrap_comm = NONE;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline == NULL ? end : newline;

        reader->line++;
        const char *next = newline == NULL ? end : newline + 1;
        while (stop > at && stop[-1] == '\r') {
            stop--;
        }
        if (!read_line(reader, at, stop, newline == NULL, error)) {
            return FALSE;
        }
        at = next;
    }
    while (reader->fragments->len > 0) {
        drop_fragment(reader, 0);
    }
    reader->n_scraps = 0;
    reader->file = NULL;
    return TRUE;
}

static gboolean
nccl_log_finish(void *state, GError **error)
{
    struct reader *reader = state;
    struct trace_build *build = reader->build;

    (void)error;
    if (reader->is_numbered_by_prefix) {
        trace_build_warn(build,
                         "no INIT lines: ranks are those of the launcher's prefix or the "
                         "file names, and communicators are told apart by their order; "
                         "NCCL_DEBUG_SUBSYS=INIT,COLL logs both");
    }
    if (reader->n_joined > 0) {
        trace_build_warn(build,
                         "%s:%" G_GUINT64_FORMAT
                         ": line cut by another put together again "
                         "(%" G_GUINT64_FORMAT " such lines)",
                         trace_build_path(build, reader->joined_file),
                         reader->joined_line, reader->n_joined);
    }
    if (reader->n_warn > 0) {
        trace_build_warn(build,
                         "%s:%" G_GUINT64_FORMAT ": NCCL warned (%" G_GUINT64_FORMAT
                         " lines), first: %s",
                         trace_build_path(build, reader->warn_file), reader->warn_line,
                         reader->n_warn, reader->warn_text);
    }
    return TRUE;
}

static void
nccl_log_close(void *state)
{
    struct reader *reader = state;

    for (guint i = 0; i < reader->fragments->len; i++) {
        g_free(g_array_index(reader->fragments, struct fragment, i).text);
    }
    g_hash_table_unref(reader->threads);
    g_hash_table_unref(reader->turns);
    g_hash_table_unref(reader->comms);
    g_hash_table_unref(reader->bindings);
    g_hash_table_unref(reader->devices);
    g_hash_table_unref(reader->processes);
    g_hash_table_unref(reader->hosts);
    g_array_unref(reader->fragments);
    g_array_unref(reader->order);
    g_array_unref(reader->wrap);
    g_free(reader->warn_text);
    g_free(reader);
}

const struct trace_ops trace_nccl_log = {
    .name = "nccl_log",
    .source =
        "NCCL src/debug.cc, src/enqueue.cc (NCCL_DEBUG=INFO, subsystems INIT and COLL)",
    .probe = nccl_log_probe,
    .open = nccl_log_open,
    .read = nccl_log_read,
    .finish = nccl_log_finish,
    .close = nccl_log_close,
};
