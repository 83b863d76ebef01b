/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topo_star.c - all hosts on one switch, leaf0.
 *
 * Port k of leaf0 leads to NIC k: host0's first, host0's second, ..., host1's first.
 */
#include <config.h>

#include "topologies/topo.h"

#include <inttypes.h>

static const struct param star_params[] = {
    {.name = "hosts",
     .kind = PARAM_INTEGER,
     .offset = offsetof(struct topo_star, hosts),
     .unit = "hosts",
     .def = TOPO_UNSET,
     .min = 1,
     .max = TOPO_MAX_NODE_PORTS,
     .special = PARAM_REQUIRED,
     .source = "what the user builds; a route is a 16-bit port index",
     .doc = "hosts on the switch"},
    {.name = NULL},
};

static gboolean
star_resolve(void *params, const struct topo_input *input, GError **error)
{
    const struct topo_star *p = params;

    if (!topo_check_nics__(input, error) ||
        !topo_check_rate__("topology.host_link", input->host_link.rate_bps, error)) {
        return FALSE;
    }
    if (p->hosts == TOPO_UNSET) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_MISSING,
                    "topology.hosts: is not given; allowed 1 to %d", TOPO_MAX_NODE_PORTS);
        return FALSE;
    }
    if (p->hosts * input->nics_per_host > TOPO_MAX_NODE_PORTS) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                    "topology: leaf0 has hosts %" PRId64 " x nics %" PRId64 " = %" PRId64
                    " ports; allowed up to %d",
                    p->hosts, input->nics_per_host, p->hosts * input->nics_per_host,
                    TOPO_MAX_NODE_PORTS);
        return FALSE;
    }
    return TRUE;
}

static void
star_build(struct net *net, const void *params, const struct topo_input *input)
{
    const struct topo_star *p = params;

    topo_add_hosts__(net, p->hosts, p->hosts);
    topo_add_switches__(net, "leaf", 1, 0, 1);
    for (int64_t h = 0; h < p->hosts; h++) {
        topo_add_links__(net, (uint32_t)h, (uint32_t)p->hosts, input->nics_per_host,
                         &input->host_link);
    }
}

const struct topo_ops topo_star_ops = {
    .name = "star",
    .source = "one switch",
    .doc = "all hosts on one switch",
    .params_bytes = sizeof(struct topo_star),
    .params = star_params,
    .resolve = star_resolve,
    .build = star_build,
};
