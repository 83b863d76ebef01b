/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * switch.h - a switch with a shared buffer: routes, admits, marks, schedules.
 *
 * An arrival is judged and charged at its last bit (at its first bytes where the switch
 * cuts through); its earliest start at the egress is the forwarding latency later.  A
 * frame that finds its egress idle is committed at once (port.h) and never charged.
 */
#ifndef ROCESIM_MODELS_SWITCH_SWITCH_H
#define ROCESIM_MODELS_SWITCH_SWITCH_H

#include "models/port.h"
#include "models/switch/buffer.h"
#include "models/switch/lb.h"
#include "models/switch/route.h"

/* Bytes of a frame after which a switch that cuts through decides: the smallest transport
 * frame, so that short frames are whole when they are judged. */
#define CUT_THROUGH_BYTES 66

/* A PFC watchdog (watchdog.h) as a user gives it. */
struct watchdog_params {
    int32_t action;                         /* enum watchdog_action */
    int64_t detect_ps, restore_ps, poll_ps; /* > 0, or WATCHDOG_SONIC */
};

struct watchdog;

/* A switch; its ports and queues lie in the network's array. */
struct fabric_switch {
    /* Read by every packet. */
    struct port *ports;               /* borrowed: its own, contiguous in the network's */
    const struct route_table *routes; /* borrowed */
    int64_t latency_ps;
    uint32_t hash_seed;
    uint8_t lossless; /* bit c: class c is lossless */
    bool cuts_through;
    bool mmu_hpcc;                 /* accounts are kept by mmu_hpcc.h */
    const struct murmur_key *keys; /* borrowed: by QP; NULL: hashed by route_pick() */
    bool has_lb;                   /* lb is not NULL */
    struct buffer buffer;
    uint8_t class_of_dscp[64];

    struct lb *lb; /* owned; NULL: ECMP */
    uint16_t n_ports;
    uint32_t id;                  /* among the switches */
    uint32_t node;                /* dense node id */
    const char *name;             /* borrowed: the node's */
    int64_t lost_ttl, lost_route; /* packets */
    struct watchdog *watchdog;    /* owned; NULL: off */
    struct port_sched sched;
};

/* Port index of what QP 'qp' sends to 'nic' with 'flow_hash', by 'routes' of 'sw';
 * ROUTE_NONE when there is none. */
static inline uint16_t
switch_pick(const struct fabric_switch *sw, const struct route_table *routes,
            uint32_t nic, uint32_t flow_hash, uint32_t qp)
{
    return likely(!sw->keys)
               ? route_pick(routes, nic, flow_hash, sw->hash_seed)
               : route_pick_murmur(routes, nic, &sw->keys[qp], sw->hash_seed);
}

/* A packet arrives at 'in', a port of a switch: KIND_ARRIVE_SWITCH.  Steals 'pkt'. */
void switch_arrive(struct lp *lp, struct port *in, struct packet *pkt);

/* A port may be able to send: KIND_WAKE_SWITCH, or a pause has ended. */
void switch_serve(struct lp *lp, struct port *port);

/* KIND_PAUSE_REFRESH of ingress class 'cls' of 'port'. */
void switch_refresh_pause(struct lp *lp, struct port *port, unsigned cls);

/* Drops what waits at 'port' of class 'cls'; adds the packets to '*counter'. */
void switch_flush(struct lp *lp, struct port *port, unsigned cls, int64_t *counter);

/* Drops what waits at 'port' for its link, which has gone down; pause state with it. */
void switch_port_down(struct lp *lp, struct port *port);

/* Aborts when the accounts of 'sw' do not add up: ingress use = egress use, and the
 * buffer's total = the sum of the accounts.  O(ports). */
void switch_check(const struct fabric_switch *sw);

#endif
