#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# new.sh - `rocesim new`: what it prints can be run as it is; a kind it does not know.

echo 1..11
n=0
is()    # is NAME STATUS-OF-CONDITION
{
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}

cd "$TMPDIR" || exit 1
for kind in flows permutation incast collective graph poisson all-to-all; do
    "$ROCESIM" new $kind >$kind.json 2>err &&
        "$ROCESIM" run $kind.json --quiet --out out-$kind >table 2>>err &&
        [ -s out-$kind/config.json ]
    is "what 'new $kind' prints runs to its expected end" $?
done
"$ROCESIM" new trace >trace.json && grep -q '"type": "trace"' trace.json
is "'new trace' prints a scenario" $?
"$ROCESIM" new sweep >sweep.json && "$ROCESIM" sweep sweep.json --out out-sweep >table 2>err &&
    [ "$(grep -c ,complete,0, out-sweep/runs.csv)" -eq 24 ] && [ ! -s err ]
is "'new sweep' prints a sweep that runs" $?
"$ROCESIM" new flow >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "^rocesim: .*nearest is 'flows'" err
is "an unknown kind is one line with the nearest one, status 2" $?
"$ROCESIM" new flows >/dev/full 2>err
[ $? -eq 3 ] && [ -s err ]
is "a full disk is status 3" $?
