/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_nccl_log.c - NCCL debug logs (NCCL_DEBUG=INFO, subsystems INIT and COLL): one file
 * of all ranks or one a rank, as a launcher merged them.  Here the text is taken apart and
 * the pieces of cut lines are put together; nccl_line.c reads single lines, nccl_job.c
 * knows what they mean together.
 *
 * Source: NCCL src/debug.cc, versions 2.4 to 2.30; what is read, repaired and refused
 * stands in docs/trace/nccl-log.md.
 * Invariant: a process has at most one unfinished line, which its next line ends.
 */
#include <config.h>

#include <string.h>

#include "workloads/trace/nccl_job.h"
#include "workloads/trace/nccl_line.h"
#include "workloads/trace/trace_build.h"

enum {
    MAX_FRAGMENTS = 64, /* unfinished lines at a time; guess */
    MAX_SCRAPS = 8,     /* lines cut before their message, at a time; guess */
    MAX_LINE = 1024,    /* NCCL cuts its lines there */
    MAX_PREFIX = 128,   /* launcher's prefix, time stamp, HOST:PID:TID [dev]; guess */
};

/* The beginning of a line that was cut. */
struct fragment {
    struct nccl_head head;
    struct nccl_process *process;
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
    struct nccl_job *job;          /* owned */
    const struct trace_file *file; /* during 'read' */
    uint64_t line;                 /* being read, from 1 */
    GArray *fragments;             /* struct fragment */
    struct scrap scraps[MAX_SCRAPS];
    size_t n_scraps;
    GArray *order;                  /* uint32_t, scratch */
    uint64_t n_joined, joined_line; /* cut lines put together, and the first */
    uint32_t joined_file;
    uint64_t n_warn, warn_line; /* NCCL WARN lines, and the first */
    uint32_t warn_file;
    char *warn_text; /* owned */
};

/* Reads one message.  CUT if it broke off and the rest may come; OTHER if it says nothing
 * here; *failed with 'error' set. */
static enum nccl_parse
read_message(struct reader *reader, struct nccl_head *head, struct nccl_process **process,
             const char *text, const char *end, bool *failed, GError **error)
{
    struct nccl_coll coll;
    struct nccl_init init;
    struct nccl_tuning tuning;
    uint32_t channel, n_channels, rank, next;

    enum nccl_parse parse = nccl_coll_parse(text, end, &coll);
    if (parse != NCCL_OTHER) {
        *process = nccl_job_get_process(reader->job, head, error);
        *failed = *process == NULL ||
                  (parse == NCCL_WHOLE &&
                   !nccl_job_on_coll(reader->job, *process, head, &coll, error));
        return parse;
    }
    parse = nccl_init_parse(text, end, &init);
    if (parse != NCCL_OTHER) {
        *process = nccl_job_get_process(reader->job, head, error);
        *failed = *process == NULL ||
                  (parse == NCCL_WHOLE &&
                   !nccl_job_on_init(reader->job, *process, head, &init, error));
        return parse;
    }
    if (nccl_tuning_parse(text, end, &tuning)) {
        *process = nccl_job_find_process(reader->job, head);
        if (*process != NULL) {
            nccl_job_on_tuning(reader->job, *process, head->tid, &tuning);
        }
        return NCCL_WHOLE;
    }
    if (nccl_channel_parse(text, end, &channel, &n_channels, reader->order) ==
        NCCL_WHOLE) {
        *process = nccl_job_get_process(reader->job, head, error);
        *failed = *process == NULL;
        if (!*failed) {
            nccl_job_on_channel(reader->job, *process, head->tid, channel, n_channels,
                                reader->order);
        }
        return NCCL_WHOLE;
    }
    n_channels = nccl_n_channels_parse(text, end);
    const bool is_ring = nccl_ring_parse(text, end, &channel, &rank, &next);
    if (n_channels > 0 || is_ring) {
        *process = nccl_job_get_process(reader->job, head, error);
        *failed = *process == NULL;
        if (!*failed && is_ring) {
            nccl_job_on_ring(reader->job, *process, head->tid, channel, rank, next);
        } else if (!*failed) {
            nccl_job_on_n_channels(reader->job, *process, head->tid, n_channels);
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
        nccl_job_on_damaged(reader->job, fragment->process, &fragment->head, &coll,
                            fragment->line);
    }
    g_free(fragment->text);
    g_array_remove_index(reader->fragments, index);
}

/* A process begins a new line: it will not go on with an older one. */
static void
drop_fragments_of(struct reader *reader, const struct nccl_process *process)
{
    for (guint i = reader->fragments->len; i-- > 0;) {
        if (g_array_index(reader->fragments, struct fragment, i).process == process) {
            drop_fragment(reader, i);
        }
    }
}

static void
keep_fragment(struct reader *reader, const struct nccl_head *head,
              struct nccl_process *process, const char *text, const char *end)
{
    const size_t n = MIN((size_t)(end - text), (size_t)MAX_LINE);
    struct fragment fragment = {.head = *head,
                                .process = process,
                                .text = g_strndup(text, n),
                                .n = n,
                                .line = reader->line};

    fragment.head.host = nccl_process_host(process);
    fragment.head.n_host = strlen(fragment.head.host);
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
    struct nccl_process *process = NULL;
    struct nccl_coll coll;
    struct nccl_init init;

    memcpy(whole, fragment->text, fragment->n);
    memcpy(whole + fragment->n, text, n_tail);
    const char *whole_end = whole + fragment->n + n_tail;
    if (nccl_coll_parse(whole, whole_end, &coll) != NCCL_WHOLE &&
        nccl_init_parse(whole, whole_end, &init) != NCCL_WHOLE) {
        return false;
    }
    nccl_job_at(reader->job, reader->file, fragment->line);
    read_message(reader, &head, &process, whole, whole_end, failed, error);
    nccl_job_at(reader->job, reader->file, reader->line);
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
    struct nccl_process *process = nccl_job_find_process(reader->job, &head);
    const char *message = mark + 9;
    while (message < whole_end && *message == ' ') {
        message++;
    }
    if (process == NULL || (nccl_coll_parse(message, whole_end, &coll) != NCCL_WHOLE &&
                            nccl_init_parse(message, whole_end, &init) != NCCL_WHOLE)) {
        return false;
    }
    nccl_job_at(reader->job, reader->file, scrap.line);
    drop_fragments_of(reader, process);
    read_message(reader, &head, &process, message, whole_end, failed, error);
    nccl_job_at(reader->job, reader->file, reader->line);
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

    if (mark == NULL && nccl_job_on_wrapped(reader->job, line, end)) {
        return TRUE;
    }
    nccl_job_end_wrap(reader->job);
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
        struct nccl_process *process = NULL;
        bool failed = false;

        if (mark[5] == 'W') {
            count_warn(reader, mark, end);
            return TRUE;
        }
        const bool has_head = nccl_head_parse(begin, mark, &head);
        process = has_head ? nccl_job_find_process(reader->job, &head) : NULL;
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
            nccl_job_find_process(reader->job, &next_head);
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
        /* No further back than a prefix reaches: a line may be long. */
        const size_t n = MIN((size_t)(mark - data), (size_t)MAX_PREFIX);
        const char *newline = memrchr(mark - n, '\n', n);
        if (nccl_head_parse(newline == NULL ? mark - n : newline + 1, mark, &head)) {
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
    reader->job = nccl_job_new(build);
    reader->fragments = g_array_new(FALSE, FALSE, sizeof(struct fragment));
    reader->order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return reader;
}

static gboolean
nccl_log_read(void *state, const struct trace_file *file, GError **error)
{
    struct reader *reader = state;
    const char *at = file->data, *end = file->data + file->n_bytes;

    reader->file = file;
    reader->line = 0;
    nccl_job_end_wrap(reader->job);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline == NULL ? end : newline;

        nccl_job_at(reader->job, file, ++reader->line);
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
    nccl_job_finish(reader->job);
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
    nccl_job_free(reader->job);
    g_array_unref(reader->fragments);
    g_array_unref(reader->order);
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
