/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * player_build.c - makes a player: places ranks, chooses NICs and channels, asks the
 * network for connections, pipes and timers.  Set-up only; player.c plays.
 */
#include <config.h>

#include "workloads/nccl/player.h"

#include <stdlib.h>
#include <string.h>

#include "sim/mem.h"
#include "workloads/nccl/player_graph.h"
#include "workloads/nccl/player_state.h"

/* Most calls of a workload, rounds counted, times hosts that keep account of them: 1 GiB of
 * spans.  Guess. */
#define MAX_SPANS (INT64_C(1) << 26)

/* ---- ranks ------------------------------------------------------------------------- */

struct player *
player_new(struct net *net, const struct work_params *params, const uint32_t rank_host[],
           const uint32_t rank_gpu[], uint32_t n_ranks, GError **error)
{
    for (uint32_t r = 0; r < n_ranks; r++) {
        if (rank_host[r] >= net->n_hosts || rank_gpu[r] >= params->gpus) {
            g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                        "workload[%u]: rank %u on GPU %u of host %u; there are %u hosts "
                        "with %u GPUs (node.gpus)",
                        params->index, r, rank_gpu[r], rank_host[r], net->n_hosts,
                        params->gpus);
            return NULL;
        }
    }
    struct player *player = g_new0(struct player, 1);

    player->net = net;
    player->params = params;
    player->n_rounds = params->common.repeat;
    player->splits_data = params->nccl->split_data == PARAM_SPECIAL
                              ? nccl_version_splits_data(params->nccl->version)
                              : params->nccl->split_data != 0;
    player->n_ranks = n_ranks;
    player->ranks = mem_zero_lines(n_ranks, sizeof *player->ranks);
    for (uint32_t r = 0; r < n_ranks; r++) {
        struct player_rank *rank = &player->ranks[r];

        rank->player = player;
        rank->host = rank_host[r];
        rank->gpu = rank_gpu[r];
        rank->op = PLAYER_NONE;
    }
    return player;
}

static void
free_comm(struct player_comm *comm)
{
    for (uint32_t i = 0; i < comm->n_parts; i++) {
        g_free(comm->parts[i].nics);
        free(comm->parts[i].spans);
    }
    ring_free(comm->ring);
    g_free(comm->name);
    g_free(comm->ranks);
    g_free(comm->part_of);
    g_free(comm->rings);
    g_free(comm->parts);
    g_free(comm->streams_of);
    free(comm->streams);
    free(comm->lanes);
    g_free(comm);
}

void
player_free(struct player *player)
{
    if (!player) {
        return;
    }
    for (uint32_t c = 0; c < player->n_comms; c++) {
        free_comm(player->comms[c]);
    }
    for (uint32_t r = 0; r < player->n_ranks; r++) {
        g_free(player->ranks[r].members);
        graph_free(player->ranks[r].graph);
    }
    g_free(player->comms);
    free(player->ranks);
    g_free(player->ops);
    g_free(player->nodes);
    g_free(player->calls);
    g_free(player->stream_results);
    g_free(player);
}

/* ---- communicators and operations -------------------------------------------------- */

static uint32_t
part_of_host(struct player_comm *comm, GHashTable *parts, uint32_t host)
{
    gpointer found = g_hash_table_lookup(parts, GUINT_TO_POINTER(host));

    if (!found) {
        comm->parts = g_renew(struct player_part, comm->parts, comm->n_parts + 1);
        comm->parts[comm->n_parts++] = (struct player_part){.host = host};
        found = GUINT_TO_POINTER(comm->n_parts);
        g_hash_table_insert(parts, GUINT_TO_POINTER(host), found);
    }
    return GPOINTER_TO_UINT(found) - 1;
}

void
player_add_comm(struct player *player, const struct player_comm_spec *spec)
{
    g_autoptr(GHashTable) parts = g_hash_table_new(NULL, NULL);
    struct player_comm *comm = g_new0(struct player_comm, 1);

    comm->player = player;
    comm->name = g_strdup(spec->name);
    comm->n_ranks = spec->n_ranks;
    comm->ranks = g_memdup2(spec->ranks, spec->n_ranks * sizeof *spec->ranks);
    comm->part_of = g_new(uint32_t, spec->n_ranks);
    comm->n_channels = spec->n_channels;
    if (spec->rings) {
        comm->rings = g_memdup2(spec->rings, (size_t)spec->n_channels * spec->n_ranks *
                                                 sizeof *spec->rings);
    }
    comm->first_op = PLAYER_NONE;
    comm->last_op = PLAYER_NONE;
    for (uint32_t i = 0; i < spec->n_ranks; i++) {
        struct player_rank *rank = &player->ranks[spec->ranks[i]];

        comm->part_of[i] = part_of_host(comm, parts, rank->host);
        comm->parts[comm->part_of[i]].n_ranks++;
        rank->members = g_renew(struct player_member, rank->members, rank->n_members + 1);
        rank->members[rank->n_members++] =
            (struct player_member){.comm = player->n_comms, .rank = i};
    }
    player->comms = g_renew(struct player_comm *, player->comms, player->n_comms + 1);
    player->comms[player->n_comms++] = comm;
}

void
player_add_op(struct player *player, const struct player_op_spec *spec)
{
    struct player_comm *comm = player->comms[spec->comm];

    if (player->n_ops == player->cap_ops) {
        player->cap_ops = player->cap_ops ? 2 * player->cap_ops : 16;
        player->ops = g_renew(struct player_op, player->ops, player->cap_ops);
    }
    player->ops[player->n_ops] =
        (struct player_op){.spec = *spec, .index = comm->n_ops++, .next = PLAYER_NONE};
    if (comm->first_op == PLAYER_NONE) {
        comm->first_op = player->n_ops;
    } else {
        player->ops[comm->last_op].next = player->n_ops;
    }
    comm->last_op = player->n_ops++;
}

void
player_add_node(struct player *player, const struct player_node_spec *spec)
{
    if (player->n_nodes == player->cap_nodes) {
        player->cap_nodes = player->cap_nodes ? 2 * player->cap_nodes : 16;
        player->nodes =
            g_renew(struct player_node_spec, player->nodes, player->cap_nodes);
    }
    player->nodes[player->n_nodes++] = *spec;
}

/* ---- NICs and channels ------------------------------------------------------------- */

static int
compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The NICs that the GPUs of each part have: the rule of player.h. */
static void
find_nics(const struct player *player, struct player_comm *comm)
{
    uint32_t gpus = player->params->gpus;

    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        const struct player_rank *rank = &player->ranks[comm->ranks[i]];
        struct player_part *part = &comm->parts[comm->part_of[i]];
        uint32_t n = player->net->nodes[player->net->node_of_host[part->host]].n_ports;
        uint32_t each = player_nics_a_gpu(gpus, n);

        for (uint32_t k = 0; k < each && n > 0; k++) {
            uint32_t nic = player_nic_of_gpu(rank->gpu, k, gpus, n);
            bool known = false;

            for (uint32_t j = 0; j < part->n_nics; j++) {
                known = known || part->nics[j] == nic;
            }
            if (!known) {
                part->nics = g_renew(uint32_t, part->nics, part->n_nics + 1);
                part->nics[part->n_nics++] = nic;
            }
        }
    }
    for (uint32_t p = 0; p < comm->n_parts; p++) {
        qsort(comm->parts[p].nics, comm->parts[p].n_nics, sizeof(uint32_t), compare_u32);
    }
}

/* Least NICs of a host; least rate of a ring through all of them, or through a pipe where
 * hosts have several GPUs. */
static uint32_t
narrowest(const struct player *player, const struct player_comm *comm, int64_t *rate_bps)
{
    uint32_t least = UINT32_MAX;

    *rate_bps = INT64_MAX;
    for (uint32_t p = 0; p < comm->n_parts; p++) {
        const struct player_part *part = &comm->parts[p];
        const struct nic *nics = &player->net->nics[player->net->nic_of_host[part->host]];
        int64_t sum_bps = 0;

        least = MIN(least, part->n_nics);
        for (uint32_t k = 0; k < part->n_nics; k++) {
            sum_bps += nics[part->nics[k]].port->rate_bps;
        }
        if (part->n_ranks > 1) {
            /* a pipe of rate 0 takes no time */
            sum_bps =
                player->params->pipe_rate_bps ? player->params->pipe_rate_bps : INT64_MAX;
        }
        *rate_bps = MIN(*rate_bps, sum_bps);
    }
    return least;
}

/* Channels of a communicator of which nothing is known: two a NIC, within bounds. */
static uint32_t
default_channels(const struct work_nccl *nccl, uint32_t n_nics)
{
    int64_t most = nccl->version >= NCCL_VERSION_CODE(2u, 25u, 0u)
                       ? NCCL_MAX_CHANNELS
                       : NCCL_MAX_CHANNELS / 2;
    int64_t n = MAX(2 * (int64_t)n_nics, nccl->min_channels);

    n = MIN(n, MIN(nccl->max_channels, most));
    return (uint32_t)CLAMP(n, 1, NCCL_MAX_CHANNELS);
}

/* Channels that operations are known to use. */
static uint32_t
channels_in_use(const struct player *player, const struct player_comm *comm)
{
    uint32_t n = 0;

    for (uint32_t i = comm->first_op; i != PLAYER_NONE; i = player->ops[i].next) {
        const struct player_op_spec *spec = &player->ops[i].spec;

        if (spec->has_channels) {
            n = MAX(n, spec->channel_hi + 1);
        }
    }
    return n;
}

static const char *
comm_text(const struct player_comm *comm)
{
    return comm->name ? comm->name : "of all";
}

static gboolean
set_rings(const struct player *player, struct player_comm *comm, uint32_t n_nics,
          GError **error)
{
    uint32_t used = channels_in_use(player, comm), given = comm->n_channels;

    if (given == 0) {
        comm->n_channels = MAX(used, default_channels(player->params->nccl, n_nics));
    }
    if (comm->n_channels > NCCL_MAX_CHANNELS || used > comm->n_channels) {
        g_set_error(
            error, WORK_ERROR, WORK_ERROR_RANGE,
            "workload[%u]: communicator %s has %u channels and its operations use "
            "%u; allowed 1 to %d, used within those",
            player->params->index, comm_text(comm), comm->n_channels, used,
            NCCL_MAX_CHANNELS);
        return FALSE;
    }
    if (!comm->rings) {
        comm->rings = g_new(uint32_t, (size_t)comm->n_channels * comm->n_ranks);
        for (size_t i = 0; i < (size_t)comm->n_channels * comm->n_ranks; i++) {
            comm->rings[i] = (uint32_t)(i % comm->n_ranks);
        }
    }
    for (uint32_t c = 0; c < comm->n_channels; c++) {
        if (!ring_order_is_valid(comm->rings + (size_t)c * comm->n_ranks,
                                 comm->n_ranks)) {
            g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                        "workload[%u]: communicator %s: the ring of channel %u does not "
                        "name each rank below %u once",
                        player->params->index, comm_text(comm), c, comm->n_ranks);
            return FALSE;
        }
    }
    return TRUE;
}

/* ---- rings ------------------------------------------------------------------------- */

static gboolean
check_params(const struct work_params *params, GError **error)
{
    const struct work_nccl *nccl = params->nccl;

    if (nccl->buffer_bytes < 8192 || nccl->buffer_bytes % 8192 != 0) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "nccl.NCCL_BUFFSIZE is %lld; allowed multiples of 8192",
                    (long long)nccl->buffer_bytes);
        return FALSE;
    }
    if (params->common.qps < 1 || params->common.qps > RING_MAX_QPS) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u].qps is %lld; an NCCL connection has 1 to %d",
                    params->index, (long long)params->common.qps, RING_MAX_QPS);
        return FALSE;
    }
    if (nccl->n_threads != PARAM_SPECIAL &&
        (nccl->n_threads < 64 || nccl->n_threads > 512 || nccl->n_threads % 32 != 0)) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "nccl.NCCL_NTHREADS is %lld; allowed multiples of 32 from 64 to 512",
                    (long long)nccl->n_threads);
        return FALSE;
    }
    return TRUE;
}

static struct ring_costs
costs_of(const struct work_nccl *nccl)
{
    return (struct ring_costs){.launch_ps = nccl->launch_ps,
                               .copy_bps = MAX(nccl->copy_bps, 0), /* PARAM_SPECIAL: 0 */
                               .reduce_bps = MAX(nccl->reduce_bps, 0),
                               .poll_ps = nccl->poll_ps,
                               .post_ps = nccl->post_ps};
}

static bool
are_costs(const struct ring_costs *costs)
{
    return costs->launch_ps || costs->copy_bps || costs->reduce_bps || costs->poll_ps ||
           costs->post_ps;
}

static void
make_ring(struct player *player, struct player_comm *comm, int64_t rate_bps)
{
    const struct work_nccl *nccl = player->params->nccl;
    g_autofree uint32_t *host = g_new(uint32_t, comm->n_ranks);
    /* NCCL: bandwidth inside the node times channels <= 12 GB/s */
    bool slow = rate_bps <= INT64_C(96000000000);
    struct ring_config config;

    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        host[i] = player->ranks[comm->ranks[i]].host;
    }
    ring_config_init(&config, comm->n_ranks, comm->n_channels);
    config.order = comm->rings;
    config.host = host;
    config.version = nccl->version;
    config.buffer_bytes = nccl->buffer_bytes;
    config.max_threads = nccl->n_threads == PARAM_SPECIAL ? channels_simple_threads(slow)
                                                          : (uint32_t)nccl->n_threads;
    config.n_qps = (uint32_t)player->params->common.qps;
    config.split_data = player->splits_data;
    config.costs = costs_of(nccl);
    comm->ring = ring_new(&config, &player_transport, comm);
}

static void
make_lanes(struct player *player, struct player_comm *comm)
{
    uint32_t n = comm->n_ranks * comm->n_channels;
    struct ring_costs costs = costs_of(player->params->nccl);

    if (!are_costs(&costs)) {
        return;
    }
    comm->lanes = mem_zero_lines(n, sizeof *comm->lanes);
    for (uint32_t i = 0; i < n; i++) {
        for (unsigned t = 0; t < RING_N_TIMERS; t++) {
            comm->lanes[i].timers[t] =
                (struct work_timer){.source = net_new_timer(player->net),
                                    .fire = player_lane_fire,
                                    .ctx = comm};
        }
    }
}

static uint32_t
nic_of(const struct player_comm *comm, uint32_t rank, uint32_t channel)
{
    const struct player_part *part = &comm->parts[comm->part_of[rank]];

    return part->nics[channel % part->n_nics];
}

/* NCCL takes it that NICs in the same place of their hosts meet; it would fail at the first
 * connection where they don't. */
static gboolean
check_rails(const struct player *player, uint32_t channel, uint32_t host_a,
            uint32_t nic_a, uint32_t host_b, uint32_t nic_b, GError **error)
{
    const struct net *net = player->net;
    uint32_t a = net->nic_of_host[host_a] + nic_a, b = net->nic_of_host[host_b] + nic_b;

    if (work_has_route(net, a, b) && work_has_route(net, b, a)) {
        return TRUE;
    }
    g_set_error(
        error, WORK_ERROR, WORK_ERROR_HOSTS,
        "workload[%u]: channel %u connects NIC %u of %s with NIC %u of %s, but no "
        "path joins them; allowed are hosts whose NICs in the same place meet",
        player->params->index, channel, nic_a, net->nodes[net->node_of_host[host_a]].name,
        nic_b, net->nodes[net->node_of_host[host_b]].name);
    return FALSE;
}

/* The queue pairs of connection 'conn' of the ring. */
static gboolean
connect_pair(struct player *player, struct player_comm *comm, uint32_t conn,
             uint32_t index, GError **error)
{
    uint32_t channel = conn % comm->n_channels;
    uint32_t from = ring_conn_sender(comm->ring, conn);
    uint32_t to = ring_conn_receiver(comm->ring, conn);
    uint32_t host_a = player->ranks[comm->ranks[from]].host,
             host_b = player->ranks[comm->ranks[to]].host;
    uint32_t nic_a = nic_of(comm, from, channel), nic_b = nic_of(comm, to, channel);

    if (!check_rails(player, channel, host_a, nic_a, host_b, nic_b, error)) {
        return FALSE;
    }
    uint32_t connection =
        net_connect(player->net, host_a, nic_a, host_b, nic_b, player->params->qos);

    for (unsigned side = 0; side < 2; side++) {
        comm->streams[comm->n_pairs * 2 + side] =
            (struct player_stream){.comm = comm,
                                   .conn = conn,
                                   .index = index,
                                   .connection = connection,
                                   .side = side};
    }
    comm->n_pairs++;
    return TRUE;
}

static gboolean
make_connections(struct player *player, struct player_comm *comm, GError **error)
{
    uint32_t n_qps = (uint32_t)player->params->common.qps;
    uint32_t n_conns = ring_n_conns(comm->ring), n_remote = 0;

    for (uint32_t i = 0; i < n_conns; i++) {
        n_remote += !ring_conn_is_local(comm->ring, i);
    }
    comm->streams_of = g_new(uint32_t, n_conns);
    comm->streams = mem_zero_lines((size_t)n_remote * n_qps * 2, sizeof *comm->streams);
    for (uint32_t i = 0; i < n_conns; i++) {
        bool local = ring_conn_is_local(comm->ring, i);

        comm->streams_of[i] = local ? PLAYER_NONE : comm->n_pairs;
        for (uint32_t k = 0; k < n_qps && !local; k++) {
            if (!connect_pair(player, comm, i, k, error)) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

/* The call of an operation: as many channels as are known to do it, else as NCCL decides.
 * Calls of one group share channels; from what is known of each that is seen. */
static gboolean
make_call(const struct player *player, struct player_op *op, GError **error)
{
    const struct player_op_spec *spec = &op->spec;
    const struct player_comm *comm = player->comms[spec->comm];

    if (spec->bytes < 0 || spec->bytes % spec->elem_bytes != 0) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u]: an all_reduce of %lld B; allowed multiples of its "
                    "elements of %u B",
                    player->params->index, (long long)spec->bytes, spec->elem_bytes);
        return FALSE;
    }
    if (spec->has_channels) {
        ring_call_init_on(comm->ring, &op->call, spec->bytes, spec->elem_bytes,
                          spec->channel_lo, spec->channel_hi);
    } else {
        ring_call_init(comm->ring, &op->call, spec->bytes, spec->elem_bytes);
    }
    return TRUE;
}

static gboolean
build_comm(struct player *player, struct player_comm *comm, GError **error)
{
    size_t n_spans = (size_t)player->n_rounds * comm->n_ops;
    int64_t rate_bps;
    uint32_t n_nics;

    find_nics(player, comm);
    n_nics = narrowest(player, comm, &rate_bps);
    if (n_nics == 0 && comm->n_parts > 1) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u]: communicator %s has ranks on a host without a link",
                    player->params->index, comm_text(comm));
        return FALSE;
    }
    if (!set_rings(player, comm, n_nics, error)) {
        return FALSE;
    }
    make_ring(player, comm, rate_bps);
    if (!make_connections(player, comm, error)) {
        return FALSE;
    }
    make_lanes(player, comm);
    for (uint32_t p = 0; p < comm->n_parts; p++) {
        comm->parts[p].spans = mem_zero_lines(n_spans, sizeof *comm->parts[p].spans);
        for (size_t i = 0; i < n_spans; i++) {
            comm->parts[p].spans[i].start_ps = TIME_NEVER_PS;
        }
    }
    return TRUE;
}

static gboolean
check_spans(const struct player *player, GError **error)
{
    __int128 n = (__int128)player->n_ops * player->n_rounds;

    for (uint32_t c = 0; c < player->n_comms; c++) {
        n += (__int128)player->comms[c]->n_parts * player->comms[c]->n_ops *
             player->n_rounds;
    }
    if (n > MAX_SPANS) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                    "workload[%u]: %u operations, repeated %lld times, are more than can "
                    "be accounted for; calls times hosts may be %lld",
                    player->params->index, player->n_ops, (long long)player->n_rounds,
                    (long long)MAX_SPANS);
        return FALSE;
    }
    return TRUE;
}

static void
make_rank(struct player *player, struct player_rank *rank)
{
    /* A pipe takes at least 1 ps, so that nothing arrives at the moment it leaves; a slice
     * takes two. */
    int64_t latency_ps = MAX(player->params->pipe_latency_ps, 2);

    rank->timer = (struct work_timer){
        .source = net_new_timer(player->net), .fire = player_rank_fire, .ctx = rank};
    rank->out = (struct pipe){.rate_bps = player->params->pipe_rate_bps,
                              .latency_ps = 1,
                              .id = net_new_pipe(player->net)};
    rank->in =
        (struct pipe){.latency_ps = latency_ps - 1, .id = net_new_pipe(player->net)};
    rank->credit =
        (struct pipe){.latency_ps = latency_ps, .id = net_new_pipe(player->net)};
}

gboolean
player_build(struct player *player, GError **error)
{
    if (!check_params(player->params, error) || !check_spans(player, error)) {
        return FALSE;
    }
    for (uint32_t r = 0; r < player->n_ranks; r++) {
        make_rank(player, &player->ranks[r]);
    }
    for (uint32_t c = 0; c < player->n_comms; c++) {
        if (player->comms[c]->n_ops > 0 && !build_comm(player, player->comms[c], error)) {
            return FALSE;
        }
    }
    for (uint32_t i = 0; i < player->n_ops; i++) {
        if (!make_call(player, &player->ops[i], error)) {
            return FALSE;
        }
    }
    return graph_build(player, error);
}
