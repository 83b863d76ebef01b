/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * send.c - which QP sends next, and the packets it makes.
 *
 * Sources: InfiniBand Architecture 1.4 vol. 1 chapter 9 (transport).
 * Invariants: bit c of nic.ready is set exactly while ring c is not empty; a QP has at
 * most one KIND_PACE event queued.
 */
#include <config.h>

#include "models/nic/inner.h"
#include "models/nic/window.h"
#include "models/packet.h"

/* ---- the ring of QPs that may send ------------------------------------------------- */

static void
ring_add(struct nic *nic, struct qp *qp)
{
    struct qp **last = &nic->ring[qp->cls];

    qp->place = QP_READY;
    if (*last) {
        qp->ready_next = (*last)->ready_next;
        (*last)->ready_next = qp;
    } else {
        qp->ready_next = qp;
    }
    *last = qp;
    nic->ready |= (uint8_t)(1u << qp->cls);
}

static struct qp *
ring_take(struct nic *nic, unsigned cls)
{
    struct qp **last = &nic->ring[cls];
    struct qp *first = (*last)->ready_next;

    if (first == *last) {
        *last = NULL;
        nic->ready &= (uint8_t) ~(1u << cls);
    } else {
        (*last)->ready_next = first->ready_next;
    }
    first->place = QP_IDLE;
    return first;
}

/* May a QP that is not special send? */
static inline bool
may_send(const struct qp *qp)
{
    return qp->cur && !qp->halted && nic_window_is_open(qp);
}

/* Puts an idle QP with something to send into the ring, or has it wait for its pace.
 * From 'ready_by_ps' on it stands in the ring. */
static inline void
place(struct lp *lp, struct qp *qp, int64_t ready_by_ps)
{
    int64_t ready_ps;

    if (qp->place != QP_IDLE) {
        return;
    }
    if (qp->cur && !qp->halted) {
        nic_refresh_window(qp, lp->now_ps);
    }
    if (unlikely(qp->special)) {
        ready_ps = nic_turn_ready_ps(qp);
        if (ready_ps == TIME_NEVER_PS) {
            return;
        }
    } else if (may_send(qp)) {
        ready_ps = qp->cur->ready_ps;
    } else {
        return;
    }
    if (unlikely(qp->is_slow) && qp->next_send_ps > ready_by_ps) {
        qp_catch_up(qp, ready_by_ps);
    }
    int64_t at_ps = qp->next_send_ps;

    if (ready_ps > at_ps) {
        at_ps = ready_ps;
    }
    if (at_ps <= ready_by_ps) {
        ring_add(qp->nic, qp);
    } else {
        qp->place = QP_PACED;
        if (unlikely(qp->is_slow) && qp->next_send_ps > ready_by_ps) {
            int64_t look_ps = qp_look_ps(qp);

            /* The rate may have risen until then.  A gap that is over needs no look: what it
             * waits for then is the message, and its congestion control stands where the QP
             * fell idle. */
            at_ps = look_ps < at_ps ? look_ps : at_ps;
        }
        lp_at(lp, at_ps, event_key(PHASE_TIMER, qp->id, KIND_PACE, false), qp);
    }
}

void
nic_activate(struct lp *lp, struct qp *qp)
{
    if (unlikely(qp->nic->scan.list)) {
        nic_scan_activate(lp, qp);
        return;
    }
    place(lp, qp, lp->now_ps);
    if (qp->place == QP_READY) {
        nic_serve(lp, qp->nic);
    }
}

void
nic_pace(struct lp *lp, struct qp *qp)
{
    qp->place = QP_IDLE;
    nic_activate(lp, qp);
}

/* ---- sending ----------------------------------------------------------------------- */

/* Asks the congestion control about a packet of 'wire_bytes' that starts now. */
static void
pace(struct qp *qp, int64_t now_ps, uint32_t wire_bytes)
{
    const struct nic_config *config = qp->nic->config;
    int64_t before_bps = qp->rate.rate_bps;

    if (config->cc->on_send) {
        config->cc->on_send(qp->cc_state, config->cc_params, now_ps, (int32_t)wire_bytes,
                            &qp->rate);
    }
    if (qp->rate.rate_bps != before_bps) {
        qp_set_pace(qp);
    }
    qp_begin_gap(qp, now_ps, wire_bytes);
}

static inline struct packet *
make(struct lp *lp, const struct qp *qp, const struct message *message, int64_t seq,
     uint8_t flags)
{
    const struct nic_config *config = qp->nic->config;
    int64_t index = seq - message->first_seq;
    bool is_last = index + 1 == message->n_pkts;
    uint32_t payload = is_last ? (uint32_t)(message->bytes - index * config->mtu_bytes)
                               : config->mtu_bytes;
    uint32_t extra = 0;
    struct packet *pkt = pool_get(lp->pool);

    flags |= message->flags;
    if (index == 0) {
        flags |= PACKET_FIRST;
        extra += message->first_bytes;
    }
    if (is_last) {
        flags |= PACKET_LAST;
        if (message->has_imm) {
            flags |= PACKET_IMM;
            extra += IMMDT_BYTES;
        }
    }
    *pkt = (struct packet){.tp = {.src_qp = qp->id,
                                  .dst_qp = qp->peer,
                                  .flow_hash = qp->flow_hash,
                                  .psn = (qp->psn_base + (uint32_t)seq) & PSN_MASK,
                                  .message = message->id,
                                  .message_bytes = (uint32_t)message->bytes},
                           .dst_nic = qp->dst_nic,
                           .imm = message->imm,
                           .size_bytes = nic_frame_bytes(config, payload, extra),
                           .payload_bytes = (uint16_t)payload,
                           .type = PACKET_DATA,
                           .tos = qp->tos,
                           .cls = qp->cls,
                           .flags = flags,
                           .ttl = config->ttl};
    return pkt;
}

static inline struct packet *
make_data(struct lp *lp, struct qp *qp)
{
    struct message *message = qp->cur;
    int64_t seq = qp->snd_nxt++;
    bool is_last = qp->snd_nxt == message->first_seq + message->n_pkts;
    bool is_new = seq >= qp->snd_max;
    uint8_t flags = 0;
    struct packet *pkt;

    if (is_last) {
        qp->cur = message->next;
    }
    if (unlikely(!is_new)) {
        flags |= PACKET_AGAIN;
        qp->retransmitted++;
    }
    /* A requester that is about to stop for want of an ACK asks for one. */
    if (++qp->since_ack_req >= qp->nic->config->ack_every || is_last ||
        !nic_window_is_open(qp)) {
        flags |= PACKET_ACK_REQ;
        qp->since_ack_req = 0;
    }
    pkt = make(lp, qp, message, seq, flags);
    if (likely(is_new)) {
        qp->snd_max = seq + 1;
        qp->payload_sent += pkt->payload_bytes;
    }
    if (seq == qp->snd_una) {
        nic_restart_ack_timer(lp, qp);
    }
    return pkt;
}

struct packet *
nic_make_data(struct lp *lp, struct qp *qp)
{
    return make_data(lp, qp);
}

struct packet *
nic_make_data_again(struct lp *lp, struct qp *qp, const struct message *message,
                    int64_t seq)
{
    qp->retransmitted++;
    if (seq == qp->snd_una) {
        nic_restart_ack_timer(lp, qp);
    }
    return make(lp, qp, message, seq, PACKET_AGAIN | PACKET_ACK_REQ);
}

/* Takes the next QP of class 'cls' that still has something to send at 'start_ps'; NULL
 * when none has. */
static struct qp *
next_qp(struct lp *lp, struct nic *nic, unsigned cls, int64_t start_ps)
{
    while (nic->ready >> cls & 1) {
        struct qp *qp = ring_take(nic, cls);

        if (likely(!qp->special)) {
            if (may_send(qp)) {
                return qp;
            }
        } else if (nic_turn_ready_ps(qp) <= start_ps) {
            return qp;
        } else {
            place(lp, qp, start_ps); /* what it stood here for has gone */
        }
    }
    return NULL;
}

struct packet *
nic_take_answer(struct nic *nic, unsigned q)
{
    struct out_class *out = &nic->port->out[q];
    struct packet *pkt = queue_pop(&out->queue);
    struct qp *qp = &nic->qps[pkt->tp.src_qp];

    if (!out->queue.head) {
        nic->port->ready &= (uint8_t) ~(1u << q);
    }
    if (qp->waiting_ack == pkt) {
        qp->waiting_ack = NULL;
    }
    return pkt;
}

static inline uint32_t
send_data(struct lp *lp, struct nic *nic, struct qp *qp, int64_t start_ps)
{
    struct packet *pkt =
        unlikely(qp->special) ? nic_turn_make(lp, qp, start_ps) : make_data(lp, qp);
    uint32_t bytes = pkt->size_bytes;

    pkt->sent_tick = packet_tick(start_ps);
    if (qp->rate.limited) {
        pace(qp, start_ps, bytes + nic->config->extra_bytes);
    }
    port_transmit(lp, nic->port, pkt, start_ps);
    if (unlikely(qp->special & QP_ANSWERS)) {
        nic_release_answers(lp, qp);
    }
    return bytes;
}

uint32_t
nic_send_data(struct lp *lp, struct nic *nic, struct qp *qp, int64_t start_ps)
{
    return send_data(lp, nic, qp, start_ps);
}

/* Sends the first answer out of all that go before data, where it is ready at 'start_ps'.
 * Returns as send_one(). */
static uint32_t
send_first_answer(struct lp *lp, struct nic *nic, int64_t start_ps, int64_t *ready_ps)
{
    struct port *port = nic->port;
    unsigned q = nic->config->queue_of[0];
    const struct packet *head = port->out[q].queue.head;

    if (!(nic_open_answers(nic, start_ps) >> q & 1)) {
        return 0;
    }
    if (head->ready_ps > start_ps) {
        *ready_ps = head->ready_ps < *ready_ps ? head->ready_ps : *ready_ps;
        return 0;
    }
    struct packet *pkt = nic_take_answer(nic, q);
    uint32_t bytes = pkt->size_bytes;

    port_transmit(lp, port, pkt, start_ps);
    return bytes;
}

/* Sends one frame of class 'cls' from 'start_ps' on.  Returns its bytes, or 0: there was
 * nothing after all; '*ready_ps' is lowered to when an answer of the class
 * will be ready. */
static uint32_t
send_one(struct lp *lp, struct nic *nic, unsigned cls, int64_t start_ps,
         int64_t *ready_ps)
{
    struct port *port = nic->port;
    const struct packet *head = port->out[cls].queue.head;
    struct packet *pkt;
    struct qp *qp;
    uint32_t bytes;

    if (head && head->ready_ps <= start_ps && likely(!nic->config->answers_first)) {
        pkt = nic_take_answer(nic, cls);
        bytes = pkt->size_bytes;
        port_transmit(lp, port, pkt, start_ps);
        return bytes;
    }
    if (head && head->ready_ps < *ready_ps) {
        *ready_ps = head->ready_ps;
    }
    qp = next_qp(lp, nic, cls, start_ps);
    if (!qp) {
        return 0;
    }
    bytes = send_data(lp, nic, qp, start_ps);
    place(lp, qp, port->busy_until_ps);
    return bytes;
}

/* Sends the frame whose turn it is from 'start_ps' on, where the wire is free.  Returns
 * as send_one(). */
static uint32_t
send_next(struct lp *lp, struct nic *nic, int64_t start_ps, int64_t *ready_ps)
{
    struct port *port = nic->port;
    uint8_t ready = port->ready | nic->ready;

    if (unlikely(nic->config->answers_first)) {
        uint32_t bytes = send_first_answer(lp, nic, start_ps, ready_ps);

        if (bytes) {
            return bytes;
        }
        ready = nic->ready;
    }
    uint8_t open = port_unpaused(port, ready, start_ps);

    while (open) {
        unsigned cls = port_pick(port, open);
        uint32_t bytes = send_one(lp, nic, cls, start_ps, ready_ps);

        if (bytes) {
            return bytes;
        }
        open &= (uint8_t) ~(1u << cls);
    }
    return 0;
}

void
nic_serve(struct lp *lp, struct nic *nic)
{
    struct port *port = nic->port;
    int64_t ready_ps = TIME_NEVER_PS;
    uint32_t bytes;

    if (unlikely(nic->scan.list)) {
        nic_scan_serve(lp, nic);
        return;
    }
    if (unlikely(port->special & PORT_DOWN)) {
        return;
    }
    if (lp->now_ps < port->busy_until_ps) {
        if (port->ready | nic->ready) {
            port_wake_at(lp, port, port->busy_until_ps, nic);
        }
        return;
    }
    bytes = send_next(lp, nic, lp->now_ps, &ready_ps);
    if (bytes && bytes <= port->short_bytes) {
        send_next(lp, nic, port->busy_until_ps, &ready_ps);
    }
    if (port_unpaused(port, nic->ready, lp->now_ps) | nic_open_answers(nic, lp->now_ps)) {
        port_wake_at(lp, port,
                     bytes || ready_ps == TIME_NEVER_PS ? port->busy_until_ps : ready_ps,
                     nic);
    }
}
