/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * port.h - one end of a cable: an egress with eight classes, and the ingress accounts.
 *
 * A port sends one frame at a time, MAC control first.  It knows its link (rate, delay)
 * and its peer only as a process and a key.  Switch and NIC decide what it sends; this
 * file keeps the time line of the wire and the pause state.
 *
 * A port has no event at the end of a frame.  It has at most one wake queued, and
 * only when something waits: at the end of the line's last frame, or when the first
 * frame that waits has been forwarded.  A pause that runs out (KIND_PAUSE_END) looks
 * for work by itself.
 *
 * Commit ahead: a frame that will find the port idle at its earliest start may be put on
 * the time line at once, which saves the event at its start.  That is exact when nothing
 * can come between: no other frame is ready before it (the latency of a switch is one
 * constant), no pause heard until then can act before its start (the reaction time is not
 * shorter than the wait), and a MAC control frame that does come between displaces it.
 * The pause frame then carries the displacement, and the peer delays the arrival it
 * already has.  At most one frame that has not started is committed.
 *
 * Sources: IEEE 802.3 clause 4 (gap), 31 and annex 31B (control frames, reaction time);
 * IEEE 802.1Q-2018 clause 36 (PFC), 8.6.8 (strict), 37 (weights; here deficit round
 * robin, Shreedhar and Varghese, SIGCOMM '95).
 */
#ifndef ROCESIM_MODELS_PORT_H
#define ROCESIM_MODELS_PORT_H

#include "models/event_kinds.h"
#include "models/queue.h"
#include "sim/hist.h"
#include "sim/lp.h"

/* A PFC quantum (802.1Q 36.1.3.2), and the longest pause one frame can ask for. */
#define PFC_QUANTUM_BITS 512
#define PFC_QUANTA_MAX 0xFFFF
#define PFC_FRAME_BYTES 64

/* Behind a frame this short the next one is chosen at once: 12 ns ahead at 100 Gb/s.  An
 * answer and the data behind it then cost one event.  Only where no pause acts sooner. */
#define PORT_SHORT_BYTES 128

/* Reasons why an arrival or a transmission leaves the fast path. */
enum port_special {
    PORT_DISPLACED = 1, /* the next frame comes later than its event says */
    PORT_LOSSY = 2,     /* the link loses frames at random or by list */
    PORT_DOWN = 4,
    PORT_TAP_IN = 8,        /* frames that arrive are recorded */
    PORT_TAP_PEER_OUT = 16, /* what the peer has sent is recorded */
    PORT_GUARDED = 32,      /* the watchdog of its switch takes packets of a class */
};

/* Egress side of a class: what every frame of it touches. */
struct out_class {
    struct queue queue;
    int64_t tx_bytes, tx_pkts; /* frames with FCS, all ever committed */
    int64_t since_ps;          /* of the last change of the queue */
    int64_t integral;          /* of its bytes over time: byte x ps / 1024 */
    int64_t max_bytes;
};

static_assert(sizeof(struct out_class) == 64, "an egress class is one cache line");

/* Pause state of an egress class and its turn in the round. */
struct out_turn {
    int64_t pause_from_ps, pause_until_ps; /* half-open; empty when equal */
    int32_t deficit_bytes;
    bool pause_timer; /* KIND_PAUSE_END is queued */
};

/* Ingress side of a class: the account of a priority group, and what came in. */
struct in_class {
    int64_t used_bytes;     /* in reserve and shared buffer */
    int64_t headroom_bytes; /* in headroom */
    int64_t headroom_limit_bytes;
    int64_t rx_bytes, rx_pkts;
    int64_t xoff_at_ps;  /* since when the peer is told to stop; valid while xoff */
    int64_t told_at_ps;  /* when it was last told so */
    uint32_t xoff_cause; /* dense id of the egress port whose packet caused it */
    bool xoff;           /* the peer is told to stand still */
    bool xoff_held;      /* xoff_cause was held by a pause itself; see port_is_held() */
    bool owed_frame;     /* the frame that stopped it lies in headroom; see buffer.h */
    bool refresh_timer;  /* KIND_PAUSE_REFRESH is queued */
};

static_assert(sizeof(struct in_class) <= 64, "an ingress class is one cache line");

/* Counters that only queueing, loss and pause touch. */
struct port_stats {
    /* Owned: bytes queued at each sample that found some; NULL: none. */
    struct hist *queue_hist;
    int64_t drops, drop_bytes; /* for lack of buffer, charged to the ingress */
    int64_t lost_error;    /* at the receiving end: damaged, or lost by a fault's list */
    int64_t lost_on_link;  /* at the receiving end: under way when the link went down */
    int64_t lost_down;     /* at the sending end: meant for a link that is down */
    int64_t lost_watchdog; /* at the guarded port: queued, meant for it or come by it */
    int64_t marked;
    int64_t pfc_xoff_tx, pfc_xon_tx, pfc_xoff_rx, pfc_xon_rx;
    int64_t pfc_lost;      /* at the receiving end; part of no other count of losses */
    int64_t pfc_ignored;   /* stops heard and not obeyed */
    int64_t paused_ps;     /* of pauses that are over */
    int64_t pause_over_ps; /* end of the latest of these */
};

/* How the classes of an egress share it; shared by the ports of a device. */
struct port_sched {
    uint8_t strict; /* bit c: class c goes first, the highest c ahead */
    bool by_packet; /* packet by packet in place of the quanta: after the last served */
    int32_t quantum_bytes[N_CLASSES]; /* deficit round robin among the others; > 0 */
};

/* WRED thresholds on an egress queue (SIGCOMM'15 DCQCN, section 3.1). */
struct ecn {
    int64_t kmin_bytes, kmax_bytes;
    uint64_t slope;  /* probability a byte over kmin, times 2^48 */
    uint8_t classes; /* bit c: class c is marked */
    bool at_dequeue;
    bool without_own; /* at dequeue: the queue less the packet that leaves it */
    bool any_packet;  /* also what is Not-ECT */
};

/* Random or listed loss of a link, kept at the receiving end. */
struct port_loss {
    uint64_t key;        /* random stream of this direction */
    uint64_t n_seen;     /* frames judged */
    uint64_t threshold;  /* a frame is lost when its draw is below: probability x 2^64 */
    uint64_t *by_size;   /* owned: threshold by frame bytes when bits err; else NULL */
    uint64_t n_data;     /* data packets seen since the list was set */
    uint64_t *drop_list; /* owned, ascending, 1-based counts of data packets */
    uint32_t n_drop, next_drop;
};

/* One end of a cable, in order of who touches what. */
struct port {
    /* Line 0: a transmission reads and writes it. */
    int64_t busy_until_ps;   /* end of the gap behind the last committed frame */
    int64_t commit_start_ps; /* its start; may lie ahead */
    int64_t prev_end_ps;     /* end of the gap behind the frame before it */
    struct lp *peer_lp;      /* borrowed: the peer's process */
    uint64_t arrival_key;    /* of arrivals at the peer; those of pauses are background */
    int64_t lead_ps;  /* propagation and preamble: port_hear_ps(); valid if byte_ps */
    uint32_t byte_ps; /* 0: the rate is no whole number of ps a byte */
    uint32_t pause_reaction_ps; /* from hearing a pause to obeying it; below 4.29 ms */
    uint16_t arrive_bytes;      /* an arrival is due after at most so many bytes */
    uint8_t ready;              /* bit c: class c has frames queued */
    uint8_t paused;             /* bit c: pause state of class c is not empty */
    bool wake_queued;
    bool commit_is_pause; /* the last committed frame is a pause frame */
    uint8_t extra_bytes;  /* on the wire around a frame: preamble and gap */
    uint8_t loss_ps;      /* that a frame's time falls short by */

    /* Line 1: an arrival reads it; the rest is set-up. */
    _Alignas(64) void *owner; /* borrowed: the switch or NIC */
    uint8_t special;          /* enum port_special */
    uint8_t pfc_rx;           /* bit c: a pause heard for class c is obeyed */
    uint8_t drr_next;         /* class the round stands at */
    bool is_nic;
    uint8_t short_bytes; /* see PORT_SHORT_BYTES; 0: none is short enough */
    uint8_t mmu_shift;   /* of a switch's ingress: see mmu_hpcc.h */
    uint16_t index;      /* within its node */
    uint32_t id, peer;   /* dense ids */
    int64_t displace_ps; /* with PORT_DISPLACED */
    int64_t rate_bps;
    const struct port_sched *sched; /* borrowed */
    struct port_stats *stats;       /* owned: N_CLASSES */
    struct port_loss *loss;         /* owned; NULL: none */

    _Alignas(64) struct out_class out[N_CLASSES];
    struct in_class in[N_CLASSES];
    struct out_turn turn[N_CLASSES];

    struct ecn ecn;
    uint64_t ecn_key;                  /* random stream of marking */
    uint64_t n_ecn_drawn;              /* draws so far */
    uint32_t link;                     /* dense id */
    uint16_t in_heard_bytes;           /* of what arrives here: the peer's arrive_bytes */
    uint8_t preamble_bytes, pfc_bytes; /* part of extra_bytes; a pause frame */
    int64_t delay_ps;                  /* propagation */
    bool sends_lasting, hears_lasting; /* pauses without end but the resume */
    int64_t in_delay_ps;               /* likewise: the peer's delay_ps */
    int64_t in_lag_ps; /* what of it comes behind the wire, before admission */
    int64_t line_ps; /* where frames cut through: when all accepted so far will have gone,
                        were nothing paused and the line idle else; see switch.c */
};

static_assert(offsetof(struct port, owner) == 64,
              "a transmission touches one line of it");

/* Time of 'bytes' on the wire of 'port'; 0 to 2^20. */
static inline int64_t
port_bytes_ps(const struct port *port, int64_t bytes)
{
    return likely(port->byte_ps) ? bytes * port->byte_ps
                                 : sim_tx_time_ps(bytes, port->rate_bps);
}

/* Private: the next two at a rate that is no whole number of ps a byte. */
int64_t port_slot_odd__(const struct port *port, int64_t frame_bytes);
int64_t port_hear_odd__(const struct port *port, int64_t heard_bytes);

/* Time that a frame keeps the line: from its preamble to the end of the gap behind it. */
static inline int64_t
port_slot_ps(const struct port *port, int64_t frame_bytes)
{
    return likely(port->byte_ps)
               ? (frame_bytes + port->extra_bytes) * port->byte_ps - port->loss_ps
               : port_slot_odd__(port, frame_bytes);
}

/* From the start of a frame to its first 'heard_bytes' having come in at the peer. */
static inline int64_t
port_hear_ps(const struct port *port, int64_t heard_bytes)
{
    return likely(port->byte_ps) ? heard_bytes * port->byte_ps + port->lead_ps
                                 : port_hear_odd__(port, heard_bytes);
}

/* Says what the wire is like: to be called before any frame. */
void port_set_wire(struct port *port, enum wire_format wire, int64_t rate_bps,
                   int64_t delay_ps);

/* Sets the rate; frames already committed keep theirs. */
void port_set_rate(struct port *port, int64_t rate_bps);

static inline uint64_t
port_wake_key(const struct port *port)
{
    return event_key(PHASE_TX_DONE, port->id,
                     port->is_nic ? KIND_WAKE_NIC : KIND_WAKE_SWITCH, false);
}

/* Asks for a wake at 'at_ps' unless one is queued.  A queued one is never later than what
 * the port waits for.  'hint' is the frame that will probably go then, or NULL: it is
 * only ever brought into cache. */
static inline void
port_wake_at(struct lp *lp, struct port *port, int64_t at_ps, void *hint)
{
    if (!port->wake_queued) {
        port->wake_queued = true;
        lp_at(lp, at_ps, port_wake_key(port), hint);
    }
}

/* Puts 'pkt' (steals it) on the time line from 'start_ps', which is not before now nor
 * busy_until_ps; its arrival is an event of 'key'. */
static inline void
port_commit(struct lp *lp, struct port *port, struct packet *pkt, int64_t start_ps,
            uint64_t key)
{
    uint16_t size = pkt->size_bytes;
    int64_t heard = size < port->arrive_bytes ? size : port->arrive_bytes;

    port->prev_end_ps = port->busy_until_ps;
    port->commit_start_ps = start_ps;
    port->busy_until_ps = start_ps + port_slot_ps(port, size);
    port->commit_is_pause = false;
    lp_send(lp, port->peer_lp, start_ps + port_hear_ps(port, heard), key, pkt);
}

/* Private: see port_note_start(). */
void port_note_start__(struct port *port, int64_t start_ps);

/* A frame is going to start.  Where times fall short (`wire` "hpcc") this is where a port
 * that has been idle says from when on it sends without a gap. */
static inline void
port_note_start(struct port *port, int64_t start_ps)
{
    if (unlikely(port->loss_ps) && start_ps > port->busy_until_ps) {
        port_note_start__(port, start_ps);
    }
}

/* The same for a frame of a class, counted. */
static inline void
port_transmit(struct lp *lp, struct port *port, struct packet *pkt, int64_t start_ps)
{
    struct out_class *out = &port->out[pkt->cls];

    port_note_start(port, start_ps);
    out->tx_bytes += pkt->size_bytes;
    out->tx_pkts++;
    port_commit(lp, port, pkt, start_ps, port->arrival_key);
}

/* Is class 'cls' of 'port' paused at 'at_ps'?  Pauses heard so far only. */
static inline bool
port_is_paused(const struct port *port, unsigned cls, int64_t at_ps)
{
    const struct out_turn *turn = &port->turn[cls];

    return at_ps >= turn->pause_from_ps && at_ps < turn->pause_until_ps;
}

/* Does class 'cls' of 'port' stand still for a pause, or does it still send what was ready
 * before its last pause ended?  Then what is queued here is no fault of this port. */
static inline bool
port_is_held(const struct port *port, unsigned cls, int64_t now_ps)
{
    const struct packet *head = port->out[cls].queue.head;

    return port_is_paused(port, cls, now_ps) ||
           (head && head->ready_ps < port->stats[cls].pause_over_ps);
}

/* Those of 'classes' that are not paused at 'now_ps'. */
static inline uint8_t
port_unpaused(const struct port *port, uint8_t classes, int64_t now_ps)
{
    uint8_t open = classes;

    if (likely(!(port->paused & classes))) {
        return classes;
    }
    for (uint8_t left = classes & port->paused; left; left &= (uint8_t)(left - 1)) {
        unsigned c = (unsigned)__builtin_ctz(left);

        if (port_is_paused(port, c, now_ps)) {
            open &= (uint8_t) ~(1u << c);
        }
    }
    return open;
}

/* Private: deficit round robin among several classes. */
unsigned port_pick_drr__(struct port *port, uint8_t classes);

/* The class out of 'classes' (not 0) that sends next.  The deficit counts the head of its
 * queue, or a full frame when the queue is empty (a NIC makes its packets
 * when they go). */
static inline unsigned
port_pick(struct port *port, uint8_t classes)
{
    uint8_t strict = classes & port->sched->strict;

    if (strict) {
        return 31u - (unsigned)__builtin_clz(strict);
    }
    if (((classes & (classes - 1)) | port->sched->by_packet) == 0) {
        return (unsigned)__builtin_ctz(classes);
    }
    return port_pick_drr__(port, classes);
}

/* May a frame of class 'cls' that is ready at 'start_ps' be committed now? */
static inline bool
port_may_commit(const struct port *port, unsigned cls, int64_t now_ps, int64_t start_ps)
{
    if (port->ready || port->wake_queued) {
        return false;
    }
    if (port->busy_until_ps > start_ps || port->commit_start_ps > now_ps) {
        return false;
    }
    if (start_ps - now_ps > port->pause_reaction_ps) {
        return false;
    }
    return !(port->paused & (1u << cls)) || !port_is_paused(port, cls, start_ps);
}

/* Books the time since the last change of the queue of 'cls'; call before each change. */
static inline void
port_queue_book(struct port *port, unsigned cls, int64_t now_ps)
{
    struct out_class *out = &port->out[cls];
    int64_t bytes = out->queue.bytes;
    int64_t for_ps = now_ps - out->since_ps;

    out->since_ps = now_ps;
    if (bytes == 0 || for_ps == 0) {
        return;
    }
    out->integral += (int64_t)((__int128)bytes * for_ps >> 10);
    out->max_bytes = bytes > out->max_bytes ? bytes : out->max_bytes;
}

/* A sample has found 'bytes' (> 0) queued. */
void port_queue_sample(struct port *port, unsigned cls, int64_t bytes);

/* A pause frame has been heard: updates the pause state of its classes and queues the
 * timers of their ends.  The caller then looks for work. */
void port_hear_pause(struct lp *lp, struct port *port, const struct packet *pkt);

/* The link has gone down: no pause heard over it holds any more. */
void port_forget_pauses(struct port *port);

/* From now on pauses of class 'cls' are ignored, the one that holds too; or obeyed
 * again. */
void port_ignore_pauses(struct port *port, unsigned cls, int64_t now_ps);
void port_obey_pauses(struct port *port, unsigned cls);

/* A pause has run out or is over: KIND_PAUSE_END. */
void port_pause_end(struct lp *lp, struct port *port, unsigned cls);

/* Sends a pause frame for class 'cls': stop for the longest time, or go on.  It goes
 * before every frame that has not started. */
void port_send_pause(struct lp *lp, struct port *port, unsigned cls, bool stop);

/* Handles an arrival that is not plain.  Returns true when the caller goes on with 'pkt',
 * false when the frame comes later or is lost (then freed). */
bool port_special_arrival(struct lp *lp, struct port *port, struct packet *pkt);

/* When the peer's last bit of 'pkt', whose arrival at 'port' is due at 'arrival_ps', was on
 * the wire there.  A switch that cuts through hears a frame before that.  A frame under way
 * while its link changes its rate counts as sent at the new one. */
int64_t port_sent_ps(const struct port *port, const struct packet *pkt,
                     int64_t arrival_ps);

/* Time class 'cls' has been paused until 'now_ps'. */
int64_t port_paused_ps(const struct port *port, unsigned cls, int64_t now_ps);

/* Sets what has no other owner; 'port' is zeroed storage of the caller. */
void port_init(struct port *port);
void port_clear(struct port *port);

/* Sets or changes the loss model of the receiving side: share of frames lost, and share
 * of bits in error (0 to 1 each).  'key': the random stream. */
void port_set_loss(struct port *port, uint64_t key, double frame_rate, double bit_rate);

/* Loses the data packets that arrive as number drop[0], drop[1], ... from now on:
 * 1-based, ascending. */
void port_set_drops(struct port *port, const uint64_t drop[], uint32_t n_drop);

#endif
