/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_bytes.c - K6 to K9: the bytes of frames.  Lengths of encoded frames, ICRCs of
 * published and hand-made ones, what the ICRC covers, and what tshark makes of a capture.
 */
#include <config.h>

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <glib/gstdio.h>
#include <zlib.h>

#include "models/wire.h"
#include "tests/support/known.h"
#include "tests/support/rig.h"
#include "tests/support/vectors.h"
#include "tools/results/capture.h"

#define ETHERNET 14
#define IPV4 20

/* ---- K6 ------------------------------------------------------------------------------- */

static void
k06_size(const char *what, const char *vector, size_t more_bytes)
{
    struct wire_frame frame;
    char name[64];
    double bytes;
    size_t n;
    g_autofree struct vector *vectors = vectors_read(&n);
    const struct vector *v = vectors_find(vectors, n, vector);

    assert_int_equal(wire_decode(v->bytes, v->n_bytes, &frame), WIRE_OK);
    if (more_bytes) {
        frame.payload_bytes = (uint16_t)more_bytes;
        frame.payload = NULL;
    }
    bytes = (double)wire_bytes(&frame);
    snprintf(name, sizeof name, "%s_pcap_bytes", what);
    known_equals("K6", name, bytes);
    snprintf(name, sizeof name, "%s_frame_bytes", what);
    known_equals("K6", name, bytes + 4);
    snprintf(name, sizeof name, "%s_wire_bytes", what);
    known_equals("K6", name, bytes + 4 + WIRE_EXTRA_BYTES);
}

static void
test_k06_sizes_of_bytes(void **state)
{
    (void)state;
    k06_size("ack", "ACK psn100", 0);
    k06_size("cnp", "CNP captured", 0);
    k06_size("read_request", "READ_REQ", 0);
    k06_size("write_middle", "WRITE_MIDDLE", 4096);
    k06_size("write_first", "WRITE_FIRST", 4096);
    k06_size("pfc", "PFC XOFF", 0);
}

/* ---- K7 ------------------------------------------------------------------------------- */

/* The ICRC of the encoded frame, first byte most significant. */
static double
icrc_of(const struct vector *vector)
{
    struct wire_frame frame;
    uint8_t bytes[WIRE_FRAME_MAX];
    uint32_t icrc = 0;
    size_t n;

    assert_int_equal(wire_decode(vector->bytes, vector->n_bytes, &frame), WIRE_OK);
    n = wire_encode(&frame, bytes, SIZE_MAX);
    for (size_t i = n - 4; i < n; i++) {
        icrc = icrc << 8 | bytes[i];
    }
    return (double)icrc;
}

static void
test_k07_icrc(void **state)
{
    static const struct {
        const char *name, *vector;
    } cases[] = {
        {"captured_cnp_icrc", "CNP captured"},
        {"write_only_icrc", "RC WRITE_ONLY"},
        {"ack_icrc", "ACK psn100"},
        {"nak_icrc", "NAK PSN-seq"},
        {"rnr_nak_icrc", "RNR NAK"},
        {"read_request_icrc", "READ_REQ"},
        {"read_response_first_icrc", "READ_RESP_FIRST"},
        {"read_response_last_icrc", "READ_RESP_LAST"},
        {"write_first_icrc", "WRITE_FIRST"},
        {"write_middle_icrc", "WRITE_MIDDLE"},
        {"write_last_icrc", "WRITE_LAST"},
        {"ud_send_only_icrc", "UD SEND_ONLY"},
        {"cnp_icrc", "CNP synth"},
        {"published_uc_ipv4_icrc", "UC SEND_ONLY IPv4"},
        {"published_uc_ipv6_icrc", "UC SEND_ONLY IPv6"},
        {"published_roce_v1_write_icrc", "RoCEv1 WRITE"},
        {"published_roce_v1_ack_icrc", "RoCEv1 ACK"},
    };
    size_t n;
    g_autofree struct vector *vectors = vectors_read(&n);

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        known_equals("K7", cases[i].name,
                     icrc_of(vectors_find(vectors, n, cases[i].vector)));
    }
}

/* ---- K8 ------------------------------------------------------------------------------- */

/* Bytes of an IPv4 frame that routers may change: ToS, TTL, both checksums, BTH byte 4. */
static bool
is_variant(size_t at)
{
    static const size_t variant[] = {15, 22, 24, 25, 40, 41, 46};

    for (size_t i = 0; i < G_N_ELEMENTS(variant); i++) {
        if (variant[i] == at) {
            return true;
        }
    }
    return false;
}

static void
test_k08_what_the_icrc_covers(void **state)
{
    static const uint8_t ones[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    size_t n, n_changed_variant = 0, n_kept_invariant = 0, n_variant = 0;
    struct wire_frame frame;
    uint8_t bytes[WIRE_FRAME_MAX];
    g_autofree struct vector *vectors = vectors_read(&n);
    const struct vector *v = vectors_find(vectors, n, "RC WRITE_ONLY");
    uint32_t icrc = wire_icrc(v->bytes, v->n_bytes, ETHERNET, WIRE_ROCE_V2_IPV4);

    (void)state;
    /* Each bit from the IP header up to the ICRC, one at a time. */
    for (size_t bit = 8 * ETHERNET; bit < 8 * (v->n_bytes - 4); bit++) {
        memcpy(bytes, v->bytes, v->n_bytes);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        bool changed = wire_icrc(bytes, v->n_bytes, ETHERNET, WIRE_ROCE_V2_IPV4) != icrc;

        n_variant += is_variant(bit / 8);
        n_changed_variant += is_variant(bit / 8) && changed;
        n_kept_invariant += !is_variant(bit / 8) && !changed;
    }
    known_equals("K8", "bits_that_routers_change", (double)n_variant);
    known_equals("K8", "of_these_change_the_icrc", (double)n_changed_variant);
    known_equals("K8", "other_bits_that_leave_the_icrc", (double)n_kept_invariant);

    /* With a tag. */
    assert_int_equal(wire_decode(v->bytes, v->n_bytes, &frame), WIRE_OK);
    frame.vlan = (struct wire_vlan){.present = true, .pcp = 3, .vid = 100};
    n = wire_encode(&frame, bytes, SIZE_MAX);
    assert_int_equal(n, v->n_bytes + 4);
    known_equals("K8", "bytes_of_the_icrc_that_a_vlan_tag_changes",
                 memcmp(bytes + n - 4, v->bytes + v->n_bytes - 4, 4) != 0);
    known_equals("K8", "register_after_8_ones",
                 (double)(~(uint32_t)crc32(0, ones, sizeof ones)));
}

/* ---- K9 ------------------------------------------------------------------------------- */

/* Lines that 'command' prints; each is given to 'each', if there is one. */
static size_t
lines_of(const char *command, void (*each)(const char *line, void *ctx), void *ctx)
{
    FILE *pipe = popen(command, "r");
    char line[512];
    size_t n = 0;

    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe)) {
        n++;
        if (each) {
            each(line, ctx);
        }
    }
    assert_int_equal(pclose(pipe), 0);
    return n;
}

/* An incast with marks, CNPs, a NAK and pauses, all of its frames in 'path'. */
static void
capture_incast(struct outdir *dir)
{
    struct capture_file file = {
        .name = (char *)"all.pcap", .dirs = TAP_IN, .snap_bytes = -1, .max_bytes = -1};
    g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof file);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    const uint64_t drop[] = {20};
    struct capture *capture;
    struct rig_sums sums;
    struct rig rig;

    rig_init(&rig, 1);
    rig.cc_name = "dcqcn";
    rig.sw.buffer_bytes = 1000000;
    rig_star(&rig, 9, 100 * GBPS, 15000);
    rig_build(&rig);
    for (uint32_t h = 1; h < 9; h++) {
        rig_flow(&rig, h, 0, 300000, 0)->has_imm = h % 2;
        rig_flow(&rig, h, 0, 1000, 0);
    }
    port_set_drops(rig_port(&rig, "leaf0", "host3"), drop, 1);
    for (uint32_t p = 0; p < rig.net->n_ports; p++) {
        rig_tap(&rig, &rig.net->ports[p], TAP_IN);
    }
    file.n_ports = rig.net->n_ports;
    g_array_append_val(files, file);
    capture = capture_new(dir, rig.net, files, NULL);
    assert_non_null(capture);
    rig.frames = capture_sink(capture);
    rig_play(&rig);
    assert_true(capture_finish(capture, notes, NULL));
    capture_free(capture);
    sums = rig_sum(&rig);
    assert_true(sums.cnps > 0 && sums.naks > 0 && sums.xoff_tx > 0 && sums.marked > 0);
    rig_clear(&rig);
}

static void
note_unknown(const char *line, void *ctx)
{
    bool *is_unknown = ctx; /* by opcode */

    /* "129<tab>Unknown OpCode QP=0x..." */
    if (strcasestr(line, "unknown")) {
        is_unknown[atoi(line) & 255] = true;
    }
}

static void
test_k09_tshark(void **state)
{
    bool is_unknown[256] = {false};
    unsigned n_unknown = 0;
    g_autofree char *parent = NULL, *path = NULL, *command = NULL;
    struct outdir *dir;

    (void)state;
    if (system("command -v tshark >/dev/null 2>&1") != 0) {
        print_message("tshark is not installed (Debian: tshark)\n");
        skip();
    }
    parent = g_dir_make_tmp("k09-XXXXXX", NULL);
    path = g_build_filename(parent, "r", NULL);
    dir = outdir_new(path, FALSE, NULL);
    assert_non_null(dir);
    capture_incast(dir);
    command =
        g_strdup_printf("tshark -r %s/all.pcap -Y _ws.malformed 2>/dev/null", dir->temp);
    known_equals("K9", "malformed_frames", (double)lines_of(command, NULL, NULL));
    g_free(command);
    command = g_strdup_printf("tshark -r %s/all.pcap -Y infiniband -T fields -e "
                              "infiniband.bth.opcode -e _ws.col.Info 2>/dev/null",
                              dir->temp);
    assert_true(lines_of(command, note_unknown, is_unknown) > 500);
    for (unsigned i = 0; i < 256; i++) {
        n_unknown += is_unknown[i] && i != WIRE_CNP;
    }
    known_equals("K9", "opcodes_but_cnp_without_a_name", n_unknown);
    known_print("K9", "cnp_without_a_name", is_unknown[WIRE_CNP]);
    outdir_discard(dir);
    assert_int_equal(g_rmdir(parent), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k06_sizes_of_bytes),
        cmocka_unit_test(test_k07_icrc),
        cmocka_unit_test(test_k08_what_the_icrc_covers),
        cmocka_unit_test(test_k09_tshark),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
