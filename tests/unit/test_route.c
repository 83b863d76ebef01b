/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_route.c - route tables, and what a topology puts into them: against next hops
 * found one pair at a time on random graphs, with links down, and along whole paths.
 */
#include <config.h>

#include "models/switch/route.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "models/cc/cc.h"
#include "models/net.h"
#include "sim/rng.h"
#include "topologies/topo.h"

#define G INT64_C(1000000000)

/* ---- a table ---- */

static void
assert_set(const struct route_table *table, uint32_t nic, const uint16_t *ports,
           uint16_t n)
{
    uint16_t got;
    const uint16_t *set = route_table_get(table, nic, &got);

    assert_int_equal(got, n);
    for (uint16_t i = 0; i < n; i++) {
        assert_int_equal(set[i], ports[i]);
    }
}

static void
test_equal_sets_are_shared(void **state)
{
    struct route_table *table = route_table_new(5);
    const uint16_t two[] = {3, 4}, longer[] = {3, 4, 5}, one[] = {3};
    uint16_t n;

    (void)state;
    assert_true(route_table_set(table, 0, two, 2));
    assert_true(route_table_set(table, 1, longer, 3));
    assert_true(route_table_set(table, 2, two, 2));
    assert_true(route_table_set(table, 3, one, 1));
    assert_int_equal(table->n_sets, 3);
    assert_int_equal(table->n_ports, 6);
    assert_set(table, 0, two, 2);
    assert_set(table, 1, longer, 3);
    assert_set(table, 2, two, 2);
    assert_set(table, 3, one, 1);
    assert_null(route_table_get(table, 4, &n));
    assert_int_equal(n, 0);
    assert_int_equal(route_pick(table, 4, 1, 2), ROUTE_NONE);
    assert_int_equal(route_pick(table, 3, 1, 2), 3);
    route_table_set_like(table, 4, 1);
    assert_set(table, 4, longer, 3);
    assert_true(route_table_set(table, 4, one, 1)); /* changed again */
    assert_set(table, 4, one, 1);
    route_table_free(table);
    route_table_free(NULL);
}

static void
test_a_full_table_refuses(void **state)
{
    struct route_table *table = route_table_new(ROUTE_NONE + 2u);
    uint32_t n = 0;
    uint16_t ports[2];

    (void)state;
    for (uint16_t a = 0; n < ROUTE_NONE; a++) {
        for (uint16_t b = (uint16_t)(a + 1); b < 400 && n < ROUTE_NONE; b++) {
            ports[0] = a, ports[1] = b;
            assert_true(route_table_set(table, n++, ports, 2));
        }
    }
    assert_int_equal(table->n_sets, ROUTE_NONE);
    ports[0] = 500, ports[1] = 501;
    assert_false(route_table_set(table, n, ports, 2));
    assert_int_equal(route_pick(table, n, 0, 0), ROUTE_NONE);
    ports[0] = 0, ports[1] = 1;
    assert_true(route_table_set(table, n, ports, 2)); /* a set that is there already */
    assert_set(table, n, ports, 2);
    n = 0;
    for (uint16_t a = 0; n < ROUTE_NONE; a++) {
        for (uint16_t b = (uint16_t)(a + 1); b < 400 && n < ROUTE_NONE; b++) {
            ports[0] = a, ports[1] = b;
            assert_set(table, n++, ports, 2);
        }
    }
    route_table_free(table);
}

static void
test_pick_is_a_member_and_spreads(void **state)
{
    struct route_table *table = route_table_new(1);
    const uint16_t ports[] = {2, 3, 5, 7, 11};
    uint32_t hits[12] = {0};

    (void)state;
    route_table_set(table, 0, ports, 5);
    for (uint32_t flow = 0; flow < 50000; flow++) {
        uint32_t hash =
            route_flow_hash(flow, flow + 1, (uint16_t)(0xC000 + flow), 4791, 17);
        uint16_t port = route_pick(table, 0, hash, 77);

        assert_true(port < 12);
        assert_int_equal(route_pick(table, 0, hash, 77), port);
        hits[port]++;
    }
    for (unsigned i = 0; i < 5; i++) {
        /* 10,000 expected; the standard deviation is 89. */
        assert_in_range(hits[ports[i]], 9600, 10400);
    }
    assert_int_equal(hits[2] + hits[3] + hits[5] + hits[7] + hits[11], 50000);
    route_table_free(table);
}

/* ---- routes of a network ---- */

struct lab {
    struct net *net;
    struct route_table **tables; /* owned */
    uint32_t *nic_of_host;       /* owned: n_hosts + 1 */
    uint16_t *port[2];           /* owned: of each link, at its ends */
    bool *down;                  /* owned */
};

/* Numbers ports and NICs of 'net' by counting, which is what net_build() must do too. */
static struct lab
lab_new(struct net *net)
{
    struct lab lab = {.net = net};
    g_autofree uint16_t *used = g_new0(uint16_t, net->n_nodes);

    lab.tables = g_new0(struct route_table *, net->n_switches + 1);
    lab.nic_of_host = g_new0(uint32_t, net->n_hosts + 1);
    lab.port[0] = g_new0(uint16_t, net->n_links + 1);
    lab.port[1] = g_new0(uint16_t, net->n_links + 1);
    lab.down = g_new0(bool, net->n_links + 1);
    for (uint32_t i = 0; i < net->n_links; i++) {
        lab.port[0][i] = used[net->links[i].node[0]]++;
        lab.port[1][i] = used[net->links[i].node[1]]++;
    }
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        lab.nic_of_host[h + 1] = lab.nic_of_host[h] + used[net->node_of_host[h]];
    }
    return lab;
}

static void
lab_clear_tables(struct lab *lab)
{
    for (uint32_t s = 0; s < lab->net->n_switches; s++) {
        route_table_free(lab->tables[s]);
        lab->tables[s] = NULL;
    }
}

static void
lab_clear(struct lab *lab)
{
    lab_clear_tables(lab);
    g_free(lab->tables);
    g_free(lab->nic_of_host);
    g_free(lab->port[0]);
    g_free(lab->port[1]);
    g_free(lab->down);
    net_free(lab->net);
}

static void
lab_route(struct lab *lab)
{
    GError *error = NULL;

    lab_clear_tables(lab);
    if (!topo_route_tables(lab->net, lab->down, lab->tables, &error)) {
        fail_msg("%s", error->message);
    }
}

static struct lab
leafspine_lab(int64_t leaves, int64_t hosts_per_leaf, int64_t spines, int64_t uplinks,
              int64_t nics)
{
    struct topo_input input = {.nics_per_host = nics,
                               .host_link = {.rate_bps = 100 * G},
                               .fabric_link = {.rate_bps = 100 * G}};
    struct topo_leafspine p = {.hosts = TOPO_UNSET,
                               .leaves = leaves,
                               .hosts_per_leaf = hosts_per_leaf,
                               .spines = spines,
                               .uplinks_per_leaf = uplinks,
                               .oversubscription = TOPO_UNSET};
    struct net *net = net_new(1);

    assert_true(topo_find("leaf-spine")->resolve(&p, &input, NULL));
    topo_find("leaf-spine")->build(net, &p, &input);
    return lab_new(net);
}

static void
lab_down(struct lab *lab, const char *link)
{
    uint32_t i = net_find_link(lab->net, link);

    assert_int_not_equal(i, UINT32_MAX);
    lab->down[i] = true;
}

static const struct route_table *
table_of(const struct lab *lab, const char *name)
{
    return lab->tables[lab->net->nodes[net_find_node(lab->net, name)].index];
}

static void
test_leafspine_routes(void **state)
{
    /* 4 hosts x 2 NICs on ports 0 to 7 of a leaf, 2 links to each of 3
     * spines on 8 to 13. */
    struct lab lab = leafspine_lab(3, 4, 3, 6, 2);
    const uint16_t uplinks[] = {8, 9, 10, 11, 12, 13}, to_leaf1[] = {2, 3};

    (void)state;
    lab_route(&lab);
    for (uint32_t nic = 0; nic < 24; nic++) {
        uint16_t own = (uint16_t)(nic - 8);

        if (nic / 8 == 1) {
            assert_set(table_of(&lab, "leaf1"), nic, &own, 1);
            assert_set(table_of(&lab, "spine2"), nic, to_leaf1, 2);
        } else {
            assert_set(table_of(&lab, "leaf1"), nic, uplinks, 6);
        }
    }
    assert_int_equal(table_of(&lab, "leaf1")->n_sets, 9);
    lab_clear(&lab);
}

static void
test_links_down_are_avoided(void **state)
{
    struct lab lab = leafspine_lab(3, 2, 2, 4, 1);
    const uint16_t all[] = {2, 3, 4, 5}, but_one[] = {2, 4, 5}, spine0[] = {2, 3};
    const uint16_t one[] = {1}, both[] = {0, 1};

    (void)state;
    lab_down(&lab, "leaf0-spine0#2");
    lab_route(&lab);
    assert_set(table_of(&lab, "leaf0"), 2, but_one, 3);
    assert_set(table_of(&lab, "leaf1"), 0, all, 4); /* spine0 still has a link to leaf0 */
    assert_set(table_of(&lab, "spine0"), 0, both, 1);
    assert_set(table_of(&lab, "spine1"), 0, both, 2);

    lab_down(&lab, "spine1-leaf0#1"); /* either end first */
    lab_down(&lab, "leaf0-spine1#2");
    lab_route(&lab);
    assert_set(table_of(&lab, "leaf0"), 2, spine0, 1);
    assert_set(table_of(&lab, "leaf1"), 0, spine0, 2); /* not by spine1 */
    assert_set(table_of(&lab, "leaf1"), 4, all, 4);    /* leaf2 has both */
    assert_set(table_of(&lab, "spine1"), 0, (const uint16_t[]){2, 3, 4, 5},
               4); /* back down */

    lab_down(&lab, "leaf0-spine0#1");
    lab_route(&lab);
    assert_set(table_of(&lab, "leaf0"), 2, NULL, 0);
    assert_set(table_of(&lab, "leaf1"), 0, NULL, 0);
    assert_set(table_of(&lab, "leaf0"), 1, one, 1);

    lab_down(&lab, "host1-leaf0");
    lab_route(&lab);
    assert_set(table_of(&lab, "leaf0"), 1, NULL, 0);
    assert_set(table_of(&lab, "leaf0"), 0, (const uint16_t[]){0}, 1);
    lab_clear(&lab);
}

static struct lab
random_lab(uint64_t key)
{
    uint32_t n_switches = 1 + (uint32_t)rng_below(key, 0, 12);
    uint32_t n_hosts = 1 + (uint32_t)rng_below(key, 1, 10);
    uint32_t n_links = (uint32_t)rng_below(key, 2, 3 * n_switches + 1);
    struct net *net = net_new(1);
    const struct link_params params = {.rate_bps = 100 * G};
    uint64_t n = 3;
    char name[16];

    /* Hosts and switches in mixed order, so that ids of nodes and of kinds differ. */
    for (uint32_t i = 0; i < n_switches + n_hosts; i++) {
        bool is_host = net->n_switches == n_switches ||
                       (net->n_hosts < n_hosts && rng_below(key, n++, 2));

        snprintf(name, sizeof name, "n%u", i);
        if (is_host) {
            net_add_host(net, name, i);
        } else {
            net_add_switch(net, name, i, 1);
        }
    }
    for (uint32_t i = 0; i < n_links; i++) {
        uint32_t a = (uint32_t)rng_below(key, n++, n_switches);
        uint32_t b = (uint32_t)rng_below(key, n++, n_switches);

        if (a != b) {
            net_add_link(net, net->node_of_switch[a], net->node_of_switch[b], &params);
        }
    }
    for (uint32_t h = 0; h < n_hosts; h++) {
        for (uint64_t nics = 1 + rng_below(key, n++, 3); nics > 0; nics--) {
            uint32_t s = net->node_of_switch[rng_below(key, n++, n_switches)];
            uint32_t host = net->node_of_host[h], other;

            other = net->node_of_host[rng_below(key, n++, n_hosts)];
            if (other != host && rng_below(key, n++, 8) == 0) {
                net_add_link(net, host, other, &params);
            } else if (rng_below(key, n++, 2)) {
                net_add_link(net, host, s, &params);
            } else {
                net_add_link(net, s, host, &params);
            }
        }
    }
    struct lab lab = lab_new(net);

    for (uint32_t i = 0; i < net->n_links; i++) {
        lab.down[i] = rng_below(key, n++, 10) == 0;
    }
    return lab;
}

/* Links between switch 'a' and all others by relaxing every link until
 * nothing changes. */
static void
distances(const struct lab *lab, uint32_t a, uint32_t *distance)
{
    const struct net *net = lab->net;
    bool again = true;

    for (uint32_t i = 0; i < net->n_nodes; i++) {
        distance[i] = i == a ? 0 : 1000000;
    }
    while (again) {
        again = false;
        for (uint32_t i = 0; i < net->n_links; i++) {
            for (unsigned e = 0; e < 2; e++) {
                uint32_t from = net->links[i].node[e], to = net->links[i].node[1 - e];

                if (!lab->down[i] && net->nodes[from].kind == NODE_SWITCH &&
                    net->nodes[to].kind == NODE_SWITCH &&
                    distance[to] > distance[from] + 1) {
                    distance[to] = distance[from] + 1;
                    again = true;
                }
            }
        }
    }
}

/* Next hops of switch node 'at' to 'host' on its port 'nic_port', found link by link. */
static uint16_t
expected_hops(const struct lab *lab, uint32_t at, uint32_t host, uint16_t nic_port,
              uint16_t *ports)
{
    const struct net *net = lab->net;
    g_autofree uint32_t *distance = g_new(uint32_t, net->n_nodes);
    uint32_t last = UINT32_MAX;
    uint16_t n = 0, last_port = 0;

    for (uint32_t i = 0; i < net->n_links; i++) {
        for (unsigned e = 0; e < 2; e++) {
            if (net->links[i].node[e] == host && lab->port[e][i] == nic_port &&
                !lab->down[i] &&
                net->nodes[net->links[i].node[1 - e]].kind == NODE_SWITCH) {
                last = net->links[i].node[1 - e];
                last_port = lab->port[1 - e][i];
            }
        }
    }
    if (last == UINT32_MAX) {
        return 0;
    }
    if (last == at) {
        ports[0] = last_port;
        return 1;
    }
    distances(lab, last, distance);
    for (uint32_t i = 0; i < net->n_links && distance[at] < 1000000; i++) {
        for (unsigned e = 0; e < 2; e++) {
            uint32_t to = net->links[i].node[1 - e];

            if (net->links[i].node[e] == at && !lab->down[i] &&
                net->nodes[to].kind == NODE_SWITCH && distance[to] + 1 == distance[at]) {
                ports[n++] = lab->port[e][i];
            }
        }
    }
    return n;
}

static void
test_random_graphs_against_brute_force(void **state)
{
    uint32_t n_sets = 0, n_several = 0, n_none = 0;

    (void)state;
    for (uint64_t round = 0; round < 150; round++) {
        struct lab lab = random_lab(rng_key(round, "test_route", "graph"));
        const struct net *net = lab.net;

        lab_route(&lab);
        for (uint32_t s = 0; s < net->n_switches; s++) {
            for (uint32_t h = 0; h < net->n_hosts; h++) {
                for (uint32_t nic = lab.nic_of_host[h]; nic < lab.nic_of_host[h + 1];
                     nic++) {
                    uint16_t ports[256];
                    uint16_t n =
                        expected_hops(&lab, net->node_of_switch[s], net->node_of_host[h],
                                      (uint16_t)(nic - lab.nic_of_host[h]), ports);

                    assert_set(lab.tables[s], nic, ports, n);
                    n_sets++, n_several += n > 1, n_none += n == 0;
                }
            }
        }
        lab_clear(&lab);
    }
    /* The graphs were worth looking at. */
    assert_true(n_sets > 10000 && n_several > n_sets / 20 && n_none > n_sets / 20);
    assert_true(n_none < n_sets / 2);
}

/* Node behind 'port' of 'node'. */
static uint32_t
neighbour(const struct lab *lab, uint32_t node, uint16_t port)
{
    for (uint32_t i = 0; i < lab->net->n_links; i++) {
        for (unsigned e = 0; e < 2; e++) {
            if (lab->net->links[i].node[e] == node && lab->port[e][i] == port) {
                assert_false(lab->down[i]);
                return lab->net->links[i].node[1 - e];
            }
        }
    }
    fail();
    return 0;
}

static void
test_every_path_leads_there(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 40; round++) {
        struct lab lab = random_lab(rng_key(round, "test_route", "walk"));
        const struct net *net = lab.net;

        lab_route(&lab);
        for (uint32_t s = 0; s < net->n_switches; s++) {
            for (uint32_t h = 0; h < net->n_hosts; h++) {
                for (uint32_t nic = lab.nic_of_host[h]; nic < lab.nic_of_host[h + 1];
                     nic++) {
                    uint32_t at = net->node_of_switch[s], hops = 0;
                    uint16_t n;

                    if (!route_table_get(lab.tables[s], nic, &n)) {
                        continue;
                    }
                    /* Each switch picks on its own: any member may be taken. */
                    while (net->nodes[at].kind == NODE_SWITCH) {
                        const struct route_table *table =
                            lab.tables[net->nodes[at].index];

                        at = neighbour(&lab, at,
                                       route_pick(table, nic, (uint32_t)round, hops++));
                        assert_true(hops <= net->n_switches);
                    }
                    assert_int_equal(at, net->node_of_host[h]);
                }
            }
        }
        lab_clear(&lab);
    }
}

/* net_build() numbers NICs and ports as the routes do. */
static void
test_numbers_are_those_of_the_built_network(void **state)
{
    const struct cc_ops *cc = cc_find("none");
    const struct net_qos qos = {.name = "roce", .dscp = 26, .cls = 3, .weight = 1};
    const struct nic_params nic = {.mtu_bytes = 4096, .ack_every = 1, .ip = 4};
    const struct switch_params sw = {.buffer_bytes = 1 << 30,
                                     .alpha_q32 = PARAM_ONE,
                                     .headroom_bytes = HEADROOM_COMPUTED,
                                     .xon_bytes = XON_COMPUTED,
                                     .hash_seed = -1};
    const struct ecn_params ecn = {.kmin_bytes = 1, .kmax_bytes = 2};

    (void)state;
    for (uint64_t round = 0; round < 10; round++) {
        struct lab lab = random_lab(rng_key(round, "test_route", "built"));
        struct net *net = lab.net;
        GError *error = NULL;

        net_add_qos(net, &qos);
        net_set_params(net, &nic, &sw, &ecn);
        net_set_cc(net, cc, NULL);
        if (!net_build(net, NULL, &error)) {
            fail_msg("%s", error->message);
        }
        assert_true(topo_routes(net, lab.down, &error));
        for (uint32_t h = 0; h < net->n_hosts; h++) {
            assert_int_equal(net->nic_of_host[h], lab.nic_of_host[h]);
        }
        assert_int_equal(net->n_nics, lab.nic_of_host[net->n_hosts]);
        for (uint32_t i = 0; i < net->n_links; i++) {
            for (unsigned e = 0; e < 2; e++) {
                assert_int_equal(net->ports[net->links[i].port[e]].index, lab.port[e][i]);
            }
        }
        for (uint32_t s = 0; s < net->n_switches; s++) {
            assert_int_equal(net->switches[s].routes->n_nics, net->n_nics);
        }
        /* A NIC with its link up is reached from the switch it is plugged into. */
        for (uint32_t k = 0; k < net->n_nics; k++) {
            const struct port *peer = &net->ports[net->nics[k].port->peer];
            const struct fabric_switch *at = peer->owner;

            for (uint32_t i = 0; i < net->n_links && !peer->is_nic; i++) {
                if ((net->links[i].port[0] == peer->id ||
                     net->links[i].port[1] == peer->id)) {
                    assert_int_equal(route_pick(at->routes, k, 1, 2),
                                     lab.down[i] ? ROUTE_NONE : peer->index);
                }
            }
        }
        lab_clear(&lab);
    }
}

static void
test_a_thousand_hosts(void **state)
{
    struct lab lab = leafspine_lab(32, 32, 32, 32, 1);

    (void)state;
    lab_route(&lab);
    for (uint32_t s = 0; s < 64; s++) {
        assert_int_equal(lab.tables[s]->n_nics, 1024);
        assert_int_equal(lab.tables[s]->n_sets, s < 32 ? 33 : 32);
    }
    assert_true(topo_check_connected(lab.net, NULL));
    lab_clear(&lab);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_sets_are_shared),
        cmocka_unit_test(test_a_full_table_refuses),
        cmocka_unit_test(test_pick_is_a_member_and_spreads),
        cmocka_unit_test(test_leafspine_routes),
        cmocka_unit_test(test_links_down_are_avoided),
        cmocka_unit_test(test_random_graphs_against_brute_force),
        cmocka_unit_test(test_every_path_leads_there),
        cmocka_unit_test(test_numbers_are_those_of_the_built_network),
        cmocka_unit_test(test_a_thousand_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
