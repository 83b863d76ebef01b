/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_channels.c - the split of collectives over channels against the vectors of
 * tests/data/nccl/rules.txt, worked examples and laws.
 */
#include <config.h>

#include "workloads/nccl/channels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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

static enum nccl_func
func_of(const char *name)
{
    static const char *const names[] = {"ar", "ag", "rs", "bcast"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (enum nccl_func)i;
        }
    }
    fail_msg("function %s", name);
    return NCCL_ALL_REDUCE;
}

static enum nccl_proto
proto_of(const char *name)
{
    return strcmp(name, "LL") == 0      ? NCCL_PROTO_LL
           : strcmp(name, "LL128") == 0 ? NCCL_PROTO_LL128
                                        : NCCL_PROTO_SIMPLE;
}

static void
test_split_against_reference(void **state)
{
    FILE *f = open_rules();
    char line[4096];
    int n_lines = 0;

    (void)state;
    while (fgets(line, sizeof line, f)) {
        char func[16], proto[16], *p;
        long long bytes, value;
        unsigned elem, ranks, nc, max, channel;
        struct channels_split split;
        struct channels_task task;
        int used;

        if (strncmp(line, "cbd", 3) != 0) {
            continue;
        }
        assert_int_equal(sscanf(line, "%*s %lld %u %15s %u %15s %u %u :%n", &bytes, &elem,
                                func, &ranks, proto, &nc, &max, &used),
                         7);
        task = (struct channels_task){.func = func_of(func),
                                      .count = bytes / elem,
                                      .elem_bytes = elem,
                                      .n_channels = nc,
                                      .proto = proto_of(proto)};
        channels_split_cbd(&task, 1, ranks, max, &split);
        assert_int_equal(split.total_bytes, bytes);
        channel = split.channel_lo;
        for (p = line + used; sscanf(p, "%lld%n", &value, &used) == 1; p += used) {
            if (channels_part_of(&split, channel).size_bytes != value) {
                fail_msg("channel %u has %lld: %s", channel,
                         (long long)channels_part_of(&split, channel).size_bytes, line);
            }
            channel++;
        }
        assert_int_equal(channel - split.channel_lo, split.n_channels);
        n_lines++;
    }
    fclose(f);
    assert_int_equal(n_lines, 150);
}

static void
test_width_against_reference(void **state)
{
    FILE *f = open_rules();
    char line[4096];
    int n_lines = 0;

    (void)state;
    while (fgets(line, sizeof line, f)) {
        char proto[16];
        long long bytes;
        unsigned ranks, max, nc, nt;
        struct channels_width w;

        if (sscanf(line, "width %lld %u %15s %u : %u %u", &bytes, &ranks, proto, &max,
                   &nc, &nt) != 6) {
            continue;
        }
        w = channels_for_ring(bytes, ranks, max, strcmp(proto, "LL128") == 0 ? 640 : 512,
                              proto_of(proto));
        if (w.n_channels != nc || w.n_threads != nt) {
            fail_msg("%u channels %u threads: %s", w.n_channels, w.n_threads, line);
        }
        n_lines++;
    }
    fclose(f);
    assert_int_equal(n_lines, 216);
}

/* Simple: a channel of 512 threads wants 32 KiB; a slow ring's 256 threads want half. */
static void
test_simple_channel_wants_32_kib(void **state)
{
    (void)state;
    assert_int_equal(channels_simple_threads(false), 512);
    assert_int_equal(channels_simple_threads(true), 256);
    assert_int_equal(
        channels_for_ring(65535, 4, 2, channels_simple_threads(false), NCCL_PROTO_SIMPLE)
            .n_channels,
        1);
    assert_int_equal(
        channels_for_ring(65536, 4, 2, channels_simple_threads(false), NCCL_PROTO_SIMPLE)
            .n_channels,
        2);
    assert_int_equal(
        channels_for_ring(32768, 4, 2, channels_simple_threads(true), NCCL_PROTO_SIMPLE)
            .n_channels,
        2);
}

/* 48 and 80 KiB of float, two channels each of four.  Traffic 98304 + 163840, 65536 a
 * channel; a cell of 16 KiB is 32768 of traffic.  3 cells: 2 on channel 0, 1 on
 * channel 1, which has room for 1 of the next 5; then 2 and 2. */
static void
test_tasks_of_a_group_share_a_channel(void **state)
{
    const struct channels_task task[] = {
        {.func = NCCL_ALL_REDUCE,
         .count = 12288,
         .elem_bytes = 4,
         .n_channels = 2,
         .proto = NCCL_PROTO_SIMPLE},
        {.func = NCCL_ALL_REDUCE,
         .count = 20480,
         .elem_bytes = 4,
         .n_channels = 2,
         .proto = NCCL_PROTO_SIMPLE},
    };
    struct channels_split split[2];

    (void)state;
    channels_split_cbd(task, 2, 8, 4, split);
    assert_int_equal(split[0].channel_lo, 0);
    assert_int_equal(split[0].n_channels, 2);
    assert_int_equal(split[0].lo_bytes, 32768);
    assert_int_equal(split[0].hi_bytes, 16384);
    assert_int_equal(split[1].channel_lo, 1);
    assert_int_equal(split[1].n_channels, 3);
    assert_int_equal(split[1].lo_bytes, 16384);
    assert_int_equal(split[1].mid_bytes, 32768);
    assert_int_equal(split[1].hi_bytes, 32768);
    assert_int_equal(channels_part_of(&split[1], 0).size_bytes, 0);
    assert_int_equal(channels_part_of(&split[1], 3).offset_bytes, 49152);
}

/* A full channel is left; an empty task takes none and moves nothing. */
static void
test_full_channel_is_left(void **state)
{
    struct channels_task task[3] = {
        {NCCL_ALL_REDUCE, 16384, 4, 2, NCCL_PROTO_SIMPLE},
        {NCCL_ALL_REDUCE, 0, 4, 2, NCCL_PROTO_SIMPLE},
        {NCCL_ALL_REDUCE, 16384, 4, 2, NCCL_PROTO_SIMPLE},
    };
    struct channels_split split[3];

    (void)state;
    channels_split_cbd(task, 3, 8, 4, split);
    assert_int_equal(split[0].channel_lo, 0);
    assert_int_equal(split[0].n_channels, 2);
    assert_int_equal(split[1].n_channels, 0);
    assert_int_equal(split[1].total_bytes, 0);
    assert_int_equal(split[2].channel_lo, 2);
    assert_int_equal(split[2].n_channels, 2);
    assert_int_equal(split[2].lo_bytes, 32768);
}

/* Groups of random tasks: parts are contiguous, within the channels, in
 * order, and sum up. */
static void
test_groups_cover_their_bytes(void **state)
{
    uint64_t x = 88172645463325252u;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct channels_task task[8];
        struct channels_split split[8];
        uint32_t max, n, last = 0;

        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        max = 1 + (uint32_t)(x % 32);
        n = 1 + (uint32_t)(x >> 8) % 8;
        for (uint32_t i = 0; i < n; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            task[i] = (struct channels_task){
                .func = (enum nccl_func)((x >> 3) % 5),
                .count = (int64_t)((x >> 20) >> (x % 24 + 16)),
                .elem_bytes = 1u << ((x >> 6) % 4),
                .n_channels = 1 + (uint32_t)(x >> 40) % max,
                .proto = (enum nccl_proto)((x >> 12) % 3),
            };
        }
        channels_split_cbd(task, n, 2 + (uint32_t)(x % 31), max, split);
        for (uint32_t i = 0; i < n; i++) {
            int64_t sum_bytes = 0;

            assert_int_equal(split[i].total_bytes, task[i].count * task[i].elem_bytes);
            assert_true(split[i].n_channels == 0 ||
                        split[i].channel_lo + split[i].n_channels <= max);
            for (uint32_t c = 0; c < max; c++) {
                struct channels_part part = channels_part_of(&split[i], c);

                if (part.size_bytes > 0) {
                    assert_int_equal(part.offset_bytes, sum_bytes);
                    assert_true(c >= last);
                    last = c;
                }
                assert_true(part.size_bytes >= 0);
                sum_bytes += part.size_bytes;
            }
            assert_int_equal(sum_bytes, split[i].total_bytes);
        }
    }
}

/* The factor 4 counts from the smallest of a run and excludes 4 itself. */
static void
test_aggregate_within_factor_four(void **state)
{
    const int64_t bytes[] = {100, 399, 400, 800, 1599, 1600};
    const int64_t expected[] = {499, 499, 2799, 2799, 2799, 1600};
    int64_t got[6];

    (void)state;
    channels_aggregate(bytes, 6, got);
    assert_memory_equal(got, expected, sizeof got);
}

static void
test_even_split_takes_all_channels(void **state)
{
    const struct channels_task task = {NCCL_ALL_REDUCE, 1000, 4, 3, NCCL_PROTO_SIMPLE};
    const struct channels_split split = channels_split_even(&task, 512);

    (void)state;
    assert_int_equal(split.how, CHANNELS_EVEN);
    assert_int_equal(split.n_channels, 3);
    assert_int_equal(split.total_bytes, 4000);
    assert_int_equal(split.n_threads, 512);
}

/* What changed with the versions. */
static void
test_version_rules(void **state)
{
    (void)state;
    assert_false(nccl_version_has_cbd(NCCL_VERSION_CODE(2u, 21u, 5u)));
    assert_true(nccl_version_has_cbd(NCCL_VERSION_CODE(2u, 22u, 3u)));
    assert_int_equal(nccl_version_cts_bytes(NCCL_VERSION_CODE(2u, 19u, 4u)), 32);
    assert_int_equal(nccl_version_cts_bytes(NCCL_VERSION_CODE(2u, 20u, 3u)), 64);
    assert_true(nccl_version_splits_data(NCCL_VERSION_CODE(2u, 19u, 3u)));
    assert_false(nccl_version_splits_data(NCCL_VERSION_DEFAULT));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_against_reference),
        cmocka_unit_test(test_width_against_reference),
        cmocka_unit_test(test_simple_channel_wants_32_kib),
        cmocka_unit_test(test_tasks_of_a_group_share_a_channel),
        cmocka_unit_test(test_full_channel_is_left),
        cmocka_unit_test(test_groups_cover_their_bytes),
        cmocka_unit_test(test_aggregate_within_factor_four),
        cmocka_unit_test(test_even_split_takes_all_channels),
        cmocka_unit_test(test_version_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
