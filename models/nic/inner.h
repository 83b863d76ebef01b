/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * inner.h - what the files of a NIC share with each other and with nobody else.
 */
#ifndef ROCESIM_MODELS_NIC_INNER_H
#define ROCESIM_MODELS_NIC_INNER_H

#include "models/nic/nic.h"
#include "models/nic/retx_sr.h"
#include "models/packet.h"

/* What a workload is told of. */
enum nic_upcall { UP_SENT, UP_RECEIVED, UP_RECEIVED_IMM };

/* Tells the user of 'qp', after the way to memory. */
void nic_up(struct lp *lp, struct qp *qp, enum nic_upcall what, uint32_t id,
            int64_t bytes, uint32_t imm);

/* Takes the first answer out of queue 'q' of the port. */
struct packet *nic_take_answer(struct nic *nic, unsigned q);

/* Bit q: queue q of the port holds answers, and no pause holds them up. */
static inline uint8_t
nic_open_answers(const struct nic *nic, int64_t now_ps)
{
    const struct nic_config *config = nic->config;
    uint8_t ready = nic->port->ready;

    return config->answers_first && !config->answers_pausable
               ? ready
               : port_unpaused(nic->port, ready, now_ps);
}

/* Sends the next packet of 'qp', which has one, from 'start_ps' on.  Returns its bytes. */
uint32_t nic_send_data(struct lp *lp, struct nic *nic, struct qp *qp, int64_t start_ps);

/* 'pkt' (steals it) has come in, and the host is ready for it. */
void nic_receive(struct lp *lp, struct nic *nic, struct packet *pkt);

/* A packet has arrived for 'qp', the responder of a request, the requester of an answer.
 * The caller keeps 'pkt', unless the return value is true: it has been kept. */
bool nic_receive_data(struct lp *lp, struct qp *qp, struct packet *pkt);
bool nic_receive_read(struct lp *lp, struct qp *qp, struct packet *pkt);
void nic_receive_response(struct lp *lp, struct qp *qp, const struct packet *pkt);
void nic_receive_ack(struct lp *lp, struct qp *qp, uint32_t psn);
void nic_receive_nak(struct lp *lp, struct qp *qp, uint32_t psn);
void nic_receive_sack(struct lp *lp, struct qp *qp, const struct packet *pkt);
void nic_receive_rnr(struct lp *lp, struct qp *qp, const struct packet *pkt);
void nic_receive_cnp(struct qp *qp, int64_t now_ps);

/* ---- send.c --------------------------------------------------------------------------- */

/* Makes the next data packet of 'qp', which has one and is to send no READ. */
struct packet *nic_make_data(struct lp *lp, struct qp *qp);

/* Makes packet 'seq' of 'message' once more. */
struct packet *nic_make_data_again(struct lp *lp, struct qp *qp,
                                   const struct message *message, int64_t seq);

/* ---- turn.c --------------------------------------------------------------------------- */

/* When a QP with 'special' could send its next packet, its pace aside; 0: at once,
 * TIME_NEVER_PS: it has none. */
int64_t nic_turn_ready_ps(const struct qp *qp);

/* Makes that packet, of which one is ready at 'start_ps'. */
struct packet *nic_turn_make(struct lp *lp, struct qp *qp, int64_t start_ps);

/* ---- request.c ------------------------------------------------------------------------ */

/* Count of the packet with 'psn', which is near the oldest unacknowledged one. */
static inline int64_t
nic_seq_of(const struct qp *qp, uint32_t psn)
{
    return qp->snd_una + psn_diff(psn, (qp->psn_base + (uint32_t)qp->snd_una) & PSN_MASK);
}

/* The message not complete that holds packet 'seq', NULL when there is none. */
static inline struct message *
nic_message_of(const struct qp *qp, int64_t seq)
{
    struct message *message = qp->oldest;

    while (message && seq >= message->first_seq + message->n_pkts) {
        message = message->next;
    }
    return message;
}

/* Goes back to packet 'seq', which is not acknowledged: sends all from there on. */
void nic_go_back(struct qp *qp, int64_t seq);

/* Everything before packet 'seq' is acknowledged, or received in the case of READs;
 * 'n_pkts' of it by ACKs. */
void nic_acknowledge(struct lp *lp, struct qp *qp, int64_t seq, int64_t n_pkts);

/* 'qp' has used up its retries. */
void nic_fail(struct qp *qp);

/* ---- respond.c ------------------------------------------------------------------------ */

/* Count of the packet with 'psn' at the responder minus that of the one expected. */
static inline int32_t
nic_ahead(const struct qp *qp, uint32_t psn)
{
    return psn_diff(psn, (qp->psn_base_peer + (uint32_t)qp->rcv_nxt) & PSN_MASK);
}

/* An answer of 'qp' that says 'psn'. */
struct packet *nic_make_answer(struct lp *lp, const struct qp *qp, uint8_t type,
                               uint32_t psn);

/* Sends answer 'pkt' (steals it) as soon as the wire allows; the second one: behind the
 * responses that come before it. */
void nic_answer(struct lp *lp, struct nic *nic, struct packet *pkt);
void nic_answer_in_turn(struct lp *lp, struct qp *qp, struct packet *pkt);

/* Acknowledges all that has come; asks for what has not, once, or once in
 * nack_interval_ps.  'is_marked': the request it answers came marked. */
void nic_send_ack(struct lp *lp, struct qp *qp, bool is_marked);
void nic_send_nak(struct lp *lp, struct qp *qp, bool is_marked);

/* A packet with payload has come in: its latency, its mark; a mark alone. */
void nic_note_data(struct lp *lp, struct qp *qp, const struct packet *pkt);

void nic_note_mark(struct lp *lp, struct qp *qp);

/* Takes 'pkt', data or a READ request, which is the one expected; with 'acks' answers it
 * where it asks for that.  Returns false when there is no receive WQE for it: refused, and
 * still the caller's.  '*kept': as nic_receive_data(). */
bool nic_take_request(struct lp *lp, struct qp *qp, struct packet *pkt, bool acks,
                      bool *kept);

/* ---- rnr.c ---------------------------------------------------------------------------- */

/* Takes a receive WQE for 'pkt' if it needs one; false: there is none. */
bool nic_take_wqe(struct qp *qp, const struct packet *pkt);

/* 'pkt' has been received: its message may have used up a receive WQE. */
void nic_repost_wqe(struct lp *lp, struct qp *qp, const struct packet *pkt);

void nic_send_rnr(struct lp *lp, struct qp *qp);

/* ---- read.c --------------------------------------------------------------------------- */

/* PSNs that a READ of 'bytes' takes. */
static inline uint32_t
nic_read_psns(uint32_t bytes, uint32_t mtu_bytes)
{
    return bytes ? (bytes + mtu_bytes - 1) / mtu_bytes : 1;
}

/* May the READ that is next be asked for? */
bool nic_may_read(const struct qp *qp);

/* Asks for 'n_psns' PSNs of READ 'message' from 'seq' on. */
struct packet *nic_make_read(struct lp *lp, struct qp *qp, const struct message *message,
                             int64_t seq, int64_t n_psns);

/* Asks for the READ that is next, or the rest of it. */
struct packet *nic_make_next_read(struct lp *lp, struct qp *qp);

/* Takes READ request 'pkt' (steals it), the one expected; one that came before. */
void nic_accept_read(struct lp *lp, struct qp *qp, struct packet *pkt);
void nic_repeat_read(struct lp *lp, struct qp *qp, struct packet *pkt);

/* Makes the next response of 'qp', which has one. */
struct packet *nic_make_response(struct lp *lp, struct qp *qp);

/* Sends the answers whose turn has come, after a response. */
void nic_release_answers(struct lp *lp, struct qp *qp);

/* Where the first response is missing that a requester waits for; INT64_MAX: nowhere. */
int64_t nic_first_unread(const struct qp *qp);

/* Go-back-N: the answers say that the responses from 'seq' on are lost. */
void nic_miss_response(struct lp *lp, struct qp *qp, int64_t seq);

/* ---- retx_sr.c: only where qp->sr is there -------------------------------------------- */

/* A request has arrived: as nic_receive_data(). */
bool nic_sr_receive(struct lp *lp, struct qp *qp, struct packet *pkt, int32_t ahead);

/* A response of a READ has, packet 'seq'. */
void nic_sr_receive_response(struct lp *lp, struct qp *qp, const struct packet *pkt,
                             int64_t seq);

/* All requests before 'seq' have come to the responder. */
void nic_sr_acknowledge(struct lp *lp, struct qp *qp, int64_t seq);

/* Is the oldest packet to be sent again, and has not been yet? */
bool nic_sr_is_waiting(const struct qp *qp);

/* The ACK timeout has come. */
void nic_sr_timeout(struct qp *qp);

/* All is sent again from here on: forgets what was to be. */
void nic_sr_forget_lost(struct qp *qp);

/* Makes the first packet that is to be sent again; one there is. */
struct packet *nic_sr_make_again(struct lp *lp, struct qp *qp);

/* Private: queues KIND_ACK_TIMER. */
void nic_queue_ack_timer__(struct lp *lp, struct qp *qp, int64_t at_ps);

/* The oldest unacknowledged packet of 'qp' is another one, or has been sent again. */
static inline void
nic_restart_ack_timer(struct lp *lp, struct qp *qp)
{
    int64_t timeout_ps = qp->nic->config->ack_timeout_ps;

    qp->ack_deadline_ps = lp->now_ps + timeout_ps;
    if (unlikely(!qp->timer_queued) && timeout_ps) {
        nic_queue_ack_timer__(lp, qp, qp->ack_deadline_ps);
    }
}

#endif
