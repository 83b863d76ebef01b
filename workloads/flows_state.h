/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flows_state.h - what flows.c plays and flows_build.c sets up; private to these two.
 *
 * The host that posts a flow is the one that sends its data; with verb "read" the one that
 * receives it.
 *
 * Invariant: 'start_ps', 'sent_ps' of a result and what is under "sender" belong to the process
 * of the host that posts, 'received_ps' and what is under "receiver" to that of the receiver's
 * (the same with "read"); no field has two writers.
 */
#ifndef ROCESIM_WORKLOADS_FLOWS_STATE_H
#define ROCESIM_WORKLOADS_FLOWS_STATE_H

#include "models/host/pipe.h"
#include "workloads/flows.h"
#include "workloads/triggers.h"

/* Two hosts and the direction of data: their queue pairs. */
struct pair {
    uint32_t first_connection; /* and the next 'qps' - 1 */
    uint32_t turn;             /* messages posted so far, modulo 'qps' */
};

/* A host that posts flows. */
struct sender {
    struct work_timer timer;
    struct flows *flows; /* borrowed: whose it is */
    struct lp *lp;       /* borrowed; from flows_start() on */
    int64_t round_ps;    /* start of this round */
    uint32_t host;
    uint32_t position; /* in params->hosts; of drawn flows */
    uint32_t first, n; /* its flows: part of 'order' */
    uint32_t n_drawn;  /* of these */
    uint32_t n_timed;  /* of these, the first: not started by a trigger */
    uint32_t next;     /* of these, the next to start in this round */
    uint32_t left;     /* not ended in this round */
    uint32_t round;
};

struct flows {
    struct net *net; /* borrowed */
    int64_t gap_ps, start_ps, message_bytes;
    uint32_t index; /* of the workload */
    uint32_t n, repeat, qps;
    uint32_t n_senders, n_pairs;
    enum qp_verb verb;
    unsigned side; /* of each connection: the queue pair that posts */
    bool own_pairs, is_open_ended;
    struct flow_source source; /* owned; next NULL: a list */
    struct triggers *triggers; /* owned; NULL: none */

    int64_t *at_ps;         /* owned, by flow: start after the round's */
    uint32_t *pair_of;      /* owned, by flow */
    uint32_t *order;        /* owned: flows by who posts, each host's by start; drawn ones
                               are so already: NULL */
    uint32_t *sender_of;    /* owned, by host: index, or UINT32_MAX */
    struct sender *senders; /* owned */
    struct pair *pairs;     /* owned */

    struct flow_result *results; /* owned: round x flow, a message's id is its index */
    uint32_t *to_post, *to_send; /* owned, by flow, sender: messages of this round not
                                    posted, not acknowledged */
    uint32_t *received;          /* owned, by flow, receiver: messages of this round */
};

/* Fires when the next flow of the sender begins. */
void flows_fire(struct lp *lp, struct work_timer *timer);

/* The next flow that the host at 'position' posts, if there is one: with verb "read" source
 * and destination are changed over. */
bool flows_draw(struct flows *flows, uint32_t position, struct work_flow *flow);
/* Starts a flow of the struct flows 'ctx', which a trigger has to do. */
void flows_start_triggered(void *ctx, struct lp *lp, uint32_t flow);

/* Fills in number 'id', of round 0. */
void flows_set(struct flows *flows, uint32_t id, const struct work_flow *flow);

/* Messages that a flow of 'bytes' is cut into. */
uint32_t flows_n_messages(const struct flows *flows, int64_t bytes);

#endif
