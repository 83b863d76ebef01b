/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * work_params.c - tables of the keys of workloads.  Set-up code.
 */
#include <config.h>

#include "workloads/work_params.h"

#include <glib.h>

#include "sim/units.h"

/* A million terabytes: more than any network carries in the 106 days of int64_t time. */
#define BYTES_MAX (INT64_C(1) << 50)

/* A day. */
#define START_MAX_PS (86400 * PS_PER_S)

static const char *const verb_words[] = {"write",    "write-imm", "send",
                                         "send-imm", "read",      NULL};
static const char *const place_words[] = {"packed", "spread", "random", NULL};
static const char *const connect_words[] = {"pair", "flow", NULL};
static const char *const arrivals_words[] = {"rounds", "fixed", "poisson", NULL};
static const char *const choice_words[] = {"fixed", "random", NULL};
static const char *const op_words[] = {"all_reduce", NULL};
static const char *const algorithm_words[] = {"ring", NULL};
static const char *const protocol_words[] = {"simple", NULL};
static const char *const type_words[] = {"int8",  "uint8",  "int32", "uint32",
                                         "int64", "uint64", "fp16",  "fp32",
                                         "fp64",  "bf16",   NULL};

/* Loads below a millionth are no loads. */
#define LOAD_MIN (PARAM_SHARE_ONE / 1000000)

#define INCAST(field) .offset = offsetof(struct work_incast, field)
#define COMMON(field) .offset = offsetof(struct work_common, field)
#define NCCL(field) .offset = offsetof(struct work_nccl, field)

const struct param work_common_params[] = {
    {.name = "start",
     .kind = PARAM_TIME,
     COMMON(start_ps),
     .unit = "us",
     .def = 0,
     .min = 0,
     .max = START_MAX_PS,
     .source = "from the beginning",
     .doc = "when the first round begins"},
    {.name = "repeat",
     .kind = PARAM_INTEGER,
     COMMON(repeat),
     .unit = "",
     .def = 1,
     .min = 1,
     .max = 1000000,
     .source = "once",
     .doc = "rounds"},
    {.name = "gap",
     .kind = PARAM_TIME,
     COMMON(gap_ps),
     .unit = "us",
     .def = 0,
     .min = 0,
     .max = START_MAX_PS,
     .source = "one round follows the other at once",
     .doc = "from the end of a round to the next; in a trace without time stamps also "
            "between operations"},
    {.name = "qps",
     .kind = PARAM_INTEGER,
     COMMON(qps),
     .unit = "",
     .def = 1,
     .min = 1,
     .max = 1024,
     .source = "nic.qps; for collective and trace NCCL_IB_QPS_PER_CONNECTION",
     .doc = "queue pairs of a pair of hosts, or of an NCCL connection; messages take "
            "them in "
            "turn"},
    {.name = "message",
     .kind = PARAM_SIZE,
     COMMON(message_bytes),
     .unit = "KiB",
     .def = PARAM_SPECIAL,
     .min = 1,
     .max = INT64_C(1) << 30,
     .special = "whole",
     .source =
         "a flow is one WRITE, as ib_write_bw posts it; InfiniBand Architecture 1.4, "
         "9.7.2: a message has at most 2^31 bytes, here 2^30",
     .doc = "a flow is cut into messages of this size"},
    {.name = "verb",
     .kind = PARAM_ENUM,
     COMMON(verb),
     .unit = "",
     .def = WORK_WRITE,
     .min = WORK_WRITE,
     .max = WORK_READ,
     .names = verb_words,
     .source = "perftest's ib_write_bw; NCCL sends by write with immediate",
     .doc = "how a message is sent; read: the receiver of the data asks for it"},
    {.name = "place",
     .kind = PARAM_ENUM,
     COMMON(place),
     .unit = "",
     .def = WORK_PLACE_PACKED,
     .min = 0,
     .max = 2,
     .names = place_words,
     .source = "schedulers fill rack by rack",
     .doc = "order in which hosts are taken: by number, one of each rack in turn, "
            "shuffled by "
            "the seed"},
    {.name = "connect",
     .kind = PARAM_ENUM,
     COMMON(connect),
     .unit = "",
     .def = WORK_CONNECT_PAIR,
     .min = 0,
     .max = 1,
     .names = connect_words,
     .source =
         "applications keep their connections; the HPCC ns-3 simulator has one a flow",
     .doc =
         "queue pairs are of a pair of hosts, or of one flow, which then begins at line "
         "rate; 1.1 KB a queue pair"},
    {.name = NULL},
};

const struct param work_permutation_params[] = {
    {.name = "bytes",
     .kind = PARAM_SIZE,
     .offset = offsetof(struct work_permutation, bytes),
     .unit = "MiB",
     .def = 1 << 20,
     .min = 1,
     .max = BYTES_MAX,
     .source = "a round number",
     .doc = "of each flow"},
    {.name = "shift",
     .kind = PARAM_INTEGER,
     .offset = offsetof(struct work_permutation, shift),
     .unit = "hosts",
     .def = 1,
     .min = 1,
     .max = 1000000,
     .source = "the next one",
     .doc = "host i of n sends to host (i + shift) mod n"},
    {.name = NULL},
};

const struct param work_incast_params[] = {
    {.name = "bytes",
     .kind = PARAM_SIZE,
     .offset = offsetof(struct work_incast, bytes),
     .unit = "MiB",
     .def = 1 << 20,
     .min = 1,
     .max = BYTES_MAX,
     .source = "a round number",
     .doc = "of each flow"},
    {.name = "arrivals",
     .kind = PARAM_ENUM,
     INCAST(arrivals),
     .unit = "",
     .def = WORK_ARRIVALS_ROUNDS,
     .min = 0,
     .max = 2,
     .names = arrivals_words,
     .source = "as of every workload; poisson: Li et al., HPCC, SIGCOMM '19, section 5.1",
     .doc =
         "an event begins gap after the end of the one before, or with gap between the "
         "beginnings, fixed or exponential with that mean"},
    {.name = "load",
     .kind = PARAM_SHARE,
     INCAST(load_e18),
     .unit = "",
     .def = PARAM_SPECIAL,
     .min = LOAD_MIN,
     .max = PARAM_SHARE_ONE,
     .special = "off",
     .source = "gap says it",
     .doc =
         "payload over the link rate of all hosts of the workload; instead of gap, with "
         "arrivals fixed or poisson"},
    {.name = "until",
     .kind = PARAM_TIME,
     INCAST(until_ps),
     .unit = "ms",
     .def = PARAM_SPECIAL,
     .min = 1,
     .max = START_MAX_PS,
     .special = "repeat",
     .source = "repeat says it",
     .doc = "no event begins then or later; instead of repeat, with arrivals fixed or "
            "poisson"},
    {.name = "choice",
     .kind = PARAM_ENUM,
     INCAST(choice),
     .unit = "",
     .def = WORK_CHOICE_FIXED,
     .min = 0,
     .max = 1,
     .names = choice_words,
     .source = "the same hosts each time",
     .doc =
         "random: the senders, and without receiver that too, are drawn for each event"},
    {.name = NULL},
};

const struct param work_collective_params[] = {
    {.name = "op",
     .kind = PARAM_ENUM,
     .offset = offsetof(struct work_collective, op),
     .unit = "",
     .def = WORK_ALL_REDUCE,
     .min = 0,
     .max = 0,
     .names = op_words,
     .source = "the commonest in training",
     .doc = "which collective"},
    {.name = "algorithm",
     .kind = PARAM_ENUM,
     .offset = offsetof(struct work_collective, algorithm),
     .unit = "",
     .def = WORK_RING,
     .min = 0,
     .max = 0,
     .names = algorithm_words,
     .source = "NCCL's choice for large sizes",
     .doc = "how it is done"},
    {.name = "protocol",
     .kind = PARAM_ENUM,
     .offset = offsetof(struct work_collective, protocol),
     .unit = "",
     .def = WORK_SIMPLE,
     .min = 0,
     .max = 0,
     .names = protocol_words,
     .source = "NCCL's choice for large sizes",
     .doc = "NCCL's protocol"},
    {.name = "bytes",
     .kind = PARAM_SIZE,
     .offset = offsetof(struct work_collective, bytes),
     .unit = "MiB",
     .def = 1 << 20,
     .min = 1,
     .max = BYTES_MAX,
     .source = "a round number",
     .doc = "size as nccl-tests count it: of the buffer of a rank"},
    {.name = "datatype",
     .kind = PARAM_ENUM,
     .offset = offsetof(struct work_collective, type),
     .unit = "",
     .def = WORK_FP32,
     .min = 0,
     .max = 9,
     .names = type_words,
     .source = "nccl-tests: -d float",
     .doc = "type of an element; bytes are a whole number of them"},
    {.name = NULL},
};

const struct param work_poisson_params[] = {
    {.name = "load",
     .kind = PARAM_SHARE,
     .offset = offsetof(struct work_poisson, load_e18),
     .unit = "",
     .def = PARAM_SHARE_ONE / 10 * 3,
     .min = LOAD_MIN,
     .max = PARAM_SHARE_ONE,
     .source =
         "alibaba-edu/High-Precision-Congestion-Control, traffic_gen/traffic_gen.py: "
         "-l 0.3",
     .doc =
         "payload that a host offers over the rate of its links (headers come on top)"},
    {.name = "until",
     .kind = PARAM_TIME,
     .offset = offsetof(struct work_poisson, until_ps),
     .unit = "ms",
     .def = PARAM_SPECIAL,
     .min = 1,
     .max = START_MAX_PS,
     .special = "stop",
     .source = "a load has no end of its own",
     .doc = "no flow starts then or later"},
    {.name = NULL},
};

const struct param work_all_to_all_params[] = {
    {.name = "bytes",
     .kind = PARAM_SIZE,
     .offset = offsetof(struct work_all_to_all, bytes),
     .unit = "MiB",
     .def = 1 << 20,
     .min = 1,
     .max = BYTES_MAX,
     .source = "a round number",
     .doc = "of each flow: from each host to each other one"},
    {.name = NULL},
};

const struct param work_nccl_params[] = {
    {.name = "NCCL_MIN_NCHANNELS",
     .kind = PARAM_INTEGER,
     NCCL(min_channels),
     .unit = "channels",
     .def = 1,
     .min = 1,
     .max = 64,
     .source = "NCCL 2.30.7: no least number, MAXCHANNELS 64",
     .doc = "least channels of a communicator: 2 a NIC are raised to this"},
    {.name = "NCCL_MAX_NCHANNELS",
     .kind = PARAM_INTEGER,
     NCCL(max_channels),
     .unit = "channels",
     .def = 64,
     .min = 1,
     .max = 64,
     .source = "NCCL 2.30.7: MAXCHANNELS 64",
     .doc = "most channels of a communicator"},
    {.name = "NCCL_BUFFSIZE",
     .kind = PARAM_INTEGER,
     NCCL(buffer_bytes),
     .unit = "bytes",
     .def = 4 << 20,
     .min = 8192,
     .max = 1 << 30,
     .source = "NCCL 2.30.7 src/init.cc: DEFAULT_BUFFSIZE",
     .doc = "buffer of a connection, Simple protocol; a multiple of 8192"},
    {.name = "NCCL_NTHREADS",
     .kind = PARAM_INTEGER,
     NCCL(n_threads),
     .unit = "threads",
     .def = PARAM_SPECIAL,
     .min = 64,
     .max = 512,
     .special = "auto",
     .source = "NCCL 2.30.7 src/graph/tuning.cc: 512, or 256 on slow rings",
     .doc = "most threads of a block; a multiple of 32"},
    {.name = "NCCL_IB_QPS_PER_CONNECTION",
     .kind = PARAM_INTEGER,
     NCCL(qps),
     .unit = "",
     .def = 1,
     .min = 1,
     .max = 64,
     .source = "NCCL 2.30.7 src/transport/net_ib: 1",
     .doc = "queue pairs of a connection"},
    {.name = "NCCL_IB_SPLIT_DATA_ON_QPS",
     .kind = PARAM_INTEGER,
     NCCL(split_data),
     .unit = "",
     .def = PARAM_SPECIAL,
     .min = 0,
     .max = 1,
     .special = "auto",
     .source = "NCCL: 0 from 2.20 on, 1 before",
     .doc = "1: each message is cut over all queue pairs"},
    {.name = "NCCL_IB_TIMEOUT",
     .kind = PARAM_INTEGER,
     NCCL(ib_timeout),
     .unit = "exponent",
     .def = PARAM_SPECIAL,
     .min = 0,
     .max = 31,
     .special = "nic",
     .source = "NCCL 2.30.7 src/transport/net_ib: 20",
     .doc = "nic.ack_timeout of all NICs, unless that is given too"},
    {.name = "NCCL_IB_RETRY_CNT",
     .kind = PARAM_INTEGER,
     NCCL(ib_retry_count),
     .unit = "",
     .def = PARAM_SPECIAL,
     .min = 0,
     .max = 7,
     .special = "nic",
     .source = "NCCL 2.30.7 src/transport/net_ib: 7",
     .doc = "nic.retry_count of all NICs, unless that is given too"},
    {.name = "launch",
     .kind = PARAM_TIME,
     NCCL(launch_ps),
     .unit = "us",
     .def = 0,
     .min = 0,
     .max = PS_PER_S,
     .source = "none: no number stands in NCCL's source, it must be fitted",
     .doc = "from a call to its first operation"},
    {.name = "copy",
     .kind = PARAM_RATE,
     NCCL(copy_bps),
     .unit = "Gbps",
     .def = PARAM_SPECIAL,
     .min = 1000000,
     .max = INT64_C(1000000000000000),
     .special = "instant",
     .source = "none: no number stands in NCCL's source, it must be fitted",
     .doc = "a block copies at this rate"},
    {.name = "reduce",
     .kind = PARAM_RATE,
     NCCL(reduce_bps),
     .unit = "Gbps",
     .def = PARAM_SPECIAL,
     .min = 1000000,
     .max = INT64_C(1000000000000000),
     .special = "instant",
     .source = "none: no number stands in NCCL's source, it must be fitted",
     .doc = "a block receives and reduces at this rate"},
    {.name = "poll",
     .kind = PARAM_TIME,
     NCCL(poll_ps),
     .unit = "us",
     .def = 0,
     .min = 0,
     .max = PS_PER_S,
     .source = "none: no number stands in NCCL's source, it must be fitted",
     .doc = "until a proxy, or the GPU behind it, sees what happened"},
    {.name = "post",
     .kind = PARAM_TIME,
     NCCL(post_ps),
     .unit = "us",
     .def = 0,
     .min = 0,
     .max = PS_PER_S,
     .source = "none: no number stands in NCCL's source, it must be fitted",
     .doc = "the proxy thread of a rank is busy with one post"},
    {.name = NULL},
};

const char *
work_kind_name(enum work_kind kind)
{
    switch (kind) {
    case WORK_FLOWS:
        return "flows";
    case WORK_PERMUTATION:
        return "permutation";
    case WORK_INCAST:
        return "incast";
    case WORK_COLLECTIVE:
        return "collective";
    case WORK_TRACE:
        return "trace";
    case WORK_POISSON:
        return "poisson";
    case WORK_ALL_TO_ALL:
        return "all-to-all";
    case WORK_FILE:
        return "file";
    }
    return "unknown";
}

int64_t
work_type_bytes(enum work_type type)
{
    switch (type) {
    case WORK_INT8:
    case WORK_UINT8:
        return 1;
    case WORK_FP16:
    case WORK_BF16:
        return 2;
    case WORK_INT32:
    case WORK_UINT32:
    case WORK_FP32:
        return 4;
    case WORK_INT64:
    case WORK_UINT64:
    case WORK_FP64:
        return 8;
    }
    return 0;
}

void
work_params_free(struct work_params *params)
{
    if (params == NULL) {
        return;
    }
    g_free(params->hosts);
    g_free(params->flows);
    g_free(params->triggers);
    g_free(params->senders);
    g_free(params->cdf);
    g_free(params->rank_host);
    g_free(params->rank_gpu);
    for (char **path = params->paths; path != NULL && *path != NULL; path++) {
        g_free(*path);
    }
    g_free(params->paths);
    g_free(params->format);
    g_free(params);
}
