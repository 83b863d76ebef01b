#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# bad-input.sh - whatever is wrong with what a user gives, there is one line that says where,
# what, and what is allowed; status 2 (3 for output), nothing on stdout, nothing left behind.

n_tests=100
. "$srcdir/tests/cli/lib.sh"

mkdir work && cd work || exit 1
topology='"topology": {"type": "star", "hosts": 4, "host_link": {"rate": "100G", "length": "3m"}}'
incast='"workload": [{"type": "incast", "senders": 2, "receiver": 0, "bytes": "64KiB"}]'
echo "{$topology, $incast}" >ok.json
roce 0 check ok.json || exit 1
rm -f out err

# refused NAME PATTERN ARGUMENT...: the program says 'PATTERN', and does nothing else.
refused()
{
    name=$1 pattern=$2
    shift 2
    ls -A >../before
    timeout 20 "$ROCESIM" "$@" >../out 2>../err </dev/null
    got=$?
    ls -A >../after
    cp ../out ../err . && [ $got -eq 2 ] && complains "$pattern" && [ ! -s out ] &&
        cmp -s ../before ../after
    good=$?
    rm -f out err
    cd .. && is "$name" $good && cd work || exit 1
}

# text NAME PATTERN: standard input is the scenario.
text()
{
    cat >s.json
    refused "$1" "s.json$2" run s.json
}

# with NAME PATTERN KEYS: the small scenario and KEYS.
with()
{
    text "$1" ": $2" <<<"{$topology, $3, $incast}"
}

# work NAME PATTERN KEYS: another workload.
work()
{
    text "$1" ": workload\[0\]$2" <<<"{$topology, \"workload\": [{$3}]}"
}

# fabric NAME PATTERN KEYS: another topology.
fabric()
{
    text "$1" ": topology$2" <<<"{\"topology\": {$3}, $incast}"
}

# table NAME PATTERN FORMAT: flows from a CSV.
table()
{
    # shellcheck disable=SC2059
    printf "$3" >flows.csv
    refused "$1" "flows.csv$2" run ok.json --set workload='[{"type": "flows", "path": "flows.csv"}]'
}

# ---- no scenario at all -----------------------------------------------------------------

text "an empty file" ": is empty" </dev/null
text "white space" ":2: .* expected" <<<"   "
text "JSON that is cut off" ":2: .* expected near end of file" <<<"{$topology, $incast"
text "a list" ": holds no object; allowed is {...}" <<<"[]"
text "too much JSON" ":1: end of file expected" <<<"{$topology, $incast} }"
text "noise" ":[0-9]*: " < <(head -c 3000 "$ROCESIM" | tail -c 2900)
text "a compressed file" ":1: " < <(gzip <ok.json)
text "NUL bytes" ":1: " < <(printf '{"_": "' && head -c 5000 /dev/zero)
text "a text that is not UTF-8" ":1: unable to decode" <<<"{\"name\": \"$(printf '\351')\", $topology, $incast}"
text "a repeated key" ":1: duplicate object key near '\"seed\"'" <<<"{\"seed\": 1, \"seed\": 2, $topology, $incast}"
text "NaN" ":1: invalid token near 'NaN'" <<<"{\"seed\": NaN, $topology, $incast}"
text "an integer of 30 digits" ":1: a number is too large; allowed is up to" <<<"{\"seed\": $(printf '9%.0s' $(seq 30)), $topology, $incast}"
text "5,000 objects in each other" ":1: lists and objects are nested too deep; allowed are" <<<"$(printf '{"a":%.0s' $(seq 5000))"
text "100,000 lists in each other" ":1: lists and objects are nested too deep" <<<"{\"_\": $(printf '[%.0s' $(seq 100000))"
text "a NUL in a text" ":1: a text holds .u0000, which is not allowed" <<<"{\"name\": \"a\\u0000b\", $topology, $incast}"
rm -f s.json
refused "a file that is not there" "nowhere.json: No such file" run nowhere.json
refused "a folder" ".: is a folder; allowed is a file" run .
refused "a file without end" "is larger than 64 MiB, the most that is read" run /dev/zero
refused "a file that cannot be read" "/proc/self/mem: " run /proc/self/mem
if [ "$(id -u)" -ne 0 ]; then
    echo >closed.json && chmod 000 closed.json
    refused "a file without the right to read" "closed.json: Permission denied" run closed.json
else
    skip "a file without the right to read" "root may read everything"
fi

# ---- keys and values --------------------------------------------------------------------

with "a misspelt part" "topologie: no such key; nearest is 'topology'" '"topologie": {}'
with "a misspelt key" "nic.mtuu: no such key; nearest is 'mtu'" '"nic": {"mtuu": 1024}'
with "a key with a line feed" 'na.x0ame: no such key' '"na\nme": 1'
with "a missing unit" "nic.latency: is '5'; a unit is missing, write for example \"5us\"" '"nic": {"latency": 5}'
with "a missing unit in a text" "nic.latency: is '5'; a unit is missing" '"nic": {"latency": "5"}'
with "a unit of something else" "switch.buffer: .* allowed is a size" '"switch": {"buffer": "10us"}'
with "a negative time" "nic.latency: is '-5us', but must not be negative" '"nic": {"latency": "-5us"}'
with "a time that is too long" "nic.latency: is \"9999s\"; allowed is 0ps to" '"nic": {"latency": "9999s"}'
with "a time beyond all numbers" "stop: is '1e300us', which is too large" '"stop": "1e300us"'
with "a text for a number" "nic.mtu: is \"4096\"; allowed is a whole number" '"nic": {"mtu": "4096"}'
with "a fraction for a count" "nic.ack_every: is 1.5; allowed is a whole number" '"nic": {"ack_every": 1.5}'
with "a number below its range" "nic.ack_every: is 0; allowed is 1 to" '"nic": {"ack_every": 0}'
with "null" "nic.qps: is null; allowed is" '"nic": {"qps": null}'
with "a list for an object" "nic: is \[\]; allowed is an object" '"nic": []'
with "a profile that is not there" "nic.profile: no such profile 'connectx6'; nearest is 'connectx-6'" '"nic": {"profile": "connectx6"}'
with "kmin above kmax" "switch.ecn.kmin: is \"400KB\", above kmax; allowed is" '"switch": {"ecn": {"kmin": "400KB", "kmax": "100KB", "pmax": 0.2}}'
with "a class that is not there" "switch.pfc\[0\]: is 9; allowed is a whole number from 0 to 7" '"switch": {"pfc": [9]}'
with "a switch that is not there" "switches.spine9: fits no switch" '"switches": {"spine9": {}}'
with "a DSCP for two" "qos.cnp.dscp: is 48, as that of 'roce'" '"qos": {"roce": {"dscp": 48}}'
with "a misspelt algorithm" "cc.algorithm: is \"dcqnc\"; nearest is \"dcqcn\"" '"cc": {"algorithm": "dcqnc"}'
with "what is not supported yet" "cc.algorithm: \"hpcc\" is not supported yet; allowed is" '"cc": {"algorithm": "hpcc"}'
with "a parameter of another algorithm" "cc.params.g: no such key" '"cc": {"algorithm": "none", "params": {"g": 0.5}}'
with "a link that is not there" "faults\[0\].link: no link 'leaf0-host9'; nearest is" '"faults": [{"at": "1ms", "link": "leaf0-host9", "do": "down"}]'
with "a misspelt fault" "faults\[0\].do: is \"dawn\"; nearest is \"down\"" '"faults": [{"at": "1ms", "link": "leaf0-host1", "do": "dawn"}]'
with "a misspelt variable of NCCL" "nccl.NCCL_ALGOO: no such key; nearest is 'NCCL_ALGO'" '"nccl": {"NCCL_ALGOO": "Ring"}'
with "a misspelt expectation" "expect.verdikt: no such value in summary.json; nearest is 'verdict'" '"expect": {"verdikt": "complete"}'
with "an expectation of what is not there" "expect.\"fabric.lost_by.ttll\": .*nearest is 'fabric.lost_by.ttl'" '"expect": {"fabric.lost_by.ttll": 0}'
with "an expectation of an object" "expect.fabric: is an object of summary.json; allowed is a single value" '"expect": {"fabric": 0}'
with "a band upside down" "expect.\"flows.n\": is \[5,1\]; allowed is a band" '"expect": {"flows.n": [5, 1]}'
with "ports to sample that are not there" "output.series\[0\]: 'leaf9' fits no port" '"output": {"series": ["leaf9"]}'
with "a name that leads out of the folder" "name: begins with '.'" '"name": ".."'
with "a name with a folder" "name: has a '/'" '"name": "../../x"'
with "a name that is too long" "name: .*longer than 100 bytes" "\"name\": \"$(printf '%0200d' 0)\""
echo '{"base": "nowhere.json"}' >s.json
refused "a base that is not there" "/nowhere.json: No such file" run s.json
with "a base that is this file" "base: is '.*', which is based on this file again" '"base": "s.json"'
echo '{"base": "b.json"}' >a.json && echo '{"base": "a.json"}' >b.json
refused "a circle of bases" "base: is '.*', which is based on this file again" run a.json
rm -f a.json b.json s.json

# ---- networks ---------------------------------------------------------------------------

fabric "a topology that is not there" ".type: is \"stra\"; nearest is \"star\"" '"type": "stra"'
fabric "no hosts" ".hosts: is 0; allowed is 1 to 65534$" '"type": "star", "hosts": 0'
fabric "hosts that are not given" ".hosts: is not given; allowed" '"type": "star"'
fabric "100 million hosts" ".hosts: is 100000000; allowed is 1 to" '"type": "star", "hosts": 100000000'
fabric "bytes for bits" ".host_link.rate: is '100GB'; allowed is a rate" '"type": "star", "hosts": 4, "host_link": {"rate": "100GB"}'
fabric "length and delay" ".host_link.delay: is given, and length too" '"type": "star", "hosts": 4, "host_link": {"rate": "100G", "length": "3m", "delay": "1us"}'
fabric "a share above 1" ".host_link.error_rate: is 2; allowed is 0 to 1" '"type": "star", "hosts": 4, "host_link": {"error_rate": 2}'
fabric "hosts that do not fit their leaves" ": hosts 10 at 4 hosts_per_leaf need 3 leaves (3 x 4 = 12), not 2" '"type": "leaf-spine", "hosts": 10, "hosts_per_leaf": 4, "leaves": 2, "spines": 2'
fabric "an oversubscription that gives a third of a link" ": uplinks_per_leaf = .* = 8/3 is no whole number" '"type": "leaf-spine", "hosts": 16, "hosts_per_leaf": 4, "oversubscription": "3:2"'
fabric "numbers that contradict each other" ": .* = 2:1, not the oversubscription 1:1" '"type": "leaf-spine", "leaves": 3, "hosts_per_leaf": 4, "uplinks_per_leaf": 2, "oversubscription": "1:1"'
fabric "uplinks that do not spread evenly" ": uplinks_per_leaf 3 over spines 2 leave 1" '"type": "leaf-spine", "leaves": 3, "hosts_per_leaf": 4, "uplinks_per_leaf": 3, "spines": 2'
fabric "more ports than there may be" ": .* = 532488192 ports; allowed up to 1000000" '"type": "leaf-spine", "hosts": 4096, "hosts_per_leaf": 1, "spines": 65000'
fabric "a host that cannot be reached" ": there is no path between 'h0' and 'h1'" '"type": "graph", "nodes": [{"name": "h0", "kind": "host"}, {"name": "h1", "kind": "host"}, {"name": "s", "kind": "switch"}, {"name": "t", "kind": "switch"}], "links": [{"a": "h0", "b": "s"}, {"a": "h1", "b": "t"}]'
fabric "a link that ends nowhere" ".links\[0\].b: " '"type": "graph", "nodes": [{"name": "h0", "kind": "host"}], "links": [{"a": "h0", "b": "s"}]'
text "a link faster than its port" ": topology: link host0-leaf0 runs at 400G; a port of host0 takes at most 200G" <<<"{\"nic\": {\"profile\": \"connectx-6\"}, \"topology\": {\"type\": \"star\", \"hosts\": 4, \"host_link\": {\"rate\": \"400G\"}}, $incast}"

# ---- workloads --------------------------------------------------------------------------

work "a misspelt workload" ".type: is \"incats\"; nearest is \"incast\"" '"type": "incats"'
work "a flow from a host to itself" ".list\[0\].dst: is the same as src" '"type": "flows", "list": [{"src": 1, "dst": 1, "bytes": "1MB"}]'
work "a host that is not there" ".list\[0\].dst: no host 'hots2'; nearest is 'host2'" '"type": "flows", "list": [{"src": 1, "dst": "hots2", "bytes": "1MB"}]'
work "a flow of nothing" ".list\[0\].bytes: is \"0B\"; allowed is 1B to" '"type": "flows", "list": [{"src": 1, "dst": 2, "bytes": "0B"}]'
work "no flows" ".list: is missing; needed is a list of flows .*, or path" '"type": "flows"'
work "ranks that do not fit" ".ranks: are 8; allowed is 2 to 4 (4 hosts x 1 GPUs)" '"type": "collective", "ranks": 8, "bytes": "64KiB"'
work "a rank twice" ".ranks\[1\]: is 0 again" '"type": "collective", "ranks": [0, 0], "bytes": "64KiB"'
work "an operation that is not supported yet" ".op: \"all_gather\" is not supported yet; allowed is \"all_reduce\"" '"type": "collective", "op": "all_gather", "bytes": "64KiB"'
rails='"topology": {"type": "graph", "nodes": [{"name": "h0", "kind": "host"}, {"name": "h1", "kind": "host"}, {"name": "red", "kind": "switch"}, {"name": "blue", "kind": "switch"}], "links": [{"a": "h0", "b": "red"}, {"a": "h0", "b": "blue"}'
text "rails in another order" ": workload\[0\]: channel 0 connects NIC 0 of h0 with NIC 0 of h1, but no path joins them" <<<"{$rails, {\"a\": \"h1\", \"b\": \"blue\"}, {\"a\": \"h1\", \"b\": \"red\"}]}, \"workload\": [{\"type\": \"collective\", \"bytes\": \"1MiB\"}]}"
text "a host on one rail of two" ": workload\[0\]: channel 0 connects NIC 0 of h0 with NIC 0 of h1, but no path joins them" <<<"{$rails, {\"a\": \"h1\", \"b\": \"blue\"}]}, \"workload\": [{\"type\": \"collective\", \"bytes\": \"1MiB\"}]}"
work "more senders than hosts" ".senders: is 9; there are 3 hosts but the receiver" '"type": "incast", "senders": 9, "receiver": 0, "bytes": "1KB"'
rm -f s.json
table "an empty CSV" ": is empty" ''
table "a CSV without names" ":1: no such column '1'; .*allowed are src, dst, bytes, start, sport, dport and class" '1,2,3,0us\n'
table "a CSV line with a field too few" ":3: has 2 fields; the first line has 3" 'src,dst,bytes\n1,2,3\n1,2\n'
table "a CSV line with a word for a number" ":2: bytes is 'x'; allowed is a size" 'src,dst,bytes\n1,2,x\n'
table "a CSV line with a host that is not there" ":3: dst: is 9; allowed is 0 to 3" 'src,dst,bytes\n# comment\n1,9,3\n'
table "a CSV with binary rubbish" ":3: is no text in UTF-8" 'src,dst,bytes\n1,2,3\n\377\376\000\n'
rm -f flows.csv

# trace NAME PATTERN FILE
trace()
{
    refused "$1" "ok.json: workload\[0\]: .*$2" run ok.json --set workload="[{\"type\": \"trace\", \"path\": \"$3\"}]"
}
head -c 3000 /dev/urandom >noise.log
trace "a trace of noise" "noise.log: not an NCCL debug log" noise.log
trace "a trace that is not there" "nowhere.log: No such file" nowhere.log
trace "a trace that is no file" "/dev/zero: neither a file nor a folder" /dev/zero
trace "a log with a line that is cut off" "input.log:7: .*; the log has lost lines" "$(cd "$srcdir" && pwd)/tests/data/nccl-log/invalid/cut-in-prefix/input.log"
rm -f noise.log

# ---- the command line -------------------------------------------------------------------

refused "a command that is not there" "'runn' is no command; the nearest is 'run'" runn ok.json
refused "an option with a line feed" "no option '--se.x0at'; the nearest is --set" run ok.json $'--se\nt'
refused "a --set without a value" "--set 'nic.mtu': allowed is PATH=VALUE" run ok.json --set nic.mtu
refused "a --set into a list by a key" "workload: --set goes into it by a key" run ok.json --set workload.bytes=1MB
refused "a --set beyond a list" "there are 1; allowed is \[0\] to \[1\]" run ok.json --set 'workload[9].bytes=1MB'
refused "a seed that is no number" "--seed: '1.5' is no whole number from 0 to" run ok.json --seed 1.5
mkdir mine && touch mine/thesis
refused "a folder that is there" "mine: exists already; --force replaces it" run ok.json --out mine
refused "a folder that holds something else" "mine: is no folder of results.*--force does not replace it" run ok.json --out mine --force
