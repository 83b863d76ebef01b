/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * inner.h - what the files of a NIC share with each other and with nobody else.
 */
#ifndef ROCESIM_MODELS_NIC_INNER_H
#define ROCESIM_MODELS_NIC_INNER_H

#include "models/nic/nic.h"

#define TTL_FIRST 64 /* what Linux and mlx5 send RoCEv2 with */

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
