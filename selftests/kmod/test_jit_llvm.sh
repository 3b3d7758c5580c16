#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks through code that LLVM's JIT compiler has made: cut short at it without a table, whole with
# one.
# once: 1
# timeout: 900
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"


# served: when lli waits for the first time, load tables of files only, and then those of its code
served() {
	local option

	for option in --no-jit -v; do
		read -r -n 1 <"$WORK/ready"
		"$BEECTL" load --cfi-only "$option" "$(pidof lli)" >>"$WORK/loads" 2>&1 ||
			echo "load $option: status $?" >>"$WORK/loads"
		echo g >"$WORK/go"
	done
}

# half_whole: of all stacks just those of the second half reach the start of the program
half_whole() {
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge "$WORK/data" >"$WORK/judged" || return
	cat "$WORK/judged"
	/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
sys.exit(not 0 < got["samples"] == 2 * got["complete"])' <"$WORK/judged"
}

llvm() {
	local server status=0

	mkfifo "$WORK/ready" "$WORK/go"
	served &
	server=$!
	JITDUMPDIR=$WORK perf record -q -N -B -e raw_syscalls:sys_enter --filter "$MARKS" -c 1 -g -o "$WORK/data" \
		lli --jit-kind=mcjit "$TESTS/jit_work.bc" "$WORK/ready" "$WORK/go" \
		>"$WORK/said" || status=1
	kill "$server" 2>/dev/null
	cat "$WORK/loads"
	[ "$status" = 0 ] && half_whole &&
		/usr/bin/python3 "$TREE/selftests/kmod/walk/check.py" "$WORK/data" lli "$WORK/said"
}

guest_insmod || exit 1
ktap_plan 1
if command -v lli >/dev/null && [ -e "$TESTS/jit_work.bc" ]; then
	ktap_run "stacks through code of LLVM's JIT compiler are complete" llvm
else
	ktap_skip "stacks through code of LLVM's JIT compiler are complete" \
		"lli is not installed, or clang was not when this was built"
fi
ktap_finish
