/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rnr.c - receive WQEs, and what happens when there is none: RNR NAK, wait, retry.
 *
 * Every queue pair has nic.receive_queue receive WQEs.  The first packet of a SEND takes
 * one, the last packet of a WRITE with immediate data as well; nic.receive_delay after the
 * last bit of the message the WQE is posted again.  A message that finds none is refused
 * with an RNR NAK; the requester waits for what its timer code says and goes back to it,
 * nic.rnr_retry times in a row.
 *
 * Sources: InfiniBand Architecture 1.4 vol. 1, 9.7.5.2.8 (RNR NAK, retry counter), table 45
 * (timer codes, the same as in Linux drivers/infiniband/sw/rxe/rxe_comp.c).
 * Invariant: wqes_used <= receive_queue; a QP that waits for its RNR timer is halted.
 */
#include <config.h>

#include "models/nic/inner.h"

/* ---- responder ------------------------------------------------------------------------ */

static bool
takes_wqe(const struct packet *pkt, uint8_t where)
{
    uint8_t flags = pkt->flags;

    return flags & PACKET_SEND ? flags & where : flags & PACKET_IMM;
}

bool
nic_take_wqe(struct qp *qp, const struct packet *pkt)
{
    uint32_t n = qp->nic->config->receive_queue;

    if (!n || pkt->type != PACKET_DATA || !takes_wqe(pkt, PACKET_FIRST)) {
        return true;
    }
    if (qp->wqes_used == n) {
        return false;
    }
    qp->wqes_used++;
    return true;
}

static void
repost(struct lp *lp, struct pipe_item *item)
{
    ((struct qp *)item->to)->wqes_used--;
    pool_put(lp->pool, item);
}

void
nic_repost_wqe(struct lp *lp, struct qp *qp, const struct packet *pkt)
{
    if (!qp->nic->config->receive_queue || !takes_wqe(pkt, PACKET_LAST)) {
        return;
    }
    if (!qp->nic->reposts.latency_ps) {
        qp->wqes_used--;
        return;
    }
    struct pipe_item *item = pool_get(lp->pool);

    *item = (struct pipe_item){.deliver = repost, .to = qp};
    pipe_send(lp, &qp->nic->reposts, 0, item);
}

void
nic_send_rnr(struct lp *lp, struct qp *qp)
{
    struct packet *pkt = nic_make_answer(
        lp, qp, PACKET_RNR, (qp->psn_base_peer + (uint32_t)qp->rcv_nxt) & PSN_MASK);

    pkt->imm = qp->nic->config->rnr_timer;
    /* What follows is out of order until the refused packet comes again; no NAK for it. */
    qp->nak_sent = true;
    qp->nic->rnrs_sent++;
    nic_answer_in_turn(lp, qp, pkt);
}

/* ---- requester ------------------------------------------------------------------------ */

int64_t
nic_rnr_wait_ps(uint8_t code)
{
    static const int32_t waits_10us[32] = {
        65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
        48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
        2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

    return waits_10us[code % 32] * (10 * PS_PER_US);
}

void
nic_receive_rnr(struct lp *lp, struct qp *qp, const struct packet *pkt)
{
    const struct nic_config *config = qp->nic->config;
    int64_t seq = nic_seq_of(qp, pkt->tp.psn);

    if (seq < qp->snd_una || seq >= qp->snd_nxt || qp->halted) {
        return; /* late: what it refuses has come since, or is to be sent again anyway */
    }
    qp->rnrs_received++;
    if (qp->sr) {
        nic_sr_acknowledge(lp, qp, seq);
    } else {
        int64_t unread = nic_first_unread(qp);

        if (unread < seq) {
            nic_miss_response(lp, qp, unread);
            return;
        }
        if (seq > qp->snd_una) {
            nic_acknowledge(lp, qp, seq, seq - qp->snd_una);
        }
    }
    if (config->rnr_retry != RNR_FOR_EVER && qp->rnr_tries >= config->rnr_retry) {
        nic_fail(qp);
        return;
    }
    if (config->rnr_retry != RNR_FOR_EVER) {
        qp->rnr_tries++;
    }
    nic_go_back(qp, seq);
    qp->halted = true;
    lp_at(lp, lp->now_ps + nic_rnr_wait_ps((uint8_t)pkt->imm),
          event_key(PHASE_TIMER, qp->id, KIND_RNR_TIMER, false), qp);
}

void
nic_rnr_timer(struct lp *lp, struct qp *qp)
{
    if (!qp->failed) {
        qp->halted = false;
        nic_activate(lp, qp);
    }
}
