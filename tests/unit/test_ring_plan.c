/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_ring_plan.c - chunks, slices and operations of a ring all_reduce against
 * the vectors of tests/data/nccl/rules.txt, and by playing the schedule with sets
 * of contributions.
 */
#include <config.h>

#include "workloads/nccl/ring_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <glib.h>

#include "tests/support/data.h"

static FILE *
open_rules(void)
{
    g_autofree char *path = data_path("tests/data/nccl/rules.txt");
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    return f;
}

/* One channel with all of 'size_bytes'. */
static struct ring_plan
plan_of(int64_t size_bytes, uint32_t n_ranks, uint32_t elem_bytes, int64_t buffer_bytes)
{
    struct channels_split split = {.how = CHANNELS_CBD,
                                   .n_channels = 1,
                                   .total_bytes = size_bytes,
                                   .lo_bytes = size_bytes};
    struct ring_plan plan;

    ring_plan_init(&plan, &split, 0, n_ranks, elem_bytes, buffer_bytes);
    return plan;
}

static const char *
expect_loop(const struct ring_plan *plan, int64_t loop, const char *p)
{
    struct ring_loop l = ring_plan_loop(plan, loop);
    long long value;
    int used;

    assert_int_equal(sscanf(p, "%lld%n", &value, &used), 1);
    assert_int_equal(l.chunk_bytes, value);
    p += used;
    for (uint32_t c = 0; c < plan->n_ranks; c++, p += used) {
        assert_int_equal(sscanf(p, "%lld%n", &value, &used), 1);
        assert_int_equal(ring_loop_chunk(&l, c).size_bytes, value);
    }
    return p;
}

static void
test_loops_against_reference(void **state)
{
    FILE *f = open_rules();
    char line[4096];
    int n_lines = 0;

    (void)state;
    while (fgets(line, sizeof line, f)) {
        long long bytes, loops;
        unsigned ranks;
        struct ring_plan plan;
        const char *p;
        int used;

        if (strncmp(line, "ring", 4) != 0) {
            continue;
        }
        assert_int_equal(
            sscanf(line, "%*s %lld %u : %lld%n", &bytes, &ranks, &loops, &used), 3);
        plan = plan_of(bytes, ranks, 1, NCCL_BUFFSIZE_DEFAULT);
        assert_int_equal(plan.n_loops, loops);
        p = expect_loop(&plan, 0, line + used);
        expect_loop(&plan, loops - 1, p);
        n_lines++;
    }
    fclose(f);
    assert_int_equal(n_lines, 51);
}

static void
test_slices_against_reference(void **state)
{
    FILE *f = open_rules();
    char line[4096];
    int n_lines = 0;

    (void)state;
    while (fgets(line, sizeof line, f)) {
        long long bytes, a, b;
        int64_t slice_bytes[NCCL_SLICES_PER_CHUNK];
        struct ring_plan plan;
        unsigned elem;

        if (sscanf(line, "slices %lld %u : %lld %lld", &bytes, &elem, &a, &b) != 4) {
            continue;
        }
        plan = plan_of(bytes, 2, elem, NCCL_BUFFSIZE_DEFAULT);
        ring_plan_slices(&plan, bytes, slice_bytes);
        assert_int_equal(slice_bytes[0], a);
        assert_int_equal(slice_bytes[1], b);
        n_lines++;
    }
    fclose(f);
    assert_int_equal(n_lines, 55);
}

/* 4 MiB of buffer: chunks of 2 MiB, slices of 1 MiB; chunks are whole grains. */
static void
test_sizes_follow_the_buffer(void **state)
{
    struct ring_plan plan = plan_of(1 << 30, 8, 4, NCCL_BUFFSIZE_DEFAULT);

    (void)state;
    assert_int_equal(plan.chunk_bytes, 2 << 20);
    assert_int_equal(plan.slice_bytes, 1 << 20);
    assert_int_equal(plan.n_loops, 64);
    assert_int_equal(ring_plan_n_messages(&plan), 64 * 14 * 2);
    assert_int_equal(ring_plan_chunk_bytes(1000000), 499712);
}

/* The order written out in all_reduce.h, for 4 ranks, seen by the rank at position 1. */
static void
test_order_of_chunks(void **state)
{
    const uint32_t expected[] = {0, 3, 2, 1, 0, 3, 2};

    (void)state;
    assert_int_equal(ring_plan_n_ops(4), 7);
    for (uint32_t op = 0; op < 7; op++) {
        assert_int_equal(ring_plan_chunk(4, 1, op), expected[op]);
        assert_int_equal(ring_plan_sends(4, op), op <= 5);
        assert_int_equal(ring_plan_receives(op), op >= 1);
        assert_int_equal(ring_plan_reduces(4, op), op >= 1 && op <= 3);
        assert_int_equal(ring_plan_outputs(4, op), op >= 3);
    }
}

/* NCCL up to 2.21: 3 channels, 4 ranks, 512 threads, 10,000,000 B of float in chunks of 2
 * MiB: one loop; ceil(2500000/12) = 208334 elements are 833336 B, rounded up to 4096 B:
 * 835584.  Channel 2 starts at 8 chunks; its last chunks are cut. */
static void
test_even_split_chunks(void **state)
{
    const struct channels_task task = {NCCL_ALL_REDUCE, 2500000, 4, 3, NCCL_PROTO_SIMPLE};
    const struct channels_split split = channels_split_even(&task, 512);
    struct ring_plan plan;
    struct ring_loop l;

    (void)state;
    ring_plan_init(&plan, &split, 2, 4, 4, NCCL_BUFFSIZE_DEFAULT);
    assert_int_equal(plan.n_loops, 1);
    l = ring_plan_loop(&plan, 0);
    assert_int_equal(l.chunk_bytes, 835584);
    assert_int_equal(l.offset_bytes, 8 * 835584);
    assert_int_equal(ring_loop_chunk(&l, 2).size_bytes, 835584);
    assert_int_equal(ring_loop_chunk(&l, 3).size_bytes, 10000000 - 11 * 835584);
    ring_plan_init(&plan, &split, 3, 4, 4, NCCL_BUFFSIZE_DEFAULT);
    assert_int_equal(plan.n_loops, 0);
}

#define MAX_RANKS 16
#define MAX_BYTES 300000
#define FIFO 4096

/* A slice on its way: all its bytes have seen the same ranks. */
struct slice {
    int64_t offset_bytes;
    int64_t size_bytes;
    uint32_t ranks; /* bit set of contributions */
};

struct fifo {
    struct slice slice[FIFO];
    uint32_t head, tail;
};

struct player {
    int64_t loop;
    uint32_t op, slice;
    int64_t sent_bytes, n_sent, n_received;
};

struct world {
    struct fifo fifos[MAX_RANKS]; /* into rank r */
    struct player players[MAX_RANKS];
    uint32_t output[MAX_RANKS][MAX_BYTES]; /* contributions in the output */
    uint8_t written[MAX_RANKS][MAX_BYTES]; /* how often */
};

/* Does the next slice of rank 'r' unless its data is not there. */
static bool
play(const struct ring_plan *plan, struct world *w, uint32_t r)
{
    struct player *pl = &w->players[r];
    uint32_t n = plan->n_ranks;
    struct ring_loop l;
    struct channels_part chunk;
    int64_t bytes[NCCL_SLICES_PER_CHUNK];
    struct slice s;

    if (pl->loop == plan->n_loops) {
        return false;
    }
    l = ring_plan_loop(plan, pl->loop);
    chunk = ring_loop_chunk(&l, ring_plan_chunk(n, r, pl->op));
    ring_plan_slices(plan, chunk.size_bytes, bytes);
    s = (struct slice){.offset_bytes = chunk.offset_bytes + (pl->slice ? bytes[0] : 0),
                       .size_bytes = bytes[pl->slice],
                       .ranks = 1u << r};
    if (ring_plan_receives(pl->op)) {
        struct fifo *f = &w->fifos[r];
        struct slice in;

        if (f->head == f->tail) {
            return false;
        }
        in = f->slice[f->head++ % FIFO];
        pl->n_received++;
        assert_int_equal(in.offset_bytes, s.offset_bytes);
        assert_int_equal(in.size_bytes, s.size_bytes);
        if (ring_plan_reduces(n, pl->op)) {
            assert_int_equal(in.ranks & s.ranks, 0);
            s.ranks |= in.ranks;
        } else {
            s.ranks = in.ranks;
        }
    }
    if (ring_plan_outputs(n, pl->op)) {
        assert_int_equal(s.ranks, (1u << n) - 1);
        for (int64_t b = s.offset_bytes; b < s.offset_bytes + s.size_bytes; b++) {
            assert_true(b >= 0 && b < MAX_BYTES);
            w->output[r][b] = s.ranks;
            w->written[r][b]++;
        }
    }
    if (ring_plan_sends(n, pl->op)) {
        struct fifo *f = &w->fifos[(r + 1) % n];

        assert_true(f->tail - f->head < FIFO);
        f->slice[f->tail++ % FIFO] = s;
        pl->sent_bytes += s.size_bytes;
        pl->n_sent++;
    }
    if (++pl->slice == NCCL_SLICES_PER_CHUNK) {
        pl->slice = 0;
        if (++pl->op == ring_plan_n_ops(n)) {
            pl->op = 0;
            pl->loop++;
        }
    }
    return true;
}

static void
play_channel(const struct ring_plan *plan, struct world *w)
{
    bool moved = true;

    memset(w->fifos, 0, sizeof w->fifos);
    memset(w->players, 0, sizeof w->players);
    while (moved) {
        moved = false;
        for (uint32_t r = 0; r < plan->n_ranks; r++) {
            while (play(plan, w, r)) {
                moved = true;
            }
        }
    }
    for (uint32_t r = 0; r < plan->n_ranks; r++) {
        assert_int_equal(w->players[r].loop, plan->n_loops);
        assert_int_equal(w->players[r].n_sent, ring_plan_n_messages(plan));
        assert_int_equal(w->players[r].n_received, ring_plan_n_messages(plan));
        assert_int_equal(w->players[r].sent_bytes, ring_plan_sent_bytes(plan, r));
        assert_int_equal(w->fifos[r].head, w->fifos[r].tail);
    }
}

/* After the whole collective each rank has the sum of all ranks in every byte, written
 * once: for both ways of cutting, small buffers so that there are many loops. */
static void
test_every_rank_gets_every_contribution(void **state)
{
    const uint32_t ranks[] = {2, 3, 4, 7, 8, 16};
    const uint32_t channels[] = {1, 2, 5};
    const int64_t bytes[] = {1, 15, 16, 17, 4096, 65536, 100003, 299999};
    struct world *w = calloc(1, sizeof *w);

    (void)state;
    assert_non_null(w);
    for (unsigned i = 0; i < 6 * 3 * 8 * 2 * 2; i++) {
        uint32_t n = ranks[i % 6], nc = channels[i / 6 % 3];
        uint32_t elem = i / 288 % 2 ? 4 : 1;
        int64_t size_bytes = (bytes[i / 18 % 8] + elem - 1) / elem * elem;
        struct channels_task task = {NCCL_ALL_REDUCE, size_bytes / elem, elem, nc,
                                     NCCL_PROTO_SIMPLE};
        struct channels_split split;

        if (i / 144 % 2) {
            split = channels_split_even(&task, 128);
        } else {
            channels_split_cbd(&task, 1, n, nc, &split);
        }
        for (uint32_t r = 0; r < n; r++) {
            memset(w->output[r], 0, (size_t)size_bytes * sizeof w->output[r][0]);
            memset(w->written[r], 0, (size_t)size_bytes);
        }
        for (uint32_t c = 0; c < nc; c++) {
            struct ring_plan plan;

            ring_plan_init(&plan, &split, c, n, elem, 8192);
            play_channel(&plan, w);
        }
        for (uint32_t r = 0; r < n; r++) {
            for (int64_t b = 0; b < size_bytes; b++) {
                if (w->output[r][b] != (1u << n) - 1 || w->written[r][b] != 1) {
                    fail_msg("%lld B, %u ranks, %u channels: rank %u byte %lld",
                             (long long)size_bytes, n, nc, r, (long long)b);
                }
            }
        }
    }
    free(w);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_against_reference),
        cmocka_unit_test(test_slices_against_reference),
        cmocka_unit_test(test_sizes_follow_the_buffer),
        cmocka_unit_test(test_order_of_chunks),
        cmocka_unit_test(test_even_split_chunks),
        cmocka_unit_test(test_every_rank_gets_every_contribution),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
