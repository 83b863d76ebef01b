/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_file.c - the flows of another simulator's file; the loader reads it (file/file.h).
 */
#include <config.h>

#include "workloads/flows.h"

static void *
new_file(struct net *net, const struct work_params *params, GError **error)
{
    if (params->n_triggers > 0 && params->common.repeat != 1) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u].repeat: is %" G_GINT64_FORMAT
                    "; flows with triggers run once",
                    params->index, params->common.repeat);
        return NULL;
    }
    return flows_new(net, params, params->flows, params->n_flows, error);
}

const struct work_ops work_file_ops = {
    .name = "file",
    .source = "the file `path` in the format `format`",
    .doc = "the flows of another simulator's file",
    .new = new_file,
    .start = flows_start,
    .unfinished = flows_unfinished,
    .flows = flows_results,
    .free = flows_free,
};
