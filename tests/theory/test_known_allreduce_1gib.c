/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_allreduce_1gib.c - K42 at its own size: a ring all_reduce of 1 GiB over 8
 * hosts at 100 Gb/s takes 153.333 ms with headers, never less and at most 1 % more; one
 * packet on each of 16 links at a time, so for check-long.  Smaller ones:
 * test_known_allreduce.c.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/job.h"
#include "tests/support/known.h"

static void
test_k42_1_gib(void **state)
{
    struct job job;

    (void)state;
    job_star(&job, 8, 1);
    job.params.collective.bytes = 1024 * MIB;
    job_play(&job);
    const struct call_result *call = job_calls(&job, 1);
    double share = (double)job_took_ps(call) / (double)call->bound_ps;

    known_equals("K42", "bound_1_gib_ms", (double)call->bound_ps / PS_PER_US / 1e3);
    known_at_least("K42", "time_over_bound_least", share);
    known_at_most("K42", "time_over_bound_most", share);
    job_clear(&job);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k42_1_gib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
