/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topo.c - the registry of topologies, routes, counts, and what building one needs.
 * Set-up code: nothing here runs per packet.
 *
 * Routes: a breadth-first search over switches from each switch that has NICs; every NIC
 * there is reached in the same way by all others, so the cost does not grow with hosts.
 */
#include <config.h>

#include "topologies/topo.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/forest.h"
#include "topologies/wiring.h"

#define TOPO(name) extern const struct topo_ops topo_##name##_ops;
#include "topologies/topo_list.def"
#undef TOPO

const struct topo_ops *const topo_list[] = {
#define TOPO(name) &topo_##name##_ops,
#include "topologies/topo_list.def"
#undef TOPO
    NULL,
};

/* What a search needs. */
struct search {
    const struct net *net;
    const struct wiring *wiring;
    struct route_table **tables;
    uint32_t
        *distance;   /* by node: links to the switch searched from; UINT32_MAX: unknown */
    uint32_t *queue; /* nodes found */
    uint32_t *nics;  /* at the switch searched from */
    uint16_t *ports; /* next hops of one switch */
    uint32_t *peers; /* the nodes they lead to */
    uint32_t *rank;  /* by node: place in 'queue' */
    bool turned;     /* some switch wants next hops by descending node */
};

static gboolean
set_route(struct search *search, uint32_t node, uint32_t nic, const uint16_t ports[],
          uint16_t n, GError **error)
{
    if (!route_table_set(search->tables[search->net->nodes[node].index], nic, ports, n)) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                    "topology: '%s' needs more than %d different sets of next hops",
                    search->net->nodes[node].name, ROUTE_NONE);
        return FALSE;
    }
    return TRUE;
}

/* NICs at switch 'root', '*n' of them: the switch itself reaches each by its port. */
static gboolean
route_own_nics(struct search *search, uint32_t root, uint32_t *n, GError **error)
{
    const struct wiring *wiring = search->wiring;

    *n = 0;
    for (uint32_t i = wiring->first[root]; i < wiring->first[root + 1]; i++) {
        const struct wiring_end *end = &wiring->ends[i];

        if (search->net->nodes[end->peer].kind == NODE_HOST) {
            uint32_t nic = wiring->nic_of_node[end->peer] + end->peer_port;

            search->nics[(*n)++] = nic;
            if (!set_route(search, root, nic, &end->port, 1, error)) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

static int
descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x < y) - (x > y);
}

/* Orders the 'n' next hops of a switch as their nodes stand in the queue.  Where nodes found
 * from one are queued by descending id, that is the order in which a search that looks at
 * neighbours so finds them: by descending id among spines.  Parallel links keep theirs. */
static void
order_hops(struct search *search, uint16_t n)
{
    for (uint16_t i = 1; i < n; i++) {
        uint16_t port = search->ports[i], k = i;
        uint32_t peer = search->peers[i];

        for (; k > 0 && search->rank[search->peers[k - 1]] > search->rank[peer]; k--) {
            search->ports[k] = search->ports[k - 1];
            search->peers[k] = search->peers[k - 1];
        }
        search->ports[k] = port;
        search->peers[k] = peer;
    }
}

/* Next hops of 'node', which has been found; what lies behind it goes into the queue. */
static uint16_t
look_around(struct search *search, uint32_t node, uint32_t *n_queue)
{
    const struct wiring *wiring = search->wiring;
    uint32_t *distance = search->distance;
    uint32_t before = *n_queue;
    uint16_t n = 0;

    for (uint32_t i = wiring->first[node]; i < wiring->first[node + 1]; i++) {
        const struct wiring_end *end = &wiring->ends[i];

        if (search->net->nodes[end->peer].kind == NODE_HOST) {
            continue;
        }
        if (distance[end->peer] == UINT32_MAX) {
            distance[end->peer] = distance[node] + 1;
            search->queue[(*n_queue)++] = end->peer;
        } else if (distance[end->peer] + 1 == distance[node]) {
            search->peers[n] = end->peer;
            search->ports[n++] = end->port;
        }
    }
    if (search->turned) {
        qsort(&search->queue[before], *n_queue - before, sizeof *search->queue,
              descending);
        for (uint32_t i = before; i < *n_queue; i++) {
            search->rank[search->queue[i]] = i;
        }
        if (search->net->switch_params[search->net->nodes[node].index].next_hops ==
            NEXT_HOPS_DESCENDING) {
            order_hops(search, n);
        }
    }
    return n;
}

/* Routes of all switches to the NICs at 'root'. */
static gboolean
route_to(struct search *search, uint32_t root, GError **error)
{
    uint32_t n_nics, n_queue = 1;

    if (!route_own_nics(search, root, &n_nics, error)) {
        return FALSE;
    }
    if (n_nics == 0) {
        return TRUE;
    }
    memset(search->distance, 0xff, search->net->n_nodes * sizeof *search->distance);
    search->distance[root] = 0;
    search->queue[0] = root;
    search->rank[root] = 0;
    look_around(search, root, &n_queue);
    for (uint32_t at = 1; at < n_queue; at++) {
        uint32_t node = search->queue[at];
        uint16_t n_ports = look_around(search, node, &n_queue);
        struct route_table *table = search->tables[search->net->nodes[node].index];

        if (!set_route(search, node, search->nics[0], search->ports, n_ports, error)) {
            return FALSE;
        }
        for (uint32_t k = 1; k < n_nics; k++) {
            route_table_set_like(table, search->nics[k], search->nics[0]);
        }
    }
    return TRUE;
}

static gboolean
route_to_all(const struct net *net, const struct wiring *wiring,
             struct route_table *tables[], GError **error)
{
    g_autofree uint32_t *distance = g_new(uint32_t, net->n_nodes + 1);
    g_autofree uint32_t *queue = g_new(uint32_t, net->n_nodes + 1);
    g_autofree uint32_t *nics = g_new(uint32_t, wiring->n_nics + 1);
    g_autofree uint16_t *ports = g_new(uint16_t, UINT16_MAX);
    g_autofree uint32_t *peers = g_new(uint32_t, UINT16_MAX);
    g_autofree uint32_t *rank = g_new0(uint32_t, net->n_nodes + 1);
    struct search search = {.net = net,
                            .wiring = wiring,
                            .tables = tables,
                            .distance = distance,
                            .queue = queue,
                            .nics = nics,
                            .ports = ports,
                            .peers = peers,
                            .rank = rank};

    for (uint32_t s = 0; net->switch_params && s < net->n_switches; s++) {
        search.turned |= net->switch_params[s].next_hops == NEXT_HOPS_DESCENDING;
    }
    for (uint32_t s = 0; s < net->n_switches; s++) {
        if (!route_to(&search, net->node_of_switch[s], error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Fills 'island' for each NIC: equal for two that packets can go between. */
static void
find_islands(const struct net *net, const struct wiring *wiring, uint32_t *island)
{
    uint32_t n = wiring->n_nics + net->n_switches;
    g_autofree uint32_t *parent = g_new(uint32_t, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        parent[i] = i;
    }
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        for (uint32_t i = wiring->first[node]; i < wiring->first[node + 1]; i++) {
            const struct wiring_end *end = &wiring->ends[i];
            uint32_t here = net->nodes[node].kind == NODE_HOST
                                ? wiring->nic_of_node[node] + end->port
                                : wiring->n_nics + net->nodes[node].index;
            uint32_t there = net->nodes[end->peer].kind == NODE_HOST
                                 ? wiring->nic_of_node[end->peer] + end->peer_port
                                 : wiring->n_nics + net->nodes[end->peer].index;

            forest_join(parent, here, there);
        }
    }
    for (uint32_t i = 0; i < wiring->n_nics; i++) {
        island[i] = forest_root(parent, i);
    }
}

static int
compare_islands(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* A host and the islands its NICs are on: 'n' ascending numbers. */
struct landing {
    uint32_t host, n;
    const uint32_t *islands; /* borrowed */
};

static guint
landing_hash(gconstpointer key)
{
    const struct landing *landing = key;
    guint h = landing->n;

    for (uint32_t i = 0; i < landing->n; i++) {
        h = h * 31 + landing->islands[i];
    }
    return h;
}

static gboolean
landing_equal(gconstpointer a, gconstpointer b)
{
    const struct landing *x = a, *y = b;

    return x->n == y->n && memcmp(x->islands, y->islands, x->n * sizeof *x->islands) == 0;
}

static bool
landings_meet(const struct landing *a, const struct landing *b)
{
    for (uint32_t i = 0, k = 0; i < a->n && k < b->n;) {
        if (a->islands[i] == b->islands[k]) {
            return true;
        }
        if (a->islands[i] < b->islands[k]) {
            i++;
        } else {
            k++;
        }
    }
    return false;
}

/* The first host of each different list of islands; 'island' is sorted by host. */
static GArray *
find_landings(const struct net *net, const struct wiring *wiring, uint32_t *island)
{
    GArray *landings =
        g_array_sized_new(FALSE, FALSE, sizeof(struct landing), net->n_hosts);
    g_autoptr(GHashTable) seen = g_hash_table_new(landing_hash, landing_equal);

    for (uint32_t h = 0; h < net->n_hosts; h++) {
        uint32_t first = wiring->nic_of_node[net->node_of_host[h]];
        uint32_t end = h + 1 < net->n_hosts
                           ? wiring->nic_of_node[net->node_of_host[h + 1]]
                           : wiring->n_nics;
        struct landing landing = {.host = h, .n = end - first, .islands = &island[first]};

        qsort(&island[first], landing.n, sizeof *island, compare_islands);
        if (!g_hash_table_contains(seen, &landing)) {
            g_array_append_val(landings, landing); /* room is reserved: nothing moves */
            g_hash_table_add(seen,
                             &g_array_index(landings, struct landing, landings->len - 1));
        }
    }
    return landings;
}

/* Rates of the links of a node to lower and higher tiers. */
struct rates {
    __int128 down, up;
};

static void
count_end(struct topo_counts *counts, struct rates *rates, uint8_t tier,
          uint8_t peer_tier, int64_t rate_bps)
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

/* Ports of node 'sw' whose links lead to node 'via', up or down: those of a route that is
 * given by hand. */
static uint16_t
ports_towards(const struct net *net, uint32_t sw, uint32_t via, uint16_t ports[],
              uint16_t n)
{
    uint16_t port = 0;

    for (uint32_t i = 0; i < net->n_links; i++) {
        const uint32_t *node = net->links[i].node;

        if (node[0] != sw && node[1] != sw) {
            continue;
        }
        if ((node[0] == sw ? node[1] : node[0]) == via) {
            ports[n++] = port;
        }
        port++;
    }
    return n;
}

static int
compare_ports(const void *a, const void *b)
{
    uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;

    return (x > y) - (x < y);
}

/* Sets the route number 'index' of those given by hand, with all others of its switch and
 * host; the first one of these does it for all. */
static gboolean
set_given_route(const struct net *net, const struct wiring *wiring, uint32_t index,
                struct route_table *tables[], GError **error)
{
    const struct net_route *route = &net->given_routes[index];
    uint32_t sw = net->node_of_switch[route->sw], host = net->node_of_host[route->host];
    g_autofree uint16_t *ports = g_new(uint16_t, net->nodes[sw].n_ports + 1);
    uint16_t n = 0;

    for (uint32_t i = 0; i < net->n_given_routes; i++) {
        const struct net_route *other = &net->given_routes[i];

        if (other->sw == route->sw && other->host == route->host) {
            if (i < index) {
                return TRUE;
            }
            n = ports_towards(net, sw, other->via, ports, n);
        }
    }
    qsort(ports, n, sizeof *ports, compare_ports);
    for (uint32_t k = 0; k < net->nodes[host].n_ports; k++) {
        if (!route_table_set(tables[route->sw], wiring->nic_of_node[host] + k, ports,
                             n)) {
            g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                        "topology.routes[%u]: '%s' needs more than %d different sets of "
                        "next hops",
                        index, net->nodes[sw].name, ROUTE_NONE);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
set_given_routes(const struct net *net, const struct wiring *wiring,
                 struct route_table *tables[], GError **error)
{
    for (uint32_t i = 0; i < net->n_given_routes; i++) {
        if (!set_given_route(net, wiring, i, tables, error)) {
            return FALSE;
        }
    }
    return TRUE;
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

gboolean
topo_route_tables(const struct net *net, const bool link_down[],
                  struct route_table *tables[], GError **error)
{
    struct wiring wiring;
    gboolean ok = FALSE;

    wiring_init(&wiring, net, link_down);
    if ((int64_t)wiring.n_nics * net->n_switches > TOPO_MAX_ROUTES) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                    "topology: switches %u x NICs %u = %" PRId64
                    " routes; allowed up to %" PRId64,
                    net->n_switches, wiring.n_nics,
                    (int64_t)wiring.n_nics * net->n_switches, TOPO_MAX_ROUTES);
    } else {
        for (uint32_t s = 0; s < net->n_switches; s++) {
            tables[s] = route_table_new(wiring.n_nics);
        }
        ok = route_to_all(net, &wiring, tables, error) &&
             set_given_routes(net, &wiring, tables, error);
        for (uint32_t s = 0; !ok && s < net->n_switches; s++) {
            route_table_free(tables[s]);
            tables[s] = NULL;
        }
    }
    wiring_clear(&wiring);
    return ok;
}

gboolean
topo_routes(struct net *net, const bool link_down[], GError **error)
{
    g_autofree struct route_table **tables =
        g_new0(struct route_table *, net->n_switches + 1);

    if ((!link_down && !topo_check_connected(net, error)) ||
        !topo_route_tables(net, link_down, tables, error)) {
        return FALSE;
    }
    for (uint32_t s = 0; s < net->n_switches; s++) {
        net_set_routes(net, s, tables[s]);
    }
    return TRUE;
}

gboolean
topo_check_connected(const struct net *net, GError **error)
{
    struct wiring wiring;

    wiring_init(&wiring, net, NULL);
    g_autofree uint32_t *island = g_new(uint32_t, wiring.n_nics + 1);

    find_islands(net, &wiring, island);
    /* Several islands are fine when hosts have NICs on all of them, as where each rail is
     * a network of its own. */
    g_autoptr(GArray) landings = find_landings(net, &wiring, island);

    wiring_clear(&wiring);
    for (uint32_t i = 0; i < landings->len; i++) {
        for (uint32_t k = i + 1; k < landings->len; k++) {
            const struct landing *a = &g_array_index(landings, struct landing, i);
            const struct landing *b = &g_array_index(landings, struct landing, k);

            if (!landings_meet(a, b)) {
                g_set_error(error, TOPO_ERROR, TOPO_ERROR_UNCONNECTED,
                            "topology: there is no path between '%s' and '%s'",
                            net->nodes[net->node_of_host[a->host]].name,
                            net->nodes[net->node_of_host[b->host]].name);
                return FALSE;
            }
        }
    }
    return TRUE;
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
