#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# signals.sh - a run that is told to end leaves marked, whole results; one that is killed
# leaves none; SIGUSR1 prints the state.

n_tests=11
. "$srcdir/tests/cli/lib.sh"

long_scenario l.json

# begin DIR: the long run in the background; $pid is it.
begin()
{
    "$ROCESIM" run l.json --out "$1" >out 2>err &
    pid=$!
    # It is at work once its hidden folder is there and has begun to fill.
    for _ in $(seq 200); do
        [ -n "$(find . -name 'series.spool' -size +0 2>/dev/null)" ] && return 0
        sleep 0.05
    done
    return 1
}

for signal in TERM INT; do
    begin $signal
    is "SIG$signal: the run is at work" $?
    kill -$signal $pid
    wait $pid
    [ $? -eq 130 ]
    is "SIG$signal: status 130" $?
    jq -e '.verdict == "interrupted" and (.unfinished | length) == 4 and .sim_time_us > 0 and
           .fabric.data_packets > 0' $signal/summary.json >/dev/null &&
        [ "$(wc -l <$signal/flows.csv)" -eq 5 ] && [ -z "$(find . -name '.*.part-*')" ]
    is "SIG$signal: whole results, marked" $?
done
grep -q '^verdict  *interrupted' out && grep -q '^results  *INT' out
is "the table is printed" $?

begin usr1
kill -USR1 $pid
for _ in $(seq 100); do
    grep -q simulated err && break
    sleep 0.05
done
grep -q '^rocesim: .* simulated, .*packet-hops/s.* operations outstanding$' err
is "SIGUSR1 prints the state and the run goes on" $?
kill -0 $pid
is "it is still there" $?
kill -KILL $pid
wait $pid 2>/dev/null
[ ! -e usr1 ]
is "a killed run leaves no folder of the name it was given" $?
roce 0 run l.json --set 'workload[0].bytes=1MB' --out usr1 && [ -s usr1/summary.json ]
is "and is no hindrance to the next" $?
