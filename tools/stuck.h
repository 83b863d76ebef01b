/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stuck.h - what a reader is told of ports that were stuck: a deadlock, and what watchdogs
 * have done.  By names: which ports, which class, since when, what to do.
 */
#ifndef ROCESIM_TOOLS_STUCK_H
#define ROCESIM_TOOLS_STUCK_H

#include "tools/results/result.h"

/* The deadlock that 'net' has ended in: its cycle, and lines of `why`. */
void stuck_say_deadlock(const struct net *net, struct run_result *result);

/* Lines of `notes`: what watchdogs have struck, and a deadlock that was broken. */
void stuck_note(const struct net *net, struct run_result *result);

#endif
