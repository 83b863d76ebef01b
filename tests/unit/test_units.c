/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_units.c - serialisation times against hand arithmetic.
 */
#include <config.h>

#include "sim/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* IEEE 802.3 rates: 8 bits at 10 Gb/s last 0.8 ns, at 1.6 Tb/s 5 ps. */
static void
test_byte_is_whole_at_ethernet_rates(void **state)
{
    (void)state;
    assert_int_equal(sim_tx_time_ps(1, INT64_C(10000000000)), 800);
    assert_int_equal(sim_tx_time_ps(1, INT64_C(100000000000)), 80);
    assert_int_equal(sim_tx_time_ps(1, INT64_C(400000000000)), 20);
    assert_int_equal(sim_tx_time_ps(1, INT64_C(1600000000000)), 5);
}

static void
test_other_rates_round_up(void **state)
{
    (void)state;
    assert_int_equal(sim_tx_time_ps(1, INT64_C(3000000000)), 2667);
    assert_int_equal(sim_tx_time_ps(0, INT64_C(3000000000)), 0);
}

/* The largest size allowed: 2^20 x 8e12 has 63 bits, the sum with the rate as well. */
static void
test_largest_size_does_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(sim_tx_time_ps(INT64_C(1) << 20, 1), INT64_C(8388608000000000000));
    assert_int_equal(sim_tx_time_ps(INT64_C(1) << 20, INT64_C(1600000000000)), 5242880);
}

/* Rates at which a byte is no whole number of picoseconds must say so. */
static void
test_byte_time_is_whole_or_zero(void **state)
{
    (void)state;
    assert_int_equal(sim_ps_per_byte(INT64_C(25000000000)), 320);
    assert_int_equal(sim_ps_per_byte(INT64_C(3000000000)), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_is_whole_at_ethernet_rates),
        cmocka_unit_test(test_other_rates_round_up),
        cmocka_unit_test(test_largest_size_does_not_overflow),
        cmocka_unit_test(test_byte_time_is_whole_or_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
