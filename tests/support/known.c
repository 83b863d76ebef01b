/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * known.c - reads tests/data/known-answers.json, found by $srcdir.
 */
#include <config.h>

#include "tests/support/known.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

double
known(const char *id, const char *name)
{
    const char *srcdir = getenv("srcdir");
    json_error_t error;
    char path[4096];
    json_t *all;
    const json_t *value;
    double number;

    snprintf(path, sizeof path, "%s/tests/data/known-answers.json",
             srcdir ? srcdir : ".");
    all = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (all == NULL) {
        fail_msg("%s:%d: %s", path, error.line, error.text);
    }
    value = json_object_get(json_object_get(all, id), name);
    if (!json_is_number(value)) {
        fail_msg("%s: %s.%s is no number", path, id, name);
    }
    number = json_number_value(value);
    json_decref(all);
    return number;
}
