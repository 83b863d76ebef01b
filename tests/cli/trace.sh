#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# trace.sh - `rocesim trace`, traces in JSON lines that are run, and `skip`.

n_tests=20
. "$srcdir/tests/cli/lib.sh"
top=$(cd "$srcdir" && pwd)
log=$top/workloads/examples/gpt2-64ranks-nccl.log
kinds=$top/tests/data/nccl-log/valid/all-kinds/input.log
overlap=$top/workloads/examples/overlap-4ranks.jsonl

# workloads/examples/README.md counts the log by hand: 17 calls of 2 x 248,879,616 + 3 x 4 bytes, 64 ranks, 8 a host,
# 16 channels whose rings leave a host once in 8 links.
roce 0 trace "$log" --json && jq -e '
    .ranks == 64 and (.hosts | length) == 8 and .format == "nccl_log" and (.has_times | not) and
    (.groups | length) == 1 and .groups[0].channels == 16 and .groups[0].has_rings and
    (.operations | length) == 1 and .operations[0].kind == "all_reduce" and .operations[0].count == 17 and
    .operations[0].bytes == 497759244 and .operations[0].bytes_most == 102398976 and
    ([.operations[0].sizes[].count] == [3, 2, 10, 2]) and
    (.operations[0].traffic_bytes.within_nodes / 7 - .operations[0].traffic_bytes.between_nodes | fabs) < 20' out >/dev/null
is "the example log counted by hand" $?
roce 0 trace "$log" && grep -q '^ranks  *64 on 8 hosts, 8 a host: gpu-a01' out && grep -q '^all_reduce  *17  *497.76 MB  *4 B  *102.4 MB' out
is "and as text" $?
# On leaf-spine with 4 hosts a leaf, rings of whole hosts cross a spine twice in 8 links between hosts.
roce 0 trace "$log" --scenario "$top/scenarios/quickstart.json" --json && jq -e '
    .operations[0].traffic_bytes | (.leaf / .spine - 3 | fabs) < 0.001 and (.within_nodes / (.leaf + .spine) - 7 | fabs) < 0.001' out >/dev/null
is "traffic by tier" $?
roce 0 trace "$log" --scenario "$top/scenarios/quickstart.json" && grep -q 'within nodes  *same leaf  *over spine' out
is "traffic by tier as text" $?
roce 0 trace "$kinds" --json && jq -e '[.operations[].kind] ==
    ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "gather", "scatter"]' out >/dev/null
is "kinds that cannot be run yet are counted" $?
roce 0 trace "$top/tests/data/nccl-log/valid/cut-lost/input.log" && grep -q '^warning  ' out
is "what the reader repaired is listed" $?
roce 0 trace "$overlap" && grep -q 'order  *by 8 dependencies' out && grep -q '^compute  *8  *8.400 ms' out
is "a trace in JSON lines" $?

roce 0 trace "$log" --convert jsonl && cp out log.jsonl && [ "$(wc -l <out)" -eq 18 ]
is "a log as JSON lines" $?
roce 0 trace log.jsonl --convert jsonl && cmp -s out log.jsonl
is "JSON lines as JSON lines are the same" $?
roce 2 trace "$log" --convert goal && [ ! -s out ] && complains "'goal' is no format to write; there is jsonl"
is "--convert of a format that is not there names what there is" $?
roce 2 trace "$log" --convert jsonl --json && [ ! -s out ] && complains 'one of both is allowed'
is "--convert and --json exclude each other" $?
roce 2 trace "$log" --set seed=1 && complains 'none is given'
is "--set without a scenario" $?
roce 2 trace && complains 'FILE... is missing'
is "no trace" $?
roce 2 trace nowhere.log && [ ! -s out ] && complains 'nowhere.log'
is "a trace that is not there" $?
echo '{"rocesim_trace": 1, "ranks": 1}' >bad.jsonl
roce 2 trace bad.jsonl && [ ! -s out ] && complains 'bad.jsonl:1: hosts is missing'
is "a bad line is named" $?
roce 2 trace "$log" --scenario "$top/scenarios/quickstart.json" --set node.gpus=2 --set node.nics=2 &&
    complains 'quickstart.json: .*has more than 2 ranks'
is "ranks that do not fit the scenario" $?

# run_trace STATUS FILE [EXTRA-KEYS]
run_trace()
{
    cat >t.json <<END
{"name": "t", "topology": {"type": "star", "hosts": 2, "host_link": {"rate": "100G", "length": "3m"}},
 "node": {"gpus": 2, "nics": 2}, "workload": [{"type": "trace", "path": "$2"${3:+, $3}}]}
END
    roce "$1" run t.json --quiet --force --out out-t
}
run_trace 0 "$overlap" && [ "$(grep -c all_reduce out-t/collectives.csv)" -eq 4 ]
is "JSON lines are played, found by their content" $?
run_trace 2 "$kinds" && complains 'all_gather is not supported yet; only all_reduce and compute are, and "skip": \["all_gather"\] leaves it out'
is "a kind that cannot be run says how to leave it out" $?
run_trace 0 "$kinds" '"skip": ["all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "gather", "scatter"]' &&
    complains 'warning: workload\[0\]: 7 of 9 operations of the trace are left out' &&
    jq -e '.notes[0] | startswith("workload[0]: 7 of 9 operations")' out-t/summary.json >/dev/null &&
    jq -e '.workload[0].skip | length == 7' out-t/config.json >/dev/null
is "kinds are left out, and it is said" $?
run_trace 2 "$kinds" '"skip": ["bcast"]' && complains "workload\[0\].skip\[0\]"
is "skip of what is no kind" $?
