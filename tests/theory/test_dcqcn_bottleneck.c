/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_dcqcn_bottleneck.c - K34 with DCQCN alone: N paced senders, one egress FIFO, RED
 * at dequeue on the queue at departure, one notification timer a flow, a constant
 * feedback delay.  No switch, no NIC: what is tested is cc_dcqcn.c as a loop, and the
 * network's own K34 can be told from it.
 *
 * Source of the expected values: an independent packet-level model (floating point, every
 * timer an event) of the same bottleneck, and CoNEXT 2016, theorem 1, for
 * the order of size.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/cc/cc.h"
#include "models/cc/cc_dcqcn.h"

enum { FLOWS_MAX = 16, FIFO_SLOTS = 1 << 14 };

#define US INT64_C(1000000)
#define NEVER INT64_MAX

struct flow {
    int64_t qp[CC_STATE_BYTES / 8];
    struct cc_out out;
    int64_t send_at_ps;   /* next packet */
    int64_t cnp_at_ps;    /* CNP on its way, or NEVER */
    int64_t last_cnp_ps;  /* sent by the notification point */
    int64_t served_bytes; /* in the measured half */
};

struct bottleneck {
    const struct cc_ops *ops;
    struct dcqcn_params params;
    int64_t line_bps, feedback_ps, cnp_interval_ps, kmin_bytes, kmax_bytes;
    double pmax;
    int32_t wire_bytes;
    int n_flows;
    struct flow flow[FLOWS_MAX];
    uint8_t fifo[FIFO_SLOTS]; /* flow of each packet waiting */
    unsigned head, tail;
    int64_t queue_bytes, depart_at_ps;
    int64_t n_cnps;
    uint64_t random;
};

struct outcome {
    double mean_kb, sd_kb, gbps, jain, cnps_per_s;
};

static double
uniform(struct bottleneck *b)
{
    b->random ^= b->random << 13, b->random ^= b->random >> 7,
        b->random ^= b->random << 17;
    return (double)(b->random >> 11) / 9007199254740992.0;
}

static int64_t
wire_time_ps(const struct bottleneck *b, int64_t rate_bps)
{
    return (b->wire_bytes * INT64_C(8000000000000) + rate_bps - 1) / rate_bps;
}

static void
send(struct bottleneck *b, struct flow *f, int64_t now_ps)
{
    b->fifo[b->tail++ % FIFO_SLOTS] = (uint8_t)(f - b->flow);
    assert_true(b->tail - b->head < FIFO_SLOTS);
    b->queue_bytes += b->wire_bytes;
    if (b->depart_at_ps == NEVER) {
        b->depart_at_ps = now_ps + wire_time_ps(b, b->line_bps);
    }
    if (f->out.limited) {
        b->ops->on_send(f->qp, &b->params, now_ps, b->wire_bytes, &f->out);
    }
    f->send_at_ps = now_ps + wire_time_ps(b, f->out.rate_bps);
}

static void
depart(struct bottleneck *b, int64_t now_ps, bool measured)
{
    struct flow *f = &b->flow[b->fifo[b->head++ % FIFO_SLOTS]];
    int64_t q = b->queue_bytes;
    double p = q <= b->kmin_bytes ? 0
               : q > b->kmax_bytes
                   ? 1
                   : (double)(q - b->kmin_bytes) /
                         (double)(b->kmax_bytes - b->kmin_bytes) * b->pmax;

    b->queue_bytes -= b->wire_bytes;
    f->served_bytes += measured ? b->wire_bytes : 0;
    if (uniform(b) < p && now_ps - f->last_cnp_ps >= b->cnp_interval_ps) {
        f->last_cnp_ps = now_ps;
        f->cnp_at_ps = now_ps + b->feedback_ps;
        b->n_cnps++;
    }
    b->depart_at_ps = b->head != b->tail ? now_ps + wire_time_ps(b, b->line_bps) : NEVER;
}

/* K34: 40 Gb/s, MTU 1024 (1106 B on the wire), K 5/200 KB/1 %, R_HAI = R_AI, 4 us loop,
 * starts spread over one packet time x N.  Measured over the second half of 'end_ps'. */
static struct outcome
run(int n_flows, int64_t end_ps, uint64_t seed)
{
    struct bottleneck *b = calloc(1, sizeof *b);
    double area = 0, area2 = 0, sum = 0, sum2 = 0;
    int64_t now_ps = 0;
    struct outcome o;

    *b = (struct bottleneck){.ops = cc_find("dcqcn"),
                             .line_bps = INT64_C(40000000000),
                             .feedback_ps = 4 * US,
                             .kmin_bytes = 5000,
                             .kmax_bytes = 200000,
                             .pmax = 0.01,
                             .wire_bytes = 1106,
                             .n_flows = n_flows,
                             .depart_at_ps = NEVER,
                             .random = 88172645463325252u + seed * 7919};
    const struct cc_preset *paper = cc_preset_find(b->ops, "paper");
    const struct cc_env env = {.line_rate_bps = b->line_bps, .mtu_bytes = 1024};

    cc_params_init(b->ops, paper, &b->params);
    b->params.hai_bps = b->params.ai_bps;
    b->params.hai_by_stage = false;
    b->cnp_interval_ps = paper->cnp_interval_ps;
    for (int i = 0; i < n_flows; i++) {
        struct flow *f = &b->flow[i];

        b->ops->init(f->qp, &b->params, &env, &f->out);
        f->send_at_ps =
            (int64_t)(uniform(b) * (double)(wire_time_ps(b, b->line_bps) * n_flows));
        f->cnp_at_ps = NEVER;
        f->last_cnp_ps = -b->cnp_interval_ps;
    }
    while (now_ps < end_ps) {
        int64_t next_ps = b->depart_at_ps;
        struct flow *who = NULL;

        for (struct flow *f = b->flow; f != b->flow + n_flows; f++) {
            if (f->send_at_ps < next_ps) {
                next_ps = f->send_at_ps, who = f;
            }
            if (f->cnp_at_ps < next_ps) {
                next_ps = f->cnp_at_ps, who = f;
            }
        }
        if (next_ps > end_ps / 2) {
            int64_t from_ps = now_ps > end_ps / 2 ? now_ps : end_ps / 2;
            double held = (double)(next_ps - from_ps), q = (double)b->queue_bytes;

            area += q * held, area2 += q * q * held;
        }
        now_ps = next_ps;
        if (who == NULL) {
            depart(b, now_ps, now_ps > end_ps / 2);
        } else if (now_ps == who->cnp_at_ps) {
            who->cnp_at_ps = NEVER;
            b->ops->on_cnp(who->qp, &b->params, now_ps, &who->out);
        } else {
            send(b, who, now_ps);
        }
    }
    for (int i = 0; i < n_flows; i++) {
        double bits = 8.0 * (double)b->flow[i].served_bytes;

        b->ops->check(b->flow[i].qp, &b->params);
        sum += bits, sum2 += bits * bits;
    }
    double half_s = (double)end_ps / 2e12;

    area /= half_s * 1e12, area2 /= half_s * 1e12;
    o = (struct outcome){.mean_kb = area / 1e3,
                         .sd_kb = sqrt(area2 - area * area) / 1e3,
                         .gbps = sum / half_s / 1e9,
                         .jain = sum * sum / (n_flows * sum2),
                         .cnps_per_s = (double)b->n_cnps / n_flows / (2 * half_s)};
    print_message(
        "# K34 alone, N=%d: queue mean %.1f KB, sd %.1f KB; %.2f Gb/s, Jain %.4f; "
        "%.0f CNP/s a flow\n",
        n_flows, o.mean_kb, o.sd_kb, o.gbps, o.jain, o.cnps_per_s);
    free(b);
    return o;
}

static void
assert_near(double value, double expected, double tolerance)
{
    if (fabs(value - expected) > expected * tolerance) {
        fail_msg("%g, expected %g +-%g %%", value, expected, 100 * tolerance);
    }
}

static void
test_k34_two_flows(void **state)
{
    struct outcome o = run(2, 600000 * US, 1);

    (void)state;
    assert_near(o.mean_kb, 26, 0.15);
    assert_true(o.gbps >= 0.997 * 40);
    assert_near(o.cnps_per_s, 2130, 0.15);
}

/* Jain is printed, not gated: over the 100 ms measured here it is partly luck. */
static void
test_k34_ten_flows(void **state)
{
    struct outcome o = run(10, 200000 * US, 1);

    (void)state;
    assert_near(o.mean_kb, 158, 0.15);
    assert_true(o.gbps >= 0.997 * 40);
    assert_near(o.cnps_per_s, 3380, 0.15);
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
