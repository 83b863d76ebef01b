/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_cdf.c - distributions of flow sizes: forms, draws at and between points, mean, and what is
 * refused.
 */
#include <config.h>

#include "workloads/cdf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/data.h"

static struct cdf *
load(const char *name)
{
    g_autofree char *below = g_strconcat("tests/data/cdf/", name, NULL);
    g_autofree char *path = data_path(below);
    g_autoptr(GError) error = NULL;
    struct cdf *cdf = cdf_load(path, &error);

    assert_non_null(cdf);
    return cdf;
}

static struct cdf *
parse(const char *text)
{
    g_autoptr(GError) error = NULL;
    struct cdf *cdf = cdf_parse("x.txt", text, strlen(text), &error);

    if (error != NULL) {
        print_message("%s\n", error->message);
    }
    assert_non_null(cdf);
    return cdf;
}

/* The number a share of 'percent' / 100 of 2^64 down to. */
static uint64_t
at(double percent)
{
    return (uint64_t)(percent / 100 * 0x1p64);
}

/* Means of the known answers (1711250.0, 1711222.5) and exact points. */
static void
test_forms(void **state)
{
    static const char *const same[] = {"WebSearch.txt", "WebSearch.json"};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(same); i++) {
        struct cdf *cdf = load(same[i]);

        assert_float_equal(cdf_mean_bytes(cdf), 1711250.0, 0.05);
        assert_int_equal(cdf_draw(cdf, 0), 1);
        assert_int_equal(cdf_draw(cdf, at(7.5)), 5000);
        assert_int_equal(cdf_draw(cdf, at(25)), 25000);
        assert_int_equal(cdf_draw(cdf, at(75)), 1500000);
        assert_int_equal(cdf_draw(cdf, at(98.5)), 20000000);
        assert_int_equal(cdf_draw(cdf, UINT64_MAX), 30000000);
        cdf_free(cdf);
    }
    struct cdf *fraction = load("fraction.txt");

    assert_float_equal(cdf_mean_bytes(fraction), 1711222.5, 0.05);
    assert_int_equal(cdf_draw(fraction, 0), 2000);
    assert_int_equal(cdf_draw(fraction, at(25)), 25000);
    cdf_free(fraction);
}

/* A fixed size, a step without flows, a share of flows at the first point. */
static void
test_steps(void **state)
{
    struct cdf *fixed = parse("5000 0\n5000 100\n");
    struct cdf *gap = parse("# two sizes\n100 50 # half\n\n100 50\n900 50\n900 100\n");

    (void)state;
    assert_int_equal(cdf_draw(fixed, 0), 5000);
    assert_int_equal(cdf_draw(fixed, UINT64_MAX), 5000);
    assert_float_equal(cdf_mean_bytes(fixed), 5000, 1e-9);
    assert_int_equal(cdf_draw(gap, 0), 100);
    assert_int_equal(cdf_draw(gap, at(50) - 1), 100);
    assert_int_equal(cdf_draw(gap, at(50)), 900);
    assert_float_equal(cdf_mean_bytes(gap), 500, 1e-9);
    cdf_free(fixed);
    cdf_free(gap);
}

/* The mean of many draws is the mean, and no draw is below its neighbour's. */
static void
test_law(void **state)
{
    enum { N = 100000 };
    struct cdf *cdf = load("WebSearch.txt");
    double sum = 0;
    int64_t before = 0;

    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        uint64_t u = (uint64_t)(((unsigned __int128)(2 * i + 1) << 63) / N);
        int64_t bytes = cdf_draw(cdf, u);

        assert_true(bytes >= before && bytes >= 1);
        before = bytes;
        sum += (double)bytes;
    }
    assert_float_equal(sum / N, cdf_mean_bytes(cdf), 1);
    cdf_free(cdf);
}

static void
test_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "x.txt:1: has 0 points; needed are 2 or more"},
        {"10 100\n", "x.txt:1: has 1 points; needed are 2 or more"},
        {"0 0\n10 50\n", "x.txt:2: the last share is 50; needed is 100 (percent) or 1 "
                         "(fraction)"},
        {"0 0\n20 50\n10 100\n",
         "x.txt:3: bytes fall from 20 to 10; allowed is the same or more"},
        {"0 0\n20 50\n30 40\n50 100\n",
         "x.txt:3: the share falls to 40; allowed is 50 or more"},
        {"0 0\n20 120\n", "x.txt:2: the share is 120; allowed is up to 100 (percent)"},
        {"0 0\n20\n", "x.txt:2: has one number; needed are two, bytes and their share"},
        {"0 0\n20 100 7\n",
         "x.txt:2: '7' follows; allowed are two numbers, bytes and their share"},
        {"0 0\nbig 100\n", "x.txt:2: bytes is 'big'; allowed is a whole number"},
        {"0 0\n-5 100\n", "x.txt:2: bytes is -5; allowed is 0 to 1152921504606846976"},
        {"0 0\n5 -1\n", "x.txt:2: the share is -1; allowed is 0 or more"},
        {"0 0\n5 nan\n", "x.txt:2: the share is 'nan'; allowed is a number"},
        {"0 0\n0 100\n", "x.txt:2: the largest size is 0; needed is 1 or more"},
        {"{}", "x.txt:1: points is missing; needed is a list of [bytes, share]"},
        {"{\"points\": [[0, 0], [5, \"x\"]]}",
         "x.txt:1: points[1] has no number of their share; allowed is [bytes, share]"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;

        assert_null(cdf_parse("x.txt", cases[i].text, strlen(cases[i].text), &error));
        assert_string_equal(error->message, cases[i].message);
    }
    GError *error = NULL;

    assert_null(cdf_load("/does/not/exist", &error));
    assert_true(g_error_matches(error, CDF_ERROR, CDF_ERROR_FILE));
    assert_true(g_str_has_prefix(error->message, "/does/not/exist: "));
    g_error_free(error);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_law),
        cmocka_unit_test(test_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
