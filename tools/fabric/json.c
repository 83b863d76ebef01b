/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json.c - all of a fabric as JSON: docs/topo.md has the keys.
 */
#include <config.h>

#include "tools/fabric/fabric.h"

#include "tools/results/json_out.h"
#include "tools/scenario/units.h"
#include "workloads/nccl/player.h"

static void
put_length(struct json_out *json, const char *key, int64_t length_mm)
{
    json_out_quotient(json, key, length_mm, 1000);
}

static void
put_layouts(struct json_out *json, const struct fabric *fabric)
{
    json_out_open(json, "tiers", '[', false);
    for (guint i = 0; i < fabric->layouts->len; i++) {
        const struct fabric_layout *l =
            &g_array_index(fabric->layouts, struct fabric_layout, i);

        json_out_open(json, NULL, '{', false);
        json_out_text(json, "tier", fabric_tier_name(l->tier));
        json_out_int(json, "nodes", l->nodes->len);
        json_out_int(json, "ports", l->n_ports);
        json_out_text(json, "down", l->down);
        json_out_text(json, "sideways", l->peer);
        json_out_text(json, "up", l->up);
        json_out_quotient(json, "oversubscription", l->ratio_down, l->ratio_up);
        json_out_open(json, "names", '[', true);
        for (guint k = 0; k < l->nodes->len; k++) {
            uint32_t id = g_array_index(l->nodes, uint32_t, k);

            json_out_text(json, NULL, fabric->net->nodes[id].name);
        }
        json_out_close(json, ']');
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

static void
put_link_kinds(struct json_out *json, const struct fabric *fabric)
{
    json_out_open(json, "link_kinds", '[', false);
    for (guint i = 0; i < fabric->links->len; i++) {
        const struct fabric_links *l =
            &g_array_index(fabric->links, struct fabric_links, i);

        json_out_open(json, NULL, '{', true);
        json_out_text(json, "lower", fabric_tier_name(l->tier[0]));
        json_out_text(json, "upper", fabric_tier_name(l->tier[1]));
        json_out_int(json, "count", (int64_t)l->n);
        json_out_int(json, "rate_bps", l->rate_bps);
        put_length(json, "length_m", l->length_mm);
        json_out_us(json, "delay_us", l->delay_ps);
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

static void
put_paths(struct json_out *json, const struct fabric *fabric)
{
    const struct net *net = fabric->net;

    json_out_open(json, "paths", '[', false);
    for (guint i = 0; i < fabric->paths->len; i++) {
        const struct fabric_path *p =
            &g_array_index(fabric->paths, struct fabric_path, i);
        const struct path_class *c = &p->pairs;

        json_out_open(json, NULL, '{', true);
        json_out_int(json, "links", c->n_links);
        json_out_text(json, "top", fabric_tier_name(c->top_tier));
        json_out_int(json, "host_pairs", (int64_t)c->n_pairs);
        if (c->n_links > 0) {
            json_out_text(json, "from", net->nodes[net->node_of_host[c->host[0]]].name);
            json_out_text(json, "to", net->nodes[net->node_of_host[c->host[1]]].name);
            json_out_int(json, "paths", (int64_t)MIN(c->n_paths, INT64_MAX));
            json_out_int(json, "paths_least", (int64_t)MIN(c->least_paths, INT64_MAX));
            json_out_int(json, "paths_most", (int64_t)MIN(c->most_paths, INT64_MAX));
            json_out_us(json, "rtt_us", p->byte_ps);
            json_out_us(json, "rtt_packet_us", p->packet_ps);
        }
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

static void
put_bisection(struct json_out *json, const struct fabric *fabric)
{
    const struct bisection *b = &fabric->bisection;

    json_out_open(json, "bisection", '{', true);
    json_out_int(json, "hosts_first", b->n_first);
    json_out_int(json, "hosts_second", b->n_second);
    json_out_int(json, "rate_bps", b->rate_bps);
    json_out_int(json, "full_bps", b->full_bps);
    json_out_quotient(json, "share", b->rate_bps, b->full_bps);
    json_out_bool(json, "exact", fabric->bisection_is_exact);
    json_out_close(json, '}');
}

static void
put_node_inside(struct json_out *json, const struct fabric *fabric)
{
    const struct scenario_node *node = &fabric->scenario->node;

    json_out_open(json, "node", '{', true);
    json_out_int(json, "gpus", node->gpus);
    json_out_int(json, "pipe_rate_bps", node->pipe_rate_bps);
    json_out_us(json, "pipe_latency_us", node->pipe_latency_ps);
    json_out_close(json, '}');
}

static void
put_nodes(struct json_out *json, const struct fabric *fabric)
{
    const struct net *net = fabric->net;

    json_out_open(json, "nodes", '[', false);
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        const struct net_node *node = &net->nodes[n];
        bool is_host = node->kind == NODE_HOST;

        json_out_open(json, NULL, '{', true);
        json_out_text(json, "name", node->name);
        json_out_text(json, "kind", is_host ? "host" : "switch");
        json_out_text(json, "tier", fabric_tier_name(node->tier));
        json_out_int(json, "rack", node->rack);
        json_out_int(json, "ports", node->n_ports);
        json_out_text(json, "profile",
                      is_host ? scenario_nic_profile(fabric->scenario, node->name)
                              : scenario_switch_profile(fabric->scenario, node->name));
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

static void
put_links(struct json_out *json, const struct fabric *fabric)
{
    const struct net *net = fabric->net;

    json_out_open(json, "links", '[', false);
    for (uint32_t l = 0; l < net->n_links; l++) {
        const struct net_link *link = &net->links[l];
        const struct net_node *a = &net->nodes[link->node[0]];
        const struct net_node *b = &net->nodes[link->node[1]];

        json_out_open(json, NULL, '{', true);
        json_out_text(json, "name", link->name);
        json_out_text(json, "a", a->name);
        json_out_int(json, "a_port", link->port[0] - a->first_port);
        json_out_text(json, "b", b->name);
        json_out_int(json, "b_port", link->port[1] - b->first_port);
        json_out_int(json, "rate_bps", link->params.rate_bps);
        put_length(json, "length_m", units_cable_mm(link->params.delay_ps));
        json_out_us(json, "delay_us", link->params.delay_ps);
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

static void
put_ranks(struct json_out *json, const struct fabric *fabric)
{
    const struct net *net = fabric->net;
    uint32_t n_gpus = (uint32_t)fabric->scenario->node.gpus;

    json_out_open(json, "ranks", '[', false);
    for (guint i = 0; i < fabric->ranks->len; i++) {
        const struct fabric_ranks *ranks =
            &g_array_index(fabric->ranks, struct fabric_ranks, i);

        json_out_open(json, NULL, '{', false);
        json_out_text(json, "of", ranks->title);
        json_out_open(json, "places", '[', false);
        for (uint32_t r = 0; r < ranks->n_ranks; r++) {
            const struct net_node *host = &net->nodes[net->node_of_host[ranks->host[r]]];

            json_out_open(json, NULL, '{', true);
            json_out_int(json, "rank", r);
            json_out_text(json, "host", host->name);
            json_out_int(json, "gpu", ranks->gpu[r]);
            if (host->n_ports > 0) {
                json_out_int(json, "nic",
                             player_nic_of_gpu(ranks->gpu[r], 0, n_gpus, host->n_ports));
                json_out_int(json, "nics", player_nics_a_gpu(n_gpus, host->n_ports));
            }
            json_out_close(json, '}');
        }
        json_out_close(json, ']');
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

static void
put_parts(struct json_out *json, const struct fabric *fabric)
{
    json_out_open(json, "parts", '[', false);
    for (guint i = 0; i < fabric->parts->len; i++) {
        const struct fabric_part *p =
            &g_array_index(fabric->parts, struct fabric_part, i);

        json_out_open(json, NULL, '{', true);
        json_out_text(json, "part", p->kind);
        json_out_text(json, "what", p->what);
        json_out_int(json, "count", (int64_t)p->n);
        if (p->ports != NULL) {
            json_out_int(json, "ports", p->n_ports);
            json_out_text(json, "rates", p->ports);
        } else {
            json_out_int(json, "rate_bps", p->rate_bps);
        }
        if (p->longest_mm > 0) {
            put_length(json, "longest_m", p->longest_mm);
        }
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

void
fabric_put_json(GString *out, const struct fabric *fabric)
{
    const struct topo_counts *c = &fabric->counts;
    struct json_out json;

    json_out_init(&json, out);
    json_out_open(&json, NULL, '{', false);
    json_out_text(&json, "scenario", fabric->scenario->name);
    json_out_text(&json, "type", fabric->scenario->topo->name);
    json_out_int(&json, "hosts", c->n_hosts);
    json_out_int(&json, "nics", c->n_nics);
    json_out_int(&json, "switches", c->n_switches);
    json_out_int(&json, "n_links", (int64_t)c->n_links);
    put_layouts(&json, fabric);
    put_link_kinds(&json, fabric);
    put_paths(&json, fabric);
    put_bisection(&json, fabric);
    put_node_inside(&json, fabric);
    put_ranks(&json, fabric);
    put_parts(&json, fabric);
    put_nodes(&json, fabric);
    put_links(&json, fabric);
    json_out_close(&json, '}');
    g_string_append_c(out, '\n');
}
