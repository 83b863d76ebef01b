/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cc.h - congestion control: a table of functions over a small state in the QP.
 * A congestion control sees CNPs, ACKs, timeouts and its own packets; it sees no queue,
 * no switch and no event loop.  It never asks for a timer: what its timers would have
 * done since the last look is caught up at the next look (CNP, packet, sample), and must
 * equal a twin that runs every timer as an event.
 *
 * One algorithm = one file cc_NAME.c that defines 'cc_NAME_ops', and one line in
 * cc_list.def.
 *
 * How a NIC drives it:
 *     init()       once a QP, before its first packet
 *     on_cnp()     a CNP for the QP has arrived; also while not limited
 *     on_send()    a data packet (first sent or sent again) starts on the wire; called
 *                  while out.limited.  The gap to the next packet of the QP is taken from
 *                  the rate that it leaves in 'out'
 *     on_ack()     only if not NULL
 *     on_timeout() only if not NULL
 *     sync()       before the rate is sampled or reported, and at next_ps(); into the
 *                  QP's own 'out', as it may find that the QP is no longer limited
 *     next_ps()    while a QP waits for its pace, to let it know when to look again
 * 'now_ps' never goes back from call to call on one state.  Only differences of times
 * count.
 *
 * Invariant: while out.limited is false the QP is at line rate with no window, nothing is
 * pending, and only on_cnp(), on_ack() or on_timeout() can change that.
 */
#ifndef ROCESIM_MODELS_CC_CC_H
#define ROCESIM_MODELS_CC_CC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/param.h"

/* Bytes of state a QP keeps for its congestion control, 8-byte aligned; each cc_NAME.c
 * asserts that its state fits. */
enum { CC_STATE_BYTES = 96 };

/* What an algorithm needs of the network; the loader refuses a network without. */
enum cc_needs {
    CC_NEEDS_NOTHING = 0,
    CC_NEEDS_ECN = 1 << 0 /* data is ECT, switches mark, receivers send CNPs */
};

/* What an algorithm is told at the start of a QP. */
struct cc_env {
    int64_t line_rate_bps; /* of the port the QP sends by, > 0 and <= CC_MAX_RATE_BPS */
    int32_t mtu_bytes;     /* payload of a full packet, > 0 */
};

/* Largest line rate: leaves room to add an increase in int64_t. */
#define CC_MAX_RATE_BPS INT64_C(4000000000000)

/* What an algorithm answers; kept by the NIC, one a QP. */
struct cc_out {
    int64_t rate_bps;     /* 0 < rate <= line rate: pace of the QP, wire bits */
    int64_t window_bytes; /* > 0: payload that may be unacknowledged; 0: no limit */
    bool limited;         /* false: line rate, no window, on_send() need not be called */
};

/* An ACK that acknowledges something new. */
struct cc_ack {
    int64_t now_ps;
    int64_t acked_bytes; /* payload newly acknowledged; a short packet counts as full */
};

/* One parameter of a preset that differs from the table's default. */
struct cc_override {
    const char *name;   /* in the algorithm's table; NULL ends the list */
    int64_t value;      /* base unit, in range */
    const char *source; /* where this value stands */
    bool guess;         /* a guess */
};

/* A named set of parameters. */
struct cc_preset {
    const char *name;                /* NULL ends a list of presets */
    const char *doc;                 /* one line */
    int64_t cnp_interval_ps;         /* default of nic.cnp_interval under this preset;
                                         * 0 where the algorithm gets no CNPs */
    const char *cnp_interval_source; /* NULL if there are no CNPs */
    /* Ends with a NULL name; what it does not name has the table's default. */
    const struct cc_override *overrides;
};

/* An algorithm.  'state' is CC_STATE_BYTES of the QP, 8-byte aligned; 'params' a blob of
 * params_bytes filled from 'params' the table, const after set-up, shared by all QPs.
 * Functions may be NULL only where said.  All of them set every field of '*out'. */
struct cc_ops {
    const char *name;   /* as in cc.algorithm */
    const char *source; /* paper and section */
    const char *doc;    /* one line */
    unsigned needs;     /* enum cc_needs, or-ed */
    size_t state_bytes, params_bytes;
    const struct param *params;      /* table; defaults are those of presets[0] */
    const struct cc_preset *presets; /* at least one; the first is the default */

    void (*init)(void *state, const void *params, const struct cc_env *env,
                 struct cc_out *out);
    void (*on_cnp)(void *state, const void *params, int64_t now_ps, struct cc_out *out);
    /* 'wire_bytes': with preamble and gap.  Called only while limited; may be NULL in an
     * algorithm that never limits. */
    void (*on_send)(void *state, const void *params, int64_t now_ps, int32_t wire_bytes,
                    struct cc_out *out);
    /* May be NULL: ACKs are not looked at. */
    void (*on_ack)(void *state, const void *params, const struct cc_ack *ack,
                   struct cc_out *out);
    /* May be NULL: timeouts are not looked at. */
    void (*on_timeout)(void *state, const void *params, int64_t now_ps,
                       struct cc_out *out);
    /* Catches up to 'now_ps'.  Changes no later result: a run with and without samples
     * is the same. */
    void (*sync)(void *state, const void *params, int64_t now_ps, struct cc_out *out);
    /* When the rate next changes by itself: without a CNP, packet, ACK or timeout.  Later
     * than the last call's 'now_ps'; TIME_NEVER_PS: not at all.  May be NULL: never. */
    int64_t (*next_ps)(const void *state, const void *params);
    /* Aborts if the state breaks an invariant. */
    void (*check)(const void *state, const void *params);
};

/* All algorithms in the order of cc_list.def, ending with NULL. */
extern const struct cc_ops *const cc_list[];

/* The algorithm called 'name', or NULL. */
const struct cc_ops *cc_find(const char *name);

/* The preset of 'ops' called 'name', or NULL.  'name' NULL: the default preset. */
const struct cc_preset *cc_preset_find(const struct cc_ops *ops, const char *name);

/* Fills 'params' (ops->params_bytes, set to 0 first) with the defaults of the table and
 * then the overrides of 'preset', which must be one of 'ops'. */
void cc_params_init(const struct cc_ops *ops, const struct cc_preset *preset,
                    void *params);

#endif
