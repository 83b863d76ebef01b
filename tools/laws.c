/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * laws.c - what no run can break, see laws.h.
 */
#include <config.h>

#include "tools/laws.h"

#include <stdio.h>
#include <stdlib.h>

/* Does a fault ever change the rate of 'port'? */
static bool
has_rate_faults(const struct net *net, const struct port *port)
{
    for (uint32_t i = 0; i < net->n_faults; i++) {
        if (net->faults[i]->kind == FAULT_RATE && net->faults[i]->port == port) {
            return true;
        }
    }
    return false;
}

/* Frames on the wire one after the other cannot take more time than has passed. */
static void
check_rate(const struct net *net, const struct port *port)
{
    int64_t n_pkts = 0, bytes = 0, pauses = 0;

    for (unsigned c = 0; c < N_CLASSES; c++) {
        n_pkts += port->out[c].tx_pkts;
        bytes += port->out[c].tx_bytes;
        pauses += port->stats[c].pfc_xoff_tx + port->stats[c].pfc_xon_tx;
    }
    bytes += (n_pkts + pauses) * port->extra_bytes + pauses * port->pfc_bytes;

    /* Rounded down: each frame was rounded up, but for the loss. */
    int64_t wire_ps = (int64_t)((__int128)bytes * 8 * PS_PER_S / port->rate_bps) -
                      (n_pkts + pauses) * port->loss_ps;

    if (wire_ps > port->busy_until_ps && !has_rate_faults(net, port)) {
        fprintf(stderr,
                "rocesim: bug: port %u has sent for %lld ps until %lld ps: above its "
                "rate\n",
                port->id, (long long)wire_ps, (long long)port->busy_until_ps);
        abort();
    }
}

static void
check_call(const struct result_call *entry)
{
    const struct call_result *call = &entry->call;

    if (call->end_ps != TIME_NEVER_PS && call->end_ps - call->start_ps < call->bound_ps) {
        fprintf(stderr,
                "rocesim: bug: workload[%u] call %u took %lld ps, less than its bound of "
                "%lld ps\n",
                entry->work, entry->index, (long long)(call->end_ps - call->start_ps),
                (long long)call->bound_ps);
        abort();
    }
}

void
laws_check(const struct run *run, const struct run_result *result)
{
    for (uint32_t p = 0; p < run->net->n_ports; p++) {
        check_rate(run->net, &run->net->ports[p]);
    }
    for (guint i = 0; i < result->calls->len; i++) {
        check_call(&g_array_index(result->calls, struct result_call, i));
    }
}
