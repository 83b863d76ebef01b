/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * family.h - what the HPCC simulator and its forks share: their configuration, and the parts
 * of a scenario that it becomes.
 */
#ifndef ROCESIM_TOOLS_IMPORT_FAMILY_H
#define ROCESIM_TOOLS_IMPORT_FAMILY_H

#include "tools/import/import.h"

/* Keys of the HPCC simulator, ConWeave, ns3-datacenter and SimAI. */
extern const struct config_key family_keys[];

/* Reads 'file' as 'dialect' and refuses what cannot be had here. */
struct config *family_read(const char *file, enum config_dialect dialect, GError **error);

/* Writes `compat`, `wire`, `seed` and `stop`; `nic`, `switch`, `cc`; `faults`. */
void family_put_head(struct import_out *out, const struct config *config,
                     enum config_dialect dialect);
gboolean family_put_devices(struct import_out *out, struct config *config,
                            enum config_dialect dialect, const struct topo_file *topo,
                            GError **error);
gboolean family_put_faults(struct import_out *out, const struct config *config,
                           const struct topo_file *topo, GError **error);

#endif
