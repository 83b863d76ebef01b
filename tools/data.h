/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * data.h - where the program's data files are: profiles, examples.
 *
 * Looked for, in this order, below $ROCESIM_DATADIR, the folder of the program, and the
 * folder it was installed to; all have the layout of the source tree.
 */
#ifndef ROCESIM_TOOLS_DATA_H
#define ROCESIM_TOOLS_DATA_H

#include <glib.h>

/* The full path of 'relative' ("models/profiles/ecn-sets.json"), or NULL where there is no
 * such file.  Owned by the caller. */
char *data_find(const char *relative);

/* Names of files "PREFIXnameSUFFIX" in the folder 'relative' of the first place that has the
 * folder, without prefix and suffix, sorted, NULL at the end.  g_strfreev(). */
char **data_list(const char *relative, const char *prefix, const char *suffix);

#endif
