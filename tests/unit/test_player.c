/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_player.c - how a job is put on a network and played: communicators, NICs,
 * channels, rounds, costs, partitions, links that fail, what cannot be.
 */
#include <config.h>

#include "workloads/nccl/player.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/job.h"

/* ---- who and where ----------------------------------------------------------------- */

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
        assert_in_range(job_took_ps(&calls[i]), calls[i].bound_ps, 3 * calls[i].bound_ps);
    }
    /* ranks 0 and 2 go to call 2 at once, 1 and 3 do call 1 before */
    assert_true(calls[2].start_ps < calls[1].end_ps);
    assert_true(calls[2].end_ps > calls[1].end_ps + calls[2].bound_ps / 2);
    assert_true(calls[4].end_ps > calls[3].end_ps);
    player_free(player);
    job_clear(&job);
}

/* GPU g of G has NIC g mod n; with more NICs than GPUs several.  A communicator's
 * channels take those of its GPUs in turn. */
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

/* A call whose channels are known uses just these, and a communicator that is not known
 * to have so many gets them. */
static void
known_channels(void **state)
{
    const uint32_t ranks[] = {0, 1}, versions[] = {23007, 21900};

    (void)state;
    for (unsigned i = 0; i < 2 * G_N_ELEMENTS(versions); i++) {
        struct player_comm_spec comm = {
            .name = "c", .n_ranks = 2, .ranks = ranks, .n_channels = i % 2 ? 3 : 0};
        struct player_op_spec op = {.bytes = MIB,
                                    .elem_bytes = 4,
                                    .has_channels = true,
                                    .channel_lo = 2,
                                    .channel_hi = 4};
        const struct stream_result *streams;
        GError *error = NULL;
        struct job job;
        struct player *player;
        uint32_t n;

        job_star(&job, 2, 1);
        job.nccl.version = versions[i / 2];
        player = player_new(job.rig.net, &job.params, job.params.rank_host,
                            job.params.rank_gpu, 2, &error);
        player_add_comm(player, &comm);
        player_add_op(player, &op);
        if (comm.n_channels) {
            assert_false(player_build(player, &error));
            assert_string_equal(error->message,
                                "workload[0]: communicator c has 3 channels and its "
                                "operations use 5; allowed 1 to 64, used within those");
            g_error_free(error);
            player_free(player);
            job_clear(&job);
            continue;
        }
        assert_true(player_build(player, &error));
        rig_start(&job.rig, PARTITION_ONE, 1);
        player_start(player);
        rig_run(&job.rig, TIME_NEVER_PS);
        assert_int_equal(job.rig.net->end, NET_END_DONE);
        streams = player_streams(player, &n);
        assert_int_equal(n, 2 * 5 * 2);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t channel = k / 2 % 5;

            if (channel < 2) {
                assert_int_equal(streams[k].n_messages, 0);
            } else if (streams[k].side == 0) {
                assert_in_range(streams[k].bytes, MIB / 3 - 32 * KIB, MIB / 3 + 32 * KIB);
            }
        }
        player_free(player);
        job_clear(&job);
    }
}

/* ---- rounds and costs -------------------------------------------------------------- */

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
    const struct call_result *calls = job_calls(&job, 4);

    assert_int_equal(calls[0].start_ps, 5 * PS_PER_US);
    for (unsigned i = 1; i < 4; i++) {
        /* ranks end within two steps of each other */
        assert_in_range(calls[i].start_ps,
                        calls[i - 1].end_ps + 30 * PS_PER_US - 2 * PS_PER_US,
                        calls[i - 1].end_ps + 30 * PS_PER_US);
        assert_int_equal(job_took_ps(&calls[i]) / PS_PER_US,
                         job_took_ps(&calls[1]) / PS_PER_US);
    }
    job_clear(&job);
}

/* Launch delays a call by as much; a slow block makes the copy the bottleneck; posting
 * and polling add to every step. */
static void
costs(void **state)
{
    int64_t free_ps, with_ps;
    struct job job;

    (void)state;
    job_star(&job, 4, 1);
    job.params.collective.bytes = 16 * KIB;
    job_play(&job);
    free_ps = job_took_ps(job_calls(&job, 1));
    job_clear(&job);

    job_star(&job, 4, 1);
    job.params.collective.bytes = 16 * KIB;
    job.nccl.launch_ps = 7 * PS_PER_US;
    job_play(&job);
    with_ps = job_took_ps(job_calls(&job, 1));
    /* the clear-to-send are there when the first data are: they left at the call */
    assert_in_range(with_ps, free_ps + 6 * PS_PER_US, free_ps + 7 * PS_PER_US);
    job_clear(&job);

    job_star(&job, 4, 1);
    job.params.collective.bytes = 16 * KIB;
    job.nccl.poll_ps = PS_PER_US;
    job.nccl.post_ps = PS_PER_US;
    job_play(&job);
    with_ps = job_took_ps(job_calls(&job, 1));
    assert_in_range(with_ps, free_ps + 6 * 2 * PS_PER_US, free_ps + 6 * 8 * PS_PER_US);
    job_clear(&job);

    job_star(&job, 4, 1);
    job.params.collective.bytes = 32 * MIB;
    job.nccl.copy_bps = 10 * GBPS;
    job.nccl.reduce_bps = 10 * GBPS;
    job_play(&job);
    /* two channels; each rank handles 2 n - 1 chunks of every n */
    with_ps = 32 * MIB / 2 * 7 / 4 * 8 * (PS_PER_S / GBPS) / 10;
    assert_in_range(job_took_ps(job_calls(&job, 1)), with_ps, with_ps * 11 / 10);
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
    const struct call_result *calls = job_calls(&job, 3);

    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(calls[i].start_ps, i * PS_PER_US);
        assert_int_equal(job_took_ps(&calls[i]), 0);
        assert_int_equal(calls[i].bound_ps, 0);
        assert_int_equal(calls[i].bus_num, 0);
    }
    job_clear(&job);

    job_star(&job, 2, 1);
    job.params.collective.bytes = 0;
    job.params.common.repeat = 3;
    job_play(&job);
    assert_int_equal(job_calls(&job, 3)[2].end_ps, 0);
    job_clear(&job);
}

/* ---- the same under any partition -------------------------------------------------- */

static uint64_t
digest(enum partition_mode partition, uint32_t n_threads, struct call_result calls[3])
{
    const struct link_params host = {.rate_bps = JOB_RATE_BPS, .delay_ps = JOB_DELAY_PS};
    const struct link_params fabric = {.rate_bps = JOB_RATE_BPS,
                                       .delay_ps = 2 * JOB_DELAY_PS};
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
    memcpy(calls, job_calls(&job, 3), 3 * sizeof *calls);
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

/* ---- a ring that stands still ------------------------------------------------------ */

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
    rig_star(&job->rig, 4, JOB_RATE_BPS, JOB_DELAY_PS);
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
        const struct call_result *calls = job_calls(&job, 2);

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
    rig_star(&job.rig, 3, JOB_RATE_BPS, JOB_DELAY_PS);
    rig_build(&job.rig);
    job_params(&job, WORK_COLLECTIVE, 1);
    job.params.collective.bytes = 12 * MIB;
    job.params.common.repeat = 2;
    job_new(&job);
    net_add_fault(job.rig.net, 1, &lossy);
    job_run(&job, PARTITION_NODE, 1);
    assert_int_equal(job.rig.net->end, NET_END_DONE);
    assert_true(rig_sum(&job.rig).retransmitted > 0);
    assert_int_equal(job_streams(&job, 0, 0).bytes, 2 * 2 * 2 * 12 * MIB / 3);
    assert_true(job_took_ps(&job_calls(&job, 2)[1]) > job_calls(&job, 2)[1].bound_ps);
    lines = unfinished(&job, 100);
    assert_int_equal(lines->len, 0);
    g_ptr_array_free(lines, TRUE);
    job_clear(&job);
}

/* ---- what cannot be ---------------------------------------------------------------- */

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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(communicators),
    cmocka_unit_test(which_nic),
    cmocka_unit_test(how_many_channels),
    cmocka_unit_test(known_channels),
    cmocka_unit_test(rounds),
    cmocka_unit_test(costs),
    cmocka_unit_test(nothing_to_do),
    cmocka_unit_test(same_under_partitions),
    cmocka_unit_test(lost_link),
    cmocka_unit_test(lossy_link),
    cmocka_unit_test(errors),
};

int
main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
