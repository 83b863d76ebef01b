/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sim.h - the run loop: windows, threads, control epochs.
 *
 * All logical processes may run to T + L when no event anywhere lies before T and every
 * message between processes takes at least L, the lookahead.  A worker thread drains last
 * window's mail of its processes, runs them, publishes the least time it holds or has
 * sent, and meets the others at one barrier a window.
 *
 * Every SIM_EPOCH_PS of simulated time that holds an event, all processes stand at
 * exactly the same time and the epoch function decides: windows never straddle an epoch
 * and are half-open (what happens at E is after E).  So nothing that ends, stops or
 * judges a run depends on the partition or on threads.
 *
 * Source of the window rule: Chandy, Misra (1979) and Nicol (1993), conservative
 * synchronisation with a global lookahead.
 */
#ifndef ROCESIM_SIM_SIM_H
#define ROCESIM_SIM_SIM_H

#include "sim/lp.h"

#define SIM_EPOCH_PS (10 * PS_PER_US)
#define SIM_MAX_THREADS 64

/* What a simulation is of: the model behind the engine. */
struct sim_ops {
    /* Does 'event' in 'lp'.  Called in the process's thread. */
    void (*handle)(struct lp *lp, const struct event *event);
    /* All processes stand at 'now_ps': what lies before is done, what lies at or after is
     * not.  Returns false to end the run.  Called in the first thread, others wait. */
    bool (*epoch)(void *user, int64_t now_ps);
};

/* A thread. */
struct sim_worker {
    struct pool pool;
    uint32_t *lps; /* owned: the processes of this thread */
    uint32_t n_lps;
};

/* The engine: processes, channels between them, threads. */
struct sim {
    uint64_t seed;
    const struct sim_ops *ops; /* borrowed */
    void *user;                /* borrowed: argument of the epoch function */
    struct lp *lps;            /* owned */
    uint32_t n_lps;
    int64_t lookahead_ps; /* TIME_NEVER_PS / 2 with a single process */
    int64_t stop_ps;      /* an epoch is added here; TIME_NEVER_PS: none */
    uint32_t n_threads;
    struct sim_worker *workers; /* owned */
    uint64_t n_windows;
};

/* A simulation with 'n_lps' (>= 1) processes.  Owned by the caller. */
struct sim *sim_new(uint64_t seed, uint32_t n_lps, const struct sim_ops *ops, void *user);

/* Frees 'sim' and every object still in flight; accepts NULL. */
void sim_free(struct sim *sim);

/* Says that process 'from' will send to process 'to' (which may be the same), each message
 * taking at least 'lookahead_ps' (>= 1).  Only before sim_start(). */
void sim_connect(struct sim *sim, uint32_t from, uint32_t to, int64_t lookahead_ps);

/* Deals the processes out to 'n_threads' (1 to SIM_MAX_THREADS) workers by lp.weight and
 * gives each process its pool.  After this events may be scheduled. */
void sim_start(struct sim *sim, uint32_t n_threads);

/* Runs until the epoch function says no. */
void sim_run(struct sim *sim);

/* Messages between threads not yet taken out; only between windows. */
int64_t sim_n_mail(const struct sim *sim);

/* Foreground events pending; only between windows. */
int64_t sim_n_foreground(const struct sim *sim);

/* Foreground events done; only between windows. */
uint64_t sim_n_events(const struct sim *sim);

/* Bytes held by queues, mailboxes and pools. */
int64_t sim_bytes(const struct sim *sim);

#endif
