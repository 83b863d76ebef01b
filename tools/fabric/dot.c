/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dot.c - a fabric for Graphviz: switches by tier, from the top down, hosts of one place as
 * one box, parallel links as one line with their number.
 *
 * The same network gives the same bytes: everything is in order of node or link ids.
 */
#include <config.h>

#include "tools/fabric/fabric.h"

#include <string.h>

/* A line between two boxes: all links between their nodes that have one rate. */
struct line {
    uint32_t box[2]; /* a box is named by its first node; the upper one first */
    int64_t rate_bps;
    uint64_t n;
};

struct picture {
    const struct net *net;
    uint32_t *box_of;   /* by node: first node of its box */
    uint32_t *n_in_box; /* by node that is a box's first */
};

/* ---- boxes ---------------------------------------------------------------------------- */

/* What 'node' is plugged into, as text: equal for hosts of one box. */
static char *
place_text(const struct net *net, uint32_t node)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (uint32_t p = 0, link = net->nodes[node].last_link; p < net->nodes[node].n_ports;
         p++) {
        const struct net_link *l = &net->links[link];
        unsigned e = l->node[0] == node ? 0 : 1;

        g_string_append_printf(text, "%u %" G_GINT64_FORMAT ";", l->node[!e],
                               l->params.rate_bps);
        link = l->before[e];
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Hosts in a row that are plugged into the same switches by the same rates share a box.  A
 * host that is plugged into a host has its own. */
static void
find_boxes(struct picture *picture)
{
    const struct net *net = picture->net;
    g_autofree char *last = NULL;
    uint32_t last_box = UINT32_MAX;

    for (uint32_t n = 0; n < net->n_nodes; n++) {
        picture->box_of[n] = n;
        if (net->nodes[n].kind == NODE_HOST) {
            g_autofree char *place = place_text(net, n);

            if (last != NULL && strcmp(last, place) == 0) {
                picture->box_of[n] = last_box;
            } else {
                last_box = n;
                g_free(last);
                last = g_steal_pointer(&place);
            }
        }
        picture->n_in_box[picture->box_of[n]]++;
    }
}

static void
put_box(GString *out, const struct picture *picture, uint32_t node)
{
    const struct net *net = picture->net;
    uint32_t n = picture->n_in_box[node];
    const char *name = net->nodes[node].name;

    if (n == 1) {
        g_string_append_printf(out, "    \"%s\";\n", name);
        return;
    }
    /* The last host of the box: they stand in a row among the hosts. */
    uint32_t last = net->node_of_host[net->nodes[node].index + n - 1];

    g_string_append_printf(out, "    \"%s\" [label=\"%s%s%s\\n%u hosts\"];\n", name, name,
                           n == 2 ? ", " : " .. ", net->nodes[last].name, n);
}

/* Holds 'node' to the right of 'last', which may be UINT32_MAX. */
static void
put_after(GString *out, const struct picture *picture, uint32_t last, uint32_t node)
{
    if (last != UINT32_MAX) {
        g_string_append_printf(out, "    \"%s\" -- \"%s\" [style=invis];\n",
                               picture->net->nodes[last].name,
                               picture->net->nodes[node].name);
    }
}

static void
put_tier(GString *out, const struct picture *picture, unsigned tier)
{
    const struct net *net = picture->net;
    uint32_t last = UINT32_MAX;

    g_string_append_printf(out, "  { rank=same; // %s\n    node [%s];\n",
                           fabric_tier_name(tier),
                           tier == 0 ? "shape=box, style=filled, fillcolor=\"#eeeeee\""
                                     : "shape=box, style=\"filled,rounded\", "
                                       "fillcolor=\"#cfe2f3\"");
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        if (net->nodes[n].tier == tier && picture->box_of[n] == n) {
            put_box(out, picture, n);
            put_after(out, picture, last, n);
            last = n;
        }
    }
    g_string_append(out, "  }\n");
}

/* ---- lines ---------------------------------------------------------------------------- */

static int
compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    for (unsigned e = 0; e < 2; e++) {
        if (x->box[e] != y->box[e]) {
            return x->box[e] < y->box[e] ? -1 : 1;
        }
    }
    return (x->rate_bps < y->rate_bps) - (x->rate_bps > y->rate_bps);
}

static GArray *
find_lines(const struct picture *picture)
{
    const struct net *net = picture->net;
    g_autoptr(GArray) all =
        g_array_sized_new(FALSE, FALSE, sizeof(struct line), net->n_links);
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct line));

    for (uint32_t l = 0; l < net->n_links; l++) {
        const struct net_link *link = &net->links[l];
        unsigned upper =
            net->nodes[link->node[1]].tier > net->nodes[link->node[0]].tier ? 1 : 0;
        struct line line = {.box = {picture->box_of[link->node[upper]],
                                    picture->box_of[link->node[!upper]]},
                            .rate_bps = link->params.rate_bps,
                            .n = 1};

        g_array_append_val(all, line);
    }
    g_array_sort(all, compare_lines);
    for (guint i = 0; i < all->len; i++) {
        const struct line *line = &g_array_index(all, struct line, i);
        struct line *last =
            lines->len > 0 ? &g_array_index(lines, struct line, lines->len - 1) : NULL;

        if (last != NULL && compare_lines(last, line) == 0) {
            last->n++;
        } else {
            g_array_append_val(lines, *line);
        }
    }
    return lines;
}

/* The commonest rate between two tiers, which lines do not repeat. */
static int64_t
common_rate(const struct fabric *fabric, uint8_t lower, uint8_t upper)
{
    const struct fabric_links *best = NULL;

    for (guint i = 0; i < fabric->links->len; i++) {
        const struct fabric_links *l =
            &g_array_index(fabric->links, struct fabric_links, i);

        if (l->tier[0] == lower && l->tier[1] == upper &&
            (best == NULL || l->n > best->n)) {
            best = l;
        }
    }
    return best->rate_bps;
}

static void
put_line(GString *out, const struct fabric *fabric, const struct line *line)
{
    const struct net_node *upper = &fabric->net->nodes[line->box[0]];
    const struct net_node *lower = &fabric->net->nodes[line->box[1]];
    bool is_odd = line->rate_bps != common_rate(fabric, lower->tier, upper->tier);
    char rate[TOPO_TEXT_BYTES];

    topo_rate_text__(rate, line->rate_bps);
    g_string_append_printf(out, "  \"%s\" -- \"%s\"", upper->name, lower->name);
    if (line->n > 1 || is_odd) {
        g_autoptr(GString) label = g_string_new(NULL);

        if (line->n > 1) {
            g_string_append_printf(label, "%" G_GUINT64_FORMAT "x", line->n);
        }
        if (is_odd) {
            g_string_append_printf(label, "%s%s", label->len ? " " : "",
                                   topo_rate_text__(rate, line->rate_bps));
        }
        g_string_append_printf(out, " [label=\"%s\"%s%s]", label->str,
                               line->n > 1 ? ", penwidth=2" : "",
                               is_odd ? ", color=\"#cc0000\"" : "");
    }
    g_string_append(out, ";\n");
}

static void
put_title(GString *out, const struct fabric *fabric)
{
    g_autofree char *name = g_strescape(fabric->scenario->name, NULL);

    g_string_append_printf(out, "  label=\"%s", name);
    for (guint i = 0, k; i < fabric->links->len; i = k) {
        const struct fabric_links *l =
            &g_array_index(fabric->links, struct fabric_links, i);
        char rate[TOPO_TEXT_BYTES];
        uint64_t n = 0;

        /* whatever their length */
        for (k = i; k < fabric->links->len; k++) {
            const struct fabric_links *like =
                &g_array_index(fabric->links, struct fabric_links, k);

            if (memcmp(like->tier, l->tier, sizeof l->tier) != 0 ||
                like->rate_bps != l->rate_bps) {
                break;
            }
            n += like->n;
        }
        g_string_append_printf(out, "\\n%" G_GUINT64_FORMAT " x %s-%s %s", n,
                               fabric_tier_name(l->tier[0]), fabric_tier_name(l->tier[1]),
                               topo_rate_text__(rate, l->rate_bps));
    }
    g_string_append(out, "\";\n");
}

void
fabric_put_dot(GString *out, const struct fabric *fabric)
{
    const struct net *net = fabric->net;
    g_autofree uint32_t *box_of = g_new(uint32_t, net->n_nodes + 1);
    g_autofree uint32_t *n_in_box = g_new0(uint32_t, net->n_nodes + 1);
    struct picture picture = {net, box_of, n_in_box};

    find_boxes(&picture);
    g_autoptr(GArray) lines = find_lines(&picture);

    g_string_append(out,
                    "// render with: dot -Tsvg\ngraph fabric {\n"
                    "  rankdir=TB; ranksep=\"1.2\"; nodesep=\"0.25\"; splines=line;\n"
                    "  labelloc=t; fontname=\"sans-serif\";\n"
                    "  node [fontname=\"sans-serif\", fontsize=11];\n"
                    "  edge [fontname=\"sans-serif\", fontsize=9, "
                    "color=\"#555555\"];\n");
    put_title(out, fabric);
    for (unsigned t = fabric->counts.n_tiers; t-- > 0;) {
        if (fabric->counts.tier[t].n_nodes > 0) {
            put_tier(out, &picture, t);
        }
    }
    for (guint i = 0; i < lines->len; i++) {
        put_line(out, fabric, &g_array_index(lines, struct line, i));
    }
    g_string_append(out, "}\n");
}
