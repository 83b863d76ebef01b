/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_topo_file.c - `topology` of type file: another simulator's topology, read into the
 * nodes and links of a graph.
 *
 * What the file says of other parts of the scenario (GPUs of a host, latencies of switches)
 * goes into the document before these are read, unless it is given there.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <string.h>

#include "models/net_params.h"

/* A parameter of the document, as the file has it: it must agree with what is given. */
static gboolean
give(const struct doc_at *at, const struct param *p, int64_t value, const char *file,
     GError **error)
{
    struct doc_at sub = doc_key(at, p->name);
    int64_t given;

    if (sub.json == NULL) {
        json_object_set_new(at->json, p->name, doc_param_json(p, value));
        return TRUE;
    }
    if (!doc_param_value(&sub, p, &given, error)) {
        return FALSE;
    }
    if (given != value) {
        g_autofree char *shown = doc_show(sub.json);
        g_autofree char *path = doc_one_line(file);
        char text[PARAM_TEXT_BYTES];

        param_format(p, value, text);
        return doc_fail(&sub, SCENARIO_ERROR_VALUE, error,
                        "is %s, but %s says %s; allowed is that, or nothing", shown, path,
                        text);
    }
    return TRUE;
}

/* The object 'key' of 'root', made when it is not there. */
static struct doc_at
object_of(const struct doc_at *root, const char *key)
{
    if (json_object_get(root->json, key) == NULL) {
        json_object_set_new(root->json, key, json_object());
    }
    return doc_key(root, key);
}

static gboolean
give_node(const struct scenario *s, const struct doc_at *root, GError **error)
{
    const struct topo_file *file = s->topo_file;
    struct doc_at node;

    if (file->gpus == 1 && file->pipe_rate_bps == TOPO_FILE_UNSAID) {
        return TRUE;
    }
    node = object_of(root, "node");
    if (!json_is_object(node.json)) {
        return TRUE; /* read_node() says what is wrong */
    }
    return give(&node, param_find(scenario_node_table, "gpus"), file->gpus, s->topo_path,
                error) &&
           (file->pipe_rate_bps == TOPO_FILE_UNSAID ||
            (give(&node, param_find(scenario_node_table, "pipe_rate"),
                  file->pipe_rate_bps, s->topo_path, error) &&
             give(&node, param_find(scenario_node_table, "pipe_latency"),
                  file->pipe_latency_ps, s->topo_path, error)));
}

/* Latencies by tier, before what `switches` says of single ones. */
static void
give_switches(const struct scenario *s, const struct doc_at *root)
{
    static const char *const globs[] = {NULL, "leaf*", "spine*", "core*"};
    const struct param *p = param_find(switch_param_table, "latency");
    json_t *old = json_object_get(root->json, "switches"), *all;

    if (old != NULL && !json_is_object(old)) {
        return; /* part_devices_read() says what is wrong */
    }
    all = json_object();
    for (size_t tier = 1; tier < G_N_ELEMENTS(globs); tier++) {
        int64_t latency_ps = s->topo_file->switch_latency_ps[tier];

        if (latency_ps != TOPO_FILE_UNSAID) {
            json_object_set_new(
                all, globs[tier],
                json_pack("{s:o}", p->name, doc_param_json(p, latency_ps)));
        }
    }
    if (json_object_size(all) > 0) {
        if (old != NULL) {
            json_object_update(all, old);
        }
        json_object_set(root->json, "switches", all);
    }
    json_decref(all);
}

/* Are values in the range that a link of a scenario may have? */
static gboolean
check_link(const struct scenario *s, const struct topo_file_link *link, GError **error)
{
    const struct {
        const char *key;
        int64_t value;
    } parts[] = {{"rate", link->rate_bps},
                 {"delay", link->delay_ps},
                 {"error_rate", link->error_e18}};

    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        const struct param *p = param_find(scenario_link_table, parts[i].key);
        g_autofree char *where = g_strdup_printf("%s:%u", s->topo_path, link->line);
        struct doc_at at = doc_root(where, NULL);
        char value[PARAM_TEXT_BYTES], low[PARAM_TEXT_BYTES], high[PARAM_TEXT_BYTES];

        if (param_allows(p, parts[i].value)) {
            continue;
        }
        param_format(p, parts[i].value, value);
        param_format(p, p->min, low);
        param_format(p, p->max, high);
        return doc_fail(&at, SCENARIO_ERROR_VALUE, error,
                        "the %s of the link is %s; allowed is %s to %s", p->name, value,
                        low, high);
    }
    return TRUE;
}

static gboolean
fill_graph(struct scenario *s, GError **error)
{
    const struct topo_file *file = s->topo_file;

    for (guint i = 0; i < file->nodes->len; i++) {
        struct topo_graph_node node =
            g_array_index(file->nodes, struct topo_graph_node, i);

        node.name = g_strdup(node.name);
        g_array_append_val(s->graph_nodes, node);
    }
    for (guint i = 0; i < file->links->len; i++) {
        const struct topo_file_link *from =
            &g_array_index(file->links, struct topo_file_link, i);
        struct scenario_link spec = {.rate_bps = from->rate_bps,
                                     .length_mm = PARAM_SPECIAL,
                                     .delay_ps = from->delay_ps,
                                     .error_e18 = from->error_e18};
        struct topo_graph_link link = {.params = part_link_params(&spec)};

        if (!check_link(s, from, error)) {
            return FALSE;
        }
        link.a =
            g_strdup(g_array_index(file->nodes, struct topo_graph_node, from->a).name);
        link.b =
            g_strdup(g_array_index(file->nodes, struct topo_graph_node, from->b).name);
        g_array_append_val(s->graph_links, link);
        g_array_append_val(s->graph_link_specs, spec);
    }
    for (guint i = 0; i < file->warnings->len; i++) {
        g_ptr_array_add(s->warnings, doc_one_line(file->warnings->pdata[i]));
    }
    return TRUE;
}

/* Index of the text of 'at' among the names of readers. */
static gboolean
read_format(const struct doc_at *at, int *index, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (const struct topo_reader *const *r = topo_reader_list; *r != NULL; r++) {
        g_ptr_array_add(names, (gpointer)(uintptr_t)(*r)->name);
    }
    g_ptr_array_add(names, NULL);
    return doc_word(at, (const char *const *)names->pdata, NULL, index, error);
}

gboolean
part_topo_file_read(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "topology"), format = doc_key(&at, "format"),
                  path = doc_key(&at, "path");
    g_autoptr(GError) cause = NULL;
    g_autofree char *data = NULL;
    const char *text;
    size_t n_bytes;
    int index;

    if (!read_format(&format, &index, error) || !doc_text(&path, &text, error)) {
        return FALSE;
    }
    s->topo_format = g_strdup(topo_reader_list[index]->name);
    s->topo_path = g_canonicalize_filename(text, NULL);
    data = doc_read_file(s->topo_path, &n_bytes, error);
    if (data == NULL) {
        return FALSE;
    }
    s->topo_file =
        topo_file_read(topo_reader_list[index], s->topo_path, data, n_bytes, &cause);
    if (s->topo_file == NULL) {
        g_autofree char *message = doc_one_line(cause->message);

        g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_VALUE, "%s", message);
        return FALSE;
    }
    give_switches(s, root);
    return fill_graph(s, error) && give_node(s, root, error);
}

void
part_topo_file_write(const struct scenario *s, json_t *topology)
{
    json_object_set_new(topology, "format", json_string(s->topo_format));
    json_object_set_new(topology, "path", json_string(s->topo_path));
}

void
part_topo_file_clear(struct scenario *s)
{
    topo_file_free(s->topo_file);
    g_free(s->topo_format);
    g_free(s->topo_path);
}
