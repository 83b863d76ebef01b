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
               .psn = psn,
               .message = qp->msn},
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

/* Where no CNPs are sent, 'pkt' tells that 'request' came marked. */
static inline void
echo_mark(struct qp *qp, struct packet *pkt, const struct packet *request)
{
    if (unlikely(packet_is_marked(request)) && qp->nic->config->cnp_on_answer) {
        pkt->flags |= PACKET_ECHO;
        qp->cnps_sent++;
        qp->nic->cnps_sent++;
    }
}

static void
send_ack(struct lp *lp, struct qp *qp, const struct packet *request)
{
    uint32_t psn = (qp->psn_base_peer + (uint32_t)qp->rcv_nxt - 1) & PSN_MASK;

    /* One ACK for the newest request, where the wire holds it up.  One that is not ready
     * yet would answer this request before its time. */
    if (qp->waiting_ack && qp->waiting_ack->ready_ps < lp->now_ps) {
        qp->waiting_ack->tp.psn = psn;
        qp->waiting_ack->tp.message = qp->msn;
        echo_mark(qp, qp->waiting_ack, request);
        return;
    }
    struct packet *pkt = make_answer(lp, qp, PACKET_ACK, psn);
    const struct nic_config *config = qp->nic->config;
    unsigned q = config->queue_of[qp->cls];

    qp->nic->acks_sent++;
    echo_mark(qp, pkt, request);
    answer(lp, qp->nic, pkt);
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

/* A packet is missing before 'request': says so once, and again only after a time. */
static void
notice_gap(struct lp *lp, struct qp *qp, const struct packet *request)
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
    pkt = make_answer(lp, qp, PACKET_NAK,
                      (qp->psn_base_peer + (uint32_t)qp->rcv_nxt) & PSN_MASK);
    echo_mark(qp, pkt, request);
    answer(lp, qp->nic, pkt);
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

void
nic_receive_data(struct lp *lp, struct qp *qp, const struct packet *pkt)
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
        if (ahead > 0) {
            notice_gap(lp, qp, pkt);
        } else if ((pkt->flags & PACKET_ACK_REQ) && qp->nic->config->answers_duplicates) {
            send_ack(lp, qp, pkt); /* a duplicate: its ACK was lost or late */
        }
        return;
    }
    qp->rcv_nxt++;
    qp->nak_sent = false;
    qp->payload_received += pkt->payload_bytes;
    qp->msn += pkt->flags & PACKET_LAST ? 1 : 0;
    if (pkt->flags & PACKET_ACK_REQ) {
        send_ack(lp, qp, pkt);
    }
    if (pkt->flags & PACKET_LAST) {
        qp->rcv_first = qp->rcv_nxt;
        nic_up(lp, qp, pkt->flags & PACKET_IMM ? UP_RECEIVED_IMM : UP_RECEIVED,
               pkt->tp.message, pkt->tp.message_bytes, pkt->imm);
    }
}
