/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fuzz_wire.c - any bytes as a frame: a reason, or a frame that encodes into the same bytes.
 * One whose ICRC or checksum is wrong encodes into one where they are right and all else is
 * the same, so that the fuzzer need not guess them.
 */
#include <config.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <glib.h>

#include "models/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Encodes and decodes 'frame', of 'n' bytes, and encodes that again. */
static void
check_round(const struct wire_frame *frame, uint8_t bytes[WIRE_FRAME_MAX], size_t n)
{
    uint8_t again[WIRE_FRAME_MAX];
    struct wire_frame decoded;

    g_assert_cmpuint(n, <=, WIRE_FRAME_MAX);
    g_assert_cmpuint(wire_bytes(frame), ==, n);
    g_assert_cmpuint(wire_encode(frame, bytes, SIZE_MAX), ==, n);
    g_assert_cmpint(wire_decode(bytes, n, &decoded), ==, WIRE_OK);
    g_assert_cmpuint(wire_encode(&decoded, again, SIZE_MAX), ==, n);
    g_assert_cmpmem(bytes, n, again, n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_frame frame;
    enum wire_error error = wire_decode(data, size, &frame);
    uint8_t bytes[WIRE_FRAME_MAX];

    switch (error) {
    case WIRE_OK:
        check_round(&frame, bytes, size);
        g_assert_cmpmem(bytes, size, data, size);
        break;
    case WIRE_BAD_ICRC:
    case WIRE_BAD_IP_CHECKSUM:
        check_round(&frame, bytes, size);
        break;
    default:
        g_assert_cmpuint(strlen(wire_error_text(error)), >, 0);
    }
    return 0;
}
