/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_faults.c - `faults` of a scenario.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <stdlib.h>
#include <string.h>

#include "tools/scenario/work_file.h"

#define FAULT(field) .offset = offsetof(struct scenario_fault, field)

/* Most packets a fault lists, and the highest number. */
enum { DROPS_MAX = 10000 };
#define DROP_NUMBER_MAX (INT64_C(1) << 40)

const struct param scenario_fault_table[] = {
    {.name = "until",
     .kind = PARAM_TIME,
     FAULT(until_ps),
     .unit = "us",
     .def = PARAM_SPECIAL,
     .min = 0,
     .max = 3600 * PS_PER_S,
     .special = "end",
     .source = "a NIC that storms does so until somebody pulls it",
     .doc = "pause-storm, slow-receiver: when it is over"},
    {.name = "class",
     .kind = PARAM_INTEGER,
     FAULT(cls),
     .unit = "",
     .def = PARAM_SPECIAL,
     .min = 0,
     .max = N_CLASSES - 1,
     .special = "lossless",
     .source = "the classes that switches obey pauses for",
     .doc = "pause-storm: class that is stopped; lossless: all such"},
    {.name = "buffer",
     .kind = PARAM_SIZE,
     FAULT(buffer_bytes),
     .unit = "KB",
     .def = 128000,
     .min = 0,
     .max = INT64_C(1000000000),
     .guess = true,
     .source = "guess: half of the 256 KB receive buffer that mlx5 NICs report",
     .doc = "slow-receiver: what the NIC holds before it stops its switch"},
    {.name = NULL},
};

static const char *const fault_words[] = {[SCENARIO_DOWN] = "down",
                                          [SCENARIO_UP] = "up",
                                          [SCENARIO_RATE] = "rate",
                                          [SCENARIO_ERROR_RATE] = "error_rate",
                                          [SCENARIO_DROP] = "drop",
                                          [SCENARIO_PAUSE_STORM] = "pause-storm",
                                          [SCENARIO_SLOW_RECEIVER] = "slow-receiver",
                                          [SCENARIO_SWITCH_DOWN] = "switch-down",
                                          [SCENARIO_SWITCH_UP] = "switch-up",
                                          NULL};
static const char *const later_faults[] = {"bit_error_rate", NULL};

/* What a kind of fault is about: the key that names it, and the keys it has besides. */
static const char *
name_key(enum scenario_fault_kind kind)
{
    return kind == SCENARIO_SWITCH_DOWN || kind == SCENARIO_SWITCH_UP       ? "switch"
           : kind == SCENARIO_PAUSE_STORM || kind == SCENARIO_SLOW_RECEIVER ? "port"
                                                                            : "link";
}

static const char *const *
more_keys(enum scenario_fault_kind kind)
{
    static const char *const none[] = {NULL}, *const rate[] = {"rate", NULL},
                             *const error_rate[] = {"error_rate", NULL},
                             *const drop[] = {"packets", NULL},
                             *const storm[] = {"class", "until", NULL},
                             *const slow[] = {"rate", "buffer", "until", NULL};

    switch (kind) {
    case SCENARIO_RATE:
        return rate;
    case SCENARIO_ERROR_RATE:
        return error_rate;
    case SCENARIO_DROP:
        return drop;
    case SCENARIO_PAUSE_STORM:
        return storm;
    case SCENARIO_SLOW_RECEIVER:
        return slow;
    case SCENARIO_DOWN:
    case SCENARIO_UP:
    case SCENARIO_SWITCH_DOWN:
    case SCENARIO_SWITCH_UP:
        break;
    }
    return none;
}

static bool
has_key(enum scenario_fault_kind kind, const char *key)
{
    for (const char *const *k = more_keys(kind); *k; k++) {
        if (strcmp(*k, key) == 0) {
            return true;
        }
    }
    return false;
}

static gboolean
check_keys(const struct doc_at *at, enum scenario_fault_kind kind, GError **error)
{
    struct doc_key keys[8] = {{"at", false}, {"do", false}, {name_key(kind), false}};
    size_t n = 3;

    for (const char *const *k = more_keys(kind); *k; k++) {
        keys[n++].name = *k;
    }
    return doc_check_object(at, keys, NULL, error);
}

/* ---- reading -------------------------------------------------------------------------- */

static int
compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static gboolean
read_packets(const struct doc_at *at, struct scenario_fault *fault, GError **error)
{
    struct doc_at list = doc_key(at, "packets");

    fault->packets = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    if (!doc_check_array(&list, error)) {
        return FALSE;
    }
    if (json_array_size(list.json) == 0 || json_array_size(list.json) > DROPS_MAX) {
        return doc_fail(&list, SCENARIO_ERROR_VALUE, error,
                        "has %zu numbers; allowed are 1 to %d",
                        json_array_size(list.json), DROPS_MAX);
    }
    for (size_t i = 0; i < json_array_size(list.json); i++) {
        struct doc_at sub = doc_index(&list, i);
        int64_t value = 0;
        uint64_t number;

        if (!doc_integer(&sub, 1, DROP_NUMBER_MAX, &value, error)) {
            return FALSE;
        }
        number = (uint64_t)value;
        g_array_append_val(fault->packets, number);
    }
    g_array_sort(fault->packets, compare_numbers);
    for (guint i = 1; i < fault->packets->len; i++) {
        uint64_t number = g_array_index(fault->packets, uint64_t, i);

        if (number == g_array_index(fault->packets, uint64_t, i - 1)) {
            return doc_fail(&list, SCENARIO_ERROR_VALUE, error,
                            "has %" G_GUINT64_FORMAT " twice", number);
        }
    }
    return TRUE;
}

/* The value of 'key', which must be there, as that of a link. */
static gboolean
read_link_value(const struct doc_at *at, const char *key, int64_t *value, GError **error)
{
    struct doc_at sub = doc_key(at, key);

    return doc_param_value(&sub, param_find(scenario_link_table, key), value, error);
}

static gboolean
check_until(const struct doc_at *at, const struct scenario_fault *fault, GError **error)
{
    return fault->until_ps == PARAM_SPECIAL || fault->until_ps > fault->at_ps ||
           doc_fail_key(at, "until", SCENARIO_ERROR_VALUE, error,
                        "is not after 'at'; allowed is a later time, or \"end\"");
}

/* The values that the kind has besides time and name. */
static gboolean
read_values(const struct doc_at *at, struct scenario_fault *fault, GError **error)
{
    if (has_key(fault->kind, "rate") &&
        !read_link_value(at, "rate", &fault->rate_bps, error)) {
        return FALSE;
    }
    if (fault->kind == SCENARIO_ERROR_RATE) {
        return read_link_value(at, "error_rate", &fault->error_e18, error);
    }
    if (fault->kind == SCENARIO_DROP) {
        return read_packets(at, fault, error);
    }
    return doc_params(at, scenario_fault_table, fault, NULL, error) &&
           check_until(at, fault, error);
}

static gboolean
read_fault(const struct doc_at *at, struct scenario_fault *fault, GError **error)
{
    struct doc_at what = doc_key(at, "do"), when = doc_key(at, "at"), name;
    const char *text;
    int index;

    if (!json_is_object(at->json)) {
        return doc_check_object(at, NULL, NULL, error);
    }
    if (!doc_word(&what, fault_words, later_faults, &index, error)) {
        return FALSE;
    }
    param_set_defaults(scenario_fault_table, fault);
    fault->kind = (enum scenario_fault_kind)index;
    name = doc_key(at, name_key(fault->kind));
    if (!check_keys(at, fault->kind, error) ||
        !doc_param_value(&when, param_find(work_common_params, "start"), &fault->at_ps,
                         error) ||
        !doc_text(&name, &text, error)) {
        return FALSE;
    }
    fault->name = g_strdup(text);
    return read_values(at, fault, error);
}

static void
fault_clear(void *data)
{
    struct scenario_fault *fault = data;

    g_free(fault->name);
    g_clear_pointer(&fault->packets, g_array_unref);
}

gboolean
part_faults_read(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "faults");

    s->faults = g_array_new(FALSE, TRUE, sizeof(struct scenario_fault));
    g_array_set_clear_func(s->faults, fault_clear);
    if (at.json != NULL && !doc_check_array(&at, error)) {
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(at.json); i++) {
        struct doc_at sub = doc_index(&at, i);
        struct scenario_fault fault = {.at_ps = 0};

        if (!read_fault(&sub, &fault, error)) {
            fault_clear(&fault);
            return FALSE;
        }
        g_array_append_val(s->faults, fault);
    }
    for (guint i = 0; i < s->works->len; i++) {
        if (!work_file_add_faults(s, &g_array_index(s->works, struct scenario_work, i),
                                  error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* ---- writing -------------------------------------------------------------------------- */

static json_t *
packets_json(const GArray *packets)
{
    json_t *list = json_array();

    for (guint i = 0; i < packets->len; i++) {
        json_array_append_new(
            list, json_integer((json_int_t)g_array_index(packets, uint64_t, i)));
    }
    return list;
}

static json_t *
fault_json(const struct scenario_fault *fault)
{
    const struct param *start = param_find(work_common_params, "start");
    json_t *object =
        json_pack("{s:o, s:s, s:s}", "at", doc_param_json(start, fault->at_ps),
                  name_key(fault->kind), fault->name, "do", fault_words[fault->kind]);

    if (has_key(fault->kind, "rate")) {
        json_object_set_new(
            object, "rate",
            doc_param_json(param_find(scenario_link_table, "rate"), fault->rate_bps));
    }
    if (fault->kind == SCENARIO_ERROR_RATE) {
        json_object_set_new(object, "error_rate",
                            doc_param_json(param_find(scenario_link_table, "error_rate"),
                                           fault->error_e18));
    }
    if (fault->kind == SCENARIO_DROP) {
        json_object_set_new(object, "packets", packets_json(fault->packets));
    }
    for (const struct param *p = scenario_fault_table; p->name != NULL; p++) {
        if (has_key(fault->kind, p->name)) {
            json_object_set_new(object, p->name, doc_param_json(p, param_get(p, fault)));
        }
    }
    return object;
}

void
part_faults_write(const struct scenario *s, json_t *root)
{
    json_t *list = json_array();

    for (guint i = 0; i < s->faults->len; i++) {
        const struct scenario_fault *fault =
            &g_array_index(s->faults, struct scenario_fault, i);

        if (!fault->from_file) {
            json_array_append_new(list, fault_json(fault));
        }
    }
    json_object_set_new(root, "faults", list);
}

void
part_faults_clear(struct scenario *s)
{
    g_clear_pointer(&s->faults, g_array_unref);
}
