#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# topo.sh - `rocesim topo`: what it prints of four networks, to the byte; forms that exclude
# each other; errors.  ACCEPT=1 writes the expected files anew, to be read over.

n_tests=31
. "$srcdir/tests/cli/lib.sh"
data=$(cd "$srcdir" && pwd)/tests/data/topo

# prints NAME FORM [OPTION]
prints()
{
    roce 0 topo "$data/$1.json" $3
    status=$?
    [ -z "$ACCEPT" ] || cp out "$data/$1.$2"
    [ $status -eq 0 ] && [ ! -s err ] && diff out "$data/$1.$2" >diff
    is "$1 as $2" $?
}

for name in leaf-spine overrides star graph; do
    prints $name txt
    prints $name bom --bom
    prints $name dot --dot
    prints $name node --node
    [ "$(roce 0 topo "$data/$name.json" && awk '{ if (length($0) > 100) print }' out | wc -l)" -eq 0 ] &&
        roce 0 topo "$data/$name.json" --bom && [ "$(awk '{ if (length($0) > 100) print }' out | wc -l)" -eq 0 ]
    is "$name: at most 100 columns" $?
done

# The numbers of the example by hand: 16 x 100G : 12 x 100G = 4:3; 64 x 63 / 2 = 2016 pairs, of which 4 x 120
# are on one leaf; 12 spines are 12 paths; 2 leaves x 12 uplinks x 100G.
roce 0 topo "$data/leaf-spine.json" --json && jq -e '
    .hosts == 64 and .switches == 16 and .n_links == 112 and
    (.tiers[] | select(.tier == "leaf") | .oversubscription == 1.333333 and .ports == 28 and (.names | length) == 4) and
    .paths[0].host_pairs == 480 and .paths[1].host_pairs == 1536 and .paths[1].paths == 12 and .paths[1].links == 4 and
    .bisection.rate_bps == 2400000000000 and .bisection.exact and .bisection.share == 0.75 and
    (.nodes | length) == 80 and (.links | length) == 112 and .links[64].length_m == 30 and
    (.ranks[0].places | length) == 64 and .ranks[0].places[17].host == "host17" and
    ([.parts[] | select(.part == "cable") | .count] | add) == 112' out >/dev/null
is "leaf-spine as JSON" $?
# Bundles: 2 x 2 links by each of 2 spines; 8 + 4 GPUs a leaf of ranks dealt by turns.
roce 0 topo "$data/overrides.json" --json && jq -e '
    .paths[1].paths == 8 and (.bisection.exact | not) and .ranks[0].places[12].host == "host1" and
    .ranks[0].places[3].gpu == 3 and .ranks[0].places[3].nic == 1 and
    ([.links[] | select(.name == "leaf2-spine1#2")][0].length_m == 550) and
    ([.nodes[] | select(.name == "spine1")][0].profile == "spectrum-4")' out >/dev/null
is "overrides and bundles as JSON" $?
roce 0 topo "$data/graph.json" --json && jq -e '
    .paths[1].paths == 3 and .paths[1].links == 3 and .bisection.rate_bps == 100000000000 and
    [.links[].name] == ["a0-s", "a1-s", "b0-t", "s-t#1", "s-t#2", "s-t#3"]' out >/dev/null
is "parallel links of a graph as JSON" $?
roce 0 topo "$data/star.json" --json && jq -e '.paths | length == 1' out >/dev/null
is "a star as JSON" $?

roce 0 topo "$data/star.json" --set topology.hosts=2 && grep -q ' 2 hosts with 4 NICs' out
is "--set changes the network" $?
roce 0 topo "$srcdir/scenarios/quickstart.json" && grep -q 'ranks  *64 on 8 hosts: workload\[0\], trace' out
is "ranks of a trace have their places" $?
cat >trace.json <<END
{"name": "t", "topology": {"type": "star", "hosts": 2, "host_link": {"rate": "100G", "length": "3m"}},
 "workload": [{"type": "trace", "path": "$(cd "$srcdir" && pwd)/workloads/examples/gpt2-64ranks-nccl.log"}]}
END
roce 2 topo trace.json && [ ! -s out ] && complains 'trace.json: workload\[0\]: .*ranks run on 8 hosts'
is "a trace that does not fit is one line" $?
roce 2 topo "$data/star.json" --dot --json && [ ! -s out ] && complains 'one of them is allowed'
is "two forms at once are one line" $?
roce 2 topo nowhere.json && [ ! -s out ] && complains 'nowhere.json'
is "a scenario that is not there is one line" $?
roce 2 topo "$data/leaf-spine.json" --set topology.oversubscription=5:3 && [ ! -s out ] &&
    complains 'is no whole number'
is "a ratio that does not fit shows the sum" $?
roce 2 topo "$data/star.json" --bomb && complains 'nearest is --bom'
is "an unknown option names the nearest" $?
