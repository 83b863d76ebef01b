/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * file.h - flows that other simulators' files list: the interface of a reader, and what it
 * gives.
 *
 * A reader is one file read_NAME.c that defines 'flow_reader_NAME', and one line in
 * reader_list.def.  Formats that look alike (six columns mean one thing in HPCC and another in
 * ns3-rdma) are told apart by the name the user gives, never by their content.
 *
 * Messages of errors are one line, "FILE:LINE: what is wrong; what is allowed".
 */
#ifndef ROCESIM_WORKLOADS_FILE_FILE_H
#define ROCESIM_WORKLOADS_FILE_FILE_H

#include <glib.h>

#include "sim/text.h"
#include "workloads/work_params.h"

#define FLOW_FILE_ERROR flow_file_error_quark()
GQuark flow_file_error_quark(void);

enum flow_file_error { FLOW_FILE_ERROR_FORM };

/* A flow as the file says it; src and dst are the file's own numbers. */
struct flow_file_flow {
    uint32_t src, dst;
    int64_t bytes;    /* >= 1; packets, if the file counts in these */
    int64_t start_ps; /* 0 when a trigger starts it */
    int32_t cls;      /* priority group, 0 to 7; -1: not said */
    int32_t dport;    /* -1: not said */
    uint32_t id;      /* 0: none */
    /* Places in 'triggers', plus 1; 0: none. */
    uint32_t after, sent, received;
    unsigned line;
};

struct flow_file_trigger {
    uint32_t id;
    int32_t kind;  /* enum work_trigger_kind; -1: not said yet */
    int64_t count; /* of a barrier */
    unsigned line; /* where it is said, or used first */
};

enum flow_file_tier { FLOW_FILE_TOR, FLOW_FILE_AGG, FLOW_FILE_CORE };

/* A link that is not there. */
struct flow_file_failure {
    enum flow_file_tier tier;
    uint32_t sw, link;
    unsigned line;
};

struct flow_file {
    GArray *flows;       /* owned: struct flow_file_flow, by start where files must be */
    GArray *triggers;    /* owned: struct flow_file_trigger */
    GArray *failures;    /* owned: struct flow_file_failure */
    GPtrArray *warnings; /* owned: char * */
    int64_t n_nodes;     /* that the file says there are; -1: it says nothing */
    bool in_packets;
};

struct flow_reader {
    const char *name; /* as in workload[].format */
    const char *doc;
    const char *source;
    /* Fills the empty 'file'.  False: t->message says why. */
    bool (*read)(struct text *t, struct flow_file *file);
};

/* All readers in the order of reader_list.def, ending with NULL. */
extern const struct flow_reader *const flow_reader_list[];

/* The reader called 'name', or NULL. */
const struct flow_reader *flow_reader_find(const char *name);

/* Reads 'n_bytes' of 'data'; 'name' is for messages.  Owned by the caller; NULL on error. */
struct flow_file *flow_file_read(const struct flow_reader *reader, const char *name,
                                 const char *data, size_t n_bytes, GError **error);
void flow_file_free(struct flow_file *file); /* accepts NULL */

/* For readers: adds a doubt about the file. */
void flow_file_warn__(struct flow_file *file, const struct text *t, unsigned line,
                      const char *format, ...) G_GNUC_PRINTF(4, 5);

#endif
