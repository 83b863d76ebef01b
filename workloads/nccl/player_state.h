/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * player_state.h - what a player consists of; private to player.c, which plays,
 * player_build.c, which makes it, player_bound.c and player_result.c, which read it.
 *
 * Invariants: a rank is in at most one call of a communicator, and without a graph in at most
 * one; what a rank, a stream or a span holds is
 * changed by events of one host only and shares no cache line with another host's.
 */
#ifndef ROCESIM_WORKLOADS_NCCL_PLAYER_STATE_H
#define ROCESIM_WORKLOADS_NCCL_PLAYER_STATE_H

#include "workloads/nccl/player.h"
#include "workloads/nccl/ring.h"

#define PLAYER_NONE UINT32_MAX

/* When the ranks of a host were in a call. */
struct player_span {
    int64_t start_ps; /* of the first; TIME_NEVER_PS: not yet */
    int64_t end_ps;   /* of the last one so far; read only if start_ps is valid */
};

/* The ranks of a communicator on one host. */
struct player_part {
    uint32_t host;
    uint32_t n_ranks;
    uint32_t *nics; /* owned: indices within the host, ascending */
    uint32_t n_nics;
    struct player_span *spans; /* owned: [rounds][n_ops of the communicator] */
};

/* A message that is posted and not yet complete; from the pool. */
struct player_post {
    struct player_post *next;
    int64_t post_ps;
};

/* What one queue pair of a connection sends: side 0 data, side 1 clear-to-send. */
struct player_stream {
    _Alignas(64) struct player_comm *comm; /* borrowed */
    struct qp *qp;                         /* borrowed; from the start on */
    struct player_post *oldest, *newest;   /* owned: in order of posting */
    uint32_t conn;                         /* of the ring */
    uint32_t index;                        /* of the queue pair in it */
    uint32_t connection;                   /* of the network */
    unsigned side;
    int64_t n_messages, bytes;
    int64_t min_ps, max_ps, sum_ps; /* post to completion, of those complete */
    int64_t n_complete;
};

/* The timers of a rank's channel. */
struct player_lane {
    _Alignas(64) struct work_timer timers[RING_N_TIMERS];
};

struct player_comm {
    struct player *player; /* borrowed */
    char *name;            /* owned; NULL: the only one */
    uint32_t n_ranks;
    uint32_t *ranks;   /* owned: rank of the job of each */
    uint32_t *part_of; /* owned: [n_ranks] */
    uint32_t n_channels;
    uint32_t *rings; /* owned: [n_channels][n_ranks] */
    uint32_t n_ops;
    uint32_t first_op, last_op; /* PLAYER_NONE without any */
    struct player_part *parts;  /* owned: in order of their lowest rank */
    uint32_t n_parts;
    struct ring *ring;             /* owned; NULL without operations, as are */
    uint32_t *streams_of;          /* owned: by connection of the ring, the first queue
                                      pair's pair of streams; PLAYER_NONE inside a host */
    struct player_stream *streams; /* owned: [queue pairs][2] */
    uint32_t n_pairs;
    struct player_lane *lanes; /* owned: by (rank, channel); NULL without costs */
};

struct player_op {
    struct player_op_spec spec;
    struct ring_call call; /* from player_build() on */
    uint32_t index;        /* among those of its communicator */
    uint32_t next;         /* of its communicator, or PLAYER_NONE */
};

/* A communicator that a rank is in. */
struct player_member {
    uint32_t comm, rank;
    uint32_t next_op; /* this one's first that the rank has not ended in this round */
};

struct player_rank {
    _Alignas(64) struct player *player; /* borrowed */
    struct lp *lp;                      /* borrowed; from the start on */
    uint32_t host, gpu;
    uint32_t op;     /* to be begun or in work; PLAYER_NONE: the round is over; this, */
    uint32_t member; /* that it belongs to (read only with an op), and */
    bool busy;       /* in work: only without a graph */
    bool done;       /* all rounds are over */
    int64_t round, round_ps;
    int64_t ready_ps;              /* the next operation begins not before */
    struct player_member *members; /* owned */
    uint32_t n_members;
    struct graph_rank *graph; /* owned; NULL: one operation after the other */
    struct work_timer timer;  /* read only without a graph */
    struct pipe out;          /* data to GPUs of the host, at the pipe's rate */
    struct pipe in;           /* data from them; player.c adds the time they take */
    struct pipe credit;       /* slots given back to them */
};

struct player {
    struct net *net;                  /* borrowed */
    const struct work_params *params; /* borrowed */
    struct player_rank *ranks;        /* owned */
    uint32_t n_ranks;
    struct player_comm **comms; /* owned, each */
    uint32_t n_comms;
    struct player_op *ops; /* owned */
    uint32_t n_ops, cap_ops;
    struct player_node_spec *nodes; /* owned */
    uint32_t n_nodes, cap_nodes;
    int64_t n_rounds;
    bool splits_data;          /* each message over all queue pairs */
    struct call_result *calls; /* owned; from the start on */
    uint32_t n_calls;
    struct stream_result *stream_results; /* owned; once asked for */
};

/* What the ring calls: player.c. */
extern const struct ring_transport player_transport;

/* What the queue pairs call: player.c. */
extern const struct qp_user_ops player_user;

/* KIND_WORK of a rank, of a lane: player.c. */
void player_rank_fire(struct lp *lp, struct work_timer *timer);
void player_lane_fire(struct lp *lp, struct work_timer *timer);

/* A rank begins operation 'op' of its 'member'; true when there was nothing to do.  It has
 * ended it.  All its operations are to come again.  player.c. */
bool player_begin(struct player_rank *rank, uint32_t op, uint32_t member, int64_t now_ps);
void player_end(struct player_rank *rank, uint32_t op, uint32_t member, int64_t now_ps);
void player_rewind(struct player_rank *rank);

/* Fills bound_ps of all calls: player_bound.c.  When queue pairs are there. */
void player_bound(struct player *player);

#endif
