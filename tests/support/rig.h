/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rig.h - small networks for tests: a few hosts and switches, flows that start when they
 * are told to, and everything that a run leaves behind boiled down to one number.
 *
 * Life: rig_init(); hosts, switches and links (rig_star(), rig_chain(), rig_leaf_spine()
 * or the net_add_* of models/net.h); change 'nic', 'sw', 'ecn', 'cc_name'; rig_build();
 * rig_flow(); rig_start(); rig_run(), which checks the laws; read; rig_clear().
 *
 * The defaults are those of a scenario, but no jitter and no congestion control.
 */
#ifndef ROCESIM_TESTS_SUPPORT_RIG_H
#define ROCESIM_TESTS_SUPPORT_RIG_H

#include "models/cc/cc_dcqcn.h"
#include "models/net.h"

#define GBPS INT64_C(1000000000)

struct rig_flow {
    struct work_timer timer;
    struct rig *rig;     /* borrowed */
    uint32_t connection; /* of the network */
    unsigned side;       /* the QP that sends */
    int64_t bytes, at_ps;
    bool has_imm;      /* a WRITE with immediate data */
    enum qp_verb verb; /* of a READ 'side' is the QP that asks */
    /* TIME_NEVER_PS: not yet. */
    int64_t start_ps, sent_ps, received_ps;
    int64_t received_bytes;
    uint32_t n_received, imm;
    bool got_imm;
};

struct rig {
    struct net *net; /* owned */
    struct nic_params nic;
    struct switch_params sw;
    struct ecn_params ecn;
    const char *cc_name, *cc_preset; /* preset NULL: the default one */
    /* Called in place of what the network does with an event, which it calls with
     * rig_handle(); NULL: nobody looks.  Set before rig_start(). */
    void (*tap)(struct rig *rig, struct lp *lp, const struct event *event);
    void *tap_ctx;           /* borrowed: the tap's */
    struct rig_flow **flows; /* owned */
    uint32_t n_flows;
    GArray *records;        /* owned: struct probe_record */
    struct tap_sink frames; /* for ports in net->tapped; see rig_tap() */
    bool hears_pauses;      /* records have pauses at the ports they are for, too */
};

void rig_init(struct rig *rig, uint64_t seed);
void rig_clear(struct rig *rig);

/* 'n' hosts on switch leaf0; link i is of host i. */
void rig_star(struct rig *rig, uint32_t n, int64_t rate_bps, int64_t delay_ps);

/* host0 - leaf0 - ... - leaf(n - 1) - host1; 'links[n + 1]' in this order. */
void rig_chain(struct rig *rig, uint32_t n, const struct link_params links[]);

/* hosts / leaves hosts on each leaf, every leaf on every spine. */
void rig_leaf_spine(struct rig *rig, uint32_t hosts, uint32_t leaves, uint32_t spines,
                    const struct link_params *host, const struct link_params *fabric);

/* Adds two kinds of traffic (roce: class 3, lossless; cnp: class 6, strict) unless there
 * are some, gives all nodes their parameters unless they have them.  For a test that
 * wants to change single ones; rig_build() does it otherwise. */
void rig_params(struct rig *rig);

/* rig_params() with DCQCN of preset 'preset' and its CNP interval, in 'rig->nic' too: the
 * parameters, to be changed until rig_build(). */
struct dcqcn_params *rig_dcqcn(struct rig *rig, const char *preset);

/* All that `compat` "hpcc" sets of wire, NICs and switches, to be changed until
 * rig_build(). */
void rig_hpcc(struct rig *rig);

/* net_build() and all shortest routes. */
void rig_build(struct rig *rig);

/* Adds a flow of 'bytes' from 'src' to 'dst' on a connection of its own, posted
 * at 'at_ps'; or on side 'side' of a connection there is.  Between rig_build()
 * and rig_start(). */
struct rig_flow *rig_flow(struct rig *rig, uint32_t src, uint32_t dst, int64_t bytes,
                          int64_t at_ps);
struct rig_flow *rig_flow_on(struct rig *rig, uint32_t connection, unsigned side,
                             int64_t bytes, int64_t at_ps);

/* Frames that pass 'port' in 'dirs' (bits of enum tap_dir) go to 'frames', too.  Between
 * rig_build() and rig_run(). */
void rig_tap(struct rig *rig, const struct port *port, unsigned dirs);

/* net_start(), and the flows' timers. */
void rig_start(struct rig *rig, enum partition_mode partition, uint32_t n_threads);

/* net_run() and net_check(); pauses go to 'records', samples too when
 * net.sample_ps is set. */
void rig_run(struct rig *rig, int64_t stop_ps);

/* rig_start() in one process and one thread, rig_run() to the end. */
void rig_play(struct rig *rig);

/* What the network does with 'event'; for a tap. */
void rig_handle(struct lp *lp, const struct event *event);

/* The packet that arrives with 'event' and '*in', the port it arrives at; NULL when the
 * event is another one or a pause frame makes the packet come later.  For a tap, before
 * rig_handle(). */
struct packet *rig_arrival(const struct rig *rig, const struct event *event,
                           struct port **in);

/* From posting to the last ACK; the flow must have ended. */
int64_t rig_fct_ps(const struct rig_flow *flow);

/* The sending QP of 'flow'. */
struct qp *rig_qp(const struct rig_flow *flow);

/* Egress port of 'node' towards 'peer', by name; the first of parallel links. */
struct port *rig_port(const struct rig *rig, const char *node, const char *peer);

/* Sums over all ports and classes. */
struct rig_sums {
    int64_t tx_pkts, drops, lost_error, lost_on_link, lost_down, marked;
    int64_t xoff_tx, xon_tx, xoff_rx, xon_rx, paused_ps;
    int64_t retransmitted, timeouts, naks, rnrs, acks, cnps, lost_protocol;
};
struct rig_sums rig_sum(const struct rig *rig);

/* Hash of all that may not depend on partition and threads: every flow, QP, port and
 * record, number of events, end. */
uint64_t rig_digest(const struct rig *rig);

#endif
