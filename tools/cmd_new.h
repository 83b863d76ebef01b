/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_new.h - the texts of `rocesim new`, for tests.
 */
#ifndef ROCESIM_TOOLS_CMD_NEW_H
#define ROCESIM_TOOLS_CMD_NEW_H

/* The kinds in their order, NULL at the end. */
const char *const *cmd_new_kinds(void);

/* The text of 'kind', a complete scenario, or of "sweep", a sweep; or NULL. */
const char *cmd_new_text(const char *kind);

#endif
