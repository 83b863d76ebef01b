/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_check.c - `rocesim check`: loads, resolves and builds a scenario, runs nothing, and
 * says what a run would be.
 */
#include <config.h>

#include "tools/advice.h"
#include "tools/command.h"
#include "tools/fabric/fabric.h"
#include "tools/forecast.h"
#include "tools/results/json_out.h"
#include "tools/results/text.h"
#include "tools/run.h"

/* Key of what is added to the effective scenario: a comment, so that it can be run. */
#define CHECK_KEY "_check"

struct check_options {
    GPtrArray *sets; /* owned: const char *, borrowed */
    const char *threads, *partition;
    bool json;
};

static const struct option check_options[] = {
    {"set", 0, OPTION_LIST, offsetof(struct check_options, sets), "PATH=VALUE",
     "change the scenario; may be repeated"},
    {"threads", 0, OPTION_TEXT, offsetof(struct check_options, threads), "N",
     "threads of the run, 1 to 64 (by the cores)"},
    {"partition", 0, OPTION_TEXT, offsetof(struct check_options, partition), "HOW",
     "auto, one, rack or node"},
    {"json", 0, OPTION_FLAG, offsetof(struct check_options, json), NULL,
     "print the effective scenario, and the findings under \"" CHECK_KEY "\""},
    {0},
};

/* ---- JSON ----------------------------------------------------------------------------- */

static void
put_tiers_json(struct json_out *json, const struct topo_counts *counts)
{
    json_out_open(json, "tiers", '[', false);
    for (unsigned t = 0; t < counts->n_tiers; t++) {
        const struct topo_tier *tier = &counts->tier[t];

        json_out_open(json, NULL, '{', true);
        json_out_text(json, "tier", fabric_tier_name(t));
        json_out_int(json, "nodes", tier->n_nodes);
        json_out_int(json, "ports", (int64_t)tier->n_ports);
        json_out_int(json, "down", (int64_t)tier->n_down);
        json_out_int(json, "up", (int64_t)tier->n_up);
        json_out_quotient(json, "oversubscription", tier->ratio_down,
                          tier->ratio_down ? tier->ratio_up : 0);
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

static void
put_advice_json(struct json_out *json, const struct net *net)
{
    const struct advice_ecn advice = advice_ecn(net);

    json_out_open(json, "ecn_before_pfc", '{', true);
    if (advice.name) {
        json_out_text(json, "switch", advice.name);
        json_out_int(json, "kmin_bytes", advice.kmin_bytes);
        json_out_int(json, "limit_bytes", advice.limit_bytes);
        json_out_int(json, "static_pfc_bytes", advice.pfc_bytes);
    }
    json_out_close(json, '}');
}

static void
put_findings_json(struct json_out *json, const struct run *run,
                  const struct topo_counts *counts, const struct forecast *forecast)
{
    const struct net *net = run->net;

    json_out_open(json, NULL, '{', false);
    json_out_int(json, "hosts", counts->n_hosts);
    json_out_int(json, "nics", counts->n_nics);
    json_out_int(json, "switches", counts->n_switches);
    json_out_int(json, "links", (int64_t)counts->n_links);
    put_tiers_json(json, counts);
    json_out_int(json, "lps", net->n_lps);
    json_out_int(json, "threads", net->sim->n_threads);
    json_out_us(json, "lookahead_us", net->n_lps > 1 ? net->lookahead_ps : TIME_NEVER_PS);
    if (net->n_lps > 1) {
        json_out_text(json, "lookahead_link", net->links[net->lookahead_link].name);
    } else {
        json_out_null(json, "lookahead_link");
    }
    put_advice_json(json, net);
    json_out_int(json, "connections", net->n_connections);
    json_out_int(json, "payload_bytes", forecast->payload_bytes);
    json_out_int(json, "data_packets", forecast->data_packets);
    json_out_int(json, "packet_hops", forecast->packet_hops);
    json_out_double(json, "estimated_s", forecast->seconds, 2);
    json_out_int(json, "estimated_bytes", forecast->memory_bytes);
    json_out_close(json, '}');
}

static void
print_json(const struct run *run, const struct topo_counts *counts,
           const struct forecast *forecast)
{
    g_autoptr(GString) text = g_string_new(NULL);
    json_t *scenario = scenario_to_json(run->scenario);
    struct json_out json;

    json_out_init(&json, text);
    put_findings_json(&json, run, counts, forecast);
    json_object_set_new(scenario, CHECK_KEY, json_loads(text->str, 0, NULL));

    g_autofree char *all = json_dumps(scenario, JSON_INDENT(2) | JSON_REAL_PRECISION(15));

    puts(all);
    json_decref(scenario);
}

/* ---- text ----------------------------------------------------------------------------- */

static void
print_tiers(const struct net *net, const struct topo_counts *counts)
{
    printf("%-12s%8s%8s%8s%8s   %s\n", "tier", "nodes", "ports", "down", "up",
           "down : up, by rate, of the worst");
    for (unsigned t = 0; t < counts->n_tiers; t++) {
        const struct topo_tier *tier = &counts->tier[t];

        printf("%-12s%8u%8" G_GUINT64_FORMAT "%8" G_GUINT64_FORMAT "%8" G_GUINT64_FORMAT,
               fabric_tier_name(t), tier->n_nodes, tier->n_ports, tier->n_down,
               tier->n_up);
        if (tier->ratio_up && tier->ratio_down) {
            printf("   %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT " (%s)", tier->ratio_down,
                   tier->ratio_up, net->nodes[tier->worst_node].name);
        }
        putchar('\n');
    }
}

static void
print_count(const char *label, double value, const char *what)
{
    g_autoptr(GString) text = g_string_new(NULL);

    text_count(text, value);
    printf("%-12s%s %s\n", label, text->str, what);
}

static void
print_processes(const struct net *net)
{
    printf("%-12s%u, on %u thread%s", "processes", net->n_lps, net->sim->n_threads,
           net->sim->n_threads == 1 ? "" : "s");
    if (net->n_lps > 1) {
        g_autoptr(GString) text = g_string_new(NULL);

        text_time(text, net->lookahead_ps);
        printf("; lookahead %s, set by %s", text->str,
               net->links[net->lookahead_link].name);
    }
    putchar('\n');
}

/* Does ECN mark before PFC stops? */
static void
print_advice(const struct net *net)
{
    const struct advice_ecn advice = advice_ecn(net);
    g_autoptr(GString) kmin = g_string_new(NULL), limit = g_string_new(NULL),
                       pfc = g_string_new(NULL);

    if (!advice.name) {
        return;
    }
    text_size(kmin, advice.kmin_bytes);
    text_size(limit, advice.limit_bytes);
    text_size(pfc, advice.pfc_bytes);
    printf("%-12s%s marks from %s on: %s before PFC stops a sender, whoever sends; the "
           "limit is %s\n%-12sa constant PFC threshold up to %s would be safe there\n",
           "thresholds", advice.name, kmin->str,
           advice.kmin_bytes < advice.limit_bytes ? "always" : "not always", limit->str,
           "", pfc->str);
}

static void
print_text(const struct run *run, const struct topo_counts *counts,
           const struct forecast *forecast)
{
    g_autoptr(GString) size = g_string_new(NULL);
    g_autoptr(GString) memory = g_string_new(NULL);

    printf("%-12s%s, seed %" G_GINT64_FORMAT "\n", "scenario", run->scenario->name,
           run->scenario->seed);
    printf("%-12s%u hosts with %u NICs, %u switch%s, %" G_GUINT64_FORMAT " links\n\n",
           "network", counts->n_hosts, counts->n_nics, counts->n_switches,
           counts->n_switches == 1 ? "" : "es", counts->n_links);
    print_tiers(run->net, counts);
    putchar('\n');
    print_processes(run->net);
    print_advice(run->net);
    text_size(size, forecast->payload_bytes);
    printf("%-12s%s of payload on %u connections\n", "traffic", size->str,
           run->net->n_connections);
    print_count("", (double)forecast->data_packets, "data packets");
    print_count("", (double)forecast->packet_hops, "packet-hops with ACKs");
    text_size(memory, forecast->memory_bytes / 1000000 * 1000000);
    printf("%-12s%s %.1f s, at most %s of memory; no more than a rough guess\n",
           "estimate", forecast->seconds < 0.1 ? "below" : "about",
           MAX(forecast->seconds, 0.1), memory->str);
}

/* ---- the command ---------------------------------------------------------------------- */

static int
check(const struct scenario *scenario, const struct check_options *options,
      enum partition_mode partition, uint32_t n_threads)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    struct topo_counts counts;
    struct forecast forecast;
    struct run *run;

    command_warn(scenario->warnings);
    run = run_new(scenario, warnings, &error);
    command_warn(warnings);
    if (!run) {
        return command_fail(&error, STATUS_INPUT);
    }
    run_start(run, partition, n_threads);
    topo_describe(run->net, &counts);
    forecast_make(run, &forecast);
    if (options->json) {
        print_json(run, &counts, &forecast);
    } else {
        print_text(run, &counts, &forecast);
    }
    run_free(run);
    return command_end(STATUS_OK);
}

static int
load_and_check(const char *file, const struct check_options *options)
{
    enum partition_mode partition;
    uint32_t n_threads;
    GError *error = NULL;

    if (!options_parallel(options->threads, options->partition, &n_threads, &partition,
                          &error)) {
        return command_fail(&error, STATUS_INPUT);
    }
    g_ptr_array_add(options->sets, NULL);

    struct scenario *scenario =
        scenario_load(file, (const char *const *)options->sets->pdata, &error);

    if (!scenario) {
        return command_fail(&error, STATUS_INPUT);
    }
    int status = check(scenario, options, partition, n_threads);

    scenario_free(scenario);
    return status;
}

static int
cmd_check(int argc, char **argv)
{
    struct check_options options = {.sets = g_ptr_array_new()};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    int status;

    if (command_begin(&command_check, argc, argv, &options, words, &status)) {
        status = load_and_check(g_ptr_array_index(words, 0), &options);
    }
    g_ptr_array_unref(options.sets);
    return status;
}

const struct command command_check = {
    .name = "check",
    .words = "SCENARIO",
    .doc = "Says what a run of SCENARIO would be, and what is wrong with it.",
    .options = check_options,
    .least_words = 1,
    .most_words = 1,
    .run = cmd_check,
};
