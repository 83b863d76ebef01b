/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_permutation.c - every host sends to one host and receives from one.
 *
 * Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004),
 * section 3.2: permutation traffic; here a shift by a fixed distance.
 */
#include <config.h>

#include "workloads/flows.h"

static void *
new_permutation(struct net *net, const struct work_params *params, GError **error)
{
    int64_t shift = params->permutation.shift;
    uint32_t n = params->n_hosts;

    if (n < 2) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u].hosts: %u; a permutation needs at least 2",
                    params->index, n);
        return NULL;
    }
    if (shift < 1 || shift >= n) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u].shift: %lld; allowed 1 to %u with %u hosts",
                    params->index, (long long)shift, n - 1, n);
        return NULL;
    }
    g_autofree struct work_flow *list = g_new(struct work_flow, n);

    for (uint32_t i = 0; i < n; i++) {
        list[i] = (struct work_flow){.src = params->hosts[i],
                                     .dst = params->hosts[(i + (uint64_t)shift) % n],
                                     .bytes = params->permutation.bytes};
    }
    return flows_new(net, params, list, n, error);
}

const struct work_ops work_permutation_ops = {
    .name = "permutation",
    .source = "Dally and Towles 2004, section 3.2",
    .doc = "host i sends to host (i + shift) mod n",
    .new = new_permutation,
    .start = flows_start,
    .unfinished = flows_unfinished,
    .flows = flows_results,
    .free = flows_free,
};
