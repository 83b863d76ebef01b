/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * net.c - a network at work: events to objects, epochs, how a run ends, the laws.
 * Set-up is that of net_add.c, net_build.c and net_start.c.
 */
#include <config.h>

#include "models/net.h"

#include <stdio.h>
#include <stdlib.h>

#include "models/fault.h"
#include "models/nic/drain.h"
#include "models/switch/watchdog.h"

/* Rates of chosen QPs, as long as they have something to send. */
static void
sample_qps(struct lp *lp, struct net_lp *here)
{
    for (uint32_t i = 0; i < here->n_sampled_qps; i++) {
        struct net_sampled_qp *seen = &here->sampled_qps[i];
        struct qp *qp = seen->qp;
        int64_t sent = qp->payload_sent - seen->payload_sent;

        if (!sent && ((qp->snd_nxt == qp->snd_end && !qp->answers.head) || qp->failed)) {
            continue;
        }
        seen->payload_sent = qp->payload_sent;
        probe_add(&here->probe, &(struct probe_record){.time_ps = lp->now_ps,
                                                       .object = qp->id,
                                                       .cls = qp->cls,
                                                       .kind = PROBE_RATE,
                                                       .a = qp_rate_bps(qp, lp->now_ps),
                                                       .b = sent});
    }
}

static void
sample(struct lp *lp, struct net_lp *here)
{
    const struct net *net = here->net;

    for (uint32_t i = 0; i < here->n_ports; i++) {
        struct port *port = &net->ports[here->ports[i]];

        bool wanted = !net->sampled || net->sampled[port->id];

        for (unsigned c = 0; c < N_CLASSES; c++) {
            struct net_seen *seen = &here->seen[i * N_CLASSES + c];
            struct net_seen now = {.tx_bytes = port->out[c].tx_bytes,
                                   .queue_bytes = port->out[c].queue.bytes,
                                   .paused = port_is_paused(port, c, lp->now_ps)};
            struct probe_record record = {.time_ps = lp->now_ps,
                                          .object = port->id,
                                          .cls = (uint16_t)c,
                                          .kind = PROBE_QUEUE,
                                          .a = now.queue_bytes,
                                          .b = now.tx_bytes - seen->tx_bytes,
                                          .c = now.paused};

            /* Ports at rest are left out, but their coming to rest is not. */
            now.moving = record.a || record.b || record.c;
            if (record.a) {
                port_queue_sample(port, c, record.a);
            }
            if (wanted && (now.moving || seen->moving)) {
                probe_add(&here->probe, &record);
            }
            *seen = now;
        }
    }
    sample_qps(lp, here);
    here->n_samples++;
    lp_at(lp, lp->now_ps + net->sample_ps,
          event_key(PHASE_SAMPLE, lp->id, KIND_SAMPLE, true), here);
}

static void
pause_end(struct lp *lp, struct port *port, unsigned cls)
{
    port_pause_end(lp, port, cls);
    if (port->is_nic) {
        nic_serve(lp, port->owner);
    } else {
        switch_serve(lp, port);
    }
}

static outlined void
refresh_pause(struct lp *lp, struct port *port, unsigned cls)
{
    if (port->is_nic) {
        drain_refresh(lp, port, cls);
    } else {
        switch_refresh_pause(lp, port, cls);
    }
}

static void
handle(struct lp *lp, const struct event *event)
{
    uint64_t source = event_source(event->key);

    switch ((enum event_kind)event_kind(event->key)) {
    case KIND_ARRIVE_SWITCH:
        switch_arrive(lp, &net_lp(lp)->net->ports[ARRIVAL_PORT(source)], event->obj);
        break;
    case KIND_ARRIVE_NIC:
        nic_arrive(lp, &net_lp(lp)->net->ports[ARRIVAL_PORT(source)], event->obj);
        break;
    case KIND_WAKE_SWITCH:
        net_lp(lp)->net->ports[source].wake_queued = false;
        switch_serve(lp, &net_lp(lp)->net->ports[source]);
        break;
    case KIND_WAKE_NIC:
        net_lp(lp)->net->ports[source].wake_queued = false;
        nic_serve(lp, event->obj);
        break;
    case KIND_PACE:
        nic_pace(lp, event->obj);
        break;
    case KIND_SCAN:
        nic_scan_again(lp, event->obj);
        break;
    case KIND_PAUSE_END:
        pause_end(lp, event->obj, (unsigned)(source % N_CLASSES));
        break;
    case KIND_PAUSE_REFRESH:
        refresh_pause(lp, event->obj, (unsigned)(source % N_CLASSES));
        break;
    case KIND_ACK_TIMER:
        nic_ack_timer(lp, event->obj);
        break;
    case KIND_RNR_TIMER:
        nic_rnr_timer(lp, event->obj);
        break;
    case KIND_GAP_TIMER:
        nic_gap_timer(lp, event->obj, (unsigned)(source % 2));
        break;
    case KIND_PIPE:
        pipe_arrive(lp, event->obj);
        break;
    case KIND_WORK:
        work_timer_fire(lp, event->obj);
        break;
    case KIND_FAULT:
        fault_strike(lp, event->obj);
        break;
    case KIND_WATCHDOG:
        watchdog_poll(lp, event->obj);
        break;
    case KIND_DRAIN:
        drain_next(lp, event->obj);
        break;
    case KIND_SAMPLE:
        sample(lp, event->obj);
        break;
    }
}

/* ---- epochs ------------------------------------------------------------------------ */

static void
merge_probes(struct net *net)
{
    struct probe **probes = g_newa(struct probe *, net->n_lps);

    for (uint32_t i = 0; i < net->n_lps; i++) {
        probes[i] = &net->lps[i].probe;
    }
    probe_merge(probes, net->n_lps, &net->watch.sink);
}

int64_t
net_n_ops(const struct net *net)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < net->n_lps; i++) {
        n += net->lps[i].n_ops;
    }
    return n;
}

/* Packets and what else is on its way, pauses aside. */
static int64_t
in_flight(const struct net *net)
{
    int64_t n = 0;

    for (uint32_t w = 0; w < net->sim->n_threads; w++) {
        n += net->sim->workers[w].pool.n_out;
    }
    for (uint32_t i = 0; i < net->n_lps; i++) {
        n -= net->lps[i].n_pauses_out;
    }
    return n + sim_n_mail(net->sim);
}

static bool
has_qp_error(const struct net *net)
{
    for (uint32_t i = 0; i < net->n_nics; i++) {
        if (net->nics[i].n_qp_errors) {
            return true;
        }
    }
    return false;
}

/* Has nothing in the foreground happened for so long that not even a pause which nobody
 * repeats could still be waited for? */
static bool
stands_still(struct net *net, int64_t now_ps)
{
    uint64_t n_events = sim_n_events(net->sim);

    if (n_events != net->progress_events || sim_n_foreground(net->sim) > 0) {
        net->progress_events = n_events;
        net->progress_ps = now_ps;
    }
    return now_ps - net->progress_ps > net->grace_ps;
}

/* Will something take a port of the deadlock out of it: a watchdog, a link that goes
 * down? */
static bool
has_remedy(const struct net *net, int64_t now_ps)
{
    for (uint32_t h = 0; h < net->deadlock.n_hops; h++) {
        const struct port *port = &net->ports[net->deadlock.hops[h].port];
        const struct fabric_switch *sw = port->owner;

        if (sw->watchdog) {
            return true;
        }
        for (uint32_t i = 0; i < net->n_faults; i++) {
            const struct fault *fault = net->faults[i];

            if (fault->at_ps >= now_ps && fault->kind == FAULT_DOWN &&
                fault->port == port) {
                return true;
            }
        }
    }
    return false;
}

/* Ends the run when ports are deadlocked for good.  'is_last': it ends anyway, and
 * whatever is deadlocked stays so. */
static bool
judge_deadlock(struct net *net, int64_t now_ps, bool is_last)
{
    struct deadlock found = {.hops = NULL};

    if (!is_last && now_ps < net->next_look_ps) {
        return false;
    }
    net->next_look_ps = now_ps + DEADLOCK_LOOK_PS;
    if (!deadlock_find(net, now_ps, is_last ? 0 : DEADLOCK_LOOK_PS, &found)) {
        return false;
    }
    deadlock_clear(&net->deadlock);
    net->deadlock = found;
    net->is_deadlocked = is_last || !has_remedy(net, now_ps);
    return net->is_deadlocked;
}

static bool
epoch(void *user, int64_t now_ps)
{
    struct net *net = user;
    bool goes_on =
        !net->watch.on_epoch || net->watch.on_epoch(net->watch.ctx, net, now_ps);
    bool still = stands_still(net, now_ps);

    merge_probes(net);
    if (net->watch.frames.on_frame) {
        net_taps_merge(net, now_ps);
    }
    net->end_ps = now_ps;
    if (has_qp_error(net)) {
        net->end = NET_END_QP_ERROR;
    } else if (net_n_ops(net) == 0 && in_flight(net) == 0) {
        net->end = NET_END_DONE;
    } else if (now_ps >= net->stop_ps) {
        net->end = NET_END_STOPPED;
    } else if (still) {
        net->end = NET_END_STALLED;
    } else if (!goes_on) {
        net->end = NET_END_INTERRUPTED;
    } else if (judge_deadlock(net, now_ps, false)) {
        net->end = NET_END_DEADLOCK;
        return false;
    } else {
        return true;
    }
    if (net->end != NET_END_DONE) {
        judge_deadlock(net, now_ps, true);
    }
    return false;
}

const struct sim_ops net_sim_ops = {.handle = handle, .epoch = epoch};

/* Twice the longest pause any port can be asked for. */
static int64_t
longest_pause_ps(const struct net *net)
{
    int64_t most_ps = 0;

    for (uint32_t i = 0; i < net->n_ports; i++) {
        int64_t pause_ps = sim_tx_time_ps(
            (int64_t)PFC_QUANTA_MAX * (PFC_QUANTUM_BITS / 8), net->ports[i].rate_bps);

        most_ps = pause_ps > most_ps ? pause_ps : most_ps;
    }
    return most_ps;
}

/* The longest a watchdog takes to strike a queue: one poll may come too soon. */
static int64_t
longest_watch_ps(const struct net *net)
{
    int64_t most_ps = 0;

    for (uint32_t i = 0; i < net->n_switches; i++) {
        const struct watchdog *dog = net->switches[i].watchdog;
        int64_t watch_ps = dog ? dog->params.detect_ps + 2 * dog->params.poll_ps : 0;

        most_ps = watch_ps > most_ps ? watch_ps : most_ps;
    }
    return most_ps;
}

/* The QPs of NICs that 'sampled' names; where it names nothing, all of a small network. */
static void
choose_qps(struct net *net)
{
    if (!net->sampled && net->n_qps > NET_SAMPLED_QPS) {
        return;
    }
    for (uint32_t i = 0; i < net->n_qps; i++) {
        struct qp *qp = &net->qps[i];
        struct net_lp *here;

        if (!net->sampled || net->sampled[qp->nic->port->id]) {
            here = net_lp(net_lp_of_host(net, qp->nic->host));
            here->sampled_qps = g_renew(struct net_sampled_qp, here->sampled_qps,
                                        here->n_sampled_qps + 1);
            here->sampled_qps[here->n_sampled_qps++] = (struct net_sampled_qp){.qp = qp};
        }
    }
}

static void
start_samples(struct net *net)
{
    if (net->sample_ps) {
        choose_qps(net);
    }
    for (uint32_t i = 0; i < net->n_lps && net->sample_ps; i++) {
        struct net_lp *here = &net->lps[i];

        here->seen = g_new0(struct net_seen, (size_t)here->n_ports * N_CLASSES);
        lp_at(&net->sim->lps[i], net->sample_ps,
              event_key(PHASE_SAMPLE, i, KIND_SAMPLE, true), here);
    }
}

void
net_run(struct net *net, int64_t stop_ps, const struct net_watch *watch)
{
    net->watch = *watch;
    net->stop_ps = stop_ps;
    net->sim->stop_ps = stop_ps;
    net->grace_ps = 2 * longest_pause_ps(net) + longest_watch_ps(net);
    net->next_look_ps = DEADLOCK_LOOK_PS;
    for (uint32_t i = 0; i < net->n_lps; i++) {
        net->lps[i].probe.wanted = watch->sink.on_record ? ~watch->sink.skip : 0;
    }
    start_samples(net);
    if (watch->frames.on_frame) {
        net_taps_start(net);
    }
    sim_run(net->sim);
    if (watch->frames.on_frame) {
        net_taps_end(net);
    }
}

/* ---- laws -------------------------------------------------------------------------- */

static void
count_arrival(const struct event *event, void *ctx)
{
    int64_t *on_link = ctx; /* by receiving port */
    unsigned kind = event_kind(event->key);

    if ((kind == KIND_ARRIVE_SWITCH || kind == KIND_ARRIVE_NIC) &&
        !event_is_background(event->key)) {
        on_link[ARRIVAL_PORT(event_source(event->key))]++;
    }
}

static void
count_arrivals(const struct net *net, int64_t on_link[])
{
    for (uint32_t i = 0; i < net->sim->n_lps; i++) {
        const struct lp *lp = &net->sim->lps[i];

        event_queue_each(&lp->queue, count_arrival, on_link);
        for (uint32_t w = 0; w < net->sim->n_threads; w++) {
            const struct lp_mailbox *box = lp_mail_held(lp, w);

            for (uint32_t k = 0; box && k < box->n; k++) {
                count_arrival(&box->parcels[k].event, on_link);
            }
        }
    }
}

static void
check_link(const struct net *net, const struct port *port, int64_t on_link)
{
    const struct port *peer = &net->ports[port->peer];
    int64_t sent = 0, heard = 0, lost = 0;

    for (unsigned c = 0; c < N_CLASSES; c++) {
        sent += port->out[c].tx_pkts;
        heard += peer->in[c].rx_pkts;
        lost += peer->stats[c].lost_error + peer->stats[c].lost_on_link;
    }
    if (sent != heard + lost + on_link) {
        fprintf(stderr,
                "rocesim: bug: port %u sent %lld packets; its peer heard %lld, lost "
                "%lld, and "
                "%lld are on the link\n",
                port->id, (long long)sent, (long long)heard, (long long)lost,
                (long long)on_link);
        abort();
    }
}

static void
check_pauses(const struct port *port)
{
    for (unsigned c = 0; c < N_CLASSES; c++) {
        const struct port_stats *stats = &port->stats[c];

        if (stats->pfc_xoff_tx < stats->pfc_xon_tx) {
            fprintf(stderr,
                    "rocesim: bug: port %u class %u resumed more often than stopped\n",
                    port->id, c);
            abort();
        }
    }
}

void
net_check(const struct net *net)
{
    g_autofree int64_t *on_link = g_new0(int64_t, net->n_ports + 1);

    count_arrivals(net, on_link);
    for (uint32_t i = 0; i < net->n_ports; i++) {
        check_link(net, &net->ports[i], on_link[net->ports[i].peer]);
        check_pauses(&net->ports[i]);
    }
    for (uint32_t i = 0; i < net->n_switches; i++) {
        switch_check(&net->switches[i]);
    }
    for (uint32_t i = 0; i < net->n_qps; i++) {
        qp_check(&net->qps[i]);
    }
    for (uint32_t i = 0; i < net->sim->n_lps; i++) {
        event_queue_check(&net->sim->lps[i].queue);
    }
}
