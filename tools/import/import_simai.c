/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * import_simai.c - SimAI.conf and a topology of SimAI.  SimAI's workload is another file, in
 * a format of its own, so an all_reduce stands in its place.
 */
#include <config.h>

#include "tools/import/family.h"
#include "tools/import/formats.h"

static void
put_workload(struct import_out *out)
{
    json_out_open(&out->json, "workload", '[', false);
    json_out_open(&out->json, NULL, '{', false);
    json_out_text(&out->json, "_",
                  "a stand-in: SimAI takes its workload from a file of its own format");
    json_out_text(&out->json, "type", "collective");
    json_out_text(&out->json, "op", "all_reduce");
    json_out_text(&out->json, "algorithm", "ring");
    json_out_text(&out->json, "bytes", "64MiB");
    json_out_close(&out->json, '}');
    json_out_close(&out->json, ']');
}

static char *
with_topology(struct config *config, const char *path, GPtrArray *warnings,
              GError **error)
{
    struct topo_file *topo = import_topology("simai", path, warnings, error);
    g_autofree char *base = g_path_get_basename(path);
    struct import_out out;
    char *text = NULL;

    if (topo == NULL) {
        return NULL;
    }
    if (topo->nodes->len == 1) {
        g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_UNSUPPORTED,
                    "%s: is one server without a network; needed are two hosts", path);
        topo_file_free(topo);
        return NULL;
    }
    import_begin(&out, "simai", config->file, "SimAI");
    family_put_head(&out, config, CONFIG_SIMAI);
    import_put_topology(&out, topo, base,
                        config_number(config, "ERROR_RATE_PER_LINK") *
                            (PARAM_SHARE_ONE / CONFIG_ONE),
                        NULL);
    import_put_node(&out, topo);
    if (family_put_devices(&out, config, CONFIG_SIMAI, topo, error) &&
        family_put_faults(&out, config, topo, error)) {
        put_workload(&out);
        import_take_warnings(warnings, config->warnings);
        text = import_end(&out, config->file, warnings);
    } else {
        import_drop(&out);
    }
    topo_file_free(topo);
    return text;
}

char *
import_simai(const char *const *files, GPtrArray *warnings, GError **error)
{
    const struct config_value *scope;
    struct config *config;
    char *text;

    if (files[0] == NULL || files[1] == NULL || files[2] != NULL) {
        g_set_error(error, IMPORT_ERROR, IMPORT_ERROR_FILE,
                    "import simai: takes two files, SimAI.conf and a topology");
        return NULL;
    }
    config = family_read(files[0], CONFIG_SIMAI, error);
    if (config == NULL) {
        return NULL;
    }
    scope = config_find(config, "GLOBAL_T");
    if (scope->number != 1) {
        config_warn(config, scope,
                    "GLOBAL_T is %s, but SimAI takes 1 whatever it says, and "
                    "so does this",
                    scope->text);
    }
    text = with_topology(config, files[1], warnings, error);
    config_free(config);
    return text;
}
