/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * summary.c - summary.json; its keys are described in docs/results.md.
 * Invariant: no key but wall_s, packet_hops_per_s, peak_rss_bytes and threads depends on the
 * machine, the threads or the partition.
 */
#include <config.h>

#include "tools/results/summary.h"

#include "tools/results/json_out.h"

/* A rate over more than this is no rate: the clock has not moved. */
#define LEAST_SECONDS 1e-9

static void
put_lines(struct json_out *json, const char *key, const GPtrArray *lines)
{
    json_out_open(json, key, '[', false);
    for (guint i = 0; i < lines->len; i++) {
        json_out_text(json, NULL, g_ptr_array_index(lines, i));
    }
    json_out_close(json, ']');
}

static void
put_slowdown(struct json_out *json, const char *key, const struct run_result *result,
             const struct result_percentiles *p, uint32_t index)
{
    const struct result_flow *flow =
        p->n_ideal ? &g_array_index(result->flows, struct result_flow, index) : NULL;

    json_out_quotient(json, key, flow ? flow->fct_ps : 0, flow ? flow->ideal_ps : 0);
}

/* Completion times and slowdowns of the flows of 'work'; see result_percentiles(). */
static void
put_percentiles(struct json_out *json, const struct run_result *result, uint32_t work)
{
    struct result_percentiles p;

    result_percentiles(result, work, &p);
    json_out_int(json, "n", p.n);
    json_out_int(json, "done", p.n_done);
    json_out_int(json, "counted", p.n_counted);
    if (work == RESULT_ALL_WORKS) {
        json_out_us(json, "counted_from_us", result->count_from_ps);
        json_out_us(json, "counted_to_us", result->count_to_ps);
    }
    json_out_open(json, "fct_us", '{', true);
    json_out_us(json, "p50", p.p50_ps);
    json_out_us(json, "p95", p.p95_ps);
    json_out_us(json, "p99", p.p99_ps);
    json_out_us(json, "max", p.max_ps);
    json_out_us(json, "mean", p.mean_ps);
    json_out_close(json, '}');
    json_out_open(json, "slowdown", '{', true);
    put_slowdown(json, "p50", result, &p, p.slow50);
    put_slowdown(json, "p95", result, &p, p.slow95);
    put_slowdown(json, "p99", result, &p, p.slow99);
    put_slowdown(json, "max", result, &p, p.slow_max);
    json_out_close(json, '}');
}

static void
put_flows(struct json_out *json, const struct run_result *result)
{
    json_out_open(json, "flows", '{', false);
    put_percentiles(json, result, RESULT_ALL_WORKS);
    json_out_close(json, '}');
}

/* 1 byte a picosecond is 8000 Gb/s. */
static void
put_goodput(struct json_out *json, const char *key, const struct result_work *work,
            const struct result_goodput *goodput)
{
    json_out_quotient(json, key, (__int128)goodput->bytes * 8000,
                      work->n_pairs ? goodput->ps : 0);
}

static void
put_works(struct json_out *json, const struct run_result *result)
{
    json_out_open(json, "workloads", '[', false);
    for (guint w = 0; w < result->works->len; w++) {
        const struct result_work *work =
            &g_array_index(result->works, struct result_work, w);

        json_out_open(json, NULL, '{', false);
        json_out_text(json, "type", work->type);
        put_percentiles(json, result, w);
        json_out_int(json, "bytes", work->bytes);
        json_out_int(json, "delivered_bytes", work->delivered_bytes);
        json_out_int(json, "pairs", work->n_pairs);
        json_out_open(json, "goodput_Gbps", '{', true);
        put_goodput(json, "min", work, &work->least);
        put_goodput(json, "max", work, &work->most);
        json_out_double(json, "sum", work->sum * 8000, 3);
        json_out_close(json, '}');
        json_out_double(json, "jain", result_jain(work), 4);
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

/* Where the longest queue stood, on average over the run. */
static void
put_bottleneck(struct json_out *json, const struct run_result *result)
{
    const struct result_port *port = result_bottleneck(result);
    g_autofree char *name =
        port ? g_strdup_printf("%s:%u", port->node, port->port) : NULL;

    json_out_open(json, "bottleneck", '{', true);
    if (port) {
        json_out_text(json, "port", name);
        json_out_int(json, "class", port->cls);
        json_out_quotient(json, "mean_queue_bytes", port->queue_integral, result->run_ps);
        json_out_int(json, "max_queue_bytes", port->queue_max_bytes);
        json_out_quotient(json, "marked_share", port->marked, port->tx_pkts);
    } else {
        json_out_null(json, "port");
        json_out_null(json, "class");
        json_out_int(json, "mean_queue_bytes", 0);
        json_out_int(json, "max_queue_bytes", 0);
        json_out_int(json, "marked_share", 0);
    }
    json_out_close(json, '}');
}

static void
put_bands(struct json_out *json, const struct run_result *result)
{
    json_out_open(json, "expect", '[', false);
    for (guint i = 0; i < result->bands->len; i++) {
        const struct result_band *band =
            &g_array_index(result->bands, struct result_band, i);

        json_out_open(json, NULL, '{', true);
        json_out_text(json, "path", band->path);
        json_out_text(json, "expected", band->expected);
        json_out_text(json, "obtained", band->obtained);
        json_out_bool(json, "met", band->met);
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

static void
put_call(struct json_out *json, const struct call_result *call)
{
    bool ended = call->end_ps != TIME_NEVER_PS;
    __int128 num, den;

    json_out_open(json, NULL, '{', true);
    json_out_text(json, "op", call->op);
    json_out_text(json, "algorithm", call->algorithm);
    json_out_text(json, "protocol", call->protocol);
    json_out_int(json, "ranks", call->n_ranks);
    json_out_int(json, "bytes", call->bytes);
    json_out_us(json, "start_us", call->start_ps);
    json_out_us(json, "time_us", ended ? call->end_ps - call->start_ps : TIME_NEVER_PS);
    result_bandwidth(call, 1, 1, &num, &den);
    json_out_quotient(json, "algbw_GBps", num, den);
    result_bandwidth(call, call->bus_num, call->bus_den, &num, &den);
    json_out_quotient(json, "busbw_GBps", num, den);
    json_out_us(json, "bound_us", call->bound_ps);
    json_out_close(json, '}');
}

static void
put_calls(struct json_out *json, const struct run_result *result)
{
    json_out_open(json, "collectives", '[', false);
    for (guint i = 0; i < result->calls->len; i++) {
        put_call(json, &g_array_index(result->calls, struct result_call, i).call);
    }
    json_out_close(json, ']');
}

static void
put_tiers(struct json_out *json, const struct result_fabric *fabric)
{
    json_out_open(json, "bytes_by_tier", '{', true);
    json_out_int(json, "host", fabric->bytes_by_tier[0]);
    json_out_int(json, "leaf", fabric->bytes_by_tier[1]);
    json_out_int(json, "spine", fabric->bytes_by_tier[2]);
    json_out_int(json, "core", fabric->bytes_by_tier[3]);
    json_out_int(json, "nvlink", fabric->nvlink_bytes);
    json_out_close(json, '}');
}

static void
put_fabric(struct json_out *json, const struct run_result *result)
{
    const struct result_fabric *fabric = &result->fabric;

    json_out_open(json, "fabric", '{', false);
    json_out_int(json, "data_packets", fabric->data_packets);
    json_out_int(json, "drops", fabric->drops);
    json_out_int(json, "lossless_drops", fabric->lossless_drops);
    json_out_int(json, "lost",
                 fabric->lost_error + fabric->lost_down + fabric->lost_watchdog +
                     fabric->lost_ttl + fabric->lost_route);
    json_out_open(json, "lost_by", '{', true);
    json_out_int(json, "link_error", fabric->lost_error);
    json_out_int(json, "link_down", fabric->lost_down);
    json_out_int(json, "watchdog", fabric->lost_watchdog);
    json_out_int(json, "ttl", fabric->lost_ttl);
    json_out_int(json, "no_route", fabric->lost_route);
    json_out_close(json, '}');
    json_out_int(json, "discarded", fabric->discarded);
    json_out_int(json, "ecn_marked", fabric->ecn_marked);
    json_out_int(json, "ack_sent", fabric->acks_sent);
    json_out_int(json, "cnp_sent", fabric->cnp_sent);
    json_out_int(json, "nak_sent", fabric->nak_sent);
    json_out_int(json, "rnr_nak_sent", fabric->rnr_nak_sent);
    json_out_int(json, "read_gaps", fabric->read_gaps);
    json_out_int(json, "retransmitted", fabric->retransmitted);
    json_out_int(json, "timeouts", fabric->timeouts);
    json_out_int(json, "pfc_frames", fabric->pfc_frames);
    json_out_int(json, "watchdog_strikes", fabric->watchdog_strikes);
    json_out_quotient(json, "pfc_pause_share_max", fabric->pause_ps_max, result->run_ps);
    json_out_quotient(json, "pfc_pause_share_mean", fabric->pause_ps_sum,
                      (__int128)result->run_ps * fabric->n_pausable);
    json_out_int(json, "max_queue_bytes", fabric->max_queue_bytes);
    json_out_int(json, "max_buffer_bytes", fabric->max_buffer_bytes);
    put_tiers(json, fabric);
    json_out_quotient(json, "link_utilisation_max", fabric->busy_payload_ps,
                      fabric->busy_work_ps);
    if (fabric->busy_node) {
        g_autofree char *name =
            g_strdup_printf("%s:%u", fabric->busy_node, fabric->busy_port);

        json_out_text(json, "busiest_port", name);
    } else {
        json_out_null(json, "busiest_port");
    }
    json_out_close(json, '}');
}

/* The congestion that pauses go back to. */
static void
put_pauses(struct json_out *json, const struct result_pauses *pauses)
{
    json_out_open(json, "pauses", '{', false);
    json_out_int(json, "n", pauses->n);
    json_out_us(json, "paused_us", pauses->paused_ps);
    json_out_int(json, "ports", pauses->n_ports);
    json_out_int(json, "hosts", pauses->n_hosts);
    json_out_int(json, "hops", pauses->depth);
    json_out_int(json, "n_roots", pauses->n_roots);
    json_out_open(json, "roots", '[', false);
    for (guint i = 0; pauses->roots && i < pauses->roots->len; i++) {
        const struct result_root *root =
            &g_array_index(pauses->roots, struct result_root, i);
        g_autofree char *port = g_strdup_printf("%s:%u", root->node, root->port);

        json_out_open(json, NULL, '{', true);
        json_out_text(json, "port", port);
        json_out_text(json, "to", root->to);
        json_out_int(json, "class", root->cls);
        json_out_int(json, "n", root->n);
        json_out_us(json, "paused_us", root->paused_ps);
        json_out_int(json, "ports", root->n_ports);
        json_out_int(json, "hosts", root->n_hosts);
        json_out_int(json, "hops", root->depth);
        json_out_bool(json, "loop", root->is_loop);
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
    json_out_close(json, '}');
}

static void
put_targets(struct json_out *json, const struct run_result *result)
{
    struct result_target targets[RESULT_N_TARGETS];

    result_targets(result, targets);
    json_out_open(json, "targets", '{', false);
    for (unsigned i = 0; i < RESULT_N_TARGETS; i++) {
        const struct result_target *target = &targets[i];

        json_out_open(json, target->key, '{', true);
        json_out_quotient(json, "value", target->num, target->known ? target->den : 0);
        json_out_quotient(json, "limit", target->limit_num, target->limit_den);
        if (target->known) {
            json_out_bool(json, "met", target->met);
        } else {
            json_out_null(json, "met");
        }
        json_out_close(json, '}');
    }
    json_out_close(json, '}');
}

char *
summary_to_json(const struct run_result *result)
{
    GString *text = g_string_new(NULL);
    struct json_out json;

    json_out_init(&json, text);
    json_out_open(&json, NULL, '{', false);
    json_out_text(&json, "version", PACKAGE_VERSION);
    json_out_text(&json, "scenario", result->scenario->name);
    json_out_int(&json, "seed", result->scenario->seed);
    json_out_text(&json, "verdict", scenario_verdict_name(result->verdict));
    put_lines(&json, "why", result->why);
    put_lines(&json, "unfinished", result->unfinished);
    put_lines(&json, "notes", result->notes);
    put_lines(&json, "deadlock", result->deadlock);
    if (result->deadlock->len) {
        json_out_int(&json, "deadlock_class", result->deadlock_class);
    } else {
        json_out_null(&json, "deadlock_class");
    }
    json_out_us(&json, "deadlock_since_us", result->deadlock_since_ps);
    json_out_us(&json, "sim_time_us", result->sim_time_ps);
    json_out_us(&json, "end_us", result->end_ps);
    json_out_us(&json, "run_us", result->run_ps);
    json_out_double(&json, "wall_s", result->wall_s, 3);
    json_out_int(&json, "events", (int64_t)result->events);
    json_out_int(&json, "packet_hops", result->fabric.packet_hops);
    json_out_double(&json, "packet_hops_per_s",
                    result->loop_s > LEAST_SECONDS
                        ? (double)result->fabric.packet_hops / result->loop_s
                        : 0,
                    0);
    json_out_int(&json, "peak_rss_bytes", result->peak_rss_bytes);
    json_out_int(&json, "threads", result->n_threads);
    put_flows(&json, result);
    put_works(&json, result);
    put_calls(&json, result);
    put_fabric(&json, result);
    put_pauses(&json, &result->pauses);
    put_bottleneck(&json, result);
    put_targets(&json, result);
    put_bands(&json, result);
    if (result->series_interval_ps) {
        json_out_us(&json, "series_interval_us", result->series_interval_ps);
    } else {
        json_out_null(&json, "series_interval_us");
    }
    json_out_close(&json, '}');
    return g_string_free(text, FALSE);
}
