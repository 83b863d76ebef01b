/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * formats.h - the formats of `rocesim import`, see import.h.
 */
#ifndef ROCESIM_TOOLS_IMPORT_FORMATS_H
#define ROCESIM_TOOLS_IMPORT_FORMATS_H

#include <glib.h>

char *import_hpcc(const char *const *files, GPtrArray *warnings, GError **error);
char *import_conweave(const char *const *files, GPtrArray *warnings, GError **error);
char *import_ns3dc(const char *const *files, GPtrArray *warnings, GError **error);
char *import_ns3rdma(const char *const *files, GPtrArray *warnings, GError **error);
char *import_simai(const char *const *files, GPtrArray *warnings, GError **error);
char *import_htsim(const char *const *files, GPtrArray *warnings, GError **error);

#endif
