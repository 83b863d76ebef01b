/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * route.c - building of route tables.
 * The mixer is the 32-bit finaliser "lowbias32" of C. Wellons's hash prospector (2018).
 */
#include <config.h>

#include "models/switch/route.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/mem.h"

static uint32_t
ports_hash(const uint16_t ports[], uint16_t n)
{
    uint32_t h = n;

    for (uint16_t i = 0; i < n; i++) {
        h = route_mix(h ^ ports[i]) + 0x9e3779b9u;
    }
    return h;
}

/* Where the set of 'ports' is in the index, or the empty place where it belongs. */
static uint32_t
index_find(const struct route_table *table, const uint16_t ports[], uint16_t n)
{
    uint32_t mask = table->cap_index - 1, at = ports_hash(ports, n) & mask;

    for (; table->index[at] != ROUTE_NONE; at = (at + 1) & mask) {
        const struct route_set *set = &table->sets[table->index[at]];

        if (set->n == n &&
            memcmp(&table->ports[set->first], ports, n * sizeof *ports) == 0) {
            break;
        }
    }
    return at;
}

/* Makes room for one more set in the index, which stays at most half full. */
static void
index_grow(struct route_table *table)
{
    uint32_t cap = table->cap_index ? 2 * table->cap_index : 16;

    if (2 * (table->n_sets + 1) <= table->cap_index) {
        return;
    }
    free(table->index);
    table->index = mem_resize(NULL, cap, sizeof *table->index);
    memset(table->index, 0xff, cap * sizeof *table->index);
    table->cap_index = cap;
    for (uint32_t i = 0; i < table->n_sets; i++) {
        const struct route_set *set = &table->sets[i];

        table->index[index_find(table, &table->ports[set->first], set->n)] = (uint16_t)i;
    }
}

struct route_table *
route_table_new(uint32_t n_nics)
{
    struct route_table *table = mem_zero(1, sizeof *table);

    table->n_nics = n_nics;
    table->set_of_nic = mem_zero(n_nics, sizeof *table->set_of_nic);
    memset(table->set_of_nic, 0xff, n_nics * sizeof *table->set_of_nic);
    return table;
}

void
route_table_free(struct route_table *table)
{
    if (table) {
        free(table->set_of_nic);
        free(table->sets);
        free(table->ports);
        free(table->index);
        free(table);
    }
}

bool
route_table_set(struct route_table *table, uint32_t nic, const uint16_t ports[],
                uint16_t n)
{
    uint32_t at;

    assert(nic < table->n_nics && n >= 1);
    index_grow(table);
    at = index_find(table, ports, n);
    if (table->index[at] == ROUTE_NONE) {
        if (table->n_sets == ROUTE_NONE) {
            return false;
        }
        if (table->n_sets == table->cap_sets) {
            table->sets =
                mem_double(table->sets, &table->cap_sets, 16, sizeof *table->sets);
        }
        while (table->cap_ports - table->n_ports < n) {
            table->ports =
                mem_double(table->ports, &table->cap_ports, 16, sizeof *table->ports);
        }
        memcpy(&table->ports[table->n_ports], ports, n * sizeof *ports);
        table->sets[table->n_sets] = (struct route_set){.first = table->n_ports, .n = n};
        table->n_ports += n;
        table->index[at] = (uint16_t)table->n_sets++;
    }
    table->set_of_nic[nic] = table->index[at];
    return true;
}

const uint16_t *
route_table_get(const struct route_table *table, uint32_t nic, uint16_t *n)
{
    uint16_t id = table->set_of_nic[nic];

    if (id == ROUTE_NONE) {
        *n = 0;
        return NULL;
    }
    *n = table->sets[id].n;
    return &table->ports[table->sets[id].first];
}

uint32_t
route_flow_hash(uint32_t src_ip, uint32_t dst_ip, uint16_t src_port, uint16_t dst_port,
                uint8_t protocol)
{
    uint32_t h = route_mix(src_ip + 0x9e3779b9u);

    h = route_mix(h ^ dst_ip);
    h = route_mix(h ^ ((uint32_t)src_port << 16 | dst_port));
    return route_mix(h ^ protocol);
}
