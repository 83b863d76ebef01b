/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * inner.h - what the files of a NIC share with each other and with nobody else.
 */
#ifndef ROCESIM_MODELS_NIC_INNER_H
#define ROCESIM_MODELS_NIC_INNER_H

#include "models/nic/nic.h"

/* What a workload is told of. */
enum nic_upcall { UP_SENT, UP_RECEIVED, UP_RECEIVED_IMM };

/* Tells the user of 'qp', after the way to memory. */
void nic_up(struct lp *lp, struct qp *qp, enum nic_upcall what, uint32_t id,
            int64_t bytes, uint32_t imm);

/* Takes the first answer of class 'cls' out of its queue. */
struct packet *nic_take_answer(struct nic *nic, unsigned cls);

/* 'pkt' (steals it) has come in, and the host is ready for it. */
void nic_receive(struct lp *lp, struct nic *nic, struct packet *pkt);

/* A packet has arrived for 'qp', the responder of a data packet, the requester of an
 * answer.  The caller keeps 'pkt'. */
void nic_receive_data(struct lp *lp, struct qp *qp, const struct packet *pkt);
void nic_receive_ack(struct lp *lp, struct qp *qp, uint32_t psn);
void nic_receive_nak(struct lp *lp, struct qp *qp, uint32_t psn);
void nic_receive_cnp(struct qp *qp, int64_t now_ps);

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
