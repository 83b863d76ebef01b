/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * advice.c - settings held against each other, see advice.h.
 */
#include <config.h>

#include "tools/advice.h"

#include "models/switch/headroom.h"

static struct advice_ecn
advice_of(const struct fabric_switch *sw)
{
    struct advice_ecn advice = {.name = NULL};
    uint32_t n_classes = (uint32_t)__builtin_popcount(sw->lossless);
    uint8_t marked = 0;

    for (uint16_t p = 0; p < sw->n_ports; p++) {
        const struct ecn *ecn = &sw->ports[p].ecn;

        marked |= ecn->classes;
        advice.kmin_bytes = MAX(advice.kmin_bytes, ecn->kmin_bytes);
    }
    if (!(marked & sw->lossless)) {
        return advice;
    }
    advice.name = sw->name;
    advice.limit_bytes = headroom_kmin_limit_bytes(sw->buffer.shared_bytes, sw->n_ports,
                                                   n_classes, sw->buffer.alpha_q16);
    advice.pfc_bytes =
        headroom_static_threshold_bytes(sw->buffer.shared_bytes, sw->n_ports, n_classes);
    return advice;
}

struct advice_ecn
advice_ecn(const struct net *net)
{
    struct advice_ecn worst = {.name = NULL};

    for (uint32_t s = 0; s < net->n_switches && (net->cc->needs & CC_NEEDS_ECN); s++) {
        struct advice_ecn one = advice_of(&net->switches[s]);

        /* By kmin / limit; both below 2^40. */
        if (one.name &&
            (!worst.name || (__int128)one.kmin_bytes * worst.limit_bytes >
                                (__int128)worst.kmin_bytes * one.limit_bytes)) {
            worst = one;
        }
    }
    return worst;
}

static bool
has_choice(const struct net *net, const struct fabric_switch *sw)
{
    const struct route_table *table = net->routes[sw->id];

    for (uint32_t i = 0; table && i < table->n_sets; i++) {
        if (table->sets[i].n > 1) {
            return true;
        }
    }
    return false;
}

/* Does any NIC want packets in order? */
static bool
has_gbn(const struct net *net)
{
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        if (net->nic_params[h].retransmit == NIC_GBN) {
            return true;
        }
    }
    return false;
}

void
advice_warn(const struct net *net, GPtrArray *warnings)
{
    static const char *const names[] = {[LB_SPRAY] = "spray", [LB_ADAPTIVE] = "adaptive"};

    for (uint32_t s = 0; s < net->n_switches && has_gbn(net); s++) {
        const struct fabric_switch *sw = &net->switches[s];
        int32_t kind = net->switch_params[s].lb.kind;

        if ((kind == LB_SPRAY || kind == LB_ADAPTIVE) && has_choice(net, sw)) {
            g_ptr_array_add(
                warnings,
                g_strdup_printf("%s: switch.lb %s sends packets of a queue pair by "
                                "several ports, so that they overtake each other; NICs "
                                "with nic.retransmit gbn take that for losses",
                                sw->name, names[kind]));
            return;
        }
    }
}
