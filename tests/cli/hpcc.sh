#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# hpcc.sh - `compat: "hpcc"` from outside: fct.txt and pfc.txt as that simulator writes them,
# read by a script that knows their format only; the same bytes on any number of threads.

n_tests=16
. "$srcdir/tests/cli/lib.sh"
cases=$srcdir/tests/data/ns3
imports=$(cd "$srcdir/tests/data/import/config/hpcc" && pwd)
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

# The configurations those runs were made from, all the way.
for case in W1/E_ps W3/A_ps W4/B_ps; do
    dir=$imports/$(echo "$case" | tr / -)
    name=$(echo "$case" | tr -d /)
    roce 0 import hpcc "$dir/config.txt" -o "$name.json" &&
        roce 0 run "$name.json" --quiet --out "$name" &&
        sort "$name/fct.txt" >ours && sort "$cases/$case/fct.txt" | diff - ours >diff
    is "config.txt of $case imported and run gives its fct.txt" $?
done

# The same devices, with the topology and the flows from the simulator's own files.
dir=$imports/W3-A_ps
awk -v dir="$dir" '
    /^  "(topology|workload)": / { skip = 1 }
    !skip
    /^  []}],?$/ && skip {
        skip = 0
        if (!done++) {
            printf "  \"topology\": {\"type\": \"file\", \"format\": \"hpcc\", \"path\": \"%s/topology.txt\"},\n", dir
            printf "  \"workload\": [{\"type\": \"file\", \"format\": \"hpcc\", \"path\": \"%s/flow.txt\"}],\n", dir
        }
    }' W3A_ps.json >file.json
roce 0 run file.json --quiet --out file && sort file/fct.txt >ours &&
    sort "$cases/W3/A_ps/fct.txt" | diff - ours >diff
is "and so do its own files, read by the run" $?

# Two flows between the same hosts share a queue pair only where both agree.
printf '3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n' >h.txt
printf '2\n0 1 3 100 5000 0\n0 1 5 200 5000 0\n' >f.txt
cat >h.json <<END
{"name": "h", "compat": "hpcc", "topology": {"type": "file", "format": "hpcc", "path": "h.txt"},
 "workload": [{"type": "file", "format": "hpcc", "path": "f.txt", "connect": "pair"}]}
END
roce 0 run h.json --quiet --out h && [ ! -s err ] &&
    [ "$(cut -d' ' -f3,4 h/fct.txt | sort | tr '\n' ' ')" = "10000 100 10001 200 " ] &&
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
        $col["port"] ~ /^(host|node)?0:0$/ && $col["tx_bytes"] > 5000 { n++; c[$col["class"]] = 1 }
        END { exit !(n == 2 && c[3] && c[5]) }' h/ports.csv
is "flows of a file have their priority group and port" $?

scenario jumbo.json
roce 0 run jumbo.json --quiet --out jumbo --set compat=hpcc --set nic.mtu=9000 &&
    roce 2 run jumbo.json --quiet --out no --set compat=hpcc --set nic.mtu=9217 &&
    complains 'allowed is 64 to 9216'
is "packets of 9000 bytes" $?
