/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_collective.c - all_reduces on networks against their bound: K42, bytes on every
 * link, several NICs, several ranks a host, queue pairs, paths.
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

#include "tests/support/job.h"

#define CTS_BYTES 64

/* ---- against the bound ------------------------------------------------------------- */

/* 2 (n - 1) / n S over the payload rate, all of it through one link. */
static int64_t
k42_ps(int64_t n, int64_t bytes)
{
    return (int64_t)((__int128)bytes * 2 * (n - 1) * JOB_WIRE_BYTES * 8 * PS_PER_S /
                     ((__int128)n * JOB_PACKET_BYTES * JOB_RATE_BPS));
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
    const struct call_result *call = job_calls(&job, 1);

    assert_int_equal((call->bound_ps + 500000) / 1000000, 153333);
    assert_in_range(call->bound_ps, k42_ps(8, 1024 * MIB) - 1, k42_ps(8, 1024 * MIB));
    assert_in_range(job_took_ps(call), call->bound_ps,
                    call->bound_ps + call->bound_ps / 100);
    assert_int_equal(call->n_ranks, 8);
    assert_int_equal(call->bytes, 1024 * MIB);
    assert_int_equal(call->bus_num * 4, call->bus_den * 7);
    assert_string_equal(call->op, "all_reduce");
    assert_string_equal(call->algorithm, "ring");
    assert_string_equal(call->protocol, "simple");
    job_clear(&job);
}

/* From the first bit of a message to the first bit of the next rank's, beyond what the
 * bound counts: two cables, the switch, which stores a packet, and what a message has
 * more than its packets: RETH, immediate, the padding of its last packet, and the empty
 * slice behind it. */
static int64_t
step_latency_ps(void)
{
    const int64_t byte_ps = 8 * PS_PER_S / JOB_RATE_BPS;

    return 2 * JOB_DELAY_PS + 300 * PS_PER_NS +
           (JOB_WIRE_BYTES + 2 * 102 + 102) * byte_ps;
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
            const struct call_result *call = job_calls(&job, 1);
            /* A chunk is a whole number of 16 B: small sizes are not cut evenly. */
            int64_t least_ps = sizes[k] < 4 * KIB ? 0 : k42_ps(n_ranks[i], sizes[k]);

            assert_in_range(call->bound_ps, least_ps * 99 / 100, INT64_MAX);
            assert_in_range(job_took_ps(call), call->bound_ps,
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
        struct stream_result data = job_streams(&job, h, 0);
        struct stream_result cts = job_streams(&job, h, 1);
        /* 2 channels of 24 MiB: 2 loops of 8 chunks of 2 MiB, cut into equal slices but
         * for the last loop's of 1 MiB. */
        int64_t n_messages = 2 * 2 * 14 * 2;

        assert_int_equal(data.bytes, data_bytes);
        assert_int_equal(data.n_messages, n_messages);
        assert_int_equal(cts.n_messages, n_messages);
        assert_int_equal(cts.bytes, CTS_BYTES * n_messages);
        assert_int_equal(job_payload_bytes(&job, h), data_bytes + CTS_BYTES * n_messages);
        assert_true(data.sum_ps > 0 && cts.sum_ps > 0);
        const struct port *port = job.rig.net->nics[h].port;
        int64_t n_acks = job.rig.net->nics[h].acks_sent;

        assert_int_equal(port->out[3].tx_pkts,
                         data_bytes / JOB_PACKET_BYTES + n_messages + n_acks);
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
    const struct call_result *call = job_calls(&job, 1);

    assert_int_equal(job.rig.net->n_connections, 4 * 4);
    for (uint32_t i = 0; i < job.rig.net->n_connections; i++) {
        const struct net_connection *c = &job.rig.net->connections[i];

        assert_int_equal(c->nic[0], i % 2);
        assert_int_equal(c->nic[1], i % 2);
    }
    assert_in_range(call->bound_ps, k42_ps(4, 128 * MIB) - 1, k42_ps(4, 128 * MIB));
    assert_in_range(job_took_ps(call), call->bound_ps,
                    call->bound_ps + call->bound_ps / 100);
    job_clear(&job);
}

/* Half of the hosts behind a fabric link of half the rate each way: that link decides. */
static void
narrow_fabric(void **state)
{
    const struct link_params host = {.rate_bps = JOB_RATE_BPS, .delay_ps = JOB_DELAY_PS};
    const struct link_params fabric = {.rate_bps = JOB_RATE_BPS / 2,
                                       .delay_ps = JOB_DELAY_PS};
    struct job job;

    (void)state;
    rig_init(&job.rig, 1);
    rig_leaf_spine(&job.rig, 4, 2, 1, &host, &fabric);
    rig_build(&job.rig);
    job_params(&job, WORK_COLLECTIVE, 1);
    job.params.collective.bytes = 64 * MIB;
    job_play(&job);
    const struct call_result *call = job_calls(&job, 1);

    assert_in_range(call->bound_ps, 2 * k42_ps(4, 64 * MIB) - 2, 2 * k42_ps(4, 64 * MIB));
    assert_in_range(job_took_ps(call), call->bound_ps,
                    call->bound_ps + call->bound_ps / 50);
    job_clear(&job);
}

/* ---- several ranks a host ---------------------------------------------------------- */

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
    const struct call_result *call = job_calls(&job, 1);

    assert_int_equal(call->n_ranks, 8);
    assert_int_equal(job.rig.net->n_connections, 2 * 4);
    assert_int_equal(job_streams(&job, 0, 0).bytes, each_bytes);
    assert_int_equal(job_streams(&job, 1, 0).bytes, each_bytes);
    assert_int_equal(job.work->ops->pipe_bytes(job.work->state), 6 * each_bytes);
    assert_in_range(call->bound_ps, k42_ps(8, 16 * MIB) - 1, k42_ps(8, 16 * MIB));
    assert_in_range(job_took_ps(call), call->bound_ps, call->bound_ps * 115 / 100);
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
    const struct call_result *call = job_calls(&job, 1);

    assert_int_equal(job.rig.net->n_connections, 0);
    assert_in_range(call->bound_ps, pipe_ps - 1, pipe_ps + 1);
    assert_in_range(job_took_ps(call), call->bound_ps + PS_PER_US,
                    call->bound_ps * 12 / 10);
    assert_int_equal(rig_sum(&job.rig).tx_pkts, 0);
    job_clear(&job);

    /* 4 B over 2 ranks: of the three operations two wait for data; the way out of a GPU
     * carries 4 B, then nothing. */
    job_star(&job, 1, 2);
    job.params.collective.bytes = 4;
    job.params.pipe_rate_bps = 8 * GBPS / 1000; /* 1 us a byte */
    job_play(&job);
    assert_int_equal(job_took_ps(job_calls(&job, 1)),
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
    assert_in_range(job_took_ps(call), call->bound_ps, call->bound_ps * 14 / 10);
    player_free(player);
    job_clear(&job);
}

/* ---- queue pairs -------------------------------------------------------- */

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
        const struct call_result *calls = job_calls(&job, 2);
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
            assert_in_range(job_took_ps(&calls[c]), calls[c].bound_ps,
                            calls[c].bound_ps * 105 / 100);
        }
        job_clear(&job);
    }
}

/* Two parallel fabric links: the bound counts what each queue pair carries on its own
 * way, so that no call is faster, however the paths collide. */
static void
bound_by_path(void **state)
{
    const struct link_params link = {.rate_bps = JOB_RATE_BPS, .delay_ps = JOB_DELAY_PS};
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
        const struct call_result *calls = job_calls(&job, 2);

        for (unsigned c = 0; c < 2; c++) {
            assert_in_range(job_took_ps(&calls[c]), calls[c].bound_ps,
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(k42_large),      cmocka_unit_test(k42_small),
    cmocka_unit_test(bytes_on_links), cmocka_unit_test(two_nics),
    cmocka_unit_test(narrow_fabric),  cmocka_unit_test(ranks_of_a_host),
    cmocka_unit_test(inside_a_host),  cmocka_unit_test(pipes_are_shared),
    cmocka_unit_test(queue_pairs),    cmocka_unit_test(bound_by_path),
};

int
main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
