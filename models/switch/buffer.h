/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * buffer.h - the shared packet buffer of a switch and who may use it.
 *
 * A queued packet is charged twice: to its ingress (port, class) and to its egress queue.
 * A lossless class is judged at the ingress: its reserve, then the shared part under the
 * dynamic threshold alpha x free, then the headroom of the port; beyond that it is lost.
 * A lossy class is judged at the egress: the queue against alpha x free.
 *
 * Sources: Choudhury and Hahne, "Dynamic queue length thresholds", ToN 6(2), 1998; order
 * of reserve, shared, headroom and release as SONiC's buffer model and the HPCC
 * simulator's switch-mmu have it.
 * Invariant: shared_used is the sum over all accounts of what lies over their reserve.
 */
#ifndef ROCESIM_MODELS_SWITCH_BUFFER_H
#define ROCESIM_MODELS_SWITCH_BUFFER_H

#include "models/port.h"

/* Sizes and rules of a switch's buffer, and its total. */
struct buffer {
    int64_t shared_bytes; /* size: what reserve and headroom of all accounts leave */
    int64_t shared_used;
    int64_t alpha_q16;      /* 0 to 64 x 2^16 */
    int64_t reserved_bytes; /* of each lossless account */
    int64_t xon_bytes; /* >= 0: resume at or below so much shared use; -1: see next */
    int64_t xon_offset_bytes; /* resume at or below the threshold minus this */
    int64_t max_used;         /* largest shared_used seen */
};

/* The dynamic threshold: at most 2^40 bytes free x 2^22. */
static inline int64_t
buffer_threshold(const struct buffer *buffer)
{
    return (buffer->shared_bytes - buffer->shared_used) * buffer->alpha_q16 >> 16;
}

/* What 'in' uses of the shared part, when 'reserved_bytes' are its own. */
static inline int64_t
buffer_shared_of(const struct in_class *in, int64_t reserved_bytes)
{
    int64_t over = in->used_bytes - reserved_bytes;

    return over > 0 ? over : 0;
}

static inline void
buffer_use__(struct buffer *buffer, struct in_class *in, int64_t reserved_bytes,
             int64_t bytes)
{
    int64_t before = buffer_shared_of(in, reserved_bytes);

    in->used_bytes += bytes;
    buffer->shared_used += buffer_shared_of(in, reserved_bytes) - before;
}

/* Charges 'bytes' to the lossless account 'in'.  False: no room, nothing charged.
 * '*stop' tells whether the peer must be told to stop.
 *
 * Headroom is for what comes after the frame that stops the peer.  When other accounts
 * have let the threshold fall below what lies here already, that frame goes to headroom,
 * too; the last one after it may then take shared room instead. */
static inline bool
buffer_admit_lossless(struct buffer *buffer, struct in_class *in, int64_t bytes,
                      bool *stop)
{
    int64_t shared = buffer_shared_of(in, buffer->reserved_bytes);
    bool has_room = buffer->shared_used + bytes <= buffer->shared_bytes;
    bool fits = in->used_bytes + bytes <= buffer->reserved_bytes ||
                (shared < buffer_threshold(buffer) && has_room);

    /* Once a frame lies in headroom the next ones do too: order of release
     * is by account. */
    if (in->headroom_bytes == 0 && fits) {
        buffer_use__(buffer, in, buffer->reserved_bytes, bytes);
        /* Strictly inside the reserve nothing is ever stopped. */
        *stop = in->used_bytes > buffer->reserved_bytes &&
                buffer_shared_of(in, buffer->reserved_bytes) >= buffer_threshold(buffer);
        return true;
    }
    *stop = true;
    if (in->headroom_bytes + bytes <= in->headroom_limit_bytes) {
        in->owed_frame |= !in->xoff;
        in->headroom_bytes += bytes;
        return true;
    }
    if (in->owed_frame && has_room) {
        in->owed_frame = false;
        buffer_use__(buffer, in, buffer->reserved_bytes, bytes);
        return true;
    }
    return false;
}

/* Charges 'bytes' to the lossy account 'in'; 'queue_bytes' lie in the egress queue. */
static inline bool
buffer_admit_lossy(struct buffer *buffer, struct in_class *in, int64_t bytes,
                   int64_t queue_bytes)
{
    if (queue_bytes >= buffer_threshold(buffer) ||
        buffer->shared_used + bytes > buffer->shared_bytes) {
        return false;
    }
    buffer_use__(buffer, in, 0, bytes);
    return true;
}

/* Gives 'bytes' back: headroom first, then shared, then the reserve. */
static inline void
buffer_release(struct buffer *buffer, struct in_class *in, int64_t bytes, bool lossless)
{
    int64_t headroom = in->headroom_bytes < bytes ? in->headroom_bytes : bytes;

    in->headroom_bytes -= headroom;
    buffer_use__(buffer, in, lossless ? buffer->reserved_bytes : 0, headroom - bytes);
}

/* May the peer of the stopped account 'in' go on? */
static inline bool
buffer_may_resume(const struct buffer *buffer, const struct in_class *in)
{
    int64_t shared = buffer_shared_of(in, buffer->reserved_bytes);

    if (in->headroom_bytes > 0) {
        return false;
    }
    if (buffer->xon_bytes >= 0) {
        return shared <= buffer->xon_bytes;
    }
    return shared == 0 || shared <= buffer_threshold(buffer) - buffer->xon_offset_bytes;
}

/* Headroom that no phase can overflow, bytes: what the cable holds both ways, what the
 * peer sends in its reaction time, one frame in front of the pause frame, one the peer
 * has just begun, and the pause frame itself.  'rate_bps' of the link, 'delay_ps' one
 * way, 'reaction_ps' of the peer, 'frame_bytes' the largest frame with FCS. */
int64_t buffer_headroom_bytes(int64_t rate_bps, int64_t delay_ps, int64_t reaction_ps,
                              int64_t frame_bytes);

#endif
