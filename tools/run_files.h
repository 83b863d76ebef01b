/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_files.h - the files of a run, written into its folder.
 */
#ifndef ROCESIM_TOOLS_RUN_FILES_H
#define ROCESIM_TOOLS_RUN_FILES_H

#include "tools/results/outdir.h"
#include "tools/results/series.h"
#include "tools/run.h"

/* Writes all files of 'result' into 'dir'; also judges `expect`, once the wall time since
 * 'begin_s' (progress_clock()) is known.  'series' NULL: config.json and summary.json alone.
 * '*summary' is the text of summary.json, owned by the caller, on an error too. */
gboolean run_files_put(const struct outdir *dir, const struct run *run,
                       struct run_result *result, struct series *series, double begin_s,
                       char **summary, GError **error);

#endif
