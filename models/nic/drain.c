/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * drain.c - slow hosts and pause storms, see drain.h.
 * Called by nic.c for data packets of a NIC with a drain, by fault.c and net.c.
 *
 * Invariant: in[c].xoff of a NIC port is set only while the class storms or the receive
 * buffer holds more than xon_bytes.
 */
#include <config.h>

#include "models/nic/drain.h"

#include "models/nic/inner.h"
#include "models/switch/pfc.h"

/* The host has begun to take the first packet. */
static void
begin(struct lp *lp, struct nic *nic)
{
    struct drain *drain = nic->drain;

    drain->due_ps =
        lp->now_ps + sim_tx_time_ps(drain->queue.head->size_bytes, drain->rate_bps);
    if (!drain->timer) {
        drain->timer = true;
        lp_at(lp, drain->due_ps,
              event_key(PHASE_ARRIVAL, nic->port->id, KIND_DRAIN, false), nic);
    }
}

/* Lets the peer go on in the classes that nothing stops any more. */
static void
resume(struct lp *lp, struct nic *nic)
{
    if (nic->drain && nic->drain->queue.bytes > nic->drain->xon_bytes) {
        return;
    }
    for (unsigned c = 0; c < N_CLASSES; c++) {
        if (nic->port->in[c].xoff && !(nic->storm >> c & 1)) {
            pfc_resume(lp, nic->port, c);
        }
    }
}

static void
stop(struct lp *lp, struct nic *nic, unsigned cls)
{
    if (!nic->port->in[cls].xoff && !(nic->port->special & PORT_DOWN)) {
        pfc_stop(lp, nic->port, cls, nic->port->id);
    }
}

void
drain_set_rate(struct lp *lp, struct nic *nic, int64_t rate_bps, int64_t buffer_bytes)
{
    struct drain *drain = nic->drain;
    int64_t xon_bytes = buffer_bytes - 2 * drain->frame_bytes;

    drain->rate_bps = rate_bps;
    drain->xoff_bytes = buffer_bytes;
    drain->xon_bytes = xon_bytes > 0 ? xon_bytes : 0;
    drain->limit_bytes = buffer_bytes + drain->headroom_bytes;
    while (!rate_bps && drain->queue.head) {
        nic_receive(lp, nic, queue_pop(&drain->queue));
    }
    resume(lp, nic);
}

outlined bool
drain_takes(struct lp *lp, struct nic *nic, struct packet *pkt)
{
    struct drain *drain = nic->drain;
    struct port_stats *stats = &nic->port->stats[pkt->cls];
    bool lossless = nic->port->pfc_rx >> pkt->cls & 1;
    int64_t bytes = drain->queue.bytes + pkt->size_bytes;

    if (!drain->rate_bps) {
        return false;
    }
    if (bytes > (lossless ? drain->limit_bytes : drain->xoff_bytes)) {
        stats->drops++;
        stats->drop_bytes += pkt->size_bytes;
        pool_put(lp->pool, pkt);
        return true;
    }
    queue_push(&drain->queue, pkt);
    if (drain->queue.head == pkt) {
        begin(lp, nic);
    }
    if (lossless && bytes > drain->xoff_bytes) {
        stop(lp, nic, pkt->cls);
    }
    return true;
}

outlined void
drain_next(struct lp *lp, struct nic *nic)
{
    struct drain *drain = nic->drain;

    drain->timer = false;
    if (!drain->queue.head) {
        return;
    }
    if (lp->now_ps < drain->due_ps) {
        /* Set for a packet that a change of the rate has let go before. */
        drain->timer = true;
        lp_at(lp, drain->due_ps,
              event_key(PHASE_ARRIVAL, nic->port->id, KIND_DRAIN, false), nic);
        return;
    }
    nic_receive(lp, nic, queue_pop(&drain->queue));
    if (drain->queue.head) {
        begin(lp, nic);
    }
    resume(lp, nic);
}

void
drain_storm(struct lp *lp, struct nic *nic, uint8_t classes, bool on)
{
    nic->storm = on ? nic->storm | classes : nic->storm & (uint8_t)~classes;
    if (on) {
        drain_link_up(lp, nic);
    } else {
        resume(lp, nic);
    }
}

void
drain_link_up(struct lp *lp, struct nic *nic)
{
    for (unsigned c = 0; c < N_CLASSES; c++) {
        if (nic->storm >> c & 1) {
            stop(lp, nic, c);
        }
    }
}

void
drain_refresh(struct lp *lp, struct port *port, unsigned cls)
{
    port->in[cls].refresh_timer = false;
    if (port->in[cls].xoff) {
        pfc_repeat(lp, port, cls);
    }
}
