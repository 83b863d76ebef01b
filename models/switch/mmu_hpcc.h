/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mmu_hpcc.h - admission and pausing as the HPCC ns-3 simulator does it: `switch.mmu`.
 *
 * Every class but 0 is judged at its ingress, lossless or not; class 0 is not counted.
 * Threshold T = (shared size - shared use) >> shift, the shift by port.  A packet goes to
 * the reserve while that lasts, to the shared part while the account's use of it stays
 * within T, else to the headroom.  It is lost only where neither T nor the headroom has
 * room for it.  Reserve and headroom are set aside once a port, though each class of the
 * port may fill them.  Release is buffer_release(): headroom, shared, reserve.
 *
 * Source: alibaba-edu/High-Precision-Congestion-Control, switch-mmu.cc, as told in
 * docs/hpcc.md; an implementation of its own.
 * Invariant: shared_used is the sum over all accounts of what lies over their reserve.
 */
#ifndef ROCESIM_MODELS_SWITCH_MMU_HPCC_H
#define ROCESIM_MODELS_SWITCH_MMU_HPCC_H

#include "models/switch/buffer.h"

/* Headroom of a port is as many times what its cable holds one way. */
#define MMU_HPCC_HEADROOM_CABLES 3

static inline int64_t
mmu_hpcc_threshold(const struct buffer *buffer, unsigned shift)
{
    return (buffer->shared_bytes - buffer->shared_used) >> shift;
}

/* Is the peer of 'in', which goes on, to be told to stop? */
static inline bool
mmu_hpcc_should_stop(const struct buffer *buffer, const struct in_class *in,
                     unsigned shift)
{
    return in->headroom_bytes > 0 || buffer_shared_of(in, buffer->reserved_bytes) >=
                                         mmu_hpcc_threshold(buffer, shift);
}

/* Charges 'bytes' to 'in'.  False: no room, nothing charged.  '*stop' tells whether the
 * peer must be told to stop, unless it is. */
static inline bool
mmu_hpcc_admit(struct buffer *buffer, struct in_class *in, unsigned shift, int64_t bytes,
               bool *stop)
{
    int64_t threshold = mmu_hpcc_threshold(buffer, shift);
    int64_t shared = buffer_shared_of(in, buffer->reserved_bytes);
    int64_t after = in->used_bytes + bytes - buffer->reserved_bytes;

    *stop = false;
    if (in->headroom_bytes + bytes > in->headroom_limit_bytes &&
        shared + bytes > threshold) {
        return false;
    }
    if (after > 0 && after > threshold) {
        in->headroom_bytes += bytes;
    } else {
        buffer_use__(buffer, in, buffer->reserved_bytes, bytes);
    }
    *stop = mmu_hpcc_should_stop(buffer, in, shift);
    return true;
}

/* May the peer of the stopped account 'in' go on? */
static inline bool
mmu_hpcc_may_resume(const struct buffer *buffer, const struct in_class *in,
                    unsigned shift)
{
    int64_t shared = buffer_shared_of(in, buffer->reserved_bytes);

    return in->headroom_bytes == 0 &&
           (shared == 0 ||
            shared + buffer->xon_offset_bytes <= mmu_hpcc_threshold(buffer, shift));
}

/* Headroom of a port of 'rate_bps' and a cable of 'delay_ps'; rounded down before it is
 * multiplied. */
int64_t mmu_hpcc_headroom_bytes(int64_t rate_bps, int64_t delay_ps);

/* Shift of a port of 'rate_bps' where NICs have 'nic_rate_bps': 'shift' at their rate, one
 * less for each doubling of it, not below 0. */
unsigned mmu_hpcc_shift(unsigned shift, int64_t rate_bps, int64_t nic_rate_bps);

#endif
