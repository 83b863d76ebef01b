/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fault.h - scheduled changes: a fault of a link is one local event at each of its ends, one
 * of a NIC or of routes a single one.  A switch that fails is all its links failing.
 *
 * Both ends change at the same instant; what is on the link then is lost at the far end.
 * Routes change by events of their own, each switch at its time.
 */
#ifndef ROCESIM_MODELS_FAULT_H
#define ROCESIM_MODELS_FAULT_H

#include "models/port.h"
#include "models/switch/route.h"

/* What changes. */
enum fault_kind {
    FAULT_DOWN, /* the link is dead: frames for it and on it are lost */
    FAULT_UP,
    FAULT_RATE,       /* it goes on at 'rate_bps' (not above its own) */
    FAULT_ERROR_RATE, /* it loses the share 'error_rate' of frames */
    FAULT_DROP,       /* it loses the data packets number drop[0], drop[1], ... in each
                         direction, counted from 1 from here on */
    FAULT_ROUTES,     /* a switch forwards by 'table' from here on */
    FAULT_STORM,      /* a NIC stops its switch in 'classes', repeated until the end */
    FAULT_STORM_END,
    FAULT_SLOW, /* a host takes 'rate_bps' from its NIC; 0: everything again */
};

/* One end of a fault, or all of it where it is of one port; source of its event is 'id'. */
struct fault {
    int64_t at_ps;
    enum fault_kind kind;
    uint32_t id;
    struct port *port; /* borrowed; NULL for FAULT_ROUTES */
    uint64_t key;      /* random stream, FAULT_ERROR_RATE */
    int64_t rate_bps;
    int64_t buffer_bytes; /* FAULT_SLOW: what the NIC holds before it stops its switch */
    uint8_t classes;      /* FAULT_STORM, FAULT_STORM_END: a mask */
    double error_rate, bit_error_rate;
    uint64_t *drop; /* owned, ascending */
    uint32_t n_drop;
    const struct route_table **routes; /* borrowed: the switch's */
    const struct route_table *table;   /* borrowed */
};

/* KIND_FAULT. */
void fault_strike(struct lp *lp, const struct fault *fault);

#endif
