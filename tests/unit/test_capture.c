/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_capture.c - what taps record and capture files hold: every frame that ports count,
 * at the time its last bit was there, as bytes that decode; the same at any partition.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <glib/gstdio.h>

#include "models/net_wire.h"
#include "tests/support/pcap_file.h"
#include "tests/support/rig.h"
#include "tools/results/capture.h"

#define FCS 4
#define N_HOSTS 5

/* ---- records -------------------------------------------------------------------------- */

static void
keep_frame(void *ctx, const struct tap_record *record)
{
    g_array_append_vals(ctx, record, 1);
}

/* Ports that all ports of the network are tapped at; records go to the array returned. */
static GArray *
tap_all(struct rig *rig)
{
    GArray *records = g_array_new(FALSE, FALSE, sizeof(struct tap_record));

    for (uint32_t p = 0; p < rig->net->n_ports; p++) {
        rig_tap(rig, &rig->net->ports[p], TAP_IN | TAP_OUT);
    }
    rig->frames = (struct tap_sink){.on_frame = keep_frame, .ctx = records};
    return records;
}

#define RECORD(records, i) (&g_array_index(records, struct tap_record, i))

/* Senders into one port: marks and CNPs, pauses, a lost packet and so a NAK.  With
 * 'slow' the buffer is so small that pauses displace committed frames. */
static void
incast(struct rig *rig, bool cut_through)
{
    const uint64_t drop[] = {5};

    rig_init(rig, 3);
    rig->cc_name = "dcqcn";
    rig->nic.ack_every = 2;
    rig->nic.ip = 6;
    rig->nic.vlan = true;
    rig->sw.buffer_bytes = 500000;
    rig->sw.cut_through = cut_through;
    rig->sw.ingress_latency_ps = 70000;
    rig_star(rig, N_HOSTS, 100 * GBPS, 150000);
    rig_build(rig);
    for (uint32_t h = 1; h < N_HOSTS; h++) {
        rig_flow(rig, h, 0, 300001, 1000 * h);
        rig_flow(rig, h, 0, 100, 1000 * h);
    }
    rig_flow(rig, 0, 2, 100000, 0);
    port_set_drops(rig_port(rig, "leaf0", "host2"), drop, 1);
}

static struct rig_sums
sums_of(const struct port *port)
{
    struct rig_sums sums = {0};

    for (unsigned c = 0; c < N_CLASSES; c++) {
        sums.tx_pkts += port->out[c].tx_pkts;
        sums.xoff_tx += port->stats[c].pfc_xoff_tx;
        sums.xon_tx += port->stats[c].pfc_xon_tx;
        sums.lost_error += port->stats[c].lost_error;
    }
    return sums;
}

static int64_t
count(const GArray *records, uint32_t port, enum tap_dir dir, int type)
{
    int64_t n = 0;

    for (guint i = 0; i < records->len; i++) {
        const struct tap_record *r = RECORD(records, i);

        n += r->port == port && r->dir == dir &&
             (type < 0 ? r->pkt.type != PACKET_PFC : r->pkt.type == type);
    }
    return n;
}

static void
assert_counts(const struct rig *rig, const GArray *records)
{
    for (uint32_t p = 0; p < rig->net->n_ports; p++) {
        const struct port *port = &rig->net->ports[p];
        struct rig_sums sums = sums_of(port);
        int64_t heard = 0;

        for (unsigned c = 0; c < N_CLASSES; c++) {
            heard += port->in[c].rx_pkts;
        }
        assert_int_equal(count(records, p, TAP_OUT, -1), sums.tx_pkts);
        assert_int_equal(count(records, p, TAP_OUT, PACKET_PFC),
                         sums.xoff_tx + sums.xon_tx);
        assert_int_equal(count(records, p, TAP_IN, -1), heard);
        assert_int_equal(count(records, port->peer, TAP_OUT, -1),
                         heard + sums.lost_error);
    }
}

/* In order, and no two frames on one wire at once. */
static void
assert_times(const struct rig *rig, const GArray *records)
{
    g_autofree int64_t *last_ps = g_new0(int64_t, 2 * rig->net->n_ports);

    for (guint i = 0; i < records->len; i++) {
        const struct tap_record *r = RECORD(records, i);
        const struct port *port = &rig->net->ports[r->port];
        int64_t *before_ps = &last_ps[2 * r->port + (r->dir == TAP_IN)];
        int64_t extra = *before_ps ? WIRE_EXTRA_BYTES : WIRE_PREAMBLE_BYTES;

        assert_true(i == 0 || RECORD(records, i - 1)->time_ps <= r->time_ps);
        assert_true(r->time_ps >=
                    *before_ps + port_bytes_ps(port, r->pkt.size_bytes + extra));
        *before_ps = r->time_ps;
    }
}

/* What is sent arrives a propagation delay later, in the same order, but for what is
 * lost. */
static void
assert_delays(const struct rig *rig, const GArray *records, int64_t delay_ps)
{
    for (uint32_t p = 0; p < rig->net->n_ports; p++) {
        uint32_t peer = rig->net->ports[p].peer;
        guint k = 0;

        for (guint i = 0; i < records->len; i++) {
            const struct tap_record *in = RECORD(records, i);

            if (in->port != p || in->dir != TAP_IN) {
                continue;
            }
            while (RECORD(records, k)->port != peer ||
                   RECORD(records, k)->dir != TAP_OUT ||
                   RECORD(records, k)->time_ps != in->time_ps - delay_ps) {
                k++;
                assert_in_range(k, 0, records->len - 1);
            }
            /* But for the link to the next packet, the same bytes. */
            assert_memory_equal(&RECORD(records, k)->pkt.tp, &in->pkt.tp,
                                sizeof in->pkt.tp);
            assert_int_equal(RECORD(records, k)->pkt.ttl, in->pkt.ttl);
        }
    }
}

static void
test_all_frames_at_their_times(void **state)
{
    (void)state;
    for (int cut_through = 0; cut_through < 2; cut_through++) {
        struct rig rig;
        GArray *records;
        struct rig_sums sums;

        incast(&rig, cut_through);
        records = tap_all(&rig);
        rig_play(&rig);
        sums = rig_sum(&rig);
        assert_true(sums.cnps > 0 && sums.naks > 0 && sums.xoff_tx > 0 &&
                    sums.marked > 0);
        assert_int_equal(sums.lost_error, 1);
        assert_counts(&rig, records);
        assert_times(&rig, records);
        assert_delays(&rig, records, 150000);
        g_array_unref(records);
        rig_clear(&rig);
    }
}

/* What is tapped changes no result, and neither partition nor threads what is recorded. */
static void
test_same_at_any_partition(void **state)
{
    static const struct {
        enum partition_mode partition;
        uint32_t n_threads;
    } ways[] = {{PARTITION_ONE, 1}, {PARTITION_NODE, 1}, {PARTITION_NODE, 3}};
    GArray *first = NULL;
    uint64_t digest = 0;
    struct rig rig;

    (void)state;
    incast(&rig, true);
    rig_play(&rig);
    digest = rig_digest(&rig);
    rig_clear(&rig);
    for (size_t w = 0; w < G_N_ELEMENTS(ways); w++) {
        GArray *records;

        incast(&rig, true);
        records = tap_all(&rig);
        rig_start(&rig, ways[w].partition, ways[w].n_threads);
        rig_run(&rig, TIME_NEVER_PS);
        assert_int_equal(rig_digest(&rig), digest);
        rig_clear(&rig);
        if (!first) {
            first = records;
            continue;
        }
        assert_int_equal(records->len, first->len);
        for (guint i = 0; i < records->len; i++) {
            assert_int_equal(RECORD(records, i)->time_ps, RECORD(first, i)->time_ps);
            assert_int_equal(RECORD(records, i)->port, RECORD(first, i)->port);
            assert_int_equal(RECORD(records, i)->dir, RECORD(first, i)->dir);
            assert_memory_equal(&RECORD(records, i)->pkt.tp, &RECORD(first, i)->pkt.tp,
                                sizeof(struct packet_transport));
        }
        g_array_unref(records);
    }
    g_array_unref(first);
}

/* A run that is stopped: frames on a link have been sent, and no later than the stop. */
static void
test_stopped_run(void **state)
{
    const int64_t stop_ps = 20 * PS_PER_US;
    struct rig rig;
    GArray *records;
    uint32_t out;
    int64_t sent, heard;

    (void)state;
    rig_init(&rig, 1);
    rig_star(&rig, 2, 100 * GBPS, 5 * PS_PER_US);
    rig_build(&rig);
    rig_flow(&rig, 0, 1, 4 << 20, 0);
    records = tap_all(&rig);
    rig_start(&rig, PARTITION_NODE, 2);
    rig_run(&rig, stop_ps);
    out = rig_port(&rig, "host0", "leaf0")->id;
    sent = count(records, out, TAP_OUT, -1);
    heard = count(records, rig_port(&rig, "leaf0", "host0")->id, TAP_IN, -1);
    /* Frames of 334 ns, 20 us and 15 us long. */
    assert_in_range(sent, 59, 60);
    assert_in_range(heard, 44, 45);
    assert_times(&rig, records);
    assert_true(RECORD(records, records->len - 1)->time_ps <= stop_ps);
    g_array_unref(records);
    rig_clear(&rig);
}

/* ---- frames --------------------------------------------------------------------------- */

/* As the bytes say, by frame of one connection: PSNs count up, each message has one
 * address, answers count the messages. */
static void
test_a_connection_on_the_wire(void **state)
{
    struct rig rig;
    GArray *records;
    uint32_t connection, next_psn = 0, n_last = 0, n_acks = 0;
    uint64_t va_of_message = 0;

    (void)state;
    rig_init(&rig, 9);
    rig.nic.ack_every = 1;
    rig_star(&rig, 2, 100 * GBPS, 1000);
    rig_build(&rig);
    connection = net_connect(rig.net, 0, 0, 1, 0, 0);
    rig_flow_on(&rig, connection, 0, 10001, 0);
    rig_flow_on(&rig, connection, 0, 0, 0);
    rig_flow_on(&rig, connection, 0, 4096, 0)->has_imm = true;
    records = g_array_new(FALSE, FALSE, sizeof(struct tap_record));
    rig.frames = (struct tap_sink){.on_frame = keep_frame, .ctx = records};
    rig_tap(&rig, rig_port(&rig, "host0", "leaf0"), TAP_IN | TAP_OUT);
    rig_play(&rig);
    assert_int_equal(records->len, 10);
    for (guint i = 0; i < records->len; i++) {
        const struct tap_record *r = RECORD(records, i);
        struct wire_frame f, again;
        uint8_t bytes[WIRE_FRAME_MAX];
        size_t n;

        net_wire_frame(rig.net,
                       r->dir == TAP_OUT ? r->port : rig.net->ports[r->port].peer,
                       &r->pkt, &f);
        n = wire_encode(&f, bytes, SIZE_MAX);
        assert_int_equal(n + FCS, r->pkt.size_bytes);
        assert_int_equal(wire_decode(bytes, n, &again), WIRE_OK);
        assert_int_equal(f.bth.dest_qp, 0x11);
        if (r->dir == TAP_IN) {
            assert_int_equal(f.ip.src[3], 2);
            assert_int_equal(f.aeth.syndrome, WIRE_ACK_NO_CREDITS);
            assert_int_equal(f.ip.ttl, 63);
            n_acks++;
            assert_int_equal(f.aeth.msn, n_acks < 3 ? 0 : n_acks - 2);
            continue;
        }
        assert_int_equal(f.ip.src[3], 1);
        assert_int_equal(f.ip.ttl, 64);
        assert_true(next_psn == 0 || f.bth.psn == next_psn);
        next_psn = (f.bth.psn + 1) & PSN_MASK;
        if (wire_headers(f.bth.opcode) & WIRE_RETH) {
            assert_true(n_last == 0 || f.reth.va > va_of_message);
            va_of_message = f.reth.va;
            assert_int_equal(f.reth.dma_bytes, n_last == 0   ? 10001
                                               : n_last == 1 ? 0
                                                             : 4096);
        }
        n_last += (r->pkt.flags & PACKET_LAST) != 0;
        if (r->pkt.flags & PACKET_LAST) {
            assert_int_equal(f.bth.opcode, n_last == 1   ? WIRE_RC_WRITE_LAST
                                           : n_last == 2 ? WIRE_RC_WRITE_ONLY
                                                         : WIRE_RC_WRITE_ONLY_IMM);
            assert_int_equal(f.bth.pad_bytes, n_last == 1 ? 3 : 0);
            assert_true(f.bth.ack_req);
        }
    }
    assert_int_equal(n_last, 3);
    assert_int_equal(n_acks, 5);
    g_array_unref(records);
    rig_clear(&rig);
}

/* ---- files ---------------------------------------------------------------------------- */

struct bench {
    struct rig rig;
    char *parent;
    struct outdir *dir;
    GArray *files;
};

static void
bench_begin(struct bench *bench)
{
    g_autofree char *path = NULL;

    incast(&bench->rig, false);
    bench->parent = g_dir_make_tmp("capture-XXXXXX", NULL);
    path = g_build_filename(bench->parent, "r", NULL);
    bench->dir = outdir_new(path, FALSE, NULL);
    assert_non_null(bench->dir);
    bench->files = g_array_new(FALSE, TRUE, sizeof(struct capture_file));
    g_array_set_clear_func(bench->files, capture_file_clear);
}

static void
bench_file(struct bench *bench, const char *name, const char *filter, int64_t snap_bytes,
           int64_t max_bytes)
{
    const struct port *port = rig_port(&bench->rig, "leaf0", "host0");
    struct capture_file file = {.name = g_strdup(name),
                                .first_port = port->id,
                                .n_ports = 1,
                                .dirs = TAP_OUT,
                                .filter = filter,
                                .snap_bytes = snap_bytes,
                                .max_bytes = max_bytes};

    g_array_append_val(bench->files, file);
    rig_tap(&bench->rig, port, TAP_OUT);
}

/* Runs; notes are the caller's. */
static GPtrArray *
bench_run(struct bench *bench)
{
    GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);
    struct capture *capture = capture_new(bench->dir, bench->rig.net, bench->files, NULL);

    assert_non_null(capture);
    bench->rig.frames = capture_sink(capture);
    rig_play(&bench->rig);
    assert_false(capture_has_failed(capture));
    assert_true(capture_finish(capture, notes, NULL));
    capture_free(capture);
    return notes;
}

static struct pcap_file *
bench_read(const struct bench *bench, const char *name, int64_t *n_bytes)
{
    g_autofree char *path = g_build_filename(bench->dir->temp, name, NULL);
    GStatBuf info;

    assert_int_equal(g_stat(path, &info), 0);
    *n_bytes = info.st_size;
    return pcap_file_read(path);
}

static void
bench_end(struct bench *bench)
{
    g_array_unref(bench->files);
    outdir_discard(bench->dir);
    assert_int_equal(g_rmdir(bench->parent), 0);
    g_free(bench->parent);
    rig_clear(&bench->rig);
}

static void
test_files(void **state)
{
    struct bench bench;
    struct pcap_file *whole, *cut, *full, *few;
    struct wire_frame frame;
    int64_t n_whole, n_cut, n_full, n_few;
    GPtrArray *notes;

    (void)state;
    bench_begin(&bench);
    bench_file(&bench, "whole.pcap", NULL, -1, -1);
    bench_file(&bench, "cut.pcap", NULL, 100, -1);
    bench_file(&bench, "full.pcap", NULL, -1, 100000);
    bench_file(&bench, "few.pcap", "opcode=pfc", -1, -1);
    notes = bench_run(&bench);
    whole = bench_read(&bench, "whole.pcap", &n_whole);
    cut = bench_read(&bench, "cut.pcap", &n_cut);
    full = bench_read(&bench, "full.pcap", &n_full);
    few = bench_read(&bench, "few.pcap", &n_few);

    struct rig_sums sums = sums_of(rig_port(&bench.rig, "leaf0", "host0"));

    assert_int_equal(whole->n, sums.tx_pkts + sums.xoff_tx + sums.xon_tx);
    assert_int_equal(few->n, sums.xoff_tx + sums.xon_tx);
    assert_int_equal(cut->n, whole->n);
    assert_int_equal(cut->snap_bytes, 100);
    for (size_t i = 0; i < whole->n; i++) {
        assert_int_equal(whole->frames[i].kept, whole->frames[i].length);
        assert_int_equal(
            wire_decode(whole->frames[i].bytes, whole->frames[i].kept, &frame), WIRE_OK);
        assert_int_equal(cut->frames[i].time_ns, whole->frames[i].time_ns);
        assert_int_equal(cut->frames[i].length, whole->frames[i].length);
        assert_int_equal(cut->frames[i].kept, MIN(whole->frames[i].length, 100));
        assert_memory_equal(cut->frames[i].bytes, whole->frames[i].bytes,
                            cut->frames[i].kept);
    }
    /* A file that is full is whole frames of the beginning, and nothing behind. */
    assert_true(n_full <= 100000 && n_full > 100000 - 16 - WIRE_FRAME_MAX);
    assert_true(full->n < whole->n);
    for (size_t i = 0; i < full->n; i++) {
        assert_int_equal(full->frames[i].time_ns, whole->frames[i].time_ns);
    }
    assert_int_equal(notes->len, 1);
    assert_true(g_str_has_prefix(notes->pdata[0],
                                 "full.pcap is not whole: it has reached 100000 bytes"));
    g_ptr_array_unref(notes);
    pcap_file_free(whole);
    pcap_file_free(cut);
    pcap_file_free(full);
    pcap_file_free(few);
    bench_end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_frames_at_their_times),
        cmocka_unit_test(test_same_at_any_partition),
        cmocka_unit_test(test_stopped_run),
        cmocka_unit_test(test_a_connection_on_the_wire),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
