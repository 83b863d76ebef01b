/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_work.c - `workload` of a scenario.
 */
#include <config.h>

#include "tools/scenario/parts.h"

#include <string.h>

#include "tools/scenario/flows_csv.h"
#include "tools/scenario/work_file.h"
#include "tools/scenario/profile.h"
#include "workloads/trace/trace.h"

/* Most entries of a list in a workload. */
enum { RANKS_MAX = 1 << 20 };

/* A queue pair of an NCCL connection has a bit in a word of 64. */
enum { NCCL_QPS_MAX = 64 };

static const char *const kind_words[] = {"flows",      "permutation", "incast",
                                         "collective", "trace",       "poisson",
                                         "all-to-all", "file",        NULL};
static const char *const later_kinds[] = {"nccl-tests", "training", NULL};

static bool
is_nccl(enum work_kind kind)
{
    return kind == WORK_COLLECTIVE || kind == WORK_TRACE;
}

static const struct param *
kind_table(enum work_kind kind)
{
    switch (kind) {
    case WORK_PERMUTATION:
        return work_permutation_params;
    case WORK_INCAST:
        return work_incast_params;
    case WORK_COLLECTIVE:
        return work_collective_params;
    case WORK_POISSON:
        return work_poisson_params;
    case WORK_ALL_TO_ALL:
        return work_all_to_all_params;
    case WORK_FLOWS:
    case WORK_TRACE:
    case WORK_FILE:
        break;
    }
    return NULL;
}

static void *
kind_blob(struct scenario_work *w)
{
    switch (w->kind) {
    case WORK_PERMUTATION:
        return &w->permutation;
    case WORK_INCAST:
        return &w->incast;
    case WORK_COLLECTIVE:
        return &w->collective;
    case WORK_POISSON:
        return &w->poisson;
    case WORK_ALL_TO_ALL:
        return &w->all_to_all;
    case WORK_FLOWS:
    case WORK_TRACE:
    case WORK_FILE:
        break;
    }
    return NULL;
}

/* ---- hosts ---------------------------------------------------------------------------- */

static void
host_clear(void *data)
{
    g_free(((struct scenario_host *)data)->name);
}

static void
flow_clear(void *data)
{
    host_clear(&((struct scenario_flow *)data)->src);
    host_clear(&((struct scenario_flow *)data)->dst);
}

static bool
hosts_equal(const struct scenario_host *a, const struct scenario_host *b)
{
    return a->name != NULL ? b->name != NULL && strcmp(a->name, b->name) == 0
                           : b->name == NULL && a->position == b->position;
}

/* A host by name, or by its position among those of the workload. */
static gboolean
read_host(const struct doc_at *at, struct scenario_host *host, GError **error)
{
    const char *text;

    if (json_is_integer(at->json)) {
        return doc_integer(at, 0, TOPO_MAX_PORTS, &host->position, error);
    }
    if (!json_is_string(at->json)) {
        g_autofree char *shown = at->json != NULL ? doc_show(at->json) : NULL;

        return doc_fail(at, shown == NULL ? SCENARIO_ERROR_KEY : SCENARIO_ERROR_TYPE,
                        error,
                        "is %s; allowed is a host such as \"host3\", or its number 3",
                        shown != NULL ? shown : "missing");
    }
    if (!doc_text(at, &text, error)) {
        return FALSE;
    }
    host->name = g_strdup(text);
    return TRUE;
}

static json_t *
host_json(const struct scenario_host *host)
{
    return host->name != NULL ? json_string(host->name) : json_integer(host->position);
}

/* A list of texts, or one, into a new array of copies. */
static gboolean
read_texts(const struct doc_at *at, GPtrArray **texts, GError **error)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
    const char *text;

    if (json_is_string(at->json)) {
        if (!doc_text(at, &text, error)) {
            return FALSE;
        }
        g_ptr_array_add(list, g_strdup(text));
    } else if (!doc_check_array(at, error)) {
        return FALSE;
    } else if (json_array_size(at->json) == 0) {
        return doc_fail(at, SCENARIO_ERROR_VALUE, error,
                        "is empty; allowed is 1 or more");
    }
    for (size_t i = 0; i < json_array_size(at->json); i++) {
        struct doc_at sub = doc_index(at, i);

        if (!doc_text(&sub, &text, error)) {
            return FALSE;
        }
        g_ptr_array_add(list, g_strdup(text));
    }
    *texts = g_steal_pointer(&list);
    return TRUE;
}

static json_t *
texts_json(const GPtrArray *texts)
{
    json_t *list = json_array();

    for (guint i = 0; i < texts->len; i++) {
        json_array_append_new(list, json_string(texts->pdata[i]));
    }
    return list;
}

/* `hosts`: "all", a name, a glob, or a list of them. */
static gboolean
read_hosts(const struct doc_at *at, struct scenario_work *w, GError **error)
{
    struct doc_at sub = doc_key(at, "hosts");
    const char *text = json_string_value(sub.json);

    return sub.json == NULL || (text != NULL && strcmp(text, "all") == 0) ||
           read_texts(&sub, &w->hosts, error);
}

/* ---- flows ---------------------------------------------------------------------------- */

static const struct param *
bytes_param(void)
{
    return param_find(work_permutation_params, "bytes");
}

/* A number that may be missing. */
static gboolean
read_small(const struct doc_at *at, const char *key, int64_t min, int64_t max,
           int64_t *value, GError **error)
{
    struct doc_at sub = doc_key(at, key);

    return sub.json == NULL || doc_integer(&sub, min, max, value, error);
}

static gboolean
read_flow(const struct doc_at *at, struct scenario_flow *flow, GError **error)
{
    static const struct doc_key keys[] = {
        {"src", false},   {"dst", false},   {"bytes", false}, {"start", false},
        {"sport", false}, {"dport", false}, {"class", false}, {NULL, false}};
    struct doc_at src = doc_key(at, "src"), dst = doc_key(at, "dst"),
                  bytes = doc_key(at, "bytes"), start = doc_key(at, "start");

    if (!doc_check_object(at, keys, NULL, error) || !read_host(&src, &flow->src, error) ||
        !read_host(&dst, &flow->dst, error) ||
        !doc_param_value(&bytes, bytes_param(), &flow->bytes, error)) {
        return FALSE;
    }
    if (hosts_equal(&flow->src, &flow->dst)) {
        return doc_fail(&dst, SCENARIO_ERROR_VALUE, error,
                        "is the same as src; allowed is another host");
    }
    flow->cls = -1;
    if (!read_small(at, "sport", 1, UINT16_MAX, &flow->sport, error) ||
        !read_small(at, "dport", 1, UINT16_MAX, &flow->dport, error) ||
        !read_small(at, "class", 0, 7, &flow->cls, error)) {
        return FALSE;
    }
    return start.json == NULL ||
           doc_param_value(&start, param_find(work_common_params, "start"),
                           &flow->start_ps, error);
}

static gboolean
read_flows(const struct doc_at *at, struct scenario_work *w, GError **error)
{
    struct doc_at list = doc_key(at, "list"), path = doc_key(at, "path");
    const char *text;

    if (list.json != NULL && path.json != NULL) {
        return doc_fail(&path, SCENARIO_ERROR_VALUE, error,
                        "is given, and list too; allowed is one of them");
    }
    w->flows = g_array_new(FALSE, TRUE, sizeof(struct scenario_flow));
    g_array_set_clear_func(w->flows, flow_clear);
    if (path.json != NULL) {
        if (!doc_text(&path, &text, error)) {
            return FALSE;
        }
        w->path = g_canonicalize_filename(text, NULL);
        return flows_csv_read(w->path, w->flows, error);
    }
    if (list.json == NULL) {
        return doc_fail(&list, SCENARIO_ERROR_KEY, error,
                        "is missing; needed is a list of flows [{...}], or path, a CSV");
    }
    if (!doc_check_array(&list, error)) {
        return FALSE;
    }
    if (json_array_size(list.json) == 0) {
        return doc_fail(&list, SCENARIO_ERROR_VALUE, error,
                        "is empty; allowed is 1 or more");
    }
    for (size_t i = 0; i < json_array_size(list.json); i++) {
        struct doc_at sub = doc_index(&list, i);
        struct scenario_flow flow = {.bytes = 0};

        if (!read_flow(&sub, &flow, error)) {
            flow_clear(&flow);
            return FALSE;
        }
        g_array_append_val(w->flows, flow);
    }
    return TRUE;
}

static json_t *
flows_json(const GArray *flows)
{
    const struct param *start = param_find(work_common_params, "start");
    json_t *list = json_array();

    for (guint i = 0; i < flows->len; i++) {
        const struct scenario_flow *flow = &g_array_index(flows, struct scenario_flow, i);

        json_t *one = json_pack("{s:o, s:o, s:o, s:o}", "src", host_json(&flow->src),
                                "dst", host_json(&flow->dst), "bytes",
                                doc_param_json(bytes_param(), flow->bytes), "start",
                                doc_param_json(start, flow->start_ps));

        if (flow->sport != 0) {
            json_object_set_new(one, "sport", json_integer(flow->sport));
        }
        if (flow->dport != 0) {
            json_object_set_new(one, "dport", json_integer(flow->dport));
        }
        if (flow->cls >= 0) {
            json_object_set_new(one, "class", json_integer(flow->cls));
        }
        json_array_append_new(list, one);
    }
    return list;
}

/* ---- incast, poisson, collective, trace ----------------------------------------------- */

static gboolean
read_sender_list(const struct doc_at *at, struct scenario_work *w, GError **error)
{
    w->senders = g_array_new(FALSE, TRUE, sizeof(struct scenario_host));
    g_array_set_clear_func(w->senders, host_clear);
    for (size_t i = 0; i < json_array_size(at->json); i++) {
        struct doc_at sub = doc_index(at, i);
        struct scenario_host host = {.position = 0};

        if (!read_host(&sub, &host, error)) {
            return FALSE;
        }
        g_array_append_val(w->senders, host);
        if (hosts_equal(&host, &w->receiver)) {
            return doc_fail(&sub, SCENARIO_ERROR_VALUE, error,
                            "is the receiver; allowed is another host");
        }
    }
    return w->senders->len > 0 ||
           doc_fail(at, SCENARIO_ERROR_VALUE, error, "is empty; allowed is 1 or more");
}

/* Do the keys on when events begin fit together?  In rounds a sender begins the next one
 * when its flow has ended, so the same hosts take part. */
static gboolean
check_incast(const struct doc_at *at, const struct scenario_work *w, GError **error)
{
    const struct work_incast *incast = &w->incast;
    bool rounds = incast->arrivals == WORK_ARRIVALS_ROUNDS;
    bool has_load = incast->load_e18 != PARAM_SPECIAL;
    bool has_until = incast->until_ps != PARAM_SPECIAL;

    if (rounds && (has_load || has_until)) {
        return doc_fail_key(at, has_load ? "load" : "until", SCENARIO_ERROR_VALUE, error,
                            "is given; allowed with arrivals fixed or poisson");
    }
    if (rounds && incast->choice == WORK_CHOICE_RANDOM && w->common.repeat > 1) {
        return doc_fail_key(at, "repeat", SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT
                            "; with choice random allowed with arrivals fixed or poisson",
                            w->common.repeat);
    }
    if (has_load && w->common.gap_ps > 0) {
        return doc_fail_key(at, "gap", SCENARIO_ERROR_VALUE, error,
                            "is given, and load too; allowed is one of them");
    }
    if (!rounds && !has_load && w->common.gap_ps == 0) {
        return doc_fail_key(
            at, "gap", SCENARIO_ERROR_VALUE, error,
            "is 0; with arrivals fixed or poisson needed is a gap, or a load");
    }
    return !has_until || w->common.repeat == 1 ||
           doc_fail_key(at, "repeat", SCENARIO_ERROR_VALUE, error,
                        "is given, and until too; allowed is one of them");
}

/* `senders`: "all", a count, or a list. */
static gboolean
read_incast(const struct doc_at *at, struct scenario_work *w, GError **error)
{
    struct doc_at senders = doc_key(at, "senders"), receiver = doc_key(at, "receiver");
    const char *text = json_string_value(senders.json);
    bool random = w->incast.choice == WORK_CHOICE_RANDOM;

    w->n_senders = PARAM_SPECIAL;
    w->receiver.position = -1;
    if (!check_incast(at, w, error) || ((receiver.json != NULL || !random) &&
                                        !read_host(&receiver, &w->receiver, error))) {
        return FALSE;
    }
    if (json_is_array(senders.json) && random) {
        return doc_fail(&senders, SCENARIO_ERROR_VALUE, error,
                        "is a list; with choice random allowed is a count, or \"all\"");
    }
    if (json_is_array(senders.json)) {
        return read_sender_list(&senders, w, error);
    }
    if (json_is_integer(senders.json)) {
        return doc_integer(&senders, 1, TOPO_MAX_PORTS, &w->n_senders, error);
    }
    if (senders.json == NULL || (text != NULL && strcmp(text, "all") == 0)) {
        return TRUE;
    }
    return doc_fail(&senders, SCENARIO_ERROR_TYPE, error,
                    "allowed is a count, a list of hosts, or \"all\"");
}

/* `ranks`: "all", a count, or a list. */
static gboolean
read_ranks(const struct doc_at *at, struct scenario_work *w, GError **error)
{
    struct doc_at ranks = doc_key(at, "ranks");
    const char *text = json_string_value(ranks.json);

    w->n_ranks = PARAM_SPECIAL;
    if (ranks.json == NULL || (text != NULL && strcmp(text, "all") == 0)) {
        return TRUE;
    }
    if (json_is_integer(ranks.json)) {
        return doc_integer(&ranks, 1, RANKS_MAX, &w->n_ranks, error);
    }
    if (!json_is_array(ranks.json)) {
        return doc_fail(&ranks, SCENARIO_ERROR_TYPE, error,
                        "allowed is a count, a list of numbers, or \"all\"");
    }
    w->ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (size_t i = 0; i < json_array_size(ranks.json); i++) {
        struct doc_at sub = doc_index(&ranks, i);
        int64_t value = 0;
        uint32_t rank;

        if (!doc_integer(&sub, 0, RANKS_MAX, &value, error)) {
            return FALSE;
        }
        rank = (uint32_t)value;
        g_array_append_val(w->ranks, rank);
    }
    return w->ranks->len > 0 || doc_fail(&ranks, SCENARIO_ERROR_VALUE, error,
                                         "is empty; allowed is 1 or more");
}

static gboolean
check_element_size(const struct doc_at *at, const struct scenario_work *w, GError **error)
{
    int64_t each = work_type_bytes((enum work_type)w->collective.type);
    struct doc_at bytes = doc_key(at, "bytes");

    if (w->collective.bytes % each != 0) {
        g_autofree char *shown = doc_show(bytes.json);

        return doc_fail(&bytes, SCENARIO_ERROR_VALUE, error,
                        "is %s; allowed is a multiple of the %d bytes of an element",
                        shown, (int)each);
    }
    return TRUE;
}

/* "auto" and the names of all readers, NULL at the end. */
static GPtrArray *
format_names(void)
{
    static const char automatic[] = "auto";
    GPtrArray *names = g_ptr_array_new();
    const char *name = automatic;

    for (size_t i = 0; name != NULL; i++) {
        g_ptr_array_add(names, (gpointer)(uintptr_t)name);
        name = trace_reader_name(i, NULL);
    }
    g_ptr_array_add(names, NULL);
    return names;
}

/* Kinds of operations that are left out: `skip`. */
static gboolean
read_skip(const struct doc_at *at, uint32_t *skip, GError **error)
{
    const char *names[TRACE_N_KINDS + 1] = {NULL};
    struct doc_at list = doc_key(at, "skip");

    if (list.json == NULL) {
        return TRUE;
    }
    for (unsigned k = 0; k < TRACE_N_KINDS; k++) {
        names[k] = trace_kind_name((enum trace_kind)k);
    }
    if (!doc_check_array(&list, error)) {
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(list.json); i++) {
        struct doc_at sub = doc_index(&list, i);
        int index;

        if (!doc_word(&sub, names, NULL, &index, error)) {
            return FALSE;
        }
        *skip |= UINT32_C(1) << index;
    }
    return TRUE;
}

static json_t *
skip_json(uint32_t skip)
{
    json_t *list = json_array();

    for (unsigned k = 0; k < TRACE_N_KINDS; k++) {
        if (skip >> k & 1) {
            json_array_append_new(list, json_string(trace_kind_name((enum trace_kind)k)));
        }
    }
    return list;
}

static gboolean
read_trace(const struct doc_at *at, struct scenario_work *w, GError **error)
{
    struct doc_at path = doc_key(at, "path"), format = doc_key(at, "format");
    g_autoptr(GPtrArray) names = NULL;
    const char *text;
    int index;

    if (!json_is_string(path.json) && !json_is_array(path.json)) {
        return doc_text(&path, &text, error);
    }
    if (!read_texts(&path, &w->traces, error)) {
        return FALSE;
    }
    for (guint i = 0; i < w->traces->len; i++) {
        char *full = g_canonicalize_filename(w->traces->pdata[i], NULL);

        g_free(w->traces->pdata[i]);
        w->traces->pdata[i] = full;
    }
    if (!read_skip(at, &w->skip, error)) {
        return FALSE;
    }
    if (format.json == NULL) {
        return TRUE;
    }
    names = format_names();
    if (!doc_word(&format, (const char *const *)names->pdata, NULL, &index, error)) {
        return FALSE;
    }
    if (index > 0) {
        w->format = g_strdup(names->pdata[index]);
    }
    return TRUE;
}

/* `cdf`: the name of a distribution that comes along, or a file. */
static gboolean
read_poisson(const struct doc_at *at, struct scenario_work *w, GError **error)
{
    struct doc_at cdf = doc_key(at, "cdf");
    g_autofree char *path = NULL;
    const char *text;

    if (!doc_text(&cdf, &text, error)) {
        return FALSE;
    }
    if (profile_is_cdf_path(text)) {
        w->cdf = g_canonicalize_filename(text, NULL);
    } else {
        path = profile_cdf(&cdf, text, error);
        if (path == NULL) {
            return FALSE;
        }
        w->cdf = g_strdup(text);
    }
    if (w->common.repeat != 1 || w->common.gap_ps != 0) {
        return doc_fail_key(at, w->common.repeat != 1 ? "repeat" : "gap",
                            SCENARIO_ERROR_VALUE, error,
                            "is given, but poisson has no rounds; allowed is %s",
                            w->common.repeat != 1 ? "1" : "0us");
    }
    return TRUE;
}

/* ---- one workload --------------------------------------------------------------------- */

/* Keys beside the common ones and the table of the kind. */
static const struct doc_key *
kind_keys(enum work_kind kind)
{
#define BASE                                                                             \
    {"type", false}, {"qos", false},                                                     \
    {                                                                                    \
        "hosts", false                                                                   \
    }
    static const struct doc_key flows[] = {
        BASE, {"list", false}, {"path", false}, {NULL, false}};
    static const struct doc_key permutation[] = {BASE, {NULL, false}};
    static const struct doc_key incast[] = {
        BASE, {"senders", false}, {"receiver", false}, {NULL, false}};
    static const struct doc_key collective[] = {BASE, {"ranks", false}, {NULL, false}};
    static const struct doc_key trace[] = {
        BASE, {"path", false}, {"format", false}, {"skip", false}, {NULL, false}};
    static const struct doc_key poisson[] = {BASE, {"cdf", false}, {NULL, false}};
    static const struct doc_key all_to_all[] = {BASE, {NULL, false}};
#undef BASE

    switch (kind) {
    case WORK_FLOWS:
        return flows;
    case WORK_PERMUTATION:
        return permutation;
    case WORK_INCAST:
        return incast;
    case WORK_COLLECTIVE:
        return collective;
    case WORK_TRACE:
    case WORK_FILE:
        return trace;
    case WORK_POISSON:
        return poisson;
    case WORK_ALL_TO_ALL:
        return all_to_all;
    }
    return NULL;
}

/* Are the keys of 'at' those of its kind?  Two tables: one is turned into keys. */
static gboolean
check_keys(const struct doc_at *at, enum work_kind kind, GError **error)
{
    g_autoptr(GArray) keys = g_array_new(TRUE, TRUE, sizeof(struct doc_key));

    for (const struct doc_key *k = kind_keys(kind); k->name != NULL; k++) {
        g_array_append_val(keys, *k);
    }
    for (const struct param *p = kind_table(kind); p != NULL && p->name != NULL; p++) {
        struct doc_key key = {p->name, false};

        g_array_append_val(keys, key);
    }
    return doc_check_object(at, (const struct doc_key *)(void *)keys->data,
                            work_common_params, error);
}

/* Values of the table of the kind; `bytes`, if it has that, must be there. */
static gboolean
read_kind_table(const struct doc_at *at, struct scenario_work *w, GError **error)
{
    static const char *const later_ops[] = {"all_gather", "reduce_scatter", "broadcast",
                                            "reduce",     "all_to_all",     "send_recv",
                                            NULL};
    static const char *const later_algorithms[] = {"tree", "collnet", "nvls", "pat",
                                                   NULL};
    static const char *const later_protocols[] = {"ll", "ll128", NULL};
    const struct param *table = kind_table(w->kind);
    struct doc_at bytes = doc_key(at, "bytes");
    int64_t value;

    if (table == NULL) {
        return TRUE;
    }
    param_set_defaults(table, kind_blob(w));
    if (param_find(table, "bytes") != NULL &&
        !doc_param_value(&bytes, param_find(table, "bytes"), &value, error)) {
        return FALSE;
    }
    if (w->kind == WORK_COLLECTIVE) {
        const struct {
            const char *key;
            const char *const *later;
        } words[] = {{"op", later_ops},
                     {"algorithm", later_algorithms},
                     {"protocol", later_protocols}};

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
            struct doc_at sub = doc_key(at, words[i].key);
            int index;

            if (sub.json != NULL &&
                !doc_word(&sub, param_find(table, words[i].key)->names, words[i].later,
                          &index, error)) {
                return FALSE;
            }
        }
    }
    return doc_params(at, table, kind_blob(w), NULL, error);
}

/* What NCCL decides itself. */
static gboolean
check_nccl_common(const struct doc_at *at, const struct scenario_work *w, GError **error)
{
    if (w->common.verb != WORK_WRITE_IMM) {
        return doc_fail_key(
            at, "verb", SCENARIO_ERROR_VALUE, error,
            "is \"%s\"; allowed is \"write-imm\", as NCCL sends",
            param_find(work_common_params, "verb")->names[w->common.verb]);
    }
    if (w->common.message_bytes != PARAM_SPECIAL) {
        return doc_fail_key(at, "message", SCENARIO_ERROR_VALUE, error,
                            "is given, but NCCL cuts by itself; allowed is \"whole\"");
    }
    if (w->common.connect != WORK_CONNECT_PAIR) {
        return doc_fail_key(at, "connect", SCENARIO_ERROR_VALUE, error,
                            "is \"flow\", but NCCL keeps its connections; allowed is "
                            "\"pair\"");
    }
    if (w->common.qps > NCCL_QPS_MAX) {
        return doc_fail_key(at, "qps", SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT "; allowed is 1 to %d", w->common.qps,
                            NCCL_QPS_MAX);
    }
    return TRUE;
}

static gboolean
check_read(const struct scenario *s, const struct doc_at *at,
           const struct scenario_work *w, GError **error)
{
    if (w->common.verb == WORK_READ && s->nic.params.cnp == CNP_ON_ACK) {
        return doc_fail_key(at, "verb", SCENARIO_ERROR_VALUE, error,
                            "is \"read\", whose responses have no ACKs for nic.cnp "
                            "\"ack\" to be told by; allowed are the others");
    }
    return TRUE;
}

static gboolean
read_common(const struct scenario *s, const struct doc_at *at, struct scenario_work *w,
            GError **error)
{
    struct doc_at qos = doc_key(at, "qos");
    const char *name = "roce";
    GString *names;

    param_set_defaults(work_common_params, &w->common);
    w->common.qps = is_nccl(w->kind) ? s->nccl.qps : s->nic.params.qps;
    w->common.verb = is_nccl(w->kind) ? WORK_WRITE_IMM : WORK_WRITE;
    if (!doc_params(at, work_common_params, &w->common, &w->set, error) ||
        (is_nccl(w->kind) && !check_nccl_common(at, w, error)) ||
        !check_read(s, at, w, error) ||
        (qos.json != NULL && !doc_text(&qos, &name, error))) {
        return FALSE;
    }
    for (w->qos = 0; w->qos < s->qos->len; w->qos++) {
        if (strcmp(g_array_index(s->qos, struct net_qos, w->qos).name, name) == 0) {
            return TRUE;
        }
    }
    names = g_string_new(NULL);
    for (guint i = 0; i < s->qos->len; i++) {
        g_string_append_printf(names, "%s\"%s\"", i == 0 ? "" : ", ",
                               g_array_index(s->qos, struct net_qos, i).name);
    }
    doc_fail(&qos, SCENARIO_ERROR_NAME, error, "is \"%.60s\"; allowed are %s", name,
             names->str);
    g_string_free(names, TRUE);
    return FALSE;
}

static gboolean
read_kind(const struct scenario *s, const struct doc_at *at, struct scenario_work *w,
          GError **error)
{
    switch (w->kind) {
    case WORK_FLOWS:
        return read_flows(at, w, error);
    case WORK_PERMUTATION:
    case WORK_ALL_TO_ALL:
        return TRUE;
    case WORK_POISSON:
        return read_poisson(at, w, error);
    case WORK_INCAST:
        return read_incast(at, w, error);
    case WORK_COLLECTIVE:
        return check_element_size(at, w, error) && read_ranks(at, w, error);
    case WORK_TRACE:
        return read_trace(at, w, error);
    case WORK_FILE:
        return work_file_read(s, at, w, error);
    }
    return FALSE;
}

static gboolean
read_work(const struct scenario *s, const struct doc_at *at, struct scenario_work *w,
          GError **error)
{
    struct doc_at type = doc_key(at, "type");
    int index;

    if (!json_is_object(at->json)) {
        return doc_check_object(at, NULL, NULL, error);
    }
    if (!doc_word(&type, kind_words, later_kinds, &index, error)) {
        return FALSE;
    }
    w->kind = (enum work_kind)index;
    return check_keys(at, w->kind, error) && read_common(s, at, w, error) &&
           read_hosts(at, w, error) && read_kind_table(at, w, error) &&
           read_kind(s, at, w, error);
}

static void
work_clear(void *data)
{
    struct scenario_work *w = data;

    g_clear_pointer(&w->hosts, g_ptr_array_unref);
    g_clear_pointer(&w->flows, g_array_unref);
    g_clear_pointer(&w->senders, g_array_unref);
    g_clear_pointer(&w->ranks, g_array_unref);
    g_clear_pointer(&w->traces, g_ptr_array_unref);
    g_free(w->path);
    g_free(w->format);
    g_free(w->cdf);
    flow_file_free(w->file);
    host_clear(&w->receiver);
}

gboolean
part_work_read(struct scenario *s, const struct doc_at *root, GError **error)
{
    struct doc_at at = doc_key(root, "workload");

    s->works = g_array_new(FALSE, TRUE, sizeof(struct scenario_work));
    g_array_set_clear_func(s->works, work_clear);
    if (!doc_check_array(&at, error)) {
        return FALSE;
    }
    if (json_array_size(at.json) == 0) {
        return doc_fail(&at, SCENARIO_ERROR_VALUE, error,
                        "is empty; allowed is 1 or more");
    }
    for (size_t i = 0; i < json_array_size(at.json); i++) {
        struct doc_at sub = doc_index(&at, i);
        struct scenario_work work = {.kind = WORK_FLOWS};

        if (!read_work(s, &sub, &work, error)) {
            work_clear(&work);
            return FALSE;
        }
        g_array_append_val(s->works, work);
    }
    return TRUE;
}

/* ---- writing -------------------------------------------------------------------------- */

static void
write_incast(const struct scenario_work *w, json_t *object)
{
    json_t *list;

    if (w->senders == NULL) {
        json_object_set_new(object, "senders",
                            w->n_senders == PARAM_SPECIAL ? json_string("all")
                                                          : json_integer(w->n_senders));
    } else {
        list = json_array();
        for (guint i = 0; i < w->senders->len; i++) {
            json_array_append_new(
                list, host_json(&g_array_index(w->senders, struct scenario_host, i)));
        }
        json_object_set_new(object, "senders", list);
    }
    if (w->receiver.name != NULL || w->receiver.position >= 0) {
        json_object_set_new(object, "receiver", host_json(&w->receiver));
    }
}

static void
write_ranks(const struct scenario_work *w, json_t *object)
{
    json_t *list;

    if (w->ranks == NULL) {
        json_object_set_new(object, "ranks",
                            w->n_ranks == PARAM_SPECIAL ? json_string("all")
                                                        : json_integer(w->n_ranks));
        return;
    }
    list = json_array();
    for (guint i = 0; i < w->ranks->len; i++) {
        json_array_append_new(list, json_integer(g_array_index(w->ranks, uint32_t, i)));
    }
    json_object_set_new(object, "ranks", list);
}

static void
write_kind(const struct scenario_work *w, json_t *object)
{
    switch (w->kind) {
    case WORK_FLOWS:
        if (w->path != NULL) {
            json_object_set_new(object, "path", json_string(w->path));
        } else {
            json_object_set_new(object, "list", flows_json(w->flows));
        }
        break;
    case WORK_PERMUTATION:
    case WORK_ALL_TO_ALL:
        break;
    case WORK_POISSON:
        json_object_set_new(object, "cdf", json_string(w->cdf));
        break;
    case WORK_INCAST:
        write_incast(w, object);
        break;
    case WORK_COLLECTIVE:
        write_ranks(w, object);
        break;
    case WORK_TRACE:
        json_object_set_new(object, "path", texts_json(w->traces));
        json_object_set_new(object, "format",
                            json_string(w->format != NULL ? w->format : "auto"));
        json_object_set_new(object, "skip", skip_json(w->skip));
        break;
    case WORK_FILE:
        json_object_set_new(object, "path", json_string(w->path));
        json_object_set_new(object, "format", json_string(w->format));
        break;
    }
}

void
part_work_write(const struct scenario *s, json_t *root)
{
    json_t *list = json_array();

    for (guint i = 0; i < s->works->len; i++) {
        struct scenario_work *w = &g_array_index(s->works, struct scenario_work, i);
        const struct param *table = kind_table(w->kind);
        json_t *object = json_object();

        json_object_set_new(object, "type", json_string(work_kind_name(w->kind)));
        if (table != NULL) {
            doc_put_params(object, table, kind_blob(w), part_all_keys(table));
        }
        write_kind(w, object);
        json_object_set_new(object, "hosts",
                            w->hosts != NULL ? texts_json(w->hosts) : json_string("all"));
        json_object_set_new(
            object, "qos",
            json_string(g_array_index(s->qos, struct net_qos, w->qos).name));
        doc_put_params(object, work_common_params, &w->common,
                       part_all_keys(work_common_params));
        json_array_append_new(list, object);
    }
    json_object_set_new(root, "workload", list);
}

void
part_work_clear(struct scenario *s)
{
    g_clear_pointer(&s->works, g_array_unref);
}
