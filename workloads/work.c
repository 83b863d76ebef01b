/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * work.c - which workloads there are, and the life of one.
 * The list is work_list.def; what a workload does is its own file's.
 */
#include <config.h>

#include "workloads/work.h"

#include <string.h>

#define WORK(name) extern const struct work_ops work_##name##_ops;
#include "workloads/work_list.def"
#undef WORK

#define WORK(name) &work_##name##_ops,
const struct work_ops *const work_list[] = {
#include "workloads/work_list.def"
    NULL,
};
#undef WORK

GQuark
work_error_quark(void)
{
    return g_quark_from_static_string("work-error");
}

const struct work_ops *
work_find(const char *name)
{
    for (size_t i = 0; work_list[i]; i++) {
        if (strcmp(work_list[i]->name, name) == 0) {
            return work_list[i];
        }
    }
    return NULL;
}

bool
work_has_route(const struct net *net, uint32_t from, uint32_t to)
{
    const struct port *peer = &net->ports[net->nics[from].port->peer];

    if (peer->is_nic) {
        return peer->owner == &net->nics[to];
    }
    const struct fabric_switch *sw = peer->owner;

    return sw->routes->set_of_nic[to] != ROUTE_NONE;
}

enum qp_verb
work_qp_verb(enum work_verb verb)
{
    switch (verb) {
    case WORK_WRITE:
        return QP_WRITE;
    case WORK_WRITE_IMM:
        return QP_WRITE_IMM;
    case WORK_SEND:
        return QP_SEND;
    case WORK_SEND_IMM:
        return QP_SEND_IMM;
    case WORK_READ:
        return QP_READ;
    }
    g_assert_not_reached();
}

struct work *
work_new(struct net *net, const struct work_params *params, GError **error)
{
    g_assert((size_t)params->kind + 1 < G_N_ELEMENTS(work_list));
    const struct work_ops *ops = work_list[params->kind];
    void *state = ops->new (net, params, error);

    if (!state) {
        return NULL;
    }
    struct work *work = g_new(struct work, 1);

    *work = (struct work){.ops = ops, .state = state};
    return work;
}

void
work_start(struct work *work)
{
    work->ops->start(work->state);
}

void
work_free(struct work *work)
{
    if (work) {
        work->ops->free(work->state);
        g_free(work);
    }
}
