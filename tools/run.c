/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run.c - a scenario made into a network with workloads, and run; see run.h.
 * What it gave is read by run_read.c.
 */
#include <config.h>

#include "tools/run.h"

#include <time.h>

#include "tools/advice.h"
#include "tools/expect.h"
#include "tools/faults.h"

static void
free_work(gpointer work)
{
    work_free(work);
}

static void
free_params(gpointer params)
{
    work_params_free(params);
}

/* "FILE: " before what comes from below the loader. */
static gboolean
in_file(const struct scenario *scenario, GError **error)
{
    g_prefix_error(error, "%s: ", scenario->file);
    return FALSE;
}

static gboolean
build(struct run *run, GPtrArray *warnings, GError **error)
{
    const struct scenario *scenario = run->scenario;

    if (!expect_check_paths(scenario, error)) {
        return FALSE;
    }
    run->net = scenario_build_net(scenario, error);
    if (!run->net) {
        return FALSE;
    }
    run->net->sample_ps = scenario->output.sample_ps > 0 ? scenario->output.sample_ps : 0;
    if (!net_build(run->net, warnings, error)) {
        scenario_explain(scenario, error);
        return FALSE;
    }
    g_autofree bool *missing = faults_missing(scenario, run->net);

    if (!topo_routes(run->net, missing, error)) {
        return in_file(scenario, error);
    }
    if (warnings) {
        advice_warn(run->net, warnings);
    }
    GError *series_error = NULL;

    run->net->sampled = scenario_bind_series(scenario, run->net, &series_error);
    if (series_error) {
        g_propagate_error(error, series_error);
        return FALSE;
    }
    run->captures = scenario_bind_taps(scenario, run->net, error);
    if (!run->captures) {
        return FALSE;
    }
    return faults_plan(scenario, run->net, FAULTS_CONVERGENCE_PS, error);
}

static gboolean
add_works(struct run *run, GPtrArray *warnings, GError **error)
{
    for (guint i = 0; i < run->scenario->works->len; i++) {
        struct work_params *params =
            scenario_bind_work(run->scenario, run->net, i, error);

        if (!params) {
            return FALSE;
        }
        g_ptr_array_add(run->params, params);

        struct work *work = work_new(run->net, params, error);

        if (!work) {
            return in_file(run->scenario, error);
        }
        g_ptr_array_add(run->works, work);
        if (warnings && work->ops->warnings) {
            work->ops->warnings(work->state, warnings);
        }
    }
    return TRUE;
}

struct run *
run_new(const struct scenario *scenario, GPtrArray *warnings, GError **error)
{
    struct run *run = g_new0(struct run, 1);

    run->scenario = scenario;
    run->works = g_ptr_array_new_with_free_func(free_work);
    run->params = g_ptr_array_new_with_free_func(free_params);
    if (build(run, warnings, error) && add_works(run, warnings, error)) {
        return run;
    }
    run_free(run);
    return NULL;
}

void
run_start(struct run *run, enum partition_mode partition, uint32_t n_threads)
{
    net_start(run->net, partition, n_threads);
    for (guint i = 0; i < run->works->len; i++) {
        work_start(g_ptr_array_index(run->works, i));
    }
}

static double
seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void
run_go(struct run *run, const struct net_watch *watch)
{
    int64_t stop_ps = run->scenario->stop_ps;
    double begin_s = seconds();

    net_run(run->net, stop_ps == PARAM_SPECIAL ? TIME_NEVER_PS : stop_ps, watch);
    run->loop_s = seconds() - begin_s;
    net_check(run->net);
}

int64_t
run_payload_bytes(const struct run *run)
{
    int64_t bytes = 0;

    for (uint32_t i = 0; i < run->net->n_qps; i++) {
        bytes += run->net->qps[i].payload_received;
    }
    return bytes;
}

int64_t
run_packet_hops(const struct run *run)
{
    int64_t hops = 0;

    for (uint32_t p = 0; p < run->net->n_ports; p++) {
        const struct port *port = &run->net->ports[p];

        for (unsigned c = 0; c < N_CLASSES; c++) {
            hops += port->out[c].tx_pkts + port->stats[c].pfc_xoff_tx +
                    port->stats[c].pfc_xon_tx;
        }
    }
    return hops;
}

void
run_free(struct run *run)
{
    if (!run) {
        return;
    }
    g_ptr_array_unref(run->works);
    g_ptr_array_unref(run->params);
    g_clear_pointer(&run->captures, g_array_unref);
    net_free(run->net);
    g_free(run);
}
