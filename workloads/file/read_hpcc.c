/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_hpcc.c - flow.txt of the HPCC simulator: `src dst pg dport size start`, the
 * size in 32 bits there.
 */
#include <config.h>

#include "workloads/file/ns3.h"

static bool
hpcc_read(struct text *t, struct flow_file *file)
{
    static const struct ns3_flow_dialect dialect = {.form = NS3_FLOW_DPORT_SIZE,
                                                    .size_is_32_bit = true};

    return ns3_read_flows(t, &dialect, file);
}

const struct flow_reader flow_reader_hpcc = {
    .name = "hpcc",
    .doc = "flow.txt of the HPCC simulator: src dst pg dport size start",
    .source = "alibaba-edu/High-Precision-Congestion-Control, scratch/third.cc",
    .read = hpcc_read,
};
