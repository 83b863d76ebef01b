/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_known_allreduce.c - K42: a ring all_reduce of 8 hosts on one switch against its
 * bound, for a size that the bandwidth decides and for sizes of a single loop, where each
 * of the 2 (n - 1) steps adds its latency.  1 GiB: test_known_allreduce_1gib.c.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/job.h"
#include "tests/support/known.h"

enum { RANKS = 8, STEPS = 2 * (RANKS - 1) };

static struct call_result
all_reduce(int64_t bytes, int64_t max_channels)
{
    struct job job;

    job_star(&job, RANKS, 1);
    job.nccl.max_channels = max_channels;
    job.params.collective.bytes = bytes;
    job_play(&job);
    struct call_result call = *job_calls(&job, 1);

    job_clear(&job);
    return call;
}

static void
test_k42_256_mib(void **state)
{
    struct call_result call = all_reduce(256 * MIB, 64);
    double share = (double)job_took_ps(&call) / (double)call.bound_ps;

    (void)state;
    known_equals("K42", "bound_256_mib_ms", (double)call.bound_ps / PS_PER_US / 1e3);
    known_at_least("K42", "time_over_bound_least", share);
    known_at_most("K42", "time_over_bound_most", share);
}

/* Wire bytes of a clear-to-send (a write of 64 B) and of an ACK. */
#define CTS_WIRE_BYTES (62 + RETH_BYTES + 64 + WIRE_EXTRA_BYTES)
#define ACK_WIRE_BYTES 86

/* What a step adds to the bytes of the bound: two cables, the switch's latency, a packet
 * that the switch stores; RETH and immediate data of both slices, or of one and of the
 * write without data behind it (102 B); and the answers that may stand before the last
 * packet, at the rank's port and again at the switch's: for each slice a clear-to-send
 * and the ACKs of both. */
static int64_t
step_latency_ps(void)
{
    int64_t answers_bytes = 2 * (CTS_WIRE_BYTES + 2 * ACK_WIRE_BYTES);
    int64_t bytes = JOB_WIRE_BYTES + RETH_BYTES + IMMDT_BYTES + 102 + 2 * answers_bytes;

    return 2 * JOB_DELAY_PS + 300 * PS_PER_NS + sim_tx_time_ps(bytes, JOB_RATE_BPS);
}

static void
test_k42_steps(void **state)
{
    const int64_t sizes[] = {32 * KIB, 256 * KIB, MIB, 4 * MIB};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct call_result call = all_reduce(sizes[i], 1);

        print_message(
            "# K42, %lld KiB: bound %.3f us, took %.3f us: %.3f us a step, step "
            "latency %.3f us\n",
            (long long)(sizes[i] / KIB), (double)call.bound_ps / PS_PER_US,
            (double)job_took_ps(&call) / PS_PER_US,
            (double)(job_took_ps(&call) - call.bound_ps) / STEPS / PS_PER_US,
            (double)step_latency_ps() / PS_PER_US);
        known_at_least("K42", "time_over_bound_least",
                       (double)job_took_ps(&call) / (double)call.bound_ps);
        known_at_most("K42", "step_latencies_over_bound",
                      (double)(job_took_ps(&call) - call.bound_ps) /
                          (double)step_latency_ps());
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k42_256_mib),
        cmocka_unit_test(test_k42_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
