/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bottleneck.c - see bottleneck.h.
 */
#include <config.h>

#include "tests/support/bottleneck.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/rng.h"

#define SAMPLE_PS (5 * PS_PER_US)
#define FLOW_BYTES (INT64_C(1) << 30)

enum { CLS = 3 };

struct bottleneck {
    struct rig rig;
    const struct bottleneck_params *params;
    struct work_timer timer;
    struct port *egress; /* borrowed: the switch's port to the receiver */
    int64_t half_ps;     /* since when it is measured; 0: not yet */
    int64_t tx_bytes, tx_pkts;
    double area; /* byte x ps */
    int64_t payload_bytes[BOTTLENECK_FLOWS_MAX];
    int64_t marks[100][2];
    double n_samples, sum, squares;
};

static int64_t
bytes_ps(const struct bottleneck_params *params, int64_t bytes)
{
    return bytes * 8 * (PS_PER_S / GBPS) / (params->rate_bps / GBPS);
}

static int64_t
frame_bytes(const struct bottleneck_params *params)
{
    return packet_frame_bytes((uint32_t)params->mtu_bytes, 0, IPV4_BYTES, 0);
}

static int64_t
payload_of(const struct bottleneck *b, uint32_t flow)
{
    return net_qp(b->rig.net, flow, 1)->payload_received;
}

static double
area_until(const struct port *port, int64_t now_ps)
{
    const struct out_class *out = &port->out[CLS];

    return (double)out->integral * 1024 +
           (double)out->queue.bytes * (double)(now_ps - out->since_ps);
}

static void
begin_to_measure(struct bottleneck *b, int64_t now_ps)
{
    const struct out_class *out = &b->egress->out[CLS];

    b->half_ps = now_ps;
    b->tx_bytes = out->tx_bytes;
    b->tx_pkts = out->tx_pkts;
    b->area = area_until(b->egress, now_ps);
    for (uint32_t i = 0; i < b->params->n_flows; i++) {
        b->payload_bytes[i] = payload_of(b, i);
    }
}

static void
on_timer(struct lp *lp, struct work_timer *timer)
{
    struct bottleneck *b = timer->ctx;
    double bytes = (double)b->egress->out[CLS].queue.bytes;
    int64_t part = lp->now_ps * 100 / b->params->for_ps;

    for (uint32_t i = 0; i < 2; i++) {
        b->marks[part < 99 ? part : 99][i] = payload_of(b, i);
    }
    if (lp->now_ps >= b->params->for_ps / 2) {
        if (!b->half_ps) {
            begin_to_measure(b, lp->now_ps);
        }
        b->n_samples++, b->sum += bytes, b->squares += bytes * bytes;
    }
    work_timer_set(lp, timer, lp->now_ps + SAMPLE_PS);
}

static void
build(struct bottleneck *b, uint64_t seed)
{
    const struct bottleneck_params *p = b->params;
    struct rig *rig = &b->rig;
    const struct net_qos roce = {.name = (char *)"roce",
                                 .dscp = 26,
                                 .cls = CLS,
                                 .lossless = false,
                                 .ecn = true,
                                 .weight = 1};
    const struct net_qos cnp = {
        .name = (char *)"cnp", .dscp = 48, .cls = 6, .strict = true, .weight = 1};
    int64_t on_wires_ps = bytes_ps(
        p, 2 * frame_bytes(p) + 2 * packet_frame_bytes(0, CNP_PAD_BYTES, IPV4_BYTES, 0));

    rig_init(rig, seed);
    rig_star(rig, p->n_flows + 1, p->rate_bps, (p->loop_ps - on_wires_ps) / 4);
    net_add_qos(rig->net, &roce);
    net_add_qos(rig->net, &cnp);
    rig->net->cnp_qos = 1;
    rig->nic.mtu_bytes = p->mtu_bytes;
    rig->nic.pfc = 0;
    rig->sw.pfc = 0;
    rig->sw.buffer_bytes = 64000000;
    rig->sw.latency_ps = 0;
    rig->sw.ecn_at_dequeue = true;
    rig->ecn = (struct ecn_params){.kmin_bytes = p->kmin_bytes,
                                   .kmax_bytes = p->kmax_bytes,
                                   .pmax_q32 = PARAM_Q32(p->pmax_percent, 100)};
    struct dcqcn_params *params = rig_dcqcn(rig, "paper");

    params->hai_bps = params->ai_bps;
    params->hai_by_stage = false;
    rig_build(rig);
    b->egress = rig_port(rig, "leaf0", "host0");
}

/* As after a CNP long ago that has left it there. */
static void
limit(struct qp *qp, int64_t rate_bps, int64_t now_ps, const struct dcqcn_params *params)
{
    struct dcqcn *state = (struct dcqcn *)qp->cc_state;

    state->rate_bps = rate_bps;
    state->target_bps = rate_bps;
    state->had_cnp = true;
    state->alpha_q32 = UINT64_C(1) << 32;
    state->alpha_due_ps = now_ps + params->alpha_interval_ps;
    state->rate_due_ps = now_ps + params->rate_timer_ps;
    qp->rate.rate_bps = rate_bps;
    qp->rate.limited = true;
    qp_set_pace(qp);
}

static void
add_seed(struct bottleneck_outcome *o, const struct bottleneck *b, unsigned n_seeds)
{
    const struct net *net = b->rig.net;
    const struct out_class *out = &b->egress->out[CLS];
    double for_ps = (double)(net->end_ps - b->half_ps);
    double n = b->params->n_flows, sum = 0, squares = 0, mean = b->sum / b->n_samples;
    int64_t wire_bytes =
        out->tx_bytes - b->tx_bytes + WIRE_EXTRA_BYTES * (out->tx_pkts - b->tx_pkts);

    for (uint32_t i = 0; i < b->params->n_flows; i++) {
        double got = (double)(payload_of(b, i) - b->payload_bytes[i]);

        sum += got, squares += got * got;
    }
    o->mean_kb += (area_until(b->egress, net->end_ps) - b->area) / for_ps / 1e3 / n_seeds;
    o->sd_kb += sqrt(b->squares / b->n_samples - mean * mean) / 1e3 / n_seeds;
    o->throughput_share += (double)wire_bytes * 8 /
                           ((double)b->params->rate_bps * for_ps / (double)PS_PER_S) /
                           n_seeds;
    o->jain += sum * sum / (n * squares) / n_seeds;
    o->cnps_per_s += (double)rig_sum(&b->rig).cnps / n /
                     ((double)net->end_ps / (double)PS_PER_S) / n_seeds;
    memcpy(o->payload_bytes, b->marks, sizeof o->payload_bytes);
}

static void
run(const char *id, const struct bottleneck_params *params, unsigned seed,
    unsigned n_seeds, struct bottleneck_outcome *o)
{
    struct bottleneck b = {.params = params};
    struct bottleneck_outcome one = {0};
    uint64_t key = rng_key(seed, "bottleneck", "starts");
    int64_t all_ps = bytes_ps(params, frame_bytes(params)) * params->n_flows;

    assert_true(params->n_flows >= 2 && params->n_flows <= BOTTLENECK_FLOWS_MAX);
    build(&b, seed);
    for (uint32_t i = 0; i < params->n_flows; i++) {
        rig_flow(&b.rig, i + 1, 0, FLOW_BYTES,
                 (int64_t)rng_below(key, i, (uint64_t)all_ps));
        /* As much as the line could carry lies ready. */
        for (int64_t ps = 0; ps < params->for_ps; ps += bytes_ps(params, FLOW_BYTES)) {
            rig_flow_on(&b.rig, i, 0, FLOW_BYTES, all_ps);
        }
    }
    b.timer = (struct work_timer){
        .source = net_new_timer(b.rig.net), .fire = on_timer, .ctx = &b};
    rig_start(&b.rig, PARTITION_ONE, 1);
    if (params->second_rate_bps) {
        limit(net_qp(b.rig.net, 1, 0), params->second_rate_bps, 0,
              b.rig.net->nics[0].config->cc_params);
    }
    work_timer_set(net_lp_of_host(b.rig.net, 0), &b.timer, SAMPLE_PS);
    rig_run(&b.rig, params->for_ps);
    assert_int_equal(b.rig.net->end, NET_END_STOPPED);
    assert_int_equal(rig_sum(&b.rig).drops, 0);
    assert_int_equal(rig_sum(&b.rig).xoff_tx, 0);
    add_seed(&one, &b, 1);
    print_message("# %s, N = %u, seed %u: mean %.1f KB, sd %.1f KB, %.4f of the line, "
                  "Jain %.4f, %.0f CNP/s a flow\n",
                  id, params->n_flows, seed, one.mean_kb, one.sd_kb, one.throughput_share,
                  one.jain, one.cnps_per_s);
    add_seed(o, &b, n_seeds);
    rig_clear(&b.rig);
}

struct bottleneck_outcome
bottleneck_run(const char *id, const struct bottleneck_params *params, unsigned n_seeds)
{
    struct bottleneck_outcome o = {0};

    for (unsigned seed = 1; seed <= n_seeds; seed++) {
        run(id, params, seed, n_seeds, &o);
    }
    return o;
}
