/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * player_plan.c - what a job is going to send, before it has: for estimates and progress.
 * Reads what player_build() has made.
 */
#include <config.h>

#include "workloads/nccl/player.h"

#include "workloads/nccl/player_state.h"
#include "workloads/nccl/ring_plan.h"

/* Calls of a communicator that send alike. */
struct kind {
    const struct ring_call *call;
    int64_t n;
};

/* The kinds of a communicator's calls, in one round; struct kind. */
static GArray *
kinds_of(const struct player *player, const struct player_comm *comm)
{
    GArray *kinds = g_array_new(FALSE, FALSE, sizeof(struct kind));
    g_autoptr(GHashTable) known =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (uint32_t i = comm->first_op; i != PLAYER_NONE; i = player->ops[i].next) {
        const struct ring_call *call = &player->ops[i].call;
        char *key = g_strdup_printf("%lld %u %u %u", (long long)call->size_bytes,
                                    call->elem_bytes, call->split.channel_lo,
                                    call->split.n_channels);
        gpointer found;

        if (g_hash_table_lookup_extended(known, key, NULL, &found)) {
            g_array_index(kinds, struct kind, GPOINTER_TO_UINT(found)).n++;
            g_free(key);
        } else {
            struct kind kind = {call, 1};

            g_hash_table_insert(known, key, GUINT_TO_POINTER(kinds->len));
            g_array_append_val(kinds, kind);
        }
    }
    return kinds;
}

/* Adds the share of queue pair 'q' of 'n_qps' in 'bytes' and 'n_messages'. */
static void
add_share(struct work_plan *plan, int64_t q, int64_t n_qps, int64_t bytes,
          int64_t n_messages)
{
    plan->bytes += bytes / n_qps + (q < bytes % n_qps);
    plan->n_messages += n_messages / n_qps + (q < n_messages % n_qps);
}

/* Adds what the ranks of 'channel' send to other hosts in 'n' calls of 'plan'. */
static void
add_channel(const struct player *player, const struct player_comm *comm,
            const struct ring_plan *plan, uint32_t channel, int64_t n,
            struct work_plan by_qp[])
{
    const uint32_t *order = comm->rings + (size_t)channel * comm->n_ranks;
    int64_t n_qps = player->params->common.qps;
    int64_t n_messages = n * ring_plan_n_messages(plan);

    for (uint32_t pos = 0; pos < comm->n_ranks; pos++) {
        uint32_t pair = comm->streams_of[ring_conn(comm->ring, order[pos], channel)];
        int64_t bytes = n * ring_plan_sent_bytes(plan, pos);

        for (int64_t q = 0; q < n_qps && pair != PLAYER_NONE; q++) {
            const struct player_stream *data = &comm->streams[(pair + q) * 2];
            const struct player_stream *clear = data + 1;

            add_share(&by_qp[data->qp->id], q, n_qps, bytes,
                      player->splits_data ? n_messages * n_qps : n_messages);
            /* By the first queue pair, one for each message. */
            if (q == 0) {
                by_qp[clear->qp->id].bytes +=
                    n_messages * nccl_version_cts_bytes(player->params->nccl->version);
                by_qp[clear->qp->id].n_messages += n_messages;
            }
        }
    }
}

static void
add_comm(const struct player *player, const struct player_comm *comm,
         struct work_plan by_qp[])
{
    g_autoptr(GArray) kinds = kinds_of(player, comm);

    for (guint i = 0; i < kinds->len; i++) {
        const struct kind *kind = &g_array_index(kinds, struct kind, i);
        const struct ring_call *call = kind->call;

        for (uint32_t k = 0; k < call->split.n_channels; k++) {
            uint32_t channel = call->split.channel_lo + k;
            struct ring_plan plan;

            ring_plan_init(&plan, &call->split, channel, comm->n_ranks, call->elem_bytes,
                           player->params->nccl->buffer_bytes);
            add_channel(player, comm, &plan, channel, kind->n * player->n_rounds, by_qp);
        }
    }
}

void
player_plan(const struct player *player, struct work_plan by_qp[])
{
    for (uint32_t c = 0; c < player->n_comms; c++) {
        if (player->comms[c]->n_ops && player->comms[c]->n_ranks > 1) {
            add_comm(player, player->comms[c], by_qp);
        }
    }
}
