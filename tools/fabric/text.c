/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * text.c - a fabric for people: tables of at most 100 columns.
 */
#include <config.h>

#include "tools/fabric/fabric.h"

#include <string.h>

#include "tools/results/text.h"

enum {
    WIDTH = 100,      /* of a line */
    MOST_LAYOUTS = 8, /* of a tier */
    MOST_ROWS = 128,  /* of the map of ranks */
    MOST_RANKS = 48,  /* characters of one host's ranks */
};

/* ---- tiers ---------------------------------------------------------------------------- */

static const char *
ratio_text(char text[TOPO_TEXT_BYTES], const struct fabric_layout *layout)
{
    if (layout->ratio_up == 0) {
        return "";
    }
    g_snprintf(text, TOPO_TEXT_BYTES, "%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT,
               layout->ratio_down, layout->ratio_up);
    return text;
}

/* Width of a column of the layouts. */
static int
width_of(const struct fabric *fabric, const char *head, size_t offset)
{
    size_t width = strlen(head);

    for (guint i = 0; i < fabric->layouts->len; i++) {
        const char *at =
            (const char *)&g_array_index(fabric->layouts, struct fabric_layout, i);
        size_t n = strlen(*(char *const *)(const void *)(at + offset));

        width = MAX(width, MIN(n, 40));
    }
    return (int)width;
}

static void
put_tiers(GString *out, const struct fabric *fabric)
{
    int down = width_of(fabric, "down", offsetof(struct fabric_layout, down));
    int up = width_of(fabric, "up", offsetof(struct fabric_layout, up));
    int peer = width_of(fabric, "", offsetof(struct fabric_layout, peer));
    unsigned tier = TOPO_MAX_TIERS, n_of_tier = 0;

    peer = peer ? MAX(peer, 8) : 0;
    g_string_append_printf(out, "%-8s%6s%7s  %-*s  ", "tier", "nodes", "ports", down,
                           "down");
    if (peer) {
        g_string_append_printf(out, "%-*s  ", peer, "sideways");
    }
    g_string_append_printf(out, "%-*s  %-9s %s\n", up, "up", "down:up", "names");
    for (guint i = 0; i < fabric->layouts->len; i++) {
        const struct fabric_layout *l =
            &g_array_index(fabric->layouts, struct fabric_layout, i);
        gsize begin = out->len;
        char ratio[TOPO_TEXT_BYTES];

        n_of_tier = l->tier == tier ? n_of_tier + 1 : 1;
        tier = l->tier;
        if (n_of_tier > MOST_LAYOUTS) {
            if (n_of_tier == MOST_LAYOUTS + 1) {
                g_string_append(out, "        ... and others; --json has all\n");
            }
            continue;
        }
        g_string_append_printf(out, "%-8s%6u%7u  %-*s  ", fabric_tier_name(tier),
                               l->nodes->len, l->n_ports, down, l->down);
        if (peer) {
            g_string_append_printf(out, "%-*s  ", peer, l->peer);
        }
        g_string_append_printf(out, "%-*s  %-9s ", up, l->up, ratio_text(ratio, l));
        fabric_put_names(out, fabric->net, l->nodes,
                         begin + WIDTH > out->len ? begin + WIDTH - out->len : 1);
        g_string_append_c(out, '\n');
    }
}

/* The sum behind each ratio: "leaf  16 x 100Gbps : 12 x 100Gbps = 1.6Tbps : 1.2Tbps = 4:3". */
static void
put_worst(GString *out, const struct fabric *fabric)
{
    for (unsigned t = 1; t < fabric->counts.n_tiers; t++) {
        const struct topo_tier *tier = &fabric->counts.tier[t];

        if (tier->ratio_up == 0) {
            continue;
        }
        for (guint i = 0; i < fabric->layouts->len; i++) {
            const struct fabric_layout *l =
                &g_array_index(fabric->layouts, struct fabric_layout, i);

            if (l->tier == t && l->ratio_down == tier->ratio_down &&
                l->ratio_up == tier->ratio_up) {
                g_string_append_printf(out, "%-8s%s : %s = ", fabric_tier_name(t),
                                       l->down, l->up);
                fabric_put_rate(out, l->down_bps);
                g_string_append(out, " : ");
                fabric_put_rate(out, l->up_bps);
                g_string_append_printf(out, " = %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT,
                                       l->ratio_down, l->ratio_up);
                if (l->nodes->len < tier->n_nodes) {
                    g_string_append_printf(out, ", the worst (%s)",
                                           fabric->net->nodes[tier->worst_node].name);
                }
                g_string_append_c(out, '\n');
                break;
            }
        }
    }
}

/* ---- links and paths ------------------------------------------------------------------ */

static void
put_links(GString *out, const struct fabric *fabric)
{
    g_string_append_printf(out, "%-14s%8s  %10s  %10s  %10s\n", "links", "count", "rate",
                           "length", "delay");
    for (guint i = 0; i < fabric->links->len; i++) {
        const struct fabric_links *l =
            &g_array_index(fabric->links, struct fabric_links, i);
        g_autofree char *ends = g_strdup_printf("%s-%s", fabric_tier_name(l->tier[0]),
                                                fabric_tier_name(l->tier[1]));
        g_autoptr(GString) length = g_string_new(NULL);
        g_autoptr(GString) delay = g_string_new(NULL);
        char rate[TOPO_TEXT_BYTES];

        fabric_put_length(length, l->length_mm);
        text_time(delay, l->delay_ps);
        g_string_append_printf(out, "%-14s%8" G_GUINT64_FORMAT "  %10s  %10s  %10s\n",
                               ends, l->n, topo_rate_text__(rate, l->rate_bps),
                               length->str, delay->str);
    }
}

static char *
class_text(const struct path_class *c)
{
    if (c->n_links == 0) {
        return g_strdup("no path");
    }
    if (c->n_links == 1) {
        return g_strdup("by a cable");
    }
    return g_strdup_printf(c->n_links == 2 ? "same %s" : "over %s",
                           fabric_tier_name(c->top_tier));
}

static char *
paths_text(const struct path_class *c)
{
    if (c->n_links == 0) {
        return g_strdup("");
    }
    if (c->least_paths == c->most_paths) {
        return g_strdup_printf("%" G_GUINT64_FORMAT, c->n_paths);
    }
    return g_strdup_printf("%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, c->least_paths,
                           c->most_paths);
}

static void
put_paths(GString *out, const struct fabric *fabric)
{
    const struct net *net = fabric->net;
    __int128 n_all = (__int128)net->n_hosts * (net->n_hosts - 1) / 2;

    if (net->n_hosts < 2) {
        return;
    }
    g_string_append_printf(out, "%-13s%6s%10s%12s%13s%14s  %s\n", "paths", "links",
                           "switches", "equal-cost", "RTT of 1 B", "of a packet",
                           "pairs of hosts");
    for (guint i = 0; i < fabric->paths->len; i++) {
        const struct fabric_path *p =
            &g_array_index(fabric->paths, struct fabric_path, i);
        const struct path_class *c = &p->pairs;
        g_autofree char *name = class_text(c), *paths = paths_text(c);
        g_autoptr(GString) byte = g_string_new(NULL);
        g_autoptr(GString) packet = g_string_new(NULL);

        if (p->byte_ps != TIME_NEVER_PS) {
            text_time(byte, p->byte_ps);
            text_time(packet, p->packet_ps);
        }
        g_string_append_printf(out, "%-13s%6u%10u%12s%13s%14s  %" G_GUINT64_FORMAT " (",
                               name, c->n_links, c->n_links ? c->n_links - 1 : 0, paths,
                               byte->str, packet->str, c->n_pairs);
        text_quotient(out, (__int128)c->n_pairs * 100, n_all, 1);
        g_string_append(out, " %)");
        if (c->n_links > 0) {
            g_string_append_printf(out, ", %s-%s",
                                   net->nodes[net->node_of_host[c->host[0]]].name,
                                   net->nodes[net->node_of_host[c->host[1]]].name);
        }
        g_string_append_c(out, '\n');
    }
}

static void
put_bisection(GString *out, const struct fabric *fabric)
{
    const struct bisection *b = &fabric->bisection;

    if (b->full_bps == 0) {
        return;
    }
    g_string_append_printf(out, "bisection   %s",
                           fabric->bisection_is_exact ? "" : "at most ");
    fabric_put_rate(out, b->rate_bps);
    g_string_append_printf(out,
                           " each way between %u host%s and %u; their NICs could send ",
                           b->n_first, b->n_first == 1 ? "" : "s", b->n_second);
    fabric_put_rate(out, b->full_bps);
    g_string_append(out, ": ");
    text_quotient(out, (__int128)b->rate_bps * 100, b->full_bps, 1);
    g_string_append(out, " %\n");
}

/* ---- ranks ---------------------------------------------------------------------------- */

/* A host with its ranks, ascending. */
struct seat {
    uint32_t host, n;
    const uint32_t *ranks;
};

static int
compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The switches of 'host', in order of its NICs, each once. */
static char *
switches_text(const struct net *net, uint32_t host)
{
    const struct net_node *node = &net->nodes[net->node_of_host[host]];
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    /* The newest link first: of what is met again the earlier place counts. */
    for (uint32_t p = 0, link = node->last_link; p < node->n_ports; p++) {
        const struct net_link *l = &net->links[link];
        unsigned e = l->node[0] == net->node_of_host[host] ? 0 : 1;
        const char *name = net->nodes[l->node[!e]].name;

        g_ptr_array_remove(names, (gpointer)name);
        g_ptr_array_insert(names, 0, (gpointer)name);
        link = l->before[e];
    }
    g_ptr_array_add(names, NULL);
    return g_strjoinv(", ", (char **)names->pdata);
}

static bool
is_run(const struct seat *seat)
{
    return seat->ranks[seat->n - 1] - seat->ranks[0] == seat->n - 1;
}

/* Does 'b' go on where 'a' ends: next host, as many ranks, the same switches? */
static bool
goes_on(const struct net *net, const struct seat *a, const struct seat *b)
{
    if (b->host != a->host + 1 || b->n != a->n || !is_run(a) || !is_run(b) ||
        b->ranks[0] != a->ranks[a->n - 1] + 1) {
        return false;
    }
    g_autofree char *x = switches_text(net, a->host), *y = switches_text(net, b->host);

    return strcmp(x, y) == 0;
}

static void
put_rank_list(GString *out, const struct seat *seat)
{
    gsize begin = out->len;

    for (uint32_t i = 0, k; i < seat->n; i = k) {
        for (k = i + 1; k < seat->n && seat->ranks[k] == seat->ranks[k - 1] + 1; k++) {
        }
        if (out->len - begin > MOST_RANKS) {
            g_string_append(out, ", ...");
            return;
        }
        g_string_append_printf(out, k == i + 1 ? "%s%u" : "%s%u .. %u", i ? ", " : "",
                               seat->ranks[i], seat->ranks[k - 1]);
    }
}

/* The hosts that have ranks, in order; struct seat.  'ranks' is room for all ranks. */
static GArray *
find_seats(const struct net *net, const struct fabric_ranks *ranks, uint32_t room[])
{
    GArray *seats = g_array_new(FALSE, FALSE, sizeof(struct seat));
    g_autofree uint32_t *first = g_new0(uint32_t, net->n_hosts + 1);
    g_autofree uint32_t *n = g_new0(uint32_t, net->n_hosts + 1);

    for (uint32_t r = 0; r < ranks->n_ranks; r++) {
        n[ranks->host[r]]++;
    }
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        first[h + 1] = first[h] + n[h];
        n[h] = 0;
    }
    for (uint32_t r = 0; r < ranks->n_ranks; r++) {
        uint32_t h = ranks->host[r];

        room[first[h] + n[h]++] = r;
    }
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct seat seat = {h, n[h], &room[first[h]]};

        if (seat.n > 0) {
            qsort(&room[first[h]], seat.n, sizeof *room, compare_u32);
            g_array_append_val(seats, seat);
        }
    }
    return seats;
}

static void
put_map(GString *out, const struct fabric *fabric, const struct fabric_ranks *ranks)
{
    const struct net *net = fabric->net;
    g_autofree uint32_t *room = g_new(uint32_t, ranks->n_ranks + 1);
    g_autoptr(GArray) seats = find_seats(net, ranks, room);
    guint n_rows = 0;

    g_string_append_printf(out, "ranks       %u on %u hosts: %s\n", ranks->n_ranks,
                           seats->len, ranks->title);
    for (guint i = 0, k; i < seats->len; i = k) {
        const struct seat *seat = &g_array_index(seats, struct seat, i), *last = seat;
        g_autofree char *switches = switches_text(net, seat->host);

        for (k = i + 1; k < seats->len; k++) {
            const struct seat *next = &g_array_index(seats, struct seat, k);

            if (!goes_on(net, last, next)) {
                break;
            }
            last = next;
        }
        if (n_rows++ == MOST_ROWS) {
            g_string_append_printf(out, "  ... and %u more hosts; --json has all\n",
                                   seats->len - i);
            return;
        }
        const char *name = net->nodes[net->node_of_host[seat->host]].name;
        g_autofree char *hosts =
            last == seat
                ? g_strdup(name)
                : g_strdup_printf("%s%s%s", name, k == i + 2 ? ", " : " .. ",
                                  net->nodes[net->node_of_host[last->host]].name);

        g_string_append_printf(out, "  %-20s %-16s ", hosts, switches);
        if (last == seat) {
            put_rank_list(out, seat);
        } else {
            g_string_append_printf(out, "%u .. %u, %u a host", seat->ranks[0],
                                   last->ranks[last->n - 1], seat->n);
        }
        g_string_append_c(out, '\n');
    }
}

/* Which NICs the GPUs have, where all hosts are alike. */
static void
put_gpus(GString *out, const struct fabric *fabric)
{
    const struct net *net = fabric->net;
    uint32_t n_gpus = (uint32_t)fabric->scenario->node.gpus;
    uint32_t n_nics = net->nodes[net->node_of_host[0]].n_ports;

    for (uint32_t h = 1; h < net->n_hosts; h++) {
        if (net->nodes[net->node_of_host[h]].n_ports != n_nics) {
            return;
        }
    }
    if (n_gpus > 1 || n_nics > 1) {
        g_string_append(out, "  of each: ");
        fabric_put_gpu_nics(out, n_gpus, n_nics);
        g_string_append_c(out, '\n');
    }
}

void
fabric_put_text(GString *out, const struct fabric *fabric)
{
    const struct topo_counts *c = &fabric->counts;

    g_string_append_printf(out,
                           "network     %s: %s, %u hosts with %u NICs, %u switch%s, "
                           "%" G_GUINT64_FORMAT " links\n\n",
                           fabric->scenario->name, fabric->scenario->topo->name,
                           c->n_hosts, c->n_nics, c->n_switches,
                           c->n_switches == 1 ? "" : "es", c->n_links);
    put_tiers(out, fabric);
    put_worst(out, fabric);
    g_string_append_c(out, '\n');
    put_links(out, fabric);
    g_string_append_c(out, '\n');
    put_paths(out, fabric);
    g_string_append_c(out, '\n');
    put_bisection(out, fabric);
    for (guint i = 0; i < fabric->ranks->len; i++) {
        put_map(out, fabric, &g_array_index(fabric->ranks, struct fabric_ranks, i));
    }
    put_gpus(out, fabric);
}

/* ---- a node --------------------------------------------------------------------------- */

/* Hosts that are alike inside. */
struct node_kind_row {
    uint32_t n_nics;
    const char *profile; /* borrowed */
    GArray *hosts;       /* node ids, owned */
    char *rates;         /* owned */
};

static void
row_clear(void *data)
{
    struct node_kind_row *row = data;

    g_array_unref(row->hosts);
    g_free(row->rates);
}

static GArray *
find_rows(const struct fabric *fabric)
{
    const struct net *net = fabric->net;
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct node_kind_row));

    g_array_set_clear_func(rows, row_clear);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        uint32_t id = net->node_of_host[h];
        const struct net_node *node = &net->nodes[id];
        const char *profile = scenario_nic_profile(fabric->scenario, node->name);
        g_autoptr(GArray) rates = g_array_new(FALSE, FALSE, sizeof(int64_t));
        struct node_kind_row *row = NULL;

        for (uint32_t p = 0; p < node->n_ports; p++) {
            g_array_append_val(rates, net->ports[node->first_port + p].rate_bps);
        }
        g_autofree char *text = fabric_rates_text(rates);

        for (guint i = 0; i < rows->len && row == NULL; i++) {
            struct node_kind_row *r = &g_array_index(rows, struct node_kind_row, i);

            row = strcmp(r->rates, text) == 0 && strcmp(r->profile, profile) == 0 ? r
                                                                                  : NULL;
        }
        if (row == NULL) {
            struct node_kind_row new = {.n_nics = node->n_ports,
                                        .profile = profile,
                                        .hosts =
                                            g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                                        .rates = g_steal_pointer(&text)};

            g_array_append_val(rows, new);
            row = &g_array_index(rows, struct node_kind_row, rows->len - 1);
        }
        g_array_append_val(row->hosts, id);
    }
    return rows;
}

void
fabric_put_node(GString *out, const struct fabric *fabric)
{
    const struct scenario_node *node = &fabric->scenario->node;
    g_autoptr(GArray) rows = find_rows(fabric);

    for (guint i = 0; i < rows->len; i++) {
        const struct node_kind_row *row = &g_array_index(rows, struct node_kind_row, i);
        g_autoptr(GString) latency = g_string_new(NULL);
        char rate[TOPO_TEXT_BYTES];

        text_time(latency, node->pipe_latency_ps);
        g_string_append_printf(out, "%shosts       %u: ", i ? "\n" : "", row->hosts->len);
        fabric_put_names(out, fabric->net, row->hosts, WIDTH - 20);
        g_string_append_printf(out, "\ngpus        %" G_GINT64_FORMAT "\n", node->gpus);
        g_string_append_printf(out, "nics        %s, %s\n", row->rates, row->profile);
        g_string_append(out, "gpu to nic  ");
        fabric_put_gpu_nics(out, (uint32_t)node->gpus, row->n_nics);
        g_string_append_printf(out, "\npipes       ");
        if (node->gpus == 1) {
            g_string_append(out, "none: one GPU\n");
        } else {
            g_string_append_printf(out, "between GPUs %s each way, latency %s\n",
                                   node->pipe_rate_bps
                                       ? topo_rate_text__(rate, node->pipe_rate_bps)
                                       : "in no time",
                                   latency->str);
        }
    }
}
