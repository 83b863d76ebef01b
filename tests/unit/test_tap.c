/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_tap.c - records of several processes come out in order, and none too early.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/probe/tap.h"
#include "sim/rng.h"

#define N_TAPS 3
#define MAX_SEEN 1000

struct seen {
    struct tap_record records[MAX_SEEN];
    uint32_t n;
};

static void
keep(void *ctx, const struct tap_record *record)
{
    struct seen *seen = ctx;

    assert_in_range(seen->n, 0, MAX_SEEN - 1);
    seen->records[seen->n++] = *record;
}

static void
add(struct tap *tap, int64_t time_ps, uint32_t port, enum tap_dir dir, uint32_t mark)
{
    const struct packet pkt = {.imm = mark};

    tap_add(tap, time_ps, port, dir, &pkt);
}

static void
merge(struct tap *held, struct tap *taps, int64_t until_ps, struct seen *seen)
{
    struct tap *all[N_TAPS] = {&taps[0], &taps[1], &taps[2]};
    const struct tap_sink sink = {.on_frame = keep, .ctx = seen};

    tap_merge(held, all, N_TAPS, until_ps, &sink);
    for (int i = 0; i < N_TAPS; i++) {
        assert_int_equal(taps[i].n, 0);
    }
}

static void
test_order(void **state)
{
    struct tap taps[N_TAPS] = {0}, held = {0};
    struct seen *seen = calloc(1, sizeof *seen);

    (void)state;
    add(&taps[2], 50, 1, TAP_IN, 4);
    add(&taps[0], 50, 0, TAP_OUT, 3);
    add(&taps[0], 50, 0, TAP_IN, 2);
    add(&taps[1], 40, 9, TAP_OUT, 1);
    merge(&held, taps, INT64_MAX, seen);
    assert_int_equal(seen->n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(seen->records[i].pkt.imm, i + 1);
    }
    tap_clear(&held);
    for (int i = 0; i < N_TAPS; i++) {
        tap_clear(&taps[i]);
    }
    free(seen);
}

/* What bears a time from 'until_ps' on waits for older ones that come later. */
static void
test_held_back(void **state)
{
    struct tap taps[N_TAPS] = {0}, held = {0};
    struct seen *seen = calloc(1, sizeof *seen);

    (void)state;
    add(&taps[0], 100, 0, TAP_IN, 3);
    add(&taps[0], 60, 0, TAP_OUT, 1);
    merge(&held, taps, 100, seen);
    assert_int_equal(seen->n, 1);
    assert_int_equal(held.n, 1);
    add(&taps[1], 99, 5, TAP_OUT, 2);
    merge(&held, taps, 100, seen);
    assert_int_equal(seen->n, 2);
    merge(&held, taps, 101, seen);
    assert_int_equal(seen->n, 3);
    assert_int_equal(held.n, 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(seen->records[i].pkt.imm, i + 1);
    }
    tap_clear(&held);
    for (int i = 0; i < N_TAPS; i++) {
        tap_clear(&taps[i]);
    }
    free(seen);
}

/* Same time, port and direction: in the order of events, over merges too. */
static void
test_ties(void **state)
{
    struct tap taps[N_TAPS] = {0}, held = {0};
    struct seen *seen = calloc(1, sizeof *seen);

    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        add(&taps[1], 1000 + i / 100, 7, TAP_IN, i);
        if (i % 70 == 0) {
            merge(&held, taps, 500, seen);
        }
    }
    assert_int_equal(seen->n, 0);
    merge(&held, taps, INT64_MAX, seen);
    assert_int_equal(seen->n, 300);
    for (uint32_t i = 0; i < 300; i++) {
        assert_int_equal(seen->records[i].pkt.imm, i);
    }
    tap_clear(&held);
    tap_clear(&taps[1]);
    free(seen);
}

/* Records are up to 200 older than the clock; whatever process a port belongs to, and
 * however often is merged, the same comes out. */
static void
test_partition_does_not_matter(void **state)
{
    struct seen *first = calloc(1, sizeof *first), *next = calloc(1, sizeof *next);

    (void)state;
    for (uint32_t way = 0; way < 8; way++) {
        struct tap taps[N_TAPS] = {0}, held = {0};
        struct seen *seen = way == 0 ? first : next;

        seen->n = 0;
        for (uint32_t i = 0; i < MAX_SEEN; i++) {
            int64_t now_ps = 1000 + 10 * (int64_t)i;
            uint64_t port = rng_below(1, i, 12);

            add(&taps[(port * way + way / 3) % N_TAPS],
                now_ps - (int64_t)rng_below(2, i, 201), (uint32_t)port,
                rng_below(3, i, 2) ? TAP_IN : TAP_OUT, i);
            if (i % (37 + 11 * way) == 0) {
                merge(&held, taps, now_ps - 200, seen);
            }
        }
        merge(&held, taps, INT64_MAX, seen);
        assert_int_equal(seen->n, MAX_SEEN);
        for (uint32_t i = 0; i < MAX_SEEN; i++) {
            assert_int_equal(seen->records[i].pkt.imm, first->records[i].pkt.imm);
            assert_true(i == 0 ||
                        seen->records[i - 1].time_ps <= seen->records[i].time_ps);
        }
        tap_clear(&held);
        for (int i = 0; i < N_TAPS; i++) {
            tap_clear(&taps[i]);
        }
    }
    free(first);
    free(next);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_held_back),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_partition_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
