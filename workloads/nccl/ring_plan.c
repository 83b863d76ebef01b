/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring_plan.c - the schedule of a ring all_reduce on one channel, Simple protocol.
 * Pure functions over a const plan; ring.c asks them once a chunk.
 *
 * Source: NCCL 2.30.7 src/device/all_reduce.h and prims_simple.h, restated; see
 * ring_plan.h.
 * Invariant: the chunks of all loops (and channels) cover each byte exactly once.
 */
#include <config.h>

#include "workloads/nccl/ring_plan.h"

#include <assert.h>

static int64_t
div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t
round_up(int64_t a, int64_t multiple)
{
    return div_up(a, multiple) * multiple;
}

static int64_t
clamp_i64(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* Bytes that one loop covers on all channels that share it. */
static int64_t
loop_bytes(const struct ring_plan *plan)
{
    int64_t one = plan->n_ranks * plan->chunk_bytes;

    return plan->how == CHANNELS_EVEN ? one * plan->n_channels : one;
}

int64_t
ring_plan_chunk_bytes(int64_t buffer_bytes)
{
    int64_t chunk_bytes = buffer_bytes / NCCL_STEPS * NCCL_CHUNK_STEPS;

    return chunk_bytes / NCCL_SIMPLE_GRAIN_BYTES * NCCL_SIMPLE_GRAIN_BYTES;
}

void
ring_plan_init(struct ring_plan *plan, const struct channels_split *split,
               uint32_t channel, uint32_t n_ranks, uint32_t elem_bytes,
               int64_t buffer_bytes)
{
    assert(n_ranks >= 2 && buffer_bytes >= NCCL_STEPS * NCCL_SIMPLE_GRAIN_BYTES);
    *plan = (struct ring_plan){
        .how = split->how,
        .index = channel - split->channel_lo,
        .n_channels = split->n_channels,
        .n_threads = split->n_threads,
        .n_ranks = n_ranks,
        .elem_bytes = elem_bytes,
        .chunk_bytes = ring_plan_chunk_bytes(buffer_bytes),
        .slice_bytes = buffer_bytes / NCCL_STEPS * NCCL_SLICE_STEPS,
    };
    switch (split->how) {
    case CHANNELS_CBD:
        plan->part = channels_part_of(split, channel);
        break;
    case CHANNELS_EVEN:
        assert(buffer_bytes % 8192 == 0); /* else loops would overlap */
        if (channel >= split->channel_lo && plan->index < split->n_channels) {
            plan->part.size_bytes = split->total_bytes;
        }
        break;
    }
    if (plan->part.size_bytes > 0) {
        plan->n_loops = div_up(plan->part.size_bytes, loop_bytes(plan));
    }
}

struct ring_loop
ring_plan_loop(const struct ring_plan *plan, int64_t loop)
{
    int64_t done_bytes = loop * loop_bytes(plan);
    int64_t left_bytes = plan->part.size_bytes - done_bytes;
    struct ring_loop l = {
        .offset_bytes = plan->part.offset_bytes + done_bytes,
        .chunk_bytes = plan->chunk_bytes,
        .end_bytes = plan->part.offset_bytes + plan->part.size_bytes,
    };

    assert(loop >= 0 && loop < plan->n_loops);
    switch (plan->how) {
    case CHANNELS_CBD:
        if (left_bytes < loop_bytes(plan)) {
            l.chunk_bytes = round_up(div_up(left_bytes, plan->n_ranks), 16);
        }
        break;
    case CHANNELS_EVEN: {
        int64_t left_elems = left_bytes / plan->elem_bytes;
        int64_t elems = div_up(left_elems, (int64_t)plan->n_channels * plan->n_ranks);

        /* a thread moves 8 B at a time; the block moves as much in one go */
        elems = clamp_i64(elems, 0, plan->chunk_bytes / plan->elem_bytes);
        l.chunk_bytes = round_up(elems * plan->elem_bytes, 8 * (int64_t)plan->n_threads);
        l.offset_bytes += plan->index * plan->n_ranks * l.chunk_bytes;
        break;
    }
    }
    return l;
}

struct channels_part
ring_loop_chunk(const struct ring_loop *loop, uint32_t c)
{
    int64_t offset_bytes = loop->offset_bytes + c * loop->chunk_bytes;

    return (struct channels_part){
        .offset_bytes = offset_bytes,
        .size_bytes = clamp_i64(loop->end_bytes - offset_bytes, 0, loop->chunk_bytes),
    };
}

void
ring_plan_slices(const struct ring_plan *plan, int64_t chunk_bytes,
                 int64_t slice_bytes[NCCL_SLICES_PER_CHUNK])
{
    int64_t elem = plan->elem_bytes;
    int64_t n_elem = chunk_bytes / elem;
    int64_t floor_elem = plan->slice_bytes / elem / 32;
    int64_t each = div_up(n_elem, 16 * NCCL_SLICES_PER_CHUNK) * 16;

    each = each > floor_elem ? each : floor_elem;
    for (int i = 0; i < NCCL_SLICES_PER_CHUNK; i++) {
        int64_t now = clamp_i64(each, 0, n_elem);

        slice_bytes[i] = now * elem;
        n_elem -= now;
    }
}

/* Bytes that the rank at 'pos' sends in one loop. */
static int64_t
sent_in_loop(const struct ring_plan *plan, uint32_t pos, int64_t loop)
{
    struct ring_loop l = ring_plan_loop(plan, loop);
    int64_t sum_bytes = 0;

    /* 2n - 2 chunks in falling order: each one twice but for the two that would follow */
    for (uint32_t c = 0; c < plan->n_ranks; c++) {
        sum_bytes += 2 * ring_loop_chunk(&l, c).size_bytes;
    }
    sum_bytes -= ring_loop_chunk(&l, (pos + 1) % plan->n_ranks).size_bytes;
    sum_bytes -= ring_loop_chunk(&l, pos).size_bytes;
    return sum_bytes;
}

int64_t
ring_plan_sent_bytes(const struct ring_plan *plan, uint32_t pos)
{
    int64_t n_full = ring_plan_n_full_loops(plan);
    int64_t sum_bytes = n_full > 0 ? n_full * sent_in_loop(plan, pos, 0) : 0;

    for (int64_t i = n_full; i < plan->n_loops; i++) {
        sum_bytes += sent_in_loop(plan, pos, i);
    }
    return sum_bytes;
}
