/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * event_kinds.h - what can happen in a network; the kind field of an event's key.
 *
 * The source of each kind is the dense id of what is named beside it; pause frames arrive
 * as background.  net.c hands an event to the object.
 *
 * With `wire` "hpcc" arrivals at one time are not in the order of ports, but that of the
 * sender which has been sending without a gap for the shorter time goes first: see
 * port_note_start().  Its age stands above the id of the port.
 */
#ifndef ROCESIM_MODELS_EVENT_KINDS_H
#define ROCESIM_MODELS_EVENT_KINDS_H

#define ARRIVAL_PORT_BITS 26 /* of the source of an arrival; the age has the other 26 */

/* The port that an arrival with source 'source' is for. */
#define ARRIVAL_PORT(source) ((source) & ((UINT64_C(1) << ARRIVAL_PORT_BITS) - 1))

enum event_kind {
    KIND_ARRIVE_SWITCH, /* receiving port: a frame, whole or as far as it is judged by */
    KIND_ARRIVE_NIC,    /* receiving port: a frame, at its last bit */
    KIND_WAKE_SWITCH,   /* port: what waits may go: the line is free, or a frame ready */
    KIND_WAKE_NIC,      /* port: likewise */
    KIND_PACE,          /* QP: its pace lets the next packet go */
    KIND_SCAN,          /* port: a NIC that scans its QPs does so again; nic/scan.h */
    KIND_PAUSE_END,     /* port x class: a pause received runs out; background */
    KIND_PAUSE_REFRESH, /* port x class: a pause sent is repeated; background */
    KIND_ACK_TIMER,     /* QP: local ACK timeout */
    KIND_RNR_TIMER,     /* QP: a receiver that was not ready may be now */
    KIND_GAP_TIMER,     /* QP x role: what is missing is missed; selective repeat */
    KIND_PIPE,          /* pipe: the first entry reaches the other end */
    KIND_WORK,          /* timer of a workload */
    KIND_FAULT,         /* fault: a change of a link's end or of routes */
    KIND_WATCHDOG,      /* switch: its watchdog looks at the queues; background */
    KIND_DRAIN,         /* NIC port: a slow host has taken a packet */
    KIND_SAMPLE,        /* process: sample what it holds; background */
};

#endif
