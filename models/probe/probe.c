/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * probe.c - buffers of records and their ordered merge.
 * Invariant: after a merge every buffer is empty; the order is that of (time, kind,
 * object, class), which no two records share.
 */
#include <config.h>

#include "models/probe/probe.h"

#include <stdlib.h>
#include <string.h>

#include "sim/mem.h"

void
probe_clear(struct probe *probe)
{
    free(probe->records);
    *probe = (struct probe){0};
}

void
probe_add__(struct probe *probe, const struct probe_record *record)
{
    if (probe->n == probe->cap) {
        probe->records =
            mem_double(probe->records, &probe->cap, 64, sizeof *probe->records);
    }
    probe->records[probe->n++] = *record;
}

static int
compare_records(const void *pa, const void *pb)
{
    const struct probe_record *a = pa, *b = pb;

    if (a->time_ps != b->time_ps) {
        return a->time_ps < b->time_ps ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->object != b->object) {
        return a->object < b->object ? -1 : 1;
    }
    return (a->cls > b->cls) - (a->cls < b->cls);
}

void
probe_merge(struct probe *const probes[], uint32_t n, const struct probe_sink *sink)
{
    uint32_t n_all = 0, at = 0;

    for (uint32_t i = 0; i < n; i++) {
        n_all += probes[i]->n;
    }
    if (n_all == 0) {
        return;
    }
    struct probe_record *all = mem_resize(NULL, n_all, sizeof *all);

    for (uint32_t i = 0; i < n; i++) {
        if (probes[i]->n) {
            memcpy(&all[at], probes[i]->records, probes[i]->n * sizeof *all);
        }
        at += probes[i]->n;
        probes[i]->n = 0;
    }
    qsort(all, n_all, sizeof *all, compare_records);
    for (uint32_t i = 0; i < n_all; i++) {
        sink->on_record(sink->ctx, &all[i]);
    }
    free(all);
}
