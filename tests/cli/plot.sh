#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# plot.sh - pictures of a run: there when there is data, a sentence when there is none.

n_tests=8
. "$srcdir/tests/cli/lib.sh"

scenario s.json

roce 0 run --set 'workload[0].bytes=4MB' --out r s.json
is "a run to draw" $?
mkdir bin
ln -s "$(command -v rocesim || echo "$ROCESIM")" bin/rocesim
PATH="$TMPDIR/bin" "$ROCESIM" plot r >out 2>err
[ $? -eq 3 ] && complains "gnuplot cannot be started"
is "without gnuplot: status 3 and one line" $?

if ! command -v gnuplot >/dev/null; then
    for name in svg sentence contents png again without; do
        skip "pictures: $name" "no gnuplot"
    done
    exit 0
fi
roce 0 plot r && grep -qx 'r/plots' out && [ -s r/plots/queue.svg ] && [ -s r/plots/utilisation.svg ]
is "queue and links are drawn" $?
grep -q 'no picture of collectives: the run has none' err && [ ! -e r/plots/busbw.svg ]
is "a picture without data is a sentence" $?
grep -q 'leaf0:0, class 3' r/plots/queue.svg && grep -q kmin r/plots/queue.svg && grep -q 'simulated time' r/plots/queue.svg
is "title, thresholds and axes are in it" $?
roce 0 plot --png --quiet r && [ ! -s err ] && head -c 4 r/plots/queue.png | grep -q PNG
is "--png draws PNG" $?
roce 0 run --plot --force --quiet --out r s.json && [ -s r/plots/utilisation.svg ] && [ ! -e r/plots/queue.png ]
is "run --plot draws into the new folder" $?
roce 0 run --set output.sample=off --plot --out bare s.json && grep -q 'no samples' err
is "without samples there is nothing to draw, and it is said" $?
