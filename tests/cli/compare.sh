#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# compare.sh - runs side by side: figures, changes, keys, flows; what is doubtful is said.

n_tests=17
. "$srcdir/tests/cli/lib.sh"

scenario s.json
"$ROCESIM" run --quiet --set 'workload[0].bytes=1MB' --out a s.json >out 2>err &&
    "$ROCESIM" run --quiet --set 'workload[0].bytes=1MB' --set workload[0].senders='["host1", "host2"]' --set cc.preset=paper --set nic.mtu=1024 --out b s.json >out 2>err &&
    "$ROCESIM" run --quiet --set 'workload[0].bytes=2MB' --out c s.json >out 2>err
is "three runs" $?

roce 0 compare a b && [ ! -s err ]
is "two of them are compared" $?
a=$(jq .flows.fct_us.p50 a/summary.json) b=$(jq .flows.fct_us.p50 b/summary.json)
awk -v a="$a" -v b="$b" '/^completion time p50, us/ {
        if (sprintf("%.2f", a) != $5 || sprintf("%.2f", b) != $6 || sprintf("%+.1f", 100 * (b - a) / a) != $7) { exit 1 } seen = 1 }
    END { exit !seen }' out
is "figures, and their change in percent" $?
grep -q '^drops for lack of buffer  *0  *0  *=$' out
is "what is the same is a sign" $?
grep -q '^cc.preset  *mlx5  *paper$' out && grep -q '^nic.mtu  *4096  *1024$' out && ! grep -q '^name ' out
is "the keys that differ, and no other" $?
grep -q '^flows of B  2 matched; 2 done in both, slowdown [+-][0-9.]* % on the mean$' out &&
    grep -q 'largest [rf][ia][sl][el] .* workload 0, flow [01], host[12] to host0, 1000000 B$' out
is "flows are matched, and the largest change is named" $?

roce 0 compare a c && grep -q '^flows of B  2 matched, 2 with other ends or bytes; 0 done in both$' out
is "flows of other sizes are not compared" $?
roce 0 compare a b c a && [ "$(grep -c '^figure' out)" -eq 2 ] && grep -q '^note: D is of the same scenario and seed as A' out &&
    ! grep -q '.\{101\}' out
is "four fit in 100 columns, in two tables" $?

roce 0 compare --json a b && jq -e '(.runs | length) == 2 and .runs[0].dir == "a" and .runs[1].verdict == "complete" and
    (.figures[] | select(.key == "fabric.drops") | .values == [0, 0] and .change_percent == [0, 0]) and
    (.keys | map(.key) | index("nic.mtu") != null) and (.keys[] | select(.key == "nic.mtu") | .values == [4096, 1024]) and
    .flows[0].matched == 2 and .flows[0].compared == 2 and .notes == []' out >/dev/null
is "--json has the same" $?
jq -e --slurpfile a a/summary.json --slurpfile b b/summary.json '.figures[] | select(.key == "flows.fct_us.p99") |
    .values == [$a[0].flows.fct_us.p99, $b[0].flows.fct_us.p99]' out >/dev/null
is "to all places" $?

# By hand: a flow whose slowdown doubles, one that halves.
cp -r a d && awk -F, -v OFS=, 'NR == 2 { $12 *= 2 } NR == 3 { $12 /= 2 } { print }' a/flows.csv >d/flows.csv
roce 0 compare --json a d && jq -e '.flows[0] | .largest_rise.change_percent > 99.99 and .largest_rise.change_percent < 100.01 and
    (.largest_rise.flow | test("^workload 0, flow 0, host1 to host0")) and
    .largest_fall.change_percent > -50.01 and .largest_fall.change_percent < -49.99 and (.largest_fall.flow | test("flow 1")) and
    .mean_change_percent > 24.9 and .mean_change_percent < 25.1' out >/dev/null
is "largest rise and fall" $?
sed -i 3d d/flows.csv
roce 0 compare a d && grep -q '^flows of B  1 matched, 1 only in A, 0 only in B' out
is "flows of one run only are counted" $?

sed -i 's/"version": "[^"]*"/"version": "0.0.9"/' d/summary.json
roce 0 compare a d && grep -q '^note: B is of version 0.0.9, A of ' out
is "another version is said" $?
sed -i 's/"verdict": "[^"]*"/"verdict": "interrupted"/' d/summary.json
"$ROCESIM" run --quiet --set 'workload[0].bytes=1MB' --set stop=5us --out e s.json >out 2>err
roce 0 compare a d e && grep -q '^note: B was interrupted' out && grep -q '^note: C (incomplete) has work that has not ended' out
is "and so is a run that was interrupted or has not ended" $?

roce 2 compare a && complains "DIR DIR"
is "one folder is not enough" $?
roce 2 compare a nowhere && complains "nowhere: no folder of results"
is "what is no folder of results is named" $?
rm d/flows.csv
roce 2 compare a d && complains "d/flows.csv: "
is "and so is a file that is missing" $?
