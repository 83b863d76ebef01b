/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_wire.c - K1 to K6: what frames cost on the wire.  Sizes and goodput are read
 * off the counters and arrivals of runs: two hosts, one switch, cables of 5 m.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/support/known.h"
#include "tests/support/rig.h"

#define MIB INT64_C(1048576)
#define CABLE_5M_PS 25253 /* 5 m at 198 m/us */

static void
build_pair(struct rig *rig, int64_t rate_bps)
{
    rig_star(rig, 2, rate_bps, CABLE_5M_PS);
    rig_build(rig);
}

/* Gb/s of payload that arrives between the ends of two messages of 'flows', a third
 * behind them: no latency, no start, no end in it. */
static double
goodput_gbps(struct rig_flow *const flows[3])
{
    int64_t for_ps = flows[1]->received_ps - flows[0]->received_ps;

    return (double)flows[1]->bytes * 8e3 / (double)for_ps;
}

/* Posts three messages of 'bytes' on a connection from 'src' to 'dst'. */
static void
post_three(struct rig *rig, uint32_t src, uint32_t dst, int64_t bytes,
           struct rig_flow *flows[3])
{
    uint32_t connection = net_connect(rig->net, src, 0, dst, 0, 0);

    for (int i = 0; i < 3; i++) {
        flows[i] = rig_flow_on(rig, connection, 0, bytes, 0);
    }
}

/* Goodput of a network that is initialised and has its parameters. */
static double
long_flow_gbps(struct rig *rig, int64_t rate_bps)
{
    struct rig_flow *flows[3];

    build_pair(rig, rate_bps);
    post_three(rig, 0, 1, 8 * MIB, flows);
    rig_play(rig);
    return goodput_gbps(flows);
}

static void
test_k01_goodput_by_rate(void **state)
{
    const int64_t rates_gbps[] = {100, 200, 400, 800};
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct rig rig;
        double gbps;

        rig_init(&rig, 1);
        gbps = long_flow_gbps(&rig, rates_gbps[i] * GBPS);
        snprintf(name, sizeof name, "goodput_%dg_gbps", (int)rates_gbps[i]);
        known_equals("K1", name, gbps);
        snprintf(name, sizeof name, "packets_%dg_mpps", (int)rates_gbps[i]);
        known_equals("K1", name, gbps * 1e3 / 8 / 4096);
        rig_clear(&rig);
    }
}

static void
test_k02_goodput_by_mtu(void **state)
{
    const int64_t mtus_bytes[] = {256, 512, 1024, 2048};
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.mtu_bytes = mtus_bytes[i];
        snprintf(name, sizeof name, "goodput_mtu_%d_gbps", (int)mtus_bytes[i]);
        known_equals("K2", name, long_flow_gbps(&rig, 100 * GBPS));
        rig_clear(&rig);
    }
}

static void
test_k03_goodput_with_ipv6_and_vlan(void **state)
{
    const struct {
        const char *name;
        int64_t ip, mtu_bytes;
        bool vlan;
    } cases[] = {{"goodput_ipv6_mtu_4096_gbps", 6, 4096, false},
                 {"goodput_ipv6_mtu_1024_gbps", 6, 1024, false},
                 {"goodput_vlan_mtu_4096_gbps", 4, 4096, true}};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct rig rig;

        rig_init(&rig, 1);
        rig.nic.ip = cases[i].ip;
        rig.nic.vlan = cases[i].vlan;
        rig.nic.mtu_bytes = cases[i].mtu_bytes;
        known_equals("K3", cases[i].name, long_flow_gbps(&rig, 100 * GBPS));
        rig_clear(&rig);
    }
}

static double
ns(int64_t ps)
{
    return (double)ps / 1e3;
}

/* Bytes with preamble and gap that 'port' has sent. */
static int64_t
wire_bytes(const struct port *port)
{
    int64_t bytes = 0;

    for (unsigned c = 0; c < N_CLASSES; c++) {
        bytes += port->out[c].tx_bytes + port->out[c].tx_pkts * WIRE_EXTRA_BYTES;
    }
    return bytes;
}

static void
test_k04_write_of_1_mib(void **state)
{
    const int64_t mtus_bytes[] = {4096, 1024};
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct rig rig;
        const struct port *port;
        int mtu = (int)mtus_bytes[i];
        int64_t path_ps, last_bit_ps;

        rig_init(&rig, 1);
        rig.nic.mtu_bytes = mtu;
        build_pair(&rig, 100 * GBPS);
        struct rig_flow *flow = rig_flow(&rig, 0, 1, MIB, 0);

        rig_play(&rig);
        port = rig_port(&rig, "host0", "leaf0");
        snprintf(name, sizeof name, "mtu_%d_pkts", mtu);
        known_equals("K4", name, (double)port->out[3].tx_pkts);
        snprintf(name, sizeof name, "mtu_%d_wire_bytes", mtu);
        known_equals("K4", name, (double)wire_bytes(port));
        snprintf(name, sizeof name, "mtu_%d_ns", mtu);
        known_equals("K4", name, ns(port->busy_until_ps - flow->start_ps));
        if (mtu == 4096) {
            /* From the last bit's arrival, less the way: two cables, the switch, and the
             * first frame once more, which all others queue behind. */
            path_ps = 2 * CABLE_5M_PS + rig.sw.latency_ps + port_bytes_ps(port, 4174 + 8);
            last_bit_ps = flow->received_ps - flow->start_ps - path_ps;
            known_equals("K4", "mtu_4096_last_bit_ns", ns(last_bit_ps));
        }
        rig_clear(&rig);
    }
}

static void
test_k04_read_of_1_mib(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    build_pair(&rig, 100 * GBPS);
    struct rig_flow *flow = rig_flow(&rig, 0, 1, MIB, 0);

    flow->verb = QP_READ;
    rig_play(&rig);
    /* Responses start when the request has come: two cables, the switch, its bytes twice. */
    const struct port *port = rig_port(&rig, "host1", "leaf0");
    int64_t path_ps =
        2 * CABLE_5M_PS + rig.sw.latency_ps + 2 * port_bytes_ps(port, 78 + 8);

    known_equals("K4", "read_mtu_4096_pkts", (double)port->out[3].tx_pkts);
    known_equals("K4", "read_mtu_4096_wire_bytes", (double)wire_bytes(port));
    known_equals("K4", "read_mtu_4096_ns",
                 ns(port->busy_until_ps - flow->start_ps - path_ps));
    rig_clear(&rig);
}

static void
test_k05_reverse_load_of_acks(void **state)
{
    const int64_t ack_every[] = {1, 256};
    struct rig_flow *there[3], *back[3];
    struct rig rig;
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        rig_init(&rig, 1);
        rig.nic.ack_every = ack_every[i];
        build_pair(&rig, 100 * GBPS);
        rig_flow(&rig, 0, 1, 64 * MIB, 0);
        rig_play(&rig);

        const struct port *forward = rig_port(&rig, "host0", "leaf0");
        double acks_bytes = (double)wire_bytes(rig_port(&rig, "host1", "leaf0"));

        snprintf(name, sizeof name, "ack_every_%d_gbps", (int)ack_every[i]);
        known_equals("K5", name, acks_bytes * 8e3 / (double)forward->busy_until_ps);
        rig_clear(&rig);
    }
    rig_init(&rig, 1);
    rig.nic.ack_every = 1;
    build_pair(&rig, 100 * GBPS);
    post_three(&rig, 0, 1, 8 * MIB, there);
    post_three(&rig, 1, 0, 8 * MIB, back);
    rig_play(&rig);
    known_equals("K5", "both_ways_ack_every_1_goodput_gbps", goodput_gbps(there));
    known_equals("K5", "both_ways_ack_every_1_goodput_gbps", goodput_gbps(back));
    rig_clear(&rig);
}

/* Records the frame of 'bytes' (with FCS) called 'what', three ways. */
static void
k06_sizes(const char *what, int64_t bytes)
{
    char name[64];

    snprintf(name, sizeof name, "%s_pcap_bytes", what);
    known_equals("K6", name, (double)bytes - 4);
    snprintf(name, sizeof name, "%s_frame_bytes", what);
    known_equals("K6", name, (double)bytes);
    snprintf(name, sizeof name, "%s_wire_bytes", what);
    known_equals("K6", name, (double)(bytes + WIRE_EXTRA_BYTES));
}

/* Bytes a frame that 'port' has sent in 'cls', all being alike. */
static int64_t
frame_bytes(const struct port *port, unsigned cls)
{
    const struct out_class *out = &port->out[cls];

    assert_true(out->tx_pkts > 0);
    assert_int_equal(out->tx_bytes % out->tx_pkts, 0);
    return out->tx_bytes / out->tx_pkts;
}

/* Bytes that a WRITE of 'n_pkts' full packets sends in all. */
static int64_t
bytes_of_write(int64_t n_pkts, int64_t *ack_bytes)
{
    struct rig rig;
    int64_t bytes;

    rig_init(&rig, 1);
    rig.nic.ack_every = 1;
    build_pair(&rig, 100 * GBPS);
    rig_flow(&rig, 0, 1, n_pkts * 4096, 0);
    rig_play(&rig);
    bytes = rig_port(&rig, "host0", "leaf0")->out[3].tx_bytes;
    *ack_bytes = frame_bytes(rig_port(&rig, "host1", "leaf0"), 3);
    rig_clear(&rig);
    return bytes;
}

static int64_t
read_request_bytes(void)
{
    struct rig rig;
    int64_t bytes;

    rig_init(&rig, 1);
    build_pair(&rig, 100 * GBPS);
    rig_flow(&rig, 0, 1, MIB, 0)->verb = QP_READ;
    rig_play(&rig);
    bytes = frame_bytes(rig_port(&rig, "host0", "leaf0"), 3);
    rig_clear(&rig);
    return bytes;
}

/* Two senders into one port that marks all that waits. */
static int64_t
cnp_bytes(void)
{
    struct rig rig;
    int64_t bytes;

    rig_init(&rig, 1);
    rig.cc_name = "dcqcn";
    rig.ecn.kmin_bytes = rig.ecn.kmax_bytes = 0;
    rig_star(&rig, 3, 100 * GBPS, CABLE_5M_PS);
    rig_build(&rig);
    rig_flow(&rig, 0, 2, MIB, 0);
    rig_flow(&rig, 1, 2, MIB, 0);
    rig_play(&rig);
    bytes = frame_bytes(rig_port(&rig, "host2", "leaf0"), 6);
    rig_clear(&rig);
    return bytes;
}

static void
send_stop(struct lp *lp, struct work_timer *timer)
{
    port_send_pause(lp, timer->ctx, 3, true);
}

/* What a pause frame takes of an idle link, in bytes. */
static int64_t
pause_wire_bytes(void)
{
    struct work_timer timer = {.fire = send_stop};
    struct rig rig;
    int64_t bytes;

    rig_init(&rig, 1);
    build_pair(&rig, 100 * GBPS);
    timer.source = net_new_timer(rig.net);
    rig_start(&rig, PARTITION_ONE, 1);
    timer.ctx = rig_port(&rig, "host1", "leaf0");
    work_timer_set(net_lp_of_host(rig.net, 1), &timer, PS_PER_US);
    rig_run(&rig, 10 * PS_PER_US);
    bytes = (((struct port *)timer.ctx)->busy_until_ps - PS_PER_US) * 100 / 8000;
    rig_clear(&rig);
    return bytes;
}

static void
test_k06_sizes(void **state)
{
    int64_t ack_bytes, one = bytes_of_write(1, &ack_bytes);
    int64_t two = bytes_of_write(2, &ack_bytes);
    struct port port = {0};

    (void)state;
    k06_sizes("ack", ack_bytes);
    k06_sizes("cnp", cnp_bytes());
    k06_sizes("read_request", read_request_bytes());
    k06_sizes("write_first", one);
    k06_sizes("write_middle", two - one);
    k06_sizes("pfc", pause_wire_bytes() - WIRE_EXTRA_BYTES);
    port_set_rate(&port, 100 * GBPS);
    known_equals("K6", "min_frames_100g_mpps",
                 1e6 / (double)port_bytes_ps(&port, FRAME_MIN_BYTES + WIRE_EXTRA_BYTES));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k01_goodput_by_rate),
        cmocka_unit_test(test_k02_goodput_by_mtu),
        cmocka_unit_test(test_k03_goodput_with_ipv6_and_vlan),
        cmocka_unit_test(test_k04_write_of_1_mib),
        cmocka_unit_test(test_k04_read_of_1_mib),
        cmocka_unit_test(test_k05_reverse_load_of_acks),
        cmocka_unit_test(test_k06_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
