/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pauses.c - pfc.csv, pfc.txt and pfc-tree.txt, see pauses.h.
 */
#include <config.h>

#include "tools/results/pauses.h"

#include "tools/results/pause_tree.h"
#include "tools/results/port_name.h"
#include "tools/results/text.h"

#define CSV_NAME "pfc.csv"
#define TXT_NAME "pfc.txt"
#define TREE_NAME "pfc-tree.txt"

/* Roots that go into the summary. */
#define MOST_ROOTS 5

static_assert(sizeof(struct pause) <= 32, "there may be millions");

struct pauses {
    const struct outdir *dir; /* borrowed */
    const struct net *net;    /* borrowed */
    FILE *csv;                /* owned */
    FILE *txt;                /* owned; NULL: not wanted */
    GString *line;            /* owned */
    GArray *all;              /* owned: struct pause */
    gboolean failed;
};

struct pauses *
pauses_new(const struct outdir *dir, const struct net *net, bool has_txt, GError **error)
{
    struct pauses *pauses = g_new0(struct pauses, 1);

    pauses->dir = dir;
    pauses->net = net;
    pauses->line = g_string_new(NULL);
    pauses->all = g_array_new(FALSE, FALSE, sizeof(struct pause));
    pauses->csv = outdir_open(dir, CSV_NAME, error);
    if (pauses->csv && has_txt) {
        pauses->txt = outdir_open(dir, TXT_NAME, error);
    }
    if (!pauses->csv || (has_txt && !pauses->txt)) {
        pauses_free(pauses);
        return NULL;
    }
    fputs("time_us,port,class,duration_us,cause_port,paused_port,cause_held\n",
          pauses->csv);
    return pauses;
}

static void
put_pause(struct pauses *pauses, const struct pause *pause)
{
    GString *line = pauses->line;

    g_string_truncate(line, 0);
    text_us(line, pause->start_ps);
    g_string_append_c(line, ',');
    port_name_csv(line, pauses->net, pause->port);
    g_string_append_printf(line, ",%u,", pause->cls);
    text_us(line, pause->length_ps);
    g_string_append_c(line, ',');
    port_name_csv(line, pauses->net, pause->cause);
    g_string_append_c(line, ',');
    port_name_csv(line, pauses->net, pause->paused);
    g_string_append(line, pause->held ? ",1\n" : ",0\n");
    if (fwrite(line->str, 1, line->len, pauses->csv) != line->len) {
        pauses->failed = TRUE;
    }
}

static void
take(struct pauses *pauses, int64_t start_ps, int64_t end_ps, uint32_t port, unsigned cls,
     uint32_t cause, bool held)
{
    const struct pause pause = {.start_ps = start_ps,
                                .length_ps = end_ps - start_ps,
                                .port = port,
                                .paused = pauses->net->ports[port].peer,
                                .cause = cause,
                                .cls = (uint8_t)cls,
                                .held = held};

    g_array_append_val(pauses->all, pause);
    put_pause(pauses, &pause);
}

void
pauses_add(struct pauses *pauses, const struct probe_record *record)
{
    take(pauses, record->a, record->time_ps, record->object, record->cls,
         (uint32_t)record->b, record->c);
}

/* "time node nodeType ifIndex type", as get_pfc() of third.cc: ns, 0 a host and 1 a switch,
 * interfaces from 1, 1 a pause and 0 a resume. */
void
pauses_heard(struct pauses *pauses, const struct probe_record *record)
{
    const struct net_node *node = port_name_node(pauses->net, record->object);

    if (fprintf(pauses->txt, "%" G_GINT64_FORMAT " %u %d %u %d\n",
                record->time_ps / PS_PER_NS, (unsigned)(node - pauses->net->nodes),
                node->kind == NODE_SWITCH, record->object - node->first_port + 1,
                record->a != 0) < 0) {
        pauses->failed = TRUE;
    }
}

gboolean
pauses_have_failed(const struct pauses *pauses)
{
    return pauses->failed;
}

static void
take_open(struct pauses *pauses, int64_t end_ps)
{
    for (uint32_t p = 0; p < pauses->net->n_ports; p++) {
        for (unsigned c = 0; c < N_CLASSES; c++) {
            const struct in_class *in = &pauses->net->ports[p].in[c];

            if (in->xoff) {
                take(pauses, in->xoff_at_ps, end_ps, p, c, in->xoff_cause, in->xoff_held);
            }
        }
    }
}

/* ---- the tree ------------------------------------------------------------------------- */

/* The host whose NIC 'port' is. */
static uint32_t
host_of(const void *ctx, uint32_t port)
{
    const struct net *net = ctx;
    const struct net_node *node = port_name_node(net, port);

    return node->kind == NODE_HOST ? node->index : UINT32_MAX;
}

static void
put_node(GString *out, const struct net *net, const struct pause_node *node,
         unsigned level)
{
    g_autoptr(GString) all = g_string_new(NULL);
    g_autoptr(GString) own = g_string_new(NULL);
    g_autofree char *name = port_name_to(net, node->port);

    text_quotient_fixed(all, node->all_ps, PS_PER_US, 3);
    text_quotient_fixed(own, node->paused_ps, PS_PER_US, 3);
    g_string_append_printf(out, "%15s %15s %9" G_GINT64_FORMAT "  %*s%s", all->str,
                           own->str, node->n_pauses, 2 * (int)level, "", name);
    if (level == 0) {
        struct pause_reach reach = pause_tree_reach(node, host_of, net);

        g_string_append_printf(out,
                               ", class %u: root of %" G_GINT64_FORMAT
                               " pauses, %u ports, %u hosts, %u hops up",
                               node->cls, node->n_all, reach.n_ports, reach.n_hosts,
                               reach.depth);
    }
    if (node->is_held) {
        g_string_append(out, "; its peer held it, by no pause of pfc.csv");
    }
    g_string_append(out,
                    node->is_loop ? "; a loop: stood still because of itself\n" : "\n");
    for (guint i = 0; i < node->below->len; i++) {
        put_node(out, net, g_ptr_array_index(node->below, i), level + 1);
    }
}

static char *
text_of_tree(const struct pause_tree *tree, const struct net *net)
{
    GString *out = g_string_new(
        "# Who made whom wait.  Each line is an egress port; it stood still because the\n"
        "# one it is indented under was full.  in_all_us: for how long, with all below;\n"
        "# itself_us and pauses: alone, because of this.  docs/results.md says more.\n");

    g_string_append_printf(out, "%15s %15s %9s  %s\n", "in_all_us", "itself_us", "pauses",
                           "port");
    for (guint i = 0; i < tree->roots->len; i++) {
        put_node(out, net, g_ptr_array_index(tree->roots, i), 0);
    }
    return g_string_free(out, FALSE);
}

static void
sum_up(const struct pause_tree *tree, const struct net *net, struct result_pauses *sum)
{
    struct pause_reach reach = pause_tree_reach_all(tree, host_of, net);

    *sum = (struct result_pauses){.n = tree->n_pauses,
                                  .paused_ps = tree->paused_ps,
                                  .n_ports = reach.n_ports,
                                  .n_hosts = reach.n_hosts,
                                  .depth = reach.depth,
                                  .n_roots = tree->roots->len};
    sum->roots = g_array_new(FALSE, TRUE, sizeof(struct result_root));
    for (guint i = 0; i < tree->roots->len && i < MOST_ROOTS; i++) {
        const struct pause_node *node = g_ptr_array_index(tree->roots, i);
        const struct net_node *at = port_name_node(net, node->port);

        reach = pause_tree_reach(node, host_of, net);

        struct result_root root = {
            .node = at->name,
            .port = node->port - at->first_port,
            .to = port_name_node(net, net->ports[node->port].peer)->name,
            .cls = node->cls,
            .is_loop = node->is_loop,
            .is_held = node->is_held,
            .n = node->n_all,
            .paused_ps = node->all_ps,
            .n_ports = reach.n_ports,
            .n_hosts = reach.n_hosts,
            .depth = reach.depth};

        g_array_append_val(sum->roots, root);
    }
}

gboolean
pauses_finish(struct pauses *pauses, int64_t end_ps, struct result_pauses *sum,
              GError **error)
{
    FILE *csv, *txt;
    struct pause_tree *tree;
    gboolean good = TRUE;

    take_open(pauses, end_ps);
    txt = g_steal_pointer(&pauses->txt);
    if (txt && !outdir_close(pauses->dir, TXT_NAME, txt, error)) {
        return FALSE;
    }
    csv = g_steal_pointer(&pauses->csv);
    if (!outdir_close(pauses->dir, CSV_NAME, csv, error)) {
        return FALSE;
    }
    tree = pause_tree_new((struct pause *)(void *)pauses->all->data, pauses->all->len);
    if (tree->n_pauses) {
        g_autofree char *text = text_of_tree(tree, pauses->net);

        good = outdir_write(pauses->dir, TREE_NAME, text, error);
    }
    if (sum) {
        sum_up(tree, pauses->net, sum);
    }
    pause_tree_free(tree);
    return good;
}

void
pauses_free(struct pauses *pauses)
{
    if (!pauses) {
        return;
    }
    if (pauses->csv) {
        fclose(pauses->csv);
    }
    if (pauses->txt) {
        fclose(pauses->txt);
    }
    g_string_free(pauses->line, TRUE);
    g_array_unref(pauses->all);
    g_free(pauses);
}
