/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topo_leafspine.c - two tiers: leaves with hosts, every leaf with links to every spine.
 *
 * Source: the folded Clos network, C. Clos, "A study of non-blocking switching networks",
 * BSTJ 32 (1953); as leaf and spine in Alizadeh and Edsall, "On the data path performance
 * of leaf-spine datacenter fabrics", IEEE HOTI 2013.
 *
 * With P hosts per leaf of n NICs at rate h, U uplinks per leaf at rate f, S spines,
 * L leaves, H hosts:
 *     H = L x P        (or a last leaf that is not full, when all three are given)
 *     U = S x parallel links
 *     oversubscription N : M = P x n x h : U x f
 * Every equation is solved for what is missing, exactly, or is checked.  Counts have 20
 * bits, n 16, rates 47, N and M 31: no product has more than 114.
 */
#include <config.h>

#include "topologies/topo.h"

#include <inttypes.h>

/* The table's row of a count. */
#define COUNT(field, maximum, what)                                                      \
    {                                                                                    \
        .name = #field, .kind = PARAM_INTEGER,                                           \
        .offset = offsetof(struct topo_leafspine, field), .unit = "", .def = TOPO_UNSET, \
        .min = 1, .max = maximum, .special = "computed",                                 \
        .source = "from the others when not given; the limits of topo.h", .doc = what    \
    }

static const struct param leafspine_params[] = {
    COUNT(hosts, TOPO_MAX_PORTS / 2, "hosts in all; leaves x hosts_per_leaf"),
    COUNT(leaves, TOPO_MAX_NODE_PORTS, "leaf switches"),
    COUNT(hosts_per_leaf, TOPO_MAX_NODE_PORTS, "hosts on each leaf"),
    COUNT(spines, TOPO_MAX_NODE_PORTS, "spine switches; uplinks_per_leaf when not given"),
    COUNT(uplinks_per_leaf, TOPO_MAX_NODE_PORTS,
          "links from each leaf to spines; a multiple of spines"),
    {.name = "oversubscription",
     .kind = PARAM_RATIO,
     .offset = offsetof(struct topo_leafspine, oversubscription),
     .unit = "",
     .def = TOPO_UNSET,
     .min = PARAM_RATIO_OF(1, PARAM_RATIO_MAX),
     .max = PARAM_RATIO_OF(PARAM_RATIO_MAX, 1),
     .special = "computed",
     .source = "from the others when not given",
     .doc = "rate of a full leaf's links to hosts : to spines"},
    {.name = NULL},
};

/* "16 hosts_per_leaf x 1 NIC x 100Gbps" */
static char *
down_text(const struct topo_leafspine *p, const struct topo_input *input)
{
    char rate[TOPO_TEXT_BYTES];

    return g_strdup_printf("%" PRId64 " hosts_per_leaf x %" PRId64 " NIC%s x %s",
                           p->hosts_per_leaf, input->nics_per_host,
                           input->nics_per_host == 1 ? "" : "s",
                           topo_rate_text__(rate, input->host_link.rate_bps));
}

/* What is wrong with 'num' / 'den' as the count 'what', computed as 'sum' says from
 * 'from' at the given oversubscription. */
static gboolean
check_quotient(const char *what, const char *sum, __int128 num, __int128 den,
               const char *from, __int128 multiple, int64_t ratio, GError **error)
{
    char a[TOPO_TEXT_BYTES], b[TOPO_TEXT_BYTES], c[TOPO_TEXT_BYTES];
    __int128 common = topo_gcd__(num, den);

    if (num % den != 0) {
        g_set_error(
            error, TOPO_ERROR, TOPO_ERROR_ARITHMETIC,
            "topology: %s = %s = %s/%s is no whole number; at oversubscription %" PRId64
            ":%" PRId64 " %s must be a multiple of %s",
            what, sum, topo_wide_text__(a, num / common),
            topo_wide_text__(b, den / common), PARAM_RATIO_N(ratio), PARAM_RATIO_M(ratio),
            from, topo_wide_text__(c, multiple));
        return FALSE;
    }
    if (num / den > TOPO_MAX_NODE_PORTS) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                    "topology: %s = %s = %s; allowed up to %d", what, sum,
                    topo_wide_text__(a, num / den), TOPO_MAX_NODE_PORTS);
        return FALSE;
    }
    return TRUE;
}

static gboolean
uplinks_from_ratio(struct topo_leafspine *p, const struct topo_input *input,
                   GError **error)
{
    int64_t n = PARAM_RATIO_N(p->oversubscription),
            m = PARAM_RATIO_M(p->oversubscription);
    __int128 each = (__int128)input->nics_per_host * input->host_link.rate_bps * m;
    __int128 num = p->hosts_per_leaf * each,
             den = (__int128)input->fabric_link.rate_bps * n;
    g_autofree char *down = down_text(p, input), *sum = NULL;
    char rate[TOPO_TEXT_BYTES];

    sum = g_strdup_printf("%s x %" PRId64 " / (%" PRId64 " x %s)", down, m, n,
                          topo_rate_text__(rate, input->fabric_link.rate_bps));
    if (!check_quotient("uplinks_per_leaf", sum, num, den, "hosts_per_leaf",
                        den / topo_gcd__(each, den), p->oversubscription, error)) {
        return FALSE;
    }
    p->uplinks_per_leaf = (int64_t)(num / den);
    return TRUE;
}

static gboolean
hosts_per_leaf_from_ratio(struct topo_leafspine *p, const struct topo_input *input,
                          GError **error)
{
    int64_t n = PARAM_RATIO_N(p->oversubscription),
            m = PARAM_RATIO_M(p->oversubscription);
    __int128 each = (__int128)input->fabric_link.rate_bps * n;
    __int128 num = p->uplinks_per_leaf * each;
    __int128 den = (__int128)input->nics_per_host * input->host_link.rate_bps * m;
    g_autofree char *sum = NULL;
    char fabric[TOPO_TEXT_BYTES], host[TOPO_TEXT_BYTES];

    sum = g_strdup_printf("%" PRId64 " uplinks_per_leaf x %s x %" PRId64 " / (%" PRId64
                          " x %" PRId64 " NIC%s x %s)",
                          p->uplinks_per_leaf,
                          topo_rate_text__(fabric, input->fabric_link.rate_bps), n, m,
                          input->nics_per_host, input->nics_per_host == 1 ? "" : "s",
                          topo_rate_text__(host, input->host_link.rate_bps));
    if (!check_quotient("hosts_per_leaf", sum, num, den, "uplinks_per_leaf",
                        den / topo_gcd__(each, den), p->oversubscription, error)) {
        return FALSE;
    }
    p->hosts_per_leaf = (int64_t)(num / den);
    return TRUE;
}

/* hosts_per_leaf, and uplinks_per_leaf where that is needed for it. */
static gboolean
solve_hosts_per_leaf(struct topo_leafspine *p, const struct topo_input *input,
                     GError **error)
{
    if (p->hosts_per_leaf != TOPO_UNSET) {
        return TRUE;
    }
    if (p->hosts != TOPO_UNSET && p->leaves != TOPO_UNSET) {
        int64_t over = p->hosts % p->leaves, whole = p->hosts / p->leaves;

        if (over == 0) {
            p->hosts_per_leaf = whole;
            return TRUE;
        }
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_ARITHMETIC,
                    "topology: hosts %" PRId64 " over leaves %" PRId64 " leave %" PRId64
                    " (%" PRId64 " x %" PRId64 " = %" PRId64
                    "); hosts must be a multiple of leaves, or hosts_per_leaf given too",
                    p->hosts, p->leaves, over, p->leaves, whole, p->leaves * whole);
        return FALSE;
    }
    if (p->uplinks_per_leaf == TOPO_UNSET) {
        p->uplinks_per_leaf = p->spines;
    }
    if (p->uplinks_per_leaf != TOPO_UNSET && p->oversubscription != TOPO_UNSET) {
        return hosts_per_leaf_from_ratio(p, input, error);
    }
    g_set_error(error, TOPO_ERROR, TOPO_ERROR_MISSING,
                "topology: hosts_per_leaf is not given and does not follow; allowed are "
                "hosts_per_leaf, or hosts and leaves, or oversubscription and "
                "uplinks_per_leaf or spines");
    return FALSE;
}

static gboolean
solve_uplinks(struct topo_leafspine *p, const struct topo_input *input, GError **error)
{
    if (p->uplinks_per_leaf == TOPO_UNSET && p->oversubscription != TOPO_UNSET) {
        return uplinks_from_ratio(p, input, error);
    }
    if (p->uplinks_per_leaf == TOPO_UNSET) {
        p->uplinks_per_leaf = p->spines;
    }
    if (p->uplinks_per_leaf == TOPO_UNSET) {
        g_set_error(
            error, TOPO_ERROR, TOPO_ERROR_MISSING,
            "topology: uplinks_per_leaf is not given and does not follow; allowed are "
            "uplinks_per_leaf, or spines, or oversubscription");
        return FALSE;
    }
    return TRUE;
}

static gboolean
solve_spines(struct topo_leafspine *p, GError **error)
{
    if (p->spines == TOPO_UNSET) {
        p->spines = p->uplinks_per_leaf;
    }
    int64_t over = p->uplinks_per_leaf % p->spines,
            whole = p->uplinks_per_leaf / p->spines;

    if (over != 0) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_ARITHMETIC,
                    "topology: uplinks_per_leaf %" PRId64 " over spines %" PRId64
                    " leave %" PRId64 " (%" PRId64 " x %" PRId64 " = %" PRId64
                    "); uplinks_per_leaf must be a multiple of spines",
                    p->uplinks_per_leaf, p->spines, over, p->spines, whole,
                    p->spines * whole);
        return FALSE;
    }
    return TRUE;
}

/* Checks the oversubscription, or computes it; one whose terms do not fit stays unset. */
static gboolean
solve_ratio(struct topo_leafspine *p, const struct topo_input *input, GError **error)
{
    __int128 down =
        (__int128)p->hosts_per_leaf * input->nics_per_host * input->host_link.rate_bps;
    __int128 up = (__int128)p->uplinks_per_leaf * input->fabric_link.rate_bps;
    __int128 common = topo_gcd__(down, up);
    char rate[TOPO_TEXT_BYTES], a[TOPO_TEXT_BYTES], b[TOPO_TEXT_BYTES];

    if (p->oversubscription == TOPO_UNSET) {
        if (down / common <= PARAM_RATIO_MAX && up / common <= PARAM_RATIO_MAX) {
            p->oversubscription =
                PARAM_RATIO_OF((int64_t)(down / common), (int64_t)(up / common));
        }
        return TRUE;
    }
    if (down * PARAM_RATIO_M(p->oversubscription) ==
        up * PARAM_RATIO_N(p->oversubscription)) {
        return TRUE;
    }
    g_autofree char *sum = down_text(p, input);

    g_set_error(error, TOPO_ERROR, TOPO_ERROR_ARITHMETIC,
                "topology: %s : %" PRId64 " uplinks_per_leaf x %s = %s:%s, not the "
                "oversubscription %" PRId64 ":%" PRId64,
                sum, p->uplinks_per_leaf,
                topo_rate_text__(rate, input->fabric_link.rate_bps),
                topo_wide_text__(a, down / common), topo_wide_text__(b, up / common),
                PARAM_RATIO_N(p->oversubscription), PARAM_RATIO_M(p->oversubscription));
    return FALSE;
}

/* hosts and leaves, from hosts_per_leaf. */
static gboolean
solve_hosts(struct topo_leafspine *p, GError **error)
{
    int64_t full = p->hosts_per_leaf;

    if (p->hosts == TOPO_UNSET && p->leaves == TOPO_UNSET) {
        g_set_error(
            error, TOPO_ERROR, TOPO_ERROR_MISSING,
            "topology: hosts and leaves are not given and do not follow; allowed are "
            "hosts or leaves");
        return FALSE;
    }
    if (p->hosts == TOPO_UNSET) {
        p->hosts = p->leaves * full;
        return TRUE;
    }
    int64_t over = p->hosts % full, need = p->hosts / full + (over != 0);

    if (p->leaves == TOPO_UNSET) {
        if (over == 0) {
            p->leaves = need;
            return TRUE;
        }
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_ARITHMETIC,
                    "topology: hosts %" PRId64 " over leaves of %" PRId64
                    " hosts_per_leaf leave %" PRId64 " (%" PRId64 " x %" PRId64
                    " = %" PRId64
                    "); hosts must be a multiple of hosts_per_leaf, or leaves given too "
                    "(%" PRId64 ": the last one holds %" PRId64 ")",
                    p->hosts, full, over, need - 1, full, (need - 1) * full, need, over);
        return FALSE;
    }
    if (p->leaves != need) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_ARITHMETIC,
                    "topology: hosts %" PRId64 " at %" PRId64
                    " hosts_per_leaf need %" PRId64 " leaves (%" PRId64 " x %" PRId64
                    " = %" PRId64 "), not %" PRId64,
                    p->hosts, full, need, need, full, need * full, p->leaves);
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_limits(const struct topo_leafspine *p, const struct topo_input *input,
             GError **error)
{
    int64_t nics = input->nics_per_host, parallel = p->uplinks_per_leaf / p->spines;
    int64_t leaf_ports = p->hosts_per_leaf * nics + p->uplinks_per_leaf;
    int64_t spine_ports = p->leaves * parallel;
    int64_t n_ports = 2 * (p->hosts * nics + p->leaves * p->uplinks_per_leaf);
    int64_t n_routes = (p->leaves + p->spines) * p->hosts * nics;

    if (leaf_ports > TOPO_MAX_NODE_PORTS) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                    "topology: a leaf has hosts_per_leaf %" PRId64 " x nics %" PRId64
                    " + uplinks_per_leaf %" PRId64 " = %" PRId64
                    " ports; allowed up to %d",
                    p->hosts_per_leaf, nics, p->uplinks_per_leaf, leaf_ports,
                    TOPO_MAX_NODE_PORTS);
        return FALSE;
    }
    if (spine_ports > TOPO_MAX_NODE_PORTS) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                    "topology: a spine has leaves %" PRId64 " x parallel links %" PRId64
                    " = %" PRId64 " ports; allowed up to %d",
                    p->leaves, parallel, spine_ports, TOPO_MAX_NODE_PORTS);
        return FALSE;
    }
    if (n_ports > TOPO_MAX_PORTS) {
        g_set_error(
            error, TOPO_ERROR, TOPO_ERROR_LIMIT,
            "topology: 2 x (hosts %" PRId64 " x nics %" PRId64 " + leaves %" PRId64
            " x uplinks_per_leaf %" PRId64 ") = %" PRId64 " ports; allowed up to %d",
            p->hosts, nics, p->leaves, p->uplinks_per_leaf, n_ports, TOPO_MAX_PORTS);
        return FALSE;
    }
    if (n_routes > TOPO_MAX_ROUTES) {
        g_set_error(error, TOPO_ERROR, TOPO_ERROR_LIMIT,
                    "topology: (leaves %" PRId64 " + spines %" PRId64 ") x hosts %" PRId64
                    " x nics %" PRId64 " = %" PRId64 " routes; allowed up to %" PRId64,
                    p->leaves, p->spines, p->hosts, nics, n_routes, TOPO_MAX_ROUTES);
        return FALSE;
    }
    return TRUE;
}

static gboolean
leafspine_resolve(void *params, const struct topo_input *input, GError **error)
{
    struct topo_leafspine p = *(const struct topo_leafspine *)params;

    if (!topo_check_nics__(input, error) ||
        !topo_check_rate__("topology.host_link", input->host_link.rate_bps, error) ||
        !topo_check_rate__("topology.fabric_link", input->fabric_link.rate_bps, error) ||
        !solve_hosts_per_leaf(&p, input, error) || !solve_uplinks(&p, input, error) ||
        !solve_spines(&p, error) || !solve_ratio(&p, input, error) ||
        !solve_hosts(&p, error) || !check_limits(&p, input, error)) {
        return FALSE;
    }
    *(struct topo_leafspine *)params = p;
    return TRUE;
}

static void
leafspine_build(struct net *net, const void *params, const struct topo_input *input)
{
    const struct topo_leafspine *p = params;
    uint32_t first_leaf = (uint32_t)p->hosts,
             first_spine = first_leaf + (uint32_t)p->leaves;
    int64_t parallel = p->uplinks_per_leaf / p->spines;

    topo_add_hosts__(net, p->hosts, p->hosts_per_leaf);
    topo_add_switches__(net, "leaf", p->leaves, 0, 1);
    topo_add_switches__(net, "spine", p->spines, (uint32_t)p->leaves, 2);
    for (int64_t h = 0; h < p->hosts; h++) {
        topo_add_links__(net, (uint32_t)h, first_leaf + (uint32_t)(h / p->hosts_per_leaf),
                         input->nics_per_host, &input->host_link);
    }
    for (uint32_t leaf = first_leaf; leaf < first_spine; leaf++) {
        for (uint32_t s = 0; s < p->spines; s++) {
            topo_add_links__(net, leaf, first_spine + s, parallel, &input->fabric_link);
        }
    }
}

const struct topo_ops topo_leafspine_ops = {
    .name = "leaf-spine",
    .source = "Clos, BSTJ 1953; Alizadeh and Edsall, HOTI 2013",
    .doc = "leaves with hosts, each linked to every spine",
    .has_fabric = true,
    .params_bytes = sizeof(struct topo_leafspine),
    .params = leafspine_params,
    .resolve = leafspine_resolve,
    .build = leafspine_build,
};
