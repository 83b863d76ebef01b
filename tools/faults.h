/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * faults.h - the scenario's faults on a network, and the routes that follow them.
 *
 * A link that goes down or comes up changes at both ends at once; every switch forwards by
 * the new shortest paths 'convergence_ps' later.  Until then what is sent towards the dead
 * link is lost.
 */
#ifndef ROCESIM_TOOLS_FAULTS_H
#define ROCESIM_TOOLS_FAULTS_H

#include "tools/scenario/scenario.h"

/* From a link's change to new routes in all switches: a guess, of the order at which a
 * switch withdraws a member of its ECMP groups in hardware; a routing protocol over several
 * hops takes longer. */
#define FAULTS_CONVERGENCE_PS PS_PER_MS

/* Links that are not there from the beginning, since a workload's file says so, by link; NULL:
 * there are none.  Owned by the caller. */
bool *faults_missing(const struct scenario *scenario, const struct net *net);

/* Plans all faults of 'scenario' on the built 'net' that has its first routes, without what is missing. */
gboolean faults_plan(const struct scenario *scenario, struct net *net,
                     int64_t convergence_ps, GError **error);

#endif
