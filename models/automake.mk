# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libmodels.a
libmodels_a_SOURCES = \
	models/base_rtt.c \
	models/base_rtt.h \
	models/cc/cc.c \
	models/cc/cc.h \
	models/cc/cc_dcqcn.c \
	models/cc/cc_dcqcn.h \
	models/cc/cc_list.def \
	models/cc/cc_none.c \
	models/cc/dcqcn_params.c \
	models/event_kinds.h \
	models/fault.c \
	models/fault.h \
	models/host/pipe.c \
	models/host/pipe.h \
	models/ideal.c \
	models/ideal.h \
	models/net.c \
	models/net.h \
	models/net_add.c \
	models/net_build.c \
	models/net_lp.h \
	models/net_params.c \
	models/net_params.h \
	models/net_start.c \
	models/net_taps.c \
	models/net_wire.c \
	models/net_wire.h \
	models/nic/inner.h \
	models/nic/nic.c \
	models/nic/nic.h \
	models/nic/qp.c \
	models/nic/qp.h \
	models/nic/request.c \
	models/nic/respond.c \
	models/nic/scan.c \
	models/nic/scan.h \
	models/nic/send.c \
	models/nic/window.h \
	models/packet.h \
	models/port.c \
	models/port.h \
	models/probe/probe.c \
	models/probe/probe.h \
	models/probe/tap.c \
	models/probe/tap.h \
	models/queue.h \
	models/switch/buffer.c \
	models/switch/buffer.h \
	models/switch/ecn.c \
	models/switch/ecn.h \
	models/switch/mmu_hpcc.c \
	models/switch/mmu_hpcc.h \
	models/switch/murmur.h \
	models/switch/pfc.c \
	models/switch/pfc.h \
	models/switch/route.c \
	models/switch/route.h \
	models/switch/switch.c \
	models/switch/switch.h \
	models/wire.c \
	models/wire.h \
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
