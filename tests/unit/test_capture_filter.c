/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_capture_filter.c - which frames pass which filter; what is no filter.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tools/results/capture_filter.h"

/* The frames that every filter is tried on, in order of the letters below. */
enum { FRAMES = 10 };

static void
make_frames(struct wire_frame frames[FRAMES], unsigned cls[FRAMES])
{
    static const struct {
        uint8_t opcode, syndrome, tos, cls;
        uint32_t qp;
    } rows[FRAMES] = {
        {WIRE_RC_WRITE_FIRST, 0, 0x6A, 3, 0x11},           /* w */
        {WIRE_RC_WRITE_ONLY_IMM, 0, 0x6B, 3, 0x12},        /* m: marked */
        {WIRE_RC_SEND_ONLY, 0, 0x2A, 0, 0x11},             /* s */
        {WIRE_RC_READ_REQUEST, 0, 0x6A, 3, 0x13},          /* q */
        {WIRE_RC_READ_MIDDLE, 0, 0x6A, 3, 0x13},           /* r */
        {WIRE_RC_ACK, WIRE_ACK_NO_CREDITS, 0x68, 3, 0x11}, /* a */
        {WIRE_RC_ACK, WIRE_NAK_SEQUENCE, 0x68, 3, 0x11},   /* n */
        {WIRE_RC_ACK, WIRE_RNR | 12, 0x68, 3, 0x11},       /* t */
        {WIRE_CNP, 0, 0xC2, 6, 0x11},                      /* c */
        {0, 0, 0, 0, 0},                                   /* p: pauses 3 and 4 */
    };

    for (int i = 0; i < FRAMES; i++) {
        frames[i] = (struct wire_frame){.kind = WIRE_ROCE_V2_IPV4};
        frames[i].bth.opcode = rows[i].opcode;
        frames[i].bth.dest_qp = rows[i].qp;
        frames[i].ip.tos = rows[i].tos;
        if (wire_headers(rows[i].opcode) & WIRE_AETH) {
            frames[i].aeth.syndrome = rows[i].syndrome;
        }
        cls[i] = rows[i].cls;
    }
    frames[FRAMES - 1] = (struct wire_frame){.kind = WIRE_PFC};
    frames[FRAMES - 1].pfc.classes = 1 << 3 | 1 << 4;
}

static void
test_what_passes(void **state)
{
    static const struct {
        const char *filter, *passes;
    } cases[] = {
        {"class=3", "wmqrantp"},
        {"class=0", "s"},
        {"class=4", "p"},
        {"class=0|6", "sc"},
        {"qp=0x11", "wsantc"},
        {"qp=17", "wsantc"},
        {"qp=0x12|19", "mqr"},
        {"opcode=write", "wm"},
        {"opcode=send|read", "sq"},
        {"opcode=read-response", "r"},
        {"opcode=ack", "a"},
        {"opcode=nak", "n"},
        {"opcode=rnr|cnp|pfc", "tcp"},
        {"opcode=0x0b|17", "mant"},
        {"marked", "m"},
        {"control", "antcp"},
        {"!control", "wmsqr"},
        {"!marked,opcode=write", "w"},
        {" class = 3 , ! opcode = ack | nak ", "wmqrtp"},
        {"class=3,opcode=cnp|ack,qp=0x11", "a"},
        {"marked,control", ""},
    };
    struct wire_frame frames[FRAMES];
    unsigned cls[FRAMES];

    (void)state;
    make_frames(frames, cls);
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;
        struct capture_filter *filter = capture_filter_new(cases[k].filter, &error);
        char passes[FRAMES + 1] = "";

        assert_null(error);
        for (int i = 0; i < FRAMES; i++) {
            if (capture_filter_passes(filter, &frames[i], cls[i])) {
                strncat(passes, &"wmsqrantcp"[i], 1);
            }
        }
        assert_string_equal(passes, cases[k].passes);
        capture_filter_free(filter);
    }
}

static void
test_what_is_none(void **state)
{
    static const struct {
        const char *filter, *message;
    } cases[] = {
        {"", "'' is no term of a filter; allowed are class=N, qp=N, opcode=NAME, marked "
             "and control, "},
        {"class=3,", "'' is no term"},
        {"clas=3", "'clas' is no term"},
        {"class", "'class' needs a value"},
        {"class=", "'class' needs a value"},
        {"class=8", "'8' is no class; allowed are 0 to 7"},
        {"class=-1", "'-1' is no class"},
        {"class=3|", "'' is no class"},
        {"qp=0x1000000", "'0x1000000' is no QP number; allowed are 0 to 0xffffff"},
        {"qp=0x", "'0x' is no QP number"},
        {"qp=99999999999999999999", "'99999999999999999999' is no QP number"},
        {"qp=1a", "'1a' is no QP number"},
        {"opcode=acks", "'acks' is no opcode; allowed are send, write, read, "},
        {"opcode=256", "'256' is no opcode"},
        {"marked=1", "'marked' takes no value"},
        {"!!marked", "'!marked' is no term"},
    };

    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;

        assert_null(capture_filter_new(cases[k].filter, &error));
        assert_non_null(error);
        if (!g_str_has_prefix(error->message, cases[k].message)) {
            fail_msg("%s: %s", cases[k].filter, error->message);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_passes),
        cmocka_unit_test(test_what_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
