/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * faults.c - the scenario's faults on a network, see faults.h.
 */
#include <config.h>

#include "tools/faults.h"

#include <string.h>

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

bool *
faults_missing(const struct scenario *scenario, const struct net *net)
{
    bool *missing = NULL;

    for (guint i = 0; i < scenario->faults->len; i++) {
        const struct scenario_fault *fault =
            &g_array_index(scenario->faults, struct scenario_fault, i);
        uint32_t link = fault->from_file ? net_find_link(net, fault->name) : UINT32_MAX;

        if (link != UINT32_MAX) {
            missing = missing != NULL ? missing : g_new0(bool, (gsize)net->n_links + 1);
            missing[link] = true;
        }
    }
    return missing;
}

gboolean
faults_plan(const struct scenario *scenario, struct net *net, int64_t convergence_ps,
            GError **error)
{
    g_autoptr(GArray) changes = scenario_bind_faults(scenario, net, error);

    if (!changes) {
        return FALSE;
    }
    g_autofree bool *down = g_new0(bool, net->n_links + 1);
    g_autofree const struct route_table **newest =
        g_new0(const struct route_table *, net->n_switches + 1);

    for (uint32_t s = 0; s < net->n_switches; s++) {
        newest[s] = net->routes[s];
    }
    for (guint i = 0; i < changes->len; i++) {
        const struct scenario_link_change *change =
            &g_array_index(changes, struct scenario_link_change, i);
        bool is_last = i + 1 == changes->len || change[1].at_ps != change->at_ps;

        down[change->link] = change->down;
        if (is_last &&
            !plan_routes(net, down, change->at_ps + convergence_ps, newest, error)) {
            return FALSE;
        }
    }
    return TRUE;
}
