/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay.c - a trace for the hosts of a workload, see replay.h.
 */
#include <config.h>

#include "workloads/replay.h"

#include <string.h>

struct trace *
replay_open(const struct work_params *params, GError **error)
{
    const char *const *paths = (const char *const *)params->paths;
    struct trace *trace = trace_open_paths(paths, g_strv_length(params->paths), error);

    if (trace == NULL) {
        g_prefix_error(error, "workload[%u]: ", params->index);
        return NULL;
    }
    if (params->format && strcmp(params->format, trace->format) != 0) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_TRACE,
                    "workload[%u]: %s is of format %s; 'format' says %s", params->index,
                    trace->files[0], trace->format, params->format);
        trace_free(trace);
        return NULL;
    }
    return trace;
}

gboolean
replay_place(const struct trace *trace, const struct work_params *params, uint32_t host[],
             uint32_t gpu[], GError **error)
{
    if (trace->n_hosts > params->n_hosts) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u]: %s: ranks run on %u hosts (%s, ...); the workload has "
                    "%u",
                    params->index, trace->files[0], trace->n_hosts, trace->hosts[0],
                    params->n_hosts);
        return FALSE;
    }
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        const struct trace_rank *rank = &trace->ranks[r];

        if (rank->local >= params->gpus) {
            g_set_error(
                error, WORK_ERROR, WORK_ERROR_HOSTS,
                "workload[%u]: %s: host %s has more than %u ranks; node.gpus is %u",
                params->index, trace->files[0], trace->hosts[rank->host], params->gpus,
                params->gpus);
            return FALSE;
        }
        host[r] = params->hosts[rank->host];
        gpu[r] = rank->local;
    }
    return TRUE;
}
