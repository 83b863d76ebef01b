/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net_params.c - tables of the parameters of NICs and switches.  Set-up code.
 */
#include <config.h>

#include "models/net_params.h"

#include <assert.h>

#include "models/switch/headroom.h"
#include "models/switch/watchdog.h"

/* A second: longer than any latency of a device, short enough that sums stay small. */
#define LATENCY_MAX_PS PS_PER_S

/* 64 GB: no switch has so much. */
#define BUFFER_MAX_BYTES INT64_C(64000000000)

#define REACTION_SOURCE                                                                  \
    "IEEE 802.3 annex 31B and IEEE 802.1Q-2018 36.1.3: the longest reaction allowed at " \
    "the port's rate"

static const char *const mtu_words[] = {"256", "512", "1024", "2048", "4096", NULL};
static const char *const ip_words[] = {"4", "6", NULL};
static const char *const forwarding_words[] = {"store-and-forward", "cut-through", NULL};
static const char *const ecn_at_words[] = {"enqueue", "dequeue", NULL};
static const char *const lb_words[] = {"ecmp", "flowlet", "spray", "adaptive", NULL};
static const char *const spray_words[] = {"round-robin", "random", NULL};
static const char *const flowlet_words[] = {"hash", "least-loaded", NULL};
static const char *const headroom_words[] = {"exact", "sonic", "sonic-static", NULL};
static const char *const watchdog_words[] = {"off", "drop", "forward", NULL};

/* Longest timer of a watchdog: SONiC's own limit is 5 s. */
#define WATCHDOG_MAX_PS (60 * PS_PER_S)

#define NIC(field) .offset = offsetof(struct nic_params, field)
#define SWITCH(field) .offset = offsetof(struct switch_params, field)

const struct param nic_param_table[] = {
    {.name = "port_rate",
     .kind = PARAM_RATE,
     NIC(port_rate_bps),
     .unit = "Gbps",
     .def = 0,
     .min = 0,
     .max = CC_MAX_RATE_BPS,
     .source = "profile; the profile ideal has no limit",
     .doc = "fastest port; a link may not be faster; 0bps: no limit"},
    {.name = "latency",
     .kind = PARAM_TIME,
     NIC(latency_ps),
     .unit = "ns",
     .def = 0,
     .min = 0,
     .max = LATENCY_MAX_PS,
     .source = "profile ideal, by definition",
     .doc = "on each side: posting to first bit, last bit to memory"},
    {.name = "ack_latency",
     .kind = PARAM_TIME,
     NIC(ack_latency_ps),
     .unit = "ns",
     .def = 0,
     .min = 0,
     .max = LATENCY_MAX_PS,
     .source = "profile ideal, by definition",
     .doc = "last bit of the packet that is acknowledged to first bit of its ACK"},
    {.name = "pfc_reaction",
     .kind = PARAM_TIME,
     NIC(pfc_reaction_ps),
     .unit = "ns",
     .def = REACTION_IEEE,
     .min = 0,
     .max = LATENCY_MAX_PS,
     .special = "ieee",
     .source = REACTION_SOURCE,
     .doc = "last bit of a PFC frame to the class being silent; a frame that has begun "
            "ends"},
    {.name = "jitter",
     .kind = PARAM_TIME,
     NIC(jitter_ps),
     .unit = "ns",
     .def = PARAM_SPECIAL,
     .min = 0,
     .max = PS_PER_S,
     .special = "frame",
     .source = "a choice of the simulator: without it equal senders lock out and seeds "
               "differ in hashing only",
     .doc = "each host starts later by a seeded time up to this; frame: one full frame"},
    {.name = "mtu",
     .kind = PARAM_INTEGER,
     NIC(mtu_bytes),
     .unit = "bytes",
     .def = 4096,
     .min = 256,
     .max = 4096,
     .names = mtu_words,
     .source =
         "InfiniBand Architecture 1.4, 9.4.3: the path MTU; 4096 is usual for RoCE on "
         "jumbo frames",
     .doc = "payload of a full packet"},
    {.name = "ack_every",
     .kind = PARAM_INTEGER,
     NIC(ack_every),
     .unit = "packets",
     .def = 256,
     .min = 1,
     .max = 65536,
     .source = "mlx5 drivers, log_ack_req_freq 8",
     .doc =
         "an ACK is asked for every so many packets, and by the last one of a message"},
    {.name = "max_inflight",
     .kind = PARAM_INTEGER,
     NIC(max_inflight),
     .unit = "packets",
     .def = 0,
     .min = 0,
     .max = (1 << 23) - 1,
     .source =
         "InfiniBand Architecture 1.4, 9.7.2: at most half of the PSNs may be out; no "
         "other limit in RoCE",
     .doc = "packets a queue pair may have unacknowledged; 0: no limit but half of the "
            "PSNs"},
    {.name = "qps",
     .kind = PARAM_INTEGER,
     NIC(qps),
     .unit = "",
     .def = 1,
     .min = 1,
     .max = 1024,
     .source = "one, as perftest and NCCL set up by default",
     .doc = "queue pairs of each pair of hosts that talk, where a workload does not say"},
    {.name = "cnp_interval",
     .kind = PARAM_TIME,
     NIC(cnp_interval_ps),
     .unit = "us",
     .def = 4 * PS_PER_US,
     .min = 0,
     .max = PS_PER_S,
     .source = "the preset of cc says; dcqcn mlx5: min_time_between_cnps of mlx5, 4 us",
     .doc = "least time between two CNPs of a queue pair"},
    {.name = "ack_timeout",
     .kind = PARAM_INTEGER,
     NIC(ack_timeout),
     .unit = "exponent",
     .def = 14,
     .min = 0,
     .max = 31,
     .source =
         "InfiniBand Architecture 1.4, 9.9.2.1.1; 14 is perftest's default, 20 NCCL's "
         "(taken when all workloads are NCCL's)",
     .doc = "local ACK timeout of 4.096 us x 2^this; 0: none"},
    {.name = "retry_count",
     .kind = PARAM_INTEGER,
     NIC(retry_count),
     .unit = "",
     .def = 7,
     .min = 0,
     .max = 7,
     .source =
         "InfiniBand Architecture 1.4, 9.9.2.1.1: three bits; 7 in perftest and NCCL",
     .doc = "timeouts in a row a queue pair survives"},
    {.name = "ip",
     .kind = PARAM_INTEGER,
     NIC(ip),
     .unit = "",
     .def = 4,
     .min = 4,
     .max = 6,
     .names = ip_words,
     .source = "RoCEv2 annex A17: IPv4 or IPv6",
     .doc = "version of IP"},
    {.name = "ttl",
     .kind = PARAM_INTEGER,
     NIC(ttl),
     .unit = "",
     .def = 64,
     .min = 1,
     .max = 255,
     .source = "64: what Linux and mlx5 send RoCEv2 with",
     .doc =
         "IP TTL or hop limit of all packets: the switch that brings it to 0 loses the "
         "packet"},
    {.name = "vlan",
     .kind = PARAM_BOOL,
     NIC(vlan),
     .unit = "",
     .def = 0,
     .min = 0,
     .max = 1,
     .source = "a choice: priorities go by DSCP",
     .doc = "frames carry a VLAN tag"},
    {.name = NULL},
};

const struct param switch_param_table[] = {
    {.name = "port_rate",
     .kind = PARAM_RATE,
     SWITCH(port_rate_bps),
     .unit = "Gbps",
     .def = 0,
     .min = 0,
     .max = CC_MAX_RATE_BPS,
     .source = "profile; the profile generic has no limit",
     .doc = "fastest port; a link may not be faster; 0bps: no limit"},
    {.name = "buffer",
     .kind = PARAM_SIZE,
     SWITCH(buffer_bytes),
     .unit = "MB",
     .def = 32000000,
     .min = 10000,
     .max = BUFFER_MAX_BYTES,
     .source = "profile generic: between the 16 MB and 64 MB of 100 to 400 Gb/s switches",
     .doc = "memory for packets, shared by all ports"},
    {.name = "alpha",
     .kind = PARAM_FRACTION,
     SWITCH(alpha_q32),
     .unit = "",
     .def = PARAM_ONE,
     .min = PARAM_ONE / 1024,
     .max = 1024 * PARAM_ONE,
     .source = "profile generic: sonic-buildimage, dynamic_th 0",
     .doc = "dynamic threshold: share of the free shared buffer one account may take"},
    {.name = "reserved",
     .kind = PARAM_SIZE,
     SWITCH(reserved_bytes),
     .unit = "KB",
     .def = 0,
     .min = 0,
     .max = BUFFER_MAX_BYTES,
     .source = "profile generic: none, so that thresholds are those of the formula",
     .doc = "of each lossless priority group"},
    {.name = "headroom",
     .kind = PARAM_SIZE,
     SWITCH(headroom_bytes),
     .unit = "KB",
     .def = HEADROOM_COMPUTED,
     .min = 0,
     .max = BUFFER_MAX_BYTES,
     .special = "computed",
     .source = "profile generic: from rate, cable, MTU and reaction time of each port",
     .doc = "of each lossless priority group: what arrives after a pause was sent"},
    {.name = "xon",
     .kind = PARAM_SIZE,
     SWITCH(xon_bytes),
     .unit = "KB",
     .def = XON_COMPUTED,
     .min = 0,
     .max = BUFFER_MAX_BYTES,
     .special = "computed",
     .source = "profile generic: resume two frames below the threshold",
     .doc = "a paused priority group is resumed at or below this"},
    {.name = "latency",
     .kind = PARAM_TIME,
     SWITCH(latency_ps),
     .unit = "ns",
     .def = 300 * PS_PER_NS,
     .min = 0,
     .max = LATENCY_MAX_PS,
     .source = "profile generic: a fast chip's published class; round",
     .doc = "last bit (cut-through: header) to earliest first bit out"},
    {.name = "ingress_latency",
     .kind = PARAM_TIME,
     SWITCH(ingress_latency_ps),
     .unit = "ns",
     .def = 0,
     .min = 0,
     .max = LATENCY_MAX_PS,
     .source = "profile generic: all of the latency lies after admission",
     .doc = "the part of 'latency' before a packet is admitted"},
    {.name = "forwarding",
     .kind = PARAM_BOOL,
     SWITCH(cut_through),
     .unit = "",
     .def = 0,
     .min = 0,
     .max = 1,
     .names = forwarding_words,
     .source = "profile generic: the commonest default of network systems",
     .doc = "cut through: a frame may leave before its last bit has come"},
    {.name = "pfc_reaction",
     .kind = PARAM_TIME,
     SWITCH(pfc_reaction_ps),
     .unit = "ns",
     .def = REACTION_IEEE,
     .min = 0,
     .max = LATENCY_MAX_PS,
     .special = "ieee",
     .source = REACTION_SOURCE,
     .doc = "last bit of a PFC frame to the class being silent; a frame that has begun "
            "ends"},
    {.name = "ecn_at",
     .kind = PARAM_BOOL,
     SWITCH(ecn_at_dequeue),
     .unit = "",
     .def = 1,
     .min = 0,
     .max = 1,
     .names = ecn_at_words,
     .source = "CoNEXT 2016, \"ECN or Delay\": merchant silicon marks at egress",
     .doc = "when a packet is marked; also `ecn.at`"},
    {.name = "hash_seed",
     .kind = PARAM_INTEGER,
     SWITCH(hash_seed),
     .unit = "",
     .def = PARAM_SPECIAL,
     .min = 0,
     .max = UINT32_MAX,
     .special = "seeded",
     .source =
         "a choice: from the scenario's seed and the switch's name, so that tiers differ",
     .doc = "seed of the hash that picks one of several equal-cost ports"},
    {.name = "lb",
     .kind = PARAM_ENUM,
     SWITCH(lb.kind),
     .unit = "",
     .def = LB_ECMP,
     .min = LB_ECMP,
     .max = LB_ADAPTIVE,
     .names = lb_words,
     .source = "what switches do when nothing is set",
     .doc = "which of several equal-cost ports a packet takes"},
    {.name = "flowlet_gap",
     .kind = PARAM_TIME,
     SWITCH(lb.flowlet_gap_ps),
     .unit = "us",
     .def = 256 * PS_PER_US,
     .min = 0,
     .max = PS_PER_S,
     .source =
         "Junos OS, dynamic load balancing: inactivity interval of 256 us in Apstra's "
         "default",
     .doc = "flowlet: a flow that has paused so long may take another port"},
    {.name = "flowlet_entries",
     .kind = PARAM_INTEGER,
     SWITCH(lb.flowlet_entries),
     .unit = "",
     .def = 256,
     .min = 1,
     .max = 32768,
     .source =
         "Junos OS, dynamic load balancing: flowset table of 256 entries a group by "
         "default, 32768 at most",
     .doc = "flowlet: entries of the table of each set of ports; flows in one entry move "
            "together"},
    {.name = "flowlet_path",
     .kind = PARAM_ENUM,
     SWITCH(lb.flowlet_path),
     .unit = "",
     .def = LB_BY_HASH,
     .min = LB_BY_HASH,
     .max = LB_LEAST_LOADED,
     .names = flowlet_words,
     .source = "LetFlow, NSDI 2017: at random, here by a hash of flow and flowlet; "
               "least-loaded as CONGA, SIGCOMM 2014, of its own ports",
     .doc = "flowlet: how a new flowlet's port is chosen"},
    {.name = "spray",
     .kind = PARAM_ENUM,
     SWITCH(lb.spray),
     .unit = "",
     .def = LB_ROUND_ROBIN,
     .min = LB_ROUND_ROBIN,
     .max = LB_RANDOM,
     .names = spray_words,
     .source = "INFOCOM 2013, \"On the Impact of Packet Spraying\": round robin keeps "
               "queues shortest",
     .doc = "spray: in turn, from a seeded first port, or at random, seeded"},
    {.name = "load_quantum",
     .kind = PARAM_SIZE,
     SWITCH(lb.load_quantum_bytes),
     .unit = "KB",
     .def = 8192,
     .min = 1,
     .max = BUFFER_MAX_BYTES,
     .guess = true,
     .source =
         "guess: two full frames; chips grade ports in a few steps whose bounds are "
         "not published",
     .doc =
         "adaptive and flowlet_path least-loaded: queues are compared in units of this; "
         "among equals the hash decides"},
    {.name = "headroom_rule",
     .kind = PARAM_ENUM,
     SWITCH(headroom_rule),
     .unit = "",
     .def = HEADROOM_EXACT,
     .min = HEADROOM_EXACT,
     .max = HEADROOM_SONIC_STATIC,
     .names = headroom_words,
     .source = "exact: the model's own need; sonic: sonic-swss, "
               "buffer_headroom_mellanox.lua; sonic-static: pg_profile_lookup.ini of "
               "Spectrum-1 to 3",
     .doc = "how a computed headroom is computed"},
    {.name = "cell",
     .kind = PARAM_SIZE,
     SWITCH(cell_bytes),
     .unit = "B",
     .def = 144,
     .min = 64,
     .max = 4096,
     .source = "profile generic: Spectrum-2 and -3, sonic-buildimage asic_table.j2",
     .doc = "unit of buffer memory; only SONiC's rules for headroom look at it"},
    {.name = "headroom_small",
     .kind = PARAM_FRACTION,
     SWITCH(headroom_small_q32),
     .unit = "",
     .def = PARAM_ONE / 2,
     .min = 0,
     .max = PARAM_ONE,
     .source = "sonic-swss: small_packet_percentage 50 by default",
     .doc = "share of 64-byte packets that headroom_rule sonic provides for"},
    {.name = NULL},
};

#define WATCHDOG(field) .offset = offsetof(struct switch_params, watchdog.field)
#define SONIC_SOURCE                                                                     \
    "sonic-utilities, pfcwd/main.py: 200 ms for each 32 ports of the switch"

const struct param watchdog_param_table[] = {
    {.name = "action",
     .kind = PARAM_ENUM,
     WATCHDOG(action),
     .unit = "",
     .def = WATCHDOG_OFF,
     .min = WATCHDOG_OFF,
     .max = WATCHDOG_FORWARD,
     .names = watchdog_words,
     .source = "off, so that a run shows what PFC alone does; SONiC's default is drop",
     .doc = "what happens to a queue that a peer keeps paused"},
    {.name = "detect",
     .kind = PARAM_TIME,
     WATCHDOG(detect_ps),
     .unit = "ms",
     .def = WATCHDOG_SONIC,
     .min = PS_PER_US,
     .max = WATCHDOG_MAX_PS,
     .special = "sonic",
     .source = SONIC_SOURCE,
     .doc = "paused so long without sending, a queue is struck"},
    {.name = "restore",
     .kind = PARAM_TIME,
     WATCHDOG(restore_ps),
     .unit = "ms",
     .def = WATCHDOG_SONIC,
     .min = PS_PER_US,
     .max = WATCHDOG_MAX_PS,
     .special = "sonic",
     .source = SONIC_SOURCE,
     .doc = "without a pause heard so long, it is as before"},
    {.name = "poll",
     .kind = PARAM_TIME,
     WATCHDOG(poll_ps),
     .unit = "ms",
     .def = WATCHDOG_SONIC,
     .min = PS_PER_US,
     .max = WATCHDOG_MAX_PS,
     .special = "sonic",
     .source = SONIC_SOURCE ", 1 s at most; never longer than detect and restore",
     .doc = "interval of looking at all queues"},
    {.name = NULL},
};

#define ECN(field) .offset = offsetof(struct ecn_params, field)
#define LAB_SOURCE "ecn-sets.json, set lab: per 100 Gb/s, a quarter of HPCC's thresholds"

const struct param ecn_param_table[] = {
    {.name = "kmin",
     .kind = PARAM_SIZE,
     ECN(kmin_bytes),
     .unit = "KB",
     .def = 100000,
     .min = 0,
     .max = BUFFER_MAX_BYTES,
     .source = LAB_SOURCE,
     .doc = "a packet that finds no more than this queued is not marked"},
    {.name = "kmax",
     .kind = PARAM_SIZE,
     ECN(kmax_bytes),
     .unit = "KB",
     .def = 400000,
     .min = 0,
     .max = BUFFER_MAX_BYTES,
     .source = LAB_SOURCE,
     .doc = "a packet that finds more than this queued is always marked"},
    {.name = "pmax",
     .kind = PARAM_FRACTION,
     ECN(pmax_q32),
     .unit = "",
     .def = PARAM_Q32(1, 5),
     .min = 0,
     .max = PARAM_ONE,
     .source = LAB_SOURCE,
     .doc = "probability of a mark at kmax; it grows from 0 at kmin in a straight line"},
    {.name = NULL},
};

struct ecn_params
net_ecn_at_rate(const struct ecn_params *set, int64_t rate_bps)
{
    struct ecn_params ecn;

    assert(rate_bps > 0);
    while (set->faster != NULL && set->faster->from_rate_bps <= rate_bps) {
        set = set->faster;
    }
    ecn = *set;
    ecn.faster = NULL;
    if (set->at_rate_bps > 0) {
        /* At most 2^36 bytes times 2^42 bits/s. */
        __int128 half = set->at_rate_bps / 2;

        ecn.kmin_bytes =
            (int64_t)(((__int128)set->kmin_bytes * rate_bps + half) / set->at_rate_bps);
        ecn.kmax_bytes =
            (int64_t)(((__int128)set->kmax_bytes * rate_bps + half) / set->at_rate_bps);
        ecn.at_rate_bps = 0;
    }
    return ecn;
}
