/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bind.c - a scenario onto a network: parameters, overrides, traffic, faults, samples.
 */
#include <config.h>

#include "tools/scenario/scenario.h"

#include <string.h>

#include "models/net_params.h"
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

        if (!part_check_mmu(&sub, p, error)) {
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
    return bind_links(s, net, error) && bind_nics(s, net, error) &&
           bind_switches(s, net, error) && check_switches(s, net, error) &&
           check_nics(s, net, error);
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

/* ---- faults, samples ------------------------------------------------------------------ */

gboolean
scenario_bind_faults(const struct scenario *s, struct net *net, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), list = doc_key(&root, "faults");

    for (guint i = 0; i < s->faults->len; i++) {
        const struct scenario_fault *f =
            &g_array_index(s->faults, struct scenario_fault, i);
        uint32_t link = net_find_link(net, f->link);
        struct doc_at at = doc_index(&list, i);
        struct fault fault = {
            .at_ps = f->at_ps,
            .kind = f->kind,
            .rate_bps = f->rate_bps,
            .error_rate = (double)f->error_e18 / (double)PARAM_SHARE_ONE,
            .drop = f->packets != NULL ? (uint64_t *)(void *)f->packets->data : NULL,
            .n_drop = f->packets != NULL ? f->packets->len : 0};

        if (link == UINT32_MAX) {
            g_autoptr(GPtrArray) names = g_ptr_array_new();

            for (uint32_t l = 0; l < net->n_links; l++) {
                g_ptr_array_add(names, net->links[l].name);
            }
            g_ptr_array_add(names, NULL);
            return doc_fail_key(
                &at, "link", SCENARIO_ERROR_NAME, error,
                "no link '%.60s'; nearest is '%s'", f->link,
                param_nearest_word((const char *const *)names->pdata, f->link));
        }
        if (f->kind == FAULT_RATE && f->rate_bps > net->links[link].params.rate_bps) {
            return doc_fail_key(&at, "rate", SCENARIO_ERROR_VALUE, error,
                                "is above the link's own rate");
        }
        net_add_fault(net, link, &fault);
    }
    return TRUE;
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
