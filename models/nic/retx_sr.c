/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * retx_sr.c - selective repeat: packets may come in any order, and only what is missing is
 * sent again.  Used by both ends of a connection where both NICs have nic.retransmit "sr".
 *
 * Receiving.  What comes ahead of what is expected is noted in a ring of nic.sr_window
 * bits and counts when all before it has come: messages complete in order.  A packet that
 * has more to say than that it came (the last of a message, one that asks for an ACK, a
 * READ request, the first of a SEND) is held itself.  What comes from beyond the window is
 * discarded, but for READ requests, whose PSNs reach far; a requester sends no further.
 *
 * Missing.  A gap alone says nothing: packets may have overtaken each other.  What is still
 * missing nic.sr_reorder (up to twice that) after something behind it has come is lost.  The
 * responder tells with PACKET_SACK: all before its PSN has come, and which of 64 packets
 * from some PSN on have not.  The requester, who misses responses, asks for them again by READ
 * requests for just these.  What is missing nic.sr_repeat (up to twice that) after that is
 * told or asked for once more, SR_REPEATS times.  The end of what was sent leaves no gap;
 * there the ACK timeout helps: the oldest and the newest packet go again, and behind the
 * newest one gaps show.
 *
 * Sources: IRN (Mittal et al., SIGCOMM '18, sections 3.1 and 5): bitmaps at both ends, window,
 * only lost packets sent again; a NAK with a bitmap, and READs that ask for what
 * is missing: RoSR (Zhang et al., IEEE CAL 24-2, 2025).  Waiting for late packets by time:
 * RACK (RFC 8985).  The frame of a PACKET_SACK is that of a NAK with the bitmap (8 bytes)
 * and the offset (4) behind the AETH and an opcode of the manufacturer's; what NICs of
 * vendors send is not published.
 *
 * Invariants: bits of 'come' lie in [rcv_nxt, rcv_nxt + window), [snd_una, snd_una + window);
 * bits of 'lost' in [snd_una, snd_una + window) and before snd_nxt; QP_LOST is set
 * exactly while n_lost or n_resend is not 0; qp.careful while there is a gap.
 */
#include <config.h>

#include <string.h>

#include "models/nic/inner.h"

/* Told again without effect so often, a gap is left to the ACK timeout: then the way is
 * broken, and a run must be able to stand still.  A guess. */
#define SR_REPEATS 16

/* Most PACKET_SACKs at a time: 512 packets; the rest follows when these are
 * told.  A guess. */
#define SACKS_MAX 8

size_t
sr_bytes(uint32_t window)
{
    return sizeof(struct sr) + 3 * (window / 8);
}

void
sr_init(struct sr *sr, uint32_t window)
{
    sr->window = window;
    sr->come[SR_REQUESTS] = sr->words;
    sr->come[SR_RESPONSES] = sr->words + window / 64;
    sr->lost = sr->words + 2 * (window / 64);
}

/* ---- bits ----------------------------------------------------------------------------- */

static bool
has_bit(const struct sr *sr, const uint64_t ring[], int64_t seq)
{
    uint64_t i = (uint64_t)seq & (sr->window - 1);

    return ring[i / 64] >> (i % 64) & 1;
}

static void
set_bit(const struct sr *sr, uint64_t ring[], int64_t seq)
{
    uint64_t i = (uint64_t)seq & (sr->window - 1);

    ring[i / 64] |= UINT64_C(1) << (i % 64);
}

static void
clear_bit(const struct sr *sr, uint64_t ring[], int64_t seq)
{
    uint64_t i = (uint64_t)seq & (sr->window - 1);

    ring[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* ---- gaps ----------------------------------------------------------------------------- */

static int64_t
base_of(const struct qp *qp, unsigned role)
{
    return role == SR_REQUESTS ? qp->rcv_nxt : qp->snd_una;
}

static void
arm(struct lp *lp, struct qp *qp, unsigned role, int64_t at_ps)
{
    qp->sr->track[role].timer = true;
    lp_at(lp, at_ps,
          event_key(PHASE_TIMER, (uint64_t)qp->id * 2 + role, KIND_GAP_TIMER, false), qp);
}

/* Gives gaps that nobody waits for yet their time. */
static void
watch_gaps(struct lp *lp, struct qp *qp, unsigned role)
{
    struct sr_track *track = &qp->sr->track[role];

    if (!track->timer && track->max > base_of(qp, role)) {
        track->seen_to = track->max;
        arm(lp, qp, role, lp->now_ps + qp->nic->config->sr_reorder_ps);
    }
}

/* Something has come early; 'end' is the count behind it. */
static void
note_early(struct lp *lp, struct qp *qp, unsigned role, int64_t end)
{
    struct sr_track *track = &qp->sr->track[role];

    track->max = end > track->max ? end : track->max;
    watch_gaps(lp, qp, role);
}

/* ---- what the requester sends again --------------------------------------------------- */

static void
settle(struct qp *qp)
{
    if (qp->sr->n_lost || qp->sr->n_resend) {
        qp->special |= QP_LOST;
    } else {
        qp->special &= (uint8_t)~QP_LOST;
    }
}

static void
mark_lost(struct qp *qp, int64_t seq)
{
    struct sr *sr = qp->sr;

    if (seq >= qp->snd_una && seq < qp->snd_nxt && seq < qp->snd_una + sr->window &&
        !has_bit(sr, sr->lost, seq)) {
        set_bit(sr, sr->lost, seq);
        sr->n_lost++;
        settle(qp);
    }
}

static void
unmark_lost(struct qp *qp, int64_t seq)
{
    struct sr *sr = qp->sr;

    if (sr->n_lost && has_bit(sr, sr->lost, seq)) {
        clear_bit(sr, sr->lost, seq);
        sr->n_lost--;
        settle(qp);
    }
}

static void
set_resend(struct qp *qp, struct message *message, bool resend)
{
    if (message->resend != resend) {
        message->resend = resend;
        qp->sr->n_resend += resend ? 1 : UINT32_MAX;
        settle(qp);
    }
}

/* Request 'seq' has to go again. */
static void
request_again(struct qp *qp, int64_t seq)
{
    struct message *message = nic_message_of(qp, seq);

    if (seq < qp->snd_una || seq >= qp->snd_nxt || !message) {
        return;
    }
    if (message->verb == QP_READ) {
        set_resend(qp, message, true);
    } else {
        mark_lost(qp, seq);
    }
}

void
nic_sr_forget_lost(struct qp *qp)
{
    struct sr *sr = qp->sr;

    memset(sr->lost, 0, sr->window / 8);
    for (struct message *m = qp->oldest; m; m = m->next) {
        m->resend = false;
    }
    sr->n_lost = sr->n_resend = 0;
    settle(qp);
}

bool
nic_sr_is_waiting(const struct qp *qp)
{
    const struct message *message = nic_message_of(qp, qp->snd_una);

    return has_bit(qp->sr, qp->sr->lost, qp->snd_una) || (message && message->resend);
}

void
nic_sr_timeout(struct qp *qp)
{
    request_again(qp, qp->snd_una);
    request_again(qp, qp->snd_nxt - 1);
}

static int64_t
first_lost(const struct qp *qp)
{
    const struct sr *sr = qp->sr;
    int64_t seq = qp->snd_una;

    for (;;) {
        uint64_t i = (uint64_t)seq & (sr->window - 1);
        uint64_t word = sr->lost[i / 64] >> (i % 64);

        if (word) {
            return seq + __builtin_ctzll(word);
        }
        seq += (int64_t)(64 - i % 64);
    }
}

/* Asks for READ 'message' again from 'seq' to 'end'. */
static struct packet *
read_again(struct lp *lp, struct qp *qp, const struct message *message, int64_t seq,
           int64_t end)
{
    for (int64_t s = seq; s < end && qp->sr->n_lost && s < qp->snd_una + qp->sr->window;
         s++) {
        unmark_lost(qp, s);
    }
    return nic_make_read(lp, qp, message, seq, end - seq);
}

struct packet *
nic_sr_make_again(struct lp *lp, struct qp *qp)
{
    struct sr *sr = qp->sr;
    struct message *message;
    int64_t seq, end;

    if (sr->n_lost) {
        seq = first_lost(qp);
        message = nic_message_of(qp, seq);
        if (message->verb != QP_READ) {
            unmark_lost(qp, seq);
            return nic_make_data_again(lp, qp, message, seq);
        }
        end = seq + 1;
        while (end < message->first_seq + message->n_pkts &&
               end < qp->snd_una + sr->window && has_bit(sr, sr->lost, end)) {
            end++;
        }
        return read_again(lp, qp, message, seq, end);
    }
    message = qp->oldest;
    while (!message->resend) {
        message = message->next;
    }
    set_resend(qp, message, false);
    seq = message->first_seq > qp->snd_una ? message->first_seq : qp->snd_una;
    return read_again(lp, qp, message, seq, message->first_seq + message->n_pkts);
}

/* ---- what the requester hears --------------------------------------------------------- */

/* Moves snd_una over all that is acknowledged, or has come in the case of READs. */
static void
advance(struct lp *lp, struct qp *qp)
{
    struct sr *sr = qp->sr;
    int64_t seq = qp->snd_una, n_acked = 0;

    for (struct message *m = qp->oldest; m && seq < qp->snd_max; m = m->next) {
        int64_t end = m->first_seq + m->n_pkts;

        while (m->verb == QP_READ && seq < end &&
               has_bit(sr, sr->come[SR_RESPONSES], seq)) {
            clear_bit(sr, sr->come[SR_RESPONSES], seq++);
        }
        if (m->verb != QP_READ && sr->acked_to > seq) {
            int64_t to = end < sr->acked_to ? end : sr->acked_to;

            n_acked += to - seq;
            seq = to;
        }
        if (seq < end) {
            break;
        }
        set_resend(qp, m, false);
    }
    if (seq > qp->snd_una) {
        for (int64_t s = qp->snd_una; s < seq && sr->n_lost; s++) {
            unmark_lost(qp, s);
        }
        nic_acknowledge(lp, qp, seq, n_acked);
    }
}

void
nic_sr_acknowledge(struct lp *lp, struct qp *qp, int64_t seq)
{
    if (seq > qp->sr->acked_to) {
        qp->sr->acked_to = seq;
        advance(lp, qp);
    }
}

void
nic_receive_sack(struct lp *lp, struct qp *qp, const struct packet *pkt)
{
    int64_t seq = nic_seq_of(qp, pkt->tp.psn);
    uint64_t missing = packet_missing(pkt);

    if (!qp->sr || seq > qp->snd_max) {
        return;
    }
    qp->naks_received++;
    nic_sr_acknowledge(lp, qp, seq);
    for (seq += pkt->imm; missing; missing >>= 1, seq++) {
        const struct message *m = missing & 1 ? nic_message_of(qp, seq) : NULL;

        /* All of a READ but its first PSN is its responses'. */
        if (m && (m->verb != QP_READ || m->first_seq == seq)) {
            request_again(qp, seq);
        }
    }
    nic_activate(lp, qp);
}

void
nic_sr_receive_response(struct lp *lp, struct qp *qp, const struct packet *pkt,
                        int64_t seq)
{
    struct sr *sr = qp->sr;
    const struct message *m = nic_message_of(qp, seq);

    if (seq < qp->snd_una || seq >= qp->snd_max || !m || m->verb != QP_READ) {
        qp->nic->lost_protocol++;
        return;
    }
    if (seq >= qp->snd_una + sr->window || has_bit(sr, sr->come[SR_RESPONSES], seq)) {
        qp->nic->lost_protocol++;
        note_early(lp, qp, SR_RESPONSES, seq + 1);
        return;
    }
    qp->payload_received += pkt->payload_bytes;
    unmark_lost(qp, seq);
    set_bit(sr, sr->come[SR_RESPONSES], seq);
    /* Requests before the READ have come: it was answered after them. */
    if (m->first_seq > sr->acked_to) {
        sr->acked_to = m->first_seq;
    }
    if (seq >= sr->track[SR_RESPONSES].max) {
        sr->track[SR_RESPONSES].max = seq + 1;
    }
    advance(lp, qp);
    watch_gaps(lp, qp, SR_RESPONSES);
    nic_activate(lp, qp);
}

/* Asks again for the responses missing in ['from', 'to').  Returns how far it has got. */
static int64_t
ask_for_responses(struct qp *qp, int64_t from, int64_t to)
{
    const struct sr *sr = qp->sr;
    int64_t end = qp->snd_una + sr->window;

    end = end < to ? end : to;
    for (const struct message *m = nic_message_of(qp, from); m && m->first_seq < end;
         m = m->next) {
        int64_t last = m->first_seq + m->n_pkts;

        for (int64_t seq = m->first_seq > from ? m->first_seq : from;
             m->verb == QP_READ && seq < last && seq < end; seq++) {
            if (!has_bit(sr, sr->come[SR_RESPONSES], seq)) {
                mark_lost(qp, seq);
            }
        }
    }
    return end;
}

/* ---- what the responder receives ------------------------------------------------------ */

static int64_t
n_psns(const struct packet *pkt)
{
    return pkt->type == PACKET_READ_REQ ? nic_read_psns(pkt->tp.message_bytes, pkt->imm)
                                        : 1;
}

/* Is a READ request held that starts 'ahead' of what is expected? */
static bool
holds_read(const struct qp *qp, int32_t ahead)
{
    const struct packet *pkt = qp->sr->held;

    while (pkt && nic_ahead(qp, pkt->tp.psn) < ahead) {
        pkt = pkt->next;
    }
    return pkt && nic_ahead(qp, pkt->tp.psn) == ahead;
}

static void
hold(struct qp *qp, struct packet *pkt, int32_t ahead)
{
    struct sr *sr = qp->sr;
    struct packet **at = &sr->held;

    if (sr->held && nic_ahead(qp, sr->held_last->tp.psn) < ahead) {
        at = &sr->held_last->next;
    }
    while (*at && nic_ahead(qp, (*at)->tp.psn) < ahead) {
        at = &(*at)->next;
    }
    pkt->next = *at;
    *at = pkt;
    if (!pkt->next) {
        sr->held_last = pkt;
    }
}

/* 'pkt' has come early.  Returns true when it has been kept. */
static bool
receive_early(struct lp *lp, struct qp *qp, struct packet *pkt, int32_t ahead)
{
    struct sr *sr = qp->sr;
    int64_t seq = qp->rcv_nxt + ahead;
    bool is_read = pkt->type == PACKET_READ_REQ;
    bool is_within = ahead < (int64_t)sr->window;

    if (qp->nak_sent) {
        qp->nic->lost_protocol++; /* behind one that was refused: it will come again */
        return false;
    }
    if (is_read ? holds_read(qp, ahead)
                : is_within && has_bit(sr, sr->come[SR_REQUESTS], seq)) {
        qp->nic->lost_protocol++;
        return false;
    }
    note_early(lp, qp, SR_REQUESTS, seq + n_psns(pkt));
    qp->careful = true;
    if (!is_within && !is_read) {
        qp->nic->lost_protocol++;
        return false;
    }
    if (!is_read) {
        set_bit(sr, sr->come[SR_REQUESTS], seq);
    }
    if (!is_read && !(pkt->flags & (PACKET_LAST | PACKET_ACK_REQ)) &&
        !(pkt->flags & PACKET_SEND && pkt->flags & PACKET_FIRST)) {
        return false;
    }
    hold(qp, pkt, ahead);
    return true;
}

/* There is no receive WQE for what is expected: forgets what has come behind it, since the
 * requester goes back. */
static void
refuse(struct lp *lp, struct qp *qp)
{
    struct sr *sr = qp->sr;
    struct sr_track *track = &sr->track[SR_REQUESTS];

    for (uint32_t i = 0; i < sr->window / 64; i++) {
        qp->nic->lost_protocol += __builtin_popcountll(sr->come[SR_REQUESTS][i]);
        sr->come[SR_REQUESTS][i] = 0;
    }
    while (sr->held) {
        struct packet *pkt = sr->held;

        sr->held = pkt->next;
        pool_put(lp->pool, pkt);
    }
    track->max = track->seen_to = track->told_to = track->again_to = qp->rcv_nxt;
    nic_send_rnr(lp, qp);
}

/* Takes 'pkt' (steals it), which is expected.  Returns false when it is refused. */
static bool
take(struct lp *lp, struct qp *qp, struct packet *pkt)
{
    bool kept, taken = nic_take_request(lp, qp, pkt, false, &kept);

    if (!kept) {
        pool_put(lp->pool, pkt);
    }
    return taken;
}

/* Takes what has come early and is expected now; '*asks': one of it asks for an ACK. */
static void
take_early(struct lp *lp, struct qp *qp, bool *asks)
{
    struct sr *sr = qp->sr;
    uint32_t full_bytes = qp->nic->qps[qp->peer].nic->config->mtu_bytes;

    while (sr->track[SR_REQUESTS].max > qp->rcv_nxt) {
        struct packet *pkt = sr->held;
        bool is_held = pkt && nic_ahead(qp, pkt->tp.psn) == 0;

        if (!is_held && !has_bit(sr, sr->come[SR_REQUESTS], qp->rcv_nxt)) {
            watch_gaps(lp, qp, SR_REQUESTS);
            return;
        }
        clear_bit(sr, sr->come[SR_REQUESTS], qp->rcv_nxt);
        if (!is_held) {
            qp->rcv_nxt++;
            qp->payload_received += full_bytes; /* a shorter one is the last, and held */
            continue;
        }
        bool wants = pkt->flags & PACKET_ACK_REQ;

        sr->held = pkt->next;
        if (!take(lp, qp, pkt)) {
            qp->nic->lost_protocol++;
            refuse(lp, qp);
            return;
        }
        *asks |= wants;
    }
    qp->careful = qp->nic->config->receive_queue != 0;
}

bool
nic_sr_receive(struct lp *lp, struct qp *qp, struct packet *pkt, int32_t ahead)
{
    bool asks = pkt->flags & PACKET_ACK_REQ;

    if (ahead > 0) {
        return receive_early(lp, qp, pkt, ahead);
    }
    if (ahead < 0) {
        if (pkt->type == PACKET_READ_REQ) {
            nic_repeat_read(lp, qp, pkt);
            return true;
        }
        qp->nic->lost_protocol++;
        if (asks) {
            nic_send_ack(lp, qp, false);
        }
        return false;
    }
    if (!take(lp, qp, pkt)) {
        qp->nic->lost_protocol++;
        refuse(lp, qp);
        return true;
    }
    take_early(lp, qp, &asks);
    if (asks) {
        nic_send_ack(lp, qp, false);
    }
    return true;
}

/* The first request missing in ['seq', 'to'), or 'to'.  '*held' walks along. */
static int64_t
next_missing(const struct qp *qp, const struct packet **held, int64_t seq, int64_t to)
{
    const struct sr *sr = qp->sr;

    while (seq < to) {
        int64_t from = *held ? qp->rcv_nxt + nic_ahead(qp, (*held)->tp.psn) : INT64_MAX;

        if (from <= seq) {
            int64_t end = from + n_psns(*held);

            seq = end > seq ? end : seq;
            *held = (*held)->next;
        } else if (has_bit(sr, sr->come[SR_REQUESTS], seq)) {
            seq++;
        } else {
            return seq;
        }
    }
    return to;
}

/* Tells what requests are missing in ['from', 'to').  Returns how far it has got. */
static int64_t
tell_requests(struct lp *lp, struct qp *qp, int64_t from, int64_t to)
{
    const struct packet *held = qp->sr->held;
    int64_t end = qp->rcv_nxt + qp->sr->window;
    int64_t seq;

    end = end < to ? end : to;
    seq = next_missing(qp, &held, from, end);
    for (uint32_t n = 0; seq < end && n < SACKS_MAX; n++) {
        struct packet *pkt = nic_make_answer(
            lp, qp, PACKET_SACK, (qp->psn_base_peer + (uint32_t)qp->rcv_nxt) & PSN_MASK);
        int64_t first = seq;
        uint64_t bits = 0;

        while (seq < end && seq < first + 64) {
            bits |= UINT64_C(1) << (seq - first);
            seq = next_missing(qp, &held, seq + 1, end);
        }
        pkt->size_bytes = (uint16_t)(pkt->size_bytes + SACK_BYTES);
        packet_set_missing(pkt, (uint32_t)(first - qp->rcv_nxt), bits);
        qp->nic->naks_sent++;
        nic_answer(lp, qp->nic, pkt);
    }
    return seq;
}

/* ---- the timer ------------------------------------------------------------------------ */

static int64_t
tell(struct lp *lp, struct qp *qp, unsigned role, int64_t from, int64_t to)
{
    return role == SR_REQUESTS ? tell_requests(lp, qp, from, to)
                               : ask_for_responses(qp, from, to);
}

/* Tells again what was told long enough ago. */
static void
tell_again(struct lp *lp, struct qp *qp, unsigned role)
{
    struct sr_track *track = &qp->sr->track[role];
    int64_t base = base_of(qp, role);

    if (track->again_to > base) {
        if (track->repeat_of != base) {
            track->repeat_of = base;
            track->repeats = 0;
        }
        track->repeats = (uint8_t)(track->repeats + (track->repeats < SR_REPEATS));
        tell(lp, qp, role, base, track->again_to);
    }
    track->again_to = track->told_to;
    track->again_ps = lp->now_ps + qp->nic->config->sr_repeat_ps;
}

void
nic_gap_timer(struct lp *lp, struct qp *qp, unsigned role)
{
    struct sr_track *track = &qp->sr->track[role];
    int64_t base = base_of(qp, role);
    int64_t from = track->told_to > base ? track->told_to : base;

    track->timer = false;
    if (track->max <= base || qp->failed) {
        return;
    }
    if (track->again_to <= base || track->again_ps <= lp->now_ps) {
        tell_again(lp, qp, role);
    }
    if (track->seen_to > from) {
        track->told_to = tell(lp, qp, role, from, track->seen_to);
        if (track->again_to <= base) {
            track->again_to = track->told_to;
        }
    }
    if (track->repeat_of != base || track->repeats < SR_REPEATS) {
        if (track->max > track->told_to) {
            watch_gaps(lp, qp, role);
        } else {
            arm(lp, qp, role, track->again_ps);
        }
    }
    if (role == SR_RESPONSES) {
        nic_activate(lp, qp);
    }
}
