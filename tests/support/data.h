/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * data.h - files of the source tree that tests read.
 */
#ifndef ROCESIM_TESTS_SUPPORT_DATA_H
#define ROCESIM_TESTS_SUPPORT_DATA_H

/* Path of the file 'below' the source folder ($srcdir, else the working folder).  Owned by
 * the caller: g_free(). */
char *data_path(const char *below);

#endif
