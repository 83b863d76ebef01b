/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bottleneck.h - N hosts that send to one more for ever, and the queue they meet at.
 *
 * One switch without latency, no PFC, a buffer that never fills, marks at dequeue.  The
 * links are as long as makes a given feedback loop: from a mark to the packets that feel it
 * it is one data packet and a CNP over two links, then a data packet again.  Measured over
 * the second half of the run, and over several seeds of start offsets and marks.
 */
#ifndef ROCESIM_TESTS_SUPPORT_BOTTLENECK_H
#define ROCESIM_TESTS_SUPPORT_BOTTLENECK_H

#include "tests/support/rig.h"

enum { BOTTLENECK_FLOWS_MAX = 16 };

struct bottleneck_params {
    uint32_t n_flows;
    int64_t rate_bps, mtu_bytes, loop_ps;
    int64_t kmin_bytes, kmax_bytes, pmax_percent;
    int64_t
        second_rate_bps; /* flow 1 starts at this rate, limited already; 0: as others */
    int64_t for_ps;
};

/* Means over seeds; 'payload_bytes' of the last seed alone: what flow 0 and flow 1 had
 * brought at each hundredth of the run. */
struct bottleneck_outcome {
    double mean_kb, sd_kb, throughput_share, jain, cnps_per_s;
    int64_t payload_bytes[100][2];
};

/* Runs it with 'n_seeds' seeds, with DCQCN preset paper and R_HAI = R_AI.  Prints a line
 * a seed. */
struct bottleneck_outcome
bottleneck_run(const char *id, const struct bottleneck_params *params, unsigned n_seeds);

#endif
