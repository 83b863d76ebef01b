/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * channels.c - how many channels a collective takes and which bytes each of them gets.
 * Pure functions of their arguments; used by ring_plan.c and by what builds calls.
 *
 * Source: NCCL 2.30.7 src/enqueue.cc, restated; see channels.h.
 * Invariant: the parts of a split are contiguous, in channel order, and sum to the total.
 */
#include <config.h>

#include "workloads/nccl/channels.h"

#include <assert.h>

static int64_t
div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t
min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Where the distribution stands between two tasks of a group. */
struct cursor {
    uint32_t channel;
    int64_t traffic;             /* already on 'channel' */
    int64_t traffic_per_channel; /* aim */
    uint32_t max_channels;
};

/* Bytes that cross a ring per byte of the API count: all_reduce 2, all_gather and
 * reduce_scatter 'n_ranks', others 1 (NCCL's ncclFuncTrafficPerByte). */
static int64_t
func_traffic_per_byte(enum nccl_func func, uint32_t n_ranks)
{
    switch (func) {
    case NCCL_ALL_REDUCE:
        return 2;
    case NCCL_ALL_GATHER:
    case NCCL_REDUCE_SCATTER:
        return n_ranks;
    case NCCL_BROADCAST:
    case NCCL_REDUCE:
        return 1;
    }
    assert(false);
    return 1;
}

static int64_t
task_traffic_per_byte(const struct channels_task *task, uint32_t n_ranks)
{
    int64_t tpb = func_traffic_per_byte(task->func, n_ranks);

    return task->proto == NCCL_PROTO_LL ? 4 * tpb : tpb;
}

/* Cuts one task from where the cursor stands.  All quantities are cells: the amount of data
 * below which dividing further is not worth a channel. */
static struct channels_split
split_task(const struct channels_task *task, uint32_t n_ranks, struct cursor *cur)
{
    int64_t tpb = task_traffic_per_byte(task, n_ranks);
    int64_t cell_bytes = div_up(div_up(NCCL_MIN_TRAFFIC_BYTES, tpb), 16) * 16;
    int64_t cell_traffic = cell_bytes * tpb;
    int64_t total_bytes = task->count * task->elem_bytes;
    int64_t cells = div_up(total_bytes, cell_bytes);
    int64_t per = min_i64(cells, div_up(cur->traffic_per_channel, cell_traffic));
    int64_t lo = cells, mid, hi, needed;

    if (cur->channel + 1 != cur->max_channels) {
        lo =
            min_i64(cells, div_up(cur->traffic_per_channel - cur->traffic, cell_traffic));
    }
    mid = (cells - lo) / per;
    hi = (cells - lo) % per;
    needed = (lo != 0) + mid + (hi != 0);
    if (needed > (int64_t)cur->max_channels - cur->channel) {
        mid = (int64_t)cur->max_channels - cur->channel - 2;
        per = (cells - lo) / (mid + 1);
        hi = per + (cells - lo) % (mid + 1);
    }
    if (hi == 0 && mid != 0) {
        hi = per;
        mid--;
    }
    if (lo == 0) { /* the channel was full: start on the next one */
        cur->channel++;
        if (mid == 0) {
            lo = hi;
            hi = 0;
        } else {
            lo = per;
            mid--;
        }
    }

    struct channels_split split = {
        .how = CHANNELS_CBD,
        .channel_lo = cur->channel,
        .n_channels = (uint32_t)((lo != 0) + mid + (hi != 0)),
        .total_bytes = total_bytes,
        .lo_bytes = lo * cell_bytes,
        .mid_bytes = mid != 0 ? per * cell_bytes : 0,
        .hi_bytes = hi * cell_bytes,
    };
    /* only the last part is not made of whole cells */
    *(hi != 0 ? &split.hi_bytes : &split.lo_bytes) -= cells * cell_bytes - total_bytes;

    if (hi != 0) {
        cur->channel += split.n_channels - 1;
        cur->traffic = hi * cell_traffic;
    } else {
        cur->traffic += lo * cell_traffic;
    }
    if (cur->traffic >= cur->traffic_per_channel &&
        cur->channel + 1 != cur->max_channels) {
        cur->channel++;
        cur->traffic = 0;
    }
    return split;
}

/* Bytes a call must have for each thread (NCCL_THREAD_THRESHOLDS, defaults for a ring). */
static int64_t
thread_threshold_bytes(enum nccl_proto proto, uint32_t n_ranks)
{
    switch (proto) {
    case NCCL_PROTO_LL:
        return 8 * (int64_t)n_ranks;
    case NCCL_PROTO_LL128:
        return 8;
    case NCCL_PROTO_SIMPLE:
        return 64;
    }
    assert(false);
    return 8;
}

uint32_t
channels_simple_threads(bool slow_ring)
{
    return slow_ring ? 256 : 512;
}

struct channels_width
channels_for_ring(int64_t size_bytes, uint32_t n_ranks, uint32_t n_channels,
                  uint32_t max_threads, enum nccl_proto proto)
{
    struct channels_width w = {.n_channels = n_channels, .n_threads = max_threads};
    int64_t least = thread_threshold_bytes(proto, n_ranks);

    assert(n_channels >= 1 && max_threads >= 1);
    while (w.n_channels >= 2 &&
           size_bytes < (int64_t)w.n_channels * w.n_threads * least) {
        w.n_channels--;
    }
    while (w.n_threads % 128 == 0 &&
           size_bytes < (int64_t)w.n_channels * w.n_threads * least) {
        w.n_threads /= 2;
    }
    return w;
}

void
channels_aggregate(const int64_t size_bytes[], size_t n, int64_t aggregate_bytes[])
{
    size_t begin = 0;

    while (begin < n) {
        int64_t sum = size_bytes[begin];
        size_t end = begin + 1;

        while (end < n && size_bytes[end] < 4 * size_bytes[begin]) {
            sum += size_bytes[end++];
        }
        while (begin < end) {
            aggregate_bytes[begin++] = sum;
        }
    }
}

void
channels_split_cbd(const struct channels_task task[], size_t n, uint32_t n_ranks,
                   uint32_t max_channels, struct channels_split split[])
{
    struct cursor cur = {.max_channels = max_channels};
    int64_t traffic = 0, n_channels = 0;

    assert(max_channels >= 1);
    for (size_t i = 0; i < n; i++) {
        int64_t t =
            task[i].count * task[i].elem_bytes * task_traffic_per_byte(&task[i], n_ranks);

        if (task[i].count == 0) {
            continue;
        }
        traffic += t > NCCL_MIN_TRAFFIC_BYTES ? t : NCCL_MIN_TRAFFIC_BYTES;
        n_channels = min_i64(n_channels + task[i].n_channels, max_channels);
    }
    if (n_channels > 0) {
        cur.traffic_per_channel = div_up(traffic / n_channels, 16) * 16;
    }
    for (size_t i = 0; i < n; i++) {
        split[i] = task[i].count == 0 ? (struct channels_split){.how = CHANNELS_CBD}
                                      : split_task(&task[i], n_ranks, &cur);
    }
}

struct channels_split
channels_split_even(const struct channels_task *task, uint32_t n_threads)
{
    return (struct channels_split){
        .how = CHANNELS_EVEN,
        .n_channels = task->count == 0 ? 0 : task->n_channels,
        .n_threads = n_threads,
        .total_bytes = task->count * task->elem_bytes,
    };
}

struct channels_part
channels_part_of(const struct channels_split *split, uint32_t channel)
{
    struct channels_part part = {0};
    uint32_t i = channel - split->channel_lo;

    assert(split->how == CHANNELS_CBD);
    if (channel < split->channel_lo || i >= split->n_channels) {
        return part;
    }
    if (i == 0) {
        part.size_bytes = split->lo_bytes;
    } else if (i + 1 < split->n_channels || split->hi_bytes == 0) {
        part.offset_bytes = split->lo_bytes + (i - 1) * split->mid_bytes;
        part.size_bytes = split->mid_bytes;
    } else {
        part.offset_bytes = split->lo_bytes + (i - 1) * split->mid_bytes;
        part.size_bytes = split->hi_bytes;
    }
    return part;
}
