/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue.h - FIFO of packets with an account of its bytes.
 */
#ifndef ROCESIM_MODELS_QUEUE_H
#define ROCESIM_MODELS_QUEUE_H

#include "models/packet.h"

/* All zero is an empty queue. */
struct queue {
    struct packet *head, *tail; /* owned packets; tail valid while head is not NULL */
    int64_t bytes;              /* frames with FCS */
};

/* Appends 'pkt' (steals it). */
static inline void
queue_push(struct queue *queue, struct packet *pkt)
{
    pkt->next = NULL;
    if (queue->head) {
        queue->tail->next = pkt;
    } else {
        queue->head = pkt;
    }
    queue->tail = pkt;
    queue->bytes += pkt->size_bytes;
}

/* Takes the first packet; the queue must hold one. */
static inline struct packet *
queue_pop(struct queue *queue)
{
    struct packet *pkt = queue->head;

    queue->head = pkt->next;
    queue->bytes -= pkt->size_bytes;
    return pkt;
}

#endif
