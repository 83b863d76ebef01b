/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_census.c - what is counted of traces, by hand: the log of all kinds, the example log,
 * groups on a leaf-spine.
 */
#include <config.h>

#include "tools/census/census.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/data.h"
#include "tests/support/rig.h"

static struct trace *
read_file(const char *below)
{
    g_autofree char *path = data_path(below);
    const char *paths[] = {path};
    GError *error = NULL;
    struct trace *trace = trace_open_paths(paths, 1, &error);

    if (trace == NULL) {
        fail_msg("%s", error->message);
    }
    return trace;
}

static struct trace *
read_text(const char *text)
{
    const char *name = "text";
    size_t n = strlen(text);
    GError *error = NULL;
    struct trace *trace = trace_open_data(&name, &text, &n, 1, &error);

    if (trace == NULL) {
        fail_msg("%s", error->message);
    }
    return trace;
}

/* The example: 17 operations of 497,759,244 B (two iterations of 248,879,616 B, and 4 B of
 * barrier and twice the loss of 4 B, which the sum of README.md leaves out), each moving
 * 2 x 63 times its size over 64 links, one in eight of which leaves a host. */
static void
census_example(void **state)
{
    struct trace *trace = read_file("workloads/examples/gpt2-64ranks-nccl.log");
    g_autofree struct census *c = g_new(struct census, 1);
    const struct census_kind *kind = &c->kinds[TRACE_ALL_REDUCE];
    const int64_t bytes = 2 * INT64_C(248879616) + 3 * 4;

    (void)state;
    census_take(c, trace, NULL, NULL);
    assert_int_equal(kind->n, 17);
    assert_true(kind->bytes == bytes);
    assert_int_equal(kind->least_bytes, 4);
    assert_int_equal(kind->most_bytes, 102398976);
    assert_int_equal(kind->sizes[3], 3);   /* 4 B to below 8 B */
    assert_int_equal(kind->sizes[23], 2);  /* 4 MiB */
    assert_int_equal(kind->sizes[25], 10); /* 16 MiB */
    assert_int_equal(kind->sizes[27], 2);  /* 64 MiB */
    assert_true(kind->traffic[CENSUS_WITHIN] == (__int128)bytes * 2 * 63 * 7 / 8);
    assert_in_range((int64_t)kind->traffic[CENSUS_BETWEEN], bytes * 2 * 63 / 8 - 20,
                    bytes * 2 * 63 / 8);
    assert_false(c->has_times);
    trace_free(trace);
}

/* Four ranks on three hosts of two leaves: 0 and 1 on host 0, 2 on host 1 beside it, 3 on
 * host 2. */
#define HEADER                                                                           \
    "{\"rocesim_trace\": 1, \"ranks\": 4, \"hosts\": [{\"name\": \"a\", \"ranks\": [0, " \
    "1]}, "                                                                              \
    "{\"name\": \"b\", \"ranks\": [2]}, {\"name\": \"c\", \"ranks\": [3]}]}\n"

static void
expect(const struct census *c, enum trace_kind kind, int64_t within, int64_t leaf,
       int64_t spine)
{
    assert_true(c->kinds[kind].traffic[CENSUS_WITHIN] == within);
    assert_true(c->kinds[kind].traffic[1] == leaf);
    assert_true(c->kinds[kind].traffic[2] == spine);
    for (unsigned w = 3; w < CENSUS_N_WAYS; w++) {
        assert_true(c->kinds[kind].traffic[w] == 0);
    }
}

static void
census_by_tier(void **state)
{
    static const uint32_t host_of[] = {0, 0, 1, 2};
    const struct link_params link = {.rate_bps = 100 * GBPS};
    struct trace *trace = read_text(
        HEADER "{\"kind\": \"all_reduce\", \"bytes\": 400, \"at_ns\": 5}\n"
               "{\"kind\": \"all_gather\", \"bytes\": 100}\n"
               "{\"kind\": \"reduce_scatter\", \"bytes\": 100}\n"
               "{\"kind\": \"broadcast\", \"bytes\": 100, \"root\": 2}\n"
               "{\"kind\": \"reduce\", \"bytes\": 100, \"root\": 2}\n"
               "{\"kind\": \"all_to_all\", \"bytes\": 100}\n"
               "{\"kind\": \"gather\", \"bytes\": 100, \"root\": 3}\n"
               "{\"kind\": \"scatter\", \"bytes\": 100, \"root\": 0}\n"
               "{\"kind\": \"send\", \"rank\": 1, \"peer\": 2, \"bytes\": 100}\n"
               "{\"kind\": \"recv\", \"rank\": 2, \"peer\": 1, \"bytes\": 100}\n"
               "{\"kind\": \"compute\", \"duration_ns\": 10, \"at_ns\": [1, 2, 3, 9]}\n");
    g_autofree struct census *c = g_new(struct census, 1);
    struct rig rig;

    (void)state;
    rig_init(&rig, 1);
    rig_leaf_spine(&rig, 4, 2, 2, &link, &link); /* hosts 0 and 1 on leaf0 */
    rig_build(&rig);
    census_take(c, trace, rig.net, host_of);
    /* ring 0-1-2-3-0: one link each within and on the leaf, two over a spine */
    expect(c, TRACE_ALL_REDUCE, 600, 600, 1200);
    expect(c, TRACE_ALL_GATHER, 300, 300, 600);
    expect(c, TRACE_REDUCE_SCATTER, 300, 300, 600);
    expect(c, TRACE_BROADCAST, 100, 0, 200); /* 2-3-0-1 */
    expect(c, TRACE_REDUCE, 100, 100, 100);  /* 3-0-1-2 */
    expect(c, TRACE_ALL_TO_ALL, 200, 400, 600);
    expect(c, TRACE_GATHER, 0, 0, 300);
    expect(c, TRACE_SCATTER, 100, 100, 100);
    expect(c, TRACE_SEND, 0, 100, 0);
    expect(c, TRACE_RECV, 0, 0, 0);
    assert_true(c->kinds[TRACE_COMPUTE].time_ps == 4 * 10000);
    assert_true(c->has_times && c->first_ps == 1000 && c->last_ps == 9000);
    trace_free(trace);
    rig_clear(&rig);
}

/* Rings of the trace count, each channel its share. */
static void
census_rings(void **state)
{
    struct trace *trace = read_text(
        "{\"rocesim_trace\": 1, \"ranks\": 4, \"hosts\": [{\"name\": \"a\", \"ranks\": "
        "[0, "
        "1]}, {\"name\": \"b\", \"ranks\": [2, 3]}], \"groups\": [{\"name\": \"g\", "
        "\"ranks\": [0, 1, 2, 3], \"channels\": 2, \"rings\": [[0, 1, 2, 3], [0, 2, 1, "
        "3]]}]}\n{\"kind\": \"all_reduce\", \"group\": \"g\", \"bytes\": 800}\n");
    g_autofree struct census *c = g_new(struct census, 1);
    const __int128 *traffic = c->kinds[TRACE_ALL_REDUCE].traffic;

    (void)state;
    census_take(c, trace, NULL, NULL);
    /* 2 x 3 x 800 B over 4 links: in the first ring 2 leave a host, in the second all */
    assert_true(traffic[CENSUS_WITHIN] == 2 * 3 * 800 * 2 / 8);
    assert_true(traffic[CENSUS_BETWEEN] == 2 * 3 * 800 * 6 / 8);
    trace_free(trace);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(census_example),
    cmocka_unit_test(census_by_tier),
    cmocka_unit_test(census_rings),
};

int
main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
