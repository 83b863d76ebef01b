/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * utilisation.c - the busiest link of a run, see utilisation.h.
 *
 * Items (a queue pair and a span of time) are taken in order of their start, so the union of
 * the spans of each link needs two numbers a link.
 */
#include <config.h>

#include "tools/utilisation.h"

#include <stdlib.h>

#include "models/ideal.h"

struct item {
    int64_t start_ps, end_ps;
    uint32_t connection;
    uint32_t side;
};

struct link_use {
    int64_t payload_ps;
    int64_t work_ps, until_ps; /* union of the spans so far; where it ends */
};

static int
compare_items(const void *pa, const void *pb)
{
    const struct item *a = pa, *b = pb;

    return (a->start_ps > b->start_ps) - (a->start_ps < b->start_ps);
}

static void
add_item(GArray *items, int64_t start_ps, int64_t end_ps, uint32_t connection,
         uint32_t side)
{
    struct item item = {start_ps, end_ps, connection, side};

    if (end_ps > start_ps) {
        g_array_append_val(items, item);
    }
}

static void
add_flows(const struct work *work, const struct work_params *params, int64_t end_ps,
          GArray *items)
{
    uint32_t n = 0;
    const struct flow_result *flows =
        work->ops->flows ? work->ops->flows(work->state, &n) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        int64_t to_ps =
            flows[i].received_ps == TIME_NEVER_PS ? end_ps : flows[i].received_ps;

        for (uint32_t k = 0; k < params->common.qps && flows[i].start_ps < to_ps; k++) {
            add_item(items, flows[i].start_ps, to_ps, flows[i].connection + k, 0);
        }
    }
}

/* When at least one call of 'work' was running: items without a connection. */
static GArray *
running_spans(const struct work *work, int64_t end_ps)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(struct item));
    uint32_t n = 0;
    const struct call_result *calls =
        work->ops->calls ? work->ops->calls(work->state, &n) : NULL;
    guint n_joined = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (calls[i].start_ps != TIME_NEVER_PS) {
            add_item(spans, calls[i].start_ps,
                     calls[i].end_ps == TIME_NEVER_PS ? end_ps : calls[i].end_ps, 0, 0);
        }
    }
    if (spans->len) {
        qsort(spans->data, spans->len, sizeof(struct item), compare_items);
    }
    for (guint i = 0; i < spans->len; i++) {
        struct item *all = (struct item *)(void *)spans->data;

        if (n_joined && all[i].start_ps <= all[n_joined - 1].end_ps) {
            all[n_joined - 1].end_ps = MAX(all[n_joined - 1].end_ps, all[i].end_ps);
        } else {
            all[n_joined++] = all[i];
        }
    }
    g_array_set_size(spans, n_joined);
    return spans;
}

static void
add_streams(const struct work *work, int64_t end_ps, GArray *items)
{
    g_autoptr(GArray) spans = running_spans(work, end_ps);
    uint32_t n = 0;
    const struct stream_result *streams =
        work->ops->streams ? work->ops->streams(work->state, &n) : NULL;

    for (guint s = 0; s < spans->len; s++) {
        const struct item *span = &g_array_index(spans, struct item, s);

        for (uint32_t i = 0; i < n; i++) {
            add_item(items, span->start_ps, span->end_ps, streams[i].connection,
                     streams[i].side);
        }
    }
}

/* Rate that the link of 'port' was built with: a fault may have changed it since. */
static int64_t
link_rate_bps(const struct net *net, const struct port *port)
{
    return net->links[port->link].params.rate_bps;
}

/* Time of 'bytes' of payload on 'port' in packets of 'config' that are full. */
static int64_t
payload_time_ps(const struct net *net, const struct port *port,
                const struct nic_config *config, int64_t bytes)
{
    int64_t wire = nic_frame_bytes(config, config->mtu_bytes, 0) + config->extra_bytes;

    /* 2^60 bytes x 2^13 x 2^46: below 2^127. */
    return (int64_t)((__int128)bytes * wire * (8 * PS_PER_S) / config->mtu_bytes /
                     link_rate_bps(net, port));
}

/* Time of what 'port' has sent of data and answers, rounded up. */
static int64_t
sent_time_ps(const struct net *net, const struct port *port)
{
    __int128 bytes = 0;

    for (unsigned c = 0; c < N_CLASSES; c++) {
        bytes += port->out[c].tx_bytes + port->out[c].tx_pkts * port->extra_bytes;
    }
    return (int64_t)(bytes * 8 * PS_PER_S / link_rate_bps(net, port)) + 1;
}

/* Payload is counted on the way its queue pair began with, or in equal parts where switches
 * spread packets.  Where it has gone by others, a link has carried no more than it has sent, and is busy all the time at most. */
static void
limit_payloads(const struct net *net, struct link_use uses[])
{
    for (uint32_t p = 0; p < net->n_ports; p++) {
        int64_t most_ps = MIN(sent_time_ps(net, &net->ports[p]), uses[p].work_ps);

        uses[p].payload_ps = MIN(uses[p].payload_ps, most_ps);
    }
}

/* The ways of a queue pair's payload; none when they do not get there. */
static void
find_ways(const struct net *net, uint32_t connection, unsigned side, int64_t bytes,
          GArray *ways)
{
    uint32_t ports[NET_MAX_HOPS];

    if (net_find_path(net, connection, side, ports)) {
        net_find_ways(net, connection, side, bytes, ways);
    } else {
        g_array_set_size(ways, 0);
    }
}

static bool
spreads_packets(const struct net *net)
{
    for (uint32_t s = 0; s < net->n_switches; s++) {
        if (net->switches[s].lb) {
            return true;
        }
    }
    return false;
}

static void
add_payloads(const struct net *net, struct link_use uses[])
{
    g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct net_way));

    for (uint32_t i = 0; i < net->n_connections; i++) {
        for (unsigned side = 0; side < 2; side++) {
            const struct qp *qp = net_qp(net, i, side);
            int64_t bytes = net_qp(net, i, 1 - side)->payload_received;

            if (bytes) {
                find_ways(net, i, side, bytes, ways);
            }
            for (guint h = 0; bytes && h < ways->len; h++) {
                const struct net_way *way = &g_array_index(ways, struct net_way, h);

                uses[way->port].payload_ps += payload_time_ps(
                    net, &net->ports[way->port], qp->nic->config, way->amount);
            }
        }
    }
}

static void
add_spans(const struct net *net, const GArray *items, struct link_use uses[])
{
    g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct net_way));

    for (guint i = 0; i < items->len; i++) {
        const struct item *item = &g_array_index(items, struct item, i);

        find_ways(net, item->connection, item->side, 0, ways);
        for (guint h = 0; h < ways->len; h++) {
            struct link_use *use = &uses[g_array_index(ways, struct net_way, h).port];
            int64_t from_ps = MAX(item->start_ps, use->until_ps);

            if (item->end_ps > from_ps) {
                use->work_ps += item->end_ps - from_ps;
                use->until_ps = item->end_ps;
            }
        }
    }
}

static bool
is_busier(const struct link_use *a, const struct link_use *b)
{
    return a->payload_ps > b->payload_ps ||
           (a->payload_ps == b->payload_ps && a->work_ps < b->work_ps);
}

void
utilisation_find(const struct run *run, int64_t end_ps, struct utilisation *use)
{
    const struct net *net = run->net;
    g_autoptr(GArray) items = g_array_new(FALSE, FALSE, sizeof(struct item));
    g_autofree struct link_use *uses = g_new0(struct link_use, net->n_ports + 1);

    *use = (struct utilisation){.port = UINT32_MAX};
    for (guint w = 0; w < run->works->len; w++) {
        const struct work *work = g_ptr_array_index(run->works, w);

        add_flows(work, g_ptr_array_index(run->params, w), end_ps, items);
        add_streams(work, end_ps, items);
    }
    if (items->len) {
        qsort(items->data, items->len, sizeof(struct item), compare_items);
    }
    add_payloads(net, uses);
    add_spans(net, items, uses);
    if (net->n_faults || spreads_packets(net)) {
        limit_payloads(net, uses);
    }
    for (uint32_t p = 0; p < net->n_ports; p++) {
        if (uses[p].payload_ps && uses[p].work_ps &&
            (use->port == UINT32_MAX || is_busier(&uses[p], &uses[use->port]))) {
            *use = (struct utilisation){p, uses[p].payload_ps, uses[p].work_ps};
        }
    }
}
