/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_bottleneck.c - K34: the mean queue that DCQCN settles at, in a network.
 *
 * N hosts send to one more through a switch without latency; links of 880 ns make a loop
 * of 4 us from a mark to the packets that feel it: one data packet (221 ns) and a CNP
 * over two links (20 ns each), then a data packet again.  Measured over the second half
 * of the run, and over several seeds of start offsets and marks.
 *
 * What tests/theory/test_dcqcn_bottleneck.c says of cc_dcqcn.c alone, this one says of
 * switch, NICs and queue pairs around it.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/rng.h"
#include "tests/support/known.h"
#include "tests/support/rig.h"

#define RATE (40 * GBPS)
#define DELAY (880 * PS_PER_NS)
#define SAMPLE_PS (5 * PS_PER_US)
#define PACKET_PS (1106 * 8 * PS_PER_S / RATE)

enum { CLS = 3, FLOWS_MAX = 16 };

struct bottleneck {
    struct rig rig;
    struct work_timer timer;
    uint32_t n_flows;    /* connection i is of flow i */
    struct port *egress; /* borrowed: the switch's port to the receiver */
    int64_t half_ps;     /* since when it is measured */
    int64_t tx_bytes, tx_pkts;
    double area; /* byte x ps */
    int64_t payload_bytes[FLOWS_MAX];
    double n_samples, sum, squares;
};

/* Means over seeds. */
struct outcome {
    double mean_kb, sd_kb, throughput_share, jain, cnps_per_s;
};

static double
area_until(const struct port *port, int64_t now_ps)
{
    const struct out_class *out = &port->out[CLS];

    return (double)out->integral * 1024 +
           (double)out->queue.bytes * (double)(now_ps - out->since_ps);
}

/* The first time is the half of the run. */
static void
on_timer(struct lp *lp, struct work_timer *timer)
{
    struct bottleneck *b = timer->ctx;
    const struct out_class *out = &b->egress->out[CLS];
    double bytes = (double)out->queue.bytes;

    if (b->n_samples == 0) {
        b->half_ps = lp->now_ps;
        b->tx_bytes = out->tx_bytes;
        b->tx_pkts = out->tx_pkts;
        b->area = area_until(b->egress, lp->now_ps);
        for (uint32_t i = 0; i < b->n_flows; i++) {
            b->payload_bytes[i] = net_qp(b->rig.net, i, 1)->payload_received;
        }
    }
    b->n_samples++, b->sum += bytes, b->squares += bytes * bytes;
    work_timer_set(lp, timer, lp->now_ps + SAMPLE_PS);
}

static void
build(struct bottleneck *b, uint32_t n_flows, uint64_t seed)
{
    struct rig *rig = &b->rig;
    const struct net_qos roce = {.name = (char *)"roce",
                                 .dscp = 26,
                                 .cls = CLS,
                                 .lossless = false,
                                 .ecn = true,
                                 .weight = 1};
    const struct net_qos cnp = {
        .name = (char *)"cnp", .dscp = 48, .cls = 6, .strict = true, .weight = 1};

    rig_init(rig, seed);
    rig_star(rig, n_flows + 1, RATE, DELAY);
    net_add_qos(rig->net, &roce);
    net_add_qos(rig->net, &cnp);
    rig->net->cnp_qos = 1;
    rig->nic.mtu_bytes = 1024;
    rig->nic.pfc = 0;
    rig->sw.pfc = 0;
    rig->sw.buffer_bytes = 64000000;
    rig->sw.latency_ps = 0;
    rig->sw.ecn_at_dequeue = true;
    rig->ecn = (struct ecn_params){
        .kmin_bytes = 5000, .kmax_bytes = 200000, .pmax_q32 = PARAM_Q32(1, 100)};
    struct dcqcn_params *params = rig_dcqcn(rig, "paper");

    params->hai_bps = params->ai_bps;
    params->hai_by_stage = false;
    rig_build(rig);
    b->egress = rig_port(rig, "leaf0", "host0");
}

static struct outcome
measure(const struct bottleneck *b)
{
    const struct net *net = b->rig.net;
    const struct out_class *out = &b->egress->out[CLS];
    double for_ps = (double)(net->end_ps - b->half_ps);
    double n = b->n_flows, sum = 0, squares = 0, mean = b->sum / b->n_samples;
    int64_t wire_bytes =
        out->tx_bytes - b->tx_bytes + WIRE_EXTRA_BYTES * (out->tx_pkts - b->tx_pkts);

    for (uint32_t i = 0; i < b->n_flows; i++) {
        double got = (double)(net_qp(net, i, 1)->payload_received - b->payload_bytes[i]);

        sum += got, squares += got * got;
    }
    return (struct outcome){
        .mean_kb = (area_until(b->egress, net->end_ps) - b->area) / for_ps / 1e3,
        .sd_kb = sqrt(b->squares / b->n_samples - mean * mean) / 1e3,
        .throughput_share =
            (double)wire_bytes * 8 / ((double)RATE * for_ps / (double)PS_PER_S),
        .jain = sum * sum / (n * squares),
        .cnps_per_s =
            (double)rig_sum(&b->rig).cnps / n / ((double)net->end_ps / (double)PS_PER_S)};
}

static struct outcome
run(uint32_t n_flows, int64_t for_ps, uint64_t seed)
{
    struct bottleneck b = {.n_flows = n_flows};
    uint64_t key = rng_key(seed, "K34", "starts");

    build(&b, n_flows, seed);
    for (uint32_t i = 0; i < n_flows; i++) {
        rig_flow(&b.rig, i + 1, 0, 1 << 30,
                 (int64_t)rng_below(key, i, (uint64_t)(PACKET_PS * n_flows)));
        /* A GiB at 20 Gb/s is 0.4 s: another one lies ready. */
        rig_flow_on(&b.rig, i, 0, 1 << 30, PACKET_PS * n_flows);
    }
    b.timer = (struct work_timer){
        .source = net_new_timer(b.rig.net), .fire = on_timer, .ctx = &b};
    rig_start(&b.rig, PARTITION_ONE, 1);
    work_timer_set(net_lp_of_host(b.rig.net, 0), &b.timer, for_ps / 2);
    rig_run(&b.rig, for_ps);
    assert_int_equal(b.rig.net->end, NET_END_STOPPED);
    assert_int_equal(rig_sum(&b.rig).drops, 0);
    assert_int_equal(rig_sum(&b.rig).xoff_tx, 0);
    struct outcome o = measure(&b);

    print_message("# K34, N = %u, seed %u: mean %.1f KB, sd %.1f KB, %.4f of 40 Gb/s, "
                  "Jain %.4f, %.0f CNP/s a flow\n",
                  n_flows, (unsigned)seed, o.mean_kb, o.sd_kb, o.throughput_share, o.jain,
                  o.cnps_per_s);
    rig_clear(&b.rig);
    return o;
}

static struct outcome
mean_of(uint32_t n_flows, int64_t for_ps, unsigned n_seeds)
{
    struct outcome mean = {0};

    for (unsigned seed = 1; seed <= n_seeds; seed++) {
        struct outcome o = run(n_flows, for_ps, seed);

        mean.mean_kb += o.mean_kb / n_seeds;
        mean.sd_kb += o.sd_kb / n_seeds;
        mean.throughput_share += o.throughput_share / n_seeds;
        mean.jain += o.jain / n_seeds;
        mean.cnps_per_s += o.cnps_per_s / n_seeds;
    }
    return mean;
}

static void
test_k34_two_flows(void **state)
{
    struct outcome o = mean_of(2, 400 * 1000 * PS_PER_US, 3);

    (void)state;
    known_equals("K34", "n2_mean_kb", o.mean_kb);
    known_print("K34", "n2_sd_kb", o.sd_kb);
    known_at_least("K34", "n2_throughput_share", o.throughput_share);
    known_at_least("K34", "n2_jain", o.jain);
    known_equals("K34", "n2_cnps_per_s", o.cnps_per_s);
}

static void
test_k34_ten_flows_printed(void **state)
{
    struct outcome o = mean_of(10, 200 * 1000 * PS_PER_US, 1);

    (void)state;
    known_print("K34", "n10_mean_kb", o.mean_kb);
    known_print("K34", "n10_sd_kb", o.sd_kb);
    known_print("K34", "n10_throughput_share", o.throughput_share);
    known_print("K34", "n10_jain", o.jain);
    known_print("K34", "n10_cnps_per_s", o.cnps_per_s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k34_two_flows),
        cmocka_unit_test(test_k34_ten_flows_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
