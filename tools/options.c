/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * options.c - the command line of a sub-command, see options.h.
 */
#include <config.h>

#include "tools/options.h"

#include <string.h>

#include "sim/param.h"
#include "sim/sim.h"

/* Width of the left column of a help text. */
#define HELP_COLUMN 26

GQuark
option_error_quark(void)
{
    return g_quark_from_static_string("option-error");
}

static const struct option *
find_long(const struct option *options, const char *name, size_t n)
{
    for (const struct option *o = options; o->name; o++) {
        if (strlen(o->name) == n && strncmp(o->name, name, n) == 0) {
            return o;
        }
    }
    return NULL;
}

static const struct option *
find_short(const struct option *options, char letter)
{
    for (const struct option *o = options; o->name; o++) {
        if (o->letter && o->letter == letter) {
            return o;
        }
    }
    return NULL;
}

static void
set_unknown(const struct command *command, const char *word, GError **error)
{
    GPtrArray *names = g_ptr_array_new();

    for (const struct option *o = command->options; o->name; o++) {
        g_ptr_array_add(names, (gpointer)o->name);
    }
    g_ptr_array_add(names, (gpointer) "help");
    g_ptr_array_add(names, NULL);

    g_autofree char *bare = g_strdup(word + strspn(word, "-"));

    bare[strcspn(bare, "=")] = '\0';
    g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                "%s: no option '%s'; the nearest is --%s, and `rocesim %s --help` lists "
                "all",
                command->name, word,
                param_nearest_word((const char *const *)names->pdata, bare),
                command->name);
    g_ptr_array_unref(names);
}

static gboolean
store(const struct command *command, const struct option *option, const char *value,
      void *values, GError **error)
{
    char *at = (char *)values + option->offset;

    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)(void *)at = true;
        return TRUE;
    case OPTION_TEXT:
        if (*(const char **)(void *)at) {
            g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                        "%s: --%s is given twice, as '%s' and '%s'; once is allowed",
                        command->name, option->name, *(const char **)(void *)at, value);
            return FALSE;
        }
        *(const char **)(void *)at = value;
        return TRUE;
    case OPTION_LIST:
        g_ptr_array_add(*(GPtrArray **)(void *)at, (gpointer)value);
        return TRUE;
    case OPTION_LATER:
        break;
    }
    g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                "%s: --%s is not in this version", command->name, option->name);
    return FALSE;
}

/* Reads the option at argv[*i]; moves on over its value. */
static gboolean
read_option(const struct command *command, int argc, char **argv, int *i, void *values,
            GError **error)
{
    const char *word = argv[*i];
    bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    const struct option *option =
        is_long ? find_long(command->options, word + 2,
                            equals ? (size_t)(equals - word - 2) : strlen(word + 2))
                : find_short(command->options, word[1]);
    const char *value = equals ? equals + 1 : NULL;

    /* -j4 is -j 4; a flag has nothing behind its letter. */
    if (!is_long && option && word[2] != '\0') {
        value = word + 2;
        option = option->argument ? option : NULL;
    }

    if (!option) {
        set_unknown(command, word, error);
        return FALSE;
    }
    if (!option->argument) {
        if (value) {
            g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                        "%s: --%s takes no value, but '%s' is given", command->name,
                        option->name, value);
            return FALSE;
        }
    } else if (!value && option->kind != OPTION_LATER) {
        if (*i + 1 >= argc) {
            g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                        "%s: --%s needs a value: --%s %s", command->name, option->name,
                        option->name, option->argument);
            return FALSE;
        }
        value = argv[++*i];
    }
    return store(command, option, value, values, error);
}

static gboolean
check_words(const struct command *command, const GPtrArray *words, GError **error)
{
    if (words->len < command->least_words) {
        g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                    "%s: %s is missing; usage: rocesim %s %s", command->name,
                    command->words, command->name, command->words);
        return FALSE;
    }
    if (words->len > command->most_words) {
        g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                    "%s: '%s' is one word too many; usage: rocesim %s %s", command->name,
                    (const char *)g_ptr_array_index(words, command->most_words),
                    command->name, command->words);
        return FALSE;
    }
    return TRUE;
}

gboolean
options_read(const struct command *command, int argc, char **argv, void *values,
             GPtrArray *words, bool *help, GError **error)
{
    bool only_words = false;

    *help = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            *help = true;
            return TRUE;
        }
    }
    for (int i = 1; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (only_words || argv[i][0] != '-' || argv[i][1] == '\0') {
            g_ptr_array_add(words, argv[i]);
        } else if (!read_option(command, argc, argv, &i, values, error)) {
            return FALSE;
        }
    }
    return check_words(command, words, error);
}

gboolean
options_number(const char *option, const char *text, gint64 low, gint64 high,
               gint64 *value, GError **error)
{
    g_autoptr(GError) bad = NULL;

    if (g_ascii_string_to_signed(text, 10, low, high, value, &bad)) {
        return TRUE;
    }
    g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                "--%s: '%s' is no whole number from %" G_GINT64_FORMAT
                " to %" G_GINT64_FORMAT,
                option, text, low, high);
    return FALSE;
}

static gboolean
read_partition(const char *text, enum partition_mode *mode, GError **error)
{
    static const char *const words[] = {"auto", "one", "rack", "node", NULL};

    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *mode = (enum partition_mode)i;
            return TRUE;
        }
    }
    g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                "--partition: '%s'; the nearest is '%s', and allowed are auto, one, rack "
                "and node",
                text, param_nearest_word(words, text));
    return FALSE;
}

gboolean
options_parallel(const char *threads, const char *partition, uint32_t *n_threads,
                 enum partition_mode *mode, GError **error)
{
    gint64 n = 0;

    *mode = PARTITION_AUTO;
    if (threads && !options_number("threads", threads, 1, SIM_MAX_THREADS, &n, error)) {
        return FALSE;
    }
    *n_threads = (uint32_t)n;
    return !partition || read_partition(partition, mode, error);
}

void
options_help(const struct command *command, FILE *out)
{
    fprintf(out, "usage: rocesim %s %s%s\n\n%s\n", command->name,
            command->options->name ? "[OPTION]... " : "", command->words, command->doc);
    if (command->more) {
        fprintf(out, "\n%s", command->more);
    }
    fputc('\n', out);
    for (const struct option *o = command->options; o->name; o++) {
        if (o->kind == OPTION_LATER) {
            continue;
        }
        g_autofree char *left =
            o->letter
                ? g_strdup_printf("-%c, --%s%s%s", o->letter, o->name,
                                  o->argument ? " " : "", o->argument ? o->argument : "")
                : g_strdup_printf("--%s%s%s", o->name, o->argument ? " " : "",
                                  o->argument ? o->argument : "");

        fprintf(out, "  %-*s %s\n", HELP_COLUMN, left, o->doc);
    }
    fprintf(out, "  %-*s %s\n", HELP_COLUMN, "--help", "print this");
}
