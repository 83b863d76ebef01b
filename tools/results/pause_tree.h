/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pause_tree.h - who made whom wait: pauses grouped by the congestion they go back to.
 *
 * A pause is told by an ingress port to its peer, an egress port, which stands still.  It
 * has a cause: the egress port whose packet passed the threshold.  Where that one was held by
 * a pause itself, the later pause goes back to the earlier one, else to the port.  So pauses
 * make a forest, and what is built here is that forest with the pauses of a port in the same
 * place made into one node:
 *
 *     leaf0:0 to host0            root: its queue filled by itself
 *       host1:0                   stood still for it
 *       spine0:0 to leaf0         too
 *         leaf1:4 to spine0       stood still because spine0:0 did
 *
 * Where a port stands still because of itself, as in a deadlock, the branch leads back to the
 * node it has already, and that one is a loop.
 */
#ifndef ROCESIM_TOOLS_RESULTS_PAUSE_TREE_H
#define ROCESIM_TOOLS_RESULTS_PAUSE_TREE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* One pause.  Ports are dense ids. */
struct pause {
    int64_t start_ps, length_ps;
    uint32_t port;   /* that told its peer to stop */
    uint32_t paused; /* that peer */
    uint32_t cause;  /* egress port beside 'port' */
    uint8_t cls;
    bool held; /* 'cause' was held by a pause itself */
};

/* An egress port at a place in the tree. */
struct pause_node {
    uint32_t port;
    uint8_t cls;
    bool is_held;                /* of a root: it was held, but no pause says by whom */
    bool is_loop;                /* it stands still because of itself */
    int64_t n_pauses, paused_ps; /* of this port here; of a root 0 if it is no loop */
    int64_t n_all, all_ps;       /* with all below */
    GPtrArray *below;         /* owned: struct pause_node, the longest 'all_ps' first */
    struct pause_node *above; /* borrowed; NULL: a root */
};

struct pause_tree {
    GPtrArray *roots; /* owned: struct pause_node, the longest 'all_ps' first */
    int64_t n_pauses, paused_ps;
};

/* What a branch has reached, its root aside. */
struct pause_reach {
    uint32_t n_ports; /* different ones that stood still */
    uint32_t n_hosts; /* hosts of these */
    uint32_t depth;   /* levels */
};

/* Builds it from 'n' pauses, which are sorted by their start.  O(n log n).  Owned by the
 * caller. */
struct pause_tree *pause_tree_new(struct pause pauses[], guint n);
void pause_tree_free(struct pause_tree *tree); /* accepts NULL */

/* What 'node' has reached; 'host_of' gives the host of a port's NIC, UINT32_MAX for a
 * switch's. */
struct pause_reach pause_tree_reach(const struct pause_node *node,
                                    uint32_t (*host_of)(const void *ctx, uint32_t port),
                                    const void *ctx);

/* The same of the whole tree. */
struct pause_reach pause_tree_reach_all(const struct pause_tree *tree,
                                        uint32_t (*host_of)(const void *ctx,
                                                            uint32_t port),
                                        const void *ctx);

#endif
