/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table.h - the summary of a run for people, on stdout.
 */
#ifndef ROCESIM_TOOLS_RESULTS_TABLE_H
#define ROCESIM_TOOLS_RESULTS_TABLE_H

#include "tools/results/result.h"

/* The table, ending with where the results are.  Owned by the caller (g_free). */
char *table_of_result(const struct run_result *result, const char *dir);

#endif
