/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read.c - RDMA READ: requests, responses, and what is done when some are lost.
 *
 * A READ of n packets takes n PSNs of the requester: the request has the first of them,
 * response i the first plus i.  The first and the last response carry an AETH.  A requester
 * has at most nic.max_reads READs outstanding.
 *
 * The responder answers in order.  The request packet itself waits in the QP's 'answers'
 * and is counted down; ACKs and NAKs of later requests queue behind it, since by them the
 * requester learns that all responses before are on their way.  Responses are data of the
 * responder's QP: its class, its turn in the ring, its pace (the congestion control of the
 * responder's QP hears the CNPs; windows, which need ACKs, do not hold responses).
 *
 * Loss of a response: the next response, or an answer to a later request, shows the gap
 * (go-back-N; an implied NAK).  The requester goes back to it and asks for the rest of the READ.
 * That request is a repeated one for the responder, which drops what it still had to
 * send from there on: all of it will be asked for again.  Loss of a request: NAK by the
 * next request, or the timeout.
 *
 * Sources: InfiniBand Architecture 1.4 vol. 1, 9.7.3.1 and 9.7.5.1.9 (PSNs of READs,
 * implied NAK), 9.7.5.1.4 (order of answers), 9.7.7 (limit of outstanding READs); that a
 * READ is asked for from the missing PSN on: Linux drivers/infiniband/sw/rxe/rxe_req.c.
 * Invariant: reads_out = READs of which all up to the last PSN has been asked for, and
 * that are not complete; 'answers' starts with a request, and QP_ANSWERS is set, or it is
 * empty.
 */
#include <config.h>

#include "models/nic/inner.h"

/* Half of the PSNs: as far as two may lie apart. */
#define PSNS_MAX (1 << 23)

/* ---- requester ------------------------------------------------------------------------ */

bool
nic_may_read(const struct qp *qp)
{
    int64_t end = qp->cur->first_seq + qp->cur->n_pkts;

    return qp->reads_out < qp->nic->config->max_reads && end - qp->snd_una < PSNS_MAX;
}

struct packet *
nic_make_read(struct lp *lp, struct qp *qp, const struct message *message, int64_t seq,
              int64_t n_psns)
{
    const struct nic_config *config = qp->nic->config;
    struct packet *pkt = pool_get(lp->pool);
    int64_t from = (seq - message->first_seq) * config->mtu_bytes;
    int64_t bytes = n_psns * config->mtu_bytes;

    if (bytes > message->bytes - from) {
        bytes = message->bytes - from;
    }
    *pkt = (struct packet){.tp = {.src_qp = qp->id,
                                  .dst_qp = qp->peer,
                                  .flow_hash = qp->flow_hash,
                                  .psn = (qp->psn_base + (uint32_t)seq) & PSN_MASK,
                                  .message = message->id,
                                  .message_bytes = (uint32_t)bytes},
                           .dst_nic = qp->dst_nic,
                           .imm = config->mtu_bytes,
                           .size_bytes = nic_frame_bytes(config, 0, RETH_BYTES),
                           .type = PACKET_READ_REQ,
                           .tos = qp->tos,
                           .cls = qp->cls,
                           .flags = PACKET_FIRST | PACKET_LAST |
                                    (seq < qp->snd_max ? PACKET_AGAIN : 0),
                           .ttl = config->ttl};
    if (seq == qp->snd_una) {
        nic_restart_ack_timer(lp, qp);
    }
    return pkt;
}

struct packet *
nic_make_next_read(struct lp *lp, struct qp *qp)
{
    struct message *message = qp->cur;
    int64_t end = message->first_seq + message->n_pkts;
    struct packet *pkt = nic_make_read(lp, qp, message, qp->snd_nxt, end - qp->snd_nxt);

    if (end > qp->snd_max) {
        qp->snd_max = end;
        qp->read_psns += message->n_pkts;
    }
    qp->snd_nxt = end;
    qp->cur = message->next;
    qp->since_ack_req = 0;
    qp->reads_out++;
    return pkt;
}

int64_t
nic_first_unread(const struct qp *qp)
{
    if (!(qp->special & QP_READS)) {
        return INT64_MAX;
    }
    for (const struct message *m = qp->oldest; m && m->first_seq < qp->snd_max;
         m = m->next) {
        if (m->verb == QP_READ) {
            return m->first_seq > qp->snd_una ? m->first_seq : qp->snd_una;
        }
    }
    return INT64_MAX;
}

void
nic_miss_response(struct lp *lp, struct qp *qp, int64_t seq)
{
    if (qp->read_gap) {
        return; /* it has been asked for; what was on its way is no news */
    }
    qp->read_gap = true;
    qp->gaps_in_reads++;
    if (seq > qp->snd_una) {
        nic_acknowledge(lp, qp, seq, seq - qp->snd_una);
    }
    if (seq < qp->snd_nxt) {
        nic_go_back(qp, seq);
    }
    nic_activate(lp, qp);
}

void
nic_receive_response(struct lp *lp, struct qp *qp, const struct packet *pkt)
{
    int64_t seq = nic_seq_of(qp, pkt->tp.psn);

    nic_note_data(lp, qp, pkt);
    if (qp->sr) {
        nic_sr_receive_response(lp, qp, pkt, seq);
        return;
    }
    int64_t unread = nic_first_unread(qp);

    if (seq != unread || seq >= qp->snd_max) {
        qp->nic->lost_protocol++;
        if (seq > unread && seq < qp->snd_max) {
            nic_miss_response(lp, qp, unread);
        }
        return;
    }
    qp->read_gap = false;
    qp->payload_received += pkt->payload_bytes;
    nic_acknowledge(lp, qp, seq + 1, seq - qp->snd_una);
    nic_activate(lp, qp);
}

/* ---- responder ------------------------------------------------------------------------ */

/* PSNs that 'pkt', an answer that waits, has still to send; an ACK or the like: 0. */
static int32_t
psns_left(const struct packet *pkt)
{
    return pkt->type == PACKET_READ_REQ
               ? (int32_t)nic_read_psns(pkt->tp.message_bytes, pkt->imm)
               : 0;
}

static void
queue_answer(struct qp *qp, struct packet *pkt)
{
    queue_push(&qp->answers, pkt);
    qp->special |= QP_ANSWERS;
}

/* Go-back-N: drops the answers from 'psn' on; all that they answer will come again. */
static void
drop_answers(struct lp *lp, struct qp *qp, uint32_t psn)
{
    struct queue all = qp->answers;

    qp->answers = (struct queue){0};
    while (all.head) {
        struct packet *pkt = queue_pop(&all);

        if (psn_diff(pkt->tp.psn, psn) >= 0) {
            pool_put(lp->pool, pkt);
        } else {
            queue_push(&qp->answers, pkt);
        }
    }
}

/* Selective repeat: puts 'request' (steals it) before those behind it by PSN, as it fills a
 * gap that the requester waits at, and drops those within it; or drops it where one that
 * waits will answer all of it. */
static void
merge_answers(struct lp *lp, struct qp *qp, struct packet *request)
{
    struct queue all = qp->answers;
    int32_t n = psns_left(request);
    uint32_t psn = request->tp.psn;
    bool is_placed = false, is_covered = false;

    qp->answers = (struct queue){0};
    while (all.head) {
        struct packet *pkt = queue_pop(&all);
        int32_t from = psn_diff(pkt->tp.psn, psn), left = psns_left(pkt);

        is_covered |= !is_placed && left > 0 && from <= 0 && from + left >= n;
        if (!is_placed && !is_covered && from >= 0) {
            queue_push(&qp->answers, request);
            is_placed = true;
        }
        if (is_placed && left > 0 && from >= 0 && from + left <= n) {
            pool_put(lp->pool, pkt);
        } else {
            queue_push(&qp->answers, pkt);
        }
    }
    if (is_covered) {
        pool_put(lp->pool, request);
    } else if (!is_placed) {
        queue_push(&qp->answers, request);
    }
    qp->special |= QP_ANSWERS;
}

void
nic_accept_read(struct lp *lp, struct qp *qp, struct packet *pkt)
{
    pkt->flags |= PACKET_FIRST;
    pkt->ready_ps = lp->now_ps + qp->nic->config->latency_ps;
    queue_answer(qp, pkt);
    nic_activate(lp, qp);
}

void
nic_repeat_read(struct lp *lp, struct qp *qp, struct packet *pkt)
{
    pkt->flags |= PACKET_FIRST;
    pkt->ready_ps = lp->now_ps + qp->nic->config->latency_ps;
    if (qp->sr) {
        merge_answers(lp, qp, pkt);
    } else {
        drop_answers(lp, qp, pkt->tp.psn);
        queue_answer(qp, pkt);
    }
    nic_release_answers(lp, qp);
    nic_activate(lp, qp);
}

bool
nic_receive_read(struct lp *lp, struct qp *qp, struct packet *pkt)
{
    int32_t ahead = nic_ahead(qp, pkt->tp.psn);
    bool kept = true;

    if (unlikely(packet_is_marked(pkt))) {
        nic_note_mark(lp, qp);
    }
    if (qp->sr) {
        return nic_sr_receive(lp, qp, pkt, ahead);
    }
    if (ahead > 0) {
        qp->nic->lost_protocol++;
        nic_send_nak(lp, qp, packet_is_marked(pkt));
        return false;
    }
    if (ahead < 0) {
        nic_repeat_read(lp, qp, pkt);
        return true;
    }
    nic_take_request(lp, qp, pkt, true, &kept);
    return kept;
}

struct packet *
nic_make_response(struct lp *lp, struct qp *qp)
{
    const struct nic_config *config = qp->nic->config;
    struct packet *request = qp->answers.head;
    uint32_t left = request->tp.message_bytes, mtu_bytes = request->imm;
    bool is_first = request->flags & PACKET_FIRST, is_last = left <= mtu_bytes;
    uint32_t payload = is_last ? left : mtu_bytes;
    int64_t seq = qp->rcv_nxt + nic_ahead(qp, request->tp.psn);
    struct packet *pkt = pool_get(lp->pool);

    *pkt = (struct packet){
        .tp = {.src_qp = qp->id,
               .dst_qp = qp->peer,
               .flow_hash = qp->flow_hash,
               .psn = request->tp.psn,
               .message = qp->msn,
               .message_bytes = left},
        .dst_nic = qp->dst_nic,
        .size_bytes =
            nic_frame_bytes(config, payload, is_first || is_last ? AETH_BYTES : 0),
        .payload_bytes = (uint16_t)payload,
        .type = PACKET_READ_RESP,
        .tos = qp->tos,
        .cls = qp->cls,
        .flags = (uint8_t)((is_first ? PACKET_FIRST : 0) | (is_last ? PACKET_LAST : 0)),
        .ttl = config->ttl};
    if (seq >= qp->responses_to) {
        qp->responses_to = seq + 1;
        qp->responses_sent++;
        qp->payload_sent += payload;
    } else {
        pkt->flags |= PACKET_AGAIN;
        qp->retransmitted++;
    }
    request->flags &= (uint8_t)~PACKET_FIRST;
    request->tp.psn = (request->tp.psn + 1) & PSN_MASK;
    request->tp.message_bytes -= payload;
    if (is_last) {
        pool_put(lp->pool, queue_pop(&qp->answers));
    }
    return pkt;
}

void
nic_release_answers(struct lp *lp, struct qp *qp)
{
    while (qp->answers.head && qp->answers.head->type != PACKET_READ_REQ) {
        struct packet *pkt = queue_pop(&qp->answers);

        if (pkt->ready_ps < lp->now_ps) {
            pkt->ready_ps = lp->now_ps;
        }
        nic_answer(lp, qp->nic, pkt);
    }
    if (!qp->answers.head) {
        qp->special &= (uint8_t)~QP_ANSWERS;
    }
}
