/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fuzz_import.c - any bytes, as a file of another simulator, give what holds together or an
 * error of one line.  The first byte says which reader has the rest.
 */
#include <config.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <glib.h>

#include "tools/import/family.h"
#include "workloads/cdf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_error(GError *error)
{
    g_assert_nonnull(error);
    g_assert_null(strchr(error->message, '\n'));
    g_error_free(error);
}

static void
read_topology(const struct topo_reader *reader, const char *data, size_t size)
{
    GError *error = NULL;
    struct topo_file *file = topo_file_read(reader, "topology", data, size, &error);

    if (file == NULL) {
        check_error(error);
        return;
    }
    for (guint i = 0; i < file->links->len; i++) {
        const struct topo_file_link *link =
            &g_array_index(file->links, struct topo_file_link, i);

        g_assert_true(link->a < file->nodes->len && link->b < file->nodes->len);
        g_assert_true(link->rate_bps > 0 && link->delay_ps >= 0);
        g_assert_true(link->error_e18 >= 0 && link->error_e18 <= PARAM_SHARE_ONE);
    }
    for (uint32_t i = 0; i < file->n_numbers; i++) {
        g_assert_true(file->node_of[i] == UINT32_MAX ||
                      file->node_of[i] < file->nodes->len);
    }
    topo_file_free(file);
}

static void
read_flows(const struct flow_reader *reader, const char *data, size_t size)
{
    GError *error = NULL;
    struct flow_file *file = flow_file_read(reader, "flows", data, size, &error);

    if (file == NULL) {
        check_error(error);
        return;
    }
    g_assert_true(file->flows->len > 0);
    for (guint i = 0; i < file->flows->len; i++) {
        const struct flow_file_flow *flow =
            &g_array_index(file->flows, struct flow_file_flow, i);

        g_assert_true(flow->src != flow->dst && flow->bytes >= 1 && flow->start_ps >= 0);
        g_assert_true(flow->after <= file->triggers->len &&
                      flow->sent <= file->triggers->len &&
                      flow->received <= file->triggers->len);
    }
    flow_file_free(file);
}

static void
read_config(enum config_dialect dialect, const char *data, size_t size)
{
    GError *error = NULL;
    struct config *config =
        config_read("config", family_keys, dialect, data, size, &error);

    if (config == NULL) {
        check_error(error);
        return;
    }
    for (guint i = 0; i < config->values->len; i++) {
        if (config->values->pdata[i] != NULL) {
            g_free(config_origin(config, config->values->pdata[i]));
        }
    }
    config_free(config);
}

static void
read_cdf(const char *data, size_t size)
{
    GError *error = NULL;
    struct cdf *cdf = cdf_parse("cdf", data, size, &error);

    if (cdf == NULL) {
        check_error(error);
        return;
    }
    g_assert_cmpint(cdf_draw(cdf, 0), >=, 1);
    g_assert_cmpint(cdf_draw(cdf, UINT64_MAX), >=, cdf_draw(cdf, UINT64_MAX / 2));
    g_assert_true(cdf_mean_bytes(cdf) >= 0);
    cdf_free(cdf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *rest = size > 1 ? (const char *)data + 1 : "";
    size_t n = size > 1 ? size - 1 : 0, pick = size > 0 ? data[0] : 0;
    g_autofree char *copy = g_malloc(n + 1);

    /* Of its own, so that reading behind the end is seen. */
    memcpy(copy, rest, n);
    copy[n] = '\0';
    if (pick >= 'a' && pick <= 'f') {
        read_topology(topo_reader_list[pick - 'a'], copy, n);
    } else if (pick >= 'g' && pick <= 'k') {
        read_flows(flow_reader_list[pick - 'g'], copy, n);
    } else if (pick >= 'l' && pick <= 'o') {
        read_config((enum config_dialect)(1 << (pick - 'l')), copy, n);
    } else {
        read_cdf(copy, n);
    }
    return 0;
}
