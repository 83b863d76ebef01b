/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_compare.c - `rocesim compare`: folders of results side by side.
 */
#include <config.h>

#include "tools/command.h"
#include "tools/report/compare.h"

/* A letter each. */
#define MOST_FOLDERS 26

struct compare_options {
    bool json;
};

static const struct option compare_options[] = {
    {"json", 0, OPTION_FLAG, offsetof(struct compare_options, json), NULL,
     "JSON instead of tables; it leaves nothing out"},
    {0},
};

static int
cmd_compare(int argc, char **argv)
{
    struct compare_options options = {0};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_autofree char *text = NULL;
    GError *error = NULL;
    struct compare *compare;
    int status;

    if (!command_begin(&command_compare, argc, argv, &options, words, &status)) {
        return status;
    }
    compare = compare_new((char **)words->pdata, words->len, &error);
    if (!compare) {
        return command_fail(&error, STATUS_INPUT);
    }
    text = options.json ? compare_json(compare) : compare_text(compare);
    fputs(text, stdout);
    compare_free(compare);
    return command_end(STATUS_OK);
}

const struct command command_compare = {
    .name = "compare",
    .words = "DIR DIR...",
    .doc = "Puts the results in folders side by side.",
    .more =
        "Differences are to the first folder, in percent.  Then the keys of config.json\n"
        "that differ, and flows matched by workload and id: how many, and the largest\n"
        "changes of their slowdown.  Runs of another version, interrupted or unfinished\n"
        "ones are noted.\n",
    .options = compare_options,
    .least_words = 2,
    .most_words = MOST_FOLDERS,
    .run = cmd_compare,
};
