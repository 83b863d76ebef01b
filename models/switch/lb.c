/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lb.c - flowlets, spraying, the least loaded port; see lb.h.
 * Called by switch.c for each packet of a switch that does not do ECMP.
 *
 * Invariant: 'turn' and 'flowlets' have room for every set of every table the switch
 * forwards by.
 */
#include <config.h>

#include "models/switch/lb.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/mem.h"
#include "sim/rng.h"

/* A flowlet of a set of ports. */
struct flowlet {
    int64_t until_ps; /* its flow must have paused until then to move; 0: none yet */
    uint32_t n;       /* flowlets that began here */
    uint16_t member;  /* of the set */
};

struct lb {
    struct lb_params params;
    uint64_t key;             /* random stream */
    uint64_t n_drawn;         /* LB_RANDOM */
    uint32_t n_sets;          /* there is room for */
    uint16_t *turn;           /* owned, by set: member that is next, LB_ROUND_ROBIN */
    struct flowlet *flowlets; /* owned, by set: flowlet_entries of each */
};

struct lb *
lb_new(const struct lb_params *params, uint64_t seed, const char *path)
{
    struct lb *lb;

    if (params->kind == LB_ECMP) {
        return NULL;
    }
    lb = mem_zero(1, sizeof *lb);
    lb->params = *params;
    lb->key = rng_key(seed, path, "load balancing");
    return lb;
}

void
lb_free(struct lb *lb)
{
    if (lb) {
        free(lb->turn);
        free(lb->flowlets);
        free(lb);
    }
}

/* Switches that all began with their first port would meet there. */
static void
begin_turns(struct lb *lb, const struct route_table *table)
{
    lb->turn = mem_resize(lb->turn, table->n_sets, sizeof *lb->turn);
    for (uint32_t s = lb->n_sets; s < table->n_sets; s++) {
        lb->turn[s] = (uint16_t)rng_below(lb->key, s, table->sets[s].n);
    }
}

static void
begin_flowlets(struct lb *lb, const struct route_table *table)
{
    size_t each = (size_t)lb->params.flowlet_entries;

    lb->flowlets = mem_resize(lb->flowlets, table->n_sets * each, sizeof *lb->flowlets);
    for (size_t i = lb->n_sets * each; i < table->n_sets * each; i++) {
        lb->flowlets[i] = (struct flowlet){.until_ps = 0};
    }
}

void
lb_prepare(struct lb *lb, const struct route_table *table)
{
    if (table->n_sets <= lb->n_sets) {
        return;
    }
    if (lb->params.kind == LB_SPRAY && lb->params.spray == LB_ROUND_ROBIN) {
        begin_turns(lb, table);
    } else if (lb->params.kind == LB_FLOWLET) {
        begin_flowlets(lb, table);
    }
    lb->n_sets = table->n_sets;
}

/* ---- choices ------------------------------------------------------------------------ */

/* 'hash' as one of 'n' members. */
static inline uint32_t
member_of(uint32_t hash, uint32_t n)
{
    return (uint32_t)((uint64_t)hash * n >> 32);
}

static uint32_t
next_turn(struct lb *lb, uint32_t set, uint16_t n)
{
    uint16_t *turn = &lb->turn[set];
    uint32_t member = *turn;

    if (member >= n) { /* of another table, whose set had more ports */
        member = 0;
    }
    *turn = (uint16_t)(member + 1 < n ? member + 1 : 0);
    return member;
}

/* Bytes that wait at 'port', in quanta; a port whose link is down is never the least. */
static int64_t
load_of(const struct lb *lb, const struct port *port)
{
    int64_t bytes = 0;

    if (port->special & PORT_DOWN) {
        return INT64_MAX;
    }
    for (uint8_t left = port->ready; left; left &= (uint8_t)(left - 1)) {
        bytes += port->out[__builtin_ctz(left)].queue.bytes;
    }
    return bytes / lb->params.load_quantum_bytes;
}

/* The least loaded member; of several the one that the hash comes to first. */
static uint32_t
least_loaded(const struct lb *lb, const uint16_t members[], uint16_t n,
             const struct port *ports, uint32_t hash)
{
    uint32_t first = member_of(hash, n), best = first;
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = first + i < n ? first + i : first + i - n;
        int64_t load = load_of(lb, &ports[members[at]]);

        if (load < least) {
            least = load;
            best = at;
        }
    }
    return best;
}

static uint32_t
flowlet_member(struct lb *lb, uint32_t set, const uint16_t members[], uint16_t n,
               const struct port *ports, uint32_t hash, int64_t now_ps)
{
    uint32_t entry = member_of(route_mix(hash), (uint32_t)lb->params.flowlet_entries);
    struct flowlet *flowlet =
        &lb->flowlets[set * (size_t)lb->params.flowlet_entries + entry];

    if (now_ps >= flowlet->until_ps || flowlet->member >= n) {
        /* The first one goes where ECMP would send it. */
        uint32_t fresh = flowlet->n ? route_mix(hash + flowlet->n * 0x9e3779b9u) : hash;

        flowlet->n++;
        flowlet->member = (uint16_t)(lb->params.flowlet_path == LB_LEAST_LOADED
                                         ? least_loaded(lb, members, n, ports, fresh)
                                         : member_of(fresh, n));
    }
    flowlet->until_ps = now_ps + lb->params.flowlet_gap_ps;
    return flowlet->member;
}

outlined uint16_t
lb_pick(struct lb *lb, const struct route_table *table, const struct port *ports,
        const struct packet *pkt, uint32_t seed, int64_t now_ps)
{
    uint16_t id = table->set_of_nic[pkt->dst_nic];

    if (id == ROUTE_NONE) {
        return ROUTE_NONE;
    }
    const struct route_set *set = &table->sets[id];
    const uint16_t *members = &table->ports[set->first];
    uint32_t hash = route_mix(pkt->tp.flow_hash ^ seed);
    uint32_t member = 0;

    if (set->n == 1) {
        return members[0];
    }
    if (pkt->payload_bytes == 0) {
        return members[member_of(hash, set->n)];
    }
    switch ((enum lb_kind)lb->params.kind) {
    case LB_ECMP: /* has no struct lb */
        assert(false);
        break;
    case LB_FLOWLET:
        member = flowlet_member(lb, id, members, set->n, ports, hash, now_ps);
        break;
    case LB_SPRAY:
        member = lb->params.spray == LB_RANDOM
                     ? (uint32_t)rng_below(lb->key, lb->n_drawn++, set->n)
                     : next_turn(lb, id, set->n);
        break;
    case LB_ADAPTIVE:
        member = least_loaded(lb, members, set->n, ports, hash);
        break;
    }
    return members[member];
}
