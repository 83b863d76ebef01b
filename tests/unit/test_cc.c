/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_cc.c - the registry of congestion controls: every table, preset and function that
 * a new algorithm must bring is held against the contract of cc.h.
 */
#include <config.h>

#include "models/cc/cc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { PARAMS_BYTES = 1024 };

static void
test_find(void **state)
{
    (void)state;
    assert_string_equal(cc_find("none")->name, "none");
    assert_string_equal(cc_find("dcqcn")->name, "dcqcn");
    assert_null(cc_find("DCQCN"));
    assert_null(cc_find(""));
    for (const struct cc_ops *const *ops = cc_list; *ops != NULL; ops++) {
        assert_ptr_equal(cc_find((*ops)->name), *ops);
    }
}

static void
test_every_algorithm_is_complete(void **state)
{
    (void)state;
    for (const struct cc_ops *const *ops = cc_list; *ops != NULL; ops++) {
        assert_true((*ops)->source[0] != '\0' && (*ops)->doc[0] != '\0');
        assert_true((*ops)->state_bytes > 0 && (*ops)->state_bytes <= CC_STATE_BYTES);
        assert_true((*ops)->params_bytes <= PARAMS_BYTES);
        assert_non_null((*ops)->init);
        assert_non_null((*ops)->on_cnp);
        assert_non_null((*ops)->sync);
        assert_non_null((*ops)->check);
    }
}

static void
test_every_table_is_sound(void **state)
{
    (void)state;
    for (const struct cc_ops *const *ops = cc_list; *ops != NULL; ops++) {
        const struct param *bad = NULL;
        const char *fault = param_table_fault((*ops)->params, (*ops)->params_bytes, &bad);

        if (fault != NULL) {
            fail_msg("%s: '%s' %s", (*ops)->name, bad->name, fault);
        }
    }
}

static void
test_every_preset_is_sound(void **state)
{
    int64_t blob[PARAMS_BYTES / 8];

    (void)state;
    for (const struct cc_ops *const *ops = cc_list; *ops != NULL; ops++) {
        assert_non_null((*ops)->presets[0].name);
        assert_ptr_equal(cc_preset_find(*ops, NULL), &(*ops)->presets[0]);
        assert_null((*ops)->presets[0].overrides[0].name); /* the table's defaults */
        assert_null(cc_preset_find(*ops, "no such preset"));
        for (const struct cc_preset *preset = (*ops)->presets; preset->name != NULL;
             preset++) {
            assert_ptr_equal(cc_preset_find(*ops, preset->name), preset);
            assert_true(preset->doc[0] != '\0');
            assert_int_equal(preset->cnp_interval_ps > 0,
                             ((*ops)->needs & CC_NEEDS_ECN) != 0);
            assert_int_equal(preset->cnp_interval_source != NULL,
                             preset->cnp_interval_ps > 0);
            for (const struct cc_override *o = preset->overrides; o->name != NULL; o++) {
                const struct param *p = param_find((*ops)->params, o->name);

                assert_non_null(p);
                assert_int_equal(param_range(p, o->value), PARAM_IN_RANGE);
                assert_true(o->source != NULL && o->source[0] != '\0');
            }
            cc_params_init(*ops, preset, blob);
            for (const struct param *p = (*ops)->params; p->name != NULL; p++) {
                int64_t expected = p->def;

                for (const struct cc_override *o = preset->overrides; o->name != NULL;
                     o++) {
                    expected = strcmp(o->name, p->name) == 0 ? o->value : expected;
                }
                assert_int_equal(param_get(p, blob), expected);
            }
        }
    }
}

/* K33's half: nobody is slowed who got no CNP, at any rate, whatever time passes. */
static void
test_every_algorithm_starts_at_line_rate(void **state)
{
    static const int64_t rates_bps[] = {INT64_C(10000000000), INT64_C(400000000000),
                                        CC_MAX_RATE_BPS};
    int64_t params[PARAMS_BYTES / 8], qp[CC_STATE_BYTES / 8];

    (void)state;
    for (const struct cc_ops *const *ops = cc_list; *ops != NULL; ops++) {
        for (size_t i = 0; i < sizeof rates_bps / sizeof rates_bps[0]; i++) {
            const struct cc_env env = {.line_rate_bps = rates_bps[i], .mtu_bytes = 4096};
            struct cc_out out;

            cc_params_init(*ops, cc_preset_find(*ops, NULL), params);
            memset(&out, 0xA5, sizeof out);
            (*ops)->init(qp, params, &env, &out);
            for (int64_t now_ps = 0; now_ps < INT64_C(1) << 50; now_ps = 3 * now_ps + 7) {
                assert_int_equal(out.rate_bps, rates_bps[i]);
                assert_int_equal(out.window_bytes, 0);
                assert_false(out.limited);
                (*ops)->check(qp, params);
                memset(&out, 0xA5, sizeof out);
                (*ops)->sync(qp, params, now_ps, &out);
            }
        }
    }
}

static void
test_none_is_never_limited(void **state)
{
    const struct cc_ops *none = cc_find("none");
    const struct cc_env env = {.line_rate_bps = INT64_C(100000000000), .mtu_bytes = 4096};
    int64_t qp[CC_STATE_BYTES / 8];
    struct cc_out out;

    (void)state;
    assert_int_equal(none->needs, CC_NEEDS_NOTHING);
    none->init(qp, NULL, &env, &out);
    memset(&out, 0xA5, sizeof out);
    none->on_cnp(qp, NULL, 1, &out);
    assert_int_equal(out.rate_bps, env.line_rate_bps);
    assert_int_equal(out.window_bytes, 0);
    assert_false(out.limited);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_every_algorithm_is_complete),
        cmocka_unit_test(test_every_table_is_sound),
        cmocka_unit_test(test_every_preset_is_sound),
        cmocka_unit_test(test_every_algorithm_starts_at_line_rate),
        cmocka_unit_test(test_none_is_never_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
