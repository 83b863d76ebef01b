#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# unwritable.sh - output that cannot be written: status 3, one line, nothing left behind.

n_tests=10
. "$srcdir/tests/cli/lib.sh"

scenario s.json

roce 3 run --out /proc/nowhere/results s.json && complains "cannot make the folder" && [ ! -s out ]
is "a place where no folder can be made" $?
echo text >file
roce 3 run --out file/results s.json && complains "cannot make the folder" && [ "$(cat file)" = text ]
is "a file where a folder is needed" $?

if [ "$(id -u)" -ne 0 ]; then
    mkdir closed && chmod 555 closed
    roce 3 run --out closed/results s.json && complains "Permission denied" && [ -z "$(ls -A closed)" ]
    is "a folder without the right to write" $?
    chmod 755 closed
else
    skip "a folder without the right to write" "root may write everywhere"
fi

# Too long for a file name, not for a path.
roce 3 run --out "$(printf '%0300d' 0)" s.json && complains "cannot make the folder"
is "a name that is too long" $?

mkdir small
if mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    trap 'umount small 2>/dev/null' EXIT
    # Full during the run: samples of many ports.
    roce 3 run --set topology.hosts=20 --set 'workload[0].senders=19' --set 'workload[0].bytes=4MB' --out small/a s.json &&
        complains "No space left\|cannot be written" && [ ! -s out ]
    is "a disk that fills during the run" $?
    [ -z "$(ls -A small)" ]
    is "nothing is left on it" $?
    roce 3 run --set output.sample=off --set 'output.pcap=[{"at": "leaf0"}]' --out small/a s.json &&
        complains "a/leaf0.pcap: cannot be written" && [ ! -s out ]
    is "a disk that a capture fills" $?
    [ -z "$(ls -A small)" ]
    is "nothing is left of that" $?
    # Full at the end: room for little more than the folder.
    dd if=/dev/zero of=small/ballast bs=1k count=56 2>/dev/null
    roce 3 run --set output.sample=off --out small/b s.json && complains "No space left\|cannot be written"
    is "a disk that fills at the end" $?
    [ "$(ls -A small)" = ballast ]
    is "nothing is left on it then" $?
else
    skip "a disk that fills during the run" "no right to mount"
    skip "nothing is left on it" "no right to mount"
    skip "a disk that a capture fills" "no right to mount"
    skip "nothing is left of that" "no right to mount"
    skip "a disk that fills at the end" "no right to mount"
    skip "nothing is left on it then" "no right to mount"
fi
