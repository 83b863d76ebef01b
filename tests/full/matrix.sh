#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# matrix.sh - determinism.sh over every thread count, partition and repeat.
exec "$srcdir/tests/full/determinism.sh" full
