/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_import_files.c - readers of other simulators' topologies and flows: each file below
 * tests/data/import/topology and flows against what is expected of it, which stands beside it.
 * IMPORT_ACCEPT=1 writes that anew.
 */
#include <config.h>

#include "topologies/file/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/data.h"
#include "workloads/file/file.h"

/* A warning or error, without the folder of 'path', which it begins with. */
static void
add_line(GString *text, const char *what, const char *path, const char *line)
{
    const char *name = strrchr(path, '/') + 1;

    assert_true(g_str_has_prefix(line, path));
    g_string_append_printf(text, "%s%s\n", what, line + (name - path));
}

static void
add_warnings(GString *text, const char *path, const GPtrArray *warnings)
{
    for (guint i = 0; i < warnings->len; i++) {
        add_line(text, "warning: ", path, warnings->pdata[i]);
    }
}

static void
show_topology(GString *text, const char *path, const struct topo_file *file)
{
    g_string_append_printf(text, "%u numbers, %u GPUs a host\n", file->n_numbers,
                           file->gpus);
    if (file->pipe_rate_bps != TOPO_FILE_UNSAID) {
        g_string_append_printf(text, "pipe %lld bit/s %lld ps\n",
                               (long long)file->pipe_rate_bps,
                               (long long)file->pipe_latency_ps);
    }
    for (int tier = 0; tier < TOPO_MAX_TIERS; tier++) {
        if (file->switch_latency_ps[tier] != TOPO_FILE_UNSAID) {
            g_string_append_printf(text, "tier %d latency %lld ps\n", tier,
                                   (long long)file->switch_latency_ps[tier]);
        }
    }
    for (guint i = 0; i < file->nodes->len; i++) {
        const struct topo_graph_node *node =
            &g_array_index(file->nodes, struct topo_graph_node, i);

        g_string_append_printf(text, "%s%s %s",
                               i % 8 == 0 && i > 0 ? "\n"
                               : i > 0             ? ", "
                                                   : "",
                               node->kind == NODE_HOST ? "host" : "switch", node->name);
    }
    g_string_append_c(text, '\n');
    for (guint i = 0; i < file->links->len; i++) {
        const struct topo_file_link *link =
            &g_array_index(file->links, struct topo_file_link, i);

        g_string_append_printf(
            text, "%s - %s %lld bit/s %lld ps error %lld line %u\n",
            g_array_index(file->nodes, struct topo_graph_node, link->a).name,
            g_array_index(file->nodes, struct topo_graph_node, link->b).name,
            (long long)link->rate_bps, (long long)link->delay_ps,
            (long long)link->error_e18, link->line);
    }
    add_warnings(text, path, file->warnings);
}

static void
show_flows(GString *text, const char *path, const struct flow_file *file)
{
    g_string_append_printf(text, "%lld nodes, in %s\n", (long long)file->n_nodes,
                           file->in_packets ? "packets" : "bytes");
    for (guint i = 0; i < file->flows->len; i++) {
        const struct flow_file_flow *flow =
            &g_array_index(file->flows, struct flow_file_flow, i);

        g_string_append_printf(
            text,
            "%u -> %u %lld at %lld ps class %d dport %d id %u after %u "
            "sent %u received %u line %u\n",
            flow->src, flow->dst, (long long)flow->bytes, (long long)flow->start_ps,
            flow->cls, flow->dport, flow->id, flow->after, flow->sent, flow->received,
            flow->line);
    }
    for (guint i = 0; i < file->triggers->len; i++) {
        const struct flow_file_trigger *trigger =
            &g_array_index(file->triggers, struct flow_file_trigger, i);

        g_string_append_printf(text, "trigger %u kind %d count %lld line %u\n",
                               trigger->id, trigger->kind, (long long)trigger->count,
                               trigger->line);
    }
    for (guint i = 0; i < file->failures->len; i++) {
        const struct flow_file_failure *failure =
            &g_array_index(file->failures, struct flow_file_failure, i);

        g_string_append_printf(text, "failure tier %d switch %u link %u line %u\n",
                               (int)failure->tier, failure->sw, failure->link,
                               failure->line);
    }
    add_warnings(text, path, file->warnings);
}

/* What the reader called 'format' of 'kind' makes of the file 'path'. */
static char *
read_case(const char *kind, const char *format, const char *path)
{
    GString *text = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    g_autofree char *data = NULL;
    gsize n_bytes;

    assert_true(g_file_get_contents(path, &data, &n_bytes, NULL));
    if (strcmp(kind, "topology") == 0) {
        struct topo_file *file =
            topo_file_read(topo_reader_find(format), path, data, n_bytes, &error);

        if (file != NULL) {
            show_topology(text, path, file);
        }
        topo_file_free(file);
    } else {
        struct flow_file *file =
            flow_file_read(flow_reader_find(format), path, data, n_bytes, &error);

        if (file != NULL) {
            show_flows(text, path, file);
        }
        flow_file_free(file);
    }
    if (error != NULL) {
        assert_null(strchr(error->message, '\n'));
        add_line(text, "error: ", path, error->message);
    }
    return g_string_free(text, FALSE);
}

static void
check_case(const char *kind, const char *format, const char *path)
{
    g_autofree char *got = read_case(kind, format, path);
    g_autofree char *stem = g_strndup(path, strlen(path) - strlen(".txt"));
    g_autofree char *beside = g_strconcat(stem, ".expect", NULL);
    g_autofree char *wanted = NULL;

    if (g_getenv("IMPORT_ACCEPT") != NULL) {
        assert_true(g_file_set_contents(beside, got, -1, NULL));
    }
    assert_true(g_file_get_contents(beside, &wanted, NULL, NULL));
    if (strcmp(got, wanted) != 0) {
        print_message("%s:\n%s", path, got);
    }
    assert_string_equal(got, wanted);
}

/* All files of a folder, in any order; how many there are. */
static guint
check_folder(const char *kind, const char *format)
{
    g_autofree char *below = g_build_filename("tests/data/import", kind, format, NULL);
    g_autofree char *folder = data_path(below);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    guint n = 0;

    assert_non_null(dir);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);

        if (g_str_has_suffix(name, ".txt")) {
            check_case(kind, format, path);
            n++;
        }
    }
    return n;
}

static void
test_topologies(void **state)
{
    (void)state;
    for (const struct topo_reader *const *r = topo_reader_list; *r != NULL; r++) {
        assert_true(check_folder("topology", (*r)->name) >= 1);
    }
}

static void
test_flows(void **state)
{
    (void)state;
    for (const struct flow_reader *const *r = flow_reader_list; *r != NULL; r++) {
        assert_true(check_folder("flows", (*r)->name) >= 1);
    }
}

static void
test_names(void **state)
{
    (void)state;
    assert_null(topo_reader_find("fat"));
    assert_null(flow_reader_find("simai"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topologies),
        cmocka_unit_test(test_flows),
        cmocka_unit_test(test_names),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
