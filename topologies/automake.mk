# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libtopologies.a
libtopologies_a_SOURCES = \
	topologies/bisection.c \
	topologies/bisection.h \
	topologies/paths.c \
	topologies/paths.h \
	topologies/topo.c \
	topologies/topo.h \
	topologies/topo_graph.c \
	topologies/topo_leafspine.c \
	topologies/topo_list.def \
	topologies/topo_star.c \
	topologies/wiring.c \
	topologies/wiring.h \
	$(NULL)
