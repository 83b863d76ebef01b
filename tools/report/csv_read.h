/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * csv_read.h - the tables of a results folder, read line by line, columns by name.
 *
 *     struct csv *csv = csv_open(path, &error);
 *     int bytes = csv_column(csv, "bytes");
 *     while (csv_next(csv, &error)) { ... csv->fields[bytes] ... }
 *     csv_close(csv);
 */
#ifndef ROCESIM_TOOLS_REPORT_CSV_READ_H
#define ROCESIM_TOOLS_REPORT_CSV_READ_H

#include <glib.h>

struct csv {
    char **fields; /* owned: of the present line; the first line's before any other */
    guint n_fields;
    guint line; /* its number, from 1 */
    /* Private. */
    char *path; /* owned */
    void *file; /* owned: FILE */
    char *text; /* owned: of the line */
    gsize room;
    GPtrArray *names; /* owned: char *, of the columns */
};

/* Opens 'path' and reads the names of its columns.  Owned by the caller; NULL: it cannot be
 * read, or is empty (REPORT_ERROR_INPUT). */
struct csv *csv_open(const char *path, GError **error);

/* The column called 'name', or -1. */
int csv_column(const struct csv *csv, const char *name);

/* The columns called 'names' ('n' of them) into 'columns'; FALSE names the first that is
 * missing. */
gboolean csv_columns(const struct csv *csv, const char *const names[], int columns[],
                     guint n, GError **error);

/* Reads the next line into csv->fields.  FALSE: there is none, or with 'error' it has not the
 * columns of the first one. */
gboolean csv_next(struct csv *csv, GError **error);

/* The field of 'column' as a number; an empty one is NAN. */
double csv_number(const struct csv *csv, int column);

void csv_close(struct csv *csv); /* accepts NULL */

#endif
