/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_profiles.c - every profile under models/profiles is JSON of the form
 * docs/profiles.md describes, and every value in it says what kind of number it is and
 * where it comes from.
 *
 * Where the files are: $ROCESIM_DATADIR, as for the program; else the current folder.
 */
#include <config.h>

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const nic_files[] = {"nic-ideal", "nic-connectx-6", "nic-connectx-7",
                                        NULL};
static const char *const switch_files[] = {"switch-generic", "switch-spectrum-2",
                                           "switch-spectrum-4", "switch-tomahawk-5",
                                           NULL};
static const char *const nic_must[] = {"latency", "ack_latency", "pfc_reaction", NULL};
static const char *const nic_may[] = {"port_rate", "msg_rate", NULL};
static const char *const switch_must[] = {
    "buffer",  "alpha",      "reserved",        "headroom",     "xon",  "ecn", "ecn_at",
    "latency", "forwarding", "ingress_latency", "pfc_reaction", "cell", NULL};
static const char *const switch_may[] = {"port_rate", NULL};
static const char *const kinds[] = {"read", "fitted", "default", "guess", NULL};

static bool
is_word(const char *const *words, const char *word)
{
    for (; *words != NULL; words++) {
        if (strcmp(*words, word) == 0) {
            return true;
        }
    }
    return false;
}

/* Owned by the caller. */
static json_t *
load(const char *name)
{
    const char *folder = getenv("ROCESIM_DATADIR");
    char path[4096];
    json_error_t error;
    json_t *json;

    snprintf(path, sizeof path, "%s/models/profiles/%s.json",
             folder != NULL ? folder : ".", name);
    json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL) {
        fail_msg("%s:%d: %s", path, error.line, error.text);
    }
    return json;
}

static const char *
text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    if (value == NULL || value[0] == '\0') {
        fail_msg("'%s' is missing, empty or no string", key);
    }
    return value;
}

/* A number with one of the units; 'value' in multiples of the unit's size. */
static bool
is_quantity(const json_t *value, const char *const *units)
{
    const char *s = json_string_value(value);
    char *end = NULL;

    if (s == NULL) {
        return false;
    }
    return strtod(s, &end) >= 0 && end != s && is_word(units, end);
}

static void
check_kind_and_source(const char *file, const char *key, const json_t *value)
{
    const char *kind = text(value, "kind");

    if (!is_word(kinds, kind)) {
        fail_msg("%s: '%s' has kind '%s'", file, key, kind);
    }
    text(value, "source");
    assert_int_equal(json_object_get(value, "interval") != NULL,
                     strcmp(kind, "fitted") == 0);
}

/* That 'value' is of the form that 'key' asks for. */
static bool
is_value_of(const char *key, const json_t *value, const json_t *ecn_sets)
{
    static const char *const rates[] = {"G", NULL};
    static const char *const times[] = {"ns", "us", NULL};
    static const char *const sizes[] = {"B", "KB", "MB", "KiB", "MiB", NULL};
    static const char *const places[] = {"enqueue", "dequeue", NULL};
    static const char *const ways[] = {"cut-through", "store-and-forward", NULL};
    const char *s = json_string_value(value);

    if (strcmp(key, "port_rate") == 0) {
        return is_quantity(value, rates);
    }
    if (strcmp(key, "latency") == 0 || strcmp(key, "ack_latency") == 0 ||
        strcmp(key, "ingress_latency") == 0) {
        return is_quantity(value, times);
    }
    if (strcmp(key, "pfc_reaction") == 0) {
        return (s != NULL && strcmp(s, "ieee") == 0) || is_quantity(value, times);
    }
    if (strcmp(key, "msg_rate") == 0 || strcmp(key, "alpha") == 0) {
        return json_is_number(value) && json_number_value(value) > 0;
    }
    if (strcmp(key, "headroom") == 0 || strcmp(key, "xon") == 0) {
        return (s != NULL && strcmp(s, "computed") == 0) || is_quantity(value, sizes);
    }
    if (strcmp(key, "ecn") == 0) {
        return s != NULL && s[0] != '_' && json_object_get(ecn_sets, s) != NULL;
    }
    if (strcmp(key, "ecn_at") == 0) {
        return s != NULL && is_word(places, s);
    }
    if (strcmp(key, "forwarding") == 0) {
        return s != NULL && is_word(ways, s);
    }
    return is_quantity(value, sizes); /* buffer, reserved, cell */
}

static void
check_profile(const char *file, const char *device, const char *const *must,
              const char *const *may)
{
    json_t *profile = load(file), *ecn_sets = load("ecn-sets"), *value;
    const json_t *values = json_object_get(profile, "values");
    const char *key;

    assert_int_equal(json_object_size(profile), 4);
    assert_string_equal(text(profile, "device"), device);
    assert_string_equal(text(profile, "name"), file + strlen(device) + 1);
    text(profile, "doc");
    for (const char *const *m = must; *m != NULL; m++) {
        if (json_object_get(values, *m) == NULL) {
            fail_msg("%s: '%s' is missing", file, *m);
        }
    }
    json_object_foreach((json_t *)values, key, value)
    {
        if (!is_word(must, key) && !is_word(may, key)) {
            fail_msg("%s: '%s' is no key of a %s", file, key, device);
        }
        check_kind_and_source(file, key, value);
        if (!is_value_of(key, json_object_get(value, "value"), ecn_sets)) {
            fail_msg("%s: '%s' has a value of the wrong form", file, key);
        }
    }
    json_decref(profile);
    json_decref(ecn_sets);
}

static void
test_nics(void **state)
{
    (void)state;
    for (const char *const *file = nic_files; *file != NULL; file++) {
        check_profile(*file, "nic", nic_must, nic_may);
    }
}

static void
test_switches(void **state)
{
    (void)state;
    for (const char *const *file = switch_files; *file != NULL; file++) {
        check_profile(*file, "switch", switch_must, switch_may);
    }
}

/* The profiles that stand for no product have no limit of rate. */
static void
test_ideal_and_generic_have_no_port_rate(void **state)
{
    static const char *const files[] = {"nic-ideal", "switch-generic"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        json_t *profile = load(files[i]);

        assert_null(json_object_get(json_object_get(profile, "values"), "port_rate"));
        json_decref(profile);
    }
}

static void
test_ecn_sets(void **state)
{
    static const char *const rates[] = {"G", NULL};
    static const char *const sizes[] = {"KB", "MB", "KiB", "MiB", NULL};
    json_t *sets = load("ecn-sets"), *set;
    const char *name;

    (void)state;
    assert_non_null(json_object_get(sets, "lab"));
    assert_non_null(json_object_get(sets, "hpcc"));
    assert_non_null(json_object_get(sets, "vendor"));
    json_object_foreach(sets, name, set)
    {
        double last_rate = 0;
        json_t *entry;
        size_t i;

        if (name[0] == '_') {
            continue;
        }
        text(set, "doc");
        assert_true(strcmp(text(set, "scale"), "linear") == 0 ||
                    strcmp(text(set, "scale"), "none") == 0);
        assert_true(json_array_size(json_object_get(set, "entries")) > 0);
        json_array_foreach(json_object_get(set, "entries"), i, entry)
        {
            double pmax = json_number_value(json_object_get(entry, "pmax"));
            double rate = strtod(text(entry, "rate"), NULL);

            check_kind_and_source("ecn-sets", name, entry);
            assert_true(is_quantity(json_object_get(entry, "rate"), rates));
            assert_true(is_quantity(json_object_get(entry, "kmin"), sizes));
            assert_true(is_quantity(json_object_get(entry, "kmax"), sizes));
            assert_true(pmax > 0 && pmax <= 1);
            assert_true(rate >
                        last_rate); /* in order: the loader takes the last that fits */
            last_rate = rate;
        }
    }
    json_decref(sets);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nics),
        cmocka_unit_test(test_switches),
        cmocka_unit_test(test_ideal_and_generic_have_no_port_rate),
        cmocka_unit_test(test_ecn_sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
