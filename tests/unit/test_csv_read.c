/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_csv_read.c - tables are read as they are written; what is none is an error.
 */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib/gstdio.h>

#include "tools/report/csv_read.h"
#include "tools/report/folder.h"
#include "tools/results/text.h"

/* A file with 'text'; freed and removed by drop(). */
static char *
file_with(const char *text)
{
    char *path = NULL;
    int fd = g_file_open_tmp("csv-XXXXXX", &path, NULL);

    assert_true(fd >= 0);
    close(fd);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static void
drop(char *path)
{
    g_unlink(path);
    g_free(path);
}

static void
lines_and_columns(void **state)
{
    static const char *const names[] = {"b", "a"};
    char *path = file_with("a,b,c\n1,,x\n2.5,-3,\n");
    struct csv *csv = csv_open(path, NULL);
    int at[2];

    (void)state;
    assert_non_null(csv);
    assert_true(csv_columns(csv, names, at, 2, NULL));
    assert_int_equal(at[0], 1);
    assert_int_equal(at[1], 0);
    assert_int_equal(csv_column(csv, "d"), -1);
    assert_true(csv_next(csv, NULL));
    assert_true(csv_number(csv, 0) == 1);
    assert_true(isnan(csv_number(csv, 1)));
    assert_string_equal(csv->fields[2], "x");
    assert_true(csv_next(csv, NULL));
    assert_true(csv_number(csv, 0) == 2.5 && csv_number(csv, 1) == -3);
    assert_string_equal(csv->fields[2], "");
    assert_false(csv_next(csv, NULL));
    csv_close(csv);
    drop(path);
}

/* What text_csv() quotes comes back. */
static void
quotes(void **state)
{
    static const char *const words[] = {"a,b", "say \"x\"", "\"", "", ",", "\"\",\"\""};
    g_autoptr(GString) text = g_string_new("a,b,c,d,e,f\n");

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        g_string_append(text, i ? "," : "");
        text_csv(text, words[i]);
    }
    g_string_append_c(text, '\n');

    char *path = file_with(text->str);
    struct csv *csv = csv_open(path, NULL);

    assert_true(csv_next(csv, NULL));
    for (unsigned i = 0; i < 6; i++) {
        assert_string_equal(csv->fields[i], words[i]);
    }
    csv_close(csv);
    drop(path);
}

static void
errors(void **state)
{
    static const char *const names[] = {"a", "z"};
    char *path = file_with("a,b\n1,2\n3\n"), *empty = file_with("");
    GError *error = NULL;
    struct csv *csv = csv_open(path, NULL);
    int at[2];

    (void)state;
    assert_false(csv_columns(csv, names, at, 2, &error));
    assert_non_null(strstr(error->message, ":1: no column 'z'"));
    g_clear_error(&error);
    assert_true(csv_next(csv, &error));
    assert_false(csv_next(csv, &error));
    assert_true(g_error_matches(error, REPORT_ERROR, REPORT_ERROR_INPUT));
    assert_non_null(strstr(error->message, ":3: 1 columns; the first line has 2"));
    g_clear_error(&error);
    csv_close(csv);
    assert_null(csv_open(empty, &error));
    assert_non_null(strstr(error->message, "must name the columns"));
    g_clear_error(&error);
    assert_null(csv_open("/nonexistent/x.csv", &error));
    assert_true(g_error_matches(error, REPORT_ERROR, REPORT_ERROR_INPUT));
    g_clear_error(&error);
    drop(path);
    drop(empty);
}

/* More columns than the first line: not read past the end. */
static void
too_many_columns(void **state)
{
    char *path = file_with("a\n1,2,3,4,5,6,7,8,9\n");
    struct csv *csv = csv_open(path, NULL);
    GError *error = NULL;

    (void)state;
    assert_false(csv_next(csv, &error));
    assert_non_null(strstr(error->message, "9 columns"));
    g_clear_error(&error);
    csv_close(csv);
    drop(path);
}

static void
paths_in_json(void **state)
{
    json_t *root =
        json_loads("{\"a\": {\"b\": [1, {\"c\": \"x\"}]}, \"d\": 2.5}", 0, NULL);

    (void)state;
    assert_true(folder_number(root, "a.b[0]") == 1);
    assert_string_equal(folder_text(root, "a.b[1].c"), "x");
    assert_true(folder_number(root, "d") == 2.5);
    assert_true(isnan(folder_number(root, "a.b[2]")));
    assert_true(isnan(folder_number(root, "a.x.y")));
    assert_null(folder_text(root, "d"));
    json_decref(root);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_columns),
        cmocka_unit_test(quotes),
        cmocka_unit_test(errors),
        cmocka_unit_test(too_many_columns),
        cmocka_unit_test(paths_in_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
