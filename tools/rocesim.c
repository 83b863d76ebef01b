/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rocesim.c - the program: main and its sub-commands.
 */
#include <config.h>

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sim/param.h"
#include "tools/command.h"
#include "tools/scenario/doc.h"

static const struct command *const commands[] = {
    &command_run,     &command_check, &command_topo, &command_trace,
    &command_import,  &command_sweep, &command_list, &command_plot,
    &command_compare, &command_new,   NULL,
};

/* What later versions will have. */
static const char *const later[] = {
    "audit", "report", "tune", "size", "calibrate", NULL,
};

static void
print_help(FILE *out)
{
    fputs("usage: rocesim COMMAND [OPTION]... [WORD]...\n"
          "\n"
          "Simulates clusters of RoCE hosts packet by packet.\n"
          "\n",
          out);
    for (unsigned i = 0; commands[i]; i++) {
        fprintf(out, "  %-8s %-16s %s\n", commands[i]->name, commands[i]->words,
                commands[i]->doc);
    }
    fputs("\n"
          "  rocesim COMMAND --help   the options of a command\n"
          "  rocesim --version        the version\n",
          out);
}

static int
no_command(const char *name)
{
    const char *names[G_N_ELEMENTS(commands) + 2] = {"--help", "--version", NULL};
    g_autofree char *shown = doc_one_line(name);

    for (unsigned i = 0; later[i]; i++) {
        if (strcmp(later[i], name) == 0) {
            fprintf(stderr, "rocesim: '%s' is not in this version\n", name);
            return STATUS_INPUT;
        }
    }
    for (unsigned i = 0; commands[i]; i++) {
        names[i + 2] = commands[i]->name;
    }
    fprintf(stderr,
            "rocesim: '%s' is no command; the nearest is '%s', and `rocesim --help` "
            "lists all\n",
            shown, param_nearest_word(names, name));
    return STATUS_INPUT;
}

int
main(int argc, char **argv)
{
    /* Messages of the system in the user's language; numbers never go through a locale. */
    setlocale(LC_MESSAGES, "");
    /* A reader of stdout that goes away is an error of writing, not a death. */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        print_help(stderr);
        return STATUS_INPUT;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("rocesim %s\n", PACKAGE_VERSION);
        return command_end(STATUS_OK);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return command_end(STATUS_OK);
    }
    for (unsigned i = 0; commands[i]; i++) {
        if (strcmp(argv[1], commands[i]->name) == 0) {
            return commands[i]->run(argc - 1, argv + 1);
        }
    }
    return no_command(argv[1]);
}
