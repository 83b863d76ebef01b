/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pfc.c - pause frames of an ingress class and their record.
 * Called by switch.c and nic.c after each change of an account; owns no packets.
 *
 * Invariant: stops and resumes of a (port, class) alternate; repeats lie between.
 */
#include <config.h>

#include "models/switch/pfc.h"

#include "models/net_lp.h"

static int64_t
refresh_ps(const struct port *port)
{
    return sim_tx_time_ps((int64_t)(PFC_QUANTA_MAX / 2) * (PFC_QUANTUM_BITS / 8),
                          port->rate_bps);
}

static void
arm(struct lp *lp, struct port *port, unsigned cls, int64_t at_ps)
{
    struct in_class *in = &port->in[cls];

    if (!in->refresh_timer && !port->sends_lasting) {
        in->refresh_timer = true;
        lp_at(lp, at_ps,
              event_key(PHASE_TIMER, (uint64_t)port->id * N_CLASSES + cls,
                        KIND_PAUSE_REFRESH, true),
              port);
    }
}

void
pfc_stop(struct lp *lp, struct port *port, unsigned cls, uint32_t cause)
{
    struct in_class *in = &port->in[cls];

    in->xoff = true;
    in->xoff_at_ps = lp->now_ps;
    in->told_at_ps = lp->now_ps;
    in->xoff_cause = cause;
    port_send_pause(lp, port, cls, true);
    arm(lp, port, cls, lp->now_ps + refresh_ps(port));
}

void
pfc_forget(struct lp *lp, struct port *port, unsigned cls)
{
    struct in_class *in = &port->in[cls];
    const struct probe_record record = {.time_ps = lp->now_ps,
                                        .object = port->id,
                                        .cls = (uint16_t)cls,
                                        .kind = PROBE_PAUSE,
                                        .a = in->xoff_at_ps,
                                        .b = in->xoff_cause,
                                        .c = in->xoff_held};

    in->xoff = false;
    probe_add(&net_lp(lp)->probe, &record);
}

void
pfc_resume(struct lp *lp, struct port *port, unsigned cls)
{
    port->in[cls].owed_frame = false;
    pfc_forget(lp, port, cls);
    port_send_pause(lp, port, cls, false);
}

void
pfc_repeat(struct lp *lp, struct port *port, unsigned cls)
{
    struct in_class *in = &port->in[cls];
    int64_t due_ps = in->told_at_ps + refresh_ps(port);

    /* One timer serves all pauses of the class: it may have been set for an older one. */
    if (due_ps <= lp->now_ps) {
        in->told_at_ps = lp->now_ps;
        port_send_pause(lp, port, cls, true);
        due_ps = lp->now_ps + refresh_ps(port);
    }
    arm(lp, port, cls, due_ps);
}
