/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * laws.h - what no run can break, checked at the end of each: no link above its rate, no
 * collective faster than its bound.  The network's own laws are net_check()'s.
 */
#ifndef ROCESIM_TOOLS_LAWS_H
#define ROCESIM_TOOLS_LAWS_H

#include "tools/run.h"

/* Aborts with a line that names the law: a bug of the program, never of the input. */
void laws_check(const struct run *run, const struct run_result *result);

#endif
