/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * compat.c - `compat: "hpcc"` as a scenario that others are based on.
 *
 * All that the key does to a run stands in this text; each key may also be written alone.
 * docs/hpcc.md goes through them point by point, and names what else differs.
 */
#include <config.h>

#include "tools/scenario/compat.h"

#include <string.h>

static const char hpcc_text[] =
    "{\"wire\": \"hpcc\","
    " \"nic\": {\"mtu\": 1000, \"jitter\": \"0ns\", \"pfc_reaction\": \"0ns\","
    "          \"ack_every\": 1, \"ack_timeout\": 0, \"ack_first\": true,"
    "          \"ack_pausable\": true, \"ack_coalesce\": false,"
    "          \"ack_duplicates\": false, \"cnp\": \"ack\", \"nack_interval\": \"500us\","
    "          \"slow_gap\": \"never\", \"arbiter\": \"scan\", \"sport\": 10000,"
    "          \"dport\": 100},"
    " \"switch\": {\"mmu\": \"hpcc\", \"alpha\": 0.125, \"reserved\": \"4096B\","
    "             \"buffer\": \"16MiB\", \"xon_offset\": \"3072B\", \"latency\": \"0ns\","
    "             \"pfc_reaction\": \"0ns\", \"pfc_quanta\": \"until-resume\","
    "             \"scheduler\": \"rr\", \"hash\": \"murmur3\","
    "             \"next_hops\": \"descending\", \"ecn\": {\"set\": \"hpcc\","
    "             \"at\": \"dequeue\", \"counts\": \"without\", \"marks\": \"all\"}},"
    " \"qos\": {\"cnp\": {\"class\": 0},"
    "          \"pg1\": {\"dscp\": 1, \"class\": 1, \"lossless\": true},"
    "          \"pg2\": {\"dscp\": 2, \"class\": 2, \"lossless\": true},"
    "          \"pg4\": {\"dscp\": 4, \"class\": 4, \"lossless\": true},"
    "          \"pg5\": {\"dscp\": 5, \"class\": 5, \"lossless\": true},"
    "          \"pg6\": {\"dscp\": 6, \"class\": 6, \"lossless\": true},"
    "          \"pg7\": {\"dscp\": 7, \"class\": 7, \"lossless\": true}},"
    " \"cc\": {\"algorithm\": \"dcqcn\", \"preset\": \"hpcc-sim\"}}";

/* What 'at' says of `KEY` as an object, or NULL. */
static json_t *
object_of(json_t *at, const char *key)
{
    json_t *value = json_object_get(at, key);

    return json_is_object(value) ? value : NULL;
}

/* Another algorithm has no such preset. */
static void
drop_preset(json_t *base, const json_t *root)
{
    const char *algorithm =
        json_string_value(json_object_get(json_object_get(root, "cc"), "algorithm"));

    if (algorithm != NULL && strcmp(algorithm, "dcqcn") != 0) {
        json_object_del(object_of(base, "cc"), "preset");
    }
}

/* What is written another way takes the place of what is written here. */
static void
drop_ecn(json_t *base, const json_t *root)
{
    static const char *const instead[][2] = {
        {"ecn_at", "at"}, {"ecn_counts", "counts"}, {"ecn_marks", "marks"}};
    static const char *const thresholds[] = {"kmin", "kmax", "pmax", "entries", "scale"};
    const json_t *sw = json_object_get(root, "switch"), *ecn = json_object_get(sw, "ecn");
    json_t *ours = object_of(object_of(base, "switch"), "ecn");

    for (size_t i = 0; i < G_N_ELEMENTS(instead); i++) {
        if (json_object_get(sw, instead[i][0]) != NULL) {
            json_object_del(ours, instead[i][1]);
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(thresholds); i++) {
        if (json_object_get(ecn, thresholds[i]) != NULL) {
            json_object_del(ours, "set");
        }
    }
    if (json_is_string(ecn)) { /* the name of a set, which replaces the whole object */
        json_object_set(ours, "set", (json_t *)(uintptr_t)ecn);
        json_object_set(object_of((json_t *)(uintptr_t)root, "switch"), "ecn", ours);
    }
}

static bool
uses(const json_t *qos, const char *key, const json_t *value)
{
    const char *name;
    json_t *one;

    json_object_foreach((json_t *)(uintptr_t)qos, name, one)
    {
        if (value != NULL && json_equal(json_object_get(one, key), value)) {
            return true;
        }
    }
    return false;
}

/* A priority group that has a name in 'root', or lacks a code point, needs none of ours. */
static void
drop_qos(json_t *base, const json_t *root)
{
    const json_t *theirs = json_object_get(root, "qos");
    json_t *ours = object_of(base, "qos"), *one;
    const char *name;
    void *next;

    json_object_foreach_safe(ours, next, name, one)
    {
        if (json_object_get(theirs, name) == NULL &&
            (uses(theirs, "class", json_object_get(one, "class")) ||
             uses(theirs, "dscp", json_object_get(one, "dscp")))) {
            json_object_del(ours, name);
        }
    }
}

/* Adds what 'base' has and 'root' has not, key by key. */
static void
fill(json_t *root, const json_t *base)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)base, key, value)
    {
        json_t *there = json_object_get(root, key);

        if (there == NULL) {
            json_object_set(root, key, value);
        } else if (json_is_object(there) && json_is_object(value)) {
            fill(there, value);
        }
    }
}

/* Each flow has queue pairs of its own. */
static void
fill_workloads(json_t *list)
{
    json_t *work;
    size_t i;

    json_array_foreach(list, i, work)
    {
        const char *type = json_string_value(json_object_get(work, "type"));
        bool is_nccl =
            g_strcmp0(type, "collective") == 0 || g_strcmp0(type, "trace") == 0;

        if (json_is_object(work) && !is_nccl &&
            json_object_get(work, "connect") == NULL) {
            json_object_set_new(work, "connect", json_string("flow"));
        }
    }
}

gboolean
compat_apply(const struct doc_at *root, bool *is_hpcc, GError **error)
{
    static const char *const words[] = {"off", "hpcc", NULL};
    struct doc_at at = doc_key(root, "compat");
    int index = 0;
    json_t *base;

    if (at.json != NULL && !doc_word(&at, words, NULL, &index, error)) {
        return FALSE;
    }
    *is_hpcc = index == 1;
    if (!*is_hpcc) {
        return TRUE;
    }
    base = json_loads(hpcc_text, 0, NULL);
    g_assert(base != NULL);
    drop_preset(base, root->json);
    drop_ecn(base, root->json);
    drop_qos(base, root->json);
    fill(root->json, base);
    fill_workloads(json_object_get(root->json, "workload"));
    json_decref(base);
    return TRUE;
}
