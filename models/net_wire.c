/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_wire.c - packets to frames, see net_wire.h.
 *
 * What the model does not know follows from what it does:
 *   MAC addresses   02:00 (locally administered), then the number of the port: every hop
 *                   of a routed fabric has its own two
 *   IP addresses    10.0.0.1 and on, by NIC; IPv6: fd00::/8 (RFC 4193) and the same 32 bits
 *   IPv4 id         the PSN: any value will do with DF set (RFC 6864)
 *   UDP source port, flow label   from the QP numbers, as Linux does
 *   VLAN            a priority tag: VID 0 (802.1Q 9.6), PCP the traffic class
 *   P_Key           0xFFFF, the default; MigReq 1 but in CNPs, as mlx5 sends them
 *   BECN            1 in CNPs (annex A17.9.3)
 *   MSN             what the responder put into the answer's 'message'; 0 in a SACK
 *   credits         none said
 *   RKey            one memory region for each receiving QP: its number, then 8 bits of key
 *   VA              that region is written from its begin to its end, a full packet for each
 *                   PSN: so a message has one address whenever it is sent
 *   payload         zeros
 */
#include <config.h>

#include "models/net_wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FCS_BYTES 4
#define PKEY_DEFAULT 0xFFFF
#define RKEY_KEY_BITS 8
/* Where mmap() of Linux on x86-64 puts what is large; below 2^47 with all that may follow:
 * 2^24 packets of 4 KiB. */
#define VA_FIRST UINT64_C(0x7F0000000000)

static const uint8_t pfc_address[6] = {0x01, 0x80, 0xC2, 0x00, 0x00, 0x01};

/* What a type of packet is in BTH: by position in its message, and its AETH. */
struct type_row {
    uint8_t opcode[4]; /* middle, first, last, only: flags & (FIRST | LAST) */
    uint8_t syndrome;
};

#define ALWAYS(opcode)                                                                   \
    {                                                                                    \
        opcode, opcode, opcode, opcode                                                   \
    }
#define ROW(...)                                                                         \
    return (struct type_row)                                                             \
    {                                                                                    \
        __VA_ARGS__                                                                      \
    }

/* A new type is one line here. */
static struct type_row
row_of(const struct packet *pkt)
{
    switch ((enum packet_type)pkt->type) {
    case PACKET_DATA:
        if (pkt->flags & PACKET_SEND) {
            ROW({WIRE_RC_SEND_MIDDLE, WIRE_RC_SEND_FIRST, WIRE_RC_SEND_LAST,
                 WIRE_RC_SEND_ONLY},
                0);
        }
        ROW({WIRE_RC_WRITE_MIDDLE, WIRE_RC_WRITE_FIRST, WIRE_RC_WRITE_LAST,
             WIRE_RC_WRITE_ONLY},
            0);
    case PACKET_READ_REQ:
        ROW(ALWAYS(WIRE_RC_READ_REQUEST), 0);
    case PACKET_READ_RESP:
        ROW({WIRE_RC_READ_MIDDLE, WIRE_RC_READ_FIRST, WIRE_RC_READ_LAST,
             WIRE_RC_READ_ONLY},
            WIRE_ACK_NO_CREDITS);
    case PACKET_RNR:
        ROW(ALWAYS(WIRE_RC_ACK), (uint8_t)(WIRE_RNR | pkt->imm));
    case PACKET_SACK:
        ROW(ALWAYS(WIRE_SACK), WIRE_NAK_SEQUENCE);
    case PACKET_ACK:
        ROW(ALWAYS(WIRE_RC_ACK), WIRE_ACK_NO_CREDITS);
    case PACKET_NAK:
        ROW(ALWAYS(WIRE_RC_ACK), WIRE_NAK_SEQUENCE);
    case PACKET_CNP:
        ROW(ALWAYS(WIRE_CNP), 0);
    case PACKET_PFC: /* has no BTH */
        break;
    }
    abort();
}

static_assert(PACKET_FIRST == 1 && PACKET_LAST == 2, "they index a row's opcodes");

static uint8_t
opcode_of(const struct packet *pkt)
{
    unsigned position = pkt->flags & (PACKET_FIRST | PACKET_LAST);
    uint8_t opcode = row_of(pkt).opcode[position];

    /* SEND and WRITE, last and only: the next operation is the same with ImmDt. */
    return pkt->flags & PACKET_LAST && pkt->flags & PACKET_IMM ? opcode + 1 : opcode;
}

static void
put_number(uint8_t *to, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++) {
        to[i] = (uint8_t)(number >> (24 - 8 * i));
    }
}

static void
fill_mac(uint8_t mac[6], uint32_t port)
{
    mac[0] = 0x02;
    mac[1] = 0;
    put_number(mac + 2, port);
}

static void
fill_address(uint8_t address[16], const struct net *net, const struct nic *nic,
             bool is_v6)
{
    uint32_t number = net_ip_of_nic((uint32_t)(nic - net->nics));

    if (is_v6) {
        address[0] = 0xFD;
        put_number(address + 12, number);
    } else {
        put_number(address, number);
    }
}

static void
fill_bth(const struct qp *dst, const struct packet *pkt, struct wire_bth *bth)
{
    bool is_cnp = pkt->type == PACKET_CNP;

    *bth = (struct wire_bth){.opcode = opcode_of(pkt),
                             .mig_req = !is_cnp,
                             .pad_bytes = (uint8_t)(-pkt->payload_bytes & 3),
                             .pkey = PKEY_DEFAULT,
                             .becn = is_cnp,
                             .dest_qp = dst->qpn,
                             .ack_req = pkt->flags & PACKET_ACK_REQ,
                             .psn = pkt->tp.psn};
}

static void
fill_extensions(const struct qp *src, const struct packet *pkt, struct wire_frame *frame)
{
    uint16_t headers = wire_headers(frame->bth.opcode);

    if (headers & WIRE_RETH) {
        uint32_t count = (pkt->tp.psn - src->psn_base) & PSN_MASK;

        frame->reth.va = VA_FIRST + (uint64_t)count * src->nic->config->mtu_bytes;
        frame->reth.rkey = (src->peer + 1) << RKEY_KEY_BITS;
        frame->reth.dma_bytes = pkt->tp.message_bytes;
    }
    if (headers & WIRE_AETH) {
        frame->aeth.syndrome = row_of(pkt).syndrome;
        frame->aeth.msn = pkt->type == PACKET_SACK ? 0 : pkt->tp.message & PSN_MASK;
    }
    if (headers & WIRE_IMMDT) {
        frame->imm = pkt->imm;
    }
    if (headers & WIRE_ATOMIC_ACK) {
        frame->atomic_ack = packet_missing(pkt);
    }
}

static void
fill_transport(const struct net *net, const struct packet *pkt, struct wire_frame *frame)
{
    const struct qp *src = &net->qps[pkt->tp.src_qp], *dst = &net->qps[pkt->tp.dst_qp];
    bool is_v6 = src->nic->config->ip_bytes == IPV6_BYTES;

    frame->kind = is_v6 ? WIRE_ROCE_V2_IPV6 : WIRE_ROCE_V2_IPV4;
    if (src->nic->config->vlan_bytes) {
        frame->vlan = (struct wire_vlan){.present = true, .pcp = pkt->cls};
    }
    frame->ip.tos = pkt->tos;
    frame->ip.ttl = pkt->ttl;
    frame->ip.id = (uint16_t)pkt->tp.psn;
    frame->ip.dont_fragment = true;
    frame->ip.flow_label = qp_flow_label(src->qpn, dst->qpn);
    fill_address(frame->ip.src, net, src->nic, is_v6);
    fill_address(frame->ip.dst, net, dst->nic, is_v6);
    frame->udp.src_port = src->src_port;
    frame->udp.dst_port = src->dst_port;
    fill_bth(dst, pkt, &frame->bth);
    fill_extensions(src, pkt, frame);
    frame->payload_bytes = pkt->payload_bytes;
}

void
net_wire_frame(const struct net *net, uint32_t from, const struct packet *pkt,
               struct wire_frame *frame)
{
    size_t n_bytes;

    *frame = (struct wire_frame){.kind = WIRE_PFC};
    fill_mac(frame->src_mac, from);
    if (pkt->type == PACKET_PFC) {
        memcpy(frame->dst_mac, pfc_address, sizeof pfc_address);
        frame->pfc.classes = pkt->flags;
        memcpy(frame->pfc.quanta, pkt->pause.quanta, sizeof frame->pfc.quanta);
    } else {
        fill_mac(frame->dst_mac, net->ports[from].peer);
        fill_transport(net, pkt, frame);
    }
    n_bytes = wire_bytes(frame) + FCS_BYTES;
    assert(n_bytes <= pkt->size_bytes);
    frame->trailer_bytes = (uint16_t)(pkt->size_bytes - n_bytes);
}
