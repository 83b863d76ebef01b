/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_all_to_all_1024.c - K45 at 1024 hosts: a million flows on a million connections,
 * a gigabyte of queue pairs, so for check-long.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/all_to_all.h"
#include "tests/support/known.h"

static void
test_k45_1024_hosts(void **state)
{
    (void)state;
    known_equals("K45", "slowdown_1024_32_4", all_to_all_slowdown(1024, 32, 4, 8192));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k45_1024_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
