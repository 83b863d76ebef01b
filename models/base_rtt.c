/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * base_rtt.c - see base_rtt.h.  Set-up and reading of results only.
 */
#include <config.h>

#include "models/base_rtt.h"

#include "models/ideal.h"

/* A time on a link is rounded down, as all of that simulator's are. */
static int64_t
payload_ps(int64_t bytes, int64_t rate_bps)
{
    return (int64_t)((__int128)bytes * (8 * PS_PER_S) / rate_bps);
}

struct base_rtt
base_rtt_of(const struct net *net, uint32_t src, uint32_t dst)
{
    int64_t mtu_bytes = net->nics[src].config->mtu_bytes;
    const struct port *out = net->nics[src].port;
    struct base_rtt base = {.rtt_ps = 0, .rate_bps = INT64_MAX};

    for (uint32_t n = 0; n < NET_MAX_HOPS; n++) {
        const struct link_params *link = &net->links[out->link].params;
        const struct port *far = &net->ports[out->peer];
        uint16_t n_hops;

        base.rtt_ps += 2 * link->delay_ps + payload_ps(mtu_bytes, link->rate_bps);
        base.rate_bps = MIN(base.rate_bps, link->rate_bps);
        if (far->is_nic) {
            return far == net->nics[dst].port ? base : (struct base_rtt){0, 0};
        }
        const struct fabric_switch *sw = far->owner;
        const uint16_t *hops = route_table_get(net->routes[sw->id], dst, &n_hops);

        if (!hops) {
            break;
        }
        out = &sw->ports[hops[0]];
    }
    return (struct base_rtt){0, 0};
}

int64_t
base_rtt_bdp_bytes(const struct base_rtt *base)
{
    return (int64_t)((__int128)base->rtt_ps * base->rate_bps / PS_PER_S / 8);
}

int64_t
base_rtt_max_bdp_bytes(const struct net *net)
{
    int64_t most = 0;

    for (uint32_t a = 0; a < net->n_hosts; a++) {
        for (uint32_t b = 0; b < net->n_hosts; b++) {
            struct base_rtt base =
                base_rtt_of(net, net->nic_of_host[a], net->nic_of_host[b]);

            most = a == b ? most : MAX(most, base_rtt_bdp_bytes(&base));
        }
    }
    return most;
}
