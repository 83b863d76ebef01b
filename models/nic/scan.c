/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scan.c - see scan.h.
 * Invariant: a QP is in the list exactly while its place is QP_READY.
 */
#include <config.h>

#include "models/nic/scan.h"

#include "models/nic/inner.h"
#include "models/nic/window.h"
#include "models/packet.h"

static bool
is_finished(const struct qp *qp)
{
    return (qp->snd_una == qp->snd_end && !qp->answers.head) || qp->failed;
}

/* The earliest time that pace and memory allow the next packet of 'qp'; TIME_NEVER_PS: it has
 * none. */
static int64_t
due_ps(const struct qp *qp)
{
    int64_t ready_ps;

    if (unlikely(qp->special)) {
        ready_ps = nic_turn_ready_ps(qp);
    } else {
        ready_ps = qp->cur && !qp->halted ? qp->cur->ready_ps : TIME_NEVER_PS;
    }
    return ready_ps > qp->next_send_ps ? ready_ps : qp->next_send_ps;
}

/* Is 'qp', which has a packet, to wait for a resume or its window? */
static bool
is_held_back(struct lp *lp, struct nic *nic, struct qp *qp)
{
    if (port_is_paused(nic->port, qp->cls, lp->now_ps)) {
        return true;
    }
    nic_refresh_window(qp, lp->now_ps);
    return !qp->special && !nic_window_is_open(qp); /* else due_ps() knows */
}

/* Takes the finished ones from place 'first' on out of the list.  Returns the new place of
 * 'kept', which is not finished. */
static uint32_t
forget_finished(struct nic_scan *scan, uint32_t first, uint32_t kept)
{
    uint32_t n = first;

    for (uint32_t i = first; i < scan->n; i++) {
        struct qp *qp = scan->list[i];

        if (is_finished(qp)) {
            qp->place = QP_IDLE;
            continue;
        }
        if (i == kept) {
            kept = n;
        }
        scan->list[n++] = qp;
    }
    scan->n = n;
    return kept;
}

/* The QP whose turn it is, or NULL.  Those found finished on the way, and all that are
 * behind the first of them in the list, leave it. */
static struct qp *
next_qp(struct lp *lp, struct nic *nic)
{
    struct nic_scan *scan = &nic->scan;
    uint32_t found = UINT32_MAX, finished = UINT32_MAX;

    for (uint32_t k = 1; k <= scan->n && found == UINT32_MAX; k++) {
        uint32_t i = (scan->last + k) % scan->n;
        struct qp *qp = scan->list[i];

        if (due_ps(qp) != TIME_NEVER_PS && !is_held_back(lp, nic, qp)) {
            found = due_ps(qp) <= lp->now_ps ? i : UINT32_MAX;
        } else if (is_finished(qp)) {
            finished = i < finished ? i : finished;
        }
    }
    if (finished != UINT32_MAX) {
        found = forget_finished(scan, finished, found);
    }
    if (found == UINT32_MAX) {
        return NULL;
    }
    scan->last = found;
    return scan->list[found];
}

static void
set_timer(struct lp *lp, struct nic *nic)
{
    struct nic_scan *scan = &nic->scan;
    int64_t at_ps = TIME_NEVER_PS;

    for (uint32_t i = 0; i < scan->n; i++) {
        int64_t qp_ps = due_ps(scan->list[i]);

        at_ps = qp_ps < at_ps ? qp_ps : at_ps;
    }
    if (!scan->timer_queued && at_ps > lp->now_ps && at_ps != TIME_NEVER_PS) {
        scan->timer_queued = true;
        lp_at(lp, at_ps, event_key(PHASE_TIMER, nic->port->id, KIND_SCAN, false), nic);
    }
}

/* The first class whose answers may go now, or N_CLASSES; '*ready_ps' is lowered to when
 * the first of the others will be ready. */
static unsigned
answer_class(const struct nic *nic, int64_t now_ps, int64_t *ready_ps)
{
    const struct port *port = nic->port;

    for (uint8_t left = nic_open_answers(nic, now_ps); left;
         left &= (uint8_t)(left - 1)) {
        unsigned c = (unsigned)__builtin_ctz(left);
        int64_t head_ps = port->out[c].queue.head->ready_ps;

        if (head_ps <= now_ps) {
            return c;
        }
        *ready_ps = head_ps < *ready_ps ? head_ps : *ready_ps;
    }
    return N_CLASSES;
}

void
nic_scan_serve(struct lp *lp, struct nic *nic)
{
    struct port *port = nic->port;
    int64_t ready_ps = TIME_NEVER_PS;
    unsigned cls;
    struct qp *qp;

    if (unlikely(port->special & PORT_DOWN)) {
        return;
    }
    if (lp->now_ps < port->busy_until_ps) {
        if (port->ready || nic->scan.n) {
            port_wake_at(lp, port, port->busy_until_ps, nic);
        }
        return;
    }
    cls = answer_class(nic, lp->now_ps, &ready_ps);
    if (cls < N_CLASSES) {
        port_transmit(lp, port, nic_take_answer(nic, cls), lp->now_ps);
    } else if ((qp = next_qp(lp, nic))) {
        nic_send_data(lp, nic, qp, lp->now_ps);
    } else {
        if (ready_ps != TIME_NEVER_PS) {
            port_wake_at(lp, port, ready_ps, nic);
        }
        set_timer(lp, nic);
        return;
    }
    if (port->ready || nic->scan.n) {
        port_wake_at(lp, port, port->busy_until_ps, nic);
    }
}

void
nic_scan_activate(struct lp *lp, struct qp *qp)
{
    struct nic_scan *scan = &qp->nic->scan;

    if (qp->place == QP_IDLE && (qp->cur || qp->special)) {
        qp->place = QP_READY;
        scan->list[scan->n++] = qp;
    }
    nic_scan_serve(lp, qp->nic);
}

void
nic_scan_again(struct lp *lp, struct nic *nic)
{
    nic->scan.timer_queued = false;
    nic_scan_serve(lp, nic);
}
