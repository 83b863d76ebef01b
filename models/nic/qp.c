/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * qp.c - posting and the counts of a queue pair.  What goes on the wire is nic.c's.
 * Invariant: snd_una <= snd_nxt <= snd_max <= snd_end; 'cur' holds snd_nxt or is NULL
 * when snd_nxt = snd_end.
 */
#include <config.h>

#include "models/nic/qp.h"

#include <stdlib.h>

#include "models/nic/nic.h"

void
qp_post(struct lp *lp, struct qp *qp, enum qp_verb verb, int64_t bytes, uint32_t id,
        uint32_t imm)
{
    const struct nic_config *config = qp->nic->config;
    struct message *message = pool_get(lp->pool);
    bool is_send = verb == QP_SEND || verb == QP_SEND_IMM;
    int64_t n_pkts = (bytes + config->mtu_bytes - 1) / config->mtu_bytes;

    *message = (struct message){.bytes = bytes,
                                .first_seq = qp->snd_end,
                                .ready_ps = lp->now_ps + config->latency_ps,
                                .n_pkts = n_pkts ? (uint32_t)n_pkts : 1,
                                .id = id,
                                .imm = imm,
                                .verb = (uint8_t)verb,
                                .first_bytes = is_send ? 0 : RETH_BYTES,
                                .flags = is_send ? PACKET_SEND : 0,
                                .has_imm = verb == QP_WRITE_IMM || verb == QP_SEND_IMM};
    qp->snd_end += message->n_pkts;
    qp->special |= verb == QP_READ ? QP_READS : 0;
    if (qp->oldest) {
        qp->newest->next = message;
    } else {
        qp->oldest = message;
    }
    qp->newest = message;
    if (!qp->cur) {
        qp->cur = message;
    }
    nic_activate(lp, qp);
}

static int64_t
paced_bps(const struct qp *qp)
{
    return qp->nic->config->keeps_line_rate ? qp->nic->port->rate_bps : qp->rate.rate_bps;
}

/* floor(window x rate / line rate), not below 1; a window of up to 2^40 bytes. */
static void
vary_window(struct qp *qp)
{
    int64_t line_bps = qp->nic->port->rate_bps, mtu_bytes = qp->nic->config->mtu_bytes;
    int64_t bytes = (int64_t)((__int128)qp->window_bytes * qp->rate.rate_bps / line_bps);

    bytes = bytes > 0 ? bytes : 1;
    qp->window_pkts = (uint32_t)((bytes + mtu_bytes - 1) / mtu_bytes);
}

void
qp_post_write(struct lp *lp, struct qp *qp, int64_t bytes, uint32_t id, bool has_imm,
              uint32_t imm)
{
    qp_post(lp, qp, has_imm ? QP_WRITE_IMM : QP_WRITE, bytes, id, imm);
}

void
qp_set_pace(struct qp *qp)
{
    /* 8e12 x 2^16 is below 2^59; a full frame times the slowest pace
     * (1 Mb/s) below 2^52. */
    qp->pace_q16 = (uint64_t)(8 * PS_PER_S << 16) / (uint64_t)paced_bps(qp);
    if (unlikely(qp->window_bytes) && qp->nic->config->window_varies) {
        vary_window(qp);
    }
}

void
qp_begin_gap(struct qp *qp, int64_t now_ps, uint32_t wire_bytes)
{
    const struct nic_config *config = qp->nic->config;
    int64_t gap_ps = (int64_t)(wire_bytes * qp->pace_q16 >> 16);

    if (unlikely(config->exact_gap)) {
        gap_ps = sim_tx_time_ps(wire_bytes, paced_bps(qp)) - 1;
    }
    qp->next_send_ps = now_ps + gap_ps;
    qp->is_slow = gap_ps >= config->slow_gap_ps;
}

void
qp_change_gap(struct qp *qp, int64_t now_ps)
{
    uint64_t before_q16 = qp->pace_q16;
    int64_t left_ps = qp->next_send_ps - now_ps;

    qp_set_pace(qp);
    if (qp->is_slow && left_ps > 0 && qp->pace_q16 != before_q16) {
        /* A gap is below 2^36 ps (a jumbo frame at 1 Mb/s), a pace below 2^39. */
        qp->next_send_ps =
            now_ps + (int64_t)((unsigned __int128)left_ps * qp->pace_q16 / before_q16);
    }
}

int64_t
qp_look_ps(const struct qp *qp)
{
    const struct nic_config *config = qp->nic->config;

    return config->cc->next_ps ? config->cc->next_ps(qp->cc_state, config->cc_params)
                               : TIME_NEVER_PS;
}

void
qp_catch_up(struct qp *qp, int64_t now_ps)
{
    const struct nic_config *config = qp->nic->config;

    if (qp->is_slow) {
        int64_t at_ps;

        while ((at_ps = qp_look_ps(qp)) < now_ps && at_ps < qp->next_send_ps) {
            config->cc->sync(qp->cc_state, config->cc_params, at_ps, &qp->rate);
            qp_change_gap(qp, at_ps);
        }
    }
    config->cc->sync(qp->cc_state, config->cc_params, now_ps, &qp->rate);
    qp_change_gap(qp, now_ps);
}

int64_t
qp_rate_bps(struct qp *qp, int64_t now_ps)
{
    qp_catch_up(qp, now_ps);
    return qp->rate.rate_bps;
}

uint32_t
qp_flow_label(uint32_t local_qpn, uint32_t remote_qpn)
{
    uint64_t fl = (uint64_t)local_qpn * remote_qpn;

    fl ^= fl >> 20;
    fl ^= fl >> 40;
    return fl & 0xFFFFF;
}

uint16_t
qp_udp_source_port(uint32_t local_qpn, uint32_t remote_qpn)
{
    uint32_t fl = qp_flow_label(local_qpn, remote_qpn);

    return (uint16_t)(((fl & 0x3FFF) ^ (fl >> 14)) | 0xC000);
}

void
qp_check(const struct qp *qp)
{
    bool in_order = 0 <= qp->snd_una && qp->snd_una <= qp->snd_nxt &&
                    qp->snd_nxt <= qp->snd_max && qp->snd_max <= qp->snd_end;
    bool at_end = qp->snd_nxt == qp->snd_end;

    if (!in_order || at_end != (qp->cur == NULL)) {
        abort();
    }
    if (qp->cur && (qp->snd_nxt < qp->cur->first_seq ||
                    qp->snd_nxt >= qp->cur->first_seq + qp->cur->n_pkts)) {
        abort();
    }
}
