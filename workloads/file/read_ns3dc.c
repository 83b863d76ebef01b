/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_ns3dc.c - flows of ns3-datacenter: those of HPCC with sizes of 64 bits, where
 * 1000000000000 means for ever.
 */
#include <config.h>

#include "workloads/file/ns3.h"

static bool
ns3dc_read(struct text *t, struct flow_file *file)
{
    static const struct ns3_flow_dialect dialect = {.form = NS3_FLOW_DPORT_SIZE};

    return ns3_read_flows(t, &dialect, file);
}

const struct flow_reader flow_reader_ns3dc = {
    .name = "ns3dc",
    .doc = "flows of inet-tub/ns3-datacenter: src dst pg dport size start",
    .source = "inet-tub/ns3-datacenter, examples/PowerTCP",
    .read = ns3dc_read,
};
