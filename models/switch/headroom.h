/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * headroom.h - rules by which people size headroom and marking thresholds.
 *
 * buffer_headroom_bytes() of buffer.h is what the model itself needs, to the frame;
 * these are what vendors and papers tell to configure.
 */
#ifndef ROCESIM_MODELS_SWITCH_HEADROOM_H
#define ROCESIM_MODELS_SWITCH_HEADROOM_H

#include "sim/units.h"

/* Where a port's headroom comes from when no size is given. */
enum headroom_rule {
    HEADROOM_EXACT,        /* buffer_headroom_bytes() and the frame that stops the peer */
    HEADROOM_SONIC,        /* headroom_sonic_bytes() as of today */
    HEADROOM_SONIC_STATIC, /* with the inputs behind the static tables of Spectrum-1 to 3 */
};

/* What SONiC's calculation looks at. */
struct headroom_sonic {
    int64_t rate_bps, delay_ps; /* of the cable, one way */
    int64_t reaction_ps;        /* of the peer: the limit of IEEE 802.3 at the rate */
    int64_t cell_bytes; /* of the buffer: 96 Spectrum-1, 144 -2 and -3, 192 -4 and -5 */
    int64_t small_q32;  /* share of packets of 64 bytes, which waste their cells */
    bool is_static;     /* HEADROOM_SONIC_STATIC: the peer answers in 3.8 KiB, cells
                            are not rounded up, all packets are small */
};

/* Xoff of a lossless priority group, bytes, in whole KiB:
 *     lossless_mtu + (port_mtu + cable both ways + MAC and PHY + peer + tile) x occupancy
 * with port_mtu 9100, lossless_mtu 1024, 0.8 KiB of MAC and PHY, no gearbox, and 15 bytes
 * for each Gb/s of tile where cells have 192 bytes (Spectrum-4, -5).
 *
 * Source: sonic-swss, buffer_headroom_mellanox.lua; the static tables: sonic-buildimage,
 * device/mellanox, pg_profile_lookup.ini. */
int64_t headroom_sonic_bytes(const struct headroom_sonic *in);

/* Most that one account may hold before its peer is stopped when all 'n_ports' x
 * 'n_classes' (> 0) of them may do so at once: 'shared_bytes' is what headroom leaves of
 * the buffer.
 *
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM '15,
 * section 4, "PFC threshold". */
int64_t headroom_static_threshold_bytes(int64_t shared_bytes, uint32_t n_ports,
                                        uint32_t n_classes);

/* Marking must begin below this for ECN to act before PFC, whoever sends: all egress
 * queues together may come from one ingress, whose account is stopped at 'alpha_q16' /
 * 2^16 of what is free.  ibid., "ECN threshold", where beta = 8 alpha. */
int64_t headroom_kmin_limit_bytes(int64_t shared_bytes, uint32_t n_ports,
                                  uint32_t n_classes, int64_t alpha_q16);

#endif
