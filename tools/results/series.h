/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * series.h - series.csv, written while the run goes on, and the records of pauses on their
 * way to pauses.h.
 *
 * Records come merged and in order from the network's probes.  Samples go to a spool of at
 * most SERIES_MAX_RECORDS; when it is full every second sample is dropped, its bytes
 * added to the next one, and the interval is twice as long from then on, for what is
 * written too.  So the file is bounded, and has one interval from end to end.
 */
#ifndef ROCESIM_TOOLS_RESULTS_SERIES_H
#define ROCESIM_TOOLS_RESULTS_SERIES_H

#include "models/net.h"
#include "tools/results/outdir.h"
#include "tools/results/result.h"

/* About 50 MB of series.csv; a guess of what people still load into a table. */
#define SERIES_MAX_RECORDS 1000000

struct series;

/* Opens the files in 'dir' (borrowed) for 'net' (borrowed), which is built.  'max_records':
 * SERIES_MAX_RECORDS, less in a test.  'pfc_txt': pauses as they are heard go to pfc.txt,
 * in the HPCC simulator's format.  Owned by the caller. */
struct series *series_new(const struct outdir *dir, const struct net *net,
                          uint32_t max_records, bool pfc_txt, GError **error);

/* Where the network's records go. */
struct probe_sink series_sink(struct series *series);

/* Has writing failed?  Then the run is in vain. */
gboolean series_has_failed(const struct series *series);

/* Ends all files: pauses that still hold at 'end_ps' are written as lasting until then.
 * '*interval_ps' is that of series.csv, 0 without samples; '*pauses' (may be NULL) is
 * filled as by pauses_finish(). */
gboolean series_finish(struct series *series, int64_t end_ps, int64_t *interval_ps,
                       struct result_pauses *pauses, GError **error);

void series_free(struct series *series); /* accepts NULL */

#endif
