/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_files.c - which files a run leaves, see run_files.h; each has a writer in tools/results.
 */
#include <config.h>

#include "tools/run_files.h"

#include "tools/expect.h"
#include "tools/progress.h"
#include "tools/results/csv.h"
#include "tools/results/summary.h"
#include "tools/results/text.h"

typedef void csv_writer(const struct run_result *result, FILE *out);

static gboolean
write_csv(const struct outdir *dir, const char *name, csv_writer *writer,
          const struct run_result *result, GError **error)
{
    FILE *out = outdir_open(dir, name, error);

    if (!out) {
        return FALSE;
    }
    writer(result, out);
    return outdir_close(dir, name, out, error);
}

static void
note_interval(const struct scenario *scenario, struct run_result *result)
{
    int64_t wanted_ps = scenario->output.sample_ps;

    if (result->series_interval_ps > wanted_ps && wanted_ps > 0) {
        GString *line = g_string_new("series.csv holds a sample every ");

        text_us(line, result->series_interval_ps);
        g_string_append(line, " us: one every ");
        text_us(line, wanted_ps);
        g_string_append_printf(line, " us would be more than %d lines",
                               SERIES_MAX_RECORDS);
        g_ptr_array_add(result->notes, g_string_free(line, FALSE));
    }
}

gboolean
run_files_open(struct run_files *files, const struct outdir *dir, const struct run *run,
               GError **error)
{
    *files = (struct run_files){.dir = dir};
    files->series =
        series_new(dir, run->net, SERIES_MAX_RECORDS, run->scenario->is_hpcc, error);
    if (!files->series) {
        return FALSE;
    }
    files->capture = capture_new(dir, run->net, run->captures, error);
    return files->capture != NULL;
}

void
run_files_watch(const struct run_files *files, struct net_watch *watch)
{
    if (files->series) {
        watch->sink = series_sink(files->series);
        watch->frames = capture_sink(files->capture);
    }
}

gboolean
run_files_have_failed(const struct run_files *files)
{
    return files->series &&
           (series_has_failed(files->series) || capture_has_failed(files->capture));
}

/* What has been written while the run went on, and the tables. */
static gboolean
write_data(const struct run_files *files, const struct scenario *scenario,
           struct run_result *result, GError **error)
{
    if (!capture_finish(files->capture, result->notes, error) ||
        !series_finish(files->series, result->end_ps, &result->series_interval_ps,
                       &result->pauses, error)) {
        return FALSE;
    }
    note_interval(scenario, result);
    return write_csv(files->dir, "flows.csv", csv_flows, result, error) &&
           write_csv(files->dir, "collectives.csv", csv_collectives, result, error) &&
           write_csv(files->dir, "ports.csv", csv_ports, result, error) &&
           write_csv(files->dir, "fct.txt", csv_fct, result, error);
}

gboolean
run_files_put(struct run_files *files, const struct run *run, struct run_result *result,
              double begin_s, char **summary, GError **error)
{
    g_autofree char *config = scenario_to_text(run->scenario);

    if ((files->series && !write_data(files, run->scenario, result, error)) ||
        !outdir_write(files->dir, "config.json", config, error)) {
        return FALSE;
    }
    result->wall_s = progress_clock() - begin_s;
    expect_judge(result);
    *summary = summary_to_json(result);
    return outdir_write(files->dir, "summary.json", *summary, error);
}

void
run_files_close(struct run_files *files)
{
    series_free(files->series);
    capture_free(files->capture);
    *files = (struct run_files){.dir = NULL};
}
