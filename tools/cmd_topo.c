/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_topo.c - `rocesim topo`: what is connected to what.
 */
#include <config.h>

#include "tools/command.h"
#include "tools/fabric/fabric.h"

struct topo_options {
    GPtrArray *sets; /* owned: const char *, borrowed */
    bool dot, json, bom, node;
};

static const struct option topo_options[] = {
    {"set", 0, OPTION_LIST, offsetof(struct topo_options, sets), "PATH=VALUE",
     "change the scenario; may be repeated"},
    {"dot", 0, OPTION_FLAG, offsetof(struct topo_options, dot), NULL,
     "print a graph for Graphviz: ... --dot | dot -Tsvg > fabric.svg"},
    {"json", 0, OPTION_FLAG, offsetof(struct topo_options, json), NULL,
     "print all of it, every node and link, as JSON"},
    {"bom", 0, OPTION_FLAG, offsetof(struct topo_options, bom), NULL,
     "print the parts: switches, NICs, cables, transceivers"},
    {"node", 0, OPTION_FLAG, offsetof(struct topo_options, node), NULL,
     "print what is inside a host: GPUs, NICs, pipes"},
    {0},
};

static int
show(const struct scenario *scenario, const struct topo_options *options)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) out = g_string_new(NULL);
    GError *error = NULL;
    struct fabric *fabric;

    command_warn(scenario->warnings);
    fabric = fabric_new(scenario, warnings, &error);
    command_warn(warnings);
    if (fabric == NULL) {
        return command_fail(&error, STATUS_INPUT);
    }
    if (options->dot) {
        fabric_put_dot(out, fabric);
    } else if (options->json) {
        fabric_put_json(out, fabric);
    } else if (options->bom) {
        fabric_put_bom(out, fabric);
    } else if (options->node) {
        fabric_put_node(out, fabric);
    } else {
        fabric_put_text(out, fabric);
    }
    fputs(out->str, stdout);
    fabric_free(fabric);
    return command_end(STATUS_OK);
}

static int
load_and_show(const char *file, const struct topo_options *options)
{
    GError *error = NULL;
    struct scenario *scenario;
    int status;

    if (options->dot + options->json + options->bom + options->node > 1) {
        g_set_error(&error, OPTION_ERROR, OPTION_ERROR_USAGE,
                    "topo: --dot, --json, --bom and --node are forms of one output; one "
                    "of them is allowed");
        return command_fail(&error, STATUS_INPUT);
    }
    g_ptr_array_add(options->sets, NULL);
    scenario = scenario_load(file, (const char *const *)options->sets->pdata, &error);
    if (scenario == NULL) {
        return command_fail(&error, STATUS_INPUT);
    }
    status = show(scenario, options);
    scenario_free(scenario);
    return status;
}

static int
cmd_topo(int argc, char **argv)
{
    struct topo_options options = {.sets = g_ptr_array_new()};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    int status;

    if (command_begin(&command_topo, argc, argv, &options, words, &status)) {
        status = load_and_show(g_ptr_array_index(words, 0), &options);
    }
    g_ptr_array_unref(options.sets);
    return status;
}

const struct command command_topo = {
    .name = "topo",
    .words = "SCENARIO",
    .doc = "Shows what SCENARIO connects: tiers, ratios, paths, bisection, parts, ranks.",
    .options = topo_options,
    .least_words = 1,
    .most_words = 1,
    .run = cmd_topo,
};
