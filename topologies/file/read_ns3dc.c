/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_ns3dc.c - topologies of ns3-datacenter: `nodes switches tors links`; the
 * number of ToRs is read there, and means nothing.
 */
#include <config.h>

#include "topologies/file/ns3.h"

static bool
ns3dc_read(struct text *t, struct topo_file *file)
{
    static const struct ns3_dialect dialect = {.has_tors = true};

    return ns3_read_topology(t, &dialect, file);
}

const struct topo_reader topo_reader_ns3dc = {
    .name = "ns3dc",
    .doc = "topologies of inet-tub/ns3-datacenter",
    .source = "inet-tub/ns3-datacenter, examples/PowerTCP",
    .read = ns3dc_read,
};
