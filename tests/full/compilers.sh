#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# compilers.sh - gcc and clang, optimised and not, write the same bytes.

compiled() { # NAME 'CONFIGURE ARGUMENTS': prints the program
    dir=$("$srcdir/tests/variant" "$1" "$2" rocesim) && echo "$dir/rocesim"
}

run() { # PROGRAM SCENARIO FOLDER
    "$1" run "$2" --out "$3" --force --quiet >/dev/null 2>"$TMPDIR/stderr"
    [ $? -le 1 ] || { sed 's/^/# /' "$TMPDIR/stderr"; return 1; }
    sed -i -E '/"(wall_s|packet_hops_per_s|peak_rss_bytes|threads)":/d' "$3/summary.json"
}

scenarios="$srcdir/scenarios/quickstart.json $srcdir/tests/data/determinism/incast96.json \
$srcdir/tests/data/determinism/lossy.json $srcdir/tests/data/determinism/poisson.json \
$srcdir/tests/data/determinism/short-fabric.json"
set -- $scenarios
echo "1..$((2 * $#))"
n=0
for variant in "clang:CC=clang" "plain:CC=gcc CFLAGS=-O1 --disable-lto"; do
    program=$(compiled "bytes-${variant%%:*}" "$(echo "${variant#*:}" | sed 's/CFLAGS=\(-O1\)/CFLAGS="\1"/')")
    for scenario in "$@"; do
        n=$((n + 1))
        name="$(basename "$scenario" .json): ${variant#*:}"
        rm -rf "$TMPDIR/a" "$TMPDIR/b"
        if [ -n "$program" ] && run "$ROCESIM" "$scenario" "$TMPDIR/a" &&
            run "$program" "$scenario" "$TMPDIR/b" &&
            diff -r "$TMPDIR/a" "$TMPDIR/b" >"$TMPDIR/diff"; then
            echo "ok $n - $name"
        else
            echo "not ok $n - $name"
            head -n 3 "$TMPDIR/diff" 2>/dev/null | sed 's/^/# /'
        fi
    done
done
