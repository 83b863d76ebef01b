/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * prop_scenario.c - whatever is done to any value of a valid scenario, the loader either
 * says in one line what is wrong, or accepts it and echoes a scenario that it accepts
 * again with the same echo.
 *
 * Each value of tests/data/scenario/valid/full.json, objects and lists too, is deleted,
 * given every other type, negated, enlarged, emptied, and its key misspelt, repeated with
 * another case, and commented out.  What is accepted is built as `rocesim check` does, within
 * 10 s.
 */
#include <config.h>

#include "tools/scenario/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tools/forecast.h"
#include "tools/run.h"

/* Longest that a check may take, seconds. */
#define CHECK_LIMIT_S 10

struct counts {
    bool checks; /* what is accepted is checked, too */
    unsigned n_tried, n_accepted, n_refused, n_built;
    double longest_s;
};

static void
assert_is_one_line(const char *message, const char *what)
{
    if (!g_str_has_prefix(message, "case: ") || strchr(message, '\n') != NULL ||
        strlen(message) > 2000 || !g_utf8_validate(message, -1, NULL)) {
        fail_msg("%s: no good message: %s", what, message);
    }
}

/* All that `rocesim check` does of 's' but print. */
static void
check(const struct scenario *s, const char *what, struct counts *counts)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    gint64 begin_us = g_get_monotonic_time();
    struct run *run = run_new(s, warnings, &error);

    if (run == NULL) {
        assert_is_one_line(error->message, what);
    } else {
        struct forecast forecast;

        run_start(run, PARTITION_AUTO, 1);
        forecast_make(run, &forecast);
        assert_true(forecast.payload_bytes >= 0 && forecast.packet_hops >= 0 &&
                    forecast.seconds >= 0 && forecast.memory_bytes > 0);
        run_free(run);
        counts->n_built++;
    }
    double took_s = (double)(g_get_monotonic_time() - begin_us) / 1e6;

    counts->longest_s = MAX(counts->longest_s, took_s);
    if (took_s > CHECK_LIMIT_S) {
        fail_msg("%s: a check took %.1f s", what, took_s);
    }
}

/* One variant of the document. */
static void
try_document(const json_t *root, const char *what, struct counts *counts)
{
    char *text = json_dumps(root, 0);
    g_autoptr(GError) error = NULL;
    struct scenario *s = scenario_load_data("case", text, strlen(text), NULL, &error);

    counts->n_tried++;
    if (s == NULL) {
        counts->n_refused++;
        assert_is_one_line(error->message, what);
    } else {
        g_autofree char *once = scenario_to_text(s), *twice = NULL;
        struct scenario *again =
            scenario_load_data("echo", once, strlen(once), NULL, &error);

        if (again == NULL) {
            fail_msg("%s: the echo is refused: %s", what, error->message);
        }
        twice = scenario_to_text(again);
        if (strcmp(once, twice) != 0) {
            fail_msg("%s: the echo of the echo differs", what);
        }
        counts->n_accepted++;
        if (counts->checks) {
            check(s, what, counts);
        }
        scenario_free(again);
        scenario_free(s);
    }
    free(text);
}

/* Values to put in the place of 'value'; an owned list. */
static json_t *
replacements(const json_t *value)
{
    static const char *const texts[] = {
        "", "x", "-1us", "-5G", "1e99GB", "99999999999999999999us", "5", "nan", "inf",
        "0%", "0B", "0us", "\xe2\x82\xac", "true", "host", "a:b:c",
        /* about the largest that are allowed */
        "1048576GiB", "64GB", "1s", "86400s", "4Tbps", "1Mbps", "1000km", "100%"};
    json_t *list = json_array();
    g_autofree char *more = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        json_array_append_new(list, json_string(texts[i]));
    }
    json_array_append_new(list, json_null());
    json_array_append_new(list, json_true());
    json_array_append_new(list, json_false());
    json_array_append_new(list, json_integer(0));
    json_array_append_new(list, json_integer(-1));
    json_array_append_new(list, json_integer(INT64_MAX));
    json_array_append_new(list, json_integer(INT64_MIN));
    json_array_append_new(list, json_real(1e300));
    json_array_append_new(list, json_real(-0.5));
    json_array_append_new(list, json_real(1e-300));
    json_array_append_new(list, json_object());
    json_array_append_new(list, json_array());
    json_array_append_new(list, json_pack("[[[]]]"));
    json_array_append_new(list, json_pack("{s:{s:[]}}", "a", "b"));
    if (json_is_integer(value)) {
        json_array_append_new(list, json_integer(-json_integer_value(value)));
        json_array_append_new(list, json_integer(json_integer_value(value) * 10));
        json_array_append_new(list, json_integer(json_integer_value(value) * 100));
        json_array_append_new(list, json_integer(json_integer_value(value) * 1000000));
    } else if (json_is_real(value)) {
        json_array_append_new(list, json_real(-json_real_value(value)));
        json_array_append_new(list, json_real(json_real_value(value) * 1e12));
    } else if (json_is_string(value)) {
        more = g_strconcat("-", json_string_value(value), NULL);
        json_array_append_new(list, json_string(more));
        g_free(more);
        more = g_strconcat("999999999", json_string_value(value), NULL);
        json_array_append_new(list, json_string(more));
        g_free(more);
        more = g_strconcat(json_string_value(value), "x", NULL);
        json_array_append_new(list, json_string(more));
    }
    return list;
}

static void mutate(json_t *root, json_t *at, const char *where, struct counts *counts);

/* Key 'key' of 'object': all that can be done to it. */
static void
mutate_key(json_t *root, json_t *object, const char *key, const char *where,
           struct counts *counts)
{
    g_autofree char *path = g_strdup_printf("%s.%s", where, key);
    g_autofree char *longer = g_strdup_printf("%sx", key);
    g_autofree char *upper = g_ascii_strup(key, -1);
    g_autofree char *comment = g_strdup_printf("_%s", key);
    const char *const keys[] = {longer, key + 1, upper, comment};
    json_t *kept = json_incref(json_object_get(object, key)), *list = replacements(kept),
           *value;
    size_t i;

    json_object_del(object, key);
    try_document(root, path, counts);
    for (i = 0; i < G_N_ELEMENTS(keys); i++) {
        json_t *other = json_incref(json_object_get(object, keys[i]));

        json_object_set(object, keys[i], kept);
        try_document(root, path, counts);
        if (other != NULL) {
            json_object_set_new(object, keys[i], other);
        } else {
            json_object_del(object, keys[i]);
        }
    }
    json_array_foreach(list, i, value)
    {
        json_object_set(object, key, value);
        try_document(root, path, counts);
    }
    json_object_set(object, key, kept);
    mutate(root, kept, path, counts);
    json_decref(list);
    json_decref(kept);
}

static void
mutate_element(json_t *root, json_t *array, size_t index, const char *where,
               struct counts *counts)
{
    g_autofree char *path = g_strdup_printf("%s[%zu]", where, index);
    json_t *kept = json_incref(json_array_get(array, index)), *list = replacements(kept),
           *value;
    size_t i;

    json_array_remove(array, index);
    try_document(root, path, counts);
    json_array_insert(array, index, kept);
    json_array_insert(array, index, kept);
    try_document(root, path, counts);
    json_array_remove(array, index);
    json_array_foreach(list, i, value)
    {
        json_array_set(array, index, value);
        try_document(root, path, counts);
    }
    json_array_set(array, index, kept);
    mutate(root, kept, path, counts);
    json_decref(list);
    json_decref(kept);
}

static void
mutate(json_t *root, json_t *at, const char *where, struct counts *counts)
{
    if (json_is_object(at)) {
        g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
        const char *key;
        json_t *value;

        json_object_foreach(at, key, value)
        {
            g_ptr_array_add(keys, g_strdup(key));
        }
        for (guint i = 0; i < keys->len; i++) {
            mutate_key(root, at, keys->pdata[i], where, counts);
        }
    }
    for (size_t i = 0; i < json_array_size(at); i++) {
        mutate_element(root, at, i, where, counts);
    }
}

static void
test_every_value_of_a_full_scenario(void **state)
{
    const char *srcdir = g_getenv("srcdir");
    g_autofree char *path = g_build_filename(srcdir != NULL ? srcdir : ".",
                                             "tests/data/scenario/valid/full.json", NULL);
    json_t *root = json_load_file(path, 0, NULL);
    char *before, *after;
    struct counts counts = {0};

    (void)state;
    assert_non_null(root);
    before = json_dumps(root, 0);
    try_document(root, "as it is", &counts);
    assert_int_equal(counts.n_accepted, 1);
    mutate(root, root, "", &counts);
    /* Order of keys aside, it is what it was. */
    try_document(root, "restored", &counts);
    after = json_dumps(root, 0);
    assert_int_equal(strlen(before), strlen(after));
    print_message("# %u documents: %u accepted, %u refused\n", counts.n_tried,
                  counts.n_accepted, counts.n_refused);
    /* Neither way is the only one. */
    assert_true(counts.n_tried > 6000);
    assert_true(counts.n_accepted > counts.n_tried / 50);
    assert_true(counts.n_refused > counts.n_tried / 2);
    free(before);
    free(after);
    json_decref(root);
}

/* full.json with a log that is there, so that all of it can be built. */
static void
test_every_value_is_checked(void **state)
{
    const char *srcdir = g_getenv("srcdir") != NULL ? g_getenv("srcdir") : ".";
    g_autofree char *path =
        g_build_filename(srcdir, "tests/data/scenario/valid/full.json", NULL);
    g_autofree char *given =
        g_build_filename(srcdir, "tests/data/nccl-log/valid/two-hosts/input.log", NULL);
    g_autofree char *log = g_canonicalize_filename(given, NULL);
    json_t *root = json_load_file(path, 0, NULL), *work;
    struct counts counts = {.checks = true};
    size_t i;

    (void)state;
    assert_non_null(root);
    json_array_foreach(json_object_get(root, "workload"), i, work)
    {
        if (json_object_get(work, "path") != NULL) {
            json_object_set_new(work, "path", json_string(log));
        }
    }
    try_document(root, "as it is", &counts);
    assert_int_equal(counts.n_built, 1);
    mutate(root, root, "", &counts);
    print_message("# %u documents, %u built, the longest check %.1f s\n", counts.n_tried,
                  counts.n_built, counts.longest_s);
    assert_true(counts.n_built > 300);
    json_decref(root);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_of_a_full_scenario),
        cmocka_unit_test(test_every_value_is_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
