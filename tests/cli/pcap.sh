#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# pcap.sh - captures from outside: what Wireshark's display filters find in an incast with
# CNPs, marks, a NAK and pauses is what ports.csv of the same run counts; scapy agrees on
# the ICRC; limits, filters and taps that cannot be.

n_tests=40
. "$srcdir/tests/cli/lib.sh"

# All is counted at leaf0, where each frame of the star passes twice.
cat >s.json <<'END'
{"name": "incast", "seed": 2,
 "topology": {"type": "star", "hosts": 9},
 "switch": {"buffer": "1MB"}, "nic": {"ack_every": 4},
 "workload": [{"type": "incast", "receiver": 0, "bytes": "300KB"},
              {"type": "incast", "receiver": 0, "bytes": "2KB", "start": "3us"}],
 "faults": [{"at": "0us", "link": "host3-leaf0", "do": "drop", "packets": [9]}],
 "output": {"pcap": [{"at": "leaf0"}]}}
END

roce 0 check s.json
is "a scenario with taps is fine" $?
roce 0 run s.json --out r --quiet && [ -s r/leaf0.pcap ]
is "a capture is written" $?
[ "$(od -A n -t x4 -N 4 r/leaf0.pcap | tr -d ' ')" = a1b23c4d ] && [ "$(od -A n -t u4 -j 20 -N 4 r/leaf0.pcap | tr -d ' ')" = 1 ]
is "nanoseconds, Ethernet" $?

# of COLUMN[+COLUMN...] [CLASS]: sum over leaf0's ports.
of()
{
    awk -F, -v wanted="$1" -v class="${2-}" '
        NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; n = split(wanted, w, "+"); next }
        $1 ~ /^leaf0:/ && (class == "" || $2 == class) { for (i = 1; i <= n; i++) sum += $c[w[i]] }
        END { print sum + 0 }' r/ports.csv
}

[ "$(jq '.fabric | [.cnp_sent, .ecn_marked, .nak_sent, .pfc_frames] | min > 0' r/summary.json)" = true ]
is "CNPs, marks, NAKs and pauses are in it" $?

filters=() counts=() whats=()

# finds FILTER COUNT WHAT: the display filter should find so many frames, and some.
finds()
{
    filters+=("$1") counts+=("$2") whats+=("$3")
}

# All of these in one pass.
judge_finds()
{
    row=$(IFS=,; tshark -r r/leaf0.pcap -q -z "io,stat,0,${filters[*]}" 2>/dev/null | grep '<>')
    IFS='|' read -ra cell <<<"$row"
    for i in "${!filters[@]}"; do
        if [ -z "$tshark" ]; then
            skip "${filters[$i]}: ${whats[$i]}" "no tshark"
            continue
        fi
        [ "${cell[2 * i + 2]}" -eq "${counts[$i]}" ] && [ "${counts[$i]}" -gt 0 ]
        is "${filters[$i]}: ${whats[$i]}, ${counts[$i]}" $?
    done
}

tshark=$(command -v tshark)
all=$(of tx_packets+rx_packets)
pfc=$(of pfc_xoff_sent+pfc_xon_sent)
acks=$(jq '2 * .fabric.ack_sent' r/summary.json)
naks=$(jq '2 * .fabric.nak_sent' r/summary.json)
finds 'infiniband' "$all" "RoCE"
finds 'udp.dstport==4791' "$all" "RoCE"
finds 'infiniband.bth.opcode==129' "$(of tx_packets+rx_packets 6)" "CNPs"
finds 'infiniband.reserved==40' "$(of tx_packets+rx_packets 6)" "BECN"
finds 'ip.dsfield.ecn==3' "$(of marked_packets)" "marked CE"
finds 'infiniband.bth.opcode==17' $((acks + naks)) "ACKs and NAKs"
finds 'infiniband.aeth.syndrome.opcode==3 && infiniband.aeth.syndrome.error_code==0' "$naks" "NAKs"
finds 'ip.dsfield.dscp==26' "$(of tx_packets+rx_packets 3)" "class 3"
finds 'macc.opcode==0x0101' "$pfc" "PFC"
finds 'macc.cbfc.enbv.c3==1' "$pfc" "PFC of class 3"
finds 'macc.cbfc.enbv.c3==1 && macc.cbfc.pause_time.c3>0' "$(of pfc_xoff_sent 3)" "stops"
finds 'macc.cbfc.enbv.c3==1 && macc.cbfc.pause_time.c3==0' "$(of pfc_xon_sent 3)" "resumes"
# Frames of the WRITEs of 300 KB: a first one each, not sent again, in and out.
finds 'infiniband.reth.dmalen>=4096' 16 "first packets of large messages"
# host1 has two QPs, one for each workload.
finds '(infiniband.bth.destqp==0x11 || infiniband.bth.destqp==0x12) && ip.dst==10.0.0.2' \
    "$(awk -F, '$1 == "host1:0" { n += 2 * $6 } END { print n }' r/ports.csv)" "to host1's QPs"
judge_finds

if [ -n "$tshark" ]; then
    [ "$(tshark -r r/leaf0.pcap -Y _ws.malformed 2>/dev/null | wc -l)" -eq 0 ]
    is "nothing is malformed" $?
    [ -z "$(tshark -r r/leaf0.pcap -q -z expert 2>/dev/null | grep -v '^$')" ]
    is "and no expert finds anything" $?
else
    skip "nothing is malformed" "no tshark"
    skip "no expert finds anything" "no tshark"
fi

# ---- scapy --------------------------------------------------------------------------------

python=
for p in python3 /usr/bin/python3; do
    [ -z "$python" ] && $p -c 'import scapy.contrib.roce' 2>/dev/null && python=$p
done
roce 0 run s.json --out few --quiet --set 'workload[0].bytes=40KB' && few=few/leaf0.pcap
if [ -n "$python" ]; then
    count=$(awk -F, '$1 ~ /^leaf0:/ { n += $4 + $6 } END { print n }' few/ports.csv)
    [ "$("$python" "$srcdir/tests/cli/scapy-icrc" $few 2>err)" = "$count frames, 0 differ" ]
    is "scapy computes the same ICRCs" $?
else
    skip "scapy computes the same ICRCs" "no python3 with scapy (Debian: python3-scapy)"
fi

# ---- other frames -------------------------------------------------------------------------

for way in '"ip": 6' '"vlan": true' '"ip": 6, "vlan": true, "mtu": 256' '"mtu": 512, "ack_every": 1'; do
    sed "s/\"ack_every\": 4/\"jitter\": \"0us\", $way/" s.json >o.json
    roce 0 run o.json --out o --force --quiet
    good=$?
    if [ -n "$tshark" ]; then
        [ $good -eq 0 ] && [ "$(tshark -r o/leaf0.pcap -Y _ws.malformed 2>/dev/null | wc -l)" -eq 0 ] &&
            [ "$(tshark -r o/leaf0.pcap -Y infiniband.bth.opcode 2>/dev/null | wc -l)" -eq "$(jq '.packet_hops - .fabric.pfc_frames - .fabric.lost_by.link_error' o/summary.json)" ]
        good=$?
    fi
    is "$way: no frame is malformed" $good
done

# ---- filters, limits ----------------------------------------------------------------------

# The capture of a filter as bytes behind the file's header; order is that of the whole one.
frames()
{
    roce 0 run s.json --out f --force --quiet --set "output.pcap=[{\"at\": \"leaf0\", \"snaplen\": 64, \"filter\": \"$1\"}]" || return
    tshark -r f/leaf0.pcap -T fields -e frame.time_epoch -e frame.len 2>/dev/null
}

# same FILTER DISPLAY-FILTER: both find the same.
same()
{
    if [ -z "$tshark" ]; then
        skip "filter $1 is $2" "no tshark"
        return
    fi
    frames "$1" >ours
    tshark -r r/leaf0.pcap -Y "$2" -T fields -e frame.time_epoch -e frame.len >theirs 2>/dev/null
    [ -s ours ] && cmp -s ours theirs
    is "filter $1 is $2" $?
}

same 'class=3' 'ip.dsfield.dscp==26 || macc.cbfc.enbv.c3==1'
same 'opcode=cnp' 'infiniband.bth.opcode==129'
same 'marked' 'ip.dsfield.ecn==3'
same 'control' 'infiniband.bth.opcode==17 || infiniband.bth.opcode==129 || macc'
same '!control,qp=0x11' 'infiniband.bth.destqp==0x11 && infiniband.bth.opcode<=11'
same 'opcode=ack|0x06' '(infiniband.bth.opcode==17 && infiniband.aeth.syndrome.opcode==0) || infiniband.bth.opcode==6'

roce 0 run s.json --out m --quiet --set 'output.pcap=[{"at": "leaf0", "max": "100KB"}]' &&
    size=$(wc -c <m/leaf0.pcap) && [ "$size" -le 100000 ] && [ "$size" -gt 95000 ] && grep -q 'note  *leaf0.pcap is not whole' out &&
    jq -e '.notes[0] | test("leaf0.pcap is not whole")' m/summary.json >/dev/null && cmp -s -n "$size" m/leaf0.pcap r/leaf0.pcap
is "a file that is full is the begin of the whole one, and that is said" $?
roce 0 run s.json --out p --quiet --set 'output.pcap=[{"at": "leaf0:0", "dir": "out"}, {"at": "host?", "dir": "in", "filter": "control"}]' &&
    [ "$(cd p && echo *.pcap)" = "host0.pcap host1.pcap host2.pcap host3.pcap host4.pcap host5.pcap host6.pcap host7.pcap host8.pcap leaf0-0.pcap" ]
is "files are called by node and port" $?
cmp -s p/flows.csv r/flows.csv && cmp -s p/ports.csv r/ports.csv
is "taps change no result" $?
roce 0 run r/config.json --out again --quiet && cmp -s again/leaf0.pcap r/leaf0.pcap
is "config.json repeats the capture" $?

# ---- a run that is interrupted ------------------------------------------------------------

long_scenario l.json
"$ROCESIM" run l.json --out int --quiet --set 'output.pcap=[{"at": "leaf0:1", "snaplen": 64}]' >out 2>err &
pid=$!
for _ in $(seq 200); do
    [ -n "$(find . -name 'leaf0-1.pcap' -size +100k 2>/dev/null)" ] && break
    sleep 0.05
done
kill -TERM $pid
wait $pid
# A header of 24 bytes and records of 16 and what they say: nothing is cut.
[ $? -eq 130 ] && [ $((($(wc -c <int/leaf0-1.pcap) - 24) % 4)) -eq 0 ]
good=$?
if [ $good -eq 0 ] && [ -n "$tshark" ]; then
    tshark -r int/leaf0-1.pcap -c 100000000 >/dev/null 2>tshark.err && ! grep -q 'cut short' tshark.err
    good=$?
fi
is "an interrupted run leaves whole captures" $good

# ---- taps that cannot be ------------------------------------------------------------------

roce 2 check s.json --set 'output.pcap[0].at=leaf1' && complains "output.pcap\[0\].at: 'leaf1' fits no node"
is "a node that is not there" $?
roce 2 check s.json --set 'output.pcap[0].at=leaf0:9' && complains "'leaf0:9' fits no port"
is "a port that is not there" $?
roce 2 check s.json --set 'output.pcap[0].filter=opcode=foo' && complains "'foo' is no opcode; allowed are"
is "a bad filter" $?
roce 2 check s.json --set 'output.pcap[0].max=64' && complains 'a unit is missing'
is "a bad size" $?
