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
qp_post_write(struct lp *lp, struct qp *qp, int64_t bytes, uint32_t id, bool has_imm,
              uint32_t imm)
{
    const struct nic_config *config = qp->nic->config;
    struct message *message = pool_get(lp->pool);
    int64_t n_pkts = (bytes + config->mtu_bytes - 1) / config->mtu_bytes;

    *message = (struct message){.bytes = bytes,
                                .first_seq = qp->snd_end,
                                .ready_ps = lp->now_ps + config->latency_ps,
                                .n_pkts = n_pkts ? (uint32_t)n_pkts : 1,
                                .id = id,
                                .imm = imm,
                                .has_imm = has_imm};
    qp->snd_end += message->n_pkts;
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

void
qp_set_pace(struct qp *qp)
{
    /* 8e12 x 2^16 is below 2^59; a full frame times the slowest pace
     * (1 Mb/s) below 2^52. */
    qp->pace_q16 = (uint64_t)(8 * PS_PER_S << 16) / (uint64_t)qp->rate.rate_bps;
}

int64_t
qp_rate_bps(struct qp *qp, int64_t now_ps)
{
    const struct nic_config *config = qp->nic->config;

    config->cc->sync(qp->cc_state, config->cc_params, now_ps, &qp->rate);
    return qp->rate.rate_bps;
}

uint16_t
qp_udp_source_port(uint32_t local_qpn, uint32_t remote_qpn)
{
    uint64_t fl = (uint64_t)local_qpn * remote_qpn;

    fl ^= fl >> 20;
    fl ^= fl >> 40;
    fl &= 0xFFFFF;
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
