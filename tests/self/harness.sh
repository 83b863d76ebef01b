#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# harness.sh - tests/harness counts what tests say, and what they leave unsaid.

set -u
n=0

# counts NAME SUM STATUS SCRIPT [OPTION...]: one test that is SCRIPT.
counts()
{
    local name=$1 sum=$2 wanted=$3 script=$4 status
    shift 4

    n=$((n + 1))
    rm -rf "$TMPDIR/build"
    mkdir -p "$TMPDIR/build/tests"
    printf '#!/bin/bash\n%s\n' "$script" >"$TMPDIR/build/tests/t"
    chmod +x "$TMPDIR/build/tests/t"
    (cd "$TMPDIR/build" && ONLY= "$srcdir/tests/harness" -s "$srcdir" "$@" tests/t) \
        >"$TMPDIR/out" 2>&1
    status=$?
    if [ "$(tail -n 1 "$TMPDIR/out")" = "$sum" ] && [ $status -eq "$wanted" ]; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        sed 's/^/# /' "$TMPDIR/out"
        echo "# status $status"
    fi
}

echo 1..14
counts "passes" "2 passed, 0 failed" 0 'echo 1..2; echo ok 1 - a; echo ok 2 - b'
counts "a failure" "1 passed, 1 failed" 1 'echo 1..2; echo ok 1; echo not ok 2 - b; exit 1'
counts "a failure with status 0" "0 passed, 1 failed" 1 'echo 1..1; echo not ok 1 - b'
counts "a crash after passes" "1 passed, 1 failed" 1 'echo 1..2; echo ok 1; kill -SEGV $$'
counts "a status that no test explains" "1 passed, 1 failed" 1 'echo 1..1; echo ok 1; exit 3'
counts "fewer results than planned" "1 passed, 1 failed" 1 'echo 1..2; echo ok 1'
counts "no output" "0 passed, 1 failed" 1 'exit 0'
counts "a hang" "1 passed, 1 failed" 1 'echo 1..2; echo ok 1; sleep 60' -t 1
counts "cmocka's skip" "1 passed, 0 failed, 1 skipped" 0 \
    'echo 1..2; echo ok 1 - a; echo not ok 2 "# SKIP b"'
counts "a skipped program" "0 passed, 0 failed, 1 skipped" 1 'echo "1..0 # SKIP no clang"'
counts "two groups in a program" "3 passed, 0 failed" 0 \
    'echo 1..1; echo ok 1; echo 1..2; echo ok 1; echo ok 2'
counts "a plan at the end" "1 passed, 0 failed" 0 'echo ok 1; echo 1..1'
counts "the environment of a test" "1 passed, 0 failed" 0 \
    'echo 1..1; [ -d "$srcdir" ] && [ -d "$builddir" ] && [ -d "$TMPDIR" ] && echo ok 1'
counts "text that only looks like a result" "1 passed, 0 failed" 0 \
    'echo 1..1; echo okay; echo "nothing is not ok"; echo ok 1'
