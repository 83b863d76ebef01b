#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# verdicts.sh - what cannot end well ends by itself: with its verdict, status 1, what is
# unfinished and why, on stdout and in summary.json, and all files whole.

n_tests=26
. "$srcdir/tests/cli/lib.sh"
data=$(cd "$srcdir" && pwd)/tests/data/verdicts

# ends NAME VERDICT JQ: NAME.json ends with VERDICT, status 1, and a summary for which JQ holds.
ends()
{
    roce 1 run "$data/$1.json" --out "$1" --quiet
    good=$?
    [ $good -eq 0 ] && jq -e ".verdict == \"$2\" and ($3)" "$1/summary.json" >/dev/null &&
        grep -q "^verdict  *$2\$" out && [ -s "$1/flows.csv" ] && [ -s "$1/ports.csv" ] &&
        [ -s "$1/config.json" ] && [ -z "$(find . -name '.*part*')" ]
}

# Each line of unfinished and why that fits in the table stands there.
table_says()
{
    jq -r '.why[:8][], .unfinished[:8][]' "$1/summary.json" >lines
    [ -s lines ] || return 1
    while read -r line; do
        grep -qF -- "$line" out || return 1
    done <lines
}

ends ring-cut incomplete '(.why | length) == 1 and (.why[0] | test("nothing has moved since")) and .collectives[0].time_us == null'
is "a ring that cannot progress ends" $?
jq -e '(.unfinished | length) == 8 and all(.unfinished[]; test("workload\\[0\\]: call 0, all_reduce of 4194304 B: host[0-3], .*rank [0-3] channel [01] waits for"))' \
    ring-cut/summary.json >/dev/null
is "its ranks, channels and what they wait for are named" $?
table_says ring-cut
is "on stdout, too" $?

ends ring-retries incomplete 'any(.why[]; test("^QP 0x[0-9a-f]{6} of host[13]:0 to host[02]: all 2 retries used up, [1-9][0-9]* packets not acknowledged$"))'
is "a ring whose queue pairs use up their retries ends" $?
jq -e '(.unfinished | length) == 8 and .fabric.timeouts >= 3 and .fabric.lost > 0' ring-retries/summary.json >/dev/null && table_says ring-retries
is "its ranks are named" $?

ends retries incomplete '(.why | length) == 2 and all(.why[]; test("^QP 0x[0-9a-f]{6} of host[12]:0 to host0: all 2 retries used up"))'
is "queue pairs that use up their retries end the run" $?
jq -e '.flows.done == 0 and (.unfinished | length) == 2 and all(.unfinished[]; test("^workload\\[0\\]: flow [01] host[12] -> host0: 1000000 B, .*QP 0x[0-9a-f]{6} gave up after 2 retries$"))' retries/summary.json >/dev/null
is "the flows are named" $?
table_says retries
is "on stdout, too" $?
# 3 timeouts of 65.536 us each after the pull, and no more.
jq -e '.end_us > 196 and .end_us < 300' retries/summary.json >/dev/null
is "the end comes when the retries are used up" $?
awk -F, 'NR > 1 && ($9 != "" || $1 != "flow") { exit 1 } END { exit NR != 3 }' retries/flows.csv
is "flows that are not done have no completion time" $?

ends headroom lossless-violated '.fabric.lossless_drops > 0 and .fabric.drops == .fabric.lossless_drops and .targets.lossless_drops.met == false'
is "a lossless class without headroom is a verdict" $?
grep -q '^rocesim: warning: leaf0:0: headroom 2000 B is less than the [0-9]* B it needs: 100G/8 x ' err
is "of which a warning with the arithmetic spoke" $?
jq -e '.flows.done == 8 and .unfinished == [] and all(.why[]; test("^leaf0:[1-8] dropped [1-9][0-9]* packets of lossless class 3 for lack of buffer$"))' headroom/summary.json >/dev/null
is "the run goes on to its end; the ports are named" $?
[ "$(awk -F, 'NR > 1 { n += $7 } END { print n }' headroom/ports.csv)" -eq "$(jq .fabric.drops headroom/summary.json)" ]
is "ports.csv counts the same drops" $?

ends pause-ring deadlock '(.why[0] | test("^5 ports wait for each other in class 3 since [0-9.]* us and can never send again$")) and .flows.done == 0 and .fabric.drops == 0 and .fabric.pfc_pause_share_max > 0.9 and .fabric.pfc_pause_share_max <= 1'
is "pauses that wait for each other end" $?
jq -e '.deadlock == ["s0:0", "s1:1", "s2:1", "s3:1", "s4:1"] and .deadlock_class == 3 and .deadlock_since_us > 10 and .deadlock_since_us < 60 and (.why[1] | endswith(": s0 > s1 > s2 > s3 > s4 > s0")) and (.why[2] | test("^what helps: .*watchdog")) and (.why[3] | test("^s0:0 .* is paused by s1:0, whose .* wait for s1:1$"))' pause-ring/summary.json >/dev/null
is "the cycle is named" $?
roce 1 run "$data/pause-ring.json" --out pause-ring-4 --quiet --threads 4 --partition node &&
    jq '.deadlock, .why, .deadlock_since_us' pause-ring/summary.json >one &&
    jq '.deadlock, .why, .deadlock_since_us' pause-ring-4/summary.json | cmp -s one
is "on any partition alike" $?
jq -e '(.unfinished | length) == 10 and all(.unfinished[]; test("class 3 is paused$"))' pause-ring/summary.json >/dev/null && table_says pause-ring
is "the flows are said to be paused" $?
# A pause that still holds lasts until the end.
[ "$(awk -F, 'NR > 1 && $1 + $4 > 100 { print $2 }' pause-ring/pfc.csv | sort -u | wc -l)" -ge 5 ]
is "pfc.csv shows the pauses that hold" $?

ends loop deadlock '.deadlock == ["s0:1", "s1:0"] and any(.why[]; test("^packets for h1 go round and round: s0 > s1 > s0$")) and .fabric.lost_by.ttl > 100 and .fabric.lost == .fabric.lost_by.ttl'
is "a routing loop that takes in more than TTL can lose ends" $?
roce 1 run "$data/loop.json" --out below --quiet --set 'topology.links[0].rate="4.5G"' &&
    jq -e '.verdict == "incomplete" and .deadlock == [] and .deadlock_since_us == null and .fabric.lost_by.ttl > 2000' below/summary.json >/dev/null
is "one that takes in less does not" $?
roce 1 run "$data/loop.json" --out dog --quiet --set 'switch.watchdog={"action": "drop", "detect": "2ms"}' &&
    jq -e '.verdict == "incomplete" and .deadlock == [] and .fabric.lost_by.watchdog > 100 and .fabric.watchdog_strikes >= 1 and any(.notes[]; test("^class 3 was deadlocked from [0-9.]* us on, and was freed again: s0 > s1 > s0$")) and any(.notes[]; test("^the watchdog of s0:1 struck class 3 at "))' dog/summary.json >/dev/null
is "a watchdog breaks it" $?
roce 1 run "$data/storm.json" --out storm --quiet &&
    jq -e '.verdict == "incomplete" and .deadlock == [] and .fabric.drops == 0 and .flows.done < 4' storm/summary.json >/dev/null &&
    roce 1 run "$data/storm.json" --out storm-dog --quiet --set 'switch.watchdog={"action": "drop", "detect": "1ms", "restore": "1ms"}' --set nic.ack_timeout=10 --set stop=25ms &&
    jq -e '.flows.done == 5 and .fabric.watchdog_strikes >= 1 and .fabric.lost == .fabric.lost_by.watchdog and .fabric.drops == 0' storm-dog/summary.json >/dev/null
is "a storm is no deadlock; behind a watchdog all but its host go on" $?

ends stop incomplete '(.why[0] | test("^stopped at 100 us")) and .end_us == 100 and (.unfinished | length) == 2'
is "a run is ended by its stop" $?

roce 0 run "$data/retries.json" --out wanted --quiet --set expect.verdict=incomplete
is "a bad verdict that is expected is status 0" $?
roce 1 run "$data/retries.json" --out missed --quiet --set expect.verdict=complete &&
    jq -e '.verdict == "incomplete" and any(.why[]; test("the verdict is incomplete; expected complete"))' missed/summary.json >/dev/null
is "one that is not is said" $?
