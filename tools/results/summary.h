/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * summary.h - the text of summary.json.
 */
#ifndef ROCESIM_TOOLS_RESULTS_SUMMARY_H
#define ROCESIM_TOOLS_RESULTS_SUMMARY_H

#include "tools/results/result.h"

/* The text of summary.json, with its line end.  Owned by the caller (g_free). */
char *summary_to_json(const struct run_result *result);

#endif
