#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl watch lays tables over code in memory after the first sample in it: LLVM's lli.
# once: 1
# timeout: 900
# cpus: 2
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/jit.sh
. "$(dirname "$0")/jit.sh"

guest_cache

# watched PID WHAT: the first recording has short stacks, and has tables laid; a later one has whole
# ones, as each table leads the walk to files that need the next
watched() {
	local i

	guest_wait runs_code "$1" && judged "$1" before && guest_wait memory_is "$1" "$2" || return 1
	for i in 1 2 3 4; do
		watch_rests && judged "$1" "after$i" || return 1
		share "after$i" 99 100 && return 0
	done
	return 1
}

llvm() {
	local pid status=0

	watch_start && watch_follows || return 1
	lli --jit-kind=mcjit "$TESTS/jit_loop.bc" 1000000 &
	pid=$!
	watched "$pid" "[jit] " || status=1
	watch_stop
	cat "$told"
	kill "$pid"
	wait "$pid"
	return "$status"
}

# without: --no-jit has no code announced
without() {
	local pid status=0

	watch_start --no-jit && watch_follows || return 1
	lli --jit-kind=mcjit "$TESTS/jit_loop.bc" 1000000 &
	pid=$!
	guest_wait runs_code "$pid" && judged "$pid" before && watch_rests &&
		! memory_is "$pid" "[jit] " && share before 0 50 || status=1
	watch_stop
	kill "$pid"
	wait "$pid"
	return "$status"
}

guest_insmod || exit 1
ktap_plan 2
if command -v lli >/dev/null && [ -e "$TESTS/jit_loop.bc" ]; then
	ktap_run "under beectl watch stacks through code of LLVM's JIT compiler are complete" llvm
	ktap_run "beectl watch --no-jit gives code of a JIT compiler no table" without
else
	ktap_skip "under beectl watch stacks through code of LLVM's JIT compiler are complete" \
		"lli is not installed, or clang was not when this was built"
	ktap_skip "beectl watch --no-jit gives code of a JIT compiler no table" \
		"lli is not installed, or clang was not when this was built"
fi
ktap_finish
