/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * summary_path.h - paths into summary.json: "collectives[0].busbw_GBps".
 */
#ifndef ROCESIM_TOOLS_SUMMARY_PATH_H
#define ROCESIM_TOOLS_SUMMARY_PATH_H

#include <jansson.h>

#include "tools/scenario/scenario.h"

/* What 'path' leads to in 'summary', borrowed; NULL: nothing is there. */
json_t *summary_path_find(json_t *summary, const char *path);

/* A summary as one of 'scenario' looks like before the run, with one entry in `collectives`.
 * Owned by the caller. */
json_t *summary_path_shape(const struct scenario *scenario);

/* Does 'path' lead to a single value of 'shape', one by summary_path_shape()?  If not, what is
 * wrong there, owned by the caller; else NULL. */
char *summary_path_fault(const char *path, json_t *shape);

#endif
