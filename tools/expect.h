/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * expect.h - `expect` of a scenario held against summary.json.
 */
#ifndef ROCESIM_TOOLS_EXPECT_H
#define ROCESIM_TOOLS_EXPECT_H

#include "tools/results/result.h"

/* Is each path of `expect` one of summary.json?  Indices are not looked at: how many there are
 * shows only after the run.  Before the run, so that a misspelt one costs no waiting. */
gboolean expect_check_paths(const struct scenario *scenario, GError **error);

/* Sets result->expected, adds a line to result->why for each expectation that is missed, and
 * makes a complete run VERDICT_EXPECTATION_MISSED then.  A worse verdict stays. */
void expect_judge(struct run_result *result);

#endif
