/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * csv.c - the tables of a results folder, see csv.h.
 *
 * Source of fct.txt: alibaba-edu/High-Precision-Congestion-Control, scratch/third.cc
 * (qp_finish) and analysis/fct_analysis.py, which takes the flows whose destination port is
 * 100 (background) or 200 (incast).
 */
#include <config.h>

#include "tools/results/csv.h"

#include <stdlib.h>

#include "models/switch/murmur.h"

#include "tools/results/text.h"

#define HPCC_PORT_BACKGROUND 100
#define HPCC_PORT_INCAST 200

/* ---- fields --------------------------------------------------------------------------- */

static void
put_text(GString *line, const char *field)
{
    text_csv(line, field);
    g_string_append_c(line, ',');
}

static void
put_int(GString *line, int64_t value)
{
    text_int(line, value);
    g_string_append_c(line, ',');
}

/* Empty when it did not happen. */
static void
put_us(GString *line, int64_t time_ps)
{
    if (time_ps != TIME_NEVER_PS) {
        text_us(line, time_ps);
    }
    g_string_append_c(line, ',');
}

/* Empty when 'den' is 0. */
static void
put_quotient(GString *line, __int128 num, __int128 den)
{
    if (den) {
        text_quotient(line, num, den, 6);
    }
    g_string_append_c(line, ',');
}

/* Numbers of queue pairs, as series.csv has them. */
static void
put_qps(GString *line, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        g_string_append_printf(line, "%s0x%06x", i ? " " : "", first + i);
    }
    g_string_append_c(line, ',');
}

static void
put_nothing(GString *line, unsigned n)
{
    while (n--) {
        g_string_append_c(line, ',');
    }
}

/* Ends the line, writes it and empties 'line'. */
static void
end_line(GString *line, FILE *out)
{
    line->str[line->len - 1] = '\n';
    fwrite(line->str, 1, line->len, out);
    g_string_truncate(line, 0);
}

/* ---- flows ---------------------------------------------------------------------------- */

static void
put_flow(GString *line, const struct result_flow *flow)
{
    bool has_slowdown = flow->fct_ps != TIME_NEVER_PS && flow->ideal_ps > 0 &&
                        flow->ideal_ps != TIME_NEVER_PS;

    put_text(line, "flow");
    put_int(line, flow->work);
    put_int(line, flow->index);
    put_text(line, flow->src);
    put_text(line, flow->dst);
    put_int(line, flow->src_port);
    put_int(line, flow->bytes);
    put_us(line, flow->start_ps);
    put_us(line, flow->fct_ps);
    put_us(line, flow->rx_done_ps);
    put_us(line, flow->ideal_ps);
    put_quotient(line, flow->fct_ps, has_slowdown ? flow->ideal_ps : 0);
    put_int(line, flow->retransmitted);
    put_nothing(line, 4);
    put_text(line, flow->path ? flow->path : "");
    put_qps(line, flow->qpn, flow->n_qps);
    put_int(line, !flow->is_cut);
}

static void
put_stream(GString *line, const struct result_stream *stream)
{
    bool some = stream->n_complete > 0;

    put_text(line, "connection");
    put_int(line, stream->work);
    put_int(line, stream->index);
    put_text(line, stream->src);
    put_text(line, stream->dst);
    put_int(line, stream->src_port);
    put_int(line, stream->bytes);
    put_nothing(line, 5);
    put_int(line, stream->retransmitted);
    put_int(line, stream->n_messages);
    put_us(line, some ? stream->min_ps : TIME_NEVER_PS);
    put_us(line, some ? stream->sum_ps / stream->n_complete : TIME_NEVER_PS);
    put_us(line, some ? stream->max_ps : TIME_NEVER_PS);
    put_text(line, stream->path ? stream->path : "");
    put_qps(line, stream->qpn, 1);
    put_nothing(line, 1);
}

void
csv_flows(const struct run_result *result, FILE *out)
{
    GString *line = g_string_new(NULL);

    fputs("kind,workload,id,src,dst,udp_src_port,bytes,start_us,fct_us,rx_done_us,"
          "ideal_us,slowdown,retransmitted_packets,messages,message_min_us,"
          "message_mean_us,message_max_us,path,qp,counted\n",
          out);
    for (guint i = 0; i < result->flows->len; i++) {
        put_flow(line, &g_array_index(result->flows, struct result_flow, i));
        end_line(line, out);
    }
    for (guint i = 0; i < result->streams->len; i++) {
        put_stream(line, &g_array_index(result->streams, struct result_stream, i));
        end_line(line, out);
    }
    g_string_free(line, TRUE);
}

/* ---- collectives ---------------------------------------------------------------------- */

static void
put_call(GString *line, const struct result_call *entry)
{
    const struct call_result *call = &entry->call;
    bool ended = call->end_ps != TIME_NEVER_PS;
    __int128 num, den;

    put_int(line, entry->work);
    put_int(line, entry->index);
    put_text(line, call->op);
    put_text(line, call->algorithm);
    put_text(line, call->protocol);
    put_int(line, call->n_ranks);
    put_int(line, call->bytes);
    put_us(line, call->start_ps);
    put_us(line, ended ? call->end_ps - call->start_ps : TIME_NEVER_PS);
    result_bandwidth(call, 1, 1, &num, &den);
    put_quotient(line, num, den);
    result_bandwidth(call, call->bus_num, call->bus_den, &num, &den);
    put_quotient(line, num, den);
    put_us(line, call->bound_ps);
}

void
csv_collectives(const struct run_result *result, FILE *out)
{
    GString *line = g_string_new(NULL);

    fputs("workload,call,op,algorithm,protocol,ranks,bytes,start_us,time_us,algbw_GBps,"
          "busbw_GBps,bound_us\n",
          out);
    for (guint i = 0; i < result->calls->len; i++) {
        put_call(line, &g_array_index(result->calls, struct result_call, i));
        end_line(line, out);
    }
    g_string_free(line, TRUE);
}

/* ---- ports ---------------------------------------------------------------------------- */

static void
put_port(GString *line, const struct result_port *port, const struct run_result *result)
{
    g_autofree char *name = g_strdup_printf("%s:%u", port->node, port->port);

    put_text(line, name);
    put_int(line, port->cls);
    put_int(line, port->tx_bytes);
    put_int(line, port->tx_pkts);
    put_int(line, port->rx_bytes);
    put_int(line, port->rx_pkts);
    put_int(line, port->drops);
    put_int(line, port->drop_bytes);
    put_int(line, port->lost);
    put_int(line, port->marked);
    put_int(line, port->queue_max_bytes);
    put_quotient(line, port->queue_integral, result->run_ps);
    for (unsigned i = 0; i < 3; i++) {
        static const uint32_t percents[] = {50, 95, 99};

        if (result->n_samples) {
            put_int(line, result_queue_percentile(port, percents[i], result->n_samples));
        } else {
            put_nothing(line, 1);
        }
    }
    put_int(line, port->xoff_tx);
    put_int(line, port->xon_tx);
    put_int(line, port->xoff_rx);
    put_int(line, port->xon_rx);
    put_us(line, port->paused_ps);
}

void
csv_ports(const struct run_result *result, FILE *out)
{
    GString *line = g_string_new(NULL);

    fputs("port,class,tx_bytes,tx_packets,rx_bytes,rx_packets,dropped_packets,"
          "dropped_bytes,lost_packets,marked_packets,queue_max_bytes,queue_mean_bytes,"
          "queue_p50_bytes,queue_p95_bytes,queue_p99_bytes,pfc_xoff_sent,pfc_xon_sent,"
          "pfc_xoff_received,pfc_xon_received,paused_us\n",
          out);
    for (guint i = 0; i < result->ports->len; i++) {
        put_port(line, &g_array_index(result->ports, struct result_port, i), result);
        end_line(line, out);
    }
    g_string_free(line, TRUE);
}

/* ---- fct.txt -------------------------------------------------------------------------- */

static int
compare_completion(const void *pa, const void *pb)
{
    const struct result_flow *a = *(const struct result_flow *const *)pa;
    const struct result_flow *b = *(const struct result_flow *const *)pb;
    int64_t end_a = a->start_ps + a->fct_ps, end_b = b->start_ps + b->fct_ps;

    if (end_a != end_b) {
        return end_a < end_b ? -1 : 1;
    }
    /* Both stand in one array, in order of the scenario. */
    return (a > b) - (a < b);
}

/* To nearest; that simulator's clock cuts off. */
static int64_t
to_ns(int64_t time_ps, bool cuts)
{
    return (time_ps + (cuts ? 0 : PS_PER_NS / 2)) / PS_PER_NS;
}

/* As hosts have numbers and flows an ideal time, or as that simulator counts both. */
static void
put_fct(const struct result_flow *flow, bool is_hpcc, FILE *out)
{
    int64_t alone_ps = is_hpcc ? flow->base_fct_ps : flow->ideal_ps;
    unsigned port = flow->is_incast ? HPCC_PORT_INCAST : HPCC_PORT_BACKGROUND;

    fprintf(out,
            "%08x %08x %u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
            " %" G_GINT64_FORMAT "\n",
            murmur_ip(is_hpcc ? flow->src_node : flow->src_host),
            murmur_ip(is_hpcc ? flow->dst_node : flow->dst_host), flow->src_port,
            is_hpcc && !flow->is_incast ? flow->dst_port : port, flow->bytes,
            to_ns(flow->start_ps, is_hpcc), to_ns(flow->fct_ps, is_hpcc),
            alone_ps == TIME_NEVER_PS ? 0 : to_ns(alone_ps, is_hpcc));
}

void
csv_fct(const struct run_result *result, FILE *out)
{
    g_autofree const struct result_flow **done =
        g_new(const struct result_flow *, result->flows->len + 1);
    guint n = 0;

    for (guint i = 0; i < result->flows->len; i++) {
        const struct result_flow *flow =
            &g_array_index(result->flows, struct result_flow, i);

        if (flow->fct_ps != TIME_NEVER_PS) {
            done[n++] = flow;
        }
    }
    qsort(done, n, sizeof *done, compare_completion);
    for (guint i = 0; i < n; i++) {
        put_fct(done[i], result->scenario->is_hpcc, out);
    }
}
