/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_scenario.c - scenarios: what is accepted means what it says, its echo is a
 * scenario that means the same, and what is refused is refused with the right line.
 *
 * Data: tests/data/scenario.
 */
#include <config.h>

#include "tools/scenario/scenario.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "models/net_params.h"
#include "models/switch/watchdog.h"
#include "tools/results/capture.h"
#include "tools/scenario/doc.h"
#include "tools/scenario/flows_csv.h"

static char *
data_path(const char *name)
{
    const char *srcdir = g_getenv("srcdir");

    return g_build_filename(srcdir != NULL ? srcdir : ".", "tests/data/scenario", name,
                            NULL);
}

/* Loads, builds, binds: all that `rocesim check` does before it counts. */
static struct scenario *
load_and_bind(const char *path, const char *const *sets, struct net **net, GError **error)
{
    struct scenario *s = scenario_load(path, sets, error);
    gboolean ok;

    *net = s != NULL ? scenario_build_net(s, error) : NULL;
    ok = *net != NULL;
    if (ok && (!net_build(*net, NULL, error) || !topo_routes(*net, NULL, error))) {
        scenario_explain(s, error);
        ok = FALSE;
    }
    g_autoptr(GArray) changes = ok ? scenario_bind_faults(s, *net, error) : NULL;

    ok = changes != NULL;
    if (ok) {
        g_autoptr(GError) cause = NULL;

        (*net)->sampled = scenario_bind_series(s, *net, &cause);
        ok = cause == NULL;
        if (!ok) {
            g_propagate_error(error, g_steal_pointer(&cause));
        }
    }
    if (ok) {
        GArray *captures = scenario_bind_taps(s, *net, error);

        ok = captures != NULL;
        g_clear_pointer(&captures, g_array_unref);
    }
    for (guint i = 0; ok && i < s->works->len; i++) {
        struct work_params *w = scenario_bind_work(s, *net, i, error);

        ok = w != NULL;
        work_params_free(w);
    }
    if (!ok) {
        net_free(*net);
        *net = NULL;
        scenario_free(s);
        return NULL;
    }
    return s;
}

static struct scenario *
must_load(const char *name, const char *const *sets, struct net **net)
{
    g_autofree char *path = data_path(name);
    g_autoptr(GError) error = NULL;
    struct scenario *s = load_and_bind(path, sets, net, &error);

    if (s == NULL) {
        fail_msg("%s", error->message);
    }
    return s;
}

/* ---- the echo ---------------------------------------------------------------------- */

static void
assert_echo_is_fixed(const char *path)
{
    g_autoptr(GError) error = NULL;
    struct scenario *first = scenario_load(path, NULL, &error), *second;
    g_autofree char *once = NULL, *twice = NULL;

    if (first == NULL) {
        fail_msg("%s", error->message);
    }
    once = scenario_to_text(first);
    second = scenario_load_data("echo", once, strlen(once), NULL, &error);
    if (second == NULL) {
        fail_msg("%s: its echo is refused: %s", path, error->message);
    }
    twice = scenario_to_text(second);
    assert_string_equal(once, twice);
    scenario_free(first);
    scenario_free(second);
}

static int
echo_folder(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    int n = 0;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        if (g_str_has_suffix(name, ".json")) {
            g_autofree char *path = g_build_filename(folder, name, NULL);

            assert_echo_is_fixed(path);
            n++;
        }
    }
    return n;
}

static void
test_echo_is_a_fixed_point(void **state)
{
    g_autofree char *valid = data_path("valid");
    g_autofree char *shipped = data_path("../../../scenarios");

    (void)state;
    assert_true(echo_folder(valid) >= 5);
    echo_folder(shipped);
}

/* Every key that the file gives stands in the echo, if only in another form. */
static void
assert_keys_are_echoed(const json_t *given, const json_t *echo, const char *where)
{
    const char *key;
    json_t *value;
    size_t i;

    json_object_foreach((json_t *)(uintptr_t)given, key, value)
    {
        g_autofree char *path = g_strdup_printf("%s.%s", where, key);

        /* 'delay' for 'length', 'ecn.at' for 'ecn_at', 'hosts' that say nothing. */
        if (key[0] == '_' || strcmp(key, "ecn_at") == 0 || strcmp(path, ".hosts") == 0) {
            continue;
        }
        if (json_object_get(echo, key) == NULL) {
            fail_msg("%s is not echoed", path);
        }
        assert_keys_are_echoed(value, json_object_get(echo, key), path);
    }
    json_array_foreach((json_t *)(uintptr_t)given, i, value)
    {
        g_autofree char *path = g_strdup_printf("%s[%zu]", where, i);

        assert_keys_are_echoed(value, json_array_get(echo, i), path);
    }
}

static void
test_every_key_is_echoed(void **state)
{
    g_autofree char *path = data_path("valid/full.json");
    json_t *given = json_load_file(path, 0, NULL), *echo;
    struct scenario *s = scenario_load(path, NULL, NULL);

    (void)state;
    assert_non_null(s);
    echo = scenario_to_json(s);
    assert_keys_are_echoed(given, echo, "");
    json_decref(echo);
    json_decref(given);
    scenario_free(s);
}

/* ---- what values mean -------------------------------------------------------------- */

static void
test_small_has_the_defaults_of_the_contract(void **state)
{
    struct net *net;
    struct scenario *s = must_load("valid/small.json", NULL, &net);
    const struct nic_params *nic = &net->nic_params[0];
    const struct switch_params *sw = &net->switch_params[0];
    struct work_params *w;
    struct ecn_params ecn;

    (void)state;
    assert_string_equal(s->name, "small");
    assert_int_equal(s->seed, 1);
    assert_int_equal(s->stop_ps, PARAM_SPECIAL);
    assert_string_equal(s->nic.profile, "ideal");
    assert_int_equal(nic->port_rate_bps, 0);
    assert_int_equal(nic->latency_ps, 0);
    assert_int_equal(nic->mtu_bytes, 4096);
    assert_int_equal(nic->ack_every, 256);
    assert_int_equal(nic->max_inflight, 0);
    assert_int_equal(nic->qps, 1);
    assert_int_equal(nic->cnp_interval_ps, 4000000);
    assert_int_equal(nic->ack_timeout, 14);
    assert_int_equal(nic->retry_count, 7);
    assert_int_equal(nic->jitter_ps, -1);
    assert_int_equal(nic->pfc, 1 << 3);
    assert_string_equal(s->sw.profile, "generic");
    assert_int_equal(sw->buffer_bytes, 32000000);
    assert_int_equal(sw->alpha_q32, PARAM_ONE);
    assert_int_equal(sw->reserved_bytes, 0);
    assert_int_equal(sw->latency_ps, 300000);
    assert_int_equal(sw->headroom_bytes, HEADROOM_COMPUTED);
    assert_int_equal(sw->xon_bytes, XON_COMPUTED);
    assert_int_equal(sw->pfc_reaction_ps, REACTION_IEEE);
    assert_int_equal(sw->hash_seed, -1);
    assert_false(sw->cut_through);
    assert_int_equal(sw->pfc, 1 << 3);
    ecn = net_ecn_at_rate(&net->ecn_params[0], INT64_C(400000000000));
    assert_int_equal(ecn.kmin_bytes, 400000);
    assert_int_equal(ecn.kmax_bytes, 1600000);
    assert_int_equal(ecn.pmax_q32, PARAM_Q32(1, 5));
    assert_int_equal(net->n_qos, 2);
    assert_int_equal(net->qos[0].dscp, 26);
    assert_int_equal(net->qos[0].cls, 3);
    assert_true(net->qos[0].lossless && net->qos[0].ecn && !net->qos[0].strict);
    assert_int_equal(net->qos[1].dscp, 48);
    assert_int_equal(net->qos[1].cls, 6);
    assert_true(net->qos[1].strict && !net->qos[1].lossless);
    assert_int_equal(net->cnp_qos, 1);
    assert_string_equal(net->cc->name, "dcqcn");
    assert_string_equal(s->preset->name, "mlx5");
    assert_int_equal(net->sample_ps, 10000000);
    w = scenario_bind_work(s, net, 0, NULL);
    assert_int_equal(w->common.start_ps, 0);
    assert_int_equal(w->common.verb, WORK_WRITE);
    assert_int_equal(w->common.message_bytes, 0);
    assert_int_equal(w->flows[0].src, 0);
    assert_int_equal(w->flows[0].dst, 1);
    assert_int_equal(w->flows[0].bytes, 1 << 20);
    work_params_free(w);
    net_free(net);
    scenario_free(s);
}

static const struct net_link *
link_of(const struct net *net, const char *name)
{
    uint32_t link = net_find_link(net, name);

    assert_int_not_equal(link, UINT32_MAX);
    return &net->links[link];
}

static uint32_t
switch_of(const struct net *net, const char *name)
{
    return net->nodes[net_find_node(net, name)].index;
}

static void
test_full_reaches_the_network(void **state)
{
    struct net *net;
    struct scenario *s = must_load("valid/full.json", NULL, &net);
    uint32_t leaf = switch_of(net, "leaf1"), spine2 = switch_of(net, "spine2"),
             spine0 = switch_of(net, "spine0");
    const struct param *ai = param_find(s->cc->params, "ai");

    (void)state;
    assert_int_equal(net->n_hosts, 24);
    assert_int_equal(net->n_switches, 8);
    /* Links: 2.5 m of cable, a delay, overrides with either end first. */
    assert_int_equal(link_of(net, "host0-leaf0")->params.delay_ps, 12625);
    assert_true(link_of(net, "host0-leaf0")->params.error_rate == 1e-9);
    assert_int_equal(link_of(net, "leaf3-spine3")->params.delay_ps, 100000);
    assert_true(link_of(net, "leaf3-spine3")->params.bit_error_rate == 1e-15);
    assert_int_equal(link_of(net, "leaf0-spine1")->params.rate_bps, INT64_C(50000000000));
    assert_int_equal(link_of(net, "leaf2-spine0")->params.delay_ps, 202000);
    assert_true(link_of(net, "leaf2-spine0")->params.error_rate == 1e-5);
    /* Keys over the profile, overrides over both. */
    assert_int_equal(net->nic_params[0].latency_ps, 600000);
    assert_int_equal(net->nic_params[0].mtu_bytes, 1024);
    assert_int_equal(net->nic_params[0].pfc, 1 << 3 | 1 << 4);
    assert_int_equal(net->nic_params[12].mtu_bytes, 4096);
    assert_int_equal(net->nic_params[12].pfc, 1 << 3);
    assert_int_equal(net->nic_params[12].latency_ps, 600000);
    assert_int_equal(net->nic_params[3].port_rate_bps, INT64_C(400000000000));
    assert_int_equal(net->nic_params[3].mtu_bytes, 1024);
    assert_int_equal(net->switch_params[spine0].buffer_bytes, 16 << 20);
    assert_int_equal(net->switch_params[spine0].alpha_q32, PARAM_ONE / 8);
    assert_int_equal(net->switch_params[spine0].hash_seed, 99);
    assert_false(net->switch_params[spine0].ecn_at_dequeue);
    assert_int_equal(net->ecn_params[spine0].kmin_bytes, 150000);
    assert_int_equal(net->ecn_params[spine0].pmax_q32, PARAM_Q32(1, 20));
    assert_int_equal(net->switch_params[spine2].buffer_bytes, 64000000);
    assert_int_equal(net->switch_params[spine2].pfc, 0);
    assert_int_equal(net->switch_params[leaf].buffer_bytes, 165867080);
    assert_int_equal(net->switch_params[leaf].latency_ps, 700000);
    assert_int_equal(net->ecn_params[leaf].kmin_bytes, 128 << 10);
    assert_int_equal(net->qos[0].dscp, 24);
    assert_int_equal(net->qos[0].weight, 3);
    assert_int_equal(net->qos[2].cls, 3);
    assert_int_equal(param_get(ai, net->cc_params), 5000000);
    assert_int_equal(s->nccl.version, 22105);
    assert_int_equal(s->nccl.max_channels, 8);
    assert_int_equal(s->nccl.qps, 4);
    assert_int_equal(s->nccl.copy_bps, INT64_C(1000000000000));
    assert_int_equal(s->nic.params.ack_timeout, 18);
    assert_int_equal(s->node.pipe_rate_bps, INT64_C(2400000000000));
    assert_int_equal(net->nic_params[0].ttl, 60);
    assert_int_equal(net->switch_params[spine0].lb.kind, LB_FLOWLET);
    assert_int_equal(net->switch_params[spine0].lb.flowlet_gap_ps, 100 * PS_PER_US);
    assert_int_equal(net->switch_params[spine0].lb.flowlet_path, LB_LEAST_LOADED);
    assert_int_equal(net->switch_params[leaf].lb.kind, LB_SPRAY);
    assert_int_equal(net->switch_params[leaf].lb.spray, LB_RANDOM);
    assert_int_equal(net->switch_params[spine0].watchdog.action, WATCHDOG_DROP);
    assert_int_equal(net->switch_params[spine0].watchdog.detect_ps, 50 * PS_PER_MS);
    assert_int_equal(net->switch_params[leaf].watchdog.action, WATCHDOG_FORWARD);
    assert_int_equal(net->switch_params[leaf].watchdog.detect_ps, 50 * PS_PER_MS);
    assert_int_equal(net->switch_params[leaf].watchdog.restore_ps, WATCHDOG_SONIC);
    /* spine0 to host0 to host9, and leaf1 to host23 by two. */
    assert_int_equal(net->n_given_routes, 10 + 2);
    /* Five faults of links at both ends, spine3's links down and up (the one that a fault
     * of its own has taken down is up by then), a storm and its end, a slow host. */
    assert_int_equal(net->n_faults, 10 + 4 * 2 * 2 + 2 + 1);
    net_free(net);
    scenario_free(s);
}

/* What lasts until the stop or longer need not be finished then. */
static void
test_open_ended(void **state)
{
    static const char *const ends[][3] = {
        {"workload[7].until=stop", "workload[8].until=50ms", NULL},
        {"workload[7].until=60ms", "workload[8].until=70ms", NULL},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        struct net *net;
        struct scenario *s = must_load("valid/full.json", ends[i], &net);
        struct work_params *poisson = scenario_bind_work(s, net, 7, NULL);
        struct work_params *incast = scenario_bind_work(s, net, 8, NULL);

        assert_true(poisson->is_open_ended && incast->is_open_ended);
        assert_int_equal(poisson->poisson.until_ps, 50 * PS_PER_S / 1000);
        assert_int_equal(incast->incast.until_ps, 50 * PS_PER_S / 1000);
        work_params_free(poisson);
        work_params_free(incast);
        net_free(net);
        scenario_free(s);
    }
}

static void
test_workloads_are_placed(void **state)
{
    struct net *net;
    struct scenario *s = must_load("valid/full.json", NULL, &net);
    struct work_params *w;
    uint64_t sum = 0;

    (void)state;
    w = scenario_bind_work(s, net, 0, NULL);
    assert_int_equal(w->qos, 2);
    assert_int_equal(w->common.start_ps, 10000000);
    assert_int_equal(w->common.message_bytes, 1 << 20);
    assert_int_equal(w->common.verb, WORK_WRITE_IMM);
    assert_int_equal(w->common.qps, 2); /* nic.qps */
    assert_int_equal(w->flows[1].src, 3);
    assert_int_equal(w->flows[1].bytes, 1500000);
    assert_int_equal(w->flows[1].start_ps, 2500000);
    work_params_free(w);

    w = scenario_bind_work(s, net, 1, NULL);
    /* Spread over 4 leaves of 6. */
    assert_int_equal(w->n_hosts, 24);
    assert_int_equal(w->hosts[0], 0);
    assert_int_equal(w->hosts[1], 6);
    assert_int_equal(w->hosts[3], 18);
    assert_int_equal(w->hosts[4], 1);
    assert_int_equal(w->hosts[23], 23);
    assert_int_equal(w->permutation.shift, 5);
    assert_int_equal(w->common.repeat, 3);
    assert_int_equal(w->common.qps, 4);
    work_params_free(w);

    w = scenario_bind_work(s, net, 2, NULL);
    assert_int_equal(w->n_senders, 8);
    assert_int_equal(w->receiver, 0);
    assert_int_equal(w->senders[0], 1);
    assert_int_equal(w->senders[7], 8);
    work_params_free(w);

    w = scenario_bind_work(s, net, 3, NULL);
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        sum += UINT64_C(1) << w->hosts[i];
    }
    assert_int_equal(sum, (UINT64_C(1) << 24) - 1); /* each once */
    assert_int_equal(w->receiver, w->hosts[1]);
    assert_int_equal(w->senders[0], 3);
    assert_int_equal(w->senders[1], w->hosts[4]);
    work_params_free(w);

    w = scenario_bind_work(s, net, 4, NULL);
    assert_int_equal(w->n_ranks, 4);
    assert_int_equal(w->rank_host[1], 6);
    assert_int_equal(w->rank_gpu[1], 0);
    assert_int_equal(w->rank_host[3], 12);
    assert_int_equal(w->rank_gpu[3], 1);
    assert_int_equal(w->common.qps, 8);
    assert_int_equal(w->common.verb, WORK_WRITE_IMM);
    assert_int_equal(w->nics, 1);
    assert_int_equal(w->gpus, 2);
    work_params_free(w);

    w = scenario_bind_work(s, net, 5, NULL);
    assert_int_equal(w->n_ranks, 16);
    assert_int_equal(w->rank_host[15], 7);
    assert_int_equal(w->common.qps, 4); /* NCCL_IB_QPS_PER_CONNECTION */
    work_params_free(w);

    w = scenario_bind_work(s, net, 6, NULL);
    assert_true(g_path_is_absolute(w->paths[0]));
    assert_true(g_str_has_suffix(w->paths[1], "valid/logs/b.log"));
    assert_null(w->paths[2]);
    assert_string_equal(w->format, "nccl_log");
    work_params_free(w);

    w = scenario_bind_work(s, net, 7, NULL);
    assert_int_equal(w->n_hosts, 10);
    assert_int_equal(w->poisson.load_e18, PARAM_SHARE_ONE / 100 * 45);
    assert_int_equal(w->poisson.until_ps, 4 * PS_PER_S / 1000);
    assert_int_equal(w->common.connect, WORK_CONNECT_FLOW);
    assert_true(g_str_has_suffix(w->cdf, "/workloads/cdf/FbHadoop.json"));
    assert_false(w->is_open_ended); /* the stop is later */
    work_params_free(w);

    w = scenario_bind_work(s, net, 8, NULL);
    assert_null(w->senders);
    assert_int_equal(w->n_senders, 12);
    assert_int_equal(w->receiver, UINT32_MAX);
    assert_int_equal(w->incast.load_e18, PARAM_SHARE_ONE / 50);
    assert_int_equal(w->incast.until_ps, 4 * PS_PER_S / 1000);
    assert_int_equal(w->incast.arrivals, WORK_ARRIVALS_POISSON);
    work_params_free(w);
    net_free(net);
    scenario_free(s);
}

/* A set with entries by rate: the last that is not above the port's rate, scaled. */
static void
test_ecn_sets_by_rate(void **state)
{
    const char *const sets[] = {"switch.ecn=hpcc", NULL};
    struct net *net;
    struct scenario *s = must_load("valid/small.json", sets, &net);
    struct ecn_params ecn;

    (void)state;
    ecn = net_ecn_at_rate(&net->ecn_params[0], INT64_C(25000000000));
    assert_int_equal(ecn.kmin_bytes, 100000);
    ecn = net_ecn_at_rate(&net->ecn_params[0], INT64_C(200000000000));
    assert_int_equal(ecn.kmin_bytes, 800000);
    ecn = net_ecn_at_rate(&net->ecn_params[0], INT64_C(400000000000));
    assert_int_equal(ecn.kmin_bytes, 800000);
    assert_int_equal(ecn.kmax_bytes, 3200000);
    ecn = net_ecn_at_rate(&net->ecn_params[0], INT64_C(800000000000));
    assert_int_equal(ecn.kmin_bytes, 1600000);
    net_free(net);
    scenario_free(s);
}

static void
test_a_base_is_merged(void **state)
{
    struct net *net;
    struct scenario *s = must_load("valid/based.json", NULL, &net);

    (void)state;
    assert_string_equal(s->name, "allreduce-64");
    assert_int_equal(s->sw.ecn.entry[0].pmax_q32, PARAM_ONE / 2);
    assert_int_equal(s->sw.ecn.entry[0].kmin_bytes, 100000);
    assert_int_equal(param_get(param_find(s->cc->params, "ai"), s->cc_params), 5000000);
    assert_int_equal(param_get(param_find(s->cc->params, "hai"), s->cc_params), 50000000);
    assert_int_equal(s->works->len, 1); /* a list is replaced */
    assert_int_equal(g_array_index(s->works, struct scenario_work, 0).kind,
                     WORK_PERMUTATION);
    net_free(net);
    scenario_free(s);
}

static void
test_nccl_sets_the_ack_timeout(void **state)
{
    struct net *net;
    const char *const mixed[] = {
        "workload[1]={\"type\":\"permutation\",\"bytes\":\"1MB\"}", NULL};
    const char *const given[] = {"nic.ack_timeout=16", NULL};
    struct scenario *s = must_load("valid/interface.json", NULL, &net);

    (void)state;
    assert_int_equal(s->nic.params.ack_timeout, 20);
    net_free(net);
    scenario_free(s);
    s = must_load("valid/interface.json", given, &net);
    assert_int_equal(s->nic.params.ack_timeout, 16);
    net_free(net);
    scenario_free(s);
    s = must_load("valid/interface.json", mixed, &net);
    assert_int_equal(s->nic.params.ack_timeout, 14);
    assert_int_equal(s->warnings->len, 1);
    net_free(net);
    scenario_free(s);
}

static void
test_set_makes_what_is_not_there(void **state)
{
    const char *const sets[] = {
        "nic.mtu=1024",
        "cc.params.ai=7Mbps",
        "workload[1]={\"type\":\"permutation\",\"bytes\":\"1MB\"}",
        "workload[0].list[1].src=host1",
        "workload[0].list[1].dst=host0",
        "workload[0].list[1].bytes=3B",
        "switches.\"leaf0\".buffer=1MB",
        "expect.\"flows.n\"=[1,4]",
        "name=\"77\"",
        NULL};
    struct net *net;
    struct scenario *s = must_load("valid/small.json", sets, &net);
    struct work_params *w = scenario_bind_work(s, net, 0, NULL);

    (void)state;
    assert_int_equal(net->nic_params[1].mtu_bytes, 1024);
    assert_int_equal(w->n_flows, 2);
    assert_int_equal(w->flows[1].bytes, 3);
    assert_int_equal(net->switch_params[0].buffer_bytes, 1000000);
    assert_string_equal(s->name, "77");
    assert_string_equal(g_array_index(s->bands, struct scenario_band, 0).path, "flows.n");
    assert_true(g_array_index(s->bands, struct scenario_band, 0).high == 4.0);
    work_params_free(w);
    net_free(net);
    scenario_free(s);
}

/* ---- captures ---------------------------------------------------------------------- */

static void
test_captures(void **state)
{
    const char *const sets[] = {
        "output.pcap=[{\"at\": \"leaf0:1\", \"snaplen\": 128, \"max\": \"64MiB\"},"
        "{\"at\": \"spine*\", \"dir\": \"in\", \"filter\": \"control\"},"
        "{\"at\": \"host1?:*\", \"dir\": \"out\"}]",
        NULL};
    struct net *net;
    struct scenario *s = must_load("valid/full.json", sets, &net);
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) files = NULL;
    const struct capture_file *file;
    const struct net_node *leaf = &net->nodes[net_find_node(net, "leaf0")];
    const struct net_node *spine = &net->nodes[net_find_node(net, "spine3")];

    (void)state;
    g_clear_pointer(&net->tapped, g_free);
    files = scenario_bind_taps(s, net, &error);
    assert_null(error);
    assert_int_equal(files->len, 1 + 4 + 10);
    file = &g_array_index(files, struct capture_file, 0);
    assert_string_equal(file->name, "leaf0-1.pcap");
    assert_int_equal(file->first_port, leaf->first_port + 1);
    assert_int_equal(file->n_ports, 1);
    assert_int_equal(file->dirs, TAP_IN | TAP_OUT);
    assert_int_equal(file->snap_bytes, 128);
    assert_int_equal(file->max_bytes, 64 << 20);
    assert_null(file->filter);
    file = &g_array_index(files, struct capture_file, 4);
    assert_string_equal(file->name, "spine3.pcap");
    assert_int_equal(file->first_port, spine->first_port);
    assert_int_equal(file->n_ports, spine->n_ports);
    assert_int_equal(file->dirs, TAP_IN);
    assert_string_equal(file->filter, "control");
    assert_int_equal(file->snap_bytes, -1);
    assert_int_equal(file->max_bytes, -1);
    file = &g_array_index(files, struct capture_file, 5);
    assert_string_equal(file->name, "host10-0.pcap");
    assert_int_equal(net->tapped[leaf->first_port], 0);
    assert_int_equal(net->tapped[leaf->first_port + 1], TAP_IN | TAP_OUT);
    assert_int_equal(net->tapped[spine->first_port], TAP_IN);
    assert_int_equal(net->tapped[file->first_port], TAP_OUT);
    net_free(net);
    scenario_free(s);
}

/* ---- what is refused --------------------------------------------------------------- */

/* One case of invalid.txt. */
struct refusal {
    GPtrArray *sets; /* owned texts, NULL at the end once complete */
    GString *text;   /* NULL: valid/full.json */
};

static void
assert_refusal(const struct refusal *r, const char *expected, unsigned line)
{
    g_autofree char *folder = data_path("valid"), *path = NULL, *message = NULL;
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) parts = NULL;
    struct scenario *s;
    struct net *net;

    if (r->text != NULL) {
        g_free(folder);
        folder = g_dir_make_tmp("rocesim-XXXXXX", NULL);
        path = g_build_filename(folder, "case.json", NULL);
        assert_true(g_file_set_contents(path, r->text->str, (gssize)r->text->len, NULL));
    } else {
        path = g_build_filename(folder, "full.json", NULL);
    }
    s = load_and_bind(path, (const char *const *)r->sets->pdata, &net, &error);
    if (r->text != NULL) {
        g_unlink(path);
        g_rmdir(folder);
    }
    if (s != NULL) {
        fail_msg("invalid.txt:%u is accepted; expected: %s", line, expected);
    }
    parts = g_strsplit(error->message, path, -1);
    message = g_strjoinv("FILE", parts);
    g_strfreev(parts);
    parts = g_strsplit(message, folder, -1);
    g_free(message);
    message = g_strjoinv("FOLDER", parts);
    assert_null(strchr(message, '\n'));
    if (g_str_has_suffix(expected, "...")
            ? strncmp(message, expected, strlen(expected) - 3) != 0
            : strcmp(message, expected) != 0) {
        fail_msg("invalid.txt:%u\n  says     %s\n  expected %s", line, message, expected);
    }
}

static void
test_refusals(void **state)
{
    g_autofree char *path = data_path("invalid.txt"), *all = NULL;
    g_auto(GStrv) lines = NULL;
    struct refusal r = {g_ptr_array_new_with_free_func(g_free), NULL};
    bool in_text = false;
    unsigned n = 0;

    (void)state;
    assert_true(g_file_get_contents(path, &all, NULL, NULL));
    lines = g_strsplit(all, "\n", -1);
    for (unsigned i = 0; lines[i] != NULL; i++) {
        if (in_text) {
            in_text = strcmp(lines[i], "end") != 0;
            if (in_text) {
                g_string_append_printf(r.text, "%s\n", lines[i]);
            }
        } else if (strcmp(lines[i], "text") == 0) {
            r.text = g_string_new(NULL);
            in_text = true;
        } else if (g_str_has_prefix(lines[i], "set ")) {
            g_ptr_array_add(r.sets, g_strdup(lines[i] + 4));
        } else if (g_str_has_prefix(lines[i], "error ")) {
            g_ptr_array_add(r.sets, NULL);
            assert_refusal(&r, lines[i] + 6, i + 1);
            g_ptr_array_set_size(r.sets, 0);
            if (r.text != NULL) {
                g_string_free(r.text, TRUE);
                r.text = NULL;
            }
            n++;
        } else {
            assert_true(lines[i][0] == '\0' || lines[i][0] == '#');
        }
    }
    g_ptr_array_unref(r.sets);
    assert_true(n >= 120);
}

static void
assert_load_fails(const char *path, const char *why)
{
    g_autoptr(GError) error = NULL;

    assert_null(scenario_load(path, NULL, &error));
    if (strstr(error->message, why) == NULL) {
        fail_msg("'%s' does not say '%s'", error->message, why);
    }
    assert_null(strchr(error->message, '\n'));
}

/* Files that are none, and bytes that are no text. */
static void
test_strange_files(void **state)
{
    g_autofree char *folder = g_dir_make_tmp("rocesim-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "s.json", NULL);
    g_autofree char *other = g_build_filename(folder, "t.json", NULL);

    (void)state;
    assert_load_fails(path, "No such file or directory");
    assert_load_fails(folder, "is a folder");
    assert_load_fails("/dev/null", "is empty");
    assert_load_fails("/dev/zero", "larger than 64 MiB");
    g_file_set_contents(path, "", 0, NULL);
    assert_load_fails(path, "is empty");
    g_file_set_contents(path, "{\"name\": \"\xff\xfe\"}", -1, NULL);
    assert_load_fails(path, "s.json:1: ");
    g_file_set_contents(path, "{\"name\": \"a\\u0000b\"}", -1, NULL);
    assert_load_fails(path, "s.json:1: ");
    g_file_set_contents(path, "{}\0{}", 5, NULL);
    assert_load_fails(path, "s.json:1: ");
    g_file_set_contents(path, "{\"base\": \"s.json\"}", -1, NULL);
    assert_load_fails(path, "based on this file again");
    g_file_set_contents(path, "{\"base\": \"t.json\"}", -1, NULL);
    g_file_set_contents(other, "{\"base\": \"./s.json\"}", -1, NULL);
    assert_load_fails(path, "based on this file again");
    g_file_set_contents(other, "{\"seed\": \n 1", -1, NULL);
    assert_load_fails(path, "t.json:2: ");
    g_file_set_contents(path, "{\"a\\nb\": 1}", -1, NULL);
    assert_load_fails(path, "a\\x0ab: no such key");
    g_unlink(path);
    g_unlink(other);
    g_rmdir(folder);
}

/* Bytes of a wrong type, sets that are no UTF-8. */
static void
test_strange_sets(void **state)
{
    static const char *const strange[] = {
        "",       "=",      "a",         ".a=1",     "[0]=1",
        "a[=1",   "a[x]=1", "a[0=1",     "a.=1",     "\"a=1",
        "a\"b=1", "\xff=1", "name=\xff", "seed=1e9", "a[99999999999999]=1",
        "nic=",   "nic=3",  "a\nb",      "a\nb=1"};
    g_autofree char *path = data_path("valid/small.json");
    /* A character of three bytes where messages cut. */
    g_autofree char *longest = g_strdup_printf("%099d\xe2\x82\xac", 0);

    (void)state;
    for (size_t i = 0; i <= G_N_ELEMENTS(strange); i++) {
        const char *const sets[] = {i < G_N_ELEMENTS(strange) ? strange[i] : longest,
                                    NULL};
        g_autoptr(GError) error = NULL;
        struct scenario *s = scenario_load(path, sets, &error);

        if (s != NULL) {
            fail_msg("--set '%s' is accepted", sets[0]);
        }
        assert_true(g_utf8_validate(error->message, -1, NULL));
        assert_null(strchr(error->message, '\n'));
    }
}

/* ---- flows from a table ------------------------------------------------------------ */

static void
assert_csv_fails(const char *text, const char *why)
{
    g_autoptr(GArray) flows = g_array_new(FALSE, TRUE, sizeof(struct scenario_flow));
    g_autoptr(GError) error = NULL;

    if (flows_csv_parse("f.csv", text, strlen(text), flows, &error)) {
        fail_msg("'%s' is accepted", text);
    }
    if (strcmp(error->message, why) != 0) {
        fail_msg("\n  says     %s\n  expected %s", error->message, why);
    }
    for (guint i = 0; i < flows->len; i++) {
        g_free(g_array_index(flows, struct scenario_flow, i).src.name);
        g_free(g_array_index(flows, struct scenario_flow, i).dst.name);
    }
}

static void
test_csv(void **state)
{
    g_autoptr(GArray) flows = g_array_new(FALSE, TRUE, sizeof(struct scenario_flow));
    static const char good[] = "bytes, dst ,src\r\n# note\r\n\r\n1MiB,4,3\r\n77,5,4";

    (void)state;
    assert_true(flows_csv_parse("f.csv", good, strlen(good), flows, NULL));
    assert_int_equal(flows->len, 2);
    assert_int_equal(g_array_index(flows, struct scenario_flow, 0).src.position, 3);
    assert_int_equal(g_array_index(flows, struct scenario_flow, 0).dst.position, 4);
    assert_int_equal(g_array_index(flows, struct scenario_flow, 0).bytes, 1 << 20);
    assert_int_equal(g_array_index(flows, struct scenario_flow, 1).bytes, 77);
    assert_int_equal(g_array_index(flows, struct scenario_flow, 1).start_ps, 0);

    assert_csv_fails(
        "# only this\n",
        "f.csv:2: there is no flow; needed are a line of names and one a flow");
    assert_csv_fails(
        "src,dst,bytes\n",
        "f.csv:2: there is no flow; needed are a line of names and one a flow");
    assert_csv_fails("src,dst\n",
                     "f.csv:1: column 'bytes' is missing; needed are src, dst and "
                     "bytes");
    assert_csv_fails(
        "src,dst,bites\n",
        "f.csv:1: no such column 'bites'; nearest is 'bytes', allowed are src, dst, "
        "bytes, start, sport, dport and class in the first line");
    assert_csv_fails("src,dst,bytes,sport\na,b,5,0\n",
                     "f.csv:2: sport is 0; allowed is 1 to 65535");
    assert_csv_fails("src,dst,bytes,class\na,b,5,8\n",
                     "f.csv:2: class is 8; allowed is 0 to 7");
    assert_csv_fails("src,src,dst\n", "f.csv:1: column 'src' is there twice");
    assert_csv_fails("src,dst,bytes\na,b\n",
                     "f.csv:2: has 2 fields; the first line has 3");
    assert_csv_fails("src,dst,bytes\n\na,a,5\n",
                     "f.csv:3: dst is 'a', the same as src; allowed is another host");
    assert_csv_fails(
        "src,dst,bytes\na,,5\n",
        "f.csv:2: dst is empty; allowed is a host such as host3, or its number");
    assert_csv_fails("src,dst,bytes\na,b,0\n",
                     "f.csv:2: bytes is 0; allowed is 1B to 1048576GiB");
    assert_csv_fails(
        "src,dst,bytes\na,b,-4\n",
        "f.csv:2: bytes is '-4'; a unit is missing, write for example \"-4B\"");
    assert_csv_fails(
        "src,dst,bytes,start\na,b,4,5\n",
        "f.csv:2: start is '5'; a unit is missing, write for example \"5us\"");
    assert_csv_fails("src,dst,bytes\na,\xff,4\n", "f.csv:2: is no text in UTF-8");
}

/* ---- tables ------------------------------------------------------------------------ */

static void
test_tables_are_sound(void **state)
{
    const char *object;
    const struct param *table, *bad;
    size_t n = 0;

    (void)state;
    for (; (table = scenario_param_table(n, &object)) != NULL; n++) {
        /* Larger than any of the blobs: ends are checked by the compiler. */
        const char *fault = param_table_fault(table, 4096, &bad);

        if (fault != NULL) {
            fail_msg("%s.%s %s", object, bad->name, fault);
        }
    }
    assert_true(n >= 12);
}

/* docs/scenario.md names every key of every table. */
static void
test_every_key_is_documented(void **state)
{
    g_autofree char *path = data_path("../../../docs/scenario.md"), *text = NULL;
    const char *object;
    const struct param *table;

    (void)state;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    for (size_t n = 0; (table = scenario_param_table(n, &object)) != NULL; n++) {
        for (const struct param *p = table; p->name != NULL; p++) {
            g_autofree char *quoted = g_strdup_printf("`%s`", p->name);

            if (strstr(text, quoted) == NULL) {
                fail_msg("%s.%s is not in docs/scenario.md", object, p->name);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_echo_is_a_fixed_point),
        cmocka_unit_test(test_every_key_is_echoed),
        cmocka_unit_test(test_small_has_the_defaults_of_the_contract),
        cmocka_unit_test(test_full_reaches_the_network),
        cmocka_unit_test(test_workloads_are_placed),
        cmocka_unit_test(test_open_ended),
        cmocka_unit_test(test_ecn_sets_by_rate),
        cmocka_unit_test(test_a_base_is_merged),
        cmocka_unit_test(test_nccl_sets_the_ack_timeout),
        cmocka_unit_test(test_set_makes_what_is_not_there),
        cmocka_unit_test(test_captures),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_strange_files),
        cmocka_unit_test(test_strange_sets),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_tables_are_sound),
        cmocka_unit_test(test_every_key_is_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
