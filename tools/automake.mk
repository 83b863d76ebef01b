# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libtools.a
libtools_a_SOURCES = \
	tools/cmd_check.c \
	tools/cmd_list.c \
	tools/cmd_new.c \
	tools/cmd_new.h \
	tools/cmd_plot.c \
	tools/cmd_run.c \
	tools/command.c \
	tools/command.h \
	tools/data.c \
	tools/data.h \
	tools/expect.c \
	tools/expect.h \
	tools/faults.c \
	tools/faults.h \
	tools/forecast.c \
	tools/forecast.h \
	tools/laws.c \
	tools/laws.h \
	tools/options.c \
	tools/options.h \
	tools/progress.c \
	tools/progress.h \
	tools/report/gnuplot.c \
	tools/report/gnuplot.h \
	tools/report/plot.c \
	tools/report/plot.h \
	tools/report/series_read.c \
	tools/report/series_read.h \
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
	tools/run_read.c \
	tools/run_works.c \
	tools/scenario/bind.c \
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
	tools/scenario/part_nccl.c \
	tools/scenario/part_pcap.c \
	tools/scenario/part_run.c \
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
	tools/signals.c \
	tools/signals.h \
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
