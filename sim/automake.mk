# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libsim.a
libsim_a_SOURCES = \
	sim/barrier.c \
	sim/barrier.h \
	sim/decimal.c \
	sim/decimal.h \
	sim/event.c \
	sim/event.h \
	sim/forest.h \
	sim/hist.c \
	sim/hist.h \
	sim/lp.c \
	sim/lp.h \
	sim/mem.c \
	sim/mem.h \
	sim/param.c \
	sim/param.h \
	sim/partition.c \
	sim/partition.h \
	sim/pool.c \
	sim/pool.h \
	sim/rng.c \
	sim/rng.h \
	sim/sim.c \
	sim/sim.h \
	sim/text.c \
	sim/text.h \
	sim/units.h \
	$(NULL)
