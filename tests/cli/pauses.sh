#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# pauses.sh - who made whom wait: pfc.csv, pfc-tree.txt, the table and summary.json tell the
# same, and it is what a reader finds who goes through pfc.csv by its description.

n_tests=12
. "$srcdir/tests/cli/lib.sh"

cat >pfc.json <<'END'
{"name": "pfc",
 "topology": {"type": "leaf-spine", "hosts": 16, "hosts_per_leaf": 4, "spines": 2, "uplinks_per_leaf": 2},
 "switch": {"buffer": "1MB", "alpha": 0.25},
 "workload": [{"type": "incast", "senders": 8, "receiver": 0, "bytes": "1MB"}]}
END
roce 0 run --quiet --out p pfc.json
is "an incast with PFC" $?
jq -e '.pauses | .n > 100 and .ports == 13 and .hosts == 8 and .hops == 3 and .n_roots >= 1 and .roots[0].port == "leaf0:0" and
    .roots[0].to == "host0" and .roots[0].class == 3 and .roots[0].hosts == 8 and .roots[0].loop == false' p/summary.json >/dev/null
is "the receiver's port is the root; all senders wait for it" $?
[ "$(head -n 1 p/pfc.csv)" = "time_us,port,class,duration_us,cause_port,paused_port,cause_held" ] &&
    awk -F, 'NR > 1 && ($2 == $6 || ($7 != 0 && $7 != 1) || substr($5, 1, index($5, ":")) != substr($2, 1, index($2, ":"))) { exit 1 }' p/pfc.csv
is "a cause is at the switch that told, what was paused is not" $?

# As docs/results.md says: a pause whose cause was held goes back to the latest earlier pause
# of that port.
reader='{
    root = $7 && ($5 "," $3) in last ? last[$5 "," $3] : $5 "," $3
    last[$6 "," $3] = root
    us[root] += $4
    n[root]++
} END { for (r in us) printf "%s %d %.6f\n", r, n[r], us[r] }'
tail -n +2 p/pfc.csv | sort -t, -s -k1,1g | awk -F, "$reader" | sort -k3,3gr -k1,1 | head -n 5 >found
jq -r '.pauses.roots[] | "\(.port),\(.class) \(.n) \(.paused_us)"' p/summary.json |
    awk '{ printf "%s %d %.6f\n", $1, $2, $3 }' >told
cmp -s found told
is "a reader of pfc.csv finds the same roots" $?
tail -n +2 p/pfc.csv | awk -F, '{ us += $4; n++ } END { printf "%d %.3f\n", n, us }' >found
jq -r '"\(.pauses.n) \(.pauses.paused_us)"' p/summary.json | awk '{ printf "%d %.3f\n", $1, $2 }' >told
cmp -s found told
is "and every pause is counted once" $?
[ "$(grep -c ': root of ' p/pfc-tree.txt)" -eq "$(jq .pauses.n_roots p/summary.json)" ] &&
    awk -v n="$(jq .pauses.n p/summary.json)" -v us="$(jq .pauses.paused_us p/summary.json)" \
        'NR > 4 { us -= $2; n -= $3 } END { exit n != 0 || us < -0.1 || us > 0.1 }' p/pfc-tree.txt
is "pfc-tree.txt holds all of it" $?
awk '/leaf0:0 to host0, class 3: root of / { on = 1; next } /: root of / { on = 0 }
    on && /    spine[01]:0 to leaf0/ { spine = 1 } on && spine && /      leaf1:[45] to spine/ { leaf = 1 }
    on && leaf && /        host[4-7]:0 to leaf1/ { host = 1 } END { exit !host }' p/pfc-tree.txt
is "from the receiver over spine and leaf to hosts" $?
"$ROCESIM" run --force --quiet --out q pfc.json >out 2>err
grep -q '^pauses  *[0-9]* of 13 ports, .* in all, up to 3 hops from what caused them:$' out &&
    grep -q '^ *leaf0:0 to host0, class 3 .* in [0-9]* pauses of 13 ports, 8 hosts$' out && grep -q 'who made whom wait is in pfc-tree.txt' out
is "the table names what caused most" $?
same=0
for threads in 2 4; do
    "$ROCESIM" run --force --quiet --threads $threads --partition node --out q pfc.json >out 2>err
    cmp -s p/pfc.csv q/pfc.csv && cmp -s p/pfc-tree.txt q/pfc-tree.txt || same=1
done
is "on any number of threads" $same

roce 1 run --quiet --out ring "$(cd "$srcdir" && pwd)/tests/data/verdicts/pause-ring.json" &&
    jq -e '.pauses.n == 15 and .pauses.ports == 15 and .pauses.hosts == 10 and .pauses.n_roots == 5' ring/summary.json >/dev/null
is "pauses that still hold are counted" $?

# A pause that the link cuts short ends there.
"$ROCESIM" run --quiet --out cut --set 'cc.algorithm=none' --set 'nic.ack_timeout=6' \
    --set 'faults=[{"at": "60us", "link": "host1-leaf0", "do": "down"}, {"at": "300us", "link": "host1-leaf0", "do": "up"}]' pfc.json >out 2>err
awk -F, '$6 == "host1:0" && $1 < 60 { end = $1 + $4; if (end > 60.0000001) { bad = 1 } if (end > 59.9999999) { seen = 1 } }
    END { exit bad || !seen }' cut/pfc.csv
is "a link that goes down ends the pause" $?

scenario s.json
roce 0 run --quiet --out s s.json && [ ! -e s/pfc-tree.txt ] && ! grep -q '^pauses' out && [ "$(wc -l <s/pfc.csv)" -eq 1 ] &&
    jq -e '.pauses.n == 0 and .pauses.roots == []' s/summary.json >/dev/null
is "without pauses there is no tree" $?
