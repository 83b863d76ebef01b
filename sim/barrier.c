/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * barrier.c - generation barrier with a sleeping half.
 */
#include <config.h>

#include "sim/barrier.h"

#include <unistd.h>

#define SPINS 4000 /* some 10 us: longer than a window of a balanced run takes to end */

void
barrier_init(struct barrier *barrier, uint32_t n_threads)
{
    atomic_init(&barrier->n_waiting, 0);
    atomic_init(&barrier->generation, 0);
    atomic_init(&barrier->n_sleepers, 0);
    barrier->n_threads = n_threads;
    /* With more threads than cores the one that is waited for may not even be running. */
    barrier->n_spins = sysconf(_SC_NPROCESSORS_ONLN) >= (long)n_threads ? SPINS : 0;
    pthread_mutex_init(&barrier->mutex, NULL);
    pthread_cond_init(&barrier->cond, NULL);
}

void
barrier_clear(struct barrier *barrier)
{
    pthread_cond_destroy(&barrier->cond);
    pthread_mutex_destroy(&barrier->mutex);
}

static inline void
relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void
sleep_until_past(struct barrier *barrier, unsigned generation)
{
    pthread_mutex_lock(&barrier->mutex);
    atomic_fetch_add(&barrier->n_sleepers, 1);
    while (atomic_load(&barrier->generation) == generation) {
        pthread_cond_wait(&barrier->cond, &barrier->mutex);
    }
    atomic_fetch_sub(&barrier->n_sleepers, 1);
    pthread_mutex_unlock(&barrier->mutex);
}

void
barrier_wait(struct barrier *barrier)
{
    unsigned generation =
        atomic_load_explicit(&barrier->generation, memory_order_relaxed);

    if (barrier->n_threads == 1) {
        return;
    }
    if (atomic_fetch_add_explicit(&barrier->n_waiting, 1, memory_order_acq_rel) + 1 ==
        barrier->n_threads) {
        atomic_store_explicit(&barrier->n_waiting, 0, memory_order_relaxed);
        atomic_store(&barrier->generation, generation + 1);
        if (atomic_load(&barrier->n_sleepers)) {
            pthread_mutex_lock(&barrier->mutex);
            pthread_cond_broadcast(&barrier->cond);
            pthread_mutex_unlock(&barrier->mutex);
        }
        return;
    }
    for (int i = 0; i < barrier->n_spins; i++) {
        if (atomic_load_explicit(&barrier->generation, memory_order_acquire) !=
            generation) {
            return;
        }
        relax();
    }
    sleep_until_past(barrier, generation);
}
