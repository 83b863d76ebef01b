#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# lint.sh - tools/lint/lint passes a small good tree and finds each kind of fault put into
# it, with the rule, the file and the line.

set -u
lint="$srcdir/tools/lint/lint"
work="$TMPDIR/work"
tree="$TMPDIR/tree"
unset LINT_CPPFLAGS
n=0

result()    # result NAME STATUS
{
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^#* */# /' "$TMPDIR/out"
    fi
}

put()       # put FILE: standard input becomes the file, below a licence line
{
    mkdir -p "$(dirname "$tree/$1")"
    { echo "/* SPDX-License-Identifier: GPL-3.0-or-later */"; cat; } >"$tree/$1"
}

good_tree()
{
    rm -rf "$tree" "$work"
    mkdir -p "$tree"
    : >"$tree/config.h"
    cp "$srcdir/.clang-format" "$tree"
    put sim/a.h <<'END'
#ifndef SIM_A_H
#define SIM_A_H
int a_get(void);
#endif
END
    put sim/a.c <<'END'
#include <config.h>

#include "sim/a.h"

static const char *const names[] = {"a", "b"};

int
a_get(void)
{
    return names[0][0];
}
END
    put models/packet.h <<'END'
#include "sim/a.h"
END
    put models/queue.h <<'END'
#include "models/packet.h"
END
    put models/net.h <<'END'
#include "models/switch/switch.h"
#include "models/nic/nic.h"
END
    put models/switch/switch.h <<'END'
#include "models/queue.h"
END
    put models/nic/nic.h <<'END'
#include "models/cc/cc.h"
#include "models/packet.h"
END
    put models/cc/cc.h <<'END'
#include "sim/a.h"
END
    printf 'CC(fast)\n' | put models/cc/cc_list.def
    printf 'TOPO(star)\n' | put topologies/topo_list.def
    printf 'WORK(flows, 1)\n' | put workloads/work_list.def
    printf 'TRACE( nccl )\n' | put workloads/trace/trace_list.def
    for file in models/cc/cc_fast topologies/topo_star workloads/gen_flows \
        workloads/trace/read_nccl tools/main tests/unit/test_a; do
        printf '#include <config.h>\n' | put $file.c
    done
    for folder in sim models topologies workloads tools tests; do
        (cd "$tree" && find $folder -type f | sed 's/\(tests.*\)\.c$/\1/') >"$TMPDIR/list"
        { echo '# SPDX-License-Identifier: GPL-3.0-or-later'; cat "$TMPDIR/list"; } \
            >"$tree/$folder/automake.mk"
    done
}

run_lint()  # run_lint [RULE]: as make does
{
    LINT_CPPFLAGS="-I$tree" "$lint" --root "$tree" --work "$work" "$@" >"$TMPDIR/out" 2>&1
}

# finds NAME RULE REGEX: the rule alone fails with a line that matches.
finds()
{
    local status=0

    if run_lint "$2"; then
        status=1
    elif ! grep -Eq "^# $3" "$TMPDIR/out"; then
        status=1
    fi
    result "$2 finds $1" $status
    good_tree
}

list()      # list FILE: puts it into its automake.mk
{
    echo "$1" >>"$tree/${1%%/*}/automake.mk"
}

echo 1..32
good_tree
run_lint
result "a good tree passes every rule" $?

upward='.* may not include'
put sim/a.h <<<'#include "models/packet.h"'
finds "sim that includes models" layers "sim/a.h:2: layers: $upward"
put models/queue.h <<<'#include "models/switch/switch.h"'
finds "a thing that includes a device" layers "models/queue.h:2: layers: $upward"
put models/cc/cc.h <<<'#include "models/packet.h"'
finds "cc that sees packets" layers "models/cc/cc.h:2: layers: $upward"
put models/switch/switch.h <<<'#include "models/nic/nic.h"'
finds "a switch that sees the NIC" layers "models/switch/switch.h:2: layers: $upward"
put models/nic/nic.h <<<'#include "models/net.h"'
finds "a NIC that sees the network" layers "models/nic/nic.h:2: layers: $upward"
put topologies/topo_star.c <<<$'#include <config.h>\n#include "workloads/work.h"'
finds "a topology that sees workloads" layers "topologies/topo_star.c:3: layers: $upward"
put workloads/gen_flows.c <<<$'#include <config.h>\n\n#include "topologies/topo.h"'
finds "a workload that sees topologies" layers "workloads/gen_flows.c:4: layers: $upward"
put workloads/gen_flows.c <<<$'#include <config.h>\n#  include "tools/main.h"'
finds "a workload that sees tools" layers "workloads/gen_flows.c:3: layers: $upward"
put sim/a.c <<<$'#include <config.h>\n#include "a.h"'
finds "an include without its path" layers 'sim/a.c:3: layers: "a.h" is not named by its path'
put sim/a.c <<<$'#include <config.h>\n#include <glib.h>'
finds "GLib under sim" layers 'sim/a.c:3: layers: <glib.h> is for'
put sim/a.c <<<$'#include <config.h>\n#include <mpi.h>'
finds "MPI outside sim/mpi.c" layers 'sim/a.c:3: layers: <mpi.h> is for sim/mpi.c'
put scenarios/x.c <<<'#include <config.h>'
finds "a source where none belongs" layers 'scenarios/x.c:2: layers: no line of'

put sim/b.c <<<'#include <config.h>'
finds "a source nobody builds" listed 'sim/b.c:1: listed: in no list of sim/automake.mk'
put tests/unit/test_b.c <<<'#include <config.h>'
finds "a test nobody runs" listed 'tests/unit/test_b.c:1: listed:'
mkdir -p "$tree/scenarios" && echo '{}' >"$tree/scenarios/x.json"
finds "a scenario that is not in the tarball" listed 'scenarios/x.json:1: listed:'

put models/cc/cc_slow.c <<<'#include <config.h>'
finds "a cc not in its list" registries "models/cc/cc_slow.c:1: registries: 'slow' is not in"
echo 'CC(slow)' >>"$tree/models/cc/cc_list.def"
finds "a cc without its file" registries "models/cc/cc_list.def:3: registries: 'slow' has no"
put topologies/topo_ring.c <<<'#include <config.h>'
finds "a topology not in its list" registries "topologies/topo_ring.c:1: registries:"
put workloads/gen_noise.c <<<'#include <config.h>'
finds "a workload not in its list" registries "workloads/gen_noise.c:1: registries:"
rm "$tree/workloads/trace/trace_list.def"
finds "a missing list" registries "workloads/trace/read_nccl.c:1: registries: there is no"

put sim/a.c <<<$'#include <config.h>\nint runs = 1;'
finds "a global variable" globals "sim/a.c:3: globals: variable 'runs'"
put sim/a.c <<<$'#include <config.h>\nint f(void);\nint f(void)\n{ static int calls; return calls++; }'
finds "a static local that changes" globals "sim/a.c:5: globals: variable 'calls'"
put sim/a.c <<<$'#include <config.h>\n_Thread_local int *mine;'
finds "a variable of a thread" globals "sim/a.c:3: globals: variable 'mine'"
put sim/a.c <<<$'#include <config.h>\nint f(void) { return x; }'
finds "a source that does not compile" globals 'sim/a.c:1: globals: does not compile: .*error'

put models/packet.h <<<'size_t packet_size(void);'
finds "a header that leans on others" headers 'models/packet.h:1: headers: does not compile alone'
put sim/a.c <<<$'#include "sim/a.h"\n#include <config.h>'
finds "a .c with config.h second" config 'sim/a.c:2: config: the first include'
echo '#include <config.h>' >"$tree/sim/a.c"
finds "a source without licence" licence 'sim/a.c:1: licence:'
put sim/a.c <<<$'#include <config.h>\n\n/* TO''DO: later */'
finds "a note for later" words "sim/a.c:4: words: 'TO""DO'"
put sim/a.c <<<$'#include <config.h>\n/* methodology, hacker */'
run_lint words
result "words finds whole words only" $?
good_tree

if run_lint format && grep -q SKIP "$TMPDIR/out"; then
    n=$((n + 1))
    echo "ok $n - # SKIP clang-format 14 is not installed"
else
    put sim/a.h <<<$'#ifndef SIM_A_H\n#define SIM_A_H\nint  a_get( void );\n#endif'
    finds "a line formatted otherwise" format 'sim/a.h:4: format:'
fi

run_lint no-such-rule
[ $? -eq 1 ] && grep -q "'no-such-rule' is no rule" "$TMPDIR/out"
result "an unknown rule is an error" $?
