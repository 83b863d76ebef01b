# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libtopologies.a
libtopologies_a_SOURCES = \
	topologies/bisection.c \
	topologies/bisection.h \
	topologies/file/file.c \
	topologies/file/file.h \
	topologies/file/ns3.c \
	topologies/file/ns3.h \
	topologies/file/read_conweave.c \
	topologies/file/read_hpcc.c \
	topologies/file/read_htsim.c \
	topologies/file/read_ns3dc.c \
	topologies/file/read_ns3rdma.c \
	topologies/file/read_simai.c \
	topologies/file/reader_list.def \
	topologies/paths.c \
	topologies/paths.h \
	topologies/topo.c \
	topologies/topo.h \
	topologies/topo_file.c \
	topologies/topo_graph.c \
	topologies/topo_leafspine.c \
	topologies/topo_list.def \
	topologies/topo_star.c \
	topologies/wiring.c \
	topologies/wiring.h \
	$(NULL)
