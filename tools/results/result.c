/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result.c - what follows from the data of a run: percentiles, bandwidths, targets.
 */
#include <config.h>

#include "tools/results/result.h"

#include <stdlib.h>

/* The four operating targets of the project. */
#define TARGET_LATENCY_PS (10 * PS_PER_US)
#define TARGET_UTILISATION_PERCENT 90
#define TARGET_PAUSE_PERMILLE 1

static void
clear_string(gpointer string)
{
    g_free(string);
}

static void
clear_band(gpointer p)
{
    struct result_band *band = p;

    g_free(band->path);
    g_free(band->expected);
    g_free(band->obtained);
}

struct run_result *
run_result_new(const struct scenario *scenario)
{
    struct run_result *result = g_new0(struct run_result, 1);

    result->scenario = scenario;
    result->count_to_ps = TIME_NEVER_PS;
    result->why = g_ptr_array_new_with_free_func(clear_string);
    result->unfinished = g_ptr_array_new_with_free_func(clear_string);
    result->notes = g_ptr_array_new_with_free_func(clear_string);
    result->deadlock = g_ptr_array_new_with_free_func(clear_string);
    result->deadlock_since_ps = TIME_NEVER_PS;
    result->paths = g_ptr_array_new_with_free_func(clear_string);
    result->bands = g_array_new(FALSE, TRUE, sizeof(struct result_band));
    g_array_set_clear_func(result->bands, clear_band);
    result->works = g_array_new(FALSE, TRUE, sizeof(struct result_work));
    result->flows = g_array_new(FALSE, TRUE, sizeof(struct result_flow));
    result->streams = g_array_new(FALSE, TRUE, sizeof(struct result_stream));
    result->calls = g_array_new(FALSE, TRUE, sizeof(struct result_call));
    result->ports = g_array_new(FALSE, TRUE, sizeof(struct result_port));
    return result;
}

void
run_result_free(struct run_result *result)
{
    if (!result) {
        return;
    }
    g_ptr_array_unref(result->why);
    g_ptr_array_unref(result->unfinished);
    g_ptr_array_unref(result->notes);
    g_ptr_array_unref(result->deadlock);
    g_ptr_array_unref(result->paths);
    g_array_unref(result->bands);
    g_array_unref(result->works);
    g_array_unref(result->flows);
    g_array_unref(result->streams);
    g_array_unref(result->calls);
    g_array_unref(result->ports);
    g_clear_pointer(&result->pauses.roots, g_array_unref);
    g_free(result);
}

uint32_t
result_rank(uint32_t n, uint32_t percent)
{
    uint64_t rank = ((uint64_t)n * percent + 99) / 100;

    return rank ? (uint32_t)rank - 1 : 0;
}

struct slow {
    int64_t fct_ps, ideal_ps;
    uint32_t index;
};

static int
compare_times(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

    return (a > b) - (a < b);
}

/* By fct / ideal, exactly; then by index. */
static int
compare_slow(const void *pa, const void *pb)
{
    const struct slow *a = pa, *b = pb;
    __int128 left = (__int128)a->fct_ps * b->ideal_ps;
    __int128 right = (__int128)b->fct_ps * a->ideal_ps;

    if (left != right) {
        return left < right ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

static void
rank_times(int64_t times[], uint32_t n, struct result_percentiles *p)
{
    __int128 sum = 0;

    qsort(times, n, sizeof *times, compare_times);
    for (uint32_t i = 0; i < n; i++) {
        sum += times[i];
    }
    p->p50_ps = times[result_rank(n, 50)];
    p->p95_ps = times[result_rank(n, 95)];
    p->p99_ps = times[result_rank(n, 99)];
    p->max_ps = times[n - 1];
    p->mean_ps = (int64_t)(sum / n);
}

static void
rank_slowdowns(struct slow slows[], uint32_t n, struct result_percentiles *p)
{
    qsort(slows, n, sizeof *slows, compare_slow);
    p->slow50 = slows[result_rank(n, 50)].index;
    p->slow95 = slows[result_rank(n, 95)].index;
    p->slow99 = slows[result_rank(n, 99)].index;
    p->slow_max = slows[n - 1].index;
}

void
result_percentiles(const struct run_result *result, uint32_t work,
                   struct result_percentiles *p)
{
    uint32_t n = result->flows->len;
    g_autofree int64_t *times = g_new(int64_t, n + 1);
    g_autofree struct slow *slows = g_new(struct slow, n + 1);

    *p = (struct result_percentiles){.p50_ps = TIME_NEVER_PS,
                                     .p95_ps = TIME_NEVER_PS,
                                     .p99_ps = TIME_NEVER_PS,
                                     .max_ps = TIME_NEVER_PS,
                                     .mean_ps = TIME_NEVER_PS};
    for (uint32_t i = 0; i < n; i++) {
        const struct result_flow *flow =
            &g_array_index(result->flows, struct result_flow, i);

        if (work != RESULT_ALL_WORKS && flow->work != work) {
            continue;
        }
        p->n++;
        if (flow->fct_ps == TIME_NEVER_PS) {
            continue;
        }
        p->n_done++;
        if (flow->is_cut) {
            continue;
        }
        times[p->n_counted++] = flow->fct_ps;
        if (flow->ideal_ps > 0 && flow->ideal_ps != TIME_NEVER_PS) {
            slows[p->n_ideal++] = (struct slow){flow->fct_ps, flow->ideal_ps, i};
        }
    }
    if (p->n_counted) {
        rank_times(times, p->n_counted, p);
    }
    if (p->n_ideal) {
        rank_slowdowns(slows, p->n_ideal, p);
    }
}

bool
result_goodput_less(const struct result_goodput *a, const struct result_goodput *b)
{
    return (__int128)a->bytes * b->ps < (__int128)b->bytes * a->ps;
}

double
result_jain(const struct result_work *work)
{
    return work->sum_of_squares > 0
               ? work->sum * work->sum / (work->n_pairs * work->sum_of_squares)
               : 0;
}

const struct result_port *
result_bottleneck(const struct run_result *result)
{
    const struct result_port *most = NULL;

    for (guint i = 0; i < result->ports->len; i++) {
        const struct result_port *port =
            &g_array_index(result->ports, struct result_port, i);

        if (port->is_switch && port->queue_integral > 0 &&
            (!most || port->queue_integral > most->queue_integral)) {
            most = port;
        }
    }
    return most;
}

int64_t
result_queue_percentile(const struct result_port *port, uint32_t percent,
                        int64_t n_samples)
{
    if (!port->queue) {
        return 0;
    }
    /* The histogram holds the samples with something queued; the others are 0. */
    int64_t rank = (n_samples * percent + 99) / 100 - (n_samples - port->queue->total);

    /* A bucket ends above the values in it, but none of them above the largest there was. */
    return rank > 0 ? MIN(hist_quantile(port->queue, rank), port->queue_max_bytes) : 0;
}

void
result_bandwidth(const struct call_result *call, int64_t num, int64_t den,
                 __int128 *out_num, __int128 *out_den)
{
    *out_num = 0;
    *out_den = 0;
    if (call->end_ps != TIME_NEVER_PS && call->end_ps > call->start_ps && den > 0) {
        /* Bytes a picosecond are 1000 GB/s. */
        *out_num = (__int128)call->bytes * num * 1000;
        *out_den = (__int128)(call->end_ps - call->start_ps) * den;
    }
}

int
run_result_status(const struct run_result *result)
{
    if (result->verdict == VERDICT_INTERRUPTED) {
        return 130;
    }
    return result->verdict == VERDICT_COMPLETE || result->expected ? 0 : 1;
}

static void
judge(struct result_target *target)
{
    __int128 left = target->num * target->limit_den;
    __int128 right = target->den * target->limit_num;

    target->met = target->known && (target->sense == '<'   ? left < right
                                    : target->sense == '>' ? left > right
                                                           : left == right);
}

void
result_targets(const struct run_result *result,
               struct result_target targets[RESULT_N_TARGETS])
{
    const struct result_fabric *fabric = &result->fabric;
    const struct hist *latency = &fabric->latency;
    bool carried = fabric->data_packets > 0;

    targets[0] = (struct result_target){
        .key = "packet_latency_p99_us",
        .title = "p99 latency of a packet",
        .known = latency->total > 0,
        .num =
            latency->total ? hist_quantile(latency, (latency->total * 99 + 99) / 100) : 0,
        .den = PS_PER_US,
        .limit_num = TARGET_LATENCY_PS / PS_PER_US,
        .limit_den = 1,
        .sense = '<'};
    targets[1] = (struct result_target){.key = "bandwidth_utilisation",
                                        .title = "utilisation of the busiest link",
                                        .known = fabric->busy_work_ps > 0,
                                        .num = fabric->busy_payload_ps,
                                        .den = fabric->busy_work_ps,
                                        .limit_num = TARGET_UTILISATION_PERCENT,
                                        .limit_den = 100,
                                        .sense = '>',
                                        .is_share = true};
    targets[2] = (struct result_target){.key = "lossless_drops",
                                        .title = "drops in lossless classes",
                                        .known = carried,
                                        .num = fabric->lossless_drops,
                                        .den = 1,
                                        .limit_num = 0,
                                        .limit_den = 1,
                                        .sense = '='};
    targets[3] = (struct result_target){.key = "pfc_pause_share",
                                        .title = "largest PFC pause share of a port",
                                        .known = carried && result->run_ps > 0,
                                        .num = fabric->pause_ps_max,
                                        .den = result->run_ps,
                                        .limit_num = TARGET_PAUSE_PERMILLE,
                                        .limit_den = 1000,
                                        .sense = '<',
                                        .is_share = true};
    for (unsigned i = 0; i < RESULT_N_TARGETS; i++) {
        judge(&targets[i]);
    }
}
