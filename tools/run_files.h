/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_files.h - the files of a run, written into its folder while it goes on and at its end.
 *
 *     run_files_open(&files, dir, run, &error);      after run_new()
 *     run_files_watch(&files, &watch);               what run_go() gets
 *     run_files_put(&files, ...); outdir_commit(dir, ...);
 *     run_files_close(&files);                       always
 *
 * A struct that has only 'dir' writes config.json and summary.json alone.
 */
#ifndef ROCESIM_TOOLS_RUN_FILES_H
#define ROCESIM_TOOLS_RUN_FILES_H

#include "tools/results/capture.h"
#include "tools/results/outdir.h"
#include "tools/results/series.h"
#include "tools/run.h"

struct run_files {
    const struct outdir *dir; /* borrowed */
    struct series *series;    /* owned; NULL: only the summary is written */
    struct capture *capture;  /* owned; likewise */
};

/* Opens what is written while 'run' goes on. */
gboolean run_files_open(struct run_files *files, const struct outdir *dir,
                        const struct run *run, GError **error);

/* Has 'watch' bring records and frames. */
void run_files_watch(const struct run_files *files, struct net_watch *watch);

/* Could something not be written? */
gboolean run_files_have_failed(const struct run_files *files);

/* Writes all else of 'result'; also judges `expect`, once the wall time since 'begin_s'
 * (progress_clock()) is known.  '*summary' is the text of summary.json, owned by the caller, on
 * an error too. */
gboolean run_files_put(struct run_files *files, const struct run *run,
                       struct run_result *result, double begin_s, char **summary,
                       GError **error);

void run_files_close(struct run_files *files);

#endif
