/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_collective.c - rings on networks: time against the bound (K42), bytes on every
 * link, several ranks a host, queue pairs, rounds and gaps, what is said of a ring that
 * stands still, and a trace.
 *
 * Source: K42, a ring all_reduce takes at least 2 (n - 1) / n S / B and at most 2 (n - 1)
 * step latencies more, 1 % above that for large S (Patarasuk and Yuan, 2009); NCCL 2.30.7
 * as docs/nccl.md restates it.
 */
#include <config.h>

#include "workloads/nccl/player.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include <glib/gstdio.h>

#include "tests/support/rig.h"
#include "workloads/nccl/player_state.h"

#define RATE (100 * GBPS)
#define DELAY (25 * PS_PER_NS)
#define KIB INT64_C(1024)
#define MIB (KIB * KIB)

/* A full packet of 4096 B and its room on the wire: K4. */
#define PACKET_BYTES 4096
#define WIRE_BYTES 4178

#define CTS_BYTES 64

static const struct work_nccl nccl_defaults = {
    .min_channels = 1,
    .max_channels = 64,
    .buffer_bytes = 4 * MIB,
    .n_threads = PARAM_SPECIAL,
    .qps = 1,
    .split_data = PARAM_SPECIAL,
    .copy_bps = PARAM_SPECIAL,
    .reduce_bps = PARAM_SPECIAL,
    .version = 23007,
};

struct job {
    struct rig rig;
    struct work_nccl nccl;
    struct work_params params;
    struct work *work;
};

/* ---- making ---------------------------------------------------------------------------- */

static void
job_params(struct job *job, enum work_kind kind, uint32_t gpus)
{
    uint32_t n_hosts = job->rig.net->n_hosts, n = n_hosts * gpus;

    job->nccl = nccl_defaults;
    job->params = (struct work_params){
        .kind = kind,
        .common = {.repeat = 1, .qps = 1},
        .hosts = g_new(uint32_t, n_hosts),
        .n_hosts = n_hosts,
        .gpus = gpus,
        .nics = 1,
        .collective = {.bytes = MIB, .type = WORK_FP32},
        .rank_host = g_new(uint32_t, n),
        .rank_gpu = g_new(uint32_t, n),
        .n_ranks = n,
        .nccl = &job->nccl,
        .pipe_rate_bps = 450 * 8 * GBPS,
        .pipe_latency_ps = PS_PER_US,
    };
    for (uint32_t h = 0; h < n_hosts; h++) {
        job->params.hosts[h] = h;
    }
    for (uint32_t r = 0; r < n; r++) {
        job->params.rank_host[r] = r / gpus;
        job->params.rank_gpu[r] = r % gpus;
    }
}

/* 'n_hosts' on one switch. */
static void
job_star(struct job *job, uint32_t n_hosts, uint32_t gpus)
{
    rig_init(&job->rig, 1);
    rig_star(&job->rig, n_hosts, RATE, DELAY);
    rig_build(&job->rig);
    job_params(job, WORK_COLLECTIVE, gpus);
    job->work = NULL;
}

/* Hosts with 'nics' links each to one switch. */
static void
job_star_nics(struct job *job, uint32_t n_hosts, uint32_t gpus, uint32_t nics)
{
    const struct link_params link = {.rate_bps = RATE, .delay_ps = DELAY};

    rig_init(&job->rig, 1);
    rig_star(&job->rig, n_hosts, RATE, DELAY);
    for (uint32_t i = 0; i < n_hosts * (nics - 1); i++) {
        net_add_link(job->rig.net, i % n_hosts, n_hosts, &link);
    }
    rig_build(&job->rig);
    job_params(job, WORK_COLLECTIVE, gpus);
    job->work = NULL;
}

static void
job_new(struct job *job)
{
    GError *error = NULL;

    job->work = work_new(job->rig.net, &job->params, &error);
    if (error) {
        fail_msg("%s", error->message);
    }
}

static struct player *
player_of(const struct job *job)
{
    return job->work->state;
}

static void
job_run(struct job *job, enum partition_mode partition, uint32_t n_threads)
{
    rig_start(&job->rig, partition, n_threads);
    work_start(job->work);
    rig_run(&job->rig, TIME_NEVER_PS);
    if (job->params.kind == WORK_COLLECTIVE) {
        player_check(player_of(job));
    }
}

static void
job_play(struct job *job)
{
    job_new(job);
    job_run(job, PARTITION_ONE, 1);
    assert_int_equal(job->rig.net->end, NET_END_DONE);
}

static void
job_clear(struct job *job)
{
    work_free(job->work);
    rig_clear(&job->rig);
    g_free(job->params.hosts);
    g_free(job->params.rank_host);
    g_free(job->params.rank_gpu);
}

static const struct call_result *
calls_of(const struct job *job, uint32_t n_expected)
{
    uint32_t n;
    const struct call_result *calls = job->work->ops->calls(job->work->state, &n);

    assert_int_equal(n, n_expected);
    return calls;
}

static int64_t
took_ps(const struct call_result *call)
{
    assert_true(call->start_ps != TIME_NEVER_PS && call->end_ps != TIME_NEVER_PS);
    return call->end_ps - call->start_ps;
}

/* Payload that the QPs of 'host' have sent. */
static int64_t
payload_of(const struct job *job, uint32_t host)
{
    const struct net *net = job->rig.net;
    int64_t sum = 0;

    for (uint32_t i = 0; i < net->n_connections; i++) {
        for (unsigned side = 0; side < 2; side++) {
            if (net->connections[i].host[side] == host) {
                sum += net_qp(net, i, side)->payload_sent;
            }
        }
    }
    return sum;
}

/* Sums over the streams from 'host'. */
static struct stream_result
streams_of(const struct job *job, uint32_t host, unsigned side)
{
    uint32_t n;
    const struct stream_result *streams = job->work->ops->streams(job->work->state, &n);
    struct stream_result sum = {.src_host = host};

    for (uint32_t i = 0; i < n; i++) {
        if (streams[i].src_host == host && streams[i].side == side) {
            sum.n_messages += streams[i].n_messages;
            sum.bytes += streams[i].bytes;
            sum.sum_ps += streams[i].sum_ps;
        }
    }
    return sum;
}

/* ---- against the bound ----------------------------------------------------------------- */

/* 2 (n - 1) / n S over the payload rate, all of it through one link. */
static int64_t
k42_ps(int64_t n, int64_t bytes)
{
    return (int64_t)((__int128)bytes * 2 * (n - 1) * WIRE_BYTES * 8 * PS_PER_S /
                     ((__int128)n * PACKET_BYTES * RATE));
}

/* K42, 1 GiB: 153.333 ms with headers; never below, at most 1 % above. */
static void
k42_large(void **state)
{
    struct job job;

    (void)state;
    job_star(&job, 8, 1);
    job.params.collective.bytes = 1024 * MIB;
    job_play(&job);
    const struct call_result *call = calls_of(&job, 1);

    assert_int_equal((call->bound_ps + 500000) / 1000000, 153333);
    assert_in_range(call->bound_ps, k42_ps(8, 1024 * MIB) - 1, k42_ps(8, 1024 * MIB));
    assert_in_range(took_ps(call), call->bound_ps, call->bound_ps + call->bound_ps / 100);
    assert_int_equal(call->n_ranks, 8);
    assert_int_equal(call->bytes, 1024 * MIB);
    assert_int_equal(call->bus_num * 4, call->bus_den * 7);
    assert_string_equal(call->op, "all_reduce");
    assert_string_equal(call->algorithm, "ring");
    assert_string_equal(call->protocol, "simple");
    job_clear(&job);
}

/* From the first bit of a message to the first bit of the next rank's, beyond what the
 * bound counts: two cables, the switch, which stores a packet, and what a message has more
 * than its packets: RETH, immediate, the padding of its last packet, and the empty slice
 * behind it. */
static int64_t
step_latency_ps(void)
{
    const int64_t byte_ps = 8 * PS_PER_S / RATE;

    return 2 * DELAY + 300 * PS_PER_NS + (WIRE_BYTES + 2 * 102 + 102) * byte_ps;
}

/* K42 for sizes of a single loop: each of the 2 (n - 1) steps adds its latency, and so do
 * the first clear-to-send and the credits of a rank's own start. */
static void
k42_small(void **state)
{
    const int64_t n_ranks[] = {2, 3, 8};
    const int64_t sizes[] = {4, 4 * KIB, 60 * KIB, 3 * 512 * KIB, 3 * MIB};

    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(n_ranks); i++) {
        for (unsigned k = 0; k < G_N_ELEMENTS(sizes); k++) {
            struct job job;

            job_star(&job, (uint32_t)n_ranks[i], 1);
            job.nccl.max_channels = 1;
            job.params.collective.bytes = sizes[k];
            job_play(&job);
            const struct call_result *call = calls_of(&job, 1);
            /* A chunk is a whole number of 16 B: small sizes are not cut evenly. */
            int64_t least_ps = sizes[k] < 4 * KIB ? 0 : k42_ps(n_ranks[i], sizes[k]);

            assert_in_range(call->bound_ps, least_ps * 99 / 100, INT64_MAX);
            assert_in_range(took_ps(call), call->bound_ps,
                            call->bound_ps + 2 * n_ranks[i] * step_latency_ps());
            job_clear(&job);
        }
    }
}

/* Every host sends 2 (n - 1) / n S of data, and a clear-to-send for each message that it
 * gets; the links carry nothing else but ACKs. */
static void
bytes_on_links(void **state)
{
    struct job job;
    int64_t data_bytes = 2 * 7 * 48 * MIB / 8;

    (void)state;
    job_star(&job, 8, 1);
    job.params.collective.bytes = 48 * MIB;
    job_play(&job);
    assert_int_equal(job.rig.net->n_connections, 16); /* two channels a NIC */
    for (uint32_t h = 0; h < 8; h++) {
        struct stream_result data = streams_of(&job, h, 0);
        struct stream_result cts = streams_of(&job, h, 1);
        /* 2 channels of 24 MiB: 2 loops of 8 chunks of 2 MiB, cut into equal slices but
         * for the last loop's of 1 MiB. */
        int64_t n_messages = 2 * 2 * 14 * 2;

        assert_int_equal(data.bytes, data_bytes);
        assert_int_equal(data.n_messages, n_messages);
        assert_int_equal(cts.n_messages, n_messages);
        assert_int_equal(cts.bytes, CTS_BYTES * n_messages);
        assert_int_equal(payload_of(&job, h), data_bytes + CTS_BYTES * n_messages);
        assert_true(data.sum_ps > 0 && cts.sum_ps > 0);
        const struct port *port = job.rig.net->nics[h].port;
        int64_t n_acks = job.rig.net->nics[h].acks_sent;

        assert_int_equal(port->out[3].tx_pkts,
                         data_bytes / PACKET_BYTES + n_messages + n_acks);
    }
    job_clear(&job);
}

/* Two NICs halve the time; the channels stay on their rail. */
static void
two_nics(void **state)
{
    struct job job;

    (void)state;
    job_star_nics(&job, 4, 1, 2);
    job.params.collective.bytes = 256 * MIB;
    job_play(&job);
    const struct call_result *call = calls_of(&job, 1);

    assert_int_equal(job.rig.net->n_connections, 4 * 4);
    for (uint32_t i = 0; i < job.rig.net->n_connections; i++) {
        const struct net_connection *c = &job.rig.net->connections[i];

        assert_int_equal(c->nic[0], i % 2);
        assert_int_equal(c->nic[1], i % 2);
    }
    assert_in_range(call->bound_ps, k42_ps(4, 128 * MIB) - 1, k42_ps(4, 128 * MIB));
    assert_in_range(took_ps(call), call->bound_ps, call->bound_ps + call->bound_ps / 100);
    job_clear(&job);
}

/* Half of the hosts behind a fabric link of half the rate each way: that link decides. */
static void
narrow_fabric(void **state)
{
    const struct link_params host = {.rate_bps = RATE, .delay_ps = DELAY};
    const struct link_params fabric = {.rate_bps = RATE / 2, .delay_ps = DELAY};
    struct job job;

    (void)state;
    rig_init(&job.rig, 1);
    rig_leaf_spine(&job.rig, 4, 2, 1, &host, &fabric);
    rig_build(&job.rig);
    job_params(&job, WORK_COLLECTIVE, 1);
    job.params.collective.bytes = 64 * MIB;
    job_play(&job);
    const struct call_result *call = calls_of(&job, 1);

    assert_in_range(call->bound_ps, 2 * k42_ps(4, 64 * MIB) - 2, 2 * k42_ps(4, 64 * MIB));
    assert_in_range(took_ps(call), call->bound_ps, call->bound_ps + call->bound_ps / 50);
    job_clear(&job);
}

/* ---- several ranks a host -------------------------------------------------------------- */

/* Of a ring over 2 hosts x 4 GPUs in order of rank, 2 of 8 edges cross. */
static void
ranks_of_a_host(void **state)
{
    struct job job;
    int64_t each_bytes = 2 * 7 * 32 * MIB / 8;

    (void)state;
    job_star_nics(&job, 2, 4, 2);
    job.params.collective.bytes = 32 * MIB;
    job_play(&job);
    const struct call_result *call = calls_of(&job, 1);

    assert_int_equal(call->n_ranks, 8);
    assert_int_equal(job.rig.net->n_connections, 2 * 4);
    assert_int_equal(streams_of(&job, 0, 0).bytes, each_bytes);
    assert_int_equal(streams_of(&job, 1, 0).bytes, each_bytes);
    assert_int_equal(player_pipe_bytes(player_of(&job)), 6 * each_bytes);
    assert_in_range(call->bound_ps, k42_ps(8, 16 * MIB) - 1, k42_ps(8, 16 * MIB));
    assert_in_range(took_ps(call), call->bound_ps, call->bound_ps * 115 / 100);
    job_clear(&job);
}

/* One host: pipes alone.  A slice takes the pipe for its bytes and arrives its latency
 * later. */
static void
inside_a_host(void **state)
{
    struct job job;
    int64_t pipe_ps = 2 * 7 * (64 * MIB / 8) * 8 * (PS_PER_S / GBPS) / (450 * 8);

    (void)state;
    job_star(&job, 1, 8);
    job.params.collective.bytes = 64 * MIB;
    job_play(&job);
    const struct call_result *call = calls_of(&job, 1);

    assert_int_equal(job.rig.net->n_connections, 0);
    assert_in_range(call->bound_ps, pipe_ps - 1, pipe_ps + 1);
    assert_in_range(took_ps(call), call->bound_ps + PS_PER_US, call->bound_ps * 12 / 10);
    assert_int_equal(rig_sum(&job.rig).tx_pkts, 0);
    job_clear(&job);

    /* 4 B over 2 ranks: of the three operations two wait for data; the way out of a GPU
     * carries 4 B, then nothing. */
    job_star(&job, 1, 2);
    job.params.collective.bytes = 4;
    job.params.pipe_rate_bps = 8 * GBPS / 1000; /* 1 us a byte */
    job_play(&job);
    assert_int_equal(took_ps(calls_of(&job, 1)),
                     2 * job.params.pipe_latency_ps + 2 * 4 * PS_PER_US);
    job_clear(&job);
}

/* Two rings in opposite directions: each GPU sends to two others and hears from two, and
 * all that leaves it, or comes to it, shares one way. */
static void
pipes_are_shared(void **state)
{
    const uint32_t ranks[] = {0, 1, 2}, rings[] = {0, 1, 2, 0, 2, 1};
    int64_t pipe_ps = 2 * 2 * (48 * MIB / 3) * 8 * (PS_PER_S / GBPS) / (450 * 8);
    GError *error = NULL;
    struct job job;
    struct player *player;
    uint32_t n;

    (void)state;
    job_star(&job, 1, 3);
    player = player_new(job.rig.net, &job.params, job.params.rank_host,
                        job.params.rank_gpu, 3, &error);
    assert_non_null(player);
    player_add_comm(player,
                    &(struct player_comm_spec){
                        .n_ranks = 3, .ranks = ranks, .n_channels = 2, .rings = rings});
    player_add_op(player, &(struct player_op_spec){.bytes = 48 * MIB, .elem_bytes = 1});
    assert_true(player_build(player, &error));
    rig_start(&job.rig, PARTITION_ONE, 1);
    player_start(player);
    rig_run(&job.rig, TIME_NEVER_PS);
    assert_int_equal(job.rig.net->end, NET_END_DONE);
    player_check(player);
    const struct call_result *call = player_calls(player, &n);

    assert_int_equal(n, 1);
    assert_in_range(call->bound_ps, pipe_ps - 1, pipe_ps + 1);
    assert_in_range(took_ps(call), call->bound_ps, call->bound_ps * 14 / 10);
    player_free(player);
    job_clear(&job);
}

/* Two communicators over the same ranks, and one over some: a rank does its calls one
 * after the other in the order of the list, whoever else is in them. */
static void
communicators(void **state)
{
    const uint32_t all[] = {0, 1, 2, 3}, odd[] = {3, 1};
    const uint32_t order[] = {0, 1, 2, 1, 0};
    GError *error = NULL;
    struct job job;
    struct player *player;
    uint32_t n;

    (void)state;
    job_star(&job, 4, 1);
    player = player_new(job.rig.net, &job.params, job.params.rank_host,
                        job.params.rank_gpu, 4, &error);
    player_add_comm(player, &(struct player_comm_spec){.n_ranks = 4, .ranks = all});
    player_add_comm(player, &(struct player_comm_spec){.n_ranks = 2, .ranks = odd});
    player_add_comm(player, &(struct player_comm_spec){.n_ranks = 4, .ranks = all});
    player_add_comm(player, &(struct player_comm_spec){.n_ranks = 2, .ranks = all});
    for (unsigned i = 0; i < G_N_ELEMENTS(order); i++) {
        player_add_op(player, &(struct player_op_spec){
                                  .comm = order[i], .bytes = MIB, .elem_bytes = 4});
    }
    assert_true(player_build(player, &error));
    /* the last one has no operation, and takes no connection */
    assert_int_equal(job.rig.net->n_connections, 2 * (4 + 2 + 4));
    rig_start(&job.rig, PARTITION_NODE, 1);
    player_start(player);
    rig_run(&job.rig, TIME_NEVER_PS);
    assert_int_equal(job.rig.net->end, NET_END_DONE);
    player_check(player);
    const struct call_result *calls = player_calls(player, &n);

    assert_int_equal(n, 5);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(calls[i].n_ranks, order[i] == 1 ? 2 : 4);
        assert_in_range(took_ps(&calls[i]), calls[i].bound_ps, 3 * calls[i].bound_ps);
    }
    /* ranks 0 and 2 go to call 2 at once, 1 and 3 do call 1 before */
    assert_true(calls[2].start_ps < calls[1].end_ps);
    assert_true(calls[2].end_ps > calls[1].end_ps + calls[2].bound_ps / 2);
    assert_true(calls[4].end_ps > calls[3].end_ps);
    player_free(player);
    job_clear(&job);
}

/* GPU g of G has NIC g mod n; with more NICs than GPUs several.  A communicator's channels
 * take those of its GPUs in turn. */
static void
which_nic(void **state)
{
    const struct {
        uint32_t gpus, nics, n_of_host, first_gpu;
        uint32_t expected[4]; /* by channel */
    } cases[] = {
        {4, 4, 4, 0, {0, 1, 2, 3}}, {8, 2, 8, 0, {0, 1, 0, 1}},
        {4, 4, 1, 2, {2, 2, 2, 2}}, {4, 2, 1, 3, {1, 1, 1, 1}},
        {1, 3, 1, 0, {0, 1, 2, 0}}, {2, 4, 1, 1, {2, 3, 2, 3}},
        {4, 4, 2, 1, {1, 2, 1, 2}},
    };

    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        uint32_t k = cases[i].n_of_host, host[16], gpu[16], ranks[16];
        GError *error = NULL;
        struct player *player;
        struct job job;

        job_star_nics(&job, 2, cases[i].gpus, cases[i].nics);
        for (uint32_t r = 0; r < 2 * k; r++) {
            ranks[r] = r;
            host[r] = r / k;
            gpu[r] = cases[i].first_gpu + r % k;
        }
        player = player_new(job.rig.net, &job.params, host, gpu, 2 * k, &error);
        player_add_comm(player, &(struct player_comm_spec){
                                    .n_ranks = 2 * k, .ranks = ranks, .n_channels = 4});
        player_add_op(player, &(struct player_op_spec){.bytes = 4, .elem_bytes = 4});
        assert_true(player_build(player, &error));
        assert_int_equal(job.rig.net->n_connections, 2 * 4);
        for (uint32_t c = 0; c < 8; c++) {
            assert_int_equal(job.rig.net->connections[c].nic[0],
                             cases[i].expected[c % 4]);
            assert_int_equal(job.rig.net->connections[c].nic[1],
                             cases[i].expected[c % 4]);
        }
        player_free(player);
        job_clear(&job);
    }
}

/* Channels by default two a NIC, within NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS. */
static void
how_many_channels(void **state)
{
    const struct {
        int64_t least, most;
        uint32_t nics, version, expected;
    } cases[] = {{1, 64, 1, 23007, 2},  {1, 64, 3, 23007, 6},   {5, 64, 1, 23007, 5},
                 {1, 1, 3, 23007, 1},   {64, 64, 1, 23007, 64}, {64, 64, 1, 22400, 32},
                 {1, 64, 40, 23007, 64}};

    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct job job;

        job_star_nics(&job, 2, 1, cases[i].nics);
        job.nccl.min_channels = cases[i].least;
        job.nccl.max_channels = cases[i].most;
        job.nccl.version = cases[i].version;
        job_new(&job);
        assert_int_equal(job.rig.net->n_connections, 2 * cases[i].expected);
        job_clear(&job);
    }
}

/* ---- queue pairs, rounds, costs -------------------------------------------------------- */

/* With split data all queue pairs carry the same; without they take turns. */
static void
queue_pairs(void **state)
{
    const uint32_t versions[] = {23007, 21900};
    const int64_t n_qps[] = {2, 3, 8, 64};

    (void)state;
    for (unsigned i = 0; i < 2 * G_N_ELEMENTS(n_qps); i++) {
        int64_t n = n_qps[i / 2], least = INT64_MAX, most = 0, sum = 0;
        uint32_t n_streams;
        struct job job;

        job_star(&job, 4, 1);
        job.nccl.version = versions[i % 2];
        job.params.common.qps = n;
        job.params.common.repeat = 2;
        job.params.collective.bytes = 24 * MIB;
        job_play(&job);
        const struct call_result *calls = calls_of(&job, 2);
        const struct stream_result *streams =
            job.work->ops->streams(job.work->state, &n_streams);

        assert_int_equal(job.rig.net->n_connections, 4 * 2 * n);
        assert_int_equal(n_streams, 4 * 2 * (n + 1));
        for (uint32_t k = 0; k < n_streams; k++) {
            if (streams[k].side == 0) {
                least = MIN(least, streams[k].bytes);
                most = MAX(most, streams[k].bytes);
                sum += streams[k].bytes;
            }
        }
        assert_int_equal(sum, 2 * 4 * 2 * 3 * 24 * MIB / 4);
        if (i % 2 == 1) {
            /* at most 128 B a message more than the others have */
            assert_true(most - least <= 4 * 6 * 2 * 128 * n);
        } else {
            assert_true(most - least <= MIB || n == 64);
        }
        for (unsigned c = 0; c < 2; c++) {
            assert_in_range(calls[c].bound_ps, k42_ps(4, 24 * MIB) - 1,
                            k42_ps(4, 24 * MIB));
            assert_in_range(took_ps(&calls[c]), calls[c].bound_ps,
                            calls[c].bound_ps * 105 / 100);
        }
        job_clear(&job);
    }
}

/* Two parallel fabric links: the bound counts what each queue pair carries on its own way,
 * so that no call is faster, however the paths collide. */
static void
bound_by_path(void **state)
{
    const struct link_params link = {.rate_bps = RATE, .delay_ps = DELAY};
    int64_t least = INT64_MAX, most = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct job job;

        rig_init(&job.rig, seed);
        rig_leaf_spine(&job.rig, 4, 2, 2, &link, &link);
        rig_build(&job.rig);
        job_params(&job, WORK_COLLECTIVE, 1);
        job.params.common.qps = 3;
        job.params.common.repeat = 2;
        job.params.collective.bytes = 8 * MIB;
        /* 0 2 1 3: every edge crosses, two up and two down each leaf */
        job.params.rank_host[1] = 2;
        job.params.rank_host[2] = 1;
        job_play(&job);
        const struct call_result *calls = calls_of(&job, 2);

        for (unsigned c = 0; c < 2; c++) {
            assert_in_range(took_ps(&calls[c]), calls[c].bound_ps,
                            calls[c].bound_ps * 125 / 100);
            least = MIN(least, calls[c].bound_ps);
            most = MAX(most, calls[c].bound_ps);
        }
        job_clear(&job);
    }
    assert_true(least >= k42_ps(4, 8 * MIB) - 1);
    assert_true(most > least);
    assert_true(most <= 2 * k42_ps(4, 8 * MIB));
}

/* A rank begins its next round 'gap' after it has itself ended the one before. */
static void
rounds(void **state)
{
    struct job job;

    (void)state;
    job_star(&job, 3, 1);
    job.params.common.start_ps = 5 * PS_PER_US;
    job.params.common.repeat = 4;
    job.params.common.gap_ps = 30 * PS_PER_US;
    job.params.collective.bytes = 3 * 4 * KIB;
    job_play(&job);
    const struct call_result *calls = calls_of(&job, 4);

    assert_int_equal(calls[0].start_ps, 5 * PS_PER_US);
    for (unsigned i = 1; i < 4; i++) {
        /* ranks end within a step of each other */
        assert_in_range(calls[i].start_ps,
                        calls[i - 1].end_ps + 30 * PS_PER_US - 2 * step_latency_ps(),
                        calls[i - 1].end_ps + 30 * PS_PER_US);
        assert_int_equal(took_ps(&calls[i]) / PS_PER_US, took_ps(&calls[1]) / PS_PER_US);
    }
    job_clear(&job);
}

/* Launch delays a call by as much; a slow block makes the copy the bottleneck; posting and
 * polling add to every step. */
static void
costs(void **state)
{
    int64_t free_ps, with_ps;
    struct job job;

    (void)state;
    job_star(&job, 4, 1);
    job.params.collective.bytes = 16 * KIB;
    job_play(&job);
    free_ps = took_ps(calls_of(&job, 1));
    job_clear(&job);

    job_star(&job, 4, 1);
    job.params.collective.bytes = 16 * KIB;
    job.nccl.launch_ps = 7 * PS_PER_US;
    job_play(&job);
    with_ps = took_ps(calls_of(&job, 1));
    /* the clear-to-send are there when the first data are: they left at the call */
    assert_in_range(with_ps, free_ps + 6 * PS_PER_US, free_ps + 7 * PS_PER_US);
    job_clear(&job);

    job_star(&job, 4, 1);
    job.params.collective.bytes = 16 * KIB;
    job.nccl.poll_ps = PS_PER_US;
    job.nccl.post_ps = PS_PER_US;
    job_play(&job);
    with_ps = took_ps(calls_of(&job, 1));
    assert_in_range(with_ps, free_ps + 6 * 2 * PS_PER_US, free_ps + 6 * 8 * PS_PER_US);
    job_clear(&job);

    job_star(&job, 4, 1);
    job.params.collective.bytes = 32 * MIB;
    job.nccl.copy_bps = 10 * GBPS;
    job.nccl.reduce_bps = 10 * GBPS;
    job_play(&job);
    /* two channels; each rank handles 2 n - 1 chunks of every n */
    with_ps = 32 * MIB / 2 * 7 / 4 * 8 * (PS_PER_S / GBPS) / 10;
    assert_in_range(took_ps(calls_of(&job, 1)), with_ps, with_ps * 11 / 10);
    job_clear(&job);
}

/* Nothing to do is done at once. */
static void
nothing_to_do(void **state)
{
    struct job job;

    (void)state;
    job_star(&job, 2, 1);
    job.params.n_ranks = 1;
    job.params.common.repeat = 3;
    job.params.common.gap_ps = PS_PER_US;
    job_play(&job);
    const struct call_result *calls = calls_of(&job, 3);

    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(calls[i].start_ps, i * PS_PER_US);
        assert_int_equal(took_ps(&calls[i]), 0);
        assert_int_equal(calls[i].bound_ps, 0);
        assert_int_equal(calls[i].bus_num, 0);
    }
    job_clear(&job);

    job_star(&job, 2, 1);
    job.params.collective.bytes = 0;
    job.params.common.repeat = 3;
    job_play(&job);
    assert_int_equal(calls_of(&job, 3)[2].end_ps, 0);
    job_clear(&job);
}

/* ---- the same under any partition ------------------------------------------------------ */

static uint64_t
digest(enum partition_mode partition, uint32_t n_threads, struct call_result calls[3])
{
    const struct link_params host = {.rate_bps = RATE, .delay_ps = DELAY};
    const struct link_params fabric = {.rate_bps = RATE, .delay_ps = 2 * DELAY};
    struct job job;
    uint64_t hash;

    rig_init(&job.rig, 7);
    job.rig.nic.jitter_ps = -1;
    job.rig.cc_name = "dcqcn";
    rig_leaf_spine(&job.rig, 8, 4, 2, &host, &fabric);
    rig_build(&job.rig);
    job_params(&job, WORK_COLLECTIVE, 2);
    job.params.collective.bytes = 6 * MIB + 4;
    job.params.common.repeat = 3;
    job.params.common.qps = 2;
    job.nccl.poll_ps = 700 * PS_PER_NS;
    job.nccl.post_ps = 300 * PS_PER_NS;
    job.nccl.copy_bps = 200 * GBPS;
    job.nccl.reduce_bps = 150 * GBPS;
    job_new(&job);
    job_run(&job, partition, n_threads);
    assert_int_equal(job.rig.net->end, NET_END_DONE);
    memcpy(calls, calls_of(&job, 3), 3 * sizeof *calls);
    hash = rig_digest(&job.rig);
    job_clear(&job);
    return hash;
}

static void
same_under_partitions(void **state)
{
    struct call_result first[3], other[3];
    uint64_t hash = digest(PARTITION_ONE, 1, first);

    (void)state;
    for (enum partition_mode mode = PARTITION_ONE; mode <= PARTITION_NODE; mode++) {
        for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
            assert_true(digest(mode, n_threads, other) == hash);
            for (unsigned i = 0; i < 3; i++) {
                assert_int_equal(other[i].start_ps, first[i].start_ps);
                assert_int_equal(other[i].end_ps, first[i].end_ps);
                assert_int_equal(other[i].bound_ps, first[i].bound_ps);
            }
        }
    }
}

/* ---- a ring that stands still ---------------------------------------------------------- */

static GPtrArray *
unfinished(const struct job *job, uint32_t most)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

    job->work->ops->unfinished(job->work->state, lines, most);
    return lines;
}

static bool
has_line(const GPtrArray *lines, const char *text)
{
    for (guint i = 0; i < lines->len; i++) {
        if (strstr(g_ptr_array_index(lines, i), text)) {
            return true;
        }
    }
    return false;
}

static void
lose_link(struct job *job, int64_t ack_timeout)
{
    const struct fault down = {.at_ps = 100 * PS_PER_US, .kind = FAULT_DOWN};

    rig_init(&job->rig, 1);
    job->rig.nic.ack_timeout = ack_timeout;
    rig_star(&job->rig, 4, RATE, DELAY);
    rig_build(&job->rig);
    job_params(job, WORK_COLLECTIVE, 1);
    job->params.collective.bytes = 64 * MIB;
    job->params.common.repeat = 2;
    job_new(job);
    net_add_fault(job->rig.net, 2, &down);
    job_run(job, PARTITION_NODE, 1);
}

/* A link that goes down: with ACK timers a queue pair gives up, without all stands still;
 * either way it is said who waits for what. */
static void
lost_link(void **state)
{
    (void)state;
    for (unsigned timers = 0; timers < 2; timers++) {
        struct job job;
        GPtrArray *lines;

        lose_link(&job, timers ? 6 : 0); /* 262 us, 7 times again */
        assert_int_equal(job.rig.net->end, timers ? NET_END_QP_ERROR : NET_END_STALLED);
        const struct call_result *calls = calls_of(&job, 2);

        assert_int_equal(calls[0].start_ps, 0);
        assert_int_equal(calls[0].end_ps, TIME_NEVER_PS);
        assert_int_equal(calls[1].start_ps, TIME_NEVER_PS);
        lines = unfinished(&job, 100);
        assert_true(has_line(lines,
                             "workload[0]: call 0, all_reduce of 67108864 B: host3, "
                             "rank 3 of the job: rank 3 channel 0 waits for data"));
        assert_true(has_line(lines, "from rank 2"));
        assert_true(has_line(lines, "host1, rank 1 of the job"));
        g_ptr_array_free(lines, TRUE);
        lines = unfinished(&job, 3);
        assert_int_equal(lines->len, 4);
        assert_true(g_str_has_prefix(g_ptr_array_index(lines, 3), "... and "));
        g_ptr_array_free(lines, TRUE);
        job_clear(&job);
    }
}

/* All that is lost is sent again, and the ring goes on. */
static void
lossy_link(void **state)
{
    const struct fault lossy = {.kind = FAULT_ERROR_RATE, .error_rate = 0.002};
    GPtrArray *lines;
    struct job job;

    (void)state;
    rig_init(&job.rig, 1);
    job.rig.nic.ack_timeout = 8; /* 1 ms */
    rig_star(&job.rig, 3, RATE, DELAY);
    rig_build(&job.rig);
    job_params(&job, WORK_COLLECTIVE, 1);
    job.params.collective.bytes = 12 * MIB;
    job.params.common.repeat = 2;
    job_new(&job);
    net_add_fault(job.rig.net, 1, &lossy);
    job_run(&job, PARTITION_NODE, 1);
    assert_int_equal(job.rig.net->end, NET_END_DONE);
    assert_true(rig_sum(&job.rig).retransmitted > 0);
    assert_int_equal(streams_of(&job, 0, 0).bytes, 2 * 2 * 2 * 12 * MIB / 3);
    assert_true(took_ps(&calls_of(&job, 2)[1]) > calls_of(&job, 2)[1].bound_ps);
    lines = unfinished(&job, 100);
    assert_int_equal(lines->len, 0);
    g_ptr_array_free(lines, TRUE);
    job_clear(&job);
}

/* ---- what cannot be -------------------------------------------------------------------- */

static void
expect_error(struct job *job, const char *message)
{
    GError *error = NULL;

    assert_null(work_new(job->rig.net, &job->params, &error));
    assert_non_null(error);
    assert_string_equal(error->message, message);
    g_error_free(error);
    job_clear(job);
}

static void
errors(void **state)
{
    struct job job;

    (void)state;
    job_star(&job, 2, 1);
    job.params.common.qps = 65;
    expect_error(&job, "workload[0].qps is 65; an NCCL connection has 1 to 64");
    job_star(&job, 2, 1);
    job.nccl.buffer_bytes = 12288;
    expect_error(&job, "nccl.NCCL_BUFFSIZE is 12288; allowed multiples of 8192");
    job_star(&job, 2, 1);
    job.nccl.n_threads = 100;
    expect_error(&job,
                 "nccl.NCCL_NTHREADS is 100; allowed multiples of 32 from 64 to 512");
    job_star(&job, 2, 1);
    job.params.collective.bytes = 6;
    expect_error(&job,
                 "workload[0].bytes is 6; allowed multiples of the 4 B of an element "
                 "(datatype)");
    job_star(&job, 2, 1);
    job.params.n_ranks = 0;
    expect_error(&job, "workload[0]: no ranks; a collective needs at least one");
    job_star(&job, 2, 1);
    job.params.rank_gpu[1] = 1;
    expect_error(&job, "workload[0]: rank 1 on GPU 1 of host 1; there are 2 hosts with 1 "
                       "GPUs (node.gpus)");
    job_star(&job, 2, 1);
    job.params.common.repeat = INT64_C(1) << 30;
    expect_error(
        &job, "workload[0]: 1 operations, repeated 1073741824 times, are more than can "
              "be accounted for; calls times hosts may be 67108864");
}

/* ---- traces ---------------------------------------------------------------------------- */

/* A file of the source tree as the paths of a workload. */
static void
set_path(struct job *job, const char *below)
{
    const char *srcdir = g_getenv("srcdir");

    job->params.paths = g_new0(char *, 2);
    job->params.paths[0] = g_build_filename(srcdir ? srcdir : ".", below, NULL);
}

static void
trace_clear(struct job *job)
{
    g_strfreev(job->params.paths);
    job_clear(job);
}

static void
trace_star(struct job *job, uint32_t n_hosts, const char *below)
{
    rig_init(&job->rig, 1);
    rig_star(&job->rig, n_hosts, RATE, DELAY);
    rig_build(&job->rig);
    job_params(job, WORK_TRACE, 1);
    job->work = NULL;
    set_path(job, below);
}

/* Operations in the order of the log, one result each, 'gap' between them. */
static void
trace_in_order(void **state)
{
    const int64_t bytes[] = {4, 8, 12, 16};
    struct job job;

    (void)state;
    trace_star(&job, 2, "tests/data/nccl-log/valid/grouped/input.log");
    job.params.common.gap_ps = 50 * PS_PER_US;
    job.params.common.repeat = 2;
    job_play(&job);
    const struct call_result *calls = calls_of(&job, 8);

    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(calls[i].bytes, bytes[i % 4]);
        assert_int_equal(calls[i].n_ranks, 2);
        assert_true(took_ps(&calls[i]) < 5 * PS_PER_US);
        if (i > 0) {
            assert_in_range(calls[i].start_ps, calls[i - 1].end_ps + 49 * PS_PER_US,
                            calls[i - 1].end_ps + 50 * PS_PER_US);
        }
    }
    trace_clear(&job);
}

/* A rank begins an operation not before its time stamp; the last one ends it. */
static void
trace_times(void **state)
{
    struct job job;

    (void)state;
    trace_star(&job, 2, "tests/data/nccl-log/valid/timestamps/input.log");
    job.params.common.start_ps = PS_PER_US;
    job.params.common.gap_ps = PS_PER_S; /* not asked: there are time stamps */
    job_play(&job);
    const struct call_result *calls = calls_of(&job, 2);

    assert_int_equal(calls[0].start_ps, PS_PER_US);
    assert_in_range(calls[0].end_ps, 126 * PS_PER_US, 130 * PS_PER_US);
    assert_int_equal(calls[1].start_ps, INT64_C(2750002000000));
    assert_in_range(calls[1].end_ps, INT64_C(3250001000000), INT64_C(3250005000000));
    trace_clear(&job);
}

/* Hosts of the log take those of the workload in order, whichever these are. */
static void
trace_places(void **state)
{
    struct job job;

    (void)state;
    trace_star(&job, 4, "tests/data/nccl-log/valid/grouped/input.log");
    job.params.hosts[0] = 3;
    job.params.hosts[1] = 1;
    job_play(&job);
    for (uint32_t h = 0; h < 4; h++) {
        assert_int_equal(payload_of(&job, h) > 0, h == 1 || h == 3);
    }
    trace_clear(&job);
}

static void
expect_trace_error(struct job *job, const char *end)
{
    GError *error = NULL;

    assert_null(work_new(job->rig.net, &job->params, &error));
    assert_non_null(error);
    if (!g_str_has_prefix(error->message, "workload[0]: ") ||
        !g_str_has_suffix(error->message, end)) {
        fail_msg("%s", error->message);
    }
    g_error_free(error);
    trace_clear(job);
}

static void
trace_errors(void **state)
{
    struct job job;

    (void)state;
    trace_star(&job, 2, "tests/data/nccl-log/valid/all-kinds/input.log");
    expect_trace_error(&job,
                       "all-kinds/input.log:5: all_gather is not supported yet; only "
                       "all_reduce is");
    trace_star(&job, 1, "tests/data/nccl-log/valid/grouped/input.log");
    expect_trace_error(&job, "grouped/input.log: ranks run on 2 hosts (node-a, ...); the "
                             "workload has 1");
    trace_star(&job, 8, "workloads/examples/gpt2-64ranks-nccl.log");
    expect_trace_error(&job, "gpt2-64ranks-nccl.log: host gpu-a01 has more than 1 ranks; "
                             "node.gpus is 1");
    trace_star(&job, 2, "tests/data/nccl-log/valid/grouped/input.log");
    job.params.format = (char *)"chakra";
    expect_trace_error(&job,
                       "grouped/input.log is of format nccl_log; 'format' says chakra");
    trace_star(&job, 2, "tests/data/nccl-log/none");
    job.params.index = 0;
    GError *error = NULL;

    assert_null(work_new(job.rig.net, &job.params, &error));
    assert_true(g_str_has_prefix(error->message, "workload[0]: "));
    g_error_free(error);
    trace_clear(&job);
}

/* The example: 64 ranks on 8 hosts, 16 channels with the log's own rings.  Each channel's
 * ring leaves a host once, so each host sends 2 (n - 1) / n of all operations. */
static void
trace_example(void **state)
{
    int64_t data_bytes = 0;
    uint32_t n;
    struct job job;

    (void)state;
    job_star_nics(&job, 8, 8, 8);
    set_path(&job, "workloads/examples/gpt2-64ranks-nccl.log");
    job.params.kind = WORK_TRACE;
    job_play(&job);
    const struct call_result *calls = job.work->ops->calls(job.work->state, &n);

    assert_int_equal(n, 17);
    assert_int_equal(job.rig.net->n_connections, 8 * 16);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(calls[i].n_ranks, 64);
        assert_true(took_ps(&calls[i]) >= calls[i].bound_ps);
        assert_true(calls[i].bytes < 20 * MIB ||
                    took_ps(&calls[i]) <= calls[i].bound_ps * 13 / 10);
        assert_true(i == 0 || calls[i].start_ps > calls[i - 1].start_ps);
        data_bytes += calls[i].bytes;
    }
    for (uint32_t h = 0; h < 8; h++) {
        /* chunks are whole multiples of 16 B, so the shares are not quite equal */
        assert_in_range(streams_of(&job, h, 0).bytes * 1000 / (2 * 63 * data_bytes / 64),
                        999, 1001);
    }
    trace_clear(&job);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(k42_large),      cmocka_unit_test(k42_small),
    cmocka_unit_test(bytes_on_links), cmocka_unit_test(two_nics),
    cmocka_unit_test(narrow_fabric),  cmocka_unit_test(ranks_of_a_host),
    cmocka_unit_test(inside_a_host),  cmocka_unit_test(pipes_are_shared),
    cmocka_unit_test(which_nic),      cmocka_unit_test(how_many_channels),
    cmocka_unit_test(queue_pairs),    cmocka_unit_test(bound_by_path),
    cmocka_unit_test(rounds),         cmocka_unit_test(costs),
    cmocka_unit_test(nothing_to_do),  cmocka_unit_test(same_under_partitions),
    cmocka_unit_test(lost_link),      cmocka_unit_test(lossy_link),
    cmocka_unit_test(errors),         cmocka_unit_test(trace_in_order),
    cmocka_unit_test(trace_times),    cmocka_unit_test(trace_places),
    cmocka_unit_test(trace_errors),   cmocka_unit_test(trace_example),
};

int
main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
