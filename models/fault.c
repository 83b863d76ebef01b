/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fault.c - what a scheduled change does at one end of a link.
 */
#include <config.h>

#include "models/fault.h"

#include "models/nic/drain.h"
#include "models/nic/nic.h"
#include "models/switch/switch.h"

static void
go_down(struct lp *lp, struct port *port)
{
    port->special |= PORT_DOWN;
    if (port->is_nic) {
        nic_port_down(lp, port);
    } else {
        switch_port_down(lp, port);
    }
}

static void
come_up(struct lp *lp, struct port *port)
{
    port->special &= (uint8_t)~PORT_DOWN;
    if (port->is_nic) {
        drain_link_up(lp, port->owner);
        nic_serve(lp, port->owner);
    } else {
        switch_serve(lp, port);
    }
}

void
fault_strike(struct lp *lp, const struct fault *fault)
{
    switch (fault->kind) {
    case FAULT_DOWN:
        go_down(lp, fault->port);
        break;
    case FAULT_UP:
        come_up(lp, fault->port);
        break;
    case FAULT_RATE:
        port_set_rate(fault->port, fault->rate_bps);
        break;
    case FAULT_ERROR_RATE:
        port_set_loss(fault->port, fault->key, fault->error_rate, fault->bit_error_rate);
        break;
    case FAULT_DROP:
        port_set_drops(fault->port, fault->drop, fault->n_drop);
        break;
    case FAULT_ROUTES:
        *fault->routes = fault->table;
        break;
    case FAULT_STORM:
        drain_storm(lp, fault->port->owner, fault->classes, true);
        break;
    case FAULT_STORM_END:
        drain_storm(lp, fault->port->owner, fault->classes, false);
        break;
    case FAULT_SLOW:
        drain_set_rate(lp, fault->port->owner, fault->rate_bps, fault->buffer_bytes);
        break;
    }
}
