/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * barrier.h - where the workers meet once a window: spins briefly, then sleeps.
 *
 * A barrier that only spins was up to 30 times slower when another program had one of the
 * cores; one that only sleeps costs two system calls a window.
 */
#ifndef ROCESIM_SIM_BARRIER_H
#define ROCESIM_SIM_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/units.h"

struct barrier {
    _Alignas(64) atomic_uint n_waiting;
    _Alignas(64) atomic_uint generation;
    _Alignas(64) atomic_uint n_sleepers;
    uint32_t n_threads;
    int n_spins; /* looks at the generation before sleeping */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
};

/* For 'n_threads' (>= 1) threads; storage of the caller, to be cleared. */
void barrier_init(struct barrier *barrier, uint32_t n_threads);
void barrier_clear(struct barrier *barrier);

/* Returns when all threads have called it.  What a thread wrote before is seen after. */
void barrier_wait(struct barrier *barrier);

#endif
