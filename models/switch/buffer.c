/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * buffer.c - the arithmetic of headroom.
 *
 * Source: the deterministic bound H = C/8 (2 L/c + t_react) + 2 W_max + 84, W_max and the
 * pause frame (84) counted as wire bytes; it follows from IEEE 802.1Q-2018 annex N
 * (buffer requirements for PFC) with the delays of this model.
 */
#include <config.h>

#include "models/switch/buffer.h"

int64_t
buffer_headroom_bytes(int64_t rate_bps, int64_t delay_ps, int64_t reaction_ps,
                      int64_t frame_bytes)
{
    __int128 flight = (__int128)rate_bps * (2 * delay_ps + reaction_ps);
    __int128 per_byte = 8 * PS_PER_S;
    int64_t in_flight = (int64_t)((flight + per_byte - 1) / per_byte);

    return in_flight + 2 * (frame_bytes + WIRE_EXTRA_BYTES) + PFC_FRAME_BYTES +
           WIRE_EXTRA_BYTES;
}
