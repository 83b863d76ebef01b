/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * file.h - topologies that other simulators' files describe: the interface of a reader, and
 * what it gives.
 *
 * A reader is one file read_NAME.c that defines 'topo_reader_NAME', and one line in
 * reader_list.def.  Formats that look alike are told apart by the name the user gives, never
 * by their content.  What a reader gives is whole: nodes with names, links between them; the
 * graph's own checks (topo_graph.c) come after it.
 *
 * Messages of errors are one line, "FILE:LINE: what is wrong; what is allowed".
 */
#ifndef ROCESIM_TOPOLOGIES_FILE_FILE_H
#define ROCESIM_TOPOLOGIES_FILE_FILE_H

#include <glib.h>

#include "sim/text.h"
#include "topologies/topo.h"

/* A link as the file says it.  Shares are times 10^18. */
struct topo_file_link {
    uint32_t a, b; /* places in 'nodes' */
    int64_t rate_bps, delay_ps, error_e18;
    unsigned line;
};

/* TOPO_FILE_UNSAID: the file says nothing of it. */
#define TOPO_FILE_UNSAID INT64_C(-1)

struct topo_file {
    GArray *nodes;       /* owned: struct topo_graph_node, names owned */
    GArray *links;       /* owned: struct topo_file_link */
    GPtrArray *warnings; /* owned: char * */
    uint32_t *node_of;   /* owned, by the file's own number: place in 'nodes' */
    uint32_t n_numbers;  /* of these */
    uint32_t gpus;       /* of each host */
    int64_t pipe_rate_bps, pipe_latency_ps;    /* between the GPUs of a host */
    int64_t switch_latency_ps[TOPO_MAX_TIERS]; /* by tier */
    uint32_t pods, per_pod[TOPO_MAX_TIERS];    /* of a tree: switches of a pod, by tier */
    uint32_t cores_per_middle, bundle_up;      /* of a tree of three tiers: links of a
                                                    middle switch / bundle, and bundle */
};

struct topo_reader {
    const char *name; /* as in topology.format */
    const char *doc;
    const char *source;
    /* Fills the empty 'file'.  False: t->message says why. */
    bool (*read)(struct text *t, struct topo_file *file);
};

/* All readers in the order of reader_list.def, ending with NULL. */
extern const struct topo_reader *const topo_reader_list[];

/* The reader called 'name', or NULL. */
const struct topo_reader *topo_reader_find(const char *name);

/* Reads 'n_bytes' of 'data'; 'name' is for messages.  Owned by the caller; NULL on error. */
struct topo_file *topo_file_read(const struct topo_reader *reader, const char *name,
                                 const char *data, size_t n_bytes, GError **error);
void topo_file_free(struct topo_file *file); /* accepts NULL */

/* For readers: adds a node called as 'format' says; a link; a doubt about the file. */
void topo_file_add_node__(struct topo_file *file, enum node_kind kind, uint8_t tier,
                          const char *format, ...) G_GNUC_PRINTF(4, 5);
void topo_file_add_link__(struct topo_file *file, uint32_t a, uint32_t b,
                          int64_t rate_bps, int64_t delay_ps, int64_t error_e18,
                          unsigned line);
void topo_file_warn__(struct topo_file *file, const struct text *t, unsigned line,
                      const char *format, ...) G_GNUC_PRINTF(4, 5);

#endif
