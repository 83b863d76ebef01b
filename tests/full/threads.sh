#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# threads.sh - a build with ThreadSanitizer runs the determinism pairs and the engine's
# property test without a report.

echo 1..3
dir=$("$srcdir/tests/variant" thread '--enable-sanitize=thread' rocesim \
    tests/property/prop_engine) || dir=
export TSAN_OPTIONS="halt_on_error=1 exitcode=66"
[ -n "$dir" ]
[ $? -eq 0 ] && echo "ok 1 - built" || { echo "not ok 1 - built"; exit 1; }
if ROCESIM="$dir/rocesim" "$srcdir/tests/full/determinism.sh" >"$TMPDIR/out" 2>&1 &&
    ! grep -q '^not ok' "$TMPDIR/out"; then
    echo "ok 2 - determinism"
else
    echo "not ok 2 - determinism"
    sed 's/^/# /' "$TMPDIR/out"
fi
if "$dir/tests/property/prop_engine" >"$TMPDIR/out" 2>&1; then
    echo "ok 3 - prop_engine"
else
    echo "not ok 3 - prop_engine"
    tail -n 20 "$TMPDIR/out" | sed 's/^/# /'
fi
