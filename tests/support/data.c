/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * data.c - files of the source tree that tests read.
 */
#include <config.h>

#include "tests/support/data.h"

#include <glib.h>

char *
data_path(const char *below)
{
    const char *srcdir = g_getenv("srcdir");

    return g_build_filename(srcdir ? srcdir : ".", below, NULL);
}
