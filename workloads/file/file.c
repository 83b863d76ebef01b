/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * file.c - what readers of flow files share.
 */
#include <config.h>

#include "workloads/file/file.h"

#include <string.h>

#define READER(name) extern const struct flow_reader flow_reader_##name;
#include "workloads/file/reader_list.def"
#undef READER

const struct flow_reader *const flow_reader_list[] = {
#define READER(name) &flow_reader_##name,
#include "workloads/file/reader_list.def"
#undef READER
    NULL,
};

GQuark
flow_file_error_quark(void)
{
    return g_quark_from_static_string("flow-file-error");
}

const struct flow_reader *
flow_reader_find(const char *name)
{
    for (const struct flow_reader *const *r = flow_reader_list; *r != NULL; r++) {
        if (strcmp((*r)->name, name) == 0) {
            return *r;
        }
    }
    return NULL;
}

struct flow_file *
flow_file_read(const struct flow_reader *reader, const char *name, const char *data,
               size_t n_bytes, GError **error)
{
    struct flow_file *file = g_new0(struct flow_file, 1);
    struct text t;

    file->flows = g_array_new(FALSE, FALSE, sizeof(struct flow_file_flow));
    file->triggers = g_array_new(FALSE, FALSE, sizeof(struct flow_file_trigger));
    file->failures = g_array_new(FALSE, FALSE, sizeof(struct flow_file_failure));
    file->warnings = g_ptr_array_new_with_free_func(g_free);
    file->n_nodes = -1;
    text_init(&t, name, data, n_bytes);
    if (!reader->read(&t, file)) {
        g_set_error(error, FLOW_FILE_ERROR, FLOW_FILE_ERROR_FORM, "%s", t.message);
        flow_file_free(file);
        return NULL;
    }
    return file;
}

void
flow_file_free(struct flow_file *file)
{
    if (file != NULL) {
        g_array_unref(file->flows);
        g_array_unref(file->triggers);
        g_array_unref(file->failures);
        g_ptr_array_unref(file->warnings);
        g_free(file);
    }
}

void
flow_file_warn__(struct flow_file *file, const struct text *t, unsigned line,
                 const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    g_ptr_array_add(file->warnings, g_strdup_printf("%s:%u: %s", t->name, line, message));
}
