/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_topology.c - `node` and `topology` of a scenario.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <string.h>

#include "tools/scenario/units.h"

/* Cable length of a fabric link when nothing is said; a host link's is in the table. */
enum { FABRIC_LENGTH_MM = 30000 };

#define NODE(field) .offset = offsetof(struct scenario_node, field)
#define LINK(field) .offset = offsetof(struct scenario_link, field)

const struct param scenario_node_table[] = {
    {.name = "gpus",
     .kind = PARAM_INTEGER,
     NODE(gpus),
     .unit = "",
     .def = 1,
     .min = 1,
     .max = 256,
     .source = "one rank a host, the simplest",
     .doc = "GPUs of a host, each a rank"},
    {.name = "nics",
     .kind = PARAM_INTEGER,
     NODE(nics),
     .unit = "",
     .def = 1,
     .min = 1,
     .max = 64,
     .source = "one port a host, the simplest",
     .doc = "NICs of a host, each with a link to the leaf"},
    {.name = "pipe_rate",
     .kind = PARAM_RATE,
     NODE(pipe_rate_bps),
     .unit = "Gbps",
     .def = INT64_C(3600000000000),
     .min = 1000000000,
     .max = INT64_C(100000000000000),
     .source = "NVLink 4 of an H100: 900 GB/s both ways, 450 GB/s = 3600 Gb/s each",
     .doc = "between GPUs of a host, per GPU and direction"},
    {.name = "pipe_latency",
     .kind = PARAM_TIME,
     NODE(pipe_latency_ps),
     .unit = "us",
     .def = PS_PER_US,
     .min = 0,
     .max = PS_PER_S,
     .guess = true,
     .source = "guess: about what a GPU needs to see a peer's store",
     .doc = "of that pipe, one way; a credit returns after it"},
    {.name = NULL},
};

const struct param scenario_link_table[] = {
    {.name = "rate",
     .kind = PARAM_RATE,
     LINK(rate_bps),
     .unit = "Gbps",
     .def = INT64_C(100000000000),
     .min = 1000000,
     .max = CC_MAX_RATE_BPS,
     .source = "100 Gb/s, the unit in which this documentation counts",
     .doc = "of each direction"},
    {.name = "length",
     .kind = PARAM_LENGTH,
     LINK(length_mm),
     .unit = "m",
     .def = 3000,
     .min = 0,
     .max = 1000000000,
     .source =
         "host_link 3 m, passive copper within a rack; fabric_link 30 m, a row of racks",
     .doc = "of the cable, at 5.05 ns/m; or give `delay`"},
    {.name = "delay",
     .kind = PARAM_TIME,
     LINK(delay_ps),
     .unit = "ns",
     .def = 15150,
     .min = 0,
     .max = PS_PER_S,
     .source = "from `length`",
     .doc = "one way, instead of `length`"},
    {.name = "error_rate",
     .kind = PARAM_SHARE,
     LINK(error_e18),
     .unit = "",
     .def = 0,
     .min = 0,
     .max = PARAM_SHARE_ONE,
     .source = "no errors",
     .doc = "share of packets lost, seeded"},
    {.name = "bit_error_rate",
     .kind = PARAM_SHARE,
     LINK(bit_error_e18),
     .unit = "",
     .def = 0,
     .min = 0,
     .max = PARAM_SHARE_ONE,
     .source = "no errors",
     .doc = "share of bits in error after correction; a packet with one is lost"},
    {.name = NULL},
};

enum { LINK_LENGTH = 1, LINK_DELAY = 2 }; /* their places in the table */

static const char *const later_types[] = {"fat-tree", "clos3", "rail", "dragonfly", NULL};
static const char *const node_kind_words[] = {"host", "switch", NULL};

uint64_t
part_all_keys(const struct param *table)
{
    uint64_t all = 0;

    for (const struct param *p = table; p->name != NULL; p++) {
        all |= UINT64_C(1) << (p - table);
    }
    return all;
}

uint64_t
part_key_bit(const struct param *table, const char *key)
{
    return UINT64_C(1) << (param_find(table, key) - table);
}

/* Reads keys of a link; 'length' makes 'delay'. */
static gboolean
link_read(const struct doc_at *at, const struct doc_key *more, struct scenario_link *link,
          uint64_t *set, GError **error)
{
    const uint64_t length = UINT64_C(1) << LINK_LENGTH, delay = UINT64_C(1) << LINK_DELAY;
    uint64_t given = 0;

    if (!doc_check_object(at, more, scenario_link_table, error) ||
        !doc_params(at, scenario_link_table, link, &given, error)) {
        return FALSE;
    }
    if ((given & length) && (given & delay)) {
        return doc_fail_key(at, "delay", SCENARIO_ERROR_VALUE, error,
                            "is given, and length too; allowed is one of them");
    }
    if (given & length) {
        link->delay_ps = units_cable_ps(link->length_mm);
    } else if (given & delay) {
        link->length_mm = PARAM_SPECIAL;
    }
    *set |= given;
    return TRUE;
}

static void
link_write(const struct scenario_link *link, uint64_t set, json_t *object)
{
    const uint64_t length = UINT64_C(1) << LINK_LENGTH, delay = UINT64_C(1) << LINK_DELAY;

    if (set & (length | delay)) {
        set = link->length_mm == PARAM_SPECIAL ? (set & ~length) | delay
                                               : (set & ~delay) | length;
    }
    doc_put_params(object, scenario_link_table, link, set);
}

struct link_params
part_link_params(const struct scenario_link *link)
{
    return (struct link_params){
        .rate_bps = link->rate_bps,
        .delay_ps = link->delay_ps,
        .error_rate = (double)link->error_e18 / (double)PARAM_SHARE_ONE,
        .bit_error_rate = (double)link->bit_error_e18 / (double)PARAM_SHARE_ONE};
}

static void
link_set_defaults(struct scenario_link *link, int64_t length_mm)
{
    param_set_defaults(scenario_link_table, link);
    link->length_mm = length_mm;
    link->delay_ps = units_cable_ps(length_mm);
}

/* `host_link` or `fabric_link`, which may be absent. */
static gboolean
read_common_link(const struct doc_at *at, const char *key, struct scenario_link *link,
                 GError **error)
{
    struct doc_at sub = doc_key(at, key);
    uint64_t set = 0;

    return sub.json == NULL || link_read(&sub, NULL, link, &set, error);
}

static gboolean
read_overrides(struct scenario *s, const struct doc_at *at, GError **error)
{
    struct doc_at list = doc_key(at, "overrides");
    const char *pattern;
    json_t *value;

    if (list.json == NULL) {
        return TRUE;
    }
    if (!json_is_object(list.json)) {
        return doc_fail(
            &list, SCENARIO_ERROR_TYPE, error,
            "allowed is an object of links or globs: {\"leaf0-spine*\": {...}}");
    }
    json_object_foreach(list.json, pattern, value)
    {
        struct scenario_link_override override = {0};
        struct doc_at sub = doc_key(&list, pattern);

        if (pattern[0] == '_') {
            continue;
        }
        if (!link_read(&sub, NULL, &override.link, &override.set, error)) {
            return FALSE;
        }
        override.pattern = g_strdup(pattern);
        g_array_append_val(s->link_overrides, override);
    }
    return TRUE;
}

/* ---- routes --------------------------------------------------------------------------- */

static void
route_clear(void *data)
{
    struct scenario_route *route = data;

    g_free(route->at);
    g_free(route->to);
    g_clear_pointer(&route->via, g_ptr_array_unref);
}

/* `via`: a name, or a list of them. */
static gboolean
read_via(const struct doc_at *at, GPtrArray *via, GError **error)
{
    const char *text;

    if (!json_is_array(at->json)) {
        if (!doc_text(at, &text, error)) {
            return FALSE;
        }
        g_ptr_array_add(via, g_strdup(text));
        return TRUE;
    }
    for (size_t i = 0; i < json_array_size(at->json); i++) {
        struct doc_at sub = doc_index(at, i);

        if (!doc_text(&sub, &text, error)) {
            return FALSE;
        }
        for (guint k = 0; k < via->len; k++) {
            if (strcmp(via->pdata[k], text) == 0) {
                return doc_fail(&sub, SCENARIO_ERROR_VALUE, error, "is '%.60s' again",
                                text);
            }
        }
        g_ptr_array_add(via, g_strdup(text));
    }
    return via->len > 0 || doc_fail(at, SCENARIO_ERROR_VALUE, error,
                                    "is empty; allowed is at least one neighbour");
}

static gboolean
read_routes(struct scenario *s, const struct doc_at *topology, GError **error)
{
    static const struct doc_key keys[] = {
        {"at", false}, {"to", false}, {"via", false}, {NULL, false}};
    struct doc_at list = doc_key(topology, "routes");

    if (list.json == NULL) {
        return TRUE;
    }
    if (!doc_check_array(&list, error)) {
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(list.json); i++) {
        struct doc_at one = doc_index(&list, i), at = doc_key(&one, "at"),
                      to = doc_key(&one, "to"), via = doc_key(&one, "via");
        struct scenario_route route = {.via = g_ptr_array_new_with_free_func(g_free)};
        const char *here = NULL, *host = NULL;

        if (!doc_check_object(&one, keys, NULL, error) || !doc_text(&at, &here, error) ||
            !doc_text(&to, &host, error) || !read_via(&via, route.via, error)) {
            route_clear(&route);
            return FALSE;
        }
        route.at = g_strdup(here);
        route.to = g_strdup(host);
        g_array_append_val(s->routes, route);
    }
    return TRUE;
}

static json_t *
routes_json(const struct scenario *s)
{
    json_t *list = json_array();

    for (guint i = 0; i < s->routes->len; i++) {
        const struct scenario_route *route =
            &g_array_index(s->routes, struct scenario_route, i);
        json_t *via = json_array();

        for (guint k = 0; k < route->via->len; k++) {
            json_array_append_new(via, json_string(route->via->pdata[k]));
        }
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "at", route->at, "to",
                                              route->to, "via", via));
    }
    return list;
}

/* ---- graph ---------------------------------------------------------------------------- */

static gboolean
read_graph_node(struct scenario *s, const struct doc_at *at, GError **error)
{
    static const struct doc_key keys[] = {
        {"name", false}, {"kind", false}, {"tier", false}, {NULL, false}};
    struct topo_graph_node node = {0};
    struct doc_at name = doc_key(at, "name"), kind = doc_key(at, "kind"),
                  tier = doc_key(at, "tier");
    const char *text;
    int64_t number = 0;
    int index;

    if (!doc_check_object(at, keys, NULL, error) || !doc_text(&name, &text, error) ||
        !doc_word(&kind, node_kind_words, NULL, &index, error)) {
        return FALSE;
    }
    if (tier.json != NULL && !doc_integer(&tier, 0, TOPO_MAX_TIERS - 1, &number, error)) {
        return FALSE;
    }
    node.name = g_strdup(text);
    node.kind = index == 0 ? NODE_HOST : NODE_SWITCH;
    node.tier = (uint8_t)number;
    g_array_append_val(s->graph_nodes, node);
    return TRUE;
}

/* Is 'name' a host of the graph?  'kinds': node kinds, plus 1, by name. */
static bool
is_graph_host(GHashTable *kinds, const char *name)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(kinds, name)) == NODE_HOST + 1;
}

static gboolean
read_graph_link(struct scenario *s, const struct doc_at *at, GHashTable *kinds,
                GError **error)
{
    static const struct doc_key keys[] = {{"a", false}, {"b", false}, {NULL, false}};
    struct doc_at a = doc_key(at, "a"), b = doc_key(at, "b");
    struct scenario_link spec;
    struct topo_graph_link link = {0};
    const char *text[2];
    uint64_t set = 0;

    if (!json_is_object(at->json)) {
        return doc_check_object(at, NULL, NULL, error);
    }
    if (!doc_text(&a, &text[0], error) || !doc_text(&b, &text[1], error)) {
        return FALSE;
    }
    spec = is_graph_host(kinds, text[0]) || is_graph_host(kinds, text[1])
               ? s->host_link
               : s->fabric_link;
    if (!link_read(at, keys, &spec, &set, error)) {
        return FALSE;
    }
    link.a = g_strdup(text[0]);
    link.b = g_strdup(text[1]);
    link.params = part_link_params(&spec);
    g_array_append_val(s->graph_links, link);
    g_array_append_val(s->graph_link_specs, spec);
    return TRUE;
}

static gboolean
read_graph(struct scenario *s, const struct doc_at *at, GError **error)
{
    struct doc_at nodes = doc_key(at, "nodes"), links = doc_key(at, "links");
    g_autoptr(GHashTable) kinds = g_hash_table_new(g_str_hash, g_str_equal);

    if (!doc_check_array(&nodes, error) || !doc_check_array(&links, error)) {
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(nodes.json); i++) {
        struct doc_at sub = doc_index(&nodes, i);

        if (!read_graph_node(s, &sub, error)) {
            return FALSE;
        }
    }
    for (guint i = 0; i < s->graph_nodes->len; i++) {
        const struct topo_graph_node *node =
            &g_array_index(s->graph_nodes, struct topo_graph_node, i);

        g_hash_table_insert(kinds, (gpointer)(uintptr_t)node->name,
                            GINT_TO_POINTER((int)node->kind + 1));
    }
    for (size_t i = 0; i < json_array_size(links.json); i++) {
        struct doc_at sub = doc_index(&links, i);

        if (!read_graph_link(s, &sub, kinds, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static void
write_graph(const struct scenario *s, json_t *object)
{
    json_t *nodes = json_array(), *links = json_array();

    for (guint i = 0; i < s->graph_nodes->len; i++) {
        const struct topo_graph_node *node =
            &g_array_index(s->graph_nodes, struct topo_graph_node, i);

        json_array_append_new(nodes, json_pack("{s:s, s:s, s:i}", "name", node->name,
                                               "kind", node_kind_words[node->kind],
                                               "tier", (int)node->tier));
    }
    for (guint i = 0; i < s->graph_links->len; i++) {
        const struct topo_graph_link *link =
            &g_array_index(s->graph_links, struct topo_graph_link, i);
        json_t *one = json_pack("{s:s, s:s}", "a", link->a, "b", link->b);

        link_write(&g_array_index(s->graph_link_specs, struct scenario_link, i),
                   part_all_keys(scenario_link_table), one);
        json_array_append_new(links, one);
    }
    json_object_set_new(object, "nodes", nodes);
    json_object_set_new(object, "links", links);
}

/* ---- the part ------------------------------------------------------------------------- */

/* Names of all topologies, NULL at the end. */
static GPtrArray *
topology_names(void)
{
    GPtrArray *names = g_ptr_array_new();

    for (const struct topo_ops *const *ops = topo_list; *ops != NULL; ops++) {
        g_ptr_array_add(names, (gpointer)(uintptr_t)(*ops)->name);
    }
    g_ptr_array_add(names, NULL);
    return names;
}

static gboolean
read_node(struct scenario *s, const struct doc_at *root, GError **error)
{
    static const struct doc_key keys[] = {
        {"pcie", true}, {"numa", true}, {"profile", true}, {NULL, false}};
    struct doc_at at = doc_key(root, "node");

    param_set_defaults(scenario_node_table, &s->node);
    return at.json == NULL ||
           (doc_check_object(&at, keys, scenario_node_table, error) &&
            doc_params(&at, scenario_node_table, &s->node, NULL, error));
}

/* Does a file say the nodes and links? */
static bool
is_file(const struct topo_ops *topo)
{
    return strcmp(topo->name, "file") == 0;
}

/* Keys of the topology that fit its type. */
static gboolean
check_keys(const struct scenario *s, const struct doc_at *at, GError **error)
{
    static const struct doc_key plain[] = {{"type", false},        {"host_link", false},
                                           {"fabric_link", false}, {"overrides", false},
                                           {"routes", false},      {NULL, false}};
    static const struct doc_key graph[] = {{"type", false},        {"host_link", false},
                                           {"fabric_link", false}, {"overrides", false},
                                           {"nodes", false},       {"links", false},
                                           {"routes", false},      {NULL, false}};
    static const struct doc_key file[] = {{"type", false},   {"format", false},
                                          {"path", false},   {"overrides", false},
                                          {"routes", false}, {NULL, false}};
    const struct doc_key *keys = is_file(s->topo)    ? file
                                 : s->topo->is_graph ? graph
                                                     : plain;

    if (!doc_check_object(at, keys, s->topo->params, error)) {
        return FALSE;
    }
    if (!s->topo->has_fabric && !s->topo->is_graph &&
        json_object_get(at->json, "fabric_link") != NULL) {
        return doc_fail_key(at, "fabric_link", SCENARIO_ERROR_KEY, error,
                            "a %s has none; allowed is host_link", s->topo->name);
    }
    return TRUE;
}

static gboolean
resolve(struct scenario *s, const struct doc_at *root, GError **error)
{
    g_autoptr(GError) cause = NULL;

    s->topo_input.nics_per_host = s->node.nics;
    s->topo_input.host_link = part_link_params(&s->host_link);
    s->topo_input.fabric_link = part_link_params(&s->fabric_link);
    if (s->topo->is_graph) {
        s->graph = (struct topo_graph){
            .nodes = (const struct topo_graph_node *)(void *)s->graph_nodes->data,
            .links = (const struct topo_graph_link *)(void *)s->graph_links->data,
            .n_nodes = s->graph_nodes->len,
            .n_links = s->graph_links->len};
        s->topo_input.graph = &s->graph;
        if (s->node.nics != 1) {
            struct doc_at node = doc_key(root, "node");

            return doc_fail_key(&node, "nics", SCENARIO_ERROR_VALUE, error,
                                "is %" G_GINT64_FORMAT
                                ", but in a graph the links say it; allowed is 1",
                                s->node.nics);
        }
    }
    if (s->topo->resolve(s->topo_params, &s->topo_input, &cause)) {
        return TRUE;
    }
    return doc_fail(root, SCENARIO_ERROR_VALUE, error, "%s", cause->message);
}

gboolean
part_topology_read(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "topology"), type = doc_key(&at, "type");
    g_autoptr(GPtrArray) names = topology_names();
    int index;

    s->graph_nodes = g_array_new(FALSE, FALSE, sizeof(struct topo_graph_node));
    s->graph_links = g_array_new(FALSE, FALSE, sizeof(struct topo_graph_link));
    s->graph_link_specs = g_array_new(FALSE, FALSE, sizeof(struct scenario_link));
    s->link_overrides = g_array_new(FALSE, FALSE, sizeof(struct scenario_link_override));
    s->routes = g_array_new(FALSE, TRUE, sizeof(struct scenario_route));
    g_array_set_clear_func(s->routes, route_clear);
    link_set_defaults(&s->host_link, scenario_link_table[LINK_LENGTH].def);
    link_set_defaults(&s->fabric_link, FABRIC_LENGTH_MM);
    if (!json_is_object(at.json)) {
        return doc_check_object(&at, NULL, NULL, error);
    }
    if (!doc_word(&type, (const char *const *)names->pdata, later_types, &index, error)) {
        return FALSE;
    }
    s->topo = topo_list[index];
    s->topo_params = g_malloc0(MAX(s->topo->params_bytes, 1));
    param_set_defaults(s->topo->params, s->topo_params);
    return check_keys(s, &at, error) &&
           (!is_file(s->topo) || part_topo_file_read(s, root, error)) &&
           read_node(s, root, error) &&
           doc_params(&at, s->topo->params, s->topo_params, NULL, error) &&
           read_common_link(&at, "host_link", &s->host_link, error) &&
           read_common_link(&at, "fabric_link", &s->fabric_link, error) &&
           read_overrides(s, &at, error) && read_routes(s, &at, error) &&
           (!s->topo->is_graph || is_file(s->topo) || read_graph(s, &at, error)) &&
           resolve(s, root, error);
}

void
part_topology_write(const struct scenario *s, json_t *root)
{
    const uint64_t all = part_all_keys(scenario_link_table);
    json_t *topology = json_object(), *host = json_object(), *fabric = json_object(),
           *overrides = json_object(), *node = json_object();

    json_object_set_new(topology, "type", json_string(s->topo->name));
    for (const struct param *p = s->topo->params; p->name != NULL; p++) {
        /* What is not set even after resolving has no meaning here. */
        if (param_get(p, s->topo_params) != TOPO_UNSET) {
            json_object_set_new(topology, p->name,
                                doc_param_json(p, param_get(p, s->topo_params)));
        }
    }
    link_write(&s->host_link, all, host);
    link_write(&s->fabric_link, all, fabric);
    if (!is_file(s->topo)) {
        json_object_set(topology, "host_link", host);
    }
    if ((s->topo->has_fabric || s->topo->is_graph) && !is_file(s->topo)) {
        json_object_set(topology, "fabric_link", fabric);
    }
    json_decref(host);
    json_decref(fabric);
    for (guint i = 0; i < s->link_overrides->len; i++) {
        const struct scenario_link_override *o =
            &g_array_index(s->link_overrides, struct scenario_link_override, i);
        json_t *one = json_object();

        link_write(&o->link, o->set, one);
        json_object_set_new(overrides, o->pattern, one);
    }
    json_object_set_new(topology, "overrides", overrides);
    json_object_set_new(topology, "routes", routes_json(s));
    if (is_file(s->topo)) {
        part_topo_file_write(s, topology);
    } else if (s->topo->is_graph) {
        write_graph(s, topology);
    }
    json_object_set_new(root, "topology", topology);
    doc_put_params(node, scenario_node_table, &s->node,
                   part_all_keys(scenario_node_table));
    json_object_set_new(root, "node", node);
}

void
part_topology_clear(struct scenario *s)
{
    for (guint i = 0; s->graph_nodes != NULL && i < s->graph_nodes->len; i++) {
        g_free((char *)(uintptr_t)g_array_index(s->graph_nodes, struct topo_graph_node, i)
                   .name);
    }
    for (guint i = 0; s->graph_links != NULL && i < s->graph_links->len; i++) {
        g_free((char *)(uintptr_t)g_array_index(s->graph_links, struct topo_graph_link, i)
                   .a);
        g_free((char *)(uintptr_t)g_array_index(s->graph_links, struct topo_graph_link, i)
                   .b);
    }
    for (guint i = 0; s->link_overrides != NULL && i < s->link_overrides->len; i++) {
        g_free(
            g_array_index(s->link_overrides, struct scenario_link_override, i).pattern);
    }
    g_clear_pointer(&s->graph_nodes, g_array_unref);
    g_clear_pointer(&s->graph_links, g_array_unref);
    g_clear_pointer(&s->graph_link_specs, g_array_unref);
    g_clear_pointer(&s->link_overrides, g_array_unref);
    g_clear_pointer(&s->routes, g_array_unref);
    g_clear_pointer(&s->topo_params, g_free);
    part_topo_file_clear(s);
}
