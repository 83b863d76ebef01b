/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * census_text.c - a census for people, and as JSON.
 */
#include <config.h>

#include "tools/census/census.h"

#include "tools/fabric/fabric.h"
#include "tools/results/json_out.h"
#include "tools/results/text.h"
#include "tools/scenario/doc.h"

enum {
    MOST_GROUPS = 16, /* lines */
    BAR = 40,         /* characters */
};

static int64_t
as_int(__int128 value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static char *
size_text(__int128 bytes)
{
    g_autoptr(GString) text = g_string_new(NULL);

    text_size(text, as_int(bytes));
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* ---- who ------------------------------------------------------------------------------ */

static void
put_head(GString *out, const struct census *census)
{
    const struct trace *t = census->trace;
    guint n_files = g_strv_length(t->files);
    g_autofree char *file = doc_one_line(t->files[0]);
    uint32_t most = 0;
    g_autofree uint32_t *n = g_new0(uint32_t, t->n_hosts);

    for (uint32_t r = 0; r < t->n_ranks; r++) {
        uint32_t here = ++n[t->ranks[r].host];

        most = MAX(most, here);
    }
    uint32_t least = most;

    for (uint32_t h = 0; h < t->n_hosts; h++) {
        least = MIN(least, n[h]);
    }
    g_string_append_printf(out, "trace       %s%s, format %s\n", file,
                           n_files > 1 ? " and others" : "", t->format);
    g_string_append_printf(out, "ranks       %u on %u host%s, ", t->n_ranks, t->n_hosts,
                           t->n_hosts == 1 ? "" : "s");
    g_string_append_printf(
        out, least == most ? "%u a host: " : "%u to %u a host: ", least, most);
    for (uint32_t h = 0; h < t->n_hosts && h < 4; h++) {
        g_autofree char *name = doc_one_line(t->hosts[h]);

        g_string_append_printf(out, "%s%s", h ? ", " : "", name);
    }
    g_string_append(out, t->n_hosts > 4 ? ", ...\n" : "\n");
    g_string_append(out, "times       ");
    if (census->has_times) {
        text_time(out, census->last_ps - census->first_ps);
        g_string_append(out, " from the first call to the last");
        if (!t->has_times) {
            g_string_append(out, "; not all operations have one");
        }
        g_string_append_c(out, '\n');
    } else {
        g_string_append(out, "none: only the order is known\n");
    }
    if (t->is_graph) {
        g_string_append_printf(out, "order       by %" G_GUINT64_FORMAT " dependencies\n",
                               census->n_dependencies);
    }
}

static void
put_groups(GString *out, const struct census *census)
{
    const struct trace *t = census->trace;
    g_autofree __int128 *bytes = g_new0(__int128, t->n_comms);

    for (size_t i = 0; i < t->n_ops; i++) {
        bytes[t->ops[i].comm] += t->ops[i].bytes;
    }
    g_string_append_printf(out, "\n%-24s%10s%10s%12s%14s\n", "groups", "ranks",
                           "channels", "operations", "bytes");
    for (uint32_t c = 0; c < t->n_comms; c++) {
        const struct trace_comm *comm = &t->comms[c];
        g_autofree char *name = doc_one_line(comm->name);
        g_autofree char *size = size_text(bytes[c]);
        g_autofree char *channels =
            comm->n_channels ? g_strdup_printf("%u", comm->n_channels) : g_strdup("");

        if (c == MOST_GROUPS) {
            g_string_append_printf(out, "... and %u more; --json has all\n",
                                   t->n_comms - c);
            return;
        }
        g_string_append_printf(out, "%-24.40s%10u%10s%12zu%14s\n", name, comm->n_ranks,
                               channels, comm->n_ops, size);
    }
}

/* ---- what ----------------------------------------------------------------------------- */

static void
put_kinds(GString *out, const struct census *census)
{
    g_string_append_printf(out, "\n%-16s%10s%14s%14s%14s\n", "operations", "count",
                           "bytes", "least", "most");
    for (unsigned k = 0; k < TRACE_N_KINDS; k++) {
        const struct census_kind *kind = &census->kinds[k];

        if (kind->n == 0) {
            continue;
        }
        g_string_append_printf(out, "%-16s%10" G_GUINT64_FORMAT,
                               trace_kind_name((enum trace_kind)k), kind->n);
        if (k == TRACE_COMPUTE) {
            g_autoptr(GString) time = g_string_new(NULL);

            text_time(time, as_int(kind->time_ps));
            g_string_append_printf(out, "%14s  of all ranks together\n", time->str);
        } else {
            g_autofree char *all = size_text(kind->bytes);
            g_autofree char *least = size_text(kind->least_bytes);
            g_autofree char *most = size_text(kind->most_bytes);

            g_string_append_printf(out, "%14s%14s%14s\n", all, least, most);
        }
    }
}

static void
put_sizes(GString *out, const struct census *census)
{
    uint64_t n[CENSUS_N_SIZES] = {0}, most = 0;

    for (unsigned k = 0; k < TRACE_N_KINDS; k++) {
        for (unsigned b = 0; b < CENSUS_N_SIZES && k != TRACE_COMPUTE; b++) {
            n[b] += census->kinds[k].sizes[b];
            most = MAX(most, n[b]);
        }
    }
    if (most == 0) {
        return;
    }
    g_string_append_printf(out, "\n%-24s%10s\n", "sizes", "count");
    for (unsigned b = 0; b < CENSUS_N_SIZES; b++) {
        g_autofree char *from = size_text(b > 0 ? INT64_C(1) << (b - 1) : 0);
        g_autofree char *to = size_text(INT64_C(1) << b);
        g_autofree char *bin = b == 0 ? g_strdup("0 B")
                               : b + 1 == CENSUS_N_SIZES
                                   ? g_strdup_printf("%s and more", from)
                                   : g_strdup_printf("%s to %s", from, to);

        if (n[b] > 0) {
            g_string_append_printf(out, "%-24s%10" G_GUINT64_FORMAT "  ", bin, n[b]);
            for (uint64_t i = 0; i < (n[b] * BAR + most - 1) / most; i++) {
                g_string_append_c(out, '#');
            }
            g_string_append_c(out, '\n');
        }
    }
}

/* ---- where ---------------------------------------------------------------------------- */

/* Are switches of 'tier' linked to each other? */
static bool
has_peers(const struct net *net, unsigned tier)
{
    for (uint32_t l = 0; l < net->n_links; l++) {
        const uint32_t *node = net->links[l].node;

        if (net->nodes[node[0]].tier == tier && net->nodes[node[1]].tier == tier) {
            return true;
        }
    }
    return false;
}

/* "within nodes", "same leaf", "over spine"; the key in JSON. */
static char *
way_text(const struct census *census, unsigned way, bool is_key)
{
    switch (way) {
    case CENSUS_WITHIN:
        return g_strdup(is_key ? "within_nodes" : "within nodes");
    case CENSUS_BETWEEN:
        return g_strdup(is_key ? "between_nodes" : "between nodes");
    case CENSUS_CABLE:
        return g_strdup(is_key ? "cable" : "by a cable");
    case CENSUS_NO_PATH:
        return g_strdup(is_key ? "no_path" : "no path");
    }
    if (is_key) {
        return g_strdup(fabric_tier_name(way));
    }
    return g_strdup_printf(way == 1 && !has_peers(census->net, way) ? "same %s"
                                                                    : "over %s",
                           fabric_tier_name(way));
}

/* Ways that something goes by, and the two that are always shown. */
static bool
is_shown(const struct census *census, unsigned way)
{
    for (unsigned k = 0; k < TRACE_N_KINDS; k++) {
        if (census->kinds[k].traffic[way] > 0) {
            return true;
        }
    }
    if (way == CENSUS_WITHIN) {
        return true;
    }
    if (census->net == NULL) {
        return way == CENSUS_BETWEEN;
    }
    for (uint32_t n = 0; n < census->net->n_nodes && way < TOPO_MAX_TIERS; n++) {
        if (census->net->nodes[n].tier == way) {
            return true;
        }
    }
    return false;
}

static void
put_row(GString *out, const struct census *census, const char *name,
        const __int128 traffic[])
{
    __int128 all = 0;

    for (unsigned w = 0; w < CENSUS_N_WAYS; w++) {
        all += traffic[w];
    }
    if (all == 0) {
        return;
    }
    g_autofree char *size = size_text(all);

    g_string_append_printf(out, "%-16s%12s", name, size);
    for (unsigned w = 0; w < CENSUS_N_WAYS; w++) {
        if (is_shown(census, w)) {
            g_autofree char *part = size_text(traffic[w]);
            g_autoptr(GString) share = g_string_new(NULL);

            text_quotient(share, traffic[w] * 100, all, 1);
            g_string_append(share, " %");
            g_string_append_printf(out, "%12s%8s", part, share->str);
        }
    }
    g_string_append_c(out, '\n');
}

static void
put_traffic(GString *out, const struct census *census)
{
    __int128 sum[CENSUS_N_WAYS] = {0}, all = 0;
    unsigned n_kinds = 0;

    for (unsigned k = 0; k < TRACE_N_KINDS; k++) {
        __int128 of_kind = 0;

        for (unsigned w = 0; w < CENSUS_N_WAYS; w++) {
            sum[w] += census->kinds[k].traffic[w];
            of_kind += census->kinds[k].traffic[w];
        }
        all += of_kind;
        n_kinds += of_kind > 0;
    }
    if (all == 0) {
        g_string_append(out, "\ntraffic     none between ranks\n");
        return;
    }
    g_string_append_printf(out, "\n%-16s%12s", "traffic", "all");
    for (unsigned w = 0; w < CENSUS_N_WAYS; w++) {
        if (is_shown(census, w)) {
            g_autofree char *text = way_text(census, w, false);

            g_string_append_printf(out, "%20s", text);
        }
    }
    g_string_append_c(out, '\n');
    for (unsigned k = 0; k < TRACE_N_KINDS; k++) {
        put_row(out, census, trace_kind_name((enum trace_kind)k),
                census->kinds[k].traffic);
    }
    if (n_kinds > 1) {
        put_row(out, census, "all", sum);
    }
    if (sum[CENSUS_WITHIN] == all) {
        g_string_append(out,
                        "            nothing leaves a node: the network has no part\n");
    }
}

static void
put_warnings(GString *out, const struct census *census)
{
    for (char **line = census->trace->warnings; *line != NULL; line++) {
        g_autofree char *text = doc_one_line(*line);

        g_string_append_printf(out, "%swarning     %s\n",
                               line == census->trace->warnings ? "\n" : "", text);
    }
}

void
census_put_text(GString *out, const struct census *census)
{
    put_head(out, census);
    put_groups(out, census);
    put_kinds(out, census);
    put_sizes(out, census);
    put_traffic(out, census);
    put_warnings(out, census);
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void
put_json_texts(struct json_out *json, const char *key, char *const *texts)
{
    json_out_open(json, key, '[', false);
    for (; *texts != NULL; texts++) {
        g_autofree char *text = doc_one_line(*texts);

        json_out_text(json, NULL, text);
    }
    json_out_close(json, ']');
}

static void
put_json_groups(struct json_out *json, const struct trace *t)
{
    g_autofree __int128 *bytes = g_new0(__int128, t->n_comms);

    for (size_t i = 0; i < t->n_ops; i++) {
        bytes[t->ops[i].comm] += t->ops[i].bytes;
    }
    json_out_open(json, "groups", '[', false);
    for (uint32_t c = 0; c < t->n_comms; c++) {
        g_autofree char *name = doc_one_line(t->comms[c].name);

        json_out_open(json, NULL, '{', true);
        json_out_text(json, "name", name);
        json_out_int(json, "ranks", t->comms[c].n_ranks);
        json_out_int(json, "channels", t->comms[c].n_channels);
        json_out_bool(json, "has_rings", t->comms[c].rings != NULL);
        json_out_int(json, "operations", (int64_t)t->comms[c].n_ops);
        json_out_int(json, "bytes", as_int(bytes[c]));
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

static void
put_json_kinds(struct json_out *json, const struct census *census)
{
    json_out_open(json, "operations", '[', false);
    for (unsigned k = 0; k < TRACE_N_KINDS; k++) {
        const struct census_kind *kind = &census->kinds[k];

        if (kind->n == 0) {
            continue;
        }
        json_out_open(json, NULL, '{', false);
        json_out_text(json, "kind", trace_kind_name((enum trace_kind)k));
        json_out_int(json, "count", (int64_t)kind->n);
        if (k == TRACE_COMPUTE) {
            json_out_us(json, "time_us", as_int(kind->time_ps));
            json_out_close(json, '}');
            continue;
        }
        json_out_int(json, "bytes", as_int(kind->bytes));
        json_out_int(json, "bytes_least", kind->least_bytes);
        json_out_int(json, "bytes_most", kind->most_bytes);
        json_out_open(json, "sizes", '[', false);
        for (unsigned b = 0; b < CENSUS_N_SIZES; b++) {
            if (kind->sizes[b] > 0) {
                json_out_open(json, NULL, '{', true);
                json_out_int(json, "from_bytes", b > 0 ? INT64_C(1) << (b - 1) : 0);
                json_out_int(json, "count", (int64_t)kind->sizes[b]);
                json_out_close(json, '}');
            }
        }
        json_out_close(json, ']');
        json_out_open(json, "traffic_bytes", '{', true);
        for (unsigned w = 0; w < CENSUS_N_WAYS; w++) {
            if (is_shown(census, w)) {
                g_autofree char *key = way_text(census, w, true);

                json_out_int(json, key, as_int(kind->traffic[w]));
            }
        }
        json_out_close(json, '}');
        json_out_close(json, '}');
    }
    json_out_close(json, ']');
}

void
census_put_json(GString *out, const struct census *census)
{
    const struct trace *t = census->trace;
    struct json_out json;

    json_out_init(&json, out);
    json_out_open(&json, NULL, '{', false);
    put_json_texts(&json, "files", t->files);
    json_out_text(&json, "format", t->format);
    json_out_int(&json, "ranks", t->n_ranks);
    put_json_texts(&json, "hosts", t->hosts);
    json_out_open(&json, "host_of_rank", '[', true);
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        json_out_int(&json, NULL, t->ranks[r].host);
    }
    json_out_close(&json, ']');
    json_out_bool(&json, "has_times", t->has_times);
    json_out_us(&json, "first_us", census->has_times ? census->first_ps : TIME_NEVER_PS);
    json_out_us(&json, "last_us", census->has_times ? census->last_ps : TIME_NEVER_PS);
    json_out_bool(&json, "has_dependencies", t->is_graph);
    json_out_int(&json, "dependencies", (int64_t)census->n_dependencies);
    put_json_groups(&json, t);
    put_json_kinds(&json, census);
    put_json_texts(&json, "warnings", t->warnings);
    json_out_close(&json, '}');
    g_string_append_c(out, '\n');
}
