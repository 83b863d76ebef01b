/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command.c - what the sub-commands share, see command.h.
 */
#include <config.h>

#include "tools/command.h"

#include <errno.h>
#include <string.h>

#include "tools/scenario/doc.h"

/* Warnings that are printed; a network of thousands of ports can have one for each. */
#define MOST_WARNINGS 10

int
command_fail(GError **error, int status)
{
    /* A word of the command line may hold anything, line feeds too. */
    g_autofree char *line = doc_one_line((*error)->message);

    fprintf(stderr, "rocesim: %s\n", line);
    g_clear_error(error);
    return status;
}

bool
command_begin(const struct command *command, int argc, char **argv, void *values,
              GPtrArray *words, int *status)
{
    GError *error = NULL;
    bool help;

    if (!options_read(command, argc, argv, values, words, &help, &error)) {
        *status = command_fail(&error, STATUS_INPUT);
        return false;
    }
    if (help) {
        options_help(command, stdout);
        *status = command_end(STATUS_OK);
        return false;
    }
    return true;
}

int
command_end(int status)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "rocesim: standard output cannot be written: %s\n",
                g_strerror(errno ? errno : EIO));
        return STATUS_OUTPUT;
    }
    return status;
}

void
command_warn(const GPtrArray *lines)
{
    g_autoptr(GHashTable) said = g_hash_table_new(g_str_hash, g_str_equal);
    guint n_said;

    for (guint i = 0; i < lines->len; i++) {
        char *text = g_ptr_array_index(lines, i);

        if (g_hash_table_add(said, text) && g_hash_table_size(said) <= MOST_WARNINGS) {
            g_autofree char *line = doc_one_line(text);

            fprintf(stderr, "rocesim: warning: %s\n", line);
        }
    }
    n_said = g_hash_table_size(said);
    if (n_said > MOST_WARNINGS) {
        fprintf(stderr, "rocesim: warning: ... and %u more\n", n_said - MOST_WARNINGS);
    }
}
