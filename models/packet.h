/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * packet.h - a packet in flight: one cache line, taken from the pool of its process.
 *
 * It carries what switches and NICs look at.  What they never look at (addresses, UDP
 * ports, virtual address, rkey) follows from the QPs and is made only for a capture.
 * A packet has one owner at a time; passing it on passes ownership.
 *
 * Sizes: InfiniBand Architecture 1.4 vol. 1 annex A17 (RoCEv2), IEEE 802.3 clause 3.
 */
#ifndef ROCESIM_MODELS_PACKET_H
#define ROCESIM_MODELS_PACKET_H

#include <assert.h>

#include "sim/pool.h"

#define N_CLASSES 8

/* Bytes on the wire that belong to no frame: preamble and SFD before, gap after. */
#define WIRE_PREAMBLE_BYTES 8
#define WIRE_GAP_BYTES 12
#define WIRE_EXTRA_BYTES (WIRE_PREAMBLE_BYTES + WIRE_GAP_BYTES)

#define FRAME_MIN_BYTES 64
/* Ethernet II 14, UDP 8, BTH 12, ICRC 4, FCS 4; the IP header comes on top. */
#define FRAME_FIXED_BYTES (14 + 8 + 12 + 4 + 4)
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define VLAN_BYTES 4
#define RETH_BYTES 16
#define AETH_BYTES 4
#define IMMDT_BYTES 4
#define CNP_PAD_BYTES 16
#define MTU_MAX_BYTES 4096
/* What a NAK of a selective repeat has more than another: nic/retx_sr.c. */
#define SACK_BYTES 12
/* Largest frame: IPv6, VLAN, RETH and ImmDt on a full packet. */
#define FRAME_MAX_BYTES                                                                  \
    (FRAME_FIXED_BYTES + IPV6_BYTES + VLAN_BYTES + RETH_BYTES + IMMDT_BYTES +            \
     MTU_MAX_BYTES)

/* How payload becomes a frame and a frame occupies the wire: `wire` of a scenario. */
enum wire_format {
    WIRE_ROCE, /* RoCEv2 over Ethernet: the sizes above */
    WIRE_HPCC, /* the HPCC ns-3 simulator: the sizes below, nothing between frames, and
                * every time on the wire a picosecond short (its clock truncates) */
};

/* PPP 14, IP 20, UDP 8, sequence number and class 6; an ACK or NACK is 60 in all; a pause
 * frame is PPP 14, IP 20, 9.  Source: HPCC, custom-header.cc, rdma-hw.cc, pause-header.cc
 * as docs/hpcc.md lists them. */
#define HPCC_DATA_BYTES 48
/* Largest payload of a packet there; SimAI has 9000. */
#define HPCC_MTU_MAX_BYTES 9216
#define HPCC_ACK_BYTES 60
#define HPCC_PFC_BYTES 43

/* PSNs are 24 bit and compared over half that range (IBA vol. 1, 9.7.2). */
#define PSN_MASK 0xFFFFFFu

/* What a frame is. */
enum packet_type {
    PACKET_DATA,      /* RDMA WRITE or SEND, any position */
    PACKET_READ_RESP, /* RDMA READ response, any position */
    PACKET_READ_REQ,  /* asks for tp.message_bytes from tp.psn on; 'imm': MTU */
    PACKET_ACK,
    PACKET_NAK,  /* PSN sequence error */
    PACKET_RNR,  /* receiver not ready; 'imm': timer code */
    PACKET_SACK, /* PSNs missing in a selective repeat: see packet_set_missing() */
    PACKET_CNP,
    PACKET_PFC,
};

/* Bits of packet.flags, but in pause frames. */
enum packet_flag {
    PACKET_FIRST = 1,   /* first packet of its message */
    PACKET_LAST = 2,    /* last packet of its message */
    PACKET_ACK_REQ = 4, /* BTH.AckReq */
    PACKET_IMM = 8,     /* the message ends with immediate data */
    PACKET_AGAIN = 16,  /* a retransmission */
    PACKET_SEND = 32,   /* of a SEND, not of a WRITE */
    PACKET_ECHO = 128, /* an answer that says its request was marked: in place of a CNP */
};

/* ECN field of the ToS byte (RFC 3168). */
enum { ECN_NOT_ECT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };

/* What a transport packet has and a pause frame has not. */
struct packet_transport {
    uint32_t src_qp, dst_qp; /* dense ids of the network, not QPNs */
    uint32_t flow_hash;      /* of the 5-tuple, without a switch's seed */
    uint32_t psn;            /* 24 bit */
    uint32_t message; /* data: sender's name of the message, for upcalls; not on the wire.
                         Answers: AETH.MSN, its low 24 bit */
    uint32_t message_bytes; /* RETH.DMALen: up to 1 GiB */
};

/* What a pause frame has (IEEE 802.1Q-2018 clause 36, 802.3 annex 31D). */
struct packet_pause {
    int64_t displace_ps; /* see port.h: the committed frame behind comes later by this */
    uint16_t quanta[N_CLASSES]; /* in 512 bit times; 0: resume */
};

/* From a pool; all fields set by who makes it. */
struct packet {
    struct packet *next; /* in a queue */
    int64_t ready_ps;    /* in an egress queue: earliest start of transmission */
    union {
        struct packet_transport tp;
        struct packet_pause pause;
    };
    uint32_t dst_nic;    /* dense id: what routes are by */
    uint32_t imm;        /* immediate data */
    uint32_t sent_tick;  /* data: start of transmission at the sender, packet_tick() */
    uint16_t in_port;    /* within the switch: whose account it is charged to */
    uint16_t size_bytes; /* frame with FCS */
    uint16_t payload_bytes;
    uint8_t type;  /* enum packet_type */
    uint8_t tos;   /* DSCP << 2 | ECN */
    uint8_t cls;   /* traffic class here */
    uint8_t flags; /* enum packet_flag; for a pause frame the class-enable vector */
    uint8_t ttl;
};

static_assert(sizeof(struct packet) == POOL_ITEM_BYTES, "a packet is one cache line");

/* A time in units of 2^10 ps, modulo 2^32 (4.4 s): what a packet carries to tell how long
 * it was under way. */
#define PACKET_TICK_BITS 10

static inline uint32_t
packet_tick(int64_t time_ps)
{
    return (uint32_t)((uint64_t)time_ps >> PACKET_TICK_BITS);
}

/* A PACKET_SACK: all before tp.psn has come, and of the 64 packets from that PSN plus
 * 'imm' on those are missing whose bit in 'bits' is set. */
static inline void
packet_set_missing(struct packet *pkt, uint32_t offset, uint64_t bits)
{
    pkt->imm = offset;
    pkt->tp.message = (uint32_t)bits;
    pkt->tp.message_bytes = (uint32_t)(bits >> 32);
}

static inline uint64_t
packet_missing(const struct packet *pkt)
{
    return (uint64_t)pkt->tp.message_bytes << 32 | pkt->tp.message;
}

/* Does 'pkt' carry PSNs of its own: data, a response or a request?  What faults count. */
static inline bool
packet_has_psn(const struct packet *pkt)
{
    return pkt->type <= PACKET_READ_REQ;
}

static inline bool
packet_is_marked(const struct packet *pkt)
{
    return (pkt->tos & 3) == ECN_CE;
}

static inline uint8_t
packet_dscp(const struct packet *pkt)
{
    return pkt->tos >> 2;
}

/* Bytes of the frame of a packet with these parts, FCS included, padded to the minimum.
 * 'headers_bytes': extension headers.  'ip_bytes': IPv4_BYTES or IPV6_BYTES. */
static inline uint16_t
packet_frame_bytes(uint32_t payload_bytes, uint32_t headers_bytes, uint32_t ip_bytes,
                   uint32_t vlan_bytes)
{
    uint32_t padded = (payload_bytes + 3) & ~3u; /* BTH.PadCnt */
    uint32_t frame = FRAME_FIXED_BYTES + ip_bytes + vlan_bytes + headers_bytes + padded;

    return (uint16_t)(frame < FRAME_MIN_BYTES ? FRAME_MIN_BYTES : frame);
}

/* 'psn' minus 'base' over the 24-bit circle: -2^23 to 2^23 - 1. */
static inline int32_t
psn_diff(uint32_t psn, uint32_t base)
{
    return (int32_t)((psn - base) << 8) >> 8;
}

#endif
