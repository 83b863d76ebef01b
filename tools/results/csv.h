/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * csv.h - the tables of a results folder: flows.csv, collectives.csv, ports.csv, fct.txt.
 * docs/results.md describes their columns.
 */
#ifndef ROCESIM_TOOLS_RESULTS_CSV_H
#define ROCESIM_TOOLS_RESULTS_CSV_H

#include <stdio.h>

#include "tools/results/result.h"

/* Each writes its file's whole text to 'out'; errors are ferror()'s. */
void csv_flows(const struct run_result *result, FILE *out);
void csv_collectives(const struct run_result *result, FILE *out);
void csv_ports(const struct run_result *result, FILE *out);

/* The completion times as the HPCC simulator writes them: flows that are done, in order of
 * completion. */
void csv_fct(const struct run_result *result, FILE *out);

#endif
