/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_cc_hello.c - adding a congestion control is one file (tests/hello-cc/cc_hello.c)
 * and one line in the list (tests/hello-cc/cc_list.def): with them the registry finds it
 * beside the others and its table gives it parameters.
 *
 * The two files and the registry are compiled into this program, where an algorithm of
 * the project would stand in models/automake.mk.
 */
#include <config.h>

#define CC_LIST "tests/hello-cc/cc_list.def"
#include "models/cc/cc.c"
#include "tests/hello-cc/cc_hello.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void
test_the_registry_has_it_beside_the_others(void **state)
{
    (void)state;
    assert_ptr_equal(cc_find("hello"), &cc_hello_ops);
    assert_non_null(cc_find("none"));
    assert_non_null(cc_find("dcqcn"));
}

static void
test_its_table_gives_it_parameters(void **state)
{
    const struct cc_ops *ops = cc_find("hello");
    const struct param *bad = NULL;
    struct hello_params params;

    (void)state;
    assert_null(param_table_fault(ops->params, ops->params_bytes, &bad));
    cc_params_init(ops, cc_preset_find(ops, NULL), &params);
    assert_int_equal(params.calm_ps, INT64_C(100000000));
    assert_string_equal(param_nearest(ops->params, "clam")->name, "calm");
}

static void
test_it_reacts(void **state)
{
    const struct cc_ops *ops = cc_find("hello");
    const struct cc_env env = {.line_rate_bps = INT64_C(100000000000), .mtu_bytes = 4096};
    int64_t qp[CC_STATE_BYTES / 8];
    struct hello_params params;
    struct cc_out out;

    (void)state;
    cc_params_init(ops, cc_preset_find(ops, NULL), &params);
    ops->init(qp, &params, &env, &out);
    assert_false(out.limited);
    ops->on_cnp(qp, &params, 1000, &out);
    assert_true(out.limited);
    assert_int_equal(out.rate_bps, INT64_C(50000000000));
    ops->on_timeout(qp, &params, 2000, &out);
    assert_int_equal(out.rate_bps, INT64_C(25000000000));
    ops->on_send(qp, &params, 2000 + params.calm_ps - 1, 4178, &out);
    assert_true(out.limited);
    ops->on_send(qp, &params, 2000 + params.calm_ps, 4178, &out);
    assert_false(out.limited);
    assert_int_equal(out.rate_bps, env.line_rate_bps);
    ops->check(qp, &params);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_registry_has_it_beside_the_others),
        cmocka_unit_test(test_its_table_gives_it_parameters),
        cmocka_unit_test(test_it_reacts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
