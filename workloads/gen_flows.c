/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_flows.c - a list of flows as the user wrote it, or out of a file.
 */
#include <config.h>

#include "workloads/flows.h"

static void *
new_flows(struct net *net, const struct work_params *params, GError **error)
{
    if (params->n_flows == 0) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u]: no flows; at least one is needed", params->index);
        return NULL;
    }
    return flows_new(net, params, params->flows, params->n_flows, error);
}

const struct work_ops work_flows_ops = {
    .name = "flows",
    .source = "the user's list",
    .doc = "a list of flows: who sends how much to whom and when",
    .new = new_flows,
    .start = flows_start,
    .unfinished = flows_unfinished,
    .flows = flows_results,
    .free = flows_free,
};
