/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command.c - what the sub-commands share, see command.h.
 */
#include <config.h>

#include "tools/command.h"

#include <errno.h>
#include <string.h>

#include "tools/scenario/doc.h"

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
    for (guint i = 0; i < lines->len; i++) {
        bool said = false;

        for (guint k = 0; k < i && !said; k++) {
            said = strcmp(g_ptr_array_index(lines, i), g_ptr_array_index(lines, k)) == 0;
        }
        if (!said) {
            g_autofree char *line = doc_one_line(g_ptr_array_index(lines, i));

            fprintf(stderr, "rocesim: warning: %s\n", line);
        }
    }
}
