/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * switch.c - what a switch does with a packet.
 * Called by net.c for arrivals and wakes; owns the packets in its queues; pauses through
 * pfc.c; its ports stand in the network's array.
 *
 * Invariant: a class bit in port.ready is set exactly while its queue holds a packet.
 */
#include <config.h>

#include "models/switch/switch.h"

#include <stdio.h>
#include <stdlib.h>

#include "models/switch/ecn.h"
#include "models/switch/mmu_hpcc.h"
#include "models/switch/pfc.h"
#include "models/switch/watchdog.h"

static inline void
mark(struct port *port, struct packet *pkt, int64_t queue_bytes)
{
    unsigned ecn = pkt->tos & 3;

    /* What another switch has marked already is not judged again. */
    if ((port->ecn.classes >> pkt->cls & 1) &&
        (ecn != ECN_NOT_ECT || port->ecn.any_packet) && ecn != ECN_CE &&
        ecn_decides(port, queue_bytes)) {
        pkt->tos |= ECN_CE;
        port->stats[pkt->cls].marked++;
    }
}

/* Takes 'pkt', which came by 'from', out of the accounts of mmu_hpcc.h. */
static void
release_hpcc(struct lp *lp, struct fabric_switch *sw, struct port *from,
             const struct packet *pkt)
{
    struct in_class *in = &from->in[pkt->cls];

    if (pkt->cls != 0) {
        buffer_release(&sw->buffer, in, pkt->size_bytes, true);
        if (in->xoff && mmu_hpcc_may_resume(&sw->buffer, in, from->mmu_shift)) {
            pfc_resume(lp, from, pkt->cls);
        }
    }
}

/* Takes the head of class 'cls' out of its queue and out of the accounts. */
static struct packet *
dequeue(struct lp *lp, struct fabric_switch *sw, struct port *port, unsigned cls)
{
    struct out_class *out = &port->out[cls];
    bool lossless = sw->lossless >> cls & 1;

    port_queue_book(port, cls, lp->now_ps);
    if (port->ecn.at_dequeue) {
        const struct packet *own = port->ecn.without_own ? out->queue.head : NULL;

        mark(port, out->queue.head, out->queue.bytes - (own ? own->size_bytes : 0));
    }
    struct packet *pkt = queue_pop(&out->queue);
    struct port *from = &sw->ports[pkt->in_port];
    struct in_class *in = &from->in[cls];

    if (!out->queue.head) {
        port->ready &= (uint8_t) ~(1u << cls);
    }
    if (unlikely(sw->mmu_hpcc)) {
        release_hpcc(lp, sw, from, pkt);
        return pkt;
    }
    buffer_release(&sw->buffer, in, pkt->size_bytes, lossless);
    if (in->xoff && buffer_may_resume(&sw->buffer, in)) {
        pfc_resume(lp, from, cls);
    }
    return pkt;
}

/* Sends the frame whose turn it is from 'start_ps' on, where the wire is free.  Returns
 * its bytes, or 0: none is ready; '*ready_ps' is lowered to when one will be. */
static uint32_t
send_next(struct lp *lp, struct port *port, int64_t start_ps, int64_t *ready_ps)
{
    struct fabric_switch *sw = port->owner;
    uint8_t open = port_unpaused(port, port->ready, start_ps);

    while (open) {
        unsigned cls = port_pick(port, open);
        int64_t head_ps = port->out[cls].queue.head->ready_ps;

        if (head_ps <= start_ps) {
            struct packet *pkt = dequeue(lp, sw, port, cls);
            uint32_t bytes = pkt->size_bytes;

            port_transmit(lp, port, pkt, start_ps);
            return bytes;
        }
        *ready_ps = head_ps < *ready_ps ? head_ps : *ready_ps;
        open &= (uint8_t) ~(1u << cls);
    }
    return 0;
}

void
switch_serve(struct lp *lp, struct port *port)
{
    int64_t ready_ps = TIME_NEVER_PS;
    uint32_t bytes;
    uint8_t left;

    if (lp->now_ps < port->busy_until_ps) {
        if (port->ready) {
            port_wake_at(lp, port, port->busy_until_ps, NULL);
        }
        return;
    }
    bytes = send_next(lp, port, lp->now_ps, &ready_ps);
    if (bytes && bytes <= port->short_bytes) {
        send_next(lp, port, port->busy_until_ps, &ready_ps);
    }
    left = port_unpaused(port, port->ready, lp->now_ps);
    if (left) {
        port_wake_at(lp, port,
                     bytes || ready_ps == TIME_NEVER_PS ? port->busy_until_ps : ready_ps,
                     port->out[__builtin_ctz(left)].queue.head);
    }
}

static void
drop_for_buffer(struct lp *lp, struct port *in, struct packet *pkt)
{
    in->stats[pkt->cls].drops++;
    in->stats[pkt->cls].drop_bytes += pkt->size_bytes;
    pool_put(lp->pool, pkt);
}

/* 'pkt' will leave by 'out' after what waits there. */
static void
note_line(struct port *out, const struct packet *pkt)
{
    int64_t from_ps = out->line_ps;

    if (out->busy_until_ps > from_ps) {
        from_ps = out->busy_until_ps;
    }
    if (pkt->ready_ps > from_ps) {
        from_ps = pkt->ready_ps;
    }
    out->line_ps = from_ps + port_slot_ps(out, pkt->size_bytes);
}

/* Charges 'pkt' to its ingress 'in'; false when there is no room.  Tells the peer to stop
 * where it must. */
static bool
charge(struct lp *lp, struct fabric_switch *sw, struct port *in, const struct port *out,
       const struct packet *pkt)
{
    unsigned cls = pkt->cls;
    struct in_class *account = &in->in[cls];
    bool lossless = sw->lossless >> cls & 1;
    bool stop = false, fits;

    if (unlikely(sw->mmu_hpcc)) {
        fits = cls == 0 || mmu_hpcc_admit(&sw->buffer, account, in->mmu_shift,
                                          pkt->size_bytes, &stop);
        stop &= lossless;
    } else if (lossless) {
        fits = buffer_admit_lossless(&sw->buffer, account, pkt->size_bytes, &stop);
    } else {
        fits = buffer_admit_lossy(&sw->buffer, account, pkt->size_bytes,
                                  out->out[cls].queue.bytes);
    }
    if (stop && !account->xoff) {
        account->xoff_held = port_is_held(out, cls, lp->now_ps);
        pfc_stop(lp, in, cls, out->id);
    }
    return fits;
}

/* Charges 'pkt' and lets it wait at 'out', or drops it. */
static void
enqueue(struct lp *lp, struct fabric_switch *sw, struct port *in, struct port *out,
        struct packet *pkt)
{
    unsigned cls = pkt->cls;
    struct out_class *oc = &out->out[cls];

    if (unlikely(!charge(lp, sw, in, out, pkt))) {
        drop_for_buffer(lp, in, pkt);
        return;
    }
    if (sw->buffer.shared_used > sw->buffer.max_used) {
        sw->buffer.max_used = sw->buffer.shared_used;
    }
    if (!out->ecn.at_dequeue) {
        mark(out, pkt, oc->queue.bytes);
    }
    if (sw->cuts_through) {
        note_line(out, pkt);
    }
    port_queue_book(out, cls, lp->now_ps);
    queue_push(&oc->queue, pkt);
    out->ready |= (uint8_t)(1u << cls);
    /* A line that has been idle takes it at once, after it has been counted; one that
     * becomes free at this instant waits for the other arrivals. */
    if (unlikely(sw->mmu_hpcc) && out->busy_until_ps < lp->now_ps &&
        pkt->ready_ps <= lp->now_ps) {
        switch_serve(lp, out);
        return;
    }
    if (!out->wake_queued && port_unpaused(out, (uint8_t)(1u << cls), lp->now_ps)) {
        port_wake_at(
            lp, out,
            out->busy_until_ps > pkt->ready_ps ? out->busy_until_ps : pkt->ready_ps, pkt);
    }
}

static void
lose(struct lp *lp, struct packet *pkt, int64_t *counter)
{
    ++*counter;
    pool_put(lp->pool, pkt);
}

/* Does a frame at 'out' wait for more than its forwarding latency, so that one of class
 * 'cls' would stand behind it or beside it? */
static bool
is_backlogged(const struct port *out, unsigned cls, int64_t now_ps)
{
    for (uint8_t left = out->ready; left; left &= (uint8_t)(left - 1)) {
        unsigned c = (unsigned)__builtin_ctz(left);

        if (out->out[c].queue.head->ready_ps < now_ps &&
            (c == cls || !port_is_paused(out, c, now_ps))) {
            return true;
        }
    }
    return false;
}

/* Earliest start of 'pkt' when it may cut through, and when it may not: the queue must be
 * empty and the port idle once it has been forwarded.  Frames that are being forwarded
 * just now are no queue. */
static void
set_ready(const struct fabric_switch *sw, const struct port *in, const struct port *out,
          struct packet *pkt, int64_t now_ps)
{
    int64_t start_ps = now_ps + sw->latency_ps;
    bool cuts = out->rate_bps == in->rate_bps && out->busy_until_ps <= start_ps &&
                out->line_ps <= start_ps && !port_is_paused(out, pkt->cls, start_ps) &&
                !is_backlogged(out, pkt->cls, now_ps);

    pkt->ready_ps = start_ps;
    if (!cuts && pkt->size_bytes > CUT_THROUGH_BYTES) {
        pkt->ready_ps += port_bytes_ps(in, pkt->size_bytes - CUT_THROUGH_BYTES);
    }
}

/* Loses 'pkt' where the link of 'out' is down or the watchdog takes it; else false, and
 * the caller keeps it. */
static outlined bool
is_refused(struct lp *lp, struct fabric_switch *sw, struct port *in, struct port *out,
           struct packet *pkt)
{
    if (out->special & PORT_DOWN) {
        lose(lp, pkt, &out->stats[pkt->cls].lost_down);
        return true;
    }
    if (sw->watchdog && watchdog_takes(sw, in, out, pkt->cls)) {
        pool_put(lp->pool, pkt);
        return true;
    }
    return false;
}

void
switch_arrive(struct lp *lp, struct port *in, struct packet *pkt)
{
    struct fabric_switch *sw = in->owner;
    int64_t now_ps = lp->now_ps;

    if (unlikely(in->special) && !port_special_arrival(lp, in, pkt)) {
        return;
    }
    if (unlikely(pkt->type == PACKET_PFC)) {
        port_hear_pause(lp, in, pkt);
        pool_put(lp->pool, pkt);
        switch_serve(lp, in);
        return;
    }
    unsigned cls = sw->class_of_dscp[packet_dscp(pkt)];
    struct in_class *account = &in->in[cls];

    pkt->cls = (uint8_t)cls;
    account->rx_pkts++;
    account->rx_bytes += pkt->size_bytes;
    if (unlikely(--pkt->ttl == 0)) {
        lose(lp, pkt, &sw->lost_ttl);
        return;
    }
    uint16_t index =
        likely(!sw->has_lb)
            ? switch_pick(sw, sw->routes, pkt->dst_nic, pkt->tp.flow_hash, pkt->tp.src_qp)
            : lb_pick(sw->lb, sw->routes, sw->ports, pkt, sw->hash_seed, now_ps);

    if (unlikely(index == ROUTE_NONE)) {
        lose(lp, pkt, &sw->lost_route);
        return;
    }
    struct port *out = &sw->ports[index];

    if (unlikely((in->special | out->special) & (PORT_DOWN | PORT_GUARDED)) &&
        is_refused(lp, sw, in, out, pkt)) {
        return;
    }
    pkt->in_port = in->index;
    if (sw->cuts_through) {
        set_ready(sw, in, out, pkt, now_ps);
    } else {
        pkt->ready_ps = now_ps + sw->latency_ps;
    }
    if (likely(!sw->mmu_hpcc) && port_may_commit(out, cls, now_ps, pkt->ready_ps)) {
        port_transmit(lp, out, pkt, pkt->ready_ps);
        return;
    }
    enqueue(lp, sw, in, out, pkt);
}

void
switch_refresh_pause(struct lp *lp, struct port *port, unsigned cls)
{
    struct fabric_switch *sw = port->owner;
    struct in_class *in = &port->in[cls];

    in->refresh_timer = false;
    if (!in->xoff) {
        return;
    }
    /* The threshold may have risen since: other queues have drained. */
    if (sw->mmu_hpcc ? mmu_hpcc_may_resume(&sw->buffer, in, port->mmu_shift)
                     : buffer_may_resume(&sw->buffer, in)) {
        pfc_resume(lp, port, cls);
    } else {
        pfc_repeat(lp, port, cls);
    }
}

void
switch_flush(struct lp *lp, struct port *port, unsigned cls, int64_t *counter)
{
    struct fabric_switch *sw = port->owner;

    while (port->out[cls].queue.head) {
        lose(lp, dequeue(lp, sw, port, cls), counter);
    }
}

void
switch_port_down(struct lp *lp, struct port *port)
{
    for (unsigned cls = 0; cls < N_CLASSES; cls++) {
        switch_flush(lp, port, cls, &port->stats[cls].lost_down);
        /* The peer has forgotten our pause, too. */
        if (port->in[cls].xoff) {
            pfc_forget(lp, port, cls);
        }
    }
    port_forget_pauses(port);
    port->line_ps = 0;
}

static void
broken(const struct fabric_switch *sw, const char *law, int64_t a, int64_t b)
{
    fprintf(stderr, "rocesim: bug: %s: %s: %lld is not %lld\n", sw->name, law,
            (long long)a, (long long)b);
    abort();
}

void
switch_check(const struct fabric_switch *sw)
{
    int64_t charged = 0, queued = 0, shared = 0;

    for (uint16_t p = 0; p < sw->n_ports; p++) {
        for (unsigned c = 0; c < N_CLASSES; c++) {
            const struct in_class *in = &sw->ports[p].in[c];
            bool reserves = sw->mmu_hpcc || (sw->lossless >> c & 1);

            charged += in->used_bytes + in->headroom_bytes;
            queued += sw->mmu_hpcc && c == 0 ? 0 : sw->ports[p].out[c].queue.bytes;
            shared += buffer_shared_of(in, reserves ? sw->buffer.reserved_bytes : 0);
        }
    }
    if (charged != queued) {
        broken(sw, "bytes charged at ingress and bytes queued", charged, queued);
    }
    if (shared != sw->buffer.shared_used) {
        broken(sw, "sum of shared use and the buffer's count", shared,
               sw->buffer.shared_used);
    }
}
