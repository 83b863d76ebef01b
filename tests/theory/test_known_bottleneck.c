/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_bottleneck.c - K34: the mean queue that DCQCN settles at, in a network.
 *
 * What tests/theory/test_dcqcn_bottleneck.c says of cc_dcqcn.c alone, this one says of
 * switch, NICs and queue pairs around it.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/support/bottleneck.h"
#include "tests/support/known.h"

static const struct bottleneck_params base = {.rate_bps = 40 * GBPS,
                                              .mtu_bytes = 1024,
                                              .loop_ps = 4 * PS_PER_US,
                                              .kmin_bytes = 5000,
                                              .kmax_bytes = 200000,
                                              .pmax_percent = 1,
                                              .for_ps = 400 * PS_PER_MS};

static void
test_k34_two_flows(void **state)
{
    struct bottleneck_params params = base;
    struct bottleneck_outcome o;

    (void)state;
    params.n_flows = 2;
    o = bottleneck_run("K34", &params, 3);
    known_equals("K34", "n2_mean_kb", o.mean_kb);
    known_print("K34", "n2_sd_kb", o.sd_kb);
    known_at_least("K34", "n2_throughput_share", o.throughput_share);
    known_at_least("K34", "n2_jain", o.jain);
    known_equals("K34", "n2_cnps_per_s", o.cnps_per_s);
}

static void
test_k34_ten_flows(void **state)
{
    struct bottleneck_params params = base;
    struct bottleneck_outcome o;

    (void)state;
    params.n_flows = 10;
    o = bottleneck_run("K34", &params, 3);
    known_equals("K34", "n10_mean_kb", o.mean_kb);
    known_print("K34", "n10_sd_kb", o.sd_kb);
    known_at_least("K34", "n10_throughput_share", o.throughput_share);
    known_at_least("K34", "n10_jain", o.jain);
    known_equals("K34", "n10_cnps_per_s", o.cnps_per_s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k34_two_flows),
        cmocka_unit_test(test_k34_ten_flows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
