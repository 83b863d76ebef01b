/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_all_to_all.c - every host sends the same to every other one.
 *
 * Host i posts to host i + 1 first, then to i + 2 and so on, so that no two begin with the
 * same receiver; its NIC then takes all its queue pairs in turn.
 *
 * Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004),
 * section 3.2: uniform traffic.
 */
#include <config.h>

#include "workloads/flows.h"

static void *
new_all_to_all(struct net *net, const struct work_params *params, GError **error)
{
    uint32_t n = params->n_hosts;
    uint64_t n_flows = (uint64_t)n * (n - 1);

    if (n < 2 || n_flows > FLOWS_DRAWN_MAX) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u].hosts: %u; allowed are 2 to 10000, a flow from each to "
                    "each other",
                    params->index, n);
        return NULL;
    }
    g_autofree struct work_flow *list = g_new(struct work_flow, n_flows);
    size_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t shift = 1; shift < n; shift++) {
            list[at++] =
                (struct work_flow){.src = params->hosts[i],
                                   .dst = params->hosts[(i + (uint64_t)shift) % n],
                                   .bytes = params->all_to_all.bytes};
        }
    }
    return flows_new(net, params, list, n_flows, error);
}

const struct work_ops work_all_to_all_ops = {
    .name = "all-to-all",
    .source = "Dally and Towles 2004, section 3.2",
    .doc = "every host sends the same to every other one",
    .new = new_all_to_all,
    .start = flows_start,
    .unfinished = flows_unfinished,
    .flows = flows_results,
    .free = flows_free,
};
