/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_quantity.c - quantities with units: exact values, both bounds, every wrong form,
 * and that what a table writes is read back.
 */
#include <config.h>

#include "tools/scenario/units.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void
assert_value(const char *text, enum param_kind kind, int64_t expected)
{
    g_autoptr(GError) error = NULL;
    int64_t value = -77;

    if (!units_parse(text, kind, &value, &error)) {
        fail_msg("'%s': %s", text, error->message);
    }
    if (value != expected) {
        fail_msg("'%s' is %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, text, value,
                 expected);
    }
}

static void
assert_refused(const char *text, enum param_kind kind, const char *why)
{
    g_autoptr(GError) error = NULL;
    int64_t value = -77;

    if (units_parse(text, kind, &value, &error)) {
        fail_msg("'%s' is taken as %" G_GINT64_FORMAT, text, value);
    }
    if (strstr(error->message, why) == NULL) {
        fail_msg("'%s': '%s' does not say '%s'", text, error->message, why);
    }
    assert_null(strchr(error->message, '\n'));
}

static void
test_times(void **state)
{
    (void)state;
    assert_value("1ps", PARAM_TIME, 1);
    assert_value("1us", PARAM_TIME, 1000000);
    assert_value("1 us", PARAM_TIME, 1000000);
    assert_value("2.5us", PARAM_TIME, 2500000);
    assert_value("0.001ns", PARAM_TIME, 1);
    assert_value("2.500000000us", PARAM_TIME, 2500000);
    assert_value("1e-3us", PARAM_TIME, 1000);
    assert_value("1E3ns", PARAM_TIME, 1000000);
    assert_value("50ms", PARAM_TIME, INT64_C(50000000000));
    assert_value("3\xc2\xb5s", PARAM_TIME, 3000000);
    assert_value("1min", PARAM_TIME, INT64_C(60000000000000));
    assert_value("0us", PARAM_TIME, 0);
    assert_value("-0us", PARAM_TIME, 0);
    assert_value("9223372036854775807ps", PARAM_TIME, INT64_MAX);
    assert_value("9223372.036854775807s", PARAM_TIME, INT64_MAX);
}

static void
test_rates_sizes_lengths(void **state)
{
    (void)state;
    assert_value("100G", PARAM_RATE, INT64_C(100000000000));
    assert_value("100Gbps", PARAM_RATE, INT64_C(100000000000));
    assert_value("100Gbit/s", PARAM_RATE, INT64_C(100000000000));
    assert_value("5Mbps", PARAM_RATE, 5000000);
    assert_value("1.6T", PARAM_RATE, INT64_C(1600000000000));
    assert_value("8bps", PARAM_RATE, 8);
    assert_value("2.5K", PARAM_RATE, 2500);
    assert_value("64KiB", PARAM_SIZE, 65536);
    assert_value("400KB", PARAM_SIZE, 400000);
    assert_value("400kB", PARAM_SIZE, 400000);
    assert_value("4178B", PARAM_SIZE, 4178);
    assert_value("1.5MiB", PARAM_SIZE, 1572864);
    assert_value("3m", PARAM_LENGTH, 3000);
    assert_value("1.5km", PARAM_LENGTH, 1500000);
    assert_value("12.5cm", PARAM_LENGTH, 125);
}

static void
test_shares_fractions_ratios(void **state)
{
    (void)state;
    assert_value("0.2", PARAM_FRACTION, PARAM_Q32(1, 5));
    assert_value("20%", PARAM_FRACTION, PARAM_Q32(1, 5));
    assert_value("0.00390625", PARAM_FRACTION, PARAM_ONE / 256);
    assert_value("8", PARAM_FRACTION, 8 * PARAM_ONE);
    /* 1/3 x 2^32 = 1431655765.33 */
    assert_value("0.33333333333333333333", PARAM_FRACTION, 1431655765);
    assert_value("1e-12", PARAM_SHARE, 1000000);
    assert_value("1e-18", PARAM_SHARE, 1);
    assert_value("4e-19", PARAM_SHARE, 0);
    assert_value("5e-19", PARAM_SHARE, 1);
    assert_value("1e-300", PARAM_SHARE, 0);
    assert_value("100%", PARAM_SHARE, PARAM_SHARE_ONE);
    assert_value("3:2", PARAM_RATIO, PARAM_RATIO_OF(3, 2));
    assert_value("2147483647:1", PARAM_RATIO, PARAM_RATIO_OF(2147483647, 1));
    assert_value("-5", PARAM_INTEGER, -5);
}

static void
test_wrong_forms(void **state)
{
    (void)state;
    assert_refused("", PARAM_TIME, "a time such as");
    assert_refused("us", PARAM_TIME, "a time such as");
    assert_refused("5", PARAM_TIME, "a unit is missing, write for example \"5us\"");
    assert_refused("0", PARAM_SIZE, "a unit is missing, write for example \"0B\"");
    assert_refused("5uss", PARAM_TIME, "a time such as");
    assert_refused("5us ", PARAM_TIME, "a time such as");
    assert_refused(" 5us", PARAM_TIME, "a time such as");
    assert_refused("5US", PARAM_TIME, "a time such as");
    assert_refused("1,5us", PARAM_TIME, "a time such as");
    assert_refused("1.us", PARAM_TIME, "a time such as");
    assert_refused("1.2.3us", PARAM_TIME, "a time such as");
    assert_refused("nan", PARAM_TIME, "a time such as");
    assert_refused("inf", PARAM_TIME, "a time such as");
    assert_refused("nanus", PARAM_TIME, "a time such as");
    assert_refused("0x10us", PARAM_TIME, "a time such as");
    assert_refused("--5us", PARAM_TIME, "a time such as");
    assert_refused("5G", PARAM_SIZE, "a size such as");
    assert_refused("8M", PARAM_SIZE, "a size such as");
    assert_refused("5GB", PARAM_RATE, "a rate such as");
    assert_refused("100Gbpsbps", PARAM_RATE, "a rate such as");
    assert_refused("20%%", PARAM_SHARE, "a share such as");
    assert_refused("20%", PARAM_INTEGER, "a whole number");
    assert_refused("3/2", PARAM_RATIO, "a ratio such as");
    assert_refused("3:", PARAM_RATIO, "a ratio such as");
    assert_refused(":2", PARAM_RATIO, "a ratio such as");
    assert_refused("3:2:1", PARAM_RATIO, "a ratio such as");
    assert_refused("-3:2", PARAM_RATIO, "a ratio such as");
}

static void
test_ranges(void **state)
{
    (void)state;
    assert_refused("-5us", PARAM_TIME, "must not be negative");
    assert_refused("-0.1", PARAM_SHARE, "must not be negative");
    assert_refused("0.3ps", PARAM_TIME, "no whole number");
    assert_refused("0.1B", PARAM_SIZE, "no whole number");
    assert_refused("1e-60us", PARAM_TIME, "no whole number");
    assert_refused("9223372036854775808ps", PARAM_TIME, "too large");
    assert_refused("9223372.036854775808s", PARAM_TIME, "too large");
    assert_refused("1e30us", PARAM_TIME, "too large");
    assert_refused("1e999999999999us", PARAM_TIME, "too large");
    assert_refused("99999999999999999999TiB", PARAM_SIZE, "too large");
    assert_refused("3000000000", PARAM_FRACTION, "too large");
    assert_refused("10", PARAM_SHARE, "too large");
    assert_refused("0:1", PARAM_RATIO, "terms must be");
    assert_refused("1:2147483648", PARAM_RATIO, "terms must be");
    assert_refused("99999999999999999999999:1", PARAM_RATIO, "a ratio such as");
    /* More digits than are read. */
    assert_refused("1.000000000000000000001us", PARAM_TIME, "a time such as");
}

/* Whatever a table writes, the parser reads as the same value. */
static void
test_what_is_written_reads_back(void **state)
{
    static const enum param_kind kinds[] = {PARAM_TIME,     PARAM_RATE,    PARAM_SIZE,
                                            PARAM_LENGTH,   PARAM_INTEGER, PARAM_SHARE,
                                            PARAM_FRACTION, PARAM_RATIO};
    uint64_t x = 88172645463325252u;
    char text[PARAM_TEXT_BYTES];

    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
        struct param p = {.name = "p", .kind = kinds[k]};

        for (int i = 0; i < 5000; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            /* Few bits and many; a fraction up to 64, a share up to 1. */
            int64_t value = (int64_t)(x >> (1 + i % 62));

            if (kinds[k] == PARAM_FRACTION) {
                value %= 64 * PARAM_ONE;
            } else if (kinds[k] == PARAM_SHARE) {
                value %= PARAM_SHARE_ONE + 1;
            } else if (kinds[k] == PARAM_RATIO) {
                value = PARAM_RATIO_OF(1 + (value & 0xffff), 1 + (value >> 16 & 0xffff));
            }
            param_format(&p, value, text);
            assert_value(text, kinds[k], value);
        }
    }
}

static void
test_locale_changes_nothing(void **state)
{
    (void)state;
    /* Where there is no such locale the test is the same as without. */
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        setlocale(LC_ALL, "C.UTF-8");
    }
    assert_value("2.5us", PARAM_TIME, 2500000);
    assert_value("0.2", PARAM_FRACTION, PARAM_Q32(1, 5));
    assert_refused("2,5us", PARAM_TIME, "a time such as");
    setlocale(LC_ALL, "C");
}

/* 5 m of cable: 25.25 ns. */
static void
test_cable(void **state)
{
    (void)state;
    assert_int_equal(units_cable_ps(0), 0);
    assert_int_equal(units_cable_ps(1), 5);
    assert_int_equal(units_cable_ps(5000), 25250);
    assert_int_equal(units_cable_ps(1000000000), INT64_C(5050000000));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_rates_sizes_lengths),
        cmocka_unit_test(test_shares_fractions_ratios),
        cmocka_unit_test(test_wrong_forms),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_what_is_written_reads_back),
        cmocka_unit_test(test_locale_changes_nothing),
        cmocka_unit_test(test_cable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
