/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring.c - a communicator that plays ring all_reduces, Simple protocol.
 * Plays the plans of ring_plan.c; owned and driven by a workload, which binds it to a
 * network.
 *
 * Source: NCCL 2.30.7 src/device/prims_simple.h, src/transport/net.cc, src/transport/net_ib,
 * restated; see ring.h.
 * Invariants: ring_state.h.
 */
#include <config.h>

#include "workloads/nccl/ring.h"

#include <assert.h>

#include "sim/units.h"
#include "workloads/nccl/ring_plan.h"
#include "workloads/nccl/ring_state.h"

static int64_t
max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Time of 'size_bytes' at 'rate_bps', rounded up; slices may be beyond tx_time_ps. */
static int64_t
copy_time_ps(int64_t size_bytes, int64_t rate_bps)
{
    return (int64_t)(((__int128)size_bytes * 8 * PS_PER_S + rate_bps - 1) / rate_bps);
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
        if (qps_left[ring_slot(s)] >> qp & 1) {
            qps_left[ring_slot(s)] ^= UINT64_C(1) << qp;
            return ring_slot(s);
        }
    }
    assert(false); /* the transport delivered what was not posted */
    return 0;
}

/* When a post that is possible from 'ready_ps' leaves the rank's only proxy thread. */
static int64_t
proxy_post_ps(struct ring *ring, uint32_t lane, int64_t ready_ps, int64_t now_ps)
{
    struct ring_rank *rank = &ring->ranks[lane / ring->config.n_channels];
    int64_t when_ps = max_i64(ready_ps, now_ps);

    if (ring->config.costs.post_ps > 0) {
        when_ps = max_i64(when_ps, rank->proxy_free_ps) + ring->config.costs.post_ps;
        rank->proxy_free_ps = when_ps;
    }
    return when_ps;
}

/* ---- send proxy -------------------------------------------------------------------- */

static void
post_data(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct ring_send *s = &ring->lanes[lane].send;
    uint32_t slot = ring_slot(s->posted_steps);
    uint64_t qps = qps_of(ring, s->posted_steps);
    int64_t left_bytes = s->size_bytes[slot];
    int64_t piece_bytes = ring->config.split_data
                              ? nccl_piece_bytes(left_bytes, ring->config.n_qps)
                              : left_bytes;

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
    struct ring_lane *l = &ring->lanes[lane];
    struct ring_send *s = &l->send;

    while (!l->armed[RING_TIMER_SEND] && s->posted_steps < s->filled_steps &&
           s->posted_steps < s->announced_steps) {
        uint32_t slot = ring_slot(s->posted_steps);
        int64_t ready_ps = max_i64(s->filled_ps[slot], s->announced_ps[slot]);
        int64_t when_ps = proxy_post_ps(ring, lane, ready_ps, now_ps);

        if (when_ps > now_ps) {
            arm(ring, lane, RING_TIMER_SEND, when_ps);
        } else {
            post_data(ring, lane, now_ps);
        }
    }
}

/* ---- receive proxy ----------------------------------------------------------------- */

static void
post_cts(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct ring_recv *r = &ring->lanes[lane].recv;
    uint32_t channel = lane % ring->config.n_channels;
    uint32_t conn = ring_lane_index(ring, ring->places[lane].prev, channel);
    uint32_t slot = ring_slot(r->announced_steps);

    r->qps_left[slot] = qps_of(ring, r->announced_steps);
    r->size_bytes[slot] = 0;
    r->announced_steps += NCCL_SLICE_STEPS;
    ring->transport->send_cts(ring->net, conn, ring->cts_bytes, now_ps);
}

/* Announces slots that are free and that the call wants. */
static void
recv_proxy(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct ring_lane *l = &ring->lanes[lane];
    struct ring_recv *r = &l->recv;

    while (!l->armed[RING_TIMER_CTS] && r->announced_steps < r->wanted_steps &&
           r->announced_steps < r->taken_steps + NCCL_STEPS) {
        int64_t ready_ps = r->taken_ps[ring_slot(r->announced_steps)];
        int64_t when_ps = proxy_post_ps(ring, lane, ready_ps, now_ps);

        if (when_ps > now_ps) {
            arm(ring, lane, RING_TIMER_CTS, when_ps);
        } else {
            post_cts(ring, lane, now_ps);
        }
    }
}

/* ---- GPU --------------------------------------------------------------------------- */

/* Slices of the chunk that the current operation handles. */
static void
load_op(struct ring *ring, uint32_t lane)
{
    struct ring_lane *l = &ring->lanes[lane];
    uint32_t c = ring_plan_chunk(l->plan.n_ranks, ring->places[lane].pos, l->op);

    if (l->op == 0) {
        l->current = ring_plan_loop(&l->plan, l->loop);
    }
    ring_plan_slices(&l->plan, ring_loop_chunk(&l->current, c).size_bytes,
                     l->slice_bytes);
}

static int64_t
slice_time_ps(const struct ring *ring, const struct ring_lane *l)
{
    const struct ring_costs *costs = &ring->config.costs;
    int64_t rate_bps =
        ring_plan_reduces(l->plan.n_ranks, l->op) ? costs->reduce_bps : costs->copy_bps;

    return rate_bps > 0 ? copy_time_ps(l->slice_bytes[l->slice], rate_bps) : 0;
}

/* The slice is copied: its slot at the receive side is free, that at the send side full. */
static void
end_slice(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct ring_lane *l = &ring->lanes[lane];
    const struct ring_place *place = &ring->places[lane];
    int64_t bytes = l->slice_bytes[l->slice];
    int64_t seen_ps = now_ps + ring->config.costs.poll_ps;

    if (ring_lane_receives(l)) {
        struct ring_recv *r = &l->recv;

        assert(r->size_bytes[ring_slot(r->taken_steps)] == bytes);
        r->taken_ps[ring_slot(r->taken_steps)] = seen_ps;
        r->taken_steps += NCCL_SLICE_STEPS;
        if (place->prev_local) {
            uint32_t channel = lane % ring->config.n_channels;

            ring->transport->send_credit(
                ring->net, ring_lane_index(ring, place->prev, channel), now_ps);
        } else {
            recv_proxy(ring, lane, now_ps);
        }
    }
    if (ring_lane_sends(l)) {
        struct ring_send *s = &l->send;

        s->size_bytes[ring_slot(s->filled_steps)] = bytes;
        s->filled_ps[ring_slot(s->filled_steps)] = seen_ps;
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
slice_is_possible(const struct ring_lane *l, int64_t *seen_ps)
{
    const struct ring_recv *r = &l->recv;
    const struct ring_send *s = &l->send;

    *seen_ps = 0;
    if (ring_lane_receives(l)) {
        if (r->arrived_steps == r->taken_steps) {
            return false;
        }
        *seen_ps = r->arrived_ps[ring_slot(r->taken_steps)];
    }
    if (ring_lane_sends(l)) {
        if (s->filled_steps + NCCL_SLICE_STEPS > s->done_steps + NCCL_STEPS) {
            return false;
        }
        *seen_ps = max_i64(*seen_ps, s->done_ps[ring_slot(s->filled_steps)]);
    }
    return true;
}

/* Ends the slice and, with the last one, the rank's call; true if that was it: then the
 * rank may be in its next call already. */
static bool
end_slice_or_call(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    uint32_t rank = lane / ring->config.n_channels;
    struct ring_rank *r = &ring->ranks[rank];

    end_slice(ring, lane, now_ps);
    if (ring->lanes[lane].active || --r->n_lanes_left > 0) {
        return false;
    }
    r->busy = false;
    ring->transport->finished(ring->net, rank, r->start_ps, now_ps);
    return true;
}

/* Does the slices that can be done now, in order. */
static void
gpu(struct ring *ring, uint32_t lane, int64_t now_ps)
{
    struct ring_lane *l = &ring->lanes[lane];
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

/* ---- events ------------------------------------------------------------------------ */

bool
ring_start(struct ring *ring, uint32_t rank, const struct ring_call *call, int64_t now_ps)
{
    uint32_t lo = call->split.channel_lo, n = call->split.n_channels;
    struct ring_rank *r = &ring->ranks[rank];

    assert(!r->busy);
    if (n == 0 || ring->config.n_ranks == 1) {
        return true;
    }
    r->busy = true;
    r->n_lanes_left = n;
    r->start_ps = now_ps;
    for (uint32_t i = ring_lane_index(ring, rank, lo);
         i < ring_lane_index(ring, rank, lo + n); i++) {
        struct ring_lane *l = &ring->lanes[i];

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
    return ring->ranks[rank].busy;
}

void
ring_on_data(struct ring *ring, uint32_t conn, uint32_t qp, int64_t size_bytes,
             int64_t now_ps)
{
    uint32_t lane =
        ring_lane_index(ring, ring->places[conn].next, conn % ring->config.n_channels);
    struct ring_recv *r = &ring->lanes[lane].recv;

    if (ring->places[conn].next_local) {
        uint32_t slot = ring_slot(r->arrived_steps);

        r->size_bytes[slot] = size_bytes;
        r->arrived_ps[slot] = now_ps;
        r->arrived_steps += NCCL_SLICE_STEPS;
    } else {
        uint32_t slot = clear_qp(r->qps_left, r->arrived_steps, r->announced_steps, qp);

        r->size_bytes[slot] += size_bytes;
        /* the proxy tests its requests in order */
        while (r->arrived_steps < r->announced_steps &&
               r->qps_left[ring_slot(r->arrived_steps)] == 0) {
            r->arrived_ps[ring_slot(r->arrived_steps)] =
                now_ps + ring->config.costs.poll_ps;
            r->arrived_steps += NCCL_SLICE_STEPS;
        }
    }
    gpu(ring, lane, now_ps);
}

void
ring_on_cts(struct ring *ring, uint32_t conn, int64_t now_ps)
{
    struct ring_send *s = &ring->lanes[conn].send;

    s->announced_ps[ring_slot(s->announced_steps)] = now_ps + ring->config.costs.poll_ps;
    s->announced_steps += NCCL_SLICE_STEPS;
    send_proxy(ring, conn, now_ps);
}

void
ring_on_sent(struct ring *ring, uint32_t conn, uint32_t qp, int64_t now_ps)
{
    struct ring_send *s = &ring->lanes[conn].send;

    clear_qp(s->qps_left, s->done_steps, s->posted_steps, qp);
    while (s->done_steps < s->posted_steps &&
           s->qps_left[ring_slot(s->done_steps)] == 0) {
        s->done_ps[ring_slot(s->done_steps)] = now_ps + ring->config.costs.poll_ps;
        s->done_steps += NCCL_SLICE_STEPS;
    }
    gpu(ring, conn, now_ps);
}

void
ring_on_credit(struct ring *ring, uint32_t conn, int64_t now_ps)
{
    struct ring_send *s = &ring->lanes[conn].send;

    assert(ring->places[conn].next_local && s->done_steps < s->posted_steps);
    s->done_ps[ring_slot(s->done_steps)] = now_ps;
    s->done_steps += NCCL_SLICE_STEPS;
    gpu(ring, conn, now_ps);
}

void
ring_on_timer(struct ring *ring, uint32_t rank, uint32_t channel, enum ring_timer timer,
              int64_t now_ps)
{
    uint32_t lane = ring_lane_index(ring, rank, channel);
    struct ring_lane *l = &ring->lanes[lane];

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
