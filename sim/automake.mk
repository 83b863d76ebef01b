# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libsim.a
libsim_a_SOURCES = \
	sim/units.h \
	$(NULL)
