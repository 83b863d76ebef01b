/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * channels.h - how many channels a collective takes and which bytes each of them gets.
 * Pure functions; know nothing of rings or networks.
 *
 * Source: NCCL 2.30.7 src/enqueue.cc: scheduleCollTasksToPlan (split), ncclPrepareTasks
 * (groups), getAlgoInfo/calcThreads (channels and threads of a call); NCCL 2.21
 * src/device/all_reduce.h (even split).
 */
#ifndef ROCESIM_WORKLOADS_NCCL_CHANNELS_H
#define ROCESIM_WORKLOADS_NCCL_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/nccl/nccl.h"

/* Channels and threads one call uses. */
struct channels_width {
    uint32_t n_channels;
    uint32_t n_threads; /* working threads of a block, without the extra sync warp */
};

/* One collective to be cut. */
struct channels_task {
    enum nccl_func func;
    int64_t count;         /* elements of the API call: send count of an all_gather,
                              receive count of a reduce_scatter */
    uint32_t elem_bytes;   /* 1, 2, 4 or 8 */
    uint32_t n_channels;   /* channels chosen for it, >= 1 */
    enum nccl_proto proto; /* LL moves four times the bytes */
};

enum channels_how {
    CHANNELS_CBD,  /* contiguous ranges, NCCL >= 2.22 */
    CHANNELS_EVEN, /* every loop interleaves all channels, NCCL <= 2.21 */
};

/* Which channels work on a collective and on which bytes.  With CHANNELS_CBD channel
 * 'channel_lo' gets the first 'lo_bytes', the channels between get 'mid_bytes' each,
 * 'channel_hi' the last 'hi_bytes'; if there is one channel only, lo_bytes is all.
 * With CHANNELS_EVEN the three byte counts are 0: the ring's loops do the cutting.
 * A collective of no elements has 'n_channels' 0. */
struct channels_split {
    enum channels_how how;
    uint32_t channel_lo;
    uint32_t n_channels;
    uint32_t n_threads; /* read only with CHANNELS_EVEN: rounds the chunks */
    int64_t total_bytes;
    int64_t lo_bytes;
    int64_t mid_bytes;
    int64_t hi_bytes;
};

/* A contiguous byte range of the collective's buffer. */
struct channels_part {
    int64_t offset_bytes;
    int64_t size_bytes;
};

/* Most threads of one block: ring, Simple.  'slow_ring' is true when the ring graph moves
 * at most 12 GB/s in all (bandwidth of a channel inside the node times channels). */
uint32_t channels_simple_threads(bool slow_ring);

/* Channels and threads of a ring call that moves 'size_bytes' (>= 0) on 'n_ranks' ranks, at
 * most 'n_channels' (>= 1) and 'max_threads' (>= 1).  First channels are given up, then
 * threads, until each thread has its least number of bytes: LL 8 times n_ranks, LL128 8,
 * Simple 64. */
struct channels_width channels_for_ring(int64_t size_bytes, uint32_t n_ranks,
                                        uint32_t n_channels, uint32_t max_threads,
                                        enum nccl_proto proto);

/* Collectives of one group, function and data type, sorted by growing size: fills
 * 'aggregate_bytes[n]' with the bytes on which the number of channels of each is decided.
 * Neighbours below 4 times the smallest of their run count as one. */
void channels_aggregate(const int64_t size_bytes[], size_t n, int64_t aggregate_bytes[]);

/* Cuts the 'n' (>= 1) tasks of one group, in their order, over 'max_channels' (>= 1)
 * channels on 'n_ranks' ranks; fills 'split[n]'.  Tasks of no elements take no channel.
 * Continuous byte distribution.  O(n). */
void channels_split_cbd(const struct channels_task task[], size_t n, uint32_t n_ranks,
                        uint32_t max_channels, struct channels_split split[]);

/* Cuts one task evenly over its task->n_channels channels, as NCCL did up to 2.21, where
 * 'n_threads' rounds the chunks. */
struct channels_split channels_split_even(const struct channels_task *task,
                                          uint32_t n_threads);

/* The range of 'channel' in a CHANNELS_CBD split; size 0 if it has no part. */
struct channels_part channels_part_of(const struct channels_split *split,
                                      uint32_t channel);

#endif
