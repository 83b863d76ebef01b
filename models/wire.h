/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wire.h - the exact bytes of a frame: RoCEv2 over IPv4 and IPv6, RoCEv1, PFC.
 *
 * wire_decode() reads bytes into a struct wire_frame, wire_encode() is the inverse: every
 * frame that decodes with WIRE_OK encodes into the same bytes.  Lengths, the checksum of
 * the IPv4 header and the ICRC are no fields: they follow from the others, are made when
 * encoding and checked when decoding.  Bytes begin at the destination address and end
 * before the FCS, as captures have them.
 *
 * Numbers are host order.  Knows no packet, port or network: see net_wire.h.
 *
 * Sources: InfiniBand Architecture 1.4 vol. 1 chapters 5, 7.8.1, 9 and annexes A16, A17;
 * RFC 768, 791, 8200; IEEE 802.1Q-2018 clauses 9 and 36, IEEE 802.3 annex 31D.
 */
#ifndef ROCESIM_MODELS_WIRE_H
#define ROCESIM_MODELS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_UDP_PORT 4791
#define WIRE_PAYLOAD_MAX 4096 /* the largest InfiniBand MTU */
/* Ethernet, VLAN, IPv6, UDP, BTH, RETH, ImmDt or the longer AtomicETH, pad, ICRC. */
#define WIRE_HEADERS_MAX (14 + 4 + 40 + 8 + 12 + 28 + 3 + 4)
#define WIRE_FRAME_MAX (WIRE_HEADERS_MAX + WIRE_PAYLOAD_MAX)
#define WIRE_FRAME_MIN 60 /* without FCS; shorter ones are padded with zeros */
#define WIRE_CLASSES 8

/* What follows Ethernet. */
enum wire_kind {
    WIRE_ROCE_V2_IPV4,
    WIRE_ROCE_V2_IPV6,
    WIRE_ROCE_V1, /* a GRH, which looks like IPv6, and no UDP */
    WIRE_PFC,
};

/* Operations of BTH.opcode; transport << 5 | operation (IBA vol. 1, 9.2.1, table 38). */
enum wire_opcode {
    WIRE_RC_SEND_FIRST = 0x00,
    WIRE_RC_SEND_MIDDLE = 0x01,
    WIRE_RC_SEND_LAST = 0x02,
    WIRE_RC_SEND_LAST_IMM = 0x03,
    WIRE_RC_SEND_ONLY = 0x04,
    WIRE_RC_SEND_ONLY_IMM = 0x05,
    WIRE_RC_WRITE_FIRST = 0x06,
    WIRE_RC_WRITE_MIDDLE = 0x07,
    WIRE_RC_WRITE_LAST = 0x08,
    WIRE_RC_WRITE_LAST_IMM = 0x09,
    WIRE_RC_WRITE_ONLY = 0x0A,
    WIRE_RC_WRITE_ONLY_IMM = 0x0B,
    WIRE_RC_READ_REQUEST = 0x0C,
    WIRE_RC_READ_FIRST = 0x0D, /* response, likewise the next three */
    WIRE_RC_READ_MIDDLE = 0x0E,
    WIRE_RC_READ_LAST = 0x0F,
    WIRE_RC_READ_ONLY = 0x10,
    WIRE_RC_ACK = 0x11, /* NAK and RNR NAK, too */
    WIRE_RC_ATOMIC_ACK = 0x12,
    WIRE_RC_COMPARE_SWAP = 0x13,
    WIRE_RC_FETCH_ADD = 0x14,
    WIRE_RC_SEND_LAST_INVALIDATE = 0x16,
    WIRE_RC_SEND_ONLY_INVALIDATE = 0x17,
    WIRE_UC = 0x20, /* or-ed to RC's SEND and WRITE */
    WIRE_UD_SEND_ONLY = 0x64,
    WIRE_UD_SEND_ONLY_IMM = 0x65,
    WIRE_CNP = 0x81,
    WIRE_SACK = 0xC0, /* of the manufacturer's: models/nic/retx_sr.c */
};

/* What follows BTH in frames of an opcode, in this order. */
enum wire_header {
    WIRE_DETH = 1,
    WIRE_RETH = 2,
    WIRE_ATOMIC = 4,
    WIRE_AETH = 8,
    WIRE_ATOMIC_ACK = 16,
    WIRE_IMMDT = 32,
    WIRE_IETH = 64,
    WIRE_CNP_RESERVED = 128, /* 16 bytes */
    WIRE_PAYLOAD = 256,      /* payload and pad, of any length */
};

/* AETH.syndrome: its type, and the error of a NAK (IBA vol. 1, 9.7.5.2.1). */
#define WIRE_ACK_NO_CREDITS 0x1F /* what a responder with a shared receive queue says */
#define WIRE_RNR 0x20            /* | the timer's code */
#define WIRE_NAK_SEQUENCE 0x60
#define WIRE_SYNDROME_TYPE 0x60

/* Why bytes are no frame. */
enum wire_error {
    WIRE_OK,
    WIRE_BAD_ICRC,        /* all fields are there; likewise the next */
    WIRE_BAD_IP_CHECKSUM, /* of the IPv4 header */
    WIRE_TRUNCATED,       /* shorter than its headers or lengths say */
    WIRE_TRAILER,         /* bytes follow that are no padding */
    WIRE_ETHERTYPE,       /* neither IP, RoCEv1 nor MAC control */
    WIRE_IP_VERSION,
    WIRE_IP_OPTIONS, /* or extension headers */
    WIRE_IP_FRAGMENT,
    WIRE_NO_UDP,
    WIRE_NO_ROCE_PORT,
    WIRE_LENGTHS, /* of IP and UDP contradict each other */
    WIRE_OPCODE_UNKNOWN,
    WIRE_PAYLOAD_LENGTH, /* too long, too short for its pad, or none is allowed */
    WIRE_MAC_CONTROL,    /* no PFC frame, or not of its shape */
};

/* VLAN tag (802.1Q 9.6). */
struct wire_vlan {
    bool present;
    uint8_t pcp; /* 3 bit */
    bool dei;
    uint16_t vid; /* 12 bit */
};

/* IPv4, IPv6 or GRH. */
struct wire_ip {
    uint8_t src[16], dst[16]; /* IPv4: the first four */
    uint8_t tos;              /* DSCP << 2 | ECN; IPv6: traffic class */
    uint8_t ttl;              /* IPv6: hop limit */
    uint16_t id;              /* IPv4 only; likewise the next */
    bool dont_fragment;
    uint32_t flow_label; /* not IPv4; 20 bit */
};

struct wire_udp {
    uint16_t src_port, dst_port;
    uint16_t checksum; /* RoCE sends 0; not checked */
};

/* Base transport header (IBA vol. 1, 9.2). */
struct wire_bth {
    uint8_t opcode; /* enum wire_opcode */
    bool solicited, mig_req;
    uint8_t pad_bytes; /* 0 to 3 */
    uint8_t version;   /* 4 bit */
    uint16_t pkey;
    bool fecn, becn;
    uint8_t reserved6, reserved7; /* beside FECN and BECN, beside AckReq */
    uint32_t dest_qp, psn;        /* 24 bit */
    bool ack_req;
};

/* A frame.  Which parts are valid say 'kind' and the headers of bth.opcode. */
struct wire_frame {
    uint8_t dst_mac[6], src_mac[6];
    struct wire_vlan vlan;
    enum wire_kind kind;
    union {
        struct {
            struct wire_ip ip;
            struct wire_udp udp;
            struct wire_bth bth;
            struct {
                uint32_t qkey, src_qp;
                uint8_t reserved;
            } deth;
            struct {
                uint64_t va;
                uint32_t rkey, dma_bytes;
            } reth;
            struct {
                uint64_t va;
                uint32_t rkey;
                uint64_t swap_add, compare;
            } atomic;
            struct {
                uint8_t syndrome;
                uint32_t msn; /* 24 bit */
            } aeth;
            uint64_t atomic_ack; /* the value before */
            uint32_t imm;
            uint32_t invalidate_rkey; /* IETH */
            uint8_t cnp_reserved[16];
            uint16_t payload_bytes;
            /* Borrowed: payload_bytes + pad_bytes; NULL: zeros.  Decoded: into the
             * bytes that were given. */
            const uint8_t *payload;
        };
        struct {
            uint16_t classes; /* class-enable vector */
            uint16_t quanta[WIRE_CLASSES];
        } pfc;
    };
    uint16_t trailer_bytes; /* zeros that pad a short frame */
};

/* Headers (enum wire_header) of frames with 'opcode'; 0: it is none that is known.  The
 * name, "RC_WRITE_FIRST" for one, or NULL. */
uint16_t wire_headers(uint8_t opcode);
const char *wire_opcode_name(uint8_t opcode);

/* Reads 'n' bytes.  '*frame' is whole for WIRE_OK, WIRE_BAD_ICRC and WIRE_BAD_IP_CHECKSUM,
 * else not to be used. */
enum wire_error wire_decode(const uint8_t *bytes, size_t n, struct wire_frame *frame);

/* What is wrong, in words; "" for WIRE_OK. */
const char *wire_error_text(enum wire_error error);

/* Length of 'frame'. */
size_t wire_bytes(const struct wire_frame *frame);

/* Writes 'frame', whose fields are in range and whose opcode is known, into 'bytes', of
 * which no more than the first 'limit' are needed: a payload beyond is not copied and an
 * ICRC beyond not computed.  Returns wire_bytes(). */
size_t wire_encode(const struct wire_frame *frame, uint8_t bytes[WIRE_FRAME_MAX],
                   size_t limit);

/* ICRC of the 'n' bytes of a RoCE frame that ends with its ICRC: what should stand there,
 * as the number that is sent least byte first.  'ip_at': offset of the IP header or GRH. */
uint32_t wire_icrc(const uint8_t *bytes, size_t n, size_t ip_at, enum wire_kind kind);

#endif
