/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_rng.c - the exponential distribution in integers: against libm, exact values, mean and
 * variance.
 */
#include <config.h>

#include "sim/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void
expect_near(double value, double wanted, double tolerance)
{
    if (fabs(value - wanted) > tolerance) {
        fail_msg("%.9g is not %.9g within %g", value, wanted, tolerance);
    }
}

/* Less than 1.0001 below and 0.0001 above, as the header says. */
static void
expect_near_libm(uint64_t u)
{
    long double exact = (64 * logl(2.0L) - logl((long double)u + 1.0L)) * 4294967296.0L;
    long double below = exact - (long double)rng_minus_ln_q32(u);

    if (below < -0.0001L || below > 1.0001L) {
        fail_msg("%llu: %Lg below", (unsigned long long)u, below);
    }
}

static void
logarithm(void **state)
{
    (void)state;
    for (uint64_t u = 0; u < 1000; u++) {
        expect_near_libm(u);
        expect_near_libm(UINT64_MAX - u);
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        expect_near_libm((UINT64_C(1) << bit) - 1);
        expect_near_libm(UINT64_C(1) << bit);
    }
    for (uint64_t n = 0; n < 200000; n++) {
        expect_near_libm(rng_u64(1, n) >> n % 64);
    }
}

/* These may never change: seeds would mean other runs. */
static void
vectors(void **state)
{
    static const uint64_t logs[] = {1177047528, 3888243546, 6949802917, 2044165343,
                                    1557795873};
    static const int64_t draws[] = {274053, 905302, 1618127, 475944, 362703};

    (void)state;
    for (uint64_t n = 0; n < 5; n++) {
        assert_int_equal(rng_minus_ln_q32(rng_u64(3, n)), logs[n]);
        assert_int_equal(rng_exponential(3, n, 1000000), draws[n]);
    }
    assert_int_equal(rng_minus_ln_q32(0), 190530846196); /* 64 ln 2 */
    assert_int_equal(rng_minus_ln_q32(UINT64_MAX), 0);
    assert_int_equal(rng_minus_ln_q32(UINT64_MAX >> 1), 2977044471); /* ln 2 */
    assert_int_equal(rng_exponential(3, 0, 0), 0);
    /* The largest mean times the largest draw. */
    assert_true(((unsigned __int128)(INT64_C(1) << 57) * rng_minus_ln_q32(0) >> 32) <
                INT64_MAX);
}

/* Of a million: mean 1, variance 1, P(x > 3) = e^-3; 5 sigma. */
static void
moments(void **state)
{
    const int n = 1000000;
    const int64_t mean = 1000000;
    double sum = 0, squares = 0;
    int n_large = 0;

    (void)state;
    for (int i = 0; i < n; i++) {
        double x = (double)rng_exponential(99, (uint64_t)i, mean) / (double)mean;

        sum += x;
        squares += (x - 1) * (x - 1);
        n_large += x > 3;
    }
    expect_near(sum / n, 1, 5 / sqrt(n));
    expect_near(squares / n, 1, 5 * sqrt(8.0 / n)); /* fourth moment 9 */
    expect_near((double)n_large / n, exp(-3), 5 * sqrt(exp(-3) / n));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithm),
        cmocka_unit_test(vectors),
        cmocka_unit_test(moments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
