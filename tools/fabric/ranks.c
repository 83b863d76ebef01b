/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ranks.c - which rank is on which host and GPU, by workload.
 */
#include <config.h>

#include "tools/fabric/fabric.h"

#include "workloads/nccl/player.h"
#include "workloads/replay.h"

static void
take_collective(struct fabric_ranks *ranks, struct work_params *params)
{
    ranks->host = g_steal_pointer(&params->rank_host);
    ranks->gpu = g_steal_pointer(&params->rank_gpu);
    ranks->n_ranks = params->n_ranks;
}

static gboolean
take_trace(struct fabric_ranks *ranks, const struct work_params *params, GError **error)
{
    struct trace *trace = replay_open(params, error);
    gboolean good = trace != NULL;

    if (good) {
        ranks->n_ranks = trace->n_ranks;
        ranks->host = g_new(uint32_t, trace->n_ranks);
        ranks->gpu = g_new(uint32_t, trace->n_ranks);
        good = replay_place(trace, params, ranks->host, ranks->gpu, error);
    }
    trace_free(trace);
    return good;
}

static void
take_all(struct fabric *fabric)
{
    uint32_t n_gpus = (uint32_t)fabric->scenario->node.gpus;
    struct fabric_ranks ranks = {.title =
                                     g_strdup("no workload has ranks; as all GPUs would"),
                                 .n_ranks = fabric->net->n_hosts * n_gpus};

    ranks.host = g_new(uint32_t, ranks.n_ranks + 1);
    ranks.gpu = g_new(uint32_t, ranks.n_ranks + 1);
    for (uint32_t r = 0; r < ranks.n_ranks; r++) {
        ranks.host[r] = r / n_gpus;
        ranks.gpu[r] = r % n_gpus;
    }
    g_array_append_val(fabric->ranks, ranks);
}

gboolean
fabric_place_ranks(struct fabric *fabric, GError **error)
{
    const struct scenario *scenario = fabric->scenario;

    for (guint i = 0; i < scenario->works->len; i++) {
        struct work_params *params = scenario_bind_work(scenario, fabric->net, i, error);
        struct fabric_ranks ranks = {0};
        gboolean good = params != NULL;

        if (good && params->kind == WORK_COLLECTIVE) {
            take_collective(&ranks, params);
        } else if (good && params->kind == WORK_TRACE) {
            good = take_trace(&ranks, params, error);
            if (!good) {
                g_prefix_error(error, "%s: ", scenario->file);
            }
        }
        if (ranks.host != NULL) {
            ranks.title =
                g_strdup_printf("workload[%u], %s", i, work_kind_name(params->kind));
            g_array_append_val(fabric->ranks, ranks);
        }
        work_params_free(params);
        if (!good) {
            return FALSE;
        }
    }
    if (fabric->ranks->len == 0) {
        take_all(fabric);
    }
    return TRUE;
}

/* NICs of GPU 'gpu': "0", "0, 1". */
static char *
nics_text(uint32_t gpu, uint32_t n_gpus, uint32_t n_nics)
{
    g_autoptr(GString) text = g_string_new(NULL);
    uint32_t each = player_nics_a_gpu(n_gpus, n_nics);

    for (uint32_t k = 0; k < each; k++) {
        g_string_append_printf(text, "%s%u", k ? ", " : "",
                               player_nic_of_gpu(gpu, k, n_gpus, n_nics));
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

void
fabric_put_gpu_nics(GString *out, uint32_t n_gpus, uint32_t n_nics)
{
    for (uint32_t g = 0; g < n_gpus && n_nics > 0; g++) {
        g_autofree char *nics = nics_text(g, n_gpus, n_nics);
        bool is_first = true;

        for (uint32_t before = 0; before < g && is_first; before++) {
            g_autofree char *other = nics_text(before, n_gpus, n_nics);

            is_first = g_strcmp0(nics, other) != 0;
        }
        if (!is_first) {
            continue;
        }
        g_string_append_printf(out, "%sGPU %u", g ? "; " : "", g);
        for (uint32_t after = g + 1; after < n_gpus; after++) {
            g_autofree char *other = nics_text(after, n_gpus, n_nics);

            if (g_strcmp0(nics, other) == 0) {
                g_string_append_printf(out, ", %u", after);
            }
        }
        g_string_append_printf(out, ": NIC %s", nics);
    }
}
