/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * route.c - building of route tables.
 * The mixer is the 32-bit finaliser "lowbias32" of C. Wellons's hash prospector (2018).
 */
#include <config.h>

#include "models/switch/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
grow(void *p, uint32_t *cap, uint32_t need, size_t size)
{
    if (need <= *cap) {
        return p;
    }
    while (*cap < need) {
        *cap = *cap ? *cap * 2 : 16;
    }
    p = realloc(p, *cap * size);
    if (!p) {
        fputs("rocesim: out of memory\n", stderr);
        abort();
    }
    return p;
}

struct route_table *
route_table_new(uint32_t n_nics)
{
    uint32_t cap = 0;
    struct route_table *table = malloc(sizeof *table);

    if (!table) {
        fputs("rocesim: out of memory\n", stderr);
        abort();
    }
    *table = (struct route_table){.n_nics = n_nics};
    table->set_of_nic = grow(NULL, &cap, n_nics ? n_nics : 1, sizeof *table->set_of_nic);
    memset(table->set_of_nic, 0xff, cap * sizeof *table->set_of_nic);
    return table;
}

void
route_table_free(struct route_table *table)
{
    if (table) {
        free(table->set_of_nic);
        free(table->sets);
        free(table->ports);
        free(table);
    }
}

static uint16_t
set_find(const struct route_table *table, const uint16_t ports[], uint16_t n)
{
    /* From the newest: neighbouring NICs mostly share a set. */
    for (uint32_t i = table->n_sets; i-- > 0;) {
        const struct route_set *set = &table->sets[i];

        if (set->n == n &&
            memcmp(&table->ports[set->first], ports, n * sizeof *ports) == 0) {
            return (uint16_t)i;
        }
    }
    return ROUTE_NONE;
}

void
route_table_set(struct route_table *table, uint32_t nic, const uint16_t ports[],
                uint16_t n)
{
    uint16_t id = set_find(table, ports, n);

    if (id == ROUTE_NONE) {
        table->sets =
            grow(table->sets, &table->cap_sets, table->n_sets + 1, sizeof *table->sets);
        table->ports = grow(table->ports, &table->cap_ports, table->n_ports + n,
                            sizeof *table->ports);
        memcpy(&table->ports[table->n_ports], ports, n * sizeof *ports);
        table->sets[table->n_sets] = (struct route_set){.first = table->n_ports, .n = n};
        table->n_ports += n;
        id = (uint16_t)table->n_sets++;
    }
    table->set_of_nic[nic] = id;
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
