/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run.h - a scenario made into a network with workloads, run, and read.
 *
 *     struct run *run = run_new(scenario, warnings, &error);     build, route, bind
 *     run_start(run, PARTITION_AUTO, 0);                         processes and threads
 *     run_go(run, &watch);                                       once
 *     struct run_result *result = run_read(run);                 and what it gave
 *     run_free(run);
 *
 * All state hangs from struct run: any number of them may live in a process.
 */
#ifndef ROCESIM_TOOLS_RUN_H
#define ROCESIM_TOOLS_RUN_H

#include "tools/results/result.h"

struct run {
    const struct scenario *scenario; /* borrowed */
    struct net *net;                 /* owned */
    GPtrArray *works;                /* owned: struct work, by index in `workload` */
    GPtrArray *params;               /* owned: struct work_params, likewise */
    GArray *captures;                /* owned: struct capture_file */
    double loop_s;                   /* of run_go(), measured */
};

/* Builds the network of 'scenario' (borrowed; outlives the run) with routes, faults and
 * workloads.  'warnings' receives lines (owned by it).  Owned by the caller; NULL with
 * 'error', whose message is a whole line. */
struct run *run_new(const struct scenario *scenario, GPtrArray *warnings, GError **error);

/* Deals it to processes and 'n_threads' (0: by the cores), starts the workloads. */
void run_start(struct run *run, enum partition_mode partition, uint32_t n_threads);

/* Runs it to its end and checks the laws of the network. */
void run_go(struct run *run, const struct net_watch *watch);

/* Reads everything a run has given and judges it, `expect` aside.  Owned by the caller;
 * borrows from 'run'. */
struct run_result *run_read(struct run *run);

/* The part of run_read() that sums up workloads. */
void run_read_works(const struct run *run, struct run_result *result);

/* Payload that QPs have brought so far; at an epoch or after the run.  O(QPs). */
int64_t run_payload_bytes(const struct run *run);

/* Packets sent over links so far; likewise.  O(ports). */
int64_t run_packet_hops(const struct run *run);

void run_free(struct run *run); /* accepts NULL */

#endif
