/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table.c - the summary of a run for people, see table.h.
 * The table of collectives has the columns of nccl-tests.
 */
#include <config.h>

#include "tools/results/table.h"

#include <string.h>

#include "tools/results/text.h"

#define LABEL_COLUMN 14
#define MOST_CALLS 20
#define MOST_REASONS 8

/* A line whose label stands in the left column. */
static void
label(GString *out, const char *name)
{
    g_string_append_printf(out, "%-*s", LABEL_COLUMN, name);
}

static void
put_head(GString *out, const struct run_result *result)
{
    label(out, "scenario");
    g_string_append_printf(out, "%s, seed %" G_GINT64_FORMAT ", %u host%s, %u switch%s\n",
                           result->scenario->name, result->scenario->seed,
                           result->n_hosts, result->n_hosts == 1 ? "" : "s",
                           result->n_switches, result->n_switches == 1 ? "" : "es");
    label(out, "verdict");
    g_string_append_printf(
        out, "%s%s\n", scenario_verdict_name(result->verdict),
        result->expected && result->verdict != VERDICT_COMPLETE ? ", as expected" : "");
    for (guint i = 0; i < result->why->len && i < MOST_REASONS; i++) {
        label(out, "");
        g_string_append_printf(out, "%s\n",
                               (const char *)g_ptr_array_index(result->why, i));
    }
    if (result->why->len > MOST_REASONS) {
        label(out, "");
        g_string_append_printf(out, "... and %u more, in summary.json\n",
                               result->why->len - MOST_REASONS);
    }
    for (guint i = 0; i < result->notes->len; i++) {
        label(out, i ? "" : "note");
        g_string_append_printf(out, "%s\n",
                               (const char *)g_ptr_array_index(result->notes, i));
    }
}

static void
put_unfinished(GString *out, const struct run_result *result)
{
    for (guint i = 0; i < result->unfinished->len && i < MOST_REASONS; i++) {
        label(out, i ? "" : "unfinished");
        g_string_append_printf(out, "%s\n",
                               (const char *)g_ptr_array_index(result->unfinished, i));
    }
    if (result->unfinished->len > MOST_REASONS) {
        label(out, "");
        g_string_append_printf(out, "... and %u more lines, in summary.json\n",
                               result->unfinished->len - MOST_REASONS);
    }
}

static void
put_speed(GString *out, const struct run_result *result)
{
    label(out, "time");
    text_time(out, result->run_ps);
    g_string_append(out, " simulated in ");
    text_double(out, result->wall_s, 2);
    g_string_append_printf(out, " s, %u thread%s\n", result->n_threads,
                           result->n_threads == 1 ? "" : "s");
    label(out, "speed");
    text_count(out, result->loop_s > 0
                        ? (double)result->fabric.packet_hops / result->loop_s
                        : 0);
    g_string_append(out, " packet-hops/s: ");
    text_count(out, (double)result->fabric.packet_hops);
    g_string_append(out, " packet-hops, ");
    text_count(out, (double)result->events);
    g_string_append(out, " events, ");
    text_size(out, result->peak_rss_bytes / 1000000 * 1000000);
    g_string_append(out, " of memory\n");
}

/* 'text' of a cell, right-aligned. */
static void
cell(GString *out, int width, const char *text)
{
    g_string_append_printf(out, "%*s", width, text);
}

static void
cell_us(GString *out, int width, int64_t time_ps)
{
    g_autoptr(GString) text = g_string_new(NULL);

    if (time_ps == TIME_NEVER_PS) {
        g_string_append_c(text, '-');
    } else {
        text_quotient_fixed(text, time_ps, PS_PER_US, 2);
    }
    cell(out, width, text->str);
}

static void
cell_quotient(GString *out, int width, __int128 num, __int128 den, unsigned decimals)
{
    g_autoptr(GString) text = g_string_new(NULL);

    if (den == 0) {
        g_string_append_c(text, '-');
    } else {
        text_quotient_fixed(text, num, den, decimals);
    }
    cell(out, width, text->str);
}

static void
cell_slowdown(GString *out, const struct run_result *result,
              const struct result_percentiles *p, uint32_t index)
{
    const struct result_flow *flow =
        &g_array_index(result->flows, struct result_flow, p->n_ideal ? index : 0);

    cell_quotient(out, 12, flow->fct_ps, p->n_ideal ? flow->ideal_ps : 0, 3);
}

static void
put_flows(GString *out, const struct run_result *result)
{
    struct result_percentiles p;

    if (result->flows->len == 0) {
        return;
    }
    result_percentiles(result, RESULT_ALL_WORKS, &p);
    g_string_append_c(out, '\n');
    g_string_append_printf(out, "%-*s%12s%12s%12s%12s%12s\n", LABEL_COLUMN + 10, "flows",
                           "p50", "p95", "p99", "max", "mean");
    g_string_append_printf(out, "%u of %u done\n", p.n_done, p.n);
    g_string_append_printf(out, "%-*s", LABEL_COLUMN + 10, "completion time, us");
    cell_us(out, 12, p.p50_ps);
    cell_us(out, 12, p.p95_ps);
    cell_us(out, 12, p.p99_ps);
    cell_us(out, 12, p.max_ps);
    cell_us(out, 12, p.mean_ps);
    g_string_append_printf(out, "\n%-*s", LABEL_COLUMN + 10, "slowdown");
    cell_slowdown(out, result, &p, p.slow50);
    cell_slowdown(out, result, &p, p.slow95);
    cell_slowdown(out, result, &p, p.slow99);
    cell_slowdown(out, result, &p, p.slow_max);
    g_string_append_c(out, '\n');
}

static void
put_call(GString *out, const struct call_result *call)
{
    bool ended = call->end_ps != TIME_NEVER_PS;
    __int128 num, den;

    g_string_append_printf(out, "%14" G_GINT64_FORMAT "  %-14s%-8s%-8s%6u", call->bytes,
                           call->op, call->algorithm, call->protocol, call->n_ranks);
    cell_us(out, 12, ended ? call->end_ps - call->start_ps : TIME_NEVER_PS);
    result_bandwidth(call, 1, 1, &num, &den);
    cell_quotient(out, 9, num, den, 2);
    result_bandwidth(call, call->bus_num, call->bus_den, &num, &den);
    cell_quotient(out, 9, num, den, 2);
    cell_us(out, 12, call->bound_ps);
    g_string_append_c(out, '\n');
}

static void
put_calls(GString *out, const struct run_result *result)
{
    guint n = result->calls->len;

    if (n == 0) {
        return;
    }
    g_string_append_printf(out, "\n%14s  %-14s%-8s%-8s%6s%12s%9s%9s%12s\n", "size", "op",
                           "algo", "proto", "ranks", "time", "algbw", "busbw", "bound");
    g_string_append_printf(out, "%14s  %-14s%-8s%-8s%6s%12s%9s%9s%12s\n", "(B)", "", "",
                           "", "", "(us)", "(GB/s)", "(GB/s)", "(us)");
    for (guint i = 0; i < n; i++) {
        /* The first ones, and the last one. */
        if (i + 1 < MOST_CALLS || i + 1 == n) {
            put_call(out, &g_array_index(result->calls, struct result_call, i).call);
        } else if (i + 1 == MOST_CALLS) {
            g_string_append_printf(out, "%14s  %u more in collectives.csv\n", "...",
                                   n - MOST_CALLS);
        }
    }
}

static void
put_counter(GString *out, const char *name, int64_t value)
{
    g_autoptr(GString) text = g_string_new(NULL);

    text_int(text, value);
    g_string_append_printf(out, "%s %s", text->str, name);
}

static void
put_fabric(GString *out, const struct run_result *result)
{
    const struct result_fabric *fabric = &result->fabric;

    g_string_append_c(out, '\n');
    label(out, "packets");
    put_counter(out, "data, ", fabric->data_packets);
    put_counter(out, "ACKs, ", fabric->acks_sent);
    put_counter(out, "CNPs, ", fabric->cnp_sent);
    put_counter(out, "NAKs, ", fabric->nak_sent);
    put_counter(out, "sent again\n", fabric->retransmitted);
    label(out, "losses");
    put_counter(out, "dropped for lack of buffer, ", fabric->drops);
    put_counter(out, "by links, ", fabric->lost_error + fabric->lost_down);
    if (fabric->lost_watchdog) {
        put_counter(out, "by watchdogs, ", fabric->lost_watchdog);
    }
    put_counter(out, "otherwise\n", fabric->lost_ttl + fabric->lost_route);
    label(out, "congestion");
    put_counter(out, "marked, ", fabric->ecn_marked);
    put_counter(out, "PFC frames, largest queue ", fabric->pfc_frames);
    text_size(out, fabric->max_queue_bytes);
    g_string_append(out, ", shared buffer of a switch ");
    text_size(out, fabric->max_buffer_bytes);
    g_string_append_c(out, '\n');
}

static void
put_pauses(GString *out, const struct result_pauses *pauses)
{
    if (pauses->n == 0) {
        return;
    }
    g_string_append_c(out, '\n');
    label(out, "pauses");
    text_int(out, pauses->n);
    g_string_append_printf(out, " of %u port%s, ", pauses->n_ports,
                           pauses->n_ports == 1 ? "" : "s");
    text_time(out, pauses->paused_ps);
    g_string_append_printf(out, " in all, up to %u hop%s from what caused them:\n",
                           pauses->depth, pauses->depth == 1 ? "" : "s");
    for (guint i = 0; pauses->roots && i < pauses->roots->len; i++) {
        const struct result_root *root =
            &g_array_index(pauses->roots, struct result_root, i);
        g_autofree char *name = g_strdup_printf("%s:%u to %s, class %u", root->node,
                                                root->port, root->to, root->cls);

        label(out, "");
        g_string_append_printf(out, "%-32s ", name);
        text_time(out, root->paused_ps);
        g_string_append_printf(
            out, " in %" G_GINT64_FORMAT " pause%s of %u port%s, %u host%s%s\n", root->n,
            root->n == 1 ? "" : "s", root->n_ports, root->n_ports == 1 ? "" : "s",
            root->n_hosts, root->n_hosts == 1 ? "" : "s",
            root->is_loop   ? "; a loop"
            : root->is_held ? "; held by its peer"
                            : "");
    }
    label(out, "");
    if (pauses->roots && pauses->n_roots > pauses->roots->len) {
        g_string_append_printf(out, "... and %u more causes; ",
                               pauses->n_roots - pauses->roots->len);
    }
    g_string_append(out, "who made whom wait is in pfc-tree.txt\n");
}

static void
append_target_value(GString *out, const struct result_target *target, __int128 num,
                    __int128 den)
{
    if (target->is_share) {
        text_quotient(out, num * 100, den, 3);
        g_string_append(out, " %");
    } else {
        text_quotient(out, num, den, 2);
        if (target->limit_num) {
            g_string_append(out, " us");
        }
    }
}

static void
put_targets(GString *out, const struct run_result *result)
{
    struct result_target targets[RESULT_N_TARGETS];

    result_targets(result, targets);
    g_string_append_c(out, '\n');
    for (unsigned i = 0; i < RESULT_N_TARGETS; i++) {
        const struct result_target *target = &targets[i];
        g_autoptr(GString) value = g_string_new(NULL);
        g_autoptr(GString) limit = g_string_new(NULL);

        g_string_append_printf(limit, "%c ", target->sense);
        append_target_value(limit, target, target->limit_num, target->limit_den);
        if (target->known) {
            append_target_value(value, target, target->num, target->den);
        } else {
            g_string_append_c(value, '-');
        }
        label(out, i ? "" : "targets");
        g_string_append_printf(out, "%-36s%14s  %-10s %s\n", target->title, value->str,
                               limit->str,
                               !target->known ? "not measured"
                               : target->met  ? "met"
                                              : "missed");
    }
}

char *
table_of_result(const struct run_result *result, const char *dir)
{
    GString *out = g_string_new(NULL);

    put_head(out, result);
    put_unfinished(out, result);
    put_speed(out, result);
    put_flows(out, result);
    put_calls(out, result);
    put_fabric(out, result);
    put_pauses(out, &result->pauses);
    put_targets(out, result);
    g_string_append_c(out, '\n');
    label(out, "results");
    g_string_append_printf(out, "%s\n", dir);
    return g_string_free(out, FALSE);
}
