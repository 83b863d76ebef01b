/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nic.h - a NIC port: arbitrates over its queue pairs, answers, obeys pauses.
 *
 * QPs that may send now stand in one ring a class and take turns packet by packet; a QP
 * held back by its pace has an event of its own.  So a NIC never scans its QPs.  ACKs,
 * NAKs and CNPs wait in the port's class queues and go before data of their class.
 * scan.h is another way to choose the next QP.
 */
#ifndef ROCESIM_MODELS_NIC_NIC_H
#define ROCESIM_MODELS_NIC_NIC_H

#include "models/cc/cc.h"
#include "models/host/pipe.h"
#include "models/nic/qp.h"
#include "models/nic/scan.h"
#include "models/port.h"

/* RNR retries that never run out (IBA 1.4 vol. 1, 9.7.5.2.8: 7). */
#define RNR_FOR_EVER 7

/* What a NIC does, derived once from its parameters; shared by NICs that do the same. */
struct nic_config {
    uint32_t mtu_bytes;  /* payload of a full packet */
    uint16_t ip_bytes;   /* IPV4_BYTES or IPV6_BYTES */
    uint16_t vlan_bytes; /* 0 or VLAN_BYTES */
    /* See nic_frame_bytes(): without payload and extension headers, the least, what
     * counts of the headers, and payload is filled up to a multiple of this + 1. */
    uint16_t frame_bytes, min_bytes, headers_mask, pad_mask;
    uint16_t extra_bytes;          /* on the wire around a frame */
    uint16_t ack_bytes, cnp_bytes; /* their frames */
    uint32_t ack_every;            /* packets an ACK is asked for at the latest; >= 1 */
    uint32_t max_inflight;         /* packets a QP may have unacknowledged; 0: no limit */
    uint32_t max_reads;            /* READs a QP may have outstanding */
    uint32_t receive_queue;        /* receive WQEs of a QP; 0: always enough */
    uint8_t rnr_timer;             /* code in its RNR NAKs, 0 to 31 */
    uint8_t rnr_retry;             /* RNR NAKs in a row survived; RNR_FOR_EVER: all */
    uint32_t sr_window; /* packets a selective repeat keeps book of; 0: go-back-N */
    int64_t sr_reorder_ps, sr_repeat_ps; /* a gap is missed, and missed again */
    int64_t ack_timeout_ps;              /* 4.096 us x 2^t; 0: off */
    uint32_t retry_count;                /* 0 to 7 */
    uint32_t chunk_pkts;      /* going back goes to a multiple of it; 0: to the packet */
    int64_t slow_gap_ps;      /* a gap this long follows the rate while it lasts: qp.h */
    int64_t nack_interval_ps; /* a NAK is said again after it; 0: not at all */
    int64_t cnp_interval_ps;  /* 0: no CNPs of their own */
    int64_t latency_ps;       /* each way between memory and wire */
    int64_t ack_latency_ps;   /* from a packet's last bit to its ACK being ready */
    uint8_t cnp_tos, cnp_cls;
    uint8_t ttl;        /* of all packets; >= 1 */
    bool ecn;           /* data leaves as ECT(0) */
    bool cnp_on_answer; /* PACKET_ECHO in place of CNPs */
    bool merges_acks;   /* an ACK that still waits takes the next one's place */
    bool answers_duplicates;
    bool answers_first;    /* ... of all classes in one queue, before all data */
    bool answers_pausable; /* ... by the pause of that queue's class */
    bool keeps_line_rate;  /* the pace, not the window, is that of the line always */
    bool exact_gap;        /* gaps as the HPCC simulator's clock counts them */
    bool window_varies;    /* window_bytes of a QP goes with its rate */
    uint8_t queue_of[N_CLASSES]; /* class: queue of the port its answers wait in */
    const struct cc_ops *cc;     /* borrowed */
    const void *cc_params;       /* borrowed: cc->params_bytes */
};

struct drain;

/* A NIC port and the QPs that send by it. */
struct nic {
    struct port *port;               /* borrowed */
    struct qp *qps;                  /* borrowed: all of the network, by dense id */
    const struct nic_config *config; /* borrowed */
    uint8_t ready;                   /* bit c: ring[c] is not empty */
    uint8_t storm;                   /* bit c: the peer is stopped for ever; drain.h */
    bool has_drain;                  /* drain is not NULL */
    struct qp *ring[N_CLASSES]; /* last QP of each ring; its ready_next is the first */
    struct nic_scan scan;
    struct drain *drain; /* owned; NULL: the host is never slow */
    struct pipe up;      /* to memory: completions and arrivals with their latency */
    struct pipe reposts; /* receive WQEs taken, until they are posted again */
    struct port_sched sched;
    uint32_t host;  /* dense host id */
    uint32_t index; /* among the NICs of the host */
    uint32_t n_qp_errors;
    int64_t acks_sent, naks_sent, rnrs_sent, cnps_sent;
    int64_t lost_protocol; /* data packets discarded: out of order or duplicate */
};

/* Frame of a packet with so much payload and so many bytes of extension headers. */
static inline uint16_t
nic_frame_bytes(const struct nic_config *config, uint32_t payload_bytes,
                uint32_t headers_bytes)
{
    uint32_t padded = (payload_bytes + config->pad_mask) & ~(uint32_t)config->pad_mask;
    uint32_t frame =
        config->frame_bytes + (headers_bytes & config->headers_mask) + padded;

    return (uint16_t)(frame < config->min_bytes ? config->min_bytes : frame);
}

/* KIND_ARRIVE_NIC.  Steals 'pkt'. */
void nic_arrive(struct lp *lp, struct port *in, struct packet *pkt);

/* Sends what may be sent: KIND_WAKE_NIC, a pause has ended, a QP has become ready. */
void nic_serve(struct lp *lp, struct nic *nic);

/* 'qp' may have something to send: finds its place and serves the port. */
void nic_activate(struct lp *lp, struct qp *qp);

/* KIND_PACE: 'qp' may send its next packet. */
void nic_pace(struct lp *lp, struct qp *qp);

/* KIND_ACK_TIMER of 'qp'. */
void nic_ack_timer(struct lp *lp, struct qp *qp);

/* KIND_RNR_TIMER of 'qp'. */
void nic_rnr_timer(struct lp *lp, struct qp *qp);

/* KIND_GAP_TIMER of 'qp' in 'role' (enum sr_role). */
void nic_gap_timer(struct lp *lp, struct qp *qp, unsigned role);

/* How long a requester waits for RNR timer 'code', 0 to 31. */
int64_t nic_rnr_wait_ps(uint8_t code);

/* The link has gone down: answers that wait are lost. */
void nic_port_down(struct lp *lp, struct port *port);

#endif
