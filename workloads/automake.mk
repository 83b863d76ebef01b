# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libworkloads.a
libworkloads_a_SOURCES = \
	workloads/flows.c \
	workloads/flows.h \
	workloads/gen_collective.c \
	workloads/gen_flows.c \
	workloads/gen_incast.c \
	workloads/gen_permutation.c \
	workloads/gen_trace.c \
	workloads/nccl/channels.c \
	workloads/nccl/channels.h \
	workloads/nccl/nccl.h \
	workloads/nccl/player.c \
	workloads/nccl/player.h \
	workloads/nccl/player_bound.c \
	workloads/nccl/player_build.c \
	workloads/nccl/player_graph.c \
	workloads/nccl/player_graph.h \
	workloads/nccl/player_plan.c \
	workloads/nccl/player_result.c \
	workloads/nccl/player_state.h \
	workloads/nccl/ring.c \
	workloads/nccl/ring.h \
	workloads/nccl/ring_plan.c \
	workloads/nccl/ring_plan.h \
	workloads/nccl/ring_state.c \
	workloads/nccl/ring_state.h \
	workloads/replay.c \
	workloads/replay.h \
	workloads/trace/jsonl.h \
	workloads/trace/jsonl_json.c \
	workloads/trace/jsonl_op.c \
	workloads/trace/nccl_job.c \
	workloads/trace/nccl_job.h \
	workloads/trace/nccl_line.c \
	workloads/trace/nccl_line.h \
	workloads/trace/read_jsonl.c \
	workloads/trace/read_nccl_log.c \
	workloads/trace/trace.c \
	workloads/trace/trace.h \
	workloads/trace/trace_build.c \
	workloads/trace/trace_build.h \
	workloads/trace/trace_build_private.h \
	workloads/trace/trace_list.def \
	workloads/trace/trace_merge.c \
	workloads/trace/trace_place.c \
	workloads/trace/write_jsonl.c \
	workloads/work.c \
	workloads/work.h \
	workloads/work_list.def \
	workloads/work_params.c \
	workloads/work_params.h \
	$(NULL)

nobase_dist_pkgdata_DATA += \
	workloads/examples/README.md \
	workloads/examples/gpt2-64ranks-nccl.log \
	workloads/examples/gpt2-nccl-log.awk \
	workloads/examples/overlap-4ranks.jsonl \
	$(NULL)
