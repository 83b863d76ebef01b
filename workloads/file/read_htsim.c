/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read_htsim.c - connection matrices (.cm) of htsim: flows that start at a time or when a
 * trigger fires, triggers, failed links.
 *
 * Start times are whole picoseconds here; htsim reads them as 24-bit floats.
 *
 * Source: Broadcom/csg-htsim, ultraethernet/uet-htsim, sim/datacenter/connection_matrix.cpp,
 * sim/trigger.cpp.
 */
#include <config.h>

#include "workloads/file/file.h"

#include <string.h>

#define SIZE_MAX_BYTES (INT64_C(1) << 50)
#define START_MAX_PS INT64_C(1000000000000000000)

enum { NODES_MAX = 1000000, COUNT_MAX = 100000000, ID_MAX = 2147483647 };

struct matrix {
    struct text *t;
    struct flow_file *file;
    int64_t n_flows, n_triggers, n_failures; /* as the header says; -1: not said */
    int64_t n_defined;                       /* triggers */
    GHashTable *flow_ids;                    /* of flows: line */
    GHashTable *trigger_ids;                 /* place in file->triggers, plus 1 */
    bool warned_prio, warned_msg, warned_addon;
};

/* Takes the number behind the key 'what'. */
static bool
take(struct matrix *m, const char *what, int64_t min, int64_t max, int64_t *value)
{
    return text_next_in_line(m->t) ? text_as_integer(m->t, what, min, max, value)
                                   : text_fail(m->t, "%s has no number", what);
}

/* Place of the trigger called 'id', plus 1. */
static uint32_t
trigger_of(struct matrix *m, int64_t id)
{
    gpointer key = GUINT_TO_POINTER((guint)id);
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(m->trigger_ids, key));

    if (place == 0) {
        struct flow_file_trigger trigger = {
            .id = (uint32_t)id, .kind = -1, .line = m->t->line};

        g_array_append_val(m->file->triggers, trigger);
        place = m->file->triggers->len;
        g_hash_table_insert(m->trigger_ids, key, GUINT_TO_POINTER(place));
    }
    return place;
}

static bool
take_trigger(struct matrix *m, const char *what, uint32_t *place)
{
    int64_t id;

    if (*place != 0) {
        return text_fail(m->t, "%s is there twice", what);
    }
    if (!take(m, what, 1, ID_MAX, &id)) {
        return false;
    }
    *place = trigger_of(m, id);
    return true;
}

static void
warn_once(struct matrix *m, bool *warned, const char *what)
{
    if (!*warned) {
        *warned = true;
        flow_file_warn__(m->file, m->t, m->t->line, "%s has no effect here", what);
    }
}

static bool
take_start(struct matrix *m, struct flow_file_flow *flow, bool *has_start)
{
    if (*has_start) {
        return text_fail(m->t, "start is there twice");
    }
    *has_start = true;
    if (!text_next_in_line(m->t)) {
        return text_fail(m->t, "start has no number");
    }
    if (!text_as_decimal(m->t, "start (ps)", 1, &flow->start_ps)) {
        return false;
    }
    return flow->start_ps <= START_MAX_PS ||
           text_fail(m->t, "start (ps) is %.60s; allowed is 0 to 10^18", m->t->word);
}

/* A key of a flow, which stands in the word. */
static bool
read_flow_key(struct matrix *m, struct flow_file_flow *flow, bool *has_start)
{
    struct text *t = m->t;
    int64_t value;

    if (strcmp(t->word, "start") == 0) {
        return take_start(m, flow, has_start);
    }
    if (strcmp(t->word, "size") == 0) {
        return flow->bytes != 0 ? text_fail(t, "size is there twice")
                                : take(m, "size", 1, SIZE_MAX_BYTES, &flow->bytes);
    }
    if (strcmp(t->word, "id") == 0) {
        if (flow->id != 0) {
            return text_fail(t, "id is there twice");
        }
        if (!take(m, "id", 1, ID_MAX, &value)) {
            return false;
        }
        flow->id = (uint32_t)value;
        return true;
    }
    if (strcmp(t->word, "trigger") == 0) {
        return take_trigger(m, "trigger", &flow->after);
    }
    if (strcmp(t->word, "send_done_trigger") == 0) {
        return take_trigger(m, "send_done_trigger", &flow->sent);
    }
    if (strcmp(t->word, "recv_done_trigger") == 0) {
        return take_trigger(m, "recv_done_trigger", &flow->received);
    }
    if (strcmp(t->word, "prio") == 0) {
        warn_once(m, &m->warned_prio, "prio");
        return take(m, "prio", INT32_MIN, ID_MAX, &value);
    }
    if (strcmp(t->word, "msg") == 0) {
        warn_once(m, &m->warned_msg, "msg");
        return take(m, "msg", INT32_MIN, ID_MAX, &value);
    }
    if (strcmp(t->word, "addon") == 0) {
        warn_once(m, &m->warned_addon, "addon");
        return true;
    }
    return text_fail(t,
                     "'%.60s' is no key of a flow; allowed are id, start, trigger, size, "
                     "send_done_trigger, recv_done_trigger, prio, msg, addon",
                     t->word);
}

/* "3->5" of the word. */
static bool
read_ends(struct matrix *m, struct flow_file_flow *flow)
{
    struct text *t = m->t;
    char word[sizeof t->word];
    char *arrow;
    int64_t src, dst;

    strcpy(word, t->word);
    arrow = strstr(word, "->");
    *arrow = '\0';
    strcpy(t->word, word);
    if (!text_as_integer(t, "the source", 0, m->file->n_nodes - 1, &src)) {
        return false;
    }
    strcpy(t->word, arrow + 2);
    if (!text_as_integer(t, "the destination", 0, m->file->n_nodes - 1, &dst)) {
        return false;
    }
    flow->src = (uint32_t)src, flow->dst = (uint32_t)dst;
    return src != dst ||
           text_fail(t, "the destination is %lld, the source; allowed is another",
                     (long long)dst);
}

static bool
check_flow(struct matrix *m, const struct flow_file_flow *flow, bool has_start)
{
    gpointer key = GUINT_TO_POINTER(flow->id), before;

    if (flow->bytes == 0) {
        return text_fail(m->t, "the flow has no size");
    }
    if (has_start == (flow->after != 0)) {
        return text_fail(m->t, "the flow has %s; needed is one of them",
                         has_start ? "both a start and a trigger"
                                   : "neither a start nor a trigger");
    }
    if (flow->id == 0) {
        return flow->after == 0 ||
               text_fail(m->t, "a flow that a trigger starts needs id");
    }
    before = g_hash_table_lookup(m->flow_ids, key);
    if (before != NULL) {
        return text_fail(m->t, "id %u is that of the flow in line %u, too", flow->id,
                         GPOINTER_TO_UINT(before));
    }
    g_hash_table_insert(m->flow_ids, key, GUINT_TO_POINTER(flow->line));
    return true;
}

static bool
read_flow(struct matrix *m)
{
    struct flow_file_flow flow = {.cls = -1, .dport = -1, .line = m->t->line};
    bool has_start = false;

    if (m->file->n_nodes < 0) {
        return text_fail(m->t, "a flow stands before Nodes");
    }
    if (!read_ends(m, &flow)) {
        return false;
    }
    while (text_next_in_line(m->t)) {
        if (!read_flow_key(m, &flow, &has_start)) {
            return false;
        }
    }
    if (m->t->failed || !check_flow(m, &flow, has_start)) {
        return false;
    }
    g_array_append_val(m->file->flows, flow);
    return true;
}

/* "oneshot" and so on; -1: something else. */
static int32_t
trigger_kind(const char *word)
{
    return strcmp(word, "oneshot") == 0     ? WORK_TRIGGER_ONESHOT
           : strcmp(word, "multishot") == 0 ? WORK_TRIGGER_MULTISHOT
           : strcmp(word, "barrier") == 0   ? WORK_TRIGGER_BARRIER
                                            : -1;
}

static bool
read_trigger(struct matrix *m)
{
    struct text *t = m->t;
    int64_t id = 0, count = 0;
    int32_t kind = -1;
    struct flow_file_trigger *trigger;
    uint32_t place;

    while (text_next_in_line(t)) {
        if (strcmp(t->word, "id") == 0) {
            if (!take(m, "id", 1, ID_MAX, &id)) {
                return false;
            }
        } else if (strcmp(t->word, "count") == 0) {
            if (!take(m, "count", 1, COUNT_MAX, &count)) {
                return false;
            }
        } else if (trigger_kind(t->word) < 0) {
            return text_fail(t,
                             "'%.60s' is no key of a trigger; allowed are id, count, "
                             "oneshot, multishot, barrier",
                             t->word);
        } else if (kind >= 0) {
            return text_fail(t, "'%.60s' is a second kind; allowed is one", t->word);
        } else {
            kind = trigger_kind(t->word);
        }
    }
    if (t->failed) {
        return false;
    }
    if (id == 0 || kind < 0) {
        return text_fail(t,
                         "the trigger has no %s; needed are id and one of oneshot, "
                         "multishot, barrier",
                         id == 0 ? "id" : "kind");
    }
    if ((kind == WORK_TRIGGER_BARRIER) != (count > 0)) {
        return text_fail(t, kind == WORK_TRIGGER_BARRIER
                                ? "a barrier needs count"
                                : "count is given; allowed with barrier only");
    }
    /* First, since it may move the array. */
    place = trigger_of(m, id);
    trigger = &g_array_index(m->file->triggers, struct flow_file_trigger, place - 1);
    if (trigger->kind >= 0) {
        return text_fail(t, "trigger %lld is there already, in line %u", (long long)id,
                         trigger->line);
    }
    trigger->kind = kind;
    trigger->count = count;
    trigger->line = t->line;
    m->n_defined++;
    return true;
}

static bool
read_failure(struct matrix *m)
{
    static const char *const tiers[] = {"TOR", "AGG", "CORE"};
    struct text *t = m->t;
    int64_t tier = -1, sw = -1, link = -1;
    struct flow_file_failure failure = {.line = t->line};

    while (text_next_in_line(t)) {
        if (strcmp(t->word, "switch_id") == 0) {
            if (!take(m, "switch_id", 0, NODES_MAX, &sw)) {
                return false;
            }
        } else if (strcmp(t->word, "link_id") == 0) {
            if (!take(m, "link_id", 0, NODES_MAX, &link)) {
                return false;
            }
        } else if (strcmp(t->word, "switch_type") != 0) {
            return text_fail(t,
                             "'%.60s' is no key of a failure; allowed are switch_type, "
                             "switch_id, link_id",
                             t->word);
        } else {
            text_next_in_line(t);
            for (size_t i = 0; i < G_N_ELEMENTS(tiers); i++) {
                tier = strcmp(t->word, tiers[i]) == 0 ? (int64_t)i : tier;
            }
            if (tier < 0) {
                return text_fail(t, "switch_type is '%.60s'; allowed is TOR, AGG or CORE",
                                 t->word);
            }
        }
    }
    if (t->failed) {
        return false;
    }
    if (tier < 0 || sw < 0 || link < 0) {
        return text_fail(t, "the failure has no %s",
                         tier < 0 ? "switch_type"
                         : sw < 0 ? "switch_id"
                                  : "link_id");
    }
    failure.tier = (enum flow_file_tier)tier;
    failure.sw = (uint32_t)sw, failure.link = (uint32_t)link;
    g_array_append_val(m->file->failures, failure);
    return true;
}

static bool
read_count(struct matrix *m, const char *name, int64_t min, int64_t max, int64_t *value)
{
    if (*value >= 0) {
        return text_fail(m->t, "%s is there already", name);
    }
    if (!take(m, name, min, max, value)) {
        return false;
    }
    return !text_next_in_line(m->t) ||
           text_fail(m->t, "'%.60s' follows; allowed is one number", m->t->word);
}

static bool
read_line(struct matrix *m)
{
    struct text *t = m->t;

    if (strcmp(t->word, "Nodes") == 0) {
        return read_count(m, "Nodes", 1, NODES_MAX, &m->file->n_nodes);
    }
    if (strcmp(t->word, "Connections") == 0) {
        return read_count(m, "Connections", 0, COUNT_MAX, &m->n_flows);
    }
    if (strcmp(t->word, "Triggers") == 0) {
        return read_count(m, "Triggers", 0, COUNT_MAX, &m->n_triggers);
    }
    if (strcmp(t->word, "Failures") == 0) {
        return read_count(m, "Failures", 0, COUNT_MAX, &m->n_failures);
    }
    if (strstr(t->word, "->") != NULL) {
        return read_flow(m);
    }
    if (strcmp(t->word, "trigger") == 0) {
        return read_trigger(m);
    }
    if (strcmp(t->word, "failure") == 0) {
        return read_failure(m);
    }
    return text_fail(t,
                     "'%.60s' begins no line; allowed are Nodes, Connections, Triggers, "
                     "Failures, SRC->DST, trigger, failure, #",
                     t->word);
}

/* A count of the header against what is there. */
static bool
check_count(struct matrix *m, const char *name, const char *what, int64_t said, int64_t n)
{
    m->t->line = 1;
    return MAX(said, 0) == n ||
           text_fail(m->t, "%s is %lld, but the file has %lld %s", name,
                     (long long)MAX(said, 0), (long long)n, what);
}

/* How often each trigger is activated, and how many flows it starts. */
struct use {
    int64_t n_activations, n_targets;
};

static bool
check_trigger(struct matrix *m, const struct flow_file_trigger *trigger,
              const struct use *use)
{
    struct text *t = m->t;

    t->line = trigger->line;
    switch ((enum work_trigger_kind)trigger->kind) {
    case WORK_TRIGGER_ONESHOT:
        if (use->n_activations > 1) {
            return text_fail(t, "trigger %u is oneshot, but %lld flows activate it",
                             trigger->id, (long long)use->n_activations);
        }
        break;
    case WORK_TRIGGER_MULTISHOT:
        if (use->n_activations < use->n_targets) {
            flow_file_warn__(m->file, t, trigger->line,
                             "trigger %u starts %lld flows one by one, but only %lld "
                             "activate it; the others never start",
                             trigger->id, (long long)use->n_targets,
                             (long long)use->n_activations);
        }
        return true;
    case WORK_TRIGGER_BARRIER:
        if (trigger->count != use->n_activations) {
            return text_fail(
                t, "trigger %u is a barrier of %lld, but %lld flows activate it",
                trigger->id, (long long)trigger->count, (long long)use->n_activations);
        }
        break;
    }
    if (use->n_activations == 0 && use->n_targets > 0) {
        flow_file_warn__(m->file, t, trigger->line,
                         "nothing activates trigger %u; its flows never start",
                         trigger->id);
    }
    return true;
}

static bool
check_triggers(struct matrix *m)
{
    guint n = m->file->triggers->len;
    g_autofree struct use *uses = g_new0(struct use, (gsize)n + 1);

    for (guint i = 0; i < m->file->flows->len; i++) {
        const struct flow_file_flow *flow =
            &g_array_index(m->file->flows, struct flow_file_flow, i);

        /* Place 0 takes those that are none. */
        uses[flow->after].n_targets++;
        uses[flow->sent].n_activations++;
        uses[flow->received].n_activations++;
    }
    for (guint i = 0; i < n; i++) {
        const struct flow_file_trigger *trigger =
            &g_array_index(m->file->triggers, struct flow_file_trigger, i);

        if (trigger->kind < 0) {
            m->t->line = trigger->line;
            return text_fail(m->t, "trigger %u is used, but no line says what it is",
                             trigger->id);
        }
        if (!check_trigger(m, trigger, &uses[i + 1])) {
            return false;
        }
    }
    return true;
}

static bool
read_all(struct matrix *m)
{
    struct text *t = m->t;

    do {
        if (text_next_in_line(t) && t->word[0] != '#' && !read_line(m)) {
            return false;
        }
    } while (!t->failed && text_skip_line(t));
    if (t->failed) {
        return false;
    }
    if (m->file->n_nodes < 0) {
        return text_fail(t, "Nodes is missing; needed is the number of hosts");
    }
    if (m->file->flows->len == 0) {
        return text_fail(t, "there is no flow; needed is 1 or more");
    }
    return check_count(m, "Connections", "flows", m->n_flows, m->file->flows->len) &&
           check_count(m, "Triggers", "triggers", m->n_triggers, m->n_defined) &&
           check_count(m, "Failures", "failures", m->n_failures,
                       m->file->failures->len) &&
           check_triggers(m);
}

static bool
htsim_read(struct text *t, struct flow_file *file)
{
    struct matrix m = {.t = t,
                       .file = file,
                       .n_flows = -1,
                       .n_triggers = -1,
                       .n_failures = -1,
                       .flow_ids = g_hash_table_new(NULL, NULL),
                       .trigger_ids = g_hash_table_new(NULL, NULL)};
    bool ok = read_all(&m);

    g_hash_table_unref(m.flow_ids);
    g_hash_table_unref(m.trigger_ids);
    return ok;
}

const struct flow_reader flow_reader_htsim = {
    .name = "htsim",
    .doc = "connection matrices (.cm) of htsim, with triggers and failures",
    .source = "Broadcom/csg-htsim, ultraethernet/uet-htsim, connection_matrix.cpp",
    .read = htsim_read,
};
