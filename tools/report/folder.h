/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * folder.h - a folder of results as later commands find it.
 */
#ifndef ROCESIM_TOOLS_REPORT_FOLDER_H
#define ROCESIM_TOOLS_REPORT_FOLDER_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#define REPORT_ERROR report_error_quark()
GQuark report_error_quark(void);

enum report_error {
    REPORT_ERROR_INPUT, /* no folder of results, or one that cannot be read */
    REPORT_ERROR_TOOL,  /* gnuplot is missing or has failed */
    REPORT_ERROR_WRITE, /* output cannot be written */
};

struct folder {
    char *dir;       /* owned */
    json_t *summary; /* owned: an object */
    json_t *config;  /* owned: likewise */
};

/* Reads summary.json and config.json of 'dir'.  FALSE: it is no folder of results. */
gboolean folder_read(struct folder *folder, const char *dir, GError **error);
void folder_clear(struct folder *folder);

/* Path of file 'name' in it (g_free). */
char *folder_file(const struct folder *folder, const char *name);

/* What stands at 'path' ("flows.fct_us.p50", "workload[0].bytes"), or NULL.  Borrowed. */
const json_t *folder_at(const json_t *root, const char *path);

/* The number or text there; else NAN, NULL. */
double folder_number(const json_t *root, const char *path);
const char *folder_text(const json_t *root, const char *path);

#endif
