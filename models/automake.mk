# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libmodels.a
libmodels_a_SOURCES = \
	models/cc/cc.c \
	models/cc/cc.h \
	models/cc/cc_dcqcn.c \
	models/cc/cc_dcqcn.h \
	models/cc/cc_list.def \
	models/cc/cc_none.c \
	$(NULL)

nobase_dist_pkgdata_DATA += \
	models/profiles/ecn-sets.json \
	models/profiles/nic-connectx-6.json \
	models/profiles/nic-connectx-7.json \
	models/profiles/nic-ideal.json \
	models/profiles/switch-generic.json \
	models/profiles/switch-spectrum-2.json \
	models/profiles/switch-spectrum-4.json \
	models/profiles/switch-tomahawk-5.json \
	$(NULL)
