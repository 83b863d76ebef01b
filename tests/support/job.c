/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * job.c - jobs on small networks for tests; see job.h.
 */
#include <config.h>

#include "tests/support/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "workloads/nccl/player.h"

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

void
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
void
job_star(struct job *job, uint32_t n_hosts, uint32_t gpus)
{
    rig_init(&job->rig, 1);
    rig_star(&job->rig, n_hosts, JOB_RATE_BPS, JOB_DELAY_PS);
    rig_build(&job->rig);
    job_params(job, WORK_COLLECTIVE, gpus);
    job->work = NULL;
}

/* Hosts with 'nics' links each to one switch. */
void
job_star_nics(struct job *job, uint32_t n_hosts, uint32_t gpus, uint32_t nics)
{
    const struct link_params link = {.rate_bps = JOB_RATE_BPS, .delay_ps = JOB_DELAY_PS};

    rig_init(&job->rig, 1);
    rig_star(&job->rig, n_hosts, JOB_RATE_BPS, JOB_DELAY_PS);
    for (uint32_t i = 0; i < n_hosts * (nics - 1); i++) {
        net_add_link(job->rig.net, i % n_hosts, n_hosts, &link);
    }
    rig_build(&job->rig);
    job_params(job, WORK_COLLECTIVE, gpus);
    job->work = NULL;
}

void
job_new(struct job *job)
{
    GError *error = NULL;

    job->work = work_new(job->rig.net, &job->params, &error);
    if (error) {
        fail_msg("%s", error->message);
    }
}

void
job_run(struct job *job, enum partition_mode partition, uint32_t n_threads)
{
    rig_start(&job->rig, partition, n_threads);
    work_start(job->work);
    rig_run(&job->rig, TIME_NEVER_PS);
    if (job->params.kind == WORK_COLLECTIVE) {
        player_check(job->work->state);
    }
}

void
job_play(struct job *job)
{
    job_new(job);
    job_run(job, PARTITION_ONE, 1);
    assert_int_equal(job->rig.net->end, NET_END_DONE);
}

void
job_clear(struct job *job)
{
    work_free(job->work);
    rig_clear(&job->rig);
    g_free(job->params.hosts);
    g_free(job->params.rank_host);
    g_free(job->params.rank_gpu);
}

const struct call_result *
job_calls(const struct job *job, uint32_t n_expected)
{
    uint32_t n;
    const struct call_result *calls = job->work->ops->calls(job->work->state, &n);

    assert_int_equal(n, n_expected);
    return calls;
}

int64_t
job_took_ps(const struct call_result *call)
{
    assert_true(call->start_ps != TIME_NEVER_PS && call->end_ps != TIME_NEVER_PS);
    return call->end_ps - call->start_ps;
}

/* Payload that the QPs of 'host' have sent. */
int64_t
job_payload_bytes(const struct job *job, uint32_t host)
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
struct stream_result
job_streams(const struct job *job, uint32_t host, unsigned side)
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
