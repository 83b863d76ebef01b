/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * port.c - the rarer half of a port: pause, loss, statistics.
 * Called by switch.c and nic.c; owns the packets of its queues, no others.
 *
 * Sources: IEEE 802.1Q-2018 clause 36, IEEE 802.3 annexes 31B and 31D.
 */
#include <config.h>

#include "models/port.h"

#include <stdlib.h>
#include <string.h>

#include "models/net_lp.h"
#include "sim/mem.h"
#include "sim/rng.h"

void
port_init(struct port *port)
{
    port->arrive_bytes = UINT16_MAX;
    port->stats = mem_zero(N_CLASSES, sizeof *port->stats);
    /* Before time 0: a port has been idle. */
    port->busy_until_ps = 0;
    port->commit_start_ps = 0;
}

void
port_clear(struct port *port)
{
    for (unsigned c = 0; port->stats && c < N_CLASSES; c++) {
        free(port->stats[c].queue_hist);
    }
    if (port->loss) {
        free(port->loss->by_size);
        free(port->loss->drop_list);
    }
    free(port->loss);
    free(port->stats);
}

void
port_set_rate(struct port *port, int64_t rate_bps)
{
    port->rate_bps = rate_bps;
    port->byte_ps = sim_ps_per_byte(rate_bps);
    port->lead_ps =
        port->delay_ps - port->loss_ps + (int64_t)port->preamble_bytes * port->byte_ps;
}

void
port_set_wire(struct port *port, enum wire_format wire, int64_t rate_bps,
              int64_t delay_ps)
{
    bool is_hpcc = wire == WIRE_HPCC;

    port->extra_bytes = is_hpcc ? 0 : WIRE_EXTRA_BYTES;
    port->preamble_bytes = is_hpcc ? 0 : WIRE_PREAMBLE_BYTES;
    port->pfc_bytes = is_hpcc ? HPCC_PFC_BYTES : PFC_FRAME_BYTES;
    port->loss_ps = is_hpcc;
    port->delay_ps = delay_ps;
    port_set_rate(port, rate_bps);
}

int64_t
port_slot_odd__(const struct port *port, int64_t frame_bytes)
{
    return sim_tx_time_ps(frame_bytes + port->extra_bytes, port->rate_bps) -
           port->loss_ps;
}

int64_t
port_hear_odd__(const struct port *port, int64_t heard_bytes)
{
    return sim_tx_time_ps(heard_bytes + port->preamble_bytes, port->rate_bps) -
           port->loss_ps + port->delay_ps;
}

/* That simulator runs what is due at one time in the order in which it was scheduled.  A
 * frame's arrival is scheduled at its start, which comes from the end of the frame before
 * it, scheduled at that one's start, and so on back to the first frame after a pause; that
 * one was started by an arrival, which had been scheduled a whole link's delay before.  So
 * the one that began last is always the first.  In units of about 1 ns, modulo 68 ms. */
void
port_note_start__(struct port *port, int64_t start_ps)
{
    uint64_t mask = (UINT64_C(1) << (52 - ARRIVAL_PORT_BITS)) - 1;
    uint64_t age = ~((uint64_t)start_ps >> 10) & mask;
    uint64_t source = ARRIVAL_PORT(event_source(port->arrival_key));

    port->arrival_key =
        event_key(PHASE_ARRIVAL, age << ARRIVAL_PORT_BITS | source,
                  event_kind(port->arrival_key), event_is_background(port->arrival_key));
}

static struct port_loss *
loss_of(struct port *port)
{
    if (!port->loss) {
        port->loss = mem_zero(1, sizeof *port->loss);
    }
    return port->loss;
}

/* A probability as a bound on a 64-bit draw. */
static uint64_t
as_threshold(double probability)
{
    if (probability <= 0) {
        return 0;
    }
    return probability >= 1 ? UINT64_MAX : (uint64_t)(probability * 0x1p64);
}

/* Largest frame on any wire. */
enum { MOST_BYTES = HPCC_MTU_MAX_BYTES + HPCC_DATA_BYTES };
static_assert((int)MOST_BYTES >= (int)FRAME_MAX_BYTES, "also of `wire` roce");

/* A frame of n bytes survives with probability (1 - bit_rate)^8n, by repeated products:
 * no libm result may decide about an event. */
static uint64_t *
thresholds_by_size(double frame_rate, double bit_rate)
{
    uint64_t *by_size = mem_zero(MOST_BYTES + 1, sizeof *by_size);
    double survive = 1 - frame_rate;
    double byte = 1;

    for (int i = 0; i < 8; i++) {
        byte *= 1 - bit_rate;
    }
    for (int i = 0; i <= MOST_BYTES; i++) {
        by_size[i] = as_threshold(1 - survive);
        survive *= byte;
    }
    return by_size;
}

static void
set_special(struct port *port, uint8_t bit, bool on)
{
    port->special = on ? port->special | bit : port->special & (uint8_t)~bit;
}

static bool
loses(const struct port_loss *loss)
{
    return loss->threshold || loss->by_size || loss->next_drop < loss->n_drop;
}

void
port_set_loss(struct port *port, uint64_t key, double frame_rate, double bit_rate)
{
    struct port_loss *loss = loss_of(port);

    loss->key = key;
    loss->threshold = as_threshold(frame_rate);
    free(loss->by_size);
    loss->by_size = bit_rate > 0 ? thresholds_by_size(frame_rate, bit_rate) : NULL;
    set_special(port, PORT_LOSSY, loses(loss));
}

void
port_set_drops(struct port *port, const uint64_t drop[], uint32_t n_drop)
{
    struct port_loss *loss = loss_of(port);

    free(loss->drop_list);
    loss->drop_list = mem_zero(n_drop, sizeof *drop);
    memcpy(loss->drop_list, drop, n_drop * sizeof *drop);
    loss->n_drop = n_drop;
    loss->next_drop = 0;
    loss->n_data = 0;
    set_special(port, PORT_LOSSY, loses(loss));
}

static bool
is_lost(struct port_loss *loss, const struct packet *pkt)
{
    uint64_t threshold = loss->by_size ? loss->by_size[pkt->size_bytes] : loss->threshold;
    bool lost = false;

    if (packet_has_psn(pkt) && loss->next_drop < loss->n_drop &&
        ++loss->n_data == loss->drop_list[loss->next_drop]) {
        loss->next_drop++;
        lost = true;
    }
    if (threshold) {
        lost |= rng_u64(loss->key, loss->n_seen++) < threshold;
    }
    return lost;
}

/* The frame that a pause frame has pushed back is still due at its old time. */
static void
note_displacement(struct port *port, const struct packet *pkt)
{
    if (pkt->pause.displace_ps) {
        port->displace_ps += pkt->pause.displace_ps;
        port->special |= PORT_DISPLACED;
    }
}

int64_t
port_sent_ps(const struct port *port, const struct packet *pkt, int64_t arrival_ps)
{
    int64_t rest_bytes = pkt->size_bytes - port->in_heard_bytes;

    return arrival_ps - port->in_delay_ps +
           (rest_bytes > 0 ? port_bytes_ps(port, rest_bytes) : 0);
}

bool
port_special_arrival(struct lp *lp, struct port *port, struct packet *pkt)
{
    if (pkt->type != PACKET_PFC && (port->special & PORT_DISPLACED)) {
        /* The key of an arrival carries the receiving port, so it is made anew here. */
        uint64_t key =
            event_key(PHASE_ARRIVAL, port->id,
                      port->is_nic ? KIND_ARRIVE_NIC : KIND_ARRIVE_SWITCH, false);

        lp_at(lp, lp->now_ps + port->displace_ps, key, pkt);
        port->displace_ps = 0;
        port->special &= (uint8_t)~PORT_DISPLACED;
        return false;
    }
    bool is_down = port->special & PORT_DOWN;
    int64_t sent_ps = port_sent_ps(port, pkt, lp->now_ps);

    /* What is lost on the way has been sent all the same. */
    if (port->special & PORT_TAP_PEER_OUT) {
        tap_add(&net_lp(lp)->tap, sent_ps, port->peer, TAP_OUT, pkt);
    }
    if (is_down || (port->loss && is_lost(port->loss, pkt))) {
        struct port_stats *stats = &port->stats[pkt->cls];

        if (pkt->type == PACKET_PFC) {
            note_displacement(port, pkt);
            net_lp(lp)->n_pauses_out--;
            stats->pfc_lost++;
        } else {
            *(is_down ? &stats->lost_on_link : &stats->lost_error) += 1;
        }
        pool_put(lp->pool, pkt);
        return false;
    }
    if (port->special & PORT_TAP_IN) {
        tap_add(&net_lp(lp)->tap, sent_ps + port->in_delay_ps - port->in_lag_ps, port->id,
                TAP_IN, pkt);
    }
    return true;
}

/* The next one of 'classes' after the last served. */
static unsigned
pick_by_packet(struct port *port, uint8_t classes)
{
    unsigned from = port->drr_next + 1u;
    unsigned turned = (unsigned)(classes | classes << N_CLASSES) >> from;
    unsigned c = (from + (unsigned)__builtin_ctz(turned)) % N_CLASSES;

    port->drr_next = (uint8_t)c;
    return c;
}

unsigned
port_pick_drr__(struct port *port, uint8_t classes)
{
    if (port->sched->by_packet) {
        return pick_by_packet(port, classes);
    }
    for (;;) {
        unsigned c = port->drr_next;
        const struct packet *head = port->out[c].queue.head;
        struct out_turn *turn = &port->turn[c];

        if (classes & (1u << c)) {
            int32_t need = head ? head->size_bytes : FRAME_MAX_BYTES;

            if (turn->deficit_bytes >= need) {
                turn->deficit_bytes -= need;
                return c;
            }
            turn->deficit_bytes += port->sched->quantum_bytes[c];
        } else {
            turn->deficit_bytes = 0; /* an idle class saves nothing up */
        }
        port->drr_next = (uint8_t)((c + 1) % N_CLASSES);
    }
}

void
port_queue_sample(struct port *port, unsigned cls, int64_t bytes)
{
    struct port_stats *stats = &port->stats[cls];

    if (!stats->queue_hist) {
        stats->queue_hist = mem_zero(1, sizeof *stats->queue_hist);
    }
    hist_add(stats->queue_hist, bytes, 1);
}

static uint64_t
pause_end_key(const struct port *port, unsigned cls)
{
    return event_key(PHASE_TIMER, (uint64_t)port->id * N_CLASSES + cls, KIND_PAUSE_END,
                     true);
}

static void
close_pause(struct port *port, unsigned cls, int64_t at_ps)
{
    struct out_turn *turn = &port->turn[cls];

    if (at_ps > turn->pause_until_ps) {
        at_ps = turn->pause_until_ps;
    }
    if (at_ps > turn->pause_from_ps) {
        port->stats[cls].paused_ps += at_ps - turn->pause_from_ps;
        port->stats[cls].pause_over_ps = at_ps;
    }
    turn->pause_from_ps = 0;
    turn->pause_until_ps = 0;
    port->paused &= (uint8_t) ~(1u << cls);
}

void
port_forget_pauses(struct port *port)
{
    for (unsigned c = 0; c < N_CLASSES; c++) {
        port->turn[c].pause_from_ps = 0;
        port->turn[c].pause_until_ps = 0;
    }
    port->paused = 0;
}

void
port_ignore_pauses(struct port *port, unsigned cls, int64_t now_ps)
{
    port->pfc_rx &= (uint8_t) ~(1u << cls);
    close_pause(port, cls, now_ps);
}

void
port_obey_pauses(struct port *port, unsigned cls)
{
    port->pfc_rx |= (uint8_t)(1u << cls);
}

int64_t
port_paused_ps(const struct port *port, unsigned cls, int64_t now_ps)
{
    const struct out_turn *turn = &port->turn[cls];
    int64_t until_ps = now_ps < turn->pause_until_ps ? now_ps : turn->pause_until_ps;
    int64_t open_ps = until_ps - turn->pause_from_ps;

    return port->stats[cls].paused_ps + (open_ps > 0 ? open_ps : 0);
}

static void
extend_pause(struct lp *lp, struct port *port, unsigned cls, uint16_t quanta)
{
    struct out_turn *turn = &port->turn[cls];
    int64_t from_ps = lp->now_ps + port->pause_reaction_ps;

    if (turn->pause_until_ps <= lp->now_ps) {
        close_pause(port, cls, lp->now_ps);
        turn->pause_from_ps = from_ps;
    } else if (from_ps < turn->pause_from_ps) {
        turn->pause_from_ps = from_ps;
    }
    turn->pause_until_ps =
        port->hears_lasting
            ? TIME_NEVER_PS
            : lp->now_ps + sim_tx_time_ps((int64_t)quanta * (PFC_QUANTUM_BITS / 8),
                                          port->rate_bps);
    port->paused |= (uint8_t)(1u << cls);
    port->stats[cls].pfc_xoff_rx++;
    if (!turn->pause_timer && !port->hears_lasting) {
        turn->pause_timer = true;
        lp_at(lp, turn->pause_until_ps, pause_end_key(port, cls), port);
    }
}

void
port_hear_pause(struct lp *lp, struct port *port, const struct packet *pkt)
{
    note_displacement(port, pkt);
    net_lp(lp)->n_pauses_out--;
    for (unsigned c = 0; c < N_CLASSES; c++) {
        if (!(pkt->flags & port->pfc_rx & (1u << c))) {
            port->stats[c].pfc_ignored += (pkt->flags >> c & 1) && pkt->pause.quanta[c];
            continue;
        }
        const struct probe_record record = {.time_ps = lp->now_ps,
                                            .object = port->id,
                                            .cls = (uint16_t)c,
                                            .kind = PROBE_PAUSE_HEARD,
                                            .a = pkt->pause.quanta[c] > 0};

        probe_add(&net_lp(lp)->probe, &record);
        if (pkt->pause.quanta[c]) {
            extend_pause(lp, port, c, pkt->pause.quanta[c]);
        } else {
            /* Going on needs no reaction time: the limit of 31B.3.7 is
             * one on stopping. */
            close_pause(port, c, lp->now_ps);
            port->stats[c].pfc_xon_rx++;
        }
    }
}

void
port_pause_end(struct lp *lp, struct port *port, unsigned cls)
{
    struct out_turn *turn = &port->turn[cls];

    turn->pause_timer = false;
    if (turn->pause_until_ps > lp->now_ps) {
        turn->pause_timer = true;
        lp_at(lp, turn->pause_until_ps, pause_end_key(port, cls), port);
    } else if (port->paused & (1u << cls)) {
        close_pause(port, cls, lp->now_ps);
    }
}

/* Puts a pause frame between the frame in service and the committed one that has not
 * started, and pushes that one back as far as needed. */
static void
insert_pause(struct lp *lp, struct port *port, struct packet *pkt)
{
    int64_t start_ps = port->prev_end_ps > lp->now_ps ? port->prev_end_ps : lp->now_ps;
    int64_t end_ps = start_ps + port_slot_ps(port, port->pfc_bytes);
    int64_t over_ps = end_ps - port->commit_start_ps;

    if (over_ps > 0) {
        pkt->pause.displace_ps = over_ps;
        port->commit_start_ps += over_ps;
        port->busy_until_ps += over_ps;
    }
    port->prev_end_ps = end_ps;
    lp_send(lp, port->peer_lp, start_ps + port_hear_ps(port, port->pfc_bytes),
            port->arrival_key | 1, pkt);
}

void
port_send_pause(struct lp *lp, struct port *port, unsigned cls, bool stop)
{
    struct packet *pkt = pool_get(lp->pool);

    *pkt = (struct packet){.size_bytes = port->pfc_bytes,
                           .type = PACKET_PFC,
                           .cls = (uint8_t)cls,
                           .flags = (uint8_t)(1u << cls)};
    pkt->pause.quanta[cls] = stop ? PFC_QUANTA_MAX : 0;
    net_lp(lp)->n_pauses_out++;
    *(stop ? &port->stats[cls].pfc_xoff_tx : &port->stats[cls].pfc_xon_tx) += 1;
    if (port->commit_start_ps > lp->now_ps && !port->commit_is_pause) {
        insert_pause(lp, port, pkt);
        return;
    }
    port_commit(lp, port, pkt,
                port->busy_until_ps > lp->now_ps ? port->busy_until_ps : lp->now_ps,
                port->arrival_key | 1);
    port->commit_is_pause = true;
}
