/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pfc.h - priority flow control of an ingress: stop, go on, say it again.
 *
 * Source: IEEE 802.1Q-2018 clause 36.  A stop is repeated after half of the longest time
 * a frame can ask for, so that one lost frame does not let the peer go.
 */
#ifndef ROCESIM_MODELS_SWITCH_PFC_H
#define ROCESIM_MODELS_SWITCH_PFC_H

#include "models/port.h"

/* Tells the peer of ingress class 'cls' to stop; 'cause' is the dense id of the egress
 * port whose packet filled the account. */
void pfc_stop(struct lp *lp, struct port *port, unsigned cls, uint32_t cause);

/* Tells it to go on, and records the pause that ends with it. */
void pfc_resume(struct lp *lp, struct port *port, unsigned cls);

/* Ends the pause without a word: the link is down. */
void pfc_forget(struct lp *lp, struct port *port, unsigned cls);

/* The refresh timer has fired while the peer is stopped: repeats the stop
 * when it is due. */
void pfc_repeat(struct lp *lp, struct port *port, unsigned cls);

#endif
