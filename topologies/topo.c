/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topo.c - the registry of topologies, counts, and what building one needs.
 * Set-up code: nothing here runs per packet.
 */
#include <config.h>

#include "topologies/topo.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define TOPO(name) extern const struct topo_ops topo_##name##_ops;
#include "topologies/topo_list.def"
#undef TOPO

const struct topo_ops *const topo_list[] = {
#define TOPO(name) &topo_##name##_ops,
#include "topologies/topo_list.def"
#undef TOPO
    NULL,
};

/* Rates of the links of a node to lower and higher tiers. */
struct rates {
    __int128 down, up;
};

static void
count_end(struct topo_counts *counts, struct rates *rates, uint8_t tier, uint8_t peer_tier,
          int64_t rate_bps)
{
    struct topo_tier *here = &counts->tier[tier];

    here->n_ports++;
    if (peer_tier < tier) {
        here->n_down++;
        rates->down += rate_bps;
    } else if (peer_tier > tier) {
        here->n_up++;
        rates->up += rate_bps;
    } else {
        here->n_peer++;
    }
}

/* Keeps the highest down : up of a tier; nodes with nothing above them have no ratio. */
static void
keep_worst(struct topo_tier *tier, uint32_t node, const struct rates *rates,
           struct rates *worst)
{
    if (rates->up == 0) {
        return;
    }
    if (worst->up == 0 || rates->down * worst->up > worst->down * rates->up) {
        *worst = *rates;
        tier->worst_node = node;
    }
}

GQuark
topo_error_quark(void)
{
    return g_quark_from_static_string("topo-error");
}

const struct topo_ops *
topo_find(const char *name)
{
    for (const struct topo_ops *const *ops = topo_list; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0) {
            return *ops;
        }
    }
    return NULL;
}

void
topo_describe(const struct net *net, struct topo_counts *counts)
{
    g_autofree struct rates *rates = g_new0(struct rates, net->n_nodes);
    struct rates worst[TOPO_MAX_TIERS] = {0};

    memset(counts, 0, sizeof *counts);
    counts->n_hosts = net->n_hosts;
    counts->n_switches = net->n_switches;
    counts->n_links = net->n_links;
    for (uint32_t i = 0; i < net->n_links; i++) {
        const struct net_link *link = &net->links[i];
        uint8_t tier[2];

        for (unsigned e = 0; e < 2; e++) {
            tier[e] = net->nodes[link->node[e]].tier;
            counts->n_nics += net->nodes[link->node[e]].kind == NODE_HOST;
        }
        for (unsigned e = 0; e < 2; e++) {
            count_end(counts, &rates[link->node[e]], tier[e], tier[!e],
                      link->params.rate_bps);
        }
        counts->n_links_between[MIN(tier[0], tier[1])][MAX(tier[0], tier[1])]++;
    }
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        uint8_t tier = net->nodes[i].tier;

        assert(tier < TOPO_MAX_TIERS);
        counts->tier[tier].n_nodes++;
        counts->n_tiers = MAX(counts->n_tiers, tier + 1u);
        keep_worst(&counts->tier[tier], i, &rates[i], &worst[tier]);
    }
    for (uint32_t t = 0; t < counts->n_tiers; t++) {
        if (worst[t].up > 0) {
            __int128 common = topo_gcd__(worst[t].down, worst[t].up);

            counts->tier[t].ratio_down = (int64_t)(worst[t].down / common);
            counts->tier[t].ratio_up = (int64_t)(worst[t].up / common);
        }
    }
}

__int128
topo_gcd__(__int128 a, __int128 b)
{
    while (b != 0) {
        __int128 rest = a % b;

        a = b, b = rest;
    }
    return a;
}

const char *
topo_wide_text__(char text[TOPO_TEXT_BYTES], __int128 value)
{
    char *at = text + TOPO_TEXT_BYTES - 1;

    assert(value >= 0); /* at most 39 digits */
    *at = '\0';
    do {
        *--at = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value > 0);
    return at;
}

const char *
topo_rate_text__(char text[TOPO_TEXT_BYTES], int64_t rate_bps)
{
    const struct param rate = {.name = "rate", .kind = PARAM_RATE};

    static_assert((int)TOPO_TEXT_BYTES >= (int)PARAM_TEXT_BYTES, "a value fits");
    param_format(&rate, rate_bps, text);
    return text;
}

gboolean
topo_check_rate__(const char *path, int64_t rate_bps, GError **error)
{
    char text[TOPO_TEXT_BYTES], most[TOPO_TEXT_BYTES];

    if (rate_bps >= 1 && rate_bps <= TOPO_MAX_RATE_BPS) {
        return TRUE;
    }
    g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT, "%s.rate: is %s; allowed 1bps to %s",
                path, topo_rate_text__(text, rate_bps),
                topo_rate_text__(most, TOPO_MAX_RATE_BPS));
    return FALSE;
}

gboolean
topo_check_nics__(const struct topo_input *input, GError **error)
{
    if (input->nics_per_host >= 1 && input->nics_per_host <= TOPO_MAX_NODE_PORTS) {
        return TRUE;
    }
    g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                "node.nics: is %" PRId64 "; allowed 1 to %d", input->nics_per_host,
                TOPO_MAX_NODE_PORTS);
    return FALSE;
}

void
topo_add_hosts__(struct net *net, int64_t hosts, int64_t hosts_per_rack)
{
    for (int64_t h = 0; h < hosts; h++) {
        g_autofree char *name = g_strdup_printf("host%" PRId64, h);

        net_add_host(net, name, (uint32_t)(h / hosts_per_rack));
    }
}

void
topo_add_switches__(struct net *net, const char *prefix, int64_t n, uint32_t first_rack,
                    uint8_t tier)
{
    for (int64_t i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("%s%" PRId64, prefix, i);

        net_add_switch(net, name, first_rack + (uint32_t)i, tier);
    }
}

void
topo_add_links__(struct net *net, uint32_t a, uint32_t b, int64_t n,
                 const struct link_params *params)
{
    for (int64_t i = 0; i < n; i++) {
        net_add_link(net, a, b, params);
    }
}
