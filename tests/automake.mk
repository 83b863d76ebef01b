# SPDX-License-Identifier: GPL-3.0-or-later
#
# A test program `tests/unit/test_x' is made of tests/unit/test_x.c and linked with every
# library of the project: one line in a list here is all it needs.  A script is run as it
# is.  Both print TAP; tests/harness runs them and adds up.

# Helpers that several test programs share.
libtests_a_SOURCES = \
	tests/support/all_to_all.c \
	tests/support/all_to_all.h \
	tests/support/bottleneck.c \
	tests/support/bottleneck.h \
	tests/support/data.c \
	tests/support/data.h \
	tests/support/job.c \
	tests/support/job.h \
	tests/support/known.c \
	tests/support/known.h \
	tests/support/pcap_file.c \
	tests/support/pcap_file.h \
	tests/support/rig.c \
	tests/support/rig.h \
	tests/support/vectors.c \
	tests/support/vectors.h \
	$(NULL)

# ---- make check: about a minute ---------------------------------------------------------

unit_tests = \
	tests/unit/test_buffer \
	tests/unit/test_capture \
	tests/unit/test_capture_filter \
	tests/unit/test_cc \
	tests/unit/test_cc_dcqcn \
	tests/unit/test_cc_hello \
	tests/unit/test_cc_hpcc \
	tests/unit/test_cdf \
	tests/unit/test_census \
	tests/unit/test_channels \
	tests/unit/test_cmd_new \
	tests/unit/test_collective \
	tests/unit/test_compat \
	tests/unit/test_csv_read \
	tests/unit/test_drain \
	tests/unit/test_fabric \
	tests/unit/test_flows \
	tests/unit/test_gen_poisson \
	tests/unit/test_gen_trace \
	tests/unit/test_hpcc_nic \
	tests/unit/test_hpcc_switch \
	tests/unit/test_import_files \
	tests/unit/test_lb \
	tests/unit/test_nic \
	tests/unit/test_outdir \
	tests/unit/test_param \
	tests/unit/test_partition \
	tests/unit/test_pause_tree \
	tests/unit/test_player \
	tests/unit/test_port \
	tests/unit/test_profiles \
	tests/unit/test_qp \
	tests/unit/test_quantity \
	tests/unit/test_read \
	tests/unit/test_results \
	tests/unit/test_retx_sr \
	tests/unit/test_ring \
	tests/unit/test_ring_plan \
	tests/unit/test_rng \
	tests/unit/test_rnr \
	tests/unit/test_route \
	tests/unit/test_run \
	tests/unit/test_scenario \
	tests/unit/test_series \
	tests/unit/test_stats \
	tests/unit/test_sweep \
	tests/unit/test_switch \
	tests/unit/test_tap \
	tests/unit/test_topo \
	tests/unit/test_trace_jsonl \
	tests/unit/test_trace_nccl_log \
	tests/unit/test_units \
	tests/unit/test_watchdog \
	tests/unit/test_wire \
	$(NULL)

property_tests = \
	tests/property/prop_deadlock \
	tests/property/prop_engine \
	tests/property/prop_event_queue \
	tests/property/prop_ideal \
	tests/property/prop_lossless \
	tests/property/prop_scenario \
	tests/property/prop_verbs \
	$(NULL)

golden_tests = \
	$(NULL)

theory_tests = \
	tests/theory/test_dcqcn_bottleneck \
	tests/theory/test_ecmp \
	tests/theory/test_hpcc_cases \
	tests/theory/test_known_all_to_all \
	tests/theory/test_known_allreduce \
	tests/theory/test_known_bottleneck \
	tests/theory/test_known_buffer \
	tests/theory/test_known_bytes \
	tests/theory/test_known_dcqcn \
	tests/theory/test_known_ecn \
	tests/theory/test_known_equilibria \
	tests/theory/test_known_fabric \
	tests/theory/test_known_incast \
	tests/theory/test_known_laws \
	tests/theory/test_known_paths \
	tests/theory/test_known_pfc \
	tests/theory/test_known_transport \
	tests/theory/test_known_wire \
	$(NULL)

check_scripts = \
	tests/cli/bad-input.sh \
	tests/cli/compare.sh \
	tests/cli/hpcc.sh \
	tests/cli/import.sh \
	tests/cli/new.sh \
	tests/cli/options.sh \
	tests/cli/pauses.sh \
	tests/cli/pcap.sh \
	tests/cli/plausible.sh \
	tests/cli/plot.sh \
	tests/cli/results.sh \
	tests/cli/signals.sh \
	tests/cli/sweep.sh \
	tests/cli/topo.sh \
	tests/cli/trace.sh \
	tests/cli/unwritable.sh \
	tests/cli/verdicts.sh \
	tests/cli/version.sh \
	tests/golden/golden.sh \
	tests/self/examples.sh \
	tests/self/harness.sh \
	tests/self/lint.sh \
	tests/self/mutants.sh \
	tests/self/validation.sh \
	tools/lint/lint \
	$(NULL)

# ---- make check-long: under 12 minutes --------------------------------------------------

check_long_tests = \
	tests/theory/test_known_all_to_all_1024 \
	tests/theory/test_known_allreduce_1gib \
	$(NULL)

check_long_scripts = \
	tests/full/determinism.sh \
	tests/fuzz/run \
	tests/mutants/run \
	tests/validate/experiments \
	$(NULL)

# ---- make check-full: the whole determinism matrix --------------------------------------

check_full_tests = \
	$(NULL)

check_full_scripts = \
	tests/full/compilers.sh \
	tests/full/matrix.sh \
	tests/full/threads.sh \
	$(NULL)

# ---- make bench, make fuzz, make validate -----------------------------------------------

# A benchmark is linked as the program is: tests_bench_NAME_LDFLAGS = $(rocesim_LDFLAGS)
bench_programs = \
	tests/bench/bench_fabric \
	$(NULL)

fuzz_targets = \
	tests/fuzz/fuzz_import \
	tests/fuzz/fuzz_nccl_log \
	tests/fuzz/fuzz_scenario \
	tests/fuzz/fuzz_trace_jsonl \
	tests/fuzz/fuzz_wire \
	$(NULL)

# Each makes the test named in it fail; tests/mutants/run sees to that.
mutants = \
	tests/mutants/alpha-doubled.patch \
	tests/mutants/cnp-interval-doubled.patch \
	tests/mutants/deadlock-without-draining.patch \
	tests/mutants/hpcc-cut-at-first.patch \
	tests/mutants/hpcc-exact-times.patch \
	tests/mutants/icrc-covers-ecn.patch \
	tests/mutants/no-reth-bytes.patch \
	tests/mutants/psn-off-by-one.patch \
	tests/mutants/read-from-the-start.patch \
	tests/mutants/sr-no-patience.patch \
	tests/mutants/xon-at-zero.patch \
	$(NULL)

# Files that tests read, and whole folders of them.
EXTRA_DIST += \
	$(check_full_scripts) \
	$(check_long_scripts) \
	$(check_scripts) \
	$(mutants) \
	tests/cli/lib.sh \
	tests/cli/scapy-icrc \
	tests/copy-tree \
	tests/data/cdf \
	tests/data/determinism \
	tests/data/icrc \
	tests/data/import \
	tests/data/known-answers.json \
	tests/data/nccl-log \
	tests/data/nccl/rules.txt \
	tests/data/ns3 \
	tests/data/rxe-pcap \
	tests/data/scenario \
	tests/data/topo \
	tests/data/trace-jsonl \
	tests/data/verdicts \
	tests/fuzz/corpus \
	tests/golden/ring \
	tests/golden/star \
	tests/harness \
	tests/hello-cc/cc_hello.c \
	tests/hello-cc/cc_list.def \
	tests/support/fct_analysis.py \
	tests/validate/table \
	tests/variant \
	$(NULL)

# ---- how they are built and run ---------------------------------------------------------

check_programs = \
	$(golden_tests) \
	$(property_tests) \
	$(theory_tests) \
	$(unit_tests) \
	$(NULL)

EXTRA_LIBRARIES = libtests.a
EXTRA_PROGRAMS += \
	$(bench_programs) \
	$(check_full_tests) \
	$(check_long_tests) \
	$(check_programs) \
	$(fuzz_targets) \
	$(NULL)

CLEANFILES += $(EXTRA_PROGRAMS) $(EXTRA_LIBRARIES)

# The default LDADD is that of all programs here; rocesim has its own.  What tests share
# uses the project, so it stands before it.
test_libs = libtests.a
LDADD += $(CMOCKA_LIBS)

if HAVE_CMOCKA
run_tests = $(lint_env) $(srcdir)/tests/harness -s $(srcdir)
else
run_tests = echo "cmocka >= 1.1.5 is missing (Debian: libcmocka-dev); configure again when it is there" >&2; false;
endif

all_check = $(check_programs) $(check_scripts)
all_check_long = $(check_long_tests) $(check_long_scripts)
all_check_full = $(check_full_tests) $(check_full_scripts)

# All that check and check-long run, compiled and no more.
check-build: rocesim $(check_programs) $(check_long_tests)

# Built before they are run, so that a compiler's error is not a test's.
check-local: rocesim $(check_programs)
	$(AM_V_at)$(run_tests) $(all_check)

check-long: rocesim $(check_long_tests)
	$(AM_V_at)$(run_tests) -t 600 $(all_check_long)

# Both, with one sum: what ./quickstart check runs.
check-all: rocesim $(check_programs) $(check_long_tests)
	$(AM_V_at)$(run_tests) -t 600 $(all_check) $(all_check_long)

check-full: rocesim $(check_full_tests)
	$(AM_V_at)$(run_tests) -j 1 -t 7200 $(all_check_full)

clean-tests:
	rm -rf tests/log fuzz-build variants $(validation_records)
tests_bench_bench_fabric_LDFLAGS = $(rocesim_LDFLAGS)

# A benchmark prints lines `name value unit'.
bench: rocesim $(bench_programs)
	@test -n "$(strip $(bench_programs))" || { echo "no benchmark is listed in tests/automake.mk" >&2; exit 1; }
	@for p in $(bench_programs); do ./$$p || exit 1; done

# docs/validation.md out of what the known answers compare; then comparison with hardware and
# other simulators, which prints and gates nothing.
validation_records = tests/validation.tsv
validate: rocesim $(theory_tests) $(check_long_tests)
	$(AM_V_at)rm -f $(validation_records)
	$(AM_V_at)status=0; \
	VALIDATION_OUT=$(abs_builddir)/$(validation_records) \
	$(run_tests) -j 1 -t 7200 $(theory_tests) $(check_long_tests) tests/validate/experiments || \
		status=$$?; \
	$(srcdir)/tests/validate/table $(validation_records) >$(validation_records).md && \
	mv $(validation_records).md $(srcdir)/docs/validation.md && exit $$status

# Fuzzers need clang and other flags, hence a build of their own below fuzz-build.
FUZZ_S = 60
fuzz:
	$(AM_V_at)FUZZ_S=$(FUZZ_S) $(run_tests) -j 1 -t 86400 tests/fuzz/run
	@cat tests/log/tests/fuzz/run.tap

if ENABLE_FUZZ
AM_LDFLAGS += $(FUZZ_LDFLAGS)
endif

# Writes the expected files of one golden case anew; the commit says why results have moved.
golden-accept: rocesim
	@test -n "$(CASE)" || { echo "usage: make golden-accept CASE=NAME, one of:" $(srcdir)/tests/golden/*/ >&2; exit 1; }
	@tmp=$$(mktemp -d) && GOLDEN_ACCEPT=$(CASE) ROCESIM=$(abs_builddir)/rocesim \
	ROCESIM_DATADIR=$(abs_srcdir) srcdir=$(abs_srcdir) TMPDIR=$$tmp $(srcdir)/tests/golden/golden.sh; rm -rf $$tmp

.PHONY: golden-accept bench check-build fuzz validate
.PHONY: check-long check-all check-full clean-tests
