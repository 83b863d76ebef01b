/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_works.c - sums up each workload of a run: what its pairs of hosts got.
 * Called by run_read.c once the flows are read.
 *
 * A pair is one connection: all flows of the workload from one host to another that share
 * queue pairs.  Its goodput is the payload that has arrived over the time from its first
 * flow's start until the last byte arrived, or until the end of the run while flows are
 * left.
 */
#include <config.h>

#include "tools/run.h"

/* What one connection has carried. */
struct pair {
    int64_t start_ps, end_ps; /* end: TIME_NEVER_PS while a flow is left */
    int64_t received_bytes;
    bool used;
};

static int64_t
received_bytes(const struct net *net, uint32_t connection, uint32_t n_qps)
{
    int64_t bytes = 0;

    for (uint32_t k = 0; k < n_qps; k++) {
        bytes += net_qp(net, connection + k, 0)->payload_received +
                 net_qp(net, connection + k, 1)->payload_received;
    }
    return bytes;
}

static void
add_flow(struct pair *pair, const struct flow_result *flow)
{
    int64_t end_ps = flow->sent_ps == TIME_NEVER_PS ? TIME_NEVER_PS : flow->received_ps;

    if (!pair->used || flow->start_ps < pair->start_ps) {
        pair->start_ps = flow->start_ps;
    }
    if (!pair->used || end_ps > pair->end_ps) {
        pair->end_ps = end_ps;
    }
    pair->used = true;
}

/* Counts 'pair' in; one that has not begun counts with goodput 0. */
static void
add_pair(struct result_work *work, const struct pair *pair, int64_t run_end_ps)
{
    int64_t end_ps = pair->end_ps < run_end_ps ? pair->end_ps : run_end_ps;
    int64_t for_ps = end_ps - pair->start_ps;
    struct result_goodput goodput = {pair->received_bytes, for_ps > 0 ? for_ps : 1};
    double bps = (double)goodput.bytes / (double)goodput.ps;

    if (work->n_pairs == 0 || result_goodput_less(&goodput, &work->least)) {
        work->least = goodput;
    }
    if (work->n_pairs == 0 || result_goodput_less(&work->most, &goodput)) {
        work->most = goodput;
    }
    work->n_pairs++;
    work->delivered_bytes += pair->received_bytes;
    work->sum += bps;
    work->sum_of_squares += bps * bps;
}

static void
read_work(const struct run *run, uint32_t w, struct run_result *result)
{
    const struct work *work = g_ptr_array_index(run->works, w);
    const struct work_params *params = g_ptr_array_index(run->params, w);
    const struct net *net = run->net;
    struct result_work sum = {.type = work->ops->name};
    g_autofree struct pair *pairs = g_new0(struct pair, net->n_connections + 1);
    uint32_t n = 0;
    const struct flow_result *flows =
        work->ops->flows ? work->ops->flows(work->state, &n) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        sum.n_flows++;
        sum.n_done += flows[i].sent_ps != TIME_NEVER_PS;
        sum.bytes += flows[i].bytes;
        if (flows[i].start_ps != TIME_NEVER_PS) {
            add_flow(&pairs[flows[i].connection], &flows[i]);
        }
    }
    for (uint32_t c = 0; c < net->n_connections; c++) {
        if (pairs[c].used) {
            pairs[c].received_bytes =
                received_bytes(net, c, (uint32_t)params->common.qps);
            add_pair(&sum, &pairs[c], result->end_ps);
        }
    }
    g_array_append_val(result->works, sum);
}

void
run_read_works(const struct run *run, struct run_result *result)
{
    for (guint w = 0; w < run->works->len; w++) {
        read_work(run, w, result);
    }
}
