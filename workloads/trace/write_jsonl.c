/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * write_jsonl.c - a trace as JSON lines: docs/trace/jsonl.md.
 *
 * Calls of a log follow each other on each rank (trace.h); here that becomes 'after' the
 * operations that its ranks did last.  Sends and receives of one group call (equal counter)
 * run at once in NCCL, so they come after what was before the group, not after each other.
 */
#include <config.h>

#include "workloads/trace/trace.h"

#include <string.h>

struct writer {
    const struct trace *trace;
    bool (*put)(void *ctx, const char *line);
    void *ctx;
    GString *line;
    char **names;     /* owned: of the communicators, all different */
    GArray **last;    /* owned: by rank, operations to come after; uint32_t */
    GArray **grouped; /* owned: by rank, those of the group call that is open */
    uint32_t *comm; /* owned: by rank, communicator of the group call; UINT32_MAX: none */
    uint64_t *seq;  /* owned: by rank, its counter */
    uint32_t *mark; /* owned: by operation, 1 + the last that came after it */
};

/* ---- texts ---------------------------------------------------------------------------- */

static void
put_string(GString *out, const char *text)
{
    g_string_append_c(out, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            g_string_append_c(out, '\\');
            g_string_append_c(out, *c);
        } else if ((unsigned char)*c < ' ') {
            g_string_append_printf(out, "\\u%04x", (unsigned char)*c);
        } else {
            g_string_append_c(out, *c);
        }
    }
    g_string_append_c(out, '"');
}

/* 'text' as it may stand in JSON: UTF-8, not empty, of one line. */
static char *
clean(const char *text)
{
    char *valid = g_utf8_make_valid(*text ? text : "?", -1);

    return g_strdelimit(valid, "\r\n", ' ');
}

/* Names of all communicators; of two alike the later gets a number. */
static char **
find_names(const struct trace *trace)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    char **names = g_new0(char *, trace->n_comms + 1);

    for (uint32_t c = 0; c < trace->n_comms; c++) {
        names[c] = clean(trace->comms[c].name);
        for (uint32_t k = 2; g_hash_table_contains(known, names[c]); k++) {
            g_autofree char *plain = clean(trace->comms[c].name);

            g_free(names[c]);
            names[c] = g_strdup_printf("%s#%u", plain, k);
        }
        g_hash_table_add(known, names[c]);
    }
    return names;
}

/* ---- header --------------------------------------------------------------------------- */

static void
put_hosts(struct writer *w)
{
    const struct trace *trace = w->trace;
    g_autofree GArray **of = g_new(GArray *, trace->n_hosts);

    for (uint32_t h = 0; h < trace->n_hosts; h++) {
        of[h] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    }
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        g_array_append_val(of[trace->ranks[r].host], r);
    }
    g_string_append(w->line, ", \"hosts\": [");
    for (uint32_t h = 0; h < trace->n_hosts; h++) {
        g_autofree char *name = clean(trace->hosts[h]);

        g_string_append(w->line, h ? ", {\"name\": " : "{\"name\": ");
        put_string(w->line, name);
        g_string_append(w->line, ", \"ranks\": [");
        for (guint i = 0; i < of[h]->len; i++) {
            g_string_append_printf(w->line, "%s%u", i ? ", " : "",
                                   g_array_index(of[h], uint32_t, i));
        }
        g_string_append(w->line, "]}");
        g_array_unref(of[h]);
    }
    g_string_append_c(w->line, ']');
}

/* The ranks of 'comm' in the order of 'places' (NULL: as they are). */
static void
put_ranks(GString *out, const struct trace_comm *comm, const uint32_t places[])
{
    g_string_append_c(out, '[');
    for (uint32_t i = 0; i < comm->n_ranks; i++) {
        g_string_append_printf(out, "%s%u", i ? ", " : "",
                               comm->ranks[places != NULL ? places[i] : i]);
    }
    g_string_append_c(out, ']');
}

static void
put_groups(struct writer *w)
{
    g_string_append(w->line, ", \"groups\": [");
    for (uint32_t c = 0; c < w->trace->n_comms; c++) {
        const struct trace_comm *comm = &w->trace->comms[c];

        g_string_append(w->line, c ? ", {\"name\": " : "{\"name\": ");
        put_string(w->line, w->names[c]);
        g_string_append(w->line, ", \"ranks\": ");
        put_ranks(w->line, comm, NULL);
        if (comm->n_channels > 0) {
            g_string_append_printf(w->line, ", \"channels\": %u", comm->n_channels);
        }
        for (uint32_t k = 0; comm->rings != NULL && k < comm->n_channels; k++) {
            g_string_append(w->line, k ? ", " : ", \"rings\": [");
            put_ranks(w->line, comm, comm->rings + (size_t)k * comm->n_ranks);
        }
        g_string_append(w->line, comm->rings != NULL ? "]}" : "}");
    }
    g_string_append(w->line, "]}\n");
}

/* ---- operations ----------------------------------------------------------------------- */

static uint32_t
rank_of(const struct writer *w, const struct trace_op *op, uint32_t i)
{
    uint32_t place = op->rank != TRACE_NO_RANK ? (uint32_t)op->rank : i;

    return w->trace->comms[op->comm].ranks[place];
}

static void
add_after(struct writer *w, uint32_t before, uint32_t index, guint *n)
{
    if (w->mark[before] != index + 1) {
        w->mark[before] = index + 1;
        g_string_append_printf(w->line, (*n)++ ? ", %u" : ", \"after\": [%u", before);
    }
}

/* What 'rank' did last, as it comes to operation 'index'. */
static void
pass_rank(struct writer *w, uint32_t rank, uint32_t index, guint *n)
{
    const struct trace_op *op = &w->trace->ops[index];
    bool is_p2p = trace_kind_is_p2p(op->kind);

    if (w->comm[rank] != UINT32_MAX &&
        !(is_p2p && w->comm[rank] == op->comm && w->seq[rank] == op->seq)) {
        /* The group call is over, and is what was last. */
        GArray *over = w->last[rank];

        w->last[rank] = w->grouped[rank];
        w->grouped[rank] = over;
        g_array_set_size(over, 0);
        w->comm[rank] = UINT32_MAX;
    }
    for (guint i = 0; i < w->last[rank]->len; i++) {
        add_after(w, g_array_index(w->last[rank], uint32_t, i), index, n);
    }
    if (is_p2p) {
        w->comm[rank] = op->comm;
        w->seq[rank] = op->seq;
        g_array_append_val(w->grouped[rank], index);
    } else {
        g_array_set_size(w->last[rank], 0);
        g_array_append_val(w->last[rank], index);
    }
}

static void
put_afters(struct writer *w, uint32_t index)
{
    const struct trace_op *op = &w->trace->ops[index];
    guint n = 0;

    if (w->trace->is_graph) {
        for (uint32_t i = 0; i < op->n_after; i++) {
            add_after(w, op->after[i], index, &n);
        }
    } else {
        uint32_t n_ranks = trace_op_n_ranks(w->trace, op);

        for (uint32_t i = 0; i < n_ranks; i++) {
            pass_rank(w, rank_of(w, op, i), index, &n);
        }
    }
    g_string_append(w->line, n ? "]" : "");
    if (op->delay_ps > 0) {
        g_string_append_printf(w->line, ", \"delay_ns\": %" G_GINT64_FORMAT,
                               op->delay_ps / 1000);
    }
}

static void
put_times(struct writer *w, const struct trace_op *op)
{
    uint32_t n = op->has_time ? trace_op_n_ranks(w->trace, op) : 0;
    bool alike = true;

    for (uint32_t i = 1; i < n; i++) {
        alike = alike && op->rank_times_ps[i] == op->rank_times_ps[0];
    }
    for (uint32_t i = 0; i < (alike ? MIN(n, 1) : n); i++) {
        g_string_append_printf(w->line, "%s%" G_GINT64_FORMAT,
                               i       ? ", "
                               : alike ? ", \"at_ns\": "
                                       : ", \"at_ns\": [",
                               op->rank_times_ps[i] / 1000);
    }
    g_string_append(w->line, alike ? "" : "]");
}

static void
put_data(struct writer *w, const struct trace_op *op)
{
    g_string_append_printf(w->line, ", \"bytes\": %" G_GINT64_FORMAT ", \"type\": \"%s\"",
                           op->bytes, trace_type_name(op->type));
    if (trace_kind_has_redop(op->kind)) {
        g_string_append_printf(w->line, ", \"reduction\": \"%s\"",
                               trace_redop_name(op->redop));
    }
    if (op->algo != TRACE_ALGO_UNKNOWN) {
        g_string_append_printf(w->line, ", \"algorithm\": \"%s\"",
                               trace_algo_name(op->algo));
    }
    if (op->proto != TRACE_PROTO_UNKNOWN) {
        g_string_append_printf(w->line, ", \"protocol\": \"%s\"",
                               trace_proto_name(op->proto));
    }
    if (op->has_channels) {
        g_string_append_printf(w->line, ", \"channels\": [%u, %u]", op->channel_lo,
                               op->channel_hi);
    }
}

static bool
put_op(struct writer *w, uint32_t index)
{
    const struct trace_op *op = &w->trace->ops[index];
    const uint32_t *ranks = w->trace->comms[op->comm].ranks;

    g_string_printf(w->line, "{\"id\": %u, \"kind\": \"%s\", \"group\": ", index,
                    trace_kind_name(op->kind));
    put_string(w->line, w->names[op->comm]);
    if (op->rank != TRACE_NO_RANK) {
        g_string_append_printf(w->line, ", \"rank\": %u", ranks[op->rank]);
    }
    if (op->peer != TRACE_NO_RANK) {
        g_string_append_printf(w->line, ", \"%s\": %u",
                               trace_kind_is_p2p(op->kind) ? "peer" : "root",
                               ranks[op->peer]);
    }
    if (op->kind == TRACE_COMPUTE) {
        g_string_append_printf(w->line, ", \"duration_ns\": %" G_GINT64_FORMAT,
                               op->duration_ps / 1000);
    } else {
        put_data(w, op);
    }
    put_times(w, op);
    put_afters(w, index);
    g_string_append(w->line, "}\n");
    return w->put(w->ctx, w->line->str);
}

void
trace_write_jsonl(const struct trace *trace, bool (*put)(void *ctx, const char *line),
                  void *ctx)
{
    g_autoptr(GString) line = g_string_new(NULL);
    g_auto(GStrv) names = find_names(trace);
    g_autofree GArray **last = g_new(GArray *, trace->n_ranks);
    g_autofree GArray **grouped = g_new(GArray *, trace->n_ranks);
    g_autofree uint32_t *comm = g_new(uint32_t, trace->n_ranks);
    g_autofree uint64_t *seq = g_new0(uint64_t, trace->n_ranks);
    g_autofree uint32_t *mark = g_new0(uint32_t, trace->n_ops);
    struct writer w = {trace, put, ctx, line, names, last, grouped, comm, seq, mark};

    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        last[r] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        grouped[r] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        comm[r] = UINT32_MAX;
    }
    g_string_printf(line, "{\"rocesim_trace\": 1, \"ranks\": %u", trace->n_ranks);
    put_hosts(&w);
    put_groups(&w);

    bool go_on = put(ctx, line->str);

    for (uint32_t i = 0; i < trace->n_ops && go_on; i++) {
        go_on = put_op(&w, i);
    }
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        g_array_unref(last[r]);
        g_array_unref(grouped[r]);
    }
}
