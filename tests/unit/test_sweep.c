/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_sweep.c - a sweep: points in their order, zipped values, seeds, scenarios, what is
 * refused; mean, deviation and confidence interval.
 */
#include <config.h>

#include "tools/sweep/sweep.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <glib/gstdio.h>

#include "tools/sweep/table.h"

#define BASE                                                                             \
    "\"base\": {\"name\": \"x\", \"topology\": {\"type\": \"star\", \"hosts\": 3, "      \
    "\"host_link\": {\"rate\": \"100G\", \"length\": \"3m\"}}, \"workload\": "           \
    "[{\"type\": \"incast\", \"receiver\": 0, \"bytes\": \"1KiB\"}]}"

static void
expect_near(double value, double wanted, double tolerance)
{
    if (fabs(value - wanted) > tolerance) {
        fail_msg("%.9g is not %.9g within %g", value, wanted, tolerance);
    }
}

/* The sweep "{BASE, REST}"; NULL with '*message', owned by the caller. */
static struct sweep *
load(const char *rest, char **message)
{
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "sweep-test.json", NULL);
    g_autofree char *text = g_strdup_printf("{" BASE "%s}", rest);
    g_autoptr(GError) error = NULL;
    struct sweep *sweep;

    assert_true(g_file_set_contents(path, text, -1, NULL));
    sweep = sweep_load(path, &error);
    g_unlink(path);
    if (sweep == NULL) {
        const char *from = strstr(error->message, "sweep-test.json: ");

        assert_non_null(from);
        *message = g_strdup(from + strlen("sweep-test.json: "));
    }
    return sweep;
}

static struct sweep *
load_good(const char *rest)
{
    char *message = NULL;
    struct sweep *sweep = load(rest, &message);

    if (sweep == NULL) {
        fail_msg("%s", message);
    }
    return sweep;
}

/* The last axis goes fastest; what is zipped goes together, behind the others. */
static void
points(void **state)
{
    static const char *const expected[] = {
        "point 0 (nic.mtu=1024, cc.preset=mlx5, switch.alpha=1, switch.buffer=1MB)",
        "point 1 (nic.mtu=1024, cc.preset=mlx5, switch.alpha=2, switch.buffer=2MB)",
        "point 2 (nic.mtu=1024, cc.preset=paper, switch.alpha=1, switch.buffer=1MB)",
        "point 3 (nic.mtu=1024, cc.preset=paper, switch.alpha=2, switch.buffer=2MB)",
        "point 4 (nic.mtu=2048, cc.preset=mlx5, switch.alpha=1, switch.buffer=1MB)",
        "point 5 (nic.mtu=2048, cc.preset=mlx5, switch.alpha=2, switch.buffer=2MB)",
        "point 6 (nic.mtu=2048, cc.preset=paper, switch.alpha=1, switch.buffer=1MB)",
        "point 7 (nic.mtu=2048, cc.preset=paper, switch.alpha=2, switch.buffer=2MB)",
    };
    struct sweep *sweep = load_good(
        ", \"axes\": {\"_\": \"a comment\", \"nic.mtu\": [1024, 2048], \"cc.preset\": "
        "[\"mlx5\", \"paper\"]}, \"zip\": {\"switch.alpha\": [1, 2], \"switch.buffer\": "
        "[\"1MB\", \"2MB\"]}, \"seeds\": [7, 3]");

    (void)state;
    assert_int_equal(sweep->n_points, 8);
    assert_int_equal(sweep->n_runs, 16);
    for (uint32_t p = 0; p < 8; p++) {
        g_autofree char *text = sweep_point_text(sweep, p);

        assert_string_equal(text, expected[p]);
    }
    assert_int_equal(sweep_seed(sweep, 10), 7);
    assert_int_equal(sweep_seed(sweep, 11), 3);
    g_autofree char *name = sweep_run_name(sweep, 11);
    struct scenario *s = sweep_scenario(sweep, 11, NULL);

    assert_string_equal(name, "0005-seed3");
    assert_int_equal(s->seed, 3);
    assert_int_equal(s->nic.params.mtu_bytes, 2048);
    assert_string_equal(s->preset->name, "mlx5");
    assert_int_equal(s->sw.params.buffer_bytes, 2000000);
    scenario_free(s);
    sweep_free(sweep);
}

static void
seeds(void **state)
{
    struct sweep *sweep = load_good(", \"seeds\": 3");

    (void)state;
    assert_int_equal(sweep->n_points, 1);
    assert_int_equal(sweep->n_runs, 3);
    for (uint32_t run = 0; run < 3; run++) {
        assert_int_equal(sweep_seed(sweep, run), 1 + run);
    }
    sweep_free(sweep);
}

/* What is written into the folder is the same sweep. */
static void
repeats(void **state)
{
    struct sweep *sweep =
        load_good(", \"axes\": {\"nic.mtu\": [1024, 2048]}, \"seeds\": 2, "
                  "\"metrics\": [\"flows.n\"], \"keep\": \"all\"");
    g_autofree char *text = sweep_to_text(sweep);
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "again.json", NULL);

    (void)state;
    assert_true(g_file_set_contents(path, text, -1, NULL));
    struct sweep *again = sweep_load(path, NULL);

    assert_non_null(again);
    g_autofree char *text_again = sweep_to_text(again);

    assert_string_equal(text, text_again);
    for (uint32_t run = 0; run < sweep->n_runs; run++) {
        struct scenario *a = sweep_scenario(sweep, run, NULL);
        struct scenario *b = sweep_scenario(again, run, NULL);
        g_autofree char *config_a = scenario_to_text(a);
        g_autofree char *config_b = scenario_to_text(b);

        assert_string_equal(config_a, config_b);
        scenario_free(a);
        scenario_free(b);
    }
    g_unlink(path);
    sweep_free(sweep);
    sweep_free(again);
}

static void
refused(void **state)
{
    static const struct {
        const char *rest, *message;
    } cases[] = {
        {", \"axes\": []",
         "axes: allowed is an object of lists: {\"nic.mtu\": [1024, 4096]}"},
        {", \"axes\": {\"nic.mtu\": 4}", "axes.\"nic.mtu\": "},
        {", \"axes\": {\"nic.mtu\": []}",
         "axes.\"nic.mtu\": is empty; allowed is 1 or more values"},
        {", \"axes\": {\"seed\": [1]}", "axes.seed: is no axis; "},
        {", \"axes\": {\"nic.mtu\": [1024]}, \"zip\": {\"nic.mtu\": [1024]}",
         "zip.\"nic.mtu\": is in axes, too; allowed is once"},
        {", \"zip\": {\"switch.alpha\": [1, 2], \"nic.mtu\": [1024]}",
         "zip.\"nic.mtu\": has 1 values; allowed is 2, as the first"},
        {", \"axes\": {\"nic.mtu\": [1024, 100]}", "point 1 (nic.mtu=100): "},
        {", \"axes\": {\"nic.mtux\": [1024]}", "point 0 (nic.mtux=1024): "},
        {", \"axes\": {\"workload[0].receiver\": [5]}",
         "point 0 (workload[0].receiver=5): "},
        {", \"seeds\": 0", "seeds: "},
        {", \"seeds\": \"x\"", "seeds: "},
        {", \"seeds\": [1, 2, 1]", "seeds[2]: is 1 again; allowed is each once"},
        {", \"seeds\": []", "seeds: is empty; allowed is 1 or more"},
        {", \"metrics\": [\"flows.m\"]", "metrics[0]: is \"flows.m\": no such value"},
        {", \"metrics\": [\"flows\"]", "metrics[0]: is \"flows\": is an object"},
        {", \"metrics\": [\"verdict\"]",
         "metrics[0]: is \"verdict\", which is no number; allowed is one"},
        {", \"metrics\": []", "metrics: is empty; allowed is 1 or more"},
        {", \"keep\": \"none\"", "keep: "},
        {", \"seed\": 4", "seed: no such key; nearest is 'seeds'"},
        {", \"seeds\": 100000, \"axes\": {\"nic.mtu\": [1024, 2048]}",
         "axes: make more than 100000 runs"},
    };

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *message = NULL;
        struct sweep *sweep = load(cases[i].rest, &message);

        assert_null(sweep);
        assert_null(strchr(message, '\n'));
        if (strncmp(message, cases[i].message, strlen(cases[i].message)) != 0) {
            fail_msg("'%s' is not '%s'", message, cases[i].message);
        }
        g_free(message);
    }
}

/* Values of t: Student's table, 0.975: 12.706 for 1, 4.303 for 2, 2.262 for 9. */
static void
intervals(void **state)
{
    const double two[] = {1, 3}, three[] = {10, 20, 60};
    double ten[10];

    (void)state;
    for (int i = 0; i < 10; i++) {
        ten[i] = i;
    }
    struct sweep_stat none = sweep_stat_of(ten, 0), one = sweep_stat_of(ten + 4, 1),
                      a = sweep_stat_of(two, 2), b = sweep_stat_of(three, 3),
                      c = sweep_stat_of(ten, 10);

    assert_true(isnan(none.mean) && isnan(none.sd) && isnan(none.ci95));
    assert_true(one.mean == 4 && isnan(one.sd) && isnan(one.ci95));
    expect_near(a.mean, 2, 0);
    expect_near(a.sd, sqrt(2), 1e-12);
    expect_near(a.ci95, 12.706, 0.001);
    expect_near(b.mean, 30, 0);
    expect_near(b.sd, 26.457513, 1e-6);
    expect_near(b.ci95, 4.303 * 26.457513 / sqrt(3), 0.01);
    expect_near(c.sd, 3.027650, 1e-6);
    expect_near(c.ci95, 2.262 * 3.027650 / sqrt(10), 0.001);
}

/* A run that has not ended counts nowhere; one that has missed an expectation has numbers. */
static void
usable(void **state)
{
    struct sweep *sweep = load_good(", \"seeds\": 4, \"metrics\": [\"flows.n\"]");
    double v[] = {1, 2, 6, 9};
    char complete[] = "complete", missed[] = "expectation-missed", cut[] = "incomplete";
    struct sweep_record records[] = {{complete, 0, &v[0]},
                                     {missed, 1, &v[1]},
                                     {cut, 1, &v[2]},
                                     {cut, 0, &v[3]}}; /* as expected */
    const bool mine[] = {true, true, true, true}, some[] = {true, false, false, false};
    g_autofree char *csv = sweep_points_csv(sweep, records, mine);
    g_autofree char *runs = sweep_runs_csv(sweep, records, some);

    (void)state;
    assert_true(g_str_has_prefix(
        csv, "point,runs,good,flows.n.n,flows.n.mean,flows.n.sd,flows.n.ci95\n"
             "0,4,2,3,4,4.3589,"));
    assert_string_equal(runs, "run,point,seed,verdict,status,flows.n\n"
                              "0,0,1,complete,0,1\n");
    sweep_free(sweep);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points),  cmocka_unit_test(seeds),     cmocka_unit_test(repeats),
        cmocka_unit_test(refused), cmocka_unit_test(intervals), cmocka_unit_test(usable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
