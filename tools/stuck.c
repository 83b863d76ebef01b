/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stuck.c - deadlocks and watchdogs in words, see stuck.h.
 */
#include <config.h>

#include "tools/stuck.h"

#include "models/switch/watchdog.h"
#include "tools/results/text.h"

/* Lines of one kind; more are counted. */
#define MOST_LINES 200

static const char *
node_of_port(const struct net *net, uint32_t id)
{
    const struct port *port = &net->ports[id];
    const struct fabric_switch *sw = port->owner;
    const struct nic *nic = port->owner;

    return port->is_nic ? net->nodes[net->node_of_host[nic->host]].name : sw->name;
}

/* "leaf0:1".  Owned by the caller. */
static char *
port_name(const struct net *net, uint32_t id)
{
    return g_strdup_printf("%s:%u", node_of_port(net, id), net->ports[id].index);
}

static const char *
host_of_nic(const struct net *net, uint32_t nic)
{
    return net->nodes[net->node_of_host[net->nics[nic].host]].name;
}

static char *
time_text(int64_t time_ps)
{
    GString *text = g_string_new(NULL);

    text_us(text, time_ps);
    g_string_append(text, " us");
    return g_string_free(text, FALSE);
}

/* ---- deadlock ------------------------------------------------------------------------- */

/* Does the switch of 'port' send what is for 'nic' by that port, maybe among others? */
static bool
leads(const struct net *net, uint32_t port, uint32_t nic)
{
    const struct fabric_switch *sw = net->ports[port].owner;
    uint16_t n;
    const uint16_t *ports = route_table_get(sw->routes, nic, &n);

    for (uint16_t i = 0; i < n; i++) {
        if (ports[i] == net->ports[port].index) {
            return true;
        }
    }
    return false;
}

/* A NIC whose packets go round the whole cycle by the routes; UINT32_MAX: none. */
static uint32_t
find_loop(const struct net *net, const struct deadlock *deadlock)
{
    for (uint32_t k = 0; k < deadlock->n_hops; k++) {
        uint32_t nic = deadlock->hops[k].dst_nic, h = 0;

        while (h < deadlock->n_hops && leads(net, deadlock->hops[h].port, nic)) {
            h++;
        }
        if (h == deadlock->n_hops) {
            return nic;
        }
    }
    return UINT32_MAX;
}

/* "s0 > s1 > s0" */
static char *
ring_text(const struct net *net, const struct deadlock *deadlock)
{
    GString *text = g_string_new(NULL);

    for (uint32_t h = 0; h < deadlock->n_hops && h < MOST_LINES; h++) {
        g_string_append_printf(text, "%s > ", node_of_port(net, deadlock->hops[h].port));
    }
    g_string_append(text, node_of_port(net, deadlock->hops[0].port));
    return g_string_free(text, FALSE);
}

/* What made it, and what helps. */
static void
say_remedy(const struct net *net, const struct deadlock *deadlock, GPtrArray *lines)
{
    uint32_t nic = find_loop(net, deadlock);
    g_autofree char *ring = ring_text(net, deadlock);

    if (nic != UINT32_MAX) {
        g_ptr_array_add(lines, g_strdup_printf("packets for %s go round and round: %s",
                                               host_of_nic(net, nic), ring));
        g_ptr_array_add(
            lines, g_strdup("what helps: routes without that loop, a smaller nic.ttl, or "
                            "switch.watchdog \"drop\", which breaks it; docs/stuck.md"));
        return;
    }
    g_ptr_array_add(lines, g_strdup_printf("no packet goes round, but buffers wait in a "
                                           "ring: %s",
                                           ring));
    g_ptr_array_add(lines,
                    g_strdup("what helps: routes that go up and then down only, a second "
                             "lossless class for flows that close the ring, or "
                             "switch.watchdog \"drop\", which breaks it; docs/stuck.md"));
}

static void
say_hop(const struct net *net, const struct deadlock *deadlock, uint32_t h,
        struct run_result *result)
{
    const struct deadlock_hop *hop = &deadlock->hops[h];
    const struct deadlock_hop *next = &deadlock->hops[(h + 1) % deadlock->n_hops];
    g_autofree char *here = port_name(net, hop->port);
    g_autofree char *peer = port_name(net, net->ports[hop->port].peer);
    g_autofree char *on = port_name(net, next->port);
    g_autoptr(GString) held = g_string_new(NULL), queued = g_string_new(NULL);

    text_size(held, hop->waiting_bytes);
    text_size(queued, hop->queue_bytes);
    g_ptr_array_add(
        result->why,
        g_strdup_printf("%s (%s queued) is paused by %s, whose %s wait for %s", here,
                        queued->str, peer, held->str, on));
}

void
stuck_say_deadlock(const struct net *net, struct run_result *result)
{
    const struct deadlock *deadlock = &net->deadlock;
    g_autofree char *since = time_text(deadlock->since_ps);

    result->deadlock_class = deadlock->cls;
    result->deadlock_since_ps = deadlock->since_ps;
    g_ptr_array_add(result->why,
                    g_strdup_printf("%u ports wait for each other in class %u since %s "
                                    "and can never send again",
                                    deadlock->n_hops, deadlock->cls, since));
    say_remedy(net, deadlock, result->why);
    for (uint32_t h = 0; h < deadlock->n_hops; h++) {
        g_ptr_array_add(result->deadlock, port_name(net, deadlock->hops[h].port));
        if (h < MOST_LINES) {
            say_hop(net, deadlock, h, result);
        }
    }
    if (deadlock->n_ports > deadlock->n_hops) {
        g_ptr_array_add(result->why,
                        g_strdup_printf("%u more ports of switches wait for these",
                                        deadlock->n_ports - deadlock->n_hops));
    }
}

/* ---- notes ---------------------------------------------------------------------------- */

static void
note_queue(const struct net *net, const struct fabric_switch *sw, uint16_t p, unsigned c,
           GPtrArray *notes)
{
    const struct watchdog_queue *queue = &sw->watchdog->queues[p * N_CLASSES + c];
    g_autofree char *port = port_name(net, sw->ports[p].id);
    g_autofree char *since = time_text(queue->since_ps);
    g_autofree char *until =
        queue->struck ? g_strdup("the end") : time_text(queue->until_ps);
    GString *line = g_string_new(NULL);

    g_string_printf(line, "the watchdog of %s struck class %u at %s, until %s", port, c,
                    since, until);
    if (queue->n_strikes > 1) {
        g_string_append_printf(line, " (the last of %u times)", queue->n_strikes);
    }
    if (sw->watchdog->params.action == WATCHDOG_DROP) {
        g_string_append_printf(line, "; %" G_GINT64_FORMAT " packets lost",
                               sw->ports[p].stats[c].lost_watchdog);
    }
    g_ptr_array_add(notes, g_string_free(line, FALSE));
}

static void
note_watchdogs(const struct net *net, struct run_result *result)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < net->n_switches; s++) {
        const struct fabric_switch *sw = &net->switches[s];

        for (uint32_t i = 0; sw->watchdog && i < sw->n_ports * N_CLASSES; i++) {
            uint32_t n_strikes = sw->watchdog->queues[i].n_strikes;

            result->fabric.watchdog_strikes += n_strikes;
            if (n_strikes && n++ < MOST_LINES) {
                note_queue(net, sw, (uint16_t)(i / N_CLASSES), i % N_CLASSES,
                           result->notes);
            }
        }
    }
    if (n > MOST_LINES) {
        g_ptr_array_add(result->notes,
                        g_strdup_printf("... and %u more queues that watchdogs struck",
                                        n - MOST_LINES));
    }
}

void
stuck_note(const struct net *net, struct run_result *result)
{
    const struct deadlock *deadlock = &net->deadlock;

    if (deadlock->n_hops && !net->is_deadlocked) {
        g_autofree char *since = time_text(deadlock->since_ps);
        g_autofree char *ring = ring_text(net, deadlock);

        g_ptr_array_add(
            result->notes,
            g_strdup_printf("class %u was deadlocked from %s on, and was freed "
                            "again: %s",
                            deadlock->cls, since, ring));
    }
    note_watchdogs(net, result);
}
