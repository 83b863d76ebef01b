/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_collective.c - one collective over all ranks, repeated: what nccl-tests measure.
 * The player plays it (nccl/player.h); here stands who takes part and with how much.
 */
#include <config.h>

#include "workloads/nccl/player.h"
#include "workloads/work.h"

static void *
collective_new(struct net *net, const struct work_params *params, GError **error)
{
    const struct work_collective *collective = &params->collective;
    int64_t elem_bytes = work_type_bytes((enum work_type)collective->type);
    struct player *player;

    if (params->n_ranks == 0) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u]: no ranks; a collective needs at least one",
                    params->index);
        return NULL;
    }
    if (collective->op != WORK_ALL_REDUCE || collective->algorithm != WORK_RING ||
        collective->protocol != WORK_SIMPLE) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_UNSUPPORTED,
                    "workload[%u]: only all_reduce by ring with protocol simple is "
                    "supported yet",
                    params->index);
        return NULL;
    }
    if (collective->bytes % elem_bytes != 0) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u].bytes is %lld; allowed multiples of the %lld B of an "
                    "element (datatype)",
                    params->index, (long long)collective->bytes, (long long)elem_bytes);
        return NULL;
    }
    player = player_new(net, params, params->rank_host, params->rank_gpu, params->n_ranks,
                        error);
    if (!player) {
        return NULL;
    }
    g_autofree uint32_t *ranks = g_new(uint32_t, params->n_ranks);

    for (uint32_t r = 0; r < params->n_ranks; r++) {
        ranks[r] = r;
    }
    player_add_comm(
        player, &(struct player_comm_spec){.n_ranks = params->n_ranks, .ranks = ranks});
    player_add_op(player, &(struct player_op_spec){.bytes = collective->bytes,
                                                   .elem_bytes = (uint32_t)elem_bytes});
    if (!player_build(player, error)) {
        player_free(player);
        return NULL;
    }
    return player;
}

static void
collective_start(void *state)
{
    player_start(state);
}

static void
collective_unfinished(const void *state, GPtrArray *lines, uint32_t most)
{
    player_unfinished(state, lines, most);
}

static const struct stream_result *
collective_streams(void *state, uint32_t *n)
{
    return player_streams(state, n);
}

static const struct call_result *
collective_calls(void *state, uint32_t *n)
{
    return player_calls(state, n);
}

static void
collective_plan(const void *state, struct work_plan by_qp[])
{
    player_plan(state, by_qp);
}

static int64_t
collective_pipe_bytes(const void *state)
{
    return player_pipe_bytes(state);
}

static void
collective_free(void *state)
{
    player_free(state);
}

const struct work_ops work_collective_ops = {
    .name = "collective",
    .source = "NCCL 2.30.7 (docs/nccl.md); sizes as nccl-tests count them",
    .doc = "one collective over all ranks, as NCCL does it",
    .new = collective_new,
    .start = collective_start,
    .unfinished = collective_unfinished,
    .streams = collective_streams,
    .calls = collective_calls,
    .plan = collective_plan,
    .pipe_bytes = collective_pipe_bytes,
    .free = collective_free,
};
