/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * draw_pauses.c - when which port stood still, and whose congestion was the cause.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tools/report/csv_read.h"
#include "tools/report/draw.h"
#include "tools/report/stats.h"

#define MOST_ROWS 24
#define MOST_CAUSES 7  /* a colour each; all others share the last one */
#define MOST_SPANS 300 /* of a row: shorter gaps than the run / this are not drawn */
#define ROW_HEIGHT 24
#define TICK_ROOM 34 /* characters of a port's name */

/* Pauses of a port, or those that one has caused. */
struct row {
    char *port; /* owned */
    double sum_us;
    GArray **spans; /* owned: struct stats_span in us, by cause; NULL of a cause */
};

struct pauses {
    GPtrArray *rows, *causes; /* owned: struct row, the longest in all first */
    guint n_all;              /* rows there would be */
};

/* One line of pfc.csv. */
struct line {
    guint row, cause;
    struct stats_span span;
};

static void
free_row(gpointer data)
{
    struct row *row = data;

    for (guint c = 0; row->spans && c <= MOST_CAUSES; c++) {
        g_array_unref(row->spans[c]);
    }
    g_free(row->spans);
    g_free(row->port);
    g_free(row);
}

static struct row *
row_of(GPtrArray *rows, GHashTable *by_name, const char *port, guint *index)
{
    gpointer found;

    if (!g_hash_table_lookup_extended(by_name, port, NULL, &found)) {
        struct row *row = g_new0(struct row, 1);

        row->port = g_strdup(port);
        found = GUINT_TO_POINTER(rows->len);
        g_ptr_array_add(rows, row);
        g_hash_table_insert(by_name, row->port, found);
    }
    *index = GPOINTER_TO_UINT(found);
    return g_ptr_array_index(rows, *index);
}

static gint
compare_rows(gconstpointer pa, gconstpointer pb)
{
    const struct row *a = *(const struct row *const *)pa;
    const struct row *b = *(const struct row *const *)pb;

    if (a->sum_us != b->sum_us) {
        return a->sum_us > b->sum_us ? -1 : 1;
    }
    return strcmp(a->port, b->port);
}

static int
compare_lines(const void *pa, const void *pb)
{
    const struct line *a = pa, *b = pb;

    return (a->span.from > b->span.from) - (a->span.from < b->span.from);
}

/* Sorts 'rows', and gives the new index of each old one. */
static guint *
sort_rows(GPtrArray *rows)
{
    g_autoptr(GHashTable) index = g_hash_table_new(g_direct_hash, g_direct_equal);
    guint *now = g_new(guint, rows->len + 1);

    for (guint i = 0; i < rows->len; i++) {
        g_hash_table_insert(index, g_ptr_array_index(rows, i), GUINT_TO_POINTER(i));
    }
    g_ptr_array_sort(rows, compare_rows);
    for (guint i = 0; i < rows->len; i++) {
        now[GPOINTER_TO_UINT(g_hash_table_lookup(index, g_ptr_array_index(rows, i)))] = i;
    }
    return now;
}

/* Deals 'lines' to the rows that are drawn. */
static void
deal_lines(struct pauses *pauses, GArray *lines)
{
    g_autofree guint *row_now = sort_rows(pauses->rows);
    g_autofree guint *cause_now = sort_rows(pauses->causes);

    if (lines->len) {
        qsort(lines->data, lines->len, sizeof(struct line), compare_lines);
    }
    pauses->n_all = pauses->rows->len;
    g_ptr_array_set_size(pauses->rows, (int)MIN(pauses->rows->len, MOST_ROWS));
    for (guint i = 0; i < pauses->rows->len; i++) {
        struct row *row = g_ptr_array_index(pauses->rows, i);

        row->spans = g_new0(GArray *, MOST_CAUSES + 1);
        for (guint c = 0; c <= MOST_CAUSES; c++) {
            row->spans[c] = g_array_new(FALSE, FALSE, sizeof(struct stats_span));
        }
    }
    for (guint i = 0; i < lines->len; i++) {
        const struct line *line = &g_array_index(lines, struct line, i);

        if (row_now[line->row] < pauses->rows->len) {
            struct row *row = g_ptr_array_index(pauses->rows, row_now[line->row]);
            guint cause = MIN(cause_now[line->cause], MOST_CAUSES);

            g_array_append_val(row->spans[cause], line->span);
        }
    }
}

static gboolean
read_pauses(const struct draw *draw, struct pauses *pauses, GError **error)
{
    enum { TIME, LENGTH, CAUSE, PAUSED, N };
    static const char *const names[N] = {"time_us", "duration_us", "cause_port",
                                         "paused_port"};
    g_autofree char *path = folder_file(&draw->folder, "pfc.csv");
    g_autoptr(GHashTable) rows = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) causes = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(struct line));
    struct csv *csv = csv_open(path, error);
    g_autoptr(GError) bad = NULL;
    int at[N];

    if (!csv || !csv_columns(csv, names, at, N, error)) {
        csv_close(csv);
        return FALSE;
    }
    while (csv_next(csv, &bad)) {
        double from_us = csv_number(csv, at[TIME]), for_us = csv_number(csv, at[LENGTH]);
        struct line line = {.span = {from_us, from_us + for_us}};

        row_of(pauses->rows, rows, csv->fields[at[PAUSED]], &line.row)->sum_us += for_us;
        row_of(pauses->causes, causes, csv->fields[at[CAUSE]], &line.cause)->sum_us +=
            for_us;
        g_array_append_val(lines, line);
    }
    csv_close(csv);
    if (bad) {
        g_propagate_error(error, g_steal_pointer(&bad));
        return FALSE;
    }
    deal_lines(pauses, lines);
    return TRUE;
}

/* "$c0", "$c1"...: bars of each cause, as "from to row". */
static void
put_bars(GString *script, const struct pauses *pauses, double end_us, double per)
{
    for (guint c = 0; c <= MOST_CAUSES && c < pauses->causes->len; c++) {
        g_string_append_printf(script, "$c%u << end\n", c);
        for (guint i = 0; i < pauses->rows->len; i++) {
            struct row *row = g_ptr_array_index(pauses->rows, i);
            struct stats_span *spans = (struct stats_span *)(void *)row->spans[c]->data;
            guint n = stats_join(spans, row->spans[c]->len, end_us / MOST_SPANS);

            for (guint k = 0; k < n; k++) {
                gnuplot_number(script, spans[k].from / per);
                g_string_append_c(script, ' ');
                draw_point(script, MIN(spans[k].to, end_us) / per, i);
            }
        }
        g_string_append(script, "end\n");
    }
}

/* Names of the rows and their share of the time; returns the longest one's length. */
static size_t
put_rows(const struct draw *draw, GString *script, const struct pauses *pauses,
         double run_us)
{
    size_t longest = 0;

    g_string_append(script, "set ytics (");
    for (guint i = 0; i < pauses->rows->len; i++) {
        const struct row *row = g_ptr_array_index(pauses->rows, i);
        g_autofree char *whole = draw_port_name(draw, row->port);
        g_autofree char *name = draw_short(whole, TICK_ROOM);
        g_autofree char *label =
            g_strdup_printf("%s, %.3g %%", name, 100 * row->sum_us / run_us);

        g_string_append(script, i ? ", " : "");
        gnuplot_tick(script, label);
        g_string_append_printf(script, " %u", i);
        longest = MAX(longest, (size_t)g_utf8_strlen(label, -1));
    }
    g_string_append(script, ") noenhanced\n");
    return longest;
}

static void
plot_bars(const struct draw *draw, GString *script, const struct pauses *pauses)
{
    for (guint c = 0; c <= MOST_CAUSES && c < pauses->causes->len; c++) {
        const struct row *cause = g_ptr_array_index(pauses->causes, c);
        g_autofree char *name = draw_port_name(draw, cause->port);
        g_autofree char *others =
            g_strdup_printf("%u others", pauses->causes->len - MOST_CAUSES);

        g_string_append_printf(
            script,
            "%s $c%u using 1:3:1:2:($3-0.23):($3+0.23) with boxxyerror "
            "lt %u fs solid noborder title ",
            c ? ", \\\n " : "plot", c, c + 1);
        draw_key(script, c < MOST_CAUSES ? name : others);
    }
    g_string_append_c(script, '\n');
}

static gboolean
draw_rows(const struct draw *draw, const struct pauses *pauses, GError **error)
{
    double end_us = folder_number(draw->folder.summary, "end_us");
    struct draw_scale time = draw_time_scale(end_us);
    guint n = pauses->rows->len;
    g_autofree char *what =
        pauses->n_all > n
            ? g_strdup_printf("ports that stood still for PFC, the first %u of %u", n,
                              pauses->n_all)
            : g_strdup("ports that stood still for PFC");
    struct picture picture;
    GString *script =
        draw_begin(draw, &picture, "pauses", MAX(150 + ROW_HEIGHT * n, 300), what);
    g_autofree char *title =
        g_strdup_printf("%s\n\nbecause of the queue at", draw->presets);

    put_bars(script, pauses, end_us, time.per);
    g_string_append(script, "set key title ");
    gnuplot_text(script, title);
    g_string_append(script, " left noenhanced\n");
    g_string_append_printf(script, "set lmargin %zu\n",
                           put_rows(draw, script, pauses, draw_run_us(draw)) + 5);
    draw_label(script, 'x', "simulated time", time.unit);
    /* Where a long tick would push the axis' own label out of the picture. */
    g_string_append(script,
                    "set label 'port, and its share of the time paused' at screen "
                    "0.015, graph 0.5 center rotate textcolor rgb '#333333'\n");
    draw_range(script, 'x', 0, end_us / time.per);
    g_string_append_printf(script, "set yrange [%g:-0.7]\n", n - 0.3);
    plot_bars(draw, script, pauses);
    return gnuplot_end(&picture, error);
}

gboolean
draw_pauses(const struct draw *draw, GError **error)
{
    struct pauses pauses = {.rows = g_ptr_array_new_with_free_func(free_row),
                            .causes = g_ptr_array_new_with_free_func(free_row)};
    gboolean drawn = read_pauses(draw, &pauses, error);

    if (drawn) {
        drawn = pauses.rows->len == 0 ? draw_skip(draw, "pauses", "nothing was paused")
                                      : draw_rows(draw, &pauses, error);
    }
    g_ptr_array_unref(pauses.rows);
    g_ptr_array_unref(pauses.causes);
    return drawn;
}
