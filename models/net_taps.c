/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_taps.c - taps of a network: which arrivals are recorded (port.c does that), and when
 * the records go to who wants them.  Called by net.c.
 */
#include <config.h>

#include "models/net.h"

/* A frame on its way to 'port' when the run has ended. */
struct under_way {
    const struct packet *pkt; /* borrowed */
    int64_t arrival_ps;
    uint32_t port;
};

void
net_taps_start(struct net *net)
{
    for (uint32_t p = 0; net->tapped && p < net->n_ports; p++) {
        struct port *port = &net->ports[p], *peer = &net->ports[port->peer];

        if (net->tapped[p] & TAP_IN) {
            port->special |= PORT_TAP_IN;
            net->tap_delay_ps = MAX(net->tap_delay_ps, port->in_delay_ps);
        }
        if (net->tapped[p] & TAP_OUT) {
            peer->special |= PORT_TAP_PEER_OUT;
            net->tap_delay_ps = MAX(net->tap_delay_ps, peer->in_delay_ps);
        }
    }
}

static void
merge(struct net *net, int64_t until_ps)
{
    g_autofree struct tap **taps = g_new(struct tap *, net->n_lps);

    for (uint32_t i = 0; i < net->n_lps; i++) {
        taps[i] = &net->lps[i].tap;
    }
    tap_merge(&net->frames_held, taps, net->n_lps, until_ps, &net->watch.frames);
}

void
net_taps_merge(struct net *net, int64_t now_ps)
{
    merge(net, now_ps - net->tap_delay_ps);
}

/* ---- the end -------------------------------------------------------------------------- */

struct search {
    const struct net *net;
    GArray *found; /* struct under_way */
};

static void
note_arrival(struct search *search, const struct event *event, const void *pkt)
{
    unsigned kind = event_kind(event->key);

    if (kind == KIND_ARRIVE_SWITCH || kind == KIND_ARRIVE_NIC) {
        struct under_way under_way = {.pkt = pkt,
                                      .arrival_ps = event->time_ps,
                                      .port = (uint32_t)event_source(event->key)};

        if (search->net->ports[under_way.port].special & PORT_TAP_PEER_OUT) {
            g_array_append_val(search->found, under_way);
        }
    }
}

static void
note_queued(const struct event *event, void *ctx)
{
    note_arrival(ctx, event, event->obj);
}

static int
compare_under_way(gconstpointer pa, gconstpointer pb)
{
    const struct under_way *a = pa, *b = pb;

    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    return (a->arrival_ps > b->arrival_ps) - (a->arrival_ps < b->arrival_ps);
}

static void
find_under_way(const struct net *net, GArray *found)
{
    struct search search = {.net = net, .found = found};

    for (uint32_t i = 0; i < net->n_lps; i++) {
        const struct lp *lp = &net->sim->lps[i];

        event_queue_each(&lp->queue, note_queued, &search);
        for (uint32_t w = 0; w < net->sim->n_threads; w++) {
            const struct lp_mailbox *box = lp_mail_held(lp, w);

            for (uint32_t k = 0; box && k < box->n; k++) {
                note_arrival(&search, &box->parcels[k].event, box->parcels[k].body);
            }
        }
    }
    g_array_sort(found, compare_under_way);
}

void
net_taps_end(struct net *net)
{
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct under_way));
    int64_t displace_ps = 0;

    find_under_way(net, found);
    for (guint i = 0; i < found->len; i++) {
        const struct under_way *it = &g_array_index(found, struct under_way, i);
        const struct port *port = &net->ports[it->port];
        int64_t arrival_ps = it->arrival_ps, sent_ps;

        if (i == 0 || it[-1].port != it->port) {
            displace_ps = port->special & PORT_DISPLACED ? port->displace_ps : 0;
        }
        /* As port_special_arrival() would do it. */
        if (it->pkt->type == PACKET_PFC) {
            displace_ps += it->pkt->pause.displace_ps;
        } else {
            arrival_ps += displace_ps;
            displace_ps = 0;
        }
        sent_ps = port_sent_ps(port, it->pkt, arrival_ps);
        if (sent_ps <= net->end_ps) {
            tap_add(&net->lps[0].tap, sent_ps, port->peer, TAP_OUT, it->pkt);
        }
    }
    merge(net, INT64_MAX);
}
