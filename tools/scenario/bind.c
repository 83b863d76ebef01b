/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bind.c - a scenario onto a network: parameters, overrides, traffic, samples.
 */
#include <config.h>

#include "tools/scenario/scenario.h"

#include <string.h>

#include "models/net_params.h"
#include "models/switch/watchdog.h"
#include "tools/scenario/doc.h"
#include "tools/scenario/parts.h"

/* Does 'pattern', a name or a glob, fit 'name'? */
static bool
fits(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || g_pattern_match_simple(pattern, name);
}

/* Sets an error at the key 'pattern' of 'at': that it fits no 'noun', and which of
 * 'names' is nearest. */
static gboolean
fail_pattern(const struct doc_at *at, const char *pattern, const char *noun,
             GPtrArray *names, GError **error)
{
    struct doc_at sub = doc_key(at, pattern);
    const char *nearest;

    g_ptr_array_add(names, NULL);
    nearest = param_nearest_word((const char *const *)names->pdata, pattern);
    return doc_fail(&sub, SCENARIO_ERROR_NAME, error, "fits no %s; nearest is '%s'", noun,
                    nearest != NULL ? nearest : "");
}

static GPtrArray *
node_names(const struct net *net, enum node_kind kind)
{
    GPtrArray *names = g_ptr_array_new();

    for (uint32_t i = 0; i < net->n_nodes; i++) {
        if (net->nodes[i].kind == kind) {
            g_ptr_array_add(names, net->nodes[i].name);
        }
    }
    return names;
}

/* Copies the entries of 'table' whose bit is in 'set'. */
static void
copy_params(const struct param *table, uint64_t set, const void *from, void *to)
{
    for (const struct param *p = table; p->name != NULL; p++) {
        if (set & UINT64_C(1) << (p - table)) {
            param_set(p, to, param_get(p, from));
        }
    }
}

/* ---- links ---------------------------------------------------------------------------- */

/* The name of a link with its ends exchanged. */
static char *
turn_name(const char *name)
{
    const char *dash = strchr(name, '-'), *number = strchr(name, '#');
    size_t n_second = number != NULL ? (size_t)(number - dash - 1) : strlen(dash + 1);

    return g_strdup_printf("%.*s-%.*s%s", (int)n_second, dash + 1, (int)(dash - name),
                           name, number != NULL ? number : "");
}

static void
apply_link(const struct scenario_link_override *o, struct link_params *params)
{
    struct link_params over = part_link_params(&o->link);
    static const char *const names[] = {"rate", "length", "delay", "error_rate",
                                        "bit_error_rate"};

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        ptrdiff_t entry = param_find(scenario_link_table, names[i]) - scenario_link_table;

        if (!(o->set & UINT64_C(1) << entry)) {
            continue;
        }
        switch (i) {
        case 0:
            params->rate_bps = over.rate_bps;
            break;
        case 1:
        case 2:
            params->delay_ps = over.delay_ps;
            break;
        case 3:
            params->error_rate = over.error_rate;
            break;
        default:
            params->bit_error_rate = over.bit_error_rate;
        }
    }
}

static gboolean
bind_links(const struct scenario *s, struct net *net, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), topology = doc_key(&root, "topology"),
                  at = doc_key(&topology, "overrides");

    for (guint i = 0; i < s->link_overrides->len; i++) {
        const struct scenario_link_override *o =
            &g_array_index(s->link_overrides, struct scenario_link_override, i);
        bool any = false;

        for (uint32_t l = 0; l < net->n_links; l++) {
            struct net_link *link = &net->links[l];
            g_autofree char *turned = turn_name(link->name);

            if (fits(o->pattern, link->name) || fits(o->pattern, turned)) {
                apply_link(o, &link->params);
                any = true;
            }
        }
        if (!any) {
            g_autoptr(GPtrArray) names = g_ptr_array_new();

            for (uint32_t l = 0; l < net->n_links; l++) {
                g_ptr_array_add(names, net->links[l].name);
            }
            return fail_pattern(&at, o->pattern, "link", names, error);
        }
    }
    return TRUE;
}

/* ---- devices -------------------------------------------------------------------------- */

static gboolean
bind_nics(const struct scenario *s, struct net *net, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), at = doc_key(&root, "nics");

    for (guint i = 0; i < s->nic_overrides->len; i++) {
        const struct scenario_nic *o =
            &g_array_index(s->nic_overrides, struct scenario_nic, i);
        bool any = false;

        for (uint32_t h = 0; h < net->n_hosts; h++) {
            struct nic_params *params = &net->nic_params[h];

            if (!fits(o->pattern, net->nodes[net->node_of_host[h]].name)) {
                continue;
            }
            any = true;
            copy_params(nic_param_table, o->set, &o->params, params);
            params->pfc = o->has_pfc ? o->params.pfc : params->pfc;
        }
        if (!any) {
            g_autoptr(GPtrArray) names = node_names(net, NODE_HOST);

            return fail_pattern(&at, o->pattern, "host", names, error);
        }
    }
    return TRUE;
}

static gboolean
bind_switches(const struct scenario *s, struct net *net, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), at = doc_key(&root, "switches");

    for (guint i = 0; i < s->switch_overrides->len; i++) {
        const struct scenario_switch *o =
            &g_array_index(s->switch_overrides, struct scenario_switch, i);
        bool any = false;

        for (uint32_t w = 0; w < net->n_switches; w++) {
            struct switch_params *params = &net->switch_params[w];

            if (!fits(o->pattern, net->nodes[net->node_of_switch[w]].name)) {
                continue;
            }
            any = true;
            copy_params(switch_param_table, o->set, &o->params, params);
            copy_params(watchdog_param_table, o->watchdog_set, &o->params, params);
            params->pfc = o->has_pfc ? o->params.pfc : params->pfc;
            if (o->has_ecn) {
                net->ecn_params[w] = o->ecn.entry[0];
            }
        }
        if (!any) {
            g_autoptr(GPtrArray) names = node_names(net, NODE_SWITCH);

            return fail_pattern(&at, o->pattern, "switch", names, error);
        }
    }
    return TRUE;
}

/* Polls that are longer than what they measure would measure nothing. */
static gboolean
check_watchdog(const struct doc_at *at, const char *name, const struct switch_params *p,
               uint32_t n_ports, GError **error)
{
    const struct watchdog_params dog = watchdog_resolve(&p->watchdog, n_ports);

    if (dog.poll_ps > dog.detect_ps || dog.poll_ps > dog.restore_ps) {
        return doc_fail_key(at, name, SCENARIO_ERROR_VALUE, error,
                            "watchdog.poll is longer than watchdog.%s; allowed is up to "
                            "that",
                            dog.poll_ps > dog.detect_ps ? "detect" : "restore");
    }
    return TRUE;
}

/* What overrides may have brought together. */
static gboolean
check_switches(const struct scenario *s, const struct net *net, GError **error)
{
    for (uint32_t w = 0; w < net->n_switches; w++) {
        const struct switch_params *p = &net->switch_params[w];
        const char *name = net->nodes[net->node_of_switch[w]].name;
        struct doc_at root = doc_root(s->file, NULL), at = doc_key(&root, "switches");

        if (p->ingress_latency_ps > p->latency_ps) {
            return doc_fail_key(
                &at, name, SCENARIO_ERROR_VALUE, error,
                "ingress_latency is above latency, of which it is a part");
        }
        if (p->reserved_bytes > p->buffer_bytes) {
            return doc_fail_key(&at, name, SCENARIO_ERROR_VALUE, error,
                                "reserved is above buffer, of which it is a part");
        }
        struct doc_at sub = doc_key(&at, name);

        if (!check_watchdog(&at, name, p, net->nodes[net->node_of_switch[w]].n_ports,
                            error) ||
            !part_check_mmu(&sub, p, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
check_nics(const struct scenario *s, const struct net *net, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), at = doc_key(&root, "nics");

    for (uint32_t h = 0; h < net->n_hosts; h++) {
        struct doc_at sub = doc_key(&at, net->nodes[net->node_of_host[h]].name);

        if (!part_check_nic(s, &sub, &net->nic_params[h], error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* ---- routes --------------------------------------------------------------------------- */

static bool
are_linked(const struct net *net, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < net->n_links; i++) {
        const uint32_t *node = net->links[i].node;

        if ((node[0] == a && node[1] == b) || (node[0] == b && node[1] == a)) {
            return true;
        }
    }
    return false;
}

/* Are all next hops of 'route' neighbours of switch 'sw'? */
static gboolean
check_via(const struct doc_at *at, const struct scenario_route *route,
          const struct net *net, uint32_t sw, GError **error)
{
    uint32_t here = net->node_of_switch[sw];

    for (guint k = 0; k < route->via->len; k++) {
        const char *name = route->via->pdata[k];
        uint32_t via = net_find_node(net, name);

        if (via == UINT32_MAX || !are_linked(net, here, via)) {
            return doc_fail_key(at, "via", SCENARIO_ERROR_NAME, error,
                                "'%.60s' has no link to %s; allowed are its neighbours",
                                name, net->nodes[here].name);
        }
    }
    return TRUE;
}

/* Adds the next hops that 'route' gives switch 'sw' for 'host'. */
static gboolean
add_route(const struct doc_at *at, const struct scenario_route *route, struct net *net,
          uint32_t sw, uint32_t host, GError **error)
{
    for (guint k = 0; k < route->via->len; k++) {
        const char *name = route->via->pdata[k];
        uint32_t via = net_find_node(net, name);

        if (net->nodes[via].kind == NODE_HOST && net->nodes[via].index != host) {
            return doc_fail_key(at, "via", SCENARIO_ERROR_VALUE, error,
                                "is host '%.60s', which does not forward; allowed are "
                                "switches",
                                name);
        }
        net_add_route(net, sw, host, via);
    }
    return TRUE;
}

/* Is there a route of switch 'sw' for 'host' already? */
static bool
has_route(const struct net *net, uint32_t sw, uint32_t host)
{
    for (uint32_t i = 0; i < net->n_given_routes; i++) {
        if (net->given_routes[i].sw == sw && net->given_routes[i].host == host) {
            return true;
        }
    }
    return false;
}

static gboolean
bind_route(const struct doc_at *at, const struct scenario_route *route, struct net *net,
           GError **error)
{
    struct doc_at sw_at = doc_key(at, "at"), to_at = doc_key(at, "to");
    bool any_switch = false, any_host = false;

    for (uint32_t w = 0; w < net->n_switches; w++) {
        if (!fits(route->at, net->nodes[net->node_of_switch[w]].name)) {
            continue;
        }
        any_switch = true;
        if (!check_via(at, route, net, w, error)) {
            return FALSE;
        }
        for (uint32_t h = 0; h < net->n_hosts; h++) {
            const char *name = net->nodes[net->node_of_host[h]].name;

            if (!fits(route->to, name)) {
                continue;
            }
            any_host = true;
            if (has_route(net, w, h)) {
                return doc_fail(at, SCENARIO_ERROR_VALUE, error,
                                "%s has a route to %s already; allowed is one, with a "
                                "list of next hops",
                                net->nodes[net->node_of_switch[w]].name, name);
            }
            if (!add_route(at, route, net, w, h, error)) {
                return FALSE;
            }
        }
    }
    if (!any_switch || !any_host) {
        enum node_kind kind = any_switch ? NODE_HOST : NODE_SWITCH;
        g_autoptr(GPtrArray) names = node_names(net, kind);
        const char *text = any_switch ? route->to : route->at;

        g_ptr_array_add(names, NULL);
        return doc_fail(any_switch ? &to_at : &sw_at, SCENARIO_ERROR_NAME, error,
                        "'%.60s' fits no %s; nearest is '%s'", text,
                        any_switch ? "host" : "switch",
                        param_nearest_word((const char *const *)names->pdata, text));
    }
    return TRUE;
}

static gboolean
bind_routes(const struct scenario *s, struct net *net, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), topology = doc_key(&root, "topology"),
                  list = doc_key(&topology, "routes");

    for (guint i = 0; i < s->routes->len; i++) {
        struct doc_at at = doc_index(&list, i);

        if (!bind_route(&at, &g_array_index(s->routes, struct scenario_route, i), net,
                        error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Once the topology has added its nodes: parameters, overrides, qos, congestion control.
 * A pattern that matches nothing is an error. */
static gboolean
bind_all(const struct scenario *s, struct net *net, GError **error)
{
    for (guint i = 0; i < s->qos->len; i++) {
        net_add_qos(net, &g_array_index(s->qos, struct net_qos, i));
    }
    net->cnp_qos = s->cnp_qos;
    net->wire = (enum wire_format)s->wire;
    net_set_cc(net, s->cc, s->cc_params);
    net_set_params(net, &s->nic.params, &s->sw.params, &s->sw.ecn.entry[0]);
    net->sample_ps = s->output.sample_ps == PARAM_SPECIAL ? 0 : s->output.sample_ps;
    return bind_links(s, net, error) && bind_routes(s, net, error) &&
           bind_nics(s, net, error) && bind_switches(s, net, error) &&
           check_switches(s, net, error) && check_nics(s, net, error);
}

struct net *
scenario_build_net(const struct scenario *s, GError **error)
{
    struct net *net = net_new((uint64_t)s->seed);

    s->topo->build(net, s->topo_params, &s->topo_input);
    if (!bind_all(s, net, error)) {
        net_free(net);
        return NULL;
    }
    return net;
}

void
scenario_explain(const struct scenario *s, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), at = doc_key(&root, "topology");
    g_autoptr(GError) cause = NULL;

    if (error == NULL || *error == NULL) {
        return;
    }
    cause = g_steal_pointer(error);
    doc_fail(cause->domain == TOPO_ERROR ? &root : &at, SCENARIO_ERROR_VALUE, error, "%s",
             cause->message);
}

/* ---- samples --------------------------------------------------------------------------- */

const char *
scenario_nic_profile(const struct scenario *s, const char *name)
{
    const char *profile = s->nic.profile;

    for (guint i = 0; i < s->nic_overrides->len; i++) {
        const struct scenario_nic *o =
            &g_array_index(s->nic_overrides, struct scenario_nic, i);

        profile = o->profile != NULL && fits(o->pattern, name) ? o->profile : profile;
    }
    return profile;
}

const char *
scenario_switch_profile(const struct scenario *s, const char *name)
{
    const char *profile = s->sw.profile;

    for (guint i = 0; i < s->switch_overrides->len; i++) {
        const struct scenario_switch *o =
            &g_array_index(s->switch_overrides, struct scenario_switch, i);

        profile = o->profile != NULL && fits(o->pattern, name) ? o->profile : profile;
    }
    return profile;
}

uint8_t *
scenario_bind_series(const struct scenario *s, const struct net *net, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), output = doc_key(&root, "output"),
                  series = doc_key(&output, "series");
    uint8_t *sampled;

    if (s->series == NULL) {
        return NULL;
    }
    sampled = g_new0(uint8_t, MAX(net->n_ports, 1));
    for (guint i = 0; i < s->series->len; i++) {
        const char *pattern = s->series->pdata[i];
        struct doc_at at = doc_index(&series, i);
        bool any = false;

        for (uint32_t n = 0; n < net->n_nodes; n++) {
            const struct net_node *node = &net->nodes[n];
            bool whole = fits(pattern, node->name);

            for (uint32_t p = 0; p < node->n_ports; p++) {
                g_autofree char *name = g_strdup_printf("%s:%u", node->name, p);

                if (whole || fits(pattern, name)) {
                    sampled[node->first_port + p] = 1;
                    any = true;
                }
            }
        }
        if (!any) {
            doc_fail(
                &at, SCENARIO_ERROR_NAME, error,
                "'%.60s' fits no port; allowed is a node, NODE:PORT or a glob such as "
                "\"leaf0:*\"",
                pattern);
            g_free(sampled);
            return NULL;
        }
    }
    return sampled;
}
