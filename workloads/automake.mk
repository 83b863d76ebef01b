# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libworkloads.a
libworkloads_a_SOURCES = \
	workloads/flows.c \
	workloads/flows.h \
	workloads/gen_flows.c \
	workloads/gen_incast.c \
	workloads/gen_permutation.c \
	workloads/work.c \
	workloads/work.h \
	workloads/work_list.def \
	workloads/work_params.h \
	workloads/nccl/channels.c \
	workloads/nccl/channels.h \
	workloads/nccl/nccl.h \
	workloads/nccl/ring.c \
	workloads/nccl/ring.h \
	workloads/nccl/ring_plan.c \
	workloads/nccl/ring_plan.h \
	workloads/nccl/ring_state.c \
	workloads/nccl/ring_state.h \
	workloads/work_params.c \
	$(NULL)

nobase_dist_pkgdata_DATA += \
	$(NULL)
