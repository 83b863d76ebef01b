/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_sweep.c - `rocesim sweep`: many runs of a scenario to one table.
 *
 * DIR/sweep.json is written first, DIR/runs/NAME of a run when that has ended, the tables at
 * the end; so what has been done is never lost, and --resume knows it.
 */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "tools/command.h"
#include "tools/results/outdir.h"
#include "tools/sweep/crew.h"
#include "tools/sweep/record.h"
#include "tools/sweep/table.h"

struct sweep_options {
    const char *out, *jobs, *shard;
    bool resume, collect, force, quiet;
};

static const struct option sweep_options[] = {
    {"jobs", 'j', OPTION_TEXT, offsetof(struct sweep_options, jobs), "N",
     "runs at a time (by the cores); changes no result"},
    {"out", 'o', OPTION_TEXT, offsetof(struct sweep_options, out), "DIR",
     "where results go (results/NAME)"},
    {"resume", 0, OPTION_FLAG, offsetof(struct sweep_options, resume), NULL,
     "go on in DIR: runs that are done are not done again"},
    {"shard", 0, OPTION_TEXT, offsetof(struct sweep_options, shard), "I/N",
     "only part I, from 1 on, of N; each part needs its own DIR"},
    {"collect", 0, OPTION_FLAG, offsetof(struct sweep_options, collect), NULL,
     "run nothing: put runs of the folders behind SWEEP together"},
    {"force", 0, OPTION_FLAG, offsetof(struct sweep_options, force), NULL,
     "replace a sweep that is there"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct sweep_options, quiet), NULL,
     "no progress"},
    {0},
};

/* A sweep under way. */
struct job {
    const struct sweep *sweep;
    const struct sweep_options *options;
    char *path, *folder;          /* owned: DIR, DIR/runs */
    struct sweep_record *records; /* owned, by run */
    bool *mine;                   /* owned, by run: of this shard */
    uint32_t n_jobs, shard, n_shards;
};

/* ---- options -------------------------------------------------------------------------- */

static gboolean fail_usage(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean
fail_usage(GError **error, const char *format, ...)
{
    va_list arguments;
    g_autofree char *message = NULL;

    va_start(arguments, format);
    message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error_literal(error, OPTION_ERROR, OPTION_ERROR_USAGE, message);
    return FALSE;
}

static gboolean
read_shard(struct job *job, const char *text, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, "/", 2);
    gint64 index, n;

    if (!parts[0] || !parts[1] ||
        !g_ascii_string_to_signed(parts[1], 10, 1, SWEEP_MAX_RUNS, &n, NULL) ||
        !g_ascii_string_to_signed(parts[0], 10, 1, n, &index, NULL)) {
        return fail_usage(
            error, "--shard: '%s'; allowed is I/N, I from 1 to N, such as 2/4", text);
    }
    job->shard = (uint32_t)index - 1;
    job->n_shards = (uint32_t)n;
    return TRUE;
}

static gboolean
read_options(struct job *job, guint n_words, GError **error)
{
    const struct sweep_options *o = job->options;
    gint64 n = g_get_num_processors();

    job->n_shards = 1;
    if (o->collect && (o->resume || o->shard || o->jobs)) {
        return fail_usage(error, "--collect runs nothing; not allowed with it is --%s",
                          o->resume  ? "resume"
                          : o->shard ? "shard"
                                     : "jobs");
    }
    if (o->collect && n_words < 2) {
        return fail_usage(error,
                          "--collect: no folder behind SWEEP; at least 1 is needed");
    }
    if (!o->collect && n_words > 1) {
        return fail_usage(error, "sweep: more than one word; folders are allowed with "
                                 "--collect");
    }
    if (o->resume && o->force) {
        return fail_usage(error, "--resume goes on, --force begins anew; allowed is one");
    }
    if (o->jobs && !options_number("jobs", o->jobs, 1, CREW_MAX, &n, error)) {
        return FALSE;
    }
    job->n_jobs = (uint32_t)n;
    return !o->shard || read_shard(job, o->shard, error);
}

/* ---- the folder ----------------------------------------------------------------------- */

/* May 'job->path' be written into?  A folder that is there must be a sweep's. */
static gboolean
check_folder(const struct job *job, GError **error)
{
    g_autofree char *mark = g_build_filename(job->path, "sweep.json", NULL);
    bool is_there = g_file_test(job->path, G_FILE_TEST_EXISTS);

    if (!is_there || (g_file_test(mark, G_FILE_TEST_IS_REGULAR) &&
                      (job->options->resume || job->options->force))) {
        return TRUE;
    }
    if (g_file_test(mark, G_FILE_TEST_IS_REGULAR)) {
        return fail_usage(
            error, "%s: exists already; --resume goes on there, --force replaces it",
            job->path);
    }
    return fail_usage(error, "%s: exists already, and is no folder of a sweep",
                      job->path);
}

static gboolean
put_file(const struct job *job, const char *name, const char *text, GError **error)
{
    g_autofree char *path = g_build_filename(job->path, name, NULL);
    g_autoptr(GError) cause = NULL;

    if (!g_file_set_contents(path, text, -1, &cause)) {
        g_set_error(error, OUTDIR_ERROR, OUTDIR_ERROR_WRITE, "%s: cannot be written: %s",
                    path, cause->message);
        return FALSE;
    }
    return TRUE;
}

/* Removes runs of an older sweep that are none of this one. */
static void
remove_old(const struct job *job)
{
    g_autoptr(GDir) names = g_dir_open(job->folder, 0, NULL);
    g_autoptr(GHashTable) wanted =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const char *name;

    for (uint32_t run = 0; run < job->sweep->n_runs; run++) {
        g_hash_table_add(wanted, sweep_run_name(job->sweep, run));
    }
    while (names && (name = g_dir_read_name(names)) != NULL) {
        g_autofree char *path = g_build_filename(job->folder, name, NULL);

        if (job->options->force || !g_hash_table_contains(wanted, name)) {
            outdir_erase(path);
        }
    }
}

static gboolean
make_folder(const struct job *job, GError **error)
{
    g_autofree char *text = sweep_to_text(job->sweep);

    if (g_mkdir_with_parents(job->folder, 0777) != 0) {
        g_set_error(error, OUTDIR_ERROR, OUTDIR_ERROR_WRITE,
                    "%s: cannot make the folder: %s", job->folder, g_strerror(errno));
        return FALSE;
    }
    remove_old(job);
    return put_file(job, "sweep.json", text, error);
}

/* The folder of 'run' below 'folder'.  Owned by the caller. */
static char *
run_path(const struct job *job, const char *folder, uint32_t run)
{
    g_autofree char *name = sweep_run_name(job->sweep, run);

    return g_build_filename(folder, name, NULL);
}

/* ---- runs ----------------------------------------------------------------------------- */

static bool
read_record(const struct job *job, uint32_t run)
{
    g_autofree char *path = run_path(job, job->folder, run);

    return sweep_record_read(job->sweep, run, path, &job->records[run]);
}

/* What 'end' says of a run that has left no record. */
static void
note_end(struct sweep_record *record, const struct crew_end *end)
{
    if (end->is_there && end->crashed) {
        record->verdict = g_strdup("crashed");
        record->status = STATUS_VERDICT;
    }
}

static enum crew_outcome
make_runs(const struct job *job)
{
    uint32_t n_runs = job->sweep->n_runs, n = 0;
    g_autofree uint32_t *runs = g_new(uint32_t, n_runs);
    g_autofree struct crew_end *ends = g_new0(struct crew_end, n_runs);
    enum crew_outcome outcome;

    for (uint32_t run = 0; run < n_runs; run++) {
        job->mine[run] = run % job->n_shards == job->shard;
        if (job->mine[run] && !(job->options->resume && read_record(job, run))) {
            runs[n++] = run;
        }
    }
    outcome = crew_run(job->sweep, runs, n, job->n_jobs, job->folder, job->options->quiet,
                       ends);
    for (uint32_t i = 0; i < n; i++) {
        if (ends[i].is_there && !read_record(job, runs[i])) {
            note_end(&job->records[runs[i]], &ends[i]);
        }
    }
    return outcome;
}

/* Copies 'run' from the first of 'folders' that has it; without one it stays missing. */
static gboolean
collect_run(const struct job *job, uint32_t run, const GPtrArray *folders, GError **error)
{
    g_autofree char *to = run_path(job, job->folder, run);

    for (guint i = 1; i < folders->len; i++) {
        g_autofree char *below =
            g_build_filename(g_ptr_array_index(folders, i), "runs", NULL);
        g_autofree char *from = run_path(job, below, run);

        if (!sweep_record_read(job->sweep, run, from, &job->records[run])) {
            continue;
        }
        return sweep_record_copy(from, to, error);
    }
    return TRUE;
}

static gboolean
check_collected(const GPtrArray *folders, GError **error)
{
    for (guint i = 1; i < folders->len; i++) {
        const char *folder = g_ptr_array_index(folders, i);
        g_autofree char *mark = g_build_filename(folder, "sweep.json", NULL);

        if (!g_file_test(mark, G_FILE_TEST_IS_REGULAR)) {
            return fail_usage(error, "--collect: '%s' is no folder of a sweep", folder);
        }
    }
    return TRUE;
}

static gboolean
collect(const struct job *job, const GPtrArray *folders, GError **error)
{
    for (uint32_t run = 0; run < job->sweep->n_runs; run++) {
        job->mine[run] = true;
        if (!collect_run(job, run, folders, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* ---- the end -------------------------------------------------------------------------- */

static gboolean
write_tables(const struct job *job, GError **error)
{
    g_autofree char *runs = sweep_runs_csv(job->sweep, job->records, job->mine);
    g_autofree char *points = sweep_points_csv(job->sweep, job->records, job->mine);

    return put_file(job, "runs.csv", runs, error) &&
           put_file(job, "sweep.csv", points, error);
}

/* 0, or 1 when a run is missing or has ended badly. */
static int
status_of_runs(const struct job *job)
{
    for (uint32_t run = 0; run < job->sweep->n_runs; run++) {
        if (job->mine[run] && (!job->records[run].verdict || job->records[run].status)) {
            return STATUS_VERDICT;
        }
    }
    return STATUS_OK;
}

static void
print_table(const struct job *job)
{
    g_autofree char *table = sweep_text_table(job->sweep, job->records, job->mine);
    uint32_t n = 0, n_done = 0, n_good = 0;

    for (uint32_t run = 0; run < job->sweep->n_runs; run++) {
        n += job->mine[run];
        n_done += job->mine[run] && job->records[run].verdict;
        n_good +=
            job->mine[run] && job->records[run].verdict && !job->records[run].status;
    }
    printf(
        "sweep       %s, %u point%s, %u of %u runs done, %u well\n\n%s\nresults     %s\n",
        job->sweep->name, job->sweep->n_points, job->sweep->n_points == 1 ? "" : "s",
        n_done, n, n_good, table, job->path);
}

static int
work(struct job *job, const GPtrArray *words)
{
    enum crew_outcome outcome = CREW_DONE;
    GError *error = NULL;

    if (!make_folder(job, &error)) {
        return command_fail(&error, STATUS_OUTPUT);
    }
    if (!job->options->collect) {
        outcome = make_runs(job);
    } else if (!collect(job, words, &error)) {
        return command_fail(&error, STATUS_OUTPUT);
    }
    if (!write_tables(job, &error)) {
        return command_fail(&error, STATUS_OUTPUT);
    }
    print_table(job);
    return command_end(outcome == CREW_INTERRUPTED ? STATUS_INTERRUPTED
                       : outcome == CREW_FAILED    ? STATUS_OUTPUT
                                                   : status_of_runs(job));
}

static void
job_clear(struct job *job)
{
    for (uint32_t run = 0; job->sweep && run < job->sweep->n_runs; run++) {
        sweep_record_clear(&job->records[run]);
    }
    g_free(job->records);
    g_free(job->mine);
    g_free(job->path);
    g_free(job->folder);
}

static int
load_and_work(const GPtrArray *words, const struct sweep_options *options)
{
    struct job job = {.options = options};
    struct sweep *sweep;
    GError *error = NULL;
    int status;

    if (!read_options(&job, words->len, &error) || !check_collected(words, &error)) {
        return command_fail(&error, STATUS_INPUT);
    }
    sweep = sweep_load(g_ptr_array_index(words, 0), &error);
    if (!sweep) {
        return command_fail(&error, STATUS_INPUT);
    }
    job.sweep = sweep;
    job.path = options->out ? g_strdup(options->out)
                            : g_build_filename("results", sweep->name, NULL);
    job.folder = g_build_filename(job.path, "runs", NULL);
    job.records = g_new0(struct sweep_record, sweep->n_runs);
    job.mine = g_new0(bool, sweep->n_runs);
    status = check_folder(&job, &error) ? work(&job, words)
                                        : command_fail(&error, STATUS_INPUT);
    job_clear(&job);
    sweep_free(sweep);
    return status;
}

static int
cmd_sweep(int argc, char **argv)
{
    struct sweep_options options = {.out = NULL};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    int status;

    if (command_begin(&command_sweep, argc, argv, &options, words, &status)) {
        status = load_and_work(words, &options);
    }
    return status;
}

const struct command command_sweep = {
    .name = "sweep",
    .words = "SWEEP",
    .doc = "Simulates a scenario over a grid of values and seeds.",
    .more =
        "SWEEP is a JSON file: base (a scenario), axes, zip, seeds, metrics; `rocesim "
        "new\n"
        "sweep` prints one, docs/sweep.md explains it.  DIR gets sweep.csv, a line a "
        "point\n"
        "with mean, standard deviation and 95 % confidence interval of each metric,\n"
        "runs.csv, a line a run, and a folder a run.  To use several machines:\n"
        "\n"
        "  rocesim sweep SWEEP --shard 1/2 --out A     on one\n"
        "  rocesim sweep SWEEP --shard 2/2 --out B     on the other\n"
        "  rocesim sweep SWEEP --collect A B           then\n"
        "\n"
        "Status: 0 all runs are done and ended well; 1 not all; 2 bad input; 3 output\n"
        "cannot be written; 130 interrupted: what is done stays, --resume goes on.\n",
    .options = sweep_options,
    .least_words = 1,
    .most_words = 1000,
    .run = cmd_sweep,
};
