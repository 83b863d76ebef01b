/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * curves.c - series.csv as curves to draw, see curves.h.
 */
#include <config.h>

#include "tools/report/curves.h"

#include <math.h>
#include <stdlib.h>

#include "tools/report/csv_read.h"

enum { TIME, PORT, CLASS, QUEUE, RATE, QP, SENT, N_COLUMNS };

static const char *const columns[N_COLUMNS] = {
    "time_us", "port", "class", "queue_bytes", "rate_gbps", "qp", "sent_gbps"};

static void
free_curve(gpointer data)
{
    struct curve *curve = data;

    g_free(curve->port);
    g_free(curve->qp);
    g_array_unref(curve->samples);
    g_free(curve);
}

void
curves_free(struct curves *curves)
{
    if (curves) {
        g_ptr_array_unref(curves->ports);
        g_ptr_array_unref(curves->qps);
        g_free(curves);
    }
}

/* The curve of a port's class, or of queue pair 'qp' if that is not empty. */
static struct curve *
curve_of(struct curves *curves, GHashTable *by_name, const char *port, const char *cls,
         const char *qp)
{
    g_autofree char *name = g_strdup_printf("%s,%s,%s", port, *qp ? "" : cls, qp);
    struct curve *curve = g_hash_table_lookup(by_name, name);

    if (!curve) {
        curve = g_new0(struct curve, 1);
        curve->port = g_strdup(port);
        curve->cls = (unsigned)strtoul(cls, NULL, 10);
        curve->qp = *qp ? g_strdup(qp) : NULL;
        curve->samples = g_array_new(FALSE, FALSE, sizeof(struct curve_sample));
        g_ptr_array_add(*qp ? curves->qps : curves->ports, curve);
        g_hash_table_insert(by_name, g_steal_pointer(&name), curve);
    }
    return curve;
}

/* Empty is 0: what a port has, a queue pair has not. */
static double
number(const struct csv *csv, int column)
{
    double value = csv_number(csv, column);

    return isnan(value) ? 0 : value;
}

static void
take_line(struct curves *curves, GHashTable *by_name, const struct csv *csv,
          const int at[])
{
    struct curve *curve = curve_of(curves, by_name, csv->fields[at[PORT]],
                                   csv->fields[at[CLASS]], csv->fields[at[QP]]);
    struct curve_sample sample = {.time_us = number(csv, at[TIME]),
                                  .queue_bytes = number(csv, at[QUEUE]),
                                  .rate_gbps = number(csv, at[RATE]),
                                  .sent_gbps = number(csv, at[SENT])};

    g_array_append_val(curve->samples, sample);
    curve->most_bytes = MAX(curve->most_bytes, sample.queue_bytes);
    curve->sum_bytes += sample.queue_bytes;
    curve->sum_gbps += curve->qp ? sample.sent_gbps : sample.rate_gbps;
    curves->last_us = MAX(curves->last_us, sample.time_us);
}

struct curves *
curves_read(const char *path, double interval_us, GError **error)
{
    g_autoptr(GHashTable) by_name =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct csv *csv = csv_open(path, error);
    struct curves *curves;
    int at[N_COLUMNS];
    g_autoptr(GError) bad = NULL;

    if (!csv || !csv_columns(csv, columns, at, N_COLUMNS, error)) {
        csv_close(csv);
        return NULL;
    }
    curves = g_new0(struct curves, 1);
    curves->ports = g_ptr_array_new_with_free_func(free_curve);
    curves->qps = g_ptr_array_new_with_free_func(free_curve);
    curves->interval_us = interval_us;
    while (csv_next(csv, &bad)) {
        take_line(curves, by_name, csv, at);
    }
    csv_close(csv);
    if (bad) {
        g_propagate_error(error, g_steal_pointer(&bad));
        curves_free(curves);
        return NULL;
    }
    return curves;
}

guint
curves_parts(const struct curves *curves, guint most, guint *samples_each)
{
    guint n = (guint)(curves->last_us / curves->interval_us + 0.5);

    *samples_each = MAX((n + most - 1) / most, 1);
    return (n + *samples_each - 1) / *samples_each;
}

guint
curves_part_of(const struct curves *curves, double time_us, guint each)
{
    guint index = (guint)(time_us / curves->interval_us + 0.5);

    return index ? (index - 1) / each : 0;
}

void
curve_fill(const struct curves *curves, const struct curve *curve, double queue[],
           double rate[])
{
    guint each;
    guint n = curves_parts(curves, CURVE_POINTS, &each);

    for (guint i = 0; i < curve->samples->len; i++) {
        const struct curve_sample *s =
            &g_array_index(curve->samples, struct curve_sample, i);
        guint part = curves_part_of(curves, s->time_us, each);

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
