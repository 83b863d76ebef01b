/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring.h - a communicator that plays ring all_reduces, Simple protocol: for each rank and
 * channel the GPU's loop over slices, the send proxy, the receive proxy and the credits
 * between them.  It knows no network: it posts through a table of functions and is told by
 * upcalls what happened.
 *
 * The connection of (rank, channel) leads from the rank to the next one of that channel's
 * ring; its number is ring_conn().  Between hosts it is one or more queue pairs:
 *   sender                                   receiver
 *                       <- clear-to-send --  a slot is free and the call wants a message
 *   GPU fills a slot, proxy posts -- data -> proxy sees it, GPU takes it, slot free
 *   slot free           <- completion ------
 * Inside a host the GPU writes into the receiver's slot; the receiver returns the credit.
 * A connection has 8 slots (steps); a slice takes two, so at most 4 messages are on the way.
 *
 * Threads: the state of a rank is touched only by calls that name the rank or, for
 * connections, its end of it; each function says whose.  Two ranks may be driven by two
 * threads at once; what joins them goes through the transport.
 *
 * Source: NCCL 2.30.7 src/device/prims_simple.h, src/transport/net.cc (sendProxyProgress,
 * recvProxyProgress), src/transport/net_ib (isend, irecv).  docs/nccl.md says what is left
 * out.
 */
#ifndef ROCESIM_WORKLOADS_NCCL_RING_H
#define ROCESIM_WORKLOADS_NCCL_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/nccl/channels.h"
#include "workloads/nccl/nccl.h"

/* Most queue pairs of a connection. */
#define RING_MAX_QPS 64

struct ring;

/* What the parts of a rank cost beside the network; all 0 by default.  No number of them
 * can be read in NCCL's source: they are fitted to measurements. */
struct ring_costs {
    int64_t launch_ps;  /* from the start of a call to its first operation */
    int64_t copy_bps;   /* a GPU block copies at this rate; 0 = in no time */
    int64_t reduce_bps; /* receive and reduce; 0 = in no time */
    int64_t poll_ps;    /* until a proxy, or the GPU behind it, sees what happened */
    int64_t post_ps;    /* the proxy thread of a rank is busy with one post */
};

/* A communicator; const after ring_new. */
struct ring_config {
    uint32_t n_ranks;      /* >= 1 */
    uint32_t n_channels;   /* 1 to NCCL_MAX_CHANNELS */
    const uint32_t *order; /* [n_channels][n_ranks]: the ranks in ring order; copied */
    const uint32_t *host;  /* [n_ranks]: equal for ranks that share a host; copied */
    uint32_t version;      /* NCCL_VERSION_CODE */
    int64_t buffer_bytes;  /* NCCL_BUFFSIZE: a multiple of 8192, at least that */
    uint32_t max_threads;  /* of a block: channels_simple_threads() or NCCL_NTHREADS */
    uint32_t n_qps;        /* NCCL_IB_QPS_PER_CONNECTION: 1 to RING_MAX_QPS */
    bool split_data;       /* NCCL_IB_SPLIT_DATA_ON_QPS: each message over all QPs */
    struct ring_costs costs;
};

/* One all_reduce. */
struct ring_call {
    int64_t size_bytes;
    uint32_t elem_bytes; /* 1, 2, 4 or 8 */
    struct channels_split split;
};

/* Timers of a rank's channel; each has at most one event outstanding. */
enum ring_timer {
    RING_TIMER_GPU,  /* launch, or a slice is copied, or something becomes visible */
    RING_TIMER_SEND, /* the proxy posts data */
    RING_TIMER_CTS,  /* the proxy posts a clear-to-send */
    RING_N_TIMERS,
};

/* How a ring reaches the network.  No function may call back into the ring before it
 * returns, but 'finished' may start the rank's next call. */
struct ring_transport {
    /* Sender of 'conn': RDMA WRITE with immediate of 'size_bytes' (>= 0) on queue pair 'qp'
     * of the connection.  Ends as ring_on_data at the receiver and ring_on_sent here. */
    void (*send_data)(void *net, uint32_t conn, uint32_t qp, int64_t size_bytes,
                      uint32_t immediate, int64_t now_ps);
    /* Receiver of 'conn': RDMA WRITE of 'size_bytes' without immediate, in the reverse
     * direction of the connection's queue pair 0.  Ends as ring_on_cts at the sender. */
    void (*send_cts)(void *net, uint32_t conn, int64_t size_bytes, int64_t now_ps);
    /* Sender of 'conn', inside a host: 'size_bytes' (>= 0) through the pipe.  Ends as
     * ring_on_data at the receiver. */
    void (*send_local)(void *net, uint32_t conn, int64_t size_bytes, int64_t now_ps);
    /* Receiver of 'conn', inside a host: one slice was taken.  Ends as ring_on_credit at
     * the sender. */
    void (*send_credit)(void *net, uint32_t conn, int64_t now_ps);
    /* ring_on_timer of (rank, channel, timer) at 'when_ps', later than now. */
    void (*at)(void *net, uint32_t rank, uint32_t channel, enum ring_timer timer,
               int64_t when_ps);
    /* 'rank' has finished its call, begun with ring_start at 'start_ps'. */
    void (*finished)(void *net, uint32_t rank, int64_t start_ps, int64_t now_ps);
};

/* Fills 'config' with defaults for 'n_ranks' and 'n_channels': current version, 4 MiB, 512
 * threads, one queue pair, no costs.  'order' and 'host' remain the caller's to set. */
void ring_config_init(struct ring_config *config, uint32_t n_ranks, uint32_t n_channels);

/* True when 'order[n_ranks]' names each rank below 'n_ranks' once. */
bool ring_order_is_valid(const uint32_t order[], uint32_t n_ranks);

/* A communicator that posts through 'transport' (borrowed) with 'net' (borrowed) as first
 * argument.  Every order must be valid.  Memory: one block per rank and channel, none
 * later. */
struct ring *ring_new(const struct ring_config *config,
                      const struct ring_transport *transport, void *net);
void ring_free(struct ring *ring);

/* Fills 'call' for 'size_bytes' (>= 0, whole elements): how many channels, and which bytes
 * on each, as the communicator's NCCL version does it for a call alone in its group. */
void ring_call_init(const struct ring *ring, struct ring_call *call, int64_t size_bytes,
                    uint32_t elem_bytes);

/* The same on channels 'channel_lo' to 'channel_hi' (both included, of the communicator),
 * as a log says of a call; what it moves is cut evenly over them. */
void ring_call_init_on(const struct ring *ring, struct ring_call *call,
                       int64_t size_bytes, uint32_t elem_bytes, uint32_t channel_lo,
                       uint32_t channel_hi);

/* Number of the connection that leaves 'rank' on 'channel', in [0, ring_n_conns). */
uint32_t ring_conn(const struct ring *ring, uint32_t rank, uint32_t channel);
uint32_t ring_n_conns(const struct ring *ring);
uint32_t ring_conn_sender(const struct ring *ring, uint32_t conn);
uint32_t ring_conn_receiver(const struct ring *ring, uint32_t conn);
bool ring_conn_is_local(const struct ring *ring, uint32_t conn);

/* Rank 'rank', which is idle, begins 'call' (read here, not kept).  All ranks must begin
 * the same calls in the same order.  True when there is nothing to do (no elements, or one
 * rank): then the call is over and 'finished' is not called. */
bool ring_start(struct ring *ring, uint32_t rank, const struct ring_call *call,
                int64_t now_ps);

/* True while 'rank' is in a call. */
bool ring_is_busy(const struct ring *ring, uint32_t rank);

/* Upcalls.  Receiver of 'conn': a message, or its piece, of 'size_bytes' is in memory, 'qp'
 * as posted (0 inside a host). */
void ring_on_data(struct ring *ring, uint32_t conn, uint32_t qp, int64_t size_bytes,
                  int64_t now_ps);
/* Sender of 'conn': a clear-to-send record is in memory. */
void ring_on_cts(struct ring *ring, uint32_t conn, int64_t now_ps);
/* Sender of 'conn': completion of the oldest post on 'qp' that had none. */
void ring_on_sent(struct ring *ring, uint32_t conn, uint32_t qp, int64_t now_ps);
/* Sender of 'conn', inside a host: the receiver has taken a slice. */
void ring_on_credit(struct ring *ring, uint32_t conn, int64_t now_ps);
void ring_on_timer(struct ring *ring, uint32_t rank, uint32_t channel,
                   enum ring_timer timer, int64_t now_ps);

/* What (rank, channel) waits for, in words, into 'text' ("rank 3 channel 1 waits for data
 * of step 12 from rank 2"); steps count from the start of the connection.  False, and an
 * empty text, when it waits for nothing.  For the end of a run: no event may be pending. */
bool ring_describe_wait(const struct ring *ring, uint32_t rank, uint32_t channel,
                        char *text, size_t n_text);

/* Aborts when the counters of 'rank' contradict each other. */
void ring_check(const struct ring *ring, uint32_t rank);

#endif
