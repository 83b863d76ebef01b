# SPDX-License-Identifier: GPL-3.0-or-later
#
# lib.sh - what the scripts here share: TAP lines, a small scenario, one run of the program.
# Sourced once n_tests is set; works in $TMPDIR.

echo "1..$n_tests"
cd "$TMPDIR" || exit 1
n=0

# is NAME STATUS: a result, good when STATUS is 0.
is()
{
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# out: /' out 2>/dev/null | head -n 5
        sed 's/^/# err: /' err 2>/dev/null | head -n 5
    fi
}

skip()  # skip NAME WHY
{
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# roce STATUS ARGUMENT...: runs the program into out and err; is its status STATUS?
roce()
{
    want=$1
    shift
    "$ROCESIM" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$want" ] && return 0
    echo "# status $got, not $want: rocesim $*"
    return 1
}

# Is the only line of err one that begins with "rocesim: " and holds the pattern?
complains()
{
    [ "$(wc -l <err)" -eq 1 ] && grep -q '^rocesim: ' err && grep -q -- "$1" err
}

# scenario FILE [EXTRA-KEYS]: three hosts on a switch, two of which send to the third.
scenario()
{
    cat >"$1" <<END
{"name": "small", ${2:+$2,}
 "topology": {"type": "star", "hosts": 3, "host_link": {"rate": "100G", "length": "3m"}},
 "workload": [{"type": "incast", "senders": 2, "receiver": 0, "bytes": "64KiB"}]}
END
}

# A scenario that runs for minutes: four hosts send 100 GB each.
long_scenario()
{
    cat >"$1" <<'END'
{"name": "long",
 "topology": {"type": "star", "hosts": 4, "host_link": {"rate": "100G", "length": "3m"}},
 "workload": [{"type": "permutation", "shift": 1, "bytes": "100GB"}]}
END
}
