/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_conweave.c - flows of conweave-ns3: `src dst pg size start`.
 */
#include <config.h>

#include "workloads/file/ns3.h"

static bool
conweave_read(struct text *t, struct flow_file *file)
{
    static const struct ns3_flow_dialect dialect = {.form = NS3_FLOW_SIZE,
                                                    .size_is_32_bit = true};

    return ns3_read_flows(t, &dialect, file);
}

const struct flow_reader flow_reader_conweave = {
    .name = "conweave",
    .doc = "flows of conweave-ns3: src dst pg size start",
    .source = "conweave-project/conweave-ns3, scratch/network-load-balance.cc",
    .read = conweave_read,
};
