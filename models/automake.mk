# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libmodels.a
libmodels_a_SOURCES = \
	models/cc/cc.h \
	$(NULL)

nobase_dist_pkgdata_DATA += \
	$(NULL)
