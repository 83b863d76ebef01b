/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * advice.h - settings that are allowed each by itself, held against each other.
 */
#ifndef ROCESIM_TOOLS_ADVICE_H
#define ROCESIM_TOOLS_ADVICE_H

#include <glib.h>

#include "models/net.h"

/* May PFC stop a sender before ECN has marked anything?  Of the switch where it is
 * nearest to that; by the rules of headroom.h for its ports and lossless classes. */
struct advice_ecn {
    const char *name;    /* borrowed: of the switch; NULL: none both marks and pauses */
    int64_t kmin_bytes;  /* largest of its ports */
    int64_t limit_bytes; /* below this ECN acts first, whoever sends */
    int64_t pfc_bytes;   /* a threshold this low could never overflow the buffer */
};

/* Looks at the built 'net'. */
struct advice_ecn advice_ecn(const struct net *net);

/* Adds lines to 'warnings' (each owned by it) for settings of the built 'net' that do not
 * go together. */
void advice_warn(const struct net *net, GPtrArray *warnings);

#endif
