/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_cmd_new.c - every text of `rocesim new` is a scenario that loads, builds and
 * binds, has comments, and says which kind of workload or topology it is for.
 */
#include <config.h>

#include "tools/cmd_new.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tools/scenario/scenario.h"

static void
test_texts_are_scenarios(void **state)
{
    (void)state;
    for (const char *const *kind = cmd_new_kinds(); *kind != NULL; kind++) {
        const char *text = cmd_new_text(*kind);
        g_autofree char *quoted = g_strdup_printf("\"type\": \"%s\"", *kind);
        g_autoptr(GError) error = NULL;
        struct scenario *s = scenario_load_data(*kind, text, strlen(text), NULL, &error);
        struct net *net = s != NULL ? scenario_build_net(s, &error) : NULL;

        if (net == NULL || !net_build(net, NULL, &error) ||
            !topo_routes(net, NULL, &error)) {
            fail_msg("%s", error->message);
        }
        for (guint i = 0; i < s->works->len; i++) {
            struct work_params *w = scenario_bind_work(s, net, i, &error);

            if (w == NULL) {
                fail_msg("%s", error->message);
            }
            work_params_free(w);
        }
        assert_string_equal(s->name, *kind);
        assert_int_equal(s->warnings->len, 0);
        assert_non_null(strstr(text, quoted));
        assert_non_null(strstr(text, "\"_\": \""));
        net_free(net);
        scenario_free(s);
    }
    assert_non_null(cmd_new_text("sweep")); /* tests/cli/new.sh runs it */
    assert_null(cmd_new_text("collectives"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_scenarios),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
