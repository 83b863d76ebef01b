/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_ns3rdma.c - topologies of ns3-rdma: written as those of HPCC, but the shipped
 * ones leave the error rate away.
 */
#include <config.h>

#include "topologies/file/ns3.h"

static bool
ns3rdma_read(struct text *t, struct topo_file *file)
{
    static const struct ns3_dialect dialect = {.error_optional = true};

    return ns3_read_topology(t, &dialect, file);
}

const struct topo_reader topo_reader_ns3rdma = {
    .name = "ns3rdma",
    .doc = "topologies of bobzhuyb/ns3-rdma",
    .source = "bobzhuyb/ns3-rdma, scratch/third.cc and mix/topology.txt",
    .read = ns3rdma_read,
};
