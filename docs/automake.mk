# SPDX-License-Identifier: GPL-3.0-or-later

dist_doc_DATA = \
	docs/architecture.md \
	docs/capture.md \
	docs/hpcc.md \
	docs/import.md \
	docs/nccl.md \
	docs/performance.md \
	docs/profiles.md \
	docs/results.md \
	docs/scenario.md \
	docs/stuck.md \
	docs/sweep.md \
	docs/topo.md \
	docs/trace.md \
	docs/validation.md \
	$(NULL)

# One file a congestion control.
ccdocdir = $(docdir)/cc
dist_ccdoc_DATA = \
	docs/cc/dcqcn.md \
	docs/cc/none.md \
	$(NULL)

# One file a topology.
topodocdir = $(docdir)/topo
dist_topodoc_DATA = \
	docs/topo/graph.md \
	docs/topo/leaf-spine.md \
	docs/topo/star.md \
	$(NULL)

# One file a trace format.
tracedocdir = $(docdir)/trace
dist_tracedoc_DATA = \
	docs/trace/jsonl.md \
	docs/trace/nccl-log.md \
	$(NULL)
