/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ns3.h - flow files of the HPCC simulator's family: a count, and then so many flows, words
 * not lines.  What stands behind is not read there; here a warning says when it is flows.
 */
#ifndef ROCESIM_WORKLOADS_FILE_NS3_H
#define ROCESIM_WORKLOADS_FILE_NS3_H

#include "workloads/file/file.h"

/* Columns between `src dst pg` and the start. */
enum ns3_flow_form {
    NS3_FLOW_DPORT_SIZE,  /* dport size */
    NS3_FLOW_SIZE,        /* size */
    NS3_FLOW_PACKETS_END, /* packets; an end follows the start */
};

struct ns3_flow_dialect {
    enum ns3_flow_form form;
    bool size_is_32_bit; /* there; here it is 64 */
};

bool ns3_read_flows(struct text *t, const struct ns3_flow_dialect *dialect,
                    struct flow_file *file);

#endif
