/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay.h - a trace for the hosts of a workload: which file, which rank where.  For the
 * workload itself (gen_trace.c) and for who wants to show it without running it.
 */
#ifndef ROCESIM_WORKLOADS_REPLAY_H
#define ROCESIM_WORKLOADS_REPLAY_H

#include "workloads/trace/trace.h"
#include "workloads/work.h"

/* Reads the trace of 'params' (WORK_TRACE) and holds its format against what is asked.  Owned
 * by the caller (trace_free()); NULL on error. */
struct trace *replay_open(const struct work_params *params, GError **error);

/* Fills 'host' (ids) and 'gpu' of each rank: the trace's hosts take the workload's in order
 * of their lowest rank, the ranks of a host its GPUs in order of rank.  FALSE when there are
 * not enough. */
gboolean replay_place(const struct trace *trace, const struct work_params *params,
                      uint32_t host[], uint32_t gpu[], GError **error);

#endif
