/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_read.c - reads what a run has given out of network and workloads, and judges it.
 * Called once after run_go(); changes nothing but the booking of queues.
 */
#include <config.h>

#include <sys/resource.h>

#include "models/base_rtt.h"
#include "models/ideal.h"
#include "tools/laws.h"
#include "tools/results/text.h"
#include "tools/run.h"
#include "tools/stuck.h"
#include "tools/utilisation.h"

/* Lines of `unfinished` and `why` from one source; more are counted. */
#define MOST_LINES 200

static const char *
host_name(const struct net *net, uint32_t host)
{
    return net->nodes[net->node_of_host[host]].name;
}

/* The node of a dense port id. */
static const struct net_node *
node_of_port(const struct net *net, uint32_t id)
{
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        if (id - net->nodes[n].first_port < net->nodes[n].n_ports) {
            return &net->nodes[n];
        }
    }
    g_assert_not_reached();
}

/* ---- paths ---------------------------------------------------------------------------- */

/* Names of paths, each made once. */
struct paths {
    const struct net *net;
    struct run_result *result;
    const char **by_qp;              /* owned; borrowed texts */
    const struct net_node **of_port; /* owned: node by port */
};

static void
paths_init(struct paths *paths, const struct net *net, struct run_result *result)
{
    *paths = (struct paths){.net = net,
                            .result = result,
                            .by_qp = g_new0(const char *, net->n_qps + 1),
                            .of_port = g_new0(const struct net_node *, net->n_ports + 1)};
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        for (uint32_t k = 0; k < net->nodes[n].n_ports; k++) {
            paths->of_port[net->nodes[n].first_port + k] = &net->nodes[n];
        }
    }
}

static void
paths_clear(struct paths *paths)
{
    g_free(paths->by_qp);
    g_free(paths->of_port);
}

/* Does 'node' send packets for 'nic' by more than one port? */
static bool
is_spread(const struct net *net, const struct net_node *node, uint32_t nic)
{
    uint16_t n = 0;

    if (node->kind == NODE_SWITCH && net->switches[node->index].lb) {
        route_table_get(net->routes[node->index], nic, &n);
    }
    return n > 1;
}

/* "host0:0>leaf0:3>host3": sending ports, then the receiver; behind a switch that spreads
 * packets ("leaf0:*") only the receiver.  NULL when there is no way. */
static const char *
path_of(struct paths *paths, uint32_t connection, unsigned side)
{
    const struct net *net = paths->net;
    uint32_t qp = net->connections[connection].qp[side];
    uint32_t ports[NET_MAX_HOPS];
    uint32_t n = paths->by_qp[qp] ? 0 : net_find_path(net, connection, side, ports);

    if (n == 0) {
        return paths->by_qp[qp];
    }
    GString *text = g_string_new(NULL);

    for (uint32_t h = 0; h < n; h++) {
        const struct net_node *node = paths->of_port[ports[h]];

        if (is_spread(net, node, net->qps[qp].dst_nic)) {
            g_string_append_printf(text, "%s:*>", node->name);
            break;
        }
        g_string_append_printf(text, "%s:%u>", node->name, ports[h] - node->first_port);
    }
    g_string_append(text, paths->of_port[net->ports[ports[n - 1]].peer]->name);
    paths->by_qp[qp] = text->str;
    g_ptr_array_add(paths->result->paths, g_string_free(text, FALSE));
    return paths->by_qp[qp];
}

/* ---- workloads ------------------------------------------------------------------------ */

static int64_t
since(int64_t end_ps, int64_t start_ps)
{
    return end_ps == TIME_NEVER_PS || start_ps == TIME_NEVER_PS ? TIME_NEVER_PS
                                                                : end_ps - start_ps;
}

/* Base round-trip time, and the flow with 48 B a packet at the slowest link's rate: what the
 * HPCC simulator's fct.txt calls standalone (third.cc, qp_finish). */
static int64_t
base_fct_ps(const struct net *net, const struct flow_result *flow)
{
    const struct qp *qp = net_qp(net, flow->connection, 0);
    int64_t mtu_bytes = qp->nic->config->mtu_bytes;
    int64_t n_pkts = (flow->bytes + mtu_bytes - 1) / mtu_bytes;
    struct base_rtt base = base_rtt_of(net, (uint32_t)(qp->nic - net->nics), qp->dst_nic);

    return base.rate_bps == 0
               ? TIME_NEVER_PS
               : base.rtt_ps +
                     (int64_t)((__int128)(flow->bytes + n_pkts * HPCC_DATA_BYTES) *
                               (8 * PS_PER_S) / base.rate_bps);
}

static void
read_flows(const struct run *run, uint32_t w, struct paths *paths)
{
    const struct net *net = run->net;
    const struct work *work = g_ptr_array_index(run->works, w);
    const struct work_params *params = g_ptr_array_index(run->params, w);
    uint32_t n = 0;
    const struct flow_result *flows =
        work->ops->flows ? work->ops->flows(work->state, &n) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        const struct flow_result *from = &flows[i];
        struct result_flow flow = {.work = w,
                                   .index = i,
                                   .src_host = from->src_host,
                                   .dst_host = from->dst_host,
                                   .src = host_name(net, from->src_host),
                                   .dst = host_name(net, from->dst_host),
                                   .path = path_of(paths, from->connection, 0),
                                   .src_port = net_qp(net, from->connection, 0)->src_port,
                                   .dst_port = net_qp(net, from->connection, 0)->dst_port,
                                   .src_node = net->node_of_host[from->src_host],
                                   .dst_node = net->node_of_host[from->dst_host],
                                   .base_fct_ps = base_fct_ps(net, from),
                                   .qpn = net_qp(net, from->connection, 0)->qpn,
                                   .n_qps = (uint32_t)params->common.qps,
                                   .is_incast = params->kind == WORK_INCAST,
                                   .bytes = from->bytes,
                                   .start_ps = from->start_ps,
                                   .fct_ps = since(from->sent_ps, from->start_ps),
                                   .rx_done_ps = since(from->received_ps, from->start_ps),
                                   .ideal_ps = net_ideal_verb_fct_ps(
                                       net, from->connection, 0,
                                       work_qp_verb((enum work_verb)params->common.verb),
                                       from->bytes)};

        for (uint32_t k = 0; k < params->common.qps; k++) {
            flow.retransmitted += net_qp(net, from->connection + k, 0)->retransmitted;
        }
        g_array_append_val(paths->result->flows, flow);
    }
}

static void
read_streams(const struct run *run, uint32_t w, struct paths *paths)
{
    const struct net *net = run->net;
    const struct work *work = g_ptr_array_index(run->works, w);
    uint32_t n = 0;
    const struct stream_result *streams =
        work->ops->streams ? work->ops->streams(work->state, &n) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        const struct stream_result *from = &streams[i];
        const struct qp *qp = net_qp(net, from->connection, from->side);
        struct result_stream stream = {.work = w,
                                       .index = i,
                                       .src = host_name(net, from->src_host),
                                       .dst = host_name(net, from->dst_host),
                                       .path =
                                           path_of(paths, from->connection, from->side),
                                       .src_port = qp->src_port,
                                       .qpn = qp->qpn,
                                       .n_messages = from->n_messages,
                                       .n_complete = from->n_complete,
                                       .bytes = from->bytes,
                                       .min_ps = from->min_ps,
                                       .max_ps = from->max_ps,
                                       .sum_ps = from->sum_ps,
                                       .retransmitted = qp->retransmitted};

        g_array_append_val(paths->result->streams, stream);
    }
}

static void
read_calls(const struct run *run, uint32_t w, struct run_result *result)
{
    const struct work *work = g_ptr_array_index(run->works, w);
    uint32_t n = 0;
    const struct call_result *calls =
        work->ops->calls ? work->ops->calls(work->state, &n) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        struct result_call call = {.work = w, .index = i, .call = calls[i]};

        g_array_append_val(result->calls, call);
    }
}

static void
read_works(const struct run *run, struct run_result *result)
{
    struct paths paths;

    paths_init(&paths, run->net, result);
    for (guint w = 0; w < run->works->len; w++) {
        const struct work *work = g_ptr_array_index(run->works, w);

        read_flows(run, w, &paths);
        read_streams(run, w, &paths);
        read_calls(run, w, result);
        if (work->ops->pipe_bytes) {
            result->fabric.nvlink_bytes += work->ops->pipe_bytes(work->state);
        }
    }
    paths_clear(&paths);
}

/* ---- ports ---------------------------------------------------------------------------- */

static uint8_t
lossless_classes(const struct net *net)
{
    uint8_t classes = 0;

    for (uint32_t i = 0; i < net->n_qos; i++) {
        classes |= (uint8_t)(net->qos[i].lossless ? 1u << net->qos[i].cls : 0);
    }
    return classes;
}

static struct result_port
read_class(const struct net_node *node, struct port *port, unsigned c, int64_t end_ps,
           int64_t run_ps)
{
    const struct port_stats *stats = &port->stats[c];

    /* What is still queued has been so until the end. */
    port_queue_book(port, c, end_ps);
    return (struct result_port){.node = node->name,
                                .port = port->index,
                                .cls = c,
                                .is_switch = node->kind == NODE_SWITCH,
                                .tx_bytes = port->out[c].tx_bytes,
                                .tx_pkts = port->out[c].tx_pkts,
                                .rx_bytes = port->in[c].rx_bytes,
                                .rx_pkts = port->in[c].rx_pkts,
                                .drops = stats->drops,
                                .drop_bytes = stats->drop_bytes,
                                .lost = stats->lost_error + stats->lost_on_link +
                                        stats->lost_down + stats->lost_watchdog,
                                .marked = stats->marked,
                                .queue_max_bytes = port->out[c].max_bytes,
                                .queue_integral = (__int128)port->out[c].integral << 10,
                                .queue = stats->queue_hist,
                                .xoff_tx = stats->pfc_xoff_tx,
                                .xon_tx = stats->pfc_xon_tx,
                                .xoff_rx = stats->pfc_xoff_rx,
                                .xon_rx = stats->pfc_xon_rx,
                                .paused_ps = port_paused_ps(port, c, run_ps)};
}

static bool
has_anything(const struct result_port *port)
{
    return port->tx_pkts || port->rx_pkts || port->drops || port->lost || port->xoff_tx ||
           port->xon_tx || port->xoff_rx || port->xon_rx || port->queue_max_bytes;
}

static void
add_to_fabric(struct result_fabric *fabric, const struct result_port *port,
              const struct port_stats *stats, unsigned tier)
{
    fabric->packet_hops += port->tx_pkts + port->xoff_tx + port->xon_tx;
    fabric->drops += port->drops;
    fabric->lossless_drops += port->lossless ? port->drops : 0;
    fabric->lost_error += stats->lost_error;
    fabric->lost_down += stats->lost_on_link + stats->lost_down;
    fabric->lost_watchdog += stats->lost_watchdog;
    fabric->ecn_marked += port->marked;
    fabric->pfc_frames += port->xoff_tx + port->xon_tx;
    fabric->bytes_by_tier[tier < 3 ? tier : 3] += port->tx_bytes;
    if (port->is_switch && port->queue_max_bytes > fabric->max_queue_bytes) {
        fabric->max_queue_bytes = port->queue_max_bytes;
    }
    if (port->lossless && port->tx_pkts) {
        fabric->n_pausable++;
        fabric->pause_ps_sum += port->paused_ps;
        if (port->paused_ps > fabric->pause_ps_max) {
            fabric->pause_ps_max = port->paused_ps;
        }
    }
}

static void
read_ports(struct net *net, struct run_result *result)
{
    uint8_t lossless = lossless_classes(net);

    for (uint32_t n = 0; n < net->n_nodes; n++) {
        const struct net_node *node = &net->nodes[n];

        for (uint32_t k = 0; k < node->n_ports; k++) {
            struct port *port = &net->ports[node->first_port + k];

            for (unsigned c = 0; c < N_CLASSES; c++) {
                struct result_port entry =
                    read_class(node, port, c, result->end_ps, result->run_ps);

                entry.lossless = lossless >> c & 1;
                if (has_anything(&entry)) {
                    g_array_append_val(result->ports, entry);
                    add_to_fabric(&result->fabric, &entry, &port->stats[c], node->tier);
                }
            }
        }
    }
}

static void
read_devices(const struct net *net, struct result_fabric *fabric)
{
    for (uint32_t i = 0; i < net->n_qps; i++) {
        const struct qp *qp = &net->qps[i];

        /* READs take PSNs of one end and packets of the other. */
        fabric->data_packets +=
            qp->snd_max - qp->read_psns + qp->responses_sent + qp->retransmitted;
        fabric->read_gaps += qp->gaps_in_reads;
        fabric->retransmitted += qp->retransmitted;
        fabric->timeouts += qp->timeouts;
    }
    for (uint32_t i = 0; i < net->n_nics; i++) {
        fabric->acks_sent += net->nics[i].acks_sent;
        fabric->nak_sent += net->nics[i].naks_sent;
        fabric->rnr_nak_sent += net->nics[i].rnrs_sent;
        fabric->cnp_sent += net->nics[i].cnps_sent;
        fabric->discarded += net->nics[i].lost_protocol;
    }
    for (uint32_t i = 0; i < net->n_switches; i++) {
        const struct fabric_switch *sw = &net->switches[i];

        fabric->lost_ttl += sw->lost_ttl;
        fabric->lost_route += sw->lost_route;
        if (sw->buffer.max_used > fabric->max_buffer_bytes) {
            fabric->max_buffer_bytes = sw->buffer.max_used;
        }
    }
    for (uint32_t i = 0; i < net->n_lps; i++) {
        hist_merge(&fabric->latency, &net->lps[i].latency);
    }
}

/* ---- verdict -------------------------------------------------------------------------- */

static void
say(GPtrArray *lines, char *line)
{
    g_ptr_array_add(lines, line);
}

static void
say_qp_errors(const struct net *net, struct run_result *result)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < net->n_qps; i++) {
        const struct qp *qp = &net->qps[i];

        if (!qp->failed || n++ >= MOST_LINES) {
            continue;
        }
        say(result->why,
            g_strdup_printf(
                "QP 0x%06x of %s:%u to %s: all %u %s used up, "
                "%" G_GINT64_FORMAT " packets not acknowledged",
                qp->qpn, host_name(net, qp->nic->host), qp->nic->index,
                host_name(net, net->nics[qp->dst_nic].host),
                qp->rnr_tries ? qp->nic->config->rnr_retry : qp->nic->config->retry_count,
                qp->rnr_tries ? "retries of a receiver that is not ready" : "retries",
                qp->snd_max - qp->snd_una));
    }
    if (n > MOST_LINES) {
        say(result->why, g_strdup_printf("... and %u more QPs", n - MOST_LINES));
    }
}

static void
say_drops(struct run_result *result)
{
    uint32_t n = 0;

    for (guint i = 0; i < result->ports->len; i++) {
        const struct result_port *port =
            &g_array_index(result->ports, struct result_port, i);

        if (port->lossless && port->drops && n++ < MOST_LINES) {
            say(result->why,
                g_strdup_printf("%s:%u dropped %" G_GINT64_FORMAT
                                " packets of lossless class %u for lack of buffer",
                                port->node, port->port, port->drops, port->cls));
        }
    }
    if (n > MOST_LINES) {
        say(result->why, g_strdup_printf("... and %u more ports", n - MOST_LINES));
    }
}

/* Operations that ought to have ended. */
static int64_t
ops_left(const struct run *run)
{
    int64_t left = net_n_ops(run->net);

    for (guint w = 0; run->net->end == NET_END_STOPPED && w < run->works->len; w++) {
        const struct work *work = g_ptr_array_index(run->works, w);

        left -= work->ops->optional ? work->ops->optional(work->state) : 0;
    }
    return left;
}

static void
say_end(const struct run *run, struct run_result *result)
{
    const struct net *net = run->net;
    GString *line = g_string_new(NULL);

    switch (net->end) {
    case NET_END_DONE:
        break;
    case NET_END_STOPPED:
        g_string_printf(
            line, "stopped at %.9g us with %" G_GINT64_FORMAT " operations outstanding",
            (double)net->end_ps / 1e6, ops_left(run));
        break;
    case NET_END_STALLED:
        g_string_printf(line,
                        "nothing has moved since %.9g us, with %" G_GINT64_FORMAT
                        " operations outstanding",
                        (double)net->progress_ps / 1e6, net_n_ops(net));
        break;
    case NET_END_QP_ERROR:
        say_qp_errors(net, result);
        break;
    case NET_END_DEADLOCK: /* said already */
        break;
    case NET_END_INTERRUPTED:
        g_string_printf(line, "interrupted at %.9g us", (double)net->end_ps / 1e6);
        break;
    }
    if (line->len) {
        say(result->why, g_string_free(line, FALSE));
    } else {
        g_string_free(line, TRUE);
    }
}

static void
read_unfinished(const struct run *run, struct run_result *result)
{
    for (guint w = 0; w < run->works->len; w++) {
        const struct work *work = g_ptr_array_index(run->works, w);

        if (run->net->end == NET_END_STOPPED && work->ops->optional &&
            work->ops->optional(work->state)) {
            continue;
        }
        work->ops->unfinished(work->state, result->unfinished, MOST_LINES);
    }
}

/* What the run is, `expect` aside: see the order of enum scenario_verdict. */
static void
judge(const struct run *run, struct run_result *result)
{
    const struct net *net = run->net;
    bool left = ops_left(run) > 0;

    result->verdict =
        left || net->end == NET_END_QP_ERROR ? VERDICT_INCOMPLETE : VERDICT_COMPLETE;
    if (result->fabric.lossless_drops) {
        result->verdict = VERDICT_LOSSLESS_VIOLATED;
    }
    if (net->is_deadlocked) {
        result->verdict = VERDICT_DEADLOCK;
        stuck_say_deadlock(net, result);
    }
    if (net->end == NET_END_INTERRUPTED) {
        result->verdict = VERDICT_INTERRUPTED;
    }
    if (result->verdict != VERDICT_COMPLETE) {
        if (left || net->end == NET_END_QP_ERROR || net->end == NET_END_INTERRUPTED) {
            say_end(run, result);
        }
        say_drops(result);
    }
    if (left) {
        read_unfinished(run, result);
    }
    stuck_note(net, result);
    if (result->fabric.data_packets == 0) {
        say(result->notes, g_strdup("the fabric has carried no bytes"));
    }
    for (guint w = 0; w < run->works->len; w++) {
        const struct work *work = g_ptr_array_index(run->works, w);

        if (work->ops->notes) {
            work->ops->notes(work->state, result->notes);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------ */

static void
read_times(const struct net *net, struct run_result *result)
{
    int64_t last_ps = 0;

    for (uint32_t i = 0; i < net->n_lps; i++) {
        last_ps = net->lps[i].last_end_ps > last_ps ? net->lps[i].last_end_ps : last_ps;
    }
    result->end_ps = net->end_ps;
    result->sim_time_ps = last_ps ? last_ps : net->end_ps;
    result->run_ps = net->end == NET_END_DONE ? result->sim_time_ps : net->end_ps;
}

/* When the last flow starts; 0 without one. */
static int64_t
last_start_ps(const struct run_result *result)
{
    int64_t last_ps = 0;

    for (guint i = 0; i < result->flows->len; i++) {
        int64_t start_ps = g_array_index(result->flows, struct result_flow, i).start_ps;

        if (start_ps != TIME_NEVER_PS && start_ps > last_ps) {
            last_ps = start_ps;
        }
    }
    return last_ps;
}

/* Leaves out flows that start in the warm-up, or in the cool-down before the last start, and
 * says so. */
static void
cut_flows(const struct scenario_output *output, struct run_result *result)
{
    GString *line;
    guint n = 0;

    result->count_from_ps = output->warmup_ps;
    if (output->cooldown_ps > 0) {
        result->count_to_ps = MAX(last_start_ps(result) - output->cooldown_ps, 0);
    }
    for (guint i = 0; i < result->flows->len; i++) {
        struct result_flow *flow = &g_array_index(result->flows, struct result_flow, i);

        flow->is_cut = flow->start_ps < result->count_from_ps ||
                       (result->count_to_ps != TIME_NEVER_PS &&
                        flow->start_ps >= result->count_to_ps);
        n += flow->is_cut;
    }
    if (n == 0) {
        return;
    }
    line = g_string_new("percentiles are of flows that start from ");
    text_us(line, result->count_from_ps);
    g_string_append(line, " us");
    if (result->count_to_ps != TIME_NEVER_PS) {
        g_string_append(line, " until ");
        text_us(line, result->count_to_ps);
        g_string_append(line, " us");
    }
    g_string_append_printf(line, ": %u of %u are left out", n, result->flows->len);
    say(result->notes, g_string_free(line, FALSE));
}

static void
read_utilisation(const struct run *run, struct run_result *result)
{
    struct utilisation use;
    struct result_fabric *fabric = &result->fabric;

    utilisation_find(run, result->end_ps, &use);
    fabric->busy_payload_ps = use.payload_ps;
    fabric->busy_work_ps = use.work_ps;
    if (use.port != UINT32_MAX) {
        const struct net_node *node = node_of_port(run->net, use.port);

        fabric->busy_node = node->name;
        fabric->busy_port = use.port - node->first_port;
    }
}

struct run_result *
run_read(struct run *run)
{
    struct net *net = run->net;
    struct run_result *result = run_result_new(run->scenario);
    struct rusage usage;

    read_times(net, result);
    read_works(run, result);
    run_read_works(run, result);
    read_ports(net, result);
    read_devices(net, &result->fabric);
    read_utilisation(run, result);
    laws_check(run, result);
    judge(run, result);
    cut_flows(&run->scenario->output, result);
    result->n_samples = net->sample_ps ? net->lps[0].n_samples : 0;
    result->events = sim_n_events(net->sim);
    result->n_threads = net->sim->n_threads;
    result->n_lps = net->n_lps;
    result->n_hosts = net->n_hosts;
    result->n_switches = net->n_switches;
    result->loop_s = run->loop_s;
    getrusage(RUSAGE_SELF, &usage);
    result->peak_rss_bytes = (int64_t)usage.ru_maxrss * 1024; /* given in KiB */
    return result;
}
