#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# golden.sh - runs each tests/golden/CASE/scenario.json and compares every file with those
# beside it, byte for byte; of summary.json the four keys that depend on the machine and the
# version are left out.
#
#   GOLDEN_ACCEPT=CASE ROCESIM=./rocesim srcdir=. TMPDIR=/tmp/x tests/golden/golden.sh
# writes them anew; the commit says why results have moved.

cases=$(cd "$srcdir/tests/golden" && echo */)
echo "1..$(echo $cases | wc -w)"
n=0
for case in $cases; do
    case=${case%/}
    from="$srcdir/tests/golden/$case"
    n=$((n + 1))
    rm -rf "$TMPDIR/got"
    "$ROCESIM" run --quiet --out "$TMPDIR/got" "$from/scenario.json" >"$TMPDIR/out" 2>&1
    status=$?
    sed -i '/"version": \|"wall_s": \|"packet_hops_per_s": \|"peak_rss_bytes": \|"threads": /d' "$TMPDIR/got/summary.json"
    if [ "$GOLDEN_ACCEPT" = "$case" ]; then
        for f in "$TMPDIR"/got/*; do cp "$f" "$from/"; done
    fi
    differs=
    for f in "$TMPDIR"/got/*; do
        diff -u "$from/${f##*/}" "$f" >"$TMPDIR/diff" 2>&1 || { differs="$differs ${f##*/}"; cat "$TMPDIR/diff" >>"$TMPDIR/diffs"; }
    done
    for f in "$from"/*; do
        [ "${f##*/}" = scenario.json ] || [ -e "$TMPDIR/got/${f##*/}" ] || differs="$differs -${f##*/}"
    done
    if [ "$status" -le 1 ] && [ -z "$differs" ]; then
        echo "ok $n - $case"
    else
        echo "not ok $n - $case"
        echo "# status $status, differs:$differs"
        sed 's/^/# /' "$TMPDIR/out" "$TMPDIR/diffs" 2>/dev/null | head -n 40
    fi
done
