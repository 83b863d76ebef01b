/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flows_csv.c - flows from a table.
 */
#include <config.h>

#include "tools/scenario/flows_csv.h"

#include <string.h>

#include "tools/scenario/doc.h"
#include "tools/scenario/units.h"

enum column { SRC, DST, BYTES, START, SPORT, DPORT, CLASS, N_COLUMNS };

static const char *const column_names[N_COLUMNS + 1] = {
    "src", "dst", "bytes", "start", "sport", "dport", "class", NULL};

struct table {
    const char *file;
    unsigned line; /* from 1 */
    GArray *flows;
    bool has_header;
    int field_of[N_COLUMNS]; /* -1: not there */
    int n_fields;
};

G_GNUC_PRINTF(3, 4)
static gboolean
fail(const struct table *t, GError **error, const char *format, ...)
{
    va_list args;
    char *message;
    g_autofree char *where = g_strdup_printf("%s:%u", t->file, t->line);
    struct doc_at at = doc_root(where, NULL);

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    doc_fail(&at, SCENARIO_ERROR_SYNTAX, error, "%s", message);
    g_free(message);
    return FALSE;
}

static gboolean
read_header(struct table *t, char **fields, GError **error)
{
    for (int c = 0; c < N_COLUMNS; c++) {
        t->field_of[c] = -1;
    }
    t->n_fields = (int)g_strv_length(fields);
    for (int i = 0; i < t->n_fields; i++) {
        int c = 0;

        while (c < N_COLUMNS && strcmp(fields[i], column_names[c]) != 0) {
            c++;
        }
        if (c == N_COLUMNS) {
            return fail(
                t, error,
                "no such column '%.60s'; nearest is '%s', allowed are src, dst, bytes, "
                "start, sport, dport and class in the first line",
                fields[i], param_nearest_word(column_names, fields[i]));
        }
        if (t->field_of[c] >= 0) {
            return fail(t, error, "column '%s' is there twice", fields[i]);
        }
        t->field_of[c] = i;
    }
    for (int c = 0; c < START; c++) {
        if (t->field_of[c] < 0) {
            return fail(t, error, "column '%s' is missing; needed are src, dst and bytes",
                        column_names[c]);
        }
    }
    t->has_header = true;
    return TRUE;
}

static gboolean
read_host(const struct table *t, const char *text, enum column column,
          struct scenario_host *host, GError **error)
{
    if (text[0] == '\0') {
        return fail(t, error,
                    "%s is empty; allowed is a host such as host3, or its number",
                    column_names[column]);
    }
    if (text[strspn(text, "0123456789")] != '\0') {
        host->name = g_strdup(text);
        return TRUE;
    }
    if (!units_parse(text, PARAM_INTEGER, &host->position, NULL) ||
        host->position > TOPO_MAX_PORTS) {
        return fail(t, error, "%s is %.60s; allowed is up to %d", column_names[column],
                    text, TOPO_MAX_PORTS);
    }
    return TRUE;
}

/* A size or a time; a bare number of bytes is one, since the column says its unit. */
static gboolean
read_quantity(const struct table *t, const char *text, enum column column,
              const struct param *p, int64_t *value, GError **error)
{
    g_autoptr(GError) cause = NULL;
    bool bare = text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';

    if (!units_parse(text,
                     bare && (column == BYTES || strcmp(text, "0") == 0) ? PARAM_INTEGER
                                                                         : p->kind,
                     value, &cause)) {
        return fail(t, error, "%s %s", column_names[column], cause->message);
    }
    if (!param_allows(p, *value)) {
        char low[PARAM_TEXT_BYTES], high[PARAM_TEXT_BYTES];

        param_format(p, p->min, low);
        param_format(p, p->max, high);
        return fail(t, error, "%s is %.60s; allowed is %s to %s", column_names[column],
                    text, low, high);
    }
    return TRUE;
}

/* A number of a column that may be missing, or be empty in a row. */
static gboolean
read_small(const struct table *t, char **fields, enum column column, int64_t min,
           int64_t max, int64_t *value, GError **error)
{
    const char *text = t->field_of[column] < 0 ? "" : fields[t->field_of[column]];

    if (text[0] == '\0') {
        return TRUE;
    }
    if (!units_parse(text, PARAM_INTEGER, value, NULL) || *value < min || *value > max) {
        return fail(t, error,
                    "%s is %.60s; allowed is %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                    column_names[column], text, min, max);
    }
    return TRUE;
}

static gboolean
read_row(struct table *t, char **fields, struct scenario_flow *flow, GError **error)
{
    int n = (int)g_strv_length(fields);

    if (n != t->n_fields) {
        return fail(t, error, "has %d fields; the first line has %d", n, t->n_fields);
    }
    if (!read_host(t, fields[t->field_of[SRC]], SRC, &flow->src, error) ||
        !read_host(t, fields[t->field_of[DST]], DST, &flow->dst, error) ||
        !read_quantity(t, fields[t->field_of[BYTES]], BYTES,
                       param_find(work_permutation_params, "bytes"), &flow->bytes,
                       error) ||
        (t->field_of[START] >= 0 &&
         !read_quantity(t, fields[t->field_of[START]], START,
                        param_find(work_common_params, "start"), &flow->start_ps,
                        error)) ||
        !read_small(t, fields, SPORT, 1, UINT16_MAX, &flow->sport, error) ||
        !read_small(t, fields, DPORT, 1, UINT16_MAX, &flow->dport, error) ||
        !read_small(t, fields, CLASS, 0, 7, &flow->cls, error)) {
        return FALSE;
    }
    if (strcmp(fields[t->field_of[SRC]], fields[t->field_of[DST]]) == 0) {
        return fail(t, error, "dst is '%.60s', the same as src; allowed is another host",
                    fields[t->field_of[DST]]);
    }
    return TRUE;
}

/* One line without its end. */
static gboolean
read_line(struct table *t, const char *text, size_t n, GError **error)
{
    g_autofree char *line = g_strndup(text, n);
    g_auto(GStrv) fields = NULL;
    struct scenario_flow flow = {.cls = -1, .line = t->line};

    if (strlen(line) != n || !g_utf8_validate(line, (gssize)n, NULL)) {
        return fail(t, error, "is no text in UTF-8");
    }
    g_strstrip(line);
    if (line[0] == '\0' || line[0] == '#') {
        return TRUE;
    }
    fields = g_strsplit(line, ",", -1);
    for (char **field = fields; *field != NULL; field++) {
        g_strstrip(*field);
    }
    if (!t->has_header) {
        return read_header(t, fields, error);
    }
    if (!read_row(t, fields, &flow, error)) {
        g_free(flow.src.name);
        g_free(flow.dst.name);
        return FALSE;
    }
    g_array_append_val(t->flows, flow);
    return TRUE;
}

gboolean
flows_csv_parse(const char *file, const char *data, size_t n_bytes, GArray *flows,
                GError **error)
{
    struct table t = {.file = file, .line = 1, .flows = flows};
    const char *end = data + n_bytes;
    guint before = flows->len;

    for (const char *at = data; at < end; t.line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop != NULL ? stop : end) - at);

        if (!read_line(&t, at, n, error)) {
            return FALSE;
        }
        at += n + 1;
    }
    return flows->len > before ||
           fail(&t, error, "there is no flow; needed are a line of names and one a flow");
}

gboolean
flows_csv_read(const char *path, GArray *flows, GError **error)
{
    g_autofree char *data = NULL;
    size_t n_bytes;

    data = doc_read_file(path, &n_bytes, error);
    return data != NULL && flows_csv_parse(path, data, n_bytes, flows, error);
}
