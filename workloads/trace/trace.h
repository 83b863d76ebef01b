/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace.h - what a recorded run did: ranks, communicators, operations.
 * A reader (read_NAME.c, trace_list.def) turns one or more files into a struct
 * trace; a player maps its operations to a network.  Neither knows the other.
 *
 * Invariants of a struct trace:
 * - 'ops' stand in an order that agrees with every rank's own order of calls;
 *   where ranks disagree (several streams), a warning says so;
 * - a collective stands once, and every rank of its communicator called it with
 *   the same kind, count, type, reduction and root;
 * - every send has its receive ('pair'), of the same number of bytes;
 * - an operation comes after those it names in 'after', and a rank of it is in each.
 *
 * What begins when: a trace of logs ('is_graph' false) has each rank do its calls one after
 * the other in the order of 'ops'.  In a graph a rank does those of one communicator in that
 * order, and its computing likewise, but the communicators and the computing side by side;
 * 'after' says what has to wait for what.
 */
#ifndef ROCESIM_WORKLOADS_TRACE_TRACE_H
#define ROCESIM_WORKLOADS_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#define TRACE_ERROR (trace_error_quark())

enum trace_error {
    TRACE_ERROR_FILE,         /* cannot be read, empty, too many */
    TRACE_ERROR_FORMAT,       /* no reader knows it */
    TRACE_ERROR_SYNTAX,       /* a line says what cannot be */
    TRACE_ERROR_INCOMPLETE,   /* a rank, a line or a subsystem is missing */
    TRACE_ERROR_INCONSISTENT, /* ranks contradict each other */
};

enum {
    TRACE_MAX_RANKS = 1 << 20,   /* guess: eight times the largest known cluster */
    TRACE_MAX_COMMS = 1 << 20,   /* guess: a communicator a rank */
    TRACE_MAX_FILES = 1 << 17,   /* guess */
    TRACE_MAX_CHANNELS = 64,     /* NCCL MAXCHANNELS */
    TRACE_NO_RANK = (int32_t)-1, /* 'rank' of a collective; 'peer' where there is none */
    TRACE_NO_PAIR = (int32_t)-1,
};

enum trace_kind {
    TRACE_ALL_REDUCE,
    TRACE_ALL_GATHER,
    TRACE_REDUCE_SCATTER,
    TRACE_BROADCAST,
    TRACE_REDUCE,
    TRACE_ALL_TO_ALL,
    TRACE_GATHER,
    TRACE_SCATTER,
    TRACE_SEND,
    TRACE_RECV,
    TRACE_COMPUTE, /* no communication: the rank, or each of the communicator, is busy */
    TRACE_N_KINDS
};

/* Numbered as NCCL's ncclDataType_t prints them (1 2 3 .. are the log's numbers);
 * 'trace_type_bytes()' gives the size. */
enum trace_type {
    TRACE_INT8,
    TRACE_UINT8,
    TRACE_INT32,
    TRACE_UINT32,
    TRACE_INT64,
    TRACE_UINT64,
    TRACE_FP16,
    TRACE_FP32,
    TRACE_FP64,
    TRACE_BF16,
    TRACE_FP8_E4M3,
    TRACE_FP8_E5M2,
    TRACE_N_TYPES
};

/* Numbered as NCCL's ncclRedOp_t; every number above avg is a handle that the
 * program made (ncclRedOpCreatePreMulSum) and is 'TRACE_RED_CUSTOM' here. */
enum trace_redop {
    TRACE_RED_SUM,
    TRACE_RED_PROD,
    TRACE_RED_MAX,
    TRACE_RED_MIN,
    TRACE_RED_AVG,
    TRACE_RED_CUSTOM,
    TRACE_N_REDOPS
};

/* Numbered as NCCL's NCCL_ALGO_x and NCCL_PROTO_x. */
enum trace_algo {
    TRACE_ALGO_TREE,
    TRACE_ALGO_RING,
    TRACE_ALGO_COLLNET_DIRECT,
    TRACE_ALGO_COLLNET_CHAIN,
    TRACE_ALGO_NVLS,
    TRACE_ALGO_NVLS_TREE,
    TRACE_ALGO_PAT,
    TRACE_ALGO_UNKNOWN,
    TRACE_N_ALGOS = TRACE_ALGO_UNKNOWN
};

enum trace_proto {
    TRACE_PROTO_LL,
    TRACE_PROTO_LL128,
    TRACE_PROTO_SIMPLE,
    TRACE_PROTO_UNKNOWN,
    TRACE_N_PROTOS = TRACE_PROTO_UNKNOWN
};

/* A rank of the whole job: one GPU of one process. */
struct trace_rank {
    uint32_t host;   /* index into 'hosts' */
    uint32_t local;  /* index among the ranks of its host, in order of rank */
    uint32_t device; /* GPU as the file numbers it (NVML index if it gives one) */
};

struct trace_comm {
    char *name;       /* owned; as the file calls it, for messages */
    uint32_t n_ranks; /* >= 1 */
    uint32_t *ranks;  /* owned; [n_ranks] rank of the job of each communicator rank */
    size_t n_ops;
    uint32_t n_channels; /* 0: the file does not say */
    /* Owned; [n_channels][n_ranks] communicator ranks in ring order, each ring beginning
     * at 0; NULL: the file does not say (all of) it. */
    uint32_t *rings;
};

struct trace_op {
    enum trace_kind kind;
    enum trace_type type;
    enum trace_redop redop; /* read only for all_reduce, reduce_scatter and reduce */
    uint32_t comm;          /* index into 'comms' */
    int32_t rank;  /* communicator rank that sends, receives, or computes alone; else
                             * TRACE_NO_RANK */
    int32_t peer;  /* root (broadcast, reduce, gather, scatter) or the other rank of a
                             * send or receive, a communicator rank; else TRACE_NO_RANK */
    int64_t pair;  /* index of the receive of a send and back; else TRACE_NO_PAIR */
    uint64_t seq;  /* the communicator's counter (NCCL: opCount); equal for the
                             * operations of one group */
    int64_t count; /* elements as the call names them: sent per rank for all_gather,
                             * received per rank for reduce_scatter, per pair of ranks for
                             * all_to_all, gather and scatter, the whole vector else */
    int64_t bytes; /* 'count' times the size of 'type' */
    int64_t duration_ps; /* of computing; else 0 */

    /* Only in a graph: a rank begins 'delay_ps' after it has ended those of 'after' that it
     * is in. */
    const uint32_t *after; /* borrowed from the trace: [n_after] indices into 'ops' */
    uint32_t n_after;
    int64_t delay_ps;

    bool has_time;
    int64_t time_ps; /* first rank's call, since the first call of the trace */
    /* Borrowed from the trace: [comm n_ranks] each rank's call (one entry for a send or
     * receive); NULL without 'has_time'. */
    const int64_t *rank_times_ps;

    enum trace_algo algo;   /* what the library chose; UNKNOWN: the file does not say */
    enum trace_proto proto; /* likewise */
    bool has_channels;
    uint32_t channel_lo, channel_hi; /* read only with 'has_channels'; both included */

    uint32_t file; /* index into 'files': the lowest rank's call, for messages */
    uint64_t line; /* from 1 */
};

struct trace {
    const char *format; /* borrowed; name of the reader */
    bool is_graph;
    uint32_t n_ranks;
    struct trace_rank *ranks; /* owned */
    uint32_t n_hosts;
    char **hosts; /* owned, NULL at the end; names in order of their lowest rank */
    uint32_t n_comms;
    struct trace_comm *comms; /* owned */
    size_t n_ops;
    struct trace_op *ops; /* owned */
    bool has_times;       /* every operation has one */
    int64_t time_step_ps; /* resolution of the coarsest time stamp; 0 without any */
    char **files;         /* owned, NULL at the end; in the order read */
    char **warnings;   /* owned, NULL at the end; repairs made and doubts, for the user */
    int64_t *times_ps; /* owned; what 'rank_times_ps' point into */
    uint32_t *afters;  /* owned; what 'after' point into */
};

GQuark trace_error_quark(void);

/* Reads the trace that 'paths' (n_paths >= 1) hold together, detecting the format by
 * content.  A path is a file, a directory (its files, and those of its folders to a
 * depth of 4, in order of name) or a glob pattern; found that way, a file of no known
 * format is skipped with a warning, while one named itself is an error.
 * Returns a new trace owned by the caller ('trace_free()'), with at least one operation,
 * or NULL and 'error' (TRACE_ERROR).  O(bytes); maps one file at a time. */
struct trace *trace_open_paths(const char *const *paths, size_t n_paths, GError **error);

/* The same from memory: 'n_files' (>= 1) buffers 'data[i]' of 'n_bytes[i]', called
 * 'names[i]' in messages. */
struct trace *trace_open_data(const char *const *names, const char *const *data,
                              const size_t *n_bytes, size_t n_files, GError **error);

/* Frees 'trace' and all it owns; accepts NULL. */
void trace_free(struct trace *trace);

/* Aborts if an invariant of 'trace' is broken.  O(operations times ranks). */
void trace_check(const struct trace *trace);

/* Names as scenarios and results write them: "all_reduce", "bf16", "sum",
 * "ring", "simple". */
const char *trace_kind_name(enum trace_kind kind);
const char *trace_type_name(enum trace_type type);
const char *trace_redop_name(enum trace_redop redop);
const char *trace_algo_name(enum trace_algo algo);
const char *trace_proto_name(enum trace_proto proto);

/* Size of one element, 1 to 8. */
int64_t trace_type_bytes(enum trace_type type);

/* The kind called 'name', or TRACE_N_KINDS; likewise. */
enum trace_kind trace_find_kind(const char *name);
enum trace_type trace_find_type(const char *name);
enum trace_redop trace_find_redop(const char *name);
enum trace_algo trace_find_algo(const char *name);
enum trace_proto trace_find_proto(const char *name);

/* Ranks that take part in 'op'. */
uint32_t trace_op_n_ranks(const struct trace *trace, const struct trace_op *op);

/* Writes 'trace' as JSON lines (docs/trace/jsonl.md) through 'put', a line with its end at a
 * time, until that says false.  Read again it is the same trace, but that calls of logs have
 * become a graph in which each rank's follow each other. */
void trace_write_jsonl(const struct trace *trace,
                       bool (*put)(void *ctx, const char *line), void *ctx);

/* True for the operations of one rank: send and receive. */
bool trace_kind_is_p2p(enum trace_kind kind);

/* True where 'peer' is a root. */
bool trace_kind_has_root(enum trace_kind kind);

/* True where 'redop' says something. */
bool trace_kind_has_redop(enum trace_kind kind);

/* Name of the 'index'th reader and where its format is documented, in the order of
 * trace_list.def; NULL past the last.  'source' may be NULL. */
const char *trace_reader_name(size_t index, const char **source);

#endif
