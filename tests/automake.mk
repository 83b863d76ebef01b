# SPDX-License-Identifier: GPL-3.0-or-later
#
# A test program `tests/unit/test_x' is made of tests/unit/test_x.c and linked with every
# library of the project: one line in a list here is all it needs.  A script is run as it
# is.  Both print TAP; tests/harness runs them and adds up.

# Helpers that several test programs share.
libtests_a_SOURCES = \
	$(NULL)

# ---- make check: about a minute ---------------------------------------------------------

unit_tests = \
	tests/unit/test_channels \
	tests/unit/test_ring \
	tests/unit/test_ring_plan \
	tests/unit/test_units \
	$(NULL)

property_tests = \
	$(NULL)

golden_tests = \
	$(NULL)

theory_tests = \
	$(NULL)

check_scripts = \
	tests/cli/version.sh \
	$(NULL)

# ---- make check-long: under 12 minutes --------------------------------------------------

check_long_tests = \
	$(NULL)

check_long_scripts = \
	$(NULL)

# ---- make check-full: the whole determinism matrix --------------------------------------

check_full_tests = \
	$(NULL)

check_full_scripts = \
	$(NULL)

# ---- make bench, make fuzz, make validate -----------------------------------------------

bench_programs = \
	$(NULL)

fuzz_targets = \
	$(NULL)

validate_scripts = \
	$(NULL)

# Files that tests read, and whole folders of them.
EXTRA_DIST += \
	$(check_scripts) \
	$(check_long_scripts) \
	$(check_full_scripts) \
	$(validate_scripts) \
	tests/data/nccl/rules.txt \
	tests/harness \
	$(NULL)

# ---- how they are built and run ---------------------------------------------------------

check_programs = \
	$(unit_tests) \
	$(property_tests) \
	$(golden_tests) \
	$(theory_tests) \
	$(NULL)

EXTRA_LIBRARIES = libtests.a
EXTRA_PROGRAMS += \
	$(check_programs) \
	$(check_long_tests) \
	$(check_full_tests) \
	$(bench_programs) \
	$(fuzz_targets) \
	$(NULL)

# One line for all programs: the default LDADD is theirs, rocesim has its own.
LDADD += libtests.a $(CMOCKA_LIBS)

if HAVE_CMOCKA
run_tests = $(srcdir)/tests/harness -s $(srcdir)
else
run_tests = echo "cmocka >= 1.1.5 is missing (Debian: libcmocka-dev); configure again when it is there" >&2; false;
endif

all_check = $(check_programs) $(check_scripts)
all_check_long = $(check_long_tests) $(check_long_scripts)
all_check_full = $(check_full_tests) $(check_full_scripts)

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
	rm -rf tests/log
.PHONY: check-long check-all check-full clean-tests
