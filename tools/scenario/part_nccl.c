/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_nccl.c - `nccl` of a scenario: what would be exported on the cluster.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <string.h>

#include "tools/scenario/units.h"
#include "workloads/nccl/nccl.h"

static gboolean
read_version(const struct doc_at *at, uint32_t *version, GError **error)
{
    const char *text;
    int64_t part[3] = {0, 0, 0};
    int n = 0;

    if (!doc_text(at, &text, error)) {
        return FALSE;
    }
    for (const char *c = text; n < 3; c++) {
        if (!g_ascii_isdigit(*c)) {
            break;
        }
        for (; g_ascii_isdigit(*c); c++) {
            part[n] = MIN(part[n] * 10 + (*c - '0'), 100);
        }
        n++;
        if (*c == '\0' && n >= 2 && part[0] == 2 && part[1] >= 12 && part[1] < 100 &&
            part[2] < 100) {
            *version = NCCL_VERSION_CODE((uint32_t)part[0], (uint32_t)part[1],
                                         (uint32_t)part[2]);
            return TRUE;
        }
        if (*c != '.') {
            break;
        }
    }
    return doc_fail(
        at, SCENARIO_ERROR_VALUE, error,
        "is \"%.60s\"; allowed is a version from \"2.12.0\" on, such as \"2.30.7\"",
        text);
}

/* A variable as exported: a number, or a text that holds one. */
static gboolean
read_variable(const struct doc_at *at, const struct param *p, int64_t *value,
              GError **error)
{
    const char *text = json_string_value(at->json);
    struct doc_at number = *at;
    gboolean ok;

    if (p->kind != PARAM_INTEGER || text == NULL ||
        (p->special != NULL && strcmp(text, p->special) == 0) ||
        !units_parse(text, PARAM_INTEGER, value, NULL)) {
        return doc_param_value(at, p, value, error);
    }
    number.json = json_integer(*value);
    ok = doc_param_value(&number, p, value, error);
    json_decref(number.json);
    return ok;
}

/* NCCL_ALGO and NCCL_PROTO: one word each so far. */
static gboolean
check_variable_word(const struct doc_at *at, const char *key, const char *word,
                    GError **error)
{
    struct doc_at sub = doc_key(at, key);
    const char *text = NULL;

    if (sub.json == NULL) {
        return TRUE;
    }
    if (!doc_text(&sub, &text, error)) {
        return FALSE;
    }
    return g_ascii_strcasecmp(text, word) == 0 ||
           doc_fail(&sub, SCENARIO_ERROR_LATER, error,
                    "\"%.60s\" is not supported yet; allowed is \"%s\"", text, word);
}

gboolean
part_nccl_read(struct scenario *s, const struct doc_at *root, GError **error)
{
    static const struct doc_key keys[] = {{"version", false},
                                          {"NCCL_ALGO", false},
                                          {"NCCL_PROTO", false},
                                          {"NCCL_CROSS_NIC", true},
                                          {"NCCL_IB_ADAPTIVE_ROUTING", true},
                                          {"NCCL_IB_AR_THRESHOLD", true},
                                          {"NCCL_IB_FIFO_TC", true},
                                          {"NCCL_IB_GID_INDEX", true},
                                          {"NCCL_IB_HCA", true},
                                          {"NCCL_IB_MERGE_NICS", true},
                                          {"NCCL_IB_SL", true},
                                          {"NCCL_IB_TC", true},
                                          {"NCCL_LL128_BUFFSIZE", true},
                                          {"NCCL_LL_BUFFSIZE", true},
                                          {"NCCL_NET_GDR_LEVEL", true},
                                          {"NCCL_P2P_NET_CHUNKSIZE", true},
                                          {"NCCL_PXN_DISABLE", true},
                                          {"NCCL_THREAD_THRESHOLDS", true},
                                          {NULL, false}};
    struct doc_at at = doc_key(root, "nccl"), version = doc_key(&at, "version");

    param_set_defaults(work_nccl_params, &s->nccl);
    s->nccl.version = NCCL_VERSION_DEFAULT;
    if (at.json == NULL) {
        return TRUE;
    }
    if (!doc_check_object(&at, keys, work_nccl_params, error) ||
        (version.json != NULL && !read_version(&version, &s->nccl.version, error)) ||
        !check_variable_word(&at, "NCCL_ALGO", "Ring", error) ||
        !check_variable_word(&at, "NCCL_PROTO", "Simple", error)) {
        return FALSE;
    }
    for (const struct param *p = work_nccl_params; p->name != NULL; p++) {
        struct doc_at sub = doc_key(&at, p->name);
        int64_t value = 0;

        if (sub.json == NULL) {
            continue;
        }
        if (!read_variable(&sub, p, &value, error)) {
            return FALSE;
        }
        param_set(p, &s->nccl, value);
        s->nccl_set |= UINT64_C(1) << (p - work_nccl_params);
    }
    if (s->nccl.min_channels > s->nccl.max_channels) {
        return doc_fail_key(&at, "NCCL_MIN_NCHANNELS", SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT
                            ", above NCCL_MAX_NCHANNELS %" G_GINT64_FORMAT,
                            s->nccl.min_channels, s->nccl.max_channels);
    }
    if (s->nccl.buffer_bytes % 8192 != 0) {
        return doc_fail_key(&at, "NCCL_BUFFSIZE", SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT "; allowed is a multiple of 8192",
                            s->nccl.buffer_bytes);
    }
    if (s->nccl.n_threads != PARAM_SPECIAL && s->nccl.n_threads % 32 != 0) {
        return doc_fail_key(&at, "NCCL_NTHREADS", SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT "; allowed is a multiple of 32",
                            s->nccl.n_threads);
    }
    return TRUE;
}

void
part_nccl_write(const struct scenario *s, json_t *root)
{
    json_t *object = json_object();
    uint32_t v = s->nccl.version;
    g_autofree char *version =
        g_strdup_printf("%u.%u.%u", v / 10000, v / 100 % 100, v % 100);

    json_object_set_new(object, "version", json_string(version));
    json_object_set_new(object, "NCCL_ALGO", json_string("Ring"));
    json_object_set_new(object, "NCCL_PROTO", json_string("Simple"));
    doc_put_params(object, work_nccl_params, &s->nccl, part_all_keys(work_nccl_params));
    json_object_set_new(root, "nccl", object);
}
