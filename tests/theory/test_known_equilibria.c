/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_equilibria.c - K35 to K38: where DCQCN settles at other rates, markings and
 * loops, and how two flows come together.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/support/bottleneck.h"
#include "tests/support/known.h"

/* 100G, K 5/200 KB/1 %, MTU 1024, 4 us. */
static struct bottleneck_params
at_100g(uint32_t n_flows)
{
    return (struct bottleneck_params){.n_flows = n_flows,
                                      .rate_bps = 100 * GBPS,
                                      .mtu_bytes = 1024,
                                      .loop_ps = 4 * PS_PER_US,
                                      .kmin_bytes = 5000,
                                      .kmax_bytes = 200000,
                                      .pmax_percent = 1,
                                      .for_ps = 400 * PS_PER_MS};
}

static void
test_k35(void **state)
{
    struct bottleneck_params two = at_100g(2), eight = at_100g(8), sixteen = at_100g(16);

    (void)state;
    known_equals("K35", "n2_mean_kb", bottleneck_run("K35", &two, 3).mean_kb);
    known_equals("K35", "n8_mean_kb", bottleneck_run("K35", &eight, 2).mean_kb);
    known_equals("K35", "n16_mean_kb", bottleneck_run("K35", &sixteen, 2).mean_kb);
}

static void
test_k36(void **state)
{
    struct bottleneck_params small = at_100g(8), large = at_100g(8);
    struct bottleneck_outcome o;

    (void)state;
    small.kmin_bytes = 400000, small.kmax_bytes = 1600000, small.pmax_percent = 20;
    o = bottleneck_run("K36", &small, 2);
    known_equals("K36", "k400_1600_mtu1024_mean_kb", o.mean_kb);
    known_print("K36", "k400_1600_mtu1024_sd_kb", o.sd_kb);
    large.kmin_bytes = 100000, large.kmax_bytes = 400000, large.pmax_percent = 20;
    large.mtu_bytes = 4096;
    o = bottleneck_run("K36", &large, 3);
    known_equals("K36", "k100_400_mtu4096_mean_kb", o.mean_kb);
    known_print("K36", "k100_400_mtu4096_sd_kb", o.sd_kb);
}

/* A loop twenty times as long swings; two flows do not. */
static void
test_k37(void **state)
{
    struct bottleneck_params ten = at_100g(10), two, near;
    struct bottleneck_outcome o, calm;

    (void)state;
    ten.rate_bps = 40 * GBPS;
    near = ten;
    ten.loop_ps = 85 * PS_PER_US;
    two = ten;
    two.n_flows = 2;
    o = bottleneck_run("K37", &ten, 3);
    calm = bottleneck_run("K37", &near, 1);
    known_equals("K37", "n10_mean_kb", o.mean_kb);
    known_equals("K37", "n10_sd_kb", o.sd_kb);
    known_equals("K37", "n10_throughput_gbps", o.throughput_share * 40);
    known_at_least("K37", "sd_over_mean_against_4us_least",
                   o.sd_kb / o.mean_kb / (calm.sd_kb / calm.mean_kb));
    o = bottleneck_run("K37", &two, 3);
    known_equals("K37", "n2_mean_kb", o.mean_kb);
    known_at_most("K37", "n2_sd_over_mean_most", o.sd_kb / o.mean_kb);
}

/* |difference| of the goodputs of the two flows over the hundredth before 'part' and it,
 * in Gb/s of the wire. */
static double
difference_gbps(const struct bottleneck_outcome *o, const struct bottleneck_params *p,
                int part)
{
    const int64_t *now = o->payload_bytes[part], *before = o->payload_bytes[part - 4];
    double bytes = (double)(now[0] - before[0]) - (double)(now[1] - before[1]);

    return fabs(bytes) * 8 / ((double)p->for_ps * 4 / 100 / 1e12) / 1e9;
}

/* Two flows at 40 and 5 Gb/s come together; the times may be 1.5 times the fluid's. */
static void
test_k38(void **state)
{
    struct bottleneck_params params = at_100g(2);
    struct bottleneck_outcome o;

    (void)state;
    params.rate_bps = 40 * GBPS;
    params.second_rate_bps = 5 * GBPS;
    params.for_ps = 200 * PS_PER_MS;
    o = bottleneck_run("K38", &params, 1);
    double early = difference_gbps(&o, &params, 5);

    for (int part = 5; part < 99; part += 5) {
        print_message("# K38: at %d ms %.2f Gb/s apart\n", part * 2,
                      difference_gbps(&o, &params, part));
    }
    known_at_least("K38", "difference_at_10ms_least_gbps", early);
    known_at_most("K38", "difference_at_40ms_gbps", difference_gbps(&o, &params, 30));
    const int64_t *end = o.payload_bytes[99], *half = o.payload_bytes[50];

    known_at_most(
        "K38", "long_run_share_off",
        fabs((double)(end[0] - half[0]) / (double)(end[0] - half[0] + end[1] - half[1]) -
             0.5));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k35),
        cmocka_unit_test(test_k36),
        cmocka_unit_test(test_k37),
        cmocka_unit_test(test_k38),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
