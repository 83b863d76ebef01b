/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nic.c - what arrives at a NIC, and what it tells its users.
 * Called by net.c; send.c, respond.c and request.c do the work.  A packet made here is
 * owned until it is on the wire; one that arrives is freed.
 */
#include <config.h>

#include "models/nic/nic.h"

#include "models/nic/drain.h"
#include "models/nic/inner.h"
#include "models/packet.h"

static void
call_up(struct lp *lp, struct qp *qp, unsigned what, uint32_t id, int64_t bytes,
        uint32_t imm)
{
    if (what == UP_SENT) {
        qp->user->sent(qp->user_ctx, lp, qp, id);
    } else {
        qp->user->received(qp->user_ctx, lp, qp, id, bytes, what == UP_RECEIVED_IMM, imm);
    }
}

static void
deliver_up(struct lp *lp, struct pipe_item *item)
{
    struct qp *qp = item->to;
    unsigned what = (unsigned)item->word[0];
    uint32_t id = (uint32_t)item->word[1], imm = (uint32_t)item->word[3];
    int64_t bytes = (int64_t)item->word[2];

    pool_put(lp->pool, item);
    call_up(lp, qp, what, id, bytes, imm);
}

void
nic_up(struct lp *lp, struct qp *qp, enum nic_upcall what, uint32_t id, int64_t bytes,
       uint32_t imm)
{
    if (!qp->nic->up.latency_ps) {
        call_up(lp, qp, what, id, bytes, imm);
        return;
    }
    struct pipe_item *item = pool_get(lp->pool);

    *item = (struct pipe_item){
        .deliver = deliver_up, .to = qp, .word = {what, id, (uint64_t)bytes, imm}};
    pipe_send(lp, &qp->nic->up, 0, item);
}

/* An answer may stand for a CNP. */
static inline void
hear_echo(const struct lp *lp, struct qp *qp, const struct packet *pkt)
{
    if (unlikely(pkt->flags & PACKET_ECHO)) {
        nic_receive_cnp(qp, lp->now_ps);
    }
}

static inline void
receive(struct lp *lp, struct nic *nic, struct packet *pkt)
{
    struct qp *qp = &nic->qps[pkt->tp.dst_qp];

    switch ((enum packet_type)pkt->type) {
    case PACKET_DATA:
        if (unlikely(nic_receive_data(lp, qp, pkt))) {
            return;
        }
        break;
    case PACKET_READ_REQ:
        if (nic_receive_read(lp, qp, pkt)) {
            return;
        }
        break;
    case PACKET_READ_RESP:
        nic_receive_response(lp, qp, pkt);
        break;
    case PACKET_ACK:
        hear_echo(lp, qp, pkt);
        nic_receive_ack(lp, qp, pkt->tp.psn);
        break;
    case PACKET_NAK:
        hear_echo(lp, qp, pkt);
        nic_receive_nak(lp, qp, pkt->tp.psn);
        break;
    case PACKET_RNR:
        nic_receive_rnr(lp, qp, pkt);
        break;
    case PACKET_SACK:
        nic_receive_sack(lp, qp, pkt);
        break;
    case PACKET_CNP:
        nic_receive_cnp(qp, lp->now_ps);
        break;
    case PACKET_PFC: /* never gets here */
        break;
    }
    pool_put(lp->pool, pkt);
}

void
nic_receive(struct lp *lp, struct nic *nic, struct packet *pkt)
{
    receive(lp, nic, pkt);
}

void
nic_arrive(struct lp *lp, struct port *in, struct packet *pkt)
{
    struct nic *nic = in->owner;

    if (unlikely(in->special) && !port_special_arrival(lp, in, pkt)) {
        return;
    }
    if (unlikely(pkt->type == PACKET_PFC)) {
        port_hear_pause(lp, in, pkt);
        pool_put(lp->pool, pkt);
        nic_serve(lp, nic);
        return;
    }
    struct in_class *account = &in->in[pkt->cls];

    account->rx_pkts++;
    account->rx_bytes += pkt->size_bytes;
    if (unlikely(nic->has_drain) && pkt->payload_bytes && drain_takes(lp, nic, pkt)) {
        return;
    }
    receive(lp, nic, pkt);
}

void
nic_port_down(struct lp *lp, struct port *port)
{
    struct nic *nic = port->owner;

    for (unsigned cls = 0; cls < N_CLASSES; cls++) {
        while (port->out[cls].queue.head) {
            port->stats[cls].lost_down++;
            pool_put(lp->pool, nic_take_answer(nic, cls));
        }
        /* The peer has forgotten our pause, too. */
        port->in[cls].xoff = false;
    }
    port_forget_pauses(port);
}
