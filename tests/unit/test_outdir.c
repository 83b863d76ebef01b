/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_outdir.c - a folder of results appears whole or not at all.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib/gstdio.h>

#include "tools/results/outdir.h"

static int
set_up(void **state)
{
    char *parent = g_dir_make_tmp("outdir-XXXXXX", NULL);

    if (!parent || g_chdir(parent) != 0) {
        return -1;
    }
    *state = parent;
    return 0;
}

/* Every test leaves its folder empty. */
static int
tear_down(void **state)
{
    int left = g_chdir("/") != 0 || g_rmdir(*state) != 0;

    g_free(*state);
    return left;
}

static void
put(const char *path, const char *text)
{
    assert_true(g_file_set_contents(path, text, -1, NULL));
}

static bool
is_there(const char *path)
{
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static unsigned
n_entries(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    unsigned n = 0;

    assert_non_null(dir);
    while (g_dir_read_name(dir)) {
        n++;
    }
    g_dir_close(dir);
    return n;
}

static void
test_commit(void **state)
{
    GError *error = NULL;
    struct outdir *dir = outdir_new("a/b", FALSE, &error);

    (void)state;
    assert_non_null(dir);
    assert_false(is_there("a/b"));
    assert_true(outdir_write(dir, "summary.json", "{}\n", &error));
    assert_true(outdir_write(dir, "extra", "x", &error));
    outdir_remove(dir, "extra");
    assert_true(outdir_commit(dir, &error));
    assert_true(is_there("a/b/summary.json"));
    assert_int_equal(n_entries("a"), 1);
    assert_int_equal(n_entries("a/b"), 1);
    g_unlink("a/b/summary.json");
    g_rmdir("a/b");
    g_rmdir("a");
}

static void
test_discard_removes_what_was_made(void **state)
{
    struct outdir *dir;

    (void)state;
    g_mkdir("a", 0777);
    dir = outdir_new("a/b/c/d", FALSE, NULL);
    assert_non_null(dir);
    assert_true(outdir_write(dir, "file", "x", NULL));
    outdir_discard(dir);
    assert_int_equal(n_entries("a"), 0);
    /* A parent in which somebody else has put something stays. */
    dir = outdir_new("a/b/c", FALSE, NULL);
    put("a/b/other", "x");
    outdir_discard(dir);
    assert_int_equal(n_entries("a/b"), 1);
    g_unlink("a/b/other");
    g_rmdir("a/b");
    g_rmdir("a");
}

static void
test_what_exists_is_refused(void **state)
{
    GError *error = NULL;

    (void)state;
    g_mkdir("r", 0777);
    put("r/mine", "x");
    assert_null(outdir_new("r", FALSE, &error));
    assert_true(g_error_matches(error, OUTDIR_ERROR, OUTDIR_ERROR_EXISTS));
    assert_non_null(strstr(error->message, "--force"));
    g_clear_error(&error);
    /* Nor is it replaced when it is no folder of results. */
    assert_null(outdir_new("r", TRUE, &error));
    assert_true(g_error_matches(error, OUTDIR_ERROR, OUTDIR_ERROR_EXISTS));
    g_clear_error(&error);
    /* A link to nowhere is something, too. */
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_null(outdir_new("link", FALSE, &error));
    g_clear_error(&error);
    assert_null(outdir_new("link", TRUE, &error));
    g_clear_error(&error);
    g_unlink("link");
    g_unlink("r/mine");
    g_rmdir("r");
    assert_int_equal(n_entries("."), 0);
}

static void
test_force_replaces_the_whole(void **state)
{
    GError *error = NULL;
    struct outdir *dir;

    (void)state;
    g_mkdir("r", 0777);
    g_mkdir("r/plots", 0777);
    put("r/summary.json", "old");
    put("r/plots/queue.svg", "old");
    dir = outdir_new("r/", TRUE, &error);
    assert_non_null(dir);
    assert_true(outdir_write(dir, "summary.json", "new", &error));
    assert_true(is_there("r/plots/queue.svg")); /* until the commit */
    assert_true(outdir_commit(dir, &error));
    assert_false(is_there("r/plots"));
    assert_int_equal(n_entries("r"), 1);
    assert_int_equal(n_entries("."), 1);

    g_autofree char *text = NULL;

    assert_true(g_file_get_contents("r/summary.json", &text, NULL, NULL));
    assert_string_equal(text, "new");
    g_unlink("r/summary.json");
    g_rmdir("r");
}

static void
test_a_name_taken_meanwhile(void **state)
{
    GError *error = NULL;
    struct outdir *dir = outdir_new("r", FALSE, &error);

    (void)state;
    assert_true(outdir_write(dir, "summary.json", "new", &error));
    g_mkdir("r", 0777);
    put("r/mine", "x");
    assert_false(outdir_commit(dir, &error));
    assert_true(g_error_matches(error, OUTDIR_ERROR, OUTDIR_ERROR_WRITE));
    g_clear_error(&error);
    assert_int_equal(n_entries("."), 1);
    assert_true(is_there("r/mine"));
    g_unlink("r/mine");
    g_rmdir("r");
}

static void
test_a_full_disk_is_noticed(void **state)
{
    GError *error = NULL;
    struct outdir *dir = outdir_new("r", FALSE, &error);
    FILE *full = fopen("/dev/full", "we");

    (void)state;
    if (!full) {
        outdir_discard(dir);
        skip();
    }
    fputs("text", full);
    assert_false(outdir_close(dir, "flows.csv", full, &error));
    assert_true(g_error_matches(error, OUTDIR_ERROR, OUTDIR_ERROR_WRITE));
    assert_non_null(strstr(error->message, "r/flows.csv: "));
    g_clear_error(&error);
    outdir_discard(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_commit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_discard_removes_what_was_made, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_exists_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_force_replaces_the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_name_taken_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_disk_is_noticed, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
