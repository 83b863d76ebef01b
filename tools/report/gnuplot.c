/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gnuplot.c - one script to gnuplot, one picture from it, see gnuplot.h.
 * Colours are those of Okabe and Ito (2008), which the colour-blind can tell apart.
 */
#include <config.h>

#include "tools/report/gnuplot.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "tools/report/folder.h"

/* The key has a column of its own, so that all panels of all pictures have one width. */
#define WIDTH 1140
#define RIGHT 0.68
#define KEY 0.695

static const char *const colours[GNUPLOT_COLOURS] = {"#0072b2", "#d55e00", "#009e73",
                                                     "#cc79a7", "#e69f00", "#56b4e9",
                                                     "#7a5230", "#555555"};

void
gnuplot_begin(struct picture *picture, const char *file, bool png, unsigned height)
{
    GString *script = g_string_new(NULL);

    picture->file = g_strdup(file);
    picture->temp = g_strdup_printf("%s.part", file);
    picture->script = script;
    if (png) {
        g_string_append_printf(script,
                               "set terminal pngcairo size %d,%u font 'sans,10' "
                               "background '#ffffff'\n",
                               WIDTH, height);
    } else {
        g_string_append_printf(script,
                               "set terminal svg size %d,%u dynamic font 'sans,13' "
                               "background '#ffffff'\n",
                               WIDTH, height);
    }
    g_string_append(script, "set encoding utf8\nset output ");
    gnuplot_text(script, picture->temp);
    g_string_append(
        script,
        "\nset border 3 lc rgb '#555555'\n"
        "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
        "set grid lc rgb '#e2e2e2' lt 1 lw 1\n"
        "set rmargin at screen " G_STRINGIFY(
            RIGHT) "\n"
                   "set key at screen " G_STRINGIFY(
                       KEY) ", graph 1 left top vertical "
                            "Left reverse spacing 1.25 samplen 2 textcolor rgb '#333333' "
                            "noenhanced\n"
                            "set title offset 0,-0.4 textcolor rgb '#111111' noenhanced\n"
                            "set lmargin 11\n");
    for (unsigned i = 0; i < GNUPLOT_COLOURS; i++) {
        g_string_append_printf(script, "set linetype %u lc rgb '%s' lw 1.6\n", i + 1,
                               colours[i]);
    }
}

static void
put_text(GString *script, const char *text, bool doubles_percent)
{
    g_string_append_c(script, '"');
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\' || *p == '`') {
            g_string_append_c(script, '\\');
        }
        if (*p == '%' && doubles_percent) {
            g_string_append_c(script, '%');
        }
        if (*p == '\n') {
            g_string_append(script, "\\n");
        } else {
            g_string_append_c(script, *p);
        }
    }
    g_string_append_c(script, '"');
}

void
gnuplot_text(GString *script, const char *text)
{
    put_text(script, text, false);
}

void
gnuplot_tick(GString *script, const char *text)
{
    put_text(script, text, true);
}

void
gnuplot_number(GString *script, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    g_string_append(script, g_ascii_formatd(text, sizeof text, "%.9g", value));
}

/* What a failed gnuplot has said, on one line. */
static void
set_tool_error(const char *said, GError **error)
{
    g_autofree char *line = g_strdup(said ? said : "");

    g_strdelimit(line, "\r\n\t", ' ');
    g_strstrip(line);
    g_set_error(error, REPORT_ERROR, REPORT_ERROR_TOOL, "gnuplot has failed: %s",
                *line ? line : "it says no more");
}

static gboolean
run_file(const char *path, GError **error)
{
    const char *argv[] = {"gnuplot", path, NULL};
    g_autofree char *said = NULL;
    g_autoptr(GError) bad = NULL;
    int status;

    if (!g_spawn_sync(NULL, (char **)argv, NULL,
                      G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
                      &said, &status, &bad)) {
        g_set_error(error, REPORT_ERROR, REPORT_ERROR_TOOL,
                    "gnuplot cannot be started (%s); pictures need it (Debian: "
                    "gnuplot-nox)",
                    bad->message);
        return FALSE;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        set_tool_error(said, error);
        return FALSE;
    }
    return TRUE;
}

/* Runs 'text' from a file of its own. */
static gboolean
run_text(const char *text, GError **error)
{
    g_autofree char *path = NULL;
    g_autoptr(GError) bad = NULL;
    int fd = g_file_open_tmp("rocesim-XXXXXX.gp", &path, &bad);
    gboolean drawn;

    if (fd >= 0) {
        close(fd);
    }
    if (fd < 0 || !g_file_set_contents(path, text, -1, &bad)) {
        g_set_error(error, REPORT_ERROR, REPORT_ERROR_WRITE, "%s", bad->message);
        return FALSE;
    }
    drawn = run_file(path, error);
    g_unlink(path);
    return drawn;
}

gboolean
gnuplot_end(struct picture *picture, GError **error)
{
    gboolean drawn = run_text(picture->script->str, error);

    if (drawn && g_rename(picture->temp, picture->file) != 0) {
        g_set_error(error, REPORT_ERROR, REPORT_ERROR_WRITE, "%s: cannot be written: %s",
                    picture->file, g_strerror(errno));
        drawn = FALSE;
    }
    if (!drawn) {
        g_unlink(picture->temp);
    }
    g_free(picture->file);
    g_free(picture->temp);
    g_string_free(picture->script, TRUE);
    return drawn;
}
