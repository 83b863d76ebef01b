/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * triggers.h - flows that start when others have ended: htsim's triggers.
 *
 * A trigger acts at once, whichever hosts its flows belong to: no packet carries it.  All
 * hosts that a trigger has to do with therefore live in one process (net_share_process()),
 * however the network is dealt out otherwise.
 */
#ifndef ROCESIM_WORKLOADS_TRIGGERS_H
#define ROCESIM_WORKLOADS_TRIGGERS_H

#include "models/net.h"
#include "workloads/work_params.h"

struct triggers;

/* Starts a flow, in the process that the trigger lives in. */
typedef void triggers_start_flow(void *ctx, struct lp *lp, uint32_t flow);

/* Those of 'params', for the flows 'list[n]'; flows of a trigger go in their order.  NULL:
 * there are none.  Owned by the caller. */
struct triggers *triggers_new(struct net *net, const struct work_params *params,
                              const struct work_flow list[], uint32_t n,
                              triggers_start_flow *start, void *ctx);
void triggers_free(struct triggers *triggers); /* accepts NULL */

/* Flow 'flow' is acknowledged, or received, as a whole. */
void triggers_on_sent(struct triggers *triggers, struct lp *lp, uint32_t flow);
void triggers_on_received(struct triggers *triggers, struct lp *lp, uint32_t flow);

/* Does a trigger start 'flow'? */
bool triggers_has(const struct triggers *triggers, uint32_t flow);

#endif
