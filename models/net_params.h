/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_params.h - the parameters of NICs and switches as tables over struct nic_params and
 * struct switch_params, and the marking thresholds of a port.
 *
 * Keys that are no number or word (`pfc`, `ecn`) are not in the tables, and `watchdog` is
 * an object with one of its own: the loader knows them.
 */
#ifndef ROCESIM_MODELS_NET_PARAMS_H
#define ROCESIM_MODELS_NET_PARAMS_H

#include "models/net.h"
#include "sim/param.h"

/* End with a NULL name, as every table. */
extern const struct param nic_param_table[];
extern const struct param switch_param_table[];
extern const struct param watchdog_param_table[]; /* over switch_params.watchdog */
extern const struct param ecn_param_table[];      /* over ecn_params: kmin, kmax, pmax */

/* Thresholds for a port of 'rate_bps' (> 0): from the last entry of 'set' and those
 * chained to it whose from_rate_bps is not above it, else from 'set' itself; scaled when
 * the entry says so, rounded to nearest.  at_rate_bps of what is returned is 0. */
struct ecn_params net_ecn_at_rate(const struct ecn_params *set, int64_t rate_bps);

#endif
