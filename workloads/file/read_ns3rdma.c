/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_ns3rdma.c - flow.txt of ns3-rdma: `src dst pg packets start end`.
 */
#include <config.h>

#include "workloads/file/ns3.h"

static bool
ns3rdma_read(struct text *t, struct flow_file *file)
{
    static const struct ns3_flow_dialect dialect = {.form = NS3_FLOW_PACKETS_END};

    return ns3_read_flows(t, &dialect, file);
}

const struct flow_reader flow_reader_ns3rdma = {
    .name = "ns3rdma",
    .doc = "flow.txt of bobzhuyb/ns3-rdma: src dst pg packets start end",
    .source = "bobzhuyb/ns3-rdma, scratch/third.cc and mix/flow.txt",
    .read = ns3rdma_read,
};
