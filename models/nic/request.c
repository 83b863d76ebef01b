/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * request.c - the requester: ACKs, NAKs, CNPs and the local ACK timeout.
 *
 * Sources: InfiniBand Architecture 1.4 vol. 1, 9.7.5 and 9.9 (ACK, retries).
 * Invariant: a QP has at most one KIND_ACK_TIMER event queued.
 */
#include <config.h>

#include "models/nic/inner.h"
#include "models/packet.h"

void
nic_queue_ack_timer__(struct lp *lp, struct qp *qp, int64_t at_ps)
{
    qp->timer_queued = true;
    lp_at(lp, at_ps, event_key(PHASE_TIMER, qp->id, KIND_ACK_TIMER, false), qp);
}

/* READs asked for to their end before 'cur'. */
static uint8_t
count_reads(const struct qp *qp)
{
    uint8_t n = 0;

    for (const struct message *m = qp->oldest; m && m != qp->cur; m = m->next) {
        n = (uint8_t)(n + (m->verb == QP_READ));
    }
    return n;
}

void
nic_go_back(struct qp *qp, int64_t seq)
{
    qp->snd_nxt = seq;
    qp->cur = nic_message_of(qp, seq);
    qp->since_ack_req = 0;
    if (unlikely(qp->special & QP_READS)) {
        qp->reads_out = count_reads(qp);
    }
    if (unlikely(qp->sr != NULL)) {
        nic_sr_forget_lost(qp);
    }
}

void
nic_fail(struct qp *qp)
{
    qp->failed = qp->halted = true;
    qp->nic->n_qp_errors++;
}

void
nic_acknowledge(struct lp *lp, struct qp *qp, int64_t seq, int64_t n_pkts)
{
    const struct nic_config *config = qp->nic->config;

    qp->snd_una = seq;
    qp->retries = qp->rnr_tries = 0;
    if (qp->snd_nxt < seq) {
        nic_go_back(qp,
                    seq); /* forward, in fact: what was to be sent again has arrived */
    }
    nic_restart_ack_timer(lp, qp);
    if (config->cc->on_ack && n_pkts) {
        const struct cc_ack ack = {.now_ps = lp->now_ps,
                                   .acked_bytes = n_pkts * config->mtu_bytes};

        config->cc->on_ack(qp->cc_state, config->cc_params, &ack, &qp->rate);
        qp_set_pace(qp);
    }
    while (qp->oldest && qp->oldest->first_seq + qp->oldest->n_pkts <= seq) {
        struct message *message = qp->oldest;
        uint32_t id = message->id;

        qp->oldest = message->next;
        if (unlikely(message->verb == QP_READ)) {
            qp->reads_out--;
        }
        pool_put(lp->pool, message);
        nic_up(lp, qp, UP_SENT, id, 0, 0);
    }
}

/* Go-back-N: an answer says that all before 'seq' has come.  Responses that are missing there
 * are lost.  Returns false when the answer has been dealt with by that. */
static bool
hear_of(struct lp *lp, struct qp *qp, int64_t seq)
{
    if (unlikely(qp->special & QP_READS)) {
        int64_t unread = nic_first_unread(qp);

        if (unread < seq) {
            nic_miss_response(lp, qp, unread);
            return false;
        }
    }
    if (seq > qp->snd_una) {
        nic_acknowledge(lp, qp, seq, seq - qp->snd_una);
    }
    return true;
}

/* What an answer up to 'seq' acknowledges where chunks are acknowledged as wholes: the
 * chunks of its message, of which the last one ends with it. */
static int64_t
whole_chunks(const struct qp *qp, int64_t seq)
{
    uint32_t chunk_pkts = qp->nic->config->chunk_pkts;
    const struct message *message = nic_message_of(qp, seq);

    return message ? seq - (seq - message->first_seq) % chunk_pkts : seq;
}

void
nic_receive_ack(struct lp *lp, struct qp *qp, uint32_t psn)
{
    int64_t next = nic_seq_of(qp, psn) + 1;

    if (unlikely(qp->nic->config->chunk_pkts)) {
        next = whole_chunks(qp, next);
    }
    if (next > qp->snd_una && next <= qp->snd_max) {
        if (unlikely(qp->sr != NULL)) {
            nic_sr_acknowledge(lp, qp, next);
        } else if (!hear_of(lp, qp, next)) {
            return;
        }
        nic_activate(lp, qp);
    } else if (unlikely(qp->nic->scan.list)) {
        nic_serve(lp, qp->nic); /* any answer has it look */
    }
}

void
nic_receive_nak(struct lp *lp, struct qp *qp, uint32_t psn)
{
    int64_t seq = nic_seq_of(qp, psn);

    if (unlikely(qp->nic->config->chunk_pkts)) {
        seq = whole_chunks(qp, seq);
    }
    if (seq < qp->snd_una || seq >= qp->snd_max) {
        return;
    }
    qp->naks_received++;
    if (!hear_of(lp, qp, seq)) {
        return;
    }
    if (seq < qp->snd_nxt) {
        nic_go_back(qp, seq);
    }
    nic_activate(lp, qp);
}

void
nic_receive_cnp(struct qp *qp, int64_t now_ps)
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
        nic_queue_ack_timer__(lp, qp, qp->ack_deadline_ps);
        return;
    }
    /* Gone back and not sent again yet: its pace or a pause holds it up, and no
     * answer can be missing.  Sending starts the timer anew.  A dead link of its own
     * is no such excuse. */
    if ((qp->snd_nxt == qp->snd_una || (qp->sr && nic_sr_is_waiting(qp))) &&
        !(qp->nic->port->special & PORT_DOWN)) {
        return;
    }
    qp->timeouts++;
    if (qp->retries >= config->retry_count) {
        nic_fail(qp);
        return;
    }
    qp->retries++;
    if (config->cc->on_timeout) {
        config->cc->on_timeout(qp->cc_state, config->cc_params, lp->now_ps, &qp->rate);
        qp_set_pace(qp);
    }
    if (unlikely(qp->sr != NULL)) {
        nic_sr_timeout(qp);
    } else {
        nic_go_back(qp, qp->snd_una);
    }
    nic_restart_ack_timer(lp, qp);
    nic_activate(lp, qp);
}
