/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * respond.c - the responder: what a NIC does with data that arrives.
 *
 * Sources: InfiniBand Architecture 1.4 vol. 1 chapter 9 (ACK, NAK), annex A17 (CNP);
 * DCQCN's notification point: SIGCOMM '15 section 3.2.
 */
#include <config.h>

#include "models/net_lp.h"
#include "models/nic/inner.h"
#include "models/packet.h"

struct packet *
nic_make_answer(struct lp *lp, const struct qp *qp, uint8_t type, uint32_t psn)
{
    const struct nic_config *config = qp->nic->config;
    struct packet *pkt = pool_get(lp->pool);

    *pkt = (struct packet){
        .ready_ps = lp->now_ps + config->ack_latency_ps,
        .tp = {.src_qp = qp->id,
               .dst_qp = qp->peer,
               .flow_hash = qp->flow_hash,
               .psn = psn,
               .message = qp->msn},
        .dst_nic = qp->dst_nic,
        .size_bytes = config->ack_bytes,
        .type = type,
        .tos = qp->tos & 0xFC, /* answers are Not-ECT: nothing would react to a mark */
        .cls = qp->cls,
        .ttl = config->ttl};
    return pkt;
}

void
nic_answer(struct lp *lp, struct nic *nic, struct packet *pkt)
{
    struct port *port = nic->port;

    if (unlikely(port->special & PORT_DOWN)) {
        port->stats[pkt->cls].lost_down++;
        pool_put(lp->pool, pkt);
        return;
    }
    if (!nic->ready && likely(!nic->scan.list) &&
        port_may_commit(port, pkt->cls, lp->now_ps, pkt->ready_ps)) {
        port_transmit(lp, port, pkt, pkt->ready_ps);
        return;
    }
    unsigned q = nic->config->queue_of[pkt->cls];

    queue_push(&port->out[q].queue, pkt);
    port->ready |= (uint8_t)(1u << q);
    if (unlikely(nic->scan.list)) {
        nic_scan_serve(lp, nic);
        return;
    }
    if (!port->wake_queued && (nic_open_answers(nic, lp->now_ps) >> q & 1)) {
        port_wake_at(lp, port,
                     port->busy_until_ps > pkt->ready_ps ? port->busy_until_ps
                                                         : pkt->ready_ps,
                     nic);
    }
}

/* Where no CNPs are sent, 'pkt' tells that a request came marked. */
static inline void
echo_mark(struct qp *qp, struct packet *pkt, bool is_marked)
{
    if (unlikely(is_marked) && qp->nic->config->cnp_on_answer) {
        pkt->flags |= PACKET_ECHO;
        qp->cnps_sent++;
        qp->nic->cnps_sent++;
    }
}

/* Puts 'pkt' (steals it) behind the responses that 'qp' has still to send. */
static void
wait_in_turn(struct qp *qp, struct packet *pkt)
{
    queue_push(&qp->answers, pkt);
}

void
nic_answer_in_turn(struct lp *lp, struct qp *qp, struct packet *pkt)
{
    if (unlikely(qp->special & QP_ANSWERS)) {
        wait_in_turn(qp, pkt);
    } else {
        nic_answer(lp, qp->nic, pkt);
    }
}

/* One ACK for the newest request, where it waits for responses. */
static void
send_ack_in_turn(struct lp *lp, struct qp *qp, uint32_t psn, bool is_marked)
{
    struct packet *pkt = qp->answers.tail;

    if (pkt->type == PACKET_ACK) {
        pkt->tp.psn = psn;
        pkt->tp.message = qp->msn;
        pkt->ready_ps = lp->now_ps + qp->nic->config->ack_latency_ps;
        echo_mark(qp, pkt, is_marked);
        return;
    }
    pkt = nic_make_answer(lp, qp, PACKET_ACK, psn);
    qp->nic->acks_sent++;
    echo_mark(qp, pkt, is_marked);
    wait_in_turn(qp, pkt);
}

void
nic_send_ack(struct lp *lp, struct qp *qp, bool is_marked)
{
    uint32_t psn = (qp->psn_base_peer + (uint32_t)qp->rcv_nxt - 1) & PSN_MASK;

    if (unlikely(qp->special & QP_ANSWERS)) {
        send_ack_in_turn(lp, qp, psn, is_marked);
        return;
    }
    /* One ACK for the newest request, where the wire holds it up.  One that is not ready
     * yet would answer this request before its time. */
    if (qp->waiting_ack && qp->waiting_ack->ready_ps < lp->now_ps) {
        qp->waiting_ack->tp.psn = psn;
        qp->waiting_ack->tp.message = qp->msn;
        echo_mark(qp, qp->waiting_ack, is_marked);
        return;
    }
    struct packet *pkt = nic_make_answer(lp, qp, PACKET_ACK, psn);
    const struct nic_config *config = qp->nic->config;
    unsigned q = config->queue_of[qp->cls];

    qp->nic->acks_sent++;
    echo_mark(qp, pkt, is_marked);
    nic_answer(lp, qp->nic, pkt);
    if (qp->nic->port->out[q].queue.tail == pkt && qp->nic->port->ready >> q & 1 &&
        config->merges_acks) {
        qp->waiting_ack = pkt;
    }
}

/* The responder wants its chunk from the start again. */
static void
go_back_to_chunk(struct qp *qp)
{
    const struct nic_config *config = qp->nic->config;
    int64_t over = (qp->rcv_nxt - qp->rcv_first) % config->chunk_pkts;

    /* Only the last packet of a message is short, and that ends the chunk. */
    qp->rcv_nxt -= over;
    qp->payload_received -= over * config->mtu_bytes;
}

void
nic_send_nak(struct lp *lp, struct qp *qp, bool is_marked)
{
    const struct nic_config *config = qp->nic->config;
    struct packet *pkt;
    int64_t wanted = qp->rcv_nxt;

    if (qp->nak_sent && (!config->nack_interval_ps ||
                         lp->now_ps - qp->last_nak_ps < config->nack_interval_ps)) {
        return;
    }
    if (unlikely(config->chunk_pkts)) {
        go_back_to_chunk(qp);
    }
    /* Having gone back, it wants another packet, and has not said so yet. */
    qp->nak_sent = qp->rcv_nxt == wanted;
    qp->last_nak_ps = lp->now_ps;
    qp->nic->naks_sent++;
    /* A NAK acknowledges what lies before it; an ACK that waits would
     * only repeat that. */
    pkt = nic_make_answer(lp, qp, PACKET_NAK,
                          (qp->psn_base_peer + (uint32_t)qp->rcv_nxt) & PSN_MASK);
    echo_mark(qp, pkt, is_marked);
    nic_answer_in_turn(lp, qp, pkt);
}

/* The notification point: at once for the first mark, then at most one
 * CNP an interval. */
void
nic_note_mark(struct lp *lp, struct qp *qp)
{
    const struct nic_config *config = qp->nic->config;

    if (!config->cnp_interval_ps ||
        (qp->cnp_ever && lp->now_ps - qp->last_cnp_ps < config->cnp_interval_ps)) {
        return;
    }
    struct packet *pkt = nic_make_answer(lp, qp, PACKET_CNP, 0);

    pkt->size_bytes = config->cnp_bytes;
    pkt->tos = config->cnp_tos;
    pkt->cls = config->cnp_cls;
    qp->cnp_ever = true;
    qp->last_cnp_ps = lp->now_ps;
    qp->cnps_sent++;
    qp->nic->cnps_sent++;
    nic_answer(lp, qp->nic, pkt);
}

static inline void
note_data(struct lp *lp, struct qp *qp, const struct packet *pkt)
{
    uint32_t under_way = packet_tick(lp->now_ps) - pkt->sent_tick;

    hist_add(&net_lp(lp)->latency, (int64_t)under_way << PACKET_TICK_BITS, 1);
    if (unlikely(packet_is_marked(pkt))) {
        nic_note_mark(lp, qp);
    }
}

void
nic_note_data(struct lp *lp, struct qp *qp, const struct packet *pkt)
{
    note_data(lp, qp, pkt);
}

static inline void
accept(struct lp *lp, struct qp *qp, const struct packet *pkt, bool acks)
{
    qp->rcv_nxt++;
    qp->nak_sent = false;
    qp->payload_received += pkt->payload_bytes;
    qp->msn += pkt->flags & PACKET_LAST ? 1 : 0;
    if (acks && (pkt->flags & PACKET_ACK_REQ)) {
        nic_send_ack(lp, qp, packet_is_marked(pkt));
    }
    if (pkt->flags & PACKET_LAST) {
        qp->rcv_first = qp->rcv_nxt;
        nic_up(lp, qp, pkt->flags & PACKET_IMM ? UP_RECEIVED_IMM : UP_RECEIVED,
               pkt->tp.message, pkt->tp.message_bytes, pkt->imm);
    }
}

bool
nic_take_request(struct lp *lp, struct qp *qp, struct packet *pkt, bool acks, bool *kept)
{
    *kept = false;
    if (!nic_take_wqe(qp, pkt)) {
        return false;
    }
    if (pkt->type == PACKET_READ_REQ) {
        qp->rcv_nxt += nic_read_psns(pkt->tp.message_bytes, pkt->imm);
        qp->rcv_first = qp->rcv_nxt;
        qp->nak_sent = false;
        qp->msn++;
        *kept = true;
        nic_accept_read(lp, qp, pkt);
    } else {
        accept(lp, qp, pkt, acks);
        nic_repost_wqe(lp, qp, pkt);
    }
    return true;
}

/* Data that is not expected, or may have to be refused; go-back-N. */
static void
receive_careful(struct lp *lp, struct qp *qp, struct packet *pkt, int32_t ahead)
{
    bool kept;

    if (ahead == 0) {
        if (!nic_take_request(lp, qp, pkt, true, &kept)) {
            qp->nic->lost_protocol++;
            nic_send_rnr(lp, qp);
        }
        return;
    }
    qp->nic->lost_protocol++;
    if (ahead > 0) {
        nic_send_nak(lp, qp, packet_is_marked(pkt));
    } else if ((pkt->flags & PACKET_ACK_REQ) && qp->nic->config->answers_duplicates) {
        nic_send_ack(lp, qp,
                     packet_is_marked(pkt)); /* a duplicate: its ACK was lost or late */
    }
}

bool
nic_receive_data(struct lp *lp, struct qp *qp, struct packet *pkt)
{
    int32_t ahead = nic_ahead(qp, pkt->tp.psn);

    note_data(lp, qp, pkt);
    if (unlikely(ahead != 0 || qp->careful)) {
        if (qp->sr) {
            return nic_sr_receive(lp, qp, pkt, ahead);
        }
        receive_careful(lp, qp, pkt, ahead);
        return false;
    }
    accept(lp, qp, pkt, true);
    return false;
}
