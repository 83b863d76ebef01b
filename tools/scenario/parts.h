/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * parts.h - the parts of a scenario file, each read, written and freed by one file; private
 * to tools/scenario.
 *
 * part_X_read() reads its keys from the root into an empty part; on failure what it has made
 * is left to part_X_clear().  They run in the order in which they stand here: a later one
 * may look at what an earlier one has read.
 */
#ifndef ROCESIM_TOOLS_SCENARIO_PARTS_H
#define ROCESIM_TOOLS_SCENARIO_PARTS_H

#include "tools/scenario/doc.h"
#include "tools/scenario/scenario.h"

/* `node` and `topology`. */
gboolean part_topology_read(struct scenario *s, const struct doc_at *root,
                            GError **error);
void part_topology_write(const struct scenario *s, json_t *root);
void part_topology_clear(struct scenario *s);

/* `topology` of type file, before the rest of that part: fills graph_nodes, graph_links. */
gboolean part_topo_file_read(struct scenario *s, const struct doc_at *root,
                             GError **error);
void part_topo_file_write(const struct scenario *s, json_t *topology);
void part_topo_file_clear(struct scenario *s);

/* `qos`, `cc`. */
gboolean part_traffic_read(struct scenario *s, const struct doc_at *root, GError **error);
void part_traffic_write(const struct scenario *s, json_t *root);
void part_traffic_clear(struct scenario *s);

/* `nccl`, read before the devices: it may set defaults of NICs. */
gboolean part_nccl_read(struct scenario *s, const struct doc_at *root, GError **error);
void part_nccl_write(const struct scenario *s, json_t *root);

/* `nic`, `switch`, `nics`, `switches`, `hosts`. */
gboolean part_devices_read(struct scenario *s, const struct doc_at *root, GError **error);
void part_devices_write(const struct scenario *s, json_t *root);
void part_devices_clear(struct scenario *s);

/* What the keys of a NIC, of a switch must be together; 'at': the object with the keys. */
gboolean part_check_nic(const struct scenario *s, const struct doc_at *at,
                        const struct nic_params *p, GError **error);
gboolean part_check_mmu(const struct doc_at *at, const struct switch_params *p,
                        GError **error);

/* Keys of switch_param_table that may also be written inside `ecn`, under another name. */
enum { PART_N_ECN_KEYS = 3 };
struct part_ecn_key {
    const char *key, *in_ecn;
};
extern const struct part_ecn_key part_ecn_keys[PART_N_ECN_KEYS];

/* `ecn` of the object 'at', if it is there, into 'sw'. */
gboolean part_ecn_read(const struct doc_at *at, struct scenario_switch *sw,
                       GError **error);
json_t *part_ecn_json(const struct scenario_ecn *ecn);
void part_ecn_clear(struct scenario_ecn *ecn);

/* `workload`. */
gboolean part_work_read(struct scenario *s, const struct doc_at *root, GError **error);
void part_work_write(const struct scenario *s, json_t *root);
void part_work_clear(struct scenario *s);

/* `faults`. */
gboolean part_faults_read(struct scenario *s, const struct doc_at *root, GError **error);
void part_faults_write(const struct scenario *s, json_t *root);
void part_faults_clear(struct scenario *s);

/* `output`, `expect`; writes `compat`. */
gboolean part_run_read(struct scenario *s, const struct doc_at *root, GError **error);
void part_run_write(const struct scenario *s, json_t *root);
void part_run_clear(struct scenario *s);

/* `pcap` of the object 'output', which may be absent. */
gboolean part_pcap_read(struct scenario *s, const struct doc_at *output, GError **error);
json_t *part_pcap_json(const struct scenario *s);
void part_pcap_clear(struct scenario *s);

/* Tables that only the loader reads. */
extern const struct param scenario_root_table[];   /* over struct scenario */
extern const struct param scenario_node_table[];   /* over struct scenario_node */
extern const struct param scenario_link_table[];   /* over struct scenario_link */
extern const struct param scenario_fault_table[];  /* over struct scenario_fault */
extern const struct param scenario_output_table[]; /* over struct scenario_output */
extern const struct param scenario_tap_table[];    /* over struct scenario_tap */

/* All bits of 'table'; that of 'key', which is in it. */
uint64_t part_all_keys(const struct param *table);
uint64_t part_key_bit(const struct param *table, const char *key);

struct link_params part_link_params(const struct scenario_link *link);

#endif
