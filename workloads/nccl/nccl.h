/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nccl.h - constants and small rules of NCCL that several files of this folder share.
 *
 * Source: NCCL 2.30.7 (v2.30.7-1), src/include/device.h, src/enqueue.cc, src/proxy.cc and
 * src/transport/net_ib; what older versions did differently stands at the rule.
 */
#ifndef ROCESIM_WORKLOADS_NCCL_NCCL_H
#define ROCESIM_WORKLOADS_NCCL_NCCL_H

#include <stdbool.h>
#include <stdint.h>

/* Slots of one connection's buffer; every credit counts in them. */
#define NCCL_STEPS 8

/* Ring and Simple protocol, all_reduce (also all_gather, reduce_scatter): steps of one
 * chunk and of one slice.  A slice is one message on the network. */
#define NCCL_CHUNK_STEPS 4
#define NCCL_SLICE_STEPS 2
#define NCCL_SLICES_PER_CHUNK (NCCL_CHUNK_STEPS / NCCL_SLICE_STEPS)

/* NCCL_BUFFSIZE: default buffer of a connection, Simple protocol. */
#define NCCL_BUFFSIZE_DEFAULT (4 << 20)

/* Grain of the Simple protocol: chunks are whole multiples of it. */
#define NCCL_SIMPLE_GRAIN_BYTES 512

/* Most channels of a communicator (64 since 2.25, 32 before). */
#define NCCL_MAX_CHANNELS 64

/* Traffic below which a task is not spread further, and the least one accounted. */
#define NCCL_MIN_TRAFFIC_BYTES 32768

enum nccl_proto {
    NCCL_PROTO_LL,
    NCCL_PROTO_LL128,
    NCCL_PROTO_SIMPLE,
};

enum nccl_func {
    NCCL_ALL_REDUCE,
    NCCL_ALL_GATHER,
    NCCL_REDUCE_SCATTER,
    NCCL_BROADCAST,
    NCCL_REDUCE,
};

/* The number NCCL itself forms from a version (NCCL_VERSION(2,22,3) is 22203). */
#define NCCL_VERSION_CODE(major, minor, patch) ((major)*10000u + (minor)*100u + (patch))

/* What is simulated when nothing is said. */
#define NCCL_VERSION_DEFAULT NCCL_VERSION_CODE(2u, 30u, 7u)

/* True when collectives are cut over channels by continuous byte distribution. */
static inline bool
nccl_version_has_cbd(uint32_t version)
{
    return version >= NCCL_VERSION_CODE(2u, 22u, 0u);
}

/* Bytes of one clear-to-send record as written on the wire. */
static inline int64_t
nccl_version_cts_bytes(uint32_t version)
{
    return version >= NCCL_VERSION_CODE(2u, 20u, 0u) ? 64 : 32;
}

/* Default of NCCL_IB_SPLIT_DATA_ON_QPS (1 up to 2.19; before 2.18 there was no choice and
 * each message was split). */
static inline bool
nccl_version_splits_data(uint32_t version)
{
    return version < NCCL_VERSION_CODE(2u, 20u, 0u);
}

/* NCCL_IB_SPLIT_DATA_ON_QPS=1: what each of 'n_qps' (>= 1) queue pairs gets of a message of
 * 'size_bytes' (>= 0), whole lines of 128 B; the last ones get what is left, if any. */
static inline int64_t
nccl_piece_bytes(int64_t size_bytes, uint32_t n_qps)
{
    return ((size_bytes + n_qps - 1) / n_qps + 127) / 128 * 128;
}

#endif
