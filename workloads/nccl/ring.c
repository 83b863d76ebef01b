/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring.c - a communicator that plays ring all_reduces, Simple protocol.
 * Plays the plans of ring_plan.c; owned and driven by a workload, which binds it to a
 * network.
 *
 * Source: NCCL 2.30.7 src/device/prims_simple.h, src/transport/net.cc, src/transport/net_ib,
 * restated; see ring.h.
 * Invariants, in steps of a connection:
 *   sender    done <= posted <= filled <= done + 8, posted <= announced
 *   receiver  taken <= arrived <= announced <= taken + 8
 *   A lane is touched only by events of its rank.
 */
#include <config.h>

#include "workloads/nccl/ring.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/units.h"
#include "workloads/nccl/ring_plan.h"

/* Messages that the slots of a connection hold. */
#define RING_SLOTS (NCCL_STEPS / NCCL_SLICE_STEPS)

/* The end of a connection at its sender.  Arrays are indexed by slot_of(steps). */
struct send_end {
    uint64_t filled_steps;    /* by the GPU */
    uint64_t posted_steps;    /* by the proxy */
    uint64_t announced_steps; /* by the receiver's clear-to-send */
    uint64_t done_steps;      /* completed: the slot may be filled again */
    int64_t size_bytes[RING_SLOTS];
    int64_t filled_ps[RING_SLOTS];    /* when the proxy sees it */
    int64_t announced_ps[RING_SLOTS]; /* likewise */
    int64_t done_ps[RING_SLOTS];      /* when the GPU sees it */
    uint64_t qps_left[RING_SLOTS];    /* bit set: queue pairs that owe a completion */
};

/* The end of a connection at its receiver. */
struct recv_end {
    uint64_t announced_steps; /* clear-to-send posted */
    uint64_t wanted_steps;    /* the rank's calls so far want these */
    uint64_t arrived_steps;   /* in order */
    uint64_t taken_steps;     /* by the GPU */
    int64_t size_bytes[RING_SLOTS];
    int64_t arrived_ps[RING_SLOTS]; /* when the GPU sees it */
    int64_t taken_ps[RING_SLOTS];   /* when the proxy sees it */
    uint64_t qps_left[RING_SLOTS];  /* bit set: queue pairs that owe data */
};

/* A rank's channel.  The GPU's position is (loop, op, slice). */
struct lane {
    _Alignas(64) int64_t loop;
    uint32_t op;
    uint32_t slice;
    bool active;  /* in a call */
    bool copying; /* slice in work until the GPU timer */
    bool armed[RING_N_TIMERS];
    struct ring_loop current; /* read only while active, as are */
    int64_t slice_bytes[NCCL_SLICES_PER_CHUNK];
    struct ring_plan plan;
    struct send_end send; /* to the next rank */
    struct recv_end recv; /* from the previous rank */
};

/* Where a lane stands in its ring; const. */
struct place {
    uint32_t pos;
    uint32_t next;
    uint32_t prev;
    bool next_local;
    bool prev_local;
};

struct rank {
    _Alignas(64) const struct ring_call *call; /* borrowed; NULL while idle */
    uint32_t n_lanes_left;
    int64_t start_ps;
    int64_t proxy_free_ps; /* the proxy thread's last promised post ends */
};

struct ring {
    struct ring_config config; /* 'order' and 'host' are not kept */
    const struct ring_transport *transport;
    void *net;
    int64_t cts_bytes;
    struct place *places; /* [n_ranks][n_channels], as lanes */
    struct lane *lanes;
    struct rank *ranks;
};

static void *
alloc_lines(size_t n, size_t size)
{
    void *p = aligned_alloc(64, (n * size + 63) / 64 * 64);

    if (!p) {
        abort();
    }
    memset(p, 0, n * size);
    return p;
}

static int64_t
max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint32_t
slot_of(uint64_t steps)
{
    return (uint32_t)(steps / NCCL_SLICE_STEPS % RING_SLOTS);
}

static uint32_t
lane_index(const struct ring *ring, uint32_t rank, uint32_t channel)
{
    return rank * ring->config.n_channels + channel;
}

static void
arm(struct ring *ring, uint32_t lane, enum ring_timer timer, int64_t when_ps)
{
    uint32_t n = ring->config.n_channels;

    assert(!ring->lanes[lane].armed[timer]);
    ring->lanes[lane].armed[timer] = true;
    ring->transport->at(ring->net, lane / n, lane % n, timer, when_ps);
}

/* The queue pairs that carry message 'steps' of a connection: all, or in turn one. */
static uint64_t
qps_of(const struct ring *ring, uint64_t steps)
{
    uint32_t n = ring->config.n_qps;

    if (ring->config.split_data) {
        return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    }
    return UINT64_C(1) << (steps / NCCL_SLICE_STEPS % n);
}

/* Clears 'qp' in the oldest message of [from, to) that still waits for it: a queue pair
 * keeps order, so that is the one.  Returns its slot. */
static uint32_t
clear_qp(uint64_t qps_left[RING_SLOTS], uint64_t from_steps, uint64_t to_steps,
         uint32_t qp)
{
    for (uint64_t s = from_steps; s < to_steps; s += NCCL_SLICE_STEPS) {
        if (qps_left[slot_of(s)] >> qp & 1) {
            qps_left[slot_of(s)] ^= UINT64_C(1) << qp;
            return slot_of(s);
        }
    }
    assert(false); /* the transport delivered what was not posted */
    return 0;
}

/* When a post that is possible from 'ready_ps' leaves the rank's only proxy thread. */
static int64_t
proxy_post_ps(struct ring *ring, uint32_t lane, int64_t ready_ps, int64_t now_ps)
{
    struct rank *rank = &ring->ranks[lane / ring->config.n_channels];
    int64_t when_ps = max_i64(ready_ps, now_ps);

    if (ring->config.costs.post_ps > 0) {
        when_ps = max_i64(when_ps, rank->proxy_free_ps) + ring->config.costs.post_ps;
        rank->proxy_free_ps = when_ps;
    }
    return when_ps;
}

/* ---- send proxy ------------------------------------------------------------------------ */

static void
post_data(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct send_end *s = &ring->lanes[lane].send;
    uint32_t slot = slot_of(s->posted_steps);
    uint64_t qps = qps_of(ring, s->posted_steps);
    int64_t left_bytes = s->size_bytes[slot];
    int64_t piece_bytes = left_bytes;

    if (ring->config.split_data) { /* whole lines of 128 B, the last one what is left */
        int64_t n = ring->config.n_qps;

        piece_bytes = ((left_bytes + n - 1) / n + 127) / 128 * 128;
    }
    s->qps_left[slot] = qps;
    s->posted_steps += NCCL_SLICE_STEPS;
    for (; qps != 0; qps &= qps - 1) {
        int64_t bytes = piece_bytes < left_bytes ? piece_bytes : left_bytes;

        ring->transport->send_data(ring->net, lane, (uint32_t)__builtin_ctzll(qps), bytes,
                                   (uint32_t)s->size_bytes[slot], now_ps);
        left_bytes -= bytes;
    }
}

/* Posts what is filled and announced. */
static void
send_proxy(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct lane *l = &ring->lanes[lane];
    struct send_end *s = &l->send;

    while (!l->armed[RING_TIMER_SEND] && s->posted_steps < s->filled_steps &&
           s->posted_steps < s->announced_steps) {
        uint32_t slot = slot_of(s->posted_steps);
        int64_t ready_ps = max_i64(s->filled_ps[slot], s->announced_ps[slot]);
        int64_t when_ps = proxy_post_ps(ring, lane, ready_ps, now_ps);

        if (when_ps > now_ps) {
            arm(ring, lane, RING_TIMER_SEND, when_ps);
        } else {
            post_data(ring, lane, now_ps);
        }
    }
}

/* ---- receive proxy --------------------------------------------------------------------- */

static void
post_cts(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct recv_end *r = &ring->lanes[lane].recv;
    uint32_t channel = lane % ring->config.n_channels;
    uint32_t conn = lane_index(ring, ring->places[lane].prev, channel);
    uint32_t slot = slot_of(r->announced_steps);

    r->qps_left[slot] = qps_of(ring, r->announced_steps);
    r->size_bytes[slot] = 0;
    r->announced_steps += NCCL_SLICE_STEPS;
    ring->transport->send_cts(ring->net, conn, ring->cts_bytes, now_ps);
}

/* Announces slots that are free and that the call wants. */
static void
recv_proxy(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct lane *l = &ring->lanes[lane];
    struct recv_end *r = &l->recv;

    while (!l->armed[RING_TIMER_CTS] && r->announced_steps < r->wanted_steps &&
           r->announced_steps < r->taken_steps + NCCL_STEPS) {
        int64_t ready_ps = r->taken_ps[slot_of(r->announced_steps)];
        int64_t when_ps = proxy_post_ps(ring, lane, ready_ps, now_ps);

        if (when_ps > now_ps) {
            arm(ring, lane, RING_TIMER_CTS, when_ps);
        } else {
            post_cts(ring, lane, now_ps);
        }
    }
}

/* ---- GPU ------------------------------------------------------------------------------- */

static bool
gpu_receives(const struct lane *l)
{
    return ring_plan_receives(l->op);
}

static bool
gpu_sends(const struct lane *l)
{
    return ring_plan_sends(l->plan.n_ranks, l->op);
}

/* Slices of the chunk that the current operation handles. */
static void
load_op(struct ring *ring, uint32_t lane)
{
    struct lane *l = &ring->lanes[lane];
    uint32_t c = ring_plan_chunk(l->plan.n_ranks, ring->places[lane].pos, l->op);

    if (l->op == 0) {
        l->current = ring_plan_loop(&l->plan, l->loop);
    }
    ring_plan_slices(&l->plan, ring_loop_chunk(&l->current, c).size_bytes,
                     l->slice_bytes);
}

static int64_t
slice_time_ps(const struct ring *ring, const struct lane *l)
{
    const struct ring_costs *costs = &ring->config.costs;
    int64_t rate_bps =
        ring_plan_reduces(l->plan.n_ranks, l->op) ? costs->reduce_bps : costs->copy_bps;

    return rate_bps > 0 ? sim_tx_time_ps(l->slice_bytes[l->slice], rate_bps) : 0;
}

/* The slice is copied: its slot at the receive side is free, that at the send side full. */
static void
end_slice(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct lane *l = &ring->lanes[lane];
    const struct place *place = &ring->places[lane];
    int64_t bytes = l->slice_bytes[l->slice];
    int64_t seen_ps = now_ps + ring->config.costs.poll_ps;

    if (gpu_receives(l)) {
        struct recv_end *r = &l->recv;

        assert(r->size_bytes[slot_of(r->taken_steps)] == bytes);
        r->taken_ps[slot_of(r->taken_steps)] = seen_ps;
        r->taken_steps += NCCL_SLICE_STEPS;
        if (place->prev_local) {
            uint32_t channel = lane % ring->config.n_channels;

            ring->transport->send_credit(ring->net,
                                         lane_index(ring, place->prev, channel), now_ps);
        } else {
            recv_proxy(ring, lane, now_ps);
        }
    }
    if (gpu_sends(l)) {
        struct send_end *s = &l->send;

        s->size_bytes[slot_of(s->filled_steps)] = bytes;
        s->filled_ps[slot_of(s->filled_steps)] = seen_ps;
        s->filled_steps += NCCL_SLICE_STEPS;
        if (place->next_local) {
            s->posted_steps = s->filled_steps;
            ring->transport->send_local(ring->net, lane, bytes, now_ps);
        } else {
            send_proxy(ring, lane, now_ps);
        }
    }
    if (++l->slice < NCCL_SLICES_PER_CHUNK) {
        return;
    }
    l->slice = 0;
    if (++l->op == ring_plan_n_ops(l->plan.n_ranks)) {
        l->op = 0;
        l->loop++;
    }
    l->active = l->loop < l->plan.n_loops;
    if (l->active) {
        load_op(ring, lane);
    }
}

/* True when the next slice has its data and its slot; 'seen_ps' is when the GPU knows. */
static bool
slice_is_possible(const struct lane *l, int64_t *seen_ps)
{
    const struct recv_end *r = &l->recv;
    const struct send_end *s = &l->send;

    *seen_ps = 0;
    if (gpu_receives(l)) {
        if (r->arrived_steps == r->taken_steps) {
            return false;
        }
        *seen_ps = r->arrived_ps[slot_of(r->taken_steps)];
    }
    if (gpu_sends(l)) {
        if (s->filled_steps + NCCL_SLICE_STEPS > s->done_steps + NCCL_STEPS) {
            return false;
        }
        *seen_ps = max_i64(*seen_ps, s->done_ps[slot_of(s->filled_steps)]);
    }
    return true;
}

/* Ends the slice and, with the last one, the rank's call; true if that was it: then the
 * rank may be in its next call already. */
static bool
end_slice_or_call(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    uint32_t rank = lane / ring->config.n_channels;
    struct rank *r = &ring->ranks[rank];

    end_slice(ring, lane, now_ps);
    if (ring->lanes[lane].active || --r->n_lanes_left > 0) {
        return false;
    }
    r->call = NULL;
    ring->transport->finished(ring->net, rank, r->start_ps, now_ps);
    return true;
}

/* Does the slices that can be done now, in order. */
static void
gpu(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct lane *l = &ring->lanes[lane];
    int64_t seen_ps, time_ps;

    while (l->active && !l->armed[RING_TIMER_GPU] && slice_is_possible(l, &seen_ps)) {
        if (seen_ps > now_ps) {
            arm(ring, lane, RING_TIMER_GPU, seen_ps);
            return;
        }
        time_ps = slice_time_ps(ring, l);
        if (time_ps > 0) {
            l->copying = true;
            arm(ring, lane, RING_TIMER_GPU, now_ps + time_ps);
            return;
        }
        if (end_slice_or_call(ring, lane, now_ps)) {
            return;
        }
    }
}

/* ---- setting up ------------------------------------------------------------------------ */

void
ring_config_init(struct ring_config *config, uint32_t n_ranks, uint32_t n_channels)
{
    *config = (struct ring_config){
        .n_ranks = n_ranks,
        .n_channels = n_channels,
        .version = NCCL_VERSION_DEFAULT,
        .buffer_bytes = NCCL_BUFFSIZE_DEFAULT,
        .max_threads = channels_simple_threads(false),
        .n_qps = 1,
        .split_data = nccl_version_splits_data(NCCL_VERSION_DEFAULT),
    };
}

bool
ring_order_is_valid(const uint32_t order[], uint32_t n_ranks)
{
    bool *seen = calloc(n_ranks, sizeof *seen);
    bool valid = true;

    if (!seen) {
        abort();
    }
    for (uint32_t i = 0; i < n_ranks && valid; i++) {
        valid = order[i] < n_ranks && !seen[order[i]];
        if (valid) {
            seen[order[i]] = true;
        }
    }
    free(seen);
    return valid;
}

struct ring *
ring_new(const struct ring_config *config, const struct ring_transport *transport,
         void *net)
{
    size_t n_lanes = (size_t)config->n_ranks * config->n_channels;
    struct ring *ring = calloc(1, sizeof *ring);

    assert(config->n_ranks >= 1);
    assert(config->n_channels >= 1 && config->n_channels <= NCCL_MAX_CHANNELS);
    assert(config->n_qps >= 1 && config->n_qps <= RING_MAX_QPS);
    assert(config->buffer_bytes >= 8192 && config->buffer_bytes % 8192 == 0);
    if (!ring) {
        abort();
    }
    ring->config = *config;
    ring->config.order = NULL;
    ring->config.host = NULL;
    ring->transport = transport;
    ring->net = net;
    ring->cts_bytes = nccl_version_cts_bytes(config->version);
    ring->places = alloc_lines(n_lanes, sizeof *ring->places);
    ring->lanes = alloc_lines(n_lanes, sizeof *ring->lanes);
    ring->ranks = alloc_lines(config->n_ranks, sizeof *ring->ranks);
    for (uint32_t c = 0; c < config->n_channels; c++) {
        const uint32_t *order = config->order + (size_t)c * config->n_ranks;

        assert(ring_order_is_valid(order, config->n_ranks));
        for (uint32_t pos = 0; pos < config->n_ranks; pos++) {
            uint32_t rank = order[pos];
            uint32_t next = order[(pos + 1) % config->n_ranks];
            uint32_t prev = order[(pos + config->n_ranks - 1) % config->n_ranks];

            ring->places[lane_index(ring, rank, c)] = (struct place){
                .pos = pos,
                .next = next,
                .prev = prev,
                .next_local = config->host[rank] == config->host[next],
                .prev_local = config->host[rank] == config->host[prev],
            };
        }
    }
    return ring;
}

void
ring_free(struct ring *ring)
{
    if (ring) {
        free(ring->places);
        free(ring->lanes);
        free(ring->ranks);
        free(ring);
    }
}

void
ring_call_init(const struct ring *ring, struct ring_call *call, int64_t size_bytes,
               uint32_t elem_bytes)
{
    const struct ring_config *config = &ring->config;
    struct channels_width width =
        channels_for_ring(size_bytes, config->n_ranks, config->n_channels,
                          config->max_threads, NCCL_PROTO_SIMPLE);
    struct channels_task task = {
        .func = NCCL_ALL_REDUCE,
        .count = size_bytes / elem_bytes,
        .elem_bytes = elem_bytes,
        .n_channels = width.n_channels,
        .proto = NCCL_PROTO_SIMPLE,
    };

    assert(size_bytes >= 0 && size_bytes % elem_bytes == 0);
    *call = (struct ring_call){.size_bytes = size_bytes, .elem_bytes = elem_bytes};
    if (nccl_version_has_cbd(config->version)) {
        channels_split_cbd(&task, 1, config->n_ranks, config->n_channels, &call->split);
    } else {
        call->split = channels_split_even(&task, width.n_threads);
    }
}

uint32_t
ring_conn(const struct ring *ring, uint32_t rank, uint32_t channel)
{
    return lane_index(ring, rank, channel);
}

uint32_t
ring_n_conns(const struct ring *ring)
{
    return ring->config.n_ranks * ring->config.n_channels;
}

uint32_t
ring_conn_sender(const struct ring *ring, uint32_t conn)
{
    return conn / ring->config.n_channels;
}

uint32_t
ring_conn_receiver(const struct ring *ring, uint32_t conn)
{
    return ring->places[conn].next;
}

bool
ring_conn_is_local(const struct ring *ring, uint32_t conn)
{
    return ring->places[conn].next_local;
}

/* ---- events ---------------------------------------------------------------------------- */

bool
ring_start(struct ring *ring, uint32_t rank, const struct ring_call *call, int64_t now_ps)
{
    uint32_t lo = call->split.channel_lo, n = call->split.n_channels;
    struct rank *r = &ring->ranks[rank];

    assert(!r->call);
    if (n == 0 || ring->config.n_ranks == 1) {
        return true;
    }
    r->call = call;
    r->n_lanes_left = n;
    r->start_ps = now_ps;
    for (uint32_t i = lane_index(ring, rank, lo); i < lane_index(ring, rank, lo + n);
         i++) {
        struct lane *l = &ring->lanes[i];

        ring_plan_init(&l->plan, &call->split, i % ring->config.n_channels,
                       ring->config.n_ranks, call->elem_bytes, ring->config.buffer_bytes);
        l->loop = 0;
        l->op = 0;
        l->slice = 0;
        l->active = true;
        load_op(ring, i);
        l->recv.wanted_steps +=
            (uint64_t)ring_plan_n_messages(&l->plan) * NCCL_SLICE_STEPS;
        if (!ring->places[i].prev_local) {
            recv_proxy(ring, i, now_ps);
        }
        if (ring->config.costs.launch_ps > 0) {
            arm(ring, i, RING_TIMER_GPU, now_ps + ring->config.costs.launch_ps);
        } else {
            gpu(ring, i, now_ps);
        }
    }
    return false;
}

bool
ring_is_busy(const struct ring *ring, uint32_t rank)
{
    return ring->ranks[rank].call != NULL;
}

void
ring_on_data(struct ring *ring, uint32_t conn, uint32_t qp, int64_t size_bytes,
             int64_t now_ps)
{
    uint32_t lane =
        lane_index(ring, ring->places[conn].next, conn % ring->config.n_channels);
    struct recv_end *r = &ring->lanes[lane].recv;

    if (ring->places[conn].next_local) {
        uint32_t slot = slot_of(r->arrived_steps);

        r->size_bytes[slot] = size_bytes;
        r->arrived_ps[slot] = now_ps;
        r->arrived_steps += NCCL_SLICE_STEPS;
    } else {
        uint32_t slot = clear_qp(r->qps_left, r->arrived_steps, r->announced_steps, qp);

        r->size_bytes[slot] += size_bytes;
        /* the proxy tests its requests in order */
        while (r->arrived_steps < r->announced_steps &&
               r->qps_left[slot_of(r->arrived_steps)] == 0) {
            r->arrived_ps[slot_of(r->arrived_steps)] =
                now_ps + ring->config.costs.poll_ps;
            r->arrived_steps += NCCL_SLICE_STEPS;
        }
    }
    gpu(ring, lane, now_ps);
}

void
ring_on_cts(struct ring *ring, uint32_t conn, int64_t now_ps)
{
    struct send_end *s = &ring->lanes[conn].send;

    s->announced_ps[slot_of(s->announced_steps)] = now_ps + ring->config.costs.poll_ps;
    s->announced_steps += NCCL_SLICE_STEPS;
    send_proxy(ring, conn, now_ps);
}

void
ring_on_sent(struct ring *ring, uint32_t conn, uint32_t qp, int64_t now_ps)
{
    struct send_end *s = &ring->lanes[conn].send;

    clear_qp(s->qps_left, s->done_steps, s->posted_steps, qp);
    while (s->done_steps < s->posted_steps && s->qps_left[slot_of(s->done_steps)] == 0) {
        s->done_ps[slot_of(s->done_steps)] = now_ps + ring->config.costs.poll_ps;
        s->done_steps += NCCL_SLICE_STEPS;
    }
    gpu(ring, conn, now_ps);
}

void
ring_on_credit(struct ring *ring, uint32_t conn, int64_t now_ps)
{
    struct send_end *s = &ring->lanes[conn].send;

    assert(ring->places[conn].next_local && s->done_steps < s->posted_steps);
    s->done_ps[slot_of(s->done_steps)] = now_ps;
    s->done_steps += NCCL_SLICE_STEPS;
    gpu(ring, conn, now_ps);
}

void
ring_on_timer(struct ring *ring, uint32_t rank, uint32_t channel, enum ring_timer timer,
              int64_t now_ps)
{
    uint32_t lane = lane_index(ring, rank, channel);
    struct lane *l = &ring->lanes[lane];

    assert(l->armed[timer]);
    l->armed[timer] = false;
    switch (timer) {
    case RING_TIMER_GPU:
        if (l->copying) {
            l->copying = false;
            if (end_slice_or_call(ring, lane, now_ps)) {
                break;
            }
        }
        gpu(ring, lane, now_ps);
        break;
    case RING_TIMER_SEND:
        post_data(ring, lane, now_ps);
        send_proxy(ring, lane, now_ps);
        break;
    case RING_TIMER_CTS:
        post_cts(ring, lane, now_ps);
        recv_proxy(ring, lane, now_ps);
        break;
    case RING_N_TIMERS:
        assert(false);
        break;
    }
}

/* ---- inspection ------------------------------------------------------------------------ */

bool
ring_describe_wait(const struct ring *ring, uint32_t rank, uint32_t channel, char *text,
                   size_t n_text)
{
    uint32_t lane = lane_index(ring, rank, channel);
    const struct place *place = &ring->places[lane];
    const struct lane *l = &ring->lanes[lane];
    const struct send_end *s = &l->send;
    bool slots_full = s->filled_steps + NCCL_SLICE_STEPS > s->done_steps + NCCL_STEPS;
    char data[64] = "", slot[96] = "";

    if (l->active && gpu_receives(l) && l->recv.arrived_steps == l->recv.taken_steps) {
        snprintf(data, sizeof data, "data of step %llu from rank %u",
                 (unsigned long long)l->recv.taken_steps, place->prev);
    }
    if (s->posted_steps < s->filled_steps && s->posted_steps == s->announced_steps) {
        snprintf(slot, sizeof slot, "clear-to-send of step %llu from rank %u",
                 (unsigned long long)s->posted_steps, place->next);
    } else if (l->active && gpu_sends(l) && slots_full) {
        snprintf(slot, sizeof slot, "a slot: step %llu to rank %u is not %s",
                 (unsigned long long)s->done_steps, place->next,
                 place->next_local ? "taken" : "completed");
    }
    snprintf(text, n_text, "%s", "");
    if (!*data && !*slot) {
        return false;
    }
    snprintf(text, n_text, "rank %u channel %u waits for %s%s%s", rank, channel, data,
             *data && *slot ? " and for " : "", slot);
    return true;
}

void
ring_check(const struct ring *ring, uint32_t rank)
{
    uint32_t n_active = 0;

    for (uint32_t c = 0; c < ring->config.n_channels; c++) {
        uint32_t i = lane_index(ring, rank, c);
        const struct lane *l = &ring->lanes[i];
        const struct send_end *s = &l->send;
        const struct recv_end *r = &l->recv;
        bool ok = s->done_steps <= s->posted_steps &&
                  s->posted_steps <= s->filled_steps &&
                  s->filled_steps <= s->done_steps + NCCL_STEPS &&
                  r->taken_steps <= r->arrived_steps &&
                  r->arrived_steps <= r->taken_steps + NCCL_STEPS;

        if (!ring->places[i].next_local) {
            ok = ok && s->posted_steps <= s->announced_steps &&
                 s->announced_steps <= s->done_steps + 2 * NCCL_STEPS;
        }
        if (!ring->places[i].prev_local) {
            ok = ok && r->arrived_steps <= r->announced_steps &&
                 r->announced_steps <= r->wanted_steps &&
                 r->announced_steps <= r->taken_steps + NCCL_STEPS;
        }
        ok = ok && (l->active || r->taken_steps == r->wanted_steps);
        n_active += l->active;
        if (!ok) {
            fprintf(stderr, "ring: counters of rank %u channel %u contradict\n", rank, c);
            abort();
        }
    }
    if (n_active > 0 && !ring_is_busy(ring, rank)) {
        fprintf(stderr, "ring: rank %u is idle with %u channels in work\n", rank,
                n_active);
        abort();
    }
}
