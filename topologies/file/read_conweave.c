/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_conweave.c - topologies of conweave-ns3, which are written as those of HPCC.
 */
#include <config.h>

#include "topologies/file/ns3.h"

static bool
conweave_read(struct text *t, struct topo_file *file)
{
    static const struct ns3_dialect dialect = {.has_tors = false};

    return ns3_read_topology(t, &dialect, file);
}

const struct topo_reader topo_reader_conweave = {
    .name = "conweave",
    .doc = "topologies of conweave-ns3",
    .source = "conweave-project/conweave-ns3, scratch/network-load-balance.cc",
    .read = conweave_read,
};
