/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * event.h - the event queue of one logical process: a bucketed calendar.
 *
 * A ring of time buckets with an occupancy bitmap, each an unsorted array until its turn
 * comes; the current bucket, sorted, in an array of its own; a heap for what lies beyond
 * the ring (timers).  An array that is empty again serves the next bucket that needs one,
 * so that all of them stay in cache.  The bucket width follows the density of
 * events.  Order is (time, key) and nothing else, so
 * neither the width nor the order of insertion can be seen from outside.
 *
 * A key says who causes the event: phase, source, kind (docs/architecture.md: "Order").
 * No source has two events of a kind at one time, so keys at one time differ.
 */
#ifndef ROCESIM_SIM_EVENT_H
#define ROCESIM_SIM_EVENT_H

#include "sim/units.h"

#define EVENT_BUCKETS 128u

/* What happens first at one instant. */
enum event_phase {
    PHASE_FAULT,
    PHASE_SAMPLE,
    PHASE_ARRIVAL,
    PHASE_TX_DONE,
    PHASE_TIMER,
    PHASE_POST,
};

/* Something that will happen. */
struct event {
    int64_t time_ps;
    uint64_t key;
    void *obj; /* what the handler wants in cache; never part of the order */
};

/* 60: phase, 8: source, 1: kind, 0: background.  Source below 2^52, kind below 128.
 * A background event keeps no run alive and is not counted. */
static inline uint64_t
event_key(enum event_phase phase, uint64_t source, unsigned kind, bool background)
{
    return (uint64_t)phase << 60 | source << 8 | (uint64_t)kind << 1 | background;
}

static inline uint64_t
event_source(uint64_t key)
{
    return (key >> 8) & ((UINT64_C(1) << 52) - 1);
}

static inline unsigned
event_kind(uint64_t key)
{
    return (unsigned)(key >> 1) & 127u;
}

static inline bool
event_is_background(uint64_t key)
{
    return key & 1;
}

static inline bool
event_before(const struct event *a, const struct event *b)
{
    /* One wide comparison, without a branch: times are >= 0. */
    unsigned __int128 x = (unsigned __int128)(uint64_t)a->time_ps << 64 | a->key;
    unsigned __int128 y = (unsigned __int128)(uint64_t)b->time_ps << 64 | b->key;

    return x < y;
}

/* A growing array of events. */
struct event_bucket {
    struct event *events; /* owned */
    uint32_t n, cap;
};

/* All fields are private; read without calls only for speed. */
struct event_queue {
    _Alignas(64) int64_t current; /* number of the current bucket: time >> shift */
    uint32_t shift;               /* log2 of the bucket width in ps */
    uint32_t pos;                 /* events of the current bucket already taken */
    struct event_bucket now;      /* the current bucket; its place in the ring is empty */
    uint64_t occupied[EVENT_BUCKETS / 64];
    int64_t n_pushed; /* events ever pushed */
    int64_t n_closed; /* events of the buckets before the current one, all taken */
    /* Since the last look at the width: events taken, buckets opened, events put on the
     * heap. */
    uint32_t n_drained, n_opened, n_far;
    struct event_bucket ring[EVENT_BUCKETS];
    /* Owned: arrays of buckets that are empty again, the last used on top. */
    struct event_bucket spare[EVENT_BUCKETS];
    uint32_t n_spare;
    struct event_bucket far; /* heap, 4 children a node: events past the ring */
};

/* An empty queue at time 0; storage of the caller, to be cleared. */
void event_queue_init(struct event_queue *queue);

/* Frees the memory of 'queue', not the queue. */
void event_queue_clear(struct event_queue *queue);

/* Aborts when the queue is out of order or its counts do not add up.  O(n). */
void event_queue_check(const struct event_queue *queue);

/* Shows every event held to 'visit', in no order. */
typedef void event_visit(const struct event *event, void *ctx);
void event_queue_each(const struct event_queue *queue, event_visit *visit, void *ctx);

/* Time of the first event, TIME_NEVER_PS when there is none.  O(events of a bucket). */
int64_t event_queue_next_ps(const struct event_queue *queue);

/* Events taken so far, and events held. */
static inline int64_t
event_queue_taken(const struct event_queue *queue)
{
    return queue->n_closed + queue->pos;
}

static inline int64_t
event_queue_held(const struct event_queue *queue)
{
    return queue->n_pushed - event_queue_taken(queue);
}

/* Bytes the queue holds. */
int64_t event_queue_bytes(const struct event_queue *queue);

/* Private: the rare halves of push and peek. */
void event_queue_grow__(struct event_queue *queue, struct event_bucket *bucket);
void event_queue_push_slow__(struct event_queue *queue, struct event event);
const struct event *event_queue_advance__(struct event_queue *queue, int64_t until_ps);

/* Private: puts 'event' into the ring, at its bucket 'number', which has not been opened and
 * is less than EVENT_BUCKETS ahead. */
static inline void
event_queue_ring_add__(struct event_queue *queue, int64_t number, struct event event)
{
    uint32_t slot = (uint32_t)number & (EVENT_BUCKETS - 1);
    struct event_bucket *bucket = &queue->ring[slot];

    if (unlikely(bucket->n == bucket->cap)) {
        event_queue_grow__(queue, bucket);
    }
    bucket->events[bucket->n++] = event;
    queue->occupied[slot / 64] |= UINT64_C(1) << (slot % 64);
}

/* Adds 'event'.  Its time may not lie before the last event taken. */
static inline void
event_queue_push(struct event_queue *queue, struct event event)
{
    int64_t number = event.time_ps >> queue->shift;

    queue->n_pushed++;
    if (likely((uint64_t)(number - queue->current - 1) < EVENT_BUCKETS - 1)) {
        event_queue_ring_add__(queue, number, event);
        return;
    }
    event_queue_push_slow__(queue, event);
}

/* The first event before 'until_ps', or NULL when there is none.  Valid until the next
 * call.  After NULL no event before 'until_ps' may be pushed any more. */
static inline const struct event *
event_queue_peek(struct event_queue *queue, int64_t until_ps)
{
    if (likely(queue->pos < queue->now.n)) {
        const struct event *event = &queue->now.events[queue->pos];

        return event->time_ps < until_ps ? event : NULL;
    }
    return event_queue_advance__(queue, until_ps);
}

/* Takes the event that event_queue_peek() has just shown. */
static inline void
event_queue_drop(struct event_queue *queue)
{
    queue->pos++;
}

#endif
