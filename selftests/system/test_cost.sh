#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts the instructions of the most expensive walks (cost/walk_cost.c).
#	BEE_LONG=1	also those that take minutes to count
cd "$(dirname "$0")/../.." || exit 1
program=build/selftests/system/walk_cost
mkdir -p "${program%/*}"
gcc -std=gnu11 -O2 -g -Wall -D_GNU_SOURCE -fno-strict-aliasing \
	-Iselftests/unit/kmod/include -I. -Ikmod -Iselftests -Itools/include \
	-Iinclude/uapi -o "$program" selftests/system/cost/walk_cost.c kmod/table.c kmod/table_check.c -lz >&2 &&
	exec "$program" ${BEE_LONG:+all}
