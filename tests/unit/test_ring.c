/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_ring.c - rings of ranks over a network made of one queue per host and a fixed
 * latency: they end, move the right bytes, keep their window, take the time that can be
 * computed by hand, and say what they wait for when a message is lost.
 */
#include <config.h>

#include "workloads/nccl/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/units.h"
#include "workloads/nccl/ring_state.h"

#define US PS_PER_US
#define MAX_RANKS 16
#define MAX_CONNS (MAX_RANKS * 16)
#define MAX_CALLS 8

enum what { DATA, CTS, SENT, CREDIT, TIMER, START };

struct event {
    int64_t at_ps;
    uint64_t order;
    enum what what;
    uint32_t id;  /* connection, or rank */
    uint32_t sub; /* queue pair, or channel */
    enum ring_timer timer;
    int64_t size_bytes;
};

/* A network: each rank has a port that sends one message after the other and, for its own
 * host, a pipe.  Clear-to-sends pass the queue, as their own queue pairs would. */
struct net {
    struct ring *ring;
    struct ring_config config;
    struct ring_call calls[MAX_CALLS];
    uint32_t n_calls;
    int64_t rate_bps, pipe_bps;
    int64_t latency_ps, pipe_latency_ps;
    int64_t qp_latency_ps; /* more for each queue pair: messages overtake */
    int64_t start_skew_ps; /* rank r starts its first call after r times that */
    uint32_t drop_conn;    /* on it these and all later messages are lost; 0 = none */
    int64_t drop_data, drop_cts;
    bool watch; /* an event of a rank must not touch another one */
    /* state */
    struct event *heap;
    size_t n_heap, max_heap;
    uint64_t order;
    int64_t port_free_ps[MAX_RANKS], pipe_free_ps[MAX_RANKS];
    uint32_t next_call[MAX_RANKS];
    int64_t end_ps[MAX_RANKS];
    int64_t now_ps;
    struct ring_lane lanes[MAX_CONNS]; /* before the event, when watched */
    struct ring_rank ranks[MAX_RANKS];
    /* counted */
    int64_t net_bytes[MAX_RANKS], local_bytes[MAX_RANKS];
    int64_t n_data, n_cts, cts_bytes;
    int64_t posted[MAX_CONNS], sent[MAX_CONNS]; /* pieces */
    int64_t cts_posted[MAX_CONNS], cts_seen[MAX_CONNS], arrived[MAX_CONNS];
    int64_t n_zero; /* messages without bytes */
};

static int64_t
time_ps(int64_t size_bytes, int64_t rate_bps)
{
    return (int64_t)(((__int128)size_bytes * 8 * PS_PER_S + rate_bps - 1) / rate_bps);
}

static bool
before(const struct event *a, const struct event *b)
{
    return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->order < b->order;
}

static void
push(struct net *net, struct event e)
{
    size_t i = net->n_heap++;

    if (net->n_heap > net->max_heap) {
        net->max_heap = net->max_heap ? 2 * net->max_heap : 256;
        net->heap = realloc(net->heap, net->max_heap * sizeof *net->heap);
        assert_non_null(net->heap);
    }
    e.order = net->order++;
    for (; i > 0 && before(&e, &net->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        net->heap[i] = net->heap[(i - 1) / 2];
    }
    net->heap[i] = e;
}

static struct event
pop(struct net *net)
{
    struct event first = net->heap[0], last = net->heap[--net->n_heap];
    size_t i = 0;

    for (;;) {
        size_t c = 2 * i + 1;

        if (c + 1 < net->n_heap && before(&net->heap[c + 1], &net->heap[c])) {
            c++;
        }
        if (c >= net->n_heap || !before(&net->heap[c], &last)) {
            break;
        }
        net->heap[i] = net->heap[c];
        i = c;
    }
    net->heap[i] = last;
    return first;
}

static void
net_send_data(void *arg, uint32_t conn, uint32_t qp, int64_t size_bytes,
              uint32_t immediate, int64_t now_ps)
{
    struct net *net = arg;
    uint32_t rank = ring_conn_sender(net->ring, conn);
    int64_t pieces = net->config.split_data ? net->config.n_qps : 1;
    int64_t at_ps;

    assert_false(ring_conn_is_local(net->ring, conn));
    assert_true(qp < net->config.n_qps);
    assert_true(size_bytes >= 0 && size_bytes <= (int64_t)immediate);
    assert_int_equal(now_ps, net->now_ps);
    net->net_bytes[rank] += size_bytes;
    net->n_zero += immediate == 0;
    net->posted[conn]++;
    assert_true(net->posted[conn] - net->sent[conn] <= 4 * pieces);
    assert_true((net->posted[conn] + pieces - 1) / pieces <= net->cts_seen[conn]);
    if (net->port_free_ps[rank] < now_ps) {
        net->port_free_ps[rank] = now_ps;
    }
    net->port_free_ps[rank] += time_ps(size_bytes, net->rate_bps);
    net->n_data++;
    if (conn == net->drop_conn && net->drop_data > 0 &&
        net->posted[conn] >= net->drop_data) {
        return;
    }
    at_ps = net->port_free_ps[rank] + net->latency_ps + qp * net->qp_latency_ps;
    push(net, (struct event){.at_ps = at_ps,
                             .what = DATA,
                             .id = conn,
                             .sub = qp,
                             .size_bytes = size_bytes});
    push(net, (struct event){
                  .at_ps = at_ps + net->latency_ps, .what = SENT, .id = conn, .sub = qp});
}

static void
net_send_cts(void *arg, uint32_t conn, int64_t size_bytes, int64_t now_ps)
{
    struct net *net = arg;
    int64_t pieces = net->config.split_data ? net->config.n_qps : 1;

    assert_false(ring_conn_is_local(net->ring, conn));
    assert_true(ring_is_busy(net->ring, ring_conn_receiver(net->ring, conn)));
    net->cts_bytes = size_bytes;
    net->cts_posted[conn]++;
    /* all 8 steps at most: on the way, or in the receiver's slots */
    assert_true(net->cts_posted[conn] - net->arrived[conn] / pieces <= 4);
    net->n_cts++;
    if (conn == net->drop_conn && net->drop_cts > 0 &&
        net->cts_posted[conn] >= net->drop_cts) {
        return;
    }
    push(net, (struct event){.at_ps = now_ps + net->latency_ps, .what = CTS, .id = conn});
}

static void
net_send_local(void *arg, uint32_t conn, int64_t size_bytes, int64_t now_ps)
{
    struct net *net = arg;
    uint32_t rank = ring_conn_sender(net->ring, conn);

    assert_true(ring_conn_is_local(net->ring, conn));
    net->local_bytes[rank] += size_bytes;
    net->posted[conn]++;
    assert_true(net->posted[conn] - net->sent[conn] <= 4);
    if (net->pipe_free_ps[rank] < now_ps) {
        net->pipe_free_ps[rank] = now_ps;
    }
    net->pipe_free_ps[rank] += time_ps(size_bytes, net->pipe_bps);
    push(net, (struct event){.at_ps = net->pipe_free_ps[rank] + net->pipe_latency_ps,
                             .what = DATA,
                             .id = conn,
                             .size_bytes = size_bytes});
}

static void
net_send_credit(void *arg, uint32_t conn, int64_t now_ps)
{
    struct net *net = arg;

    assert_true(ring_conn_is_local(net->ring, conn));
    push(net, (struct event){
                  .at_ps = now_ps + net->pipe_latency_ps, .what = CREDIT, .id = conn});
}

static void
net_at(void *arg, uint32_t rank, uint32_t channel, enum ring_timer timer, int64_t when_ps)
{
    struct net *net = arg;

    assert_true(when_ps > net->now_ps);
    push(
        net,
        (struct event){
            .at_ps = when_ps, .what = TIMER, .id = rank, .sub = channel, .timer = timer});
}

static void
start_calls(struct net *net, uint32_t rank, int64_t now_ps)
{
    while (net->next_call[rank] < net->n_calls) {
        if (!ring_start(net->ring, rank, &net->calls[net->next_call[rank]++], now_ps)) {
            return;
        }
        net->end_ps[rank] = now_ps;
    }
}

static void
net_finished(void *arg, uint32_t rank, int64_t start_ps, int64_t now_ps)
{
    struct net *net = arg;

    assert_true(start_ps < now_ps);
    assert_false(ring_is_busy(net->ring, rank));
    net->end_ps[rank] = now_ps;
    start_calls(net, rank, now_ps);
}

static const struct ring_transport transport = {
    .send_data = net_send_data,
    .send_cts = net_send_cts,
    .send_local = net_send_local,
    .send_credit = net_send_credit,
    .at = net_at,
    .finished = net_finished,
};

/* Ranks in order, 'per_host' of them on a host, odd channels the other way round. */
static struct net *
net_new(uint32_t n_ranks, uint32_t n_channels, uint32_t per_host)
{
    struct net *net = aligned_alloc(64, sizeof *net);

    assert_non_null(net);
    memset(net, 0, sizeof *net);
    assert_true(n_ranks <= MAX_RANKS && n_channels <= 16);
    ring_config_init(&net->config, n_ranks, n_channels);
    uint32_t *order = calloc((size_t)n_ranks * n_channels, sizeof *order);
    uint32_t *host = calloc(n_ranks, sizeof *host);
    assert_non_null(order);
    assert_non_null(host);
    for (uint32_t r = 0; r < n_ranks; r++) {
        host[r] = r / per_host;
        for (uint32_t c = 0; c < n_channels; c++) {
            order[c * n_ranks + r] = c % 2 ? n_ranks - 1 - r : r;
        }
    }
    net->config.order = order;
    net->config.host = host;
    net->rate_bps = INT64_C(100000000000);
    net->pipe_bps = INT64_C(3600000000000);
    net->latency_ps = 2 * US;
    net->pipe_latency_ps = US;
    return net;
}

static void
net_add_call(struct net *net, int64_t size_bytes, uint32_t elem_bytes)
{
    if (!net->ring) {
        net->ring = ring_new(&net->config, &transport, net);
    }
    assert_true(net->n_calls < MAX_CALLS);
    ring_call_init(net->ring, &net->calls[net->n_calls++], size_bytes, elem_bytes);
}

/* Whatever the event did, it did it to 'rank'. */
static void
expect_untouched(const struct net *net, uint32_t rank)
{
    uint32_t n = net->config.n_channels;

    for (uint32_t r = 0; r < net->config.n_ranks; r++) {
        if (r != rank) {
            assert_memory_equal(&net->lanes[r * n], &net->ring->lanes[r * n],
                                n * sizeof net->lanes[0]);
            assert_memory_equal(&net->ranks[r], &net->ring->ranks[r],
                                sizeof net->ranks[0]);
        }
    }
}

static void
net_run(struct net *net)
{
    for (uint32_t r = 0; r < net->config.n_ranks; r++) {
        push(net,
             (struct event){.at_ps = r * net->start_skew_ps, .what = START, .id = r});
    }
    while (net->n_heap > 0) {
        struct event e = pop(net);
        uint32_t rank = e.id;

        if (net->watch) {
            memcpy(net->lanes, net->ring->lanes,
                   ring_n_conns(net->ring) * sizeof *net->lanes);
            memcpy(net->ranks, net->ring->ranks,
                   net->config.n_ranks * sizeof *net->ranks);
        }

        assert_true(e.at_ps >= net->now_ps);
        net->now_ps = e.at_ps;
        switch (e.what) {
        case DATA:
            rank = ring_conn_receiver(net->ring, e.id);
            net->arrived[e.id]++;
            ring_on_data(net->ring, e.id, e.sub, e.size_bytes, e.at_ps);
            break;
        case CTS:
            rank = ring_conn_sender(net->ring, e.id);
            net->cts_seen[e.id]++;
            ring_on_cts(net->ring, e.id, e.at_ps);
            break;
        case SENT:
            rank = ring_conn_sender(net->ring, e.id);
            net->sent[e.id]++;
            ring_on_sent(net->ring, e.id, e.sub, e.at_ps);
            break;
        case CREDIT:
            rank = ring_conn_sender(net->ring, e.id);
            net->sent[e.id]++;
            ring_on_credit(net->ring, e.id, e.at_ps);
            break;
        case TIMER:
            ring_on_timer(net->ring, e.id, e.sub, e.timer, e.at_ps);
            break;
        case START:
            start_calls(net, e.id, e.at_ps);
            break;
        }
        ring_check(net->ring, rank);
        if (net->watch) {
            expect_untouched(net, rank);
        }
    }
}

static void
net_free(struct net *net)
{
    ring_free(net->ring);
    free((void *)(uintptr_t)net->config.order);
    free((void *)(uintptr_t)net->config.host);
    free(net->heap);
    free(net);
}

/* All ranks have ended all calls and nothing waits; returns the last end. */
static int64_t
net_expect_end(const struct net *net)
{
    int64_t end_ps = 0;
    char text[160];

    for (uint32_t r = 0; r < net->config.n_ranks; r++) {
        if (ring_is_busy(net->ring, r) || net->next_call[r] != net->n_calls) {
            fail_msg("rank %u has not ended", r);
        }
        end_ps = net->end_ps[r] > end_ps ? net->end_ps[r] : end_ps;
        for (uint32_t c = 0; c < net->config.n_channels; c++) {
            assert_false(ring_describe_wait(net->ring, r, c, text, sizeof text));
            assert_string_equal(text, "");
        }
    }
    return end_ps;
}

static int64_t
sum_net_bytes(const struct net *net)
{
    int64_t sum_bytes = 0;

    for (uint32_t r = 0; r < net->config.n_ranks; r++) {
        sum_bytes += net->net_bytes[r];
    }
    return sum_bytes;
}

/* Every size, ring and number of channels ends, three calls in a row; the network carries
 * 2 (n - 1) times the size, at least at the time this takes. */
static void
test_all_sizes_end(void **state)
{
    const uint32_t ranks[] = {2, 3, 4, 8}, channels[] = {1, 2, 16};
    const int64_t bytes[] = {0, 4, 1000, 65536, 1000000, 4 << 20, 40 << 20};

    (void)state;
    for (unsigned i = 0; i < 4 * 3 * 7; i++) {
        uint32_t n = ranks[i % 4];
        int64_t size_bytes = bytes[i / 12];
        struct net *net = net_new(n, channels[i / 4 % 3], 1);
        int64_t end_ps;

        net->start_skew_ps = i % 5 * US;
        net_add_call(net, size_bytes, 4);
        net_add_call(net, 1, 1);
        net_add_call(net, size_bytes, 2);
        net_run(net);
        end_ps = net_expect_end(net);
        assert_int_equal(sum_net_bytes(net), 2 * (n - 1) * (2 * size_bytes + 1));
        assert_true(end_ps >= time_ps(sum_net_bytes(net) / n, net->rate_bps));
        assert_int_equal(net->n_cts, net->n_data);
        assert_int_equal(net->cts_bytes, 64);
        net_free(net);
    }
}

/* 64 MiB over 16 ranks: each one sends 2 (n - 1) / n of it, in 2 messages a chunk. */
static void
test_each_rank_sends_its_share(void **state)
{
    struct net *net = net_new(16, 16, 1);

    (void)state;
    net_add_call(net, 64 << 20, 4);
    net_run(net);
    net_expect_end(net);
    for (uint32_t r = 0; r < 16; r++) {
        assert_int_equal(net->net_bytes[r], (64 << 20) / 16 * 30);
    }
    assert_int_equal(net->n_data, 16 * 16 * 30 * 2);
    assert_int_equal(net->n_zero, 0);
    net_free(net);
}

/* 64 KiB on one channel of 16 ranks: slices of 4096 and 0 B, both are messages. */
static void
test_empty_slices_are_sent(void **state)
{
    struct net *net = net_new(16, 1, 1);

    (void)state;
    net_add_call(net, 65536, 4);
    net_run(net);
    net_expect_end(net);
    assert_int_equal(net->n_data, 16 * 30 * 2);
    assert_int_equal(net->n_zero, 16 * 30);
    net_free(net);
}

/* 8 ranks at 100 Gb/s: not below 2 (n - 1) / n S / B (150.324 ms for 1 GiB), and the
 * latency is hidden but for a few steps of each loop. */
static void
test_large_time_is_near_the_bound(void **state)
{
    const int64_t bytes[] = {INT64_C(256) << 20, INT64_C(1) << 30};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct net *net = net_new(8, i < 2 ? 2 : 4, 1);
        int64_t bound_ps, end_ps;

        net_add_call(net, bytes[i % 2], 4);
        net_run(net);
        end_ps = net_expect_end(net);
        bound_ps = time_ps(bytes[i % 2] / 8 * 14, net->rate_bps);
        if (end_ps < bound_ps || end_ps > bound_ps + bound_ps / 100) {
            fail_msg("%lld B: %lld ps, bound %lld ps", (long long)bytes[i % 2],
                     (long long)end_ps, (long long)bound_ps);
        }
        net_free(net);
    }
}

/* Four ranks on each of two hosts: only the ends of a host's chain use the network. */
static void
test_neighbours_of_a_host_use_the_pipe(void **state)
{
    struct net *net = net_new(8, 2, 4);
    int64_t local_bytes = 0;

    (void)state;
    net_add_call(net, 16 << 20, 4);
    net_add_call(net, 100000, 4);
    net->start_skew_ps = 7 * US;
    net_run(net);
    net_expect_end(net);
    for (uint32_t r = 0; r < 8; r++) {
        bool ends = r % 4 == 0 || r % 4 == 3;

        assert_int_equal(net->net_bytes[r] > 0, ends);
        local_bytes += net->local_bytes[r];
    }
    assert_int_equal(sum_net_bytes(net) + local_bytes, 14 * ((16 << 20) + 100000));
    net_free(net);
}

/* All on one host: neither data nor clear-to-send on the network. */
static void
test_one_host_needs_no_network(void **state)
{
    struct net *net = net_new(4, 2, 4);

    (void)state;
    net_add_call(net, 8 << 20, 2);
    net_run(net);
    net_expect_end(net);
    assert_int_equal(net->n_data + net->n_cts, 0);
    assert_int_equal(sum_net_bytes(net), 0);
    net_free(net);
}

static void
test_one_rank_has_nothing_to_do(void **state)
{
    struct net *net = net_new(1, 2, 1);

    (void)state;
    net_add_call(net, 8 << 20, 2);
    net_run(net);
    assert_int_equal(net_expect_end(net), 0);
    net_free(net);
}

/* Messages on several queue pairs overtake each other; order is kept by the rings.
 * Dealt in turn or split, the bytes are the same. */
static void
test_queue_pairs(void **state)
{
    const uint32_t qps[] = {1, 2, 3, 4, 5, 64};

    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        struct net *net = net_new(4, 2, 1);

        net->config.n_qps = qps[i % 6];
        net->config.split_data = i >= 6;
        net->qp_latency_ps = i % 2 ? 90 * US : 3 * US;
        net_add_call(net, 9000000, 4);
        net_add_call(net, 70000, 4);
        net_run(net);
        net_expect_end(net);
        assert_int_equal(sum_net_bytes(net), 6 * 9070000);
        assert_int_equal(net->n_data, net->n_cts * (i >= 6 ? qps[i % 6] : 1));
        net_free(net);
    }
}

/* A message of 1,000,000 B split over 3 queue pairs: ceil(333334 / 128) lines of 128 B
 * twice, and the rest. */
static void
test_split_in_whole_lines(void **state)
{
    struct net *net = net_new(2, 1, 1);
    int64_t n = 0;

    (void)state;
    net->config.n_qps = 3;
    net->config.split_data = true;
    net_add_call(net, 4000000, 4); /* chunks of 2,000,000 B, 2 slices each */
    for (uint32_t r = 0; r < 2; r++) {
        push(net, (struct event){.what = START, .id = r});
    }
    while (net->n_heap > 0) {
        struct event e = pop(net);

        net->now_ps = e.at_ps;
        if (e.what == START) {
            start_calls(net, e.id, 0);
        } else if (e.what == CTS) {
            net->cts_seen[e.id]++;
            ring_on_cts(net->ring, e.id, e.at_ps);
        } else if (e.what == DATA) {
            assert_int_equal(e.size_bytes, e.sub < 2 ? 333440 : 1000000 - 2 * 333440);
            n++;
        }
    }
    assert_int_equal(n, 2 * 2 * 3); /* no completions: the first operation's slices */
    net_free(net);
}

/* Up to 2.21 channels interleave; up to 2.19 a record is 32 B. */
static void
test_old_version(void **state)
{
    struct net *net = net_new(4, 2, 1);

    (void)state;
    net->config.version = NCCL_VERSION_CODE(2u, 19u, 3u);
    net_add_call(net, 30000000, 4);
    assert_int_equal(net->calls[0].split.how, CHANNELS_EVEN);
    net_run(net);
    net_expect_end(net);
    assert_int_equal(sum_net_bytes(net), 6 * 30000000);
    assert_int_equal(net->cts_bytes, 32);
    net_free(net);
}

/* Two ranks, 64 KiB on one channel at 8 Gb/s (1 ns a byte), 1 us of latency: slices of
 * 32768 and 0 B.  The first data leaves when the clear-to-send is there, at 1 us, and
 * takes 33.768 us; the answer as long. */
static int64_t
time_of_two(struct ring_costs costs)
{
    struct net *net = net_new(2, 1, 1);
    int64_t end_ps;

    net->rate_bps = INT64_C(8000000000);
    net->latency_ps = US;
    net->config.costs = costs;
    net_add_call(net, 65536, 4);
    net_run(net);
    end_ps = net_expect_end(net);
    assert_int_equal(net->end_ps[0], net->end_ps[1]);
    net_free(net);
    return end_ps;
}

static void
test_times_by_hand(void **state)
{
    (void)state;
    assert_int_equal(time_of_two((struct ring_costs){0}), 68536000);
    /* the clear-to-send travels during the launch */
    assert_int_equal(time_of_two((struct ring_costs){.launch_ps = 5 * US}), 72536000);
    /* copy 3.2768 us, wire, reduce 6.5536, wire, copy 3.2768 */
    assert_int_equal(time_of_two((struct ring_costs){.copy_bps = INT64_C(80000000000),
                                                     .reduce_bps = INT64_C(40000000000)}),
                     3276800 + 33768000 + 6553600 + 33768000 + 3276800);
    /* clear-to-send seen at 1.5; data seen, and the filled slot seen, half
     * a us late each */
    assert_int_equal(time_of_two((struct ring_costs){.poll_ps = US / 2}), 70536000);
    /* first clear-to-send leaves at 0.25, the proxy's four are out at 1.0; data posted at
     * 1.25 + 0.25; the answer 0.25 after its data */
    assert_int_equal(time_of_two((struct ring_costs){.post_ps = US / 4}), 69286000);
}

/* All costs at once, in all kinds of rings: nothing is lost or stuck. */
static void
test_costs_everywhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct net *net = net_new(i & 1 ? 6 : 3, i & 2 ? 4 : 1, i & 4 ? 2 : 1);

        net->config.costs = (struct ring_costs){.launch_ps = 4 * US,
                                                .copy_bps = INT64_C(400000000000),
                                                .reduce_bps = INT64_C(300000000000),
                                                .poll_ps = 700000,
                                                .post_ps = 300000};
        net->start_skew_ps = 11 * US;
        net_add_call(net, 5000000, 4);
        net_add_call(net, 0, 4);
        net_add_call(net, 65536, 4);
        net_run(net);
        net_expect_end(net);
        assert_int_equal(net->n_data, net->n_cts);
        net_free(net);
    }
}

/* Ranks may be driven by threads of their own: each event changes its rank alone. */
static void
test_events_stay_in_their_rank(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct net *net = net_new(4, 2, i & 1 ? 2 : 1);

        net->watch = true;
        if (i & 2) {
            net->config.costs = (struct ring_costs){.launch_ps = 4 * US,
                                                    .copy_bps = INT64_C(400000000000),
                                                    .poll_ps = 700000,
                                                    .post_ps = 300000};
        }
        net_add_call(net, 20000000, 4);
        net_add_call(net, 1000, 4);
        net_run(net);
        net_expect_end(net);
        net_free(net);
    }
}

static void
expect_wait(const struct net *net, uint32_t rank, const char *expected)
{
    char text[160];

    assert_int_equal(ring_describe_wait(net->ring, rank, 0, text, sizeof text),
                     *expected != '\0');
    assert_string_equal(text, expected);
}

/* Three ranks, one loop, 8 messages a connection.  Rank 0's second one (step 2)
 * and what follows on its queue pair is lost.
 * Rank 1 has sent 0 and 2, and 4 after step 0; rank 2 then lacks step 6.  Rank 0 has data
 * for a sixth message, but five are all that its slots hold beyond step 2. */
static void
test_lost_data_is_described(void **state)
{
    struct net *net = net_new(3, 1, 1);

    (void)state;
    net->drop_data = 2;
    net_add_call(net, 6000000, 4);
    net->drop_conn = ring_conn(net->ring, 0, 0);
    net_run(net);
    for (uint32_t r = 0; r < 3; r++) {
        assert_true(ring_is_busy(net->ring, r));
    }
    expect_wait(net, 0,
                "rank 0 channel 0 waits for a slot: step 2 to rank 1 is not completed");
    expect_wait(net, 1, "rank 1 channel 0 waits for data of step 2 from rank 0");
    expect_wait(net, 2, "rank 2 channel 0 waits for data of step 6 from rank 1");
    net_free(net);
}

/* Rank 2 is never told that it may send step 6; rank 0 ends with step 8, for which it had
 * data, and rank 1 lacks step 10. */
static void
test_lost_cts_is_described(void **state)
{
    struct net *net = net_new(3, 1, 1);

    (void)state;
    net->drop_cts = 4;
    net_add_call(net, 6000000, 4);
    net->drop_conn = ring_conn(net->ring, 2, 0);
    net_run(net);
    expect_wait(net, 0, "rank 0 channel 0 waits for data of step 6 from rank 2");
    expect_wait(net, 1, "rank 1 channel 0 waits for data of step 10 from rank 0");
    expect_wait(net, 2, "rank 2 channel 0 waits for clear-to-send of step 6 from rank 0");
    net_free(net);
}

/* Inside a host a slice that is not taken keeps its slot. */
static void
test_full_pipe_is_described(void **state)
{
    struct net *net = net_new(4, 1, 4);

    (void)state;
    net_add_call(net, 8000000, 4);
    net->next_call[1] = 1; /* rank 1 never starts, so does not take or send */
    net_run(net);
    expect_wait(net, 0,
                "rank 0 channel 0 waits for a slot: step 0 to rank 1 is not taken");
    expect_wait(net, 2, "rank 2 channel 0 waits for data of step 0 from rank 1");
    expect_wait(net, 3, "rank 3 channel 0 waits for data of step 4 from rank 2");
    net_free(net);
}

/* A rank that never starts: its neighbours name it. */
static void
test_missing_rank_is_named(void **state)
{
    struct net *net = net_new(3, 1, 1);

    (void)state;
    net_add_call(net, 6000000, 4);
    net->next_call[1] = 1;
    net_run(net);
    expect_wait(net, 1, "");
    expect_wait(net, 0,
                "rank 0 channel 0 waits for data of step 4 from rank 2 and for "
                "clear-to-send of step 0 from rank 1");
    expect_wait(net, 2, "rank 2 channel 0 waits for data of step 0 from rank 1");
    net_free(net);
}

static void
test_orders(void **state)
{
    const uint32_t good[] = {2, 0, 1}, twice[] = {0, 1, 1}, high[] = {0, 1, 3};

    (void)state;
    assert_true(ring_order_is_valid(good, 3));
    assert_false(ring_order_is_valid(twice, 3));
    assert_false(ring_order_is_valid(high, 3));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_sizes_end),
        cmocka_unit_test(test_each_rank_sends_its_share),
        cmocka_unit_test(test_empty_slices_are_sent),
        cmocka_unit_test(test_large_time_is_near_the_bound),
        cmocka_unit_test(test_neighbours_of_a_host_use_the_pipe),
        cmocka_unit_test(test_one_host_needs_no_network),
        cmocka_unit_test(test_one_rank_has_nothing_to_do),
        cmocka_unit_test(test_queue_pairs),
        cmocka_unit_test(test_split_in_whole_lines),
        cmocka_unit_test(test_old_version),
        cmocka_unit_test(test_times_by_hand),
        cmocka_unit_test(test_costs_everywhere),
        cmocka_unit_test(test_events_stay_in_their_rank),
        cmocka_unit_test(test_lost_data_is_described),
        cmocka_unit_test(test_lost_cts_is_described),
        cmocka_unit_test(test_full_pipe_is_described),
        cmocka_unit_test(test_missing_rank_is_named),
        cmocka_unit_test(test_orders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
