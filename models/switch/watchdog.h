/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * watchdog.h - the PFC watchdog of a switch: finds egress queues that a peer keeps paused
 * and frees what waits for them.
 *
 * Every poll interval each queue of a lossless class is looked at.  It is stuck in that
 * interval when it holds something, has sent nothing and was paused for more than 99 % of
 * it; stuck for the detection time, it is struck.  Then
 *   drop     what it holds is lost, and so is whatever comes for it and whatever its port
 *            receives of the class;
 *   forward  it sends on;
 * and pauses of the class are ignored there.  When none has been heard for the
 * restoration time, the queue is as before.
 *
 * Source: SONiC, sonic-utilities pfcwd/main.py (defaults) and sonic-swss
 * pfc_detect_mellanox.lua, pfc_restore.lua, pfcwdorch (detection, actions).
 */
#ifndef ROCESIM_MODELS_SWITCH_WATCHDOG_H
#define ROCESIM_MODELS_SWITCH_WATCHDOG_H

#include "models/switch/switch.h"

enum watchdog_action { WATCHDOG_OFF, WATCHDOG_DROP, WATCHDOG_FORWARD };

/* SONiC's times for a switch of so many ports. */
#define WATCHDOG_SONIC INT64_C(-1)

/* A watchdog's view of one queue. */
struct watchdog_queue {
    int64_t tx_pkts, paused_ps, ignored; /* at the last poll */
    int64_t for_ps; /* stuck so long; while struck: no pause heard for so long */
    bool struck;
    /* For people. */
    uint32_t n_strikes;
    int64_t since_ps; /* struck last at */
    int64_t until_ps; /* restored last at; TIME_NEVER_PS while struck */
};

/* Of a switch; timers resolved. */
struct watchdog {
    struct watchdog_params params;
    int64_t first_ps;              /* first poll: 1 to params.poll_ps, seeded */
    struct watchdog_queue *queues; /* owned: port x N_CLASSES */
};

/* A timer that is WATCHDOG_SONIC for a switch of 'n_ports': 200 ms for each 32 ports, 1 s
 * at most for polls ('is_poll'). */
int64_t watchdog_sonic_ps(uint32_t n_ports, bool is_poll);

/* 'params' with the timers of a switch of 'n_ports' filled in: a poll is no longer than
 * what it measures. */
struct watchdog_params watchdog_resolve(const struct watchdog_params *params,
                                        uint32_t n_ports);

/* The watchdog of the switch called 'path'; NULL when it is off.  Switches do not poll in
 * step: the first one to strike frees those behind it.  Owned by the caller. */
struct watchdog *watchdog_new(const struct watchdog_params *params, uint32_t n_ports,
                              uint64_t seed, const char *path);
void watchdog_free(struct watchdog *dog); /* accepts NULL */

/* Looks at all queues of 'sw' and queues the next look: KIND_WATCHDOG; the first one is
 * due at first_ps. */
void watchdog_poll(struct lp *lp, struct fabric_switch *sw);

/* Is a packet of class 'cls' lost that came by 'in' and is meant for 'out'?  Counts it at
 * the port whose queue is struck. */
bool watchdog_takes(struct fabric_switch *sw, struct port *in, struct port *out,
                    unsigned cls);

#endif
