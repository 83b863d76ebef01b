#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# plot.sh - pictures of a run: there when there is data, a sentence when there is none; with
# title, units and the presets; the same bytes for the same run.

n_tests=26
. "$srcdir/tests/cli/lib.sh"

scenario s.json

roce 0 run --set 'workload[0].bytes=4MB' --out r s.json
is "a run to draw" $?
mkdir bin
ln -s "$(command -v rocesim || echo "$ROCESIM")" bin/rocesim
PATH="$TMPDIR/bin" "$ROCESIM" plot r >out 2>err
[ $? -eq 3 ] && complains "gnuplot cannot be started"
is "without gnuplot: status 3 and one line" $?
roce 2 plot bin && complains "no folder of results"
is "a folder of something else is bad input" $?
cp -r r torn && sed -i '3s/,/;/g' torn/series.csv
roce 2 plot torn && complains "torn/series.csv:3: 1 columns; the first line has 8"
is "a line that is none of its table is named" $?

if ! command -v gnuplot >/dev/null; then
    while [ "$n" -lt "$n_tests" ]; do
        skip "pictures" "no gnuplot"
    done
    exit 0
fi

# has FILE TEXT...: the picture holds each of the texts.
has()
{
    file=$1
    shift
    for text in "$@"; do
        grep -q -- ">$text" "$file" || { echo "# $file: no '$text'"; return 1; }
    done
}

roce 0 plot r && grep -qx 'r/plots' out && [ -s r/plots/queue.svg ] && [ -s r/plots/utilisation.svg ]
is "queue and links are drawn" $?
grep -q "no picture 'busbw': the run has no collectives" err && [ ! -e r/plots/busbw.svg ] &&
    grep -q "no picture 'pauses': nothing was paused" err && [ ! -e r/plots/pauses.svg ] &&
    grep -q "no picture 'slowdown': fewer than ten" err && [ ! -e r/plots/slowdown.svg ]
is "a picture without data is a sentence" $?
roce 0 plot --png --quiet r && [ ! -s err ] && head -c 4 r/plots/queue.png | grep -q PNG
is "--png draws PNG" $?
roce 0 run --plot --force --quiet --out r s.json && [ -s r/plots/utilisation.svg ] && [ ! -e r/plots/queue.png ]
is "run --plot draws into the new folder" $?
roce 0 run --set output.sample=off --plot --out bare s.json && grep -q "no picture 'queue': the run has no samples" err &&
    [ ! -e bare/plots/queue.svg ] && [ ! -e bare/plots/rates.svg ] && [ -s bare/plots/links.svg ] && [ -s bare/plots/fct.svg ]
is "without samples what needs none is drawn, and the rest is said" $?

# ---- an incast that pauses ----

cat >pfc.json <<'END'
{"name": "inc%st \"a\"",
 "topology": {"type": "leaf-spine", "hosts": 16, "hosts_per_leaf": 4, "spines": 2, "uplinks_per_leaf": 2},
 "switch": {"buffer": "1MB", "alpha": 0.25, "ecn": "lab"},
 "workload": [{"type": "incast", "senders": 8, "receiver": 0, "bytes": "1MB"}]}
END
roce 0 run --plot --quiet --threads 1 --out p1 pfc.json && [ ! -s err ]
is "an incast with PFC, drawn" $?
has p1/plots/queue.svg 'inc%st "a": the longest egress queues' 'simulated time (us)' 'queue (kB)' \
    'leaf0:0 to host0, class 3' 'ECN kmin, 100 kB' 'ECN kmax, 400 kB' 'PFC XOFF, [0-9]* ingresses alike, [0-9.]* kB' 'pauses it causes, '
is "queue: the port, thresholds, XOFF, pauses" $?
has p1/plots/rates.svg 'sent (Gb/s)' 'Jain index' 'simulated time (us)' 'host1 to host0' 'host8 to host0' 'fairness'
is "rates: a line a flow, and fairness" $?
has p1/plots/pauses.svg 'port, and its share of the time paused' 'simulated time (us)' 'spine[01]:0 to leaf0, [0-9.]* %' 'leaf0:0 to host0'
is "pauses: who stood still because of whom" $?
has p1/plots/fct.svg 'completion time (us)' 'flows done within it (%)' 'workload 0: incast, 8 flows' 'the same, each flow alone'
is "fct: the distribution" $?
has p1/plots/links.svg 'load: time sending over time of the run (%)' 'hosts to leaves: 16 links' 'leaves to spines: 8 links' \
    'spines to leaves: 8 links' 'leaves to hosts: 16 links' 'mean [0-9.]* %' 'largest [0-9.]* %'
is "links: a histogram for each tier and direction" $?
has p1/plots/utilisation.svg 'frames sent, of link rate (%)' 'leaf0:0 to host0'
is "utilisation: names and unit" $?
all=0
for svg in p1/plots/*.svg; do
    has "$svg" 'cc dcqcn, preset mlx5' 'ECN set lab' || all=1
done
is "every key names the presets" $all
"$ROCESIM" run --plot --quiet --threads 2 --partition node --out p2 pfc.json >out 2>err &&
    "$ROCESIM" run --plot --quiet --threads 4 --partition rack --out p4 pfc.json >out 2>err &&
    diff -r p1/plots p2/plots >out && diff -r p1/plots p4/plots >out && cmp -s p1/pfc-tree.txt p4/pfc-tree.txt
is "pictures are the same bytes at 1, 2 and 4 threads" $?
roce 0 run --plot --quiet --set 'cc.params={"ai": "50Mbps"}' --set 'switch.ecn={"kmin": "50KB", "kmax": "100KB", "pmax": 0.1}' --out changed pfc.json &&
    has changed/plots/queue.svg 'cc dcqcn, preset mlx5, changed' 'ECN given by numbers' 'ECN kmin, 50 kB'
is "what was changed of a preset is said" $?
roce 1 run --plot --quiet --set stop=50us --out cut pfc.json && has cut/plots/queue.svg 'inc%st "a": the longest egress queues (incomplete)'
is "a run that is not complete says so in the title" $?

# ---- many flows ----

awk 'BEGIN { print "src,dst,bytes,start"; for (i = 0; i < 200; i++) printf "%d,%d,%dB,%dus\n", i % 16, (i % 16 + 5) % 16, 500 * (1 + i * i % 97), i }' >flows.csv
cat >many.json <<'END'
{"name": "many", "topology": {"type": "star", "hosts": 16}, "workload": [{"type": "flows", "path": "flows.csv"}]}
END
roce 0 run --plot --quiet --out many many.json &&
    has many/plots/slowdown.svg 'many: slowdown by size, 200 flows in [0-9]* bins' 'size of a flow, the largest of its bin (bytes)' \
        'slowdown: completion time over that alone' p50 p95 p99 'alone on its path'
is "slowdown: percentiles by size" $?
has many/plots/rates.svg 'many: payload sent by [0-9]* flows' median 'largest' 'least'
is "many rates are drawn as their spread" $?
sed 's/,[0-9]*B,/,9000B,/' flows.csv >one.csv && sed 's/flows.csv/one.csv/' many.json >one.json
roce 0 run --plot --out one one.json && grep -q "no picture 'slowdown': all flows are of one size" err && [ ! -e one/plots/slowdown.svg ]
is "flows of one size have no slowdown by size" $?

# ---- collectives ----

cat >ring.json <<'END'
{"name": "ring", "topology": {"type": "star", "hosts": 4},
 "workload": [{"type": "collective", "op": "all_reduce", "bytes": "1MiB", "repeat": 2}, {"type": "collective", "op": "all_reduce", "bytes": "3MB"}]}
END
roce 0 run --plot --quiet --out ring ring.json &&
    has ring/plots/busbw.svg 'ring: bus bandwidth of collectives' 'busbw (GB/s)' 'call, and its size' '1 MiB' '3 MB' 'all_reduce, ring, simple, 4 ranks' 'bound: '
is "busbw: calls with their size and bound" $?
# Of 32 connections 16 carry data, the others the clear-to-send.
[ "$(grep -c '^connection' ring/flows.csv)" -eq 32 ] && has ring/plots/rates.svg 'ring: payload sent by 16 connections'
is "rates of collectives are those of data" $?

# ---- size ----

[ -z "$(find . -name '*.svg' -size +1000k)" ] && [ "$(find . -name '*.svg' | wc -l)" -gt 20 ]
is "no picture is larger than a megabyte" $?
