/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * all_to_all.h - K45: a uniform all-to-all over a leaf-spine.
 */
#ifndef ROCESIM_TESTS_SUPPORT_ALL_TO_ALL_H
#define ROCESIM_TESTS_SUPPORT_ALL_TO_ALL_H

#include <stdint.h>

/* 'n_hosts' at 100 Gb/s, 'per_leaf' on each leaf, send 'bytes' to each other one through leaves
 * with 'ratio' times less rate up than down, in one uplink: nothing is left to a hash, the
 * balance is ideal.  Without congestion control, lossless.  Returns the time until the last
 * byte has arrived over what the hosts' links alone would take. */
double all_to_all_slowdown(uint32_t n_hosts, uint32_t per_leaf, uint32_t ratio,
                           int64_t bytes);

#endif
