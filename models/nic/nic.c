/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nic.c - the reliable transport and its place on the wire.
 * Called by net.c for arrivals, wakes and timers, by qp.c for posts; calls the congestion
 * control and the workload's upcalls.  Owns the packets it makes until they are on the
 * wire, and frees those that arrive.
 *
 * Sources: InfiniBand Architecture 1.4 vol. 1 chapter 9 (transport), annex A17 (CNP);
 * DCQCN's notification point: SIGCOMM '15 section 3.2.
 * Invariants: bit c of nic.ready is set exactly while ring c is not empty; a QP has at
 * most one KIND_PACE and one KIND_ACK_TIMER event queued.
 */
#include <config.h>

#include "models/nic/nic.h"

#include "models/net_lp.h"
#include "models/packet.h"

#define TTL_FIRST 64 /* what Linux and mlx5 send RoCEv2 with */

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

static inline bool
window_is_open(const struct qp *qp)
{
    uint32_t limit = qp->nic->config->max_inflight;
    int64_t inflight = qp->snd_nxt - qp->snd_una;

    if (limit && inflight >= limit) {
        return false;
    }
    return !qp->rate.window_bytes ||
           inflight * qp->nic->config->mtu_bytes < qp->rate.window_bytes;
}

/* Puts an idle QP with something to send into the ring, or has it wait for its pace.
 * From 'ready_by_ps' on it stands in the ring. */
static inline void
place(struct lp *lp, struct qp *qp, int64_t ready_by_ps)
{
    if (qp->place != QP_IDLE || !qp->cur || qp->failed || !window_is_open(qp)) {
        return;
    }
    if (unlikely(qp->is_slow) && qp->next_send_ps > ready_by_ps) {
        qp_catch_up(qp, ready_by_ps);
    }
    int64_t at_ps = qp->next_send_ps;

    if (qp->cur->ready_ps > at_ps) {
        at_ps = qp->cur->ready_ps;
    }
    if (at_ps <= ready_by_ps) {
        ring_add(qp->nic, qp);
    } else {
        qp->place = QP_PACED;
        if (unlikely(qp->is_slow)) {
            int64_t look_ps = qp_look_ps(qp);

            /* The rate may have risen until then. */
            at_ps = look_ps < at_ps ? look_ps : at_ps;
        }
        lp_at(lp, at_ps, event_key(PHASE_TIMER, qp->id, KIND_PACE, false), qp);
    }
}

void
nic_activate(struct lp *lp, struct qp *qp)
{
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

/* ---- ACK timer --------------------------------------------------------------------- */

static void
queue_ack_timer(struct lp *lp, struct qp *qp, int64_t at_ps)
{
    qp->timer_queued = true;
    lp_at(lp, at_ps, event_key(PHASE_TIMER, qp->id, KIND_ACK_TIMER, false), qp);
}

static inline void
restart_ack_timer(struct lp *lp, struct qp *qp)
{
    int64_t timeout_ps = qp->nic->config->ack_timeout_ps;

    qp->ack_deadline_ps = lp->now_ps + timeout_ps;
    if (unlikely(!qp->timer_queued) && timeout_ps) {
        queue_ack_timer(lp, qp, qp->ack_deadline_ps);
    }
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

/* Makes the next data packet of 'qp', which has one. */
static struct packet *
make_data(struct lp *lp, struct qp *qp)
{
    const struct nic_config *config = qp->nic->config;
    struct message *message = qp->cur;
    int64_t seq = qp->snd_nxt++;
    int64_t index = seq - message->first_seq;
    bool is_last = index + 1 == message->n_pkts;
    uint32_t payload = is_last ? (uint32_t)(message->bytes - index * config->mtu_bytes)
                               : config->mtu_bytes;
    uint32_t extra = 0;
    uint8_t flags = 0;
    struct packet *pkt = pool_get(lp->pool);

    if (index == 0) {
        flags |= PACKET_FIRST;
        extra += RETH_BYTES;
    }
    if (is_last) {
        flags |= PACKET_LAST;
        qp->cur = message->next;
        if (message->has_imm) {
            flags |= PACKET_IMM;
            extra += IMMDT_BYTES;
        }
    }
    if (seq < qp->snd_max) {
        flags |= PACKET_AGAIN;
        qp->retransmitted++;
    } else {
        qp->snd_max = seq + 1;
        qp->payload_sent += payload;
    }
    /* A requester that is about to stop for want of an ACK asks for one. */
    if (++qp->since_ack_req >= config->ack_every || is_last || !window_is_open(qp)) {
        flags |= PACKET_ACK_REQ;
        qp->since_ack_req = 0;
    }
    *pkt = (struct packet){.tp = {.src_qp = qp->id,
                                  .dst_qp = qp->peer,
                                  .flow_hash = qp->flow_hash,
                                  .psn = (qp->psn_base + (uint32_t)seq) & PSN_MASK,
                                  .message = message->id,
                                  .message_bytes = (uint32_t)message->bytes},
                           .dst_nic = qp->dst_nic,
                           .imm = message->imm,
                           .size_bytes = packet_frame_bytes(
                               payload, extra, config->ip_bytes, config->vlan_bytes),
                           .payload_bytes = (uint16_t)payload,
                           .type = PACKET_DATA,
                           .tos = qp->tos,
                           .cls = qp->cls,
                           .flags = flags,
                           .ttl = TTL_FIRST};
    if (seq == qp->snd_una) {
        restart_ack_timer(lp, qp);
    }
    return pkt;
}

/* Takes the next QP of class 'cls' that still has something to send; NULL
 * when none has. */
static struct qp *
next_qp(struct nic *nic, unsigned cls)
{
    while (nic->ready >> cls & 1) {
        struct qp *qp = ring_take(nic, cls);

        if (qp->cur && !qp->failed && window_is_open(qp)) {
            return qp;
        }
    }
    return NULL;
}

static struct packet *
take_answer(struct nic *nic, unsigned cls)
{
    struct out_class *out = &nic->port->out[cls];
    struct packet *pkt = queue_pop(&out->queue);
    struct qp *qp = &nic->qps[pkt->tp.src_qp];

    if (!out->queue.head) {
        nic->port->ready &= (uint8_t) ~(1u << cls);
    }
    if (qp->waiting_ack == pkt) {
        qp->waiting_ack = NULL;
    }
    return pkt;
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

    if (head && head->ready_ps <= start_ps) {
        pkt = take_answer(nic, cls);
        bytes = pkt->size_bytes;
        port_transmit(lp, port, pkt, start_ps);
        return bytes;
    }
    if (head && head->ready_ps < *ready_ps) {
        *ready_ps = head->ready_ps;
    }
    qp = next_qp(nic, cls);
    if (!qp) {
        return 0;
    }
    pkt = make_data(lp, qp);
    bytes = pkt->size_bytes;
    pkt->sent_tick = packet_tick(start_ps);
    if (qp->rate.limited) {
        pace(qp, start_ps, bytes + WIRE_EXTRA_BYTES);
    }
    port_transmit(lp, port, pkt, start_ps);
    place(lp, qp, port->busy_until_ps);
    return bytes;
}

/* Sends the frame whose turn it is from 'start_ps' on, where the wire is free.  Returns
 * as send_one(). */
static uint32_t
send_next(struct lp *lp, struct nic *nic, int64_t start_ps, int64_t *ready_ps)
{
    struct port *port = nic->port;
    uint8_t open = port_unpaused(port, port->ready | nic->ready, start_ps);

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
    if (bytes && bytes <= PORT_SHORT_BYTES) {
        send_next(lp, nic, port->busy_until_ps, &ready_ps);
    }
    if (port_unpaused(port, port->ready | nic->ready, lp->now_ps)) {
        port_wake_at(lp, port,
                     bytes || ready_ps == TIME_NEVER_PS ? port->busy_until_ps : ready_ps,
                     nic);
    }
}

/* ---- answering --------------------------------------------------------------------- */

static struct packet *
make_answer(struct lp *lp, const struct qp *qp, uint8_t type, uint32_t psn)
{
    const struct nic_config *config = qp->nic->config;
    struct packet *pkt = pool_get(lp->pool);

    *pkt = (struct packet){
        .ready_ps = lp->now_ps + config->ack_latency_ps,
        .tp = {.src_qp = qp->id,
               .dst_qp = qp->peer,
               .flow_hash = qp->flow_hash,
               .psn = psn},
        .dst_nic = qp->dst_nic,
        .size_bytes = config->ack_bytes,
        .type = type,
        .tos = qp->tos & 0xFC, /* answers are Not-ECT: nothing would react to a mark */
        .cls = qp->cls,
        .ttl = TTL_FIRST};
    return pkt;
}

/* Sends 'pkt' (steals it) as soon as the wire allows. */
static void
answer(struct lp *lp, struct nic *nic, struct packet *pkt)
{
    struct port *port = nic->port;

    if (unlikely(port->special & PORT_DOWN)) {
        port->stats[pkt->cls].lost_down++;
        pool_put(lp->pool, pkt);
        return;
    }
    if (!nic->ready && port_may_commit(port, pkt->cls, lp->now_ps, pkt->ready_ps)) {
        port_transmit(lp, port, pkt, pkt->ready_ps);
        return;
    }
    queue_push(&port->out[pkt->cls].queue, pkt);
    port->ready |= (uint8_t)(1u << pkt->cls);
    if (!port->wake_queued &&
        port_unpaused(port, (uint8_t)(1u << pkt->cls), lp->now_ps)) {
        port_wake_at(lp, port,
                     port->busy_until_ps > pkt->ready_ps ? port->busy_until_ps
                                                         : pkt->ready_ps,
                     nic);
    }
}

static void
send_ack(struct lp *lp, struct qp *qp)
{
    uint32_t psn = (qp->psn_base_peer + (uint32_t)qp->rcv_nxt - 1) & PSN_MASK;

    /* One ACK for the newest request, where the wire holds it up.  One that is not ready
     * yet would answer this request before its time. */
    if (qp->waiting_ack && qp->waiting_ack->ready_ps < lp->now_ps) {
        qp->waiting_ack->tp.psn = psn;
        return;
    }
    struct packet *pkt = make_answer(lp, qp, PACKET_ACK, psn);

    qp->nic->acks_sent++;
    answer(lp, qp->nic, pkt);
    if (qp->nic->port->out[qp->cls].queue.tail == pkt &&
        qp->nic->port->ready >> qp->cls & 1) {
        qp->waiting_ack = pkt;
    }
}

static void
send_nak(struct lp *lp, struct qp *qp)
{
    uint32_t psn = (qp->psn_base_peer + (uint32_t)qp->rcv_nxt) & PSN_MASK;

    qp->nak_sent = true;
    qp->nic->naks_sent++;
    /* A NAK acknowledges what lies before it; an ACK that waits would
     * only repeat that. */
    answer(lp, qp->nic, make_answer(lp, qp, PACKET_NAK, psn));
}

/* The notification point: at once for the first mark, then at most one
 * CNP an interval. */
static void
notice_mark(struct lp *lp, struct qp *qp)
{
    const struct nic_config *config = qp->nic->config;

    if (!config->cnp_interval_ps ||
        (qp->cnp_ever && lp->now_ps - qp->last_cnp_ps < config->cnp_interval_ps)) {
        return;
    }
    struct packet *pkt = make_answer(lp, qp, PACKET_CNP, 0);

    pkt->size_bytes = config->cnp_bytes;
    pkt->tos = config->cnp_tos;
    pkt->cls = config->cnp_cls;
    qp->cnp_ever = true;
    qp->last_cnp_ps = lp->now_ps;
    qp->cnps_sent++;
    qp->nic->cnps_sent++;
    answer(lp, qp->nic, pkt);
}

/* ---- upcalls ----------------------------------------------------------------------- */

enum { UP_SENT, UP_RECEIVED, UP_RECEIVED_IMM };

static void
call_up(struct lp *lp, struct qp *qp, unsigned what, uint32_t id, int64_t bytes,
        uint32_t imm)
{
    if (what == UP_SENT) {
        qp->user->sent(qp->user_ctx, lp, qp, id);
    } else {
        qp->user->received(qp->user_ctx, lp, qp, id, bytes, what == UP_RECEIVED_IMM, imm);
    }
}

static void
deliver_up(struct lp *lp, struct pipe_item *item)
{
    struct qp *qp = item->to;
    unsigned what = (unsigned)item->word[0];
    uint32_t id = (uint32_t)item->word[1], imm = (uint32_t)item->word[3];
    int64_t bytes = (int64_t)item->word[2];

    pool_put(lp->pool, item);
    call_up(lp, qp, what, id, bytes, imm);
}

/* Tells the user, after the way to memory. */
static void
up(struct lp *lp, struct qp *qp, unsigned what, uint32_t id, int64_t bytes, uint32_t imm)
{
    if (!qp->nic->up.latency_ps) {
        call_up(lp, qp, what, id, bytes, imm);
        return;
    }
    struct pipe_item *item = pool_get(lp->pool);

    *item = (struct pipe_item){
        .deliver = deliver_up, .to = qp, .word = {what, id, (uint64_t)bytes, imm}};
    pipe_send(lp, &qp->nic->up, 0, item);
}

/* ---- responder --------------------------------------------------------------------- */

static void
receive_data(struct lp *lp, struct qp *qp, const struct packet *pkt)
{
    int32_t ahead =
        psn_diff(pkt->tp.psn, (qp->psn_base_peer + (uint32_t)qp->rcv_nxt) & PSN_MASK);
    uint32_t under_way = packet_tick(lp->now_ps) - pkt->sent_tick;

    hist_add(&net_lp(lp)->latency, (int64_t)under_way << PACKET_TICK_BITS, 1);
    if (unlikely(packet_is_marked(pkt))) {
        notice_mark(lp, qp);
    }
    if (unlikely(ahead != 0)) {
        qp->nic->lost_protocol++;
        if (ahead > 0 && !qp->nak_sent) {
            send_nak(lp, qp);
        } else if (ahead < 0 && (pkt->flags & PACKET_ACK_REQ)) {
            send_ack(lp, qp); /* a duplicate: its ACK was lost or late */
        }
        return;
    }
    qp->rcv_nxt++;
    qp->nak_sent = false;
    qp->payload_received += pkt->payload_bytes;
    if (pkt->flags & PACKET_ACK_REQ) {
        send_ack(lp, qp);
    }
    if (pkt->flags & PACKET_LAST) {
        up(lp, qp, pkt->flags & PACKET_IMM ? UP_RECEIVED_IMM : UP_RECEIVED,
           pkt->tp.message, pkt->tp.message_bytes, pkt->imm);
    }
}

/* ---- requester --------------------------------------------------------------------- */

/* Goes back to packet 'seq' (go-back-N), which is not acknowledged. */
static void
go_back(struct qp *qp, int64_t seq)
{
    struct message *message = qp->oldest;

    while (message && seq >= message->first_seq + message->n_pkts) {
        message = message->next;
    }
    qp->snd_nxt = seq;
    qp->cur = message;
    qp->since_ack_req = 0;
}

/* Everything before packet 'seq' is acknowledged. */
static void
acknowledge(struct lp *lp, struct qp *qp, int64_t seq)
{
    const struct nic_config *config = qp->nic->config;
    int64_t n_pkts = seq - qp->snd_una;

    qp->snd_una = seq;
    qp->retries = 0;
    if (qp->snd_nxt < seq) {
        go_back(qp, seq); /* forward, in fact: what was to be sent again has arrived */
    }
    restart_ack_timer(lp, qp);
    if (config->cc->on_ack) {
        const struct cc_ack ack = {.now_ps = lp->now_ps,
                                   .acked_bytes = n_pkts * config->mtu_bytes};

        config->cc->on_ack(qp->cc_state, config->cc_params, &ack, &qp->rate);
        qp_set_pace(qp);
    }
    while (qp->oldest && qp->oldest->first_seq + qp->oldest->n_pkts <= seq) {
        struct message *message = qp->oldest;
        uint32_t id = message->id;

        qp->oldest = message->next;
        pool_put(lp->pool, message);
        up(lp, qp, UP_SENT, id, 0, 0);
    }
}

/* Count of the packet with 'psn', which is near the oldest unacknowledged one. */
static int64_t
seq_of(const struct qp *qp, uint32_t psn)
{
    return qp->snd_una + psn_diff(psn, (qp->psn_base + (uint32_t)qp->snd_una) & PSN_MASK);
}

static void
receive_ack(struct lp *lp, struct qp *qp, uint32_t psn)
{
    int64_t next = seq_of(qp, psn) + 1;

    if (next > qp->snd_una && next <= qp->snd_max) {
        acknowledge(lp, qp, next);
        nic_activate(lp, qp);
    }
}

static void
receive_nak(struct lp *lp, struct qp *qp, uint32_t psn)
{
    int64_t seq = seq_of(qp, psn);

    if (seq < qp->snd_una || seq >= qp->snd_max) {
        return;
    }
    qp->naks_received++;
    if (seq > qp->snd_una) {
        acknowledge(lp, qp, seq);
    }
    if (seq < qp->snd_nxt) {
        go_back(qp, seq);
    }
    nic_activate(lp, qp);
}

static void
receive_cnp(struct qp *qp, int64_t now_ps)
{
    const struct nic_config *config = qp->nic->config;

    qp->cnps_received++;
    if (unlikely(qp->is_slow)) {
        qp_catch_up(qp, now_ps);
    }
    config->cc->on_cnp(qp->cc_state, config->cc_params, now_ps, &qp->rate);
    qp_change_gap(qp, now_ps);
}

void
nic_ack_timer(struct lp *lp, struct qp *qp)
{
    const struct nic_config *config = qp->nic->config;

    qp->timer_queued = false;
    if (qp->snd_una == qp->snd_max || qp->failed) {
        return;
    }
    if (qp->ack_deadline_ps > lp->now_ps) {
        queue_ack_timer(lp, qp, qp->ack_deadline_ps);
        return;
    }
    /* Gone back and not sent again yet: its pace or a pause holds it up, and no
     * answer can be missing.  Sending starts the timer anew.  A dead link of its own
     * is no such excuse. */
    if (qp->snd_nxt == qp->snd_una && !(qp->nic->port->special & PORT_DOWN)) {
        return;
    }
    qp->timeouts++;
    if (qp->retries >= config->retry_count) {
        qp->failed = true;
        qp->nic->n_qp_errors++;
        return;
    }
    qp->retries++;
    if (config->cc->on_timeout) {
        config->cc->on_timeout(qp->cc_state, config->cc_params, lp->now_ps, &qp->rate);
        qp_set_pace(qp);
    }
    go_back(qp, qp->snd_una);
    restart_ack_timer(lp, qp);
    nic_activate(lp, qp);
}

void
nic_arrive(struct lp *lp, struct port *in, struct packet *pkt)
{
    struct nic *nic = in->owner;

    if (unlikely(in->special) && !port_special_arrival(lp, in, pkt)) {
        return;
    }
    if (unlikely(pkt->type == PACKET_PFC)) {
        port_hear_pause(lp, in, pkt);
        pool_put(lp->pool, pkt);
        nic_serve(lp, nic);
        return;
    }
    struct qp *qp = &nic->qps[pkt->tp.dst_qp];
    struct in_class *account = &in->in[pkt->cls];

    account->rx_pkts++;
    account->rx_bytes += pkt->size_bytes;
    switch ((enum packet_type)pkt->type) {
    case PACKET_DATA:
        receive_data(lp, qp, pkt);
        break;
    case PACKET_ACK:
        receive_ack(lp, qp, pkt->tp.psn);
        break;
    case PACKET_NAK:
        receive_nak(lp, qp, pkt->tp.psn);
        break;
    case PACKET_CNP:
        receive_cnp(qp, lp->now_ps);
        break;
    case PACKET_PFC: /* handled above */
        break;
    }
    pool_put(lp->pool, pkt);
}

void
nic_port_down(struct lp *lp, struct port *port)
{
    struct nic *nic = port->owner;

    for (unsigned cls = 0; cls < N_CLASSES; cls++) {
        while (port->out[cls].queue.head) {
            port->stats[cls].lost_down++;
            pool_put(lp->pool, take_answer(nic, cls));
        }
    }
    port_forget_pauses(port);
}
