/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_wire.c - frames decode and encode into the same bytes: captures of Soft-RoCE and of
 * a ConnectX, and what is made by hand; what is no frame is refused.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <glib.h>

#include "models/wire.h"
#include "tests/support/data.h"
#include "tests/support/pcap_file.h"
#include "tests/support/vectors.h"

static const uint8_t nothing[WIRE_FRAME_MAX];

static void
assert_same_bytes(const uint8_t *bytes, size_t n)
{
    struct wire_frame frame;
    uint8_t again[WIRE_FRAME_MAX];

    memset(again, 0xA5, sizeof again);
    assert_string_equal(wire_error_text(wire_decode(bytes, n, &frame)), "");
    assert_int_equal(wire_bytes(&frame), n);
    assert_int_equal(wire_encode(&frame, again, SIZE_MAX), n);
    assert_memory_equal(again, bytes, n);
}

/* ---- captures ------------------------------------------------------------------------- */

static void
test_soft_roce(void **state)
{
    static const struct {
        const char *name;
        size_t n;
    } files[] = {{"rxe-pcap/atomic_bw", 20},    {"rxe-pcap/delay2ms_read_lat", 42},
                 {"rxe-pcap/ecn_write", 258},   {"rxe-pcap/read_lat_4k", 50},
                 {"rxe-pcap/rnr_sendlat", 668}, {"rxe-pcap/send_lat_2", 80},
                 {"rxe-pcap/send_uc", 30},      {"rxe-pcap/send_ud", 10},
                 {"rxe-pcap/write_bw_8k", 180}, {"rxe-pcap/write_bw_odd", 25},
                 {"rxe-pcap/write_lat_64", 80}, {"icrc/roce-sample", 15}};

    (void)state;
    for (size_t f = 0; f < G_N_ELEMENTS(files); f++) {
        g_autofree char *below = g_strdup_printf("tests/data/%s.pcap", files[f].name);
        g_autofree char *path = data_path(below);
        struct pcap_file *file = pcap_file_read(path);

        assert_int_equal(file->n, files[f].n);
        for (size_t i = 0; i < file->n; i++) {
            assert_int_equal(file->frames[i].kept, file->frames[i].length);
            assert_same_bytes(file->frames[i].bytes, file->frames[i].length);
        }
        pcap_file_free(file);
    }
}

static void
test_vectors(void **state)
{
    size_t n;
    g_autofree struct vector *vectors = vectors_read(&n);

    (void)state;
    assert_int_equal(n, 19);
    for (size_t i = 0; i < n; i++) {
        assert_same_bytes(vectors[i].bytes, vectors[i].n_bytes);
    }
}

/* ---- fields --------------------------------------------------------------------------- */

static void
decode(const struct vector *vectors, size_t n, const char *name, struct wire_frame *frame)
{
    const struct vector *vector = vectors_find(vectors, n, name);

    assert_int_equal(wire_decode(vector->bytes, vector->n_bytes, frame), WIRE_OK);
}

/* As the lines of icrc-vectors.txt describe them. */
static void
test_fields(void **state)
{
    const uint8_t src[4] = {10, 0, 0, 1}, dst[4] = {10, 0, 0, 2};
    struct wire_frame f;
    size_t n;
    g_autofree struct vector *v = vectors_read(&n);

    (void)state;
    decode(v, n, "RC WRITE_ONLY", &f);
    assert_int_equal(f.kind, WIRE_ROCE_V2_IPV4);
    assert_false(f.vlan.present);
    assert_memory_equal(f.ip.src, src, 4);
    assert_memory_equal(f.ip.dst, dst, 4);
    assert_int_equal(f.ip.tos, 0x6A);
    assert_int_equal(f.ip.ttl, 64);
    assert_true(f.ip.dont_fragment);
    assert_int_equal(f.udp.src_port, 0xC123);
    assert_int_equal(f.bth.opcode, WIRE_RC_WRITE_ONLY);
    assert_true(f.bth.mig_req);
    assert_false(f.bth.solicited);
    assert_int_equal(f.bth.pkey, 0xFFFF);
    assert_int_equal(f.bth.dest_qp, 0x12);
    assert_true(f.bth.ack_req);
    assert_int_equal(f.bth.psn, 100);
    assert_int_equal(f.reth.va, 0x1000);
    assert_int_equal(f.reth.rkey, 0x55);
    assert_int_equal(f.reth.dma_bytes, 64);
    assert_int_equal(f.payload_bytes, 64);
    assert_int_equal(f.payload[63], 0x3F);

    decode(v, n, "NAK PSN-seq", &f);
    assert_int_equal(f.bth.opcode, WIRE_RC_ACK);
    assert_int_equal(f.bth.psn, 101);
    assert_int_equal(f.aeth.syndrome, WIRE_NAK_SEQUENCE);
    assert_int_equal(f.aeth.msn, 1);
    decode(v, n, "RNR NAK", &f);
    assert_int_equal(f.aeth.syndrome, WIRE_RNR | 14);
    decode(v, n, "ACK psn100", &f);
    assert_int_equal(f.aeth.syndrome, WIRE_ACK_NO_CREDITS);
    decode(v, n, "READ_REQ", &f);
    assert_int_equal(f.reth.dma_bytes, 8192);
    assert_int_equal(f.payload_bytes, 0);
    decode(v, n, "UD SEND_ONLY", &f);
    assert_int_equal(f.deth.qkey, 0x11111111);
    assert_int_equal(f.deth.src_qp, 0x22);
    decode(v, n, "CNP captured", &f);
    assert_int_equal(f.bth.opcode, WIRE_CNP);
    assert_true(f.bth.becn);
    assert_false(f.bth.mig_req);
    assert_int_equal(f.ip.tos, 48 << 2 | 2);
    assert_int_equal(f.udp.src_port, 0);
    assert_int_equal(f.bth.dest_qp, 0x118);
    decode(v, n, "PFC XOFF", &f);
    assert_int_equal(f.kind, WIRE_PFC);
    assert_int_equal(f.pfc.classes, 1 << 3);
    assert_int_equal(f.pfc.quanta[3], 0xFFFF);
    assert_int_equal(f.trailer_bytes, 26);
    decode(v, n, "RoCEv1 WRITE", &f);
    assert_int_equal(f.kind, WIRE_ROCE_V1);
    assert_int_equal(f.bth.pad_bytes, 3);
    assert_int_equal(f.payload_bytes, 5);
    assert_int_equal(f.reth.dma_bytes, 5);
    decode(v, n, "UC SEND_ONLY IPv6", &f);
    assert_int_equal(f.kind, WIRE_ROCE_V2_IPV6);
    assert_int_equal(f.ip.tos, 226);
    assert_int_equal(f.ip.flow_label, 0x1FACE);
    assert_int_equal(f.ip.ttl, 255);
}

static void
test_atomics_of_soft_roce(void **state)
{
    g_autofree char *path = data_path("tests/data/rxe-pcap/atomic_bw.pcap");
    struct pcap_file *file = pcap_file_read(path);
    struct wire_frame f;

    (void)state;
    assert_int_equal(wire_decode(file->frames[0].bytes, file->frames[0].kept, &f), 0);
    assert_int_equal(f.bth.opcode, WIRE_RC_FETCH_ADD);
    assert_int_equal(f.atomic.swap_add, 1);
    assert_int_equal(file->frames[0].length, 14 + 20 + 8 + 12 + 28 + 4);
    for (size_t i = 0; i < file->n; i++) {
        assert_int_equal(wire_decode(file->frames[i].bytes, file->frames[i].kept, &f), 0);
        if (f.bth.opcode == WIRE_RC_ATOMIC_ACK) {
            assert_int_equal(file->frames[i].length, 14 + 20 + 8 + 12 + 4 + 8 + 4);
        }
    }
    pcap_file_free(file);
}

/* ---- every opcode and shape ----------------------------------------------------------- */

/* A frame with a different value in each field. */
static struct wire_frame
strange_frame(enum wire_kind kind, uint8_t opcode, uint16_t payload_bytes)
{
    uint16_t headers = wire_headers(opcode);
    struct wire_frame f = {.dst_mac = {1, 2, 3, 4, 5, 6},
                           .src_mac = {7, 8, 9, 10, 11, 12},
                           .vlan = {.present = true, .pcp = 5, .dei = true, .vid = 0xABC},
                           .kind = kind};

    memset(f.ip.src, 0x31, kind == WIRE_ROCE_V2_IPV4 ? 4 : 16);
    memset(f.ip.dst, 0x42, kind == WIRE_ROCE_V2_IPV4 ? 4 : 16);
    f.ip.tos = 0xB7;
    f.ip.ttl = 9;
    f.ip.id = 0x1234;
    f.ip.flow_label = 0xFEDCB;
    f.udp.src_port = 0xC0DE;
    f.udp.dst_port = WIRE_UDP_PORT;
    f.udp.checksum = 0x7777;
    f.bth = (struct wire_bth){.opcode = opcode,
                              .solicited = true,
                              .pad_bytes = (uint8_t)(-payload_bytes & 3),
                              .version = 6,
                              .pkey = 0x8001,
                              .fecn = true,
                              .reserved6 = 0x2A,
                              .reserved7 = 0x55,
                              .dest_qp = 0xABCDEF,
                              .psn = 0xFEDCBA};
    if (headers & WIRE_DETH) {
        f.deth.qkey = 0x80010203;
        f.deth.src_qp = 0x030201;
        f.deth.reserved = 0x99;
    }
    f.reth.va = UINT64_C(0x0123456789ABCDEF);
    f.reth.rkey = 0xDEADBEEF;
    f.reth.dma_bytes = 0x40000000;
    f.atomic.va = UINT64_C(0xFEDCBA9876543210);
    f.atomic.rkey = 0xCAFEBABE;
    f.atomic.swap_add = UINT64_C(0x1122334455667788);
    f.atomic.compare = UINT64_C(0x99AABBCCDDEEFF00);
    f.aeth.syndrome = 0x61;
    f.aeth.msn = 0x778899;
    f.atomic_ack = UINT64_C(0xA1A2A3A4A5A6A7A8);
    f.imm = 0x01020304;
    f.invalidate_rkey = 0x0A0B0C0D;
    memset(f.cnp_reserved, 0x3C, sizeof f.cnp_reserved);
    f.payload_bytes = headers & WIRE_PAYLOAD ? payload_bytes : 0;
    f.bth.pad_bytes = headers & WIRE_PAYLOAD ? f.bth.pad_bytes : 0;
    return f;
}

/* Fields that a frame has must come back. */
static void
assert_same_fields(const struct wire_frame *a, const struct wire_frame *b)
{
    uint16_t headers = wire_headers(a->bth.opcode);

    assert_memory_equal(&a->vlan, &b->vlan, sizeof a->vlan);
    assert_int_equal(a->kind, b->kind);
    assert_memory_equal(a->ip.src, b->ip.src, 16);
    assert_memory_equal(a->ip.dst, b->ip.dst, 16);
    assert_int_equal(a->ip.tos, b->ip.tos);
    assert_int_equal(a->ip.ttl, b->ip.ttl);
    if (a->kind == WIRE_ROCE_V2_IPV4) {
        assert_int_equal(a->ip.id, b->ip.id);
    } else {
        assert_int_equal(a->ip.flow_label, b->ip.flow_label);
    }
    if (a->kind != WIRE_ROCE_V1) {
        assert_int_equal(a->udp.src_port, b->udp.src_port);
        assert_int_equal(a->udp.checksum, b->udp.checksum);
    }
    assert_memory_equal(&a->bth, &b->bth, sizeof a->bth);
    if (headers & WIRE_DETH) {
        assert_memory_equal(&a->deth, &b->deth, sizeof a->deth);
    }
    if (headers & WIRE_RETH) {
        assert_memory_equal(&a->reth, &b->reth, sizeof a->reth);
    }
    if (headers & WIRE_ATOMIC) {
        assert_int_equal(a->atomic.va, b->atomic.va);
        assert_int_equal(a->atomic.rkey, b->atomic.rkey);
        assert_int_equal(a->atomic.swap_add, b->atomic.swap_add);
        assert_int_equal(a->atomic.compare, b->atomic.compare);
    }
    if (headers & WIRE_AETH) {
        assert_int_equal(a->aeth.syndrome, b->aeth.syndrome);
        assert_int_equal(a->aeth.msn, b->aeth.msn);
    }
    if (headers & WIRE_ATOMIC_ACK) {
        assert_int_equal(a->atomic_ack, b->atomic_ack);
    }
    if (headers & WIRE_IMMDT) {
        assert_int_equal(a->imm, b->imm);
    }
    if (headers & WIRE_IETH) {
        assert_int_equal(a->invalidate_rkey, b->invalidate_rkey);
    }
    if (headers & WIRE_CNP_RESERVED) {
        assert_memory_equal(a->cnp_reserved, b->cnp_reserved, sizeof a->cnp_reserved);
    }
    assert_int_equal(a->payload_bytes, b->payload_bytes);
}

static void
test_every_opcode(void **state)
{
    static const uint16_t payloads[] = {0, 1, 2, 3, 4, 1001, WIRE_PAYLOAD_MAX};
    uint8_t bytes[WIRE_FRAME_MAX];
    unsigned n_opcodes = 0;

    (void)state;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        assert_int_equal(wire_headers((uint8_t)opcode) == 0,
                         wire_opcode_name((uint8_t)opcode) == NULL);
        if (!wire_headers((uint8_t)opcode)) {
            continue;
        }
        n_opcodes++;
        for (unsigned kind = WIRE_ROCE_V2_IPV4; kind <= WIRE_ROCE_V1; kind++) {
            for (size_t p = 0; p < G_N_ELEMENTS(payloads); p++) {
                struct wire_frame frame =
                    strange_frame((enum wire_kind)kind, (uint8_t)opcode, payloads[p]);
                struct wire_frame again;
                size_t n = wire_encode(&frame, bytes, SIZE_MAX);

                assert_in_range(n, 1, WIRE_FRAME_MAX);
                assert_int_equal(wire_decode(bytes, n, &again), WIRE_OK);
                assert_same_fields(&frame, &again);
                assert_same_bytes(bytes, n);
            }
        }
    }
    assert_int_equal(n_opcodes, 23 + 12 + 2 + 1 + 1);
    assert_string_equal(wire_opcode_name(0x2B), "UC_WRITE_ONLY_IMM");
}

static void
test_only_the_first_bytes(void **state)
{
    struct wire_frame frame = strange_frame(WIRE_ROCE_V2_IPV4, WIRE_RC_WRITE_FIRST, 1024);
    uint8_t whole[WIRE_FRAME_MAX], part[WIRE_FRAME_MAX];
    size_t n = wire_encode(&frame, whole, SIZE_MAX);

    (void)state;
    for (size_t limit = 0; limit <= n; limit++) {
        memset(part, 0xA5, sizeof part);
        assert_int_equal(wire_encode(&frame, part, limit), n);
        assert_memory_equal(part, whole, limit);
    }
}

/* ---- what is no frame ----------------------------------------------------------------- */

static void
test_cut_frames(void **state)
{
    struct wire_frame frame;
    size_t n;
    g_autofree struct vector *vectors = vectors_read(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const struct vector *v = &vectors[i];
        /* The padding of a pause frame may be missing. */
        size_t needed = v->icrc ? v->n_bytes : 34;

        for (size_t cut = 0; cut < needed; cut++) {
            /* On the heap, so that a sanitizer sees a read beyond the end. */
            g_autofree uint8_t *bytes = g_memdup2(v->bytes, cut);

            assert_int_equal(wire_decode(bytes, cut, &frame), WIRE_TRUNCATED);
        }
    }
}

static enum wire_error
changed(const struct vector *vector, size_t at, uint8_t value)
{
    struct wire_frame frame;
    uint8_t bytes[VECTOR_MAX_BYTES];

    memcpy(bytes, vector->bytes, vector->n_bytes);
    bytes[at] = value;
    return wire_decode(bytes, vector->n_bytes, &frame);
}

static void
test_reasons(void **state)
{
    struct wire_frame frame;
    uint8_t bytes[WIRE_FRAME_MAX];
    size_t n, length;
    g_autofree struct vector *v = vectors_read(&n);
    const struct vector *write = vectors_find(v, n, "RC WRITE_ONLY");
    const struct vector *v6 = vectors_find(v, n, "UC SEND_ONLY IPv6");
    const struct vector *pfc = vectors_find(v, n, "PFC XOFF");

    (void)state;
    assert_int_equal(changed(write, 12, 0x09), WIRE_ETHERTYPE);
    assert_int_equal(changed(write, 14, 0x65), WIRE_IP_VERSION);
    assert_int_equal(changed(write, 14, 0x46), WIRE_IP_OPTIONS);
    assert_int_equal(changed(write, 20, 0x60), WIRE_IP_FRAGMENT);
    assert_int_equal(changed(write, 21, 0x01), WIRE_IP_FRAGMENT);
    assert_int_equal(changed(write, 23, 6), WIRE_NO_UDP);
    assert_int_equal(changed(write, 24, 1), WIRE_BAD_IP_CHECKSUM);
    assert_int_equal(changed(write, 17, 10), WIRE_LENGTHS);
    assert_int_equal(changed(write, 37, 1), WIRE_NO_ROCE_PORT);
    assert_int_equal(changed(write, 39, 1), WIRE_LENGTHS);
    assert_int_equal(changed(write, 42, 0x40), WIRE_OPCODE_UNKNOWN);
    assert_int_equal(changed(write, 42, 0x15), WIRE_OPCODE_UNKNOWN);
    assert_int_equal(changed(write, 42, WIRE_RC_ACK), WIRE_PAYLOAD_LENGTH);
    assert_int_equal(changed(write, 53, 101), WIRE_BAD_ICRC);
    assert_int_equal(changed(write, write->n_bytes - 1, 0), WIRE_BAD_ICRC);
    assert_int_equal(changed(v6, 20, 44), WIRE_IP_OPTIONS);
    assert_int_equal(changed(pfc, 15, 0), WIRE_MAC_CONTROL);
    assert_int_equal(changed(pfc, 59, 1), WIRE_TRAILER);

    memcpy(bytes, write->bytes, write->n_bytes);
    bytes[write->n_bytes] = 0;
    assert_int_equal(wire_decode(bytes, write->n_bytes + 1, &frame), WIRE_TRAILER);

    frame = strange_frame(WIRE_ROCE_V2_IPV4, WIRE_RC_SEND_ONLY, 2);
    frame.bth.pad_bytes = 1;
    length = wire_encode(&frame, bytes, SIZE_MAX);
    assert_int_equal(wire_decode(bytes, length, &frame), WIRE_PAYLOAD_LENGTH);

    for (int e = WIRE_BAD_ICRC; e <= WIRE_MAC_CONTROL; e++) {
        assert_true(strlen(wire_error_text((enum wire_error)e)) > 10);
    }
}

/* A SEND of nothing is below the least length of Ethernet. */
static void
test_short_frames_are_padded(void **state)
{
    struct wire_frame frame = strange_frame(WIRE_ROCE_V2_IPV4, WIRE_RC_SEND_ONLY, 0);
    uint8_t bytes[WIRE_FRAME_MAX];

    (void)state;
    frame.vlan.present = false;
    assert_int_equal(wire_bytes(&frame), 58);
    frame.trailer_bytes = 2;
    assert_int_equal(wire_encode(&frame, bytes, SIZE_MAX), WIRE_FRAME_MIN);
    assert_memory_equal(bytes + 58, nothing, 2);
    assert_same_bytes(bytes, WIRE_FRAME_MIN);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soft_roce),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_atomics_of_soft_roce),
        cmocka_unit_test(test_every_opcode),
        cmocka_unit_test(test_only_the_first_bytes),
        cmocka_unit_test(test_cut_frames),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_short_frames_are_padded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
