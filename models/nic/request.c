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
    nic_restart_ack_timer(lp, qp);
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
        nic_up(lp, qp, UP_SENT, id, 0, 0);
    }
}

/* Count of the packet with 'psn', which is near the oldest unacknowledged one. */
static int64_t
seq_of(const struct qp *qp, uint32_t psn)
{
    return qp->snd_una + psn_diff(psn, (qp->psn_base + (uint32_t)qp->snd_una) & PSN_MASK);
}

/* What an answer up to 'seq' acknowledges where chunks are acknowledged as wholes: the
 * chunks of its message, of which the last one ends with it. */
static int64_t
whole_chunks(const struct qp *qp, int64_t seq)
{
    uint32_t chunk_pkts = qp->nic->config->chunk_pkts;
    const struct message *message = qp->oldest;

    while (message && seq >= message->first_seq + message->n_pkts) {
        message = message->next;
    }
    return message ? seq - (seq - message->first_seq) % chunk_pkts : seq;
}

void
nic_receive_ack(struct lp *lp, struct qp *qp, uint32_t psn)
{
    int64_t next = seq_of(qp, psn) + 1;

    if (unlikely(qp->nic->config->chunk_pkts)) {
        next = whole_chunks(qp, next);
    }
    if (next > qp->snd_una && next <= qp->snd_max) {
        acknowledge(lp, qp, next);
        nic_activate(lp, qp);
    } else if (unlikely(qp->nic->scan.list)) {
        nic_serve(lp, qp->nic); /* any answer has it look */
    }
}

void
nic_receive_nak(struct lp *lp, struct qp *qp, uint32_t psn)
{
    int64_t seq = seq_of(qp, psn);

    if (unlikely(qp->nic->config->chunk_pkts)) {
        seq = whole_chunks(qp, seq);
    }
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
    nic_restart_ack_timer(lp, qp);
    nic_activate(lp, qp);
}
