/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * import.h - another simulator's configuration as a scenario: the formats, and what they
 * share.
 *
 * The scenario is a text of JSON; beside a value stands, under its name with '_' before it,
 * where the value comes from.  It needs none of the files it was made of, but for those it
 * names.
 */
#ifndef ROCESIM_TOOLS_IMPORT_IMPORT_H
#define ROCESIM_TOOLS_IMPORT_IMPORT_H

#include "tools/import/config.h"
#include "tools/results/json_out.h"
#include "topologies/file/file.h"
#include "workloads/file/file.h"

struct import_format {
    const char *name;  /* NULL ends the list */
    const char *words; /* what files it takes */
    const char *doc;
    /* The scenario made of 'files' (NULL at the end), owned by the caller; doubts are added to
     * 'warnings' (owned lines).  NULL: the format is known, and not supported yet. */
    char *(*run)(const char *const *files, GPtrArray *warnings, GError **error);
};

/* All formats. */
extern const struct import_format import_formats[];

/* The scenario that 'name' makes of 'files'. */
char *import_run(const char *name, const char *const *files, GPtrArray *warnings,
                 GError **error);

/* ---- for formats ---------------------------------------------------------------------- */

/* A scenario while it is written. */
struct import_out {
    struct json_out json;
    GString *text; /* owned */
};

/* Begins, with a comment on the origin, `name` and `source`; ends with the warnings, and
 * gives the text; or throws it away. */
void import_begin(struct import_out *out, const char *format, const char *file,
                  const char *source);
char *import_end(struct import_out *out, const char *file, const GPtrArray *warnings);
void import_drop(struct import_out *out);

/* A value of 'kind' as a scenario writes it, under 'key', and 'origin' (may be NULL) beside
 * it. */
void import_value(struct import_out *out, const char *key, enum param_kind kind,
                  int64_t value, const char *origin);
void import_text(struct import_out *out, const char *key, const char *value,
                 const char *origin);

/* The same, with the origin of the configuration's key 'name'. */
void import_config_value(struct import_out *out, const struct config *config,
                         const char *key, enum param_kind kind, int64_t value,
                         const char *name);

/* Reads the file 'path', which is named as it is.  import_find() looks for 'name', named in
 * 'config', beside that first, then in the working folder; owned by the caller. */
char *import_read(const char *path, size_t *n_bytes, GError **error);
char *import_find(const struct config *config, const struct config_value *name,
                  GError **error);

/* Adds copies of the lines 'from'. */
void import_take_warnings(GPtrArray *to, const GPtrArray *from);

/* Reads a topology or flows, with their warnings. */
struct topo_file *import_topology(const char *format, const char *path,
                                  GPtrArray *warnings, GError **error);
struct flow_file *import_flows(const char *format, const char *path, GPtrArray *warnings,
                               GError **error);

/* Writes `topology` as a graph.  Links without an error rate get 'error_e18'; those whose
 * place is in 'gone' (may be NULL) are left out. */
void import_put_topology(struct import_out *out, const struct topo_file *topo,
                         const char *origin, int64_t error_e18, const bool gone[]);

/* Writes `node` when hosts have several GPUs. */
void import_put_node(struct import_out *out, const struct topo_file *topo);

/* Name of node 'place'. */
const char *import_node_name(const struct topo_file *topo, uint32_t place);

/* Is 'number' of the file that 'topo' is a host? */
bool import_is_host(const struct topo_file *topo, int64_t number);

#endif
