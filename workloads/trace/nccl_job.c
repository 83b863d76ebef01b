/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nccl_job.c - puts the lines of an NCCL debug log together (nccl_job.h).
 *
 * A communicator is known by its commId, which all its ranks print; older versions
 * print none, and there the n-th communicator of a size is the same one on every rank.
 *
 * Source: NCCL src/init.cc and enqueue.cc, versions 2.4 to 2.30.
 * Invariant: a pointer means something only within its process, from an INIT line on until
 * the next one that names it.
 */
#include <config.h>

#include "workloads/trace/nccl_job.h"

#include <string.h>

enum {
    N_RECENT = 32, /* operations of a thread that may still get a TUNING line; guess */
    MAX_NOTES = 2 * TRACE_MAX_CHANNELS,
    MAX_THREADS = 1 << 18, /* remembered at a time; guess */
};

#define NCCL_NONE UINT32_MAX

/* First member of everything that is looked up by two numbers. */
struct nccl_key {
    uint64_t a, b;
};

struct nccl_host {
    char *name; /* owned */
    size_t n;
    uint32_t index;
};

struct nccl_process {
    struct nccl_key key; /* host index, pid */
    struct nccl_host *host;
    uint32_t index;
};

/* A GPU of a process, or a process whose rank the launcher tells. */
struct nccl_device {
    struct nccl_key key; /* process index; CUDA device, or UINT64_MAX */
    uint32_t rank;       /* as built */
};

/* What a communicator pointer means to a process. */
struct binding {
    struct nccl_key key; /* process index, pointer */
    uint32_t member;
    int64_t comm_rank;
    bool has_id, has_start, is_complete;
    uint64_t id;
};

/* A communicator by commId and size, or by size and turn. */
struct named_comm {
    struct nccl_key key;
    uint32_t comm;
};

/* How many communicators of a size a rank has begun without commId. */
struct turn {
    struct nccl_key key; /* rank, size */
    uint64_t n;
};

/* A ring line read before its communicator is known (older versions print INIT lines at
 * the end only). */
struct nccl_note {
    uint32_t channel, n_channels;
    uint32_t *order; /* owned; NULL: a link */
    uint32_t n;
    uint32_t rank, next;
};

struct nccl_recent {
    uint32_t call; /* NCCL_NONE: none */
    enum trace_kind kind;
    uint64_t bytes;
    uint32_t n_ranks;
};

struct nccl_thread {
    struct nccl_key key; /* process index, tid */
    uint32_t comm;       /* being initialised, NCCL_NONE: not known */
    GArray *notes;       /* struct nccl_note; NULL: none */
    struct nccl_recent recent[N_RECENT];
    uint32_t n_recent; /* ever */
};

struct nccl_job {
    struct trace_build *build;     /* borrowed */
    const struct trace_file *file; /* being read, borrowed */
    uint64_t line;
    GHashTable *hosts; /* struct nccl_host by name */
    GHashTable *processes, *devices, *bindings, *comms, *turns,
        *threads;       /* by their key */
    GArray *wrap;       /* uint32_t: a Channel list that may go on in the next line */
    uint32_t wrap_comm; /* NCCL_NONE: there is none */
    uint32_t wrap_channel;
    bool has_init, is_numbered_by_prefix;
};

/* ---- tables ------------------------------------------------------------------------ */

static guint
hash_key(gconstpointer data)
{
    const struct nccl_key *key = data;
    const uint64_t mixed =
        (key->a * 0x9e3779b97f4a7c15u) ^ (key->b * 0xc2b2ae3d27d4eb4fu);

    return (guint)(mixed ^ mixed >> 32);
}

static gboolean
equal_key(gconstpointer a, gconstpointer b)
{
    const struct nccl_key *x = a, *y = b;

    return x->a == y->a && x->b == y->b;
}

static guint
hash_host(gconstpointer data)
{
    const struct nccl_host *host = data;
    guint hash = 5381;

    for (size_t i = 0; i < host->n; i++) {
        hash = hash * 33 + (guchar)host->name[i];
    }
    return hash;
}

static gboolean
equal_host(gconstpointer a, gconstpointer b)
{
    const struct nccl_host *x = a, *y = b;

    return x->n == y->n && memcmp(x->name, y->name, x->n) == 0;
}

static void
free_host(gpointer data)
{
    struct nccl_host *host = data;

    g_free(host->name);
    g_free(host);
}

static void
free_notes(struct nccl_thread *thread)
{
    if (thread->notes == NULL) {
        return;
    }
    for (guint i = 0; i < thread->notes->len; i++) {
        g_free(g_array_index(thread->notes, struct nccl_note, i).order);
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
    const struct nccl_key key = {a, b};

    return g_hash_table_lookup(table, &key);
}

/* Adds 'entry', which begins with its key, replacing an older one. */
static void
add_entry(GHashTable *table, gpointer entry)
{
    g_hash_table_replace(table, entry, entry);
}

static struct nccl_host *
find_host(const struct nccl_job *job, const char *name, size_t n)
{
    const struct nccl_host key = {.name = (char *)(uintptr_t)name, .n = n};

    return g_hash_table_lookup(job->hosts, &key);
}

static struct nccl_thread *
get_thread(struct nccl_job *job, const struct nccl_process *process, uint64_t tid)
{
    struct nccl_thread *thread = find_entry(job->threads, process->index, tid);

    if (thread == NULL) {
        if (g_hash_table_size(job->threads) >= MAX_THREADS) {
            /* Costs at most rings and TUNING lines, not operations. */
            g_hash_table_remove_all(job->threads);
        }
        thread = g_new0(struct nccl_thread, 1);
        thread->key = (struct nccl_key){process->index, tid};
        thread->comm = NCCL_NONE;
        for (uint32_t i = 0; i < N_RECENT; i++) {
            thread->recent[i].call = NCCL_NONE;
        }
        add_entry(job->threads, thread);
    }
    return thread;
}

/* The rank built for CUDA device 'cuda_device' of a process. */
static struct nccl_device *
get_device(struct nccl_job *job, const struct nccl_process *process, uint64_t cuda_device,
           uint32_t shown_device, int64_t number, GError **error)
{
    struct nccl_device *device = find_entry(job->devices, process->index, cuda_device);
    uint32_t rank;

    if (device != NULL) {
        return device;
    }
    if (!trace_build_rank(job->build, process->host->name, shown_device, number, &rank,
                          error)) {
        return NULL;
    }
    device = g_new0(struct nccl_device, 1);
    device->key = (struct nccl_key){process->index, cuda_device};
    device->rank = rank;
    add_entry(job->devices, device);
    return device;
}

/* The communicator called (a, b), made with 'name' and 'n_ranks' if new. */
static gboolean
get_comm(struct nccl_job *job, uint64_t a, uint64_t b, const char *name, int64_t n_ranks,
         uint32_t *comm, GError **error)
{
    struct named_comm *named = find_entry(job->comms, a, b);
    g_autoptr(GError) why = NULL;

    if (named == NULL) {
        if (!trace_build_comm(job->build, name, n_ranks, comm, &why)) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                        "%s:%" G_GUINT64_FORMAT ": %s", job->file->path, job->line,
                        why->message);
            return FALSE;
        }
        named = g_new0(struct named_comm, 1);
        named->key = (struct nccl_key){a, b};
        named->comm = *comm;
        add_entry(job->comms, named);
    }
    *comm = named->comm;
    return TRUE;
}

/* How many communicators of 'n_ranks' 'rank' has begun before; counts this one. */
static uint64_t
take_turn(struct nccl_job *job, uint32_t rank, int64_t n_ranks)
{
    struct turn *turn = find_entry(job->turns, rank, (uint64_t)n_ranks);

    if (turn == NULL) {
        turn = g_new0(struct turn, 1);
        turn->key = (struct nccl_key){rank, (uint64_t)n_ranks};
        add_entry(job->turns, turn);
    }
    return turn->n++;
}

/* The communicator that is the next of its size to 'rank', for want of a name. */
static gboolean
get_comm_by_turn(struct nccl_job *job, uint32_t rank, int64_t n_ranks, uint32_t *comm,
                 GError **error)
{
    const uint64_t turn = take_turn(job, rank, n_ranks);
    g_autofree char *name = g_strdup_printf(
        "#%" G_GUINT64_FORMAT " of %" G_GINT64_FORMAT " ranks", turn, n_ranks);

    /* The sizes of named ones are positive: no two keys meet. */
    return get_comm(job, turn, (uint64_t)-n_ranks, name, n_ranks, comm, error);
}

/* ---- rings ------------------------------------------------------------------------- */

static void
apply_note(struct nccl_job *job, uint32_t comm, const struct nccl_note *note)
{
    if (note->n_channels > 0) {
        trace_build_channels(job->build, comm, note->n_channels);
    }
    if (note->order != NULL) {
        trace_build_ring(job->build, comm, note->channel, note->order, note->n);
    } else if (note->rank != NCCL_NONE) {
        trace_build_ring_next(job->build, comm, note->channel, note->rank, note->next);
    }
}

/* Says 'note' of the communicator that 'thread' initialises, or keeps it until known. */
static void
take_note(struct nccl_job *job, struct nccl_thread *thread, const struct nccl_note *note)
{
    if (thread->comm != NCCL_NONE) {
        apply_note(job, thread->comm, note);
        return;
    }
    if (thread->notes == NULL) {
        thread->notes = g_array_new(FALSE, FALSE, sizeof(struct nccl_note));
    }
    if (thread->notes->len < MAX_NOTES) {
        struct nccl_note copy = *note;
        if (note->order != NULL) {
            copy.order = g_memdup2(note->order, note->n * sizeof(note->order[0]));
        }
        g_array_append_val(thread->notes, copy);
    }
}

/* ---- INIT -------------------------------------------------------------------------- */

/* Ties the pointer of an INIT line to a member of a communicator. */
static struct binding *
bind_pointer(struct nccl_job *job, struct nccl_process *process,
             const struct nccl_head *head, const struct nccl_init *init, GError **error)
{
    const int64_t shown = init->nvml_device >= 0 ? init->nvml_device : init->cuda_device;
    const struct nccl_device *device =
        get_device(job, process, (uint64_t)init->cuda_device,
                   (uint32_t)MIN(shown, INT32_MAX), head->launch_rank, error);
    uint32_t comm, member;
    gboolean good;

    if (device == NULL) {
        return NULL;
    }
    if (init->has_id) {
        g_autofree char *name = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", init->id);
        good = get_comm(job, init->id, (uint64_t)init->n_ranks, name, init->n_ranks,
                        &comm, error);
    } else {
        good = get_comm_by_turn(job, device->rank, init->n_ranks, &comm, error);
    }
    if (!good ||
        !trace_build_member(
            job->build, comm, init->rank, device->rank, job->file->index, job->line,
            init->has_id ? "are these the logs of two runs?"
                         : "this NCCL prints no commId, and communicators of one "
                           "size over different ranks cannot be told apart",
            &member, error)) {
        return NULL;
    }
    struct binding *binding = g_new0(struct binding, 1);
    binding->key = (struct nccl_key){process->index, init->comm};
    binding->member = member;
    binding->comm_rank = init->rank;
    binding->has_id = init->has_id;
    binding->id = init->id;
    add_entry(job->bindings, binding);
    return binding;
}

/* True if 'init' is the second line of the initialisation that made 'binding'. */
static bool
init_repeats(const struct nccl_job *job, const struct binding *binding,
             const struct nccl_init *init)
{
    const uint32_t comm = trace_build_member_comm(job->build, binding->member);

    if (binding->comm_rank != init->rank ||
        trace_build_comm_n_ranks(job->build, comm) != init->n_ranks) {
        return false;
    }
    if (binding->has_id || init->has_id) {
        return binding->has_id && init->has_id && binding->id == init->id;
    }
    return binding->has_start && !binding->is_complete && init->is_complete;
}

/* ---- COLL -------------------------------------------------------------------------- */

/* Ties a pointer that no INIT line explained to the communicator of all ranks, by the rank
 * that the launcher or the file name gives. */
static struct binding *
bind_by_launcher(struct nccl_job *job, struct nccl_process *process,
                 const struct nccl_head *head, const struct nccl_coll *coll,
                 GError **error)
{
    const int64_t number =
        head->launch_rank >= 0 ? head->launch_rank : job->file->name_rank;
    uint32_t comm, member;

    if (job->has_init || number < 0 || coll->n_ranks < 1 || number >= coll->n_ranks) {
        g_set_error(
            error, TRACE_ERROR, TRACE_ERROR_INCOMPLETE,
            "%s:%" G_GUINT64_FORMAT
            ": no INIT line before tells what comm 0x%" G_GINT64_MODIFIER
            "x of %s:%" G_GUINT64_FORMAT " is%s; log from the start with "
            "NCCL_DEBUG_SUBSYS=INIT,COLL",
            job->file->path, job->line, coll->comm, process->host->name, head->pid,
            number >= 0 && number >= coll->n_ranks
                ? ", and it has not all ranks"
                : ", nor a launcher's prefix or the file name which rank this is");
        return NULL;
    }
    const uint32_t shown = head->device < 0 ? 0 : (uint32_t)head->device;
    const struct nccl_device *device =
        get_device(job, process, UINT64_MAX, shown, number, error);
    if (device == NULL ||
        !get_comm_by_turn(job, device->rank, coll->n_ranks, &comm, error) ||
        !trace_build_member(job->build, comm, number, device->rank, job->file->index,
                            job->line, "log with NCCL_DEBUG_SUBSYS=INIT,COLL", &member,
                            error)) {
        return NULL;
    }
    job->is_numbered_by_prefix = true;
    struct binding *binding = g_new0(struct binding, 1);
    binding->key = (struct nccl_key){process->index, coll->comm};
    binding->member = member;
    binding->comm_rank = number;
    add_entry(job->bindings, binding);
    return binding;
}

static gboolean
check_coll(const struct nccl_job *job, const struct nccl_coll *coll, GError **error)
{
    if (coll->kind == TRACE_N_KINDS) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                    "%s:%" G_GUINT64_FORMAT
                    ": unknown operation \"%.*s\"; known are AllReduce, "
                    "AllGather, ReduceScatter, Broadcast, Reduce, AlltoAll, Gather, "
                    "Scatter, Send, "
                    "Recv",
                    job->file->path, job->line, (int)coll->n_name, coll->name);
        return FALSE;
    }
    if (coll->type >= TRACE_N_TYPES) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                    "%s:%" G_GUINT64_FORMAT ": datatype %" G_GUINT64_FORMAT
                    "; allowed 0 to %d",
                    job->file->path, job->line, coll->type, TRACE_N_TYPES - 1);
        return FALSE;
    }
    /* 2^48: far above any GPU's memory, and a million ranks' bytes stay within int64_t. */
    if (coll->count > (uint64_t)1 << 48) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_SYNTAX,
                    "%s:%" G_GUINT64_FORMAT ": count %" G_GUINT64_FORMAT
                    "; allowed 0 to 281474976710656",
                    job->file->path, job->line, coll->count);
        return FALSE;
    }
    return TRUE;
}

struct nccl_job *
nccl_job_new(struct trace_build *build)
{
    struct nccl_job *job = g_new0(struct nccl_job, 1);

    job->build = build;
    job->hosts = g_hash_table_new_full(hash_host, equal_host, free_host, NULL);
    job->processes = new_table(g_free);
    job->devices = new_table(g_free);
    job->bindings = new_table(g_free);
    job->comms = new_table(g_free);
    job->turns = new_table(g_free);
    job->threads = new_table(free_thread);
    job->wrap = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    job->wrap_comm = NCCL_NONE;
    return job;
}

void
nccl_job_free(struct nccl_job *job)
{
    if (job == NULL) {
        return;
    }
    g_hash_table_unref(job->threads);
    g_hash_table_unref(job->turns);
    g_hash_table_unref(job->comms);
    g_hash_table_unref(job->bindings);
    g_hash_table_unref(job->devices);
    g_hash_table_unref(job->processes);
    g_hash_table_unref(job->hosts);
    g_array_unref(job->wrap);
    g_free(job);
}

void
nccl_job_at(struct nccl_job *job, const struct trace_file *file, uint64_t line)
{
    job->file = file;
    job->line = line;
}

struct nccl_process *
nccl_job_find_process(const struct nccl_job *job, struct nccl_head *head)
{
    for (size_t skip = 0; skip < head->n_host; skip++) {
        const struct nccl_host *host =
            find_host(job, head->host + skip, head->n_host - skip);
        struct nccl_process *process =
            host == NULL ? NULL : find_entry(job->processes, host->index, head->pid);

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

struct nccl_process *
nccl_job_get_process(struct nccl_job *job, struct nccl_head *head, GError **error)
{
    struct nccl_process *process = nccl_job_find_process(job, head);

    if (process != NULL) {
        return process;
    }
    if (g_hash_table_size(job->processes) >= TRACE_MAX_RANKS) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FILE,
                    "%s:%" G_GUINT64_FORMAT ": more than %d processes", job->file->path,
                    job->line, TRACE_MAX_RANKS);
        return NULL;
    }
    struct nccl_host *host = find_host(job, head->host, head->n_host);
    if (host == NULL) {
        host = g_new0(struct nccl_host, 1);
        host->name = g_strndup(head->host, head->n_host);
        host->n = head->n_host;
        host->index = g_hash_table_size(job->hosts);
        g_hash_table_add(job->hosts, host);
    }
    process = g_new0(struct nccl_process, 1);
    process->key = (struct nccl_key){host->index, head->pid};
    process->host = host;
    process->index = g_hash_table_size(job->processes);
    add_entry(job->processes, process);
    return process;
}

const char *
nccl_process_host(const struct nccl_process *process)
{
    return process->host->name;
}

gboolean
nccl_job_on_init(struct nccl_job *job, struct nccl_process *process,
                 const struct nccl_head *head, const struct nccl_init *init,
                 GError **error)
{
    struct nccl_thread *thread = get_thread(job, process, head->tid);
    struct binding *binding = find_entry(job->bindings, process->index, init->comm);

    job->has_init = true;
    if (binding == NULL || !init_repeats(job, binding, init)) {
        binding = bind_pointer(job, process, head, init, error);
        if (binding == NULL) {
            return FALSE;
        }
    }
    const uint32_t comm = trace_build_member_comm(job->build, binding->member);
    if (!init->is_complete) {
        binding->has_start = true;
        free_notes(thread);
        thread->comm = comm;
        return TRUE;
    }
    binding->is_complete = true;
    for (guint i = 0; thread->notes != NULL && i < thread->notes->len; i++) {
        apply_note(job, comm, &g_array_index(thread->notes, struct nccl_note, i));
    }
    free_notes(thread);
    thread->comm = binding->has_start ? comm : NCCL_NONE;
    return TRUE;
}

gboolean
nccl_job_on_coll(struct nccl_job *job, struct nccl_process *process,
                 const struct nccl_head *head, const struct nccl_coll *coll,
                 GError **error)
{
    struct binding *binding = find_entry(job->bindings, process->index, coll->comm);
    uint32_t index;

    if (!check_coll(job, coll, error)) {
        return FALSE;
    }
    if (binding == NULL) {
        binding = bind_by_launcher(job, process, head, coll, error);
        if (binding == NULL) {
            return FALSE;
        }
    }
    const uint32_t comm = trace_build_member_comm(job->build, binding->member);
    const uint32_t n_ranks = trace_build_comm_n_ranks(job->build, comm);
    if (coll->n_ranks >= 0 && coll->n_ranks != n_ranks) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_INCONSISTENT,
                    "%s:%" G_GUINT64_FORMAT ": comm 0x%" G_GINT64_MODIFIER
                    "x has nranks %" G_GINT64_FORMAT " here, but %u by its INIT line",
                    job->file->path, job->line, coll->comm, coll->n_ranks, n_ranks);
        return FALSE;
    }
    const struct trace_call call = {
        .member = binding->member,
        .file = job->file->index,
        .line = job->line,
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
        trace_build_time_step(job->build, head->time_step_ps);
    }
    if (!trace_build_call(job->build, &call, &index, error)) {
        return FALSE;
    }
    struct nccl_thread *thread = get_thread(job, process, head->tid);
    thread->recent[thread->n_recent++ % N_RECENT] = (struct nccl_recent){
        .call = index,
        .kind = coll->kind,
        .bytes = (uint64_t)call.count * (uint64_t)trace_type_bytes(call.type),
        .n_ranks = n_ranks,
    };
    return TRUE;
}

void
nccl_job_on_tuning(struct nccl_job *job, const struct nccl_process *process, uint64_t tid,
                   const struct nccl_tuning *tuning)
{
    struct nccl_thread *thread = get_thread(job, process, tid);

    for (uint32_t i = 0; i < N_RECENT; i++) {
        struct nccl_recent *recent = &thread->recent[(thread->n_recent + i) % N_RECENT];

        if (recent->call != NCCL_NONE && recent->kind == tuning->kind &&
            (recent->bytes == tuning->bytes ||
             recent->bytes * recent->n_ranks == tuning->bytes)) {
            trace_build_tune(job->build, recent->call, tuning->algo, tuning->proto,
                             tuning->channel_lo, tuning->channel_hi);
            recent->call = NCCL_NONE;
            return;
        }
    }
}

void
nccl_job_on_channel(struct nccl_job *job, const struct nccl_process *process,
                    uint64_t tid, uint32_t channel, uint32_t n_channels,
                    const GArray *order)
{
    struct nccl_thread *thread = get_thread(job, process, tid);
    const uint32_t n_ranks = thread->comm == NCCL_NONE
                                 ? UINT32_MAX
                                 : trace_build_comm_n_ranks(job->build, thread->comm);
    const struct nccl_note note = {.channel = channel,
                                   .n_channels = n_channels,
                                   .order = (uint32_t *)(void *)order->data,
                                   .n = order->len,
                                   .rank = NCCL_NONE};

    take_note(job, thread, &note);
    if (thread->comm != NCCL_NONE && note.n < n_ranks) {
        job->wrap_comm = thread->comm;
        job->wrap_channel = channel;
        g_array_set_size(job->wrap, 0);
        g_array_append_vals(job->wrap, order->data, order->len);
    }
}

void
nccl_job_on_ring(struct nccl_job *job, const struct nccl_process *process, uint64_t tid,
                 uint32_t channel, uint32_t rank, uint32_t next)
{
    const struct nccl_note note = {.channel = channel, .rank = rank, .next = next};

    take_note(job, get_thread(job, process, tid), &note);
}

void
nccl_job_on_n_channels(struct nccl_job *job, const struct nccl_process *process,
                       uint64_t tid, uint32_t n_channels)
{
    const struct nccl_note note = {.n_channels = n_channels, .rank = NCCL_NONE};

    take_note(job, get_thread(job, process, tid), &note);
}

bool
nccl_job_on_wrapped(struct nccl_job *job, const char *text, const char *end)
{
    text = nccl_skip_launcher(text, end);
    if (job->wrap_comm == NCCL_NONE || job->wrap->len >= TRACE_MAX_RANKS ||
        !nccl_numbers_parse(text, end, job->wrap)) {
        return false;
    }
    trace_build_ring(job->build, job->wrap_comm, job->wrap_channel,
                     (const uint32_t *)(const void *)job->wrap->data, job->wrap->len);
    return true;
}

void
nccl_job_end_wrap(struct nccl_job *job)
{
    job->wrap_comm = NCCL_NONE;
}

void
nccl_job_on_damaged(struct nccl_job *job, const struct nccl_process *process,
                    const struct nccl_head *head, const struct nccl_coll *coll,
                    uint64_t line)
{
    const struct nccl_device *device =
        find_entry(job->devices, process->index, (uint64_t)head->device);

    if (device == NULL) {
        device = find_entry(job->devices, process->index, UINT64_MAX);
    }
    if (device != NULL) {
        trace_build_damaged(job->build, device->rank, coll->kind,
                            coll->has_seq ? coll->seq : TRACE_ANY_SEQ, job->file->index,
                            line);
    }
}

void
nccl_job_finish(struct nccl_job *job)
{
    if (job->is_numbered_by_prefix) {
        trace_build_warn(
            job->build,
            "no INIT lines: ranks are those of the launcher's prefix or the file "
            "names, and communicators are told apart by their order; "
            "NCCL_DEBUG_SUBSYS=INIT,COLL logs both");
    }
}
