/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_devices.c - `nic`, `switch` and their overrides by device.
 *
 * Values of one device come from, in this order: the table's default (for cnp_interval the
 * preset's, for ack_timeout NCCL's), the profile, the keys of `nic` or `switch`, then
 * those of each override whose name or glob fits, in the order of the file; an override's
 * profile counts as all of its values.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <string.h>

#include "models/net_params.h"
#include "tools/scenario/profile.h"

/* NCCL_IB_TIMEOUT's default, NCCL 2.30.7. */
enum { NCCL_ACK_TIMEOUT = 20 };

static const struct doc_key nic_keys[] = {{"profile", false},
                                          {"pfc", false},
                                          {"msg_rate", true},
                                          {"pcie", true},
                                          {NULL, false}};
static const struct doc_key switch_keys[] = {{"profile", false},
                                             {"pfc", false},
                                             {"ecn", false},
                                             {"watchdog", false},
                                             {NULL, false}};

/* `pfc`: a list of classes, as a mask. */
static gboolean
read_classes(const struct doc_at *at, uint8_t *classes, GError **error)
{
    uint8_t mask = 0;

    if (!doc_check_array(at, error)) {
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(at->json); i++) {
        struct doc_at sub = doc_index(at, i);
        int64_t cls = 0;

        if (!doc_integer(&sub, 0, 7, &cls, error)) {
            return FALSE;
        }
        if (mask & 1u << cls) {
            return doc_fail(&sub, SCENARIO_ERROR_VALUE, error, "is %d again", (int)cls);
        }
        mask |= (uint8_t)(1u << cls);
    }
    *classes = mask;
    return TRUE;
}

static json_t *
classes_json(uint8_t classes)
{
    json_t *list = json_array();

    for (int c = 0; c < 8; c++) {
        if (classes & 1u << c) {
            json_array_append_new(list, json_integer(c));
        }
    }
    return list;
}

/* Shares a name with `hosts` and `nics`: the classes that qos marks lossless. */
static uint8_t
lossless_classes(const struct scenario *s)
{
    uint8_t mask = 0;

    for (guint i = 0; i < s->qos->len; i++) {
        const struct net_qos *qos = &g_array_index(s->qos, struct net_qos, i);

        mask |= (uint8_t)(qos->lossless ? 1u << qos->cls : 0);
    }
    return mask;
}

/* ---- one device ----------------------------------------------------------------------- */

/* The profile named in 'at' (or 'fallback'; NULL: none) as an object of values, NULL without
 * error when there is none. */
static gboolean
open_profile(const struct doc_at *at, const char *device, const char *fallback,
             char **name, char **file, json_t **values, GError **error)
{
    struct doc_at sub = doc_key(at, "profile");
    const char *text = fallback;

    *values = NULL;
    if (sub.json != NULL && !doc_text(&sub, &text, error)) {
        return FALSE;
    }
    if (text == NULL) {
        return TRUE;
    }
    *name = g_strdup(text);
    *values = profile_values(&sub, device, text, file, error);
    return *values != NULL;
}

static gboolean
read_nic(const struct doc_at *at, const char *fallback, struct scenario_nic *nic,
         GError **error)
{
    static const struct doc_key profile_keys[] = {{"msg_rate", false}, {NULL, false}};
    struct doc_at pfc = doc_key(at, "pfc");
    g_autofree char *file = NULL;
    json_t *values;
    gboolean ok;

    if ((at->json != NULL && !doc_check_object(at, nic_keys, nic_param_table, error)) ||
        !open_profile(at, "nic", fallback, &nic->profile, &file, &values, error)) {
        return FALSE;
    }
    if (values != NULL) {
        struct doc_at root = doc_root(file, values);

        ok = doc_check_object(&root, profile_keys, nic_param_table, error) &&
             doc_params(&root, nic_param_table, &nic->params, &nic->set, error);
        json_decref(values);
        if (!ok) {
            return FALSE;
        }
    }
    if (!doc_params(at, nic_param_table, &nic->params, &nic->set, error)) {
        return FALSE;
    }
    if (pfc.json != NULL) {
        nic->has_pfc = true;
        return read_classes(&pfc, &nic->params.pfc, error);
    }
    return TRUE;
}

/* `watchdog`, if it is there: an object, or the action alone. */
static gboolean
read_watchdog(const struct doc_at *at, struct scenario_switch *sw, GError **error)
{
    const struct param *action = param_find(watchdog_param_table, "action");
    struct doc_at sub = doc_key(at, "watchdog");
    int64_t value;

    if (sub.json == NULL) {
        return TRUE;
    }
    if (json_is_string(sub.json)) {
        if (!doc_param_value(&sub, action, &value, error)) {
            return FALSE;
        }
        param_set(action, &sw->params, value);
        sw->watchdog_set |= part_key_bit(watchdog_param_table, "action");
        return TRUE;
    }
    return doc_check_object(&sub, NULL, watchdog_param_table, error) &&
           doc_params(&sub, watchdog_param_table, &sw->params, &sw->watchdog_set, error);
}

static gboolean
read_switch(const struct doc_at *at, const char *fallback, struct scenario_switch *sw,
            GError **error)
{
    static const struct doc_key profile_keys[] = {{"ecn", false}, {NULL, false}};
    struct doc_at pfc = doc_key(at, "pfc");
    g_autofree char *file = NULL;
    json_t *values;
    gboolean ok;

    if ((at->json != NULL &&
         !doc_check_object(at, switch_keys, switch_param_table, error)) ||
        !open_profile(at, "switch", fallback, &sw->profile, &file, &values, error)) {
        return FALSE;
    }
    if (values != NULL) {
        struct doc_at root = doc_root(file, values);

        ok = doc_check_object(&root, profile_keys, switch_param_table, error) &&
             doc_params(&root, switch_param_table, &sw->params, &sw->set, error) &&
             part_ecn_read(&root, sw, error);
        json_decref(values);
        if (!ok) {
            return FALSE;
        }
    }
    if (!doc_params(at, switch_param_table, &sw->params, &sw->set, error) ||
        !part_ecn_read(at, sw, error) || !read_watchdog(at, sw, error)) {
        return FALSE;
    }
    if (pfc.json != NULL) {
        sw->has_pfc = true;
        return read_classes(&pfc, &sw->params.pfc, error);
    }
    return TRUE;
}

static json_t *
nic_json(const struct scenario_nic *nic)
{
    json_t *object = json_object();

    if (nic->profile != NULL) {
        json_object_set_new(object, "profile", json_string(nic->profile));
    }
    doc_put_params(object, nic_param_table, &nic->params, nic->set);
    if (nic->has_pfc) {
        json_object_set_new(object, "pfc", classes_json(nic->params.pfc));
    }
    return object;
}

static json_t *
switch_json(const struct scenario_switch *sw)
{
    json_t *object = json_object(), *ecn = NULL;
    uint64_t set = sw->set;

    if (sw->profile != NULL) {
        json_object_set_new(object, "profile", json_string(sw->profile));
    }
    if (sw->has_ecn) {
        ecn = part_ecn_json(&sw->ecn);
        for (size_t i = 0; i < PART_N_ECN_KEYS; i++) {
            const struct param *p = param_find(switch_param_table, part_ecn_keys[i].key);
            uint64_t bit = part_key_bit(switch_param_table, p->name);

            if (set & bit) {
                json_object_set_new(ecn, part_ecn_keys[i].in_ecn,
                                    doc_param_json(p, param_get(p, &sw->params)));
            }
            set &= ~bit;
        }
    }
    doc_put_params(object, switch_param_table, &sw->params, set);
    if (ecn != NULL) {
        json_object_set_new(object, "ecn", ecn);
    }
    if (sw->has_pfc) {
        json_object_set_new(object, "pfc", classes_json(sw->params.pfc));
    }
    if (sw->watchdog_set) {
        json_t *watchdog = json_object();

        doc_put_params(watchdog, watchdog_param_table, &sw->params, sw->watchdog_set);
        json_object_set_new(object, "watchdog", watchdog);
    }
    return object;
}

/* ---- overrides ------------------------------------------------------------------------ */

/* The object 'key' of the root, NULL json when absent. */
static gboolean
open_overrides(const struct doc_at *root, const char *key, struct doc_at *at,
               GError **error)
{
    *at = doc_key(root, key);
    if (at->json != NULL && !json_is_object(at->json)) {
        return doc_fail(at, SCENARIO_ERROR_TYPE, error,
                        "allowed is an object of names or globs: {\"leaf*\": {...}}");
    }
    return TRUE;
}

static gboolean
read_nic_overrides(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at;
    const char *pattern;
    json_t *value;

    if (!open_overrides(root, "nics", &at, error)) {
        return FALSE;
    }
    json_object_foreach(at.json, pattern, value)
    {
        struct doc_at sub = doc_key(&at, pattern);
        struct scenario_nic nic = {.pattern = NULL};

        if (pattern[0] == '_') {
            continue;
        }
        nic.pattern = g_strdup(pattern);
        g_array_append_val(s->nic_overrides, nic);
        if (!read_nic(&sub, NULL,
                      &g_array_index(s->nic_overrides, struct scenario_nic,
                                     s->nic_overrides->len - 1),
                      error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
read_switch_overrides(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at;
    const char *pattern;
    json_t *value;

    if (!open_overrides(root, "switches", &at, error)) {
        return FALSE;
    }
    json_object_foreach(at.json, pattern, value)
    {
        struct doc_at sub = doc_key(&at, pattern);
        struct scenario_switch sw = {.pattern = NULL};

        if (pattern[0] == '_') {
            continue;
        }
        sw.pattern = g_strdup(pattern);
        g_array_append_val(s->switch_overrides, sw);
        if (!read_switch(&sub, NULL,
                         &g_array_index(s->switch_overrides, struct scenario_switch,
                                        s->switch_overrides->len - 1),
                         error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* `hosts`: no key of a host can be overridden yet. */
static gboolean
check_host_overrides(const struct doc_at *root, GError **error)
{
    static const struct doc_key keys[] = {
        {"pcie", true}, {"gpus", true}, {"nics", true}, {"numa", true}, {NULL, false}};
    struct doc_at at;
    const char *pattern;
    json_t *value;

    if (!open_overrides(root, "hosts", &at, error)) {
        return FALSE;
    }
    json_object_foreach(at.json, pattern, value)
    {
        struct doc_at sub = doc_key(&at, pattern);

        if (pattern[0] != '_' && !doc_check_object(&sub, keys, NULL, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* ---- the part ------------------------------------------------------------------------- */

/* How many entries of `workload` are NCCL's, and how many are not. */
static void
count_workloads(const struct doc_at *root, size_t *n_nccl, size_t *n_other)
{
    struct doc_at list = doc_key(root, "workload");
    json_t *work;
    size_t i;

    *n_nccl = *n_other = 0;
    json_array_foreach(list.json, i, work)
    {
        const char *type = json_string_value(json_object_get(work, "type"));
        bool is_nccl =
            type != NULL && (strcmp(type, work_kind_name(WORK_COLLECTIVE)) == 0 ||
                             strcmp(type, work_kind_name(WORK_TRACE)) == 0);

        *(is_nccl ? n_nccl : n_other) += 1;
    }
}

/* Retries are set for all NICs: NCCL's variables and `nic` must not contradict. */
static gboolean
join_nccl(int64_t nccl, const struct doc_at *nic, const char *key, const char *variable,
          int64_t *value, GError **error)
{
    if (nccl == PARAM_SPECIAL) {
        return TRUE;
    }
    if (json_object_get(nic->json, key) != NULL && *value != nccl) {
        return doc_fail_key(nic, key, SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT ", but nccl.%s is %" G_GINT64_FORMAT
                            "; allowed is one of them, or the same",
                            *value, variable, nccl);
    }
    *value = nccl;
    return TRUE;
}

/* Payloads that InfiniBand has; `wire` "hpcc" takes any. */
static bool
is_ib_mtu(int64_t bytes)
{
    return bytes >= 256 && bytes <= 4096 && (bytes & (bytes - 1)) == 0;
}

/* What a selective repeat, or refusing a message, cannot be combined with. */
static gboolean
check_with_sr(const struct doc_at *at, const struct nic_params *p, GError **error)
{
    if (p->go_back == GO_BACK_CHUNK &&
        (p->retransmit == NIC_SR || p->receive_queue > 0)) {
        return doc_fail_key(at, "go_back", SCENARIO_ERROR_VALUE, error,
                            "is \"chunk\", which %s has no meaning for; allowed is "
                            "\"packet\"",
                            p->retransmit == NIC_SR ? "retransmit \"sr\""
                                                    : "receive_queue");
    }
    if (p->cnp == CNP_ON_ACK && p->retransmit == NIC_SR) {
        return doc_fail_key(
            at, "cnp", SCENARIO_ERROR_VALUE, error,
            "is \"ack\", but packets out of order have no ACK of their own "
            "with retransmit \"sr\"; allowed is \"packet\"");
    }
    return TRUE;
}

gboolean
part_check_nic(const struct scenario *s, const struct doc_at *at,
               const struct nic_params *p, GError **error)
{
    if (s->wire == WIRE_ROCE && !is_ib_mtu(p->mtu_bytes)) {
        return doc_fail_key(at, "mtu", SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT
                            "; allowed is 256, 512, 1024, 2048, 4096",
                            p->mtu_bytes);
    }
    if (p->go_back == GO_BACK_CHUNK &&
        (p->chunk_bytes == 0 || p->chunk_bytes % p->mtu_bytes != 0)) {
        return doc_fail_key(at, "chunk", SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT
                            "B; allowed is a multiple of mtu, which is %" G_GINT64_FORMAT,
                            p->chunk_bytes, p->mtu_bytes);
    }
    return check_with_sr(at, p, error);
}

static gboolean
finish_nic(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "nic");
    size_t n_nccl, n_other;

    count_workloads(root, &n_nccl, &n_other);
    if (json_object_get(at.json, "ack_timeout") == NULL && n_nccl > 0) {
        if (n_other == 0) {
            s->nic.params.ack_timeout = NCCL_ACK_TIMEOUT;
        } else if (s->nccl.ib_timeout == PARAM_SPECIAL) {
            g_ptr_array_add(
                s->warnings,
                g_strdup_printf("%s: nic.ack_timeout: is 14 for all, though NCCL's queue "
                                "pairs would have %d: not all workloads are NCCL's",
                                s->file, NCCL_ACK_TIMEOUT));
        }
    }
    if (!join_nccl(s->nccl.ib_timeout, &at, "ack_timeout", "NCCL_IB_TIMEOUT",
                   &s->nic.params.ack_timeout, error) ||
        !join_nccl(s->nccl.ib_retry_count, &at, "retry_count", "NCCL_IB_RETRY_CNT",
                   &s->nic.params.retry_count, error)) {
        return FALSE;
    }
    if (!part_check_nic(s, &at, &s->nic.params, error)) {
        return FALSE;
    }
    if (!s->nic.has_pfc) {
        s->nic.params.pfc = lossless_classes(s);
        s->nic.has_pfc = true;
    }
    s->nic.set = part_all_keys(nic_param_table);
    return TRUE;
}

/* A class that qos calls lossless, but switches do not pause for, drops. */
static void
finish_switch(struct scenario *s)
{
    uint8_t lossless = lossless_classes(s);

    if (!s->sw.has_pfc) {
        s->sw.params.pfc = lossless;
        s->sw.has_pfc = true;
    }
    s->sw.set = part_all_keys(switch_param_table);
    s->sw.watchdog_set = part_all_keys(watchdog_param_table);
    for (int c = 0; c < 8; c++) {
        if (lossless & (uint8_t)~s->sw.params.pfc & 1u << c) {
            g_ptr_array_add(
                s->warnings,
                g_strdup_printf(
                    "%s: switch.pfc: class %d is lossless in qos and not in the "
                    "list: it may drop",
                    s->file, c));
        }
        if (lossless & (uint8_t)~s->nic.params.pfc & 1u << c) {
            g_ptr_array_add(
                s->warnings,
                g_strdup_printf("%s: nic.pfc: class %d is lossless in qos and "
                                "not in the list: NICs ignore its pauses",
                                s->file, c));
        }
    }
}

gboolean
part_check_mmu(const struct doc_at *at, const struct switch_params *p, GError **error)
{
    if (p->mmu == MMU_HPCC &&
        (p->alpha_q32 > PARAM_ONE || (p->alpha_q32 & (p->alpha_q32 - 1)) != 0)) {
        return doc_fail_key(at, "alpha", SCENARIO_ERROR_VALUE, error,
                            "is no power of two up to 1, which mmu hpcc needs; allowed "
                            "are 1, 0.5, 0.25, 0.125...");
    }
    return TRUE;
}

static gboolean
check_switch(const struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "switch");
    const struct switch_params *p = &s->sw.params;

    if (p->ingress_latency_ps > p->latency_ps) {
        return doc_fail_key(&at, "ingress_latency", SCENARIO_ERROR_VALUE, error,
                            "is above latency, of which it is a part");
    }
    if (p->reserved_bytes > p->buffer_bytes) {
        return doc_fail_key(&at, "reserved", SCENARIO_ERROR_VALUE, error,
                            "is above buffer, of which it is a part");
    }
    return part_check_mmu(&at, p, error);
}

gboolean
part_devices_read(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at nic = doc_key(root, "nic"), sw = doc_key(root, "switch");

    s->nic_overrides = g_array_new(FALSE, FALSE, sizeof(struct scenario_nic));
    s->switch_overrides = g_array_new(FALSE, FALSE, sizeof(struct scenario_switch));
    param_set_defaults(nic_param_table, &s->nic.params);
    param_set_defaults(switch_param_table, &s->sw.params);
    param_set_defaults(watchdog_param_table, &s->sw.params);
    if (s->preset->cnp_interval_ps > 0) {
        s->nic.params.cnp_interval_ps = s->preset->cnp_interval_ps;
    }
    if (!read_nic(&nic, "ideal", &s->nic, error) || !finish_nic(s, root, error) ||
        !read_switch(&sw, "generic", &s->sw, error)) {
        return FALSE;
    }
    finish_switch(s);
    return check_switch(s, root, error) && read_nic_overrides(s, root, error) &&
           read_switch_overrides(s, root, error) && check_host_overrides(root, error);
}

void
part_devices_write(const struct scenario *s, json_t *root)
{
    json_t *nics = json_object(), *switches = json_object();

    json_object_set_new(root, "nic", nic_json(&s->nic));
    json_object_set_new(root, "switch", switch_json(&s->sw));
    for (guint i = 0; i < s->nic_overrides->len; i++) {
        const struct scenario_nic *nic =
            &g_array_index(s->nic_overrides, struct scenario_nic, i);

        json_object_set_new(nics, nic->pattern, nic_json(nic));
    }
    for (guint i = 0; i < s->switch_overrides->len; i++) {
        const struct scenario_switch *sw =
            &g_array_index(s->switch_overrides, struct scenario_switch, i);

        json_object_set_new(switches, sw->pattern, switch_json(sw));
    }
    json_object_set_new(root, "nics", nics);
    json_object_set_new(root, "switches", switches);
}

static void
switch_clear(struct scenario_switch *sw)
{
    g_free(sw->pattern);
    g_free(sw->profile);
    part_ecn_clear(&sw->ecn);
}

void
part_devices_clear(struct scenario *s)
{
    for (guint i = 0; s->nic_overrides != NULL && i < s->nic_overrides->len; i++) {
        struct scenario_nic *nic =
            &g_array_index(s->nic_overrides, struct scenario_nic, i);

        g_free(nic->pattern);
        g_free(nic->profile);
    }
    for (guint i = 0; s->switch_overrides != NULL && i < s->switch_overrides->len; i++) {
        switch_clear(&g_array_index(s->switch_overrides, struct scenario_switch, i));
    }
    g_clear_pointer(&s->nic_overrides, g_array_unref);
    g_clear_pointer(&s->switch_overrides, g_array_unref);
    g_free(s->nic.profile);
    switch_clear(&s->sw);
}
