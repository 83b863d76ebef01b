# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libmodels.a
libmodels_a_SOURCES = \
	$(NULL)

nobase_dist_pkgdata_DATA += \
	$(NULL)
