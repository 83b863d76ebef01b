/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ecn.c - thresholds to slope.
 */
#include <config.h>

#include "models/switch/ecn.h"

void
ecn_init(struct ecn *ecn, int64_t kmin_bytes, int64_t kmax_bytes, int64_t pmax_q32,
         uint8_t classes, bool at_dequeue)
{
    int64_t span = kmax_bytes - kmin_bytes;

    *ecn =
        (struct ecn){.kmin_bytes = kmin_bytes,
                     .kmax_bytes = kmax_bytes,
                     /* A bound below 2^48 at kmax: span x slope does not overflow. */
                     .slope = span > 0 ? ((uint64_t)pmax_q32 << 16) / (uint64_t)span : 0,
                     .classes = classes,
                     .at_dequeue = at_dequeue};
}
