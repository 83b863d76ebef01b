/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * deadlock.h - finds switch ports that wait for each other's buffers for ever, and names
 * a cycle of them.
 *
 * An egress port waits for the buffer account that has stopped it, at the other end of
 * its link; the account waits for the egress ports that hold its packets.  Ports are
 * deadlocked when every one of them would stay paused even if all else drained: the
 * bytes that lie in their own queues keep each account above the level at which it lets
 * its peer go on, with the largest threshold the buffer can then have.  So a long pause
 * that can end (a slow receiver, a storm, a full queue that moves) is never one.
 * What may still break it is a watchdog, a link that goes down, a pause frame lost.
 *
 * Source: Hu et al., "Deadlocks in Datacenter Networks: Why Do They Form, and How to
 * Avoid Them", HotNets '16: cyclic buffer dependency.
 */
#ifndef ROCESIM_MODELS_DEADLOCK_H
#define ROCESIM_MODELS_DEADLOCK_H

#include "sim/units.h"

struct net;

/* How often a running network is looked at, and how long a port must have been paused to
 * be looked at: long against pauses that regulate, short against a timeout.  A guess that
 * costs nothing but time: what is found is deadlocked whenever it is found. */
#define DEADLOCK_LOOK_PS PS_PER_MS

/* A port of the cycle: it is paused by its peer, whose packets wait at the next one. */
struct deadlock_hop {
    uint32_t port;         /* egress, dense id */
    int64_t queue_bytes;   /* of the class */
    int64_t waiting_bytes; /* charged to the peer's account */
    uint32_t dst_nic;      /* of the first packet queued */
};

/* What was found; n_hops 0: nothing. */
struct deadlock {
    struct deadlock_hop *hops; /* owned: the cycle, from its lowest port on */
    uint32_t n_hops;
    uint32_t n_ports; /* deadlocked in all, the cycle among them */
    unsigned cls;
    int64_t since_ps; /* when the last of the cycle was paused */
    int64_t found_ps;
};

/* Looks at 'net' between windows; only at ports paused for 'standing_ps' or longer.  Fills
 * '*found' anew (frees what it held) and says whether there is a deadlock; the same for
 * any partition.  O(ports), and O(packets queued) of switches that may be in one. */
bool deadlock_find(const struct net *net, int64_t now_ps, int64_t standing_ps,
                   struct deadlock *found);

void deadlock_clear(struct deadlock *deadlock);

#endif
