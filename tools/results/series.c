/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * series.c - series.csv, see series.h.
 *
 * Invariants: the spool holds samples at multiples of 'interval_ps' only; bytes sent are
 * neither lost nor counted twice by thinning; 'pending' is sorted by object and class.
 */
#include <config.h>

#include "tools/results/series.h"

#include <string.h>

#include "tools/results/pauses.h"
#include "tools/results/port_name.h"
#include "tools/results/text.h"

#define SPOOL_NAME "series.spool"
#define NEW_SPOOL_NAME "series.spool2"
#define SERIES_NAME "series.csv"

/* Turns samples of one interval into those of a longer one. */
struct thinner {
    int64_t interval_ps;
    int64_t step_ps;  /* time of what is in 'step' */
    GArray *step;     /* owned: records of one time */
    GArray *pending;  /* owned: what happened since the last sample that was kept */
    int64_t since_ps; /* time of the newest of these */
};

struct series {
    const struct outdir *dir; /* borrowed */
    const struct net *net;    /* borrowed */
    FILE *spool;              /* owned */
    struct pauses *pauses;    /* owned */
    bool takes_heard;         /* PROBE_PAUSE_HEARD */
    GString *line;            /* owned */
    struct thinner thin;
    uint32_t n_records, max_records;
    gboolean failed;
};

typedef void emit_record(void *ctx, const struct probe_record *record);

/* ---- thinning ------------------------------------------------------------------------- */

static void
thinner_init(struct thinner *thin, int64_t interval_ps)
{
    *thin = (struct thinner){
        .interval_ps = interval_ps,
        .step = g_array_new(FALSE, FALSE, sizeof(struct probe_record)),
        .pending = g_array_new(FALSE, FALSE, sizeof(struct probe_record))};
}

static void
thinner_clear(struct thinner *thin)
{
    g_array_unref(thin->step);
    g_array_unref(thin->pending);
}

static int
compare_place(const struct probe_record *a, const struct probe_record *b)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->object != b->object) {
        return a->object < b->object ? -1 : 1;
    }
    return (a->cls > b->cls) - (a->cls < b->cls);
}

static bool
is_at_rest(const struct probe_record *record)
{
    return record->kind == PROBE_QUEUE && record->a == 0 && record->b == 0 &&
           record->c == 0;
}

/* A sample that is kept: handed on with the bytes that were pending.  Where the port is at
 * rest but the sample shows bytes, one more is due that shows the rest. */
static void
keep_sample(struct thinner *thin, GArray *next, const struct probe_record *record,
            int64_t more_bytes, int64_t time_ps, emit_record *emit, void *ctx)
{
    struct probe_record sum = *record;

    sum.time_ps = time_ps;
    sum.b += more_bytes;
    emit(ctx, &sum);
    if (is_at_rest(record) && more_bytes) {
        struct probe_record rest = *record;

        g_array_append_val(next, rest);
        thin->since_ps = time_ps + 1;
    }
}

/* Joins the records of a step with what is pending and hands on or keeps pending. */
static void
join(struct thinner *thin, const GArray *step, int64_t time_ps, bool keep,
     emit_record *emit, void *ctx)
{
    GArray *next = g_array_new(FALSE, FALSE, sizeof(struct probe_record));
    guint i = 0, k = 0;

    if (!keep) {
        thin->since_ps = time_ps;
    }
    while (i < step->len || k < thin->pending->len) {
        const struct probe_record *now =
            i < step->len ? &g_array_index(step, struct probe_record, i) : NULL;
        const struct probe_record *old =
            k < thin->pending->len ? &g_array_index(thin->pending, struct probe_record, k)
                                   : NULL;
        int order = !now ? 1 : !old ? -1 : compare_place(now, old);
        struct probe_record record = order <= 0 ? *now : *old;
        int64_t more_bytes = order >= 0 ? old->b : 0;

        i += order <= 0;
        k += order >= 0;
        if (order > 0) {
            /* No sample now: the port has come to rest, the QP has nothing to send. */
            record.a = record.kind == PROBE_RATE ? record.a : 0;
            record.b = 0;
            record.c = 0;
        }
        if (keep) {
            keep_sample(thin, next, &record, more_bytes, time_ps, emit, ctx);
        } else {
            record.b += more_bytes;
            g_array_append_val(next, record);
        }
    }
    g_array_unref(thin->pending);
    thin->pending = next;
}

/* What is pending belongs to samples before 'until_ps' that no port has a record for. */
static void
flush_pending(struct thinner *thin, int64_t until_ps, emit_record *emit, void *ctx)
{
    g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(struct probe_record));

    while (thin->pending->len) {
        int64_t due_ps = (thin->since_ps + thin->interval_ps - 1) / thin->interval_ps *
                         thin->interval_ps;

        if (due_ps >= until_ps) {
            return;
        }
        join(thin, none, due_ps, true, emit, ctx);
    }
}

/* The step at 'step_ps' is whole. */
static void
end_step(struct thinner *thin, emit_record *emit, void *ctx)
{
    if (thin->step->len) {
        flush_pending(thin, thin->step_ps, emit, ctx);
        join(thin, thin->step, thin->step_ps, thin->step_ps % thin->interval_ps == 0,
             emit, ctx);
        g_array_set_size(thin->step, 0);
    }
}

static void
thinner_end(struct thinner *thin, emit_record *emit, void *ctx)
{
    end_step(thin, emit, ctx);
    flush_pending(thin, TIME_NEVER_PS, emit, ctx);
}

/* ---- the spool ------------------------------------------------------------------------ */

static void
spool_record(void *ctx, const struct probe_record *record)
{
    struct series *series = ctx;

    if (fwrite(record, sizeof *record, 1, series->spool) != 1) {
        series->failed = TRUE;
    }
    series->n_records++;
}

static bool
read_record(FILE *file, struct probe_record *record)
{
    return fread(record, sizeof *record, 1, file) == 1;
}

static void
take_record(struct thinner *thin, const struct probe_record *record, emit_record *emit,
            void *ctx)
{
    if (thin->step->len && record->time_ps != thin->step_ps) {
        end_step(thin, emit, ctx);
    }
    thin->step_ps = record->time_ps;
    g_array_append_vals(thin->step, record, 1);
}

/* Writes the spool anew with every second sample. */
static void
halve_spool(struct series *series)
{
    FILE *old = series->spool;
    struct probe_record record;
    GError *error = NULL;

    series->spool = outdir_open(series->dir, NEW_SPOOL_NAME, &error);
    if (!series->spool) {
        g_clear_error(&error);
        series->spool = old;
        series->failed = TRUE;
        return;
    }
    g_autofree char *from = g_build_filename(series->dir->temp, SPOOL_NAME, NULL);
    g_autofree char *to = g_build_filename(series->dir->temp, NEW_SPOOL_NAME, NULL);
    FILE *in = fflush(old) == 0 ? fopen(from, "rbe") : NULL;
    struct thinner before = series->thin;

    thinner_init(&series->thin, 2 * before.interval_ps);
    series->n_records = 0;
    while (in && read_record(in, &record)) {
        take_record(&series->thin, &record, spool_record, series);
    }
    /* What the old interval had pending comes behind all it had kept. */
    for (guint i = 0; i < before.pending->len; i++) {
        record = g_array_index(before.pending, struct probe_record, i);
        record.time_ps = before.since_ps;
        take_record(&series->thin, &record, spool_record, series);
    }
    end_step(&series->thin, spool_record, series);
    thinner_clear(&before);
    if (!in || ferror(in)) {
        series->failed = TRUE;
    }
    if (in) {
        fclose(in);
    }
    fclose(old);
    if (rename(to, from) != 0) {
        series->failed = TRUE;
    }
}

static void
on_sample(struct series *series, const struct probe_record *record)
{
    bool new_step = series->thin.step->len && record->time_ps != series->thin.step_ps;

    if (new_step && series->n_records >= series->max_records) {
        end_step(&series->thin, spool_record, series);
        halve_spool(series);
    }
    take_record(&series->thin, record, spool_record, series);
}

/* ---- lines ---------------------------------------------------------------------------- */

static void
on_record(void *ctx, const struct probe_record *record)
{
    struct series *series = ctx;

    switch ((enum probe_kind)record->kind) {
    case PROBE_PAUSE:
        pauses_add(series->pauses, record);
        break;
    case PROBE_QUEUE:
    case PROBE_RATE:
        on_sample(series, record);
        break;
    case PROBE_PAUSE_HEARD:
        pauses_heard(series->pauses, record);
        break;
    }
}

/* A queue pair: its port, what it may send, its number, what it has sent. */
static void
put_rate(const struct series *series, GString *line, const struct probe_record *record)
{
    const struct qp *qp = &series->net->qps[record->object];

    port_name_csv(line, series->net, qp->nic->port->id);
    g_string_append_printf(line, ",%u,,", record->cls);
    text_quotient(line, record->a, 1000000000, 6);
    g_string_append_printf(line, ",,0x%06x,", qp->qpn);
    text_quotient(line, (__int128)record->b * 8000, series->thin.interval_ps, 6);
    g_string_append_c(line, '\n');
}

static void
put_queue(const struct series *series, GString *line, const struct probe_record *record)
{
    port_name_csv(line, series->net, record->object);
    g_string_append_printf(line, ",%u,", record->cls);
    text_int(line, record->a);
    g_string_append_c(line, ',');
    /* A bit a picosecond is 1000 Gb/s. */
    text_quotient(line, (__int128)record->b * 8000, series->thin.interval_ps, 6);
    g_string_append(line, record->c ? ",1,,\n" : ",0,,\n");
}

static void
put_sample(const struct series *series, GString *line, const struct probe_record *record)
{
    g_string_truncate(line, 0);
    text_us(line, record->time_ps);
    g_string_append_c(line, ',');
    if (record->kind == PROBE_RATE) {
        put_rate(series, line, record);
    } else {
        put_queue(series, line, record);
    }
}

/* series.csv from the spool. */
static gboolean
write_samples(struct series *series, GError **error)
{
    FILE *out = outdir_open(series->dir, SERIES_NAME, error);
    g_autofree char *path = g_build_filename(series->dir->temp, SPOOL_NAME, NULL);
    FILE *in = out ? fopen(path, "rbe") : NULL;
    struct probe_record record;

    if (!out) {
        return FALSE;
    }
    fputs("time_us,port,class,queue_bytes,rate_gbps,paused,qp,sent_gbps\n", out);
    while (in && read_record(in, &record)) {
        put_sample(series, series->line, &record);
        fwrite(series->line->str, 1, series->line->len, out);
    }
    if (in) {
        fclose(in);
    }
    return outdir_close(series->dir, SERIES_NAME, out, error);
}

/* ---- the whole ------------------------------------------------------------------------ */

struct series *
series_new(const struct outdir *dir, const struct net *net, uint32_t max_records,
           bool pfc_txt, GError **error)
{
    struct series *series = g_new0(struct series, 1);

    series->dir = dir;
    series->net = net;
    series->max_records = max_records;
    series->line = g_string_new(NULL);
    thinner_init(&series->thin, net->sample_ps > 0 ? net->sample_ps : 1);
    series->spool = outdir_open(dir, SPOOL_NAME, error);
    series->takes_heard = pfc_txt;
    series->pauses = series->spool ? pauses_new(dir, net, pfc_txt, error) : NULL;
    if (!series->pauses) {
        series_free(series);
        return NULL;
    }
    return series;
}

struct probe_sink
series_sink(struct series *series)
{
    return (struct probe_sink){.on_record = on_record,
                               .ctx = series,
                               .skip = series->takes_heard ? 0 : 1u << PROBE_PAUSE_HEARD};
}

gboolean
series_has_failed(const struct series *series)
{
    return series->failed || pauses_have_failed(series->pauses);
}

gboolean
series_finish(struct series *series, int64_t end_ps, int64_t *interval_ps,
              struct result_pauses *pauses, GError **error)
{
    FILE *spool;

    if (!pauses_finish(series->pauses, end_ps, pauses, error)) {
        return FALSE;
    }
    thinner_end(&series->thin, spool_record, series);
    spool = g_steal_pointer(&series->spool);
    if (!outdir_close(series->dir, SERIES_NAME, spool, error)) {
        return FALSE;
    }
    *interval_ps = series->net->sample_ps > 0 ? series->thin.interval_ps : 0;
    if (series->failed) {
        g_set_error(error, OUTDIR_ERROR, OUTDIR_ERROR_WRITE, "%s/%s: cannot be written",
                    series->dir->path, SERIES_NAME);
        return FALSE;
    }
    if (!write_samples(series, error)) {
        return FALSE;
    }
    outdir_remove(series->dir, SPOOL_NAME);
    return TRUE;
}

void
series_free(struct series *series)
{
    if (!series) {
        return;
    }
    if (series->spool) {
        fclose(series->spool);
    }
    pauses_free(series->pauses);
    thinner_clear(&series->thin);
    g_string_free(series->line, TRUE);
    g_free(series);
}
