/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * retx_sr.h - what a queue pair keeps for selective repeat, and how the network makes it.
 */
#ifndef ROCESIM_MODELS_NIC_RETX_SR_H
#define ROCESIM_MODELS_NIC_RETX_SR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What comes in, and may come out of order: requests at the responder, responses to READs
 * at the requester. */
enum sr_role { SR_REQUESTS, SR_RESPONSES };

/* How far what comes in has been looked at for gaps; counts of packets. */
struct sr_track {
    int64_t max;       /* behind the newest that has come out of order */
    int64_t seen_to;   /* gaps before it are old enough when the timer fires */
    int64_t told_to;   /* gaps before it have been told */
    int64_t again_to;  /* gaps before it are told again ... */
    int64_t again_ps;  /* ... from here on */
    int64_t repeat_of; /* the oldest gap when it was last told again */
    uint8_t repeats;   /* how often that was */
    bool timer;        /* KIND_GAP_TIMER is queued */
};

struct packet;

/* Of one queue pair.  Rings of 'window' bits, by count modulo 'window'. */
struct sr {
    uint32_t window;           /* a power of two, at least 64 */
    uint32_t n_lost, n_resend; /* bits set in 'lost'; READs to be asked for again */
    int64_t acked_to;          /* requester: requests before it have come */
    struct sr_track track[2];  /* by enum sr_role */
    struct packet *held;      /* owned: requests that came early and have more to say than
                                  that they came, by PSN */
    struct packet *held_last; /* valid while 'held' is not NULL */
    uint64_t *come[2]; /* by enum sr_role, part of 'words': from rcv_nxt, snd_una on */
    uint64_t *lost;    /* part of 'words': to be sent, or asked for, again */
    uint64_t words[];
};

/* Bytes of one of 'window' packets. */
size_t sr_bytes(uint32_t window);

/* Makes 'sr', zeroed storage of sr_bytes(). */
void sr_init(struct sr *sr, uint32_t window);

#endif
