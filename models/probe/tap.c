/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tap.c - frames seen on the wire, see tap.h.
 * Invariant: after a merge 'held' is sorted and the taps are empty; records of one port
 * and direction that bear the same time keep the order in which they were added.
 */
#include <config.h>

#include "models/probe/tap.h"

#include <stdlib.h>
#include <string.h>

#include "sim/mem.h"

void
tap_clear(struct tap *tap)
{
    free(tap->records);
    *tap = (struct tap){0};
}

static struct tap_record *
new_record(struct tap *tap)
{
    if (tap->n == tap->cap) {
        tap->records = mem_double(tap->records, &tap->cap, 256, sizeof *tap->records);
    }
    return &tap->records[tap->n++];
}

void
tap_add(struct tap *tap, int64_t time_ps, uint32_t port, enum tap_dir dir,
        const struct packet *pkt)
{
    *new_record(tap) =
        (struct tap_record){.time_ps = time_ps, .port = port, .dir = dir, .pkt = *pkt};
}

static int
compare_records(const void *pa, const void *pb)
{
    const struct tap_record *a = pa, *b = pb;

    if (a->time_ps != b->time_ps) {
        return a->time_ps < b->time_ps ? -1 : 1;
    }
    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    if (a->dir != b->dir) {
        return a->dir < b->dir ? -1 : 1;
    }
    return (a->order > b->order) - (a->order < b->order);
}

void
tap_merge(struct tap *held, struct tap *const taps[], uint32_t n, int64_t until_ps,
          const struct tap_sink *sink)
{
    uint32_t done = 0;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < taps[i]->n; k++) {
            *new_record(held) = taps[i]->records[k];
        }
        taps[i]->n = 0;
    }
    /* A port belongs to one process, so its records stand here as they were made. */
    for (uint32_t k = 0; k < held->n; k++) {
        held->records[k].order = k;
    }
    if (held->n > 1) {
        qsort(held->records, held->n, sizeof *held->records, compare_records);
    }
    while (done < held->n && held->records[done].time_ps < until_ps) {
        sink->on_frame(sink->ctx, &held->records[done++]);
    }
    held->n -= done;
    if (held->n && done) {
        memmove(held->records, &held->records[done], held->n * sizeof *held->records);
    }
}
