# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libtopologies.a
libtopologies_a_SOURCES = \
	topologies/topo.h \
	$(NULL)
