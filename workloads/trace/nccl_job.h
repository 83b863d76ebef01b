/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nccl_job.h - what the lines of an NCCL debug log say together: processes, GPUs, which
 * communicator a pointer means, rings, operations.  read_nccl_log.c finds the lines and
 * tells them in the order of the log; what is known goes to the builder (trace_build.h).
 */
#ifndef ROCESIM_WORKLOADS_TRACE_NCCL_JOB_H
#define ROCESIM_WORKLOADS_TRACE_NCCL_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "workloads/trace/nccl_line.h"
#include "workloads/trace/trace_build.h"

struct nccl_job;
struct nccl_process; /* owned by the job */

/* A new job that reports to 'build' (borrowed), to be freed by 'nccl_job_free()'. */
struct nccl_job *nccl_job_new(struct trace_build *build);
void nccl_job_free(struct nccl_job *job);

/* What comes next is of 'line' (from 1) of 'file' (borrowed until the next call). */
void nccl_job_at(struct nccl_job *job, const struct trace_file *file, uint64_t line);

/* The process that 'head' names, NULL if none of its lines has counted yet.  Text that was
 * cut right before the host name looks like a part of it: a known process whose host name
 * is the end of it is meant, and 'head' is set right. */
struct nccl_process *nccl_job_find_process(const struct nccl_job *job,
                                           struct nccl_head *head);

/* The same, adding it if it is new.  NULL and 'error' beyond TRACE_MAX_RANKS. */
struct nccl_process *nccl_job_get_process(struct nccl_job *job, struct nccl_head *head,
                                          GError **error);

/* The host of 'process', borrowed from the job. */
const char *nccl_process_host(const struct nccl_process *process);

/* Lines of 'process', of its thread 'tid' or 'head->tid'.  FALSE and 'error', "file:line"
 * first, if it cannot be. */
gboolean nccl_job_on_init(struct nccl_job *job, struct nccl_process *process,
                          const struct nccl_head *head, const struct nccl_init *init,
                          GError **error);
gboolean nccl_job_on_coll(struct nccl_job *job, struct nccl_process *process,
                          const struct nccl_head *head, const struct nccl_coll *coll,
                          GError **error);
void nccl_job_on_tuning(struct nccl_job *job, const struct nccl_process *process,
                        uint64_t tid, const struct nccl_tuning *tuning);
void nccl_job_on_channel(struct nccl_job *job, const struct nccl_process *process,
                         uint64_t tid, uint32_t channel, uint32_t n_channels,
                         const GArray *order);
void nccl_job_on_ring(struct nccl_job *job, const struct nccl_process *process,
                      uint64_t tid, uint32_t channel, uint32_t rank, uint32_t next);
void nccl_job_on_n_channels(struct nccl_job *job, const struct nccl_process *process,
                            uint64_t tid, uint32_t n_channels);

/* A line of numbers alone right after a Channel line goes on with its list: true if it
 * did.  'nccl_job_end_wrap()': another line came. */
bool nccl_job_on_wrapped(struct nccl_job *job, const char *text, const char *end);
void nccl_job_end_wrap(struct nccl_job *job);

/* The operation that 'coll' began to tell on 'line' of the file is lost. */
void nccl_job_on_damaged(struct nccl_job *job, const struct nccl_process *process,
                         const struct nccl_head *head, const struct nccl_coll *coll,
                         uint64_t line);

/* Adds what there is to warn of at the end. */
void nccl_job_finish(struct nccl_job *job);

#endif
