/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ns3.c - rates, times and lists of links of the HPCC simulator's family.
 *
 * Source: ns-3 core/model/time.cc and network/utils/data-rate.cc (units); scratch/third.cc of
 * alibaba-edu/High-Precision-Congestion-Control, bobzhuyb/ns3-rdma, network-load-balance.cc
 * of conweave-project/conweave-ns3, powertcp-evaluation-*.cc of inet-tub/ns3-datacenter.
 */
#include <config.h>

#include "topologies/file/ns3.h"

#include <stdio.h>
#include <string.h>

#include "sim/decimal.h"

#define MIN_RATE_BPS INT64_C(1000000)
#define MAX_DELAY_PS INT64_C(1000000000000)

enum { WHAT_BYTES = 96 };

struct unit {
    const char *name;
    int64_t size;
};

/* Bits: "b/s" or "bps", bytes: "B/s" or "Bps". */
static int64_t
rate_unit(const char *name)
{
    static const struct unit prefixes[] = {
        {"", 1},         {"k", 1000},       {"K", 1000},
        {"M", 1000000},  {"G", 1000000000}, {"T", INT64_C(1000000000000)},
        {"Ki", 1 << 10}, {"Mi", 1 << 20},   {"Gi", 1 << 30},
    };
    size_t n = strlen(name);
    const char *tail = n >= 3 ? name + n - 3 : "";
    int64_t each = strcmp(tail, "b/s") == 0 || strcmp(tail, "bps") == 0   ? 1
                   : strcmp(tail, "B/s") == 0 || strcmp(tail, "Bps") == 0 ? 8
                                                                          : 0;

    for (size_t i = 0; each != 0 && i < G_N_ELEMENTS(prefixes); i++) {
        if (strlen(prefixes[i].name) == n - 3 &&
            strncmp(name, prefixes[i].name, n - 3) == 0) {
            return each * prefixes[i].size;
        }
    }
    return 0;
}

static int64_t
time_unit(const char *name)
{
    static const struct unit units[] = {
        {"s", INT64_C(1000000000000)},
        {"ms", INT64_C(1000000000)},
        {"us", 1000000},
        {"ns", 1000},
        {"ps", 1},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(units[i].name, name) == 0) {
            return units[i].size;
        }
    }
    return 0;
}

bool
ns3_rate(struct text *t, const char *what, int64_t *rate_bps)
{
    struct decimal d;
    bool is_number = decimal_read(t->word, &d);
    int64_t unit = !is_number ? 0 : *d.rest == '\0' ? 1 : rate_unit(d.rest);

    if (unit == 0) {
        return text_fail(t,
                         "%s is '%.60s'; allowed is a rate such as 100Gbps or 50Mb/s, or "
                         "bit/s",
                         what, t->word);
    }
    if (d.negative || decimal_scale(&d, unit, true, rate_bps) != DECIMAL_FITS ||
        *rate_bps < MIN_RATE_BPS || *rate_bps > TOPO_MAX_RATE_BPS) {
        return text_fail(t, "%s is %.60s%s; allowed is 1Mbps to 100Tbps", what, t->word,
                         *d.rest == '\0' ? " bit/s" : "");
    }
    return true;
}

bool
ns3_time(struct text *t, const char *what, int64_t *time_ps)
{
    struct decimal d;
    bool is_number = decimal_read(t->word, &d);
    int64_t unit = !is_number        ? 0
                   : *d.rest == '\0' ? INT64_C(1000000000000)
                                     : time_unit(d.rest);

    if (unit == 0) {
        return text_fail(t,
                         "%s is '%.60s'; allowed is a time such as 1us or 0.001ms, or "
                         "seconds",
                         what, t->word);
    }
    if (d.negative || decimal_scale(&d, unit, true, time_ps) != DECIMAL_FITS ||
        *time_ps > MAX_DELAY_PS) {
        return text_fail(t, "%s is %.60s%s; allowed is 0 to 1s", what, t->word,
                         *d.rest == '\0' ? " seconds" : "");
    }
    return true;
}

bool
ns3_read_switches(struct text *t, const char *what, int64_t n, int64_t n_nodes,
                  uint8_t kind, uint8_t kinds[])
{
    for (int64_t i = 0; i < n; i++) {
        char name[WHAT_BYTES];
        int64_t id;

        snprintf(name, sizeof name, "%s %lld of %lld", what, (long long)i + 1,
                 (long long)n);
        if (!text_integer(t, name, 0, n_nodes - 1, &id)) {
            return false;
        }
        if (kinds[id] != 0) {
            return text_fail(t, "%s is %lld, which is there already; allowed is another",
                             name, (long long)id);
        }
        kinds[id] = kind;
    }
    return true;
}

/* One link into '*link'; 'what' names it. */
static bool
read_link(struct text *t, const struct ns3_dialect *dialect, const char *what,
          int64_t n_nodes, struct topo_file_link *link)
{
    char part[2 * WHAT_BYTES];
    int64_t end[2];

    for (int e = 0; e < 2; e++) {
        snprintf(part, sizeof part, "the %s end of %s", e == 0 ? "first" : "second",
                 what);
        if (!text_integer(t, part, 0, n_nodes - 1, &end[e])) {
            return false;
        }
    }
    link->line = t->line;
    if (end[0] == end[1]) {
        return text_fail(t, "%s leads from %lld to itself; allowed are two nodes", what,
                         (long long)end[0]);
    }
    link->a = (uint32_t)end[0], link->b = (uint32_t)end[1];
    snprintf(part, sizeof part, "the rate of %s", what);
    if (!text_need(t, part) || !ns3_rate(t, part, &link->rate_bps)) {
        return false;
    }
    snprintf(part, sizeof part, "the delay of %s", what);
    if (!text_need(t, part) || !ns3_time(t, part, &link->delay_ps)) {
        return false;
    }
    if (dialect->error_optional && !text_next_in_line(t)) {
        link->error_e18 = 0;
        return !t->failed;
    }
    snprintf(part, sizeof part, "the error rate of %s", what);
    if (dialect->error_optional
            ? !text_as_decimal(t, part, PARAM_SHARE_ONE, &link->error_e18)
            : !text_decimal(t, part, PARAM_SHARE_ONE, &link->error_e18)) {
        return false;
    }
    return link->error_e18 <= PARAM_SHARE_ONE ||
           text_fail(t, "%s is %.60s; allowed is 0 to 1", part, t->word);
}

/* Links that stand behind the last one counted: what the count says would be lost. */
static bool
check_no_more(struct text *t, const struct ns3_dialect *dialect, int64_t n,
              int64_t n_nodes)
{
    struct text rest = *t;
    struct topo_file_link link;
    unsigned line = 0;
    int64_t more = 0;

    while (!text_at_end(&rest) && read_link(&rest, dialect, "a link", n_nodes, &link)) {
        line = more++ == 0 ? link.line : line;
    }
    if (more == 0) {
        return true;
    }
    t->line = line;
    return text_fail(t,
                     "here is link %lld, and there are %lld; the first line says %lld, "
                     "and must say how many there are",
                     (long long)n + 1, (long long)(n + more), (long long)n);
}

bool
ns3_read_links(struct text *t, const struct ns3_dialect *dialect, int64_t n,
               int64_t n_nodes, GArray *links)
{
    for (int64_t i = 0; i < n; i++) {
        struct topo_file_link link;
        char what[WHAT_BYTES];

        snprintf(what, sizeof what, "link %lld of %lld", (long long)i + 1, (long long)n);
        if (!read_link(t, dialect, what, n_nodes, &link)) {
            return false;
        }
        g_array_append_val(links, link);
    }
    return check_no_more(t, dialect, n, n_nodes);
}

void
ns3_warn_parallel(const struct text *t, struct topo_file *file, const char *who)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    unsigned first = 0, n = 0;

    for (guint i = 0; i < file->links->len; i++) {
        const struct topo_file_link *link =
            &g_array_index(file->links, struct topo_file_link, i);
        int64_t *key = g_new(int64_t, 1);

        *key = (int64_t)MIN(link->a, link->b) << 32 | MAX(link->a, link->b);
        if (!g_hash_table_add(seen, key)) {
            first = n++ == 0 ? link->line : first;
        }
    }
    if (n > 0) {
        topo_file_warn__(file, t, first,
                         "a second link between the same two nodes%s; all carry traffic "
                         "here, in %s only the last one does",
                         n > 1 ? ", and there are more such" : "", who);
    }
}

/* Numbers in the first line that holds any. */
static int
count_first_line(const struct text *t)
{
    struct text line = *t;
    int n = 0;

    while (!text_next_in_line(&line)) {
        if (line.failed || !text_skip_line(&line)) {
            return 0;
        }
    }
    do {
        n++;
    } while (text_next_in_line(&line));
    return n;
}

/* A file of another format: the counts in its first line tell. */
static bool
check_counts(struct text *t, const struct ns3_dialect *dialect)
{
    int n = count_first_line(t), wanted = dialect->has_tors ? 4 : 3;

    if (n == wanted || n == 0 || n > 6) {
        return true;
    }
    text_next(t);
    return text_fail(t,
                     "the first line has %d words; this format has %d there (%s); other "
                     "formats: hpcc, conweave, ns3rdma 3, ns3dc 4, simai 6",
                     n, wanted,
                     dialect->has_tors ? "nodes, switches, ToRs, links"
                                       : "nodes, switches, links");
}

bool
ns3_read_topology(struct text *t, const struct ns3_dialect *dialect,
                  struct topo_file *file)
{
    int64_t n_nodes, n_switches, n_tors, n_links;

    if (!check_counts(t, dialect) ||
        !text_integer(t, "the number of nodes", 1, TOPO_MAX_PORTS, &n_nodes) ||
        !text_integer(t, "the number of switches", 0, n_nodes, &n_switches) ||
        (dialect->has_tors &&
         !text_integer(t, "the number of ToRs", 0, n_nodes, &n_tors)) ||
        !text_integer(t, "the number of links", 0, TOPO_MAX_PORTS / 2, &n_links)) {
        return false;
    }
    g_autofree uint8_t *is_switch = g_new0(uint8_t, n_nodes);

    if (!ns3_read_switches(t, "switch", n_switches, n_nodes, 1, is_switch) ||
        !ns3_read_links(t, dialect, n_links, n_nodes, file->links)) {
        return false;
    }
    file->n_numbers = (uint32_t)n_nodes;
    file->node_of = g_new(uint32_t, n_nodes);
    for (uint32_t id = 0; id < file->n_numbers; id++) {
        file->node_of[id] = id;
        topo_file_add_node__(file, is_switch[id] ? NODE_SWITCH : NODE_HOST, 0, "%s%u",
                             is_switch[id] ? "switch" : "host", id);
    }
    ns3_warn_parallel(t, file, "the original");
    return true;
}
