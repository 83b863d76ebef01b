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

/* 1 TiB at 1 b/s is 2^43 s: the product exceeds 64 bits, the result at 1 Gb/s does not. */
static void
test_large_size_does_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(sim_tx_time_ps(INT64_C(1) << 40, INT64_C(1000000000)),
                     INT64_C(8796093022208000));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_is_whole_at_ethernet_rates),
        cmocka_unit_test(test_other_rates_round_up),
        cmocka_unit_test(test_large_size_does_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
