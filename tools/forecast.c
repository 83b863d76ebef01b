/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * forecast.c - what a started run is going to do, see forecast.h.
 */
#include <config.h>

#include "tools/forecast.h"

#include "models/ideal.h"
#include "models/nic/retx_sr.h"

/* Packet-hops a second of one thread, and how much of a second thread counts: guesses for a
 * machine of 2025; what a run says of itself is better. */
#define HOPS_PER_SECOND 8e6
#define SECOND_THREAD 0.6

/* A packet with its event and its share of the pools: a guess. */
#define BYTES_A_PACKET 160

/* The program and its libraries; a guess. */
#define BYTES_BEFORE 5000000

/* Messages of a flow of 'bytes' that are cut at 'message_bytes' (0: not at all). */
static int64_t
n_messages(int64_t bytes, int64_t message_bytes)
{
    return message_bytes ? (bytes + message_bytes - 1) / message_bytes : 1;
}

/* A flow over 'qps' connections from its first on, in turn. */
static void
add_flow(const struct net *net, const struct flow_result *flow,
         const struct work_common *common, struct work_plan by_qp[])
{
    int64_t n = n_messages(flow->bytes, common->message_bytes);
    int64_t n_qps = n < common->qps ? n : common->qps;

    for (int64_t k = 0; k < n_qps; k++) {
        struct work_plan *plan = &by_qp[net->connections[flow->connection + k].qp[0]];

        plan->bytes += flow->bytes / n_qps + (k < flow->bytes % n_qps);
        plan->n_messages += n / n_qps + (k < n % n_qps);
        plan->is_read = common->verb == WORK_READ;
    }
}

struct work_plan *
forecast_plan(const struct run *run)
{
    struct work_plan *by_qp = g_new0(struct work_plan, run->net->n_qps + 1);

    for (guint w = 0; w < run->works->len; w++) {
        const struct work *work = g_ptr_array_index(run->works, w);
        const struct work_params *params = g_ptr_array_index(run->params, w);
        uint32_t n = 0;
        const struct flow_result *flows =
            work->ops->flows ? work->ops->flows(work->state, &n) : NULL;

        if (work->ops->plan) {
            work->ops->plan(work->state, by_qp);
        }
        for (uint32_t i = 0; i < n; i++) {
            add_flow(run->net, &flows[i], &params->common, by_qp);
        }
    }
    return by_qp;
}

/* Messages as if they were all of one size. */
static void
add_traffic(const struct net *net, uint32_t connection, unsigned side,
            const struct work_plan *plan, struct forecast *forecast)
{
    const struct nic_config *config = net_qp(net, connection, side)->nic->config;
    int64_t n = MAX(plan->n_messages, 1);
    int64_t packets_each =
        MAX((plan->bytes / n + config->mtu_bytes - 1) / config->mtu_bytes, 1);
    int64_t acks_each = plan->is_read /* a request */
                            ? 1
                            : (packets_each + config->ack_every - 1) / config->ack_every;
    uint32_t ports[NET_MAX_HOPS];

    forecast->payload_bytes += plan->bytes;
    forecast->data_packets += n * packets_each;
    forecast->packet_hops +=
        n * packets_each * net_find_path(net, connection, side, ports) +
        n * acks_each * net_find_path(net, connection, 1 - side, ports);
}

/* What cables and buffers hold, in full frames. */
static int64_t
room_for_packets(const struct net *net)
{
    const struct nic_config *config = net->n_nics ? net->nics[0].config : NULL;
    int64_t frame = config ? nic_frame_bytes(config, config->mtu_bytes, 0)
                           : FRAME_FIXED_BYTES + IPV4_BYTES + MTU_MAX_BYTES;
    int64_t bytes = 0;

    for (uint32_t p = 0; p < net->n_ports; p++) {
        const struct port *port = &net->ports[p];

        bytes +=
            frame + (int64_t)((__int128)port->rate_bps * port->delay_ps / 8 / PS_PER_S);
    }
    for (uint32_t s = 0; s < net->n_switches; s++) {
        bytes += net->switch_params[s].buffer_bytes;
    }
    return bytes / frame;
}

/* What the network takes before traffic, by its arrays. */
static int64_t
built_bytes(const struct net *net)
{
    int64_t bytes = BYTES_BEFORE + sim_bytes(net->sim);

    bytes += net->n_ports *
             (int64_t)(sizeof(struct port) + N_CLASSES * sizeof(struct port_stats));
    bytes += net->n_nics * (int64_t)sizeof(struct nic);
    bytes += net->n_qps * (int64_t)(sizeof(struct qp));
    for (uint32_t i = 0; i < net->n_qps; i++) {
        bytes += net->qps[i].sr ? (int64_t)sr_bytes(net->qps[i].sr->window) : 0;
    }
    for (uint32_t i = 0; i < net->n_tables; i++) {
        const struct route_table *table = net->tables[i];

        bytes += (int64_t)(table->cap_sets * sizeof *table->sets +
                           table->cap_ports * sizeof *table->ports +
                           table->n_nics * sizeof *table->set_of_nic);
    }
    return bytes;
}

void
forecast_make(const struct run *run, struct forecast *forecast)
{
    const struct net *net = run->net;
    g_autofree struct work_plan *by_qp = forecast_plan(run);
    int64_t room = room_for_packets(net);

    *forecast = (struct forecast){0};
    for (uint32_t i = 0; i < net->n_connections; i++) {
        for (unsigned side = 0; side < 2; side++) {
            const struct work_plan *plan = &by_qp[net->connections[i].qp[side]];

            if (plan->bytes || plan->n_messages) {
                add_traffic(net, i, side, plan, forecast);
            }
        }
    }
    forecast->inflight_pkts = MIN(forecast->data_packets, room);
    forecast->seconds = (double)forecast->packet_hops / HOPS_PER_SECOND /
                        (1 + SECOND_THREAD * (net->sim->n_threads - 1));
    forecast->memory_bytes = built_bytes(net) + forecast->inflight_pkts * BYTES_A_PACKET;
}
