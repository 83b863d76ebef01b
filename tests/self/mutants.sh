#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# mutants.sh - tests/mutants/run tells a found mutant from one that survives, does not
# compile, does not apply, names nobody or names a test that fails anyway; and it leaves the
# sources as they were.  Tried on a tree of three files.

set -u
tree="$TMPDIR/tree"
n=0

mkdir -p "$tree/tests/mutants" "$tree/tests/unit"
cp "$srcdir/tests/copy-tree" "$srcdir/tests/variant" "$tree/tests"
cp "$srcdir/tests/mutants/run" "$tree/tests/mutants"
printf '#!/bin/sh\n: >Makefile\n' >"$tree/configure"
printf 'int half(int x)\n{\n    return x / 2;\n}\n' >"$tree/half.c"
cat >"$tree/GNUmakefile" <<'END'
rocesim: half.o
	touch $@
tests/unit/%: tests/unit/%.c half.o
	$(CC) -o $@ $^
clean:
.PHONY: clean
END
cat >"$tree/tests/unit/test_half.c" <<'END'
#include <stdio.h>
int half(int x);
int main(void)
{
    printf("1..1\n%sok 1\n", half(9) == 4 ? "" : "not ");
    return half(9) != 4;
}
END
printf '#!/bin/sh\necho 1..1\necho not ok 1\nexit 1\n' >"$tree/tests/broken.sh"
chmod +x "$tree/configure" "$tree/tests/broken.sh"

mutant()    # mutant NAME KILLED-BY NEW-LINE [OLD-LINE]
{
    cat >"$tree/tests/mutants/$1.patch" <<END
A mutant.
$2
diff --git a/half.c b/half.c
--- a/half.c
+++ b/half.c
@@ -1,4 +1,4 @@
 int half(int x)
 {
-    ${4:-return x / 2;}
+    $3
 }
END
}
mutant a_found 'Killed-by: tests/unit/test_half' 'return x / 3;'
mutant b_survives 'Killed-by: tests/unit/test_half' 'return x >> 1;'
mutant c_broken 'Killed-by: tests/unit/test_half' 'return y;'
mutant d_stale 'Killed-by: tests/unit/test_half' 'return x;' 'return x / 4;'
mutant e_nobody 'Found-by: tests/unit/test_half' 'return x / 3;'
mutant f_anyway 'Killed-by: tests/broken.sh' 'return x / 3;'
mutant g_crash 'Killed-by: tests/unit/test_half' 'return x / (x - x);'

srcdir="$tree" builddir="$tree" "$tree/tests/mutants/run" >"$TMPDIR/out" 2>&1
status=$?

says()      # says NAME START [START]: consecutive lines that begin so
{
    local name=$1

    n=$((n + 1))
    if awk -v first="$2" -v second="${3:-}" '
        armed && index($0, second) == 1 { found = 1 }
        { armed = index($0, first) == 1 }
        armed && second == "" { found = 1 }
        END { exit !found }' "$TMPDIR/out"; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        sed 's/^#* */# /' "$TMPDIR/out"
    fi
}

echo 1..9
says "the plan counts the patches" '1..7'
says "a found mutant" 'ok 1 - a_found is found by tests/unit/test_half'
says "a survivor" 'not ok 2 - b_survives' '# still passes: tests/unit/test_half'
says "a mutant that does not compile" 'not ok 3 - c_broken' '# the mutant does not compile'
says "a patch that no longer applies" 'not ok 4 - d_stale' '# the patch no longer applies'
says "a patch that names no test" 'not ok 5 - e_nobody' "# no line 'Killed-by"
says "a test that fails anyway" 'not ok 6 - f_anyway' '# tests/broken.sh fails or is missing'
says "a crash counts as found, after the others were undone" 'ok 7 - g_crash is found'
n=$((n + 1))
if [ $status -eq 1 ] && cmp -s "$tree/half.c" "$tree/variants/mutants/half.c"; then
    echo "ok $n - status 1, sources as they were"
else
    echo "not ok $n - status 1, sources as they were (status $status)"
fi
