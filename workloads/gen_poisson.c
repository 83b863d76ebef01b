/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen_poisson.c - each host starts flows at random times, of random sizes, to random hosts,
 * whatever has become of the earlier ones.
 *
 * The gaps of a host are exponential; its mean is such that the bytes of its flows are
 * 'load' of the rate of its links: headers come on top.  Sizes are drawn from the
 * distribution, destinations evenly from the other hosts.  Each host has three streams of
 * random numbers of its own, so more hosts change no draw of time and size.
 *
 * Source: alibaba-edu/High-Precision-Congestion-Control, traffic_gen/traffic_gen.py:
 * avg_inter_arrival = avg / (bandwidth * load / 8), of each host.  That script drops the last
 * flow of a host before the end; here all that start before 'until' count.
 */
#include <config.h>

#include "sim/rng.h"
#include "workloads/cdf.h"
#include "workloads/flows.h"

/* A mean gap above this is no load: 40 hours. */
#define GAP_MAX_PS (INT64_C(1) << 57)

/* A host's place in its streams. */
struct arrivals {
    uint64_t gap_key, size_key, destination_key;
    int64_t mean_ps;  /* between flows */
    int64_t limit_ps; /* after the host's start: no flow then or later */
    int64_t at_ps;    /* of the flow before */
    uint64_t n;       /* flows drawn */
};

struct poisson {
    struct cdf *cdf;          /* owned */
    uint32_t *hosts;          /* owned */
    struct arrivals *streams; /* owned, by position */
    uint32_t n_hosts;
};

static bool
next_flow(void *ctx, uint32_t position, struct work_flow *flow)
{
    const struct poisson *poisson = ctx;
    struct arrivals *a = &poisson->streams[position];
    int64_t gap_ps = rng_exponential(a->gap_key, a->n, a->mean_ps);

    /* Neither passes 2^63. */
    if (gap_ps >= a->limit_ps - a->at_ps) {
        return false;
    }
    uint32_t other = (uint32_t)rng_below(a->destination_key, a->n, poisson->n_hosts - 1);

    a->at_ps += gap_ps;
    *flow = (struct work_flow){
        .src = poisson->hosts[position],
        .dst = poisson->hosts[other + (other >= position)],
        .bytes = MAX(cdf_draw(poisson->cdf, rng_u64(a->size_key, a->n)), 1),
        .start_ps = a->at_ps};
    a->n++;
    return true;
}

static void
rewind_host(void *ctx, uint32_t position)
{
    struct arrivals *a = &((struct poisson *)ctx)->streams[position];

    a->at_ps = 0;
    a->n = 0;
}

static void
free_poisson(void *ctx)
{
    struct poisson *poisson = ctx;

    cdf_free(poisson->cdf);
    g_free(poisson->hosts);
    g_free(poisson->streams);
    g_free(poisson);
}

/* Of all its links. */
static int64_t
rate_of_host(const struct net *net, uint32_t host)
{
    int64_t rate_bps = 0;

    for (uint32_t k = net->nic_of_host[host]; k < net->nic_of_host[host + 1]; k++) {
        rate_bps += net->nics[k].port->rate_bps;
    }
    return rate_bps;
}

/* Mean gap between flows of 'mean_bytes'; the sum of thousandths of a byte (2^60) and the
 * factors has 123 bits. */
static int64_t
mean_gap_ps(double mean_bytes, int64_t rate_bps, int64_t load_e18)
{
    unsigned __int128 millibits =
        (unsigned __int128)(uint64_t)(mean_bytes * 1000 + 0.5) * 8;
    unsigned __int128 gap_ps =
        millibits * (PS_PER_S / 1000) * 1000000000 /
        ((unsigned __int128)(uint64_t)rate_bps * (uint64_t)(load_e18 / 1000000000));

    return gap_ps > (unsigned __int128)GAP_MAX_PS ? GAP_MAX_PS + 1 : (int64_t)gap_ps;
}

static struct arrivals
arrivals_of_host(const struct net *net, const struct work_params *params, uint32_t host,
                 double mean_bytes)
{
    g_autofree char *path = g_strdup_printf("workload[%u]/%s", params->index,
                                            net->nodes[net->node_of_host[host]].name);

    return (struct arrivals){
        .gap_key = rng_key(net->seed, path, "gap"),
        .size_key = rng_key(net->seed, path, "size"),
        .destination_key = rng_key(net->seed, path, "destination"),
        .mean_ps = MAX(
            mean_gap_ps(mean_bytes, rate_of_host(net, host), params->poisson.load_e18),
            1),
        .limit_ps = params->poisson.until_ps - params->common.start_ps -
                    net_jitter_ps(net, host)};
}

/* FALSE when a host hardly ever sends.  Adds up how many flows are to be expected. */
static gboolean
set_streams(const struct net *net, const struct work_params *params,
            struct poisson *poisson, double *n_expected, GError **error)
{
    double mean_bytes = cdf_mean_bytes(poisson->cdf);

    for (uint32_t k = 0; k < poisson->n_hosts; k++) {
        struct arrivals *a = &poisson->streams[k];

        *a = arrivals_of_host(net, params, poisson->hosts[k], mean_bytes);
        if (a->mean_ps > GAP_MAX_PS) {
            g_set_error(error, WORK_ERROR, WORK_ERROR_RANGE,
                        "workload[%u].load: %g with flows of %.0f B means more than 40 "
                        "hours from one to the next; a larger one is needed",
                        params->index,
                        (double)params->poisson.load_e18 / (double)PARAM_SHARE_ONE,
                        mean_bytes);
            return FALSE;
        }
        if (a->limit_ps > 0) {
            *n_expected += (double)a->limit_ps / (double)a->mean_ps;
        }
    }
    return TRUE;
}

static void *
new_poisson(struct net *net, const struct work_params *params, GError **error)
{
    double n_expected = 0;

    if (params->n_hosts < 2) {
        g_set_error(error, WORK_ERROR, WORK_ERROR_HOSTS,
                    "workload[%u].hosts: %u; at least 2 are needed", params->index,
                    params->n_hosts);
        return NULL;
    }
    struct cdf *cdf = cdf_load(params->cdf, error);

    if (!cdf) {
        g_prefix_error(error, "workload[%u].cdf: ", params->index);
        return NULL;
    }
    struct poisson *poisson = g_new0(struct poisson, 1);
    const struct flow_source source = {
        .ctx = poisson, .next = next_flow, .rewind = rewind_host, .free = free_poisson};

    poisson->cdf = cdf;
    poisson->n_hosts = params->n_hosts;
    poisson->hosts = g_memdup2(params->hosts, params->n_hosts * sizeof *params->hosts);
    poisson->streams = g_new(struct arrivals, params->n_hosts);
    if (!set_streams(net, params, poisson, &n_expected, error)) {
        free_poisson(poisson);
        return NULL;
    }
    return flows_new_drawn(net, params, &source, n_expected, error);
}

const struct work_ops work_poisson_ops = {
    .name = "poisson",
    .source = "HPCC ns-3 simulator, traffic_gen/traffic_gen.py",
    .doc = "hosts start flows at random times, of sizes from a distribution",
    .new = new_poisson,
    .start = flows_start,
    .unfinished = flows_unfinished,
    .optional = flows_optional,
    .flows = flows_results,
    .free = flows_free,
};
