/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_stats.c - the arithmetic behind pictures.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/rng.h"
#include "tools/report/stats.h"

static void
is(double got, double wanted)
{
    assert_true(got > wanted - 1e-9 && got < wanted + 1e-9);
}

/* Jain, Chiu and Hawe, section 3: k of n users served alike have k / n. */
static void
jain(void **state)
{
    const double alike[] = {7, 7, 7, 7}, one[] = {0, 5, 0, 0}, half[] = {3, 0, 3, 0};
    const double paper[] = {1, 3, 5}, none[] = {0, 0};

    (void)state;
    is(stats_jain(alike, 4), 1);
    is(stats_jain(one, 4), 0.25);
    is(stats_jain(half, 4), 0.5);
    is(stats_jain(paper, 3), 81.0 / 105);
    is(stats_jain(none, 2), 1);
    is(stats_jain(one, 1), 1);
}

static void
percentiles_by_nearest_rank(void **state)
{
    const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    (void)state;
    is(stats_percentile(values, 10, 0), 1);
    is(stats_percentile(values, 10, 50), 5);
    is(stats_percentile(values, 10, 51), 6);
    is(stats_percentile(values, 10, 95), 10);
    is(stats_percentile(values, 10, 100), 10);
    is(stats_percentile(values, 1, 50), 1);
}

static void
bins_of_equal_count(void **state)
{
    struct stats_sized items[100];
    struct stats_bin bins[20];

    (void)state;
    for (int i = 0; i < 100; i++) {
        /* Sizes 100 down to 1; the value is 1000 less. */
        items[i] = (struct stats_sized){100 - i, 1100 - i};
    }
    assert_int_equal(stats_bins(items, 100, 20, bins), 20);
    for (int b = 0; b < 20; b++) {
        assert_int_equal(bins[b].n, 5);
        is(bins[b].least_size, 5 * b + 1);
        is(bins[b].most_size, 5 * b + 5);
        is(bins[b].p50, 1000 + 5 * b + 3);
        is(bins[b].p99, 1000 + 5 * b + 5);
    }
}

/* One size is one bin, however many there are of it. */
static void
a_size_is_not_cut(void **state)
{
    struct stats_sized items[30];
    struct stats_bin bins[10];

    (void)state;
    for (int i = 0; i < 30; i++) {
        items[i] = (struct stats_sized){i < 14 ? 1 : i < 15 ? 2 : 3, i};
    }
    assert_int_equal(stats_bins(items, 30, 10, bins), 3);
    assert_int_equal(bins[0].n, 14);
    assert_int_equal(bins[1].n, 1);
    assert_int_equal(bins[2].n, 15);
    is(bins[0].most_size, 1);
    is(bins[0].p50, 6);
    is(bins[1].p50, 14);
    for (int i = 0; i < 30; i++) {
        items[i].size = 8;
    }
    assert_int_equal(stats_bins(items, 30, 10, bins), 1);
    assert_int_equal(stats_bins(items, 0, 10, bins), 0);
}

/* Whatever the sizes: every item is in one bin, bins do not overlap, and none is smaller
 * than an equal share but where a size has taken from it. */
static void
bins_hold_everything(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        uint64_t key = rng_key(seed, "bins", "test"), d = 0;
        struct stats_sized items[200];
        struct stats_bin bins[20];
        guint n = 1 + (guint)rng_below(key, d++, 200), sum = 0;
        guint sizes = 1 + (guint)rng_below(key, d++, 50);

        for (guint i = 0; i < n; i++) {
            items[i].size = (double)rng_below(key, d++, sizes);
            items[i].value = (double)rng_below(key, d++, 1000);
        }
        guint made = stats_bins(items, n, 20, bins);

        assert_true(made >= 1 && made <= 20);
        for (guint b = 0; b < made; b++) {
            sum += bins[b].n;
            assert_true(bins[b].least_size <= bins[b].most_size);
            assert_true(b == 0 || bins[b - 1].most_size < bins[b].least_size);
            assert_true(bins[b].p50 <= bins[b].p95 && bins[b].p95 <= bins[b].p99);
        }
        assert_int_equal(sum, n);
    }
}

static void
distributions(void **state)
{
    const double few[] = {1, 2, 2, 5};
    double many[1001];
    struct stats_step steps[100];

    (void)state;
    assert_int_equal(stats_cdf(few, 4, 100, steps), 3);
    is(steps[0].value, 1);
    is(steps[0].share, 0.25);
    is(steps[1].value, 2);
    is(steps[1].share, 0.75);
    is(steps[2].value, 5);
    is(steps[2].share, 1);
    for (int i = 0; i <= 1000; i++) {
        many[i] = i;
    }
    assert_int_equal(stats_cdf(many, 1001, 11, steps), 11);
    is(steps[0].value, 0);
    is(steps[5].value, 500);
    is(steps[10].value, 1000);
    is(steps[10].share, 1);
}

static void
histograms(void **state)
{
    const double values[] = {0, 3.9, 4, 99.9, 100, 130, -1};
    guint counts[25], sum = 0;

    (void)state;
    stats_histogram(values, 7, 100, 25, counts);
    assert_int_equal(counts[0], 3);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[24], 3);
    for (int i = 0; i < 25; i++) {
        sum += counts[i];
    }
    assert_int_equal(sum, 7);
}

static void
spans_are_joined(void **state)
{
    struct stats_span spans[] = {{0, 1}, {1.5, 4}, {2, 3}, {10, 10.1}, {13, 20}};

    (void)state;
    /* Below 1 apart: 0 to 1 and 1.5 to 4; the short one becomes 1 long. */
    assert_int_equal(stats_join(spans, 5, 1), 3);
    is(spans[0].from, 0);
    is(spans[0].to, 4);
    is(spans[1].from, 10);
    is(spans[1].to, 11);
    is(spans[2].from, 13);
    is(spans[2].to, 20);
    assert_int_equal(stats_join(spans, 0, 1), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jain),
        cmocka_unit_test(percentiles_by_nearest_rank),
        cmocka_unit_test(bins_of_equal_count),
        cmocka_unit_test(a_size_is_not_cut),
        cmocka_unit_test(bins_hold_everything),
        cmocka_unit_test(distributions),
        cmocka_unit_test(histograms),
        cmocka_unit_test(spans_are_joined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
