/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_ecn.c - `switch.ecn`: a named set, entries by rate, or three numbers.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <string.h>

#include "models/net_params.h"
#include "tools/scenario/profile.h"

const struct part_ecn_key part_ecn_keys[PART_N_ECN_KEYS] = {
    {"ecn_at", "at"}, {"ecn_counts", "counts"}, {"ecn_marks", "marks"}};

void
part_ecn_clear(struct scenario_ecn *ecn)
{
    g_clear_pointer(&ecn->set, g_free);
    g_clear_pointer(&ecn->entry, g_free);
}

/* kmin, kmax and pmax of 'at', all needed. */
static gboolean
read_thresholds(const struct doc_at *at, struct ecn_params *entry, GError **error)
{
    uint64_t set = 0;

    if (!doc_params(at, ecn_param_table, entry, &set, error)) {
        return FALSE;
    }
    for (const struct param *p = ecn_param_table; p->name != NULL; p++) {
        if (!(set & UINT64_C(1) << (p - ecn_param_table))) {
            return doc_fail_key(at, p->name, SCENARIO_ERROR_KEY, error,
                                "is missing; kmin, kmax and pmax are given together");
        }
    }
    if (entry->kmin_bytes > entry->kmax_bytes) {
        struct doc_at kmin = doc_key(at, "kmin");
        g_autofree char *shown = doc_show(kmin.json);

        return doc_fail(&kmin, SCENARIO_ERROR_VALUE, error,
                        "is %s, above kmax; allowed is up to kmax", shown);
    }
    return TRUE;
}

/* `entries` and `scale` of 'at' into 'ecn'. */
static gboolean
read_entries(const struct doc_at *at, struct scenario_ecn *ecn, GError **error)
{
    static const char *const scales[] = {"none", "linear", NULL};
    static const struct doc_key keys[] = {
        {"rate", false}, {"kind", false}, {"source", false}, {NULL, false}};
    struct doc_at list = doc_key(at, "entries"), scale = doc_key(at, "scale");
    size_t n = json_array_size(list.json);
    int is_linear;

    if (!doc_check_array(&list, error) ||
        !doc_word(&scale, scales, NULL, &is_linear, error)) {
        return FALSE;
    }
    if (n == 0) {
        return doc_fail(&list, SCENARIO_ERROR_VALUE, error,
                        "is empty; allowed is 1 or more");
    }
    ecn->entry = g_new0(struct ecn_params, n);
    ecn->n_entries = (uint32_t)n;
    ecn->scaled = is_linear != 0;
    for (size_t i = 0; i < n; i++) {
        struct doc_at sub = doc_index(&list, i), rate = doc_key(&sub, "rate");
        struct ecn_params *entry = &ecn->entry[i];

        if (!doc_check_object(&sub, keys, ecn_param_table, error) ||
            !read_thresholds(&sub, entry, error) ||
            !doc_param_value(&rate, param_find(scenario_link_table, "rate"),
                             &entry->from_rate_bps, error)) {
            return FALSE;
        }
        if (i > 0 && entry->from_rate_bps <= entry[-1].from_rate_bps) {
            return doc_fail(&rate, SCENARIO_ERROR_VALUE, error,
                            "is not above the entry's before; allowed are growing rates");
        }
        entry->at_rate_bps = ecn->scaled ? entry->from_rate_bps : 0;
        entry->faster = i + 1 < n ? entry + 1 : NULL;
    }
    return TRUE;
}

/* The set called 'name', named at 'at'. */
static gboolean
load_set(const struct doc_at *at, const char *name, struct scenario_ecn *ecn,
         GError **error)
{
    g_autofree char *file = NULL;
    json_t *set = profile_ecn_set(at, name, &file, error);
    struct doc_at root = doc_root(file, set);
    gboolean ok;

    if (set == NULL) {
        return FALSE;
    }
    ok = read_entries(&root, ecn, error);
    json_decref(set);
    return ok;
}

/* `ecn` as an object; `at` in it goes to 'sw'. */
static gboolean
read_ecn_object(const struct doc_at *at, struct scenario_switch *sw,
                struct scenario_ecn *ecn, GError **error)
{
    static const struct doc_key keys[] = {
        {"set", false},    {"entries", false}, {"scale", false}, {"at", false},
        {"counts", false}, {"marks", false},   {NULL, false}};
    struct doc_at set = doc_key(at, "set");
    const char *name = NULL;
    bool by_numbers = false;

    if (!doc_check_object(at, keys, ecn_param_table, error)) {
        return FALSE;
    }
    for (size_t i = 0; i < PART_N_ECN_KEYS; i++) {
        const struct param *p = param_find(switch_param_table, part_ecn_keys[i].key);
        struct doc_at sub = doc_key(at, part_ecn_keys[i].in_ecn);
        int64_t value;

        if (sub.json != NULL) {
            if (!doc_param_value(&sub, p, &value, error)) {
                return FALSE;
            }
            param_set(p, &sw->params, value);
            sw->set |= part_key_bit(switch_param_table, p->name);
        }
    }
    if (set.json != NULL && !doc_text(&set, &name, error)) {
        return FALSE;
    }
    ecn->set = g_strdup(name);
    for (const struct param *p = ecn_param_table; p->name != NULL; p++) {
        by_numbers = by_numbers || json_object_get(at->json, p->name) != NULL;
    }
    if (by_numbers && (name != NULL || json_object_get(at->json, "entries") != NULL)) {
        return doc_fail(
            at, SCENARIO_ERROR_VALUE, error,
            "has kmin, kmax or pmax besides a set; allowed is one or the other");
    }
    if (json_object_get(at->json, "entries") != NULL) {
        return read_entries(at, ecn, error);
    }
    if (json_object_get(at->json, "scale") != NULL) {
        return doc_fail_key(at, "scale", SCENARIO_ERROR_VALUE, error,
                            "is given without entries");
    }
    if (name != NULL) {
        return load_set(&set, name, ecn, error);
    }
    if (by_numbers) {
        ecn->entry = g_new0(struct ecn_params, 1);
        ecn->n_entries = 1;
        return read_thresholds(at, ecn->entry, error);
    }
    return TRUE;
}

/* `ecn` of 'at', if it is there: a set's name, or an object. */
gboolean
part_ecn_read(const struct doc_at *at, struct scenario_switch *sw, GError **error)
{
    struct doc_at sub = doc_key(at, "ecn");
    struct scenario_ecn ecn = {0};
    gboolean ok;

    if (sub.json == NULL) {
        return TRUE;
    }
    for (size_t i = 0; i < PART_N_ECN_KEYS; i++) {
        if (json_object_get(sub.json, part_ecn_keys[i].in_ecn) != NULL &&
            json_object_get(at->json, part_ecn_keys[i].key) != NULL) {
            return doc_fail_key(at, part_ecn_keys[i].key, SCENARIO_ERROR_VALUE, error,
                                "is given, and ecn.%s too; allowed is one of them",
                                part_ecn_keys[i].in_ecn);
        }
    }
    if (json_is_string(sub.json)) {
        ecn.set = g_strdup(json_string_value(sub.json));
        ok = load_set(&sub, ecn.set, &ecn, error);
    } else if (json_is_object(sub.json)) {
        ok = read_ecn_object(&sub, sw, &ecn, error);
    } else {
        ok =
            doc_fail(&sub, SCENARIO_ERROR_TYPE, error,
                     "allowed is a set's name such as \"lab\", or an object {kmin, kmax, "
                     "pmax, at}");
    }
    if (!ok || ecn.n_entries == 0) {
        part_ecn_clear(&ecn);
        return ok;
    }
    part_ecn_clear(&sw->ecn);
    sw->ecn = ecn;
    sw->has_ecn = true;
    return TRUE;
}

json_t *
part_ecn_json(const struct scenario_ecn *ecn)
{
    const struct param *rate = param_find(scenario_link_table, "rate");
    const uint64_t all = part_all_keys(ecn_param_table);
    json_t *object = json_object(), *list;

    if (ecn->set == NULL && ecn->entry[0].from_rate_bps == 0) {
        doc_put_params(object, ecn_param_table, &ecn->entry[0], all);
        return object;
    }
    if (ecn->set != NULL) {
        json_object_set_new(object, "set", json_string(ecn->set));
    }
    json_object_set_new(object, "scale", json_string(ecn->scaled ? "linear" : "none"));
    list = json_array();
    for (uint32_t i = 0; i < ecn->n_entries; i++) {
        json_t *one = json_object();

        json_object_set_new(one, "rate",
                            doc_param_json(rate, ecn->entry[i].from_rate_bps));
        doc_put_params(one, ecn_param_table, &ecn->entry[i], all);
        json_array_append_new(list, one);
    }
    json_object_set_new(object, "entries", list);
    return object;
}
