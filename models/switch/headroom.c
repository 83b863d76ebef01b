/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * headroom.c - vendors' and papers' rules for headroom and thresholds, see headroom.h.
 * Set-up code.
 */
#include <config.h>

#include "models/switch/headroom.h"

#define KIB 1024
#define PORT_MTU 9100
#define LOSSLESS_MTU 1024
#define SMALL_BYTES 64
#define MAC_PHY_BYTES 819      /* 0.8 KiB */
#define STATIC_PEER_BYTES 3891 /* 3.8 KiB */
#define TILE_CELL_BYTES 192
#define ONE_Q32 (INT64_C(1) << 32)

/* Cell bytes that a small packet takes, by its own bytes, times 2^32. */
static int64_t
cell_factor_q32(const struct headroom_sonic *in)
{
    if (in->cell_bytes <= 2 * SMALL_BYTES) {
        /* The worst packet is one byte longer than a cell. */
        return (2 * in->cell_bytes + in->cell_bytes) / (1 + in->cell_bytes) * ONE_Q32;
    }
    return in->is_static ? in->cell_bytes * ONE_Q32 / SMALL_BYTES
                         : (in->cell_bytes + SMALL_BYTES - 1) / SMALL_BYTES * ONE_Q32;
}

/* Bytes of buffer for a byte on the wire, times 2^32. */
static int64_t
occupancy_q32(const struct headroom_sonic *in)
{
    int64_t small_q32 = in->is_static ? ONE_Q32 : in->small_q32;
    /* Small packets' share of the bytes: at most 2^32 x 2^6 x 2^32. */
    __int128 small = (__int128)small_q32 * SMALL_BYTES;
    __int128 all = small + (__int128)(ONE_Q32 - small_q32) * LOSSLESS_MTU;
    int64_t share_q32 = (int64_t)((small << 32) / all);

    return ONE_Q32 - share_q32 +
           (int64_t)((__int128)share_q32 * cell_factor_q32(in) >> 32);
}

/* Bytes that pass at 'rate_bps' in 'time_ps', rounded up. */
static int64_t
bytes_in(int64_t rate_bps, int64_t time_ps)
{
    const int64_t ps_bits = 8 * PS_PER_S;

    return (int64_t)(((__int128)rate_bps * time_ps + ps_bits - 1) / ps_bits);
}

int64_t
headroom_sonic_bytes(const struct headroom_sonic *in)
{
    int64_t peer =
        in->is_static ? STATIC_PEER_BYTES : bytes_in(in->rate_bps, in->reaction_ps);
    int64_t tile = in->cell_bytes == TILE_CELL_BYTES && !in->is_static
                       ? 15 * (in->rate_bps / INT64_C(1000000000))
                       : 0;
    int64_t propagation =
        PORT_MTU + bytes_in(in->rate_bps, 2 * in->delay_ps) + MAC_PHY_BYTES + peer + tile;
    int64_t bytes =
        LOSSLESS_MTU + (int64_t)((__int128)propagation * occupancy_q32(in) >> 32);

    return (bytes + KIB - 1) / KIB * KIB;
}

int64_t
headroom_static_threshold_bytes(int64_t shared_bytes, uint32_t n_ports,
                                uint32_t n_classes)
{
    return shared_bytes / ((int64_t)n_ports * n_classes);
}

int64_t
headroom_kmin_limit_bytes(int64_t shared_bytes, uint32_t n_ports, uint32_t n_classes,
                          int64_t alpha_q16)
{
    /* n t < alpha (shared - n c t), solved for t. */
    __int128 den = (__int128)n_ports * (65536 + (__int128)alpha_q16 * n_classes);

    return (int64_t)((__int128)alpha_q16 * shared_bytes / den);
}
