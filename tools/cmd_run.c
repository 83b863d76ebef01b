/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_run.c - `rocesim run`: a scenario to a folder of results and a table.
 */
#include <config.h>

#include <string.h>

#include "tools/command.h"
#include "tools/progress.h"
#include "tools/report/plot.h"
#include "tools/results/outdir.h"
#include "tools/results/table.h"
#include "tools/run_files.h"
#include "tools/signals.h"

/* How often signals are asked for, seconds of the wall clock. */
#define POLL_SECONDS 0.02

struct run_options {
    GPtrArray *sets; /* owned: const char *, borrowed */
    const char *out, *seed, *threads, *partition;
    bool plot, json, force, quiet;
};

static const struct option run_options[] = {
    {"set", 0, OPTION_LIST, offsetof(struct run_options, sets), "PATH=VALUE",
     "change the scenario: --set nic.mtu=1024; may be repeated"},
    {"out", 'o', OPTION_TEXT, offsetof(struct run_options, out), "DIR",
     "where results go (results/NAME)"},
    {"seed", 0, OPTION_TEXT, offsetof(struct run_options, seed), "N",
     "the scenario's seed"},
    {"threads", 0, OPTION_TEXT, offsetof(struct run_options, threads), "N",
     "threads, 1 to 64 (by the cores); changes no result"},
    {"partition", 0, OPTION_TEXT, offsetof(struct run_options, partition), "HOW",
     "auto, one, rack or node; changes no result"},
    {"plot", 0, OPTION_FLAG, offsetof(struct run_options, plot), NULL,
     "draw pictures into DIR/plots, too"},
    {"json", 0, OPTION_FLAG, offsetof(struct run_options, json), NULL,
     "print summary.json instead of the table"},
    {"force", 0, OPTION_FLAG, offsetof(struct run_options, force), NULL,
     "replace results that are there"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct run_options, quiet), NULL, "no progress"},
    {"watch", 0, OPTION_LATER, 0, NULL, NULL},
    {"as", 0, OPTION_LATER, 0, "FORMAT", NULL},
    {0},
};

/* A run under way. */
struct job {
    struct run *run;
    struct outdir *dir;
    struct run_files files;
    struct signals signals;
    struct progress progress;
    double begin_s, poll_s;
    uint32_t n_threads;
    enum partition_mode partition;
};

/* ---- options -------------------------------------------------------------------------- */

static gboolean
read_numbers(const struct run_options *options, struct job *job, GError **error)
{
    gint64 seed;

    return options_parallel(options->threads, options->partition, &job->n_threads,
                            &job->partition, error) &&
           (!options->seed ||
            options_number("seed", options->seed, 0, G_MAXINT64, &seed, error));
}

/* ---- the run -------------------------------------------------------------------------- */

static bool
on_epoch(void *ctx, const struct net *net, int64_t now_ps)
{
    struct job *job = ctx;
    double now_s = progress_clock();

    (void)net;
    if (now_s >= job->poll_s) {
        job->poll_s = now_s + POLL_SECONDS;
        signals_poll(&job->signals);
        if (job->signals.state) {
            job->signals.state = false;
            progress_state(&job->progress, now_ps);
        }
        progress_show(&job->progress, now_ps);
    }
    /* Without a place for what it gives the run is in vain. */
    return !job->signals.stop && !run_files_have_failed(&job->files);
}

static void
simulate(struct job *job, bool quiet)
{
    struct net_watch watch = {.on_epoch = on_epoch, .ctx = job};

    run_files_watch(&job->files, &watch);
    run_start(job->run, job->partition, job->n_threads);
    progress_init(&job->progress, job->run, quiet);
    run_go(job->run, &watch);
    progress_end(&job->progress);
}

/* ---- results -------------------------------------------------------------------------- */

static int
report(struct job *job, const struct run_options *options, const char *path)
{
    struct run_result *result = run_read(job->run);
    g_autofree char *summary = NULL;
    GError *error = NULL;
    int status;

    if (!run_files_put(&job->files, job->run, result, job->begin_s, &summary, &error) ||
        !outdir_commit(g_steal_pointer(&job->dir), &error)) {
        run_result_free(result);
        return command_fail(&error, STATUS_OUTPUT);
    }
    status = run_result_status(result);
    if (options->json) {
        fputs(summary, stdout);
    } else {
        g_autofree char *table = table_of_result(result, path);

        fputs(table, stdout);
    }
    run_result_free(result);
    status = command_end(status);
    signals_close(&job->signals);
    if (options->plot && status != STATUS_INTERRUPTED &&
        !plot_results(path, false, options->quiet, &error)) {
        return command_fail(&error, status ? status : STATUS_OUTPUT);
    }
    return status;
}

static int
run_scenario(struct job *job, const struct scenario *scenario,
             const struct run_options *options)
{
    g_autofree char *path = options->out
                                ? g_strdup(options->out)
                                : g_build_filename("results", scenario->name, NULL);
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;

    if (!outdir_check(path, options->force, &error)) {
        return command_fail(&error, STATUS_INPUT);
    }
    command_warn(scenario->warnings);
    job->run = run_new(scenario, warnings, &error);
    command_warn(warnings);
    if (!job->run) {
        return command_fail(&error, STATUS_INPUT);
    }
    job->dir = outdir_new(path, options->force, &error);
    if (!job->dir) {
        bool usage = g_error_matches(error, OUTDIR_ERROR, OUTDIR_ERROR_EXISTS);

        return command_fail(&error, usage ? STATUS_INPUT : STATUS_OUTPUT);
    }
    if (!run_files_open(&job->files, job->dir, job->run, &error)) {
        return command_fail(&error, STATUS_OUTPUT);
    }
    signals_open(&job->signals);
    simulate(job, options->quiet);
    return report(job, options, path);
}

static void
job_clear(struct job *job)
{
    signals_close(&job->signals);
    run_files_close(&job->files);
    outdir_discard(job->dir);
    run_free(job->run);
}

static int
load_and_run(const char *file, struct run_options *options, double begin_s)
{
    struct job job = {.begin_s = begin_s, .signals = {.fd = -1}};
    GError *error = NULL;
    g_autofree char *seed = NULL;
    struct scenario *scenario;
    int status;

    if (!read_numbers(options, &job, &error)) {
        return command_fail(&error, STATUS_INPUT);
    }
    if (options->seed) {
        seed = g_strdup_printf("seed=%s", options->seed);
        g_ptr_array_add(options->sets, seed);
    }
    g_ptr_array_add(options->sets, NULL);
    scenario = scenario_load(file, (const char *const *)options->sets->pdata, &error);
    if (!scenario) {
        return command_fail(&error, STATUS_INPUT);
    }
    status = run_scenario(&job, scenario, options);
    job_clear(&job);
    scenario_free(scenario);
    return status;
}

static int
cmd_run(int argc, char **argv)
{
    double begin_s = progress_clock();
    struct run_options options = {.sets = g_ptr_array_new()};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    int status;

    if (command_begin(&command_run, argc, argv, &options, words, &status)) {
        status = load_and_run(g_ptr_array_index(words, 0), &options, begin_s);
    }
    g_ptr_array_unref(options.sets);
    return status;
}

const struct command command_run = {
    .name = "run",
    .words = "SCENARIO",
    .doc = "Simulates SCENARIO, a JSON file, and writes a folder of results.",
    .more =
        "Status: 0 complete; 1 a bad verdict; 2 bad input; 3 output cannot be written;\n"
        "130 interrupted.  SIGINT or SIGTERM ends the run with the results so far,\n"
        "SIGUSR1 prints how far it is.\n",
    .options = run_options,
    .least_words = 1,
    .most_words = 1,
    .run = cmd_run,
};
