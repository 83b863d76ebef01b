/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * work_file.h - a workload of type file: another simulator's flows, read, and put on a
 * network.
 */
#ifndef ROCESIM_TOOLS_SCENARIO_WORK_FILE_H
#define ROCESIM_TOOLS_SCENARIO_WORK_FILE_H

#include "tools/scenario/doc.h"

/* Reads what `format` and `path` of 'at' name into 'w'. */
gboolean work_file_read(const struct scenario *s, const struct doc_at *at,
                        struct scenario_work *w, GError **error);

/* Adds failed links of 'w' to 's->faults' as links that are down from the beginning. */
gboolean work_file_add_faults(struct scenario *s, const struct scenario_work *w,
                              GError **error);

/* Place among the links of the tree 'topo' of the one that 'failure' means, the first of its
 * bundle; UINT32_MAX: there is none. */
uint32_t work_file_failed_link(const struct topo_file *topo,
                               const struct flow_file_failure *failure);

/* Flows and triggers of 'spec' into 'w', whose hosts are bound. */
gboolean work_file_bind(const struct scenario *s, const struct scenario_work *spec,
                        const struct net *net, struct work_params *w, GError **error);

#endif
