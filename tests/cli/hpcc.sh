#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# hpcc.sh - `compat: "hpcc"` from outside: fct.txt and pfc.txt as that simulator writes them,
# read by a script that knows their format only; the same bytes on any number of threads.

n_tests=10
. "$srcdir/tests/cli/lib.sh"
cases=$srcdir/tests/data/ns3
analysis=$srcdir/tests/support/fct_analysis.py

roce 0 run --quiet --out ring "$cases/W3/A_ps/scenario.json"
is "a ring of 64 hosts runs" $?
sort ring/fct.txt >ours && sort "$cases/W3/A_ps/fct.txt" | diff - ours >diff
is "its fct.txt is that of the reference" $?
test -f ring/pfc.txt && test ! -s ring/pfc.txt
is "no pause, and pfc.txt is there" $?

roce 0 run --quiet --out incast "$cases/W1/E_ps/scenario.json"
is "an incast without rate control runs" $?
sort incast/pfc.txt >ours && sort "$cases/W1/E_ps/pfc.txt" | diff - ours >diff
is "its pfc.txt has the lines of the reference" $?

if python3 -c '' 2>/dev/null; then
    python3 "$analysis" ring/fct.txt >out 2>err && test "$(wc -l <out)" -eq 20 &&
        grep -q '^5 8000000 1\.05[0-9] 1\.05[0-9] 1\.05[0-9]$' out && grep -q '^100 ' out
    is "an analysis of the format reads it: 20 bins" $?
    # 13.41 ms of 0.84256: all flows alike.
    python3 "$analysis" -s 50 incast/fct.txt >out 2>err &&
        grep -q '^100 10000000 15\.9[0-9]* 15\.9[0-9]* 15\.9[0-9]*$' out
    is "and the incast's" $?
else
    skip "an analysis of the format reads it" "no python3"
    skip "and the incast's" "no python3"
fi

ok=0
for how in "--threads 1 --partition node" "--threads 2 --partition node" "--threads 2"; do
    rm -rf again
    # shellcheck disable=SC2086
    roce 0 run --quiet --out again $how --set stop=200us --set output.sample=10us \
        "$cases/W1/E_ps/scenario.json" || roce 1 run --quiet --force --out again $how \
        --set stop=200us --set output.sample=10us "$cases/W1/E_ps/scenario.json" || ok=1
    rm -f again/summary.json
    [ -d first ] || cp -r again first
    diff -r first again >diff || ok=1
done
is "threads and partition change nothing" $ok

roce 0 run --quiet --out back incast/config.json && cmp -s back/fct.txt incast/fct.txt &&
    cmp -s back/pfc.txt incast/pfc.txt && cmp -s back/config.json incast/config.json
is "config.json repeats the run" $?

scenario plain.json
roce 0 run --quiet --out plain plain.json && test ! -e plain/pfc.txt
is "without compat there is no pfc.txt" $?
