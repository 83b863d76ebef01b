/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topo_file.c - the graph of another simulator's topology file; the loader reads it
 * (file/file.h).
 */
#include <config.h>

#include "topologies/topo.h"

const struct topo_ops topo_file_ops = {
    .name = "file",
    .source = "the file `path` in the format `format`",
    .doc = "another simulator's topology file",
    .is_graph = true,
    .params = topo_graph_params__,
    .resolve = topo_graph_resolve__,
    .build = topo_graph_build__,
};
