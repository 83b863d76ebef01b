/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * prop_event_queue.c - the event queue against a sorted list: random pushes and takes
 * over all densities and horizons come out in order of (time, key), each once.
 */
#include <config.h>

#include "sim/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/rng.h"

#define N_CASES 40
#define N_STEPS 60000
#define N_MAX 20000

/* Sorted, first event last, so that taking it moves nothing. */
struct list {
    struct event events[N_MAX];
    uint32_t n;
};

struct dice {
    uint64_t key, n;
};

static uint64_t
below(struct dice *dice, uint64_t bound)
{
    return rng_below(dice->key, dice->n++, bound);
}

static void
list_push(struct list *list, struct event event)
{
    uint32_t low = 0, high = list->n;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (event_before(&event, &list->events[middle])) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    memmove(&list->events[low + 1], &list->events[low],
            (list->n - low) * sizeof *list->events);
    list->events[low] = event;
    list->n++;
}

/* How far ahead an event may lie: from all at one instant to far beyond any ring. */
static int64_t
draw_ahead(struct dice *dice, uint64_t spread_bits)
{
    switch (below(dice, 8)) {
    case 0:
        return 0;
    case 1: /* a timer */
        return (int64_t)below(dice, UINT64_C(1) << (spread_bits + 20));
    case 2: /* one of few instants, so that many meet */
        return (int64_t)(below(dice, 4) << spread_bits);
    default:
        return (int64_t)below(dice, UINT64_C(1) << spread_bits);
    }
}

struct bench {
    struct event_queue queue;
    struct list *list;
    struct event last; /* taken; or the end of the window: nothing before may come */
    uint64_t n_pushed;
    uint64_t spread_bits;
};

static void
push(struct bench *bench, struct dice *dice)
{
    int64_t time_ps = bench->last.time_ps + draw_ahead(dice, bench->spread_bits);
    /* A source of its own, so no key comes twice; scattered, so no key comes in order. */
    uint64_t source = (bench->n_pushed++ * UINT64_C(0x9e3779b1)) & 0xFFFFFFFF;
    struct event event = {.time_ps = time_ps,
                          .key = event_key((enum event_phase)below(dice, PHASE_POST + 1),
                                           source, (unsigned)below(dice, 128),
                                           below(dice, 2)),
                          .obj = bench};

    /* What an event makes comes after it. */
    if (!event_before(&bench->last, &event)) {
        event.time_ps++;
    }
    event_queue_push(&bench->queue, event);
    list_push(bench->list, event);
}

/* Takes events before 'until_ps', at most 'most'. */
static void
take(struct bench *bench, int64_t until_ps, uint64_t most)
{
    for (uint64_t i = 0; i < most; i++) {
        const struct event *event = event_queue_peek(&bench->queue, until_ps);
        const struct event *first =
            bench->list->n ? &bench->list->events[bench->list->n - 1] : NULL;

        if (!first || first->time_ps >= until_ps) {
            assert_null(event);
            /* The window is done: the clock may be taken to its end. */
            if (until_ps != TIME_NEVER_PS && until_ps > bench->last.time_ps) {
                bench->last = (struct event){.time_ps = until_ps};
            }
            return;
        }
        assert_non_null(event);
        assert_int_equal(event->time_ps, first->time_ps);
        assert_int_equal(event->key, first->key);
        assert_ptr_equal(event->obj, bench);
        bench->last = *event;
        event_queue_drop(&bench->queue);
        bench->list->n--;
    }
}

static void
count(const struct event *event, void *ctx)
{
    (void)event;
    ++*(uint32_t *)ctx;
}

static void
check(const struct bench *bench)
{
    const struct list *list = bench->list;
    uint32_t n = 0;

    event_queue_check(&bench->queue);
    assert_int_equal(event_queue_held(&bench->queue), list->n);
    assert_int_equal(event_queue_next_ps(&bench->queue),
                     list->n ? list->events[list->n - 1].time_ps : TIME_NEVER_PS);
    event_queue_each(&bench->queue, count, &n);
    assert_int_equal(n, list->n);
}

/* Returns the widths of bucket that were in use: bit n for 2^n ps. */
static uint64_t
one_case(uint64_t number, struct list *list)
{
    struct dice dice = {.key = rng_key(number, "prop_event_queue", "case")};
    struct bench bench = {.list = list};
    uint64_t widths = 0;
    bool grows = true;

    list->n = 0;
    event_queue_init(&bench.queue);
    for (uint32_t step = 0; step < N_STEPS; step++) {
        if (step % 10000 == 0) { /* another density */
            bench.spread_bits = 2 + below(&dice, 30);
        }
        if (below(&dice, 300) == 0) {
            grows = !grows;
        }
        uint64_t n_push = below(&dice, grows ? 4 : 2);

        for (uint64_t i = 0; i < n_push && list->n < N_MAX; i++) {
            push(&bench, &dice);
        }
        int64_t window_ps = (int64_t)below(&dice, UINT64_C(2) << bench.spread_bits);

        if (below(&dice, 50) == 0) { /* to the end, and far beyond */
            window_ps = INT64_C(1) << 50;
        }
        take(&bench, bench.last.time_ps + window_ps, 1 + below(&dice, 3));
        widths |= UINT64_C(1) << bench.queue.shift;
        if (step % 2000 == 0) {
            check(&bench);
        }
    }
    take(&bench, TIME_NEVER_PS, UINT64_MAX);
    check(&bench);
    assert_int_equal(event_queue_held(&bench.queue), 0);
    event_queue_clear(&bench.queue);
    return widths;
}

static void
as_a_sorted_list(void **state)
{
    struct list *list = malloc(sizeof *list);
    uint64_t widths = 0;

    (void)state;
    assert_non_null(list);
    for (uint64_t i = 0; i < N_CASES; i++) {
        widths |= one_case(i, list);
    }
    free(list);
    /* The bucket has followed the density a long way. */
    assert_true(__builtin_popcountll(widths) >= 8);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_sorted_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
