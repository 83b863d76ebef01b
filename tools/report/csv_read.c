/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * csv_read.c - tables of a results folder, see csv_read.h.
 * Format: RFC 4180 as tools/results/csv.c writes it; no line feeds within quotes.
 */
#include <config.h>

#include "tools/report/csv_read.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/folder.h"

/* Ends the field at 'text' in place, its quotes taken off; returns what follows it, NULL at
 * the end of the line. */
static char *
end_field(char *text)
{
    char *from = text, *to = text;
    bool quoted = *from == '"';

    from += quoted;
    while (*from && (quoted || *from != ',')) {
        if (quoted && *from == '"') {
            from++;
            quoted = *from == '"';
            if (!quoted) {
                continue;
            }
        }
        *to++ = *from++;
    }
    char *next = *from == ',' ? from + 1 : NULL;

    *to = '\0';
    return next;
}

/* Reads a line and cuts it; the number of its fields, 0 at the end of the file.  More than
 * there is room for are counted only. */
static guint
read_fields(struct csv *csv, char *fields[], guint room)
{
    ssize_t length = getline(&csv->text, &csv->room, csv->file);
    guint n = 0;

    if (length <= 0) {
        return 0;
    }
    csv->line++;
    csv->text[strcspn(csv->text, "\r\n")] = '\0';
    for (char *at = csv->text; at; n++) {
        if (n < room) {
            fields[n] = at;
        }
        at = end_field(at);
    }
    return n;
}

struct csv *
csv_open(const char *path, GError **error)
{
    FILE *file = fopen(path, "re");
    struct csv *csv;

    if (!file) {
        g_set_error(error, REPORT_ERROR, REPORT_ERROR_INPUT, "%s: %s", path,
                    g_strerror(errno));
        return NULL;
    }
    csv = g_new0(struct csv, 1);
    csv->path = g_strdup(path);
    csv->file = file;
    csv->names = g_ptr_array_new_with_free_func(g_free);

    char *names[64];
    guint n = read_fields(csv, names, G_N_ELEMENTS(names));

    if (n == 0 || n > G_N_ELEMENTS(names)) {
        g_set_error(error, REPORT_ERROR, REPORT_ERROR_INPUT,
                    "%s: the first line must name the columns", path);
        csv_close(csv);
        return NULL;
    }
    for (guint i = 0; i < n; i++) {
        g_ptr_array_add(csv->names, g_strdup(names[i]));
    }
    csv->n_fields = n;
    csv->fields = g_new0(char *, n);
    return csv;
}

int
csv_column(const struct csv *csv, const char *name)
{
    for (guint i = 0; i < csv->names->len; i++) {
        if (strcmp(g_ptr_array_index(csv->names, i), name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

gboolean
csv_columns(const struct csv *csv, const char *const names[], int columns[], guint n,
            GError **error)
{
    for (guint i = 0; i < n; i++) {
        columns[i] = csv_column(csv, names[i]);
        if (columns[i] < 0) {
            g_set_error(error, REPORT_ERROR, REPORT_ERROR_INPUT,
                        "%s:1: no column '%s'; results of another version?", csv->path,
                        names[i]);
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
csv_next(struct csv *csv, GError **error)
{
    guint n = read_fields(csv, csv->fields, csv->n_fields);

    if (n && n != csv->n_fields) {
        g_set_error(error, REPORT_ERROR, REPORT_ERROR_INPUT,
                    "%s:%u: %u columns; the first line has %u", csv->path, csv->line, n,
                    csv->n_fields);
        return FALSE;
    }
    return n > 0;
}

double
csv_number(const struct csv *csv, int column)
{
    const char *text = csv->fields[column];

    return *text ? g_ascii_strtod(text, NULL) : NAN;
}

void
csv_close(struct csv *csv)
{
    if (!csv) {
        return;
    }
    fclose(csv->file);
    free(csv->text);
    g_free(csv->fields);
    g_free(csv->path);
    g_ptr_array_unref(csv->names);
    g_free(csv);
}
