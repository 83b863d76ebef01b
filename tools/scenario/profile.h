/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile.h - NICs, switches and ECN sets that are data: docs/profiles.md.
 */
#ifndef ROCESIM_TOOLS_SCENARIO_PROFILE_H
#define ROCESIM_TOOLS_SCENARIO_PROFILE_H

#include <glib.h>
#include <jansson.h>

#include "tools/scenario/doc.h"

/* The values of profile 'name' of 'device' ("nic", "switch") as an object of keys and
 * values, as a scenario would have them; '*file' is where they stand (owned by the
 * caller).  'at': the place in the scenario that names it.  Owned by the caller. */
json_t *profile_values(const struct doc_at *at, const char *device, const char *name,
                       char **file, GError **error);

/* The ECN set called 'name': an object with `scale` and `entries`; likewise. */
json_t *profile_ecn_set(const struct doc_at *at, const char *name, char **file,
                        GError **error);

/* Does 'text', a `cdf`, mean a file of the user's, rather than one that comes along? */
bool profile_is_cdf_path(const char *text);

/* The full path of the distribution of flow sizes called 'name'.  Owned by the caller. */
char *profile_cdf(const struct doc_at *at, const char *name, GError **error);

/* Names of those that come along, sorted, NULL at the end.  g_strfreev(). */
char **profile_cdf_names(void);

#endif
