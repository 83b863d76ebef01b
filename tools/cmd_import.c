/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_import.c - `rocesim import FORMAT FILE...`: another simulator's configuration as a
 * scenario.
 */
#include <config.h>

#include <stdio.h>

#include <glib.h>

#include "tools/command.h"
#include "tools/import/import.h"

struct import_options {
    const char *out;
    bool force;
};

static const struct option import_options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct import_options, out), "SCENARIO",
     "file to write (else it is printed)"},
    {"force", 0, OPTION_FLAG, offsetof(struct import_options, force), NULL,
     "replace a file that is there"},
    {0}};

/* Writes 'text' where the user wants it. */
static int
deliver(const struct import_options *options, const char *text)
{
    GError *error = NULL;

    if (options->out == NULL) {
        fputs(text, stdout);
        return command_end(STATUS_OK);
    }
    if (!options->force && g_file_test(options->out, G_FILE_TEST_EXISTS)) {
        error = g_error_new(OPTION_ERROR, OPTION_ERROR_USAGE,
                            "%s: is there already; --force replaces it", options->out);
        return command_fail(&error, STATUS_INPUT);
    }
    return g_file_set_contents(options->out, text, -1, &error)
               ? command_end(STATUS_OK)
               : command_fail(&error, STATUS_OUTPUT);
}

static int
cmd_import(int argc, char **argv)
{
    struct import_options options = {.out = NULL};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *text = NULL;
    GError *error = NULL;
    int status;

    if (!command_begin(&command_import, argc, argv, &options, words, &status)) {
        return status;
    }
    g_ptr_array_add(words, NULL);
    text = import_run(g_ptr_array_index(words, 0), (const char *const *)&words->pdata[1],
                      warnings, &error);
    command_warn(warnings);
    return text == NULL ? command_fail(&error, STATUS_INPUT) : deliver(&options, text);
}

const struct command command_import = {
    .name = "import",
    .words = "FORMAT FILE...",
    .doc = "Makes a scenario of another simulator's configuration.",
    .more =
        "FORMAT and its files:\n"
        "  hpcc CONFIG          HPCC simulator (ns-3): config.txt\n"
        "  conweave CONFIG      conweave-ns3\n"
        "  ns3dc CONFIG         ns3-datacenter\n"
        "  ns3rdma CONFIG       ns3-rdma\n"
        "  simai CONF TOPOLOGY  SimAI.conf and a topology\n"
        "  htsim M.cm T.topo    htsim: connection matrix and topology\n"
        "A configuration names its other files: beside it, or below the working folder.\n"
        "docs/import.md says what becomes of each key.\n",
    .options = import_options,
    .least_words = 1,
    .most_words = 8,
    .run = cmd_import,
};
