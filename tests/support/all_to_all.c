/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * all_to_all.c - K45's network and measure, see all_to_all.h.
 */
#include <config.h>

#include "tests/support/all_to_all.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/rig.h"
#include "workloads/work.h"

#define RATE (100 * GBPS)
#define DELAY (25 * PS_PER_NS)

/* On the wire at an MTU of 4096: headers and gap of every packet, RETH of the first. */
#define PACKET_EXTRA_BYTES 82
#define RETH_BYTES 16

static int64_t
wire_bytes(int64_t bytes)
{
    return bytes + (bytes + 4095) / 4096 * PACKET_EXTRA_BYTES + RETH_BYTES;
}

double
all_to_all_slowdown(uint32_t n_hosts, uint32_t per_leaf, uint32_t ratio, int64_t bytes)
{
    const struct link_params host = {.rate_bps = RATE, .delay_ps = DELAY};
    const struct link_params fabric = {.rate_bps = RATE * per_leaf / ratio,
                                       .delay_ps = DELAY};
    struct work_params params = {.kind = WORK_ALL_TO_ALL,
                                 .common = {.repeat = 1, .qps = 1},
                                 .all_to_all = {.bytes = bytes},
                                 .n_hosts = n_hosts};
    g_autofree uint32_t *hosts = g_new(uint32_t, n_hosts);
    struct rig rig;
    int64_t last_ps = 0;
    uint32_t n;

    for (uint32_t i = 0; i < n_hosts; i++) {
        hosts[i] = i;
    }
    params.hosts = hosts;
    rig_init(&rig, 45);
    rig.cc_name = "none";
    rig_leaf_spine(&rig, n_hosts, n_hosts / per_leaf, 1, &host, &fabric);
    rig_build(&rig);
    struct work *work = work_new(rig.net, &params, NULL);

    assert_non_null(work);
    rig_start(&rig, PARTITION_RACK, 0);
    work_start(work);
    rig_run(&rig, TIME_NEVER_PS);
    assert_int_equal(rig.net->end, NET_END_DONE);
    assert_int_equal(rig_sum(&rig).drops, 0);
    const struct flow_result *results = work->ops->flows(work->state, &n);

    assert_int_equal(n, n_hosts * (n_hosts - 1));
    for (uint32_t i = 0; i < n; i++) {
        assert_true(results[i].received_ps != TIME_NEVER_PS);
        last_ps = MAX(last_ps, results[i].received_ps);
    }
    work_free(work);
    rig_clear(&rig);
    return (double)last_ps /
           (double)sim_tx_time_ps((n_hosts - 1) * wire_bytes(bytes), RATE);
}
