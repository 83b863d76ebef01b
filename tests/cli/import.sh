#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# import.sh - `rocesim import`: each configuration below tests/data/import/config makes the scenario,
# or the one line of error, that stands beside it; what can be run is run.
#
#   IMPORT_ACCEPT=1 writes what stands beside it anew.

cases=$(cd "$srcdir/tests/data/import/config" && find . -name cmd | sort)
n_tests=$(($(echo "$cases" | wc -l) + 12))
data=$(cd "$srcdir/tests/data/import" && pwd)
case $ROCESIM in
/*) ;;
*) ROCESIM=$PWD/$ROCESIM ;;
esac
. "$srcdir/tests/cli/lib.sh"

for case in $cases; do
    dir=$data/config/${case%/cmd}
    want=0
    [ -e "$dir/expect" ] || want=2
    top=$PWD
    cd "$dir" || exit 1
    # shellcheck disable=SC2046
    "$ROCESIM" import $(cat cmd) >"$top/out" 2>"$top/err" </dev/null
    status=$?
    cd "$top" || exit 1
    if [ -n "$IMPORT_ACCEPT" ]; then
        rm -f "$dir/expect" "$dir/expect.err"
        if [ "$status" -eq 0 ]; then cp out "$dir/expect"; else grep -v warning: err >"$dir/expect.err"; fi
        want=$status
    fi
    if [ "$status" -eq 0 ]; then
        [ "$want" -eq 0 ] && diff "$dir/expect" out >diff
    else
        [ "$want" -eq 2 ] && [ "$status" -eq 2 ] && [ ! -s out ] && [ "$(grep -cv warning: err)" -eq 1 ] &&
            grep -v warning: err | diff "$dir/expect.err" - >diff
    fi
    is "${case%/cmd}" $?
done

# A ring of 64 hosts at line rate: htsim would take 8 MiB / 100 Gb/s, an ACK of 64 bytes the other way
# for each 4096, and 2 or 4 hops of 1 us there and back: 686 to 691 us.
roce 0 import htsim "$data/config/htsim/ring/ring64.cm" "$data/config/htsim/ring/ls64.topo" -o ring.json &&
    [ ! -s out ] && [ -s ring.json ] && roce 0 run ring.json --quiet --json --out ring
is "what htsim's files became is run" $?
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    { n++; bytes += $col["bytes"]; t = $col["fct_us"]; if (t < 0.99 * 685.9 || t > 1.01 * 690.6) bad++ }
    END { exit !(n == 64 && bytes == 64 * 8388608 && !bad) }' ring/flows.csv
is "64 flows of 8 MiB, each within 1 % of htsim's time" $?
roce 2 import htsim "$data/config/htsim/ring/ring64.cm" "$data/config/htsim/ring/ls64.topo" -o ring.json &&
    complains 'is there already'
is "a file that is there is refused" $?
roce 0 import htsim "$data/config/htsim/ring/ring64.cm" "$data/config/htsim/ring/ls64.topo" -o ring.json --force
is "and with --force replaced" $?
roce 3 import htsim "$data/config/htsim/ring/ring64.cm" "$data/config/htsim/ring/ls64.topo" -o no/such/folder.json
is "one that cannot be written is status 3" $?

# type file: the same files, read by the run.
cat >file.json <<END
{"name": "file", "topology": {"type": "file", "format": "htsim", "path": "$data/config/htsim/ring/ls64.topo"},
 "nic": {"jitter": "0ns"}, "cc": {"algorithm": "none"},
 "workload": [{"type": "file", "format": "htsim", "path": "$data/config/htsim/ring/ring64.cm", "connect": "flow"}]}
END
roce 0 run file.json --quiet --out file && diff <(cut -d, -f3- ring/flows.csv) <(cut -d, -f3- file/flows.csv) >diff
is "type file runs the same files to the same end" $?
roce 0 run file/config.json --quiet --out again && cmp file/flows.csv again/flows.csv && cmp file/config.json again/config.json
is "and its config.json does so again" $?

# Triggers, a barrier and a failed link, whatever the partition.
cp "$data/topology/htsim/three-tiers.txt" t.topo
cp "$data/flows/htsim/triggers.txt" t.cm
cat >triggers.json <<END
{"name": "triggers", "topology": {"type": "file", "format": "htsim", "path": "t.topo"}, "nic": {"jitter": "0ns"},
 "cc": {"algorithm": "none"}, "workload": [{"type": "file", "format": "htsim", "path": "t.cm", "connect": "flow"}]}
END
for how in "one 1" "rack 2" "node 2"; do
    roce 0 run triggers.json --quiet --partition "${how% *}" --threads "${how#* }" --out "out-${how% *}" || break
done
cmp out-one/flows.csv out-rack/flows.csv && cmp out-one/flows.csv out-node/flows.csv
is "triggers give the same at any partition" $?
# Each flow that a trigger starts begins when what activates it has ended, to the picosecond; nothing goes
# over the failed link spine0-core2.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    { start[$col["id"]] = $col["start_us"]; sent[$col["id"]] = $col["start_us"] + $col["fct_us"]; got[$col["id"]] = $col["start_us"] + $col["rx_done_us"]
      if ($col["path"] ~ /spine0.*core2|core2.*spine0/) bad++ }
    function differs(a, b) { return a - b > 1e-6 || b - a > 1e-6 }
    function max(a, b) { return a > b ? a : b }
    function min(a, b) { return a < b ? a : b }
    END { exit bad || differs(start[1], got[0]) || differs(start[3], max(sent[1], sent[2])) || differs(start[4], start[3]) ||
          differs(start[5], min(sent[3], sent[4])) || differs(start[6], max(sent[3], sent[4])) }' out-one/flows.csv
is "and start flows when htsim would" $?

sed 's/path": "t.cm"/path": "u.cm"/' triggers.json >bad.json
sed 's/Nodes 16/Nodes 15/; s/3->12/3->11/; s/4->12/4->11/' t.cm >u.cm
roce 2 run bad.json --quiet --out bad && complains 'u.cm:1: the file is for 15 nodes; the workload has 16 hosts' && [ ! -e bad ]
is "a matrix for another number of hosts is refused" $?
sed 's/"format": "htsim", "path": "t.topo"/"format": "htsim", "path": "u.cm"/' triggers.json >bad.json
roce 2 run bad.json --quiet --out bad && complains 'u.cm:2: no such key' && [ ! -e bad ]
is "a topology with a wrong line names that line" $?

printf '3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n' >h.txt
printf '2\n0 1 3 100 5000 0.000002\n1 0 4 100 5000 0.000001\n' >f.txt
cat >hpcc.json <<END
{"name": "h", "topology": {"type": "file", "format": "hpcc", "path": "h.txt"}, "nic": {"jitter": "0ns"},
 "workload": [{"type": "file", "format": "hpcc", "path": "f.txt"}]}
END
roce 0 run hpcc.json --out hpcc && grep -q 'f.txt:3: starts before the flow above it' err &&
    grep -q 'f.txt:3: priority group 4 has no effect' err &&
    [ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next } { print $col["src"], $col["start_us"] }' hpcc/flows.csv | tr '\n' ' ')" = "host1 1 host0 2 " ]
is "flows of HPCC are sorted, with warnings" $?
