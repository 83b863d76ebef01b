#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# options.sh - the command line: what is refused, with which status and which one line.

n_tests=31
. "$srcdir/tests/cli/lib.sh"

scenario s.json

# refused NAME PATTERN ARGUMENT...: status 2, nothing on stdout, one line with PATTERN.
refused()
{
    name=$1 pattern=$2
    shift 2
    roce 2 "$@" && [ ! -s out ] && complains "$pattern" && [ ! -e results ]
    is "$name" $?
}

refused "an unknown command names the nearest" "nearest is 'run'" rnu
refused "a command of later versions is known" "not in this version" tune x.json
refused "an unknown option names the nearest" "nearest is --json" run --jsno s.json
refused "an unknown short option" "no option '-z'" run -z s.json
refused "a joined value of an unknown option is left out" "nearest is --set" run --sett=a=b s.json
refused "an option without its value" "--out needs a value" run s.json --out
refused "a value for a flag" "--json takes no value" run --json=yes s.json
refused "an option twice" "given twice" run --out a --out b s.json
refused "an option of later versions" "not in this version" run --as perftest s.json
refused "no scenario" "SCENARIO is missing" run
refused "two scenarios" "one word too many" run s.json s.json
refused "--threads out of range" "from 1 to 64" run --threads 0 s.json
refused "--threads that is no number" "'two'" run --threads two s.json
refused "--partition names the nearest" "nearest is 'rack'" run --partition racks s.json
refused "--seed below 0" "--seed: '-1'" run --seed -1 s.json
refused "an empty --out" "empty name" run --out "" s.json
refused "a scenario that is not there" "nowhere.json" run nowhere.json
refused "a scenario that is a folder" "rocesim: " run .
refused "--set of a key that does not exist" "mtu" run --set nic.mtuu=1024 s.json
refused "plot of no folder" "nowhere" plot nowhere
refused "list of what there is not" "nearest is 'nics'" list nicss
refused "list params of no object" "nearest is 'nic'" list params nicc

"$ROCESIM" >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && grep -q '^usage: ' err
is "no command: the usage on stderr, status 2" $?

for command in run check topo trace list plot new; do
    roce 0 $command --help && grep -q "^usage: rocesim $command" out && [ ! -s err ] || break
done
is "every command has --help" $?

roce 0 check s.json && grep -q '^network  *3 hosts' out && [ ! -e results ]
is "check says what would be built, and makes no folder" $?
roce 0 check --json s.json && jq -e '._check.hosts == 3 and .nic.mtu == 4096' out >/dev/null
is "check --json holds the effective scenario and the findings" $?
cp out again.json
roce 0 check --json again.json && cmp -s out again.json
is "what check --json prints is a scenario that gives the same" $?
roce 0 list schema && jq -e '.nic.mtu.default == "4096"' out >/dev/null
is "list schema is JSON" $?
for list in topologies workloads cc switches nics traces params scenarios; do
    roce 0 list $list && [ -s out ] && [ ! -s err ] || break
done
is "every list has something" $?
roce 0 list --guesses && grep -q guess out && ! grep -q '  source: ' out
is "list --guesses shows guesses only" $?

if [ -w /dev/full ]; then
    "$ROCESIM" list params >/dev/full 2>err
    [ $? -eq 3 ] && complains "standard output"
    is "stdout that takes nothing: status 3" $?
else
    skip "stdout that takes nothing: status 3" "no /dev/full"
fi
