/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_all_to_all.c - K45: how much longer a uniform all-to-all takes through leaves
 * with less rate up than down.  1024 hosts: test_known_all_to_all_1024.c.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/all_to_all.h"
#include "tests/support/known.h"

static void
test_k45_128_hosts(void **state)
{
    (void)state;
    known_equals("K45", "slowdown_128_16_4", all_to_all_slowdown(128, 16, 4, 65536));
    known_equals("K45", "slowdown_128_16_2", all_to_all_slowdown(128, 16, 2, 65536));
}

static void
test_k45_64_hosts(void **state)
{
    (void)state;
    known_equals("K45", "slowdown_64_32_4", all_to_all_slowdown(64, 32, 4, 65536));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k45_128_hosts),
        cmocka_unit_test(test_k45_64_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
