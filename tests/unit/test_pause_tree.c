/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_pause_tree.c - pauses go back to the congestion that caused them.
 *
 * Ports are numbers: 10 h is the NIC of host h, others belong to switches.  A pause is told
 * by port p to p + 1 unless said otherwise.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/rng.h"
#include "tools/results/pause_tree.h"

static uint32_t
host_of(const void *ctx, uint32_t port)
{
    (void)ctx;
    return port % 10 == 0 ? port / 10 : UINT32_MAX;
}

static struct pause
stop(int64_t start, int64_t length, uint32_t cause, uint32_t paused, bool held)
{
    return (struct pause){.start_ps = start,
                          .length_ps = length,
                          .port = paused + 1000,
                          .paused = paused,
                          .cause = cause,
                          .cls = 3,
                          .held = held};
}

static const struct pause_node *
below(const GPtrArray *nodes, guint i)
{
    assert_true(i < nodes->len);
    return g_ptr_array_index(nodes, i);
}

static void
is_node(const struct pause_node *node, uint32_t port, int64_t n, int64_t paused_ps,
        int64_t all_ps)
{
    assert_int_equal(node->port, port);
    assert_int_equal(node->n_pauses, n);
    assert_int_equal(node->paused_ps, paused_ps);
    assert_int_equal(node->all_ps, all_ps);
}

/* Port 1 is congested; it stops host 1 and spine port 2, and that one, held, host 3. */
static void
a_chain_has_one_root(void **state)
{
    struct pause pauses[] = {
        stop(100, 50, 1, 10, false), stop(110, 90, 1, 2, false),
        stop(150, 70, 2, 30, true),  stop(400, 5, 1, 10, false),
        stop(250, 30, 2, 30, true),
    };
    struct pause_tree *tree = pause_tree_new(pauses, G_N_ELEMENTS(pauses));

    (void)state;
    assert_int_equal(tree->n_pauses, 5);
    assert_int_equal(tree->paused_ps, 245);
    assert_int_equal(tree->roots->len, 1);

    const struct pause_node *root = below(tree->roots, 0);

    is_node(root, 1, 0, 0, 245);
    assert_int_equal(root->n_all, 5);
    assert_int_equal(root->below->len, 2);
    /* The longest branch first. */
    is_node(below(root->below, 0), 2, 1, 90, 190);
    is_node(below(below(root->below, 0)->below, 0), 30, 2, 100, 100);
    is_node(below(root->below, 1), 10, 2, 55, 55);

    struct pause_reach reach = pause_tree_reach(root, host_of, NULL);

    assert_int_equal(reach.n_ports, 3);
    assert_int_equal(reach.n_hosts, 2);
    assert_int_equal(reach.depth, 2);
    pause_tree_free(tree);
}

/* Not held: a congestion of its own, whatever was paused before. */
static void
own_congestion_is_a_root(void **state)
{
    struct pause pauses[] = {
        stop(100, 50, 1, 2, false), /* stops 2 */
        stop(500, 70, 2, 30, false) /* long after */
    };
    struct pause_tree *tree = pause_tree_new(pauses, G_N_ELEMENTS(pauses));

    (void)state;
    assert_int_equal(tree->roots->len, 2);
    is_node(below(tree->roots, 0), 2, 0, 0, 70);
    is_node(below(tree->roots, 1), 1, 0, 0, 50);

    struct pause_reach reach = pause_tree_reach_all(tree, host_of, NULL);

    assert_int_equal(reach.n_ports, 2);
    assert_int_equal(reach.depth, 1);
    pause_tree_free(tree);
}

/* A port that two roots stop in turn: each victim goes to the one of its time. */
static void
the_latest_pause_is_the_one(void **state)
{
    struct pause pauses[] = {
        stop(100, 50, 1, 5, false),
        stop(120, 7, 5, 30, true),
        stop(200, 50, 3, 5, false),
        stop(220, 9, 5, 30, true),
    };
    struct pause_tree *tree = pause_tree_new(pauses, G_N_ELEMENTS(pauses));

    (void)state;
    assert_int_equal(tree->roots->len, 2);
    is_node(below(tree->roots, 0), 3, 0, 0, 59);
    is_node(below(tree->roots, 1), 1, 0, 0, 57);
    is_node(below(below(below(tree->roots, 0)->below, 0)->below, 0), 30, 1, 9, 9);
    is_node(below(below(below(tree->roots, 1)->below, 0)->below, 0), 30, 1, 7, 7);
    pause_tree_free(tree);
}

/* 1 stops 2, which stops 3, which stops 1: the branch ends where it began. */
static void
a_loop_comes_back(void **state)
{
    struct pause pauses[] = {
        stop(100, 900, 1, 2, false),
        stop(110, 890, 2, 3, true),
        stop(120, 880, 3, 1, true),
        stop(130, 870, 1, 2, true),
    };
    struct pause_tree *tree = pause_tree_new(pauses, G_N_ELEMENTS(pauses));
    const struct pause_node *root = below(tree->roots, 0);

    (void)state;
    assert_int_equal(tree->roots->len, 1);
    assert_true(root->is_loop);
    is_node(root, 1, 1, 880, 3540);
    assert_int_equal(root->below->len, 1);
    /* The fourth one is told because of 1, held by the third: below the root again. */
    is_node(below(root->below, 0), 2, 2, 1770, 2660);
    is_node(below(below(root->below, 0)->below, 0), 3, 1, 890, 890);
    assert_int_equal(below(below(root->below, 0)->below, 0)->below->len, 0);
    pause_tree_free(tree);
}

/* Held by a pause that is not in the list: by what its peer did on its own. */
static void
held_by_nobody_known(void **state)
{
    struct pause pauses[] = {stop(100, 50, 1, 10, true), stop(200, 60, 1, 10, false)};
    struct pause_tree *tree = pause_tree_new(pauses, G_N_ELEMENTS(pauses));

    (void)state;
    assert_int_equal(tree->roots->len, 2);
    assert_false(below(tree->roots, 0)->is_held);
    assert_true(below(tree->roots, 1)->is_held);
    pause_tree_free(tree);
}

static void
nothing_is_an_empty_tree(void **state)
{
    struct pause_tree *tree = pause_tree_new(NULL, 0);

    (void)state;
    assert_int_equal(tree->roots->len, 0);
    assert_int_equal(tree->n_pauses, 0);
    assert_int_equal(pause_tree_reach_all(tree, host_of, NULL).n_ports, 0);
    pause_tree_free(tree);
}

static void
check_sums(const struct pause_node *node, const struct pause_node *above, int64_t *n,
           int64_t *ps)
{
    int64_t n_all = node->n_pauses, all_ps = node->paused_ps, last = INT64_MAX;

    assert_ptr_equal(node->above, above);
    *n += node->n_pauses;
    *ps += node->paused_ps;
    for (guint i = 0; i < node->below->len; i++) {
        const struct pause_node *child = below(node->below, i);

        assert_true(child->all_ps <= last);
        last = child->all_ps;
        n_all += child->n_all;
        all_ps += child->all_ps;
        check_sums(child, node, n, ps);
    }
    assert_int_equal(node->n_all, n_all);
    assert_int_equal(node->all_ps, all_ps);
    /* No port is above itself. */
    for (const struct pause_node *up = above; up; up = up->above) {
        assert_true(up->port != node->port || up->cls != node->cls);
    }
}

/* Whatever the pauses: each is counted once, and the order they come in says nothing. */
static void
every_pause_is_counted_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        uint64_t key = rng_key(seed, "pauses", "test"), d = 0;
        struct pause pauses[200], turned[200];
        int64_t total_ps = 0, n = 0, ps = 0;

        for (unsigned i = 0; i < 200; i++) {
            int64_t start_ps = 10 * (int64_t)i + (int64_t)rng_below(key, d++, 10);
            int64_t length_ps = 1 + (int64_t)rng_below(key, d++, 100);
            uint32_t cause = (uint32_t)rng_below(key, d++, 6);
            uint32_t paused = (uint32_t)rng_below(key, d++, 12);

            pauses[i] = stop(start_ps, length_ps, cause, paused, rng_below(key, d++, 2));
            total_ps += pauses[i].length_ps;
            turned[199 - i] = pauses[i];
        }

        struct pause_tree *tree = pause_tree_new(pauses, 200);
        struct pause_tree *again = pause_tree_new(turned, 200);

        assert_int_equal(tree->n_pauses, 200);
        assert_int_equal(tree->paused_ps, total_ps);
        assert_int_equal(tree->roots->len, again->roots->len);
        for (guint i = 0; i < tree->roots->len; i++) {
            check_sums(below(tree->roots, i), NULL, &n, &ps);
            assert_int_equal(below(tree->roots, i)->port, below(again->roots, i)->port);
            assert_int_equal(below(tree->roots, i)->all_ps,
                             below(again->roots, i)->all_ps);
        }
        assert_int_equal(n, 200);
        assert_int_equal(ps, total_ps);
        pause_tree_free(tree);
        pause_tree_free(again);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_has_one_root),
        cmocka_unit_test(own_congestion_is_a_root),
        cmocka_unit_test(the_latest_pause_is_the_one),
        cmocka_unit_test(a_loop_comes_back),
        cmocka_unit_test(held_by_nobody_known),
        cmocka_unit_test(nothing_is_an_empty_tree),
        cmocka_unit_test(every_pause_is_counted_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
