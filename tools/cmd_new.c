/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cmd_new.c - `rocesim new KIND`: starting scenarios to be changed.
 *
 * Keys that begin with '_' are comments.  Each text is a complete scenario; a test loads
 * them all.
 */
#include <config.h>

#include "tools/cmd_new.h"

#include <string.h>

#include "sim/param.h"
#include "tools/command.h"

/* The part on devices that most texts share. */
#define FABRIC                                                                           \
    "  \"topology\": {\n"                                                                \
    "    \"_\": \"give any sufficient set of hosts, leaves, hosts_per_leaf, spines, "    \
    "uplinks_per_leaf, oversubscription\",\n"                                            \
    "    \"type\": \"leaf-spine\", \"hosts\": 32, \"hosts_per_leaf\": 8, "               \
    "\"oversubscription\": \"2:1\",\n"                                                   \
    "    \"host_link\": {\"rate\": \"100G\", \"length\": \"3m\"},\n"                     \
    "    \"fabric_link\": {\"rate\": \"100G\", \"length\": \"30m\"}\n"                   \
    "  },\n"                                                                             \
    "  \"_devices\": \"rocesim list nics, rocesim list switches; rocesim list params "   \
    "shows defaults and ranges\",\n"                                                     \
    "  \"nic\": {\"profile\": \"connectx-6\"},\n"                                        \
    "  \"switch\": {\"profile\": \"generic\", \"buffer\": \"32MB\",\n"                   \
    "             \"ecn\": {\"kmin\": \"100KB\", \"kmax\": \"400KB\", \"pmax\": "        \
    "0.2}},\n"                                                                           \
    "  \"_cc\": \"algorithm none: line rate, no marks; presets of dcqcn: mlx5 (the "     \
    "default), paper\",\n"                                                               \
    "  \"cc\": {\"algorithm\": \"dcqcn\"},\n"

#define EXPECT                                                                           \
    "  \"_expect\": \"status 1 when the run ends otherwise; also bands: "                \
    "\\\"flows.n\\\": "                                                                  \
    "[1, 9]\",\n"                                                                        \
    "  \"expect\": {\"verdict\": \"complete\"}\n"

static const char flows_text[] =
    "{\n"
    "  \"_\": \"Flows one by one.  Times, sizes and rates are texts with a unit.\",\n"
    "  \"name\": \"flows\",\n"
    "  \"topology\": {\"type\": \"star\", \"hosts\": 4, \"host_link\": {\"rate\": "
    "\"100G\", \"length\": \"3m\"}},\n"
    "  \"workload\": [\n"
    "    {\"_\": \"src and dst are names or numbers; instead of list: path, a CSV with "
    "these columns\",\n"
    "     \"type\": \"flows\", \"list\": [\n"
    "       {\"src\": \"host0\", \"dst\": \"host3\", \"bytes\": \"10MiB\"},\n"
    "       {\"src\": \"host1\", \"dst\": \"host3\", \"bytes\": \"10MiB\", \"start\": "
    "\"50us\"}\n"
    "     ]}\n"
    "  ],\n" EXPECT "}\n";

static const char permutation_text[] =
    "{\n"
    "  \"_\": \"Every host sends to one other.\",\n"
    "  \"name\": \"permutation\",\n" FABRIC "  \"workload\": [\n"
    "    {\"_\": \"host i sends to host (i + shift) mod n; with shift = hosts_per_leaf "
    "all "
    "cross the spines\",\n"
    "     \"type\": \"permutation\", \"shift\": 8, \"bytes\": \"4MB\"}\n"
    "  ],\n" EXPECT "}\n";

static const char incast_text[] =
    "{\n"
    "  \"_\": \"Many hosts send to one: queues, marks, pauses.\",\n"
    "  \"name\": \"incast\",\n" FABRIC "  \"workload\": [\n"
    "    {\"_\": \"senders: a count, a list of hosts, or all\",\n"
    "     \"type\": \"incast\", \"senders\": 16, \"receiver\": \"host0\", \"bytes\": "
    "\"1MiB\"}\n"
    "  ],\n"
    "  \"_output\": \"series: ports whose queue is sampled; leave it out for all; named "
    "NIC ports (host*:*) also show the rates of their queue pairs\",\n"
    "  \"output\": {\"sample\": \"10us\", \"series\": [\"leaf0:0\"]},\n" EXPECT "}\n";

static const char collective_text[] =
    "{\n"
    "  \"_\": \"One collective over all GPUs, as NCCL does it.\",\n"
    "  \"name\": \"collective\",\n" FABRIC "  \"node\": {\"gpus\": 1, \"nics\": 1},\n"
    "  \"_nccl\": \"NCCL's environment variables, as exported on the cluster\",\n"
    "  \"nccl\": {\"NCCL_MAX_NCHANNELS\": 2, \"NCCL_IB_QPS_PER_CONNECTION\": 1},\n"
    "  \"workload\": [\n"
    "    {\"_\": \"bytes as nccl-tests count; ranks: all, a count, or a list; place: "
    "packed, spread or random over the racks\",\n"
    "     \"type\": \"collective\", \"op\": \"all_reduce\", \"algorithm\": \"ring\", "
    "\"bytes\": \"16MiB\", \"ranks\": \"all\", \"place\": \"packed\"}\n"
    "  ],\n" EXPECT "}\n";

static const char trace_text[] =
    "{\n"
    "  \"_\": \"What an NCCL log says was done: NCCL_DEBUG=INFO "
    "NCCL_DEBUG_SUBSYS=INIT,COLL.\",\n"
    "  \"name\": \"trace\",\n" FABRIC
    "  \"_node\": \"at least as many GPUs as the log has ranks on a host\",\n"
    "  \"node\": {\"gpus\": 8, \"nics\": 1},\n"
    "  \"workload\": [\n"
    "    {\"_\": \"path: a file, a folder or a list, seen from this file; gap: between "
    "operations of a log without time stamps\",\n"
    "     \"type\": \"trace\", \"path\": \"nccl.log\", \"gap\": \"10us\"}\n"
    "  ],\n" EXPECT "}\n";

static const char graph_text[] =
    "{\n"
    "  \"_\": \"A network link by link.\",\n"
    "  \"name\": \"graph\",\n"
    "  \"topology\": {\n"
    "    \"type\": \"graph\",\n"
    "    \"_links\": \"a link with a host takes what it does not say from host_link, "
    "others from fabric_link\",\n"
    "    \"host_link\": {\"rate\": \"100G\", \"length\": \"3m\"},\n"
    "    \"fabric_link\": {\"rate\": \"400G\", \"length\": \"30m\"},\n"
    "    \"nodes\": [\n"
    "      {\"name\": \"a\", \"kind\": \"host\"}, {\"name\": \"b\", \"kind\": "
    "\"host\"},\n"
    "      {\"name\": \"left\", \"kind\": \"switch\"}, {\"name\": \"right\", \"kind\": "
    "\"switch\"}\n"
    "    ],\n"
    "    \"links\": [\n"
    "      {\"a\": \"a\", \"b\": \"left\"}, {\"a\": \"b\", \"b\": \"right\"},\n"
    "      {\"a\": \"left\", \"b\": \"right\"}, {\"a\": \"left\", \"b\": \"right\", "
    "\"length\": \"100m\"}\n"
    "    ]\n"
    "  },\n"
    "  \"workload\": [{\"type\": \"flows\", \"list\": [{\"src\": \"a\", \"dst\": \"b\", "
    "\"bytes\": \"10MB\"}]}],\n" EXPECT "}\n";

static const char poisson_text[] =
    "{\n"
    "  \"_\": \"Flows at random times, of sizes from a distribution, and incasts on "
    "top.\",\n"
    "  \"name\": \"poisson\",\n" FABRIC "  \"workload\": [\n"
    "    {\"_\": \"load: payload over the rate of a host's links; cdf: rocesim list "
    "cdfs, or a file\",\n"
    "     \"type\": \"poisson\", \"cdf\": \"FbHadoop\", \"load\": 0.3, \"until\": "
    "\"2ms\"},\n"
    "    {\"_\": \"on top: 8 random hosts send to a random one, 2 % of the load of all "
    "links\",\n"
    "     \"type\": \"incast\", \"bytes\": \"500KB\", \"senders\": 8, \"choice\": "
    "\"random\",\n"
    "     \"arrivals\": \"poisson\", \"load\": \"2%\", \"until\": \"2ms\"}\n"
    "  ],\n"
    "  \"_output\": \"flows that start in the first and last part of the run do not "
    "count\",\n"
    "  \"output\": {\"warmup\": \"200us\", \"cooldown\": \"200us\"},\n" EXPECT "}\n";

static const char all_to_all_text[] =
    "{\n"
    "  \"_\": \"Every host sends to every other one.\",\n"
    "  \"name\": \"all-to-all\",\n" FABRIC "  \"workload\": [\n"
    "    {\"_\": \"every host sends this to every other one\",\n"
    "     \"type\": \"all-to-all\", \"bytes\": \"64KiB\"}\n"
    "  ],\n" EXPECT "}\n";

static const char sweep_text[] =
    "{\n"
    "  \"_\": \"A scenario, values that vary, seeds: run it with `rocesim sweep "
    "FILE`.\",\n"
    "  \"name\": \"sweep\",\n"
    "  \"_base\": \"a scenario, or the name of a file with one, seen from this file\",\n"
    "  \"base\": {\n"
    "    \"topology\": {\"type\": \"star\", \"hosts\": 9,\n"
    "                 \"host_link\": {\"rate\": \"100G\", \"length\": \"3m\"}},\n"
    "    \"cc\": {\"algorithm\": \"dcqcn\"},\n"
    "    \"workload\": [{\"type\": \"incast\", \"senders\": 8, \"receiver\": 0, "
    "\"bytes\": \"1MiB\"}]\n"
    "  },\n"
    "  \"_axes\": \"paths as in --set; every value with every other; the last axis goes "
    "fastest\",\n"
    "  \"axes\": {\n"
    "    \"workload[0].senders\": [2, 8],\n"
    "    \"switch.ecn.kmax\": [\"200KB\", \"400KB\"]\n"
    "  },\n"
    "  \"_zip\": \"values that go together: the first of each, the second of each\",\n"
    "  \"zip\": {\n"
    "    \"switch.ecn.kmin\": [\"50KB\", \"100KB\"],\n"
    "    \"switch.ecn.pmax\": [0.1, 0.2]\n"
    "  },\n"
    "  \"_seeds\": \"how many, or a list\",\n"
    "  \"seeds\": 3,\n"
    "  \"_metrics\": \"paths into summary.json; without it a choice\",\n"
    "  \"metrics\": [\"flows.fct_us.p50\", \"flows.fct_us.p99\", \"fabric.ecn_marked\",\n"
    "              \"fabric.max_queue_bytes\"],\n"
    "  \"_keep\": \"of each run its summary, or all files\",\n"
    "  \"keep\": \"summary\"\n"
    "}\n";

static const char *const kinds[] = {"flows",      "permutation", "incast",
                                    "collective", "trace",       "graph",
                                    "poisson",    "all-to-all",  NULL};
static const char *const texts[] = {flows_text,      permutation_text, incast_text,
                                    collective_text, trace_text,       graph_text,
                                    poisson_text,    all_to_all_text};

const char *const *
cmd_new_kinds(void)
{
    return kinds;
}

const char *
cmd_new_text(const char *kind)
{
    for (size_t i = 0; kinds[i] != NULL; i++) {
        if (strcmp(kinds[i], kind) == 0) {
            return texts[i];
        }
    }
    return strcmp(kind, "sweep") == 0 ? sweep_text : NULL;
}

static int
cmd_new(int argc, char **argv)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    const char *kind, *text;
    int status;

    if (!command_begin(&command_new, argc, argv, NULL, words, &status)) {
        return status;
    }
    kind = g_ptr_array_index(words, 0);
    text = cmd_new_text(kind);
    if (text == NULL) {
        g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)kinds);
        const char *nearest =
            param_distance(kind, "sweep") <
                    param_distance(kind, param_nearest_word(kinds, kind))
                ? "sweep"
                : param_nearest_word(kinds, kind);
        GError *error =
            g_error_new(OPTION_ERROR, OPTION_ERROR_USAGE,
                        "new: no kind '%.60s'; nearest is '%s', allowed are %s, sweep",
                        kind, nearest, all);

        return command_fail(&error, STATUS_INPUT);
    }
    fputs(text, stdout);
    return command_end(STATUS_OK);
}

static const struct option no_options[] = {{0}};

const struct command command_new = {
    .name = "new",
    .words = "KIND",
    .doc = "Prints a commented starting scenario, or a sweep.",
    .more =
        "KIND is flows, permutation, incast, poisson, all-to-all, collective, trace,\n"
        "graph or sweep.\n",
    .options = no_options,
    .least_words = 1,
    .most_words = 1,
    .run = cmd_new,
};
