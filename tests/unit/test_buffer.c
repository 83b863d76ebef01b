/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_buffer.c - who may use a switch's buffer, who is stopped, and the arithmetic of
 * headroom.  K17 and K20 name rows of the known answers in docs/validation.md.
 */
#include <config.h>

#include "models/switch/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "sim/rng.h"

#define FRAME 4158

static int64_t
shared_sum(const struct buffer *buffer, const struct in_class in[], size_t n)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += buffer_shared_of(&in[i], buffer->reserved_bytes);
    }
    return sum;
}

/* Fills 'n' accounts in turn, lossless ones until each is stopped, lossy ones (each its
 * own queue) until each is refused; fills 'used' with what they then hold. */
static void
saturate(int64_t buffer_bytes, int64_t alpha_q16, bool lossless, size_t n, int64_t used[])
{
    struct buffer buffer = {.shared_bytes = buffer_bytes, .alpha_q16 = alpha_q16};
    struct in_class in[8];
    bool done[8] = {0};
    size_t n_done = 0;

    for (size_t i = 0; i < 8; i++) {
        in[i] = (struct in_class){.headroom_limit_bytes = FRAME};
    }
    while (n_done < n) {
        for (size_t i = 0; i < n; i++) {
            if (!done[i] && lossless) {
                assert_true(buffer_admit_lossless(&buffer, &in[i], FRAME, &done[i]));
                in[i].xoff = done[i];
                n_done += done[i];
            } else if (!done[i]) {
                done[i] = !buffer_admit_lossy(&buffer, &in[i], FRAME, in[i].used_bytes);
                n_done += done[i];
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        used[i] = in[i].used_bytes;
        assert_true(in[i].headroom_bytes <= (lossless ? FRAME : 0));
    }
    assert_int_equal(buffer.shared_used, shared_sum(&buffer, in, n));
}

/* K20: T = alpha B / (1 + alpha N), within one packet. */
static void
k20_dynamic_threshold(void **state)
{
    const struct {
        int64_t buffer_bytes, alpha_q16;
        size_t n;
        int64_t expected;
    } rows[] = {{16000000, 1 << 16, 1, 8000000},
                {16000000, 1 << 16, 2, 5333333},
                {16000000, (1 << 16) / 8, 1, 1777778},
                {12000000, (1 << 16) / 16, 4, 600000},
                {64000000, 8 << 16, 1, 56888889}};

    (void)state;
    for (size_t r = 0; r < 2 * sizeof rows / sizeof *rows; r++) {
        bool lossless = r % 2;
        size_t n = rows[r / 2].n;
        int64_t used[8];

        saturate(rows[r / 2].buffer_bytes, rows[r / 2].alpha_q16, lossless, n, used);
        for (size_t i = 0; i < n; i++) {
            assert_true(llabs(used[i] - rows[r / 2].expected) <= FRAME);
        }
    }
}

/* A lossy queue is judged by its length: the same threshold, and beyond it loss. */
static void
lossy(void **state)
{
    struct buffer buffer = {.shared_bytes = 16000000, .alpha_q16 = 1 << 16};
    struct in_class in = {0};
    int64_t queued = 0;

    (void)state;
    while (buffer_admit_lossy(&buffer, &in, FRAME, queued)) {
        queued += FRAME;
    }
    assert_true(llabs(queued - 8000000) <= FRAME);
    assert_int_equal(buffer.shared_used, queued);
    /* Another queue still gets what is free. */
    assert_true(buffer_admit_lossy(&buffer, &in, FRAME, 0));
    buffer_release(&buffer, &in, FRAME, false);
    buffer_release(&buffer, &in, queued, false);
    assert_int_equal(buffer.shared_used, 0);
    assert_int_equal(in.used_bytes, 0);
    /* Alpha as large as can be: no more than there is. */
    buffer.alpha_q16 = 64 << 16;
    for (queued = 0; buffer_admit_lossy(&buffer, &in, FRAME, 0);) {
        queued += FRAME;
    }
    assert_true(queued <= 16000000 && queued > 16000000 - FRAME);
}

/* Reserve, then shared, then headroom, then loss; back in the opposite order. */
static void
order_of_use(void **state)
{
    struct buffer buffer = {.shared_bytes = 20000,
                            .alpha_q16 = 1 << 16,
                            .reserved_bytes = 5000,
                            .xon_bytes = -1,
                            .xon_offset_bytes = 2000};
    struct in_class in = {.headroom_limit_bytes = 3000};
    bool stop = true;

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_true(buffer_admit_lossless(&buffer, &in, 1000, &stop));
        assert_false(stop); /* within the reserve */
    }
    assert_int_equal(buffer.shared_used, 0);
    for (int i = 1; i <= 10; i++) {
        assert_true(buffer_admit_lossless(&buffer, &in, 1000, &stop));
        assert_int_equal(buffer.shared_used, 1000 * i);
        assert_int_equal(stop, i == 10); /* 10000 of 20000 used, 10000 free */
    }
    assert_int_equal(in.headroom_bytes, 0);
    in.xoff = true;
    for (int i = 1; i <= 3; i++) {
        assert_true(buffer_admit_lossless(&buffer, &in, 1000, &stop));
        assert_true(stop);
        assert_int_equal(in.headroom_bytes, 1000 * i);
    }
    assert_false(buffer_admit_lossless(&buffer, &in, 1000, &stop));
    assert_int_equal(in.used_bytes, 15000);
    assert_int_equal(in.headroom_bytes, 3000);

    assert_false(buffer_may_resume(&buffer, &in));
    buffer_release(&buffer, &in, 2500, true);
    assert_int_equal(in.headroom_bytes, 500);
    assert_int_equal(buffer.shared_used, 10000);
    buffer_release(&buffer, &in, 1500, true);
    assert_int_equal(in.headroom_bytes, 0);
    assert_int_equal(buffer.shared_used, 9000);
    assert_int_equal(in.used_bytes, 14000);
    /* 9000 used, threshold 11000: not until 2000 below, both moving. */
    assert_true(buffer_may_resume(&buffer, &in));
    buffer.xon_offset_bytes = 2001;
    assert_false(buffer_may_resume(&buffer, &in));
    buffer.xon_bytes = 9000; /* given: static */
    assert_true(buffer_may_resume(&buffer, &in));
    buffer.xon_bytes = 8999;
    assert_false(buffer_may_resume(&buffer, &in));
    buffer_release(&buffer, &in, 14000, true);
    assert_int_equal(buffer.shared_used, 0);
    buffer.xon_bytes = 0;
    assert_true(buffer_may_resume(&buffer, &in));
}

/* A threshold that has fallen below what an account holds: the frame that finds it so
 * goes to headroom and stops the peer.  The one that then finds headroom full takes
 * shared room, once, and only where there is some. */
static void
fallen_threshold(void **state)
{
    struct buffer buffer = {.shared_bytes = 20000, .alpha_q16 = 1 << 16};
    struct in_class in = {.headroom_limit_bytes = 2000};
    bool stop = true;

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_true(buffer_admit_lossless(&buffer, &in, 1000, &stop));
        assert_false(stop);
    }
    buffer.shared_used += 12000; /* others */
    assert_true(buffer_admit_lossless(&buffer, &in, 1000, &stop));
    assert_true(stop);
    assert_int_equal(in.used_bytes, 5000);
    assert_int_equal(in.headroom_bytes, 1000);
    in.xoff = true;
    assert_true(buffer_admit_lossless(&buffer, &in, 1000, &stop));
    assert_int_equal(in.headroom_bytes, 2000);
    assert_true(buffer_admit_lossless(&buffer, &in, 1000, &stop));
    assert_int_equal(in.used_bytes, 6000);
    assert_int_equal(in.headroom_bytes, 2000);
    assert_false(buffer_admit_lossless(&buffer, &in, 1000, &stop));

    /* Nothing owed: the threshold was crossed by the frame that stopped the peer. */
    struct in_class other = {.headroom_limit_bytes = 0, .xoff = true};

    assert_false(buffer_admit_lossless(&buffer, &other, 3000, &stop));
    assert_int_equal(other.used_bytes, 0);

    /* Owed, but the buffer is full. */
    struct in_class last = {.headroom_limit_bytes = 1000, .used_bytes = 1};

    buffer.shared_used = buffer.shared_bytes;
    assert_true(buffer_admit_lossless(&buffer, &last, 1000, &stop));
    last.xoff = true;
    assert_false(buffer_admit_lossless(&buffer, &last, 1000, &stop));
}

/* When others leave nothing, an empty account may resume all the same. */
static void
resume_when_empty(void **state)
{
    struct buffer buffer = {.shared_bytes = 1000,
                            .shared_used = 1000,
                            .alpha_q16 = 1 << 16,
                            .xon_bytes = -1,
                            .xon_offset_bytes = 8000};
    struct in_class in = {0};

    (void)state;
    assert_true(buffer_may_resume(&buffer, &in));
}

/* K17: the bound, bytes, with t_react 0 and by IEEE 802.3, at 5, 40, 100, 300 m. */
static void
k17_headroom(void **state)
{
    const int64_t rate_bps[] = {100000000000, 200000000000, 400000000000};
    const int64_t reaction_ps[] = {2017280, 1159680, 1158400};
    const double metres[] = {5, 40, 100, 300};
    const int64_t plain[3][4] = {{9071, 13491, 21066, 46319},
                                 {9703, 18541, 33693, 84198},
                                 {10965, 28642, 58945, 159955}};
    const int64_t ieee[3][4] = {{34287, 38707, 46282, 71535},
                                {38695, 47533, 62685, 113190},
                                {68885, 86562, 116865, 217875}};

    (void)state;
    for (int r = 0; r < 3; r++) {
        for (int m = 0; m < 4; m++) {
            /* 198 m a microsecond. */
            int64_t delay_ps = (int64_t)(metres[m] / 198 * 1e6 + 0.5);

            /* The table is rounded to whole bytes, the function up. */
            assert_in_range(buffer_headroom_bytes(rate_bps[r], delay_ps, 0, FRAME),
                            plain[r][m], plain[r][m] + 1);
            assert_in_range(
                buffer_headroom_bytes(rate_bps[r], delay_ps, reaction_ps[r], FRAME),
                ieee[r][m], ieee[r][m] + 1);
        }
    }
}

/* Whatever comes and goes: accounts add up, headroom is used only when stopped, and
 * nobody has more than there is. */
static void
random_use(void **state)
{
    enum { N_ACCOUNTS = 8, N_WAITING = 20000 };
    struct {
        uint8_t account;
        int16_t bytes;
    } waiting[N_WAITING];

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        uint64_t key = rng_key(seed, "test_buffer", "use"), n = 0;
        struct buffer buffer = {0};

        buffer.shared_bytes = 100000 + (int64_t)rng_below(key, n++, 1000000);
        buffer.alpha_q16 = (int64_t)(1 << 10) << rng_below(key, n++, 12);
        buffer.reserved_bytes = (int64_t)rng_below(key, n++, 20000);
        struct in_class in[N_ACCOUNTS] = {{0}};
        size_t first = 0, last = 0;

        for (int i = 0; i < N_ACCOUNTS; i++) {
            in[i].headroom_limit_bytes = 20000;
        }
        while (last < N_WAITING) {
            size_t k = rng_below(key, n++, N_ACCOUNTS);
            int16_t bytes = (int16_t)(64 + rng_below(key, n++, 4200));
            bool lossless = k % 2; /* by class, so by account */
            bool stop = false;
            bool fits =
                lossless ? buffer_admit_lossless(&buffer, &in[k], bytes, &stop)
                         : buffer_admit_lossy(&buffer, &in[k], bytes, in[k].used_bytes);

            assert_true(fits || stop || !lossless);
            waiting[last].account = (uint8_t)k;
            waiting[last++].bytes = fits ? bytes : 0;
            while (first < last && rng_below(key, n++, 2)) {
                k = waiting[first].account;
                buffer_release(&buffer, &in[k], waiting[first++].bytes, k % 2);
            }
            int64_t sum = 0;

            for (size_t i = 0; i < N_ACCOUNTS; i++) {
                sum += buffer_shared_of(&in[i], i % 2 ? buffer.reserved_bytes : 0);
                assert_true(in[i].headroom_bytes <= in[i].headroom_limit_bytes);
                assert_true(in[i].used_bytes >= 0 && in[i].headroom_bytes >= 0);
            }
            assert_int_equal(sum, buffer.shared_used);
            assert_true(buffer.shared_used <= buffer.shared_bytes);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k20_dynamic_threshold),
        cmocka_unit_test(lossy),
        cmocka_unit_test(order_of_use),
        cmocka_unit_test(resume_when_empty),
        cmocka_unit_test(fallen_threshold),
        cmocka_unit_test(k17_headroom),
        cmocka_unit_test(random_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
