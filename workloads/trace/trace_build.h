/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_build.h - what trace readers are made of: their table of functions, and the
 * builder that merges what each rank called into the operations of a struct trace.
 * A reader reports calls of single ranks in the order it meets them; the builder pairs
 * them over the ranks, checks that they agree, and repairs what it can say it repaired.
 * Included by readers and trace.c only; players see trace.h.
 */
#ifndef ROCESIM_WORKLOADS_TRACE_TRACE_BUILD_H
#define ROCESIM_WORKLOADS_TRACE_TRACE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "workloads/trace/trace.h"

#define TRACE_ANY_SEQ UINT64_MAX

struct trace_build;

/* A file while it is being read. */
struct trace_file {
    const char *path;
    const char *data; /* [n_bytes], not terminated; valid during the call */
    size_t n_bytes;
    uint32_t index;    /* into the trace's 'files' */
    int64_t name_rank; /* rank that its name tells, -1 if none */
};

/* A reader.  'probe' tells whether 'data' looks like the format, by content alone.
 * 'open' makes the reader's state for one trace, feeding 'build' (borrowed until
 * 'close').  'read' takes one file; files come one after the other.  'finish', after the
 * last file, reports what needed all of them.  'take' (NULL: the builder merges what it was
 * told) gives the trace, for a format whose lines are whole operations; owned by the caller,
 * but that files and warnings are trace_build_take_texts()'s.  'close' frees the state at any
 * time. */
struct trace_ops {
    const char *name, *source;
    gboolean (*probe)(const char *data, size_t n_bytes);
    void *(*open)(struct trace_build *build);
    gboolean (*read)(void *reader, const struct trace_file *file, GError **error);
    gboolean (*finish)(void *reader, GError **error);
    struct trace *(*take)(void *reader);
    void (*close)(void *reader);
};

/* One rank's call of one operation. */
struct trace_call {
    uint32_t member; /* from 'trace_build_member()' */
    uint32_t file;
    uint64_t line;
    enum trace_kind kind;
    enum trace_type type;
    enum trace_redop redop;
    int32_t peer; /* as in struct trace_op */
    uint64_t seq;
    int64_t count; /* >= 0, times the size of 'type' within int64_t */
    bool has_time;
    int64_t time_ns; /* since any fixed moment */
};

/* A new builder, to be freed by 'trace_build_free()'. */
struct trace_build *trace_build_new(void);
void trace_build_free(struct trace_build *build);

/* Adds a file; returns its index. */
uint32_t trace_build_file(struct trace_build *build, const char *path);
const char *trace_build_path(const struct trace_build *build, uint32_t file);

/* Adds a rank of the job (one GPU of one process) on host 'host' (copied), GPU 'device';
 * 'number' is the rank that a launcher's prefix or a file name gives it, -1 if none.
 * FALSE beyond TRACE_MAX_RANKS.  Its final number is found at the end: the rank in the
 * communicator that holds all, else 'number' of all, else the order of host and device. */
gboolean trace_build_rank(struct trace_build *build, const char *host, uint32_t device,
                          int64_t number, uint32_t *rank, GError **error);

/* Adds a communicator of 'n_ranks' (1 to TRACE_MAX_RANKS) called 'name' (copied) in
 * messages.  FALSE outside these or beyond TRACE_MAX_COMMS. */
gboolean trace_build_comm(struct trace_build *build, const char *name, int64_t n_ranks,
                          uint32_t *comm, GError **error);
uint32_t trace_build_comm_n_ranks(const struct trace_build *build, uint32_t comm);

/* Makes 'rank' communicator rank 'comm_rank' of 'comm', giving the 'member' that calls
 * name.  Saying it again is fine; another rank in this place is an error, whose message
 * begins with "file:line" and ends with 'hint'. */
gboolean trace_build_member(struct trace_build *build, uint32_t comm, int64_t comm_rank,
                            uint32_t rank, uint32_t file, uint64_t line, const char *hint,
                            uint32_t *member, GError **error);
uint32_t trace_build_member_comm(const struct trace_build *build, uint32_t member);

/* The communicator has 'n_channels' (1 to TRACE_MAX_CHANNELS, else ignored). */
void trace_build_channels(struct trace_build *build, uint32_t comm, uint32_t n_channels);

/* The ring of 'channel' begins with 'n' communicator ranks 'order'; if 'n' is not all, it
 * was cut.  A later list of the same channel replaces it. */
void trace_build_ring(struct trace_build *build, uint32_t comm, uint32_t channel,
                      const uint32_t *order, size_t n);

/* In the ring of 'channel', 'next' follows 'rank'. */
void trace_build_ring_next(struct trace_build *build, uint32_t comm, uint32_t channel,
                           uint32_t rank, uint32_t next);

/* Adds a call; calls of one rank come in its order.  Gives its index. */
gboolean trace_build_call(struct trace_build *build, const struct trace_call *call,
                          uint32_t *index, GError **error);

/* What the library chose for call 'index'. */
void trace_build_tune(struct trace_build *build, uint32_t index, enum trace_algo algo,
                      enum trace_proto proto, int64_t channel_lo, int64_t channel_hi);

/* A line of 'rank' was cut: it called something, kind 'kind' (TRACE_N_KINDS: unreadable),
 * counter 'seq' (TRACE_ANY_SEQ: unreadable).  May stand in for one missing call.  Beyond
 * 4096 such lines are not kept. */
void trace_build_damaged(struct trace_build *build, uint32_t rank, enum trace_kind kind,
                         uint64_t seq, uint32_t file, uint64_t line);

/* Resolution of a time stamp seen. */
void trace_build_time_step(struct trace_build *build, int64_t step_ps);

/* Adds a warning.  Beyond 20 only their number is kept. */
void trace_build_warn(struct trace_build *build, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

/* Moves the names of files and the warnings to 'trace'. */
void trace_build_take_texts(struct trace_build *build, struct trace *trace);

/* Merges all.  Returns a new trace owned by the caller, or NULL and 'error'. */
struct trace *trace_build_finish(struct trace_build *build, GError **error);

/* Every reader of trace_list.def. */
#define TRACE_READER(name) extern const struct trace_ops trace_##name;
#include "workloads/trace/trace_list.def"
#undef TRACE_READER

#endif
