/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plot.c - pictures of a finished run, see plot.h.
 *
 * Thresholds and link rates are those of the network that config.json makes, so overrides
 * and sets by rate are as the run had them.
 */
#include <config.h>

#include "tools/report/plot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "tools/report/draw.h"

static gboolean
read_series(struct draw *draw, GError **error)
{
    g_autofree char *path = folder_file(&draw->folder, "series.csv");
    double interval_us = folder_number(draw->folder.summary, "series_interval_us");

    if (!(interval_us > 0)) {
        return TRUE;
    }
    draw->curves = curves_read(path, interval_us, error);
    return draw->curves != NULL;
}

/* The network as the run had it, for rates and thresholds; pictures can do without. */
static void
build_network(struct draw *draw)
{
    g_autofree char *path = folder_file(&draw->folder, "config.json");

    draw->scenario = scenario_load(path, NULL, NULL);
    draw->net = draw->scenario ? scenario_build_net(draw->scenario, NULL) : NULL;
    if (draw->net && !net_build(draw->net, NULL, NULL)) {
        net_free(draw->net);
        draw->net = NULL;
    }
    if (!draw->net && !draw->quiet) {
        fprintf(stderr,
                "rocesim: %s makes no network any more: link rates and thresholds are "
                "left out\n",
                path);
    }
}

/* Has cc.params changed something of the preset? */
static bool
is_changed(const struct scenario *s)
{
    if (!s || !s->cc->params_bytes) {
        return false;
    }
    g_autofree void *params = g_malloc0(s->cc->params_bytes);

    cc_params_init(s->cc, s->preset, params);
    return memcmp(params, s->cc_params, s->cc->params_bytes) != 0;
}

static char *
name_presets(const struct draw *draw)
{
    const json_t *config = draw->folder.config;
    const char *algorithm = folder_text(config, "cc.algorithm");
    const char *preset = folder_text(config, "cc.preset");
    const char *set = folder_text(config, "switch.ecn.set");
    GString *text = g_string_new("cc ");

    g_string_append(text, algorithm ? algorithm : "not named");
    if (preset) {
        g_string_append_printf(text, ", preset %s%s", preset,
                               is_changed(draw->scenario) ? ", changed" : "");
    }
    g_string_append_printf(text, "\nECN %s%s", set ? "set " : "given by numbers",
                           set ? set : "");
    return g_string_free(text, FALSE);
}

static gboolean
make_folder(const struct draw *draw, GError **error)
{
    g_autofree char *path = folder_file(&draw->folder, "plots");

    if (g_mkdir(path, 0777) != 0 && errno != EEXIST) {
        g_set_error(error, REPORT_ERROR, REPORT_ERROR_WRITE,
                    "%s: cannot make the folder: %s", path, g_strerror(errno));
        return FALSE;
    }
    return TRUE;
}

static gboolean
draw_all(const struct draw *draw, GError **error)
{
    static gboolean (*const pictures[])(const struct draw *, GError **) = {
        draw_queue, draw_utilisation, draw_rates, draw_pauses,
        draw_fct,   draw_slowdown,    draw_busbw, draw_links};

    for (unsigned i = 0; i < G_N_ELEMENTS(pictures); i++) {
        if (!pictures[i](draw, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
plot_results(const char *dir, bool png, bool quiet, GError **error)
{
    struct draw draw = {.png = png, .quiet = quiet};
    gboolean drawn = folder_read(&draw.folder, dir, error) && read_series(&draw, error) &&
                     make_folder(&draw, error);

    if (drawn) {
        build_network(&draw);
        draw.presets = name_presets(&draw);
        drawn = draw_all(&draw, error);
    }
    curves_free(draw.curves);
    net_free(draw.net);
    scenario_free(draw.scenario);
    g_free(draw.presets);
    folder_clear(&draw.folder);
    return drawn;
}
