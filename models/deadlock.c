/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * deadlock.c - the greatest set of ports that keep each other paused, see deadlock.h.
 *
 * Begins with all ports that have been paused long enough and takes out, until nothing
 * changes, those whose account would let them go if all packets but those at ports of the
 * set had left.  What remains can never move; each of it waits for another one, so going
 * from one to the next must end in a cycle.
 */
#include <config.h>

#include "models/deadlock.h"

#include <stdlib.h>

#include "models/net.h"
#include "sim/mem.h"

/* One class at one time. */
struct look {
    const struct net *net;
    unsigned cls;
    int64_t now_ps, standing_ps;
    uint8_t *member; /* owned: by port, 1: still taken for deadlocked */
    uint32_t n_members;
    int64_t *stuck; /* owned: by ingress port, bytes of it queued at members */
};

static const struct fabric_switch *
switch_of(const struct port *port)
{
    return port->owner;
}

static bool
is_candidate(const struct look *look, const struct port *port)
{
    const struct out_turn *turn = &port->turn[look->cls];

    if (port->is_nic || !port->out[look->cls].queue.head ||
        !port_is_paused(port, look->cls, look->now_ps) ||
        turn->pause_from_ps > look->now_ps - look->standing_ps) {
        return false;
    }
    /* A NIC always takes what comes, sooner or later. */
    const struct port *peer = &look->net->ports[port->peer];

    return !peer->is_nic && peer->in[look->cls].xoff;
}

static void
remove_member(struct look *look, uint32_t id)
{
    look->member[id] = 0;
    look->n_members--;
}

static bool
has_member(const struct look *look, const struct fabric_switch *sw)
{
    for (uint16_t p = 0; p < sw->n_ports; p++) {
        if (look->member[sw->ports[p].id]) {
            return true;
        }
    }
    return false;
}

/* Takes out members whose peer's switch has none: cheap, and enough where routes go up
 * and then down. */
static void
prune(struct look *look)
{
    bool changed = true;

    while (changed && look->n_members) {
        changed = false;
        for (uint32_t i = 0; i < look->net->n_ports; i++) {
            if (look->member[i] &&
                !has_member(look,
                            switch_of(&look->net->ports[look->net->ports[i].peer]))) {
                remove_member(look, i);
                changed = true;
            }
        }
    }
}

/* Bytes of each account of 'sw' that lie at members. */
static void
count_stuck(struct look *look, const struct fabric_switch *sw)
{
    for (uint16_t p = 0; p < sw->n_ports; p++) {
        look->stuck[sw->ports[p].id] = 0;
    }
    for (uint16_t p = 0; p < sw->n_ports; p++) {
        const struct port *out = &sw->ports[p];

        if (!look->member[out->id]) {
            continue;
        }
        for (const struct packet *pkt = out->out[look->cls].queue.head; pkt;
             pkt = pkt->next) {
            look->stuck[sw->ports[pkt->in_port].id] += pkt->size_bytes;
        }
    }
}

/* The account of ingress 'in' when all but what is stuck has left: headroom goes first. */
static struct in_class
drained(const struct look *look, const struct port *in)
{
    struct in_class account = in->in[look->cls];
    int64_t stuck = look->stuck[in->id];
    int64_t leaves = account.used_bytes + account.headroom_bytes - stuck;

    account.headroom_bytes -=
        leaves < account.headroom_bytes ? leaves : account.headroom_bytes;
    account.used_bytes = stuck - account.headroom_bytes;
    return account;
}

/* The buffer of 'sw' when all but what is stuck has left. */
static struct buffer
drained_buffer(const struct look *look, const struct fabric_switch *sw)
{
    struct buffer buffer = sw->buffer;

    buffer.shared_used = 0;
    for (uint16_t p = 0; p < sw->n_ports; p++) {
        struct in_class account = drained(look, &sw->ports[p]);

        buffer.shared_used += buffer_shared_of(&account, buffer.reserved_bytes);
    }
    return buffer;
}

/* Takes out the members that an account of 'sw' would let go.  Were there any? */
static bool
release(struct look *look, const struct fabric_switch *sw)
{
    bool any = false;

    count_stuck(look, sw);
    const struct buffer buffer = drained_buffer(look, sw);

    for (uint16_t p = 0; p < sw->n_ports; p++) {
        const struct port *in = &sw->ports[p];
        const struct in_class account = drained(look, in);

        if (look->member[in->peer] && buffer_may_resume(&buffer, &account)) {
            remove_member(look, in->peer);
            any = true;
        }
    }
    return any;
}

static void
find_members(struct look *look)
{
    const struct net *net = look->net;
    bool changed = true;

    look->n_members = 0;
    for (uint32_t i = 0; i < net->n_ports; i++) {
        look->member[i] = is_candidate(look, &net->ports[i]);
        look->n_members += look->member[i];
    }
    prune(look);
    while (changed && look->n_members) {
        changed = false;
        for (uint32_t s = 0; s < net->n_switches; s++) {
            changed |= release(look, &net->switches[s]);
        }
    }
}

static bool
queue_holds(const struct port *out, unsigned cls, uint16_t in_port)
{
    for (const struct packet *pkt = out->out[cls].queue.head; pkt; pkt = pkt->next) {
        if (pkt->in_port == in_port) {
            return true;
        }
    }
    return false;
}

/* The lowest member that the member 'id' waits for: its peer's packets are queued
 * there. */
static uint32_t
next_member(const struct look *look, uint32_t id)
{
    const struct port *peer = &look->net->ports[look->net->ports[id].peer];
    const struct fabric_switch *sw = switch_of(peer);

    for (uint16_t p = 0; p < sw->n_ports; p++) {
        if (look->member[sw->ports[p].id] &&
            queue_holds(&sw->ports[p], look->cls, peer->index)) {
            return sw->ports[p].id;
        }
    }
    /* Without packets at a member the account would have let it go. */
    abort();
}

static void
add_hop(const struct look *look, uint32_t id, struct deadlock *found)
{
    const struct port *port = &look->net->ports[id];
    const struct in_class *account = &look->net->ports[port->peer].in[look->cls];
    int64_t from_ps = port->turn[look->cls].pause_from_ps;

    found->hops[found->n_hops++] = (struct deadlock_hop){
        .port = id,
        .queue_bytes = port->out[look->cls].queue.bytes,
        .waiting_bytes = account->used_bytes + account->headroom_bytes,
        .dst_nic = port->out[look->cls].queue.head->dst_nic};
    found->since_ps = from_ps > found->since_ps ? from_ps : found->since_ps;
}

/* The cycle that the lowest member leads to, from its own lowest port on. */
static void
find_cycle(const struct look *look, struct deadlock *found)
{
    uint8_t *seen = mem_zero(look->net->n_ports, sizeof *seen);
    uint32_t at = 0, first;

    while (!look->member[at]) {
        at++;
    }
    while (!seen[at]) {
        seen[at] = 1;
        at = next_member(look, at);
    }
    first = at;
    for (uint32_t on = next_member(look, at); on != at; on = next_member(look, on)) {
        first = on < first ? on : first;
    }
    *found = (struct deadlock){
        .hops = mem_zero(look->n_members, sizeof *found->hops),
        .n_ports = look->n_members,
        .cls = look->cls,
        .found_ps = look->now_ps,
    };
    at = first;
    do {
        add_hop(look, at, found);
        at = next_member(look, at);
    } while (at != first);
    free(seen);
}

static uint8_t
lossless_classes(const struct net *net)
{
    uint8_t classes = 0;

    for (uint32_t s = 0; s < net->n_switches; s++) {
        classes |= net->switches[s].lossless;
    }
    return classes;
}

bool
deadlock_find(const struct net *net, int64_t now_ps, int64_t standing_ps,
              struct deadlock *found)
{
    struct look look = {.net = net,
                        .now_ps = now_ps,
                        .standing_ps = standing_ps,
                        .member = mem_zero(net->n_ports, sizeof *look.member),
                        .stuck = mem_zero(net->n_ports, sizeof *look.stuck)};

    deadlock_clear(found);
    for (uint8_t left = lossless_classes(net); left && !found->n_hops;
         left &= (uint8_t)(left - 1)) {
        look.cls = (unsigned)__builtin_ctz(left);
        find_members(&look);
        if (look.n_members) {
            find_cycle(&look, found);
        }
    }
    free(look.member);
    free(look.stuck);
    return found->n_hops > 0;
}

void
deadlock_clear(struct deadlock *deadlock)
{
    free(deadlock->hops);
    *deadlock = (struct deadlock){.hops = NULL};
}
