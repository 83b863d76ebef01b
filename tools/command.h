/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command.h - the sub-commands and what they share.
 */
#ifndef ROCESIM_TOOLS_COMMAND_H
#define ROCESIM_TOOLS_COMMAND_H

#include <glib.h>

#include "tools/options.h"

/* Exit status of the program. */
enum {
    STATUS_OK = 0,
    STATUS_VERDICT = 1, /* the run ended with a bad verdict */
    STATUS_INPUT = 2,   /* bad input or usage */
    STATUS_OUTPUT = 3,  /* output could not be written */
    STATUS_INTERRUPTED = 130,
};

extern const struct command command_check;
extern const struct command command_compare;
extern const struct command command_import;
extern const struct command command_list;
extern const struct command command_new;
extern const struct command command_plot;
extern const struct command command_run;
extern const struct command command_sweep;
extern const struct command command_topo;
extern const struct command command_trace;

/* Prints "rocesim: MESSAGE" on stderr, clears '*error' and returns 'status'. */
int command_fail(GError **error, int status);

/* Reads options and words as options_read() does.  Returns true when the command goes on;
 * else '*status' is what it returns: --help has been printed, or an error. */
bool command_begin(const struct command *command, int argc, char **argv, void *values,
                   GPtrArray *words, int *status);

/* Flushes stdout: STATUS_OUTPUT and a line on stderr if anything printed is lost, else
 * 'status'. */
int command_end(int status);

/* Prints each line once, as "rocesim: warning: LINE", on stderr. */
void command_warn(const GPtrArray *lines);

#endif
