/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flows_csv.h - flows from a table: a first line with the names src,dst,bytes,start in any
 * order (start may be missing), then one line a flow.
 *
 * src and dst are names or numbers, bytes a number or a size ("65536", "64KiB"),
 * start a time with its unit ("1.5us") or 0.  Empty lines and lines that begin with
 * '#' are skipped.
 */
#ifndef ROCESIM_TOOLS_SCENARIO_FLOWS_CSV_H
#define ROCESIM_TOOLS_SCENARIO_FLOWS_CSV_H

#include <glib.h>

#include "tools/scenario/scenario.h"

/* Appends the flows of 'path' to 'flows' (struct scenario_flow). */
gboolean flows_csv_read(const char *path, GArray *flows, GError **error);

/* The same from memory; 'file' is for messages. */
gboolean flows_csv_parse(const char *file, const char *data, size_t n_bytes,
                         GArray *flows, GError **error);

#endif
