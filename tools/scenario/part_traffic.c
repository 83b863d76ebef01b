/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_traffic.c - `qos` and `cc` of a scenario.
 *
 * `roce` and `cnp` are always there; what the file says of them replaces their values one by
 * one.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <string.h>

enum { DSCP_MAX = 63, CLASS_MAX = 7, WEIGHT_MAX = 1000, QOS_MAX = 64 };

static const struct net_qos default_roce = {
    .dscp = 26, .cls = 3, .lossless = true, .ecn = true, .weight = 1};
static const struct net_qos default_cnp = {
    .dscp = 48, .cls = 6, .strict = true, .weight = 1};

static struct net_qos *
qos_at(const struct scenario *s, guint i)
{
    return &g_array_index(s->qos, struct net_qos, i);
}

static void
add_qos(struct scenario *s, const char *name, const struct net_qos *values)
{
    struct net_qos qos = *values;

    qos.name = g_strdup(name);
    g_array_append_val(s->qos, qos);
}

/* The place of 'name', or the number of names. */
static guint
find_qos(const struct scenario *s, const char *name)
{
    guint i = 0;

    while (i < s->qos->len && strcmp(qos_at(s, i)->name, name) != 0) {
        i++;
    }
    return i;
}

static gboolean
read_optional_bool(const struct doc_at *at, const char *key, bool *value, GError **error)
{
    struct doc_at sub = doc_key(at, key);

    return sub.json == NULL || doc_bool(&sub, value, error);
}

/* An integer that stays as it is when absent, unless 'required'. */
static gboolean
read_number(const struct doc_at *at, const char *key, bool required, int64_t min,
            int64_t max, int64_t *value, GError **error)
{
    struct doc_at sub = doc_key(at, key);

    return (sub.json == NULL && !required) || doc_integer(&sub, min, max, value, error);
}

/* One name of `qos`; 'is_new': it has no values yet. */
static gboolean
read_qos(const struct doc_at *at, bool is_new, struct net_qos *qos, GError **error)
{
    static const struct doc_key keys[] = {
        {"dscp", false},   {"class", false}, {"lossless", false}, {"strict", false},
        {"weight", false}, {"ecn", false},   {NULL, false}};
    int64_t dscp = qos->dscp, cls = qos->cls, weight = qos->weight;

    if (!doc_check_object(at, keys, NULL, error) ||
        !read_number(at, "dscp", is_new, 0, DSCP_MAX, &dscp, error) ||
        !read_number(at, "class", is_new, 0, CLASS_MAX, &cls, error) ||
        !read_number(at, "weight", false, 1, WEIGHT_MAX, &weight, error) ||
        !read_optional_bool(at, "lossless", &qos->lossless, error) ||
        !read_optional_bool(at, "strict", &qos->strict, error) ||
        !read_optional_bool(at, "ecn", &qos->ecn, error)) {
        return FALSE;
    }
    if (json_object_get(at->json, "weight") != NULL) {
        if (json_is_true(json_object_get(at->json, "strict"))) {
            return doc_fail_key(at, "weight", SCENARIO_ERROR_VALUE, error,
                                "is given, and strict too; allowed is one of them");
        }
        if (json_object_get(at->json, "strict") == NULL) {
            qos->strict = false;
        }
    }
    qos->dscp = (uint8_t)dscp;
    qos->cls = (uint8_t)cls;
    qos->weight = (int32_t)weight;
    return TRUE;
}

/* Names do not contradict each other. */
static gboolean
check_qos(const struct scenario *s, const struct doc_at *at, GError **error)
{
    for (guint i = 0; i < s->qos->len; i++) {
        const struct net_qos *a = qos_at(s, i);
        struct doc_at sub = doc_key(at, a->name);

        for (guint k = 0; k < i; k++) {
            const struct net_qos *b = qos_at(s, k);

            if (a->dscp == b->dscp) {
                return doc_fail_key(
                    &sub, "dscp", SCENARIO_ERROR_VALUE, error,
                    "is %u, as that of '%s'; allowed is one that no other has", a->dscp,
                    b->name);
            }
            if (a->cls == b->cls &&
                (a->lossless != b->lossless || a->strict != b->strict ||
                 a->weight != b->weight || a->ecn != b->ecn)) {
                return doc_fail_key(
                    &sub, "class", SCENARIO_ERROR_VALUE, error,
                    "is %u, as that of '%s', but lossless, strict, weight or "
                    "ecn differ; allowed is another class, or the same values",
                    a->cls, b->name);
            }
        }
    }
    return TRUE;
}

static gboolean
read_all_qos(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "qos");
    const char *name;
    json_t *value;

    s->qos = g_array_new(FALSE, FALSE, sizeof(struct net_qos));
    add_qos(s, "roce", &default_roce);
    add_qos(s, "cnp", &default_cnp);
    s->cnp_qos = 1;
    if (at.json == NULL) {
        return TRUE;
    }
    if (!json_is_object(at.json)) {
        return doc_check_object(&at, NULL, NULL, error);
    }
    json_object_foreach(at.json, name, value)
    {
        struct doc_at sub = doc_key(&at, name);
        struct net_qos fresh = {.ecn = true, .weight = 1};
        guint i = find_qos(s, name);
        bool is_new = i == s->qos->len;

        if (name[0] == '_') {
            continue;
        }
        if (name[0] == '\0' || s->qos->len == QOS_MAX) {
            return doc_fail(&sub, SCENARIO_ERROR_VALUE, error,
                            "allowed are %d names that are not empty", QOS_MAX);
        }
        if (is_new) {
            add_qos(s, name, &fresh);
        }
        if (!read_qos(&sub, is_new, qos_at(s, i), error)) {
            return FALSE;
        }
    }
    return check_qos(s, &at, error);
}

/* ---- cc ------------------------------------------------------------------------------- */

/* Names of all algorithms, NULL at the end. */
static GPtrArray *
cc_names(void)
{
    GPtrArray *names = g_ptr_array_new();

    for (const struct cc_ops *const *ops = cc_list; *ops != NULL; ops++) {
        g_ptr_array_add(names, (gpointer)(uintptr_t)(*ops)->name);
    }
    g_ptr_array_add(names, NULL);
    return names;
}

static GPtrArray *
preset_names(const struct cc_ops *ops)
{
    GPtrArray *names = g_ptr_array_new();

    for (const struct cc_preset *p = ops->presets; p->name != NULL; p++) {
        g_ptr_array_add(names, (gpointer)(uintptr_t)p->name);
    }
    g_ptr_array_add(names, NULL);
    return names;
}

/* The word at 'key' of 'at'; 'fallback' when it is not there. */
static gboolean
read_name(const struct doc_at *at, const char *key, GPtrArray *names,
          const char *fallback, const char **name, GError **error)
{
    static const char *const later[] = {"timely", "dctcp", "hpcc", "swift", NULL};
    struct doc_at sub = doc_key(at, key);
    int index;

    *name = fallback;
    if (sub.json == NULL) {
        return TRUE;
    }
    if (!doc_word(&sub, (const char *const *)names->pdata, later, &index, error)) {
        return FALSE;
    }
    *name = names->pdata[index];
    return TRUE;
}

/* A preset of another algorithm says so: it stayed when cc.algorithm was changed. */
static gboolean
check_preset(const struct scenario *s, const struct doc_at *cc, GError **error)
{
    struct doc_at at = doc_key(cc, "preset");
    const char *word = json_string_value(at.json);

    if (word == NULL || cc_preset_find(s->cc, word) != NULL) {
        return TRUE;
    }
    for (const struct cc_ops *const *ops = cc_list; *ops != NULL; ops++) {
        if (cc_preset_find(*ops, word) != NULL) {
            return doc_fail(&at, SCENARIO_ERROR_VALUE, error,
                            "\"%s\" is a preset of %s, but cc.algorithm is %s; leave it "
                            "out, or: --set 'cc={\"algorithm\": \"%s\"}'",
                            word, (*ops)->name, s->cc->name, s->cc->name);
        }
    }
    return TRUE;
}

static gboolean
read_cc(struct scenario *s, const struct doc_at *root, GError **error)
{
    static const struct doc_key keys[] = {
        {"algorithm", false}, {"preset", false}, {"params", false}, {NULL, false}};
    struct doc_at at = doc_key(root, "cc"), params = doc_key(&at, "params");
    g_autoptr(GPtrArray) names = cc_names(), presets = NULL;
    const char *name, *preset;

    if (at.json != NULL && !doc_check_object(&at, keys, NULL, error)) {
        return FALSE;
    }
    if (!read_name(&at, "algorithm", names, "dcqcn", &name, error)) {
        return FALSE;
    }
    s->cc = cc_find(name);
    presets = preset_names(s->cc);
    if (!check_preset(s, &at, error) ||
        !read_name(&at, "preset", presets, s->cc->presets[0].name, &preset, error)) {
        return FALSE;
    }
    s->preset = cc_preset_find(s->cc, preset);
    s->cc_params = g_malloc0(MAX(s->cc->params_bytes, 1));
    cc_params_init(s->cc, s->preset, s->cc_params);
    return params.json == NULL ||
           (doc_check_object(&params, NULL, s->cc->params, error) &&
            doc_params(&params, s->cc->params, s->cc_params, NULL, error));
}

/* ---- the part ------------------------------------------------------------------------- */

gboolean
part_traffic_read(struct scenario *s, const struct doc_at *root, GError **error)
{
    return read_all_qos(s, root, error) && read_cc(s, root, error);
}

void
part_traffic_write(const struct scenario *s, json_t *root)
{
    json_t *all = json_object(), *params = json_object();

    for (guint i = 0; i < s->qos->len; i++) {
        const struct net_qos *qos = qos_at(s, i);
        json_t *one =
            json_pack("{s:i, s:i, s:b, s:b}", "dscp", (int)qos->dscp, "class",
                      (int)qos->cls, "lossless", qos->lossless, "strict", qos->strict);

        if (!qos->strict) {
            json_object_set_new(one, "weight", json_integer(qos->weight));
        }
        json_object_set_new(one, "ecn", json_boolean(qos->ecn));
        json_object_set_new(all, qos->name, one);
    }
    json_object_set_new(root, "qos", all);
    doc_put_params(params, s->cc->params, s->cc_params, part_all_keys(s->cc->params));
    json_object_set_new(root, "cc",
                        json_pack("{s:s, s:s, s:o}", "algorithm", s->cc->name, "preset",
                                  s->preset->name, "params", params));
}

void
part_traffic_clear(struct scenario *s)
{
    for (guint i = 0; s->qos != NULL && i < s->qos->len; i++) {
        g_free(qos_at(s, i)->name);
    }
    g_clear_pointer(&s->qos, g_array_unref);
    g_clear_pointer(&s->cc_params, g_free);
}
