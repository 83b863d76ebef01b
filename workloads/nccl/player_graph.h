/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * player_graph.h - ranks that do operations by what they depend on, instead of one after the
 * other; private to the player.
 *
 * A rank has a stream for each of its communicators and one for computing.  Those of one
 * stream follow each other in the order of the job; streams run side by side, and wait for
 * each other only where a node says so.  What is left out has no stream and takes no time.
 *
 * Streams of one rank share its pipes and its NICs; that they share a proxy thread and the
 * GPU's blocks, too, is left out.
 *
 * Invariant: at most one item of a stream has all it waits for; so one timer a stream will do.
 */
#ifndef ROCESIM_WORKLOADS_NCCL_PLAYER_GRAPH_H
#define ROCESIM_WORKLOADS_NCCL_PLAYER_GRAPH_H

#include "workloads/nccl/player_state.h"

/* A node as one rank does it. */
struct graph_item {
    uint32_t node;
    uint32_t stream;    /* of the rank; PLAYER_NONE: left out */
    uint32_t first_out; /* items of the rank that wait for it: 'outs' from here to the */
                        /* next item's */
    uint32_t n_need, n_wait; /* it waits for in all, and still */
    int64_t ready_ps;        /* the last of them ended */
    bool ended;
};

struct graph_stream {
    struct work_timer timer;
    struct player_rank *rank; /* borrowed */
    uint32_t item;            /* begun or about to; PLAYER_NONE: idle */
    bool busy;                /* begun */
};

struct graph_rank {
    struct graph_item *items; /* owned: [n_items + 1], the last for its first_out */
    uint32_t n_items, n_left; /* in all; not ended in this round */
    uint32_t *outs;           /* owned */
    uint32_t *queue;          /* owned: items that wait for nothing more, [n_items] */
    uint32_t n_queue;
    struct graph_stream *streams; /* owned: by member, then computing */
    uint32_t n_streams;
};

/* Makes the items of all ranks from the nodes of 'player'; nothing without nodes. */
gboolean graph_build(struct player *player, GError **error);
void graph_free(struct graph_rank *graph); /* accepts NULL */

/* The rank's process is there: sets the timers of what comes first. */
void graph_start(struct player_rank *rank);

/* The all_reduce that the rank's 'member' is in has ended. */
void graph_finished(struct player_rank *rank, uint32_t member, int64_t now_ps);

#endif
