/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * record.c - one run of a sweep, see record.h.
 */
#include <config.h>

#include "tools/sweep/record.h"

#include <math.h>
#include <string.h>

#include "tools/command.h"
#include "tools/progress.h"
#include "tools/results/json_out.h"
#include "tools/run_files.h"
#include "tools/scenario/doc.h"
#include "tools/signals.h"
#include "tools/summary_path.h"

#define BAD_INPUT "bad-input"

/* How often signals are asked for, seconds of the wall clock. */
#define POLL_SECONDS 0.02

void
sweep_record_clear(struct sweep_record *record)
{
    g_clear_pointer(&record->verdict, g_free);
    g_clear_pointer(&record->values, g_free);
}

/* ---- making --------------------------------------------------------------------------- */

struct job {
    struct signals signals;
    struct run_files files;
    double poll_s;
};

static bool
on_epoch(void *ctx, const struct net *net, int64_t now_ps)
{
    struct job *job = ctx;
    double now_s = progress_clock();

    (void)net;
    (void)now_ps;
    if (now_s >= job->poll_s) {
        job->poll_s = now_s + POLL_SECONDS;
        signals_poll(&job->signals);
    }
    return !job->signals.stop && !run_files_have_failed(&job->files);
}

static void
simulate(struct job *job, struct run *run)
{
    struct net_watch watch = {.on_epoch = on_epoch, .ctx = job};

    run_files_watch(&job->files, &watch);
    signals_open(&job->signals);
    run_start(run, PARTITION_AUTO, 1);
    run_go(run, &watch);
    signals_poll(&job->signals);
}

static gboolean
write_status(const struct outdir *dir, int status, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    struct json_out json;

    json_out_init(&json, text);
    json_out_open(&json, NULL, '{', false);
    json_out_text(&json, "version", PACKAGE_VERSION);
    json_out_int(&json, "status", status);
    json_out_close(&json, '}');
    return outdir_write(dir, "run.json", text->str, error);
}

/* A run that cannot be built. */
static gboolean
write_bad_input(struct outdir *dir, const struct scenario *scenario, const char *why,
                GError **error)
{
    g_autofree char *config = scenario_to_text(scenario);
    g_autoptr(GString) text = g_string_new(NULL);
    struct json_out json;

    json_out_init(&json, text);
    json_out_open(&json, NULL, '{', false);
    json_out_text(&json, "version", PACKAGE_VERSION);
    json_out_text(&json, "scenario", scenario->name);
    json_out_int(&json, "seed", scenario->seed);
    json_out_text(&json, "verdict", BAD_INPUT);
    json_out_open(&json, "why", '[', false);
    json_out_text(&json, NULL, why);
    json_out_close(&json, ']');
    json_out_close(&json, '}');
    if (write_status(dir, STATUS_INPUT, error) &&
        outdir_write(dir, "config.json", config, error) &&
        outdir_write(dir, "summary.json", text->str, error)) {
        return outdir_commit(dir, error);
    }
    outdir_discard(dir);
    return FALSE;
}

static gboolean
write_all(struct outdir *dir, struct job *job, struct run *run, double begin_s,
          int *status, GError **error)
{
    struct run_result *result = run_read(run);
    g_autofree char *summary = NULL;
    gboolean ok = run_files_put(&job->files, run, result, begin_s, &summary, error);

    *status = run_result_status(result);
    run_result_free(result);
    return ok && write_status(dir, *status, error);
}

/* Simulates and writes; steals 'dir'. */
static int
run_and_write(struct job *job, struct run *run, struct outdir *dir, double begin_s,
              GError **error)
{
    int status;

    simulate(job, run);
    if (job->signals.stop) {
        outdir_discard(dir);
        return STATUS_INTERRUPTED;
    }
    if (!write_all(dir, job, run, begin_s, &status, error)) {
        outdir_discard(dir);
        return STATUS_OUTPUT;
    }
    return outdir_commit(dir, error) ? status : STATUS_OUTPUT;
}

static int
make(const struct sweep *sweep, const struct scenario *scenario, const char *path,
     double begin_s, GError **error)
{
    struct job job = {.signals = {.fd = -1}};
    g_autoptr(GError) fault = NULL;
    struct outdir *dir = outdir_new(path, TRUE, error);
    struct run *run;
    int status;

    if (!dir) {
        return STATUS_OUTPUT;
    }
    run = run_new(scenario, NULL, &fault);
    if (!run) {
        if (!write_bad_input(dir, scenario, fault->message, error)) {
            return STATUS_OUTPUT;
        }
        g_propagate_error(error, g_steal_pointer(&fault));
        return STATUS_INPUT;
    }
    job.files.dir = dir;
    if (sweep->keep_all && !run_files_open(&job.files, dir, run, error)) {
        outdir_discard(dir);
        status = STATUS_OUTPUT;
    } else {
        status = run_and_write(&job, run, dir, begin_s, error);
    }
    run_files_close(&job.files);
    signals_close(&job.signals);
    run_free(run);
    return status;
}

int
sweep_record_make(const struct sweep *sweep, uint32_t run, const char *path)
{
    double begin_s = progress_clock();
    GError *error = NULL;
    struct scenario *scenario = sweep_scenario(sweep, run, &error);
    int status;

    if (!scenario) {
        return command_fail(&error, STATUS_INPUT);
    }
    status = make(sweep, scenario, path, begin_s, &error);
    if (error && status == STATUS_INPUT && run % sweep->seeds->len > 0) {
        g_clear_error(&error); /* the first seed has said it */
    }
    if (error) {
        g_autofree char *where = sweep_point_text(sweep, run / sweep->seeds->len);

        g_prefix_error(&error, "%s: %s: ", sweep->file, where);
        command_fail(&error, status);
    }
    scenario_free(scenario);
    return status;
}

/* ---- reading -------------------------------------------------------------------------- */

static json_t *
load(const char *path, const char *name)
{
    g_autofree char *full = g_build_filename(path, name, NULL);

    return json_load_file(full, 0, NULL);
}

/* Is 'path' of this scenario? */
static bool
has_config(const struct sweep *sweep, uint32_t run, const char *path)
{
    struct scenario *scenario = sweep_scenario(sweep, run, NULL);
    g_autofree char *file = g_build_filename(path, "config.json", NULL);
    g_autofree char *wanted = scenario ? scenario_to_text(scenario) : NULL;
    g_autofree char *there = NULL;

    scenario_free(scenario);
    return wanted && g_file_get_contents(file, &there, NULL, NULL) &&
           strcmp(wanted, there) == 0;
}

bool
sweep_record_read(const struct sweep *sweep, uint32_t run, const char *path,
                  struct sweep_record *record)
{
    json_t *state = load(path, "run.json"), *summary = load(path, "summary.json");
    const char *version = json_string_value(json_object_get(state, "version"));
    const char *verdict = json_string_value(json_object_get(summary, "verdict"));
    bool ok = version && verdict && strcmp(version, PACKAGE_VERSION) == 0 &&
              has_config(sweep, run, path);

    *record = (struct sweep_record){.verdict = NULL};
    if (ok) {
        record->verdict = g_strdup(verdict);
        record->status = (int)json_integer_value(json_object_get(state, "status"));
        record->values = g_new(double, sweep->metrics->len);
        for (guint i = 0; i < sweep->metrics->len; i++) {
            const json_t *value =
                summary_path_find(summary, g_ptr_array_index(sweep->metrics, i));

            record->values[i] = json_is_number(value) ? json_number_value(value) : NAN;
        }
    }
    json_decref(state);
    json_decref(summary);
    return ok;
}

gboolean
sweep_record_copy(const char *from, const char *to, GError **error)
{
    g_autoptr(GDir) files = g_dir_open(from, 0, error);
    struct outdir *dir = files ? outdir_new(to, TRUE, error) : NULL;
    const char *name;

    if (!dir) {
        return FALSE;
    }
    while ((name = g_dir_read_name(files)) != NULL) {
        g_autofree char *path = g_build_filename(from, name, NULL);
        g_autofree char *data = NULL;
        gsize n_bytes;
        FILE *out;

        if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
            continue;
        }
        if (!g_file_get_contents(path, &data, &n_bytes, error) ||
            !(out = outdir_open(dir, name, error))) {
            outdir_discard(dir);
            return FALSE;
        }
        fwrite(data, 1, n_bytes, out);
        if (!outdir_close(dir, name, out, error)) {
            outdir_discard(dir);
            return FALSE;
        }
    }
    return outdir_commit(dir, error);
}

bool
sweep_record_is_usable(const struct sweep_record *record)
{
    static const char *const good[] = {"complete", "expectation-missed",
                                       "lossless-violated", NULL};

    return record->verdict &&
           (record->status == STATUS_OK || g_strv_contains(good, record->verdict));
}
