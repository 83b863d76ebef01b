/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * qp.h - a reliable-connection queue pair: requester and responder.
 *
 * Packets of a QP are counted from 0 in 64 bits; the PSN on the wire is that count plus
 * the base, modulo 2^24.  The responder compares PSNs over half the circle, so a wrap is
 * nothing special.
 *
 * Source: InfiniBand Architecture 1.4 vol. 1, chapter 9: 9.7.1 (PSN), 9.7.5.1 (ACK
 * coalescing, NAK once a gap), 9.9.2 (retry).
 */
#ifndef ROCESIM_MODELS_NIC_QP_H
#define ROCESIM_MODELS_NIC_QP_H

#include "models/cc/cc.h"
#include "models/queue.h"

struct lp;
struct nic;
struct qp;

/* What a message is. */
enum qp_verb {
    QP_WRITE,
    QP_WRITE_IMM, /* the last packet carries immediate data and takes a receive WQE */
    QP_SEND,      /* the first packet takes a receive WQE */
    QP_SEND_IMM,
    QP_READ, /* the other way: bytes from the peer's memory */
};

/* What a workload is told, in the process of the QP's host. */
struct qp_user_ops {
    /* Message 'message' is complete where it was posted: its last packet is acknowledged,
     * or the last byte of a READ lies in memory. */
    void (*sent)(void *ctx, struct lp *lp, struct qp *qp, uint32_t message);
    /* Message 'message' of 'bytes' lies in memory here.  'imm' is valid if 'has_imm'.  Not
     * called for a READ. */
    void (*received)(void *ctx, struct lp *lp, struct qp *qp, uint32_t message,
                     int64_t bytes, bool has_imm, uint32_t imm);
};

/* A message posted and not yet complete; from the pool. */
struct message {
    struct message *next;
    int64_t bytes;
    int64_t first_seq; /* count of its first packet */
    int64_t ready_ps;  /* the NIC has it from here on */
    uint32_t n_pkts;   /* >= 1 */
    uint32_t id;       /* the user's */
    uint32_t imm;
    uint8_t verb;        /* enum qp_verb */
    uint8_t first_bytes; /* extension headers of its first packet */
    uint8_t flags;       /* of all its packets */
    bool has_imm;
    bool resend; /* READ: its request is to go again; selective repeat */
};

static_assert(sizeof(struct message) <= POOL_ITEM_BYTES, "an item of the pool");

/* Where a requester waits. */
enum qp_place {
    QP_IDLE,  /* nothing to send, or the window is full */
    QP_READY, /* in its NIC's ring, or list */
    QP_PACED, /* a KIND_PACE event is queued */
};

/* Why a QP leaves the fast path when it sends. */
enum qp_special {
    QP_READS = 1,   /* READs have been posted, ever */
    QP_ANSWERS = 2, /* answers wait for their turn behind responses of READs */
    QP_LOST = 4,    /* selective repeat: there is something to send again */
};

struct sr;

/* A queue pair: one end of a connection, both roles. */
struct qp {
    /* Requester. */
    _Alignas(64) int64_t snd_nxt;    /* count of the next packet to send */
    int64_t snd_una;                 /* of the oldest one not acknowledged */
    int64_t snd_end;                 /* of all posted */
    int64_t snd_max;                 /* of all ever sent */
    struct message *cur;             /* holds snd_nxt; NULL when all is sent */
    struct message *oldest, *newest; /* owned: not complete */
    int64_t next_send_ps;            /* pace: not before */

    struct qp *ready_next; /* in the ring */
    struct nic *nic;       /* borrowed */
    int64_t ack_deadline_ps;
    uint64_t pace_q16; /* ps a byte at the present rate, times 2^16 */
    uint32_t since_ack_req;
    uint32_t psn_base, psn_base_peer; /* 24 bit */
    uint32_t id, peer;                /* dense ids */
    uint32_t dst_nic;
    uint32_t flow_hash;
    uint8_t place; /* enum qp_place */
    uint8_t cls, tos;
    uint8_t retries, rnr_tries; /* in a row */
    uint8_t special;            /* enum qp_special */
    bool halted; /* sends no requests: has failed, or waits for the receiver */
    bool timer_queued, failed;
    bool is_slow; /* the gap up to next_send_ps was slow_gap_ps or more when it began */
    uint16_t src_port, dst_port; /* UDP */
    uint32_t window_pkts;        /* that may be unacknowledged; 0: no limit */

    /* Responder. */
    int64_t rcv_nxt;   /* count of the next packet expected */
    int64_t rcv_first; /* of the first packet of its message */
    int64_t last_cnp_ps, last_nak_ps;
    struct packet *waiting_ack; /* borrowed: an ACK not yet on the wire */
    bool nak_sent, cnp_ever;
    bool careful; /* what arrives in order may have to be refused, or fill a gap */
    uint32_t qpn; /* 24 bit */
    uint32_t msn; /* messages received whole: what answers say; modulo 2^32 */

    int64_t window_bytes; /* that goes with the rate; 0: none */
    struct cc_out rate;
    _Alignas(8) unsigned char cc_state[CC_STATE_BYTES];

    const struct qp_user_ops *user; /* borrowed */
    void *user_ctx;                 /* borrowed */
    int64_t retransmitted;          /* packets */
    int64_t payload_sent;           /* first transmissions only, as far as it knows */
    int64_t payload_received;
    uint32_t timeouts, naks_received, cnps_received;
    uint32_t cnps_sent;

    /* What plain WRITEs do without. */
    uint8_t reads_out;      /* READs asked for in full and not complete */
    bool read_gap;          /* gone back for a response, which has not come yet */
    bool answered_last;     /* the last packet sent was a response */
    uint32_t wqes_used;     /* receive WQEs taken and not posted again */
    struct queue answers;   /* of the responder: READ requests being answered, and what
                                must not overtake their responses; in order of PSN */
    int64_t responses_to;   /* responder: count behind the newest response ever sent */
    int64_t responses_sent; /* packets, first transmissions only */
    int64_t read_psns;      /* requester: PSNs that READs have taken */
    uint32_t rnrs_received; /* RNR NAKs */
    uint32_t gaps_in_reads; /* responses missed (go-back-N) */
    struct sr *sr;          /* owned by the network; NULL: go-back-N */
};

static_assert(sizeof(struct qp) <= 512, "a QP costs at most 512 bytes");

/* Posts a message of 'bytes' (0 to 1 GiB); 'id' comes back in the upcalls.  'imm' counts
 * for verbs with immediate data only. */
void qp_post(struct lp *lp, struct qp *qp, enum qp_verb verb, int64_t bytes, uint32_t id,
             uint32_t imm);

/* Posts an RDMA WRITE of 'bytes' (0 to 1 GiB); 'id' comes back in the upcalls at both
 * ends.  With 'has_imm' the last packet carries 'imm'. */
void qp_post_write(struct lp *lp, struct qp *qp, int64_t bytes, uint32_t id, bool has_imm,
                   uint32_t imm);

/* Takes over a changed rate. */
void qp_set_pace(struct qp *qp);

/* Sets the gap after 'wire_bytes' that start at 'now_ps'.  One that is slow_gap_ps long or
 * more follows the rate while it lasts; a shorter one is kept as it began, so that fast QPs
 * never look twice. */
void qp_begin_gap(struct qp *qp, int64_t now_ps, uint32_t wire_bytes);

/* Catches the rate up to 'now_ps', and a slow gap with it: what is left of it is
 * stretched or shortened at each change of the rate, at the time of the change. */
void qp_catch_up(struct qp *qp, int64_t now_ps);

/* Stretches or shortens the rest of a slow gap to the rate of now, after a call of the
 * congestion control at 'now_ps' up to which qp_catch_up() has been done. */
void qp_change_gap(struct qp *qp, int64_t now_ps);

/* When to look again at a QP in a slow gap. */
int64_t qp_look_ps(const struct qp *qp);

/* The congestion control's rate at 'now_ps', bps. */
int64_t qp_rate_bps(struct qp *qp, int64_t now_ps);

/* IPv6 flow label as the Linux drivers derive it from the QP numbers
 * (rdma_calc_flow_label, include/rdma/ib_verbs.h), 20 bit. */
uint32_t qp_flow_label(uint32_t local_qpn, uint32_t remote_qpn);

/* UDP source port as the Linux drivers derive it from the QP numbers (rdma_flow_label_to_
 * udp_sport over the product of the QPNs, include/rdma/ib_verbs.h). */
uint16_t qp_udp_source_port(uint32_t local_qpn, uint32_t remote_qpn);

/* Aborts when the counts of 'qp' contradict each other. */
void qp_check(const struct qp *qp);

#endif
