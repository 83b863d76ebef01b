/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * data.c - where the program's data files are.
 */
#include <config.h>

#include "tools/data.h"

#include <string.h>

/* The folders to look in, NULL at the end. */
static char **
data_folders(void)
{
    g_autoptr(GPtrArray) folders = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    const char *given = g_getenv("ROCESIM_DATADIR");

    if (given != NULL && given[0] != '\0') {
        g_ptr_array_add(folders, g_strdup(given));
    }
    if (program != NULL) {
        g_ptr_array_add(folders, g_path_get_dirname(program));
    }
    g_ptr_array_add(folders, g_strdup(PKGDATADIR));
    g_ptr_array_add(folders, NULL);
    g_ptr_array_set_free_func(folders, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&folders), FALSE);
}

char *
data_find(const char *relative)
{
    g_auto(GStrv) folders = data_folders();

    for (char **folder = folders; *folder != NULL; folder++) {
        g_autofree char *path = g_build_filename(*folder, relative, NULL);

        if (g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
            return g_steal_pointer(&path);
        }
    }
    return NULL;
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **
data_list(const char *relative, const char *prefix, const char *suffix)
{
    g_auto(GStrv) folders = data_folders();
    GPtrArray *names = g_ptr_array_new();

    for (char **folder = folders; *folder != NULL; folder++) {
        g_autofree char *path = g_build_filename(*folder, relative, NULL);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *name;

        if (dir == NULL) {
            continue;
        }
        while ((name = g_dir_read_name(dir)) != NULL) {
            size_t n = strlen(name), n_prefix = strlen(prefix), n_suffix = strlen(suffix);

            if (n > n_prefix + n_suffix && g_str_has_prefix(name, prefix) &&
                g_str_has_suffix(name, suffix)) {
                g_ptr_array_add(names,
                                g_strndup(name + n_prefix, n - n_prefix - n_suffix));
            }
        }
        break;
    }
    g_ptr_array_sort(names, compare_names);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}
