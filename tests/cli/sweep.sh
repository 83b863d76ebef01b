#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# sweep.sh - `rocesim sweep`: the same bytes however many runs at a time, in parts, after an
# end in the middle; runs that end badly; what is refused.

n_tests=38
. "$srcdir/tests/cli/lib.sh"

scenario s.json '"stop": "10ms"'

# sweep FILE [KEYS]: a grid of 2 x 2 points with 2 seeds over s.json.
sweep()
{
    cat >"$1" <<END
{"name": "grid", "base": "s.json", "seeds": 2,
 "axes": {"nic.mtu": [1024, 4096], "workload[0].bytes": ["16KiB", "1MiB"]},
 "metrics": ["flows.n", "flows.fct_us.p99", "collectives[0].busbw_GBps"]${2:+, $2}}
END
}

sweep g.json
roce 0 sweep g.json -j 1 && [ ! -s err ] && grep -q '^sweep  *grid, 4 points, 8 of 8 runs done, 8 well$' out
is "a sweep runs all of its runs" $?
[ "$(ls results/grid | tr '\n' ' ')" = "runs runs.csv sweep.csv sweep.json " ] &&
    [ "$(ls results/grid/runs | wc -l)" -eq 8 ] &&
    [ "$(ls results/grid/runs/0003-seed2 | tr '\n' ' ')" = "config.json run.json summary.json " ]
is "a folder of tables and a folder a run" $?
[ "$(wc -l <results/grid/runs.csv)" -eq 9 ] && [ "$(wc -l <results/grid/sweep.csv)" -eq 5 ] &&
    [ "$(head -n 1 results/grid/runs.csv)" = "run,point,nic.mtu,workload[0].bytes,seed,verdict,status,flows.n,flows.fct_us.p99,collectives[0].busbw_GBps" ]
is "a line a run and a line a point, names above them" $?
awk -F, 'NR > 1 && ($1 != NR - 2 || $2 != int((NR - 2) / 2) || $5 != 1 + (NR - 2) % 2 ||
    $6 != "complete" || $7 != 0 || $8 != 2 || $9 <= 0 || $10 != "") { exit 1 }' results/grid/runs.csv
is "runs in their order; a metric that is not there is empty" $?
# The columns behind the axes: runs good, then n mean sd ci95 of each metric.
awk -F, 'FNR == 1 { next }
    NR == FNR { n[$2]++; sum[$2] += $9; squares[$2] += $9 * $9; next }
    { mean = sum[$1] / 2; sd = sqrt(squares[$1] - 2 * mean * mean)
      if ($4 != 2 || $5 != 2 || $10 != 2 || ($11 - mean) ^ 2 > 1e-9 || ($12 - sd) ^ 2 > 1e-5 ||
          ($13 - 12.7062 * $12 / sqrt(2)) ^ 2 > 1e-3 || $14 != 0 || $15 != "") exit 1 }' \
    results/grid/runs.csv results/grid/sweep.csv
is "mean, deviation and interval are those of the runs" $?
"$ROCESIM" run --quiet --set nic.mtu=4096 --set 'workload[0].bytes=16KiB' --seed 2 --out one s.json >/dev/null &&
    [ "$(jq .flows.fct_us.p99 one/summary.json)" = "$(awk -F, '$3 == 4096 && $4 == "16KiB" && $5 == 2 { print $9 }' results/grid/runs.csv)" ]
is "a run gives what 'rocesim run' with these values gives" $?
grep -q '^  *0  *1024  *16KiB  *2 of 2  *2 +- 0  ' out
is "the table shows means and intervals" $?

roce 0 sweep g.json -j 3 --out three && cmp -s results/grid/runs.csv three/runs.csv &&
    cmp -s results/grid/sweep.csv three/sweep.csv
is "three at a time give the same bytes" $?
roce 0 sweep g.json -j2 --out two && cmp -s results/grid/runs.csv two/runs.csv
is "-j2 is -j 2" $?
roce 0 sweep results/grid/sweep.json --out again && cmp -s results/grid/runs.csv again/runs.csv &&
    cmp -s results/grid/sweep.json again/sweep.json
is "sweep.json repeats the sweep" $?

# ---- going on ----

roce 2 sweep g.json && complains "results/grid: exists already; --resume"
is "a sweep that is there is refused" $?
mkdir other && echo mine >other/diary
roce 2 sweep g.json --force --out other && complains "is no folder of a sweep" && [ -s other/diary ]
is "so is a folder of something else, with --force too" $?
rm -r three/runs/0001-seed1 three/runs/0002-seed2
touch three/runs/0000-seed1/mark three/runs/0001-seed2/mark
roce 0 sweep g.json --resume --out three && cmp -s results/grid/sweep.csv three/sweep.csv &&
    [ -e three/runs/0000-seed1/mark ] && [ -e three/runs/0001-seed2/mark ] && [ -s three/runs/0001-seed1/summary.json ]
is "--resume does what is missing and nothing else" $?
sweep h.json '"zip": {"switch.alpha": [2]}'
roce 0 sweep h.json --resume --out three && [ ! -e three/runs/0000-seed1/mark ] &&
    jq -e '.switch.alpha == 2' three/runs/0000-seed1/config.json >/dev/null
is "--resume does runs of another scenario again" $?
roce 0 sweep g.json --force --out three && cmp -s results/grid/sweep.csv three/sweep.csv &&
    jq -e '.switch.alpha == 1' three/runs/0003-seed1/config.json >/dev/null
is "--force does all again" $?
sed 's/"seeds": 2/"seeds": 1/' g.json >less.json
roce 0 sweep less.json --resume --out three && [ "$(ls three/runs | wc -l)" -eq 4 ]
is "runs that are none of the sweep's go" $?

# ---- in parts ----

roce 0 sweep g.json --shard 1/3 --out a && [ "$(wc -l <a/runs.csv)" -eq 4 ] &&
    roce 0 sweep g.json --shard 2/3 --out b && roce 0 sweep g.json --shard 3/3 --out c &&
    [ "$(wc -l <c/runs.csv)" -eq 3 ]
is "--shard does its part" $?
roce 0 sweep g.json --collect a b c --out all && cmp -s results/grid/sweep.csv all/sweep.csv &&
    cmp -s results/grid/runs.csv all/runs.csv && [ "$(ls all/runs | wc -l)" -eq 8 ]
is "--collect puts the parts together" $?
roce 1 sweep g.json --collect c a --out most && [ "$(grep -c ,missing, most/runs.csv)" -eq 3 ]
is "a part that is missing shows, status 1" $?
roce 1 sweep h.json --collect a b c --out none && [ "$(grep -c ,missing, none/runs.csv)" -eq 8 ]
is "runs of another scenario are not taken" $?
roce 2 sweep g.json --collect other --out x && complains "'other' is no folder of a sweep" && [ ! -e x ]
is "nor a folder that is none of a sweep" $?
for arguments in "--shard 0/2" "--shard 3/2" "--shard 2" "--shard x/y" "--collect" "--collect a --resume" \
    "--collect a -j 2" "--resume --force" "-j 0" "-j x" "a"; do
    # Words are meant to split.
    # shellcheck disable=SC2086
    roce 2 sweep g.json --out x $arguments && complains "" && [ ! -e x ] && [ ! -s out ] || break
done
[ "$arguments" = a ] && [ ! -e x ]
is "arguments that make no sense are one line, status 2" $?

# ---- runs that end badly ----

sweep bad.json '"zip": {"stop": ["10ms", "20us"]}'
roce 1 sweep bad.json --out bad && [ "$(grep -c ',incomplete,1,2,' bad/runs.csv)" -eq 4 ] &&
    [ "$(grep -c ',complete,0,2,' bad/runs.csv)" -eq 12 ] && awk -F, '$3 == "1MiB" && $4 == "20us" {
        if ($5 != 2 || $6 != 0 || $7 != 0 || $8 != "") exit 1; n++ } END { exit n == 2 ? 0 : 1 }' bad/sweep.csv
is "an incomplete run is a line, counts in no mean, and makes status 1" $?
cat >part.json <<'END'
{"base": "s.json", "axes": {"workload[0].receiver": [0, 9]}, "metrics": ["flows.n"]}
END
roce 1 sweep part.json --out part && complains 'point 1 (workload\[0\].receiver=9): s.json: workload\[0\].receiver: is 9' &&
    grep -q '^1,1,9,1,bad-input,2,$' part/runs.csv && grep -q '^0,0,0,1,complete,0,2$' part/runs.csv
is "a run that cannot be built is a line with its reason" $?
sweep met.json '"zip": {"stop": ["1us"], "expect": [{"verdict": "incomplete"}]}'
roce 0 sweep met.json --out met && [ "$(grep -c ',incomplete,0,2,' met/runs.csv)" -eq 8 ]
is "a bad verdict that is expected is a good one" $?
sweep keep.json '"keep": "all"'
roce 0 sweep keep.json --out keep && cmp -s keep/runs.csv results/grid/runs.csv &&
    [ -s keep/runs/0000-seed1/flows.csv ] && [ -s keep/runs/0000-seed1/series.csv ]
is "keep all keeps all files" $?

# ---- interrupted ----

cat >long.json <<'END'
{"base": {"topology": {"type": "star", "hosts": 4, "host_link": {"rate": "100G", "length": "3m"}},
          "workload": [{"type": "permutation", "shift": 1, "bytes": "1MB"}]},
 "axes": {"workload[0].bytes": ["100KB", "1000GB"]}, "metrics": ["flows.n"]}
END
"$ROCESIM" sweep long.json -j 1 --out long >out 2>err &
pid=$!
tries=0
until [ -e long/runs/0000-seed1/summary.json ] || [ $tries -ge 200 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -INT $pid
wait $pid
[ $? -eq 130 ] && grep -q '^0,0,100KB,1,complete,0,4$' long/runs.csv && grep -q ',missing,,$' long/runs.csv &&
    [ -s long/sweep.csv ] && [ -z "$(find long -name '.*part*')" ]
is "SIGINT leaves what is done, status 130" $?
sed -i 's/1000GB/200KB/' long.json
roce 0 sweep long.json --resume --out long && [ "$(grep -c complete long/runs.csv)" -eq 2 ]
is "and --resume goes on" $?

# ---- bad sweeps ----

refuses()    # refuses NAME PATTERN CONTENT
{
    printf '%s\n' "$3" >r.json
    roce 2 sweep r.json && complains "$2" && [ ! -s out ] && [ ! -e results/r ]
    is "refused: $1" $?
}

refuses "no JSON" 'r.json:2: ' '{"base": '
refuses "no base" 'r.json: base: ' '{"axes": {"nic.mtu": [1024]}}'
refuses "a base that is not there" 'gone.json: No such file' '{"base": "gone.json"}'
refuses "a key that does not exist" "r.json: axis: no such key; nearest is 'axes'" '{"base": "s.json", "axis": {}}'
refuses "a path that does not exist" "point 0 (nic.mtv=1024): s.json: nic.mtv: no such key; nearest is 'mtu'" \
    '{"base": "s.json", "axes": {"nic.mtv": [1024]}}'
refuses "a value that cannot be" 'point 1 (nic.mtu=7): s.json: nic.mtu: ' '{"base": "s.json", "axes": {"nic.mtu": [1024, 7]}}'
refuses "a metric that does not exist" "metrics\[0\]: is \"flows.p99\": no such value" \
    '{"base": "s.json", "metrics": ["flows.p99"]}'
refuses "values that do not pair" 'has 1 values; allowed is 2' \
    '{"base": "s.json", "zip": {"nic.mtu": [1024, 2048], "seeds": [1]}}'
roce 2 sweep gone.json && complains 'gone.json: No such file'
is "refused: a sweep that is not there" $?
touch file
roce 3 sweep g.json --out file/below && complains "file/below"
is "a folder that cannot be made is status 3" $?
