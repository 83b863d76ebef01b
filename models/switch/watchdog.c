/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * watchdog.c - polls the queues of a switch and strikes those that are stuck, see
 * watchdog.h.  Called by net.c at each poll, by switch.c for packets of guarded ports.
 *
 * Invariant: a port has PORT_GUARDED exactly while the action is drop and one of its
 * queues is struck.
 */
#include <config.h>

#include "models/switch/watchdog.h"

#include <stdlib.h>

#include "sim/mem.h"
#include "sim/rng.h"

#define SONIC_TIMER_PS (200 * PS_PER_MS)
#define SONIC_POLL_MAX_PS (1000 * PS_PER_MS)
#define SONIC_PORTS 32

int64_t
watchdog_sonic_ps(uint32_t n_ports, bool is_poll)
{
    int64_t factor = n_ports ? (n_ports - 1) / SONIC_PORTS + 1 : 1;
    int64_t time_ps = factor * SONIC_TIMER_PS;

    return is_poll && time_ps > SONIC_POLL_MAX_PS ? SONIC_POLL_MAX_PS : time_ps;
}

struct watchdog_params
watchdog_resolve(const struct watchdog_params *params, uint32_t n_ports)
{
    struct watchdog_params p = *params;

    if (p.detect_ps == WATCHDOG_SONIC) {
        p.detect_ps = watchdog_sonic_ps(n_ports, false);
    }
    if (p.restore_ps == WATCHDOG_SONIC) {
        p.restore_ps = watchdog_sonic_ps(n_ports, false);
    }
    if (p.poll_ps == WATCHDOG_SONIC) {
        p.poll_ps = watchdog_sonic_ps(n_ports, true);
        p.poll_ps = p.detect_ps < p.poll_ps ? p.detect_ps : p.poll_ps;
        p.poll_ps = p.restore_ps < p.poll_ps ? p.restore_ps : p.poll_ps;
    }
    return p;
}

struct watchdog *
watchdog_new(const struct watchdog_params *params, uint32_t n_ports, uint64_t seed,
             const char *path)
{
    struct watchdog *dog;

    if (params->action == WATCHDOG_OFF) {
        return NULL;
    }
    dog = mem_zero(1, sizeof *dog);
    dog->params = watchdog_resolve(params, n_ports);
    dog->first_ps = 1 + (int64_t)rng_below(rng_key(seed, path, "watchdog"), 0,
                                           (uint64_t)dog->params.poll_ps);
    dog->queues = mem_zero((size_t)n_ports * N_CLASSES, sizeof *dog->queues);
    return dog;
}

void
watchdog_free(struct watchdog *dog)
{
    if (dog) {
        free(dog->queues);
        free(dog);
    }
}

static struct watchdog_queue *
queue_of(const struct fabric_switch *sw, const struct port *port, unsigned cls)
{
    return &sw->watchdog->queues[port->index * N_CLASSES + cls];
}

/* Guards 'port' as long as one of its queues is struck and packets are to be lost. */
static void
guard(const struct fabric_switch *sw, struct port *port)
{
    bool struck = false;

    for (unsigned c = 0; c < N_CLASSES; c++) {
        struck |= queue_of(sw, port, c)->struck;
    }
    if (struck && sw->watchdog->params.action == WATCHDOG_DROP) {
        port->special |= PORT_GUARDED;
    } else {
        port->special &= (uint8_t)~PORT_GUARDED;
    }
}

static void
strike(struct lp *lp, struct fabric_switch *sw, struct port *port, unsigned cls)
{
    struct watchdog_queue *queue = queue_of(sw, port, cls);

    queue->struck = true;
    queue->n_strikes++;
    queue->since_ps = lp->now_ps;
    queue->until_ps = TIME_NEVER_PS;
    queue->for_ps = 0;
    port_ignore_pauses(port, cls, lp->now_ps);
    guard(sw, port);
    if (sw->watchdog->params.action == WATCHDOG_DROP) {
        switch_flush(lp, port, cls, &port->stats[cls].lost_watchdog);
    }
    switch_serve(lp, port);
}

static void
restore(struct lp *lp, struct fabric_switch *sw, struct port *port, unsigned cls)
{
    struct watchdog_queue *queue = queue_of(sw, port, cls);

    queue->struck = false;
    queue->until_ps = lp->now_ps;
    queue->for_ps = 0;
    port_obey_pauses(port, cls);
    guard(sw, port);
}

/* A poll of a queue that is not struck. */
static void
look(struct lp *lp, struct fabric_switch *sw, struct port *port, unsigned cls)
{
    struct watchdog_queue *queue = queue_of(sw, port, cls);
    const struct watchdog_params *params = &sw->watchdog->params;
    int64_t paused_ps = port_paused_ps(port, cls, lp->now_ps);
    bool stuck = port->out[cls].queue.head && port->out[cls].tx_pkts == queue->tx_pkts &&
                 (paused_ps - queue->paused_ps) * 100 > params->poll_ps * 99;

    queue->for_ps = stuck ? queue->for_ps + params->poll_ps : 0;
    queue->paused_ps = paused_ps;
    queue->tx_pkts = port->out[cls].tx_pkts;
    queue->ignored = port->stats[cls].pfc_ignored;
    if (queue->for_ps >= params->detect_ps) {
        strike(lp, sw, port, cls);
    }
}

/* A poll of a queue that is. */
static void
look_again(struct lp *lp, struct fabric_switch *sw, struct port *port, unsigned cls)
{
    struct watchdog_queue *queue = queue_of(sw, port, cls);
    bool heard = port->stats[cls].pfc_ignored != queue->ignored;

    queue->for_ps = heard ? 0 : queue->for_ps + sw->watchdog->params.poll_ps;
    queue->ignored = port->stats[cls].pfc_ignored;
    queue->tx_pkts = port->out[cls].tx_pkts;
    queue->paused_ps = port_paused_ps(port, cls, lp->now_ps);
    if (queue->for_ps >= sw->watchdog->params.restore_ps) {
        restore(lp, sw, port, cls);
    }
}

outlined void
watchdog_poll(struct lp *lp, struct fabric_switch *sw)
{
    for (uint16_t p = 0; p < sw->n_ports; p++) {
        struct port *port = &sw->ports[p];

        for (uint8_t left = sw->lossless; left; left &= (uint8_t)(left - 1)) {
            unsigned cls = (unsigned)__builtin_ctz(left);

            if (queue_of(sw, port, cls)->struck) {
                look_again(lp, sw, port, cls);
            } else {
                look(lp, sw, port, cls);
            }
        }
    }
    lp_at(lp, lp->now_ps + sw->watchdog->params.poll_ps,
          event_key(PHASE_TIMER, sw->id, KIND_WATCHDOG, true), sw);
}

bool
watchdog_takes(struct fabric_switch *sw, struct port *in, struct port *out, unsigned cls)
{
    struct port *guarded =
        in->special & PORT_GUARDED && queue_of(sw, in, cls)->struck     ? in
        : out->special & PORT_GUARDED && queue_of(sw, out, cls)->struck ? out
                                                                        : NULL;

    if (!guarded) {
        return false;
    }
    guarded->stats[cls].lost_watchdog++;
    return true;
}
