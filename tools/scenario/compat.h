/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * compat.h - `compat`: the defaults of another simulator.
 */
#ifndef ROCESIM_TOOLS_SCENARIO_COMPAT_H
#define ROCESIM_TOOLS_SCENARIO_COMPAT_H

#include "tools/scenario/doc.h"

/* Fills keys that 'root' leaves out with the values that its `compat` stands for; nothing
 * when that is "off" or missing.  '*is_hpcc': it is "hpcc". */
gboolean compat_apply(const struct doc_at *root, bool *is_hpcc, GError **error);

#endif
