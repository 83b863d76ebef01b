/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bind_faults.c - `faults` of a scenario onto a network.
 *
 * A switch that is down takes all its links down.  A link that two faults have taken down
 * comes up only when both are over.
 */
#include <config.h>

#include "tools/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "tools/scenario/doc.h"
#include "tools/scenario/parts.h"

static const struct scenario_fault *
fault_at(const struct scenario *s, guint index)
{
    return &g_array_index(s->faults, struct scenario_fault, index);
}

/* That 'noun' 'name' is not there, and which of 'names' (NULL at the end is added) is
 * nearest. */
static gboolean
fail_name(const struct doc_at *at, const char *noun, const char *name, GPtrArray *names,
          GError **error)
{
    g_ptr_array_add(names, NULL);
    return doc_fail_key(at, noun, SCENARIO_ERROR_NAME, error,
                        "no %s '%.60s'; nearest is '%s'", noun, name,
                        param_nearest_word((const char *const *)names->pdata, name));
}

/* ---- links and switches --------------------------------------------------------------- */

static gboolean
check_link(const struct scenario_fault *f, const struct net *net, const struct doc_at *at,
           GError **error)
{
    uint32_t link = net_find_link(net, f->name);

    if (link == UINT32_MAX) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        for (uint32_t l = 0; l < net->n_links; l++) {
            g_ptr_array_add(names, net->links[l].name);
        }
        return fail_name(at, "link", f->name, names, error);
    }
    if (f->kind == SCENARIO_RATE && f->rate_bps > net->links[link].params.rate_bps) {
        return doc_fail_key(at, "rate", SCENARIO_ERROR_VALUE, error,
                            "is above the link's own rate");
    }
    return TRUE;
}

static gboolean
check_switch(const struct scenario_fault *f, const struct net *net,
             const struct doc_at *at, GError **error)
{
    uint32_t node = net_find_node(net, f->name);

    if (node == UINT32_MAX || net->nodes[node].kind != NODE_SWITCH) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        for (uint32_t s = 0; s < net->n_switches; s++) {
            g_ptr_array_add(names, net->nodes[net->node_of_switch[s]].name);
        }
        return fail_name(at, "switch", f->name, names, error);
    }
    return TRUE;
}

/* Faults that links or switches make for links, as they happen. */
struct state {
    const struct net *net;
    bool *link_down, *node_down; /* owned: by faults of their own */
    bool *is_down;               /* owned: by link, for whatever reason */
    GArray *changes;
};

/* 'link' may have changed by fault 'index' at 'at_ps'. */
static void
look_at_link(struct state *state, uint32_t link, guint index, int64_t at_ps, bool always)
{
    const uint32_t *node = state->net->links[link].node;
    bool down =
        state->link_down[link] || state->node_down[node[0]] || state->node_down[node[1]];
    const struct scenario_link_change change = {
        .at_ps = at_ps, .index = index, .link = link, .down = down};

    if (always || down != state->is_down[link]) {
        g_array_append_val(state->changes, change);
    }
    state->is_down[link] = down;
}

static void
apply(struct state *state, const struct scenario_fault *f, guint index)
{
    bool goes_down = f->kind == SCENARIO_DOWN || f->kind == SCENARIO_SWITCH_DOWN;

    if (f->kind == SCENARIO_DOWN || f->kind == SCENARIO_UP) {
        uint32_t link = net_find_link(state->net, f->name);

        state->link_down[link] = goes_down;
        look_at_link(state, link, index, f->at_ps, true);
        return;
    }
    uint32_t node = net_find_node(state->net, f->name);

    state->node_down[node] = goes_down;
    for (uint32_t l = 0; l < state->net->n_links; l++) {
        const uint32_t *ends = state->net->links[l].node;

        if (ends[0] == node || ends[1] == node) {
            look_at_link(state, l, index, f->at_ps, false);
        }
    }
}

/* A fault and when it happens. */
struct turn {
    int64_t at_ps;
    guint index;
};

static int
compare_turns(const void *pa, const void *pb)
{
    const struct turn *a = pa, *b = pb;

    if (a->at_ps != b->at_ps) {
        return a->at_ps < b->at_ps ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

/* Links that go down or come up, in order of time; at one instant in that of the list. */
static GArray *
find_changes(const struct scenario *s, const struct net *net)
{
    g_autofree struct turn *turns = g_new(struct turn, s->faults->len + 1);
    g_autofree bool *link_down = g_new0(bool, net->n_links + 1);
    g_autofree bool *node_down = g_new0(bool, net->n_nodes + 1);
    g_autofree bool *is_down = g_new0(bool, net->n_links + 1);
    struct state state = {
        .net = net,
        .link_down = link_down,
        .node_down = node_down,
        .is_down = is_down,
        .changes = g_array_new(FALSE, FALSE, sizeof(struct scenario_link_change))};
    guint n = 0;

    for (guint i = 0; i < s->faults->len; i++) {
        enum scenario_fault_kind kind = fault_at(s, i)->kind;

        if (kind == SCENARIO_DOWN || kind == SCENARIO_UP ||
            kind == SCENARIO_SWITCH_DOWN || kind == SCENARIO_SWITCH_UP) {
            turns[n++] = (struct turn){fault_at(s, i)->at_ps, i};
        }
    }
    qsort(turns, n, sizeof *turns, compare_turns);
    for (guint i = 0; i < n; i++) {
        apply(&state, fault_at(s, turns[i].index), turns[i].index);
    }
    return state.changes;
}

/* Plans the changes that fault 'index' makes. */
static void
add_changes(struct net *net, const GArray *changes, guint index)
{
    for (guint i = 0; i < changes->len; i++) {
        const struct scenario_link_change *change =
            &g_array_index(changes, struct scenario_link_change, i);
        const struct fault fault = {.at_ps = change->at_ps,
                                    .kind = change->down ? FAULT_DOWN : FAULT_UP};

        if (change->index == index) {
            net_add_fault(net, change->link, &fault);
        }
    }
}

static void
add_link_fault(struct net *net, const struct scenario_fault *f)
{
    const struct fault fault = {
        .at_ps = f->at_ps,
        .kind = f->kind == SCENARIO_RATE         ? FAULT_RATE
                : f->kind == SCENARIO_ERROR_RATE ? FAULT_ERROR_RATE
                                                 : FAULT_DROP,
        .rate_bps = f->rate_bps,
        .error_rate = (double)f->error_e18 / (double)PARAM_SHARE_ONE,
        .drop = f->packets != NULL ? (uint64_t *)(void *)f->packets->data : NULL,
        .n_drop = f->packets != NULL ? f->packets->len : 0};

    net_add_fault(net, net_find_link(net, f->name), &fault);
}

/* ---- NICs ----------------------------------------------------------------------------- */

/* The ports of a host that 'name' means, "host3" or "host3:0": from '*first' on, how many;
 * 0: there is none. */
static uint32_t
find_ports(const struct net *net, const char *name, uint32_t *first)
{
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct net_node *node = &net->nodes[net->node_of_host[h]];
        size_t length = strlen(node->name);

        if (strncmp(name, node->name, length) != 0) {
            continue;
        }
        if (name[length] == '\0') {
            *first = node->first_port;
            return node->n_ports;
        }
        for (uint32_t p = 0; name[length] == ':' && p < node->n_ports; p++) {
            g_autofree char *number = g_strdup_printf("%u", p);

            if (strcmp(name + length + 1, number) == 0) {
                *first = node->first_port + p;
                return 1;
            }
        }
    }
    return 0;
}

static gboolean
check_port(const struct scenario_fault *f, const struct net *net, const struct doc_at *at,
           GError **error)
{
    uint32_t first;

    if (find_ports(net, f->name, &first) == 0) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

        for (uint32_t h = 0; h < net->n_hosts; h++) {
            const struct net_node *node = &net->nodes[net->node_of_host[h]];

            for (uint32_t p = 0; p < node->n_ports; p++) {
                g_ptr_array_add(names, g_strdup_printf("%s:%u", node->name, p));
            }
        }
        return fail_name(at, "port", f->name, names, error);
    }
    return TRUE;
}

static uint8_t
lossless_classes(const struct net *net)
{
    uint8_t classes = 0;

    for (uint32_t i = 0; i < net->n_qos; i++) {
        classes |= (uint8_t)(net->qos[i].lossless ? 1u << net->qos[i].cls : 0);
    }
    return classes;
}

static void
add_port_fault(struct net *net, const struct scenario_fault *f)
{
    bool storms = f->kind == SCENARIO_PAUSE_STORM;
    struct fault fault = {.at_ps = f->at_ps,
                          .kind = storms ? FAULT_STORM : FAULT_SLOW,
                          .classes = f->cls == PARAM_SPECIAL ? lossless_classes(net)
                                                             : (uint8_t)(1u << f->cls),
                          .rate_bps = f->rate_bps,
                          .buffer_bytes = f->buffer_bytes};
    uint32_t first = 0, n = find_ports(net, f->name, &first);

    for (uint32_t p = first; p < first + n; p++) {
        net_add_port_fault(net, p, &fault);
    }
    if (f->until_ps == PARAM_SPECIAL) {
        return;
    }
    fault.at_ps = f->until_ps;
    fault.kind = storms ? FAULT_STORM_END : FAULT_SLOW;
    fault.rate_bps = 0;
    for (uint32_t p = first; p < first + n; p++) {
        net_add_port_fault(net, p, &fault);
    }
}

/* ---- all ------------------------------------------------------------------------------ */

static gboolean
check_fault(const struct scenario *s, const struct net *net, guint index, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), list = doc_key(&root, "faults"),
                  at = doc_index(&list, index);
    const struct scenario_fault *f = fault_at(s, index);

    switch (f->kind) {
    case SCENARIO_DOWN:
    case SCENARIO_UP:
    case SCENARIO_RATE:
    case SCENARIO_ERROR_RATE:
    case SCENARIO_DROP:
        return check_link(f, net, &at, error);
    case SCENARIO_PAUSE_STORM:
    case SCENARIO_SLOW_RECEIVER:
        return check_port(f, net, &at, error);
    case SCENARIO_SWITCH_DOWN:
    case SCENARIO_SWITCH_UP:
        return check_switch(f, net, &at, error);
    }
    return FALSE;
}

static void
add_fault(const struct scenario *s, struct net *net, const GArray *changes, guint index)
{
    const struct scenario_fault *f = fault_at(s, index);

    switch (f->kind) {
    case SCENARIO_DOWN:
    case SCENARIO_UP:
    case SCENARIO_SWITCH_DOWN:
    case SCENARIO_SWITCH_UP:
        add_changes(net, changes, index);
        break;
    case SCENARIO_RATE:
    case SCENARIO_ERROR_RATE:
    case SCENARIO_DROP:
        add_link_fault(net, f);
        break;
    case SCENARIO_PAUSE_STORM:
    case SCENARIO_SLOW_RECEIVER:
        add_port_fault(net, f);
        break;
    }
}

GArray *
scenario_bind_faults(const struct scenario *s, struct net *net, GError **error)
{
    GArray *changes;

    for (guint i = 0; i < s->faults->len; i++) {
        if (!check_fault(s, net, i, error)) {
            return NULL;
        }
    }
    changes = find_changes(s, net);
    for (guint i = 0; i < s->faults->len; i++) {
        add_fault(s, net, changes, i);
    }
    return changes;
}
