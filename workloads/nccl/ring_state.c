/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring_state.c - makes a communicator, cuts its calls, and shows what it waits for.
 * ring.c plays; nothing here runs while a call does.
 */
#include <config.h>

#include "workloads/nccl/ring.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/mem.h"
#include "workloads/nccl/ring_state.h"

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
    bool *seen = mem_zero(n_ranks, sizeof *seen);
    bool valid = true;

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
    struct ring *ring = mem_zero(1, sizeof *ring);

    assert(config->n_ranks >= 1);
    assert(config->n_channels >= 1 && config->n_channels <= NCCL_MAX_CHANNELS);
    assert(config->n_qps >= 1 && config->n_qps <= RING_MAX_QPS);
    assert(config->buffer_bytes >= 8192 && config->buffer_bytes % 8192 == 0);
    ring->config = *config;
    ring->config.order = NULL;
    ring->config.host = NULL;
    ring->transport = transport;
    ring->net = net;
    ring->cts_bytes = nccl_version_cts_bytes(config->version);
    ring->places = mem_zero_lines(n_lanes, sizeof *ring->places);
    ring->lanes = mem_zero_lines(n_lanes, sizeof *ring->lanes);
    ring->ranks = mem_zero_lines(config->n_ranks, sizeof *ring->ranks);
    for (uint32_t c = 0; c < config->n_channels; c++) {
        const uint32_t *order = config->order + (size_t)c * config->n_ranks;

        assert(ring_order_is_valid(order, config->n_ranks));
        for (uint32_t pos = 0; pos < config->n_ranks; pos++) {
            uint32_t rank = order[pos];
            uint32_t next = order[(pos + 1) % config->n_ranks];
            uint32_t prev = order[(pos + config->n_ranks - 1) % config->n_ranks];

            ring->places[ring_lane_index(ring, rank, c)] = (struct ring_place){
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

/* Cuts the call over 'n_channels' (>= 1) channels from 0 on; channels too many for
 * CHANNELS_CBD cells get none. */
static void
cut(const struct ring *ring, struct ring_call *call, uint32_t n_channels,
    uint32_t n_threads)
{
    const struct ring_config *config = &ring->config;
    struct channels_task task = {
        .func = NCCL_ALL_REDUCE,
        .count = call->size_bytes / call->elem_bytes,
        .elem_bytes = call->elem_bytes,
        .n_channels = n_channels,
        .proto = NCCL_PROTO_SIMPLE,
    };

    assert(call->size_bytes >= 0 && call->size_bytes % call->elem_bytes == 0);
    if (nccl_version_has_cbd(config->version)) {
        channels_split_cbd(&task, 1, config->n_ranks, n_channels, &call->split);
    } else {
        call->split = channels_split_even(&task, n_threads);
    }
}

static struct channels_width
width_of(const struct ring *ring, int64_t size_bytes, uint32_t n_channels)
{
    return channels_for_ring(size_bytes, ring->config.n_ranks, n_channels,
                             ring->config.max_threads, NCCL_PROTO_SIMPLE);
}

void
ring_call_init(const struct ring *ring, struct ring_call *call, int64_t size_bytes,
               uint32_t elem_bytes)
{
    struct channels_width width = width_of(ring, size_bytes, ring->config.n_channels);

    *call = (struct ring_call){.size_bytes = size_bytes, .elem_bytes = elem_bytes};
    cut(ring, call, width.n_channels, width.n_threads);
}

void
ring_call_init_on(const struct ring *ring, struct ring_call *call, int64_t size_bytes,
                  uint32_t elem_bytes, uint32_t channel_lo, uint32_t channel_hi)
{
    uint32_t n_channels = channel_hi - channel_lo + 1;

    assert(channel_lo <= channel_hi && channel_hi < ring->config.n_channels);
    *call = (struct ring_call){.size_bytes = size_bytes, .elem_bytes = elem_bytes};
    cut(ring, call, n_channels, width_of(ring, size_bytes, n_channels).n_threads);
    call->split.channel_lo += channel_lo;
}

uint32_t
ring_conn(const struct ring *ring, uint32_t rank, uint32_t channel)
{
    return ring_lane_index(ring, rank, channel);
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

bool
ring_describe_wait(const struct ring *ring, uint32_t rank, uint32_t channel, char *text,
                   size_t n_text)
{
    uint32_t lane = ring_lane_index(ring, rank, channel);
    const struct ring_place *place = &ring->places[lane];
    const struct ring_lane *l = &ring->lanes[lane];
    const struct ring_send *s = &l->send;
    bool slots_full = s->filled_steps + NCCL_SLICE_STEPS > s->done_steps + NCCL_STEPS;
    char data[64] = "", slot[96] = "";

    if (l->active && ring_lane_receives(l) &&
        l->recv.arrived_steps == l->recv.taken_steps) {
        snprintf(data, sizeof data, "data of step %llu from rank %u",
                 (unsigned long long)l->recv.taken_steps, place->prev);
    }
    if (s->posted_steps < s->filled_steps && s->posted_steps == s->announced_steps) {
        snprintf(slot, sizeof slot, "clear-to-send of step %llu from rank %u",
                 (unsigned long long)s->posted_steps, place->next);
    } else if (l->active && ring_lane_sends(l) && slots_full) {
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
        uint32_t i = ring_lane_index(ring, rank, c);
        const struct ring_lane *l = &ring->lanes[i];
        const struct ring_send *s = &l->send;
        const struct ring_recv *r = &l->recv;
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
            fprintf(stderr, "rocesim: bug: counters of rank %u channel %u contradict\n",
                    rank, c);
            abort();
        }
    }
    if (n_active > 0 && !ring_is_busy(ring, rank)) {
        fprintf(stderr, "rocesim: bug: rank %u is idle with %u channels in work\n", rank,
                n_active);
        abort();
    }
}
