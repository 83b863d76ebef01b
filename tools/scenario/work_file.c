/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * work_file.c - another simulator's flows.
 *
 * A number in such a file means the node that the topology file calls so; with another kind
 * of topology, the host at that place.  A host then stands for the one at its place among
 * `hosts`, in the order of `place`.
 */
#include <config.h>

#include "tools/scenario/work_file.h"

#include <string.h>

G_GNUC_PRINTF(4, 5)
static gboolean
fail_line(const struct scenario_work *w, unsigned line, GError **error,
          const char *format, ...)
{
    g_autofree char *where = g_strdup_printf("%s:%u", w->path, line);
    struct doc_at at = doc_root(where, NULL);
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    return doc_fail(&at, SCENARIO_ERROR_VALUE, error, "%s", message);
}

static gboolean
read_format(const struct doc_at *at, int *index, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (const struct flow_reader *const *r = flow_reader_list; *r != NULL; r++) {
        g_ptr_array_add(names, (gpointer)(uintptr_t)(*r)->name);
    }
    g_ptr_array_add(names, NULL);
    return doc_word(at, (const char *const *)names->pdata, NULL, index, error);
}

/* Counts of packets become bytes, of the size that NICs send. */
static gboolean
packets_to_bytes(const struct scenario *s, struct scenario_work *w, GError **error)
{
    const struct param *p = param_find(work_permutation_params, "bytes");

    for (guint i = 0; i < w->file->flows->len; i++) {
        struct flow_file_flow *flow =
            &g_array_index(w->file->flows, struct flow_file_flow, i);
        char high[PARAM_TEXT_BYTES];

        if (w->file->in_packets) {
            flow->bytes = flow->bytes > INT64_MAX / s->nic.params.mtu_bytes
                              ? INT64_MAX
                              : flow->bytes * s->nic.params.mtu_bytes;
        }
        if (!param_allows(p, flow->bytes)) {
            param_format(p, p->max, high);
            return fail_line(w, flow->line, error,
                             "the flow has %" G_GINT64_FORMAT " bytes; allowed up to %s",
                             flow->bytes, high);
        }
    }
    return TRUE;
}

/* Flows go as the workload's `qos` says, whatever the file has; not with `compat` "hpcc". */
static void
warn_classes(const struct scenario *s, const struct scenario_work *w)
{
    const struct net_qos *qos = &g_array_index(s->qos, struct net_qos, w->qos);

    for (guint i = 0; i < w->file->flows->len; i++) {
        const struct flow_file_flow *flow =
            &g_array_index(w->file->flows, struct flow_file_flow, i);

        if (flow->cls >= 0 && flow->cls != qos->cls) {
            g_autofree char *line =
                g_strdup_printf("%s:%u: priority group %d has no effect: flows of this "
                                "workload travel in "
                                "class %u, that of qos \"%s\"",
                                w->path, flow->line, flow->cls, qos->cls, qos->name);

            g_ptr_array_add(s->warnings, doc_one_line(line));
            return;
        }
    }
}

gboolean
work_file_read(const struct scenario *s, const struct doc_at *at, struct scenario_work *w,
               GError **error)
{
    struct doc_at format = doc_key(at, "format"), path = doc_key(at, "path");
    g_autoptr(GError) cause = NULL;
    g_autofree char *data = NULL;
    const char *text;
    size_t n_bytes;
    int index;

    if (!read_format(&format, &index, error) || !doc_text(&path, &text, error)) {
        return FALSE;
    }
    w->format = g_strdup(flow_reader_list[index]->name);
    w->path = g_canonicalize_filename(text, NULL);
    data = doc_read_file(w->path, &n_bytes, error);
    if (data == NULL) {
        return FALSE;
    }
    w->file = flow_file_read(flow_reader_list[index], w->path, data, n_bytes, &cause);
    if (w->file == NULL) {
        g_autofree char *message = doc_one_line(cause->message);

        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_VALUE, "%s", message);
        return FALSE;
    }
    for (guint i = 0; i < w->file->warnings->len; i++) {
        g_ptr_array_add(s->warnings, doc_one_line(w->file->warnings->pdata[i]));
    }
    if (!s->is_hpcc) {
        warn_classes(s, w);
    }
    return packets_to_bytes(s, w, error);
}

/* ---- failures ------------------------------------------------------------------------- */

static uint32_t
find_node(const struct topo_file *topo, const char *prefix, uint32_t number)
{
    g_autofree char *name = g_strdup_printf("%s%u", prefix, number);

    for (guint i = 0; i < topo->nodes->len; i++) {
        if (strcmp(g_array_index(topo->nodes, struct topo_graph_node, i).name, name) ==
            0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* The switches at both ends of 'failure', lower one first; UINT32_MAX: there is none. */
static void
find_ends(const struct topo_file *topo, const struct flow_file_failure *failure,
          uint32_t end[2])
{
    uint32_t tors = topo->per_pod[1], spines = topo->per_pod[2];

    end[0] = end[1] = UINT32_MAX;
    if (spines == 0) {
        return;
    }
    switch (failure->tier) {
    case FLOW_FILE_TOR:
        if (failure->link < spines) {
            end[0] = find_node(topo, "leaf", failure->sw);
            end[1] =
                find_node(topo, "spine", failure->sw / tors * spines + failure->link);
        }
        break;
    case FLOW_FILE_AGG:
        if (failure->link < topo->cores_per_middle) {
            end[0] = find_node(topo, "spine", failure->sw);
            end[1] =
                find_node(topo, "core", failure->sw % spines + spines * failure->link);
        }
        break;
    case FLOW_FILE_CORE:
        if (failure->link < topo->pods) {
            end[0] =
                find_node(topo, "spine", failure->link * spines + failure->sw % spines);
            end[1] = find_node(topo, "core", failure->sw);
        }
        break;
    }
}

/* Name of the link at 'place', as the network will call it. */
static char *
link_name(const struct topo_file *topo, uint32_t place)
{
    const struct topo_file_link *link =
        &g_array_index(topo->links, struct topo_file_link, place);
    guint n = 0;

    for (guint i = 0; i < topo->links->len; i++) {
        const struct topo_file_link *other =
            &g_array_index(topo->links, struct topo_file_link, i);

        n += other->a == link->a && other->b == link->b;
    }
    return g_strdup_printf(
        "%s-%s%s", g_array_index(topo->nodes, struct topo_graph_node, link->a).name,
        g_array_index(topo->nodes, struct topo_graph_node, link->b).name,
        n > 1 ? "#1" : "");
}

uint32_t
work_file_failed_link(const struct topo_file *topo,
                      const struct flow_file_failure *failure)
{
    uint32_t end[2];

    find_ends(topo, failure, end);
    for (guint i = 0; i < topo->links->len; i++) {
        const struct topo_file_link *link =
            &g_array_index(topo->links, struct topo_file_link, i);

        if (link->a == end[0] && link->b == end[1]) {
            return i;
        }
    }
    return UINT32_MAX;
}

gboolean
work_file_add_faults(struct scenario *s, const struct scenario_work *w, GError **error)
{
    for (guint i = 0; w->file != NULL && i < w->file->failures->len; i++) {
        const struct flow_file_failure *failure =
            &g_array_index(w->file->failures, struct flow_file_failure, i);
        struct scenario_fault fault = {.kind = SCENARIO_DOWN, .from_file = true};
        uint32_t place;

        if (s->topo_file == NULL || s->topo_file->pods == 0) {
            return fail_line(w, failure->line, error,
                             "a failure needs the topology that it belongs to; give "
                             "topology.type \"file\", format \"htsim\"");
        }
        place = work_file_failed_link(s->topo_file, failure);
        if (place == UINT32_MAX) {
            return fail_line(w, failure->line, error,
                             "the topology has no such link: switch_id %u, link_id %u",
                             failure->sw, failure->link);
        }
        fault.name = link_name(s->topo_file, place);
        g_array_append_val(s->faults, fault);
    }
    return TRUE;
}

/* ---- on a network --------------------------------------------------------------------- */

/* Place among all hosts of the number 'number' of a file; UINT32_MAX: it is no host. */
static uint32_t
place_of(const struct scenario *s, const struct net *net, uint32_t number)
{
    const struct topo_file *topo = s->topo_file;
    uint32_t node;

    if (topo == NULL) {
        return number < net->n_hosts ? number : UINT32_MAX;
    }
    if (number >= topo->n_numbers || topo->node_of[number] == UINT32_MAX) {
        return UINT32_MAX;
    }
    /* Nodes of the file and of the network are the same, in the same order. */
    node = topo->node_of[number];
    return net->nodes[node].kind == NODE_HOST ? net->nodes[node].index : UINT32_MAX;
}

static gboolean
find_host(const struct scenario *s, const struct scenario_work *spec,
          const struct net *net, const struct work_params *w,
          const struct flow_file_flow *flow, bool is_src, uint32_t *host, GError **error)
{
    uint32_t number = is_src ? flow->src : flow->dst, place = place_of(s, net, number);

    if (place >= w->n_hosts) {
        return fail_line(spec, flow->line, error,
                         "the %s is %u, which is no host of the workload; it has %u of "
                         "the %u hosts there are",
                         is_src ? "source" : "destination", number, w->n_hosts,
                         net->n_hosts);
    }
    *host = w->hosts[place];
    return TRUE;
}

/* What the HPCC simulator takes from a flow: its priority group, by the first name of `qos`
 * with that class (the workload's goes before), and its UDP port. */
static gboolean
take_hpcc(const struct scenario *s, const struct scenario_work *spec,
          const struct flow_file_flow *from, struct work_flow *flow, GError **error)
{
    const GArray *all = s->qos;
    guint i = 0;

    flow->dport = from->dport > 0 ? (uint16_t)from->dport : 0;
    if (from->cls < 0 || g_array_index(all, struct net_qos, spec->qos).cls == from->cls) {
        return TRUE;
    }
    while (i < all->len && g_array_index(all, struct net_qos, i).cls != from->cls) {
        i++;
    }
    if (i == all->len) {
        return fail_line(spec, from->line, error,
                         "the priority group is %d; no name of qos has that class",
                         from->cls);
    }
    flow->qos = i + 1;
    return TRUE;
}

gboolean
work_file_bind(const struct scenario *s, const struct scenario_work *spec,
               const struct net *net, struct work_params *w, GError **error)
{
    const struct flow_file *file = spec->file;

    if (file->n_nodes >= 0 && file->n_nodes != w->n_hosts) {
        return fail_line(spec, 1, error,
                         "the file is for %" G_GINT64_FORMAT
                         " nodes; the workload has %u hosts",
                         file->n_nodes, w->n_hosts);
    }
    w->n_flows = file->flows->len;
    w->flows = g_new0(struct work_flow, w->n_flows);
    for (guint i = 0; i < w->n_flows; i++) {
        const struct flow_file_flow *from =
            &g_array_index(file->flows, struct flow_file_flow, i);
        struct work_flow *flow = &w->flows[i];

        if (!find_host(s, spec, net, w, from, true, &flow->src, error) ||
            !find_host(s, spec, net, w, from, false, &flow->dst, error)) {
            return FALSE;
        }
        flow->bytes = from->bytes;
        flow->start_ps = from->start_ps;
        flow->after = from->after;
        flow->sent = from->sent;
        flow->received = from->received;
        if (s->is_hpcc && !take_hpcc(s, spec, from, flow, error)) {
            return FALSE;
        }
    }
    w->n_triggers = file->triggers->len;
    w->triggers = g_new0(struct work_trigger, (gsize)w->n_triggers + 1);
    for (guint i = 0; i < w->n_triggers; i++) {
        const struct flow_file_trigger *trigger =
            &g_array_index(file->triggers, struct flow_file_trigger, i);

        w->triggers[i].kind = (enum work_trigger_kind)trigger->kind;
        w->triggers[i].count = trigger->count;
    }
    return TRUE;
}
