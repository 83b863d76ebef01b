/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * series_read.c - series.csv as curves to draw, see series_read.h.
 */
#include <config.h>

#include "tools/report/series_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/plot.h"

enum { N_COLUMNS = 7 };

static void
free_curve(gpointer data)
{
    struct curve *curve = data;

    g_free(curve->port);
    g_array_unref(curve->samples);
    g_free(curve);
}

void
curves_free(struct curves *curves)
{
    if (curves) {
        g_ptr_array_unref(curves->all);
        g_free(curves);
    }
}

/* The curve of "PORT,CLASS". */
static struct curve *
curve_of(struct curves *curves, GHashTable *by_name, const char *port, const char *cls)
{
    g_autofree char *name = g_strdup_printf("%s,%s", port, cls);
    struct curve *curve = g_hash_table_lookup(by_name, name);

    if (!curve) {
        curve = g_new0(struct curve, 1);
        curve->port = g_strdup(port);
        curve->cls = (unsigned)strtoul(cls, NULL, 10);
        curve->samples = g_array_new(FALSE, FALSE, sizeof(struct curve_sample));
        g_ptr_array_add(curves->all, curve);
        g_hash_table_insert(by_name, g_steal_pointer(&name), curve);
    }
    return curve;
}

static gboolean
take_line(struct curves *curves, GHashTable *by_name, char *line)
{
    char *fields[N_COLUMNS];
    char *at = line;
    unsigned n = 0;

    line[strcspn(line, "\r\n")] = '\0';
    while (n < N_COLUMNS && at) {
        fields[n++] = strsep(&at, ",");
    }
    if (n != N_COLUMNS || at) {
        return FALSE;
    }
    if (*fields[6]) {
        return TRUE; /* of a queue pair */
    }
    struct curve *curve = curve_of(curves, by_name, fields[1], fields[2]);
    struct curve_sample sample = {.time_us = g_ascii_strtod(fields[0], NULL),
                                  .queue_bytes = g_ascii_strtod(fields[3], NULL),
                                  .rate_gbps = g_ascii_strtod(fields[4], NULL)};

    g_array_append_val(curve->samples, sample);
    curve->most_bytes = MAX(curve->most_bytes, sample.queue_bytes);
    curve->sum_gbps += sample.rate_gbps;
    curve->paused += fields[5][0] == '1';
    curves->last_us = MAX(curves->last_us, sample.time_us);
    return TRUE;
}

struct curves *
curves_read(const char *path, double interval_us, GError **error)
{
    FILE *in = fopen(path, "re");
    g_autoptr(GHashTable) by_name =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct curves *curves;
    char *line = NULL;
    size_t room = 0;
    unsigned number = 0;

    if (!in) {
        g_set_error(error, PLOT_ERROR, PLOT_ERROR_INPUT, "%s: %s", path,
                    g_strerror(errno));
        return NULL;
    }
    curves = g_new0(struct curves, 1);
    curves->all = g_ptr_array_new_with_free_func(free_curve);
    curves->interval_us = interval_us;
    while (getline(&line, &room, in) > 0) {
        /* The first one names the columns. */
        if (number++ && !take_line(curves, by_name, line)) {
            g_set_error(error, PLOT_ERROR, PLOT_ERROR_INPUT,
                        "%s:%u: not the %d columns of a sample", path, number, N_COLUMNS);
            curves_free(curves);
            curves = NULL;
            break;
        }
    }
    free(line);
    fclose(in);
    return curves;
}

guint
curves_parts(const struct curves *curves, guint *samples_each)
{
    guint n = (guint)(curves->last_us / curves->interval_us + 0.5);

    *samples_each = (n + CURVE_POINTS - 1) / CURVE_POINTS;
    if (*samples_each == 0) {
        *samples_each = 1;
    }
    return (n + *samples_each - 1) / *samples_each;
}

void
curve_fill(const struct curves *curves, const struct curve *curve, double queue[],
           double rate[])
{
    guint each;
    guint n = curves_parts(curves, &each);

    for (guint i = 0; i < curve->samples->len; i++) {
        const struct curve_sample *s =
            &g_array_index(curve->samples, struct curve_sample, i);
        guint index = (guint)(s->time_us / curves->interval_us + 0.5);
        guint part = index ? (index - 1) / each : 0;

        if (part >= n) {
            continue;
        }
        if (queue) {
            queue[part] = MAX(queue[part], s->queue_bytes);
        }
        if (rate) {
            rate[part] += s->rate_gbps / each;
        }
    }
}
