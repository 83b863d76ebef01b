# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += libtools.a
libtools_a_SOURCES = \
	$(NULL)

# The program is main alone; all else is in the library, where tests reach it.
bin_PROGRAMS += rocesim
rocesim_SOURCES = tools/rocesim.c
rocesim_LDADD = $(project_libs) $(GLIB_LIBS) $(JANSSON_LIBS)

EXTRA_DIST += \
	$(NULL)

# ---- make lint -------------------------------------------------------------------------

clean-lint:
.PHONY: clean-lint
