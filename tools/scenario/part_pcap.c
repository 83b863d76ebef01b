/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_pcap.c - `output.pcap` of a scenario: where frames are captured, and which; and what
 * files that makes on a network.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <string.h>

#include "models/probe/tap.h"
#include "tools/results/capture.h"
#include "tools/results/capture_filter.h"

#define TAP(field) .offset = offsetof(struct scenario_tap, field)

/* Entries of the list; each file is asked of each port once. */
enum { TAPS_MAX = CAPTURE_MAX_FILES };

static const char *const dir_words[] = {"both", "in", "out", NULL};
static const unsigned dir_bits[] = {TAP_IN | TAP_OUT, TAP_IN, TAP_OUT};

const struct param scenario_tap_table[] = {
    {.name = "dir",
     .kind = PARAM_ENUM,
     TAP(dir),
     .unit = "",
     .def = 0,
     .min = 0,
     .max = 2,
     .names = dir_words,
     .source = "what tcpdump does",
     .doc = "frames that come in, go out, or both, seen from the port"},
    {.name = "snaplen",
     .kind = PARAM_INTEGER,
     TAP(snap_bytes),
     .unit = "bytes",
     .def = PARAM_SPECIAL,
     .min = 14,
     .max = 65535,
     .special = "whole",
     .source = "what tcpdump does",
     .doc = "bytes that are kept of a frame: 128 hold all headers"},
    {.name = "max",
     .kind = PARAM_SIZE,
     TAP(max_bytes),
     .unit = "MiB",
     .def = PARAM_SPECIAL,
     .min = 1024,
     .max = INT64_C(1) << 40,
     .special = "none",
     .source = "what tcpdump does",
     .doc = "size at which a file ends; a note in the summary says so"},
    {.name = NULL},
};

static void
tap_clear_spec(void *data)
{
    struct scenario_tap *tap = data;

    g_free(tap->at);
    g_free(tap->filter);
}

/* ---- reading -------------------------------------------------------------------------- */

static gboolean
read_filter(const struct doc_at *at, struct scenario_tap *tap, GError **error)
{
    struct doc_at filter = doc_key(at, "filter");
    g_autoptr(GError) cause = NULL;
    struct capture_filter *parsed;
    const char *text;

    if (filter.json == NULL) {
        return TRUE;
    }
    if (!doc_text(&filter, &text, error)) {
        return FALSE;
    }
    parsed = capture_filter_new(text, &cause);
    if (parsed == NULL) {
        return doc_fail(&filter, SCENARIO_ERROR_VALUE, error, "%s", cause->message);
    }
    capture_filter_free(parsed);
    tap->filter = g_strdup(text);
    return TRUE;
}

static gboolean
read_tap(const struct doc_at *at, struct scenario_tap *tap, GError **error)
{
    static const struct doc_key keys[] = {
        {"at", false}, {"filter", false}, {NULL, false}};
    struct doc_at where = doc_key(at, "at");
    const char *text;

    param_set_defaults(scenario_tap_table, tap);
    if (!doc_check_object(at, keys, scenario_tap_table, error) ||
        !doc_text(&where, &text, error) ||
        !doc_params(at, scenario_tap_table, tap, NULL, error)) {
        return FALSE;
    }
    tap->at = g_strdup(text);
    return read_filter(at, tap, error);
}

gboolean
part_pcap_read(struct scenario *s, const struct doc_at *output, GError **error)
{
    struct doc_at at = doc_key(output, "pcap");

    s->taps = g_array_new(FALSE, TRUE, sizeof(struct scenario_tap));
    g_array_set_clear_func(s->taps, tap_clear_spec);
    if (at.json == NULL) {
        return TRUE;
    }
    if (!doc_check_array(&at, error)) {
        return FALSE;
    }
    if (json_array_size(at.json) > 0 && s->wire == WIRE_HPCC) {
        return doc_fail(&at, SCENARIO_ERROR_VALUE, error,
                        "is given, but wire is \"hpcc\", whose frames are no RoCEv2; "
                        "allowed is wire \"roce\"");
    }
    if (json_array_size(at.json) > TAPS_MAX) {
        return doc_fail(&at, SCENARIO_ERROR_VALUE, error,
                        "has %zu entries; allowed are at most %d",
                        json_array_size(at.json), TAPS_MAX);
    }
    for (size_t i = 0; i < json_array_size(at.json); i++) {
        struct doc_at sub = doc_index(&at, i);
        struct scenario_tap tap = {.at = NULL};

        if (!read_tap(&sub, &tap, error)) {
            tap_clear_spec(&tap);
            return FALSE;
        }
        g_array_append_val(s->taps, tap);
    }
    return TRUE;
}

json_t *
part_pcap_json(const struct scenario *s)
{
    json_t *list = json_array();

    for (guint i = 0; i < s->taps->len; i++) {
        const struct scenario_tap *tap = &g_array_index(s->taps, struct scenario_tap, i);
        json_t *object = json_pack("{s:s}", "at", tap->at);

        if (tap->filter != NULL) {
            json_object_set_new(object, "filter", json_string(tap->filter));
        }
        doc_put_params(object, scenario_tap_table, tap,
                       part_all_keys(scenario_tap_table));
        json_array_append_new(list, object);
    }
    return list;
}

/* ---- onto a network ------------------------------------------------------------------- */

/* A file being planned for entry 'tap' at 'at'. */
static gboolean
add_file(GArray *files, const struct doc_at *at, const struct scenario_tap *tap,
         const struct net_node *node, int64_t port, GError **error)
{
    struct capture_file file = {.first_port =
                                    node->first_port + (port < 0 ? 0 : (uint32_t)port),
                                .n_ports = port < 0 ? node->n_ports : 1,
                                .dirs = dir_bits[tap->dir],
                                .filter = tap->filter,
                                .snap_bytes = tap->snap_bytes,
                                .max_bytes = tap->max_bytes};

    file.name = port < 0 ? g_strdup_printf("%s.pcap", node->name)
                         : g_strdup_printf("%s-%u.pcap", node->name, (unsigned)port);
    for (guint i = 0; i < files->len; i++) {
        if (strcmp(g_array_index(files, struct capture_file, i).name, file.name) == 0) {
            doc_fail_key(at, "at", SCENARIO_ERROR_VALUE, error,
                         "'%.60s' writes %s, which an entry before it does", tap->at,
                         file.name);
            g_free(file.name);
            return FALSE;
        }
    }
    g_array_append_val(files, file);
    if (files->len > CAPTURE_MAX_FILES) {
        return doc_fail_key(at, "at", SCENARIO_ERROR_VALUE, error,
                            "'%.60s' makes more than %d files; allowed are at most %d",
                            tap->at, CAPTURE_MAX_FILES, CAPTURE_MAX_FILES);
    }
    return TRUE;
}

static bool
fits(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || g_pattern_match_simple(pattern, name);
}

/* Nodes, or with a colon ports, that fit tap->at. */
static gboolean
add_files(GArray *files, const struct doc_at *at, const struct scenario_tap *tap,
          const struct net *net, GError **error)
{
    bool is_port = strchr(tap->at, ':') != NULL, any = false;

    for (uint32_t n = 0; n < net->n_nodes; n++) {
        const struct net_node *node = &net->nodes[n];

        if (!is_port && node->n_ports > 0 && fits(tap->at, node->name)) {
            any = true;
            if (!add_file(files, at, tap, node, -1, error)) {
                return FALSE;
            }
        }
        for (uint32_t p = 0; is_port && p < node->n_ports; p++) {
            g_autofree char *name = g_strdup_printf("%s:%u", node->name, p);

            if (fits(tap->at, name)) {
                any = true;
                if (!add_file(files, at, tap, node, p, error)) {
                    return FALSE;
                }
            }
        }
    }
    return any ||
           doc_fail_key(at, "at", SCENARIO_ERROR_NAME, error,
                        "'%.60s' fits no %s; allowed is a node, NODE:PORT or a glob such "
                        "as \"leaf0:*\"",
                        tap->at, is_port ? "port" : "node");
}

GArray *
scenario_bind_taps(const struct scenario *s, struct net *net, GError **error)
{
    struct doc_at root = doc_root(s->file, NULL), output = doc_key(&root, "output"),
                  list = doc_key(&output, "pcap");
    GArray *files = g_array_new(FALSE, TRUE, sizeof(struct capture_file));

    g_array_set_clear_func(files, capture_file_clear);
    for (guint i = 0; i < s->taps->len; i++) {
        struct doc_at at = doc_index(&list, i);

        if (!add_files(files, &at, &g_array_index(s->taps, struct scenario_tap, i), net,
                       error)) {
            g_array_unref(files);
            return NULL;
        }
    }
    if (files->len > 0) {
        net->tapped = g_new0(uint8_t, MAX(net->n_ports, 1));
    }
    for (guint i = 0; i < files->len; i++) {
        const struct capture_file *file = &g_array_index(files, struct capture_file, i);

        for (uint32_t p = 0; p < file->n_ports; p++) {
            net->tapped[file->first_port + p] |= (uint8_t)file->dirs;
        }
    }
    return files;
}

void
part_pcap_clear(struct scenario *s)
{
    g_clear_pointer(&s->taps, g_array_unref);
}
