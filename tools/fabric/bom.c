/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bom.c - the parts of a fabric: switches, NICs, cables, transceivers.  No prices.
 *
 * A cable's type follows from its length and rate, by what vendors' cabling guides and IEEE
 * 802.3 give as reach; the table below has them.  Fibre takes two transceivers, a copper or
 * an active optical cable (AOC) none.  What links a host to itself (pipes) is no part.
 */
#include <config.h>

#include "tools/fabric/fabric.h"

#include <string.h>

#include "tools/results/text.h"
#include "tools/scenario/units.h"

enum { WIDTH = 100 }; /* of a line */

/* Cables up to 'most_mm' at rates up to 'most_bps' (0: any), the first that fits. */
struct reach {
    int64_t most_mm, most_bps;
    const char *what;
    bool has_transceivers;
    const char *source;
};

#define GBPS INT64_C(1000000000)
#define M_MM INT64_C(1000)

static const struct reach reaches[] = {
    {3 * M_MM, 0, "copper, passive (DAC)", false,
     "NVIDIA and Juniper cabling guides: passive copper to 3 m"},
    {5 * M_MM, 0, "copper, active (ACC, AEC)", false,
     "NVIDIA LinkX: active copper to 5 m at 2 x 400G"},
    {30 * M_MM, 0, "active optical (AOC)", false,
     "data sheets of 100G to 800G AOC: 30 m"},
    {100 * M_MM, 200 * GBPS, "multimode fibre (SR)", true,
     "IEEE 802.3bm, 802.3cd: SR4 to 100 m of OM4"},
    {50 * M_MM, 0, "multimode fibre (SR)", true,
     "data sheets of 400G-SR4 and 800G-SR8: 50 m of OM4"},
    {500 * M_MM, 0, "single-mode fibre (DR)", true, "IEEE 802.3bs, 802.3df: DR to 500 m"},
    {2000 * M_MM, 0, "single-mode fibre (FR)", true, "IEEE 802.3cu: FR to 2 km"},
    {10000 * M_MM, 0, "single-mode fibre (LR)", true, "IEEE 802.3cu: LR to 10 km"},
};

/* Beyond them all: amplified or coherent links. */
static const struct reach longest = {INT64_MAX, 0, "single-mode fibre (ER, ZR)", true,
                                     "beyond LR"};

static const struct reach *
reach_of(int64_t length_mm, int64_t rate_bps)
{
    for (size_t i = 0; i < G_N_ELEMENTS(reaches); i++) {
        if (length_mm <= reaches[i].most_mm &&
            (reaches[i].most_bps == 0 || rate_bps <= reaches[i].most_bps)) {
            return &reaches[i];
        }
    }
    return &longest;
}

static void
part_clear(void *data)
{
    struct fabric_part *part = data;

    g_free(part->what);
    g_free(part->ports);
}

/* Adds 'part', whose texts are borrowed, to the list or to its like in it. */
static void
add_part(GArray *parts, const struct fabric_part *part)
{
    for (guint i = 0; i < parts->len; i++) {
        struct fabric_part *p = &g_array_index(parts, struct fabric_part, i);

        if (strcmp(p->kind, part->kind) == 0 && strcmp(p->what, part->what) == 0 &&
            p->rate_bps == part->rate_bps && g_strcmp0(p->ports, part->ports) == 0) {
            p->n += part->n;
            p->longest_mm = MAX(p->longest_mm, part->longest_mm);
            return;
        }
    }
    struct fabric_part new = *part;

    new.what = g_strdup(part->what);
    new.ports = g_strdup(part->ports);
    g_array_append_val(parts, new);
}

/* Switches by profile and ports, from the lowest tier up. */
static void
add_switches(GArray *parts, const struct fabric *fabric)
{
    const struct net *net = fabric->net;

    for (guint i = 0; i < fabric->layouts->len; i++) {
        const struct fabric_layout *layout =
            &g_array_index(fabric->layouts, struct fabric_layout, i);
        g_autoptr(GArray) rates = NULL;
        g_autofree char *ports = NULL;

        for (guint k = 0; k < layout->nodes->len; k++) {
            uint32_t id = g_array_index(layout->nodes, uint32_t, k);
            const struct net_node *node = &net->nodes[id];
            const char *profile;

            if (node->kind != NODE_SWITCH) {
                break;
            }
            if (rates == NULL) {
                rates = g_array_new(FALSE, FALSE, sizeof(int64_t));
                for (uint32_t p = 0; p < node->n_ports; p++) {
                    g_array_append_val(rates, net->ports[node->first_port + p].rate_bps);
                }
                ports = fabric_rates_text(rates);
            }
            profile = scenario_switch_profile(fabric->scenario, node->name);
            add_part(parts, &(struct fabric_part){.kind = "switch",
                                                  .what = (char *)profile,
                                                  .n_ports = node->n_ports,
                                                  .ports = ports,
                                                  .n = 1});
        }
    }
}

static void
add_nics(GArray *parts, const struct fabric *fabric)
{
    const struct net *net = fabric->net;

    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct net_node *node = &net->nodes[net->node_of_host[h]];
        const char *profile = scenario_nic_profile(fabric->scenario, node->name);

        for (uint32_t p = 0; p < node->n_ports; p++) {
            add_part(parts, &(struct fabric_part){
                                .kind = "nic",
                                .what = (char *)profile,
                                .rate_bps = net->ports[node->first_port + p].rate_bps,
                                .n = 1});
        }
    }
}

static void
add_cables(GArray *parts, const struct fabric *fabric)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (guint i = 0; i < fabric->links->len; i++) {
            const struct fabric_links *links =
                &g_array_index(fabric->links, struct fabric_links, i);
            const struct reach *reach = reach_of(links->length_mm, links->rate_bps);

            if (pass == 0 || reach->has_transceivers) {
                add_part(parts, &(struct fabric_part){
                                    .kind = pass == 0 ? "cable" : "transceiver",
                                    .what = (char *)(uintptr_t)reach->what,
                                    .rate_bps = links->rate_bps,
                                    .n = pass == 0 ? links->n : 2 * links->n,
                                    .longest_mm = links->length_mm});
            }
        }
    }
}

GArray *
fabric_list_parts(const struct fabric *fabric)
{
    GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct fabric_part));

    g_array_set_clear_func(parts, part_clear);
    add_switches(parts, fabric);
    add_nics(parts, fabric);
    add_cables(parts, fabric);
    return parts;
}

void
fabric_put_bom(GString *out, const struct fabric *fabric)
{
    g_string_append_printf(out, "%-12s%7s  %-26s%9s%10s  %s\n", "part", "count", "what",
                           "rate", "longest", "ports in use");
    for (guint i = 0; i < fabric->parts->len; i++) {
        const struct fabric_part *p =
            &g_array_index(fabric->parts, struct fabric_part, i);
        g_autoptr(GString) length = g_string_new(NULL);
        g_autoptr(GString) line = g_string_new(NULL);
        char rate[TOPO_TEXT_BYTES];

        if (p->longest_mm > 0) {
            fabric_put_length(length, p->longest_mm);
        }
        g_string_append_printf(
            line, "%-12s%7" G_GUINT64_FORMAT "  %-26s%9s%10s", p->kind, p->n, p->what,
            p->rate_bps ? topo_rate_text__(rate, p->rate_bps) : "", length->str);
        if (p->ports != NULL) {
            g_autofree char *ports = g_strdup_printf("  %u: %s", p->n_ports, p->ports);

            if (line->len + strlen(ports) > WIDTH) {
                g_strchomp(line->str);
                g_string_truncate(line, strlen(line->str));
                g_string_append_printf(line, "\n%19s", "");
            }
            g_string_append(line, ports);
        }
        g_string_append_printf(out, "%s\n", g_strchomp(line->str));
    }
}
