/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ns3.c - flow files of the HPCC simulator's family.
 *
 * Source: scratch/third.cc (ReadFlowInput, ScheduleFlowInputs) of alibaba-edu/
 * High-Precision-Congestion-Control and bobzhuyb/ns3-rdma, scratch/network-load-balance.cc of
 * conweave-project/conweave-ns3.
 */
#include <config.h>

#include "workloads/file/ns3.h"

#include <stdio.h>

#define PS_PER_SECOND INT64_C(1000000000000)
#define SIZE_MAX_BYTES (INT64_C(1) << 50)
#define NODE_MAX INT64_C(999999)
#define START_MAX_PS (1000000 * PS_PER_SECOND)

enum { WHAT_BYTES = 96, FLOWS_MAX = 100000000, CLASS_MAX = 7, PORT_MAX = 65535 };

/* Takes a number that 'what' of 'flow' is. */
static bool
number(struct text *t, const char *what, const char *flow, int64_t min, int64_t max,
       int64_t *value)
{
    char name[2 * WHAT_BYTES];

    snprintf(name, sizeof name, "the %s of %s", what, flow);
    return text_integer(t, name, min, max, value);
}

/* Takes a time in seconds. */
static bool
seconds(struct text *t, const char *what, const char *flow, int64_t *value)
{
    char name[2 * WHAT_BYTES];

    snprintf(name, sizeof name, "the %s of %s", what, flow);
    return text_decimal(t, name, PS_PER_SECOND, value) &&
           (*value <= START_MAX_PS ||
            text_fail(t, "%s is %.60s seconds; allowed is 0 to 1000000", name, t->word));
}

static bool
read_flow(struct text *t, const struct ns3_flow_dialect *dialect, const char *what,
          struct flow_file_flow *flow, int64_t *end_ps)
{
    int64_t src, dst, cls, dport = -1;

    if (!number(t, "source", what, 0, NODE_MAX, &src)) {
        return false;
    }
    flow->line = t->line;
    if (!number(t, "destination", what, 0, NODE_MAX, &dst)) {
        return false;
    }
    if (src == dst) {
        return text_fail(t,
                         "the destination of %s is %lld, its source; allowed is another",
                         what, (long long)dst);
    }
    if (!number(t, "priority group", what, 0, CLASS_MAX, &cls) ||
        (dialect->form == NS3_FLOW_DPORT_SIZE &&
         !number(t, "destination port", what, 0, PORT_MAX, &dport)) ||
        !number(t, dialect->form == NS3_FLOW_PACKETS_END ? "number of packets" : "size",
                what, 1, SIZE_MAX_BYTES, &flow->bytes) ||
        !seconds(t, "start", what, &flow->start_ps) ||
        (dialect->form == NS3_FLOW_PACKETS_END && !seconds(t, "end", what, end_ps))) {
        return false;
    }
    flow->src = (uint32_t)src, flow->dst = (uint32_t)dst;
    flow->cls = (int32_t)cls, flow->dport = (int32_t)dport;
    return true;
}

/* Flows behind the last one that the count speaks of. */
static void
warn_more(const struct text *t, const struct ns3_flow_dialect *dialect,
          struct flow_file *file, int64_t n)
{
    struct text rest = *t;
    struct flow_file_flow flow = {.id = 0};
    unsigned line = 0;
    int64_t more = 0, end_ps;

    while (!text_at_end(&rest) && read_flow(&rest, dialect, "a flow", &flow, &end_ps)) {
        line = more++ == 0 ? flow.line : line;
    }
    if (more > 0) {
        flow_file_warn__(file, t, line,
                         "the first line says %lld flows, and %lld more follow from here "
                         "on; they are left out, as in the original",
                         (long long)n, (long long)more);
    }
}

static gint
by_start(gconstpointer a, gconstpointer b)
{
    const struct flow_file_flow *x = a, *y = b;

    if (x->start_ps != y->start_ps) {
        return x->start_ps < y->start_ps ? -1 : 1;
    }
    return x->line < y->line ? -1 : x->line > y->line;
}

/* The original needs flows in order of start; so do source ports. */
static void
sort(const struct text *t, struct flow_file *file)
{
    for (guint i = 1; i < file->flows->len; i++) {
        const struct flow_file_flow *flow =
            &g_array_index(file->flows, struct flow_file_flow, i);

        if (flow->start_ps < flow[-1].start_ps) {
            flow_file_warn__(file, t, flow->line,
                             "starts before the flow above it; flows are sorted by start "
                             "here, the original goes wrong");
            g_array_sort(file->flows, by_start);
            return;
        }
    }
}

/* Things that are not as in the original. */
static void
warn_flow(const struct text *t, const struct ns3_flow_dialect *dialect,
          struct flow_file *file, const struct flow_file_flow *flow, bool *is_warned)
{
    if (dialect->size_is_32_bit && flow->bytes > UINT32_MAX && !*is_warned) {
        *is_warned = true;
        flow_file_warn__(file, t, flow->line,
                         "the size does not fit 32 bits; it is taken as it stands here, "
                         "the original cuts it");
    }
}

bool
ns3_read_flows(struct text *t, const struct ns3_flow_dialect *dialect,
               struct flow_file *file)
{
    bool is_warned = false;
    int64_t n;

    if (!text_integer(t, "the number of flows", 0, FLOWS_MAX, &n)) {
        return false;
    }
    if (n == 0) {
        return text_fail(t, "the number of flows is 0; needed is 1 or more");
    }
    for (int64_t i = 0; i < n; i++) {
        struct flow_file_flow flow = {.id = 0};
        char what[WHAT_BYTES];
        int64_t end_ps = 0;

        snprintf(what, sizeof what, "flow %lld of %lld", (long long)i + 1, (long long)n);
        if (!read_flow(t, dialect, what, &flow, &end_ps)) {
            return false;
        }
        if (dialect->form == NS3_FLOW_PACKETS_END && end_ps <= flow.start_ps) {
            return text_fail(t, "%s ends before it starts", what);
        }
        warn_flow(t, dialect, file, &flow, &is_warned);
        g_array_append_val(file->flows, flow);
    }
    if (dialect->form == NS3_FLOW_PACKETS_END) {
        file->in_packets = true;
        flow_file_warn__(file, t, 1,
                         "ends of flows have no effect here: a flow goes on until its "
                         "packets are sent, or the simulation stops");
    }
    warn_more(t, dialect, file, n);
    sort(t, file);
    return true;
}
