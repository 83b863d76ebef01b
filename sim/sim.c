/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sim.c - windows, threads and epochs of sim.h.
 *
 * Each worker publishes one time a window; after the barrier all read all of them and so
 * take the same next step without a second barrier.  Published times and mailboxes are
 * double: a worker may be one window ahead of one that still reads.
 */
#include <config.h>

#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/barrier.h"
#include "sim/mem.h"

struct published {
    _Alignas(64) _Atomic int64_t next_ps[2];
};

/* What the workers of one run share. */
struct run {
    struct sim *sim;
    struct barrier barrier;
    bool go_on;
    struct published published[SIM_MAX_THREADS];
};

struct worker_arg {
    struct run *run;
    uint32_t id;
    pthread_t thread;
};

struct sim *
sim_new(uint64_t seed, uint32_t n_lps, const struct sim_ops *ops, void *user)
{
    struct sim *sim = mem_zero(1, sizeof *sim);

    *sim = (struct sim){.seed = seed,
                        .ops = ops,
                        .user = user,
                        .n_lps = n_lps,
                        .lookahead_ps = TIME_NEVER_PS / 2,
                        .stop_ps = TIME_NEVER_PS};
    sim->lps = mem_zero_lines(n_lps, sizeof *sim->lps);
    for (uint32_t i = 0; i < n_lps; i++) {
        sim->lps[i].id = i;
        sim->lps[i].sim = sim;
        sim->lps[i].weight = 1;
        sim->lps[i].sent_min_ps = TIME_NEVER_PS;
        event_queue_init(&sim->lps[i].queue);
    }
    return sim;
}

void
sim_free(struct sim *sim)
{
    if (!sim) {
        return;
    }
    for (uint32_t i = 0; i < sim->n_lps; i++) {
        event_queue_clear(&sim->lps[i].queue);
        for (uint32_t w = 0; w < sim->n_threads; w++) {
            free(sim->lps[i].mail[w].box[0].parcels);
            free(sim->lps[i].mail[w].box[1].parcels);
        }
        free(sim->lps[i].mail);
    }
    for (uint32_t i = 0; sim->workers && i < sim->n_threads; i++) {
        pool_clear(&sim->workers[i].pool);
        free(sim->workers[i].lps);
    }
    free(sim->workers);
    free(sim->lps);
    free(sim);
}

void
sim_connect(struct sim *sim, uint32_t from, uint32_t to, int64_t lookahead_ps)
{
    if (from != to && lookahead_ps < sim->lookahead_ps) {
        sim->lookahead_ps = lookahead_ps;
    }
}

/* Heaviest first, each to the worker with the least so far. */
static void
deal_out(struct sim *sim)
{
    int64_t load[SIM_MAX_THREADS] = {0};

    for (uint32_t done = 0; done < sim->n_lps; done++) {
        struct lp *heaviest = NULL;
        uint32_t least = 0;

        for (uint32_t i = 0; i < sim->n_lps; i++) {
            struct lp *lp = &sim->lps[i];

            if (!lp->pool && (!heaviest || lp->weight > heaviest->weight)) {
                heaviest = lp;
            }
        }
        for (uint32_t w = 1; w < sim->n_threads; w++) {
            if (load[w] < load[least]) {
                least = w;
            }
        }
        load[least] += heaviest->weight + 1;
        heaviest->worker = least;
        heaviest->pool = &sim->workers[least].pool;
        sim->workers[least].n_lps++;
    }
    for (uint32_t w = 0; w < sim->n_threads; w++) {
        struct sim_worker *worker = &sim->workers[w];
        uint32_t n = 0;

        worker->lps = mem_zero(worker->n_lps, sizeof *worker->lps);
        for (uint32_t i = 0; i < sim->n_lps; i++) {
            if (sim->lps[i].worker == w) {
                worker->lps[n++] = i;
            }
        }
    }
}

void
sim_start(struct sim *sim, uint32_t n_threads)
{
    sim->n_threads = n_threads;
    sim->workers = mem_zero(n_threads, sizeof *sim->workers);
    for (uint32_t w = 0; w < n_threads; w++) {
        pool_init(&sim->workers[w].pool);
    }
    deal_out(sim);
    for (uint32_t i = 0; i < sim->n_lps; i++) {
        sim->lps[i].mail = mem_zero_lines(n_threads, sizeof *sim->lps[i].mail);
    }
}

static void
lp_run(struct lp *lp, int64_t until_ps, const struct sim_ops *ops)
{
    struct event_queue *queue = &lp->queue;
    const struct event *next;

    while ((next = event_queue_peek(queue, until_ps)) != NULL) {
        struct event event = *next;

        event_queue_drop(queue);
        lp->now_ps = event.time_ps;
        if (unlikely(event_is_background(event.key))) {
            lp->n_background_done++;
        }
        ops->handle(lp, &event);
    }
}

/* Least time that 'worker' holds or has sent. */
static int64_t
run_window(struct sim *sim, const struct sim_worker *worker, uint32_t window,
           int64_t until_ps)
{
    int64_t least = TIME_NEVER_PS;

    for (uint32_t i = 0; i < worker->n_lps; i++) {
        struct lp *lp = &sim->lps[worker->lps[i]];

        lp_begin_window(lp, window);
        lp_run(lp, until_ps, sim->ops);
        int64_t next_ps = event_queue_next_ps(&lp->queue);

        if (lp->sent_min_ps < next_ps) {
            next_ps = lp->sent_min_ps;
        }
        if (next_ps < least) {
            least = next_ps;
        }
    }
    return least;
}

static int64_t
least_published(const struct run *run, uint32_t parity)
{
    int64_t least = TIME_NEVER_PS;

    for (uint32_t w = 0; w < run->sim->n_threads; w++) {
        int64_t t = atomic_load_explicit(&run->published[w].next_ps[parity],
                                         memory_order_acquire);

        if (t < least) {
            least = t;
        }
    }
    return least;
}

/* The first epoch after the last one at 'epoch_ps' that 'next_ps' lies before, or the
 * stop when that comes first.  With no event left, simply the next epoch. */
static int64_t
epoch_after(const struct sim *sim, int64_t epoch_ps, int64_t next_ps)
{
    int64_t from_ps = next_ps == TIME_NEVER_PS ? epoch_ps : next_ps;
    int64_t after_ps = (from_ps / SIM_EPOCH_PS + 1) * SIM_EPOCH_PS;

    return sim->stop_ps > epoch_ps && sim->stop_ps < after_ps ? sim->stop_ps : after_ps;
}

static void
worker_loop(struct run *run, uint32_t id)
{
    struct sim *sim = run->sim;
    uint32_t window = 1;
    int64_t until_ps = 0;             /* a window that is empty only publishes */
    int64_t last_ps = 0;              /* the last epoch */
    int64_t epoch_ps = TIME_NEVER_PS; /* the next one, once chosen */

    for (;; window++) {
        int64_t mine = run_window(sim, &sim->workers[id], window, until_ps);

        atomic_store_explicit(&run->published[id].next_ps[window & 1], mine,
                              memory_order_release);
        barrier_wait(&run->barrier);
        int64_t next_ps = least_published(run, window & 1);

        if (epoch_ps != TIME_NEVER_PS && next_ps >= epoch_ps) {
            if (id == 0) {
                run->go_on = sim->ops->epoch(sim->user, epoch_ps);
            }
            barrier_wait(&run->barrier);
            if (!run->go_on) {
                return;
            }
            /* The epoch may have scheduled events: publish once more before choosing. */
            last_ps = epoch_ps;
            until_ps = epoch_ps;
            epoch_ps = TIME_NEVER_PS;
            continue;
        }
        if (epoch_ps == TIME_NEVER_PS) {
            epoch_ps = epoch_after(sim, last_ps, next_ps);
        }
        until_ps = next_ps < epoch_ps - sim->lookahead_ps ? next_ps + sim->lookahead_ps
                                                          : epoch_ps;
        if (id == 0) {
            sim->n_windows++;
        }
    }
}

static void *
worker_main(void *arg)
{
    struct worker_arg *worker = arg;

    worker_loop(worker->run, worker->id);
    return NULL;
}

void
sim_run(struct sim *sim)
{
    struct run *run = mem_zero_lines(1, sizeof *run);
    struct worker_arg args[SIM_MAX_THREADS];

    run->sim = sim;
    barrier_init(&run->barrier, sim->n_threads);
    for (uint32_t i = 0; i < sim->n_threads; i++) {
        args[i] = (struct worker_arg){.run = run, .id = i};
    }
    for (uint32_t i = 1; i < sim->n_threads; i++) {
        if (pthread_create(&args[i].thread, NULL, worker_main, &args[i]) != 0) {
            fputs("rocesim: cannot start a thread\n", stderr);
            abort();
        }
    }
    worker_loop(run, 0);
    for (uint32_t i = 1; i < sim->n_threads; i++) {
        pthread_join(args[i].thread, NULL);
    }
    barrier_clear(&run->barrier);
    free(run);
}

int64_t
sim_n_mail(const struct sim *sim)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < sim->n_lps; i++) {
        for (uint32_t w = 0; w < sim->n_threads; w++) {
            const struct lp_mailbox *box = lp_mail_held(&sim->lps[i], w);

            n += box ? box->n : 0;
        }
    }
    return n;
}

int64_t
sim_n_foreground(const struct sim *sim)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < sim->n_lps; i++) {
        const struct lp *lp = &sim->lps[i];

        n += event_queue_held(&lp->queue) - lp->n_background_made + lp->n_background_done;
    }
    return n + sim_n_mail(sim);
}

uint64_t
sim_n_events(const struct sim *sim)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < sim->n_lps; i++) {
        n += event_queue_taken(&sim->lps[i].queue) - sim->lps[i].n_background_done;
    }
    return (uint64_t)n;
}

static int64_t
mail_bytes(const struct lp *lp)
{
    int64_t n = 0;

    for (uint32_t w = 0; w < lp->sim->n_threads; w++) {
        n += (int64_t)lp->mail[w].box[0].cap + lp->mail[w].box[1].cap;
    }
    return n * (int64_t)sizeof(struct lp_parcel);
}

int64_t
sim_bytes(const struct sim *sim)
{
    int64_t bytes = 0;

    for (uint32_t i = 0; i < sim->n_lps; i++) {
        bytes += event_queue_bytes(&sim->lps[i].queue) + mail_bytes(&sim->lps[i]);
    }
    for (uint32_t i = 0; i < sim->n_threads; i++) {
        bytes += pool_bytes(&sim->workers[i].pool);
    }
    return bytes;
}
