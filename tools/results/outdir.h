/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * outdir.h - a folder of results that appears whole or not at all.
 *
 * Files are written into a hidden folder beside the wanted one, which takes its name at the
 * end in one step.  With 'force' the old folder stays until then.
 */
#ifndef ROCESIM_TOOLS_RESULTS_OUTDIR_H
#define ROCESIM_TOOLS_RESULTS_OUTDIR_H

#include <glib.h>
#include <stdio.h>

#define OUTDIR_ERROR outdir_error_quark()
GQuark outdir_error_quark(void);

enum outdir_error {
    OUTDIR_ERROR_EXISTS, /* the name is taken: bad usage */
    OUTDIR_ERROR_WRITE,  /* it cannot be written */
};

struct outdir {
    char *path;      /* owned: as wanted */
    char *temp;      /* owned: where files go until the commit */
    GPtrArray *made; /* owned: char *, parents made for it, outermost first */
    gboolean force;
};

/* Refuses 'path' when it exists, or with 'force' when it is not an older folder of results
 * (which holds a summary.json) and not empty.  Touches nothing. */
gboolean outdir_check(const char *path, gboolean force, GError **error);

/* Checks likewise, makes the parents and the hidden folder.  Owned by the caller, ended by
 * outdir_commit() or outdir_discard(). */
struct outdir *outdir_new(const char *path, gboolean force, GError **error);

/* Opens file 'name' in it for writing. */
FILE *outdir_open(const struct outdir *dir, const char *name, GError **error);

/* Closes 'file' (steals it) of that name; FALSE if anything written to it was lost. */
gboolean outdir_close(const struct outdir *dir, const char *name, FILE *file,
                      GError **error);

/* Writes 'text' as file 'name'. */
gboolean outdir_write(const struct outdir *dir, const char *name, const char *text,
                      GError **error);

/* Removes the folder 'path' if it is one of results. */
void outdir_erase(const char *path);

/* Removes file 'name', if it is there. */
void outdir_remove(const struct outdir *dir, const char *name);

/* Gives the folder its name; on an error nothing new is left.  Frees 'dir' (steals it). */
gboolean outdir_commit(struct outdir *dir, GError **error);

/* Removes all that was made; frees 'dir' (steals it); accepts NULL. */
void outdir_discard(struct outdir *dir);

#endif
