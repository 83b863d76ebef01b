/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sweep.h - a sweep: a scenario with values that vary, and seeds.
 *
 * Points are numbered with the axis written last going fastest; those of `zip` go together, as
 * one more axis behind the others.  Run number point x n_seeds + seed is that point with
 * that seed.  docs/sweep.md describes the file.
 */
#ifndef ROCESIM_TOOLS_SWEEP_SWEEP_H
#define ROCESIM_TOOLS_SWEEP_SWEEP_H

#include <glib.h>
#include <jansson.h>

#include "tools/scenario/scenario.h"

/* Most runs of a sweep; a guess of what somebody means. */
#define SWEEP_MAX_RUNS 100000

/* A value that varies. */
struct sweep_axis {
    char *path;     /* owned: "switch.ecn.kmin" */
    json_t *values; /* owned: array, not empty */
    bool is_zipped;
};

struct sweep {
    char *file;         /* owned; for messages */
    char *name;         /* owned */
    char *base_file;    /* owned; what messages on the scenario call it */
    json_t *base;       /* owned: all bases merged, paths absolute */
    char *base_text;    /* owned: the same as text */
    GArray *axes;       /* owned: struct sweep_axis; zipped ones last */
    GArray *seeds;      /* owned: int64_t */
    GPtrArray *metrics; /* owned: char *, paths into summary.json */
    bool keep_all; /* every file of a run stays, not config.json and summary.json alone */
    uint32_t n_points, n_runs;
};

/* Loads 'path' and checks that every point is a scenario.  Owned by the caller; NULL with
 * 'error', whose message is one whole line. */
struct sweep *sweep_load(const char *path, GError **error);

void sweep_free(struct sweep *sweep); /* accepts NULL */

/* The value of 'axis' at 'point', borrowed. */
json_t *sweep_value(const struct sweep *sweep, uint32_t axis, uint32_t point);

/* The same as text: a text bare, all else as JSON.  Owned by the caller. */
char *sweep_value_text(const struct sweep *sweep, uint32_t axis, uint32_t point);

/* "point 3 (nic.mtu=1024, cc.preset=paper)".  Owned by the caller. */
char *sweep_point_text(const struct sweep *sweep, uint32_t point);

/* The seed of 'run'. */
int64_t sweep_seed(const struct sweep *sweep, uint32_t run);

/* The scenario of 'run'. */
struct scenario *sweep_scenario(const struct sweep *sweep, uint32_t run, GError **error);

/* Name of the folder of 'run': "0003-seed1".  Owned by the caller. */
char *sweep_run_name(const struct sweep *sweep, uint32_t run);

/* The sweep as a file that needs no other: base in it, seeds and metrics listed.  Owned by
 * the caller (g_free). */
char *sweep_to_text(const struct sweep *sweep);

#endif
