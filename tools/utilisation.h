/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * utilisation.h - the busiest link of a run and what share of its payload capacity it gave.
 *
 * A link has work while anything is outstanding whose way leads over it: a flow from its
 * start to its last byte's arrival, all connections of a workload's collectives while one of
 * its calls is running.  Its payload capacity is that of full packets back to back.
 */
#ifndef ROCESIM_TOOLS_UTILISATION_H
#define ROCESIM_TOOLS_UTILISATION_H

#include "tools/run.h"

struct utilisation {
    uint32_t port; /* dense id of the sending end; UINT32_MAX: none carried payload */
    int64_t payload_ps; /* what its payload takes in full packets back to back */
    int64_t work_ps;    /* how long it had work */
};

/* Finds the link that has carried most, by time; of equals the one best used, then the one
 * with the lowest id.  Ways are those of the routes of now.  O(items x hops). */
void utilisation_find(const struct run *run, int64_t end_ps, struct utilisation *use);

#endif
