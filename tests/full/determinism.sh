#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The results of a run are the same bytes at any thread count, partition and repeat.
#
# usage: determinism.sh [full]      full: all threads x partitions x 5 repeats, as TAP; else
#                                   a set of pairs in which each value meets each other one
# Environment: ROCESIM (the program), srcdir, TMPDIR; see tests/harness.
set -u
mode=${1:-pairs}
rocesim=${ROCESIM:-./rocesim}
src=${srcdir:-.}
work=$(mktemp -d "${TMPDIR:-/tmp}/determinism.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT

scenarios="$src/scenarios/quickstart.json $(echo "$src"/tests/data/determinism/*.json)"

# threads partition, one a line; the first is what the others are held against.
pairs() {
    printf '%s\n' '1 one' '2 rack' '4 node' '1 node' '4 rack' '2 one' '2 node'
}
full() {
    for repeat in 1 2 3 4 5; do
        for threads in 1 2 4; do
            for partition in one rack node; do
                echo "$threads $partition"
            done
        done
    done
}

# The four keys of summary.json that depend on the machine are taken out.
normalise() {
    sed -E '/"(wall_s|packet_hops_per_s|peak_rss_bytes|threads)":/d' "$1/summary.json" \
        >"$1/summary.rest" && rm "$1/summary.json"
}

set -- $scenarios
n=0
echo "1..$#"
for scenario in "$@"; do
    n=$((n + 1))
    name=$(basename "$scenario" .json)
    why=
    runs=0
    rm -rf "$work/first"
    "$mode" >"$work/ways"
    while read -r threads partition; do
        out="$work/first"
        [ -d "$out" ] && out="$work/next"
        rm -rf "$work/next"
        "$rocesim" run "$scenario" --out "$out" --threads "$threads" \
            --partition "$partition" --quiet >"$work/stdout" 2>"$work/stderr"
        status=$?
        if [ $status -gt 1 ] || [ ! -f "$out/summary.json" ]; then
            why="threads $threads partition $partition: status $status: $(head -n 1 "$work/stderr")"
            break
        fi
        normalise "$out"
        runs=$((runs + 1))
        if [ "$out" = "$work/next" ] && ! diff -r "$work/first" "$work/next" >"$work/diff"; then
            why="threads $threads partition $partition: $(head -n 1 "$work/diff")"
            break
        fi
    done <"$work/ways"
    if [ -z "$why" ]; then
        echo "ok $n - $name: $runs runs, the same bytes"
    else
        echo "not ok $n - $name"
        echo "# $why"
    fi
done
