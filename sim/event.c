/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * event.c - the rare halves of the calendar in event.h.
 *
 * Idea of the calendar: R. Brown, "Calendar queues", CACM 31 (1988); here without the
 * year overflow, which the heap holds instead.
 * Invariants: the current bucket is sorted from 'pos' on; an event of a ring bucket lies
 * less than EVENT_BUCKETS buckets ahead; an event of the heap was past that when pushed
 * and is moved before its bucket becomes current.
 */
#include <config.h>

#include "sim/event.h"

#include <stdlib.h>
#include <string.h>

#include "sim/mem.h"

#define SHIFT_FIRST 16 /* 66 ns: some events of a busy rack at 100 Gb/s */
#define SHIFT_MIN 8
#define SHIFT_MAX 34
#define SORT_FEW 16
#define DENSITY_LOOK 8192 /* events between two looks at the density */

static uint32_t
slot_of(int64_t bucket)
{
    return (uint32_t)bucket & (EVENT_BUCKETS - 1);
}

void
event_queue_init(struct event_queue *queue)
{
    *queue = (struct event_queue){.shift = SHIFT_FIRST};
}

void
event_queue_clear(struct event_queue *queue)
{
    for (uint32_t i = 0; i < EVENT_BUCKETS; i++) {
        free(queue->ring[i].events);
    }
    for (uint32_t i = 0; i < queue->n_spare; i++) {
        free(queue->spare[i].events);
    }
    free(queue->now.events);
    free(queue->far.events);
    event_queue_init(queue);
}

int64_t
event_queue_bytes(const struct event_queue *queue)
{
    int64_t n = (int64_t)queue->now.cap + queue->far.cap;

    for (uint32_t i = 0; i < EVENT_BUCKETS; i++) {
        n += queue->ring[i].cap;
    }
    for (uint32_t i = 0; i < queue->n_spare; i++) {
        n += queue->spare[i].cap;
    }
    return n * (int64_t)sizeof(struct event) + (int64_t)sizeof *queue;
}

static void
bucket_grow(struct event_bucket *bucket)
{
    bucket->events = mem_double(bucket->events, &bucket->cap, 8, sizeof *bucket->events);
}

void
event_queue_grow__(struct event_queue *queue, struct event_bucket *bucket)
{
    if (bucket->cap == 0 && queue->n_spare) {
        *bucket = queue->spare[--queue->n_spare];
    } else {
        bucket_grow(bucket);
    }
}

static void
bucket_add(struct event_bucket *bucket, struct event event)
{
    if (bucket->n == bucket->cap) {
        bucket_grow(bucket);
    }
    bucket->events[bucket->n++] = event;
}

static void
heap_push(struct event_bucket *heap, struct event event)
{
    bucket_add(heap, event);
    uint32_t i = heap->n - 1;

    while (i > 0 && event_before(&event, &heap->events[(i - 1) / 4])) {
        heap->events[i] = heap->events[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    heap->events[i] = event;
}

static struct event
heap_pop(struct event_bucket *heap)
{
    struct event top = heap->events[0];
    struct event last = heap->events[--heap->n];
    uint32_t i = 0;

    for (;;) {
        uint32_t least = 4 * i + 1;

        if (least >= heap->n) {
            break;
        }
        for (uint32_t c = least + 1; c < heap->n && c <= 4 * i + 4; c++) {
            if (event_before(&heap->events[c], &heap->events[least])) {
                least = c;
            }
        }
        if (!event_before(&heap->events[least], &last)) {
            break;
        }
        heap->events[i] = heap->events[least];
        i = least;
    }
    heap->events[i] = last;
    return top;
}

/* Puts 'from' into 'to' by counting for each event those before it.  No branch depends on
 * the order, which no processor can guess. */
static void
sort_few(struct event to[], const struct event from[], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct event event = from[i];
        uint32_t n_before = 0;

        for (uint32_t j = 0; j < n; j++) {
            n_before += event_before(&from[j], &event);
        }
        to[n_before] = event;
    }
}

static void
sort_many(struct event a[], uint32_t n)
{
    while (n > SORT_FEW) {
        struct event *x = &a[0], *y = &a[n / 2], *z = &a[n - 1];
        struct event pivot = event_before(x, y) ? (event_before(y, z)   ? *y
                                                   : event_before(x, z) ? *z
                                                                        : *x)
                                                : (event_before(x, z)   ? *x
                                                   : event_before(y, z) ? *z
                                                                        : *y);
        uint32_t i = 0, j = n - 1;

        for (;;) {
            while (event_before(&a[i], &pivot)) {
                i++;
            }
            while (event_before(&pivot, &a[j])) {
                j--;
            }
            if (i >= j) {
                break;
            }
            struct event swap = a[i];

            a[i++] = a[j], a[j--] = swap;
        }
        /* The smaller side by recursion: depth at most log2 n. */
        if (i < n - i) {
            sort_many(a, i);
            a += i, n -= i;
        } else {
            sort_many(a + i, n - i);
            n = i;
        }
    }
    struct event sorted[SORT_FEW];

    sort_few(sorted, a, n);
    memcpy(a, sorted, n * sizeof *a);
}

void
event_queue_push_slow__(struct event_queue *queue, struct event event)
{
    int64_t ahead = (event.time_ps >> queue->shift) - queue->current;

    if (ahead >= EVENT_BUCKETS) {
        queue->n_far++;
        heap_push(&queue->far, event);
        return;
    }
    /* Into the current bucket, at its place. */
    bucket_add(&queue->now, event);
    struct event *events = queue->now.events;
    uint32_t i = queue->now.n - 1;

    for (; i > queue->pos && event_before(&event, &events[i - 1]); i--) {
        events[i] = events[i - 1];
    }
    events[i] = event;
}

/* Number of buckets from the current one to the next occupied one; 0 when none is. */
static uint32_t
next_occupied(const struct event_queue *queue)
{
    uint32_t base = slot_of(queue->current);

    for (uint32_t k = 1; k < EVENT_BUCKETS;) {
        uint32_t slot = (base + k) & (EVENT_BUCKETS - 1);
        uint64_t word = queue->occupied[slot / 64] >> (slot % 64);

        if (word) {
            k += (uint32_t)__builtin_ctzll(word);
            return k < EVENT_BUCKETS ? k : 0;
        }
        k += 64 - slot % 64;
    }
    return 0;
}

static void
take_all(struct event_bucket *into, struct event_bucket *from)
{
    for (uint32_t i = 0; i < from->n; i++) {
        bucket_add(into, from->events[i]);
    }
    from->n = 0;
}

/* Gives the buckets another width and deals the events out again.  The current bucket is
 * empty. */
static void
set_shift(struct event_queue *queue, uint32_t shift, int64_t now_ps)
{
    struct event_bucket all = {0};

    for (uint32_t i = 0; i < EVENT_BUCKETS; i++) {
        take_all(&all, &queue->ring[i]);
    }
    take_all(&all, &queue->far);
    memset(queue->occupied, 0, sizeof queue->occupied);
    queue->shift = shift;
    queue->current = (now_ps >> shift) - 1;
    queue->n_pushed -= all.n;
    for (uint32_t i = 0; i < all.n; i++) {
        event_queue_push(queue, all.events[i]);
    }
    free(all.events);
}

/* A bucket of 2 to 12 events sorts fast and wastes no steps; but the ring must reach over
 * the links, or everything goes by way of the heap. */
static void
look_at_density(struct event_queue *queue, int64_t now_ps)
{
    uint32_t per_bucket = queue->n_drained / queue->n_opened;
    bool is_short = queue->n_far > queue->n_drained / 4;
    uint32_t shift = queue->shift;

    queue->n_drained = 0;
    queue->n_opened = 0;
    queue->n_far = 0;
    if ((is_short || per_bucket < 2) && shift < SHIFT_MAX) {
        set_shift(queue, shift + 1, now_ps);
    } else if (!is_short && per_bucket > 12 && shift > SHIFT_MIN) {
        set_shift(queue, shift - 1, now_ps);
    }
}

/* Number of the next bucket that holds an event; INT64_MAX when none does. */
static int64_t
next_bucket(const struct event_queue *queue)
{
    uint32_t step = next_occupied(queue);
    int64_t far = queue->far.n ? queue->far.events[0].time_ps >> queue->shift : INT64_MAX;

    return step && queue->current + step < far ? queue->current + step : far;
}

/* Makes 'bucket' the current one; none before it holds an event. */
static void
move_to(struct event_queue *queue, int64_t bucket)
{
    queue->current = bucket;
    while (queue->far.n &&
           (queue->far.events[0].time_ps >> queue->shift) - bucket < EVENT_BUCKETS) {
        struct event event = heap_pop(&queue->far);

        event_queue_ring_add__(queue, event.time_ps >> queue->shift, event);
    }
}

/* The current bucket has been taken whole. */
static void
close_bucket(struct event_queue *queue)
{
    queue->n_closed += queue->now.n;
    queue->n_drained += queue->now.n;
    queue->n_opened++;
    queue->now.n = 0;
    queue->pos = 0;
    if (unlikely(queue->n_drained > DENSITY_LOOK)) {
        look_at_density(queue, queue->current << queue->shift);
    }
}

/* Sorts the bucket in 'slot' into the current one, which is empty. */
static void
open_bucket(struct event_queue *queue, uint32_t slot)
{
    struct event_bucket *bucket = &queue->ring[slot];
    uint32_t n = bucket->n;

    while (unlikely(queue->now.cap < n)) {
        bucket_grow(&queue->now);
    }
    if (likely(n <= SORT_FEW)) {
        sort_few(queue->now.events, bucket->events, n);
    } else {
        memcpy(queue->now.events, bucket->events, n * sizeof *bucket->events);
        sort_many(queue->now.events, n);
    }
    queue->now.n = n;
    queue->spare[queue->n_spare] = *bucket;
    queue->spare[queue->n_spare++].n = 0;
    *bucket = (struct event_bucket){0};
    queue->occupied[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}

/* Brings into cache what the events of the bucket after the current one point to. */
static void
prefetch_next(const struct event_queue *queue)
{
    const struct event_bucket *next = &queue->ring[slot_of(queue->current + 1)];

    for (uint32_t i = 0; i < next->n; i++) {
        __builtin_prefetch(next->events[i].obj);
    }
}

const struct event *
event_queue_advance__(struct event_queue *queue, int64_t until_ps)
{
    if (queue->now.n) {
        close_bucket(queue);
    }
    int64_t next = next_bucket(queue);
    int64_t end = (until_ps - 1) >> queue->shift; /* last bucket wanted */

    if (next > end) {
        /* Stand right before the end: what comes now lies in the ring,
         * not in the heap. */
        if (end - 1 > queue->current) {
            move_to(queue, end - 1);
        }
        return NULL;
    }
    move_to(queue, next);
    open_bucket(queue, slot_of(next));
    prefetch_next(queue);
    return queue->now.events[0].time_ps < until_ps ? &queue->now.events[0] : NULL;
}

int64_t
event_queue_next_ps(const struct event_queue *queue)
{
    int64_t least = TIME_NEVER_PS;

    if (queue->pos < queue->now.n) {
        return queue->now.events[queue->pos].time_ps;
    }
    if (queue->far.n) {
        least = queue->far.events[0].time_ps;
    }
    uint32_t step = next_occupied(queue);

    if (step) {
        const struct event_bucket *bucket = &queue->ring[slot_of(queue->current + step)];

        for (uint32_t i = 0; i < bucket->n; i++) {
            if (bucket->events[i].time_ps < least) {
                least = bucket->events[i].time_ps;
            }
        }
    }
    return least;
}

void
event_queue_each(const struct event_queue *queue, event_visit *visit, void *ctx)
{
    for (uint32_t j = queue->pos; j < queue->now.n; j++) {
        visit(&queue->now.events[j], ctx);
    }
    for (uint32_t i = 0; i < EVENT_BUCKETS; i++) {
        for (uint32_t j = 0; j < queue->ring[i].n; j++) {
            visit(&queue->ring[i].events[j], ctx);
        }
    }
    for (uint32_t j = 0; j < queue->far.n; j++) {
        visit(&queue->far.events[j], ctx);
    }
}

void
event_queue_check(const struct event_queue *queue)
{
    int64_t n = queue->far.n + queue->now.n - queue->pos;

    for (uint32_t j = queue->pos + 1; j < queue->now.n; j++) {
        if (!event_before(&queue->now.events[j - 1], &queue->now.events[j])) {
            abort();
        }
    }
    for (uint32_t i = 0; i < EVENT_BUCKETS; i++) {
        const struct event_bucket *bucket = &queue->ring[i];

        n += bucket->n;
        for (uint32_t j = 0; j < bucket->n; j++) {
            int64_t ahead = (bucket->events[j].time_ps >> queue->shift) - queue->current;

            if (ahead <= 0 || ahead >= EVENT_BUCKETS) {
                abort();
            }
        }
    }
    if (n != event_queue_held(queue)) {
        abort();
    }
}
