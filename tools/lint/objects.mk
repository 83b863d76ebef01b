# SPDX-License-Identifier: GPL-3.0-or-later
#
# objects.mk - compiles every source and every header once more for tools/lint/lint, in a
# folder of its own and only what changed.  Without link-time optimisation, sanitizers and
# position independence, so that what nm calls data is data that somebody wrote.
#
# Given: ROOT, SOURCES, HEADERS (below ROOT), CC, CPPFLAGS.

FLAGS = -std=gnu17 -O1 -fno-lto -fno-pic -fno-pie -DPKGDATADIR='""' $(CPPFLAGS) -MMD -MP

objects = $(SOURCES:=.o)
alone = $(HEADERS:=.alone)

all: $(objects) $(alone)

# An error is a finding of the rule that asks, not the end of this.
$(objects): %.o: $(ROOT)/%
	@mkdir -p $(@D)
	@$(CC) $(FLAGS) -w -c -o $@ $< 2>$@.err || rm -f $@

$(alone): %.alone: $(ROOT)/%
	@mkdir -p $(@D)
	@echo '#include "$*"' >$@.c
	@rm -f $@
	@if $(CC) $(FLAGS) -MF $@.d -MT $@ -w -c -o $@.o $@.c 2>$@.err; then touch $@; fi

.PHONY: all
-include $(objects:.o=.d) $(alone:=.d)
