/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * forecast.h - what a started run is going to do: for `rocesim check` and for progress.
 */
#ifndef ROCESIM_TOOLS_FORECAST_H
#define ROCESIM_TOOLS_FORECAST_H

#include "tools/run.h"

struct forecast {
    int64_t payload_bytes; /* first transmissions */
    int64_t data_packets;
    int64_t packet_hops;   /* with ACKs, without pauses, CNPs and losses */
    int64_t inflight_pkts; /* at most */
    double seconds;        /* of wall time: a rough guess */
    int64_t memory_bytes;  /* likewise, in all */
};

/* What each QP is going to send, by dense id, all workloads.  Owned by the
 * caller (g_free). */
struct work_plan *forecast_plan(const struct run *run);

/* From run_start() on.  O(QPs x hops). */
void forecast_make(const struct run *run, struct forecast *forecast);

#endif
