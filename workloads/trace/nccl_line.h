/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nccl_line.h - the lines of an NCCL debug log, one at a time: what stands before the
 * message (launcher's prefix, time stamp, HOST:PID:TID [dev]) and the messages that tell
 * of communicators, rings and operations.  Pure functions over text that is not
 * terminated; read_nccl_log.c puts lines together.
 *
 * Source: NCCL src/debug.cc, enqueue.cc, init.cc, graph/rings.cc, graph/connect.cc,
 * versions 2.4 to 2.30; docs/trace/nccl-log.md lists the forms.
 */
#ifndef ROCESIM_WORKLOADS_TRACE_NCCL_LINE_H
#define ROCESIM_WORKLOADS_TRACE_NCCL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/trace/trace.h"

/* What a text is, to a parser. */
enum nccl_parse {
    NCCL_OTHER, /* something else */
    NCCL_CUT,   /* the right thing, but it ends or breaks too early */
    NCCL_WHOLE,
};

/* What stands before a message. */
struct nccl_head {
    const char *start; /* first byte of the prefix */
    const char *host;  /* borrowed from the line, not terminated */
    size_t n_host;     /* >= 1 */
    uint64_t pid, tid;
    int64_t device;      /* current GPU of the thread; -1: not printed */
    int64_t launch_rank; /* from mpirun's or srun's prefix; -1: none */
    bool has_time;
    int64_t time_ns;      /* local time of that host, since 1970 */
    int64_t time_step_ps; /* resolution of the stamp */
};

/* "NAME: opCount .. sendbuff .. recvbuff .. count .. datatype .. op .. root .. comm .. ". */
struct nccl_coll {
    enum trace_kind kind; /* TRACE_N_KINDS: a name not known, or cut before its end */
    const char *name;     /* borrowed; with 'n_name' */
    size_t n_name;
    bool has_seq;
    uint64_t seq;
    uint64_t count; /* UINT64_MAX: larger than that */
    uint64_t type, redop, root;
    uint64_t comm;
    int64_t n_ranks; /* -1: not printed */
};

/* "FUNCTION comm .. rank .. nranks .. cudaDev .. [nvmlDev ..] [commId ..] - Init START". */
struct nccl_init {
    uint64_t comm;
    int64_t rank, n_ranks, cuda_device;
    int64_t nvml_device; /* -1: not printed */
    bool has_id, is_complete;
    uint64_t id;
};

/* "NAME: N Bytes -> Algo A proto P ...". */
struct nccl_tuning {
    enum trace_kind kind;
    uint64_t bytes;
    enum trace_algo algo;
    enum trace_proto proto;
    int64_t channel_lo, channel_hi; /* -1: not printed */
};

/* Reads backwards from 'mark', where "NCCL" stands in the line that begins at 'line'.
 * FALSE if it is not preceded by HOST:PID:TID. */
bool nccl_head_parse(const char *line, const char *mark, struct nccl_head *head);

/* First byte of 'text' after a launcher's prefix, for lines without HOST:PID:TID. */
const char *nccl_skip_launcher(const char *text, const char *end);

/* CUT fills what stood before the cut: 'kind', and 'seq' if 'has_seq'. */
enum nccl_parse nccl_coll_parse(const char *text, const char *end,
                                struct nccl_coll *coll);

enum nccl_parse nccl_init_parse(const char *text, const char *end,
                                struct nccl_init *init);

/* "Channel 00/16 :    0   1   2": fills 'order' (uint32_t) with the ranks listed and
 * 'n_channels' (0: not printed).  WHOLE however few are listed. */
enum nccl_parse nccl_channel_parse(const char *text, const char *end, uint32_t *channel,
                                   uint32_t *n_channels, GArray *order);

/* Appends the numbers of 'text' to 'order'; false, and nothing appended, if anything but
 * numbers and spaces stands there, or nothing at all. */
bool nccl_numbers_parse(const char *text, const char *end, GArray *order);

/* "Ring 00 : 7 -> 0 -> 1". */
bool nccl_ring_parse(const char *text, const char *end, uint32_t *channel, uint32_t *rank,
                     uint32_t *next);

/* "16 coll channels, ...": the number, 0 if it is something else. */
uint32_t nccl_n_channels_parse(const char *text, const char *end);

bool nccl_tuning_parse(const char *text, const char *end, struct nccl_tuning *tuning);

#endif
