/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * work_params.h - what a workload is told: names resolved to dense ids, base units.
 *
 * The loader makes one struct work_params an entry of the scenario's `workload` once the
 * nodes of the network are there; workloads only read it.
 *
 * Hosts of a workload stand in 'hosts' in the order of its `place`; position k is what the
 * number k in `src`, `dst`, `senders`, `receiver` means, where permutation starts from, and
 * the host of ranks k * gpus to (k + 1) * gpus - 1.
 */
#ifndef ROCESIM_WORKLOADS_WORK_PARAMS_H
#define ROCESIM_WORKLOADS_WORK_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/param.h"

enum work_kind {
    WORK_FLOWS,
    WORK_PERMUTATION,
    WORK_INCAST,
    WORK_COLLECTIVE,
    WORK_TRACE,
    WORK_POISSON,
    WORK_ALL_TO_ALL,
    WORK_FILE,
};

/* The operation a message is sent by. */
enum work_verb { WORK_WRITE, WORK_WRITE_IMM, WORK_SEND, WORK_SEND_IMM, WORK_READ };

/* Who shares queue pairs. */
enum work_connect {
    WORK_CONNECT_PAIR, /* all flows of a pair of hosts */
    WORK_CONNECT_FLOW, /* each flow has its own, as fresh as a new connection */
};

/* When the events of an incast begin. */
enum work_arrivals {
    WORK_ARRIVALS_ROUNDS,  /* when the one before has ended */
    WORK_ARRIVALS_FIXED,   /* at fixed times */
    WORK_ARRIVALS_POISSON, /* at random times */
};

/* Who takes part in an event of an incast. */
enum work_choice { WORK_CHOICE_FIXED, WORK_CHOICE_RANDOM };

/* The order in which hosts are taken. */
enum work_place {
    WORK_PLACE_PACKED, /* by number: rack by rack */
    WORK_PLACE_SPREAD, /* one of each rack in turn */
    WORK_PLACE_RANDOM, /* shuffled by the scenario's seed */
};

enum work_op { WORK_ALL_REDUCE };
enum work_algorithm { WORK_RING };
enum work_protocol { WORK_SIMPLE };

/* Element types, named as traces name them. */
enum work_type {
    WORK_INT8,
    WORK_UINT8,
    WORK_INT32,
    WORK_UINT32,
    WORK_INT64,
    WORK_UINT64,
    WORK_FP16,
    WORK_FP32,
    WORK_FP64,
    WORK_BF16,
};

/* What every workload has; table work_common_params. */
struct work_common {
    int64_t start_ps;
    int64_t repeat;        /* rounds, >= 1 */
    int64_t gap_ps;        /* from the end of a round to the start of the next; in a trace
                              without time stamps also from operation to operation */
    int64_t qps;           /* queue pairs of a pair of hosts (collective, trace: of a
                              connection); flows and messages take them in turn */
    int64_t message_bytes; /* a flow is cut into messages of this; 0 (PARAM_SPECIAL
                              before it is bound): one message, cut at 1 GiB
                              only.  0 for collective and trace */
    int32_t verb;          /* enum work_verb */
    int32_t place;         /* enum work_place */
    int32_t connect;       /* enum work_connect; of flows, not of NCCL */
};

/* Tables of the keys of each kind over the struct named beside it. */
struct work_permutation {
    int64_t bytes; /* each host's flow */
    int64_t shift; /* position i sends to (i + shift) mod n_hosts; 1 to n_hosts - 1 */
};

struct work_incast {
    int64_t bytes;    /* each sender's flow */
    int64_t load_e18; /* share of the link rate of all hosts, times 10^18, from which
                         the gap follows; PARAM_SPECIAL: common.gap_ps is it */
    int64_t until_ps; /* no event begins then or later; PARAM_SPECIAL: common.repeat of
                         them.  Both for arrivals but rounds */
    int32_t arrivals; /* enum work_arrivals */
    int32_t choice;   /* enum work_choice */
};

struct work_poisson {
    int64_t
        load_e18; /* payload offered by a host over the rate of its links, times 10^18 */
    int64_t until_ps; /* no flow starts then or later; bound: never PARAM_SPECIAL */
};

struct work_all_to_all {
    int64_t bytes; /* each flow */
};

struct work_collective {
    int64_t bytes;     /* as nccl-tests count; a whole number of elements */
    int32_t op;        /* enum work_op */
    int32_t algorithm; /* enum work_algorithm */
    int32_t protocol;  /* enum work_protocol */
    int32_t type;      /* enum work_type */
};

/* One flow of WORK_FLOWS and WORK_FILE. */
struct work_flow {
    uint32_t src, dst;     /* host ids, not equal */
    int64_t bytes;         /* >= 1 */
    int64_t start_ps;      /* after the round's start */
    uint32_t qos;          /* index into the network's qos, plus 1; 0: the workload's */
    uint16_t sport, dport; /* UDP; 0: what the NIC gives */
    /* Of WORK_FILE, triggers plus 1, 0: none.  The one that starts the flow, in place of
     * start_ps; those activated when its last byte is acknowledged, received. */
    uint32_t after, sent, received;
};

/* What a trigger does when it is activated; htsim's names. */
enum work_trigger_kind {
    WORK_TRIGGER_ONESHOT,   /* starts all its flows; activated once */
    WORK_TRIGGER_MULTISHOT, /* starts the next of its flows, each time */
    WORK_TRIGGER_BARRIER,   /* starts all its flows at the last of 'count' times */
};

struct work_trigger {
    enum work_trigger_kind kind;
    int64_t count; /* WORK_TRIGGER_BARRIER: >= 1 */
};

/* Settings of NCCL for collective and trace: `nccl` of the scenario; table
 * work_nccl_params. */
struct work_nccl {
    int64_t min_channels, max_channels; /* NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS */
    int64_t buffer_bytes;               /* NCCL_BUFFSIZE */
    int64_t n_threads;  /* NCCL_NTHREADS; PARAM_SPECIAL: by the speed of the ring */
    int64_t qps;        /* NCCL_IB_QPS_PER_CONNECTION */
    int64_t split_data; /* NCCL_IB_SPLIT_DATA_ON_QPS; PARAM_SPECIAL: by the version */
    int64_t launch_ps;  /* from a call to its first operation */
    int64_t copy_bps;   /* of a block; PARAM_SPECIAL: in no time */
    int64_t reduce_bps; /* likewise */
    int64_t poll_ps;    /* until a proxy or GPU sees what happened */
    int64_t post_ps;    /* a proxy is busy with one post */
    int64_t ib_timeout; /* NCCL_IB_TIMEOUT; PARAM_SPECIAL: as `nic`, where the loader has
                               put the others */
    int64_t ib_retry_count; /* NCCL_IB_RETRY_CNT; likewise */
    uint32_t version;       /* NCCL_VERSION_CODE: 23007 for 2.30.7 */
};

/* One workload, resolved. */
struct work_params {
    enum work_kind kind;
    uint32_t index; /* in `workload` */
    uint32_t qos;   /* index into the network's qos */
    struct work_common common;

    uint32_t *hosts; /* owned: host ids by position */
    uint32_t n_hosts;
    bool is_open_ended; /* what is unfinished at the stop need not be finished */
    uint32_t gpus;      /* of each host, >= 1 */
    uint32_t nics;      /* of each host, >= 1; 0: a graph, where they differ */

    struct work_flow *flows; /* owned; WORK_FLOWS, WORK_FILE */
    size_t n_flows;
    struct work_trigger *triggers; /* owned; WORK_FILE */
    uint32_t n_triggers;
    struct work_permutation permutation; /* WORK_PERMUTATION */
    struct work_incast incast;           /* WORK_INCAST, with: */
    uint32_t *senders; /* owned: host ids, without the receiver; NULL: drawn anew for each
                          event */
    uint32_t n_senders, receiver;      /* receiver UINT32_MAX: likewise */
    struct work_poisson poisson;       /* WORK_POISSON, with: */
    char *cdf;                         /* owned: path of the distribution of sizes */
    struct work_all_to_all all_to_all; /* WORK_ALL_TO_ALL */
    struct work_collective collective; /* WORK_COLLECTIVE, with: */
    uint32_t *rank_host, *rank_gpu;    /* owned: host id and GPU of each rank */
    uint32_t n_ranks;
    char **paths;  /* owned, NULL at the end; WORK_TRACE: absolute */
    char *format;  /* owned; name of a reader; NULL: by content */
    uint32_t skip; /* bit k: operations of enum trace_kind k are left out */
    const struct work_nccl *nccl; /* borrowed: the scenario's */

    int64_t pipe_rate_bps, pipe_latency_ps; /* between the GPUs of a host */
};

extern const struct param work_common_params[];
extern const struct param work_permutation_params[];
extern const struct param work_incast_params[];
extern const struct param work_collective_params[];
extern const struct param work_poisson_params[];
extern const struct param work_all_to_all_params[];
extern const struct param work_nccl_params[];

/* Name of a kind as `workload[].type`. */
const char *work_kind_name(enum work_kind kind);

/* Bytes of an element, 1 to 8. */
int64_t work_type_bytes(enum work_type type);

/* Frees 'params' and what it owns; accepts NULL. */
void work_params_free(struct work_params *params);

#endif
