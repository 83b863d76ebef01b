#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# plausible.sh - what must hold of the numbers of any run, whatever it simulates: nothing is
# negative, faster than possible or above its maximum, files agree with each other, and what
# is sampled changes nothing.

n_tests=28
. "$srcdir/tests/cli/lib.sh"

star='"topology": {"type": "star", "hosts": 9}'
fabric='"topology": {"type": "leaf-spine", "hosts": 8, "hosts_per_leaf": 4, "oversubscription": "2:1"}'
incast='"workload": [{"type": "incast", "receiver": 0, "bytes": "300KB"}]'
shift5='"workload": [{"type": "permutation", "shift": 5, "bytes": "2MB"}]'
ring='"workload": [{"type": "collective", "bytes": "1MiB", "repeat": 2, "gap": "3us"}]'

# Of summary.json alone.
summary_laws='
    def rises: . as $v | all(range(1; length); $v[. - 1] <= $v[.]);
    def share: . == null or (0 <= . and . <= 1);
    . as $all | .fabric as $f |
    ([.. | numbers] | min >= 0) and
    (.flows.done <= .flows.n) and (.verdict != "complete" or .flows.done == .flows.n) and
    ([.flows.fct_us | .p50, .p95, .p99, .max] | rises) and ([.flows.slowdown | .p50, .p95, .p99, .max] | rises) and
    (.flows.fct_us.mean == null or .flows.fct_us.mean <= .flows.fct_us.max) and
    (.sim_time_us <= .end_us) and
    ([$f.pfc_pause_share_max, $f.pfc_pause_share_mean, $f.link_utilisation_max] | all(share)) and
    ($f.pfc_pause_share_mean == null or $f.pfc_pause_share_mean <= $f.pfc_pause_share_max) and
    ($f.lost == ([$f.lost_by[]] | add)) and ($f.lossless_drops <= $f.drops) and ($f.retransmitted <= $f.data_packets) and
    all(.collectives[]; .time_us == null or
        (.time_us >= .bound_us and
         (.busbw_GBps / .algbw_GBps * .ranks / 2 / (.ranks - 1) - 1 | fabs) < 0.00001 and
         (.algbw_GBps * .time_us * 1000 / .bytes - 1 | fabs) < 0.00001))'

# Column N of a line is $c["N"]; ends with the sums that summary.json must have.
ports_laws='
    NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    /,-/ { exit 1 }
    {
        max = $c["queue_max_bytes"]
        if ($c["queue_p99_bytes"] != "" &&
            ($c["queue_p50_bytes"] > $c["queue_p95_bytes"] || $c["queue_p95_bytes"] > $c["queue_p99_bytes"] ||
             $c["queue_p99_bytes"] > max + 0)) { exit 1 }
        if ($c["queue_mean_bytes"] > max + 0 || $c["paused_us"] > end_us + 0) { exit 1 }
        hops += $c["tx_packets"] + $c["pfc_xoff_sent"] + $c["pfc_xon_sent"]
        pfc += $c["pfc_xoff_sent"] + $c["pfc_xon_sent"]
        drops += $c["dropped_packets"]
        lost += $c["lost_packets"]
        marked += $c["marked_packets"]
    }
    END { print hops + 0, pfc + 0, drops + 0, lost + 0, marked + 0 }'

flows_laws='
    NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    /,-/ { exit 1 }
    $1 == "flow" {
        n++
        if ($c["fct_us"] == "") { next }
        done++
        if ($c["slowdown"] < 1 || $c["rx_done_us"] > $c["fct_us"] + 0 || $c["ideal_us"] > $c["fct_us"] + 0) { exit 1 }
    }
    $1 == "connection" && $c["message_mean_us"] != "" {
        if ($c["message_min_us"] > $c["message_mean_us"] + 0.000001 || $c["message_mean_us"] > $c["message_max_us"] + 0) { exit 1 }
    }
    END { print n + 0, done + 0 }'

# obeys NAME KEYS [OPTION...]: all laws hold of a run of {KEYS}.
obeys()
{
    name=$1
    echo "{$2}" >"$name.json"
    shift 2
    "$ROCESIM" run "$name.json" --out "$name" --quiet "$@" >out 2>err </dev/null
    [ $? -le 1 ] || return 1
    s=$name/summary.json
    jq -e "$summary_laws" $s >/dev/null || { echo "# summary.json"; return 1; }
    [ "$(awk -F, -v end_us="$(jq .end_us $s)" "$ports_laws" $name/ports.csv)" = \
        "$(jq -r '"\(.packet_hops) \(.fabric.pfc_frames) \(.fabric.drops) \(.fabric.lost_by.link_error + .fabric.lost_by.link_down) \(.fabric.ecn_marked)"' $s)" ] ||
        { echo "# ports.csv"; return 1; }
    [ "$(awk -F, "$flows_laws" $name/flows.csv)" = "$(jq -r '"\(.flows.n) \(.flows.done)"' $s)" ] || { echo "# flows.csv"; return 1; }
    [ "$(wc -l <$name/fct.txt)" -eq "$(jq .flows.done $s)" ] || { echo "# fct.txt"; return 1; }
    awk -F, -v end_us="$(jq .end_us $s)" 'NR > 1 && ($4 < 0 || $1 + $4 > end_us + 0.000001) { exit 1 }' $name/pfc.csv || { echo "# pfc.csv"; return 1; }
    awk -F, -v end_us="$(jq .end_us $s)" 'NR > 1 { if ($1 + 0 < last || $1 > end_us + 0) { exit 1 } last = $1 + 0 }' $name/series.csv || { echo "# series.csv"; return 1; }
}

# run NAME WHAT KEYS [OPTION...]
run()
{
    name=$1 what=$2
    shift 2
    obeys "$name" "$@"
    is "$what" $?
}

run one "a flow of one byte" '"topology": {"type": "star", "hosts": 2}, "workload": [{"type": "flows", "list": [{"src": 0, "dst": 1, "bytes": "1B"}]}]'
run dcqcn "an incast with DCQCN" "$star, $incast"
run pfc "an incast with PFC alone" "$star, $incast, \"cc\": {\"algorithm\": \"none\"}, \"switch\": {\"buffer\": \"2MB\"}"
run window "a window of one packet" "$star, $incast, \"nic\": {\"max_inflight\": 1, \"ack_every\": 65536}"
run mtu "small packets, each acknowledged" "$star, $incast, \"nic\": {\"mtu\": 256, \"ack_every\": 1, \"ip\": 6, \"vlan\": true}"
run lossy "a lossy class with too little buffer" "$star, $incast, \"qos\": {\"roce\": {\"lossless\": false}}, \"switch\": {\"buffer\": \"150KB\"}, \"nic\": {\"ack_timeout\": 6}"
run alpha "a small alpha" "$star, $incast, \"switch\": {\"alpha\": 0.001}"
run errors "lossy links" '"topology": {"type": "star", "hosts": 9, "host_link": {"error_rate": 0.01}}, "nic": {"ack_timeout": 5}, '"$incast"
run over "an oversubscribed permutation" "$fabric, $shift5"
run overnone "the same without DCQCN" "$fabric, $shift5, \"cc\": {\"algorithm\": \"none\"}, \"switch\": {\"buffer\": \"2MB\"}"
run fast "800 Gb/s" "\"topology\": {\"type\": \"star\", \"hosts\": 9, \"host_link\": {\"rate\": \"800G\"}}, $incast"
run short "cables of 10 ns" "\"topology\": {\"type\": \"leaf-spine\", \"hosts\": 8, \"hosts_per_leaf\": 4, \"spines\": 2, \"host_link\": {\"delay\": \"10ns\"}, \"fabric_link\": {\"delay\": \"10ns\"}}, $shift5"
run long "cables of 10 km" "\"topology\": {\"type\": \"leaf-spine\", \"hosts\": 8, \"hosts_per_leaf\": 4, \"spines\": 2, \"fabric_link\": {\"length\": \"10km\"}}, $shift5"
run mixed "links of many rates" '"topology": {"type": "leaf-spine", "hosts": 8, "hosts_per_leaf": 4, "spines": 2, "host_link": {"rate": "25G"}, "fabric_link": {"rate": "400G"}, "overrides": {"host0-leaf0": {"rate": "1G"}}}, '"$shift5"
run faults "links that go down, come up and slow down" "$fabric, $shift5, \"nic\": {\"ack_timeout\": 6}, \"faults\": [{\"at\": \"50us\", \"link\": \"leaf0-spine0\", \"do\": \"down\"}, {\"at\": \"1500us\", \"link\": \"leaf0-spine0\", \"do\": \"up\"}, {\"at\": \"100us\", \"link\": \"leaf1-spine1\", \"do\": \"rate\", \"rate\": \"10G\"}]"
run slower "a link that slows down when all is done" "$star, $incast, \"faults\": [{\"at\": \"700us\", \"link\": \"host0-leaf0\", \"do\": \"rate\", \"rate\": \"1G\"}, {\"at\": \"10us\", \"link\": \"host1-leaf0\", \"do\": \"rate\", \"rate\": \"1G\"}]"
run stop "a run ended in the middle" "$fabric, $shift5, \"stop\": \"100us\""
run ring "a ring" "$fabric, $ring"
run nics "a ring over four NICs a host" "\"topology\": {\"type\": \"leaf-spine\", \"hosts\": 4, \"hosts_per_leaf\": 2, \"spines\": 4}, \"node\": {\"gpus\": 8, \"nics\": 4}, $ring"
run cut "a ring that is cut" "$fabric, $ring, \"nic\": {\"ack_timeout\": 0}, \"faults\": [{\"at\": \"60us\", \"link\": \"host0-leaf0\", \"do\": \"down\"}]"
run read "an incast of READs" "$star, \"workload\": [{\"type\": \"incast\", \"receiver\": 0, \"bytes\": \"1MB\", \"verb\": \"read\", \"message\": \"100KB\"}]"
run send "SENDs to receivers that are not ready" "$fabric, \"nic\": {\"receive_queue\": 2, \"receive_delay\": \"10us\", \"rnr_timer\": 1}, \"workload\": [{\"type\": \"permutation\", \"shift\": 5, \"bytes\": \"500KB\", \"verb\": \"send\", \"message\": \"20KB\"}]"
run sr "selective repeat over lossy links" "\"topology\": {\"type\": \"star\", \"hosts\": 9, \"host_link\": {\"error_rate\": 0.01}}, \"nic\": {\"ack_timeout\": 5, \"retransmit\": \"sr\"}, $incast"
run both "three workloads at once" "$fabric, \"workload\": [{\"type\": \"collective\", \"bytes\": \"1MiB\"}, {\"type\": \"incast\", \"receiver\": 0, \"bytes\": \"200KB\", \"start\": \"20us\", \"repeat\": 3, \"gap\": \"10us\", \"qps\": 3, \"message\": \"64KB\", \"verb\": \"write-imm\", \"place\": \"random\"}, {\"type\": \"permutation\", \"shift\": 3, \"bytes\": \"1MB\", \"place\": \"spread\"}]"

# ---- what is looked at changes nothing ---------------------------------------------------

# Senders so many that DCQCN throttles them to its least rate and raises them again.
deep='"topology": {"type": "star", "hosts": 17}, "workload": [{"type": "incast", "receiver": 0, "bytes": "2MB"}]'
obeys deep "$deep"
is "an incast that DCQCN throttles to the least rate" $?
same=0
for interval in off 3us 10us 33us; do
    for series in '"all"' '["*"]' '["host3"]'; do
        "$ROCESIM" run deep.json --out sampled --force --quiet --set "output.sample=$interval" --set "output.series=$series" >out 2>err &&
            cmp -s sampled/flows.csv deep/flows.csv || same=1
    done
done
is "is the same whatever is sampled how often" $same
# 32 MB take 2.6 ms; each sender idles for a rate clock or two of 300 us, not for the 33 ms that a
# packet takes at 1 Mb/s.
jq -e '.sim_time_us > 2600 and .sim_time_us < 8000 and .fabric.link_utilisation_max > 0.3' deep/summary.json >/dev/null
is "and takes a few times the least time, not 30 times" $?

# Of 1,000 ports with a warning each only the first are printed.
echo "{\"topology\": {\"type\": \"star\", \"hosts\": 1000}, \"switch\": {\"headroom\": \"2KB\", \"buffer\": \"64MB\"}, $incast}" >many.json
roce 0 check many.json && [ "$(wc -l <err)" -eq 11 ] && tail -n 1 err | grep -q '^rocesim: warning: ... and 990 more$'
is "a thousand warnings are ten, and a count" $?
