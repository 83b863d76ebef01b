#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# validation.sh - tests/validate/table orders, counts and shows what tests record, and the
# page in docs/ speaks of every known answer there is.

set -u
table="$srcdir/tests/validate/table"
n=0

# check NAME COMMAND...: one test.
check()
{
    local name=$1
    shift

    n=$((n + 1))
    if "$@" >"$TMPDIR/out" 2>&1; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        sed 's/^/# /' "$TMPDIR/out"
    fi
}

# record ID NAME STATUS
record()
{
    printf '%s\tTitle of %s\tits source\t%s\t1\t2\t+- 3\t%s\n' "$1" "$1" "$2" "$3"
}

headings()
{
    [ "$("$table" "$TMPDIR/records" | grep '^## ')" = "## K2: Title of K2
## K10: Title of K10
## K14: Title of K14
## K14b: Title of K14b
## incast-8: Title of incast-8" ]
}

# shows LINE: is a line of the page.
shows()
{
    "$table" "$TMPDIR/records" | grep -qxF "$1"
}

# refuses CONTENT: as records.
refuses()
{
    printf '%s' "$1" >"$TMPDIR/bad"
    ! "$table" "$TMPDIR/bad"
}

has_all()
{
    local id missing=

    for id in $(sed -n 's/^  "\(K[0-9]*[a-z]*\)": {$/\1/p' "$srcdir/tests/data/known-answers.json"); do
        grep -q "^## $id: " "$srcdir/docs/validation.md" || missing="$missing $id"
    done
    [ -z "$missing" ] || { echo "make validate writes them; missing:$missing"; return 1; }
}

has_all_experiments()
{
    local file name missing=

    for file in "$srcdir"/scenarios/papers/*.json "$srcdir"/scenarios/practice/*.json; do
        name=$(jq -r 'if has("expect") then .name else empty end' "$file")
        [ -z "$name" ] || grep -q "^## $name: " "$srcdir/docs/validation.md" || missing="$missing $name"
    done
    [ -z "$missing" ] || { echo "make validate writes them; missing:$missing"; return 1; }
}

has_no_failure()
{
    ! grep 'FAIL' "$srcdir/docs/validation.md"
}

{
    record incast-8 b pass
    record K14b b pass
    record K10 a FAIL
    record K10 b printed
    record K14 a pass
    record K2 z pass
    record K2 a pass
    record K2 z pass
} >"$TMPDIR/records"

echo "1..10"
check "answers stand by number" headings
check "one line a value" shows "| z | 1 | 2 | +- 3 | pass |"
check "the sum" shows "4 known answers, 1 named experiments, 7 comparisons, 1 failed."
check "the same line twice is one" shows "| K2 | Title of K2 | 2 | 2 | 0 | 0 |"
check "what is printed is not compared" shows "| K10 | Title of K10 | 1 | 0 | 1 | 1 |"
check "nothing recorded is an error" refuses ""
check "a line cut short is an error" refuses "K1	title"
check "docs/validation.md has every known answer" has_all
check "and every named experiment" has_all_experiments
check "docs/validation.md has no failure" has_no_failure
