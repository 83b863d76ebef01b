/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_trace.c - `rocesim trace`: what a trace holds, or the same in another format.
 */
#include <config.h>

#include <limits.h>
#include <string.h>

#include "sim/param.h"
#include "tools/census/census.h"
#include "tools/command.h"
#include "workloads/replay.h"

struct trace_options {
    GPtrArray *sets; /* owned: const char *, borrowed */
    const char *scenario, *convert;
    bool json;
};

static const struct option trace_options[] = {
    {"scenario", 0, OPTION_TEXT, offsetof(struct trace_options, scenario), "SCENARIO",
     "put the ranks on its hosts, and tell the traffic by tier"},
    {"set", 0, OPTION_LIST, offsetof(struct trace_options, sets), "PATH=VALUE",
     "change that scenario; may be repeated"},
    {"convert", 0, OPTION_TEXT, offsetof(struct trace_options, convert), "FORMAT",
     "print the trace in another format: jsonl"},
    {"json", 0, OPTION_FLAG, offsetof(struct trace_options, json), NULL,
     "print the findings as JSON"},
    {0},
};

/* ---- on a network --------------------------------------------------------------------- */

/* The scenario's first workload that is a trace; else one of all hosts in their order. */
static struct work_params *
bind_hosts(const struct scenario *scenario, const struct net *net, GError **error)
{
    struct work_params *params;

    for (guint i = 0; i < scenario->works->len; i++) {
        if (g_array_index(scenario->works, struct scenario_work, i).kind == WORK_TRACE) {
            return scenario_bind_work(scenario, net, i, error);
        }
    }
    params = g_new0(struct work_params, 1);
    params->kind = WORK_TRACE;
    params->gpus = (uint32_t)scenario->node.gpus;
    params->n_hosts = net->n_hosts;
    params->hosts = g_new(uint32_t, net->n_hosts + 1);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        params->hosts[h] = h;
    }
    return params;
}

/* The network and the host of each rank. */
static struct net *
place(const struct scenario *scenario, const struct trace *trace, uint32_t host_of[],
      GError **error)
{
    g_autofree uint32_t *gpu = g_new(uint32_t, trace->n_ranks);
    struct net *net = scenario_build_net(scenario, error);
    struct work_params *params = net != NULL ? bind_hosts(scenario, net, error) : NULL;
    gboolean good = params != NULL;

    if (good && !replay_place(trace, params, host_of, gpu, error)) {
        g_prefix_error(error, "%s: ", scenario->file);
        good = FALSE;
    }
    work_params_free(params);
    if (!good) {
        net_free(net);
        return NULL;
    }
    return net;
}

/* ---- the command ---------------------------------------------------------------------- */

static int
show(const struct trace *trace, const struct net *net, const uint32_t host_of[],
     bool json)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autofree struct census *census = g_new(struct census, 1);

    census_take(census, trace, net, host_of);
    if (json) {
        census_put_json(out, census);
    } else {
        census_put_text(out, census);
    }
    fputs(out->str, stdout);
    return command_end(STATUS_OK);
}

static int
show_placed(const struct trace *trace, const struct trace_options *options)
{
    g_autofree uint32_t *host_of = g_new(uint32_t, trace->n_ranks);
    GError *error = NULL;
    struct scenario *scenario = scenario_load(
        options->scenario, (const char *const *)options->sets->pdata, &error);

    if (scenario == NULL) {
        return command_fail(&error, STATUS_INPUT);
    }
    command_warn(scenario->warnings);

    struct net *net = place(scenario, trace, host_of, &error);
    int status = net != NULL ? show(trace, net, host_of, options->json)
                             : command_fail(&error, STATUS_INPUT);

    net_free(net);
    scenario_free(scenario);
    return status;
}

static bool
put_line(void *ctx, const char *line)
{
    (void)ctx;
    return fputs(line, stdout) != EOF;
}

static int
convert(const struct trace *trace)
{
    for (char **line = trace->warnings; *line != NULL; line++) {
        fprintf(stderr, "rocesim: warning: %s\n", *line);
    }
    trace_write_jsonl(trace, put_line, NULL);
    return command_end(STATUS_OK);
}

static gboolean
check_options(const struct trace_options *options, GError **error)
{
    static const char *const formats[] = {"jsonl", NULL};

    if (options->convert != NULL && strcmp(options->convert, formats[0]) != 0) {
        g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                    "trace: --convert: '%s' is no format to write; there is %s",
                    options->convert, formats[0]);
        return FALSE;
    }
    if (options->convert != NULL && (options->json || options->scenario != NULL)) {
        g_set_error(error, OPTION_ERROR, OPTION_ERROR_USAGE,
                    "trace: --convert prints the trace, --json and --scenario what it "
                    "holds; one of both is allowed");
        return FALSE;
    }
    if (options->scenario == NULL && options->sets->len > 0) {
        g_set_error(
            error, OPTION_ERROR, OPTION_ERROR_USAGE,
            "trace: --set changes a scenario, and none is given; --scenario does");
        return FALSE;
    }
    return TRUE;
}

static int
load_and_show(GPtrArray *words, const struct trace_options *options)
{
    GError *error = NULL;
    struct trace *trace = NULL;
    int status;

    if (check_options(options, &error)) {
        trace = trace_open_paths((const char *const *)words->pdata, words->len, &error);
    }
    if (trace == NULL) {
        return command_fail(&error, STATUS_INPUT);
    }
    g_ptr_array_add(options->sets, NULL);
    if (options->convert != NULL) {
        status = convert(trace);
    } else if (options->scenario != NULL) {
        status = show_placed(trace, options);
    } else {
        status = show(trace, NULL, NULL, options->json);
    }
    trace_free(trace);
    return status;
}

static int
cmd_trace(int argc, char **argv)
{
    struct trace_options options = {.sets = g_ptr_array_new()};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    int status;

    if (command_begin(&command_trace, argc, argv, &options, words, &status)) {
        status = load_and_show(words, &options);
    }
    g_ptr_array_unref(options.sets);
    return status;
}

const struct command command_trace = {
    .name = "trace",
    .words = "FILE...",
    .doc = "Says what traces hold: ranks, groups, operations, bytes, traffic by tier.",
    .more = "FILE is a file, a folder or a pattern; all of them are one trace.\n",
    .options = trace_options,
    .least_words = 1,
    .most_words = UINT_MAX,
    .run = cmd_trace,
};
