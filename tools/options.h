/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * options.h - the command line of a sub-command, by a table.
 *
 * Forms: --name VALUE, --name=VALUE, --flag; -n VALUE, -nVALUE for those with a short form;
 * -- ends the options.  Options and other words may be mixed.  What a table does not know is an error
 * that names the nearest option.
 */
#ifndef ROCESIM_TOOLS_OPTIONS_H
#define ROCESIM_TOOLS_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

#include "sim/partition.h"

#define OPTION_ERROR option_error_quark()
GQuark option_error_quark(void);

enum option_error { OPTION_ERROR_USAGE };

enum option_kind {
    OPTION_FLAG,  /* into a bool */
    OPTION_TEXT,  /* into a const char *, borrowed from argv */
    OPTION_LIST,  /* into a GPtrArray * of these; may be given again */
    OPTION_LATER, /* known, not in this version: an error */
};

struct option {
    const char *name; /* without dashes; NULL ends a table */
    char letter;      /* 0: none */
    enum option_kind kind;
    size_t offset;        /* of the value in the caller's struct */
    const char *argument; /* its name in the help; NULL for a flag */
    const char *doc;
};

/* A sub-command. */
struct command {
    const char *name;  /* NULL ends a table */
    const char *words; /* what stands behind it: "SCENARIO", "[KIND]" */
    const char *doc;   /* one line */
    const char *more;  /* lines for its own help; may be NULL */
    const struct option *options;
    unsigned least_words, most_words;
    int (*run)(int argc, char **argv); /* NULL: not in this version */
};

/* Reads argv[1..argc - 1] into 'values' and 'words' (borrowed texts).  '*help' is set by
 * --help, and then nothing is checked. */
gboolean options_read(const struct command *command, int argc, char **argv, void *values,
                      GPtrArray *words, bool *help, GError **error);

/* A whole number from 'low' to 'high'; the message names 'option'. */
gboolean options_number(const char *option, const char *text, gint64 low, gint64 high,
                        gint64 *value, GError **error);

/* --threads and --partition as given; NULL: as many as there are cores (0), auto. */
gboolean options_parallel(const char *threads, const char *partition, uint32_t *n_threads,
                          enum partition_mode *mode, GError **error);

/* `rocesim COMMAND --help`. */
void options_help(const struct command *command, FILE *out);

#endif
