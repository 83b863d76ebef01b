/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * job.h - a collective or a trace on a rig (rig.h), for tests.
 *
 * Life: job_star(), job_star_nics(), or a built rig and job_params(); change 'nccl' and
 * 'params'; job_play(), or job_new() and job_run(); read; job_clear().
 *
 * The defaults are those of a scenario: NCCL 2.30.7 without costs, GPUs joined at 450
 * GB/s and 1 us.  Rank r is GPU r mod 'gpus' of host r / 'gpus'.
 */
#ifndef ROCESIM_TESTS_SUPPORT_JOB_H
#define ROCESIM_TESTS_SUPPORT_JOB_H

#include "tests/support/rig.h"
#include "workloads/work.h"

/* Of every link that job_star() makes. */
#define JOB_RATE_BPS (100 * GBPS)
#define JOB_DELAY_PS (25 * PS_PER_NS)

#define KIB INT64_C(1024)
#define MIB (KIB * KIB)

/* A full packet of 4096 B and its room on the wire: known answer K4. */
#define JOB_PACKET_BYTES 4096
#define JOB_WIRE_BYTES 4178

struct job {
    struct rig rig;
    struct work_nccl nccl;
    struct work_params params;
    struct work *work; /* owned */
};

/* Parameters for a built rig. */
void job_params(struct job *job, enum work_kind kind, uint32_t gpus);

/* 'n_hosts' on one switch; with 'nics' links each: link i is of host i mod n_hosts. */
void job_star(struct job *job, uint32_t n_hosts, uint32_t gpus);
void job_star_nics(struct job *job, uint32_t n_hosts, uint32_t gpus, uint32_t nics);

/* The workload, which must be fine. */
void job_new(struct job *job);

/* Runs to the end, and checks the laws. */
void job_run(struct job *job, enum partition_mode partition, uint32_t n_threads);

/* Both, in one process; it must end. */
void job_play(struct job *job);
void job_clear(struct job *job);

/* The calls, which must be 'n_expected'; time of one that has ended. */
const struct call_result *job_calls(const struct job *job, uint32_t n_expected);
int64_t job_took_ps(const struct call_result *call);

/* Payload that the QPs of 'host' have sent. */
int64_t job_payload_bytes(const struct job *job, uint32_t host);

/* Sums over the streams of 'side' from 'host'. */
struct stream_result job_streams(const struct job *job, uint32_t host, unsigned side);

#endif
