#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# version.sh - what the program says of itself, and its status for a word it does not know.

echo 1..4
n=0
is()    # is NAME STATUS-OF-CONDITION
{
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}

"$ROCESIM" --version >"$TMPDIR/out" 2>"$TMPDIR/err"
is "--version has status 0" $?
grep -qx 'rocesim [0-9][0-9.]*' "$TMPDIR/out" && [ ! -s "$TMPDIR/err" ]
is "--version prints name and number, alone, on stdout" $?
"$ROCESIM" --help 2>&1 | grep -q '^usage: rocesim'
is "--help shows the usage" $?
"$ROCESIM" no-such-command >"$TMPDIR/out" 2>"$TMPDIR/err"
[ $? -eq 2 ] && [ ! -s "$TMPDIR/out" ] && grep -q '^rocesim: .*no-such-command' "$TMPDIR/err"
is "an unknown command is named on stderr, status 2" $?
