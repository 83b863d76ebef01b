/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cc_dcqcn.h - parameters and state of DCQCN, visible to tests and samples.
 * All else of it stands behind the table in cc_dcqcn.c, which names the sources.
 */
#ifndef ROCESIM_MODELS_CC_CC_DCQCN_H
#define ROCESIM_MODELS_CC_CC_DCQCN_H

#include <stdbool.h>
#include <stdint.h>

#include "models/cc/cc.h"

/* When alpha takes a CNP in. */
enum dcqcn_alpha_update {
    DCQCN_ALPHA_AT_CNP, /* at the CNP, which also restarts the alpha clock */
    DCQCN_ALPHA_AT_TICK /* at the next tick of a clock that runs freely */
};

/* When a CNP cuts the rate. */
enum dcqcn_cut {
    DCQCN_CUT_AT_CNP, /* at once, or when the decrease interval has passed */
    DCQCN_CUT_AT_TICK /* at the next tick of a clock that runs freely from the first CNP */
};

/* Which phase an increase event belongs to. */
enum dcqcn_stages {
    DCQCN_STAGES_QCN,  /* by the larger and the smaller of its two counters */
    DCQCN_STAGES_EVENT /* by the number of events since the last cut, of either kind */
};

/* How a rate that is no whole number of bits a second is rounded. */
enum dcqcn_rounding { DCQCN_ROUND_UP, DCQCN_ROUND_DOWN };

/* As docs/cc/dcqcn.md names and explains them; base units. */
struct dcqcn_params {
    int64_t g_q32;                /* gain of alpha */
    int64_t initial_alpha_q32;    /* alpha at the first CNP of a QP */
    int64_t alpha_interval_ps;    /* alpha clock */
    int64_t rate_timer_ps;        /* rate clock */
    int64_t byte_counter_bytes;   /* PARAM_SPECIAL: off */
    int64_t fast_recovery;        /* events of fast recovery, F */
    int64_t ai_bps, hai_bps;      /* additive and hyper increase of the target */
    int64_t min_rate_bps;         /* a cut goes no lower */
    int64_t gd;                   /* a cut takes alpha / 2^(gd - 10) of the rate */
    int64_t min_dec_factor_q32;   /* a cut leaves at least this share */
    int64_t decrease_interval_ps; /* least time from cut to cut, 0: none */
    int64_t first_cnp_rate_bps;   /* PARAM_SPECIAL: the first CNP cuts as any other */
    int32_t alpha_update;         /* enum dcqcn_alpha_update */
    int32_t cut_at;               /* enum dcqcn_cut */
    int32_t stages;               /* enum dcqcn_stages */
    int32_t rounding;             /* enum dcqcn_rounding */
    bool clamp_target;            /* every cut sets the target to the rate before it */
    bool hai_by_stage;            /* hyper increase grows with the stage */
    /* A cut does so if the rate clock has raised the rate. */
    bool clamp_target_after_time_inc;
};

/* Ends with a NULL name each. */
extern const struct param dcqcn_param_table[];
extern const struct cc_preset dcqcn_preset_table[];

/* The reaction point of a queue pair. */
struct dcqcn {
    int64_t rate_bps;      /* current rate R_C */
    int64_t target_bps;    /* target rate R_T */
    int64_t rate_due_ps;   /* next rate tick; valid while rate < line */
    int64_t sent_bytes;    /* since the last cut or byte event; valid while rate < line */
    int64_t line_rate_bps; /* of the port */
    int64_t last_cut_ps;   /* valid once had_cnp */
    int64_t cut_due_ps;    /* valid while cut_waits */
    int64_t first_cnp_ps;  /* valid once had_cnp */
    int64_t alpha_due_ps;  /* next alpha tick; valid once had_cnp */
    uint64_t alpha_q32;    /* valid once had_cnp */
    uint32_t time_stage;   /* rate ticks since the last cut, at most STAGE_MAX */
    uint32_t byte_stage;   /* byte events since the last cut, at most STAGE_MAX */
    bool had_cnp;          /* alpha runs */
    bool cut_waits;        /* a cut is due at cut_due_ps */
    bool cnp_since_tick;   /* DCQCN_ALPHA_AT_TICK: a CNP waits for its tick */
};

#endif
