/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lb.h - which of several equal-cost ports a packet takes, when it is not ECMP that says:
 * flowlets, per-packet spraying, the least loaded port.
 *
 * ECMP is route_pick() of route.h; a switch that does something else has a struct lb.
 * Only packets with payload are spread by the packet: ACKs, NAKs and CNPs, of which a
 * queue pair needs the order, go by the hash.
 *
 * State belongs to the switch and draws are counted, so nothing depends on the partition.
 *
 * Sources: flowlets: Vanini et al., "Let it Flow" (LetFlow), NSDI '17, and Alizadeh et
 * al., "CONGA", SIGCOMM '14 (new path to the least loaded port); spraying: Dixit et al.,
 * "On the Impact of Packet Spraying in Data Center Networks", INFOCOM '13; least queue:
 * Ghorbani et al., "DRILL", SIGCOMM '17, here over all members, as adaptive routing of
 * switches grades its ports.
 */
#ifndef ROCESIM_MODELS_SWITCH_LB_H
#define ROCESIM_MODELS_SWITCH_LB_H

#include "models/port.h"
#include "models/switch/route.h"

enum lb_kind { LB_ECMP, LB_FLOWLET, LB_SPRAY, LB_ADAPTIVE };
enum lb_spray { LB_ROUND_ROBIN, LB_RANDOM };
enum lb_flowlet_path { LB_BY_HASH, LB_LEAST_LOADED };

/* As a user gives it, in base units. */
struct lb_params {
    int32_t kind;               /* enum lb_kind */
    int32_t spray;              /* enum lb_spray */
    int32_t flowlet_path;       /* enum lb_flowlet_path */
    int64_t flowlet_gap_ps;     /* a pause of a flow this long lets it move */
    int64_t flowlet_entries;    /* of the table of a set of ports; >= 1 */
    int64_t load_quantum_bytes; /* queues are compared in units of this; >= 1 */
};

struct lb;

/* What a switch called 'path' needs for 'params'; NULL for ECMP.  Owned by the caller. */
struct lb *lb_new(const struct lb_params *params, uint64_t seed, const char *path);
void lb_free(struct lb *lb); /* accepts NULL */

/* The switch will forward by 'table', too: makes room for its sets.  Before the run. */
void lb_prepare(struct lb *lb, const struct route_table *table);

/* Port index of 'pkt', ROUTE_NONE when there is none.  'ports' are the switch's, 'seed'
 * that of its hash. */
uint16_t lb_pick(struct lb *lb, const struct route_table *table, const struct port *ports,
                 const struct packet *pkt, uint32_t seed, int64_t now_ps);

#endif
