#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# results.sh - the folder of results: appears whole or not at all, is replaced only when
# asked, repeats itself; verdicts and their status.

n_tests=45
. "$srcdir/tests/cli/lib.sh"

scenario s.json

# No hidden folder may be left anywhere below.
no_leftovers()
{
    [ -z "$(find . -name '.*.part-*')" ]
}

# A folder but for what may differ from run to run.
fingerprint()
{
    (cd "$1" && for f in *; do
        [ -f "$f" ] && grep -v '"wall_s"\|"packet_hops_per_s"\|"peak_rss_bytes"\|"threads"' "$f" | md5sum
    done)
}

roce 0 run s.json && [ -s results/small/summary.json ] && no_leftovers
is "results go to results/NAME" $?
grep -q '^verdict  *complete' out && grep -q '^results  *results/small' out
is "the table has the verdict and where the results are" $?
missing=
for f in summary.json config.json flows.csv collectives.csv ports.csv series.csv pfc.csv fct.txt; do
    [ -f results/small/$f ] || missing=$f
done
[ -z "$missing" ]
is "all files are there" $?
[ ! -e results/small/series.spool ]
is "and no other" $?
jq -e '.verdict == "complete" and .flows.n == 2 and .flows.done == 2 and .threads >= 1 and
       .fabric.data_packets == 32 and .fabric.drops == 0 and (.targets | length) == 4 and
       .targets.lossless_drops.met' results/small/summary.json >/dev/null
is "summary.json holds what was done" $?
[ "$(wc -l <results/small/flows.csv)" -eq 3 ] && [ "$(wc -l <results/small/fct.txt)" -eq 2 ]
is "a line a flow in flows.csv and fct.txt" $?
awk 'NF != 8 || $4 != 200 || $5 != 65536 || $7 < $8 { exit 1 }' results/small/fct.txt
is "fct.txt: eight columns, the port of an incast, fct at least ideal" $?
awk -F, '{ if (NR == 1) n = NF; else if (NF != n) exit 1 }' results/small/flows.csv &&
    awk -F, '{ if (NR == 1) n = NF; else if (NF != n) exit 1 }' results/small/ports.csv &&
    awk -F, '{ if (NR == 1) n = NF; else if (NF != n) exit 1 }' results/small/series.csv
is "every line of a CSV has the columns of its first" $?

cat >shares.json <<'END'
{"name": "shares", "topology": {"type": "star", "hosts": 5, "host_link": {"rate": "100G", "length": "5m"}},
 "cc": {"algorithm": "none"}, "nic": {"jitter": "0us"},
 "workload": [{"type": "incast", "senders": ["host0", "host1"], "receiver": "host4", "bytes": "4MB"},
              {"type": "flows", "list": [{"src": "host2", "dst": "host3", "bytes": "4MB"}]}],
 "expect": {"verdict": "complete", "workloads[0].goodput_Gbps.min": [48, 50],
            "workloads[1].goodput_Gbps.max": 1}}
END
roce 1 run --force --out shares shares.json
jq -e '.workloads[0].type == "incast" and .workloads[0].n == 2 and .workloads[0].pairs == 2 and
       .workloads[0].delivered_bytes == 8000000 and .workloads[0].jain > 0.999 and
       .workloads[0].goodput_Gbps.sum < 98.1 and .workloads[1].goodput_Gbps.min > 97 and
       .workloads[1].slowdown.max < 1.01' shares/summary.json >/dev/null
is "each workload is summed up by its pairs" $?
jq -e '.bottleneck.port == "leaf0:4" and .bottleneck.class == 3 and
       .bottleneck.mean_queue_bytes > 1e6 and
       .bottleneck.max_queue_bytes == .fabric.max_queue_bytes' shares/summary.json >/dev/null
is "the bottleneck is named" $?
jq -e '[.expect[] | .met] == [true, false] and .expect[1].expected == "1" and
       .expect[0].path == "workloads[0].goodput_Gbps.min"' shares/summary.json >/dev/null
is "every band is listed with what came out" $?
rm -r shares

cp -r results/small first
roce 2 run s.json && complains "exists already; --force" && [ ! -s out ]
is "a folder that exists is refused" $?
roce 2 run --out first/summary.json s.json && complains "exists already"
is "a file that exists is refused" $?
echo mine >results/small/extra
roce 0 run --force s.json && [ ! -e results/small/extra ] && no_leftovers
is "--force replaces it whole" $?
[ "$(fingerprint first)" = "$(fingerprint results/small)" ]
is "a second run gives the same bytes" $?
roce 0 run --out repeated results/small/config.json && [ "$(fingerprint first)" = "$(fingerprint repeated)" ]
is "config.json repeats the run" $?
LC_ALL=de_DE.UTF-8 "$ROCESIM" run --out german s.json >out 2>err
[ "$(fingerprint first)" = "$(fingerprint german)" ]
is "the locale changes nothing" $?

mkdir other && echo mine >other/diary
roce 2 run --force --out other s.json && complains "no folder of results" && [ -s other/diary ]
is "--force does not replace a folder that holds other things" $?
roce 2 run --force --out . s.json && [ -s s.json ]
is "nor the folder one is in" $?
mkdir empty
roce 0 run --force --out empty s.json && [ -s empty/summary.json ]
is "--force takes an empty folder" $?
roce 0 run --out a/b/c/ s.json && [ -s a/b/c/summary.json ]
is "parents are made" $?

roce 0 run --json --out j s.json && cmp -s out j/summary.json && [ ! -s err ]
is "--json prints summary.json and nothing else" $?
roce 0 run --seed 7 --out seven s.json && jq -e '.seed == 7' seven/summary.json >/dev/null &&
    jq -e '.seed == 7' seven/config.json >/dev/null
is "--seed is the scenario's seed" $?
roce 0 run --set 'workload[0].bytes=32KiB' --set name=other --out set s.json &&
    jq -e '.scenario == "other" and .fabric.data_packets == 16' set/summary.json >/dev/null
is "--set changes the scenario" $?
roce 0 run --threads 2 --partition node --out two s.json && [ "$(fingerprint first)" = "$(fingerprint two)" ]
is "threads and partition change nothing" $?
"$ROCESIM" run --out gone s.json 2>err | head -n 0
[ -s gone/summary.json ]
is "a reader that goes away does not cost the results" $?

scenario bad.json '"seed": "x"'
roce 2 run --out new/bad bad.json && [ ! -e new ] && no_leftovers
is "bad input leaves no folder" $?

roce 0 run --set 'output.series=["leaf0:0"]' --out one s.json && awk -F, 'NR > 1 && $2 != "leaf0:0" { exit 1 }' one/series.csv &&
    [ "$(wc -l <one/series.csv)" -gt 1 ] && cmp -s first/ports.csv one/ports.csv
is "output.series picks ports, and changes nothing else" $?
roce 0 run --set 'output.series=["host1:0"]' --set 'output.sample=5us' --out qp s.json &&
    awk -F, '$7 ~ /^0x0000/ && $5 > 0 && $5 <= 100 && $2 == "host1:0" && $4 == "" { n++ } END { exit n ? 0 : 1 }' qp/series.csv
is "of a NIC's port also the rates of its queue pairs" $?

# ---- verdicts ----

roce 1 run --set stop=2us --out stopped s.json &&
    jq -e '.verdict == "incomplete" and (.unfinished | length) == 2 and .flows.done == 0' stopped/summary.json >/dev/null
is "stop with flows that have not ended is incomplete" $?
grep -q '^unfinished  *workload\[0\]: flow 0' out
is "and says which" $?
roce 1 run --set 'expect={"flows.done": [3, 3]}' --out missed s.json &&
    jq -e '.verdict == "expectation-missed" and (.why[0] | test("flows.done is 2; expected 3$"))' missed/summary.json >/dev/null
is "a band that does not hold is expectation-missed" $?
roce 2 run --set 'expect={"flows.nothing": [3, 3]}' --out nothing s.json && [ ! -e nothing ]
is "one on what is never there is bad input" $?
roce 0 run --set 'expect={"verdict": "incomplete"}' --set stop=2us --out wanted s.json &&
    jq -e '.verdict == "incomplete"' wanted/summary.json >/dev/null
is "a bad verdict that is expected has status 0" $?
roce 1 run --set 'expect={"verdict": "incomplete"}' --out unwanted s.json &&
    jq -e '.verdict == "expectation-missed"' unwanted/summary.json >/dev/null
is "a good one that is not expected has status 1" $?

# Nothing gets through: the QP gives up, and is named.
roce 1 run --set 'topology.host_link.error_rate=1' --set nic.ack_timeout=1 --out error s.json &&
    jq -e '.verdict == "incomplete" and (.why | length) >= 1 and
           (.why[0] | test("^QP 0x[0-9a-f]+ of host[12]:0 to host0: all 7 retries used up"))' error/summary.json >/dev/null
is "a QP that exhausts its retries is named" $?

# Too little headroom for a lossless class, and a warning that says so.
roce 1 run --set switch.headroom=0B --set switch.buffer=64KB --set 'cc.algorithm=none' --set 'workload[0].bytes=1MB' \
    --out violated s.json &&
    jq -e '.verdict == "lossless-violated" and .fabric.lossless_drops > 0 and
           (.why | map(test("^leaf0:[12] dropped [0-9]+ packets of lossless class 3")) | any)' violated/summary.json >/dev/null
is "a lossless class that drops is lossless-violated, and names its ports" $?
grep -q '^rocesim: warning: .*headroom' err
is "a headroom that is too small is warned of" $?
jq -e '.targets.lossless_drops.met == false' violated/summary.json >/dev/null
is "and misses the target" $?

# ---- loads: what does not count, what need not end ----

cat >load.json <<'END'
{"name": "load", "stop": "3ms",
 "topology": {"type": "star", "hosts": 6, "host_link": {"rate": "100G", "length": "3m"}},
 "workload": [{"type": "poisson", "cdf": "FbHadoop", "load": 0.4}]}
END
roce 0 run load.json && jq -e '.verdict == "complete" and .flows.n > .flows.done and .flows.counted == .flows.done and
    (.unfinished | length) == 0 and .flows.counted_to_us == null' results/load/summary.json >/dev/null
is "a load without an end is complete at the stop" $?
roce 1 run load.json --set 'workload[0].until=2.9ms' --out ends &&
    jq -e '.verdict == "incomplete" and (.unfinished | length) > 0' ends/summary.json >/dev/null
is "one with an end before it is not" $?
roce 0 run load.json --set output.warmup=500us --set output.cooldown=1ms --out cut &&
    cut -d, -f1-18 results/load/flows.csv >all && cut -d, -f1-18 cut/flows.csv | cmp -s all -
is "warm-up and cool-down change no flow" $?
awk -F, 'NR > 1 && $8 != "" && $8 > last { last = $8 }
         NR > 1 { start[NR] = $8; counted[NR] = $20 }
         END { for (i in start) if (start[i] != "" && counted[i] != (start[i] >= 500 && start[i] < last - 1000)) exit 1 }' cut/flows.csv
is "counted are those that start between them" $?
[ "$(awk -F, '$9 != "" && $20 == 1' cut/flows.csv | wc -l)" -eq "$(jq .flows.counted cut/summary.json)" ] &&
    [ "$(awk -F, 'NR > 1 && $9 != "" && $20 == 1 { print $9 }' cut/flows.csv | sort -g | tail -n 1)" = "$(jq .flows.fct_us.max cut/summary.json)" ]
is "percentiles are of these" $?
grep -q '^note  *percentiles are of flows that start from 500 us until ' out
is "the table says so" $?
