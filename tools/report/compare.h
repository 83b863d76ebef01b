/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * compare.h - several folders of results side by side; all differences are to the first one.
 */
#ifndef ROCESIM_TOOLS_REPORT_COMPARE_H
#define ROCESIM_TOOLS_REPORT_COMPARE_H

#include "tools/report/folder.h"

/* Something both have: a figure of summary.json, or one that follows from it. */
struct compare_figure {
    char *key;       /* owned: its path in summary.json, or a name of the same form */
    char *title;     /* owned: for people, with its unit */
    unsigned places; /* decimals a table shows */
    double *values;  /* owned: by folder; NAN: it has none */
};

/* A key of config.json whose value is not the same everywhere. */
struct compare_key {
    char *path;    /* owned */
    char **values; /* owned: by folder, as JSON; NULL: not there */
    guint n;
};

/* A flow in the first folder and in another. */
struct compare_flow {
    char *name; /* owned: "workload 0, flow 3, host1 to host0"; NULL: there is none */
    double first, other;
};

/* Flows of a folder against those of the first one. */
struct compare_flows {
    guint n_both, n_only_first, n_only_other;
    guint n_unlike;      /* of both: with other ends or bytes, so not compared */
    guint n_compared;    /* both are done */
    double mean_percent; /* mean change of their slowdown; NAN without any */
    struct compare_flow rise, fall; /* largest changes of slowdown, by quotient */
};

struct compare {
    struct folder *folders; /* owned */
    guint n;
    GPtrArray *notes;            /* owned: char *, what makes a comparison doubtful */
    GPtrArray *figures;          /* owned: struct compare_figure */
    GPtrArray *keys;             /* owned: struct compare_key, by path */
    struct compare_flows *flows; /* owned: by folder; the first is empty */
};

/* Reads 'n' (>= 2) folders.  NULL: one is no folder of results.  Owned by the caller. */
struct compare *compare_new(char *const dirs[], guint n, GError **error);
void compare_free(struct compare *compare); /* accepts NULL */

/* Change from 'first' to 'other' in percent; NAN where there is none to tell. */
double compare_percent(double first, double other);

/* A table of at most 100 columns; JSON.  Owned by the caller (g_free). */
char *compare_text(const struct compare *compare);
char *compare_json(const struct compare *compare);

#endif
