#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# examples.sh - the example traces are what their scripts write.

echo 1..1
examples=$srcdir/workloads/examples
if awk -f "$examples/gpt2-nccl-log.awk" | cmp - "$examples/gpt2-64ranks-nccl.log"; then
    echo "ok 1 - gpt2-64ranks-nccl.log is what gpt2-nccl-log.awk writes"
else
    echo "not ok 1 - gpt2-64ranks-nccl.log is what gpt2-nccl-log.awk writes"
fi
