/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * faults.c - the scenario's faults on a network, see faults.h.
 */
#include <config.h>

#include "tools/faults.h"

#include <stdlib.h>
#include <string.h>

static void
plan_one(struct net *net, const struct bound_fault *bound)
{
    struct fault fault = {.kind = bound->kind, .at_ps = bound->at_ps};

    switch (bound->kind) {
    case FAULT_DOWN:
    case FAULT_UP:
    case FAULT_ROUTES:
        break;
    case FAULT_RATE:
        fault.rate_bps = bound->rate_bps;
        break;
    case FAULT_ERROR_RATE:
        fault.error_rate = bound->error_rate;
        fault.bit_error_rate = net->links[bound->link].params.bit_error_rate;
        break;
    case FAULT_DROP:
        fault.drop = (uint64_t *)(void *)bound->packets->data;
        fault.n_drop = bound->packets->len;
        /* Counted and lost where they arrive. */
        net_add_fault_at(net, bound->link, 1 - bound->side, &fault);
        return;
    }
    net_add_fault(net, bound->link, &fault);
}

/* Sets of ports, one by one: there is padding between their members. */
static bool
is_same_sets(const struct route_table *a, const struct route_table *b)
{
    for (uint32_t i = 0; i < a->n_sets; i++) {
        if (a->sets[i].first != b->sets[i].first || a->sets[i].n != b->sets[i].n) {
            return false;
        }
    }
    return true;
}

static bool
is_same_table(const struct route_table *a, const struct route_table *b)
{
    return a->n_nics == b->n_nics && a->n_sets == b->n_sets && a->n_ports == b->n_ports &&
           memcmp(a->set_of_nic, b->set_of_nic, a->n_nics * sizeof *a->set_of_nic) == 0 &&
           memcmp(a->ports, b->ports, a->n_ports * sizeof *a->ports) == 0 &&
           is_same_sets(a, b);
}

/* Gives each switch whose table changes the one for 'link_down' from 'at_ps' on; 'newest'
 * holds the last table of each. */
static gboolean
plan_routes(struct net *net, const bool link_down[], int64_t at_ps,
            const struct route_table *newest[], GError **error)
{
    g_autofree struct route_table **tables =
        g_new0(struct route_table *, net->n_switches + 1);

    if (!topo_route_tables(net, link_down, tables, error)) {
        return FALSE;
    }
    for (uint32_t s = 0; s < net->n_switches; s++) {
        if (is_same_table(tables[s], newest[s])) {
            route_table_free(tables[s]);
        } else {
            newest[s] = tables[s];
            net_set_routes_at(net, s, tables[s], at_ps);
        }
    }
    return TRUE;
}

static int
compare_times(const void *pa, const void *pb)
{
    const struct bound_fault *a = pa, *b = pb;

    if (a->at_ps != b->at_ps) {
        return a->at_ps < b->at_ps ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

static gboolean
plan_changes(struct net *net, const GArray *faults, int64_t convergence_ps,
             GError **error)
{
    g_autofree bool *down = g_new0(bool, net->n_links + 1);
    g_autofree const struct route_table **newest =
        g_new0(const struct route_table *, net->n_switches + 1);
    bool changed = false;

    for (uint32_t s = 0; s < net->n_switches; s++) {
        newest[s] = net->switches[s].routes;
    }
    for (guint i = 0; i < faults->len; i++) {
        const struct bound_fault *fault = &g_array_index(faults, struct bound_fault, i);
        bool is_last = i + 1 == faults->len || fault[1].at_ps != fault->at_ps;

        if (fault->kind == FAULT_DOWN || fault->kind == FAULT_UP) {
            down[fault->link] = fault->kind == FAULT_DOWN;
            changed = true;
        }
        if (is_last && changed) {
            changed = false;
            if (!plan_routes(net, down, fault->at_ps + convergence_ps, newest, error)) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

gboolean
faults_plan(const struct scenario *scenario, struct net *net, int64_t convergence_ps,
            GError **error)
{
    g_autoptr(GArray) faults = scenario_bind_faults(scenario, net, error);

    if (!faults) {
        return FALSE;
    }
    /* In order of time: what happens at one instant goes by the order of the list. */
    if (faults->len) {
        qsort(faults->data, faults->len, sizeof(struct bound_fault), compare_times);
    }
    for (guint i = 0; i < faults->len; i++) {
        plan_one(net, &g_array_index(faults, struct bound_fault, i));
    }
    return plan_changes(net, faults, convergence_ps, error);
}
