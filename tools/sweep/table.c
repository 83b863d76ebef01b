/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table.c - tables of a sweep, see table.h.
 *
 * Source of the interval: mean +- t(0.975, n - 1) s / sqrt(n); Jain, The Art of Computer
 * Systems Performance Analysis (1991), section 13.2.  The quantile is GSL's.
 */
#include <config.h>

#include "tools/sweep/table.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "tools/results/text.h"

/* What the table for people shows; all is in sweep.csv. */
enum { MOST_LINES = 40, MOST_METRICS = 4 };

struct sweep_stat
sweep_stat_of(const double values[], uint32_t n)
{
    struct sweep_stat stat = {.n = n, .mean = NAN, .sd = NAN, .ci95 = NAN};
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += values[i];
    }
    if (n > 0) {
        stat.mean = sum / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        squares += (values[i] - stat.mean) * (values[i] - stat.mean);
    }
    if (n > 1) {
        stat.sd = sqrt(squares / (n - 1));
        stat.ci95 = gsl_cdf_tdist_Pinv(0.975, n - 1) * stat.sd / sqrt(n);
    }
    return stat;
}

/* The values of a metric at a point, of runs that are usable. */
static struct sweep_stat
stat_at(const struct sweep *sweep, const struct sweep_record records[], const bool mine[],
        uint32_t point, guint metric)
{
    g_autofree double *values = g_new(double, sweep->seeds->len);
    uint32_t n = 0;

    for (uint32_t k = 0; k < sweep->seeds->len; k++) {
        uint32_t run = point * sweep->seeds->len + k;

        if (mine[run] && sweep_record_is_usable(&records[run]) && records[run].values &&
            !isnan(records[run].values[metric])) {
            values[n++] = records[run].values[metric];
        }
    }
    return sweep_stat_of(values, n);
}

/* ---- CSV ------------------------------------------------------------------------------ */

static void
put_number(GString *out, double value, const char *format)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    if (!isnan(value)) {
        g_string_append(out, g_ascii_formatd(text, sizeof text, format, value));
    }
}

static void
put_axis_names(const struct sweep *sweep, GString *out)
{
    for (uint32_t i = 0; i < sweep->axes->len; i++) {
        g_string_append_c(out, ',');
        text_csv(out, g_array_index(sweep->axes, struct sweep_axis, i).path);
    }
}

static void
put_axis_values(const struct sweep *sweep, uint32_t point, GString *out)
{
    for (uint32_t i = 0; i < sweep->axes->len; i++) {
        g_autofree char *value = sweep_value_text(sweep, i, point);

        g_string_append_c(out, ',');
        text_csv(out, value);
    }
}

static const char *
verdict_of(const struct sweep_record *record)
{
    return record->verdict ? record->verdict : "missing";
}

char *
sweep_runs_csv(const struct sweep *sweep, const struct sweep_record records[],
               const bool mine[])
{
    GString *out = g_string_new("run,point");

    put_axis_names(sweep, out);
    g_string_append(out, ",seed,verdict,status");
    for (guint i = 0; i < sweep->metrics->len; i++) {
        g_string_append_c(out, ',');
        text_csv(out, g_ptr_array_index(sweep->metrics, i));
    }
    g_string_append_c(out, '\n');
    for (uint32_t run = 0; run < sweep->n_runs; run++) {
        const struct sweep_record *record = &records[run];
        uint32_t point = run / sweep->seeds->len;

        if (!mine[run]) {
            continue;
        }
        g_string_append_printf(out, "%u,%u", run, point);
        put_axis_values(sweep, point, out);
        g_string_append_printf(out, ",%" G_GINT64_FORMAT ",%s,", sweep_seed(sweep, run),
                               verdict_of(record));
        if (record->verdict) {
            g_string_append_printf(out, "%d", record->status);
        }
        for (guint i = 0; i < sweep->metrics->len; i++) {
            g_string_append_c(out, ',');
            put_number(out, record->values ? record->values[i] : NAN, "%.15g");
        }
        g_string_append_c(out, '\n');
    }
    return g_string_free(out, FALSE);
}

/* Runs of 'point' that are of this call, and of these those with status 0. */
static void
count_runs(const struct sweep *sweep, const struct sweep_record records[],
           const bool mine[], uint32_t point, uint32_t *n, uint32_t *n_good)
{
    *n = *n_good = 0;
    for (uint32_t k = 0; k < sweep->seeds->len; k++) {
        uint32_t run = point * sweep->seeds->len + k;

        *n += mine[run];
        *n_good += mine[run] && records[run].verdict && records[run].status == 0;
    }
}

char *
sweep_points_csv(const struct sweep *sweep, const struct sweep_record records[],
                 const bool mine[])
{
    GString *out = g_string_new("point");

    put_axis_names(sweep, out);
    g_string_append(out, ",runs,good");
    for (guint i = 0; i < sweep->metrics->len; i++) {
        static const char *const what[] = {"n", "mean", "sd", "ci95"};

        for (unsigned k = 0; k < G_N_ELEMENTS(what); k++) {
            g_autofree char *name = g_strdup_printf(
                "%s.%s", (const char *)g_ptr_array_index(sweep->metrics, i), what[k]);

            g_string_append_c(out, ',');
            text_csv(out, name);
        }
    }
    g_string_append_c(out, '\n');
    for (uint32_t point = 0; point < sweep->n_points; point++) {
        uint32_t n, n_good;

        count_runs(sweep, records, mine, point, &n, &n_good);
        if (n == 0) {
            continue;
        }
        g_string_append_printf(out, "%u", point);
        put_axis_values(sweep, point, out);
        g_string_append_printf(out, ",%u,%u", n, n_good);
        for (guint i = 0; i < sweep->metrics->len; i++) {
            struct sweep_stat stat = stat_at(sweep, records, mine, point, i);

            g_string_append_printf(out, ",%u,", stat.n);
            put_number(out, stat.mean, "%.9g");
            g_string_append_c(out, ',');
            put_number(out, stat.sd, "%.6g");
            g_string_append_c(out, ',');
            put_number(out, stat.ci95, "%.6g");
        }
        g_string_append_c(out, '\n');
    }
    return g_string_free(out, FALSE);
}

/* ---- for people ----------------------------------------------------------------------- */

/* Rows of cells, each as wide as its column needs. */
static void
put_rows(GString *out, const GPtrArray *rows, guint n_columns)
{
    g_autofree int *width = g_new0(int, n_columns);

    for (guint r = 0; r < rows->len; r++) {
        char **cells = g_ptr_array_index(rows, r);

        for (guint c = 0; c < n_columns; c++) {
            width[c] = MAX(width[c], (int)g_utf8_strlen(cells[c], -1));
        }
    }
    for (guint r = 0; r < rows->len; r++) {
        char **cells = g_ptr_array_index(rows, r);

        for (guint c = 0; c < n_columns; c++) {
            int fill = width[c] - (int)g_utf8_strlen(cells[c], -1);

            g_string_append_printf(out, "%s%*s%s", c ? "  " : "", fill, "", cells[c]);
        }
        g_string_append_c(out, '\n');
    }
}

/* "12.3 +- 0.4", "12.3" of one run, "-". */
static char *
stat_text(const struct sweep_stat *stat)
{
    GString *text = g_string_new(NULL);

    if (stat->n == 0) {
        return g_string_free(g_string_append_c(text, '-'), FALSE);
    }
    put_number(text, stat->mean, "%.6g");
    if (stat->n > 1) {
        g_string_append(text, " +- ");
        put_number(text, stat->ci95, stat->ci95 < 1000 ? "%.3g" : "%.0f");
    }
    return g_string_free(text, FALSE);
}

/* Metrics that some run has, at most MOST_METRICS. */
static guint
shown_metrics(const struct sweep *sweep, const struct sweep_record records[],
              guint shown[MOST_METRICS])
{
    guint n = 0;

    for (guint i = 0; i < sweep->metrics->len && n < MOST_METRICS; i++) {
        bool some = false;

        for (uint32_t run = 0; run < sweep->n_runs && !some; run++) {
            some = records[run].values && !isnan(records[run].values[i]);
        }
        if (some) {
            shown[n++] = i;
        }
    }
    return n;
}

static void
free_row(gpointer row)
{
    g_strfreev(row);
}

char *
sweep_text_table(const struct sweep *sweep, const struct sweep_record records[],
                 const bool mine[])
{
    guint shown[MOST_METRICS];
    guint n_shown = shown_metrics(sweep, records, shown);
    guint n_columns = 2 + sweep->axes->len + n_shown;
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
    GString *out = g_string_new(NULL);
    char **row = g_new0(char *, n_columns + 1);
    uint32_t n_points = 0;

    row[0] = g_strdup("point");
    row[1 + sweep->axes->len] = g_strdup("good");
    for (uint32_t i = 0; i < sweep->axes->len; i++) {
        row[1 + i] = g_strdup(g_array_index(sweep->axes, struct sweep_axis, i).path);
    }
    for (guint i = 0; i < n_shown; i++) {
        row[2 + sweep->axes->len + i] =
            g_strdup(g_ptr_array_index(sweep->metrics, shown[i]));
    }
    g_ptr_array_add(rows, row);
    for (uint32_t point = 0; point < sweep->n_points; point++) {
        uint32_t n, n_good;

        count_runs(sweep, records, mine, point, &n, &n_good);
        if (n == 0 || n_points++ >= MOST_LINES) {
            continue;
        }
        row = g_new0(char *, n_columns + 1);
        row[0] = g_strdup_printf("%u", point);
        for (uint32_t i = 0; i < sweep->axes->len; i++) {
            row[1 + i] = sweep_value_text(sweep, i, point);
        }
        row[1 + sweep->axes->len] = g_strdup_printf("%u of %u", n_good, n);
        for (guint i = 0; i < n_shown; i++) {
            struct sweep_stat stat = stat_at(sweep, records, mine, point, shown[i]);

            row[2 + sweep->axes->len + i] = stat_text(&stat);
        }
        g_ptr_array_add(rows, row);
    }
    put_rows(out, rows, n_columns);
    if (n_points > MOST_LINES) {
        g_string_append_printf(out, "... and %u more points, in sweep.csv\n",
                               n_points - MOST_LINES);
    }
    return g_string_free(out, FALSE);
}
