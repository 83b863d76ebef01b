/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * event_kinds.h - what can happen in a network; the kind field of an event's key.
 *
 * The source of each kind is the dense id named beside it; net.c hands an event to the
 * object.
 */
#ifndef ROCESIM_MODELS_EVENT_KINDS_H
#define ROCESIM_MODELS_EVENT_KINDS_H

enum event_kind {
    KIND_ARRIVE_SWITCH, /* receiving port: a packet, at its last bit or its header's end */
    KIND_ARRIVE_NIC,    /* receiving port: a packet, at its last bit */
    KIND_WAKE_SWITCH,   /* port: the frame in service ends, or the next becomes ready */
    KIND_WAKE_NIC,      /* port: likewise */
    KIND_PACE,          /* NIC: the next paced QP may send */
    KIND_PAUSE_END,     /* port x class: a pause received runs out; background */
    KIND_PAUSE_REFRESH, /* port x class: a pause sent is repeated; background */
    KIND_ACK_TIMER,     /* QP: local ACK timeout */
    KIND_PIPE,          /* pipe: the first entry reaches the other end */
    KIND_WORK,          /* timer of a workload */
    KIND_FAULT,         /* end of a link, or a switch: a scheduled change */
    KIND_SAMPLE,        /* process: sample what it holds; background */
};

#endif
