/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * work.h - who sends what when: the interface of a workload.
 *
 * Life of a workload, beside that of its network (models/net.h):
 *   1. work_new() after net_build() and the routes: checks the parameters against the
 *      network, asks for connections (net_connect()), pipes and timers.
 *   2. work_start() after net_start(): sets the users of its QPs, counts its operations
 *      (net_op_begin()) and sets its first timers.
 *   3. The run: only events of the process of a host touch the state of that host, so a
 *      flow's sender part and receiver part are separate records.  Nothing is allocated
 *      but from the process's pool.
 *   4. Results are read; work_free().
 *
 * One workload = one file gen_NAME.c that defines 'work_NAME_ops', and one line in
 * work_list.def.
 */
#ifndef ROCESIM_WORKLOADS_WORK_H
#define ROCESIM_WORKLOADS_WORK_H

#include <glib.h>

#include "models/net.h"
#include "workloads/work_params.h"

#define WORK_ERROR work_error_quark()
GQuark work_error_quark(void);

enum work_error {
    WORK_ERROR_HOSTS,       /* a host or rank that cannot be */
    WORK_ERROR_RANGE,       /* a number that cannot be */
    WORK_ERROR_UNSUPPORTED, /* known, and not supported yet */
    WORK_ERROR_TRACE,       /* a trace that cannot be read or played */
};

/* One message of a flows-like workload.  TIME_NEVER_PS: not (yet) happened. */
struct flow_result {
    uint32_t src_host, dst_host;
    uint32_t connection; /* of the network */
    int64_t bytes;
    int64_t start_ps; /* posted; a READ at the receiver, else at the sender */
    int64_t sent_ps;  /* complete there: the ACK of its last byte has been processed, or
                            a READ's last byte lies in memory */
    int64_t received_ps; /* its last byte in the receiver's memory */
};

/* What went over one connection of a collective, both directions apart. */
struct stream_result {
    uint32_t src_host, dst_host;
    uint32_t connection;
    unsigned side;             /* the QP that sends */
    int64_t n_messages, bytes; /* posted */
    int64_t n_complete;
    int64_t min_ps, max_ps, sum_ps; /* post to completion, of those complete */
};

/* One collective call. */
struct call_result {
    const char *op, *algorithm, *protocol; /* borrowed */
    uint32_t n_ranks;
    int64_t bytes;    /* the nccl-tests size */
    int64_t start_ps; /* first rank's start; TIME_NEVER_PS: not begun */
    int64_t end_ps;   /* last rank's end; TIME_NEVER_PS: not ended */
    int64_t bound_ps; /* bytes through the slowest link crossed over its payload rate */
    int64_t bus_num, bus_den; /* busbw = algbw x num / den */
};

/* What a queue pair is going to send. */
struct work_plan {
    int64_t bytes; /* payload of all its messages */
    int64_t n_messages;
    bool is_read; /* the messages are READs of the peer's */
};

struct work_ops {
    const char *name, *source, *doc;
    void *(*new)(struct net *net, const struct work_params *params, GError **error);
    void (*start)(void *state);
    /* Adds doubts about the input (owned lines), after new(); NULL: there are none. */
    void (*warnings)(const void *state, GPtrArray *lines);
    /* Adds what a reader of the results should know (owned lines); NULL: nothing. */
    void (*notes)(const void *state, GPtrArray *lines);
    /* Adds a line for each thing that has not ended, saying what it waits for; at most
     * 'most' lines, then "... and N more". */
    void (*unfinished)(const void *state, GPtrArray *lines, uint32_t most);
    /* Of the operations counted, those that are outstanding and need not end: a run that
     * stops with these alone is complete; NULL: there are none. */
    int64_t (*optional)(const void *state);
    /* Results, borrowed; NULL when the workload has none of the kind. */
    const struct flow_result *(*flows)(const void *state, uint32_t *n);
    const struct stream_result *(*streams)(void *state, uint32_t *n);
    const struct call_result *(*calls)(void *state, uint32_t *n);
    /* Adds to 'by_qp' (by dense id) what each queue pair is going to send; NULL: that of its
     * flows().  After the start. */
    void (*plan)(const void *state, struct work_plan by_qp[]);
    /* Bytes that pipes inside hosts have carried; NULL: there are none. */
    int64_t (*pipe_bytes)(const void *state);
    void (*free)(void *state);
};

/* A workload of a network. */
struct work {
    const struct work_ops *ops;
    void *state; /* owned */
};

/* All workloads in the order of work_list.def, ending with NULL. */
extern const struct work_ops *const work_list[];

/* The workload called 'name', or NULL. */
const struct work_ops *work_find(const char *name);

/* Can a packet get from the switch that NIC 'from' is plugged into to NIC 'to', by the routes the
 * run begins with?  (Two NICs plugged into each other need none.)  Ids are those of the network. */
bool work_has_route(const struct net *net, uint32_t from, uint32_t to);

/* The operation of a queue pair that 'verb' stands for. */
enum qp_verb work_qp_verb(enum work_verb verb);

/* A workload of params->type on 'net', NULL on error. */
struct work *work_new(struct net *net, const struct work_params *params, GError **error);
void work_start(struct work *work);
void work_free(struct work *work); /* accepts NULL */

#endif
