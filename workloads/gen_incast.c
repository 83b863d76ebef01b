/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_incast.c - many hosts send to one at the same time.
 *
 * Source: Vasudevan et al., "Safe and Effective Fine-grained TCP Retransmissions for
 * Datacenter Communication", SIGCOMM '09, section 2: the incast problem.
 */
#include <config.h>

#include "workloads/flows.h"

static void *
new_incast(struct net *net, const struct work_params *params, GError **error)
{
    uint32_t n = params->n_senders;

    if (n == 0) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u].senders: none; at least 1 is needed", params->index);
        return NULL;
    }
    g_autofree struct work_flow *list = g_new(struct work_flow, n);

    for (uint32_t i = 0; i < n; i++) {
        list[i] = (struct work_flow){.src = params->senders[i],
                                     .dst = params->receiver,
                                     .bytes = params->incast.bytes};
    }
    return flows_new(net, params, list, n, error);
}

const struct work_ops work_incast_ops = {
    .name = "incast",
    .source = "Vasudevan et al., SIGCOMM '09, section 2",
    .doc = "several hosts send to one receiver at the same time",
    .new = new_incast,
    .start = flows_start,
    .unfinished = flows_unfinished,
    .flows = flows_results,
    .free = flows_free,
};
