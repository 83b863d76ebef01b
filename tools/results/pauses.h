/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pauses.h - pfc.csv and pfc.txt, written while the run goes on, and pfc-tree.txt behind it.
 *
 * All pauses are kept until the end, 32 bytes each; their line of pfc.csv takes more.
 */
#ifndef ROCESIM_TOOLS_RESULTS_PAUSES_H
#define ROCESIM_TOOLS_RESULTS_PAUSES_H

#include "tools/results/outdir.h"
#include "tools/results/result.h"

struct pauses;

/* Opens pfc.csv in 'dir' (borrowed) for 'net' (borrowed), which is built, and with 'has_txt'
 * pfc.txt, pauses as they are heard in the HPCC simulator's format.  Owned by the caller. */
struct pauses *pauses_new(const struct outdir *dir, const struct net *net, bool has_txt,
                          GError **error);

/* Takes a record of PROBE_PAUSE. */
void pauses_add(struct pauses *pauses, const struct probe_record *record);

/* Takes a record of PROBE_PAUSE_HEARD, with 'has_txt' only. */
void pauses_heard(struct pauses *pauses, const struct probe_record *record);

/* Has writing failed? */
gboolean pauses_have_failed(const struct pauses *pauses);

/* Ends pfc.txt and pfc.csv, with the pauses that still hold as lasting until 'end_ps', and writes
 * pfc-tree.txt if there was any.  Fills '*sum' (may be NULL), which then owns its roots. */
gboolean pauses_finish(struct pauses *pauses, int64_t end_ps, struct result_pauses *sum,
                       GError **error);

void pauses_free(struct pauses *pauses); /* accepts NULL */

#endif
