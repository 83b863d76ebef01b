# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libworkloads.a
libworkloads_a_SOURCES = \
	workloads/work_params.c \
	workloads/work_params.h \
	$(NULL)

nobase_dist_pkgdata_DATA += \
	$(NULL)
