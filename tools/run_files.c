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

/* The tables. */
static gboolean
write_data(const struct outdir *dir, const struct scenario *scenario,
           struct run_result *result, struct series *series, GError **error)
{
    if (!series_finish(series, result->end_ps, &result->series_interval_ps, error)) {
        return FALSE;
    }
    note_interval(scenario, result);
    return write_csv(dir, "flows.csv", csv_flows, result, error) &&
           write_csv(dir, "collectives.csv", csv_collectives, result, error) &&
           write_csv(dir, "ports.csv", csv_ports, result, error) &&
           write_csv(dir, "fct.txt", csv_fct, result, error);
}

gboolean
run_files_put(const struct outdir *dir, const struct run *run, struct run_result *result,
              struct series *series, double begin_s, char **summary, GError **error)
{
    g_autofree char *config = scenario_to_text(run->scenario);

    if (!outdir_write(dir, "config.json", config, error) ||
        (series && !write_data(dir, run->scenario, result, series, error))) {
        return FALSE;
    }
    result->wall_s = progress_clock() - begin_s;
    expect_judge(result);
    *summary = summary_to_json(result);
    return outdir_write(dir, "summary.json", *summary, error);
}
