/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wire.c - bytes to frames and back; see wire.h.
 *
 * Headers are read and written field by field, most significant byte first; only the ICRC
 * goes least significant byte first (IBA vol. 1, 7.8.1 and its example in annex A17).
 */
#include <config.h>

#include "models/wire.h"

#include <string.h>

#include <zlib.h>

#define ETHERNET_BYTES 14
#define VLAN_TAG_BYTES 4
#define IPV4_HEADER_BYTES 20
#define IPV6_HEADER_BYTES 40
#define UDP_BYTES 8
#define BTH_BYTES 12
#define ICRC_BYTES 4
#define PFC_BYTES (ETHERNET_BYTES + 4 + 2 * WIRE_CLASSES)
/* Padded: 60 bytes, or 64 where a tag has been added since (802.1Q, annex G). */
#define PADDED_MAX (WIRE_FRAME_MIN + VLAN_TAG_BYTES)

enum { TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86DD, TYPE_VLAN = 0x8100 };
enum { TYPE_MAC_CONTROL = 0x8808, TYPE_ROCE_V1 = 0x8915 };
enum { CONTROL_PFC = 0x0101 };
enum { PROTOCOL_UDP = 17, PROTOCOL_IBA = 0x1B };
enum { IP_DONT_FRAGMENT = 0x4000 };

/* ---- opcodes -------------------------------------------------------------------------- */

struct opcode_row {
    const char *name;
    uint16_t headers;
};

/* SEND and WRITE exist on both RC and UC. */
#define BOTH(operation, headers)                                                         \
    [WIRE_RC_##operation] = {"RC_" #operation, headers},                                 \
    [WIRE_UC | WIRE_RC_##operation] = {"UC_" #operation, headers}

static const struct opcode_row opcode_rows[256] = {
    BOTH(SEND_FIRST, WIRE_PAYLOAD),
    BOTH(SEND_MIDDLE, WIRE_PAYLOAD),
    BOTH(SEND_LAST, WIRE_PAYLOAD),
    BOTH(SEND_LAST_IMM, WIRE_IMMDT | WIRE_PAYLOAD),
    BOTH(SEND_ONLY, WIRE_PAYLOAD),
    BOTH(SEND_ONLY_IMM, WIRE_IMMDT | WIRE_PAYLOAD),
    BOTH(WRITE_FIRST, WIRE_RETH | WIRE_PAYLOAD),
    BOTH(WRITE_MIDDLE, WIRE_PAYLOAD),
    BOTH(WRITE_LAST, WIRE_PAYLOAD),
    BOTH(WRITE_LAST_IMM, WIRE_IMMDT | WIRE_PAYLOAD),
    BOTH(WRITE_ONLY, WIRE_RETH | WIRE_PAYLOAD),
    BOTH(WRITE_ONLY_IMM, WIRE_RETH | WIRE_IMMDT | WIRE_PAYLOAD),
    [WIRE_RC_READ_REQUEST] = {"RC_READ_REQUEST", WIRE_RETH},
    [WIRE_RC_READ_FIRST] = {"RC_READ_FIRST", WIRE_AETH | WIRE_PAYLOAD},
    [WIRE_RC_READ_MIDDLE] = {"RC_READ_MIDDLE", WIRE_PAYLOAD},
    [WIRE_RC_READ_LAST] = {"RC_READ_LAST", WIRE_AETH | WIRE_PAYLOAD},
    [WIRE_RC_READ_ONLY] = {"RC_READ_ONLY", WIRE_AETH | WIRE_PAYLOAD},
    [WIRE_RC_ACK] = {"RC_ACK", WIRE_AETH},
    [WIRE_RC_ATOMIC_ACK] = {"RC_ATOMIC_ACK", WIRE_AETH | WIRE_ATOMIC_ACK},
    [WIRE_RC_COMPARE_SWAP] = {"RC_COMPARE_SWAP", WIRE_ATOMIC},
    [WIRE_RC_FETCH_ADD] = {"RC_FETCH_ADD", WIRE_ATOMIC},
    [WIRE_RC_SEND_LAST_INVALIDATE] = {"RC_SEND_LAST_INVALIDATE",
                                      WIRE_IETH | WIRE_PAYLOAD},
    [WIRE_RC_SEND_ONLY_INVALIDATE] = {"RC_SEND_ONLY_INVALIDATE",
                                      WIRE_IETH | WIRE_PAYLOAD},
    [WIRE_UD_SEND_ONLY] = {"UD_SEND_ONLY", WIRE_DETH | WIRE_PAYLOAD},
    [WIRE_UD_SEND_ONLY_IMM] = {"UD_SEND_ONLY_IMM", WIRE_DETH | WIRE_IMMDT | WIRE_PAYLOAD},
    [WIRE_CNP] = {"CNP", WIRE_CNP_RESERVED},
    /* The offset stands where ImmDt does, the bitmap where AtomicAckETH does. */
    [WIRE_SACK] = {"SACK", WIRE_AETH | WIRE_ATOMIC_ACK | WIRE_IMMDT},
};

#undef BOTH

uint16_t
wire_headers(uint8_t opcode)
{
    return opcode_rows[opcode].headers;
}

const char *
wire_opcode_name(uint8_t opcode)
{
    return opcode_rows[opcode].name;
}

/* Bytes of extension headers. */
static size_t
headers_bytes(uint16_t headers)
{
    static const struct {
        uint16_t header, bytes;
    } of[] = {{WIRE_DETH, 8}, {WIRE_RETH, 16},        {WIRE_ATOMIC, 28},
              {WIRE_AETH, 4}, {WIRE_ATOMIC_ACK, 8},   {WIRE_IMMDT, 4},
              {WIRE_IETH, 4}, {WIRE_CNP_RESERVED, 16}};
    size_t bytes = 0;

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        bytes += headers & of[i].header ? of[i].bytes : 0;
    }
    return bytes;
}

/* ---- checks --------------------------------------------------------------------------- */

/* Of the IPv4 header at 'ip', as if its checksum field were 0 (RFC 791, 1071). */
static uint16_t
ipv4_checksum(const uint8_t *ip)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < IPV4_HEADER_BYTES; i += 2) {
        sum += i == 10 ? 0 : (uint32_t)(ip[i] << 8 | ip[i + 1]);
    }
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

/* Ones in place of what routers may change (IBA annex A17.3.3); 'bth' is its offset. */
static void
mask_variant(uint8_t *head, size_t bth, enum wire_kind kind)
{
    if (kind == WIRE_ROCE_V2_IPV4) {
        head[1] = 0xFF;             /* DSCP and ECN */
        head[8] = 0xFF;             /* TTL */
        head[10] = head[11] = 0xFF; /* checksum */
    } else {
        head[0] |= 0x0F; /* traffic class and flow label */
        head[1] = head[2] = head[3] = 0xFF;
        head[7] = 0xFF; /* hop limit */
    }
    if (kind != WIRE_ROCE_V1) {
        head[bth - 2] = head[bth - 1] = 0xFF; /* UDP checksum */
    }
    head[bth + 4] = 0xFF; /* FECN, BECN, reserved */
}

uint32_t
wire_icrc(const uint8_t *bytes, size_t n, size_t ip_at, enum wire_kind kind)
{
    static const uint8_t no_lrh[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    uint8_t head[IPV6_HEADER_BYTES + UDP_BYTES + BTH_BYTES];
    size_t ip = kind == WIRE_ROCE_V2_IPV4 ? IPV4_HEADER_BYTES : IPV6_HEADER_BYTES;
    size_t bth = ip + (kind == WIRE_ROCE_V1 ? 0 : UDP_BYTES);
    size_t n_head = bth + BTH_BYTES;
    uLong crc = crc32(0, no_lrh, sizeof no_lrh);

    memcpy(head, bytes + ip_at, n_head);
    mask_variant(head, bth, kind);
    crc = crc32(crc, head, (uInt)n_head);
    return (uint32_t)crc32(crc, bytes + ip_at + n_head,
                           (uInt)(n - ip_at - n_head - ICRC_BYTES));
}

/* ---- reading -------------------------------------------------------------------------- */

/* What is left to be read; who reads has checked that it is enough. */
struct reader {
    const uint8_t *at, *end;
};

static size_t
left(const struct reader *in)
{
    return (size_t)(in->end - in->at);
}

static uint64_t
get(struct reader *in, size_t n_bytes)
{
    uint64_t value = 0;

    while (n_bytes-- > 0) {
        value = value << 8 | *in->at++;
    }
    return value;
}

static uint8_t
get8(struct reader *in)
{
    return *in->at++;
}

static uint16_t
get16(struct reader *in)
{
    return (uint16_t)get(in, 2);
}

static uint32_t
get32(struct reader *in)
{
    return (uint32_t)get(in, 4);
}

static void
get_bytes(struct reader *in, void *to, size_t n_bytes)
{
    memcpy(to, in->at, n_bytes);
    in->at += n_bytes;
}

static enum wire_error
read_trailer(struct reader *in, size_t n_frame, struct wire_frame *frame)
{
    if (left(in) && n_frame > PADDED_MAX) {
        return WIRE_TRAILER;
    }
    frame->trailer_bytes = (uint16_t)left(in);
    while (in->at < in->end) {
        if (*in->at++ != 0) {
            return WIRE_TRAILER;
        }
    }
    return WIRE_OK;
}

/* '*n_inner': bytes behind the header that belong to it. */
static enum wire_error
read_ipv4(struct reader *in, struct wire_frame *frame, size_t *n_inner)
{
    const uint8_t *header = in->at;
    struct wire_ip *ip = &frame->ip;
    uint8_t first;
    uint16_t total, flags, checksum;
    bool is_udp;

    if (left(in) < IPV4_HEADER_BYTES) {
        return WIRE_TRUNCATED;
    }
    first = get8(in);
    ip->tos = get8(in);
    total = get16(in);
    ip->id = get16(in);
    flags = get16(in);
    ip->ttl = get8(in);
    is_udp = get8(in) == PROTOCOL_UDP;
    checksum = get16(in);
    get_bytes(in, ip->src, 4);
    get_bytes(in, ip->dst, 4);
    ip->dont_fragment = flags == IP_DONT_FRAGMENT;
    if (first >> 4 != 4) {
        return WIRE_IP_VERSION;
    }
    if ((first & 15) != IPV4_HEADER_BYTES / 4) {
        return WIRE_IP_OPTIONS;
    }
    if (flags & ~IP_DONT_FRAGMENT) {
        return WIRE_IP_FRAGMENT;
    }
    if (!is_udp) {
        return WIRE_NO_UDP;
    }
    if (total < IPV4_HEADER_BYTES) {
        return WIRE_LENGTHS;
    }
    *n_inner = total - (size_t)IPV4_HEADER_BYTES;
    return checksum == ipv4_checksum(header) ? WIRE_OK : WIRE_BAD_IP_CHECKSUM;
}

static enum wire_error
read_ipv6(struct reader *in, struct wire_frame *frame, size_t *n_inner)
{
    struct wire_ip *ip = &frame->ip;
    uint32_t first;
    uint8_t next;

    if (left(in) < IPV6_HEADER_BYTES) {
        return WIRE_TRUNCATED;
    }
    first = get32(in);
    ip->tos = (uint8_t)(first >> 20);
    ip->flow_label = first & 0xFFFFF;
    *n_inner = get16(in);
    next = get8(in);
    ip->ttl = get8(in);
    get_bytes(in, ip->src, 16);
    get_bytes(in, ip->dst, 16);
    if (first >> 28 != 6) {
        return WIRE_IP_VERSION;
    }
    if (next != (frame->kind == WIRE_ROCE_V1 ? PROTOCOL_IBA : PROTOCOL_UDP)) {
        return next == PROTOCOL_UDP || next == PROTOCOL_IBA ? WIRE_NO_UDP
                                                            : WIRE_IP_OPTIONS;
    }
    return WIRE_OK;
}

static enum wire_error
read_udp(struct reader *in, struct wire_frame *frame)
{
    size_t n = left(in);
    uint16_t length;

    if (n < UDP_BYTES) {
        return WIRE_LENGTHS;
    }
    frame->udp.src_port = get16(in);
    frame->udp.dst_port = get16(in);
    length = get16(in);
    frame->udp.checksum = get16(in);
    if (frame->udp.dst_port != WIRE_UDP_PORT) {
        return WIRE_NO_ROCE_PORT;
    }
    return length == n ? WIRE_OK : WIRE_LENGTHS;
}

static void
read_bth(struct reader *in, struct wire_bth *bth)
{
    uint8_t flags;

    bth->opcode = get8(in);
    flags = get8(in);
    bth->solicited = flags >> 7;
    bth->mig_req = flags >> 6 & 1;
    bth->pad_bytes = flags >> 4 & 3;
    bth->version = flags & 15;
    bth->pkey = get16(in);
    flags = get8(in);
    bth->fecn = flags >> 7;
    bth->becn = flags >> 6 & 1;
    bth->reserved6 = flags & 0x3F;
    bth->dest_qp = (uint32_t)get(in, 3);
    flags = get8(in);
    bth->ack_req = flags >> 7;
    bth->reserved7 = flags & 0x7F;
    bth->psn = (uint32_t)get(in, 3);
}

static void
read_extensions(struct reader *in, struct wire_frame *frame, uint16_t headers)
{
    if (headers & WIRE_DETH) {
        frame->deth.qkey = get32(in);
        frame->deth.reserved = get8(in);
        frame->deth.src_qp = (uint32_t)get(in, 3);
    }
    if (headers & WIRE_RETH) {
        frame->reth.va = get(in, 8);
        frame->reth.rkey = get32(in);
        frame->reth.dma_bytes = get32(in);
    }
    if (headers & WIRE_ATOMIC) {
        frame->atomic.va = get(in, 8);
        frame->atomic.rkey = get32(in);
        frame->atomic.swap_add = get(in, 8);
        frame->atomic.compare = get(in, 8);
    }
    if (headers & WIRE_AETH) {
        frame->aeth.syndrome = get8(in);
        frame->aeth.msn = (uint32_t)get(in, 3);
    }
    if (headers & WIRE_ATOMIC_ACK) {
        frame->atomic_ack = get(in, 8);
    }
    if (headers & WIRE_IMMDT) {
        frame->imm = get32(in);
    }
    if (headers & WIRE_IETH) {
        frame->invalidate_rkey = get32(in);
    }
    if (headers & WIRE_CNP_RESERVED) {
        get_bytes(in, frame->cnp_reserved, sizeof frame->cnp_reserved);
    }
}

/* What is left but the ICRC is payload and pad. */
static enum wire_error
read_payload(struct reader *in, struct wire_frame *frame, uint16_t headers)
{
    size_t n = left(in) - ICRC_BYTES;
    size_t pad = frame->bth.pad_bytes;

    if (n > (headers & WIRE_PAYLOAD ? WIRE_PAYLOAD_MAX : 0) || n % 4 != 0 || pad > n) {
        return WIRE_PAYLOAD_LENGTH;
    }
    frame->payload_bytes = (uint16_t)(n - pad);
    frame->payload = n ? in->at : NULL;
    in->at += n;
    return WIRE_OK;
}

/* BTH and all behind it; 'in' ends with the ICRC. */
static enum wire_error
read_transport(struct reader *in, struct wire_frame *frame)
{
    uint16_t headers;

    if (left(in) < BTH_BYTES + ICRC_BYTES) {
        return WIRE_LENGTHS;
    }
    read_bth(in, &frame->bth);
    headers = wire_headers(frame->bth.opcode);
    if (!headers) {
        return WIRE_OPCODE_UNKNOWN;
    }
    if (left(in) < headers_bytes(headers) + ICRC_BYTES) {
        return WIRE_LENGTHS;
    }
    read_extensions(in, frame, headers);
    return read_payload(in, frame, headers);
}

static uint32_t
icrc_sent(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

/* From the IP header or GRH on; the frame began at 'bytes'. */
static enum wire_error
read_roce(struct reader *in, const uint8_t *bytes, struct wire_frame *frame)
{
    size_t ip_at = (size_t)(in->at - bytes), n_inner = 0;
    enum wire_error error = frame->kind == WIRE_ROCE_V2_IPV4
                                ? read_ipv4(in, frame, &n_inner)
                                : read_ipv6(in, frame, &n_inner);
    bool bad_checksum = error == WIRE_BAD_IP_CHECKSUM;
    struct reader inner = {in->at, in->at + n_inner};

    if (error != WIRE_OK && !bad_checksum) {
        return error;
    }
    if (left(in) < n_inner) {
        return WIRE_TRUNCATED;
    }
    in->at += n_inner;
    error = frame->kind == WIRE_ROCE_V1 ? WIRE_OK : read_udp(&inner, frame);
    if (error == WIRE_OK) {
        error = read_transport(&inner, frame);
    }
    if (error == WIRE_OK) {
        error = read_trailer(in, (size_t)(in->end - bytes), frame);
    }
    if (error != WIRE_OK) {
        return error;
    }
    if (icrc_sent(inner.at) !=
        wire_icrc(bytes, (size_t)(inner.end - bytes), ip_at, frame->kind)) {
        return WIRE_BAD_ICRC;
    }
    return bad_checksum ? WIRE_BAD_IP_CHECKSUM : WIRE_OK;
}

static enum wire_error
read_pfc(struct reader *in, size_t n_frame, struct wire_frame *frame)
{
    frame->kind = WIRE_PFC;
    if (left(in) < PFC_BYTES - ETHERNET_BYTES) {
        return WIRE_TRUNCATED;
    }
    if (frame->vlan.present || get16(in) != CONTROL_PFC) {
        return WIRE_MAC_CONTROL;
    }
    frame->pfc.classes = get16(in);
    for (unsigned c = 0; c < WIRE_CLASSES; c++) {
        frame->pfc.quanta[c] = get16(in);
    }
    return read_trailer(in, n_frame, frame);
}

static void
read_vlan(struct reader *in, struct wire_vlan *vlan)
{
    uint16_t tag = get16(in);

    vlan->present = true;
    vlan->pcp = (uint8_t)(tag >> 13);
    vlan->dei = tag >> 12 & 1;
    vlan->vid = tag & 0xFFF;
}

enum wire_error
wire_decode(const uint8_t *bytes, size_t n, struct wire_frame *frame)
{
    struct reader in = {bytes, bytes + n};
    uint16_t type;

    *frame = (struct wire_frame){.trailer_bytes = 0};
    if (n < ETHERNET_BYTES + VLAN_TAG_BYTES) {
        return WIRE_TRUNCATED;
    }
    get_bytes(&in, frame->dst_mac, sizeof frame->dst_mac);
    get_bytes(&in, frame->src_mac, sizeof frame->src_mac);
    type = get16(&in);
    if (type == TYPE_VLAN) {
        read_vlan(&in, &frame->vlan);
        type = get16(&in);
    }
    switch (type) {
    case TYPE_IPV4:
        frame->kind = WIRE_ROCE_V2_IPV4;
        return read_roce(&in, bytes, frame);
    case TYPE_IPV6:
        frame->kind = WIRE_ROCE_V2_IPV6;
        return read_roce(&in, bytes, frame);
    case TYPE_ROCE_V1:
        frame->kind = WIRE_ROCE_V1;
        return read_roce(&in, bytes, frame);
    case TYPE_MAC_CONTROL:
        return read_pfc(&in, n, frame);
    default:
        return WIRE_ETHERTYPE;
    }
}

const char *
wire_error_text(enum wire_error error)
{
    switch (error) {
    case WIRE_OK:
        return "";
    case WIRE_BAD_ICRC:
        return "the ICRC is wrong";
    case WIRE_BAD_IP_CHECKSUM:
        return "the checksum of the IPv4 header is wrong";
    case WIRE_TRUNCATED:
        return "the frame ends too early";
    case WIRE_TRAILER:
        return "bytes follow the ICRC that are no padding";
    case WIRE_ETHERTYPE:
        return "the Ethernet type is none of IPv4, IPv6, RoCEv1 and MAC control";
    case WIRE_IP_VERSION:
        return "the IP version contradicts the Ethernet type";
    case WIRE_IP_OPTIONS:
        return "the IP header has options or extension headers";
    case WIRE_IP_FRAGMENT:
        return "the packet is an IP fragment";
    case WIRE_NO_UDP:
        return "the packet is no UDP, or in RoCEv1 no InfiniBand";
    case WIRE_NO_ROCE_PORT:
        return "the UDP destination port is not 4791";
    case WIRE_LENGTHS:
        return "the lengths of IP, UDP and InfiniBand headers contradict each other";
    case WIRE_OPCODE_UNKNOWN:
        return "the BTH opcode is none of RC, UC, UD or CNP";
    case WIRE_PAYLOAD_LENGTH:
        return "the payload has a length that its opcode or pad count does not allow";
    case WIRE_MAC_CONTROL:
        return "the MAC control frame is no PFC frame";
    }
    return "no such error";
}

/* ---- writing -------------------------------------------------------------------------- */

static uint8_t *
put(uint8_t *at, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        at[i] = (uint8_t)(value >> 8 * (n_bytes - 1 - i));
    }
    return at + n_bytes;
}

static uint8_t *
put_bytes(uint8_t *at, const void *from, size_t n_bytes)
{
    memcpy(at, from, n_bytes);
    return at + n_bytes;
}

static uint8_t *
put_ipv4(uint8_t *at, const struct wire_ip *ip, size_t n_inner)
{
    uint8_t *header = at;

    at = put(at, 0x40 | IPV4_HEADER_BYTES / 4, 1);
    at = put(at, ip->tos, 1);
    at = put(at, IPV4_HEADER_BYTES + n_inner, 2);
    at = put(at, ip->id, 2);
    at = put(at, ip->dont_fragment ? IP_DONT_FRAGMENT : 0, 2);
    at = put(at, ip->ttl, 1);
    at = put(at, PROTOCOL_UDP, 1);
    at = put(at, 0, 2);
    at = put_bytes(at, ip->src, 4);
    at = put_bytes(at, ip->dst, 4);
    put(header + 10, ipv4_checksum(header), 2);
    return at;
}

static uint8_t *
put_ipv6(uint8_t *at, const struct wire_frame *frame, size_t n_inner)
{
    const struct wire_ip *ip = &frame->ip;

    at = put(at, 6u << 28 | (uint32_t)ip->tos << 20 | ip->flow_label, 4);
    at = put(at, n_inner, 2);
    at = put(at, frame->kind == WIRE_ROCE_V1 ? PROTOCOL_IBA : PROTOCOL_UDP, 1);
    at = put(at, ip->ttl, 1);
    at = put_bytes(at, ip->src, 16);
    return put_bytes(at, ip->dst, 16);
}

static uint8_t *
put_udp(uint8_t *at, const struct wire_udp *udp, size_t length)
{
    at = put(at, udp->src_port, 2);
    at = put(at, udp->dst_port, 2);
    at = put(at, length, 2);
    return put(at, udp->checksum, 2);
}

static uint8_t *
put_bth(uint8_t *at, const struct wire_bth *bth)
{
    at = put(at, bth->opcode, 1);
    at = put(at,
             (unsigned)bth->solicited << 7 | (unsigned)bth->mig_req << 6 |
                 (unsigned)bth->pad_bytes << 4 | bth->version,
             1);
    at = put(at, bth->pkey, 2);
    at = put(at, (unsigned)bth->fecn << 7 | (unsigned)bth->becn << 6 | bth->reserved6, 1);
    at = put(at, bth->dest_qp, 3);
    at = put(at, (unsigned)bth->ack_req << 7 | bth->reserved7, 1);
    return put(at, bth->psn, 3);
}

static uint8_t *
put_extensions(uint8_t *at, const struct wire_frame *frame, uint16_t headers)
{
    if (headers & WIRE_DETH) {
        at = put(at, frame->deth.qkey, 4);
        at = put(at, frame->deth.reserved, 1);
        at = put(at, frame->deth.src_qp, 3);
    }
    if (headers & WIRE_RETH) {
        at = put(at, frame->reth.va, 8);
        at = put(at, frame->reth.rkey, 4);
        at = put(at, frame->reth.dma_bytes, 4);
    }
    if (headers & WIRE_ATOMIC) {
        at = put(at, frame->atomic.va, 8);
        at = put(at, frame->atomic.rkey, 4);
        at = put(at, frame->atomic.swap_add, 8);
        at = put(at, frame->atomic.compare, 8);
    }
    if (headers & WIRE_AETH) {
        at = put(at, frame->aeth.syndrome, 1);
        at = put(at, frame->aeth.msn, 3);
    }
    if (headers & WIRE_ATOMIC_ACK) {
        at = put(at, frame->atomic_ack, 8);
    }
    if (headers & WIRE_IMMDT) {
        at = put(at, frame->imm, 4);
    }
    if (headers & WIRE_IETH) {
        at = put(at, frame->invalidate_rkey, 4);
    }
    if (headers & WIRE_CNP_RESERVED) {
        at = put_bytes(at, frame->cnp_reserved, sizeof frame->cnp_reserved);
    }
    return at;
}

/* Payload and pad, no more than 'n_wanted' bytes of them copied. */
static uint8_t *
put_payload(uint8_t *at, const struct wire_frame *frame, size_t n_wanted)
{
    size_t n = (size_t)frame->payload_bytes + frame->bth.pad_bytes;
    size_t n_copied = n < n_wanted ? n : n_wanted;

    if (frame->payload) {
        memcpy(at, frame->payload, n_copied);
    } else {
        memset(at, 0, n_copied);
    }
    return at + n;
}

/* From BTH to ICRC. */
static size_t
transport_bytes(const struct wire_frame *frame)
{
    return BTH_BYTES + headers_bytes(wire_headers(frame->bth.opcode)) +
           frame->payload_bytes + frame->bth.pad_bytes + ICRC_BYTES;
}

static uint8_t *
put_roce(uint8_t *at, uint8_t *bytes, const struct wire_frame *frame, size_t limit)
{
    uint16_t headers = wire_headers(frame->bth.opcode);
    size_t ip_at = (size_t)(at - bytes), made;
    size_t n_transport = transport_bytes(frame);

    switch (frame->kind) {
    case WIRE_ROCE_V2_IPV4:
        at = put_ipv4(at, &frame->ip, UDP_BYTES + n_transport);
        at = put_udp(at, &frame->udp, UDP_BYTES + n_transport);
        break;
    case WIRE_ROCE_V2_IPV6:
        at = put_ipv6(at, frame, UDP_BYTES + n_transport);
        at = put_udp(at, &frame->udp, UDP_BYTES + n_transport);
        break;
    case WIRE_ROCE_V1:
    case WIRE_PFC: /* not here */
        at = put_ipv6(at, frame, n_transport);
        break;
    }
    at = put_bth(at, &frame->bth);
    at = put_extensions(at, frame, headers);
    made = (size_t)(at - bytes);
    at = put_payload(at, frame, limit > made ? limit - made : 0);
    made = (size_t)(at - bytes);
    if (limit > made) {
        uint32_t icrc = wire_icrc(bytes, made + ICRC_BYTES, ip_at, frame->kind);

        for (unsigned i = 0; i < ICRC_BYTES; i++) {
            at[i] = (uint8_t)(icrc >> 8 * i);
        }
    }
    return at + ICRC_BYTES;
}

static uint8_t *
put_pfc(uint8_t *at, const struct wire_frame *frame)
{
    at = put(at, CONTROL_PFC, 2);
    at = put(at, frame->pfc.classes, 2);
    for (unsigned c = 0; c < WIRE_CLASSES; c++) {
        at = put(at, frame->pfc.quanta[c], 2);
    }
    return at;
}

size_t
wire_bytes(const struct wire_frame *frame)
{
    size_t n = ETHERNET_BYTES + (frame->vlan.present ? (size_t)VLAN_TAG_BYTES : 0) +
               (size_t)frame->trailer_bytes;

    switch (frame->kind) {
    case WIRE_ROCE_V2_IPV4:
        return n + IPV4_HEADER_BYTES + UDP_BYTES + transport_bytes(frame);
    case WIRE_ROCE_V2_IPV6:
        return n + IPV6_HEADER_BYTES + UDP_BYTES + transport_bytes(frame);
    case WIRE_ROCE_V1:
        return n + IPV6_HEADER_BYTES + transport_bytes(frame);
    case WIRE_PFC:
        return n + PFC_BYTES - ETHERNET_BYTES;
    }
    return 0; /* no such kind */
}

size_t
wire_encode(const struct wire_frame *frame, uint8_t bytes[WIRE_FRAME_MAX], size_t limit)
{
    static const uint16_t types[] = {[WIRE_ROCE_V2_IPV4] = TYPE_IPV4,
                                     [WIRE_ROCE_V2_IPV6] = TYPE_IPV6,
                                     [WIRE_ROCE_V1] = TYPE_ROCE_V1,
                                     [WIRE_PFC] = TYPE_MAC_CONTROL};
    uint8_t *at = put_bytes(bytes, frame->dst_mac, sizeof frame->dst_mac);

    at = put_bytes(at, frame->src_mac, sizeof frame->src_mac);
    if (frame->vlan.present) {
        at = put(at, TYPE_VLAN, 2);
        at = put(at,
                 (unsigned)frame->vlan.pcp << 13 | (unsigned)frame->vlan.dei << 12 |
                     frame->vlan.vid,
                 2);
    }
    at = put(at, types[frame->kind], 2);
    at = frame->kind == WIRE_PFC ? put_pfc(at, frame) : put_roce(at, bytes, frame, limit);
    memset(at, 0, frame->trailer_bytes);
    return (size_t)(at - bytes) + frame->trailer_bytes;
}
