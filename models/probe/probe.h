/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * probe.h - what a run lets be seen: records kept by process, merged, streamed.
 *
 * Each process appends to a buffer of its own; at an epoch all buffers are merged in the
 * order of probe_merge() and handed to the sink.  So the output does not depend on the
 * partition, memory is bounded by an epoch, and a probe that is off costs one test.
 */
#ifndef ROCESIM_MODELS_PROBE_PROBE_H
#define ROCESIM_MODELS_PROBE_PROBE_H

#include "sim/units.h"

/* What is recorded. */
enum probe_kind {
    PROBE_PAUSE, /* a pause that has ended: a = start ps, b = causing egress port, c = 1:
                    that one was held by a pause itself, else 0 */
    PROBE_QUEUE, /* sample of a port's class: a = queue bytes, b = bytes sent since the
                    last sample, c = 1: paused, else 0 */
    PROBE_RATE,  /* sample of a QP: a = rate bps that it may send at, b = bytes of payload
                    sent for the first time since the last sample */
    PROBE_PAUSE_HEARD, /* a pause frame at the port it is for: a = 1: stop, 0: go on */
};

/* Something seen; what a, b and c are says the kind. */
struct probe_record {
    int64_t time_ps;
    uint32_t object; /* dense id of the port or QP */
    uint16_t cls;
    uint16_t kind; /* enum probe_kind */
    int64_t a, b, c;
};

/* Buffer of one process. */
struct probe {
    struct probe_record *records; /* owned */
    uint32_t n, cap;
    uint32_t wanted; /* bit k: records of kind k are kept */
};

/* Where merged records go.  Called in order, in the first thread. */
struct probe_sink {
    void (*on_record)(void *ctx, const struct probe_record *record);
    void *ctx;     /* borrowed */
    uint32_t skip; /* bit k: records of kind k are not wanted */
};

/* Frees the memory of 'probe', not the probe. */
void probe_clear(struct probe *probe);

/* Private: appends. */
void probe_add__(struct probe *probe, const struct probe_record *record);

static inline bool
probe_wants(const struct probe *probe, enum probe_kind kind)
{
    return probe->wanted >> kind & 1;
}

/* Keeps 'record' when its kind is wanted. */
static inline void
probe_add(struct probe *probe, const struct probe_record *record)
{
    if (probe_wants(probe, (enum probe_kind)record->kind)) {
        probe_add__(probe, record);
    }
}

/* Hands the records of all 'n' probes to 'sink' in order of (time, kind, object, class)
 * and empties them.  O(r log r). */
void probe_merge(struct probe *const probes[], uint32_t n, const struct probe_sink *sink);

#endif
