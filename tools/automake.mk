# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libtools.a
libtools_a_SOURCES = \
	tools/advice.c \
	tools/advice.h \
	tools/census/census.c \
	tools/census/census.h \
	tools/census/census_text.c \
	tools/cmd_check.c \
	tools/cmd_compare.c \
	tools/cmd_import.c \
	tools/cmd_list.c \
	tools/cmd_new.c \
	tools/cmd_new.h \
	tools/cmd_plot.c \
	tools/cmd_run.c \
	tools/cmd_sweep.c \
	tools/cmd_topo.c \
	tools/cmd_trace.c \
	tools/command.c \
	tools/command.h \
	tools/data.c \
	tools/data.h \
	tools/expect.c \
	tools/expect.h \
	tools/fabric/bom.c \
	tools/fabric/dot.c \
	tools/fabric/fabric.c \
	tools/fabric/fabric.h \
	tools/fabric/json.c \
	tools/fabric/ranks.c \
	tools/fabric/text.c \
	tools/faults.c \
	tools/faults.h \
	tools/forecast.c \
	tools/forecast.h \
	tools/import/config.c \
	tools/import/config.h \
	tools/import/family.c \
	tools/import/family.h \
	tools/import/formats.h \
	tools/import/import.c \
	tools/import/import.h \
	tools/import/import_hpcc.c \
	tools/import/import_htsim.c \
	tools/import/import_ns3rdma.c \
	tools/import/import_simai.c \
	tools/laws.c \
	tools/laws.h \
	tools/options.c \
	tools/options.h \
	tools/progress.c \
	tools/progress.h \
	tools/report/compare.c \
	tools/report/compare.h \
	tools/report/compare_out.c \
	tools/report/csv_read.c \
	tools/report/csv_read.h \
	tools/report/curves.c \
	tools/report/curves.h \
	tools/report/draw.c \
	tools/report/draw.h \
	tools/report/draw_busbw.c \
	tools/report/draw_flows.c \
	tools/report/draw_links.c \
	tools/report/draw_pauses.c \
	tools/report/draw_queue.c \
	tools/report/draw_rates.c \
	tools/report/draw_utilisation.c \
	tools/report/folder.c \
	tools/report/folder.h \
	tools/report/gnuplot.c \
	tools/report/gnuplot.h \
	tools/report/plot.c \
	tools/report/plot.h \
	tools/report/stats.c \
	tools/report/stats.h \
	tools/results/capture.c \
	tools/results/capture.h \
	tools/results/capture_filter.c \
	tools/results/capture_filter.h \
	tools/results/csv.c \
	tools/results/csv.h \
	tools/results/json_out.c \
	tools/results/json_out.h \
	tools/results/outdir.c \
	tools/results/outdir.h \
	tools/results/pause_tree.c \
	tools/results/pause_tree.h \
	tools/results/pauses.c \
	tools/results/pauses.h \
	tools/results/port_name.c \
	tools/results/port_name.h \
	tools/results/result.c \
	tools/results/result.h \
	tools/results/series.c \
	tools/results/series.h \
	tools/results/summary.c \
	tools/results/summary.h \
	tools/results/table.c \
	tools/results/table.h \
	tools/results/text.c \
	tools/results/text.h \
	tools/run.c \
	tools/run.h \
	tools/run_files.c \
	tools/run_files.h \
	tools/run_read.c \
	tools/run_works.c \
	tools/scenario/bind.c \
	tools/scenario/bind_faults.c \
	tools/scenario/bind_work.c \
	tools/scenario/compat.c \
	tools/scenario/compat.h \
	tools/scenario/doc.c \
	tools/scenario/doc.h \
	tools/scenario/doc_value.c \
	tools/scenario/flows_csv.c \
	tools/scenario/flows_csv.h \
	tools/scenario/part_devices.c \
	tools/scenario/part_ecn.c \
	tools/scenario/part_faults.c \
	tools/scenario/part_nccl.c \
	tools/scenario/part_pcap.c \
	tools/scenario/part_run.c \
	tools/scenario/part_topo_file.c \
	tools/scenario/part_topology.c \
	tools/scenario/part_traffic.c \
	tools/scenario/part_work.c \
	tools/scenario/parts.h \
	tools/scenario/profile.c \
	tools/scenario/profile.h \
	tools/scenario/scenario.c \
	tools/scenario/scenario.h \
	tools/scenario/units.c \
	tools/scenario/units.h \
	tools/scenario/work_file.c \
	tools/scenario/work_file.h \
	tools/signals.c \
	tools/signals.h \
	tools/stuck.c \
	tools/stuck.h \
	tools/summary_path.c \
	tools/summary_path.h \
	tools/sweep/crew.c \
	tools/sweep/crew.h \
	tools/sweep/record.c \
	tools/sweep/record.h \
	tools/sweep/sweep.c \
	tools/sweep/sweep.h \
	tools/sweep/table.c \
	tools/sweep/table.h \
	tools/utilisation.c \
	tools/utilisation.h \
	$(NULL)

# The program is main alone; all else is in the library, where tests reach it.
bin_PROGRAMS += rocesim
rocesim_SOURCES = tools/rocesim.c
rocesim_LDFLAGS = $(OPT_LDFLAGS) $(LTO_LDFLAGS)
rocesim_LDADD = $(project_libs) $(foreign_libs)

EXTRA_DIST += \
	tools/lint/globals.allow \
	tools/lint/layers.txt \
	tools/lint/lint \
	tools/lint/objects.mk \
	$(NULL)

# ---- make lint, tidy, format --------------------------------------------------------------

# lint compiles for itself, with what the project's own compilation sees.
lint_env = CC='$(CC)' LINT_CPPFLAGS="$(DEFS) -I$(abs_top_builddir) $(base_cppflags) $(CPPFLAGS)"

lint: config.h
	$(AM_V_at)$(lint_env) $(srcdir)/tools/lint/lint

# Slow, and a matter of judgement: no part of check.
tidy: config.h
	$(AM_V_at)cd $(srcdir) && clang-tidy --quiet \
		$$(find sim models topologies workloads tools -name '*.c') \
		-- -std=gnu17 $(DEFS) -I$(abs_top_builddir) -I$(abs_top_srcdir) $(AM_CPPFLAGS)

# What lint's rule `format' asks for.
format:
	$(AM_V_at)cd $(srcdir) && find sim models topologies workloads tools tests -path tests/log -prune \
		-o \( -name '*.c' -o -name '*.h' \) -print | \
		xargs $$(command -v clang-format-14 || echo clang-format) -i

clean-lint:
	rm -rf .lint
.PHONY: clean-lint format lint tidy
