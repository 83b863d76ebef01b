/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * known.c - reads tests/data/known-answers.json, found by $srcdir; see known.h.
 */
#include <config.h>

#include "tests/support/known.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <glib.h>

#include "tests/support/data.h"

/* The file; owned by the caller. */
static json_t *
load(void)
{
    g_autofree char *path = data_path("tests/data/known-answers.json");
    json_error_t error;
    json_t *all;

    all = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (all == NULL) {
        fail_msg("%s:%d: %s", path, error.line, error.text);
    }
    return all;
}

static double
number_in(const json_t *object, const char *id, const char *name)
{
    const json_t *value = json_object_get(object, name);

    if (!json_is_number(value)) {
        fail_msg("known-answers.json: %s.%s is no number", id, name);
    }
    return json_number_value(value);
}

double
known(const char *id, const char *name)
{
    json_t *all = load();
    double number = number_in(json_object_get(all, id), id, name);

    json_decref(all);
    return number;
}

static double
tolerance_in(const json_t *object, const char *id, const char *name)
{
    double expected = fabs(number_in(object, id, name));
    char key[128];

    for (int own = 1; own >= 0; own--) {
        snprintf(key, sizeof key, "%s%stolerance", own ? name : "", own ? "_" : "");
        if (json_object_get(object, key)) {
            return number_in(object, id, key);
        }
        snprintf(key, sizeof key, "%s%stolerance_share", own ? name : "", own ? "_" : "");
        if (json_object_get(object, key)) {
            return number_in(object, id, key) * expected;
        }
    }
    fail_msg("known-answers.json: %s.%s has no tolerance", id, name);
    return 0;
}

static const char *
text_in(const json_t *object, const char *id, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    if (text == NULL) {
        fail_msg("known-answers.json: %s has no \"%s\"", id, name);
    }
    return text;
}

/* Appends a line of fields between tabs: id, title, source, name, expected, obtained,
 * tolerance, status.  Steals 'all'. */
static void
record(json_t *all, const char *id, const char *name, double obtained,
       const char *tolerance, const char *status)
{
    const json_t *object = json_object_get(all, id);
    const char *title = text_in(object, id, "title");
    const char *source = text_in(object, id, "source");
    double expected = number_in(object, id, name);
    const char *path = getenv("VALIDATION_OUT");

    print_message("# %s %s: expected %.10g, obtained %.10g, tolerance %s: %s\n", id, name,
                  expected, obtained, tolerance, status);
    if (path && *path) {
        FILE *file = fopen(path, "a");

        if (file == NULL) {
            fail_msg("%s cannot be written", path);
        }
        fprintf(file, "%s\t%s\t%s\t%s\t%.10g\t%.10g\t%s\t%s\n", id, title, source, name,
                expected, obtained, tolerance, status);
        if (fclose(file) != 0) {
            fail_msg("%s cannot be written", path);
        }
    }
    json_decref(all);
}

static void
judge(const char *id, const char *name, double obtained, const char *tolerance,
      bool holds)
{
    record(load(), id, name, obtained, tolerance, holds ? "pass" : "FAIL");
    if (!holds) {
        fail_msg("%s: %s is %.10g; expected %.10g, tolerance %s", id, name, obtained,
                 known(id, name), tolerance);
    }
}

void
known_near(const char *id, const char *name, double obtained, double tolerance)
{
    char text[64];

    /* Decimal fractions are no doubles: their rounding must not decide. */
    double slack = 1e-12 * fabs(known(id, name));

    if (tolerance > 0) {
        snprintf(text, sizeof text, "+- %.3g", tolerance);
    } else {
        snprintf(text, sizeof text, "exact");
    }
    judge(id, name, obtained, text,
          fabs(obtained - known(id, name)) <= tolerance + slack);
}

void
known_equals(const char *id, const char *name, double obtained)
{
    json_t *all = load();
    double tolerance = tolerance_in(json_object_get(all, id), id, name);

    json_decref(all);
    known_near(id, name, obtained, tolerance);
}

void
known_at_least(const char *id, const char *name, double obtained)
{
    judge(id, name, obtained, "at least", obtained >= known(id, name));
}

void
known_at_most(const char *id, const char *name, double obtained)
{
    judge(id, name, obtained, "at most", obtained <= known(id, name));
}

void
known_mean_add(struct known_mean *mean, double x)
{
    mean->n++, mean->sum += x, mean->squares += x * x;
}

void
known_mean_equals(const char *id, const char *name, const struct known_mean *mean)
{
    double value = mean->sum / mean->n;
    double variance = mean->squares / mean->n - value * value;
    double most = known("K46", "sigmas") * sqrt(variance / mean->n);

    assert_true(most > 0 && most < 0.4 * known(id, name));
    known_near(id, name, value, most);
}

void
known_print(const char *id, const char *name, double obtained)
{
    record(load(), id, name, obtained, "none", "printed");
}
