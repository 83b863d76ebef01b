/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring_plan.h - the schedule of a ring all_reduce on one channel, Simple protocol: which
 * bytes each operation of each rank handles.  Pure functions; ring.c plays them.
 *
 * A channel works in loops.  A loop covers 'n_ranks' chunks and takes 2n - 1 operations on
 * each rank; operation 0 sends, the last one receives, all others do both:
 *   0            send
 *   1 .. n-2     receive, reduce, send
 *   n-1          receive, reduce, copy to the output, send
 *   n .. 2n-3    receive, copy to the output, send
 *   2n-2         receive, copy to the output
 * Each operation is done in two slices.  A slice without bytes still takes its two steps
 * and a message of no bytes.
 *
 * Source: NCCL 2.30.7 src/device/all_reduce.h (runRing), src/device/prims_simple.h
 * (genericOp), src/enqueue.cc (calcCollChunking); NCCL 2.21 all_reduce.h (even split).
 */
#ifndef ROCESIM_WORKLOADS_NCCL_RING_PLAN_H
#define ROCESIM_WORKLOADS_NCCL_RING_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/nccl/channels.h"
#include "workloads/nccl/nccl.h"

/* What one channel does of one collective; const while it runs. */
struct ring_plan {
    enum channels_how how;
    struct channels_part part; /* bytes of the channel; CHANNELS_EVEN: of all channels */
    uint32_t index;      /* of the channel in the split; CHANNELS_EVEN only, as are */
    uint32_t n_channels; /* the channels of the split */
    uint32_t n_threads;  /* and the threads of a block */
    uint32_t n_ranks;
    uint32_t elem_bytes;
    int64_t chunk_bytes; /* largest chunk */
    int64_t slice_bytes; /* largest slice */
    int64_t n_loops;
};

/* One loop: chunk 'c' stands at offset_bytes + c * chunk_bytes, cut at end_bytes. */
struct ring_loop {
    int64_t offset_bytes;
    int64_t chunk_bytes;
    int64_t end_bytes;
};

/* Largest chunk for a buffer of 'buffer_bytes' (NCCL_BUFFSIZE, >= 4096). */
int64_t ring_plan_chunk_bytes(int64_t buffer_bytes);

/* The plan of 'channel' for a collective of 'elem_bytes' (1, 2, 4, 8) elements on 'n_ranks'
 * (>= 2), cut as 'split' says; 'buffer_bytes' (>= 4096) must be a multiple of 8 KiB if the
 * cut is CHANNELS_EVEN.  A channel without a part has n_loops 0. */
void ring_plan_init(struct ring_plan *plan, const struct channels_split *split,
                    uint32_t channel, uint32_t n_ranks, uint32_t elem_bytes,
                    int64_t buffer_bytes);

/* Loop 'loop' in [0, plan->n_loops). */
struct ring_loop ring_plan_loop(const struct ring_plan *plan, int64_t loop);

/* Chunk 'c' in [0, n_ranks) of a loop; may have no bytes. */
struct channels_part ring_loop_chunk(const struct ring_loop *loop, uint32_t c);

/* Splits a chunk of 'chunk_bytes' (>= 0, whole elements) into its two slices, the first one
 * in slice_bytes[0]. */
void ring_plan_slices(const struct ring_plan *plan, int64_t chunk_bytes,
                      int64_t slice_bytes[NCCL_SLICES_PER_CHUNK]);

/* Operations of one rank in one loop. */
static inline uint32_t
ring_plan_n_ops(uint32_t n_ranks)
{
    return 2 * n_ranks - 1;
}

/* The chunk that the rank at ring position 'pos' handles in operation 'op' (below
 * ring_plan_n_ops); if the operation sends and receives, it is one and the same. */
static inline uint32_t
ring_plan_chunk(uint32_t n_ranks, uint32_t pos, uint32_t op)
{
    return (pos + 2 * n_ranks - 1 - op) % n_ranks;
}

static inline bool
ring_plan_sends(uint32_t n_ranks, uint32_t op)
{
    return op + 2 < 2 * n_ranks;
}

static inline bool
ring_plan_receives(uint32_t op)
{
    return op > 0;
}

/* True when the operation adds the received data to its own input. */
static inline bool
ring_plan_reduces(uint32_t n_ranks, uint32_t op)
{
    return op > 0 && op < n_ranks;
}

/* True when the operation writes its chunk's final value to the output. */
static inline bool
ring_plan_outputs(uint32_t n_ranks, uint32_t op)
{
    return op + 1 >= n_ranks;
}

/* Messages a rank sends on the channel in the whole collective; it receives as many. */
static inline int64_t
ring_plan_n_messages(const struct ring_plan *plan)
{
    return plan->n_loops * 2 * ((int64_t)plan->n_ranks - 1) * NCCL_SLICES_PER_CHUNK;
}

/* Loops from the first on whose chunks are all as large: all but the last. */
static inline int64_t
ring_plan_n_full_loops(const struct ring_plan *plan)
{
    return plan->n_loops > 0 ? plan->n_loops - 1 : 0;
}

/* Bytes that the rank at 'pos' sends on the channel in the whole collective.
 * O(n_ranks). */
int64_t ring_plan_sent_bytes(const struct ring_plan *plan, uint32_t pos);

#endif
