/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_param.c - parameter tables: every kind, both bounds, names that are nearly right,
 * text that reads back, and each fault of a table.
 */
#include <config.h>

#include "sim/param.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct blob {
    int64_t before; /* no parameter: must stay */
    int64_t wait_ps, rate_bps, buffer_bytes, count, share_q32;
    int32_t colour;
    bool flag;
    unsigned char after; /* no parameter: must stay */
};

static const char *const colours[] = {"red", "green", "blue", NULL};

#define ENTRY(n, k, field, d, lo, hi)                                                    \
    .name = n, .kind = k, .offset = offsetof(struct blob, field), .unit = "", .def = d,  \
    .min = lo, .max = hi, .source = "test", .doc = "test"

static const struct param table[] = {
    {ENTRY("alpha_interval", PARAM_TIME, wait_ps, 55000000, 1, INT64_C(1000000000000))},
    {ENTRY("ai", PARAM_RATE, rate_bps, 40000000, 0, INT64_C(1) << 40)},
    {ENTRY("buffer", PARAM_SIZE, buffer_bytes, PARAM_SPECIAL, 0, INT64_C(1) << 40),
     .special = "computed"},
    {ENTRY("count", PARAM_INTEGER, count, -3, -5, 7)},
    {ENTRY("g", PARAM_FRACTION, share_q32, PARAM_Q32(1, 256), 0, 64 * PARAM_ONE)},
    {ENTRY("colour", PARAM_ENUM, colour, 2, 0, 2), .names = colours},
    {ENTRY("flag", PARAM_BOOL, flag, 1, 0, 1)},
    {.name = NULL},
};

static void
test_defaults_reach_their_fields_only(void **state)
{
    struct blob blob;

    (void)state;
    memset(&blob, 0xA5, sizeof blob);
    param_set_defaults(table, &blob);
    assert_int_equal(blob.wait_ps, 55000000);
    assert_int_equal(blob.rate_bps, 40000000);
    assert_int_equal(blob.buffer_bytes, -1);
    assert_int_equal(blob.count, -3);
    assert_int_equal(blob.share_q32, 16777216);
    assert_int_equal(blob.colour, 2);
    assert_true(blob.flag);
    assert_int_equal(blob.before, (int64_t)UINT64_C(0xA5A5A5A5A5A5A5A5));
    assert_int_equal(blob.after, 0xA5);
    for (const struct param *p = table; p->name != NULL; p++) {
        assert_int_equal(param_get(p, &blob), p->def);
    }
}

static void
test_set_reads_back_at_both_bounds(void **state)
{
    struct blob blob;

    (void)state;
    memset(&blob, 0, sizeof blob);
    for (const struct param *p = table; p->name != NULL; p++) {
        param_set(p, &blob, p->max);
        assert_int_equal(param_get(p, &blob), p->max);
        param_set(p, &blob, p->min);
        assert_int_equal(param_get(p, &blob), p->min);
    }
}

static void
test_range_names_the_bound(void **state)
{
    const struct param *count = param_find(table, "count");
    const struct param *buffer = param_find(table, "buffer");

    (void)state;
    assert_int_equal(param_range(count, -6), PARAM_BELOW);
    assert_int_equal(param_range(count, -5), PARAM_IN_RANGE);
    assert_int_equal(param_range(count, 7), PARAM_IN_RANGE);
    assert_int_equal(param_range(count, 8), PARAM_ABOVE);
    assert_int_equal(param_range(count, INT64_MAX), PARAM_ABOVE);
    assert_int_equal(param_range(buffer, PARAM_SPECIAL), PARAM_IN_RANGE);
    assert_int_equal(param_range(buffer, -2), PARAM_BELOW);
    assert_int_equal(param_range(param_find(table, "ai"), -1), PARAM_BELOW);
}

/* Distances by hand: optimal string alignment. */
static void
test_distance(void **state)
{
    (void)state;
    assert_int_equal(param_distance("", ""), 0);
    assert_int_equal(param_distance("", "abc"), 3);
    assert_int_equal(param_distance("abc", ""), 3);
    assert_int_equal(param_distance("kitten", "sitting"), 3);
    assert_int_equal(param_distance("ca", "ac"), 1);
    assert_int_equal(param_distance("ca", "abc"), 3); /* 2 without the alignment limit */
    assert_int_equal(param_distance("Min-Rate", "min_rate"), 0);
    assert_int_equal(param_distance("rate_timer", "rate_tmier"), 1);
}

static void
test_distance_of_long_words_stays_in_bounds(void **state)
{
    char a[200], b[200];

    (void)state;
    memset(a, 'a', sizeof a - 1);
    memset(b, 'b', sizeof b - 1);
    a[199] = b[199] = '\0';
    assert_int_equal(param_distance(a, b), 63);
    assert_int_equal(param_distance(a, a), 0);
}

static void
test_find_and_nearest(void **state)
{
    static const struct param empty[] = {{.name = NULL}};
    static const char *const words[] = {"leaf-spine", "star", "graph", NULL};

    (void)state;
    assert_string_equal(param_find(table, "ai")->name, "ai");
    assert_null(param_find(table, "Ai"));
    assert_string_equal(param_nearest(table, "alpha_intervall")->name, "alpha_interval");
    assert_string_equal(param_nearest(table, "bufer")->name, "buffer");
    assert_string_equal(param_nearest(table, "color")->name, "colour");
    assert_null(param_nearest(empty, "x"));
    assert_string_equal(param_nearest_word(words, "leafspine"), "leaf-spine");
    assert_string_equal(param_nearest_word(words, "grpah"), "graph");
    assert_int_equal(param_enum_find(param_find(table, "colour"), "blue"), 2);
    assert_int_equal(param_enum_find(param_find(table, "colour"), "Blue"), -1);
}

static void
assert_text(const char *name, int64_t value, const char *expected)
{
    char text[PARAM_TEXT_BYTES];

    param_format(param_find(table, name), value, text);
    assert_string_equal(text, expected);
}

static void
test_format(void **state)
{
    (void)state;
    assert_text("alpha_interval", 55000000, "55us");
    assert_text("alpha_interval", 1500, "1500ps");
    assert_text("alpha_interval", 0, "0ps");
    assert_text("alpha_interval", INT64_C(2000000000000), "2s");
    assert_text("ai", 40000000, "40Mbps");
    assert_text("ai", INT64_C(100000000000), "100Gbps");
    assert_text("buffer", 10000000, "10MB");
    assert_text("buffer", 19456, "19KiB");
    assert_text("buffer", 2097088, "2097088B");
    assert_text("buffer", PARAM_SPECIAL, "computed");
    assert_text("count", -5, "-5");
    assert_text("g", PARAM_Q32(1, 256), "0.00390625");
    assert_text("g", PARAM_Q32(1, 5), "0.2");
    assert_text("g", PARAM_Q32(1, 100), "0.01");
    assert_text("g", 0, "0");
    assert_text("g", 8 * PARAM_ONE, "8");
    assert_text("colour", 1, "green");
    assert_text("flag", 1, "true");
    assert_text("flag", 0, "false");
}

/* What is written must read back as the same Q32, whatever its bits. */
static void
test_fraction_reads_back(void **state)
{
    const struct param *g = param_find(table, "g");
    char text[PARAM_TEXT_BYTES];
    uint64_t x = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int64_t value = (int64_t)(x % (uint64_t)(64 * PARAM_ONE));

        param_format(g, value, text);
        assert_int_equal(llround(strtod(text, NULL) * 4294967296.0), value);
    }
}

static void
assert_fault(struct param entry, const char *expected)
{
    const struct param one[] = {entry, {.name = NULL}};
    const struct param *bad = NULL;
    const char *fault = param_table_fault(one, sizeof(struct blob), &bad);

    if (expected == NULL) {
        assert_null(fault);
        assert_null(bad);
    } else {
        assert_non_null(fault);
        assert_non_null(strstr(fault, expected));
        assert_ptr_equal(bad, one);
    }
}

static void
test_each_fault_of_a_table_is_found(void **state)
{
    const struct param good = {ENTRY("x", PARAM_INTEGER, count, 1, 0, 2)};
    struct param p;

    (void)state;
    assert_fault(good, NULL);
    p = good, p.source = "";
    assert_fault(p, "no source");
    p = good, p.doc = NULL;
    assert_fault(p, "no doc");
    p = good, p.unit = NULL;
    assert_fault(p, "no unit");
    p = good, p.min = 3;
    assert_fault(p, "min above max");
    p = good, p.def = 3;
    assert_fault(p, "default outside");
    p = good, p.offset = sizeof(struct blob) - 4;
    assert_fault(p, "outside the blob");
    p = good, p.special = "off", p.min = -1;
    assert_fault(p, "special word");
    p = good, p.kind = PARAM_FRACTION, p.min = -1;
    assert_fault(p, "fraction below 0");
    p = good, p.kind = PARAM_BOOL;
    assert_fault(p, "bool whose range");
    p = good, p.kind = PARAM_ENUM, p.names = colours, p.max = 3;
    assert_fault(p, "range is not that of its names");
    p = good, p.kind = PARAM_ENUM, p.names = NULL;
    assert_fault(p, "range is not that of its names");
}

static void
test_faults_between_entries_are_found(void **state)
{
    const struct param twice[] = {
        {ENTRY("x", PARAM_INTEGER, count, 1, 0, 2)},
        {ENTRY("x", PARAM_INTEGER, wait_ps, 1, 0, 2)},
        {.name = NULL},
    };
    const struct param overlap[] = {
        {ENTRY("x", PARAM_INTEGER, count, 1, 0, 2)},
        {ENTRY("y", PARAM_INTEGER, count, 1, 0, 2)},
        {.name = NULL},
    };
    const struct param *bad = NULL;

    (void)state;
    assert_string_equal(param_table_fault(twice, sizeof(struct blob), &bad),
                        "has the name of another");
    assert_ptr_equal(bad, &twice[1]);
    assert_string_equal(param_table_fault(overlap, sizeof(struct blob), &bad),
                        "overlaps another");
    assert_ptr_equal(bad, &overlap[1]);
    assert_null(param_table_fault(table, sizeof(struct blob), &bad));
}

static void
test_ratio(void **state)
{
    struct {
        int64_t ratio;
    } blob = {0};
    struct param p = {.name = "oversubscription",
                      .kind = PARAM_RATIO,
                      .unit = "",
                      .def = PARAM_SPECIAL,
                      .min = PARAM_RATIO_OF(1, 10),
                      .max = PARAM_RATIO_OF(10, 1),
                      .special = "computed",
                      .source = "test",
                      .doc = "test"};
    const int64_t top = PARAM_RATIO_OF(PARAM_RATIO_MAX, PARAM_RATIO_MAX);
    const struct param *bad = NULL;
    struct param two[2] = {p, {0}};
    char text[PARAM_TEXT_BYTES];

    (void)state;
    assert_null(param_table_fault(two, sizeof blob, &bad));
    assert_int_equal(PARAM_RATIO_N(top), PARAM_RATIO_MAX);
    assert_int_equal(PARAM_RATIO_M(top), PARAM_RATIO_MAX);
    assert_int_equal(param_range(&p, PARAM_SPECIAL), PARAM_IN_RANGE);
    assert_int_equal(param_range(&p, PARAM_RATIO_OF(3, 2)), PARAM_IN_RANGE);
    assert_int_equal(param_range(&p, top), PARAM_IN_RANGE);
    assert_int_equal(param_range(&p, PARAM_RATIO_OF(20, 2)), PARAM_IN_RANGE);
    assert_int_equal(param_range(&p, PARAM_RATIO_OF(21, 2)), PARAM_ABOVE);
    assert_int_equal(param_range(&p, PARAM_RATIO_OF(2, 20)), PARAM_IN_RANGE);
    assert_int_equal(param_range(&p, PARAM_RATIO_OF(2, 21)), PARAM_BELOW);
    assert_int_equal(param_range(&p, PARAM_RATIO_OF(0, 1)), PARAM_BELOW);
    assert_int_equal(param_range(&p, PARAM_RATIO_OF(1, 0)), PARAM_BELOW);
    assert_int_equal(param_range(&p, PARAM_RATIO_OF(1, INT64_C(0x80000000))),
                     PARAM_BELOW);
    assert_int_equal(param_range(&p, -2), PARAM_BELOW);
    param_set(&p, &blob, PARAM_RATIO_OF(6, 4));
    assert_int_equal(param_get(&p, &blob), PARAM_RATIO_OF(6, 4));
    param_format(&p, PARAM_RATIO_OF(6, 4), text);
    assert_string_equal(text, "6:4");
    param_format(&p, top, text);
    assert_string_equal(text, "2147483647:2147483647");
    assert_string_equal(param_kind_name(PARAM_RATIO), "ratio");
    two[0].min = 0;
    assert_non_null(param_table_fault(two, sizeof blob, &bad));
    two[0].min = PARAM_RATIO_OF(7, 2), two[0].max = PARAM_RATIO_OF(10, 3);
    assert_non_null(param_table_fault(two, sizeof blob, &bad));
}

static void
test_lengths_and_shares(void **state)
{
    struct {
        int64_t length_mm, share_e18;
    } blob = {0};
    const struct param two[] = {
        {.name = "length",
         .kind = PARAM_LENGTH,
         .unit = "m",
         .def = 3000,
         .max = 1000000000,
         .source = "test",
         .doc = "test"},
        {.name = "share",
         .kind = PARAM_SHARE,
         .offset = sizeof(int64_t),
         .unit = "",
         .def = 0,
         .max = PARAM_SHARE_ONE,
         .source = "test",
         .doc = "test"},
        {.name = NULL},
    };
    struct param wide[] = {two[1], two[2]};
    const struct param *bad = NULL;
    char text[PARAM_TEXT_BYTES];

    (void)state;
    assert_null(param_table_fault(two, sizeof blob, &bad));
    param_set(&two[0], &blob, 1500);
    param_set(&two[1], &blob, PARAM_SHARE_ONE);
    assert_int_equal(blob.length_mm, 1500);
    assert_int_equal(param_get(&two[1], &blob), PARAM_SHARE_ONE);
    param_format(&two[0], 3000, text);
    assert_string_equal(text, "3m");
    param_format(&two[0], 1500, text);
    assert_string_equal(text, "150cm");
    param_format(&two[0], 2000000, text);
    assert_string_equal(text, "2km");
    param_format(&two[1], 1, text);
    assert_string_equal(text, "0.000000000000000001");
    param_format(&two[1], PARAM_SHARE_ONE / 5, text);
    assert_string_equal(text, "0.2");
    param_format(&two[1], 0, text);
    assert_string_equal(text, "0");
    param_format(&two[1], PARAM_SHARE_ONE, text);
    assert_string_equal(text, "1");
    wide[0].max++;
    assert_string_equal(param_table_fault(wide, sizeof blob, &bad),
                        "is a share whose range is not within 0 to 1");
}

static void
test_words_of_integers_and_bools(void **state)
{
    static const char *const versions[] = {"4", "6", NULL};
    static const char *const ways[] = {"store-and-forward", "cut-through", NULL};
    struct param ip = {ENTRY("ip", PARAM_INTEGER, count, 4, 4, 6), .names = versions};
    struct param way = {ENTRY("forwarding", PARAM_BOOL, flag, 0, 0, 1), .names = ways};
    char text[PARAM_TEXT_BYTES];

    (void)state;
    assert_fault(ip, NULL);
    assert_true(param_allows(&ip, 4));
    assert_false(param_allows(&ip, 5));
    assert_true(param_allows(&ip, 6));
    assert_false(param_allows(&ip, 7));
    ip.def = 5;
    assert_fault(ip, "default outside");
    assert_fault(way, NULL);
    param_format(&way, 1, text);
    assert_string_equal(text, "cut-through");
    param_format(&way, 0, text);
    assert_string_equal(text, "store-and-forward");
    way.names = versions + 1;
    assert_fault(way, "not two");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_reach_their_fields_only),
        cmocka_unit_test(test_set_reads_back_at_both_bounds),
        cmocka_unit_test(test_range_names_the_bound),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_distance_of_long_words_stays_in_bounds),
        cmocka_unit_test(test_find_and_nearest),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_fraction_reads_back),
        cmocka_unit_test(test_each_fault_of_a_table_is_found),
        cmocka_unit_test(test_faults_between_entries_are_found),
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_lengths_and_shares),
        cmocka_unit_test(test_words_of_integers_and_bools),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
