/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_hpcc.c - topology.txt of the HPCC simulator (and of astra-network-ns3):
 * `nodes switches links`, ids of switches, links.
 */
#include <config.h>

#include "topologies/file/ns3.h"

static bool
hpcc_read(struct text *t, struct topo_file *file)
{
    static const struct ns3_dialect dialect = {.has_tors = false};

    return ns3_read_topology(t, &dialect, file);
}

const struct topo_reader topo_reader_hpcc = {
    .name = "hpcc",
    .doc = "topology.txt of the HPCC simulator and its forks",
    .source = "alibaba-edu/High-Precision-Congestion-Control, scratch/third.cc",
    .read = hpcc_read,
};
