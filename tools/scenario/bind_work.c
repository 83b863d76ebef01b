/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bind_work.c - a workload onto a network: names to ids, hosts in order, ranks placed.
 */
#include <config.h>

#include "tools/scenario/scenario.h"

#include <string.h>

#include "sim/rng.h"
#include "tools/scenario/doc.h"
#include "tools/scenario/work_file.h"
#include "tools/scenario/profile.h"

/* A workload while it is bound. */
struct binding {
    const struct scenario *s;
    const struct scenario_work *spec;
    const struct net *net;
    struct work_params *w;
    struct doc_at *at; /* the entry of `workload` */
};

static const char *
host_name(const struct net *net, uint32_t host)
{
    return net->nodes[net->node_of_host[host]].name;
}

/* The host called 'name'; FALSE with an error at 'at'. */
static gboolean
find_host(const struct net *net, const struct doc_at *at, const char *name,
          uint32_t *host, GError **error)
{
    uint32_t node = net_find_node(net, name);
    g_autoptr(GPtrArray) names = NULL;

    if (node != UINT32_MAX && net->nodes[node].kind == NODE_HOST) {
        *host = net->nodes[node].index;
        return TRUE;
    }
    if (node != UINT32_MAX) {
        return doc_fail(at, SCENARIO_ERROR_NAME, error,
                        "'%.60s' is a switch; allowed is a host", name);
    }
    names = g_ptr_array_new();
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        g_ptr_array_add(names, (gpointer)(uintptr_t)host_name(net, h));
    }
    g_ptr_array_add(names, NULL);
    return doc_fail(
        at, SCENARIO_ERROR_NAME, error, "no host '%.60s'; nearest is '%s', there are %u",
        name, param_nearest_word((const char *const *)names->pdata, name), net->n_hosts);
}

/* ---- hosts in their order ------------------------------------------------------------- */

/* Adds what 'pattern' fits to 'hosts'; 'seen': hosts that are there already. */
static gboolean
add_pattern(const struct binding *b, const struct doc_at *at, const char *pattern,
            GArray *hosts, uint8_t *seen, GError **error)
{
    bool is_glob = strpbrk(pattern, "*?") != NULL, any = false;

    for (uint32_t h = 0; is_glob && h < b->net->n_hosts; h++) {
        if (g_pattern_match_simple(pattern, host_name(b->net, h))) {
            any = true;
            if (!seen[h]) {
                seen[h] = 1;
                g_array_append_val(hosts, h);
            }
        }
    }
    if (!is_glob) {
        uint32_t host;

        if (!find_host(b->net, at, pattern, &host, error)) {
            return FALSE;
        }
        if (seen[host]) {
            return doc_fail(at, SCENARIO_ERROR_VALUE, error, "'%.60s' is there twice",
                            pattern);
        }
        seen[host] = 1;
        g_array_append_val(hosts, host);
        return TRUE;
    }
    return any ||
           doc_fail(at, SCENARIO_ERROR_NAME, error, "'%.60s' fits no host", pattern);
}

/* One of each rack in turn, racks in the order of their first host. */
static void
spread(const struct net *net, uint32_t *hosts, uint32_t n)
{
    g_autofree uint32_t *round = g_new(uint32_t, n), *result = g_new(uint32_t, n);
    g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) order = g_hash_table_new(NULL, NULL);
    g_autofree uint32_t *rack_at = g_new(uint32_t, n);
    uint32_t n_racks = 0, n_done = 0;

    for (uint32_t i = 0; i < n; i++) {
        gpointer rack = GUINT_TO_POINTER(net->nodes[net->node_of_host[hosts[i]]].rack);
        guint k = GPOINTER_TO_UINT(g_hash_table_lookup(counts, rack));

        if (!g_hash_table_contains(order, rack)) {
            g_hash_table_insert(order, rack, GUINT_TO_POINTER(n_racks++));
        }
        rack_at[i] = GPOINTER_TO_UINT(g_hash_table_lookup(order, rack));
        round[i] = k;
        g_hash_table_insert(counts, rack, GUINT_TO_POINTER(k + 1));
    }
    /* By round, then by rack: a bucket a (round, rack) of one host. */
    g_autofree uint32_t *of_rack = g_new0(uint32_t, n_racks + 1);
    g_autofree uint32_t *by_rack = g_new(uint32_t, n);

    for (uint32_t i = 0; i < n; i++) {
        of_rack[rack_at[i] + 1]++;
    }
    for (uint32_t r = 0; r < n_racks; r++) {
        of_rack[r + 1] += of_rack[r];
    }
    for (uint32_t i = 0; i < n; i++) {
        by_rack[of_rack[rack_at[i]] + round[i]] = hosts[i];
    }
    for (uint32_t k = 0; n_done < n; k++) {
        for (uint32_t r = 0; r < n_racks; r++) {
            if (of_rack[r] + k < of_rack[r + 1]) {
                result[n_done++] = by_rack[of_rack[r] + k];
            }
        }
    }
    memcpy(hosts, result, n * sizeof *hosts);
}

/* Fisher and Yates, from the scenario's seed and the place of the workload. */
static void
shuffle(const struct binding *b, uint32_t *hosts, uint32_t n)
{
    g_autofree char *path = doc_path(b->at);
    uint64_t key = rng_key((uint64_t)b->s->seed, path, "place");

    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)rng_below(key, n - i, i), kept = hosts[i - 1];

        hosts[i - 1] = hosts[k];
        hosts[k] = kept;
    }
}

static gboolean
bind_hosts(const struct binding *b, GError **error)
{
    g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autofree uint8_t *seen = g_new0(uint8_t, MAX(b->net->n_hosts, 1));
    struct doc_at list = doc_key(b->at, "hosts");

    if (b->spec->hosts == NULL) {
        for (uint32_t h = 0; h < b->net->n_hosts; h++) {
            g_array_append_val(hosts, h);
        }
    } else {
        for (guint i = 0; i < b->spec->hosts->len; i++) {
            struct doc_at sub = doc_index(&list, i);

            if (!add_pattern(b, &sub, b->spec->hosts->pdata[i], hosts, seen, error)) {
                return FALSE;
            }
        }
    }
    b->w->n_hosts = hosts->len;
    b->w->hosts = (uint32_t *)(void *)g_array_free(g_steal_pointer(&hosts), FALSE);
    switch ((enum work_place)b->spec->common.place) {
    case WORK_PLACE_PACKED:
        break;
    case WORK_PLACE_SPREAD:
        spread(b->net, b->w->hosts, b->w->n_hosts);
        break;
    case WORK_PLACE_RANDOM:
        shuffle(b, b->w->hosts, b->w->n_hosts);
        break;
    }
    return TRUE;
}

/* A host as written: by name, or by position. */
static gboolean
resolve(const struct binding *b, const struct doc_at *at,
        const struct scenario_host *host, uint32_t *id, GError **error)
{
    if (host->name != NULL) {
        return find_host(b->net, at, host->name, id, error);
    }
    if (host->position >= b->w->n_hosts) {
        return doc_fail(at, SCENARIO_ERROR_NAME, error,
                        "is %" G_GINT64_FORMAT "; allowed is 0 to %" G_GINT64_FORMAT
                        ", the hosts of the workload",
                        host->position, (int64_t)b->w->n_hosts - 1);
    }
    *id = b->w->hosts[host->position];
    return TRUE;
}

/* ---- kinds ---------------------------------------------------------------------------- */

/* The first kind of traffic in class 'cls', plus 1: that of the workload goes before. */
static gboolean
find_class(const struct binding *b, const struct doc_at *flow, int64_t cls, uint32_t *qos,
           GError **error)
{
    const GArray *all = b->s->qos;

    if (g_array_index(all, struct net_qos, b->spec->qos).cls == cls) {
        return TRUE;
    }
    for (guint i = 0; i < all->len; i++) {
        if (g_array_index(all, struct net_qos, i).cls == cls) {
            *qos = i + 1;
            return TRUE;
        }
    }
    return doc_fail_key(flow, "class", SCENARIO_ERROR_NAME, error,
                        "is %" G_GINT64_FORMAT "; no name of qos has that class", cls);
}

static gboolean
bind_flows(const struct binding *b, GError **error)
{
    struct doc_at list = doc_key(b->at, "list");

    b->w->n_flows = b->spec->flows->len;
    b->w->flows = g_new0(struct work_flow, b->w->n_flows);
    for (guint i = 0; i < b->spec->flows->len; i++) {
        const struct scenario_flow *from =
            &g_array_index(b->spec->flows, struct scenario_flow, i);
        struct work_flow *flow = &b->w->flows[i];
        g_autofree char *where =
            from->line != 0 ? g_strdup_printf("%s:%u", b->spec->path, from->line) : NULL;
        struct doc_at sub = where != NULL ? doc_root(where, NULL) : doc_index(&list, i),
                      src = doc_key(&sub, "src"), dst = doc_key(&sub, "dst");

        if (!resolve(b, &src, &from->src, &flow->src, error) ||
            !resolve(b, &dst, &from->dst, &flow->dst, error)) {
            return FALSE;
        }
        if (flow->src == flow->dst) {
            return doc_fail(&dst, SCENARIO_ERROR_VALUE, error,
                            "is '%s', the same as src; allowed is another host",
                            host_name(b->net, flow->dst));
        }
        flow->bytes = from->bytes;
        flow->start_ps = from->start_ps;
        flow->sport = (uint16_t)from->sport;
        flow->dport = (uint16_t)from->dport;
        if (from->cls >= 0 && !find_class(b, &sub, from->cls, &flow->qos, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
bind_permutation(const struct binding *b, GError **error)
{
    if (b->w->n_hosts < 2) {
        return doc_fail_key(b->at, "hosts", SCENARIO_ERROR_VALUE, error,
                            "is %u host; a permutation needs 2", b->w->n_hosts);
    }
    if (b->spec->permutation.shift >= b->w->n_hosts) {
        return doc_fail_key(b->at, "shift", SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT "; allowed is 1 to %u, of %u hosts",
                            b->spec->permutation.shift, b->w->n_hosts - 1, b->w->n_hosts);
    }
    return TRUE;
}

/* Senders by a list. */
static gboolean
bind_sender_list(const struct binding *b, GError **error)
{
    g_autofree uint8_t *seen = g_new0(uint8_t, MAX(b->net->n_hosts, 1));
    struct doc_at list = doc_key(b->at, "senders");

    for (guint i = 0; i < b->spec->senders->len; i++) {
        const struct scenario_host *host =
            &g_array_index(b->spec->senders, struct scenario_host, i);
        struct doc_at sub = doc_index(&list, i);
        uint32_t id;

        if (!resolve(b, &sub, host, &id, error)) {
            return FALSE;
        }
        if (id == b->w->receiver || seen[id]) {
            return doc_fail(&sub, SCENARIO_ERROR_VALUE, error, "is '%s', %s",
                            host_name(b->net, id),
                            seen[id] ? "which is there twice" : "the receiver");
        }
        seen[id] = 1;
        b->w->senders[b->w->n_senders++] = id;
    }
    return TRUE;
}

/* What ends at the stop at the latest may be unfinished then.  '*until_ps' becomes when that
 * is; FALSE, without an error, when there is neither an end nor a stop. */
static bool
bind_until(const struct binding *b, int64_t *until_ps)
{
    int64_t stop_ps = b->s->stop_ps;

    if (stop_ps != PARAM_SPECIAL &&
        (*until_ps == PARAM_SPECIAL || *until_ps >= stop_ps)) {
        *until_ps = stop_ps;
        b->w->is_open_ended = true;
    }
    return *until_ps != PARAM_SPECIAL;
}

static gboolean
bind_poisson(const struct binding *b, GError **error)
{
    if (b->w->n_hosts < 2) {
        return doc_fail_key(b->at, "hosts", SCENARIO_ERROR_VALUE, error,
                            "is %u host; poisson needs 2", b->w->n_hosts);
    }
    if (!bind_until(b, &b->w->poisson.until_ps)) {
        return doc_fail_key(
            b->at, "until", SCENARIO_ERROR_VALUE, error,
            "is \"stop\", and the scenario has none; needed is one of them");
    }
    if (profile_is_cdf_path(b->spec->cdf)) {
        b->w->cdf = g_strdup(b->spec->cdf);
        return TRUE;
    }
    struct doc_at cdf = doc_key(b->at, "cdf");

    b->w->cdf = profile_cdf(&cdf, b->spec->cdf, error);
    return b->w->cdf != NULL;
}

static gboolean
bind_incast(const struct binding *b, GError **error)
{
    struct doc_at receiver = doc_key(b->at, "receiver");
    bool drawn = b->spec->receiver.name == NULL && b->spec->receiver.position < 0;
    uint32_t n_others = 0;
    int64_t wanted;

    b->w->receiver = UINT32_MAX;
    if (!drawn && !resolve(b, &receiver, &b->spec->receiver, &b->w->receiver, error)) {
        return FALSE;
    }
    if (b->spec->incast.until_ps != PARAM_SPECIAL) {
        bind_until(b, &b->w->incast.until_ps);
    }
    b->w->senders = g_new0(uint32_t, (gsize)b->net->n_hosts + 1);
    if (b->spec->senders != NULL) {
        return bind_sender_list(b, error);
    }
    for (uint32_t i = 0; i < b->w->n_hosts; i++) {
        n_others += b->w->hosts[i] != b->w->receiver;
    }
    n_others -= drawn && n_others > 0;
    wanted = b->spec->n_senders == PARAM_SPECIAL ? n_others : b->spec->n_senders;
    if (wanted > n_others || n_others == 0) {
        return doc_fail_key(b->at, "senders", SCENARIO_ERROR_VALUE, error,
                            "is %" G_GINT64_FORMAT
                            "; there are %u hosts but the receiver",
                            wanted, n_others);
    }
    if (b->spec->incast.choice == WORK_CHOICE_RANDOM) {
        g_clear_pointer(&b->w->senders, g_free);
        b->w->n_senders = (uint32_t)wanted;
        return TRUE;
    }
    for (uint32_t i = 0; b->w->n_senders < wanted; i++) {
        if (b->w->hosts[i] != b->w->receiver) {
            b->w->senders[b->w->n_senders++] = b->w->hosts[i];
        }
    }
    return TRUE;
}

static gboolean
bind_collective(const struct binding *b, GError **error)
{
    const struct scenario_work *spec = b->spec;
    struct doc_at list = doc_key(b->at, "ranks");
    uint64_t n_all = (uint64_t)b->w->n_hosts * b->w->gpus;
    uint64_t n = spec->ranks != NULL              ? spec->ranks->len
                 : spec->n_ranks == PARAM_SPECIAL ? n_all
                                                  : (uint64_t)spec->n_ranks;
    g_autofree uint8_t *seen = g_new0(uint8_t, n_all + 1);

    if (n < 2 || n > n_all) {
        return doc_fail(&list, SCENARIO_ERROR_VALUE, error,
                        "are %" G_GUINT64_FORMAT "; allowed is 2 to %" G_GUINT64_FORMAT
                        " (%u hosts x %u GPUs)",
                        n, n_all, b->w->n_hosts, b->w->gpus);
    }
    b->w->n_ranks = (uint32_t)n;
    b->w->rank_host = g_new(uint32_t, n);
    b->w->rank_gpu = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = spec->ranks != NULL ? g_array_index(spec->ranks, uint32_t, i) : i;
        struct doc_at sub = doc_index(&list, i);

        if (rank >= n_all || seen[rank]) {
            return doc_fail(&sub, SCENARIO_ERROR_VALUE, error,
                            "is %u%s; allowed is each of 0 to %" G_GUINT64_FORMAT " once",
                            rank, rank < n_all ? " again" : "", n_all - 1);
        }
        seen[rank] = 1;
        b->w->rank_host[i] = b->w->hosts[rank / b->w->gpus];
        b->w->rank_gpu[i] = rank % b->w->gpus;
    }
    return TRUE;
}

static void
bind_trace(const struct binding *b)
{
    b->w->paths = g_new0(char *, b->spec->traces->len + 1);
    for (guint i = 0; i < b->spec->traces->len; i++) {
        b->w->paths[i] = g_strdup(b->spec->traces->pdata[i]);
    }
    b->w->format = g_strdup(b->spec->format);
    b->w->skip = b->spec->skip;
}

static gboolean
bind_kind(const struct binding *b, GError **error)
{
    switch (b->spec->kind) {
    case WORK_FLOWS:
        return bind_flows(b, error);
    case WORK_PERMUTATION:
        return bind_permutation(b, error);
    case WORK_INCAST:
        return bind_incast(b, error);
    case WORK_POISSON:
        return bind_poisson(b, error);
    case WORK_ALL_TO_ALL:
        return b->w->n_hosts >= 2 ||
               doc_fail_key(b->at, "hosts", SCENARIO_ERROR_VALUE, error,
                            "is %u host; all-to-all needs 2", b->w->n_hosts);
    case WORK_COLLECTIVE:
        return bind_collective(b, error);
    case WORK_TRACE:
        bind_trace(b);
        return TRUE;
    case WORK_FILE:
        return work_file_bind(b->s, b->spec, b->net, b->w, error);
    }
    return FALSE;
}

/* Links of each host, 0 when they differ. */
static uint32_t
nics_of_hosts(const struct net *net)
{
    g_autofree uint32_t *n_links = g_new0(uint32_t, MAX(net->n_hosts, 1));

    for (uint32_t l = 0; l < net->n_links; l++) {
        for (unsigned e = 0; e < 2; e++) {
            const struct net_node *node = &net->nodes[net->links[l].node[e]];

            if (node->kind == NODE_HOST) {
                n_links[node->index]++;
            }
        }
    }
    for (uint32_t h = 1; h < net->n_hosts; h++) {
        if (n_links[h] != n_links[0]) {
            return 0;
        }
    }
    return n_links[0];
}

struct work_params *
scenario_bind_work(const struct scenario *s, const struct net *net, uint32_t index,
                   GError **error)
{
    const struct scenario_work *spec =
        &g_array_index(s->works, struct scenario_work, index);
    struct doc_at root = doc_root(s->file, NULL), list = doc_key(&root, "workload"),
                  at = doc_index(&list, index);
    struct work_params *w = g_new0(struct work_params, 1);
    struct binding b = {.s = s, .spec = spec, .net = net, .w = w, .at = &at};

    w->kind = spec->kind;
    w->index = index;
    w->qos = spec->qos;
    w->common = spec->common;
    w->common.message_bytes =
        spec->common.message_bytes == PARAM_SPECIAL ? 0 : spec->common.message_bytes;
    w->gpus = (uint32_t)s->node.gpus;
    w->nics = nics_of_hosts(net);
    w->permutation = spec->permutation;
    w->incast = spec->incast;
    w->poisson = spec->poisson;
    w->all_to_all = spec->all_to_all;
    w->collective = spec->collective;
    w->nccl = &s->nccl;
    w->pipe_rate_bps = s->node.pipe_rate_bps;
    w->pipe_latency_ps = s->node.pipe_latency_ps;
    if (!bind_hosts(&b, error) || !bind_kind(&b, error)) {
        work_params_free(w);
        return NULL;
    }
    return w;
}
