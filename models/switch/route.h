/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * route.h - next hops of a switch: for each NIC a set of equal-cost ports.
 *
 * A table is immutable; a switch changes to another one by an event of its own.
 * ECMP picks by a hash of the 5-tuple mixed with the switch's seed: two switches with one
 * seed pick the same index for the same flow, as hardware does (polarisation).
 */
#ifndef ROCESIM_MODELS_SWITCH_ROUTE_H
#define ROCESIM_MODELS_SWITCH_ROUTE_H

#include "models/switch/murmur.h"
#include "sim/units.h"

#define ROUTE_NONE UINT16_MAX

/* Equal-cost ports: 'n' entries of route_table.ports. */
struct route_set {
    uint32_t first; /* in route_table.ports */
    uint16_t n;     /* >= 1 */
};

/* Where a switch sends what is for a NIC. */
struct route_table {
    uint16_t *set_of_nic;   /* owned: n_nics entries, ROUTE_NONE: unreachable */
    struct route_set *sets; /* owned */
    uint16_t *ports;        /* owned: port indices within the switch */
    uint32_t n_nics, n_sets, n_ports, cap_sets, cap_ports;
    uint16_t *index;    /* owned: sets by hash of their ports, for building */
    uint32_t cap_index; /* a power of 2, at least twice n_sets */
};

/* A table that reaches nobody.  Owned by the caller. */
struct route_table *route_table_new(uint32_t n_nics);
void route_table_free(struct route_table *table); /* accepts NULL */

/* Says that 'nic' is reached by 'ports' (n >= 1).  Equal sets, in equal order, are shared.
 * Returns false, and changes nothing, when ROUTE_NONE other sets are there already. */
bool route_table_set(struct route_table *table, uint32_t nic, const uint16_t ports[],
                     uint16_t n);

/* Says that 'nic' is reached as 'other' is. */
static inline void
route_table_set_like(struct route_table *table, uint32_t nic, uint32_t other)
{
    table->set_of_nic[nic] = table->set_of_nic[other];
}

/* Ports that lead to 'nic', and '*n' of them; NULL and 0 when there are none. */
const uint16_t *route_table_get(const struct route_table *table, uint32_t nic,
                                uint16_t *n);

/* Hash of a 5-tuple, the same for all switches.  Addresses stand for themselves or for
 * host numbers. */
uint32_t route_flow_hash(uint32_t src_ip, uint32_t dst_ip, uint16_t src_port,
                         uint16_t dst_port, uint8_t protocol);

static inline uint32_t
route_mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

/* Port index of a packet with 'flow_hash' to 'nic', ROUTE_NONE when there is none. */
static inline uint16_t
route_pick(const struct route_table *table, uint32_t nic, uint32_t flow_hash,
           uint32_t seed)
{
    uint16_t id = table->set_of_nic[nic];

    if (unlikely(id == ROUTE_NONE)) {
        return ROUTE_NONE;
    }
    const struct route_set *set = &table->sets[id];

    if (set->n == 1) {
        return table->ports[set->first];
    }
    uint64_t scaled = (uint64_t)route_mix(flow_hash ^ seed) * set->n;

    return table->ports[set->first + (uint32_t)(scaled >> 32)];
}

/* The same by MurmurHash3 of 'key', modulo the number of ports. */
static inline uint16_t
route_pick_murmur(const struct route_table *table, uint32_t nic,
                  const struct murmur_key *key, uint32_t seed)
{
    uint16_t id = table->set_of_nic[nic];

    if (unlikely(id == ROUTE_NONE)) {
        return ROUTE_NONE;
    }
    const struct route_set *set = &table->sets[id];

    return set->n == 1 ? table->ports[set->first]
                       : table->ports[set->first + murmur_hash(key, seed) % set->n];
}

#endif
