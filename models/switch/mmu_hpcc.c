/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mmu_hpcc.c - the set-up arithmetic of mmu_hpcc.h.
 */
#include <config.h>

#include "models/switch/mmu_hpcc.h"

int64_t
mmu_hpcc_headroom_bytes(int64_t rate_bps, int64_t delay_ps)
{
    return (int64_t)((__int128)rate_bps * delay_ps / 8 / PS_PER_S) *
           MMU_HPCC_HEADROOM_CABLES;
}

unsigned
mmu_hpcc_shift(unsigned shift, int64_t rate_bps, int64_t nic_rate_bps)
{
    while (rate_bps > nic_rate_bps && shift > 0) {
        rate_bps /= 2;
        shift--;
    }
    return shift;
}
