/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * file.c - what readers of topology files share.
 */
#include <config.h>

#include "topologies/file/file.h"

#include <string.h>

#define READER(name) extern const struct topo_reader topo_reader_##name;
#include "topologies/file/reader_list.def"
#undef READER

const struct topo_reader *const topo_reader_list[] = {
#define READER(name) &topo_reader_##name,
#include "topologies/file/reader_list.def"
#undef READER
    NULL,
};

static void
node_clear(void *data)
{
    g_free((char *)(uintptr_t)((struct topo_graph_node *)data)->name);
}

const struct topo_reader *
topo_reader_find(const char *name)
{
    for (const struct topo_reader *const *r = topo_reader_list; *r != NULL; r++) {
        if (strcmp((*r)->name, name) == 0) {
            return *r;
        }
    }
    return NULL;
}

struct topo_file *
topo_file_read(const struct topo_reader *reader, const char *name, const char *data,
               size_t n_bytes, GError **error)
{
    struct topo_file *file = g_new0(struct topo_file, 1);
    struct text t;

    file->nodes = g_array_new(FALSE, FALSE, sizeof(struct topo_graph_node));
    g_array_set_clear_func(file->nodes, node_clear);
    file->links = g_array_new(FALSE, FALSE, sizeof(struct topo_file_link));
    file->warnings = g_ptr_array_new_with_free_func(g_free);
    file->gpus = 1;
    file->pipe_rate_bps = file->pipe_latency_ps = TOPO_FILE_UNSAID;
    for (int tier = 0; tier < TOPO_MAX_TIERS; tier++) {
        file->switch_latency_ps[tier] = TOPO_FILE_UNSAID;
    }
    text_init(&t, name, data, n_bytes);
    if (!reader->read(&t, file)) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_GRAPH, "%s", t.message);
        topo_file_free(file);
        return NULL;
    }
    return file;
}

void
topo_file_free(struct topo_file *file)
{
    if (file != NULL) {
        g_array_unref(file->nodes);
        g_array_unref(file->links);
        g_ptr_array_unref(file->warnings);
        g_free(file->node_of);
        g_free(file);
    }
}

void
topo_file_add_node__(struct topo_file *file, enum node_kind kind, uint8_t tier,
                     const char *format, ...)
{
    struct topo_graph_node node = {.kind = kind, .tier = tier};
    va_list args;

    va_start(args, format);
    node.name = g_strdup_vprintf(format, args);
    va_end(args);
    g_array_append_val(file->nodes, node);
}

void
topo_file_add_link__(struct topo_file *file, uint32_t a, uint32_t b, int64_t rate_bps,
                     int64_t delay_ps, int64_t error_e18, unsigned line)
{
    struct topo_file_link link = {a, b, rate_bps, delay_ps, error_e18, line};

    g_array_append_val(file->links, link);
}

void
topo_file_warn__(struct topo_file *file, const struct text *t, unsigned line,
                 const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    g_ptr_array_add(file->warnings, g_strdup_printf("%s:%u: %s", t->name, line, message));
}
